/* Steps that change few places each: quantifiers, definitions, constants, equalities, terms from elsewhere, pairs of changes. */
#include "core/study/reduce/reduce_steps.h"

#define ELSEWHERE_MOST 400 /* candidates of a pass in which a term is replaced by one from elsewhere */
#define PAIRS_MOST     200 /* and of two changes at once */

/* -- quantifiers and definitions -- */

static void add_without_variables(struct script_state *s, const struct term *q, struct script_changes *c)
{
        for (size_t i = 0; q->kind != TERM_LAMBDA && i < q->n_bound; i++) {
                const struct term *variable = q->args[i];

                if (term_has_free(term_body(q), &variable, 1) == 0) {
                        script_changes_add(c, q, term_without_variable(s->script->bank, q, i, NULL));
                        continue;
                }
                for (size_t step = STEP_ZERO; step < STEP_CHILD; step++) {
                        const struct term *value = step == STEP_FRESH ? term_of_sort(&s->fresh, variable->sort)
                                                                      : term_step(s->script->bank, variable, step, &s->constants, &s->fresh);

                        if (value)
                                script_changes_add(c, q, term_without_variable(s->script->bank, q, i, value));
                }
        }
}

/* A call becomes the body of the definition. */
static void add_inlined(struct script_state *s, const struct term *call, struct script_changes *c)
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
        struct script_state *s = user;
        const struct command *d = &s->script->commands[at];
        cleanup(script_changes_done) struct script_changes c = {.state = s, .drops = true};
        cleanup_term_list struct term_list all = {0};

        if (d->kind == COMMAND_DEFINE_FUN)
                state_list_terms(s, &all);
        for (size_t i = 0; i < all.n; i++)
                if (all.list[i]->kind == TERM_FUNCTION && all.list[i]->function == d->function)
                        add_inlined(s, all.list[i], &c);
        return c.n == 0 ? -ENOENT : text_with_all(&c, ret);
}

int step_inline(struct steps *steps)
{
        int taken;

        do {
                cleanup_state struct script_state s = {0};
                size_t at;
                int r = script_state_load(steps, &s);

                taken = r < 0 ? r : reduce_first(steps->reducer, 0, s.script->n_commands, make_inlined, &s, &at);
                steps->any |= taken > 0;
        } while (taken > 0);
        return taken;
}

/* A candidate of `n` changes of a list, from one on. */
static int make_some(const struct script_changes *c, size_t from, size_t n, bool drops, struct buffer *ret)
{
        return text_with_all(&(struct script_changes){.state = c->state, .list = &c->list[from], .n = n, .drops = drops}, ret);
}

/* Changes that exclude each other at one term are tried one at a time. */
int make_single(void *user, size_t at, struct buffer *ret)
{
        return make_some(user, at, 1, false, ret);
}

void list_binders(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        state_make_fresh(s, all);
        for (size_t i = 0; i < all->n; i++)
                if (term_is_quantifier(all->list[i]))
                        add_without_variables(s, all->list[i], c);
                else if (all->list[i]->kind == TERM_FUNCTION && all->list[i]->function->kind == FUNCTION_DEFINED)
                        add_inlined(s, all->list[i], c);
}

int make_constant(void *user, size_t at, struct buffer *ret)
{
        return make_some(user, at, 1, true, ret);
}

/* A constant gives way to a value or to another constant, everywhere, and its declaration with it. */
static void add_constant_values(struct script_state *s, size_t last, struct script_changes *c)
{
        static const struct term_list none = {0};

        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];
                const struct term *constant;

                if (!command_declares(d) || d->function->n_args > 0)
                        continue;
                constant = term_constant(s->script->bank, d->function);
                for (size_t step = STEP_ZERO; step <= last; step++)
                        script_changes_add(c, constant, term_step(s->script->bank, constant, step, &s->constants, &none));
        }
}

void list_constant_values(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        add_constant_values(s, STEP_CONSTANT, c);
}

/* Many at once. */
int step_constants_to_zero(struct steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup(script_changes_done) struct script_changes c = {.state = &s, .drops = true};
        int r = script_state_load(steps, &s);

        if (r < 0)
                return r;
        add_constant_values(&s, STEP_ZERO, &c);
        return steps_sweep_changes(steps, &c, 0);
}

/* -- equalities -- */

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

/* A constant that equals a term gives way to it, in two changes: the constant becomes the other side, and the equality true. Whether the constant stands in
 * the other side is looked for when a candidate is made, at the cost of writing it: sides can share terms, and all of them are far larger than the text. */
void list_equalities(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
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

size_t equality_count(size_t n)
{
        return n / 2;
}

int make_equality(void *user, size_t at, struct buffer *ret)
{
        const struct script_changes *c = user;

        return occurs_in(c->list[2 * at].from, c->list[2 * at].to) ? -ENOENT : make_some(c, 2 * at, 2, true, ret);
}

/* -- other terms in a term's place -- */

void list_rewrites(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n; i++) {
                cleanup_term_list struct term_list simpler = {0};

                term_rewrites(s->script->bank, all->list[i], &simpler);
                for (size_t k = 0; k < simpler.n; k++)
                        script_changes_add(c, all->list[i], simpler.list[k]);
        }
}

void list_elsewhere(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < all->n; i++)
                for (size_t k = all->n; k-- > 0 && c->n < ELSEWHERE_MOST;) {
                        const struct term *from = all->list[i], *to = all->list[k];

                        if (from->sort == to->sort && term_rank(to) >= 2 && !to->is_open && !from->sort->has_unknown &&
                            to->tree_size < from->tree_size)
                                script_changes_add(c, from, to);
                }
}

/* -- two changes at once -- */

void list_zeros(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        static const struct term_list none = {0};

        for (size_t i = 0; i < all->n; i++) {
                script_changes_add(c, all->list[i], term_step(s->script->bank, all->list[i], STEP_ZERO, &none, &none));
                script_changes_add(c, all->list[i], term_step(s->script->bank, all->list[i], STEP_CHILD, &none, &none));
        }
}

size_t pair_count(size_t n)
{
        return MIN(n * (n - MIN(n, 1)) / 2, PAIRS_MOST);
}

int make_pair(void *user, size_t at, struct buffer *ret)
{
        const struct script_changes *c = user;
        size_t second = 1;
        struct replacement list[2];

        /* Those of the largest terms first: (0, 1), (0, 2), (1, 2), (0, 3) … */
        for (; at >= second; at -= second++)
                ;
        list[0] = c->list[at];
        list[1] = c->list[second];
        return text_with_all(&(struct script_changes){.state = c->state, .list = list, .n = 2}, ret);
}

/* -- one place of a shared term -- */

static void add_places(struct script_state *s, const struct term *root, struct script_changes *c)
{
        static const struct term_list none = {0};
        cleanup_term_places struct term_places places = {0};

        if (root->tree_size > REDUCE_PLACES_MOST || root->tree_size == term_dag_size(root))
                return;
        term_places(root, REDUCE_PLACES_MOST, &places);
        for (size_t i = 1; i < places.n; i++)
                for (size_t step = 0;; step++) {
                        const struct term *to = term_step(s->script->bank, places.list[i].term, step, &s->constants, &none);

                        if (!to && step >= STEP_CHILD)
                                break;
                        if (to)
                                script_changes_add(c, root, term_replace_at(s->script->bank, &places, i, to));
                }
}

void list_places(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        for (size_t i = 0; i < s->script->n_commands; i++)
                if (s->script->commands[i].kind == COMMAND_ASSERT)
                        add_places(s, s->script->commands[i].term, c);
}
