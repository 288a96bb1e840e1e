/* Names of cases, sorted: what cases/by-name/ is. */
#include "fs/tree/tree_internal.h"

struct case_names *case_names_unref(struct case_names *c)
{
        if (c && __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                for (size_t i = 0; i < c->n; i++)
                        free(c->list[i].name);
                free(c);
        }
        return NULL;
}

static int case_name_compare(const void *a, const void *b)
{
        const struct case_name *x = a, *y = b;

        return strcmp(x->name, y->name);
}

static int case_names_read(struct tree *t, struct case_names **ret)
{
        cleanup(case_names_unrefp) struct case_names *c = NULL;
        struct cases *cases = workspace_cases(t->workspace);
        cleanup_free uint32_t *ids = NULL;
        uint64_t generation = cases_generation(cases); /* before the list: an older number only means a needless look later */
        size_t n;
        int r = cases_list(cases, &ids, &n);

        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c) + n * sizeof(*c->list));
        if (!c)
                return -ENOMEM;
        c->refs = 1;
        c->generation = generation;
        for (size_t i = 0; i < n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;

                if (cases_get(cases, ids[i], &info) < 0 || info->removed)
                        continue;
                c->list[c->n] = (struct case_name){.name = strdup(info->name), .id = info->id};
                if (!c->list[c->n].name)
                        return -ENOMEM;
                c->n++;
        }
        sort_list(c->list, c->n, sizeof(*c->list), case_name_compare);
        *ret = steal_pointer(c);
        return 0;
}

int tree_case_names(struct tree *t, struct case_names **ret)
{
        int r = 0;

        pthread_mutex_lock(&t->lock);
        if (!t->case_names || t->case_names->generation != cases_generation(workspace_cases(t->workspace))) {
                struct case_names *c;

                r = case_names_read(t, &c);
                if (r == 0) {
                        case_names_unref(t->case_names);
                        t->case_names = c;
                }
        }
        if (r == 0) {
                __atomic_add_fetch(&t->case_names->refs, 1, __ATOMIC_RELAXED);
                *ret = t->case_names;
        }
        pthread_mutex_unlock(&t->lock);
        return r;
}
