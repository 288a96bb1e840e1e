/* A function for each enum template (generate.h) makes its formula. */
#include "core/fuzz/generate.h"

struct making { /* the formula being made */
        struct generator *g;
        struct random *random;
        struct script *script;
        struct bank *bank;
        unsigned size;
};

/* n0 … are integers, all others strings. */
static const struct term *variable(struct making *m, char letter, unsigned n)
{
        return term_constant(m->bank, numbered_constant(m->bank, letter, n, sort_simple(m->bank, letter == 'n' ? SORT_INT : SORT_STRING)));
}

/* A word of so many kinds of characters, from `first` on. */
static const struct term *text(struct making *m, size_t n, char first, unsigned kinds)
{
        cleanup_free uint32_t *characters = allocate(n, sizeof(*characters));

        for (size_t i = 0; i < n; i++)
                characters[i] = (uint32_t)first + (uint32_t)random_below(m->random, kinds);
        return term_string_of(m->bank, characters, n);
}

static const struct term *word(struct making *m, size_t n)
{
        return text(m, n, 'a', 4);
}

static const struct term *concat(struct making *m, const struct term *x, const struct term *y)
{
        return term_op2(m->bank, OP_STR_CONCAT, x, y);
}

static const struct term *equal(struct making *m, const struct term *x, const struct term *y)
{
        return term_op2(m->bank, OP_EQUAL, x, y);
}

static void assert_term(struct making *m, const struct term *t)
{
        script_add_assert(m->script, t);
}

/* A balanced tree of that depth, or a list of that length, equal to a word; and some of its characters. */
static void concats(struct making *m)
{
        bool is_balanced = random_below(m->random, 2) == 0;
        unsigned n = is_balanced ? 1u << MIN(m->size, 10u) : m->size + 1;
        cleanup_free const struct term **row = allocate(n, sizeof(*row));
        const struct term *root;

        for (unsigned i = 0; i < n; i++)
                row[i] = random_below(m->random, 4) == 0 ? word(m, 1 + random_below(m->random, 5)) : variable(m, 'x', i);
        if (is_balanced) {
                for (unsigned k = n; k > 1; k /= 2)
                        for (unsigned i = 0; i < k / 2; i++)
                                row[i] = concat(m, row[2 * i], row[2 * i + 1]);
        } else {
                for (unsigned i = n - 1; i-- > 0;)
                        row[i] = concat(m, row[i], row[i + 1]);
        }
        root = row[0];
        assert_term(m, equal(m, root, word(m, 4 * (size_t)n)));
        for (unsigned i = 0; i < m->size / 2; i++) {
                const struct term *at = term_int(m->bank, (int64_t)random_below(m->random, 4 * (uint64_t)n));

                assert_term(m, equal(m, term_op2(m->bank, OP_STR_AT, root, at), word(m, 1)));
        }
}

static void lengths(struct making *m)
{
        static const enum op relations[] = {OP_EQUAL, OP_LE, OP_LT, OP_GE, OP_GT};

        for (unsigned i = 0; i <= m->size; i++) {
                const struct term *x = variable(m, 'x', i), *n = term_op1(m->bank, OP_STR_LEN, x), *bound;

                bound = i == 0 || random_below(m->random, 2) == 0
                                ? term_int(m->bank, (int64_t)random_below(m->random, 10 * (uint64_t)m->size + 1))
                                : term_op1(m->bank, OP_STR_LEN, variable(m, 'x', (unsigned)random_below(m->random, i)));
                assert_term(m, term_op2(m->bank, relations[random_below(m->random, ARRAY_SIZE(relations))], n, bound));
                if (i >= 2)
                        assert_term(m, equal(m, concat(m, variable(m, 'x', i - 2), variable(m, 'x', i - 1)), concat(m, x, variable(m, 'y', i))));
        }
}

static void overlaps(struct making *m)
{
        const struct term *w = word(m, 1 + random_below(m->random, 3 * (uint64_t)m->size)), *left = w, *right = w;

        for (unsigned i = 0; i < m->size; i++) {
                left = concat(m, left, variable(m, 'x', i));
                right = concat(m, variable(m, 'x', i), right);
        }
        assert_term(m, equal(m, left, right));
}

