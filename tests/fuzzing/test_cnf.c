/* DIMACS: families with the answers that their constructions imply, by a search of this file's own and by the solvers that are installed; mutants that are
 * others and can be read; gates found again; strategies over it. */
#include "core/fuzz/cnf_generate.h"
#include "core/fuzz/strategy.h"

#include "tests/support/test.h"

static const char *const names[N_CNF_FAMILIES] = {"random", "communities", "pigeons", "tseitin", "parity", "xors", "cardinality", "pebbling", "adders", "multipliers",
                                                   "latin", "queens", "colors", "ordering", "netlists", "mixed", "components"};

static struct cnf *family(enum cnf_family f, unsigned size, uint64_t seed, enum verdict *ret)
{
        struct random r;

        random_seed(&r, seed);
        return cnf_generate(&r, f, size, ret);
}

static char *text_of(const struct cnf *c)
{
        struct buffer b = {0};

        assert_ok(cnf_print(c, &b));
        return b.data;
}

static struct cnf *read_text(const char *text, struct cnf_reader *reader)
{
        struct cnf *c = NULL;

        cnf_reader_init(reader, slice_string(text));
        assert_ok(cnf_read(reader, &c));
        return c;
}

/* What is printed can be read, is the same, and its header fits. */
static void assert_readable(const struct cnf *c)
{
        cleanup_free char *text = text_of(c), *again = NULL;
        struct cnf_reader reader;
        cleanup_cnf struct cnf *read = read_text(text, &reader);

        again = text_of(read);
        ck_assert_str_eq(strchr(again, '\n'), strchr(text, '\n')); /* the highest variable may occur nowhere */
        ck_assert_uint_eq((size_t)reader.clauses, read->n_clauses);
        for (size_t i = 0; i < c->n_literals; i++)
                ck_assert(c->literals[i] != 0 && (uint32_t)abs(c->literals[i]) <= c->variables);
}

static bool is_same(const struct cnf *a, const struct cnf *b)
{
        cleanup_free char *x = text_of(a), *y = text_of(b);

        return strcmp(x, y) == 0;
}

/* -- DPLL -- */

static bool propagate(const struct cnf *c, int8_t *values, bool *ret_is_decided)
{
        for (bool any = true; any;) {
                any = false;
                *ret_is_decided = true;
                for (size_t i = 0; i < c->n_clauses; i++) {
                        size_t n, open = 0;
                        const int32_t *clause = cnf_clause(c, i, &n);
                        int32_t last = 0;
                        bool holds = false;

                        for (size_t k = 0; k < n; k++) {
                                int8_t value = values[abs(clause[k])];

                                holds |= value == (clause[k] > 0 ? 1 : -1);
                                if (value == 0 && clause[k] != last) {
                                        last = clause[k];
                                        open++;
                                }
                        }
                        if (holds)
                                continue;
                        if (open == 0)
                                return false;
                        *ret_is_decided = false;
                        if (open == 1) {
                                values[abs(last)] = last > 0 ? 1 : -1;
                                any = true;
                        }
                }
        }
        return true;
}

/* Branches on a literal of the shortest open clause. */
static int32_t choose(const struct cnf *c, const int8_t *values)
{
        size_t shortest = SIZE_MAX;
        int32_t best = 0;

        for (size_t i = 0; i < c->n_clauses; i++) {
                size_t n, open = 0;
                const int32_t *clause = cnf_clause(c, i, &n);
                int32_t any = 0;
                bool holds = false;

                for (size_t k = 0; k < n; k++) {
                        holds |= values[abs(clause[k])] == (clause[k] > 0 ? 1 : -1);
                        if (values[abs(clause[k])] == 0) {
                                any = clause[k];
                                open++;
                        }
                }
                if (!holds && open > 0 && open < shortest) {
                        shortest = open;
                        best = any;
                }
        }
        return best;
}

static bool is_satisfiable_with(const struct cnf *c, const int8_t *given)
{
        cleanup_free int8_t *values = allocate((size_t)c->variables + 1, sizeof(*values));
        bool is_decided;
        int32_t literal;

        memcpy(values, given, (size_t)c->variables + 1);
        if (!propagate(c, values, &is_decided))
                return false;
        if (is_decided)
                return true;
        literal = choose(c, values);
        values[abs(literal)] = literal > 0 ? 1 : -1;
        if (is_satisfiable_with(c, values))
                return true;
        values[abs(literal)] *= -1;
        return is_satisfiable_with(c, values);
}

