/* A solver's history: a bare repository (<store>/repos/<name>.git, libgit2) and its index in the store. The index makes a remount instant and gives
 * every commit a dense number that never changes and is never reused.
 *
 * Commits are numbered from 0 in the order they were first indexed; a commit's number is above its parents'. A commit that upstream rewrote away keeps
 * its number and stays readable (a ref under refs/solverfs/kept/ holds it). The index keeps, per commit: oid, committer date, time of indexing,
 * parents' numbers; and the refs as of the last update.
 *
 * Threads: any; libgit2 handles are per call or guarded inside. Only history_clone(), history_update() and history_fetch_submodule() wait for the
 * network; all end soon after `progress` says stop, whatever a server does.
 *
 * Errors: -ENOENT: no such revision; -ENOTUNIQ: ambiguous prefix; -EINVAL: not a revision; -ESTALE: the repository has lost a commit that is in the
 * index; -EIO: the repository is damaged. The errors' sentences tell shallow, empty, bare, corrupt and foreign-owned repositories apart.
 */
#pragma once

#include <git2.h>

#include "cache/store/store.h"
#include "cache/base/hash.h"
#include "cache/base/progress.h"
#include "core/git/oid.h"

#define COMMIT_NONE UINT32_MAX

struct history;

/* The numbers that the index's tables have in the store. */
struct history_tables {
        size_t commits, oids, refs, sources;
};

/* `number` is the repository's dense number in the store (interned by the caller); it prefixes every key of the index. */
int history_open(struct store *s, const struct history_tables *tables, const char *repos_dir, const char *name, uint32_t number,
                 struct history **ret);
DECLARE_REFS(history)

/* -- fetching ---------------------------------------------------------------------------------------------------- */

/* A fetch is given up (-ETIMEDOUT) after the server has sent nothing for this long, the default. */
#define HISTORY_SILENCE_NS (60 * NSEC_PER_SEC)
void history_set_silence(struct history *h, uint64_t silence_ns); /* before others use it */

/* Makes <repos_dir>/<name>.git from `url` (a path, file://, https://, ssh://) with all branches and tags. Nothing is left on failure. */
int history_clone(const char *repos_dir, const char *name, const char *url, uint64_t silence_ns, const struct progress *p);
/* Fetches (unless `index_only`), then indexes new commits and the present refs. *ret_new: the number of commits added. `url`: the address to fetch from,
 * which is remembered; NULL: the last one. */
int history_update(struct history *h, const char *url, bool index_only, const struct progress *p, uint32_t *ret_new);
/* Opens the repository at an address, checked as for history_clone(). *ret stays NULL if it is on another machine. */
int history_open_local(const char *url, git_repository **ret);
/* True if the address leads to another machine, and is not a path, a file:// or a command. */
bool history_is_remote(const char *url);

/* -- the repository ---------------------------------------------------------------------------------------------- */

/* For fsck: compares the repository's refs with the index, and looks for an address in its configuration. Restores what is lost or damaged: refs from
 * the index, the configuration with the address `url` (NULL: not known). `say` gets a line for each. With `look_only` it restores nothing, takes no
 * lock, and passes over refs while an update is under way. Objects are not checked. */
typedef void (*history_say_fn)(void *user, bool mended, const char *line);
int history_check(struct history *h, const char *url, bool look_only, history_say_fn say, void *user);
/* True if the repository has this commit (40 digits), of the solver or of a submodule. */
bool history_holds(struct history *h, const char *commit);
/* The bare repository, for worktree checkouts; the caller owns the handle: git_repository_free(). */
int history_repository(struct history *h, git_repository **ret);

/* -- submodules -------------------------------------------------------------------------------------------------- */

/* Fetches a submodule's commits into the repository, where builds find them; they are not commits of the solver. `path` decides where they are kept. */
int history_fetch_submodule(struct history *h, const char *path, const char *url, const struct progress *p);
/* The commit that a tag, a branch or HEAD names among those fetched for the submodule at `path`; a full sha stands for itself. -ENOENT: none. */
int history_submodule_commit(struct history *h, const char *path, const char *name, git_oid *ret);
/* Calls fn for each submodule that .gitmodules names in HEAD, branches and tags, some more than once. Resolves addresses relative to `base`, the
 * repository's own. Stops when fn returns other than 0. */
