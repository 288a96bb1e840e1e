#include "core/study/reduce_runs.h"

#define TRIES 3 /* at a run that could not be tried */

struct seat {
        bool has_core;
        unsigned slot;
        cpu_set_t cpus;
        struct runner *runners[N_SIDES]; /* while it has a core */
};

struct reduce_runs {
        struct reduce_runs_options options;
        struct held programs[N_SIDES];
        char scratch[PATH_SIZE];
        struct seat *seats; /* owned */
        unsigned n_seats;
};

static void close_runners(struct seat *seat)
{
        for (int side = 0; side < N_SIDES; side++)
                seat->runners[side] = runner_close(seat->runners[side]);
}

static int open_runners(struct reduce_runs *r, struct seat *seat)
{
        const struct reduce_runs_options *o = &r->options;
        int k = 0;

        for (int side = 0; k == 0 && side < N_SIDES; side++) {
                const struct version *version = o->versions[side];

                if (version)
                        k = runner_open(&(struct runner_options){.recipe = version->solver->recipe,
                                                                 .programs = r->programs[side].list,
                                                                 .n_programs = r->programs[side].n,
                                                                 .limits = version->solver->recipe->limits,
                                                                 .scratch_parent = r->scratch,
                                                                 .has_seed = o->has_seed,
                                                                 .seed = o->seed,
                                                                 .sandbox = workspace_settings(o->workspace)->sandbox,
                                                                 .cpus = &seat->cpus,
                                                                 .slot = seat->slot},
                                        &seat->runners[side]);
        }
        return k;
}

/* The job's own core, which is the first seat's. */
static int sit_down(struct reduce_runs *r)
{
        struct seat *seat = &r->seats[0];

        seat->cpus = *job_cpus(r->options.job);
        seat->slot = job_slot(r->options.job);
        seat->has_core = true;
        return open_runners(r, seat);
}

int reduce_runs_begin(struct reduce_runs *r)
{
        int k = job_give_way(r->options.job);

        if (k <= 0)
                return k;
        close_runners(&r->seats[0]);
        return sit_down(r);
}

static void stand_up(struct reduce_runs *r, struct seat *seat)
{
        close_runners(seat);
        job_drop_slot(r->options.job, seat->slot);
        seat->has_core = false;
}

int reduce_runs_ready(struct reduce_runs *r, unsigned number, bool has_work)
{
        struct seat *seat = &r->seats[number];
        int k;

        if (seat->has_core && job_is_pressed(r->options.job))
                stand_up(r, seat);
        if (seat->has_core || !has_work)
                return seat->has_core;
        k = job_add_slot(r->options.job, &seat->slot, &seat->cpus);
        if (k < 0)
                return k == -EAGAIN ? 0 : k;
        seat->has_core = true;
        k = open_runners(r, seat);
        return k < 0 ? k : 1;
}

int reduce_runs_run(struct reduce_runs *r, unsigned seat, enum reduce_side side, struct slice text, double cpu, double wall,
                    int cancel_fd, struct run_result *ret)
{
        struct recipe_limits limits = r->options.versions[side]->solver->recipe->limits;
        struct runner *runner = r->seats[seat].runners[side];
        int k = -EIO;

        limits.cpu_ns = (uint64_t)(cpu * 1e9);
        limits.wall_ns = (uint64_t)(wall * 1e9);
        runner_set_limits(runner, &limits);
        for (int tries = 0; k == -EIO && tries < TRIES; tries++)
                k = runner_run(runner, &(struct run_input){.bytes = text}, cancel_fd, ret);
        return k;
}

unsigned reduce_runs_n_seats(const struct reduce_runs *r)
{
        return r->n_seats;
}

struct reduce_runs *reduce_runs_close(struct reduce_runs *r)
{
        if (!r)
                return NULL;
        for (unsigned i = 0; r->seats && i < r->n_seats; i++) {
                close_runners(&r->seats[i]);
                if (i > 0 && r->seats[i].has_core)
                        job_drop_slot(r->options.job, r->seats[i].slot);
        }
        for (int side = 0; side < N_SIDES; side++)
                held_done(&r->programs[side]);
        free(r->seats);
        free(r);
        return NULL;
}

int reduce_runs_open(const struct reduce_runs_options *options, struct reduce_runs **ret)
{
        struct reduce_runs *r = calloc(1, sizeof(*r));
        struct engine_counters counters;
        int k;

        if (!r)
                return -ENOMEM;
        engine_counters(job_engine(options->job), &counters);
        r->options = *options;
        r->n_seats = options->seats > 0 ? MIN(options->seats, counters.slots) : counters.slots;
        r->seats = calloc(r->n_seats, sizeof(*r->seats));
        k = r->seats ? path_join(r->scratch, workspace_dir(options->workspace), "scratch") : -ENOMEM;
        for (int side = 0; k == 0 && side < N_SIDES; side++)
                if (options->versions[side])
                        k = version_hold(options->workspace, options->versions[side], &r->programs[side]);
        if (k == 0)
                k = sit_down(r);
        if (k < 0)
                reduce_runs_close(r);
        else
                *ret = r;
        return k;
}
