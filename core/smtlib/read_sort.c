/* Sorts. */
#include "core/smtlib/read_internal.h"

/* Sort constructors of theories that are not modelled, as Z3 and cvc5 name them. */
static bool is_foreign(struct slice name)
{
        static const char *const names[] = {"Seq",   "Set",  "Bag",     "Relation",  "Tuple",     "Table",           "Nullable",
                                            "RegEx", "Char", "Unicode", "UnitTuple", "FiniteSet", "RealClosedField", "->"};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (name.size == strlen(names[i]) && memcmp(name.data, names[i], name.size) == 0)
                        return true;
        return false;
}

static const struct sort *builtin(struct reader *r, struct slice name, const struct sort *const *args, size_t n)
{
        static const struct {
                const char *name;
                enum sort_kind kind;
                uint32_t exponent, significand;
        } list[] = {
                {"Bool", SORT_BOOL, 0, 0},         {"Int", SORT_INT, 0, 0},        {"Real", SORT_REAL, 0, 0},
                {"String", SORT_STRING, 0, 0},     {"RegLan", SORT_REGLAN, 0, 0},  {"RoundingMode", SORT_ROUNDING_MODE, 0, 0},
                {"Float16", SORT_FLOAT, 5, 11},    {"Float32", SORT_FLOAT, 8, 24}, {"Float64", SORT_FLOAT, 11, 53},
                {"Float128", SORT_FLOAT, 15, 113},
        };

        if (n == 2 && name.size == 5 && memcmp(name.data, "Array", 5) == 0)
                return sort_array(r->bank, args[0], args[1]);
        if (n == 1 && args[0]->kind == SORT_STRING && name.size == 5 && memcmp(name.data, "RegEx", 5) == 0)
                return sort_simple(r->bank, SORT_REGLAN); /* Z3's name of it */
        for (size_t i = 0; n == 0 && i < ARRAY_SIZE(list); i++)
                if (name.size == strlen(list[i].name) && memcmp(name.data, list[i].name, name.size) == 0)
                        return list[i].kind == SORT_FLOAT ? sort_float(r->bank, list[i].exponent, list[i].significand)
                                                          : sort_simple(r->bank, list[i].kind);
        return NULL;
}

static const struct sort *builtin_of(struct reader *r, const struct symbol *s, const struct sort *const *args, size_t n)
{
        if (n > 0)
                return builtin(r, s->name, args, n);
        if (!s->builtin)
                ((struct symbol *)s)->builtin = builtin(r, s->name, NULL, 0);
        return s->builtin;
}

static int apply_sort(struct reader *r, size_t at, struct slice name, const struct sort *const *args, size_t n,
                      const struct sort **ret)
{
        const struct symbol *s = symbol_of(r->bank, name);
        const struct sort_binding *b = s ? s->sort_binding : NULL;

        if (!s)
                return -ENOMEM;
        if (b && b->arity != n && b->arity != ARITY_ANY)
                return reader_fail(r, at, "sort %s takes %zu argument%s; %zu given", (const char *)s->name.data, b->arity,
                                   b->arity == 1 ? "" : "s", n);
        r->bank->error = 0;
        if (b && b->sort)
                *ret = sort_instantiate(r->bank, b->sort, b->parameters, args, n);
        else if (b)
                *ret = sort_named(r->bank, s, args, n);
        else if (!(*ret = builtin_of(r, s, args, n)) && r->bank->error == 0) {
                if (is_foreign(name) || r->may_be_undeclared)
                        *ret = sort_named(r->bank, s, args, n);
                else
                        return reader_fail(r, at, "unknown sort %s%s", (const char *)s->name.data,
                                           n > 0 ? " with arguments" : "");
        }
        return *ret ? 0 : reader_fail_bank(r, at);
}

