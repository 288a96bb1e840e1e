/* Query trial: the portfolio on one case. The arms take turns on one core, each stopped (SIGSTOP) and not ended when its turn is over, until one has an
 * answer or the limit is used up.
 *
 * Arms whose runs are done elsewhere take no turns there: each that has a turn is run alone, up to the portfolio's limit, as a cell like any other, and
 * the turns are counted off the times of these. need() asks for them one after the other, so that an arm which has no turn is not run. */
#include "core/portfolio/portfolio_internal.h"

#include <math.h>

#include "cache/base/fault.h"
#include "core/portfolio/learned.h"
#include "core/query/held.h"
#include "core/run/runner.h"

struct trial_query {
        struct query query;
        struct workspace *workspace;
        struct portfolio *portfolio; /* owns a ref */
        struct case_info *info;      /* owns a ref */
        size_t alone;                /* one arm only; n_arms: the portfolio */
        struct running *away; /* owned; how far it has come whose arms run elsewhere; NULL: it has not begun, or they run here */
};

static bool is_alone(const struct trial_query *q)
{
        return q->alone < q->portfolio->n_arms;
}

/* -- running arms -- */

struct lane {                  /* an arm on this case */
        struct runner *runner; /* NULL: not begun, or over */
        struct held held;
        uint64_t memory_now; /* while it stands still */
        bool asked;          /* its run elsewhere was */
};

struct running {
        const struct trial_query *query;
        struct job *job;
        struct lane *lanes;
        struct attempt *attempts;
        struct trial *trial;
        struct learned *learned; /* NULL: not while turns are taken */
        struct step step;        /* the turn that is taken */
        bool is_over;            /* all turns are */
        char case_path[PATH_SIZE], scratch[PATH_SIZE];
        int case_fd;
};

static void lane_end(struct lane *l)
{
        l->runner = runner_close(l->runner);
        held_done(&l->held);
        l->memory_now = 0;
}

static void running_done(struct running *r)
{
        for (size_t i = 0; r->lanes && i < r->query->portfolio->n_arms; i++)
                lane_end(&r->lanes[i]);
        free(r->lanes);
        free(r->attempts);
        trial_unref(r->trial);
        if (r->case_fd >= 0)
                close(r->case_fd);
}

/* A solver's programs or the arm's own, held while the lane lasts. -ENODATA: its commit cannot be built. */
static int hold_programs(struct workspace *w, const struct arm *a, struct held *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r;

        if (!a->solver)
                return held_program(a->program, ret);
        r = build_find(w, a->solver, a->commit, false, &record);
        return r < 0 ? r : held_build(w, record, ret);
}

static int lane_begin(struct running *run, const struct arm *a, struct lane *l, uint64_t memory)
{
        struct workspace *w = run->query->workspace;
        struct recipe_limits limits = a->recipe->limits;
        int r = hold_programs(w, a, &l->held);

        if (r < 0)
                return r;
        limits.wall_ns = limits.cpu_ns = run->query->portfolio->wall_ns;
        limits.memory = memory;
        r = runner_open(&(struct runner_options){.recipe = a->recipe,
                                                 .programs = l->held.list,
                                                 .n_programs = l->held.n,
                                                 .limits = limits,
                                                 .has_seed = a->has_seed,
                                                 .seed = a->seed,
                                                 .scratch_parent = run->scratch,
                                                 .sandbox = workspace_settings(w)->sandbox,
                                                 .cpus = job_cpus(run->job),
                                                 .slot = job_slot(run->job)},
                        &l->runner);
        return r < 0 ? r : runner_start(l->runner, &(struct run_input){.path = run->case_path});
}

/* The memory of arms that stand still is subtracted from what the next one may have. */
static uint64_t memory_left(const struct running *run)
{
        const struct portfolio *p = run->query->portfolio;
        uint64_t held = 0;

        for (size_t i = 0; i < p->n_arms; i++)
                held += run->lanes[i].memory_now;
        return held < p->memory ? p->memory - held : 0;
}

