#include "core/why/cut/predecessors.h"

#include <math.h>

#include "core/run/slot.h"
#include "core/study/base/stat.h"
#include "core/workspace/worker_pool.h"

#define LESS_THAN_A_RUN 1e-4 /* seconds: a time that is no time at all counts as this in a geometric mean */
/* A set of queries is asked under one seed after the other until the runs say whether it is slow at odds of so much to one (Wald's sequential test). */
#define ODDS 99.0
/* More than this share of the runs must be on their own side of the threshold, alone and in the script. */
#define APART (2.0 / 3)
/* Answers that came within so much of each other, so late, and at the end: the solver has kept them. */
#define TOGETHER_NS NSEC_PER_MSEC
#define LATE_NS     (100 * NSEC_PER_MSEC)

struct measuring {
        const struct cut *cut;
        const struct predecessors_options *options;
        const struct recipe *recipe;
        struct recipe_limits limits;
        struct held programs;
        char scratch[PATH_SIZE];
        struct slot slot;
        struct cluster_slot *remote;
        struct runner *runner; /* NULL: it has no core */
        double threshold;      /* seconds; more is slow */
        double evidence[2];    /* logarithm of the odds that a run which is not slow, and one that is, gives for the query being so */
        struct predecessors *ret;
};

/* -- a core -- */

static void leave_slot(struct measuring *m)
{
        m->runner = runner_close(m->runner);
        if (m->remote)
                pool_release(m->options->version->solver->pool, m->remote);
        m->remote = NULL;
        if (m->slot.lock >= 0)
                slot_release(&m->slot);
        m->slot.lock = -1;
}

static void measuring_done(struct measuring *m)
{
        leave_slot(m);
        held_done(&m->programs);
}

static bool is_cancelled(void *user)
{
        return fd_is_readable(((struct measuring *)user)->options->cancel_fd);
}

static int take_slot(struct measuring *m)
{
        const struct predecessors_options *o = m->options;
        struct worker_pool *pool = o->version->solver->pool;
        int r = pool ? pool_lease(pool, m->limits.wall_ns, is_cancelled, m, &m->remote)
                     : slot_lease(workspace_dir(o->workspace), "case cut", o->cancel_fd, &m->slot);

        return r < 0 ? r
                     : runner_open(&(struct runner_options){.recipe = m->recipe,
                                                            .programs = m->programs.list,
                                                            .n_programs = m->programs.n,
                                                            .limits = m->limits,
                                                            .scratch_parent = m->scratch,
                                                            .sandbox = workspace_settings(o->workspace)->sandbox,
                                                            .cpus = m->remote ? NULL : &m->slot.cpus,
                                                            .slot = m->remote ? 0 : (unsigned)m->slot.cpu,
                                                            .remote = m->remote ? cluster_slot_remote(m->remote) : NULL},
                                   &m->runner);
}

/* -- one run -- */

static int run_text(struct measuring *m, struct slice text, size_t questions, size_t seed, struct run_result *ret)
{
        struct run_tries tries = {0};
        enum run_again again = RUN_IS_OVER;
        int r;

        if (m->runner && !m->remote && slot_is_wanted(&m->slot))
                leave_slot(m);
        do {
                if (again == RUN_AGAIN_IN_ANOTHER_SLOT)
                        leave_slot(m);
                r = m->runner ? 0 : take_slot(m);
                if (r < 0)
                        return r;
                runner_set_seed(m->runner, m->recipe->seed && seed > 0, seed);
                r = runner_run(m->runner, &(struct run_input){.bytes = text, .questions = questions}, m->options->cancel_fd, ret);
                again = run_again(&tries, r);
        } while (again != RUN_IS_OVER);
        m->ret->runs += r == 0;
        return r;
}

static uint64_t arrival(const struct run_result *x, size_t i)
{
        return timeline_when(&x->run.printed, x->verdicts.ends[i]);
}

