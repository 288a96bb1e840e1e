#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

#include "cache/store/programs.h"

static struct store *store;

static struct programs *open_programs_with(int flags, uint64_t bound)
{
        static const struct store_table tables[] = {{"programs", false}};
        static FILE *nowhere;
        struct programs *p;

        if (!nowhere)
                nowhere = fopen("/dev/null", "w");
        log_set(LOG_LEVEL_ERROR, nowhere);
        assert_ok(store_open("s", tables, 1, flags, &store));
        assert_ok(programs_open(store, 0, bound, &p));
        return p;
}

static struct programs *open_programs(void)
{
        return open_programs_with(STORE_CREATE, 1 << 30);
}

static void close_programs(struct programs *p)
{
        programs_close(p);
        store_close(store);
}

#define SIZE 200000

/* Something like a program: hard to compress, and version n + 1 differs from version n in a few places. */
static size_t version(unsigned n, char data[SIZE + 100])
{
        unsigned seed = 1;
        size_t size = SIZE + n;

        for (size_t i = 0; i < size; i++) {
                seed = seed * 1103515245 + 12345;
                data[i] = (char)(seed >> 16);
        }
        for (unsigned i = 1; i <= n; i++)
                memset(data + i * 1009, (int)i, 100);
        return size;
}

static int put_bytes(struct programs *p, const void *data, size_t size, const struct digest *near, struct digest *ret)
{
        char path[] = "program.XXXXXX";
        int fd = mkstemp(path), r;
        uint64_t stored;

        assert_ok(write_all(fd, data, size));
        r = programs_put(p, fd, near, ret, &stored);
        if (r == 0)
                ck_assert_uint_eq(stored, size);
        close(fd);
        unlink(path);
        return r;
}

static void put_version(struct programs *p, unsigned n, const struct digest *near, struct digest *ret)
{
        char data[SIZE + 100];
        size_t size = version(n, data);

        assert_ok(put_bytes(p, data, size, near, ret));
}

static void assert_version(struct programs *p, const struct digest *id, unsigned n)
{
        cleanup_blob struct blob b = {0};
        char data[SIZE + 100];
        size_t size = version(n, data);
        int fd;

        assert_ok(programs_get(p, id, &fd, NULL));
        assert_ok(read_fd(fd, SIZE * 2, &b));
        close(fd);
        ck_assert_uint_eq(b.size, size);
        ck_assert_int_eq(memcmp(b.data, data, size), 0);
}

static void empty_folder(void)
{
        assert_ok(remove_tree("s/programs"));
        ck_assert_int_eq(mkdir("s/programs", 0700), 0);
}

static unsigned count_files(void)
{
        DIR *d = opendir("s/programs");
        struct dirent *e;
        unsigned n = 0;

        while ((e = readdir(d)))
                n += e->d_name[0] != '.' || strncmp(e->d_name, ".new", 4) == 0;
        closedir(d);
        return n;
}

START_TEST(test_put_get_run)
{
        struct programs *p = open_programs();
        char path[PATH_SIZE], hex[DIGEST_HEX_SIZE];
        struct digest id, again, absent = {{1}};
        uint64_t size, stored;
        unsigned depth;
        struct stat st;
        int fd, status;
        pid_t pid;

        fd = open("/bin/true", O_RDONLY);
        umask(0777);
        assert_ok(programs_put(p, fd, NULL, &id, &size));
        assert_ok(programs_put(p, fd, NULL, &again, &size));
        ck_assert(digest_equal(&id, &again));
        assert_ok(digest_of_fd(fd, &again, NULL));
        ck_assert(digest_equal(&id, &again));
        close(fd);
        ck_assert(programs_has(p, &id));
        ck_assert(!programs_has(p, &absent));
        assert_error(programs_get(p, &absent, &fd, path), ENOENT);
        assert_error(programs_info(p, &absent, &stored, &depth, &again), ENOENT);
        assert_ok(programs_get(p, &id, &fd, path));
        umask(022);
        digest_hex(&id, hex);
        ck_assert_ptr_nonnull(strstr(path, hex));
        ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0555);
        ck_assert_int_eq((int)st.st_size, (int)size);
        pid = fork();
        if (pid == 0) {
                execl(path, "true", NULL);
                _exit(99);
        }
        waitpid(pid, &status, 0);
        ck_assert_int_eq(status, 0);
        close(fd);
        ck_assert_int_eq(stat("s/programs", &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0700);
        close_programs(p);
        p = open_programs();
        ck_assert(programs_has(p, &id));
        close_programs(p);
}
END_TEST

