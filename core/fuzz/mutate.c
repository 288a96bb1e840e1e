#include "core/fuzz/mutate.h"

#include "core/smtlib/logic.h"

#define PLACES_MOST 20000 /* of an assertion; what lies beyond in a larger one is not mutated */
#define OTHERS_MOST 8     /* arguments of a term that gets another operator */

/* -- places -- */

struct target { /* a place in one of the script's assertions */
        size_t command;
        struct term_places places;
};

static void target_done(struct target *t)
{
        term_places_done(&t->places);
}

/* The places of an assertion: of one that is drawn by its size, or of the `skip`-th after it. -ENOENT: there are no more. */
static int target_choose(struct generator *g, const struct script *s, size_t skip, size_t *first, struct target *ret)
{
        double sum = 0, x;
        size_t n = 0, at = SIZE_MAX;

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT) {
                        sum += (double)MIN(s->commands[i].term->tree_size, PLACES_MOST);
                        n++;
                }
        if (skip >= n)
                return -ENOENT;
        x = skip == 0 ? random_uniform(generator_random(g)) * sum : 0;
        for (size_t i = 0; skip == 0 && i < s->n_commands && x >= 0; i++) {
                if (s->commands[i].kind != COMMAND_ASSERT)
                        continue;
                x -= (double)MIN(s->commands[i].term->tree_size, PLACES_MOST);
                *first = i;
        }
        at = *first;
        while (skip > 0) {
                at = (at + 1) % s->n_commands;
                skip -= s->commands[at].kind == COMMAND_ASSERT;
        }
        *ret = (struct target){.command = at};
        return term_places(s->commands[at].term, PLACES_MOST, &ret->places);
}

static const struct term *here(const struct target *t, size_t at)
{
        return t->places.list[at].term;
}

/* -ENOENT: the change took the assertion out of the logic, as (* x y) would in QF_LIA. One that was outside before may be anything. */
static int keep_logic(const struct script *s, const struct term *before, const struct term *now)
{
        const struct logic logic = logic_of(s->logic ? s->logic->name.data : NULL);
        int r = logic_allows(&logic, now);

        if (r == 0 && logic_allows(&logic, before) == 1)
                return -ENOENT;
        return r < 0 ? r : 0;
}

/* The script with another term in one place. -ENOENT when that changes nothing or does not fit. */
static int put(const struct script *s, const struct target *t, size_t at, const struct term *with, struct script **ret)
{
        const struct term *root = with ? term_replace_at(s->bank, &t->places, at, with) : NULL;
        int r;

        if (!root || root == here(t, 0))
                return bank_error(s->bank) == -ENOMEM ? -ENOMEM : -ENOENT;
        r = keep_logic(s, s->commands[t->command].term, root);
        if (r == 0)
                r = script_clone(s, ret);
        if (r == 0)
                (*ret)->commands[t->command].term = root;
        return r;
}

/* The script's constants and the variables bound around a place. */
static int vocabulary_at(const struct script *s, const struct target *t, size_t at, struct vocabulary *ret)
{
        cleanup(term_list_done) struct term_list bound = {0};
        int r = vocabulary_of(s, ret);

        if (r == 0)
                r = term_variables_at(&t->places, at, &bound);
        for (size_t i = 0; r == 0 && i < bound.n; i++)
                vocabulary_add(ret, bound.list[i]);
        return r;
}

/* -- operators -- */

/* Regular expressions stay constant: the argument of str.to_re, or an end of a range. */
static bool is_frozen(const struct target *t, size_t at)
{
        const struct term_place *p = &t->places.list[at];
        const struct term *parent = t->places.list[p->parent].term;

        return at != 0 && (term_is(parent, OP_RE_FROM_STR) || term_is(parent, OP_RE_RANGE));
}

