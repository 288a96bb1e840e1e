#include "tests/support/test.h"
#include "tests/support/toy_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "core/run/runner.h"
#include "core/sandbox/sandbox.h"

/* Programs are scripts that the tests write, or attacker.c. */
static char here[PATH_SIZE - 100], program[PATH_SIZE], scratch[PATH_SIZE];

static const struct recipe_limits usual_limits = {
        .wall_ns = 120 * NSEC_PER_SEC, .cpu_ns = 120 * NSEC_PER_SEC, .memory = 1 << 30, .output = 1 << 20, .processes = 64};

static void find_places(void)
{
        ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
        snprintf(scratch, sizeof(scratch), "%s/scratch", here);
        mkdir(scratch, 0700);
}

static struct runner *open_runner(const struct recipe *recipe, const char *path, enum sandbox_kind sandbox)
{
        const struct run_program toy = {.path = path, .name = "toy"};
        struct runner *r = NULL;

        r = runner_open(&(struct runner_options){.recipe = recipe,
                                                       .programs = &toy,
                                                       .n_programs = 1,
                                                       .limits = usual_limits,
                                                       .scratch_parent = scratch,
                                                       .sandbox = sandbox,
                                                       .slot = 500});
        return r;
}

static struct runner *open_script(const struct recipe *recipe, const char *script, enum sandbox_kind sandbox)
{
        find_places();
        snprintf(program, sizeof(program), "%s/solver", here);
        unlink(program);
        assert_ok(write_file_atomic(program, script, strlen(script), 0500));
        return open_runner(recipe, program, sandbox);
}

/* `attacker WORDS…` on any input; the words are the template's. */
static struct runner *open_attacker(struct recipe *recipe, enum sandbox_kind sandbox)
{
        const char *path = getenv("SOLVERFS_ATTACKER");

        ck_assert_ptr_nonnull(path);
        find_places();
        return open_runner(recipe, path, sandbox);
}

static struct run_result run_text(struct runner *r, const char *text)
{
        struct run_result result = {0};

        assert_ok(runner_run(r, &(struct run_input){.bytes = slice_string(text)}, -1, &result));
        return result;
}

static const char *text_of(const struct blob *b)
{
        static char text[1 << 16];

        ck_assert_uint_lt(b->size, sizeof(text));
        if (b->size > 0)
                memcpy(text, b->data, b->size);
        text[b->size] = '\0';
        return text;
}

static bool is_empty(const char *path)
{
        return rmdir(path) == 0;
}

#define both_sandboxes(kind)                    \
        enum sandbox_kind kind = SANDBOX_BWRAP; \
        kind <= SANDBOX_NONE;                   \
        kind++

/* -- what it gives -- */

struct heard {
        uint64_t bytes;
        char first, last;
};

static void hear(void *user, struct slice text)
{
        struct heard *h = user;
        const char *p = text.data;

        h->first = h->bytes == 0 ? p[0] : h->first;
        h->last = p[text.size - 1];
        h->bytes += text.size;
}

/* Listeners hear all of both streams, whatever the limit of output is; of each its beginning and end are kept. */
START_TEST(test_listeners)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);

        for (both_sandboxes(kind)) {
                struct heard heard[2] = {0};
                const struct listener listeners[2] = {{hear, &heard[0]}, {hear, &heard[1]}};
                const struct run_program toy = {.path = program, .name = "toy"};
                struct run_result result = {0};
                struct runner *r = NULL;

                runner_close(open_script(&recipe, "#!/bin/sh\nprintf a\nhead -c 9000000 /dev/zero\nprintf z\nprintf bcd >&2\n", kind));
                r = runner_open(&(struct runner_options){.recipe = &recipe, .programs = &toy, .n_programs = 1, .limits = usual_limits, .scratch_parent = scratch,
                                                               .sandbox = kind, .slot = 500, .listeners = listeners});
                assert_ok(runner_run(r, &(struct run_input){.bytes = slice_string("x")}, -1, &result));
                ck_assert_int_eq(result.run.end, END_EXIT);
                ck_assert_uint_eq(heard[0].bytes, 9000002);
                ck_assert(heard[0].first == 'a' && heard[0].last == 'z');
                ck_assert_uint_eq(heard[1].bytes, 3);
                ck_assert(heard[1].first == 'b' && heard[1].last == 'd');
                ck_assert_uint_eq(result.run.out_size, 9000002);
                ck_assert_uint_lt(result.run.out.size, RUN_HEARD + 100);
                run_result_done(&result);
                runner_close(r);
        }
}
END_TEST

