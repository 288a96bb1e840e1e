/* Scripts as lists of commands. */
#include "core/smtlib/read_internal.h"

int script_new(struct bank *b, enum dialect d, struct script **ret)
{
        cleanup_script struct script *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->dialect = d;
        s->bank = b ? bank_ref(b) : bank_new();
        if (!s->bank)
                return -ENOMEM;
        *ret = steal_pointer(s);
        return 0;
}

void script_free(struct script *s)
{
        if (!s)
                return;
        free(s->commands);
        bank_unref(s->bank);
        free(s);
}

int script_insert(struct script *s, size_t at, const struct command *c)
{
        struct command kept = *c; /* which may be one of the list */

        assert(at <= s->n_commands);
        if (!grow(s->commands, s->n_commands, s->commands_size))
                return -ENOMEM;
        memmove(s->commands + at + 1, s->commands + at, (s->n_commands++ - at) * sizeof(*s->commands));
        s->commands[at] = kept;
        if (kept.kind == COMMAND_SET_LOGIC && !s->logic)
                s->logic = kept.symbol;
        return 0;
}

int script_add(struct script *s, const struct command *c)
{
        return script_insert(s, s->n_commands, c);
}

void script_remove(struct script *s, size_t at)
{
        assert(at < s->n_commands);
        memmove(s->commands + at, s->commands + at + 1, (--s->n_commands - at) * sizeof(*s->commands));
}

int bank_keep_text(struct bank *b, struct slice text, struct slice *ret)
{
        char *kept = arena_take(&b->arena, text.size + 1);

        if (!kept)
                return -ENOMEM;
        if (text.size > 0)
                memcpy(kept, text.data, text.size);
        kept[text.size] = '\0';
        *ret = SLICE(kept, text.size);
        return 0;
}

/* The arguments of a command. */
static const struct symbol *first_word(struct bank *b, struct slice text)
{
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, text, DIALECT_2_6);
        for (int i = 0; i < 3; i++)
                token_next(&t, &token);
        return token.kind == TOKEN_SYMBOL || token.kind == TOKEN_KEYWORD ? symbol_of(b, token.text) : NULL;
}

int script_add_text(struct script *s, enum command_kind kind, const char *text)
{
        struct command c = {.kind = kind, .symbol = first_word(s->bank, slice_string(text))};
        int r = bank_keep_text(s->bank, slice_string(text), &c.text);

        return r < 0 ? r : script_add(s, &c);
}

int script_add_logic(struct script *s, const char *logic)
{
        cleanup_buffer struct buffer text = {0};

        buffer_adds(&text, "(set-logic ");
        token_add_symbol(&text, slice_string(logic));
        buffer_adds(&text, ")");
        return buffer_error(&text) < 0 ? -ENOMEM : script_add_text(s, COMMAND_SET_LOGIC, text.data);
}

int script_add_function(struct script *s, const struct function *f)
{
        if (!f)
                return s->bank->error ? s->bank->error : -EINVAL;
        return script_add(s, &(struct command){.kind = COMMAND_DECLARE_FUN, .function = f, .symbol = f->symbol});
}

int script_add_assert(struct script *s, const struct term *t)
{
        if (!t)
                return s->bank->error ? s->bank->error : -EINVAL;
        return script_add(s, &(struct command){.kind = COMMAND_ASSERT, .term = t});
}

int script_add_check(struct script *s)
{
        return script_add(s, &(struct command){.kind = COMMAND_CHECK_SAT});
}

int script_clone(const struct script *s, struct script **ret)
{
        cleanup_script struct script *made = NULL;
        int r = script_new(s->bank, s->dialect, &made);

        if (r < 0)
                return r;
        made->commands = malloc((s->n_commands + 1) * sizeof(*s->commands));
        if (!made->commands)
                return -ENOMEM;
        if (s->n_commands > 0)
                memcpy(made->commands, s->commands, s->n_commands * sizeof(*s->commands));
        made->n_commands = s->n_commands;
        made->commands_size = s->n_commands + 1;
        made->logic = s->logic;
        made->n_opaque_commands = s->n_opaque_commands;
        made->n_opaque_terms = s->n_opaque_terms;
        *ret = steal_pointer(made);
        return 0;
}

