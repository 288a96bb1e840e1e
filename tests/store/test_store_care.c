/* What becomes of a store that is damaged, checked, rebuilt and compacted. */
#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cache/store/codec.h"
#include "cache/store/journal.h"
#include "cache/store/store.h"

/* What LMDB had allocated for a read transaction that was jumped out of is lost on purpose. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
        return "leak:liblmdb";
}

enum {
        FACTS,
        N
};
static const char *const tables[N] = {"facts"};

#define VALUES 200
#define DATA   "s/lmdb/data.mdb"

static int try_open(int flags, struct store **ret)
{
        static FILE *nowhere;

        if (!nowhere)
                nowhere = fopen("/dev/null", "w");
        log_set(LOG_LEVEL_ERROR, nowhere); /* damage is what these tests are about */
        return store_open("s", tables, N, flags, ret);
}

static struct store *open_store(int flags)
{
        struct store *s;

        assert_ok(try_open(flags, &s));
        return s;
}

/* Value i: its size and bytes follow from i; some are compressed, some need pages of their own. */
static size_t value(unsigned i, unsigned round, char data[16384])
{
        size_t size = i % 50 == 7 ? 5000 + i * 20 : i % 10 == 3 ? 1500 : 20 + i % 60;
        unsigned seed = i * 7919 + round;

        for (size_t k = 0; k < size; k++) {
                seed = seed * 1103515245 + 12345;
                data[k] = i % 3 ? (char)(seed >> 16) : "abcdefgh"[seed >> 29];
        }
        return size;
}

static void fill_round(struct store *s, unsigned round)
{
        char data[16384];
        struct store_txn *t;

        for (unsigned from = 0; from < VALUES; from += 40) {
                assert_ok(store_write(s, &t));
                for (unsigned i = from; i < from + 40; i++) {
                        uint8_t key[4];
                        size_t size = value(i, round, data);

                        key_u32(key, i);
                        assert_ok(store_put(t, FACTS, SLICE(key, 4), SLICE(data, size)));
                }
                assert_ok(store_commit(t));
        }
}

enum {
        WRONG = 1 << 16
};
/* How many of the table's values are there; one that is there and wrong adds a lot. */
static unsigned count_right(struct store *s, size_t table, unsigned round)
{
        unsigned right = 0;

        for (unsigned i = 0; i < VALUES; i++) {
                cleanup_blob struct blob b = {0};
                char data[16384];
                uint8_t key[4];
                size_t size = value(i, round, data);
                int r;

                key_u32(key, i);
                r = store_fetch(s, table, SLICE(key, 4), &b);
                if (r < 0)
                        continue;
                right += b.size == size && memcmp(b.data, data, size) == 0 ? 1 : WRONG;
        }
        return right;
}

static void copy_file(const char *from, const char *to)
{
        int a = open(from, O_RDONLY), b = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        assert_ok(a);
        assert_ok(b);
        assert_ok(copy_fd(a, b));
        close(a);
        close(b);
}

static off_t size_of(const char *path)
{
        struct stat st;

        ck_assert_int_eq(stat(path, &st), 0);
        return st.st_size;
}

static void overwrite(const char *path, off_t at, const void *bytes, size_t size)
{
        int fd = open(path, O_WRONLY);

        assert_ok(fd);
        ck_assert_int_eq(pwrite(fd, bytes, size, at), (ssize_t)size);
        close(fd);
}

static void flip(const char *path, off_t at, unsigned bit)
{
        int fd = open(path, O_RDWR);
        char c;

        assert_ok(fd);
        ck_assert_int_eq(pread(fd, &c, 1, at), 1);
        c = (char)(c ^ 1 << bit);
        ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
        close(fd);
}

static void remove_aside(void)
{
        ck_assert_int_eq(system("rm -rf s/lmdb.damaged-*"), 0);
}

START_TEST(test_check_of_a_sound_store)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_report report;

        fill_round(s, 0);
        fill_round(s, 1);
        for (unsigned look_only = 0; look_only < 2; look_only++) {
                assert_ok(store_check(s, look_only, &report, NULL, NULL));
                ck_assert_uint_eq(report.values, VALUES);
                ck_assert_uint_gt(report.bytes, 2 * VALUES * 20);
                ck_assert_uint_eq(report.damaged, 0);
                ck_assert_uint_eq(report.dropped, 0);
                ck_assert_uint_eq(report.journal_records, 2 * VALUES);
                ck_assert_uint_eq(report.journal_damaged, 0);
        }
        ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
        store_close(s);
}
END_TEST

