/* The parts of a formula (formula.h lists them). A part is a hash by mix(): of its type's number and of its contents. */
#include "core/fuzz/formula.h"

#include "core/fuzz/cnf_generate.h"

enum part_type {
        PART_NEGATIVE = 1, /* a numeral */
        PART_OPERATOR,
        PART_STRING,
        PART_NUMBER,
        PART_LITERAL, /* of another sort */
        PART_LEAF,    /* a variable or a function */
        PART_OTHER,
        PART_ARGUMENT, /* an operator with one of its arguments */
        PART_EQUAL_ARGUMENTS,
        PART_ARGUMENT_BELOW, /* with an argument of one of its arguments */
        PART_COUNT = 13,
        PART_CNF
};

/* -- SMT-LIB -- */

static uint32_t mix(uint32_t a, uint32_t b)
{
        uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;

        h ^= h >> 15;
        h *= 0x2c1b3c6du;
        return h ^ h >> 13;
}

/* 0; 1; 2 to 3; 4 to 7 …; 2048 and more. */
static uint32_t magnitude(uint64_t n)
{
        return n > 0 ? (uint32_t)MIN(64 - __builtin_clzll(n), 12) : 0;
}

/* The head of a term: its operator, or the kind of leaf. */
static uint32_t head(const struct term *t)
{
        int64_t n;

        switch (t->kind) {
        case TERM_OPERATOR:
                if (term_to_int(t, &n)) /* (- 5): a negative number */
                        return mix(PART_NEGATIVE, magnitude((uint64_t)-n));
                return mix(PART_OPERATOR, (uint32_t)t->op);
        case TERM_LITERAL:
                if (t->sort->kind == SORT_STRING)
                        return mix(PART_STRING, magnitude(term_string_length(t)));
                return term_to_int(t, &n) ? mix(PART_NUMBER, magnitude((uint64_t)n)) : mix(PART_LITERAL, (uint32_t)t->sort->kind);
        case TERM_VARIABLE:
        case TERM_FUNCTION:
                return mix(PART_LEAF, (uint32_t)t->sort->kind);
        case TERM_OPAQUE:
        case TERM_FORALL:
        case TERM_EXISTS:
        case TERM_LAMBDA:
        case TERM_ANNOTATED:
        case N_TERM_KINDS:
                break;
        }
        return mix(PART_OTHER, (uint32_t)t->kind);
}

struct set { /* of parts */
        uint64_t bits[SHAPE_BUCKETS / 64];
        size_t n;
};

static void set_add(struct set *s, uint32_t part)
{
        uint64_t *word = &s->bits[part % SHAPE_BUCKETS / 64], bit = UINT64_C(1) << part % 64;

        s->n += !(*word & bit);
        *word |= bit;
}

static struct shape set_list(const struct set *s)
{
        struct shape ret = {.parts = allocate(s->n, sizeof(*ret.parts))};

        for (uint32_t i = 0; i < ARRAY_SIZE(s->bits); i++)
                for (uint64_t word = s->bits[i]; word; word &= word - 1)
                        ret.parts[ret.n++] = (uint16_t)(64 * i + (unsigned)__builtin_ctzll(word));
        return ret;
}

/* Adds the term's head, with each argument's, and with each head below that. Arguments from the fourth on count as one place. */
static void add_term(struct set *s, const struct term *t)
{
        uint32_t own = head(t);

        set_add(s, own);
        for (uint32_t i = 0; i < t->n_args; i++) {
                uint32_t arg = mix(head(t->args[i]), MIN(i, 3u));

                set_add(s, mix(mix(PART_ARGUMENT, own), arg));
                if (i > 0 && t->args[i] == t->args[0])
                        set_add(s, mix(PART_EQUAL_ARGUMENTS, own));
                for (uint32_t k = 0; k < t->args[i]->n_args && k < 4; k++)
                        set_add(s, mix(mix(PART_ARGUMENT_BELOW, own), mix(arg, mix(head(t->args[i]->args[k]), k))));
        }
}

/* Adds a count: a part for each power of the root of two that it reaches, 1, 2, 3, 4, 6, 8, 11, 16 … The second 1 is the root of two
 * rounded down; it is no step. */
static void add_count(struct set *s, uint32_t what, uint64_t n)
{
        static const uint32_t steps[] = {1,   1,   2,    3,    4,    6,    8,    11,   16,    23,    32,    45,    64,   91,    128,  181,
                                         256, 362, 512,  724,  1024, 1448, 2048, 2896, 4096,  5793,  8192,  11585, 16384, 23170, 32768, 46341};

        for (uint32_t step = 0; step < ARRAY_SIZE(steps) && n >= steps[step]; step++)
                if (step != 1)
                        set_add(s, mix(mix(PART_COUNT, what), step));
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
        /* what has no operator's number: */
        add_count(s, N_OPS, all->n);
        add_count(s, N_OPS + 1, assertions);
        add_count(s, N_OPS + 2, constants);
        add_count(s, N_OPS + 3, characters);
        add_count(s, N_OPS + 4, longest);
}

struct shape shape_of(const struct script *s)
{
        cleanup_term_list struct term_list roots = {0}, all = {0};
        cleanup_free struct set *set = allocate(1, sizeof(*set));

