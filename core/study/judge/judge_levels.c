/* The levels of a case along its builds. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

#define SEEDS       5   /* from here on a seed is one witness */
#define LEAST_BUILD 4   /* builds of a level where it is not */
#define LONE        2.5 /* deviations of a single reading from those around it, at most */
/* The tests of a series are many, but they are of the same values: those of each gap count as so many (tests/bench/levels.c). */
#define TESTS_A_GAP 3.0
#define AROUND      7 /* readings, of which a lone one is in the middle */

/* Sums over the builds before, so that a stretch costs no more than its seeds. */
struct line {
        size_t n, seeds;
        double *sum, *square; /* [(n + 1) * seeds]: of the logarithms */
        unsigned *count;
        double floor;  /* logarithm */
        double most_p; /* of a change */
};

static void line_done(struct line *l)
{
        free(l->sum);
        free(l->square);
        free(l->count);
}

static bool is_known(const struct judge_build *b, size_t seed)
{
        return seed < b->n && b->values[seed] > 0 && isfinite(b->values[seed]);
}

/* Have most builds enough seeds? */
static bool has_seeds(const struct judge_build *builds, size_t n, size_t seeds)
{
        size_t enough = 0;

        for (size_t b = 0; b < n; b++) {
                size_t known = 0;

                for (size_t s = 0; s < seeds; s++)
                        known += is_known(&builds[b], s);
                enough += known >= SEEDS;
        }
        return 2 * enough > n;
}

static double median_around(const double *x, size_t n, size_t i)
{
        size_t size = MIN(n, AROUND), from = MIN(i - MIN(i, AROUND / 2), n - size);

        return stat_median(x + from, size);
}

/* Single readings that lie are drawn to those around them; `room` is for n more. */
static void clip_lone(double *x, size_t n, double *room)
{
        double *around = room, *apart = room + n, most;

        for (size_t i = 0; i < n; i++) {
                around[i] = median_around(x, n, i);
                apart[i] = fabs(x[i] - around[i]);
        }
        stat_sort(apart, n);
        most = LONE * 1.4826 * stat_median(apart, n);
        for (size_t i = 0; i < n; i++)
                x[i] = fmin(fmax(x[i], around[i] - most), around[i] + most);
}

/* The logarithms under a seed, one after the other; `room` is for three of each build. */
static void read_seed(const struct judge_build *builds, size_t n, size_t seed, bool clip, double *room)
{
        size_t known = 0;

        for (size_t b = 0; b < n; b++)
                if (is_known(&builds[b], seed))
                        room[known++] = log(builds[b].values[seed]);
        if (clip)
                clip_lone(room, known, room + known);
}

static int read_line(const struct judge_build *builds, size_t n, double floor, struct line *l)
{
        cleanup_free double *room = calloc(3 * n + 1, sizeof(*room));
        bool clip;

        *l = (struct line){.n = n, .seeds = 1, .floor = log(floor > 1 ? floor : JUDGE_FLOOR)};
        l->most_p = n > 1 ? JUDGE_FALSE_ALARMS / TESTS_A_GAP / (double)(n - 1) : 0;
        for (size_t b = 0; b < n; b++)
                l->seeds = MAX(l->seeds, builds[b].n);
        l->sum = calloc((n + 1) * l->seeds, sizeof(*l->sum));
        l->square = calloc((n + 1) * l->seeds, sizeof(*l->square));
        l->count = calloc((n + 1) * l->seeds, sizeof(*l->count));
        if (!room || !l->sum || !l->square || !l->count)
                return -ENOMEM;
        clip = !has_seeds(builds, n, l->seeds);
        for (size_t s = 0; s < l->seeds; s++) {
                size_t i = 0;

                read_seed(builds, n, s, clip, room);
                for (size_t b = 0; b < n; b++) {
                        size_t at = b * l->seeds + s, next = at + l->seeds;
                        bool known = is_known(&builds[b], s);
                        double x = known ? room[i++] : 0;

                        l->sum[next] = l->sum[at] + x;
                        l->square[next] = l->square[at] + x * x;
                        l->count[next] = l->count[at] + known;
                }
        }
        return 0;
}

/* -- two stretches ------------------------------------------------------------------------------------------------ */

struct moments {                /* of numbers that come one by one */
        double n, mean, square; /* square: sum of those of the differences from the mean */
};

