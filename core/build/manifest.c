#include "core/build/manifest.h"

#include <limits.h>

void manifest_done(struct manifest *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->list[i].path);
        free(m->list);
        *m = (struct manifest){0};
}

void manifest_add(struct manifest *m, const struct tracked *t)
{
        list_add(m->list, m->n, *t)->path = copy_string(t->path);
}

bool manifest_name_is_bad(const char *name)
{
        return name[0] == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
               strcasecmp(name, ".git") == 0 || strlen(name) > NAME_MAX;
}

void manifest_sort(struct manifest *m)
{
        size_t n = 0;

        if (m->n == 0)
                return;
        sort_list(m->list, m->n, sizeof(*m->list), compare_strings);
        for (size_t i = 1; i < m->n; i++) {
                if (strcmp(m->list[i].path, m->list[n].path) == 0)
                        free(m->list[i].path);
                else
                        m->list[++n] = m->list[i];
        }
        m->n = n + 1;
}
