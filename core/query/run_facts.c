/* Keys of runs and of their facts. The facts themselves: run_finder.c. */
#include "core/query/run_finder.h"
#include "core/query/machines.h"
#include "core/query/same_program.h"

#include "core/build/era.h"
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

const struct recipe *solver_recipe_at(const struct solver *s, uint32_t commit)
{
        return s->recipe->has_calls ? era_or_solver(s->history, s->recipe, commit) : s->recipe;
}

static const struct recipe *recipe_of(const struct cell *cell)
{
        return solver_recipe_at(cell->solver, cell->commit);
}

uint32_t cell_draw(struct cell *cell, uint32_t n)
{
        if (n == 0 || !recipe_of(cell)->seed)
                return n;
        cell->has_seed = true;
        cell->seed += n;
        return 0;
}

void cell_set_timeout(struct cell *cell, bool is_cpu_time, uint64_t timeout_ns)
{
        const struct recipe_limits *limits = &recipe_of(cell)->limits;

        if (is_cpu_time)
                cell->cpu_ns = timeout_ns ?: limits->cpu_ns ?: limits->wall_ns;
        else
                cell->wall_ns = timeout_ns;
}

void cell_limits(const struct cell *cell, struct recipe_limits *ret)
{
        *ret = recipe_of(cell)->limits;
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

void run_setting_digest(const struct cell *cell, struct digest *ret)
{
        struct recipe_limits limits;
        char machine[PATH_SIZE];
        struct digest recipe;
        struct hasher *h;

        cell_limits(cell, &limits);
        recipe_run_digest(recipe_of(cell), cell->has_seed, cell->seed, &limits, &recipe);
        h = hasher_new();
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        cell_machine(cell, machine);
        hasher_string(h, machine);
        hasher_finish(h, ret);
}

static void join_run_key(const struct digest *program, const struct digest *case_id, const struct digest *setting, uint8_t ret[RUN_KEY_SIZE])
{
        memcpy(ret, program->bytes, DIGEST_SIZE);
        memcpy(ret + DIGEST_SIZE, case_id->bytes, DIGEST_SIZE);
        memcpy(ret + 2 * DIGEST_SIZE, setting->bytes, DIGEST_SIZE);
}

void run_key_of(const struct digest *program, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        struct digest run;

        run_setting_digest(cell, &run);
        join_run_key(program, &cell->info->sha256, &run, ret);
}

/* -- resolved ------------------------------------------------------------------------------------------------------ */

static int find_programs(struct workspace *w, const struct digest *build, const struct cell *cell, struct resolved_cell *ret)
{
        int r = 0;

        if (cell->machine)
                return machine_programs(w, cell, &ret->programs, &ret->n_programs);
        if (build)
                ret->build = *build;
        else
                r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &ret->build);
        ret->programs = r == 0 ? allocate(1, sizeof(*ret->programs)) : NULL;
        if (r == 0)
                r = build_program_find(w, &ret->build, ret->programs);
        ret->n_programs = r == 0;
        return r == -ENOENT ? 0 : r;
}

int cell_resolve(struct workspace *w, const struct cell *cell, const struct digest *build, struct resolved_cell *ret)
{
        char machine[PATH_SIZE];

        *ret = (struct resolved_cell){.knows_machine = cell_machine(cell, machine)};
        run_setting_digest(cell, &ret->setting);
        cell_limits(cell, &ret->limits);
        if (cell->machine) { /* memory is limited there as it may be */
                ret->limits.memory = 0;
                ret->any_limits = cell->wall_ns == 0;
        }
        return find_programs(w, build, cell, ret);
}

void resolved_done(struct resolved_cell *r)
{
        free(r->programs);
        *r = (struct resolved_cell){0};
}

void resolved_run_key(const struct resolved_cell *r, const struct case_info *info, uint8_t ret[RUN_KEY_SIZE])
{
        join_run_key(&r->programs[0], &info->sha256, &r->setting, ret);
}

int run_key(struct workspace *w, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE])
{
        cleanup_resolved struct resolved_cell resolved = {0};
        int r = cell_resolve(w, cell, NULL, &resolved);

        if (r == 0 && resolved.n_programs == 0)
                r = -ENOENT;
        if (r == 0)
                resolved_run_key(&resolved, cell->info, ret);
        return r;
}

/* A timeout under a longer limit is a timeout at the asked one, and then took that long. */
void fact_clamp(struct fact *f, const struct recipe_limits *asked)
{
        if (f->verdict != VERDICT_TIMEOUT)
                return;
        f->wall_ns = MIN(f->wall_ns, asked->wall_ns);
        f->cpu_ns = MIN(f->cpu_ns, asked->cpu_ns);
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

        run_setting_digest(cell, &reading.run);
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
