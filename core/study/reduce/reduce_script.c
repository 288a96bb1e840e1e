/* The steps of a script, from coarse to fine, and their passes. The steps at all terms of a level are in reduce_step_terms.c. */
#include "core/study/reduce/reduce_steps.h"

#define NAMES_MOST     1024 /* that are made shorter at a time; the next pass has the next */
#define ELSEWHERE_MOST 400  /* candidates of a pass in which a term is replaced by one from elsewhere */
#define PAIRS_MOST     200  /* candidates of a pass with two changes at once */

/* -- commands are left out, or written in another way -- */

/* The items of a sweep: each is a command, or several that go together. */
struct command_items {
        const struct script_state *state;
        const struct reduce_step *step;
        size_t *item; /* owned: of each command; SIZE_MAX: none, it stays */
        size_t n;
        size_t *open, n_open;      /* owned: each push without its pop so far */
        const struct term **terms; /* owned: of each command another term to be written; NULL: its own */
        struct term_map mentions;  /* is_unused(): of each symbol, by id, in how many commands it stands */
};

static void command_items_done(struct command_items *i)
{
        free(i->item);
        free(i->open);
        free(i->terms);
        term_map_done(&i->mentions);
}

static int text_with_items(void *user, const bool *is_out, struct buffer *ret)
{
        const struct command_items *items = user;
        const struct script_state *s = items->state;
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                struct command c = s->script->commands[i];

                if (items->terms[i])
                        c.term = items->terms[i];
                if (items->item[i] == SIZE_MAX || !is_out[items->item[i]])
                        state_add_bytes(s, i, ret);
                else if (items->step->write)
                        r = items->step->write(s, c, ret);
        }
        return r;
}

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

static int sweep_commands(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s)
{
        size_t n = s->script->n_commands;
        cleanup(command_items_done) struct command_items items = {.state = s,
                                                                  .step = step,
                                                                  .item = allocate(n, sizeof(*items.item)),
                                                                  .open = allocate(n, sizeof(*items.open)),
                                                                  .terms = allocate(n, sizeof(*items.terms))};

        memset(items.item, 0xff, n * sizeof(*items.item));
        for (size_t i = 0; i < n; i++)
                if (!step->chooses || step->chooses(&items, i))
                        items.item[i] = items.n++;
        return reduce_sweep(steps->reducer, items.n, 0, step->text ?: text_with_items, &items);
}

static const struct command *item_command(const struct command_items *items, size_t i)
{
        return &items->state->script->commands[i];
}

static bool defines(const struct command *c)
{
        return c->kind == COMMAND_DEFINE_FUN || c->kind == COMMAND_DEFINE_FUN_REC;
}

static bool command_has_name(const struct command *c)
{
        return c->kind == COMMAND_DECLARE_SORT || c->kind == COMMAND_DEFINE_SORT || command_declares(c) || defines(c);
}

/* The name that the command itself declares. */
static const struct symbol *command_symbol(const struct command *c)
{
        return c->function ? c->function->symbol : c->symbol;
}

/* A push goes together with the pop that ends it, other commands go by themselves. Declarations stay. */
static bool is_removable(struct command_items *items, size_t i)
{
        const struct command *c = item_command(items, i);

        if (c->kind == COMMAND_POP && c->levels == 1 && items->n_open > 0) {
                items->item[i] = items->item[items->open[--items->n_open]];
                return false;
        }
        if (c->kind == COMMAND_PUSH && c->levels == 1)
                items->open[items->n_open++] = i;
        else if (c->kind == COMMAND_PUSH || c->kind == COMMAND_POP || c->kind == COMMAND_RESET)
                items->n_open = 0;
        return !command_has_name(c);
}

/* A declaration that nobody uses: its name stands in no other command. */
static bool is_unused(struct command_items *items, size_t i)
{
        const struct command *c = item_command(items, i);
        const struct symbol *symbol = command_symbol(c);

        if (i == 0)
                state_count_mentions(items->state, &items->mentions);
        return command_has_name(c) && symbol && id_map_get(&items->mentions, symbol->id) <= 1;
}

/* A definition, which loses its body. */
static bool has_body(struct command_items *items, size_t i)
{
        return defines(item_command(items, i));
}

static int write_declaration(const struct script_state *s, struct command c, struct buffer *ret)
{
        c.kind = COMMAND_DECLARE_FUN;
        return state_add_printed(s, c, ret);
}

