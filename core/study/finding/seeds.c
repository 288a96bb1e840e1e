#include "core/study/finding/seeds.h"

#include "core/engine/ask.h"
#include "core/study/base/version.h"
#include "core/study/finding/campaign_store.h"

struct seeds_query {
        struct query query;
        struct workspace *workspace;
        struct version *versions[2]; /* owned: reference, target */
        struct case_info *info;      /* owns a ref */
        double timeout, threshold;
        bool is_cpu_time;
};

struct seeds_run {
        enum verdict verdict;
        double seconds;
};
struct seeds_state {
        struct seeds_query *query;
        struct seeds_run runs[SEEDS_MOST][2];
};

bool finding_has_seeds(const struct solver *s, const struct finding *f)
{
        return f->kind == FINDING_SPR && s->recipe->seed && version_is_of_history(f->reference) && version_is_of_history(f->target);
}

static struct cell cell_of(const struct seeds_query *q, unsigned which, uint64_t seed)
{
        const struct version *v = q->versions[which];
        struct cell cell = {.solver = v->solver, .commit = v->commit, .info = q->info, .has_seed = true, .seed = seed};

        cell_set_timeout(&cell, q->is_cpu_time, (uint64_t)(q->timeout * 1e9));
        return cell;
}

static void seeds_key(const struct seeds_query *q, struct digest *ret)
{
        struct hasher *h = hasher_new();

        hasher_string(h, "seeds");
        hasher_add(h, q->info->sha256.bytes, DIGEST_SIZE);
        for (unsigned i = 0; i < 2; i++) {
                struct cell cell = cell_of(q, i, 1);
                struct recipe_limits limits;
                struct digest part;

                cell_limits(&cell, &limits);
                hasher_string(h, q->versions[i]->text);
                recipe_builds_digest(cell.solver->recipe, &part);
                hasher_add(h, part.bytes, DIGEST_SIZE);
                recipe_run_digest(cell.solver->recipe, true, 1, &limits, &part);
                hasher_add(h, part.bytes, DIGEST_SIZE);
                hasher_number(h, limits.wall_ns);
                hasher_number(h, limits.memory);
                if (q->is_cpu_time)
                        hasher_number(h, limits.cpu_ns);
        }
        hasher_number(h, (uint64_t)(q->threshold * 1e9));
        hasher_finish(h, ret);
}

/* -- the value -- */

static int seeds_find(struct query *query, struct value **ret)
{
        struct seeds_query *q = (struct seeds_query *)query;

        return study_value_find(q->workspace, query, ret);
}

static bool reproduces(const struct seeds_run runs[2], double threshold)
{
        if (!verdict_is_decided(runs[0].verdict) || runs[1].seconds - runs[0].seconds <= threshold)
                return false;
        return runs[1].verdict == VERDICT_TIMEOUT || runs[1].verdict == runs[0].verdict;
}

static json_t *run_json(const struct seeds_run *r)
{
        return json_pack("{ss sf}", "result", verdict_name(r->verdict), "seconds", r->seconds);
}

static json_t *result_of(const struct seeds_state *s)
{
        json_t *list = json_array();

        for (unsigned i = 0; i < SEEDS_MOST; i++)
                json_array_append_new(list, json_pack("{si so so sb}", "seed", (int)i + 1, "reference", run_json(&s->runs[i][0]),
                                                      "target", run_json(&s->runs[i][1]), "reproduces",
                                                      (int)reproduces(s->runs[i], s->query->threshold)));
        return json_pack("{sf so}", "threshold", s->query->threshold, "seeds", list);
}

/* -- working it out -- */

static int seeds_make(void *user, size_t i, struct query **ret)
{
        struct seeds_state *s = user;
        struct cell cell = cell_of(s->query, i % 2, i / 2 + 1);

        return query_run(s->query->workspace, &cell, ret);
}

static int seeds_answered(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct seeds_state *s = user;
        struct cell cell = cell_of(s->query, i % 2, i / 2 + 1);
        const struct fact *fact = r == 0 ? ((struct run_value *)v)->fact : NULL;

        if (r < 0)
                return errorf(r, "%s", reason);
        if (!fact)
                return errorf(-ENODATA, "%s cannot be built", s->query->versions[i % 2]->text);
        s->runs[i / 2][i % 2] = (struct seeds_run){.verdict = fact->verdict, .seconds = cell_seconds(&cell, fact)};
        return 0;
}

