/* A function for each enum cnf_family makes its formula: make_random() and so on. */
#include "core/fuzz/cnf_generate.h"

/* The formula being made. */
struct making {
        struct cnf *cnf; /* `variables` counts the variables made so far */
        struct random *random;
        unsigned size;
        enum verdict answer; /* VERDICT_UNKNOWN until the construction implies one */
};

static size_t below(struct making *m, size_t n)
{
        return (size_t)random_below(m->random, n);
}

static bool toss(struct making *m)
{
        return random_bits(m->random) >> 63;
}

static int32_t fresh(struct cnf *c)
{
        return (int32_t)++c->variables;
}

/* Interpolates from `least` at size 1 to `most` at the largest. */
static size_t scale(const struct making *m, double least, double most)
{
        return (size_t)(least + (most - least) * (m->size - 1) / (CNF_SIZE_MOST - 1) + 0.5);
}

/* -- random clauses -- */

/* Adds a clause of k different variables, each drawn by `draw`. */
static void add_random_clause(struct making *m, size_t k, uint32_t (*draw)(struct making *m, void *user, size_t i), void *user)
{
        int32_t clause[5];

        for (size_t i = 0; i < k;) {
                int32_t variable = (int32_t)draw(m, user, i);
                size_t at = 0;

                while (at < i && abs(clause[at]) != variable)
                        at++;
                if (at == i)
                        clause[i++] = toss(m) ? variable : -variable;
        }
        cnf_add_clause(m->cnf, clause, k);
}

static const double thresholds[] = {[3] = 4.267, [4] = 9.931, [5] = 21.117};

static uint32_t draw_any(struct making *m, void *, size_t)
{
        return 1 + (uint32_t)below(m, m->cnf->variables);
}

static void make_random(struct making *m)
{
        static const double most[] = {[3] = 320, [4] = 140, [5] = 90};
        size_t k = 3 + below(m, 3), n = scale(m, 6, most[k]), clauses;

        m->cnf->variables = (uint32_t)n;
        clauses = (size_t)((double)n * thresholds[k] * (0.92 + 0.16 * random_uniform(m->random)) + 0.5);
        for (size_t i = 0; i < clauses; i++)
                add_random_clause(m, k, draw_any, NULL);
}

struct communities {
        size_t n, each; /* the number of communities, and of variables in each */
        size_t k;
        size_t of; /* the community of all variables of the current clause; SIZE_MAX: each is of any one */
};

static uint32_t draw_community(struct making *m, void *user, size_t i)
{
        const struct communities *c = user;
        size_t of = c->of != SIZE_MAX ? c->of : (i * c->n / c->k + below(m, c->n)) % c->n; /* uniform for each i: two may be equal */

        return 1 + (uint32_t)(of * c->each + below(m, c->each));
}

static void make_communities(struct making *m)
{
        size_t n = scale(m, 12, 340), clauses;
        double within = 0.4 + 0.55 * random_uniform(m->random);
        struct communities c = {.k = 3 + (size_t)(m->size < 40 && toss(m))};

        c.n = 2 + below(m, n / 6);
        c.each = MAX(n / c.n, c.k);
        m->cnf->variables = (uint32_t)(c.n * c.each);
        clauses = (size_t)(m->cnf->variables * thresholds[c.k] * (0.92 + 0.12 * random_uniform(m->random)));
        for (size_t i = 0; i < clauses; i++) {
                c.of = random_uniform(m->random) < within ? below(m, c.n) : SIZE_MAX;
                add_random_clause(m, c.k, draw_community, &c);
        }
}

/* -- cardinalities -- */

enum encoding {
        ENCODING_COMBINATIONS, /* a clause for each choice of k + 1 literals */
        ENCODING_COUNTER,      /* count_up() */
        ENCODING_TOTALIZER,    /* total() */
        N_ENCODINGS
};

/* Forbids that k + 1 of the literals hold, with the `n_chosen` that are chosen already; `chosen` has room for n + 1. */
static void forbid_combinations(struct cnf *c, const int32_t *l, size_t n, size_t k, int32_t *chosen, size_t n_chosen)
{
        if (n_chosen == k + 1) {
                cnf_add_clause(c, chosen, n_chosen);
                return;
        }
        for (size_t i = 0; i < n; i++) {
                chosen[n_chosen] = -l[i];
                forbid_combinations(c, l + i + 1, n - i - 1, k, chosen, n_chosen + 1);
        }
}

