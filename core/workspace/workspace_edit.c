/* Adds solvers to the config, replaces their recipes, removes them; one process at a time. */
#include "cache/base/lock.h"
#include "core/git/gitconfig.h"
#include "core/recipe/recipe_keys.h"
#include "core/workspace/workspace_internal.h"

struct edit {
        int lock;
        struct recipe **recipes; /* owned; all recipes of the config, also of solvers that cannot be opened */
        size_t n;
};

static void edit_done(struct edit *e)
{
        recipe_list_free(e->recipes, e->n);
        closep(&e->lock);
}
#define cleanup_edit cleanup(edit_done)

/* `p` (may be NULL) can stop the wait: another process may be cloning. */
static int begin_edit(struct workspace *w, const struct progress *p, struct edit *e)
{
        int r = lock_wait_for(w->dir, "solvers.lock", p, "waiting for another process's changes", &e->lock);

        if (r == -ECANCELED)
                return r;
        if (r < 0)
                return errorf(r, "cannot lock the config of %s: %s", w->dir, strerror(-r));
        r = workspace_check_editable(w);
        return r < 0 ? r : workspace_recipes(w, &e->recipes, &e->n);
}

/* -- adding -- */

int workspace_check_name(const char *name)
{
        return strcmp(name, RECIPE_PROGRAMS) == 0
                       ? errorf(-EINVAL, "'" RECIPE_PROGRAMS "' cannot be a solver's name: it holds the programs named 'exec:PATH ARG...'")
                       : 0;
}

static int check_reserved(struct recipe *const *recipes, size_t n)
{
        return recipe_find(recipes, n, RECIPE_PROGRAMS) ? workspace_check_name(RECIPE_PROGRAMS) : 0;
}

/* Refuses names that are taken: no repository may be cloned over another. */
static int check_names(const struct workspace *w, const struct edit *e, struct recipe *const *recipes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (recipe_find(e->recipes, e->n, recipes[i]->name))
                        return errorf(-EEXIST,
                                      "there is a solver '%s' already; choose another name, give it another recipe with --replace, or edit %s",
                                      recipes[i]->name, w->config);
        return 0;
}

/* Fetches into a repository that is there. `url` NULL: only indexes it. */
static int add_history(struct workspace *w, const char *name, const char *url, const struct progress *p)
{
        cleanup(history_unrefp) struct history *h = NULL;
        uint32_t n_new;
        int r;

        pthread_mutex_lock(&w->lock);
        r = workspace_history(w, name, &h);
        pthread_mutex_unlock(&w->lock);
        return r < 0 ? r : history_update(h, url, !url, p, &n_new);
}

static bool is_openable(const char *repository)
{
        cleanup_git_repository git_repository *git = NULL;

        git_begin();
        return git_repository_open_bare(&git, repository) == 0;
}

/* Fetches into the repository that `solver remove` or a killed add left: it may have snapshots, and commits that upstream rewrote. If there is none,
 * clones, and leaves nothing on failure. */
static int get_history(struct workspace *w, const char *name, const char *url, const struct progress *p)
{
        cleanup_free char *repository = format_string("%s/%s.git", w->repos, name), *reason = NULL;
        int r;

        if (is_openable(repository))
                return add_history(w, name, url, p);
        r = remove_tree(repository)
            ?: history_clone(w->repos, name, url, w->settings.fetch_timeout_ns, p)
            ?: add_history(w, name, NULL, p);
        if (r == 0)
                return 0;
        reason = copy_string(error_message(r));
        remove_tree(repository);
        return errorf(r, "%s", reason);
}

/* Refuses an address that the config cannot hold; called before anything is fetched. */
static int check_address(const char *url)
{
        cleanup_free char *shown = printable(url);
        cleanup_gitconfig struct gitconfig g = {0};
        cleanup_buffer struct buffer text = {0};

        buffer_adds(&text, "[solver]\n");
        gitconfig_line(&text, "", "repository", url);
        return gitconfig_parse("", SLICE(text.data, text.size), NULL, &g) < 0
                       ? errorf(-EINVAL, "the config cannot hold the address '%s', which is not text in UTF-8", shown)
                       : 0;
}

