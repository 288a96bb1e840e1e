/* A mutant has another term at one place of an assertion (change_one(), script_with()), or other literals everywhere (transform_all()). A mutant that
 * leaves its logic, loses a name of a term or is equal to its script is not made. */
#include "core/fuzz/generate.h"

#include "core/smtlib/logic.h"

#define PLACES_MOST 20000 /* of an assertion; later ones are not mutated */
#define OTHERS_MOST 8     /* limit on the arguments of a term that gets another operator */

/* -- places -- */

struct target { /* one of the script's assertions */
        size_t command;
        struct term_places places;
};

/* Lists the places of an assertion: skip 0 draws one by its size, *first; else of the `skip`-th after that. False if there are no more. */
static bool target_choose(struct generator *g, const struct script *s, size_t skip, size_t *first, struct target *ret)
{
        double sum = 0, x;
        size_t n = 0, at = SIZE_MAX;

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT) {
                        sum += (double)MIN(s->commands[i].term->tree_size, PLACES_MOST);
                        n++;
                }
        if (skip >= n)
                return false;
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
        return true;
}

static const struct term *here(const struct target *t, size_t at)
{
        return t->places.list[at].term;
}

/* False if the change took the assertion out of the logic, as (* x y) would in QF_LIA. An assertion that was outside before may be anything. */
static bool keeps_logic(const struct script *s, const struct term *before, const struct term *now)
{
        const struct logic logic = logic_of(s->logic ? s->logic->name.data : NULL);

        return logic_allows(&logic, now) || !logic_allows(&logic, before);
}

/* The mutant's answer may be another than its seed states. */
static struct script *without_status(struct script *s)
{
        for (size_t i = s->n_commands; i-- > 0;)
                if (command_is_status(&s->commands[i]))
                        script_remove(s, i);
        return s;
}

static const struct symbol *name_of(const struct term *t)
{
        return term_is_named(t) ? t->value : NULL;
}

/* True if all names of terms are still there, each once: other assertions may use them. */
static bool keeps_names(const struct term *before, const struct term *now)
{
        cleanup_term_list struct term_list old = {0}, new = {0};
        cleanup_term_map struct term_map seen = {0}; /* names now */

        if (!before->has_name)
                return true;
        term_subterms(&before, 1, &old);
        term_subterms(&now, 1, &new);
        for (size_t i = 0; i < new.n; i++) {
                const struct symbol *name = name_of(new.list[i]);

                if (name && id_map_get(&seen, name->id) == 1)
                        return false;
                if (name)
                        id_map_set(&seen, name->id, 1);
        }
        for (size_t i = 0; i < old.n; i++)
                if (name_of(old.list[i]) && id_map_get(&seen, name_of(old.list[i])->id) == 0)
                        return false;
        return true;
}

/* The script with another term in one place. NULL if that changes nothing or does not fit. */
static struct script *script_with(const struct script *s, const struct target *t, size_t at, const struct term *with)
{
        const struct term *before = s->commands[t->command].term, *root = with ? term_replace_at(s->bank, &t->places, at, with) : NULL;
        struct script *changed;

        if (!root || root == here(t, 0) || !keeps_logic(s, before, root) || !keeps_names(before, root))
                return NULL;
        script_clone(s, &changed);
        changed->commands[t->command].term = root;
        return without_status(changed);
}

/* -- operators -- */

/* True where a term must stay constant, in regular expressions and constant arrays: the argument of str.to_re, an end of a range, an element. */
static bool is_frozen(const struct target *t, size_t at)
{
        const struct term_place *p = &t->places.list[at];
        const struct term *parent = t->places.list[p->parent].term;

        return at != 0 && (term_is(parent, OP_RE_FROM_STR) || term_is(parent, OP_RE_RANGE) || term_is(parent, OP_ARRAY_CONST));
}

/* Draws a good place uniformly; SIZE_MAX if there is none. */
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

/* Uses the constants declared there and the variables bound around the place. NULL also if the generated arguments do not fit. */
static struct script *replace_operator(struct generator *g, const struct script *s, const struct target *t, enum op action)
{
        cleanup_vocabulary struct vocabulary v = {0};
        cleanup_term_list struct term_list bound = {0};
        size_t at = choose_place(g, t, is_replaceable, &action);

        if (at == SIZE_MAX)
                return NULL;
        v = vocabulary_at(s, t->command);
        term_variables_at(&t->places, at, &bound);
        for (size_t i = 0; i < bound.n; i++)
                vocabulary_add(&v, bound.list[i]);
        return script_with(s, t, at, generate_application(g, &v, action, here(t, at)->sort, here(t, at)->args, here(t, at)->n_args, 1));
}

