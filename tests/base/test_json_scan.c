#include "tests/support/test.h"

#include "cache/base/json_scan.h"

/* By way of jansson's values. */
static char *dumped(const char *text)
{
        json_t *j = json_loadb(text, strlen(text), 0, NULL);
        char *ret = json_is_object(j) ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

        json_decref(j);
        return ret;
}

static const char *const texts[] = {
        "{}",
        " {\n  \"a\" : [ 1 , 2.5, -3, [ ], { } ] ,\"b\":{\"c\":null,\"d\":true , \"e\":false}}\n\t ",
        "{\"\": \"\", \"text\": \"a b\\n\\t\\\"\\\\ \xc3\xa9 \x7f\", \"x y\": \"  \"}",
        /* escapes that are printed otherwise */
        "{\"a\\u00e9\\/\\u0001\": \"\\ud83d\\ude00\"}",
        "{\"a\": \"\\ud83d\"}",
        "{\"a\": \"\\u0000\"}",
        "{\"a\": \"\\x\"}",
        /* no JSON, or no object */
        "",
        " ",
        "[]",
        "1",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":[1}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":tru}",
        "{\"a\":\"x}",
        "{\"a\":\"x\\",
        "{\"a\":\"a\nb\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":\"\xc3\"}",
        "{} x",
        "{}{}",
};

static const char *const numbers[] = {
        "0", "-1", "10", "999999999999999", "123456789012345678", "9223372036854775807", "9223372036854775808", "-0", "01", "1.", ".5", "-", "+1", "1e", "1e+", "",
        /* reals as they are printed, and as they are not */
        "0.0", "-0.0", "100.0", "0.001", "-0.0001", "0.00001", "0.100", "1.10", "10.50", "00.5", "0.123456789012345", "0.1234567890123456", "12345678901234.5",
        "123456789012345.6", "99999999999999.0", "999999999999999.0", "0.000123456789012345", "0.0001234567890123456", "123456789.012345", "1234567890.1234567",
        "1e5", "1.5E-7", "1.0e5", "1e400", "1e-400", "0e0", "100000000000000000000.5",
};

/* `text` and every beginning of it. */
static void check_compact(const char *text)
{
        for (size_t n = strlen(text);; n--) {
                cleanup_buffer struct buffer b = {0};
                cleanup_free char *begins = strndup(text, n), *expected = dumped(begins);

                buffer_adds(&b, "before ");
                ck_assert_int_eq(json_add_compact(&b, SLICE(begins, n)), expected ? 0 : -EINVAL);
                ck_assert_str_eq(b.data + strlen("before "), expected ? expected : "");
                if (n == 0)
                        return;
        }
}

START_TEST(test_compact)
{
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                check_compact(texts[i]);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                char text[80];

                snprintf(text, sizeof(text), "{\"n\" :[ %s]} ", numbers[i]);
                check_compact(text);
        }
}
END_TEST

/* Its value wherever it stands, and not that of a deeper one of the same name. */
START_TEST(test_member)
{
        static const char text[] = "{\n  \"first\": {\"wanted\": 1},\n  \"n\": 1e-5,\n  \"wanted\" : [ 2 ]\n}";
        json_t *j = json_load_member(slice_string(text), "wanted");

        ck_assert_int_eq(json_integer_value(json_array_get(j, 0)), 2);
        json_decref(j);
        j = json_load_member(slice_string("{\"a\":{\"b\":1},\"b\":2.5}"), "b");
        ck_assert_double_eq(json_real_value(j), 2.5);
        json_decref(j);
        ck_assert_ptr_null(json_load_member(slice_string(text), "want"));
        ck_assert_ptr_null(json_load_member(slice_string("{\"wanted\":1"), "wanted"));
        ck_assert_ptr_null(json_load_member(slice_string("[1]"), "wanted"));
        ck_assert_ptr_null(json_load_member(SLICE(NULL, 0), "wanted"));
}
END_TEST

/* A damaged or hostile text ends the reading, and not the process. */
START_TEST(test_depth)
{
        cleanup_buffer struct buffer deep = {0}, b = {0};

        buffer_adds(&deep, "{\"a\":");
        for (unsigned i = 0; i < 1000000; i++)
                buffer_adds(&deep, "[");
        ck_assert_int_eq(json_add_compact(&b, SLICE(deep.data, deep.size)), -EINVAL);
        ck_assert_uint_eq(b.size, 0);
}
END_TEST

SUITE("json_scan", test_compact, test_member, test_depth)
