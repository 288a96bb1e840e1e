/* Reading: metadata is free, sizes are right, times and identities stand still (docs/tree.md, 1, 2, 6, 7), and what the plain files say. */
#include "tests/support/mount.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#define LONG  100000 /* bytes printed: many more than the placeholder size; and few, less than it */
#define SHORT 100

/* Nothing was asked of the engine since the mount. */
static void assert_idle(void)
{
        ck_assert_uint_eq(counter("mnt", "asked_total"), 0);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        ck_assert_uint_eq(counter("mnt", "jobs_queued"), 0);
}

START_TEST(test_metadata_starts_nothing)
{
        unsigned id;
        const char *cell;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        cell = at(CELL, id);
        assert_shell("ls -lR mnt >listing && grep -q run.json listing");
        assert_shell("find mnt -ls >listing && grep -q 'cases/%u/time' listing", id);
        assert_shell("find -L mnt -maxdepth 6 >listing 2>&1; du -a mnt >listing");
        assert_shell("du -ab mnt >listing && stat -L %stime %sresult mnt/tiny/head/bin/tiny mnt/tiny/head/build/log", cell, cell);
        assert_shell("ls -l mnt/tiny/commits/HEAD/seeds/7/cases/%u mnt/tiny/commits/HEAD/timeout/90s/cases/%u", id, id);
        assert_shell("ls -lR mnt/tiny/commits/HEAD/scrambled/7/cases && cat %sby-seed.tsv", cell);
        assert_shell("getfattr -d %stime && getfattr -h -n user.solverfs.state %s[!b]* >listing", cell, cell);
        assert_shell("test -r %stime && test -s %stime && test -x mnt/tiny/head/bin/tiny", cell, cell);
        assert_shell("cat mnt/README mnt/.solverfs/* mnt/tiny/config mnt/tiny/head/message mnt/tiny/head/changes");
        assert_shell("grep -rs --exclude=features.tsv sat mnt/tiny/cached mnt/cases; ls -lR mnt/tiny/cached");
        assert_content("mnt/tiny/head/build/status", "none\n");
        assert_state(at("%stime", cell), "cold");
        assert_idle();
        world_end();
}
END_TEST

/* Before anything is known a file has some size that is not 0 (GNU tar would not open it), and no reader sees it as its content's. */
START_TEST(test_sizes)
{
        struct stat st;
        cleanup_free char *text = NULL;
        cleanup_close int fd = -1;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        for (int i = 0; i < 2; i++) {
                int size = i == 0 ? LONG : SHORT;

                id = case_add(i == 0 ? "long.smt2" : "short.smt2", "; do bytes %d\n", size);
                ck_assert_int_eq(stat(at(CELL "stdout", id), &st), 0);
                ck_assert_int_gt(st.st_size, 0);
                fd = open(at(CELL "stdout", id), O_RDONLY | O_CLOEXEC);
                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(fstat(fd, &st), 0);
                ck_assert_int_eq(st.st_size, size);
                ck_assert_int_eq(lseek(fd, 0, SEEK_END), size);
                close(steal_fd(&fd));
                ck_assert_int_eq(stat(at(CELL "stdout", id), &st), 0);
                ck_assert_int_eq(st.st_size, size);
                ck_assert_int_eq(read_whole(at(CELL "stdout", id), &text), size);
                ck_assert_int_eq(text[size - 1], '\n');
                freep(&text);
                text = NULL;
        }
        ck_assert_int_eq(stat(at(CELL "stderr", id), &st), 0); /* it is empty, and known to be */
        ck_assert_int_eq(st.st_size, 0);
        assert_content(at(CELL "stderr", id), "");
        world_end();
}
END_TEST

/* A file in one read, by a reader that does not ask for its size. */
static void assert_read_at_once(const char *path, const char *expected)
{
        char text[4096];
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(read(fd, text, sizeof(text)), strlen(expected));
        ck_assert_int_eq(memcmp(text, expected, strlen(expected)), 0);
}

/* Features are computed anew at each open, and a result after the recipe was edited. So each time the kernel gets a size that is a guess, though it has
 * pages of the same bytes. */
START_TEST(test_the_same_value_again)
{
        cleanup_free char *features = NULL;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "(set-logic QF_S)\n; do print sat\n");
        features = content(at("mnt/cases/%u/features.tsv", id));
        for (int i = 0; i < 3; i++) {
                assert_read_at_once(at("mnt/cases/%u/features.tsv", id), features);
                assert_shell("sed -i '/solver \"tiny\"/,/solver \"tinier\"/s|{case}|--again=%d {case}|' store/config", i);
                await(strcmp(state_of(at(CELL "result", id), "state"), "cold") == 0);
                assert_read_at_once(at(CELL "result", id), "sat\n");
        }
        world_end();
}
END_TEST