static enum verdict answer_of(const struct cnf *c)
{
        cleanup_free int8_t *values = allocate((size_t)c->variables + 1, sizeof(*values));

        return is_satisfiable_with(c, values) ? VERDICT_SAT : VERDICT_UNSAT;
}

/* -- families -- */

START_TEST(test_families)
{
        for (enum cnf_family f = 0; f < N_CNF_FAMILIES; f++) {
                bool answers[N_VERDICTS] = {false};

                for (unsigned i = 0; i < 60; i++) {
                        unsigned size = 1 + i % 4;
                        enum verdict answer, is;
                        cleanup_cnf struct cnf *c = family(f, size, test_seed(i), &answer), *again = family(f, size, test_seed(i), NULL);

                        assert_readable(c);
                        ck_assert(is_same(c, again));
                        is = answer_of(c);
                        answers[is] = true;
                        ck_assert_msg(answer == VERDICT_UNKNOWN || answer == is, "%s of size %u, seed %u is %s", names[f], size, i,
                                      verdict_name(is));
                }
                ck_assert_msg(answers[VERDICT_SAT] && answers[VERDICT_UNSAT], "%s: one answer alone", names[f]);
        }
}
END_TEST

START_TEST(test_families_of_all_sizes)
{
        for (enum cnf_family f = 0; f < N_CNF_FAMILIES; f++)
                for (unsigned size = 0; size <= CNF_SIZE_MOST + 1; size += size < 3 ? 1 : 7) {
                        cleanup_cnf struct cnf *c = family(f, size, test_seed(size), NULL);

                        assert_readable(c);
                        ck_assert_uint_gt(c->n_literals, 0);
                        ck_assert_uint_lt(c->n_literals, 500000);
                }
}
END_TEST

/* 0: it is not installed. Else its answer. */
static enum verdict ask(const char *solver, const struct cnf *c)
{
        cleanup_free char *text = text_of(c), *command = NULL;
        char path[] = "/tmp/solverfs-cnf-XXXXXX";
        int fd = mkstemp(path), status;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        command = format_string("timeout 100 %s %s >/dev/null 2>&1", solver, path);
        status = system(command);
        unlink(path);
        ck_assert(WIFEXITED(status));
        return WEXITSTATUS(status) == 10 ? VERDICT_SAT : WEXITSTATUS(status) == 20 ? VERDICT_UNSAT : VERDICT_ERROR;
}

START_TEST(test_installed_solvers)
{
        static const char *const solvers[] = {"cadical", "minisat", "cryptominisat5"};
        unsigned n = 0;

        for (size_t s = 0; s < ARRAY_SIZE(solvers); s++) {
                cleanup_free char *there = format_string("command -v %s >/dev/null", solvers[s]);

                if (system(there) != 0)
                        continue;
                n++;
                for (enum cnf_family f = 0; f < N_CNF_FAMILIES; f++)
                        for (unsigned i = 0; i < test_rounds(2); i++) {
                                enum verdict answer, is;
                                cleanup_cnf struct cnf *c = family(f, 3 + 4 * i, test_seed(i), &answer), *mutant = NULL;
                                struct random r;

                                is = ask(solvers[s], c);
                                ck_assert(verdict_is_decided(is));
                                ck_assert_msg(answer == VERDICT_UNKNOWN || answer == is, "%s says %s: %s", solvers[s], verdict_name(is),
                                              names[f]);
                                random_seed(&r, test_seed(i));
                                if (cnf_mutate(&r, c, (enum cnf_change)(i % N_CNF_CHANGES), NULL, &mutant) == 0)
                                        ck_assert(verdict_is_decided(ask(solvers[s], mutant)));
                        }
        }
        if (n == 0)
                fprintf(stderr, "skipped: none of cadical, minisat and cryptominisat5 is installed\n");
}
END_TEST

/* -- mutants -- */

