/* What the files of parser.h share: errors and names (parser_name.c), sorts and terms (parser_term.c), commands (parser.c). */
#pragma once
#include "builtin.h"
#include "parser.h"

enum symbol_kind {
        SYM_BUILTIN,
        SYM_TERM,
        SYM_MACRO,
        SYM_SORT
};

struct symbol {
        const char *name; /* in the bank's arena */
        size_t len;
        uint32_t hash;
        enum symbol_kind kind;
        struct symbol *next;
        const struct builtin *builtin;
        tid term;          /* SYM_TERM, SYM_MACRO: the body */
        const tid *params; /* SYM_MACRO */
        size_t nparams;
        enum sort sort; /* SYM_SORT */
};

struct name {
        const char *text;
        size_t len;
};

/* parser_name.c */
/* Leaves a message with its place; returns -1. */
__attribute__((format(printf, 4, 5))) int parser_error_at(struct parser *p, unsigned line, unsigned col, const char *fmt, ...);
#define parser_error_here(p, ...) parser_error_at((p), (p)->lex.tok_line, (p)->lex.tok_col, __VA_ARGS__)
int parser_unexpected(struct parser *p, const char *wanted);
int parser_expect(struct parser *p, enum token tok, const char *wanted);
int parser_unsupported(struct parser *p, const char *why);
bool parser_is(const struct parser *p, const char *s);
struct symbol *parser_lookup(const struct parser *p, const char *s, size_t n);
struct symbol *parser_define(struct parser *p, const char *s, size_t n, enum symbol_kind kind);
void parser_undo(struct parser *p, size_t trail);
int parser_skip(struct parser *p);
int parser_skip_rest(struct parser *p);

/* parser_term.c */
int parser_sort(struct parser *p, enum sort *out);
int parser_int64(struct parser *p, int64_t *out);
enum sort parser_sort_of(const struct parser *p, tid t);
int parser_term(struct parser *p, tid *out);
