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
void choose_commands(struct command_items *items)
{
        const struct script *script = items->state->script;
        cleanup_free size_t *open = allocate(script->n_commands, sizeof(*open));
        size_t n_open = 0;

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
}

/* -- declarations -- */


void state_count_mentions(const struct script_state *s, struct term_map *ret)
{
        cleanup_term_map struct term_map last = {0}; /* of a symbol: the latest command, and 1 */
        struct tokenizer t;
        struct token token;
        uint32_t at = 0;

        tokenizer_init(&t, SLICE(s->text.data, s->text.size), s->script->dialect);
        while (token_next(&t, &token) != TOKEN_END) {
                const struct symbol *symbol = token.kind == TOKEN_SYMBOL ? symbol_find(s->script->bank, token.text) : NULL;

                while (at < s->script->n_commands && s->script->commands[at].span.end <= token.begin)
                        at++;
                if (symbol && id_map_get(&last, symbol->id) != at + 1) {
                        id_map_set(&last, symbol->id, at + 1);
                        id_map_set(ret, symbol->id, id_map_get(ret, symbol->id) + 1);
                }
        }
}

/* Declarations that nobody uses: their names stand in no other command. */
void choose_unused(struct command_items *items)
{
        const struct script_state *s = items->state;
        cleanup_term_map struct term_map mentions = {0};

        state_count_mentions(s, &mentions);
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];
                const struct symbol *symbol = command_symbol(c);

                if (command_has_name(c) && symbol && id_map_get(&mentions, symbol->id) <= 1)
                        items->item[i] = items->n++;
        }
}

static int write_declaration(const struct script_state *s, struct command c, struct buffer *ret)
{
        c.kind = COMMAND_DECLARE_FUN;
        return state_add_printed(s, c, ret);
}

/* Definitions lose their bodies. */
void choose_bodies(struct command_items *items)
{
        const struct script *script = items->state->script;

        items->write = write_declaration;
        for (size_t i = 0; i < script->n_commands; i++)
                if (script->commands[i].kind == COMMAND_DEFINE_FUN || script->commands[i].kind == COMMAND_DEFINE_FUN_REC)
                        items->item[i] = items->n++;
}
