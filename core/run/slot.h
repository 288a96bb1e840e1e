/* Slots: the right to time something on a core of this machine. A slot is a core and a locked file, cpu<N>, in a folder that belongs to the machine
 * and not to a store: two stores, or two users, never time on one core at once. The locks are OFD locks, so a crash frees them. Two leases of one
 * process exclude each other, too: the engine's jobs and a campaign's runners share the machine in this way and need not know of each other.
 *
 * The folder is $SOLVERFS_SLOTS; else /run/lock/solverfs, which its first user makes for all (1777, files 0666); else, where that cannot be had,
 * $XDG_RUNTIME_DIR/solverfs/slots; else the caller's own, as a store's. Limits: containers and virtual machines that do not see one folder do not
 * know of each other (bind one and name it by $SOLVERFS_SLOTS). Where /run/lock cannot be used, two processes of one user do not know of each other if
 * only one has $XDG_RUNTIME_DIR (cron has none). Any user of the machine can hold a slot for ever, as any user can use the CPU.
 *
 * A run never waits behind a build. A build borrows cores that no other build has: its processes are kept off a core as soon as a run has it, and are
 * stopped while runs have all of them (exec_lend.c). They keep their memory. When runs have had a core for a minute more than the build that borrowed
 * it, the build gets a turn: batches, but not persons, leave that core alone until the build has had it as long.
 *
 * Nor does a process's only build wait behind the builds of others: where they have all cores, it is their guest, and the kernel shares the cores
 * among them. So there are at most as many builds as cores, and one more for each process that solverfs runs in.
 *
 * A mark is a file; whoever sets the mark holds a shared lock on it. A batch leaves cores alone while a person of any store waits for one. A process
 * with cores takes no more for a batch while a batch of another process waits for its first core; likewise for persons. Nor does it take back its
 * last core before those who wait could: for SLOT_PASS_NS after it gave that back, it counts as one with cores.
 *
 * Threads: any. */
#pragma once

#include "core/sandbox/core_lock.h"
#include "core/sandbox/execute.h"

/* Finds the folder, and makes it if missing. `own`: the last resort; may be NULL. *ret_why: a static text for people, with whom the folder is shared;
 * `ret_why` may be NULL. -errno with a sentence if there is none at all. */
int slot_folder(const char *own, char ret[PATH_SIZE], const char **ret_why);

enum slot_use {
        SLOT_SPARE,  /* a run, on a core without a build */
        SLOT_RUN,    /* a run, on any core but one where a build has its turn */
        SLOT_PERSON, /* a person's run, on any core */
        SLOT_BUILD,  /* a build, on a core without one */
        SLOT_GUEST,  /* a build, beside another's */
};
/* 0: *ret_lock is the lock; closing it gives the slot back. -EAGAIN if the slot is taken. */
int slot_try(const char *folder, int cpu, enum slot_use use, int *ret_lock);
/* For a run, after SLOT_RUN and SLOT_PERSON: waits until the build there has left the core. -ECANCELED if `cancel_fd` (-1: none) is readable. */
int slot_await(int lock, int cancel_fd);

#define SLOT_LOOK_MS 10 /* between two looks of somebody who waits for a core */
#define SLOT_PASS_NS (2 * SLOT_LOOK_MS * NSEC_PER_MSEC)

enum slot_mark {
        SLOT_PERSON_WAITS,    /* a person waits for a core */
        SLOT_PERSON_HAS_NONE, /* a process waits for a core for a person, and has no core at all */
        SLOT_BATCH_HAS_NONE,  /* the same for a batch */
        N_SLOT_MARKS
};
int slot_mark(const char *folder, enum slot_mark m, int *ret_lock); /* sets the mark until *ret_lock is closed */
bool slot_is_marked(const char *folder, enum slot_mark m);          /* true if anybody has set it */

/* -- owners -- */

/* Names the owner of the lock to others; `likely_ns`: the likely duration, 0: not known. */
void slot_note(int lock, enum slot_use use, uint64_t likely_ns, const char *what);
struct slot_owner {
        bool is_there, is_known; /* known: it has named itself, and is a process that we see */
        struct core_note note;   /* the owner's note; its text may be anybody's */
        uint64_t age_ns, lent_ns; /* how long it has had it; for a build: how long it has been without the core, 0: it has it */
};
struct slot_view {
        int cpu;
        struct slot_owner run, build;
};
/* Calls fn for each slot that is taken. */
int slot_each(const char *folder, void (*fn)(void *user, const struct slot_view *v), void *user);
/* "core 0: run kissat 1a2b3c4d5e6f case 42 (ann, process 123) for 3 s", without a newline. */
void slot_view_line(const struct slot_view *v, struct buffer *ret);

/* The state of the slots of a cluster, for showing it. */
struct remote_view {
        int pid; /* of the process that owns them */
        const char *name, *machine; /* machine "": not known yet */
        unsigned wanted;   /* workers at most */
        unsigned queued;   /* launched, not heard of yet */
        unsigned present;  /* that said hello */
        unsigned slots, busy;
        unsigned lost;     /* that died, since the cluster was opened */
        unsigned left_out; /* of a machine that differs */
        uint64_t sent;     /* bytes */
        const char *why;   /* the last failure; "" */
        const char *uneven; /* "n7 takes 1.08 times as long as n3 for the same probe"; "": nothing of the kind */
};

/* "waits for a core: run kissat 1a2b3c4d5e6f case 42 (ann, process 123) has core 0 for 3 s, about 9 s left; others have 1 more". */
void slot_waits_line(const char *folder, struct buffer *ret);

/* -- without a job of the engine -- */

/* A core leased for many runs by a batch: a campaign, a worker. */
struct slot {
        int cpu, lock; /* lock: -1 if there is none */
        cpu_set_t cpus;
        char folder[PATH_SIZE];
};
/* Waits for a free core of those that timed runs may own (host_cores()), yielding to persons. -ECANCELED if `cancel_fd` (-1: none) is readable.
 * -EAGAIN with a sentence that names an owner: this process has had no core for `wait_ns` (UINT64_MAX: waits for ever). */
int slot_lease(const char *own_folder, const char *what, uint64_t wait_ns, int cancel_fd, struct slot *ret);
void slot_release(struct slot *s);
/* True if a person waits for a slot, a process without any waits for one, or a build has its turn on this core. The holder of a long lease asks
 * between two runs and, if so, gives the slot back and leases again. */
bool slot_is_wanted(const struct slot *s);

/* Borrows for a build up to `most` cores that have no build. If every core has one: as a guest if `last` is SLOT_GUEST, -EAGAIN if it is SLOT_BUILD.
 * `ret` has room for `most`; the caller closes the locks in it. */
int slot_borrow(const char *own_folder, const char *what, size_t most, enum slot_use last, struct core_loan *ret, size_t *ret_n);
