/* The parts of the helper `solverfs-exec`. One thread; a process does one run, or keeps a sandbox for others that do. */
#pragma once

#include <sched.h>
#include <sys/types.h>

#include "core/sandbox/exec_wire.h"

struct order { /* a request and its strings */
        const struct exec_request *head;
        const char *directory, *scratch, *runs_scratch, *input;
        char **arguments, **environment;
};

/* Does the one run that EXEC_REQUEST asks for; exec_stub.c. `world`: result of world_prepare(), 0 if none. Returns the exit status. */
int stub_main(int world);

/* Blocks all signals. Returns a descriptor that is readable when a child has ended, until it is drained; or -1. */
int signals_block(void);
void signals_drain(int fd);

/* The world of one run in a kept sandbox; exec_world.c. world_clone() forks, with `namespaces` into new ones (PID, IPC, mounts; with `user` also
 * users, with the same ids inside). It returns like fork(), or -errno. In the child, world_prepare() makes what is the same for every run: /proc and,
 * with `user`, the mapping of users (`uid`, `gid`: the parent's). world_make() makes the run's /dev/shm and /scratch. Both return 0 or -errno. */
int world_clone(bool namespaces, bool user);
int world_prepare(bool user, uid_t uid, gid_t gid);
int world_make(const struct order *order);
/* From here on no program can use keyrings. */
bool world_forbid_keys(void);
/* A fingerprint of the traces that programs may have left in our network namespace. 0 if it cannot be read. */
uint64_t world_network(void);

/* -- a build's cores, and which of them runs want; exec_lend.c. The locks are those of core_lock.h. The helper holds them, too: a build gives way
 * while its caller is stopped, and keeps its cores until its last process has gone when the caller is killed. */
struct loan {
        int cpu, fd;
        bool ours;      /* we hold CORE_MOVES: the build may be on the core */
        bool is_wanted; /* a run wants the core: the build is to leave it */
        bool has_turn;  /* we hold CORE_TURN */
        uint64_t quiet; /* when runs stopped wanting it; 0: one wants it */
        uint64_t debt;  /* how much longer the core was lent than used */
};

struct lender {
        struct loan loans[EXEC_LOANS_MOST];
        unsigned n;      /* 0: it lends nothing */
        uint64_t looked; /* the time of the last look; 0: never */
};

void lender_begin(struct lender *l, const struct exec_request *r);
/* Sets the cores that the build may use from now on. True if they changed: the caller then moves the build to them, or stops it if there are none,
 * and gives up the wanted ones by lender_leave(). */
bool lender_look(struct lender *l, uint64_t now, cpu_set_t *ret);
void lender_leave(struct lender *l, uint64_t now);
uint64_t lender_next(const struct lender *l); /* when to look again */
void lender_end(struct lender *l);

/* -- which files a program and all that it starts ask for, by name; exec_watch.c. For a build: the files of the machine that it used.
 *
 * A seccomp filter makes the kernel report each call that opens, executes or looks at a file, before the call goes on; a thread of the helper
 * reads the name and lets the call go on. The name is only what the program said: users of the list look at the file themselves, and must not open it
 * before they know that the sandbox shows it. Files that the kernel opens by itself (a program's interpreter) and calls by io_uring are not seen.
 * Needs Linux 5.9; no privileges. */
struct watch;

/* Begins the thread. NULL if the order does not ask for it, or it cannot be had; the functions below then do nothing. */
struct watch *watch_begin(const struct order *order);
/* Called in the new process before its execve; the process may share the helper's memory. If the kernel refuses the filter, nothing is watched, and
 * watch_end() reports that. False if the process must not go on. */
bool watch_enter(const struct watch *w);
void watch_entered(struct watch *w);                     /* in the helper, once the process has begun */
void watch_bind(struct watch *w, const cpu_set_t *cpus); /* the thread's cores */
/* Called when all processes have gone: writes the names into the request. */
void watch_end(struct watch *w);
