/* Programs to run, and sandboxes to run them in. A held program is not evicted from the store's folder. Any thread may read the lists. */
#pragma once

#include "core/engine/engine.h"
#include "core/workspace/workspace.h"
#include "core/run/runner.h"

struct held {
        struct run_program list[RECIPE_OUTPUTS_MAX]; /* the first is {bin} */
        size_t n;
        /* private */
        int fds[RECIPE_OUTPUTS_MAX];
        char *texts[2 * RECIPE_OUTPUTS_MAX]; /* owned: paths and names */
};
/* Holds all outputs of a build. -ENODATA: the build failed. -ENOENT: a program is gone. After an error nothing is held. */
int held_build(struct workspace *w, const struct build_record *record, struct held *ret);
/* Holds a program of this machine. */
int held_program(const char *path, struct held *ret);
void held_done(struct held *h);
#define cleanup_held cleanup(held_done)

/* A runner that an earlier job of the slot has left, if it can become the wanted one, else a new one. */
struct runner *job_runner(struct job *j, const struct runner_options *o);
void job_leave_runner(struct job *j, struct runner *r); /* leaves it to the slot's next job; ends its run, if any; `r` may be NULL */