/* A bit, a few bytes, a whole page: opened, nothing wrong is ever read; checked, everything the journal has is there again. */
static void assert_survives(const char *what, unsigned n)
{
        struct store_report report;
        struct store *s;
        unsigned facts;
        int r;

        r = try_open(0, &s);
        ck_assert_msg(r == 0, "%s %u: %s", what, n, error_message(r));
        facts = count_right(s, FACTS, 1);
        ck_assert_msg(facts <= VALUES, "%s %u: wrong values", what, n);
        r = store_check(s, false, &report, NULL, NULL);
        if (r == -EIO) /* the pages are beyond mending: the next transaction makes them anew */
                r = store_check(s, false, &report, NULL, NULL);
        ck_assert_msg(r == 0, "%s %u: %s", what, n, error_message(r));
        facts = count_right(s, FACTS, 1);
        ck_assert_msg(facts == VALUES, "%s %u: %u of %u", what, n, facts, VALUES);
        assert_ok(store_check(s, true, &report, NULL, NULL));
        ck_assert_msg(report.damaged == 0 && report.journal_damaged == 0, "%s %u: still damaged", what, n);
        store_close(s);
        remove_aside();
}

/* The child does it, so that a crash is told apart from a failed test. */
static void in_child(void (*fn)(const char *what, unsigned n), const char *what, unsigned n)
{
        int status;
        pid_t pid = fork();

        if (pid == 0) {
                fn(what, n);
                _exit(0);
        }
        waitpid(pid, &status, 0);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s %u: status %x", what, n, (unsigned)status);
}

static void make_store(void)
{
        struct store *s = open_store(STORE_CREATE);

        fill_round(s, 0);
        fill_round(s, 1);
        store_close(s);
        copy_file(DATA, "good");
        ck_assert_int_eq(system("cp -r s/journal good-journal"), 0);
}

static void restore_store(void)
{
        assert_ok(remove_tree("s/lmdb"));
        assert_ok(remove_tree("s/journal"));
        ck_assert_int_eq(mkdir("s/lmdb", 0700), 0);
        copy_file("good", DATA);
        ck_assert_int_eq(system("cp -r good-journal s/journal"), 0);
}

START_TEST(test_flipped_bits)
{
        unsigned seed = test_seed(17);

        make_store();
        for (unsigned n = 0; n < test_rounds(12); n++) {
                restore_store();
                for (unsigned k = 0; k <= n % 4; k++)
                        flip(DATA, rand_r(&seed) % size_of(DATA), (unsigned)rand_r(&seed) % 8);
                in_child(assert_survives, "flip", n);
        }
}
END_TEST

/* Where it hurts: in the first bytes of pages, which are their headers and nodes' places. */
START_TEST(test_flipped_headers)
{
        unsigned seed = test_seed(18);

        make_store();
        for (unsigned n = 0; n < test_rounds(12); n++) {
                restore_store();
                flip(DATA, rand_r(&seed) % (size_of(DATA) / 4096) * 4096 + rand_r(&seed) % 64, (unsigned)rand_r(&seed) % 8);
                in_child(assert_survives, "header", n);
        }
}
END_TEST

START_TEST(test_pages_lost_and_misplaced)
{
        unsigned seed = test_seed(19);
        char page[4096];

        make_store();
        for (unsigned n = 0; n < test_rounds(12); n++) {
                int fd = open("good", O_RDONLY);

                restore_store();
                memset(page, n % 3 == 0 ? 0 : 0xff, sizeof(page));
                if (n % 3 == 2)
                        ck_assert_int_eq(pread(fd, page, sizeof(page), rand_r(&seed) % (size_of(DATA) / 4096) * 4096), 4096);
                close(fd);
                overwrite(DATA, rand_r(&seed) % (size_of(DATA) / 4096) * 4096, page, sizeof(page));
                in_child(assert_survives, "page", n);
        }
}
END_TEST

START_TEST(test_truncated)
{
        make_store();
        for (unsigned n = 0; n < 20; n++) {
                restore_store();
                ck_assert_int_eq(truncate(DATA, n < 3 ? n * 100 : size_of(DATA) * n / 20), 0);
                in_child(assert_survives, "truncated", n);
        }
}
END_TEST