/* Each way to read a file finds a cold one, long or short, and must give just what was printed. The commands know it as $file and copy
 * it to ./copy. */
static void check_reader(const char *command)
{
        static const int sizes[] = {LONG, SHORT};

        world_make(NULL);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                const char *file = at("%zu.smt2", i);
                unsigned id = case_add(file, "; do bytes %d\n", sizes[i]);

                write_whole("direct.smt2", at("; do bytes %d\n", sizes[i]));
                assert_shell("rm -rf copy && \"$SOLVERFS_TINY\" direct.smt2 >expected");
                assert_state(at(CELL "stdout", id), "cold");
                assert_shell("export file=" CELL "stdout && %s", id, command);
                assert_shell("cmp copy expected");
                assert_state(at(CELL "stdout", id), "ready");
        }
        world_end();
}

#define READER(name, command)          \
        START_TEST(test_read_##name)   \
        {                              \
                check_reader(command); \
        }                              \
        END_TEST
READER(cat, "cat $file >copy")
READER(cp, "cp $file copy")
READER(cp_preserving, "cp -a $file copy")
READER(redirection, "while IFS= read -r line; do printf '%s\\n' \"$line\"; done <$file >copy")
READER(wc, "wc -c <$file >count && wc -c $file >count2 && cat $file >copy && test $(cat count) = $(stat -c %s copy) && "
           "test $(cut -d ' ' -f 1 count2) = $(stat -c %s copy)")
READER(tail, "tail -c 50 $file >end && cat $file >copy && tail -c 50 copy | cmp - end")
READER(dd, "dd if=$file of=copy bs=777 2>/dev/null")
READER(tar, "tar cf archive.tar --transform 's,.*,copy,' $file && tar xf archive.tar")
READER(rsync, "rsync -a $file copy")
READER(install, "install -m 600 $file copy")

static void map_and_compare(int flags)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        for (int i = 0; i < 2; i++) {
                int size = i == 0 ? LONG : SHORT;
                unsigned id = case_add(i == 0 ? "long.smt2" : "short.smt2", "; do bytes %d\n", size);
                cleanup_close int fd = open(at(CELL "stdout", id), O_RDONLY | O_CLOEXEC);
                cleanup_free char *text = NULL;
                struct stat st;
                char *map;

                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(fstat(fd, &st), 0);
                map = mmap(NULL, (size_t)st.st_size, PROT_READ, flags, fd, 0);
                ck_assert_msg(map != MAP_FAILED, "mmap: %s", strerror(errno));
                write_whole("direct.smt2", at("; do bytes %d\n", size));
                assert_shell("\"$SOLVERFS_TINY\" direct.smt2 >expected");
                text = content("expected");
                ck_assert_uint_eq(strlen(text), (size_t)st.st_size);
                ck_assert_int_eq(memcmp(map, text, (size_t)st.st_size), 0);
                munmap(map, (size_t)st.st_size);
        }
        world_end();
}

START_TEST(test_map_shared)
{
        map_and_compare(MAP_SHARED);
}
END_TEST

START_TEST(test_map_private)
{
        map_and_compare(MAP_PRIVATE);
}
END_TEST