static int write_short(const struct script_state *s, struct command c, struct buffer *ret)
{
        if (c.kind == COMMAND_DECLARE_FUN)
                c.kind = COMMAND_DECLARE_CONST;
        return state_add_printed(s, c, ret);
}

/* A command whose term is shorter when tidied: steps that put a value in a term's place leave (and true true), (not (not a)) and the like. */
static bool is_untidy(struct command_items *items, size_t i)
{
        const struct term *own = item_command(items, i)->term;

        items->terms[i] = own ? term_tidied(items->state->script->bank, own) : NULL;
        return items->terms[i] != own;
}

/* An assertion that can join the one before it. */
static bool is_joinable(struct command_items *items, size_t i)
{
        return i > 0 && item_command(items, i)->kind == COMMAND_ASSERT && item_command(items, i - 1)->kind == COMMAND_ASSERT;
}

/* Assertions that are joined become one, of the conjuncts of all. */
static int text_with_joined(void *user, const bool *is_joined, struct buffer *ret)
{
        const struct command_items *items = user;
        const struct script_state *s = items->state;
        cleanup_term_list struct term_list parts = {0};
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                struct command c = s->script->commands[i];
                bool goes_on = i + 1 < s->script->n_commands && items->item[i + 1] != SIZE_MAX && is_joined[items->item[i + 1]];

                if (c.kind != COMMAND_ASSERT || (!goes_on && parts.n == 0)) {
                        state_add_bytes(s, i, ret);
                        continue;
                }
                for (size_t k = 0; k < (c.term->op == OP_AND ? c.term->n_args : 1); k++)
                        term_list_add(&parts, c.term->op == OP_AND ? c.term->args[k] : c.term);
                if (goes_on)
                        continue;
                c.term = term_op(s->script->bank, OP_AND, parts.list, parts.n);
                r = c.term ? state_add_printed(s, c, ret) : -ENOENT;
                parts.n = 0;
        }
        return r;
}

/* -- words for others -- */

/* The text with other words for some of its tokens; word_for() returns NULL of one that stays. `symbol` is NULL where the token is none of the bank. */
static void add_with_words(const struct script_state *s, const char *(*word_for)(const void *user, const struct token *t, const struct symbol *symbol),
                           const void *user, struct buffer *ret)
{
        struct tokenizer t;
        struct token token;
        size_t at = 0;

        tokenizer_init(&t, SLICE(s->text.data, s->text.size), s->script->dialect);
        while (token_next(&t, &token) != TOKEN_END) {
                const char *word = word_for(user, &token, token.kind == TOKEN_SYMBOL ? symbol_find(s->script->bank, token.text) : NULL);

                if (!word)
                        continue;
                buffer_add(ret, s->text.data + at, token.begin - at);
                buffer_adds(ret, word);
                at = token.end;
        }
        buffer_add(ret, s->text.data + at, s->text.size - at);
}

struct names {
        const struct script_state *state;
        struct name {
                const struct symbol *from;
                char to[8];
        } *list; /* owned */
        size_t n;
        struct term_map mentions; /* state_count_mentions() */
        size_t next;              /* the number of the next short name */
        const bool *is_on;        /* those of the candidate */
};

static void names_done(struct names *names)
{
        free(names->list);
        term_map_done(&names->mentions);
}

static const char *name_for(const void *user, const struct token *, const struct symbol *symbol)
{
        const struct names *names = user;

        for (size_t i = 0; symbol && i < names->n; i++)
                if (names->is_on[i] && names->list[i].from == symbol)
                        return names->list[i].to;
        return NULL;
}

static int with_names(void *user, const bool *is_on, struct buffer *ret)
{
        struct names *names = user;

        names->is_on = is_on;
        add_with_words(names->state, name_for, names, ret);
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
        struct name name = {.from = symbol};

        if (!symbol || symbol->op != OP_NONE || id_map_get(&names->mentions, symbol->id) == 0 || names->n >= NAMES_MOST)
                return;
        for (size_t i = 0; i < names->n; i++)
                if (names->list[i].from == symbol)
                        return;
        do
                name_of(names->next++, name.to);
        while (symbol_find(names->state->script->bank, slice_string(name.to)));
        if (strlen(name.to) >= symbol->name.size)
                return;
        list_add(names->list, names->n, name);
}