/* A good place, each as likely as the others; SIZE_MAX: there is none. */
static size_t choose_place(struct generator *g, const struct target *t,
                           bool (*is_good)(const struct target *t, size_t at, const void *user), const void *user)
{
        size_t at = SIZE_MAX, n = 0;

        for (size_t i = 0; i < t->places.n; i++)
                if (is_good(t, i, user) && random_below(generator_random(g), ++n) == 0)
                        at = i;
        return at;
}

static bool is_replaceable(const struct target *t, size_t at, const void *user)
{
        const enum op *action = user;
        enum place_sort result = operator_row(*action)->result;
        const struct term *x = here(t, at);

        return x->kind == TERM_OPERATOR && x->op != *action && place_can_hold(result, x->sort) &&
               !(result == PLACE_SAME && x->sort->kind == SORT_REGLAN) && !is_frozen(t, at);
}

/* -ENOENT: also where the arguments that were generated do not fit. */
static int replace_operator(struct generator *g, const struct script *s, const struct target *t, enum op action,
                            struct script **ret)
{
        cleanup_vocabulary struct vocabulary v = {0};
        size_t at = choose_place(g, t, is_replaceable, &action);
        int r = at == SIZE_MAX ? -ENOENT : vocabulary_at(s, t, at, &v);

        if (r < 0)
                return r;
        return put(s, t, at, generate_application(g, &v, action, here(t, at)->sort, here(t, at)->args, here(t, at)->n_args, 1),
                   ret);
}

/* Tries a change in one assertion after the other, beginning with one that is drawn. -ENOENT: it fits into none. */
static int change_one(struct generator *g, const struct script *s,
                      int (*change)(struct generator *g, const struct script *s, const struct target *t, enum op action, struct script **ret),
                      enum op action, struct script **ret)
{
        size_t first = 0;
        int r = -ENOENT;

        for (size_t skip = 0; r == -ENOENT; skip++) {
                cleanup(target_done) struct target t = {0};
                int k = target_choose(g, s, skip, &first, &t);

                if (k < 0)
                        return k;
                for (int tries = 0; r == -ENOENT && tries < 4; tries++)
                        r = change(g, s, &t, action, ret);
        }
        return r;
}

int mutate_operator(struct generator *g, const struct script *s, enum op action, struct script **ret)
{
        return change_one(g, s, replace_operator, action, ret);
}

size_t mutate_actions(struct generator *g, const struct script *s, enum op *ret)
{
        cleanup_vocabulary struct vocabulary v = {0};
        bool seen[N_OPS] = {false};
        size_t n = 0;

        if (vocabulary_of(s, &v) < 0)
                return 0;
        for (int round = 0; round < 4; round++) {
                static const enum sort_kind kinds[] = {SORT_BOOL, SORT_INT, SORT_REAL, SORT_STRING, SORT_REGLAN};

                for (size_t i = 0; i < ARRAY_SIZE(kinds) + v.constants.n; i++) {
                        const struct sort *sort = i < ARRAY_SIZE(kinds) ? sort_simple(s->bank, kinds[i])
                                                                        : v.constants.list[i - ARRAY_SIZE(kinds)]->sort;
                        enum op ops[N_OPS];
                        size_t k;

                        if (!(v.sorts & 1u << sort->kind))
                                continue;
                        k = generator_operators(g, sort, ops);
                        for (size_t j = 0; j < k; j++) {
                                if (!seen[ops[j]] && operator_n_args(ops[j]) > 0 &&
                                    generate_application(g, &v, ops[j], sort, NULL, 0, 0)) {
                                        seen[ops[j]] = true;
                                        ret[n++] = ops[j];
                                }
                        }
                }
        }
        return n;
}

/* -- literals -- */

static bool is_value(const struct term *t)
{
        int64_t n;

        return t->kind == TERM_LITERAL || (term_is(t, OP_NEGATE) && term_to_int(t, &n));
}

