/* The tokenizer: a table of byte classes decides where a token ends; strings by the dialect. */
#include "core/smtlib/script.h"

/* The classes of a byte. */
enum {
        SPACE = 1 << 0,
        SYMBOL = 1 << 1, /* in a simple symbol */
        DIGIT = 1 << 2,
        HEX = 1 << 3,
        STANDARD = 1 << 4, /* in a simple symbol of the standard */
        MATTERS = 1 << 5,  /* significant while skipping a command */
        MARK = 1 << 6,     /* begins a number or a keyword */
        BINARY = 1 << 7
};

static const uint8_t class[256] = {
        ['\t' ... '\r'] = SPACE,
        [' '] = SPACE,
        ['('] = MATTERS,
        [')'] = MATTERS,
        ['"'] = MATTERS,
        ['|'] = MATTERS,
        [';'] = MATTERS,
        ['0' ... '1'] = SYMBOL | DIGIT | HEX | STANDARD | MARK | BINARY,
        ['2' ... '9'] = SYMBOL | DIGIT | HEX | STANDARD | MARK,
        ['a' ... 'f'] = SYMBOL | HEX | STANDARD,
        ['A' ... 'F'] = SYMBOL | HEX | STANDARD,
        ['g' ... 'z'] = SYMBOL | STANDARD,
        ['G' ... 'Z'] = SYMBOL | STANDARD,
        ['!'] = SYMBOL | STANDARD,
        ['$' ... '&'] = SYMBOL | STANDARD,
        ['*' ... '+'] = SYMBOL | STANDARD,
        ['-' ... '/'] = SYMBOL | STANDARD,
        ['<' ... '@'] = SYMBOL | STANDARD,
        ['^' ... '_'] = SYMBOL | STANDARD,
        ['~'] = SYMBOL | STANDARD,
        ['#'] = SYMBOL | MARK,
        ['\''] = SYMBOL,
        [','] = SYMBOL,
        [':'] = SYMBOL | MARK,
        ['['] = SYMBOL,
        [']'] = SYMBOL,
        ['`'] = SYMBOL,
        ['{'] = SYMBOL,
        ['}'] = SYMBOL,
        [0x80 ... 0xff] = SYMBOL,
};

void tokenizer_init(struct tokenizer *t, struct slice bytes, enum dialect d)
{
        const char *base = bytes.size > 0 ? bytes.data : "";

        *t = (struct tokenizer){.base = base, .p = base, .end = base + bytes.size, .dialect = d};
}

static inline const char *pass(const char *p, const char *end, uint8_t what)
{
        while (p < end && (class[(uint8_t)*p] & what))
                p++;
        return p;
}

static const char *pass_line(const char *p, const char *end)
{
        const char *newline = memchr(p, '\n', (size_t)(end - p));

        return newline ? newline + 1 : end;
}

static const char *pass_space(const char *p, const char *end)
{
        while ((p = pass(p, end, SPACE)) < end && *p == ';')
                p = pass_line(p, end);
        return p;
}

/* The end of the string that begins at p, after its closing quote; NULL if it has none. */
static const char *pass_string(const char *p, const char *end, enum dialect d)
{
        p++;
        if (d == DIALECT_2_0) {
                for (; p < end && *p != '"'; p++)
                        p += *p == '\\';
                return p < end ? p + 1 : NULL;
        }
        while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
                if (p + 1 == end || p[1] != '"')
                        return p + 1;
                p += 2;
        }
        return NULL;
}

static enum token_kind bad(struct tokenizer *t, struct token *ret, const char *problem)
{
        t->problem = problem;
        return ret->kind = TOKEN_BAD;
}

static enum token_kind quoted_symbol(struct tokenizer *t, struct token *ret)
{
        const char *bar = memchr(t->p + 1, '|', (size_t)(t->end - t->p - 1));

        ret->is_quoted = true;
        if (!bar) {
                t->p = t->end;
                return bad(t, ret, "this |symbol has no closing |");
        }
        ret->text = SLICE(t->p + 1, (size_t)(bar - t->p - 1));
        t->p = bar + 1;
        return memchr(ret->text.data, '\\', ret->text.size) ? bad(t, ret, "a |symbol| must not hold a backslash") : TOKEN_SYMBOL;
}

static enum token_kind string(struct tokenizer *t, struct token *ret)
{
        const char *end = pass_string(t->p, t->end, t->dialect);

        if (!end) {
                t->p = t->end;
                return bad(t, ret, "this string has no closing quote");
        }
        ret->text = SLICE(t->p + 1, (size_t)(end - t->p - 2));
        t->p = end;
        return TOKEN_STRING;
}

