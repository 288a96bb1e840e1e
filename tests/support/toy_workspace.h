/* A store in the test's folder with one solver, "toy", of the repository that git has made in "repo". */
#pragma once

#include "core/workspace/workspace.h"
#include "tests/support/git_shell.h"

static inline void toy_workspace(const char *recipe, struct workspace **ret_workspace, struct solver **ret_solver)
{
        struct recipe **list;
        size_t n;

        assert_ok(workspace_create("store"));
        assert_ok(workspace_open("store", 0, ret_workspace));
        assert_ok(recipe_parse(recipe, "test", "toy", &list, &n));
        assert_ok(workspace_add_solver(*ret_workspace, list, n, "repo", NULL));
        recipe_list_free(list, n);
        assert_ok(workspace_solver(*ret_workspace, "toy", ret_solver));
}
