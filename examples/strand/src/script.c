#include "script.h"
#include "parser.h"

volatile sig_atomic_t script_answering = 1;

/* An alarm waits while an answer is printed: it would cut it, or give one too many. */
static void hold_alarm(bool hold)
{
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGALRM);
        sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* Does the rest of the script ask for another verdict? */
static bool asks_more(struct lexer rest)
{
        enum token before = TOK_EOF, tok;

        for (; (tok = lexer_next(&rest)) != TOK_EOF && tok != TOK_BAD; before = tok) {
                if (tok != TOK_SYMBOL || before != TOK_OPEN)
                        continue;
                if (rest.len >= 9 && !memcmp(rest.text, "check-sat", 9))
                        return true;
                if (rest.len == 4 && !memcmp(rest.text, "exit", 4))
                        return false;
        }
        return false;
}

static void print_value(FILE *out, const struct value *v)
{
        if (v->sort == SORT_INT && !v->set && v->s)
                for (uint32_t i = 0; i < v->s->len; i++) /* digits */
                        putc((int)v->s->c[i], out);
        else if (v->sort == SORT_BOOL)
                fputs(v->b ? "true" : "false", out);
        else if (v->sort == SORT_INT && v->i < 0)
                fprintf(out, "(- %llu)", -(unsigned long long)v->i);
        else if (v->sort == SORT_INT)
                fprintf(out, "%lld", (long long)v->i);
        else if (v->s)
                ustr_print(out, v->s);
        else
                fputs("\"\"", out);
}

static bool is_known(const struct value *v)
{
        return v->set || v->s;
}

/* Reserved words and commands are names only between bars; a - at the end stands for any rest. */
static bool is_reserved(const char *name)
{
        static const char *const words[] = {"!",           "_",       "as",     "exists", "forall", "let",      "match",   "par",  "BINARY", "DECIMAL",
                                            "HEXADECIMAL", "NUMERAL", "STRING", "assert", "check-", "declare-", "define-", "echo", "exit",   "get-",
                                            "pop",         "push",    "reset",  "reset-", "set-"};

        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
                size_t n = strlen(words[i]);

                if (!strncmp(name, words[i], n) && (!name[n] || words[i][n - 1] == '-'))
                        return true;
        }
        return false;
}

static bool is_simple(const char *name)
{
        for (const char *c = name; *c; c++)
                if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789~!@$%^&*_-+=<>.?/", *c))
                        return false;
        return *name && !(*name >= '0' && *name <= '9') && !is_reserved(name);
}

static void print_model(FILE *out, const struct parser *p, const struct value *val, size_t nval, const struct ustr *empty)
{
        fputs("(\n", out);
        for (size_t i = 0; i < p->declared.n; i++) {
                tid t = p->declared.d[i];
                const struct term *x = term_get(p->bank, t);
                struct value v = {.sort = (enum sort)x->sort, .set = true, .s = empty};

                if (t < nval && is_known(&val[t]))
                        v = val[t];
                fprintf(out, is_simple(x->name) ? "  (define-fun %s () %s " : "  (define-fun |%s| () %s ", x->name,
                        term_sort_name(v.sort));
                print_value(out, &v);
                fputs(")\n", out);
        }
        fputs(")\n", out);
}

