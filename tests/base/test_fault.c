/* The injector itself, and what the store and the cases do when they are disturbed at each place they have. */
#include "tests/support/faults.h"

#include <signal.h>
#include <sys/wait.h>

#include "cache/base/fault.h"
#include "cache/store/journal.h"
#include "cache/store/programs.h"
#include "core/cases/cases.h"

/* The orders are looked for in the environment when a process starts: this one starts itself again for each role it plays. */

enum {
        TABLE_VALUES,
        TABLE_CASES,
        TABLE_NAMES,
        TABLE_DIGESTS
};

static const char *const tables[] = {
        "values", "cases", "names", "digests"};

/* In a role, where Check cannot be asked. */
#define SAVED "test $(find s/cases -path s/cases/staged -prune -o -type f -size 12c -perm 444 -print | wc -l) = "

static void must(int r)
{
        if (r < 0) {
                fprintf(stderr, "%s\n", error_message(r));
                exit(253);
        }
}

static struct store *open_store(void)
{
        struct store *s;

        must(store_open("s", tables, ARRAY_SIZE(tables), STORE_CREATE, &s));
        return s;
}

/* -- roles: each ends with 0 or an errno -- */

static int role_meet(char **argv)
{
        return -fault_at(argv[0]);
}

static int role_put(char **argv)
{
        struct store *s = open_store();
        int r = store_set(s, TABLE_VALUES, slice_string(argv[0]), slice_string(argv[1]));

        store_close(s);
        return -r;
}

static int role_compact(char **)
{
        struct store *s = open_store();
        int r = store_compact(s);

        if (r < 0) { /* and it goes on */
                must(store_set(s, TABLE_VALUES, slice_string("behind"), slice_string("5")));
                must(store_check(s, true, &(struct store_report){0}, NULL, NULL));
        }
        store_close(s);
        return -r;
}

static int role_check(char **)
{
        struct store *s = open_store();
        int r = store_check(s, false, &(struct store_report){0}, NULL, NULL);

        store_close(s);
        return -r;
}

/* How much a look finds damaged. */
static int role_look(char **)
{
        struct store_report report;
        struct store *s = open_store();

        must(store_check(s, true, &report, NULL, NULL));
        store_close(s);
        return (int)(report.damaged + report.journal_damaged);
}

static int role_add(char **argv)
{
        static const struct cases_tables mine = {TABLE_CASES, TABLE_NAMES, TABLE_DIGESTS};
        struct store *s = open_store();
        struct cases *c;
        uint32_t id;
        bool is_new;
        int fd = open(argv[1], O_RDONLY | O_CLOEXEC), r;

        must(cases_open(s, &mine, &c));
        r = cases_add(c, argv[0], fd, &id, &is_new);
        close(fd);
        cases_close(c);
        store_close(s);
        return -r;
}

static int role_program(char **argv)
{
        struct store *s = open_store();
        struct programs *p;
        struct digest id;
        uint64_t size;
        int fd = open(argv[0], O_RDONLY | O_CLOEXEC), r;

        must(programs_open("s", false, 1 << 20, &p));
        r = programs_put(p, fd, NULL, &id, &size);
        if (r == 0) {
                int got = -1;

                r = programs_get(p, &id, &got, NULL);
                if (r == 0)
                        close(got);
        }
        close(fd);
        programs_close(p);
        store_close(s);
        return -r;
}

static int role_put_near(char **argv)
{
        int fd = open(argv[0], O_RDONLY | O_CLOEXEC), near = open(argv[1], O_RDONLY | O_CLOEXEC), r;
        struct digest id, near_id;
        struct programs *p;
        uint64_t size;

        must(programs_open("s", false, 1 << 20, &p));
        must(digest_of_fd(near, &near_id, NULL));
        r = programs_put(p, fd, &near_id, &id, &size);
        close(fd);
        close(near);
        programs_close(p);
        return -r;
}

static int role_verify(char **argv)
{
        int fd = open(argv[0], O_RDONLY | O_CLOEXEC), r;
        struct programs *p;
        struct digest id;

        must(programs_open("s", false, 1 << 20, &p));
        must(digest_of_fd(fd, &id, NULL));
        close(fd);
        r = programs_verify(p, &id, false);
        programs_close(p);
        return -r;
}

static int play(char **argv)
{
        static const struct {
                const char *name;
                int (*play)(char **argv);
        } roles[] = {
                {"meet", role_meet}, {"put", role_put}, {"compact", role_compact}, {"check", role_check}, {"look", role_look}, {"add", role_add},
                {"program", role_program}, {"put-near", role_put_near}, {"verify", role_verify}};

        for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
                if (strcmp(argv[0], roles[i].name) == 0)
                        return roles[i].play(argv + 1);
        return 255;
}