/* Tries a change in one assertion after the other, from a random one on. -ENOENT if none allows it. */
static int change_one(struct generator *g, const struct script *s,
                      struct script *(*change)(struct generator *g, const struct script *s, const struct target *t, enum op action), enum op action,
                      struct script **ret)
{
        size_t first = 0;
        bool has_more = true;

        *ret = NULL;
        for (size_t skip = 0; !*ret && has_more; skip++) {
                struct target t = {0};

                has_more = target_choose(g, s, skip, &first, &t);
                for (int tries = 0; has_more && !*ret && tries < 4; tries++)
                        *ret = change(g, s, &t, action);
                term_places_done(&t.places);
        }
        return *ret ? 0 : -ENOENT;
}

int mutate_operator(struct generator *g, const struct script *s, enum op action, struct script **ret)
{
        return change_one(g, s, replace_operator, action, ret);
}

size_t mutate_actions(struct generator *g, const struct script *s, enum op *ret)
{
        static const enum sort_kind kinds[] = {SORT_BOOL, SORT_INT, SORT_REAL, SORT_STRING, SORT_REGLAN, SORT_ROUNDING_MODE};
        cleanup_vocabulary struct vocabulary v = {0};
        bool seen[N_OPS] = {false};
        size_t n = 0, last = s->n_commands;

        while (last > 0 && s->commands[last - 1].kind != COMMAND_ASSERT)
                last--;
        v = vocabulary_at(s, last);
        for (int round = 0; round < 4; round++) { /* an application may fail by what is drawn in it */
                for (size_t i = 0; i < ARRAY_SIZE(kinds) + v.constants.n; i++) {
                        const struct sort *sort = i < ARRAY_SIZE(kinds) ? sort_simple(s->bank, kinds[i])
                                                                        : v.constants.list[i - ARRAY_SIZE(kinds)]->sort;
                        enum op ops[N_OPS];
                        size_t k;

                        if (!(v.sorts & 1u << sort->kind))
                                continue;
                        k = generator_operators(g, &v, sort, ops);
                        for (size_t j = 0; j < k; j++)
                                if (!seen[ops[j]] && operator_n_args(ops[j]) > 0 && generate_application(g, &v, ops[j], sort, NULL, 0, 0)) {
                                        seen[ops[j]] = true;
                                        ret[n++] = ops[j];
                                }
                }
        }
        return n;
}

/* -- literals -- */

/* True for a literal, also one that is written with operators: (- 5), RNE, (fp …). */
static bool is_value(const struct term *t)
{
        int64_t n;

        return t->kind == TERM_LITERAL || (term_is(t, OP_NEGATE) && term_to_int(t, &n)) || (t->kind == TERM_OPERATOR && t->n_args == 0) ||
               (term_is(t, OP_FP) && t->args[0]->kind == TERM_LITERAL && t->args[1]->kind == TERM_LITERAL && t->args[2]->kind == TERM_LITERAL);
}

struct transformer { /* a transformer of literals */
        struct bank *bank;
        struct random *random;
        enum transform kind;
        enum dialect dialect;
        unsigned factor;           /* of TRANSFORM_MULTIPLY */
        uint32_t from[64], to[64]; /* an alphabet and its translation; 0 after the last */
};

static uint32_t translated(const struct transformer *w, uint32_t character)
{
        for (size_t k = 0; k < ARRAY_SIZE(w->from) && w->from[k] != 0; k++)
                if (character == w->from[k])
                        return w->to[k];
        return character;
}

static const struct term *reversed(const struct transformer *w, uint32_t *text, size_t n)
{
        for (size_t i = 0; i < n / 2; i++) {
                uint32_t c = text[i];

                text[i] = text[n - 1 - i];
                text[n - 1 - i] = c;
        }
        return term_string_of(w->bank, text, n);
}

static const struct term *repeated(const struct transformer *w, const uint32_t *text, size_t n)
{
        cleanup_free uint32_t *more = allocate(n * w->factor, sizeof(*more));

        for (size_t i = 0; i < n * w->factor; i++)
                more[i] = text[i / w->factor];
        return term_string_of(w->bank, more, n * w->factor);
}

