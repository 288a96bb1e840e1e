#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/run/host.h"
#include "core/run/slot.h"

#define SOMEBODY 65533

static const char *folder_of(const char *own)
{
        static char folder[PATH_SIZE];

        assert_ok(slot_folder(own, folder, NULL));
        return folder;
}

START_TEST(test_where)
{
        const char *given = getenv("SOLVERFS_SLOTS"), *why = NULL;
        char folder[PATH_SIZE];
        struct stat st;
        int lock;

        umask(077);
        assert_ok(slot_folder("/own", folder, &why));
        ck_assert_str_eq(folder, given);
        ck_assert_ptr_nonnull(why);
        ck_assert_int_eq(stat(folder, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 01777);
        assert_ok(slot_try(folder, 3, &lock));
        ck_assert_int_eq(fstat(lock, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0666);
        ck_assert_int_eq(chdir(folder), 0);
        ck_assert_int_eq(access("cpu3", F_OK), 0);
        close(lock);
        setenv("SOLVERFS_SLOTS", "relative", 1);
        assert_error(slot_folder("/own", folder, NULL), EINVAL);
        ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), "'relative'"));
        setenv("SOLVERFS_SLOTS", "/dev/null", 1);
        assert_error(slot_folder("/own", folder, NULL), ENOTDIR);
}
END_TEST

START_TEST(test_one_at_a_time)
{
        const char *folder = folder_of(NULL);
        int a, b, c;

        assert_ok(slot_try(folder, 0, &a));
        assert_error(slot_try(folder, 0, &b), EAGAIN);
        assert_ok(slot_try(folder, 1, &b));
        close(a);
        assert_ok(slot_try(folder, 0, &c));
        close(b);
        close(c);
}
END_TEST

/* As somebody else, in a process of their own. */
static int as_somebody(int (*fn)(const char *folder), const char *folder)
{
        pid_t pid = fork();
        int status;

        if (pid == 0)
                _exit(setresgid(SOMEBODY, SOMEBODY, SOMEBODY) == 0 && setresuid(SOMEBODY, SOMEBODY, SOMEBODY) == 0 ? fn(folder)
                                                                                                                   : 99);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int try_first(const char *folder)
{
        int lock;

        return -slot_try(folder, 0, &lock);
}

static int try_second(const char *folder)
{
        int lock;

        return -slot_try(folder, 1, &lock);
}

static int find(const char *unused)
{
        char folder[PATH_SIZE];

        (void)unused;
        return -slot_folder(NULL, folder, NULL);
}

/* Whoever made folder and files, they are everybody's. */
START_TEST(test_between_users)
{
        char up[PATH_SIZE];
        int lock;

        if (geteuid() != 0)
                return;
        /* the folders above, which belong to the test alone */
        ck_assert_ptr_nonnull(getcwd(up, sizeof(up)));
        for (int i = 0; i < 2; i++) {
                ck_assert_int_eq(chmod(up, 0777), 0);
                *strrchr(up, '/') = '\0';
        }
        for (int i = 0; i < 2; i++) { /* made by root; by somebody */
                const char *folder;

                if (i == 1)
                        ck_assert_int_eq(as_somebody(find, NULL), 0);
                folder = folder_of(NULL);
                if (i == 1)
                        ck_assert_int_eq(as_somebody(try_first, folder), 0);
                assert_ok(slot_try(folder, 0, &lock));
                ck_assert_int_eq(as_somebody(try_first, folder), EAGAIN);
                ck_assert_int_eq(as_somebody(try_second, folder), 0);
                close(lock);
                ck_assert_int_eq(as_somebody(try_first, folder), 0);
                assert_ok(remove_tree(folder));
        }
}
END_TEST

START_TEST(test_lease)
{
        int cpus[64], lock, fds[2], all[64];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        struct slot s, t;

        assert_ok(slot_lease(NULL, -1, &s));
        ck_assert_int_eq(CPU_COUNT(&s.cpus), 1);
        ck_assert(CPU_ISSET((size_t)s.cpu, &s.cpus));
        assert_error(slot_try(s.folder, s.cpu, &lock), EAGAIN);
        ck_assert(!slot_is_wanted(&s));
        assert_ok(slot_urge(s.folder, &lock)); /* a person waits: nobody else leases any */
        ck_assert(slot_is_wanted(&s));
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[1]);
        slot_release(&s);
        assert_error(slot_lease(NULL, fds[0], &t), ECANCELED);
        close(lock);
        for (size_t i = 0; i < n; i++)
                assert_ok(slot_try(s.folder, cpus[i], &all[i]));
        assert_error(slot_lease(NULL, fds[0], &t), ECANCELED);
        close(all[n - 1]);
        assert_ok(slot_lease(NULL, fds[0], &t));
        ck_assert_int_eq(t.cpu, cpus[n - 1]);
        slot_release(&t);
        slot_release(&t); /* nothing */
}
END_TEST

static int in_use[64];
static bool twice;

static void *lease_often(void *unused)
{
        for (int i = 0; i < 20; i++) {
                struct slot s;

                if (slot_lease(NULL, -1, &s) < 0)
                        return unused;
                if (__atomic_add_fetch(&in_use[s.cpu % 64], 1, __ATOMIC_SEQ_CST) != 1)
                        twice = true;
                usleep(500);
                __atomic_sub_fetch(&in_use[s.cpu % 64], 1, __ATOMIC_SEQ_CST);
                slot_release(&s);
        }
        return NULL;
}

START_TEST(test_many_leases)
{
        pthread_t threads[6];

        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, lease_often, threads), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
                void *failed;

                pthread_join(threads[i], &failed);
                ck_assert_ptr_null(failed);
        }
        ck_assert(!twice);
}
END_TEST

SUITE("slot", test_where, test_one_at_a_time, test_between_users, test_lease, test_many_leases)
