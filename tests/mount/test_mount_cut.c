/* Files of a store that are cut off, lost, or copied while they are written: what is not lost is served, what is lost is said, and nobody
 * hangs. */
#include "tests/support/mount.h"

#define CASES  3
#define STATUS "timeout -k 1 60 solverfs"
#define HALF   "solverfs --store half "

static unsigned ids[CASES];

/* A store with finished values of two commits, kept beside as `kept`. */
static void make_store(void)
{
        world_make(NULL);
        world_expects(".");
        mount_start("mnt", NULL);
        for (unsigned i = 0; i < CASES; i++)
                ids[i] = case_add(at("%u.smt2", i), "; do version\n; do print sat %u\n", i);
        for (unsigned i = 0; i < CASES; i++) {
                free(content(at("mnt/tiny/commits/HEAD/cases/%u/stdout", ids[i])));
                free(content(at("mnt/tiny/commits/v1/cases/%u/stdout", ids[i])));
        }
        world_end();
        assert_shell("solverfs fsck && cp -a store kept");
}

static void put_store_back(void)
{
        assert_shell("chmod -R u+w store && rm -r store && cp -a kept store");
}

static bool is_right(const char *text, unsigned i, unsigned version)
{
        return strcmp(text, at("version: %u\nsat %u\n", version, i)) == 0;
}

/* Finished values, by the command and by the mount. */
static void all_known(const char *what)
{
        static const struct {
                const char *revision;
                unsigned version;
        } known[] = {{"HEAD", 10}, {"v1", 1}};

        for (size_t k = 0; k < ARRAY_SIZE(known); k++)
                for (unsigned i = 0; i < CASES; i++) {
                        cleanup_free char *text = NULL;
                        ssize_t n;

                        n = read_whole(at("mnt/tiny/cached/%s/cases/%u/stdout", known[k].revision, ids[i]), &text);
                        ck_assert_msg(n > 0 && is_right(text, i, known[k].version), "%s: %s of case %u: %s", what,
                                      known[k].revision, ids[i], n < 0 ? strerror((int)-n) : text);
                }
        ck_assert_msg(shell(STATUS " run tiny v1 %u --print stdout", ids[1]) == 0 && strstr(shell_output, "version: 1\nsat 1\n"),
                      "%s: %s", what, shell_output);
}

/* -- cut off ---------------------------------------------------------------------------------------------------- */

static bool is_object(const char *file)
{
        return strstr(file, "/objects/") != NULL;
}

/* Until fsck has put it back, as it does an object from upstream. For a case it says each time that it cannot. */
static bool is_lost(const char *file, bool is_checked)
{
        return strncmp(file, "cases/", 6) == 0 || (is_object(file) && !is_checked);
}

/* What it has to say something of. The last byte of git's small files is a newline that nobody misses, that of the journal a zero. */
static bool is_told(const char *file, bool but_one)
{
        static const char *const small[] = {"repos/tiny.git/HEAD", "repos/tiny.git/config", "repos/tiny.git/refs/", "journal/"};

        for (size_t i = 0; i < ARRAY_SIZE(small); i++)
                if (strncmp(file, small[i], strlen(small[i])) == 0)
                        return !but_one;
        return is_lost(file, false) || strcmp(file, "config") == 0 || strcmp(file, "lmdb/data.mdb") == 0;
}

/* A cold value is right or an error; with all its files there, it is right. */
static void read_cold(const char *what, bool lost)
{
        cleanup_free char *text = NULL;
        ssize_t n = read_whole(at("mnt/tiny/commits/v2.0/cases/%u/stdout", ids[2]), &text);

        if (n >= 0)
                ck_assert_msg(is_right(text, 2, 2), "%s: cold: %s", what, text);
        else
                ck_assert_msg(lost && (n == -EIO || n == -ESTALE), "%s: cold: %s", what, strerror((int)-n));
}

static void cut(const char *file, off_t to, off_t size)
{
        const char *what = at("%s cut to %lld", file, (long long)to);
        int status;

        fprintf(stderr, "%s\n", what);
        put_store_back();
        assert_shell("chmod u+w 'store/%s' && truncate -s %lld 'store/%s'", file, (long long)to, file);
        status = shell(STATUS " fsck");
        ck_assert_msg(status == 0 || status == 1, "%s: %d, %s", what, status, shell_output);
        ck_assert_msg(!is_told(file, to == size - 1) || status == 1, "%s: nothing is said: %s", what, shell_output);
        status = shell(STATUS " fsck");
        ck_assert_msg(status == is_lost(file, true), "%s: once more: %s", what, shell_output);
        assert_shell(STATUS " status");
        mount_start("mnt", NULL);
        all_known(what);
        read_cold(what, is_lost(file, true));
        mount_stop(mount_of("mnt"));
        status = shell(STATUS " fsck");
        ck_assert_msg(status == is_lost(file, true), "%s: at the end: %s", what, shell_output);
}