/* Inserts, removes or changes a character. */
static const struct term *edited(struct transformer *w, const uint32_t *text, size_t n)
{
        cleanup_free uint32_t *other = allocate(n + 1, sizeof(*other));
        size_t at = random_below(w->random, n + 1);
        uint32_t c = (uint32_t)(' ' + random_below(w->random, 95));

        memcpy(other, text, n * sizeof(*text));
        switch (n == 0 ? 0 : random_below(w->random, 3)) {
        case 0:
                memmove(other + at + 1, other + at, (n - at) * sizeof(*text));
                other[at] = c;
                return term_string_of(w->bank, other, n + 1);
        case 1:
                at = MIN(at, n - 1);
                memmove(other + at, other + at + 1, (n - 1 - at) * sizeof(*text));
                return term_string_of(w->bank, other, n - 1);
        default:
                other[MIN(at, n - 1)] = c;
                return term_string_of(w->bank, other, n);
        }
}

static const struct term *transform_word(struct transformer *w, const struct term *t)
{
        cleanup_free uint32_t *text = NULL;
        size_t n;

        if (term_to_string(t, &text, &n) < 0)
                return NULL;
        switch ((int)w->kind) {
        case TRANSFORM_MULTIPLY:
                return repeated(w, text, n);
        case TRANSFORM_REVERSE:
                return reversed(w, text, n);
        case TRANSFORM_TRANSLATE:
                for (size_t i = 0; i < n; i++)
                        text[i] = translated(w, text[i]);
                return term_string_of(w->bank, text, n);
        case TRANSFORM_UNPRINTABLE:
                for (size_t i = 0; i < n; i++)
                        if (random_below(w->random, 4) == 0)
                                text[i] = (uint32_t)random_below(w->random, 32);
                return term_string_of(w->bank, text, n);
        case TRANSFORM_FUZZ:
                return random_below(w->random, 3) == 0 ? edited(w, text, n) : t;
        default:
                return t;
        }
}

static const struct term *transform_number(struct transformer *w, const struct term *t)
{
        int64_t n;

        if (!term_to_int(t, &n) || n > INT64_MAX / 64 || n < INT64_MIN / 64)
                return t;
        if (w->kind == TRANSFORM_MULTIPLY)
                n *= w->factor;
        else if (w->kind == TRANSFORM_FUZZ && random_below(w->random, 3) == 0)
                n += (int64_t)random_below(w->random, 11) - 5;
        if (t->sort->kind == SORT_REAL) /* logics without reals have no minus in numbers converted to floats */
                return term_real(w->bank, n < 0 ? -n : n);
        return term_int(w->bank, n);
}

static const struct term *transform_bits(struct transformer *w, const struct term *t)
{
        const uint32_t width = t->sort->index[0];
        uint64_t bits, backwards = 0;

        if (!term_to_bitvec(t, &bits) || width > 64)
                return t;
        switch ((int)w->kind) {
        case TRANSFORM_MULTIPLY:
                return term_bitvec(w->bank, bits * w->factor, width);
        case TRANSFORM_REVERSE:
                for (uint32_t i = 0; i < width; i++)
                        backwards |= (bits >> i & 1) << (width - 1 - i);
                return term_bitvec(w->bank, backwards, width);
        case TRANSFORM_FUZZ:
                return random_below(w->random, 3) == 0
                               ? term_bitvec(w->bank, bits ^ UINT64_C(1) << random_below(w->random, width), width)
                               : t;
        default:
                return t;
        }
}

static const struct term *range_of(const struct transformer *w, uint32_t low, uint32_t high)
{
        return term_op2(w->bank, OP_RE_RANGE, term_string_of(w->bank, &low, 1), term_string_of(w->bank, &high, 1));
}

/* Letters and digits of a range are mapped one by one; the characters between them stay. */
static const struct term *translated_range(const struct transformer *w, uint32_t low, uint32_t high)
{
        const struct term *parts[2 * ARRAY_SIZE(w->from)];
        size_t n = 0;

        for (uint32_t next = low, end; next <= high; next = end + 1) {
                uint32_t c = translated(w, next);

                for (end = next; c == next && end < high && end < 'z' && translated(w, end + 1) == end + 1;)
                        end++;
                if (c == next && end >= 'z')
                        end = high;
                parts[n++] = range_of(w, c, c + (end - next));
        }
        return n == 1 ? parts[0] : term_op(w->bank, OP_RE_UNION, parts, n);
}