START_TEST(test_sendfile)
{
        cleanup_close int from = -1, to = -1;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do bytes %d\n", LONG);
        from = open(at(CELL "stdout", id), O_RDONLY | O_CLOEXEC);
        to = open("copy", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        while (sendfile(to, from, NULL, 1 << 20) > 0) /* without a look at the size before */
                ;
        close(steal_fd(&from));
        write_whole("direct.smt2", at("; do bytes %d\n", LONG));
        assert_shell("\"$SOLVERFS_TINY\" direct.smt2 >expected && cmp copy expected");
        world_end();
}
END_TEST

/* A program runs from the mount, cold and warm, old and new, many at once. */
START_TEST(test_exec)
{
        struct stat st;

        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("mnt/tiny/commits/v1/bin/tiny --version");
        ck_assert_str_eq(shell_output, "version: 1\n");
        assert_shell("mnt/tiny/commits/v1/bin/tiny --version");
        ck_assert_str_eq(shell_output, "version: 1\n");
        assert_shell("for i in 1 2 3 4 5 6 7 8; do mnt/tiny/commits/HEAD/bin/tiny --version & done; wait");
        ck_assert_uint_eq(strlen(shell_output), 8 * strlen("version: 10\n"));
        ck_assert_int_eq(stat("mnt/tiny/commits/HEAD/bin/tiny", &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0555);
        assert_shell("cp mnt/tiny/commits/HEAD/bin/tiny copy && ./copy --version");
        ck_assert_str_eq(shell_output, "version: 10\n");
        assert_shell("cat \"$SOLVERFS_TINY\" >expected && echo 'version: 10' >>expected && cmp copy expected");
        ck_assert_uint_eq(counter("mnt", "jobs_failed_total"), 0);
        world_end();
}
END_TEST

/* A program that is running can go on when it is measured and read meanwhile, and lives through an unmount refused. */
START_TEST(test_exec_holds_the_mount)
{
        pid_t pid;

        world_make(NULL);
        mount_start("mnt", NULL);
        write_whole("direct.smt2", at("; do pid %s\n; do wait %s\n; do version\n", absolute("started"), absolute("gate")));
        pid = shell_start("exec mnt/tiny/commits/HEAD/bin/tiny direct.smt2 >out");
        await(exists("started"));
        ck_assert_int_ne(shell("solverfs unmount mnt"), 0);
        ck_assert(is_mounted("mnt"));
        write_whole("gate", "");
        ck_assert_int_eq(process_wait(pid), 0);
        assert_content("out", "version: 10\n");
        world_end();
}
END_TEST

/* GNU tar opens so: it waits like any other. */
START_TEST(test_nonblocking_open_waits)
{
        unsigned id;
        pid_t reader;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do sleep 300\n; do print sat\n");
        reader = reader_start_with(at(CELL "result", id), "copy", O_NONBLOCK, NULL);
        ck_assert_int_eq(process_wait(reader), 0);
        assert_content("copy", "sat\n");
        world_end();
}
END_TEST

/* -- times of files -- */

static int64_t mtime(const char *path)
{
        struct stat st;

        ck_assert_msg(stat(path, &st) == 0, "%s: %s", path, strerror(errno));
        return st.st_mtime;
}

START_TEST(test_times)
{
        const char *cell, *commit;
        int64_t before;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        cell = at(CELL, id);
        commit = "mnt/tiny/commits/HEAD/";
        before = mtime(at("%stime", cell));
        ck_assert_int_eq(before, mtime(at("mnt/cases/%u/input.smt2", id))); /* the case came later than the commit */
        ck_assert_int_ge(before, time(NULL) - 3600);
        ck_assert_int_eq(mtime(at("%smessage", commit)), commit_date(10));
        ck_assert_int_eq(mtime(at("%sbuild/log", commit)), commit_date(10));
        ck_assert_int_eq(mtime(at("%sbin/tiny", commit)), commit_date(10));
        ck_assert_int_eq(mtime("mnt/tiny/commits/v1/bin/tiny"), commit_date(1));
        ck_assert_int_eq(mtime(at("mnt/tiny/commits/%s", commit_sha("HEAD"))), commit_date(10));
        await(time(NULL) > before); /* or a time that moved with the value might not show */
        for (int i = 0; i < 2; i++) {
                free(content(at("%stime", cell)));
                free(content(at("%sbin/tiny", commit)));
                ck_assert_int_eq(mtime(at("%stime", cell)), before);
                ck_assert_int_eq(mtime(at("%srun.json", cell)), before);
                ck_assert_int_eq(mtime(at("%sbuild/log", commit)), commit_date(10));
                ck_assert_int_eq(mtime(at("%sbin/tiny", commit)), commit_date(10));
                ck_assert_int_eq(mtime(at("mnt/tiny/cached/HEAD/cases/%u/time", id)), before);
                assert_shell("solverfs -q build tiny HEAD --again");
        }
        world_end();
}
END_TEST

START_TEST(test_make_sees_a_stable_prerequisite)
{
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        write_whole("Makefile", at("report: " CELL "time\n\tcp $< $@\n\techo made >>journal\n", id));
        await(time(NULL) > mtime(at(CELL "time", id)));
        assert_shell("make report && make report && make report");
        assert_content("journal", "made\n");
        mount_stop(mount_start("other", NULL)); /* and nothing changes for a mount that comes later */
        assert_shell("make report");
        assert_content("journal", "made\n");
        world_end();
}
END_TEST

/* A commit that says it comes from the future would always be newer than what is made of it. */
START_TEST(test_a_commit_from_the_future)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        assert_shell("cd repo && git reset -q --hard && echo 'version: 11' >src/version && "
                     "GIT_COMMITTER_DATE='4000000000 +0000' git -c user.name=x -c user.email=x@y commit -qam future && "
                     "solverfs solver update tiny");
        await(mtime("mnt/tiny/head/message") != commit_date(10));
        ck_assert_int_le(mtime("mnt/tiny/head/message"), time(NULL));
        world_end();
}
END_TEST

/* -- identity -- */

#define IDENTITIES "find mnt -path mnt/.solverfs -prune -o -printf '%%i %%y %%p\\n' | sort >%s"

START_TEST(test_inodes_survive_a_remount)
{
        struct mount *m;
        unsigned id;

        world_make(NULL);
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        case_add("b.smt2", "; do print sat\n");
        free(content(at(CELL "time", id)));
        free(content(at("mnt/tiny/commits/HEAD/seeds/7/cases/%u/time", id)));
        free(content(at("mnt/tiny/commits/HEAD/timeout/90s/cases/%u/time", id)));
        assert_shell("solverfs case remove b.smt2");
        assert_shell(IDENTITIES, "before");
        mount_stop(m);
        m = mount_start("mnt", NULL);
        free(content(at("mnt/tiny/commits/HEAD/seeds/3/cases/%u/time", id))); /* in another order */
        case_add("c.smt2", "; do print sat\n");
        assert_shell(IDENTITIES, "after");
        assert_shell("comm -23 before after");
        ck_assert_msg(shell_output[0] == '\0', "other than before the remount:\n%s", shell_output);
        assert_shell("test $(wc -l <before) -gt 500 && cat before after | sort -u | cut -d ' ' -f 1 | sort | uniq -d");
        ck_assert_msg(shell_output[0] == '\0', "two things have one number: %s", shell_output);
        world_end();
}
END_TEST

/* Settings that nobody measures under are not written down: looking at any number of them costs nothing that could come to an end. */
START_TEST(test_looking_at_settings_writes_nothing)
{
        static const char *const settings[] = {"seeds/0",     "seeds/8191",  "seeds/100000", "timeout/20100ms", "timeout/30700ms",
                                               "timeout/90s", "timeout/34m", "timeout/1h",   "timeout/2047h",   "timeout/1234ms"};
        struct stat before[ARRAY_SIZE(settings)], after;
        struct mount *m;
        unsigned id;

        world_make(&(struct world){.recipe = "samples = 1\n"});
        m = mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do seed\n; do print sat\n");
        assert_shell("ls mnt/tiny/commits mnt/tiny/cached && stat mnt/tiny/head/seeds/1 && cat store/journal/* | sha256sum >was");
        assert_shell("cd mnt/tiny/commits/HEAD && stat -c %%i $(seq -f seeds/%%g 0 3000) $(seq -f timeout/%%gs 1 59) "
                     "$(seq -f timeout/%%gm 1 59) seeds/7/cases/%u/* | sort -u | wc -l",
                     id);
        ck_assert_str_eq(shell_output, at("%d\n", 3001 + 59 + 59 + 7)); /* all of them others */
        assert_shell("cat store/journal/* | sha256sum | cmp - was");
        assert_shell("ls mnt/tiny/head/seeds");
        ck_assert_str_eq(shell_output, "");
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
                assert_shell("cat mnt/tiny/head/%s/cases/%u/stdout", settings[i], id);
                ck_assert_str_eq(shell_output, at("seed: %s\nsat\n", settings[i][0] == 's' ? settings[i] + 6 : "none"));
                ck_assert_int_eq(stat(at("mnt/tiny/head/%s/cases/%u/time", settings[i], id), &before[i]), 0);
        }
        mount_stop(m);
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
                ck_assert_int_eq(stat(at("mnt/tiny/head/%s/cases/%u/time", settings[i], id), &after), 0);
                ck_assert_msg(before[i].st_ino == after.st_ino, "%s: %llx, then %llx", settings[i],
                              (unsigned long long)before[i].st_ino, (unsigned long long)after.st_ino);
        }
        assert_shell("ls mnt/tiny/head/seeds mnt/tiny/cached/HEAD/seeds | sort -u | tr '\n' ' '");
        ck_assert_ptr_nonnull(strstr(shell_output, " 0 100000 8191 "));
        world_end();
}
END_TEST

