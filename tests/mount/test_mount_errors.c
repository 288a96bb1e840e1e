/* Errors of open(), row by row of the table in docs/tree.md; EINTR is in test_mount_wait.c, EROFS in test_mount_cases.c. */
#include "tests/support/mount.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>

static void assert_open_error(const char *path, int expected)
{
        int error = open_error(path);

        ck_assert_msg(error == expected, "%s: %s, not %s", path, strerrorname_np(error), strerrorname_np(expected));
}

/* -- ENODATA: the commit cannot be built -- */

START_TEST(test_unbuildable)
{
        static const char *const empty[] = {"time", "cputime", "memory", "stdout", "stderr", "run.json"};
        cleanup_free char *log = NULL, *reason = NULL;
        struct mount *m;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content("mnt/tiny/commits/broken/build/status", "none\n");
        assert_open_error(at("mnt/tiny/commits/broken/cases/%u/time", id), ENODATA);
        assert_content("mnt/tiny/commits/broken/build/status", "failed\n");
        ck_assert_uint_eq(counter("mnt", "jobs_failed_total"), 0); /* it is an answer */
        assert_open_error("mnt/tiny/commits/broken/bin/tiny", ENODATA);
        for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
                assert_open_error(at("mnt/tiny/commits/broken/cases/%u/%s", id, empty[i]), ENODATA);
                assert_state(at("mnt/tiny/commits/broken/cases/%u/%s", id, empty[i]), "failed");
        }
        assert_state("mnt/tiny/commits/broken/bin/tiny", "failed");
        reason = copy_string(state_of(at("mnt/tiny/commits/broken/cases/%u/time", id), "reason"));
        ck_assert_ptr_nonnull(strstr(reason, "cannot be built: "));
        ck_assert_str_ne(state_of("mnt/tiny/commits/broken/bin/tiny", "reason"), "");
        assert_content(at("mnt/tiny/commits/broken/cases/%u/result", id), "unbuildable\n");
        assert_state(at("mnt/tiny/commits/broken/cases/%u/result", id), "ready");
        ck_assert_str_eq(state_of(at("mnt/tiny/commits/broken/cases/%u/result", id), "reason"), reason);
        log = content("mnt/tiny/commits/broken/build/log");
        ck_assert_msg(strstr(log, "tiny.c:1: this cannot be built"), "the log: %s", log);
        mount_stop(m);
        mount_start("mnt", NULL); /* and it is remembered */
        assert_open_error(at("mnt/tiny/commits/broken/cases/%u/time", id), ENODATA);
        assert_content(at("mnt/tiny/commits/broken/cases/%u/result", id), "unbuildable\n");
        assert_shell("cmp mnt/tiny/commits/broken/build/log mnt/tiny/cached/broken/build/log");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        assert_open_error("mnt/tiny/commits/broken/bin/tiny", ENODATA);
        assert_content(at("mnt/tiny/cached/broken/cases/%u/result", id), "unbuildable\n"); /* that is known, and nothing else */
        assert_shell("ls mnt/tiny/cached/broken/cases/* && tar ch mnt/tiny/cached/broken/cases | wc -c");
        ck_assert_ptr_nonnull(strstr(shell_output, "result\n"));
        ck_assert_ptr_null(strstr(shell_output, "time"));
        ck_assert(!exists(at("mnt/tiny/cached/broken/cases/%u/time", id)));
        assert_content(at("mnt/tiny/head/cases/%u/result", id), "sat\n");
        world_end();
}
END_TEST

/* `result` is asked first: it is an answer, not an error. */
START_TEST(test_unbuildable_result_first)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at("mnt/tiny/commits/broken/cases/%u/result", id), "unbuildable\n");
        assert_shell("tail -n 3 mnt/tiny/commits/broken/build/log | grep -F 'cannot be built'");
        world_end();
}
END_TEST

/* -- ENOENT, ENOTUNIQ -- */

