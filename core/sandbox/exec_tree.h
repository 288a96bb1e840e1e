/* The processes a program has started, as /proc shows them; part of the helper. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* -- waiting for a core -- */

/* How long the threads of a program were ready to run and did not get a core.
 *
 * The kernel counts it for each thread (/proc/PID/task/TID/schedstat, the second number: kernel/sched/stats.h, run_delay). It is read at each look at
 * the tree, and once more before an ended process is reaped, so the count of a single-threaded process is complete. If a thread ends while its
 * process goes on, its waiting since the last look is missing.
 *
 * Threads of one program also wait for each other, when there are fewer cores than threads. The CPU time that other programs used on its cores
 * meanwhile (/proc/stat) bounds the part that others caused. */
struct waiting_thread {
        pid_t id;
        uint64_t ns;
};

struct waiting {
        struct waiting_thread *threads; /* malloc'd */
        size_t n;
        size_t seen;          /* threads noted so far */
        uint64_t gone;        /* the waiting of threads that are no longer in the list */
        uint64_t before;      /* what the first thread had waited before it became the program */
        unsigned most;        /* the most threads seen at once */
        bool unknown;         /* this kernel does not count it */
        uint64_t busy, steal; /* waiting_cores() when the program began */
};

/* Reads the second number of a thread's schedstat. False if there is none. */
bool waiting_read(pid_t thread, uint64_t *ret_ns);
/* Notes how long the threads of a process have waited. The process must exist, if only as a zombie. */
void waiting_look(struct waiting *w, pid_t process, uint64_t threads);
/* Notes it a last time, and forgets the process: once it is reaped, another one may get its id. */
void waiting_end(struct waiting *w, pid_t process);
uint64_t waiting_total(const struct waiting *w);
/* The CPU time used by anybody on these cores (NULL: on all) since the machine started, and the time that a hypervisor took from them. */
bool waiting_cores(const cpu_set_t *cpus, uint64_t *ret_busy, uint64_t *ret_steal);

/* -- the processes -- */

struct tree {
        unsigned n;             /* processes that are not zombies */
        uint64_t threads;       /* of these processes */
        uint64_t cpu_ns;        /* of these processes and of the children they waited for */
        uint64_t memory;        /* resident bytes; shared pages are counted once where the kernel shows them */
        uint64_t largest_space; /* address space of the largest process */
};

/* `inside`: we are PID 1 of a PID namespace, so every other process in /proc is the program's. Otherwise our descendants are. */
int tree_read(bool inside, struct tree *ret, struct waiting *w); /* `w`: where to note the waiting; may be NULL */
/* A more exact sum than tree_read()'s, for a tree above `limit`: the sum of resident sizes counts pages shared after a fork twice, so the kernel is
 * asked for the fair share of each process (PSS; slow). An ended process has no share: a tree that has ended entirely is not above any limit. */
uint64_t tree_checked_memory(bool inside, const struct tree *t, uint64_t limit);
/* SIGKILL to the whole tree. Returns true if there was a process. */
bool tree_kill(bool inside);
/* SIGSTOP and SIGCONT to the whole tree. A process that had been stopped before goes on, too. */
void tree_stop(bool inside);
void tree_continue(bool inside);
/* Moves the whole tree to these cores: stopped processes, and those that it starts meanwhile, too. */
void tree_bind(bool inside, const cpu_set_t *cpus);
/* True if any process is neither stopped nor a zombie. */
bool tree_goes_on(bool inside);
/* The number of tasks (threads) of user `uid` on the machine, as RLIMIT_NPROC counts them. */
uint64_t tree_tasks_of(uid_t uid);
/* Bytes in a folder: its blocks in use, and at least 4096 for each entry. Stops counting beyond `most`. */
uint64_t folder_usage(const char *path, uint64_t most);
