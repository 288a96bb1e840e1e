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
        term_places(s->commands[at].term, PLACES_MOST, &ret->places);
        return 0;
}

static const struct term *here(const struct target *t, size_t at)
{
        return t->places.list[at].term;
}

/* -ENOENT: the change took the assertion out of the logic, as (* x y) would in QF_LIA. One that was outside before may be anything. */
static int keep_logic(const struct script *s, const struct term *before, const struct term *now)
{
        const struct logic logic = logic_of(s->logic ? s->logic->name.data : NULL);

        return !logic_allows(&logic, now) && logic_allows(&logic, before) ? -ENOENT : 0;
}

/* The script with another term in one place. -ENOENT when that changes nothing or does not fit. */
static int put(const struct script *s, const struct target *t, size_t at, const struct term *with, struct script **ret)
{
        const struct term *root = with ? term_replace_at(s->bank, &t->places, at, with) : NULL;
        int r;

        if (!root || root == here(t, 0))
                return -ENOENT;
        r = keep_logic(s, s->commands[t->command].term, root);
        if (r < 0)
                return r;
        script_clone(s, ret);
        (*ret)->commands[t->command].term = root;
        return 0;
}

/* The script's constants and the variables bound around a place. */
static int vocabulary_at(const struct script *s, const struct target *t, size_t at, struct vocabulary *ret)
{
        cleanup(term_list_done) struct term_list bound = {0};
        int r = vocabulary_of(s, ret);

        term_variables_at(&t->places, at, &bound);
        for (size_t i = 0; r == 0 && i < bound.n; i++)
                vocabulary_add(ret, bound.list[i]);
        return r;
}

/* -- operators -- */

/* Regular expressions and arrays of one value stay constant: the argument of str.to_re, an end of a range, an element. */
static bool is_frozen(const struct target *t, size_t at)
{
        const struct term_place *p = &t->places.list[at];
        const struct term *parent = t->places.list[p->parent].term;

        return at != 0 && (term_is(parent, OP_RE_FROM_STR) || term_is(parent, OP_RE_RANGE) || term_is(parent, OP_ARRAY_CONST));
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
                static const enum sort_kind kinds[] = {SORT_BOOL, SORT_INT, SORT_REAL, SORT_STRING, SORT_REGLAN, SORT_ROUNDING_MODE};

                for (size_t i = 0; i < ARRAY_SIZE(kinds) + v.constants.n; i++) {
                        const struct sort *sort = i < ARRAY_SIZE(kinds) ? sort_simple(s->bank, kinds[i])
                                                                        : v.constants.list[i - ARRAY_SIZE(kinds)]->sort;
                        enum op ops[N_OPS];
                        size_t k;

                        if (!(v.sorts & 1u << sort->kind))
                                continue;
                        k = generator_operators(g, &v, sort, ops);
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

        return t->kind == TERM_LITERAL || (term_is(t, OP_NEGATE) && term_to_int(t, &n)) || (t->kind == TERM_OPERATOR && t->n_args == 0) ||
               (term_is(t, OP_FP) && t->args[0]->kind == TERM_LITERAL && t->args[1]->kind == TERM_LITERAL && t->args[2]->kind == TERM_LITERAL);
}

struct words { /* what a transformer does to literals */
        struct bank *bank;
        struct generator *g;
        enum transform kind;
        unsigned factor;
        uint32_t from[64], to[64]; /* an alphabet and its translation */
};

static uint32_t translated(const struct words *w, uint32_t character)
{
        for (size_t k = 0; k < ARRAY_SIZE(w->from) && w->from[k] != 0; k++)
                if (character == w->from[k])
                        return w->to[k];
        return character;
}

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
                        text[i] = translated(w, text[i]);
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
        if (t->sort->kind == SORT_REAL) /* what is converted to a float has no minus in logics without reals */
                return term_real(b, n < 0 ? -n : n);
        return term_int(b, n);
}

