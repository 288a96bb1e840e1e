#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "core/build/build.h"
#include "core/build/checkout.h"
#include "core/build/used.h"
#include "core/git/gitconfig.h"
#include "tests/support/git_shell.h"
#include "tests/support/git_tree.h"

enum {
        COMMITS,
        OIDS,
        REFS,
        SOURCES
};
static const char *const store_tables[] = {
        "commits", "oids", "refs", "sources"};
static const struct history_tables tables = {COMMITS, OIDS, REFS, SOURCES};
static struct store *store;
static struct history *history;
static struct programs *programs;
static struct recipe **recipes;
static size_t n_recipes;
static struct build_record *record; /* of the last build */
static char work[PATH_SIZE];

static void open_all(void)
{
        assert_ok(store_open("store", store_tables, ARRAY_SIZE(store_tables), STORE_CREATE, &store));
        assert_ok(history_open(store, &tables, "repos", "x", 1, &history));
        assert_ok(programs_open("store", false, 1 << 30, &programs));
}

static void close_all(void)
{
        record = build_record_unref(record);
        recipe_list_free(recipes, n_recipes);
        recipes = NULL;
        n_recipes = 0;
        programs = programs_close(programs);
        history = history_unref(history);
        store = store_close(store);
}

static void use_recipe(const char *lines)
{
        char text[4096];

        snprintf(text, sizeof(text), "[solver]\nrun = {bin} {case}\n%s\n", lines);
        recipe_list_free(recipes, n_recipes);
        assert_ok(recipe_parse(text, "test", "x", &recipes, &n_recipes));
}

/* The repository r, cloned and indexed; `recipe` in force. */
static void begin(const char *recipe)
{
        static FILE *nowhere;
        uint32_t fresh;

        nowhere = nowhere ?: fopen("/dev/null", "w");
        log_set(LOG_LEVEL_ERROR, nowhere);
        assert_ok(make_dirs("repos", 0700));
        assert_ok(history_clone("repos", "x", "r", HISTORY_SILENCE_NS, NULL));
        open_all();
        assert_ok(history_update(history, NULL, true, NULL, &fresh));
        use_recipe(recipe);
        ck_assert_ptr_nonnull(getcwd(work, sizeof(work) - 8));
        strcat(work, "/work");
}

static uint32_t commit_of(const char *revision)
{
        uint32_t number;

        assert_ok(history_resolve(history, revision, &number));
        return number;
}

static struct build_request request_for(const char *revision)
{
        return (struct build_request){
                .programs = programs,
                .history = history,
                .commit = commit_of(revision),
                .recipe = recipes[0],
                .work_dir = work,
                .jobs = 2,
                .cancel_fd = -1,
        };
}

static void run_build(const struct build_request *q)
{
        int r;

        record = build_record_unref(record);
        r = build(q, &record);
        ck_assert_msg(r == 0, "build: %s", error_message(r));
}

static bool logged(const char *text)
{
        return record->log.size > 0 && memmem(record->log.data, record->log.size, text, strlen(text));
}

static void build_ok(const char *revision)
{
        struct build_request q = request_for(revision);

        run_build(&q);
        ck_assert_msg(record->ok, "%s: %s\n%.*s", revision, record->reason, (int)record->log.size,
                      (const char *)record->log.data);
}

static void build_fails(const char *revision, const char *reason)
{
        struct build_request q = request_for(revision);

        run_build(&q);
        ck_assert(!record->ok);
        ck_assert_msg(strcmp(record->reason, reason) == 0, "'%s' is not '%s'", record->reason, reason);
        ck_assert_uint_eq(record->n_outputs, 0);
}

/* By another process: a store is opened anew after a fork. */
static pid_t build_in_child(const char *revision)
{
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                struct build_request q;

                open_all();
                q = request_for(revision);
                _exit(build(&q, &record) < 0 || !record->ok);
        }
        return pid;
}

/* The content of the first output. */
static void check_output(const char *expected)
{
        cleanup_blob struct blob b = {0};
        int fd;

        assert_ok(programs_get(programs, &record->outputs[0].id, &fd, NULL));
        assert_ok(read_fd(fd, 1 << 20, &b));
        close(fd);
        ck_assert_msg(b.size == strlen(expected) && memcmp(b.data, expected, b.size) == 0, "'%.*s' is not '%s'", (int)b.size,
                      (const char *)b.data, expected);
}

static unsigned count_worktrees(void)
{
        unsigned n = 0;
        char path[PATH_SIZE + 16];

        while (snprintf(path, sizeof(path), "%s/%u", work, n) > 0 && access(path, F_OK) == 0)
                n++;
        return n;
}

/* A program put together from two parts by make: each "compiling" is seen in the log. */
#define MAKEFILE                                                                                                                 \
        "printf 'prog: a.o b.o\\n\\tcat a.o b.o > prog; chmod +x prog\\n%%.o: %%.c\\n\\t@echo compiling $<\\n\\tcp $< $@\\n' > " \
        "Makefile; "                                                                                                             \
        "printf '%s\\n' a.o b.o prog > .gitignore; "
#define RECIPE "build = make -j{jobs}\noutput = prog\npaths = Makefile\npaths = a.c\npaths = b.c\n"

static void make_history(void)
{
        shell("git init -q -b main r; cd r; " MAKEFILE
              "echo a1 > a.c; echo b1 > b.c; commit one; git tag one; echo a2 > a.c; commit two; "
              "git tag two; echo doc > README; commit doc; git tag doc; echo b2 > b.c; commit three; git tag three");
}

START_TEST(test_build)
{
        struct commit c;

        make_history();
        begin(RECIPE);
        build_ok("one");
        ck_assert_ptr_null(record->reason);
        ck_assert_uint_eq(record->n_outputs, 1);
        ck_assert_str_eq(record->outputs[0].name, "prog");
        ck_assert(record->outputs[0].executable);
        ck_assert_uint_eq(record->outputs[0].size, 6);
        ck_assert_int_ge(record->started, 1700000000);
        ck_assert_uint_gt(record->duration_ns, 0);
        ck_assert_uint_gt(record->memory, 0);
        assert_ok(history_commit(history, commit_of("one"), &c));
        ck_assert(git_oid_equal(&c.oid, &record->commit));
        ck_assert_int_eq(strncmp(record->log.data, "+ make -j2\n", 11), 0);
        ck_assert(logged("compiling a.c\n"));
        check_output("a1\nb1\n");
        ck_assert_int_eq(access("work/0", F_OK), -1);
        ck_assert_int_eq(access("work/0.scratch", F_OK), -1);
        close_all();
}
END_TEST

START_TEST(test_keys)
{
        struct digest one, other, *all;
        uint32_t n;

        make_history();
        begin(RECIPE);
        assert_ok(build_key(history, commit_of("two"), recipes[0], &one));
        assert_ok(build_key(history, commit_of("doc"), recipes[0], &other));
        ck_assert(digest_equal(&one, &other)); /* only documentation differs: one build */
        assert_ok(build_key(history, commit_of("one"), recipes[0], &other));
        ck_assert(!digest_equal(&one, &other));
        assert_ok(build_keys(history, recipes[0], &all, &n));
        ck_assert_uint_eq(n, history_count(history));
        for (uint32_t i = 0; i < n; i++) {
                assert_ok(build_key(history, i, recipes[0], &other));
                ck_assert(digest_equal(&all[i], &other));
        }
        free(all);
        use_recipe("build = make\noutput = prog\n");
        assert_ok(build_key(history, commit_of("two"), recipes[0], &other));
        ck_assert(!digest_equal(&one, &other));
        close_all();
}
END_TEST

static int toolchain_there(struct recipe_builder *, char ret[65])
{
        strcpy(ret, "compilers of another place");
        return 0;
}

/* A build elsewhere is another one, when the toolchain there is another one. */
START_TEST(test_key_elsewhere)
{
        struct recipe_builder there = {.toolchain = toolchain_there};
        struct digest here, other, *all;
        uint32_t n;

        make_history();
        begin(RECIPE);
        assert_ok(build_key(history, commit_of("two"), recipes[0], &here));
        recipes[0]->builder = &there;
        assert_ok(build_key(history, commit_of("two"), recipes[0], &other));
        ck_assert(!digest_equal(&here, &other));
        assert_ok(build_keys(history, recipes[0], &all, &n));
        ck_assert(digest_equal(&all[commit_of("two")], &other));
        free(all);
        close_all();
}
END_TEST

/* What a build does to the sources is undone before the next one. */
START_TEST(test_modified_sources_are_put_back)
{
        shell("git init -q -b main r; cd r; mkdir d e; echo 1 > d/a; echo 2 > b; echo 3 > c; echo 4 > e/f; echo 5 > g; ln -s b "
              "link; printf '#!' > x; chmod +x x; commit one; "
              "git tag one; echo n > n; commit two");
        begin("build = cat d/a b c e/f g link > prog\nbuild = ls -l x | cut -c1-4 >> prog\n"
              "build = \"echo changed > b; rm c; rm -r e; echo file > e; rm g; mkdir g; echo y > g/y; rm link; ln -s /etc/passwd "
              "link; chmod -x x; "
              "touch d/a\"\noutput = prog\n");
        build_ok("one");
        check_output("1\n2\n3\n4\n5\n2\n-rwx\n");
        build_ok("main");
        check_output("1\n2\n3\n4\n5\n2\n-rwx\n");
        close_all();
}
END_TEST

