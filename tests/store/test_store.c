#include "tests/store/count.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "cache/store/store.h"

enum {
        FACTS,
        NAMES,
        N
};
static const char *const tables[N] = {
        [FACTS] = "facts",
        [NAMES] = "names",
};

static struct store *open_store(int flags)
{
        static FILE *nowhere;
        struct store *s;

        if (!nowhere)
                nowhere = fopen("/dev/null", "w");
        log_set(LOG_LEVEL_ERROR, nowhere); /* damage is what many tests want */
        assert_ok(store_open("s", tables, N, flags, &s));
        return s;
}

/* As LMDB does in a process of another container. */
START_TEST(test_our_number_is_taken)
{
        const struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = getpid(), .l_len = 1};
        struct store *s;
        int fds[2];
        pid_t other;
        char c;

        store_close(open_store(STORE_CREATE));
        ck_assert_int_eq(pipe(fds), 0);
        other = fork();
        if (other == 0) {
                int fd = open("s/lmdb/lock.mdb", O_RDWR);

                c = fcntl(fd, F_SETLK, &byte) == 0 && write(fds[1], "", 1) == 1;
                pause();
        }
        ck_assert_int_eq(read(fds[0], &c, 1), 1);
        assert_error(store_open("s", tables, N, 0, &s), EBUSY);
        ck_assert_ptr_nonnull(strstr(error_message(-EBUSY), "in another container"));
        kill(other, SIGKILL);
        waitpid(other, NULL, 0);
        store_close(open_store(0));
}
END_TEST

static void set(struct store *s, size_t table, const char *key, const char *value)
{
        assert_ok(store_set(s, table, slice_string(key), slice_string(value)));
}

/* The value as a string, "-" when there is none; valid until the next call. */
static const char *get(struct store *s, size_t table, const char *key)
{
        static char text[256];
        cleanup_blob struct blob b = {0};
        int r = store_fetch(s, table, slice_string(key), &b);

        if (r == -ENOENT)
                return "-";
        assert_ok(r);
        snprintf(text, sizeof(text), "%.*s", (int)b.size, (const char *)b.data);
        return text;
}

static void fill(char *data, size_t size, unsigned seed)
{
        for (size_t i = 0; i < size; i++) {
                seed = seed * 1103515245 + 12345;
                data[i] = (char)(seed >> 16);
        }
}

START_TEST(test_put_get_delete)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t;
        struct blob b;

        set(s, FACTS, "a", "1");
        set(s, NAMES, "a", "2");
        set(s, FACTS, "empty", "");
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        ck_assert_str_eq(get(s, NAMES, "a"), "2");
        ck_assert_str_eq(get(s, FACTS, "empty"), "");
        ck_assert_str_eq(get(s, FACTS, "b"), "-");
        set(s, FACTS, "a", "3");
        ck_assert_str_eq(get(s, FACTS, "a"), "3");
        assert_ok(store_write(s, &t));
        assert_ok(store_delete(t, FACTS, slice_string("a")));
        assert_error(store_delete(t, FACTS, slice_string("a")), ENOENT);
        assert_error(store_get(t, FACTS, slice_string("a"), &b), ENOENT);
        ck_assert(store_has(t, FACTS, slice_string("empty")));
        assert_ok(store_commit(t));
        ck_assert_str_eq(get(s, FACTS, "a"), "-");
        ck_assert_str_eq(store_dir(s), "s");
        ck_assert_ptr_null(store_close(s));
}
END_TEST

START_TEST(test_values_of_all_sizes)
{
        static const size_t sizes[] = {0, 1, 100, 511, 512, 513, 2000, 4096, 5000, 100000, 3000000};
        struct store *s = open_store(STORE_CREATE);

        for (unsigned random = 0; random < 2; random++) {
                for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                        cleanup_free char *data = malloc(sizes[i] + 1);

                        memset(data, 'x', sizes[i]);
                        if (random)
                                fill(data, sizes[i], (unsigned)i);
                        assert_ok(store_set(s, FACTS, SLICE(&sizes[i], sizeof(size_t)), SLICE(data, sizes[i])));
                }
                for (unsigned reopened = 0; reopened < 2; reopened++) {
                        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                                cleanup_blob struct blob b = {0};
                                cleanup_free char *data = malloc(sizes[i] + 1);

                                memset(data, 'x', sizes[i]);
                                if (random)
                                        fill(data, sizes[i], (unsigned)i);
                                assert_ok(store_fetch(s, FACTS, SLICE(&sizes[i], sizeof(size_t)), &b));
                                ck_assert_uint_eq(b.size, sizes[i]);
                                ck_assert_int_eq(memcmp(b.data, data, b.size), 0);
                        }
                        s = store_close(s);
                        s = open_store(0);
                }
        }
        store_close(s);
}
END_TEST

