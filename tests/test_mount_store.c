/* A store that is damaged under a running mount, or has no room at the n-th write: nothing wrong is served, nothing that was finished is
 * lost, and nobody has to start anything anew. */
#include "faults.h"
#include "mount.h"

#define DATA "store/lmdb/data.mdb"

/* -- damage ----------------------------------------------------------------------------------------------------- */

#define CASES 8

static void add_cases(unsigned ids[CASES])
{
        for (unsigned i = 0; i < CASES; i++)
                ids[i] = case_add(at("%u.smt2", i), "; do print sat %u\n", i);
}

/* Is the answer there, and the right one? The kernel is made to forget what it was told before. 0, or the error of a reader. */
static int answer(unsigned id, unsigned i)
{
        const char *path = at("mnt/tiny/commits/HEAD/cases/%u/stdout", id);
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        char text[64], right[64];
        ssize_t n;

        if (fd < 0)
                return errno;
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        n = read(fd, text, sizeof(text) - 1);
        if (n < 0)
                return errno;
        text[n] = '\0';
        snprintf(right, sizeof(right), "sat %u\n", i);
        ck_assert_str_eq(text, right);
        return 0;
}

/* `tries`: who stands on the damage himself, in a transaction within another, may have an error; not the next one. */
static void all_answer_in(const unsigned ids[CASES], unsigned tries)
{
        for (unsigned i = 0; i < CASES; i++) {
                int error = answer(ids[i], i);

                for (unsigned n = 1; error != 0 && n < tries; n++)
                        error = answer(ids[i], i);
                ck_assert_int_eq(error, 0);
        }
}

static void all_answer(const unsigned ids[CASES])
{
        all_answer_in(ids, 1);
}

START_TEST(test_index_lost_under_the_daemon)
{
        unsigned ids[CASES], more;
        uint64_t started;

        world_make(NULL);
        world_expects("damaged|set aside");
        mount_start("mnt", NULL);
        add_cases(ids);
        all_answer(ids);
        started = counter("mnt", "jobs_started_total");
        ck_assert_int_eq(truncate(DATA, 8192), 0); /* all but the meta pages */
        all_answer(ids);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), started); /* from the journal: none was worked out again */
        ck_assert_int_eq(truncate(DATA, 8192), 0);
        more = case_add("more.smt2", "; do print sat 99\n"); /* met by a writer */
        ck_assert_int_eq(answer(more, 99), 0);
        ck_assert_int_eq(truncate(DATA, 0), 0);
        assert_shell("solverfs run tiny HEAD 0.smt2 --print result"); /* another process meets it first */
        all_answer(ids);
        ck_assert_int_eq(answer(more, 99), 0);
        assert_shell("solverfs fsck || solverfs fsck");
        world_end();
}
END_TEST

/* Pages of rubbish: LMDB may not notice, but what is read is right or an error, and fsck beside the daemon brings all back. */
START_TEST(test_pages_overwritten_under_the_daemon)
{
        unsigned ids[CASES], seed = 1, errors = 0;
        struct mount *m;

        world_make(NULL);
        world_expects(".");
        m = mount_start("mnt", NULL);
        add_cases(ids);
        all_answer(ids);
        for (unsigned round = 0; round < 6; round++) {
                struct stat st;
                cleanup_close int fd = open(DATA, O_WRONLY | O_CLOEXEC);

                ck_assert_int_eq(fstat(fd, &st), 0);
                for (unsigned k = 0; k < 4; k++) {
                        char page[4096];

                        for (size_t i = 0; i < sizeof(page); i++)
                                page[i] = (char)rand_r(&seed);
                        ck_assert_int_eq(pwrite(fd, page, sizeof(page), rand_r(&seed) % (unsigned)(st.st_size / 4096) * 4096),
                                         4096);
                }
                for (unsigned i = 0; i < CASES; i++)
                        errors += answer(ids[i], i) != 0;
                ck_assert(shell("solverfs fsck") >= 0);
                assert_shell("solverfs fsck");
                all_answer_in(ids, 3);
        }
        fprintf(stderr, "%u of %u readers had an error\n", errors, 6 * CASES);
        ck_assert(process_runs(m->pid));
        world_end();
}
END_TEST

