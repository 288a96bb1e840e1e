/* A logic by its name: the arithmetic at its end, then the theories before it. And whether a term keeps to it, from the leaves up. */
#include "core/smtlib/logic.h"

#include "core/smtlib/smtlib_internal.h"

#define A_BIT(theory) (1u << (theory))

/* Removes a part from the name's beginning. */
static bool take(struct slice *name, const char *part)
{
        size_t n = strlen(part);

        if (name->size < n || memcmp(name->data, part, n) != 0)
                return false;
        *name = SLICE((const char *)name->data + n, name->size - n);
        return true;
}

/* Reads the letters before the arithmetic. */
static void read_theories(struct logic *l, struct slice rest)
{
        bool is_all;

        l->theories |= A_BIT(THEORY_CORE);
        l->has_quantifiers = !take(&rest, "QF_");
        is_all = take(&rest, "ALL");
        if (is_all)
                l->theories = A_BIT(N_THEORIES) - 1;
        else if (take(&rest, "AX") || take(&rest, "A"))
                l->theories |= A_BIT(THEORY_ARRAYS);
        l->has_functions = take(&rest, "UF") || is_all;
        if (take(&rest, "BV"))
                l->theories |= A_BIT(THEORY_BITVECTORS);
        if (take(&rest, "FP"))
                l->theories |= A_BIT(THEORY_FLOATS);
        if (take(&rest, "S"))
                l->theories |= A_BIT(THEORY_STRINGS);
        l->is_known = rest.size == 0 && (l->has_functions || l->theories != A_BIT(THEORY_CORE));
}

struct logic logic_of(const char *name)
{
        static const struct {
                const char *end;
                struct logic logic;
        } arithmetics[] = {
                {"IDL", {.is_linear = true, .no_real = true, .is_difference = true}},
                {"RDL", {.is_linear = true, .no_int = true, .is_difference = true}},
                {"LIA", {.is_linear = true, .no_real = true}},
                {"LRA", {.is_linear = true, .no_int = true}},
                {"LIRA", {.is_linear = true}},
                {"NIA", {.no_real = true, .is_nonlinear = true}},
                {"NRA", {.no_int = true, .is_nonlinear = true}},
                {"NRAT", {.no_int = true, .is_nonlinear = true}}, /* CVC4's and cvc5's: with sine and similar functions */
                {"NIRA", {.is_nonlinear = true}},
        };
        struct logic l = {0};
        size_t n = name ? strlen(name) : 0;

        for (size_t i = 0; i < ARRAY_SIZE(arithmetics); i++) {
                size_t k = strlen(arithmetics[i].end);

                if (n >= k && memcmp(name + n - k, arithmetics[i].end, k) == 0) {
                        l = arithmetics[i].logic;
                        l.theories = A_BIT(THEORY_ARITHMETIC);
                        n -= k;
                        break;
                }
        }
        read_theories(&l, SLICE(name, n));
        return l;
}

/* -- terms: each subterm is CONSTANT, made of literals alone, or VARIES -- */

enum {
        CONSTANT = 1,
        VARIES
};

/* Counts non-constant arguments from `from` on. */
static size_t count_varying(const struct term_map *seen, const struct term *t, size_t from)
{
        size_t n = 0;

        for (size_t i = from; i < t->n_args; i++)
                n += term_map_get(seen, t->args[i]) != CONSTANT;
        return n;
}

static bool is_linear(const struct term_map *seen, const struct term *t)
{
        switch ((int)t->op) {
        case OP_TIMES:
                return count_varying(seen, t, 0) <= 1;
        case OP_DIVIDE:
        case OP_INT_DIV:
        case OP_MOD:
        case OP_REM:
                return count_varying(seen, t, 1) == 0;
        case OP_POWER:
        case OP_IAND:
        case OP_INT_POW2:
                return count_varying(seen, t, 0) == 0;
        default:
                return t->op < OP_PI || t->op > OP_REAL_SQRT; /* exp, sin … are between them */
        }
}

/* True if difference logic has the term: it compares two terms, or their difference with a constant. Solvers drop an assertion of another shape. */
static bool is_difference(const struct term_map *seen, const struct term *t)
{
        bool relates = term_is(t, OP_EQUAL) || term_is(t, OP_DISTINCT) || (t->op >= OP_LE && t->op <= OP_GT);
        size_t varying = count_varying(seen, t, 0);

        for (size_t i = 0; i < t->n_args; i++)
                if (term_is(t->args[i], OP_MINUS) && term_map_get(seen, t->args[i]) != CONSTANT)
                        return relates && t->n_args == 2 && varying == 1;
        if (relates || t->kind != TERM_OPERATOR || operator_row(t->op)->theory != THEORY_ARITHMETIC)
                return true;
        return varying == 0 ? term_is(t, OP_NEGATE) || term_is(t, OP_DIVIDE) : term_is(t, OP_MINUS) && t->n_args == 2 && varying == 2;
}

/* True if the name has the operator's theory. Arithmetic comes with strings: a name such as QF_S does not say which. */
static bool has_theory(const struct logic *l, const struct term *t)
{
        enum theory theory = operator_row(t->op)->theory;

        return l->theories & (A_BIT(theory) | (theory == THEORY_ARITHMETIC ? A_BIT(THEORY_STRINGS) : 0));
}

static bool is_allowed(const struct logic *l, const struct term_map *seen, const struct term *t)
{
        if (l->is_known && t->kind == TERM_OPERATOR && !has_theory(l, t))
                return false;
        if (l->is_difference && !is_difference(seen, t))
                return false;
        if (t->sort && ((l->no_int && t->sort->kind == SORT_INT) || (l->no_real && t->sort->kind == SORT_REAL)))
                return false;
        if (l->no_int && term_is(t, OP_IS_INT))
                return false;
        return !l->is_linear || t->kind != TERM_OPERATOR || is_linear(seen, t);
}

bool logic_allows(const struct logic *l, const struct term *root)
{
        cleanup_term_list struct term_list terms = {0};
        cleanup_term_map struct term_map seen = {0};

        if (!l->is_known && !l->is_linear && !l->no_int && !l->no_real)
                return true;
        term_subterms(&root, 1, &terms);
        term_map_init(&seen, &root, 1);
        for (size_t i = 0; i < terms.n; i++) {
                const struct term *t = terms.list[i];
                bool constant = (t->kind == TERM_LITERAL || t->kind == TERM_OPERATOR || t->kind == TERM_ANNOTATED) &&
                                count_varying(&seen, t, 0) == 0;

                if (!is_allowed(l, &seen, t))
                        return false;
                term_map_set(&seen, t, constant ? CONSTANT : VARIES);
        }
        return true;
}
