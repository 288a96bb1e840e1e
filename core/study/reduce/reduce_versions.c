/* Interest tests on two versions: the input's runs say what is of interest and by which bounds, then workers test candidates. */
#include "core/study/reduce/reduction.h"

#include <math.h>
#include <pthread.h>

#include "core/cases/cases.h"
#include "core/smtlib/logic.h"
#include "core/smtlib/print.h"
#include "core/study/reduce/reduce_pool.h"
#include "core/weaken/weaken.h"
#include "core/workspace/lease.h"

#define SLACK        1.25 /* a target that runs first must be slow beside a reference this many times as slow as on the last interesting text */
#define NOISE        2.0  /* the reference may take this many times as long as on the input: the CPU times of a busy machine vary by half */
#define ANSWER_MORE  2.0  /* seconds by which an answer may be later than on the input */
#define IMPLIED_MOST 64   /* applications of a rule tried on one formula, at the first places */

/* -- workers ------------------------------------------------------------------------------------------------------- */

/* Each worker runs the two versions on a lease of its own; a worker is one thread's at a time. The first is lent the slot of the job, and gives way to
 * persons where the job is a batch's. The others have further cores while nobody else waits for any, or further slots of a cluster. */

/* The runs of one side, the candidates that they refuted, and their cost: side_first(). */
struct tally {
        double runs, refuted, amount;
};

struct reduce_versions {
        struct reduction_options options; /* nothing of it is ours; ratio, floor and interest become what the input shows */
        const struct version *versions[N_SIDES];
        struct version_answer before[N_SIDES]; /* on the input */
        bool has_clock, is_cpu_time; /* has_clock: the input's slow run has shown which clock counts */
        double fast_most;            /* the longest that the reference may take */
        struct job *job;
        struct held programs[N_SIDES];
        struct lease *workers; /* owned */
        unsigned n_workers;
        enum format format;       /* of the input */
        struct weaken *weaken;    /* owned; of an implication */
        struct weaken_step step;  /* that made the finding */
        struct reduce_pool *pool; /* owned */
        int cancel_fd;
        pthread_mutex_t lock;
        /* under lock */
        struct tally tallies[N_SIDES];
        double fast;        /* the reference's time on the text that was interesting last */
        struct buffer last; /* the step that was of interest last, as a line of rules.tsv */
};

/* A text that a worker tests. */
struct testing {
        struct reduce_versions *versions;
        unsigned worker;
        struct slice text;
        int cancel_fd;
};

static void lend_core(struct lease *l, unsigned cpu, const cpu_set_t *cpus)
{
        l->slot = (struct slot){.cpu = (int)cpu, .lock = -1, .cpus = *cpus};
        l->has_slot = true;
}

/* The first worker takes the job's own core, or its slot of the cluster. */
static int take_job_slot(struct reduce_versions *v)
{
        struct lease *l = &v->workers[0];

        if (!l->pool)
                lend_core(l, job_slot(v->job), job_cpus(v->job));
        else if (v->options.solver->pool && (l->remote = job_take_remote(v->job)))
                l->has_slot = true;
        return lease_take(l);
}

/* Before a test by the first worker: 0 when it has its core. */
static int first_worker_ready(struct reduce_versions *v)
{
        int k = v->workers[0].pool ? 0 : job_give_way(v->job);

        if (k <= 0)
                return k;
        lease_leave(&v->workers[0]);
        return take_job_slot(v);
}

static void leave_core(struct reduce_versions *v, struct lease *l)
{
        const bool is_lent = l->has_slot && !l->pool && l != v->workers; /* the first one's is the job's */

        lease_leave(l);
        if (is_lent)
                job_drop_slot(v->job, (unsigned)l->slot.cpu);
}

