/* How long jobs take: what was measured before says a query's estimate(), and what was seen since the engine was opened corrects it, or
 * stands for it where nothing was measured. */
#include <math.h>

#include "core/engine/engine_internal.h"

#define LEAST_SAMPLES 3 /* fewer say nothing */

static struct type_times *times_of(struct engine *e, const struct query_type *type)
{
        for (size_t i = 0; i < ENGINE_TYPES; i++) {
                if (!e->times[i].type)
                        e->times[i].type = type;
                if (e->times[i].type == type)
                        return &e->times[i];
        }
        return NULL;
}

/* B. P. Welford, "Note on a method for calculating corrected sums of squares and products" (1962). */
void cost_add(double x, double *n, double *mean, double *m2)
{
        double before = x - *mean;

        *mean += before / ++*n;
        *m2 += before * (x - *mean);
}

void cost_note(struct job *j, double ran_ns)
{
        struct type_times *t = times_of(j->engine, j->query->type);

        if (!t)
                return;
        cost_add(ran_ns, &t->n, &t->mean, &t->m2);
        if (j->cost.mean_ns > 0)
                cost_add(ran_ns / (double)j->cost.mean_ns, &t->n_ratios, &t->ratio, &t->ratio_m2);
}

/* Mean and standard deviation of what a job takes in all; false: nothing is known. */
static bool expected(struct job *j, double *ret_mean, double *ret_deviation)
{
        const struct type_times *t = times_of(j->engine, j->query->type);
        double mean = (double)j->cost.mean_ns, deviation = (double)(j->cost.deviation_ns ?: j->cost.mean_ns);

        if (mean > 0 && t && t->n_ratios >= LEAST_SAMPLES) {
                deviation = mean * sqrt(t->ratio_m2 / (t->n_ratios - 1));
                mean *= t->ratio;
        } else if (mean == 0 && t && t->n >= LEAST_SAMPLES) {
                mean = t->mean;
                deviation = sqrt(t->m2 / (t->n - 1));
        }
        *ret_mean = mean;
        *ret_deviation = deviation;
        return mean > 0;
}

struct load load_begin(struct engine *e)
{
        return (struct load){.mark = ++e->next_mark};
}

static void load_add_own(struct load *l, struct job *j, uint64_t now)
{
        double mean, deviation, ran = j->stage == STAGE_RUNNING ? (double)(now - j->started) : 0;

        if (!expected(j, &mean, &deviation)) {
                l->n_unknown++;
                return;
        }
        if (ran > mean + 2 * deviation && j->cost.most_ns == 0) { /* what was measured says nothing about this one */
                l->n_unknown++;
                return;
        }
        if (ran > mean) { /* later than expected: it may take as long again, or until its limit */
                l->longest_ns = MAX(l->longest_ns, j->cost.most_ns > ran ? (double)j->cost.most_ns - ran : ran);
                return;
        }
        l->mean_ns += mean - ran;
        l->variance += deviation * deviation;
        l->longest_ns = MAX(l->longest_ns, mean - ran);
}

void load_add(struct load *l, struct job *j, uint64_t now)
{
        enum resource resource = j->resource;
        struct wait *w;

        if (j->mark == l->mark)
                return;
        j->mark = l->mark;
        if (resource == RESOURCE_CORE || resource == RESOURCE_BUILD || resource == RESOURCE_AWAY)
                load_add_own(l, j, now);
        TAILQ_FOREACH (w, &j->waits, link)
                if (w->ticket && w->ticket->job)
                        load_add(l, w->ticket->job, now);
}
