#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "core/report/outfile.h"

static unsigned files_synced, folders_synced;
static int folder_error, rename_error;

/* In the place of the C library's. */
int fsync(int fd)
{
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        if (S_ISDIR(st.st_mode) && folder_error) {
                errno = folder_error;
                return -1;
        }
        if (S_ISDIR(st.st_mode))
                folders_synced++;
        else
                files_synced++;
        return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
        if (rename_error) {
                errno = rename_error;
                return -1;
        }
        return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int write_text(const char *path, const char *text)
{
        cleanup_buffer struct buffer b = {0};

        files_synced = folders_synced = 0;
        buffer_adds(&b, text);
        return outfile_write(path, &b, 0644);
}

static void check_text(const char *path, const char *text)
{
        cleanup_blob struct blob b = {0};

        assert_ok(read_file(path, 4096, &b));
        ck_assert_uint_eq(b.size, strlen(text));
        ck_assert_int_eq(memcmp(b.data, text, b.size), 0);
}

/* The bytes, and then the name: a power cut takes neither from a command that has ended. */
START_TEST(test_synced)
{
        assert_ok(write_text("page", "one"));
        check_text("page", "one");
        ck_assert_uint_eq(files_synced, 1);
        ck_assert_uint_eq(folders_synced, 1);
        ck_assert_int_eq(mkdir("d", 0700), 0);
        ck_assert_int_eq(symlink("../page", "d/link"), 0);
        assert_ok(write_text("d/link", "two"));
        check_text("page", "two");
        ck_assert_uint_eq(folders_synced, 1);
        assert_ok(write_text("/dev/null", "x"));
        ck_assert_uint_eq(files_synced + folders_synced, 0);
}
END_TEST

/* File systems that cannot sync a folder: the file stands all the same. A disk that fails is told. */
START_TEST(test_dangling_links)
{
        ck_assert_int_eq(mkdir("d", 0700), 0);
        ck_assert_int_eq(symlink("d/inner", "outer"), 0);
        ck_assert_int_eq(symlink("../page", "d/inner"), 0);
        assert_ok(write_text("outer", "one"));
        check_text("page", "one");
        assert_ok(write_text("outer", "two"));
        check_text("page", "two");
}
END_TEST

START_TEST(test_folder_that_cannot_be_synced)
{
        folder_error = EINVAL;
        assert_ok(write_text("page", "one"));
        check_text("page", "one");
        folder_error = EIO;
        assert_error(write_text("page", "two"), EIO);
}
END_TEST

/* What is excused of the folder's sync is not of the renaming: the file would not be there. */
START_TEST(test_not_renamed)
{
        static const int errors[] = {EACCES, EINVAL, EOPNOTSUPP};

        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
                rename_error = errors[i];
                assert_error(write_text("page", "one"), errors[i]);
                ck_assert_int_lt(access("page", F_OK), 0);
        }
}
END_TEST

START_TEST(test_longest_name)
{
        char name[NAME_MAX + 1];

        memset(name, 'n', NAME_MAX);
        name[NAME_MAX] = '\0';
        assert_ok(write_text(name, "one"));
        check_text(name, "one");
}
END_TEST

/* Nothing is left of what was not committed, and what stood there stays. */
START_TEST(test_not_committed)
{
        struct outfile o;

        ck_assert_int_eq(mkdir("d", 0700), 0);
        assert_ok(write_text("d/page", "old"));
        assert_ok(outfile_open("d/page", 0644, &o));
        buffer_adds(&o.pending, "new");
        outfile_done(&o);
        check_text("d/page", "old");
        ck_assert_int_eq(unlink("d/page"), 0);
        ck_assert_int_eq(rmdir("d"), 0);
}
END_TEST

SUITE("outfile", test_synced, test_dangling_links, test_folder_that_cannot_be_synced, test_not_renamed, test_longest_name,
      test_not_committed)