/* Shorter names for all that the script names. A variable that the reader renamed stands in the text under another name, and keeps it. */
static int step_names(struct reduce_steps *steps, const struct reduce_step *, struct script_state *s)
{
        cleanup_term_list struct term_list all = {0};
        cleanup(names_done) struct names names = {.state = s};

        state_count_mentions(s, &names.mentions);
        state_list_terms(s, &all);
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];

                if (command_has_name(c))
                        add_name(&names, command_symbol(c));
                for (size_t k = 0; defines(c) && k < c->n_terms; k++)
                        add_name(&names, c->terms[k]->symbol);
        }
        for (size_t i = 0; i < all.n; i++)
                for (size_t k = 0; term_is_quantifier(all.list[i]) && k < all.list[i]->n_bound; k++)
                        add_name(&names, all.list[i]->args[k]->symbol);
        return reduce_sweep(steps->reducer, names.n, 0, with_names, &names);
}

struct sort_for {
        const struct command *declaration;
        const char *word;
};

static const char *sort_for(const void *user, const struct token *t, const struct symbol *symbol)
{
        const struct sort_for *f = user;

        if (t->begin >= f->declaration->span.begin && t->begin < f->declaration->span.end)
                return "";
        return symbol && symbol == f->declaration->symbol ? f->word : NULL;
}

/* A sort that the script declares gives way to one that needs no declaration, and has values. */
static int make_sort(void *user, size_t at, struct buffer *ret)
{
        static const char *const sorts[] = {"Int", "Bool"};
        const struct script_state *s = ((const struct script_changes *)user)->state;
        struct sort_for f = {&s->script->commands[at / ARRAY_SIZE(sorts)], sorts[at % ARRAY_SIZE(sorts)]};

        if (f.declaration->kind != COMMAND_DECLARE_SORT || !f.declaration->symbol)
                return -ENOENT;
        add_with_words(s, sort_for, &f, ret);
        return 0;
}

/* -- quantifiers and definitions -- */

static void add_without_variables(struct script_state *s, const struct term *q, struct script_changes *c)
{
        for (size_t i = 0; q->kind != TERM_LAMBDA && i < q->n_bound; i++) {
                const struct term *variable = q->args[i];

                if (!term_has_free(term_body(q), &variable, 1)) {
                        script_changes_add(c, q, term_without_variable(s->script->bank, q, i, NULL));
                        continue;
                }
                for (size_t kind = REPLACEMENT_ZERO; kind <= REPLACEMENT_CONSTANT; kind++) {
                        const struct term *value = term_replacement(s->script->bank, variable, kind, &s->constants, &s->fresh);

                        if (value)
                                script_changes_add(c, q, term_without_variable(s->script->bank, q, i, value));
                }
        }
}

/* A call becomes the body of the definition. */
static void add_inlined(const struct script_state *s, const struct term *call, struct script_changes *c)
{
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];

                if (d->kind != COMMAND_DEFINE_FUN || d->function != call->function || d->n_terms != call->n_args)
                        continue;
                script_changes_add(c, call,
                                   d->n_terms == 0 ? d->term : term_substitute(s->script->bank, d->term, d->terms, call->args, d->n_terms));
                return;
        }
}

/* All calls of the definition that is command `at` are put in, and it goes. */
static int make_inlined(void *user, size_t at, struct buffer *ret)
{
        const struct script_state *s = ((const struct script_changes *)user)->state;
        const struct command *d = &s->script->commands[at];
        cleanup_changes struct script_changes c = {.state = s, .drops = true};
        cleanup_term_list struct term_list all = {0};

        if (d->kind == COMMAND_DEFINE_FUN)
                state_list_terms(s, &all);
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_FUNCTION && all.list[i]->function == d->function)
                        add_inlined(s, all.list[i], &c);
        return c.n == 0 ? -ENOENT : text_with_all(&c, ret);
}

/* A candidate of `n` changes of a list, from one on. */
static int make_some(const struct script_changes *c, size_t from, size_t n, struct buffer *ret)
{
        return text_with_all(&(struct script_changes){.state = c->state, .list = &c->list[from], .n = n, .drops = c->drops}, ret);
}

/* Changes that exclude each other at one term are tried one at a time. */
static int make_single(void *user, size_t at, struct buffer *ret)
{
        return make_some(user, at, 1, ret);
}

