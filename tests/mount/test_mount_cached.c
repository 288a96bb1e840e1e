/* A mount of what is finished (-o cached): the same files, nothing that waits, starts work or is written to, and no word to the daemon where
 * the kernel knows. */
#include "tests/support/mount.h"

#define DONE "done/tiny/cached/HEAD/cases/%u/"

static void assert_listing(const char *dir, const char *expected)
{
        assert_shell("ls -A '%s' | tr '\\n' ' '", dir);
        ck_assert_str_eq(shell_output, expected);
}

static void list_all(const char *mount, const char *to)
{
        assert_shell(
                "here=$PWD; cd %s/tiny && find cached -mindepth 1 -printf '%%p %%s %%m %%T@ %%y %%l\\n' | sort > \"$here/%s\"",
                mount, to);
}

static void assert_target(const char *link, const char *expected)
{
        cleanup_free char *target = read_link(link);

        ck_assert_str_eq(target, expected);
}

/* Links to commits lead to what is there; to commits that nothing is known of there are none. */
static void assert_links(void)
{
        assert_target("done/tiny/head", at("cached/%s", commit_sha("HEAD")));
        assert_target("done/tiny/tags/broken", at("../cached/%s", commit_sha("broken")));
        assert_target("done/tiny/branches/feature/deep/x", at("../../../cached/%s", commit_sha("HEAD")));
        assert_listing("done/tiny/tags", "broken release ");
        assert_shell("test -r done/tiny/head/cases/1/time && test -r done/tiny/tags/release/1.0/build/status && "
                     "! ls done/tiny/tags/v1 2>&1");
}

/* What there is is what cached/ of any mount has, byte for byte, times and modes included. */
START_TEST(test_the_same_files)
{
        unsigned id, large;

        world_make(&(struct world){.recipe = "output-limit = 8m\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do complain oh\n; do print sat\n");
        large = case_add("large.smt2", "; do bytes 3000000\n; do print sat\n");
        assert_shell(
                "solverfs run tiny HEAD %u %u && solverfs run tiny HEAD %u --seed 3 && solverfs run tiny HEAD~2 %u --timeout 7s",
                id, large, id, id);
        ck_assert_int_eq(shell("solverfs build tiny broken"), 1);
        mount_start("done", "cached");
        assert_listing("done", "README cases compare portfolios sets tinier tiny ");
        assert_listing("done/tiny", "alarms branches cached cases compare config head incompleteness report.html snapshots soundness spr tags ");
        assert_links();
        assert_shell("diff -r mnt/tiny/cached done/tiny/cached && diff -r -x features.tsv mnt/cases done/cases && cmp mnt/README done/README");
        list_all("mnt", "all");
        list_all("done", "done.all");
        assert_shell("cmp all done.all && test $(wc -l < all) -gt 50");
        assert_shell("tail -c 1234567 " CELL "stdout > tail && tail -c 1234567 " DONE
                     "stdout | cmp - tail && test $(wc -c < tail) -eq 1234567",
                     large, large);
        assert_shell("done/tiny/cached/HEAD/bin/tiny --version && tar -C done -cf done.tar . && tar -xOf done.tar "
                     "./cases/%u/input.smt2 "
                     "| cmp - mnt/cases/%u/input.smt2",
                     id, id);
        world_end();
}
END_TEST

START_TEST(test_nothing_is_written)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("a.smt2", "; do print sat\n");
        mount_start("done", "cached");
        assert_shell("echo > b.smt2; ! cp b.smt2 done/cases/ 2>says; grep 'Read-only file system' says");
        assert_shell("! touch done/cases/1/name 2>says; grep 'Read-only file system' says");
        assert_shell("! rm -f done/tiny/config 2>says; grep 'Read-only file system' says");
        world_end();
}
END_TEST

