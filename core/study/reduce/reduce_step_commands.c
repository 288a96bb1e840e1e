/* Steps: commands, declarations and definitions are left out. */
#include "core/study/reduce/reduce_steps.h"

/* Things that go together: a push and the pop that ends it; other commands by themselves, declarations left out. */
struct groups {
        const struct script_state *state;
        size_t *group; /* owned: of each command; SIZE_MAX: none */
        size_t n;
        bool *is_out; /* owned: scratch, of each command */
};

static void groups_done(struct groups *g)
{
        free(g->group);
        free(g->is_out);
}

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

static int groups_init(struct groups *g, const struct script_state *s)
{
        size_t n = s->script->n_commands, n_open = 0;
        cleanup_free size_t *open = calloc(n + 1, sizeof(*open));

        *g = (struct groups){.state = s, .group = calloc(n + 1, sizeof(*g->group)), .is_out = calloc(n + 1, sizeof(*g->is_out))};
        if (!open || !g->group || !g->is_out)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const struct command *c = &s->script->commands[i];

                g->group[i] = command_has_name(c) ? SIZE_MAX : g->n++;
                if (c->kind == COMMAND_PUSH && c->levels == 1) {
                        open[n_open++] = i;
                } else if (c->kind == COMMAND_POP && c->levels == 1 && n_open > 0) {
                        g->group[i] = g->group[open[--n_open]];
                        g->n--;
                } else if (c->kind == COMMAND_PUSH || c->kind == COMMAND_POP || c->kind == COMMAND_RESET) {
                        n_open = 0;
                }
        }
        return 0;
}

static int without_groups(void *user, const bool *is_out, struct buffer *ret)
{
        struct groups *g = user;

        for (size_t i = 0; i < g->state->script->n_commands; i++)
                g->is_out[i] = g->group[i] != SIZE_MAX && is_out[g->group[i]];
        return text_without_commands((void *)g->state, g->is_out, ret);
}

int step_commands(struct steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup(groups_done) struct groups g = {0};
        int r = script_state_load(steps, &s);

        if (r == 0)
                r = groups_init(&g, &s);
        reduce_stage(steps->reducer, "commands");
        return r < 0 ? r : steps_sweep(steps, g.n, 0, without_groups, &g);
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

void command_items_done(struct command_items *i)
{
        free(i->list);
        free(i->is_out);
}

int command_items_init(struct command_items *i, const struct script_state *s)
{
        *i = (struct command_items){.state = s,
                                    .list = calloc(s->script->n_commands + 1, sizeof(*i->list)),
                                    .is_out = calloc(s->script->n_commands + 1, sizeof(*i->is_out))};
        return i->list && i->is_out ? 0 : -ENOMEM;
}

static int without_items(void *user, const bool *is_out, struct buffer *ret)
{
        struct command_items *items = user;

        memset(items->is_out, 0, items->state->script->n_commands * sizeof(*items->is_out));
        for (size_t i = 0; i < items->n; i++)
                items->is_out[items->list[i]] = is_out[i];
        return text_without_commands((void *)items->state, items->is_out, ret);
}

/* Declarations that nobody uses. One leads to another: a definition uses what others declare. */
int step_unused(struct steps *steps)
{
        int taken = 0, r;

        reduce_stage(steps->reducer, "declarations");
        do {
                cleanup_state struct script_state s = {0};
                cleanup(command_items_done) struct command_items items = {0};
                cleanup_free size_t *mentions = NULL;
                size_t n_mentions = 0;

                r = script_state_load(steps, &s);
                if (r == 0)
                        r = command_items_init(&items, &s);
                if (r == 0)
                        r = state_count_mentions(&s, &mentions, &n_mentions);
                if (r < 0)
                        return r;
                for (size_t i = 0; i < s.script->n_commands; i++) {
                        const struct command *c = &s.script->commands[i];

                        const struct symbol *symbol = command_symbol(c);

                        if (!command_has_name(c) || !symbol || symbol->id >= n_mentions)
                                continue;
                        if (mentions[symbol->id] <= 1 || (c->kind == COMMAND_DEFINE_FUN_REC && !is_mentioned(&s, symbol, i)))
                                items.list[items.n++] = i;
                }
                r = steps_sweep(steps, items.n, 0, without_items, &items);
                taken += r > 0 ? r : 0;
        } while (r > 0);
        return r < 0 ? r : taken;
}

static int as_declarations(void *user, const bool *is_out, struct buffer *ret)
{
        struct command_items *items = user;
        size_t k = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < items->state->script->n_commands; i++) {
                struct command c = items->state->script->commands[i];

                if (k < items->n && items->list[k] == i && is_out[k++]) {
                        c.kind = COMMAND_DECLARE_FUN;
                        r = state_add_printed(items->state, &c, ret);
                } else {
                        state_add_bytes(items->state, i, ret);
                }
        }
        return r;
}

/* Definitions lose their bodies. */
int step_bodies(struct steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup(command_items_done) struct command_items items = {0};
        int r = script_state_load(steps, &s);

        if (r == 0)
                r = command_items_init(&items, &s);
        if (r < 0)
                return r;
        reduce_stage(steps->reducer, "definitions");
        for (size_t i = 0; i < s.script->n_commands; i++)
                if (s.script->commands[i].kind == COMMAND_DEFINE_FUN || s.script->commands[i].kind == COMMAND_DEFINE_FUN_REC)
                        items.list[items.n++] = i;
        return steps_sweep(steps, items.n, 0, as_declarations, &items);
}
