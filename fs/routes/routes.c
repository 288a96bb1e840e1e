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

int item_number(struct tree *t, enum name_space space, const char *name, const char *what, struct inode *ret)
{
        int r = tree_number(t, space, name, &ret->item);

        if (r == 0 && ret->item > INODE_ITEM_MAX)
                r = errorf(-EOVERFLOW, "the store has had more %s than it can number (%u)", what, INODE_ITEM_MAX);
        return r;
}

int emit_names(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, enum name_space space,
               const char *what, char **names, size_t n, entry_fn fn, void *user)
{
        struct inode inode = inode_below(dir, row);
        int r = from == 0 ? tree_number_all(t, space, names, n) : 0;

        for (size_t i = from; r == 0 && i < n; i++) {
                r = item_number(t, space, names[i], what, &inode);
                if (r == 0)
                        r = tree_emit(row, names[i], inode, i, fn, user);
        }
        strings_free(names);
        return r;
}
