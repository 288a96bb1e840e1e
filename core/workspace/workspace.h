/* A store folder, opened: its configuration, solvers, cases, programs. Queries are asked about these.
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
 *             slots/ claims/ engines/   locks and what engines do now
 *             building/         what builds print now (core/build/live_log.h)
 *             mounts/           locks of mounts (tools/mounts.h)
 *             log               of mounts
 * Everything is 0700/0600 whatever the umask.
 *
 * [solverfs] keys: cores, sandbox (bwrap | none), programs (bytes the folder keeps, 2g), ccache (true), crawler (repeated: process
 * names that may not start work), grace (3s), queue, reduce (15m, of one reduction), runs and builds (local, or a cluster's name). [cluster "NAME"]: worker_pool.h.
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
        uint64_t version;        /* of the recipe: another one has another */
        struct recipe *recipe;   /* owns a ref; name is recipe->name */
        struct history *history; /* owns a ref; shared with its variants */
        const char *repository;  /* name of the repository: the base's for a variant; points into recipe */
        struct worker_pool *pool;     /* where its runs are done; NULL: here. The workspace's */
        struct worker_pool *builder;   /* where it is built, in the same way */
};
struct solver *solver_ref(struct solver *s);
struct solver *solver_unref(struct solver *s);
DEFINE_CLEANUP(struct solver *, solver_unref)
struct commit_sha {
        char s[GIT_OID_HEXSZ + 1];
};
struct commit_sha full_sha(const struct solver *s, uint32_t commit); /* in full; "?" when it cannot be read */

struct solver_list {
        unsigned refs;
        size_t n;
        struct solver *list[]; /* by name; owns refs */
};
struct solver_list *solver_list_unref(struct solver_list *l);
DEFINE_CLEANUP(struct solver_list *, solver_list_unref)

/* --store DIR, else $SOLVERFS_STORE, else $XDG_DATA_HOME/solverfs, else ~/.local/share/solverfs. `given` may be NULL. */
int workspace_default_dir(const char *given, char ret[PATH_SIZE]);
int workspace_create(const char *dir); /* -EEXIST when there is a store already; goes on with one whose making was broken off */
/* 0 when a store is there, be it without its config (which workspace_open() looks into); -ENOENT. */
int workspace_find(const char *dir);
int workspace_open(const char *dir, int flags, struct workspace **ret); /* `flags` are those of store_open() */
struct workspace *workspace_close(struct workspace *w);

const char *workspace_dir(struct workspace *w);
struct store *workspace_store(struct workspace *w);
struct cases *workspace_cases(struct workspace *w);
struct sets *workspace_sets(struct workspace *w);
struct programs *workspace_programs(struct workspace *w);

/* The solvers as the config now has them: re-read when the file changed. One that was cut off is read from its copy. A config that cannot
 * be read keeps the last good list and logs the error once; a solver that cannot be opened is left out; it, and room for the copy,
 * are looked for again every second. */
int workspace_solvers(struct workspace *w, struct solver_list **ret);
/* The recipes of all solvers that the config names, those that cannot be opened too; recipe_list_free(). -ENODATA: the config was emptied,
 * and nothing says which there were. */
int workspace_recipes(struct workspace *w, struct recipe ***ret_list, size_t *ret_n);
/* Was the config cut off (config_text.h)? 0: no. 1: yes, and it was written back, unless `look_only`. -ENODATA: yes, and what it said is
 * lost. With a sentence, in error_message(), unless 0. */
int workspace_check_config(struct workspace *w, bool look_only);
/* The config is looked at ten times a second at most; this once it is looked at by the next call that needs it. */
void workspace_look_again(struct workspace *w);
/* How often the config was seen to have another recipe for a solver than before, or none. */
uint64_t workspace_recipes_changed(struct workspace *w);
/* The mistakes in the config as it is now, a line each; nothing when there are none. */
void workspace_mistakes(struct workspace *w, struct buffer *ret);
int workspace_solver(struct workspace *w, const char *name, struct solver **ret);
int workspace_solver_by_number(struct workspace *w, uint32_t number, struct solver **ret);
bool solver_is_gone(struct workspace *w, const struct solver *s); /* removed from the config */
/* Clones, indexes, writes the config. `recipes` as recipe_read() gives them; with a `url` of NULL, variants of a solver that is there. Nothing is left on
 * failure. -EEXIST: there is a solver of that name. */
int workspace_add_solver(struct workspace *w, struct recipe *const *recipes, size_t n, const char *url, const struct progress *p);

/* Gets what builds of a solver read beside its repository: the recipe's submodules and downloads (<store>/downloads/<sha256>), and what it is `within`. */
int workspace_fetch_elsewhere(struct workspace *w, const struct solver *s, const struct progress *p);
/* One file. -EINVAL: it is another than its digest says. */
int workspace_fetch_file(struct workspace *w, const struct recipe_file *f, const struct progress *p);
/* Gives a solver that is there another recipe; its repository stays. What was measured under the old one is found again by it. Variants that
 * `recipes` does not have stay, too. -ENOENT, -EINVAL: it is a variant; -EEXIST: a variant has the name of another solver. */
int workspace_replace_recipe(struct workspace *w, struct recipe *const *recipes, size_t n);

/* Takes solvers and variants out of the config: nobody can ask them anything any more, and what they are doing ends. Measurements stay,
 * and the same recipe finds them again. -ENOENT, -EINVAL when one has variants that are not among the names. */
int workspace_remove_solvers(struct workspace *w, const char *const *names, size_t n);

const struct settings *workspace_settings(struct workspace *w); /* as read at open */

/* From now on all solvers run at the place of this name, "local" for here, whatever the config says; nothing was asked of them before. -EINVAL: there is
 * none of that name. */
int workspace_run_on(struct workspace *w, const char *pool);

/* What a room above keeps for as long as the workspace is open. The first call with a key (the address of a static object of that room) makes it;
 * workspace_close() frees it. */
void *workspace_kept(struct workspace *w, const void *key, void *(*make)(void), void (*kept_free)(void *kept));

/* An engine on this store, with the settings of its config where `options` (may be NULL) has none. To be closed before the workspace. */
int workspace_engine(struct workspace *w, const struct engine_options *options, struct engine **ret);
