#include "tests/support/descendants.h"
#include "tests/support/test.h"
#include "tests/support/toy_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "cache/base/helper.h"
#include "core/sandbox/exec_wire.h"
#include "core/sandbox/execute.h"
#include "core/sandbox/sandbox.h"

/* test_keeper.c runs all this over a sandbox that is kept. */
#ifndef EXECUTE_TESTED
#define EXECUTE_TESTED execute
#define EXECUTE_ALONE
static bool looks_around;
#endif

/* The misbehaving program (attacker.c) lies beside this one. Both are seen inside as /test/… */
static char attacker[PATH_SIZE], scratch[PATH_SIZE];

static const struct execute_request usual = {
        .scratch = scratch,
        .sandbox = SANDBOX_BWRAP,
        .wall_ns = 120 * NSEC_PER_SEC,
        .cpu_ns = 120 * NSEC_PER_SEC,
        .memory = 1 << 30,
        .file_size = 1 << 30,
        .processes = 64,
        .out = {.keep = 1 << 20, .most = 1 << 20},
        .err = {.keep = 1 << 20, .most = 1 << 20},
        .slot = 700,
        .cancel_fd = -1,
};

static void find_attacker(void)
{
        const char *path = getenv("SOLVERFS_ATTACKER");

        if (scratch[0] != '\0')
                return;
        ck_assert_msg(path && strlen(path) < sizeof(attacker), "$SOLVERFS_ATTACKER says where the program attacker is");
        strcpy(attacker, path);
        ck_assert_ptr_nonnull(getcwd(scratch, sizeof(scratch) - 10));
        strcat(scratch, "/scratch");
        ck_assert_int_eq(mkdir(scratch, 0700), 0);
}

/* Runs `attacker WORDS…` (words split at blanks) or, when they begin with '/', that program. */
static int run_error(const struct execute_request *like, const char *words, struct execute_result *ret)
{
        char text[2048], *argv[40], *save = NULL;
        const struct bind bind = {.source = attacker, .target = "/test/attacker"};
        struct bind binds[8] = {bind};
        struct execute_request q = *like;
        size_t n = 0;

        find_attacker();
        snprintf(text, sizeof(text), "%s%s", words[0] == '/' ? "" : "/test/attacker ", words);
        for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
                argv[n++] = word;
        argv[n] = NULL;
        q.argv = argv;
        for (size_t i = 0; i < q.n_binds; i++)
                binds[i + 1] = q.binds[i];
        q.binds = binds;
        q.n_binds++;
        return EXECUTE_TESTED(&q, ret);
}

static struct execute_result run_like(const struct execute_request *like, const char *words)
{
        struct execute_result r = {0};

        assert_ok(run_error(like, words, &r));
        return r;
}

static struct execute_result run(const char *words)
{
        return run_like(&usual, words);
}

static char *text_of(const struct blob *b)
{
        static char text[1 << 16];

        ck_assert_uint_lt(b->size, sizeof(text));
        if (b->size > 0)
                memcpy(text, b->data, b->size);
        text[b->size] = '\0';
        return text;
}

#define assert_end(r, e, c)                              \
        do {                                             \
                ck_assert_int_eq((int)(r)->end, (int)e); \
                ck_assert_int_eq((r)->code, c);          \
        } while (0)
#define assert_says(blob, part) ck_assert_msg(strstr(text_of(blob), part), "no '%s' in: %s", part, text_of(blob))

static struct execute_request bare(void)
{
        struct execute_request q = usual;

        q.sandbox = SANDBOX_NONE;
        return q;
}

/* -- ends -- */

START_TEST(test_exit_and_signal)
{
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                struct execute_result r = run_like(&q, "exit 0");

                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_gt(r.wall_ns, 0);
                ck_assert_uint_gt(r.memory, 0);
                ck_assert_str_eq(r.method, "rusage");
                execute_result_done(&r);
                r = run_like(&q, "exit 42");
                assert_end(&r, END_EXIT, 42);
                r = run_like(&q, "crash 11");
                assert_end(&r, END_SIGNAL, SIGSEGV);
                r = run_like(&q, "crash 9");
                assert_end(&r, END_SIGNAL, SIGKILL);
                r = run_like(&q, "crash 24"); /* by a limit on CPU time of its own */
                assert_end(&r, END_SIGNAL, SIGXCPU);
        }
}
END_TEST

START_TEST(test_not_executable)
{
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                struct execute_result r = run_like(&q, "/usr/no-such-program");

                assert_end(&r, END_NOEXEC, ENOENT);
                r = run_like(&q, "/etc/passwd");
                assert_end(&r, END_NOEXEC, EACCES);
        }
}
END_TEST

START_TEST(test_a_name_is_looked_for_in_the_path)
{
        static const struct {
                const char *name, *path;
                int end, code;
        } rows[] = {
                {"true", NULL, END_EXIT, 0},
                {"true", "PATH=/nowhere:/etc:/usr/bin", END_EXIT, 0},
                {"true", "PATH=/etc", END_NOEXEC, ENOENT},
                {"passwd", "PATH=/etc", END_NOEXEC, EACCES},
                {"no-such-program", NULL, END_NOEXEC, ENOENT},
        };

        find_attacker();
        for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
                const struct bind bind = {.source = attacker, .target = "/test/attacker"}; /* looks around behind each run */
                struct execute_request q = i % 2 == 0 ? usual : bare();
                char *argv[] = {(char *)rows[i / 2].name, NULL}, *environment[] = {(char *)rows[i / 2].path, NULL};
                struct execute_result r = {0};

                q.argv = argv;
                q.environment = environment;
                q.binds = &bind;
                q.n_binds = 1;
                assert_ok(EXECUTE_TESTED(&q, &r));
                assert_end(&r, rows[i / 2].end, rows[i / 2].code);
                execute_result_done(&r);
        }
}
END_TEST

START_TEST(test_what_cannot_be_tried)
{
        struct execute_request q = usual;
        struct execute_result r;
        const struct bind absent = {.source = "/no/such/file", .target = "/x"};

        q.directory = "/no/such/folder";
        assert_error(run_error(&q, "exit 0", &r), ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(-ENOENT), "working directory"));
        q.directory = NULL;
        q.binds = &absent;
        q.n_binds = 1;
        assert_error(run_error(&q, "exit 0", &r), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "/no/such/file"), "%s", error_message(-EIO));
        setenv("SOLVERFS_EXEC", "/etc/passwd", 1);
        assert_error(run_error(&usual, "exit 0", &r), ENODEV);
        setenv("SOLVERFS_EXEC", "/usr/bin/false", 1); /* not the helper */
        assert_error(run_error(&usual, "exit 0", &r), EIO);
        unsetenv("SOLVERFS_EXEC");
}
END_TEST

/* A copy of the helper whose messages begin with another number. */
static void make_another_version(const char *path)
{
        uint32_t other = exec_magic + 1;
        char helper[PATH_SIZE];
        void *at;
        cleanup_blob struct blob bytes = {0};

        assert_ok(helper_path("solverfs-exec", "core/sandbox", "SOLVERFS_EXEC", helper));
        assert_ok(read_file(helper, SIZE_MAX, &bytes));
        for (size_t n = 0; (at = memmem(bytes.owned, bytes.size, &exec_magic, sizeof(exec_magic))) || n == 0; n++) {
                ck_assert_ptr_nonnull(at);
                memcpy(at, &other, sizeof(other));
        }
        assert_ok(write_file_atomic(path, bytes.data, bytes.size, 0700));
}

