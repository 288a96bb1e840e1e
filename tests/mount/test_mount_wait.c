/* Waiting: one computation however many ask, and a reader that is interrupted goes at once (docs/tree.md, 3 and 4).
 *
 * Solvers wait at a gate, a file, so that a test decides when they end; that takes a world without a sandbox. */
#include "tests/support/mount.h"

#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "tests/support/faults.h"

#define GATED "; do count %s\n; do wait %s\n; do print sat\n"

static struct world open_world = {.settings = "sandbox = none\ngrace = 600s\n", .recipe = "timeout = 1h\n"}; /* what nobody waits for goes on for long */
static struct world hasty_world = {.settings = "sandbox = none\ngrace = 1s\n", .recipe = "timeout = 1h\n"};

/* A case that counts its runs in ./count and waits for ./gate, on a commit that is built. */
static unsigned gated_case(const char *name)
{
        free(content("mnt/tiny/head/build/log"));
        return case_add(name, GATED, absolute("count"), absolute("gate"));
}

/* -- one computation -- */

#define READERS 1000

START_TEST(test_a_thousand_readers)
{
        static const char *const files[] = {"time", "result", "stdout", "run.json", "memory"};
        pid_t *readers = calloc(READERS, sizeof(*readers));
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        for (int i = 0; i < READERS; i++)
                readers[i] = reader_start(at(CELL "%s", id, files[i % ARRAY_SIZE(files)]), i < 50 ? at("copy.%d", i) : NULL);
        await(counter("mnt", "waiters") == READERS);
        assert_content("count", ".");
        open_gate();
        for (int i = 0; i < READERS; i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        assert_content("count", ".");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 2); /* the build and the run */
        ck_assert_uint_eq(counter("mnt", "joined_total"), READERS - 1);
        for (int i = 0; i < 50; i++) {
                cleanup_free char *now = content(at(CELL "%s", id, files[(size_t)i % ARRAY_SIZE(files)]));

                assert_content(at("copy.%d", i), now);
        }
        free(readers);
        world_end();
}
END_TEST

