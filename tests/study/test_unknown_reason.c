#include "tests/support/test.h"

#include "core/study/campaign/unknown_reason.h"

START_TEST(test_reasons)
{
        static const struct {
                const char *output, *reason;
        } table[] = {
                {"", ""},
                {"unknown\n", ""},
                {"unknown\n(:reason-unknown incomplete)\n", "incomplete"},
                {"unknown\n(:reason-unknown \"incomplete\")\n", "incomplete"},
                {"unknown\n(:reason-unknown |a b|)\n", "a b"},
                {"unknown\r\n(:reason-unknown incomplete)\r\n", "incomplete"},
                {"(:reason-unknown \"(incomplete (theory arithmetic))\")", "(incomplete (theory arithmetic))"},
                {"(:reason-unknown (incomplete (theory arithmetic)))\n", "(incomplete (theory arithmetic))"},
                {"(:reason-unknown \"smt tactic failed (incomplete quantifiers)\")\n", "smt tactic failed (incomplete quantifiers)"},
                {"(:reason-unknown)\n", ""},
                {"(:reason-unknown", ""},
                {"(:reason-unknown never ends\nsat\n", "never ends"},
                {"(:reason-unknown first)\n(:reason-unknown second)\n", "first"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                char reason[REASON_MOST];

                unknown_reason(slice_string(table[i].output), reason);
                ck_assert_msg(strcmp(reason, table[i].reason) == 0, "row %zu: '%s'", i, reason);
        }
}
END_TEST

START_TEST(test_a_long_reason_is_cut)
{
        cleanup_buffer struct buffer b = {0};
        char reason[REASON_MOST];

        buffer_adds(&b, "(:reason-unknown ");
        for (int i = 0; i < 1000; i++)
                buffer_adds(&b, "x");
        buffer_adds(&b, ")\n");
        unknown_reason(SLICE(b.data, b.size), reason);
        ck_assert_uint_eq(strlen(reason), REASON_MOST - 1);
        unknown_reason(SLICE(b.data, 20), reason); /* whatever lies behind the output is none of it */
        ck_assert_str_eq(reason, "xxx");
}
END_TEST

START_TEST(test_limits)
{
        static const struct {
                const char *reason;
                bool is_limit;
        } table[] = {{"timeout", true},      {"Timeout", true},       {"timed out", true},   {"max. resource limit exceeded", true},
                     {"canceled", true},     {"out of memory", true}, {"interrupted", true}, {"", false},
                     {"incomplete", false},  {"(incomplete (theory arithmetic))", false}};

        for (size_t i = 0; i < ARRAY_SIZE(table); i++)
                ck_assert_msg(reason_is_limit(table[i].reason) == table[i].is_limit, "row %zu", i);
}
END_TEST

SUITE("unknown_reason", test_reasons, test_a_long_reason_is_cut, test_limits)
