/* The tokenizer of SMT-LIB (standard 2.6, section 3.1), for all readers here. It never allocates, reports errors as tokens, and takes time
 * linear in the input: comments and white space are skipped, a token is a span of the input. Not thread-safe; one tokenizer, one thread.
 *
 * Beyond the standard: a simple symbol may hold any byte from 0x80 on and any graphic character but ( ) " ; | and the backslash, since solvers accept
 * them; such a symbol is printed |quoted|. VT and FF are white space, too. */
#pragma once

#include "core/smtlib/dialect.h"

enum token_kind {
        TOKEN_END,     /* of the input */
        TOKEN_OPEN,    /* ( */
        TOKEN_CLOSE,   /* ) */
        TOKEN_SYMBOL,  /* text: without bars */
        TOKEN_KEYWORD, /* text: with its colon */
        TOKEN_NUMERAL,
        TOKEN_DECIMAL,
        TOKEN_HEXADECIMAL, /* text: with #x */
        TOKEN_BINARY,      /* text: with #b */
        TOKEN_STRING,      /* text: between the quotes, undecoded */
        TOKEN_BAD          /* text: as of its kind, or all of it; tokenizer.problem says why. The next token is looked for after it. */
};

struct token {
        enum token_kind kind;
        bool is_quoted;    /* a |symbol| */
        size_t begin, end; /* bytes from the beginning of the input; with bars, quotes, colon */
        struct slice text; /* in the input */
};

struct tokenizer {
        const char *base, *p, *end;
        enum dialect dialect; /* decides how strings escape quotes; may be changed between two tokens */
        const char *problem;  /* of the last TOKEN_BAD; static */
};

void tokenizer_init(struct tokenizer *t, struct slice bytes, enum dialect d);
enum token_kind token_next(struct tokenizer *t, struct token *ret);
/* Skips the rest of `depth` open parentheses, without looking at the tokens between, which is faster. Returns how many stayed open, which is more
 * than 0 only at the end of the input. */
size_t token_skip(struct tokenizer *t, size_t depth);

/* Reads the next token of a command, of which *depth parentheses are open, and counts these. Returns a symbol (without its bars), a keyword or a
 * number; an empty text for any other token, and at the end of the command, where
 * *depth is 0. */
struct slice token_word(struct tokenizer *t, size_t *depth);

static inline bool text_is(struct slice text, const char *word)
{
        size_t n = strlen(word);

        return text.size == n && memcmp(text.data, word, n) == 0;
}
static inline bool token_is(const struct token *t, const char *symbol) /* by text alone: also true for a |symbol| and other kinds */
{
        return text_is(t->text, symbol);
}
bool word_is_reserved(struct slice s);
/* Appends a symbol as every reader of SMT-LIB accepts it, |quoted| if necessary. */
void token_add_symbol(struct buffer *b, struct slice symbol);

/* Line and column of a byte, both from 1; columns count bytes. For messages: it is slow, as it counts from the beginning of the input. */
struct text_position {
        size_t line, column;
};
struct text_position text_position_of(struct slice bytes, size_t offset);