/* Nothing is built yet: the one build is for all of them, too, whatever file of the commit they ask for. */
START_TEST(test_readers_of_a_cold_commit)
{
        struct world w = {
                .settings = "sandbox = none\n",
                .recipe = at("environment = \"COUNT=%s\"\nenvironment = \"GATE=%s\"\n", recipe_path("builds"), recipe_path("gate"))};
        pid_t readers[90];
        unsigned ids[3];

        world_make(&w);
        mount_start("mnt", NULL);
        for (int i = 0; i < 3; i++)
                ids[i] = case_add(at("%d.smt2", i), "; do count %s\n; do print sat\n", absolute("count"));
        for (int i = 0; i < 90; i++)
                readers[i] = reader_start(i % 5 == 3   ? "mnt/tiny/commits/v1/bin/tiny"
                                          : i % 5 == 4 ? "mnt/tiny/commits/v1/build/log"
                                                       : at("mnt/tiny/commits/v1/cases/%u/time", ids[i % 3]),
                                          NULL);
        await(counter("mnt", "waiters") >= 90); /* and what jobs wait for */
        open_gate();
        for (int i = 0; i < 90; i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        assert_content("builds", ".");
        assert_content("count", "...");
        world_end();
}
END_TEST

START_TEST(test_two_mounts_and_the_command)
{
        pid_t readers[60], command;
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        mount_start("other", NULL);
        id = gated_case("a.smt2");
        for (int i = 0; i < 60; i++)
                readers[i] =
                        reader_start(at("%s/tiny/commits/HEAD/cases/%u/time", i % 2 ? "mnt" : "other", id), at("copy.%d", i));
        command = shell_start("solverfs run tiny HEAD %u >command.out 2>command.err", id);
        await(counter("mnt", "waiters") == 30 && counter("other", "waiters") == 30);
        await(shell("test $(tail -n +2 mnt/.solverfs/jobs.tsv | grep -c 'case %u') -ge 3", id) ==
              0); /* each process tells of it */
        open_gate();
        for (int i = 0; i < 60; i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        ck_assert_int_eq(process_wait(command), 0);
        assert_content("count", ".");
        assert_shell("test $(md5sum copy.* | cut -c 1-32 | sort -u | wc -l) = 1 && grep -qF $(cat copy.0) command.out");
        world_end();
}
END_TEST

/* The mount that works on it dies: another that waits for the same takes over. */
START_TEST(test_a_second_mount_takes_over)
{
        struct mount *other;
        pid_t first, second;
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        other = mount_start("other", NULL);
        first = reader_start(at("other/tiny/commits/HEAD/cases/%u/result", id), NULL);
        await(exists("count"));
        second = reader_start(at(CELL "result", id), "copy");
        await(counter("mnt", "waiters") == 1);
        mount_kill(other);
        ck_assert_int_ne(process_wait(first), 0);
        await(shell("test $(wc -c <count) = 2") == 0);
        open_gate();
        ck_assert_int_eq(process_wait(second), 0);
        assert_content("copy", "sat\n");
        assert_content("count", "..");
        assert_shell("umount -l other 2>/dev/null || fusermount3 -uz other");
        world_end();
}
END_TEST

/* Short files and long ones (of more than a page, and than the placeholder), read by many at the moment they come to be: each sees the whole
 * and nothing else. */
static void check_crowd(long size)
{
        cleanup_free char *expected = NULL;
        pid_t readers[300];
        unsigned ids[3];

        world_make(&open_world);
        mount_start("mnt", NULL);
        free(content("mnt/tiny/head/build/log"));
        for (int i = 0; i < 3; i++)
                ids[i] = case_add(at("%d.smt2", i), "; do wait %s.%d\n; do bytes %ld\n", absolute("gate"), i, size);
        write_whole("direct.smt2", at("; do bytes %ld\n", size));
        assert_shell("\"$SOLVERFS_TINY\" direct.smt2 >expected");
        expected = content("expected");
        for (int c = 0; c < 3; c++) {
                readers_start(readers, 300, at(CELL "stdout", ids[c]));
                write_whole(at("gate.%d", c), "");
                readers_given(readers, 0, 300, expected);
        }
        world_end();
}

START_TEST(test_a_crowd_reads_a_short_file)
{
        check_crowd(9);
}
END_TEST

START_TEST(test_a_crowd_reads_a_long_file)
{
        check_crowd(50000);
}
END_TEST

/* Whoever waits keeps nobody else from anything. */
START_TEST(test_waiting_stalls_nobody)
{
        pid_t readers[200];
        unsigned id, done;

        world_make(&open_world);
        mount_start("mnt", NULL);
        done = case_add("done.smt2", "; do print sat\n");
        free(content(at(CELL "time", done)));
        id = gated_case("a.smt2");
        for (int i = 0; i < 200; i++)
                readers[i] = reader_start(at(CELL "time", id), NULL);
        await(counter("mnt", "waiters") == 200);
        assert_shell("ls -l " CELL " && cat " CELL
                     "result && ls mnt/tiny/commits && cat mnt/README >copy && mnt/tiny/head/bin/tiny "
                     "--version && find mnt -maxdepth 3 >copy && stat " CELL "time",
                     id, done, id);
        case_add("b.smt2", "; do print unsat\n");
        ck_assert_uint_eq(counter("mnt", "waiters"), 200);
        open_gate();
        for (int i = 0; i < 200; i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        world_end();
}
END_TEST

/* -- interrupts -- */

/* The signal ends a waiting reader while its job goes on; a second reader waits on. */
static void check_signal_ends(int signal)
{
        pid_t reader, stays;
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        reader = reader_start(at(CELL "time", id), NULL);
        stays = reader_start(at(CELL "result", id), "copy");
        await(counter("mnt", "waiters") == 2);
        ck_assert_int_eq(kill(reader, signal), 0);
        ck_assert_int_eq(process_wait(reader), -signal); /* the gate is closed: it did not wait for the value */
        await(counter("mnt", "waiters") == 1);
        await(strcmp(state_of(at(CELL "time", id), "state"), "running") == 0);
        open_gate();
        ck_assert_int_eq(process_wait(stays), 0);
        assert_content("copy", "sat\n");
        assert_content("count", ".");
        world_end();
}

#define ENDS(name, signal)                 \
        START_TEST(test_ends_##name)       \
        {                                  \
                check_signal_ends(signal); \
        }                                  \
        END_TEST
ENDS(int, SIGINT)
ENDS(term, SIGTERM)
ENDS(kill, SIGKILL)
ENDS(hup, SIGHUP)
ENDS(abrt, SIGABRT) /* dumps core: the kernel makes no SIGKILL of it */

/* Ctrl-C at a pipeline of a shell, in a group of its own. */
START_TEST(test_interrupted_shell)
{
        pid_t pid;
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        pid = fork();
        if (pid == 0) {
                setpgid(0, 0);
                execlp("sh", "sh", "-c", at("cat " CELL "time | wc -c; echo not reached >reached", id), NULL);
                _exit(127);
        }
        await(counter("mnt", "waiters") == 1);
        ck_assert_int_eq(kill(-pid, SIGINT), 0);
        ck_assert_int_eq(process_wait(pid), -SIGINT);
        ck_assert(!exists("reached"));
        await(counter("mnt", "waiters") == 0);
        open_gate();
        world_end();
}
END_TEST

static void on_signal(int sig)
{
        (void)sig;
}

static void catch_interrupts(void)
{
        sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
}

/* One that catches it sees EINTR. */
START_TEST(test_caught_interrupt)
{
        unsigned id;
        pid_t reader;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        reader = reader_start_with(at(CELL "time", id), NULL, 0, catch_interrupts);
        await(counter("mnt", "waiters") == 1);
        ck_assert_int_eq(kill(reader, SIGINT), 0);
        ck_assert_int_eq(process_wait(reader), EINTR);
        open_gate();
        world_end();
}
END_TEST

static void catch_harmless(void)
{
        static const int signals[] = {SIGURG, SIGCHLD, SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM, SIGCONT};

        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = i % 2 ? SA_RESTART : 0}, NULL);
        write_whole("caught", "");
}

static void ignore_interrupts(void)
{
        signal(SIGINT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        catch_harmless();
}

static void storm(pid_t reader, const int *signals, size_t n)
{
        for (int i = 0; i < 300; i++) {
                ck_assert_int_eq(kill(reader, signals[(size_t)i % n]), 0);
                nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
        }
        remains(process_runs(reader)); /* longer than it takes to look again at an interrupted reader */
}

static void check_storm(const int *signals, size_t n, void (*before)(void))
{
        unsigned id;
        pid_t reader;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        reader = reader_start_with(at(CELL "result", id), "copy", 0, before);
        await(counter("mnt", "waiters") == 1);
        storm(reader, signals, n);
        ck_assert_uint_eq(counter("mnt", "waiters"), 1);
        await(strcmp(state_of(at(CELL "time", id), "state"), "running") == 0);
        open_gate();
        ck_assert_int_eq(process_wait(reader), 0);
        assert_content("copy", "sat\n");
        assert_content("count", ".");
        world_end();
}

START_TEST(test_storm_of_harmless_signals)
{
        static const int signals[] = {SIGURG, SIGCHLD, SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM, SIGCONT};

        check_storm(signals, ARRAY_SIZE(signals), catch_harmless);
}
END_TEST

START_TEST(test_storm_of_ignored_signals)
{
        static const int signals[] = {SIGINT, SIGURG, SIGHUP};

        check_storm(signals, ARRAY_SIZE(signals), ignore_interrupts);
}
END_TEST

/* Behind a storm, the one signal that counts still ends it. */
START_TEST(test_storm_then_term)
{
        static const int signals[] = {SIGURG, SIGUSR1};
        unsigned id;
        pid_t reader;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        reader = reader_start_with(at(CELL "result", id), "copy", 0, catch_harmless);
        await(counter("mnt", "waiters") == 1);
        storm(reader, signals, ARRAY_SIZE(signals));
        ck_assert_int_eq(kill(reader, SIGTERM), 0);
        ck_assert_int_eq(process_wait(reader), -SIGTERM);
        open_gate();
        world_end();
}
END_TEST

/* -- cancelling -- */

START_TEST(test_cancelled_behind_the_last_reader)
{
        pid_t readers[5], solver;
        unsigned id;

        world_make(&hasty_world);
        mount_start("mnt", NULL);
        free(content("mnt/tiny/head/build/log"));
        id = case_add("a.smt2", "; do pid %s\n; do daemon %s\n; do wait %s\n; do print sat\n", absolute("pid"),
                      absolute("daemon"), absolute("gate"));
        for (int i = 0; i < 5; i++)
                readers[i] = reader_start(at(CELL "time", id), NULL);
        await(exists("daemon") && counter("mnt", "waiters") == 5);
        solver = (pid_t)number("pid");
        for (int i = 0; i < 4; i++) {
                kill(readers[i], SIGKILL);
                process_wait(readers[i]);
        }
        remains(process_lives(solver));
        kill(readers[4], SIGTERM);
        process_wait(readers[4]);
        await(counter("mnt", "jobs_cancelled_total") == 1);
        await(!process_lives(solver) && !process_lives((pid_t)number("daemon")));
        assert_state(at(CELL "time", id), "cold");
        ck_assert(!exists(at("mnt/tiny/cached/HEAD/cases/%u", id)));
        open_gate();
        assert_shell("rm daemon");
        assert_content(at(CELL "result", id), "sat\n"); /* nothing of the cancelled one was kept, and it can be asked for anew */
        world_end();
}
END_TEST

START_TEST(test_rejoined_within_the_grace)
{
        pid_t reader;
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        for (int i = 0; i < 5; i++) {
                reader = reader_start(at(CELL "time", id), NULL);
                await(counter("mnt", "waiters") == 1 && exists("count"));
                kill(reader, SIGINT);
                ck_assert_int_eq(process_wait(reader), -SIGINT);
                await(counter("mnt", "waiters") == 0);
        }
        await(strcmp(state_of(at(CELL "time", id), "state"), "running") == 0);
        reader = reader_start(at(CELL "result", id), "copy");
        await(counter("mnt", "waiters") == 1);
        open_gate();
        ck_assert_int_eq(process_wait(reader), 0);
        assert_content("copy", "sat\n");
        assert_content("count", ".");
        ck_assert_uint_eq(counter("mnt", "jobs_cancelled_total"), 0);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 2);
        world_end();
}
END_TEST

/* A queued job that nobody waits for any more never starts. */
START_TEST(test_cancelled_in_the_queue)
{
        struct world w = {.settings = "sandbox = none\ngrace = 1s\ncores = 1\n"};
        pid_t running, queued;
        unsigned first, second;

        world_make(&w);
        mount_start("mnt", NULL);
        first = gated_case("a.smt2");
        second = case_add("b.smt2", "; do count %s\n; do print sat\n", absolute("second"));
        running = reader_start(at(CELL "time", first), NULL);
        await(exists("count"));
        queued = reader_start(at(CELL "time", second), NULL);
        await(strcmp(state_of(at(CELL "time", second), "state"), "queued") == 0);
        kill(queued, SIGKILL);
        process_wait(queued);
        await(counter("mnt", "jobs_cancelled_total") == 1);
        assert_state(at(CELL "time", second), "cold");
        open_gate();
        ck_assert_int_eq(process_wait(running), 0);
        ck_assert(!exists("second"));
        world_end();
}
END_TEST

/* A cancelled build leaves nothing wrong behind. */
START_TEST(test_cancelled_build)
{
        struct world w = {.settings = "sandbox = none\ngrace = 1s\n",
                          .recipe = at("environment = \"GATE=%s\"\n", recipe_path("gate"))};
        pid_t reader;

        world_make(&w);
        mount_start("mnt", NULL);
        reader = reader_start("mnt/tiny/head/bin/tiny", NULL);
        await(strcmp(state_of("mnt/tiny/head/build/log", "state"), "running") == 0);
        kill(reader, SIGKILL);
        process_wait(reader);
        await(counter("mnt", "jobs_running") == 0 && counter("mnt", "jobs_queued") == 0);
        assert_content("mnt/tiny/head/build/status", "none\n");
        ck_assert(!exists("mnt/tiny/cached/HEAD"));
        open_gate();
        assert_shell("mnt/tiny/head/bin/tiny --version");
        ck_assert_str_eq(shell_output, "version: 10\n");
        world_end();
}
END_TEST

/* -- ends of mounts -- */

START_TEST(test_unmount_is_refused_in_use)
{
        cleanup_close int open_file = -1;
        pid_t reader;
        unsigned id;

        world_make(&open_world);
        mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        open_file = open("mnt/README", O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(open_file, 0);
        reader = reader_start(at(CELL "time", id), "copy");
        await(counter("mnt", "waiters") == 1);
        ck_assert_int_ne(shell("solverfs unmount mnt"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "in use"));
        await(strcmp(state_of(at(CELL "time", id), "state"), "running") == 0);
        open_gate();
        ck_assert_int_eq(process_wait(reader), 0);
        close(steal_fd(&open_file));
        world_end();
}
END_TEST

/* SIGTERM under load: waiters get EINTR, nothing is left behind, what was finished is there the next time. */
START_TEST(test_terminated_under_load)
{
        pid_t readers[100], listers[4];
        struct mount *m;
        unsigned id, done;

        world_make(&open_world);
        m = mount_start("mnt", NULL);
        done = case_add("done.smt2", "; do now\n; do print sat\n");
        assert_shell("cp " CELL "stdout before", done);
        id = gated_case("a.smt2");
        for (int i = 0; i < 100; i++)
                readers[i] = reader_start(at(CELL "time", id), NULL);
        await(counter("mnt", "waiters") == 100 && exists("count"));
        for (int i = 0; i < 4; i++)
                listers[i] =
                        shell_start("while [ -e mnt/README ]; do find mnt >/dev/null 2>&1; cat mnt/.solverfs/status >/dev/null "
                                    "2>&1; done");
        remains(process_runs(listers[0]));
        kill(m->pid, SIGTERM);
        for (int i = 0; i < 100; i++)
                ck_assert_int_eq(process_wait(readers[i]), EINTR);
        for (int i = 0; i < 4; i++)
                process_wait(listers[i]);
        ck_assert_int_eq(mount_wait(m), 0);
        ck_assert(!is_mounted("mnt"));
        mount_start("mnt", NULL);
        assert_goes_on(done, id);
        world_end();
}
END_TEST

START_TEST(test_lazy_unmount_under_load)
{
        struct mount *m;
        pid_t readers[20];
        unsigned id;

        world_make(&open_world);
        m = mount_start("mnt", NULL);
        id = gated_case("a.smt2");
        readers_start(readers, ARRAY_SIZE(readers), at(CELL "result", id));
        assert_shell("solverfs unmount --lazy mnt");
        ck_assert(!is_mounted("mnt"));
        open_gate(); /* who is inside gets to the end */
        readers_given(readers, 0, ARRAY_SIZE(readers), "sat\n");
        ck_assert_int_eq(mount_wait(m), 0);
        world_end();
}
END_TEST

/* Aborted by hand at the kernel's control files: the daemon ends, and the dead mount is taken over. */
START_TEST(test_aborted)
{
        struct mount *m;
        struct stat st;

        world_make(&open_world);
        m = mount_start("mnt", NULL);
        ck_assert_int_eq(stat("mnt/README", &st), 0);
        assert_shell("mkdir control && mount -t fusectl none control && echo 1 >control/%u/abort; umount control",
                     (unsigned)minor(st.st_dev));
        ck_assert_int_eq(mount_wait(m), 0);
        ck_assert_int_eq(open_error("mnt/README"), ENOTCONN);
        mount_start("mnt", NULL);
        assert_shell("cat mnt/README");
        world_end();
}
END_TEST

/* kill -9: readers get an error at once, what ran is gone, the dead mount point is taken over, what was finished is there. */
START_TEST(test_killed_daemon)
{
        struct mount *m;
        pid_t readers[20], solver;
        unsigned id, done;

        world_make(&open_world);
        m = mount_start("mnt", NULL);
        done = case_add("done.smt2", "; do now\n; do print sat\n");
        assert_shell("cp " CELL "stdout before", done);
        id = case_add("a.smt2", "; do pid %s\n; do wait %s\n; do print sat\n", absolute("pid"), absolute("gate"));
        for (int i = 0; i < 20; i++)
                readers[i] = reader_start(at(CELL "result", id), NULL);
        await(counter("mnt", "waiters") == 20 && exists("pid"));
        solver = (pid_t)number("pid");
        mount_kill(m);
        for (int i = 0; i < 20; i++)
                ck_assert_int_ne(process_wait(readers[i]), 0);
        await(!process_lives(solver));
        ck_assert_int_eq(open_error("mnt/README"), ENOTCONN);
        mount_start("mnt", NULL);
        assert_goes_on(done, id);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 1);
        world_end();
}
END_TEST

/* Killed at any moment of a stream of work: nothing finished is lost or changed, nothing half done is shown. */
START_TEST(test_killed_again_and_again)
{
        struct mount *m;
        unsigned ids[40], seen = 0;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        for (unsigned i = 0; i < ARRAY_SIZE(ids); i++)
                ids[i] = case_add(at("%u.smt2", i), "; do now\n; do print sat\n");
        assert_shell("mkdir kept");
        for (unsigned round = 0; round < 8; round++) {
                pid_t shell_pid = shell_start(
                        "for i in $(seq %u %u); do f=mnt/tiny/head/cases/$i/stdout; if cp $f kept/$i.new 2>/dev/null; "
                        "then mv kept/$i.new kept/$i; else break; fi; done",
                        ids[seen], ids[ARRAY_SIZE(ids) - 1]);
                unsigned target = seen + 1 + round % 4;

                await(exists(at("kept/%u", ids[MIN(target, (unsigned)ARRAY_SIZE(ids) - 1)])) || !process_runs(shell_pid));
                mount_kill(m);
                process_wait(shell_pid);
                m = mount_start("mnt", NULL);
                assert_shell("for f in kept/[0-9]*; do case $f in *.new) continue;; esac; "
                             "cmp $f mnt/tiny/cached/HEAD/cases/${f#kept/}/stdout || exit 1; done");
                assert_shell("for f in mnt/tiny/cached/HEAD/cases/*/stdout; do grep -q '^sat$' $f || { echo $f; exit 1; }; done");
                while (seen < ARRAY_SIZE(ids) - 1 && exists(at("kept/%u", ids[seen])))
                        seen++;
        }
        ck_assert_uint_gt(seen, 8);
        world_end();
}
END_TEST

/* What a killed daemon left of a run and of a build is taken away by the next one that starts, and nothing of a living one. */
START_TEST(test_next_start_sweeps)
{
        struct world w = {.settings = "sandbox = none\ngrace = 600s\n",
                          .recipe = at("environment = \"GATE=%s\"\n", recipe_path("gate"))};
        struct mount *m, *living;
        pid_t reader, other_reader;
        unsigned run, other;

        NEEDS_TWO_CORES;
        world_make(&w);
        open_gate();
        m = mount_start("mnt", NULL);
        living = mount_start("living", NULL);
        free(content("mnt/tiny/head/build/log"));
        assert_shell("rm gate");
        run = case_add("a.smt2", "; do pid %s\n; do wait %s\n", absolute("pid"), absolute("never"));
        other = case_add("b.smt2", "; do pid %s\n; do wait %s\n; do print sat\n", absolute("pid2"), absolute("gate2"));
        other_reader = reader_start(at("living/tiny/head/cases/%u/result", other), NULL);
        await(exists("pid2"));
        for (int build = 0; build < 2; build++) {
                reader = reader_start(build ? "mnt/tiny/commits/v1/bin/tiny" : at(CELL "result", run), NULL);
                await(build ? shell("ls -d store/work/tiny/[0-9]*.scratch") == 0 : exists("pid"));
                mount_kill(m);
                process_wait(reader);
                assert_shell("test $(ls store/scratch | wc -l) = %d && test $(ls store/claims | wc -l) = 2", build ? 1 : 2);
                m = mount_start("mnt", NULL);
                assert_shell("cd store && test $(ls scratch | wc -l) = 1 && ls -d scratch/run-%d-*", (int)living->pid);
                assert_shell("cd store && test $(ls claims | wc -l) = 1 && test \"$(ls engines | grep -v [.])\" = \"$(printf "
                             "'%%s\\n' "
                             "%d %d | sort)\"",
                             (int)living->pid, (int)m->pid);
                ck_assert_int_ne(shell("ls -d store/work/tiny/[0-9]*.scratch"), 0);
        }
        assert_shell("touch gate gate2");
        ck_assert_int_eq(process_wait(other_reader), 0);
        assert_content(at("living/tiny/head/cases/%u/result", other), "sat\n");
        world_end();
}
END_TEST

/* gc takes all that can be made again, but not from under a build. */
START_TEST(test_gc_beside_a_build)
{
        pid_t reader;

        faults_begin();
        world_make(NULL);
        mount_start("mnt", NULL);
        fault_set("build.command", "block\n");
        reader = reader_start("mnt/tiny/head/bin/tiny", NULL);
        await(fault_met("build.command") == 1);
        assert_shell("solverfs -q gc --keep 0");
        fault_clear("build.command");
        ck_assert_int_eq(process_wait(reader), 0);
        assert_shell("solverfs -q gc --keep 0 && ! ls -d store/work/ccache store/work/.ccache-gone");
        world_end();
}
END_TEST

/* What gc took has to be built again. When that fails, what was known and measured stays, and nothing calls the commit unbuildable. */
START_TEST(test_built_again_behind_gc)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = at("build = \"test ! -e %s\"\n", recipe_word("broken"))};
        unsigned id, other;

        world_make(&w);
        world_expects("cannot be built again now");
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        other = case_add("b.smt2", "; do print sat\n");
        assert_shell("cp " CELL "stdout stdout && cp mnt/tiny/head/build/log log", id);
        assert_shell("solverfs -q gc --keep 0 && touch broken");
        ck_assert_int_eq(open_error(at(CELL "result", other)), EIO);
        ck_assert_int_eq(open_error("mnt/tiny/head/bin/tiny"), EIO);
        assert_shell("cmp stdout mnt/tiny/cached/HEAD/cases/%u/stdout && cmp stdout " CELL "stdout", id, id);
        assert_shell("cmp log mnt/tiny/head/build/log && rm broken");
        assert_content(at(CELL "result", other), "sat\n");
        assert_shell("cmp log mnt/tiny/head/build/log && mnt/tiny/head/bin/tiny --version");
        world_end();
}
END_TEST

