#include "core/query/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "core/query/config_text.h"
#include "core/query/names.h"
#include "core/query/takeover.h"

static const struct history_tables history_tables = {
        .commits = TABLE_COMMITS, .oids = TABLE_OIDS, .refs = TABLE_REFS, .sources = TABLE_SOURCES};
static const struct cases_tables cases_tables = {.cases = TABLE_CASES, .names = TABLE_CASE_NAMES, .digests = TABLE_CASE_DIGESTS};

static const char *const folders[] = {"repos", "cases", "programs", "work", "scratch", "slots", "claims", "engines"};

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
        struct run_place **places;     /* owned; of the clusters of `settings`, in their order */
        size_t n_places;
        const char *run_on; /* borrowed: workspace_run_on(); NULL: as the config says */

        bool as_it_is; /* opened so: no copy of the config is kept until somebody else opens the store */
        pthread_mutex_t lock;
        /* under lock */
        struct repository *repositories; /* owned; opened once, kept */
        struct solver_list *solvers;     /* a ref */
        struct timespec config_time;     /* of the file that `solvers` was read from */
        off_t config_size;
        uint64_t recipes_changed; /* how often one of `solvers` had another recipe than before */
        uint64_t looked, read;    /* now_ns() when the file was last looked at, and read */
        struct buffer mistakes;   /* lines: what is wrong with it */
        struct buffer told;       /* those of the reading before: the log has them */
        struct kept *kept; /* owned */
        bool unfinished; /* something could not be had that may be there the next time: a repository, room in the store */
};

#define LOOK_NS  (100 * NSEC_PER_MSEC) /* how often the file is looked at, at most */
#define AGAIN_NS NSEC_PER_SEC          /* and read again though it is the same, when that was unfinished */

/* -- solvers -- */

struct solver *solver_ref(struct solver *s)
{
        __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
        return s;
}

struct solver *solver_unref(struct solver *s)
{
        if (s && __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                recipe_unref(s->recipe);
                history_unref(s->history);
                free(s);
        }
        return NULL;
}

struct solver_list *solver_list_unref(struct solver_list *l)
{
        if (l && __atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                for (size_t i = 0; i < l->n; i++)
                        solver_unref(l->list[i]);
                free(l);
        }
        return NULL;
}

static int name_number(struct workspace *w, enum name_space space, const char *name, uint32_t *ret)
{
        return store_read_only(w->store) ? names_number(w->store, space, name, ret) : names_intern(w->store, space, name, ret);
}

/* A new reference to the history of a repository, opened once. Lock held. */
static int workspace_history(struct workspace *w, const char *name, struct history **ret)
{
        struct repository *p;
        uint32_t number;
        int r;

        for (p = w->repositories; p; p = p->next)
                if (strcmp(p->name, name) == 0) {
                        *ret = history_ref(p->history);
                        return 0;
                }
        r = name_number(w, NAMES_REPOSITORY, name, &number);
        if (r < 0)
                return r;
        p = calloc(1, sizeof(*p) + strlen(name) + 1);
        if (!p)
                return -ENOMEM;
        memcpy(p->name, name, strlen(name) + 1);
        r = history_open(w->store, &history_tables, w->repos, name, number, &p->history);
        if (r < 0) {
                free(p);
                return r;
        }
        history_set_silence(p->history, w->settings.fetch_timeout_ns);
        p->next = w->repositories;
        w->repositories = p;
        *ret = history_ref(p->history);
        return 0;
}

/* Of its text, so that whatever it says counts. */
static int recipe_version(const struct recipe *recipe, uint64_t *ret)
{
        cleanup_buffer struct buffer text = {0};
        struct digest d;
        int r = recipe_print(recipe, &text);

        if (r < 0)
                return r;
        digest_of(text.data, text.size, &d);
        memcpy(ret, d.bytes, sizeof(*ret));
        return 0;
}

static int find_place(struct workspace *w, const char *name, struct run_place **ret)
{
        *ret = NULL;
        if (!name || strcmp(name, "local") == 0)
                return 0;
        for (size_t i = 0; i < w->n_places; i++)
                if (strcmp(w->places[i]->name, name) == 0)
                        *ret = w->places[i];
        return *ret ? 0
                    : errorf(-EINVAL, "there was no [cluster \"%s\"] in %s when it was opened: define one, or mount again if it is new", name, w->config);
}