/* The journal may be damaged instead: the index has everything, and the check writes the journal anew. */
START_TEST(test_damaged_journal)
{
        unsigned seed = test_seed(20);

        make_store();
        for (unsigned n = 0; n < test_rounds(12); n++) {
                off_t size;

                restore_store();
                size = size_of("s/journal/00000001");
                if (n % 5 == 0)
                        ck_assert_int_eq(truncate("s/journal/00000001", rand_r(&seed) % size), 0);
                else if (n % 5 == 1)
                        unlink("s/journal/00000001");
                else
                        flip("s/journal/00000001", rand_r(&seed) % (size / 2), (unsigned)rand_r(&seed) % 8);
                in_child(assert_survives, "journal", n);
                assert_ok(remove_tree("s/lmdb")); /* it is whole again */
                ck_assert_int_eq(mkdir("s/lmdb", 0700), 0);
                in_child(assert_survives, "journal alone", n);
        }
}
END_TEST

/* -- under the hands of who has it open -- */

static void damage_while_open(const char *what, unsigned n)
{
        struct store *s = open_store(0);
        struct store_report report;
        unsigned seed = test_seed(n), right;
        char page[4096];
        off_t size = size_of(DATA);
        int r;

        right = count_right(s, FACTS, 1);
        ck_assert_uint_eq(right, VALUES);
        if (strcmp(what, "truncate") == 0)
                ck_assert_int_eq(truncate(DATA, size * n / 12), 0);
        else
                for (unsigned k = 0; k < 8; k++) {
                        for (size_t i = 0; i < sizeof(page); i++)
                                page[i] = (char)rand_r(&seed);
                        overwrite(DATA, rand_r(&seed) % (size / 4096) * 4096, page, sizeof(page));
                }
        right = count_right(s, FACTS, 1);
        ck_assert_uint_le(right, VALUES);
        store_check(s, true, &report, NULL, NULL);
        store_generation(s);
        r = store_close(s) != NULL;
        ck_assert_int_eq(r, 0);
        assert_survives(what, n);
}

START_TEST(test_truncated_while_open)
{
        make_store();
        for (unsigned n = 0; n < 12; n++) {
                restore_store();
                in_child(damage_while_open, "truncate", n);
        }
}
END_TEST

START_TEST(test_overwritten_while_open)
{
        make_store();
        for (unsigned n = 0; n < test_rounds(12); n++) {
                restore_store();
                in_child(damage_while_open, "overwrite", n);
        }
}
END_TEST

START_TEST(test_read_only_an_error_is_said_and_stays)
{
        struct store *s;
        struct store_txn *t;
        struct blob b;
        uint8_t key[4] = {0};

        make_store();
        s = open_store(STORE_READ_ONLY);
        ck_assert_int_eq(truncate(DATA, 0), 0);
        assert_error(store_fetch(s, FACTS, SLICE(key, 4), &b), EIO);
        ck_assert_ptr_nonnull(strstr(error_message(-EIO), "damaged"));
        assert_error(store_read(s, &t), EIO);
        assert_error(store_write(s, &t), EROFS);
        store_close(s);
        s = open_store(0); /* made anew */
        ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
        store_close(s);
}
END_TEST

/* -- made anew while it is open -- */

/* Damage that no reader of LMDB can miss: everything behind the meta pages is gone. */
static void wreck(void)
{
        ck_assert_int_eq(truncate(DATA, 8192), 0);
}

START_TEST(test_made_anew_under_a_reader)
{
        struct store *s, *other;

        make_store();
        s = open_store(0);
        other = open_store(0);
        wreck();
        ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
        ck_assert_uint_eq(count_right(other, FACTS, 1), VALUES); /* its tables have new numbers, too */
        fill_round(s, 2);
        ck_assert_uint_eq(count_right(other, FACTS, 2), VALUES);
        wreck(); /* and once more */
        ck_assert_uint_eq(count_right(other, FACTS, 2), VALUES);
        store_close(other);
        store_close(s);
        s = open_store(0);
        ck_assert_uint_eq(count_right(s, FACTS, 2), VALUES);
        store_close(s);
}
END_TEST

START_TEST(test_made_anew_under_a_writer)
{
        static const char value_of[] = "written over the damage";
        cleanup_blob struct blob b = {0};
        struct store *s;
        uint8_t key[4];

        make_store();
        s = open_store(0);
        wreck();
        key_u32(key, 7);
        assert_ok(store_set(s, FACTS, SLICE(key, 4), SLICE(value_of, sizeof(value_of))));
        assert_ok(store_fetch(s, FACTS, SLICE(key, 4), &b));
        ck_assert_mem_eq(b.data, value_of, sizeof(value_of));
        ck_assert_uint_eq(count_right(s, FACTS, 1) % WRONG, VALUES - 1);
        store_close(s);
}
END_TEST

