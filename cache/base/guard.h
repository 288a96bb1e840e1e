/* Surviving a fault in mapped memory. LMDB trusts its pages and reads them through a map: a page that was truncated away or cannot be
 * read from the disk raises SIGBUS; a damaged one may make LMDB read anywhere. Between guard_enter() and guard_leave(), a SIGBUS or
 * SIGSEGV of this thread at an address in the range jumps back to guard_set(), which then returns true. Every other fault goes to the
 * previous handler (a sanitizer's, lost.h's, or none): a stray write may have damaged anything.
 *
 *     struct guard g;
 *     if (guard_set(&g))
 *             return -EIO;
 *     guard_enter(&g, range);
 *     …touch the map; take no lock, own nothing that must be freed…
 *     guard_leave(&g);
 *
 * All of this belongs in one function. After the jump it must not use a local variable that it changed since guard_set(). Call guard_install()
 * before the first guard. Threads: each has its own guards. */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

#include "cache/base/util.h"

/* The addresses from `low` to below `high`. If `file` is set instead: the maps of files whose paths end in `file`, four gigabytes beyond each map,
 * and addresses near zero. The maps are looked up when a fault happens. */
struct guard_range {
        const char *low, *high;
        const char *file;
};

struct guard {
        sigjmp_buf jump;
        const struct guard_range *range; /* borrowed */
        struct guard *outer;
};

extern _Thread_local struct guard *guard_current;

int guard_install(void);         /* 0 also when already installed; -errno */
_Noreturn void guard_fail(void); /* for a failed assertion of LMDB: jumps as a fault would; without a guard the process is lost (lost.h) */
/* For threads that must not handle the process's signals: blocks these in this thread and in all that it starts from now on. Signals of a thread's
 * own faults stay unblocked: the kernel ends a process whose fault's signal is blocked. `ret_before` gets the previous mask. */
void guard_block_signals(sigset_t *ret_before);

/* Saving the signal mask would take a system call. The handler restores the mask before it jumps. */
#define guard_set(g) (sigsetjmp((g)->jump, 0) != 0)

static inline void guard_enter(struct guard *g, const struct guard_range *range)
{
        g->range = range;
        g->outer = guard_current;
        atomic_signal_fence(memory_order_seq_cst);
        guard_current = g;
}

static inline void guard_leave(struct guard *g)
{
        atomic_signal_fence(memory_order_seq_cst);
        guard_current = g->outer;
}