/* Without fsck: what opens it first has to bear it. */
static void cut_under_a_mount(const char *file, off_t to)
{
        const char *what = at("%s cut to %lld before a mount", file, (long long)to);

        put_store_back();
        assert_shell("chmod u+w 'store/%s' && truncate -s %lld 'store/%s'", file, (long long)to, file);
        mount_start("mnt", NULL);
        all_known(what);
        read_cold(what, is_lost(file, false));
        mount_stop(mount_of("mnt"));
}

/* A config that ends with a line may be what somebody made of it (core/workspace/config_text.h): that one is cut within a line. Its size follows from the
 * length of the path of the scratch folder, so that its half may be anywhere. */
static off_t within_a_line(const char *file, off_t to)
{
        cleanup_free char *text = NULL;
        ssize_t n = strcmp(file, "config") == 0 ? read_whole(at("kept/%s", file), &text) : 0;

        while (to > 0 && to <= n && text[to - 1] == '\n')
                to--;
        return to;
}

/* Cuts the files that `ways` says something of: a bit for each of the three ways. */
static void cut_files(unsigned (*ways)(const char *file, unsigned n), bool under_a_mount)
{
        cleanup_free char *list = NULL;
        unsigned n = 0, cuts = 0;

        make_store();
        assert_shell("cd kept && find . -type f -size +0 -printf '%%s %%P\n' | sort -k 2");
        list = strdup(shell_output);
        for (char *line = strtok(list, "\n"), *end; line; line = strtok(NULL, "\n"), n++) {
                off_t size = strtoll(line, &end, 10);
                const char *file = end + 1;
                off_t to[] = {0, within_a_line(file, size / 2), size - 1};

                for (unsigned k = 0; k < ARRAY_SIZE(to); k++) {
                        if (!(ways(file, n) >> k & 1))
                                continue;
                        cut(file, to[k], size);
                        if (under_a_mount)
                                cut_under_a_mount(file, to[k]);
                        cuts++;
                }
        }
        fprintf(stderr, "%u files, cut %u times\n", n, cuts);
        ck_assert_uint_gt(n, 20);
        ck_assert_uint_gt(cuts, 8);
}

static bool holds_the_most(const char *file)
{
        return strcmp(file, "config") == 0 || strncmp(file, "journal/", 8) == 0 || strcmp(file, "lmdb/data.mdb") == 0;
}

static unsigned most_ways(const char *file, unsigned)
{
        return holds_the_most(file) ? 7 : 0;
}

START_TEST(test_what_holds_the_most_cut_off)
{
        cut_files(most_ways, true);
}
END_TEST

/* Every second file, in one of three ways, a few of the repository's objects, and what tells where these begin. $SOLVERFS_CUT=K (0 to 7):
 * every eighth file in every way. */
static unsigned other_ways(const char *file, unsigned n)
{
        const char *share = getenv("SOLVERFS_CUT");
        unsigned k = n % (strstr(file, "/objects/") ? 18 : 6);

        if (share)
                return n % 8 == (unsigned)atoi(share) ? 7 : 0;
        if (strcmp(file, "repos/tiny.git/HEAD") == 0 || strcmp(file, "repos/tiny.git/config") == 0)
                return 7;
        return !holds_the_most(file) && k < 3 ? 1U << k : 0;
}

START_TEST(test_files_cut_off)
{
        cut_files(other_ways, getenv("SOLVERFS_CUT") != NULL);
}
END_TEST

/* -- the index or the journal lost ------------------------------------------------------------------------------ */

static void lose(const char *command, bool fsck_first, const char *told)
{
        put_store_back();
        assert_shell("cd store && %s", command);
        if (fsck_first) {
                ck_assert_msg((shell(STATUS " fsck") == 0) == (strncmp(told, "note", 4) == 0) && strstr(shell_output, told), "%s: %s", command,
                              shell_output);
                assert_shell(STATUS " fsck");
        }
        mount_start("mnt", NULL);
        all_known(command);
        read_cold(command, false);
        mount_stop(mount_of("mnt"));
        assert_shell(STATUS " fsck");
}

