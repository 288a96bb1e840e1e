/* Runs one program in a sandbox under limits, and measures it. Used by runs and by builds alike.
 *
 * The caller spawns bubblewrap. It does not start the program itself: a child's peak memory begins at its parent's, and the caller is big. In the
 * sandbox the tiny static helper `solverfs-exec` is PID 1 of a PID namespace. The helper starts the program in a process group of its own, times it
 * from its execve to its exit, reaps every descendant, polls the tree's CPU time and memory, enforces the limits, kills all remaining processes, and
 * writes one record to a socket that the program cannot reach. The caller reads the output. The sandbox dies with the caller (the socket's end,
 * PR_SET_PDEATHSIG), and all inside with the helper (PID 1).
 *
 * The sandbox has /usr and /etc (read-only), /proc and a minimal /dev of its own, the binds, and the scratch folder as /scratch, which is also /tmp,
 * /var/tmp, HOME and TMPDIR. /dev/shm holds as much as the memory limit. No network, nobody's home, nothing else writable.
 *
 * If we are root, the program runs under a real uid of its own (leased machine-wide; core/sandbox/sandbox.h), as RLIMIT_NPROC does nothing for root.
 * Before a run, scratch and writable binds are handed to that user (every file of another owner is chowned), and read-only files are made readable to
 * the group of all such users. A `shared` bind is opened to that group once. If we are not root, bubblewrap makes a user namespace.
 *
 * SANDBOX_NONE: the same, but the program sees and reaches the whole machine as we do (if we are root, under its own uid with root's power over
 * files). Where a bind's target or /scratch is a path in an argument, in a value of the environment or in the directory, the host's path replaces it.
 * The program's descendants are found as the helper's (PR_SET_CHILD_SUBREAPER). If caller and helper are killed at the same moment, a descendant with
 * a session of its own may survive.
 *
 * If the system does not allow the program one of its limits, its niceness or its scheduling class, execute() fails with a sentence.
 *
 * Threads: any number of executions at once. Nothing here knows of solvers, commits or cases. */
#pragma once

#include <sched.h>

#include "core/sandbox/capture.h"
#include "core/sandbox/timeline.h"
#include "cache/base/util.h"

struct bind {
        const char *source; /* on the host, absolute */
        const char *target; /* inside, absolute */
        bool writable;
        bool shared; /* writable by several slots at once (a compiler's cache): new files are writable to the group, too (umask 002) */
};

/* A core that a build has borrowed, and the lock on it (slot.h). */
struct core_loan {
        int cpu, lock;
};

/* Receives the output as it comes, in pieces of any size; called by the thread that waits for the program. */
struct listener {
        void (*hear)(void *user, struct slice text);
        void *user;
};

enum sandbox_kind {
        SANDBOX_BWRAP,
        SANDBOX_NONE
};

#define EXECUTE_STACK (UINT64_C(8) << 20) /* the soft limit of a common Linux */

/* surroundings.h says what the program inherits, and how the limits are set. */
struct execute_request {
        char *const *argv; /* argv[0] absolute, inside */
        char *const *environment; /* NAME=VALUE, NULL-terminated; besides these only PATH, HOME, LANG=C.UTF-8 and TMPDIR are set */
        const char *directory;    /* working directory inside; NULL: the scratch folder */
        const struct bind *binds;
        size_t n_binds;
        const char *scratch; /* host folder bound writable as /scratch (also HOME and TMPDIR); must exist, the caller removes it */
        enum sandbox_kind sandbox;
        uint64_t wall_ns, cpu_ns; /* 0: no limit */
        uint64_t memory;          /* bytes; 0: no limit */
        uint64_t file_size;       /* RLIMIT_FSIZE, and the limit on the scratch folder's total size; 0: no limit */
        uint64_t processes;       /* 0: no limit */
        uint64_t stack;           /* bytes; 0: EXECUTE_STACK */
        uint64_t stack_top;       /* the program may raise its stack limit up to this; 0: not at all */
        bool timed;               /* the scheduling class and niceness are those of surroundings.h, not ours */
        struct capture_limit out, err;
        const struct listener *listener, *err_listener; /* for `out` and for `err`; NULL: none */
        bool times;            /* report when output came and how memory grew; not for a run in shares */
        bool watch;            /* report which files the program and its descendants asked for */
        bool merge;            /* stderr goes where stdout goes (build logs) */
        const cpu_set_t *cpus; /* the cores it may use (sched_setaffinity); NULL: those that we may use */
        /* For a build: all cores of `cpus`, which runs may want back. The build is kept off the wanted ones, and stopped while runs have all of them.
         * The time for which it is stopped does not count towards limits; its memory stays. */
        const struct core_loan *loans;
        size_t n_loans;        /* at most EXEC_LOANS_MOST; 0: its cores are its own */
        unsigned slot;         /* where to begin looking for a free uid, when root */
        int cancel_fd;         /* readable (or hung up) means: end it now; -1: none */
        const char *input;     /* standard input: a path inside; the file is opened inside, so it is as read-only as there; NULL: /dev/null */
        uint64_t start_ns;     /* the time that the helper in the sandbox may take to begin; 0: 30 s */
};

