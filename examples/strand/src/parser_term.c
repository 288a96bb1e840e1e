/* Sorts and terms; iterative, with a stack of what is open around the term being read. */
#include "parser_parts.h"

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

struct named {
        struct name name;
        tid term;
};

/* ---- sorts ---- */

int parser_sort(struct parser *p, enum sort *out)
{
        static const struct {
                const char *name;
                enum sort sort;
        } sorts[] = {{"Bool", SORT_BOOL}, {"Int", SORT_INT}, {"String", SORT_STR}, {"RegLan", SORT_RE}, {"RegEx", SORT_RE}};
        static const char *const foreign[] = {"Real", "RoundingMode", "Unicode", "Char"};
        struct symbol *y;

        if (p->lex.tok == TOK_OPEN) {
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_SYMBOL && parser_is(p, "RegEx")) {
                        lexer_next(&p->lex);
                        *out = SORT_RE;
                        return parser_skip_rest(p);
                }
                if (p->lex.tok == TOK_SYMBOL && (parser_is(p, "_") || parser_is(p, "Array") || parser_is(p, "Seq")))
                        return parser_unsupported(p, "a sort other than Bool, Int, String and RegLan");
                return parser_unexpected(p, "a sort");
        }
        if (p->lex.tok != TOK_SYMBOL)
                return parser_unexpected(p, "a sort");
        for (size_t i = 0; i < sizeof(sorts) / sizeof(*sorts); i++)
                if (parser_is(p, sorts[i].name)) {
                        *out = sorts[i].sort;
                        return 0;
                }
        for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
                if (parser_is(p, foreign[i]))
                        return parser_unsupported(p, "a sort other than Bool, Int, String and RegLan");
        y = parser_lookup(p, p->lex.text, p->lex.len);
        if (y && y->kind == SYM_SORT) {
                *out = y->sort;
                return 0;
        }
        return parser_error_here(p, "unknown sort '%.*s'", (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
}

/* ---- terms ---- */

int parser_int64(struct parser *p, int64_t *out)
{
        int64_t v = 0;

        for (size_t i = 0; i < p->lex.len; i++)
                if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, p->lex.text[i] - '0', &v))
                        return parser_unsupported(p, "a numeral of more than 63 bits");
        *out = v;
        return 0;
}

enum sort parser_sort_of(const struct parser *p, tid t)
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
                                return parser_error_at(p, f->line, f->col, "re.loop wants numerals");
                        idx[nindex] = t->a;
                        if (nindex + 2 == (int)n) {
                                nindex++;
                                break;
                        }
                }
                n = 1;
        }
        for (size_t i = 0; i < n; i++) {
                enum sort got = parser_sort_of(p, args[i]), want;

                if (*s == 0)
                        return parser_error_at(p, f->line, f->col, "too many arguments for '%s'", b->name);
                if (*s == 'T') {
                        want = have_any ? any : got;
                        any = want;
                        have_any = true;
                } else {
                        want = sig_sort(*s);
                }
                if (got != want)
                        return parser_error_at(p, f->line, f->col, "argument %zu of '%s' has sort %s, expected %s", i + 1,
                                               b->name, term_sort_name(got), term_sort_name(want));
                if (s[1] == '+')
                        continue;
                s += s[1] == '?' ? 2 : 1;
        }
        if (*s && s[1] != '?' && !(s[1] == '+' && n >= (size_t)(s - b->sig - 2) + 1))
                return parser_error_at(p, f->line, f->col, "too few arguments for '%s'", b->name);
        result = b->sig[0] == 'T' ? any : sig_sort(b->sig[0]);
        if (b->op == OP_EQ || b->op == OP_DISTINCT || b->op == OP_ITE) {
                if (any == SORT_RE)
                        return parser_unsupported(p, "equality or ite over regular expressions");
        }
        if (b->op == OP_RE_LOOP) {
                if (nindex < b->indices && !(b->indices == 2 && nindex == 1))
                        return parser_error_at(p, f->line, f->col, "'%s' wants an index", b->name);
                /* (_ re.^ n) is n times; (re.loop r n) of old is n or more, written as hi = -1. */
                *out = term_loop(p->bank, args[0], idx[0], b->indices == 1 ? idx[0] : nindex == 2 ? idx[1] : -1);
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
                return parser_error_at(p, f->line, f->col, "'%.60s' is not a function", y->name);
        if (n != y->nparams)
                return parser_error_at(p, f->line, f->col, "'%.60s' takes %zu arguments, not %zu", y->name, y->nparams, n);
        for (size_t i = 0; i < n; i++)
                if (parser_sort_of(p, args[i]) != parser_sort_of(p, y->params[i]))
                        return parser_error_at(p, f->line, f->col, "argument %zu of '%.60s' has sort %s, expected %s", i + 1,
                                               y->name, term_sort_name(parser_sort_of(p, args[i])),
                                               term_sort_name(parser_sort_of(p, y->params[i])));
        *out = term_subst(p->bank, y->term, y->params, args, n);
        return 0;
}

