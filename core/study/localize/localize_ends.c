/* The two ends of a case: whether they differ over seeds, and the typical runs there. */
#include "core/study/base/stat.h"
#include "core/study/localize/localize_internal.h"

/* The least deviation of the logarithms of a program's times. A few runs may show less by chance. */
#define LEAST_SPREAD 0.03
#define EFFORT_RATIO 1.5 /* a smaller ratio of effort does not tell the ends apart */

struct judge_run judge_run_of(const struct localize *l, const struct localize_outcome *o)
{
        static const enum verdict verdicts[] = {
                [LOCALIZE_SOLVED] = VERDICT_SAT, [LOCALIZE_TIMEOUT] = VERDICT_TIMEOUT, [LOCALIZE_BROKEN] = VERDICT_UNKNOWN};

        return (struct judge_run){.is_known = true,
                                  .verdict = verdicts[o->answer],
                                  .limit = l->options.limit > 0                ? l->options.limit
                                           : o->answer == LOCALIZE_TIMEOUT ? o->value
                                                                           : INFINITY,
                                  .seconds = fmax(o->value, 1e-6),
                                  .cpu_seconds = NAN,
                                  .memory = NAN,
                                  .effort = o->effort};
}

void judge_pairs(const struct judge_pair *pairs, size_t n, struct judgement *ret)
{
        judge(&(struct judge_case){.pairs = pairs, .n_pairs = n}, 1,
              &(struct judge_options){.measure = JUDGE_TIME, .most_pairs = JUDGE_PAIRS, .false_alarms = LOCALIZE_FALSE_ALARMS}, ret);
}

static void judge_ends(const struct localize *l, const struct test *t, struct judgement *ret)
{
        struct judge_pair pairs[JUDGE_PAIRS] = {0};
        size_t n = 0;

        for (; n < JUDGE_PAIRS; n++) {
                const struct fact *found[2] = {fact_under(t, t->ends_at[0], (unsigned)n), fact_under(t, t->ends_at[1], (unsigned)n)};

                if (!found[0] || !found[1])
                        break;
                for (int end = 0; end < 2; end++)
                        pairs[n].run[end] = judge_run_of(l, &found[end]->outcome);
        }
        judge_pairs(pairs, n, ret);
}

static bool is_change(enum judge_change c)
{
        return judge_is_regression(c) || judge_is_improvement(c);
}

/* The runs at an end, by effort or by seconds, without broken ones; `x` has room for all facts. */
static size_t values_at(const struct test *t, int end, bool by_effort, double *x)
{
        size_t n = 0;

        for (size_t i = 0; i < t->n_facts; i++) {
                const struct localize_outcome *o = &t->facts[i].outcome;

                if (t->facts[i].program != t->ends_at[end] || o->answer == LOCALIZE_BROKEN)
                        continue;
                if (by_effort && isnan(o->effort))
                        return 0;
                x[n++] = by_effort ? o->effort : fmax(o->value, 1e-6);
        }
        return n;
}

/* Sets the spread: the median of the distances from the ends' medians, which a few runs that show the other end do not change (Hampel, 1974). */
static void find_spread(struct test *t, double *x)
{
        bool by_effort = !isnan(t->thresholds.effort_fast);
        size_t n = 0;

        for (int end = 0; end < 2; end++) {
                size_t here = values_at(t, end, by_effort, x + n);
                double median = log(stat_median(x + n, here));

                for (size_t i = 0; i < here; i++)
                        x[n + i] = fabs(log(x[n + i]) - median);
                n += here;
        }
        t->thresholds.spread = fmax(n > 0 ? 1.4826 * stat_median(x, n) : 0, LEAST_SPREAD);
}

