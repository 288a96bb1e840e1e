#include "parser.h"
#include "builtin.h"
#include <stdarg.h>
#include <stdio.h>

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

/* What is open around the term being read. */
enum frame_kind {
        FRAME_APP,
        FRAME_LET,
        FRAME_LET_BODY,
        FRAME_ANNOTATION
};

struct frame {
        enum frame_kind kind;
        unsigned line, col;
        size_t base;  /* of its values */
        size_t names; /* FRAME_LET: of its names */
        size_t trail; /* FRAME_LET_BODY: symbols to undo */
        const struct symbol *sym;
        int64_t index[2];
        int nindex;
};

struct name {
        const char *text;
        size_t len;
};

struct named {
        struct name name;
        tid term;
};

/* ---- errors ---- */

__attribute__((format(printf, 4, 5))) static int error_at(struct parser *p, unsigned line, unsigned col,
                                                          const char *fmt, ...)
{
        int n = snprintf(p->error, sizeof(p->error), "%u:%u: ", line, col);
        va_list ap;

        va_start(ap, fmt);
        vsnprintf(p->error + n, sizeof(p->error) - (size_t)n, fmt, ap);
        va_end(ap);
        return -1;
}

#define error_here(p, ...) error_at((p), (p)->lex.tok_line, (p)->lex.tok_col, __VA_ARGS__)

static int unexpected(struct parser *p, const char *wanted)
{
        if (p->lex.tok == TOK_BAD)
                return error_here(p, "%s", p->lex.bad);
        if (p->lex.tok == TOK_EOF)
                return error_here(p, "unexpected end of input, expected %s", wanted);
        return error_here(p, "unexpected '%.*s', expected %s", (int)(p->lex.len > 40 ? 40 : p->lex.len),
                          p->lex.text, wanted);
}

static int expect(struct parser *p, enum token tok, const char *wanted)
{
        return p->lex.tok == tok ? 0 : unexpected(p, wanted);
}

/* The current command is well-formed as far as seen but outside the logics: remember why. */
static int unsupported(struct parser *p, const char *why)
{
        if (!p->unsupported)
                p->unsupported = why;
        return -2;
}

static bool is_text(const struct parser *p, const char *s)
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

static struct symbol *lookup(const struct parser *p, const char *s, size_t n)
{
        uint32_t h = name_hash(s, n);

        for (struct symbol *y = p->table[h & (p->ntable - 1)]; y; y = y->next)
                if (y->hash == h && y->len == n && !memcmp(y->name, s, n))
                        return y;
        return NULL;
}

static struct symbol *define(struct parser *p, const char *s, size_t n, enum symbol_kind kind)
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

static void undo(struct parser *p, size_t trail)
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
static int skip(struct parser *p)
{
        size_t depth = 0;

        for (;; lexer_next(&p->lex)) {
                if (p->lex.tok == TOK_OPEN)
                        depth++;
                else if (p->lex.tok == TOK_CLOSE && depth)
                        depth--;
                else if (p->lex.tok == TOK_EOF || p->lex.tok == TOK_BAD || p->lex.tok == TOK_CLOSE)
                        return unexpected(p, depth ? "')'" : "a value");
                if (!depth)
                        return 0;
        }
}

/* To the ')' that closes the command; the current token is inside it. */
static int skip_rest(struct parser *p)
{
        while (p->lex.tok != TOK_CLOSE) {
                int r = skip(p);

                if (r < 0)
                        return r;
                lexer_next(&p->lex);
        }
        return 0;
}

/* ---- sorts ---- */

