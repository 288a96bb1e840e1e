/* Workers: each runs inputs on a slot of its own. All workers of a campaign are on one machine, in all its sessions. At a cluster that is one kind
 * of machine, and every worker gives all its slots. */
#include "core/study/campaign/campaign_internal.h"

#include "core/cases/cases.h"
#include "core/workspace/worker_pool.h"
#include "core/run/host.h"

#define PROBE_NS (10 * NSEC_PER_SEC) /* the shortest time for which a slot is leased */

unsigned campaign_count_workers(const struct campaign *c)
{
        unsigned jobs = c->settings->jobs;
        int cpus[CPU_SETSIZE];
        unsigned cores;

        if (c->cluster)
                return jobs > 0 ? jobs : pool_count_slots(c->cluster);
        cores = (unsigned)host_cores(cpus, ARRAY_SIZE(cpus));
        return jobs > 0 ? MIN(jobs, cores) : cores;
}

static bool is_over(void *user)
{
        struct campaign *c = user;

        return campaign_is_over(c) || fd_is_readable(c->cancel_fd);
}

static int open_runner(struct campaign_worker *worker, size_t version)
{
        struct campaign *c = worker->campaign;
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(c->versions[version]->solver->recipe, c->format);
        cleanup_free char *scratch = format_string("%s/scratch", workspace_dir(c->workspace));

        return runner_open(&(struct runner_options){.recipe = recipe,
                                                    .programs = c->programs[version].list,
                                                    .n_programs = c->programs[version].n,
                                                    .limits = recipe->limits,
                                                    .scratch_parent = scratch,
                                                    .sandbox = workspace_settings(c->workspace)->sandbox,
                                                    .cpus = worker->remote ? NULL : &worker->slot.cpus,
                                                    .slot = worker->remote ? 0 : (unsigned)worker->slot.cpu,
                                                    .remote = worker->remote ? cluster_slot_remote(worker->remote) : NULL},
                           &worker->runners[version]);
}

int worker_take_slot(struct campaign_worker *worker)
{
        struct campaign *c = worker->campaign;
        uint64_t longest = (uint64_t)(c->settings->timeout * (c->settings->cpu_time ? CPU_PATIENCE : 1) * 1e9);
        char what[128];
        int r;

        snprintf(what, sizeof(what), "campaign %s of %s", c->settings->name, c->solver->recipe->name);
        r = c->cluster ? pool_lease(c->cluster, MAX(longest, PROBE_NS), is_over, c, &worker->remote)
                     : slot_lease(workspace_dir(c->workspace), what, c->cancel_fd, &worker->slot);
        if (r == 0)
                worker->runners = allocate(c->n_versions, sizeof(*worker->runners));
        for (size_t i = 0; r == 0 && i < c->n_versions; i++)
                r = open_runner(worker, i);
        return r;
}

void worker_leave_slot(struct campaign_worker *worker)
{
        for (size_t i = 0; worker->runners && i < worker->campaign->n_versions; i++)
                runner_close(worker->runners[i]);
        free(worker->runners);
        worker->runners = NULL;
        if (worker->remote)
                pool_release(worker->campaign->cluster, worker->remote);
        worker->remote = NULL;
        if (worker->slot.lock >= 0)
                slot_release(&worker->slot);
        worker->slot.lock = -1;
}

static int change_slot(struct campaign_worker *worker)
{
        worker_leave_slot(worker);
        return worker_take_slot(worker);
}

int worker_yield_slot(struct campaign_worker *worker)
{
        return !worker->remote && slot_is_wanted(&worker->slot) ? change_slot(worker) : 0;
}

int worker_run(struct campaign_worker *worker, size_t version, uint64_t seed, const struct recipe_limits *limits, struct slice text,
             struct run_result *ret)
{
        struct campaign *c = worker->campaign;
        struct run_input input = {.bytes = text, .questions = case_questions(c->format, text)};
        struct run_tries tries = {0};

        for (;;) {
                enum run_again again;
                int r;

                runner_set_limits(worker->runners[version], limits);
                runner_set_seed(worker->runners[version], seed > 0, seed);
                r = runner_run(worker->runners[version], &input, c->cancel_fd, ret);
                again = run_again(&tries, r);
                if (again == RUN_IS_OVER)
                        return r;
                r = again == RUN_AGAIN_IN_ANOTHER_SLOT ? change_slot(worker) : 0;
                if (r < 0)
                        return r;
        }
}

/* -- the machine -- */

static int find_machine(struct campaign *c, char ret[PATH_SIZE])
{
        struct campaign_worker worker = CAMPAIGN_WORKER(c);
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r;

        if (!c->cluster) {
                snprintf(ret, PATH_SIZE, "%s", host_machine());
                return 0;
        }
        campaign_say(c, "waits for a worker of %s", c->cluster->name);
        r = worker_take_slot(&worker); /* a worker may wait in a queue for hours; the campaign's time begins once it is there */
        worker_leave_slot(&worker);
        if (r == 0)
                r = query_machine(c->cluster, &q);
        if (r == 0)
                r = engine_get(c->engine, q, PRIORITY_BATCH, false, c->cancel_fd, &v);
        if (r == 0 && !pool_machine(c->cluster, ret))
                r = errorf(-EIO, "the machine of %s is not known", c->cluster->name);
        return r;
}

int campaign_check_machine(struct campaign *c)
{
        cleanup_free char *path = format_string("%s/machine", c->folder);
        char machine[PATH_SIZE], before[PATH_SIZE];
        int r = find_machine(c, machine);

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