START_TEST(test_journal_lost_under_the_daemon)
{
        unsigned ids[CASES], more;
        struct mount *m;

        world_make(NULL);
        world_expects("journal|made from|making");
        m = mount_start("mnt", NULL);
        add_cases(ids);
        all_answer(ids);
        assert_shell("truncate -s 100 store/journal/*");
        more = case_add("more.smt2", "; do print sat 99\n");
        ck_assert_int_eq(answer(more, 99), 0);
        mount_kill(m);
        assert_shell("rm -r store/lmdb"); /* all there is now is the journal, as it was written anew */
        mount_start("mnt", NULL);
        all_answer(ids);
        ck_assert_int_eq(answer(more, 99), 0);
        ck_assert_uint_eq(counter("mnt", "jobs_started_total"), 0);
        world_end();
}
END_TEST

/* -- no room at the n-th write ---------------------------------------------------------------------------------- */

static unsigned stories;

/* A case is added, a commit is built if it was not, and the answer is read: what a person does. 0, or the first errno met. `retry`: it must
 * go well, and goes on where it broke off. */
static int story(unsigned n, const char *revision, bool retry)
{
        const char *name = at("case%u.smt2", n);
        char *text = NULL;
        ssize_t size;
        unsigned id;

        write_whole(name, at("; %u\n; do print sat %u\n", n, n));
        if (shell("solverfs case add %s", name) != 0) {
                ck_assert_msg(!retry, "%s", shell_output);
                ck_assert_ptr_nonnull(strstr(shell_output, "No space left"));
                return ENOSPC;
        }
        id = case_id(name);
        size = read_whole(at("mnt/tiny/commits/%s/cases/%u/stdout", revision, id), &text);
        if (size >= 0)
                ck_assert_str_eq(text, at("sat %u\n", n));
        else
                ck_assert_msg(!exists(at("mnt/tiny/cached/%s/cases/%u/stdout", revision, id)), "half kept");
        free(text);
        return size < 0 ? (int)-size : 0;
}

/* Until the story passes the place untouched. */
static void sweep(const char *place)
{
        static const char *const revisions[] = {"v1", "v2.0", "HEAD~5", "HEAD~2", "merge", "v1", "HEAD~1", "HEAD"};
        unsigned failed = 0;

        for (unsigned n = 0;; n++) {
                const char *revision = revisions[stories % ARRAY_SIZE(revisions)];
                unsigned before = fault_met(place);
                bool was_met;
                int error;

                ck_assert_uint_lt(n, 60);
                fault_set(place, at("fail ENOSPC after %u times 1\n", before + n));
                error = story(++stories, revision, false);
                was_met = fault_met(place) > before + n;
                fault_clear(place);
                ck_assert_msg(error == 0 || error == ENOSPC, "%s %u: %s", place, n, strerrorname_np(error));
                ck_assert_msg(error == 0 || was_met, "%s %u: failed though nothing was asked for", place, n);
                failed += error != 0;
                ck_assert_int_eq(story(stories, revision, true), 0);
                if (!was_met)
                        break;
        }
        ck_assert_msg(failed > 0, "%s: nobody was met", place);
}

START_TEST(test_no_room_at_any_write)
{
        static const char *const places[] = {"build.checkout", "build.command", "programs.put",    "execute.start",
                                             "cases.place",    "cases.enter",   "store.begin",     "store.commit",
                                             "journal.append", "journal.sync",  "store.journaled", "engine.compute"};

        faults_begin();
        world_make(NULL);
        world_expects("No space left|a test asked");
        mount_start("mnt", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(places); i++)
                sweep(places[i]);
        assert_shell("solverfs fsck");
        assert_shell("solverfs gc");
        ck_assert_int_eq(story(++stories, "HEAD", true), 0);
        world_end();
}
END_TEST

MOUNT_SUITE("mount_store", {test_index_lost_under_the_daemon}, {test_pages_overwritten_under_the_daemon},
            {test_journal_lost_under_the_daemon}, {test_no_room_at_any_write})