/* Why the run does not tell the time of the last of n queries; NULL: it does. */
static const char *is_silent(const struct run_result *x, size_t n)
{
        const size_t answers = x->verdicts.n;

        if (answers > n)
                return "more answers than queries: none can be told to be this one's";
        if (answers + 1 < n)
                return "it ended before it came to the query";
        if (answers > 0 && arrival(x, answers - 1) == UINT64_MAX)
                return "when its answers arrived is not known";
        if (n > 1 && answers == n && arrival(x, n - 1) - arrival(x, 0) < TOGETHER_NS && arrival(x, 0) > LATE_NS &&
            x->run.wall_ns < arrival(x, 0) + 2 * TOGETHER_NS)
                return "all answers arrived together at its end, as from a solver that keeps its output back ('stdbuf -oL' in the recipe's run helps most)";
        return NULL;
}

/* The time of the last of n queries. -ENODATA with a sentence. */
static int read_time(const struct measuring *m, const struct run_result *x, size_t n, struct judge_run *ret)
{
        const char *why = is_silent(x, n);
        const bool is_answered = x->verdicts.n == n;
        const uint64_t before = !why && n > 1 ? arrival(x, n - 2) : 0, at = !why && is_answered ? arrival(x, n - 1) : x->run.wall_ns;

        if (why)
                return errorf(-ENODATA, "a run does not tell the query's time: %s; %zu of %zu queries answered, and then %s", why, x->verdicts.n, n,
                              verdict_name(x->verdict));
        *ret = (struct judge_run){.is_known = true,
                                  .verdict = is_answered ? x->verdicts.list[n - 1] : x->verdict,
                                  .limit = (double)(m->limits.wall_ns - MIN(before, m->limits.wall_ns)) / 1e9,
                                  .seconds = (double)(at - MIN(before, at)) / 1e9};
        return 0;
}

/* Runs a cut under the seed, and reads the query's time. */
static int measure(struct measuring *m, enum cut_form form, const bool *is_kept, size_t seed, struct judge_run *ret)
{
        cleanup(run_result_done) struct run_result x = {0};
        cleanup_buffer struct buffer text = {0};
        size_t n = 1;
        int r = cut_write(m->cut, form, is_kept, &text);

        for (size_t i = 0; is_kept && i + 1 < cut_query(m->cut); i++)
                n += is_kept[i];
        if (r == 0)
                r = run_text(m, SLICE(text.data, text.size), n, seed, &x);
        return r < 0 ? r : read_time(m, &x, n, ret);
}

/* -- judging -- */

static bool is_answer(enum verdict v)
{
        return v <= VERDICT_UNKNOWN;
}

static struct query_times times_of(const struct judge_pair *pairs, size_t n, int side)
{
        cleanup_free double *seconds = allocate(n + 1, sizeof(*seconds));
        struct query_times ret = {.n = n, .answer = VERDICT_TIMEOUT};

        for (size_t i = 0; i < n; i++) {
                const struct judge_run *r = &pairs[i].run[side];

                seconds[i] = r->seconds;
                if (!is_answer(r->verdict))
                        continue;
                ret.answer = ret.answered++ == 0 ? r->verdict : ret.answer;
        }
        ret.median = stat_median(seconds, n);
        return ret;
}

/* By time alone; an answer is one, also `unknown`, which comes when it comes. *ret_wanted: pairs that it needs to decide; 0: no more. */
static enum judge_change judge_times(const struct measuring *m, const struct judge_pair *pairs, size_t n, size_t *ret_wanted)
{
        cleanup_free struct judge_pair *copy = allocate(n, sizeof(*copy));
        const struct judge_case one = {.pairs = copy, .n_pairs = n};
        cleanup_judgement struct judgement j = {0};

        for (size_t i = 0; i < n; i++) {
                copy[i] = pairs[i];
                for (int side = 0; side < 2; side++)
                        copy[i].run[side].verdict = is_answer(pairs[i].run[side].verdict) ? VERDICT_SAT : VERDICT_TIMEOUT;
        }
        judge(&one, 1, &(struct judge_options){.measure = JUDGE_TIME, .most_pairs = m->options->most_pairs}, &j);
        *ret_wanted = j.cases[0].wanted;
        return j.cases[0].by[JUDGE_TIME].change;
}

static int tell(const struct measuring *m, const char *what)
{
        return progress_step(m->options->progress, what, m->ret->runs, 0);
}

