/* The standard normal distribution from tables, which are made once, as a model of runtimes asks for it millions of times. Errors are below 1e-5, and
 * below a thousandth of the value between -8 and 8; beyond, the value at the border is taken. Threads: any, after normal_prepare(). */
#pragma once

#include <math.h>

#define NORMAL_MOST  8
#define NORMAL_STEPS 128 /* of the tables, for each unit */
#define NORMAL_SIZE  (2 * NORMAL_MOST * NORMAL_STEPS + 2)

struct normal_tables {
        double density[NORMAL_SIZE];
        double tail[NORMAL_SIZE];       /* the chance of more than u */
        double mean_above[NORMAL_SIZE]; /* the mean of what lies above u: the inverse Mills ratio */
        double told_above[NORMAL_SIZE]; /* how much "above u" tells of the value: 0 nothing, 1 all */
};
extern struct normal_tables normal_tables;
void normal_prepare(void); /* any number of times */

static inline double normal_read(const double *table, double u)
{
        double at = (fmin(fmax(u, -NORMAL_MOST), NORMAL_MOST) + NORMAL_MOST) * NORMAL_STEPS;
        int i = (int)at;

        return table[i] + (at - i) * (table[i + 1] - table[i]);
}

static inline double normal_density(double u)
{
        return normal_read(normal_tables.density, u);
}

static inline double normal_tail(double u)
{
        return normal_read(normal_tables.tail, u);
}

static inline double normal_mean_above(double u)
{
        return u > NORMAL_MOST ? u + 1 / u : normal_read(normal_tables.mean_above, u);
}

static inline double normal_told_above(double u)
{
        return normal_read(normal_tables.told_above, u);
}