/* At most k, which is at least 1. before[j], after[j]: more than j of the literals are true, without and with l[i]. */
static void count_up(struct cnf *c, const int32_t *l, size_t n, size_t k)
{
        cleanup_free int32_t *before = allocate(k + 1, sizeof(*before)), *after = allocate(k + 1, sizeof(*after));

        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < k; j++) {
                        after[j] = fresh(c);
                        if (i > 0)
                                cnf_add_clause(c, (int32_t[]){-before[j], after[j]}, 2);
                        if (j == 0)
                                cnf_add_clause(c, (int32_t[]){-l[i], after[0]}, 2);
                        else if (i > 0)
                                cnf_add_clause(c, (int32_t[]){-l[i], -before[j - 1], after[j]}, 3);
                }
                if (i > 0)
                        cnf_add_clause(c, (int32_t[]){-l[i], -before[k - 1]}, 2);
                memcpy(before, after, k * sizeof(*before));
        }
}

/* ret[j], for j up to k: more than j of the literals are true. Returns the number of outputs. `a` and `b` are those of the two halves. */
static size_t total(struct cnf *c, const int32_t *l, size_t n, size_t k, int32_t *ret)
{
        cleanup_free int32_t *a = NULL, *b = NULL;
        size_t n_a, n_b, n_ret = MIN(n, k + 1);

        if (n == 1) {
                ret[0] = l[0];
                return 1;
        }
        a = allocate(k + 1, sizeof(*a));
        b = allocate(k + 1, sizeof(*b));
        n_a = total(c, l, n / 2, k, a);
        n_b = total(c, l + n / 2, n - n / 2, k, b);
        for (size_t i = 0; i < n_ret; i++)
                ret[i] = fresh(c);
        for (size_t i = 0; i <= n_a; i++)
                for (size_t j = 0; j <= n_b; j++) {
                        if (i + j == 0 || i + j > n_ret)
                                continue;
                        if (i > 0)
                                cnf_add(c, -a[i - 1]);
                        if (j > 0)
                                cnf_add(c, -b[j - 1]);
                        cnf_add(c, ret[i + j - 1]);
                        cnf_add(c, 0);
                }
        return n_ret;
}

static void add_at_most(struct cnf *c, enum encoding e, const int32_t *l, size_t n, size_t k)
{
        cleanup_free int32_t *room = allocate(n + 1, sizeof(*room));

        if (k >= n)
                return;
        if (k == 0 || e == ENCODING_COMBINATIONS) {
                forbid_combinations(c, l, n, k, room, 0);
        } else if (e == ENCODING_COUNTER) {
                count_up(c, l, n, k);
        } else {
                total(c, l, n, k, room);
                cnf_add_clause(c, (int32_t[]){-room[k]}, 1);
        }
}

/* Variables in groups of `each`: in every group of one partition at most k are true, in every group of the other at least k. That has a solution, as a
 * regular bipartite graph is a union of perfect matchings (König). Unsatisfiable formulas ask for k + 1 in one of the other's groups, which contradicts
 * the sums. */
static void make_cardinality(struct making *m)
{
        size_t each = 4 + below(m, 4), groups = MAX(scale(m, 6, 84) / each, 2u), k = each / 2 - below(m, 2);
        enum encoding e = (enum encoding)below(m, N_ENCODINGS);
        cleanup_free uint32_t *order = random_permutation(m->random, 1, each * groups);
        cleanup_free int32_t *group = allocate(each, sizeof(*group));
        bool is_sat = below(m, 3) == 0;

        m->answer = is_sat ? VERDICT_SAT : VERDICT_UNSAT;
        m->cnf->variables = (uint32_t)(each * groups);
        for (size_t i = 0; i < 2 * groups; i++) {
                bool is_least = i >= groups;

                for (size_t j = 0; j < each; j++)
                        group[j] = is_least ? -(int32_t)order[(i - groups) * each + j] : (int32_t)(i * each + j + 1);
                add_at_most(m->cnf, e, group, each, is_least ? each - k - (!is_sat && i == groups) : k);
        }
}

/* Functional: no pigeon is in two holes; onto: no hole is empty. */
static void make_pigeons(struct making *m)
{
        size_t holes = scale(m, 1, 10), pigeons = holes + 1;
        bool is_functional = toss(m), is_onto = toss(m);
        enum encoding e = below(m, 4) == 0 ? ENCODING_COUNTER : ENCODING_COMBINATIONS;
        cleanup_free int32_t *list = NULL;

        if (below(m, 4) == 0)
                pigeons = toss(m) ? holes : holes + 2;
        list = allocate(pigeons, sizeof(*list));
        m->answer = pigeons <= holes ? VERDICT_SAT : VERDICT_UNSAT;
        m->cnf->variables = (uint32_t)(pigeons * holes);
        for (size_t p = 0; p < pigeons; p++) {
                for (size_t h = 0; h < holes; h++)
                        list[h] = (int32_t)(p * holes + h + 1);
                cnf_add_clause(m->cnf, list, holes);
                if (is_functional)
                        add_at_most(m->cnf, e, list, holes, 1);
        }
        for (size_t h = 0; h < holes; h++) {
                for (size_t p = 0; p < pigeons; p++)
                        list[p] = (int32_t)(p * holes + h + 1);
                if (is_onto)
                        cnf_add_clause(m->cnf, list, pigeons);
                add_at_most(m->cnf, e, list, pigeons, 1);
        }
}

