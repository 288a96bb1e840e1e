#include "core/why/cut/predecessors.h"

#include <math.h>

#include "core/study/base/stat.h"
#include "core/workspace/lease.h"

#define LEAST 1e-4      /* seconds: less counts as this in logarithms */
#define ODDS  999.0     /* to one: a set runs until the odds for or against its being slow are this large */
#define SURE  0.99      /* the greatest probability assumed for a run alone below the threshold, or for one in the script above it */
#define APART (2.0 / 3) /* more than this share of the runs alone must be below the threshold, and of those in the script above it */
/* A solver whose first answer comes after LATE_NS, and ends within TOGETHER_NS of it, kept its output back. */
#define TOGETHER_NS (2 * NSEC_PER_MSEC)
#define LATE_NS     (100 * NSEC_PER_MSEC)

struct measuring {
        const struct cut *cut;
        const struct predecessors_options *options;
        const struct recipe *recipe;
        struct recipe_limits limits;
        struct held programs;
        struct lease lease;
        const char *stage;
        struct judge_pair *pairs; /* owned: [i] alone and in the cut being compared, under seed i */
        size_t n_pairs;
        double threshold;   /* seconds; more is slow */
        double evidence[2]; /* logarithm of the odds for slowness from a run that is not slow, and from one that is */
        struct predecessors *ret;
};

static void measuring_done(struct measuring *m)
{
        lease_leave(&m->lease);
        held_done(&m->programs);
        free(m->pairs);
}

/* -- one run -- */

/* `seed` 0: the solver's own. */
static int run_text(struct measuring *m, struct slice text, size_t questions, size_t seed, struct run_result *ret)
{
        const struct runner_options options = {.recipe = m->recipe,
                                               .programs = m->programs.list,
                                               .n_programs = m->programs.n,
                                               .limits = m->limits,
                                               .has_seed = m->recipe->seed && seed > 0,
                                               .seed = seed};
        int r = lease_yield(&m->lease)
            ?: lease_run(&m->lease, 0, &options, &(struct run_input){.bytes = text, .questions = questions}, ret);

        m->ret->runs++;
        return r;
}

static bool is_answer(enum verdict v)
{
        return v <= VERDICT_UNKNOWN;
}

static uint64_t arrival(const struct run_result *x, size_t i)
{
        return timeline_when(&x->run.printed, x->verdicts.ends[i]);
}

/* The reason why the run does not show the time of the last of n queries; NULL: it does. */
static const char *why_no_time(const struct run_result *x, size_t n)
{
        const size_t answers = x->verdicts.n;

        if (answers > n)
                return "more answers than queries, none of which can be told to be this one's";
        if (answers + 1 < n)
                return "it ended before it came to the query";
        if (answers > 0 && arrival(x, answers - 1) == UINT64_MAX)
                return "when its answers arrived is not known";
        if (answers == n && n > 1 && arrival(x, 0) > LATE_NS && x->run.wall_ns < arrival(x, 0) + TOGETHER_NS)
                return "all answers arrived together at its end: the solver keeps its output back, which 'stdbuf -oL' in the "
                       "recipe's run may help";
        return NULL;
}

/* Runs a cut, and reads the query's time. -ENODATA with a sentence. */
static int measure(struct measuring *m, enum cut_form form, const bool *is_kept, size_t seed, struct judge_run *ret)
{
        cleanup(run_result_done) struct run_result x = {0};
        cleanup_buffer struct buffer text = {0};
        uint64_t before = 0, end;
        const char *why;
        size_t n = 1;
        int r = progress_step(m->options->progress, m->stage, m->ret->runs, 0)
            ?: cut_write(m->cut, form, is_kept, &text);

        for (size_t i = 0; is_kept && i + 1 < m->cut->query; i++)
                n += is_kept[i];
        if (r == 0)
                r = run_text(m, SLICE(text.data, text.size), n, seed, &x);
        if (r < 0)
                return r;
        why = why_no_time(&x, n);
        if (why)
                return errorf(-ENODATA, "a run does not tell the query's time: %s; %zu of %zu queries answered, and then %s", why, x.verdicts.n, n,
                              verdict_name(x.verdict));
        before = n > 1 ? arrival(&x, n - 2) : 0;
        end = x.verdicts.n == n ? arrival(&x, n - 1) : x.run.wall_ns;
        *ret = (struct judge_run){.is_known = true,
                                  .verdict = x.verdicts.n == n ? x.verdicts.list[n - 1] : is_answer(x.verdict) ? VERDICT_ERROR : x.verdict,
                                  .limit = fmax((double)(m->limits.wall_ns - MIN(before, m->limits.wall_ns)) / 1e9, 1e-9), /* 0: none */
                                  .effort = NAN,
                                  .seconds = (double)(end - MIN(before, end)) / 1e9};
        return 0;
}

/* -- judging -- */

/* The answer of the run whose time is nearest to the median. */
static enum verdict median_answer(const struct measuring *m, size_t n, int side, double median)
{
        const struct judge_run *nearest = &m->pairs[0].run[side];

