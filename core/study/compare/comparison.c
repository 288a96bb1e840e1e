#include "core/study/compare/comparison.h"

#include <math.h>

#include "core/study/base/stat.h"

#define CONFIDENCE 0.95
#define CONTRARY   2 /* effort does not decide where the time of one run differs the other way by this factor: less may be noise */
#define MARGIN     1.5 /* a run that took less than the limit by this factor does not become a timeout by noise */

static const size_t looks[] = {10, 16, 24, 40, COMPARISON_PAIRS};
#define FIRST_PAIRS 5

const char *comparison_change_name(enum comparison_change c)
{
        static const char *const names[] = {
                [COMPARISON_UNKNOWN] = "unknown",
                [COMPARISON_WRONG] = "wrong",
                [COMPARISON_CONTRADICTION] = "contradiction",
                [COMPARISON_LOST] = "lost",
                [COMPARISON_SLOWER] = "slower",
                [COMPARISON_RIGHT] = "right",
                [COMPARISON_GAINED] = "gained",
                [COMPARISON_FASTER] = "faster",
                [COMPARISON_SAME] = "same",
                [COMPARISON_UNDECIDED] = "undecided",
        };

        return names[c];
}

static bool is_solved(const struct comparison_run *r)
{
        return verdict_is_decided(r->verdict) && !r->is_wrong;
}

/* -- by answers and effort ---------------------------------------------------------------------------------------- */

/* A timeout beside a time that is near the limit: noise may have made it one. */
static bool is_near_limit(const struct comparison_run *solved, const struct comparison_run *other)
{
        return other->verdict == VERDICT_TIMEOUT && solved->seconds * MARGIN > other->limit;
}

/* Judges by the answers alone; COMPARISON_UNDECIDED: the times decide. */
static enum comparison_change by_answers(const struct comparison_case *c)
{
        const struct comparison_run *before = &c->run[0], *after = &c->run[1];

        if (!before->is_known || !after->is_known)
                return COMPARISON_UNKNOWN;
        if (before->is_wrong != after->is_wrong)
                return after->is_wrong ? COMPARISON_WRONG : COMPARISON_RIGHT;
        if (is_solved(before) && is_solved(after))
                return before->verdict == after->verdict ? COMPARISON_UNDECIDED : COMPARISON_CONTRADICTION;
        if (is_solved(before))
                return is_near_limit(before, after) ? COMPARISON_UNDECIDED : COMPARISON_LOST;
        if (is_solved(after))
                return is_near_limit(after, before) ? COMPARISON_UNDECIDED : COMPARISON_GAINED;
        return COMPARISON_SAME;
}

/* More conflicts in less than half of the time are no slowdown. */
static bool is_contrary(double ratio, double times)
{
        return ratio > 1 ? times <= 1.0 / CONTRARY : times >= CONTRARY;
}

static bool by_effort(const struct comparison_case *c, struct comparison_judgement *j)
{
        double before = c->run[0].effort, after = c->run[1].effort, ratio;

        if (!is_solved(&c->run[0]) || !is_solved(&c->run[1]) || !(before > 0) || !(after > 0))
                return false;
        ratio = after / before;
        if (fabs(log(ratio)) < log(COMPARISON_FLOOR) || is_contrary(ratio, c->run[1].seconds / c->run[0].seconds))
                return false;
        j->change = ratio > 1 ? COMPARISON_SLOWER : COMPARISON_FASTER;
        j->by_effort = true;
        j->ratio = j->low = j->high = ratio;
        return true;
}

static bool all_have_effort(const struct comparison_case *c)
{
        for (size_t i = 0; i < c->n_pairs; i++)
                if (!(c->pairs[i].effort[0] > 0) || !(c->pairs[i].effort[1] > 0))
                        return false;
        return is_solved(&c->run[0]) && is_solved(&c->run[1]) && c->n_pairs > 0;
}

static bool effort_repeats(const struct comparison_case *c)
{
        for (size_t i = 0; i < c->n_pairs; i++)
                if (c->pairs[i].effort[0] != c->run[0].effort || c->pairs[i].effort[1] != c->run[1].effort)
                        return false;
        return true;
}

/* -- by time, or by an effort that varies -------------------------------------------------------------------------- */

struct timing {
        size_t index;           /* of the case */
        size_t n;               /* pairs to look at */
        bool by_effort;         /* of that, not of seconds */
        double *before, *after; /* logarithms; point into one block */
        double floor;           /* a difference is a change from here on, as a logarithm of a ratio */
        bool found;
};

static double floor_of(const struct comparison_case *c)
{
        double least = fmin(comparison_seconds(c, 0), comparison_seconds(c, 1));

        return fmax(log(COMPARISON_FLOOR), log1p(COMPARISON_SECONDS / least));
}

