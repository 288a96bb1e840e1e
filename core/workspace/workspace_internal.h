/* Shared by the files of workspace.h: workspace.c (open, close, members), workspace_folder.c (a store's folder), workspace_config.c (reads the config
 * when it changes), workspace_solvers.c (opens its solvers), workspace_edit.c (adds, replaces, removes solvers). */
#pragma once

#include <pthread.h>

#include "core/workspace/config_text.h"
#include "core/workspace/workspace.h"

struct repository {
        struct repository *next;
        struct history *history; /* owns a ref */
        char name[];
};

struct workspace {
        char dir[PATH_SIZE], config[PATH_SIZE], repos[PATH_SIZE];
        struct store *store;       /* owned */
        struct cases *cases;       /* owned */
        struct sets *sets;         /* owned */
        struct programs *programs; /* owned */
        struct settings settings;  /* as at open */
        struct worker_pool **pools;  /* owned; of the clusters of `settings`, in order */
        size_t n_pools;
        uint64_t wait_ns;   /* workspace_set_wait() */
        const char *run_on; /* borrowed: workspace_run_on(); NULL: as the config says */

        pthread_mutex_t lock;
        /* under lock */
        struct repository *repositories; /* owned; opened once, kept */
        struct solver_list *solvers;     /* a ref */
        struct timespec config_time;     /* of the file that `solvers` was read from */
        off_t config_size;
        uint64_t recipes_changed; /* number of readings that changed or removed a recipe of `solvers` */
        uint64_t looked, read;    /* now_ns() when the file was last looked at, and read */
        struct buffer mistakes;   /* of the config, a line each */
        struct buffer mistakes_before; /* those of the reading before: they are not logged again */
        void *learned;            /* core/portfolio's lessons, owned: workspace_learned() */
        void (*learned_free)(void *learned);
        bool unfinished; /* something was missing that may be there the next time: a repository, room in the store */
};

static inline bool is_among(const char *name, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(names[i], name) == 0)
                        return true;
        return false;
}

static inline struct slice config_text_slice(const struct config_text *t)
{
        return SLICE(t->text.data, t->text.size);
}

/* -- workspace_folder.c -- */

/* Makes the missing folders of a store. */
int workspace_make_folders(const char *dir);
int workspace_none_at(const char *dir); /* -ENOENT, with the sentence that there is no store at `dir` */

/* -- workspace_config.c -- */

/* Reads the config again if the file has changed, or if the last reading was unfinished. Under the lock. */
int workspace_refresh(struct workspace *w);
/* Notes a mistake in the config, for the log and for workspace_mistakes(). Under the lock. */
void workspace_note_mistake(struct workspace *w, const char *what, int r);
/* Call it after writing the config, with the result `r`. Unless r < 0, the next call that needs the config reads it again. Returns r. */
int workspace_config_written(struct workspace *w, int r);

/* -- workspace_solvers.c -- */

/* Opens the solvers of a config. One that cannot be opened stays as it was, or is left out if it is new, and the log says why. Under the lock. */
int solver_list_read(struct workspace *w, const struct config_text *text, struct solver_list **ret);
/* A new reference to the history of a repository, opened once. Under the lock. */
int workspace_history(struct workspace *w, const char *name, struct history **ret);
/* The cluster of this name. *ret is NULL for "local" or no name. -EINVAL: there is no such cluster. */
int workspace_find_pool(struct workspace *w, const char *name, struct worker_pool **ret);