START_TEST(test_keys_of_all_sizes)
{
        struct store *s = open_store(STORE_CREATE);
        char key[STORE_KEY_MAX + 1];
        struct store_txn *t;
        struct blob b;

        memset(key, 'k', sizeof(key));
        assert_error(store_set(s, FACTS, SLICE(key, 0), slice_string("v")), EINVAL);
        assert_error(store_set(s, FACTS, SLICE(key, STORE_KEY_MAX + 1), slice_string("v")), EINVAL);
        assert_ok(store_set(s, FACTS, SLICE(key, STORE_KEY_MAX), slice_string("v")));
        assert_ok(store_set(s, FACTS, SLICE(key, 1), slice_string("w")));
        assert_error(store_fetch(s, FACTS, SLICE(key, 0), &b), ENOENT);
        assert_error(store_fetch(s, FACTS, SLICE(key, STORE_KEY_MAX + 1), &b), ENOENT);
        assert_ok(store_fetch(s, FACTS, SLICE(key, STORE_KEY_MAX), &b));
        blob_done(&b);
        assert_ok(store_write(s, &t));
        assert_error(store_put(t, FACTS, SLICE(key, 0), slice_string("v")), EINVAL);
        assert_error(store_put(t, FACTS, SLICE(key, 2), slice_string("v")), EINVAL); /* it can only be ended */
        assert_error(store_commit(t), EINVAL);
        assert_error(store_fetch(s, FACTS, SLICE(key, 2), &b), ENOENT);
        store_close(s);
}
END_TEST

START_TEST(test_a_transaction_is_all_or_nothing)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t, *before;
        struct blob b;

        set(s, FACTS, "a", "1");
        assert_ok(store_read(s, &before));
        assert_ok(store_write(s, &t));
        assert_ok(store_put(t, FACTS, slice_string("a"), slice_string("2")));
        assert_ok(store_put(t, NAMES, slice_string("b"), slice_string("2")));
        assert_ok(store_get(t, FACTS, slice_string("a"), &b));
        ck_assert_uint_eq(b.size, 1);
        ck_assert_int_eq(*(const char *)b.data, '2');
        blob_done(&b);
        ck_assert_str_eq(get(s, FACTS, "a"), "1"); /* others do not see it */
        ck_assert_ptr_null(store_end(t));
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        ck_assert_str_eq(get(s, NAMES, "b"), "-");

        assert_ok(store_write(s, &t));
        assert_ok(store_put(t, FACTS, slice_string("a"), slice_string("3")));
        assert_ok(store_put(t, NAMES, slice_string("b"), slice_string("3")));
        assert_ok(store_commit(t));
        assert_ok(store_get(before, FACTS, slice_string("a"), &b)); /* as it was when the reading began */
        ck_assert_int_eq(*(const char *)b.data, '1');
        blob_done(&b);
        store_end(before);
        ck_assert_str_eq(get(s, FACTS, "a"), "3");
        ck_assert_str_eq(get(s, NAMES, "b"), "3");
        store_close(s);
}
END_TEST

/* What was got stays good until the transaction ends, whatever else is got. */
START_TEST(test_values_stay_until_the_end)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t;
        struct blob blobs[200];
        char text[256];

        for (unsigned i = 0; i < ARRAY_SIZE(blobs); i++) {
                snprintf(text, sizeof(text), "value %u %0*u", i, (int)(i % 100) + 1, i);
                assert_ok(store_set(s, FACTS, SLICE(&i, sizeof(i)), slice_string(text)));
        }
        assert_ok(store_read(s, &t));
        for (unsigned i = 0; i < ARRAY_SIZE(blobs); i++)
                assert_ok(store_get(t, FACTS, SLICE(&i, sizeof(i)), &blobs[i]));
        for (unsigned i = 0; i < ARRAY_SIZE(blobs); i++) {
                snprintf(text, sizeof(text), "value %u %0*u", i, (int)(i % 100) + 1, i);
                ck_assert_uint_eq(blobs[i].size, strlen(text));
                ck_assert_int_eq(memcmp(blobs[i].data, text, strlen(text)), 0);
                blob_done(&blobs[i]);
        }
        store_end(t);
        store_close(s);
}
END_TEST

