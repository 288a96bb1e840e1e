/* Durations of jobs. A query's estimate() has the measurements made before. The engine's own measurements since it was opened correct it, or replace
 * it if there are none. */
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
void average_add(struct average *a, double x)
{
        double before = x - a->mean;

        a->mean += before / ++a->n;
        a->m2 += before * (x - a->mean);
}

void cost_note(struct job *j, double ran_ns)
{
        struct type_times *t = times_of(j->engine, j->query->type);

        if (!t)
                return;
        average_add(&t->took, ran_ns);
        if (j->cost.mean_ns > 0)
                average_add(&t->ratio, ran_ns / (double)j->cost.mean_ns);
}

/* Mean and standard deviation of a job's whole duration; false if nothing is known. */
static bool expected(struct job *j, double *ret_mean, double *ret_deviation)
{
        const struct type_times *t = times_of(j->engine, j->query->type);
        double mean = (double)j->cost.mean_ns, deviation = (double)(j->cost.deviation_ns ?: j->cost.mean_ns);

        if (mean > 0 && t && t->ratio.n >= LEAST_SAMPLES) {
                deviation = mean * sqrt(t->ratio.m2 / (t->ratio.n - 1));
                mean *= t->ratio.mean;
        } else if (mean == 0 && t && t->took.n >= LEAST_SAMPLES) {
                mean = t->took.mean;
                deviation = sqrt(t->took.m2 / (t->took.n - 1));
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

        if (!expected(j, &mean, &deviation) || (ran > mean + 2 * deviation && j->cost.most_ns == 0)) { /* or the measurements do not fit this job */
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
        if (resource == RESOURCE_CORE || resource == RESOURCE_BUILD || resource == RESOURCE_REMOTE)
                load_add_own(l, j, now);
        TAILQ_FOREACH (w, &j->waits, link)
                if (w->ticket && w->ticket->job)
                        load_add(l, w->ticket->job, now);
}
