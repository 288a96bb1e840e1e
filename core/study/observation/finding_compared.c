#include "core/study/observation/finding_compared.h"

#include <math.h>

#include "core/study/base/stat.h"

static double amount_of(const struct judge_run *run, enum judge_measure m)
{
        double amount = m == JUDGE_MEMORY ? run->memory : run->effort;

        if (m == JUDGE_MEMORY || m == JUDGE_EFFORT)
                return verdict_is_decided(run->verdict) && isfinite(amount) ? amount : 0;
        if (!verdict_is_decided(run->verdict) && run->limit > 0)
                return m == JUDGE_CPU_TIME && run->cpu_limit > 0 ? run->cpu_limit : run->limit;
        return m == JUDGE_CPU_TIME ? run->cpu_seconds : run->seconds;
}

/* Adds a side's runs of a case's pairs, with the side's most frequent answer. */
static void add_runs(struct observation *f, const struct comparing_table *t, size_t i, int side)
{
        const struct judge_case *c = &t->cases[i];
        size_t seen[N_VERDICTS] = {0}, most = 0;
        enum verdict verdict = VERDICT_UNKNOWN;
        double amounts[JUDGE_PAIRS];
        uint32_t n = 0;

        for (size_t k = 0; k < c->n_pairs && n < JUDGE_PAIRS; k++) {
                const struct judge_run *run = &c->pairs[k].run[side];

                if (!judge_pair_is_known(&c->pairs[k]))
                        continue;
                amounts[n++] = amount_of(run, t->options->measure);
                if (++seen[run->verdict] > most) {
                        most = seen[run->verdict];
                        verdict = run->verdict;
                }
        }
        observation_add_runs(f, t->sha[side], verdict, amounts, n);
}

/* Half of the way between the medians, as verify.sh takes it between a culprit and its parent. */
static double threshold_of(const struct observation *f)
{
        double at[2];

        for (int side = 0; side < 2; side++)
                at[side] = stat_median(f->runs[side].seconds, f->runs[side].n);
        return f->measure == JUDGE_TIME ? fmax((at[1] - at[0]) / 2, 0) : at[0] > 0 ? sqrt(fmax(at[1] / at[0], 1)) : 1;
}

static int keep(struct workspace *w, const struct comparing_table *t, size_t i, struct findings_compared *ret)
{
        const struct comparing_options *o = t->options;
        cleanup_observation struct observation *f = observation_new();
        int r;

        f->kind = FINDING_SPR;
        f->solver = o->version[0].solver->number;
        f->found = f->changed = now_seconds();
        f->case_id = o->cases[i]->id;
        f->timeout = fmin(t->cases[i].pairs[0].run[0].limit, t->cases[i].pairs[0].run[1].limit);
        f->is_cpu_time = o->measure == JUDGE_CPU_TIME;
        f->measure = f->is_cpu_time ? JUDGE_TIME : o->measure;
        set_string(&f->origin, COMPARED_ORIGIN);
        set_string(&f->reference, t->sha[0]);
        set_string(&f->target, t->sha[1]);
        for (int side = 0; side < 2; side++)
                add_runs(f, t, i, side);
        f->threshold = threshold_of(f);
        r = observation_add(w, f);
        ret->known += r == 1;
        ret->added += r == 0;
        return MIN(r, 0);
}

int findings_add_compared(struct workspace *w, const struct comparing_table *t, struct findings_compared *ret)
{
        const struct comparing_options *o = t->options;
        int r = 0;

        *ret = (struct findings_compared){0};
        if (o->version[0].solver->number != o->version[1].solver->number)
                return errorf(-EINVAL, "a finding is of one solver, and %s and %s are two", o->version[0].solver->recipe->name,
                              o->version[1].solver->recipe->name);
        if (o->measure == JUDGE_PACE)
                return errorf(-EINVAL, "a finding is of time, memory or effort, not of %s", judge_measure_name(o->measure));
        if (o->most_pairs == 1)
                return errorf(-EINVAL, "what differs at one seed is no finding");
        for (size_t k = 0; k < t->options->n && r == 0; k++) {
                enum judge_change change = t->judgement.cases[t->order[k]].change;

                if (change != JUDGE_MORE && change != JUDGE_LOST)
                        continue;
                if (o->cases[t->order[k]]->query > 0)
                        ret->queries++;
                else
                        r = keep(w, t, t->order[k], ret);
        }
        return r;
}