static void equality(struct making *m)
{
        const struct term *shared = variable(m, 's', 0), *before = NULL;
        unsigned where = (unsigned)random_below(m->random, 3);

        for (unsigned i = 0; i <= m->size; i++) {
                const struct term *x = variable(m, 'x', i), *y = variable(m, 'y', i), *t;

                if (random_below(m->random, 3) == 0)
                        x = word(m, 1 + random_below(m->random, 6));
                t = where == 0   ? concat(m, shared, concat(m, x, y))
                    : where == 1 ? concat(m, concat(m, x, y), shared)
                                 : concat(m, x, concat(m, shared, y));
                if (before)
                        assert_term(m, equal(m, before, t));
                before = t;
        }
}

static const struct term *regular(struct making *m, unsigned operators)
{
        static const enum op unary[] = {OP_RE_STAR, OP_RE_PLUS, OP_RE_OPT}, binary[] = {OP_RE_UNION, OP_RE_CONCAT, OP_RE_INTER};
        unsigned left;

        if (operators == 0)
                return term_op1(m->bank, OP_RE_FROM_STR, word(m, 1 + random_below(m->random, 4)));
        operators--;
        if (random_below(m->random, 3) == 0)
                return term_op1(m->bank, unary[random_below(m->random, ARRAY_SIZE(unary))], regular(m, operators));
        left = (unsigned)random_below(m->random, operators + 1);
        return term_op2(m->bank, binary[random_below(m->random, random_below(m->random, 4) == 0 ? 3 : 2)], regular(m, left),
                        regular(m, operators - left));
}

static void regex(struct making *m)
{
        const struct term *x = variable(m, 'x', 0);

        for (unsigned i = 0; i < 1 + m->size / 3; i++) {
                const struct term *in = term_op2(m->bank, OP_STR_IN_RE, x, regular(m, m->size));

                assert_term(m, random_below(m->random, 4) == 0 ? term_not(m->bank, in) : in);
        }
        assert_term(m, term_op2(m->bank, OP_GE, term_op1(m->bank, OP_STR_LEN, x),
                                term_int(m->bank, (int64_t)random_below(m->random, 10 * (uint64_t)m->size))));
}

static void words(struct making *m)
{
        for (unsigned i = 0; i < m->size; i++) {
                const struct term *x = variable(m, 'x', i), *y = variable(m, 'x', i + 1);
                const struct term *t = equal(m, concat(m, x, text(m, 10 + random_below(m->random, 200), ' ', 95)),
                                             concat(m, text(m, 10 + random_below(m->random, 200), ' ', 95), y));

                assert_term(m, random_below(m->random, 3) == 0 ? term_not(m->bank, t) : t);
        }
}

static void tree(struct making *m)
{
        cleanup_vocabulary struct vocabulary v = {.bank = m->bank, .sorts = 1u << SORT_BOOL};

        for (unsigned i = 0; i < 3; i++) {
                vocabulary_add(&v, variable(m, 'x', i));
                vocabulary_add(&v, variable(m, 'n', i));
        }
        assert_term(m, generate_term(m->g, &v, sort_simple(m->bank, SORT_BOOL), m->size));
}

static void (*const templates[N_TEMPLATES])(struct making *m) = {
        [TEMPLATE_CONCATS] = concats,
        [TEMPLATE_LENGTHS] = lengths,
        [TEMPLATE_OVERLAPS] = overlaps,
        [TEMPLATE_EQUALITY] = equality,
        [TEMPLATE_REGEX] = regex,
        [TEMPLATE_WORDS] = words,
        [TEMPLATE_TREE] = tree,
};

int template_formula(struct generator *g, enum template t, unsigned size, struct script **ret)
{
        struct making m = {.g = g, .random = generator_random(g), .size = size};

        if (size == 0)
                return errorf(-EINVAL, "a formula of size 0 says nothing");
        m.script = *ret = new_formula(generator_dialect(g), NULL);
        m.bank = m.script->bank;
        templates[t](&m);
        script_end(m.script);
        return 0;
}
