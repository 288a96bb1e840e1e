#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

#include "cache/base/lock.h"
#include "cache/store/program_folder.h"
#include "cache/store/programs.h"

static struct programs *open_programs_with(bool read_only, uint64_t bound)
{
        static FILE *nowhere;
        struct programs *p;

        if (!nowhere)
                nowhere = fopen("log", "a");
        log_set(LOG_LEVEL_ERROR, nowhere);
        assert_ok(programs_open("s", read_only, bound, &p));
        return p;
}

static struct programs *open_programs(void)
{
        return open_programs_with(false, 1 << 30);
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

/* Names that do not begin with a dot, but for those with this beginning. */
static unsigned count_in(const char *dir, const char *but)
{
        DIR *d = opendir(dir);
        struct dirent *e;
        unsigned n = 0;

        while ((e = readdir(d)))
                n += e->d_name[0] != '.' || (but && strncmp(e->d_name, but, strlen(but)) == 0);
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
        ck_assert_int_eq(st.st_mtim.tv_nsec, 0); /* not every file system keeps them */
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
        programs_close(p);
        p = open_programs();
        ck_assert(programs_has(p, &id));
        programs_close(p);
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
        programs_close(p);
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
        programs_close(p);
}
END_TEST

START_TEST(test_near_that_is_not_there)
{
        struct programs *p = open_programs();
        struct digest absent = {{7}}, id;

        put_version(p, 3, &absent, &id);
        assert_version(p, &id, 3);
        programs_close(p);
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
                assert_ok(programs_remove(p, &ids[order[i]], 1, NULL));
                assert_ok(programs_remove(p, &ids[order[i]], 1, NULL)); /* it is not there, and that is what was wanted */
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
        programs_close(p);
}
END_TEST

static int by_bytes(const void *a, const void *b)
{
        return memcmp(a, b, DIGEST_SIZE);
}

/* All at once: what goes is not stored anew for what goes with it, and what stays has a chain of what stays. */
START_TEST(test_remove_many)
{
        struct programs *p = open_programs();
        struct digest ids[2 * PROGRAMS_CHAIN], going[ARRAY_SIZE(ids)], base;
        uint64_t stored;
        unsigned depth;
        size_t n = 0;

        for (unsigned i = 0; i < ARRAY_SIZE(ids); i++)
                put_version(p, i, i > 0 ? &ids[i - 1] : NULL, &ids[i]);
        for (unsigned i = 0; i < ARRAY_SIZE(ids); i++)
                if (i % 4 != 3)
                        going[n++] = ids[i];
        qsort(going, n, sizeof(*going), by_bytes);
        assert_ok(programs_remove(p, going, n, NULL));
        ck_assert_uint_eq(count_in("s/deltas", NULL), ARRAY_SIZE(ids) / 4);
        empty_folder();
        for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
                ck_assert_int_eq(programs_has(p, &ids[i]), i % 4 == 3);
                if (i % 4 == 3)
                        assert_version(p, &ids[i], i);
        }
        assert_ok(programs_info(p, &ids[3], &stored, &depth, &base));
        ck_assert_uint_eq(depth, 0);
        assert_ok(programs_info(p, &ids[7], &stored, &depth, &base));
        ck_assert(digest_equal(&base, &ids[3]));
        programs_close(p);
}
END_TEST

/* -- files that are not as they were written -- */

static const char *file_of(const struct digest *id)
{
        static char path[PATH_SIZE];

        strcpy(path, "s/deltas/");
        digest_hex(id, path + strlen(path));
        return path;
}

static void flip(const char *path, off_t at)
{
        int fd = open(path, O_RDWR);
        uint8_t byte;

        ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
        close(fd);
}

#define HEADER 104

