/* Steps: commands, declarations and definitions are left out. */
#include "core/study/reduce/reduce_steps.h"

/* The names that the command itself declares. */
const struct symbol *command_symbol(const struct command *c)
{
        return c->function ? c->function->symbol : c->symbol;
}

bool command_has_name(const struct command *c)
{
        return c->kind == COMMAND_DECLARE_SORT || c->kind == COMMAND_DEFINE_SORT || command_declares(c) ||
               c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC;
}

/* A push goes together with the pop that ends it, other commands go by themselves. Declarations stay. */
int choose_commands(struct command_items *items)
{
        const struct script *script = items->state->script;
        cleanup_free size_t *open = calloc(script->n_commands + 1, sizeof(*open));
        size_t n_open = 0;

        if (!open)
                return -ENOMEM;
        for (size_t i = 0; i < script->n_commands; i++) {
                const struct command *c = &script->commands[i];

                if (c->kind == COMMAND_POP && c->levels == 1 && n_open > 0) {
                        items->item[i] = items->item[open[--n_open]];
                        continue;
                }
                if (!command_has_name(c))
                        items->item[i] = items->n++;
                if (c->kind == COMMAND_PUSH && c->levels == 1)
                        open[n_open++] = i;
                else if (c->kind == COMMAND_PUSH || c->kind == COMMAND_POP || c->kind == COMMAND_RESET)
                        n_open = 0;
        }
        return 0;
}

/* -- declarations -- */

/* Does a symbol stand anywhere but in command `at`? */
static bool is_mentioned(const struct script_state *s, const struct symbol *symbol, size_t at)
{
        const struct span *own = &s->script->commands[at].span;
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, SLICE(s->text.data, s->text.size), s->script->dialect);
        while (token_next(&t, &token) != TOKEN_END)
                if (token.kind == TOKEN_SYMBOL && (token.begin < own->begin || token.begin >= own->end) &&
                    token.text.size == symbol->name.size && memcmp(token.text.data, symbol->name.data, token.text.size) == 0)
                        return true;
        return false;
}

/* How often each symbol of the bank is a token, by id. */
int state_count_mentions(const struct script_state *s, size_t **ret, size_t *ret_n)
{
        size_t *list = NULL, n = 0;
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, SLICE(s->text.data, s->text.size), s->script->dialect);
        while (token_next(&t, &token) != TOKEN_END) {
                const struct symbol *symbol = token.kind == TOKEN_SYMBOL ? symbol_find(s->script->bank, token.text) : NULL;

                while (symbol && n <= symbol->id) {
                        if (list_grow(list, n) < 0) {
                                free(list);
                                return -ENOMEM;
                        }
                        list[n++] = 0;
                }
                if (symbol)
                        list[symbol->id]++;
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

/* Declarations that nobody uses. */
int choose_unused(struct command_items *items)
{
        const struct script_state *s = items->state;
        cleanup_free size_t *mentions = NULL;
        size_t n_mentions = 0;
        int r = state_count_mentions(s, &mentions, &n_mentions);

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];
                const struct symbol *symbol = command_symbol(c);

                if (!command_has_name(c) || !symbol || symbol->id >= n_mentions)
                        continue;
                if (mentions[symbol->id] <= 1 || (c->kind == COMMAND_DEFINE_FUN_REC && !is_mentioned(s, symbol, i)))
                        items->item[i] = items->n++;
        }
        return r;
}

static int write_declaration(const struct script_state *s, struct command c, struct buffer *ret)
{
        c.kind = COMMAND_DECLARE_FUN;
        return state_add_printed(s, c, ret);
}

/* Definitions lose their bodies. */
int choose_bodies(struct command_items *items)
{
        const struct script *script = items->state->script;

        items->write = write_declaration;
        for (size_t i = 0; i < script->n_commands; i++)
                if (script->commands[i].kind == COMMAND_DEFINE_FUN || script->commands[i].kind == COMMAND_DEFINE_FUN_REC)
                        items->item[i] = items->n++;
        return 0;
}