START_TEST(test_mutants)
{
        bool changed[N_CNF_CHANGES] = {false};

        for (unsigned i = 0; i < 600; i++) {
                enum cnf_change change = (enum cnf_change)(i % N_CNF_CHANGES);
                cleanup_cnf struct cnf *c = family((enum cnf_family)(i % N_CNF_FAMILIES), 1 + i % 30, test_seed(i), NULL), *other = NULL;
                cleanup_cnf struct cnf *mutant = NULL, *again = NULL;
                struct random r;

                other = family((enum cnf_family)((i + 3) % N_CNF_FAMILIES), 1 + i % 9, test_seed(i), NULL);
                random_seed(&r, test_seed(i));
                if (cnf_mutate(&r, c, change, other, &mutant) < 0) {
                        ck_assert_ptr_null(mutant);
                        continue;
                }
                changed[change] = true;
                assert_readable(mutant);
                ck_assert(!is_same(c, mutant));
                ck_assert_uint_gt(mutant->n_literals, 0);
                random_seed(&r, test_seed(i));
                assert_ok(cnf_mutate(&r, c, change, other, &again));
                ck_assert(is_same(mutant, again));
                if (change == CNF_RESOLVE && i % 30 < 4)
                        ck_assert_int_eq(answer_of(c), answer_of(mutant));
        }
        for (enum cnf_change change = 0; change < N_CNF_CHANGES; change++)
                ck_assert_msg(changed[change], "change %d never came", change);
}
END_TEST

START_TEST(test_nothing_to_mutate)
{
        static const char *const texts[] = {"p cnf 0 0\n", "p cnf 3 1\n0\n", "p cnf 1 1\n1 0\n", "p cnf 1 2\n0\n1 0\n", "p cnf 2 1\n2 2 -2 0\n"};

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                for (unsigned k = 0; k < 20 * N_CNF_CHANGES; k++) {
                        struct cnf_reader reader;
                        cleanup_cnf struct cnf *c = read_text(texts[i], &reader), *mutant = NULL;
                        struct random r;
                        int x;

                        random_seed(&r, k);
                        x = cnf_mutate(&r, c, (enum cnf_change)(k % N_CNF_CHANGES), NULL, &mutant);
                        ck_assert(x == 0 || x == -ENOENT);
                        ck_assert(x == 0 ? !is_same(c, mutant) : !mutant);
                        if (mutant)
                                assert_readable(mutant);
                }
}
END_TEST

/* -- gates -- */

START_TEST(test_gates)
{
        struct random r;

        random_seed(&r, test_seed(3));
        for (unsigned i = 0; i < 200; i++) {
                cleanup_cnf struct cnf *c = cnf_new();
                cleanup_gates struct gates g = {0};
                int32_t l[4];
                size_t n = 2 + random_below(&r, 2);

                for (size_t k = 0; k <= n; k++)
                        l[k] = (int32_t)(10 * k + 1 + random_below(&r, 9)) * (random_below(&r, 2) == 0 ? 1 : -1);
                if (i % 3 == 0)
                        cnf_add_and(c, l[0], l + 1, n);
                else if (i % 3 == 1)
                        cnf_add_or(c, l[0], l + 1, n);
                else
                        cnf_add_xor(c, l, n + 1, i % 2);
                cnf_add_clause(c, (int32_t[]){50, 51, 52}, 3);
                g = gates_of(c);
                ck_assert_uint_eq(g.n, 1);
                ck_assert_int_eq(g.list[0].kind, i % 3 == 2 ? GATE_XOR : GATE_AND);
                ck_assert_uint_eq(g.list[0].n_inputs, n);
                ck_assert_uint_eq(g.list[0].n_clauses, c->n_clauses - 1);
                if (i % 3 < 2)
                        ck_assert_int_eq(g.list[0].output, i % 3 == 0 ? l[0] : -l[0]);
                else { /* written once more it means the same */
                        int32_t parity[] = {g.list[0].output, g.list[0].inputs[0], g.list[0].inputs[1], g.list[0].inputs[2]};

                        c->n_clauses = c->n_clauses - 1;
                        c->n_literals = c->ends[c->n_clauses - 1];
                        cnf_add_xor(c, parity, n + 1, true); /* what is recognized has an even parity */
                        ck_assert_int_eq(answer_of(c), VERDICT_UNSAT);
                }
        }
}
END_TEST

/* -- shapes and strategies -- */

/* Does `s` have all parts of `other`? */
static bool includes(const struct shape *s, const struct shape *other)
{
        size_t n = 0;

        while (n < other->n && shape_has(s, other->parts[n]))
                n++;
        return n == other->n;
}

