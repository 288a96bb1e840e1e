#include "core/fuzz/cnf_generate.h"

#define RESOLVENT_MOST 100 /* literals */

/* A change under way. Each function below with a row in enum cnf_change makes one; false: it changed nothing, or left no literal. */
struct change {
        struct random *random;
        struct cnf *cnf; /* owned; changed in place */
        const struct cnf *other;
};

static size_t below(struct change *c, size_t n)
{
        return (size_t)random_below(c->random, n);
}

static bool toss(struct change *c)
{
        return random_bits(c->random) >> 63;
}

static int32_t any_literal(struct change *c)
{
        int32_t variable = 1 + (int32_t)below(c, c->cnf->variables);

        return toss(c) ? variable : -variable;
}

/* The clause that holds the literal at an index. */
static size_t clause_at(const struct cnf *c, size_t place)
{
        size_t at = 0;

        while (c->ends[at] <= place)
                at++;
        return at;
}

/* Removes the marked clauses. */
static void leave_out(struct cnf *c, const bool *is_out)
{
        size_t n_clauses = 0, n_literals = 0;

        for (size_t i = 0, at = 0; i < c->n_clauses; i++) {
                for (size_t end = c->ends[i]; at < end; at++)
                        if (!is_out[i])
                                c->literals[n_literals++] = c->literals[at];
                if (!is_out[i])
                        c->ends[n_clauses++] = n_literals;
        }
        c->n_clauses = n_clauses;
        c->n_literals = n_literals;
}

/* -- literals -- */

static bool flip(struct change *c)
{
        c->cnf->literals[below(c, c->cnf->n_literals)] *= -1;
        return true;
}

static bool drop(struct change *c)
{
        struct cnf *f = c->cnf;

        for (unsigned tries = 0; tries < 20; tries++) {
                size_t place = below(c, f->n_literals), clause = clause_at(f, place), n;

                cnf_clause(f, clause, &n);
                if (n < 2)
                        continue;
                memmove(f->literals + place, f->literals + place + 1, (f->n_literals - place - 1) * sizeof(*f->literals));
                f->n_literals--;
                for (size_t i = clause; i < f->n_clauses; i++)
                        f->ends[i]--;
                return true;
        }
        return false;
}

static bool extend(struct change *c)
{
        struct cnf *f = c->cnf;
        size_t clause = below(c, f->n_clauses), place = f->ends[clause];

        list_grow(f->literals, f->n_literals);
        memmove(f->literals + place + 1, f->literals + place, (f->n_literals - place) * sizeof(*f->literals));
        f->literals[place] = any_literal(c);
        f->n_literals++;
        for (size_t i = clause; i < f->n_clauses; i++)
                f->ends[i]++;
        return true;
}

/* -- clauses -- */

static bool drop_clause(struct change *c)
{
        cleanup_free bool *is_out = allocate(c->cnf->n_clauses, sizeof(*is_out));

        if (c->cnf->n_clauses < 2)
                return false;
        is_out[below(c, c->cnf->n_clauses)] = true;
        leave_out(c->cnf, is_out);
        return c->cnf->n_literals > 0;
}

static bool add_clause(struct change *c)
{
        size_t n = 2 + below(c, 3);

        for (size_t i = 0; i < n; i++)
                cnf_add(c->cnf, any_literal(c));
        cnf_add(c->cnf, 0);
        return true;
}

/* A copy of a clause: adding to a formula moves its literals. */
static int32_t *copy_clause(const struct cnf *c, size_t at, size_t *ret_n)
{
        const int32_t *clause = cnf_clause(c, at, ret_n);

        return memcpy(allocate(*ret_n + 1, sizeof(*clause)), clause, *ret_n * sizeof(*clause));
}

static bool duplicate(struct change *c)
{
        size_t n;
        cleanup_free int32_t *clause = copy_clause(c->cnf, below(c, c->cnf->n_clauses), &n);

        if (n == 0)
                return false;
        clause[below(c, n)] *= -1;
        cnf_add_clause(c->cnf, clause, n);
        return true;
}

static bool merge(struct change *c)
{
        cleanup_free bool *is_out = allocate(c->cnf->n_clauses + 1, sizeof(*is_out));

        if (c->cnf->n_clauses < 2)
                return false;
        for (unsigned i = 0; i < 2;) {
                size_t at = below(c, c->cnf->n_clauses), n;
                cleanup_free int32_t *clause = copy_clause(c->cnf, at, &n);

                for (size_t k = 0; !is_out[at] && k < n; k++)
                        cnf_add(c->cnf, clause[k]);
                i += !is_out[at];
                is_out[at] = true;
        }
        cnf_add(c->cnf, 0);
        leave_out(c->cnf, is_out);
        return c->cnf->n_literals > 0;
}

static bool has_literal(const int32_t *clause, size_t n, int32_t literal)
{
        while (n > 0 && clause[n - 1] != literal)
                n--;
        return n > 0;
}

