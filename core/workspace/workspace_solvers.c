/* Opens the solvers of a config: each has its recipe, the history of its repository, and the places where it is built and run. */
#include "core/workspace/names.h"
#include "core/workspace/workspace_internal.h"

static const struct history_tables history_tables = {
        .commits = TABLE_COMMITS, .oids = TABLE_OIDS, .refs = TABLE_REFS, .sources = TABLE_SOURCES};

static void solver_free(struct solver *s)
{
        recipe_unref(s->recipe);
        history_unref(s->history);
        free(s);
}
DEFINE_REFS(solver, solver_free)

struct solver *solver_with(const struct solver *s, struct recipe *recipe)
{
        struct solver *with = allocate(1, sizeof(*with));

        *with = (struct solver){.refs = 1,
                                .number = s->number,
                                .version = s->version,
                                .recipe = recipe,
                                .history = history_ref(s->history),
                                .repository = recipe->base ?: recipe->name,
                                .pool = s->pool,
                                .builder = recipe->builder ? s->builder : NULL};
        return with;
}

static void solver_list_free(struct solver_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                solver_unref(l->list[i]);
        free(l);
}
DEFINE_REFS(solver_list, solver_list_free)

/* -- places -- */

int workspace_find_pool(struct workspace *w, const char *name, struct worker_pool **ret)
{
        *ret = NULL;
        if (!name || strcmp(name, "local") == 0)
                return 0;
        for (size_t i = 0; i < w->n_pools; i++)
                if (strcmp(w->pools[i]->name, name) == 0)
                        *ret = w->pools[i];
        return *ret ? 0
                    : errorf(-EINVAL, "there was no [cluster \"%s\"] in %s when it was opened: define one, or mount again if it is new", name, w->config);
}

/* Refuses remote builds of a recipe that reads folders outside its sources: those are this machine's. */
static int check_builder(const struct recipe *r)
{
        bool has = r->dependencies[0] != NULL;

        for (size_t i = 0; i < r->n_eras; i++)
                has |= r->eras[i]->dependencies[0] != NULL;
        return has ? errorf(-EINVAL, "%s has a 'dependency' in its recipe, a folder of this machine, and cannot be built elsewhere: say builds = local in "
                                     "[solver \"%s\"]", r->name, r->base ?: r->name)
                   : 0;
}

/* Sets the builder of the solver and of its recipe, which is part of the build keys. */
static int find_builder(struct workspace *w, struct solver *s, struct recipe *recipe)
{
        int r = workspace_find_pool(w, recipe->builds ?: w->settings.builds, &s->builder);

        if (r < 0)
                return r;
        recipe->builder = s->builder ? &s->builder->builder : NULL;
        for (size_t i = 0; i < recipe->n_eras; i++)
                recipe->eras[i]->builder = recipe->builder;
        if (!s->builder)
                return 0;
        pool_will_build(s->builder);
        return check_builder(recipe);
}

/* -- opening them -- */

static int name_number(struct workspace *w, enum name_space space, const char *name, uint32_t *ret)
{
        return store_read_only(w->store) ? names_number(w->store, space, name, ret) : names_intern(w->store, space, name, ret);
}

int workspace_history(struct workspace *w, const char *name, struct history **ret)
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
        p = allocate(1, sizeof(*p) + strlen(name) + 1);
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

static int solver_new(struct workspace *w, struct recipe *recipe, struct solver **ret)
{
        cleanup(solver_unrefp) struct solver *s = allocate(1, sizeof(*s));
        cleanup_buffer struct buffer text = {0};
        struct digest version;
        int r;

        *s = (struct solver){.refs = 1, .recipe = recipe_ref(recipe), .repository = recipe->base ?: recipe->name};
        r = workspace_find_pool(w, w->run_on ?: recipe->runs ?: w->settings.runs, &s->pool)
            ?: recipe_print(recipe, &text)
            ?: find_builder(w, s, recipe);
        digest_of(text.data, text.size, &version); /* every byte of the recipe counts */
        memcpy(&s->version, version.bytes, sizeof(s->version));
        if (s->pool) /* a mount must see that other results apply now */
                s->version ^= hash_quick(s->pool->name, strlen(s->pool->name));
        if (s->builder)
                s->version ^= hash_quick(s->builder->name, strlen(s->builder->name)) * 3;
        if (r == 0)
                r = name_number(w, NAMES_SOLVER, recipe->name, &s->number)
                    ?: workspace_history(w, s->repository, &s->history);
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

/* In place of a solver that cannot be opened: the one of that name that is in force, as its jobs and readers go on; NULL: none is. */
static struct solver *stand_in(struct workspace *w, const struct recipe *recipe, int r)
{
        struct solver *s = NULL;
        char what[128];

        for (size_t i = 0; w->solvers && i < w->solvers->n; i++)
                if (strcmp(w->solvers->list[i]->recipe->name, recipe->name) == 0)
                        s = solver_ref(w->solvers->list[i]);
        snprintf(what, sizeof(what), "solver %.64s %s", recipe->name, s ? "stays as it was" : "is left out");
        workspace_note_mistake(w, what, r);
        w->unfinished = true;
        return s;
}

int solver_list_read(struct workspace *w, const struct config_text *text, struct solver_list **ret)
{
        struct solver_list *l;
        struct recipe **recipes;
        size_t n;
        int r = recipe_parse_config(config_text_slice(text), w->config, &recipes, &n);

        if (r < 0)
                return r;
        *ret = l = allocate(1, sizeof(*l) + n * sizeof(*l->list));
        l->refs = 1;
        for (size_t i = 0; i < n; i++) {
                r = solver_new(w, recipes[i], &l->list[l->n]);
                if (r < 0)
                        l->list[l->n] = stand_in(w, recipes[i], r);
                l->n += l->list[l->n] != NULL;
        }
        sort_list(l->list, l->n, sizeof(*l->list), by_name);
        recipe_list_free(recipes, n);
        return 0;
}

/* -- finding one -- */

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

struct commit_sha full_sha(const struct solver *s, uint32_t commit)
{
        struct commit_sha sha = {"?"};
        struct commit c;

        if (history_commit(s->history, commit, &c) == 0)
                oid_print(sha.s, sizeof(sha.s), &c.oid);
        return sha;
}

bool solver_is_gone(struct workspace *w, const struct solver *s)
{
        cleanup(solver_unrefp) struct solver *now = NULL;

        return workspace_solver_by_number(w, s->number, &now) == -ENOENT;
}
