#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "core/cases/cases.h"
#include "core/cases/unpack.h"

static struct store *store;
static const struct cases_tables tables = {.cases = 0, .names = 1, .digests = 2};

static struct cases *open_cases_with(int flags)
{
        static const char *const list[] = {"cases", "case-names", "case-digests"};
        struct cases *c;

        assert_ok(store_open("s", list, ARRAY_SIZE(list), flags, &store));
        assert_ok(cases_open(store, &tables, &c));
        return c;
}

static struct cases *open_cases(void)
{
        return open_cases_with(STORE_CREATE);
}

static void close_cases(struct cases *c)
{
        cases_close(c);
        store_close(store);
}

static int add_bytes(struct cases *c, const char *name, const void *bytes, size_t size, uint32_t *ret_id, bool *ret_new)
{
        char path[] = "input.XXXXXX";
        int fd = mkstemp(path), r;

        assert_ok(write_all(fd, bytes, size));
        r = cases_add(c, name, fd, ret_id, ret_new);
        close(fd);
        unlink(path);
        return r;
}

static int add(struct cases *c, const char *name, const char *text, uint32_t *ret_id)
{
        bool is_new;

        return add_bytes(c, name, text, strlen(text), ret_id, &is_new);
}

static void assert_bytes(struct cases *c, uint32_t id, const char *text)
{
        cleanup_blob struct blob b = {0};
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        char path[PATH_SIZE];
        struct stat st;
        int fd;

        assert_ok(cases_get(c, id, &i));
        assert_ok(cases_open_bytes(c, i, &fd, path));
        assert_ok(read_fd(fd, 1 << 20, &b));
        ck_assert_uint_eq(b.size, strlen(text));
        ck_assert_int_eq(memcmp(b.data, text, b.size), 0);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0444);
        ck_assert_int_eq(access(path, R_OK), 0);
        close(fd);
}

static const char *list(struct cases *c)
{
        static char text[256];
        uint32_t *ids;
        size_t n;

        text[0] = '\0';
        assert_ok(cases_list(c, &ids, &n));
        for (size_t i = 0; i < n; i++)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ", ids[i]);
        free(ids);
        return text;
}

static size_t count(struct cases *c)
{
        uint32_t *ids;
        size_t n;

        assert_ok(cases_list(c, &ids, &n));
        free(ids);
        return n;
}

static const char sat[] = "(set-logic QF_S)(set-info :status sat)(check-sat)";

START_TEST(test_add_and_find)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL, *j = NULL, *k = NULL;
        struct cases *c = open_cases();
        uint64_t generation;
        uint32_t id;
        bool is_new;

        ck_assert_str_eq(list(c), "");
        generation = cases_generation(c);
        assert_ok(add_bytes(c, "a/b.smt2", sat, strlen(sat), &id, &is_new));
        ck_assert_uint_eq(id, 1);
        ck_assert(is_new);
        ck_assert_uint_ne(cases_generation(c), generation);
        generation = cases_generation(c);
        assert_ok(add_bytes(c, "other.smt2", sat, strlen(sat), &id, &is_new)); /* the same bytes are the same case */
        ck_assert_uint_eq(id, 1);
        ck_assert(!is_new);
        ck_assert_uint_eq(cases_generation(c), generation);
        assert_ok(add(c, "f.cnf", "p cnf 1 1\n1 0\n", &id));
        ck_assert_uint_eq(id, 2);
        ck_assert_str_eq(list(c), "1 2 ");
        close_cases(c);

        c = open_cases();
        assert_ok(cases_get(c, 1, &i));
        ck_assert_str_eq(i->name, "a/b.smt2");
        ck_assert_str_eq(i->logic, "QF_S");
        ck_assert_uint_eq(i->status, VERDICT_SAT);
        ck_assert_uint_eq(i->n_expected, 1);
        ck_assert_uint_eq(i->expected[0], VERDICT_SAT);
        ck_assert_uint_eq(i->format, FORMAT_SMT2);
        ck_assert_uint_eq(i->size, strlen(sat));
        ck_assert(!i->removed);
        ck_assert_int_ge(i->added, now_seconds() - 100);
        assert_ok(cases_find(c, "f.cnf", &j));
        ck_assert_uint_eq(j->id, 2);
        ck_assert_uint_eq(j->format, FORMAT_CNF);
        ck_assert_str_eq(j->logic, "cnf");
        assert_ok(cases_find_digest(c, &i->sha256, &k));
        ck_assert_uint_eq(k->id, 1);
        assert_error(cases_find(c, "other.smt2", &k), ENOENT);
        assert_error(cases_find(c, "a", &k), ENOENT);
        assert_error(cases_get(c, 3, &k), ENOENT);
        ck_assert_ptr_nonnull(strstr(error_message(-ENOENT), "case 3"));
        assert_error(cases_get(c, 0, &k), ENOENT);
        assert_bytes(c, 1, sat);
        ck_assert_int_eq(cases_check(c, NULL, NULL), 0);
        close_cases(c);
}
END_TEST

