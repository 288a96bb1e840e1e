/* The processes a program has started, as /proc shows them; part of the helper. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* -- how it waits -- */

/* How long the threads of a program were ready to run and did not get a core.
 *
 * The kernel counts it for each thread (/proc/PID/task/TID/schedstat, the second number: kernel/sched/stats.h, run_delay). It is read at each
 * look at the tree, and of a process that has ended before that is reaped, so that nothing is missing of one with a single thread. Of a
 * thread that ended while its process went on, what it waited since the last look is missing.
 *
 * Threads of one program wait for each other, too, when there are fewer cores than threads. The time that others took of its cores
 * meanwhile (/proc/stat) bounds how much of it can be theirs. */
struct waiting_thread {
        pid_t id;
        uint64_t ns;
};

struct waiting {
        struct waiting_thread *threads; /* malloc'd */
        size_t n;
        uint64_t gone;        /* of threads whose number was given to another since */
        uint64_t before;      /* what the first one had waited before it became the program */
        unsigned most;        /* threads that were seen at once */
        bool unknown;         /* this kernel does not count it */
        uint64_t busy, steal; /* of its cores, when it began: ns */
};

/* The second number of a thread's schedstat. False when there is none. */
bool waiting_read(pid_t thread, uint64_t *ret_ns);
/* For a process with this many threads that exists, if only as a zombie. */
void waiting_look(struct waiting *w, pid_t process, uint64_t threads);
uint64_t waiting_total(const struct waiting *w);
/* CPU time that anybody used of these cores (NULL: of all), and that a hypervisor took from them, since the machine started. */
bool waiting_cores(const cpu_set_t *cpus, uint64_t *ret_busy, uint64_t *ret_steal);

/* -- what there is -- */

struct tree {
        unsigned n;             /* processes that are not zombies */
        uint64_t threads;       /* of these */
        uint64_t cpu_ns;        /* theirs, and of the children they waited for */
        uint64_t memory;        /* resident bytes; what several share is counted once where that can be told */
        uint64_t largest_space; /* address space of the largest */
};

/* `inside`: we are PID 1 of a PID namespace, so that everything in /proc but us is the program's; else our descendants are. */
int tree_read(bool inside, struct tree *ret, struct waiting *w); /* `w`: where to note how long it waited; or NULL */
/* The memory that tree_read() gave, after it was above `limit`: the sum of resident sizes counts twice what a fork's children have in
 * common, so the kernel is asked for the fair share of each (PSS; slow). Who has ended by then has no share any more: a tree that has ended
 * whole is not above any limit. */
uint64_t tree_checked_memory(bool inside, const struct tree *t, uint64_t limit);
/* SIGKILL to all of it. Returns true when there was something. */
bool tree_kill(bool inside);
/* SIGSTOP and SIGCONT to all of it, what was stopped before included. */
void tree_stop(bool inside);
void tree_continue(bool inside);
/* Moves all of it to these cores, however many processes it starts meanwhile; what stands still, too. */
void tree_bind(bool inside, const cpu_set_t *cpus);
/* Is there any process left that neither has stopped nor is a zombie? */
bool tree_goes_on(bool inside);
/* Tasks (threads) of user `uid` on the machine, which is what RLIMIT_NPROC counts. */
uint64_t tree_tasks_of(uid_t uid);
/* Bytes a folder holds: blocks in use, and at least 4096 for each entry; stops counting beyond `most`. */
uint64_t folder_usage(const char *path, uint64_t most);
