#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cache/base/lock.h"

START_TEST(test_exclusive_excludes_within_a_process)
{
        int a, b;

        assert_ok(lock_try(".", "l", LOCK_ALONE, &a));
        assert_error(lock_try(".", "l", LOCK_ALONE, &b), EAGAIN);
        assert_error(lock_try(".", "l", LOCK_SHARED, &b), EAGAIN);
        close(a);
        assert_ok(lock_try(".", "l", LOCK_ALONE, &b));
        close(b);
        ck_assert_int_eq(access("l", F_OK), 0);
}
END_TEST

START_TEST(test_shared_is_shared)
{
        int a, b, c;

        assert_ok(lock_try(".", "l", LOCK_SHARED, &a));
        assert_ok(lock_try(".", "l", LOCK_SHARED, &b));
        assert_error(lock_try(".", "l", LOCK_ALONE, &c), EAGAIN);
        close(a);
        assert_error(lock_try(".", "l", LOCK_ALONE, &c), EAGAIN);
        close(b);
        assert_ok(lock_try(".", "l", LOCK_ALONE, &c));
        assert_ok(lock_share(c));
        assert_ok(lock_try(".", "l", LOCK_SHARED, &a));
        close(a);
        close(c);
}
END_TEST

START_TEST(test_is_held)
{
        int a;

        ck_assert(!lock_is_held(".", "l"));
        assert_ok(lock_try(".", "l", LOCK_SHARED, &a));
        ck_assert(lock_is_held(".", "l"));
        close(a);
        ck_assert(!lock_is_held(".", "l"));
        assert_ok(lock_try(".", "l", LOCK_ALONE, &a));
        ck_assert(lock_is_held(".", "l"));
        lock_release_unlink(".", "l", a);
        ck_assert(!lock_is_held(".", "l"));
        ck_assert_int_eq(access("l", F_OK), -1);
}
END_TEST

START_TEST(test_unlinking_a_shared_lock_leaves_the_others_theirs)
{
        int a, b, c;

        assert_ok(lock_try(".", "l", LOCK_SHARED, &a));
        assert_ok(lock_try(".", "l", LOCK_SHARED, &b));
        lock_release_unlink(".", "l", a);
        assert_error(lock_try(".", "l", LOCK_ALONE, &c), EAGAIN);
        lock_release_unlink(".", "l", b);
        ck_assert_int_eq(access("l", F_OK), -1);
}
END_TEST

START_TEST(test_a_killed_process_frees_it)
{
        int ready[2], fd, status;
        pid_t pid;
        char c;

        ck_assert_int_eq(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
                if (lock_try(".", "l", LOCK_ALONE, &fd) == 0 && write(ready[1], "x", 1) == 1)
                        pause();
                _exit(1);
        }
        ck_assert_int_eq(read(ready[0], &c, 1), 1);
        assert_error(lock_try(".", "l", LOCK_ALONE, &fd), EAGAIN);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        assert_ok(lock_try(".", "l", LOCK_ALONE, &fd));
        close(fd);
}
END_TEST

/* Many threads take, check and unlink one name: never two at once, and nobody waits on a file that is gone. */
static _Atomic int inside, most;

static void *contend(void *unused)
{
        for (int i = 0; i < 200; i++) {
                int fd;

                if (lock_wait(".", "l", LOCK_ALONE, &fd) < 0)
                        return (void *)1;
                if (++inside > most)
                        most = inside;
                inside--;
                if (i % 3 == 0)
                        close(fd);
                else
                        lock_release_unlink(".", "l", fd);
        }
        return NULL;
}

START_TEST(test_waiters_and_unlinkers)
{
        pthread_t threads[6];

        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, contend, NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
                void *failed;

                pthread_join(threads[i], &failed);
                ck_assert_ptr_null(failed);
        }
        ck_assert_int_eq(most, 1);
}
END_TEST

START_TEST(test_permissions_and_errors)
{
        struct stat st;
        int fd;

        umask(0777);
        assert_ok(lock_try(".", "l", LOCK_ALONE, &fd));
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0600);
        close(fd);
        umask(022);
        assert_error(lock_try("absent", "l", LOCK_ALONE, &fd), ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(-ENOENT), "absent/l"));
        ck_assert_int_eq(symlink("elsewhere", "link"), 0);
        assert_error(lock_try(".", "link", LOCK_ALONE, &fd), ELOOP);
        ck_assert_int_eq(access("elsewhere", F_OK), -1);
}
END_TEST

/* /run/lock/solverfs is open to all. */
START_TEST(test_nobody_waits_for_a_fifo)
{
        int fd;

        ck_assert_int_eq(mkfifo("f", 0444), 0);
        ck_assert_int_eq(chmod(".", 0755) | chmod("f", 0444), 0);
        ck_assert(!lock_is_held(".", "f"));
        if (geteuid() == 0)
                ck_assert_int_eq(setresuid(65534, 65534, 0), 0); /* who may not open it for writing */
        assert_ok(lock_open_public(".", "f", true, &fd));
        close(fd);
        if (getuid() == 65534)
                ck_assert_int_eq(setresuid(0, 0, 0), 0);
}
END_TEST

SUITE("lock", test_nobody_waits_for_a_fifo, test_exclusive_excludes_within_a_process, test_shared_is_shared, test_is_held,
      test_unlinking_a_shared_lock_leaves_the_others_theirs, test_a_killed_process_frees_it, test_waiters_and_unlinkers,
      test_permissions_and_errors)
