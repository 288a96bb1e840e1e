/* Slots: who may time something on which core of this machine. A slot is a core and a locked file, cpu<N>, in a folder that belongs to the
 * machine and not to a store: two stores, or two users, never time on one core at once. A lock is an open file description's, so that a crash
 * frees it. Two leases of one process exclude each other, too: the engine's jobs and a campaign's runners share the machine in this way and
 * need not know of each other.
 *
 * The folder is $SOLVERFS_SLOTS; else /run/lock/solverfs, which the first who comes makes for all (1777, files 0666); else, where that cannot
 * be had, /run/solverfs/slots (root) or $XDG_RUNTIME_DIR/solverfs/slots; else the caller's own, as a store's. Limits: containers and
 * virtual machines that do not see one folder do not know of each other (bind one and name it by $SOLVERFS_SLOTS); and any user of the machine
 * can hold a slot for ever, as any user can use the CPU.
 *
 * Whoever holds `urgent`, shared, says that a person waits: batches then leave free slots alone.
 * Threads: any.
 */
#pragma once

#include <sched.h>

#include "cache/base/util.h"

/* The folder, made where it is missing. `own`: the last resort; may be NULL. *ret_why, if not NULL, is a static text for people: what the
 * folder is shared with. -errno with a sentence when there is none at all. */
int slot_folder(const char *own, char ret[PATH_SIZE], const char **ret_why);

/* -EAGAIN: it is taken. 0: *ret_lock is the lock, closed to give it back. */
int slot_try(const char *folder, int cpu, int *ret_lock);
/* A person waits (shared; closed to say that it is over) / somebody says so. */
int slot_urge(const char *folder, int *ret_lock);
bool slot_is_urgent(const char *folder);

/* A core of one's own for many runs, without a job of the engine: a campaign's. */
struct slot {
        int cpu, lock; /* lock: -1 when there is none */
        cpu_set_t cpus;
        char folder[PATH_SIZE];
};
/* Waits until one is free of the cores that timed runs may own (host_cores()), yielding to persons. -ECANCELED when `cancel_fd` (-1: none)
 * is readable. */
int slot_lease(const char *own_folder, int cancel_fd, struct slot *ret);
void slot_release(struct slot *s);
/* Does a person wait for a slot? A holder of a long lease asks between two runs and, if so, gives it back and leases again. */
bool slot_is_wanted(const struct slot *s);