/* -- parities -- */

/* A vertex's charge is the parity of its edges. The graph is a cycle through all vertices, and chords (degree 3) or another cycle. Satisfiable if the sum
 * of the charges is even, as each edge counts twice. */
static void make_tseitin(struct making *m)
{
        size_t degree = 3 + below(m, 2), n = 2 * scale(m, 2, degree == 3 ? 34 : 17);
        cleanup_free int32_t *edges = allocate(n * degree, sizeof(*edges));
        cleanup_free size_t *at = allocate(n, sizeof(*at)); /* each vertex's edges so far */
        cleanup_free uint32_t *order = random_permutation(m->random, 1, n);
        bool is_odd = below(m, 3) > 0, rest = is_odd; /* the last vertex's charge */

        for (size_t i = 0; i < n; i++) {
                size_t ends[2] = {i, (i + 1) % n}, chord[2] = {order[i] - 1, order[(i + 1) % n] - 1};
                int32_t e = fresh(m->cnf);

                for (size_t k = 0; k < 2; k++)
                        edges[ends[k] * degree + at[ends[k]]++] = e;
                if (degree == 3 && i % 2 == 1)
                        continue;
                e = fresh(m->cnf);
                for (size_t k = 0; k < 2; k++)
                        edges[chord[k] * degree + at[chord[k]]++] = e;
        }
        for (size_t i = 0; i < n; i++) {
                bool charge = i + 1 < n ? toss(m) : rest;

                rest ^= charge;
                cnf_add_xor(m->cnf, edges + i * degree, degree, charge);
        }
        m->answer = is_odd ? VERDICT_UNSAT : VERDICT_SAT;
}

/* Fixes the parity of the literals by XORs of at most piece + 1: each but the last one ends in a new variable, with which the next begins. */
static void add_chain(struct cnf *c, const int32_t *l, size_t n, size_t piece, bool is_odd)
{
        int32_t part[6];
        size_t n_part = 0;

        for (size_t i = 0; i < n; i++) {
                part[n_part++] = l[i];
                if (n_part < piece || i + 2 >= n)
                        continue;
                part[n_part] = fresh(c);
                cnf_add_xor(c, part, n_part + 1, false);
                part[0] = part[n_part];
                n_part = 1;
        }
        cnf_add_xor(c, part, n_part, is_odd);
}

/* The same parity in both orders; unsatisfiable formulas ask for the other one in the second. */
static void make_parity(struct making *m)
{
        size_t n = scale(m, 3, 44), piece = 2 + below(m, 3);
        cleanup_free uint32_t *order = random_permutation(m->random, 1, n);
        cleanup_free int32_t *l = allocate(n, sizeof(*l));
        bool is_odd = toss(m), is_sat = below(m, 3) == 0;

        m->answer = is_sat ? VERDICT_SAT : VERDICT_UNSAT;
        for (size_t i = 0; i < n; i++)
                l[i] = fresh(m->cnf);
        add_chain(m->cnf, l, n, piece, is_odd);
        for (size_t i = 0; i < n; i++)
                l[i] = (int32_t)order[i];
        add_chain(m->cnf, l, n, piece, is_odd ^ !is_sat);
}

/* About as many equations as variables, with a planted solution or without. */
static void make_xors(struct making *m)
{
        size_t n = scale(m, 3, 64), equations = n - 1 + below(m, 4), longest = 3 + below(m, MIN(n - 2, 12u)), piece = 2 + below(m, 3);
        cleanup_free int32_t *l = allocate(n, sizeof(*l));
        cleanup_free bool *solution = allocate(n + 1, sizeof(*solution));
        bool is_sat = toss(m);

        m->answer = is_sat ? VERDICT_SAT : VERDICT_UNKNOWN;
        m->cnf->variables = (uint32_t)n;
        for (size_t i = 1; i <= n; i++)
                solution[i] = toss(m);
        for (size_t i = 0; i < equations; i++) {
                cleanup_free uint32_t *order = random_permutation(m->random, 1, n);
                size_t length = 2 + below(m, longest - 1);
                bool is_odd = false;

                for (size_t k = 0; k < length; k++) {
                        l[k] = (int32_t)order[k];
                        is_odd ^= solution[order[k]];
                }
                add_chain(m->cnf, l, length, piece, is_sat ? is_odd : toss(m));
        }
}

/* -- pebbling -- */

/* Pebble p is the XOR (the OR) of variables 2p - 1 and 2p, or variable p itself. */
enum substitution {
        SUBSTITUTE_NONE,
        SUBSTITUTE_XOR,
        SUBSTITUTE_OR,
        N_SUBSTITUTIONS
};

