#include "tests/support/test.h"

#include "core/run/ending.h"

static const char *ending(enum execute_end end, int code, const char *err)
{
        static char text[ENDING_SIZE];
        struct execute_result r = {.end = end, .code = code, .err = {.data = err, .size = strlen(err)}};

        ending_describe(&r, text);
        return text;
}

START_TEST(test_status_and_last_line)
{
        ck_assert_str_eq(ending(END_SIGNAL, 11, ""), "signal 11 ");
        ck_assert_str_eq(ending(END_EXIT, 134, "first\nASSERTION VIOLATION\n"), "exit 134 ASSERTION VIOLATION");
}
END_TEST

START_TEST(test_addresses_do_not_count)
{
        ck_assert_str_eq(ending(END_SIGNAL, 6, "bad node 0x7f12ABcd at 0x0\n"), "signal 6 bad node @ at @");
        ck_assert_str_eq(ending(END_SIGNAL, 6, "0xyz 10x20 0x"), "signal 6 0xyz 1@ 0x");
}
END_TEST

START_TEST(test_long_lines_are_cut)
{
        char line[1000];

        memset(line, 'x', sizeof(line) - 1);
        line[sizeof(line) - 1] = '\0';
        ck_assert_uint_lt(strlen(ending(END_EXIT, 1, line)), ENDING_SIZE);
        ck_assert_str_eq(ending(END_EXIT, 1, line), ending(END_EXIT, 1, line + 1));
}
END_TEST

SUITE("ending", test_status_and_last_line, test_addresses_do_not_count, test_long_lines_are_cut)