/* Of another worker. 1: it has a core, which it takes when `has_work`; 0: none now. */
static int worker_ready(void *user, unsigned number, bool has_work)
{
        struct reduce_versions *v = user;
        struct lease *l = &v->workers[number];
        cpu_set_t cpus;
        unsigned cpu;
        int k;

        if (l->has_slot && !l->pool && job_is_pressed(v->job))
                leave_core(v, l);
        if (l->has_slot || !has_work)
                return l->has_slot;
        k = l->pool ? pool_try(l->pool, l->most_ns, &l->remote) : job_add_slot(v->job, &cpu, &cpus);
        if (k == 0 && l->pool)
                l->has_slot = true;
        else if (k == 0)
                lend_core(l, cpu, &cpus);
        return k < 0 ? k == -EAGAIN ? 0 : k : 1;
}

/* `cpu`, `wall`: seconds. 0: however it ended. */
static int run_on(const struct testing *t, int side, double cpu, double wall, struct run_result *ret)
{
        struct reduce_versions *v = t->versions;
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(v->versions[side]->solver->recipe, v->format);
        struct runner_options options = {.recipe = recipe,
                                         .programs = v->programs[side].list,
                                         .n_programs = v->programs[side].n,
                                         .limits = recipe->limits,
                                         .has_seed = v->options.has_seed,
                                         .seed = v->options.seed};

        options.limits.cpu_ns = seconds_ns(cpu);
        options.limits.wall_ns = seconds_ns(wall);
        v->workers[t->worker].cancel_fd = t->cancel_fd;
        return lease_run(&v->workers[t->worker], (size_t)side, &options,
                         &(struct run_input){.bytes = t->text, .questions = case_questions(v->format, t->text)}, ret);
}

/* -- versions ----------------------------------------------------------------------------------------------------- */

const char *interest_name(enum interest i)
{
        static const char *const names[N_INTERESTS] = {"any", "slow", "crash", "answers", "implication"};

        return names[i];
}

static double amount_of(const struct reduce_versions *v, const struct run_result *result)
{
        if (v->options.measure == JUDGE_MEMORY)
                return (double)result->run.memory;
        if (v->options.measure == JUDGE_EFFORT)
                return result->efforts.n > 0 && result->efforts.list[0].found ? result->efforts.list[0].real : 0;
        return (double)(v->is_cpu_time ? result->run.user_ns + result->run.system_ns : result->run.wall_ns) / 1e9;
}

/* True if it was computing for at least half of the time in which it had a core. */
static bool was_computing(const struct execute_result *r)
{
        return (r->user_ns + r->system_ns) * 2 + r->waited_ns + r->stolen_ns >= r->wall_ns;
}

static int ask_side(const struct testing *t, int side, double limit, struct version_answer *ret)
{
        struct reduce_versions *v = t->versions;
        bool is_time = v->options.measure == JUDGE_TIME;
        double cpu = is_time ? limit : v->options.timeout, wall = is_time && v->is_cpu_time ? lease_wall(limit) : cpu;
        struct run_result result = {0};
        int r = run_on(t, side, cpu, wall, &result);

        if (r == 0 && !v->has_clock) {
                v->is_cpu_time = is_time && was_computing(&result.run);
                v->has_clock = true;
        }
        if (r == 0)
                *ret = (struct version_answer){.verdict = verdict_believed(&result.verdicts),
                                               .amount = result.verdict != VERDICT_TIMEOUT ? amount_of(v, &result) : is_time ? limit : 0};
        if (r == 0 && ret->verdict == VERDICT_CRASH)
                ending_describe(&result.run, ret->end);
        run_result_done(&result);
        return r;
}

/* -- what is interesting -- */

/* How much the target must take at least, where the reference takes `fast`. */
static double slow_least(const struct reduce_versions *v, double fast)
{
        return fmax(v->options.floor, v->options.ratio * fast);
}

static void note_run(struct reduce_versions *v, int side, double amount, bool has_refuted)
{
        cleanup_unlock pthread_mutex_t *held = hold(&v->lock);

        v->tallies[side].runs += 1;
        v->tallies[side].refuted += has_refuted;
        v->tallies[side].amount += amount;
}

