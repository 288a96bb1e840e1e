/* The lines of a failed build's log that explain the failure. Compilers and CMake continue after an error, so these are not always the last ones. */
#pragma once

#include "tools/command.h"

struct build_failure {
        struct slice error; /* the first line with an error, and its neighbours; empty if that line is in `end` or there is none */
        struct slice end;   /* the last lines */
        bool whole;         /* nothing precedes `error` or, if `error` is empty, `end` */
};

/* `error` and `end` point into `log`. */
struct build_failure build_failure_of(struct slice log);
/* The same lines as text, with "..." where lines are left out. */
void build_failure_text(const struct build_failure *f, struct buffer *ret);
/* Prints those lines of the stored log of a commit of common.solver on standard error; nothing if it has none. */
void build_failure_show(uint32_t commit);
/* Calls fn for each word that may be a path, in the lines of `text` that report a missing file, until fn returns true; then returns true. `name` is
 * as in a recipe: relative to the root of the sources. */
bool build_failure_absent(const char *text, bool (*fn)(void *user, const char *name), void *user);
