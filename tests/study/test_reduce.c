#include "tests/support/test.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include "cache/base/hash.h"
#include "core/smtlib/cnf.h"
#include "core/smtlib/script.h"
#include "core/study/reduce/reduce.h"
#include "core/study/reduce/reduce_pool.h"

/* -- an interest in words ------------------------------------------------------------------------------------------- */

/* Interested in texts that hold all of these, as often as they are listed one behind the other. */
struct interest {
        const char *words[8];
        const char * or [8]; /* or all of these; none: only the words count */
        bool is_strict;      /* and whatever is tried must be well-sorted */
        bool is_backward;    /* answers the last text first */
        bool says_all;       /* also about texts behind an interesting one */
        unsigned fails_at, cancels_at;
        unsigned lies_at; /* this call is told that its text is interesting, whatever it is */
        bool checks_late;
        unsigned calls, n_ill_sorted;
};

static void check_sorts(struct interest *in, struct slice text)
{
        struct script_options o = {.dialect = DIALECT_2_6, .is_strict = true};
        cleanup_script struct script *s = NULL;

        if (script_read(text, &o, &s) < 0) {
                fprintf(stderr, "%s: %.*s\n", error_message(-EINVAL), (int)text.size, (const char *)text.data);
                in->n_ill_sorted++;
        }
}

static bool holds_all(const char *const words[8], struct slice text)
{
        const char *at = text.data, *end = at + text.size;

        for (size_t i = 0; i < 8 && words[i]; i++) {
                at = memmem(at, (size_t)(end - at), words[i], strlen(words[i]));
                if (!at)
                        return false;
                at += strlen(words[i]);
        }
        return true;
}

static bool holds(const struct interest *in, struct slice text)
{
        return holds_all(in->words, text) || (in->or [0] && holds_all(in->or, text));
}

static int try_words(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret)
{
        struct interest *in = user;
        size_t first = n;

        for (size_t i = 0; i < n; i++) {
                size_t at = in->is_backward ? n - 1 - i : i;

                in->calls++;
                if (in->fails_at > 0 && in->calls >= in->fails_at)
                        return errorf(-EIO, "the test broke");
                if (in->cancels_at > 0 && in->calls >= in->cancels_at)
                        return -ECANCELED;
                if (in->is_strict)
                        check_sorts(in, texts[at]);
                ret[at] = holds(in, texts[at]) || in->calls == in->lies_at ? REDUCE_INTERESTING : REDUCE_BORING;
                if (ret[at] == REDUCE_INTERESTING && at < first)
                        first = at;
                if (ret[at] == REDUCE_INTERESTING && !in->is_backward && !in->says_all)
                        break;
        }
        for (size_t i = first + 1; !in->says_all && i < n; i++)
                ret[i] = REDUCE_UNTRIED;
        return 0;
}

static int reduce_words(struct interest *in, size_t width, const char *input, struct reduce_result *ret)
{
        struct reduce_test test = {.try = try_words, .user = in, .width = width, .checks_late = in->checks_late};

        return reduce(slice_string(input), &test, NULL, ret);
}

static void assert_reduced(struct interest in, const char *input, const char *expected)
{
        cleanup_reduce_result struct reduce_result result = {0};

        in.is_strict = true;
        assert_ok(reduce_words(&in, 1, input, &result));
        ck_assert_str_eq(result.text.data, expected);
        ck_assert(result.is_minimal);
        ck_assert_uint_eq(in.n_ill_sorted, 0);
        ck_assert_uint_eq(result.status.before, strlen(input));
        ck_assert_uint_eq(result.status.now, strlen(expected));
        ck_assert_uint_eq(result.status.tests, in.calls);
}

static const char large[] =
        "; a comment\n"
        "(set-info :status sat)\n(set-logic ALL)\n"
        "(declare-sort Thing 0)\n(declare-fun likes (Thing Thing) Bool)\n(declare-const it Thing)\n"
        "(declare-fun name () String)\n(declare-fun other () String)\n(declare-fun count () Int)\n"
        "(declare-fun bits () (_ BitVec 8))\n(declare-fun table () (Array Int Real))\n"
        "(define-fun twice ((text String)) String (str.++ text text))\n"
        "(push 1)\n(assert (likes it it))\n(pop 1)\n"
        "(assert (forall ((someone Thing)) (=> (likes someone it) (likes it someone))))\n"
        "(assert (let ((long (str.len (twice name)))) (and (< 17 long) (= long (+ count 12345 long)))))\n"
        "(assert (or (= name \"a needle in a haystack\") (= (bvadd bits #x01) #x10) (distinct other name \"x\")))\n"
        "(assert (< (select table (ite (> count 0) count (- count))) 1.25))\n"
        "(assert (str.in_re name (re.+ (re.union (str.to_re \"ab\") (re.range \"a\" \"z\")))))\n"
        "(check-sat)\n(get-model)\n(exit)\n";

START_TEST(test_commands_go)
{
        assert_reduced((struct interest){.words = {"check-sat"}}, large, "(check-sat)\n");
}
END_TEST

START_TEST(test_terms_are_replaced)
{
        assert_reduced((struct interest){.words = {"bvadd", "check-sat"}}, large,
                       "(assert (= (bvadd #x00 #x00) #x00))\n(check-sat)\n");
        assert_reduced((struct interest){.words = {"str.len"}}, large, "(assert (< 0 (str.len \"\")))\n");
        assert_reduced((struct interest){.words = {"re.union"}}, large, "(assert (= (re.union re.none re.none) re.none))\n");
        assert_reduced((struct interest){.words = {"select"}}, large,
                       "(declare-const a (Array Int Real))\n(assert (< (select a 0) 0.0))\n");
}
END_TEST