/* Adds a clause of pebbles, each replaced by its formula of two clauses, multiplied out: a clause for each choice of one of the two of each pebble. */
static void add_substituted(struct cnf *c, enum substitution s, const int32_t *l, size_t n)
{
        for (uint32_t choice = 0; choice < (s == SUBSTITUTE_NONE ? 1u : 1u << n); choice++) {
                bool is_repeated = false;

                for (size_t i = 0; i < n && s == SUBSTITUTE_OR; i++) /* an OR's positive pebble is a single clause */
                        is_repeated |= l[i] > 0 && choice >> i & 1;
                for (size_t i = 0; i < n && !is_repeated; i++) {
                        int32_t b = 2 * abs(l[i]), a = b - 1;
                        bool second = choice >> i & 1, is_positive = l[i] > 0;

                        if (s == SUBSTITUTE_NONE) {
                                cnf_add(c, l[i]);
                        } else if (s == SUBSTITUTE_XOR) {
                                cnf_add(c, second ? -a : a);
                                cnf_add(c, second == is_positive ? -b : b);
                        } else {
                                cnf_add(c, is_positive ? a : second ? -b : -a);
                                if (is_positive)
                                        cnf_add(c, b);
                        }
                }
                if (!is_repeated)
                        cnf_add(c, 0);
        }
}

/* The two pebbles that `at` depends on; number 1 is the top. In the pyramid those below it, else the next one and any one of a window. False: it depends
 * on none. */
static bool pebbles_below(struct making *m, bool is_pyramid, size_t rows, size_t at, size_t ret[2])
{
        size_t n = rows * (rows + 1) / 2, row = 1;

        if (is_pyramid) {
                while (row * (row + 1) / 2 < at)
                        row++;
                ret[0] = at + row;
                ret[1] = at + row + 1;
                return row < rows;
        }
        if (at + 3 * rows / 2 >= n)
                return false;
        ret[0] = at + 1; /* so that the top depends on all */
        ret[1] = at + 2 + below(m, rows);
        return true;
}

static void make_pebbling(struct making *m)
{
        size_t rows = scale(m, 2, 56), n = rows * (rows + 1) / 2;
        enum substitution s = (enum substitution)below(m, N_SUBSTITUTIONS);
        bool is_pyramid = toss(m), is_sat = below(m, 4) == 0;

        m->answer = is_sat ? VERDICT_SAT : VERDICT_UNSAT;
        for (size_t i = n; i >= 1; i--) {
                size_t from[2] = {0};
                bool depends = pebbles_below(m, is_pyramid, rows, i, from);

                add_substituted(m->cnf, s, (int32_t[]){(int32_t)i, -(int32_t)from[0], -(int32_t)from[1]}, depends ? 3 : 1);
        }
        if (!is_sat)
                add_substituted(m->cnf, s, (int32_t[]){-1}, 1);
}

/* -- circuits: their bits are literals, or 0 for false -- */

enum operation {
        OPERATION_AND,
        OPERATION_OR,
        OPERATION_XOR,
        N_OPERATIONS
};

struct circuit {
        struct cnf *cnf;
        size_t n_gates, changed; /* the number of the gate that gets another operation; 0: none */
};

static int32_t gate(struct circuit *u, enum operation o, int32_t a, int32_t b)
{
        int32_t output;

        if (a == 0 || b == 0)
                return o == OPERATION_AND ? 0 : a + b; /* the other one */
        output = fresh(u->cnf);
        if (++u->n_gates == u->changed)
                o = (o + 1) % N_OPERATIONS;
        if (o == OPERATION_AND)
                cnf_add_and(u->cnf, output, (int32_t[]){a, b}, 2);
        else if (o == OPERATION_OR)
                cnf_add_or(u->cnf, output, (int32_t[]){a, b}, 2);
        else
                cnf_add_xor(u->cnf, (int32_t[]){output, a, b}, 3, false);
        return output;
}

static int32_t full_adder(struct circuit *u, int32_t a, int32_t b, int32_t c, int32_t *ret_carry)
{
        int32_t half = gate(u, OPERATION_XOR, a, b), both = gate(u, OPERATION_AND, a, b);

        *ret_carry = gate(u, OPERATION_OR, both, gate(u, OPERATION_AND, half, c));
        return gate(u, OPERATION_XOR, half, c);
}

/* Adds n bits; the carry is ret[n]. */
static void add_by_ripple(struct circuit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *ret)
{
        int32_t carry = 0;

        for (size_t i = 0; i < n; i++)
                ret[i] = full_adder(u, a[i], b[i], carry, &carry);
        ret[n] = carry;
}

