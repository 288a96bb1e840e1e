/* Commands. */
#include "parser_parts.h"

static bool known_logic(const struct parser *p)
{
        static const char *const logics[] = {"QF_S", "QF_SLIA",   "QF_LIA",  "QF_IDL",
                                             "ALL",  "QF_UFSLIA", "QF_SNIA", "ALL_SUPPORTED"};

        for (size_t i = 0; i < sizeof(logics) / sizeof(*logics); i++)
                if (parser_is(p, logics[i]))
                        return true;
        return false;
}

/* The name of something new; complains if it exists at all. */
static int new_name(struct parser *p, struct name *out)
{
        int r = parser_expect(p, TOK_SYMBOL, "a name");

        if (r < 0)
                return r;
        if (parser_lookup(p, p->lex.text, p->lex.len)) {
                /* Z3str2's names are not reserved: a script may declare its own 'contains'. */
                struct symbol *y = parser_lookup(p, p->lex.text, p->lex.len);

                if (y->kind != SYM_BUILTIN)
                        return parser_error_here(p, "'%.60s' is declared already", y->name);
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
                if ((r = parser_expect(p, TOK_OPEN, "'('")) < 0)
                        return r;
                lexer_next(&p->lex);
                if (p->lex.tok != TOK_CLOSE) {
                        if ((r = parser_sort(p, &s)) < 0)
                                return r;
                        return parser_unsupported(p, "uninterpreted functions");
                }
                lexer_next(&p->lex);
        }
        if ((r = parser_sort(p, &s)) < 0)
                return r;
        if (s == SORT_RE)
                return parser_unsupported(p, "variables of sort RegLan");
        lexer_next(&p->lex);
        y = parser_define(p, name.text, name.len, SYM_TERM);
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
                if ((r = parser_expect(p, TOK_OPEN, "'('")) < 0)
                        return r;
                for (lexer_next(&p->lex); p->lex.tok == TOK_OPEN; lexer_next(&p->lex)) {
                        lexer_next(&p->lex);
                        if ((r = parser_expect(p, TOK_SYMBOL, "a parameter")) < 0)
                                goto out;
                        y = parser_define(p, p->lex.text, p->lex.len, SYM_TERM);
                        lexer_next(&p->lex);
                        if ((r = parser_sort(p, &s)) < 0)
                                goto out;
                        y->term = term_var(p->bank, s, y->name);
                        vec_push(&params, y->term);
                        lexer_next(&p->lex);
                        if ((r = parser_expect(p, TOK_CLOSE, "')'")) < 0)
                                goto out;
                }
                if ((r = parser_expect(p, TOK_CLOSE, "')'")) < 0)
                        goto out;
                lexer_next(&p->lex);
        }
        if ((r = parser_sort(p, &s)) < 0)
                goto out;
        lexer_next(&p->lex);
        if ((r = parser_term(p, &body)) < 0)
                goto out;
        if (parser_sort_of(p, body) != s) {
                r = parser_error_here(p, "the body has sort %s, not %s", term_sort_name(parser_sort_of(p, body)),
                                      term_sort_name(s));
                goto out;
        }
        lexer_next(&p->lex);
        parser_undo(p, trail);
        y = parser_define(p, name.text, name.len, params.n ? SYM_MACRO : SYM_TERM);
        y->term = body;
        y->nparams = params.n;
        y->params = arena_dup(&p->bank->arena, params.d, params.n * sizeof(tid));
out:
        if (r < 0)
                parser_undo(p, trail);
        vec_free(&params);
        return r;
}

static int term_list(struct parser *p)
{
        int r = parser_expect(p, TOK_OPEN, "'('");
        tid t;

        if (r < 0)
                return r;
        for (lexer_next(&p->lex); p->lex.tok != TOK_CLOSE; lexer_next(&p->lex)) {
                const char *start = p->lex.tok == TOK_STRING || (p->lex.tok == TOK_SYMBOL && p->lex.text > p->source &&
                                                                 p->lex.text[-1] == '|')
                                            ? p->lex.text - 1
                                            : p->lex.text;

                if ((r = parser_term(p, &t)) < 0)
                        return r;
                vec_push(&p->terms, t);
                vec_push(&p->texts, (uint32_t)(start - p->source));
                vec_push(&p->texts, (uint32_t)(p->lex.p - p->source));
        }
        lexer_next(&p->lex);
        return 0;
}

