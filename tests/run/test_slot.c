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
        assert_ok(slot_try(folder, 3, SLOT_RUN, &lock));
        ck_assert_int_eq(fstat(lock, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0666);
        ck_assert_int_eq(chdir(folder), 0);
        ck_assert_int_eq(access("cpu3", F_OK), 0);
        close(lock);
        snprintf(folder, sizeof(folder), "%s/below//", given);
        setenv("SOLVERFS_SLOTS", folder, 1);
        assert_ok(slot_folder("/own", folder, NULL));
        ck_assert_int_eq(stat(folder, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 01777);
        setenv("SOLVERFS_SLOTS", "/", 1);
        assert_ok(slot_folder("/own", folder, NULL));
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

        assert_ok(slot_try(folder, 0, SLOT_RUN, &a));
        assert_error(slot_try(folder, 0, SLOT_RUN, &b), EAGAIN);
        assert_ok(slot_try(folder, 1, SLOT_RUN, &b));
        close(a);
        assert_ok(slot_try(folder, 0, SLOT_RUN, &c));
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

        return -slot_try(folder, 0, SLOT_RUN, &lock);
}

static int try_second(const char *folder)
{
        int lock;

        return -slot_try(folder, 1, SLOT_RUN, &lock);
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

        SKIP_UNLESS(geteuid() == 0, "root");
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
                assert_ok(slot_try(folder, 0, SLOT_RUN, &lock));
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

        assert_ok(slot_lease(NULL, "test", UINT64_MAX, -1, &s));
        ck_assert_int_eq(CPU_COUNT(&s.cpus), 1);
        ck_assert(CPU_ISSET((size_t)s.cpu, &s.cpus));
        assert_error(slot_try(s.folder, s.cpu, SLOT_RUN, &lock), EAGAIN);
        ck_assert(!slot_is_wanted(&s));
        assert_ok(slot_mark(s.folder, SLOT_PERSON_WAITS, &lock)); /* a person waits: nobody else leases any */
        ck_assert(slot_is_wanted(&s));
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[1]);
        slot_release(&s);
        assert_error(slot_lease(NULL, "test", UINT64_MAX, fds[0], &t), ECANCELED);
        close(lock);
        for (size_t i = 0; i < n; i++)
                assert_ok(slot_try(s.folder, cpus[i], SLOT_RUN, &all[i]));
        assert_error(slot_lease(NULL, "test", UINT64_MAX, fds[0], &t), ECANCELED);
        close(all[n - 1]);
        assert_ok(slot_lease(NULL, "test", UINT64_MAX, fds[0], &t));
        ck_assert_int_eq(t.cpu, cpus[n - 1]);
        slot_release(&t);
        slot_release(&t); /* nothing */
}
END_TEST

/* Where all cores are others'. The engine's jobs are of this process. */
START_TEST(test_a_lease_gives_up)
{
        int cpus[64], all[64], fds[2];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        struct core_note note;
        struct slot s;

        for (size_t i = 0; i < n; i++)
                assert_ok(slot_try(folder_of(NULL), cpus[i], SLOT_RUN, &all[i]));
        assert_error(slot_lease(NULL, "test", 0, -1, &s), EAGAIN);
        ck_assert_ptr_nonnull(strstr(error_message(-EAGAIN), "waits for a core: somebody has core"));
        assert_error(slot_lease(NULL, "test", 30 * NSEC_PER_MSEC, -1, &s), EAGAIN);
        slot_note(all[0], SLOT_RUN, 0, "a job"); /* of a process of another container that has our number */
        ck_assert(core_note_read(all[0], CORE_RUN, &note));
        note.pid_namespace++;
        core_note_write(all[0], CORE_RUN, &note);
        assert_error(slot_lease(NULL, "test", 0, -1, &s), EAGAIN);
        ck_assert_ptr_nonnull(strstr(error_message(-EAGAIN), "waits for a core: somebody has core"));
        slot_note(all[0], SLOT_RUN, 0, "a job");
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[1]);
        assert_error(slot_lease(NULL, "test", 0, fds[0], &s), ECANCELED);
}
END_TEST