START_TEST(test_helper_of_another_version)
{
        const struct execute_request naked = bare();
        char path[PATH_SIZE + 16];
        struct execute_result r;

        find_attacker();
        snprintf(path, sizeof(path), "%s-other-exec", scratch);
        make_another_version(path);
        setenv("SOLVERFS_EXEC", path, 1);
        for (int i = 0; i < 2; i++) {
                assert_error(run_error(i == 0 ? &usual : &naked, "exit 0", &r), EIO);
                ck_assert_msg(strstr(error_message(-EIO), "of another version"), "%s", error_message(-EIO));
        }
        unsetenv("SOLVERFS_EXEC");
        ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* -- what it sees -- */

START_TEST(test_environment)
{
        char *environment[] = {(char *)"EXTRA=/scratch/x", (char *)"LANG=de", NULL};
        struct execute_request q = usual;
        struct execute_result r;

        setenv("USER", "somebody", 1);
        q.environment = environment;
        r = run_like(&q, "where");
        assert_end(&r, END_EXIT, 0);
        assert_says(&r.out, "directory /scratch\n");
        assert_says(&r.out, "HOME /scratch\n");
        assert_says(&r.out, "TMPDIR /scratch\n");
        assert_says(&r.out, "PATH /usr/local/bin:/usr/bin:/bin\n");
        assert_says(&r.out, "LANG de\n");
        assert_says(&r.out, "EXTRA /scratch/x\n");
        assert_says(&r.out, "USER -\n");
        assert_says(&r.out, "core-dump 0\n");
        if (geteuid() == 0)
                ck_assert_ptr_null(strstr(text_of(&r.out), "uid 0\n"));
        execute_result_done(&r);
        q.sandbox = SANDBOX_NONE;
        r = run_like(&q, "where");
        ck_assert_ptr_null(strstr(text_of(&r.out), " /scratch"));
        assert_says(&r.out, scratch); /* instead */
        execute_result_done(&r);
}
END_TEST

/* CMake and others ask access() before they open: without a sandbox both say the same. */
START_TEST(test_access_says_what_open_does)
{
        struct execute_request q = bare();
        char path[] = "/tmp/solverfs-ours-XXXXXX", command[64]; /* words of a command have no quotes, so no blank in it */
        struct execute_result r;
        cleanup_close int fd = -1;

        find_attacker();
        fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        snprintf(command, sizeof(command), "access %s", path);
        r = run_like(&q, command);
        assert_end(&r, END_EXIT, 0);
        execute_result_done(&r);
        unlink(path);
}
END_TEST

START_TEST(test_cores)
{
        struct execute_request q = usual;
        struct execute_result r;
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        q.cpus = &one;
        r = run_like(&q, "where");
        assert_says(&r.out, "cores 1\n");
        execute_result_done(&r);
}
END_TEST

START_TEST(test_input_and_output)
{
        struct execute_request q = usual;
        char path[PATH_SIZE + 16];
        struct execute_result r;

        find_attacker();
        snprintf(path, sizeof(path), "%s-input", scratch);
        assert_ok(write_file_atomic(path, "hello\n", 6, 0644));
        q.binds = &(struct bind){.source = path, .target = "/case/input"};
        q.n_binds = 1;
        q.input = "/case/input";
        r = run_like(&q, "copy");
        ck_assert_str_eq(text_of(&r.out), "hello\n");
        execute_result_done(&r);
        q.input = "/case/none";
        assert_error(run_error(&q, "copy", &r), ENOENT);
        r = run("copy"); /* /dev/null */
        assert_end(&r, END_EXIT, 0);
        ck_assert_uint_eq(r.out_size, 0);
        execute_result_done(&r);
        r = run("both");
        ck_assert_str_eq(text_of(&r.out), "out\n");
        ck_assert_str_eq(text_of(&r.err), "err\n");
        execute_result_done(&r);
        q = usual;
        q.merge = true;
        r = run_like(&q, "both");
        ck_assert_str_eq(text_of(&r.out), "out\nerr\n");
        ck_assert_uint_eq(r.err.size, 0);
        execute_result_done(&r);
        r = run("nuls");
        ck_assert_uint_eq(r.out.size, 11);
        ck_assert_int_eq(memcmp(r.out.data, "sat\0\n\0unsat", 11), 0);
        execute_result_done(&r);
}
END_TEST

START_TEST(test_binds)
{
        char one[PATH_SIZE + 16], two[PATH_SIZE + 16], made[PATH_SIZE + 32];
        struct execute_request q = usual;
        struct execute_result r;
        struct stat st;

        find_attacker();
        snprintf(one, sizeof(one), "%s-ro", scratch);
        snprintf(two, sizeof(two), "%s-rw", scratch);
        assert_ok(make_dirs(two, 0700));
        assert_ok(write_file_atomic(one, "case", 4, 0600)); /* ours only, and yet it must be readable to the slot's user */
        const struct bind binds[] = {{.source = one, .target = "/case/input"},
                                     {.source = two, .target = "/build", .writable = true}};
        q.binds = binds;
        q.n_binds = 2;
        q.directory = "/build";
        r = run_like(&q, "read /case/input");
        ck_assert_str_eq(text_of(&r.out), "/case/input: ok\n");
        execute_result_done(&r);
        r = run_like(&q, "write /case/input /build/new /case/x");
        assert_says(&r.out, "\n/build/new: ok\n");
        ck_assert_ptr_null(strstr(text_of(&r.out), "/case/input: ok"));
        ck_assert_ptr_null(strstr(text_of(&r.out), "/case/x: ok"));
        execute_result_done(&r);
        snprintf(made, sizeof(made), "%s/new", two);
        ck_assert_int_eq(stat(made, &st), 0);
        q.slot++; /* another user's turn */
        r = run_like(&q, "write /build/new");
        ck_assert_str_eq(text_of(&r.out), "/build/new: ok\n");
        execute_result_done(&r);
}
END_TEST

START_TEST(test_shared_bind)
{
        const struct bind cache = {.source = "cache", .target = "/cache", .shared = true};
        struct execute_request q = usual;
        struct bind absolute = cache;
        char path[PATH_SIZE + 16];
        struct execute_result r;

        find_attacker();
        snprintf(path, sizeof(path), "%s-cache", scratch);
        assert_ok(make_dirs(path, 0700));
        absolute.source = path;
        q.binds = &absolute;
        q.n_binds = 1;
        for (int i = 0; i < 3; i++) { /* each writes what the one before has made */
                q.slot = (unsigned)i;
                r = run_like(&q, "/bin/sh -c mkdir$IFS-p$IFS/cache/a;echo$IFS$$>>/cache/a/f;echo$IFS$$>/cache/g");
                assert_end(&r, END_EXIT, 0);
                execute_result_done(&r);
        }
}
END_TEST

/* -- what we have from whoever started us -- */

/* What a shell's ulimit, nice, chrt, setarch, trap and umask leave behind, as far as anybody may. */
static void be_started_oddly(void)
{
        const struct sched_param none = {0};
        sigset_t some;

        for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
                static const int kept[] = {RLIMIT_CPU, RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_DATA};
                struct rlimit l;
                bool keep = false;

                for (size_t k = 0; k < ARRAY_SIZE(kept); k++)
                        keep |= kept[k] == i;
                ck_assert_int_eq(getrlimit((__rlimit_resource_t)i, &l), 0);
                l.rlim_cur = i == RLIMIT_STACK ? MIN(l.rlim_max, 1u << 20) : keep ? l.rlim_cur : 0; /* the soft ones */
                ck_assert_int_eq(setrlimit((__rlimit_resource_t)i, &l), 0);
        }
        ck_assert_int_ne(personality(ADDR_NO_RANDOMIZE), -1);
        if (geteuid() == 0) { /* another user may not go back */
                ck_assert_int_eq(sched_setscheduler(0, SCHED_IDLE, &none), 0);
                ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, 15), 0);
        }
        prctl(PR_SET_TIMERSLACK, 1000000);
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
        signal(SIGUSR1, SIG_IGN);
        signal(SIGPIPE, SIG_IGN);
        sigemptyset(&some);
        sigaddset(&some, SIGTERM);
        sigprocmask(SIG_BLOCK, &some, NULL);
        umask(geteuid() == 0 ? 0777 : 0077); /* another user cannot use what it makes then */
}

