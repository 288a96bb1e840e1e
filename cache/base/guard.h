/* Surviving a fault in mapped memory. LMDB trusts its pages and reads them through a map: a page that was truncated away or cannot
 * be read from the disk is a SIGBUS, a damaged one may send it astray. Between guard_enter() and guard_leave() a SIGBUS or
 * SIGSEGV of this thread jumps back to guard_set(), which then returns true, when the address lies in the range. Every other fault goes to
 * the handler that was there before (a sanitizer's, lost.h's, or none): what was written astray is not known.
 *
 *     struct guard g;
 *     if (guard_set(&g))
 *             return -EIO;
 *     guard_enter(&g, range);
 *     …touch the map: take no lock, keep nothing that would have to be freed…
 *     guard_leave(&g);
 *
 * It must be in one function with nothing changed in between that is used after the jump. guard_install() comes first, once. Threads:
 * each has its own guards. */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

#include "cache/base/util.h"

/* Addresses from `low` to below `high`; or, with `file`, those where files with paths that end so are mapped, and four gigabytes further, which is
 * looked up when a fault happens, and a null pointer's. */
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

int guard_install(void);         /* 0 when it was done before */
_Noreturn void guard_fail(void); /* jumps as a fault would: for assertions of the library called */
/* For a thread that is not to handle the process's signals, and all that it starts: blocks every signal but those of the thread's own
 * faults. A fault whose signal is blocked would not come here: the kernel ends the process. */
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
