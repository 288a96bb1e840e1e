/* The pool of worktrees of a repository: <work_dir>/<n>, locked by <n>.lock while in use.
 *
 * A build begins in an empty worktree and leaves it empty. <n>.state says which programs the last build there made: the next build stores its own
 * against them. */
#pragma once

#include "cache/base/hash.h"

struct worktree {
        char path[PATH_SIZE];    /* <work_dir>/<n> */
        char scratch[PATH_SIZE]; /* <work_dir>/<n>.scratch */
        char old[PATH_SIZE];     /* <work_dir>/<n>.old: what is being removed */
        char state[PATH_SIZE];   /* <work_dir>/<n>.state */
        char tools[PATH_SIZE];   /* <work_dir>/<n>.tools: see build_tools.h */
        int lock;                /* owned */
        struct digest_list programs; /* owned; of the last build, in the recipe's order */
};

/* Takes the first idle worktree; a new one when all are in use. */
int worktree_take(const char *work_dir, struct worktree *ret);
/* Empties it. */
int worktree_begin(struct worktree *w);
/* After a build: empties it. `programs` are those it made; NULL: what the last one made still counts. */
int worktree_keep(struct worktree *w, const struct digest_list *programs);
void worktree_release(struct worktree *w);
#define cleanup_worktree cleanup(worktree_release)