int workspace_add_solver(struct workspace *w, struct recipe *const *recipes, size_t n, const char *url, const struct progress *p)
{
        cleanup_free char *absolute = url ? realpath(url, NULL) : NULL; /* a URL stays what it is */
        cleanup_edit struct edit e = {.lock = -1};
        int r = check_reserved(recipes, n) ?: begin_edit(w, p, &e) ?: check_names(w, &e, recipes, n);

        if (r == 0 && url) {
                set_string(&recipes[0]->repository, absolute ?: url);
                r = check_address(recipes[0]->repository) ?: get_history(w, recipes[0]->name, recipes[0]->repository, p);
        }
        if (r == 0)
                r = recipe_write_config(w->config, recipes, n);
        return workspace_config_written(w, r);
}

/* -- another recipe -- */

/* A new recipe without `runs` or `builds` keeps those of the old one. */
static void keep_places(const struct recipe *old, struct recipe *const *recipes, size_t n)
{
        struct recipe *now = recipe_find(recipes, n, old->name);

        if (now && !now->runs)
                set_string(&now->runs, old->runs);
        if (now && !now->builds)
                set_string(&now->builds, old->builds);
}

/* Checks that the solver is in the config, and that no new variant has the name of another solver. *ret_url: the address of its repository; free(). */
static int check_replaceable(const struct edit *e, struct recipe *const *recipes, size_t n, char **ret_url)
{
        const char *name = recipes[0]->name;

        for (size_t i = 0; i < e->n; i++) {
                const struct recipe *old = e->recipes[i];

                if (strcmp(old->name, name) == 0) {
                        if (old->base)
                                return errorf(-EINVAL, "'%s' is a variant of %s: give that another recipe", name, old->base);
                        *ret_url = copy_string(old->repository ? old->repository : "");
                } else if (recipe_find(recipes + 1, n - 1, old->name) && !(old->base && strcmp(old->base, name) == 0))
                        return errorf(-EEXIST, "there is a solver '%s' already, which is no variant of %s", old->name, name);
        }
        return *ret_url ? 0 : errorf(-ENOENT, "there is no solver '%s' yet: to add it, say where its repository is", name);
}

int workspace_replace_recipe(struct workspace *w, struct recipe *const *recipes, size_t n, const char *url, const struct progress *p)
{
        cleanup_free char *absolute = url ? realpath(url, NULL) : NULL;
        cleanup_edit struct edit e = {.lock = -1};
        int r = check_reserved(recipes, n) ?: begin_edit(w, p, &e);

        url = absolute ?: url;
        if (r == 0) {
                free(steal_pointer(recipes[0]->repository));
                r = check_replaceable(&e, recipes, n, &recipes[0]->repository);
        }
        for (size_t i = 0; r == 0 && i < e.n; i++)
                keep_places(e.recipes[i], recipes, n);
        if (r == 0 && url && strcmp(url, recipes[0]->repository) != 0) {
                set_string(&recipes[0]->repository, url);
                r = check_address(url) ?: add_history(w, recipes[0]->name, url, p);
        }
        if (r == 0)
                r = recipe_write_config(w->config, recipes, n);
        return workspace_config_written(w, r);
}

/* -- removing -- */

/* Checks that the solvers are in the config, even if they cannot be opened, and that no variant of theirs is left. */
static int check_removable(const struct workspace *w, const struct edit *e, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (!recipe_find(e->recipes, e->n, names[i]))
                        return errorf(-ENOENT, "no solver '%.100s' in %s", names[i], w->config);
                for (size_t k = 0; k < e->n; k++) {
                        const struct recipe *recipe = e->recipes[k];

                        if (recipe->base && strcmp(recipe->base, names[i]) == 0 && !is_among(recipe->name, names, n))
                                return errorf(-EINVAL, "%s is a variant of %s: remove it too, or first", recipe->name, names[i]);
                }
        }
        return 0;
}

int workspace_remove_solvers(struct workspace *w, const char *const *names, size_t n)
{
        cleanup_edit struct edit e = {.lock = -1};
        int r = begin_edit(w, NULL, &e)
            ?: check_removable(w, &e, names, n)
            ?: recipe_remove_config(w->config, "solver", names, n);

        return workspace_config_written(w, r);
}