/* `other` is sound, and has a file of its own. */
static void spoil(unsigned how, const struct digest *id, const struct digest *other)
{
        cleanup_blob struct blob b = {0};
        const char *path = file_of(id);
        struct stat st;

        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0600);
        if (how < HEADER)
                flip(path, how);
        else if (how == HEADER)
                flip(path, HEADER + (st.st_size - HEADER) / 2);
        else if (how == HEADER + 1)
                ck_assert_int_eq(unlink(path), 0);
        else if (how == HEADER + 2)
                ck_assert_int_eq(truncate(path, st.st_size - 1), 0);
        else if (how == HEADER + 3)
                ck_assert_int_eq(truncate(path, st.st_size + 1), 0);
        else if (how == HEADER + 4)
                ck_assert_int_eq(truncate(path, HEADER - 1), 0);
        else if (how == HEADER + 5)
                ck_assert_int_eq(truncate(path, 0), 0);
        else if (how == HEADER + 6) { /* a sound file, but of another program */
                assert_ok(read_file(file_of(other), SIZE_MAX / 2, &b));
                assert_ok(write_file_atomic(file_of(id), b.data, b.size, 0600));
        } else if (how == HEADER + 7) { /* a sound frame, but of another program */
                int fd = open(path, O_RDWR);

                assert_ok(read_file(file_of(other), SIZE_MAX / 2, &b));
                if ((off_t)b.size == st.st_size)
                        ck_assert_int_eq(pwrite(fd, (const char *)b.data + HEADER, b.size - HEADER, HEADER), (int)b.size - HEADER);
                else
                        ck_assert_int_eq(ftruncate(fd, HEADER), 0);
                close(fd);
        } else {
                ck_assert_int_eq(unlink(path), 0);
                ck_assert_int_eq(how == HEADER + 8 ? mkfifo(path, 0600) : symlink("/dev/zero", path), 0);
        }
}

#define WAYS (HEADER + 10)

/* Is that damage seen without decoding anything? */
static bool shows(unsigned how)
{
        return how != HEADER && how != HEADER + 7;
}

/* What does not come out right is not there, nor what builds on it; the rest is, and all can be stored again. */
START_TEST(test_damaged)
{
        struct programs *p = open_programs();
        struct digest ids[4], other;

        assert_ok(put_bytes(p, "another", 7, NULL, &other));
        for (unsigned how = 0; how < WAYS; how += how < HEADER ? 13 : 1)
                for (unsigned first = 0; first < 4; first++) {
                        int fd;

                        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
                        empty_folder();
                        spoil(how, &ids[1], &other);
                        for (unsigned n = 0; n < ARRAY_SIZE(ids) && shows(how); n++)
                                ck_assert_int_eq(programs_has(p, &ids[n]), n == 0);
                        if (first == 1)
                                assert_error(programs_get(p, &ids[1], &fd, NULL), ENOENT);
                        else if (first == 2) /* by way of what builds on it */
                                assert_error(programs_get(p, &ids[3], &fd, NULL), ENOENT);
                        else if (first == 3) /* 1 is what would have to be stored anew first */
                                assert_ok(programs_remove(p, &ids[0], 1, NULL));
                        for (unsigned n = 0; n < ARRAY_SIZE(ids) && (first == 1 || first == 2); n++)
                                ck_assert_msg(programs_has(p, &ids[n]) == (n == 0), "%u %u %u", how, first, n);
                        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) {
                                if (first == 0 && n > 0 && !shows(how))
                                        continue; /* nobody has read it yet */
                                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
                                assert_version(p, &ids[n], n);
                        }
                        assert_ok(programs_verify(p, &other, true));
                        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) /* the next round begins anew */
                                assert_ok(programs_remove(p, &ids[n], 1, NULL));
                        ck_assert_uint_eq(count_in("s/deltas", NULL), 1);
                }
        programs_close(p);
}
END_TEST

/* fsck's look: the same damage, with nothing changed, and with it. */
START_TEST(test_verify)
{
        struct programs *p = open_programs();
        struct digest ids[4], other;

        assert_ok(put_bytes(p, "another", 7, NULL, &other));
        for (unsigned how = 0; how < WAYS; how += how < HEADER ? 13 : 1) {
                for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) {
                        put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
                        assert_ok(programs_verify(p, &ids[n], false));
                }
                spoil(how, &ids[1], &other);
                for (unsigned n = 1; n < ARRAY_SIZE(ids); n++)
                        assert_error(programs_verify(p, &ids[n], true), how == HEADER + 1 && n == 1 ? ENOENT : EBADMSG);
                ck_assert_uint_eq(count_in("s/deltas", NULL), how == HEADER + 1 ? 4 : 5);
                assert_error(programs_verify(p, &ids[3], false), EBADMSG);
                for (unsigned n = 1; n < ARRAY_SIZE(ids); n++)
                        assert_error(programs_verify(p, &ids[n], false), ENOENT);
                assert_ok(programs_verify(p, &ids[0], false));
                assert_ok(programs_verify(p, &other, false));
                ck_assert_uint_eq(count_in("s/deltas", NULL), 2);
        }
        programs_close(p);
}
END_TEST

