/* Programs to run, kept from being evicted from the store's folder as long as they are held. Threads: the lists may be read by any. */
#pragma once

#include "core/workspace/workspace.h"
#include "core/run/runner.h"

struct held {
        struct run_program list[RECIPE_OUTPUTS_MAX]; /* the first is {bin} */
        size_t n;
        /* private */
        int fds[RECIPE_OUTPUTS_MAX];
        char *texts[2 * RECIPE_OUTPUTS_MAX]; /* owned: paths and names */
};
/* All outputs of a build. Nothing is held after an error: -ENODATA when the build failed; -ENOENT when a program is not there any more. */
int held_build(struct workspace *w, const struct build_record *record, struct held *ret);
/* A program of this machine. */
int held_program(const char *path, struct held *ret);
void held_done(struct held *h);
#define cleanup_held cleanup(held_done)
