/* Numbers of names, which make inode numbers; and views, whose names are settings of cells. */
#include <inttypes.h>

#include "tree_internal.h"

/* -- numbers of names -- */

#define PASSING_FIRST INODE_ITEM_MAX /* where no store that is read-only has come to */

/* Lock held. */
static int passing_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret)
{
        struct passing *more;
        size_t i;

        for (i = 0; i < t->n_passing; i++)
                if (t->passing[i].space == space && strcmp(t->passing[i].name, name) == 0)
                        break;
        if (i == t->n_passing) {
                more = realloc(t->passing, (i + 1) * sizeof(*more));
                if (!more)
                        return -ENOMEM;
                t->passing = more;
                more[i] = (struct passing){space, strdup(name)};
                if (!more[i].name)
                        return -ENOMEM;
                t->n_passing++;
        }
        *ret = PASSING_FIRST - (uint32_t)i;
        return 0;
}

int tree_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret)
{
        struct store *s = workspace_store(t->workspace);
        int r;

        if (!store_read_only(s))
                return names_intern(s, space, name, ret);
        r = names_number(s, space, name, ret);
        if (r == -ENOENT) {
                pthread_mutex_lock(&t->lock);
                r = passing_number(t, space, name, ret);
                pthread_mutex_unlock(&t->lock);
        }
        return r;
}

int tree_name(struct tree *t, enum name_space space, uint32_t number, char **ret)
{
        bool passing;

        pthread_mutex_lock(&t->lock);
        passing = number <= PASSING_FIRST && PASSING_FIRST - number < t->n_passing &&
                  t->passing[PASSING_FIRST - number].space == space;
        if (passing)
                *ret = strdup(t->passing[PASSING_FIRST - number].name);
        pthread_mutex_unlock(&t->lock);
        return !passing ? names_name(workspace_store(t->workspace), space, number, ret) : *ret ? 0 : -ENOMEM;
}

int tree_number_all(struct tree *t, enum name_space space, char *const *names, size_t n)
{
        struct store *s = workspace_store(t->workspace);

        return store_read_only(s) ? 0 : names_intern_all(s, space, names, n);
}

/* -- views -- */

static void view_print(const struct view *v, char ret[96])
{
        snprintf(ret, 96, "%" PRIu32 "/%s%s%s", v->solver, v->cached ? "cached" : "commits", v->has_seed ? "/seed/" : "",
                 v->has_timeout ? "/timeout/" : "");
        if (v->has_seed || v->has_timeout) {
                size_t n = strlen(ret);

                snprintf(ret + n, 96 - n, "%" PRIu64, v->has_seed ? v->seed : v->timeout_ns);
        }
}

static bool view_parse(const char *name, struct view *ret)
{
        char root[16] = "", setting[16] = "";
        uint64_t n = 0;
        int fields = sscanf(name, "%" SCNu32 "/%15[^/]/%15[^/]/%" SCNu64, &ret->solver, root, setting, &n);

        if (fields != 2 && fields != 4)
                return false;
        ret->cached = strcmp(root, "cached") == 0;
        ret->has_seed = strcmp(setting, "seed") == 0;
        ret->has_timeout = strcmp(setting, "timeout") == 0;
        if (ret->has_seed)
                ret->seed = n;
        else
                ret->timeout_ns = n;
        return true;
}

static bool view_equal(const struct view *a, const struct view *b)
{
        return a->solver == b->solver && a->cached == b->cached && a->has_seed == b->has_seed &&
               a->has_timeout == b->has_timeout && a->seed == b->seed && a->timeout_ns == b->timeout_ns;
}

/* Lock held. */
static int view_add(struct tree *t, const struct view *v)
{
        struct view *more = realloc(t->views, (t->n_views + 1) * sizeof(*more));

        if (!more)
                return -ENOMEM;
        t->views = more;
        t->views[t->n_views++] = *v;
        return 0;
}

/* Reads views that the store has and we do not: other processes give numbers, too. Lock held. */
static int views_refresh(struct tree *t)
{
        for (;;) {
                cleanup_free char *name = NULL;
                struct view v = {0};
                int r = names_name(workspace_store(t->workspace), NAMES_VIEW, (uint32_t)t->n_views, &name);

                if (r == -ENOENT)
                        return 0;
                if (r < 0)
                        return r;
                if (!view_parse(name, &v))
                        return errorf(-EIO, "the store's view %zu is '%s', which is not one", t->n_views, name);
                r = view_add(t, &v);
                if (r < 0)
                        return r;
        }
}

static bool view_known(struct tree *t, const struct view *v, uint16_t *ret)
{
        for (size_t i = 0; i < t->n_views; i++)
                if (view_equal(&t->views[i], v)) {
                        *ret = (uint16_t)i;
                        return true;
                }
        return false;
}

int tree_view(struct tree *t, const struct view *v, uint16_t *ret)
{
        char name[96];
        uint32_t number;
        int r = 0;

        pthread_mutex_lock(&t->lock);
        if (!view_known(t, v, ret)) {
                r = views_refresh(t);
                if (r == 0 && !view_known(t, v, ret)) {
                        if (t->n_views > INODE_VIEW_MAX)
                                r = errorf(-ENOSPC, "the store has as many seeds and time limits as it can number (%u)",
                                           INODE_VIEW_MAX);
                        view_print(v, name);
                        if (r == 0 && store_read_only(workspace_store(t->workspace)))
                                r = view_add(t, v); /* its number is good for as long as the mount lives */
                        else if (r == 0)
                                r = names_intern(workspace_store(t->workspace), NAMES_VIEW, name, &number);
                        if (r == 0)
                                r = views_refresh(t);
                        if (r == 0 && !view_known(t, v, ret))
                                r = -EIO;
                }
        }
        pthread_mutex_unlock(&t->lock);
        return r;
}

int tree_view_at(struct tree *t, size_t number, struct view *ret)
{
        int r = 0;

        pthread_mutex_lock(&t->lock);
        if (number >= t->n_views)
                r = views_refresh(t);
        if (r == 0 && number >= t->n_views)
                r = -ENOENT;
        if (r == 0)
                *ret = t->views[number];
        pthread_mutex_unlock(&t->lock);
        return r;
}

void tree_names_done(struct tree *t)
{
        free(t->views);
        for (size_t i = 0; i < t->n_passing; i++)
                free(t->passing[i].name);
        free(t->passing);
}
