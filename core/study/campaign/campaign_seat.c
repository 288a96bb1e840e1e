/* Seats: where inputs are run, each on a slot of its own. All seats of a campaign are on one machine, in all its sessions. At a cluster that is one kind
 * of machine, and every worker gives all its slots. */
#include "core/study/campaign/campaign_internal.h"

#include "core/cases/cases.h"
#include "core/engine/ask.h"
#include "core/workspace/place.h"
#include "core/run/host.h"

#define PROBE_NS (10 * NSEC_PER_SEC) /* the shortest time for which a slot is leased */

unsigned campaign_count_seats(const struct campaign *c)
{
        unsigned jobs = c->settings->jobs;
        int cpus[CPU_SETSIZE];
        unsigned cores;

        if (c->place)
                return jobs > 0 ? jobs : place_count_slots(c->place);
        cores = (unsigned)host_cores(cpus, ARRAY_SIZE(cpus));
        return jobs > 0 ? MIN(jobs, cores) : cores;
}

static bool is_over(void *user)
{
        struct campaign *c = user;

        return campaign_is_over(c) || fd_is_readable(c->cancel_fd);
}

static int open_runner(struct bench_seat *seat, size_t version)
{
        struct campaign *c = seat->campaign;
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(c->versions[version]->solver->recipe, c->format);
        char scratch[PATH_SIZE];
        int r = path_join(scratch, workspace_dir(c->workspace), "scratch");

        return r < 0 ? r
                     : runner_open(&(struct runner_options){.recipe = recipe,
                                                            .programs = c->programs[version].list,
                                                            .n_programs = c->programs[version].n,
                                                            .limits = recipe->limits,
                                                            .scratch_parent = scratch,
                                                            .sandbox = workspace_settings(c->workspace)->sandbox,
                                                            .cpus = seat->away ? NULL : &seat->slot.cpus,
                                                            .slot = seat->away ? 0 : (unsigned)seat->slot.cpu,
                                                            .away = seat->away ? cluster_slot_away(seat->away) : NULL},
                                   &seat->runners[version]);
}

int seat_take(struct bench_seat *seat)
{
        struct campaign *c = seat->campaign;
        uint64_t longest = (uint64_t)(c->settings->timeout * (c->settings->cpu_time ? CPU_PATIENCE : 1) * 1e9);
        char what[128];
        int r;

        snprintf(what, sizeof(what), "campaign %s of %s", c->settings->name, c->solver->recipe->name);
        r = c->place ? place_lease(c->place, MAX(longest, PROBE_NS), is_over, c, &seat->away)
                     : slot_lease(workspace_dir(c->workspace), what, c->cancel_fd, &seat->slot);
        if (r == 0)
                seat->runners = allocate(c->n_versions, sizeof(*seat->runners));
        for (size_t i = 0; r == 0 && i < c->n_versions; i++)
                r = open_runner(seat, i);
        return r;
}

void seat_leave(struct bench_seat *seat)
{
        for (size_t i = 0; seat->runners && i < seat->campaign->n_versions; i++)
                runner_close(seat->runners[i]);
        free(seat->runners);
        seat->runners = NULL;
        if (seat->away)
                place_release(seat->campaign->place, seat->away);
        seat->away = NULL;
        if (seat->slot.lock >= 0)
                slot_release(&seat->slot);
        seat->slot.lock = -1;
}

static int seat_change(struct bench_seat *seat)
{
        seat_leave(seat);
        return seat_take(seat);
}

int seat_yield(struct bench_seat *seat)
{
        return !seat->away && slot_is_wanted(&seat->slot) ? seat_change(seat) : 0;
}

int seat_run(struct bench_seat *seat, size_t version, uint64_t seed, const struct recipe_limits *limits, struct slice text,
             struct run_result *ret)
{
        struct campaign *c = seat->campaign;
        struct run_input input = {.bytes = text, .questions = case_questions(c->format, text)};
        struct run_tries tries = {0};

        for (;;) {
                enum run_again again;
                int r;

                runner_set_limits(seat->runners[version], limits);
                runner_set_seed(seat->runners[version], seed > 0, seed);
                r = runner_run(seat->runners[version], &input, c->cancel_fd, ret);
                again = run_again(&tries, r);
                if (again == RUN_IS_OVER)
                        return r;
                r = again == RUN_AGAIN_IN_ANOTHER_SLOT ? seat_change(seat) : 0;
                if (r < 0)
                        return r;
        }
}

/* -- the machine -- */

static int make_machine(void *user, size_t, struct query **ret)
{
        return query_machine(((struct campaign *)user)->place, ret);
}

static int find_machine(struct campaign *c, char ret[PATH_SIZE])
{
        struct bench_seat seat = BENCH_SEAT(c);
        int r;

        if (!c->place) {
                snprintf(ret, PATH_SIZE, "%s", host_machine());
                return 0;
        }
        campaign_say(c, "waits for a worker of %s", c->place->name);
        r = seat_take(&seat); /* a worker may wait in a queue for hours; the campaign's time begins once it is there */
        seat_leave(&seat);
        if (r == 0)
                r = ask_many(c->engine, &(struct asking){.n = 1, .make = make_machine, .user = c}, PRIORITY_BATCH, c->cancel_fd);
        if (r == 0 && !place_machine(c->place, ret))
                r = errorf(-EIO, "the machine of %s is not known", c->place->name);
        return r;
}

int campaign_check_machine(struct campaign *c)
{
        char path[PATH_SIZE], machine[PATH_SIZE], before[PATH_SIZE];
        int r = path_join(path, c->folder, "machine");

        if (r == 0)
                r = find_machine(c, machine);
        if (r == 0)
                r = campaign_machine(c->workspace, c->solver->recipe->name, c->settings->name, before);
        if (r == -ENOENT)
                return write_file_atomic(path, machine, strlen(machine), 0600);
        if (r == 0 && strcmp(before, machine) != 0)
                return errorf(-EEXIST,
                              "the campaign '%s' ran on %s before, and times of %s do not compare with those; give this one "
                              "another --name",
                              c->settings->name, before, machine);
        return r;
}
