#include "core/portfolio/normal.h"

#include <pthread.h>

struct normal_tables normal_tables;

static void make(void)
{
        struct normal_tables *t = &normal_tables;

        for (int i = 0; i < NORMAL_SIZE; i++) {
                double u = (double)i / NORMAL_STEPS - NORMAL_MOST;

                t->density[i] = exp(-.5 * u * u) / sqrt(2 * M_PI);
                t->tail[i] = .5 * erfc(u * M_SQRT1_2);
                t->mean_above[i] = t->density[i] / t->tail[i];
                t->told_above[i] = fmax(0, t->mean_above[i] * (t->mean_above[i] - u));
        }
}

void normal_prepare(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, make);
}