/* Kogge and Stone: generate[i], propagate[i] are of the bits from i down, of twice as many in each round. */
static void add_by_prefixes(struct circuit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *ret)
{
        cleanup_free int32_t *half = allocate(n, sizeof(*half)), *generate = allocate(n, sizeof(*generate)), *propagate = allocate(n, sizeof(*propagate));

        for (size_t i = 0; i < n; i++) {
                half[i] = propagate[i] = gate(u, OPERATION_XOR, a[i], b[i]);
                generate[i] = gate(u, OPERATION_AND, a[i], b[i]);
        }
        for (size_t distance = 1; distance < n; distance *= 2)
                for (size_t i = n; i-- > distance;) {
                        generate[i] = gate(u, OPERATION_OR, generate[i], gate(u, OPERATION_AND, propagate[i], generate[i - distance]));
                        propagate[i] = gate(u, OPERATION_AND, propagate[i], propagate[i - distance]);
                }
        ret[0] = half[0];
        for (size_t i = 1; i < n; i++)
                ret[i] = gate(u, OPERATION_XOR, half[i], generate[i - 1]);
        ret[n] = generate[n - 1];
}

/* The product has 2n bits. */
static void multiply_by_rows(struct circuit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *ret)
{
        cleanup_free int32_t *row = allocate(n, sizeof(*row)), *sum = allocate(n + 1, sizeof(*sum));

        memset(ret, 0, 2 * n * sizeof(*ret));
        for (size_t i = 0; i < n; i++) {
                for (size_t k = 0; k < n; k++)
                        row[k] = gate(u, OPERATION_AND, a[i], b[k]);
                add_by_ripple(u, ret + i, row, n, sum);
                memcpy(ret + i, sum, (n + 1) * sizeof(*sum));
        }
}

static void multiply_by_columns(struct circuit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *ret)
{
        size_t width = 2 * n; /* also the limit on a column: n products, and half as many carries as the column before has */
        cleanup_free int32_t *columns = allocate(width * width, sizeof(*columns));
        cleanup_free int32_t *x = allocate(width, sizeof(*x)), *y = allocate(width, sizeof(*y)), *sum = allocate(width + 1, sizeof(*sum));
        cleanup_free size_t *height = allocate(width + 1, sizeof(*height));

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++)
                        columns[(i + k) * width + height[i + k]++] = gate(u, OPERATION_AND, a[i], b[k]);
        for (size_t i = 0; i < width; i++) {
                int32_t *column = columns + i * width;

                while (height[i] > 2) { /* the oldest three become one here and one in the next column */
                        int32_t carry, bit = full_adder(u, column[0], column[1], column[2], &carry);

                        height[i] -= 3;
                        memmove(column, column + 3, height[i] * sizeof(*column));
                        column[height[i]++] = bit;
                        if (i + 1 < width)
                                columns[(i + 1) * width + height[i + 1]++] = carry;
                }
                x[i] = height[i] > 0 ? column[0] : 0;
                y[i] = height[i] > 1 ? column[1] : 0;
        }
        add_by_prefixes(u, x, y, width, sum);
        memcpy(ret, sum, width * sizeof(*ret));
}

/* States that some bit differs. */
static void add_miter(struct circuit *u, const int32_t *a, const int32_t *b, size_t n)
{
        cleanup_free int32_t *differ = allocate(n, sizeof(*differ));
        size_t k = 0;

        u->changed = 0; /* the miter itself is never changed */
        for (size_t i = 0; i < n; i++)
                if ((differ[k] = gate(u, OPERATION_XOR, a[i], b[i])) != 0)
                        k++;
        cnf_add_clause(u->cnf, differ, k);
}

static int32_t *inputs(struct making *m, size_t n)
{
        int32_t *list = allocate(n, sizeof(*list));

        for (size_t i = 0; i < n; i++)
                list[i] = fresh(m->cnf);
        return list;
}

static void make_adders(struct making *m)
{
        size_t n = scale(m, 1, 120);
        cleanup_free int32_t *a = inputs(m, n), *b = inputs(m, n), *x = allocate(n + 1, sizeof(*x)), *y = allocate(n + 1, sizeof(*y));
        struct circuit u = {.cnf = m->cnf, .changed = below(m, 3) == 0 ? 1 + below(m, 10 * n) : 0};
        bool is_changed = u.changed > 0;

        add_by_ripple(&u, a, b, n, x);
        if (toss(m))
                add_by_prefixes(&u, a, b, n, y);
        else
                add_by_ripple(&u, b, a, n, y);
        add_miter(&u, x, y, n + 1);
        m->answer = is_changed ? VERDICT_UNKNOWN : VERDICT_UNSAT;
}

/* Fixes the product to that of two numbers. */
static void give_product(struct making *m, const int32_t *product, size_t n)
{
        uint64_t a = random_bits(m->random) >> (64 - n) | 1, b = random_bits(m->random) >> (64 - n) | 1;

        for (size_t i = 0; i < 2 * n; i++)
                if (product[i] != 0)
                        cnf_add_clause(m->cnf, (int32_t[]){(a * b) >> i & 1 ? product[i] : -product[i]}, 1);
        m->answer = VERDICT_SAT;
}

