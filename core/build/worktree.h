/* The pool of worktrees of a repository: <work_dir>/<n>, locked by <n>.lock while in use.
 *
 * Beside a worktree lie <n>.manifest (what was checked out) and <n>.state: of which commit, by which recipe, when built, on which boot,
 * and what came out. The state is there only while the worktree is as a successful build left it: it is taken away before anything is
 * touched and written when all is done. So what a killed, cancelled or failed build leaves is begun anew, as a file that was
 * half-written when its compiler died looks newer than its source. The same after a reboot, of which nobody knows whether it was a power
 * cut (files may be empty then), and when the clock was set back (make compares times). */
#pragma once

#include "cache/base/hash.h"
#include "core/build/checkout.h"

struct worktree {
        char path[PATH_SIZE];     /* <work_dir>/<n> */
        char scratch[PATH_SIZE];  /* <work_dir>/<n>.scratch */
        char old[PATH_SIZE];      /* <work_dir>/<n>.old: what is being removed */
        char state[PATH_SIZE];    /* <work_dir>/<n>.state */
        char files[PATH_SIZE];    /* <work_dir>/<n>.manifest */
        int lock;                 /* owned */
        bool usable;              /* a build can go on from it; then: */
        struct manifest manifest; /* owned */
        struct digest *programs;  /* owned; the outputs of the last build, in the recipe's order */
        size_t n_programs;
        int64_t built_ns; /* CLOCK_REALTIME, when that was done */
};

/* Takes the idle worktree that is nearest to `files`; a new one when none is idle. None can be gone on from that differs in
 * `clean_paths`. `clean`: one that no build could go on from, or a new one, so that a clean build costs no other its head start. */
int worktree_take(const char *work_dir, const struct digest *recipe, const struct manifest *files, char *const *clean_paths,
                  bool clean, struct worktree *ret);
/* Before it is touched. `empty`: everything in it goes. Also waits until a file written now is newer than all that lies there. */
int worktree_begin(struct worktree *w, bool empty);
/* After a build that went well. */
int worktree_keep(struct worktree *w, const struct digest *recipe, const struct manifest *files, const struct digest *programs,
                  size_t n_programs);
void worktree_release(struct worktree *w);
#define cleanup_worktree cleanup(worktree_release)