/* There is nothing that could start it; what is finished meanwhile shows up. */
START_TEST(test_nothing_starts)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        id = case_add("a.smt2", "; do print sat\n");
        ck_assert_int_eq(open_error(at(DONE "time", id)), ENOENT);
        ck_assert_int_eq(open_error(at("done/tiny/commits/HEAD/cases/%u/time", id)), ENOENT);
        assert_shell("find done -type f | xargs cat | wc -c");
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        assert_content(at(CELL "result", id), "sat\n");
        assert_content(at(DONE "result", id), "sat\n");
        assert_shell("test $(ls done/tiny/cached) = $(cd repo && git rev-parse HEAD)");
        world_end();
}
END_TEST

/* A mount of one finished cell at done/. */
static struct mount *mount_one_cell(unsigned *ret_case)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        *ret_case = case_add("a.smt2", "; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", *ret_case);
        return mount_start("done", "cached");
}

/* Opened, read and listed while the daemon is stopped: the kernel had no question. */
START_TEST(test_the_kernel_is_not_asking)
{
        unsigned id;
        struct mount *m = mount_one_cell(&id);

        assert_shell("cd done/tiny/cached/*/cases/%u && cat [!b]* > ../../../../../../before && for i in 1 2 3; do cat time; done",
                     id);
        assert_shell("sha=$(cd repo && git rev-parse HEAD); cd done/tiny/cached/$sha/cases/%u && kill -STOP %d && "
                     "timeout 20 cat cputime memory result run.json stderr stdout time > ../../../../../../after; r=$?; kill "
                     "-CONT %d; exit $r",
                     id, (int)m->pid, (int)m->pid);
        assert_shell("cmp before after");
        world_end();
}
END_TEST

/* A finished cell's folder is listed while the daemon is stopped. */
START_TEST(test_listings_are_the_kernels)
{
        unsigned id;
        struct mount *m = mount_one_cell(&id);

        assert_shell(
                "cd done/tiny/cached/$(cd repo && git rev-parse HEAD)/cases/%u && ls > ../../../../../../before && kill -STOP "
                "%d && timeout 20 ls > ../../../../../../after; r=$?; kill -CONT %d; exit $r",
                id, (int)m->pid, (int)m->pid);
        assert_shell("cmp before after && test $(wc -l < after) -eq 8");
        world_end();
}
END_TEST

/* What is finished when a listing begins is in it, whatever the kernel has kept of earlier ones. */
START_TEST(test_listings_grow_at_once)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        assert_shell("! ls done/tiny | grep -x head");
        for (unsigned i = 1; i <= 10; i++) {
                id = case_add(at("%u.smt2", i), "; do print sat\n");
                assert_shell("solverfs -q run tiny HEAD %u >/dev/null && ls done/cases done/tiny/cached/HEAD/cases > listed", id);
                assert_shell("test $(grep -cx %u listed) -eq 2 && ls done/tiny/cached/HEAD/cases | wc -l", id);
                ck_assert_str_eq(shell_output, at("%u\n", i));
                assert_shell("ls done/tiny | grep -x head");
        }
        assert_shell("solverfs -q run tiny HEAD~1 %u >/dev/null && ls done/tiny/cached | wc -l", id);
        ck_assert_str_eq(shell_output, "2\n");
        world_end();
}
END_TEST

START_TEST(test_measured_again)
{
        cleanup_free char *before = NULL, *after = NULL;
        struct stat old, new;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        mount_start("done", "cached");
        before = content(at(DONE "stdout", id));
        write_whole("before", before);
        ck_assert_int_eq(stat(at(DONE "stdout", id), &old), 0);
        await(time(NULL) > old.st_mtime);
        measure_until_it_moves(id);
        await(shell("cmp -s before " DONE "stdout", id) == 1);
        after = content(at(DONE "stdout", id));
        ck_assert_uint_eq(strlen(after), strlen(before));
        ck_assert_int_eq(stat(at(DONE "stdout", id), &new), 0);
        ck_assert_int_gt(new.st_mtime, old.st_mtime);
        world_end();
}
END_TEST