static void make_multipliers(struct making *m)
{
        bool is_given = below(m, 3) == 0;
        size_t n = is_given ? scale(m, 2, 20) : scale(m, 1, 8);
        cleanup_free int32_t *a = inputs(m, n), *b = inputs(m, n), *x = allocate(2 * n, sizeof(*x)), *y = allocate(2 * n, sizeof(*y));
        struct circuit u = {.cnf = m->cnf};

        (toss(m) ? multiply_by_rows : multiply_by_columns)(&u, a, b, n, x);
        if (is_given) {
                give_product(m, x, n);
                return;
        }
        u.changed = below(m, 3) == 0 ? u.n_gates + 1 + below(m, u.n_gates) : 0;
        m->answer = u.changed > 0 ? VERDICT_UNKNOWN : VERDICT_UNSAT;
        (toss(m) ? multiply_by_rows : multiply_by_columns)(&u, b, a, n, y);
        add_miter(&u, x, y, 2 * n);
}

/* -- large formulas -- */

/* Like scale(), but by the square of the size, so that small formulas are no larger than those of other families. */
static size_t scale_square(const struct making *m, double least, double most)
{
        double share = (double)(m->size - 1) / (CNF_SIZE_MOST - 1);

        return (size_t)(least + (most - least) * share * share + 0.5);
}

static void add_exactly_one(struct making *m, enum encoding e, const int32_t *l, size_t n)
{
        cnf_add_clause(m->cnf, l, n);
        if (n > 1)
                add_at_most(m->cnf, e, l, n, 1);
}

/* x[row][column][value]: exactly one along each axis (kind 0: in a cell; 1: of a value in a row; 2: in a column). Some cells of a square with permuted
 * rows, columns and values are given. In one of three formulas one of these cells has another value. */
static void make_latin(struct making *m)
{
        size_t n = scale(m, 2, 18), n_given = below(m, n * n), wrong = below(m, 3) == 0 ? below(m, n_given + 1) : SIZE_MAX;
        cleanup_free uint32_t *rows = random_permutation(m->random, 0, n), *columns = random_permutation(m->random, 0, n);
        cleanup_free uint32_t *values = random_permutation(m->random, 0, n), *cells = random_permutation(m->random, 0, n * n);
        cleanup_free int32_t *list = allocate(n, sizeof(*list));

        m->cnf->variables = (uint32_t)(n * n * n);
        for (size_t kind = 0; kind < 3; kind++)
                for (size_t i = 0; i < n; i++)
                        for (size_t j = 0; j < n; j++) {
                                for (size_t k = 0; k < n; k++) {
                                        size_t at[3][3] = {{i, j, k}, {i, k, j}, {k, i, j}}; /* of each kind: row, column, value */

                                        list[k] = (int32_t)(1 + (at[kind][0] * n + at[kind][1]) * n + at[kind][2]);
                                }
                                add_exactly_one(m, ENCODING_COMBINATIONS, list, n);
                        }
        for (size_t i = 0; i < n_given; i++) {
                size_t row = cells[i] / n, column = cells[i] % n, value = values[(rows[row] + columns[column]) % n];

                if (i == wrong)
                        value = (value + 1) % n;
                cnf_add_clause(m->cnf, (int32_t[]){(int32_t)(1 + cells[i] * n + value)}, 1);
        }
        m->answer = wrong >= n_given ? VERDICT_SAT : VERDICT_UNKNOWN;
}

static void make_queens(struct making *m)
{
        size_t n = scale(m, 1, 40), k;
        enum encoding e = toss(m) ? ENCODING_COUNTER : ENCODING_COMBINATIONS;
        cleanup_free int32_t *list = allocate(n, sizeof(*list));

        m->cnf->variables = (uint32_t)(n * n);
        for (size_t is_column = 0; is_column < 2; is_column++)
                for (size_t i = 0; i < n; i++) {
                        for (k = 0; k < n; k++)
                                list[k] = (int32_t)(1 + (is_column ? k * n + i : i * n + k));
                        add_exactly_one(m, e, list, n);
                }
        for (size_t is_rising = 0; is_rising < 2; is_rising++)
                for (size_t diagonal = 0; diagonal < 2 * n - 1; diagonal++) {
                        k = 0;
                        for (size_t row = 0; row < n; row++) {
                                size_t column = diagonal - row; /* huge below 0 */

                                if (column < n)
                                        list[k++] = (int32_t)(1 + row * n + (is_rising ? column : n - 1 - column));
                        }
                        if (k > 1)
                                add_at_most(m->cnf, e, list, k, 1);
                }
        m->answer = n == 2 || n == 3 ? VERDICT_UNSAT : VERDICT_SAT;
}

