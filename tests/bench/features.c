/* Which features tell arms apart (MedleySolver, section 6.3), on a recorded table:
 *
 *     bench_features [--seeds 5] [--limit 60] TABLE
 *
 * Prints first the correlation of each feature with the difference of each two arms' times (a timeout's is the limit), and on how many queries; then
 * the features that the default can do without, one after the other, as long as a replay's mean PAR-2 gets no worse. */
#include <getopt.h>
#include <math.h>

#include "tests/bench/replay.h"

/* Pearson's, over the queries that know the feature. NaN where nothing varies. */
static double correlation(const struct run_table *t, size_t feature, size_t arm, size_t other, double limit, size_t *ret_n)
{
        double n = 0, mx = 0, my = 0, xx = 0, yy = 0, xy = 0;

        for (size_t q = 0; q < t->queries; q++) {
                double x = t->values[q * t->features + feature],
                       y = run_table_run(t, q, arm, limit).seconds - run_table_run(t, q, other, limit).seconds, dx, dy;

                if (isnan(x))
                        continue;
                n++; /* Welford's, for the sums of squares and of products */
                dx = x - mx;
                dy = y - my;
                mx += dx / n;
                my += dy / n;
                xx += dx * (x - mx);
                yy += dy * (y - my);
                xy += dx * (y - my);
        }
        *ret_n = (size_t)n;
        return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static void correlate(const struct run_table *t, double limit)
{
        for (size_t j = 0; j < t->features; j++)
                for (size_t a = 0; a < t->arms; a++)
                        for (size_t b = a + 1; b < t->arms; b++) {
                                size_t n;
                                double c = correlation(t, j, a, b, limit, &n);

                                if (!isnan(c))
                                        printf("%s\t%s\t%s\t%.4f\t%zu\n", t->feature[j], t->arm[a], t->arm[b], c, n);
                        }
}

/* The mean PAR-2 without this one, too, of the features that are kept. */
static int measure(const struct replay *r, struct run_table *masked, const struct run_table *t, const bool *kept, size_t without, double *ret)
{
        struct replay_score score;
        int result;

        for (size_t i = 0; i < t->queries * t->features; i++)
                masked->values[i] = kept[i % t->features] && i % t->features != without ? t->values[i] : NAN;
        result = replay_run(r, &score);
        *ret = score.par2.mean;
        return result;
}

static int drop(const struct run_table *t, unsigned seeds, double limit)
{
        cleanup_free double *values = calloc(t->queries * t->features + 1, sizeof(*values));
        cleanup_free bool *kept = calloc(t->features + 1, sizeof(*kept));
        struct run_table masked = *t;
        const struct run_table *tables[] = {&masked};
        struct replay r = {.tables = tables, .n = 1, .seeds = seeds, .learner = {.limit = limit, .seed = 1}};
        size_t best;
        double par2;
        int result;

        if (!values || !kept)
                return -ENOMEM;
        masked.values = values;
        memset(kept, true, t->features);
        result = measure(&r, &masked, t, kept, t->features, &par2);
        do {
                best = t->features;
                for (size_t j = 0; j < t->features && result == 0; j++) {
                        double without;

                        if (!kept[j])
                                continue;
                        result = measure(&r, &masked, t, kept, j, &without);
                        if (result == 0 && without <= par2) {
                                best = j;
                                par2 = without;
                        }
                }
                if (result == 0 && best < t->features) {
                        kept[best] = false;
                        printf("%s\tdropped\t%.1f\n", t->feature[best], par2);
                }
        } while (result == 0 && best < t->features);
        for (size_t j = 0; j < t->features && result == 0; j++)
                if (kept[j])
                        printf("%s\tkept\t%.1f\n", t->feature[j], par2);
        return result;
}

int main(int argc, char **argv)
{
        static const struct option options[] = {{"seeds", required_argument, NULL, 'n'}, {"limit", required_argument, NULL, 'l'}, {0}};
        cleanup_run_table struct run_table *t = NULL;
        unsigned seeds = 5;
        double limit = 60;
        int r;

        for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
                if (c == 'n')
                        seeds = (unsigned)atoi(optarg);
                else if (c == 'l')
                        limit = strtod(optarg, NULL);
                else
                        return 2;
        }
        if (optind + 1 != argc)
                return 2;
        r = run_table_read(argv[optind], &t);
        if (r == 0) {
                correlate(t, limit);
                r = drop(t, seeds, limit);
        }
        if (r < 0)
                fprintf(stderr, "bench_features: %s\n", error_message(r));
        return r < 0;
}