START_TEST(test_renamed)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL, *j = NULL;
        struct cases *c = open_cases();
        uint32_t id;

        assert_ok(add(c, "tmp", "p cnf 0 0", &id));
        assert_ok(add(c, "x/b", "; two", &id));
        assert_error(cases_rename(c, 1, "a.smt2"), EINVAL); /* its bytes would be no case of that name */
        assert_error(cases_rename(c, 2, "b.cnf"), EINVAL);
        assert_error(cases_rename(c, 1, "x/b"), EEXIST);
        assert_error(cases_rename(c, 1, "x"), EEXIST); /* a folder of names */
        assert_error(cases_rename(c, 1, "../x"), EINVAL);
        assert_error(cases_rename(c, 7, "y"), ENOENT);
        assert_ok(cases_rename(c, 1, "tmp"));
        assert_ok(cases_get(c, 1, &i));
        ck_assert_int_eq(i->format, FORMAT_CNF);
        assert_ok(cases_rename(c, 1, "x/a.cnf"));
        assert_error(cases_find(c, "tmp", &j), ENOENT);
        assert_ok(cases_find(c, "x/a.cnf", &j));
        ck_assert_uint_eq(j->id, 1);
        ck_assert_int_eq(j->format, FORMAT_CNF);
        ck_assert(digest_equal(&i->sha256, &j->sha256) && i->added == j->added && i->size == j->size);
        assert_bytes(c, 1, "p cnf 0 0");
        assert_ok(cases_remove(c, 1));
        assert_error(cases_rename(c, 1, "y"), ENOENT);
        assert_ok(add(c, "tmp", "three", &id)); /* the name is free again */
        cases_close(c);
}
END_TEST

static _Atomic pid_t renamer;

static void *rename_it(void *c)
{
        renamer = gettid();
        return (void *)(intptr_t)cases_rename(c, 1, "a.cnf");
}

static bool renamer_sleeps(void)
{
        char path[64], state = '?';
        FILE *f;

        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)renamer);
        f = renamer > 0 ? fopen(path, "re") : NULL;
        if (f) {
                ck_assert_int_eq(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
                fclose(f);
        }
        return state == 'S';
}

/* The bytes are looked at before the transaction, which may take seconds. */
START_TEST(test_status_set_while_renamed)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_blob struct blob b = {0};
        struct cases *c = open_cases();
        struct store_txn *t;
        pthread_t renaming;
        unsigned sleeping = 0;
        uint8_t key[4];
        void *failed;
        uint32_t id;

        assert_ok(add(c, "tmp", "p cnf 1 1\n1 0\n", &id));
        key_u32(key, id);
        assert_ok(store_fetch(store, tables.cases, SLICE(key, 4), &b));
        ((uint8_t *)b.data)[3] = VERDICT_SAT;
        assert_ok(store_write(store, &t));
        ck_assert_int_eq(pthread_create(&renaming, NULL, rename_it, c), 0);
        while (sleeping < 3) { /* then it waits for the transaction */
                usleep(1000);
                sleeping = renamer_sleeps() ? sleeping + 1 : 0;
        }
        assert_ok(store_put(t, tables.cases, SLICE(key, 4), SLICE(b.data, b.size)));
        assert_ok(store_commit(t));
        pthread_join(renaming, &failed);
        ck_assert_ptr_null(failed);
        assert_ok(cases_find(c, "a.cnf", &info));
        ck_assert_int_eq(info->status, VERDICT_SAT);
        close_cases(c);
}
END_TEST

START_TEST(test_compressed)
{
        static const struct {
                const char *bytes, *command;
                size_t size;
        } rows[] = {
                {"\x1f\x8b\x08\0\0", "gzip -d", 5},  {"\xfd\x37zXZ\0\0", "xz -d", 7},    {"BZh91AY", "bzip2 -d", 7},
                {"\x28\xb5\x2f\xfd$", "zstd -d", 5}, {"PK\x03\x04\x14", "unzip", 5},     {"\x5d\0\0\x80", "xz -d", 4},
                {"7z\xbc\xaf\x27\x1c\0", "7z x", 7}, {"\x04\x22\x4d\x18x", "lz4 -d", 5},
        };
        struct cases *c = open_cases();
        uint32_t id;
        bool is_new;

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                assert_error(add_bytes(c, "a.cnf.x", rows[i].bytes, rows[i].size, &id, &is_new), EINVAL);
                ck_assert_ptr_nonnull(strstr(error_message(-EINVAL), rows[i].command));
        }
        ck_assert_str_eq(list(c), "");
        cases_close(c);
}
END_TEST

static int ignore_block(void *user, const void *block, size_t n)
{
        return 0;
}

START_TEST(test_a_file_that_cannot_be_read_is_not_damaged)
{
        int fd = open(".", O_RDONLY | O_DIRECTORY);

        assert_error(unpack_each("folder", fd, ignore_block, NULL), EISDIR);
        close(fd);
}
END_TEST