/* Alone and in the script, until it is decided. *ret_pairs: owned by the caller, [ret->pairs]. */
static int compare(struct measuring *m, const bool *all, struct judge_pair **ret_pairs)
{
        struct predecessors *p = m->ret;
        size_t wanted = MIN((size_t)JUDGE_FIRST_PAIRS, m->options->most_pairs);
        int r = 0;

        while (r == 0 && p->pairs < wanted) {
                struct judge_pair pair = {0};

                r = tell(m, "case cut: alone and in the script");
                if (r == 0)
                        r = measure(m, CUT_ALONE, NULL, p->pairs, &pair.run[0]);
                if (r == 0)
                        r = measure(m, CUT_WHOLE, all, p->pairs, &pair.run[1]);
                if (r < 0)
                        break;
                list_grow(*ret_pairs, p->pairs);
                (*ret_pairs)[p->pairs++] = pair;
                if (p->pairs == wanted) {
                        p->change = judge_times(m, *ret_pairs, p->pairs, &wanted);
                        wanted = MIN(wanted, m->options->most_pairs);
                }
        }
        p->alone = times_of(*ret_pairs, p->pairs, 0);
        p->script = times_of(*ret_pairs, p->pairs, 1);
        return r;
}

static bool is_slow_run(const struct measuring *m, const struct judge_run *r)
{
        return r->verdict == VERDICT_TIMEOUT || (is_answer(r->verdict) && r->seconds > m->threshold);
}

/* 1: the query is slow in this cut. A cut that does not tell its time does not show it. */
static int is_slow(struct measuring *m, enum cut_form form, const bool *is_kept)
{
        double sum = 0;

        for (size_t i = 0; fabs(sum) < log(ODDS) && i < m->options->most_pairs; i++) {
                struct judge_run x = {0};
                int r = tell(m, "case cut: after which queries");

                if (r == 0)
                        r = measure(m, form, is_kept, i, &x);
                if (r < 0 && r != -ENODATA)
                        return r;
                sum += m->evidence[r == 0 && is_slow_run(m, &x)];
        }
        return sum > 0;
}

static int shows(void *user, const bool *is_in)
{
        return is_slow(user, CUT_WHOLE, is_in);
}

/* What was found, under all seeds: is it slower than the query alone? */
static int confirm(struct measuring *m, struct judge_pair *pairs)
{
        struct predecessors *p = m->ret;
        size_t wanted;
        int r = 0;

        for (size_t i = 0; r == 0 && i < p->pairs; i++) {
                r = tell(m, "case cut: what was found");
                if (r == 0)
                        r = measure(m, p->form, p->is_kept, i, &pairs[i].run[1]);
        }
        if (r < 0)
                return r;
        p->after = times_of(pairs, p->pairs, 1);
        p->is_certain = judge_times(m, pairs, p->pairs, &wanted) == JUDGE_MORE && p->after.median > m->threshold;
        return 0;
}

/* Between alone and in the script. False: their runs are too much alike. */
static bool choose_threshold(struct measuring *m, const struct judge_pair *pairs)
{
        const struct predecessors *p = m->ret;
        double share[2] = {0.5, 0.5}; /* of slow runs: none and all of them are never believed */

        m->threshold = sqrt(fmax(p->alone.median, LESS_THAN_A_RUN) * p->script.median);
        for (int side = 0; side < 2; side++) {
                for (size_t i = 0; i < p->pairs; i++)
                        share[side] += is_slow_run(m, &pairs[i].run[side]);
                share[side] /= (double)p->pairs + 1;
        }
        m->evidence[true] = log(share[1] / share[0]);
        m->evidence[false] = log((1 - share[1]) / (1 - share[0]));
        return share[0] < 1 - APART && share[1] > APART;
}

/* Do assertions in scopes that are gone stand in what was found? */
static int find_form(struct measuring *m)
{
        cleanup_buffer struct buffer scopes = {0}, whole = {0};
        int r = cut_write(m->cut, CUT_SCOPES, m->ret->is_kept, &scopes);

        if (r == 0)
                r = cut_write(m->cut, CUT_WHOLE, m->ret->is_kept, &whole);
        if (r == 0)
                r = strcmp(scopes.data, whole.data) == 0 ? 1 : is_slow(m, CUT_SCOPES, m->ret->is_kept);
        m->ret->form = r == 1 ? CUT_SCOPES : CUT_WHOLE;
        return MIN(r, 0);
}

