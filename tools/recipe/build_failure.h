/* The lines of a failed build's log that say why it failed. Compilers and CMake go on after an error, so they are not always the last ones. */
#pragma once

#include "tools/command.h"

struct build_failure {
        struct slice error; /* the first line with an error, and its neighbours; empty when that is in `end`, or nowhere */
        struct slice end;   /* the last lines */
        bool whole;         /* nothing lies before `error`, or before `end` where that is empty */
};

/* Both point into `log`. */
struct build_failure build_failure_of(struct slice log);
/* The same lines as text, with "..." where lines are left out. */
void build_failure_text(const struct build_failure *f, struct buffer *ret);
/* On standard error, for the build of a commit of common.solver. */
void build_failure_show(uint32_t commit);
/* Calls fn for each name in lines of the text that say that a file is missing, written as in a recipe, until fn returns true. */
bool build_failure_absent(const char *text, bool (*fn)(void *user, const char *name), void *user);