START_TEST(test_literals_are_shortened)
{
        assert_reduced((struct interest){.words = {"needle"}}, large, "(assert (= \"\" \"needle\"))\n");
        assert_reduced((struct interest){.words = {"34"}}, large, "(assert (= 0 34))\n");
}
END_TEST

START_TEST(test_quantifiers_and_definitions_go)
{
        assert_reduced((struct interest){.words = {"=>"}}, large, "(assert (=> true true))\n");
        assert_reduced((struct interest){.words = {"forall"}}, large, "(assert (forall ((b Int)) true))\n");
        assert_reduced((struct interest){.words = {"assert", "str.len"}},
                       "(declare-fun x () String)\n(define-fun double ((i Int)) Int (+ i i 7))\n"
                       "(define-fun pos ((i Int)) Bool (< 0 i))\n(assert (or (= x \"y\") (pos (double (str.len x)))))\n",
                       "(assert (< 0 (str.len \"\")))\n");
}
END_TEST

START_TEST(test_arguments_go)
{
        assert_reduced((struct interest){.words = {"and", "qu", "tu"}},
                       "(declare-fun p () Bool)(declare-fun qu () Bool)(declare-fun r () Bool)(declare-fun s () Bool)"
                       "(declare-fun tu () Bool)\n(assert (and p qu r s tu))\n",
                       "(declare-const qu Bool)\n(declare-const tu Bool)\n(assert (and qu tu))\n");
}
END_TEST

/* What takes the constant's place is longer, and the declaration goes with it. */
START_TEST(test_constants_go)
{
        assert_reduced((struct interest){.words = {"str.<", "needle"}},
                       "(declare-fun x () String)\n(assert (str.< x \"needle\"))\n", "(assert (str.< \"\" \"needle\"))\n");
}
END_TEST

/* The subterm stands in two places, and only one of them matters. */
START_TEST(test_places_are_told_apart)
{
        assert_reduced((struct interest){.words = {"str.len", "to_code"}},
                       "(declare-fun x () String)\n(assert (= (str.len (str.++ x x)) (str.to_code (str.at (str.++ x x) 3))))\n",
                       "(assert (= (str.len \"\") (str.to_code \"\")))\n");
}
END_TEST

START_TEST(test_other_operators_take_a_place)
{
        assert_reduced((struct interest){.words = {"aa", "bb"}}, "(assert (str.contains \"aa\" \"bb\"))\n",
                       "(assert (= \"aa\" \"bb\"))\n");
        assert_reduced((struct interest){.words = {"(str", "aa", "bb"}}, "(assert (= \"\" (str.replace \"aa\" \"cc\" \"bb\")))\n",
                       "(assert (= \"\" (str.++ \"aa\" \"bb\")))\n");
        assert_reduced((struct interest){.words = {"aa", "bb"}}, "(assert (str.in_re \"aa\" (str.to_re \"bb\")))\n",
                       "(assert (= \"aa\" \"bb\"))\n");
        assert_reduced((struct interest){.words = {"(re.* re.allchar)"}, .or = {"re.all)"}},
                       "(assert (str.in_re \"\" (re.* re.allchar)))\n", "(assert (str.in_re \"\" re.all))\n");
}
END_TEST

START_TEST(test_nested_arguments_are_one_list)
{
        assert_reduced(
                (struct interest){.words = {"(and", "pq", "qr", "rs"}},
                "(declare-fun pq () Bool)\n(declare-fun qr () Bool)\n(declare-fun rs () Bool)\n(assert (and pq (and qr rs)))\n",
                "(declare-const pq Bool)\n(declare-const qr Bool)\n(declare-const rs Bool)\n(assert (and pq qr rs))\n");
}
END_TEST

START_TEST(test_negations_go_into_relations)
{
        assert_reduced((struct interest){.words = {"(not (< 12 34))"}, .or = {"(>= 12 34)"}}, "(assert (not (< 12 34)))\n",
                       "(assert (>= 12 34))\n");
        assert_reduced((struct interest){.words = {"false (< 12 34)"}, .or = {"(not (< 12 34))"}},
                       "(assert (= false (< 12 34)))\n", "(assert (not (< 12 34)))\n");
}
END_TEST

START_TEST(test_equal_constants_are_put_in)
{
        assert_reduced((struct interest){.words = {"(= x (str.++ \"aa\" \"bb\"))", "prefixof x"},
                                         .or = {"prefixof (str.++ \"aa\" \"bb\")"}},
                       "(declare-fun x () String)\n(assert (= x (str.++ \"aa\" \"bb\")))\n(assert (str.prefixof x \"c\"))\n",
                       "(assert (str.prefixof (str.++ \"aa\" \"bb\") \"\"))\n");
}
END_TEST

START_TEST(test_terms_come_from_elsewhere)
{
        assert_reduced((struct interest){.words = {"\"needle\" (str.++ \"hay\" \"stack\")"}, .or = {"\"needle\" \"needle\""}},
                       "(assert (= \"needle\" (str.++ \"hay\" \"stack\")))\n", "(assert (= \"needle\" \"needle\"))\n");
}
END_TEST

/* Neither change alone is interesting. */
/* No pattern stands outside of a quantifier, and none is a value. */
START_TEST(test_patterns_stay_in_quantifiers)
{
        assert_reduced((struct interest){.words = {":pattern"}},
                       "(declare-fun f (Int) Int)\n(declare-const n Int)\n"
                       "(assert (or (< n 2) (forall ((x Int)) (! (< (f x) n) :pattern ((f (+ x 1)))))))\n(check-sat)\n",
                       "(assert (forall ((x Int)) (! true :pattern ((- 1)))))\n");
}
END_TEST

