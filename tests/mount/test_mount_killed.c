/* What somebody may have ended from outside is nothing that was found out: no commit becomes unbuildable by it, and no solver that was
 * killed once is said to have crashed. Nobody can tell who sent a signal, so that most of them are sent from inside here. */
#include "tests/support/mount.h"

#include <signal.h>
#include <unistd.h>

#include "tests/support/faults.h"

static pid_t parent_of(pid_t pid)
{
        cleanup_file FILE *f = fopen(at("/proc/%d/stat", (int)pid), "re");
        char text[512];
        const char *after;
        int parent = 0;

        ck_assert_msg(f && fgets(text, sizeof(text), f) && (after = strrchr(text, ')')) &&
                              sscanf(after, ") %*c %d", &parent) == 1,
                      "no process %d", (int)pid);
        return (pid_t)parent;
}

/* A solver `t` whose build does what the next line of the file `plan` says, and then what it should. */
static void planned_world(void)
{
        world_make(&(struct world){.settings = "sandbox = none\n", .recipe = "samples = 1\n"});
        write_whole(
                "next.sh",
                at("plan=%s\nif [ -s \"$plan\" ]; then line=$(head -n 1 \"$plan\"); sed -i 1d \"$plan\"; eval \"$line\"; fi\n",
                   shell_word("plan")));
        write_whole("t.recipe", at("[solver]\nformat = smt2\npaths = src\noutput = out/tiny\nrun = {bin} {case}\nsamples = 1\n"
                                   "build = \". %s; sh src/build.sh\"\n",
                                   recipe_word("next.sh")));
        assert_shell("solverfs solver add t repo --recipe t.recipe");
        assert_shell("chmod 777 . && : > plan && chmod 666 plan");
}

static const char *planned(const char *revision, const char *file)
{
        return at("mnt/t/commits/%s/%s", revision, file);
}

START_TEST(test_builds)
{
        static const struct {
                const char *revision, *plan;
                int error;
        } rows[] = {
                {"HEAD", "sh -c 'kill -TERM $$'; exit 2\n", 0},
                {"HEAD~1", "kill -KILL $$\nkill -KILL $$\n", EIO},
                {"HEAD~2", "kill -TERM $$\nkill -TERM $$\n", EIO},
                {"merge", "sh -c 'kill -KILL $$'; exit $?\nexit 143\n", EIO},
                {"v2.0", "sh -c 'kill -KILL $$'; exit 2\nkill -HUP $$\n", EIO},
                {"v1", "exit 130\nexit 3\n", ENODATA},
        };
        unsigned id;

        planned_world();
        world_expects("that may have come from outside");
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                const char *cell = planned(rows[i].revision, at("cases/%u/time", id));

                write_whole("plan", rows[i].plan);
                ck_assert_msg(open_error(cell) == rows[i].error, "%s: %s", rows[i].plan,
                              content(planned(rows[i].revision, "build/log")));
                assert_shell("wc -c < plan");
                ck_assert_msg(strcmp(shell_output, "0\n") == 0, "%zu: not all of the plan was done: %s", i, content("plan"));
                assert_content(planned(rows[i].revision, "build/status"), rows[i].error == 0     ? "ok\n"
                                                                          : rows[i].error == EIO ? "none\n"
                                                                                                 : "failed\n");
                if (rows[i].error == EIO) /* and the next one who asks gets it */
                        assert_content(planned(rows[i].revision, at("cases/%u/result", id)), "sat\n");
        }
        world_end();
}
END_TEST

/* -- runs -- */

static const char *cell(unsigned id, const char *file)
{
        return at(CELL "%s", id, file);
}

/* A run that says when it is there, in `runs` and `pid`, and waits for `go`. */
static unsigned waiting_case(const char *name, const char *then)
{
        assert_shell("rm -f go runs pid; touch runs; chmod 666 runs");
        return case_add(name, "; do count %s\n; do pid %s\n; do wait %s\n; do %s\n", absolute("runs"), absolute("pid"),
                        absolute("go"), then);
}

static size_t runs_begun(void)
{
        struct stat st;

        ck_assert_int_eq(stat("runs", &st), 0);
        return (size_t)st.st_size;
}

static pid_t pid_written(void)
{
        cleanup_free char *text = NULL;

        return read_whole("pid", &text) > 0 ? (pid_t)atoi(text) : 0;
}

/* The pid of the nth run. */
static pid_t await_run(size_t n)
{
        pid_t pid = 0;

        await(runs_begun() == n && (pid = pid_written()) > 0 && process_lives(pid));
        return pid;
}

static void end_run(size_t n, int sig)
{
        pid_t pid = await_run(n);

        assert_shell("rm pid");
        ck_assert_int_eq(kill(pid, sig), 0);
}