#define MEMORY_LEAST (UINT64_C(64) << 20)

/* Ends the arm that holds most while it stands still, until another one has room. It has failed, for this case. */
static void make_room(struct running *run)
{
        const struct portfolio *p = run->query->portfolio;

        while (memory_left(run) < MIN(MEMORY_LEAST, p->memory)) {
                size_t most = 0;

                for (size_t i = 1; i < p->n_arms; i++)
                        if (run->lanes[i].memory_now > run->lanes[most].memory_now)
                                most = i;
                if (run->lanes[most].memory_now == 0)
                        return;
                lane_end(&run->lanes[most]);
                run->attempts[most].ending = ENDING_FAILED;
                run->trial->runs[most].verdict = VERDICT_MEMOUT;
        }
}

static void conclude(struct running *run, size_t arm, const struct run_result *result)
{
        struct attempt *a = &run->attempts[arm];

        a->seconds = (double)result->run.wall_ns / NSEC_PER_SEC;
        run->trial->runs[arm].verdict = result->verdict;
        a->ending = verdict_is_decided(result->verdict)  ? ENDING_SOLVED
                    : result->verdict == VERDICT_TIMEOUT ? ENDING_STOPPED
                                                         : ENDING_FAILED;
}

static bool runs_away(const struct arm *a)
{
        return a->solver && a->solver->place;
}

/* It is learned to be avoided. */
static int give_up(struct running *run, size_t arm, enum verdict verdict)
{
        run->attempts[arm] = (struct attempt){ENDING_FAILED, 0};
        run->trial->runs[arm].verdict = verdict;
        return 0;
}

#define TURN_WAITS 1

/* -ENODATA: it cannot be built. TURN_WAITS: its run elsewhere has to be asked for first. */
static int begin_turn(struct running *run, const struct step *step)
{
        const struct trial_query *q = run->query;
        const struct arm *arm = &q->portfolio->arms[step->arm];
        struct lane *lane = &run->lanes[step->arm];
        int r;

        if (!runs_away(arm)) {
                make_room(run);
                return lane_begin(run, arm, lane, memory_left(run));
        }
        if (!lane->asked)
                return TURN_WAITS;
        r = hold_programs(q->workspace, arm, &lane->held);
        return r < 0 ? r
                     : errorf(-EIO, "the run of %s on case %u is none that the portfolio %s can take", arm->name, q->info->id,
                              q->portfolio->name);
}

/* Of one elsewhere all is known or nothing. */
static int find_known(const struct trial_query *q, const struct arm *arm, double until, struct trial_run *ret)
{
        double limit = (double)q->portfolio->wall_ns / NSEC_PER_SEC;
        int r = arm_known(q->workspace, q->portfolio, arm, q->info, runs_away(arm) ? limit : until, ret);

        if (r == 0 && ret->attempt.seconds > until)
                ret->attempt = (struct attempt){ENDING_STOPPED, until};
        return r;
}

static int go_on(struct running *run, const struct step *step)
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
                conclude(run, step->arm, &result);
                run_result_done(&result);
                lane_end(lane);
                return 0;
        }
        lane->memory_now = runner_progress(lane->runner).memory_now;
        *a = (struct attempt){ENDING_STOPPED, fmax(step->until, (double)runner_progress(lane->runner).wall_ns / NSEC_PER_SEC)};
        return 0;
}

