/* Rows: the tree's definition.
 *
 * A row describes one kind of folder, link or file: its folders, its names, its time, whether it can be written, what the kernel may keep of it, and
 * its content or the query that computes it. A subtree is a table of rows, in a file of fs/routes/ (routes.h says how to add one). No other code in
 * fs/ knows a kind.
 *
 * Any thread may call a row's functions. They read the store and start no work. */
#pragma once

#include "core/engine/engine.h"
#include "core/workspace/names.h"
#include "fs/tree/inode.h"

struct tree;
struct node;
struct tree_entry;
typedef int (*entry_fn)(void *user, const struct tree_entry *e);                                  /* non-zero ends the listing */
typedef int (*numbers_fn)(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n); /* ascending */
typedef int (*derive_fn)(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime);

enum node_type {
        NODE_FOLDER,
        NODE_LINK,
        NODE_FILE,     /* known without work; never changes, except with the thing it describes */
        NODE_LIVE,     /* printed at each open; never cached */
        NODE_COMPUTED, /* a query's value: opening it starts work */
};

/* How long the kernel may remember that a folder lacks a name. */
enum absent {
        ABSENT_BRIEFLY, /* a second */
        ABSENT_FOREVER, /* the folder's names are fixed */
        ABSENT_NOT,     /* not at all: the name may exist a moment later */
};

/* Whether READDIRPLUS returns attributes with the names. It does where they are almost free and usually wanted next. Elsewhere they may be expensive
 * (a diff, a git object) and are rarely wanted. */
enum listed {
        LISTED_NAMES,
        LISTED_WHOLE,          /* in cached/, attributes too */
        LISTED_WHOLE_FINISHED, /* in a mount of finished values, attributes too */
};

struct route {
        uint16_t kind;      /* part of inode numbers: never reused */
        uint8_t place;      /* for rows below a seed or a time limit: the `place` in inode numbers, from 1; never reused. 15 is the last */
        const uint16_t *in; /* kinds of the folders it is in: IN() */
        const char *name;   /* fixed, or NULL */
        const char *shown;  /* how the README shows a name that varies: "<sha>" */
        const char *about;  /* the README's line; NULL: another row's line covers it */
        enum node_type type;
        bool executable;
        bool starts;   /* starts work or leads to work, or is live or slow: absent in a mount of finished values */
        bool takes;    /* a folder that takes new cases; everything else is read-only */
        bool has_view; /* the folder of a solver: it and all nodes below it have a view (core/workspace/view.h) */

        /* -- what the kernel may keep -- */
        bool moves;         /* the name may move to another file, or its attributes may change: the kernel asks again after a second */
        bool rewritten;     /* bytes that the kernel keeps may change: compared at each open. Of a NODE_LIVE in a mount of finished values */
        enum absent absent; /* of a folder */
        enum listed listed; /* of a folder */
        bool whole_at_once; /* a folder that enters cached/ when all in it is finished: its listing never changes there */

        /* -- names. A row without a fixed name has `numbers`, `names`, `named`, or `match` and `list` -- */

        /* All numbers in the folder; a number is the entry's `item`. `has`, if that is quicker: 0 if the number is there, -ENOENT, …; may be NULL. */
        numbers_fn numbers;
        int (*has)(struct tree *t, const struct node *dir, uint32_t number);
        bool below_item; /* the folder's `item` is its entries' `commit` */

        /* All names in the folder: strings_free(). Each has a permanent number in the name space `space`: the entry's `item`. With `of_solver`,
         * the name space has the solver's number and a slash before the name. */
        int (*names)(struct tree *t, const struct node *dir, char ***ret, size_t *ret_n);
        enum name_space space;
        bool of_solver;

        /* The row's one name in this folder: 1, 0 (absent) or -errno. */
        int (*named)(struct tree *t, const struct node *dir, const char **ret);
        /* Finds the node of a name: *ret is a node of this row in `dir`; set its item, commit or view. 0, -ENOENT, … */
        int (*match)(struct tree *t, const struct node *dir, const char *name, struct node *ret);
        /* Lists the names from `from` on, by tree_emit(). */
        int (*list)(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user);
        /* For a fixed name: 1 if it exists in the folder, 0 if not (the kernel may keep that for good: `absent`), or -errno. NULL: it always does. */
        int (*exists)(struct tree *t, const struct node *dir, const struct route *row);
        /* Folders: a number that changes when the listing may have changed; 0: unknown; NULL: the listing never changes. Not called in cached/, where
         * any fact may change a listing. */
        uint64_t (*generation)(struct tree *t, const struct node *n);

        /* -- content -- */

        /* Links: the target. Files: the bytes. Computed files: -ENOENT: not ready; -ENODATA: it will never have a value. */
        int (*content)(struct tree *t, const struct node *n, struct buffer *ret);
        /* The size, if cheaper than the content. -ENOENT: not ready. */
        int (*size)(struct tree *t, const struct node *n, uint64_t *ret);
        /* For a regular file of the store: returns its descriptor instead of `content`. */
        int (*open)(struct tree *t, const struct node *n, int *ret_fd);
        /* In seconds. NULL: by `derive`, or else the time of the store's folder when the tree was opened. */
        int (*mtime)(struct tree *t, const struct node *n, int64_t *ret);
        /* For files that take long to print: prints the file and returns its time. An open prints, and the print is kept for a moment. A stat prints
         * only in cached/, which is made for copying, and in a mount of finished values, which sees no opens; elsewhere it uses tree_derived_peek().
         * The row's `content` is tree_derived_content(). */
        derive_fn derive;

        /* -- work; for computed files -- */

        int (*query)(struct tree *t, const struct node *n, struct query **ret);
        /* The file's content from the query's value. */
        int (*answer)(struct tree *t, const struct node *n, struct value *v, struct buffer *ret);
        /* Adds why the solver did not begin, if the stored value is due to that (it cannot be built or started). May be NULL. */
        void (*reason)(struct tree *t, const struct node *n, struct buffer *ret);
        /* Instead of `content` and `answer`, for files that the query puts into a folder, which takes a moment even for a stored value. `kept`: 1 if
         * the value is stored, else 0, or -errno. `answer_fd`: a descriptor of the file, from the value. `waits_for`: another query (the program's
         * build), whose state is shown while the value is not stored; NULL: `query`. */
        int (*kept)(struct tree *t, const struct node *n);
        int (*answer_fd)(struct value *v);
        int (*waits_for)(struct tree *t, const struct node *n, struct query **ret);
};

#define ROWS_END UINT16_MAX
#define IN(...)                       \
        .in = (const uint16_t[])      \
        {                             \
                __VA_ARGS__, ROWS_END \
        }

struct subtree {
        const struct route *rows; /* in the order of listings and of the README */
        size_t n;
};

/* All subtrees, NULL-terminated, in the order of listings and of the README: fs/routes/routes.c. */
extern const struct subtree *const subtrees[];

/* NULL: no row has that kind or place. */
const struct route *route_of(unsigned kind);
const struct route *route_at_place(unsigned place);
/* The rows in a folder, in order, NULL-terminated. */
const struct route *const *routes_in(unsigned kind);
/* True for a solver's folder and all below it: their nodes have a view. */
bool route_has_view(unsigned kind);