/* The side that is expected to refute a candidate at the lower cost: cost of a run by its chance to refute. */
static int side_first(struct reduce_versions *v)
{
        double price[N_SIDES];
        cleanup_unlock pthread_mutex_t *held = hold(&v->lock);

        for (int side = 0; side < N_SIDES; side++) {
                const struct tally *t = &v->tallies[side];

                price[side] = (t->amount / t->runs) / ((t->refuted + 1) / (t->runs + 2));
        }
        return price[SIDE_TARGET] < price[SIDE_REFERENCE] ? SIDE_TARGET : SIDE_REFERENCE;
}

/* True if the target gives the reference's answer or is cut off, and takes at least so much. */
static bool is_slow_answer(const struct reduce_versions *v, const struct version_answer *a, double least)
{
        enum verdict cut_off = v->options.measure == JUDGE_MEMORY ? VERDICT_MEMOUT : VERDICT_TIMEOUT;

        return (a->verdict == cut_off || a->verdict == v->before[SIDE_REFERENCE].verdict) && a->amount >= least;
}

/* 1: one side answers as the input asks: the reference within the limit, the target beyond it. */
static int is_good(const struct testing *t, int side, double limit, double *ret_amount)
{
        struct reduce_versions *v = t->versions;
        struct version_answer a;
        int r = ask_side(t, side, limit, &a);

        if (r < 0)
                return r;
        r = side == SIDE_TARGET ? is_slow_answer(v, &a, limit) : a.verdict == v->before[side].verdict && a.amount <= limit;
        note_run(v, side, a.amount, r == 0);
        *ret_amount = a.amount;
        return r;
}

/* The reference's time says what the target must take at least. If the target is likelier to refute, it runs first, against the last such time. */
static int test_slow(const struct testing *t)
{
        struct reduce_versions *v = t->versions;
        double most = v->options.measure == JUDGE_TIME ? v->options.timeout : INFINITY; /* what a run can show */
        double fast = 0, slow, least, shown = 0;
        int r;

        if (side_first(v) == SIDE_TARGET) {
                pthread_mutex_lock(&v->lock);
                shown = fmin(slow_least(v, v->fast * SLACK), most);
                pthread_mutex_unlock(&v->lock);
                r = is_good(t, SIDE_TARGET, shown, &slow);
                /* Too quick for the reference's time as it was; it may be shorter now. */
                if (r <= 0 && (r < 0 || shown <= v->options.floor))
                        return r;
                if (r == 0)
                        shown = 0;
        }
        r = is_good(t, SIDE_REFERENCE, v->fast_most, &fast);
        if (r <= 0)
                return r;
        least = slow_least(v, fast);
        if (least > most)
                return 0;
        if (shown < least)
                r = is_good(t, SIDE_TARGET, least, &slow);
        if (r == 1) {
                pthread_mutex_lock(&v->lock);
                v->fast = fast;
                pthread_mutex_unlock(&v->lock);
        }
        return r;
}

/* 1: one side answers as on the input, given some more time than then. */
static int is_as_before(const struct testing *t, int side, struct version_answer *ret)
{
        const struct reduce_versions *v = t->versions;
        int r = ask_side(t, side, fmin(v->options.timeout, 2 * v->before[side].amount + ANSWER_MORE), ret);

        return r < 0 ? r : ret->verdict == v->before[side].verdict;
}

static int test_crash(const struct testing *t)
{
        struct version_answer a;
        int r = is_as_before(t, SIDE_TARGET, &a);

        return r <= 0 ? r : strcmp(a.end, t->versions->before[SIDE_TARGET].end) == 0;
}

static int test_answers(const struct testing *t)
{
        int first = side_first(t->versions), r = 1;

        for (int i = 0; r == 1 && i < N_SIDES; i++) {
                struct version_answer a;

                r = is_as_before(t, first ^ i, &a);
                if (r >= 0)
                        note_run(t->versions, first ^ i, a.amount, r == 0);
        }
        return r;
}

/* -- implications -- */

/* Algorithm 1 of Bringolf, Winterer, Su (ASE 2022) asks of each smaller formula whether some application of the same rule to it still shows the
 * finding. */