static int fill(const struct comparison_case *c, size_t most, bool by_effort_too, struct timing *t)
{
        t->n = MIN(c->n_pairs, most);
        t->before = calloc(2 * t->n + 1, sizeof(*t->before));
        if (!t->before)
                return -ENOMEM;
        t->after = t->before + t->n;
        t->by_effort = by_effort_too && c->doubts && all_have_effort(c) && !effort_repeats(c);
        t->floor = t->by_effort ? log(COMPARISON_FLOOR) : floor_of(c);
        for (size_t i = 0; i < t->n; i++) {
                const double *pair = t->by_effort ? c->pairs[i].effort : c->pairs[i].seconds;

                t->before[i] = log(pair[0]);
                t->after[i] = log(pair[1]);
        }
        return 0;
}

/* The estimate from the first n pairs. */
static int estimate(const struct timing *t, size_t n, struct comparison_judgement *j)
{
        struct stat_shift shift;
        int r = stat_shift(t->after, t->before, n, CONFIDENCE, &shift);

        j->pairs = n;
        j->ratio = exp(shift.shift);
        j->low = exp(shift.low);
        j->high = exp(shift.high);
        return r;
}

/* A look: the cases that are significant after so many pairs are marked. */
static int look(struct timing *timings, size_t n, size_t pairs)
{
        cleanup_free double *p = calloc(n + 1, sizeof(*p));
        double largest;
        int r = p ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r == 0; i++) {
                struct stat_test test;

                r = stat_signed_rank(timings[i].after, timings[i].before, MIN(timings[i].n, pairs), &test);
                p[i] = test.p;
        }
        if (r == 0)
                r = stat_discoveries(p, n, COMPARISON_FALSE_ALARMS / ARRAY_SIZE(looks), &largest);
        for (size_t i = 0; i < n && r == 0; i++) {
                struct comparison_judgement j;

                if (p[i] > largest)
                        continue;
                r = estimate(&timings[i], MIN(timings[i].n, pairs), &j);
                timings[i].found |= fabs(log(j.ratio)) >= timings[i].floor;
        }
        return r;
}

/* Is it shown to differ by less than the floor? */
static bool is_same(const struct timing *t, const struct comparison_judgement *j)
{
        if (t->n >= looks[0])
                return log(j->low) > -t->floor && log(j->high) < t->floor;
        for (size_t i = 0; i < t->n; i++)
                if (fabs(t->after[i] - t->before[i]) >= t->floor)
                        return false;
        return t->n >= FIRST_PAIRS;
}

/* More pairs are hardly going to show a change: the estimate is less than half of one. */
static bool is_hopeless(const struct timing *t, const struct comparison_judgement *j)
{
        return t->n >= looks[0] && fabs(log(j->ratio)) < t->floor / 2;
}

static size_t next_look(size_t n, size_t most)
{
        if (n < FIRST_PAIRS)
                return MIN(FIRST_PAIRS, most) > n ? MIN(FIRST_PAIRS, most) : 0;
        for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
                if (n < looks[i])
                        return MIN(looks[i], most) > n ? MIN(looks[i], most) : 0;
        return 0;
}

/* With pairs they decide: the one run may have got its answer, or none, by chance. */
static bool is_mostly_solved(const struct comparison_case *c, int side)
{
        size_t solved = 0;

        for (size_t i = 0; i < c->n_pairs; i++)
                solved += c->pairs[i].seconds[side] < c->run[side].limit;
        return c->n_pairs > 0 ? 2 * solved > c->n_pairs : is_solved(&c->run[side]);
}

/* Of one that is significant: lost and gained are those that mostly ended at the limit. */
static enum comparison_change direction(const struct comparison_case *c, double ratio)
{
        if (ratio > 1)
                return is_mostly_solved(c, 0) && !is_mostly_solved(c, 1) ? COMPARISON_LOST : COMPARISON_SLOWER;
        return is_mostly_solved(c, 1) && !is_mostly_solved(c, 0) ? COMPARISON_GAINED : COMPARISON_FASTER;
}

static int conclude(const struct comparison_case *c, const struct timing *t, size_t most, struct comparison_judgement *j)
{
        struct stat_test test;
        int r = estimate(t, t->n, j);

        if (r == 0)
                r = stat_signed_rank(t->after, t->before, t->n, &test);
        if (r < 0)
                return r;
        j->p = t->n > 0 ? test.p : NAN;
        if (t->n == 0) {
                j->ratio = c->run[1].seconds / c->run[0].seconds;
                j->low = 0;
                j->high = INFINITY;
        }
        j->by_effort = t->by_effort;
        if (t->found && !(t->by_effort && is_contrary(j->ratio, comparison_seconds(c, 1) / comparison_seconds(c, 0))))
                j->change = direction(c, j->ratio);
        else
                j->change = is_same(t, j) ? COMPARISON_SAME : COMPARISON_UNDECIDED;
        if (j->change == COMPARISON_UNDECIDED && !t->found && !is_hopeless(t, j))
                j->wanted = next_look(t->n, most);
        return 0;
}

/* -- all together ------------------------------------------------------------------------------------------------- */