/* The folders that a recipe reads from outside of its sources are this machine's. */
static int check_builder(const struct recipe *r)
{
        bool has = r->dependencies[0] != NULL;

        for (size_t i = 0; i < r->n_eras; i++)
                has |= r->eras[i]->dependencies[0] != NULL;
        return has ? errorf(-EINVAL, "%s has a 'dependency' in its recipe, a folder of this machine, and cannot be built elsewhere: say builds = local in [solver \"%s\"]",
                            r->name, r->base ?: r->name)
                   : 0;
}

static int find_builder(struct workspace *w, struct solver *s, struct recipe *recipe)
{
        int r = find_place(w, recipe->builds ?: w->settings.builds, &s->builder);

        if (r < 0)
                return r;
        recipe->builder = s->builder ? &s->builder->builder : NULL;
        for (size_t i = 0; i < recipe->n_eras; i++)
                recipe->eras[i]->builder = recipe->builder;
        if (!s->builder)
                return 0;
        place_will_build(s->builder);
        return check_builder(recipe);
}

static int solver_new(struct workspace *w, struct recipe *recipe, struct solver **ret)
{
        cleanup(solver_unrefp) struct solver *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->refs = 1;
        s->recipe = recipe_ref(recipe);
        s->repository = recipe->base ? recipe->base : recipe->name;
        r = find_place(w, w->run_on ?: recipe->runs ?: w->settings.runs, &s->place);
        if (r == 0)
                r = recipe_version(recipe, &s->version);
        if (r == 0)
                r = find_builder(w, s, recipe);
        if (s->place) /* a mount must see that it has other results now */
                s->version ^= hash_quick(s->place->name, strlen(s->place->name));
        if (s->builder)
                s->version ^= hash_quick(s->builder->name, strlen(s->builder->name)) * 3;
        if (r == 0)
                r = name_number(w, NAMES_SOLVER, recipe->name, &s->number);
        if (r == 0)
                r = workspace_history(w, s->repository, &s->history);
        if (r < 0)
                return r;
        *ret = steal_pointer(s);
        return 0;
}

static int by_name(const void *a, const void *b)
{
        const struct solver *const *x = a, *const *y = b;

        return strcmp((*x)->recipe->name, (*y)->recipe->name);
}

/* Mistakes in the config, for the log and for workspace_mistakes(). Lock held. */
static void note_mistake(struct workspace *w, const char *what, int r)
{
        cleanup_buffer struct buffer line = {0};

        buffer_addf(&line, "%s: %s\n", what, error_message(r));
        if (buffer_error(&line) < 0)
                return;
        if (!w->told.data || !strstr(w->told.data, line.data))
                log_error("%.*s", (int)line.size - 1, line.data);
        buffer_add(&w->mistakes, line.data, line.size);
}

static struct slice text_of(const struct config_text *c)
{
        return SLICE(c->text.data, c->text.size);
}

/* One solver that cannot be opened does not take the others away: it is left out, and the log says why. */
static int solver_list_read(struct workspace *w, const struct config_text *text, struct solver_list **ret)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        struct recipe **recipes;
        size_t n;
        int r;

        r = recipe_parse_config(text_of(text), w->config, &recipes, &n);
        if (r < 0)
                return r;
        l = calloc(1, sizeof(*l) + n * sizeof(*l->list));
        if (l) {
                l->refs = 1;
                for (size_t i = 0; i < n; i++) {
                        r = solver_new(w, recipes[i], &l->list[l->n]);
                        if (r == 0)
                                l->n++;
                        else {
                                char what[128];

                                snprintf(what, sizeof(what), "solver %.64s is left out", recipes[i]->name);
                                note_mistake(w, what, r);
                                w->unfinished = true;
                        }
                }
                sort_list(l->list, l->n, sizeof(*l->list), by_name);
        }
        recipe_list_free(recipes, n);
        if (!l)
                return -ENOMEM;
        *ret = steal_pointer(l);
        return 0;
}

/* The settings of a workspace are as they were when it was opened; what they are to be at the next opening may be wrong. */
static void settings_check(struct workspace *w, const struct config_text *text)
{
        struct settings s;
        int r = settings_parse(text_of(text), w->config, &s);

        if (r < 0)
                note_mistake(w, "the settings stay as they were", r);
        else
                settings_done(&s);
}