START_TEST(test_two_changes_at_once)
{
        assert_reduced((struct interest){.words = {"(= \"aa\" \"bb\")"}, .or = {"(= \"\" \"\")"}}, "(assert (= \"aa\" \"bb\"))\n",
                       "(assert (= \"\" \"\"))\n");
}
END_TEST

START_TEST(test_assertions_are_joined)
{
        assert_reduced((struct interest){.words = {"(assert (< 2 x))", "(assert (and (< 3 x) (< x 4)))"},
                                         .or = {"(and (< 2 x) (< 3 x) (< x 4))"}},
                       "(declare-fun x () Int)\n(assert (< 2 x))\n(assert (and (< 3 x) (< x 4)))\n",
                       "(declare-const x Int)\n(assert (and (< 2 x) (< 3 x) (< x 4)))\n");
}
END_TEST

START_TEST(test_declared_sorts_give_way)
{
        assert_reduced((struct interest){.words = {"(likes "}, .or = {"(a "}},
                       "(declare-sort Thing 0)\n(declare-fun likes (Thing Thing) Bool)\n(declare-const it Thing)\n(assert (likes "
                       "it it))\n",
                       "(declare-fun a (Int Int) Bool)\n(assert (a 0 0))\n");
}
END_TEST

START_TEST(test_logic_is_simpler)
{
        assert_reduced((struct interest){.words = {"QF_", "LIA"}}, "(set-logic QF_AUFBVLIA)\n", "(set-logic QF_LIA)\n");
        assert_reduced((struct interest){.words = {"set-logic"}}, "(set-logic QF_AUFBVLIA)\n", "(set-logic ALL)\n");
}
END_TEST

START_TEST(test_two_constants_become_one)
{
        assert_reduced((struct interest){.words = {"(str.++ a b c)"}, .or = {"(str.++ a b b)"}},
                       "(declare-const a String)(declare-const b String)(declare-const c String)(assert (= \"\" (str.++ a b c)))",
                       "(declare-const a String)\n(declare-const b String)\n(assert (= \"\" (str.++ a b b)))\n");
}
END_TEST

START_TEST(test_parts_of_relations_are_related)
{
        assert_reduced((struct interest){.words = {"(< (+ 12 34) 56)"}, .or = {"(< 12 34)"}}, "(assert (< (+ 12 34) 56))\n",
                       "(assert (< 12 34))\n");
}
END_TEST

START_TEST(test_quantifiers_of_quantifiers_are_one)
{
        assert_reduced((struct interest){.words = {"forall", "(x ", "(y ", "(< x y)"}},
                       "(assert (forall ((x Int)) (forall ((y Int)) (< x y))))\n",
                       "(assert (forall ((x Int) (y Int)) (< x y)))\n");
}
END_TEST

/* (div 6 7) goes into a leaf of the other half. A formula that is there for a term of it becomes an equality. */
START_TEST(test_terms_are_nested)
{
        assert_reduced((struct interest){.words = {"(str.len", "(div 6 7)"}},
                       "(assert (and (= \"\" (str.substr \"\" (str.len \"\") 0)) (< (div 6 7) 0)))\n",
                       "(assert (= (str.len \"\") (div 6 7)))\n");
        assert_reduced((struct interest){.words = {"(div 6 7)"}}, "(assert (is_int (to_real (div 6 7))))\n",
                       "(assert (= (div 6 7) 0))\n");
}
END_TEST

START_TEST(test_wide_bits_are_written_in_decimal)
{
        assert_reduced((struct interest){.words = {"bvudiv"}},
                       "(declare-const x (_ BitVec 64))(assert (= x (bvudiv x #x00000000000000ff)))\n",
                       "(assert (= (_ bv0 64) (bvudiv (_ bv0 64) (_ bv0 64))))\n");
}
END_TEST

START_TEST(test_dialect_stays)
{
        assert_reduced((struct interest){.words = {"\\x07"}},
                       "(set-info :smt-lib-version 2.0)\n(declare-fun x () String)\n(assert (= x \"abc\\x41\\x07\"))\n",
                       "(assert (= \"\" \"\\x07\"))\n");
}
END_TEST

START_TEST(test_pops_keep_their_pushes)
{
        assert_reduced((struct interest){.words = {"(pop", "check-sat"}}, "(push 2)\n(assert true)\n(pop 2)\n(check-sat)\n(exit)\n",
                       "(push 2)\n(pop 2)\n(check-sat)\n");
}
END_TEST

/* Neither an equality nor a term from elsewhere brings a constant to a place before its declaration. */
START_TEST(test_later_constants_stay_behind)
{
        static const char kept[] = "(declare-const x Int)\n(assert (< x (+ 5 6)))\n(declare-const later Int)\n(assert (= x later))\n";

        assert_reduced((struct interest){.words = {"(< x (+ 5 6))", "(= x later)"}}, kept, kept);
}
END_TEST

/* The name is used on, so the named term cannot go. */
START_TEST(test_a_name_that_is_used_stays)
{
        assert_reduced((struct interest){.words = {"(= true n"}}, "(assert (! (< 1 2) :named n))\n(assert (= true n false))\n(check-sat)\n",
                       "(assert (! true :named n))\n(assert (= true n))\n");
}
END_TEST

/* -- always the same ---------------------------------------------------------------------------------------------------- */