/* A link in the place of a folder leads the checkout nowhere. */
START_TEST(test_links_are_not_followed)
{
        cleanup_buffer struct buffer command = {0}, recipe = {0};
        char path[PATH_SIZE];

        shell("git init -q -b main r; cd r; mkdir -p d/e; echo 1 > d/e/a; commit one; git tag one; echo 2 > d/e/a; echo b > d/b; "
              "commit two; "
              "mkdir -p ../outside/e; echo precious > ../outside/e/a; echo precious > ../outside/b; chmod -R a+rwX ../outside");
        ck_assert_ptr_nonnull(getcwd(path, sizeof(path)));
        buffer_adds(&command, "ln -s ");
        buffer_add_shell_word(&command, path);
        buffer_adds(&command, "/outside d");
        buffer_adds(&recipe, "build = cat d/e/a > prog\nbuild = rm -r d\nbuild = ");
        gitconfig_quote(&recipe, command.data);
        buffer_adds(&recipe, "\noutput = prog\n");
        begin(recipe.data);
        build_ok("one");
        build_ok("main");
        check_output("2\n");
        build_ok("one");
        check_output("1\n");
        shell("[ \"$(cat outside/e/a outside/b)\" = \"$(printf 'precious\\nprecious')\" ]");
        close_all();
}
END_TEST

/* Files, folders and links take each other's places. What a build finds is always what git would have, and only the recipe's paths. */
START_TEST(test_worktree_is_the_commit)
{
        static const char *const order[] = {"1", "2", "3", "4", "5", "1"};

        shell("git init -q -b main r; cd r; c() { commit $1; git tag $1; }; "
              "echo 1 > a; mkdir -p d/e; echo 2 > d/e/f; ln -s a l; echo 3 > 'sp ace'; printf x > empty; : > empty; echo 7 > z; "
              "c 1; "
              "rm a; mkdir a; echo 1 > a/b; echo '#!/bin/sh' > d/e/f; chmod +x d/e/f; rm l; echo l > l; c 2; "
              "rm -r a d; ln -s nowhere a; echo d > d; printf 'tab\\there' > \"$(printf 'new\\nline')\"; c 3; "
              "rm a; mkdir -p a/b/c/d/e; echo deep > a/b/c/d/e/f; rm d; mkdir d; echo x > d/.gitignore; echo y > a.c; c 4; "
              "git rm -rq .; echo only > only; c 5");
        begin("build = tar cf $TMPDIR/t .\nbuild = echo junk > junk\nbuild = mv $TMPDIR/t prog\noutput = prog\n");
        for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
                char script[512];
                int fd;

                build_ok(order[i]);
                assert_ok(programs_get(programs, &record->outputs[0].id, &fd, NULL));
                snprintf(script, sizeof(script),
                         "rm -rf want have; mkdir want have; git -C r archive %s | tar x -C want; tar x -C have -f /proc/%d/fd/%d; "
                         "for d in want have; do (cd $d; find . -type f -perm -100 | LC_ALL=C sort; find . | LC_ALL=C sort) > $d.list; done; "
                         "cmp want.list have.list; diff -r --no-dereference want have",
                         order[i], getpid(), fd);
                shell(script);
                close(fd);
        }
        close_all();
}
END_TEST

START_TEST(test_stale_output_is_no_output)
{
        shell("git init -q -b main r; cd r; printf 'all:\\n\\tcp a prog\\n' > Makefile; echo 1 > a; commit one; git tag one; "
              "printf 'all:\\n\\ttrue\\n' > Makefile; commit two");
        begin("build = make\noutput = prog\n");
        build_ok("one");
        build_fails("main", "the build made no prog");
        close_all();
}
END_TEST

/* They have one core with the build. */
static void spin_on(const cpu_set_t *core, pid_t *ret, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                ret[i] = fork();
                if (ret[i] != 0)
                        continue;
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                setsid(); /* or all of them together have the share of one session */
                sched_setaffinity(0, sizeof(*core), core);
                for (;;)
                        ;
        }
}

START_TEST(test_a_starved_build_is_no_fact)
{
        struct build_request q;
        cpu_set_t core;
        pid_t others[6];
        int r;

        CPU_ZERO(&core);
        CPU_SET((size_t)sched_getcpu(), &core);
        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        begin("build = \"while :; do :; done\"\noutput = prog\nbuild-timeout = 1s\n");
        q = request_for("main");
        q.cpus = &core;
        spin_on(&core, others, ARRAY_SIZE(others));
        r = build(&q, &record);
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                kill(others[i], SIGKILL);
                waitpid(others[i], NULL, 0);
        }
        ck_assert_int_eq(r, -EIO);
        ck_assert_msg(strstr(error_message(r), "timed out after 1s") && strstr(error_message(r), "nothing is recorded"), "%s",
                      error_message(r));
        close_all();
}
END_TEST

START_TEST(test_failures)
{
        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        begin("build = true\nbuild = \"echo why; exit 3\"\noutput = prog\n");
        build_fails("main", "command 2 (echo why; exit 3) exited with status 3");
        ck_assert(logged("+ true\n+ echo why; exit 3\nwhy\n"));
        use_recipe("build = kill -SEGV $$\noutput = prog\n");
        build_fails("main", "command 1 (kill -SEGV $$) was killed by signal 11 (Segmentation fault)");
        use_recipe("build = sleep 100\noutput = prog\nbuild-timeout = 1s\n");
        build_fails("main", "timed out after 1s, in command 1 (sleep 100)");
        use_recipe("build = sleep 0.6\nbuild = sleep 0.6\noutput = prog\nbuild-timeout = 1s\n"); /* all of it together */
        build_fails("main", "timed out after 1s, in command 2 (sleep 0.6)");
        use_recipe("build = true\noutput = prog\n");
        build_fails("main", "the build made no prog");
        use_recipe("build = true\noutput = d/prog\n");
        build_fails("main", "the build made no d/prog");
        use_recipe("build = mkdir prog\noutput = prog\n");
        build_fails("main", "output prog is a folder: name the files in it");
        use_recipe("build = mkfifo prog\noutput = prog\n");
        build_fails("main", "output prog is not a regular file of the build");
        use_recipe("build = \"python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' prog\"\noutput = prog\n");
        build_fails("main", "output prog is not a regular file of the build");
        use_recipe("build = ln -s /etc/passwd prog\noutput = prog\n");
        build_fails("main", "output prog is a link out of the build's folder, or an absolute one: make it relative");
        use_recipe("build = ln -s $(printf ../%.0s $(seq 50))etc/passwd prog\noutput = prog\n");
        build_fails("main", "output prog is a link out of the build's folder, or an absolute one: make it relative");
        use_recipe("build = ln -s prog prog\noutput = prog\n");
        build_fails("main", "output prog is not a regular file of the build");
        use_recipe("build = ln -s nowhere prog\noutput = prog\n");
        build_fails("main", "the build made no prog");
        use_recipe("build = ln -s /etc d\noutput = d/passwd\n");
        build_fails("main", "output d/passwd is a link out of the build's folder, or an absolute one: make it relative");
        use_recipe("build = : > prog\noutput = prog\n");
        build_fails("main", "output prog is empty");
        use_recipe("build = truncate -s 1025M prog\noutput = prog\n");
        build_fails("main", "output prog has more than 1g, which is more than the store takes");
        use_recipe("build = \"echo a\\nb; false\"\noutput = prog\n");
        build_fails("main", "command 1 (echo a b; false) exited with status 1"); /* one line */
        use_recipe("build = mkdir lib && echo 1.2 >lib.so.1.2 && ln -s ../lib.so.1.2 lib/lib.so.1\noutput = lib/lib.so.1\n"); /* under its soname */
        build_ok("main");
        check_output("1.2\n");
        ck_assert_str_eq(record->outputs[0].name, "lib.so.1");
        use_recipe("build = mkdir release && echo 1 >release/prog && ln -s release bin\noutput = bin/prog\n");
        build_ok("main");
        check_output("1\n");
        close_all();
}
END_TEST

START_TEST(test_what_a_build_sees)
{
        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        begin("build = \"{ pwd; echo $SOURCE_DATE_EPOCH $TZ $LANG; echo $X; echo {jobs} ${HOME:+home}; touch $TMPDIR/t && echo "
              "scratch; "
              "ls -d .git /root/* /home/*; cat < /dev/tcp/localhost/1 || echo no net; } > prog 2>/dev/null\"\n"
              "output = prog\nenvironment = X=a b\nenvironment = TZ=EST\n");
        build_ok("main");
        check_output("/build\n315532800 EST C.UTF-8\na b\n2 home\nscratch\nno net\n");
        ck_assert(!record->outputs[0].executable);
        close_all();
}
END_TEST