static int cut_off(struct workspace *w, const struct config_text *c)
{
        static const char until[] = "what was last read counts, until 'solverfs fsck' puts it back";

        if (c->gone)
                return errorf(-EUCLEAN, "%s is gone; %s", w->config, until);
        return errorf(-EUCLEAN, "%s was cut off behind %zu of its %zu bytes; %s", w->config, c->left, c->text.size, until);
}

static bool any_recipe_differs(const struct solver_list *before, const struct solver_list *now)
{
        for (size_t i = 0; i < before->n; i++) {
                bool same = false;

                for (size_t k = 0; k < now->n && !same; k++)
                        same = before->list[i]->number == now->list[k]->number &&
                               before->list[i]->version == now->list[k]->version;
                if (!same)
                        return true;
        }
        return false;
}

static int take_config(struct workspace *w, const struct config_text *c)
{
        struct solver_list *l;
        int r;

        if (w->solvers)
                settings_check(w, c);
        if (c->cut)
                note_mistake(w, "the config", cut_off(w, c));
        r = solver_list_read(w, c, &l);
        if (r < 0)
                return r;
        w->recipes_changed += w->solvers && any_recipe_differs(w->solvers, l);
        solver_list_unref(w->solvers);
        w->solvers = l;
        r = w->as_it_is ? 0 : config_text_keep(w->store, c);
        if (r < 0) {
                note_mistake(w, "no copy of the config is kept", r);
                w->unfinished = true;
        }
        return 0;
}

static bool is_as_read(const struct workspace *w, const struct stat *st)
{
        return st->st_size == w->config_size && st->st_mtim.tv_sec == w->config_time.tv_sec &&
               st->st_mtim.tv_nsec == w->config_time.tv_nsec;
}

/* Reads the config again when the file is another one, or more may come of it than the last time. Lock held. */
static int workspace_refresh(struct workspace *w)
{
        cleanup_config_text struct config_text text = {0};
        uint64_t now = now_ns();
        struct stat st;
        int r;

        if (w->solvers && now - w->looked < LOOK_NS)
                return 0;
        w->looked = now;
        if (stat(w->config, &st) < 0) {
                if (errno != ENOENT)
                        return w->solvers ? 0 : errorf(-errno, "cannot read %s: %s", w->config, strerror(errno));
                st = (struct stat){0};
        }
        if (w->solvers && is_as_read(w, &st) && !(w->unfinished && now - w->read >= AGAIN_NS))
                return 0;
        w->config_size = st.st_size;
        w->config_time = st.st_mtim;
        w->read = now;
        w->unfinished = false;
        buffer_done(&w->told);
        w->told = w->mistakes;
        w->mistakes = (struct buffer){0};
        r = config_text_read(w->store, w->config, &text);
        if (r == 0)
                r = take_config(w, &text);
        if (r < 0 && w->solvers) {
                note_mistake(w, "the solvers stay as they were", r);
                w->unfinished = r != -EINVAL; /* which a mistake in the text is */
                r = 0;
        }
        return r;
}

int workspace_solvers(struct workspace *w, struct solver_list **ret)
{
        int r;

        pthread_mutex_lock(&w->lock);
        r = workspace_refresh(w);
        if (r == 0) {
                __atomic_add_fetch(&w->solvers->refs, 1, __ATOMIC_RELAXED);
                *ret = w->solvers;
        }
        pthread_mutex_unlock(&w->lock);
        return r;
}

void workspace_look_again(struct workspace *w)
{
        pthread_mutex_lock(&w->lock);
        w->looked = 0;
        pthread_mutex_unlock(&w->lock);
}

uint64_t workspace_recipes_changed(struct workspace *w)
{
        uint64_t n;

        pthread_mutex_lock(&w->lock);
        workspace_refresh(w); /* when it cannot be read, nothing has changed */
        n = w->recipes_changed;
        pthread_mutex_unlock(&w->lock);
        return n;
}

void workspace_mistakes(struct workspace *w, struct buffer *ret)
{
        pthread_mutex_lock(&w->lock);
        if (workspace_refresh(w) == 0 && w->mistakes.size > 0)
                buffer_add(ret, w->mistakes.data, w->mistakes.size);
        pthread_mutex_unlock(&w->lock);
}

