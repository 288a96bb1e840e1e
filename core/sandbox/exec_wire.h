/* The messages between the caller (execution.c, keeper.c) and the helper `solverfs-exec` (exec_stub.c, exec_keeper.c). Private to these, which are
 * built together. A process may outlive an upgrade and then find the next version's helper. So each message begins with `exec_magic`. If another
 * number is there, the helper prints EXEC_REFUSAL on standard error and ends.
 *
 * The helper begins with standard input, output and error, and
 *   EXEC_CONTROL  a SEQPACKET socket; its end (the caller is gone) means: end everything
 *   EXEC_REQUEST  a file with one struct exec_request, of which only `keep`, `namespace` and `drop` count. The helper sets `begun` in the file when it
 *                 begins: the caller looks there only after a long wait, so this wakes nobody.
 * The caller sends an order: a struct exec_order with the descriptors of a run. One run at a time. Without `keep` the helper becomes the first
 * run that it gets. With `keep` each run gets a process of its own, made at the order or ahead of it; a process made ahead receives the order itself.
 * When that process has gone, the helper answers with a struct exec_news.
 *
 * The descriptors of a run are, in this order, standard input, output and error for the program, and:
 *   EXEC_CONTROL  a stream socket. The caller writes struct exec_command to it; its end (cancelled, or the caller is gone) means: end
 *                 everything. The run writes a struct exec_reply to it each time the program is stopped because its share is used up,
 *                 and a last one when all is over, and exits. (A SEQPACKET socket closed with a command unread gives an error before the reply.)
 *   EXEC_REQUEST  a file as above and, behind the struct, NUL-terminated strings: the working directory, the scratch folder, the name below
 *                 SANDBOX_RUNS of the folder that becomes /scratch in a keeper's run, the file for standard input (empty: as it is), the arguments,
 *                 the environment
 *   locks of the cores that a build has borrowed (core_lock.h), `n_loans` of them. The run keeps the program off cores that others want, and stops
 *                 all of it while they want every core; `standing` in the file says for how long, lest the caller take it for a lost helper. */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/sandbox/surroundings.h"

/* True for a signal that people and services end processes with. */
static inline bool exec_is_sent(int sig)
{
        return sig == SIGKILL || sig == SIGTERM || sig == SIGINT || sig == SIGHUP;
}

/* Inside the sandbox: a runner's folder, which holds each run's /scratch; programs cannot see it. Its folder `case` is /case in every run. */
#define SANDBOX_RUNS "/.runs"

#define EXEC_CONTROL 3
#define EXEC_REQUEST 4
#define EXEC_FDS     5 /* standard input, output, error, and these two */
#define EXEC_FDS_MOST 253 /* descriptors in one message: the kernel's SCM_MAX_FD */
#define EXEC_GROWTH  64
#define EXEC_LOANS_MOST (EXEC_FDS_MOST - EXEC_FDS)

/* The checksum of this header and the two that it depends on: meson.build. */
extern const uint32_t exec_magic;
#define EXEC_REFUSAL "solverfs-exec: the request is of another version of solverfs"

struct exec_request {
        uint32_t magic;
        uint32_t n_arguments, n_environment;
        bool begun;      /* set by the helper */
        bool keep;       /* keep the sandbox for many runs */
        bool kept;       /* a run of a keeper: gets a PID, an IPC and a mount namespace if `namespace` */
        bool namespace;  /* we are PID 1 of a PID namespace: every process in it is the program's */
        bool drop;       /* become uid and gid */
        bool keep_files; /* as that user, keep root's power over files: a bare program finds all that it needs in our folders */
        bool has_cpus;
        uint32_t uid, gid;
        uint64_t wall_ns, cpu_ns, memory, file_size, processes;
        uint64_t share_ns; /* stop after so much wall time; 0: never */
        struct surroundings surroundings;
        cpu_set_t cpus;
        uint32_t n_loans;
        uint16_t loans[EXEC_LOANS_MOST]; /* CPU numbers, in the order of the locks */
        bool watch; /* report which files the program asks for */
        struct exec_watched {
                uint64_t at, size; /* in the file: the paths, each with its NUL */
                bool is_whole;     /* none was missed */
        } watched;                 /* set by the helper at the end */
        struct exec_standing {
                uint64_t total_ns, since_ns; /* earlier stops in all; when the present stop began, 0: it runs */
        } standing;                          /* set by the helper */
};

enum exec_command_kind {
        COMMAND_TOO_MUCH, /* the program prints too much: end it */
        COMMAND_CONTINUE, /* go on for another share_ns */
};

struct exec_command {
        uint64_t kind; /* enum exec_command_kind; as wide as the other, so that the struct has no padding */
        uint64_t share_ns;
};

/* A message with descriptors; exec_order.c, used on both sides. */
struct exec_order {
        uint32_t magic;
};
int order_send(int socket, const int *fds, size_t n); /* 0 or -errno; does not wait */
/* Returns the number of descriptors; 0 if nothing is there (unless `flags` let it wait); -1 if the other end has gone or talks nonsense. */
int order_receive(int socket, int flags, int ret_fds[EXEC_FDS_MOST]);

struct exec_news {
        uint32_t magic;
        int32_t error;  /* why no process was made; else 0 */
        int32_t status; /* of the process, as from wait() */
        bool clean;     /* the run left nothing that the next one can see */
};

/* The step at which the new process failed to become the program. */
enum exec_step {
        STEP_NONE,
        STEP_EXECVE,
        STEP_FORK,
        STEP_SURROUNDINGS, /* exec_reply.part says which */
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
        bool paused;   /* the program is stopped; the numbers are those so far, `tree_now` is its present memory */
        uint32_t step; /* enum exec_step: the failed step, with `error` */
        uint32_t part; /* enum surroundings_part */
        int32_t error;
        uint32_t end; /* enum execute_end */
        int32_t code;
        bool guessed; /* execute.h */
        uint32_t killed;
        uint64_t wall_ns, user_ns, system_ns; /* paused: all of the CPU time is user_ns */
        uint64_t largest, tree; /* bytes: ru_maxrss of the largest process; the largest polled sum of all */
        uint64_t tree_now;
        uint64_t voluntary, involuntary;
        bool waiting_unknown; /* this kernel does not count it */
        uint64_t waited_ns;   /* time that its threads were ready and had no core, in all */
        uint64_t others_ns, steal_ns, threads; /* CPU time of others on its cores; time that a hypervisor took from them; the most threads at once */
        uint64_t begin_ns; /* time of its execve, by CLOCK_MONOTONIC */
        struct exec_growth { /* memory as it grew: each point at least an eighth above the one before; if there are too many, every second one goes */
                uint64_t ns, memory;
        } growth[EXEC_GROWTH];
        uint64_t n_growth;
        uint64_t late_ns; /* the longest that the helper overslept; UINT64_MAX: the machine was suspended */
};
