#include "core/build/manifest.h"

#include <limits.h>

#include "cache/base/record.h"

#define MANIFEST_MAX (1 << 30) /* bytes of its file */

void manifest_done(struct manifest *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->list[i].path);
        free(m->list);
        *m = (struct manifest){0};
}

int manifest_add(struct manifest *m, const struct tracked *t)
{
        if (list_grow(m->list, m->n) < 0)
                return -ENOMEM;
        m->list[m->n] = *t;
        m->list[m->n].path = strdup(t->path);
        return m->list[m->n].path ? (m->n++, 0) : -ENOMEM;
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

bool tracked_is_same(const struct tracked *a, const struct tracked *b)
{
        return a->mode == b->mode && git_oid_equal(&a->oid, &b->oid);
}

const struct tracked *manifest_find(const struct manifest *m, const char *path)
{
        return find_in_list(&(struct tracked){.path = (char *)path}, m->list, m->n, sizeof(*m->list), compare_tracked);
}

void manifest_each_difference(const struct manifest *from, const struct manifest *to, bool (*fn)(void *user, const char *path), void *user)
{
        size_t i = 0, k = 0;

        while (i < from->n || k < to->n) {
                int c = i == from->n ? 1 : k == to->n ? -1 : strcmp(from->list[i].path, to->list[k].path);

                if ((c != 0 || !tracked_is_same(&from->list[i], &to->list[k])) &&
                    !fn(user, c <= 0 ? from->list[i].path : to->list[k].path))
                        return;
                i += c <= 0;
                k += c >= 0;
        }
}

static bool count_one(void *user, const char *path)
{
        ++*(size_t *)user;
        return true;
}

size_t manifest_distance(const struct manifest *from, const struct manifest *to)
{
        size_t n = 0;

        manifest_each_difference(from, to, count_one, &n);
        return n;
}

bool manifest_is_edit(const struct manifest *from, const struct manifest *to)
{
        if (from->n != to->n)
                return false;
        for (size_t i = 0; i < from->n; i++) {
                const struct tracked *a = &from->list[i], *b = &to->list[i];
                bool same = tracked_is_same(a, b);

                if (strcmp(a->path, b->path) != 0 || a->mode != b->mode || (!same && a->mode != 0100644 && a->mode != 0100755))
                        return false;
                if (!same && strcmp(basename(a->path), ".gitattributes") == 0)
                        return false;
        }
        return true;
}

/* -- the manifest's file ---------------------------------------------------------------------------------------- */

#define MANIFEST_MAGIC "solverfs manifest 2\n"

void manifest_encode(const struct manifest *m, struct buffer *ret)
{
        buffer_adds(ret, MANIFEST_MAGIC);
        for (size_t i = 0; i < m->n; i++) {
                const struct tracked *t = &m->list[i];
                size_t length = strlen(t->path);

                buffer_add(ret, t->oid.id, GIT_OID_RAWSZ);
                record_put_u32(ret, t->mode);
                buffer_add(ret, t->content.bytes, DIGEST_SIZE);
                record_put_u16(ret, (uint16_t)length);
                buffer_add(ret, t->path, length);
        }
}

int manifest_write(const char *path, const struct manifest *m)
{
        cleanup_buffer struct buffer b = {0};
        int r;

        manifest_encode(m, &b);
        r = buffer_error(&b);
        return r < 0 ? r : write_file_atomic(path, b.data, b.size, 0600);
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

        record_raw(r, t.oid.id, GIT_OID_RAWSZ);
        t.mode = record_u32(r);
        record_raw(r, t.content.bytes, DIGEST_SIZE);
        name = record_slice(r, record_u16(r));
        if (name.size == 0 || name.size >= sizeof(path))
                return -EBADMSG;
        memcpy(path, name.data, name.size);
        path[name.size] = '\0';
        return path_is_bad(path, name.size) ? -EBADMSG : manifest_add(to, &t);
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

int manifest_read(const char *path, struct manifest *ret)
{
        cleanup_manifest struct manifest m = {0};
        cleanup_blob struct blob b = {0};
        int r = read_file(path, MANIFEST_MAX, &b);

        if (r == 0)
                r = manifest_decode(SLICE(b.data, b.size), &m);
        if (r < 0)
                return r;
        *ret = m;
        m = (struct manifest){0};
        return 0;
}