/* Near the threshold, or far below it and large. A vertex may have several colors. */
static void make_colors(struct making *m)
{
        static const double degrees[] = {[3] = 4.69, [4] = 8.90, [5] = 13.67}; /* thresholds, on average */
        size_t k = 3 + below(m, 3);
        bool is_large = toss(m);
        size_t n = is_large ? scale_square(m, 3, 30000 / (double)k) : scale(m, 3, 240 / (double)k);
        double degree = degrees[k] * (is_large ? 0.3 + 0.4 * random_uniform(m->random) : 0.9 + 0.2 * random_uniform(m->random));
        cleanup_free int32_t *list = allocate(k, sizeof(*list));

        m->cnf->variables = (uint32_t)(n * k);
        for (size_t i = 0; i < n; i++) {
                for (size_t c = 0; c < k; c++)
                        list[c] = (int32_t)(1 + i * k + c);
                cnf_add_clause(m->cnf, list, k);
        }
        for (size_t i = 0; i < (size_t)((double)n * degree / 2 + 0.5); i++) {
                size_t a = below(m, n), b = (a + 1 + below(m, n - 1)) % n;

                for (size_t c = 0; c < k; c++)
                        cnf_add_clause(m->cnf, (int32_t[]){-(int32_t)(1 + a * k + c), -(int32_t)(1 + b * k + c)}, 2);
        }
}

/* before[a][b]: a is before b. The order is transitive, and something is before each element: unsatisfiable. In one of three formulas one element is left
 * out of that, and it is satisfiable. */
static void make_ordering(struct making *m)
{
        size_t n = scale(m, 2, 40), k;
        size_t least = below(m, 3) == 0 ? below(m, n) : n;
        cleanup_free int32_t *before = allocate(n * n, sizeof(*before)), *list = allocate(n, sizeof(*list));

        for (size_t a = 0; a < n; a++)
                for (size_t b = a + 1; b < n; b++) {
                        before[a * n + b] = fresh(m->cnf);
                        before[b * n + a] = -before[a * n + b];
                }
        for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                        for (size_t c = 0; c < n && a != b; c++)
                                if (c != a && c != b)
                                        cnf_add_clause(m->cnf, (int32_t[]){-before[a * n + b], -before[b * n + c], before[a * n + c]}, 3);
        for (size_t b = 0; b < n; b++) {
                k = 0;
                for (size_t a = 0; a < n; a++)
                        if (a != b)
                                list[k++] = before[a * n + b];
                if (b != least)
                        cnf_add_clause(m->cnf, list, k);
        }
        m->answer = least < n ? VERDICT_SAT : VERDICT_UNSAT;
}

enum netlist {
        NETLIST_AND,
        NETLIST_XOR,
        NETLIST_CHOICE, /* l[0] ? l[1] : l[2] */
        NETLIST_MIXED,
        N_NETLISTS
};

/* A new literal, equal to the gate of these literals. `l` has room for one more. */
static int32_t wide_gate(struct cnf *c, enum netlist kind, int32_t *l, size_t n)
{
        int32_t o = fresh(c);

        if (kind == NETLIST_AND) {
                cnf_add_and(c, o, l, n);
        } else if (kind == NETLIST_XOR) {
                l[n] = o;
                cnf_add_xor(c, l, n + 1, false);
        } else {
                cnf_add_clause(c, (int32_t[]){-o, -l[0], l[1]}, 3);
                cnf_add_clause(c, (int32_t[]){-o, l[0], l[2]}, 3);
                cnf_add_clause(c, (int32_t[]){o, -l[0], -l[1]}, 3);
                cnf_add_clause(c, (int32_t[]){o, l[0], -l[2]}, 3);
        }
        return o;
}

static bool gate_value(enum netlist kind, const bool *in, size_t n)
{
        bool all = true, odd = false;

        for (size_t i = 0; i < n; i++) {
                all &= in[i];
                odd ^= in[i];
        }
        return kind == NETLIST_AND ? all : kind == NETLIST_XOR ? odd : in[0] ? in[1] : in[2];
}

/* Each gate's inputs are among the inputs and gates of a window before it. Either the outputs have their values under some inputs, or a second circuit has
 * the same gates, their inputs in another order, and one of its outputs differs. */
