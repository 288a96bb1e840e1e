/* Generation, mutation, enumeration: well-sorted, never a no-op, the same for the same seed; the bandit, the distance and the adaptive
 * configuration by their definitions. */
#include "core/fuzz/strategy_internal.h"
#include "core/fuzz/generate.h"
#include "core/fuzz/formula.h"
#include "core/smtlib/logic.h"
#include "core/smtlib/print.h"

#include <math.h>

#include "tests/support/adapt.h"
#include "tests/support/diversity.h"
#include "tests/support/test.h"

static char *text_of(const struct script *s)
{
        struct buffer b = {0};

        assert_ok(script_print(s, NULL, &b));
        return b.data;
}

/* Printed and read strictly, which type-checks it; gives what was read. */
static struct script *read_back(const struct script *s)
{
        cleanup_free char *text = text_of(s);
        struct script *again = NULL;

        ck_assert_msg(
                script_read(slice_string(text), &(struct script_options){.dialect = s->dialect, .is_strict = true}, &again) == 0,
                "%s\n%s", error_message(-EINVAL), text);
        return again;
}

static struct script *read_text(const char *text)
{
        struct script *s = NULL;

        assert_ok(script_read(slice_string(text), NULL, &s));
        return s;
}

static bool is_same(const struct script *a, const struct script *b)
{
        cleanup_free char *x = text_of(a), *y = text_of(b);

        return strcmp(x, y) == 0;
}

static size_t count_operators(const struct script *s, bool seen[N_OPS])
{
        size_t n = 0;

        for (size_t i = 0; i < s->n_commands; i++) {
                cleanup(term_list_done) struct term_list all = {0};

                if (s->commands[i].kind != COMMAND_ASSERT)
                        continue;
                term_subterms(&s->commands[i].term, 1, &all);
                for (size_t k = 0; k < all.n; k++) {
                        n += all.list[k]->op != OP_NONE;
                        seen[all.list[k]->op] = true;
                }
        }
        return n;
}

/* -- generating -- */

START_TEST(test_formulas_are_well_sorted)
{
        for (enum dialect d = DIALECT_2_0; d < N_DIALECTS; d++) {
                cleanup_generator struct generator *g = NULL;
                struct generate_options o = generate_defaults;

                o.dialect = d;
                assert_ok(generator_new(&o, test_seed(7), &g));
                for (int i = 0; i < 300; i++) {
                        cleanup_script struct script *s = NULL, *again = NULL;

                        s = generate_formula(g);
                        again = read_back(s);
                        ck_assert(is_same(s, again));
                }
        }
}
END_TEST

START_TEST(test_every_operator_of_the_theory_comes)
{
        cleanup_generator struct generator *g = NULL;
        bool seen[N_OPS] = {false};

        assert_ok(generator_new(&generate_defaults, test_seed(1), &g));
        for (int i = 0; i < 3000; i++) {
                cleanup_script struct script *s = NULL;

                s = generate_formula(g);
                count_operators(s, seen);
        }
        for (int op = OP_NONE + 1; op < N_OPS; op++)
                if (operator_row((enum op)op)->theory == THEORY_STRINGS &&
                    !(operator_row((enum op)op)->flags & OPERATOR_EXTENSION))
                        ck_assert_msg(seen[op], "%s never came", operator_row((enum op)op)->name);
}
END_TEST

START_TEST(test_parameters_are_kept)
{
        cleanup_generator struct generator *g = NULL;
        struct generate_options o = generate_defaults;
        bool deep = false;

        o.variables = 4;
        o.assertions = 3;
        o.depth = 4;
        o.literal_length = 7;
        assert_ok(generator_new(&o, test_seed(5), &g));
        for (int i = 0; i < 200; i++) {
                cleanup_script struct script *s = NULL;
                size_t asserts = 0, constants = 0;

                s = generate_formula(g);
                for (size_t k = 0; k < s->n_commands; k++) {
                        const struct command *c = &s->commands[k];
                        cleanup(term_list_done) struct term_list all = {0};

                        constants += c->kind == COMMAND_DECLARE_FUN || c->kind == COMMAND_DECLARE_CONST;
                        if (c->kind != COMMAND_ASSERT)
                                continue;
                        asserts++;
                        deep |= c->term->depth >= 5;
                        ck_assert_uint_le(c->term->depth, 7); /* a leaf of RegLan or a negative number is an operator itself */
                        term_subterms(&c->term, 1, &all);
                        for (size_t n = 0; n < all.n; n++)
                                if (all.list[n]->kind == TERM_LITERAL && all.list[n]->sort->kind == SORT_STRING)
                                        ck_assert_uint_le(term_string_length(all.list[n]), 7);
                }
                ck_assert_uint_eq(asserts, 3);
                ck_assert_uint_eq(constants, 4);
        }
        ck_assert(deep);
}
END_TEST

START_TEST(test_same_seed_same_formulas)
{
        cleanup_generator struct generator *a = NULL, *b = NULL, *c = NULL;
        bool differs = false;

        assert_ok(generator_new(&generate_defaults, test_seed(3), &a));
        assert_ok(generator_new(&generate_defaults, test_seed(3), &b));
        assert_ok(generator_new(&generate_defaults, test_seed(4), &c));
        for (int i = 0; i < 50; i++) {
                cleanup_script struct script *x = NULL, *y = NULL, *z = NULL;

                x = generate_formula(a);
                y = generate_formula(b);
                z = generate_formula(c);
                ck_assert(is_same(x, y));
                differs |= !is_same(x, z);
        }
        ck_assert(differs);
}
END_TEST

