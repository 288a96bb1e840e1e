/* Steps: the same script in fewer bytes. */
#include "core/study/reduce/reduce_steps.h"

#define NAMES_MOST 1024 /* that are made shorter at a time; the next pass has the next */

/* -- how it is written -- */

void choose_all(struct command_items *items)
{
        items->write = state_add_printed;
        for (size_t i = 0; i < items->state->script->n_commands; i++)
                items->item[i] = items->n++;
}

/* Most of what is left over by steps that put a value in a term's place goes at once. */
void choose_untidy(struct command_items *items)
{
        const struct script *script = items->state->script;

        items->write = state_add_printed;
        items->terms = allocate(script->n_commands, sizeof(*items->terms));
        for (size_t i = 0; i < script->n_commands; i++) {
                const struct term *own = script->commands[i].term;

                items->terms[i] = own ? term_tidied(script->bank, own) : NULL;
                if (items->terms[i] != own)
                        items->item[i] = items->n++;
        }
}

struct names {
        const struct script_state *state;
        const struct symbol **from; /* owned */
        char (*to)[8];              /* owned */
        size_t n;
        struct term_map mentions; /* state_count_mentions() */
        size_t next;              /* the number of the next short name */
};

static void names_done(struct names *names)
{
        free(names->from);
        free(names->to);
        term_map_done(&names->mentions);
}

static int with_names(void *user, const bool *is_out, struct buffer *ret)
{
        const struct names *names = user;
        const struct script_state *s = names->state;
        struct tokenizer t;
        struct token token;
        size_t at = 0;

        tokenizer_init(&t, SLICE(s->text.data, s->text.size), s->script->dialect);
        while (token_next(&t, &token) != TOKEN_END) {
                const struct symbol *symbol = token.kind == TOKEN_SYMBOL ? symbol_find(s->script->bank, token.text) : NULL;

                for (size_t i = 0; symbol && i < names->n; i++)
                        if (is_out[i] && names->from[i] == symbol) {
                                buffer_add(ret, s->text.data + at, token.begin - at);
                                buffer_adds(ret, names->to[i]);
                                at = token.end;
                                break;
                        }
        }
        buffer_add(ret, s->text.data + at, s->text.size - at);
        return 0;
}

static void name_of(size_t i, char ret[8])
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

        if (i < 52)
                snprintf(ret, 8, "%c", letters[i]);
        else
                snprintf(ret, 8, "%c%u", letters[i % 52], (unsigned)((i / 52 - 1) % 10000));
}

/* A shorter name for a symbol that the script itself gave to something. */
static void add_name(struct names *names, const struct symbol *symbol)
{
        char name[8];

        if (!symbol || symbol->op != OP_NONE || id_map_get(&names->mentions, symbol->id) == 0 || names->n >= NAMES_MOST)
                return;
        for (size_t i = 0; i < names->n; i++)
                if (names->from[i] == symbol)
                        return;
        do
                name_of(names->next++, name);
        while (symbol_find(names->state->script->bank, slice_string(name)));
        if (strlen(name) >= symbol->name.size)
                return;
        list_grow(names->from, names->n);
        list_grow(names->to, names->n);
        names->from[names->n] = symbol;
        memcpy(names->to[names->n++], name, sizeof(name));
}

/* Also of variables, when they are written with the name they have. */
int step_names(struct steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup_term_list struct term_list all = {0};
        cleanup(names_done) struct names names = {.state = &s};
        int r = script_state_load(steps, &s);

        if (r < 0)
                return r;
        state_count_mentions(&s, &names.mentions);
        state_list_terms(&s, &all);
        for (size_t i = 0; i < s.script->n_commands; i++) {
                const struct command *c = &s.script->commands[i];
                bool is_definition = c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC;

                if (command_has_name(c))
                        add_name(&names, command_symbol(c));
                for (size_t k = 0; is_definition && k < c->n_terms; k++)
                        add_name(&names, c->terms[k]->symbol);
        }
        for (size_t i = 0; i < all.n; i++)
                for (size_t k = 0; term_is_quantifier(all.list[i]) && k < all.list[i]->n_bound; k++)
                        add_name(&names, all.list[i]->args[k]->symbol);
        return steps_sweep(steps, names.n, 0, with_names, &names);
}