/* The limit of processes on the bare machine without root is that of a run plus what the user has anyway, other tests' among them. */
static char *told_surroundings(const struct execute_result *r)
{
        char *text = text_of(&r->out), *processes = strstr(text, "limit 6: ");

        ck_assert_ptr_nonnull(processes);
        if (geteuid() != 0)
                memset(processes, '-', strcspn(processes, "\n"));
        return text;
}

START_TEST(test_surroundings)
{
        char expected[2][4096];
        struct execute_result r;
        struct rlimit signals;

        for (int i = 0; i < 4; i++) { /* sandboxed and bare, before and after */
                struct execute_request q = i % 2 == 0 ? usual : bare();

                q.timed = true;
                if (i == 2)
                        be_started_oddly();
                r = run_like(&q, "surroundings");
                assert_end(&r, END_EXIT, 0);
                if (i < 2)
                        strcpy(expected[i], told_surroundings(&r));
                else
                        ck_assert_str_eq(told_surroundings(&r), expected[i - 2]);
                assert_says(&r.out, "class 0 nice 0 personality 0 umask 022 slack 50000\n");
                assert_says(&r.out, "THP_enabled:\t1\n");
                assert_says(&r.out, "SigIgn:\t0000000000000000\n");
                assert_says(&r.out, "limit 3: 8388608 8388608\n"); /* the stack */
                execute_result_done(&r);
        }
        /* Check takes another clock at the end than at the start where it can make no timer, and that needs a signal. */
        ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &signals), 0);
        signals.rlim_cur = signals.rlim_max;
        ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &signals), 0);
}
END_TEST

START_TEST(test_stack_limit)
{
        struct execute_request q = usual;
        struct execute_result r = run_like(&q, "recurse 6");

        assert_end(&r, END_EXIT, 0);
        execute_result_done(&r);
        r = run_like(&q, "recurse 9");
        assert_end(&r, END_SIGNAL, SIGSEGV);
        execute_result_done(&r);
        q.stack = 32 << 20;
        r = run_like(&q, "recurse 30");
        assert_end(&r, END_EXIT, 0);
        execute_result_done(&r);
}
END_TEST

static bool may_raise_limits(void)
{
        const struct rlimit low = {.rlim_cur = 100, .rlim_max = 100};
        struct rlimit high = {.rlim_cur = 100, .rlim_max = 200};

        return setrlimit(RLIMIT_LOCKS, &low) == 0 && setrlimit(RLIMIT_LOCKS, &high) == 0;
}

/* A hard limit that is lower than what the run is to have: either it does not count, or the run is refused. */
START_TEST(test_hard_limits)
{
        static const struct {
                int resource;
                const char *name;
        } rows[] = {
                {RLIMIT_STACK, "'stack'"}, {RLIMIT_DATA, "'data'"}, {RLIMIT_NOFILE, "'open-files'"}, {RLIMIT_CPU, "'cputime'"}};
        bool may_raise = may_raise_limits();

        find_attacker();
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                const uint64_t low = rows[i].resource == RLIMIT_NOFILE ? 512 : rows[i].resource == RLIMIT_CPU ? 20 : 512 << 20;
                struct execute_request q = usual;
                struct execute_result r;
                pid_t pid;
                int status;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) /* which reserve terabytes themselves */
                if (rows[i].resource == RLIMIT_AS || rows[i].resource == RLIMIT_DATA)
                        continue;
#endif
                q.stack = UINT64_C(1) << 30;
                q.memory = UINT64_C(2) << 30;
                pid = fork();
                if (pid == 0) {
                        const struct rlimit l = {.rlim_cur = low, .rlim_max = low};

                        ck_assert_int_eq(setrlimit((__rlimit_resource_t)rows[i].resource, &l), 0);
                        if (may_raise) {
                                assert_ok(run_error(&q, "exit 0", &r));
                        } else {
                                assert_error(run_error(&q, "exit 0", &r), EIO);
                                ck_assert_msg(strstr(error_message(-EIO), rows[i].name), "%s", error_message(-EIO));
                        }
                        _exit(0);
                }
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_int_eq(status, 0);
        }
}
END_TEST

/* Nobody but root may go back from 15 to 0. */
START_TEST(test_niceness_that_cannot_be_left)
{
        struct execute_request q = usual;
        struct execute_result r;

        if (geteuid() == 0)
                return;
        q.timed = true;
        ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, 15), 0);
        assert_error(run_error(&q, "exit 0", &r), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "niceness"), "%s", error_message(-EIO));
}
END_TEST

/* -- limits -- */

START_TEST(test_wall_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.wall_ns = 100 * NSEC_PER_MSEC;
        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "wait");
                ck_assert_int_eq(r.end, END_TIMEOUT);
                ck_assert_uint_ge(r.wall_ns, q.wall_ns);
                r = run_like(&q, "ignore");
                ck_assert_int_eq(r.end, END_TIMEOUT);
                r = run_like(&q, "headless 1 0");
                ck_assert_int_eq(r.end, END_TIMEOUT);
                r = run_like(&q, "stop");
                ck_assert_int_eq(r.end, END_TIMEOUT);
                ck_assert_str_eq(text_of(&r.out), "sat\n");
                execute_result_done(&r);
                q.sandbox = SANDBOX_NONE;
        }
}
END_TEST

START_TEST(test_cpu_limit_of_the_tree)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.cpu_ns = 200 * NSEC_PER_MSEC;
        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "children 4 0.15"); /* none of them uses as much */
                ck_assert_int_eq(r.end, END_TIMEOUT);
                r = run_like(&q, "children 60 0.5"); /* and all together far more: they are ended on the way */
                ck_assert_int_eq(r.end, END_TIMEOUT);
                ck_assert_uint_lt(r.user_ns + r.system_ns, 15 * NSEC_PER_SEC);
                r = run_like(&q, "threads");
                ck_assert_int_eq(r.end, END_TIMEOUT);
                ck_assert_uint_ge(r.user_ns + r.system_ns, q.cpu_ns);
                q.sandbox = SANDBOX_NONE;
        }
}
END_TEST

START_TEST(test_cpu_of_the_tree)
{
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                struct execute_result r = run_like(&q, "children 3 0.1");

                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_ge(r.user_ns + r.system_ns, 290 * NSEC_PER_MSEC);
                r = run_like(&q, "daemonize 0.3"); /* of a session of its own, whose parent has gone */
                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_ge(r.user_ns + r.system_ns, 290 * NSEC_PER_MSEC);
                ck_assert_uint_eq(r.killed, 0);
                execute_result_done(&r);
        }
}
END_TEST

START_TEST(test_memory)
{
        struct execute_request q = usual;
        struct execute_result r;

        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "touch 100 0");
                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_ge(r.memory, 100 << 20);
                ck_assert_uint_lt(r.memory, 110 << 20);
                execute_result_done(&r);
                q.sandbox = SANDBOX_NONE;
        }
}
END_TEST

START_TEST(test_memory_is_not_the_callers)
{
        size_t size = 300 << 20;
        struct execute_result r;
        char *mine = malloc(size);

        ck_assert_ptr_nonnull(mine);
        memset(mine, 1, size);
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();

                r = run_like(&q, "exit 0");
                ck_assert_uint_lt(r.memory, 20 << 20);
        }
        ck_assert_int_eq(mine[size - 1], 1);
        free(mine);
}
END_TEST

START_TEST(test_memory_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.memory = 100 << 20;
        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "grow");
                ck_assert_int_eq(r.end, END_MEMORY);
                execute_result_done(&r);
                r = run_like(&q, "grow-children 4 40"); /* together more, each less */
                ck_assert_int_eq(r.end, END_MEMORY);
                r = run_like(&q, "headless 4 40"); /* and when they look like zombies */
                ck_assert_int_eq(r.end, END_MEMORY);
                r = run_like(&q, "share 6 40"); /* what a fork shares is counted once */
                ck_assert_msg(r.end == END_EXIT, "round %d: %d, %" PRIu64 " MB", i, (int)r.end, r.memory >> 20);
                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_lt(r.memory, 100 << 20);
                execute_result_done(&r);
                q.sandbox = SANDBOX_NONE;
        }
}
END_TEST