START_TEST(test_width_and_order_do_not_matter)
{
        static const char *const words[] = {"str.++", "select", "bvadd", "forall", "needle"};

        for (size_t w = 0; w < ARRAY_SIZE(words); w++) {
                cleanup_reduce_result struct reduce_result first = {0};
                struct interest in = {.words = {words[w]}};

                assert_ok(reduce_words(&in, 1, large, &first));
                for (size_t width = 1; width <= 7; width += 2)
                        for (int way = 0; way < 3; way++) {
                                cleanup_reduce_result struct reduce_result again = {0};

                                in = (struct interest){.words = {words[w]}, .is_backward = way == 1, .says_all = way == 2};
                                assert_ok(reduce_words(&in, width, large, &again));
                                ck_assert_str_eq(again.text.data, first.text.data);
                        }
        }
}
END_TEST

START_TEST(test_result_cannot_be_reduced)
{
        cleanup_reduce_result struct reduce_result first = {0}, again = {0};
        struct interest in = {.words = {"str.in_re"}};

        assert_ok(reduce_words(&in, 2, large, &first));
        assert_ok(reduce_words(&in, 2, first.text.data, &again));
        ck_assert_str_eq(again.text.data, first.text.data);
        ck_assert_uint_eq(again.status.taken, 0);
}
END_TEST

/* -- what goes wrong ---------------------------------------------------------------------------------------------------- */

START_TEST(test_boring_input_is_refused)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {.words = {"nowhere"}};

        ck_assert_int_eq(reduce_words(&in, 1, large, &result), -ENODATA);
        ck_assert_str_eq(result.text.data, large);
        ck_assert_uint_eq(in.calls, 1);
}
END_TEST

START_TEST(test_failure_keeps_the_best)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {.words = {"str.++"}, .fails_at = 15};

        ck_assert_int_eq(reduce_words(&in, 3, large, &result), -EIO);
        ck_assert_str_eq(error_message(-EIO), "the test broke");
        ck_assert_uint_eq(in.calls, 15);
        ck_assert_uint_lt(result.text.size, strlen(large));
        ck_assert(holds(&in, SLICE(result.text.data, result.text.size)));
        ck_assert(!result.is_minimal);
}
END_TEST

START_TEST(test_cancellation_keeps_the_best)
{
        for (unsigned at = 1; at < 16; at++) {
                cleanup_reduce_result struct reduce_result result = {0};
                struct interest in = {.words = {"str.++"}, .cancels_at = at};

                ck_assert_int_eq(reduce_words(&in, 2, large, &result), -ECANCELED);
                ck_assert(holds(&in, SLICE(result.text.data, result.text.size)));
        }
}
END_TEST

START_TEST(test_time_that_is_over_keeps_the_best)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {.words = {"str.++"}};
        struct reduce_test test = {.try = try_words, .user = &in, .width = 1};

        assert_ok(reduce(slice_string(large), &test, &(struct reduce_options){.deadline_ns = 1}, &result));
        ck_assert_str_eq(result.text.data, large);
        ck_assert(!result.is_minimal);
}
END_TEST

/* Takes the first text, with which the time is over; then the disk is full. */
static int try_once(void *user, const struct slice *, size_t n, enum reduce_answer *ret)
{
        struct reduce_options *o = user;

        if (o->deadline_ns > 0)
                return errorf(-ENOSPC, "the disk is full");
        for (size_t i = 0; i < n; i++)
                ret[i] = i == 0 ? REDUCE_INTERESTING : REDUCE_UNTRIED;
        o->deadline_ns = 1;
        return 0;
}

START_TEST(test_a_last_check_that_fails_is_an_error)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct reduce_options options = {0};
        struct reduce_test test = {.try = try_once, .user = &options, .width = 1, .checks_late = true, .knows_input = true};

        assert_error(reduce(slice_string(large), &test, &options, &result), ENOSPC);
        ck_assert_uint_lt(result.text.size, strlen(large));
}
END_TEST

/* Whatever is said once only is not believed. */
START_TEST(test_lies_are_withdrawn)
{
        for (unsigned at = 2; at < 200; at++) {
                cleanup_reduce_result struct reduce_result result = {0};
                struct interest in = {.words = {"str.++"}, .lies_at = at};

                assert_ok(reduce_words(&in, 2, large, &result));
                ck_assert(holds(&in, SLICE(result.text.data, result.text.size)));
        }
}
END_TEST

START_TEST(test_a_lie_that_was_taken_is_given_back)
{
        uint64_t n_withdrawn = 0;

        for (unsigned at = 2; at < 200; at++) {
                cleanup_reduce_result struct reduce_result result = {0};
                struct interest in = {.words = {"str.++"}, .lies_at = at, .checks_late = true};

                assert_ok(reduce_words(&in, 2, large, &result));
                ck_assert(holds(&in, SLICE(result.text.data, result.text.size)));
                ck_assert(result.is_minimal);
                n_withdrawn += result.status.withdrawn;
        }
        ck_assert_uint_gt(n_withdrawn, 0);
}
END_TEST

/* Interested in the line "two", and the first two times in the first text without it. */
struct forgetful {
        struct digest lie;
        unsigned asked;
};

static int try_forgetful(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret)
{
        struct forgetful *f = user;

        for (size_t i = 0; i < n; i++) {
                struct digest d;

                digest_of(texts[i].data, texts[i].size, &d);
                ret[i] = REDUCE_INTERESTING;
                if (memmem(texts[i].data, texts[i].size, "two", 3))
                        continue;
                if (f->asked == 0)
                        f->lie = d;
                if (!digest_equal(&d, &f->lie) || ++f->asked > 2)
                        ret[i] = REDUCE_BORING;
        }
        return 0;
}

