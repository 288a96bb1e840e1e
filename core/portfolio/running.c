/* A trial under way: the arms take turns, as the learner decides. */
#include "core/portfolio/running.h"

#include <math.h>

#include "cache/base/fault.h"

void running_done(struct running *r)
{
        for (size_t i = 0; r->lanes && i < r->query->portfolio->n_arms; i++)
                lane_end(r, i);
        free(r->lanes);
        free(r->attempts);
        trial_free(r->trial);
        if (r->case_fd >= 0)
                close(r->case_fd);
}

void running_begin(struct running *run)
{
        const struct trial_query *q = run->query;
        size_t n = q->portfolio->n_arms;

        run->lanes = allocate(n, sizeof(*run->lanes));
        run->attempts = allocate(n, sizeof(*run->attempts));
        run->trial = trial_new(n);
        run->trial->case_id = q->info->id;
}

int running_open_case(struct running *run)
{
        const struct trial_query *q = run->query;

        running_begin(run);
        return cases_open_bytes(workspace_cases(q->workspace), q->info, &run->case_fd, run->case_path)
            ?: path_join(run->scratch, workspace_dir(q->workspace), "scratch");
}

/* -- a turn ------------------------------------------------------------------------------------------------------- */

/* Makes the arm fail at once. */
static int give_up(struct running *run, size_t arm, enum verdict verdict)
{
        run->attempts[arm] = (struct attempt){ENDING_FAILED, 0};
        run->trial->runs[arm].verdict = verdict;
        return 0;
}

/* -ENODATA if the arm cannot be built. TURN_WAITS if its run on the cluster must be asked for first. */
static int begin_turn(struct running *run, const struct step *step)
{
        const struct trial_query *q = run->query;
        const struct arm *arm = &q->portfolio->arms[step->arm];
        struct lane *lane = &run->lanes[step->arm];
        int r;

        if (!arm->solver || !arm->solver->pool)
                return lane_begin(run, step->arm);
        if (!lane->asked)
                return TURN_WAITS;
        r = arm_hold(q->workspace, arm, &lane->held); /* -ENODATA explains why the run that was asked for is not known */
        return r < 0 ? r
                     : errorf(-EIO, "the run of %s on case %u cannot be used by the portfolio %s", arm->name, q->info->id,
                              q->portfolio->name);
}

/* The arm's known run, as far as this turn goes. It is known up to the portfolio's limit or not at all, so a later turn finds it, too. */
static int find_known(const struct trial_query *q, const struct arm *arm, double until, struct trial_run *ret)
{
        int r = arm_known(q->workspace, q->portfolio, arm, q->info, ret);

        if (r == 0 && ret->attempt.seconds > until)
                ret->attempt = (struct attempt){ENDING_STOPPED, until};
        return r;
}

/* Uses the arm's known run, or runs it. Errors as those of begin_turn(). */
static int take_turn(struct running *run, const struct step *step)
{
        const struct trial_query *q = run->query;
        const struct arm *arm = &q->portfolio->arms[step->arm];
        struct trial_run known = {0};
        int r;

        if (arm->problem || !recipe_takes(arm->recipe, q->info->format))
                return give_up(run, step->arm, arm->problem ? VERDICT_UNBUILDABLE : VERDICT_ERROR);
        if (run->lanes[step->arm].runner)
                return lane_go_on(run, step);
        r = find_known(q, arm, step->until, &known);
        if (r == 0) {
                run->attempts[step->arm] = known.attempt;
                run->trial->runs[step->arm] = known;
                return 0;
        }
        r = r == -ENODATA ? r : begin_turn(run, step);
        if (r == -ENODATA)
                return give_up(run, step->arm, VERDICT_UNBUILDABLE);
        return r == 0 ? lane_go_on(run, step) : r;
}

/* Turns of one arm in a row are one. */
static void note_turn(struct trial *t, const struct step *step)
{
        bool goes_on = t->n_turns > 0 && t->turns[t->n_turns - 1].arm == step->arm;

        if (!goes_on)
                list_grow(t->turns, t->n_turns++);
        t->turns[t->n_turns - 1] = *step;
}

/* -- answers ------------------------------------------------------------------------------------------------------ */

int trial_judge(const struct trial_query *q, struct trial *t, size_t arm, enum judgement *ret)
{
        cleanup_free struct trial_run *known = answers_known(q->workspace, q->portfolio, q->info, t);
        cleanup_free char *why = NULL;
        int r = 0;

        *ret = answer_judge(q->workspace, q->portfolio, q->info, arm, known, &why);
        if (*ret == JUDGED_WRONG)
                r = arm_note_wrong(q->workspace, q->portfolio, arm, t->case_id, why);
        if (why && (!t->alarm || *ret == JUDGED_CONTRADICTED)) {
                free(t->alarm);
                t->alarm = steal_pointer(why);
        }
        return r;
}

