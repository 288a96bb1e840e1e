/* The list of refs: lookups, and its record in the index. */
#include "cache/base/record.h"
#include "core/history/history_internal.h"

/* -- the list --------------------------------------------------------------------------------------------------- */

struct ref_list *ref_list_new(void)
{
        struct ref_list *l = allocate(1, sizeof(*l));

        *l = (struct ref_list){.refs = 1, .head = COMMIT_NONE};
        return l;
}

static void ref_list_free(struct ref_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->list[i].name);
        free(l->list);
        free(l);
}
DEFINE_REFS(ref_list, ref_list_free)

void ref_list_add(struct ref_list *l, enum ref_kind kind, const char *name, uint32_t commit)
{
        list_add(l->list, l->n, (struct ref){.kind = kind, .commit = commit, .name = copy_string(name)});
}

static int compare_refs(const void *a, const void *b)
{
        const struct ref *x = a, *y = b;

        return ORDER(x->kind, y->kind) ?: strcmp(x->name, y->name);
}

void ref_list_sort(struct ref_list *l)
{
        sort_list(l->list, l->n, sizeof(*l->list), compare_refs);
}

size_t ref_list_from(const struct ref_list *l, enum ref_kind kind, const char *name)
{
        return lower_bound(&(struct ref){.kind = kind, .name = (char *)name}, l->list, l->n, sizeof(*l->list), compare_refs);
}

const struct ref *ref_list_find(const struct ref_list *l, enum ref_kind kind, const char *name)
{
        size_t i = ref_list_from(l, kind, name);

        return i < l->n && l->list[i].kind == kind && strcmp(l->list[i].name, name) == 0 ? &l->list[i] : NULL;
}

/* -- its record ------------------------------------------------------------------------------------------------- */

void ref_list_encode(const struct ref_list *l, struct buffer *ret)
{
        record_put_u32(ret, l->head);
        for (size_t i = 0; i < l->n; i++) {
                size_t length = strlen(l->list[i].name);

                record_put_u8(ret, (uint8_t)l->list[i].kind);
                record_put_u32(ret, l->list[i].commit);
                record_put_u16(ret, (uint16_t)length);
                buffer_add(ret, l->list[i].name, length);
        }
}

static int ref_list_decode(struct slice bytes, struct ref_list *l)
{
        struct record r = record_of(bytes);

        l->head = record_u32(&r);
        while (record_left(&r) > 0) {
                enum ref_kind kind = record_u8(&r);
                uint32_t commit = record_u32(&r);
                cleanup_free char *name = record_string(&r, record_u16(&r));

                if (name)
                        ref_list_add(l, kind, name, commit);
        }
        return record_end(&r, "the list of refs");
}

int ref_list_read(struct history *h, struct store_txn *t, struct ref_list **ret)
{
        cleanup_refs struct ref_list *l = ref_list_new();
        struct index_key key = index_key(h, "list", 4);
        cleanup_blob struct blob b = {0};
        int r = store_get(t, h->tables.refs, index_slice(&key), &b) ?: ref_list_decode(SLICE(b.data, b.size), l);

        if (r == -EBADMSG)
                return errorf(-EIO, "the list of refs of %s is damaged in the index; 'solverfs solver update' makes it anew",
                              h->name);
        if (r < 0 && r != -ENOENT)
                return r;
        *ret = steal_pointer(l);
        return 0;
}

/* -- as of the last update -------------------------------------------------------------------------------------- */

int history_refs_in(struct history *h, struct store_txn *t, struct ref_list **ret)
{
        struct index_count count;
        int r = index_get_count(h, t, &count);

        if (r < 0)
                return r;
        pthread_mutex_lock(&h->lock);
        if (!h->listed || h->listed->generation != count.generation) {
                h->listed = ref_list_unref(h->listed);
                r = ref_list_read(h, t, &h->listed);
        }
        if (r == 0) {
                h->listed->generation = count.generation;
                *ret = ref_list_ref(h->listed);
        }
        pthread_mutex_unlock(&h->lock);
        return r;
}

int history_refs(struct history *h, struct ref_list **ret)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(h->store, &t) ?: history_refs_in(h, t, ret);
}

int history_head(struct history *h, uint32_t *ret)
{
        cleanup_refs struct ref_list *l = NULL;
        int r = history_refs(h, &l);

        if (r < 0)
                return r;
        if (l->head == COMMIT_NONE)
                return errorf(-ENOENT, "%s has no commits yet", h->name);
        *ret = l->head;
        return 0;
}