static void list_binders(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n; i++)
                if (term_is_quantifier(all->list[i]))
                        add_without_variables(s, all->list[i], c);
                else if (all->list[i]->kind == TERM_FUNCTION && all->list[i]->function->kind == FUNCTION_DEFINED)
                        add_inlined(s, all->list[i], c);
}

/* A constant gives way to a value or to another constant, everywhere, and its declaration with it. */
static void add_constant_values(struct script_state *s, size_t last, struct script_changes *c)
{
        c->drops = true;
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];
                const struct term *constant;

                if (!command_declares(d) || d->function->n_args > 0)
                        continue;
                constant = term_constant(s->script->bank, d->function);
                for (size_t kind = REPLACEMENT_ZERO; kind <= last; kind++)
                        script_changes_add(c, constant, term_replacement(s->script->bank, constant, kind, &s->constants, NULL));
        }
}

static void list_constant_zeros(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        add_constant_values(s, REPLACEMENT_ZERO, c);
}

static void list_constant_values(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        add_constant_values(s, REPLACEMENT_CONSTANT, c);
}

static bool is_constant(const struct term *t)
{
        return t->kind == TERM_FUNCTION && t->n_args == 0 && t->function->kind == FUNCTION_DECLARED;
}

static bool occurs_in(const struct term *part, const struct term *t)
{
        cleanup_term_list struct term_list all = {0};
        bool occurs = false;

        term_subterms(&t, 1, &all);
        for (size_t i = 0; i < all.n; i++)
                occurs |= all.list[i] == part;
        return occurs;
}

/* A constant that equals a term gives way to it, in two changes: the constant becomes the other side, and the equality true. Whether the constant
 * stands in the other side is looked for when a candidate is made, which costs no more than to write it: sides can share terms, and all of them
 * together are far larger than the text. */
static void list_equalities(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        c->drops = true;
        for (size_t i = 0; i < all->n; i++) {
                const struct term *t = all->list[i];

                for (size_t k = 0; t->op == OP_EQUAL && t->n_args == 2 && k < 2; k++) {
                        if (!is_constant(t->args[k]) || t->args[1 - k]->is_open)
                                continue;
                        script_changes_add(c, t->args[k], t->args[1 - k]);
                        script_changes_add(c, t, term_true(s->script->bank));
                }
        }
}

static int make_equality(void *user, size_t at, struct buffer *ret)
{
        const struct script_changes *c = user;

        return at % 2 == 1 || occurs_in(c->list[at].from, c->list[at].to) ? -ENOENT : make_some(c, at, 2, ret);
}

/* -- other terms in a term's place -- */

static void list_rewrites(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n; i++) {
                cleanup_term_list struct term_list simpler = {0};

                term_rewrites(s->script->bank, all->list[i], &simpler);
                for (size_t k = 0; k < simpler.n; k++)
                        script_changes_add(c, all->list[i], simpler.list[k]);
        }
}

static void list_nestings(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n && c->n < NESTINGS_MOST; i++) {
                cleanup_term_list struct term_list simpler = {0};

                term_nestings(s->script->bank, all->list[i], &simpler);
                for (size_t k = 0; k < simpler.n && c->n < NESTINGS_MOST; k++)
                        script_changes_add(c, all->list[i], simpler.list[k]);
        }
}

static void list_elsewhere(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n; i++)
                for (size_t k = all->n; k-- > 0 && c->n < ELSEWHERE_MOST;) {
                        const struct term *from = all->list[i], *to = all->list[k];

                        if (from->sort == to->sort && to->tree_size < from->tree_size && !to->is_open && !from->sort->has_unknown &&
                            term_rank(s->script->bank, to) >= 2)
                                script_changes_add(c, from, to);
                }
}

static void list_zeros(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n; i++) {
                script_changes_add(c, all->list[i], term_replacement(s->script->bank, all->list[i], REPLACEMENT_ZERO, NULL, NULL));
                script_changes_add(c, all->list[i], term_replacement(s->script->bank, all->list[i], REPLACEMENT_CHILD, NULL, NULL));
        }
}

static int make_pair(void *user, size_t at, struct buffer *ret)
{
        const struct script_changes *c = user;
        size_t second = 1;
        struct replacement list[2];

        /* The at-th pair of (0, 1), (0, 2), (1, 2), (0, 3) …: those of the largest terms first. */
        for (; at >= second; at -= second++)
                ;
        list[0] = c->list[at];
        list[1] = c->list[second];
        return text_with_all(&(struct script_changes){.state = c->state, .list = list, .n = 2}, ret);
}

