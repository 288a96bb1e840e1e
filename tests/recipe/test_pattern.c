/* Patterns for counters: which are taken, which match is meant, and that neither a pattern nor an output can cost without end. */
#include "core/recipe/pattern.h"

#include "tests/support/test.h"

static char *last(const char *text, struct slice output)
{
        cleanup_pattern struct pattern *p = NULL;
        struct slice found;

        assert_ok(pattern_new(text, &p));
        return pattern_last(p, output, &found) ? strndup(found.data, found.size) : NULL;
}

#define assert_last(pattern, output, expected)                                \
        do {                                                                  \
                cleanup_free char *got = last(pattern, slice_string(output)); \
                ck_assert_pstr_eq(got, expected);                             \
        } while (0)

START_TEST(test_the_last_match_of_the_last_line)
{
        assert_last("c: *([0-9]+)", "c: 1\nc: 22\n", "22");
        assert_last("c: *([0-9]+)", "c: 1 c: 2\nnothing", "2");
        assert_last("^c: *([0-9]+)", "c: 1\nx c: 2\n", "1");
        assert_last("^c: *([0-9]+)", "c: 1 c: 2", "1");
        assert_last("c: ([0-9]+)$", "c: 1\nc: 2 \n", "1");
        assert_last(":n +([0-9]+)\\)", "(:n 5)\n(:n 6\n", "5");
        assert_last("([0-9]*)", "ab", "");
        assert_last("x(y)?", "xy\nx\n", "y"); /* in the last line the group takes no part */
        assert_last("c: ([0-9]+)", "d: 1\n", NULL);
        assert_last("c: ([0-9]+)", "", NULL);
}
END_TEST

START_TEST(test_bytes)
{
        static const char output[] = "\xff\xfe\0c: 7\0\n\0\x80";
        cleanup_free char *got = last("c: ([0-9]+)", SLICE(output, sizeof(output) - 1));

        ck_assert_pstr_eq(got, "7");
}
END_TEST

START_TEST(test_refused)
{
        static const struct {
                const char *text, *says;
        } rows[] = {
                {"(a", "missing closing parenthesis"},
                {"a+++(b)", "quantifier does not follow"},
                {"((a{999}){999}){999}", "too large"},
                {"(*UTF)(a)", "UTF"},
                {"a", "has 0 groups"},
                {"(a)(b)", "has 2 groups"},
        };
        struct pattern *p;

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                ck_assert_int_eq(pattern_new(rows[i].text, &p), -EINVAL);
                ck_assert_msg(strstr(error_message(-EINVAL), rows[i].says), "%s: %s", rows[i].text, error_message(-EINVAL));
        }
}
END_TEST

/* The only match is in front of sixteen megabytes of lines that the pattern looks at from each of their places. */
START_TEST(test_not_bounded_too_soon)
{
#ifdef __SANITIZE_THREAD__ /* each step takes twenty times as long */
        size_t size = 2 << 20;
#else
        size_t size = 16 << 20;
#endif
        cleanup_free char *many = malloc(size + 1);

        for (size_t i = 0; i < size; i++)
                many[i] = i % 200 == 4 ? '\n' : i % 3 == 0 ? ' ' : 'a';
        many[size] = '\0';
        memcpy(many, "c: 9", 4);
        assert_last("[a-z ]+: ([0-9])", many, "9");
}
END_TEST

START_TEST(test_bounded)
{
        const uint64_t most = pattern_steps_most;
        size_t size = 2 << 20;
        cleanup_free char *many = malloc(size + 1);

        pattern_steps_most = 40000000;
        memset(many, 'a', size);
        many[size] = '\0';
        ck_assert_ptr_null(last("((?:a+)+)b", SLICE(many, 1 << 10))); /* exponential, were it not cut short */
        ck_assert_ptr_null(last("(a)", SLICE(many, size)));           /* one line, longer than what is searched */
        for (size_t i = 0; i < size; i += 3)
                many[i] = ' ';
        /* one line of words: from each place to its end, and back: 10^12 steps, few of them from the same place */
        ck_assert_ptr_null(last("[a-z ]+: ([0-9])", SLICE(many, 1 << 20)));
        pattern_steps_most = most;
        for (size_t i = 4; i < size; i += 200)
                many[i] = '\n';
        memcpy(many, "c: 9", 4);
        assert_last("[a-z ]+: ([0-9])", many,
                    "9"); /* behind it two megabytes of lines that take a while each, but not too long */
        memcpy(many + size - 5, "\nc: 7", 5);
        assert_last("c: ([0-9])", many, "7");
        memset(many, '\n', 1 << 16);
        memcpy(many, "c: 8", 4);
        many[1 << 16] = '\0';
        assert_last("c: ([0-9])", many, "8");
}
END_TEST

SUITE("pattern", test_the_last_match_of_the_last_line, test_bytes, test_refused, test_not_bounded_too_soon, test_bounded)
