/* The steps of a script. Each reads the current text, makes candidates of it, and is done with it: what the solver is given and what is
 * reduced further is always one text. A command that a step leaves alone keeps its bytes. */
#include "core/study/reduce_internal.h"

#define NAMES_MOST     1024 /* that are made shorter at a time; the next pass has the next */
#define ELSEWHERE_MOST 400  /* candidates of a pass in which a term is replaced by one from elsewhere */
#define PAIRS_MOST     200  /* and of two changes at once */

struct state {
        struct reducer *reducer;
        struct buffer text; /* the current one, which the spans point into */
        struct script *script;
        struct term_list constants; /* declared before the first term, outside of any push */
        struct term_list fresh;     /* one for each sort, not declared */
        size_t first_term;          /* the first command with terms */
};

static void state_done(struct state *s)
{
        buffer_done(&s->text);
        script_free(s->script);
        term_list_done(&s->constants);
        term_list_done(&s->fresh);
}
#define cleanup_state cleanup(state_done)

static bool has_terms(const struct command *c)
{
        return c->term || (c->n_terms > 0 && c->kind != COMMAND_DEFINE_FUN && c->kind != COMMAND_DEFINE_FUN_REC);
}

static bool is_declaration(const struct command *c)
{
        return (c->kind == COMMAND_DECLARE_FUN || c->kind == COMMAND_DECLARE_CONST) && c->function;
}

static int list_constants(struct state *s)
{
        bool is_early = true;
        int r = 0;

        s->first_term = s->script->n_commands;
        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];

                if (has_terms(c))
                        s->first_term = MIN(s->first_term, i);
                is_early &= i < s->first_term && c->kind != COMMAND_PUSH;
                if (is_early && is_declaration(c) && c->function->n_args == 0)
                        r = term_list_add(&s->constants, term_constant(s->script->bank, c->function));
        }
        return r;
}

/* Later steps know the dialect that the first text had, though what says so may be gone. */
struct steps {
        struct reducer *reducer;
        enum dialect dialect;
        bool has_dialect;
        bool any; /* this pass took something */
        unsigned pass;
};

static int state_load(struct steps *steps, struct state *ret)
{
        struct script_options o = {.dialect = steps->has_dialect ? steps->dialect : DIALECT_2_6,
                                   .is_dialect_fixed = steps->has_dialect};
        struct slice text = reduce_text(steps->reducer);
        int r;

        *ret = (struct state){.reducer = steps->reducer};
        buffer_adds(&ret->text, "");
        buffer_add(&ret->text, text.data, text.size);
        if (buffer_error(&ret->text) < 0)
                return -ENOMEM;
        r = script_read(SLICE(ret->text.data, ret->text.size), &o, &ret->script);
        return r < 0 ? r : list_constants(ret);
}

/* -- writing candidates -- */

static void add_bytes(const struct state *s, size_t i, struct buffer *ret)
{
        const struct span *at = &s->script->commands[i].span;

        buffer_add(ret, s->text.data + at->begin, at->end - at->begin);
        buffer_adds(ret, "\n");
}

/* With lets or without, whichever is shorter. */
static int add_printed(const struct state *s, const struct command *c, struct buffer *ret)
{
        cleanup_buffer struct buffer shared = {0}, tree = {0};
        struct print_options o = {.dialect = s->script->dialect};
        int r = command_print(s->script, c, &o, &shared);

        if (r < 0)
                return r;
        o.no_lets = true;
        o.most = shared.size;
        r = command_print(s->script, c, &o, &tree);
        if (r < 0 && r != -EFBIG)
                return r;
        if (r == 0 && tree.size < shared.size)
                buffer_add(ret, tree.data, tree.size);
        else
                buffer_add(ret, shared.data, shared.size);
        buffer_adds(ret, "\n");
        return 0;
}

static int without_commands(void *user, const bool *is_out, struct buffer *ret)
{
        const struct state *s = user;

        for (size_t i = 0; i < s->script->n_commands; i++)
                if (!is_out[i])
                        add_bytes(s, i, ret);
        return 0;
}

struct changes {
        const struct state *state;
        struct replacement *list; /* owned */
        size_t n;
        bool drops; /* the declarations and definitions of functions that are replaced go, too */
};

static void changes_done(struct changes *c)
{
        free(c->list);
}

static int changes_add(struct changes *c, const struct term *from, const struct term *to)
{
        if (!to || to == from)
                return 0;
        if (list_grow(c->list, c->n) < 0)
                return -ENOMEM;
        c->list[c->n++] = (struct replacement){from, to};
        return 0;
}

static int add_fresh_declarations(const struct changes *c, const bool *is_on, struct buffer *ret)
{
        const struct state *s = c->state;
        int r = 0;

        for (size_t k = 0; r == 0 && k < s->fresh.n; k++) {
                struct command declaration = {.kind = COMMAND_DECLARE_FUN, .function = s->fresh.list[k]->function};
                bool is_used = false;

                for (size_t i = 0; i < c->n; i++)
                        is_used |= is_on[i] && c->list[i].to == s->fresh.list[k];
                if (is_used)
                        r = add_printed(s, &declaration, ret);
        }
        return r;
}

