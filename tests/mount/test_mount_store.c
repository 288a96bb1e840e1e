/* A store that is damaged under a running mount, or has no room at the n-th write: nothing wrong is served, nothing that was finished is
 * lost, and nobody has to start anything anew. */
#include "tests/support/faults.h"
#include "tests/support/mount.h"

#include <lmdb.h>
#include <xxhash.h>

#include "cache/store/codec.h"
#include "cache/store/store.h"

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
        unsigned ids[CASES], seed = test_seed(1), errors = 0;
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

/* One bit, several, or a page, in the index or in the journal: fsck has mended it before the other is damaged, as it is told to. */
static void damage(const char *path, unsigned *seed)
{
        cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC);
        unsigned kind = rand_r(seed) % 3, times = kind == 0 ? 1 : kind == 1 ? 16 : 0;
        char page[4096];
        struct stat st;

        ck_assert(fd >= 0 && fstat(fd, &st) == 0);
        for (unsigned i = 0; i < times; i++) {
                off_t where = (off_t)((unsigned)rand_r(seed) % (unsigned)st.st_size);
                char c;

                ck_assert_int_eq(pread(fd, &c, 1, where), 1);
                c ^= (char)(1 << rand_r(seed) % 8);
                ck_assert_int_eq(pwrite(fd, &c, 1, where), 1);
        }
        for (size_t i = 0; times == 0 && i < sizeof(page); i++)
                page[i] = (char)rand_r(seed);
        if (times == 0)
                ck_assert_int_eq(
                        pwrite(fd, page, sizeof(page), (off_t)((unsigned)rand_r(seed) % (unsigned)(st.st_size / 4096)) * 4096),
                        sizeof(page));
}

#define FLIPS 36

/* fsck writes it anew where it is damaged. */
static const char *journal_file(void)
{
        assert_shell("ls store/journal | tail -n 1");
        return at("store/journal/%.8s", shell_output);
}

/* The kernel remembers for a second what it was told is not there. What LMDB cannot find in a damaged page is not there until fsck. */
static bool comes(unsigned id, unsigned i)
{
        int error = 1;

        for (unsigned turns = 0; error != 0 && turns < 600; turns++) {
                nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
                error = answer(id, i);
        }
        return error == 0;
}

