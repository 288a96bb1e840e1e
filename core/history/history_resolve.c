/* Resolves a revision typed by a person to a commit of the index. A name in the index (sha, prefix, branch, tag) never opens the repository. */
#include "core/history/history_internal.h"

#define REVISION_MAX 1024
#define PREFIX_MIN   4

/* -ENOENT: no commit's sha begins with the digits. */
static int resolve_prefix(struct history *h, struct store_txn *t, const char *hex, size_t digits, uint32_t *ret)
{
        cleanup_walk struct store_walk w = {.txn = t, .table = h->tables.oids};
        struct index_key prefix, from;
        git_oid like, oid;
        unsigned found = 0;
        int r;

        if (oid_parse_prefix(hex, digits, &like) < 0)
                return -ENOENT;
        prefix = index_key(h, like.id, digits / 2);
        from = index_key(h, like.id, (digits + 1) / 2);
        w.prefix = index_slice(&prefix);
        w.from = index_slice(&from);
        while (found < 2 && (r = store_walk(&w)) > 0) {
                memcpy(oid.id, (const unsigned char *)w.key.data + 4, GIT_OID_RAWSZ);
                if (strncasecmp(oid_text(&oid), hex, digits) != 0)
                        break; /* past it */
                *ret = key_get_u32(w.value.data);
                found++;
        }
        if (r < 0)
                return errorf(r, "the index of %s is damaged; 'solverfs fsck' repairs it", h->name);
        return found == 0 ? -ENOENT : found > 1 ? -ENOTUNIQ : 0;
}

static bool is_head(const char *name)
{
        return strcmp(name, "HEAD") == 0 || strcmp(name, "@") == 0;
}

/* Prefers a tag to a branch of the same name, as git does. A snapshot comes first: its name was given when no other revision had it. */
static int commit_of_ref(const struct ref_list *l, const char *name, uint32_t *ret)
{
        char snapshot[REVISION_MAX + sizeof(SNAPSHOTS_REF)];
        const struct ref *found;

        snprintf(snapshot, sizeof(snapshot), SNAPSHOTS_REF "%s", name);
        found = ref_list_find(l, REF_KEPT, snapshot) ?: ref_list_find(l, REF_TAG, name) ?: ref_list_find(l, REF_BRANCH, name);
        *ret = is_head(name) ? l->head : found ? found->commit : COMMIT_NONE;
        return *ret == COMMIT_NONE ? -ENOENT : 0;
}

/* -ENOENT, -ENOTUNIQ: without a sentence. */
static int resolve_by_index(struct history *h, const char *revision, size_t length, uint32_t *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_refs struct ref_list *l = NULL;
        git_oid oid;
        int r = store_read(h->store, &t);

        if (r < 0)
                return r;
        if (length == GIT_OID_HEXSZ && oid_parse(revision, &oid) == 0) /* a full sha is one, whatever the names of refs */
                return index_get_number(h, t, &oid, ret);
        r = history_refs_in(h, t, &l) ?: commit_of_ref(l, revision, ret);
        if (r == -ENOENT && length >= PREFIX_MIN && length < GIT_OID_HEXSZ)
                r = resolve_prefix(h, t, revision, length, ret);
        return r;
}

static int unknown(struct history *h, const char *revision)
{
        if (strstr(revision, "@{"))
                return errorf(-ENOENT, "%s has no revision '%.100s': a store keeps no reflog", h->name, revision);
        return errorf(-ENOENT, "%s has no revision '%.100s'; 'solverfs solver update' fetches new ones", h->name, revision);
}

static int revparse_error(struct history *h, int r, const char *revision)
{
        const git_error *e = git_error_last();

        if (r == GIT_ENOTFOUND && e && e->klass == GIT_ERROR_ODB)
                return errorf(-ESTALE, "a commit on the way to '%.100s' is lost; run 'git fetch --refetch' twice in %s to get it back", revision, h->path);
        if (r == GIT_ENOTFOUND)
                return unknown(h, revision);
        if (r == GIT_EAMBIGUOUS)
                return -ENOTUNIQ;
        if (e && (e->klass == GIT_ERROR_ODB || e->klass == GIT_ERROR_ZLIB || e->klass == GIT_ERROR_OS ||
                  e->klass == GIT_ERROR_NOMEMORY))
                return errorf(git_errno(r), "cannot read the repository %s: %s", h->path, e->message);
        return errorf(-EINVAL, "'%.100s' is not a revision: %s", revision, git_error_text());
}

/* Replaces the name in HEAD~3 and the like by the index's commit. The repository's ref may name a missing branch, or belong to an unfinished update; git
 * does not look for snapshots; and libgit2 calls a prefix ambiguous that a file has, too. */
static int as_indexed(struct history *h, const char *revision, char ret[REVISION_MAX + GIT_OID_HEXSZ])
{
        size_t n = strcspn(revision, "^~");
        char name[REVISION_MAX];
        struct commit c;
        uint32_t commit;
        int r;

        snprintf(ret, REVISION_MAX, "%s", revision);
        if (n == 0 || revision[n] == '\0')
                return 0;
        snprintf(name, sizeof(name), "%.*s", (int)n, revision);
        r = resolve_by_index(h, name, n, &commit);
        if (r == -ENOENT)
                return is_head(name) ? errorf(-ENOENT, "%s has no commits yet", h->name) : 0;
        if (r == 0)
                r = history_commit(h, commit, &c);
        if (r == 0)
                snprintf(ret, REVISION_MAX + GIT_OID_HEXSZ, "%s%s", oid_text(&c.oid), revision + n);
        return r;
}

static int resolve_by_git(struct history *h, const char *revision, uint32_t *ret)
{
        char text[REVISION_MAX + GIT_OID_HEXSZ];
        cleanup_handle struct handle handle = {0};
        cleanup_git_object git_object *object = NULL, *commit = NULL;
        int r = as_indexed(h, revision, text) ?: history_handle(h, &handle);

        if (r < 0)
                return r;
        git_error_clear();
        r = git_revparse_single(&object, handle.git, text);
        if (r < 0)
                return revparse_error(h, r, revision);
        if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
                return errorf(-EINVAL, "'%.100s' is a %s, not a commit", revision,
                              git_object_type2string(git_object_type(object)));
        r = history_number(h, git_object_id(commit), ret);
        if (r == -ENOENT)
                return errorf(r, "'%.100s' is commit %s, which no branch or tag led to at the last 'solverfs solver update'", revision,
                              oid_text(git_object_id(commit)));
        return r;
}

int history_resolve(struct history *h, const char *revision, uint32_t *ret)
{
        size_t length = strnlen(revision, REVISION_MAX);
        bool may_be_prefix = length >= PREFIX_MIN && strspn(revision, "0123456789abcdefABCDEF") == length;
        int r;

        if (length == 0 || length == REVISION_MAX)
                return errorf(-EINVAL, length == 0 ? "an empty name is no revision" : "that is too long for a revision");
        r = resolve_by_index(h, revision, length, ret);
        /* Without any of these it is a plain name, and the index has all names but the ids of tags' own objects. */
        if (r == -ENOENT && !strpbrk(revision, "^~:@{/-") && !may_be_prefix)
                return unknown(h, revision);
        if (r == -ENOENT)
                r = resolve_by_git(h, revision, ret);
        return r == -ENOTUNIQ ? errorf(r, "'%.100s' is ambiguous in %s; write more of it", revision, h->name) : r;
}