START_TEST(test_a_text_that_the_last_check_goes_back_to_is_reduced)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct forgetful f = {0};

        assert_ok(reduce(slice_string("one )\ntwo (\nthree\n"), &(struct reduce_test){.try = try_forgetful, .user = &f, .width = 1}, NULL, &result));
        ck_assert_uint_eq(f.asked, 3);
        ck_assert_str_eq(result.text.data, "two (\n");
        ck_assert(result.is_minimal);
}
END_TEST

/* The input, a candidate without the commands, all constants at once, and what that leaves is tidied at once; lists of two would take a step each. */
START_TEST(test_many_changes_are_one_step)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {.words = {"(str.++", "\"b\"", "\"needle\""}};

        assert_ok(reduce_words(&in, 1,
                               "(declare-const a String)(declare-const c String)(declare-const d String)(declare-const e String)"
                               "(assert (= \"\" (str.++ (str.++ (str.++ (str.++ (str.++ a c) \"b\") d) e) \"needle\")))",
                               &result));
        ck_assert_str_eq(result.text.data, "(assert (= \"\" (str.++ \"b\" \"needle\")))\n");
        ck_assert_uint_le(result.status.taken, 4);
}
END_TEST

/* Written as one list it would have 2^60 arguments. */
START_TEST(test_lists_that_are_shared_stay_shared)
{
        cleanup_reduce_result struct reduce_result result = {0};
        cleanup_buffer struct buffer input = {0};

        buffer_adds(&input, "(declare-const a String)(assert (= \"\" (let ((x0 (str.++ a a))) ");
        for (unsigned i = 1; i < 60; i++)
                buffer_addf(&input, "(let ((x%u (str.++ x%u x%u))) ", i, i - 1, i - 1);
        buffer_adds(&input, "x59");
        for (unsigned i = 0; i < 60; i++)
                buffer_adds(&input, ")");
        buffer_adds(&input, "))");
        assert_ok(reduce_words(&(struct interest){.words = {"let", "str.++", "str.++"}}, 2, input.data, &result));
        ck_assert(holds_all((const char *const[8]){"let", "str.++", "str.++"}, SLICE(result.text.data, result.text.size)));
        ck_assert_uint_lt(result.text.size, 120);
}
END_TEST

/* Two calls for each step and for the end, or one for each step and few more. */
START_TEST(test_a_test_that_is_trusted_is_asked_less)
{
        cleanup_reduce_result struct reduce_result each = {0}, last = {0};
        uint64_t once;

        assert_ok(reduce_words(&(struct interest){.words = {"str.++"}}, 1, large, &each));
        assert_ok(reduce_words(&(struct interest){.words = {"str.++"}, .checks_late = true}, 1, large, &last));
        ck_assert_str_eq(last.text.data, each.text.data);
        once = each.status.tests - each.status.taken - 1;
        ck_assert_uint_gt(last.status.tests, once);
        ck_assert_uint_lt(last.status.tests, once + each.status.taken / 2);
}
END_TEST

START_TEST(test_input_that_is_known_is_not_asked_for)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {.words = {"nowhere"}};
        struct reduce_test test = {.try = try_words, .user = &in, .width = 1, .checks_late = true, .knows_input = true};

        assert_ok(reduce(slice_string(large), &test, NULL, &result));
        ck_assert_str_eq(result.text.data, large);
        ck_assert_uint_eq(result.status.taken, 0);
}
END_TEST

START_TEST(test_input_without_bytes)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {0};

        assert_ok(reduce_words(&in, 2, "", &result));
        ck_assert_uint_eq(result.text.size, 0);
}
END_TEST

START_TEST(test_deep_input)
{
        cleanup_buffer struct buffer deep = {0};
        cleanup_reduce_result struct reduce_result result = {0};
        struct interest in = {.words = {"assert"}, .is_strict = true};

        buffer_adds(&deep, "(declare-fun p () Bool)\n(assert ");
        for (int i = 0; i < 60000; i++)
                buffer_adds(&deep, "(not (xor true ");
        buffer_adds(&deep, "p");
        for (int i = 0; i < 60000; i++)
                buffer_adds(&deep, "))");
        buffer_adds(&deep, ")\n");
        in.is_strict = false;
        assert_ok(reduce_words(&in, 1, deep.data, &result));
        ck_assert_str_eq(result.text.data, "(assert true)\n");
}
END_TEST

/* -- no script ---------------------------------------------------------------------------------------------------------- */

static void assert_text(struct interest in, const char *input, const char *expected)
{
        cleanup_reduce_result struct reduce_result result = {0};

        assert_ok(reduce_words(&in, 2, input, &result));
        ck_assert_str_eq(result.text.data, expected);
        ck_assert(result.is_minimal);
}

START_TEST(test_other_parentheses)
{
        assert_text((struct interest){.words = {"needle"}}, "(define (f x) (let ((y (g needle x))) 1))\n(f 2)", "needle\n");
        assert_text((struct interest){.words = {"(frob", "needle"}}, "(frob (and (knit needle 1 2) (knit 3)))\n",
                    "(frob needle)\n");
        assert_text((struct interest){.words = {"(", "needle", ")"}}, "(a b c needle d)\n", "(needle)\n");
        assert_text((struct interest){.words = {"frob", "needle"}}, "(frob(needle))\n", "(frob needle)\n");
}
END_TEST

START_TEST(test_parentheses_around_a_word)
{
        struct interest in = {.words = {"needle"}};
        cleanup_reduce_result struct reduce_result result = {0};
        cleanup_buffer struct buffer text = {0};

        for (size_t i = 0; i < 40000; i++)
                buffer_adds(&text, i == 20000 ? "needle)" : i < 20000 ? "(" : ")");
        assert_ok(reduce_words(&in, 1, text.data, &result));
        ck_assert_str_eq(result.text.data, "needle");
        ck_assert_uint_lt(in.calls, 100);
}
END_TEST

