/* Workers: each runs inputs on a slot of its own. All workers of a campaign are on one machine, in all its sessions. At a cluster that is one kind
 * of machine, and every worker gives all its slots. */
#include "core/study/campaign/campaign_internal.h"

#include "core/cases/cases.h"
#include "core/workspace/worker_pool.h"
#include "core/run/host.h"

#define PROBE_NS (10 * NSEC_PER_SEC) /* the shortest time for which a slot is leased */

unsigned campaign_count_workers(const struct campaign *c)
{
        const unsigned jobs = c->settings->jobs, most = workspace_settings(c->workspace)->cores;
        int cpus[CPU_SETSIZE];
        unsigned cores;

        if (c->cluster)
                return jobs > 0 ? jobs : pool_count_slots(c->cluster);
        cores = (unsigned)host_cores(cpus, ARRAY_SIZE(cpus));
        cores = most > 0 ? MIN(cores, most) : cores;
        return jobs > 0 ? MIN(jobs, cores) : cores;
}

static bool is_over(void *user)
{
        return campaign_is_over(user);
}

struct campaign_worker campaign_worker(struct campaign *c)
{
        const uint64_t longest = (uint64_t)(c->settings->timeout * (c->settings->cpu_time ? CPU_PATIENCE : 1) * 1e9);

        return (struct campaign_worker){
                .campaign = c,
                .lease = {.workspace = c->workspace,
                          .pool = c->cluster,
                          .what = c->what,
                          .cancel_fd = c->cancel_fd,
                          .is_over = is_over,
                          .user = c,
                          .most_ns = MAX(longest, PROBE_NS),
                          .slot.lock = -1},
        };
}

int worker_run(struct campaign_worker *worker, size_t version, uint64_t seed, const struct recipe_limits *limits, struct slice text,
             struct run_result *ret)
{
        struct campaign *c = worker->campaign;
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(c->versions[version]->solver->recipe, c->format);
        const struct runner_options options = {.recipe = recipe,
                                               .programs = c->programs[version].list,
                                               .n_programs = c->programs[version].n,
                                               .limits = *limits,
                                               .has_seed = seed > 0,
                                               .seed = seed};

        return lease_run(&worker->lease, version, &options, &(struct run_input){.bytes = text, .questions = case_questions(c->format, text)}, ret);
}

/* -- the machine -- */

/* The name of this machine, or of the cluster's kind of machine. */
static int find_machine(struct campaign *c, char ret[PATH_SIZE])
{
        struct campaign_worker worker = campaign_worker(c);
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r;

        if (!c->cluster) {
                snprintf(ret, PATH_SIZE, "%s", host_machine());
                return 0;
        }
        campaign_say(c, "waits for a worker of %s", c->cluster->name);
        r = lease_take(&worker.lease); /* a worker may wait in a queue for hours; the campaign's time begins once it is there */
        lease_leave(&worker.lease);
        if (r == 0)
                r = query_machine(c->cluster, &q)
                    ?: engine_get(c->engine, q, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, c->cancel_fd, &v);
        if (r == 0 && !pool_machine(c->cluster, ret))
                r = errorf(-EIO, "the machine of %s is not known", c->cluster->name);
        return r;
}

int campaign_check_machine(struct campaign *c)
{
        cleanup_free char *path = format_string("%s/machine", c->folder);
        char machine[PATH_SIZE], before[PATH_SIZE];
        int r = find_machine(c, machine)
            ?: campaign_machine(c->workspace, c->solver->recipe->name, c->settings->name, before);

        if (r == -ENOENT)
                return write_file_atomic(path, machine, strlen(machine), 0600);
        if (r == 0 && strcmp(before, machine) != 0)
                return errorf(-EEXIST,
                              "the campaign '%s' ran on %s before, and times of %s do not compare with those; give this one "
                              "another --name",
                              c->settings->name, before, machine);
        return r;
}