START_TEST(test_runs)
{
        static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP};
        pid_t reader;
        unsigned id;

        planned_world();
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                id = waiting_case(at("%zu.smt2", i), "print sat");
                reader = reader_start(cell(id, "result"), "copy");
                end_run(1, signals[i]);
                await_run(2);
                write_whole("go", "");
                ck_assert_int_eq(process_wait(reader), 0);
                assert_content("copy", "sat\n");
                assert_content("runs", "..");
        }
        id = waiting_case("twice.smt2", "print sat"); /* that may be its own doing, and is told as what it is */
        reader = reader_start(cell(id, "result"), "copy");
        end_run(1, SIGTERM);
        end_run(2, SIGKILL);
        ck_assert_int_eq(process_wait(reader), 0);
        assert_content("copy", "crash\n");
        assert_shell("grep -q '\"signal\": *\"KILL\"' %s", cell(id, "run.json"));
        id = waiting_case("own.smt2", "crash"); /* no doubt about that one */
        write_whole("go", "");
        assert_content(cell(id, "result"), "crash\n");
        assert_content("runs", ".");
        world_end();
}
END_TEST

/* A helper that is killed leaves no result, neither of a run nor of a build. */
START_TEST(test_helpers)
{
        pid_t reader;
        unsigned id;

        planned_world();
        world_expects("was it killed");
        mount_start("mnt", NULL);
        id = waiting_case("a.smt2", "print sat");
        reader = reader_start(cell(id, "result"), "copy");
        ck_assert_int_eq(kill(parent_of(await_run(1)), SIGKILL), 0);
        ck_assert_int_eq(process_wait(reader), EIO);
        write_whole("go", "");
        assert_content(cell(id, "result"), "sat\n");
        assert_shell("rm go");
        write_whole("plan", at("echo $$ > %s; mv %s %s; while [ ! -e %s ]; do sleep 0.01; done\n", shell_word("pid.part"), shell_word("pid.part"),
                               shell_word("pid"), shell_word("go")));
        assert_shell("rm pid");
        reader = reader_start(planned("v1", at("cases/%u/result", id)), "copy");
        await(exists("pid"));
        ck_assert_int_eq(kill(parent_of((pid_t)number("pid")), SIGKILL), 0);
        ck_assert_int_eq(process_wait(reader), EIO);
        assert_content(planned("v1", "build/status"), "none\n");
        write_whole("go", "");
        assert_content(planned("v1", at("cases/%u/result", id)), "sat\n");
        world_end();
}
END_TEST

/* The first one that is listed. */
static pid_t child_of(pid_t parent)
{
        assert_shell("cat /proc/%d/task/*/children", (int)parent);
        return (pid_t)atoi(shell_output);
}

/* Between the look at it and the order: another one does the run. */
START_TEST(test_a_helper_that_ends_before_a_run)
{
        struct mount *m;
        pid_t reader, helper;
        unsigned id;

        faults_begin();
        planned_world();
        m = mount_start("mnt", NULL);
        id = waiting_case("a.smt2", "print sat");
        write_whole("go", "");
        fault_set("keeper.begin", "block");
        reader = reader_start(cell(id, "result"), "copy");
        await(fault_met("keeper.begin") == 1);
        helper = child_of(m->pid);
        ck_assert_int_gt(helper, 0);
        ck_assert_int_eq(kill(helper, SIGKILL), 0);
        await(!process_lives(helper));
        fault_clear("keeper.begin");
        ck_assert_int_eq(process_wait(reader), 0);
        assert_content("copy", "sat\n");
        assert_content("runs", ".");
        world_end();
}
END_TEST

/* Frozen, with the helper: as long as it was, no time was measured. */
START_TEST(test_a_pause)
{
        pid_t reader, pid, helper;
        unsigned id;

        planned_world();
        mount_start("mnt", NULL);
        id = waiting_case("a.smt2", "print sat");
        reader = reader_start(cell(id, "result"), "copy");
        pid = await_run(1);
        helper = parent_of(pid);
        ck_assert_int_eq(kill(helper, SIGSTOP) + kill(pid, SIGSTOP), 0);
        sleep(3); /* what counts as a pause, and more */
        assert_shell("rm pid; touch go");
        ck_assert_int_eq(kill(pid, SIGCONT) + kill(helper, SIGCONT), 0);
        ck_assert_int_eq(process_wait(reader), 0);
        assert_content("runs", "..");
        ck_assert(number(cell(id, "time")) < 2);
        world_end();
}
END_TEST

/* -- lost: what a fault in memory does to us, be it sent by hand ------------------------------------------------- */