START_TEST(test_lines)
{
        assert_text((struct interest){.words = {"two"}}, "one )\ntwo (\nthree\n", "two (\n");
        assert_text((struct interest){.words = {"needle", "needle"}}, "(a (b needle\n(c)\n(d needle\n",
                    "(a (b needle\n(d needle\n");
}
END_TEST

/* Interested in two clauses that clash in a variable; reads no header that does not fit, as solvers do. */
static int try_clash(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret)
{
        for (size_t i = 0; i < n; i++) {
                bool seen[2][10] = {0}, clashes = false;
                struct cnf_reader reader;
                int64_t n_clauses = 0;
                int32_t literal;
                int k;

                cnf_reader_init(&reader, texts[i]);
                while ((k = cnf_next(&reader, &literal)) == 1) {
                        n_clauses += literal == 0;
                        seen[literal < 0][abs(literal)] |= literal != 0;
                        clashes |= seen[0][abs(literal)] && seen[1][abs(literal)];
                }
                ret[i] = k == 0 && n_clauses == reader.clauses && clashes ? REDUCE_INTERESTING : REDUCE_BORING;
        }
        return 0;
}

START_TEST(test_dimacs_of_a_solver)
{
        cleanup_reduce_result struct reduce_result result = {0};

        assert_ok(reduce(slice_string("c a comment\np cnf 9 5\n1 2 0 -3\n4 0\n-1 5 9 0 3 -9 0\n7 0\n"),
                         &(struct reduce_test){.try = try_clash, .width = 3}, NULL, &result));
        ck_assert_str_eq(result.text.data, "p cnf 1 2\n1 0\n-1 0\n");
        ck_assert(result.is_minimal);
}
END_TEST

/* It stays DIMACS, whose header fits. */
START_TEST(test_dimacs)
{
        assert_text((struct interest){.words = {"p cnf", "\n1 2 0"}}, "c a comment\np cnf 2 3\n1 2 0\n-1 0\n2 0\n",
                    "p cnf 2 1\n1 2 0\n");
        assert_text((struct interest){.words = {"p cnf", " 0\n-"}}, "c x\np cnf 20 5\n1 -5 0\n5 17 9 0 2\n3 0\n-19\n12 0\n-17 0", "p cnf 2 2\n1 0\n-2 0\n");
        assert_text((struct interest){.words = {"p cnf 3"}}, "p cnf 3 2\n1 2 0\n-3 0\n", "p cnf 3 1\n-3 0\n");
        assert_text((struct interest){.words = {"p cnf", "-4"}}, "p cnf 3 2\n1 2 0\n-4 0\n", "p cnf\n-4\n"); /* the header is wrong: other text */
}
END_TEST

/* Theories that are not modelled: a term of theirs goes as a whole, and its arguments are reduced. */
START_TEST(test_opaque_terms)
{
        assert_text((struct interest){.words = {"seq.unit"}},
                    "(declare-fun x () (Seq Int))\n(assert (= (seq.++ x (seq.unit (+ 1 2))) (seq.rev x)))\n(assert (= x x))\n(check-sat)\n",
                    "(declare-const x (Seq Int))\n(assert (= (seq.++ x (seq.unit 0)) x))\n");
}
END_TEST

/* Their parts are reduced as parentheses. */
START_TEST(test_unknown_commands)
{
        assert_text((struct interest){.words = {"needle"}},
                    "(set-logic LIA)\n(declare-const x Int)\n(constraint (= (f x 2) (g needle (+ x 1))))\n(assert (< x 2))\n(check-synth)\n",
                    "(constraint needle)\n");
}
END_TEST

#define DATATYPES "(declare-datatypes ((List 0) (Tree 0)) (((nil) (cons (head Int) (tail List))) ((leaf) (node (left Tree) (value Int)))))\n"

/* A datatype keeps its used parts, and a way to a value. */
START_TEST(test_datatypes)
{
        assert_text((struct interest){.words = {"is node"}},
                    "(set-logic ALL)\n" DATATYPES "(declare-const l List)\n(declare-const t Tree)\n(assert ((_ is cons) l))\n"
                    "(assert ((_ is node) t))\n(assert (= (value t) (head l)))\n(check-sat)\n",
                    "(declare-datatypes ((Tree 0)) (((node))))\n(declare-const t Tree)\n(assert ((_ is node) t))\n");
        assert_text((struct interest){.words = {"(left (left t"}},
                    DATATYPES "(declare-const t Tree)\n(assert (or (= leaf (left (left t))) (= (value t) 3)))\n(check-sat)\n",
                    "(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree)))))\n(declare-const t Tree)\n(assert (= t (left (left t))))\n");
        assert_text((struct interest){.words = {"(tl l"}},
                    "(declare-datatypes ((L 1) (P 2)) ((par (T) ((nil) (cons (hd T) (tl (L T))))) (par (A B) ((pair (fst A) (snd B))))))\n"
                    "(declare-const l (L Int))\n(declare-const p (P Int Bool))\n(assert (or (snd p) (= (tl l) l)))\n(check-sat)\n",
                    "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (tl (L T)))))))\n(declare-const l (L Int))\n(assert (= (tl l) l))\n");
        assert_text((struct interest){.words = {"(tl l"}},
                    "(declare-datatypes (T) ((L nil (cons (hd T) (tl L))) (M none (some (of L)))))\n(declare-const l (L Int))\n(assert (= (tl l) l))\n",
                    "(declare-datatypes (T) ((L nil (cons (tl L)))))\n(declare-const l (L Int))\n(assert (= (tl l) l))\n");
        assert_text((struct interest){.words = {"match"}},
                    DATATYPES "(declare-const l List)\n(declare-const t Tree)\n(assert (= leaf t))\n"
                    "(assert (match l ((nil true) ((cons h r) false))))\n(check-sat)\n",
                    "(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))\n(declare-const l List)\n"
                    "(assert (match l ((nil true) ((cons h r) false))))\n");
        assert_text((struct interest){.words = {"(= (fst p)"}, .or = {"(= p (fst"}},
                    "(declare-datatypes ((P 2)) ((par (A B) ((pair (fst A) (snd B))))))\n"
                    "(declare-const p (P Int Bool))\n(declare-const q (P Int Bool))\n(assert (= (fst p) (fst q)))\n(check-sat)\n",
                    "(declare-datatypes ((P 2)) ((par (A B) ((pair (fst A))))))\n(declare-const p (P Int Bool))\n(assert (= (fst p) 0))\n");
        /* a value by way of a sequence is not known, and a datatype without a constructor is none */
        assert_text((struct interest){.words = {"Rose"}}, "(declare-datatypes ((Rose 0)) (((mk (kids (Seq Rose))))))\n(declare-const r Rose)\n(assert (= r r))\n",
                    "(declare-datatypes ((Rose 0)) (((mk))))\n");
}
END_TEST