enum execute_end {
        END_EXIT,    /* by itself; `code` is the exit status */
        END_SIGNAL,  /* by a signal we did not send; `code` is the signal */
        END_TIMEOUT, /* wall or CPU limit */
        END_MEMORY,
        END_OUTPUT,    /* stdout, stderr or scratch limit */
        END_PROCESSES, /* the process limit was hit and the program ended in failure */
        END_CANCELLED, /* cancel_fd */
        END_NOEXEC,    /* could not be executed; `code` is errno of execve */
};

/* Why an execution may not reflect the program: the cause may have come from outside, which cannot be found out. The caller should try once more
 * before believing it. */
enum execute_doubt {
        DOUBT_NONE,
        DOUBT_SIGNAL, /* END_SIGNAL by a signal that people and services end processes with: KILL, TERM, INT or HUP */
        DOUBT_MEMORY, /* it failed, and meanwhile the kernel killed a process of our cgroup (without cgroups: of the machine) for want of memory */
        DOUBT_PAUSE,  /* the machine was suspended, or the helper was stopped for seconds: frozen, or a virtual machine that stood still */
};

struct execute_result {
        enum execute_end end;
        int code;
        bool guessed; /* END_MEMORY or END_PROCESSES, but no limit was passed: it exited with status `code` near that limit, perhaps because of it */
        enum execute_doubt doubt;
        uint64_t wall_ns, user_ns, system_ns; /* CPU of the whole tree, daemonized descendants included */
        uint64_t memory;                 /* peak resident bytes: of the tree's largest process, or the polled sum of the tree if larger */
        uint64_t voluntary, involuntary; /* context switches */
        /* How long others kept it from running. waited_ns: its threads were ready and had no core; for several threads, which also wait for each
         * other, at most the CPU time that others used on its cores. stolen_ns: a hypervisor took it from these cores. */
        uint64_t waited_ns, stolen_ns;
        unsigned killed;             /* descendants that had to be killed after the program's own end */
        uint64_t out_size, err_size; /* bytes printed in all */
        struct blob out, err;        /* kept bytes; free with execute_result_done() */
        size_t out_cut, err_cut;     /* where the mark "\n[... N bytes cut ...]\n" is in the kept bytes; 0: nothing was cut */
        /* With `times`, else empty: the bytes of `out` over time, and the peak memory as polled. */
        struct timeline printed, grown;
        /* With `watch`: the names of the files that it executed, opened or looked at, found or not: as it named them, absolute, each once, each with
         * its NUL. Below the working directory only the first name is noted, as "./src"; below the scratch folder, /proc, /dev, /sys and /tmp none.
         * exec_stub.h says what is not seen. */
        struct blob watched;
        bool is_watched;             /* the list is complete; false if the kernel does not report them, or there were too many */
        const char *method;          /* how memory was measured: "rusage"; static */
};

/* 0 if the program was run (however it ended), -ECANCELED, or -errno with a sentence if it could not be tried at all (no bubblewrap, no fork, no
 * memory). */
int execute(const struct execute_request *request, struct execute_result *ret);
void execute_result_done(struct execute_result *r);