static void add_places(struct script_state *s, const struct term *root, struct script_changes *c)
{
        cleanup_term_places struct term_places places = {0};

        if (root->tree_size > REDUCE_PLACES_MOST || root->tree_size == term_dag_size(root))
                return;
        term_places(root, REDUCE_PLACES_MOST, &places);
        for (size_t i = 1; i < places.n; i++)
                for (size_t kind = 0;; kind++) {
                        const struct term *to = term_replacement(s->script->bank, places.list[i].term, kind, &s->constants, NULL);

                        if (!to && kind >= REPLACEMENT_CHILD)
                                break;
                        if (to)
                                script_changes_add(c, root, term_replace_at(s->script->bank, &places, i, to));
                }
}

static void list_places(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < s->script->n_commands; i++)
                if (s->script->commands[i].kind == COMMAND_ASSERT)
                        add_places(s, s->script->commands[i].term, c);
}

/* One constant for two. */
static void list_constant_pairs(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        c->drops = true;
        for (size_t i = 0; i < s->constants.n; i++)
                for (size_t k = 0; k < i && c->n < PAIRS_MOST; k++)
                        if (s->constants.list[i]->sort == s->constants.list[k]->sort)
                                script_changes_add(c, s->constants.list[i], s->constants.list[k]);
}

/* ALL, or the logic with less in its name. */
static int make_logic(void *user, size_t at, struct buffer *ret)
{
        static const char *const parts[][2] = {{"AUF", "UF"},  {"ABV", "BV"},  {"UF", ""},   {"DT", ""},     {"FP", ""},     {"BV", ""},
                                               {"SLIA", "S"}, {"ALIA", "LIA"}, {"LIA", ""}, {"NIA", "LIA"}, {"NRA", "LRA"}, {"NIRA", "LIRA"}};
        const struct script_state *s = ((const struct script_changes *)user)->state;
        size_t i = 0;
        const char *name, *part;

        while (at <= ARRAY_SIZE(parts) && i < s->script->n_commands && s->script->commands[i].kind != COMMAND_SET_LOGIC)
                i++;
        if (at > ARRAY_SIZE(parts) || i == s->script->n_commands || !s->script->commands[i].symbol)
                return -ENOENT;
        name = s->script->commands[i].symbol->name.data;
        part = at == 0 ? name : strstr(name, parts[at - 1][0]);
        /* A part that is all of the name behind QF_ is not left out. */
        if (!part || (at > 0 && part[strlen(parts[at - 1][0])] == '\0' && !*parts[at - 1][1] && (part == name || part[-1] == '_')))
                return -ENOENT;
        for (size_t k = 0; k < s->script->n_commands; k++)
                if (k != i)
                        state_add_bytes(s, k, ret);
                else if (at == 0)
                        buffer_adds(ret, "(set-logic ALL)\n");
                else
                        buffer_addf(ret, "(set-logic %.*s%s%s)\n", (int)(part - name), name, parts[at - 1][1], part + strlen(parts[at - 1][0]));
        return 0;
}

/* -- passes -- */

/* Without comments and what stands between the commands. 1: that is the text now. -EINVAL: it is no script, or never had a known command. */
static int strip(struct reduce_steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup_buffer struct buffer text = {0};
        struct script_options o = {.is_dialect_fixed = true};
        bool is_script = reduce_requires_script(steps->reducer);
        int r;

        reduce_require_script(steps->reducer, false, &o);
        r = script_state_load(steps, &s);
        if (r < 0)
                return r;
        steps->dialect = s.script->dialect;
        steps->has_dialect = true;
        is_script |= s.script->n_opaque_commands < s.script->n_commands;
        o.dialect = steps->dialect;
        o.is_strict = s.script->n_opaque_commands + s.script->n_opaque_terms == 0;
        reduce_require_script(steps->reducer, is_script, &o);
        for (size_t i = 0; i < s.script->n_commands; i++)
                state_add_bytes(&s, i, &text);
        if (buffer_error(&text) < 0 || s.script->n_commands == 0)
                return buffer_error(&text);
        r = reduce_offer(steps->reducer, SLICE(text.data, text.size));
        if (r == 0)
                reduce_require_script(steps->reducer, false, &o); /* what is between its commands matters */
        return r >= 0 && !is_script ? -EINVAL : r;
}

