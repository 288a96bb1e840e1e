/* A finding from a case's pairs: kind and measure by how the case changed, the pairs as evidence, the threshold between the medians. */
#include "core/study/observation/finding_compared.h"

#include <math.h>

#include "core/study/base/stat.h"

/* The most frequent answer of a side. */
static enum verdict usual_answer(const struct judge_case *c, int side)
{
        size_t seen[N_VERDICTS] = {0}, most = 0;
        enum verdict ret = VERDICT_UNKNOWN;

        for (size_t k = 0; k < c->n_pairs; k++) {
                const enum verdict verdict = c->pairs[k].run[side].verdict;

                if (!judge_pair_is_known(&c->pairs[k]) || ++seen[verdict] <= most)
                        continue;
                most = seen[verdict];
                ret = verdict;
        }
        return ret;
}

/* A lost answer is a slowdown if a limit ended the runs, else a crash or a regression. */
static enum observation_kind kind_of(enum judge_change change, enum verdict now)
{
        if (change != JUDGE_LOST || verdict_is_decided(now) || now == VERDICT_TIMEOUT || now == VERDICT_MEMOUT)
                return FINDING_SLOWDOWN;
        return now == VERDICT_CRASH ? FINDING_CRASH : FINDING_REGRESSION;
}

/* A lost answer is measured by the limit that ended the runs. */
static enum judge_measure measure_of(enum judge_change change, enum verdict now, enum judge_measure asked)
{
        if (change != JUDGE_LOST)
                return asked;
        return now == VERDICT_MEMOUT ? JUDGE_MEMORY : asked == JUDGE_CPU_TIME ? asked : JUDGE_TIME;
}

/* The limit of a run by the finding's clock, in seconds. */
static double limit_of(const struct observation *f, const struct judge_run *run)
{
        return f->is_cpu_time && run->cpu_limit > 0 ? run->cpu_limit : run->limit;
}

/* As observed_runs.amounts has it. Of memory and effort, a pair with a run without an answer never shows the finding: that run counts as the most before,
 * as 0 after. */
static double amount_of(const struct observation *f, const struct judge_run *run, int side)
{
        double amount = f->measure == JUDGE_MEMORY ? run->memory : run->effort;
        bool is_ended = verdict_is_decided(run->verdict) || run->verdict == VERDICT_MEMOUT; /* by an answer, or by the measure's limit */

        if (f->measure != JUDGE_TIME && is_ended && isfinite(amount))
                return amount;
        if (f->measure != JUDGE_TIME)
                return side == 0 ? observation_no_answer_amount(f->measure) : 0;
        if (f->kind == FINDING_SLOWDOWN && !verdict_is_decided(run->verdict) && run->limit > 0)
                return limit_of(f, run);
        return f->is_cpu_time ? run->cpu_seconds : run->seconds;
}

/* Adds a side's runs of a case's pairs. */
static void add_runs(struct observation *f, const struct comparing_table *t, const struct judge_case *c, int side)
{
        double amounts[JUDGE_PAIRS];
        uint32_t n = 0;

        for (size_t k = 0; k < c->n_pairs && n < JUDGE_PAIRS; k++)
                if (judge_pair_is_known(&c->pairs[k]))
                        amounts[n++] = amount_of(f, &c->pairs[k].run[side], side);
        observation_add_runs(f, t->sha[side], usual_answer(c, side), amounts, n);
}

/* Half of the way between the medians, as verify.sh takes it between a culprit and its parent; of memory and effort on the scale of logarithms. */
static double threshold_of(const struct observation *f)
{
        double at[2];

        for (int side = 0; side < 2; side++)
                at[side] = stat_median(f->runs[side].amounts, f->runs[side].n);
        return f->measure == JUDGE_TIME ? fmax((at[1] - at[0]) / 2, 0) : at[0] > 0 ? sqrt(fmax(at[1] / at[0], 1)) : 1;
}

/* Adds case i of the table as a finding, and counts it as added or known. */
static int add_finding(struct workspace *w, const struct comparing_table *t, size_t i, struct findings_compared *ret)
{
        const struct comparing_options *o = t->options;
        const struct judge_case *c = &t->cases[i];
        const enum judge_change change = t->judgement.cases[i].change;
        const enum verdict now = usual_answer(c, 1);
        const enum judge_measure measure = measure_of(change, now, o->measure);
        cleanup_observation struct observation *f = observation_new();
        char machine[PATH_SIZE];
        int r;

        f->kind = kind_of(change, now);
        f->solver = o->version[0].solver->number;
        f->found = f->changed = now_seconds();
        f->case_id = o->cases[i]->id;
        f->seed = o->has_seed ? o->seed : 0;
        f->is_cpu_time = measure == JUDGE_CPU_TIME;
        f->measure = f->is_cpu_time ? JUDGE_TIME : measure;
        f->timeout = fmin(limit_of(f, &c->pairs[0].run[0]), limit_of(f, &c->pairs[0].run[1]));
        set_string(&f->origin, COMPARED_ORIGIN);
        set_string(&f->reference, t->sha[0]);
        set_string(&f->target, t->sha[1]);
        for (int side = 0; side < 2; side++)
                add_runs(f, t, c, side);
        f->threshold = threshold_of(f);
        if (cell_machine(&(struct cell){.solver = o->version[0].solver}, machine))
                f->machine = machine;
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
        for (size_t k = 0; k < o->n && r == 0; k++) {
                enum judge_change change = t->judgement.cases[t->order[k]].change;

                if (change != JUDGE_MORE && change != JUDGE_LOST)
                        continue;
                if (o->cases[t->order[k]]->query > 0)
                        ret->queries++;
                else
                        r = add_finding(w, t, t->order[k], ret);
        }
        return r;
}