#define COLORS "(declare-datatypes ((Color 0) (Shape 0)) (((red) (blue)) ((dot) (box (of Color) (width Int)))))\n"

/* Names in a command that is only text keep their declarations: those of constants, functions, constructors, selectors and sorts. */
START_TEST(test_names_in_text_stay)
{
        assert_text((struct interest){.words = {"match"}},
                    COLORS "(declare-const s Shape)\n(declare-fun count (Int) Int)\n(declare-const n Int)\n(declare-const m Int)\n"
                           "(assert (match s ((dot (= n 1)) ((box c w) (= (count w) (width (box red 2)))))))\n"
                           "(assert (= n (count (+ n m))))\n(assert (= s (box blue m)))\n(check-sat)\n",
                    "(declare-datatypes ((Color 0) (Shape 0)) (((red)) ((dot) (box (of Color) (width Int)))))\n(declare-const s Shape)\n"
                    "(declare-fun b (Int) Int)\n(declare-const n Int)\n(assert (match s ((dot (= n 1)) ((box c w) (= (b w) (width (box red 2)))))))\n");
        assert_text((struct interest){.words = {"define-funs-rec"}},
                    "(declare-sort U 0)\n(declare-const n Int)\n(declare-const m Int)\n(declare-const u U)\n"
                    "(define-funs-rec ((f ((x Int) (y U)) Int)) ((ite (= y u) (+ n x) (f (- x 1) y))))\n(assert (= n m (f m u)))\n(check-sat)\n",
                    "(declare-const n Int)\n(declare-const u Int)\n"
                    "(define-funs-rec ((f ((x Int) (y Int)) Int)) ((ite (= y u) (+ n x) (f (- x 1) y))))\n");
        assert_text((struct interest){.words = {"define-funs-rec"}},
                    COLORS "(define-funs-rec ((f ((x Int)) Bool)) (((_ is box) (box blue x))))\n(check-sat)\n",
                    "(declare-datatypes ((Color 0) (Shape 0)) (((blue)) ((box (of Color) (width Int)))))\n"
                    "(define-funs-rec ((f ((x Int)) Bool)) (((_ is box) (box blue x))))\n");
}
END_TEST

START_TEST(test_a_term_named_in_text_stays)
{
        assert_text((struct interest){.words = {"(not one"}},
                    "(declare-datatype D ((d)))\n(declare-const n Int)\n(assert (! (match d ((x (< n 1)))) :named one))\n"
                    "(assert (! (match d ((y true))) :named two))\n(assert (or (< n 1) (not one)))\n(check-sat)\n",
                    "(declare-datatype D ((d)))\n(declare-const n Int)\n(assert (! (match d ((x (< n 1)))) :named one))\n(assert (not one))\n");
}
END_TEST

/* It is known by its name and its sorts though its body is only text. */
START_TEST(test_a_definition_that_is_text_stays)
{
        assert_text((struct interest){.words = {"(= 1 (size"}},
                    COLORS "(declare-const s Shape)\n(declare-const n Int)\n(define-fun size ((x Shape)) Int (match x ((dot 0) ((box c w) w))))\n"
                           "(assert (or (= n 2) (= 1 (size s))))\n(assert (match s ((x true))))\n(check-sat)\n",
                    "(declare-datatypes ((Color 0) (Shape 0)) (((blue)) ((dot) (box (of Color) (width Int)))))\n(declare-const s Shape)\n"
                    "(define-fun size ((x Shape)) Int (match x ((dot 0) ((box c w) w))))\n(assert (= 1 (size s)))\n");
}
END_TEST

START_TEST(test_an_updated_field_stays)
{
        assert_text((struct interest){.words = {"_ update"}},
                    COLORS "(declare-const s Shape)\n(assert (= s ((_ update width) s 2)))\n(check-sat)\n",
                    "(declare-datatypes ((Shape 0)) (((box (width Int)))))\n(declare-const s Shape)\n(assert (= s ((_ update width) s 0)))\n");
}
END_TEST

