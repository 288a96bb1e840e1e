/* A build's cores, lent to runs. When a run takes CORE_RUN of a core of ours, lender_look() leaves the core out, the build is moved off, and
 * lender_leave() gives up CORE_MOVES, for which the run waits. When no run has wanted the core for QUIET, it is taken back. The time for which a core is
 * lent is its debt: at TURN the build takes CORE_TURN, until it has had the core for as long. */
#include "core/sandbox/exec_stub.h"

#include "cache/base/util.h"
#include "core/sandbox/core_lock.h"

#define LOOK      (10 * NSEC_PER_MSEC)
#define LOOK_LENT (5 * NSEC_PER_MSEC)
#define QUIET     (10 * NSEC_PER_MSEC) /* longer than the gap between two runs of a series */
#define TURN      (60 * NSEC_PER_SEC)

void lender_begin(struct lender *l, const struct exec_request *r)
{
        l->n = r->n_loans;
        for (unsigned i = 0; i < l->n; i++)
                /* quiet for long: a free core is ours at the first look */
                l->loans[i] = (struct loan){.cpu = r->loans[i], .fd = (int)(EXEC_FDS + i), .quiet = 1};
}

static bool take_back(struct loan *k)
{
        if (core_lock(k->fd, CORE_MOVES) < 0)
                return false;
        if (core_is_locked(k->fd, CORE_RUN)) { /* a run came meanwhile, and may have seen our lock */
                core_unlock(k->fd, CORE_MOVES);
                k->quiet = 0;
                return false;
        }
        core_note_lent(k->fd, 0);
        return true;
}

/* Adds time without the core to the debt, or takes off time with it; begins and ends the turn. */
static void count_debt(struct loan *k, uint64_t passed)
{
        k->debt = k->ours ? k->debt - MIN(k->debt, passed) : k->debt + passed;
        if (!k->has_turn && k->debt >= TURN)
                k->has_turn = core_lock(k->fd, CORE_TURN) == 0;
        else if (k->has_turn && k->debt == 0) {
                core_unlock(k->fd, CORE_TURN);
                k->has_turn = false;
        }
}

bool lender_look(struct lender *l, uint64_t now, cpu_set_t *ret)
{
        bool changed = false;

        CPU_ZERO(ret);
        for (unsigned i = 0; i < l->n; i++) {
                struct loan *k = &l->loans[i];

                if (l->looked != 0)
                        count_debt(k, now - l->looked);
                else
                        core_note_lent(k->fd, now);
                if (core_is_locked(k->fd, CORE_RUN))
                        k->quiet = 0;
                else if (k->quiet == 0)
                        k->quiet = now;
                k->is_wanted = k->ours && k->quiet == 0;
                if (!k->ours && k->quiet != 0 && now - k->quiet >= QUIET && take_back(k))
                        changed = k->ours = true;
                changed |= k->is_wanted;
                if (k->ours && !k->is_wanted)
                        CPU_SET((size_t)k->cpu, ret);
        }
        l->looked = now;
        return changed;
}

void lender_leave(struct lender *l, uint64_t now)
{
        for (unsigned i = 0; i < l->n; i++) {
                struct loan *k = &l->loans[i];

                if (!k->is_wanted)
                        continue;
                core_note_lent(k->fd, now);
                core_unlock(k->fd, CORE_MOVES);
                k->ours = k->is_wanted = false;
        }
}

uint64_t lender_next(const struct lender *l)
{
        bool has_lent = false;

        for (unsigned i = 0; i < l->n; i++)
                has_lent |= !l->loans[i].ours;
        return l->n == 0 ? UINT64_MAX : l->looked + (has_lent ? LOOK_LENT : LOOK);
}

void lender_end(struct lender *l)
{
        for (unsigned i = 0; i < l->n; i++) {
                core_note_lent(l->loans[i].fd, 0);
                core_unlock(l->loans[i].fd, CORE_MOVES);
                core_unlock(l->loans[i].fd, CORE_TURN);
        }
        l->n = 0;
}