/* The command with the changes in its terms. 1: it is another. -ENOENT: they do not fit. */
static int change_command(const struct changes *c, const bool *is_on, struct command *command, const struct term ***ret_terms)
{
        struct bank *b = c->state->script->bank;
        bool is_changed = false;

        *ret_terms = NULL;
        if (command->term) {
                const struct term *t = term_replaced(b, command->term, c->list, is_on, c->n);

                if (!t)
                        return -ENOENT;
                is_changed = t != command->term;
                command->term = t;
                return is_changed;
        }
        *ret_terms = calloc(command->n_terms + 1, sizeof(**ret_terms));
        if (!*ret_terms)
                return -ENOMEM;
        for (size_t i = 0; i < command->n_terms; i++) {
                (*ret_terms)[i] = term_replaced(b, command->terms[i], c->list, is_on, c->n);
                if (!(*ret_terms)[i])
                        return -ENOENT;
                is_changed |= (*ret_terms)[i] != command->terms[i];
        }
        command->terms = *ret_terms;
        return is_changed;
}

/* By their ids: the functions whose terms are replaced. NULL: no memory. */
static bool *dropped_functions(const struct changes *c, const bool *is_on, size_t *ret_n)
{
        bool *is_dropped;

        *ret_n = 0;
        for (size_t i = 0; c->drops && i < c->n; i++)
                if (is_on[i] && c->list[i].from->kind == TERM_FUNCTION)
                        *ret_n = MAX(*ret_n, (size_t)c->list[i].from->function->id + 1);
        is_dropped = calloc(*ret_n + 1, sizeof(*is_dropped));
        for (size_t i = 0; is_dropped && c->drops && i < c->n; i++)
                if (is_on[i] && c->list[i].from->kind == TERM_FUNCTION)
                        is_dropped[c->list[i].from->function->id] = true;
        return is_dropped;
}

