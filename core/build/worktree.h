/* The pool of worktrees of a repository: <work_dir>/<n>, locked by <n>.lock while in use.
 *
 * A build in a clean tree leaves nothing but <n>.manifest (what was checked out) and <n>.state (when, and what came out), by which the next
 * build finds a program to store its own against. An incremental build leaves its tree as well, to be gone on from: its state then says by
 * which recipe and toolchain, and on which boot.
 *
 * The state is there only while the worktree is as a build left it: it is taken away before anything is touched and written when all is done.
 * So what a killed or cancelled build leaves is never gone on from, as a file that was half-written when its compiler died looks newer than
 * its source. The same after a reboot, of which nobody knows whether it was a power cut (files may be empty then), and when the clock was set
 * back (make compares times). */
#pragma once

#include "cache/base/hash.h"
#include "core/build/checkout.h"

struct worktree {
        char path[PATH_SIZE];     /* <work_dir>/<n> */
        char scratch[PATH_SIZE];  /* <work_dir>/<n>.scratch */
        char old[PATH_SIZE];      /* <work_dir>/<n>.old: what is being removed */
        char state[PATH_SIZE];    /* <work_dir>/<n>.state */
        char files[PATH_SIZE];    /* <work_dir>/<n>.manifest */
        char tools[PATH_SIZE];    /* <work_dir>/<n>.tools: see build_tools.h */
        int lock;                 /* owned */
        bool usable;              /* an incremental build can go on from the tree */
        struct manifest manifest; /* owned; of the last build, as the rest */
        struct digest *programs;  /* owned; its outputs, in the recipe's order */
        size_t n_programs;
        int64_t built_ns; /* CLOCK_REALTIME, when that was done */
};

/* Takes an idle worktree; a new one when none will do. `incremental`: the nearest of those whose tree differs from `files` by an edit
 * (manifest_is_edit()), as `usable`, and if there is none, one to begin from nothing. Else one with no tree to go on from: a clean build costs
 * no other its head start. `key` is the digest of recipe and toolchain. */
int worktree_take(const char *work_dir, const struct digest *key, const struct manifest *files, bool incremental,
                  struct worktree *ret);
/* Before it is touched. `empty`: everything in it goes. Also waits until a file written now is newer than all that lies there. */
int worktree_begin(struct worktree *w, bool empty);
/* After a build: what it checked out and made. `tree`: the tree stays to be gone on from, else it goes. */
int worktree_keep(struct worktree *w, const struct digest *key, const struct manifest *files, const struct digest *programs,
                  size_t n_programs, bool tree);
void worktree_release(struct worktree *w);
#define cleanup_worktree cleanup(worktree_release)
