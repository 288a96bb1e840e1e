/* The functions that a commit changed. Threads: any. */
#pragma once

#include "cache/base/util.h"

struct history;

struct changed_function {
        char *file, *name;   /* name: "" outside of functions; owned */
        unsigned removed, added; /* lines */
};
struct changed_functions {
        struct changed_function *list; /* owned; in the order of files and lines */
        size_t n;
};
/* Those of the commit against its first parent, in files that `paths` (core/git/paths.h) have. history.h's errors. */
int changed_functions(struct history *h, uint32_t commit, char *const *paths, struct changed_functions *ret);
void changed_functions_done(struct changed_functions *c);

/* The function that a line (from 1) of a text in C, C++ or the like is in, by its looks: the nearest line above that is indented less, has a name before a
 * parenthesis, is no statement, and has a brace behind it; free(). "": none. Pure. */
char *function_at(struct slice text, unsigned line);