/* Judges without pairs of runs; true when that decides. */
static bool judge_at_once(const struct comparison_case *c, bool by_time, struct comparison_judgement *j)
{
        *j = (struct comparison_judgement){.change = by_answers(c), .ratio = NAN, .low = NAN, .high = NAN, .p = NAN};
        if (j->change == COMPARISON_LOST && c->doubts)
                j->change = COMPARISON_UNDECIDED;
        if (j->change == COMPARISON_LOST || j->change == COMPARISON_GAINED)
                j->ratio = comparison_seconds(c, 1) / comparison_seconds(c, 0); /* of a timeout it is a bound */
        if (j->change != COMPARISON_UNDECIDED)
                return true;
        if (c->is_same_program) {
                j->change = COMPARISON_SAME;
                j->ratio = j->low = j->high = 1;
                return true;
        }
        if (by_time || !by_effort(c, j))
                return false;
        return !c->doubts || (c->n_pairs >= FIRST_PAIRS && all_have_effort(c) && effort_repeats(c));
}

int comparison_judge(const struct comparison_case *cases, size_t n, size_t most_pairs, bool by_time,
                     struct comparison_judgement *ret)
{
        cleanup_free struct timing *timings = calloc(n + 1, sizeof(*timings));
        size_t n_timed = 0;
        int r = timings ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r == 0; i++) {
                if (judge_at_once(&cases[i], by_time, &ret[i]))
                        continue;
                timings[n_timed].index = i;
                r = fill(&cases[i], most_pairs, !by_time, &timings[n_timed++]);
        }
        for (size_t k = 0; k < ARRAY_SIZE(looks) && r == 0; k++)
                r = look(timings, n_timed, looks[k]);
        for (size_t k = 0; k < n_timed && r == 0; k++)
                r = conclude(&cases[timings[k].index], &timings[k], most_pairs, &ret[timings[k].index]);
        for (size_t k = 0; k < n_timed; k++)
                free(timings[k].before);
        return r;
}

double comparison_seconds(const struct comparison_case *c, int side)
{
        cleanup_free double *x = c->n_pairs > 0 ? calloc(c->n_pairs, sizeof(*x)) : NULL;

        if (!x)
                return c->run[side].seconds;
        for (size_t i = 0; i < c->n_pairs; i++)
                x[i] = c->pairs[i].seconds[side];
        return stat_median(x, c->n_pairs);
}

/* -- the summary -------------------------------------------------------------------------------------------------- */

static void count_side(const struct comparison_case *c, int side, struct comparison_summary *s)
{
        const struct comparison_run *run = &c->run[side];

        if (run->is_wrong)
                s->wrong[side]++;
        else
                s->verdicts[side][run->verdict]++;
        s->solved[side] += is_solved(run);
        s->disturbed[side] += run->disturbed;
        s->par2[side] += is_solved(run) ? comparison_seconds(c, side) : 2 * run->limit;
}

int comparison_summarize(const struct comparison_case *cases, const struct comparison_judgement *judgements, size_t n,
                         struct comparison_summary *ret)
{
        cleanup_free double *times = calloc(2 * n + 1, sizeof(*times));
        struct stat_ratio ratio;

        if (!times)
                return -ENOMEM;
        *ret = (struct comparison_summary){.cases = n};
        for (size_t i = 0; i < n; i++) {
                const struct comparison_run *run = cases[i].run;

                ret->changes[judgements[i].change]++;
                ret->regressions += comparison_is_regression(judgements[i].change);
                ret->improvements += comparison_is_improvement(judgements[i].change);
                ret->pairs += cases[i].n_pairs;
                ret->known[0] += run[0].is_known;
                ret->known[1] += run[1].is_known;
                if (!run[0].is_known || !run[1].is_known)
                        continue;
                ret->compared++;
                count_side(&cases[i], 0, ret);
                count_side(&cases[i], 1, ret);
                if (!is_solved(&run[0]) || !is_solved(&run[1]))
                        continue;
                times[ret->both] = fmax(comparison_seconds(&cases[i], 0), 1e-6);
                times[n + ret->both] = fmax(comparison_seconds(&cases[i], 1), 1e-6);
                ret->seconds[0] += times[ret->both];
                ret->seconds[1] += times[n + ret->both++];
        }
        ratio = stat_ratio(times, times + n, ret->both, CONFIDENCE);
        ret->ratio = ratio.mean;
        ret->low = ratio.low;
        ret->high = ratio.high;
        ret->par2[0] /= (double)ret->compared;
        ret->par2[1] /= (double)ret->compared;
        return 0;
}

int comparison_order(const struct comparison_judgement *a, const struct comparison_judgement *b)
{
        double x = isnan(a->ratio) ? 0 : fabs(log(a->ratio)), y = isnan(b->ratio) ? 0 : fabs(log(b->ratio));

        if (a->change != b->change)
                return a->change < b->change ? -1 : 1;
        return (x < y) - (x > y);
}
