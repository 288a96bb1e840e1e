/* A solver's history: a bare repository (<store>/repos/<name>.git, libgit2) and the index of it in the store, which makes a remount
 * instant and gives every commit a dense number that never changes and is never reused.
 *
 * Commits are numbered from 0 in the order they were first indexed; a commit that upstream rewrote away keeps its number and
 * stays readable (a ref under refs/solverfs/kept/ holds it). A commit's number is above its parents'. The index keeps, per commit:
 * oid, committer date, when indexed, parents' numbers; and the refs as of the last update.
 *
 * Threads: a history may be used by any thread; libgit2 handles are per call or guarded inside. Nothing here waits for the network
 * but history_clone(), history_update() and history_fetch_submodule(); all end soon after `progress` says so, whatever a server does.
 *
 * Errors: -ENOENT no such revision, -ENOTUNIQ ambiguous prefix, -EINVAL not a revision, -ESTALE the index says a commit is there and
 * the repository has lost it, -EIO the repository is damaged. With sentences: shallow, empty, bare, corrupt and foreign-owned
 * repositories are told apart.
 */
#pragma once

#include <git2.h>

#include "cache/store/store.h"
#include "cache/base/hash.h"
#include "cache/base/progress.h"

#define COMMIT_NONE UINT32_MAX

struct history;

/* The tables (of the caller's array) that the index lives in. */
struct history_tables {
        size_t commits, oids, refs, sources;
};

/* `number` is the repository's dense number in the store (interned by the caller); it prefixes every key of the index. */
int history_open(struct store *s, const struct history_tables *tables, const char *repos_dir, const char *name, uint32_t number,
                 struct history **ret);
struct history *history_ref(struct history *h);
struct history *history_unref(struct history *h);
DEFINE_CLEANUP(struct history *, history_unref)

/* How long a server may send nothing until a fetch from it is given up (-ETIMEDOUT), unless said otherwise. */
#define HISTORY_SILENCE_NS (60 * NSEC_PER_SEC)
void history_set_silence(struct history *h, uint64_t silence_ns); /* before others use it */

/* Makes <repos_dir>/<name>.git from `url` (a path, file://, https://, ssh://) with all branches and tags. Nothing is left on failure. */
int history_clone(const char *repos_dir, const char *name, const char *url, uint64_t silence_ns, const struct progress *p);
/* Fetches (unless `index_only`), then indexes what is new, newest refs included. *ret_new: commits added. */
int history_update(struct history *h, bool index_only, const struct progress *p, uint32_t *ret_new);
/* For fsck: HEAD, branches and tags against the index's, and the configuration, which is to fetch from `url` (NULL: not known). Puts back
 * what is lost or damaged unless `look_only`; `say` gets a line for each such thing. Objects are not looked at. */
typedef void (*history_say_fn)(void *user, bool mended, const char *line);
int history_check(struct history *h, const char *url, bool look_only, history_say_fn say, void *user);
/* Gets the commits of a submodule into the repository, where builds find them; they are no commits of the solver. Where they are kept goes by `path`. */
int history_fetch_submodule(struct history *h, const char *path, const char *url, const struct progress *p);
/* Has the repository this commit, of the solver or of a submodule? Its 40 digits. */
bool history_holds(struct history *h, const char *commit);
/* The commit that a tag, a branch, the digits of a commit or HEAD names among what was fetched for the submodule at `path`; -ENOENT. */
int history_submodule_commit(struct history *h, const char *path, const char *name, git_oid *ret);
/* Calls fn for each submodule that .gitmodules names in HEAD, branches and tags, some more than once; addresses relative to `base`, the
 * repository's own, are resolved. Stops when fn returns other than 0. */
