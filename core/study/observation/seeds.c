/* The query of a finding under 30 seeds: it asks for all runs at once, and is answered when the store has all of them. */
#include "core/study/observation/finding.h"

#include <math.h>

#include "core/engine/ask.h"
#include "core/query/resolved_cell.h"
#include "core/study/base/version.h"
#include "core/study/localize/localization.h"
#include "core/study/observation/campaign_store.h"

struct seeds_query {
        struct query query;
        struct workspace *workspace;
        struct version *versions[2]; /* owned: reference, target */
        struct case_info *info;      /* owns a ref */
        struct observation *finding; /* a ref */
        char machine[PATH_SIZE];   /* the machine of the finding, if it is another one; else "" */
};

/* True if the version's recipe has a seed. A program of the machine, and a binary of a release, have recipes of their own. */
static bool can_seed(const struct solver *s, const char *version)
{
        uint32_t commit;

        return version_begins_with_sha(version) && version_commit(s, version, &commit) == 0 && solver_recipe_at(s, commit)->seed;
}

bool finding_has_seeds(const struct solver *s, const struct observation *f)
{
        return f->kind == FINDING_SLOWDOWN && can_seed(s, f->reference) && can_seed(s, f->target);
}

static struct cell cell_of(const struct seeds_query *q, unsigned which, uint32_t seed)
{
        const struct version *v = q->versions[which];
        struct cell cell = {.solver = v->solver, .commit = v->commit, .info = q->info};

        cell_draw(&cell, seed);
        cell_set_timeout(&cell, q->finding->is_cpu_time, seconds_ns(q->finding->timeout));
        return cell;
}

static void seeds_key(const struct seeds_query *q, struct digest *ret)
{
        struct hasher *h = hasher_new();

        hasher_string(h, "seeds");
        hasher_add(h, case_identity(q->info).bytes, DIGEST_SIZE);
        for (unsigned i = 0; i < 2; i++) {
                const struct solver *s = q->versions[i]->solver;

                hasher_string(h, s->recipe->name);
                hasher_number(h, s->version);
                hasher_string(h, q->versions[i]->text);
        }
        hasher_number(h, seconds_ns(q->finding->timeout));
        hasher_number(h, (uint64_t)(q->finding->threshold * 1e9));
        hasher_number(h, q->finding->is_cpu_time ? JUDGE_CPU_TIME : q->finding->measure);
        hasher_string(h, q->machine);
        hasher_finish(h, ret);
}

/* -- known runs -- */

/* Reads the runs of a machine (NULL: this one). -ENOENT: not all of them are known. */
static int read_known(const struct seeds_query *q, const char *machine, struct seeds_value *to)
{
        int r = 0;

        for (unsigned which = 0; r == 0 && which < 2; which++) {
                const struct version *v = q->versions[which];
                struct digest build;

                r = build_key(v->solver->history, v->commit, v->solver->recipe, &build);
                for (uint32_t seed = 1; r == 0 && seed <= N_SEEDS; seed++) {
                        cleanup(fact_unrefp) struct fact *f = NULL;
                        struct cell cell = cell_of(q, which, seed);
                        double amount;

                        cell.machine = machine;
                        r = run_find_built(q->workspace, &cell, &build, to->measure != JUDGE_EFFORT, &f);
                        if (r < 0)
                                continue;
                        amount = fact_amount(&cell, f, to->measure);
                        to->runs[seed - 1][which] = (struct seeds_run){.verdict = f->verdict, .amount = isnan(amount) ? 0 : amount};
                }
        }
        return r;
}

static int seeds_find(struct query *query, struct value **ret)
{
        struct seeds_query *q = (struct seeds_query *)query;
        cleanup_free struct seeds_value *v = allocate(1, sizeof(*v));
        int r;

        *v = (struct seeds_value){.value = {.type = query->type, .refs = 1}, .measure = q->finding->measure, .threshold = q->finding->threshold};
        r = *q->machine ? read_known(q, q->machine, v) : -ENOENT;
        if (r == -ENOENT)
                r = read_known(q, NULL, v);
        if (r == 0)
                *ret = &steal_pointer(v)->value;
        return r;
}

/* -- missing runs -- */

static int seeds_make(void *user, size_t i, struct query **ret)
{
        const struct seeds_query *q = user;
        struct cell cell = cell_of(q, i % 2, (uint32_t)i / 2 + 1);

        return query_run(q->workspace, &cell, ret);
}