START_TEST(test_empty_and_tiny)
{
        struct programs *p = open_programs();
        struct digest empty, tiny;
        struct stat st;
        int fd;

        assert_ok(put_bytes(p, "", 0, NULL, &empty));
        assert_ok(put_bytes(p, "x", 1, &empty, &tiny));
        assert_ok(programs_get(p, &tiny, &fd, NULL));
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq((int)st.st_size, 1);
        close(fd);
        assert_ok(programs_get(p, &empty, &fd, NULL));
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq((int)st.st_size, 0);
        close(fd);
        close_programs(p);
}
END_TEST

START_TEST(test_neighbours_are_small)
{
        struct programs *p = open_programs();
        struct digest ids[25], base;
        uint64_t stored, keyframes = 0;
        unsigned depth;

        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) {
                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
                assert_ok(programs_info(p, &ids[n], &stored, &depth, &base));
                ck_assert_uint_le(depth, PROGRAMS_CHAIN);
                if (n == 0) {
                        ck_assert_uint_gt(stored, SIZE / 2);
                        ck_assert(digest_is_zero(&base));
                } else if (digest_is_zero(&base)) {
                        keyframes++;
                } else {
                        ck_assert_uint_lt(stored, SIZE / 20);
                }
        }
        ck_assert_uint_eq(keyframes, 0);
        for (unsigned n = ARRAY_SIZE(ids); n-- > 0;)
                assert_version(p, &ids[n], n);
        /* a stranger gains nothing from a base, and does not hang on it */
        {
                char stranger[50000];
                struct digest id;
                unsigned seed = 99;

                for (size_t i = 0; i < sizeof(stranger); i++)
                        stranger[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
                assert_ok(put_bytes(p, stranger, sizeof(stranger), &ids[3], &id));
                assert_ok(programs_info(p, &id, &stored, &depth, &base));
                ck_assert_uint_eq(depth, 0);
                ck_assert(digest_is_zero(&base));
        }
        close_programs(p);
}
END_TEST

START_TEST(test_near_that_is_not_there)
{
        struct programs *p = open_programs();
        struct digest absent = {{7}}, id;

        put_version(p, 3, &absent, &id);
        assert_version(p, &id, 3);
        close_programs(p);
}
END_TEST

START_TEST(test_remove_keeps_what_builds_on_it)
{
        struct programs *p = open_programs();
        struct digest ids[6];
        unsigned order[] = {0, 2, 1, 5, 3};
        int fd;

        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
        put_version(p, 10, &ids[2], &ids[5]); /* two build on 2 */
        for (unsigned i = 0; i < ARRAY_SIZE(order); i++) {
                assert_ok(programs_remove(p, &ids[order[i]]));
                assert_error(programs_remove(p, &ids[order[i]]), ENOENT);
                empty_folder();
                assert_error(programs_get(p, &ids[order[i]], &fd, NULL), ENOENT);
                for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) {
                        bool removed = false;

                        for (unsigned k = 0; k <= i; k++)
                                removed |= order[k] == n;
                        if (!removed)
                                assert_version(p, &ids[n], n == 5 ? 10 : n);
                }
        }
        close_programs(p);
}
END_TEST

static int spoil_frame(void *user, struct slice key, struct slice value)
{
        struct store_txn *t = user;
        cleanup_free char *copy = malloc(value.size);

        memcpy(copy, value.data, value.size);
        copy[value.size / 2] ^= 1;
        assert_ok(store_put(t, 0, key, SLICE(copy, value.size)));
        return 0;
}

/* What does not come out right is not there, nor what builds on it; the rest is, and all can be stored again. */
START_TEST(test_damaged_in_the_store)
{
        struct programs *p = open_programs();
        struct digest ids[4], other;
        struct store_txn *t;
        char key[1 + DIGEST_SIZE] = "d";
        int fd;

        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
        assert_ok(put_bytes(p, "another", 7, NULL, &other));
        memcpy(key + 1, ids[1].bytes, DIGEST_SIZE);
        assert_ok(store_write(store, &t));
        assert_ok(store_each(t, 0, SLICE(key, sizeof(key)), SLICE(NULL, 0), true, spoil_frame, t));
        assert_ok(store_commit(t));
        empty_folder();
        assert_version(p, &ids[0], 0);
        assert_error(programs_get(p, &ids[3], &fd, NULL), ENOENT);
        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                ck_assert_int_eq(programs_has(p, &ids[n]), n == 0);
        ck_assert(programs_has(p, &other));
        for (unsigned n = 1; n < ARRAY_SIZE(ids); n++) {
                put_version(p, n, &ids[n - 1], &ids[n]);
                assert_version(p, &ids[n], n);
        }
        close_programs(p);
}
END_TEST