static int with_changes(void *user, const bool *is_on, struct buffer *ret)
{
        const struct changes *c = user;
        const struct state *s = c->state;
        size_t n_dropped;
        cleanup_free bool *is_dropped = dropped_functions(c, is_on, &n_dropped);

        if (!is_dropped)
                return -ENOMEM;
        for (size_t i = 0; i < s->script->n_commands; i++) {
                struct command command = s->script->commands[i];
                cleanup_free const struct term **terms = NULL;
                int r = i == s->first_term ? add_fresh_declarations(c, is_on, ret) : 0;

                if ((is_declaration(&command) || command.kind == COMMAND_DEFINE_FUN) && command.function &&
                    command.function->id < n_dropped && is_dropped[command.function->id])
                        continue;
                if (r == 0 && has_terms(&command))
                        r = change_command(c, is_on, &command, &terms);
                if (r < 0)
                        return r;
                if (r == 0) {
                        add_bytes(s, i, ret);
                        continue;
                }
                r = add_printed(s, &command, ret);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* -- steps -- */

static int sweep(struct steps *steps, size_t n, size_t chunk, reduce_without make, void *user)
{
        cleanup_free bool *is_out = calloc(n + 1, sizeof(*is_out));
        int r = is_out ? reduce_sweep(steps->reducer, n, chunk, make, user, is_out) : -ENOMEM;

        steps->any |= r > 0;
        return r;
}

static int sweep_changes(struct steps *steps, struct changes *c, size_t chunk)
{
        return sweep(steps, c->n, chunk, with_changes, c);
}

/* Things that go together: a push and the pop that ends it; other commands by themselves, declarations left out. */
struct groups {
        const struct state *state;
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
static const struct symbol *declared_symbol(const struct command *c)
{
        return c->function ? c->function->symbol : c->symbol;
}

static bool is_named_declaration(const struct command *c)
{
        return c->kind == COMMAND_DECLARE_SORT || c->kind == COMMAND_DEFINE_SORT || is_declaration(c) ||
               c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC;
}

static int groups_init(struct groups *g, const struct state *s)
{
        size_t n = s->script->n_commands, n_open = 0;
        cleanup_free size_t *open = calloc(n + 1, sizeof(*open));

        *g = (struct groups){.state = s, .group = calloc(n + 1, sizeof(*g->group)), .is_out = calloc(n + 1, sizeof(*g->is_out))};
        if (!open || !g->group || !g->is_out)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const struct command *c = &s->script->commands[i];

                g->group[i] = is_named_declaration(c) ? SIZE_MAX : g->n++;
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
        return without_commands((void *)g->state, g->is_out, ret);
}

static int step_commands(struct steps *steps)
{
        cleanup_state struct state s = {0};
        cleanup(groups_done) struct groups g = {0};
        int r = state_load(steps, &s);

        if (r == 0)
                r = groups_init(&g, &s);
        reduce_stage(steps->reducer, "commands");
        return r < 0 ? r : sweep(steps, g.n, 0, without_groups, &g);
}

/* -- declarations -- */

/* Does a symbol stand anywhere but in command `at`? */
static bool is_mentioned(const struct state *s, const struct symbol *symbol, size_t at)
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
static int count_mentions(const struct state *s, size_t **ret, size_t *ret_n)
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

struct items {
        const struct state *state;
        size_t *list; /* owned: commands */
        size_t n;
        bool *is_out; /* owned: scratch, of each command */
};

static void items_done(struct items *i)
{
        free(i->list);
        free(i->is_out);
}

static int items_init(struct items *i, const struct state *s)
{
        *i = (struct items){.state = s,
                            .list = calloc(s->script->n_commands + 1, sizeof(*i->list)),
                            .is_out = calloc(s->script->n_commands + 1, sizeof(*i->is_out))};
        return i->list && i->is_out ? 0 : -ENOMEM;
}

static int without_items(void *user, const bool *is_out, struct buffer *ret)
{
        struct items *items = user;

        memset(items->is_out, 0, items->state->script->n_commands * sizeof(*items->is_out));
        for (size_t i = 0; i < items->n; i++)
                items->is_out[items->list[i]] = is_out[i];
        return without_commands((void *)items->state, items->is_out, ret);
}

/* Declarations that nobody uses. One leads to another: a definition uses what others declare. */
static int step_unused(struct steps *steps)
{
        int taken = 0, r;

        reduce_stage(steps->reducer, "declarations");
        do {
                cleanup_state struct state s = {0};
                cleanup(items_done) struct items items = {0};
                cleanup_free size_t *mentions = NULL;
                size_t n_mentions = 0;

                r = state_load(steps, &s);
                if (r == 0)
                        r = items_init(&items, &s);
                if (r == 0)
                        r = count_mentions(&s, &mentions, &n_mentions);
                if (r < 0)
                        return r;
                for (size_t i = 0; i < s.script->n_commands; i++) {
                        const struct command *c = &s.script->commands[i];

                        const struct symbol *symbol = declared_symbol(c);

                        if (!is_named_declaration(c) || !symbol || symbol->id >= n_mentions)
                                continue;
                        if (mentions[symbol->id] <= 1 || (c->kind == COMMAND_DEFINE_FUN_REC && !is_mentioned(&s, symbol, i)))
                                items.list[items.n++] = i;
                }
                r = sweep(steps, items.n, 0, without_items, &items);
                taken += r > 0 ? r : 0;
        } while (r > 0);
        return r < 0 ? r : taken;
}

static int as_declarations(void *user, const bool *is_out, struct buffer *ret)
{
        struct items *items = user;
        size_t k = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < items->state->script->n_commands; i++) {
                struct command c = items->state->script->commands[i];

                if (k < items->n && items->list[k] == i && is_out[k++]) {
                        c.kind = COMMAND_DECLARE_FUN;
                        r = add_printed(items->state, &c, ret);
                } else {
                        add_bytes(items->state, i, ret);
                }
        }
        return r;
}

/* Definitions lose their bodies. */
static int step_bodies(struct steps *steps)
{
        cleanup_state struct state s = {0};
        cleanup(items_done) struct items items = {0};
        int r = state_load(steps, &s);

        if (r == 0)
                r = items_init(&items, &s);
        if (r < 0)
                return r;
        reduce_stage(steps->reducer, "definitions");
        for (size_t i = 0; i < s.script->n_commands; i++)
                if (s.script->commands[i].kind == COMMAND_DEFINE_FUN || s.script->commands[i].kind == COMMAND_DEFINE_FUN_REC)
                        items.list[items.n++] = i;
        return sweep(steps, items.n, 0, as_declarations, &items);
}

/* -- terms -- */

/* All terms of the script that are written. */
static int list_roots(const struct state *s, struct term_list *ret)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];

                if (!has_terms(c))
                        continue;
                if (c->term)
                        r = term_list_add(ret, c->term);
                for (size_t k = 0; !c->term && r == 0 && k < c->n_terms; k++)
                        r = term_list_add(ret, c->terms[k]);
        }
        return r;
}

/* A fresh constant for every sort that terms have. */
static int make_fresh(struct state *s, const struct term_list *all)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                const struct sort *sort = all->list[i]->sort;
                bool is_there = sort->has_unknown || sort->kind == SORT_UNKNOWN || sort->has_parameter;

                for (size_t k = 0; !is_there && k < s->fresh.n; k++)
                        is_there = s->fresh.list[k]->sort == sort;
                if (!is_there)
                        r = term_list_add(&s->fresh, term_fresh_constant(s->script->bank, "v", sort));
        }
        for (size_t i = 0; i < s->fresh.n; i++)
                if (!s->fresh.list[i])
                        return -ENOMEM;
        return r;
}