/* A term that is one token. */
static int parse_atom(struct parser *p, tid *out)
{
        struct symbol *y;
        int64_t v = 0;
        vec_u32 chars = {};
        int r;

        switch (p->lex.tok) {
        case TOK_NUMERAL:
                if ((r = parser_int64(p, &v)) < 0)
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
                return parser_unsupported(p, "constants other than numerals and strings");
        case TOK_SYMBOL:
                y = parser_lookup(p, p->lex.text, p->lex.len);
                if (!y || y->kind == SYM_SORT)
                        return parser_error_here(p, "unknown symbol '%.*s'", (int)(p->lex.len > 60 ? 60 : p->lex.len),
                                                 p->lex.text);
                if (y->kind == SYM_TERM) {
                        *out = y->term;
                        return 0;
                }
                if (y->kind == SYM_MACRO ? y->nparams : y->builtin->sig[2] != 0)
                        return parser_error_here(p, "'%.60s' wants arguments", y->name);
                return apply(p, &(struct frame){.sym = y, .line = p->lex.tok_line, .col = p->lex.tok_col}, NULL, 0, out);
        default:
                return parser_unexpected(p, "a term");
        }
}

/* "_ name index.." of an indexed identifier, up to its ')'. */
static int parse_indexed(struct parser *p, struct frame *f, tid *value, bool *is_value)
{
        int r;

        *is_value = false;
        lexer_next(&p->lex);
        if ((r = parser_expect(p, TOK_SYMBOL, "a name")) < 0)
                return r;
        if (parser_is(p, "char") || parser_is(p, "Char")) {
                uint32_t c = 0;
                bool ok;

                lexer_next(&p->lex);
                ok = p->lex.tok == TOK_BITS && p->lex.text[1] == 'x' && p->lex.len > 2 && p->lex.len <= 7;
                for (size_t i = 2; ok && i < p->lex.len; i++) {
                        ok = lexer_hex(p->lex.text[i]) >= 0;
                        c = 16 * c + (uint32_t)lexer_hex(p->lex.text[i]);
                }
                if (!ok)
                        return parser_unexpected(p, "a hexadecimal code point");
                if (c > USTR_MAX_CHAR)
                        return parser_error_here(p, "code point too large");
                *value = term_str(p->bank, ustr_get(&p->bank->strings, &p->bank->arena, &c, 1));
                *is_value = true;
                lexer_next(&p->lex);
                return parser_expect(p, TOK_CLOSE, "')'");
        }
        f->sym = parser_lookup(p, p->lex.text, p->lex.len);
        if (!f->sym || f->sym->kind != SYM_BUILTIN || !f->sym->builtin->indices)
                return parser_error_here(p, "unknown indexed symbol '%.*s'", (int)(p->lex.len > 60 ? 60 : p->lex.len),
                                         p->lex.text);
        for (;;) {
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_CLOSE)
                        break;
                if (p->lex.tok != TOK_NUMERAL || f->nindex == f->sym->builtin->indices)
                        return parser_unexpected(p, f->nindex ? "')'" : "a numeral");
                if ((r = parser_int64(p, &f->index[f->nindex])) < 0)
                        return r;
                f->nindex++;
        }
        if (!f->nindex)
                return parser_error_here(p, "an index is missing");
        return 0;
}

