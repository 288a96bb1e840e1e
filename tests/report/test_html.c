#include "tests/support/test.h"

#include <math.h>

#include "cache/base/hash.h"
#include "core/report/html.h"

#define assert_has(text, what)   ck_assert_msg(strstr((text), (what)) != NULL, "no %s in %s", (what), (text))
#define assert_lacks(text, what) ck_assert_msg(strstr((text), (what)) == NULL, "%s in %s", (what), (text))

static void assert_text(const char *text, const char *escaped)
{
        cleanup_buffer struct buffer b = {0};

        buffer_adds(&b, "");
        xml_add_escaped(&b, text);
        ck_assert_str_eq(b.data, escaped);
}

START_TEST(test_text)
{
        assert_text("", "");
        assert_text("plain \xc3\xa4 \xe2\x86\x92 \xf0\x9f\x90\xb1", "plain \xc3\xa4 \xe2\x86\x92 \xf0\x9f\x90\xb1");
        assert_text("<script>alert(\"1\")</script>&amp;", "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;");
        assert_text("\" onload=\"x", "&quot; onload=&quot;x");
        assert_text("a\x01\x1b[31m\x7f", "a\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd");
        assert_text("bad \xff\xc3 \xed\xa0\x80.", "bad \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.");
        assert_text("\xc2\x85|\xe2\x80\xae|\xe2\x81\xa6|\xef\xbf\xbf", "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd"); /* C1, directions, no character */
        assert_text("\xc2\xa0\xe2\x80\xa7\xe2\x81\xb0\xef\xbf\xbd", "\xc2\xa0\xe2\x80\xa7\xe2\x81\xb0\xef\xbf\xbd"); /* their neighbours */
}
END_TEST

START_TEST(test_links)
{
        cleanup_buffer struct buffer b = {0};

        html_link(&b, "tags/v1 \"<x>?#%", "<v1>");
        html_link(&b, NULL, " none");
        html_link(&b, "javascript:alert(1)", "");
        html_link(&b, "\xc3\xa4/../b~1-2_3", "");
        ck_assert_str_eq(b.data, "<a href=\"tags/v1%20%22%3Cx%3E%3F%23%25\">&lt;v1&gt;</a> none<a href=\"javascript%3Aalert%281%29\"></a>"
                                 "<a href=\"%C3%A4/../b~1-2_3\"></a>");
}
END_TEST

/* What a script reads is what was given, and no markup is in it. */
START_TEST(test_data)
{
        static const char hostile[] = "</script><!-- & \" \\ \x01 \xff <script>";
        cleanup_buffer struct buffer b = {0};
        const char *from, *to;
        json_error_t error;
        json_t *back;

        html_data(&b, "some", json_pack("{so so sf}", "text", html_string(hostile), "list", json_pack("[o]", html_string("<b>&")), "x", 0.1234567));
        ck_assert_int_eq(buffer_error(&b), 0);
        assert_has(b.data, "<script type=\"application/json\" id=\"some\">{");
        from = strchr(b.data, '>') + 1;
        to = strstr(b.data, "</script>");
        ck_assert_ptr_nonnull(to);
        ck_assert_str_eq(to, "</script>\n"); /* the first is the last */
        ck_assert_uint_eq(strcspn(from, "<>&"), (size_t)(to - from));
        back = json_loadb(from, (size_t)(to - from), 0, &error);
        ck_assert_msg(back != NULL, "%s", error.text);
        ck_assert_str_eq(json_string_value(json_object_get(back, "text")), "</script><!-- & \" \\ \xef\xbf\xbd \xef\xbf\xbd <script>");
        ck_assert_str_eq(json_string_value(json_array_get(json_object_get(back, "list"), 0)), "<b>&");
        json_decref(back);
        html_data(&b, "failed", NULL);
        ck_assert_int_eq(buffer_error(&b), -ENOMEM);
}
END_TEST