START_TEST(test_not_there)
{
        static const char *const absent[] = {"mnt/nosuch",
                                             "mnt/tiny/commits/nosuch/message",
                                             "mnt/tiny/commits/0000000000000000000000000000000000000000/message",
                                             "mnt/tiny/head/cases/99/time",
                                             "mnt/tiny/head/cases/0/time",
                                             "mnt/tiny/head/cases/01/time",
                                             "mnt/tiny/head/cases/-1/time",
                                             "mnt/tiny/head/cases/99999999999999999999/time",
                                             "mnt/tiny/head/cases/1/nosuch",
                                             "mnt/tiny/head/bin/nosuch",
                                             "mnt/tiny/commits/v1.0/message",
                                             "mnt/tiny/tags/nosuch",
                                             "mnt/tiny/branches/nosuch",
                                             "mnt/tiny/commits/HEAD~99/message",
                                             "mnt/tiny/head/seeds/x/cases/1/time",
                                             "mnt/tiny/head/scrambled/x/cases/1/time",
                                             "mnt/tiny/head/scrambled/0/cases/1/time",
                                             "mnt/tiny/head/scrambled/01/cases/1/time",
                                             "mnt/tiny/head/scrambled/-1/cases/1/time",
                                             "mnt/tiny/head/scrambled/4294967296/cases/1/time",
                                             "mnt/tiny/head/scrambled/1/cases/99/time",
                                             "mnt/tiny/head/scrambled/1/cases/1/input.cnf",
                                             "mnt/tiny/head/scrambled/1/seeds",
                                             "mnt/tiny/head/timeout/2000000h/cases/1/time",
                                             "mnt/tiny/head/timeout/3000000h/cases/1/time",
                                             "mnt/tiny/head/timeout/soon/cases/1/time",
                                             "mnt/tiny/head/timeout/0s/cases/1/time",
                                             "mnt/cases/99/input.smt2",
                                             "mnt/cases/by-name/nosuch",
                                             "mnt/tiny/head/parents/2",
                                             "mnt/tiny/head/parents/0"};

        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("a.smt2", "; do print sat\n");
        for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
                assert_open_error(absent[i], ENOENT);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        world_end();
}
END_TEST

/* -- EOPNOTSUPP: what cannot be scrambled -- */

START_TEST(test_cannot_be_scrambled)
{
        static const char *const cases[] = {"(set-info :do \"print sat\")\n(check-sat)\n", "(assert (or true\n(check-sat)\n"};

        world_make(NULL);
        world_expects("cannot scramble");
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                unsigned id = case_add(at("%zu.smt2", i), "%s", cases[i]);

                assert_open_error(at("mnt/tiny/head/scrambled/1/cases/%u/input.smt2", id), EOPNOTSUPP);
                assert_open_error(at("mnt/tiny/head/scrambled/1/cases/%u/time", id), EOPNOTSUPP);
                ck_assert_ptr_nonnull(strstr(state_of(at("mnt/tiny/head/scrambled/1/cases/%u/time", id), "reason"), "cannot scramble this"));
                ck_assert_ptr_nonnull(strstr(state_of(at("mnt/tiny/head/scrambled/1/cases/%u/input.smt2", id), "reason"), "cannot scramble this"));
                assert_state(at("mnt/tiny/head/scrambled/1/cases/%u/result", id), "failed");
        }
        assert_shell("ls mnt/tiny/head/scrambled mnt/tiny/cached");
        world_end();
}
END_TEST

/* -- EDQUOT: crawlers -- */

static const char *crawler_name;

static void become_crawler(void)
{
        prctl(PR_SET_NAME, crawler_name);
}

static int crawl(const char *name, const char *path)
{
        crawler_name = name;
        return process_wait(reader_start_with(path, NULL, 0, become_crawler));
}