static void make_netlists(struct making *m)
{
        bool is_twice = toss(m);
        enum netlist kind = (enum netlist)below(m, N_NETLISTS);
        double most = (is_twice ? 4000 : 8000) / (kind == NETLIST_XOR ? 8 : 1); /* parities are hard */
        size_t n_inputs = 3 + scale_square(m, 0, 200), n_gates = scale_square(m, 2, most), n = n_inputs + n_gates, near = 3 + below(m, 3000);
        size_t n_wanted = 1 + below(m, 30), n_outputs = MIN(n_gates, n_wanted);
        cleanup_free int32_t *a = allocate(n, sizeof(*a)), *b = allocate(n, sizeof(*b));
        cleanup_free bool *value = allocate(n, sizeof(*value));
        struct circuit u = {.cnf = m->cnf};

        for (size_t i = 0; i < n_inputs; i++) {
                a[i] = b[i] = fresh(m->cnf);
                value[i] = toss(m);
        }
        for (size_t i = n_inputs; i < n; i++) {
                enum netlist of = kind == NETLIST_MIXED ? (enum netlist)below(m, NETLIST_MIXED) : kind;
                size_t k = of == NETLIST_CHOICE ? 3 : 2 + below(m, of == NETLIST_XOR ? 3 : 6), first = i - MIN(i, near);
                int32_t l[8], mirrored[8];
                bool in[8];

                for (size_t j = 0; j < k; j++) {
                        size_t at = first + below(m, i - first), to = of == NETLIST_CHOICE ? j : k - 1 - j;
                        bool is_negated = toss(m);

                        in[j] = value[at] ^ is_negated;
                        l[j] = is_negated ? -a[at] : a[at];
                        mirrored[to] = is_negated ? -b[at] : b[at];
                }
                a[i] = wide_gate(m->cnf, of, l, k);
                value[i] = gate_value(of, in, k);
                if (is_twice)
                        b[i] = wide_gate(m->cnf, of, mirrored, k);
        }
        if (is_twice)
                add_miter(&u, a + n - n_outputs, b + n - n_outputs, n_outputs);
        else
                for (size_t i = n - n_outputs; i < n; i++)
                        cnf_add_clause(m->cnf, (int32_t[]){value[i] ? a[i] : -a[i]}, 1);
        m->answer = is_twice ? VERDICT_UNSAT : VERDICT_SAT;
}

static void make_mixed(struct making *m)
{
        size_t n = scale_square(m, 4, 25000);
        double most = n < 100 ? 1.4 : 0.85, share = 0.5 + (most - 0.5) * random_uniform(m->random); /* of the threshold */
        double twos = 0.9 * random_uniform(m->random), threes = thresholds[3] * (1 - twos) * share;

        m->cnf->variables = (uint32_t)n;
        for (size_t i = 0; i < (size_t)(twos * (double)n); i++)
                add_random_clause(m, 2, draw_any, NULL);
        for (size_t i = 0; i < (size_t)(threes * (double)n); i++)
                add_random_clause(m, 3, draw_any, NULL);
}

static void make_family(struct making *m, enum cnf_family f);

/* In two of three formulas all parts known to be unsatisfiable are left out; in the others one is let in, from `unsat_from` literals on. */
static void make_components(struct making *m)
{
        enum cnf_family f = (enum cnf_family)below(m, CNF_COMPONENTS);
        unsigned size = 1 + (unsigned)below(m, MIN(m->size, 10u));
        size_t literals = scale_square(m, 1, 150000), unsat_from = below(m, 3) == 0 ? below(m, literals) : SIZE_MAX;

        m->answer = VERDICT_SAT;
        while (m->cnf->n_literals < literals) {
                cleanup_cnf struct cnf *c = cnf_new();
                struct making part = {.cnf = c, .random = m->random, .size = size, .answer = VERDICT_UNKNOWN};
                uint32_t before = m->cnf->variables;

                make_family(&part, f);
                if (part.answer == VERDICT_UNSAT && m->cnf->n_literals < unsat_from) {
                        size = 1 + (unsigned)below(m, MIN(m->size, 10u)); /* of some sizes all are */
                        continue;
                }
                if (part.answer == VERDICT_UNSAT)
                        unsat_from = SIZE_MAX;
                if (part.answer == VERDICT_UNSAT || m->answer == VERDICT_SAT)
                        m->answer = part.answer;
                cnf_append(m->cnf, c, before);
                m->cnf->variables = before + c->variables; /* the highest may occur nowhere */
        }
}

/* -- all of them -- */

static void make_family(struct making *m, enum cnf_family f)
{
        static void (*const families[N_CNF_FAMILIES])(struct making *m) = {
                [CNF_RANDOM] = make_random,       [CNF_COMMUNITIES] = make_communities, [CNF_PIGEONS] = make_pigeons,
                [CNF_TSEITIN] = make_tseitin,     [CNF_PARITY] = make_parity,           [CNF_XORS] = make_xors,
                [CNF_CARDINALITY] = make_cardinality, [CNF_PEBBLING] = make_pebbling,   [CNF_ADDERS] = make_adders,
                [CNF_MULTIPLIERS] = make_multipliers, [CNF_LATIN] = make_latin,         [CNF_QUEENS] = make_queens,
                [CNF_COLORS] = make_colors,       [CNF_ORDERING] = make_ordering,       [CNF_NETLISTS] = make_netlists,
                [CNF_MIXED] = make_mixed,         [CNF_COMPONENTS] = make_components,
        };

        families[f](m);
}

struct cnf *cnf_generate(struct random *r, enum cnf_family f, unsigned size, enum verdict *ret_answer)
{
        struct making m = {.cnf = cnf_new(), .random = r, .size = MIN(MAX(size, 1u), CNF_SIZE_MOST), .answer = VERDICT_UNKNOWN};

        make_family(&m, f);
        if (ret_answer)
                *ret_answer = m.answer;
        return m.cnf;
}
