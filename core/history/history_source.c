/* The sources that a build of a commit depends on: the tree entries of the recipe's paths. */
#include "core/git/paths.h"
#include "core/history/history_internal.h"

#define BATCH 4096

/* -- a digest ----------------------------------------------------------------------------------------------------- */

static void hash_entry(struct hasher *hash, const char *path, unsigned mode, const git_oid *oid)
{
        hasher_string(hash, path);
        hasher_number(hash, mode); /* 0: absent */
        hasher_field(hash, oid ? oid->id : NULL, oid ? GIT_OID_RAWSZ : 0);
}

struct reading {
        git_repository *git;
        char *const *paths;
        struct hasher *hash;
};
static int hash_rest(const struct reading *r, const git_tree *tree, const char *folder);

/* Hashes an entry by its id; a folder with excluded entries, entry by entry. */
static int hash_found(const struct reading *r, const git_tree_entry *e, const char *path)
{
        cleanup_git_tree git_tree *tree = NULL;

        if (paths_leave_out(r->paths, path))
                return 0;
        if (git_tree_entry_type(e) != GIT_OBJECT_TREE || !paths_leave_out_within(r->paths, path)) {
                hash_entry(r->hash, path, git_tree_entry_filemode_raw(e), git_tree_entry_id(e));
                return 0;
        }
        if (git_tree_lookup(&tree, r->git, git_tree_entry_id(e)) < 0)
                return errorf(-EIO, "cannot read the folder %s (tree %s): %s", path, oid_text(git_tree_entry_id(e)), git_error_text());
        return hash_rest(r, tree, path);
}

/* Hashes a folder ("": the root) without its excluded entries. */
static int hash_rest(const struct reading *r, const git_tree *tree, const char *folder)
{
        int result = 0;

        for (size_t i = 0; result == 0 && i < git_tree_entrycount(tree); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(tree, i);
                cleanup_free char *path = format_string("%s%s%s", folder, *folder ? "/" : "", git_tree_entry_name(e));

                result = hash_found(r, e, path);
        }
        return result;
}

/* A path of the recipe, which may be absent. */
static int hash_path(const struct reading *r, const git_tree *tree, const char *path)
{
        cleanup_git_tree_entry git_tree_entry *e = NULL;
        int found = git_tree_entry_bypath(&e, tree, path);

        if (found == 0)
                return hash_found(r, e, path);
        if (found != GIT_ENOTFOUND)
                return errorf(-EIO, "cannot find %s in tree %s: %s", path, oid_text(git_tree_id(tree)), git_error_text());
        hash_entry(r->hash, path, 0, NULL);
        return 0;
}

/* Without paths: the id of the whole tree. With exclusions alone: the root's other entries. Else each included path, unless it is excluded, too. */
static int compute_source(struct history *h, git_repository *git, uint32_t number, char *const *paths, struct digest *ret)
{
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        struct reading reading = {.git = git, .paths = paths};
        int r = history_object(h, git, number, &c);

        if (r < 0)
                return r;
        reading.hash = hasher_new();
        if (!paths[0])
                hash_entry(reading.hash, "", GIT_FILEMODE_TREE, git_commit_tree_id(c));
        else if (git_commit_tree(&tree, c) < 0)
                r = errorf(-EIO, "the tree of commit %s is damaged: %s", oid_text(git_commit_id(c)), git_error_text());
        else if (!paths_have_inclusions(paths))
                r = hash_rest(&reading, tree, "");
        for (size_t i = 0; r == 0 && paths[i]; i++)
                r = paths_left_out(paths[i]) || !paths_have(paths, paths[i]) ? 0 : hash_path(&reading, tree, paths[i]);
        hasher_finish(reading.hash, ret);
        return r;
}

/* -- kept digests ------------------------------------------------------------------------------------------------- */

static struct index_key source_key(const struct history *h, const struct digest *paths, uint32_t number)
{
        uint8_t bytes[DIGEST_SIZE + 4];

        memcpy(bytes, paths->bytes, DIGEST_SIZE);
        key_u32(bytes + DIGEST_SIZE, number);
        return index_key(h, bytes, sizeof(bytes));
}

static void digest_of_paths(char *const *paths, struct digest *ret)
{
        struct hasher *hash = hasher_new();

        for (size_t i = 0; paths[i]; i++)
                hasher_string(hash, paths[i]);
        hasher_finish(hash, ret);
}

/* Computes a digest missing from the store without storing it: computing takes some 50 µs, a write would wait for the disk. Only history_sources(),
 * which needs all of them, and callers that write anyway store digests. */