/* As it was at that level. Global declarations stay, so also what is unsupported about them. */
static void go_back(struct parser *p, struct parser_level level)
{
        p->asserts.n = level.asserts;
        p->is_changed = true;
        if (p->is_global)
                return;
        p->declared.n = level.declared;
        p->unsupported = level.unsupported;
        parser_undo(p, level.trail);
}

static int push_pop(struct parser *p, bool push)
{
        int64_t n = 1;
        int r;

        if (p->lex.tok == TOK_NUMERAL) {
                if ((r = parser_int64(p, &n)) < 0)
                        return r;
                lexer_next(&p->lex);
        }
        if (!push && (size_t)n > p->levels.n)
                return parser_error_here(p, "pop without push");
        if (push && n > 1000000)
                return parser_error_here(p, "too many levels");
        p->is_changed = true;
        for (; n > 0; n--) {
                if (push)
                        vec_push(&p->levels, (struct parser_level){(uint32_t)p->asserts.n, (uint32_t)p->declared.n, (uint32_t)p->trail.n,
                                                                   p->unsupported});
                else
                        go_back(p, vec_pop(&p->levels));
        }
        return 0;
}

static void add_builtins(struct parser *p)
{
        for (size_t i = 0; i < builtin_count; i++)
                parser_define(p, builtin_table[i].name, strlen(builtin_table[i].name), SYM_BUILTIN)->builtin = &builtin_table[i];
        p->trail.n = 0; /* never undone */
}

/* Commands the solver has no use for, with any arguments. */
static bool ignored(const struct parser *p)
{
        static const char *const names[] = {"set-info",  "get-info",       "get-option",     "get-assertions",
                                            "get-proof", "get-unsat-core", "get-assignment", "get-unsat-assumptions"};

        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
                if (parser_is(p, names[i]))
                        return true;
        return false;
}