struct words { /* what a transformer does to literals */
        struct generator *g;
        enum transform kind;
        unsigned factor;
        uint32_t from[64], to[64]; /* an alphabet and its translation */
};

static const struct term *reversed(struct bank *b, uint32_t *text, size_t n)
{
        for (size_t i = 0; i < n / 2; i++) {
                uint32_t c = text[i];

                text[i] = text[n - 1 - i];
                text[n - 1 - i] = c;
        }
        return term_string_of(b, text, n);
}

static const struct term *repeated(struct bank *b, const uint32_t *text, size_t n, unsigned factor)
{
        cleanup_free uint32_t *more = allocate(n * factor, sizeof(*more));

        for (size_t i = 0; i < n * factor; i++)
                more[i] = text[i / factor];
        return term_string_of(b, more, n * factor);
}

/* A character inserted, removed or changed. */
static const struct term *edited(struct words *w, struct bank *b, const uint32_t *text, size_t n)
{
        struct random *random = generator_random(w->g);
        cleanup_free uint32_t *other = allocate(n + 1, sizeof(*other));
        size_t at = random_below(random, n + 1);
        uint32_t c = (uint32_t)(' ' + random_below(random, 95));

        memcpy(other, text, n * sizeof(*text));
        switch (n == 0 ? 0 : random_below(random, 3)) {
        case 0:
                memmove(other + at + 1, other + at, (n - at) * sizeof(*text));
                other[at] = c;
                return term_string_of(b, other, n + 1);
        case 1:
                at = MIN(at, n - 1);
                memmove(other + at, other + at + 1, (n - 1 - at) * sizeof(*text));
                return term_string_of(b, other, n - 1);
        default:
                other[MIN(at, n - 1)] = c;
                return term_string_of(b, other, n);
        }
}

static const struct term *other_word(struct words *w, struct bank *b, const struct term *t)
{
        cleanup_free uint32_t *text = NULL;
        size_t n;

        if (term_to_string(t, &text, &n) < 0)
                return NULL;
        switch ((int)w->kind) {
        case TRANSFORM_MULTIPLY:
                return repeated(b, text, n, w->factor);
        case TRANSFORM_REVERSE:
                return reversed(b, text, n);
        case TRANSFORM_TRANSLATE:
                for (size_t i = 0; i < n; i++)
                        for (size_t k = 0; k < ARRAY_SIZE(w->from) && w->from[k] != 0; k++)
                                if (text[i] == w->from[k]) {
                                        text[i] = w->to[k];
                                        break;
                                }
                return term_string_of(b, text, n);
        case TRANSFORM_UNPRINTABLE:
                for (size_t i = 0; i < n; i++)
                        if (random_below(generator_random(w->g), 4) == 0)
                                text[i] = (uint32_t)random_below(generator_random(w->g), 32);
                return term_string_of(b, text, n);
        case TRANSFORM_FUZZ:
                return random_below(generator_random(w->g), 3) == 0 ? edited(w, b, text, n) : t;
        default:
                return t;
        }
}

static const struct term *other_number(struct words *w, struct bank *b, const struct term *t)
{
        int64_t n;

        if (!term_to_int(t, &n) || n > INT64_MAX / 64 || n < INT64_MIN / 64)
                return t;
        if (w->kind == TRANSFORM_MULTIPLY)
                n *= w->factor;
        else if (w->kind == TRANSFORM_FUZZ && random_below(generator_random(w->g), 3) == 0)
                n += (int64_t)random_below(generator_random(w->g), 11) - 5;
        return t->sort->kind == SORT_INT ? term_int(b, n) : term_real(b, n);
}

/* Another operator of the same signature, now and then. */
static const struct term *other_operator(struct words *w, struct bank *b, const struct term *t)
{
        const struct term *with;
        enum op ops[N_OPS];
        size_t n;

        if (t->n_args == 0 || t->n_args > OTHERS_MOST || term_n_index(t) > 0 ||
            random_below(generator_random(w->g), 8) != 0)
                return t;
        n = operators_of(b, t->args, t->n_args, t->sort, ops);
        if (n == 0)
                return t;
        with = term_op(b, ops[random_below(generator_random(w->g), n)], t->args, t->n_args);
        return with ? with : t;
}

