#include "tests/support/test.h"

#include <sys/wait.h>

#include "core/cases/sets.h"
#include "core/recipe/recipe.h"

static struct store *store;

static struct sets *open_sets(void)
{
        static const char *const list[] = {"sets"};
        struct sets *s;

        assert_ok(store_open("s", list, ARRAY_SIZE(list), STORE_CREATE, &store));
        assert_ok(sets_open(store, 0, &s));
        return s;
}

static void close_sets(struct sets *s)
{
        sets_close(s);
        store_close(store);
}

static const char *members(struct sets *s, const char *name)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        static char text[256];

        text[0] = '\0';
        assert_ok(sets_get(s, name, &set));
        ck_assert_str_eq(set->name, name);
        ck_assert_int_gt(set->changed, 0);
        for (size_t i = 0; i < set->n; i++)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u ", set->ids[i]);
        return text;
}

static size_t add(struct sets *s, const char *name, size_t n, const uint32_t *ids)
{
        size_t added = 99;

        assert_ok(sets_add(s, name, ids, n, &added));
        return added;
}

#define IDS(...)                                                                 \
        sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]) \
        {                                                                        \
                __VA_ARGS__                                                      \
        }

START_TEST(test_add_take_remove)
{
        struct sets *s = open_sets();
        struct case_set *set;
        char **names;
        size_t n;

        ck_assert_uint_eq(add(s, "smoke", IDS(7, 3, 7, 1)), 3);
        ck_assert_uint_eq(add(s, "smoke", IDS(3, 9)), 1);
        ck_assert_str_eq(members(s, "smoke"), "1 3 7 9 ");
        ck_assert_uint_eq(add(s, "A.b_c+d-1", IDS(5)), 1);
        assert_ok(sets_take(s, "smoke", (const uint32_t[]){9, 4, 1}, 3, &n));
        ck_assert_uint_eq(n, 2);
        close_sets(s);
        s = open_sets(); /* it is on disk */
        ck_assert_str_eq(members(s, "smoke"), "3 7 ");
        assert_ok(sets_names(s, &names, &n));
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(names[0], "A.b_c+d-1");
        ck_assert_str_eq(names[1], "smoke");
        ck_assert_ptr_null(names[2]);
        strings_free(names);
        assert_ok(sets_take(s, "smoke", (const uint32_t[]){3, 7}, 2, &n));
        ck_assert_str_eq(members(s, "smoke"), ""); /* an empty one is one */
        assert_ok(sets_remove(s, "smoke"));
        assert_error(sets_get(s, "smoke", &set), ENOENT);
        assert_error(sets_remove(s, "smoke"), ENOENT);
        assert_error(sets_take(s, "smoke", (const uint32_t[]){3}, 1, &n), ENOENT);
        close_sets(s);
}
END_TEST

START_TEST(test_names)
{
        static const char *const bad[] = {"", "all", "1", "1-3", ".x", "-x", "a/b", "a b", "a*", "x\n", "\xc3\xa4"};
        struct sets *s = open_sets();
        struct case_set *set;
        char longest[102];
        size_t n;

        memset(longest, 'x', sizeof(longest));
        longest[101] = '\0';
        assert_error(set_name_check(longest), EINVAL);
        longest[100] = '\0';
        assert_ok(set_name_check(longest));
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                assert_error(set_name_check(bad[i]), EINVAL);
                assert_error(sets_add(s, bad[i], (const uint32_t[]){1}, 1, &n), EINVAL);
                assert_error(sets_get(s, bad[i], &set), ENOENT);
                assert_error(sets_remove(s, bad[i]), ENOENT);
        }
        close_sets(s);
}
END_TEST

/* Two processes add to one set at the same time: it has what both added. */
START_TEST(test_two_writers)
{
        struct sets *s;
        struct case_set *set;

        close_sets(open_sets());
        for (uint32_t who = 0; who < 2; who++)
                if (fork() == 0) {
                        s = open_sets();
                        for (uint32_t i = 0; i < 100; i++)
                                add(s, "both", IDS(2 * i + who + 1));
                        close_sets(s);
                        _exit(0);
                }
        for (int status; wait(&status) > 0;)
                ck_assert_int_eq(status, 0);
        s = open_sets();
        assert_ok(sets_get(s, "both", &set));
        ck_assert_uint_eq(set->n, 200);
        case_set_unref(set);
        close_sets(s);
}
END_TEST

START_TEST(test_damage)
{
        struct sets *s = open_sets();
        struct case_set *set;

        assert_ok(store_set(store, 0, slice_string("x"), SLICE("\1\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\2", 17))); /* not ascending */
        assert_error(sets_get(s, "x", &set), EIO);
        assert_ok(store_set(store, 0, slice_string("x"), SLICE("\1\0\0\0\0\0\0\0\1\0\0\0", 12)));
        assert_error(sets_get(s, "x", &set), EIO);
        assert_ok(store_set(store, 0, slice_string("x"), SLICE("\2\0\0\0\0\0\0\0\1", 9)));
        assert_error(sets_get(s, "x", &set), EIO);
        close_sets(s);
}
END_TEST

SUITE("sets", test_add_take_remove, test_names, test_two_writers, test_damage)