static const char *walk(struct store *s, const char *prefix, const char *from, bool values)
{
        cleanup_walk struct store_walk w = {
                .store = s, .table = FACTS, .prefix = slice_string(prefix), .from = slice_string(from), .keys_only = !values};
        static char text[256];
        size_t n = 0;
        int r;

        text[0] = '\0';
        while ((r = store_walk(&w)) > 0)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s=%.*s ", (int)w.key.size, (const char *)w.key.data, (int)w.value.size,
                                      (const char *)w.value.data);
        assert_ok(r);
        return text;
}

START_TEST(test_walk)
{
        struct store *s = open_store(STORE_CREATE);

        ck_assert_str_eq(walk(s, "", "", true), "");
        for (const char *k = "b ab a abc ac ca c"; *k;) {
                size_t n = strcspn(k, " ");

                assert_ok(store_set(s, FACTS, SLICE(k, n), SLICE(k, 1)));
                k += n + (k[n] == ' ');
        }
        ck_assert_str_eq(walk(s, "", "", true), "a=a ab=a abc=a ac=a b=b c=c ca=c ");
        ck_assert_str_eq(walk(s, "a", "", true), "a=a ab=a abc=a ac=a ");
        ck_assert_str_eq(walk(s, "ab", "", false), "ab= abc= ");
        ck_assert_str_eq(walk(s, "", "abd", true), "ac=a b=b c=c ca=c ");
        ck_assert_str_eq(walk(s, "a", "abc", true), "abc=a ac=a ");
        ck_assert_str_eq(walk(s, "b", "a", true), "b=b ");
        ck_assert_str_eq(walk(s, "a", "b", true), "");
        ck_assert_str_eq(walk(s, "x", "", true), "");
        store_close(s);
}
END_TEST

START_TEST(test_a_walk_may_delete)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_walk w = {.table = FACTS, .keys_only = true};
        struct store_txn *t;
        int r;

        assert_ok(store_write(s, &t));
        for (unsigned i = 0; i < 2000; i++)
                assert_ok(store_put(t, FACTS, SLICE(&i, sizeof(i)), slice_string("some value that takes room")));
        assert_ok(store_commit(t));
        assert_ok(store_write(s, &t));
        w.txn = t;
        while ((r = store_walk(&w)) > 0)
                assert_ok(store_delete(t, FACTS, w.key));
        assert_ok(r);
        assert_ok(store_commit(t));
        ck_assert_uint_eq(count(s, FACTS), 0);
        store_close(s);
}
END_TEST

START_TEST(test_opening)
{
        struct store *s, *again;
        struct stat st;

        assert_error(store_open("s", tables, N, 0, &s), ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(-ENOENT), "solverfs init"));
        ck_assert_int_eq(access("s", F_OK), -1);
        umask(0777);
        s = open_store(STORE_CREATE);
        umask(022);
        set(s, FACTS, "a", "1");
        for (const char *const *p = (const char *const[]){"s", "s/lmdb", "s/journal", NULL}; *p; p++) {
                ck_assert_int_eq(stat(*p, &st), 0);
                ck_assert_int_eq(st.st_mode & 07777, 0700);
        }
        for (const char *const *p = (const char *const[]){"s/lmdb/data.mdb", "s/lmdb/lock.mdb", "s/journal/00000001", NULL}; *p;
             p++) {
                ck_assert_int_eq(stat(*p, &st), 0);
                ck_assert_int_eq(st.st_mode & 07777, 0600);
        }
        again = open_store(0); /* a second handle in one process shares LMDB */
        ck_assert_str_eq(get(again, FACTS, "a"), "1");
        set(again, FACTS, "a", "2");
        ck_assert_str_eq(get(s, FACTS, "a"), "2");
        store_close(s);
        ck_assert_str_eq(get(again, FACTS, "a"), "2");
        store_close(again);
}
END_TEST