/* Handles an arm's answer. If it is wrong or contradicted, the arm has failed, and the next one gets its turn. */
static int judge(struct running *run, size_t arm)
{
        struct trial *t = run->trial;
        enum judgement judgement;
        int r;

        t->runs[arm].attempt = run->attempts[arm];
        r = trial_judge(run->query, t, arm, &judgement);
        if (judgement != JUDGED_STANDS)
                run->attempts[arm].ending = t->runs[arm].attempt.ending = ENDING_FAILED;
        if (judgement == JUDGED_WRONG)
                learner_leave_out(run->learned->learner, (uint32_t)arm, true);
        return r;
}

/* Finds the winner and the verdict, once all turns are over. */
static void sum_up(struct running *run)
{
        struct trial *t = run->trial;
        enum judgement judgement;
        bool stopped = false;

        t->winner = (uint32_t)t->n_arms;
        t->measured = now_seconds();
        for (uint32_t i = 0; i < t->n_arms; i++) {
                t->runs[i].attempt = run->attempts[i];
                t->seconds += run->attempts[i].seconds;
                stopped |= run->attempts[i].ending == ENDING_STOPPED || t->runs[i].verdict == VERDICT_TIMEOUT;
                if (run->attempts[i].ending == ENDING_SOLVED)
                        t->winner = i;
        }
        t->verdict = t->winner < t->n_arms        ? t->runs[t->winner].verdict
                     : stopped                    ? VERDICT_TIMEOUT
                     : trial_is_alone(run->query) ? t->runs[run->query->only_arm].verdict
                                                  : VERDICT_UNKNOWN;
        if (trial_is_alone(run->query) && t->winner < t->n_arms)
                trial_judge(run->query, t, t->winner, &judgement);
        if (t->alarm)
                log_warning("portfolio %s, case %u: %s", run->query->portfolio->name, t->case_id, t->alarm);
}

/* -- all turns ---------------------------------------------------------------------------------------------------- */

#define TURN_LEAST .02 /* seconds; a shorter turn is not worth a stop */

/* Forgets turns taken before: with each new run from the cluster all are counted again. Takes a learner and asks what it expects. */
static int begin_portfolio(struct running *run)
{
        const struct trial_query *q = run->query;
        struct trial *t = run->trial;
        int r = t->features ? 0 : portfolio_features(q->workspace, q->info, &t->n_features, &t->features);

        memset(run->attempts, 0, t->n_arms * sizeof(*run->attempts));
        memset(t->runs, 0, t->n_arms * sizeof(*t->runs));
        t->n_turns = 0;
        free(steal_pointer(t->alarm));
        free(steal_pointer(t->expected));
        if (r == 0)
                r = learned_take(q->workspace, q->portfolio, &run->learned);
        if (r < 0)
                return r;
        t->number = run->learned->next;
        learner_begin(run->learned->learner, t->features);
        t->n_expected = learner_expected(run->learned->learner, NULL);
        t->expected = allocate(t->n_expected, sizeof(*t->expected));
        learner_expected(run->learned->learner, t->expected);
        return 0;
}

/* Runs the arms in turn, as the learner decides. It is told the outcome later, from the stored trial (learned.c). TURN_WAITS: for step->arm's run. */
static int run_arms(struct running *run)
{
        struct step *step = &run->step;
        int r = 0;

        while (r == 0 && learner_next(run->learned->learner, run->attempts, step)) {
                double had = run->attempts[step->arm].seconds, left = (double)run->query->portfolio->wall_ns / NSEC_PER_SEC;

                for (size_t i = 0; i < run->query->portfolio->n_arms; i++)
                        left -= run->attempts[i].seconds;
                step->until = fmin(fmax(step->until, had + TURN_LEAST), had + fmax(0, left));
                note_turn(run->trial, step);
                r = take_turn(run, step);
                if (r == 0 && run->attempts[step->arm].ending == ENDING_SOLVED)
                        r = judge(run, step->arm);
                if (run->attempts[step->arm].ending == ENDING_SOLVED)
                        break;
        }
        return r;
}

int running_take_turns(struct running *run)
{
        int r = begin_portfolio(run) ?: run_arms(run);

        if (run->learned)
                learned_give(run->query->workspace, steal_pointer(run->learned));
        run->is_over = r == 0;
        return r;
}

int running_portfolio(struct running *run)
{
        int r = run->is_over ? 0 : running_take_turns(run);

        if (r != 0)
                return r == TURN_WAITS ? -ENOENT : r;
        sum_up(run);
        return fault_at("portfolio.answered");
}

int running_alone(struct running *run)
{
        const struct trial_query *q = run->query;
        const struct portfolio *p = q->portfolio;
        struct step step = {(uint32_t)q->only_arm, (double)p->wall_ns / NSEC_PER_SEC};
        int r;

        run->lanes[q->only_arm].asked = true; /* by need_here(), if it is on a cluster */
        r = take_turn(run, &step);
        if (r < 0)
                return r;
        sum_up(run);
        if (!p->arms[q->only_arm].solver && !p->arms[q->only_arm].problem && !run->trial->runs[q->only_arm].known)
                r = arm_keep(q->workspace, p, &p->arms[q->only_arm], q->info, &run->trial->runs[q->only_arm]);
        return r;
}
