#include "core/git/tree_walk.h"

#include "core/git/git.h"

static int walk_entry(struct tree_walk *w, const git_tree_entry *e, size_t length);

/* w->path is the object's. */
static int walk_object(struct tree_walk *w, const git_oid *oid, bool is_tree, size_t length)
{
        cleanup_git_tree git_tree *tree = NULL;
        int r = oid_set_add(&w->seen, oid) ? w->take(w->user, oid, w->path, is_tree ? &tree : NULL) : 0;

        for (size_t i = 0; r == 0 && tree && i < git_tree_entrycount(tree); i++)
                r = walk_entry(w, git_tree_entry_byindex(tree, i), length);
        return r;
}

static int walk_entry(struct tree_walk *w, const git_tree_entry *e, size_t length)
{
        int r = 0, n = snprintf(w->path + length, sizeof(w->path) - length, "%s%s", length > 0 ? "/" : "", git_tree_entry_name(e));

        if (git_tree_entry_type(e) != GIT_OBJECT_COMMIT && (size_t)n < sizeof(w->path) - length)
                r = walk_object(w, git_tree_entry_id(e), git_tree_entry_type(e) == GIT_OBJECT_TREE, length + (size_t)n);
        w->path[length] = '\0';
        return r;
}

int tree_walk(struct tree_walk *w, const git_oid *tree)
{
        return walk_object(w, tree, true, 0);
}

void tree_walk_done(struct tree_walk *w)
{
        oid_set_done(&w->seen);
}
