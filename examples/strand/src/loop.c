/* The other front end: a DPLL(T) loop (lazy SMT; paper, Algorithm 1): Z3 proposes an assignment, what justifies the formula under it
 * is a conjunction of literals, the search refutes it with a reason, which becomes a clause, or finds a model. */
#include "solver.h"

static void block(struct solver *v, const vec_u32 *core, tid guard)
{
        VEC(tid) atom = {};
        bool *negative = util_alloc(core->n);

        for (size_t i = 0; i < core->n; i++) {
                vec_push(&atom, v->lits.d[core->d[i]].atom);
                negative[i] = v->lits.d[core->d[i]].negative;
        }
        zed_block(&v->zed, atom.d, negative, core->n, guard);
        free(negative);
        vec_free(&atom);
}

/* What the search cannot decide within the limits of a level is set aside under the level's guard, and looked
 * at again with larger limits when nothing else is left. */
enum verdict loop_run(struct solver *v)
{
        uint32_t level = 0;
        bool limited = false;
        tid guard = lower_fresh(&v->lower, SORT_BOOL, "level");

        for (;;) {
                vec_u32 seen = {}, core = {};
                bool guarded = false;
                enum outcome r;

                if (solver_late(v))
                        return VERDICT_UNKNOWN;
                v->round++;
                v->stats->rounds++;
                switch (zed_check(&v->zed, guard, &guarded)) {
                case VERDICT_UNSAT:
                        if (!guarded)
                                return VERDICT_UNSAT;
                        if (!limited || ++level == SOLVER_LEVELS)
                                return VERDICT_UNKNOWN;
                        v->stats->levels++;
                        limited = false;
                        guard = lower_fresh(&v->lower, SORT_BOOL, "level");
                        continue;
                case VERDICT_UNKNOWN:
                        return VERDICT_UNKNOWN;
                case VERDICT_SAT:
                        break;
                }
                if (solver_guess(v))
                        return VERDICT_SAT;
                justify(v, &seen);
                r = conjunction_search(v, &seen, level, &core, &limited);
                if (r == OUT_UNKNOWN)
                        for (uint32_t i = 0; i < v->lits.n; i++)
                                vec_push(&core, i);
                if (r != OUT_SAT) {
                        v->stats->conflicts++;
                        block(v, &core, r == OUT_UNKNOWN ? guard : 0);
                }
                vec_free(&seen);
                vec_free(&core);
                if (r == OUT_SAT)
                        return VERDICT_SAT;
        }
}