/* A file that was not finished goes with the next removal, a stranger's stays. */
START_TEST(test_left_by_killed_processes)
{
        struct programs *p = open_programs();
        struct digest id;
        char path[PATH_SIZE];

        put_version(p, 1, NULL, &id);
        snprintf(path, sizeof(path), "%s.a1B2c3", file_of(&id));
        assert_ok(write_file_atomic(path, "half", 4, 0600));
        assert_ok(write_file_atomic("s/deltas/notes", "mine", 4, 0600));
        ck_assert_uint_eq(count_in("s/deltas", NULL), 3);
        assert_ok(programs_remove(p, NULL, 0, NULL));
        ck_assert_uint_eq(count_in("s/deltas", NULL), 2);
        ck_assert_int_eq(access("s/deltas/notes", F_OK), 0);
        assert_version(p, &id, 1);
        programs_close(p);
}
END_TEST

/* The lock of a process that died while it materialized a program. */
START_TEST(test_a_lock_left_by_a_killed_process)
{
        struct programs *p = open_programs();
        struct digest id;
        int held;

        assert_ok(lock_try("s/programs", ".a.lock", LOCK_ALONE, &held));
        assert_ok(write_file_atomic("s/programs/.b.lock", "", 0, 0600));
        put_version(p, 1, NULL, &id);
        assert_version(p, &id, 1);
        ck_assert_int_eq(access("s/programs/.a.lock", F_OK), 0);
        ck_assert_int_lt(access("s/programs/.b.lock", F_OK), 0);
        lock_release_unlink("s/programs", ".a.lock", held);
        programs_close(p);
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
        programs_close(p);
}
END_TEST

START_TEST(test_eviction)
{
        struct programs *p = open_programs_with(false, 3 * SIZE + SIZE / 2); /* room for three */
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
        ck_assert_uint_eq(count_in("s/programs", ".new"), 4);
        for (unsigned n = 1; n < 6; n += n == 1 ? 2 : 1) {
                ck_assert_int_eq(access(paths[n], F_OK), 0);
                close(fds[n]);
        }
        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                assert_version(p, &ids[n], n);
        ck_assert_uint_eq(count_in("s/programs", ".new"), 3);
        programs_close(p);
}
END_TEST

/* Used while the clock was ahead: what is used now is newer. */
START_TEST(test_eviction_of_what_was_used_in_the_future)
{
        struct programs *p = open_programs_with(false, 3 * SIZE + SIZE / 2); /* room for three */
        const struct timespec times[2] = {{.tv_sec = time(NULL) + 86400}, {.tv_nsec = UTIME_OMIT}};
        struct digest ids[4];
        char paths[4][PATH_SIZE];
        int fd;

        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                put_version(p, n, n > 0 ? &ids[n - 1] : NULL, &ids[n]);
        empty_folder();
        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++) {
                assert_ok(programs_get(p, &ids[n], &fd, paths[n]));
                close(fd);
                usleep(30000);
                if (n == 1)
                        ck_assert_int_eq(utimensat(AT_FDCWD, paths[n], times, 0), 0);
        }
        for (unsigned n = 0; n < ARRAY_SIZE(ids); n++)
                ck_assert_int_eq(access(paths[n], F_OK), n == 1 ? -1 : 0);
        programs_close(p);
}
END_TEST

static int small_file(void *user, const struct digest *, struct blob *ret)
{
        *ret = (struct blob){.data = user, .size = strlen(user)};
        return 0;
}

/* Writes a small file, and returns true if the folder was listed for it: a listing sweeps what a killed process left. */
static bool is_listed_for(struct program_folder *f, unsigned n)
{
        char text[32];
        struct digest id;
        int fd;

        assert_ok(write_file_atomic("s/programs/.x.lock", "", 0, 0600));
        snprintf(text, sizeof(text), "%08u", n);
        digest_of(text, 8, &id);
        assert_ok(program_folder_get(f, &id, 8, small_file, text, &fd, NULL));
        close(fd);
        return access("s/programs/.x.lock", F_OK) < 0;
}

START_TEST(test_a_full_folder_of_small_files_is_seldom_listed)
{
        struct program_folder f = {0};
        unsigned listed = 0;

        assert_ok(program_folder_open(&f, "s", false, 800));
        f.is_lazy = true;
        for (unsigned i = 0; i < 500; i++) {
                listed += is_listed_for(&f, i);
                ck_assert_uint_le(count_in("s/programs", NULL), 100);
        }
        ck_assert_uint_le(listed, 50);
}
END_TEST