START_TEST(test_refuses_nonsense)
{
        struct generate_options o = generate_defaults;
        double weights[N_OPS] = {[OP_EQUAL] = -1};
        struct generator *g = NULL;

        o.depth = 0;
        assert_error(generator_new(&o, 1, &g), EINVAL);
        o = generate_defaults;
        o.weights = weights;
        assert_error(generator_new(&o, 1, &g), EINVAL);
        weights[OP_EQUAL] = NAN;
        assert_error(generator_new(&o, 1, &g), EINVAL);
        ck_assert_ptr_null(g);
}
END_TEST

START_TEST(test_templates)
{
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(9), &g));
        for (int t = 0; t < N_TEMPLATES; t++)
                for (unsigned size = 1; size <= 9; size++) {
                        cleanup_script struct script *s = NULL, *again = NULL;

                        assert_ok(template_formula(g, (enum template)t, size, &s));
                        again = read_back(s);
                        ck_assert_msg(is_same(s, again), "template %d", t);
                }
        assert_error(template_formula(g, TEMPLATE_REGEX, 0, &(struct script *){0}), EINVAL);
}
END_TEST

/* -- logics -- */

static const char *const logics[] = {"QF_BV",   "QF_ABV",   "QF_UFBV",   "QF_AUFBV", "QF_AX",  "QF_UF",   "QF_AUF",   "QF_LIA",     "QF_LRA",
                                     "QF_LIRA", "QF_NIA",   "QF_NRA",    "QF_NIRA",  "QF_UFLIA", "QF_AUFLIA", "QF_UFLRA", "QF_FP",  "QF_BVFP",
                                     "QF_ABVFP", "QF_BVFPLRA", "QF_SLIA", "QF_SNIA", "QF_BVSLIA", "UF",    "BV",       "LIA",        "LRA",
                                     "NIA",     "UFLIA",    "AUFLIRA",   "FP",       "SLIA",   "ALL",     "QF_NRAT"};

static struct generator *generator_of(const char *logic, bool extensions, uint64_t seed)
{
        struct generate_options o = generate_defaults;
        struct generator *g = NULL;

        o.logic = logic;
        o.extensions = extensions;
        assert_ok(generator_new(&o, seed, &g));
        return g;
}

/* Is every term of the logic's theories, and of no other? */
static void check_logic(const struct script *s, const char *name)
{
        const struct logic l = logic_of(name);
        cleanup_free char *text = text_of(s);

        ck_assert_str_eq(s->logic->name.data, name);
        for (size_t i = 0; i < s->n_commands; i++) {
                cleanup(term_list_done) struct term_list all = {0};
                const struct term *t = s->commands[i].term;

                if (s->commands[i].kind != COMMAND_ASSERT)
                        continue;
                ck_assert_msg(logic_allows(&l, t), "%s", text);
                ck_assert_msg(l.has_quantifiers || !t->has_quantifier, "%s", text);
                term_subterms(&t, 1, &all);
                for (size_t k = 0; k < all.n; k++) {
                        const struct term *x = all.list[k];

                        ck_assert_msg(x->op == OP_NONE || l.theories >> operator_row(x->op)->theory & 1, "%s\n%s", operator_row(x->op)->name, text);
                        ck_assert_msg(x->kind != TERM_FUNCTION || x->n_args == 0 || l.has_functions, "%s", text);
                        ck_assert_msg(x->kind != TERM_LITERAL || x->sort->kind != SORT_BITVEC ||
                                              l.theories & (1u << THEORY_BITVECTORS | 1u << THEORY_FLOATS), "%s", text);
                }
        }
}

START_TEST(test_formulas_keep_to_their_logic)
{
        for (size_t i = 0; i < ARRAY_SIZE(logics); i++) {
                cleanup_generator struct generator *g = generator_of(logics[i], i % 2, test_seed(7));

                for (int k = 0; k < 150; k++) {
                        cleanup_script struct script *s = NULL, *again = NULL;

                        s = generate_formula(g);
                        check_logic(s, logics[i]);
                        again = read_back(s);
                        ck_assert(is_same(s, again));
                }
        }
}
END_TEST

/* Chains are of their logic, have as many definitions as was asked for, and grow with that alone. */
START_TEST(test_chains)
{
        for (size_t i = 0; i < ARRAY_SIZE(logics); i++) {
                cleanup_generator struct generator *g = generator_of(logics[i], i % 2, test_seed(5)), *same = generator_of(logics[i], i % 2, test_seed(5));

                for (unsigned size = 1; size <= 400; size += 57) {
                        cleanup_script struct script *s = NULL, *again = NULL, *twin = NULL;
                        size_t asserts = 0;

                        assert_ok(generate_chain(g, size, &s));
                        assert_ok(generate_chain(same, size, &twin));
                        check_logic(s, logics[i]);
                        again = read_back(s);
                        ck_assert(is_same(s, again) && is_same(s, twin));
                        for (size_t k = 0; k < s->n_commands; k++)
                                if (s->commands[k].kind == COMMAND_ASSERT) {
                                        asserts++;
                                        ck_assert_uint_lt(s->commands[k].term->tree_size, 1000);
                                }
                        ck_assert_uint_eq(asserts, size + 1);
                }
                assert_error(generate_chain(g, 0, &(struct script *){0}), EINVAL);
        }
}
END_TEST