/* begin_turn()'s TURN_WAITS. */
static int take_turn(struct running *run, const struct step *step)
{
        const struct trial_query *q = run->query;
        const struct arm *arm = &q->portfolio->arms[step->arm];
        struct trial_run known = {0};
        int r;

        if (arm->problem || arm->recipe->format != q->info->format)
                return give_up(run, step->arm, arm->problem ? VERDICT_UNBUILDABLE : VERDICT_ERROR);
        if (run->lanes[step->arm].runner)
                return go_on(run, step);
        r = find_known(q, arm, step->until, &known);
        if (r == 0) {
                run->attempts[step->arm] = known.attempt;
                run->trial->runs[step->arm] = known;
                return 0;
        }
        r = r == -ENODATA ? r : begin_turn(run, step);
        if (r == -ENODATA)
                return give_up(run, step->arm, VERDICT_UNBUILDABLE);
        return r == 0 ? go_on(run, step) : r;
}

static int note_turn(struct trial *t, const struct step *step)
{
        if (t->n_turns > 0 && t->turns[t->n_turns - 1].arm == step->arm) { /* it goes on */
                t->turns[t->n_turns - 1].until = step->until;
                return 0;
        }
        if (list_grow(t->turns, t->n_turns) < 0)
                return -ENOMEM;
        t->turns[t->n_turns++] = (struct turn){step->arm, step->until};
        return 0;
}

/* -- what came of it -- */

static void find_alarm(const struct trial_query *q, struct trial *t)
{
        const struct portfolio *p = q->portfolio;
        cleanup_free struct trial_run *known = calloc(p->n_arms + 1, sizeof(*known));

        for (size_t i = 0; known && i < p->n_arms; i++)
                arm_known(q->workspace, p, &p->arms[i], q->info, (double)p->wall_ns / NSEC_PER_SEC, &known[i]);
        if (!known || trial_contradiction(p, q->info, t, known, &t->alarm) < 0)
                t->alarm = NULL;
}

static void sum_up(struct running *run)
{
        struct trial *t = run->trial;
        bool stopped = false;

        t->winner = (uint32_t)t->n_arms;
        t->measured = now_seconds();
        for (uint32_t i = 0; i < t->n_arms; i++) {
                t->runs[i].attempt = run->attempts[i];
                t->seconds += run->attempts[i].seconds;
                stopped |= run->attempts[i].ending == ENDING_STOPPED;
                if (run->attempts[i].ending == ENDING_SOLVED)
                        t->winner = i;
        }
        t->verdict = t->winner < t->n_arms ? t->runs[t->winner].verdict : stopped ? VERDICT_TIMEOUT : VERDICT_UNKNOWN;
        if (t->winner == t->n_arms)
                return;
        find_alarm(run->query, t);
        if (t->alarm)
                log_warning("portfolio %s, case %u: %s", run->query->portfolio->name, t->case_id, t->alarm);
}

/* Times of two machines are not compared. *ret: where the arms run; NULL: here. */
static int find_place(const struct portfolio *p, struct run_place **ret)
{
        const struct arm *first = NULL;

        *ret = NULL;
        for (size_t i = 0; i < p->n_arms; i++) {
                const struct arm *a = &p->arms[i];
                struct run_place *place = a->solver ? a->solver->place : NULL;

                if (a->problem)
                        continue;
                if (first && place != *ret)
                        return errorf(-ENOTSUP,
                                      "the arms of the portfolio %s run on two machines, %s at %s and %s at %s: let them run on "
                                      "one ('runs' in the store's config, or --on)",
                                      p->name, first->name, *ret ? (*ret)->name : "local", a->name,
                                      place ? place->name : "local");
                first = a;
                *ret = place;
        }
        return 0;
}

static int running_begin(struct running *run)
{
        const struct trial_query *q = run->query;
        size_t n = q->portfolio->n_arms;

        run->lanes = calloc(n, sizeof(*run->lanes));
        run->attempts = calloc(n, sizeof(*run->attempts));
        run->trial = calloc(1, sizeof(*run->trial));
        if (!run->lanes || !run->attempts || !run->trial)
                return -ENOMEM;
        run->trial->refs = 1;
        run->trial->case_id = q->info->id;
        run->trial->n_arms = n;
        run->trial->runs = calloc(n, sizeof(*run->trial->runs));
        return run->trial->runs ? 0 : -ENOMEM;
}