/* Each can be made from the other; what is in neither is said to be lost, and what is in cases/ is nobody's to throw away. */
START_TEST(test_index_or_journal_lost)
{
        static const char index[] = "note\tstore\tthere was no index", journal[] = "a part of the journal was gone";

        make_store();
        for (unsigned fsck = 0; fsck < 2; fsck++) {
                lose("rm -r lmdb", fsck, index);
                lose("rm lmdb/data.mdb", fsck, index);
                lose("rm -r journal", fsck, journal);
                lose("rm journal/*", fsck, journal);
        }
        lose("rm config", true, "config was gone: it is written back");
        put_store_back();
        assert_shell("rm -r store/lmdb store/journal/* && ls store/cases/[0-9a-f]*/* | wc -l | grep -qx %u", CASES);
        assert_shell("solverfs gc 2>&1");
        assert_shell("ls store/cases/[0-9a-f]*/* | wc -l | grep -qx %u", CASES);
        assert_shell("solverfs fsck 2>&1 | grep -q 'cases.%u files in cases/ .* are of no case'", CASES);
        assert_shell("solverfs case add $(ls store/cases/[0-9a-f]*/* | head -n 1) && solverfs gc --dry-run --lost-cases");
        assert_shell("ls store/cases/[0-9a-f]*/* | wc -l | grep -qx %u", CASES);
        assert_shell("solverfs gc --lost-cases && ls store/cases/[0-9a-f]*/* | wc -l | grep -qx 1 && solverfs fsck");
        assert_shell("solverfs solver update tiny && solverfs run tiny v1 all --print stdout | grep -q 'version: 1'");
}
END_TEST

/* -- a store half made ------------------------------------------------------------------------------------------ */

/* What a killed init leaves is no store yet, and init goes on with it; what is a store it leaves alone, and so what is somebody else's. */
START_TEST(test_init_broken_off)
{
        static const char *const lacks[] = {"config", "config lmdb", "config lmdb journal", "config engines write.lock",
                                            "config lmdb journal store.lock write.lock work slots"};

        static const char *const others[] = {"touch mine", "mkdir cases && touch cases/mine.smt2",
                                             "mkdir journal && touch journal/system.journal", "ln -s / work"};

        make_store();
        for (size_t i = 0; i < ARRAY_SIZE(lacks); i++) {
                assert_shell(HALF "init && cd half && rm -r %s && touch config.a1B2c3", lacks[i]);
                ck_assert_msg(shell(HALF "status 2>&1") != 0 && strstr(shell_output, "make one with"), "%s: %s", lacks[i],
                              shell_output);
                assert_shell(HALF "init && " HALF "status && rm -r half");
        }
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                assert_shell("mkdir -m 755 half && cd half && %s && cd .. && ls -lR half > before", others[i]);
                ck_assert_msg(shell(HALF "status 2>&1") != 0 && strstr(shell_output, "make one with"), "%s: %s", others[i],
                              shell_output);
                ck_assert_msg(shell(HALF "init 2>&1") != 0 && strstr(shell_output, "is not empty"), "%s: %s", others[i],
                              shell_output);
                assert_shell("ls -lR half | cmp - before && rm -r half");
        }
        put_store_back();
        assert_shell("rm store/config && mkdir store/lmdb.damaged-1");
        ck_assert_msg(shell("solverfs init 2>&1") != 0 && strstr(shell_output, "'solverfs fsck' puts it back"), "%s",
                      shell_output);
        assert_shell("solverfs solver list 2>&1 | grep '^tiny'");
        ck_assert_int_eq(shell("solverfs fsck"), 1);
        assert_shell("cmp store/config kept/config");
}
END_TEST

/* -- copied while it is written to ------------------------------------------------------------------------------ */

#define COPIES 4

