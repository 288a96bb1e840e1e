#include "core/study/reduce/reduce_runs.h"

#include <poll.h>

#include "core/cases/cases.h"
#include "core/query/place.h"
#include "core/study/reduce/reduction.h"

struct seat {
        bool has_core; /* or the slot `away` in its place */
        struct cluster_slot *away;
        unsigned slot;
        cpu_set_t cpus;
        struct runner *runners[N_SIDES]; /* while it has a core */
};

struct reduce_runs {
        struct job *job;
        const struct reduction_options *options; /* borrowed */
        const struct version *versions[N_SIDES];
        struct run_place *place; /* where the runs are done; NULL: here */
        struct held programs[N_SIDES];
        char scratch[PATH_SIZE];
        struct seat *seats; /* owned */
        unsigned n_seats;
        enum format format; /* of the input */
        uint64_t wall_ns; /* atomic; the longest that a run was allowed */
};

static void close_runners(struct seat *seat)
{
        for (int side = 0; side < N_SIDES; side++)
                seat->runners[side] = runner_close(seat->runners[side]);
}

/* It has a core, or a slot elsewhere. */
static int open_seat(struct reduce_runs *r, struct seat *seat)
{
        const struct reduction_options *o = r->options;
        int k = 0;

        seat->has_core = true;
        for (int side = 0; k == 0 && side < N_SIDES; side++) {
                cleanup(recipe_unrefp) struct recipe *recipe = NULL;

                if (!r->versions[side])
                        continue;
                recipe = recipe_for_format(r->versions[side]->solver->recipe, r->format);
                k = runner_open(&(struct runner_options){.recipe = recipe,
                                                         .programs = r->programs[side].list,
                                                         .n_programs = r->programs[side].n,
                                                         .limits = recipe->limits,
                                                         .scratch_parent = r->scratch,
                                                         .has_seed = o->has_seed,
                                                         .seed = o->seed,
                                                         .sandbox = workspace_settings(o->workspace)->sandbox,
                                                         .cpus = seat->away ? NULL : &seat->cpus,
                                                         .slot = seat->away ? 0 : seat->slot,
                                                         .away = seat->away ? cluster_slot_away(seat->away) : NULL},
                                &seat->runners[side]);
        }
        return k;
}

static bool is_cancelled(void *user)
{
        return fd_is_readable(job_cancel_fd(user));
}

/* The longest of the runs so far: the next one needs a slot that does not end before that. */
static uint64_t longest_run(const struct reduce_runs *r)
{
        return __atomic_load_n(&r->wall_ns, __ATOMIC_RELAXED);
}

static void note_longest(struct reduce_runs *r, uint64_t wall_ns)
{
        uint64_t before = longest_run(r);

        while (before < wall_ns && !__atomic_compare_exchange_n(&r->wall_ns, &before, wall_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                ;
}

static int sit_down_away(struct reduce_runs *r, struct seat *seat)
{
        int k = place_lease(r->place, longest_run(r), is_cancelled, r->job, &seat->away);

        return k < 0 ? k : open_seat(r, seat);
}

/* The job's own core, which is the first seat's, or its slot elsewhere. */
static int sit_down(struct reduce_runs *r)
{
        struct seat *seat = &r->seats[0];

        seat->away = r->options->solver->place ? job_take_away(r->job) : NULL;
        if (r->place && !seat->away)
                return sit_down_away(r, seat);
        if (!seat->away) {
                seat->cpus = *job_cpus(r->job);
                seat->slot = job_slot(r->job);
        }
        return open_seat(r, seat);
}

int reduce_runs_begin(struct reduce_runs *r)
{
        int k = r->place ? 0 : job_give_way(r->job);

        if (k <= 0)
                return k;
        close_runners(&r->seats[0]);
        return sit_down(r);
}

static void stand_up(struct reduce_runs *r, struct seat *seat)
{
        close_runners(seat);
        if (seat->away)
                place_release(r->place, seat->away);
        else if (seat != r->seats) /* the first one's is the job's */
                job_drop_slot(r->job, seat->slot);
        seat->away = NULL;
        seat->has_core = false;
}

int reduce_runs_ready(struct reduce_runs *r, unsigned number, bool has_work)
{
        struct seat *seat = &r->seats[number];
        int k;

        if (seat->has_core && !r->place && job_is_pressed(r->job))
                stand_up(r, seat);
        if (seat->has_core || !has_work)
                return seat->has_core;
        k = r->place ? place_try(r->place, longest_run(r), &seat->away) : job_add_slot(r->job, &seat->slot, &seat->cpus);
        if (k < 0)
                return k == -EAGAIN ? 0 : k;
        k = open_seat(r, seat);
        return k < 0 ? k : 1;
}

int reduce_runs_run(struct reduce_runs *r, unsigned number, enum reduce_side side, struct slice text, double cpu, double wall,
                    int cancel_fd, struct run_result *ret)
{
        struct run_input input = {.bytes = text, .questions = case_questions(r->format, text)};
        struct recipe_limits limits = r->versions[side]->solver->recipe->limits;
        struct seat *seat = &r->seats[number];
        struct run_tries tries = {0};
        enum run_again again;
        int k;

        limits.cpu_ns = (uint64_t)(cpu * 1e9);
        limits.wall_ns = (uint64_t)(wall * 1e9);
        note_longest(r, limits.wall_ns);
        do {
                runner_set_limits(seat->runners[side], &limits);
                k = runner_run(seat->runners[side], &input, cancel_fd, ret);
                again = run_again(&tries, k);
                if (again != RUN_IS_OVER && again != RUN_AGAIN_HERE) {
                        stand_up(r, seat);
                        k = sit_down_away(r, seat);
                }
        } while (again == RUN_AGAIN_HERE || (again != RUN_IS_OVER && k == 0));
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
        for (unsigned i = 0; i < r->n_seats; i++)
                if (r->seats[i].has_core)
                        stand_up(r, &r->seats[i]);
        for (int side = 0; side < N_SIDES; side++)
                held_done(&r->programs[side]);
        free(r->seats);
        free(r);
        return NULL;
}

int reduce_runs_open(struct job *j, const struct reduction_options *options, const struct version *const versions[N_SIDES],
                     struct reduce_runs **ret)
{
        struct reduce_runs *r = allocate(1, sizeof(*r));
        struct engine_counters counters;
        unsigned most;
        int k;

        engine_counters(job_engine(j), &counters);
        *r = (struct reduce_runs){.job = j,
                                  .options = options,
                                  .place = options->solver->place,
                                  .format = options->input.info ? options->input.info->format : case_format("", options->input.bytes)};
        memcpy(r->versions, versions, sizeof(r->versions));
        for (int side = 0; !r->place && side < N_SIDES; side++)
                if (versions[side])
                        r->place = versions[side]->solver->place;
        most = r->place ? r->place->workers : counters.slots;
        r->n_seats = options->jobs > 0 ? MIN(options->jobs, most) : most;
        r->seats = allocate(r->n_seats, sizeof(*r->seats));
        k = path_join(r->scratch, workspace_dir(options->workspace), "scratch");
        for (int side = 0; k == 0 && side < N_SIDES; side++)
                if (versions[side])
                        k = version_hold(options->workspace, versions[side], &r->programs[side]);
        if (k == 0)
                k = sit_down(r);
        if (k < 0)
                reduce_runs_close(r);
        else
                *ret = r;
        return k;
}