START_TEST(test_without_sandbox)
{
        struct build_request q;

        make_history();
        begin(RECIPE);
        q = request_for("one");
        q.sandbox = SANDBOX_NONE;
        run_build(&q);
        ck_assert(record->ok);
        check_output("a1\nb1\n");
        q = request_for("two");
        q.sandbox = SANDBOX_NONE;
        run_build(&q);
        ck_assert(record->ok);
        check_output("a2\nb1\n");
        close_all();
}
END_TEST

START_TEST(test_programs_are_deltas)
{
        struct digest first, base;
        uint64_t stored;
        unsigned depth;

        shell("git init -q -b main r; cd r; head -c 300000 /dev/urandom > big; commit one; git tag one; echo more >> big; commit "
              "two");
        begin("build = cp big prog\noutput = prog\n");
        build_ok("one");
        first = record->outputs[0].id;
        build_ok("main");
        assert_ok(programs_info(programs, &record->outputs[0].id, &stored, &depth, &base));
        ck_assert_uint_eq(depth, 1);
        ck_assert(digest_equal(&base, &first));
        ck_assert_uint_lt(stored, 10000);
        close_all();
}
END_TEST

START_TEST(test_several_outputs)
{
        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        begin("build = mkdir -p out && cp a out/x && echo data > y && chmod +x out/x\noutput = out/x\noutput = y\n");
        build_ok("main");
        ck_assert_uint_eq(record->n_outputs, 2);
        ck_assert_str_eq(record->outputs[0].name, "x");
        ck_assert_str_eq(record->outputs[1].name, "y");
        ck_assert(record->outputs[0].executable && !record->outputs[1].executable);
        use_recipe("build = true\noutput = a\n"); /* a script that needs no building */
        build_ok("main");
        check_output("1\n");
        build_ok("main");
        check_output("1\n");
        close_all();
}
END_TEST

START_TEST(test_logs)
{
        shell("git init -q -b main r; cd r; echo 1 > a; commit one");
        begin("build = printf 'a\\\\0b\\\\377c'\nbuild = echo err >&2\nbuild = cp a prog\noutput = prog\n");
        build_ok("main");
        ck_assert_uint_eq(record->log.size,
                          strlen("+ printf 'a\\0b\\377c'\n") + 5 + 1 + strlen("+ echo err >&2\nerr\n+ cp a prog\n"));
        ck_assert(logged("c\n+ echo err >&2\nerr\n"));
        ck_assert_ptr_nonnull(memmem(record->log.data, record->log.size, "a\0b\377c\n", 6));
        use_recipe("build = \"echo first; head -c 40000000 /dev/zero | tr '\\\\0' x; echo last\"\nbuild = cp a prog\noutput = "
                   "prog\n");
        build_ok("main");
        ck_assert_uint_lt(record->log.size, 17 << 20);
        ck_assert_uint_gt(record->log.size, 1 << 20);
        ck_assert(logged("first\nxxx") && logged("xxxlast\n") && logged("bytes cut") && logged("+ cp a prog\n"));
        close_all();
}
END_TEST

START_TEST(test_records_come_back)
{
        cleanup_buffer struct buffer b = {0};
        struct build_record *back;

        make_history();
        begin(RECIPE);
        build_ok("one");
        for (int failed = 0; failed < 2; failed++) {
                b.size = 0;
                assert_ok(build_record_encode(record, &b));
                for (int with_log = 0; with_log < 2; with_log++) {
                        assert_ok(build_record_decode(SLICE(b.data, b.size), with_log, &back));
                        ck_assert_int_eq(back->ok, record->ok);
                        ck_assert_pstr_eq(back->reason, record->reason);
                        ck_assert(git_oid_equal(&back->commit, &record->commit));
                        ck_assert_int_eq(back->started, record->started);
                        ck_assert_uint_eq(back->duration_ns, record->duration_ns);
                        ck_assert_uint_eq(back->cpu_ns, record->cpu_ns);
                        ck_assert_uint_eq(back->memory, record->memory);
                        ck_assert_uint_eq(back->n_outputs, record->n_outputs);
                        for (size_t i = 0; i < back->n_outputs; i++) {
                                ck_assert_str_eq(back->outputs[i].name, record->outputs[i].name);
                                ck_assert(digest_equal(&back->outputs[i].id, &record->outputs[i].id));
                                ck_assert_uint_eq(back->outputs[i].size, record->outputs[i].size);
                                ck_assert_int_eq(back->outputs[i].executable, record->outputs[i].executable);
                        }
                        ck_assert_uint_eq(back->log.size, with_log ? record->log.size : 0);
                        ck_assert(!with_log || memcmp(back->log.data, record->log.data, back->log.size) == 0);
                        build_record_unref(back);
                }
                for (size_t n = 0; n < b.size; n++) /* cut anywhere: no record */
                        assert_error(build_record_decode(SLICE(b.data, n), WITH_LOG, &back), EBADMSG);
                for (size_t n = 0; n < b.size; n++) { /* damaged anywhere: none, or another, but no crash */
                        b.data[n] = (char)~b.data[n];
                        if (build_record_decode(SLICE(b.data, b.size), WITH_LOG, &back) == 0)
                                build_record_unref(back);
                        b.data[n] = (char)~b.data[n];
                }
                use_recipe("build = false\noutput = prog\n");
                if (!failed)
                        build_fails("one", "command 1 (false) exited with status 1");
        }
        free(steal_pointer(record->reason)); /* neither a program nor a reason: whoever wrote that was not us */
        b.size = 0;
        assert_ok(build_record_encode(record, &b));
        assert_error(build_record_decode(SLICE(b.data, b.size), WITH_LOG, &back), EBADMSG);
        close_all();
}
END_TEST

static void *build_some(void *user)
{
        static const char *const revisions[] = {"one", "two", "three"};
        static const char *const programs_of[] = {"a1\nb1\n", "a2\nb1\n", "a2\nb2\n"};

        for (int i = 0; i < 4; i++) {
                size_t k = ((size_t)(uintptr_t)user + (size_t)i) % 3;
                struct build_request q = request_for(revisions[k]);
                cleanup(build_record_unrefp) struct build_record *b = NULL;
                cleanup_blob struct blob content = {0};
                int fd;

                q.slot = (unsigned)(uintptr_t)user;
                if (build(&q, &b) < 0 || !b->ok || programs_get(programs, &b->outputs[0].id, &fd, NULL) < 0)
                        return user;
                if (read_fd(fd, 100, &content) < 0 || content.size != 6 || memcmp(content.data, programs_of[k], 6) != 0)
                        return user;
                close(fd);
        }
        return NULL;
}

START_TEST(test_many_at_once)
{
        pthread_t threads[4];

        make_history();
        begin(RECIPE);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, build_some, (void *)(i + 1)), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
                void *failed;

                pthread_join(threads[i], &failed);
                ck_assert_ptr_null(failed);
        }
        ck_assert_uint_le(count_worktrees(), 4);
        close_all();
}
END_TEST

START_TEST(test_killed_build)
{
        make_history();
        begin(RECIPE "build = true\n");
        build_ok("one");
        use_recipe("build = make a.o && : > b.o && sleep $(cat wait 2>/dev/null || echo 100)\nbuild = make\noutput = prog\n");
        for (int i = 0; i < 3; i++) {
                pid_t pid = build_in_child("two");

                usleep(100000 + 100000 * (useconds_t)i);
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
        }
        use_recipe(RECIPE "build = true\n");
        build_ok("two");
        check_output("a2\nb1\n");
        ck_assert_uint_le(count_worktrees(), 2);
        ck_assert_int_eq(access("work/0.scratch", F_OK), -1);
        close_all();
}
END_TEST

/* What a killed build still writes while it dies does not get into the next one. */
START_TEST(test_straggler)
{
        pid_t pids[4];

        make_history();
        begin("build = make\nbuild = ls | grep -c stray >> prog || true\noutput = prog\n");
        build_ok("one");
        shell("mkdir work/0");
        for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
                pids[i] = fork();
                if (pids[i] == 0 && chdir("work/0") == 0)
                        for (unsigned n = 0;; n++) {
                                char name[32];

                                snprintf(name, sizeof(name), "stray%zu.%u", i, n % 2000);
                                close(open(name, O_WRONLY | O_CREAT, 0600));
                        }
        }
        usleep(50000);
        build_ok("two");
        check_output("a2\nb1\n0\n");
        for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
                kill(pids[i], SIGKILL);
                waitpid(pids[i], NULL, 0);
        }
        build_ok("three");
        close_all();
}
END_TEST

static void *cancel_soon(void *user)
{
        usleep(200000);
        eventfd_write(*(int *)user, 1);
        return NULL;
}

