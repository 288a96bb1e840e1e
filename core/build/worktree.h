/* The pool of worktrees of a repository: <work_dir>/<n>, locked by <n>.lock while in use.
 *
 * A build begins in an empty worktree and leaves it empty. <n>.state names the programs that the last build there made: the next build stores its own
 * as deltas against them. */
#pragma once

#include "cache/base/hash.h"

struct worktree {
        char path[PATH_SIZE];    /* <work_dir>/<n> */
        char scratch[PATH_SIZE]; /* <work_dir>/<n>.scratch */
        char old[PATH_SIZE];     /* <work_dir>/<n>.old: files being removed */
        char state[PATH_SIZE];   /* <work_dir>/<n>.state */
        char tools[PATH_SIZE];   /* <work_dir>/<n>.tools: see build_tools.h */
        int lock;                /* owned */
        struct digest_list programs; /* owned; those of the last build there, in the order of the recipe's outputs */
};

/* Takes the first idle worktree, or a new one if all are in use. */
int worktree_take(const char *work_dir, struct worktree *ret);
/* Makes it empty, with its scratch folder, for a build. */
int worktree_begin(struct worktree *w);
/* Empties it after a build. `programs` are those that the build made; NULL: the state stays. */
int worktree_finish(struct worktree *w, const struct digest_list *programs);
void worktree_release(struct worktree *w);
#define cleanup_worktree cleanup(worktree_release)
