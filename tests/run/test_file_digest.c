#include "tests/support/test.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "core/run/file_digest.h"

static void put(const char *path, const char *text)
{
        assert_ok(write_file_atomic(path, text, strlen(text), 0600));
}

static struct file_look look_at(const char *path)
{
        struct file_look look;

        file_look(path, &look);
        return look;
}

START_TEST(test_what_lies_at_a_path)
{
        struct file_look first, second;

        put("a", "one");
        first = look_at("a");
        ck_assert_int_eq(first.kind, FILE_CONTENT);
        put("a", "two"); /* of the same size */
        second = look_at("a");
        ck_assert(!digest_equal(&first.digest, &second.digest));
        put("a", "one");
        second = look_at("a");
        ck_assert(digest_equal(&first.digest, &second.digest));
        ck_assert_int_eq(symlink("a", "link"), 0);
        second = look_at("link");
        ck_assert(digest_equal(&first.digest, &second.digest));
        ck_assert_int_eq(look_at("none").kind, FILE_ABSENT);
        ck_assert_int_eq(look_at("a/none").kind, FILE_ABSENT);
        ck_assert_int_eq(mkdir("folder", 0700), 0);
        ck_assert_int_eq(look_at("folder").kind, FILE_FOLDER);
        ck_assert_int_eq(look_at("/dev/null").kind, FILE_OTHER);
}
END_TEST

/* Another process takes the digest from the file, and hashes what the file does not fit. */
static struct digest looked_by_another(const char *path)
{
        cleanup_blob struct blob b = {0};
        struct file_look look;
        struct digest d;
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                file_digests_keep("digests");
                file_look(path, &look);
                file_digests_save();
                _exit(write_file_atomic("said", (char *)look.digest.bytes, DIGEST_SIZE, 0600) < 0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        assert_ok(read_file("said", DIGEST_SIZE, &b));
        memcpy(d.bytes, b.data, DIGEST_SIZE);
        return d;
}

static void turn_byte(size_t at)
{
        cleanup_blob struct blob b = {0};
        cleanup_free char *bytes = NULL;

        assert_ok(read_file("digests", 4096, &b));
        ck_assert_uint_gt(b.size, at);
        bytes = malloc(b.size);
        memcpy(bytes, b.data, b.size);
        bytes[at] ^= 1;
        assert_ok(write_file_atomic("digests", bytes, b.size, 0600));
}

START_TEST(test_digests_are_kept)
{
        const size_t digest_at = 1 + 5 * 8;
        struct digest real, other;
        char path[] = "/bin/sh"; /* changed long ago */

        real = looked_by_another(path);
        turn_byte(digest_at); /* to see who reads it */
        other = looked_by_another(path);
        ck_assert(!digest_equal(&real, &other));
        turn_byte(1 + 8); /* of another file */
        other = looked_by_another(path);
        ck_assert(digest_equal(&real, &other));
        turn_byte(0); /* of another format */
        turn_byte(digest_at);
        other = looked_by_another(path);
        ck_assert(digest_equal(&real, &other));
        ck_assert_int_eq(truncate("digests", 50), 0);
        other = looked_by_another(path);
        ck_assert(digest_equal(&real, &other));
}
END_TEST

SUITE("file_digest", test_what_lies_at_a_path, test_digests_are_kept)