static int drop_frame(void *user, struct slice key, struct slice)
{
        return store_delete(user, 0, key);
}

/* As the store drops a value that is damaged. */
static void lose_frame(const struct digest *id)
{
        char key[1 + DIGEST_SIZE] = "d";
        struct store_txn *t;

        memcpy(key + 1, id->bytes, DIGEST_SIZE);
        assert_ok(store_write(store, &t));
        assert_ok(store_each(t, 0, SLICE(key, sizeof(key)), SLICE(NULL, 0), true, drop_frame, t));
        assert_ok(store_commit(t));
}

/* A program is not there without its frame, nor is what builds on it; and all can be stored again, or removed. */
START_TEST(test_lost_in_the_store)
{
        struct programs *p = open_programs();
        struct digest ids[4];
        int fd;

        for (unsigned round = 0; round < 3; round++) {
                for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                        put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
                empty_folder();
                lose_frame(&ids[1]);
                if (round == 0) {
                        ck_assert(!programs_has(p, &ids[1]));
                        assert_error(programs_get(p, &ids[1], &fd, NULL), ENOENT);
                } else if (round == 1) {
                        assert_error(programs_get(p, &ids[3], &fd, NULL), ENOENT);
                        for (unsigned n = 1; n < ARRAY_SIZE(ids); n++)
                                ck_assert(!programs_has(p, &ids[n]));
                } else /* 1 is what must be stored anew first */
                        assert_ok(programs_remove(p, &ids[0]));
                for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) {
                        put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
                        assert_version(p, &ids[n], n);
                }
        }
        close_programs(p);
}
END_TEST

/* Content that is a valid frame, but of something else. */
START_TEST(test_wrong_in_the_store)
{
        struct programs *p = open_programs();
        char a[1 + DIGEST_SIZE] = "d", b[1 + DIGEST_SIZE] = "d";
        struct digest ids[2];
        cleanup_blob struct blob frame = {0};
        int fd;

        assert_ok(put_bytes(p, "aaaaaaaaaaaaaaaaaaaaaaaaa", 25, NULL, &ids[0]));
        assert_ok(put_bytes(p, "bbbbbbbbbbbbbbbbbbbbbbbbb", 25, NULL, &ids[1]));
        memcpy(a + 1, ids[0].bytes, DIGEST_SIZE);
        memcpy(b + 1, ids[1].bytes, DIGEST_SIZE);
        assert_ok(store_fetch(store, 0, SLICE(a, sizeof(a)), &frame));
        assert_ok(store_set(store, 0, SLICE(b, sizeof(b)), SLICE(frame.data, frame.size)));
        assert_error(programs_get(p, &ids[1], &fd, NULL), ENOENT);
        ck_assert(!programs_has(p, &ids[1]));
        assert_ok(programs_get(p, &ids[0], &fd, NULL));
        close(fd);
        close_programs(p);
}
END_TEST

START_TEST(test_a_file_somebody_wrote_to_is_made_anew)
{
        struct programs *p = open_programs();
        char path[PATH_SIZE];
        struct digest id;
        int fd;

        put_version(p, 1, NULL, &id);
        assert_ok(programs_get(p, &id, &fd, path));
        close(fd);
        ck_assert_int_eq(chmod(path, 0700), 0);
        fd = open(path, O_WRONLY);
        ck_assert_int_eq(pwrite(fd, "evil", 4, 1000), 4);
        close(fd);
        assert_version(p, &id, 1);
        ck_assert_int_eq(chmod(path, 0700), 0);
        ck_assert_int_eq(truncate(path, 10), 0);
        ck_assert_int_eq(chmod(path, 0555), 0);
        assert_version(p, &id, 1);
        unlink(path);
        ck_assert_int_eq(symlink("/bin/false", path), 0);
        assert_version(p, &id, 1);
        close_programs(p);
}
END_TEST