typedef int (*history_submodule_fn)(void *user, const char *path, const char *url);
int history_submodules(struct history *h, const char *base, history_submodule_fn fn, void *user);
struct snapshot_request {
        const char *dir;  /* the working tree, or a folder in it */
        const char *name; /* NULL: the time and the start of the sha */
        bool force;       /* also a tree whose history has no commit in common with this one */
};
#define SNAPSHOTS_REF "refs/solverfs/snapshots/"
/* Makes a working tree (uncommitted changes, untracked files that are not ignored) a commit of the store's repository, under
 * SNAPSHOTS_REF<name>; its parent is the tree's HEAD, or the nearest of its ancestors that is known here. Where nothing is uncommitted it is that
 * ancestor itself, which gets a name only when one is given. -EEXIST: another commit has the name. -EINVAL: no commit in common; the name cannot
 * be one. */
int history_snapshot(struct history *h, const struct snapshot_request *request, uint32_t *ret_number);

/* A repository of the store's own, whose commits are made here and have no parents; 0 also when it is there. */
int history_init(const char *repos_dir, const char *name);
struct history_root {
        const char *tag, *message; /* the tag is put on it, and taken off whatever it was on */
        int64_t date;              /* seconds; with the message and the file it makes the commit: the same on every machine */
        const char *file;          /* the one file of its tree */
        struct slice text;         /* of that file */
};
int history_add_root(struct history *h, const struct history_root *root, uint32_t *ret_number);

uint32_t history_count(struct history *h);      /* commits; numbers are below it */
uint64_t history_generation(struct history *h); /* changes when commits or refs did */

struct commit {
        git_oid oid;
        int64_t committed, indexed; /* seconds */
        uint32_t first_parent;      /* number, or COMMIT_NONE */
};
int history_commit(struct history *h, uint32_t number, struct commit *ret);
int history_number(struct history *h, const git_oid *oid, uint32_t *ret);
int history_parents(struct history *h, uint32_t number, uint32_t **ret_numbers, size_t *ret_n); /* free() */
/* The mtime of everything under this commit: the committer's date, never later than its indexing. */
static inline int64_t commit_mtime(const struct commit *c)
{
        return c->committed < c->indexed ? c->committed : c->indexed;
}

/* Oids of commits `from`, `from`+1, … into ret[0..n); returns how many. For listings; one transaction. */
int history_oids(struct history *h, uint32_t from, uint32_t n, git_oid *ret);

/* Anything `git rev-parse` takes that names a commit: full sha, prefix of at least four digits, tag, branch, HEAD~3. Only
 * indexed commits are found. HEAD is the default branch as of the last update. */
int history_resolve(struct history *h, const char *revision, uint32_t *ret);

enum ref_kind {
        REF_BRANCH = 'b',
        REF_TAG = 't',
        REF_KEPT = 'o', /* ours: old tips and snapshots, by their full names */
};
struct ref {
        enum ref_kind kind;
        uint32_t commit;
        char *name; /* short: "main", "feature/x"; may hold any byte git allows */
};
/* Sorted by kind and, in byte order, by name. Tags are peeled; those not on commits left out. */
struct ref_list {
        unsigned refs;
        uint64_t generation; /* history_generation() when it was read */
        uint32_t head;       /* the default branch's commit, or COMMIT_NONE */
        struct ref *list;
        size_t n;
};
/* As of the last update: read once, and shared until the next one. */
int history_refs(struct history *h, struct ref_list **ret);
struct ref_list *ref_list_unref(struct ref_list *l); /* NULL */
DEFINE_CLEANUP(struct ref_list *, ref_list_unref)
/* Where a name stands or would stand; what begins with it follows there. */
size_t ref_list_from(const struct ref_list *l, enum ref_kind kind, const char *name);
const struct ref *ref_list_find(const struct ref_list *l, enum ref_kind kind, const char *name); /* NULL: there is none */
int history_head(struct history *h, uint32_t *ret);

