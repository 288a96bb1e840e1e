/* The tree without FUSE: nodes, their names, attributes and contents, as the rows (route.h) define them.
 *
 * A node is an inode number (inode.h) together with the solver, the view and the row that it stands for. Everything here is read from the store;
 * nothing starts work. Threads: any. Errors: -errno as a system call would give it, with a sentence where one helps. */
#pragma once

#include <sys/stat.h>

#include "core/query/query.h"
#include "core/workspace/view.h"
#include "fs/tree/route.h"

struct node {
        struct inode inode;
        const struct route *route;
        struct view view;
        struct solver *solver; /* owns a ref; NULL outside of a solver's folder */
};
void node_done(struct node *n);
#define cleanup_node cleanup(node_done)

struct tree_entry {
        const char *name;
        uint64_t ino;
        mode_t type;   /* S_IFDIR, S_IFLNK, S_IFREG */
        uint64_t next; /* offset of the entry behind it */
        const struct inode *inode;
};

/* The files in .solverfs show the work of `e`, which may be NULL. `finished`: without rows that start work. */
struct tree *tree_open(struct workspace *w, struct engine *e, bool finished);
struct tree *tree_close(struct tree *t);
struct workspace *tree_workspace(struct tree *t);
struct engine *tree_engine(struct tree *t);
bool tree_is_finished(const struct tree *t);
uint64_t tree_generation(struct tree *t); /* changes with the store and the recipes, on which all in cached/ depends */

int tree_node(struct tree *t, uint64_t ino, struct node *ret);                 /* -ESTALE when there is no such thing any more */
int tree_node_of(struct tree *t, const struct inode *inode, struct node *ret); /* the same by its parts */
/* tree_node() finds a hashed inode number (inode.h) while its reference count is above zero: tree_hold() adds one, and must be called before the number
 * is given away. -EEXIST: another node that is held has the same hash. Both do nothing for other numbers. */
int tree_hold(struct tree *t, const struct inode *i);
void tree_forget(struct tree *t, uint64_t ino, uint64_t times);
int tree_lookup(struct tree *t, const struct node *dir, const char *name, struct node *ret);
/* Entries from `offset` (0: the first; "." and ".." are not among them) on. */
int tree_list(struct tree *t, const struct node *dir, uint64_t offset, entry_fn fn, void *user);
/* A number that changes when tree_list() may give something else; 0: not known. LISTING_FIXED: the listing never changes (or only with the
 * recipe: session_cached.c). */
#define LISTING_FIXED UINT64_MAX
uint64_t tree_list_generation(struct tree *t, const struct node *dir);

#define PLACEHOLDER_SIZE 4096 /* of a computed file that is not ready; see kernel_cache.h */
/* `ready`: size and times are final, so that they may be cached for good. */
int tree_stat(struct tree *t, const struct node *n, struct stat *ret, bool *ready);
int tree_content(struct tree *t, const struct node *n, struct blob *ret);
/* True if a computed file may have had another value under this mount: a cell was measured again, or a recipe changed. */
bool tree_values_move(struct tree *t);
/* A computed file's content, from the value of its query. */
int tree_answer(struct tree *t, const struct node *n, struct value *v, struct blob *ret);
/* The cell a node is in, without its case, borrowing from n. */
struct cell tree_bare_cell(const struct node *n);
/* Of a node that is of one query of its cell's script: *info becomes that. -ENOENT: it has less. */
int tree_take_query(const struct node *n, struct case_info **info);
/* The same with its case: *ret_info is a ref, to which ret->info points. -ENOENT also for a scrambled input that was not made yet. */
int tree_cell(struct tree *t, const struct node *n, struct cell *ret, struct case_info **ret_info);
/* run_find() for the cell a node is in, with a cache: a cell's files, sizes and times come from one fact and are read one after the other. */
int tree_fact(struct tree *t, const struct node *n, const struct cell *cell, bool brief, struct fact **ret);

/* -- for the rows ------------------------------------------------------------------------------------------------ */

/* Sets the parts of an inode that are its view. A new view of a solver's commits/ or cached/ is given a number. A view with a setting is not, since a
 * lookup leaves no trace. */
