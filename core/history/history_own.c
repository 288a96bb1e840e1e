/* Makes commits without parents in a repository of the store's own. */
#include "core/history/history_internal.h"

static int write_tree(git_repository *git, const struct history_root *root, git_tree **ret)
{
        cleanup_git_index git_index *index = NULL;
        git_index_entry file = {.path = root->file, .mode = GIT_FILEMODE_BLOB};
        git_oid tree;

        return git_blob_create_from_buffer(&file.id, git, root->text.data, root->text.size)
            ?: git_index_new(&index)
            ?: git_index_add(index, &file)
            ?: git_index_write_tree_to(&tree, index, git)
            ?: git_tree_lookup(ret, git, &tree);
}

static int write_root(git_repository *git, const struct history_root *root, git_oid *ret)
{
        cleanup_git_signature git_signature *who = NULL;
        cleanup_git_reference git_reference *ref = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        char name[256];
        int r = git_signature_new(&who, "solverfs", "programs@solverfs.invalid", root->date, 0);

        snprintf(name, sizeof(name), "refs/tags/%s", root->tag);
        if (r == 0)
                r = write_tree(git, root, &tree)
                    ?: git_commit_create(ret, git, NULL, who, who, NULL, root->message, tree, 0, NULL)
                    ?: git_reference_create(&ref, git, name, ret, 1, NULL);
        return r < 0 ? errorf(git_errno(r), "cannot make a commit for %s: %s", root->tag, git_error_text()) : 0;
}

int history_add_root(struct history *h, const struct history_root *root, uint32_t *ret_number)
{
        cleanup_git_repository git_repository *git = NULL;
        cleanup_close int lock = -1;
        uint32_t n_new;
        git_oid commit;

        return history_lock(h->repos_dir, h->name, NULL, &lock)
            ?: history_repository(h, &git)
            ?: write_root(git, root, &commit)
            ?: history_index(h, git, NULL, &n_new)
            ?: history_number(h, &commit, ret_number);
}
