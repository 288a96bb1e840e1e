/* A build's cores, and which of them runs want; part of the helper. The locks are those of core_lock.h: as they are the helper's, too, a build gives way
 * while its caller is stopped, and keeps its cores until the last of it has gone when the caller is killed. */
#pragma once

#include <sched.h>

#include "core/sandbox/exec_wire.h"

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
