#include "zed.h"
#include "zed_z3.h"
#include <z3_version.h>

#define ZED_MASTER_UNITS 200000000
#define ZED_ARITH_UNITS  20000000

static void on_error(Z3_context c, Z3_error_code e)
{
        (void)c;
        (void)e;
}

/* Z3 gives up after that many of its resource units: deterministic, and without the thread that its timeouts
 * start at every check (which fails where processes are scarce, and takes the program down). */
static void limit(struct zed *z, Z3_solver s, unsigned units, unsigned seed)
{
        Z3_params p = z3.mk_params(z->z);

        z3.params_inc_ref(z->z, p);
        z3.params_set_uint(z->z, p, z3.mk_string_symbol(z->z, "rlimit"), units);
        z3.params_set_uint(z->z, p, z3.mk_string_symbol(z->z, "random_seed"), seed);
        z3.solver_set_params(z->z, s, p);
        z3.params_dec_ref(z->z, p);
}

bool zed_init(struct zed *z, struct bank *b, struct strand_stats *stats, double deadline, uint32_t seed)
{
        Z3_config cfg;

        if (!z3_load())
                return false;
        cfg = z3.mk_config();
        memset(z, 0, sizeof(*z));
        z->b = b;
        z->stats = stats;
        z->deadline = deadline;
        z3.set_param_value(cfg, "model", "true");
        z->z = z3.mk_context(cfg);
        z3.del_config(cfg);
        z3.set_error_handler(z->z, on_error);
        z->master = z3.mk_simple_solver(z->z);
        z3.solver_inc_ref(z->z, z->master);
        z->arith = z3.mk_simple_solver(z->z);
        z3.solver_inc_ref(z->z, z->arith);
        z->ints = z3.mk_int_sort(z->z);
        z->bools = z3.mk_bool_sort(z->z);
        limit(z, z->master, ZED_MASTER_UNITS, seed);
        limit(z, z->arith, ZED_ARITH_UNITS, seed);
        return true;
}

static void drop(struct zed *z, Z3_model *m)
{
        if (*m)
                z3.model_dec_ref(z->z, *m);
        *m = NULL;
}

void zed_free(struct zed *z)
{
        drop(z, &z->model);
        drop(z, &z->skeleton);
        z3.solver_dec_ref(z->z, z->master);
        z3.solver_dec_ref(z->z, z->arith);
        z3.del_context(z->z);
        vec_free(&z->ast);
        vec_free(&z->proxy);
        vec_free(&z->fact);
        vec_free(&z->number);
        vec_free(&z->watched);
        vec_free(&z->watch_of);
}

static Z3_ast translate(struct zed *z, tid t)
{
        const struct term *x = term_get(z->b, t);
        VEC(Z3_ast) args = {};
        Z3_context c = z->z;
        unsigned n = x->nargs;
        Z3_ast r = NULL, *a;

        for (unsigned i = 0; i < n; i++)
                vec_push(&args, z->ast.d[x->args[i]]);
        a = args.d;
        switch ((enum op)x->op) {
        case OP_TRUE:
                r = z3.mk_true(c);
                break;
        case OP_FALSE:
                r = z3.mk_false(c);
                break;
        case OP_VAR:
                if (x->sort == SORT_BOOL || x->sort == SORT_INT)
                        r = z3.mk_fresh_const(c, "v", x->sort == SORT_INT ? z->ints : z->bools);
                break;
        case OP_NUM:
                r = z3.mk_int64(c, x->a, z->ints);
                break;
        case OP_NOT:
                r = z3.mk_not(c, a[0]);
                break;
        case OP_AND:
                r = z3.mk_and(c, n, a);
                break;
        case OP_OR:
                r = z3.mk_or(c, n, a);
                break;
        case OP_ITE:
                if (x->sort == SORT_BOOL)
                        r = z3.mk_ite(c, a[0], a[1], a[2]);
                break;
        case OP_EQ:
                if (term_get(z->b, x->args[0])->sort == SORT_STR)
                        r = z3.mk_fresh_const(c, "eq", z->bools);
                else
                        r = z3.mk_eq(c, a[0], a[1]);
                break;
        case OP_LE:
                r = z3.mk_le(c, a[0], a[1]);
                break;
        case OP_ADD:
                r = z3.mk_add(c, n, a);
                break;
        case OP_MUL:
                r = z3.mk_mul(c, n, a);
                break;
        case OP_DIV:
                r = z3.mk_div(c, a[0], a[1]);
                break;
        case OP_MOD:
                r = z3.mk_mod(c, a[0], a[1]);
                break;
        case OP_LEN:
                r = z3.mk_fresh_const(c, "len", z->ints);
                if (!z->watcher) /* asserting from a propagator's callback would undo the assignment it looks at */
                        z3.solver_assert(c, z->master, z3.mk_ge(c, r, z3.mk_int64(c, 0, z->ints)));
                z3.solver_assert(c, z->arith, z3.mk_ge(c, r, z3.mk_int64(c, 0, z->ints)));
                break;
        case OP_TO_CODE:
        case OP_TO_INT:
                r = z3.mk_fresh_const(c, "of", z->ints);
                break;
        case OP_IN_RE:
        case OP_CONTAINS:
                r = z3.mk_fresh_const(c, "in", z->bools);
                break;
        default:
                break; /* strings and languages: nothing in Z3 */
        }
        vec_free(&args);
        return r;
}