        for (size_t i = 1; i < n; i++)
                if (fabs(m->pairs[i].run[side].seconds - median) < fabs(nearest->seconds - median))
                        nearest = &m->pairs[i].run[side];
        return nearest->verdict;
}

/* Judges by time alone: `unknown` is an answer, too, and a run without one timed out, however it ended. *ret: of both sides. *ret_wanted: pairs needed to
 * decide; 0: no more. */
static enum judge_change judge_times(const struct measuring *m, size_t n, struct query_time ret[2], size_t *ret_wanted)
{
        cleanup_free struct judge_pair *pairs = allocate(n, sizeof(*pairs));
        cleanup_free double *seconds = allocate(n, sizeof(*seconds));
        const struct judge_case one = {.pairs = pairs, .n_pairs = n};
        cleanup_judgement struct judgement j = {0};

        memcpy(pairs, m->pairs, n * sizeof(*pairs));
        for (size_t i = 0; i < 2 * n; i++)
                pairs[i / 2].run[i % 2].verdict = is_answer(pairs[i / 2].run[i % 2].verdict) ? VERDICT_SAT : VERDICT_TIMEOUT;
        judge(&one, 1, &(struct judge_options){.measure = JUDGE_TIME, .most_pairs = m->options->most_pairs}, &j);
        for (int side = 0; side < 2; side++) { /* the judge's medians count the lesser limit of a pair, which a run alone does not have */
                double median;

                for (size_t i = 0; i < n; i++) {
                        const struct judge_run *x = &m->pairs[i].run[side];

                        seconds[i] = is_answer(x->verdict) ? x->seconds : x->limit;
                }
                median = stat_median(seconds, n);
                ret[side] = (struct query_time){n, median, median_answer(m, n, side, median)};
        }
        *ret_wanted = j.cases[0].wanted;
        return j.cases[0].by[JUDGE_TIME].change;
}

/* Runs pairs, the query alone and in this cut, until they are decided. The runs alone are made once for each seed, and serve every comparison. */
static int compare(struct measuring *m, const char *stage, enum cut_form form, struct query_time ret[2], enum judge_change *ret_change)
{
        size_t wanted = JUDGE_FIRST_PAIRS, n = 0;

        m->stage = stage;
        while (n < wanted) {
                struct judge_pair pair = {0};
                int r = n < m->n_pairs ? 0 : measure(m, CUT_ALONE, NULL, n, &pair.run[0]);

                if (r == 0 && n == m->n_pairs) {
                        list_grow(m->pairs, n);
                        m->pairs[m->n_pairs++] = pair;
                }
                if (r == 0)
                        r = measure(m, form, m->ret->is_kept, n, &m->pairs[n].run[1]);
                if (r < 0)
                        return r;
                if (++n == wanted)
                        *ret_change = judge_times(m, n, ret, &wanted);
        }
        return 0;
}

static bool is_slow_run(const struct measuring *m, const struct judge_run *r)
{
        return r->verdict == VERDICT_TIMEOUT || (is_answer(r->verdict) && r->seconds > m->threshold);
}

