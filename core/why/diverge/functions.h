/* The functions that a commit changed. Threads: any. */
#pragma once

#include "cache/base/util.h"

struct history;

struct changed_function {
        char *file, *name;       /* printable; name: "" outside of functions; owned */
        unsigned removed, added; /* lines */
};
struct changed_functions {
        struct changed_function *list; /* owned; in the order of files and lines */
        size_t n;
};
/* The functions that a commit changed against its first parent, in files within `paths` (core/git/paths.h). Errors: those of history.h. */
int changed_functions(struct history *h, uint32_t commit, char *const *paths, struct changed_functions *ret);
void changed_functions_done(struct changed_functions *c);

/* The function that contains a line (from 1) of a text in C, C++ or the like, by layout: the nearest line above that is indented less, has a name before a
 * parenthesis, is no statement, and has a brace after it; free(). "": none. Pure. */
char *function_at(struct slice text, unsigned line);