START_TEST(test_cancelled_build)
{
        struct build_request q;
        int fd = eventfd(0, EFD_CLOEXEC);
        pthread_t thread;

        make_history();
        begin(RECIPE);
        build_ok("one");
        q = request_for("two");
        q.cancel_fd = fd;
        use_recipe("build = sleep 100\noutput = prog\n");
        q.recipe = recipes[0];
        record = build_record_unref(record);
        pthread_create(&thread, NULL, cancel_soon, &fd);
        assert_error(build(&q, &record), ECANCELED);
        assert_error(build(&q, &record), ECANCELED); /* before it began */
        pthread_join(thread, NULL);
        close(fd);
        use_recipe(RECIPE);
        build_ok("two");
        check_output("a2\nb1\n");
        close_all();
}
END_TEST

START_TEST(test_damaged_pool)
{
        static const char *const damage[] = {
                "echo junk > work/0.state",
                ": > work/0.state",
                "echo '{\"programs\": [\"junk\"]}' > work/0.state",
                "mkdir work/0; echo left > work/0/prog",
                "echo file > work/0",
                "ln -s /etc work/0",
                "rm -r work",
                "rm work/0.lock",
                "mkdir work/0.scratch; touch work/0.scratch/x",
                "touch work/7.lock work/junk.lock work/12x",
        };

        make_history();
        begin(RECIPE);
        build_ok("one");
        for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
                shell(damage[i]);
                build_ok(i % 2 ? "one" : "three");
                check_output(i % 2 ? "a1\nb1\n" : "a2\nb2\n");
        }
        close_all();
}
END_TEST

START_TEST(test_submodules_are_left_out)
{
        shell("git init -q -b main r; cd r; echo 1 > a; git update-index --add --cacheinfo "
              "160000,1234567890123456789012345678901234567890,sub/mod; "
              "git add a; git commit -qm one");
        begin("build = cp a prog && rmdir sub/mod\noutput = prog\n");
        build_ok("main");
        ck_assert(logged("(submodule sub/mod is an empty folder: the recipe has no key 'submodule = sub/mod=REPO')\n+ cp a prog && rmdir sub/mod\n"));
        close_all();
}
END_TEST

/* A library within another repository, at a folder where that has files of its own, one of them below a path of the recipe. */
START_TEST(test_within)
{
        char host[256], other[256], lines[1024];
        struct digest keys[2];
        struct build_request q;

        shell("git init -q -b main h; cd h; mkdir -p lib/sub; echo own > lib/f; echo own > lib/sub/x; echo top > top; echo no > left; commit one; echo more > left; commit two");
        shell("git init -q -b main r; cd r; mkdir sub; echo f1 > f; echo s > sub/y; commit one; git tag one; echo f2 > f; commit two; git tag two");
        ask("git -C h rev-parse HEAD~1", host);
        ask("git -C h rev-parse HEAD", other);
        snprintf(lines, sizeof(lines), "within = lib=h %s\npaths = top\npaths = lib/sub\nbuild = \"cat top lib/f > prog; find . -type f | sort >> prog\"\noutput = prog\n", host);
        begin(lines);
        q = request_for("one");
        assert_error(build(&q, &record), EIO);
        ck_assert_ptr_nonnull(strstr(error_message(-EIO), "is built within, is not in the store"));
        ck_assert(!history_holds(history, host));
        assert_ok(history_fetch_submodule(history, "h", "h", NULL));
        ck_assert(history_holds(history, host));
        build_ok("one");
        check_output("top\nf1\n./lib/f\n./lib/sub/y\n./prog\n./top\n");
        ck_assert(logged("own folder lib gives way to commit "));
        ck_assert(git_oid_streq(&record->commit, host) != 0); /* it is the library's */
        build_ok("two");
        check_output("top\nf2\n./lib/f\n./lib/sub/y\n./prog\n./top\n");
        assert_ok(build_key(history, commit_of("two"), recipes[0], &keys[0]));
        memcpy(strstr(lines, host), other, strlen(other));
        use_recipe(lines);
        assert_ok(build_key(history, commit_of("two"), recipes[0], &keys[1]));
        ck_assert(!digest_equal(&keys[0], &keys[1]));
        assert_ok(build_key(history, commit_of("one"), recipes[0], &keys[0]));
        ck_assert(!digest_equal(&keys[0], &keys[1]));
        close_all();
}
END_TEST

/* One repository's files within another's, both at commits of their lines. */
START_TEST(test_pinned_within_pinned)
{
        char a[256], b[256], lines[1024];

        shell("git init -q -b main a; cd a; mkdir in; echo old > in/x; echo a > a; commit a; git init -q -b main ../b; cd ../b; echo b > b; commit b");
        shell("git init -q -b main r; cd r; mkdir -p m/old; echo own > m/own; echo own > m/old/own; echo r > r; commit r");
        ask("git -C a rev-parse HEAD", a);
        ask("git -C b rev-parse HEAD", b);
        snprintf(lines, sizeof(lines), "submodule = m/in=b %s\nsubmodule = m=a %s\nbuild = find . -type f ! -name prog | sort > prog\noutput = prog\n", b, a);
        begin(lines);
        assert_ok(history_fetch_submodule(history, "a", "a", NULL));
        assert_ok(history_fetch_submodule(history, "b", "b", NULL));
        build_ok("main");
        check_output("./m/a\n./m/in/b\n./r\n");
        close_all();
}
END_TEST

START_TEST(test_hostile_trees)
{
        char sha[256], script[512];
        git_odb *odb;
        git_oid blob, empty, tree;

        shell("git init -q -b main r; cd r; echo 1 > a; commit one; git hash-object -w /dev/null");
        odb = open_objects("r");
        ask("git -C r rev-parse HEAD:a", sha);
        git_oid_fromstr(&blob, sha);
        ask("git -C r rev-parse HEAD^{tree}", sha);
        git_oid_fromstr(&tree, sha);
        ask("git -C r hash-object /dev/null", sha);
        git_oid_fromstr(&empty, sha);

        const struct {
                const char *branch;
                git_oid tree;
        } commits[] = {
                {"bomb", nest(odb, 1, 10, 8, tree)},
                {"deep", nest(odb, 1, 1, 300, tree)},
                {"hollow", nest(odb, 1, 10, 12, write_tree(odb, "", "", 0, 0, &tree))},
                {"nowhere", write_tree(odb, "120000", "link", 0, 1, &empty)},
                {"names", nest(odb, 240, 14, 5, tree)},
                {"dotdot", write_tree(odb, "100644", "..", 0, 1, &blob)},
                {"slash", write_tree(odb, "100644", "../../escaped", 0, 1, &blob)},
                {"dotgit", write_tree(odb, "40000", ".GIT", 0, 1, &tree)},
                {"dot", write_tree(odb, "40000", ".", 0, 1, &tree)},
        };

        git_odb_free(odb);
        for (size_t i = 0; i < ARRAY_SIZE(commits); i++) {
                snprintf(script, sizeof(script), "cd r; git branch %s $(git commit-tree -m x %s)", commits[i].branch, git_oid_tostr_s(&commits[i].tree));
                shell(script);
        }
        shell("git -C r repack -adq"); /* a million loose objects take seconds to open */
        begin("build = cp a prog\noutput = prog\n");
        build_fails("dotdot", "the sources hold a file named '..', which cannot be checked out");
        build_fails("slash", "the sources hold a file named '../../escaped', which cannot be checked out");
        build_fails("dotgit", "the sources hold a file named '.GIT', which cannot be checked out");
        build_fails("dot", "the sources hold a file named '.', which cannot be checked out");
        build_fails("bomb", "the sources have more than 1000000 files and folders");
        build_fails("hollow", "the sources have more than 1000000 files and folders"); /* and not one file */
        build_fails("names", "the sources have paths of more than 268435456 bytes in all");
        build_fails("nowhere", "the sources hold a link to nowhere, which cannot be checked out: link");
        build_fails("deep", "the sources have folders nested more than 256 deep");
        ck_assert_int_eq(access("escaped", F_OK), -1);
        build_ok("main");
        close_all();
}
END_TEST

START_TEST(test_lost_objects)
{
        struct build_request q;

        make_history();
        begin(RECIPE);
        build_ok("one");
        shell("cd repos/x.git; s=$(git rev-parse three:b.c); rm -f objects/$(echo $s | cut -c1-2)/$(echo $s | cut -c3-)");
        history_unref(history);
        assert_ok(history_open(store, &tables, "repos", "x", 1, &history));
        q = request_for("three");
        record = build_record_unref(record);
        assert_error(build(&q, &record), ESTALE);
        ck_assert_ptr_nonnull(strstr(error_message(-ESTALE), "lacks b.c"));
        build_ok("two");
        close_all();
}
END_TEST