static int find(struct measuring *m, size_t n, struct judge_pair *pairs)
{
        struct predecessors *p = m->ret;
        int r = cut_minimize(n, shows, m, p->is_kept);

        if (r == 0)
                r = find_form(m);
        for (size_t i = 0; i < n; i++)
                p->n_kept += p->is_kept[i];
        return r == 0 ? confirm(m, pairs) : r;
}

int predecessors_find(const struct cut *c, const struct predecessors_options *options, struct predecessors *ret)
{
        const struct recipe *of = options->version->solver->recipe;
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(of, FORMAT_SMT2);
        cleanup(measuring_done) struct measuring m = {.cut = c, .options = options, .recipe = recipe, .limits = recipe->limits, .slot.lock = -1, .ret = ret};
        cleanup_free struct judge_pair *pairs = NULL;
        size_t n = cut_query(c) - 1;
        int r = version_hold(options->workspace, options->version, &m.programs);

        *ret = (struct predecessors){.has_seeds = recipe->seed, .form = CUT_ALONE, .is_kept = allocate(n + 1, sizeof(*ret->is_kept))};
        m.limits.wall_ns = options->timeout_ns > 0 ? options->timeout_ns : m.limits.wall_ns;
        memset(ret->is_kept, true, n);
        if (r == 0)
                r = path_join(m.scratch, workspace_dir(options->workspace), "scratch");
        if (r == 0)
                r = compare(&m, ret->is_kept, &pairs);
        if (r == 0 && ret->change == JUDGE_MORE && choose_threshold(&m, pairs))
                return find(&m, n, pairs);
        memset(ret->is_kept, false, n);
        return r;
}

void predecessors_done(struct predecessors *p)
{
        free(p->is_kept);
        *p = (struct predecessors){0};
}

/* -- words -- */

static void add_queries(const struct predecessors *p, struct buffer *ret)
{
        buffer_adds(ret, p->n_kept == 1 ? "query " : "queries ");
        for (size_t i = 0, n = 0; n < p->n_kept; i++)
                if (p->is_kept[i])
                        n++, buffer_addf(ret, "%s%zu", n == 1 ? "" : n == p->n_kept ? " and " : ", ", i + 1);
}

static void add_time(const char *where, const struct query_times *t, struct buffer *ret)
{
        buffer_addf(ret, "%s %s%s", where, t->answered < t->n ? "more than " : "", judge_amount_text(JUDGE_TIME, t->median).s);
        if (t->answered > 0 && t->answered < t->n)
                buffer_addf(ret, " (%zu of %zu runs answered)", t->answered, t->n);
}

void predecessors_sentence(const struct predecessors *p, struct buffer *ret)
{
        if (p->form == CUT_ALONE) {
                buffer_adds(ret, p->change == JUDGE_LESS   ? "faster after the queries before it:"
                                 : p->change == JUDGE_MORE ? "slower in the script, by too little to tell after which queries:"
                                 : p->change == JUDGE_SAME ? "as slow alone:"
                                                           : "not shown to be slower after others:");
        } else {
                buffer_adds(ret, p->n_kept > 0 ? "slow only after " : "slow after no other query, but ");
                if (p->n_kept > 0)
                        add_queries(p, ret);
                else
                        buffer_adds(ret, p->form == CUT_SCOPES ? "only within its push" : "only with");
                if (p->form == CUT_WHOLE)
                        buffer_addf(ret, "%s assertions in scopes that are gone", p->n_kept > 0 ? ", with" : "");
                add_time(":", &p->after, ret);
                buffer_adds(ret, ";");
        }
        add_time(" alone", &p->alone, ret);
        add_time("; in the script", &p->script, ret);
        buffer_addf(ret, " (medians of %zu %s; %zu runs in all)", p->pairs, p->has_seeds ? "seeds" : "runs", p->runs);
        if (p->form != CUT_ALONE && !p->is_certain)
                buffer_adds(ret, "; that it is slow after these alone is not certain");
}

bool predecessors_contradict(const struct predecessors *p)
{
        return verdict_is_decided(p->alone.answer) && verdict_is_decided(p->script.answer) && p->alone.answer != p->script.answer;
}