START_TEST(test_removed_and_back)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL, *j = NULL, *k = NULL;
        struct cases *c = open_cases();
        uint32_t id;
        bool is_new;

        assert_ok(add(c, "x/a", "one", &id));
        assert_ok(add(c, "x/b", "two", &id));
        assert_ok(cases_remove(c, 2));
        assert_error(cases_remove(c, 2), ENOENT);
        assert_error(cases_remove(c, 7), ENOENT);
        ck_assert_str_eq(list(c), "1 ");
        assert_error(cases_find(c, "x/b", &i), ENOENT);
        assert_ok(cases_get(c, 2, &i)); /* facts stay, and so does what they are about */
        ck_assert(i->removed);
        assert_bytes(c, 2, "two");
        assert_ok(add(c, "y", "three", &id)); /* the number is not given again */
        ck_assert_uint_eq(id, 3);
        assert_ok(add_bytes(c, "z", "two", 3, &id, &is_new)); /* it comes back under its first name */
        ck_assert_uint_eq(id, 2);
        ck_assert(!is_new);
        assert_ok(cases_find(c, "x/b", &j));
        ck_assert_uint_eq(j->id, 2);
        ck_assert(!j->removed);
        ck_assert_str_eq(list(c), "1 2 3 ");
        assert_ok(cases_remove(c, 2));
        assert_ok(add(c, "x/b", "four", &id)); /* now others have its name */
        ck_assert_uint_eq(id, 4);
        assert_error(add(c, "y", "two", &id), EEXIST);
        assert_ok(add(c, "z", "two", &id));
        ck_assert_uint_eq(id, 2);
        assert_ok(cases_find(c, "z", &k));
        ck_assert_uint_eq(k->id, 2);
        ck_assert_str_eq(list(c), "1 2 3 4 ");
        close_cases(c);
}
END_TEST

START_TEST(test_names_in_use)
{
        struct cases *c = open_cases();
        uint32_t id;

        assert_ok(add(c, "a", "one", &id));
        assert_error(add(c, "a", "two", &id), EEXIST);
        ck_assert_ptr_nonnull(strstr(error_message(-EEXIST), "case 1"));
        assert_ok(add(c, "b/c/d", "two", &id));
        assert_error(add(c, "a/e", "three", &id), EEXIST); /* a is no folder */
        assert_error(add(c, "b/c", "three", &id), EEXIST); /* b/c is one */
        assert_error(add(c, "a", "two", &id), EEXIST);     /* known bytes, but not the name's */
        assert_ok(add(c, "b/c/e", "three", &id));
        ck_assert_uint_eq(id, 3);
        assert_ok(cases_remove(c, 2));
        assert_error(add(c, "b/c", "four", &id), EEXIST);
        assert_ok(cases_remove(c, 3));
        assert_ok(add(c, "b/c", "four", &id)); /* the folder is empty, and so gone */
        ck_assert_uint_eq(id, 4);
        ck_assert_str_eq(list(c), "1 4 ");
        close_cases(c);
}
END_TEST

START_TEST(test_bad_and_strange_names)
{
        static const char *const bad[] = {"", ".", "..", "/a", "a/", "a//b", "a/../b", "../a", "./a", "a/.", "/"};
        static const char *const strange[] = {"\n", "a b", "'", "\"", "\xff\xfe", "...", "..a", "a/..b", "-rf", "*"};
        struct cases *c = open_cases();
        cleanup_free char *name = malloc(5000);
        uint32_t id;

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                ck_assert_msg(add(c, bad[i], "x", &id) == -EINVAL, "%s", bad[i]);
        for (size_t i = 0; i < ARRAY_SIZE(strange); i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                assert_ok(add(c, strange[i], strange[i], &id));
                assert_ok(cases_find(c, strange[i], &info));
                ck_assert_str_eq(info->name, strange[i]);
        }
        memset(name, 'n', 5000);
        name[256] = '\0';
        assert_error(add(c, name, "x", &id), EINVAL);
        name[255] = '\0';
        assert_ok(add(c, name, "255", &id));
        name[255] = name[256] = 'n';
        for (size_t i = 200; i < 5000; i += 200)
                name[i] = '/';
        name[4097] = '\0';
        assert_error(add(c, name, "x", &id), EINVAL);
        name[4096] = '\0';
        assert_ok(add(c, name, "4096", &id));
        name[4090] = '\0';
        assert_ok(add(c, name, "4090", &id)); /* too long for a key of its own, and told apart all the same */
        name[4000] = '\0';
        assert_error(add(c, name, "x", &id), EEXIST);
        close_cases(c);
}
END_TEST

START_TEST(test_staging)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        struct cases *c = open_cases();
        char staged[PATH_SIZE];
        struct stat st;
        uint32_t id;
        bool is_new;
        int fd;

        umask(0777);
        assert_ok(cases_stage(c, &fd, staged));
        ck_assert_int_eq(stat(staged, &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0600);
        assert_ok(write_all(fd, sat, strlen(sat)));
        assert_ok(cases_commit_given(c, "s.smt2", fd, staged, &id, &is_new));
        umask(022);
        close(fd);
        ck_assert_int_eq(access(staged, F_OK), -1);
        assert_ok(cases_get(c, id, &i));
        ck_assert_str_eq(i->logic, "QF_S");
        assert_bytes(c, id, sat);
        assert_ok(cases_stage(c, &fd, staged));
        assert_error(cases_commit_given(c, "..", fd, staged, &id, &is_new), EINVAL);
        ck_assert_int_eq(access(staged, F_OK), 0); /* the caller's to unlink */
        unlink(staged);
        close(fd);
        close_cases(c);
        ck_assert_int_eq(stat("s/cases", &st), 0);
        ck_assert_int_eq(st.st_mode & 07777, 0700);
}
END_TEST