static void print_values(FILE *out, struct parser *p, const struct value *model, size_t nval, const struct ustr *empty)
{
        size_t n = p->bank->terms.n;
        struct value *val = util_alloc(n * sizeof(*val));
        vec_u32 order = {};

        term_reach(p->bank, p->terms.d, p->terms.n, &order);
        for (size_t i = 0; i < order.n; i++) {
                const struct term *x = term_get(p->bank, order.d[i]);

                if (x->op != OP_VAR)
                        continue;
                val[order.d[i]] = (struct value){.sort = (enum sort)x->sort, .set = true, .s = empty};
                if (order.d[i] < nval && is_known(&model[order.d[i]]))
                        val[order.d[i]] = model[order.d[i]];
        }
        hold_alarm(false);
        eval_terms(p->bank, order.d, order.n, val);
        hold_alarm(true);
        putc('(', out);
        for (size_t i = 0; i < p->terms.n; i++) {
                fprintf(out, "%s(%.*s ", i ? "\n " : "", (int)(p->texts.d[2 * i + 1] - p->texts.d[2 * i]),
                        p->source + p->texts.d[2 * i]);
                if (is_known(&val[p->terms.d[i]]))
                        print_value(out, &val[p->terms.d[i]]);
                else
                        fputs("unknown", out);
                putc(')', out);
        }
        fputs(")\n", out);
        free(val);
        vec_free(&order);
}

int script_run(const char *text, size_t len, const struct strand_options *opt, struct strand_stats *stats, FILE *out)
{
        static const char *const verdicts[] = {"unknown", "sat", "unsat"};
        enum verdict verdict = VERDICT_UNKNOWN;
        struct value *val = NULL;
        struct strand_options now;
        const struct ustr *empty;
        struct parser p;
        struct bank b;
        size_t nval = 0;
        bool more;
        int status = 0;

        term_bank_init(&b);
        empty = ustr_get(&b.strings, &b.arena, NULL, 0);
        parser_init(&p, &b, text, len);
        for (;;) {
                enum parser_event event = parser_next(&p);
                vec_u32 all = {};

                if (event == PARSER_EOF || event == PARSER_EXIT)
                        break;
                hold_alarm(true);
                switch (event) {
                case PARSER_ERROR:
                        fprintf(out, "(error \"");
                        for (const char *c = p.error; *c; c++)
                                fprintf(out, *c == '"' ? "\"\"" : (unsigned char)*c < 32 ? "?" : "%c", *c);
                        fputs("\")\n", out);
                        status = 1;
                        goto out;
                case PARSER_CHECK_SAT:
                        more = asks_more(p.lex);
                        p.is_changed = false;
                        if (p.unsupported) {
                                fprintf(stderr, "strand: unknown, because of %s\n", p.unsupported);
                                verdict = VERDICT_UNKNOWN;
                        } else {
                                for (size_t i = 0; i < p.asserts.n; i++)
                                        vec_push(&all, p.asserts.d[i]);
                                for (size_t i = 0; i < p.terms.n; i++)
                                        vec_push(&all, p.terms.d[i]);
                                free(val);
                                nval = b.terms.n;
                                val = util_alloc(nval * sizeof(*val));
                                now = *opt;
                                now.ends &= !more;
                                hold_alarm(false);
                                verdict = strand_solve(&b, all.d, all.n, &now, stats, val);
                                hold_alarm(true);
                        }
                        fprintf(out, "%s\n", verdicts[verdict]);
                        script_answering = more;
                        vec_free(&all);
                        break;
                case PARSER_GET_MODEL:
                case PARSER_GET_VALUE:
                        if (verdict != VERDICT_SAT || p.is_changed)
                                fputs("(error \"no model is available\")\n", out);
                        else if (p.unsupported)
                                fprintf(out, "(error \"outside the logics: %s\")\n", p.unsupported);
                        else if (event == PARSER_GET_MODEL)
                                print_model(out, &p, val, nval, empty);
                        else
                                print_values(out, &p, val, nval, empty);
                        break;
                case PARSER_ECHO:
                        fwrite(p.source + p.texts.d[0], 1, p.texts.d[1] - p.texts.d[0], out);
                        putc('\n', out);
                        break;
                case PARSER_NO_ANSWER:
                        fputs("unsupported\n", out);
                        break;
                default:
                        break;
                }
                fflush(out); /* an alarm ends the program without */
                hold_alarm(false);
        }
out:
        free(val);
        parser_free(&p);
        term_bank_free(&b);
        return status;
}