static pid_t role_start(const char *role, const char *a, const char *b)
{
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                execl("/proc/self/exe", "test_fault", "--role", role, a, b, NULL);
                _exit(254);
        }
        return pid;
}

/* Exit status, or -signal. */
static int role_wait(pid_t pid)
{
        int status;

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int role(const char *name, const char *a, const char *b)
{
        return role_wait(role_start(name, a, b));
}

static void await_met(const char *place, unsigned n)
{
        while (fault_met(place) < n)
                usleep(1000);
}

/* -- the injector -- */

START_TEST(test_nothing_is_wanted)
{
        unsetenv("SOLVERFS_FAULTS");
        ck_assert(mkdir("faults", 0700) == 0);
        fault_set("here", "fail EIO\n");
        ck_assert_int_eq(role("meet", "here", NULL), 0);
        ck_assert_uint_eq(fault_met("here"), 0);
}
END_TEST

START_TEST(test_fail)
{
        faults_begin();
        fault_set("here", "fail ENOSPC\n");
        ck_assert_int_eq(role("meet", "here", NULL), ENOSPC);
        ck_assert_int_eq(role("meet", "there", NULL), 0);
        fault_set("here", "fail EIO after 2 times 2\n"); /* counts who came by before it, too */
        ck_assert_int_eq(role("meet", "here", NULL), 0);
        ck_assert_int_eq(role("meet", "here", NULL), EIO);
        ck_assert_int_eq(role("meet", "here", NULL), EIO);
        ck_assert_int_eq(role("meet", "here", NULL), 0);
        ck_assert_uint_eq(fault_met("here"), 5);
        ck_assert_uint_eq(fault_met("there"), 1);
        fault_clear("here");
        ck_assert_int_eq(role("meet", "here", NULL), 0);
}
END_TEST

START_TEST(test_block)
{
        pid_t pid;

        faults_begin();
        fault_set("here", "block\n");
        pid = role_start("meet", "here", NULL);
        await_met("here", 1);
        ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
        fault_clear("here");
        ck_assert_int_eq(role_wait(pid), 0);
}
END_TEST

START_TEST(test_kill_and_stop)
{
        pid_t pid;
        int status;

        faults_begin();
        fault_set("here", "kill\n");
        ck_assert_int_eq(role("meet", "here", NULL), -SIGKILL);
        fault_set("here", "stop\n");
        pid = role_start("meet", "here", NULL);
        ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
        ck_assert(WIFSTOPPED(status));
        kill(pid, SIGCONT);
        ck_assert_int_eq(role_wait(pid), 0);
}
END_TEST

/* -- the store, disturbed -- */

static void assert_value(const char *key, const char *expected) /* NULL: there is none */
{
        pid_t pid = fork();

        if (pid == 0) { /* a process may open a store once */
                struct store *s = open_store();
                cleanup_blob struct blob b = {0};
                int r = store_fetch(s, TABLE_VALUES, slice_string(key), &b);

                if (expected)
                        ck_assert_msg(r == 0 && b.size == strlen(expected) && memcmp(b.data, expected, b.size) == 0, "%s: %d",
                                      key, r);
                else
                        ck_assert_int_eq(r, -ENOENT);
                store_close(s);
                _exit(0);
        }
        ck_assert_int_eq(role_wait(pid), 0);
}

static const char *const transaction[] = {"store.begin",  "store.commit",    "journal.append",
                                          "journal.sync", "store.journaled", "store.committed"};

static void anew(void (*test)(const char *place), const char *place)
{
        ck_assert_int_eq(mkdir(place, 0700), 0);
        ck_assert_int_eq(chdir(place), 0);
        test(place);
        ck_assert_int_eq(chdir(".."), 0);
}

/* A writer that dies at a place: the value is whole or not there; before the journal it is not, behind the index it is. */
static void writer_dies(const char *place)
{
        bool durable = strcmp(place, "store.journaled") == 0 || strcmp(place, "store.committed") == 0;

        faults_begin();
        ck_assert_int_eq(role("put", "old", "1"), 0);
        fault_set(place, "kill\n");
        ck_assert_int_eq(role("put", "new", "2"), -SIGKILL);
        fault_clear(place);
        assert_value("old", "1");
        if (strcmp(place, "journal.sync") != 0) /* there it is one or the other */
                assert_value("new", durable ? "2" : NULL);
        ck_assert_int_eq(role("put", "more", "3"), 0);
        assert_value("more", "3");
        assert_value("old", "1");
}

START_TEST(test_a_writer_dies)
{
        for (size_t i = 0; i < ARRAY_SIZE(transaction); i++)
                anew(writer_dies, transaction[i]);
}
END_TEST

/* One that is refused leaves nothing, also not in the journal, from which the index could be made anew. */
static void write_fails(const char *place)
{
        faults_begin();
        ck_assert_int_eq(role("put", "old", "1"), 0);
        fault_set(place, "fail ENOSPC\n");
        ck_assert_int_eq(role("put", "new", "2"), ENOSPC);
        fault_clear(place);
        assert_value("new", NULL);
        ck_assert_int_eq(system("rm -r s/lmdb"), 0); /* made anew from the journal */
        assert_value("new", NULL);
        assert_value("old", "1");
        ck_assert_int_eq(role("put", "new", "4"), 0);
        assert_value("new", "4");
}

START_TEST(test_a_write_fails)
{
        for (size_t i = 0; i + 1 < ARRAY_SIZE(transaction); i++) /* the last cannot */
                anew(write_fails, transaction[i]);
}
END_TEST

/* The disk fails when the new journal is in force already: it is not taken away again. */
START_TEST(test_a_compaction_fails)
{
        faults_begin();
        ck_assert_int_eq(role("put", "old", "1"), 0);
        fault_set("store.compacted", "fail EIO\n");
        ck_assert_int_eq(role("compact", NULL, NULL), EIO);
        fault_clear("store.compacted");
        assert_value("old", "1");
        assert_value("behind", "5");
        ck_assert_int_eq(role("put", "new", "2"), 0);
        ck_assert_int_eq(role("compact", NULL, NULL), 0);
        ck_assert_int_eq(system("rm -r s/lmdb"), 0); /* made anew from the journal */
        assert_value("old", "1");
        assert_value("behind", "5");
        assert_value("new", "2");
}
END_TEST

/* A compaction dies before the index knows of it, another process writes to the new segment, and a power cut takes the index's last commit. */
START_TEST(test_a_compaction_dies_beside_a_writer)
{
        struct store *s;

        faults_begin();
        s = open_store();
        assert_ok(store_set(s, TABLE_VALUES, slice_string("old"), slice_string("1")));
        fault_set("store.compacting", "kill\n");
        ck_assert_int_eq(role("compact", NULL, NULL), -SIGKILL);
        ck_assert_int_eq(system("cp s/lmdb/data.mdb before"), 0);
        assert_ok(store_set(s, TABLE_VALUES, slice_string("new"), slice_string("2")));
        store_close(s);
        ck_assert_int_eq(system("cp before s/lmdb/data.mdb"), 0);
        assert_value("old", "1");
        assert_value("new", "2");
}
END_TEST

/* The journal is rewritten before a look reads it, or while it has read the first segment of two. */
static void look_beside_a_compaction(const char *place)
{
        bool has_two = strcmp(place, "journal.read") == 0;
        unsigned before, after = has_two ? 0 : 2; /* the opening looks at the journal, too */
        struct journal_position second = {2, JOURNAL_HEADER};
        cleanup_buffer struct buffer group = {0};
        struct journal *j;
        char order[64];
        pid_t pid;

        faults_begin();
        ck_assert_int_eq(role("put", "old", "1"), 0);
        ck_assert_int_eq(role("put", "new", "2"), 0);
        if (has_two) {
                assert_ok(journal_open("s/journal", &j));
                journal_add(&group, second, JOURNAL_DELETE, slice_string("values"), slice_string("old"), SLICE(NULL, 0));
                journal_add_commit(&group, second, 1);
                assert_ok(journal_append(j, second, SLICE(group.data, group.size)));
                journal_close(j);
                ck_assert_int_eq(role("put", "newer", "3"), 0);
        }
        before = fault_met(place) + after;
        snprintf(order, sizeof(order), "block after %u times 1\n", before);
        fault_set(place, order);
        pid = role_start("look", NULL, NULL);
        await_met(place, before + 1);
        ck_assert_int_eq(role("put", "new", "4"), 0);
        ck_assert_int_eq(role("put", "newest", "5"), 0);
        ck_assert_int_eq(role("compact", NULL, NULL), 0);
        fault_clear(place);
        ck_assert_int_eq(role_wait(pid), 0);
}

START_TEST(test_a_look_beside_a_compaction)
{
        anew(look_beside_a_compaction, "journal.look");
        anew(look_beside_a_compaction, "journal.read");
}
END_TEST

/* An index that has all the values, and a journal with pages that cannot be read. */
static void assert_journal_is_written_anew(const char *name, bool index_is_damaged, const char *place, unsigned after, unsigned times)
{
        char order[64];

        faults_begin();
        ck_assert_int_eq(role("put", "old", "1"), 0);
        ck_assert_int_eq(role("put", "new", "2"), 0);
        if (index_is_damaged)
                ck_assert_int_eq(system("touch s/lmdb/damaged"), 0);
        snprintf(order, sizeof(order), "fail EIO after %u times %u\n", fault_met(place) + after, times);
        fault_set(place, order);
        ck_assert_int_eq(role(name, "more", "3"), 0);
        fault_clear(place);
        assert_value("old", "1");
        ck_assert_int_eq(role("put", "later", "4"), 0);
        ck_assert_int_eq(system("rm -r s/lmdb"), 0); /* made anew from the journal */
        assert_value("old", "1");
        assert_value("new", "2");
        assert_value("later", "4");
        ck_assert_int_eq(system("rm -r s faults"), 0);
}

START_TEST(test_a_page_of_the_journal_cannot_be_read)
{
        assert_journal_is_written_anew("check", false, "journal.read", 0, 1000);
        assert_journal_is_written_anew("compact", false, "journal.read", 0, 1000);
        assert_journal_is_written_anew("put", true, "journal.read", 0, 1000);
        for (unsigned after = 0; after < 8; after++) {
                assert_journal_is_written_anew("check", false, "journal.look", after, 1);
                assert_journal_is_written_anew("check", true, "journal.look", after, 1);
        }
}
END_TEST

START_TEST(test_a_program_is_not_stored)
{
        faults_begin();
        fault_set("programs.put", "fail EIO\n");
        ck_assert_int_eq(role("program", "/proc/self/exe", NULL), EIO);
        fault_clear("programs.put");
        fault_set("programs.get", "kill times 1\n");
        ck_assert_int_eq(role("program", "/proc/self/exe", NULL), -SIGKILL);
        ck_assert_int_eq(role("program", "/proc/self/exe", NULL), 0);
}
END_TEST

/* Programs that differ in a few bytes: files `a`, `b` and `c`, stored unless their name is not in `stored`. */
static struct programs *neighbours(const char *stored, struct digest ids[3])
{
        struct programs *p;
        char data[5000];
        unsigned seed = 1;

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
        assert_ok(programs_open("s", false, 1 << 20, &p));
        for (unsigned n = 0; n < 3; n++) {
                const char name[] = {(char)('a' + n), '\0'};
                struct digest id;
                uint64_t size;
                int fd;

                memset(data + 100 * n, 'a' + (int)n, 50);
                assert_ok(write_file_atomic(name, data, sizeof(data), 0600));
                digest_of(data, sizeof(data), &ids[n]);
                if (!strchr(stored, name[0]))
                        continue;
                fd = open(name, O_RDONLY | O_CLOEXEC);
                assert_ok(programs_put(p, fd, n > 0 ? &ids[n - 1] : NULL, &id, &size));
                close(fd);
        }
        return p;
}

static unsigned depth_of(struct programs *p, const struct digest *id)
{
        struct digest base;
        uint64_t stored;
        unsigned depth;

        assert_ok(programs_info(p, id, &stored, &depth, &base));
        return depth;
}

/* A chain that is changed under a reader's hands is no damage. */
START_TEST(test_a_base_goes_while_a_program_is_read)
{
        struct programs *p;
        struct digest ids[3];
        pid_t reader;

        p = neighbours("abc", ids);
        ck_assert_uint_eq(depth_of(p, &ids[2]), 2);
        faults_begin();
        fault_set("programs.read", "block\n"); /* with c open, and not b */
        reader = role_start("verify", "c", NULL);
        await_met("programs.read", 1);
        assert_ok(programs_remove(p, &ids[1], 1, NULL));
        fault_clear("programs.read");
        ck_assert_int_eq(role_wait(reader), 0);
        ck_assert(programs_has(p, &ids[2]));
        programs_close(p);
}
END_TEST

/* A program is being stored as a delta when its base goes: it is stored whole. */
START_TEST(test_a_base_goes_while_a_program_is_stored)
{
        struct programs *p;
        struct digest ids[3];
        pid_t writer;

        p = neighbours("ab", ids);
        faults_begin();
        fault_set("programs.place", "block\n");
        writer = role_start("put-near", "c", "b");
        await_met("programs.place", 1);
        assert_ok(programs_remove(p, &ids[1], 1, NULL));
        fault_clear("programs.place");
        ck_assert_int_eq(role_wait(writer), 0);
        ck_assert_uint_eq(depth_of(p, &ids[2]), 0);
        assert_ok(programs_verify(p, &ids[2], true));
        programs_close(p);
}
END_TEST

/* A program's base cannot be read, first at its header and then at its content: it is stored whole. */
START_TEST(test_a_base_cannot_be_read)
{
        struct programs *p;
        struct digest ids[3];

        p = neighbours("ab", ids);
        faults_begin();
        for (unsigned after = 0; after < 4; after += 2) {
                char order[64];

                snprintf(order, sizeof(order), "fail EIO after %u\n", fault_met("programs.read") + after);
                fault_set("programs.read", order);
                ck_assert_int_eq(role("put-near", "c", "b"), 0);
                ck_assert_uint_eq(depth_of(p, &ids[2]), 0);
                assert_ok(programs_verify(p, &ids[2], true));
                assert_ok(programs_remove(p, &ids[2], 1, NULL));
        }
        programs_close(p);
}
END_TEST

/* Two store the same: the first is not replaced, as something may build on it. */
START_TEST(test_a_program_is_stored_twice)
{
        struct programs *p;
        struct digest ids[3], id;
        uint64_t size;
        pid_t writer;
        int fd;

        p = neighbours("ab", ids);
        faults_begin();
        fault_set("programs.place", "block\n");
        writer = role_start("put-near", "c", "b");
        await_met("programs.place", 1);
        fd = open("c", O_RDONLY | O_CLOEXEC);
        assert_ok(programs_put(p, fd, NULL, &id, &size));
        close(fd);
        fault_clear("programs.place");
        ck_assert_int_eq(role_wait(writer), 0);
        ck_assert_uint_eq(depth_of(p, &ids[2]), 0);
        programs_close(p);
}
END_TEST

/* -- cases, disturbed -- */

static const char *const adding[] = {"cases.place", "cases.enter", "store.commit", "journal.append", "store.journaled"};

static void adding_dies(const char *place)
{
        faults_begin();
        assert_ok(write_file_atomic("a", "(check-sat)\n", 12, 0600));
        fault_set(place, "kill times 1\n");
        ck_assert_int_eq(role("add", "a.smt2", "a"), -SIGKILL);
        ck_assert_int_eq(role("add", "a.smt2", "a"), 0);
        ck_assert_int_eq(system(SAVED "1"), 0);
}

START_TEST(test_adding_a_case_dies)
{
        for (size_t i = 0; i < ARRAY_SIZE(adding); i++)
                anew(adding_dies, adding[i]);
}
END_TEST

/* Two add the same bytes; the first cannot commit, and must not take away the file that is the second's by then. */
START_TEST(test_a_failed_case_is_anothers)
{
        pid_t first;

        faults_begin();
        assert_ok(write_file_atomic("a", "(check-sat)\n", 12, 0600));
        fault_set("store.commit", "fail EIO times 1\n");
        fault_set("cases.undo", "block\n");
        first = role_start("add", "a.smt2", "a");
        await_met("cases.undo", 1);
        ck_assert_int_eq(role("add", "b.smt2", "a"), 0);
        fault_clear("cases.undo");
        ck_assert_int_eq(role_wait(first), EIO);
        ck_assert_int_eq(system(SAVED "1"), 0);
}
END_TEST

/* One that is alone takes its file away. */
START_TEST(test_a_failed_case_leaves_nothing)
{
        faults_begin();
        assert_ok(write_file_atomic("a", "(check-sat)\n", 12, 0600));
        fault_set("store.commit", "fail EIO times 1\n");
        ck_assert_int_eq(role("add", "a.smt2", "a"), EIO);
        ck_assert_int_eq(system(SAVED "0"), 0);
}
END_TEST

int main(int argc, char **argv)
{
        const TTest *const list[] = {test_nothing_is_wanted,
                                     test_fail,
                                     test_block,
                                     test_kill_and_stop,
                                     test_a_writer_dies,
                                     test_a_write_fails,
                                     test_a_compaction_fails,
                                     test_a_compaction_dies_beside_a_writer,
                                     test_a_look_beside_a_compaction,
                                     test_a_page_of_the_journal_cannot_be_read,
                                     test_a_program_is_not_stored,
                                     test_a_base_goes_while_a_program_is_read,
                                     test_a_base_goes_while_a_program_is_stored,
                                     test_a_base_cannot_be_read,
                                     test_a_program_is_stored_twice,
                                     test_adding_a_case_dies,
                                     test_a_failed_case_is_anothers,
                                     test_a_failed_case_leaves_nothing};

        if (argc > 2 && strcmp(argv[1], "--role") == 0)
                return play(argv + 2);
        return test_main("fault", list, ARRAY_SIZE(list), 60);
}
