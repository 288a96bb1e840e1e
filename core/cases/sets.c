/* A change reads the set's record and writes it anew, within one transaction. */
#include "core/cases/sets.h"

#include "cache/base/record.h"
#include "core/recipe/recipe.h"

/* The table: name → version, time of the last change, ids. */
#define SET_VERSION  1
#define SET_NAME_MAX 100

struct sets {
        struct store *store; /* borrowed */
        size_t table;
};

int sets_open(struct store *store, size_t table, struct sets **ret)
{
        *ret = allocate(1, sizeof(**ret));
        **ret = (struct sets){.store = store, .table = table};
        return 0;
}

struct sets *sets_close(struct sets *s)
{
        free(s);
        return NULL;
}

static void case_set_free(struct case_set *s)
{
        free(s->name);
        free(s->ids);
        free(s);
}
DEFINE_REFS(case_set, case_set_free)

int set_name_check(const char *name)
{
        static const char more[] = "0123456789._+-", all[] = "0123456789._+-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t n = strlen(name);

        if (n > SET_NAME_MAX)
                return errorf(-EINVAL, "a set's name has %zu bytes, and may have %d", n, SET_NAME_MAX);
        if (strcmp(name, "all") == 0)
                return errorf(-EINVAL, "a set cannot be called 'all', which stands for every case");
        return n > 0 && !strchr(more, name[0]) && strspn(name, all) == n
                       ? 0
                       : errorf(-EINVAL, "'%.100s' cannot be a set's name: letters, digits and ._+- , a letter first", name);
}

/* -- records -- */

static int set_decode(const char *name, struct slice bytes, struct case_set **ret)
{
        cleanup(case_set_unrefp) struct case_set *set = allocate(1, sizeof(*set));
        struct record r = record_of(bytes);
        int e;

        set->refs = 1;
        set->name = copy_string(name);
        record_version(&r, SET_VERSION);
        set->changed = (int64_t)record_u64(&r);
        set->ids = allocate(record_left(&r) / 4 + 1, sizeof(*set->ids));
        while (record_left(&r) >= 4) {
                uint32_t id = record_u32(&r);

                if (set->n > 0 && id <= set->ids[set->n - 1])
                        record_fail(&r);
                set->ids[set->n++] = id;
        }
        e = record_end(&r, "a set of cases");
        if (e == 0)
                *ret = steal_pointer(set);
        return e == -EBADMSG ? errorf(-EIO, "set '%s': %s", name, error_message(e)) : e;
}

static int set_get_in(struct sets *s, struct store_txn *t, const char *name, struct case_set **ret)
{
        cleanup_blob struct blob b = {0};
        int r = set_name_check(name) ?: store_get(t, s->table, slice_string(name), &b);

        if (r == -ENOENT || r == -EINVAL)
                return errorf(-ENOENT, "there is no set '%.100s'; see 'solverfs set list'", name);
        return r < 0 ? r : set_decode(name, SLICE(b.data, b.size), ret);
}

static int set_put(struct sets *s, struct store_txn *t, const char *name, const uint32_t *ids, size_t n)
{
        cleanup_buffer struct buffer b = {0};

        record_put_u8(&b, SET_VERSION);
        record_put_u64(&b, (uint64_t)now_seconds());
        for (size_t i = 0; i < n; i++)
                record_put_u32(&b, ids[i]);
        return buffer_error(&b) ?: store_put(t, s->table, slice_string(name), SLICE(b.data, b.size));
}

/* -- changes -- */

/* Writes the union of the set's ids and `ids` if `add`, else the set's ids without `ids`. Returns their number. */
static size_t merge(const struct case_set *set, const uint32_t *ids, size_t n_ids, bool add, uint32_t *ret)
{
        size_t n = 0;

        for (size_t i = 0; set && i < set->n; i++)
                if (add || !find_in_list(&set->ids[i], ids, n_ids, sizeof(*ids), compare_u32))
                        ret[n++] = set->ids[i];
        if (!add)
                return n;
        memcpy(ret + n, ids, n_ids * sizeof(*ids));
        return sort_numbers(ret, n + n_ids);
}

/* `ids` are sorted. */
static int change_in(struct sets *s, struct store_txn *t, const char *name, const uint32_t *ids, size_t n_ids, bool add, size_t *ret_changed)
{
        cleanup(case_set_unrefp) struct case_set *set = NULL;
        cleanup_free uint32_t *merged = NULL;
        size_t n, had;
        int r = set_get_in(s, t, name, &set);

        if (r < 0 && !(r == -ENOENT && add))
                return r;
        had = set ? set->n : 0;
        merged = allocate(had + n_ids + 1, sizeof(*merged));
        n = merge(set, ids, n_ids, add, merged);
        *ret_changed = add ? n - had : had - n;
        return set && n == had ? 0 : set_put(s, t, name, merged, n);
}

static int change(struct sets *s, const char *name, const uint32_t *ids, size_t n, bool add, size_t *ret_changed)
{
        cleanup_free uint32_t *sorted = allocate(n + 1, sizeof(*sorted));
        struct store_update u = {.store = s->store};

        *ret_changed = 0;
        memcpy(sorted, ids, n * sizeof(*ids));
        sort_list(sorted, n, sizeof(*sorted), compare_u32);
        while (store_update_begins(&u))
                u.r = change_in(s, u.txn, name, sorted, n, add, ret_changed);
        return u.r;
}

int sets_add(struct sets *s, const char *name, const uint32_t *ids, size_t n, size_t *ret_added)
{
        return set_name_check(name) ?: change(s, name, ids, n, true, ret_added);
}

int sets_take(struct sets *s, const char *name, const uint32_t *ids, size_t n, size_t *ret_taken)
{
        return change(s, name, ids, n, false, ret_taken);
}

int sets_remove(struct sets *s, const char *name)
{
        struct store_update u = {.store = s->store, .r = set_name_check(name) < 0 ? -ENOENT : 0};

        while (store_update_begins(&u))
                u.r = store_delete(u.txn, s->table, slice_string(name));
        return u.r == -ENOENT ? errorf(u.r, "there is no set '%.100s'; see 'solverfs set list'", name) : u.r;
}

/* -- looking -- */

int sets_get(struct sets *s, const char *name, struct case_set **ret)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(s->store, &t) ?: set_get_in(s, t, name, ret);
}

int sets_names(struct sets *s, char ***ret, size_t *ret_n)
{
        cleanup_walk struct store_walk w = {.store = s->store, .table = s->table, .keys_only = true};
        int r;

        *ret = allocate(1, sizeof(**ret));
        while ((r = store_walk(&w)) > 0) {
                cleanup_free char *name = copy_prefix(w.key.data, w.key.size);

                strings_add(ret, name);
        }
        *ret_n = strings_count(*ret);
        return r;
}