/* Two measurements of one second have the same time, and mostly the same size. What was measured under one time limit answers under another. */
START_TEST(test_measured_again_and_again)
{
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        mount_start("done", "cached");
        for (int i = 0; i < 6; i++) {
                assert_shell("cat " DONE "stdout >before && cmp before done/tiny/cached/HEAD/timeout/1m/cases/%u/stdout", id, id);
                measure_until_it_moves(id);
                await(shell("cmp -s moved " DONE "stdout", id) == 0);
                await(shell("cmp -s moved done/tiny/cached/HEAD/timeout/1m/cases/%u/stdout", id) == 0);
        }
        world_end();
}
END_TEST

/* The mount finds programs anew for commits and builds that came later. */
START_TEST(test_measured_again_in_later_commits)
{
        static const char *const changes[] = {"echo later >notes", "echo 'version: 11' >src/version"}; /* the first has the program of HEAD */
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        mount_start("done", "cached");
        for (size_t i = 0; i <= ARRAY_SIZE(changes); i++) {
                assert_shell("cat done/tiny/cached/$(git -C repo rev-parse HEAD)/cases/%u/stdout", id);
                measure_until_it_moves(id);
                await(shell("cmp -s moved done/tiny/cached/$(git -C repo rev-parse HEAD)/cases/%u/stdout", id) == 0);
                if (i < ARRAY_SIZE(changes))
                        assert_shell("(cd repo && git reset -q --hard && %s && git add -A && git -c user.name=x -c user.email=x@y commit -qm later) && "
                                     "solverfs solver update tiny && solverfs -q run tiny HEAD %u >/dev/null",
                                     changes[i], id);
        }
        world_end();
}
END_TEST

/* A commit whose objects were gone at the last measurement shows each one since they are there again. */
START_TEST(test_measured_again_while_a_commit_is_lost)
{
        cleanup_free char *lost = NULL;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do now\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        for (int i = 0; i < 2; i++) /* both have the program of the first */
                assert_shell("(cd repo && git reset -q --hard && echo %d >notes && git add -A && git -c user.name=x -c user.email=x@y commit -qm %d) && "
                             "find store/repos/tiny.git/objects -type f | sort >objects%d && solverfs solver update tiny", i, i, i);
        assert_shell("git -C repo rev-parse HEAD~1 | tr -d '\n'");
        lost = strdup(shell_output);
        assert_shell("comm -13 objects0 objects1 >lost && tar cf lost.tar -T lost && xargs rm -f <lost");
        assert_shell("! git -C store/repos/tiny.git cat-file -e %s", lost);
        mount_start("done", "cached");
        assert_shell("cat " DONE "stdout", id);
        measure_until_it_moves(id);
        await(shell("cmp -s moved " DONE "stdout", id) == 0);
        assert_shell("tar xf lost.tar && cmp moved done/tiny/cached/%s/cases/%u/stdout", lost, id);
        measure_until_it_moves(id);
        await(shell("cmp -s moved done/tiny/cached/%s/cases/%u/stdout", lost, id) == 0);
        world_end();
}
END_TEST

/* The index that is watched for writes is another folder after a rebuild. The process that writes goes on, as its end would be noticed, too. Each
 * second measurement is shown if it took less time than the first. */
START_TEST(test_measured_again_in_a_rebuilt_index)
{
        unsigned last;
        pid_t again;

        world_make(&(struct world){.settings = "sandbox = none\n", .recipe = "samples = 1\n"});
        world_expects("index");
        mount_start("mnt", NULL);
        for (unsigned i = 1; i <= 25; i++)
                case_add(at("%u.smt2", i), "; do now\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD all >/dev/null");
        last = case_add("last.smt2", "; do wait %s\n", absolute("gate"));
        mount_start("done", "cached");
        assert_shell("touch store/lmdb/damaged && ! solverfs -q fsck && cat done/tiny/cached/HEAD/cases/*/stdout >before");
        again = shell_start("solverfs -q run tiny HEAD $(seq 25) %u --again >/dev/null", last);
        await(shell("cat done/tiny/cached/HEAD/cases/*/stdout | cmp -s - before") == 1);
        ck_assert(process_runs(again));
        open_gate();
        ck_assert_int_eq(process_wait(again), 0);
        world_end();
}
END_TEST

