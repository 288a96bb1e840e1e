/* Numbers of names, which make inode numbers; and views, whose names are settings of cells. */
#include "fs/tree/tree_internal.h"

/* -- numbers of names -- */

#define TEMPORARY_FIRST INODE_ITEM_MAX /* downwards from here; no store has so many numbers */

/* The number, until unmounted, of a name that a read-only store cannot number. Lock held. */
static uint32_t temporary_number(struct tree *t, enum name_space space, const char *name)
{
        size_t i;

        for (i = 0; i < t->n_temporary_names; i++)
                if (t->temporary_names[i].space == space && strcmp(t->temporary_names[i].name, name) == 0)
                        break;
        if (i == t->n_temporary_names)
                list_add(t->temporary_names, t->n_temporary_names, (struct temporary_name){space, copy_string(name)});
        return TEMPORARY_FIRST - (uint32_t)i;
}

int tree_number(struct tree *t, enum name_space space, const char *name, uint32_t *ret)
{
        cleanup_unlock pthread_mutex_t *held = NULL;
        struct store *s = workspace_store(t->workspace);
        int r = store_read_only(s) ? names_number(s, space, name, ret) : names_intern(s, space, name, ret);

        if (r != -ENOENT || !store_read_only(s))
                return r;
        held = hold(&t->lock);
        *ret = temporary_number(t, space, name);
        return 0;
}

/* NULL: not a temporary number. */
static char *temporary_name(struct tree *t, enum name_space space, uint32_t number)
{
        cleanup_unlock pthread_mutex_t *held = hold(&t->lock);
        uint32_t i = TEMPORARY_FIRST - number;

        return number <= TEMPORARY_FIRST && i < t->n_temporary_names && t->temporary_names[i].space == space ? copy_string(t->temporary_names[i].name)
                                                                                                             : NULL;
}

int tree_name(struct tree *t, enum name_space space, uint32_t number, char **ret)
{
        *ret = temporary_name(t, space, number);
        return *ret ? 0 : names_name(workspace_store(t->workspace), space, number, ret);
}

int tree_number_all(struct tree *t, enum name_space space, char *const *names, size_t n)
{
        struct store *s = workspace_store(t->workspace);

        return store_read_only(s) ? 0 : names_intern_all(s, space, names, n);
}

/* -- views -- */

/* Reads the views that other processes have added to the store. Lock held. */
static int views_refresh(struct tree *t)
{
        for (;;) {
                cleanup_free char *name = NULL;
                struct view v;
                int r = names_name(workspace_store(t->workspace), NAMES_VIEW, (uint32_t)t->n_views, &name);

                if (r == -ENOENT)
                        return 0;
                if (r < 0)
                        return r;
                if (!view_parse(name, &v))
                        return errorf(-EIO, "the store's view %zu is '%s', which is not a view", t->n_views, name);
                list_add(t->views, t->n_views, v);
        }
}

static bool view_known(struct tree *t, const struct view *v, uint32_t *ret)
{
        for (size_t i = 0; i < t->n_views; i++)
                if (view_equal(&t->views[i], v)) {
                        *ret = (uint32_t)i;
                        return true;
                }
        return false;
}

/* The number of a view; a new view gets one. Lock held. */
static int view_number(struct tree *t, const struct view *v, uint32_t *ret)
{
        char name[VIEW_NAME_SIZE];
        uint32_t number;
        int r;

        if (view_known(t, v, ret))
                return 0;
        r = views_refresh(t);
        if (r < 0 || view_known(t, v, ret))
                return r;
        view_print(v, name);
        if (store_read_only(workspace_store(t->workspace))) { /* its number is valid until unmounted */
                list_add(t->views, t->n_views, *v);
        } else {
                r = names_intern(workspace_store(t->workspace), NAMES_VIEW, name, &number) ?: views_refresh(t);
        }
        return r < 0 ? r : view_known(t, v, ret) ? 0 : -EIO;
}

/* A view's setting as an inode has it: a bit for its kind, and its number. */
static const uint64_t setting_bits[N_SETTINGS] = {
        [SETTING_SEED] = INODE_SETTING_SEED, [SETTING_SCRAMBLED] = INODE_SETTING_SCRAMBLED, [SETTING_TIMEOUT] = 0};

int tree_set_view(struct tree *t, const struct view *v, struct inode *ret)
{
        const struct view bare = {.solver = v->solver, .cached = v->cached};
        cleanup_unlock pthread_mutex_t *held = hold(&t->lock);
        int r = view_number(t, &bare, &ret->view);

        ret->setting = 0;
        if (r == 0 && v->setting != SETTING_NONE && !view_known(t, v, &ret->view)) /* known: an older version gave it a number */
                ret->setting = setting_bits[v->setting] | v->n;
        return r;
}

int tree_setting_at(struct tree *t, uint32_t number, struct view *ret)
{
        cleanup_free char *name = NULL;
        int r = names_name(workspace_store(t->workspace), NAMES_SETTING, number, &name);

        if (r < 0)
                return r;
        return view_parse(name, ret) ? 0 : errorf(-EIO, "the store's setting %u is '%s', which is not a setting", number, name);
}

int tree_inode_view(struct tree *t, const struct inode *i, struct view *ret)
{
        cleanup_unlock pthread_mutex_t *held = hold(&t->lock);
        int r = i->view >= t->n_views ? views_refresh(t) : 0;

        if (r < 0)
                return r;
        if (i->view >= t->n_views)
                return -ENOENT;
        *ret = t->views[i->view];
        if (i->setting == 0)
                return 0;
        if (ret->setting != SETTING_NONE)
                return -ENOENT;
        ret->setting = i->setting & INODE_SETTING_SEED ? SETTING_SEED : i->setting & INODE_SETTING_SCRAMBLED ? SETTING_SCRAMBLED : SETTING_TIMEOUT;
        ret->n = i->setting & ~setting_bits[ret->setting];
        return 0;
}

void tree_names_done(struct tree *t)
{
        free(t->views);
        for (size_t i = 0; i < t->n_temporary_names; i++)
                free(t->temporary_names[i].name);
        free(t->temporary_names);
}
