/* What every suite shares: one main, a scratch folder for each test, short assertions.
 *
 *     START_TEST(name) { ck_assert_int_eq(…); } END_TEST
 *     SUITE("store", test_put, test_get)
 *
 * Each test starts in an empty folder of its own (Check forks per test), which is removed when all have passed. A suite that starts
 * processes may set test_after before test_main(): it is called in the suite's own process behind each test, however that ended. */
#pragma once

#include <signal.h>
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/base/util.h"
#include "tests/support/seed.h"

/* Check writes the place of each assertion that holds to a file, to name the last one of a test that crashes. That is most of the time of a test with a
 * million of them; a debugger says more. */
#define _mark_point(file, line) ((void)0)

#define assert_ok(expression)                                                                 \
        do {                                                                                  \
                int assert_r = (expression);                                                  \
                ck_assert_msg(assert_r >= 0, "%s: %s", #expression, error_message(assert_r)); \
        } while (0)
#define assert_error(expression, error) ck_assert_int_eq((expression), -(error))

/* In a test: returns from it where something is missing that it needs, and says so in TAP. Check counts it as passed: test_main() says how many did this. */
#define SKIP_UNLESS(condition, why)                                                             \
        do {                                                                                    \
                if (!(condition)) {                                                             \
                        dprintf(STDOUT_FILENO, "ok - %s # SKIP needs %s\n", tcase_name(), why); \
                        ++*test_skips;                                                          \
                        return;                                                                 \
                }                                                                               \
        } while (0)
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TEST_SANITIZED true
#else
#define TEST_SANITIZED false
#endif
#define NEEDS_TWO_CORES SKIP_UNLESS(usable_cores() >= 2, "two cores")
/* Mounts that nobody else sees. */
#define NEEDS_OWN_MOUNTS SKIP_UNLESS(test_own_mounts(), "root, for mounts of its own")

static char test_base[PATH_SIZE];
static const char *test_folder = "solverfs-test";
static void (*test_after)(void);
static _Atomic unsigned *test_skips; /* shared with the tests' processes */

static inline int usable_cores(void)
{
        cpu_set_t here;

        return sched_getaffinity(0, sizeof(here), &here) == 0 ? CPU_COUNT(&here) : CPU_SETSIZE;
}

static inline bool test_own_mounts(void)
{
        return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static inline void test_enter(void)
{
        char dir[PATH_SIZE + 16];

        ck_assert(snprintf(dir, PATH_SIZE, "%s/XXXXXX", test_base) < PATH_SIZE);
        ck_assert_ptr_nonnull(mkdtemp(dir));
        ck_assert_int_eq(chdir(dir), 0);
        strcat(dir, "/slots");
        setenv("SOLVERFS_SLOTS", dir, 1); /* no suite waits for another's */
}

static inline int test_main(const char *name, const TTest *const *tests, size_t n, double timeout)
{
        const char *tmp = getenv("TMPDIR");
        Suite *suite = suite_create(name);
        SRunner *runner;
        int failed;

        /* who was started by nohup, or in the background of a script, ignores some, and what it starts would, too */
        signal(SIGHUP, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        snprintf(test_base, sizeof(test_base), "%s/%s-XXXXXX", tmp ? tmp : "/tmp", test_folder);
        if (!mkdtemp(test_base)) {
                perror(test_base);
                return 2;
        }
        test_skips = mmap(NULL, sizeof(*test_skips), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (test_skips == MAP_FAILED) {
                perror("mmap");
                return 2;
        }
        for (size_t i = 0; i < n; i++) {
                TCase *tcase = tcase_create(tests[i]->name);

                tcase_set_timeout(tcase, timeout);
                tcase_add_checked_fixture(tcase, test_enter, NULL);
                tcase_add_unchecked_fixture(tcase, NULL, test_after);
                tcase_add_test(tcase, tests[i]);
                suite_add_tcase(suite, tcase);
        }
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_ENV);
        if (*test_skips)
                printf("Skipped of these: %u\n", *test_skips);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        if (failed == 0)
                remove_tree(test_base);
        else
                fprintf(stderr, "left for inspection: %s; SOLVERFS_TEST_SEED=%s\n", test_base, getenv("SOLVERFS_TEST_SEED") ?: "");
        return failed > 0;
}

#define SUITE_TIMEOUT(name, seconds, ...)                                               \
        int main(void)                                                                  \
        {                                                                               \
                const TTest *const tests[] = {__VA_ARGS__};                             \
                return test_main(name, tests, sizeof(tests) / sizeof(*tests), seconds); \
        }
#define SUITE(name, ...) SUITE_TIMEOUT(name, 300, __VA_ARGS__) /* a hang, and not a busy machine */