static int prepare_here(struct running *run)
{
        const struct trial_query *q = run->query;
        int r = running_begin(run);

        if (r == 0)
                r = cases_open_bytes(workspace_cases(q->workspace), q->info, &run->case_fd, run->case_path);
        return r < 0 ? r : path_join(run->scratch, workspace_dir(q->workspace), "scratch");
}

/* Seconds; less is not worth stopping for. */
#define TURN_LEAST .02

static double time_left(const struct running *run)
{
        double left = (double)run->query->portfolio->wall_ns / NSEC_PER_SEC;

        for (size_t i = 0; i < run->query->portfolio->n_arms; i++)
                left -= run->attempts[i].seconds;
        return fmax(0, left);
}

static int keep_expected(const struct learner *l, struct trial *t)
{
        t->n_expected = learner_expectations(l);
        t->expected = calloc(t->n_expected + 1, sizeof(*t->expected));
        if (!t->expected)
                return -ENOMEM;
        learner_expected(l, t->expected);
        return 0;
}

/* Arms elsewhere begin again with each run that has come. */
static void forget_turns(struct running *run)
{
        struct trial *t = run->trial;

        memset(run->attempts, 0, t->n_arms * sizeof(*run->attempts));
        memset(t->runs, 0, t->n_arms * sizeof(*t->runs));
        t->n_turns = 0;
        free(steal_pointer(t->expected));
}

static int begin_portfolio(struct running *run)
{
        const struct trial_query *q = run->query;
        struct trial *t = run->trial;
        int r = t->features ? 0 : portfolio_features(q->workspace, q->info, &t->n_features, &t->features);

        forget_turns(run);
        if (r == 0)
                r = learned_take(q->workspace, q->portfolio, t->n_features, &run->learned);
        if (r < 0)
                return r;
        t->number = run->learned->next;
        r = learner_begin(run->learned->learner, t->features);
        return r < 0 ? r : keep_expected(run->learned->learner, t);
}

/* The arms in turn, as the learner says, which is told what came of it when the trial is in the store. TURN_WAITS: for the run of `step`'s arm. */
static int run_arms(struct running *run)
{
        struct step *step = &run->step;
        int r = 0;

        while (r == 0 && learner_next(run->learned->learner, run->attempts, step)) {
                step->until = fmin(fmax(step->until, run->attempts[step->arm].seconds + TURN_LEAST),
                                   run->attempts[step->arm].seconds + time_left(run));
                r = note_turn(run->trial, step);
                if (r == 0)
                        r = take_turn(run, step);
                if (r == 0 && run->attempts[step->arm].ending == ENDING_SOLVED)
                        break;
        }
        return r;
}

/* With what is learned by now. run_arms()'s TURN_WAITS. */
static int take_turns(struct running *run)
{
        int r = begin_portfolio(run);

        if (r == 0)
                r = run_arms(run);
        if (run->learned)
                learned_give(run->query->workspace, steal_pointer(run->learned));
        run->is_over = r == 0;
        return r;
}

static int run_portfolio(struct running *run)
{
        int r = run->is_over ? 0 : take_turns(run);

        if (r != 0)
                return r == TURN_WAITS ? -ENOENT : r;
        sum_up(run);
        return fault_at("portfolio.answered");
}

static int run_alone(struct running *run)
{
        const struct trial_query *q = run->query;
        const struct portfolio *p = q->portfolio;
        struct step step = {(uint32_t)q->alone, (double)p->wall_ns / NSEC_PER_SEC};
        int r = take_turn(run, &step);

        if (r < 0)
                return r;
        sum_up(run);
        if (!p->arms[q->alone].solver && !p->arms[q->alone].problem && !run->trial->runs[q->alone].known)
                r = arm_keep(q->workspace, p, &p->arms[q->alone], q->info, &run->trial->runs[q->alone]);
        return r;
}

/* -- the query -- */

