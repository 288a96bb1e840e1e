/* The levels of a case along its builds: single readings are drawn to their neighbours if seeds are few, changes are found in intervals from the shortest
 * to the whole line, each is moved to the best place between its neighbours, and the weakest ones that do not hold there are dropped. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

#define SEEDS       5   /* with this many seeds, a seed is one observation */
#define LEAST_BUILD 4   /* builds of a level with fewer seeds */
#define LONE        2.5 /* most robust deviations of a reading from the median of those around it */
/* The tests along a line are many, but on the same values: together they count as this many for each pair of neighbouring builds. */
#define TESTS_A_GAP 3.0
#define AROUND      7 /* readings in that median: the reading itself, and those around it */

struct sums { /* of some values x: their number, the sum of x, and of x² */
        double n, x, square;
};

struct line {
        size_t n, seeds;
        struct sums *before; /* [(n + 1) * seeds]: sums over all earlier builds, of logarithms; so the sums of a stretch take two look-ups a seed */
        double floor;        /* logarithm */
        double most_p;       /* of a change */
};

static bool is_known(const struct judge_build *b, size_t seed)
{
        return seed < b->n && b->values[seed] > 0 && isfinite(b->values[seed]);
}

/* True if most builds have enough seeds. */
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

/* A reading is at most LONE robust deviations from the median of those around it (1.4826 times the median distance, over all readings of the seed); one
 * beyond that is set to this bound. `room` is for 2 n values. */
static void clip_lone(double *x, size_t n, double *room)
{
        double *around = room, *apart = room + n, most;
        size_t size = MIN(n, AROUND);

        for (size_t i = 0; i < n; i++) {
                around[i] = stat_median(x + MIN(i - MIN(i, AROUND / 2), n - size), size);
                apart[i] = fabs(x[i] - around[i]);
        }
        stat_sort(apart, n);
        most = LONE * 1.4826 * stat_median(apart, n);
        for (size_t i = 0; i < n; i++)
                x[i] = fmin(fmax(x[i], around[i] - most), around[i] + most);
}

static void read_line(const struct judge_build *builds, size_t n, double floor, struct line *l)
{
        cleanup_free double *room = allocate(3 * n + 1, sizeof(*room)); /* a seed's logarithms, and room to clip them */
        bool clip;

        *l = (struct line){.n = n, .seeds = 1, .floor = log(floor > 1 ? floor : JUDGE_FLOOR)};
        l->most_p = n > 1 ? JUDGE_FALSE_ALARMS / TESTS_A_GAP / (double)(n - 1) : 0;
        for (size_t b = 0; b < n; b++)
                l->seeds = MAX(l->seeds, builds[b].n);
        l->before = allocate((n + 1) * l->seeds, sizeof(*l->before));
        clip = !has_seeds(builds, n, l->seeds);
        for (size_t s = 0; s < l->seeds; s++) {
                size_t known = 0, i = 0;

                for (size_t b = 0; b < n; b++)
                        if (is_known(&builds[b], s))
                                room[known++] = log(builds[b].values[s]);
                if (clip)
                        clip_lone(room, known, room + known);
                for (size_t b = 0; b < n; b++) {
                        const struct sums *at = &l->before[b * l->seeds + s];
                        bool is_there = is_known(&builds[b], s);
                        double x = is_there ? room[i++] : 0;

                        l->before[(b + 1) * l->seeds + s] = (struct sums){at->n + is_there, at->x + x, at->square + x * x};
                }
        }
}

/* -- two stretches ------------------------------------------------------------------------------------------------ */

/* The sums of one seed over the builds of a stretch. */
static struct sums seed_sums(const struct line *l, size_t from, size_t to, size_t seed)
{
        const struct sums *a = &l->before[from * l->seeds + seed], *b = &l->before[to * l->seeds + seed];

        return (struct sums){b->n - a->n, b->x - a->x, b->square - a->square};
}

/* All values of a stretch. */
static struct moments values_of(const struct line *l, size_t from, size_t to)
{
        struct sums all = {0};

        for (size_t s = 0; s < l->seeds; s++) {
                struct sums one = seed_sums(l, from, to, s);

                all = (struct sums){all.n + one.n, all.x + one.x, all.square + one.square};
        }
        return all.n > 0 ? (struct moments){all.n, all.x / all.n, fmax(0, all.square - all.x * all.x / all.n)} : (struct moments){0};
}

struct contrast { /* of one stretch against the next: the difference of their means, and its p: 1 if nothing is known */
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
        struct sides s = {0};
        struct moments x, y;

        for (size_t seed = 0; seed < l->seeds; seed++) {
                struct sums before = seed_sums(l, from, at, seed), after = seed_sums(l, at, to, seed);

                if (before.n > 0 && after.n > 0)
                        judge_add_pair(&s, before.x / before.n, after.x / after.n);
        }
        if (s.shift.n >= SEEDS)
                return judge_sides_correlate(&s) ? contrast_of(s.shift.mean, judge_error(&s.shift), s.shift.n - 1)
                                                 : two_samples(&s.before, &s.after);
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
        uint64_t *at; /* ascending, once all are found */
        size_t n;
};

/* The beginning of the stretch before change i, and the end of the one behind it, of a line of n builds. */
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

/* Tests the intervals of one length, which begin a quarter of it apart, except those that contain a change already: narrower ones come first. */
static void find_in_intervals(const struct line *l, size_t length, struct changes *c)
{
        size_t to = 0;

        for (size_t from = 0; to < l->n; from += MAX(1, length / 4)) {
                size_t at;

                to = MIN(from + length, l->n);
                from = to - length;
                at = holds_change(c, from, to) ? 0 : best_in(l, from, to);
                if (at > 0)
                        list_add(c->at, c->n, at);
        }
}

/* Places each change between its neighbours, by least squares. */
static void move_changes(const struct line *l, struct changes *c)
{
        for (size_t i = 0; i < c->n; i++) {
                size_t from = change_before(c, i), to = change_after(c, i, l->n),
                       margin = c->at[i] - from > 1 && to - c->at[i] > 1 ? 1 : 0; /* no stretch becomes a single build, unless one of both is one */
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

/* Drops the weakest change that the whole stretches on both sides do not confirm. False: there is none. */
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

void judge_levels(const struct judge_build *builds, size_t n, double floor, struct judge_levels *ret)
{
        struct changes c = {0};
        struct line l;

        *ret = (struct judge_levels){0};
        if (n == 0)
                return;
        read_line(builds, n, floor, &l);
        for (size_t length = 2; length <= n; length = length == n ? n + 1 : MIN(n, length + (length + 1) / 2))
                find_in_intervals(&l, length, &c);
        sort_list(c.at, c.n, sizeof(*c.at), compare_u64);
        move_changes(&l, &c);
        while (drop_change(&l, &c))
                ;
        ret->list = allocate(c.n + 1, sizeof(*ret->list));
        for (size_t i = 0; i <= c.n; i++) {
                size_t from = change_before(&c, i), to = i < c.n ? c.at[i] : n;
                struct moments values = values_of(&l, from, to);
                struct contrast change = i > 0 ? compare(&l, change_before(&c, i - 1), from, to) : (struct contrast){NAN, NAN};

                ret->list[ret->n++] = (struct judge_level){
                        .from = from, .to = to, .mean = values.n > 0 ? exp(values.mean) : NAN, .shift = change.shift, .p = change.p};
        }
        free(l.before);
        free(c.at);
}

void judge_levels_done(struct judge_levels *l)
{
        free(l->list);
        *l = (struct judge_levels){0};
}