START_TEST(test_every_operator_comes_in_a_logic)
{
        bool seen[N_OPS] = {false};

        for (size_t i = 0; i < ARRAY_SIZE(logics); i++) {
                cleanup_generator struct generator *g = generator_of(logics[i], true, test_seed(1));

                for (int k = 0; k < 400; k++) {
                        cleanup_script struct script *s = NULL;

                        s = generate_formula(g);
                        count_operators(s, seen);
                }
        }
        for (int op = OP_NONE + 1; op < N_OPS; op++)
                ck_assert_msg(seen[op], "%s never came", operator_row((enum op)op)->name);
}
END_TEST

START_TEST(test_not_generated)
{
        static const char *const names[] = {"", "QF_", "HORN", "QF_IDL", "QF_UFRDL", "QF_DT", "QF_S", "QF_BVX", "qf_bv"};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct generate_options o = generate_defaults;
                struct generator *g = NULL;

                o.logic = names[i];
                ck_assert_msg(generator_new(&o, 1, &g) == -EINVAL, "%s", names[i]);
        }
}
END_TEST

/* Every transformer and operator on formulas of every logic; each mutant is read again, and many transformers find something to change. */
START_TEST(test_mutants_of_logics)
{
        unsigned transformed[N_TRANSFORMS] = {0}, replaced = 0;

        for (size_t i = 0; i < ARRAY_SIZE(logics); i++) {
                cleanup_generator struct generator *g = generator_of(logics[i], false, test_seed(5)), *strings = NULL;
                const struct logic l = logic_of(logics[i]);

                assert_ok(generator_new(&generate_defaults, test_seed(6), &strings));
                for (unsigned k = 0; k < 150; k++) {
                        cleanup_script struct script *s = NULL, *with = NULL, *again = NULL;
                        struct generator *mutator = k % 2 ? g : strings; /* a corpus comes with the generator of strings */
                        unsigned kind = k / 2 % (N_TRANSFORMS + 8);
                        enum op ops[N_OPS];
                        size_t n;
                        int r;

                        s = generate_formula(g);
                        n = mutate_actions(mutator, s, ops);
                        ck_assert_uint_gt(n, 3);
                        r = kind < N_TRANSFORMS ? mutate_transform(mutator, s, (enum transform)kind, &with)
                                                : mutate_operator(mutator, s, ops[random_below(generator_random(g), n)], &with);
                        if (r == -ENOENT)
                                continue;
                        assert_ok(r);
                        *(kind < N_TRANSFORMS ? &transformed[kind] : &replaced) += 1;
                        ck_assert(!is_same(s, with));
                        again = read_back(with);
                        for (size_t c = 0; c < with->n_commands; c++)
                                if (with->commands[c].kind == COMMAND_ASSERT)
                                        ck_assert(logic_allows(&l, with->commands[c].term));
                }
        }
        ck_assert_uint_gt(replaced, 1000);
        for (int t = 0; t < N_TRANSFORMS; t++)
                ck_assert_msg(transformed[t] > (t == TRANSFORM_TRANSLATE || t == TRANSFORM_UNPRINTABLE ? 8 : 80), "transform %d: %u", t, transformed[t]);
}
END_TEST

/* A vocabulary's sorts say which operators a mutation may bring in. */
START_TEST(test_operators_are_replaced_in_kind)
{
        static const struct {
                const char *text;
                enum op comes, never;
        } rows[] = {
                {"(declare-fun x () (_ FloatingPoint 8 24))(assert (fp.lt x (fp.abs x)))", OP_FP_SQRT, OP_BV_ADD},
                {"(declare-fun x () (_ BitVec 8))(assert (bvult x (bvnot x)))", OP_BV_EXTRACT, OP_BV_TO_NAT},
                {"(declare-fun a () (Array Int Int))(declare-fun i () Int)(assert (= i (select (ite true a a) i)))", OP_STORE, OP_ARRAY_CONST},
                {"(declare-sort E 0)(declare-fun a () (Array E E))(declare-fun e () E)(assert (= (select (ite true a a) e) e))", OP_STORE, OP_PLUS},
                {"(declare-fun x () Real)(declare-fun i () Int)(assert (< x (to_real (+ i 1))))", OP_TO_INT, OP_STR_LEN},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                cleanup_script struct script *s = read_text(rows[i].text), *with = NULL;
                cleanup_generator struct generator *g = NULL;
                bool seen[N_OPS] = {false};
                enum op ops[N_OPS];
                size_t n;

                assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
                n = mutate_actions(g, s, ops);
                ck_assert_msg(op_is_among(rows[i].comes, ops, n) && !op_is_among(rows[i].never, ops, n), "%s", rows[i].text);
                assert_ok(mutate_operator(g, s, rows[i].comes, &with));
                count_operators(with, seen);
                ck_assert(seen[rows[i].comes]);
        }
}
END_TEST

/* -- mutating -- */

