/* The way from assertions to a verdict: lower, tell Z3 the Boolean skeleton, run a front end. */
#include "numeral.h"
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

/* What local search may do before there is any other, and for each node of that: in evaluations of terms. */
#define GUESS_FIRST    6000
#define GUESS_PER_NODE 200

bool solver_guess(struct solver *v)
{
        uint64_t due = GUESS_FIRST + GUESS_PER_NODE * v->stats->nodes;
        bool r = !v->opt->no_guess && !v->opt->labels && v->guess.work < due && guess_run(&v->guess, due - v->guess.work, v->val, v->nval);

        v->stats->guesses = v->guess.work;
        return r;
}

/* Lowers, looks for a model, tells Z3 the skeleton, and runs a front end. */
static enum verdict search(struct solver *v)
{
        enum verdict r = VERDICT_UNKNOWN;
        bool refuted = false;

        lower_init(&v->lower, v->b);
        for (size_t i = 0; i < v->nasserts && !v->lower.fail; i++)
                vec_push(&v->roots, lower_formula(&v->lower, v->asserts[i]));
        if (v->lower.fail && solver_guess(v))
                return VERDICT_SAT;
        if (v->lower.fail) {
                fprintf(stderr, "strand: unknown, because of %s\n", v->lower.fail);
                return VERDICT_UNKNOWN;
        }
        for (size_t i = 0; i < v->roots.n; i++)
                refuted |= v->roots.d[i] == v->b->t_false;
        if (refuted)
                return VERDICT_UNSAT;
        if (solver_guess(v))
                return VERDICT_SAT;
        if (!zed_init(&v->zed, v->b, v->stats, v->opt->deadline, v->opt->seed))
                return VERDICT_UNKNOWN;
        for (size_t i = 0; i < v->roots.n; i++)
                zed_assert(&v->zed, v->roots.d[i]);
        assert_definitions(v);
        assert_lengths(v);
        r = v->opt->loop ? loop_run(v) : propagator_run(v);
        if (!v->opt->ends)
                zed_free(&v->zed);
        return r;
}

/* The verdict on assertions in which nothing is left to replace; v has the caller's part of the state. */
static enum verdict solve(struct solver *v)
{
        enum verdict verdict;

        term_reach(v->b, v->asserts, v->nasserts, &v->order);
        aut_store_init(&v->auts, v->opt->deadline);
        guess_init(&v->guess, v->b, &v->auts, v->asserts, v->nasserts, v->opt->seed);
        verdict = search(v);
        guess_free(&v->guess);
        aut_store_free(&v->auts);
        lower_free(&v->lower);
        vec_free(&v->roots);
        vec_free(&v->pool);
        vec_free(&v->lits);
        vec_free(&v->lit_index);
        vec_free(&v->truth);
        vec_free(&v->truth_round);
        vec_free(&v->order);
        return verdict;
}

/* Are the assertions true, as they were given, under the variables' values? */
static bool is_model(struct bank *b, const tid *asserts, size_t n, struct value *val)
{
        vec_u32 order = {};
        bool r = true;

        term_reach(b, asserts, n, &order);
        eval_terms(b, order.d, order.n, val);
        for (size_t i = 0; i < n; i++)
                r &= val[asserts[i]].set && val[asserts[i]].b;
        vec_free(&order);
        return r;
}

enum verdict strand_solve(struct bank *b, const tid *asserts, size_t n, const struct strand_options *opt,
                          struct strand_stats *stats, struct value *val)
{
        struct solver v = {.b = b, .opt = opt, .stats = stats, .asserts = asserts, .nasserts = n, .val = val, .nval = b->terms.n};
        const size_t nval = b->terms.n;
        struct numerals numerals = {};
        enum verdict verdict;

        numeral_find(b, asserts, n, &numerals);
        if (numerals.numbers.n == 0)
                return solve(&v);
        v.asserts = numerals.asserts.d;
        v.nasserts = numerals.asserts.n;
        v.nval = b->terms.n;
        v.val = util_alloc(v.nval * sizeof(*v.val));
        verdict = solve(&v);
        if (verdict == VERDICT_SAT) {
                numeral_values(&numerals, v.val);
                if (!is_model(b, asserts, n, v.val))
                        verdict = VERDICT_UNKNOWN;
                memcpy(val, v.val, nval * sizeof(*val));
        }
        free(v.val);
        numeral_free(&numerals);
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
                {"guesses", s->guesses},
                {"z3-checks", s->z3_checks},
        };

        for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
                fprintf(f, ":%s %llu\n", lines[i].name, (unsigned long long)lines[i].n);
}