static struct value *value_of(struct trial *t)
{
        struct trial_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = &query_trial_type, .refs = 1};
        v->trial = trial_ref(t);
        return &v->value;
}

static void trial_value_free(struct value *v)
{
        trial_unref(((struct trial_value *)v)->trial);
        free(v);
}

static int alone_find(const struct trial_query *q, struct trial **ret)
{
        const struct portfolio *p = q->portfolio;
        cleanup_trial struct trial *t = NULL;
        struct trial_run run = {0};
        int r = arm_known(q->workspace, p, &p->arms[q->alone], q->info, (double)p->wall_ns / NSEC_PER_SEC, &run);

        if (r < 0)
                return r;
        t = calloc(1, sizeof(*t));
        if (!t)
                return -ENOMEM;
        t->refs = 1;
        t->n_arms = p->n_arms;
        t->runs = calloc(p->n_arms, sizeof(*t->runs));
        if (!t->runs)
                return -ENOMEM;
        t->runs[q->alone] = run;
        t->winner = (uint32_t)(run.attempt.ending == ENDING_SOLVED ? q->alone : p->n_arms);
        t->verdict = run.verdict;
        t->seconds = run.attempt.seconds;
        if (t->winner < t->n_arms)
                find_alarm(q, t);
        *ret = steal_pointer(t);
        return 0;
}

static int trial_query_find(struct query *query, struct value **ret)
{
        struct trial_query *q = (struct trial_query *)query;
        cleanup_trial struct trial *t = NULL;
        int r = is_alone(q) ? alone_find(q, &t) : trial_find(q->workspace, q->portfolio, q->info->id, &t);

        if (r < 0)
                return r;
        *ret = value_of(t);
        return *ret ? 0 : -ENOMEM;
}

/* A build within a case's limit would be the arm's time, so the build comes first. An arm alone is a cell, which is measured and kept as such. */
static int arm_before(const struct trial_query *q, const struct arm *a, struct query **ret)
{
        struct cell cell = arm_cell(a, q->info, q->portfolio->wall_ns);

        return is_alone(q) && a->recipe->format == q->info->format ? query_run(q->workspace, &cell, ret)
                                                                   : query_build(q->workspace, a->solver, a->commit, ret);
}

static int need_here(struct trial_query *q, struct query_list *ret)
{
        for (size_t i = 0; i < q->portfolio->n_arms; i++) {
                const struct arm *a = &q->portfolio->arms[i];
                cleanup(query_unrefp) struct query *before = NULL;
                cleanup(value_unrefp) struct value *v = NULL;
                int r;

                if (a->problem || !a->solver || (is_alone(q) && q->alone != i))
                        continue;
                r = arm_before(q, a, &before);
                if (r == 0)
                        r = before->type->find(before, &v);
                if (r == -ENOENT)
                        r = query_list_add(ret, steal_pointer(before));
                if (r < 0)
                        return r;
        }
        return 0;
}

static int begin_away(struct trial_query *q)
{
        q->away = calloc(1, sizeof(*q->away));
        if (!q->away)
                return -ENOMEM;
        *q->away = (struct running){.query = q, .case_fd = -1};
        return running_begin(q->away);
}

static struct running *end_away(struct running *away)
{
        if (away)
                running_done(away);
        free(away);
        return NULL;
}

/* As far as the runs that are known go; asks for the next. What is learned is not held meanwhile: hundreds of cases may wait, for hours. */
static int need_away(struct trial_query *q, struct query_list *ret)
{
        cleanup(query_unrefp) struct query *next = NULL;
        struct cell cell;
        uint32_t arm;
        int r = q->away ? 0 : begin_away(q);

        if (r == 0 && !q->away->is_over)
                r = take_turns(q->away);
        if (r != TURN_WAITS) {
                if (r < 0)
                        q->away = end_away(q->away);
                return r;
        }
        arm = q->away->step.arm;
        q->away->lanes[arm].asked = true;
        cell = arm_cell(&q->portfolio->arms[arm], q->info, q->portfolio->wall_ns);
        r = query_run(q->workspace, &cell, &next);
        return r < 0 ? r : query_list_add(ret, steal_pointer(next));
}

