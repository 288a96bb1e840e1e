/* The parts of the helper `solverfs-exec`. One thread; a process does one run, or keeps a sandbox for others that do. */
#pragma once

#include <sys/types.h>

#include "core/sandbox/exec_wire.h"

struct order { /* a request and its strings */
        const struct exec_request *head;
        const char *directory, *scratch, *runs_scratch;
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