START_TEST(test_read_only)
{
        struct store *s, *w;
        struct store_txn *t;

        assert_error(store_open("s", tables, N, STORE_READ_ONLY, &s), ENOENT);
        w = open_store(STORE_CREATE);
        set(w, FACTS, "a", "1");
        s = open_store(STORE_READ_ONLY); /* beside a writer */
        ck_assert(store_read_only(s));
        ck_assert(!store_read_only(w));
        assert_error(store_write(s, &t), EROFS);
        assert_error(store_set(s, FACTS, slice_string("a"), slice_string("2")), EROFS);
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        store_close(w);
        store_close(s);
        s = open_store(STORE_READ_ONLY);
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        assert_error(store_open("s", tables, N, 0, &w), EBUSY);
        store_close(s);
}
END_TEST

START_TEST(test_generation_grows_with_writes)
{
        struct store *s = open_store(STORE_CREATE);
        uint64_t first = store_generation(s);
        struct store_txn *t;
        pid_t pid;

        ck_assert_str_eq(get(s, FACTS, "a"), "-");
        ck_assert_uint_eq(store_generation(s), first);
        set(s, FACTS, "a", "1");
        ck_assert_uint_gt(store_generation(s), first);
        first = store_generation(s);
        assert_ok(store_write(s, &t));
        assert_ok(store_put(t, FACTS, slice_string("a"), slice_string("2")));
        store_end(t);
        ck_assert_uint_eq(store_generation(s), first);
        pid = fork();
        if (pid == 0) {
                struct store *other = open_store(0);

                set(other, FACTS, "a", "3");
                store_close(other);
                _exit(0);
        }
        waitpid(pid, NULL, 0);
        ck_assert_uint_gt(store_generation(s), first);
        ck_assert_str_eq(get(s, FACTS, "a"), "3");
        store_close(s);
}
END_TEST

START_TEST(test_writing_twice_in_one_thread_is_told)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t, *u;

        assert_ok(store_write(s, &t));
        assert_error(store_write(s, &u), EDEADLK);
        assert_error(store_set(s, FACTS, slice_string("a"), slice_string("1")), EDEADLK);
        assert_ok(store_commit(t));
        set(s, FACTS, "a", "1");
        store_close(s);
}
END_TEST

START_TEST(test_a_forked_child_is_refused)
{
        struct store *s = open_store(STORE_CREATE);
        int status;
        pid_t pid;

        set(s, FACTS, "a", "1");
        pid = fork();
        if (pid == 0) {
                struct store_txn *t;
                bool refused = store_read(s, &t) == -EIO && store_write(s, &t) == -EIO;

                store_close(s);
                _exit(refused ? 0 : 1);
        }
        waitpid(pid, &status, 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        set(s, FACTS, "a", "2");
        store_close(s);
}
END_TEST

START_TEST(test_stats)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_stats stats;

        set(s, FACTS, "a", "1");
        set(s, FACTS, "b", "1");
        assert_ok(store_stats(s, &stats));
        ck_assert_uint_eq(stats.n_tables, N);
        ck_assert_str_eq(stats.tables[FACTS].name, "facts");
        ck_assert_uint_eq(stats.tables[FACTS].entries, 2);
        ck_assert_uint_gt(stats.tables[FACTS].bytes, 0);
        ck_assert_uint_eq(stats.tables[NAMES].entries, 0);
        ck_assert_uint_gt(stats.used_bytes, 0);
        ck_assert_uint_gt(stats.map_size, stats.used_bytes);
        ck_assert_uint_gt(stats.journal_bytes, 0);
        store_close(s);
}
END_TEST

/* -- many at once -- */

#define ROUNDS 100

static void *write_many(void *user)
{
        struct store *s = user;

        for (unsigned i = 0; i < ROUNDS; i++) {
                uint8_t number[4] = {0};
                struct store_txn *t;
                struct blob b = {0};

                assert_ok(store_write(s, &t));
                if (store_get(t, FACTS, slice_string("counter"), &b) == 0)
                        memcpy(number, b.data, 4);
                blob_done(&b);
                key_u32(number, key_get_u32(number) + 1);
                assert_ok(store_put(t, FACTS, slice_string("counter"), SLICE(number, 4)));
                assert_ok(store_put(t, NAMES, slice_string("the same"), SLICE(number, 4)));
                assert_ok(store_commit(t));
        }
        return NULL;
}

