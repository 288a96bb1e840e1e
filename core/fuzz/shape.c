#include "core/fuzz/shape.h"

static uint32_t mix(uint32_t a, uint32_t b)
{
        uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;

        h ^= h >> 15;
        h *= 0x2c1b3c6du;
        return h ^ h >> 13;
}

/* 0, 1, 2 to 3, 4 to 7 … */
static uint32_t magnitude(uint64_t n)
{
        uint32_t bits = 0;

        while (n > 0 && bits < 12) {
                n >>= 1;
                bits++;
        }
        return bits;
}

/* The head of a term: its operator, or the kind of leaf. */
static uint32_t head(const struct term *t)
{
        int64_t n;

        switch (t->kind) {
        case TERM_OPERATOR:
                if (term_to_int(t, &n))
                        return mix(1, magnitude((uint64_t)-n));
                return mix(2, (uint32_t)t->op);
        case TERM_LITERAL:
                if (t->sort->kind == SORT_STRING)
                        return mix(3, magnitude(term_string_length(t)));
                return term_to_int(t, &n) ? mix(4, magnitude((uint64_t)n)) : mix(5, (uint32_t)t->sort->kind);
        case TERM_VARIABLE:
        case TERM_FUNCTION:
                return mix(6, (uint32_t)t->sort->kind);
        case TERM_OPAQUE:
        case TERM_FORALL:
        case TERM_EXISTS:
        case TERM_LAMBDA:
        case TERM_ANNOTATED:
        case N_TERM_KINDS:
                break;
        }
        return mix(7, (uint32_t)t->kind);
}

struct set {
        uint64_t bits[SHAPE_BUCKETS / 64];
        size_t n;
};

static void set_add(struct set *s, uint32_t part)
{
        uint64_t *word = &s->bits[part % SHAPE_BUCKETS / 64], bit = UINT64_C(1) << part % 64;

        s->n += !(*word & bit);
        *word |= bit;
}

static void add_term(struct set *s, const struct term *t)
{
        uint32_t own = head(t);

        set_add(s, own);
        for (uint32_t i = 0; i < t->n_args; i++) {
                uint32_t arg = mix(head(t->args[i]), MIN(i, 3u));

                set_add(s, mix(mix(8, own), arg));
                if (i > 0 && t->args[i] == t->args[0])
                        set_add(s, mix(9, own)); /* equal arguments */
                for (uint32_t k = 0; k < t->args[i]->n_args && k < 4; k++)
                        set_add(s, mix(mix(10, own), mix(arg, mix(head(t->args[i]->args[k]), k))));
        }
}

/* So many of a thing: a part for each power of two that the count reaches. */
static void add_count(struct set *s, uint32_t what, uint64_t n)
{
        for (uint32_t m = magnitude(n); m > 0; m--)
                set_add(s, mix(mix(13, what), m));
}

static void add_counts(struct set *s, const struct term_list *all, size_t assertions)
{
        uint32_t ops[N_OPS] = {0}, constants = 0;
        uint64_t characters = 0, longest = 0;

        for (size_t i = 0; i < all->n; i++) {
                const struct term *t = all->list[i];

                if (t->kind == TERM_OPERATOR && t->op < N_OPS)
                        ops[t->op]++;
                constants += t->kind == TERM_FUNCTION && t->n_args == 0;
                if (t->kind == TERM_LITERAL && t->sort->kind == SORT_STRING) {
                        characters += term_string_length(t);
                        longest = MAX(longest, term_string_length(t));
                }
        }
        for (uint32_t i = 0; i < N_OPS; i++)
                add_count(s, i, ops[i]);
        add_count(s, N_OPS, all->n);
        add_count(s, N_OPS + 1, assertions);
        add_count(s, N_OPS + 2, constants);
        add_count(s, N_OPS + 3, characters);
        add_count(s, N_OPS + 4, longest);
}

int shape_of(const struct script *s, struct shape *ret)
{
        cleanup(term_list_done) struct term_list roots = {0}, all = {0};
        cleanup_free struct set *set = allocate(1, sizeof(*set));
        size_t n = 0;
        int r;

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT)
                        term_list_add(&roots, s->commands[i].term);
        r = term_subterms(roots.list, roots.n, &all);
        if (r < 0)
                return r;
        for (size_t i = 0; i < all.n; i++)
                add_term(set, all.list[i]);
        add_counts(set, &all, roots.n);
        ret->parts = allocate(set->n, sizeof(*ret->parts));
        for (uint32_t i = 0; i < SHAPE_BUCKETS; i++)
                if (set->bits[i / 64] >> i % 64 & 1)
                        ret->parts[n++] = (uint16_t)i;
        ret->n = n;
        return 0;
}

void shape_done(struct shape *s)
{
        free(s->parts);
        *s = (struct shape){0};
}

void shape_intersect(struct shape *s, const struct shape *other)
{
        size_t n = 0;

        for (size_t i = 0, k = 0; i < s->n; i++) {
                while (k < other->n && other->parts[k] < s->parts[i])
                        k++;
                if (k < other->n && other->parts[k] == s->parts[i])
                        s->parts[n++] = s->parts[i];
        }
        s->n = n;
}

struct shape shape_copy(const struct shape *s)
{
        struct shape ret = {.parts = allocate(s->n, sizeof(*s->parts)), .n = s->n};

        memcpy(ret.parts, s->parts, s->n * sizeof(*s->parts));
        return ret;
}

bool shape_includes(const struct shape *s, const struct shape *part)
{
        size_t i = 0;

        for (size_t k = 0; k < part->n; k++) {
                while (i < s->n && s->parts[i] < part->parts[k])
                        i++;
                if (i == s->n || s->parts[i] != part->parts[k])
                        return false;
        }
        return true;
}

void shape_counts_see(struct shape_counts *c, const struct shape *s)
{
        for (size_t i = 0; i < s->n; i++)
                c->seen[s->parts[i]]++;
}

double shape_novelty(const struct shape_counts *c, const struct shape *s)
{
        double sum = 0;

        for (size_t i = 0; i < s->n; i++)
                sum += 1 / (1 + (double)c->seen[s->parts[i]]);
        return sum;
}