/* A walk that stands on the damage ends with an error; the next one has it all. */
START_TEST(test_a_walk_over_damage)
{
        struct store_walk w = {.table = FACTS};
        unsigned n = 0;
        struct store *s;
        int r;

        make_store();
        s = w.store = open_store(0);
        while ((r = store_walk(&w)) > 0) {
                char data[16384];
                size_t size = value(key_get_u32(w.key.data), 1, data);

                ck_assert(w.value.size == size && memcmp(w.value.data, data, size) == 0);
                if (++n == VALUES / 4)
                        wreck();
        }
        ck_assert_int_eq(r, -EIO);
        ck_assert_uint_lt(n, VALUES);
        ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
        store_close(s);
}
END_TEST

/* A second process has the store open, finds the damage in its turn, and neither writes into what was set aside. */
START_TEST(test_made_anew_beside_a_process)
{
        int to[2], from[2];
        struct store *s;
        pid_t pid;
        char c = 0;

        make_store();
        ck_assert_int_eq(pipe(to) | pipe(from), 0);
        pid = fork();
        if (pid == 0) {
                s = open_store(0);
                if (write(from[1], "o", 1) != 1 || read(to[0], &c, 1) != 1)
                        _exit(1);
                fill_round(s, 3);
                store_close(s);
                _exit(0);
        }
        ck_assert_int_eq(read(from[0], &c, 1), 1);
        s = open_store(0);
        wreck();
        ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
        ck_assert_int_eq(write(to[1], "g", 1), 1);
        ck_assert_int_eq(waitpid(pid, &(int){0}, 0), pid);
        ck_assert_uint_eq(count_right(s, FACTS, 3), VALUES);
        store_close(s);
}
END_TEST

/* Each commit to a journal that is damaged under the open store says that it is durable: it must be so again. */
static void check_damaged_while_open(int (*damage)(const char *path))
{
        struct store *s;

        make_store();
        s = open_store(0);
        ck_assert_int_eq(damage("s/journal/00000001"), 0);
        fill_round(s, 2);
        store_close(s);
        remove_tree("s/lmdb");
        s = open_store(0);
        ck_assert_uint_eq(count_right(s, FACTS, 2), VALUES);
        store_close(s);
}

static int cut(const char *path)
{
        return truncate(path, 100);
}

START_TEST(test_journal_lost_while_open)
{
        check_damaged_while_open(cut);
}
END_TEST

/* What is written to a file without a name is nowhere. */
START_TEST(test_journal_unlinked_while_open)
{
        check_damaged_while_open(unlink);
}
END_TEST

static void *read_all_the_time(void *user)
{
        struct store *s = user;

        for (unsigned i = 0; i < 200; i++)
                if (count_right(s, FACTS, 1) >= WRONG)
                        return s;
        return NULL;
}

static void damage_beside_threads(const char *what, unsigned n)
{
        struct store *s = open_store(0);
        pthread_t threads[3];
        void *wrong;

        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_create(&threads[i], NULL, read_all_the_time, s);
        usleep(3000);
        ck_assert_int_eq(truncate(DATA, 8192), 0);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
                pthread_join(threads[i], &wrong);
                ck_assert_ptr_null(wrong);
        }
        store_close(s);
}

START_TEST(test_truncated_beside_threads)
{
        make_store();
        for (unsigned n = 0; n < 3; n++) {
                restore_store();
                in_child(damage_beside_threads, "threads", n);
                in_child(assert_survives, "threads", n);
        }
}
END_TEST

/* -- single values -- */

/* Where the bytes lie in the file. */
static off_t find_bytes(const char *path, const void *bytes, size_t size)
{
        cleanup_blob struct blob b = {0};
        const char *p;

        assert_ok(read_file(path, SIZE_MAX - 1, &b));
        p = memmem(b.data, b.size, bytes, size);
        ck_assert_ptr_nonnull(p);
        return p - (const char *)b.data;
}

static void assert_fact(struct store *s, const char *key, const char *value)
{
        struct blob b;

        if (!value) {
                assert_error(store_fetch(s, FACTS, slice_string(key), &b), ENOENT);
                return;
        }
        assert_ok(store_fetch(s, FACTS, slice_string(key), &b));
        ck_assert_uint_eq(b.size, strlen(value));
        ck_assert_mem_eq(b.data, value, b.size);
        blob_done(&b);
}