int history_source(struct history *h, uint32_t number, char *const *paths, struct digest *ret)
{
        cleanup_handle struct handle handle = {0};
        cleanup_blob struct blob stored = {0};
        struct digest of_paths;
        struct index_key key;
        int r;

        digest_of_paths(paths, &of_paths);
        key = source_key(h, &of_paths, number);
        r = store_fetch(h->store, h->tables.sources, index_slice(&key), &stored);
        if (r == 0 && stored.size == DIGEST_SIZE) {
                memcpy(ret->bytes, stored.data, DIGEST_SIZE);
                return 0;
        }
        if (r == 0 || r == -ENOENT)
                r = history_handle(h, &handle);
        return r < 0 ? r : compute_source(h, handle.git, number, paths, ret);
}

int history_keep_source(struct history *h, struct store_txn *t, uint32_t number, char *const *paths, const struct digest *source)
{
        struct digest of_paths;
        struct index_key key;

        digest_of_paths(paths, &of_paths);
        key = source_key(h, &of_paths, number);
        if (store_has(t, h->tables.sources, index_slice(&key)))
                return 0;
        return store_put(t, h->tables.sources, index_slice(&key), SLICE(source->bytes, DIGEST_SIZE));
}

/* -- one path ----------------------------------------------------------------------------------------------------- */

static bool tree_has(struct history *h, git_repository *git, uint32_t number, const char *path)
{
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        cleanup_git_tree_entry git_tree_entry *e = NULL;

        return history_object(h, git, number, &c) == 0 && git_commit_tree(&tree, c) == 0 && git_tree_entry_bypath(&e, tree, path) == 0;
}

int history_has_path(struct history *h, uint32_t number, const char *path, bool *ret)
{
        cleanup_handle struct handle handle = {0};
        uint32_t first = number == COMMIT_NONE ? 0 : number, n = number == COMMIT_NONE ? history_count(h) : number + 1;
        int r = history_handle(h, &handle);

        *ret = false;
        for (; r == 0 && n > first && !*ret; n--) /* the newest first */
                *ret = tree_has(h, handle.git, n - 1, path);
        return r;
}

/* -- all commits -------------------------------------------------------------------------------------------------- */

/* A digest that cannot be stored (a full disk) is computed again the next time. */
static bool try_to_keep(struct history *h, const struct digest *of_paths, const struct digest *list, const uint32_t *numbers,
                        size_t n)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = n > 0 ? store_write(h->store, &t) : 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                struct index_key key = source_key(h, of_paths, numbers[i]);

                r = store_put(t, h->tables.sources, index_slice(&key), SLICE(list[numbers[i]].bytes, DIGEST_SIZE));
        }
        if (r == 0 && t)
                r = store_commit(steal_pointer(t));
        if (r < 0)
                log_info("what the builds of %s depend on is not kept: %s", h->name, error_message(r));
        return r == 0;
}

/* Computes the unknown digests: those that are zero in the list. */
static int fill_gaps(struct history *h, char *const *paths, const struct digest *of_paths, struct digest *list, uint32_t n_list)
{
        cleanup_git_repository git_repository *git = NULL; /* not a shared handle: it grows with everything it reads */
        bool keep = !store_read_only(h->store);
        uint32_t computed[BATCH]; /* not stored yet */
        size_t n = 0;

        for (uint32_t i = 0; i < n_list; i++) {
                int r;

                if (!digest_is_zero(&list[i]))
                        continue;
                r = git ? 0 : history_repository(h, &git);
                if (r < 0)
                        return r;
                r = compute_source(h, git, i, paths, &list[i]);
                if (r == -ESTALE || r == -EIO) { /* a lost commit must not hide the others */
                        list[i] = (struct digest){0};
                        continue;
                }
                if (r < 0)
                        return r;
                computed[n++] = i;
                if (n == BATCH) {
                        keep = keep && try_to_keep(h, of_paths, list, computed, n);
                        n = 0;
                        git_repository_free(steal_pointer(git));
                }
        }
        if (keep)
                try_to_keep(h, of_paths, list, computed, n);
        return 0;
}

int history_sources(struct history *h, char *const *paths, struct digest **ret, uint32_t *ret_n)
{
        uint32_t n = history_count(h);
        cleanup_free struct digest *list = allocate((size_t)n + 1, sizeof(*list));
        cleanup_walk struct store_walk w = {.store = h->store, .table = h->tables.sources};
        struct index_key prefix;
        struct digest of_paths;
        int r;

        digest_of_paths(paths, &of_paths);
        prefix = index_key(h, of_paths.bytes, DIGEST_SIZE);
        w.prefix = index_slice(&prefix);
        while ((r = store_walk(&w)) > 0) {
                uint32_t number = key_get_u32((const uint8_t *)w.key.data + 4 + DIGEST_SIZE);

                if (number < n && w.value.size == DIGEST_SIZE)
                        memcpy(list[number].bytes, w.value.data, DIGEST_SIZE);
        }
        if (r == 0)
                r = fill_gaps(h, paths, &of_paths, list, n);
        if (r < 0)
                return r;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}
