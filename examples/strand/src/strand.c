#include "strand.h"
#include <time.h>
#include <z3.h>

/* The formula with every string atom made a free Boolean and every length an integer: what Z3 sees. */
struct abstraction {
        struct bank *bank;
        Z3_context z;
        Z3_solver solver;
        Z3_ast *ast; /* by term id; for strings: the length */
        Z3_sort ints, bools;
};

double strand_now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_error(Z3_context c, Z3_error_code e)
{
        (void)c;
        (void)e;
}

static Z3_ast fresh(struct abstraction *a, Z3_sort s)
{
        return Z3_mk_fresh_const(a->z, "t", s);
}

static Z3_ast natural(struct abstraction *a)
{
        Z3_ast n = fresh(a, a->ints);

        Z3_solver_assert(a->z, a->solver, Z3_mk_ge(a->z, n, Z3_mk_int64(a->z, 0, a->ints)));
        return n;
}

static Z3_ast chain(struct abstraction *a, const Z3_ast *x, unsigned n, Z3_ast (*f)(Z3_context, Z3_ast, Z3_ast))
{
        VEC(Z3_ast) parts = {};
        Z3_ast r;

        for (unsigned i = 0; i + 1 < n; i++)
                vec_push(&parts, f(a->z, x[i], x[i + 1]));
        r = Z3_mk_and(a->z, (unsigned)parts.n, parts.d);
        vec_free(&parts);
        return r;
}

static Z3_ast abstract(struct abstraction *a, const struct term *t)
{
        VEC(Z3_ast) args = {};
        Z3_context z = a->z;
        Z3_ast r = NULL, *x;
        unsigned n = t->nargs;

        for (unsigned i = 0; i < n; i++)
                vec_push(&args, a->ast[t->args[i]]);
        x = args.d;
        switch ((enum op)t->op) {
        case OP_TRUE:
                r = Z3_mk_true(z);
                break;
        case OP_FALSE:
                r = Z3_mk_false(z);
                break;
        case OP_VAR:
                r = t->sort == SORT_STR ? natural(a) : fresh(a, t->sort == SORT_INT ? a->ints : a->bools);
                break;
        case OP_NUM:
                r = Z3_mk_int64(z, t->a, a->ints);
                break;
        case OP_STR:
                r = Z3_mk_int64(z, t->str->len, a->ints);
                break;
        case OP_NOT:
                r = Z3_mk_not(z, x[0]);
                break;
        case OP_AND:
                r = Z3_mk_and(z, n, x);
                break;
        case OP_OR:
                r = Z3_mk_or(z, n, x);
                break;
        case OP_XOR:
                r = x[0];
                for (unsigned i = 1; i < n; i++)
                        r = Z3_mk_xor(z, r, x[i]);
                break;
        case OP_IMPLIES:
                r = x[n - 1];
                for (unsigned i = n - 1; i-- > 0;)
                        r = Z3_mk_implies(z, x[i], r);
                break;
        case OP_EQ:
                if (term_get(a->bank, t->args[0])->sort != SORT_STR) {
                        r = chain(a, x, n, Z3_mk_eq);
                } else { /* equal strings have equal lengths */
                        r = fresh(a, a->bools);
                        Z3_solver_assert(z, a->solver, Z3_mk_implies(z, r, chain(a, x, n, Z3_mk_eq)));
                }
                break;
        case OP_DISTINCT:
                r = term_get(a->bank, t->args[0])->sort == SORT_STR ? fresh(a, a->bools) : Z3_mk_distinct(z, n, x);
                break;
        case OP_ITE:
                r = Z3_mk_ite(z, x[0], x[1], x[2]);
                break;
        case OP_ADD:
        case OP_CONCAT:
                r = Z3_mk_add(z, n, x);
                break;
        case OP_SUB:
                r = n == 1 ? Z3_mk_unary_minus(z, x[0]) : Z3_mk_sub(z, n, x);
                break;
        case OP_MUL:
                r = Z3_mk_mul(z, n, x);
                break;
        case OP_ABS:
                r = Z3_mk_ite(z, Z3_mk_ge(z, x[0], Z3_mk_int64(z, 0, a->ints)), x[0], Z3_mk_unary_minus(z, x[0]));
                break;
        case OP_LE:
                r = chain(a, x, n, Z3_mk_le);
                break;
        case OP_LT:
                r = chain(a, x, n, Z3_mk_lt);
                break;
        case OP_GE:
                r = chain(a, x, n, Z3_mk_ge);
                break;
        case OP_GT:
                r = chain(a, x, n, Z3_mk_gt);
                break;
        case OP_LEN:
                r = x[0];
                break;
        default:
                if (t->sort == SORT_STR)
                        r = natural(a);
                else if (t->sort != SORT_RE)
                        r = fresh(a, t->sort == SORT_INT ? a->ints : a->bools);
        }
        vec_free(&args);
        return r;
}

