/* Updates of several threads in one commit. */
#include "tests/store/count.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "cache/store/store.h"

enum {
        FACTS,
        NAMES,
        N
};
static const char *const tables[N] = {"facts", "names"};

#define MANY 12

static struct store *open_store(int flags)
{
        struct store *s;

        assert_ok(store_open("s", tables, N, flags, &s));
        return s;
}

/* A thread with one update. */
struct writer {
        struct store *store;
        store_update_fn fn;
        unsigned number;
        int r;
        char message[256]; /* of r, where that is negative */
        pthread_t thread;
};

static int put_one(void *user, struct store_txn *t)
{
        const struct writer *w = user;
        uint8_t key[4];
        int r;

        key_u32(key, w->number);
        r = store_put(t, FACTS, SLICE(key, sizeof(key)), SLICE("", 0));
        return r < 0 ? r : store_put(t, NAMES, SLICE(key, sizeof(key)), SLICE("", 0));
}

/* Behind its put: nothing of that may be left. */
static int put_and_refuse(void *user, struct store_txn *t)
{
        int r = put_one(user, t);

        return r < 0 ? r : errorf(-EEXIST, "number %u is taken", ((struct writer *)user)->number);
}

static int put_and_think_better(void *user, struct store_txn *t)
{
        int r = put_one(user, t);

        return r < 0 ? r : 7;
}

/* More than the index may hold. */
static int put_too_much(void *user, struct store_txn *t)
{
        static char value[2 << 20];
        unsigned seed = 1;

        for (size_t i = 0; i < sizeof(value); i++)
                value[i] = (char)rand_r(&seed);
        return store_put(t, FACTS, slice_string("large"), SLICE(value, sizeof(value)));
}

static void *write_one(void *user)
{
        struct writer *w = user;

        w->r = store_update_together(w->store, w->fn, w);
        if (w->r < 0)
                snprintf(w->message, sizeof(w->message), "%s", error_message(w->r));
        return NULL;
}

/* Starts the writers while a commit is under way, ends that when all of them wait, and returns how many commits they were. */
static unsigned write_behind_a_commit(struct store *s, struct writer *list, size_t n)
{
        struct store_txn *t;
        uint64_t before;

        assert_ok(store_write(s, &t));
        for (size_t i = 0; i < n; i++) {
                list[i].store = s;
                list[i].number = (unsigned)i;
                if (!list[i].fn)
                        list[i].fn = put_one;
                ck_assert_int_eq(pthread_create(&list[i].thread, NULL, write_one, &list[i]), 0);
        }
        while (store_waiting(s) < n)
                sched_yield();
        before = store_generation(s);
        store_end(t);
        for (size_t i = 0; i < n; i++)
                pthread_join(list[i].thread, NULL);
        ck_assert_uint_eq(store_waiting(s), 0);
        return (unsigned)(store_generation(s) - before);
}

START_TEST(test_what_waits_goes_in_one_commit)
{
        struct store *s = open_store(STORE_CREATE);
        struct writer list[MANY] = {0};

        ck_assert_uint_eq(write_behind_a_commit(s, list, MANY), 1);
        for (size_t i = 0; i < MANY; i++)
                ck_assert_int_eq(list[i].r, 0);
        store_close(s);
        assert_ok(remove_tree("s/lmdb")); /* they are in the journal, too */
        s = open_store(0);
        ck_assert_uint_eq(count(s, FACTS), MANY);
        store_close(s);
}
END_TEST

START_TEST(test_alone_each_is_a_commit_of_its_own)
{
        struct store *s = open_store(STORE_CREATE);
        uint64_t before = store_generation(s);

        for (unsigned i = 0; i < 5; i++) {
                assert_ok(store_update_together(s, put_one, &(struct writer){.number = i}));
                ck_assert_uint_eq(store_generation(s), before + i + 1);
                ck_assert_uint_eq(count(s, FACTS), i + 1);
        }
        store_close(s);
}
END_TEST