int workspace_recipes(struct workspace *w, struct recipe ***ret_list, size_t *ret_n)
{
        cleanup_config_text struct config_text text = {0};
        int r = config_text_read(w->store, w->config, &text);

        if (r == 0 && text.blank)
                r = errorf(-ENODATA, "%s does not even have a version: it was emptied", w->config);
        return r < 0 ? r : recipe_parse_config(text_of(&text), w->config, ret_list, ret_n);
}

/* The names of solvers that there ever were; those the config had when it was lost are among them. */
static void solvers_ever(struct workspace *w, struct buffer *ret)
{
        for (uint32_t i = 0;; i++) {
                cleanup_free char *name = NULL;

                if (names_name(w->store, NAMES_SOLVER, i, &name) < 0)
                        return;
                buffer_addf(ret, "%s%s", i > 0 ? ", " : "", name);
        }
}

int workspace_check_config(struct workspace *w, bool look_only)
{
        cleanup_config_text struct config_text c = {0};
        cleanup_buffer struct buffer names = {0};
        int r = config_text_read(w->store, w->config, &c);

        if (r < 0 || !(c.cut || c.blank))
                return r;
        if (c.cut && look_only)
                return cut_off(w, &c), 1;
        if (c.cut) {
                r = write_file_atomic(w->config, c.text.data, c.text.size, 0600);
                if (r == 0 && c.gone)
                        errorf(-EUCLEAN, "%s was gone: it is written back", w->config);
                else if (r == 0)
                        errorf(-EUCLEAN, "%s was cut off behind %zu of %zu bytes: it is written back", w->config, c.left,
                               c.text.size);
                return r < 0 ? r : 1;
        }
        solvers_ever(w, &names);
        return errorf(-ENODATA,
                      "%s was emptied, and nothing has a copy: put it back from a backup, or write it anew (solvers there "
                      "were: %s)",
                      w->config, names.size > 0 ? names.data : "none");
}

int workspace_solver(struct workspace *w, const char *name, struct solver **ret)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        cleanup_buffer struct buffer known = {0};
        int r = workspace_solvers(w, &l);

        if (r < 0)
                return r;
        for (size_t i = 0; i < l->n; i++) {
                if (strcmp(l->list[i]->recipe->name, name) == 0) {
                        *ret = solver_ref(l->list[i]);
                        return 0;
                }
                buffer_addf(&known, "%s%s", i ? ", " : "", l->list[i]->recipe->name);
        }
        return errorf(-ENOENT, "no solver '%.100s' in %s; there %s %s", name, w->dir, l->n == 1 ? "is" : "are",
                      l->n ? known.data : "none yet: see 'solverfs solver add'");
}

int workspace_solver_by_number(struct workspace *w, uint32_t number, struct solver **ret)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(w, &l);

        if (r < 0)
                return r;
        for (size_t i = 0; i < l->n; i++)
                if (l->list[i]->number == number) {
                        *ret = solver_ref(l->list[i]);
                        return 0;
                }
        return -ENOENT;
}

bool solver_is_gone(struct workspace *w, const struct solver *s)
{
        cleanup(solver_unrefp) struct solver *now = NULL;

        return workspace_solver_by_number(w, s->number, &now) == -ENOENT;
}

/* -- adding and removing solvers -- */

static bool is_named(struct recipe *const *list, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(list[i]->name, name) == 0)
                        return true;
        return false;
}

/* By the config itself: a solver that cannot be opened just now is one all the same, and its repository is not to be cloned over. */
static int check_names(struct workspace *w, struct recipe *const *recipes, size_t n)
{
        struct recipe **there;
        size_t n_there;
        int r = workspace_recipes(w, &there, &n_there);

        if (r < 0)
                return r;
        for (size_t i = 0; r == 0 && i < n; i++)
                if (is_named(there, n_there, recipes[i]->name))
                        r = errorf(-EEXIST,
                                   "there is a solver '%s' already; choose another name, give it another recipe with --replace, or edit %s",
                                   recipes[i]->name, w->config);
        recipe_list_free(there, n_there);
        return r;
}

static void config_was_written(struct workspace *w)
{
        pthread_mutex_lock(&w->lock);
        w->looked = 0;
        w->config_size = -1;
        pthread_mutex_unlock(&w->lock);
}

static int add_history(struct workspace *w, const char *name, const struct progress *p)
{
        cleanup(history_unrefp) struct history *h = NULL;
        uint32_t fresh;
        int r;

        pthread_mutex_lock(&w->lock);
        r = workspace_history(w, name, &h);
        pthread_mutex_unlock(&w->lock);
        return r < 0 ? r : history_update(h, true, p, &fresh);
}