START_TEST(test_a_damaged_value)
{
        struct store *s = open_store(STORE_CREATE);
        static const char fact[] = "this is a fact of some length";
        struct store_report report;

        assert_ok(store_set(s, FACTS, slice_string("f"), slice_string(fact)));
        for (unsigned round = 0; round < 2; round++) { /* once by reading, once by checking */
                flip(DATA, find_bytes(DATA, fact, strlen(fact)) + 3, 1);
                if (round == 0) {
                        assert_fact(s, "f", fact); /* the journal has it */
                        store_close(s);
                        s = open_store(0); /* made anew */
                } else {
                        assert_ok(store_check(s, true, &report, NULL, NULL));
                        ck_assert_uint_eq(report.damaged, 1);
                        ck_assert_uint_eq(report.restored, 0);
                        assert_ok(store_check(s, false, &report, NULL, NULL));
                        ck_assert_uint_eq(report.damaged, 1);
                        ck_assert_uint_eq(report.restored, 1);
                        ck_assert_uint_eq(report.dropped, 0);
                        ck_assert(report.rebuilt);
                }
                assert_fact(s, "f", fact);
                assert_ok(store_check(s, true, &report, NULL, NULL));
                ck_assert_uint_eq(report.damaged, 0);
                ck_assert_uint_eq(report.values, 1);
        }
        store_close(s);
}
END_TEST