        for (size_t i = 0; i < s->n_commands; i++)
                if (s->commands[i].kind == COMMAND_ASSERT)
                        term_list_add(&roots, s->commands[i].term);
        term_subterms(roots.list, roots.n, &all);
        for (size_t i = 0; i < all.n; i++)
                add_term(set, all.list[i]);
        add_counts(set, &all, roots.n);
        return set_list(set);
}

/* -- DIMACS -- */

enum cnf_part {
        CNF_CLAUSES, /* of one kind */
        CNF_OCCURRENCES,
        CNF_ROLES, /* variables in the same kinds of clauses, with the same signs there */
        CNF_SPANS, /* of clauses: from the least to the greatest variable */
        CNF_GATES,
        CNF_GATE_INPUTS, /* by the kind of gate whose output the input is (or none), and its sign */
        CNF_VARIABLES,
        CNF_LITERALS,
        CNF_RATIO
};

/* By length (to 4, then by magnitude) and by sign: 0, 1 or 2 positive literals; else 2, 1 or 0 negative ones; else mixed. */
static uint32_t clause_kind(const int32_t *literals, size_t n)
{
        size_t positive = 0;

        for (size_t i = 0; i < n; i++)
                positive += literals[i] > 0;
        return mix((uint32_t)(n <= 4 ? n : 3 + magnitude(n)), (uint32_t)(positive <= 2 ? positive : n - positive <= 2 ? 5 - (n - positive) : 6));
}

struct role {
        uint32_t kinds; /* a bit, by a hash, for each kind of clause and sign that it occurs with */
        uint32_t positive, negative;
        uint32_t gate; /* whose output it is; 0: none */
};

/* Counts one occurrence, in `seen`. Adds a part at each power of two. */
static void add_often(struct set *s, uint32_t *seen, enum cnf_part part, uint32_t what)
{
        uint32_t key = mix(mix(PART_CNF, part), what) % SHAPE_BUCKETS, n = ++seen[key];

        if ((n & (n - 1)) == 0)
                set_add(s, mix(key, magnitude(n)));
}

static void add_clauses(struct set *s, uint32_t *seen, const struct cnf *c, struct role *roles)
{
        for (size_t i = 0; i < c->n_clauses; i++) {
                size_t n;
                const int32_t *l = cnf_clause(c, i, &n);
                uint32_t kind = clause_kind(l, n), least = UINT32_MAX, most = 0;

                add_often(s, seen, CNF_CLAUSES, kind);
                for (size_t k = 0; k < n; k++) {
                        uint32_t variable = (uint32_t)abs(l[k]), use = mix(kind, l[k] > 0);
                        struct role *role = &roles[variable];

                        *(l[k] > 0 ? &role->positive : &role->negative) += 1;
                        role->kinds |= UINT32_C(1) << use % 32;
                        least = MIN(least, variable);
                        most = MAX(most, variable);
                }
                if (n > 1)
                        add_often(s, seen, CNF_SPANS, magnitude(most - least));
        }
}

static void add_gates(struct set *s, uint32_t *seen, const struct cnf *c, struct role *roles)
{
        cleanup_gates struct gates g = gates_of(c);

        for (size_t i = 0; i < g.n; i++)
                roles[abs(g.list[i].output)].gate = 1 + g.list[i].kind;
        for (size_t i = 0; i < g.n; i++) {
                add_often(s, seen, CNF_GATES, mix(g.list[i].kind, g.list[i].n_inputs));
                for (uint32_t k = 0; k < g.list[i].n_inputs; k++)
                        add_often(s, seen, CNF_GATE_INPUTS, mix(g.list[i].kind, 2 * roles[abs(g.list[i].inputs[k])].gate + (g.list[i].inputs[k] > 0)));
        }
}

struct shape shape_of_cnf(const struct cnf *c)
{
        cleanup_free struct set *set = allocate(1, sizeof(*set));
        cleanup_free uint32_t *seen = allocate(SHAPE_BUCKETS, sizeof(*seen));
        cleanup_free struct role *roles = allocate((size_t)c->variables + 1, sizeof(*roles));

        add_clauses(set, seen, c, roles);
        add_gates(set, seen, c, roles);
        for (uint32_t v = 1; v <= c->variables; v++) {
                add_often(set, seen, CNF_OCCURRENCES, mix(magnitude(roles[v].positive), magnitude(roles[v].negative)));
                add_often(set, seen, CNF_ROLES, mix(roles[v].kinds, roles[v].gate));
        }
        add_count(set, mix(PART_CNF, CNF_VARIABLES), c->variables);
        add_count(set, mix(PART_CNF, CNF_LITERALS), c->n_literals);
        add_count(set, mix(PART_CNF, CNF_RATIO), c->variables > 0 ? 16 * c->n_clauses / c->variables : 0);
        return set_list(set);
}

/* -- shapes of both -- */

void shape_done(struct shape *s)
{
        free(s->parts);
        *s = (struct shape){0};
}

struct shape shape_copy(const struct shape *s)
{
        struct shape ret = {.parts = allocate(s->n, sizeof(*s->parts)), .n = s->n};

        memcpy(ret.parts, s->parts, s->n * sizeof(*s->parts));
        return ret;
}

static int compare_parts(const void *a, const void *b)
{
        return *(const uint16_t *)a - *(const uint16_t *)b;
}

bool shape_has(const struct shape *s, uint16_t part)
{
        return find_in_list(&part, s->parts, s->n, sizeof(part), compare_parts);
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