START_TEST(test_nothing_is_writable_but_cases)
{
        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("a.smt2", "(check-sat)\n");
        assert_shell("stat -L -c %%a mnt mnt/cases mnt/cases/by-name mnt/cases/1/input.smt2 mnt/tiny/head mnt/tiny/config "
                     "mnt/tiny/head/bin/tiny mnt/tiny/head/cases/1/time | tr '\\n' ' '");
        ck_assert_str_eq(shell_output, "555 755 555 444 555 444 555 444 ");
        world_end();
}
END_TEST

/* What is known without work has its size, so that rsync, tar and whoever else looks at that first has all of it. */
START_TEST(test_known_files_have_their_size)
{
        const char *files = "mnt/README mnt/cases/[0-9]*/[!f]* mnt/*/config mnt/tiny/commits/CACHEDIR.TAG mnt/tiny/head/message "
                            "mnt/tiny/head/author mnt/tiny/head/date mnt/tiny/head/changes mnt/tiny/head/build/status "
                            "mnt/.solverfs/status mnt/.solverfs/jobs.tsv mnt/.solverfs/version";

        world_make(NULL);
        mount_start("mnt", NULL);
        case_add("a.smt2", "(set-logic QF_S)\n");
        assert_shell("for f in %s; do [ -f $f ] || continue; [ $(stat -L -c %%s $f) = $(cat $f | wc -c) ] || { echo $f; exit 1; "
                     "}; done",
                     files);
        assert_shell("mkdir out && tar ch %s | tar x -C out && for f in %s; do cmp $f out/$f || exit 1; done", files, files);
        assert_shell("grep -q 'output = out/tiny' out/mnt/tiny/config");
        world_end();
}
END_TEST