static const char *const mixed[] = {
        "(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))(assert (= (bvadd a b) (bvmul a #x02)))(assert (bvult a "
        "b))(check-sat)",
        "(declare-fun x () Real)(declare-fun y () Real)(assert (< (+ x (* 2.0 y)) 3.5))(assert (=> (> x y) (= x "
        "1.0)))(check-sat)",
        "(declare-fun p (Int) Int)(declare-fun i () Int)(assert (forall ((k Int)) (=> (> k i) (> (p k) (p (- k "
        "1))))))(check-sat)",
        "(declare-fun m () (Array Int Int))(declare-fun i () Int)(assert (= (select (store m i 1) (+ i 1)) 2))(check-sat)",
        "(declare-fun s () String)(declare-fun t () String)(assert (str.in_re s (re.* (str.to_re \"ab\"))))"
        "(assert (= (str.++ s t) (str.replace t \"b\" s)))(assert (> (str.len s) 3))(check-sat)",
};

/* 100,000 by all operators and transformers over generated and given formulas. */
START_TEST(test_no_mutation_is_a_noop_or_ill_sorted)
{
        cleanup_generator struct generator *g = NULL;
        unsigned done = 0, transformed[N_TRANSFORMS] = {0};

        assert_ok(generator_new(&generate_defaults, 11, &g));
        for (unsigned round = 0; done < 100000; round++) {
                cleanup_script struct script *s = NULL;
                enum op ops[N_OPS];
                size_t n;

                if (round % 4 == 0)
                        s = read_text(mixed[round / 4 % ARRAY_SIZE(mixed)]);
                else
                        s = generate_formula(g);
                n = mutate_actions(g, s, ops);
                ck_assert_uint_gt(n, 3);
                for (unsigned i = 0; i < 100; i++) {
                        cleanup_script struct script *with = NULL;
                        unsigned kind = i % (N_TRANSFORMS + 8);
                        int r = kind < N_TRANSFORMS ? mutate_transform(g, s, (enum transform)kind, &with)
                                                    : mutate_operator(g, s, ops[random_below(generator_random(g), n)], &with);

                        if (r == -ENOENT)
                                continue;
                        assert_ok(r);
                        done++;
                        if (kind < N_TRANSFORMS)
                                transformed[kind]++;
                        ck_assert_uint_eq(s->n_commands, with->n_commands);
                        r = 0;
                        for (size_t k = 0; k < s->n_commands; k++)
                                r += s->commands[k].term != with->commands[k].term;
                        ck_assert_int_gt(r, 0);
                        if (done % 50 == 0) { /* reading it is what takes the time; every step was checked when it was made */
                                script_free(read_back(with));
                                ck_assert(!is_same(s, with));
                        }
                }
        }
        for (int t = 0; t < N_TRANSFORMS; t++)
                ck_assert_msg(transformed[t] > 100, "transform %d: %u", t, transformed[t]);
}
END_TEST

START_TEST(test_the_wanted_operator_is_there)
{
        cleanup_script struct script *s = read_text(mixed[4]);
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (int i = 0; i < 200; i++) {
                static const enum op actions[] = {OP_STR_CONTAINS, OP_STR_SUBSTR, OP_RE_UNION, OP_STR_TO_INT, OP_STR_REPLACE_ALL};
                enum op action = actions[i % (int)ARRAY_SIZE(actions)];
                cleanup_script struct script *with = NULL;
                bool before[N_OPS] = {false}, after[N_OPS] = {false};

                assert_ok(mutate_operator(g, s, action, &with));
                count_operators(s, before);
                count_operators(with, after);
                ck_assert(!before[action] && after[action]);
        }
}
END_TEST

START_TEST(test_theories_are_not_mixed)
{
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (size_t k = 0; k < 4; k++) {
                cleanup_script struct script *s = read_text(mixed[k]);
                enum op ops[N_OPS];
                size_t n = mutate_actions(g, s, ops);

                for (size_t i = 0; i < n; i++)
                        ck_assert_msg(operator_row(ops[i])->theory != THEORY_STRINGS, "%s in %s", operator_row(ops[i])->name,
                                      mixed[k]);
        }
}
END_TEST

START_TEST(test_mutants_of_older_dialects_have_no_newer_operators)
{
        cleanup_script struct script *s = read_text("(declare-fun x () Real)(declare-fun s () String)(assert (< x 1.0))(assert (= s \"a\"))(check-sat)");
        cleanup_generator struct generator *g = NULL;
        struct generate_options o = generate_defaults;
        enum op ops[N_OPS];
        size_t n;

        o.dialect = DIALECT_2_5;
        assert_ok(generator_new(&o, test_seed(2), &g));
        n = mutate_actions(g, s, ops);
        ck_assert_uint_gt(n, 10);
        for (size_t i = 0; i < n; i++)
                ck_assert_msg(!op_is_newer(ops[i], o.dialect), "%s", operator_row(ops[i])->name);
}
END_TEST

