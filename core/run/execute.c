#include "core/run/execute.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cache/base/fault.h"
#include "cache/base/helper.h"
#include "cache/base/spawn.h"
#include "core/run/core_lock.h"
#include "core/run/execution.h"
#include "core/run/sandbox.h"

/* -- the helper -- */

int helper_start(const struct execute_request *q, const char *runs, const struct ends *e, pid_t *ret_pid, int *ret_process)
{
        cleanup(strings_freep) char **sandboxed = NULL;
        char helper[PATH_SIZE];
        char *bare[] = {helper, NULL}, **arguments = bare;
        int r = helper_path("solverfs-exec", "core/run", "SOLVERFS_EXEC", helper);

        if (r == 0 && q->sandbox == SANDBOX_BWRAP) {
                r = sandbox_arguments(q, runs, helper, &sandboxed);
                arguments = sandboxed;
        }
        if (r < 0)
                return r;
        r = spawn(&(struct spawn_request){.fds = e->fds, .n_fds = e->n, .arguments = arguments}, ret_pid);
        if (r < 0)
                return errorf(r, "cannot start %s: %s", arguments[0], strerror(-r));
        *ret_process = (int)syscall(SYS_pidfd_open, *ret_pid, 0); /* -1: then only the socket's end tells */
        return 0;
}

/* -- a sandbox for one run -- */

void single_done(struct single *s)
{
        const struct execute_request *q = s->x.request;

        for (size_t i = 0; q && i < q->n_loans; i++) { /* for a helper that could not */
                core_unlock(q->loans[i].lock, CORE_MOVES);
                core_unlock(q->loans[i].lock, CORE_TURN);
        }
        execution_done(&s->x);
        closep(&s->process);
        sandbox_release(s->lease, s->all_gone);
}

static int start(struct single *s)
{
        cleanup(ends_done) struct ends e = ENDS_NONE;
        const struct execute_request *q = s->x.request;
        int r = sandbox_lease(q->slot, &s->x.uid, &s->lease);

        if (r == 0)
                r = sandbox_hand_over(q, s->x.uid);
        if (r == 0)
                r = execution_prepare(&s->x, &e);
        if (r == 0)
                r = helper_start(q, NULL, &e, &s->pid, &s->process);
        if (r < 0)
                return r;
        s->all_gone = false;
        s->x.process = s->process;
        return 0;
}

static void wait_for_process(struct single *s)
{
        struct pollfd fd = {.fd = s->process, .events = POLLIN};

        if (!execution_replied(&s->x) || (s->process >= 0 && poll(&fd, 1, END_GRACE / NSEC_PER_MSEC) == 0))
                kill(s->pid, SIGKILL); /* stopped, perhaps; a process not yet waited for keeps its number */
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

int single_begin(struct single *s, const struct execute_request *request, uint64_t share_ns)
{
        int r;

        assert(request->argv && request->argv[0] && request->scratch && request->n_loans <= EXEC_LOANS_MOST);
        *s = (struct single){.lease = -1, .process = -1, .all_gone = true};
        sandbox_sweep_once();
        r = execution_init(&s->x, request);
        s->x.share_ns = share_ns;
        if (r == 0)
                r = fault_at("execute.start");
        if (r == 0)
                r = start(s);
        if (r < 0)
                return r;
        s->x.deadline = now_ns() + (request->start_ns ?: START_GRACE);
        fault_at("execute.started");
        return 0;
}

int single_finish(struct single *s, struct execute_result *ret)
{
        fault_at("execute.end");
        wait_for_process(s);
        s->all_gone = execution_replied(&s->x) && !s->x.reply.paused;
        if (!s->all_gone && s->x.inside)
                execution_await_end(&s->x);
        else if (!s->all_gone)
                execution_kill_marked(&s->x);
        return execution_result(&s->x, ret);
}

int execute(const struct execute_request *request, struct execute_result *ret)
{
        cleanup(single_done) struct single s = SINGLE_NONE;
        int r = single_begin(&s, request, 0);

        if (r < 0)
                return r;
        execution_watch(&s.x);
        return single_finish(&s, ret);
}

void execute_result_done(struct execute_result *r)
{
        blob_done(&r->out);
        blob_done(&r->err);
        blob_done(&r->watched);
}
