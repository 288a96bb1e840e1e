/* An open store folder: its configuration, solvers, cases, programs. Queries are about these.
 *
 *     <store>/config            git-config text: [solverfs] settings and a [solver "NAME"] for each
 *             lmdb/ journal/    cache/store/store.h
 *             repos/<name>.git  core/history/history.h
 *             cases/            core/cases/cases.h
 *             downloads/        of recipes, by sha256
 *             deltas/           built programs (cache/store/programs.h)
 *             programs/         copies of them, to be executed
 *             work/<name>/<n>   worktrees
 *             scratch/          of runs in progress
 *             slots/ claims/ engines/   locks, and the engines' present work
 *             building/         output of builds in progress (core/build/live_log.h)
 *             mounts/           locks of mounts (tools/mounts.h)
 *             log               of mounts
 * Everything is 0700/0600 whatever the umask.
 *
 * [solverfs] keys: settings.c. [cluster "NAME"]: worker_pool.h.
 *
 * Threads: any. A solver list is a snapshot: hold a reference while using it.
 */
#pragma once

#include "core/build/build.h"
#include "core/cases/cases.h"
#include "core/cases/sets.h"
#include "core/engine/engine.h"
#include "core/run/fact.h"
#include "core/workspace/worker_pool.h"
#include "core/workspace/settings.h"
#include "core/workspace/tables.h"

struct workspace;

struct solver {
        unsigned refs;
        uint32_t number;         /* dense, for good */
        uint64_t version;        /* changes with the recipe and the place of runs and builds */
        struct recipe *recipe;   /* owns a ref; name is recipe->name */
        struct history *history; /* owns a ref; shared with its variants */
        const char *repository;  /* name of the repository: the base's for a variant; points into recipe */
        struct worker_pool *pool;     /* where its runs are done; NULL: here. The workspace's */
        struct worker_pool *builder;   /* where it is built; likewise */
};
DECLARE_REFS(solver)
/* A solver that is in no list: `s` with another recipe, whose reference it takes over. Its runs are done where those of `s` are; so are its builds if
 * the recipe has a builder, else here. */
struct solver *solver_with(const struct solver *s, struct recipe *recipe);
struct commit_sha {
        char s[GIT_OID_HEXSZ + 1];
};
struct commit_sha full_sha(const struct solver *s, uint32_t commit); /* 40 digits; "?" if it cannot be read */

struct solver_list {
        unsigned refs;
        size_t n;
        struct solver *list[]; /* by name; owns refs */
};
DECLARE_REFS(solver_list)

/* --store DIR, else $SOLVERFS_STORE, else $XDG_DATA_HOME/solverfs, else ~/.local/share/solverfs. `given` may be NULL. */
int workspace_default_dir(const char *given, char ret[PATH_SIZE]);
int workspace_create(const char *dir); /* -EEXIST: there is a store. Completes an interrupted creation */
/* 0 if there is a store, even without its config, which workspace_open() handles. -ENOENT: no store. */
int workspace_find(const char *dir);
/* The kind of network file system that the folder is on, where LMDB's locks and map are not safe; NULL: none is known. */
const char *workspace_network(const char *dir);
int workspace_open(const char *dir, int flags, struct workspace **ret); /* `flags` are those of store_open() */
struct workspace *workspace_close(struct workspace *w);

const char *workspace_dir(struct workspace *w);
struct store *workspace_store(struct workspace *w);
struct cases *workspace_cases(struct workspace *w);
struct sets *workspace_sets(struct workspace *w);
struct programs *workspace_programs(struct workspace *w);

/* The solvers of the present config, which is read again when the file changes. A truncated config is read from its copy. If the config cannot be read,
 * the last good list stays, and the error is logged once. A solver that cannot be opened stays as it was, or is left out if it is new. Opening it, or
 * storing the copy on a full disk, is tried again every second. */