struct applying {
        struct testing testing;       /* its text: the application */
        struct version_answer answer; /* to it */
        struct buffer *text;          /* gets the application of interest; may be NULL */
        const char *first;            /* the line that was tried first; it is not tried again */
        unsigned n;
};

/* Takes over the script. 1: it gets the answer that the finding's got. */
static int try_implied(void *user, struct script *with, const struct weaken_step *step)
{
        struct applying *a = user;
        struct reduce_versions *v = a->testing.versions;
        cleanup_buffer struct buffer text = {0}, line = {0};
        int r = 0;

        weaken_step_print(v->weaken, step, &line);
        if (!a->first || strcmp(line.data, a->first) != 0)
                r = script_print(with, NULL, &text);
        script_free(with);
        if (r < 0 || !text.data)
                return r;
        a->testing.text = SLICE(text.data, text.size);
        r = is_as_before(&a->testing, SIDE_TARGET, &a->answer);
        if (r == 1) {
                pthread_mutex_lock(&v->lock);
                reduce_set_text(&v->last, SLICE(line.data, line.size));
                pthread_mutex_unlock(&v->lock);
                if (a->text)
                        r = reduce_set_text(a->text, a->testing.text) ?: 1;
        }
        return r == 0 && ++a->n >= IMPLIED_MOST ? -ERANGE : r;
}

/* As in the search, a step keeps to the script's logic: outside of it `unknown` is no fault. */
static bool is_in_logic(void *user, const struct term *t)
{
        const struct logic *logic = user;

        return (!t->has_quantifier || logic->has_quantifiers) && logic_allows(logic, t);
}

/* The applications of the step's rule to the text, in the step's direction, until one is of interest: 1. The one that was of interest last comes first, at
 * the beginning the step itself. 0: none; also of a text that is no script. */
static int try_rule(struct applying *a, struct slice text)
{
        struct reduce_versions *v = a->testing.versions;
        cleanup_weaken_step struct weaken_step step = {0};
        cleanup_script struct script *s = NULL;
        cleanup_free char *first = NULL;
        struct weaken_options options = {.keeps = is_in_logic};
        struct script *with;
        struct logic logic;
        struct random random;
        int r = script_read(text, &(struct script_options){.dialect = dialect_named(v->options.solver->recipe->dialect)}, &s);

        if (r < 0)
                return r == -EINVAL ? 0 : r;
        logic = logic_of(s->logic ? s->logic->name.data : NULL);
        options.user = &logic;
        pthread_mutex_lock(&v->lock);
        first = copy_string(v->last.data);
        pthread_mutex_unlock(&v->lock);
        r = weaken_step_parse(v->weaken, slice_string(first), &step)
            ?: weaken_apply(v->weaken, s, &step, &options, &with)
            ?: try_implied(a, with, &step);
        if (r != 0 && r != -ENOENT) /* -ENOENT: it cannot be applied any more */
                return r;
        a->first = first;
        random_seed(&random, v->step.seed);
        r = weaken_each(v->weaken, s, v->step.rule, v->step.direction, &random, &options, try_implied, a);
        return r == -ERANGE ? 0 : r;
}

static int test_implication(const struct testing *t)
{
        struct applying a = {.testing = *t};
        struct version_answer decided;
        int r = is_as_before(t, SIDE_REFERENCE, &decided);

        return r <= 0 ? r : try_rule(&a, t->text);
}

static int test_text(void *user, unsigned worker, struct slice text, int cancel_fd)
{
        static int (*const tests[])(const struct testing *t) = {
                [INTEREST_SLOW] = test_slow, [INTEREST_CRASH] = test_crash, [INTEREST_ANSWERS] = test_answers, [INTEREST_IMPLICATION] = test_implication};
        struct reduce_versions *v = user;
        int r = worker == 0 ? first_worker_ready(v) : 0;

        return r < 0 ? r : tests[v->options.interest](&(struct testing){v, worker, text, cancel_fd});
}

/* -- the input -- */

