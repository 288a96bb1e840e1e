/* Names of cases, sorted, for cases/by-name/. */
#include "fs/tree/tree_internal.h"

static void case_names_free(struct case_names *c)
{
        for (size_t i = 0; i < c->n; i++)
                free(c->list[i].name);
        free(c);
}
DEFINE_REFS(case_names, case_names_free)

static int case_names_read(struct tree *t, struct case_names **ret)
{
        struct case_names *c;
        struct cases *cases = workspace_cases(t->workspace);
        cleanup_free uint32_t *ids = NULL;
        uint64_t generation = cases_generation(cases); /* before the list: too old a number only costs a needless look later */
        size_t n;
        int r = cases_list(cases, &ids, &n);

        if (r < 0)
                return r;
        c = allocate(1, sizeof(*c) + n * sizeof(*c->list));
        c->refs = 1;
        c->generation = generation;
        for (size_t i = 0; i < n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_get(cases, ids[i], &info) == 0 && !info->removed)
                        c->list[c->n++] = (struct path_item){copy_string(info->name), info->id};
        }
        sort_list(c->list, c->n, sizeof(*c->list), compare_strings);
        *ret = c;
        return 0;
}

/* NULL: cases have come, gone or been renamed since the last reading. */
static struct case_names *case_names_kept(struct tree *t)
{
        cleanup_unlock pthread_mutex_t *held = hold(&t->lock);

        return t->case_names && t->case_names->generation == cases_generation(workspace_cases(t->workspace)) ? case_names_ref(t->case_names) : NULL;
}

int tree_case_names(struct tree *t, struct case_names **ret)
{
        int r = 0;

        *ret = case_names_kept(t);
        if (*ret)
                return 0;
        r = case_names_read(t, ret); /* without the lock, which every lookup takes */
        if (r < 0)
                return r;
        pthread_mutex_lock(&t->lock);
        case_names_unref(t->case_names);
        t->case_names = case_names_ref(*ret);
        pthread_mutex_unlock(&t->lock);
        return 0;
}