/* The ends of a range are single characters, the lower first; other transformers leave them alone. */
static const struct term *transform_range(struct transformer *w, const struct term *t)
{
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
        if (w->kind != TRANSFORM_FUZZ || random_below(w->random, 3) != 0)
                return t;
        ends[random_below(w->random, 2)] = (uint32_t)(' ' + random_below(w->random, 95));
        return range_of(w, MIN(ends[0], ends[1]), MAX(ends[0], ends[1]));
}

/* Sometimes another operator of the same signature. */
static const struct term *fuzz_operator(struct transformer *w, const struct term *t)
{
        const struct term *with;
        enum op ops[N_OPS], op;
        size_t n;

        if (t->n_args == 0 || t->n_args > OTHERS_MOST || term_n_index(t) > 0 || random_below(w->random, 8) != 0)
                return t;
        for (uint32_t i = 0; i < t->n_args; i++)
                if (t->args[i]->sort->has_unknown)
                        return t;
        n = operators_of(w->bank, t->args, t->n_args, t->sort, ops);
        if (n == 0)
                return t;
        op = ops[random_below(w->random, n)];
        with = op_is_newer(op, w->dialect) ? NULL : term_op(w->bank, op, t->args, t->n_args);
        return with ? with : t;
}

static const struct term *backwards(const struct transformer *w, const struct term *t)
{
        cleanup_free const struct term **args = NULL;

        switch ((int)t->op) {
        case OP_STR_PREFIXOF:
                return term_op(w->bank, OP_STR_SUFFIXOF, t->args, t->n_args);
        case OP_STR_SUFFIXOF:
                return term_op(w->bank, OP_STR_PREFIXOF, t->args, t->n_args);
        case OP_STR_CONCAT:
        case OP_RE_CONCAT:
        case OP_BV_CONCAT:
                args = allocate(t->n_args, sizeof(*args));
                for (uint32_t i = 0; i < t->n_args; i++)
                        args[i] = t->args[t->n_args - 1 - i];
                return term_op(w->bank, t->op, args, t->n_args);
        default:
                return t;
        }
}

static const struct term *transform_head(struct transformer *w, const struct term *t)
{
        if (t->kind == TERM_LITERAL && t->sort->kind == SORT_STRING)
                return transform_word(w, t);
        if (t->kind == TERM_LITERAL && sort_is_number(t->sort) && (w->kind == TRANSFORM_MULTIPLY || w->kind == TRANSFORM_FUZZ))
                return transform_number(w, t);
        if (t->kind == TERM_LITERAL && t->sort->kind == SORT_BITVEC)
                return transform_bits(w, t);
        if (t->kind == TERM_OPERATOR && w->kind == TRANSFORM_REVERSE)
                return backwards(w, t);
        if (t->kind == TERM_OPERATOR && w->kind == TRANSFORM_FUZZ)
                return fuzz_operator(w, t);
        return t;
}

static const struct term *transform_term(void *user, const struct term *t, const struct term **args)
{
        struct transformer *w = user;
        const struct term *with = term_with_args(w->bank, t, args);

        if (term_is(t, OP_RE_RANGE))
                return transform_range(w, t);
        return with ? transform_head(w, with) : NULL;
}

static void choose_translation(struct transformer *w)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        uint32_t order[sizeof(letters) - 1];

        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                w->from[i] = order[i] = (uint32_t)letters[i];
        random_shuffle(w->random, order, ARRAY_SIZE(order));
        memcpy(w->to, order, sizeof(order));
}

/* Changes every literal of every assertion, but for those that the logic forbids it in. NULL if nothing changes. */
static struct script *transform_all(struct generator *g, const struct script *s, enum transform kind)
{
        struct transformer w = {.bank = s->bank, .random = generator_random(g), .kind = kind, .dialect = generator_dialect(g),
                          .factor = 2 + (unsigned)random_below(generator_random(g), 4)};
        cleanup_script struct script *with = NULL;
        bool changed = false;

        script_clone(s, &with);
        choose_translation(&w);
        for (size_t i = 0; i < with->n_commands; i++) {
                struct command *c = &with->commands[i];
                const struct term *t = c->kind == COMMAND_ASSERT ? term_rebuild(s->bank, c->term, transform_term, &w) : c->term;

                if (!t || t == c->term || !keeps_logic(s, c->term, t))
                        continue;
                changed = true;
                c->term = t;
        }
        return changed ? without_status(steal_pointer(with)) : NULL;
}

/* -- one place -- */

/* The functions of this section change one place or two. They do not need `action` (change_one()). */

static bool is_within(const struct target *t, size_t at, size_t around)
{
        while (at != around && at != 0)
                at = t->places.list[at].parent;
        return at == around;
}