START_TEST(test_process_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.processes = 20;
        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "many 5");
                assert_end(&r, END_EXIT, 0);
                ck_assert_str_eq(text_of(&r.out), "5\n");
                ck_assert_uint_eq(r.killed, 5);
                execute_result_done(&r);
                /* Without a sandbox the limit counts what else our user runs, other tests too: these may take what was left. */
                for (int again = 0; again < 20; again++) {
                        r = run_like(&q, "many 100");
                        if (r.end == END_PROCESSES || q.sandbox != SANDBOX_NONE || geteuid() == 0)
                                break;
                        execute_result_done(&r);
                }
                ck_assert_int_eq(r.end, END_PROCESSES);
                execute_result_done(&r);
                r = run_like(&q, "fork-bomb fail");
                ck_assert_msg(r.end == END_PROCESSES, "end %d code %d sandbox %d killed %u", (int)r.end, r.code, (int)q.sandbox,
                              r.killed);
                if (geteuid() == 0 && !sandbox_has_users())
                        break; /* bare, no limit would hold, and this machine has others to serve */
                q.sandbox = SANDBOX_NONE;
        }
        q = usual;
        q.processes = 20;
        q.cpu_ns = 300 * NSEC_PER_MSEC;
        r = run_like(&q, "fork-bomb"); /* which goes on trying */
        ck_assert_int_eq(r.end, END_TIMEOUT);
}
END_TEST

/* A signal that others send is none of a limit, however near that is: it is doubted, and not kept as the program's own end. */
START_TEST(test_killed_near_a_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.memory = 100 << 20;
        r = run_like(&q, "fill-and-crash 94 9");
        assert_end(&r, END_SIGNAL, SIGKILL);
        ck_assert_int_eq(r.doubt, DOUBT_SIGNAL);
        execute_result_done(&r);
        r = run_like(&q, "fill-and-crash 94 6"); /* as after a malloc() that failed */
        ck_assert_int_eq(r.end, END_MEMORY);
        execute_result_done(&r);
        for (q = usual, q.processes = 1; q.processes <= 2; q.processes++) {
                r = run_like(&q, "crash 11");
                assert_end(&r, END_SIGNAL, SIGSEGV);
                execute_result_done(&r);
        }
}
END_TEST

/* Many are in the middle of a fork when the first one fails: those count for the kernel, and are not yet there for who looks. */
START_TEST(test_process_limit_in_the_middle_of_forks)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.processes = 40;
        q.memory = UINT64_C(16) << 30;
        for (int i = 0; i < (looks_around ? 1 : 4); i++) { /* once in four it meets enough of them */
                r = run_like(&q, "fork-bomb fail 200");
                ck_assert_msg(r.end == END_PROCESSES, "end %d code %d killed %u", (int)r.end, r.code, r.killed);
                execute_result_done(&r);
        }
}
END_TEST

START_TEST(test_output_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.out = (struct capture_limit){.keep = 4096, .most = 100000};
        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "print 100000000000");
                ck_assert_int_eq(r.end, END_OUTPUT);
                ck_assert_uint_gt(r.out_size, 100000);
                ck_assert_uint_lt(r.out.size, 4096 + 64);
                execute_result_done(&r);
                r = run_like(&q, "print 100001"); /* it has ended before that is seen */
                ck_assert_int_eq(r.end, END_OUTPUT);
                execute_result_done(&r);
                r = run_like(&q, "print 100000");
                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_eq(r.out_size, 100000);
                execute_result_done(&r);
                q.sandbox = SANDBOX_NONE;
        }
        q.err = q.out;
        r = run_like(&q, "print 200000 2");
        ck_assert_int_eq(r.end, END_OUTPUT);
        execute_result_done(&r);
}
END_TEST

START_TEST(test_cut)
{
        static const uint64_t sizes[] = {0, 1, 499, 500, 501, 999, 1000, 1001, 1002, 1500, 65536, 70001, 300000};
        struct execute_request q = bare();

        q.out = (struct capture_limit){.keep = 1000};
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                char words[64], mark[64], expected[2000];
                struct execute_result r;
                size_t n = 0;

                snprintf(words, sizeof(words), "print %d", (int)sizes[i]);
                r = run_like(&q, words);
                assert_end(&r, END_EXIT, 0);
                ck_assert_uint_eq(r.out_size, sizes[i]);
                for (uint64_t k = 0; k < sizes[i]; k++) {
                        if (sizes[i] > 1000 && k == 500) {
                                n += (size_t)snprintf(mark, sizeof(mark), "\n[... %d bytes cut ...]\n", (int)sizes[i] - 1000);
                                memcpy(expected + 500, mark, strlen(mark));
                                k = sizes[i] - 500;
                        }
                        expected[n++] = (char)('a' + k % 65536 % 16);
                }
                ck_assert_uint_eq(r.out.size, n);
                ck_assert_int_eq(memcmp(r.out.data, expected, n), 0);
                ck_assert_uint_eq(r.out_cut, sizes[i] > 1000 ? 500 : 0);
                execute_result_done(&r);
        }
}
END_TEST

START_TEST(test_scratch_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.file_size = 8 << 20;
        for (int i = 0; i < 2; i++) {
                r = run_like(&q, "fill 1 9"); /* one file too large */
                ck_assert_int_eq(r.end, END_OUTPUT);
                assert_ok(remove_tree(scratch));
                ck_assert_int_eq(mkdir(scratch, 0700), 0);
                r = run_like(&q, "fill 100 4"); /* many small ones in folders it has locked */
                ck_assert_int_eq(r.end, END_OUTPUT);
                execute_result_done(&r);
                assert_ok(remove_tree(scratch));
                ck_assert_int_eq(mkdir(scratch, 0700), 0);
                r = run_like(&q, "fill 4 4 stay"); /* it is not waited for until it ends */
                ck_assert_int_eq(r.end, END_OUTPUT);
                execute_result_done(&r);
                assert_ok(remove_tree(scratch));
                ck_assert_int_eq(mkdir(scratch, 0700), 0);
                r = run_like(&q, "fill 1 4");
                assert_end(&r, END_EXIT, 0);
                execute_result_done(&r);
                assert_ok(remove_tree(scratch));
                ck_assert_int_eq(mkdir(scratch, 0700), 0);
                q.sandbox = SANDBOX_NONE;
        }
}
END_TEST

/* -- what must not be possible -- */

START_TEST(test_descendants_do_not_delay_the_answer)
{
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                struct execute_result r;

                q.wall_ns = 10 * NSEC_PER_SEC;
                r = run_like(&q, "daemonize 0 stay"); /* holding its output open for ever */
                assert_end(&r, END_EXIT, 0);
                ck_assert_str_eq(text_of(&r.out), "sat\n");
                ck_assert_uint_eq(r.killed, 1);
                execute_result_done(&r);
        }
}
END_TEST

/* More orphans end than the helper can reap: all limits hold, and the end of the program ends them. */
START_TEST(test_orphans_without_end)
{
        struct execute_request q = usual;
        struct execute_result r;
        uint64_t began = now_ns();

        q.wall_ns = NSEC_PER_SEC;
        r = run_like(&q, "flood");
        ck_assert_int_eq(r.end, END_TIMEOUT);
        execute_result_done(&r);
        q.wall_ns = 100 * NSEC_PER_SEC;
        q.cpu_ns = NSEC_PER_SEC;
        r = run_like(&q, "flood");
        ck_assert_int_eq(r.end, END_TIMEOUT);
        execute_result_done(&r);
        q.cpu_ns = 0;
        r = run_like(&q, "flood sat");
        assert_end(&r, END_EXIT, 0);
        ck_assert_str_eq(text_of(&r.out), "sat\n");
        execute_result_done(&r);
        ck_assert_uint_lt(now_ns() - began, 60 * NSEC_PER_SEC);
}
END_TEST

