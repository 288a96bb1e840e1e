/* Query run: one commit on one case. */
#include "query.h"

#include "measure.h"

struct run_query {
        struct query query;
        struct cell cell; /* owns refs on solver and case */
        struct digest build_key;
        uint8_t key[RUN_KEY_SIZE];
        struct recipe_limits limits;
};

/* Facts stand under their run key by their limits, in numeric order. Older ones have no process limit in their key; they are found by
 * looking at all that stands under the run key. */
#define FACT_KEY_SIZE (RUN_KEY_SIZE + 5 * 8)

static void fact_key(const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *limits, uint8_t ret[FACT_KEY_SIZE])
{
        memcpy(ret, run, RUN_KEY_SIZE);
        key_u64(ret + RUN_KEY_SIZE, limits->wall_ns);
        key_u64(ret + RUN_KEY_SIZE + 8, limits->cpu_ns);
        key_u64(ret + RUN_KEY_SIZE + 16, limits->memory);
        key_u64(ret + RUN_KEY_SIZE + 24, limits->output);
        key_u64(ret + RUN_KEY_SIZE + 32, limits->processes);
}

void cell_limits(const struct cell *cell, struct recipe_limits *ret)
{
        *ret = cell->solver->recipe->limits;
        if (cell->wall_ns > 0) {
                if (ret->cpu_ns == ret->wall_ns) /* a CPU limit that only follows the wall clock goes on following it */
                        ret->cpu_ns = cell->wall_ns;
                ret->wall_ns = cell->wall_ns;
        }
}

static void run_digest(const struct cell *cell, struct digest *ret)
{
        struct recipe_limits limits;
        struct digest recipe;
        struct hasher *h;

        cell_limits(cell, &limits);
        recipe_run_digest(cell->solver->recipe, cell->has_seed, cell->seed, &limits, &recipe);
        h = hasher_new();
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        hasher_string(h, host_machine());
        hasher_finish(h, ret);
}

int run_key(struct workspace *, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        struct digest build, run;
        int r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &build);

        if (r < 0)
                return r;
        run_digest(cell, &run);
        memcpy(ret, build.bytes, DIGEST_SIZE);
        memcpy(ret + DIGEST_SIZE, cell->info->sha256.bytes, DIGEST_SIZE);
        memcpy(ret + 2 * DIGEST_SIZE, run.bytes, DIGEST_SIZE);
        return 0;
}

/* -- what is known -- */

struct fact_search {
        const struct recipe_limits *asked;
        bool brief;
        struct fact *found; /* a ref */
};

static int fact_look(void *user, struct slice, struct slice value)
{
        struct fact_search *s = user;
        struct fact *f;

        if (fact_decode(value, s->brief, &f) < 0)
                return 0; /* it will be worked out again */
        if (!fact_covers(f, s->asked)) {
                fact_unref(f);
                return 0;
        }
        s->found = f;
        return 1;
}

/* A timeout under a longer limit is a timeout at the asked one, and then took that long. */
static void fact_clamp(struct fact *f, const struct recipe_limits *asked)
{
        if (f->verdict != VERDICT_TIMEOUT)
                return;
        f->wall_ns = MIN(f->wall_ns, asked->wall_ns);
        f->cpu_ns = MIN(f->cpu_ns, asked->cpu_ns);
}

/* The fact measured under just these limits, else the first one that covers them. */
static int fact_find(struct workspace *w, const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *asked, bool brief,
                     struct fact **ret)
{
        struct fact_search search = {.asked = asked, .brief = brief};
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        uint8_t key[FACT_KEY_SIZE];
        int r = store_read(workspace_store(w), &t);

        if (r < 0)
                return r;
        fact_key(run, asked, key);
        r = store_get(t, TABLE_FACTS, SLICE(key, sizeof(key)), &b);
        if (r == 0)
                fact_look(&search, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
        if (!search.found && (r == 0 || r == -ENOENT))
                r = store_each(t, TABLE_FACTS, SLICE(run, RUN_KEY_SIZE), SLICE("", 0), true, fact_look, &search);
        if (r < 0)
                return r;
        if (!search.found)
                return -ENOENT;
        fact_clamp(search.found, asked);
        *ret = search.found;
        return 0;
}

int run_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret)
{
        struct recipe_limits limits;
        uint8_t key[RUN_KEY_SIZE];
        int r = run_key(w, cell, key);

        if (r < 0)
                return r;
        cell_limits(cell, &limits);
        return fact_find(w, key, &limits, brief, ret);
}

