/* Keys of runs and of their facts. The facts themselves: resolved_cell.c. */
#include "core/query/query_internal.h"

#include "core/build/era.h"
#include "core/run/host.h"

/* The facts of a run key are sorted by their limits, in numeric order. */
void fact_key(const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *limits, uint8_t ret[FACT_KEY_SIZE])
{
        memcpy(ret, run, RUN_KEY_SIZE);
        for (size_t i = 0; i < N_LIMITS; i++)
                key_u64(ret + RUN_KEY_SIZE + 8 * i, limit_list(limits)[i]);
}

const struct recipe *solver_recipe_at(const struct solver *s, uint32_t commit)
{
        return s->recipe->binary_has_own_run ? era_or_solver(s->history, s->recipe, commit) : s->recipe;
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
                if (ret->cpu_ns == ret->wall_ns) /* a CPU limit equal to the wall-clock limit stays equal to it */
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
        struct worker_pool *pool = cell->solver->pool;

        if (!cell->machine && pool)
                return pool_machine(pool, ret);
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

void join_run_key(const struct digest *program, const struct digest *case_id, const struct digest *setting, uint8_t ret[RUN_KEY_SIZE])
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

/* A timeout under a longer limit is a timeout at the asked limit, and took that long; with less CPU time, so much shorter. */
void fact_clamp(struct fact *f, const struct recipe_limits *asked)
{
        if (f->verdict != VERDICT_TIMEOUT)
                return;
        if (asked->cpu_ns > 0 && f->cpu_ns > asked->cpu_ns) {
                f->wall_ns = (uint64_t)((double)f->wall_ns * ((double)asked->cpu_ns / (double)f->cpu_ns));
                f->cpu_ns = asked->cpu_ns;
        }
        f->wall_ns = timeout_ns(f->wall_ns, asked);
}
