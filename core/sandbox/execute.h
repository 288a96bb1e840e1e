/* Runs one program in a sandbox under limits, and measures it. Used by runs and by builds alike.
 *
 * The caller (often a big process with LMDB mapped: its peak memory would be inherited, see exec_stub.c) spawns bubblewrap, and inside it the tiny
 * static helper `solverfs-exec` is PID 1 of a PID namespace. The helper starts the program in a process group of its own, times it from its execve to
 * its exit, reaps every descendant, polls the tree's CPU time and memory, enforces the limits, kills what is left until nothing is, and writes one
 * record to a socket the program cannot reach. The caller reads what is printed. The sandbox dies with the caller (the socket's end,
 * PR_SET_PDEATHSIG), and all inside with the helper (PID 1).
 *
 * What is inside: /usr and /etc (read-only), /proc and a minimal /dev of its own, the binds, and the scratch folder as /scratch, which
 * is also /tmp, /var/tmp, HOME and TMPDIR. /dev/shm holds as much as the memory limit. No network, nobody's home, nothing else writable.
 *
 * As root the program runs under a real uid of its own (leased machine-wide; core/sandbox/sandbox.h), as RLIMIT_NPROC does nothing for root. Scratch and
 * writable binds are handed to that user before (every file of another owner is chowned); a `shared` one is opened to the group of all
 * slots, once; a file that is only read is made readable to that group. As another user, bubblewrap makes a user namespace.
 *
 * SANDBOX_NONE: the same, but the program sees and reaches the whole machine as we do (as root, under the slot's uid with root's power
 * over files). Wherever a bind's target or /scratch stands as a path in an argument, a value of the environment or the directory, the
 * host's path is put instead. Descendants are found as ours (PR_SET_CHILD_SUBREAPER); when caller and helper are killed at the same
 * moment, one that had made a session of its own may stay.
 *
 * A system that does not allow the program one of its limits, its niceness or its scheduling class is an error with a sentence.
 *
 * Threads: any number of executions at once. Nothing here knows of solvers, commits or cases.
 */
#pragma once

#include <sched.h>

#include "core/sandbox/capture.h"
#include "core/sandbox/timeline.h"
#include "cache/base/util.h"

struct bind {
        const char *source; /* on the host, absolute */
        const char *target; /* inside, absolute */
        bool writable;
        bool shared; /* writable, and by several slots at the same time (a compiler's cache): new files are the group's, too (umask 002) */
};

/* A core that a build has borrowed, and the lock on it (slot.h). */
struct core_loan {
        int cpu, lock;
};

/* Hears what is printed as it comes, in pieces of any size; called by the thread that waits for the program. */
struct listener {
        void (*hear)(void *user, struct slice text);
        void *user;
};

enum sandbox_kind {
        SANDBOX_BWRAP,
        SANDBOX_NONE
};

#define EXECUTE_STACK (UINT64_C(8) << 20) /* the soft limit of a common Linux */