START_TEST(test_one_that_fails_costs_the_others_nothing)
{
        struct store *s = open_store(STORE_CREATE);
        struct writer list[MANY] = {[0] = {.fn = put_and_refuse}, [5] = {.fn = put_and_think_better}, [6] = {.fn = put_and_refuse}};

        write_behind_a_commit(s, list, MANY);
        for (size_t i = 0; i < MANY; i++)
                ck_assert_int_eq(list[i].r, i == 5 ? 7 : i == 0 || i == 6 ? -EEXIST : 0);
        ck_assert_str_eq(list[0].message, "number 0 is taken");
        ck_assert_str_eq(list[6].message, "number 6 is taken");
        ck_assert_uint_eq(count(s, FACTS), MANY - 3);
        ck_assert_uint_eq(count(s, NAMES), MANY - 3);
        store_close(s);
}
END_TEST

/* What is too large for the index fails by itself. */
START_TEST(test_a_full_index)
{
        struct writer list[3] = {[1] = {.fn = put_too_much}};
        struct store *s;

        setenv("SOLVERFS_MAP_SIZE", "1048576", 1);
        s = open_store(STORE_CREATE);
        write_behind_a_commit(s, list, 3);
        ck_assert_int_eq(list[0].r, 0);
        ck_assert_int_eq(list[1].r, -ENOSPC);
        ck_assert_int_eq(list[2].r, 0);
        ck_assert_uint_eq(count(s, FACTS), 2);
        store_close(s);
}
END_TEST

START_TEST(test_nothing_is_put_read_only)
{
        struct writer list[2] = {0};
        struct store *s = open_store(STORE_CREATE);

        store_close(s);
        s = open_store(STORE_READ_ONLY);
        for (unsigned i = 0; i < 2; i++) { /* one behind the other: the first leaves nobody waiting */
                list[i] = (struct writer){.store = s, .fn = put_one};
                write_one(&list[i]);
                ck_assert_int_eq(list[i].r, -EROFS);
        }
        ck_assert_uint_eq(store_waiting(s), 0);
        store_close(s);
}
END_TEST

/* A thread that has a transaction open waits for nobody's: the leader might be waiting for it. */
START_TEST(test_beside_a_transaction_of_its_own)
{
        struct store *s = open_store(STORE_CREATE);
        struct writer other = {.store = s, .fn = put_one, .number = 1};
        struct store_txn *t;

        assert_ok(store_write(s, &t));
        pthread_create(&other.thread, NULL, write_one, &other);
        while (store_waiting(s) < 1)
                sched_yield();
        assert_error(store_update_together(s, put_one, &(struct writer){.number = 2}), EDEADLK);
        store_end(t);
        pthread_join(other.thread, NULL);
        ck_assert_int_eq(other.r, 0);
        assert_ok(store_read(s, &t));
        assert_ok(store_update_together(s, put_one, &(struct writer){.number = 3}));
        store_end(t);
        ck_assert_uint_eq(count(s, FACTS), 2);
        store_close(s);
}
END_TEST

/* -- many at once ------------------------------------------------------------------------------------------------- */

#define ROUNDS 50

static int count_up(void *user, struct store_txn *t)
{
        uint8_t number[4] = {0};
        struct blob b = {0};
        int r = store_get(t, FACTS, slice_string("counter"), &b);

        if (r == 0)
                memcpy(number, b.data, 4);
        blob_done(&b);
        key_u32(number, key_get_u32(number) + 1);
        return r < 0 && r != -ENOENT ? r : store_put(t, FACTS, slice_string("counter"), SLICE(number, 4));
}

static void *count_on(void *user)
{
        for (unsigned i = 0; i < ROUNDS; i++) {
                if (i % 10 == 9)
                        ck_assert_int_eq(store_update_together(user, put_and_think_better, &(struct writer){.number = i}), 7);
                else
                        assert_ok(store_update_together(user, count_up, NULL));
        }
        return NULL;
}