static Z3_ast ast(struct zed *z, tid t)
{
        vec_u32 todo = {};

        while (z->ast.n < z->b->terms.n)
                vec_push(&z->ast, NULL);
        if (z->ast.d[t])
                return z->ast.d[t];
        vec_push(&todo, t);
        while (todo.n) { /* depth first; arguments before the term */
                tid u = vec_last(&todo);
                const struct term *x = term_get(z->b, u);
                bool ready = true;

                if (x->op != OP_LEN && x->op != OP_IN_RE && x->op != OP_CONTAINS)
                        for (uint32_t i = 0; i < x->nargs; i++) {
                                enum sort s = (enum sort)term_get(z->b, x->args[i])->sort;

                                if (!z->ast.d[x->args[i]] && (s == SORT_BOOL || s == SORT_INT)) {
                                        vec_push(&todo, x->args[i]);
                                        ready = false;
                                }
                        }
                if (!ready)
                        continue;
                if (!z->ast.d[u])
                        z->ast.d[u] = translate(z, u);
                todo.n--;
        }
        vec_free(&todo);
        return z->ast.d[t];
}

void zed_assert(struct zed *z, tid formula)
{
        z3.solver_assert(z->z, z->master, ast(z, formula));
}

void zed_block(struct zed *z, const tid *atom, const bool *negative, size_t n, tid guard)
{
        VEC(Z3_ast) lits = {};

        for (size_t i = 0; i < n; i++) {
                Z3_ast a = ast(z, atom[i]);

                vec_push(&lits, negative[i] ? a : z3.mk_not(z->z, a));
        }
        if (guard)
                vec_push(&lits, z3.mk_not(z->z, ast(z, guard)));
        z3.solver_assert(z->z, z->master, lits.n ? z3.mk_or(z->z, (unsigned)lits.n, lits.d) : z3.mk_false(z->z));
        vec_free(&lits);
}

enum verdict zed_check(struct zed *z, tid guard, bool *guarded)
{
        Z3_ast g = ast(z, guard);
        Z3_lbool r;

        z->stats->z3_checks++;
        drop(z, &z->skeleton);
        r = z3.solver_check_assumptions(z->z, z->master, 1, &g);
        if (r == Z3_L_FALSE) {
                Z3_ast_vector core = z3.solver_get_unsat_core(z->z, z->master);

                z3.ast_vector_inc_ref(z->z, core);
                *guarded = z3.ast_vector_size(z->z, core) > 0;
                z3.ast_vector_dec_ref(z->z, core);
                return VERDICT_UNSAT;
        }
        if (r != Z3_L_TRUE)
                return VERDICT_UNKNOWN;
        z->skeleton = z3.solver_get_model(z->z, z->master);
        z3.model_inc_ref(z->z, z->skeleton);
        return VERDICT_SAT;
}