/* A file of which a reader has read a byte. */
static int begin_at(const char *path, off_t at)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        char c;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(posix_fadvise(fd, 0, 0, at > 0 ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL), 0);
        ck_assert_int_eq(pread(fd, &c, 1, at), 1);
        return fd;
}

static int begin(const char *path)
{
        return begin_at(path, 0);
}

/* The whole file as the reader gets it, with its size, is the file `before`. */
static void assert_is_before(int fd)
{
        cleanup_free char *before = NULL, *now = NULL;
        ssize_t size = read_whole("before", &before);
        struct stat st;

        now = malloc((size_t)size + 10);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(st.st_size, size);
        for (ssize_t at = 0, n; at <= size; at += n) {
                n = pread(fd, now + at, (size_t)MIN(size + 10 - at, 10000), at);
                ck_assert_msg(n >= 0, "after %zd bytes: %s", at, strerror(errno));
                if (n == 0) {
                        ck_assert_int_eq(at, size);
                        break;
                }
        }
        ck_assert(memcmp(now, before, (size_t)size) == 0);
}

/* A reader that has begun reads that value to its end, whatever was measured since and whoever has read the new one: of a file that the kernel has
 * whole, and of one that it asks for in parts. */
START_TEST(test_a_begun_value_is_read_to_its_end)
{
        static const int bytes[] = {10, 3000000};

        world_make(&(struct world){.recipe = "samples = 1\noutput-limit = 8m\n"});
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
                unsigned id = case_add(at("%zu.smt2", i), "; do bytes %d\n; do now\n; do print sat\n", bytes[i]);
                cleanup_close int held = -1, later = -1;

                assert_shell("solverfs -q run tiny HEAD %u >/dev/null && cat " CELL "stdout >before", id, id);
                held = begin(at(DONE "stdout", id));
                measure_until_it_moves(id);
                await(shell("cmp -s moved " DONE "stdout", id) == 0);
                assert_is_before(held);
                assert_shell("mv moved before");
                later = begin(at(DONE "stdout", id));
                measure_until_it_moves(id);
                await(shell("cmp -s moved " DONE "stdout", id) == 0);
                assert_is_before(later);
                close(steal_fd(&held)); /* and the new one stays as it is */
                close(steal_fd(&later));
                assert_shell("cmp moved " DONE "stdout", id);
        }
        world_end();
}
END_TEST

/* The kernel asks for several parts at once, and they are answered in any order. */
START_TEST(test_a_value_whose_end_was_read_first)
{
        cleanup_close int held = -1;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\noutput-limit = 8m\n"});
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        id = case_add("a.smt2", "; do bytes 3000000\n; do now\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null && cat " CELL "stdout >before", id, id);
        held = begin_at(at(DONE "stdout", id), 3000000);
        measure_until_it_moves(id);
        await(shell("cmp -s moved " DONE "stdout", id) == 0);
        assert_is_before(held);
        close(steal_fd(&held));
        world_end();
}
END_TEST

START_TEST(test_a_begun_name_is_read_to_its_end)
{
        cleanup_close int held = -1;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        id = case_add("a.smt2", "; do print sat\n");
        assert_shell("cat done/cases/%u/name >before", id);
        held = begin(at("done/cases/%u/name", id));
        assert_shell("mv mnt/cases/a.smt2 mnt/cases/a-longer-name.smt2");
        await(shell("grep -qx a-longer-name.smt2 done/cases/%u/name", id) == 0);
        assert_is_before(held);
        close(steal_fd(&held));
        assert_content(at("done/cases/%u/name", id), "a-longer-name.smt2\n");
        world_end();
}
END_TEST

#define BORNE  7  /* others are begun, and the daemon still keeps what it sent before */
#define OTHERS 20 /* they take every place that the daemon has for what was begun */