START_TEST(test_verdict_effort_output)
{
        static char *effort[] = {(char *)":conflicts +([0-9]+)", (char *)":time ([0-9.]+)", (char *)"never ([0-9]+)", NULL};
        struct recipe recipe = toy_recipe("{bin} --mode {case}", 1);

        recipe.effort = effort;
        for (both_sandboxes(kind)) {
                struct runner *r = open_script(&recipe,
                                               "#!/bin/sh\nread line <\"$2\"\necho \"$line\"\necho ':conflicts  '${#line} >&2\n"
                                               "echo ':time 0.5 of '\"$1\" >&2\n",
                                               kind);
                struct run_result a = run_text(r, "sat\n"), b = run_text(r, "unsat\n");

                ck_assert_int_eq(a.verdict, VERDICT_SAT);
                ck_assert_int_eq(b.verdict, VERDICT_UNSAT);
                ck_assert_str_eq(text_of(&b.run.out), "unsat\n");
                ck_assert_str_eq(text_of(&b.run.err), ":conflicts  5\n:time 0.5 of --mode\n");
                ck_assert_uint_eq(a.efforts.n, 3);
                ck_assert_str_eq(a.efforts.list[0].label, "conflicts");
                ck_assert(a.efforts.list[0].found && a.efforts.list[0].is_integer);
                ck_assert_int_eq(a.efforts.list[0].integer, 3);
                ck_assert_int_eq(b.efforts.list[0].integer, 5);
                ck_assert(b.efforts.list[1].found && !b.efforts.list[1].is_integer && b.efforts.list[1].real > 0.49);
                ck_assert(!b.efforts.list[2].found);
                ck_assert_uint_gt(a.run.wall_ns, 0);
                ck_assert_uint_gt(a.run.user_ns + a.run.system_ns, 0);
                ck_assert_uint_gt(a.run.memory, 0);
                ck_assert_int_eq(a.run.doubt, DOUBT_NONE);
                ck_assert_uint_eq(runner_counters(r).runs, 2);
                ck_assert_uint_eq(runner_counters(r).sandboxes, 1);
                run_result_done(&a);
                run_result_done(&b);
                runner_close(r);
                ck_assert(is_empty(scratch));
        }
}
END_TEST

/* Bytes or a file, in a file or on standard input: the program sees the same, and in a sandbox cannot change it. */
START_TEST(test_input)
{
        static const char *const templates[] = {"{bin} {case}", "{bin} <{case}", "{bin}"};
        static const char reads[] = "#!/bin/sh\ncat ${1:+\"$1\"}\n", writes[] = "#!/bin/sh\ncat ${1:+\"$1\"}\nchmod 666 \"${1:-/proc/self/fd/0}\"\necho x >>\"${1:-/proc/self/fd/0}\"\n";
        char path[PATH_SIZE];

        find_places();
        snprintf(path, sizeof(path), "%s/input", here);
        assert_ok(write_file_atomic(path, "from a file\n", 12, 0400));
        for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
                struct recipe recipe = toy_recipe(templates[i], 1);

                for (both_sandboxes(kind)) {
                        struct runner *r = open_script(&recipe, kind == SANDBOX_NONE ? reads : writes, kind);

                        for (int k = 0; k < 3; k++) {
                                struct run_result a = run_text(r, "some bytes\n"), b = {0};

                                ck_assert_str_eq(text_of(&a.run.out), "some bytes\n");
                                assert_ok(runner_run(r, &(struct run_input){.path = path}, -1, &b));
                                ck_assert_str_eq(text_of(&b.run.out), "from a file\n");
                                run_result_done(&a);
                                run_result_done(&b);
                        }
                        runner_close(r);
                }
        }
}
END_TEST