typedef int (*history_submodule_fn)(void *user, const char *path, const char *url);
int history_submodules(struct history *h, const char *base, history_submodule_fn fn, void *user);
/* -EINVAL: `base` is on another machine, and its .gitmodules names a repository of this one. */
int history_submodule_check(const char *base, const char *path, const char *url);

/* -- commits made here ------------------------------------------------------------------------------------------- */

struct snapshot_request {
        const char *dir;  /* the working tree, or a folder in it */
        const char *name; /* NULL: the time and the start of the sha */
        bool force;       /* accept a tree whose history has no commit in common with this one, and leave out uncommitted changes of submodules */
};
#define SNAPSHOTS_REF "refs/solverfs/snapshots/"
/* Makes a working tree (uncommitted changes, untracked files that are not ignored) a commit of the store's repository, under SNAPSHOTS_REF<name>.
 * The parent is the tree's HEAD, or its nearest ancestor known here. If nothing differs from the parent, the snapshot is the parent itself, which
 * gets a name only if one is given. A submodule is at the commit that is checked out in it. -EEXIST: the name is a snapshot's of another commit, or
 * any other revision. -EINVAL: no commit in common, uncommitted changes in a submodule, or not a valid name. */
int history_snapshot(struct history *h, const struct snapshot_request *request, uint32_t *ret_number);

/* Makes a repository of the store's own: its commits are made here and have no parents. 0 also if it exists. */
int history_init(const char *repos_dir, const char *name);
struct history_root {
        const char *tag, *message; /* the tag is moved to the new commit */
        int64_t date;              /* seconds. Date, message and file alone determine the commit, so it is the same on every machine */
        const char *file;          /* the one file of its tree */
        struct slice text;         /* the file's content */
};
int history_add_root(struct history *h, const struct history_root *root, uint32_t *ret_number);

/* -- commits ----------------------------------------------------------------------------------------------------- */

uint32_t history_count(struct history *h);      /* commits; numbers are below it */
uint64_t history_generation(struct history *h); /* changes with commits and refs */

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

/* Resolves any name of a commit that `git rev-parse` takes: full sha, prefix of at least four digits, tag, branch, HEAD~3. Finds only indexed
 * commits. HEAD is the default branch as of the last update. */
int history_resolve(struct history *h, const char *revision, uint32_t *ret);

/* -- refs -------------------------------------------------------------------------------------------------------- */

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
/* Sorted by kind, then by name in byte order. Tags are peeled; tags that are not on commits are left out. */
struct ref_list {
        unsigned refs;
        uint64_t generation; /* history_generation() when it was read */
        uint32_t head;       /* the default branch's commit, or COMMIT_NONE */
        struct ref *list;
        size_t n;
};
/* The refs as of the last update: read once, and shared until the next update. */
int history_refs(struct history *h, struct ref_list **ret);
DECLARE_REFS(ref_list)
/* The index of this name, or of the place where it would be. The names that begin with it follow from there. */
size_t ref_list_from(const struct ref_list *l, enum ref_kind kind, const char *name);
const struct ref *ref_list_find(const struct ref_list *l, enum ref_kind kind, const char *name); /* NULL: there is none */
int history_head(struct history *h, uint32_t *ret);

/* -- texts and changes ------------------------------------------------------------------------------------------- */

enum commit_text {
        COMMIT_MESSAGE, /* as stored */
        COMMIT_AUTHOR,  /* "Name <email>\n" */
        COMMIT_DATE,    /* of the committer, in ISO 8601 with zone, and a newline */
        COMMIT_CHANGES  /* against the first parent, a line for each path, as by git diff --name-status -M100%: "M\tpath", "R100\told\tnew" */
};
/* -EFBIG, for COMMIT_CHANGES: the folders that differ have more than about a million files and folders. */
int history_text(struct history *h, uint32_t number, enum commit_text which, struct buffer *ret);
/* Calls fn for each hunk of changed lines against the first parent, without context, in text files below 8 MB. A result of fn other than 0 ends the
 * calls and is returned. */
