/* Solvers that misbehave, through the mount: what a cell says of each, and that nothing is left of any. */
#include "tests/support/descendants.h"
#include "tests/support/mount.h"

#include <jansson.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cache/base/mount_table.h"

/* The solver is attacker.c, put into the history where tiny lies else: "; attack WORD|WORD|…" in a case is what it does. */
static void hostile_world(const char *settings, const char *recipe)
{
        char attacker[PATH_SIZE];
        const char *tiny = getenv("SOLVERFS_TINY");

        ck_assert_int_lt(snprintf(attacker, sizeof(attacker), "%.*s/attacker", (int)(strrchr(tiny, '/') - tiny), tiny),
                         PATH_SIZE);
        setenv("SOLVERFS_TINY", attacker, 1);
        world_make(&(struct world){.settings = settings, .recipe = recipe});
}

/* -- what is left -- */

/* Processes below us beside the test's own and solverfs: a solver's, its helper's, bubblewrap's. Zombies count. */
static unsigned foreign_processes(void)
{
        cleanup_free struct descendant *all = NULL;
        size_t n_all = descendants(getpid(), &all);
        unsigned n = 0;

        for (size_t i = 0; i < n_all; i++)
                n += strcmp(all[i].name, "solverfs") != 0 && strncmp(all[i].name, "test_mount", 10) != 0;
        return n;
}

static int count_foreign(void *user, const struct mount_entry *m)
{
        const char *here = absolute("");

        *(unsigned *)user += strncmp(m->path, here, strlen(here)) == 0 && strcmp(m->path, absolute("mnt")) != 0;
        return 0;
}

/* Mounts below the test's folder beside our own. */
static unsigned foreign_mounts(void)
{
        unsigned n = 0;

        mount_table_each(count_foreign, &n);
        return n;
}

static void assert_nothing_left(const char *row)
{
        await(foreign_processes() == 0);
        ck_assert_msg(foreign_mounts() == 0, "%s: a mount is left", row);
        /* a run's folder is removed behind its last process */
        assert_shell("for i in $(seq 50); do [ \"$(ls -A store/scratch)\" ] || exit 0; sleep .1; done; find store/scratch -mindepth 1 | head");
        ck_assert_msg(shell_output[0] == '\0', "%s: left behind: %s", row, shell_output);
}

/* What belongs to others, at every place that a row aims at. */
static void put_out_baits(void)
{
        write_whole("home/.secret", "secret\n");
        write_whole("bait", "bait\n");
        assert_shell("chmod 644 home/.secret bait && chmod 755 home");
}

static void assert_baits_are_whole(const char *row)
{
        cleanup_free char *secret = content("home/.secret"), *bait = content("bait");

        ck_assert_msg(strcmp(secret, "secret\n") == 0 && strcmp(bait, "bait\n") == 0, "%s: wrote to what is ours", row);
}

/* -- the table -- */

#define SAT         "(set-info :status sat)\n(check-sat)\n"
#define ANY_SANDBOX 1 /* is as well ended, accounted and cleaned up without one, */
#define COUNTED     2 /* if the program has a user of its own, whose processes the kernel counts (else the first look may end it) */

struct row {
        const char *attack;          /* %1$s: the test's folder */
        const char *result, *reason; /* of `result`, and "end" in run.json: "REASON", "exit STATUS" or "signal NAME" */
        const char *out;             /* a pattern that stdout holds, and… */
        const char *never;           /* …one that neither stream may; or NULL */
        unsigned flags;
        bool wrong, killed; /* run.json's "wrong"; something had to be killed behind its end */
};