int workspace_add_solver(struct workspace *w, struct recipe *const *recipes, size_t n, const char *url, const struct progress *p)
{
        const char *name = recipes[0]->name;
        char repository[PATH_SIZE];
        cleanup_free char *absolute = realpath(url, NULL); /* a URL stays what it is */
        cleanup_close int lock = -1;
        int r;

        r = lock_wait(w->dir, "solvers.lock", false, &lock);
        if (r < 0)
                return errorf(r, "cannot lock the config of %s: %s", w->dir, strerror(-r));
        r = workspace_check_config(w, false); /* what is written to is the file */
        if (r >= 0)
                r = check_names(w, recipes, n);
        if (r < 0)
                return r;
        if (snprintf(repository, sizeof(repository), "%s/%s.git", w->repos, name) >= (int)sizeof(repository))
                return errorf(-ENAMETOOLONG, "path too long: %s/%s.git", w->repos, name);
        r = remove_tree(repository); /* of an add that was killed: the config does not know it */
        if (r == 0)
                r = history_clone(w->repos, name, absolute ? absolute : url, w->settings.fetch_timeout_ns, p);
        if (r < 0)
                return r;
        r = add_history(w, name, p);
        if (r == 0) {
                free(recipes[0]->repository);
                recipes[0]->repository = strdup(absolute ? absolute : url);
                r = recipes[0]->repository ? recipe_write_config(w->config, recipes, n) : -ENOMEM;
        }
        if (r < 0) {
                cleanup_free char *reason = strdup(error_message(r));

                remove_tree(repository);
                return errorf(r, "%s", reason ? reason : strerror(-r));
        }
        config_was_written(w);
        return 0;
}

/* `there`: the recipes of the config. *ret_url is the solver's repository, of the caller. */
static int check_replaceable(struct recipe *const *there, size_t n_there, struct recipe *const *recipes, size_t n, char **ret_url)
{
        const char *name = recipes[0]->name;

        for (size_t i = 0; i < n_there; i++) {
                const struct recipe *old = there[i];

                if (strcmp(old->name, name) == 0) {
                        if (old->base)
                                return errorf(-EINVAL, "'%s' is a variant of %s: give that another recipe", name, old->base);
                        *ret_url = strdup(old->repository ? old->repository : "");
                        if (!*ret_url)
                                return -ENOMEM;
                } else if (is_named(recipes + 1, n - 1, old->name) && !(old->base && strcmp(old->base, name) == 0))
                        return errorf(-EEXIST, "there is a solver '%s' already, which is no variant of %s", old->name, name);
        }
        return *ret_url ? 0 : errorf(-ENOENT, "there is no solver '%s' yet: to add it, say where its repository is", name);
}

int workspace_replace_recipe(struct workspace *w, struct recipe *const *recipes, size_t n)
{
        cleanup_close int lock = -1;
        struct recipe **there = NULL;
        size_t n_there = 0;
        int r = lock_wait(w->dir, "solvers.lock", false, &lock);

        if (r < 0)
                return errorf(r, "cannot lock the config of %s: %s", w->dir, strerror(-r));
        r = workspace_check_config(w, false); /* what is written to is the file */
        if (r >= 0)
                r = workspace_recipes(w, &there, &n_there);
        if (r == 0) {
                free(steal_pointer(recipes[0]->repository));
                r = check_replaceable(there, n_there, recipes, n, &recipes[0]->repository);
        }
        if (r == 0)
                r = recipe_write_config(w->config, recipes, n);
        recipe_list_free(there, n_there);
        if (r == 0)
                config_was_written(w);
        return r;
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(names[i], name) == 0)
                        return true;
        return false;
}

/* They are there, be it that they cannot be opened, and no variant of theirs is left. */
static int check_removable(struct workspace *w, const char *const *names, size_t n)
{
        struct recipe **there;
        size_t n_there;
        int r = workspace_recipes(w, &there, &n_there);

        if (r < 0)
                return r;
        for (size_t i = 0; r == 0 && i < n; i++) {
                if (!is_named(there, n_there, names[i]))
                        r = errorf(-ENOENT, "no solver '%.100s' in %s", names[i], w->config);
                for (size_t k = 0; r == 0 && k < n_there; k++) {
                        const struct recipe *recipe = there[k];

                        if (recipe->base && strcmp(recipe->base, names[i]) == 0 && !is_among(recipe->name, names, n))
                                r = errorf(-EINVAL, "%s is a variant of %s: remove it, too, or before", recipe->name, names[i]);
                }
        }
        recipe_list_free(there, n_there);
        return r;
}