static const struct term *backwards(struct bank *b, const struct term *t)
{
        cleanup_free const struct term **args = NULL;

        switch ((int)t->op) {
        case OP_STR_PREFIXOF:
                return term_op(b, OP_STR_SUFFIXOF, t->args, t->n_args);
        case OP_STR_SUFFIXOF:
                return term_op(b, OP_STR_PREFIXOF, t->args, t->n_args);
        case OP_STR_CONCAT:
        case OP_RE_CONCAT:
                args = allocate(t->n_args, sizeof(*args));
                for (uint32_t i = 0; i < t->n_args; i++)
                        args[i] = t->args[t->n_args - 1 - i];
                return term_op(b, t->op, args, t->n_args);
        default:
                return t;
        }
}

static const struct term *transform_literal(void *user, struct bank *b, const struct term *t)
{
        struct words *w = user;

        if (t->kind == TERM_LITERAL && t->sort->kind == SORT_STRING)
                return other_word(w, b, t);
        if (t->kind == TERM_LITERAL && sort_is_number(t->sort) && (w->kind == TRANSFORM_MULTIPLY || w->kind == TRANSFORM_FUZZ))
                return other_number(w, b, t);
        if (t->kind == TERM_OPERATOR && w->kind == TRANSFORM_REVERSE)
                return backwards(b, t);
        if (t->kind == TERM_OPERATOR && w->kind == TRANSFORM_FUZZ)
                return other_operator(w, b, t);
        return t;
}

static bool has_ranges(const struct term *t)
{
        cleanup(term_list_done) struct term_list all = {0};

        if (term_subterms(&t, 1, &all) < 0)
                return true;
        for (size_t i = 0; i < all.n; i++)
                if (term_is(all.list[i], OP_RE_RANGE))
                        return true;
        return false;
}

static void choose_translation(struct words *w)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        uint32_t order[sizeof(letters) - 1];

        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                w->from[i] = order[i] = (uint32_t)letters[i];
        random_shuffle(generator_random(w->g), order, ARRAY_SIZE(order));
        memcpy(w->to, order, sizeof(order));
}

/* Every literal of every assertion. */
static int transform_all(struct generator *g, const struct script *s, enum transform kind, struct script **ret)
{
        struct words w = {.g = g, .kind = kind, .factor = 2 + (unsigned)random_below(generator_random(g), 4)};
        cleanup_script struct script *with = NULL;
        bool changed = false;
        int r = script_clone(s, &with);

        if (r < 0)
                return r;
        choose_translation(&w);
        for (size_t i = 0; i < with->n_commands; i++) {
                struct command *c = &with->commands[i];
                const struct term *t;

                /* A range takes single characters: a longer or another word would break it. */
                if (c->kind != COMMAND_ASSERT || has_ranges(c->term))
                        continue;
                t = term_rewrite(s->bank, c->term, transform_literal, &w);
                if (!t)
                        return bank_error(s->bank) == -ENOMEM ? -ENOMEM : -ENOENT;
                r = t == c->term ? 0 : keep_logic(s, c->term, t);
                if (r < 0)
                        return r;
                changed |= t != c->term;
                c->term = t;
        }
        if (!changed)
                return -ENOENT;
        *ret = steal_pointer(with);
        return 0;
}

/* -- one place -- */

static bool is_within(const struct target *t, size_t at, size_t around)
{
        while (at != around && at != 0)
                at = t->places.list[at].parent;
        return at == around;
}

static bool is_graftable(const struct target *t, size_t at, const void *user)
{
        const struct term *x = here(t, at);

        return at != 0 && !is_value(x) && !x->is_open && !is_frozen(t, at) && x->sort->kind != SORT_BOOL &&
               x->sort->kind != SORT_REGLAN;
}

