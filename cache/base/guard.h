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
 * All of this belongs in one function, which must not use after the jump a variable that it changed before. Call guard_install() once, first.
 * Threads: each has its own guards. */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

#include "cache/base/util.h"

/* Addresses from `low` to below `high`. With `file` instead: the maps of files whose paths end so, looked up when a fault happens, four gigabytes
 * beyond each, and a null pointer's. */
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

int guard_install(void);         /* 0 also when already installed */
_Noreturn void guard_fail(void); /* jumps as a fault would: for assertions of the library called */
/* For a thread that must not handle the process's signals, and all threads that it starts. Blocks every signal but those of the thread's own
 * faults: the kernel ends a process whose fault's signal is blocked. */
void guard_block_signals(sigset_t *ret_before);

/* The signal mask is not saved (a system call): the handler puts it back before it jumps. */
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