/* Values for the variables: what Z3's model says, strings of its lengths filled with one letter. */
static void fill(struct abstraction *a, Z3_model m, const vec_u32 *order, struct value *val)
{
        for (size_t i = 0; i < order->n; i++) {
                tid t = order->d[i];
                struct value *v = &val[t];
                Z3_ast r = NULL;
                int64_t n = 0;

                if (term_get(a->bank, t)->op != OP_VAR)
                        continue;
                *v = (struct value){.sort = (enum sort)term_get(a->bank, t)->sort, .set = true};
                if (!Z3_model_eval(a->z, m, a->ast[t], true, &r))
                        continue;
                if (v->sort == SORT_BOOL) {
                        v->b = Z3_get_bool_value(a->z, r) == Z3_L_TRUE;
                        continue;
                }
                v->set = Z3_get_numeral_int64(a->z, r, &n);
                v->i = n;
                if (v->sort == SORT_STR) {
                        vec_u32 c = {};

                        if (n < 0 || n > 1 << 20) {
                                v->set = false;
                                continue;
                        }
                        while (n-- > 0)
                                vec_push(&c, 'a');
                        v->s = ustr_get(&a->bank->strings, &a->bank->arena, c.d, c.n);
                        vec_free(&c);
                }
        }
}

enum verdict strand_solve(struct bank *b, const tid *asserts, size_t n, const struct strand_options *opt,
                          struct strand_stats *stats, struct value *val)
{
        struct abstraction a = {.bank = b};
        Z3_config cfg = Z3_mk_config();
        enum verdict verdict = VERDICT_UNKNOWN;
        vec_u32 order = {};
        Z3_lbool sat;

        (void)opt;
        Z3_set_param_value(cfg, "model", "true");
        a.z = Z3_mk_context(cfg);
        Z3_del_config(cfg);
        Z3_set_error_handler(a.z, on_error);
        a.solver = Z3_mk_simple_solver(a.z);
        Z3_solver_inc_ref(a.z, a.solver);
        a.ints = Z3_mk_int_sort(a.z);
        a.bools = Z3_mk_bool_sort(a.z);
        a.ast = util_alloc(b->terms.n * sizeof(*a.ast));
        term_reach(b, asserts, n, &order);
        for (size_t i = 0; i < order.n; i++)
                a.ast[order.d[i]] = abstract(&a, term_get(b, order.d[i]));
        for (size_t i = 0; i < n; i++)
                Z3_solver_assert(a.z, a.solver, a.ast[asserts[i]]);
        stats->rounds++;
        stats->z3_checks++;
        sat = Z3_solver_check(a.z, a.solver);
        if (sat == Z3_L_FALSE) {
                verdict = VERDICT_UNSAT;
        } else if (sat == Z3_L_TRUE) {
                Z3_model m = Z3_solver_get_model(a.z, a.solver);

                Z3_model_inc_ref(a.z, m);
                fill(&a, m, &order, val);
                Z3_model_dec_ref(a.z, m);
                stats->models++;
                eval_terms(b, order.d, order.n, val);
                verdict = VERDICT_SAT;
                for (size_t i = 0; i < n; i++)
                        if (!val[asserts[i]].set || !val[asserts[i]].b)
                                verdict = VERDICT_UNKNOWN;
        }
        free(a.ast);
        vec_free(&order);
        Z3_solver_dec_ref(a.z, a.solver);
        Z3_del_context(a.z);
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