int workspace_remove_solvers(struct workspace *w, const char *const *names, size_t n)
{
        cleanup_close int lock = -1;
        int r = lock_wait(w->dir, "solvers.lock", false, &lock);

        if (r < 0)
                return errorf(r, "cannot lock the config of %s: %s", w->dir, strerror(-r));
        r = workspace_check_config(w, false); /* what is written to is the file */
        if (r >= 0)
                r = check_removable(w, names, n);
        if (r == 0)
                r = recipe_remove_config(w->config, names, n);
        if (r < 0)
                return r;
        config_was_written(w);
        return 0;
}

const struct settings *workspace_settings(struct workspace *w)
{
        return &w->settings;
}

static uint64_t recipes_changed(void *workspace)
{
        return workspace_recipes_changed(workspace);
}

static void each_place(void *workspace, void (*fn)(void *user, struct engine_away *a), void *user)
{
        struct workspace *w = workspace;

        for (size_t i = 0; i < w->n_places; i++)
                fn(user, &w->places[i]->away);
}

static void look_again(void *engine)
{
        engine_look_again(engine);
}

static void attach_places(void *workspace, struct engine *e)
{
        struct workspace *w = workspace;

        for (size_t i = 0; i < w->n_places; i++)
                place_attach(w->places[i], e ? look_again : NULL, e);
}

int workspace_engine(struct workspace *w, const struct engine_options *options, struct engine **ret)
{
        struct engine_options o = options ? *options : (struct engine_options){0};

        o.cores = o.cores ?: w->settings.cores;
        o.queue = o.queue ?: w->settings.queue;
        o.grace_ns = o.grace_ns ?: w->settings.grace_ns;
        return engine_open(&(struct engine_place){.dir = w->dir,
                                                  .store = w->store,
                                                  .changes = recipes_changed,
                                                  .each_away = each_place,
                                                  .attach = attach_places,
                                                  .user = w},
                           &o, ret);
}

int workspace_run_on(struct workspace *w, const char *place)
{
        struct run_place *p;
        int r;

        pthread_mutex_lock(&w->lock);
        r = find_place(w, place, &p);
        if (r == 0) {
                w->run_on = place;
                w->solvers = solver_list_unref(w->solvers);
                r = workspace_refresh(w);
        }
        pthread_mutex_unlock(&w->lock);
        return r;
}

/* -- life -- */

int workspace_default_dir(const char *given, char ret[PATH_SIZE])
{
        static const struct {
                const char *variable, *below;
        } places[] = {{"SOLVERFS_STORE", ""}, {"XDG_DATA_HOME", "/solverfs"}, {"HOME", "/.local/share/solverfs"}};

        if (given && *given)
                return snprintf(ret, PATH_SIZE, "%s", given) < PATH_SIZE ? 0 : errorf(-ENAMETOOLONG, "path too long: %s", given);
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                const char *value = getenv(places[i].variable);

                if (value && *value)
                        return snprintf(ret, PATH_SIZE, "%s%s", value, places[i].below) < PATH_SIZE
                                       ? 0
                                       : errorf(-ENAMETOOLONG, "path too long: $%s", places[i].variable);
        }
        return errorf(-ENOENT, "no store: give --store DIR, or set SOLVERFS_STORE or HOME");
}

static int make_folders(const char *dir)
{
        int r = make_dirs(dir, 0700);

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(folders); i++) {
                char path[PATH_SIZE];

                r = path_join(path, dir, folders[i]);
                if (r == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
                        r = errorf(-errno, "cannot make %s: %s", path, strerror(errno));
                if (r == 0 && chmod(path, 0700) < 0)
                        r = errorf(-errno, "cannot set the mode of %s: %s", path, strerror(errno));
        }
        return r;
}

/* True if the folder was once opened as a store, even if its config is gone. A folder named `journal` proves nothing: /var/log has one. */
static bool has_been_opened(const char *dir)
{
        char journal[PATH_SIZE], lock[PATH_SIZE];

        return path_join(journal, dir, "journal") == 0 && path_join(lock, dir, "store.lock") == 0 && access(journal, F_OK) == 0 &&
               access(lock, F_OK) == 0;
}