/* A mistake in the config under a running mount changes nothing, and is told. */
START_TEST(test_a_mistake_in_the_config_is_shown)
{
        world_make(NULL);
        world_expects("coers|biuld");
        mount_start("mnt", NULL);
        assert_shell("cp store/config good && printf '[solverfs]\\n\\tcoers = 1\\n' >>store/config");
        await(shell("grep '^CONFIG: .*config:[0-9]*: unknown key .coers' mnt/.solverfs/status") == 0);
        assert_shell("grep coers mnt.log && cp good store/config && printf '[solver \"tiny\"]\\n\\tbiuld = x\\n' >>store/config");
        await(shell("grep '^CONFIG: .*biuld' mnt/.solverfs/status") == 0);
        assert_shell("ls mnt/tiny/head && cp good store/config");
        await(shell("grep CONFIG mnt/.solverfs/status") != 0);
        world_end();
}
END_TEST

/* -- cached/ -- */

/* The listing of a finished cell says of each file what a lookup says: of a mount that has looked at nothing yet, either way. */
START_TEST(test_cached_listing_has_attributes)
{
        static const char show[] = "-printf '%f %i %s %m %T@ %y\\n'";
        cleanup_free char *listed = NULL;
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        free(content(at(CELL "run.json", id)));
        mount_start("other", NULL);
        assert_shell("find other/tiny/cached/HEAD/cases/%u/ -mindepth 1 %s | sort", id, show);
        listed = strdup(shell_output);
        assert_shell("for f in by-seed.tsv cputime memory result run.json stderr stdout time; do "
                     "find mnt/tiny/cached/HEAD/cases/%u/$f %s; done",
                     id, show);
        ck_assert_str_eq(listed, shell_output);
        world_end();
}
END_TEST

