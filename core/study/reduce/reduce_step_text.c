/* Steps: the same script in fewer bytes. */
#include "core/study/reduce/reduce_steps.h"

#define NAMES_MOST 1024 /* that are made shorter at a time; the next pass has the next */

/* -- how it is written -- */

int choose_all(struct command_items *items)
{
        items->write = state_add_printed;
        for (size_t i = 0; i < items->state->script->n_commands; i++)
                items->item[i] = items->n++;
        return 0;
}

/* Most of what is left over by steps that put a value in a term's place goes at once. */
int choose_untidy(struct command_items *items)
{
        const struct script *script = items->state->script;

        items->write = state_add_printed;
        items->terms = calloc(script->n_commands + 1, sizeof(*items->terms));
        if (!items->terms)
                return -ENOMEM;
        for (size_t i = 0; i < script->n_commands; i++) {
                const struct term *own = script->commands[i].term;

                items->terms[i] = own ? term_tidied(script->bank, own) : NULL;
                if (items->terms[i] != own)
                        items->item[i] = items->n++;
        }
        return 0;
}

struct names {
        const struct script_state *state;
        const struct symbol **from; /* owned */
        char (*to)[8];              /* owned */
        size_t n;
};

static void names_done(struct names *names)
{
        free(names->from);
        free(names->to);
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
static int add_name(struct names *names, const struct symbol *symbol, const size_t *mentions, size_t n_mentions, size_t *next)
{
        char name[8];

        if (!symbol || symbol->op != OP_NONE || symbol->id >= n_mentions || mentions[symbol->id] == 0 || names->n >= NAMES_MOST)
                return 0;
        for (size_t i = 0; i < names->n; i++)
                if (names->from[i] == symbol)
                        return 0;
        do
                name_of((*next)++, name);
        while (symbol_find(names->state->script->bank, slice_string(name)));
        if (strlen(name) >= symbol->name.size)
                return 0;
        if (list_grow(names->from, names->n) < 0 || list_grow(names->to, names->n) < 0)
                return -ENOMEM;
        names->from[names->n] = symbol;
        memcpy(names->to[names->n++], name, sizeof(name));
        return 0;
}

static int add_variables(struct names *names, const struct term *const *list, size_t n, const size_t *mentions, size_t n_mentions,
                         size_t *next)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                r = add_name(names, list[i]->symbol, mentions, n_mentions, next);
        return r;
}

/* Also of variables, when they are written with the name they have. */
int step_names(struct steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup_term_list struct term_list all = {0};
        cleanup(names_done) struct names names = {.state = &s};
        cleanup_free size_t *mentions = NULL;
        size_t n_mentions = 0, next = 0;
        int r = script_state_load(steps, &s);

        if (r == 0)
                r = state_count_mentions(&s, &mentions, &n_mentions);
        if (r == 0)
                r = state_list_terms(&s, &all);
        for (size_t i = 0; r == 0 && i < s.script->n_commands; i++) {
                const struct command *c = &s.script->commands[i];

                if (command_has_name(c))
                        r = add_name(&names, command_symbol(c), mentions, n_mentions, &next);
                if (r == 0 && (c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC))
                        r = add_variables(&names, c->terms, c->n_terms, mentions, n_mentions, &next);
        }
        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (term_is_quantifier(all.list[i]))
                        r = add_variables(&names, all.list[i]->args, all.list[i]->n_bound, mentions, n_mentions, &next);
        return r < 0 ? r : steps_sweep(steps, names.n, 0, with_names, &names);
}
