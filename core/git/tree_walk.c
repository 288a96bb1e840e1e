#include "core/git/tree_walk.h"

#include "core/git/git.h"

/* A folder that the walk is in. */
struct level {
        git_tree *tree; /* owned */
        size_t next;    /* entry */
        size_t length;  /* of its path */
};

/* w->path is the object's. */
static int enter(struct tree_walk *w, const git_oid *oid, bool is_tree, size_t length)
{
        git_tree *tree = NULL;
        int r = oid_set_add(&w->seen, oid) ? w->take(w->user, oid, w->path, is_tree ? &tree : NULL) : 0;

        if (tree)
                list_add(w->levels, w->n_levels, (struct level){.tree = tree, .length = length});
        return r;
}

static int walk_entry(struct tree_walk *w, const git_tree_entry *e, size_t length)
{
        int n = snprintf(w->path + length, sizeof(w->path) - length, "%s%s", length > 0 ? "/" : "", git_tree_entry_name(e));

        if (git_tree_entry_type(e) == GIT_OBJECT_COMMIT)
                return 0;
        return enter(w, git_tree_entry_id(e), git_tree_entry_type(e) == GIT_OBJECT_TREE, MIN(length + (size_t)n, sizeof(w->path) - 1));
}

/* No recursion: nothing bounds how many folders are in each other. */
int tree_walk(struct tree_walk *w, const git_oid *tree)
{
        int r;

        w->path[0] = '\0';
        r = enter(w, tree, true, 0);
        while (r == 0 && w->n_levels > 0) {
                struct level *l = &w->levels[w->n_levels - 1];

                if (l->next < git_tree_entrycount(l->tree))
                        r = walk_entry(w, git_tree_entry_byindex(l->tree, l->next++), l->length);
                else
                        git_tree_free(w->levels[--w->n_levels].tree);
        }
        return r;
}

void tree_walk_done(struct tree_walk *w)
{
        while (w->n_levels > 0)
                git_tree_free(w->levels[--w->n_levels].tree);
        free(w->levels);
        oid_set_done(&w->seen);
}
