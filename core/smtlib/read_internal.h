/* Shared by the files of the reader.
 *
 * A function of the reader that cannot read its input does not return, but jumps: reader_fail() ends script_read() with -EINVAL, reader_give_up()
 * ends the current command, which is then kept as text. So memory allocated while reading must belong to the reader, or be freed before anything
 * that may fail. */
#pragma once

#include <setjmp.h>

#include "core/smtlib/smtlib_internal.h"

/* The meaning of a symbol while reading. Allocated in the reader's arena. */
enum binding_kind {
        BINDING_FUNCTION,
        BINDING_VARIABLE, /* term */
        BINDING_LET       /* term */
};
struct binding {
        enum binding_kind kind;
        uint32_t level; /* smallest level of a binder whose variable is free in term; UINT32_MAX: closed */
        size_t trail;   /* BINDING_LET: length of the trail when it was bound, to find a name that one let binds twice */
        const struct function *function;
        const struct term *term;
};

#define ARITY_ANY SIZE_MAX /* any number of arguments: for a datatype whose sort is used before its parameters are counted */

struct sort_binding {
        const struct sort *sort; /* a sort without arguments, or a definition's body; NULL: declared with `arity` arguments */
        const struct sort **parameters;
        size_t arity;
};

/* The meaning of a symbol before it was bound, restored when the scope ends. */
struct trail_entry {
        struct symbol *symbol;
        void *binding;
        bool is_sort;
};

struct term_frame;
struct let_binding;
struct sort_frame;

struct reader {
        jmp_buf failed;         /* target of reader_fail() */
        jmp_buf not_understood; /* target of reader_give_up() */
        struct tokenizer t;
        struct token token; /* the last one read */
        struct script *script;
        struct bank *bank;
        const struct script_options *options;
        struct slice bytes;
        struct arena arena;

        struct trail_entry *trail;
        size_t n_trail, trail_size;
        struct push {
                size_t trail; /* length of the trail at the push */
                uint32_t levels;
        } * pushes;
        size_t n_pushes, n_levels; /* n_levels: sum over all pushes */
        bool is_global;            /* :global-declarations: declarations outlast pop */

        struct term_frame *frames;
        size_t n_frames, frames_size;
        const struct term **values;
        uint32_t *value_levels; /* parallel to values: binding.level */
        size_t n_values, values_size;
        struct let_binding *lets; /* read, and not yet in force */
        size_t n_lets, lets_size;
        uint32_t level; /* number of enclosing binders */

        struct sort_frame *sort_frames; /* sorts being read, outermost first */
        size_t n_sort_frames, sort_frames_size;
        /* A stack of complete sorts, for any list being read: arguments, parameters, fields. It is emptied before each command. */
        const struct sort **sorts;
        size_t n_sorts, sorts_size;

        const struct function **names; /* :named in the current command; bound after it */
        size_t n_names;
        struct term_map named; /* by symbol; 1: it is in `names` */

        struct term_map undeclared; /* by symbol; 1: the current command uses the symbol undeclared */

        bool numerals_are_real;
        bool may_be_undeclared; /* a command kept as text may have declared names: an unknown name is no error */
};

_Noreturn void reader_fail(struct reader *r, size_t offset, const char *format, ...) printf_like(3, 4); /* at this offset */
_Noreturn void reader_fail_bank(struct reader *r, size_t offset); /* with the bank's sentence */
_Noreturn static inline void reader_give_up(struct reader *r)     /* keeps the command as text */
{
        longjmp(r->not_understood, 1);
}
static inline void reader_next(struct reader *r) /* reads a token */
{
        if (token_next(&r->t, &r->token) == TOKEN_BAD)
                reader_fail(r, r->token.begin, "%s", r->t.problem);
}
static inline bool reader_more(struct reader *r) /* reads one; false: it closes the current list */
{
        reader_next(r);
        return r->token.kind != TOKEN_CLOSE;
}
static inline bool reader_at_word(const struct reader *r, const char *word) /* true if the current token is this symbol, without bars */
{
        return r->token.kind == TOKEN_SYMBOL && !r->token.is_quoted && token_is(&r->token, word);
}
bool reader_peeks(struct reader *r, enum token_kind kind, const char *word);      /* true if the next token is of this kind, and (unless NULL) this word */
void reader_expect(struct reader *r, enum token_kind kind, const char *what);     /* reads one of this kind; if not: "WHAT is expected here" */
const struct symbol *reader_symbol(struct reader *r, const char *what);           /* reads a symbol; `what`: likewise */
bool numeral_value(struct slice digits, uint32_t *ret);                           /* false from UINT32_MAX on */
uint32_t reader_number(struct reader *r, const char *problem);                    /* the value of the current numeral; `problem`: too large */

/* Give a symbol a meaning, noted on the trail. */
void reader_bind(struct reader *r, const struct symbol *s, struct binding b);
void reader_bind_function(struct reader *r, const struct symbol *s, const struct function *f);
void reader_bind_sort(struct reader *r, const struct symbol *s, struct sort_binding b);
void reader_declare_sort(struct reader *r, const struct symbol *s, size_t arity);
void reader_unbind(struct reader *r, size_t trail); /* undoes the bindings beyond this length of the trail */
/* Ends the bindings of the trail from `from` up to `to` and keeps later ones: new entries give the symbols the meaning that they had before. So a
 * datatype's parameters end while its constructors stay. */
void reader_rebind(struct reader *r, size_t from, size_t to);
/* Notes that the symbol is used and not declared. Fails if the script that this one was made of declares it (script_options.original_bank). */
void reader_miss(struct reader *r, size_t at, const struct symbol *s);
static inline const struct binding *binding_of(const struct symbol *s)
{
        return s->binding;
}

/* Reads a sort; its first token is the current one. */
const struct sort *read_sort(struct reader *r);
const struct sort *read_next_sort(struct reader *r); /* its first token is the next one */
void reader_push_sort(struct reader *r, const struct sort *s); /* onto reader.sorts */
/* Reads sort parameters up to the closing parenthesis. Binds their names, and pushes them onto reader.sorts. */
void read_parameters(struct reader *r);
const struct term *read_term(struct reader *r); /* its first token is the current one */
/* Reads ((x S) …) after its open parenthesis. Binds the variables, with fresh names where they shadow, and pushes them onto reader.values;
 * returns their number. */
size_t read_variables(struct reader *r);
/* The text of the value that the current token begins: this token, or a whole list. */
struct slice read_text(struct reader *r);
void read_datatypes(struct reader *r, size_t begin, struct command *c); /* the whole command, after its name */