/* Answers that differ in another way than the finding's are another finding. */
static int check_answers(const struct reduce_versions *v)
{
        for (int side = 0; v->options.has_answers && side < N_SIDES; side++) {
                enum verdict wanted = v->options.answers[side], now = v->before[side].verdict;

                if (v->versions[side] && wanted != VERDICT_ERROR && now != wanted)
                        return errorf(-EINVAL, "%s says %s, and said %s when it was found", v->versions[side]->name, verdict_name(now),
                                      verdict_name(wanted));
        }
        return 0;
}

/* Says why the input is not slow, if it is not; `from` and `to` are the versions' names. */
static int check_slowness(const struct reduce_versions *v, const char *from, const char *to)
{
        const struct version_answer *fast = &v->before[SIDE_REFERENCE], *slow = &v->before[SIDE_TARGET];
        enum judge_measure m = v->options.measure;

        if (!verdict_is_decided(fast->verdict) && !verdict_is_decided(slow->verdict))
                return errorf(-EINVAL, "no version solves it within %gs: %s says %s, %s says %s", v->options.timeout, from,
                              verdict_name(fast->verdict), to, verdict_name(slow->verdict));
        if (!verdict_is_decided(fast->verdict))
                return errorf(-EINVAL, "%s, the reference, says %s after %.3fs and %s solves it: are they the wrong way round?",
                              from, verdict_name(fast->verdict), fast->amount, to);
        if (is_slow_answer(v, slow, slow_least(v, fast->amount)))
                return 0;
        if (m != JUDGE_TIME)
                return errorf(-EINVAL,
                              "the target does not take more: %s takes %s (%s) and %s %s (%s); at least %g times as much %s and %s are asked for", from,
                              judge_amount_text(m, fast->amount).s, verdict_name(fast->verdict), to,
                              judge_amount_text(m, slow->amount).s, verdict_name(slow->verdict), v->options.ratio,
                              judge_measure_name(m), judge_amount_text(m, v->options.floor).s);
        return errorf(-EINVAL,
                      "it is not slow on the target: %s takes %.3fs (%s) and %s %.3fs (%s); at least %g times as long and %gs are asked for%s", from,
                      fast->amount, verdict_name(fast->verdict), to, slow->amount, verdict_name(slow->verdict),
                      v->options.ratio, v->options.floor,
                      fast->amount >= v->options.floor && fast->amount > slow->amount
                              ? " (are the versions the wrong way round?)"
                              : "; see --ratio and --floor");
}

/* Says why the input shows no implication, if so. The reference's answer is that to the formula before the last rule. */
static int check_implication(const struct reduce_versions *v)
{
        enum verdict before = v->before[SIDE_REFERENCE].verdict, behind = v->before[SIDE_TARGET].verdict;
        const char *name = v->versions[SIDE_TARGET]->name;

        if (!verdict_is_decided(before))
                return errorf(-EINVAL, "%s does not decide the formula before the last rule: it says %s", name, verdict_name(before));
        if (before == behind)
                return errorf(-EINVAL, "%s decides the formula behind the last rule, too: it says %s", name, verdict_name(behind));
        if (behind != VERDICT_UNKNOWN && !verdict_is_decided(behind))
                return errorf(-EINVAL, "%s does not answer the formula behind the last rule: it says %s", name, verdict_name(behind));
        return check_answers(v);
}

