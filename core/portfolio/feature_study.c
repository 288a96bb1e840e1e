#include "core/portfolio/feature_study.h"

#include <math.h>

double feature_correlation(const struct run_table *t, size_t feature, size_t arm, size_t other, double limit, size_t *ret_n)
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

static void mask(struct run_table *t, const struct run_table *from, const bool *kept)
{
        for (size_t q = 0; q < t->queries; q++)
                for (size_t j = 0; j < t->features; j++)
                        t->values[q * t->features + j] = kept[j] ? from->values[q * t->features + j] : NAN;
}

static int measure(struct replay *r, struct run_table *t, const struct run_table *from, const bool *kept, double *ret)
{
        struct replay_score score;
        int result;

        mask(t, from, kept);
        result = replay_run(r, &score);
        *ret = score.par2.mean;
        return result;
}

int feature_select(const struct replay *r, bool *kept, double *ret_par2,
                   void (*step)(void *user, const char *without, double par2), void *user)
{
        const struct run_table *from = r->tables[0];
        struct run_table copy = *from;
        const struct run_table *tables[] = {&copy};
        struct replay replay = *r;
        cleanup_free double *values = calloc(from->queries * from->features + 1, sizeof(*values));
        int result;

        if (!values)
                return -ENOMEM;
        copy.values = values;
        replay.tables = tables;
        for (size_t j = 0; j < from->features; j++)
                kept[j] = true;
        result = measure(&replay, &copy, from, kept, ret_par2);
        while (result == 0) {
                size_t best = from->features;
                double best_par2 = *ret_par2;

                for (size_t j = 0; j < from->features && result == 0; j++) {
                        double par2;

                        if (!kept[j])
                                continue;
                        kept[j] = false;
                        result = measure(&replay, &copy, from, kept, &par2);
                        kept[j] = true;
                        if (result == 0 && par2 <= best_par2) {
                                best = j;
                                best_par2 = par2;
                        }
                }
                if (result < 0 || best == from->features)
                        break;
                kept[best] = false;
                *ret_par2 = best_par2;
                if (step)
                        step(user, from->feature[best], best_par2);
        }
        return result;
}