START_TEST(test_left_over_files_are_swept)
{
        struct cases *c = open_cases();
        const time_t future = time(NULL) + 2 * 86400; /* the clock was wrong */
        const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}}, ahead[2] = {{.tv_sec = future}, {.tv_sec = future}};
        char held[PATH_SIZE], left[PATH_SIZE], fresh[PATH_SIZE], odd[PATH_SIZE];
        int held_fd, left_fd, fresh_fd, odd_fd;

        assert_ok(cases_stage(c, &held_fd, held));
        assert_ok(cases_stage(c, &left_fd, left));
        assert_ok(cases_stage(c, &fresh_fd, fresh));
        assert_ok(cases_stage(c, &odd_fd, odd));
        ck_assert_int_eq(futimens(odd_fd, ahead), 0);
        close(odd_fd);
        ck_assert_int_eq(futimens(held_fd, old), 0);
        ck_assert_int_eq(futimens(left_fd, old), 0);
        close(left_fd);
        close(fresh_fd);
        close_cases(c);
        c = open_cases();
        ck_assert_int_eq(access(held, F_OK), 0);
        ck_assert_int_eq(access(fresh, F_OK), 0);
        ck_assert_int_eq(access(left, F_OK), -1);
        ck_assert_int_eq(access(odd, F_OK), -1);
        close(held_fd);
        close_cases(c);
}
END_TEST

static void say(void *user, const char *line)
{
        snprintf(user, 1024, "%s", line);
}

START_TEST(test_damaged_bytes)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        struct cases *c = open_cases();
        char path[PATH_SIZE], line[1024] = "";
        uint32_t id;
        int fd;

        assert_ok(add(c, "a", "good bytes", &id));
        assert_ok(cases_get(c, id, &i));
        assert_ok(cases_open_bytes(c, i, &fd, path));
        close(fd);
        close_cases(c);

        ck_assert_int_eq(chmod(path, 0600), 0);
        fd = open(path, O_WRONLY | O_TRUNC);
        assert_ok(write_all(fd, "evil bytes", 10));
        close(fd);
        c = open_cases();
        assert_error(cases_open_bytes(c, i, &fd, path), EILSEQ);
        ck_assert_int_eq(cases_check(c, say, line), 1);
        ck_assert_ptr_nonnull(strstr(line, "case 1"));
        ck_assert_int_eq(truncate(path, 5), 0);
        assert_error(cases_open_bytes(c, i, &fd, path), EILSEQ);
        unlink(path);
        assert_error(cases_open_bytes(c, i, &fd, path), EILSEQ);
        ck_assert_int_eq(cases_check(c, NULL, NULL), 1);
        assert_ok(add(c, "a", "good bytes", &id)); /* which repairs it */
        ck_assert_uint_eq(id, 1);
        assert_bytes(c, 1, "good bytes");
        ck_assert_int_eq(cases_check(c, NULL, NULL), 0);
        close_cases(c);
}
END_TEST

START_TEST(test_read_only)
{
        struct cases *c = open_cases();
        char staged[PATH_SIZE];
        uint32_t id;
        int fd;

        assert_ok(add(c, "a", "one", &id));
        close_cases(c);
        c = open_cases_with(STORE_READ_ONLY);
        assert_error(add(c, "b", "two", &id), EROFS);
        assert_error(cases_stage(c, &fd, staged), EROFS);
        assert_error(cases_remove(c, 1), EROFS);
        assert_bytes(c, 1, "one");
        close_cases(c);
}
END_TEST

START_TEST(test_strange_contents)
{
        struct cases *c = open_cases();
        char binary[5000];
        uint32_t id;
        bool is_new;

        for (size_t i = 0; i < sizeof(binary); i++)
                binary[i] = (char)(i * 7);
        assert_error(add_bytes(c, "empty", "", 0, &id, &is_new), EINVAL);
        ck_assert_str_eq(list(c), "");
        assert_ok(add_bytes(c, "binary", binary, sizeof(binary), &id, &is_new));
        ck_assert_int_eq(cases_check(c, NULL, NULL), 0);
        close_cases(c);
}
END_TEST

/* Killed at any moment: ids stay dense, and what was acknowledged is whole. */
START_TEST(test_kill_while_adding)
{
        uint32_t acknowledged = 0;

        for (unsigned round = 0; round < 12; round++) {
                struct cases *c;
                int pipes[2];
                uint32_t n;
                pid_t pid;

                ck_assert_int_eq(pipe(pipes), 0);
                pid = fork();
                if (pid == 0) {
                        c = open_cases();
                        for (unsigned i = 0;; i++) {
                                char name[32];

                                snprintf(name, sizeof(name), "%u/%u", round, i);
                                if (add(c, name, name, &n) < 0 || write(pipes[1], &n, sizeof(n)) != sizeof(n))
                                        _exit(1);
                        }
                }
                close(pipes[1]);
                if (round == 0) { /* on a loaded machine it may else be killed before its first one each time */
                        ck_assert_int_eq(read(pipes[0], &n, sizeof(n)), sizeof(n));
                        acknowledged = n;
                }
                usleep(1000 * (10 + round * 11 % 50));
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                while (read(pipes[0], &n, sizeof(n)) == sizeof(n)) {
                        ck_assert_uint_gt(n, acknowledged);
                        acknowledged = n;
                }
                close(pipes[0]);
                c = open_cases();
                n = (uint32_t)count(c); /* none is removed: they are 1 to n */
                ck_assert_uint_ge(n, acknowledged);
                ck_assert_uint_le(n, acknowledged + 1);
                for (uint32_t id = 1; id <= n; id++) {
                        struct case_info *i;

                        assert_ok(cases_get(c, id, &i));
                        assert_bytes(c, id, i->name);
                        case_info_unref(i);
                }
                acknowledged = n;
                close_cases(c);
        }
        ck_assert_uint_gt(acknowledged, 0);
}
END_TEST