static int parse_sort(struct parser *p, enum sort *out)
{
        static const struct {
                const char *name;
                enum sort sort;
        } sorts[] = {{"Bool", SORT_BOOL},
                     {"Int", SORT_INT},
                     {"String", SORT_STR},
                     {"RegLan", SORT_RE},
                     {"RegEx", SORT_RE}};
        static const char *const foreign[] = {"Real", "RoundingMode", "Unicode", "Char"};
        struct symbol *y;

        if (p->lex.tok == TOK_OPEN) {
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_SYMBOL && is_text(p, "RegEx")) {
                        lexer_next(&p->lex);
                        *out = SORT_RE;
                        return skip_rest(p);
                }
                if (p->lex.tok == TOK_SYMBOL && (is_text(p, "_") || is_text(p, "Array") || is_text(p, "Seq")))
                        return unsupported(p, "a sort other than Bool, Int, String and RegLan");
                return unexpected(p, "a sort");
        }
        if (p->lex.tok != TOK_SYMBOL)
                return unexpected(p, "a sort");
        for (size_t i = 0; i < sizeof(sorts) / sizeof(*sorts); i++)
                if (is_text(p, sorts[i].name)) {
                        *out = sorts[i].sort;
                        return 0;
                }
        for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
                if (is_text(p, foreign[i]))
                        return unsupported(p, "a sort other than Bool, Int, String and RegLan");
        y = lookup(p, p->lex.text, p->lex.len);
        if (y && y->kind == SYM_SORT) {
                *out = y->sort;
                return 0;
        }
        return error_here(p, "unknown sort '%.*s'", (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
}

/* ---- terms ---- */

static int parse_int64(struct parser *p, int64_t *out)
{
        int64_t v = 0;

        for (size_t i = 0; i < p->lex.len; i++)
                if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, p->lex.text[i] - '0', &v))
                        return unsupported(p, "a numeral of more than 63 bits");
        *out = v;
        return 0;
}

static enum sort sort_of(const struct parser *p, tid t)
{
        return (enum sort)term_get(p->bank, t)->sort;
}

static enum sort sig_sort(char c)
{
        return c == 'B' ? SORT_BOOL : c == 'I' ? SORT_INT : c == 'S' ? SORT_STR : SORT_RE;
}

static int apply_builtin(struct parser *p, const struct frame *f, tid *args, size_t n, tid *out)
{
        const struct builtin *b = f->sym->builtin;
        const char *s = b->sig + 2;
        enum sort any = SORT_RE, result;
        bool have_any = false;
        int64_t idx[2] = {f->index[0], f->index[1]};
        int nindex = f->nindex;

        if (b->op == OP_RE_LOOP && !nindex && b->indices == 2 && n >= 2) {
                /* (re.loop r 1 3), before 2.6 */
                for (; n > 1 && nindex < 2; nindex++) {
                        const struct term *t = term_get(p->bank, args[nindex + 1]);

                        if (t->op != OP_NUM || n > 3)
                                return error_at(p, f->line, f->col, "re.loop wants numerals");
                        idx[nindex] = t->a;
                        if (nindex + 2 == (int)n) {
                                nindex++;
                                break;
                        }
                }
                n = 1;
        }
        for (size_t i = 0; i < n; i++) {
                enum sort got = sort_of(p, args[i]), want;

                if (*s == 0)
                        return error_at(p, f->line, f->col, "too many arguments for '%s'", b->name);
                if (*s == 'T') {
                        want = have_any ? any : got;
                        any = want;
                        have_any = true;
                } else {
                        want = sig_sort(*s);
                }
                if (got != want)
                        return error_at(p, f->line, f->col, "argument %zu of '%s' has sort %s, expected %s",
                                        i + 1, b->name, term_sort_name(got), term_sort_name(want));
                if (s[1] == '+')
                        continue;
                s += s[1] == '?' ? 2 : 1;
        }
        if (*s && s[1] != '?' && !(s[1] == '+' && n >= (size_t)(s - b->sig - 2) + 1))
                return error_at(p, f->line, f->col, "too few arguments for '%s'", b->name);
        result = b->sig[0] == 'T' ? any : sig_sort(b->sig[0]);
        if (b->op == OP_EQ || b->op == OP_DISTINCT || b->op == OP_ITE) {
                if (any == SORT_RE)
                        return unsupported(p, "equality or ite over regular expressions");
        }
        if (b->op == OP_RE_LOOP) {
                if (nindex < b->indices && !(b->indices == 2 && nindex == 1))
                        return error_at(p, f->line, f->col, "'%s' wants an index", b->name);
                /* (_ re.^ n) is n times; (re.loop r n) of old is n or more, written as hi = -1. */
                *out = term_loop(p->bank, args[0], idx[0],
                                 b->indices == 1 ? idx[0]
                                 : nindex == 2   ? idx[1]
                                                 : -1);
                return 0;
        }
        if (b->swapped) {
                tid t = args[0];

                args[0] = args[1];
                args[1] = t;
        }
        if (b->op == OP_INDEXOF && n == 2) {
                tid full[3] = {args[0], args[1], term_num(p->bank, 0)};

                *out = term_app(p->bank, b->op, result, full, 3);
                return 0;
        }
        *out = term_app(p->bank, b->op, result, args, n);
        return 0;
}