START_TEST(test_cached_shows_what_is_finished)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = at("environment = \"COUNT=%s\"\n", recipe_path("builds"))};
        const char *sha;
        unsigned id, other;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do count %s\n; do print sat\n", absolute("runs"));
        other = case_add("b.smt2", "; do print sat\n");
        sha = commit_sha("HEAD");
        assert_shell("find mnt/tiny/cached -mindepth 1");
        ck_assert_str_eq(shell_output, "");
        ck_assert(!exists("mnt/tiny/cached/HEAD"));
        free(content(at(CELL "time", id)));
        assert_shell("ls mnt/tiny/cached");
        ck_assert_str_eq(shell_output, at("%s\n", sha));
        assert_shell("ls mnt/tiny/cached/HEAD/cases");
        ck_assert_str_eq(shell_output, at("%u\n", id));
        ck_assert(exists(at("mnt/tiny/cached/%.8s/cases/%u/time", sha, id)));
        ck_assert(!exists(at("mnt/tiny/cached/HEAD/cases/%u/time", other)));
        ck_assert_int_eq(open_error(at("mnt/tiny/cached/HEAD/cases/%u/time", other)), ENOENT);
        ck_assert(!exists("mnt/tiny/cached/v1"));
        ck_assert_int_eq(open_error("mnt/tiny/cached/v1/bin/tiny"), ENOENT);
        ck_assert(!exists("mnt/tiny/cached/CACHEDIR.TAG"));
        ck_assert_int_eq(open_error(at("mnt/tiny/cached/HEAD/seeds/5/cases/%u/time", id)), ENOENT);
        assert_shell("cmp " CELL "time mnt/tiny/cached/HEAD/cases/%u/time", id, id);
        assert_shell("grep -rl sat mnt/tiny/cached/HEAD/cases >found && tar cf a.tar mnt/tiny/cached/HEAD/[bc]*");
        assert_shell("mnt/tiny/cached/HEAD/bin/tiny --version");
        assert_content("runs", ".");
        assert_content("builds", ".");
        assert_shell("head -c 43 mnt/tiny/commits/CACHEDIR.TAG");
        ck_assert_str_eq(shell_output, "Signature: 8a477f597d28d172789f06886806bc55");
        assert_shell("tar c --exclude-caches-all mnt/tiny/commits | wc -c");
        world_end();
}
END_TEST

/* What gc took is not built again for a reader of cached/. */
START_TEST(test_cached_builds_nothing_again)
{
        struct world w = {.settings = "sandbox = none\n", .recipe = at("environment = \"COUNT=%s\"\n", recipe_path("builds"))};

        world_make(&w);
        mount_start("mnt", NULL);
        free(content("mnt/tiny/head/bin/tiny"));
        assert_shell("mnt/tiny/cached/HEAD/bin/tiny --version && solverfs gc --keep 0");
        ck_assert_int_eq(open_error("mnt/tiny/cached/HEAD/bin/tiny"), ENOENT);
        assert_shell("ls mnt/tiny/cached/HEAD && cat mnt/tiny/cached/HEAD/build/log");
        assert_state("mnt/tiny/head/bin/tiny", "cold");
        assert_content("builds", ".");
        assert_shell("mnt/tiny/head/bin/tiny --version && cmp mnt/tiny/head/bin/tiny mnt/tiny/cached/HEAD/bin/tiny");
        assert_content("builds", "..");
        world_end();
}
END_TEST

/* -- an edited recipe -- */

static ino_t inode_of(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 ? st.st_ino : 0;
}

START_TEST(test_outputs_change)
{
        struct world w = {
                .recipe = "build = \"mkdir -p out && cp src/version out/extra\"\noutput = out/tiny\noutput = out/extra\n"};
        ino_t tiny, extra;

        world_make(&w);
        mount_start("mnt", NULL);
        assert_content("mnt/tiny/head/bin/extra", "version: 10\n");
        tiny = inode_of("mnt/tiny/head/bin/tiny");
        extra = inode_of("mnt/tiny/head/bin/extra");
        ck_assert(tiny != 0 && extra != 0 && tiny != extra);
        assert_shell("sed -i '/output/{s,tiny,T,; s,extra,tiny,; s,T,extra,}' store/config");
        await(shell("ls -U mnt/tiny/head/bin") == 0 && strcmp(shell_output, "extra\ntiny\n") == 0);
        ck_assert_uint_eq(inode_of("mnt/tiny/head/bin/tiny"), tiny);
        ck_assert_uint_eq(inode_of("mnt/tiny/head/bin/extra"), extra);
        assert_content("mnt/tiny/head/bin/extra", "version: 10\n");
        assert_shell("sed -i '/output = .*extra/d' store/config");
        await(shell("ls mnt/tiny/head/bin") == 0 && strcmp(shell_output, "tiny\n") == 0);
        ck_assert_int_eq(open_error("mnt/tiny/head/bin/extra"), ENOENT);
        ck_assert_uint_eq(inode_of("mnt/tiny/head/bin/tiny"), tiny);
        assert_shell("mnt/tiny/head/bin/tiny --version");
        world_end();
}
END_TEST

/* -- live and plain files -- */

