/* Shared by tree.c (nodes, listings, attributes), tree_names.c (numbers of names and views), tree_cases.c (names of cases) and tree_recent.c
 * (what was found a moment ago). */
#pragma once

#include <pthread.h>

#include "tree.h"

struct tree {
        struct workspace *workspace; /* borrowed */
        struct engine *engine;       /* borrowed; may be NULL */
        bool finished;               /* no rows that start work */
        int64_t started;             /* seconds; mtime of what belongs to no commit and no case */
        uid_t uid;
        gid_t gid;
        struct recent *recent; /* owned */

        pthread_mutex_t lock;
        /* under lock */
        struct view *views; /* owned; by number; read from the store once */
        size_t n_views;
        struct case_names *case_names; /* a ref */
        struct passing {               /* numbers of a read-only store: index 0 is PASSING_FIRST, and so on down */
                enum name_space space;
                char *name;
        } * passing; /* owned */
        size_t n_passing;
};

void tree_names_done(struct tree *t);

int recent_new(struct recent **ret);
unsigned recent_toolchains(struct recent *recent); /* how many different ones were seen; the first is 1 */
/* Changes with the store, the compilers and the recipes, on which everything in cached/ depends; 0: not known. */
uint64_t recent_generation(struct tree *t);
struct recent *recent_free(struct recent *r);