static int seeds_step(struct query *query, struct job *j, void **state, struct value **ret)
{
        struct seeds_query *q = (struct seeds_query *)query;
        struct seeds_state *s = *state;
        json_t *result;
        int r;

        if (!s) {
                *state = s = calloc(1, sizeof(*s));
                if (!s)
                        return -ENOMEM;
                s->query = q;
                return job_ask_many(
                        j,
                        &(struct asking){.n = 2 * (size_t)SEEDS_MOST, .make = seeds_make, .answered = seeds_answered, .user = s});
        }
        result = result_of(s);
        r = result ? study_value_put(q->workspace, &query->key, result) : -ENOMEM;
        if (r == 0) {
                *ret = study_value_new(query->type, result);
                r = *ret ? 0 : -ENOMEM;
        }
        json_decref(result);
        return r;
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

static void seeds_free(struct query *query)
{
        struct seeds_query *q = (struct seeds_query *)query;

        for (unsigned i = 0; i < 2; i++)
                version_free(q->versions[i]);
        case_info_unref(q->info);
        free(q);
}

const struct query_type query_seeds_type = {
        .name = "seeds",
        .resource = RESOURCE_STEP,
        .find = seeds_find,
        .step = seeds_step,
        .free_state = free,
        .describe = seeds_describe,
        .gone = seeds_gone,
        .free_query = seeds_free,
        .free_value = study_value_free,
};

int finding_threshold(struct workspace *w, const struct finding *f, double *ret)
{
        cleanup_campaign_settings struct campaign_settings settings = {0};
        int r = campaign_get(w, f->solver, f->campaign, &settings, NULL);

        *ret = r == 0 ? settings.threshold : f->timeout / 2;
        return r == -ENOENT ? 0 : r;
}

int query_seeds(struct workspace *w, struct solver *s, const struct finding *f, struct query **ret)
{
        struct seeds_query *q;
        int r;

        if (!finding_has_seeds(s, f))
                return errorf(-ENODATA, s->recipe->seed ? "finding %u is between programs that solverfs sets no seed of"
                                                        : "finding %u has no seeds: the recipe has no 'seed'",
                              f->number);
        q = calloc(1, sizeof(*q));
        if (!q)
                return -ENOMEM;
        q->query = (struct query){.type = &query_seeds_type, .refs = 1};
        q->workspace = w;
        q->timeout = f->timeout;
        q->is_cpu_time = f->is_cpu_time;
        r = finding_threshold(w, f, &q->threshold);
        if (r == 0)
                r = version_parse(w, s, f->reference, &q->versions[0]);
        if (r == 0)
                r = version_parse(w, s, f->target, &q->versions[1]);
        if (r == 0)
                r = cases_get(workspace_cases(w), f->case_id, &q->info);
        if (r < 0) {
                seeds_free(&q->query);
                return r;
        }
        seeds_key(q, &q->query.key);
        *ret = &q->query;
        return 0;
}

/* -- looking -- */

static void add_run(const json_t *run, struct buffer *ret)
{
        buffer_addf(ret, "\t%s\t%.6f", json_string_value(json_object_get(run, "result")),
                    json_number_value(json_object_get(run, "seconds")));
}

int seeds_print(const json_t *result, struct buffer *ret)
{
        const json_t *list = json_object_get(result, "seeds");

        buffer_adds(ret, "seed\treference-result\treference-time\ttarget-result\ttarget-time\treproduces\n");
        for (size_t i = 0; i < json_array_size(list); i++) {
                const json_t *row = json_array_get(list, i);

                buffer_addf(ret, "%d", (int)json_integer_value(json_object_get(row, "seed")));
                add_run(json_object_get(row, "reference"), ret);
                add_run(json_object_get(row, "target"), ret);
                buffer_addf(ret, "\t%s\n", json_is_true(json_object_get(row, "reproduces")) ? "yes" : "no");
        }
        return buffer_error(ret);
}

unsigned seeds_reproduced(const json_t *result)
{
        const json_t *list = json_object_get(result, "seeds");
        unsigned n = 0;

        for (size_t i = 0; i < json_array_size(list); i++)
                n += json_is_true(json_object_get(json_array_get(list, i), "reproduces"));
        return n;
}

unsigned seeds_bin(unsigned reproduced)
{
        return reproduced == 0 ? 0 : reproduced == SEEDS_MOST ? SEEDS_BINS - 1 : 1 + reproduced / 10;
}

const char *seeds_bin_name(unsigned bin)
{
        static const char *const names[SEEDS_BINS] = {"0", "1-9", "10-19", "20-29", "30"};

        return names[bin];
}
