/* Steps that change few places each: quantifiers, definitions, constants, equalities, terms from elsewhere, pairs of changes. */
#include "core/study/reduce/reduce_steps.h"

#define ELSEWHERE_MOST 400 /* candidates of a pass in which a term is replaced by one from elsewhere */
#define PAIRS_MOST     200 /* and of two changes at once */

/* -- quantifiers and definitions -- */

static int add_without_variables(struct script_state *s, const struct term *q, struct script_changes *c)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < q->n_bound; i++) {
                const struct term *variable = q->args[i];

                if (q->kind == TERM_LAMBDA)
                        return 0;
                if (term_has_free(term_body(q), &variable, 1) == 0) {
                        r = script_changes_add(c, q, term_without_variable(s->script->bank, q, i, NULL));
                        continue;
                }
                for (size_t step = STEP_ZERO; r == 0 && step < STEP_CHILD; step++) {
                        const struct term *value =
                                step == STEP_FRESH ? NULL : term_step(s->script->bank, variable, step, &s->constants, &s->fresh);

                        for (size_t k = 0; step == STEP_FRESH && k < s->fresh.n; k++)
                                if (s->fresh.list[k]->sort == variable->sort)
                                        value = s->fresh.list[k];
                        if (value)
                                r = script_changes_add(c, q, term_without_variable(s->script->bank, q, i, value));
                }
        }
        return r;
}

/* A call becomes the body of the definition. */
static int add_inlined(struct script_state *s, const struct term *call, struct script_changes *c)
{
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];

                if (d->kind == COMMAND_DEFINE_FUN && d->function == call->function && d->n_terms == call->n_args)
                        return script_changes_add(
                                c, call,
                                d->n_terms == 0 ? d->term
                                                : term_substitute(s->script->bank, d->term, d->terms, call->args, d->n_terms));
        }
        return 0;
}

/* All calls of the definition that is command `at` are put in, and it goes. */
static int make_inlined(void *user, size_t at, struct buffer *ret)
{
        struct script_state *s = user;
        const struct command *d = &s->script->commands[at];
        cleanup(script_changes_done) struct script_changes c = {.state = s, .drops = true};
        cleanup_term_list struct term_list all = {0};
        int r = d->kind == COMMAND_DEFINE_FUN ? state_list_terms(s, &all) : -ENOENT;

        for (size_t i = 0; r == 0 && i < all.n; i++)
                if (all.list[i]->kind == TERM_FUNCTION && all.list[i]->function == d->function)
                        r = add_inlined(s, all.list[i], &c);
        if (r < 0)
                return r;
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

/* Changes that exclude each other at one term are tried one at a time. */
int make_single(void *user, size_t at, struct buffer *ret)
{
        struct script_changes *c = user;
        struct script_changes one = {.state = c->state, .list = &c->list[at], .n = 1};

        return text_with_all(&one, ret);
}

int list_binders(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        int r = state_make_fresh(s, all);

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                if (term_is_quantifier(all->list[i]))
                        r = add_without_variables(s, all->list[i], c);
                else if (all->list[i]->kind == TERM_FUNCTION && all->list[i]->function->kind == FUNCTION_DEFINED)
                        r = add_inlined(s, all->list[i], c);
        }
        return r;
}

int make_constant(void *user, size_t at, struct buffer *ret)
{
        struct script_changes *c = user;
        struct script_changes one = {.state = c->state, .list = &c->list[at], .n = 1, .drops = true};

        return text_with_all(&one, ret);
}

/* A constant gives way to a value or to another constant, everywhere, and its declaration with it. */
static int add_constant_values(struct script_state *s, size_t first, size_t last, struct script_changes *c)
{
        static const struct term_list none = {0};
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                const struct command *d = &s->script->commands[i];
                const struct term *constant;

                if (!command_declares(d) || d->function->n_args > 0)
                        continue;
                constant = term_constant(s->script->bank, d->function);
                for (size_t step = first; r == 0 && constant && step <= last; step++)
                        r = script_changes_add(c, constant, term_step(s->script->bank, constant, step, &s->constants, &none));
        }
        return r;
}

int list_constant_values(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        (void)all;
        return add_constant_values(s, STEP_ZERO, STEP_CONSTANT, c);
}