/* On a disk that is full no build is said to have failed. */
START_TEST(test_full_disk)
{
        struct build_request q;

        NEEDS_OWN_MOUNTS;
        shell("git init -q -b main r; cd r; head -c 750000 /dev/urandom > big; commit one; git tag one; head -c 15000000 "
              "/dev/zero > big; commit two");
        begin("build = cat big big big big big big big big > copy\nbuild = cp big prog\noutput = prog\n");
        assert_ok(make_dirs("work", 0700));
        ck_assert_int_eq(mount("tmpfs", "work", "tmpfs", 0, "size=12m"), 0);
        q = request_for("main");
        assert_error(build(&q, &record), ENOSPC); /* in the checkout */
        use_recipe("build = cat /dev/zero > copy\nbuild = cp big prog\noutput = prog\n");
        q = request_for("one");
        assert_error(build(&q, &record), ENOSPC); /* in the build */
        use_recipe("build = cp big prog\noutput = prog\n");
        build_ok("one");
        close_all();
        umount("work");
}
END_TEST

START_TEST(test_prune)
{
        make_history();
        begin(RECIPE);
        assert_ok(build_prune(work)); /* none there yet */
        build_ok("one");
        shell("mkdir work/0; echo > work/0/left"); /* by a build that was killed */
        assert_ok(build_prune(work));
        shell("[ \"$(ls work | tr '\\n' ' ')\" = '0.lock 0.state ' ]");
        build_ok("two");
        close_all();
}
END_TEST

/* Worktrees in use stay. */
START_TEST(test_prune_leaves_what_is_used)
{
        int status;
        pid_t pid;

        make_history();
        begin("build = \"while [ ! -e go ]; do sleep 0.05; done\"\nbuild = make\noutput = prog\n");
        pid = build_in_child("one");
        while (access("work/0/Makefile", F_OK) < 0)
                usleep(10000);
        assert_ok(build_prune(work));
        ck_assert_int_eq(access("work/0/Makefile", F_OK), 0);
        shell("touch work/0/go");
        waitpid(pid, &status, 0);
        ck_assert_int_eq(status, 0);
        close_all();
}
END_TEST

/* The second output, `stats`, is how many kinds of hits ccache counts. */
static void build_through_ccache(const char *rev, const char *dir, bool hits)
{
        struct build_request q = request_for(rev);
        cleanup_blob struct blob b = {0};
        int fd;

        assert_ok(build_prune(work));
        q.ccache_dir = dir;
        run_build(&q);
        ck_assert_msg(record->ok, "%.*s", (int)record->log.size, (const char *)record->log.data);
        if (!dir)
                return;
        assert_ok(programs_get(programs, &record->outputs[1].id, &fd, NULL));
        assert_ok(read_fd(fd, 1 << 20, &b));
        close(fd);
        ck_assert_msg((*(const char *)b.data == '0') == !hits, "%.*s", (int)b.size, (const char *)b.data);
}

#define NEEDS_PROGRAM(path) SKIP_UNLESS(access(path, X_OK) == 0, path)

/* What it gives is what the compiler gives without it, and what it has given before is not compiled again. */
START_TEST(test_ccache)
{
        struct digest plain;
        char dir[PATH_SIZE];

        NEEDS_PROGRAM("/usr/lib/ccache/cc");
        shell("git init -q -b main r; cd r; mkdir d; echo '#define N 0' > d/n.h; commit one;"
              "printf '#include \"n.h\"\\n#include <stdio.h>\\nint main(void) { return puts(__FILE__) + N; }\\n' > d/a.c; commit "
              "two");
        begin("build = cc -I$PWD/d -MD -c $PWD/d/a.c && cc -o prog a.o\n"
              "build = ccache --print-stats | grep -c 'cache_hit.*[1-9]' > stats || true\n"
              "output = prog\noutput = stats\n");
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        build_through_ccache("main", NULL, false);
        plain = record->outputs[0].id;
        build_through_ccache("main", dir, false);
        ck_assert(digest_equal(&plain, &record->outputs[0].id));
        build_through_ccache("main", dir, true);
        ck_assert(digest_equal(&plain, &record->outputs[0].id));
        close_all();
}
END_TEST

static struct digest built_with(const char *rev, const char *ccache, bool again)
{
        struct build_request q = request_for(rev);

        q.ccache_dir = ccache;
        q.again = again;
        run_build(&q);
        ck_assert_msg(record->ok, "%s: %.*s", rev, (int)record->log.size, (const char *)record->log.data);
        return record->outputs[0].id;
}

/* Builds every tag of r without a cache, then with one, there and back, and the first once more without what the cache has. Each time it is the same
 * program. */
static void compare_with_ccache(const char *const *tags, size_t n, const char *recipe)
{
        struct digest plain[16], through;
        char dir[PATH_SIZE];

        begin(recipe);
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        for (size_t i = 0; i < n; i++)
                plain[i] = built_with(tags[i], NULL, false);
        for (size_t i = 0; i <= 2 * n; i++) {
                size_t k = i < n ? i : i < 2 * n ? 2 * n - 1 - i : 0;

                through = built_with(tags[k], dir, i == 2 * n);
                ck_assert_msg(digest_equal(&plain[k], &through), "%s, build %zu:\n%.*s", tags[k], i, (int)record->log.size,
                              (const char *)record->log.data);
        }
        close_all();
}

/* Headers that appear and go; what the assembler includes; columns in debug information; a link's target; comments. */
START_TEST(test_ccache_sees_all_that_a_compiler_sees)
{
        static const char *const tags[] = {"one", "shadow", "has", "gone", "blob", "columns", "link", "folder", "include"};

        NEEDS_PROGRAM("/usr/lib/ccache/cc");
        shell("git init -q -b main r; cd r; c() { commit $1; git tag $1; }; mkdir i1 i2 h1 h2 sys;"
              "echo '#define V 1' > i2/v.h; echo '#define W 1' > wa.h; echo '#define W 2' > wb.h; ln -s wa.h w.h;"
              "echo '#define F 1' > h1/f.h; echo '#define F 2' > h2/f.h; ln -s h1 h; echo '#define S 1' > sys/s.h; printf aaaa > blob;"
              "printf '.globl piece\\npiece: .byte 1\\n' > piece.inc; printf '.data\\n.include \"piece.inc\"\\n' > piece.s;"
              "printf '%s\n' '#include <v.h>' '#include \"w.h\"' '#include \"h/f.h\"' '#include <s.h>' '#if __has_include(\"x.h\")' "
              "'#define X 1' '#else' '#define X 0' '#endif' '__asm__(\".data; .globl blob; blob: .incbin \\\"blob\\\"; .previous\");' "
              "'__asm__(\".data; .include \\\"more.inc\\\"; .previous\");' "
              "'extern char blob[], piece;' 'int main(void) { return blob[0] + piece + V + W + F + S + X; }' > a.c; : > more.inc; c one;"
              "echo '#define V 2' > i1/v.h; c shadow; : > x.h; c has; rm x.h i1/v.h; c gone; printf bbbb > blob; c blob;"
              "sed -i 's/ + V/  +  V/' a.c; c columns; ln -sf wb.h w.h; c link; ln -sfn h2 h; c folder;"
              "echo '.byte 7' > more.inc; sed -i s/1/2/ piece.inc; c include");
        compare_with_ccache(tags, ARRAY_SIZE(tags),
                            "build = mkdir -p i1 && cc -g -MMD -Ii1 -Ii2 -isystem sys -c a.c && cc -c piece.s && cc -o prog a.o piece.o\n"
                            "output = prog\n");
}
END_TEST

/* Headers and times that show only where operators in the text and macros are expanded; what looks like a directive and is none. */
START_TEST(test_ccache_sees_what_expansion_does)
{
        static const char *const tags[] = {"one", "two"};

        NEEDS_PROGRAM("/usr/lib/ccache/c++");
        shell("git init -q -b main r; cd r; c() { for i in 1 2 3 4 5; do echo \"int h$i = $1$i;\" > h$i.h; done; echo $1 > stamp; commit $1; git tag $2; };"
              "printf '#define A 1\\n_Pragma(\"push_macro(\\\"A\\\")\")\\n#undef A\\n#define A 0\\n_Pragma(\"pop_macro(\\\"A\\\")\")\\n"
              "#if A\\n#include \"h1.h\"\\n#endif\\n' > operator.cc;"
              "printf '#define A 1\\n#pragma push_macro(\"A\")\\n#undef A\\n#define A 0\\n#pragma pop_macro(\"A\")\\n"
              "#if A\\n#include \"h2.h\"\\n#endif\\n' > pragma.cc;"
              "printf '_Pragma(\"once\")\\n#ifndef O\\n#define O\\n#else\\n#define P\\n#endif\\n' > o.h;"
              "printf '#include \"o.h\"\\n#include \"o.h\"\\n#ifndef P\\n#include \"h3.h\"\\n#endif\\n' > once.cc;"
              "printf 'int k = __COUNTER__;\\n#if __COUNTER__ == 1\\n#include \"h4.h\"\\n#endif\\n' > counter.cc;"
              "printf 'const char *s = R\"(\\n#if 0\\n)\";\\n#include \"h5.h\"\\n' > raw.cc;"
              "printf '#define W __DATE__\\n#include <stdio.h>\\nint main() { return puts(W __TIMESTAMP__) < 0; }\\n' > date.cc;"
              "c 100000001 one; c 200000002 two");
        compare_with_ccache(tags, ARRAY_SIZE(tags),
                            "build = \"touch -d @$(cat stamp) date.cc; for f in *.cc; do SOURCE_DATE_EPOCH=$(cat stamp) c++ -c $f || exit 1; done\"\n"
                            "build = c++ -o prog *.o\n"
                            "output = prog\n");
}
END_TEST

