/* DIMACS for strategies: a family of a drawn size, or mutants. */
#include "core/fuzz/cnf_generate.h"
#include "core/fuzz/strategy_internal.h"

static const unsigned sizes[][2] = {{1, 15}, {10, 40}, {30, 75}, {60, CNF_SIZE_MOST}}; /* of each magnitude: from, to */

struct formula make_cnf(struct strategy *s, unsigned magnitude)
{
        const unsigned *range = sizes[magnitude];
        enum cnf_family family = (enum cnf_family)random_below(&s->random, N_CNF_FAMILIES);
        unsigned size = range[0] + (unsigned)random_below(&s->random, range[1] - range[0] + 1);

        return (struct formula){.cnf = cnf_generate(&s->random, family, size, NULL)};
}

struct formula mutate_cnf(struct strategy *s, const struct formula *from)
{
        unsigned changes = 1 + (unsigned)random_below(&s->random, 3);
        cleanup_cnf struct cnf *cnf = NULL;

        for (unsigned i = 0, tries = 0; i < changes && tries < 12; tries++) {
                enum cnf_change change = (enum cnf_change)random_below(&s->random, N_CNF_CHANGES);
                cleanup_formula struct formula other = {0};
                struct cnf *next = NULL;

                if (change == CNF_GRAFT)
                        other = make_cnf(s, (unsigned)random_below(&s->random, 2));
                if (cnf_mutate(&s->random, cnf ?: from->cnf, change, other.cnf, &next) < 0)
                        continue;
                cnf_free(cnf);
                cnf = next;
                i++;
        }
        return (struct formula){.cnf = steal_pointer(cnf)};
}
