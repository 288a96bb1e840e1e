/* The lines of a failed build's log that explain the failure. Compilers and CMake continue after an error, so these are not always the last ones. */
#pragma once

#include "tools/command.h"

struct build_failure {
        struct slice error; /* the first line with an error, and its neighbours; empty if that line is in `end` or there is none */
        struct slice end;   /* the last lines */
        bool whole;         /* nothing precedes `error` or, if `error` is empty, `end` */
};

/* Both point into `log`. */
struct build_failure build_failure_of(struct slice log);
/* The same lines as text, with "..." where lines are left out. */
void build_failure_text(const struct build_failure *f, struct buffer *ret);
/* Prints them on standard error, for a commit of common.solver. */
void build_failure_show(uint32_t commit);
/* Calls fn for each name in lines that report a missing file, written as in a recipe, until fn returns true. */
bool build_failure_absent(const char *text, bool (*fn)(void *user, const char *name), void *user);