/* A warning that a comment silences is an error here. */
START_TEST(test_ccache_sees_comments)
{
        struct build_request q;
        char dir[PATH_SIZE];

        NEEDS_PROGRAM("/usr/lib/ccache/gcc");
        shell("git init -q -b main r; cd r; printf '%s\n' 'int main(int n, char **v) { switch (n) { case 1: n++; /* fall through */' "
              "'case 2: n++; } return n; }' > a.c; commit one; git tag one; sed -i 's/fall through/go on/' a.c; commit two");
        begin("build = gcc -Wextra -Werror -c a.c && gcc -o prog a.o\noutput = prog\n");
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        built_with("one", dir, false);
        q = request_for("main");
        q.ccache_dir = dir;
        run_build(&q);
        ck_assert(!record->ok);
        close_all();
}
END_TEST

/* A compiler that the sources bring along, through ccache by name: of one size, of one time. */
START_TEST(test_ccache_and_a_compiler_of_the_sources)
{
        static const char *const tags[] = {"one", "two"};

        NEEDS_PROGRAM("/usr/bin/ccache");
        shell("git init -q -b main r; cd r; printf '#!/bin/sh\nexec gcc -DN=1 \"$@\"\n' > mycc; chmod +x mycc; "
              "echo 'int main(void) { return N; }' > a.c; commit one; git tag one; sed -i s/N=1/N=2/ mycc; commit two; git tag two");
        compare_with_ccache(tags, ARRAY_SIZE(tags), "build = ccache ./mycc -c a.c && gcc -o prog a.o\noutput = prog\n");
}
END_TEST

/* Compilers of this test's own before the system's. */
#define NEEDS_OWN_COMPILERS \
        SKIP_UNLESS(test_own_mounts() && mount("tmpfs", "/usr/local/bin", "tmpfs", 0, "size=1m,mode=755") == 0, "root, for compilers of its own")

/* Another program before the machine's own. `option`: of the compiler or assembler, with the number. `time`: of its file, seconds. */
static void install_tool(const char *name, const char *program, const char *option, unsigned number, unsigned time)
{
        char script[512];

        snprintf(script, sizeof(script),
                 "cd /usr/local/bin && printf '#!/bin/sh\nexec /usr/bin/%s %s=%u \"$@\"\n' > %s.new && chmod 755 %s.new && touch -d @%u %s.new && "
                 "mv %s.new %s",
                 program, option, number, name, name, time, name, name, name);
        shell(script);
}

/* Another compiler at the same path, which tells the same version. */
static void install_compiler(unsigned number, unsigned time)
{
        install_tool("cc", "gcc", "-DCC", number, time);
}

/* A program that prints by which compiler each of its two objects was made. */
#define TWO_OBJECTS                                                                                                      \
        "git init -q -b main r; cd r; echo '#include <stdio.h>\nint b(void); int main(void) { printf(\"%d %d\", CC, b()); }' > a.c; " \
        "echo 'int b(void) { return CC; }' > b.c; "                                                                      \
        "printf 'out: prog\n\t./prog > out\nprog: a.o b.o\n\tcc -o prog a.o b.o\n%%.o: %%.c\n\t@echo compiling $<\n\tcc -c $<\n' > Makefile; "

static char *changed_of(void)
{
        char *path = NULL;

        ck_assert_int_ge(used_list_check(SLICE(record->used.data, record->used.size), &path), 0);
        return path;
}

/* The build knows of the file, and nothing that it knows has changed. */
static void check_used(const char *path)
{
        ck_assert_ptr_nonnull(memmem(record->used.data, record->used.size, path, strlen(path)));
        ck_assert_pstr_eq(changed_of(), NULL);
}

/* Every build's objects are of one compiler: from a compile cache that knows objects of both. */
START_TEST(test_upgraded_compiler)
{
        static const struct {
                unsigned number, time; /* of one size; the last ones of one time, too */
                const char *output;
        } compilers[] = {{1, 1000000000, "1 1"}, {2, 1000000001, "2 2"}, {3, 1000000001, "3 3"}, {1, 1000000000, "1 1"}, {3, 1000000001, "3 3"}};
        char dir[PATH_SIZE], tag[32];

        NEEDS_OWN_COMPILERS;
        shell(TWO_OBJECTS "for i in 0 1 2 3 4; do echo \"/* $i */\" >> a.c; commit c$i; git tag c$i; done");
        begin("build = make\noutput = out\n");
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        for (size_t i = 0; i < 2 * ARRAY_SIZE(compilers); i++) {
                size_t k = i % ARRAY_SIZE(compilers);

                install_compiler(compilers[k].number, compilers[k].time);
                snprintf(tag, sizeof(tag), "c%zu", k);
                built_with(tag, dir, false);
                check_output(compilers[k].output);
                check_used("/usr/local/bin/cc");
        }
        close_all();
}
END_TEST

/* ccache's own links lack a compiler that is younger than it. */
START_TEST(test_ccache_serves_every_compiler)
{
        char dir[PATH_SIZE];

        NEEDS_PROGRAM("/usr/bin/ccache");
        NEEDS_OWN_COMPILERS;
        shell("for name in clang++-99.1 i686-test-gcc gcc-ar-99 gccgo; do cp /bin/true /usr/local/bin/$name; done; git init -q -b main r; cd r; echo >a; commit one");
        begin("build = \"for name in clang++-99.1 i686-test-gcc gcc-ar-99 gccgo; do command -v $name; done | grep -v ^/usr | xargs -n 1 basename >shown\"\n"
              "output = shown\n");
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        built_with("main", dir, false);
        check_output("clang++-99.1\ni686-test-gcc\n");
        close_all();
}
END_TEST

/* A tool that compiles nothing comes: the compile cache still knows the objects. */
START_TEST(test_objects_outlive_other_tools)
{
        char dir[PATH_SIZE];

        NEEDS_PROGRAM("/usr/lib/ccache/cc");
        NEEDS_OWN_COMPILERS;
        shell("git init -q -b main r; cd r; echo 'int main(void) { return 0; }' > a.c; commit one");
        begin("build = cc -c a.c && cc -o prog a.o\n"
              "build = ccache --print-stats | grep -c 'preprocessed_cache_hit.*[1-9]' > stats || true\noutput = stats\n");
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        built_with("main", dir, false);
        check_output("0\n");
        shell("cp /bin/true /usr/local/bin/gperf");
        built_with("main", dir, false);
        check_output("1\n");
        close_all();
}
END_TEST

static void check_changed(const char *path)
{
        cleanup_free char *changed = changed_of();

        ck_assert_pstr_eq(changed, path);
}

/* What a build used is what it executed and read, and what it looked for in vain; nothing else of the machine has a say. */
START_TEST(test_used)
{
        NEEDS_OWN_COMPILERS;
        shell("git init -q -b main r; cd r; printf '#!/bin/sh\nif command -v nosuchtool; then echo it; fi > prog; "
              "own_tool >> prog; cat /usr/local/bin/own.h >> prog\n' > make.sh; commit one; "
              "printf '#!/bin/sh\necho made\n' > /usr/local/bin/own_tool; chmod 755 /usr/local/bin/own_tool; "
              "echo 'of one' > /usr/local/bin/own.h");
        begin("build = sh make.sh\noutput = prog\n");
        build_ok("main");
        check_output("made\nof one\n");
        check_used("/usr/local/bin/own_tool");
        check_used("/usr/local/bin/nosuchtool");
        check_used("/ld");
        ck_assert_ptr_null(memmem(record->used.data, record->used.size, "bison", 5));
        shell("echo another > /usr/local/bin/bison");
        check_changed(NULL);
        shell("echo another > /usr/local/bin/nosuchtool");
        check_changed("/usr/local/bin/nosuchtool");
        shell("rm /usr/local/bin/nosuchtool");
        check_changed(NULL);
        shell("echo 'of two' > /usr/local/bin/own.h");
        check_changed("/usr/local/bin/own.h");
        shell("echo 'of one' > /usr/local/bin/own.h");
        check_changed(NULL);
        shell("rm /usr/local/bin/own_tool");
        check_changed("/usr/local/bin/own_tool");
        shell("printf '#!/usr/local/bin/own_tool\n' > /usr/local/bin/own_tool; chmod 755 /usr/local/bin/own_tool"); /* its own interpreter */
        build_ok("main");
        check_used("/usr/local/bin/own_tool");
        close_all();
}
END_TEST