/* "exists ((x S) ..)": new variables named x .., until the body ends. */
static int parse_exists(struct parser *p)
{
        int r;

        lexer_next(&p->lex);
        if ((r = parser_expect(p, TOK_OPEN, "'('")) < 0)
                return r;
        for (lexer_next(&p->lex); p->lex.tok == TOK_OPEN; lexer_next(&p->lex)) {
                struct name name;
                enum sort s;
                tid v;

                lexer_next(&p->lex);
                if ((r = parser_expect(p, TOK_SYMBOL, "a variable")) < 0)
                        return r;
                name = (struct name){p->lex.text, p->lex.len};
                lexer_next(&p->lex);
                if ((r = parser_sort(p, &s)) < 0)
                        return r;
                if (s == SORT_RE)
                        return parser_unsupported(p, "a bound variable of sort RegLan");
                lexer_next(&p->lex);
                if ((r = parser_expect(p, TOK_CLOSE, "')'")) < 0)
                        return r;
                v = term_var(p->bank, s, "bound");
                parser_define(p, name.text, name.len, SYM_TERM)->term = v;
        }
        return parser_expect(p, TOK_CLOSE, "')'");
}

/* The current token begins the term; afterwards it is the term's last token. */
int parser_term(struct parser *p, tid *out)
{
        VEC(struct frame) frames = {};
        VEC(struct name) names = {};
        VEC(struct named) named = {};
        vec_u32 values = {};
        size_t trail = p->trail.n, binders = 0; /* FRAME_LET_BODY: names are defined outside of all */
        tid v = 0;
        int r = 0;

        for (;; lexer_next(&p->lex)) {
                struct frame f = {.line = p->lex.tok_line, .col = p->lex.tok_col, .base = values.n};
                bool is_value;

                if (p->lex.tok == TOK_CLOSE && frames.n && vec_last(&frames).kind == FRAME_APP) {
                        f = vec_pop(&frames);
                        if ((r = apply(p, &f, values.n ? values.d + f.base : NULL, values.n - f.base, &v)) < 0)
                                goto out;
                        values.n = f.base;
                } else if (p->lex.tok != TOK_OPEN) {
                        if ((r = parse_atom(p, &v)) < 0)
                                goto out;
                } else {
                        lexer_next(&p->lex);
                        if (p->lex.tok == TOK_OPEN) { /* ((_ f 1) x) */
                                lexer_next(&p->lex);
                                if (p->lex.tok == TOK_SYMBOL && parser_is(p, "as")) {
                                        r = parser_unsupported(p, "qualified identifiers");
                                        goto out;
                                }
                                if (p->lex.tok != TOK_SYMBOL || !parser_is(p, "_")) {
                                        r = parser_unexpected(p, "'_'");
                                        goto out;
                                }
                                if ((r = parse_indexed(p, &f, &v, &is_value)) < 0)
                                        goto out;
                                if (is_value) {
                                        r = parser_error_here(p, "a string is not a function");
                                        goto out;
                                }
                                vec_push(&frames, f);
                                continue;
                        }
                        if ((r = parser_expect(p, TOK_SYMBOL, "a function")) < 0)
                                goto out;
                        if (parser_is(p, "_")) {
                                if ((r = parse_indexed(p, &f, &v, &is_value)) < 0)
                                        goto out;
                                if (!is_value) {
                                        r = parser_error_at(p, f.line, f.col, "'%s' wants arguments", f.sym->name);
                                        goto out;
                                }
                        } else if (parser_is(p, "let")) {
                                lexer_next(&p->lex);
                                if ((r = parser_expect(p, TOK_OPEN, "'('")) < 0)
                                        goto out;
                                f.kind = FRAME_LET;
                                f.names = names.n;
                                vec_push(&frames, f);
                                goto let_binding;
                        } else if (parser_is(p, "!")) {
                                f.kind = FRAME_ANNOTATION;
                                vec_push(&frames, f);
                                continue;
                        } else if (parser_is(p, "as")) {
                                enum sort s;

                                lexer_next(&p->lex);
                                if ((r = parse_atom(p, &v)) < 0)
                                        goto out;
                                lexer_next(&p->lex);
                                if ((r = parser_sort(p, &s)) < 0)
                                        goto out;
                                if (s != parser_sort_of(p, v)) {
                                        r = parser_error_here(p, "the term has another sort");
                                        goto out;
                                }
                                lexer_next(&p->lex);
                                if ((r = parser_expect(p, TOK_CLOSE, "')'")) < 0)
                                        goto out;
                        } else {
                                f.sym = parser_lookup(p, p->lex.text, p->lex.len);
                                if (!f.sym && parser_is(p, "exists") && p->asserting) {
                                        bool positive = true; /* under nothing but and, or: true for some x, or for a new one */

                                        for (size_t i = 0; i < frames.n; i++)
                                                positive &= frames.d[i].kind == FRAME_LET_BODY ||
                                                            (frames.d[i].kind == FRAME_APP && frames.d[i].sym->kind == SYM_BUILTIN &&
                                                             (frames.d[i].sym->builtin->op == OP_AND || frames.d[i].sym->builtin->op == OP_OR));
                                        if (positive) {
                                                f.kind = FRAME_LET_BODY;
                                                f.trail = p->trail.n;
                                                if ((r = parse_exists(p)) < 0)
                                                        goto out;
                                                vec_push(&frames, f);
                                                binders++;
                                                continue;
                                        }
                                }
                                if (!f.sym && (parser_is(p, "forall") || parser_is(p, "exists") || parser_is(p, "match"))) {
                                        r = parser_unsupported(p, "quantifiers");
                                        goto out;
                                }
                                if (!f.sym || f.sym->kind == SYM_SORT) {
                                        r = parser_error_here(p, "unknown function '%.*s'",
                                                              (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
                                        goto out;
                                }
                                vec_push(&frames, f);
                                continue;
                        }
                }
        have_value:
                for (; !binders && named.n; named.n--) {
                        const struct named *x = &vec_last(&named);
                        const struct symbol *y = parser_lookup(p, x->name.text, x->name.len);

                        if (y && y->kind != SYM_BUILTIN) {
                                r = parser_error_here(p, "'%.60s' is declared already", y->name);
                                goto out;
                        }
                        parser_define(p, x->name.text, x->name.len, SYM_TERM)->term = x->term;
                }
                if (!frames.n)
                        break;
                switch (vec_last(&frames).kind) {
                case FRAME_APP:
                        vec_push(&values, v);
                        continue;
                case FRAME_LET:
                        vec_push(&values, v);
                        lexer_next(&p->lex);
                        if ((r = parser_expect(p, TOK_CLOSE, "')'")) < 0)
                                goto out;
                        goto let_binding;
                case FRAME_LET_BODY:
                        lexer_next(&p->lex);
                        if ((r = parser_expect(p, TOK_CLOSE, "')'")) < 0)
                                goto out;
                        parser_undo(p, vec_last(&frames).trail);
                        frames.n--;
                        binders--;
                        goto have_value;
                case FRAME_ANNOTATION:
                        for (lexer_next(&p->lex); p->lex.tok != TOK_CLOSE;) {
                                bool is_name = p->lex.tok == TOK_KEYWORD && parser_is(p, ":named");

                                if ((r = parser_expect(p, TOK_KEYWORD, "an attribute")) < 0)
                                        goto out;
                                lexer_next(&p->lex);
                                if (is_name) {
                                        if ((r = parser_expect(p, TOK_SYMBOL, "a name")) < 0)
                                                goto out;
                                        vec_push(&named, (struct named){.name = {p->lex.text, p->lex.len}, .term = v});
                                        lexer_next(&p->lex);
                                } else if (p->lex.tok != TOK_KEYWORD && p->lex.tok != TOK_CLOSE) {
                                        if ((r = parser_skip(p)) < 0)
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
                        if ((r = parser_expect(p, TOK_SYMBOL, "a variable")) < 0)
                                goto out;
                        vec_push(&names, (struct name){p->lex.text, p->lex.len});
                } else {
                        struct frame *l = &vec_last(&frames);

                        if ((r = parser_expect(p, TOK_CLOSE, "'(' or ')'")) < 0)
                                goto out;
                        /* The bindings are parallel: defined only now. */
                        l->trail = p->trail.n;
                        for (size_t i = l->names; i < names.n; i++)
                                parser_define(p, names.d[i].text, names.d[i].len, SYM_TERM)->term =
                                        values.d[l->base + i - l->names];
                        names.n = l->names;
                        values.n = l->base;
                        l->kind = FRAME_LET_BODY;
                        binders++;
                }
        }
        *out = v;
out:
        if (r < 0)
                parser_undo(p, trail);
        vec_free(&frames);
        vec_free(&names);
        vec_free(&named);
        vec_free(&values);
        return r;
}
