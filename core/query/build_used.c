/* Lists of what builds used (core/build/used.h), each kept once by content, and the check whether anything on a list has changed. */
#include <pthread.h>

#include "core/build/used.h"
#include "core/query/build_query.h"

#define LOOK_AGAIN NSEC_PER_SEC

static void used_key(const struct digest *d, char ret[16 + DIGEST_HEX_SIZE])
{
        snprintf(ret, 16 + DIGEST_HEX_SIZE, BUILD_USED_KEY "%s", digest_text(d).s);
}

int build_used_put(struct store_txn *t, struct slice list, struct digest *ret)
{
        char key[16 + DIGEST_HEX_SIZE];

        digest_of(list.data, list.size, ret);
        used_key(ret, key);
        return store_has(t, TABLE_META, slice_string(key)) ? 0 : store_put(t, TABLE_META, slice_string(key), list);
}

/* The last look at a list. */
struct verdict_on_used {
        struct verdict_on_used *next;
        struct digest used;
        uint64_t looked; /* ns */
        char *changed;   /* owned; the first changed path; NULL: none changed */
};

static struct {
        pthread_mutex_t lock;
        struct verdict_on_used *list; /* under lock; never freed: commits share lists */
} verdicts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct verdict_on_used *verdict_of(const struct digest *used)
{
        struct verdict_on_used *v = verdicts.list;

        while (v && !digest_equal(&v->used, used))
                v = v->next;
        if (v)
                return v;
        v = allocate(1, sizeof(*v));
        *v = (struct verdict_on_used){.next = verdicts.list, .used = *used};
        return verdicts.list = v;
}

static void check_list(struct workspace *w, struct verdict_on_used *v)
{
        cleanup_blob struct blob b = {0};
        char key[16 + DIGEST_HEX_SIZE], *changed = NULL;

        used_key(&v->used, key);
        if (store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b) < 0 || used_list_check(SLICE(b.data, b.size), &changed) < 0)
                changed = copy_string("(the record of what it used is lost)");
        free(v->changed);
        v->changed = changed;
        v->looked = now_ns();
}

static bool used_changed(struct workspace *w, const struct digest *used, char **ret_path)
{
        bool changed;
        cleanup_unlock pthread_mutex_t *held = hold(&verdicts.lock);
        struct verdict_on_used *v = verdict_of(used);

        if (v->looked == 0 || now_ns() - v->looked >= LOOK_AGAIN)
                check_list(w, v);
        changed = v->changed != NULL;
        if (changed && ret_path)
                *ret_path = copy_string(v->changed);
        return changed;
}

static bool used_of(struct workspace *w, const struct digest *build, struct digest *ret)
{
        cleanup_blob struct blob b = {0};

        if (store_fetch(workspace_store(w), TABLE_BUILD_PROGRAMS, SLICE(build->bytes, DIGEST_SIZE), &b) < 0 || b.size != 2 * DIGEST_SIZE)
                return false;
        memcpy(ret->bytes, (const char *)b.data + DIGEST_SIZE, DIGEST_SIZE);
        return true;
}

int build_used_find(struct workspace *w, const struct digest *build, struct blob *ret)
{
        char key[16 + DIGEST_HEX_SIZE];
        struct digest used;

        if (!used_of(w, build, &used))
                return -ENOENT;
        used_key(&used, key);
        return store_fetch(workspace_store(w), TABLE_META, slice_string(key), ret);
}

bool build_tools_changed(struct workspace *w, const struct digest *build, char **ret_path)
{
        struct digest used;

        return used_of(w, build, &used) && used_changed(w, &used, ret_path);
}

bool commit_tools_changed(struct workspace *w, struct solver *s, uint32_t commit, char **ret_path)
{
        struct digest key;

        return build_key(s->history, commit, s->recipe, &key) == 0 && build_tools_changed(w, &key, ret_path);
}

size_t commits_tools_changed(struct workspace *w, struct solver *s, const uint32_t *list, size_t n, char **ret_path)
{
        size_t changed = 0;

        *ret_path = NULL;
        for (size_t i = 0; i < n; i++)
                changed += commit_tools_changed(w, s, list[i], changed == 0 ? ret_path : NULL);
        return changed;
}

int commit_sources_used(struct workspace *w, struct solver *s, uint32_t commit, void (*fn)(void *user, const char *name), void *user)
{
        cleanup_blob struct blob list = {0};
        struct digest key;

        return build_key(s->history, commit, s->recipe, &key)
            ?: build_used_find(w, &key, &list)
            ?: used_list_sources(SLICE(list.data, list.size), fn, user);
}

/* -- lists of no build ------------------------------------------------------------------------------------------- */

static int sweep_in(struct store_txn *t)
{
        cleanup_walk struct store_walk made = {.txn = t, .table = TABLE_BUILD_PROGRAMS};
        cleanup_walk struct store_walk lists = {.txn = t, .table = TABLE_META, .prefix = slice_string(BUILD_USED_KEY), .keys_only = true};
        cleanup_digests struct digest_list used = {0};
        int r;

        while ((r = store_walk(&made)) > 0)
                if (made.value.size == 2 * DIGEST_SIZE)
                        digest_list_add(&used, (const char *)made.value.data + DIGEST_SIZE);
        digest_list_sort(&used);
        while (r >= 0 && (r = store_walk(&lists)) > 0) {
                cleanup_free char *hex = copy_prefix((const char *)lists.key.data + lists.prefix.size, lists.key.size - lists.prefix.size);
                struct digest d;

                if (digest_parse(hex, &d) == 0 && !digest_list_find(&used, &d))
                        r = store_delete(t, TABLE_META, lists.key);
        }
        return r;
}

int build_used_sweep(struct workspace *w)
{
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u))
                u.r = sweep_in(u.txn);
        return u.r;
}
