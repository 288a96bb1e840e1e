/* What the suites test_mount_*.c share: a world of a store, a solver with a history and cases, mounts of it, readers, and order afterwards.
 *
 *     START_TEST(test_time) {
 *             struct mount *m;
 *             unsigned id;
 *
 *             world_make(NULL);
 *             m = mount_start("mnt", NULL);
 *             id = case_add("a.smt2", "; do print sat\n");
 *             assert_content(at("mnt/tiny/commits/HEAD/cases/%u/result", id), "sat\n");
 *             world_end();
 *     } END_TEST
 *     MOUNT_SUITE("mount_time", {test_time}, {test_other, NEEDS_ROOT})
 *
 * Everything is seen from outside: by the command `solverfs` and by system calls. A test has a folder of its own with a space in its path.
 * What a test started and mounted is ended and unmounted behind it, however it ended; one that hangs says first where everybody hangs.
 * Nothing waits for a time to pass: await() looks until something is so. */
#pragma once

#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>

#define TEST_SECONDS 400 /* for one test: many times what the slowest takes on a busy machine under a sanitizer */

/* -- suites ----------------------------------------------------------------------------------------------------- */

enum needs {
        NEEDS_ROOT = 1 << 0,
        NEEDS_RSYNC = 1 << 1,
        NEEDS_SANDBOX = 1 << 2, /* bubblewrap works for this user */
        NEEDS_OVERLAY = 1 << 3, /* an overlayfs can be mounted, with a tmpfs for what is written */
};

struct mount_test {
        const TTest *test;
        unsigned needs;
};

/* Those that can run here; says of each other one that and why it is skipped. Ends the process as skipped when nothing can be mounted. */
size_t suite_choose(const struct mount_test *list, size_t n, const TTest **ret);
void suite_adopt(void);             /* nothing that a test starts gets away from this process */
void suite_clean(const char *base); /* ends and unmounts all that is left below it */

static inline void suite_after(void)
{
        suite_clean(test_base);
}

#define MOUNT_SUITE(name, ...)                                                      \
        int main(void)                                                              \
        {                                                                           \
                const struct mount_test list[] = {__VA_ARGS__};                     \
                const TTest *tests[sizeof(list) / sizeof(*list)];                   \
                size_t n = suite_choose(list, sizeof(list) / sizeof(*list), tests); \
                                                                                    \
                test_folder = "solverfs mount";                                     \
                test_after = suite_after;                                           \
                return test_main(name, tests, n, TEST_SECONDS);                     \
        }

/* -- the world -------------------------------------------------------------------------------------------------- */

/* In the test's folder: the git repository `repo`, the store `store` ($SOLVERFS_STORE) and the solver `tiny` in it (tiny_solver.c),
 * with the variant `tinier`. `settings` are lines of [solverfs] in the store's config, `recipe` further lines of [solver]; or NULL.
 *
 * The history, oldest first (`version` is what the program says of itself; a commit's date is its number in days behind COMMIT_DAY_0):
 *
 *     1  main           tag v1
 *     2  main           annotated tag v2.0
 *     3  main           only doc/ changes: the build of 2       tag docs-only
 *     4  main
 *     5  topic/one      from 2                                   branch topic/one
 *     6  main           merge of 4 and 5                         tag merge
 *     7  main           cannot be built                          tag broken
 *     8  main           can again                                tag release/1.0
 *     9  main           the version of 8 in another layout
 *    10  main           HEAD                                     branches main, feature/deep/x
 */
struct world {
        const char *settings, *recipe;
        const char *store; /* where the store is; NULL: ./store */
};
void world_make(const struct world *w);
/* Unmounts what is mounted, and checks that everything has ended, that nothing is left behind and that no log says anything bad. */
void world_end(void);
/* A pattern (extended regular expression) of lines in logs that are no reason to worry in this test. */
void world_expects(const char *pattern);
#define COMMITS      10
#define COMMIT_DAY_0 INT64_C(1600000000)
int64_t commit_date(unsigned number);
const char *commit_sha(const char *revision); /* as git says; in the ring of at() */

struct mount {
        pid_t pid; /* of the daemon; 0: ended */
        char *dir, *log;
};
/* Mounts the store at ./<dir> by `solverfs mount -f`; the log goes to <dir>.log. */
struct mount *mount_start(const char *dir, const char *options);
struct mount *mount_of(const char *dir); /* what was started there */
/* The same, and expects it to be refused; its exit status. */
int mount_refused(const char *dir, const char *options);
void mount_stop(struct mount *m); /* `solverfs unmount`; the daemon ends with 0 */
int mount_wait(struct mount *m);  /* for the daemon's end: its wait status */
void mount_kill(struct mount *m); /* kill -9, and waits for its end */
bool is_mounted(const char *dir);
char *mount_log(const struct mount *m);