START_TEST(test_eviction)
{
        struct programs *p = open_programs_with(STORE_CREATE, 3 * SIZE + SIZE / 2); /* room for three */
        struct digest ids[6];
        char paths[6][PATH_SIZE];
        int fds[6];

        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
        empty_folder();
        for (unsigned n = 0; n < 3; n++) {
                assert_ok(programs_get(p, &ids[n], &fds[n], paths[n]));
                if (n != 1)
                        close(fds[n]);
                usleep(30000); /* file times move by up to ten milliseconds at once */
        }
        assert_ok(programs_get(p, &ids[0], &fds[0], paths[0])); /* used again */
        close(fds[0]);
        usleep(30000);
        assert_ok(programs_get(p, &ids[3], &fds[3], paths[3]));
        ck_assert_int_eq(access(paths[0], F_OK), 0);
        ck_assert_int_eq(access(paths[1], F_OK), 0); /* in use */
        ck_assert_int_eq(access(paths[2], F_OK), -1);
        ck_assert_int_eq(access(paths[3], F_OK), 0);
        assert_ok(programs_get(p, &ids[4], &fds[4], paths[4]));
        assert_ok(programs_get(p, &ids[5], &fds[5], paths[5])); /* four in use: more than the bound */
        ck_assert_int_eq(access(paths[0], F_OK), -1);
        ck_assert_uint_eq(count_files(), 4);
        for (unsigned n = 1; n < 6; n += n == 1 ? 2 : 1) {
                ck_assert_int_eq(access(paths[n], F_OK), 0);
                close(fds[n]);
        }
        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                assert_version(p, &ids[n], n);
        ck_assert_uint_eq(count_files(), 3);
        close_programs(p);
}
END_TEST

START_TEST(test_read_only)
{
        struct programs *p = open_programs();
        struct digest id, other;
        char data[100] = "x";

        put_version(p, 1, NULL, &id);
        close_programs(p);
        p = open_programs_with(STORE_READ_ONLY, 1 << 30);
        assert_error(put_bytes(p, data, sizeof(data), NULL, &other), EROFS);
        assert_error(programs_remove(p, &id), EROFS);
        assert_version(p, &id, 1);
        close_programs(p);
}
END_TEST

/* -- many at once: the same and different programs, evicted all the time, and run at once -- */

static struct digest shared_ids[4];
static _Atomic unsigned failures;

static void *get_and_run(void *user)
{
        struct programs *p = user;
        unsigned seed = (unsigned)(uintptr_t)&seed;

        for (unsigned i = 0; i < 40; i++) {
                const struct digest *id = &shared_ids[rand_r(&seed) % ARRAY_SIZE(shared_ids)];
                char path[PATH_SIZE], *argv[] = {path, NULL};
                int fd, status = -1;
                pid_t pid;

                if (programs_get(p, id, &fd, path) < 0 || posix_spawn(&pid, path, NULL, NULL, argv, NULL) != 0 ||
                    waitpid(pid, &status, 0) != pid || status != 0)
                        failures++;
                close(fd);
        }
        return NULL;
}

START_TEST(test_many_at_once)
{
        cleanup_blob struct blob program = {0};
        pthread_t threads[4];
        struct programs *p;
        int status;
        pid_t pid;

        assert_ok(read_file("/bin/true", 1 << 24, &program));
        p = open_programs_with(STORE_CREATE, 2 * program.size + 100);
        for (unsigned i = 0; i < ARRAY_SIZE(shared_ids); i++) { /* true, with something behind it */
                cleanup_buffer struct buffer b = {0};

                buffer_add(&b, program.data, program.size);
                buffer_addf(&b, "%u", i);
                assert_ok(put_bytes(p, b.data, b.size, i > 0 ? &shared_ids[i - 1] : NULL, &shared_ids[i]));
        }
        close_programs(p);
        pid = fork();
        p = open_programs_with(0, 2 * program.size + 100);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_create(&threads[i], NULL, get_and_run, p);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        if (pid == 0)
                _exit(failures > 0);
        ck_assert_uint_eq(failures, 0);
        waitpid(pid, &status, 0);
        ck_assert_int_eq(status, 0);
        close_programs(p);
}
END_TEST

SUITE("programs", test_put_get_run, test_empty_and_tiny, test_neighbours_are_small, test_near_that_is_not_there,
      test_remove_keeps_what_builds_on_it, test_damaged_in_the_store, test_lost_in_the_store, test_wrong_in_the_store,
      test_a_file_somebody_wrote_to_is_made_anew, test_eviction, test_read_only, test_many_at_once)