/* A solver refuses a product of variables in QF_LIA, and Reals in it. */
START_TEST(test_mutants_keep_to_their_logic)
{
        static const char *const texts[] = {
                "(set-logic QF_LIA)(declare-fun x () Int)(declare-fun y () Int)"
                "(assert (or (< (+ x (* 2 y)) 7) (= (- x y) (+ 3 (div x 2)))))(assert (> (ite (< x 0) y 5) (mod y "
                "3)))(check-sat)",
                "(set-logic LRA)(declare-fun a () Real)(declare-fun b () Real)"
                "(assert (and (<= (+ a (* 2.0 b)) 1.5) (= (/ a 4.0) (- b 0.5))))(assert (> (ite (< a b) a 2.0) b))(check-sat)",
        };
        cleanup_generator struct generator *g = NULL;
        unsigned done = 0;

        assert_ok(generator_new(&generate_defaults, test_seed(3), &g));
        for (unsigned i = 0; i < 4000; i++) {
                cleanup_script struct script *s = read_text(texts[i % ARRAY_SIZE(texts)]), *with = NULL;
                const struct logic logic = logic_of(s->logic->name.data);
                enum op ops[N_OPS];
                size_t n = mutate_actions(g, s, ops);
                int r = i % 3 == 0 ? mutate_transform(g, s, (enum transform)(i % N_TRANSFORMS), &with)
                                   : mutate_operator(g, s, ops[random_below(generator_random(g), n)], &with);

                if (r == -ENOENT)
                        continue;
                assert_ok(r);
                done++;
                for (size_t k = 0; k < with->n_commands; k++)
                        if (with->commands[k].kind == COMMAND_ASSERT)
                                ck_assert_int_eq(logic_allows(&logic, with->commands[k].term), 1);
        }
        ck_assert_uint_gt(done, 2000);
}
END_TEST

/* Terms of sorts that are not known here, as in the old form with parameters, have no common sort: (head a) is an integer, (head b) a Boolean. */
START_TEST(test_mutants_leave_unknown_sorts_alone)
{
        cleanup_script struct script *s = read_text("(declare-datatypes (X) ((List nil (cons (head X) (tail List)))))"
                                                    "(declare-fun a () (List Int))(declare-fun b () (List Bool))(declare-fun c () (List Int))"
                                                    "(assert (and (= (head a) 1) (= (head b) true) (= (tail a) (tail c))))(check-sat)");
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (unsigned i = 0; i < 300; i++) {
                static const enum transform kinds[] = {TRANSFORM_FUZZ, TRANSFORM_SWAP, TRANSFORM_ROTATE};
                cleanup_script struct script *with = NULL;
                cleanup_free char *text = NULL;

                if (mutate_transform(g, s, kinds[i % ARRAY_SIZE(kinds)], &with) == -ENOENT)
                        continue;
                text = text_of(with);
                ck_assert_msg(!strstr(text, "(= (head b) 1)") && strstr(text, "(= (head b) ") && strstr(text, "(= (tail "), "%s", text);
        }
}
END_TEST

/* An assertion that cannot be changed within the logic stays; the others change. */
START_TEST(test_large_mutants_keep_to_their_logic)
{
        unsigned done = 0;

        for (unsigned i = 0; i < 10; i++) {
                struct generate_options o = generate_defaults;
                cleanup_generator struct generator *g = NULL;
                cleanup_script struct script *s = NULL, *with = NULL;

                o.logic = "QF_LIA";
                o.assertions = 120;
                assert_ok(generator_new(&o, test_seed(i), &g));
                s = generate_formula(g);
                done += mutate_transform(g, s, TRANSFORM_FUZZ, &with) == 0;
        }
        ck_assert_uint_eq(done, 10);
}
END_TEST

/* Other assertions use a name, so a mutant has it still, and once. */
START_TEST(test_mutants_keep_names)
{
        static const char *const texts[] = {
                "(declare-fun x () Int)(declare-fun p () Bool)(assert (and (! (> x 0) :named a) p (< x 9)))(assert (or a p))(check-sat)",
                "(declare-fun x () Int)(declare-fun p () Bool)(assert (let ((y (! (> x (+ 1 2)) :named a))) (or (and y p) (not y))))(assert (or a p))(check-sat)"};
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (unsigned i = 0; i < 2000; i++) {
                cleanup_script struct script *s = read_text(texts[i % 2]), *with = NULL;
                enum op ops[N_OPS];
                size_t n = mutate_actions(g, s, ops);
                int r = i % 4 < 2 ? mutate_transform(g, s, (enum transform)(i / 4 % N_TRANSFORMS), &with)
                                  : mutate_operator(g, s, ops[random_below(generator_random(g), n)], &with);

                if (r == 0)
                        script_free(read_back(with));
        }
}
END_TEST

/* Its places are too many to list; the first ones are changed. */
START_TEST(test_large_assertions_change)
{
        cleanup_buffer struct buffer text = {0};
        cleanup_generator struct generator *g = NULL;
        cleanup_script struct script *s = NULL;

        buffer_adds(&text, "(declare-fun x () Int)(assert (let ((y0 (+ x 1))) ");
        for (int i = 0; i < 18; i++)
                buffer_addf(&text, "(let ((y%d (+ x y%d y%d))) ", i + 1, i, i);
        buffer_adds(&text, "(= y18 0)");
        for (int i = 0; i < 20; i++)
                buffer_adds(&text, ")");
        s = read_text(text.data);
        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (unsigned i = 0; i < 10; i++) {
                cleanup_script struct script *with = NULL;

                assert_ok(mutate_transform(g, s, i % 2 ? TRANSFORM_SWAP : TRANSFORM_GRAFT, &with));
                script_free(read_back(with));
        }
}
END_TEST

START_TEST(test_nothing_to_change)
{
        cleanup_script struct script *s = read_text("(declare-fun p () Bool)(assert p)(check-sat)"),
                                     *none = read_text("(check-sat)");
        cleanup_generator struct generator *g = NULL;
        struct script *with = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        assert_error(mutate_operator(g, s, OP_STR_CONCAT, &with), ENOENT);
        assert_error(mutate_transform(g, s, TRANSFORM_REVERSE, &with), ENOENT);
        assert_error(mutate_operator(g, none, OP_NOT, &with), ENOENT);
        assert_error(mutate_transform(g, none, TRANSFORM_SWAP, &with), ENOENT);
        ck_assert_ptr_null(with);
}
END_TEST