static const struct term *other_bits(struct words *w, struct bank *b, const struct term *t)
{
        const uint32_t width = t->sort->index[0];
        uint64_t bits, backwards = 0;

        if (!term_to_bitvec(t, &bits) || width > 64)
                return t;
        switch ((int)w->kind) {
        case TRANSFORM_MULTIPLY:
                return term_bitvec(b, bits * w->factor, width);
        case TRANSFORM_REVERSE:
                for (uint32_t i = 0; i < width; i++)
                        backwards |= (bits >> i & 1) << (width - 1 - i);
                return term_bitvec(b, backwards, width);
        case TRANSFORM_FUZZ:
                return random_below(generator_random(w->g), 3) == 0
                               ? term_bitvec(b, bits ^ UINT64_C(1) << random_below(generator_random(w->g), width), width)
                               : t;
        default:
                return t;
        }
}

static const struct term *range_of(struct bank *b, uint32_t low, uint32_t high)
{
        return term_op2(b, OP_RE_RANGE, term_string_of(b, &low, 1), term_string_of(b, &high, 1));
}

/* Letters and digits of a range are mapped one by one; between them it stays. */
static const struct term *translated_range(const struct words *w, uint32_t low, uint32_t high)
{
        const struct term *parts[2 * ARRAY_SIZE(w->from)];
        size_t n = 0;

        for (uint32_t next = low, end; next <= high; next = end + 1) {
                uint32_t c = translated(w, next);

                for (end = next; c == next && end < high && end < 'z' && translated(w, end + 1) == end + 1;)
                        end++;
                if (c == next && end >= 'z')
                        end = high;
                parts[n++] = range_of(w->bank, c, c + (end - next));
        }
        return n == 1 ? parts[0] : term_op(w->bank, OP_RE_UNION, parts, n);
}

/* The ends of a range are single characters, the lower first; so a transformer of words does not see them. */
static const struct term *other_range(struct words *w, const struct term *t)
{
        struct random *random = generator_random(w->g);
        uint32_t ends[2];

        for (size_t i = 0; i < 2; i++) {
                cleanup_free uint32_t *text = NULL;
                size_t n = 0;

                if (term_to_string(t->args[i], &text, &n) < 0 || n != 1)
                        return t;
                ends[i] = text[0];
        }
        if (ends[0] > ends[1])
                return t;
        if (w->kind == TRANSFORM_TRANSLATE)
                return translated_range(w, ends[0], ends[1]);
        if (w->kind != TRANSFORM_FUZZ || random_below(random, 3) != 0)
                return t;
        ends[random_below(random, 2)] = (uint32_t)(' ' + random_below(random, 95));
        return range_of(w->bank, MIN(ends[0], ends[1]), MAX(ends[0], ends[1]));
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
        case OP_BV_CONCAT:
                args = allocate(t->n_args, sizeof(*args));
                for (uint32_t i = 0; i < t->n_args; i++)
                        args[i] = t->args[t->n_args - 1 - i];
                return term_op(b, t->op, args, t->n_args);
        default:
                return t;
        }
}

static const struct term *transform_literal(struct words *w, struct bank *b, const struct term *t)
{
        if (t->kind == TERM_LITERAL && t->sort->kind == SORT_STRING)
                return other_word(w, b, t);
        if (t->kind == TERM_LITERAL && sort_is_number(t->sort) && (w->kind == TRANSFORM_MULTIPLY || w->kind == TRANSFORM_FUZZ))
                return other_number(w, b, t);
        if (t->kind == TERM_LITERAL && t->sort->kind == SORT_BITVEC)
                return other_bits(w, b, t);
        if (t->kind == TERM_OPERATOR && w->kind == TRANSFORM_REVERSE)
                return backwards(b, t);
        if (t->kind == TERM_OPERATOR && w->kind == TRANSFORM_FUZZ)
                return other_operator(w, b, t);
        return t;
}

