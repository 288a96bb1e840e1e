/* Chooses the next build. A demand is a gap that contains a case's culprit. A run of the case at x in the gap gives H(share of the prior up to x) bits. */
#include "core/study/localize/localize_internal.h"

/* Bits that a run must give: on a built commit; on a new build that another case needs. */
#define ENOUGH_BUILT  0.6
#define ENOUGH_SHARED 0.6
/* Among builds with nearly as much information as the best one, the cheapest is chosen. */
#define NEARLY_BEST 0.9
#define BUILDS_AT_ONCE 2 /* new ones in one plan, beside those of the ends */
/* Below this chance to build, a commit between failed ones is presumed to fail, too. */
#define PRESUMED_FAILED 0.25

double build_cost(const struct localize *l, size_t program)
{
        return l->built[program] == BUILD_DONE ? 0 : l->build_seconds;
}

/* The chance that commits between two good ones can be built, if f commits between them failed. Neighbours of a failed commit are likely to fail, too, and
 * the more have failed, the longer the stretch is assumed to be. With distance d to the nearest failed commit and g to the nearest good one the chance is
 * d / (d + min(2^(f-1), g)): one half beside the edge of a stretch, and large only at doubling distances from its middle. */
static void buildable_between(const struct localize *l, const struct line *line, size_t a, size_t b, size_t origin, double *ret)
{
        size_t failed = 0, last = NONE;
        double reach;

        for (size_t x = a + 1; x < b; x++)
                failed += l->built[line->at[x]] == BUILD_FAILED;
        reach = exp2(fmin((double)failed, 40) - 1);
        for (size_t x = a + 1; x < b; x++) {
                if (l->built[line->at[x]] == BUILD_FAILED)
                        last = x;
                ret[x - origin] = last == NONE ? INFINITY : (double)(x - last);
        }
        last = NONE;
        for (size_t x = b; x-- > a + 1;) {
                double distance, good = (double)MIN(x - a, b - x);

                if (l->built[line->at[x]] == BUILD_FAILED)
                        last = x;
                distance = fmin(ret[x - origin], last == NONE ? INFINITY : (double)(last - x));
                ret[x - origin] = isinf(distance) ? 1 : distance / (distance + fmin(reach, good));
                if (ret[x - origin] < PRESUMED_FAILED)
                        ret[x - origin] = 0;
        }
}

/* The chance that each program at (a, b) of the line can be built, 0 if presumed unbuildable; ret[x - a]. True if any can. */
static bool buildable(const struct localize *l, const struct line *line, size_t a, size_t b, double *ret)
{
        size_t from = a;
        bool any = false;

        ret[0] = ret[b - a] = 0;
        for (size_t x = a + 1; x <= b; x++) {
                if (x < b && l->built[line->at[x]] != BUILD_DONE)
                        continue;
                buildable_between(l, line, from, x, a, ret);
                if (x < b)
                        ret[x - a] = 1;
                from = x;
        }
        for (size_t x = a + 1; x < b; x++)
                any |= ret[x - a] > 0;
        return any;
}

static double information(const struct demand *d, size_t x)
{
        double p = d->below[x - d->a];

        return p <= 0 || p >= 1 ? 0 : -(p * log2(p) + (1 - p) * log2(1 - p)) * d->alive[x - d->a];
}

bool demand_add(struct localize *l, size_t test, const struct line *line, size_t a, size_t b, const double *below)
{
        cleanup_free double *alive = allocate(b - a + 1, sizeof(*alive)), *share = allocate(b - a + 1, sizeof(*share));
        struct demand *d;

        if (b == a + 1 || !buildable(l, line, a, b, alive))
                return false;
        if (l->tests[test].is_spent)
                return true;
        for (size_t x = a; x <= b; x++)
                share[x - a] = (below[x] - below[a]) / (below[b] - below[a]);
        d = list_add(l->demands, l->n_demands,
                     (struct demand){.test = test, .line = line, .a = a, .b = b, .below = steal_pointer(share), .alive = steal_pointer(alive)});
        for (size_t x = a + 1; x < b; x++)
                d->best = fmax(d->best, information(d, x));
        return true;
}

void demands_clear(struct localize *l)
{
        for (size_t i = 0; i < l->n_demands; i++) {
                free(l->demands[i].below);
                free(l->demands[i].alive);
        }
        l->n_demands = 0;
}

/* True if the case would rather share this build than wait for one of its own. */
static bool is_useful(const struct demand *d, size_t x)
{
        double bits = information(d, x);

        return bits >= ENOUGH_SHARED || (bits > 0 && bits >= 0.75 * d->best);
}

/* Asks for a run on the program, if one of its places is useful to the case. */
static void serve_build(struct localize *l, struct demand *d, size_t program)
{
        for (uint32_t at = d->line->place[program]; at > 0 && !d->served; at = d->line->again[at - 1])
                if (at - 1 > d->a && at - 1 < d->b && is_useful(d, at - 1)) {
                        d->served = true;
                        want_run(l, program, d->test);
                }
}

/* Asks for a run on a built commit, if one divides the gap well. */
static void serve_built(struct localize *l, struct demand *d)
{
        size_t best = NONE;
        double most = ENOUGH_BUILT;

        for (size_t x = d->a + 1; x < d->b; x++) {
                double bits = l->built[d->line->at[x]] == BUILD_DONE ? information(d, x) : 0;

                if (bits > most) {
                        most = bits;
                        best = x;
                }
        }
        d->served = best != NONE;
        if (d->served)
                want_run(l, d->line->at[best], d->test);
}

/* The program with the most information for all unserved demands per second, or NONE. */
static size_t best_build(struct localize *l)
{
        double most = 0, best = 0;
        size_t chosen = NONE;

        memset(l->gain, 0, l->n * sizeof(*l->gain));
        for (size_t i = 0; i < l->n_demands; i++) {
                const struct demand *d = &l->demands[i];

                for (size_t x = d->a + 1; !d->served && x < d->b; x++)
                        if (is_useful(d, x))
                                most = fmax(most, l->gain[d->line->at[x]] += information(d, x));
        }
        /* a cheaper build with less information would be needed in addition, not instead */
        for (size_t program = 0; program < l->n; program++) {
                double score;

                if (l->gain[program] <= NEARLY_BEST * most || most == 0)
                        continue;
                score = l->gain[program] / (build_cost(l, program) + 1e-3);
                if (score > best) {
                        best = score;
                        chosen = program;
                }
        }
        return chosen;
}

void demands_serve(struct localize *l)
{
        size_t program;

        for (size_t i = 0; i < l->n_demands; i++)
                serve_built(l, &l->demands[i]);
        for (unsigned builds = 0; builds < BUILDS_AT_ONCE && (program = best_build(l)) != NONE;) {
                builds += l->built[program] != BUILD_DONE;
                for (size_t i = 0; i < l->n_demands; i++)
                        serve_build(l, &l->demands[i], program);
        }
}