/* The distinct terms at one distance from the roots, in the order of the source. */
static int list_level(const struct term_list *roots, size_t depth, struct term_list *ret)
{
        cleanup_term_list struct term_list now = {0};
        cleanup_free bool *seen = NULL;
        size_t most = 0;
        int r = 0;

        for (size_t i = 0; i < roots->n; i++)
                most = MAX(most, (size_t)roots->list[i]->id + 1);
        seen = calloc(most + 1, sizeof(*seen));
        if (!seen)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < roots->n; i++) {
                if (!seen[roots->list[i]->id])
                        r = term_list_add(&now, roots->list[i]);
                seen[roots->list[i]->id] = true;
        }
        for (size_t level = 0; r == 0 && level < depth && now.n > 0; level++) {
                struct term_list next = {0};

                for (size_t i = 0; r == 0 && i < now.n; i++) {
                        const struct term *t = now.list[i];
                        size_t n = t->kind == TERM_ANNOTATED ? 1 : t->n_args;

                        for (size_t k = term_is_quantifier(t) ? t->n_bound : 0; r == 0 && k < n; k++) {
                                if (!seen[t->args[k]->id])
                                        r = term_list_add(&next, t->args[k]);
                                seen[t->args[k]->id] = true;
                        }
                }
                term_list_done(&now);
                now = next;
        }
        *ret = now;
        now = (struct term_list){0};
        return r;
}

/* One step at all terms of a level. *ret_nodes: how many there are; *ret_steps: how many steps any of them has. */
static int step_level(struct steps *steps, size_t depth, size_t step, size_t *ret_nodes, size_t *ret_steps)
{
        cleanup_state struct state s = {0};
        cleanup_term_list struct term_list roots = {0}, level = {0};
        cleanup(changes_done) struct changes c = {.state = &s};
        int r = state_load(steps, &s);

        if (r == 0)
                r = list_roots(&s, &roots);
        if (r == 0)
                r = list_level(&roots, depth, &level);
        if (r == 0)
                r = make_fresh(&s, &level);
        *ret_nodes = level.n;
        *ret_steps = STEP_CHILD;
        for (size_t i = 0; r == 0 && i < level.n; i++) {
                const struct term *t = level.list[i];
                cleanup_term_list struct term_list nearest = {0};

                if (term_rank(t) == 4)
                        r = term_nearest(t, &nearest);
                *ret_steps = MAX(*ret_steps, STEP_CHILD + nearest.n);
                if (r == 0 &&
                    !(depth == 0 && step == STEP_ZERO && steps->pass == 0)) /* it was just tried without the assertion */
                        r = changes_add(&c, t, term_step(s.script->bank, t, step, &s.constants, &s.fresh));
        }
        return r < 0 ? r : sweep_changes(steps, &c, steps->pass == 0 && c.n > 8 ? 0 : 1);
}

static int step_terms(struct steps *steps)
{
        size_t n_nodes = 1, n_steps = STEP_CHILD;

        for (size_t depth = 0; n_nodes > 0; depth++) {
                static const size_t first[] = {STEP_ZERO, STEP_CHILD, STEP_ONE, STEP_CONSTANT, STEP_FRESH};

                reduce_stage(steps->reducer, "terms");
                for (size_t i = 0; n_nodes > 0 && i < ARRAY_SIZE(first); i++) {
                        int r = step_level(steps, depth, first[i], &n_nodes, &n_steps);

                        for (size_t step = STEP_CHILD + 1; first[i] == STEP_CHILD && r >= 0 && step < n_steps; step++)
                                r = step_level(steps, depth, step, &n_nodes, &n_steps);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

/* -- the parts of one term -- */

/* All distinct subterms, those around others first. */
static int list_terms(const struct state *s, struct term_list *ret)
{
        cleanup_term_list struct term_list roots = {0};
        int r = list_roots(s, &roots);

        if (r == 0 && roots.n > 0)
                r = term_subterms(roots.list, roots.n, ret);
        for (size_t i = 0; r == 0 && i < ret->n / 2; i++) {
                const struct term *t = ret->list[i];

                ret->list[i] = ret->list[ret->n - 1 - i];
                ret->list[ret->n - 1 - i] = t;
        }
        return r;
}

/* A term without some of its parts: arguments, characters, digits. */
struct parts {
        struct state *state;
        const struct term *term;
        const struct term *(*without)(struct bank *b, const struct term *t, const bool *is_out);
};

static int without_parts(void *user, const bool *is_out, struct buffer *ret)
{
        struct parts *p = user;
        struct replacement list = {p->term, p->without(p->state->script->bank, p->term, is_out)};
        struct changes c = {.state = p->state, .list = &list, .n = 1};

        return list.to && list.to != list.from ? with_changes(&c, &(bool){true}, ret) : -ENOENT;
}

static const struct term *string_without(struct bank *b, const struct term *t, const bool *is_out)
{
        cleanup_free uint32_t *text = NULL;
        size_t n, kept = 0;

        if (term_to_string(t, &text, &n) < 0)
                return NULL;
        for (size_t i = 0; i < n; i++)
                if (!is_out[i])
                        text[kept++] = text[i];
        return term_string_of(b, text, kept);
}

static const struct term *number_without(struct bank *b, const struct term *t, const bool *is_out)
{
        cleanup_buffer struct buffer digits = {0};
        const char *text = t->symbol->name.data;
        size_t n = t->symbol->name.size;

        for (size_t i = 0; i < n; i++)
                if (!is_out[i] || text[i] == '.')
                        buffer_add(&digits, &text[i], 1);
        if (digits.size == 0 || digits.data[0] == '.')
                return NULL;
        if (digits.data[digits.size - 1] == '.')
                buffer_adds(&digits, "0");
        return t->sort->kind == SORT_INT ? term_int_digits(b, SLICE(digits.data, digits.size))
                                         : term_real_digits(b, SLICE(digits.data, digits.size));
}

/* How many parts a term has that can be left out one by one, and how that is done. */
static size_t parts_of(const struct term *t, struct parts *p)
{
        if (t->kind == TERM_OPERATOR && t->n_args > 2 && operator_row(t->op)->shape != SHAPE_FIXED) {
                p->without = term_without_args;
                return t->n_args;
        }
        if (t->kind == TERM_LITERAL && t->sort->kind == SORT_STRING) {
                p->without = string_without;
                return term_string_length(t);
        }
        if (t->kind == TERM_LITERAL && sort_is_number(t->sort)) {
                p->without = number_without;
                return t->symbol->name.size > 1 ? t->symbol->name.size : 0;
        }
        return 0;
}

static int step_parts(struct steps *steps)
{
        size_t at = 0;

        reduce_stage(steps->reducer, "arguments and literals");
        for (;;) {
                cleanup_state struct state s = {0};
                cleanup_term_list struct term_list all = {0};
                struct parts p = {.state = &s};
                int r = state_load(steps, &s);

                if (r == 0)
                        r = list_terms(&s, &all);
                for (; r == 0 && at < all.n; at++) {
                        size_t n;

                        p.term = all.list[at];
                        n = parts_of(p.term, &p);
                        if (n > 0)
                                r = sweep(steps, n, 0, without_parts, &p);
                }
                if (r < 0)
                        return r;
                if (r == 0)
                        return 0;
        }
}

/* -- quantifiers and definitions -- */

static bool is_free_in(const struct term *t, const struct term *variable)
{
        cleanup_term_list struct term_list all = {0};

        if (term_free_variables(t, &all) < 0)
                return true;
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i] == variable)
                        return true;
        return false;
}

static int add_without_variables(struct state *s, const struct term *q, struct changes *c)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < q->n_bound; i++) {
                const struct term *variable = q->args[i];

                if (q->kind == TERM_LAMBDA)
                        return 0;
                if (!is_free_in(term_body(q), variable)) {
                        r = changes_add(c, q, term_without_variable(s->script->bank, q, i, NULL));
                        continue;
                }
                for (size_t step = STEP_ZERO; r == 0 && step < STEP_CHILD; step++) {
                        const struct term *value =
                                step == STEP_FRESH ? NULL : term_step(s->script->bank, variable, step, &s->constants, &s->fresh);

                        for (size_t k = 0; step == STEP_FRESH && k < s->fresh.n; k++)
                                if (s->fresh.list[k]->sort == variable->sort)
                                        value = s->fresh.list[k];
                        if (value)
                                r = changes_add(c, q, term_without_variable(s->script->bank, q, i, value));
                }
        }
        return r;
}

