#include "core/cases/cases_internal.h"

#include "cache/store/name_key.h"

/* The table: "n" name → id, "d" folder → number of names in it. No name is also a folder of another. */
#define NAME_MOST      4096
#define COMPONENT_MOST 255

int case_name_check(const char *name)
{
        size_t n = strlen(name);

        if (n == 0)
                return errorf(-EINVAL, "a case needs a name");
        if (n > NAME_MOST)
                return errorf(-EINVAL, "a case's name has %zu bytes, and may have %d", n, NAME_MOST);
        for (const char *p = name;; p++) {
                size_t part = strcspn(p, "/");

                if (part == 0)
                        return errorf(-EINVAL, "%.200s: a case's name is relative, without empty components", name);
                if (part > COMPONENT_MOST)
                        return errorf(-EINVAL, "%.200s: a component of a case's name may have %d bytes", name, COMPONENT_MOST);
                if ((part == 1 && p[0] == '.') || (part == 2 && p[0] == '.' && p[1] == '.'))
                        return errorf(-EINVAL, "%.200s: '.' and '..' cannot be in a case's name", name);
                p += part;
                if (*p == '\0')
                        return 0;
        }
}

/* The number under a key of the table of names; -ENOENT. */
static int name_get(struct store_txn *t, size_t table, char kind, const char *name, size_t size, uint32_t *ret)
{
        cleanup_blob struct blob b = {0};
        struct name_key key;
        int r;

        name_key(&key, kind, 0, name, size);
        r = store_get(t, table, name_key_slice(&key), &b);
        if (r == 0 && b.size != 4)
                return errorf(-EIO, "the index of the cases' names is damaged; 'solverfs fsck' says more");
        if (r == 0)
                *ret = key_get_u32(b.data);
        return r;
}

static int name_put(struct store_txn *t, size_t table, char kind, const char *name, size_t size, uint32_t n)
{
        struct name_key key;
        uint8_t bytes[4];

        key_u32(bytes, n);
        name_key(&key, kind, 0, name, size);
        return store_put(t, table, name_key_slice(&key), SLICE(bytes, sizeof(bytes)));
}

static int name_delete(struct store_txn *t, size_t table, char kind, const char *name, size_t size)
{
        struct name_key key;
        int r;

        name_key(&key, kind, 0, name, size);
        r = store_delete(t, table, name_key_slice(&key));
        return r == -ENOENT ? 0 : r;
}

int case_name_is_free(struct store_txn *t, size_t table, const char *name)
{
        uint32_t n;
        int r = name_get(t, table, 'n', name, strlen(name), &n);

        if (r == 0)
                return errorf(-EEXIST, "the name %s is taken by case %u; give another, or remove that one", name, n);
        if (r == -ENOENT)
                r = name_get(t, table, 'd', name, strlen(name), &n);
        if (r == 0)
                return errorf(-EEXIST, "the name %s is taken: it is a folder of %u cases", name, n);
        for (const char *slash = strchr(name, '/'); slash && r == -ENOENT; slash = strchr(slash + 1, '/')) {
                r = name_get(t, table, 'n', name, (size_t)(slash - name), &n);
                if (r == 0)
                        return errorf(-EEXIST, "the name %s is taken: %.*s is case %u and no folder", name, (int)(slash - name),
                                      name, n);
        }
        return r == -ENOENT ? 0 : r;
}

/* Adds `by` (1 or -1) to the number of names in each folder on the path. A folder without names goes. */
static int count_folders(struct store_txn *t, size_t table, const char *name, int by)
{
        int r = 0;

        for (const char *slash = strchr(name, '/'); slash && r == 0; slash = strchr(slash + 1, '/')) {
                size_t size = (size_t)(slash - name);
                uint32_t n = 0;

                r = name_get(t, table, 'd', name, size, &n);
                if (r < 0 && r != -ENOENT)
                        return r;
                n += (uint32_t)by;
                r = n > 0 ? name_put(t, table, 'd', name, size, n) : name_delete(t, table, 'd', name, size);
        }
        return r;
}

int case_name_take(struct store_txn *t, size_t table, const char *name, uint32_t id)
{
        return name_put(t, table, 'n', name, strlen(name), id) ?: count_folders(t, table, name, 1);
}

int case_name_release(struct store_txn *t, size_t table, const char *name)
{
        return name_delete(t, table, 'n', name, strlen(name)) ?: count_folders(t, table, name, -1);
}

int case_name_find(struct store_txn *t, size_t table, const char *name, uint32_t *ret)
{
        return name_get(t, table, 'n', name, strlen(name), ret);
}

int case_name_find_folder(struct store_txn *t, size_t table, const char *path)
{
        uint32_t n;

        return name_get(t, table, 'd', path, strlen(path), &n);
}
