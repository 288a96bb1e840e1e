/* declare-datatype and declare-datatypes, in the forms of 2.6 and of earlier solvers. The command is kept as text; this declares its sorts,
 * constructors, selectors and testers. */
#include "core/smtlib/read_internal.h"

static void declare(struct reader *r, const struct symbol *s, const struct sort *const *args, size_t n, const struct sort *result)
{
        reader_bind_function(r, s, function_of(r->bank, FUNCTION_OF_DATATYPE, s, args, n, result));
}

/* Reads a constructor, whose first token is the current one: c, or (c (selector Sort) …). */
static void read_constructor(struct reader *r, const struct sort *of)
{
        cleanup_buffer struct buffer tester = {0};
        const struct symbol *name, *s;
        const struct sort *sort;
        size_t fields = r->n_sorts;
        bool has_fields = r->token.kind == TOKEN_OPEN;

        if (has_fields)
                reader_expect(r, TOKEN_SYMBOL, "the name of a constructor");
        if (r->token.kind != TOKEN_SYMBOL)
                reader_fail(r, r->token.begin, "the name of a constructor is expected here");
        name = symbol_of(r->bank, r->token.text);
        while (has_fields && reader_more(r)) {
                if (r->token.kind != TOKEN_OPEN)
                        reader_fail(r, r->token.begin, "the fields of a constructor are written (selector Sort)");
                s = reader_symbol(r, "the name of a selector");
                sort = read_next_sort(r);
                reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the field's sort");
                declare(r, s, &of, 1, sort);
                reader_push_sort(r, sort);
        }
        declare(r, name, r->sorts + fields, r->n_sorts - fields, of);
        r->n_sorts = fields;
        buffer_adds(&tester, "is-");
        buffer_add(&tester, name->name.data, name->name.size);
        declare(r, symbol_of(r->bank, SLICE(tester.data, tester.size)), &of, 1, sort_simple(r->bank, SORT_BOOL));
}

static void read_constructors(struct reader *r, const struct sort *of)
{
        while (reader_more(r))
                read_constructor(r, of);
}

/* Reads the declaration of one datatype, ((c …) …) or (par (T) ((c …) …)); its open parenthesis is current. */
static void read_body(struct reader *r, const struct symbol *of)
{
        size_t from = r->n_sorts, trail = r->n_trail, end;

        if (!reader_peeks(r, TOKEN_SYMBOL, "par")) {
                read_constructors(r, sort_named(r->bank, of, NULL, 0));
                return;
        }
        reader_next(r);
        reader_expect(r, TOKEN_OPEN, "the parameters behind par");
        read_parameters(r);
        end = r->n_trail;
        reader_expect(r, TOKEN_OPEN, "the constructors behind par");
        read_constructors(r, sort_named(r->bank, of, r->sorts + from, r->n_sorts - from));
        reader_rebind(r, trail, end);
        reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes (par");
}

/* Reads a datatype of the old form after its parenthesis. The first pass reads the name and skips the rest, the second pass reads it. */
static void read_old_one(struct reader *r, size_t arity, bool is_first_pass)
{
        const struct symbol *s = reader_symbol(r, "the name of a datatype");

        if (!is_first_pass) {
                read_constructors(r, arity > 0 ? sort_simple(r->bank, SORT_UNKNOWN) : sort_named(r->bank, s, NULL, 0));
                return;
        }
        if (arity > 0) /* datatypes with parameters refer to each other without them */
                reader_bind_sort(r, s, (struct sort_binding){.sort = sort_simple(r->bank, SORT_UNKNOWN), .arity = ARITY_ANY});
        else
                reader_declare_sort(r, s, 0);
        if (token_skip(&r->t, 1) > 0)
                reader_fail(r, r->token.begin, "the input ends within this datatype");
}

/* Reads the form of Z3 and CVC4: (T …) ((List nil (cons (head T) …)) …), after the first list's parenthesis. */
static void read_old(struct reader *r)
{
        size_t parameters = r->n_trail, datatypes, arity, end = 0; /* parameters, datatypes: where these begin on the trail */
        struct tokenizer before;

        read_parameters(r);
        datatypes = r->n_trail;
        arity = datatypes - parameters;
        reader_expect(r, TOKEN_OPEN, "the datatypes");
        before = r->t;
        for (int pass = 0; pass < 2; pass++) { /* names first: they may refer to each other */
                r->t = before;
                while (reader_more(r)) {
                        if (r->token.kind != TOKEN_OPEN)
                                reader_fail(r, r->token.begin, "a datatype is written (Name constructor …)");
                        read_old_one(r, arity, pass == 0);
                }
                if (pass == 0)
                        end = r->n_trail; /* the first pass bound only the datatypes */
        }
        /* the parameters are no sorts from here on; the datatypes, now known, take as many */
        reader_rebind(r, parameters, datatypes);
        for (size_t i = datatypes; i < end; i++)
                reader_declare_sort(r, r->trail[i].symbol, arity);
}

/* Reads ((List 1) …) (body …), after the first parenthesis. */
static void read_new(struct reader *r)
{
        size_t from = r->n_sorts, end;
        const struct symbol *s;
        uint32_t arity;

        while (reader_more(r)) {
                if (r->token.kind != TOKEN_OPEN)
                        reader_fail(r, r->token.begin, "datatypes are written (Name arity)");
                s = reader_symbol(r, "the name of a datatype");
                reader_expect(r, TOKEN_NUMERAL, "the number of the datatype's parameters");
                arity = reader_number(r, "too many parameters");
                reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the datatype's arity");
                reader_declare_sort(r, s, arity);
                reader_push_sort(r, sort_named(r->bank, s, NULL, 0));
        }
        reader_expect(r, TOKEN_OPEN, "the declarations of the datatypes");
        end = r->n_sorts;
        for (size_t i = from; i < end; i++) {
                reader_expect(r, TOKEN_OPEN, "the declaration of a datatype");
                read_body(r, r->sorts[i]->symbol);
        }
        reader_expect(r, TOKEN_CLOSE, "a parenthesis behind the last datatype");
}

void read_datatypes(struct reader *r, size_t, struct command *)
{
        if (token_is(&r->token, "declare-datatype")) {
                const struct symbol *s = reader_symbol(r, "the name of a datatype");
                bool has_parameters;

                reader_expect(r, TOKEN_OPEN, "the constructors");
                has_parameters = reader_peeks(r, TOKEN_SYMBOL, "par");
                reader_declare_sort(r, s, has_parameters ? ARITY_ANY : 0);
                read_body(r, s);
        } else {
                reader_expect(r, TOKEN_OPEN, "the names of the datatypes");
                if (reader_peeks(r, TOKEN_OPEN, NULL))
                        read_new(r);
                else
                        read_old(r);
        }
        reader_expect(r, TOKEN_CLOSE, "a parenthesis that closes the command");
}
