#include "core/fuzz/generate.h"

struct page { /* the formula being made */
        struct generator *g;
        struct random *random;
        struct script *script;
        struct bank *bank;
        unsigned size;
};

/* n0 … are integers, all others strings. */
static const struct term *variable(struct page *p, char letter, unsigned n)
{
        return term_constant(p->bank, numbered_constant(p->bank, letter, n, sort_simple(p->bank, letter == 'n' ? SORT_INT : SORT_STRING)));
}

/* A word of so many kinds of characters, from `first` on. */
static const struct term *text(struct page *p, size_t n, char first, unsigned kinds)
{
        cleanup_free uint32_t *characters = allocate(n, sizeof(*characters));

        for (size_t i = 0; i < n; i++)
                characters[i] = (uint32_t)first + (uint32_t)random_below(p->random, kinds);
        return term_string_of(p->bank, characters, n);
}

static const struct term *word(struct page *p, size_t n)
{
        return text(p, n, 'a', 4);
}

static const struct term *concat(struct page *p, const struct term *x, const struct term *y)
{
        return term_op2(p->bank, OP_STR_CONCAT, x, y);
}

static const struct term *equal(struct page *p, const struct term *x, const struct term *y)
{
        return term_op2(p->bank, OP_EQUAL, x, y);
}

static void assert_term(struct page *p, const struct term *t)
{
        script_add_assert(p->script, t);
}

/* A balanced tree of that depth, or a list of that length, equal to a word; and some of its characters. */
static void concats(struct page *p)
{
        bool is_balanced = random_below(p->random, 2) == 0;
        unsigned n = is_balanced ? 1u << MIN(p->size, 10u) : p->size + 1;
        cleanup_free const struct term **row = allocate(n, sizeof(*row));
        const struct term *root;

        for (unsigned i = 0; i < n; i++)
                row[i] = random_below(p->random, 4) == 0 ? word(p, 1 + random_below(p->random, 5)) : variable(p, 'x', i);
        if (is_balanced) {
                for (unsigned k = n; k > 1; k /= 2)
                        for (unsigned i = 0; i < k / 2; i++)
                                row[i] = concat(p, row[2 * i], row[2 * i + 1]);
        } else {
                for (unsigned i = n - 1; i-- > 0;)
                        row[i] = concat(p, row[i], row[i + 1]);
        }
        root = row[0];
        assert_term(p, equal(p, root, word(p, 4 * (size_t)n)));
        for (unsigned i = 0; i < p->size / 2; i++) {
                const struct term *at = term_int(p->bank, (int64_t)random_below(p->random, 4 * (uint64_t)n));

                assert_term(p, equal(p, term_op2(p->bank, OP_STR_AT, root, at), word(p, 1)));
        }
}

static void lengths(struct page *p)
{
        static const enum op relations[] = {OP_EQUAL, OP_LE, OP_LT, OP_GE, OP_GT};

        for (unsigned i = 0; i <= p->size; i++) {
                const struct term *x = variable(p, 'x', i), *n = term_op1(p->bank, OP_STR_LEN, x), *bound;

                bound = i == 0 || random_below(p->random, 2) == 0
                                ? term_int(p->bank, (int64_t)random_below(p->random, 10 * (uint64_t)p->size + 1))
                                : term_op1(p->bank, OP_STR_LEN, variable(p, 'x', (unsigned)random_below(p->random, i)));
                assert_term(p, term_op2(p->bank, relations[random_below(p->random, ARRAY_SIZE(relations))], n, bound));
                if (i >= 2)
                        assert_term(p, equal(p, concat(p, variable(p, 'x', i - 2), variable(p, 'x', i - 1)), concat(p, x, variable(p, 'y', i))));
        }
}

static void overlaps(struct page *p)
{
        const struct term *w = word(p, 1 + random_below(p->random, 3 * (uint64_t)p->size)), *left = w, *right = w;

        for (unsigned i = 0; i < p->size; i++) {
                left = concat(p, left, variable(p, 'x', i));
                right = concat(p, variable(p, 'x', i), right);
        }
        assert_term(p, equal(p, left, right));
}

static void equality(struct page *p)
{
        const struct term *shared = variable(p, 's', 0), *before = NULL;
        unsigned where = (unsigned)random_below(p->random, 3);

        for (unsigned i = 0; i <= p->size; i++) {
                const struct term *x = variable(p, 'x', i), *y = variable(p, 'y', i), *t;

                if (random_below(p->random, 3) == 0)
                        x = word(p, 1 + random_below(p->random, 6));
                t = where == 0   ? concat(p, shared, concat(p, x, y))
                    : where == 1 ? concat(p, concat(p, x, y), shared)
                                 : concat(p, x, concat(p, shared, y));
                if (before)
                        assert_term(p, equal(p, before, t));
                before = t;
        }
}

static const struct term *regular(struct page *p, unsigned operators)
{
        static const enum op unary[] = {OP_RE_STAR, OP_RE_PLUS, OP_RE_OPT}, binary[] = {OP_RE_UNION, OP_RE_CONCAT, OP_RE_INTER};
        unsigned left;

        if (operators == 0)
                return term_op1(p->bank, OP_RE_FROM_STR, word(p, 1 + random_below(p->random, 4)));
        operators--;
        if (random_below(p->random, 3) == 0)
                return term_op1(p->bank, unary[random_below(p->random, ARRAY_SIZE(unary))], regular(p, operators));
        left = (unsigned)random_below(p->random, operators + 1);
        return term_op2(p->bank, binary[random_below(p->random, random_below(p->random, 4) == 0 ? 3 : 2)], regular(p, left),
                        regular(p, operators - left));
}

static void regex(struct page *p)
{
        const struct term *x = variable(p, 'x', 0);

        for (unsigned i = 0; i < 1 + p->size / 3; i++) {
                const struct term *in = term_op2(p->bank, OP_STR_IN_RE, x, regular(p, p->size));

                assert_term(p, random_below(p->random, 4) == 0 ? term_not(p->bank, in) : in);
        }
        assert_term(p, term_op2(p->bank, OP_GE, term_op1(p->bank, OP_STR_LEN, x),
                                term_int(p->bank, (int64_t)random_below(p->random, 10 * (uint64_t)p->size))));
}

static void words(struct page *p)
{
        for (unsigned i = 0; i < p->size; i++) {
                const struct term *x = variable(p, 'x', i), *y = variable(p, 'x', i + 1);
                const struct term *t = equal(p, concat(p, x, text(p, 10 + random_below(p->random, 200), ' ', 95)),
                                             concat(p, text(p, 10 + random_below(p->random, 200), ' ', 95), y));

                assert_term(p, random_below(p->random, 3) == 0 ? term_not(p->bank, t) : t);
        }
}

static void tree(struct page *p)
{
        cleanup_vocabulary struct vocabulary v = {.bank = p->bank, .sorts = 1u << SORT_BOOL};

        for (unsigned i = 0; i < 3; i++) {
                vocabulary_add(&v, variable(p, 'x', i));
                vocabulary_add(&v, variable(p, 'n', i));
        }
        assert_term(p, generate_term(p->g, &v, sort_simple(p->bank, SORT_BOOL), p->size));
}

static void (*const templates[N_TEMPLATES])(struct page *p) = {
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
        struct page p = {.g = g, .random = generator_random(g), .size = size};

        if (size == 0)
                return errorf(-EINVAL, "a formula of size 0 says nothing");
        p.script = *ret = new_formula(generator_dialect(g), NULL);
        p.bank = p.script->bank;
        templates[t](&p);
        script_end(p.script);
        return 0;
}
