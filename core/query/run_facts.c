/* Keys of runs, and the facts that answer them. */
#include "core/query/answers.h"
#include "core/query/program_runs.h"
#include "core/query/machines.h"
#include "core/query/same_program.h"

#include "core/run/host.h"

/* Facts stand under their run key by their limits, in numeric order. Older ones have no process limit in their key, or no stack; they are
 * found by looking at all that stands under the run key. */
void fact_key(const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *limits, uint8_t ret[FACT_KEY_SIZE])
{
        memcpy(ret, run, RUN_KEY_SIZE);
        key_u64(ret + RUN_KEY_SIZE, limits->wall_ns);
        key_u64(ret + RUN_KEY_SIZE + 8, limits->cpu_ns);
        key_u64(ret + RUN_KEY_SIZE + 16, limits->memory);
        key_u64(ret + RUN_KEY_SIZE + 24, limits->output);
        key_u64(ret + RUN_KEY_SIZE + 32, limits->processes);
        key_u64(ret + RUN_KEY_SIZE + 40, limits->stack);
}

void cell_limits(const struct cell *cell, struct recipe_limits *ret)
{
        *ret = cell->solver->recipe->limits;
        if (cell->wall_ns > 0) {
                if (ret->cpu_ns == ret->wall_ns) /* a CPU limit that only follows the wall clock goes on following it */
                        ret->cpu_ns = cell->wall_ns;
                ret->wall_ns = cell->wall_ns;
        }
        if (cell->cpu_ns > 0) {
                ret->cpu_ns = cell->cpu_ns;
                ret->wall_ns = CPU_PATIENCE * cell->cpu_ns;
        }
}

double cell_seconds(const struct cell *cell, const struct fact *f)
{
        if (cell->cpu_ns == 0)
                return fact_seconds(f);
        return (double)(f->verdict == VERDICT_TIMEOUT ? cell->cpu_ns : f->cpu_ns) / NSEC_PER_SEC;
}

bool cell_machine(const struct cell *cell, char ret[PATH_SIZE])
{
        struct run_place *place = cell->solver->place;

        if (!cell->machine && place)
                return place_machine(place, ret);
        snprintf(ret, PATH_SIZE, "%s", cell->machine ? cell->machine : host_machine());
        return true;
}

static void run_digest(const struct cell *cell, struct digest *ret)
{
        struct recipe_limits limits;
        char machine[PATH_SIZE];
        struct digest recipe;
        struct hasher *h;

        cell_limits(cell, &limits);
        recipe_run_digest(cell->solver->recipe, cell->has_seed, cell->seed, &limits, &recipe);
        h = hasher_new();
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        cell_machine(cell, machine);
        hasher_string(h, machine);
        hasher_finish(h, ret);
}

void run_key_of(const struct digest *program, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        struct digest run;

        run_digest(cell, &run);
        memcpy(ret, program->bytes, DIGEST_SIZE);
        memcpy(ret + DIGEST_SIZE, cell->info->sha256.bytes, DIGEST_SIZE);
        memcpy(ret + 2 * DIGEST_SIZE, run.bytes, DIGEST_SIZE);
}

/* As it was when it began with the build's key, and the environment was only in that. */
void run_key_before(const struct digest *build, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        static char *none[] = {NULL};
        struct recipe recipe = *cell->solver->recipe;
        struct solver solver = {.recipe = &recipe};
        struct cell before = *cell;

        recipe.environment = none;
        before.solver = &solver;
        run_key_of(build, &before, ret);
}

/* The key of a cell whose build's key is known. */
static int run_key_built(struct workspace *w, const struct digest *build, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        struct digest program;
        int r = build_program_find(w, build, &program);

        if (r == 0)
                run_key_of(&program, cell, ret);
        return r;
}

static int build_key_of(const struct cell *cell, struct digest *ret)
{
        return build_key(cell->solver->history, cell->commit, cell->solver->recipe, ret);
}

int run_key(struct workspace *w, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        cleanup_free struct digest *programs = NULL;
        struct digest build;
        size_t n;
        int r;

        if (cell->machine) {
                r = machine_programs(w, cell, &programs, &n);
                if (r == 0 && n > 0)
                        run_key_of(&programs[0], cell, ret);
                return r < 0 ? r : n > 0 ? 0 : -ENOENT;
        }
        r = build_key_of(cell, &build);
        return r < 0 ? r : run_key_built(w, &build, cell, ret);
}

/* -- what is known -- */

struct fact_search {
        const struct recipe_limits *asked; /* NULL: whatever it was measured under; the longest, which comes last */
        bool brief;
        struct fact *found; /* a ref */
};