/* Whatever we are ourselves, it is bound like this. */
START_TEST(test_bounds)
{
        key_t key = 0x50000000 | getpid(); /* another suite may be at it */
        int segment = shmget(key, 4096, IPC_CREAT | 0666);
        char command[32];

        signal(SIGPIPE, SIG_IGN);
        signal(SIGUSR1, SIG_IGN);
        umask(0);
        snprintf(command, sizeof(command), "bounds %d", key);
        if (geteuid() == 0)
                ck_assert_int_eq(setgroups(1, &(gid_t){4}), 0);
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                struct execute_result r;

                q.cpu_ns = 7 * NSEC_PER_SEC;
                q.memory = 300 << 20;
                q.file_size = 5 << 20;
                q.processes = 9;
                r = run_like(&q, command);
                assert_end(&r, END_EXIT, 0);
                assert_says(&r.out, "NoNewPrivs:\t1\n");
                assert_says(&r.out, "SigBlk:\t0000000000000000\n");
                ck_assert_uint_eq(strtoull(strstr(text_of(&r.out), "SigIgn:") + 7, NULL, 16) & 0x7fffffff,
                                  0); /* 32 and 33 are libc's */
                assert_says(&r.out, "limit of core: 0 0\n");
                assert_says(&r.out, "limit of cpu: 9 10\n");
                assert_says(&r.out, "limit of space: 314572800 314572800\n");
                assert_says(&r.out, "limit of file: 5242880 5242880\n");
                assert_says(&r.out, "limit of descriptors: 1024 ");
                if (sandbox_has_users()) {
                        assert_says(&r.out, "limit of processes: 9 9\n");
                        assert_says(&r.out, "Gid:\t61184\t61184\t61184\t61184\n");
                        assert_says(&r.out, "Groups:\t \n");
                }
                assert_says(&r.out, "umask 022\n");
                assert_says(&r.out, "session of the helper\n");
                assert_says(&r.out, "group own\n");
                assert_says(&r.out, "oom 800\n");
                assert_says(&r.out, i == 0 ? "shm of the test: ENOENT\n" : "shm of the test: ok\n");
                if (i == 0) {
                        assert_says(&r.out, "CapEff:\t0000000000000000\n");
                        assert_says(&r.out, "CapAmb:\t0000000000000000\n");
                        assert_says(&r.out, "\n/: read-only\n/usr: read-only\n/etc: read-only\n/dev: read-only\n/test/attacker: "
                                            "read-only\n/.solverfs-exec: read-only\n/scratch: writable\n");
                        assert_says(&r.out, "host solverfs\n");
                        assert_says(&r.out, "/dev/fuse: ENOENT\n/dev/kmsg: ENOENT\n");
                        ck_assert_ptr_null(strstr(text_of(&r.out), "network device"));
                }
                execute_result_done(&r);
        }
        shmctl(segment, IPC_RMID, NULL);
}
END_TEST

/* Memory in /dev/shm is no process's, so the file system has the limit. */
START_TEST(test_shared_memory_limit)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.memory = 64 << 20;
        r = run_like(&q, "shm 100");
        assert_end(&r, END_EXIT, 1);
        assert_says(&r.out, "write: ENOSPC\n");
        execute_result_done(&r);
        r = run_like(&q, "shm 30");
        assert_end(&r, END_EXIT, 0);
        execute_result_done(&r);
}
END_TEST

START_TEST(test_no_network)
{
        struct execute_result r = run("reach 127.0.0.1");

        assert_says(&r.out, "connect: ECONNREFUSED\n"); /* a loopback of its own, where nobody listens */
        execute_result_done(&r);
        r = run("reach 192.0.2.1"); /* RFC 5737 */
        assert_says(&r.out, "connect: ENETUNREACH\n");
        execute_result_done(&r);
}
END_TEST

START_TEST(test_no_files_of_others)
{
        struct execute_result r;
        char words[PATH_SIZE + 64];

        find_attacker();
        assert_ok(write_file_atomic("secret", "x", 1, 0644));
        snprintf(words, sizeof(words), "read /root /home /work /var/log /sys %s/../secret", scratch);
        r = run(words);
        ck_assert_ptr_null(strstr(text_of(&r.out), ": ok\n"));
        execute_result_done(&r);
        r = run("read /etc/shadow");
        if (geteuid() == 0)
                ck_assert_str_eq(text_of(&r.out), "/etc/shadow: EACCES\n");
        execute_result_done(&r);
        r = run("write /x /usr/x /etc/x /dev/x /var/x /test/x /.solverfs-exec /proc/sys/kernel/hostname");
        ck_assert_ptr_null(strstr(text_of(&r.out), ": ok\n"));
        execute_result_done(&r);
        r = run("write /scratch/x /tmp/x /var/tmp/x /dev/shm/x");
        ck_assert_ptr_null(strstr(text_of(&r.out), "E"));
        execute_result_done(&r);
}
END_TEST

START_TEST(test_keeper_is_out_of_reach)
{
        struct execute_result r = run("keeper kill");

        assert_end(&r, END_EXIT, 0);
        assert_says(&r.out, "ptrace: EPERM\n");
        assert_says(&r.out, "mem: EACCES\n");
        assert_says(&r.out, "its descriptors: 0\n");
        assert_says(&r.out, "inherited: 0\n");
        assert_says(&r.out, "capabilities: none\n");
        ck_assert_ptr_null(strstr(text_of(&r.out), "tty: ok"));
        if (geteuid() == 0)
                assert_says(&r.out, "setuid: EPERM\n");
        execute_result_done(&r);
        struct execute_request q = bare();
        r = run_like(&q, "keeper");
        assert_says(&r.out, "ptrace: EPERM\n");
        assert_says(&r.out, "its descriptors: 0\n");
        assert_says(&r.out, "inherited: 0\n");
        execute_result_done(&r);
}
END_TEST

/* -- cancelling and killing -- */

/* Processes on the machine whose command line holds `word`. */
static unsigned count_processes(const char *word, pid_t *ret_last)
{
        DIR *d = opendir("/proc");
        unsigned n = 0;
        struct dirent *e;

        while ((e = readdir(d))) {
                char path[300], line[4096];
                ssize_t size;
                int fd;

                snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
                fd = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? open(path, O_RDONLY) : -1;
                if (fd < 0)
                        continue;
                size = read(fd, line, sizeof(line));
                close(fd);
                if (size > 0 && memmem(line, (size_t)size, word, strlen(word))) {
                        n++;
                        if (ret_last)
                                *ret_last = (pid_t)atoi(e->d_name);
                }
        }
        closedir(d);
        return n;
}

struct background {
        struct execute_request request;
        char words[200];
        struct execute_result result;
        int r;
        pthread_t thread;
};

static void *background_main(void *arg)
{
        struct background *b = arg;

        b->r = run_error(&b->request, b->words, &b->result);
        return NULL;
}

static void background_start(struct background *b, const char *command, const char *tag)
{
        find_attacker();
        snprintf(b->words, sizeof(b->words), "%s %s", command, tag);
        ck_assert_int_eq(pthread_create(&b->thread, NULL, background_main, b), 0);
}

static void tag_of(char tag[32])
{
        static int n;

        snprintf(tag, 32, "tag-%d-%d", (int)getpid(), n++);
}

static void wait_until_there(const char *tag, unsigned n, pid_t *ret)
{
        unsigned there = 0;

        for (int i = 0; i < 12000 && there < n; i++) { /* seen once is enough: one of the tree's goes as soon as it has forked */
                usleep(5000);
                there = count_processes(tag, ret);
        }
        ck_assert_uint_ge(there, n);
}

/* What was killed may take a moment to vanish from the process table. */
static void assert_nothing_left(const char *tag)
{
        for (int i = 0; i < 6000 && count_processes(tag, NULL) > 0; i++)
                usleep(10000);
        ck_assert_uint_eq(count_processes(tag, NULL), 0);
}