START_TEST(test_plain_files)
{
        const char *head = "mnt/tiny/commits/HEAD/";
        unsigned id;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("dir ä.smt2", "(set-logic QF_S)\n(set-info :status unsat)\n(check-sat)\n");
        assert_content(at("mnt/cases/%u/name", id), "dir ä.smt2\n");
        assert_content(at("mnt/cases/%u/logic", id), "QF_S\n");
        assert_content(at("mnt/cases/%u/status", id), "unsat\n");
        assert_shell("sha256sum <mnt/cases/%u/input.smt2 | cut -d ' ' -f 1 | cmp - mnt/cases/%u/sha256", id, id);
        assert_content("mnt/tiny/commits/v1/message", "First version\n\nWith a body of\ntwo lines.\n");
        assert_shell("grep -q 'Ada Author' %sauthor && grep -q ada@example.org %sauthor", head, head);
        assert_shell("grep -q 2020-09-23 %sdate", head);
        assert_shell("grep src/version %schanges", head);
        assert_content("mnt/tiny/commits/docs-only/changes",
                       shell("git -C repo diff --name-status v2.0 docs-only") == 0 ? shell_output : "");
        assert_shell("ls mnt/tiny/commits/merge/parents mnt/tiny/commits/v1/parents mnt/tiny/head/parents");
        ck_assert_str_eq(shell_output, "mnt/tiny/commits/merge/parents:\n1\n2\n\nmnt/tiny/commits/v1/parents:\n\n"
                                       "mnt/tiny/head/parents:\n1\n");
        assert_shell("cmp mnt/tiny/commits/merge/parents/2/message mnt/tiny/branches/topic/one/message");
        assert_shell("for w in cases commits cached README time result build/log 'starts that work'; do "
                     "grep -q \"${w#build/}\" mnt/README || { echo $w; exit 1; }; done");
        assert_shell("solverfs init --store again && solverfs --store again solver add tiny repo --recipe mnt/tiny/config && "
                     "solverfs init --store more && cat again/config");
        assert_shell("grep -q solverfs mnt/.solverfs/version && head -1 mnt/.solverfs/jobs.tsv | grep -q state");
        world_end();
}
END_TEST

/* What runs is seen while it runs, by reading the same descriptor again or the file anew. */
START_TEST(test_live_files)
{
        struct world w = {.settings = "sandbox = none\ngrace = 600s\n"};
        pid_t reader;
        unsigned id;

        world_make(&w);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do wait %s\n; do print sat\n", absolute("gate"));
        free(content("mnt/tiny/head/bin/tiny"));
        assert_content("mnt/tiny/head/build/status", "ok\n");
        assert_state(at(CELL "time", id), "cold");
        reader = reader_start(at(CELL "result", id), "copy");
        await(strcmp(state_of(at(CELL "time", id), "state"), "running") == 0);
        ck_assert_str_ne(state_of(at(CELL "time", id), "job"), "");
        assert_shell("grep '^%s\t' mnt/.solverfs/jobs.tsv | grep running", state_of(at(CELL "time", id), "job"));
        assert_shell("grep 'case %u' mnt/.solverfs/status", id);
        ck_assert_uint_eq(counter("mnt", "waiters"), 1);
        ck_assert_uint_eq(counter("mnt", "jobs_running"), 1);
        write_whole("gate", "");
        ck_assert_int_eq(process_wait(reader), 0);
        assert_state(at(CELL "time", id), "ready");
        ck_assert_str_eq(state_of(at(CELL "time", id), "job"), "");
        await(counter("mnt", "jobs_running") == 0);
        assert_shell("! grep 'case %u' mnt/.solverfs/status", id);
        ck_assert_uint_eq(counter("mnt", "waiters"), 0);
        world_end();
}
END_TEST

START_TEST(test_build_status)
{
        struct world w = {.settings = "sandbox = none\ngrace = 600s\n", .recipe = at("environment = \"GATE=%s\"\n", recipe_path("gate"))};
        pid_t reader, run;

        world_make(&w);
        mount_start("mnt", NULL);
        assert_content("mnt/tiny/head/build/status", "none\n");
        reader = reader_start("mnt/tiny/head/build/log", "log");
        await(strcmp(state_of("mnt/tiny/head/bin/tiny", "state"), "running") == 0);
        assert_content("mnt/tiny/head/build/status", "building\n");
        assert_state("mnt/tiny/head/build/log", "running");
        run = reader_start(at(CELL "time", case_add("a.smt2", "; do print sat\n")), NULL);
        await(shell("grep 'case 1, waits for build [0-9]' mnt/.solverfs/status") == 0);
        write_whole("gate", "");
        ck_assert_int_eq(process_wait(reader), 0);
        ck_assert_int_eq(process_wait(run), 0);
        assert_content("mnt/tiny/head/build/status", "ok\n");
        assert_shell("grep '^built version: 10' log && grep 'sh src/build.sh' log");
        ck_assert_int_eq(open_error("mnt/tiny/commits/broken/build/log"), 0);
        assert_content("mnt/tiny/commits/broken/build/status", "failed\n");
        world_end();
}
END_TEST