static void *read_many(void *user)
{
        struct store *s = user;

        for (unsigned i = 0; i < 20 * ROUNDS; i++) {
                struct store_txn *t;
                struct blob a, b;
                int r, q;

                assert_ok(store_read(s, &t));
                r = store_get(t, FACTS, slice_string("counter"), &a);
                q = store_get(t, NAMES, slice_string("the same"), &b);
                ck_assert_int_eq(r, q);
                if (r == 0)
                        ck_assert_int_eq(memcmp(a.data, b.data, 4), 0);
                blob_done(&a);
                blob_done(&b);
                store_end(t);
        }
        return NULL;
}

START_TEST(test_threads_and_processes)
{
        struct store *s = open_store(STORE_CREATE);
        pthread_t threads[4];
        struct blob b;
        pid_t pids[2];

        store_close(s);
        for (size_t p = 0; p < ARRAY_SIZE(pids); p++) {
                pids[p] = fork();
                if (pids[p] == 0) {
                        s = open_store(0);
                        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                                pthread_create(&threads[i], NULL, i % 2 ? write_many : read_many, s);
                        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                                pthread_join(threads[i], NULL);
                        store_close(s);
                        _exit(0);
                }
        }
        for (size_t p = 0; p < ARRAY_SIZE(pids); p++) {
                int status;

                waitpid(pids[p], &status, 0);
                ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        s = open_store(0);
        assert_ok(store_fetch(s, FACTS, slice_string("counter"), &b));
        ck_assert_uint_eq(key_get_u32(b.data), 2 * 2 * ROUNDS);
        blob_done(&b);
        store_close(s);
        remove_tree("s/lmdb"); /* and the journal says the same */
        s = open_store(0);
        assert_ok(store_fetch(s, FACTS, slice_string("counter"), &b));
        ck_assert_uint_eq(key_get_u32(b.data), 2 * 2 * ROUNDS);
        blob_done(&b);
        store_close(s);
}
END_TEST

/* -- the journal -- */

START_TEST(test_the_index_is_made_anew_from_the_journal)
{
        struct store *s = open_store(STORE_CREATE);
        cleanup_free char *large = malloc(100000);
        struct store_txn *t;
        struct blob b;

        fill(large, 100000, 1);
        set(s, FACTS, "a", "1");
        set(s, FACTS, "b", "1");
        set(s, FACTS, "a", "2");
        assert_ok(store_set(s, FACTS, slice_string("large"), SLICE(large, 100000)));
        assert_ok(store_write(s, &t));
        assert_ok(store_delete(t, FACTS, slice_string("b")));
        assert_ok(store_put(t, NAMES, slice_string("n"), slice_string("3")));
        assert_ok(store_commit(t));
        assert_ok(store_write(s, &t)); /* not committed */
        assert_ok(store_put(t, NAMES, slice_string("o"), slice_string("4")));
        store_end(t);
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_str_eq(get(s, FACTS, "a"), "2");
        ck_assert_str_eq(get(s, FACTS, "b"), "-");
        ck_assert_str_eq(get(s, NAMES, "n"), "3");
        ck_assert_str_eq(get(s, NAMES, "o"), "-");
        assert_ok(store_fetch(s, FACTS, slice_string("large"), &b));
        ck_assert_int_eq(memcmp(b.data, large, 100000), 0);
        blob_done(&b);
        set(s, FACTS, "c", "5");
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_str_eq(get(s, FACTS, "c"), "5");
        ck_assert_str_eq(get(s, FACTS, "a"), "2");
        store_close(s);
}
END_TEST

static void copy_file(const char *from, const char *to)
{
        int a = open(from, O_RDONLY), b = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        assert_ok(a);
        assert_ok(b);
        assert_ok(copy_fd(a, b));
        close(a);
        close(b);
}

/* LMDB's newest meta page may be lost in a power cut: an older data file with the whole journal is what that looks like. */
START_TEST(test_what_the_index_has_not_is_applied)
{
        struct store *s = open_store(STORE_CREATE);

        set(s, FACTS, "a", "1");
        store_close(s);
        copy_file("s/lmdb/data.mdb", "older");
        s = open_store(0);
        set(s, FACTS, "a", "2");
        set(s, FACTS, "b", "2");
        store_close(s);
        copy_file("older", "s/lmdb/data.mdb");
        s = open_store(0);
        ck_assert_str_eq(get(s, FACTS, "a"), "2");
        ck_assert_str_eq(get(s, FACTS, "b"), "2");
        set(s, FACTS, "c", "3");
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_str_eq(walk(s, "", "", true), "a=2 b=2 c=3 ");
        store_close(s);
}
END_TEST

/* Where the records of the only segment end. */
static off_t journal_end(void)
{
        cleanup_blob struct blob b = {0};
        size_t n;

        assert_ok(read_file("s/journal/00000001", SIZE_MAX - 1, &b));
        for (n = b.size; n > 0 && ((const char *)b.data)[n - 1] == '\0'; n--)
                ;
        return (off_t)((n + 7) & ~(size_t)7);
}

/* A transaction whose end did not reach the disk is as if it had never been, at every length. */
START_TEST(test_a_torn_transaction_is_cut_off)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t;
        off_t before, after;

        set(s, FACTS, "a", "1");
        before = journal_end();
        assert_ok(store_write(s, &t));
        assert_ok(store_put(t, FACTS, slice_string("b"), slice_string("2")));
        assert_ok(store_put(t, NAMES, slice_string("c"), slice_string("3")));
        assert_ok(store_commit(t));
        store_close(s);
        after = journal_end();
        copy_file("s/journal/00000001", "whole");
        for (off_t cut = before; cut <= after; cut += 4) {
                copy_file("whole", "s/journal/00000001");
                ck_assert_int_eq(truncate("s/journal/00000001", cut), 0);
                assert_ok(remove_tree("s/lmdb"));
                s = open_store(0);
                ck_assert_str_eq(get(s, FACTS, "b"), cut < after ? "-" : "2");
                ck_assert_str_eq(get(s, NAMES, "c"), cut < after ? "-" : "3");
                set(s, NAMES, "d", "4");
                store_close(s);
                assert_ok(remove_tree("s/lmdb"));
                s = open_store(0);
                ck_assert_str_eq(get(s, FACTS, "a"), "1");
                ck_assert_str_eq(get(s, FACTS, "b"), cut < after ? "-" : "2");
                ck_assert_str_eq(get(s, NAMES, "d"), "4");
                store_close(s);
        }
}
END_TEST