START_TEST(test_limits_and_seed)
{
        struct recipe recipe = toy_recipe("{bin} {seed} {timeout} {case}", 1);
        struct recipe_limits limits = usual_limits;
        struct runner *r;
        struct run_result a;

        recipe.seed = (char *)"--seed={n}";
        r = open_script(&recipe, "#!/bin/sh\necho $*\n[ $# = 3 ] || sleep 10\n", SANDBOX_BWRAP);
        limits.wall_ns = 300 * NSEC_PER_MSEC;
        runner_set_limits(r, &limits);
        a = run_text(r, "");
        ck_assert_int_eq(a.verdict, VERDICT_TIMEOUT);
        ck_assert_int_eq(a.run.end, END_TIMEOUT);
        run_result_done(&a);
        runner_set_seed(r, true, 7);
        a = run_text(r, "");
        ck_assert_ptr_eq(strstr(text_of(&a.run.out), "--seed=7 "), text_of(&a.run.out));
        ck_assert_int_eq(a.run.end, END_EXIT);
        run_result_done(&a);
        runner_close(r);
}
END_TEST

/* -- steps -- */

static uint64_t ticks_of(pid_t pid)
{
        char path[64], text[1024];
        unsigned long long user = 0, system = 0;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        f = fopen(path, "re");
        if (f && fgets(text, sizeof(text), f))
                sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
        if (f)
                fclose(f);
        return user + system;
}

/* A process of this machine whose command line holds `word`; 0: none. */
static pid_t find_process(const char *word)
{
        DIR *d = opendir("/proc");
        pid_t found = 0;
        struct dirent *e;

        while ((e = readdir(d))) {
                char path[300], line[4096];
                ssize_t size;
                int fd;

                snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
                fd = e->d_name[0] >= '1' && e->d_name[0] <= '9' && atoi(e->d_name) != getpid() ? open(path, O_RDONLY) : -1;
                if (fd < 0)
                        continue;
                size = read(fd, line, sizeof(line));
                close(fd);
                if (size > 0 && memmem(line, (size_t)size, word, strlen(word)))
                        found = (pid_t)atoi(e->d_name);
        }
        closedir(d);
        return found;
}

static bool has_state(pid_t pid, char state)
{
        char path[64], line[256] = "", wanted[] = {')', ' ', state, ' ', '\0'};
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        f = fopen(path, "re");
        if (!f || !fgets(line, sizeof(line), f))
                line[0] = '\0';
        if (f)
                fclose(f);
        return strstr(line, wanted) != NULL;
}