static void moments_add(struct moments *m, double x)
{
        double apart = x - m->mean;

        m->n++;
        m->mean += apart / m->n;
        m->square += apart * (x - m->mean);
}

static double moments_variance(const struct moments *m)
{
        return m->n > 1 ? m->square / (m->n - 1) : 0;
}

/* The mean of a seed over the builds of a stretch; NaN: none. */
static double seed_mean(const struct line *l, size_t from, size_t to, size_t seed)
{
        size_t a = from * l->seeds + seed, b = to * l->seeds + seed;

        return l->count[b] > l->count[a] ? (l->sum[b] - l->sum[a]) / (double)(l->count[b] - l->count[a]) : NAN;
}

/* All values of a stretch. */
static struct moments values_of(const struct line *l, size_t from, size_t to)
{
        struct moments m = {0};
        double sum = 0, square = 0;

        for (size_t s = 0; s < l->seeds; s++) {
                size_t a = from * l->seeds + s, b = to * l->seeds + s;

                m.n += l->count[b] - l->count[a];
                sum += l->sum[b] - l->sum[a];
                square += l->square[b] - l->square[a];
        }
        if (m.n > 0) {
                m.mean = sum / m.n;
                m.square = fmax(0, square - sum * sum / m.n);
        }
        return m;
}

struct contrast {
        double shift, p;
};

static struct contrast contrast_of(double shift, double error, double df)
{
        double p = df < 1 ? 1 : error > 0 ? stat_t_p(shift / error, df) : shift == 0 ? 1 : 0;

        return (struct contrast){shift, p};
}

static struct contrast two_samples(const struct moments *x, const struct moments *y)
{
        double df = x->n + y->n - 2, pooled = df > 0 ? (x->square + y->square) / df : 0;

        return contrast_of(y->mean - x->mean, sqrt(pooled * (1 / x->n + 1 / y->n)), df);
}

/* [from, at) against [at, to). */
static struct contrast compare(const struct line *l, size_t from, size_t at, size_t to)
{
        struct moments x = {0}, y = {0}, d = {0};

        for (size_t s = 0; s < l->seeds; s++) {
                double before = seed_mean(l, from, at, s), after = seed_mean(l, at, to, s);

                if (isnan(before) || isnan(after))
                        continue;
                moments_add(&x, before);
                moments_add(&y, after);
                moments_add(&d, after - before);
        }
        if (d.n >= SEEDS) {
                double sum = moments_variance(&x) + moments_variance(&y), r = (sum - moments_variance(&d)) / 2;

                r /= sqrt(moments_variance(&x) * moments_variance(&y));
                if (r * r * (d.n - 2) > JUDGE_TOGETHER * JUDGE_TOGETHER * (1 - r * r) && r > 0)
                        return contrast_of(d.mean, sqrt(moments_variance(&d) / d.n), d.n - 1);
                return two_samples(&x, &y);
        }
        if (at - from < LEAST_BUILD || to - at < LEAST_BUILD)
                return (struct contrast){0, 1};
        x = values_of(l, from, at);
        y = values_of(l, at, to);
        return x.n > 0 && y.n > 0 ? two_samples(&x, &y) : (struct contrast){0, 1};
}

static bool is_change(const struct line *l, struct contrast c)
{
        return c.p <= l->most_p && fabs(c.shift) >= l->floor;
}

/* -- changes ------------------------------------------------------------------------------------------------------ */

struct changes {
        size_t *at; /* ascending */
        size_t n;
};

static int add_change(struct changes *c, size_t at)
{
        size_t i = c->n;

        if (list_grow(c->at, c->n) < 0)
                return -ENOMEM;
        for (; i > 0 && c->at[i - 1] > at; i--)
                c->at[i] = c->at[i - 1];
        c->at[i] = at;
        c->n++;
        return 0;
}

static size_t change_before(const struct changes *c, size_t i)
{
        return i > 0 ? c->at[i - 1] : 0;
}

static size_t change_after(const struct changes *c, size_t i, size_t n)
{
        return i + 1 < c->n ? c->at[i + 1] : n;
}

/* The best change inside of an interval; 0: none. */
static size_t best_in(const struct line *l, size_t from, size_t to)
{
        struct contrast best = {0, 2};
        size_t ret = 0;

        for (size_t at = from + 1; at < to; at++) {
                struct contrast c = compare(l, from, at, to);

                if (c.p < best.p || (c.p == best.p && fabs(c.shift) > fabs(best.shift))) {
                        best = c;
                        ret = at;
                }
        }
        return is_change(l, best) ? ret : 0;
}