/* One command after its '('. Returns an event, -1 for none, -2 for an error, -3 for "unsupported". */
static int command(struct parser *p)
{
        int r = 0, event = -1;
        enum sort s;
        tid t;

        if (parser_expect(p, TOK_SYMBOL, "a command") < 0)
                return -2;
        if (parser_is(p, "set-logic")) {
                lexer_next(&p->lex);
                if ((r = parser_expect(p, TOK_SYMBOL, "a logic")) < 0)
                        return -2;
                if (!known_logic(p))
                        parser_unsupported(p, "a logic other than QF_S and QF_SLIA");
                lexer_next(&p->lex);
        } else if (parser_is(p, "check-sat")) {
                event = PARSER_CHECK_SAT;
                lexer_next(&p->lex);
        } else if (parser_is(p, "exit")) {
                event = PARSER_EXIT;
                lexer_next(&p->lex);
        } else if (parser_is(p, "reset") || parser_is(p, "reset-assertions")) {
                p->is_global &= parser_is(p, "reset-assertions");
                p->levels.n = 0;
                go_back(p, (struct parser_level){});
                lexer_next(&p->lex);
        } else if (parser_is(p, "get-model")) {
                event = PARSER_GET_MODEL;
                lexer_next(&p->lex);
        } else if (parser_is(p, "echo")) {
                event = PARSER_ECHO;
                lexer_next(&p->lex);
                if ((r = parser_expect(p, TOK_STRING, "a string")) < 0)
                        return -2;
                vec_push(&p->texts, (uint32_t)(p->lex.text - 1 - p->source));
                vec_push(&p->texts, (uint32_t)(p->lex.p - p->source));
                lexer_next(&p->lex);
        } else if (parser_is(p, "push") || parser_is(p, "pop")) {
                bool push = parser_is(p, "push");

                lexer_next(&p->lex);
                r = push_pop(p, push);
        } else if (parser_is(p, "set-option")) {
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_KEYWORD && parser_is(p, ":global-declarations")) {
                        lexer_next(&p->lex);
                        p->is_global = parser_is(p, "true");
                }
                r = parser_skip_rest(p);
        } else if (ignored(p)) {
                event = memcmp(p->lex.text, "get-", 4) ? -1 : PARSER_NO_ANSWER;
                lexer_next(&p->lex);
                r = parser_skip_rest(p);
        } else if (parser_is(p, "get-value") || parser_is(p, "check-sat-assuming")) {
                event = parser_is(p, "get-value") ? PARSER_GET_VALUE : PARSER_CHECK_SAT;
                lexer_next(&p->lex);
                r = p->unsupported ? -2 : term_list(p);
                for (size_t i = 0; !r && event == PARSER_CHECK_SAT && i < p->terms.n; i++)
                        if (parser_sort_of(p, p->terms.d[i]) != SORT_BOOL)
                                r = parser_error_here(p, "an assumption is not of sort Bool");
        } else if (parser_is(p, "declare-fun") || parser_is(p, "declare-const") || parser_is(p, "declare-variable")) {
                bool fun = parser_is(p, "declare-fun");

                lexer_next(&p->lex);
                r = p->unsupported ? -2 : declare(p, fun);
        } else if (parser_is(p, "define-fun") || parser_is(p, "define-const")) {
                bool fun = parser_is(p, "define-fun");

                lexer_next(&p->lex);
                r = p->unsupported ? -2 : define_fun(p, fun);
        } else if (parser_is(p, "define-sort")) {
                struct name name;

                lexer_next(&p->lex);
                if (p->unsupported) {
                        r = -2;
                } else if ((r = new_name(p, &name)) == 0 && (r = parser_expect(p, TOK_OPEN, "'('")) == 0) {
                        lexer_next(&p->lex);
                        if (p->lex.tok != TOK_CLOSE) {
                                r = parser_unsupported(p, "parametric sorts");
                        } else {
                                lexer_next(&p->lex);
                                if ((r = parser_sort(p, &s)) == 0) {
                                        parser_define(p, name.text, name.len, SYM_SORT)->sort = s;
                                        lexer_next(&p->lex);
                                }
                        }
                }
        } else if (parser_is(p, "declare-sort") || parser_is(p, "declare-datatypes") || parser_is(p, "declare-datatype") ||
                   parser_is(p, "define-fun-rec") || parser_is(p, "define-funs-rec")) {
                r = parser_unsupported(p, "declared sorts and recursive functions");
        } else if (parser_is(p, "assert")) {
                lexer_next(&p->lex);
                p->asserting = true;
                r = p->unsupported ? -2 : parser_term(p, &t);
                p->asserting = false;
                if (!r && parser_sort_of(p, t) != SORT_BOOL)
                        r = parser_error_here(p, "the assertion has sort %s, not Bool", term_sort_name(parser_sort_of(p, t)));
                if (!r) {
                        vec_push(&p->asserts, t);
                        p->is_changed = true;
                        lexer_next(&p->lex);
                }
        } else {
                parser_error_here(p, "unknown command '%.*s'", (int)(p->lex.len > 60 ? 60 : p->lex.len), p->lex.text);
                return -2;
        }
        if (r == -2)
                return -3;
        if (r < 0 || parser_expect(p, TOK_CLOSE, "')'") < 0)
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
                bool before;
                int event;

                if (p->is_passing)
                        p->unsupported = NULL;
                p->is_passing = false;
                before = p->unsupported;
                p->terms.n = 0;
                p->texts.n = 0;
                lexer_next(&p->lex);
                if (p->lex.tok == TOK_EOF)
                        return PARSER_EOF;
                if (p->lex.tok != TOK_OPEN) {
                        parser_unexpected(p, "'('");
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
                        get_value = parser_is(p, "get-value");
                        event = parser_is(p, "check-sat-assuming") ? PARSER_CHECK_SAT : get_value ? PARSER_GET_VALUE : -1;
                        p->is_passing = event >= 0 && !before;
                        p->lex = start;
                        p->terms.n = 0;
                        if (parser_skip(p) < 0)
                                return PARSER_ERROR;
                }
                if (event >= 0)
                        return (enum parser_event)event;
        }
}