START_TEST(test_crawlers)
{
        struct world w = {.settings = "crawler = updatedb\ncrawler = my-very-long-crawlers-name\n"};
        unsigned id;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        ck_assert_int_eq(crawl("updatedb", at(CELL "time", id)), EDQUOT);
        ck_assert_int_eq(crawl("my-very-long-crawlers-name", at(CELL "time", id)), EDQUOT);
        ck_assert_int_eq(crawl("updatedb", "mnt/tiny/head/bin/tiny"), EDQUOT);
        ck_assert_int_eq(crawl("updatedb", "mnt/tiny/head/build/log"), EDQUOT);
        ck_assert_uint_eq(counter("mnt", "asked_total"), 0);
        assert_state(at(CELL "time", id), "cold");
        ck_assert_int_eq(crawl("updatedb", "mnt/README"), 0);
        ck_assert_int_eq(crawl("somebody", at(CELL "time", id)), 0);
        ck_assert_int_eq(crawl("updatedb", at(CELL "time", id)), 0); /* what is finished is for everybody */
        ck_assert_int_eq(crawl("updatedb", "mnt/tiny/head/bin/tiny"), 0);
        ck_assert_int_eq(crawl("updatedb", at("mnt/tiny/cached/HEAD/cases/%u/time", id)), 0);
        assert_shell("solverfs gc --keep 0"); /* then it would have to be built again */
        ck_assert_int_eq(crawl("updatedb", "mnt/tiny/head/bin/tiny"), EDQUOT);
        world_end();
}
END_TEST

/* The list that comes with solverfs, when the config has none. */
START_TEST(test_usual_crawlers)
{
        static const char *const names[] = {"updatedb", "tracker-miner-fs-3", "baloo_file", "tumblerd"};
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                ck_assert_msg(crawl(names[i], at(CELL "time", id)) == EDQUOT, "%s is let in", names[i]);
        world_end();
}
END_TEST

/* -- EDEADLK: a job that reads its own mount -- */

START_TEST(test_a_run_reads_its_mount)
{
        struct world w = {.settings = "sandbox = none\n"};
        cleanup_free char *out = NULL;
        unsigned id, other;

        world_make(&w);
        mount_start("mnt", "allow_other"); /* as root, jobs run under users of their own */
        other = case_add("other.smt2", "; do print sat\n");
        id = case_add("a.smt2", "; do open %s\n; do open %s\n; do stat %s\n; do open %s\n; do print sat\n",
                      absolute(at(CELL "time", other)), absolute("mnt/tiny/commits/v1/bin/tiny"),
                      absolute(at(CELL "time", other)), absolute("mnt/README"));
        out = content(at(CELL "stdout", id));
        ck_assert_str_eq(out, "open: EDEADLK\nopen: EDEADLK\nstat: 0\nopen: 0\nsat\n");
        assert_state(at(CELL "time", other), "cold");
        free(content(at(CELL "time", other)));
        id = case_add("b.smt2", "; do open %s\n; do print sat\n", absolute(at(CELL "time", other)));
        freep(&out);
        out = content(at(CELL "stdout", id));
        ck_assert_str_eq(out, "open: 0\nsat\n"); /* what is finished waits for nobody */
        world_end();
}
END_TEST

/* A mount where the sandbox shows it, too: below /usr, which nobody else sees. */
START_TEST(test_a_sandboxed_run_reads_its_mount)
{
        cleanup_free char *out = NULL;
        unsigned id, other;

        ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
        ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        world_make(NULL);
        mount_start("mnt", "allow_other");
        ck_assert_int_eq(mount("mnt", "/usr/src", NULL, MS_BIND, NULL), 0);
        other = case_add("other.smt2", "; do print sat\n");
        id = case_add("a.smt2", "; do open /usr/src/tiny/head/cases/%u/time\n; do open /usr/src/README\n; do print sat\n", other);
        out = content(at(CELL "stdout", id));
        ck_assert_str_eq(out, "open: EDEADLK\nopen: 0\nsat\n");
        assert_state(at(CELL "time", other), "cold");
        ck_assert_int_eq(umount("/usr/src"), 0);
        world_end();
}
END_TEST

START_TEST(test_a_build_reads_its_mount)
{
        struct world w = {.settings = "sandbox = none\n",
                          .recipe = at("build = \"cat %s || echo the build cannot read it\"\n",
                                       recipe_word("mnt/tiny/commits/v1/bin/tiny"))};

        world_make(&w);
        mount_start("mnt", "allow_other");
        assert_shell("grep -a 'the build cannot read it' mnt/tiny/head/build/log && grep -ai deadlock mnt/tiny/head/build/log");
        world_end();
}
END_TEST