/* -- derived cases -- */

static unsigned asked, forgotten;

static bool is_wanted(void *user, const struct case_info *info)
{
        asked++;
        return user && info->id == *(const uint32_t *)user;
}

static int forget(void *, const struct case_info *)
{
        forgotten++;
        return 0;
}

static uint64_t sweep_derived(struct cases *c, bool dry_run, int64_t seconds, uint32_t *wanted)
{
        const struct derived_sweep s = {.dry_run = dry_run, .seconds = seconds, .is_wanted = is_wanted, .forget = forget, .user = wanted};
        uint64_t n, bytes;

        asked = forgotten = 0;
        assert_ok(cases_sweep_derived(c, &s, &n, &bytes));
        ck_assert(n == 0 || bytes > 0);
        return n;
}

/* What nobody has a use for goes, with its bytes, and is added again under another id. */
START_TEST(test_derived_are_swept)
{
        const int64_t soon = -1000; /* as if so many seconds had gone by */
        struct cases *c = open_cases();
        struct case_info *info;
        uint32_t ids[6], id;
        uint64_t n, bytes;

        assert_ok(add(c, "a.smt2", "(check-sat)", &ids[0]));
        assert_ok(cases_add_unlisted(c, "b.smt2", slice_string("(assert b)"), &ids[1]));
        assert_ok(cases_add_derived(c, "d/1.smt2", slice_string("(assert c)"), &ids[2]));
        assert_ok(cases_add_derived(c, "d/2.smt2", slice_string("(assert d)"), &ids[3]));
        assert_ok(cases_add_derived(c, "d/3.smt2", slice_string("(check-sat)"), &id)); /* a case that people gave stays theirs */
        ck_assert_uint_eq(id, ids[0]);
        assert_ok(cases_add_derived(c, "d/3.smt2", slice_string("(assert b)"), &id));
        ck_assert_uint_eq(id, ids[1]);
        ck_assert_str_eq(list(c), "1 ");
        close_cases(c);

        c = open_cases();
        assert_ok(cases_get(c, ids[2], &info));
        ck_assert(info->derived && info->removed);
        case_info_unref(info);
        ck_assert_uint_eq(sweep_derived(c, false, 1000, NULL), 0); /* it was made just now */
        ck_assert_uint_eq(asked, 0);
        ck_assert_uint_eq(sweep_derived(c, true, soon, &ids[2]), 1);
        ck_assert_uint_eq(forgotten, 0);
        ck_assert_uint_eq(sweep_derived(c, false, soon, &ids[2]), 1);
        ck_assert_uint_eq(forgotten, 1);
        assert_error(cases_get(c, ids[3], &info), ENOENT);
        assert_bytes(c, ids[2], "(assert c)");
        ck_assert_uint_eq(sweep_derived(c, false, soon, &ids[2]), 0);
        assert_ok(cases_sweep(c, true, &n, &bytes)); /* no bytes are left */
        ck_assert_uint_eq(n, 0);
        ck_assert_int_eq(cases_check(c, NULL, NULL), 0);
        assert_ok(cases_add_derived(c, "d/2.smt2", slice_string("(assert d)"), &id));
        ck_assert_uint_gt(id, ids[3]);
        assert_bytes(c, id, "(assert d)");
        close_cases(c);
}
END_TEST

/* Who adds a derived case, listed or not, keeps it; a listed one has the name it was given then. */
START_TEST(test_derived_that_are_added)
{
        const int64_t soon = -1000; /* as if so many seconds had gone by */
        struct cases *c = open_cases();
        uint32_t found, listed, removed, id;
        struct case_info *info;

        assert_ok(cases_add_derived(c, "d/1.smt2", slice_string("(assert a)"), &found));
        assert_ok(cases_add_derived(c, "d/2.smt2", slice_string("(assert b)"), &listed));
        assert_ok(cases_add_derived(c, "d/3.smt2", slice_string("(assert c)"), &removed));
        assert_ok(cases_add_unlisted(c, "found.smt2", slice_string("(assert a)"), &id));
        ck_assert_uint_eq(id, found);
        assert_ok(add(c, "mine.smt2", "(assert b)", &id));
        ck_assert_uint_eq(id, listed);
        assert_ok(add(c, "gone.smt2", "(assert c)", &id));
        assert_ok(cases_remove(c, id));
        assert_ok(cases_find(c, "mine.smt2", &info));
        ck_assert_uint_eq(info->id, listed);
        case_info_unref(info);
        assert_ok(cases_set_status(c, found, VERDICT_UNKNOWN));
        ck_assert_uint_eq(sweep_derived(c, false, soon, NULL), 0);
        assert_bytes(c, removed, "(assert c)");
        close_cases(c);
}
END_TEST