/* (_ name index …), of which "(_" is taken. */
static int indexed(struct reader *r, size_t begin, const struct sort **ret)
{
        uint32_t index[2] = {0};
        struct slice name;
        size_t n = 0;
        int x;

        if ((x = reader_expect(r, TOKEN_SYMBOL, "the name of an indexed sort")) < 0)
                return x;
        name = r->token.text;
        while ((x = reader_more(r)) > 0) {
                if (r->token.kind == TOKEN_OPEN || r->token.kind == TOKEN_END)
                        return -EOPNOTSUPP;
                if (r->token.kind != TOKEN_NUMERAL || n >= 2)
                        n = 3; /* none that is modelled */
                else if ((x = numeral_value(r->token.text, &index[n++])) < 0)
                        return reader_fail(r, r->token.begin, "this index is larger than %u", UINT32_MAX - 1);
        }
        if (x < 0)
                return x;
        r->bank->error = 0;
        if (n == 1 && name.size == 6 && memcmp(name.data, "BitVec", 6) == 0)
                *ret = sort_bitvec(r->bank, index[0]);
        else if (n == 2 && name.size == 13 && memcmp(name.data, "FloatingPoint", 13) == 0)
                *ret = sort_float(r->bank, index[0], index[1]);
        else
                *ret = sort_named_kind(r->bank, SORT_INDEXED, symbol_of(r->bank, SLICE(r->t.base + begin, r->token.end - begin)),
                                       NULL, 0);
        return *ret ? 0 : reader_fail_bank(r, begin);
}

struct sort_frame {
        struct slice name;
        size_t begin, values;
};

/* The sorts being read, outermost first. */
struct sort_stack {
        struct sort_frame *frames;
        size_t n_frames;
        const struct sort **values;
        size_t n_values;
};

static void sort_stack_done(struct sort_stack *s)
{
        free(s->frames);
        free(s->values);
}

/* One token further: a whole sort goes onto the values. */
static int sort_step(struct reader *r, struct sort_stack *s)
{
        size_t begin = r->token.begin;
        const struct sort *sort;
        int x;

        if (r->token.kind == TOKEN_SYMBOL) {
                x = apply_sort(r, begin, r->token.text, NULL, 0, &sort);
        } else if (r->token.kind == TOKEN_CLOSE && s->n_frames > 0) {
                struct sort_frame f = s->frames[--s->n_frames];

                if (s->n_values == f.values)
                        return reader_fail(r, f.begin, "a parenthesis around a sort: write it without, or give it arguments");
                x = apply_sort(r, f.begin, f.name, s->values + f.values, s->n_values - f.values, &sort);
                s->n_values = f.values;
        } else if (r->token.kind == TOKEN_OPEN) {
                if ((x = reader_expect(r, TOKEN_SYMBOL, "the name of a sort")) < 0)
                        return x;
                if (!r->token.is_quoted && token_is(&r->token, "_")) {
                        x = indexed(r, begin, &sort);
                } else {
                        if (list_grow(s->frames, s->n_frames) < 0)
                                return -ENOMEM;
                        s->frames[s->n_frames++] = (struct sort_frame){r->token.text, begin, s->n_values};
                        return 0;
                }
        } else {
                return reader_fail(r, begin, "a sort is expected here");
        }
        if (x < 0)
                return x;
        if (list_grow(s->values, s->n_values) < 0)
                return -ENOMEM;
        s->values[s->n_values++] = sort;
        return 0;
}

int read_sort(struct reader *r, const struct sort **ret)
{
        cleanup(sort_stack_done) struct sort_stack s = {0};
        int x;

        if (r->token.kind == TOKEN_SYMBOL) /* nearly always */
                return apply_sort(r, r->token.begin, r->token.text, NULL, 0, ret);
        x = sort_step(r, &s);
        while (x == 0 && s.n_frames > 0)
                if ((x = reader_next(r)) == 0)
                        x = sort_step(r, &s);
        if (x == 0)
                *ret = s.values[0];
        return x;
}

int read_next_sort(struct reader *r, const struct sort **ret)
{
        int x = reader_next(r);

        return x < 0 ? x : read_sort(r, ret);
}

int read_parameters(struct reader *r, const struct sort ***ret, size_t *ret_n)
{
        int x;

        while ((x = reader_more(r)) > 0) {
                const struct symbol *s;
                const struct sort *sort;

                if (r->token.kind != TOKEN_SYMBOL)
                        return reader_fail(r, r->token.begin, "the name of a sort parameter is expected here");
                if (!(s = symbol_of(r->bank, r->token.text)) || !(sort = sort_named_kind(r->bank, SORT_PARAMETER, s, NULL, 0)) ||
                    (ret && list_grow(*ret, *ret_n) < 0))
                        return -ENOMEM;
                if (ret)
                        (*ret)[(*ret_n)++] = sort;
                if ((x = reader_bind_sort(r, s, (struct sort_binding){.sort = sort})) < 0)
                        return x;
        }
        return x;
}