bool zed_truth(struct zed *z, tid formula)
{
        Z3_ast r = NULL;

        if (z->watcher)
                return z->watcher->truth(z->data, formula);
        if (!z3.model_eval(z->z, z->skeleton, ast(z, formula), true, &r))
                return false;
        return z3.get_bool_value(z->z, r) == Z3_L_TRUE;
}

/* ---- the user propagator ---- */

static void *on_fresh(void *data, Z3_context c)
{
        (void)c; /* for solvers that copy themselves; the simple one does not */
        return data;
}

static void on_final(void *data, Z3_solver_callback cb)
{
        struct zed *z = data;

        z->callback = cb;
        z->watcher->final(z->data);
}

static void pushed(struct zed *z)
{
        z->watcher->push(z->data);
}

static void popped(struct zed *z, unsigned n)
{
        z->watcher->pop(z->data, n);
}

static void fixed(struct zed *z, uint32_t number, Z3_ast value)
{
        z->watcher->fixed(z->data, number, z3.get_bool_value(z->z, value) == Z3_L_TRUE);
}

#if Z3_MAJOR_VERSION == 4 && Z3_MINOR_VERSION < 9 /* Z3 numbers what is watched, and its numbers are ours */

static void on_push(void *data)
{
        pushed(data);
}

static void on_pop(void *data, unsigned n)
{
        popped(data, n);
}

static void on_fixed(void *data, Z3_solver_callback cb, unsigned number, Z3_ast value)
{
        (void)cb;
        fixed(data, number, value);
}

static uint32_t watch(struct zed *z, Z3_ast a)
{
        return z3.solver_propagate_register(z->z, z->master, a);
}

void zed_refute(struct zed *z, const uint32_t *numbers, size_t n)
{
        z3.solver_propagate_consequence(z->z, z->callback, (unsigned)n, numbers, 0, NULL, NULL, z3.mk_false(z->z));
}

#else

static void on_push(void *data, Z3_solver_callback cb)
{
        (void)cb;
        pushed(data);
}

static void on_pop(void *data, Z3_solver_callback cb, unsigned n)
{
        (void)cb;
        popped(data, n);
}

static void on_fixed(void *data, Z3_solver_callback cb, Z3_ast a, Z3_ast value)
{
        struct zed *z = data;
        uint32_t number = map_get(&z->watch_of, z3.get_ast_id(z->z, a));

        (void)cb;
        if (number)
                fixed(z, number - 1, value);
}

static uint32_t watch(struct zed *z, Z3_ast a)
{
        vec_push(&z->watched, a);
        map_set(&z->watch_of, z3.get_ast_id(z->z, a), (uint32_t)z->watched.n);
        z3.solver_propagate_register(z->z, z->master, a);
        return (uint32_t)z->watched.n - 1;
}

void zed_refute(struct zed *z, const uint32_t *numbers, size_t n)
{
        VEC(Z3_ast) terms = {};

        for (size_t i = 0; i < n; i++)
                vec_push(&terms, z->watched.d[numbers[i]]);
        z3.solver_propagate_consequence(z->z, z->callback, (unsigned)n, terms.d, 0, NULL, NULL, z3.mk_false(z->z));
        vec_free(&terms);
}

#endif

void zed_propagate(struct zed *z, const struct zed_watcher *w, void *data)
{
        Z3_params p = z3.mk_params(z->z);

        /* Without relevancy every atom is assigned at the end. What the search's integer solver spends counts for the
         * solver that called it, too, so that one may spend as much as can be said. */
        z3.params_inc_ref(z->z, p);
        z3.params_set_uint(z->z, p, z3.mk_string_symbol(z->z, "relevancy"), 0);
        z3.params_set_uint(z->z, p, z3.mk_string_symbol(z->z, "rlimit"), UINT32_MAX);
        z3.solver_set_params(z->z, z->master, p);
        z3.params_dec_ref(z->z, p);
        z->watcher = w;
        z->data = data;
        z3.solver_propagate_init(z->z, z->master, z, on_push, on_pop, on_fresh);
        z3.solver_propagate_fixed(z->z, z->master, on_fixed);
        z3.solver_propagate_final(z->z, z->master, on_final);
}

