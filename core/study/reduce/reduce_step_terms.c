/* Steps: terms are replaced by simpler ones, level by level, and lose parts. */
#include "core/study/reduce/reduce_steps.h"

/* -- terms -- */

/* All terms of the script that are written. */
static int list_roots(const struct script_state *s, struct term_list *ret)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];

                if (!command_has_terms(c))
                        continue;
                if (c->term)
                        r = term_list_add(ret, c->term);
                for (size_t k = 0; !c->term && r == 0 && k < c->n_terms; k++)
                        r = term_list_add(ret, c->terms[k]);
        }
        return r;
}

/* A fresh constant for every sort that terms have. */
int state_make_fresh(struct script_state *s, const struct term_list *all)
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
        cleanup_state struct script_state s = {0};
        cleanup_term_list struct term_list roots = {0}, level = {0};
        cleanup(script_changes_done) struct script_changes c = {.state = &s};
        int r = script_state_load(steps, &s);

        if (r == 0)
                r = list_roots(&s, &roots);
        if (r == 0)
                r = list_level(&roots, depth, &level);
        if (r == 0)
                r = state_make_fresh(&s, &level);
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
                        r = script_changes_add(&c, t, term_step(s.script->bank, t, step, &s.constants, &s.fresh));
        }
        return r < 0 ? r : steps_sweep_changes(steps, &c, steps->pass == 0 && c.n > 8 ? 0 : 1);
}

int step_terms(struct steps *steps)
{
        size_t n_nodes = 1, n_steps = STEP_CHILD;

        for (size_t depth = 0; n_nodes > 0; depth++) {
                static const size_t first[] = {STEP_ZERO, STEP_CHILD, STEP_ONE, STEP_CONSTANT, STEP_FRESH};

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
int state_list_terms(const struct script_state *s, struct term_list *ret)
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
        struct script_state *state;
        const struct term *term;
        const struct term *(*without)(struct bank *b, const struct term *t, const bool *is_out);
};

static int without_parts(void *user, const bool *is_out, struct buffer *ret)
{
        struct parts *p = user;
        struct replacement list = {p->term, p->without(p->state->script->bank, p->term, is_out)};
        struct script_changes c = {.state = p->state, .list = &list, .n = 1};

        return list.to && list.to != list.from ? text_with_all(&c, ret) : -ENOENT;
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

int step_parts(struct steps *steps)
{
        size_t at = 0;

        for (;;) {
                cleanup_state struct script_state s = {0};
                cleanup_term_list struct term_list all = {0};
                struct parts p = {.state = &s};
                int r = script_state_load(steps, &s);

                if (r == 0)
                        r = state_list_terms(&s, &all);
                for (; r == 0 && at < all.n; at++) {
                        size_t n;

                        p.term = all.list[at];
                        n = parts_of(p.term, &p);
                        if (n > 0)
                                r = steps_sweep(steps, n, 0, without_parts, &p);
                }
                if (r < 0)
                        return r;
                if (r == 0)
                        return 0;
        }
}
