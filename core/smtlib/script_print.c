/* Printing commands. */
#include "core/smtlib/smtlib_internal.h"

/* The operator's name in a dialect; NULL: the token is none, has that name already, or the script has a function of its name. */
static const char *translated(const struct script *s, const struct token *token, enum dialect to)
{
        enum op op = token->kind == TOKEN_SYMBOL && !token->is_quoted ? operator_find(token->text) : OP_NONE;

        if (op == OP_NONE || !operator_row(op)->old_name || text_is(token->text, operator_name(op, to)))
                return NULL;
        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].function && text_is(token->text, s->commands[i].function->symbol->name.data))
                        return NULL;
        return operator_name(op, to);
}

/* Adds text as it was read, with its operators and strings in a dialect, as those of terms are. */
static void add_text(const struct script *s, struct slice text, enum dialect to, struct buffer *ret)
{
        struct tokenizer t;
        struct token token;
        size_t at = 0;

        tokenizer_init(&t, text, s->dialect);
        while (token_next(&t, &token) != TOKEN_END) {
                cleanup_buffer struct buffer canonical = {0};
                const char *name = translated(s, &token, to);

                if (!name && (token.kind != TOKEN_STRING || s->dialect == to))
                        continue;
                buffer_add(ret, (const char *)text.data + at, token.begin - at);
                at = token.end;
                if (name) {
                        buffer_adds(ret, name);
                        continue;
                }
                buffer_adds(&canonical, "");
                dialect_decode_string(s->dialect, token.text, &canonical);
                dialect_encode_string(to, SLICE(canonical.data, canonical.size), ret);
        }
        buffer_add(ret, (const char *)text.data + at, text.size - at);
}

static int add_terms(const struct command *c, const char *name, const struct print_options *o, struct buffer *ret)
{
        int r = 0;

        buffer_addf(ret, "(%s (", name);
        for (size_t i = 0; r == 0 && i < c->n_terms; i++) {
                if (i > 0)
                        buffer_adds(ret, " ");
                r = term_print(c->terms[i], o, ret);
        }
        buffer_adds(ret, "))");
        return r;
}

static void add_declaration(const struct command *c, const struct print_options *o, struct buffer *ret)
{
        bool is_constant = c->kind == COMMAND_DECLARE_CONST && c->function->n_args == 0 && o->dialect != DIALECT_2_0;

        buffer_adds(ret, is_constant ? "(declare-const " : "(declare-fun ");
        token_add_symbol(ret, c->function->symbol->name);
        if (!is_constant) {
                buffer_adds(ret, " (");
                for (size_t i = 0; i < c->function->n_args; i++) {
                        if (i > 0)
                                buffer_adds(ret, " ");
                        sort_print(c->function->args[i], ret);
                }
                buffer_adds(ret, ")");
        }
        buffer_adds(ret, " ");
        sort_print(c->function->result, ret);
        buffer_adds(ret, ")");
}

static int add_definition(const struct command *c, const struct print_options *o, struct buffer *ret)
{
        int r;

        buffer_adds(ret, c->kind == COMMAND_DEFINE_FUN ? "(define-fun " : "(define-fun-rec ");
        token_add_symbol(ret, c->function->symbol->name);
        buffer_adds(ret, " (");
        for (size_t i = 0; i < c->n_terms; i++) {
                buffer_adds(ret, i > 0 ? " (" : "(");
                token_add_symbol(ret, c->terms[i]->symbol->name);
                buffer_adds(ret, " ");
                sort_print(c->terms[i]->sort, ret);
                buffer_adds(ret, ")");
        }
        buffer_adds(ret, ") ");
        sort_print(c->function->result, ret);
        buffer_adds(ret, " ");
        r = term_print(c->term, o, ret);
        buffer_adds(ret, ")");
        return r;
}

bool command_is_text(enum command_kind kind)
{
        static const bool is_text[N_COMMAND_KINDS] = {
                [COMMAND_OPAQUE] = true,       [COMMAND_SET_LOGIC] = true,   [COMMAND_SET_OPTION] = true,
                [COMMAND_SET_INFO] = true,     [COMMAND_DECLARE_SORT] = true, [COMMAND_DEFINE_SORT] = true,
                [COMMAND_DECLARE_DATATYPES] = true, [COMMAND_DEFINE_FUNS_REC] = true, [COMMAND_GET] = true};

        return is_text[kind];
}

int command_print(const struct script *s, const struct command *c, const struct print_options *o, struct buffer *ret)
{
        static const char *const names[N_COMMAND_KINDS] = {[COMMAND_CHECK_SAT] = "check-sat",
                                                           [COMMAND_CHECK_SAT_ASSUMING] = "check-sat-assuming",
                                                           [COMMAND_GET_VALUE] = "get-value",
                                                           [COMMAND_PUSH] = "push",
                                                           [COMMAND_POP] = "pop",
                                                           [COMMAND_RESET] = "reset",
                                                           [COMMAND_RESET_ASSERTIONS] = "reset-assertions",
                                                           [COMMAND_EXIT] = "exit"};
        struct print_options usual = {.dialect = s->dialect};
        int r = 0;

        o = o ? o : &usual;
        switch ((int)c->kind) {
        case COMMAND_ASSERT:
                buffer_adds(ret, "(assert ");
                r = term_print(c->term, o, ret);
                buffer_adds(ret, ")");
                break;
        case COMMAND_DECLARE_FUN:
        case COMMAND_DECLARE_CONST:
                add_declaration(c, o, ret);
                break;
        case COMMAND_DEFINE_FUN:
        case COMMAND_DEFINE_FUN_REC:
                r = add_definition(c, o, ret);
                break;
        case COMMAND_CHECK_SAT_ASSUMING:
        case COMMAND_GET_VALUE:
                r = add_terms(c, names[c->kind], o, ret);
                break;
        case COMMAND_PUSH:
        case COMMAND_POP:
                buffer_addf(ret, "(%s %u)", names[c->kind], c->levels);
                break;
        default:
                if (!command_is_text(c->kind))
                        buffer_addf(ret, "(%s)", names[c->kind]);
                else if (c->kind == COMMAND_SET_INFO && c->symbol && strcmp(c->symbol->name.data, ":smt-lib-version") == 0)
                        buffer_addf(ret, "(set-info :smt-lib-version %s)", dialect_name(o->dialect));
                else
                        add_text(s, c->text, o->dialect, ret);
        }
        return r < 0 ? r : buffer_error(ret);
}

int script_print(const struct script *s, const struct print_options *o, struct buffer *ret)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_commands; i++) {
                r = command_print(s, &s->commands[i], o, ret);
                buffer_adds(ret, "\n");
        }
        return r < 0 ? r : buffer_error(ret);
}
