/* declare-datatype and declare-datatypes, as 2.6 and as the solvers before it have them. The command is kept as text; here the sorts,
 * constructors, selectors and testers become known. */
#include "core/smtlib/read_internal.h"

static const struct sort *hide_parameters(struct reader *r, const struct sort *s)
{
        return s->has_parameter ? sort_simple(r->bank, SORT_UNKNOWN) : s;
}

static int declare(struct reader *r, enum function_kind kind, const struct symbol *s, const struct sort *const *args, size_t n,
                   const struct sort *result)
{
        return reader_bind_function(r, s, function_of(r->bank, kind, s, args, n, hide_parameters(r, result)));
}

/* The fields of a constructor up to its closing parenthesis; their sorts are a list of the caller's. */
static int read_fields(struct reader *r, const struct sort *of, const struct sort ***fields, size_t *ret_n)
{
        const struct sort *sort;
        const struct symbol *s;
        int x;

        while ((x = reader_more(r)) > 0) {
                if (r->token.kind != TOKEN_OPEN)
                        return reader_fail(r, r->token.begin, "the fields of a constructor are written (selector Sort)");
                if ((x = reader_symbol(r, "the name of a selector", &s)) < 0 || (x = read_next_sort(r, &sort)) < 0 ||
                    (x = reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the field's sort")) < 0 ||
                    (x = declare(r, FUNCTION_SELECTOR, s, &of, 1, sort)) < 0)
                        return x;
                if (list_grow(*fields, *ret_n) < 0)
                        return -ENOMEM;
                (*fields)[(*ret_n)++] = hide_parameters(r, sort);
        }
        return x;
}

/* A constructor that begins with the token at hand: c, or (c (selector Sort) …). */
static int read_constructor(struct reader *r, const struct sort *of)
{
        cleanup_free const struct sort **fields = NULL;
        cleanup_buffer struct buffer tester = {0};
        const struct symbol *s;
        bool has_fields = r->token.kind == TOKEN_OPEN;
        size_t n = 0;
        int x;

        if (has_fields && (x = reader_expect(r, TOKEN_SYMBOL, "the name of a constructor")) < 0)
                return x;
        if (r->token.kind != TOKEN_SYMBOL)
                return reader_fail(r, r->token.begin, "the name of a constructor is expected here");
        if (!(s = symbol_of(r->bank, r->token.text)))
                return -ENOMEM;
        if (has_fields && (x = read_fields(r, of, &fields, &n)) < 0)
                return x;
        if ((x = declare(r, FUNCTION_CONSTRUCTOR, s, fields, n, of)) < 0)
                return x;
        buffer_adds(&tester, "is-");
        buffer_add(&tester, s->name.data, s->name.size);
        if (buffer_error(&tester) < 0 || !(s = symbol_of(r->bank, SLICE(tester.data, tester.size))))
                return -ENOMEM;
        return declare(r, FUNCTION_TESTER, s, &of, 1, sort_simple(r->bank, SORT_BOOL));
}

/* The datatype as its own constructors see it; with parameters, nothing is known of it. */
static const struct sort *datatype_sort(struct reader *r, const struct symbol *s, size_t arity)
{
        return arity > 0 ? sort_simple(r->bank, SORT_UNKNOWN) : sort_named(r->bank, s, NULL, 0);
}

static int bind_datatype(struct reader *r, const struct symbol *s, size_t arity)
{
        return reader_bind_sort(
                r, s, (struct sort_binding){.sort = arity == 0 ? sort_named(r->bank, s, NULL, 0) : NULL, .arity = arity});
}

static int read_constructors(struct reader *r, const struct sort *of)
{
        int x;

        while ((x = reader_more(r)) > 0)
                if ((x = read_constructor(r, of)) < 0)
                        return x;
        return x;
}

/* The declaration of one datatype, ((c …) …) or (par (T) ((c …) …)), whose open parenthesis is at hand. */
static int read_body(struct reader *r, const struct sort *of)
{
        struct tokenizer before = r->t;
        int x = reader_next(r);

        if (x < 0)
                return x;
        if (r->token.kind != TOKEN_SYMBOL || r->token.is_quoted || !token_is(&r->token, "par")) {
                r->t = before;
                return read_constructors(r, of);
        }
        if ((x = reader_expect(r, TOKEN_OPEN, "the parameters behind par")) < 0 || (x = read_parameters(r, NULL, NULL)) < 0 ||
            (x = reader_expect(r, TOKEN_OPEN, "the constructors behind par")) < 0 || (x = read_constructors(r, of)) < 0)
                return x;
        return reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (par");
}

/* ((List 1) …) up to its closing parenthesis. */
static int read_names(struct reader *r, const struct sort ***ret, size_t *ret_n)
{
        const struct symbol *s;
        uint32_t arity;
        int x;

        while ((x = reader_more(r)) > 0) {
                if (r->token.kind != TOKEN_OPEN)
                        return reader_fail(r, r->token.begin, "datatypes are written (Name arity)");
                if ((x = reader_symbol(r, "the name of a datatype", &s)) < 0)
                        return x;
                if ((x = reader_expect(r, TOKEN_NUMERAL, "the number of the datatype's parameters")) < 0)
                        return x;
                if (numeral_value(r->token.text, &arity) < 0)
                        return reader_fail(r, r->token.begin, "too many parameters");
                if ((x = reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the datatype's arity")) < 0 ||
                    (x = bind_datatype(r, s, arity)) < 0)
                        return x;
                if (list_grow(*ret, *ret_n) < 0)
                        return -ENOMEM;
                (*ret)[(*ret_n)++] = datatype_sort(r, s, arity);
        }
        return x;
}

/* A datatype of the old form, of which the parenthesis is taken: its name, and the rest is passed or read. */
static int read_old_one(struct reader *r, size_t arity, bool is_first_pass, const struct symbol **ret)
{
        int x = reader_symbol(r, "the name of a datatype", ret);

        if (x < 0)
                return x;
        if (!is_first_pass)
                return read_constructors(r, datatype_sort(r, *ret, arity));
        /* among themselves, datatypes with parameters are named without */
        x = arity > 0 ? reader_bind_sort(r, *ret,
                                         (struct sort_binding){.sort = sort_simple(r->bank, SORT_UNKNOWN), .arity = ARITY_ANY})
                      : bind_datatype(r, *ret, 0);
        if (x < 0)
                return x;
        return token_skip(&r->t, 1) > 0 ? reader_fail(r, r->token.begin, "the input ends within this datatype") : 0;
}

/* As Z3 and CVC4 had it: (T …) ((List nil (cons (head T) …)) …), of which the first list's parenthesis is taken. */
static int read_old(struct reader *r)
{
        cleanup_free const struct symbol **names = NULL;
        size_t arity = r->n_trail, n = 0;
        struct tokenizer before;
        int x;

        if ((x = read_parameters(r, NULL, NULL)) < 0)
                return x;
        arity = r->n_trail - arity;
        if ((x = reader_expect(r, TOKEN_OPEN, "the datatypes")) < 0)
                return x;
        before = r->t;
        for (int pass = 0; pass < 2; pass++) { /* the names first: they may refer to each other */
                r->t = before;
                n = 0;
                for (; (x = reader_more(r)) > 0; n++) {
                        if (r->token.kind != TOKEN_OPEN)
                                return reader_fail(r, r->token.begin, "a datatype is written (Name constructor …)");
                        if (pass == 0 && list_grow(names, n) < 0)
                                return -ENOMEM;
                        if ((x = read_old_one(r, arity, pass == 0, &names[n])) < 0)
                                return x;
                }
                if (x < 0)
                        return x;
        }
        for (size_t i = 0; i < n; i++)
                if ((x = bind_datatype(r, names[i], arity)) < 0)
                        return x;
        return 0;
}

static int read_new(struct reader *r)
{
        cleanup_free const struct sort **sorts = NULL;
        size_t n = 0;
        int x;

        if ((x = read_names(r, &sorts, &n)) < 0 || (x = reader_expect(r, TOKEN_OPEN, "the declarations of the datatypes")) < 0)
                return x;
        for (size_t i = 0; i < n; i++)
                if ((x = reader_expect(r, TOKEN_OPEN, "the declaration of a datatype")) < 0 || (x = read_body(r, sorts[i])) < 0)
                        return x;
        return reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the last datatype");
}

static int read_one(struct reader *r)
{
        const struct symbol *s;
        struct tokenizer before;
        bool has_parameters;
        int x;

        if ((x = reader_symbol(r, "the name of a datatype", &s)) < 0)
                return x;
        if ((x = reader_expect(r, TOKEN_OPEN, "the constructors")) < 0)
                return x;
        before = r->t;
        if ((x = reader_next(r)) < 0)
                return x;
        has_parameters = r->token.kind == TOKEN_SYMBOL && !r->token.is_quoted && token_is(&r->token, "par");
        r->t = before;
        if ((x = bind_datatype(r, s, has_parameters ? ARITY_ANY : 0)) < 0)
                return x;
        return read_body(r, datatype_sort(r, s, has_parameters));
}

int read_datatypes(struct reader *r, bool is_one)
{
        struct tokenizer before;
        int x;

        if (is_one)
                return read_one(r);
        if ((x = reader_expect(r, TOKEN_OPEN, "the names of the datatypes")) < 0)
                return x;
        before = r->t;
        if ((x = reader_next(r)) < 0)
                return x;
        r->t = before;
        return r->token.kind == TOKEN_OPEN ? read_new(r) : read_old(r);
}