static const struct row rows[] = {
        /* processes, memory, time */
        {"fork-bomb", "timeout", "timeout", .flags = COUNTED},
        {"fork-bomb|fail", "error", "processes", .flags = ANY_SANDBOX},
        {"grow", "memout", "memory", .flags = ANY_SANDBOX},
        {"grow-children|8|60", "memout", "memory", .flags = ANY_SANDBOX},
        {"limits", "memout", "memory", .never = "raised: [1-4]"}, /* RLIMIT_CORE is 0, and may not be raised either */
        {"threads", "timeout", "timeout", .flags = ANY_SANDBOX},
        {"children|6|1", "timeout", "timeout", .flags = ANY_SANDBOX},
        {"wait", "timeout", "timeout", .flags = ANY_SANDBOX},
        {"ignore", "timeout", "timeout", .flags = ANY_SANDBOX},
        {"stop", "sat\ntimeout", "timeout", "^sat$", .flags = ANY_SANDBOX},
        {"tree", "timeout", "timeout", .flags = ANY_SANDBOX},
        {"daemonize|0.2", "sat", "exit 0", "^sat$", .flags = ANY_SANDBOX},
        {"daemonize|0|stay", "sat", "exit 0", "^sat$", .flags = ANY_SANDBOX, .killed = true},
        {"many|5", "unknown", "exit 0", "^5$", .flags = ANY_SANDBOX, .killed = true},
        {"kill-all", "sat", "exit 0", "^sat$"},
        /* what it prints */
        {"print|100000000000", "error", "output", .flags = ANY_SANDBOX},
        {"print|100000000000|2", "error", "output", .flags = ANY_SANDBOX},
        {"close", "error", "exit 1", .flags = ANY_SANDBOX},
        {"nuls", "unknown", "exit 0", .flags = ANY_SANDBOX},
        {"answer|\\0sat", "unknown", "exit 0", .flags = ANY_SANDBOX},
        {"answer|sat|sat", "sat\nsat\nerror", "exit 0", .flags = ANY_SANDBOX},
        {"answer|sat|unsat", "sat\nunsat\nerror", "exit 0", .flags = ANY_SANDBOX},
        {"answer|unsat|sat", "unsat\nsat\nerror", "exit 0", .flags = ANY_SANDBOX}, /* nobody can tell which is the answer */
        {"answer|unsat", "unsat", "exit 0", .flags = ANY_SANDBOX, .wrong = true},
        {"forge", "timeout", "timeout", "^taken: 0$", .flags = ANY_SANDBOX},
        {"environment", "sat", "exit 0", "^sat$", .flags = ANY_SANDBOX},
        {"signal|11", "sat\ncrash", "signal SEGV", .flags = ANY_SANDBOX},
        {"signal|6", "sat\ncrash", "signal ABRT", .flags = ANY_SANDBOX},
        {"signal|7", "sat\ncrash", "signal BUS", .flags = ANY_SANDBOX},
        {"signal|8", "sat\ncrash", "signal FPE", .flags = ANY_SANDBOX},
        {"signal|4", "sat\ncrash", "signal ILL", .flags = ANY_SANDBOX},
        {"signal|5", "sat\ncrash", "signal TRAP", .flags = ANY_SANDBOX},
        {"signal|31", "sat\ncrash", "signal SYS", .flags = ANY_SANDBOX},
        {"signal|9", "sat\ncrash", "signal KILL", .flags = ANY_SANDBOX},
        {"signal|15", "sat\ncrash", "signal TERM", .flags = ANY_SANDBOX},
        {"signal|13", "sat\ncrash", "signal PIPE", .flags = ANY_SANDBOX},
        {"exit|3", "error", "exit 3", .flags = ANY_SANDBOX},
        /* where it reaches */
        {"write|%1$s/bait|%1$s/home/.secret|%1$s/store/config|/usr/x|/etc/x|/x|/case/input.smt2|/solver/tiny", "unknown",
         "exit 0", "bait: E", ": ok"},
        {"read|%1$s/home/.secret|%1$s/bait|%1$s/store/config|/root|/home|%1$s/mnt/cases", "unknown", "exit 0", "secret: E",
         ": ok"},
        {"read|%1$s/mnt/tiny/commits/HEAD~1/cases/1/time", "unknown", "exit 0", "time: ENOENT"},
        {"reach|127.0.0.1", "unknown", "exit 0", "connect: E", ": ok"},
        {"reach|192.0.2.1", "unknown", "exit 0", "connect: ENETUNREACH", ": ok"},
        {"unix|%1$s/socket|@%1$s", "unknown", "exit 0", "unix: E", ": ok"},
        {"keeper|kill", "unknown", "exit 0", "inherited: 0", "ptrace: ok|mem: ok|setuid: ok|tty: ok|some"},
        /* its scratch */
        {"large|5", "error", "output", .flags = ANY_SANDBOX},
        {"bury|150", "sat", "exit 0", "^sat$", .flags = ANY_SANDBOX},
        {"bury|300", "sat\nerror", "output", "^sat$", .flags = ANY_SANDBOX}, /* too deep to be counted counts as too much */
        {"bury|2000", "sat\nerror", "output", "^sat$", .flags = ANY_SANDBOX},
        {"fill|3|1", "sat", "exit 0", "^sat$", .flags = ANY_SANDBOX},
};