START_TEST(test_shapes)
{
        struct shape shapes[N_CNF_FAMILIES] = {0};

        for (enum cnf_family f = 0; f < N_CNF_FAMILIES; f++) {
                cleanup_cnf struct cnf *c = family(f, 30, test_seed(4), NULL);
                cleanup_shape struct shape again = {0};

                shapes[f] = shape_of_cnf(c);
                again = shape_of_cnf(c);
                ck_assert(includes(&shapes[f], &again) && includes(&again, &shapes[f]));
                for (enum cnf_family g = 0; g < f; g++)
                        ck_assert(!includes(&shapes[f], &shapes[g]) && !includes(&shapes[g], &shapes[f]));
        }
        for (enum cnf_family f = 0; f < N_CNF_FAMILIES; f++)
                shape_done(&shapes[f]);
}
END_TEST

/* The target is slow on formulas with twenty parity gates or more. */
static bool is_planted(struct slice text)
{
        struct cnf_reader reader;
        cleanup_cnf struct cnf *c = NULL;
        cleanup_gates struct gates g = {0};
        size_t n = 0;

        cnf_reader_init(&reader, text);
        assert_ok(cnf_read(&reader, &c));
        g = gates_of(c);
        for (size_t i = 0; i < g.n; i++)
                n += g.list[i].kind == GATE_XOR && g.list[i].n_inputs > 1;
        return n >= 20;
}

/* How many finds; `log` receives all inputs. */
static unsigned play(const struct strategy_options *o, unsigned inputs, struct buffer *log)
{
        cleanup_strategy struct strategy *s = NULL;
        unsigned finds = 0;

        assert_ok(strategy_new(o, &s));
        for (unsigned i = 0; i < inputs; i++) {
                struct strategy_input input;
                unsigned version;
                double seconds, score;

                assert_ok(strategy_next(s, &input));
                buffer_addf(log, "%s %.*s\n", input.source, (int)input.text.size, (const char *)input.text.data);
                while (strategy_step(s, input.id, &version, &seconds)) {
                        bool is_slow = version == 1 && is_planted(input.text);

                        strategy_ran(s, input.id, version, &(struct outcome){is_slow ? seconds : 0.1, is_slow ? VERDICT_TIMEOUT : VERDICT_SAT});
                }
                if (strategy_finish(s, input.id, strategy_wants(s, input.id, NULL), &score)) {
                        strategy_confirmed(s, input.id, true);
                        finds++;
                }
        }
        return finds;
}

START_TEST(test_strategy)
{
        struct strategy_options o = strategy_defaults;
        cleanup_buffer struct buffer a = {0}, b = {0};
        uint64_t cnf, smt;

        o.seed = test_seed(5);
        o.is_cnf = true;
        ck_assert_uint_gt(play(&o, 60, &a), 0);
        play(&o, 60, &b);
        ck_assert_str_eq(a.data, b.data);
        ck_assert(strstr(a.data, "\nmutated p cnf") && strstr(a.data, "\nhuge p cnf") && strstr(a.data, "\nfind p cnf"));
        assert_ok(strategy_fingerprint(&o, &cnf));
        o.is_cnf = false;
        assert_ok(strategy_fingerprint(&o, &smt));
        ck_assert_uint_ne(cnf, smt);
}
END_TEST

START_TEST(test_corpus)
{
        struct formula corpus[2] = {0};
        struct strategy_options o = strategy_defaults;
        cleanup_buffer struct buffer log = {0};
        struct cnf_reader reader;

        corpus[0].cnf = read_text("c a comment\np cnf 3 2\n1 -2 0\n2 3 0\n", &reader);
        corpus[1].cnf = family(CNF_PIGEONS, 20, 1, NULL);
        o.is_cnf = true;
        o.corpus = corpus;
        o.n_corpus = 2;
        play(&o, 50, &log);
        ck_assert(strncmp(log.data, "corpus p cnf", 12) == 0 && !strstr(log.data, "\nsmall"));
        for (size_t i = 0; i < 2; i++)
                formula_done(&corpus[i]);
}
END_TEST

SUITE_TIMEOUT("cnf", 600, test_families, test_families_of_all_sizes, test_installed_solvers, test_mutants, test_nothing_to_mutate, test_gates, test_shapes,
              test_strategy, test_corpus)