/* While the journal cannot be read nobody knows whether it has the value: that is an error, and nothing is dropped. */
START_TEST(test_a_damaged_value_and_a_journal_that_cannot_be_read)
{
        static const char fact[] = "this is a fact of some length";
        struct store *s = open_store(STORE_CREATE);
        struct rlimit before, none;
        struct blob b;
        int next;

        assert_ok(store_set(s, FACTS, slice_string("f"), slice_string(fact)));
        flip(DATA, find_bytes(DATA, fact, strlen(fact)) + 3, 1);
        next = open("/dev/null", O_RDONLY);
        assert_ok(next);
        close(next);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        none = (struct rlimit){.rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        assert_error(store_fetch(s, FACTS, slice_string("f"), &b), EMFILE);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_ok(store_fetch(s, FACTS, slice_string("f"), &b));
        ck_assert_mem_eq(b.data, fact, strlen(fact));
        blob_done(&b);
        store_close(s);
}
END_TEST

/* Who began to read before the journal was compacted finds a damaged value in it all the same. */
START_TEST(test_a_damaged_value_and_a_journal_compacted_since)
{
        static const char fact[] = "this is a fact of some length";
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t;
        struct blob b;

        assert_ok(store_set(s, FACTS, slice_string("f"), slice_string(fact)));
        assert_ok(store_read(s, &t));
        flip(DATA, find_bytes(DATA, fact, strlen(fact)) + 3, 1);
        assert_ok(store_compact(s));
        assert_ok(store_get(t, FACTS, slice_string("f"), &b));
        ck_assert_mem_eq(b.data, fact, strlen(fact));
        blob_done(&b);
        store_end(t);
        store_close(s);
}
END_TEST

/* -- a segment of several lost -- */

static void put_record(struct buffer *group, struct journal_position start, const char *key, const char *value)
{
        cleanup_buffer struct buffer frame = {0};

        if (value)
                assert_ok(frame_encode(slice_string(key), slice_string(value), &frame));
        journal_add(group, start, value ? JOURNAL_PUT : JOURNAL_DELETE, slice_string("facts"), slice_string(key),
                    SLICE(frame.data, frame.size));
}

/* A journal as sixty-four megabytes a segment make it: a and b, then a anew and b deleted, then c and d. */
static void append_segments(unsigned from, unsigned to)
{
        static const struct {
                const char *key, *value;
        } records[3][2] = {{{"a", "the old value of a"}, {"b", "the value of b"}},
                           {{"a", "the new value of a"}, {"b", NULL}},
                           {{"c", "the value of c"}, {"d", "the value of d"}}};
        struct journal *j;

        assert_ok(journal_open("s/journal", &j));
        for (unsigned i = from; i < to; i++) {
                struct journal_position start = {i + 1, JOURNAL_HEADER};
                cleanup_buffer struct buffer group = {0};

                for (unsigned k = 0; k < 2; k++)
                        put_record(&group, start, records[i][k].key, records[i][k].value);
                journal_add_commit(&group, start, 2);
                assert_ok(journal_append(j, start, SLICE(group.data, group.size)));
        }
        journal_close(j);
}

static void make_segments(void)
{
        store_close(open_store(STORE_CREATE));
        append_segments(0, 3);
}

static void assert_facts(struct store *s)
{
        assert_fact(s, "a", "the new value of a");
        assert_fact(s, "b", NULL);
        assert_fact(s, "c", "the value of c");
        assert_fact(s, "d", "the value of d");
}

/* It says so, and the next time all is well. */
static void assert_loss_is_found(struct store *s)
{
        struct store_report report;

        assert_ok(store_check(s, false, &report, NULL, NULL));
        ck_assert_uint_gt(report.journal_damaged, 0);
        assert_facts(s);
        assert_ok(store_check(s, true, &report, NULL, NULL));
        ck_assert_uint_eq(report.damaged + report.journal_damaged, 0); /* it was written anew */
}

/* The index has what the segment had; what others say that is older does not count. */
START_TEST(test_a_segment_in_the_midst_is_lost)
{
        struct store *s;

        make_segments();
        s = open_store(0);
        assert_facts(s);
        ck_assert_int_eq(unlink("s/journal/00000002"), 0);
        assert_loss_is_found(s);
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        assert_facts(s);
        store_close(s);
}
END_TEST

/* With the index lost, too, the values are nowhere else: that is said, and the journal is written anew from what is left. */
static void assert_loss_without_an_index(const char *damage)
{
        struct store_report report;
        struct store *s;

        make_segments();
        ck_assert_int_eq(system(damage), 0);
        ck_assert_int_eq(system("rm -rf s/lmdb"), 0);
        s = open_store(0);
        assert_ok(store_check(s, false, &report, NULL, NULL));
        ck_assert(report.lost && report.absent);
        ck_assert_uint_eq(report.damaged + report.journal_damaged, 0);
        assert_fact(s, "c", "the value of c");
        store_close(s);
        s = open_store(0);
        assert_ok(store_check(s, false, &report, NULL, NULL));
        ck_assert(!report.lost);
        ck_assert_uint_eq(report.damaged + report.journal_damaged, 0);
        store_close(s);
        ck_assert_int_eq(system("rm -r s"), 0);
}

START_TEST(test_a_segment_and_the_index_are_lost)
{
        assert_loss_without_an_index("rm s/journal/00000001");
        assert_loss_without_an_index("rm s/journal/00000002");
        assert_loss_without_an_index("printf x | dd of=s/journal/00000002 bs=1 seek=100 conv=notrunc status=none");
}
END_TEST

START_TEST(test_a_damaged_value_and_a_segment_in_the_midst_is_lost)
{
        static const char last[] = "the value of c", new[] = "the new value of a";
        struct store *s;

        make_segments();
        s = open_store(0);
        assert_facts(s);
        ck_assert_int_eq(unlink("s/journal/00000002"), 0);
        flip(DATA, find_bytes(DATA, new, strlen(new)) + 3, 1);
        flip(DATA, find_bytes(DATA, last, strlen(last)) + 3, 1);
        assert_fact(s, "a", NULL); /* an old value is worse than none */
        assert_fact(s, "c", last); /* the last word on it is there */
        store_close(s);
}
END_TEST

/* What is only in the journal is newer than what the index has. */
START_TEST(test_an_index_that_lags_and_a_damaged_journal)
{
        struct store *s;

        store_close(open_store(STORE_CREATE));
        append_segments(0, 1);
        s = open_store(0);
        assert_fact(s, "a", "the old value of a");
        store_close(s);
        append_segments(1, 3);
        flip("s/journal/00000001", find_bytes("s/journal/00000001", "the value of b", 14), 1);
        ck_assert_int_eq(system("touch s/lmdb/damaged"), 0);
        s = open_store(0);
        assert_facts(s);
        store_close(s);
}
END_TEST

/* Of all numbers of descriptors, the first that lets the store open: with fewer that is an error, and nothing is lost. */
START_TEST(test_an_index_and_a_journal_damaged_and_too_few_descriptors)
{
        struct rlimit before, few;
        struct store *s;
        int r, next;

        store_close(open_store(STORE_CREATE));
        append_segments(0, 1);
        s = open_store(0);
        assert_fact(s, "b", "the value of b");
        store_close(s);
        flip("s/journal/00000001", find_bytes("s/journal/00000001", "the value of b", 14), 1);
        ck_assert_int_eq(system("touch s/lmdb/damaged"), 0);
        next = open("/dev/null", O_RDONLY);
        assert_ok(next);
        close(next);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        few = (struct rlimit){.rlim_cur = (rlim_t)next + 2, .rlim_max = before.rlim_max};
        do {
                ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
                r = try_open(0, &s);
        } while (r < 0 && few.rlim_cur++ < (rlim_t)next + 40);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_ok(r);
        assert_fact(s, "a", "the old value of a");
        assert_fact(s, "b", "the value of b");
        store_close(s);
}
END_TEST

/* As between the two renames that put another index in place. */
START_TEST(test_a_large_value_while_the_index_has_no_name)
{
        char large[100000];
        cleanup_blob struct blob b = {0};
        struct store *s = open_store(STORE_CREATE);

        for (size_t i = 0; i < sizeof(large); i++)
                large[i] = (char)(i * i * 2654435761u >> 13);
        assert_ok(store_set(s, FACTS, slice_string("a"), SLICE(large, sizeof(large))));
        assert_ok(rename("s/lmdb", "s/aside"));
        assert_ok(store_fetch(s, FACTS, slice_string("a"), &b));
        ck_assert_uint_eq(b.size, sizeof(large));
        assert_ok(rename("s/aside", "s/lmdb"));
        store_close(s);
}
END_TEST

/* As left by a process that died behind the journal, while this one had the store open: no damage. */
START_TEST(test_an_index_that_lags_is_no_damage)
{
        struct store_report report;
        struct store *s;

        store_close(open_store(STORE_CREATE));
        append_segments(0, 1);
        s = open_store(0);
        append_segments(1, 2);
        assert_ok(store_check(s, false, &report, NULL, NULL));
        ck_assert_uint_eq(report.damaged, 0);
        append_segments(2, 3);
        assert_ok(store_compact(s));
        assert_ok(store_check(s, false, &report, NULL, NULL));
        ck_assert(!report.rebuilt);
        assert_facts(s);
        store_close(s);
}
END_TEST

START_TEST(test_index_thrown_away)
{
        static const char *const ways[] = {"rm -r s/lmdb", "truncate -s 8192 s/lmdb/data.mdb",
                                           "truncate -s 5000 s/lmdb/data.mdb"};
        struct store_report report;
        struct store *s;

        make_store();
        for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
                ck_assert_int_eq(system(ways[i]), 0);
                s = open_store(0);
                assert_ok(store_check(s, false, &report, NULL, NULL));
                ck_assert(report.rebuilt && report.absent == (i == 0));
                ck_assert_uint_eq(report.values, VALUES);
                ck_assert_uint_eq(report.journal_records, 2 * VALUES);
                ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
                assert_ok(store_check(s, false, &report, NULL, NULL));
                ck_assert(!report.rebuilt);
                store_close(s);
        }
        ck_assert_int_eq(system("test $(ls -d s/lmdb.damaged-* | wc -l) = 1"), 0); /* only one is kept aside */
}
END_TEST