/* Sets what the input shows, or says why it shows nothing. */
static int choose_interest(struct reduce_versions *v)
{
        const struct version_answer *fast = &v->before[SIDE_REFERENCE], *slow = &v->before[SIDE_TARGET];
        const char *from = v->versions[SIDE_REFERENCE] ? v->versions[SIDE_REFERENCE]->name : "", *to = v->versions[SIDE_TARGET]->name;
        enum interest asked = v->options.interest;
        bool is_answers = v->versions[SIDE_REFERENCE] && verdict_is_decided(fast->verdict) && slow->verdict != fast->verdict &&
                          (verdict_is_decided(slow->verdict) || slow->verdict == VERDICT_UNKNOWN);

        if (asked == INTEREST_IMPLICATION)
                return check_implication(v);
        if (slow->verdict == VERDICT_CRASH && (asked == INTEREST_ANY || asked == INTEREST_CRASH))
                v->options.interest = INTEREST_CRASH;
        else if (asked == INTEREST_CRASH)
                return errorf(-EINVAL, "%s does not crash on it: it says %s", to, verdict_name(slow->verdict));
        else if (is_answers && (asked == INTEREST_ANY || asked == INTEREST_ANSWERS))
                v->options.interest = INTEREST_ANSWERS;
        else if (asked == INTEREST_ANSWERS)
                return errorf(-EINVAL, "%s says %s and %s says %s: no different answers to keep", from,
                              verdict_name(fast->verdict), to, verdict_name(slow->verdict));
        else if (!v->versions[SIDE_REFERENCE])
                return errorf(-EINVAL, "%s does not crash on it; name a --reference to compare it with", to);
        else
                v->options.interest = INTEREST_SLOW;
        if (v->options.interest == INTEREST_SLOW)
                return check_slowness(v, from, to);
        return v->options.interest == INTEREST_ANSWERS ? check_answers(v) : 0;
}

static void choose_bounds(struct reduce_versions *v)
{
        bool is_time = v->options.measure == JUDGE_TIME;
        double least = is_time ? 1e-3 : judge_least(v->options.measure), ratio_least = is_time ? REDUCE_RATIO_LEAST : JUDGE_FLOOR;
        double slow = v->before[SIDE_TARGET].amount, shown = slow / fmax(v->before[SIDE_REFERENCE].amount, least);

        if (v->options.ratio == 0)
                v->options.ratio = shown < ratio_least ? ratio_least : fmin(REDUCE_RATIO, sqrt(shown));
        if (v->options.floor == 0)
                v->options.floor = is_time ? fmin(REDUCE_FLOOR, slow / 2) : v->options.ratio * least;
}

/* Runs both versions on the input, the target first: its run shows which clock counts. */
static int run_input(struct reduce_versions *v, struct slice input, struct slice implied)
{
        int r = 0;

        for (int side = N_SIDES - 1; r == 0 && side >= 0; side--) {
                struct testing t = {.versions = v, .text = side == SIDE_TARGET && v->weaken ? implied : input, .cancel_fd = v->cancel_fd};
                bool had_clock = v->has_clock;

                if (!v->versions[side])
                        continue;
                r = ask_side(&t, side, v->options.timeout, &v->before[side]);
                if (r == 0 && !had_clock && v->is_cpu_time && v->before[side].verdict == VERDICT_TIMEOUT) /* by the clock that does not count */
                        r = ask_side(&t, side, v->options.timeout, &v->before[side]);
                v->tallies[side] = (struct tally){.runs = 1, .amount = v->before[side].amount};
        }
        if (r < 0)
                return r;
        choose_bounds(v);
        v->fast = v->before[SIDE_REFERENCE].amount;
        v->fast_most = fmax(v->options.floor / v->options.ratio, v->fast * NOISE);
        return choose_interest(v);
}

/* -- life -- */

struct reduce_versions *reduce_versions_close(struct reduce_versions *v)
{
        if (!v)
                return NULL;
        reduce_pool_close(v->pool);
        for (unsigned i = 0; i < v->n_workers; i++)
                leave_core(v, &v->workers[i]);
        for (int side = 0; side < N_SIDES; side++)
                held_done(&v->programs[side]);
        free(v->workers);
        weaken_step_done(&v->step);
        weaken_free(v->weaken);
        buffer_done(&v->last);
        pthread_mutex_destroy(&v->lock);
        free(v);
        return NULL;
}

