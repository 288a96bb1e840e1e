/* Visits each file and folder of several commits' trees once, however many commits share it. Threads: one at a time. */
#pragma once

#include "core/git/oid.h"

struct tree_walk {
        /* Called for each file and folder the first time it is met, a folder before what is in it. `path` begins at the commit's root, is "" for
         * the root itself, and is cut off where it is longer than any system call takes. `ret_tree` is NULL for a file. For a folder, take()
         * may set *ret_tree to its tree: the walk then enters the tree, and frees it. A value other than 0 ends the walk, which returns it. */
        int (*take)(void *user, const git_oid *oid, const char *path, git_tree **ret_tree);
        void *user;
        /* private */
        struct oid_set seen;
        struct level *levels; /* malloc'd */
        size_t n_levels;
        char path[PATH_SIZE];
};

/* Walks through the tree of a commit. Leaves out submodules. */
int tree_walk(struct tree_walk *w, const git_oid *tree);
void tree_walk_done(struct tree_walk *w);
