#include "tests/support/test.h"

#include <math.h>

#include "core/study/steps/history_plan.h"

#define MOST 400

static struct history_cell cells[MOST];

START_TEST(test_grid_is_coarse_to_fine)
{
        static const size_t want[] = {16, 0, 8, 12, 4, 14, 10, 6, 2};
        cleanup_free size_t *grid = NULL;
        size_t n;

        history_grid(17, 2, &grid, &n);
        ck_assert_uint_eq(n, ARRAY_SIZE(want));
        for (size_t i = 0; i < n; i++)
                ck_assert_uint_eq(grid[i], want[i]);
}
END_TEST

START_TEST(test_grid_has_each_place_once)
{
        for (size_t n = 0; n < 60; n++)
                for (size_t step = 1; step < 12; step++) {
                        cleanup_free size_t *grid = NULL;
                        bool seen[MOST] = {false};
                        size_t n_grid;

                        history_grid(n, step, &grid, &n_grid);
                        for (size_t i = 0; i < n_grid; i++) {
                                ck_assert_uint_lt(grid[i], n);
                                ck_assert(!seen[grid[i]]);
                                seen[grid[i]] = true;
                        }
                        for (size_t i = 0; i < n; i++)
                                ck_assert_int_eq(seen[i], i == 0 || (n - 1 - i) % step == 0);
                }
}
END_TEST

START_TEST(test_step_for_points)
{
        ck_assert_uint_eq(history_step(0, 9), 1);
        ck_assert_uint_eq(history_step(9, 9), 1);
        ck_assert_uint_eq(history_step(17, 9), 2);
        ck_assert_uint_eq(history_step(18, 9), 3);
        ck_assert_uint_eq(history_step(1000, 9), 125);
}
END_TEST

START_TEST(test_differences)
{
        struct localize_outcome fast = {.answer = LOCALIZE_SOLVED, .value = 1},
                                slow = {.answer = LOCALIZE_SOLVED, .value = 1.3},
                                near = {.answer = LOCALIZE_SOLVED, .value = 1.1},
                                short1 = {.answer = LOCALIZE_SOLVED, .value = 0.002},
                                short2 = {.answer = LOCALIZE_SOLVED, .value = 0.006},
                                unsat = {.answer = LOCALIZE_SOLVED, .is_unsat = true, .value = 1},
                                late = {.answer = LOCALIZE_TIMEOUT, .value = 1},
                                later = {.answer = LOCALIZE_TIMEOUT, .value = 9};

        ck_assert(history_differs(&fast, &slow));
        ck_assert(!history_differs(&fast, &near));
        ck_assert(history_differs(&fast, &unsat));
        ck_assert(!history_differs(&unsat, &unsat));
        ck_assert(!history_differs(&short1, &short2));
        ck_assert(history_differs(&fast, &late));
        ck_assert(!history_differs(&late, &later));
}
END_TEST

/* Answers every question until there is none; how many there were. The levels change at the given places; `broken` cannot be built. */
static size_t halve_to_the_end(size_t n, const size_t *changes, size_t n_changes, size_t broken_from, size_t broken_to)
{
        cleanup_free size_t *grid = NULL;
        size_t n_grid, asked = 0;
        size_t *next = NULL;

        memset(cells, 0, sizeof(cells));
        history_grid(n, history_step(n, 9), &grid, &n_grid);
        next = steal_pointer(grid);
        while (n_grid > 0) {
                for (size_t i = 0; i < n_grid; i++) {
                        size_t at = next[i];
                        double seconds = 1;

                        ck_assert_int_eq(cells[at].seen, HISTORY_OPEN);
                        for (size_t k = 0; k < n_changes; k++)
                                seconds *= at >= changes[k] ? 2 : 1;
                        cells[at] = (struct history_cell){.seen = at >= broken_from && at < broken_to ? HISTORY_UNBUILDABLE
                                                                                                      : HISTORY_MEASURED,
                                                          .outcome = {.answer = LOCALIZE_SOLVED, .value = seconds}};
                        asked++;
                }
                free(next);
                next = NULL;
                history_halve(cells, n, &next, &n_grid);
        }
        free(next);
        return asked;
}

START_TEST(test_halving_finds_each_change)
{
        for (size_t at = 1; at < 300; at += 7) {
                size_t asked = halve_to_the_end(300, (const size_t[]){at, 299}, 2, 0, 0);

                ck_assert_int_eq(cells[at].seen, HISTORY_MEASURED);
                ck_assert_int_eq(cells[at - 1].seen, HISTORY_MEASURED);
                ck_assert_int_eq(cells[298].seen, HISTORY_MEASURED);
                ck_assert_uint_le(asked, 9 + 2 * 6);
        }
}
END_TEST

START_TEST(test_unbuildable_commits_are_stepped_around)
{
        halve_to_the_end(200, (const size_t[]){110}, 1, 100, 120);
        ck_assert_int_eq(cells[99].seen, HISTORY_MEASURED);
        ck_assert_int_eq(cells[120].seen, HISTORY_MEASURED);
        for (size_t i = 100; i < 120; i++)
                ck_assert_int_eq(cells[i].seen, HISTORY_UNBUILDABLE);
}
END_TEST

START_TEST(test_a_steady_history_is_not_halved)
{
        ck_assert_uint_le(halve_to_the_end(300, NULL, 0, 0, 0), 10);
}
END_TEST

SUITE("history_plan", test_grid_is_coarse_to_fine, test_grid_has_each_place_once, test_step_for_points, test_differences,
      test_halving_finds_each_change, test_unbuildable_commits_are_stepped_around, test_a_steady_history_is_not_halved)
