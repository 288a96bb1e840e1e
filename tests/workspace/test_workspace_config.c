#include "tests/support/test.h"

#include "cache/base/lock.h"
#include "core/portfolio/portfolio.h"
#include "core/query/programs.h"
#include "core/recipe/recipe_keys.h"
#include "core/workspace/workspace.h"

static bool is_said(struct workspace *w, const char *text)
{
        cleanup_buffer struct buffer mistakes = {0};

        workspace_look_again(w);
        workspace_mistakes(w, &mistakes);
        return mistakes.data && strstr(mistakes.data, text);
}

/* A mistake saved beside an open store, such as a mount's, does not displace the text that fsck can go back to. */
START_TEST(test_a_text_with_a_mistake_is_no_copy_to_go_back_to)
{
        static const char *const mistakes[] = {"[solverfs]\n\tcores = many\n", "[solverfs]\n\truns = nosuch\n", "[solver \"x\"]\n\tcoers = 1\n"};
        struct workspace *w;

        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(rename("store/config", "good"));
        for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
                cleanup_blob struct blob text = {0};
                cleanup_buffer struct buffer b = {0};

                assert_ok(read_file("good", 4096, &text));
                buffer_add(&b, text.data, text.size);
                buffer_adds(&b, mistakes[i]);
                assert_ok(write_file_atomic("store/config", b.data, b.size, 0600));
                ck_assert(is_said(w, "stay as they were"));
                ck_assert_int_eq(unlink("store/config"), 0);
                ck_assert(is_said(w, "config is gone"));
                ck_assert_int_eq(workspace_check_config(w, false), 1);
                ck_assert_int_eq(system("cmp store/config good"), 0);
        }
        workspace_close(w);
}
END_TEST

/* An edit of what is left of the file would become the copy, and the rest would be lost. */
START_TEST(test_a_truncated_config_is_not_edited)
{
        static char arm[] = "one: /bin/true {case}", *const arms[] = {arm, NULL};
        static const char *const none[] = {NULL}, *const gone[] = {"p"};
        cleanup(solver_unrefp) struct solver *s = NULL;
        struct recipe *recipe = recipe_new();
        struct workspace *w;
        uint32_t commit;

        set_string(&recipe->name, "x");
        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(portfolio_add(w, "p", arms, none));
        ck_assert(!is_said(w, "config"));
        assert_ok(rename("store/config", "good"));
        assert_ok(write_file_atomic("store/config", "", 0, 0600));
        assert_error(portfolio_add(w, "q", arms, none), EUCLEAN);
        ck_assert_ptr_nonnull(strstr(error_message(-EUCLEAN), "'solverfs fsck' puts it back"));
        assert_error(portfolio_remove(w, "p"), EUCLEAN);
        assert_error(workspace_add_solver(w, &recipe, 1, NULL, NULL), EUCLEAN);
        assert_error(workspace_remove_solvers(w, gone, 1), EUCLEAN);
        assert_error(program_commit(w, "exec:/bin/true", -1, NULL, &s, &commit), EUCLEAN);
        ck_assert_int_eq(system("test ! -s store/config"), 0);
        ck_assert_int_eq(workspace_check_config(w, false), 1);
        ck_assert_int_eq(system("cmp store/config good"), 0);
        recipe_unref(recipe);
        workspace_close(w);
}
END_TEST

/* fsck writes for minutes. */
START_TEST(test_a_changed_config_counts_while_others_write)
{
        cleanup_blob struct blob text = {0}, copy = {0};
        cleanup_buffer struct buffer b = {0};
        struct workspace *w;
        int fd;

        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, &w));
        assert_ok(read_file("store/config", 4096, &text));
        buffer_add(&b, text.data, text.size);
        buffer_adds(&b, "[solver \"x\"]\n\tcoers = 1\n");
        assert_ok(lock_open("store", "write.lock", &fd));
        assert_ok(lock_take(fd, true));
        assert_ok(write_file_atomic("store/config", b.data, b.size, 0600));
        ck_assert(is_said(w, "coers"));
        b.size = text.size;
        buffer_adds(&b, "[solverfs]\n\tcores = 1\n");
        assert_ok(write_file_atomic("store/config", b.data, b.size, 0600));
        ck_assert(!is_said(w, "config"));
        lock_drop(fd);
        while (copy.size != b.size) { /* kept a second later */
                ck_assert(!is_said(w, "config"));
                usleep(10000);
                blob_done(&copy);
                assert_ok(store_fetch(workspace_store(w), TABLE_META, slice_string("config"), &copy));
        }
        close(fd);
        workspace_close(w);
}
END_TEST

SUITE("workspace_config", test_a_changed_config_counts_while_others_write,
      test_a_text_with_a_mistake_is_no_copy_to_go_back_to, test_a_truncated_config_is_not_edited)