/* A call becomes the body of the definition. */
static int add_inlined(struct state *s, const struct term *call, struct changes *c)
{
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];

                if (d->kind == COMMAND_DEFINE_FUN && d->function == call->function && d->n_terms == call->n_args)
                        return changes_add(c, call,
                                           d->n_terms == 0
                                                   ? d->term
                                                   : term_substitute(s->script->bank, d->term, d->terms, call->args, d->n_terms));
        }
        return 0;
}

/* All calls of the definition that is command `at` are put in, and it goes. */
static int make_inlined(void *user, size_t at, struct buffer *ret)
{
        struct state *s = user;
        const struct command *d = &s->script->commands[at];
        cleanup(changes_done) struct changes c = {.state = s, .drops = true};
        cleanup_term_list struct term_list all = {0};
        cleanup_free bool *is_on = NULL;
        int r = d->kind == COMMAND_DEFINE_FUN ? list_terms(s, &all) : -ENOENT;

        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (all.list[i]->kind == TERM_FUNCTION && all.list[i]->function == d->function)
                        r = add_inlined(s, all.list[i], &c);
        if (r < 0)
                return r;
        if (c.n == 0)
                return -ENOENT;
        is_on = malloc(c.n + 1);
        if (!is_on)
                return -ENOMEM;
        memset(is_on, true, c.n);
        return with_changes(&c, is_on, ret);
}

static int step_inline(struct steps *steps)
{
        int taken;

        reduce_stage(steps->reducer, "definitions");
        do {
                cleanup_state struct state s = {0};
                size_t at;
                int r = state_load(steps, &s);

                taken = r < 0 ? r : reduce_first(steps->reducer, 0, s.script->n_commands, make_inlined, &s, &at);
                steps->any |= taken > 0;
        } while (taken > 0);
        return taken;
}

/* Changes that exclude each other at one term are tried one at a time. */
static int make_single(void *user, size_t at, struct buffer *ret)
{
        struct changes *c = user;
        struct changes one = {.state = c->state, .list = &c->list[at], .n = 1};

        return with_changes(&one, &(bool){true}, ret);
}

/* A step of changes, a candidate at a time, until none is taken. */
struct single_step {
        const char *stage;
        /* The changes for these terms: all distinct ones, those around others first. */
        int (*list)(struct state *s, const struct term_list *all, struct changes *c);
        reduce_make make;
        size_t (*count)(size_t n); /* candidates of n changes; NULL: one of each */
        bool goes_on;              /* behind what was taken; else from the start */
};