/* -- compacting -- */

/* Enough for all but the list of the journal's records: that is an error, and the process goes on. */
START_TEST(test_compact_without_memory)
{
        struct store *s;
        struct rlimit before, few;
        struct store_txn *t;
        long pages;
        FILE *f;
        int r;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        return; /* they end the process */
#endif
        s = open_store(STORE_CREATE);
        assert_ok(store_write(s, &t));
        for (unsigned i = 0; i < 1 << 17; i++)
                assert_ok(store_put(t, FACTS, SLICE(&i, sizeof(i)), slice_string("1")));
        assert_ok(store_commit(t));
        f = fopen("/proc/self/statm", "r");
        ck_assert_int_eq(fscanf(f, "%ld", &pages), 1);
        fclose(f);
        ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
        few = (struct rlimit){.rlim_cur = (rlim_t)pages * (rlim_t)getpagesize() + (16 << 20), .rlim_max = before.rlim_max};
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &few), 0);
        r = store_compact(s);
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
        ck_assert(r == 0 || r == -ENOMEM);
        assert_ok(store_compact(s));
        store_close(s);
}
END_TEST

START_TEST(test_compact)
{
        struct store_stats before, after;
        struct store_report report;
        struct store_txn *t;
        struct store *s;
        uint8_t key[4];

        s = open_store(STORE_CREATE);
        for (unsigned round = 0; round < 8; round++)
                fill_round(s, round);
        assert_ok(store_stats(s, &before));
        assert_ok(store_compact(s));
        assert_ok(store_stats(s, &after));
        ck_assert_uint_lt(after.journal_bytes, before.journal_bytes / 4);
        assert_ok(store_check(s, true, &report, NULL, NULL));
        ck_assert_uint_eq(report.damaged + report.journal_damaged, 0);
        ck_assert_uint_eq(report.journal_records, VALUES);
        assert_ok(store_write(s, &t));
        key_u32(key, 3);
        assert_ok(store_delete(t, FACTS, SLICE(key, 4)));
        assert_ok(store_commit(t));
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_uint_eq(count_right(s, FACTS, 7), VALUES - 1);
        assert_ok(store_compact(s));
        assert_ok(store_compact(s));
        ck_assert_uint_eq(count_right(s, FACTS, 7), VALUES - 1);
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_uint_eq(count_right(s, FACTS, 7), VALUES - 1);
        store_close(s);
}
END_TEST