static int apply(struct parser *p, const struct frame *f, tid *args, size_t n, tid *out)
{
        const struct symbol *y = f->sym;

        if (y->kind == SYM_BUILTIN)
                return apply_builtin(p, f, args, n, out);
        if (y->kind != SYM_MACRO)
                return error_at(p, f->line, f->col, "'%.60s' is not a function", y->name);
        if (n != y->nparams)
                return error_at(p, f->line, f->col, "'%.60s' takes %zu arguments, not %zu", y->name,
                                y->nparams, n);
        for (size_t i = 0; i < n; i++)
                if (sort_of(p, args[i]) != sort_of(p, y->params[i]))
                        return error_at(p, f->line, f->col,
                                        "argument %zu of '%.60s' has sort %s, expected %s", i + 1, y->name,
                                        term_sort_name(sort_of(p, args[i])),
                                        term_sort_name(sort_of(p, y->params[i])));
        *out = term_subst(p->bank, y->term, y->params, args, n);
        return 0;
}

/* A term that is one token. */
static int parse_atom(struct parser *p, tid *out)
{
        struct symbol *y;
        int64_t v;
        vec_u32 chars = {};
        int r;

        switch (p->lex.tok) {
        case TOK_NUMERAL:
                if ((r = parse_int64(p, &v)) < 0)
                        return r;
                *out = term_num(p->bank, v);
                return 0;
        case TOK_STRING:
                lexer_string(&p->lex, &chars);
                *out = term_str(p->bank, ustr_get(&p->bank->strings, &p->bank->arena, chars.d, chars.n));
                vec_free(&chars);
                return 0;
        case TOK_DECIMAL:
        case TOK_BITS:
                return unsupported(p, "constants other than numerals and strings");
        case TOK_SYMBOL:
                y = lookup(p, p->lex.text, p->lex.len);
                if (!y || y->kind == SYM_SORT)
                        return error_here(p, "unknown symbol '%.*s'",
                                          (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
                if (y->kind == SYM_TERM) {
                        *out = y->term;
                        return 0;
                }
                if (y->kind == SYM_MACRO ? y->nparams : y->builtin->sig[2] != 0)
                        return error_here(p, "'%.60s' wants arguments", y->name);
                return apply(p, &(struct frame){.sym = y, .line = p->lex.tok_line, .col = p->lex.tok_col},
                             NULL, 0, out);
        default:
                return unexpected(p, "a term");
        }
}

/* "_ name index.." of an indexed identifier, up to its ')'. */
static int parse_indexed(struct parser *p, struct frame *f, tid *value, bool *is_value)
{
        int r;

        *is_value = false;
        lexer_next(&p->lex);
        if ((r = expect(p, TOK_SYMBOL, "a name")) < 0)
                return r;
        if (is_text(p, "char") || is_text(p, "Char")) {
                uint32_t c = 0;

                lexer_next(&p->lex);
                if (p->lex.tok != TOK_BITS || p->lex.text[1] != 'x' || p->lex.len > 7)
                        return unexpected(p, "a hexadecimal code point");
                for (size_t i = 2; i < p->lex.len; i++) {
                        char d = p->lex.text[i];

                        c = 16 * c + (uint32_t)(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
                }
                if (c > USTR_MAX_CHAR)
                        return error_here(p, "code point too large");
                *value = term_str(p->bank, ustr_get(&p->bank->strings, &p->bank->arena, &c, 1));
                *is_value = true;
                lexer_next(&p->lex);
                return expect(p, TOK_CLOSE, "')'");
        }
        f->sym = lookup(p, p->lex.text, p->lex.len);
        if (!f->sym || f->sym->kind != SYM_BUILTIN || !f->sym->builtin->indices)
                return error_here(p, "unknown indexed symbol '%.*s'",
                                  (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
        for (;;) {
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_CLOSE)
                        break;
                if (p->lex.tok != TOK_NUMERAL || f->nindex == f->sym->builtin->indices)
                        return unexpected(p, f->nindex ? "')'" : "a numeral");
                if ((r = parse_int64(p, &f->index[f->nindex])) < 0)
                        return r;
                f->nindex++;
        }
        if (!f->nindex)
                return error_here(p, "an index is missing");
        return 0;
}

/* The current token begins the term; afterwards it is the term's last token. */
static int parse_term(struct parser *p, tid *out)
{
        VEC(struct frame) frames = {};
        VEC(struct name) names = {};
        VEC(struct named) named = {};
        vec_u32 values = {};
        size_t trail = p->trail.n;
        tid v = 0;
        int r = 0;

        for (;; lexer_next(&p->lex)) {
                struct frame f = {.line = p->lex.tok_line, .col = p->lex.tok_col, .base = values.n};
                bool is_value;

                if (p->lex.tok == TOK_CLOSE && frames.n && vec_last(&frames).kind == FRAME_APP) {
                        f = vec_pop(&frames);
                        if ((r = apply(p, &f, values.n ? values.d + f.base : NULL, values.n - f.base, &v)) <
                            0)
                                goto out;
                        values.n = f.base;
                } else if (p->lex.tok != TOK_OPEN) {
                        if ((r = parse_atom(p, &v)) < 0)
                                goto out;
                } else {
                        lexer_next(&p->lex);
                        if (p->lex.tok == TOK_OPEN) { /* ((_ f 1) x) */
                                lexer_next(&p->lex);
                                if (p->lex.tok == TOK_SYMBOL && is_text(p, "as")) {
                                        r = unsupported(p, "qualified identifiers");
                                        goto out;
                                }
                                if (p->lex.tok != TOK_SYMBOL || !is_text(p, "_")) {
                                        r = unexpected(p, "'_'");
                                        goto out;
                                }
                                if ((r = parse_indexed(p, &f, &v, &is_value)) < 0)
                                        goto out;
                                if (is_value) {
                                        r = error_here(p, "a string is not a function");
                                        goto out;
                                }
                                vec_push(&frames, f);
                                continue;
                        }
                        if ((r = expect(p, TOK_SYMBOL, "a function")) < 0)
                                goto out;
                        if (is_text(p, "_")) {
                                if ((r = parse_indexed(p, &f, &v, &is_value)) < 0)
                                        goto out;
                                if (!is_value) {
                                        r = error_at(p, f.line, f.col, "'%s' wants arguments", f.sym->name);
                                        goto out;
                                }
                        } else if (is_text(p, "let")) {
                                lexer_next(&p->lex);
                                if ((r = expect(p, TOK_OPEN, "'('")) < 0)
                                        goto out;
                                f.kind = FRAME_LET;
                                f.names = names.n;
                                vec_push(&frames, f);
                                goto let_binding;
                        } else if (is_text(p, "!")) {
                                f.kind = FRAME_ANNOTATION;
                                vec_push(&frames, f);
                                continue;
                        } else if (is_text(p, "as")) {
                                enum sort s;

                                lexer_next(&p->lex);
                                if ((r = parse_atom(p, &v)) < 0)
                                        goto out;
                                lexer_next(&p->lex);
                                if ((r = parse_sort(p, &s)) < 0)
                                        goto out;
                                if (s != sort_of(p, v)) {
                                        r = error_here(p, "the term has another sort");
                                        goto out;
                                }
                                lexer_next(&p->lex);
                                if ((r = expect(p, TOK_CLOSE, "')'")) < 0)
                                        goto out;
                        } else {
                                f.sym = lookup(p, p->lex.text, p->lex.len);
                                if (!f.sym &&
                                    (is_text(p, "forall") || is_text(p, "exists") || is_text(p, "match"))) {
                                        r = unsupported(p, "quantifiers");
                                        goto out;
                                }
                                if (!f.sym || f.sym->kind == SYM_SORT) {
                                        r = error_here(p, "unknown function '%.*s'",
                                                       (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
                                        goto out;
                                }
                                vec_push(&frames, f);
                                continue;
                        }
                }
        have_value:
                if (!frames.n)
                        break;
                switch (vec_last(&frames).kind) {
                case FRAME_APP:
                        vec_push(&values, v);
                        continue;
                case FRAME_LET:
                        vec_push(&values, v);
                        lexer_next(&p->lex);
                        if ((r = expect(p, TOK_CLOSE, "')'")) < 0)
                                goto out;
                        goto let_binding;
                case FRAME_LET_BODY:
                        lexer_next(&p->lex);
                        if ((r = expect(p, TOK_CLOSE, "')'")) < 0)
                                goto out;
                        undo(p, vec_last(&frames).trail);
                        frames.n--;
                        goto have_value;
                case FRAME_ANNOTATION:
                        for (lexer_next(&p->lex); p->lex.tok != TOK_CLOSE;) {
                                bool is_name = p->lex.tok == TOK_KEYWORD && is_text(p, ":named");

                                if ((r = expect(p, TOK_KEYWORD, "an attribute")) < 0)
                                        goto out;
                                lexer_next(&p->lex);
                                if (is_name) {
                                        if ((r = expect(p, TOK_SYMBOL, "a name")) < 0)
                                                goto out;
                                        vec_push(&named, (struct named){.name = {p->lex.text, p->lex.len},
                                                                        .term = v});
                                        lexer_next(&p->lex);
                                } else if (p->lex.tok != TOK_KEYWORD && p->lex.tok != TOK_CLOSE) {
                                        if ((r = skip(p)) < 0)
                                                goto out;
                                        lexer_next(&p->lex);
                                }
                        }
                        frames.n--;
                        goto have_value;
                }
        let_binding:
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_OPEN) {
                        lexer_next(&p->lex);
                        if ((r = expect(p, TOK_SYMBOL, "a variable")) < 0)
                                goto out;
                        vec_push(&names, (struct name){p->lex.text, p->lex.len});
                } else {
                        struct frame *l = &vec_last(&frames);

                        if ((r = expect(p, TOK_CLOSE, "'(' or ')'")) < 0)
                                goto out;
                        /* The bindings are parallel: defined only now. */
                        l->trail = p->trail.n;
                        for (size_t i = l->names; i < names.n; i++)
                                define(p, names.d[i].text, names.d[i].len, SYM_TERM)->term =
                                        values.d[l->base + i - l->names];
                        names.n = l->names;
                        values.n = l->base;
                        l->kind = FRAME_LET_BODY;
                }
        }
        *out = v;
        for (size_t i = 0; i < named.n; i++)
                define(p, named.d[i].name.text, named.d[i].name.len, SYM_TERM)->term = named.d[i].term;
out:
        if (r < 0)
                undo(p, trail);
        vec_free(&frames);
        vec_free(&names);
        vec_free(&named);
        vec_free(&values);
        return r;
}

/* ---- commands ---- */

static bool known_logic(const struct parser *p)
{
        static const char *const logics[] = {"QF_S", "QF_SLIA",   "QF_LIA",  "QF_IDL",
                                             "ALL",  "QF_UFSLIA", "QF_SNIA", "ALL_SUPPORTED"};

        for (size_t i = 0; i < sizeof(logics) / sizeof(*logics); i++)
                if (is_text(p, logics[i]))
                        return true;
        return false;
}

/* The name of something new; complains if it exists at all. */
static int new_name(struct parser *p, struct name *out)
{
        int r = expect(p, TOK_SYMBOL, "a name");

        if (r < 0)
                return r;
        if (lookup(p, p->lex.text, p->lex.len)) {
                /* Z3str2's names are not reserved: a script may declare its own 'contains'. */
                struct symbol *y = lookup(p, p->lex.text, p->lex.len);

                if (y->kind != SYM_BUILTIN)
                        return error_here(p, "'%.60s' is declared already", y->name);
        }
        *out = (struct name){p->lex.text, p->lex.len};
        lexer_next(&p->lex);
        return 0;
}

static int declare(struct parser *p, bool with_args)
{
        struct name name;
        struct symbol *y;
        enum sort s;
        int r;

        if ((r = new_name(p, &name)) < 0)
                return r;
        if (with_args) {
                if ((r = expect(p, TOK_OPEN, "'('")) < 0)
                        return r;
                lexer_next(&p->lex);
                if (p->lex.tok != TOK_CLOSE) {
                        if ((r = parse_sort(p, &s)) < 0)
                                return r;
                        return unsupported(p, "uninterpreted functions");
                }
                lexer_next(&p->lex);
        }
        if ((r = parse_sort(p, &s)) < 0)
                return r;
        if (s == SORT_RE)
                return unsupported(p, "variables of sort RegLan");
        lexer_next(&p->lex);
        y = define(p, name.text, name.len, SYM_TERM);
        y->term = term_var(p->bank, s, y->name);
        vec_push(&p->declared, y->term);
        return 0;
}

static int define_fun(struct parser *p, bool with_args)
{
        size_t trail = p->trail.n;
        vec_u32 params = {};
        struct symbol *y;
        struct name name;
        enum sort s;
        tid body;
        int r;

        if ((r = new_name(p, &name)) < 0)
                return r;
        if (with_args) {
                if ((r = expect(p, TOK_OPEN, "'('")) < 0)
                        return r;
                for (lexer_next(&p->lex); p->lex.tok == TOK_OPEN; lexer_next(&p->lex)) {
                        lexer_next(&p->lex);
                        if ((r = expect(p, TOK_SYMBOL, "a parameter")) < 0)
                                goto out;
                        y = define(p, p->lex.text, p->lex.len, SYM_TERM);
                        lexer_next(&p->lex);
                        if ((r = parse_sort(p, &s)) < 0)
                                goto out;
                        y->term = term_var(p->bank, s, y->name);
                        vec_push(&params, y->term);
                        lexer_next(&p->lex);
                        if ((r = expect(p, TOK_CLOSE, "')'")) < 0)
                                goto out;
                }
                if ((r = expect(p, TOK_CLOSE, "')'")) < 0)
                        goto out;
                lexer_next(&p->lex);
        }
        if ((r = parse_sort(p, &s)) < 0)
                goto out;
        lexer_next(&p->lex);
        if ((r = parse_term(p, &body)) < 0)
                goto out;
        if (sort_of(p, body) != s) {
                r = error_here(p, "the body has sort %s, not %s", term_sort_name(sort_of(p, body)),
                               term_sort_name(s));
                goto out;
        }
        lexer_next(&p->lex);
        undo(p, trail);
        y = define(p, name.text, name.len, params.n ? SYM_MACRO : SYM_TERM);
        y->term = body;
        y->nparams = params.n;
        y->params = arena_dup(&p->bank->arena, params.d, params.n * sizeof(tid));
out:
        if (r < 0)
                undo(p, trail);
        vec_free(&params);
        return r;
}

static int term_list(struct parser *p)
{
        int r = expect(p, TOK_OPEN, "'('");
        tid t;

        if (r < 0)
                return r;
        for (lexer_next(&p->lex); p->lex.tok != TOK_CLOSE; lexer_next(&p->lex)) {
                const char *start =
                        p->lex.tok == TOK_STRING || (p->lex.tok == TOK_SYMBOL && p->lex.text > p->source &&
                                                     p->lex.text[-1] == '|')
                                ? p->lex.text - 1
                                : p->lex.text;

                if ((r = parse_term(p, &t)) < 0)
                        return r;
                vec_push(&p->terms, t);
                vec_push(&p->texts, (uint32_t)(start - p->source));
                vec_push(&p->texts, (uint32_t)(p->lex.p - p->source));
        }
        lexer_next(&p->lex);
        return 0;
}

static int push_pop(struct parser *p, bool push)
{
        int64_t n = 1;
        int r;

        if (p->lex.tok == TOK_NUMERAL) {
                if ((r = parse_int64(p, &n)) < 0)
                        return r;
                lexer_next(&p->lex);
        }
        if (!push && (size_t)n > p->levels.n)
                return error_here(p, "pop without push");
        if (push && n > 1000000)
                return error_here(p, "too many levels");
        for (; n > 0; n--) {
                if (push) {
                        vec_push(&p->levels,
                                 (struct parser_level){(uint32_t)p->asserts.n, (uint32_t)p->declared.n,
                                                       (uint32_t)p->trail.n});
                } else {
                        p->levels.n--;
                        p->asserts.n = p->levels.d[p->levels.n].asserts;
                        p->declared.n = p->levels.d[p->levels.n].declared;
                        undo(p, p->levels.d[p->levels.n].trail);
                }
        }
        return 0;
}

static void add_builtins(struct parser *p)
{
        for (size_t i = 0; i < builtin_count; i++)
                define(p, builtin_table[i].name, strlen(builtin_table[i].name), SYM_BUILTIN)->builtin =
                        &builtin_table[i];
        p->trail.n = 0; /* never undone */
}

static void reset(struct parser *p)
{
        p->levels.n = 0;
        p->asserts.n = 0;
        p->declared.n = 0;
        p->unsupported = NULL;
        undo(p, 0);
}

/* Commands the solver has no use for, with any arguments. */
static bool ignored(const struct parser *p)
{
        static const char *const names[] = {"set-info",       "set-option",     "get-info",
                                            "get-option",     "get-assertions", "get-proof",
                                            "get-unsat-core", "get-assignment", "get-unsat-assumptions"};

        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
                if (is_text(p, names[i]))
                        return true;
        return false;
}

/* One command after its '('. Returns an event, -1 for none, -2 for an error, -3 for "unsupported". */
static int command(struct parser *p)
{
        int r = 0, event = -1;
        enum sort s;
        tid t;

        if (expect(p, TOK_SYMBOL, "a command") < 0)
                return -2;
        if (is_text(p, "set-logic")) {
                lexer_next(&p->lex);
                if ((r = expect(p, TOK_SYMBOL, "a logic")) < 0)
                        return -2;
                if (!known_logic(p))
                        unsupported(p, "a logic other than QF_S and QF_SLIA");
                lexer_next(&p->lex);
        } else if (is_text(p, "check-sat")) {
                event = PARSER_CHECK_SAT;
                lexer_next(&p->lex);
        } else if (is_text(p, "exit")) {
                event = PARSER_EXIT;
                lexer_next(&p->lex);
        } else if (is_text(p, "reset")) {
                reset(p);
                lexer_next(&p->lex);
        } else if (is_text(p, "get-model")) {
                event = PARSER_GET_MODEL;
                lexer_next(&p->lex);
        } else if (is_text(p, "echo")) {
                event = PARSER_ECHO;
                lexer_next(&p->lex);
                if ((r = expect(p, TOK_STRING, "a string")) < 0)
                        return -2;
                snprintf(p->text, sizeof(p->text), "%.*s", (int)(p->lex.len > 250 ? 250 : p->lex.len),
                         p->lex.text);
                lexer_next(&p->lex);
        } else if (is_text(p, "push") || is_text(p, "pop")) {
                bool push = is_text(p, "push");

                lexer_next(&p->lex);
                r = push_pop(p, push);
        } else if (ignored(p)) {
                lexer_next(&p->lex);
                r = skip_rest(p);
        } else if (is_text(p, "reset-assertions")) {
                p->asserts.n = 0;
                p->levels.n = 0;
                lexer_next(&p->lex);
        } else if (is_text(p, "get-value") || is_text(p, "check-sat-assuming")) {
                event = is_text(p, "get-value") ? PARSER_GET_VALUE : PARSER_CHECK_SAT;
                lexer_next(&p->lex);
                r = p->unsupported ? -2 : term_list(p);
                for (size_t i = 0; !r && event == PARSER_CHECK_SAT && i < p->terms.n; i++)
                        if (sort_of(p, p->terms.d[i]) != SORT_BOOL)
                                r = error_here(p, "an assumption is not of sort Bool");
        } else if (is_text(p, "declare-fun") || is_text(p, "declare-const") ||
                   is_text(p, "declare-variable")) {
                bool fun = is_text(p, "declare-fun");

                lexer_next(&p->lex);
                r = p->unsupported ? -2 : declare(p, fun);
        } else if (is_text(p, "define-fun") || is_text(p, "define-const")) {
                bool fun = is_text(p, "define-fun");

                lexer_next(&p->lex);
                r = p->unsupported ? -2 : define_fun(p, fun);
        } else if (is_text(p, "define-sort")) {
                struct name name;

                lexer_next(&p->lex);
                if (p->unsupported) {
                        r = -2;
                } else if ((r = new_name(p, &name)) == 0 && (r = expect(p, TOK_OPEN, "'('")) == 0) {
                        lexer_next(&p->lex);
                        if (p->lex.tok != TOK_CLOSE) {
                                r = unsupported(p, "parametric sorts");
                        } else {
                                lexer_next(&p->lex);
                                if ((r = parse_sort(p, &s)) == 0) {
                                        define(p, name.text, name.len, SYM_SORT)->sort = s;
                                        lexer_next(&p->lex);
                                }
                        }
                }
        } else if (is_text(p, "declare-sort") || is_text(p, "declare-datatypes") ||
                   is_text(p, "declare-datatype") || is_text(p, "define-fun-rec") ||
                   is_text(p, "define-funs-rec")) {
                r = unsupported(p, "declared sorts and recursive functions");
        } else if (is_text(p, "assert")) {
                lexer_next(&p->lex);
                r = p->unsupported ? -2 : parse_term(p, &t);
                if (!r && sort_of(p, t) != SORT_BOOL)
                        r = error_here(p, "the assertion has sort %s, not Bool",
                                       term_sort_name(sort_of(p, t)));
                if (!r) {
                        vec_push(&p->asserts, t);
                        lexer_next(&p->lex);
                }
        } else {
                error_here(p, "unknown command '%.*s'", (int)(p->lex.len > 60 ? 60 : p->lex.len),
                           p->lex.text);
                return -2;
        }
        if (r == -2)
                return -3;
        if (r < 0 || expect(p, TOK_CLOSE, "')'") < 0)
                return -2;
        return event;
}

void parser_init(struct parser *p, struct bank *b, const char *text, size_t len)
{
        memset(p, 0, sizeof(*p));
        lexer_init(&p->lex, text, len);
        p->source = text;
        p->bank = b;
        p->ntable = 256;
        p->table = util_alloc(p->ntable * sizeof(*p->table));
        add_builtins(p);
}

void parser_free(struct parser *p)
{
        vec_free(&p->asserts);
        vec_free(&p->declared);
        vec_free(&p->terms);
        vec_free(&p->texts);
        vec_free(&p->levels);
        vec_free(&p->trail);
        free(p->table);
        p->table = NULL;
}

enum parser_event parser_next(struct parser *p)
{
        for (;;) {
                struct lexer start;
                int event;

                p->terms.n = 0;
                p->texts.n = 0;
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_EOF)
                        return PARSER_EOF;
                if (p->lex.tok != TOK_OPEN) {
                        unexpected(p, "'('");
                        return PARSER_ERROR;
                }
                start = p->lex;
                lexer_next(&p->lex);
                event = command(p);
                if (event == -2)
                        return PARSER_ERROR;
                if (event == -3) {
                        /* Outside the logics: only its parentheses are checked. */
                        bool get_value;

                        p->lex = start;
                        lexer_next(&p->lex);
                        get_value = is_text(p, "get-value");
                        event = is_text(p, "check-sat-assuming") ? PARSER_CHECK_SAT
                                : get_value                      ? PARSER_GET_VALUE
                                                                 : -1;
                        p->lex = start;
                        p->terms.n = 0;
                        if (skip(p) < 0)
                                return PARSER_ERROR;
                }
                if (event >= 0)
                        return (enum parser_event)event;
        }
}