START_TEST(test_read_only)
{
        struct programs *p = open_programs();
        struct digest id, other;
        char data[100] = "x";

        put_version(p, 1, NULL, &id);
        programs_close(p);
        p = open_programs_with(true, 1 << 30);
        assert_error(put_bytes(p, data, sizeof(data), NULL, &other), EROFS);
        assert_error(programs_remove(p, &id, 1, NULL), EROFS);
        assert_version(p, &id, 1);
        programs_close(p);
}
END_TEST

/* -- many at once: the same and different programs, evicted all the time, and run at once -- */

static struct digest shared_ids[4];
static _Atomic unsigned failures;

static void *get_and_run(void *user)
{
        struct programs *p = user;
        unsigned seed = test_seed_fresh();

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
        p = open_programs_with(false, 2 * program.size + 100);
        for (unsigned i = 0; i < ARRAY_SIZE(shared_ids); i++) { /* true, with something behind it */
                cleanup_buffer struct buffer b = {0};

                buffer_add(&b, program.data, program.size);
                buffer_addf(&b, "%u", i);
                assert_ok(put_bytes(p, b.data, b.size, i > 0 ? &shared_ids[i - 1] : NULL, &shared_ids[i]));
        }
        programs_close(p);
        pid = fork();
        p = open_programs_with(false, 2 * program.size + 100);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_create(&threads[i], NULL, get_and_run, p);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        if (pid == 0)
                _exit(failures > 0);
        ck_assert_uint_eq(failures, 0);
        waitpid(pid, &status, 0);
        ck_assert_int_eq(status, 0);
        programs_close(p);
}
END_TEST

/* -- several processes that store and remove the same and neighbouring programs -- */

#define VERSIONS 24

static struct digest version_ids[VERSIONS];

static int put_and_remove(unsigned seed)
{
        struct programs *p = open_programs();

        for (unsigned i = 0; i < 60; i++) {
                unsigned n = (unsigned)rand_r(&seed) % VERSIONS, near = (unsigned)rand_r(&seed) % VERSIONS;
                struct digest id;
                int fd, r;

                if (rand_r(&seed) % 3 == 0) {
                        assert_ok(programs_remove(p, &version_ids[n], 1, NULL));
                } else {
                        put_version(p, n, &version_ids[near], &id);
                        ck_assert(digest_equal(&id, &version_ids[n]));
                }
                r = programs_get(p, &version_ids[near], &fd, NULL);
                ck_assert(r == 0 || r == -ENOENT);
                if (r == 0)
                        close(fd);
                r = programs_verify(p, &version_ids[near], true);
                ck_assert_msg(r == 0 || r == -ENOENT || r == -EBADMSG, "%d", r); /* looking takes no lock */
        }
        programs_close(p);
        return 0;
}

START_TEST(test_processes_store_and_remove)
{
        pid_t pids[4];
        struct programs *p;

        for (unsigned n = 0; n < VERSIONS; n++) {
                char data[SIZE + 100];

                digest_of(data, version(n, data), &version_ids[n]);
        }
        for (unsigned i = 0; i < ARRAY_SIZE(pids); i++) {
                pids[i] = fork();
                if (pids[i] == 0)
                        _exit(put_and_remove(test_seed(i + 1)));
        }
        for (unsigned i = 0; i < ARRAY_SIZE(pids); i++) {
                int status;

                ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
                ck_assert_int_eq(status, 0);
        }
        p = open_programs();
        for (unsigned n = 0; n < VERSIONS; n++)
                if (programs_has(p, &version_ids[n])) {
                        assert_ok(programs_verify(p, &version_ids[n], true));
                        empty_folder();
                        assert_version(p, &version_ids[n], n);
                }
        programs_close(p);
        ck_assert_int_eq(system("! grep . log"), 0); /* nobody took anything for damaged */
}
END_TEST

SUITE("programs", test_put_get_run, test_empty_and_tiny, test_neighbours_are_small, test_near_that_is_not_there,
      test_remove_keeps_what_builds_on_it, test_remove_many, test_damaged, test_verify, test_left_by_killed_processes,
      test_a_lock_left_by_a_killed_process, test_a_file_somebody_wrote_to_is_made_anew, test_eviction,
      test_eviction_of_what_was_used_in_the_future, test_a_full_folder_of_small_files_is_seldom_listed, test_read_only,
      test_many_at_once, test_processes_store_and_remove)