static int fact_look(void *user, struct slice, struct slice value)
{
        struct fact_search *s = user;
        struct fact *f;

        if (fact_decode(value, s->brief, &f) < 0)
                return 0; /* it will be worked out again */
        if (s->asked && !fact_covers(f, s->asked)) {
                fact_unref(f);
                return 0;
        }
        fact_unref(s->found);
        s->found = f;
        return s->asked != NULL;
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
static int find_under(struct store_txn *t, const uint8_t run[RUN_KEY_SIZE], struct fact_search *search)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[FACT_KEY_SIZE];
        int r = -ENOENT;

        if (search->asked) {
                fact_key(run, search->asked, key);
                r = store_get(t, TABLE_FACTS, SLICE(key, sizeof(key)), &b);
        }
        if (r == 0)
                fact_look(search, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
        if (!search->found && (r == 0 || r == -ENOENT))
                r = store_each(t, TABLE_FACTS, SLICE(run, RUN_KEY_SIZE), SLICE("", 0), true, fact_look, search);
        return r < 0 ? r : 0;
}

/* The same under the digests that a program with several had before. */
static int find_under_others(struct store_txn *t, const uint8_t run[RUN_KEY_SIZE], struct fact_search *search)
{
        cleanup_free struct digest *others = NULL;
        uint8_t key[RUN_KEY_SIZE];
        struct digest program;
        size_t n;
        int r;

        memcpy(program.bytes, run, DIGEST_SIZE);
        memcpy(key, run, RUN_KEY_SIZE);
        r = program_others(t, &program, &others, &n);
        for (size_t i = 0; r == 0 && !search->found && i < n; i++) {
                memcpy(key, others[i].bytes, DIGEST_SIZE);
                r = find_under(t, key, search);
        }
        return r;
}

int fact_find(struct workspace *w, const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *asked, bool brief,
              struct fact **ret)
{
        struct fact_search search = {.asked = asked, .brief = brief};
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        if (r == 0)
                r = find_under(t, run, &search);
        if (r == 0 && !search.found)
                r = find_under_others(t, run, &search);
        if (r < 0)
                return r;
        if (!search.found)
                return -ENOENT;
        fact_clamp(search.found, asked);
        *ret = search.found;
        return 0;
}

int run_find_built(struct workspace *w, const struct digest *build, const struct cell *cell, bool brief, struct fact **ret)
{
        struct recipe_limits limits;
        uint8_t key[RUN_KEY_SIZE];
        int r = run_key_built(w, build, cell, key);

        if (r < 0)
                return r;
        cell_limits(cell, &limits);
        r = fact_find(w, key, &limits, brief, ret);
        if (r == 0 && answers_contradict(*ret, cell->info)) /* its status may have become known since */
                (*ret)->wrong = true;
        return r;
}

/* -- of another machine: memory is limited there as it may be -- */

static const struct recipe_limits *imported_limits(const struct cell *cell, struct recipe_limits *ret)
{
        cell_limits(cell, ret);
        ret->memory = 0;
        return cell->wall_ns > 0 ? ret : NULL;
}

static int imported_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret)
{
        cleanup_free struct digest *programs = NULL;
        struct recipe_limits limits;
        struct fact_search search = {.asked = imported_limits(cell, &limits), .brief = brief};
        struct store_txn *t = NULL;
        size_t n;
        int r = machine_programs(w, cell, &programs, &n);

        if (r == 0)
                r = store_read(workspace_store(w), &t);
        for (size_t i = 0; i < n && r == 0 && !search.found; i++) {
                uint8_t run[RUN_KEY_SIZE];

                run_key_of(&programs[i], cell, run);
                r = find_under(t, run, &search);
        }
        store_end(t);
        if (r == 0 && !search.found)
                r = -ENOENT;
        if (r < 0) {
                fact_unref(search.found);
                return r;
        }
        if (search.asked)
                fact_clamp(search.found, search.asked);
        search.found->wrong |= answers_contradict(search.found, cell->info);
        *ret = search.found;
        return 0;
}

int run_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret)
{
        struct digest build;
        int r;

        if (cell->machine)
                return imported_find(w, cell, brief, ret);
        r = build_key_of(cell, &build);
        return r < 0 ? r : run_find_built(w, &build, cell, brief, ret);
}

struct known {
        struct digest run;
        bool any_limits; /* `limits` do not count */
        struct recipe_limits limits;
        struct digest *cases; /* in byte order for each digest of the program, as the table is */
        size_t n;
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
        if (fact_decode(value, true, &f) < 0 || (!k->any_limits && !fact_covers(f, &k->limits)))
                return 0;
        if (list_grow(k->cases, k->n) < 0)
                return -ENOMEM;
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
        sort_list(ids, n, sizeof(*ids), number_compare);
        *ret_ids = ids;
        *ret_n = 0;
        for (size_t i = 0; i < n; i++) /* a case that is known under two digests is one */
                if (i == 0 || ids[i] != ids[i - 1])
                        ids[(*ret_n)++] = ids[i];
        return 0;
}