static int step_single(struct steps *steps, const struct single_step *step)
{
        size_t at = 0;
        int taken;

        reduce_stage(steps->reducer, step->stage);
        do {
                cleanup_state struct state s = {0};
                cleanup_term_list struct term_list all = {0};
                cleanup(changes_done) struct changes c = {.state = &s};
                int r = state_load(steps, &s);

                if (r == 0)
                        r = list_terms(&s, &all);
                if (r == 0)
                        r = step->list(&s, &all, &c);
                taken = r < 0 ? r
                              : reduce_first(steps->reducer, step->goes_on ? at : 0, step->count ? step->count(c.n) : c.n,
                                             step->make, &c, &at);
                steps->any |= taken > 0;
        } while (taken > 0);
        return taken;
}

static int list_binders(struct state *s, const struct term_list *all, struct changes *c)
{
        int r = make_fresh(s, all);

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                if (term_is_quantifier(all->list[i]))
                        r = add_without_variables(s, all->list[i], c);
                else if (all->list[i]->kind == TERM_FUNCTION && all->list[i]->function->kind == FUNCTION_DEFINED)
                        r = add_inlined(s, all->list[i], c);
        }
        return r;
}

static int step_binders(struct steps *steps)
{
        return step_single(steps, &(struct single_step){"quantifiers and definitions", list_binders, make_single});
}

static int make_constant(void *user, size_t at, struct buffer *ret)
{
        struct changes *c = user;
        struct changes one = {.state = c->state, .list = &c->list[at], .n = 1, .drops = true};

        return with_changes(&one, &(bool){true}, ret);
}

/* A constant gives way to a value or to another constant, everywhere, and its declaration with it. */
static int add_constant_values(struct state *s, size_t first, size_t last, struct changes *c)
{
        static const struct term_list none = {0};
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];
                const struct term *constant;

                if (!is_declaration(d) || d->function->n_args > 0)
                        continue;
                constant = term_constant(s->script->bank, d->function);
                for (size_t step = first; r == 0 && constant && step <= last; step++)
                        r = changes_add(c, constant, term_step(s->script->bank, constant, step, &s->constants, &none));
        }
        return r;
}

static int list_constant_values(struct state *s, const struct term_list *all, struct changes *c)
{
        (void)all;
        return add_constant_values(s, STEP_ZERO, STEP_CONSTANT, c);
}

/* Many at once. */
static int step_constants_to_zero(struct steps *steps)
{
        cleanup_state struct state s = {0};
        cleanup(changes_done) struct changes c = {.state = &s, .drops = true};
        int r = state_load(steps, &s);

        if (r == 0)
                r = add_constant_values(&s, STEP_ZERO, STEP_ZERO, &c);
        return r < 0 ? r : sweep_changes(steps, &c, 0);
}

static int step_constants(struct steps *steps)
{
        int r;

        reduce_stage(steps->reducer, "constants");
        r = step_constants_to_zero(steps);
        return r < 0 ? r
                     : step_single(steps,
                                   &(struct single_step){"constants", list_constant_values, make_constant, .goes_on = true});
}

/* -- equalities -- */

static bool is_constant(const struct term *t)
{
        return t->kind == TERM_FUNCTION && t->n_args == 0 && t->function->kind == FUNCTION_DECLARED;
}

static int occurs_in(const struct term *part, const struct term *t)
{
        cleanup_term_list struct term_list all = {0};
        int r = term_subterms(&t, 1, &all);

        for (size_t i = 0; r == 0 && i < all.n; i++)
                r = all.list[i] == part;
        return r;
}

/* Two changes each: the constant becomes the other side, and the equality true. That the constant may stand in the other side is looked for when a
 * candidate is made, which costs no more than to write it: sides can share terms, and then all of them together are far larger than the text. */
static int list_equalities(struct state *s, const struct term_list *all, struct changes *c)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                const struct term *t = all->list[i];

                for (size_t k = 0; r == 0 && t->op == OP_EQUAL && t->n_args == 2 && k < 2; k++) {
                        if (!is_constant(t->args[k]) || t->args[1 - k]->is_open)
                                continue;
                        r = changes_add(c, t->args[k], t->args[1 - k]);
                        if (r == 0)
                                r = changes_add(c, t, term_true(s->script->bank));
                }
        }
        return r;
}

static size_t halves(size_t n)
{
        return n / 2;
}

static int make_equality(void *user, size_t at, struct buffer *ret)
{
        struct changes *c = user;
        struct changes one = {.state = c->state, .list = &c->list[2 * at], .n = 2, .drops = true};
        int r = occurs_in(one.list->from, one.list->to);

        if (r != 0)
                return r < 0 ? r : -ENOENT;
        return with_changes(&one, (bool[]){true, true}, ret);
}

/* A constant that equals something is put in where it stands. */
static int step_equalities(struct steps *steps)
{
        return step_single(steps, &(struct single_step){"equalities", list_equalities, make_equality, halves});
}

/* -- other terms in a term's place -- */