START_TEST(test_steps)
{
        for (both_sandboxes(kind)) {
                char words[64];
                struct recipe recipe;
                struct run_progress p;
                struct run_result result = {0};
                struct runner *r;
                uint64_t ticks, before = 0;
                unsigned steps = 0;
                pid_t pid;
                int k;

                snprintf(words, sizeof(words), "{bin} burn 1 tag-%d-%d", (int)getpid(), (int)kind);
                recipe = toy_recipe(words, 1);
                r = open_attacker(&recipe, kind);
                assert_ok(runner_start(r, &(struct run_input){.bytes = slice_string("")}));
                for (; (k = runner_step(r, 50 * NSEC_PER_MSEC, -1, &result)) == 0; steps++) {
                        p = runner_progress(r);
                        ck_assert_uint_ge(p.wall_ns, (steps + 1) * 50 * NSEC_PER_MSEC);
                        ck_assert_uint_gt(p.memory, 0);
                        ck_assert_uint_gt(p.memory_now, 0);
                        before = p.wall_ns;
                        pid = find_process(strstr(words, "tag"));
                        ck_assert_int_gt(pid, 0);
                        while (!has_state(pid, 'T')) /* the last of them to stop waits for a core */
                                usleep(1000);
                        ticks = ticks_of(pid);
                        usleep(60000); /* it stands still meanwhile */
                        ck_assert_uint_eq(ticks_of(pid), ticks);
                }
                assert_ok(k);
                ck_assert_uint_ge(steps, 3);
                ck_assert_int_eq(result.run.end, END_EXIT);
                ck_assert_uint_ge(result.run.user_ns + result.run.system_ns, 990 * NSEC_PER_MSEC);
                ck_assert_uint_ge(result.run.wall_ns, 990 * NSEC_PER_MSEC);
                ck_assert_uint_ge(result.run.wall_ns, before);
                run_result_done(&result);
                runner_close(r);
        }
}
END_TEST

/* The time for which it stood still does not count, what it used does. */
START_TEST(test_limits_hold_over_steps)
{
        for (both_sandboxes(kind)) {
                struct recipe recipe = toy_recipe("{bin} wait", 1);
                struct recipe_limits limits = usual_limits;
                struct run_result result = {0};
                struct runner *r = open_attacker(&recipe, kind);
                uint64_t begin;
                unsigned steps = 0;
                int k;

                limits.wall_ns = 2 * NSEC_PER_SEC; /* many steps, of which a busy machine makes one of several */
                runner_set_limits(r, &limits);
                begin = now_ns();
                assert_ok(runner_start(r, &(struct run_input){.bytes = slice_string("")}));
                for (; (k = runner_step(r, 100 * NSEC_PER_MSEC, -1, &result)) == 0; steps++)
                        usleep(20000);
                assert_ok(k);
                ck_assert_int_eq(result.run.end, END_TIMEOUT);
                ck_assert_uint_ge(steps, 2);
                ck_assert_uint_ge(result.run.wall_ns, limits.wall_ns);
                ck_assert_uint_ge(now_ns() - begin, result.run.wall_ns + steps * 20 * NSEC_PER_MSEC);
                run_result_done(&result);
                runner_close(r);
        }
}
END_TEST

START_TEST(test_abandon)
{
        for (both_sandboxes(kind)) {
                char words[64];
                struct recipe recipe;
                struct run_result result = {0};
                struct runner *r;

                snprintf(words, sizeof(words), "{bin} tree tag-%d-%d", (int)getpid(), (int)kind);
                recipe = toy_recipe(words, 1);
                r = open_attacker(&recipe, kind);
                runner_abandon(r); /* nothing to do */
                for (int i = 0; i < 3; i++) {
                        assert_ok(runner_start(r, &(struct run_input){.bytes = slice_string("")}));
                        if (i > 0)
                                ck_assert_int_eq(runner_step(r, 50 * NSEC_PER_MSEC, -1, &result), 0);
                        if (i < 2)
                                runner_abandon(r);
                }
                runner_close(r); /* with a run that stands still */
                ck_assert_int_eq(find_process(strstr(words, "tag")), 0);
                ck_assert(is_empty(scratch));
        }
}
END_TEST

/* -- ends -- */

