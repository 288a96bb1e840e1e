/* The tree without FUSE: nodes, their names, attributes and contents, as the rows (route.h) define them.
 *
 * A node is an inode number (inode.h) with its solver, view and row. All functions read the store; none starts work. Threads: any. Errors: -errno
 * as of a system call, with a sentence if one helps. */
#pragma once

#include <sys/stat.h>

#include "core/query/query.h"
#include "core/workspace/view.h"
#include "fs/tree/route.h"

struct node {
        struct inode inode;
        const struct route *route;
        struct view view;
        struct solver *solver; /* owns a ref; NULL outside a solver's folder */
};
void node_done(struct node *n);
#define cleanup_node cleanup(node_done)

struct tree_entry {
        const char *name;
        uint64_t ino;
        mode_t type;   /* S_IFDIR, S_IFLNK, S_IFREG */
        uint64_t next; /* the offset with which tree_list() continues behind it */
        const struct inode *inode;
};

/* The files in .solverfs show the work of `e`, which may be NULL. `finished`: without rows that start work. */
struct tree *tree_open(struct workspace *w, struct engine *e, bool finished);
struct tree *tree_close(struct tree *t);
struct workspace *tree_workspace(struct tree *t);
struct engine *tree_engine(struct tree *t);
bool tree_is_finished(const struct tree *t);
uint64_t tree_generation(struct tree *t); /* changes with the store and the recipes, and so with anything in cached/ */

int tree_node(struct tree *t, uint64_t ino, struct node *ret);                 /* -ESTALE: it no longer exists */
int tree_node_of(struct tree *t, const struct inode *inode, struct node *ret); /* the same by the number's parts */
/* tree_node() finds a hashed inode number (inode.h) while its reference count is above zero: tree_hold() adds one, and must be called before the number
 * is given to the kernel. -EEXIST: another held node has the same hash. Other numbers need no tree_hold(), which does nothing for them. */
int tree_hold(struct tree *t, const struct inode *i);
void tree_forget(struct tree *t, uint64_t ino, uint64_t times);
int tree_lookup(struct tree *t, const struct node *dir, const char *name, struct node *ret);
/* Lists the entries from `offset` on (0: the first), without "." and "..". */
int tree_list(struct tree *t, const struct node *dir, uint64_t offset, entry_fn fn, void *user);
/* A number that changes when the listing may have changed; 0: unknown. LISTING_FIXED: the listing never changes (or only with the recipe:
 * session_cached.c). */
#define LISTING_FIXED UINT64_MAX
uint64_t tree_list_generation(struct tree *t, const struct node *dir);

#define PLACEHOLDER_SIZE 4096 /* of a computed file that is not ready; see kernel_cache.h */
/* *ready: size and times are final and may be cached for good. */
int tree_stat(struct tree *t, const struct node *n, struct stat *ret, bool *ready);
int tree_content(struct tree *t, const struct node *n, struct blob *ret);
/* True if a computed file may have had another value under this mount: a cell was measured again, or a recipe changed. */
bool tree_values_move(struct tree *t);
/* A computed file's content, from the value of its query. */
int tree_answer(struct tree *t, const struct node *n, struct value *v, struct blob *ret);
/* The node's cell without its case; borrows from n. */
struct cell tree_bare_cell(const struct node *n);
/* For a node of one query of a script: replaces *info by that query; else does nothing. -ENOENT: the script has fewer queries. */
int node_select_query(const struct node *n, struct case_info **info);
/* The node's cell with its case: *ret_info is a ref, to which ret->info points. -ENOENT also for a scrambled input that was not made yet. */
int tree_cell(struct tree *t, const struct node *n, struct cell *ret, struct case_info **ret_info);
/* run_find() for the node's cell, with a cache: a cell's files, sizes and times come from one fact and are read one after the other. *ret: a ref. */
int tree_fact(struct tree *t, const struct node *n, const struct cell *cell, bool brief, struct fact **ret);

/* -- for the rows ------------------------------------------------------------------------------------------------ */

/* Sets the view's parts of an inode. A new view of a solver's commits/ or cached/ gets a number; a view with a setting does not, as a lookup must
 * leave no trace. */
int tree_set_view(struct tree *t, const struct view *v, struct inode *ret);
/* The settings under which anything was measured, by number. -ENOENT: behind the last. */
int tree_setting_at(struct tree *t, uint32_t number, struct view *ret);
/* The number of a name; a new name gets one, for good or, if the store is read-only, until unmounted. */
int tree_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret);
int tree_name(struct tree *t, enum name_space space, uint32_t number, char **ret); /* free() */
/* The name of an entry of a row with `names`; free(). */
int tree_entry_name(struct tree *t, const struct route *row, uint32_t number, char **ret);
/* Numbers all names of a listing in one transaction. */
int tree_number_all(struct tree *t, enum name_space space, char *const *names, size_t n);
/* The inode of a row's entry: the folder's parts with the row's kind. */
struct inode inode_below(const struct node *dir, const struct route *row);
/* Calls fn for an entry of this row and returns fn's result. The listing continues behind it from `index` + 1. */
int tree_emit(const struct route *row, const char *name, struct inode inode, uint64_t index, entry_fn fn, void *user);

