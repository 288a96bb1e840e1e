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

/* The one run that EXEC_REQUEST asks for; exec_stub.c. `world`: as world_prepare() said, 0 where there is none. Returns the exit status. */
int stub_main(int world);

/* Blocks all signals; a descriptor that is readable when a child has ended, until it is drained. -1. */
int signals_block(void);
void signals_drain(int fd);

/* The world of one run in a kept sandbox, exec_world.c. world_clone() forks into new namespaces (PID, IPC, mounts; `user`: of users, too, who
 * are the same in it). Returns like fork(), -errno when it failed. In the child world_prepare() makes what is the same for every run: with
 * `user` the users, `uid` and `gid` being those of the parent, and /proc. world_make(): its /dev/shm and /scratch. 0 or -errno. */
int world_clone(bool namespaces, bool user);
int world_prepare(bool user, uid_t uid, gid_t gid);
int world_make(const struct order *order);
/* No program may use keyrings, from here on. */
bool world_forbid_keys(void);
/* A fingerprint of what programs may have left in our network namespace. 0 when it cannot be read. */
uint64_t world_network(void);

/* -- a build's cores, and which of them runs want; exec_lend.c. The locks are those of core_lock.h: as they are the helper's, too, a build gives way
 * while its caller is stopped, and keeps its cores until the last of it has gone when the caller is killed. */
struct loan {
        int cpu, fd;
        bool ours;      /* CORE_MOVES is: the build may be there */
        bool is_wanted; /* and is to leave it */
        bool has_turn;
        uint64_t quiet; /* since when no run wanted it; 0: one does */
        uint64_t debt;  /* for how much longer it was lent than used */
};

struct lender {
        struct loan loans[EXEC_LOANS_MOST];
        unsigned n;      /* 0: it lends nothing */
        uint64_t looked; /* the last time; 0: never */
};

void lender_begin(struct lender *l, const struct exec_request *r);
/* The cores that the build may be on from now on. True if they are others than at the last look; it has to leave the others before lender_leave(). */
bool lender_look(struct lender *l, uint64_t now, cpu_set_t *ret);
void lender_leave(struct lender *l, uint64_t now);
uint64_t lender_next(const struct lender *l); /* when to look again */
void lender_end(struct lender *l);

/* -- which files a program and all that it starts ask for, by name; exec_watch.c. Of a build: what it used of the machine.
 *
 * A seccomp filter has the kernel tell of each call that opens, executes or looks at a file, before the call goes on; a thread of the helper
 * reads the name and lets it go on. The name is what the program said: whoever judges by it looks for himself what is there. Files that the
 * kernel opens by itself (a program's interpreter) and calls by io_uring are not seen. Needs Linux 5.9; no privileges. */
struct watch;

/* Begins the thread. NULL: it cannot be had, or is not asked for. */
struct watch *watch_begin(const struct order *order);
/* In the new process, before its execve; it may share the helper's memory. Where the kernel refuses the filter nothing is watched, and that is
 * told at the end. False: it must not go on. */
bool watch_enter(const struct watch *w);
void watch_entered(struct watch *w);                     /* in the helper, once the process has begun */
void watch_bind(struct watch *w, const cpu_set_t *cpus); /* the thread's cores */
/* All processes have gone: writes what was seen into the request. */
void watch_end(struct watch *w);