static pid_t parent_of(pid_t pid)
{
        char path[64], text[1024];
        ssize_t n;
        int fd;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        fd = open(path, O_RDONLY);
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        if (n <= 0)
                return 0; /* it has gone */
        text[n] = '\0';
        return (pid_t)atoi(strrchr(text, ')') + 4);
}

/* The helper of the run whose processes hold `tag`: the one that is no attacker above any of them. 0: nothing holds it any more. */
static pid_t find_helper(const char *tag)
{
        for (int i = 0; i < 100; i++) {
                char path[64], name[64] = "";
                pid_t pid = 0;
                ssize_t n;
                int fd;

                if (count_processes(tag, &pid) == 0)
                        return 0;
                do {
                        pid = parent_of(pid);
                        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
                        fd = open(path, O_RDONLY);
                        n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
                        close(fd);
                } while (n > 0 && strncmp(name, "attacker", 8) == 0);
                if (strstr(name, "solverfs-exec"))
                        return pid;
        }
        ck_abort_msg("no helper of %s", tag);
}

static pid_t helper_of(const char *tag)
{
        pid_t helper = find_helper(tag);

        ck_assert_int_ne(helper, 0);
        return helper;
}

static bool is_helper(pid_t pid)
{
        char path[64], name[64] = "";
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
        f = fopen(path, "re");
        if (f && !fgets(name, sizeof(name), f))
                name[0] = '\0';
        if (f)
                fclose(f);
        return strstr(name, "solverfs-exec") != NULL;
}

/* The uppermost: of a sandbox that is kept the keeper, whose children do the runs. */
static pid_t upper_helper_of(pid_t helper)
{
        while (is_helper(parent_of(helper)))
                helper = parent_of(helper);
        return helper;
}

/* At one moment, as far as they can tell. */
static void kill_with_helpers(pid_t caller, pid_t helper)
{
        pid_t upper = upper_helper_of(helper);

        ck_assert_int_eq(kill(helper, SIGSTOP) + kill(upper, SIGSTOP) + kill(caller, SIGKILL), 0);
        kill(upper, SIGKILL);
        kill(helper, SIGKILL); /* it may have gone with that one */
        ck_assert_int_eq(waitpid(caller, NULL, 0), caller);
}

START_TEST(test_cancel)
{
        for (int i = 0; i < 2; i++) {
                struct background b = {.request = i == 0 ? usual : bare()};
                char tag[32];
                int fds[2];

                tag_of(tag);
                ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
                b.request.cancel_fd = fds[0];
                background_start(&b, "tree", tag);
                wait_until_there(tag, 4, NULL);
                close(fds[1]); /* hung up */
                pthread_join(b.thread, NULL);
                ck_assert_int_eq(b.r, -ECANCELED);
                assert_nothing_left(tag);
                b.request.cancel_fd = fds[0]; /* cancelled before it began */
                background_start(&b, "tree", tag);
                pthread_join(b.thread, NULL);
                ck_assert_int_eq(b.r, -ECANCELED);
                assert_nothing_left(tag);
                close(fds[0]);
        }
}
END_TEST

START_TEST(test_helper_killed)
{
        for (int i = 0; i < 5; i++) { /* the helper; the keeper, if there is one; bubblewrap itself; the bare helper and keeper */
                struct background b = {.request = i < 3 ? usual : bare()};
                char tag[32];
                pid_t victim;

                tag_of(tag);
                background_start(&b, "tree", tag);
                wait_until_there(tag, 4, NULL);
                victim = helper_of(tag);
                if (i == 1 || i == 4)
                        victim = upper_helper_of(victim);
                else if (i == 2)
                        victim = parent_of(upper_helper_of(victim));
                ck_assert_int_ne(victim, getpid());
                ck_assert_int_eq(kill(victim, SIGKILL), 0);
                pthread_join(b.thread, NULL);
                ck_assert_int_eq(b.r, -EIO);
                assert_nothing_left(tag);
        }
}
END_TEST

START_TEST(test_helper_stopped)
{
        struct background b = {.request = usual};
        char tag[32];
        pid_t pid;
        int fds[2];

        tag_of(tag);
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        b.request.cancel_fd = fds[0];
        background_start(&b, "wait", tag);
        wait_until_there(tag, 1, &pid);
        ck_assert_int_eq(kill(parent_of(pid), SIGSTOP), 0);
        ck_assert_int_eq(kill(parent_of(parent_of(pid)), SIGSTOP), 0);
        close(fds[1]);
        pthread_join(b.thread, NULL);
        ck_assert_int_eq(b.r, -ECANCELED);
        assert_nothing_left(tag);
        close(fds[0]);
}
END_TEST

/* In a mount namespace of our own, a script in the place of bubblewrap. */
static void replace_bubblewrap(const char *script)
{
        umount2("/usr/bin/bwrap", MNT_DETACH); /* the one before */
        assert_ok(write_file_atomic("bwrap", script, strlen(script), 0755));
        ck_assert_int_eq(chmod("bwrap", 0755), 0);
        ck_assert_int_eq(mount("bwrap", "/usr/bin/bwrap", NULL, MS_BIND, NULL), 0);
}

START_TEST(test_bubblewrap_is_stuck)
{
        struct execute_request q = usual;
        struct execute_result r;
        struct background b;
        int fds[2];

        if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
                return;
        find_attacker();
        q.start_ns = 300 * NSEC_PER_MSEC;
        replace_bubblewrap("#!/bin/sh\nexec sleep 4321\n");
        assert_error(run_error(&q, "exit 0", &r), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "did not begin in time"), "%s", error_message(-EIO));
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0); /* a cancel does not wait for it either */
        b = (struct background){.request = q};
        b.request.start_ns = 2 * NSEC_PER_SEC;
        b.request.cancel_fd = fds[0];
        background_start(&b, "exit 0", "");
        close(fds[1]);
        pthread_join(b.thread, NULL);
        ck_assert_int_eq(b.r, -ECANCELED);
        close(fds[0]);
        replace_bubblewrap("#!/bin/sh\nkill -STOP $$\n");
        assert_error(run_error(&q, "exit 0", &r), EIO);
        /* Nobody listens to what a helper says before a run. */
        replace_bubblewrap("#!/bin/sh\necho nonsense; echo nonsense >&2; echo nonsense >&3; exec sleep 4321\n");
        assert_error(run_error(&q, "exit 0", &r), EIO);
        replace_bubblewrap("#!/bin/sh\nhead -c 1000 /dev/zero | tr '\\0' b >&3; exec sleep 4321\n");
        assert_error(run_error(&q, "exit 0", &r), EIO);
        replace_bubblewrap("#!/bin/sh\nexit 0\n");
        assert_error(run_error(&q, "exit 0", &r), EIO);
        replace_bubblewrap("no program\n");
        assert_error(run_error(&usual, "exit 0", &r), ENOEXEC);
        umount2("/usr/bin/bwrap", MNT_DETACH);
        ck_assert_int_eq(mount("/dev/null", "/usr/bin/bwrap", NULL, MS_BIND, NULL), 0);
        assert_error(run_error(&usual, "exit 0", &r), ENODEV);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

/* bubblewrap's outer half does nothing while the program runs; that it is stopped is nobody's loss. */
START_TEST(test_bubblewrap_stopped)
{
        struct background b = {.request = usual};
        char tag[32];
        pid_t pid;

        tag_of(tag);
        b.request.wall_ns = 2 * NSEC_PER_SEC; /* in which it is found and stopped on a busy machine, too */
        background_start(&b, "wait", tag);
        wait_until_there(tag, 1, &pid);
        ck_assert_int_eq(kill(parent_of(upper_helper_of(helper_of(tag))), SIGSTOP), 0);
        pthread_join(b.thread, NULL);
        assert_ok(b.r);
        ck_assert_int_eq(b.result.end, END_TIMEOUT);
        assert_nothing_left(tag);
}
END_TEST