/* Reads a number or a keyword: ret->text is as long as a symbol could be. */
static enum token_kind marked_word(struct tokenizer *t, struct token *ret)
{
        const char *p = ret->text.data;

        if (*p == ':')
                return ret->text.size > 1 ? TOKEN_KEYWORD : bad(t, ret, "a keyword is a colon and a name");
        if (*p == '#') {
                uint8_t what = t->p - p <= 2 ? 0 : p[1] == 'x' ? HEX : p[1] == 'b' ? BINARY : 0;

                if (what && pass(p + 2, t->p, what) == t->p)
                        return what == HEX ? TOKEN_HEXADECIMAL : TOKEN_BINARY;
                return bad(t, ret, "# begins #x and hexadecimal digits, or #b and binary digits");
        }
        p = pass(p, t->p, DIGIT);
        if (p == t->p)
                return TOKEN_NUMERAL;
        if (*p == '.' && p + 1 < t->p && pass(p + 1, t->p, DIGIT) == t->p)
                return TOKEN_DECIMAL;
        return bad(t, ret, "a symbol does not begin with a digit, and this is no number");
}

enum token_kind token_next(struct tokenizer *t, struct token *ret)
{
        const char *begin = pass_space(t->p, t->end), *end = t->end;
        uint8_t first = begin < end ? class[(uint8_t)*begin] : 0;

        ret->is_quoted = false;
        t->p = first & SYMBOL ? pass(begin + 1, end, SYMBOL) : begin;
        ret->text = SLICE(begin, (size_t)((first & SYMBOL ? t->p : end) - begin)); /* without an end: the rest of the input */
        if (first & SYMBOL) {
                ret->kind = first & MARK ? marked_word(t, ret) : TOKEN_SYMBOL;
        } else if (begin == end) {
                ret->kind = TOKEN_END;
        } else if (*begin == '"') {
                ret->kind = string(t, ret);
        } else if (*begin == '|') {
                ret->kind = quoted_symbol(t, ret);
        } else {
                ret->text = SLICE(t->p++, 1);
                ret->kind = *begin == '(' ? TOKEN_OPEN : *begin == ')' ? TOKEN_CLOSE : bad(t, ret, "no token begins with this character");
        }
        ret->begin = (size_t)(begin - t->base);
        ret->end = (size_t)(t->p - t->base);
        return ret->kind;
}

struct slice token_word(struct tokenizer *t, size_t *depth)
{
        struct token token;

        if (*depth == 0)
                return SLICE("", 0);
        token_next(t, &token);
        *depth += token.kind == TOKEN_OPEN;
        *depth -= token.kind == TOKEN_CLOSE;
        return token.kind >= TOKEN_SYMBOL && token.kind <= TOKEN_BINARY ? token.text : SLICE("", 0);
}

size_t token_skip(struct tokenizer *t, size_t depth)
{
        const char *p = t->p, *end = t->end;

        while (p < end && depth > 0) {
                const char *bar;

                if (!(class[(uint8_t)*p] & MATTERS)) {
                        p++;
                } else if (*p == '(') {
                        p++;
                        depth++;
                } else if (*p == ')') {
                        p++;
                        depth--;
                } else if (*p == ';') {
                        p = pass_line(p, end);
                } else if (*p == '"') {
                        p = pass_string(p, end, t->dialect);
                        p = p ? p : end;
                } else {
                        bar = memchr(p + 1, '|', (size_t)(end - p - 1));
                        p = bar ? bar + 1 : end;
                }
        }
        t->p = p;
        return depth;
}

/* -- symbols as text -- */

bool word_is_reserved(struct slice s)
{
        static const char *const words[] = {"!",     "_",      "as",      "let",     "par",    "exists",     "forall",
                                            "match", "BINARY", "DECIMAL", "NUMERAL", "STRING", "HEXADECIMAL"};

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (text_is(s, words[i]))
                        return true;
        return false;
}

void token_add_symbol(struct buffer *b, struct slice symbol)
{
        const char *p = symbol.data, *end = p + symbol.size;
        bool is_simple = symbol.size > 0 && !(class[(uint8_t)*p] & DIGIT) && pass(p, end, STANDARD) == end && !word_is_reserved(symbol) &&
                         command_kind_of(symbol) == COMMAND_OPAQUE;

        buffer_adds(b, is_simple ? "" : "|");
        buffer_add(b, symbol.data, symbol.size);
        buffer_adds(b, is_simple ? "" : "|");
}

struct text_position text_position_of(struct slice bytes, size_t offset)
{
        const char *p = bytes.data, *end = p + MIN(offset, bytes.size);
        struct text_position place = {.line = 1};

        for (const char *newline; p < end && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1)
                place.line++;
        place.column = (size_t)(end - p) + 1;
        return place;
}
