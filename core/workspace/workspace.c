/* Opens and closes a workspace, and gives access to its members. */
#include "core/workspace/workspace_internal.h"

#include "core/workspace/format.h"
#include "core/run/file_digest.h"

static const struct cases_tables cases_tables = {.cases = TABLE_CASES, .names = TABLE_CASE_NAMES, .digests = TABLE_CASE_DIGESTS};

void *workspace_learned(struct workspace *w, void *(*make)(void), void (*learned_free)(void *learned))
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        if (!w->learned) {
                w->learned = make();
                w->learned_free = learned_free;
        }
        return w->learned;
}

/* -- opened and closed -- */

/* Checks the config's version before anything in the store is touched. Other mistakes may be due to a truncated config, which only the store can tell. */
static int check_version(struct workspace *w)
{
        cleanup_blob struct blob text = {0};
        struct settings s;
        int r = read_file(w->config, CONFIG_SIZE_MAX, &text)
            ?: settings_parse(SLICE(text.data, text.size), w->config, &s);

        if (r == 0)
                settings_done(&s);
        return r == -EINVAL || r == -ENOENT ? 0 : r;
}

static int open_clusters(struct workspace *w)
{
        cleanup_config_text struct config_text text = {0};
        int r = config_text_read(w->store, w->config, &text);

        if (r == 0 && text.gone && text.blank)
                r = workspace_none_at(w->dir);
        if (r == 0)
                r = settings_parse(config_text_slice(&text), w->config, &w->settings);
        w->pools = allocate(w->settings.n_clusters + 1, sizeof(*w->pools));
        for (; r == 0 && w->n_pools < w->settings.n_clusters; w->n_pools += r == 0)
                r = pool_open(w, &w->settings.clusters[w->n_pools], &w->pools[w->n_pools]);
        return r;
}

static int open_store(struct workspace *w, int flags)
{
        int r = workspace_find(w->dir) ?: check_version(w);

        if (r == 0 && !(flags & STORE_READ_ONLY))
                r = workspace_make_folders(w->dir); /* an older or damaged store may lack some */
        if (r == -EROFS || r == -EACCES || r == -EPERM)
                r = 0; /* store_open() continues read-only, and says so */
        return r < 0 ? r : store_open(w->dir, workspace_tables, N_TABLES, flags, &w->store);
}

static int open_contents(struct workspace *w)
{
        char digests[PATH_SIZE];
        int r = open_clusters(w)
            ?: cases_open(w->store, &cases_tables, &w->cases)
            ?: sets_open(w->store, TABLE_SETS, &w->sets)
            ?: programs_open(w->dir, store_read_only(w->store), w->settings.programs_bound, &w->programs);

        if (r == 0) {
                pthread_mutex_lock(&w->lock);
                r = workspace_refresh(w);
                pthread_mutex_unlock(&w->lock);
        }
        if (r == 0 && !store_read_only(w->store) && (r = path_join(digests, w->dir, "toolchain")) == 0)
                file_digests_keep(digests);
        return r == 0 ? format_check(w) : r;
}

int workspace_open(const char *dir, int flags, struct workspace **ret)
{
        cleanup_free char *absolute = realpath(dir, NULL);
        struct workspace *w;
        int r;

        if (!absolute)
                return errno == ENOENT ? workspace_none_at(dir) : errorf(-errno, "cannot open the store %s: %s", dir, strerror(errno));
        w = allocate(1, sizeof(*w));
        w->wait_ns = UINT64_MAX;
        git_begin_unless_delayed();
        pthread_mutex_init(&w->lock, NULL);
        r = snprintf(w->dir, sizeof(w->dir), "%s", absolute) < PATH_SIZE ? path_join(w->config, w->dir, "config") : -ENAMETOOLONG;
        if (r == 0)
                r = path_join(w->repos, w->dir, "repos") ?: open_store(w, flags) ?: open_contents(w);
        if (r < 0) {
                const bool in_config = r == -EINVAL && strncmp(error_message(r), w->config, strlen(w->config)) == 0;
                cleanup_free char *reason = format_string(flags & STORE_CHECK && in_config ? "%s; to go back to what was last read, move %s away and run "
                                                                                             "'solverfs fsck' again" : "%s", error_message(r), w->config);

                workspace_close(w);
                return errorf(r, "%s", reason);
        }
        *ret = w;
        return 0;
}

struct workspace *workspace_close(struct workspace *w)
{
        if (!w)
                return NULL;
        if (w->learned)
                w->learned_free(w->learned);
        solver_list_unref(w->solvers);
        for (struct repository *p = w->repositories, *next; p; p = next) {
                next = p->next;
                history_unref(p->history);
                free(p);
        }
        for (size_t i = 0; i < w->n_pools; i++)
                pool_close(w->pools[i]);
        free(w->pools);
        programs_close(w->programs);
        sets_close(w->sets);
        cases_close(w->cases);
        store_close(w->store);
        settings_done(&w->settings);
        buffer_done(&w->mistakes);
        buffer_done(&w->mistakes_before);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return NULL;
}

/* -- its engine -- */

static uint64_t recipes_changed(void *workspace)
{
        return workspace_recipes_changed(workspace);
}

static void each_pool(void *workspace, void (*fn)(void *user, struct engine_remote *a), void *user)
{
        struct workspace *w = workspace;

        for (size_t i = 0; i < w->n_pools; i++)
                fn(user, &w->pools[i]->remote);
}

static void look_again(void *engine)
{
        engine_look_again(engine);
}

static void attach_pools(void *workspace, struct engine *e)
{
        struct workspace *w = workspace;

        for (size_t i = 0; i < w->n_pools; i++)
                pool_attach(w->pools[i], e ? look_again : NULL, e);
        for (size_t i = 0; !e && i < w->n_pools; i++)
                pool_store_probes(w->pools[i]);
}

int workspace_engine(struct workspace *w, const struct engine_options *options, struct engine **ret)
{
        struct engine_options o = options ? *options : (struct engine_options){0};

        o.cores = o.cores ?: w->settings.cores;
        o.queue = o.queue ?: w->settings.queue;
        o.grace_ns = o.grace_ns ?: w->settings.grace_ns;
        if (w->wait_ns != UINT64_MAX) {
                o.gives_up = true;
                o.wait_ns = w->wait_ns;
        }
        return engine_open(&(struct engine_home){.dir = w->dir,
                                                  .store = w->store,
                                                  .changes = recipes_changed,
                                                  .each_remote = each_pool,
                                                  .attach = attach_pools,
                                                  .user = w},
                           &o, ret);
}

void workspace_set_wait(struct workspace *w, uint64_t wait_ns)
{
        w->wait_ns = wait_ns;
}

uint64_t workspace_wait(const struct workspace *w)
{
        return w->wait_ns;
}

int workspace_run_on(struct workspace *w, const char *pool)
{
        struct worker_pool *p;
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);
        int r = workspace_find_pool(w, pool, &p);

        if (r == 0) {
                w->run_on = pool;
                w->solvers = solver_list_unref(w->solvers);
                r = workspace_refresh(w);
        }
        return r;
}

/* -- its members -- */

const char *workspace_dir(struct workspace *w)
{
        return w->dir;
}

struct store *workspace_store(struct workspace *w)
{
        return w->store;
}

struct cases *workspace_cases(struct workspace *w)
{
        return w->cases;
}

struct sets *workspace_sets(struct workspace *w)
{
        return w->sets;
}

struct programs *workspace_programs(struct workspace *w)
{
        return w->programs;
}

const struct settings *workspace_settings(struct workspace *w)
{
        return &w->settings;
}
