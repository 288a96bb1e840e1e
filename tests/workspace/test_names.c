#include "tests/support/test.h"

#include <pthread.h>
#include <sys/wait.h>

#include "core/workspace/names.h"
#include "core/workspace/workspace.h"

static struct store *open_store(void)
{
        const char *tables[N_TABLES];
        char name[N_TABLES][16];
        struct store *s;

        for (unsigned i = 0; i < N_TABLES; i++) {
                snprintf(name[i], sizeof(name[i]), "table%u", i);
                tables[i] = name[i];
        }
        assert_ok(store_open("s", tables, N_TABLES, STORE_CREATE, &s));
        return s;
}

START_TEST(test_numbers_are_dense_and_stay)
{
        struct store *s = open_store();
        uint32_t n;
        char *name;

        assert_error(names_number(s, NAMES_REF, "main", &n), ENOENT);
        assert_error(names_name(s, NAMES_REF, 0, &name), ENOENT);
        assert_ok(names_intern(s, NAMES_REF, "main", &n));
        ck_assert_uint_eq(n, 0);
        assert_ok(names_intern(s, NAMES_REF, "feature/x", &n));
        ck_assert_uint_eq(n, 1);
        assert_ok(names_intern(s, NAMES_REF, "main", &n));
        ck_assert_uint_eq(n, 0);
        assert_ok(names_intern(s, NAMES_PATH, "main", &n)); /* spaces are apart */
        ck_assert_uint_eq(n, 0);
        assert_ok(names_intern(s, NAMES_REF, "", &n));
        ck_assert_uint_eq(n, 2);
        store_close(s);
        s = open_store();
        assert_ok(names_intern(s, NAMES_REF, "y", &n));
        ck_assert_uint_eq(n, 3);
        assert_ok(names_number(s, NAMES_REF, "feature/x", &n));
        ck_assert_uint_eq(n, 1);
        assert_ok(names_name(s, NAMES_REF, 1, &name));
        ck_assert_str_eq(name, "feature/x");
        free(name);
        store_close(s);
}
END_TEST

START_TEST(test_names_of_any_length_and_bytes)
{
        struct store *s = open_store();
        char name[5000];

        for (uint32_t size = 0; size < sizeof(name); size += size < 600 ? 7 : 1000) {
                uint32_t n, again;
                char *back;

                memset(name, 'x', size);
                name[size] = '\0';
                if (size > 2)
                        memcpy(name, "\xff\n", 2);
                assert_ok(names_intern(s, NAMES_PATH, name, &n));
                assert_ok(names_number(s, NAMES_PATH, name, &again));
                ck_assert_uint_eq(n, again);
                assert_ok(names_name(s, NAMES_PATH, n, &back));
                ck_assert_str_eq(back, name);
                free(back);
        }
        store_close(s);
}
END_TEST

#define COUNT 100

static void *intern_all(void *user)
{
        for (unsigned i = 0; i < COUNT; i++) {
                char name[16];
                uint32_t n;

                snprintf(name, sizeof(name), "%u", i);
                assert_ok(names_intern(user, NAMES_VIEW, name, &n));
        }
        return NULL;
}

START_TEST(test_racing_for_the_same_names)
{
        bool seen[COUNT] = {false};
        pthread_t threads[3];
        struct store *s;
        pid_t pid = fork();

        s = open_store();
        if (pid == 0) {
                intern_all(s);
                store_close(s);
                _exit(0);
        }
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_create(&threads[i], NULL, intern_all, s);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        waitpid(pid, NULL, 0);
        for (unsigned i = 0; i < COUNT; i++) {
                char name[16], *back;
                uint32_t n;

                snprintf(name, sizeof(name), "%u", i);
                assert_ok(names_number(s, NAMES_VIEW, name, &n));
                ck_assert_uint_lt(n, COUNT);
                ck_assert(!seen[n]);
                seen[n] = true;
                assert_ok(names_name(s, NAMES_VIEW, n, &back));
                ck_assert_str_eq(back, name);
                free(back);
        }
        store_close(s);
}
END_TEST

/* Many are one commit, and none when all have their numbers. */
START_TEST(test_many_names_at_once)
{
        struct store *s = open_store();
        char *names[100] = {0};
        uint64_t before, one, all;
        uint32_t n;

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                ck_assert_int_gt(asprintf(&names[i], "name %zu", i / 2 * 2), 0); /* each twice */
        before = store_generation(s);
        assert_ok(names_intern(s, NAMES_REF, names[50], &n));
        one = store_generation(s) - before;
        assert_ok(names_intern_all(s, NAMES_REF, names, ARRAY_SIZE(names)));
        all = store_generation(s) - before - one;
        ck_assert_uint_eq(all, one);
        assert_ok(names_intern_all(s, NAMES_REF, names, ARRAY_SIZE(names)));
        ck_assert_uint_eq(store_generation(s), before + one + all);
        assert_ok(names_number(s, NAMES_REF, names[50], &n));
        ck_assert_uint_eq(n, 0);
        assert_ok(names_number(s, NAMES_REF, names[99], &n));
        ck_assert_uint_eq(n, 49);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                free(names[i]);
        store_close(s);
}
END_TEST

SUITE("names", test_many_names_at_once, test_numbers_are_dense_and_stay, test_names_of_any_length_and_bytes,
      test_racing_for_the_same_names)