/* -- below an overlayfs ------------------------------------------------------------------------------------------- */

static void overlay(const char *lower)
{
        assert_shell("mkdir -p %s.over %s.merged && mount -t tmpfs over %s.over && mkdir %s.over/up %s.over/work && "
                     "mount -t overlay over -o lowerdir=%s,upperdir=%s.over/up,workdir=%s.over/work %s.merged",
                     lower, lower, lower, lower, lower, lower, lower, lower, lower);
}

static void overlay_end(const char *lower)
{
        assert_shell("umount %s.merged && umount %s.over", lower, lower);
}

/* Made the overlay's own by a write to its times, it has the lower file's bytes, and nothing behind them. */
static void assert_copied_up(const char *lower, const char *folder, unsigned id, const char *name)
{
        const char *path = at("tiny/%s/%s/cases/%u/%s", folder, commit_sha("HEAD"), id, name);

        assert_shell("touch -d 2020-01-01 %s.merged/%s && test -f %s.over/up/%s && cmp %s/%s %s.merged/%s", lower, path, lower, path, lower, path,
                     lower, path);
}

/* What docs/tree.md says to do: the file is read first, below the overlay or through it, … */
START_TEST(test_overlay_of_what_was_read)
{
        unsigned id, large;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        large = case_add("large.smt2", "; do print sat\n; do bytes 300000\n");
        overlay("mnt");
        assert_content(at("mnt/tiny/commits/%s/cases/%u/result", commit_sha("HEAD"), id), "sat\n");
        assert_content(at("mnt.merged/tiny/commits/%s/cases/%u/result", commit_sha("HEAD"), large), "sat\n");
        assert_copied_up("mnt", "commits", id, "result");
        assert_copied_up("mnt", "commits", id, "time");
        assert_copied_up("mnt", "commits", large, "result");
        assert_copied_up("mnt", "commits", large, "stdout");
        overlay_end("mnt");
        world_end();
}
END_TEST

/* … or the lower layer has what is finished alone. */
START_TEST(test_overlay_of_what_is_finished)
{
        unsigned cold, id, large;

        world_make(NULL);
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        large = case_add("large.smt2", "; do print sat\n; do bytes 300000\n");
        cold = case_add("cold.smt2", "; do print sat\n");
        assert_shell("solverfs run tiny HEAD %u %u", id, large);
        mount_start("done", "cached");
        overlay("done");
        assert_copied_up("done", "cached", id, "result");
        assert_copied_up("done", "cached", id, "run.json");
        assert_copied_up("done", "cached", large, "stdout");
        assert_shell("test -e done.merged/tiny/cached/%s/cases/%u -a ! -e done.merged/tiny/cached/%s/cases/%u/result", commit_sha("HEAD"), id,
                     commit_sha("HEAD"), cold);
        overlay_end("done");
        world_end();
}
END_TEST

MOUNT_SUITE("mount_read", {test_metadata_starts_nothing}, {test_sizes}, {test_the_same_value_again}, {test_read_cat}, {test_read_cp},
            {test_read_cp_preserving}, {test_read_redirection}, {test_read_wc}, {test_read_tail}, {test_read_dd}, {test_read_tar},
            {test_read_rsync, NEEDS_RSYNC}, {test_overlay_of_what_was_read, NEEDS_ROOT | NEEDS_OVERLAY},
            {test_overlay_of_what_is_finished, NEEDS_ROOT | NEEDS_OVERLAY}, {test_read_install}, {test_map_shared}, {test_map_private}, {test_sendfile},
            {test_exec}, {test_exec_holds_the_mount}, {test_nonblocking_open_waits}, {test_times},
            {test_make_sees_a_stable_prerequisite}, {test_a_commit_from_the_future}, {test_inodes_survive_a_remount},
            {test_looking_at_settings_writes_nothing}, {test_cached_shows_what_is_finished}, {test_cached_builds_nothing_again},
            {test_outputs_change}, {test_known_files_have_their_size}, {test_nothing_is_writable_but_cases},
            {test_a_mistake_in_the_config_is_shown}, {test_cached_listing_has_attributes}, {test_plain_files}, {test_live_files},
            {test_build_status})
