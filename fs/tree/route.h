/* Rows: the tree's definition.
 *
 * A row describes one kind of folder, link or file: its folders, its names, its time, whether it can be written, what the kernel may keep of it, and
 * its content or the query that computes it. A subtree is a table of rows, in a file of fs/routes/ (routes.h says how to add one). Nothing else in fs/
 * knows any kind.
 *
 * The functions of a row may be called by any thread. They look into the store, and start no work. */
#pragma once

#include "core/engine/engine.h"
#include "core/workspace/names.h"
#include "fs/tree/inode.h"

struct tree;
struct node;
struct tree_entry;
typedef int (*entry_fn)(void *user, const struct tree_entry *e);                                  /* non-zero: enough */
typedef int (*numbers_fn)(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n); /* ascending */
typedef int (*derive_fn)(struct tree *t, const struct node *n, struct buffer *ret, int64_t *ret_mtime);

enum node_type {
        NODE_FOLDER,
        NODE_LINK,
        NODE_FILE,     /* its content is known without work and never changes (or only with what it is of) */
        NODE_LIVE,     /* worked out anew at each open; never cached */
        NODE_COMPUTED, /* a query's value: opening it starts work */
};

/* How long the kernel may remember that a name is not in a folder. */
enum absent {
        ABSENT_BRIEFLY, /* a second */
        ABSENT_FOREVER, /* all names in it are fixed */
        ABSENT_NOT,     /* it may have been made just now, and has to be found */
};

/* Whether READDIRPLUS gives attributes with the names. It does where they are almost free and mostly wanted next. Elsewhere they may cost (a diff, an
 * object of git), and are rarely asked for. */
enum listed {
        LISTED_NAMES,
        LISTED_WHOLE,          /* in cached/, attributes too */
        LISTED_WHOLE_FINISHED, /* in a mount of what is finished, attributes too */
};

struct route {
        uint16_t kind;      /* part of inode numbers: it stays this row's forever */
        uint8_t place;      /* below a seed or a time limit: its number in inode numbers of that form, from 1; also forever */
        const uint16_t *in; /* kinds of the folders it is in: IN() */
        const char *name;   /* fixed, or NULL */
        const char *shown;  /* how the README shows a name that varies: "<sha>" */
        const char *about;  /* the README's line; NULL: it is described with another row */
        enum node_type type;
        bool executable;
        bool starts;   /* starts work or leads there, or is live: a mount of what is finished does not have it */
        bool takes;    /* a folder that takes new cases; everything else is read-only */
        bool has_view; /* the folder of a solver: all nodes below it have a view */

        /* -- what the kernel may keep -- */
        bool moves;         /* the name may come to mean another file, or its attributes may change: ask again after a second */
        bool rewritten;     /* a NODE_FILE whose bytes may change: they are compared at each open */
        enum absent absent; /* of a folder */
        enum listed listed; /* of a folder */
        bool whole_at_once; /* a folder that is in cached/ once all in it is finished, so that its listing never changes there */

        /* -- names; for those that vary: numbers, a list, or others -- */

        /* All numbers in the folder; a number is the entry's `item`. `has`: is this one there (0, -ENOENT, …)? For folders where that is quicker. */
        numbers_fn numbers;
        int (*has)(struct tree *t, const struct node *dir, uint32_t number);
        bool below_item; /* the folder's own `item` is the `commit` of what is in it */

        /* All names in the folder: strings_free(). Each has a number for good, the entry's `item`, as a name of `space`, where those of a solver have its
         * number and a slash before them (`of_solver`). */
        int (*names)(struct tree *t, const struct node *dir, char ***ret, size_t *ret_n);
        enum name_space space;
        bool of_solver;

        /* The one name that it has in this folder; NULL: it is not there. */
        const char *(*named)(struct tree *t, const struct node *dir);
        /* Finds the node of a name: *ret is a node of this row in `dir`, whose item, commit or view is to be set. 0, -ENOENT, … */
        int (*match)(struct tree *t, const struct node *dir, const char *name, struct node *ret);
        /* The names from `from` on, entry by entry (tree_emit()). */
        int (*list)(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user);
        /* True if a row of fixed name exists in this folder; NULL: always. */
        bool (*exists)(struct tree *t, const struct node *dir, const struct route *row);
        /* Folders: a number that changes when the listing may have; 0: not known; NULL: the listing never changes. Not called in cached/, where any
         * fact may change a listing. */
        uint64_t (*generation)(struct tree *t, const struct node *n);

        /* -- content -- */

        /* Links: the target. Files: the bytes; of a computed one -ENOENT while it is not ready, -ENODATA when it will never be. */
        int (*content)(struct tree *t, const struct node *n, struct buffer *ret);
        /* Its size where that is cheaper than the content: -ENOENT while not ready. */
        int (*size)(struct tree *t, const struct node *n, uint64_t *ret);
        /* Files that are a plain file in the store: its descriptor instead. */
        int (*open)(struct tree *t, const struct node *n, int *ret_fd);
        /* Seconds; NULL: when the store was made. */
        int (*mtime)(struct tree *t, const struct node *n, int64_t *ret);
        /* Prints a file together with its time, where that takes long. A stat prints nothing (tree_derived_look()); an open does, and the print is kept
         * for a moment. In cached/, which is there to be copied, and in a mount of what is finished, which sees no opens, a stat prints as well. The
         * row's `content` is tree_derived_content(). */
        derive_fn derive;

        /* -- work; for computed files -- */

        int (*query)(struct tree *t, const struct node *n, struct query **ret);
        /* The file's content according to the query's value, without another look into the store. */
        int (*answer)(struct tree *t, const struct node *n, struct value *v, struct buffer *ret);
        /* Instead of `content` and `answer`, for files that the query puts in a folder, which takes a moment even when all is known. `kept`: is it
         * known (1, 0 or -errno)? `answer_fd`: the descriptor that the value holds. `waits_for`: the query whose state is shown while it is not known. */
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

/* All of them, NULL behind the last, in the order of listings and of the README: fs/routes/routes.c. */
extern const struct subtree *const subtrees[];

/* NULL where no row has that kind or place. */
const struct route *route_of(unsigned kind);
const struct route *route_at_place(unsigned place);
/* The rows in a folder, in order, NULL behind the last. */
const struct route *const *routes_in(unsigned kind);
/* It is a solver's folder, or below one: nodes of it have a view. */
bool route_has_view(unsigned kind);
