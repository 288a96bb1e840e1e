/* The messages between the caller (execution.c, keeper.c) and the helper `solverfs-exec` (exec_stub.c, exec_keeper.c). Private to these, which
 * are always built together.
 *
 * The helper begins with standard input, output and error, and
 *   EXEC_CONTROL  a SEQPACKET socket, whose end (the caller is no more) means: end everything
 *   EXEC_REQUEST  a file that holds one struct exec_request, of which only `keep`, `namespace` and `drop` count. When the helper begins it sets `begun`
 *                 in the file: the caller, who looks only when it has waited long, need not be woken for that.
 * A message of the caller is an order: a struct exec_order with the descriptors of a run. One run at a time. Without `keep` the helper becomes the first
 * run that it gets. With `keep` it makes a process for each, or has made one ahead, which receives the order itself. When that process has gone, the
 * helper answers with a struct exec_news.
 *
 * The descriptors of a run are, in this order, standard input, output and error for the program, and:
 *   EXEC_CONTROL  a stream socket. The caller writes struct exec_command to it; its end (cancelled, or the caller is no more) means: end
 *                 everything. The run writes a struct exec_reply to it whenever the program stands still because its share is used up,
 *                 and one when all is over, and exits. A SEQPACKET socket that is closed with a command unread would give an error before the reply.
 *   EXEC_REQUEST  a file as above and, behind the struct, NUL-terminated strings: the working directory, the scratch folder, the name below
 *                 SANDBOX_RUNS of what is to become /scratch in a keeper's run, the file for standard input (empty: as it is), the arguments, the
 *                 environment
 *   locks of the cores that a build has borrowed (core_lock.h), `loans` of them. The run keeps the program off those that other runs want, and lets all of
 *                 it stand still while they want all; `standing` in the file says for how long, as the caller must not take that for a lost helper.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/sandbox/surroundings.h"

/* In the sandbox: the folder of a runner, with what becomes each run's /scratch; no program sees what is in it. Its folder `case` is /case in all. */
#define SANDBOX_RUNS "/.runs"

#define EXEC_MAGIC   UINT32_C(0x53465846)
#define EXEC_CONTROL 3
#define EXEC_REQUEST 4
#define EXEC_FDS     5 /* standard input, output, error, and these two */
#define EXEC_FDS_MOST 253 /* of one message: the kernel's SCM_MAX_FD */
#define EXEC_GROWTH  64
#define EXEC_LOANS_MOST (EXEC_FDS_MOST - EXEC_FDS)

struct exec_request {
        uint32_t magic;
        uint32_t n_arguments, n_environment;
        bool begun;      /* set by the helper */
        bool keep;       /* be a keeper of the sandbox: for many runs */
        bool kept;       /* a keeper's run: make a PID, an IPC and a mount namespace for it, if `namespace` */
        bool namespace;  /* we are PID 1 of a PID namespace: all that is alive in it is the program's */
        bool drop;       /* to uid and gid */
        bool keep_files; /* with that user, keep root's power over files: bare, everything it needs is in folders of ours */
        bool has_cpus;
        uint32_t uid, gid;
        uint64_t wall_ns, cpu_ns, memory, file_size, processes;
        uint64_t share_ns; /* stand still after so much wall time; 0: never */
        struct surroundings surroundings;
        cpu_set_t cpus;
        uint32_t n_loans;
        uint16_t loans[EXEC_LOANS_MOST]; /* CPU numbers, in the order of the locks */
        bool watch; /* tell which files it asks for */
        struct exec_watched {
                uint64_t at, size; /* in the file: the paths, each with its NUL */
                bool is_whole;     /* nothing was missed */
        } watched;                 /* set by the helper, when all is over */
        struct exec_standing {
                uint64_t total_ns, since_ns; /* before; since when, 0: it goes on */
        } standing;                          /* set by the helper */
};

enum exec_command_kind {
        COMMAND_TOO_MUCH, /* it prints too much: end it */
        COMMAND_CONTINUE, /* for another share_ns */
};

struct exec_command {
        uint64_t kind; /* enum exec_command_kind; as wide as the other, so that no byte sent is left to chance */
        uint64_t share_ns;
};

/* A message with descriptors; exec_order.c, in both. */
struct exec_order {
        uint32_t magic;
};
int order_send(int socket, const int *fds, size_t n); /* 0 or -errno; does not wait */
/* The number of descriptors; 0: nothing there, unless `flags` let it wait; -1: the other end has gone, or talks nonsense. */
int order_receive(int socket, int flags, int ret_fds[EXEC_FDS_MOST]);

struct exec_news {
        uint32_t magic;
        int32_t error;  /* why there was no process, else 0 */
        int32_t status; /* of the process, as wait() has it */
        bool clean;     /* nothing of the run is left in what the next one will see */
};

/* The step at which the new process failed to become the program. */
enum exec_step {
        STEP_NONE,
        STEP_EXECVE,
        STEP_FORK,
        STEP_SURROUNDINGS, /* `part` says which */
        STEP_AFFINITY,
        STEP_USER,
        STEP_DIRECTORY,
        STEP_INPUT,
        STEP_REQUEST,
        STEP_NAMESPACE,
        N_STEPS
};

struct exec_reply {
        uint32_t magic;
        bool paused;   /* it stands still; the numbers are those so far, `tree_now` what it holds */
        uint32_t step; /* enum exec_step: where it failed, with `error` */
        uint32_t part; /* enum surroundings_part */
        int32_t error;
        uint32_t end; /* enum execute_end */
        int32_t code;
        uint32_t killed;
        uint64_t wall_ns, user_ns, system_ns; /* paused: all of the CPU time is user_ns */
        uint64_t largest, tree; /* bytes: ru_maxrss of the largest process; the most that a poll of all of them found */
        uint64_t tree_now;
        uint64_t voluntary, involuntary;
        bool waiting_unknown; /* this kernel does not count it */
        uint64_t waited_ns;   /* its threads were ready and had no core, in all */
        uint64_t others_ns, steal_ns, threads; /* what others used of its cores meanwhile; what was stolen; the most threads at once */
        uint64_t begin_ns; /* of its execve, by CLOCK_MONOTONIC */
        struct exec_growth { /* how its memory grew: by an eighth or more from one to the next, or by as much as lets all of it have room here */
                uint64_t ns, memory;
        } growth[EXEC_GROWTH];
        uint64_t n_growth;
        uint64_t late_ns; /* the longest that the helper slept beyond what it had asked for */
};