/* 1: the query is slow in this cut; 0: it is not. A run without a time counts as not slow. */
static int is_slow(struct measuring *m, enum cut_form form, const bool *is_kept)
{
        double sum = 0;

        for (size_t i = 0; fabs(sum) < log(ODDS) && i < m->options->most_pairs; i++) {
                struct judge_run x = {0};
                int r = measure(m, form, is_kept, i, &x);

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

/* The share of the runs alone (side 0) below the threshold, or of those in the script (side 1) above it: as observed or, if that is less, of a log-normal
 * distribution. */
static double share_apart(const struct measuring *m, int side)
{
        double apart = 0, sum = 0, squares = 0, n = (double)m->n_pairs;

        for (size_t i = 0; i < m->n_pairs; i++) {
                const struct judge_run *r = &m->pairs[i].run[side];
                double distance = log(fmax(r->seconds, LEAST) / m->threshold) * (side == 1 ? 1 : -1);

                apart += is_slow_run(m, r) == (side == 1);
                sum += distance;
                squares += distance * distance;
        }
        return fmin(fmin(apart / n, SURE), stat_normal_cdf(sum / n / sqrt(fmax((squares - sum * sum / n) / (n - 1), 1e-9))));
}

/* Sets the threshold between alone and in the script. False: their runs are too much alike. */
static bool choose_threshold(struct measuring *m)
{
        double apart[2];

        m->threshold = sqrt(fmax(m->ret->alone.median, LEAST) * m->ret->script.median);
        for (int side = 0; side < 2; side++)
                apart[side] = share_apart(m, side);
        m->evidence[true] = log(apart[1] / (1 - apart[0]));
        m->evidence[false] = log((1 - apart[1]) / apart[0]);
        return apart[0] > APART && apart[1] > APART;
}

/* Finds the earlier queries after which the query is slow, and how sure that is. */
static int find_queries(struct measuring *m, size_t n)
{
        struct predecessors *p = m->ret;
        cleanup_free bool *others = allocate(n + 1, sizeof(*others));
        struct query_time times[2] = {0};
        enum judge_change change = JUDGE_UNKNOWN;
        int r;

        m->stage = "case cut: after which queries";
        r = cut_minimize(n, shows, m, p->is_kept);
        if (r == 0)
                r = is_slow(m, CUT_SCOPES, p->is_kept);
        p->form = r == 1 ? CUT_SCOPES : CUT_WHOLE;
        for (size_t i = 0; i < n; i++) {
                p->n_kept += p->is_kept[i];
                others[i] = !p->is_kept[i];
        }
        if (r >= 0 && p->n_kept > 0) {
                r = is_slow(m, CUT_WHOLE, others);
                p->is_only = r == 0;
        }
        if (r >= 0)
                r = compare(m, "case cut: what was found", p->form, times, &change);
        p->found = times[1];
        p->is_certain = r == 0 && change == JUDGE_MORE && p->found.median > m->threshold;
        return r;
}

int predecessors_find(const struct cut *c, const struct predecessors_options *options, struct predecessors *ret)
{
        const struct cell cell = {.solver = options->version->solver, .commit = options->version->commit, .wall_ns = options->timeout_ns};
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(cell.solver->recipe, FORMAT_SMT2);
        cleanup(measuring_done) struct measuring m = {
                .cut = c,
                .options = options,
                .recipe = recipe,
                .ret = ret,
                .lease = {options->workspace, cell.solver->pool, "case cut", options->cancel_fd, .slot.lock = -1},
        };
        struct query_time times[2] = {0};
        size_t n = c->query - 1;
        int r = version_hold(options->workspace, options->version, &m.programs);

        *ret = (struct predecessors){.has_seeds = recipe->seed, .is_kept = allocate(c->query, sizeof(*ret->is_kept))};
        cell_limits(&cell, &m.limits);
        if (m.limits.cpu_ns > 0) /* a 'cputime' below 'time' is the limit */
                m.limits.wall_ns = MIN(m.limits.wall_ns, m.limits.cpu_ns);
        memset(ret->is_kept, true, n);
        if (r == 0)
                r = compare(&m, "case cut: alone and in the script", CUT_WHOLE, times, &ret->change);
        if (r < 0)
                return r;
        ret->alone = times[0];
        ret->script = times[1];
        if (ret->change == JUDGE_MORE && choose_threshold(&m))
                return find_queries(&m, n);
        memset(ret->is_kept, false, n);
        return 0;
}

void predecessors_done(struct predecessors *p)
{
        free(p->is_kept);
}

/* -- words -- */

static bool has_time(const struct query_time *t)
{
        return is_answer(t->answer) || t->answer == VERDICT_TIMEOUT;
}

static void add_time(const char *where, const struct query_time *t, struct buffer *ret)
{
        buffer_adds(ret, where);
        if (!has_time(t))
                buffer_adds(ret, verdict_name(t->answer));
        else
                buffer_addf(ret, "%s%s", t->answer == VERDICT_TIMEOUT ? "more than " : "", judge_amount_text(JUDGE_TIME, t->median).s);
}

static const char *first_words(const struct predecessors *p)
{
        if (!has_time(&p->alone) || !has_time(&p->script))
                return "no answer, and so no time to compare:";
        if (p->form == CUT_ALONE)
                return p->change == JUDGE_LESS   ? "faster after the queries before it:"
                       : p->change == JUDGE_MORE ? "slower in the script, by too little to tell after which queries:"
                       : p->change == JUDGE_SAME ? "as slow alone:"
                                                 : "not shown to be slower after others:";
        if (p->n_kept == 0)
                return p->form == CUT_SCOPES ? "slow after no other query, but only within its push" : "slow after no other query";
        return p->is_only ? "slow only after" : "slow after";
}

void predecessors_sentence(const struct predecessors *p, struct buffer *ret)
{
        buffer_adds(ret, first_words(p));
        for (size_t i = 0, n = 0; n < p->n_kept; i++)
                if (p->is_kept[i]) {
                        n++;
                        buffer_adds(ret, n > 1 ? n == p->n_kept ? " and" : "," : p->n_kept == 1 ? " query" : " queries");
                        buffer_addf(ret, " %zu", i + 1);
                }
        if (p->n_kept > 0 && !p->is_only)
                buffer_adds(ret, ", and after others without these");
        if (p->form == CUT_WHOLE)
                buffer_adds(ret, ", with assertions in scopes that are gone");
        if (p->form != CUT_ALONE) {
                add_time(": ", &p->found, ret);
                buffer_adds(ret, ";");
        }
        add_time(" alone ", &p->alone, ret);
        add_time("; in the script ", &p->script, ret);
        buffer_addf(ret, " (medians of %zu %s", p->script.pairs, p->has_seeds ? "seeds" : "runs");
        if (p->form != CUT_ALONE && p->found.pairs != p->script.pairs)
                buffer_addf(ret, ", the first of %zu", p->found.pairs);
        buffer_addf(ret, "; %zu runs in all)%s", p->runs,
                    p->form == CUT_ALONE || p->is_certain ? "" : "; that it is slow after these alone is not certain");
}
