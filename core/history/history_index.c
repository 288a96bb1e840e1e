/* The index: its records, and indexing: all new commits, a transaction for each batch; then refs of ours for commits that refs have left; then the list
 * of refs. If indexing is killed on the way, the next one does the rest, from the last list. */
#include "cache/base/record.h"
#include "core/history/history_internal.h"

#define BATCH 4096 /* commits per transaction: enough to make its two syncs negligible, few enough not to delay other writers */

/* -- records ---------------------------------------------------------------------------------------------------- */

struct index_key index_key(const struct history *h, const void *rest, size_t size)
{
        struct index_key k = {.size = 4 + size};

        assert(k.size <= sizeof(k.bytes));
        key_u32(k.bytes, h->repository);
        if (size > 0)
                memcpy(k.bytes + 4, rest, size);
        return k;
}

struct index_key index_key_number(const struct history *h, uint32_t number)
{
        uint8_t bytes[4];

        key_u32(bytes, number);
        return index_key(h, bytes, sizeof(bytes));
}

int index_get_count(struct history *h, struct store_txn *t, struct index_count *ret)
{
        struct index_key key = index_key(h, "count", 5);
        cleanup_blob struct blob b = {0};
        int r = store_get(t, h->tables.refs, index_slice(&key), &b);

        *ret = (struct index_count){0};
        if (r == -ENOENT)
                return 0;
        if (r == 0 && b.size != 12)
                return errorf(-EIO, "the index of %s is damaged", h->name);
        if (r == 0)
                *ret = (struct index_count){.commits = key_get_u32(b.data),
                                            .generation = key_get_u64((const uint8_t *)b.data + 4)};
        return r;
}

static int index_put_count(struct history *h, struct store_txn *t, const struct index_count *count)
{
        struct index_key key = index_key(h, "count", 5);
        uint8_t value[12];

        key_u32(value, count->commits);
        key_u64(value + 4, count->generation);
        return store_put(t, h->tables.refs, index_slice(&key), SLICE(value, sizeof(value)));
}

int index_get_number(struct history *h, struct store_txn *t, const git_oid *oid, uint32_t *ret)
{
        struct index_key key = index_key(h, oid->id, GIT_OID_RAWSZ);
        cleanup_blob struct blob b = {0};
        int r = store_get(t, h->tables.oids, index_slice(&key), &b);

        if (r == 0 && b.size != 4)
                return errorf(-EIO, "commit %s of %s is damaged in the index", oid_text(oid), h->name);
        if (r == 0)
                *ret = key_get_u32(b.data);
        return r;
}

/* -- tips ------------------------------------------------------------------------------------------------------- */

struct tips {
        struct ref_list *refs; /* sorted, and with commits, once these are indexed */
        git_oid *oids;         /* of the refs, in the order found, then of HEAD if it is on a commit */
        size_t n;
};

static void tips_done(struct tips *t)
{
        ref_list_unref(t->refs);
        free(t->oids);
        *t = (struct tips){0};
}
#define cleanup_tips cleanup(tips_done)

/* -- new commits ------------------------------------------------------------------------------------------------ */

struct batch {
        git_commit *list[BATCH];
        size_t n;
};

static void batch_clear(struct batch *b)
{
        while (b->n > 0)
                git_commit_free(b->list[--b->n]);
}

/* Git itself reads most commits whose author or committer is malformed. */
static int commit_error(const git_oid *oid)
{
        return errorf(-EIO, "commit %s cannot be read: %s; 'git fsck' in a clone says more", oid_text(oid), git_error_text());
}

static int batch_add(struct batch *b, git_repository *git, const git_oid *oid)
{
        if (git_commit_lookup(&b->list[b->n], git, oid) < 0)
                return commit_error(oid);
        b->n++;
        return 0;
}

