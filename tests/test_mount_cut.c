/* Files of a store that are cut off, lost, or copied while they are written: what is not lost is served, what is lost is said, and nobody
 * hangs. */
#include "mount.h"

#define CASES  3
#define STATUS "timeout -k 1 60 solverfs"

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

/* What fsck cannot put back; it says so each time. */
static bool is_lost(const char *file)
{
        return strstr(file, "/objects/") || strncmp(file, "cases/", 6) == 0;
}

/* What it has to say something of, whatever is cut off. */
static bool is_told(const char *file)
{
        return is_lost(file) || strcmp(file, "config") == 0;
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

static void cut(const char *file, off_t to)
{
        const char *what = at("%s cut to %lld", file, (long long)to);
        int status;

        fprintf(stderr, "%s\n", what);
        put_store_back();
        assert_shell("chmod u+w 'store/%s' && truncate -s %lld 'store/%s'", file, (long long)to, file);
        status = shell(STATUS " fsck");
        ck_assert_msg(status == 0 || status == 1, "%s: %d, %s", what, status, shell_output);
        ck_assert_msg(!is_told(file) || status == 1, "%s: nothing is said: %s", what, shell_output);
        status = shell(STATUS " fsck");
        ck_assert_msg(status == is_lost(file), "%s: once more: %s", what, shell_output);
        assert_shell(STATUS " status");
        mount_start("mnt", NULL);
        all_known(what);
        read_cold(what, is_lost(file));
        mount_stop(mount_of("mnt"));
        status = shell(STATUS " fsck");
        ck_assert_msg(status == is_lost(file), "%s: at the end: %s", what, shell_output);
}

/* Without fsck: what opens it first has to bear it. */
static void cut_under_a_mount(const char *file, off_t to)
{
        const char *what = at("%s cut to %lld before a mount", file, (long long)to);

        put_store_back();
        assert_shell("chmod u+w 'store/%s' && truncate -s %lld 'store/%s'", file, (long long)to, file);
        mount_start("mnt", NULL);
        all_known(what);
        read_cold(what, is_lost(file));
        mount_stop(mount_of("mnt"));
}

/* Each file once, cut in one of three ways, and a few of the repository's objects; the ones that hold the most in all of them.
 * $SOLVERFS_CUT=K (0 to 7): every eighth file in every way. */
START_TEST(test_every_file_cut_off)
{
        const char *share = getenv("SOLVERFS_CUT");
        cleanup_free char *list = NULL;
        unsigned n = 0, cuts = 0;

        make_store();
        assert_shell("cd kept && find . -type f -size +0 -printf '%%s %%P\\n' | sort -k 2");
        list = strdup(shell_output);
        for (char *line = strtok(list, "\n"), *end; line; line = strtok(NULL, "\n"), n++) {
                off_t size = strtoll(line, &end, 10), to[] = {0, size / 2, size - 1};
                const char *file = end + 1;
                bool object = strstr(file, "/objects/") != NULL, all = share && n % 8 == (unsigned)atoi(share);
                bool most =
                        strcmp(file, "config") == 0 || strncmp(file, "journal/", 8) == 0 || strcmp(file, "lmdb/data.mdb") == 0;

                for (unsigned k = 0; k < ARRAY_SIZE(to); k++) {
                        if (share ? !all : !most && (n % 3 != k || (object && n % 9 != k)))
                                continue;
                        cut(at("%s", file), to[k]);
                        if (all || most)
                                cut_under_a_mount(at("%s", file), to[k]);
                        cuts++;
                }
        }
        fprintf(stderr, "%u files, cut %u times\n", n, cuts);
        ck_assert_uint_gt(n, 20);
}
END_TEST

MOUNT_SUITE("mount_cut", {test_every_file_cut_off})