/* Once the daemon keeps no longer what it sent of a file, a reader gets no part of another text, and a later one the whole of it. */
START_TEST(test_a_text_that_is_kept_no_longer)
{
        cleanup_free char *before = NULL;
        int held, others[OTHERS];
        char part[100];

        world_make(NULL);
        mount_start("mnt", NULL);
        mount_start("done", "cached");
        mount_start("other", "cached");
        for (unsigned i = 1; i <= OTHERS; i++)
                case_add(at("%u.smt2", i), "; do print sat\n; %10000u\n", i);
        assert_shell("solverfs -q run tiny HEAD 1 2 >/dev/null");
        before = content("other/tiny/report.html");
        held = begin_at("done/tiny/report.html", 5000);
        assert_content("done/cases/1/name", "1.smt2\n");
        for (unsigned i = 0; i < OTHERS; i++) {
                if (i == BORNE) {
                        assert_shell("solverfs -q run tiny HEAD 3 >/dev/null && mv mnt/cases/1.smt2 mnt/cases/a.smt2");
                        ck_assert_int_eq(pread(held, part, sizeof(part), 0), sizeof(part));
                        ck_assert_mem_eq(part, before, sizeof(part));
                }
                others[i] = begin_at(at("done/cases/%u/input.smt2", i + 1), 5000);
        }
        ck_assert_int_eq(pread(held, part, sizeof(part), 20000), -1); /* a page that the kernel does not have */
        ck_assert_int_eq(errno, ESTALE);
        await(shell("cmp done/tiny/report.html other/tiny/report.html") == 0);
        await(shell("grep -qx a.smt2 done/cases/1/name") == 0);
        for (unsigned i = 0; i < OTHERS; i++)
                close(others[i]);
        close(held);
        world_end();
}
END_TEST

/* An open file can be read to its end after SIGTERM, and `unmount` of a mount in use changes nothing, though the daemon sees no open here. */
START_TEST(test_an_open_file_outlives_the_end)
{
        cleanup_free char *before = NULL;
        cleanup_close int held = -1;
        struct mount *m;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        m = mount_start("done", "cached");
        before = malloc(5000001);
        memset(before, 'x', 5000000);
        before[5000000] = '\0';
        id = case_add("large.smt2", "; %s\n", before);
        assert_shell("cp mnt/cases/%u/input.smt2 before", id);
        held = begin(at("done/cases/%u/input.smt2", id));
        ck_assert_int_ne(shell("solverfs unmount done"), 0);
        ck_assert_ptr_nonnull(strstr(shell_output, "in use"));
        kill(m->pid, SIGTERM);
        await(!is_mounted("done"));
        remains(process_runs(m->pid));
        assert_is_before(held);
        close(steal_fd(&held));
        ck_assert_int_eq(mount_wait(m), 0);
        world_end();
}
END_TEST

static const char edit[] = "sed -i '/solver \"tiny\"/,/solver \"tinier\"/s|{case}|--variant=%s {case}|' store/config && "
                           "grep -q variant=%s store/config";

/* What another recipe found is not what this one finds, also where a reader has held the file since. */
START_TEST(test_another_recipe)
{
        cleanup_close int held = -1;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do variant\n; do print sat\n");
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        mount_start("done", "cached");
        assert_shell("grep 'variant: none' " DONE "stdout && ! grep -q other done/tiny/config", id);
        held = open(at(DONE "stdout", id), O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(held, 0);
        assert_shell(edit, "other", "other");
        await(shell("grep -q variant=other done/tiny/config") == 0);
        await(open_error(at(DONE "stdout", id)) == ENOENT);
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        await(open_error(at(DONE "stdout", id)) == 0);
        assert_shell("grep 'variant: other' " DONE "stdout", id);
        close(steal_fd(&held));
        world_end();
}
END_TEST

MOUNT_SUITE("mount_cached", {test_the_same_files}, {test_nothing_is_written}, {test_nothing_starts},
            {test_the_kernel_is_not_asking}, {test_listings_are_the_kernels}, {test_listings_grow_at_once}, {test_measured_again},
            {test_measured_again_and_again}, {test_measured_again_in_later_commits}, {test_measured_again_while_a_commit_is_lost},
            {test_measured_again_in_a_rebuilt_index},
            {test_a_begun_value_is_read_to_its_end}, {test_a_value_whose_end_was_read_first}, {test_a_begun_name_is_read_to_its_end},
            {test_a_text_that_is_kept_no_longer}, {test_an_open_file_outlives_the_end}, {test_another_recipe})