/* What one leaves, the next does not find: files above all, which are the runner's to take away. */
START_TEST(test_scratch_is_new)
{
        static const char *const words[] = {"{bin} leave files",     "{bin} fill 1 1", "{bin} bury 50",
                                            "{bin} leave processes", "{bin} large 1",  "{bin} read /scratch"};

        for (both_sandboxes(kind)) {
                struct recipe look = toy_recipe("{bin} find /scratch -mindepth 1", 1);

                for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                        struct recipe recipe = toy_recipe(words[i], 1);
                        struct runner *r;
                        struct run_result a;

                        if (kind == SANDBOX_NONE && strstr(words[i], "leave files"))
                                continue; /* it may write to the machine */
                        r = open_attacker(&recipe, kind);
                        for (int k = 0; k < 4; k++) {
                                a = run_text(r, "");
                                ck_assert_msg(a.run.end == END_EXIT, "%s: %d", words[i], (int)a.run.end);
                                run_result_done(&a);
                        }
                        ck_assert_uint_eq(runner_counters(r).sandboxes, 1);
                        runner_close(r);
                        ck_assert(is_empty(scratch));
                }
                struct runner *r = open_runner(&look, "/usr/bin/env", kind);

                find_places();
                for (int k = 0; k < 4; k++) { /* its own listing counts as a touch, too */
                        struct run_result a = run_text(r, "");

                        ck_assert_int_eq(a.run.code, 0);
                        ck_assert_uint_eq(a.run.out_size, 0);
                        run_result_done(&a);
                }
                runner_close(r);
        }
}
END_TEST

/* A folder that stays because nobody has touched it is as good as new: a run that writes, behind one that does not. */
START_TEST(test_scratch_that_stays)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);
        struct runner *r = open_script(&recipe, "#!/bin/sh\nread what <\"$1\"\necho /scratch/*\n$what\n", SANDBOX_BWRAP);
        static const char *const inputs[] = {
                "true", "true", "true", "touch /scratch/x", "true", "chmod 755 /scratch", "stat -c %a /scratch"};

        for (size_t i = 0; i < ARRAY_SIZE(inputs); i++) {
                char text[100];
                struct run_result a;

                snprintf(text, sizeof(text), "%s\n", inputs[i]);
                a = run_text(r, text);
                ck_assert_str_eq(text_of(&a.run.out), i == 6 ? "/scratch/*\n700\n" : "/scratch/*\n");
                run_result_done(&a);
        }
        runner_close(r);
}
END_TEST

START_TEST(test_nothing_leaks)
{
        for (both_sandboxes(kind)) {
                struct recipe recipe = toy_recipe("{bin} {case}", 1);
                struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\n", kind);
                struct run_result a;
                unsigned before;

                for (int i = 0; i < 3; i++) {
                        a = run_text(r, "sat\n");
                        run_result_done(&a);
                }
                before = count_descriptors();
                for (int i = 0; i < 30; i++) {
                        a = run_text(r, "sat\n");
                        run_result_done(&a);
                }
                ck_assert_uint_eq(count_descriptors(), before);
                runner_close(r);
                ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        }
}
END_TEST

/* 0: it has none. */
static pid_t only_child_of(pid_t parent)
{
        char path[64], line[64] = "";
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
        f = fopen(path, "re");
        if (!f || !fgets(line, sizeof(line), f))
                line[0] = '\0';
        if (f)
                fclose(f);
        return (pid_t)atoi(line);
}

static pid_t only_child(void)
{
        return only_child_of(getpid());
}

