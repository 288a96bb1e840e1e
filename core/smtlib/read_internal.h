/* Shared by the files of the reader. */
#pragma once

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

/* To be undone when a scope ends. */
struct trail_entry {
        struct symbol *symbol;
        void *binding;
        bool is_sort;
};

struct term_frame;
struct let_binding;

struct reader {
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

        const struct function **names; /* :named in the command at hand; they are bound behind it */
        size_t n_names;

        struct term_map undeclared; /* by symbol; 1: taken in the command at hand for what is not declared here */

        bool numerals_are_real;
        bool may_be_undeclared; /* an opaque command may have declared what is not known */
};

/* These return -errno; -EOPNOTSUPP: keep the command as text. */
int reader_fail(struct reader *r, size_t offset, const char *format, ...) printf_like(3, 4); /* -EINVAL with a place */
int reader_fail_bank(struct reader *r, size_t offset);                       /* what the bank said, with a place */
int reader_fail_token(struct reader *r);                                     /* the token at hand is a bad one */
static inline int reader_next(struct reader *r)                              /* takes a token; -EINVAL of a bad one */
{
        return token_next(&r->t, &r->token) == TOKEN_BAD ? reader_fail_token(r) : 0;
}
static inline int reader_more(struct reader *r) /* takes one: 1; 0: it closes the list that is read */
{
        int x = reader_next(r);

        return x < 0 ? x : r->token.kind != TOKEN_CLOSE;
}
int reader_expect(struct reader *r, enum token_kind kind, const char *what); /* takes one of this kind */
int reader_symbol(struct reader *r, const char *what, const struct symbol **ret); /* takes one, and looks it up */
int numeral_value(struct slice digits, uint32_t *ret);                       /* -ERANGE from UINT32_MAX on */

int reader_bind(struct reader *r, const struct symbol *s, struct binding b);
int reader_bind_function(struct reader *r, const struct symbol *s, const struct function *f); /* -ENOMEM of NULL */
int reader_bind_sort(struct reader *r, const struct symbol *s, struct sort_binding b);
void reader_unbind(struct reader *r, size_t trail);
static inline const struct binding *binding_of(const struct symbol *s)
{
        return s->binding;
}

/* Grows an array of `n` to hold one more; `size` is its capacity. */
#define grow(list, n, size) ((n) < (size) || reader_grow(&(list), &(size), sizeof(*(list))) == 0)
int reader_grow(void *list, size_t *size, size_t each);

/* The token at hand begins it. */
int read_sort(struct reader *r, const struct sort **ret);
int read_next_sort(struct reader *r, const struct sort **ret); /* the next one does */
/* The names of sort parameters up to the closing parenthesis, which are in force from here on. `ret` may be NULL, or is a list of the caller's. */
int read_parameters(struct reader *r, const struct sort ***ret, size_t *ret_n);
int read_term(struct reader *r, const struct term **ret);
/* ((x S) …), the open parenthesis is taken; binds them, fresh names where they shadow. The variables go onto the values. */
int read_variables(struct reader *r, uint32_t level, size_t *ret_n);
/* The text of what begins with the token at hand up to its end. */
int read_text(struct reader *r, struct slice *ret);
int read_datatypes(struct reader *r, bool is_one);