/* A copy of a live store has what was finished before it was begun; fsck makes it whole. */
START_TEST(test_copied_while_it_is_written)
{
        unsigned before[COPIES];
        pid_t writer;

        make_store();
        put_store_back();
        mount_start("mnt", NULL);
        writer = shell_start("i=0; while ! [ -e enough ]; do i=$((i+1)); echo \"; $i\n; do print sat\" >c$i && id=$(solverfs "
                             "case add c$i | cut -f 1) "
                             "&& cat mnt/tiny/commits/v1/cases/$id/stdout >/dev/null && echo $i >done.new && mv done.new done || "
                             "exit 1; done");
        await(exists("done"));
        for (unsigned i = 0; i < COPIES; i++) {
                before[i] = (unsigned)number("done");
                assert_shell("cp -a store copy%u 2>&1 || :", i); /* what goes away meanwhile is no copy's */
                await(number("done") > before[i] + 2);
        }
        write_whole("enough", "");
        ck_assert_int_eq(process_wait(writer), 0);
        mount_stop(mount_of("mnt"));
        for (unsigned i = 0; i < COPIES; i++) {
                assert_shell("chmod -R u+w store && rm -r store && mv copy%u store", i);
                ck_assert(shell(STATUS " fsck") <= 1);
                /* what is missing still is the bytes of cases that were added when their folder had been copied */
                ck_assert_msg(shell(STATUS " fsck | grep '^damaged' | grep -v 'the bytes of case .* are gone'") == 1, "%s",
                              shell_output);
                mount_start("mnt", NULL);
                all_known(at("copy %u", i));
                for (unsigned n = 1; n <= before[i]; n++)
                        assert_content(at("mnt/tiny/cached/v1/cases/%u/stdout", case_id(at("c%u", n))), "sat\n");
                read_cold("a copy", false);
                mount_stop(mount_of("mnt"));
        }
        fprintf(stderr, "%u values in the last copy\n", before[COPIES - 1]);
}
END_TEST

/* -- only to be read -------------------------------------------------------------------------------------------- */

static const char read_only[] =
        "solverfs status && solverfs case list && solverfs solver list && solverfs fsck -n && solverfs fsck && solverfs "
        "run tiny v1 all --print stdout | grep -q 'version: 1' && solverfs build tiny v1";

/* As who may only read it: all that is finished is there, what is not is refused with a sentence, nothing is changed. */
static void look_at_read_only(const char *as, int error)
{
        static const char *const writers[] = {"run tiny v2.0 1 --print result", "build tiny v2.0", "case add new.smt2", "gc",
                                              "solver update tiny"};

        ck_assert_msg(shell("%s sh -ec \"%s\" 2>&1", as, read_only) == 0, "%s: %s", as, shell_output);
        for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
                int status = shell("%s solverfs %s 2>&1", as, writers[i]);

                ck_assert_msg(status == 4 && (strstr(shell_output, "ead-only") || strstr(shell_output, "Permission denied")),
                              "%s %s: %d, %s", as, writers[i], status, shell_output);
        }
        if (*as)
                return;
        mount_start("mnt", NULL);
        all_known("read-only");
        ck_assert_int_eq(open_error(at("mnt/tiny/commits/v2.0/cases/%u/stdout", ids[0])), error);
        ck_assert_int_eq(open_error("mnt/tiny/commits/v2.0/bin/tiny"), error);
        assert_shell("mnt/tiny/commits/v1/bin/tiny --version | grep -qx 'version: 1'");
        ck_assert_int_eq(shell("cp new.smt2 mnt/cases/"), 1);
        mount_stop(mount_of("mnt"));
}

START_TEST(test_read_only_store)
{
        static const char sums[] = "cd kept && find . -type f -not -name log -print0 | sort -z | xargs -0 sha256sum";
        cleanup_free char *before = NULL;

        make_store();
        write_whole("new.smt2", "; new\n");
        assert_shell("rm kept/programs/* && %s", sums); /* a program's copy is not there to be handed out */
        before = strdup(shell_output);
        assert_shell("mkdir ro && mount --bind kept ro && mount -o remount,ro,bind ro");
        setenv("SOLVERFS_STORE", absolute("ro"), 1);
        look_at_read_only("", EROFS);
        assert_shell("%s", sums);
        ck_assert_str_eq(shell_output, before);
        command_for_others();
        assert_shell("umount ro && chmod -R a+rX . .. && cp -a kept ro/store"); /* a folder that others may look into */
        setenv("SOLVERFS_STORE", absolute("ro/store"), 1);
        look_at_read_only(AS_NOBODY, EACCES);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* which need more themselves */
        assert_shell(AS_NOBODY " sh -c 'ulimit -v 4000000 && solverfs status && solverfs case list'"); /* a smaller map will do */
#endif
        assert_shell("rm -r ro/store");
}
END_TEST

MOUNT_SUITE("mount_cut", {test_what_holds_the_most_cut_off}, {test_files_cut_off}, {test_index_or_journal_lost},
            {test_init_broken_off}, {test_copied_while_it_is_written}, {test_read_only_store, NEEDS_ROOT})