/* The disk writes blocks in any order: the beginning may be missing where the end is there. */
START_TEST(test_a_transaction_with_a_hole_at_the_end_is_cut_off)
{
        struct store *s = open_store(STORE_CREATE);
        cleanup_free char *large = malloc(20000);
        off_t before, after;
        int fd;

        fill(large, 20000, 1);
        set(s, FACTS, "a", "1");
        before = journal_end();
        assert_ok(store_set(s, FACTS, slice_string("b"), SLICE(large, 20000)));
        store_close(s);
        after = journal_end();
        ck_assert_int_gt(after - before, 20000);
        fd = open("s/journal/00000001", O_WRONLY);
        ck_assert_int_eq(pwrite(fd, (char[4096]){0}, 4096, before), 4096);
        close(fd);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_str_eq(walk(s, "", "", true), "a=1 ");
        set(s, FACTS, "c", "3");
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_str_eq(walk(s, "", "", true), "a=1 c=3 ");
        store_close(s);
}
END_TEST

/* One damaged record costs itself, not what lies around it. */
START_TEST(test_a_damaged_record_costs_only_itself)
{
        struct store *s = open_store(STORE_CREATE);
        struct store_txn *t;
        off_t before, after;

        set(s, FACTS, "a", "1");
        before = journal_end();
        set(s, FACTS, "b", "2");
        after = journal_end();
        assert_ok(store_write(s, &t));
        assert_ok(store_put(t, FACTS, slice_string("c"), slice_string("3")));
        assert_ok(store_put(t, FACTS, slice_string("d"), slice_string("4")));
        assert_ok(store_commit(t));
        store_close(s);
        copy_file("s/journal/00000001", "whole");
        for (off_t at = before; at < after; at++) {
                int fd = open("s/journal/00000001", O_RDWR);
                const char *found;
                char c;

                ck_assert_int_eq(pread(fd, &c, 1, at), 1);
                c ^= 0x10;
                ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
                close(fd);
                assert_ok(remove_tree("s/lmdb"));
                s = open_store(0);
                found = walk(s, "", "", true);
                ck_assert_msg(strcmp(found, "a=1 c=3 d=4 ") == 0 || strcmp(found, "a=1 b=2 c=3 d=4 ") == 0, "%s at %lld", found,
                              (long long)at);
                store_close(s);
                copy_file("whole", "s/journal/00000001");
        }
}
END_TEST