/* The name of an unlisted case is nobody's: who lists it chooses one, and a campaign does not take it back. */
START_TEST(test_unlisted_that_is_listed)
{
        struct cases *c = open_cases();
        struct case_info *info;
        uint32_t found, id;

        assert_ok(cases_add_unlisted(c, "fuzz-1.smt2", slice_string("(assert a)"), &found));
        assert_ok(add(c, "regress/x.smt2", "(assert a)", &id));
        ck_assert_uint_eq(id, found);
        assert_ok(cases_find(c, "regress/x.smt2", &info));
        case_info_unref(info);
        assert_ok(cases_remove(c, id));
        assert_ok(cases_add_unlisted(c, "fuzz-2.smt2", slice_string("(assert a)"), &id));
        assert_ok(add(c, "y.smt2", "(assert a)", &id));
        assert_ok(cases_get(c, found, &info));
        ck_assert_str_eq(info->name, "regress/x.smt2"); /* the first name that was given stays */
        case_info_unref(info);
        close_cases(c);
}
END_TEST

/* -- what a case says of itself -- */

static const char *scan(enum format format, const char *text, size_t size)
{
        static char line[256];
        enum verdict status, *expected;
        char *logic;
        size_t n;

        case_scan(format, SLICE(text, size), &logic, &status, &expected, &n);
        snprintf(line, sizeof(line), "%s %s:", logic, verdict_name(status));
        for (size_t i = 0; i < n; i++)
                snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s", verdict_name(expected[i]));
        free(logic);
        free(expected);
        return line;
}

START_TEST(test_scan)
{
        static const struct {
                const char *text, *expected;
        } rows[] = {
                {"", "none unknown:"},
                {"(set-logic QF_S)\n(set-info :status unsat)\n(assert true)\n(check-sat)\n(exit)", "QF_S unsat: unsat"},
                {"( set-logic ; comment (set-logic B)\n |QF_LIA| ) ( check-sat ; )\n )", "QF_LIA unknown: unknown"},
                {"(set-info :status sat)(check-sat)(set-info :status unsat)(check-sat)(check-sat)",
                 "none unknown: sat unsat unknown"}, /* the case's status is its last question's */
                {"(set-info :status sat)(check-sat)(check-sat)(set-info :status unsat)", "none unknown: sat unknown"},
                {"(check-sat)(set-info :status sat)", "none unknown: unknown"},
                {"(set-info :status sat)(set-info :status unsat)", "none unsat:"},
                {"(set-info :status sat)(push 1)(check-sat-assuming (a b))(pop 1)", "none sat: sat"},
                {"(set-info :status sat)(check-sat-using (then simplify smt))(check-sat-assuming-model (x) (1))(query p)(get-consequences (a) (b))",
                 "none unknown: sat unknown unknown unknown"},
                {"(set-info :status maybe)(check-sat)", "none unknown: unknown"},
                {"(set-info :source |(set-logic A)(check-sat)|)(set-logic B)", "B unknown:"},
                {"(assert (= x \"(check-sat)\"))(assert (= y \"a\"\"(check-sat)\"))(check-sat)", "none unknown: unknown"},
                {"(set-info :smt-lib-version 2.0)(set-info :status unsat)(assert (= x \"a\\\"b\"))(check-sat)", "none unsat: unsat"},
                {"(set-info :smt-lib-version 2.6)(set-info :status unsat)(assert (= x \"a\\\"\"b\"))(check-sat)", "none unsat: unsat"},
                {"; (check-sat)\n(check-sat) ; (check-sat)", "none unknown: unknown"},
                {"(define-fun check-sat () Bool true)(assert (check-sat))(check-synth)(query-all)(get-model)", "none unknown:"},
                {"(set-option :status sat)(set-info :statusx sat)(echo \"x\")", "none unknown:"},
                {"))))(((check-sat)", "none unknown:"},
                {")))(check-sat)", "none unknown: unknown"},
                {"(set-logic", "none unknown:"},
                {"(set-logic |", "none unknown:"},
                {"(set-logic ||)(check-sat", "none unknown: unknown"},
                {"(\"", "none unknown:"},
                {"(set-info :status", "none unknown:"},
                {"(check-sat", "none unknown: unknown"},
                {"(check-sat)(echo \"(exit)\")(assert (exit))(check-sat) (|exit| ) (check-sat)(set-info :status sat)",
                 "none unknown: unknown unknown"},
                {";", "none unknown:"},
                {"hello world", "none unknown:"},
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                /* without a NUL behind it, so that reading too far is found out by the sanitizer */
                size_t size = strlen(rows[i].text);
                cleanup_free char *text = malloc(size ? size : 1);

                memcpy(text, rows[i].text, size);
                ck_assert_str_eq(scan(FORMAT_SMT2, text, size), rows[i].expected);
                for (size_t n = 0; n < size; n++) { /* cut anywhere it does no harm */
                        cleanup_free char *cut = malloc(n ? n : 1);

                        memcpy(cut, text, n);
                        scan(FORMAT_SMT2, cut, n);
                }
        }
        ck_assert_str_eq(scan(FORMAT_SMT2, "\0(check-sat)\0", 13), "none unknown: unknown");
        ck_assert_str_eq(scan(FORMAT_CNF, "p cnf 1 1\n1 0\n", 14), "cnf unknown:");
}
END_TEST

