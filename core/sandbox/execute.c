#include "core/sandbox/execute.h"

#include "cache/base/fault.h"
#include "core/sandbox/core_lock.h"
#include "core/sandbox/keeper.h"

static int run(struct keeper *k, struct execution *x, struct execute_result *ret)
{
        int r = keeper_begin(k, x);

        if (r < 0)
                return r == -EPIPE ? errorf(-EIO, "%s", error_message(r)) : r;
        fault_at("execute.started");
        execution_watch(x);
        fault_at("execute.end");
        return keeper_finish(k, x, ret);
}

int execute(const struct execute_request *q, struct execute_result *ret)
{
        cleanup(execution_done) struct execution x;
        struct keeper *k = NULL;
        int r = execution_init(&x, q);

        assert(q->argv && q->argv[0] && q->scratch && q->n_loans <= EXEC_LOANS_MOST);
        if (r == 0)
                r = fault_at("execute.start") ?: keeper_open(q, NULL, &k) ?: run(k, &x, ret);
        keeper_close(k);
        for (size_t i = 0; i < q->n_loans; i++) { /* a helper that was killed could not */
                core_unlock(q->loans[i].lock, CORE_MOVES);
                core_unlock(q->loans[i].lock, CORE_TURN);
        }
        return r;
}

void execute_result_done(struct execute_result *r)
{
        blob_done(&r->out);
        blob_done(&r->err);
        blob_done(&r->watched);
        timeline_done(&r->printed);
        timeline_done(&r->grown);
}