/* Not below /tmp, where no file counts as part of the toolchain. */
START_TEST(test_what_a_build_used_is_not_read_from_the_mount)
{
        char elsewhere[] = "/run/solverfs-test-XXXXXX";
        struct world w = {.settings = "sandbox = none\n"};

        ck_assert_ptr_nonnull(mkdtemp(elsewhere));
        w.recipe = at("build = \"cat %s/tiny/commits/v1/bin/tiny || true\"\n", elsewhere);
        world_make(&w);
        mount_start("mnt", "allow_other");
        ck_assert_int_eq(mount("mnt", elsewhere, NULL, MS_BIND, NULL), 0);
        assert_shell("grep -ai deadlock mnt/tiny/head/build/log");
        ck_assert_int_eq(umount2(elsewhere, MNT_DETACH), 0);
        ck_assert_int_eq(rmdir(elsewhere), 0);
        world_end();
}
END_TEST

/* Inside the sandbox it is not even there. */
START_TEST(test_the_mount_is_not_in_the_sandbox)
{
        cleanup_free char *out = NULL;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", "allow_other");
        id = case_add("a.smt2", "; do open %s\n; do open %s\n; do print sat\n", absolute("mnt/README"), absolute("store/config"));
        out = content(at(CELL "stdout", id));
        ck_assert_str_eq(out, "open: ENOENT\nopen: ENOENT\nsat\n");
        world_end();
}
END_TEST

/* -- ENOSPC -- */

/* The store is on a small disk. */
static void small_store(void)
{
        static struct world w;

        ck_assert_int_eq(mkdir("small", 0755), 0);
        ck_assert_int_eq(mount("none", "small", "tmpfs", 0, "size=32m"), 0);
        w.store = absolute("small/store");
        world_make(&w);
}