static char *end_of(json_t *j)
{
        json_t *end = json_object_get(j, "end"), *status = json_object_get(end, "status"), *sig = json_object_get(end, "signal");
        const char *reason = json_string_value(json_object_get(end, "reason"));

        if (status)
                return strdup(at("%s %d", reason, (int)json_integer_value(status)));
        return strdup(sig ? at("%s %s", reason, json_string_value(sig)) : reason);
}

/* All rows are tried, whatever the ones before said. */
static unsigned failures;

#define expect(row, condition, ...)                                         \
        do {                                                                \
                if (!(condition)) {                                         \
                        fprintf(stderr, "row '%s': %s: ", row, #condition); \
                        fprintf(stderr, "%.2000s\n", at(__VA_ARGS__));      \
                        failures++;                                         \
                }                                                           \
        } while (0)

/* What is to end by the time limit has a short one, all else one that no busy machine passes. */
#define SHORT_LIMIT 0.7

static void check_row(const struct row *row, unsigned id)
{
        bool timeout = strcmp(row->reason, "timeout") == 0;
        const char *cell = timeout ? at("mnt/tiny/head/timeout/700ms/cases/%u/", id) : at(CELL, id);
        cleanup_free char *result = content(at("%sresult", cell)), *end = NULL, *text = content(at("%srun.json", cell));
        json_t *j = json_loads(text, 0, NULL);
        double time_taken = number(at("%stime", cell));
        json_int_t killed;

        ck_assert_msg(j, "%s: %s", row->attack, text);
        end = end_of(j);
        killed = json_integer_value(json_object_get(json_object_get(j, "rusage"), "killed-descendants"));
        expect(row->attack, strcmp(result, at("%s\n", row->result)) == 0, "is '%s', not '%s', ended by %s", result, row->result,
               end);
        expect(row->attack, strcmp(end, row->reason) == 0, "is '%s', not '%s'", end, row->reason);
        expect(row->attack, timeout == (time_taken == SHORT_LIMIT), "%f", time_taken);
        expect(row->attack, json_is_true(json_object_get(j, "wrong")) == row->wrong, "it is not");
        expect(row->attack, !row->killed || killed > 0, "nothing was left to kill");
        json_decref(j);
        if (row->out)
                expect(row->attack, shell("grep -aE '%s' %sstdout", row->out, cell) == 0, "stdout has no '%s': %s", row->out,
                       content(at("%sstdout", cell)));
        if (row->never)
                expect(row->attack, shell("cat %sstdout %sstderr | grep -aE '%s'", cell, cell, row->never) == 1, "%s",
                       shell_output);
}

static void run_rows(unsigned flags)
{
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                const struct row *row = &rows[i];
                cleanup_free char *attack = NULL;
                unsigned id;

                if (flags != 0 && (row->flags & flags) == 0)
                        continue;
                ck_assert_int_ge(asprintf(&attack, "%s", row->attack), 0);
                while (strstr(attack, "%1$s")) {
                        char *hole = strstr(attack, "%1$s"), *filled = NULL;

                        ck_assert_int_ge(asprintf(&filled, "%.*s%s%s", (int)(hole - attack), attack, absolute("."), hole + 4), 0);
                        free(attack);
                        attack = filled;
                }
                id = case_add(at("%zu.smt2", i), "; attack %s\n" SAT, attack);
                check_row(row, id);
                assert_nothing_left(row->attack);
                assert_baits_are_whole(row->attack);
                if (i % 8 != 7 && i + 1 < ARRAY_SIZE(rows)) /* slot, user and sandbox stay the same: an honest one now and then */
                        continue;
                id = case_add(at("%zu-honest.smt2", i), "; attack answer|sat\n" SAT);
                assert_content(at(CELL "result", id), "sat\n");
        }
        ck_assert_msg(failures == 0, "%u rows", failures);
}

