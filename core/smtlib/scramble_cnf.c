/* DIMACS scrambled. */
#include "cache/base/random.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/scramble.h"

struct formula {
        int32_t *literals; /* of all clauses, one behind the other */
        size_t n_literals;
        size_t *ends; /* of each clause, in literals */
        size_t n_clauses;
        uint32_t variables; /* the highest that occurs */
};

static void formula_done(struct formula *f)
{
        free(f->literals);
        free(f->ends);
}

static void add_literal(struct formula *f, int32_t literal)
{
        if (literal == 0) {
                list_grow(f->ends, f->n_clauses);
                f->ends[f->n_clauses++] = f->n_literals;
                return;
        }
        list_grow(f->literals, f->n_literals);
        f->literals[f->n_literals++] = literal;
        f->variables = MAX(f->variables, (uint32_t)abs(literal));
}

static int read_formula(struct cnf_reader *reader, struct formula *f)
{
        int32_t literal;
        int r;

        while ((r = cnf_next(reader, &literal)) > 0)
                add_literal(f, literal);
        if (r < 0)
                return r;
        if (f->variables > reader->variables)
                return errorf(-EINVAL, "variable %u, and the header announces %lld: write p cnf %u %lld", f->variables,
                              (long long)reader->variables, f->variables, (long long)reader->clauses);
        if (f->n_clauses > UINT32_MAX)
                return -EFBIG;
        if (reader->has_projection)
                return errorf(-ENOTSUP, "cannot scramble this: a comment (c ind, c p) names variables by their numbers");
        if (f->variables == 0)
                return errorf(-ENOTSUP, "cannot scramble this: no variable occurs");
        return 0;
}

static uint32_t *shuffled(struct random *random, size_t n)
{
        uint32_t *list = allocate(n, sizeof(*list));

        for (size_t i = 0; i < n; i++)
                list[i] = (uint32_t)i;
        random_shuffle(random, list, n);
        return list;
}

/* The literal that stands for each variable: another one, or its complement. */
static int32_t *literals_for(struct random *random, size_t n)
{
        uint32_t *order = shuffled(random, n);

        for (size_t i = 0; i < n; i++)
                order[i] = random_bits(random) >> 63 ? order[i] + 1 : -(order[i] + 1);
        return (int32_t *)order;
}

static void print_clause(const struct formula *f, size_t at, const int32_t *as, struct random *random, struct buffer *ret)
{
        size_t begin = at == 0 ? 0 : f->ends[at - 1];

        random_shuffle(random, (uint32_t *)f->literals + begin, f->ends[at] - begin);
        for (size_t i = begin; i < f->ends[at]; i++) {
                int32_t literal = f->literals[i];

                buffer_addf(ret, "%d ", literal > 0 ? as[literal - 1] : -as[-literal - 1]);
        }
        buffer_adds(ret, "0\n");
}

int scramble_cnf(struct slice bytes, uint64_t seed, struct buffer *ret)
{
        cleanup(formula_done) struct formula f = {0};
        cleanup_free uint32_t *order = NULL;
        cleanup_free int32_t *as = NULL;
        struct cnf_reader reader;
        struct random random;
        int r;

        if (seed == 0) {
                buffer_add(ret, bytes.data, bytes.size);
                return buffer_error(ret);
        }
        cnf_reader_init(&reader, bytes);
        if ((r = read_formula(&reader, &f)) < 0)
                return r;
        random_seed(&random, seed);
        as = literals_for(&random, f.variables);
        order = shuffled(&random, f.n_clauses);
        buffer_addf(ret, "p cnf %lld %lld\n", (long long)reader.variables, (long long)reader.clauses);
        for (size_t i = 0; i < f.n_clauses; i++)
                print_clause(&f, order[i], as, &random, ret);
        return buffer_error(ret);
}
