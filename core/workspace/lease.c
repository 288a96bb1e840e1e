#include "core/workspace/lease.h"

const cpu_set_t *lease_cpus(const struct lease *l)
{
        return l->remote ? NULL : &l->slot.cpus;
}

struct run_remote *lease_remote(const struct lease *l)
{
        return l->remote ? cluster_slot_remote(l->remote) : NULL;
}

static bool is_over(void *user)
{
        const struct lease *l = user;

        return fd_is_readable(l->cancel_fd) || (l->is_over && l->is_over(l->user));
}

int lease_take(struct lease *l)
{
        int r = 0;

        if (!l->has_slot)
                r = l->pool ? pool_lease(l->pool, l->most_ns, is_over, l, &l->remote)
                            : slot_lease(workspace_dir(l->workspace), l->what, workspace_wait(l->workspace), l->cancel_fd, &l->slot);
        l->has_slot = r == 0;
        return r;
}

void lease_leave(struct lease *l)
{
        for (size_t i = 0; i < l->n_runners; i++)
                runner_close(l->runners[i]);
        free(l->runners);
        l->runners = NULL;
        l->n_runners = 0;
        if (l->remote)
                pool_release(l->pool, l->remote);
        l->remote = NULL;
        slot_release(&l->slot);
        l->has_slot = false;
}

int lease_yield(struct lease *l)
{
        if (l->slot.lock < 0 || !slot_is_wanted(&l->slot))
                return 0;
        lease_leave(l);
        return lease_take(l);
}

static struct runner **runner_at(struct lease *l, size_t number)
{
        while (l->n_runners <= number)
                list_add(l->runners, l->n_runners, NULL);
        return &l->runners[number];
}

static void need_runner(const struct lease *l, const struct runner_options *o, struct runner **runner)
{
        cleanup_free char *scratch = format_string("%s/scratch", workspace_dir(l->workspace));
        struct runner_options options = *o;

        if (*runner) {
                runner_set_limits(*runner, &o->limits);
                runner_set_seed(*runner, o->has_seed, o->seed);
                return;
        }
        options.scratch_parent = scratch;
        options.sandbox = workspace_settings(l->workspace)->sandbox;
        options.cpus = lease_cpus(l);
        options.slot = l->remote ? 0 : (unsigned)l->slot.cpu;
        options.remote = lease_remote(l);
        *runner = runner_open(&options);
}

int lease_run(struct lease *l, size_t number, const struct runner_options *o, const struct run_input *input, struct run_result *ret)
{
        struct run_tries tries = {0};
        enum run_again again = RUN_AGAIN_HERE;
        bool doubted = false;
        int r;

        l->most_ns = MAX(l->most_ns, o->limits.wall_ns);
        do {
                cleanup(runner_closep) struct runner *once = NULL;
                struct runner **runner = &once;

                if (again == RUN_AGAIN_IN_ANOTHER_SLOT)
                        lease_leave(l);
                r = lease_take(l);
                if (r < 0)
                        return r;
                if (number != LEASE_ONCE)
                        runner = runner_at(l, number);
                need_runner(l, o, runner);
                r = runner_run(*runner, input, l->cancel_fd, ret);
                again = run_again(&tries, r);
                /* 1: something outside may have ended or delayed it. The second run counts in any case: one input must not end a campaign. */
                if (r == 0 && !doubted && !o->listeners && run_check_doubt(ret, o->programs[0].name, false) == 1) {
                        doubted = true;
                        again = RUN_AGAIN_HERE;
                }
        } while (again != RUN_IS_OVER && !o->listeners);
        return r;
}

int lease_place(const struct solver *a, const struct solver *b, struct worker_pool **ret)
{
        *ret = b->pool;
        return a->pool == b->pool ? 0
                                  : errorf(-EINVAL, "the runs of the two versions are done at two places, %s and %s: name one by --on",
                                           a->pool ? a->pool->name : "local", b->pool ? b->pool->name : "local");
}

double lease_wall(double cpu_seconds)
{
        return 4 * cpu_seconds + 2;
}
