#include "tests/support/test.h"

#include "core/smtlib/token.h"

/* The tokens of a text, as letters, each with its span. */
static const char *kinds(const char *text, enum dialect d)
{
        static const char letters[] = "$()skndxb\"?";
        static char list[256];
        struct tokenizer t;
        struct token token;
        size_t n = 0;

        tokenizer_init(&t, slice_string(text), d);
        while (token_next(&t, &token) != TOKEN_END) {
                ck_assert_uint_lt(token.begin, token.end);
                list[n++] = letters[token.kind];
        }
        list[n] = '\0';
        return list;
}

static void assert_text(const char *input, enum dialect d, enum token_kind kind, const char *text)
{
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, slice_string(input), d);
        ck_assert_int_eq(token_next(&t, &token), kind);
        ck_assert_uint_eq(token.text.size, strlen(text));
        ck_assert_int_eq(memcmp(token.text.data, text, token.text.size), 0);
}

START_TEST(test_kinds)
{
        ck_assert_str_eq(kinds("(assert (= x |a b| :k 12 1.50 #xAf #b01 \"s\")) ; (\n)", DIALECT_2_6), "(s(ssskndxb\")))");
        ck_assert_str_eq(kinds("", DIALECT_2_6), "");
        ck_assert_str_eq(kinds(" \t\r\n;no newline", DIALECT_2_6), "");
        ck_assert_str_eq(kinds("a;b\nc", DIALECT_2_6), "ss");
        ck_assert_str_eq(kinds("<=>a.b!?~@$%^&*_-+=/", DIALECT_2_6), "s");
        ck_assert_str_eq(kinds("a(b)c\"d\"e|f|g:h", DIALECT_2_6), "s(s)s\"sss"); /* a colon inside is part of a symbol */
        ck_assert_str_eq(kinds("\xc3\xa9t\xc3\xa9", DIALECT_2_6), "s");
}
END_TEST

START_TEST(test_bad)
{
        static const char *const bad[] = {"#",    "#x",  "#xg",    "#b2",           "#b",
                                          "12a",  "1.",  "1.2.3",  "1.x",           ":",
                                          "\x01", "\\a", "|a\\b|", "|never closed", "\"never closed"};

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct tokenizer t;
                struct token token;

                tokenizer_init(&t, slice_string(bad[i]), DIALECT_2_6);
                ck_assert_msg(token_next(&t, &token) == TOKEN_BAD, "%s", bad[i]);
                ck_assert_ptr_nonnull(t.problem);
                ck_assert_uint_ge(token.text.size, 1);
        }
        ck_assert_str_eq(kinds("#q (a)", DIALECT_2_6), "?(s)"); /* and on it goes */
}
END_TEST

START_TEST(test_strings)
{
        assert_text("\"a\"\"b\" c", DIALECT_2_6, TOKEN_STRING, "a\"\"b");
        assert_text("\"a\"\"b\" c", DIALECT_2_5, TOKEN_STRING, "a\"\"b");
        assert_text("\"a\\\"b\" c", DIALECT_2_0, TOKEN_STRING, "a\\\"b");
        assert_text("\"a\\\"b\" c", DIALECT_2_6, TOKEN_STRING, "a\\"); /* a backslash is nothing special */
        assert_text("\"\"", DIALECT_2_6, TOKEN_STRING, "");
        assert_text("\"\"", DIALECT_2_0, TOKEN_STRING, "");
        assert_text("\"\\\\\" \"", DIALECT_2_0, TOKEN_STRING, "\\\\");
        assert_text("\"two\nlines ; no comment\"", DIALECT_2_6, TOKEN_STRING, "two\nlines ; no comment");
        assert_text("|a\nb;\"c|", DIALECT_2_6, TOKEN_SYMBOL, "a\nb;\"c");
        assert_text("||", DIALECT_2_6, TOKEN_SYMBOL, "");
}
END_TEST