struct known {
        struct digest run;
        struct recipe_limits limits;
        struct digest *cases; /* in byte order, as the table is */
        size_t n, capacity;
};

static int known_look(void *user, struct slice key, struct slice value)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct known *k = user;
        struct digest sha256;

        if (key.size < RUN_KEY_SIZE || memcmp((const uint8_t *)key.data + 2 * DIGEST_SIZE, k->run.bytes, DIGEST_SIZE) != 0)
                return 0;
        memcpy(sha256.bytes, (const uint8_t *)key.data + DIGEST_SIZE, DIGEST_SIZE);
        if (k->n > 0 && digest_equal(&k->cases[k->n - 1], &sha256)) /* another fact of the same cell */
                return 0;
        if (fact_decode(value, true, &f) < 0 || !fact_covers(f, &k->limits))
                return 0;
        if (k->n == k->capacity) {
                size_t capacity = MAX(k->capacity * 2, (size_t)64);
                struct digest *cases = realloc(k->cases, capacity * sizeof(*cases));

                if (!cases)
                        return -ENOMEM;
                k->cases = cases;
                k->capacity = capacity;
        }
        k->cases[k->n++] = sha256;
        return 0;
}

static int number_compare(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return x < y ? -1 : x > y;
}

/* The ids of the cases found, without removed ones. */
static int known_ids(struct workspace *w, const struct known *k, uint32_t **ret_ids, size_t *ret_n)
{
        uint32_t *ids = calloc(k->n + 1, sizeof(*ids));
        size_t n = 0;

        if (!ids)
                return -ENOMEM;
        for (size_t i = 0; i < k->n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_find_digest(workspace_cases(w), &k->cases[i], &info) == 0 && !info->removed)
                        ids[n++] = info->id;
        }
        qsort(ids, n, sizeof(*ids), number_compare);
        *ret_ids = ids;
        *ret_n = n;
        return 0;
}

int runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n)
{
        struct known k = {0};
        struct store_txn *t = NULL;
        struct digest build;
        int r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &build);

        if (r < 0)
                return r;
        run_digest(cell, &k.run);
        cell_limits(cell, &k.limits);
        r = store_read(workspace_store(w), &t);
        if (r == 0)
                r = store_each(t, TABLE_FACTS, SLICE(build.bytes, DIGEST_SIZE), SLICE("", 0), true, known_look, &k);
        store_end(t); /* before other tables are asked: transactions do not nest */
        if (r == 0)
                r = known_ids(w, &k, ret_ids, ret_n);
        free(k.cases);
        return r;
}

/* -- the query -- */

static struct value *run_value_new(struct fact *fact, struct build_record *failed)
{
        struct run_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = &query_run_type, .refs = 1};
        v->fact = fact ? fact_ref(fact) : NULL;
        v->build = failed ? build_record_ref(failed) : NULL;
        return &v->value;
}

static void run_value_free(struct value *value)
{
        struct run_value *v = (struct run_value *)value;

        fact_unref(v->fact);
        build_record_unref(v->build);
        free(v);
}

static int run_query_find(struct workspace *w, struct query *query, struct value **ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = fact_find(w, q->key, &q->limits, false, &f);

        if (r == -ENOENT) { /* a commit that cannot be built is an answer, too */
                r = build_find(w, q->cell.solver, q->cell.commit, false, &record);
                if (r == 0 && record->ok)
                        r = -ENOENT;
        }
        if (r < 0)
                return r;
        *ret = run_value_new(f, record);
        return *ret ? 0 : -ENOMEM;
}

static int run_query_need(struct workspace *w, struct query *query, struct query **ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(query_unrefp) struct query *build = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r = query_build(w, q->cell.solver, q->cell.commit, &build);

        if (r < 0)
                return r;
        r = build->type->find(w, build, &v);
        if (r == -ENOENT) {
                *ret = steal_pointer(build);
                r = 0;
        }
        return r;
}

