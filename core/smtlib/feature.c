/* The tables of features, and their values: for a script by one pass over its distinct terms, arguments first; for DIMACS clause by clause. */
#include "core/smtlib/feature.h"

#include <math.h>
#include <pthread.h>

#include "core/smtlib/cnf.h"
#include "core/smtlib/smtlib_internal.h"

enum smt_feature {
#define SMT_FEATURE(number, ...) number,
#include "core/smtlib/feature_list.h"
        N_SMT_FEATURES /* followed by one for each operator */
};

enum cnf_feature {
#define CNF_FEATURE(number, ...) number,
#include "core/smtlib/feature_list.h"
        N_CNF_FEATURES
};

/* -- the tables -- */

/* One for each enum smt_feature; those of the operators follow. */
#define SMT_FEATURE(number, ...) [number] = {__VA_ARGS__},
static struct feature smt[N_SMT_FEATURES + N_OPS - 1] = {
#include "core/smtlib/feature_list.h"
};

#define CNF_FEATURE(number, ...) [number] = {__VA_ARGS__},
static const struct feature cnf[N_CNF_FEATURES] = {
#include "core/smtlib/feature_list.h"
};

/* Names and meanings of the operators' features, made once. */
static char operator_names[N_OPS][64], operator_meanings[N_OPS][96];

/* Adds the number of arguments to names that several operators share. */
static void name_operators(void)
{
        for (enum op op = OP_NONE + 1; op < N_OPS; op++) {
                const char *name = operator_row(op)->name;
                struct feature *f = &smt[N_SMT_FEATURES + op - 1];
                char *text = operator_names[op], *meaning = operator_meanings[op];
                size_t n = (size_t)snprintf(text, sizeof(operator_names[op]), "op:%s", name);

                if (operator_next(operator_find(slice_string(name))) != OP_NONE)
                        snprintf(text + n, sizeof(operator_names[op]) - n, "/%zu", operator_n_args(op));
                snprintf(meaning, sizeof(operator_meanings[op]), "distinct applications of %s", text + 3);
                f->name = text;
                f->meaning = meaning;
        }
}

const struct feature *smt_features(size_t *ret_n)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, name_operators);
        *ret_n = ARRAY_SIZE(smt);
        return smt;
}

const struct feature *cnf_features(size_t *ret_n)
{
        *ret_n = ARRAY_SIZE(cnf);
        return cnf;
}

void features_done(struct features *f)
{
        free(f->values);
        *f = (struct features){0};
}

void features_print(const struct feature *table, const struct features *f, struct buffer *ret)
{
        for (size_t i = 0; i < f->n; i++)
                buffer_addf(ret, "%s\t%.12g\n", table[i].name, f->values[i]);
}

/* -- SMT-LIB -- */

/* The values that arguments pass up to their terms; all of these are small or saturate. */
struct upward {
        uint32_t nesting;     /* of quantifiers */
        uint32_t from_forall; /* quantifier alternations plus 1, of a chain that begins with forall; 0: no chain */
        uint32_t from_exists;
        uint32_t regex, stores;
};

struct pass {
        double *v;
        struct term_list all;
        struct term_map at; /* by term: its index in `all` plus 1 */
        struct upward *up;  /* parallel to `all` */
        uint8_t *sorts;     /* by id: nonzero if seen */
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

                value = isfinite(value) ? value : 1e300; /* more than 300 digits; keeps sums finite */
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

/* The values that a term passes up. */
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
                p->v[F_CHECKS] += command_asks(c);
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

/* -- DIMACS -- */

struct scan {
        double *v;
        uint32_t *occurrences; /* by variable */
        size_t n_occurrences;
        size_t length, positive; /* of the current clause */
};

static void end_clause(struct scan *s)
{
        static const enum cnf_feature by_length[] = {C_EMPTY, C_UNIT, C_BINARY, C_TERNARY};
        double n = (double)s->length;

        s->v[s->length < 4 ? by_length[s->length] : s->length <= 8 ? C_LENGTH_4_TO_8 : C_LENGTH_9_UP]++;
        s->v[C_LENGTH_MIN] = s->v[C_CLAUSES] == 0 ? n : MIN(s->v[C_LENGTH_MIN], n);
        s->v[C_LENGTH_MAX] = MAX(s->v[C_LENGTH_MAX], n);
        s->v[C_CLAUSES]++;
        s->v[C_LITERALS] += n;
        s->v[C_POSITIVE] += (double)s->positive;
        s->v[C_HORN] += s->positive <= 1;
        s->length = s->positive = 0;
}

/* Memory grows with the variables that occur, not with the header's number. */
static void count_occurrence(struct scan *s, uint32_t variable)
{
        while (variable >= s->n_occurrences)
                list_add(s->occurrences, s->n_occurrences, 0);
        s->v[C_VARIABLES_USED] += s->occurrences[variable]++ == 0;
        s->v[C_OCCURRENCES_MAX] = MAX(s->v[C_OCCURRENCES_MAX], (double)s->occurrences[variable]);
        s->v[C_VARIABLES] = MAX(s->v[C_VARIABLES], (double)variable);
}

static void count_cnf_literal(struct scan *s, int32_t literal)
{
        if (literal == 0) {
                end_clause(s);
                return;
        }
        s->length++;
        s->positive += literal > 0;
        count_occurrence(s, (uint32_t)(literal < 0 ? -literal : literal));
}

int features_of_cnf(struct slice bytes, struct features *ret)
{
        cleanup_features struct features f = {.n = N_CNF_FEATURES};
        struct scan s = {0};
        struct cnf_reader reader;
        int32_t literal;
        int r;

        s.v = f.values = allocate(f.n, sizeof(*f.values));
        cnf_reader_init(&reader, bytes);
        while ((r = cnf_next(&reader, &literal)) > 0)
                count_cnf_literal(&s, literal);
        free(s.occurrences);
        if (r < 0)
                return r;
        s.v[C_VARIABLES] = MAX(s.v[C_VARIABLES], (double)reader.variables);
        s.v[C_LENGTH_MEAN] = s.v[C_CLAUSES] > 0 ? s.v[C_LITERALS] / s.v[C_CLAUSES] : 0;
        s.v[C_RATIO] = s.v[C_VARIABLES_USED] > 0 ? s.v[C_CLAUSES] / s.v[C_VARIABLES_USED] : 0;
        *ret = f;
        f = (struct features){0};
        return 0;
}
