/* SMT-LIB 2.6 tokens over a buffer in memory. */
#pragma once
#include "util.h"

enum token {
        TOK_EOF,
        TOK_OPEN,
        TOK_CLOSE,
        TOK_SYMBOL,
        TOK_KEYWORD,
        TOK_NUMERAL,
        TOK_DECIMAL,
        TOK_BITS,
        TOK_STRING,
        TOK_BAD
};

/* A string literal longer than this is refused, not copied. */
#define LEXER_MAX_LITERAL (64u << 20)

struct lexer {
        const char *p, *end, *line_start;
        unsigned line;
        enum token tok;
        const char *text; /* of the current token, without quotes; not terminated */
        size_t len;
        unsigned tok_line, tok_col;
        const char *bad; /* TOK_BAD: why */
};

void lexer_init(struct lexer *l, const char *text, size_t len);
enum token lexer_next(struct lexer *l);
/* The value of a hexadecimal digit, or -1. */
int lexer_hex(char c);
/* Appends the code points of the current TOK_STRING. */
void lexer_string(const struct lexer *l, vec_u32 *out);