/* A term that may be exchanged with a literal … */
static bool is_graftable(const struct target *t, size_t at, const void *user)
{
        const struct term *x = here(t, at);

        return at != 0 && !is_value(x) && !x->is_open && !is_frozen(t, at) && x->sort->kind != SORT_BOOL &&
               x->sort->kind != SORT_REGLAN;
}

/* … and a literal of its sort, outside of the term. */
static bool is_graft(const struct target *t, size_t at, const void *user)
{
        const size_t *one = user;
        const struct term *x = here(t, at);

        return at != 0 && is_value(x) && x->sort == here(t, *one)->sort && !is_frozen(t, at) && !is_within(t, at, *one) &&
               !is_value(here(t, t->places.list[at].parent));
}

/* Exchanges the terms of two places, neither within the other. */
static struct script *exchange(const struct script *s, const struct target *t, size_t one, size_t other)
{
        cleanup_term_places struct term_places again = {0};
        size_t first = MIN(one, other), second = MAX(one, other); /* the first keeps its index when the second is replaced */
        const struct term *half = second == SIZE_MAX ? NULL : term_replace_at(s->bank, &t->places, second, here(t, first));

        if (!half)
                return NULL;
        term_places(half, PLACES_MOST * 2, &again);
        if (first >= again.n || again.list[first].term != here(t, first))
                return NULL;
        return script_with(s, &(struct target){.command = t->command, .places = again}, first, here(t, second));
}

static struct script *graft(struct generator *g, const struct script *s, const struct target *t, enum op action)
{
        size_t one = choose_place(g, t, is_graftable, NULL);

        return exchange(s, t, one, one == SIZE_MAX ? one : choose_place(g, t, is_graft, &one));
}

/* `user`: the first of the two places; NULL: it is that one. */
static bool is_swappable(const struct target *t, size_t at, const void *user)
{
        const size_t *one = user;
        const struct term *x = here(t, at);

        if (at == 0 || x->is_open || x->sort->has_unknown || is_frozen(t, at) || x->kind == TERM_ANNOTATED ||
            term_is_quantifier(here(t, t->places.list[at].parent)))
                return false;
        return !one ||
               (x->sort == here(t, *one)->sort && x != here(t, *one) && !is_within(t, at, *one) && !is_within(t, *one, at));
}

static struct script *swap(struct generator *g, const struct script *s, const struct target *t, enum op action)
{
        size_t one = choose_place(g, t, is_swappable, NULL);

        return exchange(s, t, one, one == SIZE_MAX ? one : choose_place(g, t, is_swappable, &one));
}

/* The sort of the first two different arguments with equal sorts, among the first OTHERS_MOST. */
static const struct sort *rotating_sort(const struct term *x)
{
        uint32_t n = MIN(x->n_args, (uint32_t)OTHERS_MOST);

        for (uint32_t i = 0; i < n; i++)
                for (uint32_t k = i + 1; k < n; k++)
                        if (x->args[i]->sort == x->args[k]->sort && x->args[i] != x->args[k] && !x->args[i]->sort->has_unknown)
                                return x->args[i]->sort;
        return NULL;
}

static bool is_rotatable(const struct target *t, size_t at, const void *user)
{
        const struct term *x = here(t, at);

        return (x->kind == TERM_OPERATOR || x->kind == TERM_FUNCTION) && !is_frozen(t, at) && !term_is(x, OP_RE_RANGE) && rotating_sort(x);
}

static struct script *rotate(struct generator *g, const struct script *s, const struct target *t, enum op action)
{
        size_t at = choose_place(g, t, is_rotatable, NULL);
        cleanup_free const struct term **args = NULL;
        const struct term *x, *first = NULL;
        uint32_t last = 0;

        if (at == SIZE_MAX)
                return NULL;
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
        return script_with(s, t, at, term_with_args(s->bank, x, args));
}

int mutate_transform(struct generator *g, const struct script *s, enum transform kind, struct script **ret)
{
        static struct script *(*const changes[N_TRANSFORMS])(struct generator *g, const struct script *s, const struct target *t, enum op action) = {
                [TRANSFORM_GRAFT] = graft, [TRANSFORM_ROTATE] = rotate, [TRANSFORM_SWAP] = swap};

        if (changes[kind])
                return change_one(g, s, changes[kind], OP_NONE, ret);
        *ret = transform_all(g, s, kind);
        return *ret ? 0 : -ENOENT;
}
