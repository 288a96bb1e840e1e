#include "tests/support/test.h"

#include "core/study/observation/finding_select.h"

static bool have_one_shape(const char *a, const char *b)
{
        cleanup_free char *x = NULL, *y = NULL;

        ck_assert_int_eq(formula_skeleton(slice_string(a), &x), 0);
        ck_assert_int_eq(formula_skeleton(slice_string(b), &y), 0);
        return strcmp(x, y) == 0;
}

START_TEST(test_names_and_values_are_no_shape)
{
        ck_assert(have_one_shape("(declare-const a Int)(assert (> a 1))(check-sat)",
                                 "(set-logic QF_LIA)(declare-fun b () Int)(assert (> b 27))(check-sat)"));
        ck_assert(have_one_shape("(assert (forall ((c Int) (d Int)) (= c (abs d))))", "(assert (forall ((x Int) (y Int)) (= x (abs y))))"));
}
END_TEST

START_TEST(test_operators_sorts_and_order_are)
{
        ck_assert(!have_one_shape("(declare-const a Int)(assert (> (+ a a) 1))", "(declare-const a Int)(assert (> (* a a) 1))"));
        ck_assert(!have_one_shape("(declare-const a Int)(assert (> a 1))", "(declare-const a Real)(assert (> a 1.0))"));
        ck_assert(!have_one_shape("(assert (forall ((c Int) (d Int)) (= c (abs d))))", "(assert (forall ((c Int) (d Int)) (= c (abs c))))"));
        ck_assert(!have_one_shape("(assert (forall ((c Int)) (= 0 (abs c))))", "(declare-const c Int)(assert (= 0 (abs c)))"));
}
END_TEST

START_TEST(test_relations_and_terms_without_names_are_no_shape)
{
        ck_assert(have_one_shape("(assert (forall ((c Int)) (= 0 (abs c))))", "(assert (forall ((c Int)) (>= (abs c) 1)))"));
        ck_assert(have_one_shape("(declare-const a String)(assert (= (str.replace_re_all a (str.to_re \"b\") \"\") \"\"))",
                                 "(declare-const b String)(assert (distinct \"x\" (str.replace_re_all b re.allchar (str.++ \"a\" \"b\"))))"));
        ck_assert(!have_one_shape("(declare-const p Bool)(declare-const q Bool)(assert (= p q))",
                                  "(declare-const p Bool)(declare-const q Bool)(assert (distinct p q))"));
}
END_TEST

START_TEST(test_repeated_arguments_are_no_shape)
{
        ck_assert(have_one_shape("(declare-const a String)(assert (str.< (str.++ \"x\" a) \"b\"))",
                                 "(declare-const a String)(declare-const b String)(assert (str.< (str.++ \"x\" a b a) \"b\"))"));
        ck_assert(have_one_shape("(declare-const a Int)(assert (= 1 (* a a)))", "(declare-const a Int)(assert (= 1 (* a a a)))"));
        ck_assert(!have_one_shape("(declare-const a Int)(assert (= 1 (* a a)))", "(declare-const a Int)(assert (= 1 (* a a 2)))"));
}
END_TEST

static bool occurs(const char *reduced, const char *input)
{
        cleanup_free char *skeleton = NULL, *parts = NULL;

        ck_assert_int_eq(formula_skeleton(slice_string(reduced), &skeleton), 0);
        ck_assert_int_eq(formula_parts(slice_string(input), &parts), 0);
        return shape_occurs(skeleton, parts);
}

START_TEST(test_a_shape_occurs_in_an_input)
{
        static const char reduced[] = "(declare-const s String)(assert (str.< (str.replace \"a\" s s) \"b\"))";

        ck_assert(occurs(reduced, "(declare-const t String)(assert (or (= 1 2) (not (str.< (str.replace \"OOO\" t t) (str.at \"x\" 3)))))"));
        ck_assert(!occurs(reduced, "(declare-const t String)(assert (str.< (str.replace t \"O\" t) \"x\"))"));
        ck_assert(!occurs(reduced, "(declare-const t String)(declare-const u String)(assert (= u (str.replace \"OOO\" t t)))"));
}
END_TEST

