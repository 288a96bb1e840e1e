/* Judges answers by the case's :status and the other arms' answers, and notes wrong ones in TABLE_PORTFOLIOS: epoch 'w' arm(4) case(4) →
 * "case 7: why". In notes of older stores the case is missing from the key.
 *
 * A :status is in doubt if two witnesses contradict it: arms of different solvers, neither of them wrong on another case. */
#include "core/portfolio/portfolio_internal.h"

#include <inttypes.h>

#include "cache/store/store.h"

#define NOTE_KEY_SIZE (TRIAL_KEY_SIZE + 4)

int arm_note_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t case_id, const char *why)
{
        cleanup_free char *line = format_string("case %u: %s", case_id, why);
        cleanup_blob struct blob there = {0};
        uint8_t key[NOTE_KEY_SIZE];
        int r;

        trial_key(key, &p->epoch, 'w', (uint32_t)arm);
        key_u32(key + TRIAL_KEY_SIZE, case_id);
        r = store_fetch(workspace_store(w), TABLE_PORTFOLIOS, SLICE(key, sizeof(key)), &there);
        if (r != -ENOENT)
                return r;
        return store_set(workspace_store(w), TABLE_PORTFOLIOS, SLICE(key, sizeof(key)), slice_string(line));
}

/* True also for an answer that was not taken. */
static bool has_answer(const struct trial_run *run)
{
        return (run->attempt.ending == ENDING_SOLVED || run->attempt.ending == ENDING_FAILED) && verdict_is_decided(run->verdict);
}

static int find_wrong(struct workspace *w, const struct portfolio *p, size_t arm, const struct case_info *elsewhere, char **ret_why);

/* True for an answer against the :status by an arm that was not wrong on another case; with `any`: by any arm. */
static bool is_witness(struct workspace *w, const struct portfolio *p, const struct case_info *info, size_t arm, const struct trial_run *run, bool any)
{
        return has_answer(run) && is_wrong(run->verdict, info) && (any || find_wrong(w, p, arm, info, NULL) == -ENOENT);
}

static bool is_program(const struct arm *a)
{
        return !a->solver || a->solver->recipe->is_programs;
}

/* A program is its bytes, by whichever arm. */
static bool is_same_solver(const struct arm *a, const struct arm *b)
{
        return is_program(a) || is_program(b) ? digest_equal(&a->program_digest, &b->program_digest) : a->solver->history == b->solver->history;
}

/* Finds two witnesses of different solvers. */
static bool find_witnesses(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial_run *runs, bool any,
                           size_t ret[2])
{
        for (ret[0] = 0; ret[0] < p->n_arms; ret[0]++) {
                if (!is_witness(w, p, info, ret[0], &runs[ret[0]], any))
                        continue;
                for (ret[1] = ret[0] + 1; ret[1] < p->n_arms; ret[1]++)
                        if (is_witness(w, p, info, ret[1], &runs[ret[1]], any) && !is_same_solver(&p->arms[ret[0]], &p->arms[ret[1]]))
                                return true;
        }
        return false;
}

/* By all answers that are known now. */
static bool is_status_doubted(struct workspace *w, const struct portfolio *p, uint32_t case_id, bool any)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_trial struct trial *t = NULL;
        cleanup_free struct trial_run *known = NULL;
        size_t witnesses[2];

        if (cases_get(workspace_cases(w), case_id, &info) < 0)
                return false;
        trial_find_any(w, p, case_id, &t);
        known = answers_known(w, p, info, t);
        return find_witnesses(w, p, info, known, any, witnesses);
}

/* Finds a note of the arm on a case whose :status is not in doubt; -ENOENT: none. `elsewhere`: NULL, or a case whose note does not count. For that
 * question any two arms put another case's :status in doubt, noted or not: else of two wrong statuses each would confirm the other, as its witnesses are
 * noted there. */
static int find_wrong(struct workspace *w, const struct portfolio *p, size_t arm, const struct case_info *elsewhere, char **ret_why)
{
        uint8_t key[TRIAL_KEY_SIZE];
        cleanup_walk struct store_walk notes = {.store = workspace_store(w),
                                                .table = TABLE_PORTFOLIOS,
                                                .prefix = trial_key(key, &p->epoch, 'w', (uint32_t)arm)};
        int r;

        while ((r = store_walk(&notes)) > 0) {
                cleanup_free char *why = copy_prefix(notes.value.data, notes.value.size);
                uint32_t case_id = 0;

                sscanf(why, "case %" SCNu32 ":", &case_id);
                if ((elsewhere && elsewhere->id == case_id) || is_status_doubted(w, p, case_id, elsewhere))
                        continue;
                if (ret_why)
                        *ret_why = steal_pointer(why);
                return 0;
        }
        return r < 0 ? r : -ENOENT;
}