/* Limits and all else that a program might have from us: surroundings.h. */
struct execute_request {
        char *const *argv; /* argv[0] absolute, inside */
        char *const *environment; /* NAME=VALUE, NULL-terminated; nothing else is passed on but PATH, HOME, LANG=C.UTF-8, TMPDIR */
        const char *directory;    /* working directory inside; NULL: the scratch folder */
        const struct bind *binds;
        size_t n_binds;
        const char *scratch; /* host folder bound writable as /scratch (also HOME and TMPDIR); must exist, the caller removes it */
        enum sandbox_kind sandbox;
        uint64_t wall_ns, cpu_ns; /* 0: no limit */
        uint64_t memory;          /* bytes; 0: no limit */
        uint64_t file_size;       /* RLIMIT_FSIZE, and the most the scratch folder may hold in all; 0: no limit */
        uint64_t processes;       /* 0: no limit */
        uint64_t stack;           /* bytes; 0: EXECUTE_STACK */
        uint64_t stack_top;       /* what the program may raise that to by itself; 0: no higher */
        bool timed;               /* it has the scheduling class and niceness of surroundings.h, not ours */
        struct capture_limit out, err;
        const struct listener *listener, *err_listener; /* of `out`, of `err`; NULL: nobody */
        bool times;            /* tells in the result when what was printed came, and how memory grew; not of a run in shares */
        bool watch;            /* tells in the result which files all of it asked for */
        bool merge;            /* stderr goes where stdout goes (build logs) */
        const cpu_set_t *cpus; /* the cores it may use (sched_setaffinity); NULL: as we may */
        /* Of a build: these cores, which are all of `cpus`, and which runs may want back. It is kept off those, and stands still while runs have all of
         * them: that time counts for nothing. Memory stays as it is. */
        const struct core_loan *loans;
        size_t n_loans;        /* EXEC_LOANS_MOST at most; 0: its cores are its own */
        unsigned slot;         /* where to begin looking for a free uid, when root */
        int cancel_fd;         /* readable (or hung up) means: end it now; -1: none */
        const char *input;     /* standard input: a file inside, opened there, so that it is no more open to change than there; NULL: /dev/null */
        uint64_t start_ns;     /* how long the sandbox may take until the helper in it begins; 0: 30 s */
};

enum execute_end {
        END_EXIT,    /* by itself: `code` is the exit status */
        END_SIGNAL,  /* by a signal we did not send: `code` is the signal */
        END_TIMEOUT, /* wall or CPU limit */
        END_MEMORY,
        END_OUTPUT,    /* stdout, stderr or scratch limit */
        END_PROCESSES, /* the process limit was hit and the program ended in failure */
        END_CANCELLED, /* cancel_fd */
        END_NOEXEC,    /* could not be executed: `code` is errno of execve */
};

/* Why an execution may not reflect the program: whatever ended or slowed it may have come from outside, which cannot be found out. The caller
 * should try once more before believing it. */
enum execute_doubt {
        DOUBT_NONE,
        DOUBT_SIGNAL, /* END_SIGNAL by one that people and services end processes with: KILL, TERM, INT or HUP */
        DOUBT_MEMORY, /* it failed, and the kernel killed something of our cgroup, or of a machine without these, meanwhile for want of memory */
        DOUBT_PAUSE,  /* the helper stood still for seconds: frozen, stopped, a virtual machine that was suspended */
};

struct execute_result {
        enum execute_end end;
        int code;
        enum execute_doubt doubt;
        uint64_t wall_ns, user_ns, system_ns; /* CPU of the whole tree, descendants that daemonized included */
        uint64_t memory;                 /* peak resident bytes: of the tree's largest process or the polled sum of the tree, the larger */
        uint64_t voluntary, involuntary; /* context switches */
        /* How long others kept it from running: its threads were ready and had no core (of several, no more than others used of its cores, as threads of
         * one program wait for each other, too); and what a hypervisor took from these cores. */
        uint64_t waited_ns, stolen_ns;
        unsigned killed;             /* descendants that had to be killed after the program's own end */
        uint64_t out_size, err_size; /* bytes printed in all */
        struct blob out, err;        /* kept bytes; free with execute_result_done() */
        size_t out_cut, err_cut;     /* where in them the cut's mark "\n[... N bytes cut ...]\n" stands; 0: nothing was cut */
        /* With `times`, else empty: the bytes of `out` that had come, and the peak memory as it was polled. */
        struct timeline printed, grown;
        /* With `watch`: the names of files that it executed, opened or looked at, or for which it looked in vain, as it named them (absolute, each with its
         * NUL, each once); of the working directory only the names in it, as "./src"; nothing below the scratch folder, /proc, /dev, /sys and /tmp.
         * exec_stub.h says what is not seen. */
        struct blob watched;
        bool is_watched;             /* these are all; else the kernel does not tell, or there were too many */
        const char *method;          /* how that was measured: "rusage"; static */
};

/* 0 when the program was run (however it ended), -ECANCELED, or -errno with a sentence when it could not be tried at all
 * (no bubblewrap, no fork, no memory). */
int execute(const struct execute_request *request, struct execute_result *ret);
void execute_result_done(struct execute_result *r);