/* A mutant's answer may be another than the one that is stated. */
START_TEST(test_mutants_state_no_answer)
{
        cleanup_script struct script *s = read_text("(set-info :status sat)(set-info :source x)(declare-fun x () Int)(declare-fun y () Int)"
                                                    "(assert (< (+ x 1) (* 2 y)))(check-sat)(set-info :status unsat)(assert (< y 0))(check-sat)");
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (int kind = -1; kind < N_TRANSFORMS; kind++) {
                cleanup_script struct script *with = NULL;
                cleanup_free char *text = NULL;

                if ((kind < 0 ? mutate_operator(g, s, OP_GE, &with) : mutate_transform(g, s, (enum transform)kind, &with)) == -ENOENT)
                        continue;
                text = text_of(with);
                ck_assert_msg(!strstr(text, ":status") && strstr(text, ":source"), "%d: %s", kind, text);
                ck_assert_uint_eq(with->n_commands, s->n_commands - 2);
        }
}
END_TEST

/* Only what is declared at the mutated assertion comes into it; that may also be within a push. */
START_TEST(test_mutants_use_what_is_declared)
{
        cleanup_script struct script *s = read_text("(declare-fun x () Int)(assert (< (+ x 1) 5))(declare-fun y () Int)(assert (< y x))(check-sat)"),
                                     *within = read_text("(push 1)(declare-fun x () String)(assert (= x \"\"))(check-sat)(pop 1)");
        cleanup_generator struct generator *g = NULL;
        enum op ops[N_OPS];

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (int i = 0; i < 100; i++) {
                cleanup_script struct script *with = NULL;

                assert_ok(mutate_operator(g, s, OP_ITE, &with));
                script_free(read_back(with));
        }
        ck_assert(op_is_among(OP_STR_CONCAT, ops, mutate_actions(g, within, ops)));
}
END_TEST

START_TEST(test_transformers)
{
        static const struct {
                enum transform transform;
                const char *before, *after;
        } rows[] = {
                {TRANSFORM_REVERSE, "(str.prefixof \"abc\" (str.++ s \"xy\"))", "(str.suffixof \"cba\" (str.++ \"yx\" s))"},
                {TRANSFORM_ROTATE, "(= s t)", "(= t s)"},
                {TRANSFORM_SWAP, "(str.contains s t)", "(str.contains t s)"},
                {TRANSFORM_GRAFT, "(str.contains s \"ab\")", "(str.contains \"ab\" s)"},
                {TRANSFORM_REVERSE, "(= (concat b #b0011) (bvneg #xd1))", "(= (concat #xc b) (bvneg #x8b))"},
                {TRANSFORM_ROTATE, "(fp.isNaN (fp.add RNE x y))", "(fp.isNaN (fp.add RNE y x))"},
                {TRANSFORM_REVERSE, "(str.in_re s (re.++ (str.to_re \"ab\") (re.range \"a\" \"c\")))",
                 "(re.++ (re.range \"a\" \"c\") (str.to_re \"ba\"))"},
                {TRANSFORM_MULTIPLY, "(str.in_re (str.++ s \"\") (re.union (re.range \"x\" \"z\") ((_ re.^ 2) (str.to_re \"x\"))))", "(re.range \"x\" \"z\")"},
        };
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                cleanup_script struct script *s = NULL, *with = NULL;
                cleanup_free char *text = NULL;
                char source[512];

                snprintf(source, sizeof(source), "(declare-fun s () String)(declare-fun t () String)(declare-fun b () (_ BitVec 4))"
                         "(declare-fun x () Float32)(declare-fun y () Float32)(assert %s)(check-sat)",
                         rows[i].before);
                s = read_text(source);
                ck_assert_msg(mutate_transform(g, s, rows[i].transform, &with) == 0, "%s", rows[i].before);
                text = text_of(with);
                ck_assert_msg(strstr(text, rows[i].after), "transform %d: %s", (int)rows[i].transform, text);
        }
}
END_TEST

/* -- enumerating -- */

static uint64_t nodes_of_assertion(const struct script *s)
{
        size_t i = 0;

        while (s->commands[i].kind != COMMAND_ASSERT)
                i++;
        return s->commands[i].term->tree_size;
}

START_TEST(test_enumeration_is_exhaustive_and_without_twins)
{
        cleanup_enumeration struct enumeration *e = NULL;
        static const char *const expected[] = {"(assert (= x y))", "(assert (str.contains x y))", "(assert (= i (str.len x)))",
                                               "(assert (not (str.prefixof x \"a\")))",
                                               "(assert (str.in_re x (re.* re.allchar)))"};
        bool found[ARRAY_SIZE(expected)] = {false};
        cleanup_buffer struct buffer all = {0};
        uint64_t size = 0;
        unsigned n = 0;

        e = enumeration_new(&(struct enumerate_options){.dialect = DIALECT_2_6});
        for (; size <= 4; n++) {
                cleanup_script struct script *s = NULL, *again = NULL;
                cleanup_free char *text = NULL, *assertion = NULL;

                assert_ok(enumeration_next(e, &s));
                ck_assert_uint_ge(nodes_of_assertion(s), size);
                size = nodes_of_assertion(s);
                text = text_of(s);
                assertion = strdup(strstr(text, "(assert"));
                if (size <= 3) { /* all small ones differ, and none is another by other names */
                        ck_assert_msg(!all.data || !strstr(all.data, assertion), "twice: %s", assertion);
                        buffer_adds(&all, assertion);
                        again = read_back(s);
                }
                for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
                        found[i] |= strstr(text, expected[i]) != NULL;
                ck_assert(!strstr(text, "(assert (= y x))"));
        }
        for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
                ck_assert_msg(found[i], "%s never came", expected[i]);
        ck_assert_uint_gt(n, 300);
}
END_TEST

