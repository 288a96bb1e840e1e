/* An arm of a trial that runs here: its start, the stops between turns, its end. */
#include "core/portfolio/running.h"

#include <math.h>

#include "core/query/programs.h"

void lane_end(struct running *run, size_t arm)
{
        struct lane *l = &run->lanes[arm];

        job_leave_runner(run->job, steal_pointer(l->runner));
        held_done(&l->held);
        l->memory_now = 0;
}

int arm_hold(struct workspace *w, const struct arm *a, struct held *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct digest now;
        int r;

        if (!a->solver) {
                r = held_program(a->program, ret);
                if (r == 0 && (program_digest(a->program, &now) < 0 || !digest_equal(&now, &a->program_digest))) {
                        held_done(ret);
                        r = errorf(-EAGAIN, "%s was changed meanwhile, and is another program now: ask again", a->program);
                }
                return r;
        }
        return build_find(w, a->solver, a->commit, WITHOUT_LOG, &record) ?: held_build(w, record, ret);
}

static uint64_t memory_held(const struct running *run)
{
        uint64_t held = 0;

        for (size_t i = 0; i < run->query->portfolio->n_arms; i++)
                held += run->lanes[i].memory_now;
        return held;
}

#define MEMORY_LEAST (UINT64_C(64) << 20) /* bytes made free before an arm starts */

/* Ends stopped arms, the one with the most memory first, until `room` is left of the portfolio's memory. They have failed on this case. */
static void make_room(struct running *run, uint64_t room)
{
        const struct portfolio *p = run->query->portfolio;

        while (memory_held(run) + room > p->memory) {
                size_t most = 0;

                for (size_t i = 1; i < p->n_arms; i++)
                        if (run->lanes[i].memory_now > run->lanes[most].memory_now)
                                most = i;
                if (run->lanes[most].memory_now == 0)
                        return;
                lane_end(run, most);
                run->attempts[most].ending = ENDING_FAILED;
                run->trial->runs[most].verdict = VERDICT_MEMOUT;
        }
}

int lane_begin(struct running *run, size_t arm)
{
        struct workspace *w = run->query->workspace;
        const struct portfolio *p = run->query->portfolio;
        const struct arm *a = &p->arms[arm];
        struct lane *l = &run->lanes[arm];
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(a->recipe, run->query->info->format);
        struct recipe_limits limits = a->recipe->limits;
        int r;

        make_room(run, MIN(MEMORY_LEAST, p->memory));
        r = arm_hold(w, a, &l->held);
        if (r < 0)
                return r;
        limits.wall_ns = limits.cpu_ns = p->wall_ns;
        limits.memory = p->memory;
        if (a->solver) { /* as when it runs alone, so that score.tsv compares equal limits */
                const struct cell cell = arm_cell(a, run->query->info, limits.wall_ns);

                cell_limits(&cell, &limits);
        }
        limits.memory = MIN(limits.memory, p->memory - memory_held(run));
        l->runner = job_runner(run->job, &(struct runner_options){.recipe = recipe,
                                                                  .programs = l->held.list,
                                                                  .n_programs = l->held.n,
                                                                  .limits = limits,
                                                                  .has_seed = a->has_seed,
                                                                  .seed = a->seed,
                                                                  .scratch_parent = run->scratch,
                                                                  .sandbox = workspace_settings(w)->sandbox,
                                                                  .cpus = job_cpus(run->job),
                                                                  .slot = job_slot(run->job)});
        return runner_start(l->runner, &(struct run_input){.path = run->case_path, .questions = run->query->info->n_expected});
}

/* After a run that something outside may have ended. Its time does not count. */
static int begin_again(struct running *run, const struct step *step)
{
        lane_end(run, step->arm);
        run->lanes[step->arm].again = true;
        run->attempts[step->arm] = (struct attempt){0};
        return lane_begin(run, step->arm) ?: lane_go_on(run, step);
}

int lane_go_on(struct running *run, const struct step *step)
{
        struct lane *lane = &run->lanes[step->arm];
        struct attempt *a = &run->attempts[step->arm];
        struct run_result result = {0};
        int r;

        lane->memory_now = 0;
        r = runner_step(lane->runner, (uint64_t)ceil((step->until - a->seconds) * NSEC_PER_SEC), job_cancel_fd(run->job),
                        &result);
        if (r < 0)
                return r;
        if (r == 1) {
                r = run_check_doubt(&result, run->query->portfolio->arms[step->arm].name, lane->again);
                if (r != 0)
                        return r < 0 ? r : begin_again(run, step);
                if (verdict_is_decided(result.verdict) && result.verdicts.n_certain < result.verdicts.n) /* it may be of another formula */
                        result.verdict = VERDICT_ERROR;
                *a = (struct attempt){ending_of(result.verdict), (double)result.run.wall_ns / NSEC_PER_SEC};
                if (result.verdict == VERDICT_TIMEOUT && result.run.wall_ns < run->query->portfolio->wall_ns)
                        a->ending = ENDING_FAILED; /* its limit of CPU time ended it: another turn would not help */
                run->trial->runs[step->arm].verdict = result.verdict;
                run_result_done(&result);
                lane_end(run, step->arm);
                return 0;
        }
        lane->memory_now = runner_progress(lane->runner).memory_now;
        *a = (struct attempt){ENDING_STOPPED, fmax(step->until, (double)runner_progress(lane->runner).wall_ns / NSEC_PER_SEC)};
        make_room(run, 0); /* its limit is that of its begin: the others may have grown since */
        return 0;
}