START_TEST(test_table)
{
        static const struct html_column columns[] = {{"a<b", HTML_LINE, false}, {"n", HTML_NUMBER, true}, {"picture", HTML_PLAIN, false}};
        struct html_table t = {.caption = "<All>", .remark = "1 of 2", .columns = columns, .n = ARRAY_SIZE(columns)};
        cleanup_buffer struct buffer b = {0};

        html_table_begin(&b, &t);
        for (int i = 0; i < 3; i++) {
                html_row_begin(&b, &t);
                html_cell_link(&b, &t, i ? "x/" : NULL, "<x>");
                html_cell_number(&b, &t, i == 0 ? NAN : i == 1 ? INFINITY : 0.5, "\xe2\x80\x93");
                html_cell(&b, &t, "");
                html_row_end(&b);
        }
        html_table_end(&b);
        assert_has(b.data, "<caption>&lt;All&gt; <small>1 of 2</small></caption>");
        assert_has(b.data, "<th scope=\"col\" class=\"one\">a&lt;b</th><th scope=\"col\" class=\"n minor\">n</th><th scope=\"col\" data-plain>picture</th>");
        assert_has(b.data, "<tr><th scope=\"row\" class=\"one\">&lt;x&gt;</th><td class=\"n minor\" data-v=\"\">");
        assert_has(b.data, "<a href=\"x/\">&lt;x&gt;</a></th><td class=\"n minor\" data-v=\"1e999\">");
        assert_has(b.data, "data-v=\"0.5\">");
}
END_TEST

static void base64(const uint8_t *bytes, size_t n, char *ret)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        for (size_t i = 0; i < n; i += 3) {
                uint32_t v = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) | (i + 2 < n ? bytes[i + 2] : 0);

                for (int k = 0; k < 4; k++)
                        *ret++ = i + (size_t)k > n ? '=' : digits[v >> (18 - 6 * k) & 63];
        }
        *ret = '\0';
}

/* The policy lets no script run but the one that is there. */
START_TEST(test_policy)
{
        cleanup_buffer struct buffer b = {0};
        unsigned n = 0;

        html_page_begin(&b, "<t>", "/a&b/report.html");
        html_page_end(&b);
        assert_has(b.data, "<!DOCTYPE html>\n<html lang=\"en\" data-home=\"/a&amp;b/report.html\">");
        assert_has(b.data, "<title>&lt;t&gt;</title>");
        assert_has(b.data, "content=\"default-src 'none'; script-src 'sha256-");
        assert_lacks(b.data, "script-src 'unsafe-inline'");
        for (const char *at = b.data; (at = strstr(at, "<script>")); n++) {
                const char *end = strstr(at += strlen("<script>"), "</script>");
                char hash[64], named[80];
                struct digest d;

                ck_assert_ptr_nonnull(end);
                digest_of(at, (size_t)(end - at), &d);
                base64(d.bytes, DIGEST_SIZE, hash);
                snprintf(named, sizeof(named), "'sha256-%s'", hash);
                ck_assert_msg(strstr(b.data, named) != NULL, "the policy does not name %s", named);
        }
        ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(test_numbers)
{
        ck_assert_str_eq(html_seconds(0.01234).s, "0.0123 s");
        ck_assert_str_eq(html_seconds(1.234).s, "1.23 s");
        ck_assert_str_eq(html_seconds(1234.5).s, "1234 s");
        ck_assert_str_eq(html_seconds(NAN).s, "\xe2\x80\x93");
        ck_assert_str_eq(html_ratio(1.234).s, "1.23\xc3\x97");
        ck_assert_str_eq(html_ratio(0.00214).s, "0.0021\xc3\x97");
        ck_assert_str_eq(html_ratio(1234).s, "1234\xc3\x97");
        ck_assert_str_eq(html_ratio(INFINITY).s, "\xe2\x88\x9e");
}
END_TEST

SUITE("html", test_text, test_links, test_data, test_table, test_policy, test_numbers)