/* Returns when it is dead; its parent still has to reap it. */
static void kill_child(pid_t pid)
{
        siginfo_t info;

        ck_assert_int_gt(pid, 0);
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* Between two runs, and in one that stands still. */
START_TEST(test_helper_killed)
{
        for (both_sandboxes(kind)) {
                struct recipe recipe = toy_recipe("{bin} {case}", 1);
                struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\nsleep 0.3\n", kind);
                struct run_result a = {0};

                for (int i = 0; i < 3; i++) {
                        a = run_text(r, "sat\n");
                        ck_assert_int_eq(a.verdict, VERDICT_SAT);
                        run_result_done(&a);
                        kill_child(only_child());
                }
                ck_assert_uint_eq(runner_counters(r).sandboxes, 3);
                assert_ok(runner_start(r, &(struct run_input){.bytes = slice_string("unsat\n")}));
                ck_assert_int_eq(runner_step(r, 50 * NSEC_PER_MSEC, -1, &a), 0);
                kill_child(only_child());
                assert_error(runner_step(r, 0, -1, &a), EIO);
                a = run_text(r, "sat\n"); /* it was not the runner's end */
                ck_assert_int_eq(a.verdict, VERDICT_SAT);
                run_result_done(&a);
                runner_close(r);
                ck_assert(is_empty(scratch));
        }
}
END_TEST

/* -- the process of the next run, which is made ahead from the third on -- */

static void run_thrice(struct runner *r)
{
        for (int i = 0; i < 3; i++) {
                struct run_result a = run_text(r, "sat\n");

                ck_assert_int_eq(a.verdict, VERDICT_SAT);
                run_result_done(&a);
        }
}

/* `helper`: the outermost process of a sandbox. Below it is the keeper, and below that one a run that is ending, or what was made ahead: only that sleeps
 * whenever it is looked at. */
static pid_t await_made_ahead(pid_t helper)
{
        pid_t last = 0;

        for (int i = 0; i < 20; i++) {
                pid_t pid = only_child_of(only_child_of(helper));

                if (pid == 0 || pid != last || !has_state(pid, 'S'))
                        i = 0;
                last = pid;
                usleep(1000);
        }
        return last;
}

/* Those of the keeper, which has five. */
static void ck_few_descriptors(pid_t pid)
{
        struct dirent *e;
        char path[64];
        DIR *d;

        snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
        d = opendir(path);
        ck_assert(d || errno == EACCES); /* only root may look */
        while (d && (e = readdir(d)))
                ck_assert_int_lt(atoi(e->d_name), 5);
        if (d)
                closedir(d);
}

static void await_gone(pid_t pid)
{
        while (kill(pid, 0) == 0)
                usleep(1000);
}

/* Whenever it is killed, the next run has a result. */
START_TEST(test_made_ahead_killed)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);

        for (int waits = 0; waits < 6; waits++) {
                struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\n", SANDBOX_BWRAP);
                struct run_result a;
                siginfo_t info;

                run_thrice(r);
                ck_assert_int_eq(kill(await_made_ahead(only_child()), SIGKILL), 0);
                if (waits % 2 == 0)
                        ck_assert_int_eq(waitid(P_PID, (id_t)only_child(), &info, WEXITED | WNOWAIT), 0);
                a = run_text(r, "unsat\n");
                ck_assert_int_eq(a.verdict, VERDICT_UNSAT);
                ck_assert_uint_eq(runner_counters(r).sandboxes, 2);
                ck_assert_uint_eq(runner_counters(r).lost, 1);
                run_result_done(&a);
                runner_close(r);
                ck_assert(is_empty(scratch));
        }
}
END_TEST

/* It has the keeper's descriptors and no others, becomes the next run, and goes with the runner. */
START_TEST(test_made_ahead_has_nothing)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);
        struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\n", SANDBOX_BWRAP);
        struct run_result a;
        pid_t pid;

        run_thrice(r);
        pid = await_made_ahead(only_child());
        a = run_text(r, "unsat\n"); /* it was that one's */
        ck_assert_int_eq(a.verdict, VERDICT_UNSAT);
        run_result_done(&a);
        await_gone(pid);
        pid = await_made_ahead(only_child());
        ck_few_descriptors(pid);
        runner_close(r);
        ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