/* NULL when there is no memory left. */
static json_t *run_about(const struct run_query *q, const struct build_record *record)
{
        cleanup_buffer struct buffer name = {0}, logic = {0};

        const struct case_info *info = q->cell.info;
        char sha[DIGEST_HEX_SIZE], build[DIGEST_HEX_SIZE], built[GIT_OID_HEXSZ + 1];
        struct commit c = {0};

        buffer_add_printable(&name, info->name); /* any bytes but NUL, and JSON is UTF-8 */
        buffer_add_printable(&logic, info->logic);
        if (buffer_error(&name) < 0 || buffer_error(&logic) < 0)
                return NULL;
        digest_hex(&info->sha256, sha);
        digest_hex(&q->build_key, build);
        git_oid_tostr(built, sizeof(built), &record->commit);
        history_commit(q->cell.solver->history, q->cell.commit, &c);
        return json_pack("{ss ss ss s{si ss ss ss} s{ss ss sb}}", "solver", q->cell.solver->recipe->name, "repository",
                         q->cell.solver->repository, "commit", git_oid_tostr_s(&c.oid), "case", "id", (int)info->id, "name",
                         name.data, "sha256", sha, "logic", logic.data, "build", "key", build, "commit", built, "clean",
                         (int)record->clean);
}

static void duration_key(const struct run_query *q, char ret[128])
{
        snprintf(ret, 128, "duration/run/%u/%u", q->cell.solver->number, q->cell.info->id);
}

/* Wrong answers matter more than any time: they are listed by themselves, until measured again and found right. */
#define WRONG_PREFIX "wrong/"

static void wrong_describe(const struct run_query *q, const struct fact *f, char ret[256])
{
        struct commit c = {0};

        history_commit(q->cell.solver->history, q->cell.commit, &c);
        snprintf(ret, 256, "%s %.12s case %u: %s, expected %s", q->cell.solver->recipe->name, git_oid_tostr_s(&c.oid),
                 q->cell.info->id, verdict_name(f->verdict), verdict_name(q->cell.info->status));
}

static void wrong_note(struct store_txn *t, const struct run_query *q, const struct fact *f, const char *line)
{
        char key[sizeof(WRONG_PREFIX) + DIGEST_HEX_SIZE], hex[DIGEST_HEX_SIZE];

        digest_hex(&q->query.key, hex);
        snprintf(key, sizeof(key), WRONG_PREFIX "%s", hex);
        if (f->wrong) {
                store_put(t, TABLE_META, slice_string(key), SLICE(line, strlen(line) + 1));
                log_warning("wrong answer: %s", line);
        } else if (store_has(t, TABLE_META, slice_string(key)))
                store_delete(t, TABLE_META, slice_string(key));
}

struct wrong_each {
        int (*fn)(void *user, const char *line);
        void *user;
};

static int wrong_look(void *user, struct slice, struct slice value)
{
        struct wrong_each *e = user;

        return value.size > 0 && ((const char *)value.data)[value.size - 1] == '\0' ? e->fn(e->user, value.data) : 0;
}

int wrong_answers(struct workspace *w, int (*fn)(void *user, const char *line), void *user)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r
                     : store_each(t, TABLE_META, slice_string(WRONG_PREFIX), SLICE("", 0), true, wrong_look,
                                  &(struct wrong_each){.fn = fn, .user = user});
}

#define REMEASURED_KEY "remeasured"

static uint64_t number_of(const struct blob *b)
{
        return b->size == 8 ? key_get_u64(b->data) : 0;
}

static void remeasured_key(uint64_t number, char ret[64])
{
        snprintf(ret, 64, "remeasured/%016llx", (unsigned long long)number); /* in order of number */
}

static void remeasured_note(struct store_txn *t, const struct run_query *q)
{
        struct remeasured entry;
        cleanup_blob struct blob b = {0};
        uint8_t bytes[8];
        uint64_t number;
        char key[64];

        memset(&entry, 0, sizeof(entry)); /* stored with its padding */
        entry.solver = q->cell.solver->number;
        entry.info = q->cell.info->id;
        entry.has_seed = q->cell.has_seed;
        entry.seed = q->cell.seed;
        entry.wall_ns = q->cell.wall_ns;
        entry.build = q->build_key;
        store_get(t, TABLE_META, slice_string(REMEASURED_KEY), &b);
        number = number_of(&b) + 1;
        key_u64(bytes, number);
        store_put(t, TABLE_META, slice_string(REMEASURED_KEY), SLICE(bytes, sizeof(bytes)));
        remeasured_key(number, key);
        store_put(t, TABLE_META, slice_string(key), SLICE(&entry, sizeof(entry)));
        if (number > REMEASURED_KEPT) {
                remeasured_key(number - REMEASURED_KEPT, key);
                store_delete(t, TABLE_META, slice_string(key));
        }
}