static bool is_empty_folder(int parent, const char *name)
{
        int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        unsigned n = 0;

        if (!d) {
                closep(&fd);
                return false;
        }
        while (n <= 2 && readdir(d)) /* itself and the one above */
                n++;
        closedir(d);
        return n <= 2;
}

/* True for an entry that an interrupted init may have made. A folder counts only when empty: otherwise it belongs to somebody. */
static bool is_beginning(int parent, const char *name)
{
        static const char *const files[] = {".", "..", "store.lock", "write.lock"}, *const others[] = {"journal", "lmdb"};

        if (is_among(name, folders, ARRAY_SIZE(folders)) || is_among(name, others, ARRAY_SIZE(others)))
                return is_empty_folder(parent, name);
        return is_among(name, files, ARRAY_SIZE(files)) || strncmp(name, "config.", strlen("config.")) == 0;
}

/* Refuses a folder that cannot become a store. It may be missing, empty (even a mount point), or hold only the beginning of a store. */
static int check_free(const char *dir)
{
        DIR *d = opendir(dir);
        struct dirent *entry;
        bool is_free = true;

        if (!d)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot make a store at %s: %s", dir, strerror(errno));
        while (is_free && (entry = readdir(d)))
                is_free = is_beginning(dirfd(d), entry->d_name);
        closedir(d);
        return is_free ? 0 : errorf(-ENOTEMPTY, "%s is not empty; a store needs a folder of its own", dir);
}

/* -EEXIST for a store that has been used and has lost its config. */
static int check_new(struct store *s, const char *dir, const char *config)
{
        cleanup_config_text struct config_text text = {0};
        int r = config_text_read(s, config, &text);

        return r == 0 && text.cut
                       ? errorf(-EEXIST, "there is a store at %s already, whose config is gone: 'solverfs fsck' puts it back",
                                dir)
                       : r;
}

int workspace_create(const char *dir)
{
        static const char config[] =
                "# The store's configuration, in git-config text. Solvers are added by 'solverfs solver add'.\n"
                "[solverfs]\n"
                "\tversion = 1\n";
        char path[PATH_SIZE];
        struct store *s;
        int r = path_join(path, dir, "config");

        if (r < 0)
                return r;
        if (access(path, F_OK) == 0)
                return errorf(-EEXIST, "there is a store at %s already", dir);
        r = has_been_opened(dir) ? 0 : check_free(dir);
        if (r == 0)
                r = make_folders(dir);
        if (r == 0 && chmod(dir, 0700) < 0)
                r = errorf(-errno, "cannot set the mode of %s: %s", dir, strerror(errno));
        if (r == 0)
                r = store_open(dir, workspace_tables, N_TABLES, STORE_CREATE, &s);
        if (r < 0)
                return r;
        r = check_new(s, dir, path);
        store_close(s);
        return r < 0 ? r : write_file_atomic(path, config, sizeof(config) - 1, 0600); /* last: what has a config is a store */
}

/* Before anything of the store is touched. Other mistakes may come of a config that was cut off, which only the store can tell. */
static int check_version(struct workspace *w)
{
        cleanup_blob struct blob text = {0};
        struct settings s;
        int r = read_file(w->config, CONFIG_SIZE_MAX, &text);

        if (r == 0)
                r = settings_parse(SLICE(text.data, text.size), w->config, &s);
        if (r == 0)
                settings_done(&s);
        return r == -EINVAL || r == -ENOENT ? 0 : r;
}

static int no_store(const char *dir)
{
        return errorf(-ENOENT, "no store at %s: make one with 'solverfs init'", dir);
}

int workspace_find(const char *dir)
{
        char config[PATH_SIZE];
        int r = path_join(config, dir, "config");

        if (r < 0 || access(config, F_OK) == 0)
                return r;
        if (errno != ENOENT && errno != ENOTDIR)
                return errorf(-errno, "cannot look into the store %s: %s", dir, strerror(errno));
        return has_been_opened(dir) ? 0 : no_store(dir);
}

static int read_settings(struct workspace *w)
{
        cleanup_config_text struct config_text text = {0};
        int r = config_text_read(w->store, w->config, &text);

        if (r == 0 && text.gone && text.blank)
                r = no_store(w->dir);
        return r < 0 ? r : settings_parse(text_of(&text), w->config, &w->settings);
}

