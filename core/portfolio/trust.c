/* Answers judged by the case's :status and the other arms' answers; the arms that were wrong (epoch ‖ 'w' ‖ arm → why). */
#include "core/portfolio/portfolio_internal.h"

#include "cache/store/store.h"

/* -- arms that were wrong ---------------------------------------------------------------------------------------- */

#define KEY_SIZE (DIGEST_SIZE + 1 + 4)

static struct slice wrong_key(uint8_t key[KEY_SIZE], const struct portfolio *p, uint32_t arm)
{
        memcpy(key, p->epoch.bytes, DIGEST_SIZE);
        key[DIGEST_SIZE] = 'w';
        key_u32(key + DIGEST_SIZE + 1, arm);
        return SLICE(key, KEY_SIZE);
}

int arm_note_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t case_id, const char *why)
{
        cleanup_free char *there = NULL, *line = NULL;
        uint8_t key[KEY_SIZE];
        int r = arm_was_wrong(w, p, arm, &there);

        if (r != -ENOENT)
                return r;
        if (asprintf(&line, "case %u: %s", case_id, why) < 0)
                return -ENOMEM;
        log_warning("portfolio %s: %s is asked no more: %s", p->name, p->arms[arm].name, line);
        return store_set(workspace_store(w), TABLE_PORTFOLIOS, wrong_key(key, p, (uint32_t)arm), slice_string(line));
}

int arm_was_wrong(struct workspace *w, const struct portfolio *p, size_t arm, char **ret_why)
{
        cleanup_blob struct blob value = {0};
        uint8_t key[KEY_SIZE];
        int r = store_fetch(workspace_store(w), TABLE_PORTFOLIOS, wrong_key(key, p, (uint32_t)arm), &value);

        if (r == 0 && ret_why)
                *ret_why = strndup(value.data, value.size);
        return r < 0 || !ret_why || *ret_why ? r : -ENOMEM;
}

/* -- an answer --------------------------------------------------------------------------------------------------- */

static bool says(const struct trial_run *run)
{
        return (run->attempt.ending == ENDING_SOLVED || run->attempt.ending == ENDING_FAILED) && verdict_is_decided(run->verdict);
}

static int write_why(const struct portfolio *p, size_t arm, enum verdict verdict, const char *other, enum verdict says, char **ret)
{
        if (*ret)
                return 0;
        if (asprintf(ret, "%s says %s, %s %s", p->arms[arm].name, verdict_name(verdict), other, verdict_name(says)) < 0)
                *ret = NULL;
        return *ret ? 0 : -ENOMEM;
}

int answer_judge(struct workspace *w, const struct portfolio *p, const struct case_info *info, size_t arm, const struct trial_run *runs,
                 enum judgement *ret, char **ret_why)
{
        enum verdict verdict = runs[arm].verdict;
        char other[300];
        int r = 0;

        *ret = JUDGED_STANDS;
        if (is_wrong(verdict, info)) {
                *ret = JUDGED_WRONG;
                return write_why(p, arm, verdict, "the case's :status is", info->expected[0], ret_why);
        }
        for (size_t i = 0; i < p->n_arms && r == 0; i++) {
                if (i == arm || !says(&runs[i]) || runs[i].verdict == verdict)
                        continue;
                snprintf(other, sizeof(other), "%s says", p->arms[i].name);
                if (!is_wrong(runs[i].verdict, info) && arm_was_wrong(w, p, i, NULL) < 0)
                        *ret = JUDGED_CONTRADICTED;
                r = write_why(p, arm, verdict, other, runs[i].verdict, ret_why);
        }
        return r;
}

void answers_known(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t,
                   struct trial_run *ret)
{
        for (size_t i = 0; i < p->n_arms; i++) {
                ret[i] = (struct trial_run){0};
                if (i < t->n_arms && says(&t->runs[i]))
                        ret[i] = t->runs[i];
                else
                        arm_known(w, p, &p->arms[i], info, (double)p->wall_ns / NSEC_PER_SEC, &ret[i]);
        }
}

bool trial_stands(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t)
{
        cleanup_free struct trial_run *known = calloc(p->n_arms + 1, sizeof(*known));
        cleanup_free char *why = NULL;
        enum judgement judgement;

        if (t->winner >= p->n_arms || t->n_arms != p->n_arms)
                return true; /* it answers nothing */
        if (!known || arm_was_wrong(w, p, t->winner, NULL) != -ENOENT)
                return false;
        answers_known(w, p, info, t, known);
        return answer_judge(w, p, info, t->winner, known, &judgement, &why) == 0 && judgement == JUDGED_STANDS;
}
