/* Reading sorts, of any nesting: a frame for each open parenthesis, and a list of complete sorts. */
#include "core/smtlib/read_internal.h"

/* Sort constructors of unmodelled theories, with the names of Z3 and cvc5. */
static bool is_unmodelled(struct slice name)
{
        static const char *const names[] = {"Seq",   "Set",  "Bag",     "Relation",  "Tuple",     "Table",           "Nullable",
                                            "RegEx", "Char", "Unicode", "UnitTuple", "FiniteSet", "RealClosedField", "->"};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (text_is(name, names[i]))
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

        if (n == 2 && text_is(name, "Array"))
                return sort_array(r->bank, args[0], args[1]);
        if (n == 1 && args[0]->kind == SORT_STRING && text_is(name, "RegEx"))
                return sort_simple(r->bank, SORT_REGLAN); /* Z3's name for it */
        for (size_t i = 0; n == 0 && i < ARRAY_SIZE(list); i++)
                if (text_is(name, list[i].name))
                        return list[i].kind == SORT_FLOAT ? sort_float(r->bank, list[i].exponent, list[i].significand)
                                                          : sort_simple(r->bank, list[i].kind);
        return NULL;
}

static const struct sort *apply_sort(struct reader *r, size_t at, struct slice name, const struct sort *const *args, size_t n)
{
        const struct symbol *s = symbol_of(r->bank, name);
        const struct sort_binding *b = s->sort_binding;
        const struct sort *sort;

        if (b && b->arity != n && b->arity != ARITY_ANY)
                reader_fail(r, at, "sort %s takes %zu argument%s; %zu given", (const char *)s->name.data, b->arity,
                            b->arity == 1 ? "" : "s", n);
        r->bank->error = 0; /* so that NULL from builtin() without an error says: it is none of these */
        if (b && b->sort)
                sort = sort_instantiate(r->bank, b->sort, b->parameters, args, n);
        else if (b)
                sort = sort_named(r->bank, s, args, n);
        else if (!(sort = builtin(r, name, args, n)) && r->bank->error == 0) {
                if (!is_unmodelled(name) && !r->may_be_undeclared)
                        reader_fail(r, at, "unknown sort %s%s", (const char *)s->name.data, n > 0 ? " with arguments" : "");
                reader_miss(r, at, s);
                sort = sort_named(r->bank, s, args, n);
        }
        if (!sort)
                reader_fail_bank(r, at);
        return sort;
}

/* Reads (_ name index …), after "(_". */
static const struct sort *indexed(struct reader *r, size_t begin)
{
        uint32_t index[2] = {0};
        const struct sort *sort;
        struct slice name;
        size_t n = 0;

        reader_expect(r, TOKEN_SYMBOL, "the name of an indexed sort");
        name = r->token.text;
        while (reader_more(r)) {
                if (r->token.kind == TOKEN_OPEN || r->token.kind == TOKEN_END)
                        reader_give_up(r);
                if (r->token.kind != TOKEN_NUMERAL || n >= 2)
                        n = 3; /* more than any modelled sort has */
                else if (!numeral_value(r->token.text, &index[n++]))
                        reader_fail(r, r->token.begin, "this index is larger than %u", UINT32_MAX - 1);
        }
        if (n == 1 && text_is(name, "BitVec"))
                sort = sort_bitvec(r->bank, index[0]);
        else if (n == 2 && text_is(name, "FloatingPoint"))
                sort = sort_float(r->bank, index[0], index[1]);
        else
                sort = sort_named_kind(r->bank, SORT_INDEXED, symbol_of(r->bank, SLICE(r->t.base + begin, r->token.end - begin)), NULL, 0);
        if (!sort)
                reader_fail_bank(r, begin);
        return sort;
}

/* An open sort, "(name …": its arguments are reader.sorts from `args` on. */
struct sort_frame {
        struct slice name;
        size_t begin, args;
};

void reader_push_sort(struct reader *r, const struct sort *s)
{
        grow(r->sorts, r->n_sorts, r->sorts_size);
        r->sorts[r->n_sorts++] = s;
}

/* Takes the current token: it opens a sort, or completes one, which is pushed onto reader.sorts. */
static void read_sort_token(struct reader *r)
{
        size_t begin = r->token.begin;
        const struct sort *sort;

        if (r->token.kind == TOKEN_SYMBOL) {
                sort = apply_sort(r, begin, r->token.text, NULL, 0);
        } else if (r->token.kind == TOKEN_CLOSE && r->n_sort_frames > 0) {
                struct sort_frame f = r->sort_frames[--r->n_sort_frames];

                if (r->n_sorts == f.args)
                        reader_fail(r, f.begin, "a sort without arguments has no parentheses around it");
                sort = apply_sort(r, f.begin, f.name, r->sorts + f.args, r->n_sorts - f.args);
                r->n_sorts = f.args;
        } else if (r->token.kind == TOKEN_OPEN) {
                reader_expect(r, TOKEN_SYMBOL, "the name of a sort");
                if (!reader_at_word(r, "_")) {
                        grow(r->sort_frames, r->n_sort_frames, r->sort_frames_size);
                        r->sort_frames[r->n_sort_frames++] = (struct sort_frame){r->token.text, begin, r->n_sorts};
                        return;
                }
                sort = indexed(r, begin);
        } else {
                reader_fail(r, begin, "a sort is expected here");
        }
        reader_push_sort(r, sort);
}

const struct sort *read_sort(struct reader *r)
{
        if (r->token.kind == TOKEN_SYMBOL) /* nearly always: needs no frame */
                return apply_sort(r, r->token.begin, r->token.text, NULL, 0);
        for (read_sort_token(r); r->n_sort_frames > 0; read_sort_token(r))
                reader_next(r);
        return r->sorts[--r->n_sorts];
}

const struct sort *read_next_sort(struct reader *r)
{
        reader_next(r);
        return read_sort(r);
}

void read_parameters(struct reader *r)
{
        while (reader_more(r)) {
                const struct symbol *s;
                const struct sort *sort;

                if (r->token.kind != TOKEN_SYMBOL)
                        reader_fail(r, r->token.begin, "the name of a sort parameter is expected here");
                s = symbol_of(r->bank, r->token.text);
                sort = sort_named_kind(r->bank, SORT_PARAMETER, s, NULL, 0);
                reader_push_sort(r, sort);
                reader_bind_sort(r, s, (struct sort_binding){.sort = sort});
        }
}