/* An index from before a compaction (a restored backup) does not bring back what was deleted. */
START_TEST(test_older_index_with_a_compacted_journal)
{
        struct store_txn *t;
        struct store *s;
        uint8_t key[4];

        make_store();
        s = open_store(0);
        assert_ok(store_write(s, &t));
        for (unsigned i = 0; i < 10; i++) {
                key_u32(key, i);
                assert_ok(store_delete(t, FACTS, SLICE(key, 4)));
        }
        assert_ok(store_commit(t));
        assert_ok(store_compact(s));
        store_close(s);
        copy_file("good", DATA);
        s = open_store(0);
        ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES - 10);
        store_close(s);
}
END_TEST

START_TEST(test_kill_while_compacting)
{
        make_store();
        for (unsigned round = 0; round < test_rounds(10); round++) {
                struct store *s;
                pid_t pid = fork();

                if (pid == 0) {
                        s = open_store(0);
                        for (;;) {
                                uint8_t key[4] = {0xff, 0, 0, 0};

                                if (store_set(s, FACTS, SLICE(key, 4), SLICE(key, 4)) < 0 || store_compact(s) < 0)
                                        _exit(1);
                        }
                }
                usleep(1000 * (8 + round * 7 % 30));
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                if (round % 3 == 0)
                        assert_ok(remove_tree("s/lmdb"));
                s = open_store(0);
                ck_assert_uint_eq(count_right(s, FACTS, 1), VALUES);
                ck_assert_int_eq(access("s/journal/compacting", F_OK), -1);
                store_close(s);
        }
}
END_TEST

START_TEST(test_compacting_beside_a_writer)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_report report;
        unsigned n = 0;
        pid_t pid = fork();
        int status;

        if (pid == 0) {
                struct store *other = open_store(0);

                for (uint32_t i = 0; i < 300; i++) {
                        uint8_t key[4];

                        key_u32(key, i);
                        if (store_set(other, FACTS, SLICE(key, 4), SLICE(key, 4)) < 0)
                                _exit(1);
                }
                store_close(other);
                _exit(0);
        }
        while (waitpid(pid, &status, WNOHANG) == 0) {
                assert_ok(store_compact(s));
                assert_ok(store_check(s, true, &report, NULL, NULL));
                ck_assert_uint_eq(report.damaged + report.journal_damaged, 0);
        }
        ck_assert_int_eq(status, 0);
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        for (uint32_t i = 0; i < 300; i++) {
                uint8_t key[4];
                struct blob b;

                key_u32(key, i);
                n += store_fetch(s, FACTS, SLICE(key, 4), &b) == 0;
                blob_done(&b);
        }
        ck_assert_uint_eq(n, 300);
        store_close(s);
}
END_TEST

SUITE_TIMEOUT("store-care", 3600, test_check_of_a_sound_store, test_flipped_bits, test_flipped_headers,
              test_pages_lost_and_misplaced, test_truncated, test_damaged_journal, test_truncated_while_open,
              test_overwritten_while_open, test_read_only_an_error_is_said_and_stays, test_made_anew_under_a_reader,
              test_made_anew_under_a_writer, test_a_walk_over_damage, test_made_anew_beside_a_process, test_journal_lost_while_open,
              test_journal_unlinked_while_open, test_a_damaged_value_and_a_journal_that_cannot_be_read,
              test_a_damaged_value_and_a_journal_compacted_since, test_a_segment_and_the_index_are_lost,
              test_a_segment_in_the_midst_is_lost, test_a_damaged_value_and_a_segment_in_the_midst_is_lost,
              test_an_index_that_lags_and_a_damaged_journal, test_an_index_and_a_journal_damaged_and_too_few_descriptors,
              test_truncated_beside_threads, test_a_damaged_value, test_an_index_that_lags_is_no_damage, test_a_large_value_while_the_index_has_no_name,
              test_index_thrown_away, test_compact, test_compact_without_memory,
              test_older_index_with_a_compacted_journal, test_kill_while_compacting, test_compacting_beside_a_writer)