START_TEST(test_spans)
{
        struct slice text = slice_string("  (ab |c d|\n :e)");
        size_t spans[][2] = {{2, 3}, {3, 5}, {6, 11}, {13, 15}, {15, 16}, {16, 16}};
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, text, DIALECT_2_6);
        for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
                token_next(&t, &token);
                ck_assert_uint_eq(token.begin, spans[i][0]);
                ck_assert_uint_eq(token.end, spans[i][1]);
        }
        ck_assert_uint_eq(text_position_of(text, 13).line, 2);
        ck_assert_uint_eq(text_position_of(text, 13).column, 2);
        ck_assert_uint_eq(text_position_of(text, 0).line, 1);
        ck_assert_uint_eq(text_position_of(text, 0).column, 1);
        ck_assert_uint_eq(text_position_of(text, 1000).line, 2); /* beyond the end is the end */
}
END_TEST

START_TEST(test_skip)
{
        const char *text = "(a (b \")\" |)| ; )\n) c) d";
        struct tokenizer t;
        struct token token;

        tokenizer_init(&t, slice_string(text), DIALECT_2_6);
        token_next(&t, &token);
        ck_assert_uint_eq(token_skip(&t, 1), 0);
        token_next(&t, &token);
        ck_assert(token_is(&token, "d"));
        tokenizer_init(&t, slice_string("(((a"), DIALECT_2_6);
        ck_assert_uint_eq(token_skip(&t, 2), 5);
        tokenizer_init(&t, slice_string("\"\\\")\" )"), DIALECT_2_0);
        ck_assert_uint_eq(token_skip(&t, 1), 0);
        ck_assert(t.p == t.end);
}
END_TEST

static void assert_symbol(const char *symbol, const char *printed)
{
        cleanup_buffer struct buffer b = {0};

        token_add_symbol(&b, slice_string(symbol));
        ck_assert_str_eq(b.data, printed);
}

START_TEST(test_symbols)
{
        assert_symbol("abc", "abc");
        assert_symbol("a b", "|a b|");
        assert_symbol("", "||");
        assert_symbol("1a", "|1a|");
        assert_symbol("let", "|let|");
        assert_symbol("assert", "|assert|"); /* commands' names are reserved, too */
        assert_symbol("a'b", "|a'b|");
        assert_symbol(":a", "|:a|");
        assert_symbol("#a", "|#a|");
        assert_symbol("\xc3\xa9", "|\xc3\xa9|");
        assert_symbol("<=", "<=");
}
END_TEST

/* -- strings of the dialects -- */

static void assert_decoded(enum dialect d, const char *literal, const char *canonical)
{
        cleanup_buffer struct buffer b = {0};

        buffer_adds(&b, "");
        dialect_decode_string(d, slice_string(literal), &b);
        ck_assert_str_eq(b.data, canonical);
}

static void assert_encoded(enum dialect d, const char *canonical, const char *literal)
{
        cleanup_buffer struct buffer b = {0};

        dialect_encode_string(d, slice_string(canonical), &b);
        ck_assert_str_eq(b.data, literal);
}

START_TEST(test_decode)
{
        assert_decoded(DIALECT_2_6, "abc", "abc");
        assert_decoded(DIALECT_2_6, "a\"\"b", "a\"b");
        assert_decoded(DIALECT_2_6, "\\u{41}\\u0042\\u{000043}", "AB\\u{5c}u{000043}"); /* at most five digits */
        assert_decoded(DIALECT_2_6, "\\u{0}\\u{7f}\\u{2FFFF}", "\\u{0}\\u{7f}\\u{2ffff}");
        assert_decoded(DIALECT_2_6, "\\u{30000}\\u{}\\u{g}\\u12", "\\u{5c}u{30000}\\u{5c}u{}\\u{5c}u{g}\\u{5c}u12");
        assert_decoded(DIALECT_2_6, "\\x41\\n\\", "\\x41\\n\\");
        assert_decoded(DIALECT_2_6, "\\\\u{41}", "\\A");
        assert_decoded(DIALECT_2_6, "\\\\u{75}", "\\u{5c}u"); /* a backslash, then a u */
        assert_decoded(DIALECT_2_6, "\n\t", "\\u{a}\\u{9}");
        assert_decoded(DIALECT_2_5, "\\x41\\n\\\\\\102\\\"\"", "A\\u{a}\\B\\\"");
        assert_decoded(DIALECT_2_5, "\\q", "\\q");
        assert_decoded(DIALECT_2_5, "\\u{1f600}", "\\u{1f600}");
        assert_decoded(DIALECT_2_0, "\\\"\\\\x", "\"\\x");
        assert_decoded(DIALECT_2_0, "\\x4", "\\x4");
        assert_decoded(DIALECT_2_6, "\xff", "\xff");
}
END_TEST