START_TEST(test_flips_under_the_daemon)
{
        unsigned ids[CASES], seed = test_seed(7), errors = 0, unseen = 0, fscks, most = 0, more;
        struct mount *m;

        world_make(NULL);
        world_expects(".");
        m = mount_start("mnt", NULL);
        add_cases(ids);
        all_answer(ids);
        for (unsigned round = 0; round < FLIPS; round++) {
                damage(rand_r(&seed) % 3 ? DATA : journal_file(), &seed);
                for (unsigned i = 0; i < CASES; i++) {
                        if (answer(ids[i], i) == 0)
                                continue;
                        errors++;
                        if (!comes(ids[i], i)) {
                                ck_assert_int_eq(shell("solverfs fsck"), 1);
                                ck_assert_msg(comes(ids[i], i), "round %u, case %u: no answer", round, i);
                                unseen++;
                        }
                }
                for (fscks = 0; shell("solverfs fsck") != 0; fscks++)
                        ck_assert_msg(fscks < 3, "round %u: %s", round, shell_output);
                most = MAX(most, fscks);
        }
        more = case_add("more.smt2", "; do print sat 99\n");
        ck_assert_int_eq(answer(more, 99), 0);
        fprintf(stderr, "%u of %u readers had an error, %u until fsck; it found something up to %u times in a row\n", errors,
                FLIPS * CASES, unseen, most);
        ck_assert(process_runs(m->pid));
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
        static const char *const places[] = {"build.checkout", "build.command", "programs.place",  "execute.start",
                                             "cases.place",    "cases.enter",   "store.begin",     "store.commit",
                                             "journal.append", "journal.sync",  "store.journaled", "engine.compute",
                                             "keeper.start",   "keeper.begin"};

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

/* What the config says is kept as soon as there is room, and put back when it is gone. */
START_TEST(test_no_room_for_the_config)
{
        static const char complaint[] = "no copy of the config is kept";

        faults_begin();
        world_make(NULL);
        world_expects("config|a test asked|No space left");
        mount_start("mnt", NULL);
        fault_set("journal.append", "fail ENOSPC\n");
        assert_shell("echo '# edited' >> store/config");
        await(shell("grep -q '%s' mnt/.solverfs/status", complaint) == 0);
        fault_clear("journal.append");
        await(shell("grep -q '%s' mnt/.solverfs/status", complaint) != 0);
        assert_shell("rm store/config");
        ck_assert_int_eq(shell("solverfs fsck"), 1);
        assert_shell("grep -q '# edited' store/config");
        world_end();
}
END_TEST

/* -- the map full ----------------------------------------------------------------------------------------------- */

/* A case whose answer takes some kilobytes of the index, as it cannot be compressed. */
static unsigned add_large(unsigned n)
{
        cleanup_buffer struct buffer text = {0};
        const char *name = at("large%u.smt2", n);
        unsigned seed = n;

        buffer_addf(&text, "; %u\n; do print sat\n", n);
        for (unsigned line = 0; line < 4; line++) {
                buffer_adds(&text, "; do print ");
                for (unsigned i = 0; i < 4000; i++)
                        buffer_addf(&text, "%x", (unsigned)rand_r(&seed) % 16);
                buffer_adds(&text, "\n");
        }
        write_whole(name, text.data);
        if (shell("solverfs case add -q %s", name) != 0) {
                ck_assert_msg(strstr(shell_output, "greatest size"), "%s", shell_output);
                return 0;
        }
        return case_id(name);
}

/* Answers are read until one is refused; the number of the case that is. */
static unsigned fill(unsigned n)
{
        for (;; n++) {
                unsigned id = add_large(n);
                int error = id ? open_error(at(CELL "stdout", id)) : ENOSPC;

                ck_assert_uint_lt(n, 400);
                if (error == 0)
                        continue;
                ck_assert_int_eq(error, ENOSPC);
                if (id)
                        ck_assert_ptr_nonnull(strstr(state_of(at(CELL "stdout", id), "reason"), "greatest size"));
                return n;
        }
}

static void read_large(unsigned from, unsigned to)
{
        for (unsigned n = from; n < to; n++) {
                cleanup_free char *text = content(at("mnt/tiny/cached/HEAD/cases/%u/stdout", case_id(at("large%u.smt2", n))));

                ck_assert_uint_eq(strlen(text), 4 + 4 * 4001);
        }
}

/* What is finished stays, and is read; with a larger map all goes on. */
START_TEST(test_map_full)
{
        unsigned full;

        setenv("SOLVERFS_MAP_SIZE", "1048576", 1);
        world_make(NULL);
        world_expects("greatest size");
        mount_start("mnt", NULL);
        full = fill(1);
        ck_assert_uint_gt(full, 10);
        read_large(1, full);
        assert_shell("solverfs status && solverfs fsck && solverfs gc --keep 0 && solverfs run tiny HEAD 1 --print result");
        read_large(1, full);
        mount_stop(mount_of("mnt"));
        unsetenv("SOLVERFS_MAP_SIZE");
        mount_start("mnt", NULL);
        read_large(1, full);
        for (unsigned n = full; n < full + 5; n++)
                ck_assert_int_eq(open_error(at(CELL "stdout", add_large(n))), 0);
        read_large(1, full + 5);
        fprintf(stderr, "full with %u answers\n", full - 1);
        assert_shell("solverfs fsck");
        world_end();
}
END_TEST

/* -- formats ---------------------------------------------------------------------------------------------------- */

static void set_config_format(unsigned version)
{
        assert_shell("sed -i 's/version = .*/version = %u/' store/config", version);
}

static void set_index_format(unsigned version)
{
        uint8_t number[4] = {0, 0, 0, (uint8_t)version};
        cleanup_buffer struct buffer frame = {0};
        MDB_val key = {.mv_data = (void *)"format", .mv_size = 6}, value;
        MDB_env *env;
        MDB_txn *txn;
        MDB_dbi dbi;

        assert_ok(frame_encode(slice_string("format"), SLICE(number, sizeof(number)), &frame));
        value = (MDB_val){.mv_data = frame.data, .mv_size = frame.size};
        ck_assert(mdb_env_create(&env) == 0 && mdb_env_set_maxdbs(env, 64) == 0);
        ck_assert(mdb_env_set_mapsize(env, 1 << 30) == 0); /* the store's own finds no room beside a sanitizer's */
        ck_assert(mdb_env_open(env, "store/lmdb", 0, 0600) == 0);
        ck_assert(mdb_txn_begin(env, NULL, 0, &txn) == 0 && mdb_dbi_open(txn, "@store", 0, &dbi) == 0);
        ck_assert(mdb_put(txn, dbi, &key, &value, 0) == 0 && mdb_txn_commit(txn) == 0);
        mdb_env_close(env);
}

static void set_lmdb_format(unsigned version)
{
        cleanup_close int fd = open(DATA, O_RDWR | O_CLOEXEC);
        uint32_t size;

        ck_assert_int_eq(pread(fd, &size, sizeof(size), 40), sizeof(size)); /* LMDB keeps that of its pages there */
        for (off_t page = 0; page < 2; page++) /* behind the page's header and the magic number */
                ck_assert_int_eq(pwrite(fd, &version, sizeof(version), page * size + 20), sizeof(version));
}

static void set_journal_format(unsigned version)
{
        cleanup_close int fd = open("store/journal/00000001", O_RDWR | O_CLOEXEC);
        uint64_t header[8];

        ck_assert_int_eq(pread(fd, header, sizeof(header), 0), sizeof(header));
        memcpy(header + 1, &version, sizeof(version));
        header[7] = XXH3_64bits(header, 56);
        ck_assert_int_eq(pwrite(fd, header, sizeof(header), 0), sizeof(header));
}

/* A store of another version of solverfs is refused by everything, and left as it is. */
START_TEST(test_other_formats_are_left_alone)
{
        static const struct {
                const char *what;
                void (*set)(unsigned version);
        } formats[] = {{"store/config:3: the store has format", set_config_format},
                       {"store/lmdb has format", set_index_format},
                       {"store/lmdb/data.mdb has LMDB's data format", set_lmdb_format},
                       {"store/journal/00000001 has format", set_journal_format}};
        static const char *const commands[] = {"case list", "run tiny HEAD 1", "fsck", "fsck -n", "gc", "solver list", "status"};
        static const char sums[] = "find store -type f -not -name lock.mdb -print0 | sort -z | xargs -0 sha256sum";
        static const unsigned versions[] = {2, 0};

        world_make(NULL);
        mount_start("mnt", NULL);
        assert_content(at(CELL "result", case_add("a.smt2", "; do print sat\n")), "sat\n");
        world_end();
        for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
                for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
                        cleanup_free char *before = NULL;

                        formats[f].set(versions[v]);
                        assert_shell("%s", sums);
                        before = strdup(shell_output);
                        for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
                                ck_assert_msg(shell("solverfs %s", commands[i]) == 5, "%s: %s", commands[i], shell_output);
                                ck_assert_msg(strstr(shell_output, at("%s %u and", formats[f].what, versions[v])), "%s: %s",
                                              commands[i], shell_output);
                        }
                        ck_assert_int_eq(mount_refused("mnt", NULL), 5);
                        ck_assert(!is_mounted("mnt"));
                        assert_shell("%s", sums);
                        ck_assert_str_eq(shell_output, before);
                }
                formats[f].set(1);
                assert_shell("solverfs run tiny HEAD a.smt2 --print result");
                ck_assert_str_eq(shell_output, "sat\n");
        }
        assert_shell("solverfs fsck");
}
END_TEST