/* The same process mounts again; its readers are told, its runs end, and what was kept is there. */
START_TEST(test_a_daemon_that_is_lost)
{
        struct mount *m;
        pid_t reader, run;
        unsigned id, kept;
        int error;

        planned_world();
        world_expects("begins anew|dead mount|found damaged|was set aside|from its journal");
        m = mount_start("mnt", NULL);
        kept = case_add("kept.smt2", "; do print sat\n");
        assert_content(cell(kept, "result"), "sat\n");
        sleep(2); /* LOST_AGAIN_S */
        for (unsigned times = 0; times < 2; times++) {
                id = waiting_case(at("%u.smt2", times), "print sat");
                reader = reader_start(cell(id, "result"), "copy");
                run = await_run(1);
                ck_assert_int_eq(kill(m->pid, times ? SIGABRT : SIGSEGV), 0);
                error = process_wait(reader);
                ck_assert_msg(error == ECONNABORTED || error == ENOTCONN, "%d", error);
                await(!process_lives(run));
                await(open_error(cell(kept, "result")) == 0); /* not the dead mount, nor the folder below it */
                ck_assert(process_runs(m->pid));
                assert_content(cell(kept, "result"), "sat\n");
                assert_content(at("mnt/tiny/cached/HEAD/cases/%u/result", kept), "sat\n");
                write_whole("go", "");
                assert_content(cell(id, "result"), "sat\n");
                sleep(2);
        }
        mount_stop(m);
        assert_shell("solverfs gc"); /* what one that is killed leaves */
        world_end();
}
END_TEST

/* Once it begins anew, and nobody sees it; the second time it says so. */
START_TEST(test_a_command_that_is_lost)
{
        unsigned id;
        pid_t command;

        planned_world();
        world_expects("found damaged|was set aside|from its journal");
        mount_start("mnt", NULL);
        for (unsigned times = 1; times <= 2; times++) {
                id = waiting_case(at("%u.smt2", times), "print sat");
                command = shell_start("exec solverfs run -q tiny HEAD %u --print result > out 2> err", id);
                for (unsigned n = 1; n <= times; n++) {
                        pid_t run = await_run(n);

                        assert_shell("rm pid");
                        ck_assert_int_eq(kill(command, SIGSEGV), 0);
                        await(!process_lives(run));
                }
                if (times == 1) {
                        write_whole("go", "");
                        ck_assert_int_eq(process_wait(command), 0);
                        assert_content("out", "sat\n");
                } else {
                        ck_assert_int_eq(process_wait(command), 8);
                        assert_content("out", "");
                        assert_shell("grep -q 'run the command again' err");
                }
        }
        assert_shell("solverfs fsck || solverfs fsck");
        assert_shell("solverfs gc"); /* what one that is killed leaves */
        world_end();
}
END_TEST

/* The machine has no memory left: here a group of processes, which the kernel treats alike. */
static char group[64];

__attribute__((constructor)) static void group_name(void)
{
        snprintf(group, sizeof(group), "/sys/fs/cgroup%s/solverfs-test-%d", exists("/sys/fs/cgroup/memory/memory.limit_in_bytes") ? "/memory" : "",
                 (int)getpid());
}

/* By a test's process, or by the suite's, when what that test started has ended. */
__attribute__((destructor)) static void group_remove(void)
{
        rmdir(group);
}

/* Of version 1, or of version 2 where the machine counts memory already. */
static bool group_make(void)
{
        return shell("cd $(dirname %s) && if [ -e memory.limit_in_bytes ]; then mkdir %s && echo 64m > %s/memory.limit_in_bytes; "
                     "else grep -qw memory cgroup.subtree_control && mkdir %s && cd %s && echo 64m > memory.max && { [ ! -e memory.swap.max ] || "
                     "echo 0 > memory.swap.max; }; fi",
                     group, group, group, group, group) == 0;
}

START_TEST(test_no_memory)
{
        struct mount *m;
        unsigned id;

        SKIP_UNLESS(!TEST_SANITIZED, "no sanitizer, which needs more than the group has");
        SKIP_UNLESS(group_make(), "a group of cgroups for memory");
        planned_world();
        world_expects("for want of memory");
        m = mount_start("mnt", NULL);
        id = waiting_case("a.smt2", "allocate 200\n; do print sat");
        write_whole("go", "");
        assert_shell("echo %d > %s/cgroup.procs", (int)m->pid, group); /* and all that it starts; a solver is chosen first */
        ck_assert_int_eq(open_error(cell(id, "result")), EIO);
        assert_content("runs", "..");
        assert_shell("echo %d > %s/../cgroup.procs", (int)m->pid, group);
        assert_content(cell(id, "result"), "sat\n");
        assert_content("runs", "...");
        world_end();
}
END_TEST

MOUNT_SUITE("mount_killed", {test_builds}, {test_runs}, {test_helpers}, {test_a_helper_that_ends_before_a_run}, {test_a_pause},
            {test_a_daemon_that_is_lost}, {test_a_command_that_is_lost},
            {test_no_memory, NEEDS_ROOT})