#define RECIPE "memory = 256m\n"

/* Sockets of ours that anybody may connect to. */
static void listen_here(void)
{
        struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "socket"}, name = {.sun_family = AF_UNIX};
        int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), abstract = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        ck_assert_int_lt(snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "%s", absolute(".")), sizeof(name.sun_path) - 1);
        ck_assert_int_eq(bind(file, (struct sockaddr *)&sun, sizeof(sun)), 0);
        ck_assert_int_eq(bind(abstract, (struct sockaddr *)&name, sizeof(sa_family_t) + 1 + strlen(name.sun_path + 1)), 0);
        ck_assert_int_eq(chmod("socket", 0777), 0);
        ck_assert_int_eq(listen(file, 5) + listen(abstract, 5), 0);
}

START_TEST(test_in_the_sandbox)
{
        hostile_world(NULL, RECIPE);
        put_out_baits();
        listen_here();
        mount_start("mnt", NULL);
        run_rows(0);
        world_end();
}
END_TEST

/* What needs no isolation holds without it. */
START_TEST(test_without_a_sandbox)
{
        hostile_world("sandbox = none\n", RECIPE);
        put_out_baits();
        mount_start("mnt", NULL);
        run_rows(geteuid() == 0 ? ANY_SANDBOX | COUNTED : ANY_SANDBOX);
        world_end();
}
END_TEST

/* -- builds -- */

/* What goes well is built at HEAD~1 and then at HEAD, which goes on from what the first has left. */
struct build_row {
        const char *build;  /* a shell command; %1$s: the test's folder */
        const char *reason; /* a pattern of user.solverfs.reason; NULL: both go well */
        const char *log;    /* a pattern that build/log holds */
        const char *limits; /* further lines of the recipe */
        bool doubted;       /* it may have been ended from outside: nothing is kept of it */
};

#define MAKE "mkdir -p out; rm -rf out/tiny; cat src/tiny src/version > out/tiny; chmod +x out/tiny; "

