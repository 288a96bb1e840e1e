#include "core/smtlib/logic.h"

#include "core/smtlib/smtlib_internal.h"

struct logic logic_of(const char *name)
{
        static const struct {
                const char *end;
                struct logic logic;
        } arithmetics[] = {
                {"IDL", {.is_linear = true, .no_real = true}},
                {"RDL", {.is_linear = true, .no_int = true}},
                {"LIA", {.is_linear = true, .no_real = true}},
                {"LRA", {.is_linear = true, .no_int = true}},
                {"LIRA", {.is_linear = true}},
                {"NIA", {.no_real = true}},
                {"NRA", {.no_int = true}},
        };
        size_t n = name ? strlen(name) : 0;

        for (size_t i = 0; i < ARRAY_SIZE(arithmetics); i++) {
                size_t k = strlen(arithmetics[i].end);

                if (n >= k && memcmp(name + n - k, arithmetics[i].end, k) == 0)
                        return arithmetics[i].logic;
        }
        return (struct logic){0};
}

enum {
        CONSTANT = 1,
        VARIES
};

/* Of the arguments from there on. */
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
                return t->op < OP_PI || t->op > OP_REAL_SQRT;
        }
}

static bool is_allowed(const struct logic *l, const struct term_map *seen, const struct term *t)
{
        if (t->sort && ((l->no_int && t->sort->kind == SORT_INT) || (l->no_real && t->sort->kind == SORT_REAL)))
                return false;
        return !l->is_linear || t->kind != TERM_OPERATOR || is_linear(seen, t);
}

bool logic_allows(const struct logic *l, const struct term *root)
{
        cleanup_term_list struct term_list terms = {0};
        cleanup_term_map struct term_map seen = {0};

        if (!l->is_linear && !l->no_int && !l->no_real)
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
