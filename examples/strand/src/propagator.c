/* The string search as a user propagator of Z3, which keeps its Boolean search where the loop (loop.c) starts a
 * new check.
 *
 * What a propagator of 4.8.12 can see are the values of registered Booleans. So each atom gets one: string atoms are
 * free Booleans anyway, atoms about integers get a Boolean that is equivalent. Z3's arithmetic has no bounds to ask
 * for; the search keeps its own integer solver. There is no pushing, asserting and checking of the propagator's
 * solver inside a callback either, so the search is called at the end, on a full assignment, and a refuted one is
 * answered by the clause that the loop would learn. */
#include "solver.h"

struct propagator {
        struct solver *v;
        vec_u32 id_of;        /* by term id: Z3's number for it + 1 */
        vec_u32 atom;         /* by Z3's number */
        VEC(uint8_t) value;   /* by Z3's number: 0 unknown, 1 false, 2 true */
        vec_u32 trail, scope; /* what was fixed, in order; its length at each push */
        tid guard[SOLVER_LEVELS];
        uint32_t level;
        bool limited, found, late;
};

/* ---- what Z3 tells ---- */

static void on_push(void *data)
{
        struct propagator *p = data;

        vec_push(&p->scope, (uint32_t)p->trail.n);
}

static void on_pop(void *data, unsigned n)
{
        struct propagator *p = data;

        while (n--) {
                uint32_t to = vec_pop(&p->scope);

                while (p->trail.n > to)
                        p->value.d[vec_pop(&p->trail)] = 0;
        }
}

static void on_fixed(void *data, uint32_t id, bool value)
{
        struct propagator *p = data;

        if (p->value.d[id])
                return;
        p->value.d[id] = value ? 2 : 1;
        vec_push(&p->trail, id);
}

static bool truth(void *data, tid t)
{
        const struct propagator *p = data;
        uint32_t id = map_get(&p->id_of, t);

        return id && p->value.d[id - 1] == 2;
}

/* Everything is assigned: refute it, put it aside, or leave it as it is. */
static void on_final(void *data)
{
        struct propagator *p = data;
        struct solver *v = p->v;
        vec_u32 seen = {}, core = {}, ids = {};
        enum outcome r;

        p->found = false;
        p->late = solver_late(v);
        if (p->late)
                return;
        v->round++;
        v->stats->rounds++;
        p->found = solver_guess(v); /* Z3's assignment may be another, and is not asked for again */
        if (p->found)
                return;
        justify(v, &seen);
        r = conjunction_search(v, &seen, p->level, &core, &p->limited);
        p->found = r == OUT_SAT;
        if (r == OUT_UNSAT) {
                for (size_t i = 0; i < core.n; i++)
                        vec_push(&ids, map_get(&p->id_of, v->lits.d[core.d[i]].atom) - 1);
        } else if (r == OUT_UNKNOWN) {
                for (size_t i = 0; i < v->lits.n; i++)
                        vec_push(&ids, map_get(&p->id_of, v->lits.d[i].atom) - 1);
                vec_push(&ids, map_get(&p->id_of, p->guard[p->level]) - 1);
        }
        if (r != OUT_SAT) {
                v->stats->conflicts++;
                zed_refute(&v->zed, ids.d, ids.n);
        }
        vec_free(&seen);
        vec_free(&core);
        vec_free(&ids);
}

/* ---- registering ---- */

static void watch(struct propagator *p, tid atom)
{
        uint32_t id;

        if (map_get(&p->id_of, atom))
                return;
        id = zed_watch(&p->v->zed, atom);
        while (p->atom.n <= id) {
                vec_push(&p->atom, 0);
                vec_push(&p->value, 0);
        }
        p->atom.d[id] = atom;
        map_set(&p->id_of, atom, id + 1);
}

static void watch_atoms(struct propagator *p)
{
        struct solver *v = p->v;
        vec_u32 order = {};

        solver_reach(v, &order);
        for (size_t i = 0; i < order.n; i++)
                if (term_get(v->b, order.d[i])->sort == SORT_BOOL && justify_is_atom(v, order.d[i]))
                        watch(p, order.d[i]);
        vec_free(&order);
}

enum verdict propagator_run(struct solver *v)
{
        static const struct zed_watcher watcher = {truth, on_push, on_pop, on_fixed, on_final};
        struct propagator p = {.v = v};
        enum verdict verdict = VERDICT_UNKNOWN;
        bool guarded = false;

        zed_propagate(&v->zed, &watcher, &p);
        watch_atoms(&p);
        for (uint32_t i = 0; i < SOLVER_LEVELS; i++) { /* after a check it would be too late: Z3 is not back at its base */
                p.guard[i] = lower_fresh(&v->lower, SORT_BOOL, "level");
                watch(&p, p.guard[i]);
        }
        for (;;) {
                p.limited = false;
                verdict = zed_check(&v->zed, p.guard[p.level], &guarded);
                if (verdict != VERDICT_UNSAT || !guarded)
                        break;
                verdict = VERDICT_UNKNOWN;
                if (!p.limited || ++p.level == SOLVER_LEVELS)
                        break;
                v->stats->levels++;
        }
        if (verdict == VERDICT_SAT && (!p.found || p.late))
                verdict = VERDICT_UNKNOWN;
        vec_free(&p.id_of);
        vec_free(&p.atom);
        vec_free(&p.value);
        vec_free(&p.trail);
        vec_free(&p.scope);
        return verdict;
}