START_TEST(test_format)
{
        ck_assert_int_eq(case_format("a.smt2", slice_string("p cnf 1 1\n")), FORMAT_SMT2);
        ck_assert_int_eq(case_format("a.SMT2", slice_string("")), FORMAT_SMT2);
        ck_assert_int_eq(case_format("a.cnf", slice_string("(check-sat)")), FORMAT_CNF);
        ck_assert_int_eq(case_format("a.dimacs", slice_string("")), FORMAT_CNF);
        ck_assert_int_eq(case_format("a", slice_string("c comment\nc\n\np cnf 1 1\n1 0")), FORMAT_CNF);
        ck_assert_int_eq(case_format("a", slice_string("p cnf 1 1\n1 0")), FORMAT_CNF);
        ck_assert_int_eq(case_format("a", slice_string("(p cnf 1 1)")), FORMAT_SMT2);
        ck_assert_int_eq(case_format("a", slice_string("(check-sat)\np cnf 1 1\n")), FORMAT_SMT2);
        ck_assert_int_eq(case_format("a", slice_string("p cnfx")), FORMAT_SMT2);
        ck_assert_int_eq(case_format("a", slice_string("c")), FORMAT_SMT2);
        ck_assert_int_eq(case_format("smt2", SLICE(NULL, 0)), FORMAT_SMT2);
}
END_TEST

START_TEST(test_format_behind_long_comments)
{
        struct cases *c = open_cases();
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_buffer struct buffer text = {0};
        bool is_new;
        uint32_t id;

        while (text.size < 2 << 20) /* bounded model checkers write such maps of variables */
                buffer_adds(&text, "c a line about where this formula comes from\n");
        assert_error(case_check_head("formula", SLICE(text.data, 4500)), EINVAL); /* all of a short file */
        buffer_adds(&text, "p cnf 1 1\n1 0\n");
        assert_ok(add_bytes(c, "formula", text.data, text.size, &id, &is_new));
        assert_ok(cases_get(c, id, &info));
        ck_assert_int_eq(info->format, FORMAT_CNF);
        close_cases(c);
}
END_TEST

START_TEST(test_a_status_is_replaced)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct cases *c = open_cases();
        uint32_t id, stated;

        assert_ok(add(c, "a.smt2", "(check-sat)", &id));
        assert_ok(add(c, "b.smt2", sat, &stated));
        ck_assert_int_eq(cases_set_status(c, id, VERDICT_SAT), 1);
        ck_assert_int_eq(cases_set_status(c, id, VERDICT_SAT), 0);
        assert_ok(cases_remove(c, id));
        assert_ok(add(c, "a.smt2", "(check-sat)", &id));
        ck_assert_int_eq(cases_set_status(c, id, VERDICT_UNSAT), 1);
        assert_ok(cases_rename(c, id, "c.smt2"));
        assert_ok(cases_get(c, id, &info));
        ck_assert(info->status == VERDICT_UNSAT && info->expected[0] == VERDICT_UNSAT && info->status_set > 0);
        ck_assert_int_eq(cases_set_status(c, id, VERDICT_UNKNOWN), 1);
        ck_assert_int_eq(cases_set_status(c, stated, VERDICT_SAT), 0);
        assert_error(cases_set_status(c, stated, VERDICT_UNSAT), EEXIST);
        assert_error(cases_set_status(c, stated, VERDICT_UNKNOWN), EEXIST);
        close_cases(c);
}
END_TEST

/* It was made before its script got a status and another name. */
START_TEST(test_query_follows_its_script)
{
        struct cases *c = open_cases();
        cleanup(case_info_unrefp) struct case_info *whole = NULL, *query = NULL, *now = NULL;
        uint32_t id;

        assert_ok(add(c, "one.smt2", "(check-sat)", &id));
        assert_ok(cases_get(c, id, &whole));
        assert_ok(cases_query(c, whole, 1, &query));
        ck_assert_int_eq(cases_set_status(c, id, VERDICT_UNSAT), 1);
        assert_ok(cases_rename(c, id, "other.smt2"));
        assert_ok(cases_get(c, query->id, &now));
        ck_assert_int_eq(now->expected[0], VERDICT_UNSAT);
        ck_assert_str_eq(now->name, "other.smt2#1");
        ck_assert_uint_eq(now->id, query->id);
        ck_assert(now->removed && now->whole == id && now->query == 1);
        ck_assert(case_is_there(now));
        case_info_unref(now);
        assert_ok(cases_remove(c, id));
        assert_ok(cases_get(c, query->id, &now));
        ck_assert(!case_is_there(now));
        case_info_unref(now);
        assert_ok(add(c, "other.smt2", "(check-sat)", &id));
        assert_ok(cases_get(c, query->id, &now));
        ck_assert(case_is_there(now));
        close_cases(c);
}
END_TEST