/* A run takes a core that a build has, and one that none has rather; a batch's keeps off one where it is the build's turn. */
START_TEST(test_runs_and_builds)
{
        const char *folder = folder_of(NULL);
        int build, other, run, turn;

        assert_ok(slot_try(folder, 0, SLOT_BUILD, &build));
        assert_error(slot_try(folder, 0, SLOT_BUILD, &other), EAGAIN);
        assert_ok(slot_try(folder, 0, SLOT_GUEST, &other));
        assert_error(slot_try(folder, 0, SLOT_SPARE, &run), EAGAIN);
        close(other);
        assert_ok(slot_try(folder, 0, SLOT_RUN, &run));
        assert_error(slot_try(folder, 0, SLOT_PERSON, &other), EAGAIN);
        ck_assert(core_is_locked(build, CORE_RUN));
        assert_ok(slot_await(run, -1)); /* the build's tree is nowhere yet */
        close(run);
        assert_ok(core_lock(build, CORE_TURN));
        assert_error(slot_try(folder, 0, SLOT_RUN, &run), EAGAIN);
        assert_ok(slot_try(folder, 0, SLOT_PERSON, &run));
        close(run);
        core_unlock(build, CORE_TURN);
        assert_ok(slot_try(folder, 0, SLOT_RUN, &run));
        assert_ok(slot_try(folder, 1, SLOT_SPARE, &turn));
        assert_ok(slot_try(folder, 1, SLOT_BUILD, &other)); /* a build may begin where a run is */
        close(other);
        close(turn);
        close(run);
        close(build);
}
END_TEST

/* A guest has its turn, too, when its host has ended. */
START_TEST(test_a_turn_of_a_guest)
{
        const char *folder = folder_of(NULL);
        int build, guest, run;

        assert_ok(slot_try(folder, 0, SLOT_BUILD, &build));
        assert_ok(slot_try(folder, 0, SLOT_GUEST, &guest));
        close(build);
        assert_ok(core_lock(guest, CORE_TURN));
        assert_error(slot_try(folder, 0, SLOT_SPARE, &run), EAGAIN);
        assert_error(slot_try(folder, 0, SLOT_RUN, &run), EAGAIN);
        assert_ok(slot_try(folder, 0, SLOT_PERSON, &run));
        close(run);
        close(guest);
}
END_TEST

/* Since when the host has lent the core is not the guest's to say. */
START_TEST(test_a_guest_leaves_the_note_of_its_host)
{
        const char *folder = folder_of(NULL);
        struct core_note note;
        int build, guest;

        assert_ok(slot_try(folder, 0, SLOT_BUILD, &build));
        slot_note(build, SLOT_BUILD, 0, "host");
        core_note_lent(build, 5);
        assert_ok(slot_try(folder, 0, SLOT_GUEST, &guest));
        core_note_lent(guest, 0);
        ck_assert(core_note_read(guest, CORE_BUILD, &note));
        ck_assert_uint_eq(note.lent_ns, 5);
        core_note_lent(build, 0);
        ck_assert(core_note_read(guest, CORE_BUILD, &note));
        ck_assert_uint_eq(note.lent_ns, 0);
        close(guest);
        close(build);
}
END_TEST

START_TEST(test_a_run_awaits_the_trees_of_builds)
{
        const char *folder = folder_of(NULL);
        int build, guest, run, fds[2];

        assert_ok(slot_try(folder, 0, SLOT_BUILD, &build));
        assert_ok(core_lock(build, CORE_MOVES));
        assert_ok(slot_try(folder, 0, SLOT_GUEST, &guest));
        assert_ok(core_lock(guest, CORE_MOVES));
        assert_ok(slot_try(folder, 0, SLOT_RUN, &run));
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[1]);
        assert_error(slot_await(run, fds[0]), ECANCELED);
        core_unlock(build, CORE_MOVES);
        assert_error(slot_await(run, fds[0]), ECANCELED);
        core_unlock(guest, CORE_MOVES);
        assert_ok(slot_await(run, fds[0]));
        close(guest);
        close(build);
        close(run);
}
END_TEST

/* The first core that we may use: it need not be number 0. */
static int first_core(void)
{
        cpu_set_t set;
        int n = 0;

        ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
        while (!CPU_ISSET(n, &set))
                n++;
        return n;
}

static void look(void *user, const struct slot_view *v)
{
        cleanup_buffer struct buffer line = {0};
        char **ret = user;

        if (v->cpu != first_core())
                return;
        slot_view_line(v, &line);
        *ret = strdup(line.data);
}

