/* Judges answers by the case's :status and the other arms' answers, and keeps the wrong arms (epoch ‖ 'w' ‖ arm → why). */
#include "core/portfolio/portfolio_internal.h"

#include <inttypes.h>

#include "cache/store/store.h"

int arm_note_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t case_id, const char *why)
{
        cleanup_free char *there = NULL, *line = NULL;
        uint8_t key[TRIAL_KEY_SIZE];
        int r = arm_was_wrong(w, p, arm, &there);

        if (r != -ENOENT)
                return r;
        line = format_string("case %u: %s", case_id, why);
        log_warning("portfolio %s: %s is asked no more: %s", p->name, p->arms[arm].name, line);
        return store_set(workspace_store(w), TABLE_PORTFOLIOS, trial_key(key, &p->epoch, 'w', (uint32_t)arm), slice_string(line));
}

/* The note, and the case that the arm was wrong on. -ENOENT. */
static int find_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t *ret_case, char **ret_why)
{
        cleanup_blob struct blob value = {0};
        uint8_t key[TRIAL_KEY_SIZE];
        int r = store_fetch(workspace_store(w), TABLE_PORTFOLIOS, trial_key(key, &p->epoch, 'w', (uint32_t)arm), &value);

        if (r < 0)
                return r;
        *ret_why = copy_prefix(value.data, value.size);
        if (sscanf(*ret_why, "case %" SCNu32 ":", ret_case) != 1)
                *ret_case = 0;
        return 0;
}

static bool says(const struct trial_run *run)
{
        return (run->attempt.ending == ENDING_SOLVED || run->attempt.ending == ENDING_FAILED) && verdict_is_decided(run->verdict);
}

/* True for an answer against the :status by an arm that was not wrong on another case. */
static bool is_witness(struct workspace *w, const struct portfolio *p, const struct case_info *info, size_t arm, const struct trial_run *run)
{
        cleanup_free char *why = NULL;
        uint32_t case_id;

        return says(run) && is_wrong(run->verdict, info) && (find_wrong(w, p, arm, &case_id, &why) == -ENOENT || case_id == info->id);
}

static bool is_same_solver(const struct arm *a, const struct arm *b)
{
        if (a->solver && b->solver)
                return a->solver->history == b->solver->history;
        return !a->solver && !b->solver && strcmp(a->program, b->program) == 0;
}

/* Finds two arms of different solvers that both answer against the :status. */
static bool find_witnesses(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial_run *runs, size_t ret[2])
{
        for (ret[0] = 0; ret[0] < p->n_arms; ret[0]++) {
                if (!is_witness(w, p, info, ret[0], &runs[ret[0]]))
                        continue;
                for (ret[1] = ret[0] + 1; ret[1] < p->n_arms; ret[1]++)
                        if (is_witness(w, p, info, ret[1], &runs[ret[1]]) && !is_same_solver(&p->arms[ret[0]], &p->arms[ret[1]]))
                                return true;
        }
        return false;
}

/* By all that is known of the case now. */
static bool is_status_doubted(struct workspace *w, const struct portfolio *p, uint32_t case_id)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_trial struct trial *t = NULL;
        cleanup_free struct trial_run *known = NULL;
        size_t witnesses[2];

        if (cases_get(workspace_cases(w), case_id, &info) < 0)
                return false;
        trial_find_any(w, p, case_id, &t);
        known = answers_known(w, p, info, t);
        return find_witnesses(w, p, info, known, witnesses);
}

int arm_was_wrong(struct workspace *w, const struct portfolio *p, size_t arm, char **ret_why)
{
        cleanup_free char *why = NULL;
        uint32_t case_id;
        int r = find_wrong(w, p, arm, &case_id, &why);

        if (r == 0 && is_status_doubted(w, p, case_id))
                return -ENOENT;
        if (r == 0 && ret_why)
                *ret_why = steal_pointer(why);
        return r;
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

        if (find_witnesses(w, p, info, runs, witnesses)) {
                free(*ret_why);
                *ret_why = format_string("%s and %s say %s, the case's :status is %s: one of them is wrong", p->arms[witnesses[0]].name,
                                         p->arms[witnesses[1]].name, verdict_name(runs[witnesses[0]].verdict), verdict_name(info->expected[0]));
                return JUDGED_CONTRADICTED;
        }
        if (is_wrong(verdict, info)) {
                write_why(p, arm, verdict, "the case's :status is", info->expected[0], ret_why);
                return JUDGED_WRONG;
        }
        for (size_t i = 0; i < p->n_arms; i++) {
                char other[300];

                if (i == arm || !says(&runs[i]) || runs[i].verdict == verdict)
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
                if (t && i < t->n_arms && says(&t->runs[i]))
                        ret[i] = t->runs[i];
                else
                        arm_known(w, p, &p->arms[i], info, (double)p->wall_ns / NSEC_PER_SEC, &ret[i]);
        return ret;
}

bool trial_stands(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t)
{
        cleanup_free struct trial_run *known = NULL;
        cleanup_free char *why = NULL;

        if (t->winner >= p->n_arms || t->n_arms != p->n_arms)
                return true; /* it has no answer */
        if (arm_was_wrong(w, p, t->winner, NULL) != -ENOENT)
                return false;
        known = answers_known(w, p, info, t);
        return answer_judge(w, p, info, t->winner, known, &why) == JUDGED_STANDS;
}
