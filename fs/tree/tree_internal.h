/* Shared by tree.c (nodes, listings, attributes), tree_names.c (numbers of names and views), tree_cases.c (names of cases), tree_lookup_cache.c
 * (recent lookups) and tree_held.c (nodes whose numbers are hashes). */
#pragma once

#include "fs/tree/tree.h"

struct tree {
        struct workspace *workspace; /* borrowed */
        struct engine *engine;       /* borrowed; may be NULL */
        bool finished;               /* without rows that start work */
        int64_t store_mtime;         /* seconds; mtime of the store's folder when the tree was opened, and of nodes that have no other */
        uid_t uid;
        gid_t gid;
        struct lookup_cache *lookup_cache; /* owned */
        struct held_nodes *held;           /* owned */

        pthread_mutex_t lock;
        /* under lock */
        struct view *views; /* owned; by number; those known so far */
        size_t n_views;
        struct case_names *case_names; /* a ref */
        struct temporary_name {        /* names numbered while the store is read-only: index i has the number TEMPORARY_FIRST - i */
                enum name_space space;
                char *name;
        } * temporary_names; /* owned */
        size_t n_temporary_names;
};

void tree_names_done(struct tree *t);
/* The view of an inode, or -ENOENT. */
int tree_inode_view(struct tree *t, const struct inode *i, struct view *ret);

struct held_nodes *held_nodes_new(void);
void held_nodes_free(struct held_nodes *h);
int held_nodes_find(struct held_nodes *h, uint64_t ino, struct inode *ret); /* -ESTALE */

struct lookup_cache *lookup_cache_new(void);
void lookup_cache_free(struct lookup_cache *r);