/* Its caller was killed. */
START_TEST(test_made_ahead_dies_with_the_caller)
{
        int fds[2];
        pid_t caller, pid = 0;

        find_places();
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        caller = fork();
        ck_assert_int_ge(caller, 0);
        if (caller == 0) {
                struct recipe recipe = toy_recipe("{bin} {case}", 1);
                struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\n", SANDBOX_BWRAP);

                run_thrice(r);
                pid = await_made_ahead(only_child());
                _exit(write(fds[1], &pid, sizeof(pid)) != sizeof(pid) || pause());
        }
        close(fds[1]);
        ck_assert_int_eq(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
        ck_assert_int_eq(kill(pid, 0), 0);
        ck_assert_int_eq(kill(caller, SIGKILL), 0);
        ck_assert_int_eq(waitpid(caller, NULL, 0), caller);
        await_gone(pid);
        close(fds[0]);
}
END_TEST

/* -- the file that stays -- */

/* Each run reads just its own bytes, however long those before were, and whether the file was there, was taken away, or was another's. */
START_TEST(test_input_is_new)
{
        static const char *const inputs[] = {"sat", "a longer one", "", "b", "a longer one", "c"};
        struct recipe recipe = toy_recipe("{bin} {case}", 1);
        struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\n", SANDBOX_BWRAP);
        char path[PATH_SIZE];

        assert_ok(path_join(path, here, "a-file"));
        assert_ok(write_file_atomic(path, "a file", 6, 0400));
        for (size_t i = 0; i < 2 * ARRAY_SIZE(inputs); i++) {
                struct run_result a = run_text(r, inputs[i % ARRAY_SIZE(inputs)]);

                ck_assert_str_eq(text_of(&a.run.out), inputs[i % ARRAY_SIZE(inputs)]);
                run_result_done(&a);
                if (i % 3 != 0)
                        continue;
                assert_ok(runner_run(r, &(struct run_input){.path = path}, -1, &a));
                ck_assert_str_eq(text_of(&a.run.out), "a file");
                run_result_done(&a);
        }
        ck_assert_uint_eq(runner_counters(r).sandboxes, 1);
        runner_close(r);
}
END_TEST

static void *hang_up_soon(void *fd)
{
        usleep(100000);
        close(*(int *)fd);
        return NULL;
}

START_TEST(test_cancel)
{
        for (both_sandboxes(kind)) {
                struct recipe recipe = toy_recipe("{bin} wait", 1);
                struct runner *r = open_attacker(&recipe, kind);
                struct run_result result = {0};

                for (int i = 0; i < 3; i++) {
                        pthread_t thread;
                        int fds[2];

                        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
                        ck_assert_int_eq(pthread_create(&thread, NULL, hang_up_soon, &fds[1]), 0);
                        assert_error(runner_run(r, &(struct run_input){.bytes = slice_string("")}, fds[0], &result), ECANCELED);
                        pthread_join(thread, NULL);
                        close(fds[0]);
                }
                ck_assert_uint_eq(runner_counters(r).sandboxes, 1); /* it is as good as before */
                runner_close(r);
                ck_assert(is_empty(scratch));
        }
}
END_TEST

static void *one_run(void *arg)
{
        struct run_result a = run_text(arg, "sat\n");

        ck_assert_int_eq(a.verdict, VERDICT_SAT);
        run_result_done(&a);
        return NULL;
}

/* A sandbox outlives the thread that made it. */
/* A run that could not even begin is a failed one, too: the runner is nobody else's. */
START_TEST(test_its_folder_is_gone)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);

        for (both_sandboxes(kind)) {
                struct runner *r = open_script(&recipe, "#!/bin/sh\necho sat\n", kind);
                const struct run_program toy = {.path = program, .name = "toy"};
                const struct runner_options same = {.recipe = &recipe, .programs = &toy, .n_programs = 1, .limits = usual_limits,
                                                    .scratch_parent = scratch, .sandbox = kind, .slot = 500};
                struct run_result result = run_text(r, "x");

                run_result_done(&result);
                ck_assert(runner_reuse(r, &same));
                assert_ok(remove_tree(scratch));
                ck_assert_int_lt(runner_run(r, &(struct run_input){.bytes = slice_string("x")}, -1, &result), 0);
                ck_assert(!runner_reuse(r, &same));
                runner_close(r);
        }
}
END_TEST