/* Solvers of the older dialects do not know them. */
START_TEST(test_older_dialects_have_no_newer_operators)
{
        cleanup_enumeration struct enumeration *e = enumeration_new(&(struct enumerate_options){.dialect = DIALECT_2_5});
        bool seen[N_OPS] = {false};

        for (int i = 0; i < 3000; i++) {
                cleanup_script struct script *s = NULL;

                assert_ok(enumeration_next(e, &s));
                count_operators(s, seen);
        }
        ck_assert(seen[OP_STR_PREFIXOF] && !seen[OP_STR_LT] && !seen[OP_STR_IS_DIGIT] && !seen[OP_RE_COMP]);
}
END_TEST

START_TEST(test_enumeration_says_when_memory_is_not_enough)
{
        cleanup_enumeration struct enumeration *e = NULL;
        unsigned n = 0;
        int r = 0;

        e = enumeration_new(&(struct enumerate_options){.dialect = DIALECT_2_6, .memory_most = 1 << 20});
        for (; r == 0; n++) {
                cleanup_script struct script *s = NULL;

                r = enumeration_next(e, &s);
        }
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_uint_gt(n, 100);
}
END_TEST

/* -- what decides -- */

START_TEST(test_bandit_learns)
{
        cleanup_bandit struct bandit b = {0};
        bool only[3] = {false, false, true}, none[3] = {false};
        struct random random;
        unsigned chosen[3] = {0};

        random_seed(&random, test_seed(1));
        bandit_init(&b, 3);
        for (int i = 0; i < 2000; i++) {
                static const double chance[] = {0.1, 0.5, 0.2};
                size_t arm = bandit_choose(&b, &random, NULL, NULL);

                chosen[arm]++;
                if (random_uniform(&random) < chance[arm])
                        b.successes[arm]++;
                else
                        b.failures[arm]++;
        }
        ck_assert_uint_gt(chosen[1], 1600);
        ck_assert(fabs(bandit_mean(&b, 1) - 0.5) < 0.05);
        ck_assert_uint_eq(bandit_choose(&b, &random, only, NULL), 2);
        ck_assert_uint_eq(bandit_choose(&b, &random, none, NULL), SIZE_MAX);
}
END_TEST

/* By the definition, in exponential time. */
static double slowly(const double *a, size_t n, const double *b, size_t m)
{
        double here, rest;

        if (n == 0 || m == 0)
                return n == m ? 0 : INFINITY;
        here = fabs(a[n - 1] - b[m - 1]);
        rest = fmin(slowly(a, n - 1, b, m - 1), fmin(slowly(a, n - 1, b, m), slowly(a, n, b, m - 1)));
        return here + rest;
}

START_TEST(test_warping)
{
        static const double one[] = {1, 2, 3}, stretched[] = {1, 1, 2, 2, 3};
        struct random random;

        ck_assert(warping_distance(one, 3, stretched, 5) == 0);
        ck_assert(isinf(warping_distance(one, 0, one, 3)));
        random_seed(&random, test_seed(1));
        for (int i = 0; i < 200; i++) {
                double a[5], b[5];
                size_t n = 1 + random_below(&random, 5), m = 1 + random_below(&random, 5);

                for (size_t k = 0; k < 5; k++) {
                        a[k] = random_uniform(&random);
                        b[k] = random_uniform(&random);
                }
                ck_assert(fabs(warping_distance(a, n, b, m) - slowly(a, n, b, m)) < 1e-12);
        }
}
END_TEST

START_TEST(test_distance_to_the_nearest)
{
        cleanup(sequences_done) struct sequences s = {.length = 2};

        ck_assert(isinf(sequences_distance(&s, (const double[]){1, 2})));
        assert_ok(sequences_add(&s, (const double[]){0, 10}));
        assert_ok(sequences_add(&s, (const double[]){5, 20}));
        ck_assert(sequences_distance(&s, (const double[]){5, 19}) == 1);
        ck_assert(sequences_distance(&s, (const double[]){0, 10}) == 0);
}
END_TEST