struct commit_hunk {
        const char *path;     /* after the commit; of a deleted file, before it */
        struct slice text[2]; /* the whole file before and after; empty: no such file */
        unsigned line[2], n[2]; /* the first line, from 1, and the number of lines; if n is 0, the line before */
};
typedef int (*commit_hunk_fn)(void *user, const struct commit_hunk *h);
int history_hunks(struct history *h, uint32_t number, commit_hunk_fn fn, void *user);
/* The commit's changes against the first parent as git prints them, with renames, without context, in text files below 8 MB. */
int history_patch(struct history *h, uint32_t number, struct buffer *ret);
/* Calls fn for each file and link of the commit. -EFBIG as above. */
typedef void (*history_file_fn)(void *user, const char *path);
int history_files(struct history *h, uint32_t number, history_file_fn fn, void *user);
/* The first line of the commit's message, printable. "" if it cannot be read, which is logged. */
void history_subject(struct history *h, uint32_t number, struct buffer *ret);

/* -- order ------------------------------------------------------------------------------------------------------- */

/* *ret: true if `ancestor` is the commit itself or one of its ancestors. The first question about an ancestor reads the commits indexed after it
 * (milliseconds for tens of thousands); the last N_DESCENDANTS ancestors are cached. */
int history_descends(struct history *h, uint32_t commit, uint32_t ancestor, bool *ret);

/* The first-parent line from `tip` (COMMIT_NONE: HEAD) back to the root, oldest first; free(). */
int history_line(struct history *h, uint32_t tip, uint32_t **ret_numbers, size_t *ret_n);

/* All commits in the order of histories (docs/tree.md, Histories): along the first parents of HEAD, oldest first. Commits that a merge brought come
 * before the merge, and commits that HEAD does not reach come last, both in the order of numbers. So a commit comes after its parents. Made once per
 * generation (tens of milliseconds for tens of thousands of commits), and shared. */
struct commit_order {
        unsigned refs;
        uint64_t generation; /* history_generation() when it was made */
        uint32_t n;
        uint32_t *list;  /* owned; the commits in order */
        uint32_t *place; /* owned; each commit's index in `list`, by its number */
        uint32_t *line;  /* owned; HEAD and its first parents, oldest first: history_line(). None without a HEAD */
        uint32_t n_line;
};
int history_order(struct history *h, struct commit_order **ret);
DECLARE_REFS(commit_order)
/* For qsort_r() with an order's `place`: of numbers of commits, or of structures that begin with one. */
int commit_order_compare(const void *a, const void *b, void *place);

/* -- sources ----------------------------------------------------------------------------------------------------- */

/* The digest of the tree entries (id, mode, path) of `paths` at this commit: commits with equal sources share a build. Read from the store if it is
 * kept there. `paths` is NULL-terminated; empty: the whole tree. A missing path counts as absent, and is no error. */
int history_source(struct history *h, uint32_t number, char *const *paths, struct digest *ret);
/* *ret: true if the commit has this path; with COMMIT_NONE, if any has it. That may read every commit's tree: a second for tens of thousands. */
int history_has_path(struct history *h, uint32_t number, const char *path, bool *ret);
/* Keeps a commit's digest beside results of the commit, so that they are found even after the repository has lost the commit. */
int history_keep_source(struct history *h, struct store_txn *t, uint32_t number, char *const *paths, const struct digest *source);
/* The digest of every commit, (*ret)[number], zero for a commit that the repository has lost; free(). Takes seconds for tens of thousands of commits
 * the first time, milliseconds later: digests are kept in the store. */
int history_sources(struct history *h, char *const *paths, struct digest **ret, uint32_t *ret_n);
