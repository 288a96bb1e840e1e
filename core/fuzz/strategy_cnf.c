/* DIMACS for strategies: a family of a drawn size, or mutants. */
#include "core/fuzz/cnf_generate.h"
#include "core/fuzz/cnf_mutate.h"
#include "core/fuzz/strategy_internal.h"

static const unsigned sizes[][2] = {{1, 15}, {10, 40}, {30, 75}, {60, CNF_SIZE_MOST}};

void make_cnf(struct strategy *s, unsigned magnitude, struct formula *ret)
{
        const unsigned *range = sizes[magnitude];
        enum cnf_family family = (enum cnf_family)random_below(&s->random, N_CNF_FAMILIES);
        unsigned size = range[0] + (unsigned)random_below(&s->random, range[1] - range[0] + 1);

        *ret = (struct formula){.cnf = cnf_generate(&s->random, family, size, NULL)};
}

int mutate_cnf(struct strategy *s, const struct formula *from, struct formula *ret)
{
        unsigned changes = 1 + (unsigned)random_below(&s->random, 3);
        cleanup_cnf struct cnf *cnf = NULL;

        for (unsigned i = 0, tries = 0; from && i < changes && tries < 12; tries++) {
                enum cnf_change change = (enum cnf_change)random_below(&s->random, N_CNF_CHANGES);
                cleanup_formula struct formula other = {0};
                struct cnf *next = NULL;

                if (change == CNF_GRAFT)
                        make_cnf(s, (unsigned)random_below(&s->random, 2), &other);
                if (cnf_mutate(&s->random, cnf ?: from->cnf, change, other.cnf, &next) < 0)
                        continue;
                cnf_free(cnf);
                cnf = next;
                i++;
        }
        *ret = (struct formula){.cnf = steal_pointer(cnf)};
        return ret->cnf ? 0 : -ENOENT;
}