static const struct build_row build_rows[] = {
        /* time, processes, memory */
        {"sleep 600", "timed out after 1s", .limits = "build-timeout = 1s\n"},
        {"trap '' TERM; src/tiny ignore", "timed out after 1s", .limits = "build-timeout = 1s\n"},
        {"src/tiny stop", "timed out after 1s", .limits = "build-timeout = 1s\n"},
        {"src/tiny fork-bomb", "timed out after 1s", .limits = "build-timeout = 1s\nbuild-processes = 40\n"},
        {"src/tiny fork-bomb fail", "build-processes", .limits = "build-processes = 40\n"},
        {"src/tiny grow-children 8 60", "build-memory", .limits = "build-memory = 256m\n"},
        {MAKE "src/tiny tree & sleep 0.1", NULL},
        {MAKE "setsid sh -c 'sleep 0.2; echo late > out/tiny; sleep 600' & sleep 0.05", NULL},
        {MAKE "src/tiny kill-all", "killed by signal", .doubted = true},
        {"echo 'make: vfork: Resource temporarily unavailable'; exit 2", "status 2", .doubted = true},
        /* what it prints */
        {MAKE "src/tiny print 40000000", NULL, "bytes cut"},
        {MAKE "printf 'a\\\\0b\\\\033[31m\\\\377\\\\n'", NULL, "a.b"},
        {"src/tiny large 20", "status 153"}, /* SIGXFSZ */
        /* the network */
        {"(exec 3<>/dev/tcp/192.0.2.1/80) || src/tiny reach 192.0.2.1; exit 1", "no network", "ENETUNREACH"},
        {"getent hosts example.org || { echo 'Could not resolve host: example.org'; exit 6; }", "no network", "Could not"},
        /* its sources and outputs */
        {MAKE "for f in src/*; do echo x >> $f; done; rm -r src", NULL},
        {MAKE "rm out/tiny; ln -s /etc/passwd out/tiny", "a link out of"},
        {MAKE "rm out/tiny; mkdir out/tiny", "is a folder"},
        {MAKE "rm out/tiny; mkfifo out/tiny", "not a regular file"},
        {MAKE "rm -r out; ln -s /etc out", "a link out of"},
        {"true", "the build made no out/tiny"},
        {MAKE ": > out/tiny", "is empty"},
        {MAKE "chmod -x out/tiny", NULL},
        {MAKE "chmod 7777 out/tiny", NULL},
        {MAKE "rm -rf /build/* /build/.[a-z]*; rmdir /build; true", "the build made no "},
        {MAKE "mkdir -p d/e; touch d/e/f; chmod 0 d/e d src", NULL},
        {MAKE "src/tiny bury 700; true", NULL},
        /* for the next build, and for us */
        {MAKE "rm -r src; ln -s %1$s/victim src; ln -s %1$s/victim d", NULL},
        {"[ ! -e planted ]; " MAKE "echo x > planted; echo 'exit 1' > src/broken", NULL},
        {MAKE "echo forged > /ccache/forged; true", NULL},
        {"[ ! -e /ccache/forged ] || exit 1; " MAKE, NULL},
        {"[ ! -e evil ] || exit 0; " MAKE "mkdir evil; rm -rf out; ln -s %1$s/victim out; exit 0", "a link out of"},
};

static void add_solver(const char *name, const struct build_row *row)
{
        FILE *f = fopen("hostile.recipe", "we");
        const char *text = row->build, *hole;

        ck_assert_ptr_nonnull(f);
        fprintf(f,
                "[solver]\nformat = smt2\npaths = src\noutput = out/tiny\nrun = {bin} {case}\nmemory = 256m\nsamples = 1\n%s"
                "build = \"",
                row->limits ? row->limits : "");
        for (; (hole = strstr(text, "%1$s")); text = hole + 4)
                fprintf(f, "%.*s%s", (int)(hole - text), text, recipe_word("."));
        fprintf(f, "%s\"\n", text);
        ck_assert_int_eq(fclose(f), 0);
        assert_shell("solverfs solver add %s repo --recipe hostile.recipe", name);
}

/* Why it cannot be read, "" if it can. The mount soon forgets it. */
static const char *reason_of(const char *path)
{
        const char *reason;

        do {
                if (open_error(path) != EIO)
                        return "";
                reason = state_of(path, "reason");
        } while (reason[0] == '\0');
        return reason;
}

/* On a busy machine the helper may have stood still, or a build had so little of a core, that its end proves nothing; then it is not kept, and the
 * next who asks has it built again. */
static bool is_proved(const char *path)
{
        for (int i = 0; i < 5; i++)
                if (!strstr(reason_of(path), "may have come from outside"))
                        return true;
        return false;
}