/* Resolves on a literal of a random clause, with the first clause, from a random one on, that has its complement and clashes in no other literal. */
static bool resolve(struct change *c)
{
        struct cnf *f = c->cnf;
        size_t place = below(c, f->n_literals), n, from = below(c, f->n_clauses);
        int32_t on = f->literals[place];
        cleanup_free int32_t *clause = copy_clause(f, clause_at(f, place), &n);

        for (size_t i = 0; i < f->n_clauses; i++) {
                size_t n_other, kept = 0;
                const int32_t *other = cnf_clause(f, (from + i) % f->n_clauses, &n_other);
                cleanup_free int32_t *resolvent = NULL;
                bool is_tautology = false;

                if (n + n_other > RESOLVENT_MOST || !has_literal(other, n_other, -on))
                        continue;
                resolvent = allocate(n + n_other, sizeof(*resolvent));
                for (size_t k = 0; k < n + n_other; k++) {
                        int32_t literal = k < n ? clause[k] : other[k - n];

                        if (literal == (k < n ? on : -on))
                                continue;
                        is_tautology |= has_literal(resolvent, kept, -literal);
                        if (!has_literal(resolvent, kept, literal))
                                resolvent[kept++] = literal;
                }
                if (is_tautology || kept == 0)
                        continue;
                cnf_add_clause(f, resolvent, kept);
                return true;
        }
        return false;
}

/* -- variables -- */

static bool change_signs(struct change *c)
{
        int32_t variable = abs(c->cnf->literals[below(c, c->cnf->n_literals)]);
        bool everywhere = toss(c), any = false;

        for (size_t i = 0; i < c->cnf->n_literals; i++)
                if (abs(c->cnf->literals[i]) == variable && (everywhere || toss(c))) {
                        c->cnf->literals[i] *= -1;
                        any = true;
                }
        return any;
}

static bool identify(struct change *c)
{
        int32_t variable = abs(c->cnf->literals[below(c, c->cnf->n_literals)]), as = any_literal(c);

        if (variable == abs(as))
                return false;
        for (size_t i = 0; i < c->cnf->n_literals; i++)
                if (abs(c->cnf->literals[i]) == variable)
                        c->cnf->literals[i] = c->cnf->literals[i] > 0 ? as : -as;
        return true;
}

/* -- gates -- */

static bool change_gate(struct change *c)
{
        cleanup_gates struct gates g = gates_of(c->cnf);
        cleanup_free bool *is_out = allocate(c->cnf->n_clauses, sizeof(*is_out));
        int32_t parity[GATE_INPUTS + 1];
        const struct gate *gate;

        if (g.n == 0)
                return false;
        gate = &g.list[below(c, g.n)];
        for (uint32_t i = 0; i < gate->n_clauses; i++)
                is_out[gate->clauses[i]] = true;
        leave_out(c->cnf, is_out);
        memcpy(parity, gate->inputs, sizeof(gate->inputs));
        parity[gate->n_inputs] = gate->output;
        if (gate->kind == GATE_XOR && gate->n_inputs > 1)
                cnf_add_and(c->cnf, gate->output, gate->inputs, gate->n_inputs);
        else if (gate->kind != GATE_XOR && (gate->n_inputs > 3 || toss(c))) /* a XOR of more inputs would have too many clauses */
                cnf_add_or(c->cnf, gate->output, gate->inputs, gate->n_inputs);
        else
                cnf_add_xor(c->cnf, parity, gate->n_inputs + 1, gate->kind == GATE_XOR); /* for an equality: its complement */
        return true;
}

static bool add_xor(struct change *c)
{
        int32_t literals[4];
        size_t n = 2 + below(c, 3);

        for (size_t i = 0; i < n; i++)
                literals[i] = abs(any_literal(c));
        cnf_add_xor(c->cnf, literals, n, toss(c));
        return true;
}

/* -- two formulas -- */

static bool graft(struct change *c)
{
        uint32_t most, shared;

        if (!c->other || c->other->n_literals == 0 || c->other->variables > INT32_MAX - c->cnf->variables)
                return false;
        most = MIN(c->cnf->variables, c->other->variables);
        shared = toss(c) ? 0 : 1 + (uint32_t)below(c, most);
        cnf_append(c->cnf, c->other, c->cnf->variables - shared);
        return true;
}

static bool is_same(const struct cnf *a, const struct cnf *b)
{
        return a->n_clauses == b->n_clauses && a->n_literals == b->n_literals && memcmp(a->ends, b->ends, a->n_clauses * sizeof(*a->ends)) == 0 &&
               memcmp(a->literals, b->literals, a->n_literals * sizeof(*a->literals)) == 0;
}

int cnf_mutate(struct random *r, const struct cnf *from, enum cnf_change what, const struct cnf *other, struct cnf **ret)
{
        static bool (*const changes[])(struct change *c) = {
                [CNF_FLIP] = flip,           [CNF_DROP] = drop,         [CNF_EXTEND] = extend,      [CNF_DROP_CLAUSE] = drop_clause,
                [CNF_ADD_CLAUSE] = add_clause, [CNF_DUPLICATE] = duplicate, [CNF_MERGE] = merge,    [CNF_RESOLVE] = resolve,
                [CNF_SIGNS] = change_signs,  [CNF_IDENTIFY] = identify, [CNF_GATE] = change_gate,   [CNF_ADD_XOR] = add_xor,
                [CNF_GRAFT] = graft,
        };
        cleanup_cnf struct cnf *copy = NULL;
        size_t times = what == CNF_GRAFT ? 1 : (size_t)1 << random_below(r, 4);
        bool any = false;

        if (from->n_literals == 0)
                return -ENOENT;
        copy = cnf_copy(from);
        for (size_t i = 0; i < times && copy->n_literals > 0; i++)
                any |= changes[what](&(struct change){.random = r, .cnf = copy, .other = other});
        if (!any || copy->n_literals == 0 || is_same(copy, from))
                return -ENOENT;
        copy->variables = 0; /* the highest variable may have gone */
        for (size_t i = 0; i < copy->n_literals; i++)
                copy->variables = MAX(copy->variables, (uint32_t)abs(copy->literals[i]));
        *ret = steal_pointer(copy);
        return 0;
}
