/* Features of a script: one pass over its distinct terms, arguments first. */
#include "core/smtlib/feature_internal.h"

#include <math.h>

#include "core/smtlib/smtlib_internal.h"

/* The values that arguments hand up to their terms; all of these are small or saturate. */
struct upward {
        uint32_t nesting;     /* of quantifiers */
        uint32_t from_forall; /* changes of quantifier, and 1, of a chain that begins with forall; 0: there is none */
        uint32_t from_exists;
        uint32_t regex, stores;
};

struct pass {
        double *v;
        struct term_list all;
        struct term_map at; /* of a term: its index in all, and 1 */
        struct upward *up;  /* beside all */
        uint8_t *sorts;     /* by id: seen */
        size_t n_sorts;
};

static void pass_done(struct pass *p)
{
        term_list_done(&p->all);
        term_map_done(&p->at);
        free(p->up);
        free(p->sorts);
}

static void raise_to(double *v, double to)
{
        if (to > *v)
                *v = to;
}

static uint32_t array_nesting(const struct sort *s)
{
        uint32_t nesting = 0;

        for (; s->kind == SORT_ARRAY; s = s->args[1])
                nesting++;
        return nesting;
}

static bool is_connective(const struct term *t)
{
        if (t->op == OP_NOT || t->op == OP_AND || t->op == OP_OR || t->op == OP_XOR || t->op == OP_IMPLIES)
                return true;
        if (t->op == OP_EQUAL || t->op == OP_DISTINCT)
                return term_is_bool(t->args[0]);
        return t->op == OP_ITE && term_is_bool(t);
}

static void count_sort(struct pass *p, const struct term *t)
{
        const struct sort *s = t->sort;

        if (s->kind >= SORT_BOOL && s->kind <= SORT_NAMED)
                p->v[F_SORT_BOOL + s->kind - SORT_BOOL]++;
        else
                p->v[F_SORT_UNKNOWN]++;
        if (s->id < p->n_sorts && !p->sorts[s->id]) {
                p->sorts[s->id] = 1;
                p->v[F_SORTS_USED]++;
        }
        if (s->kind == SORT_BITVEC)
                raise_to(&p->v[F_BITVEC_WIDTH_MAX], s->index[0]);
        if (s->kind == SORT_ARRAY)
                raise_to(&p->v[F_ARRAY_NESTING], array_nesting(s));
}

static void count_literal(struct pass *p, const struct term *t)
{
        double value;
        uint64_t bits;

        p->v[F_LITERALS]++;
        if (t->sort->kind == SORT_STRING) {
                value = (double)term_string_length(t);
                raise_to(&p->v[F_STRING_LITERAL_MAX], value);
                p->v[F_STRING_LITERAL_SUM] += value;
        } else if (t->sort->kind == SORT_BITVEC) {
                if (term_to_bitvec(t, &bits))
                        raise_to(&p->v[F_BITVEC_LITERAL_MAX], (double)bits);
        } else if (term_to_real(t, &value)) {
                bool is_int = t->sort->kind == SORT_INT;

                value = isfinite(value) ? value : 1e300; /* more than 300 digits; sums stay numbers */
                raise_to(&p->v[is_int ? F_INT_LITERAL_MAX : F_REAL_LITERAL_MAX], value);
                p->v[is_int ? F_INT_LITERAL_SUM : F_REAL_LITERAL_SUM] += value;
        }
}

static bool is_number(const struct term *t)
{
        double value;

        return term_to_real(t, &value);
}

static void count_operator(struct pass *p, const struct term *t)
{
        size_t others = 0;

        if (p->v[N_SMT_FEATURES + t->op - 1]++ == 0)
                p->v[F_OPERATORS_USED]++;
        p->v[F_THEORY_CORE + operator_row(t->op)->theory]++;
        p->v[F_CONNECTIVES] += is_connective(t);
        if (t->op == OP_TIMES || t->op == OP_DIVIDE || t->op == OP_INT_DIV || t->op == OP_MOD || t->op == OP_REM) {
                for (size_t i = 0; i < t->n_args && others < 2; i++)
                        others += !is_number(t->args[i]);
                p->v[F_NONLINEAR] += others > 1 || (t->op != OP_TIMES && !is_number(t->args[t->n_args - 1]));
        }
        if (t->op == OP_RE_LOOP || t->op == OP_RE_POWER)
                for (size_t i = 0; i < term_n_index(t); i++)
                        raise_to(&p->v[F_LOOP_MAX], t->index[i]);
}

static void count_kind(struct pass *p, const struct term *t)
{
        switch ((int)t->kind) {
        case TERM_LITERAL:
                count_literal(p, t);
                break;
        case TERM_FUNCTION:
                p->v[t->n_args > 0 ? F_APPLICATIONS : F_CONSTANTS]++;
                if (t->n_args == 0 && t->sort->kind == SORT_BITVEC)
                        p->v[F_BITVEC_WIDTH_SUM] += t->sort->index[0];
                break;
        case TERM_OPERATOR:
                count_operator(p, t);
                break;
        case TERM_OPAQUE:
                p->v[F_FOREIGN_TERMS]++;
                break;
        case TERM_FORALL:
        case TERM_EXISTS:
        case TERM_LAMBDA:
                p->v[t->kind == TERM_FORALL ? F_FORALLS : t->kind == TERM_EXISTS ? F_EXISTS : F_LAMBDAS]++;
                p->v[F_BOUND_VARIABLES] += t->n_bound;
                break;
        case TERM_ANNOTATED:
                p->v[F_ANNOTATIONS]++;
                p->v[F_PATTERNS] += t->n_args > 1;
                break;
        }
        p->v[F_ATOMS] += term_is_bool(t) && t->kind != TERM_ANNOTATED && !term_is_quantifier(t) && !is_connective(t);
        p->v[F_QUANTIFIED_TERMS] += t->has_quantifier;
}