static int list_rewrites(struct state *s, const struct term_list *all, struct changes *c)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                cleanup_term_list struct term_list simpler = {0};

                r = term_rewrites(s->script->bank, all->list[i], &simpler);
                for (size_t k = 0; r == 0 && k < simpler.n; k++)
                        r = changes_add(c, all->list[i], simpler.list[k]);
        }
        return r;
}

static int step_rewrites(struct steps *steps)
{
        return step_single(steps, &(struct single_step){"operators", list_rewrites, make_single, .goes_on = true});
}

static int list_elsewhere(struct state *s, const struct term_list *all, struct changes *c)
{
        int r = 0;

        (void)s;
        for (size_t i = 0; r == 0 && i < all->n; i++)
                for (size_t k = all->n; r == 0 && k-- > 0 && c->n < ELSEWHERE_MOST;) {
                        const struct term *from = all->list[i], *to = all->list[k];

                        if (from->sort == to->sort && term_rank(to) >= 2 && !to->is_open && !from->sort->has_unknown &&
                            to->tree_size < from->tree_size)
                                r = changes_add(c, from, to);
                }
        return r;
}

static int step_elsewhere(struct steps *steps)
{
        return step_single(steps, &(struct single_step){"terms from elsewhere", list_elsewhere, make_single, .goes_on = true});
}

/* -- two changes at once -- */

static int list_zeros(struct state *s, const struct term_list *all, struct changes *c)
{
        static const struct term_list none = {0};
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                r = changes_add(c, all->list[i], term_step(s->script->bank, all->list[i], STEP_ZERO, &none, &none));
                if (r == 0)
                        r = changes_add(c, all->list[i], term_step(s->script->bank, all->list[i], STEP_CHILD, &none, &none));
        }
        return r;
}

static size_t pairs(size_t n)
{
        return MIN(n * (n - MIN(n, 1)) / 2, PAIRS_MOST);
}

static int make_pair(void *user, size_t at, struct buffer *ret)
{
        struct changes *c = user;
        size_t first = 0, second = 1;
        struct replacement list[2];
        struct changes two = {.state = c->state, .list = list, .n = 2};

        /* Those of the largest terms first: (0, 1), (0, 2), (1, 2), (0, 3) … */
        for (; at >= second; at -= second++)
                ;
        first = at;
        list[0] = c->list[first];
        list[1] = c->list[second];
        return with_changes(&two, (bool[]){true, true}, ret);
}

static int step_pairs(struct steps *steps)
{
        return step_single(steps, &(struct single_step){"two at once", list_zeros, make_pair, pairs});
}

/* -- one place of a shared term -- */

struct place_change {
        size_t command;
        const struct term *root; /* with the change */
};

struct place_changes {
        struct state *state;
        struct place_change *list; /* owned */
        size_t n;
};

static void place_changes_done(struct place_changes *p)
{
        free(p->list);
}

static int make_place(void *user, size_t at, struct buffer *ret)
{
        struct place_changes *p = user;
        const struct script *s = p->state->script;
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->n_commands; i++) {
                struct command c = s->commands[i];

                if (i == p->list[at].command) {
                        c.term = p->list[at].root;
                        r = add_printed(p->state, &c, ret);
                } else {
                        add_bytes(p->state, i, ret);
                }
        }
        return r;
}

static int add_places(struct place_changes *p, size_t command)
{
        static const struct term_list none = {0};
        struct bank *b = p->state->script->bank;
        const struct term *root = p->state->script->commands[command].term;
        cleanup_term_places struct term_places places = {0};
        int r = 0;

        if (root->tree_size > REDUCE_PLACES_MOST || root->tree_size == term_dag_size(root))
                return 0;
        r = term_places(root, REDUCE_PLACES_MOST, &places);
        for (size_t i = 1; r == 0 && i < places.n; i++)
                for (size_t step = 0;; step++) {
                        const struct term *to = term_step(b, places.list[i].term, step, &p->state->constants, &none), *with;

                        if (!to && step >= STEP_CHILD)
                                break;
                        with = to ? term_replace_at(b, &places, i, to) : NULL;
                        if (!with || with == root)
                                continue;
                        if (list_grow(p->list, p->n) < 0)
                                return -ENOMEM;
                        p->list[p->n++] = (struct place_change){command, with};
                }
        return r;
}

static int step_places(struct steps *steps)
{
        size_t at = 0;
        int taken;

        reduce_stage(steps->reducer, "places");
        do {
                cleanup_state struct state s = {0};
                cleanup(place_changes_done) struct place_changes p = {.state = &s};
                int r = state_load(steps, &s);

                for (size_t i = 0; r == 0 && i < s.script->n_commands; i++)
                        if (s.script->commands[i].kind == COMMAND_ASSERT)
                                r = add_places(&p, i);
                taken = r < 0 ? r : reduce_first(steps->reducer, at, p.n, make_place, &p, &at);
                steps->any |= taken > 0;
        } while (taken > 0);
        return taken;
}

/* -- how it is written -- */

/* Commands written anew. */
struct anew {
        const struct state *state;
        struct items items;
        const struct term **terms; /* owned: of each item; NULL: its own */
};