static void fill(void)
{
        cleanup_close int fd = open("small/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        char page[4096] = "";

        ck_assert_int_ge(fd, 0);
        while (write(fd, page, sizeof(page)) > 0)
                ;
        ck_assert_int_eq(errno, ENOSPC);
}

START_TEST(test_disk_full)
{
        unsigned id, warm;

        small_store();
        world_expects("No space left|disk|full|MDB_MAP_FULL");
        mount_start("mnt", NULL);
        warm = case_add("warm.smt2", "; do now\n; do print sat\n");
        id = case_add("a.smt2", "; do bytes 200000\n");
        assert_shell("cp " CELL "stdout before", warm);
        fill();
        assert_open_error(at(CELL "stdout", id), ENOSPC);
        assert_open_error("mnt/tiny/commits/v1/bin/tiny", ENOSPC);
        ck_assert_int_eq(shell("{ printf '('; head -c 1000000 /dev/urandom; } >c && cp c mnt/cases/c.smt2"), 1);
        ck_assert_ptr_nonnull(strstr(shell_output, "No space left"));
        ck_assert_uint_eq(case_id("c.smt2"), 0);
        assert_shell("cmp before " CELL "stdout", warm); /* what is there can be read */
        ck_assert(!exists(at("mnt/tiny/cached/HEAD/cases/%u", id)));
        ck_assert(!exists(at("mnt/tiny/cached/v1/cases/%u", id)));
        assert_shell("rm small/filler");
        ck_assert_int_eq(read_whole(at(CELL "stdout", id), NULL), 200000);
        assert_shell(
                "mnt/tiny/commits/v1/bin/tiny --version && cp c mnt/cases/c.smt2 && cmp c mnt/cases/by-name/c.smt2/input.smt2");
        assert_shell("solverfs fsck");
        world_end();
        assert_shell("umount small");
}
END_TEST

/* Full at every step: whatever there was room for, what is shown is whole. */
START_TEST(test_disk_almost_full)
{
        struct mount *m;
        struct stat st;
        unsigned id;

        small_store();
        world_expects("No space left|disk|full|MDB_MAP_FULL");
        m = mount_start("mnt", NULL);
        for (unsigned i = 0; i < 12; i++) {
                int error;

                id = case_add(at("%u.smt2", i), "; do bytes 30000\n");
                fill();
                ck_assert_int_eq(stat("small/filler", &st), 0);
                ck_assert_int_eq(truncate("small/filler", MAX(st.st_size - (off_t)i * 40960, 0)), 0);
                error = open_error(at("mnt/tiny/commits/HEAD~%u/cases/%u/stdout", i % 2, id));
                ck_assert_msg(error == 0 || error == ENOSPC, "%s", strerrorname_np(error));
                if (i == 6) {
                        mount_kill(m);
                        ck_assert_int_eq(unlink("small/filler"), 0);
                        m = mount_start("mnt", NULL);
                }
                assert_shell("rm -f small/filler");
                ck_assert_int_eq(read_whole(at("mnt/tiny/commits/HEAD~%u/cases/%u/stdout", i % 2, id), NULL), 30000);
        }
        assert_shell("solverfs fsck");
        world_end();
        assert_shell("umount small");
}
END_TEST

/* -- EROFS: the store's disk is read-only -- */

START_TEST(test_read_only_disk)
{
        unsigned id, cold;
        struct mount *m;

        small_store();
        world_expects("read-only");
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        cold = case_add("b.smt2", "; do print unsat\n");
        assert_shell("mkdir -p deep/er && echo '(check-sat)' >deep/er/c.smt2 && solverfs case add --name deep/er/c.smt2 "
                     "deep/er/c.smt2");
        assert_shell("cp " CELL "time before", id);
        mount_stop(m);
        ck_assert_int_eq(mount("none", "small", NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
        m = mount_start("mnt", NULL);
        assert_shell("cmp before " CELL "time", id);
        assert_shell("cmp before mnt/tinier/../tiny/cached/HEAD/cases/%u/time", id);
        assert_open_error(at(CELL "time", cold), EROFS);
        assert_open_error("mnt/tiny/commits/v1/bin/tiny", EROFS);
        assert_shell("ls mnt/tiny/tags mnt/tinier/branches/feature/deep mnt/tiny/head/bin mnt/cases/by-name/deep/er");
        ck_assert_ptr_nonnull(strstr(shell_output, "docs-only"));
        ck_assert_ptr_nonnull(strstr(shell_output, "c.smt2"));
        assert_shell("find mnt >/dev/null && cat mnt/.solverfs/status");
        assert_shell("solverfs run tiny HEAD %u", id);
        ck_assert_int_ne(shell("solverfs run tiny HEAD %u", cold), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "is on a read-only disk"));
        assert_shell("solverfs unmount mnt");
        ck_assert_int_eq(mount_wait(m), 0);
        ck_assert_int_eq(mount("none", "small", NULL, MS_REMOUNT, NULL), 0);
        world_end();
        assert_shell("umount small");
}
END_TEST

/* -- EIO: solverfs itself failed, and its log says how -- */

START_TEST(test_scratch_is_broken)
{
        struct mount *m;
        cleanup_free char *log = NULL;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        free(content("mnt/tiny/head/build/log"));
        assert_shell("mv store/scratch store/elsewhere && touch store/scratch");
        assert_open_error(at(CELL "time", id), EIO);
        assert_state(at(CELL "time", id), "failed");
        ck_assert_str_ne(state_of(at(CELL "time", id), "reason"), "");
        log = mount_log(m);
        ck_assert_msg(strstr(log, "error:"), "the log says nothing: %s", log);
        world_expects("error:");
        assert_shell("rm store/scratch && mv store/elsewhere store/scratch");
        assert_content(at(CELL "result", id), "sat\n"); /* nothing of it is remembered */
        world_end();
}
END_TEST

/* A niceness that a run may not leave. */
START_TEST(test_nice)
{
        pid_t daemon;

        world_make(NULL);
        assert_shell("echo '; do print sat' >a.smt2 && solverfs -q case add a.smt2 && solverfs -q build tiny HEAD && mkdir nice");
        daemon = shell_start("exec nice -n 15 %s solverfs mount -f nice >nice.log 2>&1",
                             geteuid() == 0 ? "setpriv --bounding-set -sys_nice --inh-caps -sys_nice" : "");
        await(is_mounted("nice"));
        assert_open_error("nice/tiny/head/cases/1/time", EIO);
        assert_shell("grep 'error:.*niceness' nice.log && solverfs unmount nice");
        ck_assert_int_eq(process_wait(daemon), 0);
        world_expects("niceness");
        mount_start("mnt", NULL);
        assert_state("mnt/tiny/head/cases/1/time", "cold"); /* nothing of it is remembered */
        assert_content("mnt/tiny/head/cases/1/result", "sat\n");
        world_end();
}
END_TEST

START_TEST(test_case_is_damaged)
{
        struct mount *m;
        cleanup_free char *log = NULL;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        mount_stop(m);
        assert_shell("f=$(find store/cases -type f) && cp -p $f kept && chmod u+w $f && printf X | dd of=$f conv=notrunc bs=1 "
                     "seek=3 2>/dev/null");
        m = mount_start("mnt", NULL);
        assert_open_error(at(CELL "time", id), EIO);
        log = mount_log(m);
        ck_assert_msg(strstr(log, "error:"), "the log says nothing: %s", log);
        world_expects("error:");
        assert_shell("! solverfs fsck && f=$(find store/cases -type f) && cat kept >$f && solverfs fsck");
        assert_content(at(CELL "result", id), "sat\n");
        world_end();
}
END_TEST

/* The index is cut off under the daemon. It lives, whatever the answer is, and the next one has the facts from the journal. */
START_TEST(test_index_is_cut)
{
        struct mount *m;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        assert_content(at(CELL "result", id), "sat\n");
        assert_shell("truncate -s 8192 store/lmdb/data.mdb");
        for (unsigned i = 0; i < 20; i++) /* every thread that serves */
                shell("ls mnt/tiny/cached; cat " CELL "result", id);
        ck_assert(process_runs(m->pid));
        world_expects("error:|damaged");
        mount_stop(m);
        mount_start("mnt", NULL);
        assert_content(at(CELL "result", id), "sat\n");
        world_end();
}
END_TEST

/* The history is gone under the daemon: an error each, and no crash. */
START_TEST(test_repository_is_gone)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        world_expects("error:");
        assert_shell("mv store/repos store/gone");
        ck_assert_int_ne(open_error("mnt/tiny/commits/v1/bin/tiny"), 0);
        ck_assert_int_ne(open_error("mnt/tiny/commits/v1/bin/tiny"), ENOENT);
        assert_shell("cat mnt/README >copy && mv store/gone store/repos");
        assert_shell("mnt/tiny/commits/v1/bin/tiny --version");
        world_end();
}
END_TEST

/* A queue that is full is said so, and empties. */
START_TEST(test_queue_is_full)
{
        struct world w = {.settings = "sandbox = none\ncores = 1\nqueue = 3\n"};
        pid_t readers[3];
        unsigned ids[4];

        world_make(&w);
        mount_start("mnt", NULL);
        free(content("mnt/tiny/head/build/log"));
        for (int i = 0; i < 4; i++)
                ids[i] = case_add(at("%d.smt2", i), "; do wait %s\n; do print sat\n", absolute("gate"));
        for (int i = 0; i < 3; i++)
                readers[i] = reader_start(at(CELL "time", ids[i]), NULL);
        await(counter("mnt", "waiters") == 3);
        assert_open_error(at(CELL "time", ids[3]), EAGAIN);
        write_whole("gate", "");
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        assert_content(at(CELL "result", ids[3]), "sat\n");
        world_end();
}
END_TEST

MOUNT_SUITE("mount_errors", {test_unbuildable}, {test_unbuildable_result_first}, {test_not_there}, {test_cannot_be_scrambled}, {test_crawlers},
            {test_usual_crawlers}, {test_a_run_reads_its_mount, NEEDS_ROOT}, {test_read_only_disk, NEEDS_ROOT},
            {test_a_sandboxed_run_reads_its_mount, NEEDS_ROOT | NEEDS_SANDBOX}, {test_a_build_reads_its_mount, NEEDS_ROOT},
            {test_what_a_build_used_is_not_read_from_the_mount, NEEDS_ROOT},
            {test_the_mount_is_not_in_the_sandbox, NEEDS_ROOT}, {test_disk_full, NEEDS_ROOT}, {test_disk_almost_full, NEEDS_ROOT},
            {test_scratch_is_broken}, {test_nice}, {test_case_is_damaged}, {test_index_is_cut}, {test_repository_is_gone},
            {test_queue_is_full})