static int put_commit(struct history *h, struct store_txn *t, git_commit *c, uint32_t number, int64_t now)
{
        const git_oid *oid = git_commit_id(c);
        struct index_key by_number = index_key_number(h, number), by_oid = index_key(h, oid->id, GIT_OID_RAWSZ);
        cleanup_buffer struct buffer value = {0};
        uint8_t bytes[4];
        int r;

        buffer_add(&value, oid->id, GIT_OID_RAWSZ);
        record_put_u64(&value, (uint64_t)git_commit_time(c));
        record_put_u64(&value, (uint64_t)now);
        for (unsigned i = 0; i < git_commit_parentcount(c); i++) {
                uint32_t parent = 0;

                r = index_get_number(h, t, git_commit_parent_id(c, i), &parent);
                if (r < 0)
                        return r == -ENOENT ? errorf(-EIO, "commit %s comes before its parent", oid_text(oid)) : r;
                record_put_u32(&value, parent);
        }
        r = store_put(t, h->tables.commits, index_slice(&by_number), SLICE(value.data, value.size));
        key_u32(bytes, number);
        return r < 0 ? r : store_put(t, h->tables.oids, index_slice(&by_oid), SLICE(bytes, 4));
}

static int batch_write(struct history *h, struct batch *b)
{
        cleanup_txn struct store_txn *t = NULL;
        struct index_count count;
        int64_t now = now_seconds();
        int r = store_write(h->store, &t) ?: index_get_count(h, t, &count);

        for (size_t i = 0; r == 0 && i < b->n; i++)
                r = put_commit(h, t, b->list[i], count.commits++, now);
        batch_clear(b);
        if (r < 0)
                return r;
        count.generation++;
        return index_put_count(h, t, &count) ?: store_commit(steal_pointer(t));
}

/* Adds a commit's parents, or a tag's target. An object that is not there has none. */
static int add_targets(git_repository *git, const git_oid *oid, git_oid **list, size_t *n)
{
        cleanup_git_object git_object *o = NULL;
        int r = git_object_lookup(&o, git, oid, GIT_OBJECT_ANY);

        if (r < 0)
                return r == GIT_ENOTFOUND ? 0 : commit_error(oid);
        for (unsigned i = 0; git_object_type(o) == GIT_OBJECT_COMMIT && i < git_commit_parentcount((git_commit *)o); i++)
                list_add(*list, *n, *git_commit_parent_id((git_commit *)o, i));
        if (git_object_type(o) == GIT_OBJECT_TAG)
                list_add(*list, *n, *git_tag_target_id((git_tag *)o));
        return 0;
}

int history_name_unreadable(git_repository *git, const git_oid *tips, size_t n_tips)
{
        cleanup_free git_oid *list = NULL;
        struct oid_set seen = {0};
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < n_tips; i++) {
                list_add(list, n, tips[i]);
                while (r == 0 && n > 0) {
                        const git_oid oid = list[--n];

                        r = oid_set_add(&seen, &oid) ? add_targets(git, &oid, &list, &n) : 0;
                }
        }
        oid_set_done(&seen);
        return r;
}

static int walk_error(struct history *h, git_repository *git, const struct tips *tips)
{
        cleanup_free char *reason = copy_string(git_error_text());
        int r = history_name_unreadable(git, tips->oids, tips->n);

        return r < 0 ? r
                     : errorf(-EIO, "the history in %s cannot be walked: %s; it is damaged, or was made from a shallow or partial clone", h->path,
                              reason);
}

static int index_commits(struct history *h, git_repository *git, const struct tips *tips, git_revwalk *walk, const struct progress *p, uint32_t *ret_new)
{
        cleanup_free struct batch *b = allocate(1, sizeof(*b));
        uint32_t n_new = 0, number;
        git_oid oid;
        int e, r = 0;

        while (r == 0 && (e = git_revwalk_next(&oid, walk)) != GIT_ITEROVER) {
                if (e == 0 && history_number(h, &oid, &number) == 0) /* indexed by a process that was killed before it wrote the refs */
                        continue;
                if (b->n == BATCH)
                        r = progress_step(p, "indexing commits", n_new, 0);
                if (r == 0 && b->n == BATCH)
                        r = batch_write(h, b);
                if (r == 0)
                        r = e < 0 ? walk_error(h, git, tips) : batch_add(b, git, &oid);
                n_new++;
        }
        if (r == 0 && b->n > 0)
                r = batch_write(h, b);
        batch_clear(b);
        if (r == 0)
                r = progress_step(p, "indexing commits", n_new, n_new);
        *ret_new = n_new;
        return r;
}

/* -- refs ------------------------------------------------------------------------------------------------------- */