static void anew_done(struct anew *a)
{
        items_done(&a->items);
        free(a->terms);
}

static int printed_anew(void *user, const bool *is_out, struct buffer *ret)
{
        const struct anew *a = user;
        size_t k = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < a->state->script->n_commands; i++) {
                struct command c = a->state->script->commands[i];
                bool is_item = k < a->items.n && a->items.list[k] == i;

                if (is_item && a->terms[k])
                        c.term = a->terms[k];
                if (is_item && is_out[k])
                        r = add_printed(a->state, &c, ret);
                else
                        add_bytes(a->state, i, ret);
                k += is_item;
        }
        return r;
}

static int write_anew(struct steps *steps, bool tidy)
{
        cleanup_state struct state s = {0};
        cleanup(anew_done) struct anew a = {.state = &s};
        int r = state_load(steps, &s);

        if (r == 0)
                r = items_init(&a.items, &s);
        if (r < 0)
                return r;
        a.terms = calloc(s.script->n_commands + 1, sizeof(*a.terms));
        if (!a.terms)
                return -ENOMEM;
        for (size_t i = 0; i < s.script->n_commands; i++) {
                const struct term *own = s.script->commands[i].term;

                a.terms[a.items.n] = tidy && own ? term_tidied(s.script->bank, own) : NULL;
                if (!tidy || a.terms[a.items.n] != own)
                        a.items.list[a.items.n++] = i;
        }
        return sweep(steps, a.items.n, 0, printed_anew, &a);
}

static int step_print(struct steps *steps)
{
        reduce_stage(steps->reducer, "layout");
        return write_anew(steps, false);
}

/* Most of what is left over by steps that put a value in a term's place goes at once. */
static int step_tidy(struct steps *steps)
{
        reduce_stage(steps->reducer, "tidying");
        return write_anew(steps, true);
}

struct names {
        const struct state *state;
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
        const struct state *s = names->state;
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
static int step_names(struct steps *steps)
{
        cleanup_state struct state s = {0};
        cleanup_term_list struct term_list all = {0};
        cleanup(names_done) struct names names = {.state = &s};
        cleanup_free size_t *mentions = NULL;
        size_t n_mentions = 0, next = 0;
        int r = state_load(steps, &s);

        reduce_stage(steps->reducer, "names");
        if (r == 0)
                r = count_mentions(&s, &mentions, &n_mentions);
        if (r == 0)
                r = list_terms(&s, &all);
        for (size_t i = 0; r == 0 && i < s.script->n_commands; i++) {
                const struct command *c = &s.script->commands[i];

                if (is_named_declaration(c))
                        r = add_name(&names, declared_symbol(c), mentions, n_mentions, &next);
                if (r == 0 && (c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC))
                        r = add_variables(&names, c->terms, c->n_terms, mentions, n_mentions, &next);
        }
        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (term_is_quantifier(all.list[i]))
                        r = add_variables(&names, all.list[i]->args, all.list[i]->n_bound, mentions, n_mentions, &next);
        return r < 0 ? r : sweep(steps, names.n, 0, with_names, &names);
}

/* -- passes -- */

/* Without comments and what stands between the commands. 1: that is the text now. */
static int strip(struct steps *steps, bool *ret_is_opaque)
{
        cleanup_state struct state s = {0};
        cleanup_buffer struct buffer text = {0};
        cleanup_free bool *is_out = NULL;
        int r = state_load(steps, &s);

        if (r < 0)
                return r;
        is_out = calloc(s.script->n_commands + 1, sizeof(*is_out));
        if (!is_out)
                return -ENOMEM;
        steps->dialect = s.script->dialect;
        steps->has_dialect = true;
        *ret_is_opaque = s.script->n_opaque_commands > 0 || s.script->n_opaque_terms > 0;
        without_commands(&s, is_out, &text);
        if (buffer_error(&text) < 0)
                return -ENOMEM;
        return s.script->n_commands == 0 ? 0 : reduce_offer(steps->reducer, SLICE(text.data, text.size));
}

int reduce_script(struct reducer *r, bool *ret_is_script, bool *ret_is_opaque)
{
        static const struct {
                int (*run)(struct steps *steps);
                bool is_fine; /* many candidates for few bytes: only where the pass has taken nothing so far */
        } list[] = {{step_commands},     {step_unused},          {step_tidy},
                    {step_constants},    {step_inline},          {step_equalities},
                    {step_tidy},         {step_terms},           {step_tidy},
                    {step_rewrites},     {step_binders},         {step_bodies},
                    {step_print},        {step_names},           {step_parts, true},
                    {step_places, true}, {step_elsewhere, true}, {step_pairs, true}};
        struct steps steps = {.reducer = r};
        bool any = false;
        int k = strip(&steps, ret_is_opaque);

        *ret_is_script = k == 1;
        if (k != 1)
                return k == -EINVAL || k == -EFBIG ? 0 : k;
        do {
                steps.any = false;
                for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
                        k = steps.any && list[i].is_fine ? 0 : list[i].run(&steps);
                        if (k < 0)
                                return k;
                }
                any |= steps.any;
                steps.pass++;
        } while (steps.any);
        return any;
}
