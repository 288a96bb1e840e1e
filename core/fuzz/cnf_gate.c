/* Gates as clauses, and gates found in clauses: of AND by the binary clauses of its output, of XOR by sorting clauses by their variables. */
#include "core/fuzz/cnf_generate.h"

/* -- encoding -- */

/* sign -1: the disjunction, as the negated conjunction of the complements. */
static void add_conjunction(struct cnf *c, int32_t output, const int32_t *inputs, size_t n, int32_t sign)
{
        for (size_t i = 0; i < n; i++)
                cnf_add_clause(c, (int32_t[]){-sign * output, sign * inputs[i]}, 2);
        cnf_add(c, sign * output);
        for (size_t i = 0; i < n; i++)
                cnf_add(c, -sign * inputs[i]);
        cnf_add(c, 0);
}

void cnf_add_and(struct cnf *c, int32_t output, const int32_t *inputs, size_t n)
{
        add_conjunction(c, output, inputs, n, 1);
}

void cnf_add_or(struct cnf *c, int32_t output, const int32_t *inputs, size_t n)
{
        add_conjunction(c, output, inputs, n, -1);
}

void cnf_add_xor(struct cnf *c, const int32_t *literals, size_t n, bool is_odd)
{
        for (uint32_t values = 0; values < UINT32_C(1) << n; values++) { /* a forbidden combination */
                if (__builtin_parity(values) == is_odd)
                        continue;
                for (size_t i = 0; i < n; i++)
                        cnf_add(c, values >> i & 1 ? -literals[i] : literals[i]);
                cnf_add(c, 0);
        }
}

/* -- recognition -- */

void gates_done(struct gates *g)
{
        free(g->list);
        *g = (struct gates){0};
}

/* The clauses of two literals, by their first literal and then by their second: each clause is seen from both. */
struct pair {
        uint32_t first, second; /* literals as numbers: twice the variable, and 1 more where it is negated */
        uint32_t clause;
};

struct pairs {
        struct pair *list; /* owned; those of literal l from begin[l] to begin[l + 1] */
        uint32_t *begin;   /* owned */
        size_t n;
};

static uint32_t literal_number(int32_t l)
{
        return 2 * (uint32_t)abs(l) + (l < 0);
}

/* Sorts by counting, stably, by `second` or by `first`. ret_begin: where each literal's begin in `to`. */
static void sort_pairs(const struct pair *from, struct pair *to, size_t n, bool by_second, uint32_t *ret_begin, size_t n_literals)
{
        memset(ret_begin, 0, (n_literals + 1) * sizeof(*ret_begin));
        for (size_t i = 0; i < n; i++)
                ret_begin[(by_second ? from[i].second : from[i].first) + 1]++;
        for (size_t l = 0; l < n_literals; l++)
                ret_begin[l + 1] += ret_begin[l];
        for (size_t i = 0; i < n; i++)
                to[ret_begin[by_second ? from[i].second : from[i].first]++] = from[i];
        memmove(ret_begin + 1, ret_begin, n_literals * sizeof(*ret_begin));
        ret_begin[0] = 0;
}

static struct pairs pairs_of(const struct cnf *c)
{
        const size_t n_literals = 2 * ((size_t)c->variables + 1);
        struct pairs p = {.list = allocate(2 * c->n_clauses + 1, sizeof(struct pair)), .begin = allocate(n_literals + 1, sizeof(uint32_t))};
        cleanup_free struct pair *other = allocate(2 * c->n_clauses + 1, sizeof(*other));

        for (size_t i = 0; i < c->n_clauses; i++) {
                size_t n;
                const int32_t *l = cnf_clause(c, i, &n);

                if (n != 2)
                        continue;
                p.list[p.n++] = (struct pair){literal_number(l[0]), literal_number(l[1]), (uint32_t)i};
                p.list[p.n++] = (struct pair){literal_number(l[1]), literal_number(l[0]), (uint32_t)i};
        }
        sort_pairs(p.list, other, p.n, true, p.begin, n_literals);
        sort_pairs(other, p.list, p.n, false, p.begin, n_literals);
        return p;
}

static uint32_t n_pairs(const struct pairs *p, int32_t first)
{
        const uint32_t *begin = p->begin + literal_number(first);

        return begin[1] - begin[0];
}

static int compare_seconds(const void *a, const void *b)
{
        return compare_u32(&((const struct pair *)a)->second, &((const struct pair *)b)->second);
}

static const struct pair *find_pair(const struct pairs *p, int32_t first, int32_t second)
{
        const struct pair like = {.second = literal_number(second)}, *list = p->list + p->begin[literal_number(first)];
        const size_t n = n_pairs(p, first), at = lower_bound(&like, list, n, sizeof(*list), compare_seconds);

        return at < n && list[at].second == like.second ? &list[at] : NULL;
}

/* True if the literal at `output` of this clause is the conjunction of the others' complements. */
static bool is_and(const struct pairs *p, const int32_t *l, size_t n, size_t output, struct gate *ret)
{
        if (n_pairs(p, -l[output]) < n - 1)
                return false;
        ret->output = l[output];
        ret->n_inputs = 0;
        for (size_t i = 0; i < n; i++) {
                const struct pair *pair;

                if (i == output)
                        continue;
                pair = find_pair(p, -l[output], -l[i]);
                if (!pair)
                        return false;
                ret->clauses[ret->n_inputs] = pair->clause;
                ret->inputs[ret->n_inputs++] = -l[i];
        }
        ret->n_clauses = ret->n_inputs;
        return true;
}