START_TEST(test_who_has_it)
{
        const char *folder = folder_of(NULL);
        const int core = first_core();
        char *line = NULL, expected[256];
        int build, run;

        assert_ok(slot_try(folder, core, SLOT_BUILD, &build));
        slot_note(build, SLOT_BUILD, 0, "build toy\n1234");
        core_note_lent(build, now_ns() - 7 * NSEC_PER_SEC);
        assert_ok(slot_try(folder, core, SLOT_RUN, &run));
        assert_ok(slot_each(folder, look, &line));
        snprintf(expected, sizeof(expected), "core %d: somebody; ", core);
        ck_assert_ptr_nonnull(strstr(line, expected));
        free(line);
        slot_note(run, SLOT_RUN, 100 * NSEC_PER_SEC, "run toy 1234 case 1");
        assert_ok(slot_each(folder, look, &line));
        snprintf(expected, sizeof(expected), ", process %d) for 0 s, about 100 s left; build toy", (int)getpid());
        ck_assert_msg(strstr(line, expected), "%s", line);
        snprintf(expected, sizeof(expected), "core %d: run toy 1234 case 1 (", core);
        ck_assert_msg(strstr(line, expected), "%s", line);
        ck_assert_ptr_null(strchr(line, '\n'));
        ck_assert_ptr_nonnull(strstr(line, ", without this core for 7 s"));
        free(line);
        close(run);
        close(build);
}
END_TEST

/* Who has a core leaves the next one to somebody who has none. */
START_TEST(test_a_lease_leaves_room_for_others)
{
        int mark, fds[2];
        struct slot s, t;

        NEEDS_TWO_CORES;
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[1]);
        assert_ok(slot_mark(folder_of(NULL), SLOT_BATCH_HAS_NONE, &mark));
        assert_ok(slot_lease(NULL, "test", UINT64_MAX, -1, &s));
        ck_assert(slot_is_wanted(&s));
        assert_error(slot_lease(NULL, "test", 0, fds[0], &t), ECANCELED); /* it has one: it does not give up */
        close(mark);
        ck_assert(!slot_is_wanted(&s));
        assert_ok(slot_lease(NULL, "test", UINT64_MAX, fds[0], &t));
        slot_release(&t);
        slot_release(&s);
        close(fds[0]);
}
END_TEST

/* Nor does a process that gives its last core back for somebody take it again before that one has looked. */
START_TEST(test_a_last_core_is_passed_on)
{
        int mark, fds[2];
        struct slot s;

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[1]);
        assert_ok(slot_lease(NULL, "test", UINT64_MAX, -1, &s));
        assert_ok(slot_mark(folder_of(NULL), SLOT_BATCH_HAS_NONE, &mark));
        slot_release(&s);
        assert_error(slot_lease(NULL, "test", 0, fds[0], &s), ECANCELED); /* nor does it give up */
        assert_ok(slot_lease(NULL, "test", 0, -1, &s)); /* nobody came for it */
        close(mark);
        slot_release(&s);
        assert_ok(slot_lease(NULL, "test", 0, fds[0], &s)); /* nobody waits */
        slot_release(&s);
        close(fds[0]);
}
END_TEST

static unsigned n_got;

static void *lease_one(void *user)
{
        struct slot s;

        assert_ok(slot_lease(NULL, "test", UINT64_MAX, *(int *)user, &s));
        __atomic_add_fetch(&n_got, 1, __ATOMIC_SEQ_CST);
        return NULL;
}

/* A process in which one thread has a core and another waits has no right to the mark: it would yield to itself. */
START_TEST(test_two_leases_begin_without_a_core)
{
        int cpus[64], all[64], fds[2];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        pthread_t threads[2];

        SKIP_UNLESS(n >= 2, "two cores");
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        for (size_t i = 0; i < n; i++)
                assert_ok(slot_try(folder_of(NULL), cpus[i], SLOT_RUN, &all[i]));
        for (size_t i = 0; i < 2; i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, lease_one, &fds[0]), 0);
        while (!slot_is_marked(folder_of(NULL), SLOT_BATCH_HAS_NONE))
                usleep(1000);
        usleep(50000); /* the other's mark, too */
        for (unsigned i = 0; i < 2; i++) {
                close(all[i]);
                for (unsigned k = 0; k < 10000 && __atomic_load_n(&n_got, __ATOMIC_SEQ_CST) <= i; k++)
                        usleep(1000);
                ck_assert_uint_eq(__atomic_load_n(&n_got, __ATOMIC_SEQ_CST), i + 1);
        }
        for (size_t i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
        ck_assert(!slot_is_marked(folder_of(NULL), SLOT_BATCH_HAS_NONE));
}
END_TEST

static int in_use[64];
static bool twice;

static void *lease_often(void *unused)
{
        for (int i = 0; i < 20; i++) {
                struct slot s;

                if (slot_lease(NULL, "test", UINT64_MAX, -1, &s) < 0)
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

SUITE("slot", test_where, test_one_at_a_time, test_between_users, test_runs_and_builds, test_a_turn_of_a_guest,
      test_a_guest_leaves_the_note_of_its_host, test_a_run_awaits_the_trees_of_builds, test_who_has_it, test_lease, test_a_lease_gives_up,
      test_a_lease_leaves_room_for_others, test_a_last_core_is_passed_on, test_two_leases_begin_without_a_core, test_many_leases)
