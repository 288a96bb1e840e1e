#include "tests/support/test.h"

#include <sys/wait.h>

#include "cache/base/hash.h"
#include "core/run/host.h"
#include "core/run/toolchain_file.h"

/* As another process says it, by the file `toolchain`. */
static const char *said(int look(char ret[65]))
{
        static char hex[DIGEST_HEX_SIZE];
        cleanup_blob struct blob b = {0};
        int status;
        pid_t pid;

        unlink("said");
        pid = fork();
        if (pid == 0) {
                host_toolchain_keep("toolchain");
                _exit(look(hex) < 0 || write_file_atomic("said", hex, sizeof(hex), 0600) < 0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        assert_ok(read_file("said", sizeof(hex), &b));
        memcpy(hex, b.data, sizeof(hex));
        return hex;
}

static void put(size_t at, char c)
{
        cleanup_blob struct blob b = {0};
        cleanup_free char *text = NULL;

        assert_ok(read_file("toolchain", 4096, &b));
        text = malloc(b.size);
        memcpy(text, b.data, b.size);
        text[at] = text[at] == c ? 'b' : c;
        assert_ok(write_file_atomic("toolchain", text, b.size, 0600));
}

START_TEST(test_another_process_is_not_asked_again)
{
        char first[DIGEST_HEX_SIZE], other[DIGEST_HEX_SIZE];

        strcpy(first, said(host_toolchain));
        if (access("toolchain", F_OK) < 0)
                return; /* one of the tools here is a script */
        ck_assert_str_eq(said(host_toolchain), first);
        put(DIGEST_HEX_SIZE, 'a'); /* to see who reads it */
        strcpy(other, said(host_toolchain));
        ck_assert_str_ne(other, first);
        ck_assert_str_eq(other + 1, first + 1);
        ck_assert_str_eq(said(host_toolchain_now), first); /* who builds goes by the compilers, and puts it right */
        ck_assert_str_eq(said(host_toolchain), first);
}
END_TEST

START_TEST(test_what_does_not_hold_is_not_believed)
{
        char first[DIGEST_HEX_SIZE];

        strcpy(first, said(host_toolchain));
        if (access("toolchain", F_OK) < 0)
                return;
        put(DIGEST_HEX_SIZE, 'a');
        put(0, 'a'); /* of other tools */
        ck_assert_str_eq(said(host_toolchain), first);
        put(DIGEST_HEX_SIZE, 'x'); /* no digest */
        ck_assert_str_eq(said(host_toolchain), first);
        ck_assert_int_eq(truncate("toolchain", 100), 0);
        ck_assert_str_eq(said(host_toolchain), first);
        ck_assert_str_eq(said(host_toolchain), first);
}
END_TEST

SUITE("toolchain_file", test_another_process_is_not_asked_again, test_what_does_not_hold_is_not_believed)