START_TEST(test_all_assertions_of_a_shape_must_occur)
{
        static const char reduced[] = "(declare-const a Int)(assert (= 3 (* a a)))(assert (= 0 (abs a)))";

        ck_assert(occurs(reduced, "(declare-const x Int)(assert (and (< (abs x) 5) (> (* x x) 1)))"));
        ck_assert(!occurs(reduced, "(declare-const x Int)(assert (= 5 (* x x)))"));
        ck_assert(!occurs("(check-sat)", "(declare-const x Int)(assert (= 5 (* x x)))"));
        ck_assert(!occurs(reduced, "(check-sat)"));
}
END_TEST

START_TEST(test_an_assertion_without_names_has_a_shape)
{
        static const char reduced[] = "(assert (= 0 (str.len \"\")))";

        ck_assert(have_one_shape(reduced, "(assert (> (str.len \"abc\") 1))"));
        ck_assert(!have_one_shape(reduced, "(assert (str.contains \"a\" \"\"))"));
        ck_assert(occurs(reduced, "(declare-const p Bool)(assert (or p (< (str.len \"a\") 5)))"));
        ck_assert(!occurs(reduced, "(declare-const p Bool)(assert (or p (< 1 5)))"));
}
END_TEST

/* Thirty assertions, each of a shape of its own; the first `changed` ones are others. */
static void print_formula(char name, unsigned changed, struct buffer *ret)
{
        buffer_addf(ret, "(declare-const %c Int)", name);
        for (unsigned i = 0; i < 30; i++) {
                buffer_addf(ret, "(assert (%s %c ", i < changed ? "distinct" : "<", name);
                for (unsigned k = 0; k < i; k++)
                        buffer_adds(ret, k % 2 == 0 ? "(+ 1 " : "(* 2 ");
                buffer_addf(ret, "%c", name);
                for (unsigned k = 0; k < i; k++)
                        buffer_adds(ret, ")");
                buffer_adds(ret, "))");
        }
}

static bool are_alike(unsigned changed, const char *other)
{
        cleanup_buffer struct buffer a = {0}, b = {0};
        struct pieces x, y;
        bool is;

        print_formula('x', 0, &a);
        print_formula('y', changed, &b);
        ck_assert_int_eq(formula_pieces(SLICE(a.data, a.size), &x), 0);
        ck_assert_int_eq(formula_pieces(other ? slice_string(other) : SLICE(b.data, b.size), &y), 0);
        is = pieces_are_alike(&x, &y) && pieces_are_alike(&y, &x);
        free(x.list);
        free(y.list);
        return is;
}

START_TEST(test_relatives_differ_in_few_places)
{
        ck_assert(are_alike(0, NULL) && are_alike(3, NULL));
        ck_assert(!are_alike(30, NULL));
        ck_assert(!are_alike(0, "(declare-const x Int)(assert (< x (+ 1 x)))"));
}
END_TEST

START_TEST(test_small_formulas_have_no_relatives)
{
        struct pieces x;

        ck_assert_int_eq(formula_pieces(slice_string("(declare-const x Int)(assert (< x (+ 1 x)))"), &x), 0);
        ck_assert_uint_eq(x.n, 2);
        ck_assert(!pieces_are_alike(&x, &x));
        free(x.list);
}
END_TEST

START_TEST(test_no_formula)
{
        char *shape;

        ck_assert_int_eq(formula_skeleton(slice_string("(assert (= 1"), &shape), -EINVAL);
}
END_TEST

START_TEST(test_decidable_logics)
{
        ck_assert(logic_is_decidable("QF_NRA") && logic_is_decidable("LIA") && logic_is_decidable("QF_UFLIA"));
        ck_assert(!logic_is_decidable("NIA") && !logic_is_decidable("QF_NIA") && !logic_is_decidable("ALL") && !logic_is_decidable("UFLIA"));
}
END_TEST

SUITE("finding_select", test_names_and_values_are_no_shape, test_operators_sorts_and_order_are,
      test_relations_and_terms_without_names_are_no_shape, test_repeated_arguments_are_no_shape, test_a_shape_occurs_in_an_input,
      test_all_assertions_of_a_shape_must_occur, test_an_assertion_without_names_has_a_shape, test_relatives_differ_in_few_places,
      test_small_formulas_have_no_relatives, test_no_formula, test_decidable_logics)
