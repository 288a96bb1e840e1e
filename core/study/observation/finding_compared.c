#include "core/study/observation/finding_compared.h"

#include <math.h>

static int check(const struct comparing_table *t)
{
        const struct comparing_options *o = t->options;

        if (o->version[0].solver->number != o->version[1].solver->number)
                return errorf(-EINVAL, "a finding is of one solver, and %s and %s are two", o->version[0].solver->recipe->name,
                              o->version[1].solver->recipe->name);
        if (o->measure == JUDGE_PACE)
                return errorf(-EINVAL, "a finding is of time, memory or effort, not of %s", judge_measure_name(o->measure));
        return o->most_pairs == 1 ? errorf(-EINVAL, "what differs at one seed is no finding") : 0;
}

static double amount_of(const struct judge_run *run, enum judge_measure m)
{
        double amount = m == JUDGE_MEMORY ? run->memory : run->effort;

        if (m == JUDGE_MEMORY || m == JUDGE_EFFORT)
                return verdict_is_decided(run->verdict) && isfinite(amount) ? amount : 0;
        if (!verdict_is_decided(run->verdict) && run->limit > 0)
                return run->limit;
        return m == JUDGE_CPU_TIME ? run->cpu_seconds : run->seconds;
}

/* The pairs of a case, and what the side answered mostly. */
static int add_runs(struct observation *f, const struct comparing_table *t, size_t i, int side, const char *version)
{
        const struct judge_case *c = &t->cases[i];
        size_t seen[N_VERDICTS] = {0}, most = 0;
        enum verdict verdict = VERDICT_UNKNOWN;
        double amounts[JUDGE_PAIRS];
        uint32_t n = 0;

        for (size_t k = 0; k < c->n_pairs && n < JUDGE_PAIRS; k++) {
                const struct judge_run *run = &c->pairs[k].run[side];

                if (!c->pairs[k].run[0].is_known || !c->pairs[k].run[1].is_known)
                        continue;
                amounts[n++] = amount_of(run, t->options->measure);
                if (++seen[run->verdict] > most) {
                        most = seen[run->verdict];
                        verdict = run->verdict;
                }
        }
        return observation_add_runs(f, version, verdict, amounts, n);
}

static int keep(struct workspace *w, const struct comparing_table *t, size_t i, const char *const versions[2],
                struct findings_compared *ret)
{
        const struct comparing_options *o = t->options;
        cleanup_observation struct observation *f = observation_new();
        int r;

        if (!f)
                return -ENOMEM;
        f->kind = FINDING_SPR;
        f->solver = o->version[0].solver->number;
        f->found = f->changed = now_seconds();
        f->case_id = o->cases[i]->id;
        f->timeout = fmin(t->cases[i].pairs[0].run[0].limit, t->cases[i].pairs[0].run[1].limit);
        f->is_cpu_time = o->measure == JUDGE_CPU_TIME;
        f->measure = f->is_cpu_time ? JUDGE_TIME : o->measure;
        f->threshold = f->measure == JUDGE_TIME ? 0 : 1;
        r = observation_set(&f->origin, COMPARED_ORIGIN);
        if (r == 0)
                r = observation_set(&f->reference, versions[0]);
        if (r == 0)
                r = observation_set(&f->target, versions[1]);
        for (int side = 0; side < 2 && r == 0; side++)
                r = add_runs(f, t, i, side, versions[side]);
        if (r == 0)
                r = observation_add(w, f);
        if (r < 0)
                return r;
        *(r == 1 ? &ret->known : &ret->added) += 1;
        return 0;
}

int findings_add_compared(struct workspace *w, const struct comparing_table *t, struct findings_compared *ret)
{
        char sha[2][GIT_OID_HEXSZ + 1];
        const char *const versions[] = {sha[0], sha[1]};
        struct commit commit;
        int r = check(t);

        *ret = (struct findings_compared){0};
        for (int side = 0; side < 2 && r == 0; side++) {
                r = history_commit(t->options->version[side].solver->history, t->options->version[side].commit, &commit);
                if (r == 0)
                        git_oid_tostr(sha[side], sizeof(sha[side]), &commit.oid);
        }
        for (size_t k = 0; k < t->options->n && r == 0; k++) {
                size_t i = t->order[k];
                enum judge_change change = t->judgement.cases[i].change;

                if (change == JUDGE_MORE || change == JUDGE_LOST)
                        r = keep(w, t, i, versions, ret);
        }
        return r;
}