static int copy_command(struct bank *to, const struct command *c, struct command *ret)
{
        struct command made = *c;
        const struct term **terms = NULL;

        if (c->symbol && !(made.symbol = symbol_of(to, c->symbol->name)))
                return -ENOMEM;
        if (c->function && !(made.function = function_copy(to, c->function)))
                return to->error;
        if (c->term && !(made.term = term_copy(to, c->term)))
                return to->error;
        if (c->text.data && bank_keep_text(to, c->text, &made.text) < 0)
                return -ENOMEM;
        if (c->n_terms > 0 && !(terms = arena_take(&to->arena, c->n_terms * sizeof(*terms))))
                return -ENOMEM;
        for (size_t i = 0; i < c->n_terms; i++)
                if (!(terms[i] = term_copy(to, c->terms[i])))
                        return to->error;
        made.terms = terms;
        *ret = made;
        return 0;
}

int script_copy(const struct script *s, struct bank *to, struct script **ret)
{
        cleanup_script struct script *made = NULL;
        int r = script_new(to, s->dialect, &made);

        for (size_t i = 0; r == 0 && i < s->n_commands; i++) {
                struct command c;

                r = copy_command(made->bank, &s->commands[i], &c);
                if (r == 0)
                        r = script_add(made, &c);
        }
        if (r < 0)
                return r;
        made->n_opaque_commands = s->n_opaque_commands;
        made->n_opaque_terms = s->n_opaque_terms;
        *ret = steal_pointer(made);
        return 0;
}

/* -- what is declared -- */

static bool declares(const struct command *c)
{
        return c->function != NULL;
}

int script_functions_at(const struct script *s, size_t at, const struct function ***ret, size_t *ret_n)
{
        cleanup_free const struct function **list = NULL;
        cleanup_free struct level {
                size_t n; /* functions before it */
                uint32_t levels;
        } *levels = NULL;
        size_t n = 0, n_levels = 0;

        for (size_t i = 0; i < at && i < s->n_commands; i++) {
                const struct command *c = &s->commands[i];

                if (declares(c)) {
                        if (list_grow(list, n) < 0)
                                return -ENOMEM;
                        list[n++] = c->function;
                }
                if (c->kind == COMMAND_PUSH) {
                        if (list_grow(levels, n_levels) < 0)
                                return -ENOMEM;
                        levels[n_levels++] = (struct level){n, c->levels};
                }
                for (uint32_t left = c->kind == COMMAND_POP ? c->levels : 0; left > 0 && n_levels > 0;) {
                        struct level *last = &levels[n_levels - 1];
                        uint32_t popped = MIN(left, last->levels);

                        n = popped > 0 ? last->n : n;
                        left -= popped;
                        last->levels -= popped;
                        n_levels -= last->levels == 0;
                }
                if (c->kind == COMMAND_RESET)
                        n = n_levels = 0;
        }
        if (!list && !(list = malloc(sizeof(*list))))
                return -ENOMEM;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}

/* Functions that commands of this kind make known without naming them in command.function. */
static bool is_declared_elsewhere(const struct function *f)
{
        return f->kind != FUNCTION_DECLARED;
}

int script_declare_missing(struct script *s)
{
        cleanup_free const struct function **used = NULL;
        cleanup_free uint8_t *is_declared = NULL;
        cleanup_term_list struct term_list roots = {0};
        size_t n_used, n_functions = s->bank->functions.n, at = s->n_commands;
        int r = 0;

        is_declared = calloc(n_functions + 1, 1);
        if (!is_declared)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_commands; i++) {
                const struct command *c = &s->commands[i];

                if (declares(c))
                        is_declared[c->function->id] = 1;
                if (c->term && term_list_add(&roots, c->term) < 0)
                        return -ENOMEM;
                for (size_t k = 0; k < c->n_terms; k++)
                        if (term_list_add(&roots, c->terms[k]) < 0)
                                return -ENOMEM;
                if (c->term && at == s->n_commands)
                        at = i;
        }
        if (roots.n == 0)
                return 0;
        r = term_functions(roots.list, roots.n, &used, &n_used);
        for (size_t i = 0; r == 0 && i < n_used; i++) {
                struct command c = {.kind = COMMAND_DECLARE_FUN, .function = used[i], .symbol = used[i]->symbol};

                if (!is_declared[used[i]->id] && !is_declared_elsewhere(used[i]))
                        r = script_insert(s, at++, &c);
        }
        return r;
}

int script_end(struct script *s)
{
        int r = script_add_check(s);

        return r < 0 ? r : script_declare_missing(s);
}