/* A build may say any name; only what its sandbox shows is on the list, by the path that it has there. */
START_TEST(test_used_is_of_the_sandbox)
{
        cleanup_free char *here = getcwd(NULL, 0);
        char script[2 * PATH_SIZE];

        NEEDS_OWN_COMPILERS;
        shell("echo secret > secret; echo text > /usr/local/bin/own.h; ln -s own.h /usr/local/bin/link.h; ln -s bin /usr/local/bin/X11; ln -s . /usr/local/bin/bin");
        snprintf(script, sizeof(script),
                 "ln -s %s /usr/local/bin/out; git init -q -b main r; cd r; printf 'cat $1 /usr/local/bin/bin/bin/bin/../../..$1 /usr/local/bin/out/secret "
                 "/usr/local/bin/bin/../bin/link.h /usr/local/bin/none/../own.h; echo made > prog\n' > make.sh; commit one",
                 here);
        shell(script);
        snprintf(script, sizeof(script), "build = sh make.sh /usr/..%s/secret\noutput = prog\n", here);
        begin(script);
        build_ok("main");
        ck_assert_ptr_null(memmem(record->used.data, record->used.size, "secret", 6));
        ck_assert_ptr_null(memmem(record->used.data, record->used.size, "/..", 3));
        check_used("/usr/local/bin/link.h");
        check_used("/usr/local/bin/none");
        shell("echo another > /usr/local/bin/own.h");
        check_changed("/usr/local/bin/link.h");
        close_all();
}
END_TEST

/* A file in a mount of solverfs may wait for this build. Nobody serves this one: who opens a file in it waits for ever. */
START_TEST(test_used_is_of_no_mount)
{
        cleanup_close int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        char options[64];
        struct build_request q;

        NEEDS_OWN_COMPILERS;
        assert_ok(make_dirs("/usr/local/bin/mnt", 0755));
        snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
        SKIP_UNLESS(mount("x", "/usr/local/bin/mnt", "fuse.solverfs", 0, options) == 0, "FUSE");
        shell("git init -q -b main r; cd r; echo > a; commit one");
        begin("build = \"timeout -s KILL 0.2 cat /usr/local/bin/mnt/x; echo made > prog\"\noutput = prog\n");
        q = request_for("main");
        for (q.sandbox = SANDBOX_BWRAP; q.sandbox <= SANDBOX_NONE; q.sandbox++) {
                run_build(&q);
                ck_assert(record->ok);
                ck_assert_ptr_null(memmem(record->used.data, record->used.size, "mnt/x", 5));
                check_used("/bin/cat");
        }
        close_all();
}
END_TEST

/* A list is as long as those of all commands together. */
START_TEST(test_used_by_many_commands)
{
        static const char ask_for_many[] = "build = python3 make.py\n";
        char recipe[512] = "output = prog\n";

        shell("git init -q -b main r; cd r; printf 'import os\nfor i in range(45000): os.path.lexists(\"/usr/none/\" + str(i))\n' > make.py; commit one");
        for (unsigned i = 0; i < 3; i++)
                strcat(recipe, ask_for_many);
        strcat(recipe, "build = \"echo made > prog; cat /usr/none/last || :\"\n");
        begin(recipe);
        build_ok("main");
        check_used("/usr/none/1");
        check_used("/usr/none/last");
        close_all();
}
END_TEST

struct meanwhile {
        void (*install)(unsigned number, unsigned time);
        unsigned number, time;
        bool done;
};

/* Before the second command. */
static void exchange(void *user, const char *, uint64_t done, uint64_t total)
{
        struct meanwhile *m = user;

        if (!m->done && done == 1 && total == 2) {
                m->done = true;
                m->install(m->number, m->time);
        }
}

/* Before each command: touched, not exchanged. A file of the future looks like this, too. */
static void touch_compiler(void *touched, const char *, uint64_t, uint64_t)
{
        ck_assert_int_eq(chmod("/usr/local/bin/cc", 0755), 0); /* its ctime moves, nothing else */
        ++*(unsigned *)touched;
        usleep(20000); /* some ticks, in which the kernel stamps the attempt's begin alike */
}

static void exchange_compiler(void *number, const char *, uint64_t, uint64_t)
{
        install_compiler(++*(unsigned *)number, 1000000000);
}

START_TEST(test_compiler_touched_all_the_time)
{
        unsigned touched = 0;
        struct progress progress = {.tell = touch_compiler, .user = &touched};
        struct build_request q;

        NEEDS_OWN_COMPILERS;
        shell(TWO_OBJECTS "commit one");
        begin("build = make a.o\nbuild = make\noutput = out\n");
        install_compiler(1, 1000000000);
        usleep(20000);
        q = request_for("main");
        q.progress = &progress;
        run_build(&q); /* as nothing has other bytes, the second attempt is the last */
        check_output("1 1");
        ck_assert(record->ok && touched > 2);
        ck_assert(logged("exchanged meanwhile, such as /usr/local/bin/cc"));
        progress.tell = exchange_compiler;
        ck_assert_int_eq(build(&q, &record), -EIO);
        ck_assert_ptr_nonnull(strstr(error_message(-EIO), "changed during the build, such as /usr/local/bin/cc"));
        close_all();
}
END_TEST

static int build_meanwhile(struct build_request *q, void (*install)(unsigned number, unsigned time), unsigned number, unsigned time)
{
        struct meanwhile m = {install, number, time, false};
        struct progress progress = {.tell = exchange, .user = &m};
        int r;

        q->progress = &progress;
        record = build_record_unref(record);
        r = build(q, &record);
        q->progress = NULL;
        ck_assert(m.done);
        return r;
}

/* Compilers that are exchanged while a build runs, or between the asking for it and its beginning. */
START_TEST(test_compiler_upgraded_meanwhile)
{
        struct build_request q;

        NEEDS_OWN_COMPILERS;
        shell(TWO_OBJECTS "commit one");
        begin("build = make a.o\nbuild = make\noutput = out\n");
        install_compiler(1, 1000000000);
        q = request_for("main");
        assert_ok(build_meanwhile(&q, install_compiler, 2, 1000000001)); /* half of it by each: done anew */
        check_output("2 2");
        assert_ok(build_meanwhile(&q, install_compiler, 2, 1000000001)); /* the same once more, as by reinstalling: done anew by one */
        check_output("2 2");
        ck_assert(logged("exchanged meanwhile"));
        use_recipe("build = make a.o\nbuild = make && ./prog | grep '3 3'\noutput = out\n");
        q = request_for("main");
        assert_ok(build_meanwhile(&q, install_compiler, 3, 1000000002)); /* nor is a failure by each the commit's */
        ck_assert(record->ok);
        check_output("3 3");
        close_all();
}
END_TEST

/* Of two compilers that stay, cc becomes the other one, as by update-alternatives. */
static void choose_compiler(unsigned number, unsigned)
{
        char script[128];

        snprintf(script, sizeof(script), "cd /usr/local/bin && ln -s cc-%u cc.new && mv cc.new cc", number);
        shell(script);
}

START_TEST(test_compiler_chosen_meanwhile)
{
        struct build_request q;

        NEEDS_OWN_COMPILERS;
        shell(TWO_OBJECTS "commit one");
        begin("build = make a.o\nbuild = make\noutput = out\n");
        for (unsigned number = 1; number <= 2; number++)
                install_tool(number == 1 ? "cc-1" : "cc-2", "gcc", "-DCC", number, 1000000000);
        choose_compiler(1, 0);
        q = request_for("main");
        assert_ok(build_meanwhile(&q, choose_compiler, 2, 0));
        check_output("2 2");
        close_all();
}
END_TEST

/* Another assembler behind the same compiler. */
static void install_assembler(unsigned number, unsigned time)
{
        install_tool("as", "as", "--defsym AS", number, time);
}

/* The compile cache has an object of the first attempt, and is not asked for it in the second. */
START_TEST(test_assembler_upgraded_meanwhile)
{
        struct build_request q;
        char dir[PATH_SIZE];

        NEEDS_PROGRAM("/usr/lib/ccache/cc");
        NEEDS_OWN_COMPILERS;
        shell("printf '#!/bin/sh\nexec /usr/bin/gcc -B/usr/local/bin/ \"$@\"\n' > /usr/local/bin/cc && chmod 755 /usr/local/bin/cc");
        shell("git init -q -b main r; cd r; "
              "echo '#include <stdio.h>\nextern int a, b; __asm__(\".data; a: .int AS; .text\"); int main(void) { printf(\"%d %d\", a, b); }' > a.c; "
              "echo '__asm__(\".data; .globl b; b: .int AS; .text\");' > b.c; commit one");
        begin("build = cc -c a.c\nbuild = cc -c b.c && cc -o prog a.o b.o && ./prog > out\noutput = out\n");
        assert_ok(make_dirs("ccache", 0700));
        ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir) - 8));
        strcat(dir, "/ccache");
        install_assembler(1, 1000000000);
        q = request_for("main");
        q.ccache_dir = dir;
        assert_ok(build_meanwhile(&q, install_assembler, 2, 1000000001));
        check_output("2 2");
        close_all();
}
END_TEST

