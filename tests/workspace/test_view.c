/* Names of views: stores have them for good. */
#include "tests/support/test.h"

#include "core/workspace/view.h"

static const struct {
        const char *name;
        struct view view;
} views[] = {
        {"0/commits", {.solver = 0}},
        {"3/cached", {.solver = 3, .cached = true}},
        {"3/commits/seed/7", {.solver = 3, .setting = SETTING_SEED, .n = 7}},
        {"3/cached/seed/18446744073709551615", {.solver = 3, .cached = true, .setting = SETTING_SEED, .n = UINT64_MAX}},
        {"3/commits/scrambled/7", {.solver = 3, .setting = SETTING_SCRAMBLED, .n = 7}},
        {"3/cached/scrambled/4294967295", {.solver = 3, .cached = true, .setting = SETTING_SCRAMBLED, .n = UINT32_MAX}},
        {"4294967295/commits/timeout/60000000000", {.solver = UINT32_MAX, .setting = SETTING_TIMEOUT, .n = 60000000000}},
};

START_TEST(test_names)
{
        for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
                const struct view *v = &views[i].view;
                char name[VIEW_NAME_SIZE];
                struct view read = {0};

                view_print(v, name);
                ck_assert_str_eq(name, views[i].name);
                ck_assert(view_parse(name, &read));
                ck_assert(read.solver == v->solver && read.cached == v->cached && read.setting == v->setting && read.n == v->n);
        }
}
END_TEST

START_TEST(test_what_is_no_name)
{
        static const char *const bad[] = {"", "x", "3", "3/", "3/commits/seed", "3/commits/seed/", "3/commits/seed/x"};
        struct view v;

        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                ck_assert_msg(!view_parse(bad[i], &v), "'%s'", bad[i]);
}
END_TEST

SUITE("view", test_names, test_what_is_no_name)
