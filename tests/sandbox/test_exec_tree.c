#include "tests/support/test.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "core/sandbox/exec_tree.h"

#define CHILDREN 4
#define SHARED   ((size_t)48 << 20)
#define LIMIT    (2 * SHARED)

static pid_t children[CHILDREN];

/* Children that have only what we have filled; `own`: that have written to it, and so each have a copy. */
static void start_children(bool own)
{
        char *memory = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        int fds[2];

        ck_assert_ptr_ne(memory, MAP_FAILED);
        memset(memory, 1, SHARED);
        assert_ok(pipe(fds));
        for (int i = 0; i < CHILDREN; i++) {
                children[i] = fork();
                ck_assert_int_ge(children[i], 0);
                if (children[i] == 0) {
                        if (own)
                                memset(memory, 2, SHARED);
                        if (write(fds[1], "x", 1) == 1)
                                for (;;)
                                        pause();
                        _exit(1);
                }
        }
        for (int i = 0; i < CHILDREN; i++)
                ck_assert_int_eq(read(fds[0], &(char){0}, 1), 1);
        close(fds[0]);
        close(fds[1]);
        munmap(memory, SHARED);
}

/* They stay zombies, as they are for the helper until it reaps them. */
static void end_children(int n)
{
        for (int i = 0; i < n; i++) {
                siginfo_t info;

                assert_ok(kill(children[i], SIGKILL));
                assert_ok(waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT));
        }
}

/* With twice the limit, by the sum. */
static struct tree start_tree(bool own)
{
        struct tree t;

        start_children(own);
        assert_ok(tree_read(false, &t, NULL));
        ck_assert_uint_eq(t.n, CHILDREN);
        ck_assert_uint_gt(t.memory, LIMIT);
        return t;
}

#ifdef __SANITIZE_THREAD__ /* whose shadow of shared memory is each process's own */
#define IS_SHADOWED true
#else
#define IS_SHADOWED false
#endif

START_TEST(test_shared_memory_counts_once)
{
        struct tree t;

        if (IS_SHADOWED)
                return;
        t = start_tree(false);
        ck_assert_uint_lt(tree_checked_memory(false, &t, LIMIT), LIMIT);
        end_children(CHILDREN);
}
END_TEST

START_TEST(test_own_memory_counts)
{
        struct tree t = start_tree(true);

        ck_assert_uint_gt(tree_checked_memory(false, &t, LIMIT), LIMIT);
        end_children(CHILDREN);
}
END_TEST

/* On a busy machine all of it can end between the sum and the check. */
START_TEST(test_ended_before_the_check)
{
        for (int gone = 1; gone <= CHILDREN && !IS_SHADOWED; gone++) {
                struct tree t = start_tree(false);

                end_children(gone);
                ck_assert_uint_lt(tree_checked_memory(false, &t, LIMIT), LIMIT);
                end_children(CHILDREN);
                while (wait(NULL) > 0)
                        ;
        }
}
END_TEST

SUITE("exec_tree", test_shared_memory_counts_once, test_own_memory_counts, test_ended_before_the_check)
