/* Scripts as lists of commands. */
#include "core/smtlib/smtlib_internal.h"

void script_new(struct bank *b, enum dialect d, struct script **ret)
{
        struct script *s = *ret = allocate(1, sizeof(*s));

        s->dialect = d;
        s->bank = b ? bank_ref(b) : bank_new();
}

void script_free(struct script *s)
{
        if (!s)
                return;
        free(s->commands);
        bank_unref(s->bank);
        free(s);
}

void script_insert(struct script *s, size_t at, const struct command *c)
{
        struct command kept = *c; /* `c` may point into the list */

        assert(at <= s->n_commands);
        grow(s->commands, s->n_commands, s->commands_size);
        memmove(s->commands + at + 1, s->commands + at, (s->n_commands++ - at) * sizeof(*s->commands));
        s->commands[at] = kept;
        if (kept.kind == COMMAND_SET_LOGIC && !s->logic)
                s->logic = kept.symbol;
}

void script_add(struct script *s, const struct command *c)
{
        script_insert(s, s->n_commands, c);
}

void script_remove(struct script *s, size_t at)
{
        assert(at < s->n_commands);
        memmove(s->commands + at, s->commands + at + 1, (--s->n_commands - at) * sizeof(*s->commands));
}

struct slice bank_keep_text(struct bank *b, struct slice text)
{
        char *kept = arena_take(&b->arena, text.size + 1);

        if (text.size > 0)
                memcpy(kept, text.data, text.size);
        kept[text.size] = '\0';
        return SLICE(kept, text.size);
}

/* The symbol or keyword after a command's name; NULL if there is none. */
static const struct symbol *first_word(struct bank *b, struct slice text)
{
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, text, DIALECT_2_6);
        for (int i = 0; i < 3; i++)
                token_next(&t, &token);
        return token.kind == TOKEN_SYMBOL || token.kind == TOKEN_KEYWORD ? symbol_of(b, token.text) : NULL;
}

void script_add_text(struct script *s, enum command_kind kind, const char *text)
{
        script_add(s, &(struct command){.kind = kind,
                                        .symbol = first_word(s->bank, slice_string(text)),
                                        .text = bank_keep_text(s->bank, slice_string(text))});
}

void script_add_logic(struct script *s, const char *logic)
{
        cleanup_buffer struct buffer text = {0};

        buffer_adds(&text, "(set-logic ");
        token_add_symbol(&text, slice_string(logic));
        buffer_adds(&text, ")");
        script_add_text(s, COMMAND_SET_LOGIC, text.data);
}

void script_add_function(struct script *s, const struct function *f)
{
        script_add(s, &(struct command){.kind = COMMAND_DECLARE_FUN, .function = f, .symbol = f->symbol});
}

int script_add_assert(struct script *s, const struct term *t)
{
        if (t)
                script_add(s, &(struct command){.kind = COMMAND_ASSERT, .term = t});
        return t ? 0 : -EINVAL;
}

void script_add_check(struct script *s)
{
        script_add(s, &(struct command){.kind = COMMAND_CHECK_SAT});
}

void script_copy(const struct script *s, struct bank *to, struct script **ret)
{
        struct script *made;

        script_new(to, s->dialect, &made);
        for (size_t i = 0; i < s->n_commands; i++) {
                struct command c = s->commands[i];
                const struct term **terms;

                if (to != s->bank) {
                        terms = arena_take(&to->arena, c.n_terms * sizeof(*terms));
                        for (size_t k = 0; k < c.n_terms; k++)
                                terms[k] = term_copy(to, c.terms[k]);
                        c.symbol = c.symbol ? symbol_of(to, c.symbol->name) : NULL;
                        c.function = c.function ? function_copy(to, c.function) : NULL;
                        c.term = term_copy(to, c.term);
                        c.text = c.text.data ? bank_keep_text(to, c.text) : c.text;
                        c.terms = terms;
                }
                script_add(made, &c);
        }
        made->n_opaque_commands = s->n_opaque_commands;
        made->n_opaque_terms = s->n_opaque_terms;
        *ret = made;
}

void script_clone(const struct script *s, struct script **ret)
{
        script_copy(s, s->bank, ret);
}

/* -- declarations -- */

void script_functions_at(const struct script *s, size_t at, const struct function ***ret, size_t *ret_n)
{
        const struct function **list;
        uint64_t popped = 0; /* levels, popped after the current command */
        size_t n = 0;

        at = MIN(at, s->n_commands);
        list = allocate(at, sizeof(*list));
        for (size_t i = at; i > 0 && s->commands[i - 1].kind != COMMAND_RESET; i--) {
                const struct command *c = &s->commands[i - 1];

                if (c->function && popped == 0)
                        list[at - ++n] = c->function;
                if (c->kind == COMMAND_POP)
                        popped += c->levels;
                if (c->kind == COMMAND_PUSH)
                        popped -= MIN(popped, (uint64_t)c->levels);
        }
        memmove(list, list + at - n, n * sizeof(*list));
        *ret = list;
        *ret_n = n;
}

void script_declare_missing(struct script *s)
{
        cleanup_free const struct function **used = NULL;
        cleanup_term_map struct term_map is_declared = {0}; /* by function */
        cleanup_term_list struct term_list roots = {0};
        size_t n_used, at = s->n_commands;

        for (size_t i = 0; i < s->n_commands; i++) {
                const struct command *c = &s->commands[i];

                if (c->function)
                        id_map_set(&is_declared, c->function->id, 1);
                if (c->term)
                        term_list_add(&roots, c->term);
                for (size_t k = 0; k < c->n_terms; k++)
                        term_list_add(&roots, c->terms[k]);
                if (c->term && at == s->n_commands)
                        at = i;
        }
        term_functions(roots.list, roots.n, &used, &n_used);
        for (size_t i = 0; i < n_used; i++) /* a command kept as text declares the others */
                if (used[i]->kind == FUNCTION_DECLARED && id_map_get(&is_declared, used[i]->id) == 0)
                        script_insert(s, at++, &(struct command){.kind = COMMAND_DECLARE_FUN, .function = used[i], .symbol = used[i]->symbol});
}

void script_end(struct script *s)
{
        script_add_check(s);
        script_declare_missing(s);
}