static const struct term *transform_term(void *user, const struct term *t, const struct term **args)
{
        struct words *w = user;
        const struct term *with = term_with_args(w->bank, t, args);

        if (term_is(t, OP_RE_RANGE))
                return other_range(w, t);
        return with ? transform_literal(w, w->bank, with) : NULL;
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
        struct words w = {.bank = s->bank, .g = g, .kind = kind, .factor = 2 + (unsigned)random_below(generator_random(g), 4)};
        cleanup_script struct script *with = NULL;
        bool changed = false;
        int r;

        script_clone(s, &with);
        choose_translation(&w);
        for (size_t i = 0; i < with->n_commands; i++) {
                struct command *c = &with->commands[i];
                const struct term *t;

                if (c->kind != COMMAND_ASSERT)
                        continue;
                t = term_rebuild(s->bank, c->term, transform_term, &w);
                if (!t)
                        return -ENOENT;
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

static bool is_graft(const struct target *t, size_t at, const void *user)
{
        const size_t *one = user;
        const struct term *x = here(t, at);

        return at != 0 && is_value(x) && x->sort == here(t, *one)->sort && !is_frozen(t, at) && !is_within(t, at, *one) &&
               !is_value(here(t, t->places.list[at].parent));
}

/* Two places, neither within the other, get each other's terms. */
static int exchange(const struct script *s, const struct target *t, size_t one, size_t other, struct script **ret)
{
        cleanup(term_places_done) struct term_places again = {0};
        const struct term *half;

        if (one == SIZE_MAX || other == SIZE_MAX || !t->places.is_whole)
                return -ENOENT;
        /* `one`, which comes before `other`, keeps its number when `other` is replaced. */
        if (one > other) {
                size_t x = one;

                one = other;
                other = x;
        }
        half = term_replace_at(s->bank, &t->places, other, here(t, one));
        if (!half)
                return -ENOENT;
        term_places(half, PLACES_MOST * 2, &again);
        if (one >= again.n || again.list[one].term != here(t, one))
                return -ENOENT;
        return put(s, &(struct target){.command = t->command, .places = again}, one, here(t, other), ret);
}

static int graft(struct generator *g, const struct script *s, const struct target *t, enum op action, struct script **ret)
{
        size_t one = choose_place(g, t, is_graftable, NULL);

        return exchange(s, t, one, one == SIZE_MAX ? one : choose_place(g, t, is_graft, &one), ret);
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
        size_t one = choose_place(g, t, is_swappable, NULL);

        return exchange(s, t, one, one == SIZE_MAX ? one : choose_place(g, t, is_swappable, &one), ret);
}

/* The first sort that two of the first arguments have, which differ. */
static const struct sort *rotating_sort(const struct term *x)
{
        uint32_t n = MIN(x->n_args, (uint32_t)OTHERS_MOST);

        for (uint32_t i = 0; i < n; i++)
                for (uint32_t k = i + 1; k < n; k++)
                        if (x->args[i]->sort == x->args[k]->sort && x->args[i] != x->args[k])
                                return x->args[i]->sort;
        return NULL;
}

static bool is_rotatable(const struct target *t, size_t at, const void *user)
{
        const struct term *x = here(t, at);

        return (x->kind == TERM_OPERATOR || x->kind == TERM_FUNCTION) && !is_frozen(t, at) && !term_is(x, OP_RE_RANGE) && rotating_sort(x);
}

static int rotate(struct generator *g, const struct script *s, const struct target *t, enum op action, struct script **ret)
{
        size_t at = choose_place(g, t, is_rotatable, NULL);
        cleanup_free const struct term **args = NULL;
        const struct term *x, *first = NULL;
        uint32_t last = 0;

        if (at == SIZE_MAX)
                return -ENOENT;
        x = here(t, at);
        args = allocate(x->n_args, sizeof(*args));
        for (uint32_t i = 0; i < x->n_args; i++) {
                args[i] = x->args[i];
                if (args[i]->sort != rotating_sort(x))
                        continue;
                if (first)
                        args[last] = x->args[i];
                else
                        first = x->args[i];
                last = i;
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