START_TEST(test_case_is_a_pipe)
{
        char path[PATH_SIZE + 16];
        struct execute_request q = usual;
        struct execute_result r;

        find_attacker();
        snprintf(path, sizeof(path), "%s-fifo", scratch);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        ck_assert_int_eq(chmod(path, 0644), 0); /* whatever the umask */
        q.binds = &(struct bind){.source = path, .target = "/case/input"};
        q.n_binds = 1;
        q.wall_ns = 300 * NSEC_PER_MSEC;
        r = run_like(&q, "read /case/input");
        ck_assert_int_eq(r.end, END_TIMEOUT);
}
END_TEST

/* A process that runs it, to be killed. */
static pid_t caller_start(const struct execute_request *like, const char *words)
{
        struct execute_result r;
        pid_t caller;

        find_attacker();
        caller = fork();
        if (caller == 0) {
                run_error(like, words, &r);
                _exit(0);
        }
        return caller;
}

START_TEST(test_caller_killed)
{
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                char tag[32], words[64];
                pid_t caller;

                tag_of(tag);
                snprintf(words, sizeof(words), "tree %s", tag);
                caller = caller_start(&q, words);
                wait_until_there(tag, 4, NULL);
                ck_assert_int_eq(kill(caller, SIGKILL), 0);
                ck_assert_int_eq(waitpid(caller, NULL, 0), caller);
                assert_nothing_left(tag);
        }
}
END_TEST

static unsigned uid_of(pid_t pid)
{
        char path[64], line[256];
        unsigned uid = 0;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof(line), f) && sscanf(line, "Uid: %u", &uid) != 1)
                ;
        if (f)
                fclose(f);
        return uid;
}

/* Zombies that init has not fetched yet count. */
static void await_user_gone(unsigned uid)
{
        for (bool found = true; found; usleep(5000)) {
                DIR *d = opendir("/proc");
                struct dirent *e;

                found = false;
                while ((e = readdir(d)))
                        found |= atoi(e->d_name) > 0 && uid_of((pid_t)atoi(e->d_name)) == uid;
                closedir(d);
        }
}

static void kill_tagged(const char *tag)
{
        for (pid_t pid = 0; count_processes(tag, &pid) > 0;)
                kill(pid, SIGKILL);
}

/* Caller and helper die together: the program itself has no chance to stay, sandboxed or not. */
START_TEST(test_program_dies_with_its_helper)
{
        for (int i = 0; i < 2; i++) {
                struct execute_request q = i == 0 ? usual : bare();
                char tag[32], words[64];
                pid_t caller, helper;

                tag_of(tag);
                snprintf(words, sizeof(words), "wait %s", tag);
                caller = caller_start(&q, words);
                wait_until_there(tag, 1, NULL);
                helper = helper_of(tag);
                kill_with_helpers(caller, helper);
                assert_nothing_left(tag);
        }
}
END_TEST

/* A program that ends by itself beyond a limit, before anybody has looked (here the helper is stopped): it was beyond it all the same. */
START_TEST(test_ended_beyond_a_limit)
{
        uint64_t ms = 100;

        for (int i = 0; i < 4;) {
                struct background b = {.request = i < 2 ? usual : bare()};
                char tag[32], words[32];
                pid_t helper = 0;

                tag_of(tag);
                snprintf(words, sizeof(words), "burn %g", 2e-3 * (double)ms);
                *(i % 2 ? &b.request.cpu_ns : &b.request.wall_ns) = ms * NSEC_PER_MSEC;
                background_start(&b, words, tag);
                for (uint64_t k = 0; k < ms && helper == 0; k++) {
                        usleep(1000);
                        helper = find_helper(tag);
                }
                if (helper == 0) { /* a busy machine was too late for it */
                        pthread_join(b.thread, NULL);
                        execute_result_done(&b.result);
                        ms *= 2;
                        continue;
                }
                i++;
                ck_assert_int_eq(kill(helper, SIGSTOP), 0);
                while (count_processes(tag, NULL) > 0) /* what the helper has to fetch is not counted */
                        usleep(5000);
                ck_assert_int_eq(kill(helper, SIGCONT), 0);
                pthread_join(b.thread, NULL);
                assert_ok(b.r);
                ck_assert_int_eq(b.result.end, END_TIMEOUT);
        }
}
END_TEST

/* The user of a run whose caller and helper were killed at the same moment is nobody else's while something of it lives. */
START_TEST(test_user_still_in_use)
{
        struct execute_request q = bare();
        struct execute_result r;
        char tag[32], words[64];
        pid_t caller, helper, stays;

        if (!sandbox_has_users())
                return;
        q.slot = 900;
        tag_of(tag);
        snprintf(words, sizeof(words), "tree %s", tag);
        for (int i = 0; i < 2; i++) { /* as it is left; and when nothing is left of it */
                unsigned uid;

                caller = caller_start(&q, words);
                wait_until_there(tag, 4, &stays);
                helper = helper_of(tag);
                uid = uid_of(stays); /* the slot's, unless somebody else has left something there */
                kill_with_helpers(caller, helper);
                if (i == 1) {
                        kill_tagged(tag);
                        assert_nothing_left(tag);
                        await_user_gone(uid);
                        q.slot = uid - SANDBOX_UID_FIRST;
                }
                r = run_like(&q, "/usr/bin/id -ru");
                ck_assert_int_eq((unsigned)atoi(text_of(&r.out)) == uid, i == 1);
                execute_result_done(&r);
                kill_tagged(tag);
        }
}
END_TEST

/* Nor while nobody can look whether something lives. */
START_TEST(test_user_still_in_use_and_no_descriptors)
{
        struct rlimit before, one;
        uid_t uid, other;
        pid_t stays;
        int lock;

        if (!sandbox_has_users())
                return;
        assert_ok(sandbox_lease(950, &uid, &lock));
        sandbox_release(lock, false);
        stays = fork();
        if (stays == 0) {
                if (setresuid(uid, uid, uid) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
                        _exit(1);
                for (;;)
                        pause();
        }
        while (uid_of(stays) != uid)
                usleep(1000);
        lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_ok(lock);
        close(lock);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        one = (struct rlimit){.rlim_cur = (rlim_t)lock + 1, .rlim_max = before.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &one), 0);
        assert_error(sandbox_lease(uid - SANDBOX_UID_FIRST, &other, &lock), EMFILE);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        kill(stays, SIGKILL);
        ck_assert_int_eq(waitpid(stays, NULL, 0), stays);
}
END_TEST

static pid_t any_descendant(void)
{
        cleanup_free struct descendant *all = NULL;
        size_t n = descendants(getpid(), &all);

        return n > 0 ? all[(size_t)rand() % n].pid : 0;
}

static void *kill_one(void *arg)
{
        pid_t victim;

        usleep(*(useconds_t *)arg);
        victim = any_descendant();
        if (victim > 0)
                kill(victim, SIGKILL);
        return NULL;
}

/* "name state waits-in" of a process. */
static void describe_process(pid_t pid, char ret[256])
{
        char path[64], name[32] = "", state = '?', wait[64] = "";
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        f = fopen(path, "re");
        if (f && fscanf(f, "%*d (%31[^)]) %c", name, &state) == 2)
                fclose(f);
        snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
        f = fopen(path, "re");
        if (f && fscanf(f, "%63s", wait) == 1)
                fclose(f);
        snprintf(ret, 256, "%d %s %c %s", (int)pid, name, state, wait);
}

/* As a subreaper we get what lost its parent: also a bubblewrap that waits for its other half, which would stay for ever. */
static void assert_no_descendant(void)
{
        char left[256];

        for (int i = 0; i < 60000; i++) {
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
                        return;
                usleep(1000);
        }
        describe_process(any_descendant(), left);
        ck_abort_msg("a process of ours is left: %s", left);
}

