/* DIMACS scrambled. */
#include "cache/base/random.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/scramble.h"

/* The literal that replaces each variable: a variable, perhaps the same, or its complement. */
static int32_t *literals_for(struct random *random, size_t n)
{
        uint32_t *order = random_permutation(random, 0, n);

        for (size_t i = 0; i < n; i++)
                order[i] = random_bits(random) >> 63 ? order[i] + 1 : -(order[i] + 1);
        return (int32_t *)order;
}

/* Shuffles the clause's literals, in place, and prints them replaced. */
static void print_clause(const struct cnf *f, size_t at, const int32_t *new, struct random *random, struct buffer *ret)
{
        size_t n;
        int32_t *clause = cnf_clause(f, at, &n);

        random_shuffle(random, (uint32_t *)clause, n);
        for (size_t i = 0; i < n; i++)
                buffer_addf(ret, "%d ", clause[i] > 0 ? new[clause[i] - 1] : -new[-clause[i] - 1]);
        buffer_adds(ret, "0\n");
}

int scramble_cnf(struct slice bytes, uint64_t seed, struct buffer *ret)
{
        cleanup_cnf struct cnf *f = NULL;
        cleanup_free uint32_t *order = NULL;
        cleanup_free int32_t *new = NULL; /* by variable: literals_for() */
        struct cnf_reader reader;
        struct random random;
        int r;

        if (seed == 0) {
                buffer_add(ret, bytes.data, bytes.size);
                return buffer_error(ret);
        }
        cnf_reader_init(&reader, bytes);
        if ((r = cnf_read(&reader, &f)) < 0)
                return r;
        if (reader.names_variables)
                return errorf(-ENOTSUP, "cannot scramble this: a comment (c ind, c p) names variables by their numbers");
        if (f->variables == 0)
                return errorf(-ENOTSUP, "cannot scramble this: no variable occurs");
        random_seed(&random, seed);
        new = literals_for(&random, f->variables);
        order = random_permutation(&random, 0, f->n_clauses);
        buffer_addf(ret, "p cnf %lld %lld\n", (long long)reader.variables, (long long)reader.clauses);
        for (size_t i = 0; i < f->n_clauses; i++)
                print_clause(f, order[i], new, &random, ret);
        return buffer_error(ret);
}
