/* The way from assertions to a verdict: lower, tell Z3 the Boolean skeleton, run a front end. */
#include "solver.h"
#include <time.h>

double strand_now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what the skeleton needs to know beforehand ---- */

void solver_reach(const struct solver *v, vec_u32 *order)
{
        vec_u32 roots = {};

        for (size_t i = 0; i < v->roots.n; i++)
                vec_push(&roots, v->roots.d[i]);
        for (size_t i = 0; i < v->lower.defs.n; i++)
                vec_push(&roots, v->lower.defs.d[i].formula);
        term_reach(v->b, roots.d, roots.n, order);
        vec_free(&roots);
}

/* Definitions hold always; equal words have equal lengths (paper, section 4.2, rules 3 and 4). */
static void assert_definitions(struct solver *v)
{
        for (; v->ndefs < v->lower.defs.n; v->ndefs++)
                zed_assert(&v->zed, v->lower.defs.d[v->ndefs].formula);
}

static void assert_lengths(struct solver *v)
{
        vec_u32 order = {};

        solver_reach(v, &order);
        for (size_t i = 0; i < order.n; i++) {
                const struct term *x = term_get(v->b, order.d[i]);

                if (x->op == OP_EQ && term_get(v->b, x->args[0])->sort == SORT_STR) {
                        tid same = lower_eq(&v->lower, lower_len(&v->lower, x->args[0]), lower_len(&v->lower, x->args[1]));

                        zed_assert(&v->zed, lower_or(&v->lower, (tid[]){lower_not(&v->lower, order.d[i]), same}, 2));
                }
        }
        vec_free(&order);
}

enum verdict strand_solve(struct bank *b, const tid *asserts, size_t n, const struct strand_options *opt,
                          struct strand_stats *stats, struct value *val)
{
        struct solver v = {.b = b, .opt = opt, .stats = stats, .asserts = asserts, .nasserts = n, .val = val};
        enum verdict verdict = VERDICT_UNKNOWN;

        term_reach(b, asserts, n, &v.order);
        v.nval = b->terms.n;
        lower_init(&v.lower, b);
        for (size_t i = 0; i < n && !v.lower.fail; i++)
                vec_push(&v.roots, lower_formula(&v.lower, asserts[i]));
        if (v.lower.fail) {
                fprintf(stderr, "strand: unknown, because of %s\n", v.lower.fail);
        } else {
                zed_init(&v.zed, b, stats, opt->deadline, opt->seed);
                aut_store_init(&v.auts, opt->deadline);
                for (size_t i = 0; i < v.roots.n; i++)
                        zed_assert(&v.zed, v.roots.d[i]);
                assert_definitions(&v);
                assert_lengths(&v);
                verdict = opt->loop ? loop_run(&v) : propagator_run(&v);
                aut_store_free(&v.auts);
                zed_free(&v.zed);
        }
        lower_free(&v.lower);
        vec_free(&v.roots);
        vec_free(&v.pool);
        vec_free(&v.lits);
        vec_free(&v.lit_index);
        vec_free(&v.truth);
        vec_free(&v.truth_round);
        vec_free(&v.order);
        return verdict;
}

void strand_print_stats(FILE *f, const struct strand_stats *s)
{
        const struct {
                const char *name;
                uint64_t n;
        } lines[] = {
                {"rounds", s->rounds},
                {"conflicts", s->conflicts},
                {"levels", s->levels},
                {"nodes", s->nodes},
                {"splits", s->splits},
                {"arrangements", s->arrangements},
                {"dead-ends", s->dead_ends},
                {"propagations", s->propagations},
                {"length-conflicts", s->length_conflicts},
                {"periods", s->periods},
                {"pruned", s->pruned},
                {"intersections", s->intersections},
                {"models", s->models},
                {"z3-checks", s->z3_checks},
        };

        for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
                fprintf(f, ":%s %llu\n", lines[i].name, (unsigned long long)lines[i].n);
}