enum commit_text {
        COMMIT_MESSAGE,
        COMMIT_AUTHOR,
        COMMIT_DATE,
        COMMIT_CHANGES
};
/* message as stored; "Name <email>\n"; ISO 8601 committer date with zone; changed paths against the first parent as
 * "M\tpath\n" (A D M T, and R100\told\tnew for a file renamed without a change; as git diff --name-status -M100% prints and quotes).
 * -EFBIG when the folders that differ have more than about a million files and folders. */
int history_text(struct history *h, uint32_t number, enum commit_text which, struct buffer *ret);
/* Calls fn for each run of changed lines against the first parent, without lines around; of text files below 8 MB. Other than 0 from it ends it and is
 * returned. */
struct commit_hunk {
        const char *path;     /* as it is after the commit, or was before it took the file away */
        struct slice text[2]; /* of the whole file before and after; empty: it was not there */
        unsigned line[2], n[2]; /* where, from 1, and how many lines; of none the line is the one before */
};
typedef int (*commit_hunk_fn)(void *user, const struct commit_hunk *h);
int history_hunks(struct history *h, uint32_t number, commit_hunk_fn fn, void *user);
/* Its changes against the first parent as git prints them, with renames, without lines around; of text files below 8 MB. */
int history_patch(struct history *h, uint32_t number, struct buffer *ret);
/* Calls fn for each of its files and links. -EFBIG as above. */
typedef void (*history_file_fn)(void *user, const char *path);
int history_files(struct history *h, uint32_t number, history_file_fn fn, void *user);
/* The first line of its message, printable; "" when it cannot be read. */
void history_subject(struct history *h, uint32_t number, struct buffer *ret);

/* Is `ancestor` the commit itself or among its ancestors? The first question about an ancestor looks at the commits indexed after it (milliseconds
 * for tens of thousands); the last N are remembered. */
int history_descends(struct history *h, uint32_t commit, uint32_t ancestor, bool *ret);

/* The first-parent line from `tip` (COMMIT_NONE: HEAD) back to the root, oldest first; free(). */
int history_line(struct history *h, uint32_t tip, uint32_t **ret_numbers, size_t *ret_n);

/* All commits in the order of histories (docs/tree.md, Histories): along the first parents of HEAD, oldest first. The commits that a merge brought stand
 * before the merge, in the order of numbers. Commits that HEAD does not reach stand at the end, in the order of numbers. So a commit stands behind its
 * parents. Made once for each generation (tens of milliseconds for tens of thousands of commits), and shared. */
struct commit_order {
        unsigned refs;
        uint64_t generation; /* history_generation() when it was made */
        uint32_t n;
        uint32_t *list;  /* owned; the commits in order */
        uint32_t *place; /* owned; of each commit in `list`, by its number */
};
int history_order(struct history *h, struct commit_order **ret);
struct commit_order *commit_order_unref(struct commit_order *o); /* NULL */
DEFINE_CLEANUP(struct commit_order *, commit_order_unref)

/* Digest of the tree entries (id, mode, path) of `paths` at this commit: two commits with equal sources are one build. Kept in the
 * store. `paths` NULL-terminated, empty: the whole tree. A path that is not there counts as absent, not as an error. */
int history_source(struct history *h, uint32_t number, char *const *paths, struct digest *ret);
/* Has the commit this path, or with COMMIT_NONE any commit? That looks at worst at the tree of each: a second for tens of thousands. */
int history_has_path(struct history *h, uint32_t number, const char *path, bool *ret);
/* Keeps it with what was found out of that commit, so that this is found again when the repository has lost the commit. */
int history_keep_source(struct history *h, struct store_txn *t, uint32_t number, char *const *paths, const struct digest *source);
/* The digest of every commit, (*ret)[number]; free(). A commit that the repository has lost has the zero digest. Seconds for tens of
 * thousands of commits the first time (what is worked out is kept in the store), milliseconds later. */
int history_sources(struct history *h, char *const *paths, struct digest **ret, uint32_t *ret_n);

/* The bare repository, for worktree checkouts; a handle of the caller's own: git_repository_free(). */
int history_repository(struct history *h, git_repository **ret);
