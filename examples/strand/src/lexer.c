#include "lexer.h"
#include "ustr.h"

void lexer_init(struct lexer *l, const char *text, size_t len)
{
        *l = (struct lexer){.p = text, .end = text + len, .line_start = text, .line = 1};
}

static bool is_symbol_char(unsigned char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("~!@$%^&*_-+=<>.?/", c)) || c >= 0x80;
}

static enum token bad(struct lexer *l, const char *why)
{
        l->bad = why;
        l->p = l->end;
        return l->tok = TOK_BAD;
}

static void newline(struct lexer *l)
{
        l->line++;
        l->line_start = l->p + 1;
}

/* A string literal, or a symbol in bars, up to the closing quote. */
static enum token quoted(struct lexer *l, char quote, enum token tok)
{
        l->text = ++l->p;
        for (;; l->p++) {
                if (l->p == l->end)
                        return bad(l, quote == '"' ? "unterminated string literal" : "unterminated quoted symbol");
                if (*l->p == '\n')
                        newline(l);
                if (*l->p != quote)
                        continue;
                if (quote == '"' && l->p + 1 < l->end && l->p[1] == '"') {
                        l->p++;
                        continue;
                }
                break;
        }
        l->len = (size_t)(l->p++ - l->text);
        if (tok == TOK_STRING && l->len > LEXER_MAX_LITERAL)
                return bad(l, "string literal too long");
        return l->tok = tok;
}

enum token lexer_next(struct lexer *l)
{
        unsigned char c;

        for (; l->p < l->end; l->p++) {
                if (*l->p == '\n') {
                        newline(l);
                } else if (*l->p == ';') {
                        while (l->p + 1 < l->end && l->p[1] != '\n')
                                l->p++;
                } else if (*l->p != ' ' && *l->p != '\t' && *l->p != '\r') {
                        break;
                }
        }
        l->tok_line = l->line;
        l->tok_col = (unsigned)(l->p - l->line_start) + 1;
        l->text = l->p;
        l->len = 0;
        if (l->p == l->end)
                return l->tok = TOK_EOF;
        c = (unsigned char)*l->p;
        if (c == '(' || c == ')') {
                l->p++;
                l->len = 1;
                return l->tok = c == '(' ? TOK_OPEN : TOK_CLOSE;
        }
        if (c == '"')
                return quoted(l, '"', TOK_STRING);
        if (c == '|')
                return quoted(l, '|', TOK_SYMBOL);
        if (c >= '0' && c <= '9') {
                while (l->p < l->end && *l->p >= '0' && *l->p <= '9')
                        l->p++;
                l->tok = TOK_NUMERAL;
                if (l->p < l->end && *l->p == '.') {
                        for (l->p++; l->p < l->end && *l->p >= '0' && *l->p <= '9';)
                                l->p++;
                        l->tok = TOK_DECIMAL;
                }
                l->len = (size_t)(l->p - l->text);
                if (l->p < l->end && is_symbol_char((unsigned char)*l->p))
                        return bad(l, "malformed numeral");
                return l->tok;
        }
        if (c == '#' || c == ':' || is_symbol_char(c)) {
                for (l->p++; l->p < l->end && is_symbol_char((unsigned char)*l->p);)
                        l->p++;
                l->len = (size_t)(l->p - l->text);
                if (c != '#' && c != ':')
                        return l->tok = TOK_SYMBOL;
                if (l->len < 2)
                        return bad(l, "unexpected character");
                return l->tok = c == '#' ? TOK_BITS : TOK_KEYWORD;
        }
        return bad(l, "unexpected character");
}

int lexer_hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return -1;
}

/* \uXXXX, \u{X} .. \u{XXXXX} (SMT-LIB 2.6, theory of strings). Returns the bytes used, 0 if it is none. */
static size_t escape(const char *p, const char *end, uint32_t *out)
{
        uint32_t v = 0;
        size_t i;

        if (end - p < 4 || p[0] != '\\' || p[1] != 'u')
                return 0;
        if (p[2] != '{') {
                if (end - p < 6)
                        return 0;
                for (i = 2; i < 6; i++) {
                        if (lexer_hex(p[i]) < 0)
                                return 0;
                        v = 16 * v + (uint32_t)lexer_hex(p[i]);
                }
                *out = v;
                return 6;
        }
        for (i = 3; p + i < end && i < 8 && lexer_hex(p[i]) >= 0; i++)
                v = 16 * v + (uint32_t)lexer_hex(p[i]);
        if (i == 3 || p + i == end || p[i] != '}' || v > USTR_MAX_CHAR)
                return 0;
        *out = v;
        return i + 1;
}

/* One UTF-8 sequence; bytes that are none stand for themselves. */
static size_t utf8(const char *s, const char *end, uint32_t *out)
{
        const unsigned char *p = (const unsigned char *)s;
        size_t n = p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 1;
        uint32_t v;

        *out = p[0];
        if (n == 1 || p[0] >= 0xf8 || (size_t)(end - s) < n)
                return 1;
        v = p[0] & (0xffu >> (n + 1));
        for (size_t i = 1; i < n; i++) {
                if ((p[i] & 0xc0) != 0x80)
                        return 1;
                v = v << 6 | (p[i] & 0x3f);
        }
        if (v > USTR_MAX_CHAR)
                return 1;
        *out = v;
        return n;
}

void lexer_string(const struct lexer *l, vec_u32 *out)
{
        const char *end = l->text + l->len;

        for (const char *p = l->text; p < end;) {
                uint32_t c = (unsigned char)*p;
                size_t n;

                if (c == '\\' && (n = escape(p, end, &c))) {
                        p += n;
                } else if (c == '"') {
                        p += 2; /* "" stands for one quote */
                } else {
                        p += utf8(p, end, &c);
                }
                vec_push(out, c);
        }
}