static bool holds_change(const struct changes *c, size_t from, size_t to)
{
        for (size_t i = 0; i < c->n; i++)
                if (from < c->at[i] && c->at[i] < to)
                        return true;
        return false;
}

/* Intervals of one length, each a quarter of it behind the one before, that hold no change yet; narrower ones were looked at before. */
static int find_in_intervals(const struct line *l, size_t length, struct changes *c)
{
        size_t step = MAX(1, length / 4);

        for (size_t from = 0;; from += step) {
                size_t to = MIN(from + length, l->n), at;

                from = to - length;
                at = holds_change(c, from, to) ? 0 : best_in(l, from, to);
                if (at > 0 && add_change(c, at) < 0)
                        return -ENOMEM;
                if (to == l->n)
                        return 0;
        }
}

/* The place of a change between its neighbours, by least squares. */
static void move_changes(const struct line *l, struct changes *c)
{
        for (size_t i = 0; i < c->n; i++) {
                size_t from = change_before(c, i), to = change_after(c, i, l->n),
                       margin = c->at[i] - from > 1 && to - c->at[i] > 1 ? 1 : 0;
                double least = INFINITY;

                for (size_t at = from + 1 + margin; at + margin < to; at++) {
                        double square = values_of(l, from, at).square + values_of(l, at, to).square;

                        if (square < least) {
                                least = square;
                                c->at[i] = at;
                        }
                }
        }
}

/* A change that the whole stretches on both sides do not show goes, the weakest first. True: one went. */
static bool drop_change(const struct line *l, struct changes *c)
{
        size_t weakest = c->n;
        double p = -1;

        for (size_t i = 0; i < c->n; i++) {
                struct contrast x = compare(l, change_before(c, i), c->at[i], change_after(c, i, l->n));

                if (!is_change(l, x) && x.p > p) {
                        p = x.p;
                        weakest = i;
                }
        }
        if (weakest == c->n)
                return false;
        memmove(c->at + weakest, c->at + weakest + 1, (c->n - weakest - 1) * sizeof(*c->at));
        c->n--;
        return true;
}

/* -- levels ------------------------------------------------------------------------------------------------------- */

static double median_of(const struct judge_build *builds, size_t from, size_t to, double *room)
{
        size_t n = 0;

        for (size_t b = from; b < to; b++)
                for (size_t s = 0; s < builds[b].n; s++)
                        if (builds[b].values[s] > 0)
                                room[n++] = builds[b].values[s];
        stat_sort(room, n);
        return stat_median(room, n);
}

static int write_levels(const struct judge_build *builds, const struct line *l, const struct changes *c, struct judge_levels *ret)
{
        cleanup_free double *room = calloc(l->n * l->seeds + 1, sizeof(*room));

        ret->list = calloc(c->n + 1, sizeof(*ret->list));
        if (!room || !ret->list)
                return -ENOMEM;
        for (size_t i = 0; i <= c->n; i++) {
                size_t from = change_before(c, i), to = i < c->n ? c->at[i] : l->n;

                ret->list[ret->n++] = (struct judge_level){.from = from,
                                                           .to = to,
                                                           .median = median_of(builds, from, to, room),
                                                           .p = i > 0 ? compare(l, change_before(c, i - 1), from, to).p : NAN};
        }
        return 0;
}

int judge_levels(const struct judge_build *builds, size_t n, double floor, struct judge_levels *ret)
{
        cleanup(line_done) struct line l = {0};
        struct changes c = {0};
        int r;

        *ret = (struct judge_levels){0};
        if (n == 0)
                return 0;
        r = read_line(builds, n, floor, &l);
        for (size_t length = 2; r == 0 && length <= n; length = length == n ? n + 1 : MIN(n, length + (length + 1) / 2))
                r = find_in_intervals(&l, length, &c);
        if (r == 0)
                move_changes(&l, &c);
        while (r == 0 && drop_change(&l, &c))
                ;
        if (r == 0)
                r = write_levels(builds, &l, &c, ret);
        free(c.at);
        if (r < 0)
                judge_levels_done(ret);
        return r;
}

void judge_levels_done(struct judge_levels *l)
{
        free(l->list);
        *l = (struct judge_levels){0};
}