START_TEST(test_a_newer_store_is_refused)
{
        struct store *s = open_store(STORE_CREATE);
        cleanup_blob struct blob b = {0};

        set(s, FACTS, "a", "1");
        store_close(s);
        assert_ok(read_file("s/journal/00000001", SIZE_MAX - 1, &b));
        ((char *)b.owned)[8] = 2; /* the version; without its checksum it is damage and no newer format */
        assert_ok(write_file_atomic("s/journal/00000001", b.data, b.size, 0600));
        s = open_store(0);
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        store_close(s);
}
END_TEST

/* A writer that is killed at any moment: what was acknowledged is there, and nothing half. */
START_TEST(test_kill_while_writing)
{
        struct store *s = open_store(STORE_CREATE);
        unsigned acknowledged = 0;

        store_close(s);
        for (unsigned round = 0; round < 25; round++) {
                int pipes[2];
                unsigned n;
                pid_t pid;

                ck_assert_int_eq(pipe(pipes), 0);
                pid = fork();
                if (pid == 0) {
                        s = open_store(0);
                        for (unsigned i = acknowledged + 1;; i++) {
                                uint8_t key[4];
                                struct store_txn *t;

                                key_u32(key, i);
                                if (store_write(s, &t) < 0 || store_put(t, FACTS, SLICE(key, 4), SLICE(key, 4)) < 0 ||
                                    store_put(t, NAMES, SLICE(key, 4), SLICE(key, 4)) < 0 || store_commit(t) < 0)
                                        _exit(1);
                                if (write(pipes[1], &i, sizeof(i)) != sizeof(i))
                                        _exit(1);
                        }
                }
                close(pipes[1]);
                if (round % 2 == 0) /* by turns, so that some are killed as they open it, some as they write */
                        ck_assert_int_eq(poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, -1), 1);
                usleep(1000 * (5 + round * 7 % 40));
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                while (read(pipes[0], &n, sizeof(n)) == sizeof(n))
                        acknowledged = n;
                close(pipes[0]);
                if (round % 5 == 4)
                        assert_ok(remove_tree("s/lmdb"));
                s = open_store(0);
                n = count(s, FACTS);
                ck_assert_uint_eq(count(s, NAMES), n);
                ck_assert_uint_ge(n, acknowledged);
                ck_assert_uint_le(n, acknowledged + 1);
                acknowledged = n;
                store_close(s);
        }
}
END_TEST

/* The same with another process that has the store open all the time and goes on writing. */
START_TEST(test_kill_beside_another_writer)
{
        struct store *s = open_store(STORE_CREATE);
        unsigned expected = 0;

        for (unsigned round = 0; round < 15; round++) {
                pid_t pid = fork();
                unsigned n;

                if (pid == 0) {
                        struct store *other = open_store(0);

                        for (unsigned i = 0;; i++) {
                                uint8_t key[8];

                                key_u32(key, round);
                                key_u32(key + 4, i);
                                if (store_set(other, FACTS, SLICE(key, 8), SLICE(key, 8)) < 0)
                                        _exit(1);
                        }
                }
                usleep(1000 * (10 + round * 7 % 40));
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                set(s, NAMES, "mine", "1"); /* applies what the dead one left in the journal */
                n = count(s, FACTS);
                ck_assert_uint_ge(n, expected);
                expected = n;
        }
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        s = open_store(0);
        ck_assert_uint_eq(count(s, FACTS), expected);
        store_close(s);
}
END_TEST

/* -- the disk is full -- */

static void small_disk(void)
{
        ck_assert_int_eq(mkdir("s", 0700), 0);
        ck_assert_int_eq(mount("none", "s", "tmpfs", 0, "size=1m"), 0);
}