int workspace_solvers(struct workspace *w, struct solver_list **ret);
/* The recipes of all solvers in the config, also of those that cannot be opened; recipe_list_free(). -ENODATA: the config was emptied, and its solvers
 * are unknown. */
int workspace_recipes(struct workspace *w, struct recipe ***ret_list, size_t *ret_n);
/* Checks whether the config was truncated (config_text.h). 0: no. 1: yes, and it was restored, unless `look_only`. -ENODATA: yes, and its text is lost.
 * For all but 0, error_message() has a sentence. */
int workspace_check_config(struct workspace *w, bool look_only);
/* Refuses to edit a truncated config, as an edit starts from the file: -EUCLEAN, -ENODATA, with a sentence. */
int workspace_check_editable(struct workspace *w);
/* Makes the next call that needs the config check the file, which otherwise happens at most ten times a second. */
void workspace_look_again(struct workspace *w);
/* The number of readings of the config that found a solver's recipe changed or removed. */
uint64_t workspace_recipes_changed(struct workspace *w);
/* The mistakes in the present config, a line each. */
void workspace_mistakes(struct workspace *w, struct buffer *ret);
int workspace_solver(struct workspace *w, const char *name, struct solver **ret);
int workspace_solver_by_number(struct workspace *w, uint32_t number, struct solver **ret);
bool solver_is_gone(struct workspace *w, const struct solver *s); /* removed from the config */
int workspace_check_name(const char *name); /* -EINVAL with a sentence: the name is reserved for programs without a repository (programs.h) */
/* Clones, indexes, writes the config. `recipes` as from recipe_read(); with `url` NULL, variants of an existing solver. -EEXIST: there is a solver of that
 * name. On failure the config is as it was; a repository that was cloned may stay, and the next try fetches into it. */
int workspace_add_solver(struct workspace *w, struct recipe *const *recipes, size_t n, const char *url, const struct progress *p);

/* Fetches what a solver's builds read beside its repository: submodules, downloads (<store>/downloads/<sha256>), and the host of `within`. */
int workspace_fetch_sources(struct workspace *w, const struct solver *s, const struct progress *p);
/* Fetches one download. -EINVAL: it does not have its digest. */
int workspace_fetch_file(struct workspace *w, const struct recipe_file *f, const struct progress *p);
/* Gives an existing solver another recipe. Its repository stays, and is updated from `url` if that is another address; NULL: the old one. Variants that
 * are not in `recipes` stay. Results of the old recipe are found again under the old recipe. -ENOENT; -EINVAL: the solver is a variant; -EEXIST: a variant
 * has the name of another solver. */
int workspace_replace_recipe(struct workspace *w, struct recipe *const *recipes, size_t n, const char *url, const struct progress *p);

/* Takes solvers and variants out of the config: they take no queries any more, and their jobs end. Measurements stay, and the same recipe finds them
 * again. -ENOENT: one is not in the config; -EINVAL: one has variants that are not among the names. */
int workspace_remove_solvers(struct workspace *w, const char *const *names, size_t n);

const struct settings *workspace_settings(struct workspace *w); /* as of open */

/* Makes all solvers run at the place of this name ("local": here), whatever the config says. Call it before any query. -EINVAL: no such place. */
int workspace_run_on(struct workspace *w, const char *pool);

/* Makes the engines opened from now on, and leases, give up if others leave them no core for `wait_ns` (UINT64_MAX: they wait for ever). */
void workspace_set_wait(struct workspace *w, uint64_t wait_ns);
uint64_t workspace_wait(const struct workspace *w);

/* The lessons of core/portfolio. The first call makes them; workspace_close() frees them. */
void *workspace_learned(struct workspace *w, void *(*make)(void), void (*learned_free)(void *learned));

/* An engine on this store. Its settings are those of the config unless `options` (may be NULL) sets them. Close it before the workspace. */
int workspace_engine(struct workspace *w, const struct engine_options *options, struct engine **ret);
