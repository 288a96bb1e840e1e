/* Shared by the files of the reader.
 *
 * A function of the reader that meets what it cannot read does not return: it jumps to script_read(), with the sentence kept, or to the command at
 * hand, which is then kept as text. So whatever is allocated while reading belongs to the reader, or nothing that may fail happens before it is freed. */
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
        size_t trail;   /* where the trail stood */
        const struct function *function;
        const struct term *term;
};

#define ARITY_ANY SIZE_MAX

struct sort_binding {
        const struct sort *sort; /* declared without parameters, or the body of a definition; NULL: declared with `arity` */
        const struct sort **parameters;
        size_t arity;
};

/* Undone when a scope ends. */
struct trail_entry {
        struct symbol *symbol;
        void *binding;
        bool is_sort;
};

struct term_frame;
struct let_binding;
struct sort_frame;

struct reader {
        jmp_buf failed;         /* -EINVAL, with a sentence */
        jmp_buf not_understood; /* the command at hand */
        struct tokenizer t;
        struct token token; /* the last one taken */
        struct script *script;
        struct bank *bank;
        const struct script_options *options;
        struct slice bytes;
        struct arena arena;

        struct trail_entry *trail;
        size_t n_trail, trail_size;
        struct push {
                size_t trail; /* where it stood */
                uint32_t levels;
        } * pushes;
        size_t n_pushes, n_levels; /* levels: of all of them */
        bool is_global;            /* :global-declarations: what is declared outlasts pop */

        struct term_frame *frames;
        size_t n_frames, frames_size;
        const struct term **values;
        uint32_t *value_levels; /* beside values: binding.level */
        size_t n_values, values_size;
        struct let_binding *lets; /* read, and not yet in force */
        size_t n_lets, lets_size;
        uint32_t level; /* binders around */

        struct sort_frame *sort_frames; /* sorts being read, outermost first */
        size_t n_sort_frames, sort_frames_size;
        const struct sort **sorts; /* whole ones, whoever collects them: arguments, parameters, fields */
        size_t n_sorts, sorts_size;

        const struct function **names; /* :named in the command at hand; they are bound behind it */
        size_t n_names;

        struct term_map undeclared; /* by symbol; 1: taken in the command at hand for what is not declared here */

        bool numerals_are_real;
        bool may_be_undeclared; /* an opaque command may have declared what is not known */
};

_Noreturn void reader_fail(struct reader *r, size_t offset, const char *format, ...) printf_like(3, 4); /* at this place */
_Noreturn void reader_fail_bank(struct reader *r, size_t offset); /* with what the bank said */
_Noreturn static inline void reader_give_up(struct reader *r)     /* keeps the command as text */
{
        longjmp(r->not_understood, 1);
}
static inline void reader_next(struct reader *r) /* takes a token */
{
        if (token_next(&r->t, &r->token) == TOKEN_BAD)
                reader_fail(r, r->token.begin, "%s", r->t.problem);
}
static inline bool reader_more(struct reader *r) /* takes one; false: it closes the list that is read */
{
        reader_next(r);
        return r->token.kind != TOKEN_CLOSE;
}
static inline bool reader_at_word(const struct reader *r, const char *word) /* the token at hand is this symbol, without bars */
{
        return r->token.kind == TOKEN_SYMBOL && !r->token.is_quoted && token_is(&r->token, word);
}
bool reader_peeks(struct reader *r, enum token_kind kind, const char *word);      /* the next token is one of this kind, and this word unless NULL */
void reader_expect(struct reader *r, enum token_kind kind, const char *what);     /* takes one of this kind */
const struct symbol *reader_symbol(struct reader *r, const char *what);           /* takes one, and looks it up */
bool numeral_value(struct slice digits, uint32_t *ret);                           /* false from UINT32_MAX on */
uint32_t reader_number(struct reader *r, const char *problem);                    /* the value of the numeral at hand */

void reader_bind(struct reader *r, const struct symbol *s, struct binding b);
void reader_bind_function(struct reader *r, const struct symbol *s, const struct function *f);
void reader_bind_sort(struct reader *r, const struct symbol *s, struct sort_binding b);
void reader_declare_sort(struct reader *r, const struct symbol *s, size_t arity);
void reader_unbind(struct reader *r, size_t trail);
static inline const struct binding *binding_of(const struct symbol *s)
{
        return s->binding;
}

/* The token at hand begins it. */
const struct sort *read_sort(struct reader *r);
const struct sort *read_next_sort(struct reader *r); /* the next one does */
void reader_push_sort(struct reader *r, const struct sort *s); /* onto reader.sorts */
/* The names of sort parameters up to the closing parenthesis, which are in force from here on. They go onto the sorts. */
void read_parameters(struct reader *r);
const struct term *read_term(struct reader *r);
/* ((x S) …), the open parenthesis is taken; binds them, fresh names where they shadow. The variables go onto the values; returns how many. */
size_t read_variables(struct reader *r);
/* The text of what begins with the token at hand up to its end. */
struct slice read_text(struct reader *r);
void read_datatypes(struct reader *r, size_t begin, struct command *c); /* the whole command, behind its name */