/* -- cases ------------------------------------------------------------------------------------------------------ */

/* Writes a new case of this text to ./mnt/cases/<name> and returns its id. A line with the name is put in front, so that no two cases are
 * the same bytes. */
unsigned case_add(const char *name, const char *format, ...) printf_like(2, 3);
/* Measures a cell of HEAD again until its value, which is the median of all measurements, is another one: of what prints something else each time. */
void measure_until_it_moves(unsigned id);
void open_gate(void);               /* for cases that wait for ./gate */
unsigned case_id(const char *name); /* what mnt/cases/by-name/<name> points to; 0: nothing */

/* -- files ------------------------------------------------------------------------------------------------------ */

/* A formatted path (or any short text), in one of 64 buffers that take turns. */
const char *at(const char *format, ...) printf_like(1, 2);
#define CELL "mnt/tiny/commits/HEAD/cases/%u/"
const char *absolute(const char *path); /* below the test's folder; in the ring of at() */
const char *shell_word(const char *path);  /* absolute(), whatever is in its name, as a word for the shell */
const char *recipe_path(const char *path); /* absolute(), in a value of a recipe that stands in double quotes */
const char *recipe_word(const char *path); /* shell_word(), in such a value */

/* The whole file, by open() and read(): its size or -errno. *ret (free()) ends with a NUL that is not counted. */
ssize_t read_whole(const char *path, char **ret);
char *content(const char *path); /* or the test fails */
void write_whole(const char *path, const char *text);
int open_error(const char *path); /* errno of open(O_RDONLY), 0 */
void assert_content(const char *path, const char *expected);
bool exists(const char *path);
char *read_link(const char *path);
double number(const char *path); /* a file that holds a number and a newline, and nothing else */

/* A mount takes up where another was ended: `done`'s stdout is the file `before`, `id` is cold, and answers once its gate is open. */
void assert_goes_on(unsigned done, unsigned id);

/* Extended attribute user.solverfs.<name>; "" when there is none. In the ring of at(). */
const char *state_of(const char *path, const char *name);
#define assert_state(path, expected) ck_assert_str_eq(state_of(path, "state"), expected)

/* A counter of <dir>/.solverfs/stats: counter("mnt", "jobs_started_total"). */
uint64_t counter(const char *dir, const char *name);

/* -- commands --------------------------------------------------------------------------------------------------- */

/* Runs a shell command; the exit status (-signal). What it prints, on both streams, is in shell_output until the next one. */
extern char *shell_output;
int shell(const char *format, ...) printf_like(1, 2);
/* Before a command of shell(): another user runs it, for whom command_for_others() has put solverfs where everybody may run it. */
#define AS_NOBODY "PATH=\"$SOLVERFS_FOR_OTHERS:$PATH\" setpriv --reuid 65534 --regid 65534 --clear-groups"
void command_for_others(void);
#define assert_shell(...)                                                                                              \
        do {                                                                                                           \
                int shell_status = shell(__VA_ARGS__);                                                                 \
                ck_assert_msg(shell_status == 0, "exit status %d of: %.1000s\n%.2000s", shell_status, at(__VA_ARGS__), \
                              shell_output);                                                                           \
        } while (0)
pid_t shell_start(const char *format, ...) printf_like(1, 2); /* in the background; process_wait() */

/* -- readers ---------------------------------------------------------------------------------------------------- */

/* A process that opens the file, reads it and ends: with 0 and the content in `to` (unless NULL), or with errno. */
pid_t reader_start(const char *path, const char *to);
pid_t reader_start_with(const char *path, const char *to, int flags, void (*before)(void));
/* n readers of a file that is not ready, into copy.0, copy.1 …: returns when all of them wait in the mount "mnt". */
void readers_start(pid_t *readers, size_t n, const char *path);
/* Waits for readers `from` to n of those: each was given just this. */
void readers_given(const pid_t *readers, size_t from, size_t n, const char *given);
int process_wait(pid_t pid);   /* exit status, -signal */
bool process_runs(pid_t pid);  /* a child of ours that has not ended */
bool process_lives(pid_t pid); /* any process */

/* -- waiting ---------------------------------------------------------------------------------------------------- */

void await_look(int *turns, const char *what, const char *file, int line);
/* Until it is so. */
#define await(condition)                                                          \
        do {                                                                      \
                int await_turns = 0;                                              \
                while (!(condition))                                              \
                        await_look(&await_turns, #condition, __FILE__, __LINE__); \
        } while (0)
/* Looks many times that it stays so: for what must not happen. No test fails by chance for it, it only might miss a bug. */
#define remains(condition)                                                                \
        do {                                                                              \
                for (int remains_turns = 0; remains_turns < 30; remains_turns++) {        \
                        ck_assert_msg(condition, "did not remain: %s", #condition);       \
                        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL); \
                }                                                                         \
        } while (0)