static int open_workers(struct reduce_versions *v)
{
        const struct reduction_options *o = &v->options;
        struct worker_pool *pool = o->solver->pool;
        struct engine_counters counters;
        unsigned most;
        int r = 0;

        engine_counters(job_engine(v->job), &counters);
        v->format = o->input.info ? o->input.info->format : case_format("", o->input.bytes);
        for (int side = 0; r == 0 && side < N_SIDES; side++) {
                if (!v->versions[side])
                        continue;
                pool = pool ?: v->versions[side]->solver->pool;
                r = version_hold(o->workspace, v->versions[side], &v->programs[side]);
        }
        most = pool ? pool->workers : counters.slots;
        v->n_workers = o->jobs > 0 ? MIN(o->jobs, most) : most;
        v->workers = allocate(v->n_workers, sizeof(*v->workers));
        for (unsigned i = 0; i < v->n_workers; i++)
                v->workers[i] = (struct lease){o->workspace, pool, NULL, v->cancel_fd, .slot.lock = -1};
        return r == 0 ? take_job_slot(v) : r;
}

int reduce_versions_open(struct job *j, const struct reduction_options *options, const struct version *const versions[N_SIDES],
                         struct slice input, struct slice implied, struct reduce_versions **ret)
{
        cleanup(reduce_versions_closep) struct reduce_versions *v = allocate(1, sizeof(*v));
        bool is_implication = options->interest == INTEREST_IMPLICATION;
        int r = 0;

        pthread_mutex_init(&v->lock, NULL);
        v->options = *options;
        v->versions[SIDE_REFERENCE] = versions[is_implication ? SIDE_TARGET : SIDE_REFERENCE];
        v->versions[SIDE_TARGET] = versions[SIDE_TARGET];
        v->job = j;
        v->cancel_fd = job_cancel_fd(j);
        if (!is_implication && versions[SIDE_REFERENCE] && version_is_same(versions[SIDE_REFERENCE], versions[SIDE_TARGET]))
                return errorf(-EINVAL, "the reference and the target are one version, %s", versions[SIDE_TARGET]->name);
        if (is_implication) {
                r = weaken_new(NULL, 0, &v->weaken)
                    ?: weaken_step_parse(v->weaken, slice_string(options->step), &v->step);
                if (r == 0)
                        weaken_step_print(v->weaken, &v->step, &v->last);
        }
        if (r == 0)
                r = open_workers(v) ?: run_input(v, input, implied);
        for (unsigned i = 1; i < v->n_workers; i++)
                v->workers[i].most_ns = v->workers[0].most_ns; /* no run will be longer */
        if (r == 0)
                r = reduce_pool_open(v->n_workers, test_text, worker_ready, v, v->cancel_fd, &v->pool);
        if (r == 0)
                *ret = steal_pointer(v);
        return r;
}

struct reduce_test reduce_versions_test(struct reduce_versions *v)
{
        return (struct reduce_test){.try = reduce_pool_try, .user = v->pool, .width = 2 * (size_t)v->n_workers};
}

void reduce_versions_shown(const struct reduce_versions *v, struct reduction *ret)
{
        ret->interest = v->options.interest;
        ret->is_cpu_time = v->is_cpu_time;
        ret->has_reference = v->versions[SIDE_REFERENCE] != NULL;
        ret->ratio = v->options.ratio;
        ret->floor = v->options.floor;
        memcpy(ret->input, v->before, sizeof(ret->input));
}

int reduce_versions_run(struct reduce_versions *v, struct slice text, struct version_answer ret[N_SIDES], struct buffer *implied)
{
        const struct testing t = {.versions = v, .text = text, .cancel_fd = v->cancel_fd};
        struct applying a = {.testing = t, .text = implied};
        int r = first_worker_ready(v);

        for (int side = 0; r == 0 && side < N_SIDES; side++) {
                ret[side] = (struct version_answer){0};
                if (side == SIDE_TARGET && v->weaken) {
                        r = try_rule(&a, text);
                        ret[side] = a.answer;
                        r = r == 0 ? errorf(-ENODATA, "no application of the rule is of interest any more") : MIN(r, 0);
                } else if (v->versions[side]) {
                        r = ask_side(&t, side, v->options.timeout, &ret[side]);
                }
        }
        return r;
}