/* The values that a term hands up. */
static struct upward sum_up(struct pass *p, const struct term *t)
{
        struct upward u = {0};

        for (size_t i = term_first_arg(t); i < t->n_args; i++) {
                const struct upward *x = &p->up[term_map_get(&p->at, t->args[i]) - 1];

                u.nesting = MAX(u.nesting, x->nesting);
                u.from_forall = MAX(u.from_forall, x->from_forall);
                u.from_exists = MAX(u.from_exists, x->from_exists);
                if (t->sort->kind == SORT_REGLAN)
                        u.regex = MAX(u.regex, x->regex);
                if (t->op == OP_STORE && i == 0)
                        u.stores = x->stores;
        }
        u.nesting += term_is_quantifier(t);
        if (t->kind == TERM_FORALL)
                u.from_forall = MAX(u.from_forall, u.from_exists + 1);
        if (t->kind == TERM_EXISTS)
                u.from_exists = MAX(u.from_exists, u.from_forall + 1);
        u.regex += t->sort->kind == SORT_REGLAN;
        u.stores += t->op == OP_STORE;
        raise_to(&p->v[F_QUANTIFIER_NESTING], u.nesting);
        if (MAX(u.from_forall, u.from_exists) > 0)
                raise_to(&p->v[F_QUANTIFIER_ALTERNATION], MAX(u.from_forall, u.from_exists) - 1);
        raise_to(&p->v[F_REGEX_DEPTH], u.regex);
        raise_to(&p->v[F_STORE_CHAIN], u.stores);
        return u;
}

static void count_terms(struct pass *p, const struct term_list *roots)
{
        term_subterms(roots->list, roots->n, &p->all);
        term_map_init(&p->at, roots->list, roots->n);
        p->up = allocate(p->all.n, sizeof(*p->up));
        for (size_t i = 0; i < p->all.n; i++) {
                const struct term *t = p->all.list[i];
                size_t n_args = t->n_args - term_first_arg(t);

                p->v[F_EDGES] += (double)n_args;
                raise_to(&p->v[F_ARITY], (double)n_args);
                count_sort(p, t);
                count_kind(p, t);
                p->up[i] = sum_up(p, t);
                term_map_set(&p->at, t, (uint32_t)i + 1);
        }
        p->v[F_DAG_SIZE] = (double)p->all.n;
        for (size_t i = 0; i < roots->n; i++) {
                raise_to(&p->v[F_DEPTH], roots->list[i]->depth);
                p->v[F_TREE_SIZE] = fmin(p->v[F_TREE_SIZE] + (double)roots->list[i]->tree_size, (double)UINT64_MAX);
        }
        p->v[F_SHARING] = p->all.n > 0 ? p->v[F_TREE_SIZE] / (double)p->all.n : 0;
}

static void count_commands(struct pass *p, const struct script *s, struct term_list *roots)
{
        double level = 0;

        p->v[F_COMMANDS] = (double)s->n_commands;
        for (size_t i = 0; i < s->n_commands; i++) {
                const struct command *c = &s->commands[i];

                p->v[F_ASSERTS] += c->kind == COMMAND_ASSERT;
                p->v[F_CHECKS] += c->kind == COMMAND_CHECK_SAT || c->kind == COMMAND_CHECK_SAT_ASSUMING;
                p->v[F_SORTS_DECLARED] += c->kind == COMMAND_DECLARE_SORT || c->kind == COMMAND_DECLARE_DATATYPES;
                p->v[F_DEFINITIONS] += c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC;
                p->v[F_OPAQUE] += c->kind == COMMAND_OPAQUE;
                if (c->kind == COMMAND_DECLARE_FUN || c->kind == COMMAND_DECLARE_CONST) {
                        p->v[c->function->n_args > 0 ? F_FUNCTIONS_DECLARED : F_CONSTANTS_DECLARED]++;
                        raise_to(&p->v[F_FUNCTION_ARITY], c->function->n_args);
                }
                level += c->kind == COMMAND_PUSH ? c->levels : 0;
                raise_to(&p->v[F_LEVELS], level);
                level -= c->kind == COMMAND_POP ? c->levels : 0;
                if (c->kind == COMMAND_ASSERT)
                        raise_to(&p->v[F_LARGEST_ASSERT], (double)c->term->tree_size);
                if (c->term)
                        term_list_add(roots, c->term);
                for (size_t k = 0; c->kind == COMMAND_CHECK_SAT_ASSUMING && k < c->n_terms; k++)
                        term_list_add(roots, c->terms[k]);
        }
}

void features_of_script(const struct script *s, struct features *ret)
{
        cleanup(pass_done) struct pass p = {.n_sorts = s->bank->sorts.n};
        cleanup_term_list struct term_list roots = {0};

        smt_features(&ret->n);
        p.v = ret->values = allocate(ret->n, sizeof(*ret->values));
        p.sorts = allocate(p.n_sorts, 1);
        count_commands(&p, s, &roots);
        if (roots.n > 0)
                count_terms(&p, &roots);
}

int features_of_smt(struct slice bytes, struct features *ret)
{
        cleanup_script struct script *s = NULL;
        int r = script_read(bytes, NULL, &s);

        if (r == 0)
                features_of_script(s, ret);
        return r;
}