int tree_set_view(struct tree *t, const struct view *v, struct inode *ret);
/* The settings that something was measured under, by number: -ENOENT behind the last. */
int tree_setting_at(struct tree *t, uint32_t number, struct view *ret);
/* The number of a name, given when it is new: forever, or as long as the mount lives where the store cannot be written to. */
int tree_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret);
int tree_name(struct tree *t, enum name_space space, uint32_t number, char **ret); /* free() */
/* The name of an entry of a row with `names`; free(). */
int tree_entry_name(struct tree *t, const struct route *row, uint32_t number, char **ret);
/* Gives names that are about to be listed their numbers, in one transaction. */
int tree_number_all(struct tree *t, enum name_space space, char *const *names, size_t n);
/* The inode of a row's entry, which has the folder's parts and the row's kind. */
struct inode inode_below(const struct node *dir, const struct route *row);
/* Calls fn for an entry of this row; `index` orders it within the row (an offset); returns fn's answer. */
int tree_emit(const struct route *row, const char *name, struct inode inode, uint64_t index, entry_fn fn, void *user);

/* A file that takes a while to print, as it is made of many facts, and the time of its newest fact. It is kept for a while and is valid until the next
 * write to the store, so that an open, a read and later stats print it once. */
struct derived {
        unsigned refs;
        struct blob text;
        int64_t mtime; /* seconds */
};
int tree_derived(struct tree *t, const struct node *n, derive_fn print, struct derived **ret);
uint64_t tree_prints(struct tree *t); /* how many were made so far */
struct derived *derived_unref(struct derived *d);
DEFINE_CLEANUP(struct derived *, derived_unref)
/* Size and time without a print. 1: of a print that is valid. 0: the store was written to since. Then the size is the last print's, or
 * PLACEHOLDER_SIZE, and the time is that of the first look at any such file since the write, which is never older than a new print's. */
int tree_derived_look(struct tree *t, const struct node *n, uint64_t *ret_size, int64_t *ret_mtime);
int tree_derived_stat(struct tree *t, const struct node *n, uint64_t *ret_size,
                      int64_t *ret_mtime);                                          /* of a print, made if need be */
int tree_derived_content(struct tree *t, const struct node *n, struct buffer *ret); /* the `content` of a row with `derive` */

/* Does `find` find this number? 0, -ENOENT, … */
int numbers_have(struct tree *t, const struct node *dir, numbers_fn find, uint32_t number);

/* The numbers (of commits, of cases) in a folder where they take long to find, ascending. `from` 0 begins a listing. Later calls get the list of the
 * beginning, as a reader of a folder need not see what comes and goes meanwhile (POSIX, readdir). */
struct numbers {
        struct derived *kept; /* a ref */
        const uint32_t *list; /* in it */
        size_t n;
};
int tree_numbers(struct tree *t, const struct node *dir, uint64_t from, numbers_fn find, struct numbers *ret);
void numbers_done(struct numbers *n);
#define cleanup_numbers cleanup(numbers_done)
size_t numbers_from(const struct numbers *n, uint64_t from); /* index of the first that is not below */

/* Names with slashes, shown as nested folders. The number of a folder is the number of the name made of `prefix` and its path; so is the number of an entry,
 * unless its `item` is the number that stands beside it. The offset of a listing is the place in the list; a folder is listed once, at its first name. The row
 * of the topmost folder has a fixed name. */
struct path_item {
        char *name;
        uint32_t number; /* of a case, of a commit */
};
struct path_list {
        enum name_space space;
        bool has_items;
        char prefix[24];
        const struct path_item *list; /* sorted by name */
        size_t n;
        bool (*hides)(struct tree *t, const struct node *dir, uint32_t number); /* this one; may be NULL */
};
/* A folder's path with a slash at its end ("" for the topmost), or an entry's name. free(). */
int path_of(struct tree *t, const struct path_list *p, const struct node *n, char **ret);
const struct path_item *path_find(const struct path_list *p, const char *name); /* NULL: it is not there */
/* The `match` and `list` of both rows: the folders and the names. */
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
struct case_names *case_names_unref(struct case_names *c);
DEFINE_CLEANUP(struct case_names *, case_names_unref)

enum node_type node_type(const struct node *n); /* the row's, but nothing is live in cached/ */
int node_commit(const struct node *n, struct commit *ret);

/* A decimal number without sign, leading zeros or anything else, at most `most`: as names have it. */
bool parse_name_number(const char *name, uint64_t most, uint64_t *ret);
