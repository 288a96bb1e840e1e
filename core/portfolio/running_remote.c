/* Arms that run on a cluster take no turns there. An arm that gets a turn is run alone, up to the portfolio's limit, as a cell like any other, and
 * the turns are simulated from its time. The runs are asked for one after the other, so that an arm without a turn is not run. */
#include "core/portfolio/running.h"

int running_place(const struct portfolio *p, struct worker_pool **ret)
{
        const struct arm *first = NULL;

        *ret = NULL;
        for (size_t i = 0; i < p->n_arms; i++) {
                const struct arm *a = &p->arms[i];
                struct worker_pool *pool = a->solver ? a->solver->pool : NULL;

                if (a->problem)
                        continue;
                if (first && pool != *ret)
                        return errorf(-ENOTSUP,
                                      "the arms of the portfolio %s run on two machines, %s at %s and %s at %s: let them run on "
                                      "one ('runs' in the store's config, or --on)",
                                      p->name, first->name, *ret ? (*ret)->name : "local", a->name,
                                      pool ? pool->name : "local");
                first = a;
                *ret = pool;
        }
        return 0;
}

struct running *running_end_remote(struct running *r)
{
        if (r)
                running_done(r);
        free(r);
        return NULL;
}

int running_need_remote(struct trial_query *q, struct query_list *ret)
{
        cleanup(query_unrefp) struct query *next = NULL;
        struct cell cell;
        uint32_t arm;
        int r = 0;

        if (!q->remote) {
                q->remote = allocate(1, sizeof(*q->remote));
                *q->remote = (struct running){.query = q, .case_fd = -1};
                running_begin(q->remote);
        }
        if (!q->remote->is_over)
                r = running_take_turns(q->remote);
        if (r != TURN_WAITS) {
                if (r < 0)
                        q->remote = running_end_remote(q->remote);
                return r;
        }
        arm = q->remote->step.arm;
        q->remote->lanes[arm].asked = true;
        cell = arm_cell(&q->portfolio->arms[arm], q->info, q->portfolio->wall_ns);
        return query_run(q->workspace, &cell, &next) ?: query_list_add(ret, steal_pointer(next));
}
