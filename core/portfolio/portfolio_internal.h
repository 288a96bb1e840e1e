/* Shared by the files of a store's portfolios. */
#pragma once

#include "core/portfolio/portfolio.h"

/* The case's features: those of SMT-LIB, then those of DIMACS. NaN: not known; a case that does not parse has only NaN. free(*ret). */
int portfolio_features(struct workspace *w, const struct case_info *info, size_t *ret_n, double **ret);
size_t portfolio_n_features(void); /* of both formats together */
uint64_t portfolio_features_id(void); /* a hash of the list of their names; not 0 */

/* The :status of the case's last query, whose answer is a run's verdict; VERDICT_UNKNOWN: it states none. */
static inline enum verdict status_of(const struct case_info *info)
{
        return info->n_expected > 0 ? info->expected[info->n_expected - 1] : VERDICT_UNKNOWN;
}

/* True for an answer that contradicts the case's :status. */
static inline bool is_wrong(enum verdict v, const struct case_info *info)
{
        return verdict_is_decided(v) && verdict_is_decided(status_of(info)) && status_of(info) != v;
}

static inline enum ending ending_of(enum verdict v)
{
        return verdict_is_decided(v) ? ENDING_SOLVED : v == VERDICT_TIMEOUT ? ENDING_STOPPED : ENDING_FAILED;
}

/* A key of TABLE_PORTFOLIOS, made in `key`: epoch, kind, number. trial.c and trust.c list the kinds. */
#define TRIAL_KEY_SIZE (DIGEST_SIZE + 1 + 4)
struct slice trial_key(uint8_t key[TRIAL_KEY_SIZE], const struct digest *epoch, char kind, uint32_t number);

/* A counter in the same table; 0 if it was never incremented. */
int portfolio_counter(struct workspace *w, struct slice key, uint64_t *ret);
int portfolio_count(struct store_txn *t, struct slice key); /* increments it */

/* -- trust.c -- */

/* An arm that answered against a case's :status gets no more queries in this epoch, and its answers are taken back. arm_was_wrong(): -ENOENT if the
 * arm was never wrong, or each such :status has come into doubt since (JUDGED_CONTRADICTED). `ret_why` may be NULL; free(*ret_why). */
int arm_note_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t case_id, const char *why);
int arm_was_wrong(struct workspace *w, const struct portfolio *p, size_t arm, char **ret_why);
/* Warns of an arm that this case excluded. Called when the case is over: until then, another arm may agree with it and put the :status in doubt. */
void arm_warn_wrong(struct workspace *w, const struct portfolio *p, size_t arm, uint32_t case_id);

enum judgement {
        JUDGED_STANDS,
        JUDGED_WRONG,       /* against the case's :status */
        /* Nobody knows who is right: the case has no :status, and an arm that was never wrong gives the other answer; or two arms of different
         * solvers, not wrong on another case, agree against the :status. */
        JUDGED_CONTRADICTED
};
/* Compares the arm's answer with the :status and the other answers, runs[p->n_arms]. If any differs, *ret_why (allocated; NULL before) says so,
 * even if the answer stands. */
enum judgement answer_judge(struct workspace *w, const struct portfolio *p, const struct case_info *info, size_t arm, const struct trial_run *runs,
                            char **ret_why);
/* Each arm's known answer, in this trial (NULL: none) or alone; zero if not known. free() the list. */
struct trial_run *answers_known(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t);
/* False if its answer is taken back by what is known now, or if it found no arm that could run and now there is one. */
bool trial_stands(struct workspace *w, const struct portfolio *p, const struct case_info *info, const struct trial *t);