/* Adds the commit that a ref leads to, through tags. A broken ref, or one that leads to no commit, is left out. */
static void add_tip(struct tips *tips, git_reference *ref)
{
        cleanup_git_object git_object *commit = NULL;
        const char *name = git_reference_name(ref);
        enum ref_kind kind = REF_KEPT;
        size_t skip = 0;

        if (strncmp(name, "refs/heads/", 11) == 0)
                kind = REF_BRANCH, skip = 11;
        else if (strncmp(name, "refs/tags/", 10) == 0)
                kind = REF_TAG, skip = 10;
        else if (strncmp(name, "refs/solverfs/", 14) != 0)
                return;
        if (git_reference_peel(&commit, ref, GIT_OBJECT_COMMIT) < 0) {
                log_debug("%s is not on a commit: left out", name);
                return;
        }
        list_add(tips->oids, tips->n, *git_object_id(commit));
        ref_list_add(tips->refs, kind, name + skip, COMMIT_NONE);
}

static int collect_tips(struct history *h, git_repository *git, struct tips *ret)
{
        cleanup_git_references git_reference_iterator *it = NULL;
        git_reference *ref;
        git_oid head;
        int e = git_reference_iterator_new(&it, git);

        ret->refs = ref_list_new();
        while (e == 0 && (e = git_reference_next(&ref, it)) == 0) {
                add_tip(ret, ref);
                git_reference_free(ref);
        }
        if (e != GIT_ITEROVER)
                return errorf(-EIO, "cannot read the refs of %s: %s", h->path, git_error_text());
        if (git_reference_name_to_id(&head, git, "HEAD") == 0)
                list_add(ret->oids, ret->n, head);
        return 0;
}

static uint32_t newest_of(struct history *h, const struct ref_list *l, enum ref_kind kind)
{
        uint32_t best = COMMIT_NONE;
        int64_t date = INT64_MIN;

        for (size_t i = 0; i < l->n; i++) {
                struct commit c;

                if (l->list[i].kind == kind && history_commit(h, l->list[i].commit, &c) == 0 && c.committed > date)
                        date = c.committed, best = l->list[i].commit;
        }
        return best;
}

/* Once all commits are indexed: the numbers of the refs' commits, and HEAD's. */
static int number_refs(struct history *h, const struct tips *tips)
{
        struct ref_list *l = tips->refs;
        int r = 0;

        for (size_t i = 0; r == 0 && i < l->n; i++)
                r = history_number(h, &tips->oids[i], &l->list[i].commit);
        if (r < 0)
                return r;
        ref_list_sort(l);
        if (tips->n == l->n || history_number(h, &tips->oids[l->n], &l->head) < 0) /* HEAD names a missing branch */
                l->head = newest_of(h, l, REF_BRANCH);
        if (l->head == COMMIT_NONE)
                l->head = newest_of(h, l, REF_TAG);
        return 0;
}

/* Puts a ref of ours on a commit. A lost commit is not kept: later readers get -ESTALE. A commit is lost, too, if the solver was removed and added
 * again from a repository without it. */
static int keep_commit(struct history *h, git_repository *git, const git_oid *oid)
{
        cleanup_git_reference git_reference *kept = NULL;
        cleanup_git_commit git_commit *there = NULL;
        char name[64];
        int r = git_commit_lookup(&there, git, oid);

        snprintf(name, sizeof(name), "refs/solverfs/kept/%s", oid_text(oid));
        if (r == 0)
                r = git_reference_create(&kept, git, name, oid, 1, NULL);
        if (r < 0 && r != GIT_ENOTFOUND)
                return errorf(git_errno(r), "cannot keep commit %s in %s: %s", oid_text(oid), h->path, git_error_text());
        return 0;
}

/* A detached HEAD may have been the only ref that held its commit. *ret_any: a ref was put, as below. */
static int keep_old_head(struct history *h, git_repository *git, const struct ref_list *old, const struct tips *tips,
                         bool *ret_any)
{
        struct commit was;
        int r;

        for (size_t i = 0; i < old->n; i++)
                if (old->list[i].commit == old->head)
                        return 0; /* that ref's commit is kept */
        if (old->head == COMMIT_NONE)
                return 0;
        r = history_commit(h, old->head, &was);
        if (r < 0)
                return r;
        for (size_t i = 0; i < tips->n; i++)
                if (oid_equal(&tips->oids[i], &was.oid))
                        return 0;
        if (tips->n > 0 && git_graph_reachable_from_any(git, &was.oid, tips->oids, tips->n) == 1)
                return 0;
        *ret_any = true;
        return keep_commit(h, git, &was.oid);
}