int arm_was_wrong(struct workspace *w, const struct portfolio *p, size_t arm, char **ret_why)
{
        return find_wrong(w, p, arm, NULL, ret_why);
}

void arm_warn_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t case_id)
{
        cleanup_free char *why = NULL, *here = format_string("case %u:", case_id);

        if (arm_was_wrong(w, p, arm, &why) == 0 && strncmp(why, here, strlen(here)) == 0)
                log_warning("portfolio %s: %s is asked no more: %s", p->name, p->arms[arm].name, why);
}

static void write_why(const struct portfolio *p, size_t arm, enum verdict verdict, const char *other, enum verdict says, char **ret)
{
        if (!*ret)
                *ret = format_string("%s says %s, %s %s", p->arms[arm].name, verdict_name(verdict), other, verdict_name(says));
}

enum judgement answer_judge(struct workspace *w, const struct portfolio *p, const struct case_info *info, size_t arm, const struct trial_run *runs,
                            char **ret_why)
{
        enum verdict verdict = runs[arm].verdict;
        enum judgement judgement = JUDGED_STANDS;
        size_t witnesses[2];

        if (find_witnesses(w, p, info, runs, false, witnesses)) {
                *ret_why = format_string("%s and %s say %s, the case's :status is %s: one of them is wrong", p->arms[witnesses[0]].name,
                                         p->arms[witnesses[1]].name, verdict_name(runs[witnesses[0]].verdict), verdict_name(status_of(info)));
                return JUDGED_CONTRADICTED;
        }
        if (is_wrong(verdict, info)) {
                write_why(p, arm, verdict, "the case's :status is", status_of(info), ret_why);
                return JUDGED_WRONG;
        }
        for (size_t i = 0; i < p->n_arms; i++) {
                char other[300];

                if (i == arm || !has_answer(&runs[i]) || runs[i].verdict == verdict)
                        continue;
                if (!is_wrong(runs[i].verdict, info) && arm_was_wrong(w, p, i, NULL) < 0)
                        judgement = JUDGED_CONTRADICTED;
                snprintf(other, sizeof(other), "%s says", p->arms[i].name);
                write_why(p, arm, verdict, other, runs[i].verdict, ret_why);
        }
        return judgement;
}

struct trial_run *answers_known(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t)
{
        struct trial_run *ret = allocate(p->n_arms, sizeof(*ret));

        for (size_t i = 0; i < p->n_arms; i++)
                if (t && i < t->n_arms && has_answer(&t->runs[i]))
                        ret[i] = t->runs[i];
                else
                        arm_known(w, p, &p->arms[i], info, &ret[i]);
        return ret;
}

/* Older versions gave no DIMACS to commands: such an arm failed at once. */
static bool has_skipped_command(const struct portfolio *p, const struct case_info *info, const struct trial *t)
{
        for (size_t i = 0; info->format == FORMAT_CNF && i < MIN(t->n_arms, p->n_arms); i++)
                if (!p->arms[i].solver && !p->arms[i].problem && t->runs[i].verdict == VERDICT_ERROR && t->runs[i].attempt.seconds == 0)
                        return true;
        return false;
}

bool trial_stands(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t)
{
        cleanup_free struct trial_run *known = NULL;
        cleanup_free char *why = NULL;

        for (size_t i = 0; t->n_turns == 0 && t->n_arms == p->n_arms && i < p->n_arms; i++)
                if (arm_was_wrong(w, p, i, NULL) == -ENOENT)
                        return false; /* every arm was excluded when it was asked, and this one is not any more */
        if (t->winner >= p->n_arms && has_skipped_command(p, info, t))
                return false;
        if (t->winner >= p->n_arms || t->n_arms != p->n_arms)
                return true; /* it has no answer */
        if (arm_was_wrong(w, p, t->winner, NULL) != -ENOENT)
                return false;
        known = answers_known(w, p, info, t);
        return answer_judge(w, p, info, t->winner, known, &why) == JUDGED_STANDS;
}
