#include "runs.h"

#include <pthread.h>

#include "bench.h"

static struct recipe *recipe; /* kept until the process ends */

static void read_recipe(void)
{
        static const char text[] = "[solver]\n build = true\n output = bench\n run = {bin} {case}\n samples = 1\n";
        struct recipe **list = NULL;
        size_t n = 0;

        if (recipe_parse(text, "recipe", "bench", &list, &n) < 0)
                return;
        recipe = recipe_ref(list[0]);
        recipe_list_free(list, n);
}

int runs_open(const struct runs_options *o, struct runner **ret)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        static char scratch[PATH_SIZE];
        const struct run_program p = {.path = o->program, .name = "bench"};
        int r = path_join(scratch, bench.dir, "runs");

        pthread_once(&once, read_recipe);
        if (r == 0)
                r = recipe ? make_dirs(scratch, 0700) : -ENOMEM;
        if (r < 0)
                return r;
        *ret = runner_open(
                &(struct runner_options){.recipe = recipe,
                                         .programs = &p,
                                         .n_programs = 1,
                                         .limits = {.wall_ns = 60 * NSEC_PER_SEC, .memory = UINT64_C(2) << 30, .output = 4096},
                                         .scratch_parent = scratch,
                                         .sandbox = o->sandbox,
                                         .cpus = o->cpus,
                                         .fresh = o->fresh,
                                         .remote = o->remote});
        return 0;
}

int runs_once(struct runner *r, double *ret_wall)
{
        struct run_result result = {0};
        int k = runner_run(r, &(struct run_input){.bytes = slice_string("(check-sat)\n")}, -1, &result);

        if (k == 0 && (result.run.end != END_EXIT || result.run.code != 0))
                k = errorf(-EIO, "a run ended with %d, %d", result.run.end, result.run.code);
        if (ret_wall)
                *ret_wall = (double)result.run.wall_ns / 1e9;
        run_result_done(&result);
        return k;
}

int runs_measure(void *runner, double *ret)
{
        double began = bench_now();
        int r = 0;

        for (unsigned i = 0; r == 0 && i < RUNS; i++)
                r = runs_once(runner, NULL);
        *ret = (bench_now() - began) / RUNS;
        return r;
}