/* -- many at once ----------------------------------------------------------------------------------------------- */

/* Two daemons and three commands on one store: nothing is done twice, and everybody has the right answer. */
START_TEST(test_two_daemons_and_three_commands)
{
        static const char *const revisions[] = {"v1", "v2.0", "HEAD~5", "HEAD"}, *const dirs[] = {"mnt", "mnt2"};
        struct world w = {.settings = "sandbox = none\n", .recipe = at("environment = \"COUNT=%s\"\n", recipe_path("builds"))};
        pid_t readers[ARRAY_SIZE(revisions) * ARRAY_SIZE(dirs) * 6], commands[3];
        unsigned ids[6];
        size_t n = 0;

        world_make(&w);
        mount_start("mnt", NULL);
        mount_start("mnt2", NULL);
        for (unsigned i = 0; i < 6; i++)
                ids[i] = case_add(at("%u.smt2", i), "; do count %s\n; do sleep 20\n; do version\n; do print sat %u\n",
                                  absolute(at("runs%u", i)), i);
        commands[0] = shell_start(
                "for r in HEAD v1 HEAD~5 v2.0; do solverfs run -q tiny $r all --print result >>run.out || exit 1; done");
        commands[1] = shell_start("for r in v2.0 HEAD v1 HEAD~5; do solverfs build -q tiny $r >/dev/null || exit 1; done");
        commands[2] = shell_start("for i in 1 2 3 4 5 6; do solverfs gc -q >/dev/null && solverfs fsck -q && echo \"; do print "
                                  "unsat $i\" >more$i && solverfs case add -q more$i >/dev/null || exit 1; done");
        for (size_t r = 0; r < ARRAY_SIZE(revisions); r++)
                for (size_t i = 0; i < 6; i++)
                        for (size_t d = 0; d < ARRAY_SIZE(dirs); d++, n++)
                                readers[n] = reader_start(at("%s/tiny/commits/%s/cases/%u/stdout", dirs[d], revisions[r], ids[i]),
                                                          at("got%zu", n));
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(process_wait(readers[i]), 0);
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                ck_assert_int_eq(process_wait(commands[i]), 0);
        n = 0;
        for (size_t r = 0; r < ARRAY_SIZE(revisions); r++)
                for (unsigned i = 0; i < 6; i++)
                        for (size_t d = 0; d < ARRAY_SIZE(dirs); d++, n++)
                                assert_shell("grep -qx 'sat %u' got%zu && cmp got%zu %s/tiny/cached/%s/cases/%u/stdout", i, n, n,
                                             dirs[1 - d], revisions[r], ids[i]);
        for (unsigned i = 0; i < 6; i++)
                assert_content(at("runs%u", i), "...."); /* once for each commit, whoever asked */
        assert_content("builds", "....");
        for (unsigned i = 1; i <= 6; i++)
                assert_shell("grep -qx '; do print unsat %u' mnt/cases/by-name/more%u/text mnt2/cases/by-name/more%u/text "
                             "|| ls -l mnt/cases/by-name/more%u/",
                             i, i, i, i);
        assert_shell("solverfs fsck");
        world_end();
}
END_TEST