/* Puts a ref of ours on the old commit of each branch or tag that vanished or was moved back, so that no `git gc` in the store loses a commit of the
 * index. Works from the index's last list, not from what the fetch saw, so the next update repairs a killed one. */
static int keep_old_tips(struct history *h, git_repository *git, const struct ref_list *old, const struct ref_list *new,
                         bool *ret_any)
{
        for (size_t i = 0; i < old->n; i++) {
                const struct ref *now = ref_list_find(new, old->list[i].kind, old->list[i].name);
                struct commit was, is;
                int r;

                if (now && now->commit == old->list[i].commit)
                        continue;
                r = history_commit(h, old->list[i].commit, &was);
                if (r == 0 && now)
                        r = history_commit(h, now->commit, &is);
                if (r < 0)
                        return r;
                if (now && git_graph_descendant_of(git, &is.oid, &was.oid) == 1)
                        continue;
                r = keep_commit(h, git, &was.oid);
                if (r < 0)
                        return r;
                *ret_any = true;
        }
        return 0;
}

static int write_refs(struct history *h, const struct ref_list *l)
{
        struct index_key key = index_key(h, "list", 4);
        cleanup_txn struct store_txn *t = NULL;
        cleanup_buffer struct buffer b = {0};
        cleanup_blob struct blob old = {0};
        struct index_count count;
        int r = store_write(h->store, &t);

        ref_list_encode(l, &b);
        if (r == 0)
                r = store_get(t, h->tables.refs, index_slice(&key), &old);
        if (r == 0 && same_bytes(old, b))
                return 0; /* nothing changed: no new generation, no syncs */
        if (r == -ENOENT || r == 0)
                r = index_get_count(h, t, &count);
        if (r < 0)
                return r;
        count.generation++;
        return index_put_count(h, t, &count)
            ?: store_put(t, h->tables.refs, index_slice(&key), SLICE(b.data, b.size))
            ?: store_commit(steal_pointer(t));
}

/* The walk over the commits that the last list of refs did not reach, parents first. */
static int begin_walk(struct history *h, git_repository *git, const struct tips *tips, const struct ref_list *old,
                      git_revwalk **ret)
{
        int r = git_revwalk_new(ret, git);
        uint32_t number;

        if (r == 0)
                r = git_revwalk_sorting(*ret, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME | GIT_SORT_REVERSE);
        for (size_t i = 0; r == 0 && i < tips->n; i++)
                if (history_number(h, &tips->oids[i], &number) < 0) /* a tip of the index may stand on a lost commit */
                        r = git_revwalk_push(*ret, &tips->oids[i]);
        if (r < 0)
                return walk_error(h, git, tips);
        for (size_t i = 0; i < old->n; i++) {
                struct commit c;

                if (history_commit(h, old->list[i].commit, &c) == 0)
                        git_revwalk_hide(*ret, &c.oid); /* only saves work: commits it misses turn out to be indexed */
        }
        return 0;
}

static int read_old_list(struct history *h, struct ref_list **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(h->store, &t) ?: ref_list_read(h, t, ret);

        if (r == -EIO) { /* the list is made anew here */
                log_warning("%s", error_message(r));
                *ret = ref_list_new();
                r = 0;
        }
        return r;
}

int history_index(struct history *h, git_repository *git, const struct progress *p, uint32_t *ret_new)
{
        cleanup_refs struct ref_list *old = NULL;
        cleanup_git_revwalk git_revwalk *walk = NULL;
        cleanup_tips struct tips tips = {0};
        bool kept = false;
        int r = read_old_list(h, &old);

        *ret_new = 0;
        if (r == 0)
                r = collect_tips(h, git, &tips)
                    ?: begin_walk(h, git, &tips, old, &walk)
                    ?: index_commits(h, git, &tips, walk, p, ret_new)
                    ?: number_refs(h, &tips)
                    ?: keep_old_tips(h, git, old, tips.refs, &kept)
                    ?: keep_old_head(h, git, old, &tips, &kept);
        if (r == 0 && kept) { /* the list must have the new refs of ours */
                tips_done(&tips);
                r = collect_tips(h, git, &tips) ?: number_refs(h, &tips);
        }
        return r < 0 ? r : write_refs(h, tips.refs);
}