START_TEST(test_encode)
{
        assert_encoded(DIALECT_2_6, "a\"b\\u{a}\\x41", "\"a\"\"b\\u{a}\\x41\"");
        assert_encoded(DIALECT_2_5, "a\"b\\u{a}\\x41", "\"a\"\"b\\x0a\\\\x41\"");
        assert_encoded(DIALECT_2_0, "a\"b\\u{a}\\x41", "\"a\\\"b\\x0a\\\\x41\"");
        assert_encoded(DIALECT_2_0, "\\u{1f600}\xff", "\"\\u{1f600}\xff\"");
        assert_encoded(DIALECT_2_6, "", "\"\"");
}
END_TEST

/* Every character, next to what could make it look like another, comes back in every dialect. */
START_TEST(test_every_character)
{
        static const char *const around[] = {"", "\\", "u", "u{41}", "\"", "x41", "0"};

        for (enum dialect d = DIALECT_2_0; d < N_DIALECTS; d++)
                for (uint32_t c = 0; c <= CHARACTER_MOST; c += c < 300 ? 1 : 4099)
                        for (size_t i = 0; i < ARRAY_SIZE(around) * ARRAY_SIZE(around); i++) {
                                const char *before = around[i % ARRAY_SIZE(around)], *behind = around[i / ARRAY_SIZE(around)];
                                cleanup_buffer struct buffer canonical = {0}, literal = {0}, again = {0};

                                for (const char *p = before; *p; p++)
                                        dialect_add_character(&canonical, (uint8_t)*p);
                                dialect_add_character(&canonical, c);
                                for (const char *p = behind; *p; p++)
                                        dialect_add_character(&canonical, (uint8_t)*p);
                                dialect_encode_string(d, SLICE(canonical.data, canonical.size), &literal);
                                dialect_decode_string(d, SLICE(literal.data + 1, literal.size - 2), &again);
                                ck_assert_msg(again.size == canonical.size && memcmp(again.data, canonical.data, again.size) == 0,
                                              "%s: %s is written %s and read %s", dialect_name(d), canonical.data, literal.data,
                                              again.data);
                        }
}
END_TEST

START_TEST(test_versions)
{
        enum dialect d;

        assert_ok(dialect_parse(slice_string("2.0"), &d));
        ck_assert_int_eq(d, DIALECT_2_0);
        assert_ok(dialect_parse(slice_string("2.5"), &d));
        ck_assert_int_eq(d, DIALECT_2_5);
        assert_ok(dialect_parse(slice_string("2.7"), &d));
        ck_assert_int_eq(d, DIALECT_2_6);
        assert_ok(dialect_parse(slice_string("2.6.1"), &d));
        ck_assert_int_eq(dialect_parse(slice_string("3.0"), &d), -EINVAL);
        ck_assert_int_eq(dialect_parse(slice_string("2.65"), &d), -EINVAL);
        ck_assert_int_eq(dialect_parse(slice_string("2"), &d), -EINVAL);
}
END_TEST

SUITE("token", test_kinds, test_bad, test_strings, test_spans, test_skip, test_symbols, test_decode, test_encode,
      test_every_character, test_versions)