static void check_build(const struct build_row *row, const char *solver, const char *revision, const char *version, unsigned id)
{
        const char *root = at("mnt/%s/commits/%s/", solver, revision), *cell = at("%scases/%u/", root, id), *reason;
        cleanup_free char *result = NULL, *log = NULL, *status = NULL;
        struct stat st;

        /* One that wants every core until its time is up is never proved where others do so, too: then that is what is told. */
        if (row->doubted || (!is_proved(at("%sresult", cell)) && row->reason && strstr(row->reason, "timed out"))) {
                reason = reason_of(at("%sresult", cell));
                expect(row->build, strstr(reason, row->reason), "%s", reason);
                assert_content(at("%sbuild/status", root), "none\n");
                return;
        }
        result = content(at("%sresult", cell));
        log = content(at("%sbuild/log", root));
        status = content(at("%sbuild/status", root));
        expect(row->build, strcmp(status, row->reason ? "failed\n" : "ok\n") == 0, "%s at %s: %s", status, revision, log);
        expect(row->build, strcmp(result, at("%s\n", row->reason ? "unbuildable" : "sat")) == 0, "is %s at %s: %s", result,
               revision, log);
        expect(row->build, strlen(log) < 20 << 20, "%zu bytes of log", strlen(log));
        if (row->log)
                expect(row->build, shell("grep -aE '%s' %sbuild/log", row->log, root) == 0, "not in the log: %s", log);
        if (row->reason) {
                reason = state_of(at("%stime", cell), "reason");
                write_whole("reason", reason);
                expect(row->build, shell("grep -E '%s' reason", row->reason) == 0, "reason: %s\n%s", reason, log);
                expect(row->build, strstr(log, strstr(reason, ": ") + 2), "the log does not say '%s': %s", reason, log);
                expect(row->build, open_error(at("%sbin/tiny", root)) == ENODATA, "it can be opened");
                expect(row->build, open_error(at("%stime", cell)) == ENODATA, "it has a time");
                return;
        }
        /* Whatever was planted and changed, the program is this commit's, and as harmless as any file. */
        expect(row->build, shell("tail -c 12 %sbin/tiny | grep -qa 'version: %s$'", root, version) == 0, "not of version %s",
               version);
        expect(row->build, stat(at("%sbin/tiny", root), &st) == 0 && (st.st_mode & 07022) == 0, "mode %o", st.st_mode);
}

START_TEST(test_builds)
{
        hostile_world(NULL, RECIPE);
        put_out_baits();
        assert_shell("mkdir -p victim && echo precious > victim/tiny && echo precious > victim/version && chmod -R a+rwX victim");
        world_expects("that may have come from outside");
        for (size_t i = 0; i < ARRAY_SIZE(build_rows); i++)
                add_solver(at("h%zu", i), &build_rows[i]);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(build_rows); i++) {
                unsigned id = case_add(at("%zu.smt2", i), "; attack answer|sat\n" SAT);
                const char *solver = at("h%zu", i);

                if (!build_rows[i].reason || strstr(build_rows[i].build, "victim"))
                        check_build(&build_rows[i], solver, "HEAD~1", "9", id);
                check_build(&build_rows[i], solver, "HEAD", "10", id);
                assert_nothing_left(solver);
                assert_baits_are_whole(solver);
                assert_shell("cat victim/* && { find store/work/h%zu -name '*.scratch' -o -name '*.old'; } 2>/dev/null; true", i);
                expect(build_rows[i].build, strcmp(shell_output, "precious\nprecious\n") == 0, "%s", shell_output);
        }
        ck_assert_msg(failures == 0, "%u rows", failures);
        assert_content(at(CELL "result", case_id("0.smt2")), "sat\n");
        world_end();
}
END_TEST

MOUNT_SUITE("mount_hostile", {test_in_the_sandbox, NEEDS_SANDBOX}, {test_without_a_sandbox}, {test_builds, NEEDS_SANDBOX})
