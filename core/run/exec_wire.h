/* What execute.c and the helper `solverfs-exec` (exec_stub.c) say to each other; private to the two, which are always built together.
 *
 * The helper is started with standard input, output and error for the program, and:
 *   EXEC_CONTROL  a stream socket. At the end it writes one struct exec_reply to it, and exits. Any byte it reads from it means that the
 *                 program prints too much; the end of the stream (cancelled, or the caller is no more) means: end everything.
 *   EXEC_REQUEST  a file holding one struct exec_request and, behind it, NUL-terminated strings: the working directory, the scratch
 *                 folder, the arguments, the environment. When it begins it sets `begun` in the file: the caller, who looks only when it
 *                 has waited long, need not be woken for that.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/run/surroundings.h"

#define EXEC_MAGIC   UINT32_C(0x53465845)
#define EXEC_CONTROL 3
#define EXEC_REQUEST 4

struct exec_request {
        uint32_t magic;
        uint32_t n_arguments, n_environment;
        bool begun;      /* set by the helper */
        bool namespace;  /* we are PID 1 of a PID namespace: all that is alive in it is the program's */
        bool drop;       /* to uid and gid */
        bool keep_files; /* with that user, keep root's power over files: bare, everything it needs is in folders of ours */
        bool has_cpus;
        uint32_t uid, gid;
        uint64_t wall_ns, cpu_ns, memory, address_space, file_size, processes;
        struct surroundings surroundings;
        cpu_set_t cpus;
};

/* What the new process was doing when it could not become the program. */
enum exec_step {
        STEP_NONE,
        STEP_EXECVE,
        STEP_FORK,
        STEP_SURROUNDINGS, /* `part` says which */
        STEP_AFFINITY,
        STEP_USER,
        STEP_DIRECTORY,
        STEP_REQUEST,
        N_STEPS
};

struct exec_reply {
        uint32_t magic;
        uint32_t step; /* enum exec_step: where it failed, with `error` */
        uint32_t part; /* enum surroundings_part */
        int32_t error;
        uint32_t end; /* enum execute_end */
        int32_t code;
        uint32_t killed;
        uint64_t wall_ns, user_ns, system_ns;
        uint64_t largest, tree; /* bytes: ru_maxrss of the largest process; the most that a poll of all of them found */
        uint64_t voluntary, involuntary;
        uint64_t late_ns; /* the longest that the helper slept beyond what it had asked for */
};