/* `x` has room for all facts. */
static void find_thresholds(struct test *t, const struct judged_case *c, double *x)
{
        double at[2][2]; /* by effort; by end */
        bool is_slower = judge_is_regression(c->change), effort_goes_along;

        for (int by_effort = 0; by_effort < 2; by_effort++)
                for (int end = 0; end < 2; end++)
                        at[by_effort][end] = stat_median(x, values_at(t, end, by_effort, x));
        t->thresholds = (struct thresholds){.fast = fmin(at[0][0], at[0][1]), .slow = fmax(at[0][0], at[0][1]), .effort_fast = NAN, .effort_slow = NAN};
        if (isnan(at[0][0]) || isnan(at[0][1]))
                t->thresholds.slow = INFINITY; /* the change is that there is an answer */
        for (int end = 0; end < 2; end++) {
                double timeouts = 0.5; /* as if half of one more run had timed out */

                for (size_t i = 0; i < t->n_facts; i++)
                        timeouts += t->facts[i].program == t->ends_at[end] && t->facts[i].outcome.answer == LOCALIZE_TIMEOUT;
                t->thresholds.timeouts[is_slower ? end : !end] = timeouts / (1 + facts_at(t, t->ends_at[end]));
        }
        effort_goes_along = !t->effort_misleads && is_change(c->by[JUDGE_EFFORT].change) && is_slower == (at[1][1] > at[1][0]);
        if (effort_goes_along && fmax(at[1][0], at[1][1]) >= EFFORT_RATIO * fmin(at[1][0], at[1][1])) {
                t->thresholds.effort_fast = fmin(at[1][0], at[1][1]);
                t->thresholds.effort_slow = fmax(at[1][0], at[1][1]);
        }
        find_spread(t, x);
}

void ends_judge(const struct localize *l, struct test *t)
{
        cleanup_free double *x = allocate(t->n_facts, sizeof(*x));
        cleanup_judgement struct judgement j = {0};
        const struct judged_case *c;
        size_t known = facts_at(t, t->ends_at[0]) + facts_at(t, t->ends_at[1]);

        if (known == 0 || known != t->ends_known) {
                judge_ends(l, t, &j);
                t->ends_known = known;
                c = &j.cases[0];
                t->ends_wanted = c->wanted;
                t->ends = is_change(c->change)                          ? ENDS_DIFFER
                          : c->wanted > 0 || c->change == JUDGE_UNKNOWN ? ENDS_OPEN
                                                                        : ENDS_SAME;
                find_thresholds(t, c, x);
                if (t->ends == ENDS_DIFFER && t->thresholds.slow < LOCALIZE_RATIO * t->thresholds.fast)
                        t->ends = ENDS_SAME;
        }
        thresholds_cut(t);
}

double median_at(const struct test *t, size_t program, enum level level)
{
        cleanup_free double *x = allocate(t->n_facts, sizeof(*x));
        size_t n = 0;

        for (size_t i = 0; i < t->n_facts; i++)
                if (t->facts[i].program == program && (level == N_LEVELS || level_of(&t->thresholds, &t->facts[i].outcome) == level))
                        x[n++] = t->facts[i].outcome.value;
        return stat_lower_median(x, n);
}

/* Half of the runs and more have no answer: perhaps all but the first, which has no seed. */
static bool is_broken(const struct test *t, size_t program)
{
        size_t broken = 0;

        for (size_t i = 0; i < t->n_facts; i++)
                broken += t->facts[i].program == program && t->facts[i].outcome.answer == LOCALIZE_BROKEN;
        return broken > 0 && 2 * broken >= facts_at(t, program);
}

void localize_end_values(const struct localize *l, size_t test, double ret[2])
{
        const struct test *t = &l->tests[test];

        for (int end = 0; end < 2; end++)
                ret[end] = is_broken(t, t->ends_at[end]) ? NAN : median_at(t, t->ends_at[end], N_LEVELS);
}

void localize_solved(const struct localize *l, size_t test, unsigned *ret_solved, unsigned *ret_runs)
{
        const struct test *t = &l->tests[test];

        *ret_solved = *ret_runs = 0;
        for (size_t i = 0; i < t->n_facts; i++) {
                *ret_runs += t->facts[i].program == t->ends_at[0];
                *ret_solved += t->facts[i].program == t->ends_at[0] && t->facts[i].outcome.answer == LOCALIZE_SOLVED;
        }
}