START_TEST(test_used_by_threads_in_turn)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);

        for (both_sandboxes(kind)) {
                struct runner *r = open_script(&recipe, "#!/bin/sh\ncat \"$1\"\n", kind);

                for (int i = 0; i < 5; i++) {
                        pthread_t t;

                        ck_assert_int_eq(pthread_create(&t, NULL, one_run, r), 0);
                        pthread_join(t, NULL);
                        usleep(20000); /* the thread has gone, and what would end with it, too */
                }
                ck_assert_uint_eq(runner_counters(r).sandboxes, 1);
                ck_assert_uint_eq(runner_counters(r).lost, 0);
                runner_close(r);
        }
}
END_TEST

static struct run_result result_of(const struct recipe *recipe, const char *script, uint64_t most, int error)
{
        const struct run_program toy = {.path = program, .name = "toy"};
        struct run_result result = {0};
        struct runner *r = NULL;
        int k;

        runner_close(open_script(recipe, script, SANDBOX_BWRAP));
        r = runner_open(&(struct runner_options){.recipe = recipe, .programs = &toy, .n_programs = 1, .limits = usual_limits, .scratch = most,
                                                 .scratch_parent = scratch, .sandbox = SANDBOX_BWRAP, .slot = 500});
        k = runner_run(r, &(struct run_input){.bytes = slice_string("x")}, -1, &result);
        ck_assert_msg(-k == error, "%d: %s", k, k < 0 ? error_message(k) : "");
        runner_close(r);
        return result;
}

/* A run that failed for lack of disk space says nothing about the program; its own limits and /dev/shm are its own affair. */
START_TEST(test_full_disk)
{
        struct recipe recipe = toy_recipe("{bin} {case}", 1);
        struct run_result a;

        NEEDS_OWN_MOUNTS;
        find_places();
        ck_assert_int_eq(mount("tmpfs", scratch, "tmpfs", 0, "size=40m"), 0);
        result_of(&recipe, "#!/bin/sh\nhead -c 64000000 /dev/zero >f 2>/dev/null\necho unknown\n", 0, ENOSPC);
        result_of(&recipe, "#!/bin/sh\nhead -c 64000000 /dev/zero >f || rm f\necho unknown\n", 0, ENOSPC);
        result_of(&recipe, "#!/bin/sh\necho unknown; echo 'f: Disk quota exceeded' >&2\n", 1 << 20, ENOSPC);
        a = result_of(&recipe, "#!/bin/sh\nhead -c 64000000 /dev/zero >f\necho sat\n", 0, 0);
        ck_assert_int_eq(a.verdict, VERDICT_SAT);
        run_result_done(&a);
        a = result_of(&recipe, "#!/bin/sh\necho unknown; echo '/dev/shm/f: No space left on device' >&2\n", 1 << 20, 0);
        ck_assert_int_eq(a.verdict, VERDICT_UNKNOWN);
        ck_assert_ptr_nonnull(strstr(text_of(&a.run.err), "No space left on device"));
        run_result_done(&a);
        a = result_of(&recipe, "#!/bin/sh\nhead -c 2000000 /dev/zero >f\n", 1 << 20, 0);
        ck_assert_int_ge(a.verdict, VERDICT_CRASH);
        run_result_done(&a);
        umount(scratch);
}
END_TEST

SUITE("runner", test_verdict_effort_output, test_listeners, test_input, test_limits_and_seed, test_steps, test_limits_hold_over_steps,
      test_abandon, test_cancel, test_its_folder_is_gone, test_used_by_threads_in_turn, test_scratch_is_new, test_scratch_that_stays, test_nothing_leaks,
      test_helper_killed, test_made_ahead_killed, test_made_ahead_has_nothing, test_made_ahead_dies_with_the_caller,
      test_input_is_new, test_full_disk)