/* An escape of old, which ends no string. */
START_TEST(test_dialect_of_the_script)
{
        assert_text((struct interest){.words = {"d\\\""}},
                    "(set-info :smt-lib-version 2.0)\n(declare-fun s () String)\n(declare-fun t () String)\n(assert (= t \"x\"))\n(assert (= s \"d\\\"\"))\n(check-sat)\n",
                    "(assert (= \"\" \"d\\\"\"))\n");
}
END_TEST

START_TEST(test_comments_that_matter)
{
        assert_text((struct interest){.words = {"needle"}}, "; needle\n(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n", "; needle\n");
}
END_TEST

/* -- side by side --------------------------------------------------------------------------------------------------------- */

static int seat_words(void *user, unsigned seat, struct slice text, int cancel_fd)
{
        return holds(user, text);
}

START_TEST(test_pool_gives_the_same)
{
        struct interest in = {.words = {"str.++"}};
        cleanup_reduce_result struct reduce_result alone = {0};

        assert_ok(reduce_words(&in, 1, large, &alone));
        for (unsigned seats = 1; seats <= 4; seats++) {
                cleanup(reduce_pool_closep) struct reduce_pool *pool = NULL;
                cleanup_reduce_result struct reduce_result result = {0};
                struct reduce_test test = {.try = reduce_pool_try, .width = 2 * seats};

                assert_ok(reduce_pool_open(seats, seat_words, NULL, &in, -1, &pool));
                test.user = pool;
                assert_ok(reduce(slice_string(large), &test, NULL, &result));
                ck_assert_str_eq(result.text.data, alone.text.data);
        }
}
END_TEST

/* "slow" is no more than that: it waits until somebody does not want to know any more. */
static int seat_waits(void *user, unsigned seat, struct slice text, int cancel_fd)
{
        eventfd_t count;

        if (text.size > 0 && *(const char *)text.data == 'e')
                return errorf(-EIO, "a seat broke");
        if (text.size > 0 && *(const char *)text.data != 's')
                return *(const char *)text.data == 'y';
        while (eventfd_read(cancel_fd, &count) < 0)
                usleep(100);
        return -ECANCELED;
}

START_TEST(test_pool_cancels_what_is_behind)
{
        cleanup(reduce_pool_closep) struct reduce_pool *pool = NULL;
        struct slice texts[] = {slice_string("no"), slice_string("yes"), slice_string("slow"), slice_string("yes")};
        enum reduce_answer answers[4] = {0};

        assert_ok(reduce_pool_open(3, seat_waits, NULL, NULL, -1, &pool));
        for (int round = 0; round < 100; round++) {
                memset(answers, 0, sizeof(answers));
                assert_ok(reduce_pool_try(pool, texts, 4, answers));
                ck_assert_int_eq(answers[0], REDUCE_BORING);
                ck_assert_int_eq(answers[1], REDUCE_INTERESTING);
                ck_assert_int_eq(answers[2], REDUCE_UNTRIED);
        }
}
END_TEST

START_TEST(test_pool_fails_and_is_cancelled)
{
        cleanup(reduce_pool_closep) struct reduce_pool *pool = NULL;
        cleanup_close int cancel = eventfd(0, EFD_CLOEXEC);
        struct slice broken[] = {slice_string("slow"), slice_string("error")}, slow[] = {slice_string("slow")};
        enum reduce_answer answers[2] = {0};

        assert_ok(reduce_pool_open(2, seat_waits, NULL, NULL, cancel, &pool));
        ck_assert_int_eq(reduce_pool_try(pool, broken, 2, answers), -EIO);
        ck_assert_str_eq(error_message(-EIO), "a seat broke");
        eventfd_write(cancel, 1);
        ck_assert_int_eq(reduce_pool_try(pool, slow, 1, answers), -ECANCELED);
}
END_TEST

SUITE("reduce", test_commands_go, test_terms_are_replaced, test_literals_are_shortened, test_quantifiers_and_definitions_go,
      test_arguments_go, test_constants_go, test_places_are_told_apart, test_other_operators_take_a_place,
      test_nested_arguments_are_one_list, test_negations_go_into_relations, test_equal_constants_are_put_in,
      test_terms_come_from_elsewhere, test_patterns_stay_in_quantifiers, test_two_changes_at_once, test_assertions_are_joined, test_declared_sorts_give_way,
      test_logic_is_simpler, test_two_constants_become_one, test_parts_of_relations_are_related,
      test_quantifiers_of_quantifiers_are_one, test_terms_are_nested, test_wide_bits_are_written_in_decimal, test_dialect_stays,
      test_pops_keep_their_pushes, test_later_constants_stay_behind, test_a_name_that_is_used_stays,
      test_deep_input, test_width_and_order_do_not_matter, test_result_cannot_be_reduced, test_boring_input_is_refused,
      test_failure_keeps_the_best, test_cancellation_keeps_the_best, test_time_that_is_over_keeps_the_best, test_a_last_check_that_fails_is_an_error,
      test_lies_are_withdrawn, test_a_text_that_the_last_check_goes_back_to_is_reduced, test_a_lie_that_was_taken_is_given_back, test_a_test_that_is_trusted_is_asked_less,
      test_many_changes_are_one_step, test_lists_that_are_shared_stay_shared, test_input_that_is_known_is_not_asked_for,
      test_input_without_bytes, test_other_parentheses, test_parentheses_around_a_word, test_lines, test_dimacs,
      test_dimacs_of_a_solver, test_opaque_terms, test_pool_gives_the_same,
      test_unknown_commands, test_datatypes, test_names_in_text_stay, test_a_definition_that_is_text_stays, test_a_term_named_in_text_stays, test_an_updated_field_stays,
      test_dialect_of_the_script, test_comments_that_matter,
      test_pool_cancels_what_is_behind, test_pool_fails_and_is_cancelled)