static int sweep_changes(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s)
{
        cleanup_term_list struct term_list all = {0};
        cleanup_changes struct script_changes c = {.state = s};

        state_list_terms(s, &all);
        step->list(s, &all, &c);
        return steps_sweep_changes(steps, &c, 0);
}

/* A candidate at a time. */
static int try_changes(struct reduce_steps *steps, const struct reduce_step *step, struct script_state *s)
{
        cleanup_term_list struct term_list all = {0};
        cleanup_changes struct script_changes c = {.state = s};
        size_t n = step->n * s->script->n_commands;

        if (step->list) {
                state_list_terms(s, &all);
                step->list(s, &all, &c);
                n = step->make == make_pair ? MIN(c.n * (c.n - 1) / 2, PAIRS_MOST) : c.n;
        }
        return reduce_first(steps->reducer, step->goes_on ? steps->at : 0, n, step->make, &c, &steps->at);
}

static int run_step(struct reduce_steps *steps, const struct reduce_step *step)
{
        int r;

        reduce_set_stage(steps->reducer, step->stage);
        steps->at = 0;
        do {
                cleanup_state struct script_state s = {0};

                r = script_state_load(steps, &s) ?: step->run(steps, step, &s);
                steps->any |= r > 0;
        } while (r > 0 && step->again);
        return r;
}

int reduce_script(struct reducer *r, bool *ret_is_script)
{
        static const struct reduce_step list[] = {
                {"commands", sweep_commands, .chooses = is_removable},
                {"declarations", sweep_commands, .again = true, .chooses = is_unused}, /* one leads to another: a definition uses what others declare */
                {"datatypes", step_datatypes, .again = true},
                {"sorts", try_changes, .again = true, .make = make_sort, .n = 2},
                {"tidying", sweep_commands, .chooses = is_untidy, .write = state_add_printed},
                {"constants", sweep_changes, .list = list_constant_zeros},
                {"constants", try_changes, .again = true, .list = list_constant_values, .make = make_single, .goes_on = true},
                {"definitions", try_changes, .again = true, .make = make_inlined, .n = 1},
                {"equalities", try_changes, .again = true, .list = list_equalities, .make = make_equality},
                {"tidying", sweep_commands, .chooses = is_untidy, .write = state_add_printed},
                {"terms", step_terms},
                {"tidying", sweep_commands, .chooses = is_untidy, .write = state_add_printed},
                {"operators", try_changes, .again = true, .list = list_rewrites, .make = make_single, .goes_on = true},
                {"quantifiers and definitions", try_changes, .again = true, .list = list_binders, .make = make_single},
                {"definitions", sweep_commands, .chooses = has_body, .write = write_declaration},
                {"layout", sweep_commands, .write = write_short},
                {"names", step_names},
                {"arguments and literals", step_parts, .again = true, .is_fine = true},
                {"places", try_changes, .again = true, .is_fine = true, .list = list_places, .make = make_single, .goes_on = true},
                {"logic", try_changes, .again = true, .is_fine = true, .make = make_logic, .n = 13 /* ALL, and the parts of a name */},
                {"assertions", sweep_commands, .is_fine = true, .chooses = is_joinable, .text = text_with_joined},
                {"constants", try_changes, .again = true, .is_fine = true, .list = list_constant_pairs, .make = make_single},
                {"nested terms", try_changes, .again = true, .is_fine = true, .list = list_nestings, .make = make_single},
                {"terms from elsewhere", try_changes, .again = true, .is_fine = true, .list = list_elsewhere, .make = make_single, .goes_on = true},
                {"two at once", try_changes, .again = true, .is_fine = true, .list = list_zeros, .make = make_pair},
        };
        struct reduce_steps steps = {.reducer = r, .dialect = reduce_dialect(r)};
        bool any = false;
        int k = strip(&steps);

        *ret_is_script = k == 1;
        if (k != 1)
                return k == -EINVAL ? 0 : k;
        do {
                steps.any = false;
                for (size_t i = 0; k >= 0 && i < ARRAY_SIZE(list); i++)
                        k = steps.any && list[i].is_fine ? 0 : run_step(&steps, &list[i]);
                any |= steps.any;
                steps.pass++;
        } while (k >= 0 && steps.any);
        return k < 0 ? k : any;
}
