/* The commits that are built, by the table of builds. */
#include "core/query/query_internal.h"

/* The keys of the builds that are kept, failed ones included, in order (LMDB's own). */
struct kept_builds {
        struct digest *list;
        size_t n;
};

static int build_keys_add(void *user, struct slice key, struct slice)
{
        struct kept_builds *k = user;

        if (key.size != DIGEST_SIZE)
                return 0;
        if (list_grow(k->list, k->n) < 0)
                return -ENOMEM;
        memcpy(k->list[k->n++].bytes, key.data, DIGEST_SIZE);
        return 0;
}

static int kept_builds_read(struct workspace *w, struct kept_builds *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : store_each(t, TABLE_BUILDS, SLICE("", 0), SLICE("", 0), false, build_keys_add, ret);
}

static void kept_builds_done(struct kept_builds *k)
{
        free(k->list);
}

static bool kept_builds_have(const struct kept_builds *k, const struct digest *build)
{
        return find_in_list(build, k->list, k->n, sizeof(*k->list), digest_compare);
}

/* Every run has a build: so the commits with anything known are those whose build key is in the table of builds. */
int commits_known(struct workspace *w, struct solver *s, uint32_t **ret, size_t *ret_n)
{
        cleanup(kept_builds_done) struct kept_builds kept = {0};
        cleanup_free struct digest *builds = NULL;
        cleanup_free uint32_t *list = NULL;
        uint32_t count = 0;
        size_t n = 0;
        int r = kept_builds_read(w, &kept);

        if (r == 0 && kept.n > 0)
                r = build_keys(s->history, s->recipe, &builds, &count);
        list = calloc((size_t)count + 1, sizeof(*list));
        if (r == 0 && !list)
                r = -ENOMEM;
        if (r < 0)
                return r;
        for (uint32_t i = 0; i < count; i++)
                if (kept_builds_have(&kept, &builds[i]))
                        list[n++] = i;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}
