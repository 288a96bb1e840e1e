#include "fs/routes/routes.h"

/* In the order of listings and of the README. */
const struct subtree *const subtrees[] = {&root_subtree,     &cases_subtree,      &sets_subtree,      &solver_subtree, &commit_subtree,
                                          &history_subtree,  &compare_subtree,    &findings_subtree,  &campaigns_subtree,
                                          &alarms_subtree,   &portfolios_subtree, &live_subtree,      NULL};

uint64_t any_listing(struct tree *, const struct node *)
{
        return 0;
}

int no_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        return 0;
}

int known_commits(struct tree *t, const struct node *n, uint32_t **ret, size_t *ret_n)
{
        return commits_known(tree_workspace(t), n->solver, NULL, ret, ret_n);
}
