#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "cache/base/hash.h"

START_TEST(test_errorf_keeps_the_sentence)
{
        ck_assert_int_eq(errorf(-ENOENT, "no case %d", 42), -ENOENT);
        ck_assert_str_eq(error_message(-ENOENT), "no case 42");
        ck_assert_str_eq(error_message(-EIO), "Input/output error"); /* the sentence was for another error */
        ck_assert_int_eq(errorf(-ENOENT, "in the list: %s", error_message(-ENOENT)), -ENOENT);
        ck_assert_str_eq(error_message(-ENOENT), "in the list: no case 42");
}
END_TEST

START_TEST(test_buffer_grows)
{
        cleanup_buffer struct buffer b = {0};

        for (int i = 0; i < 1000; i++)
                buffer_addf(&b, "%d,", i);
        assert_ok(buffer_error(&b));
        ck_assert_uint_eq(b.size, 10 * 2 + 90 * 3 + 900 * 4);
        ck_assert_int_eq(strncmp(b.data, "0,1,2,", 6), 0);
        ck_assert_int_eq(b.data[b.size], '\0');
}
END_TEST

static void check_decoded(const char *text, const char *expected)
{
        cleanup_free char *copy = strdup(text);

        url_decode(copy);
        ck_assert_str_eq(copy, expected);
}

START_TEST(test_url_paths)
{
        cleanup_buffer struct buffer b = {0};
        char all[256];

        buffer_add_url_path(&b, "/a b/50%41#x?y/~\xc3\xa4'");
        ck_assert_str_eq(b.data, "/a%20b/50%2541%23x%3Fy/~%C3%A4%27");
        for (unsigned i = 0; i < 255; i++)
                all[i] = (char)(i + 1);
        all[255] = '\0';
        b.size = 0;
        buffer_add_url_path(&b, all);
        check_decoded(b.data, all);
        check_decoded("100%/a%4/%zz/%00/%2fb%4A%", "100%/a%4/%zz/%00//bJ%");
        check_decoded("", "");
}
END_TEST

static void check_last_lines(const char *text, unsigned lines, size_t most, const char *expected)
{
        struct slice s = slice_last_lines(slice_string(text), lines, most);

        ck_assert_msg(s.size == strlen(expected) && memcmp(s.data, expected, s.size) == 0, "%.*s", (int)s.size,
                      (const char *)s.data);
}

START_TEST(test_last_lines)
{
        check_last_lines("a\nb\nc\n", 2, 100, "b\nc\n");
        check_last_lines("a\nb\nc\n", 3, 100, "a\nb\nc\n");
        check_last_lines("a\nb\nc\n", 9, 100, "a\nb\nc\n");
        check_last_lines("a\nlong\n", 9, 3, "ng\n");
        check_last_lines("", 2, 100, "");
        check_last_lines("a\nb", 1, 100, "b"); /* the last line may lack its end */
        check_last_lines("a\nb\nc", 2, 100, "b\nc");
        check_last_lines("a\n\n", 1, 100, "\n");
}
END_TEST

START_TEST(test_lists_grow)
{
        cleanup_free unsigned *list = NULL;

        for (unsigned n = 0; n < 1000; n++) {
                list_grow(list, n);
                list[n] = n;
        }
        for (unsigned n = 0; n < 1000; n++)
                ck_assert_uint_eq(list[n], n);
}
END_TEST

START_TEST(test_write_file_atomic_replaces)
{
        cleanup_blob struct blob b = {0};

        assert_ok(write_file_atomic("f", "old", 3, 0600));
        assert_ok(write_file_atomic("f", "newer", 5, 0600));
        assert_ok(read_file("f", 100, &b));
        ck_assert_uint_eq(b.size, 5);
        ck_assert_int_eq(memcmp(b.data, "newer", 5), 0);
        assert_error(read_file("f", 4, &b), EFBIG);
        ck_assert_ptr_nonnull(strstr(error_message(-EFBIG), "f is larger than the 4 bytes"));
        assert_error(write_file_atomic("absent/f", "x", 1, 0600), ENOENT);
}
END_TEST

START_TEST(test_remove_tree_does_not_follow_links)
{
        assert_ok(make_dirs("a/b/c", 0700));
        assert_ok(write_file_atomic("outside", "x", 1, 0600));
        ck_assert_int_eq(symlink("../../outside", "a/b/link"), 0);
        ck_assert_int_eq(chmod("a/b/c", 0), 0);
        assert_ok(remove_tree("a"));
        ck_assert_int_eq(access("a", F_OK), -1);
        ck_assert_int_eq(access("outside", F_OK), 0);
        assert_ok(remove_tree("a")); /* absent is fine */
}
END_TEST

/* Deeper than any path, stack or table of descriptors. */
START_TEST(test_remove_tree_has_no_bottom)
{
        struct stat st;

        ck_assert_int_eq(mkdir("a", 0700), 0);
        ck_assert_int_eq(mkdir("a/deep-0", 0700), 0); /* a name it might use itself */
        ck_assert_int_eq(chdir("a"), 0);
        for (int i = 0; i < 3000; i++) {
                ck_assert_int_eq(mkdir("d", 0700), 0);
                ck_assert_int_eq(mkdir("e", 0), 0);
                ck_assert_int_eq(chdir("d"), 0);
                if (i > 0 && i % 127 == 0)
                        ck_assert_int_eq(chmod("..", 0), 0);
        }
        ck_assert_int_eq(chdir(test_base), 0);
        ck_assert_int_eq(system("mv */a ."), 0);
        assert_ok(remove_tree("a"));
        ck_assert_int_eq(lstat("a", &st), -1);
}
END_TEST

