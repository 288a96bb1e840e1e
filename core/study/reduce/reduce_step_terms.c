/* Steps: terms are replaced by simpler ones, level by level, and lose parts. */
#include "core/study/reduce/reduce_steps.h"

/* -- terms -- */

/* All terms of the script that are written. */
static void list_roots(const struct script_state *s, struct term_list *ret)
{
        for (size_t i = 0; i < s->script->n_commands; i++) {
                const struct command *c = &s->script->commands[i];

                if (c->term)
                        term_list_add(ret, c->term);
                for (size_t k = 0; !c->term && command_has_terms(c) && k < c->n_terms; k++)
                        term_list_add(ret, c->terms[k]);
        }
}

/* A fresh constant for every sort that terms have. */
static void make_fresh(struct script_state *s, const struct term_list *all)
{
        for (size_t i = 0; i < all->n; i++) {
                const struct sort *sort = all->list[i]->sort;
                bool is_there = sort->has_unknown || sort->kind == SORT_UNKNOWN || sort->has_parameter;

                for (size_t k = 0; !is_there && k < s->fresh.n; k++)
                        is_there = s->fresh.list[k]->sort == sort;
                if (!is_there)
                        term_list_add(&s->fresh, term_fresh_constant(s->script->bank, "v", sort));
        }
}

static void add_unseen(const struct term *t, struct term_map *seen, struct term_list *ret)
{
        if (term_map_get(seen, t) == 0)
                term_list_add(ret, t);
        term_map_set(seen, t, 1);
}

/* The distinct terms at one distance from the roots, in the order of the source. */
static void list_level(const struct term_list *roots, size_t depth, struct term_list *ret)
{
        cleanup_term_map struct term_map seen = {0};

        for (size_t i = 0; i < roots->n; i++)
                add_unseen(roots->list[i], &seen, ret);
        for (size_t level = 0; level < depth && ret->n > 0; level++) {
                struct term_list next = {0};

                for (size_t i = 0; i < ret->n; i++) {
                        const struct term *t = ret->list[i];
                        size_t n = t->kind == TERM_ANNOTATED ? 1 : t->n_args;

                        for (size_t k = term_first_arg(t); k < n; k++)
                                add_unseen(t->args[k], &seen, &next);
                }
                term_list_done(ret);
                *ret = next;
        }
}

/* Tries one kind of replacement at all terms of a level. *ret_nodes: how many there are; *ret_kinds: how many kinds any of them has. */
static int step_level(struct reduce_steps *steps, size_t depth, size_t kind, size_t *ret_nodes, size_t *ret_kinds)
{
        cleanup_state struct script_state s = {0};
        cleanup_term_list struct term_list roots = {0}, level = {0};
        cleanup_changes struct script_changes c = {.state = &s};
        bool is_tried = depth == 0 && kind == REPLACEMENT_ZERO && steps->pass == 0; /* an assertion of true: the first step left the command out */
        int r = script_state_load(steps, &s);

        if (r < 0)
                return r;
        list_roots(&s, &roots);
        list_level(&roots, depth, &level);
        make_fresh(&s, &level);
        *ret_nodes = level.n;
        *ret_kinds = REPLACEMENT_CHILD;
        for (size_t i = 0; i < level.n; i++) {
                const struct term *t = level.list[i];
                cleanup_term_list struct term_list nearest = {0};

                if (t->n_args > 0)
                        term_nearest(t, &nearest);
                *ret_kinds = MAX(*ret_kinds, REPLACEMENT_CHILD + nearest.n);
                if (!is_tried)
                        script_changes_add(&c, t, term_replacement(s.script->bank, t, kind, &s.constants, &s.fresh));
        }
        return steps_sweep_changes(steps, &c, steps->pass == 0 && c.n > 8 ? 0 : 1);
}

/* The levels from the roots on; each kind at a level begins with the text that the one before has left. */
int step_terms(struct reduce_steps *steps, const struct reduce_step *, struct script_state *)
{
        int any = 0;
        size_t n_nodes = 1, n_kinds = REPLACEMENT_CHILD;

        for (size_t depth = 0; n_nodes > 0; depth++) {
                static const size_t order[] = {REPLACEMENT_ZERO, REPLACEMENT_CHILD, REPLACEMENT_ONE, REPLACEMENT_CONSTANT, REPLACEMENT_FRESH};

                for (size_t i = 0; n_nodes > 0 && i < ARRAY_SIZE(order); i++) {
                        int r = step_level(steps, depth, order[i], &n_nodes, &n_kinds);

                        any |= r > 0;
                        /* the other subterms */
                        for (size_t kind = REPLACEMENT_CHILD + 1; order[i] == REPLACEMENT_CHILD && r >= 0 && kind < n_kinds; kind++) {
                                r = step_level(steps, depth, kind, &n_nodes, &n_kinds);
                                any |= r > 0;
                        }
                        if (r < 0)
                                return r;
                }
        }
        return any;
}

/* -- the parts of one term -- */

void state_list_terms(const struct script_state *s, struct term_list *ret)
{
        cleanup_term_list struct term_list roots = {0};

        list_roots(s, &roots);
        term_subterms(roots.list, roots.n, ret);
        term_list_reverse(ret);
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

/* The number of parts that can be left out one by one; sets p->without, which does it. */
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

int step_parts(struct reduce_steps *steps, const struct reduce_step *, struct script_state *s)
{
        cleanup_term_list struct term_list all = {0};
        int r = 0;

        state_list_terms(s, &all);
        for (; r == 0 && steps->at < all.n; steps->at++) {
                struct parts p = {.state = s, .term = all.list[steps->at]};
                size_t n = parts_of(p.term, &p);

                if (n > 0)
                        r = reduce_sweep(steps->reducer, n, 0, without_parts, &p);
        }
        return r;
}
