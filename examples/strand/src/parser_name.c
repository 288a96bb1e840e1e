/* Errors with their place, names and what they mean, skipping. */
#include "parser_parts.h"
#include <stdarg.h>
#include <stdio.h>

/* ---- errors ---- */

int parser_error_at(struct parser *p, unsigned line, unsigned col, const char *fmt, ...)
{
        int n = snprintf(p->error, sizeof(p->error), "%u:%u: ", line, col);
        va_list ap;

        va_start(ap, fmt);
        vsnprintf(p->error + n, sizeof(p->error) - (size_t)n, fmt, ap);
        va_end(ap);
        return -1;
}

int parser_unexpected(struct parser *p, const char *wanted)
{
        if (p->lex.tok == TOK_BAD)
                return parser_error_here(p, "%s", p->lex.bad);
        if (p->lex.tok == TOK_EOF)
                return parser_error_here(p, "unexpected end of input, expected %s", wanted);
        return parser_error_here(p, "unexpected '%.*s', expected %s", (int)(p->lex.len > 40 ? 40 : p->lex.len), p->lex.text,
                                 wanted);
}

int parser_expect(struct parser *p, enum token tok, const char *wanted)
{
        return p->lex.tok == tok ? 0 : parser_unexpected(p, wanted);
}

/* The current command is well-formed as far as seen but outside the logics: remember why. */
int parser_unsupported(struct parser *p, const char *why)
{
        if (!p->unsupported)
                p->unsupported = why;
        return -2;
}

bool parser_is(const struct parser *p, const char *s)
{
        return p->lex.len == strlen(s) && !memcmp(p->lex.text, s, p->lex.len);
}

/* ---- symbols ---- */

static uint32_t name_hash(const char *s, size_t n)
{
        uint64_t h = n;

        for (size_t i = 0; i < n; i++)
                h = util_mix(h, (unsigned char)s[i]);
        return (uint32_t)h;
}

struct symbol *parser_lookup(const struct parser *p, const char *s, size_t n)
{
        uint32_t h = name_hash(s, n);

        for (struct symbol *y = p->table[h & (p->ntable - 1)]; y; y = y->next)
                if (y->hash == h && y->len == n && !memcmp(y->name, s, n))
                        return y;
        return NULL;
}

struct symbol *parser_define(struct parser *p, const char *s, size_t n, enum symbol_kind kind)
{
        struct symbol *y = arena_alloc(&p->bank->arena, sizeof(*y));
        char *name = arena_alloc(&p->bank->arena, n + 1);

        memcpy(name, s, n);
        name[n] = 0;
        *y = (struct symbol){.name = name, .len = n, .hash = name_hash(s, n), .kind = kind};
        if (p->nsymbols >= p->ntable) {
                size_t m = 2 * p->ntable;
                struct symbol **t = util_alloc(m * sizeof(*t));

                /* Chains are newest first, and must stay so. */
                for (size_t i = 0; i < p->ntable; i++) {
                        struct symbol *q, *next, *rev = NULL;

                        for (q = p->table[i]; q; q = next) {
                                next = q->next;
                                q->next = rev;
                                rev = q;
                        }
                        for (q = rev; q; q = next) {
                                next = q->next;
                                q->next = t[q->hash & (m - 1)];
                                t[q->hash & (m - 1)] = q;
                        }
                }
                free(p->table);
                p->table = t;
                p->ntable = m;
        }
        y->next = p->table[y->hash & (p->ntable - 1)];
        p->table[y->hash & (p->ntable - 1)] = y;
        p->nsymbols++;
        vec_push(&p->trail, y);
        return y;
}

void parser_undo(struct parser *p, size_t trail)
{
        while (p->trail.n > trail) {
                struct symbol *y = vec_pop(&p->trail);

                assert(p->table[y->hash & (p->ntable - 1)] == y);
                p->table[y->hash & (p->ntable - 1)] = y->next;
                p->nsymbols--;
        }
}

/* ---- S-expressions that are only skipped ---- */

/* From the current token to the end of its S-expression. */
int parser_skip(struct parser *p)
{
        size_t depth = 0;

        for (;; lexer_next(&p->lex)) {
                if (p->lex.tok == TOK_OPEN)
                        depth++;
                else if (p->lex.tok == TOK_CLOSE && depth)
                        depth--;
                else if (p->lex.tok == TOK_EOF || p->lex.tok == TOK_BAD || p->lex.tok == TOK_CLOSE)
                        return parser_unexpected(p, depth ? "')'" : "a value");
                if (!depth)
                        return 0;
        }
}

/* To the ')' that closes the command; the current token is inside it. */
int parser_skip_rest(struct parser *p)
{
        while (p->lex.tok != TOK_CLOSE) {
                int r = parser_skip(p);

                if (r < 0)
                        return r;
                lexer_next(&p->lex);
        }
        return 0;
}
