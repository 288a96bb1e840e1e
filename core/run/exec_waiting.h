/* How long the threads of a program were ready to run and did not get a core; part of the helper.
 *
 * The kernel counts it for each thread (/proc/PID/task/TID/schedstat, the second number: kernel/sched/stats.h, run_delay). It is read at each
 * look at the tree, and of a process that has ended before that is reaped, so that nothing is missing of one with a single thread. Of a
 * thread that ended while its process went on, what it waited since the last look is missing.
 *
 * Threads of one program wait for each other, too, when there are fewer cores than threads. The time that others took of its cores
 * meanwhile (/proc/stat) bounds how much of it can be theirs. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
bool waiting_read(int dir, const char *path, uint64_t *ret_ns);
/* For a process with this many threads that exists, if only as a zombie. */
void waiting_look(struct waiting *w, pid_t process, uint64_t threads);
uint64_t waiting_total(const struct waiting *w);
/* CPU time that anybody used of these cores (NULL: of all), and that a hypervisor took from them, since the machine started. */
bool waiting_cores(const cpu_set_t *cpus, uint64_t *ret_busy, uint64_t *ret_steal);