/* The print of a file made of many facts, and the time of the newest of them. Printing takes a while, so the print is kept, and is valid until the
 * next write to the store: an open, a read and later stats print it once. */
struct derived {
        unsigned refs;
        struct blob text;
        int64_t mtime; /* seconds */
};
int tree_derived(struct tree *t, const struct node *n, derive_fn print, struct derived **ret);
uint64_t tree_prints(struct tree *t); /* number of prints so far */
DECLARE_REFS(derived)
/* Size and time without printing. 1: of a valid print. 0: the store was written to since. Then the size is the last print's, or
 * PLACEHOLDER_SIZE. The time is that of the first look at any such file since the write; it is never older than a new print's. */
int tree_derived_peek(struct tree *t, const struct node *n, uint64_t *ret_size, int64_t *ret_mtime);
int tree_derived_stat(struct tree *t, const struct node *n, uint64_t *ret_size,
                      int64_t *ret_mtime);                                          /* of a print, made if necessary */
int tree_derived_content(struct tree *t, const struct node *n, struct buffer *ret); /* the `content` of a row with `derive` */

/* The result of a row's `exists` when reading its content returned `r`: 1, 0 if there is nothing to be read, or -errno. */
int node_existence(int r);
/* 0 if `find` finds this number. -ENOENT, … */
int numbers_have(struct tree *t, const struct node *dir, numbers_fn find, uint32_t number);

/* The numbers (of commits or cases) in a folder, ascending, kept because they take long to find. `from` 0 begins a listing; later calls get the same
 * list: a reader of a folder need not see entries that come and go meanwhile (POSIX, readdir). */
struct numbers {
        struct derived *kept; /* a ref */
        const uint32_t *list; /* in it */
        size_t n;
};
int tree_numbers(struct tree *t, const struct node *dir, uint64_t from, numbers_fn find, struct numbers *ret);
void numbers_done(struct numbers *n);
#define cleanup_numbers cleanup(numbers_done)
size_t numbers_from(const struct numbers *n, uint64_t from); /* index of the first number that is not below `from` */

/* Names with slashes, shown as nested folders. A folder's inode has the number of the name `prefix` + its path (inode_set_number()). An entry's inode
 * has the number of `prefix` + its name, or with `has_items` the path_item's. Offsets of listings are these numbers; a folder is listed once, at the
 * first name below it. The row of the topmost folder has a fixed name. */
struct path_item {
        char *name;
        uint32_t number; /* of a case, of a commit */
};
struct path_list {
        enum name_space space;
        bool has_items; /* an entry's `item` is its path_item's number, a case's */
        char prefix[24];
        const struct path_item *list; /* sorted by name */
        size_t n;
        bool (*hides)(struct tree *t, const struct node *dir, uint32_t number); /* may be NULL */
};
/* A folder's path with a slash at its end ("" for the topmost), or an entry's name. free(). */
int path_of(struct tree *t, const struct path_list *p, const struct node *n, char **ret);
const struct path_item *path_find(const struct path_list *p, const char *name); /* NULL: absent */
/* Stores the number of `prefix` + the path's first `size` bytes in the inode. */
int path_number(struct tree *t, const struct path_list *p, const char *path, size_t size, struct inode *ret);
/* The `match` and the `list` of both rows, that of the folders and that of the names. path_match() is for lists without `has_items`. */
int path_match(struct tree *t, const struct path_list *p, const struct node *dir, const char *name, struct node *ret);
int path_entries(struct tree *t, const struct path_list *p, const struct node *dir, const struct route *row, uint64_t from,
                 entry_fn fn, void *user);

/* Names of cases, sorted, for by-name/. */
struct case_names {
        unsigned refs;
        uint64_t generation;
        size_t n;
        struct path_item list[]; /* owns the names */
};
int tree_case_names(struct tree *t, struct case_names **ret);
DECLARE_REFS(case_names)

enum node_type node_type(const struct node *n); /* the row's type, except that nothing in cached/ is live */
int node_commit(const struct node *n, struct commit *ret);

/* Parses a number in a name: decimal digits without leading zeros, at most `most`. */
bool parse_name_number(const char *name, uint64_t most, uint64_t *ret);