static int open_places(struct workspace *w)
{
        int r = 0;

        w->places = calloc(w->settings.n_clusters + 1, sizeof(*w->places));
        if (!w->places)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < w->settings.n_clusters; i++) {
                r = place_open(w, &w->settings.clusters[i], &w->places[i]);
                w->n_places += r == 0;
        }
        return r;
}

int workspace_open(const char *dir, int flags, struct workspace **ret)
{
        cleanup_free char *absolute = realpath(dir, NULL);
        struct workspace *w;
        int r;

        if (!absolute)
                return errno == ENOENT ? no_store(dir) : errorf(-errno, "cannot open the store %s: %s", dir, strerror(errno));
        w = calloc(1, sizeof(*w));
        if (!w)
                return -ENOMEM;
        w->as_it_is = flags & WORKSPACE_AS_IT_IS;
        git_libgit2_init();
        pthread_mutex_init(&w->lock, NULL);
        r = snprintf(w->dir, sizeof(w->dir), "%s", absolute) < PATH_SIZE ? 0 : -ENAMETOOLONG;
        if (r == 0)
                r = path_join(w->config, w->dir, "config");
        if (r == 0)
                r = path_join(w->repos, w->dir, "repos");
        if (r == 0)
                r = workspace_find(w->dir);
        if (r == 0)
                r = check_version(w);
        if (r == 0 && !(flags & STORE_READ_ONLY))
                r = make_folders(w->dir); /* of an older store, or one that lost some */
        if (r == -EROFS || r == -EACCES || r == -EPERM)
                r = 0; /* store_open() goes on read-only, and says so */
        if (r == 0)
                r = store_open(w->dir, workspace_tables, N_TABLES, flags & ~WORKSPACE_AS_IT_IS, &w->store);
        if (r == 0)
                r = read_settings(w);
        if (r == 0)
                r = open_places(w);
        if (r == 0)
                r = cases_open(w->store, &cases_tables, &w->cases);
        if (r == 0)
                r = sets_open(w->store, TABLE_SETS, &w->sets);
        if (r == 0)
                r = programs_open(w->store, TABLE_PROGRAMS, w->settings.programs_bound, &w->programs);
        if (r == 0) {
                pthread_mutex_lock(&w->lock);
                r = workspace_refresh(w);
                pthread_mutex_unlock(&w->lock);
        }
        if (r == 0 && !(flags & WORKSPACE_AS_IT_IS))
                r = runs_take_over(w);
        if (r < 0) {
                cleanup_free char *reason = strdup(error_message(r));

                workspace_close(w);
                return errorf(r, "%s", reason ? reason : strerror(-r));
        }
        *ret = w;
        return 0;
}

struct kept {
        struct kept *next;
        const void *key;
        void *object;
        void (*free)(void *object);
};

void *workspace_kept(struct workspace *w, const void *key, void *(*make)(void), void (*kept_free)(void *kept))
{
        struct kept *k;

        pthread_mutex_lock(&w->lock);
        for (k = w->kept; k && k->key != key; k = k->next)
                ;
        if (!k && (k = calloc(1, sizeof(*k)))) {
                *k = (struct kept){.next = w->kept, .key = key, .object = make(), .free = kept_free};
                if (k->object) {
                        w->kept = k;
                } else {
                        free(k);
                        k = NULL;
                }
        }
        pthread_mutex_unlock(&w->lock);
        return k ? k->object : NULL;
}

static void free_kept(struct workspace *w)
{
        struct kept *next;

        for (struct kept *k = w->kept; k; k = next) {
                next = k->next;
                k->free(k->object);
                free(k);
        }
}

struct workspace *workspace_close(struct workspace *w)
{
        struct repository *next;

        if (!w)
                return NULL;
        free_kept(w);
        solver_list_unref(w->solvers);
        for (struct repository *p = w->repositories; p; p = next) {
                next = p->next;
                history_unref(p->history);
                free(p);
        }
        for (size_t i = 0; i < w->n_places; i++)
                place_close(w->places[i]);
        free(w->places);
        programs_close(w->programs);
        sets_close(w->sets);
        cases_close(w->cases);
        store_close(w->store);
        settings_done(&w->settings);
        buffer_done(&w->mistakes);
        buffer_done(&w->told);
        pthread_mutex_destroy(&w->lock);
        free(w);
        git_libgit2_shutdown();
        return NULL;
}

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