uint32_t zed_watch(struct zed *z, tid atom)
{
        const struct term *x = term_get(z->b, atom);
        Z3_ast a = ast(z, atom);

        if (x->op == OP_LE || (x->op == OP_EQ && term_get(z->b, x->args[0])->sort == SORT_INT)) {
                Z3_ast same = z3.mk_fresh_const(z->z, "w", z->bools);

                z3.solver_assert(z->z, z->master, z3.mk_iff(z->z, same, a));
                a = same;
        }
        return watch(z, a);
}

/* ---- facts about integers ---- */

uint32_t zed_proxy(struct zed *z, tid fact)
{
        Z3_ast p;

        while (z->number.n <= fact)
                vec_push(&z->number, 0);
        if (z->number.d[fact])
                return z->number.d[fact] - 1;
        p = z3.mk_fresh_const(z->z, "p", z->bools);
        z3.solver_assert(z->z, z->arith, z3.mk_implies(z->z, p, ast(z, fact)));
        vec_push(&z->proxy, p);
        vec_push(&z->fact, fact);
        z->number.d[fact] = (uint32_t)z->proxy.n;
        return (uint32_t)z->proxy.n - 1;
}

enum verdict zed_check_facts(struct zed *z, const uint32_t *proxies, size_t n, vec_u32 *core)
{
        VEC(Z3_ast) assume = {};
        enum verdict v = VERDICT_UNKNOWN;
        Z3_lbool r;

        z->stats->z3_checks++;
        for (size_t i = 0; i < n; i++)
                vec_push(&assume, z->proxy.d[proxies[i]]);
        drop(z, &z->model);
        r = z3.solver_check_assumptions(z->z, z->arith, (unsigned)n, assume.d);
        if (r == Z3_L_TRUE) {
                z->model = z3.solver_get_model(z->z, z->arith);
                z3.model_inc_ref(z->z, z->model);
                v = VERDICT_SAT;
        } else if (r == Z3_L_FALSE) {
                Z3_ast_vector c = z3.solver_get_unsat_core(z->z, z->arith);

                z3.ast_vector_inc_ref(z->z, c);
                for (unsigned i = 0; i < z3.ast_vector_size(z->z, c); i++)
                        for (size_t j = 0; j < n; j++)
                                if (assume.d[j] == z3.ast_vector_get(z->z, c, i))
                                        vec_push(core, (uint32_t)j);
                z3.ast_vector_dec_ref(z->z, c);
                v = VERDICT_UNSAT;
        }
        vec_free(&assume);
        return v;
}

/* zed_check_facts with some more, and without touching the model. */
static enum verdict check_with(struct zed *z, const uint32_t *proxies, size_t n, const tid *facts, size_t m, vec_u32 *core)
{
        Z3_model model = z->model;
        vec_u32 all = {};
        enum verdict v;

        z->model = NULL;
        for (size_t i = 0; i < n; i++)
                vec_push(&all, proxies[i]);
        for (size_t i = 0; i < m; i++)
                vec_push(&all, zed_proxy(z, facts[i]));
        v = zed_check_facts(z, all.d, all.n, core);
        drop(z, &z->model);
        z->model = model;
        vec_free(&all);
        return v;
}

bool zed_refutes(struct zed *z, const uint32_t *proxies, size_t n, tid fact, vec_u32 *core)
{
        size_t kept = 0;

        if (check_with(z, proxies, n, &fact, 1, core) != VERDICT_UNSAT)
                return false;
        for (size_t i = 0; i < core->n; i++)
                if (core->d[i] < n)
                        core->d[kept++] = core->d[i];
        core->n = kept;
        return true;
}

bool zed_allows(struct zed *z, const uint32_t *proxies, size_t n, const tid *facts, size_t m)
{
        vec_u32 core = {};
        bool r = check_with(z, proxies, n, facts, m, &core) == VERDICT_SAT;

        vec_free(&core);
        return r;
}

bool zed_value(struct zed *z, tid t, int64_t *out)
{
        Z3_ast r = NULL;

        return z->model && z3.model_eval(z->z, z->model, ast(z, t), true, &r) && z3.get_numeral_int64(z->z, r, out);
}