static int trial_query_need(struct query *query, struct query_list *ret)
{
        struct trial_query *q = (struct trial_query *)query;
        struct run_place *place;
        int r = find_place(q->portfolio, &place);

        if (r < 0)
                return r;
        return place && !is_alone(q) ? need_away(q, ret) : need_here(q, ret);
}

static int compute(struct trial_query *q, struct running *run, struct value **ret)
{
        cleanup_trial struct trial *kept = NULL;
        int r = is_alone(q) ? run_alone(run) : run_portfolio(run);

        if (r == 0 && !is_alone(q))
                r = trial_put(q->workspace, q->portfolio, run->trial, &kept);
        if (r < 0)
                return r;
        *ret = value_of(kept ? kept : run->trial);
        return *ret ? 0 : -ENOMEM;
}

static int trial_query_compute(struct query *query, struct job *j, struct value **ret)
{
        struct trial_query *q = (struct trial_query *)query;
        cleanup(running_done) struct running run = {.query = q, .job = j, .case_fd = -1};
        int r;

        if (q->away)
                return compute(q, q->away, ret);
        r = prepare_here(&run);
        return r < 0 ? r : compute(q, &run, ret);
}

static void trial_query_describe(const struct query *query, struct buffer *ret)
{
        const struct trial_query *q = (const struct trial_query *)query;

        buffer_addf(ret, "portfolio %s case %u", q->portfolio->name, q->info->id);
        if (is_alone(q))
                buffer_addf(ret, ", %s alone", q->portfolio->arms[q->alone].name);
}

static bool trial_query_estimate(const struct query *query, struct cost *ret)
{
        const struct trial_query *q = (const struct trial_query *)query;

        *ret = (struct cost){.mean_ns = q->portfolio->wall_ns / 2, .most_ns = q->portfolio->wall_ns};
        return true;
}

static void trial_query_free(struct query *query)
{
        struct trial_query *q = (struct trial_query *)query;

        end_away(q->away);
        portfolio_unref(q->portfolio);
        case_info_unref(q->info);
        free(q);
}

#define TRIAL_TYPE(needed)                                                                                          \
        {                                                                                                           \
                .name = "portfolio", .resource = (needed), .find = trial_query_find, .need = trial_query_need,      \
                .compute = trial_query_compute, .describe = trial_query_describe, .estimate = trial_query_estimate, \
                .free_query = trial_query_free, .free_value = trial_value_free,                                     \
        }
const struct query_type query_trial_type = TRIAL_TYPE(RESOURCE_CORE);
static const struct query_type query_trial_away_type = TRIAL_TYPE(RESOURCE_DISK); /* counting turns needs no core */

static bool is_away(const struct portfolio *p)
{
        struct run_place *place;

        return find_place(p, &place) == 0 && place;
}

int query_arm(struct workspace *w, struct portfolio *p, size_t arm, struct case_info *info, struct query **ret)
{
        struct trial_query *q = calloc(1, sizeof(*q));
        struct hasher *h;

        if (!q)
                return -ENOMEM;
        q->query = (struct query){.type = is_away(p) ? &query_trial_away_type : &query_trial_type, .refs = 1};
        q->workspace = w;
        q->portfolio = portfolio_ref(p);
        q->info = case_info_ref(info);
        q->alone = arm;
        h = hasher_new();
        hasher_string(h, "trial");
        hasher_add(h, p->epoch.bytes, DIGEST_SIZE);
        hasher_number(h, arm);
        hasher_number(h, info->id);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}

int query_trial(struct workspace *w, struct portfolio *p, struct case_info *info, struct query **ret)
{
        return query_arm(w, p, p->n_arms, info, ret);
}