/* Two handles, one thread in two on each, and two processes: not one is lost or counted twice. */
START_TEST(test_threads_handles_and_processes)
{
        pthread_t threads[6];
        struct blob b;
        pid_t pids[2];
        struct store *s = open_store(STORE_CREATE);

        store_close(s);
        for (size_t p = 0; p < ARRAY_SIZE(pids); p++) {
                pids[p] = fork();
                if (pids[p] == 0) {
                        struct store *handles[2] = {open_store(0), open_store(0)};

                        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                                pthread_create(&threads[i], NULL, count_on, handles[i % 2]);
                        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                                pthread_join(threads[i], NULL);
                        store_close(handles[0]);
                        store_close(handles[1]);
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
        ck_assert_uint_eq(key_get_u32(b.data), ARRAY_SIZE(pids) * ARRAY_SIZE(threads) * ROUNDS / 10 * 9);
        ck_assert_uint_eq(count(s, FACTS), 1);
        blob_done(&b);
        store_close(s);
}
END_TEST

/* -- killed ------------------------------------------------------------------------------------------------------- */

#define WRITERS 6

struct endless {
        struct store *store;
        unsigned writer, from;
        int acknowledge;
};

static void *write_on(void *user)
{
        struct endless *e = user;

        for (unsigned i = e->from;; i++) {
                struct writer w = {.number = e->writer << 24 | i};

                if (store_update_together(e->store, put_one, &w) < 0 || write(e->acknowledge, &w.number, 4) != 4)
                        _exit(1);
        }
        return NULL;
}

static void write_until_killed(unsigned from, int acknowledge)
{
        struct endless list[WRITERS];
        struct store *s = open_store(0);
        pthread_t threads[WRITERS];

        for (unsigned i = 0; i < WRITERS; i++) {
                list[i] = (struct endless){.store = s, .writer = i, .from = from, .acknowledge = acknowledge};
                pthread_create(&threads[i], NULL, write_on, &list[i]);
        }
        pthread_join(threads[0], NULL);
}

static bool has(struct store *s, unsigned number)
{
        cleanup_txn struct store_txn *t = NULL;
        uint8_t key[4];

        key_u32(key, number);
        assert_ok(store_read(s, &t));
        return store_has(t, FACTS, SLICE(key, sizeof(key))) && store_has(t, NAMES, SLICE(key, sizeof(key)));
}

/* What was acknowledged is there, in the index and in the journal; of the rest at most one of each writer, whole or not at all. */
START_TEST(test_kill_while_writing)
{
        struct store *s = open_store(STORE_CREATE);
        unsigned before = 0;

        store_close(s);
        for (unsigned round = 0; round < 12; round++) {
                unsigned *acknowledged = NULL, number, wanted = 1 + round * 17 % 60;
                size_t n = 0;
                int pipes[2];
                pid_t pid;

                ck_assert_int_eq(pipe(pipes), 0);
                pid = fork();
                if (pid == 0)
                        write_until_killed(round << 16, pipes[1]);
                close(pipes[1]);
                while (read(pipes[0], &number, 4) == 4) {
                        list_grow(acknowledged, n);
                        acknowledged[n++] = number;
                        if (n == wanted)
                                kill(pid, SIGKILL);
                }
                waitpid(pid, NULL, 0);
                close(pipes[0]);
                if (round % 4 == 3)
                        assert_ok(remove_tree("s/lmdb"));
                s = open_store(0);
                for (size_t i = 0; i < n; i++)
                        ck_assert(has(s, acknowledged[i]));
                ck_assert_uint_le(count(s, FACTS), before + n + WRITERS);
                ck_assert_uint_eq(count(s, NAMES), count(s, FACTS));
                before = count(s, FACTS);
                store_close(s);
                free(acknowledged);
        }
}
END_TEST

SUITE("store_together", test_what_waits_goes_in_one_commit, test_alone_each_is_a_commit_of_its_own,
      test_one_that_fails_costs_the_others_nothing, test_a_full_index, test_nothing_is_put_read_only,
      test_beside_a_transaction_of_its_own, test_threads_handles_and_processes, test_kill_while_writing)