START_TEST(test_killed_at_random)
{
        looks_around = false; /* that would be killed, too */
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        srand(test_seed_fresh());
        for (int i = 0; i < 60; i++) {
                useconds_t delay = (useconds_t)(rand() % 12000);
                struct execute_request q = i % 3 ? usual : bare();
                struct execute_result result = {0};
                char tag[32], words[64];
                pthread_t killer;
                int r;

                tag_of(tag);
                snprintf(words, sizeof(words), "tree %s", tag);
                q.wall_ns = 30 * NSEC_PER_MSEC;
                ck_assert_int_eq(pthread_create(&killer, NULL, kill_one, &delay), 0);
                r = run_error(&q, words, &result);
                pthread_join(killer, NULL);
                ck_assert_msg(r == 0 || r == -EIO, "%s", error_message(r));
                if (r == 0)
                        ck_assert(result.end == END_TIMEOUT || (result.end == END_SIGNAL && result.code == SIGKILL));
                execute_result_done(&result);
                assert_nothing_left(tag);
                assert_no_descendant();
        }
}
END_TEST

START_TEST(test_nothing_leaks)
{
        struct execute_request q = usual;
        struct execute_result r;
        unsigned before;

        find_attacker();
        before = count_descriptors();
        for (int i = 0; i < 20; i++) {
                q.sandbox = i % 2 ? SANDBOX_BWRAP : SANDBOX_NONE;
                r = run_like(&q, "both");
                execute_result_done(&r);
                q.directory = "/no/such";
                ck_assert_int_lt(run_error(&q, "both", &r), 0);
                q.directory = NULL;
        }
        ck_assert_uint_eq(count_descriptors(), before);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD);
}
END_TEST

static void *many_runs(void *arg)
{
        const unsigned *slot = arg;

        for (int i = 0; i < 15; i++) {
                struct execute_request q = usual;
                char folder[PATH_SIZE + 32], word[64];
                struct execute_result r;

                snprintf(folder, sizeof(folder), "%s/%u", scratch, *slot);
                mkdir(folder, 0700);
                q.scratch = folder;
                q.slot = *slot;
                q.sandbox = i % 3 == 0 ? SANDBOX_NONE : SANDBOX_BWRAP;
                snprintf(word, sizeof(word), "print %u", 1000 + *slot);
                r = run_like(&q, word);
                ck_assert_msg(r.end == END_EXIT, "end %d code %d sandbox %d after %" PRIu64 " ns, CPU %" PRIu64 " + %" PRIu64,
                              (int)r.end, r.code, (int)q.sandbox, r.wall_ns, r.user_ns, r.system_ns);
                ck_assert_uint_eq(r.out.size, 1000 + *slot);
                execute_result_done(&r);
        }
        return NULL;
}

START_TEST(test_many_at_once)
{
        pthread_t threads[6];
        unsigned slots[6];

        find_attacker();
        for (unsigned i = 0; i < ARRAY_SIZE(threads); i++) {
                slots[i] = i;
                ck_assert_int_eq(pthread_create(&threads[i], NULL, many_runs, &slots[i]), 0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
}
END_TEST

#define EXECUTE_TESTS                                                                                                           \
        test_exit_and_signal, test_not_executable, test_a_name_is_looked_for_in_the_path, test_what_cannot_be_tried,            \
                test_helper_of_another_version,                                                                                 \
                test_environment, test_access_says_what_open_does, test_cores, test_input_and_output, test_surroundings,        \
                test_stack_limit, test_hard_limits, test_niceness_that_cannot_be_left, test_binds, test_shared_bind,            \
                test_wall_limit, test_cpu_limit_of_the_tree, test_cpu_of_the_tree, test_memory,                                 \
                test_memory_is_not_the_callers, test_memory_limit, test_process_limit,                                          \
                test_process_limit_in_the_middle_of_forks, test_killed_near_a_limit, test_output_limit, test_cut, test_scratch_limit, \
                test_descendants_do_not_delay_the_answer, test_orphans_without_end, test_bounds,                                \
                test_shared_memory_limit, test_no_network,                                                                      \
                test_no_files_of_others, test_keeper_is_out_of_reach, test_cancel, test_helper_killed,                          \
                test_helper_stopped, test_bubblewrap_is_stuck, test_bubblewrap_stopped, test_case_is_a_pipe,                    \
                test_caller_killed, test_program_dies_with_its_helper, test_ended_beyond_a_limit, test_user_still_in_use,       \
                test_user_still_in_use_and_no_descriptors, test_killed_at_random, test_nothing_leaks, test_many_at_once

#ifdef EXECUTE_ALONE
static bool write_text(const char *path, const char *text)
{
        cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

        return fd >= 0 && write_all(fd, text, strlen(text)) == 0;
}

/* Root of a container that has no other users; a sandbox there is not kept. */
START_TEST(test_no_capabilities_for_a_lone_root)
{
        struct execute_result r;
        char users[32], groups[32];

        find_attacker();
        snprintf(users, sizeof(users), "0 %u 1\n", geteuid());
        snprintf(groups, sizeof(groups), "0 %u 1\n", getegid());
        SKIP_UNLESS(unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/uid_map", users) && write_text("/proc/self/setgroups", "deny") &&
                            write_text("/proc/self/gid_map", groups),
                    "a user namespace");
        ck_assert(!sandbox_has_users());
        r = run("bounds 0");
        assert_end(&r, END_EXIT, 0);
        assert_says(&r.out, "CapEff:\t0000000000000000\n");
        assert_says(&r.out, "CapAmb:\t0000000000000000\n");
        execute_result_done(&r);
}
END_TEST

static bool was_asked_for(const struct execute_result *r, const char *path)
{
        const char *at = r->watched.data, *end = at + r->watched.size;
        size_t times = 0;

        for (; at < end; at += strlen(at) + 1)
                times += strcmp(at, path) == 0;
        ck_assert_uint_le(times, 1);
        return times == 1;
}

static void check_watched(enum sandbox_kind sandbox)
{
        struct execute_request q = usual;
        struct execute_result r;

        q.sandbox = sandbox;
        q.directory = "/usr/share";
        q.watch = true;
        r = run_like(&q, "/usr/bin/env LC_ALL=C cat /usr/nothing ../lib/nothing /usr/nothing doc/nothing /proc/self/nothing");
        ck_assert_int_eq(r.end, END_EXIT);
        ck_assert_int_eq(r.code, 1);
        ck_assert_msg(r.is_watched, "the kernel does not tell: is it older than Linux 5.9?");
        ck_assert(was_asked_for(&r, "/usr/nothing"));
        ck_assert(was_asked_for(&r, "/usr/share/../lib/nothing"));
        ck_assert(was_asked_for(&r, "/usr/bin/cat"));
        ck_assert(was_asked_for(&r, "/usr/local/bin/cat"));
        ck_assert(!was_asked_for(&r, "/usr/share/doc/nothing"));
        ck_assert(!was_asked_for(&r, "/proc/self/nothing"));
        execute_result_done(&r);
        r = run_like(&usual, "/usr/bin/env LC_ALL=C cat /usr/nothing");
        ck_assert(!r.is_watched);
        execute_result_done(&r);
}

START_TEST(test_which_files_it_asks_for)
{
        check_watched(SANDBOX_BWRAP);
        check_watched(SANDBOX_NONE);
}
END_TEST

/* A path is replaced once, also where what is left of it looks like one. */
START_TEST(test_names_below_a_bind_without_a_sandbox)
{
        struct execute_request q = bare();
        struct execute_result r;
        char here[PATH_MAX], expected[2 * PATH_MAX + 20];

        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        q.binds = &(struct bind){.source = here, .target = "/build"};
        q.n_binds = 1;
        r = run_like(&q, "/bin/echo /build/build/x -I/build:/build");
        snprintf(expected, sizeof(expected), "%s/build/x -I/build:%s\n", here, here);
        ck_assert_str_eq(text_of(&r.out), expected);
        execute_result_done(&r);
}
END_TEST

SUITE("execute", test_names_below_a_bind_without_a_sandbox, test_which_files_it_asks_for, test_no_capabilities_for_a_lone_root, EXECUTE_TESTS)
#endif