START_TEST(test_a_living_mount_is_not_taken_over)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        ck_assert_int_ne(mount_refused("mnt", NULL), 0);
        assert_shell("grep -i already refused.log || grep -i mounted refused.log");
        ck_assert_int_eq(open_error("mnt/README"), 0);
        world_end();
}
END_TEST

/* In the background: the command returns when the mount answers, and the daemon has let go of everything. */
START_TEST(test_background)
{
        pid_t daemon;

        world_make(NULL);
        assert_shell("mkdir mnt && solverfs mount mnt | cat && cat mnt/README >copy"); /* the pipe ends: nobody holds it */
        assert_shell("test -s copy && ls store/mounts >/dev/null");
        case_add("a.smt2", "; do print sat\n");
        assert_content("mnt/tiny/head/cases/1/result", "sat\n");
        assert_shell("solverfs unmount mnt");
        ck_assert(!is_mounted("mnt"));
        daemon = waitpid(-1, NULL, WNOHANG);
        (void)daemon;
        assert_shell("! grep -E 'error:|Sanitizer' store/log");
        world_end();
}
END_TEST

MOUNT_SUITE("mount_wait", {test_a_thousand_readers}, {test_readers_of_a_cold_commit}, {test_two_mounts_and_the_command},
            {test_a_second_mount_takes_over}, {test_a_crowd_reads_a_short_file}, {test_a_crowd_reads_a_long_file},
            {test_waiting_stalls_nobody}, {test_ends_int}, {test_ends_term}, {test_ends_kill}, {test_ends_hup}, {test_ends_abrt},
            {test_interrupted_shell}, {test_caught_interrupt}, {test_storm_of_harmless_signals}, {test_storm_of_ignored_signals},
            {test_storm_then_term}, {test_cancelled_behind_the_last_reader}, {test_rejoined_within_the_grace},
            {test_cancelled_in_the_queue}, {test_cancelled_build}, {test_unmount_is_refused_in_use}, {test_terminated_under_load},
            {test_lazy_unmount_under_load}, {test_aborted, NEEDS_ROOT}, {test_killed_daemon}, {test_killed_again_and_again}, {test_next_start_sweeps},
            {test_gc_beside_a_build, NEEDS_SANDBOX}, {test_built_again_behind_gc}, {test_a_living_mount_is_not_taken_over},
            {test_background})