/* Many at once. */
int step_constants_to_zero(struct steps *steps)
{
        cleanup_state struct script_state s = {0};
        cleanup(script_changes_done) struct script_changes c = {.state = &s, .drops = true};
        int r = script_state_load(steps, &s);

        if (r == 0)
                r = add_constant_values(&s, STEP_ZERO, STEP_ZERO, &c);
        return r < 0 ? r : steps_sweep_changes(steps, &c, 0);
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

/* A constant that equals something is put in where it stands. Two changes each: the constant becomes the other side, and the equality true. That the constant may stand in the other side is looked for when a
 * candidate is made, which costs no more than to write it: sides can share terms, and then all of them together are far larger than the text. */
int list_equalities(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                const struct term *t = all->list[i];

                for (size_t k = 0; r == 0 && t->op == OP_EQUAL && t->n_args == 2 && k < 2; k++) {
                        if (!is_constant(t->args[k]) || t->args[1 - k]->is_open)
                                continue;
                        r = script_changes_add(c, t->args[k], t->args[1 - k]);
                        if (r == 0)
                                r = script_changes_add(c, t, term_true(s->script->bank));
                }
        }
        return r;
}

size_t equality_count(size_t n)
{
        return n / 2;
}

int make_equality(void *user, size_t at, struct buffer *ret)
{
        struct script_changes *c = user;
        struct script_changes one = {.state = c->state, .list = &c->list[2 * at], .n = 2, .drops = true};
        int r = occurs_in(one.list->from, one.list->to);

        return r == 0 ? text_with_all(&one, ret) : r < 0 ? r : -ENOENT;
}

/* -- other terms in a term's place -- */

int list_rewrites(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                cleanup_term_list struct term_list simpler = {0};

                r = term_rewrites(s->script->bank, all->list[i], &simpler);
                for (size_t k = 0; r == 0 && k < simpler.n; k++)
                        r = script_changes_add(c, all->list[i], simpler.list[k]);
        }
        return r;
}

int list_elsewhere(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        int r = 0;

        (void)s;
        for (size_t i = 0; r == 0 && i < all->n; i++)
                for (size_t k = all->n; r == 0 && k-- > 0 && c->n < ELSEWHERE_MOST;) {
                        const struct term *from = all->list[i], *to = all->list[k];

                        if (from->sort == to->sort && term_rank(to) >= 2 && !to->is_open && !from->sort->has_unknown &&
                            to->tree_size < from->tree_size)
                                r = script_changes_add(c, from, to);
                }
        return r;
}

/* -- two changes at once -- */

int list_zeros(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        static const struct term_list none = {0};
        int r = 0;

        for (size_t i = 0; r == 0 && i < all->n; i++) {
                r = script_changes_add(c, all->list[i], term_step(s->script->bank, all->list[i], STEP_ZERO, &none, &none));
                if (r == 0)
                        r = script_changes_add(c, all->list[i],
                                               term_step(s->script->bank, all->list[i], STEP_CHILD, &none, &none));
        }
        return r;
}

size_t pair_count(size_t n)
{
        return MIN(n * (n - MIN(n, 1)) / 2, PAIRS_MOST);
}

int make_pair(void *user, size_t at, struct buffer *ret)
{
        struct script_changes *c = user;
        size_t first = 0, second = 1;
        struct replacement list[2];
        struct script_changes two = {.state = c->state, .list = list, .n = 2};

        /* Those of the largest terms first: (0, 1), (0, 2), (1, 2), (0, 3) … */
        for (; at >= second; at -= second++)
                ;
        first = at;
        list[0] = c->list[first];
        list[1] = c->list[second];
        return text_with_all(&two, ret);
}

/* -- one place of a shared term -- */

static int add_places(struct script_state *s, const struct term *root, struct script_changes *c)
{
        static const struct term_list none = {0};
        cleanup_term_places struct term_places places = {0};
        int r = 0;

        if (root->tree_size > REDUCE_PLACES_MOST || root->tree_size == term_dag_size(root))
                return 0;
        r = term_places(root, REDUCE_PLACES_MOST, &places);
        for (size_t i = 1; r == 0 && i < places.n; i++)
                for (size_t step = 0; r == 0; step++) {
                        const struct term *to = term_step(s->script->bank, places.list[i].term, step, &s->constants, &none);

                        if (!to && step >= STEP_CHILD)
                                break;
                        if (to)
                                r = script_changes_add(c, root, term_replace_at(s->script->bank, &places, i, to));
                }
        return r;
}

int list_places(struct script_state *s, const struct term_list *all, struct script_changes *c)
{
        int r = 0;

        (void)all;
        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++)
                if (s->script->commands[i].kind == COMMAND_ASSERT)
                        r = add_places(s, s->script->commands[i].term, c);
        return r;
}