static int known_under(struct store_txn *t, const struct digest *program, struct known *k)
{
        return store_each(t, TABLE_FACTS, SLICE(program->bytes, DIGEST_SIZE), SLICE("", 0), true, known_look, k);
}

static int known_of_class(struct store_txn *t, const struct digest *program, struct known *k)
{
        cleanup_free struct digest *others = NULL;
        size_t n;
        int r = program_others(t, program, &others, &n);

        if (r == 0)
                r = known_under(t, program, k);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = known_under(t, &others[i], k);
        return r;
}

/* The programs whose results the cell's setting may have. */
static int known_programs(struct workspace *w, const struct cell *cell, struct digest **ret, size_t *ret_n)
{
        struct digest build;
        int r;

        if (cell->machine)
                return machine_programs(w, cell, ret, ret_n);
        r = build_key_of(cell, &build);
        *ret = r == 0 ? calloc(1, sizeof(**ret)) : NULL;
        if (r == 0 && !*ret)
                r = -ENOMEM;
        if (r == 0)
                r = build_program_find(w, &build, *ret);
        *ret_n = r == 0;
        return r == -ENOENT ? 0 : r;
}

int runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n)
{
        cleanup_free struct digest *programs = NULL;
        struct store_txn *t = NULL;
        struct known k = {0};
        size_t n = 0;
        int r = known_programs(w, cell, &programs, &n);

        *ret_ids = NULL;
        *ret_n = 0;
        if (r < 0 || n == 0)
                return r;
        run_digest(cell, &k.run);
        if (cell->machine)
                k.any_limits = !imported_limits(cell, &k.limits);
        else
                cell_limits(cell, &k.limits);
        r = store_read(workspace_store(w), &t);
        for (size_t i = 0; i < n && r == 0; i++)
                r = known_of_class(t, &programs[i], &k);
        store_end(t); /* before other tables are asked: transactions do not nest */
        if (r == 0)
                r = known_ids(w, &k, ret_ids, ret_n);
        free(k.cases);
        return r;
}

/* -- all of a program -------------------------------------------------------------------------------------------- */

struct reading {
        struct digest run;
        struct recipe_limits limits;
        program_run_fn fn;
        void *user;
        struct digest sha256; /* of the case at hand */
        struct fact *found;   /* a ref; its answer so far */
        bool is_exact;        /* measured under just these limits */
};

static int give_found(struct reading *r)
{
        cleanup(fact_unrefp) struct fact *f = steal_pointer(r->found);

        r->is_exact = false;
        if (!f)
                return 0;
        fact_clamp(f, &r->limits);
        return r->fn(r->user, &r->sha256, f);
}

static int read_look(void *user, struct slice key, struct slice value)
{
        const uint8_t *bytes = key.data;
        struct reading *r = user;
        uint8_t exact[FACT_KEY_SIZE];
        struct fact *f;
        int e;

        if (key.size < RUN_KEY_SIZE || memcmp(bytes + 2 * DIGEST_SIZE, r->run.bytes, DIGEST_SIZE) != 0)
                return 0;
        if (r->found && memcmp(bytes + DIGEST_SIZE, r->sha256.bytes, DIGEST_SIZE) != 0) {
                e = give_found(r);
                if (e != 0)
                        return e;
        }
        fact_key(bytes, &r->limits, exact);
        if (r->is_exact || (r->found && (key.size != FACT_KEY_SIZE || memcmp(bytes, exact, FACT_KEY_SIZE) != 0)))
                return 0;
        if (fact_decode(value, true, &f) < 0)
                return 0; /* it will be worked out again */
        if (!fact_covers(f, &r->limits)) {
                fact_unref(f);
                return 0;
        }
        fact_unref(r->found);
        r->found = f;
        r->is_exact = key.size == FACT_KEY_SIZE && memcmp(bytes, exact, FACT_KEY_SIZE) == 0;
        memcpy(r->sha256.bytes, bytes + DIGEST_SIZE, DIGEST_SIZE);
        return 0;
}

static int read_under(struct store_txn *t, const struct digest *program, struct reading *reading)
{
        int r = store_each(t, TABLE_FACTS, SLICE(program->bytes, DIGEST_SIZE), SLICE("", 0), true, read_look, reading);

        return r == 0 ? give_found(reading) : r;
}

int program_runs(struct workspace *w, const struct cell *cell, const struct digest *program, program_run_fn fn, void *user)
{
        struct reading reading = {.fn = fn, .user = user};
        cleanup_free struct digest *others = NULL;
        cleanup_txn struct store_txn *t = NULL;
        size_t n = 0;
        int r = store_read(workspace_store(w), &t);

        run_digest(cell, &reading.run);
        cell_limits(cell, &reading.limits);
        if (r == 0)
                r = program_others(t, program, &others, &n);
        if (r == 0)
                r = read_under(t, program, &reading);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = read_under(t, &others[i], &reading);
        fact_unref(reading.found);
        return r;
}