/* A subterm becomes a literal. */
static int graft(struct generator *g, const struct script *s, const struct target *t, enum op action, struct script **ret)
{
        cleanup_vocabulary struct vocabulary v = {.bank = s->bank};
        size_t at = choose_place(g, t, is_graftable, NULL);

        if (at == SIZE_MAX)
                return -ENOENT;
        return put(s, t, at, generate_term(g, &v, here(t, at)->sort, 0), ret);
}

static bool is_swappable(const struct target *t, size_t at, const void *user)
{
        const size_t *one = user;
        const struct term *x = here(t, at);

        if (at == 0 || x->is_open || is_frozen(t, at) || x->kind == TERM_ANNOTATED ||
            term_is_quantifier(here(t, t->places.list[at].parent)))
                return false;
        return !one ||
               (x->sort == here(t, *one)->sort && x != here(t, *one) && !is_within(t, at, *one) && !is_within(t, *one, at));
}

static int swap(struct generator *g, const struct script *s, const struct target *t, enum op action, struct script **ret)
{
        cleanup(term_places_done) struct term_places again = {0};
        size_t one = choose_place(g, t, is_swappable, NULL), other;
        const struct term *half;
        int r;

        if (one == SIZE_MAX)
                return -ENOENT;
        other = choose_place(g, t, is_swappable, &one);
        if (other == SIZE_MAX || !t->places.is_whole)
                return -ENOENT;
        /* Neither is within the other: so `one`, which comes before `other`, keeps its number when `other` is replaced. */
        if (one > other) {
                size_t x = one;

                one = other;
                other = x;
        }
        half = term_replace_at(s->bank, &t->places, other, here(t, one));
        if (!half)
                return -ENOENT;
        r = term_places(half, PLACES_MOST * 2, &again);
        if (r < 0)
                return r;
        if (one >= again.n || again.list[one].term != here(t, one))
                return -ENOENT;
        return put(s, &(struct target){.command = t->command, .places = again}, one, here(t, other), ret);
}

static bool is_rotatable(const struct target *t, size_t at, const void *user)
{
        const struct term *x = here(t, at);

        if (x->kind != TERM_OPERATOR || x->n_args < 2 || is_frozen(t, at) || term_is(x, OP_RE_RANGE))
                return false;
        for (uint32_t i = 1; i < x->n_args; i++)
                if (x->args[i]->sort == x->args[0]->sort && x->args[i] != x->args[0])
                        return true;
        return false;
}

static int rotate(struct generator *g, const struct script *s, const struct target *t, enum op action, struct script **ret)
{
        size_t at = choose_place(g, t, is_rotatable, NULL);
        cleanup_free const struct term **args = NULL;
        const struct term *x, *first;
        uint32_t last = 0;

        if (at == SIZE_MAX)
                return -ENOENT;
        x = here(t, at);
        args = allocate(x->n_args, sizeof(*args));
        first = x->args[0];
        for (uint32_t i = 0; i < x->n_args; i++) {
                args[i] = x->args[i];
                if (i > 0 && args[i]->sort == first->sort) {
                        args[last] = x->args[i];
                        last = i;
                }
        }
        args[last] = first;
        return put(s, t, at, term_with_args(s->bank, x, args), ret);
}

int mutate_transform(struct generator *g, const struct script *s, enum transform kind, struct script **ret)
{
        switch ((int)kind) {
        case TRANSFORM_GRAFT:
                return change_one(g, s, graft, OP_NONE, ret);
        case TRANSFORM_ROTATE:
                return change_one(g, s, rotate, OP_NONE, ret);
        case TRANSFORM_SWAP:
                return change_one(g, s, swap, OP_NONE, ret);
        default:
                return transform_all(g, s, kind, ret);
        }
}