/* The state of the machine in which a build runs: one time, one name, whenever. */
START_TEST(test_build_is_of_no_time)
{
        struct digest first;

        shell("git init -q -b main r; cd r; printf '#!/bin/sh\n' > a; chmod +x a; echo x > b; ln -s b l; mkdir d; echo y > d/c; commit one");
        begin("build = \"{ date; date -u +%s; uname -n; echo $USER; umask; pwd; locale 2>/dev/null | head -1; "
              "find . ! -type d ! -name prog -printf '%p %M %T@ %l\\\\n' | sort; } > prog\"\noutput = prog\n");
        build_ok("main");
        first = record->outputs[0].id;
        shell("sleep 1.1; mkdir -p r2");
        build_ok("main");
        ck_assert(digest_equal(&first, &record->outputs[0].id));
        close_all();
}
END_TEST

static void take_descriptors(void *, const char *what, uint64_t, uint64_t)
{
        struct rlimit l;

        getrlimit(RLIMIT_NOFILE, &l);
        l.rlim_cur = 3;
        if (strcmp(what, "storing programs") == 0)
                ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &l), 0);
}

/* A program that this machine cannot open is there all the same. */
START_TEST(test_no_descriptor_for_an_output_is_no_fact)
{
        const struct progress progress = {.tell = take_descriptors};
        struct build_request q;
        struct rlimit before;
        int r;

        make_history();
        begin(RECIPE);
        q = request_for("one");
        q.progress = &progress;
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        r = build(&q, &record);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_error(r, EMFILE);
        build_ok("one");
        close_all();
}
END_TEST

/* Puts the file among the store's downloads. */
static struct digest_text put_download(const char *path)
{
        cleanup_blob struct blob b = {0};
        struct digest_text sum;
        char to[PATH_SIZE];
        struct digest d;

        assert_ok(read_file(path, 1 << 20, &b));
        digest_of(b.data, b.size, &d);
        sum = digest_text(&d);
        snprintf(to, sizeof(to), "downloads/%s", sum.s);
        assert_ok(make_dirs("downloads", 0700));
        assert_ok(write_file_atomic(to, b.data, b.size, 0600));
        return sum;
}

/* The output prog of the archive is the program of the branch main. */
static struct build_request request_for_archive(const char *path)
{
        char recipe[512];
        struct build_request q;

        snprintf(recipe, sizeof(recipe), "build = false\noutput = prog\n[binary \"main\"]\nfile = /%s\nsha256 = %s\noutput = prog\n", path,
                 put_download(path).s);
        use_recipe(recipe);
        q = request_for("main");
        q.downloads_dir = "downloads";
        return q;
}

/* Unpacking needs the 64 MiB of the archive's dictionary. */
START_TEST(test_no_memory_for_an_archive_is_no_fact)
{
        struct build_request q;
        struct rlimit before, small;
        char data[256];
        int r;

        SKIP_UNLESS(!TEST_SANITIZED, "no sanitizer, which needs memory itself");
        make_history();
        shell("printf '#!/bin/sh' > prog; tar c prog | xz --lzma2=preset=0,dict=64MiB > a.tar.xz");
        begin(RECIPE);
        q = request_for_archive("a.tar.xz");
        ask("awk '/VmData/ { print $2 }' /proc/$PPID/status", data);
        ck_assert_int_eq(getrlimit(RLIMIT_DATA, &before), 0);
        small = (struct rlimit){.rlim_cur = (strtoull(data, NULL, 10) << 10) + (32 << 20), .rlim_max = before.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_DATA, &small), 0);
        r = build(&q, &record);
        ck_assert_int_eq(setrlimit(RLIMIT_DATA, &before), 0);
        assert_error(r, ENOMEM);
        run_build(&q);
        ck_assert(record->ok);
        check_output("#!/bin/sh");
        close_all();
}
END_TEST

START_TEST(test_released_programs_that_the_store_does_not_take)
{
        struct build_request q;

        make_history();
        shell(": > prog; tar cf empty.tar prog");
        begin(RECIPE);
        q = request_for_archive("empty.tar");
        run_build(&q);
        ck_assert(!record->ok);
        ck_assert_str_eq(record->reason, "the released binary empty.tar has an empty prog");
        shell("truncate -s 1025M prog; tar cSf large.tar prog");
        q = request_for_archive("large.tar");
        run_build(&q);
        ck_assert(!record->ok);
        ck_assert_str_eq(record->reason, "the released binary large.tar has more than 1g, which is more than the store takes, in prog");
        close_all();
}
END_TEST

/* Only what is built is within another repository: the host's commit is not needed. */
START_TEST(test_a_released_program_is_within_nothing)
{
        struct build_request q;
        char recipe[512];

        make_history();
        shell("echo released > prog");
        begin(RECIPE);
        snprintf(recipe, sizeof(recipe), "within = lib=h %040d\nbuild = false\noutput = prog\n[binary \"main\"]\nfile = /prog\nsha256 = %s\n", 7,
                 put_download("prog").s);
        use_recipe(recipe);
        q = request_for("main");
        q.downloads_dir = "downloads";
        run_build(&q);
        check_output("released\n");
        q.downloads_dir = NULL;
        record = build_record_unref(record);
        assert_error(build(&q, &record), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "at main, is not in the store"), "%s", error_message(-EIO));
        close_all();
}
END_TEST

START_TEST(test_a_damaged_download_is_no_source)
{
        struct build_request q;
        struct digest_text sum;
        char recipe[512];

        make_history();
        shell("echo right > file");
        begin(RECIPE);
        sum = put_download("file");
        snprintf(recipe, sizeof(recipe), "download = /file %s\nbuild = cp /downloads/file prog\noutput = prog\n", sum.s);
        use_recipe(recipe);
        q = request_for("one");
        q.downloads_dir = realpath("downloads", NULL);
        run_build(&q);
        check_output("right\n");
        shell("echo wrong | tee downloads/* >/dev/null");
        record = build_record_unref(record);
        assert_error(build(&q, &record), EIO);
        ck_assert_msg(strstr(error_message(-EIO), "was damaged"), "%s", error_message(-EIO));
        free((char *)q.downloads_dir);
        close_all();
}
END_TEST

START_TEST(test_raised_limits)
{
        static const struct {
                const char *reason;
                bool is_raised;
        } rows[] = {
                {"timed out after 1m, in command 1 (make)", true},
                {"timed out after 2m, in command 1 (make)", false},
                {"timed out after 1h, in command 1 (make)", false},
                {"command 1 (x needs more than the 1g of memory) needs more than the 2047m of memory it may use (build-memory)", true},
                {"command 1 (make) needs more than the 2g of memory it may use (build-memory)", false},
                {"command 1 (make) needs more than the 3 processes it may have (build-processes)", true},
                {"command 1 (make) needs more than the 4 processes it may have (build-processes)", false},
                {"command 1 (x needs more than the 1g of memory it may use (build-memory)) exited with status 1", false},
                {"command 1 (echo timed out after 1s, in vain) exited with status 1", false},
                {"the build made no prog", false},
        };
        const struct recipe_limits now = {.wall_ns = 120 * NSEC_PER_SEC, .memory = UINT64_C(2) << 30, .processes = 4};

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                ck_assert_msg(build_limit_is_raised(rows[i].reason, &now) == rows[i].is_raised, "%s", rows[i].reason);
}
END_TEST

SUITE("build", test_build, test_keys, test_key_elsewhere, 
      test_modified_sources_are_put_back, test_links_are_not_followed, test_worktree_is_the_commit,
      test_stale_output_is_no_output, test_failures, test_what_a_build_sees, test_without_sandbox,
      test_programs_are_deltas, test_several_outputs, test_logs, test_records_come_back,
      test_many_at_once, test_killed_build, test_a_starved_build_is_no_fact, test_straggler, test_cancelled_build, test_damaged_pool,
      test_submodules_are_left_out, test_within, test_pinned_within_pinned, test_hostile_trees, test_lost_objects, test_full_disk, test_prune,
      test_prune_leaves_what_is_used, test_ccache, test_ccache_sees_all_that_a_compiler_sees,
      test_ccache_sees_what_expansion_does, test_ccache_sees_comments, test_ccache_and_a_compiler_of_the_sources, test_upgraded_compiler, test_used, test_used_is_of_the_sandbox, test_used_is_of_no_mount, test_used_by_many_commands, test_ccache_serves_every_compiler, test_objects_outlive_other_tools,
      test_compiler_upgraded_meanwhile, test_compiler_touched_all_the_time, test_compiler_chosen_meanwhile, test_assembler_upgraded_meanwhile,
      test_build_is_of_no_time,
      test_no_memory_for_an_archive_is_no_fact, test_no_descriptor_for_an_output_is_no_fact, test_released_programs_that_the_store_does_not_take, test_a_damaged_download_is_no_source, test_raised_limits, test_a_released_program_is_within_nothing)
