#include "tests/support/test.h"

#include "core/study/observation/culprits.h"

static enum culprit_class class_of(const char *message)
{
        return culprit_classify(message, "M\tsrc/smt/theory_seq.cpp\n");
}

START_TEST(test_classes)
{
        ck_assert_int_eq(class_of("Fix #1234"), CLASS_FIX);
        ck_assert_int_eq(class_of("bugfix in prefix elimination"), CLASS_FIX);
        ck_assert_int_eq(class_of("add axioms for str.at\n"), CLASS_ALGORITHM);
        ck_assert_int_eq(class_of("Optimized length propagation"), CLASS_ALGORITHM);
        ck_assert_int_eq(class_of("arith.solver=6 is the default"), CLASS_THEORY);
        ck_assert_int_eq(class_of("rename variables, clean up"), CLASS_REFACTORING);
        ck_assert_int_eq(class_of("na"), CLASS_UNKNOWN);
        ck_assert_int_eq(class_of(""), CLASS_UNKNOWN);
}
END_TEST

/* A commit that changes nothing but where defaults are declared flips one, whatever it says. */
START_TEST(test_paths)
{
        ck_assert_int_eq(culprit_classify("fix", "M\tsrc/params/smt_params.cpp\nM\tsrc/options/strings_options.toml\n"), CLASS_THEORY);
        ck_assert_int_eq(culprit_classify("fix", "M\tsrc/params/smt_params.cpp\nM\tsrc/smt/theory.cpp\n"), CLASS_FIX);
        ck_assert_int_eq(culprit_classify("fix", ""), CLASS_FIX);
}
END_TEST

/* "prefix" begins with no word of the list, "unfixed" neither. */
START_TEST(test_whole_words)
{
        ck_assert_int_eq(class_of("prefixes of suffixes"), CLASS_UNKNOWN);
        ck_assert_int_eq(class_of("debugging"), CLASS_UNKNOWN);
}
END_TEST

START_TEST(test_intents)
{
        ck_assert_int_eq(culprit_intent_of("disable it for now"), INTENT_COMPROMISE);
        ck_assert_int_eq(culprit_intent_of("fix #12"), INTENT_UNKNOWN);
}
END_TEST

START_TEST(test_words)
{
        enum culprit_class class = CLASS_UNKNOWN;
        enum culprit_intent intent = INTENT_UNKNOWN;
        bool is_class = false;

        ck_assert_int_eq(culprit_word_parse("theory", &class, &is_class, &intent), 0);
        ck_assert(is_class && class == CLASS_THEORY);
        ck_assert_int_eq(culprit_word_parse("bug", &class, &is_class, &intent), 0);
        ck_assert(!is_class && intent == INTENT_BUG);
        ck_assert_int_eq(culprit_word_parse("luck", &class, &is_class, &intent), -EINVAL);
        ck_assert_int_eq(culprit_word_parse("-", &class, &is_class, &intent), -EINVAL);
}
END_TEST

SUITE("culprits", test_classes, test_paths, test_whole_words, test_intents, test_words)