int runs_remeasured_since(struct workspace *w, uint64_t since, void (*fn)(void *user, const struct remeasured *r), void *user)
{
        uint64_t last = runs_remeasured(w);

        for (uint64_t i = MAX(since, last > REMEASURED_KEPT ? last - REMEASURED_KEPT : 0) + 1; i <= last; i++) {
                cleanup_blob struct blob b = {0};
                struct remeasured entry;
                char key[64];
                int r;

                remeasured_key(i, key);
                r = store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (r < 0 || b.size != sizeof(entry))
                        continue;
                memcpy(&entry, b.data, sizeof(entry));
                fn(user, &entry);
        }
        return 0;
}

uint64_t runs_remeasured(struct workspace *w)
{
        cleanup_blob struct blob b = {0};

        store_fetch(workspace_store(w), TABLE_META, slice_string(REMEASURED_KEY), &b);
        return number_of(&b);
}

struct fact_to_put {
        const struct run_query *query;
        const struct fact *fact;
        struct digest source;
        bool has_source;
        struct slice encoded;
        char wrong[256];
};

static int fact_put_in(void *user, struct store_txn *t)
{
        struct fact_to_put *p = user;
        const struct cell *cell = &p->query->cell;
        const struct fact *f = p->fact;
        uint8_t key[FACT_KEY_SIZE], duration[8];
        char name[128];
        int r;

        fact_key(p->query->key, &f->limits, key);
        r = store_put(t, TABLE_FACTS, SLICE(key, sizeof(key)), p->encoded);
        if (r == 0 && p->has_source)
                r = history_keep_source(cell->solver->history, t, cell->commit, cell->solver->recipe->paths, &p->source);
        if (r < 0)
                return r;
        duration_key(p->query, name);
        key_u64(duration, f->wall_ns);
        store_put(t, TABLE_META, slice_string(name), SLICE(duration, sizeof(duration)));
        wrong_note(t, p->query, f, p->wrong);
        if (f->remeasured > 0)
                remeasured_note(t, p->query);
        return 0;
}

static int fact_put(struct workspace *w, const struct run_query *q, const struct fact *f)
{
        struct fact_to_put p = {.query = q, .fact = f};
        cleanup_buffer struct buffer b = {0};
        int r = fact_encode(f, &b);

        if (r < 0)
                return r;
        p.encoded = SLICE(b.data, b.size);
        p.has_source = history_source(q->cell.solver->history, q->cell.commit, q->cell.solver->recipe->paths, &p.source) == 0;
        wrong_describe(q, f, p.wrong); /* before the transaction: it reads the store */
        return store_update(workspace_store(w), fact_put_in, &p);
}

static uint64_t run_query_estimate(struct workspace *w, const struct query *query)
{
        cleanup_blob struct blob b = {0};
        char key[128];

        duration_key((const struct run_query *)query, key);
        return store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b) == 0 ? number_of(&b) : 0;
}

/* The programs of a build, each held in the folder while the run lasts. */
struct held {
        int fds[RECIPE_OUTPUTS_MAX];
        char (*paths)[PATH_SIZE];
        const char *more[RECIPE_OUTPUTS_MAX];
        size_t n;
};

static void held_done(struct held *h)
{
        for (size_t i = 0; i < h->n; i++)
                close(h->fds[i]);
        free(h->paths);
}

static int held_get(struct workspace *w, const struct build_record *record, struct held *h)
{
        if (record->n_outputs > RECIPE_OUTPUTS_MAX)
                return errorf(-E2BIG, "the build has %zu outputs; at most %d are supported", record->n_outputs,
                              RECIPE_OUTPUTS_MAX);
        h->paths = calloc(record->n_outputs, sizeof(*h->paths));
        if (!h->paths)
                return -ENOMEM;
        for (size_t i = 0; i < record->n_outputs; i++) {
                int r = programs_get(workspace_programs(w), &record->outputs[i].id, &h->fds[i], h->paths[i]);

                if (r < 0)
                        return r;
                h->n++;
                if (i > 0)
                        h->more[i - 1] = h->paths[i];
        }
        return 0;
}