/* -- notes -- */

static size_t disturbed_rows(void)
{
        static const char *const meta = "meta";
        struct store *s;
        size_t n = 0;
        int r;

        assert_ok(store_open("store", &meta, 1, STORE_READ_ONLY, &s));
        {
                cleanup_walk struct store_walk w = {.store = s, .prefix = slice_string("disturbed/")};

                while ((r = store_walk(&w)) > 0)
                        n++;
        }
        assert_ok(r);
        store_close(s);
        return n;
}

/* A disturbed result that was measured again in vain is not noted any more. */
START_TEST(test_given_up_results_leave_no_note)
{
        unsigned id;

        world_make(&(struct world){.settings = "remeasure = 100\n"});
        faults_begin();
        fault_set("measure.sample", "fail EBUSY"); /* all are disturbed */
        mount_start("mnt", NULL);
        id = case_add("a.smt2", "; do print sat\n");
        mount_stop(mount_of("mnt"));
        assert_shell("solverfs -q run tiny HEAD %u >/dev/null", id);
        ck_assert_uint_eq(disturbed_rows(), 1);
        mount_start("mnt", NULL);
        await(disturbed_rows() == 0);
        assert_shell("grep -q '\"disturbed\": true' " CELL "run.json", id);
        world_end();
}
END_TEST

MOUNT_SUITE("mount_store", {test_index_lost_under_the_daemon}, {test_pages_overwritten_under_the_daemon},
            {test_journal_lost_under_the_daemon}, {test_no_room_at_any_write}, {test_no_room_for_the_config}, {test_map_full},
            {test_other_formats_are_left_alone}, {test_two_daemons_and_three_commands}, {test_flips_under_the_daemon},
            {test_given_up_results_leave_no_note})