START_TEST(test_digest)
{
        char hex[DIGEST_HEX_SIZE];
        struct digest d, e;
        uint64_t size;
        int fd;

        digest_of("abc", 3, &d); /* FIPS 180-2, appendix B.1 */
        digest_hex(&d, hex);
        ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ok(digest_parse(hex, &e));
        ck_assert(digest_equal(&d, &e));
        hex[63] = 'g';
        assert_error(digest_parse(hex, &e), EINVAL);
        assert_ok(write_file_atomic("f", "abc", 3, 0600));
        fd = open("f", O_RDONLY);
        assert_ok(digest_of_fd(fd, &e, &size));
        close(fd);
        ck_assert(digest_equal(&d, &e));
        ck_assert_uint_eq(size, 3);
}
END_TEST

START_TEST(test_printable)
{
        static const struct {
                const char *text, *printable;
        } table[] = {
                {"", ""},
                {"a/b c\xc3\xa9", "a/b c\xc3\xa9"},
                {"\t\n\\\x1b\x7f", "\\t\\n\\\\\\x1b\\x7f"},
                {"\xff\xc3", "\\xff\\xc3"},
                {"\xc2\x9b\xed\xa0\x80", "\\xc2\\x9b\\xed\\xa0\\x80"},
                {"\xe2\x80\xae\xf3\xa0\x80\x81", "\\xe2\\x80\\xae\\xf3\\xa0\\x80\\x81"}, /* U+202E, U+E0001 */
                {"\xe2\x80\x8d\xe2\x80\x90\xef\xb7\xba", "\xe2\x80\x8d\xe2\x80\x90\xef\xb7\xba"},   /* a joiner, a hyphen, a letter */
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                cleanup_buffer struct buffer b = {0};

                buffer_add_printable(&b, table[i].text);
                ck_assert_str_eq(b.data, table[i].printable);
                b.size = 0;
                buffer_add_safe(&b, table[i].printable, strlen(table[i].printable));
                ck_assert_str_eq(b.data, table[i].printable);
        }
}
END_TEST

/* A commit says any time it likes. */
START_TEST(test_dates)
{
        ck_assert_str_eq(format_date(1700000000).s, "2023-11-14T22:13:20Z");
        ck_assert_str_eq(format_date(INT64_C(1) << 62).s, "@4611686018427387904");
}
END_TEST

START_TEST(test_markdown)
{
        static const struct {
                const char *text, *plain, *code;
        } table[] = {
                {"", "", ""},
                {"z3 4.8", "z3 4.8", "`z3 4.8`"},
                {"a || b", "a \\|\\| b", "a \\|\\| b"},
                {"<b>*x*_y_`\n", "\\<b>\\*x\\*\\_y\\_\\`\\n", "\\<b>\\*x\\*\\_y\\_\\`\\n"},
                {"![a](b)", "!\\[a\\](b)", "`![a](b)`"},
                {"<b>\x1b", "\\<b>\\x1b", "`<b>\\x1b`"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
                cleanup_buffer struct buffer plain = {0}, code = {0};

                buffer_add_markdown(&plain, table[i].text);
                buffer_add_markdown_code(&code, table[i].text);
                ck_assert_str_eq(plain.data ?: "", table[i].plain);
                ck_assert_str_eq(code.data ?: "", table[i].code);
        }
}
END_TEST

START_TEST(test_fields_do_not_run_together)
{
        struct digest d[2];

        for (int i = 0; i < 2; i++) {
                struct hasher *h = hasher_new();

                hasher_string(h, i == 0 ? "ab" : "a");
                hasher_string(h, i == 0 ? "c" : "bc");
                hasher_finish(h, &d[i]);
        }
        ck_assert(!digest_equal(&d[0], &d[1]));
}
END_TEST

static void digest_late(void)
{
        struct digest d;

        digest_of("abc", 3, &d);
}

/* Handlers run in the reverse of their order: this one, which is there first, runs behind those of libraries, as a thread does that is still at work. */
START_TEST(test_digests_while_the_process_ends)
{
        struct digest d;
        pid_t pid = fork();
        int status;

        if (pid == 0) {
                if (atexit(digest_late) != 0)
                        _exit(1);
                digest_of("abc", 3, &d);
                exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_what_is_closed_by_hand_is_not_closed_again)
{
        int other;

        {
                cleanup_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

                closep(&fd);
                other = open("/dev/null", O_RDONLY | O_CLOEXEC); /* another thread's, say: it gets the number that became free */
        }
        ck_assert_int_ge(fcntl(other, F_GETFD), 0);
        close(other);
}
END_TEST

SUITE("util", test_what_is_closed_by_hand_is_not_closed_again, test_errorf_keeps_the_sentence, test_buffer_grows, test_last_lines,
      test_url_paths, test_lists_grow, test_write_file_atomic_replaces, test_remove_tree_does_not_follow_links, test_remove_tree_has_no_bottom,
      test_digest, test_digests_while_the_process_ends, test_printable, test_markdown, test_dates, test_fields_do_not_run_together)
