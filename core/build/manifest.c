#include "core/build/manifest.h"

#include <limits.h>

#include "cache/base/record.h"

void manifest_done(struct manifest *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->list[i].path);
        free(m->list);
        *m = (struct manifest){0};
}

void manifest_add(struct manifest *m, const struct tracked *t)
{
        list_grow(m->list, m->n);
        m->list[m->n] = *t;
        m->list[m->n++].path = copy_string(t->path);
}

bool manifest_name_is_bad(const char *name)
{
        return name[0] == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
               strcasecmp(name, ".git") == 0 || strlen(name) > NAME_MAX;
}

static int compare_tracked(const void *a, const void *b)
{
        return strcmp(((const struct tracked *)a)->path, ((const struct tracked *)b)->path);
}

void manifest_sort(struct manifest *m)
{
        size_t n = 0;

        if (m->n == 0)
                return;
        sort_list(m->list, m->n, sizeof(*m->list), compare_tracked);
        for (size_t i = 1; i < m->n; i++) {
                if (strcmp(m->list[i].path, m->list[n].path) == 0)
                        free(m->list[i].path);
                else
                        m->list[++n] = m->list[i];
        }
        m->n = n + 1;
}

/* -- as bytes ---------------------------------------------------------------------------------------- */

#define MANIFEST_MAGIC "solverfs manifest 3\n"

void manifest_encode(const struct manifest *m, struct buffer *ret)
{
        buffer_adds(ret, MANIFEST_MAGIC);
        for (size_t i = 0; i < m->n; i++) {
                const struct tracked *t = &m->list[i];
                size_t length = strlen(t->path);

                record_put_u32(ret, t->mode);
                buffer_add(ret, t->content.bytes, DIGEST_SIZE);
                record_put_u64(ret, t->size);
                record_put_u16(ret, (uint16_t)length);
                buffer_add(ret, t->path, length);
        }
}

/* A path as checkout_list() makes them; any other leads out of the folder, or to it. */
static bool path_is_bad(const char *path, size_t length)
{
        char component[NAME_MAX + 1];

        if (strlen(path) != length)
                return true;
        for (;;) {
                size_t n = strcspn(path, "/");

                if (n > NAME_MAX)
                        return true;
                memcpy(component, path, n);
                component[n] = '\0';
                if (manifest_name_is_bad(component))
                        return true;
                if (path[n] == '\0')
                        return false;
                path += n + 1;
        }
}

static int read_tracked(struct record *r, struct manifest *to)
{
        char path[PATH_SIZE];
        struct tracked t = {.path = path};
        struct slice name;

        t.mode = record_u32(r);
        record_raw(r, t.content.bytes, DIGEST_SIZE);
        t.size = record_u64(r);
        name = record_slice(r, record_u16(r));
        if (name.size == 0 || name.size >= sizeof(path))
                return -EBADMSG;
        memcpy(path, name.data, name.size);
        path[name.size] = '\0';
        if (path_is_bad(path, name.size))
                return -EBADMSG;
        manifest_add(to, &t);
        return 0;
}

int manifest_decode(struct slice bytes, struct manifest *ret)
{
        struct record rec = record_of(bytes);
        struct slice magic = record_slice(&rec, strlen(MANIFEST_MAGIC));
        int r = magic.size > 0 && memcmp(magic.data, MANIFEST_MAGIC, magic.size) == 0 ? 0 : -EBADMSG;

        while (r == 0 && record_left(&rec) > 0)
                r = read_tracked(&rec, ret);
        return r;
}