START_TEST(test_adaptive_configuration)
{
        struct generate_options g = {.literal_length = 60, .variables = 6, .assertions = 6, .depth = 3}, before = g;
        struct adapt a;

        adapt_init(&a, &(struct adapt_options){.window = 10, .timeout = 20, .theta = 0.75}, 1, 0);
        adapt_ran(&a, 1); /* fast on average: parameters grow */
        ck_assert(!adapt_step(&a, 9, &g));
        ck_assert(adapt_step(&a, 10, &g));
        ck_assert_uint_ge(g.literal_length, before.literal_length + 20);
        ck_assert_uint_le(g.literal_length, before.literal_length + 50);
        ck_assert_uint_eq(g.variables, before.variables);
        ck_assert(adapt_step(&a, 40, &g)); /* three windows more: the others, too */
        ck_assert_uint_gt(g.variables, before.variables);
        ck_assert_uint_gt(g.assertions, before.assertions);
        ck_assert_uint_eq(g.depth, 4);
        before = g;
        ck_assert(!adapt_step(&a, 50, &g)); /* the fifth begins anew */
        ck_assert(adapt_step(&a, 60, &g));
        ck_assert_uint_gt(g.literal_length, before.literal_length);
        adapt_found(&a, 61);
        before = g;
        ck_assert(!adapt_step(&a, 70, &g));
        for (int i = 0; i < 100; i++)
                adapt_ran(&a, 19); /* slow on average: they shrink */
        ck_assert(adapt_step(&a, 71, &g));
        ck_assert_uint_lt(g.literal_length, before.literal_length);
        for (double now = 72; now < 10000; now++)
                adapt_step(&a, now, &g);
        ck_assert_uint_ge(g.literal_length, 10);
        ck_assert_uint_le(g.literal_length, 60);
        ck_assert_uint_ge(g.variables, 3);
        ck_assert_uint_ge(g.assertions, 4);
        ck_assert_uint_eq(g.depth, 2);
}
END_TEST

START_TEST(test_shapes)
{
        cleanup_script struct script *a = read_text(mixed[4]), *b = read_text(mixed[4]), *c = read_text(mixed[0]);
        cleanup_shape struct shape x = {0}, y = {0}, z = {0};
        static struct shape_counts counts;
        double fresh;
        size_t shared[2] = {0}; /* of x: with y, with z */

        x = shape_of(a);
        y = shape_of(b);
        z = shape_of(c);
        ck_assert_uint_eq(x.n, y.n);
        ck_assert_int_eq(memcmp(x.parts, y.parts, x.n * sizeof(*x.parts)), 0);
        fresh = shape_novelty(&counts, &x);
        for (int i = 0; i < 4; i++)
                shape_counts_see(&counts, &x);
        ck_assert(shape_novelty(&counts, &x) < fresh);
        ck_assert(shape_novelty(&counts, &z) > shape_novelty(&counts, &x));
        for (size_t i = 0; i < x.n; i++) {
                shared[0] += shape_has(&y, x.parts[i]);
                shared[1] += shape_has(&z, x.parts[i]);
        }
        ck_assert_uint_eq(shared[0], x.n);
        ck_assert_uint_lt(shared[1], x.n);
        ck_assert_uint_lt(shared[1], z.n);
}
END_TEST

/* A translated range has the translations of its characters, so that words in it stay in it. */
START_TEST(test_ranges_are_translated)
{
        cleanup_script struct script *s = read_text("(declare-fun s () String)(assert (str.in_re s (re.++ (re.range \"A\" \"~\") (re.range \"+\" \"/\"))))"
                                                    "(assert (= s \"Kq7~+\"))");
        cleanup_generator struct generator *g = NULL;

        assert_ok(generator_new(&generate_defaults, test_seed(2), &g));
        for (int i = 0; i < 20; i++) {
                cleanup_script struct script *with = NULL, *again = NULL;
                cleanup(term_list_done) struct term_list all = {0};
                uint32_t characters = 0;

                assert_ok(mutate_transform(g, s, TRANSFORM_TRANSLATE, &with));
                again = read_back(with);
                term_subterms(&with->commands[1].term, 1, &all);
                for (size_t k = 0; k < all.n; k++) {
                        cleanup_free uint32_t *low = NULL, *high = NULL;
                        size_t n;

                        if (!term_is(all.list[k], OP_RE_RANGE))
                                continue;
                        assert_ok(term_to_string(all.list[k]->args[0], &low, &n));
                        assert_ok(term_to_string(all.list[k]->args[1], &high, &n));
                        ck_assert_uint_le(*low, *high);
                        characters += *high - *low + 1;
                }
                ck_assert_uint_eq(characters, '~' - 'A' + 1 + '/' - '+' + 1);
        }
}
END_TEST

SUITE_TIMEOUT("fuzz", 600, test_formulas_keep_to_their_logic, test_chains, test_every_operator_comes_in_a_logic, test_not_generated, test_mutants_of_logics,
              test_operators_are_replaced_in_kind, test_ranges_are_translated, test_formulas_are_well_sorted,
              test_every_operator_of_the_theory_comes, test_parameters_are_kept,
              test_same_seed_same_formulas, test_refuses_nonsense, test_templates, test_no_mutation_is_a_noop_or_ill_sorted,
              test_the_wanted_operator_is_there, test_theories_are_not_mixed, test_mutants_of_older_dialects_have_no_newer_operators,
              test_mutants_keep_to_their_logic,
              test_mutants_leave_unknown_sorts_alone, test_large_mutants_keep_to_their_logic, test_mutants_keep_names, test_large_assertions_change,
              test_nothing_to_change, test_mutants_state_no_answer, test_mutants_use_what_is_declared, test_transformers,
              test_enumeration_is_exhaustive_and_without_twins, test_older_dialects_have_no_newer_operators,
              test_enumeration_says_when_memory_is_not_enough, test_bandit_learns,
              test_warping, test_distance_to_the_nearest, test_adaptive_configuration, test_shapes)