static int run_query_compute(struct workspace *w, struct query *query, struct job *j, struct value **ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        cleanup(held_done) struct held held = {0};
        cleanup_close int case_fd = -1;
        char case_path[PATH_SIZE], scratch[PATH_SIZE];
        json_t *about;
        int r = build_find(w, q->cell.solver, q->cell.commit, false, &record);

        if (r < 0)
                return r;
        if (!record->ok) {
                *ret = run_value_new(NULL, record);
                return *ret ? 0 : -ENOMEM;
        }
        r = held_get(w, record, &held);
        if (r == 0)
                r = cases_open_bytes(workspace_cases(w), q->cell.info, &case_fd, case_path);
        if (r == 0)
                r = path_join(scratch, workspace_dir(w), "scratch");
        if (r < 0)
                return r;
        about = run_about(q, record);
        if (!about)
                return -ENOMEM;
        r = measure(
                &(struct measure_request){
                        .recipe = q->cell.solver->recipe,
                        .limits = q->limits,
                        .program = held.paths[0],
                        .more_programs = held.more,
                        .program_name = record->outputs[0].name,
                        .case_path = case_path,
                        .expected = q->cell.info->expected,
                        .n_expected = q->cell.info->n_expected,
                        .has_seed = q->cell.has_seed,
                        .seed = q->cell.seed,
                        .scratch_parent = scratch,
                        .sandbox = workspace_settings(w)->sandbox,
                        .cpus = job_cpus(j),
                        .slot = job_slot(j),
                        .cancel_fd = job_cancel_fd(j),
                        .again = job_again(j),
                        .about = about,
                },
                &f);
        json_decref(about);
        if (r == 0)
                r = fact_put(w, q, f);
        if (r < 0)
                return r;
        *ret = run_value_new(f, NULL);
        return *ret ? 0 : -ENOMEM;
}

static void run_query_describe(struct workspace *, const struct query *query, struct buffer *ret)
{
        const struct run_query *q = (const struct run_query *)query;
        struct commit c;

        buffer_addf(ret, "run %s ", q->cell.solver->recipe->name);
        if (history_commit(q->cell.solver->history, q->cell.commit, &c) == 0)
                buffer_addf(ret, "%.12s ", git_oid_tostr_s(&c.oid));
        buffer_addf(ret, "case %u", q->cell.info->id);
        if (q->cell.has_seed)
                buffer_addf(ret, " seed %llu", (unsigned long long)q->cell.seed);
        if (q->cell.wall_ns > 0) {
                char text[32];

                format_duration(q->cell.wall_ns, text);
                buffer_addf(ret, " timeout %s", text);
        }
}

static void run_query_free(struct query *query)
{
        struct run_query *q = (struct run_query *)query;

        solver_unref(q->cell.solver);
        case_info_unref(q->cell.info);
        free(q);
}

const struct query_type query_run_type = {
        .name = "run",
        .resource = RESOURCE_CORE,
        .find = run_query_find,
        .need = run_query_need,
        .compute = run_query_compute,
        .describe = run_query_describe,
        .estimate = run_query_estimate,
        .free_query = run_query_free,
        .free_value = run_value_free,
};

int query_run(struct workspace *w, const struct cell *cell, struct query **ret)
{
        struct run_query *q;
        struct hasher *h;
        int r;

        if (cell->info->format != cell->solver->recipe->format)
                return errorf(-ENOENT, "case %u is %s, and %s takes %s", cell->info->id,
                              cell->info->format == FORMAT_CNF ? "DIMACS" : "SMT-LIB", cell->solver->recipe->name,
                              cell->solver->recipe->format == FORMAT_CNF ? "DIMACS" : "SMT-LIB");
        q = calloc(1, sizeof(*q));
        if (!q)
                return -ENOMEM;
        q->query = (struct query){.type = &query_run_type, .refs = 1};
        q->cell = *cell;
        solver_ref(q->cell.solver);
        case_info_ref(q->cell.info);
        cell_limits(cell, &q->limits);
        r = run_key(w, cell, q->key);
        memcpy(q->build_key.bytes, q->key, DIGEST_SIZE);
        if (r < 0) {
                run_query_free(&q->query);
                return r;
        }
        h = hasher_new();
        hasher_string(h, "run");
        hasher_add(h, q->key, sizeof(q->key));
        hasher_number(h, q->limits.wall_ns);
        hasher_number(h, q->limits.cpu_ns);
        hasher_number(h, q->limits.memory);
        hasher_number(h, q->limits.output);
        hasher_number(h, q->limits.processes);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}