static void find_ands(const struct cnf *c, struct gates *ret)
{
        struct pairs p = pairs_of(c);

        for (size_t i = 0; p.n > 0 && i < c->n_clauses; i++) {
                struct gate gate = {.kind = GATE_AND}, other;
                size_t n, at = 0;
                const int32_t *l = cnf_clause(c, i, &n);

                if (n < 3 || n > GATE_INPUTS + 1)
                        continue;
                while (at < n && !is_and(&p, l, n, at, &gate))
                        at++;
                if (at == n)
                        continue;
                for (at++; at < n && !is_and(&p, l, n, at, &other);)
                        at++;
                gate.kind = at < n ? GATE_ONE : GATE_AND;
                gate.clauses[gate.n_clauses++] = (uint32_t)i;
                list_add(ret->list, ret->n, gate);
        }
        free(p.list);
        free(p.begin);
}

/* A clause that may belong to a XOR: its variables, sorted, and their signs. */
#define PARITY_MOST 4u
struct parity {
        uint32_t variables[PARITY_MOST]; /* 0 after the last */
        uint32_t is_odd, negated;
        uint32_t clause;
};

static int compare_parities(const void *a, const void *b)
{
        const struct parity *x = a, *y = b;

        return memcmp(x, y, offsetof(struct parity, clause));
}

/* False if a variable occurs twice. */
static bool parity_of(const int32_t *l, size_t n, struct parity *ret)
{
        for (size_t i = 0; i < n; i++) {
                uint32_t variable = (uint32_t)abs(l[i]);
                size_t at = i;

                for (; at > 0 && ret->variables[at - 1] >= variable; at--) {
                        if (ret->variables[at - 1] == variable)
                                return false;
                        ret->variables[at] = ret->variables[at - 1];
                }
                ret->variables[at] = variable;
        }
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++)
                        if (l[i] < 0 && ret->variables[k] == (uint32_t)-l[i])
                                ret->negated |= UINT32_C(1) << k;
        ret->is_odd = (uint32_t)__builtin_parity(ret->negated);
        return true;
}

static size_t parity_length(const struct parity *p)
{
        size_t n = 0;

        while (n < PARITY_MOST && p->variables[n] > 0)
                n++;
        return n;
}

/* The gate of the first clauses of a sorted list, if all their 2ⁿ⁻¹ sign patterns occur. */
static bool is_xor(const struct parity *list, size_t n_list, struct gate *ret)
{
        const uint32_t n = (uint32_t)parity_length(list);

        if (n_list < (size_t)1 << (n - 1))
                return false;
        *ret = (struct gate){.kind = GATE_XOR, .n_inputs = n - 1, .n_clauses = UINT32_C(1) << (n - 1)};
        for (uint32_t i = 0; i < ret->n_clauses; i++) {
                if (memcmp(list[i].variables, list->variables, sizeof(list->variables)) != 0 || list[i].is_odd != list->is_odd ||
                    (i > 0 && list[i].negated == list[i - 1].negated))
                        return false;
                ret->clauses[i] = list[i].clause;
        }
        for (uint32_t i = 0; i + 1 < n; i++)
                ret->inputs[i] = (int32_t)list->variables[i];
        /* The forbidden patterns have this parity, so all variables together have the other one. */
        ret->output = list->is_odd ? (int32_t)list->variables[n - 1] : -(int32_t)list->variables[n - 1];
        return true;
}

static size_t parity_slot(const struct parity *p, size_t slots)
{
        uint64_t h = p->is_odd;

        for (size_t i = 0; i < PARITY_MOST; i++)
                h = (h ^ p->variables[i]) * UINT64_C(0x9e3779b97f4a7c15);
        return (h >> 32) % slots;
}

/* Leaves out clauses that have not enough others over the same variables: most of them, where a formula has few XORs. */
static size_t leave_out_single(struct parity *list, size_t n)
{
        const size_t slots = 2 * n + 1;
        cleanup_free uint32_t *seen = allocate(slots, sizeof(*seen));
        size_t left = 0;

        for (size_t i = 0; i < n; i++)
                seen[parity_slot(&list[i], slots)]++;
        for (size_t i = 0; i < n; i++)
                if (seen[parity_slot(&list[i], slots)] >= UINT32_C(1) << (parity_length(&list[i]) - 1))
                        list[left++] = list[i];
        return left;
}

static void find_xors(const struct cnf *c, struct gates *ret)
{
        cleanup_free struct parity *list = allocate(c->n_clauses + 1, sizeof(*list));
        size_t n = 0;

        for (size_t i = 0; i < c->n_clauses; i++) {
                size_t length;
                const int32_t *l = cnf_clause(c, i, &length);

                list[n] = (struct parity){.clause = (uint32_t)i};
                n += length >= 2 && length <= PARITY_MOST && parity_of(l, length, &list[n]);
        }
        n = leave_out_single(list, n);
        qsort(list, n, sizeof(*list), compare_parities);
        for (size_t i = 0; i < n;) {
                struct gate gate;

                if (is_xor(list + i, n - i, &gate)) {
                        list_add(ret->list, ret->n, gate);
                        i += gate.n_clauses;
                } else {
                        i++;
                }
        }
}

struct gates gates_of(const struct cnf *c)
{
        struct gates g = {0};

        find_ands(c, &g);
        find_xors(c, &g);
        return g;
}