static int seeds_step(struct query *query, struct job *j, void **state, struct value **ret)
{
        const struct seeds_query *q = (const struct seeds_query *)query;
        int r;

        if (!*state) { /* the first call */
                *state = query;
                return job_ask_many(j, &(struct batch){.n = 2 * (size_t)N_SEEDS, .make = seeds_make, .user = query});
        }
        r = seeds_find(query, ret);
        return r == -ENOENT ? errorf(-ENODATA, "%s or %s cannot be built", q->versions[0]->text, q->versions[1]->text) : r;
}

/* -- the query -- */

static void seeds_describe(const struct query *query, struct buffer *ret)
{
        const struct seeds_query *q = (const struct seeds_query *)query;

        buffer_addf(ret, "seeds %s case %u", q->versions[1]->solver->recipe->name, q->info->id);
}

static bool seeds_gone(const struct query *query)
{
        const struct seeds_query *q = (const struct seeds_query *)query;

        return solver_is_gone(q->workspace, q->versions[1]->solver);
}

static void seeds_query_done(struct query *query)
{
        struct seeds_query *q = (struct seeds_query *)query;

        for (unsigned i = 0; i < 2; i++)
                version_free(q->versions[i]);
        case_info_unref(q->info);
        observation_unref(q->finding);
}

static const struct query_type query_seeds_type = {
        .name = "seeds",
        .resource = RESOURCE_STEP,
        .find = seeds_find,
        .step = seeds_step,
        .describe = seeds_describe,
        .gone = seeds_gone,
        .query_done = seeds_query_done,
};

int query_seeds(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret)
{
        struct seeds_query *q;
        cleanup(query_unrefp) struct query *query = NULL;
        int r;

        if (!finding_has_seeds(s, f))
                return errorf(-ENODATA, s->recipe->seed || s->recipe->is_programs ? "finding %u is between programs that solverfs sets no seed of"
                                                        : "finding %u has no seeds: the recipe has no 'seed'",
                              f->number);
        q = allocate(1, sizeof(*q));
        *q = (struct seeds_query){
                .query = {.type = &query_seeds_type, .refs = 1}, .workspace = w, .finding = observation_ref((struct observation *)f)};
        query = &q->query;
        if (s->pool || !finding_is_elsewhere(w, s->recipe->name, f, q->machine))
                *q->machine = '\0';
        r = version_parse(w, s, f->reference, -1, &q->versions[0])
            ?: version_parse(w, s, f->target, -1, &q->versions[1])
            ?: cases_get(workspace_cases(w), f->case_id, &q->info);
        if (r < 0)
                return r;
        seeds_key(q, &query->key);
        *ret = steal_pointer(query);
        return 0;
}

/* -- the value -- */

bool seeds_reproduces(const struct seeds_value *v, unsigned i)
{
        const struct seeds_run *runs = v->runs[i];

        if (!verdict_is_decided(runs[0].verdict) || !judge_is_above(v->measure, runs[0].amount, runs[1].amount, v->threshold))
                return false;
        return runs[1].verdict == (v->measure == JUDGE_MEMORY ? VERDICT_MEMOUT : VERDICT_TIMEOUT) ||
               runs[1].verdict == runs[0].verdict;
}

unsigned seeds_reproduced(const struct seeds_value *v)
{
        unsigned n = 0;

        for (unsigned i = 0; i < N_SEEDS; i++)
                n += seeds_reproduces(v, i);
        return n;
}

void seeds_print(const struct seeds_value *v, struct buffer *ret)
{
        const char *name = judge_measure_name(v->measure);
        int digits = v->measure == JUDGE_TIME ? 6 : 0;

        buffer_addf(ret, "seed\treference-result\treference-%s\ttarget-result\ttarget-%s\treproduces\n", name, name);
        for (unsigned i = 0; i < N_SEEDS; i++)
                buffer_addf(ret, "%u\t%s\t%.*f\t%s\t%.*f\t%s\n", i + 1, verdict_name(v->runs[i][0].verdict), digits,
                            v->runs[i][0].amount, verdict_name(v->runs[i][1].verdict), digits, v->runs[i][1].amount,
                            seeds_reproduces(v, i) ? "yes" : "no");
}