START_TEST(test_disk_full)
{
        cleanup_free char *value = malloc(200000);
        struct store *s;
        unsigned kept = 0;
        struct stat st;
        int r = 0;

        NEEDS_OWN_MOUNTS;
        small_disk();
        s = open_store(STORE_CREATE);
        set(s, FACTS, "a", "1");
        fill(value, 200000, 3);
        for (unsigned i = 0; i < 100 && r == 0; i++) {
                r = store_set(s, NAMES, SLICE(&i, sizeof(i)), SLICE(value, 60000 >> (i % 8)));
                kept += r == 0;
        }
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_uint_gt(kept, 2);
        ck_assert_uint_eq(count(s, NAMES), kept);
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        for (unsigned i = 0; i < 20; i++) { /* again and again does no harm */
                r = store_set(s, NAMES, slice_string("again"), SLICE(value, 200000));
                ck_assert_int_eq(r, -ENOSPC);
        }
        store_close(s);
        ck_assert_int_eq(stat("s/journal/00000001", &st), 0);
        s = open_store(0);
        ck_assert_uint_eq(count(s, NAMES), kept);
        store_close(s);
        umount("s");
}
END_TEST

/* To the last page. */
static void fill_disk(void)
{
        static const char page[4096];
        int fd = open("s/filler", O_WRONLY | O_CREAT, 0600);

        assert_ok(fd);
        while (write(fd, page, sizeof(page)) > 0)
                ;
        ck_assert_int_eq(errno, ENOSPC);
        close(fd);
}

START_TEST(test_an_index_rebuilt_on_a_full_disk)
{
        struct store *s;
        int r;

        NEEDS_OWN_MOUNTS;
        small_disk();
        s = open_store(STORE_CREATE);
        set(s, FACTS, "a", "1");
        store_close(s);
        assert_ok(remove_tree("s/lmdb"));
        fill_disk();
        r = store_open("s", tables, N, 0, &s);
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_int_lt(access("s/lmdb.new", F_OK), 0);
        ck_assert_int_eq(unlink("s/filler"), 0);
        s = open_store(0);
        ck_assert_str_eq(get(s, FACTS, "a"), "1");
        store_close(s);
        ck_assert_int_eq(truncate("s/lmdb/lock.mdb", 0), 0); /* a copy may be sparse, too */
        ck_assert_int_eq(truncate("s/lmdb/lock.mdb", 65536), 0);
        fill_disk();
        r = store_open("s", tables, N, 0, &s);
        ck_assert_int_eq(r, -ENOSPC);
        umount("s");
}
END_TEST

START_TEST(test_map_full)
{
        cleanup_free char *value = malloc(60000);
        struct store *s;
        unsigned kept = 0;
        int r = 0;

        setenv("SOLVERFS_MAP_SIZE", "1048576", 1);
        s = open_store(STORE_CREATE);
        fill(value, 60000, 3);
        for (unsigned i = 0; i < 100 && r == 0; i++) {
                r = store_set(s, NAMES, SLICE(&i, sizeof(i)), SLICE(value, 60000));
                kept += r == 0;
        }
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_uint_gt(kept, 2);
        ck_assert_uint_eq(count(s, NAMES), kept);
        store_close(s);
        unsetenv("SOLVERFS_MAP_SIZE");
        s = open_store(0);
        set(s, FACTS, "a", "1");
        assert_ok(store_set(s, NAMES, slice_string("more"), SLICE(value, 60000)));
        ck_assert_uint_eq(count(s, NAMES), kept + 1);
        store_close(s);
}
END_TEST

SUITE("store", test_our_number_is_taken, test_put_get_delete, test_values_of_all_sizes, test_keys_of_all_sizes, test_a_transaction_is_all_or_nothing,
      test_values_stay_until_the_end, test_walk, test_a_walk_may_delete, test_opening, test_read_only,
      test_generation_grows_with_writes, test_writing_twice_in_one_thread_is_told, test_a_forked_child_is_refused, test_stats,
      test_threads_and_processes, test_the_index_is_made_anew_from_the_journal, test_what_the_index_has_not_is_applied,
      test_a_torn_transaction_is_cut_off, test_a_transaction_with_a_hole_at_the_end_is_cut_off,
      test_a_damaged_record_costs_only_itself, test_a_newer_store_is_refused, test_kill_while_writing,
      test_kill_beside_another_writer, test_disk_full, test_an_index_rebuilt_on_a_full_disk,
      test_map_full)