START_TEST(test_damage_of_a_script_is_told_once)
{
        struct cases *c = open_cases();
        cleanup(case_info_unrefp) struct case_info *whole = NULL;
        char path[PATH_SIZE];
        uint32_t id;
        int fd;

        assert_ok(add(c, "two.smt2", "(check-sat)(check-sat)", &id));
        assert_ok(cases_get(c, id, &whole));
        for (uint32_t q = 1; q <= 2; q++) {
                cleanup(case_info_unrefp) struct case_info *query = NULL;

                assert_ok(cases_query(c, whole, q, &query));
        }
        ck_assert_int_eq(cases_check(c, NULL, NULL), 0);
        assert_ok(cases_open_bytes(c, whole, &fd, path));
        close(fd);
        ck_assert_int_eq(chmod(path, 0600), 0);
        ck_assert_int_eq(truncate(path, 5), 0);
        ck_assert_int_eq(cases_check(c, NULL, NULL), 1);
        close_cases(c);
}
END_TEST

/* Killed between the place and the index. */
START_TEST(test_bytes_of_no_case_are_swept)
{
        static const char *const stray = "s/cases/ab/ab00000000000000000000000000000000000000000000000000000000000000";
        struct cases *c = open_cases();
        uint64_t n, bytes;
        uint32_t ids[2];

        assert_ok(add(c, "a.smt2", "(check-sat)", &ids[0]));
        assert_ok(add(c, "b.smt2", "(exit)", &ids[1]));
        assert_ok(cases_remove(c, ids[1]));
        ck_assert(mkdir("s/cases/ab", 0700) == 0 || errno == EEXIST);
        assert_ok(write_file_atomic(stray, "stray", 5, 0444));
        assert_ok(write_file_atomic("s/cases/ab/note", "mine", 4, 0644));
        assert_ok(cases_sweep(c, true, &n, &bytes));
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(access(stray, F_OK), 0);
        assert_ok(cases_sweep(c, false, &n, &bytes));
        ck_assert_uint_eq(n, 1);
        ck_assert_int_ne(access(stray, F_OK), 0);
        ck_assert_int_eq(access("s/cases/ab/note", F_OK), 0);
        assert_bytes(c, ids[0], "(check-sat)");
        assert_ok(add(c, "b.smt2", "(exit)", &ids[1])); /* a removed one's bytes were kept */
        assert_bytes(c, ids[1], "(exit)");
        assert_ok(cases_sweep(c, false, &n, &bytes));
        ck_assert_uint_eq(n, 0);
        close_cases(c);
}
END_TEST

/* A verdict that is none would end who asks for its name. */
START_TEST(test_a_record_with_a_verdict_that_is_none)
{
        struct cases *c = open_cases();
        struct case_info *i;
        uint8_t key[4];
        uint32_t id;

        assert_ok(add(c, "a.smt2", "(set-info :status sat)(check-sat)", &id));
        key_u32(key, id);
        for (unsigned round = 0; round < 2; round++) {
                cleanup_blob struct blob b = {0};
                uint8_t *bytes;
                size_t at;

                assert_ok(store_fetch(store, tables.cases, SLICE(key, 4), &b));
                bytes = (uint8_t *)b.data;
                at = round == 0 ? 3 : b.size - 1; /* what it says of itself; what its check-sat is to say */
                ck_assert_uint_eq(bytes[at], VERDICT_SAT);
                bytes[at] = N_VERDICTS;
                assert_ok(store_set(store, tables.cases, SLICE(key, 4), SLICE(bytes, b.size)));
                assert_error(cases_get(c, id, &i), EIO);
                bytes[at] = VERDICT_SAT;
                assert_ok(store_set(store, tables.cases, SLICE(key, 4), SLICE(bytes, b.size)));
        }
        assert_ok(cases_get(c, id, &i));
        case_info_unref(i);
        close_cases(c);
}
END_TEST

/* Older records have the status of whichever question stated one last. */
START_TEST(test_an_older_record_has_the_status_of_its_last_question)
{
        struct cases *c = open_cases();
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        cleanup_blob struct blob b = {0};
        uint8_t key[4];
        uint32_t id;

        assert_ok(add(c, "a.smt2", "(set-info :status sat)(check-sat)(check-sat)", &id));
        key_u32(key, id);
        assert_ok(store_fetch(store, tables.cases, SLICE(key, 4), &b));
        ((uint8_t *)b.data)[3] = VERDICT_SAT;
        assert_ok(store_set(store, tables.cases, SLICE(key, 4), SLICE(b.data, b.size)));
        assert_ok(cases_get(c, id, &i));
        ck_assert(i->status == VERDICT_UNKNOWN && i->n_expected == 2 && i->expected[0] == VERDICT_SAT);
        close_cases(c);
}
END_TEST

SUITE("cases", test_derived_are_swept, test_an_older_record_has_the_status_of_its_last_question, test_derived_that_are_added, test_a_record_with_a_verdict_that_is_none, test_bytes_of_no_case_are_swept, test_add_and_find,
      test_removed_and_back, test_renamed, test_compressed, test_a_file_that_cannot_be_read_is_not_damaged, test_names_in_use, test_bad_and_strange_names, test_staging,
      test_left_over_files_are_swept, test_damaged_bytes, test_read_only, test_strange_contents, test_kill_while_adding,
      test_scan, test_format, test_format_behind_long_comments, test_a_status_is_replaced, test_query_follows_its_script,
      test_damage_of_a_script_is_told_once, test_unlisted_that_is_listed,
      test_status_set_while_renamed)
