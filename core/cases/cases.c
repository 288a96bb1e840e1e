/* The index of cases. A case is added in two steps: a staged file gets its bytes; one transaction then enters the case and moves the file to its place. */
#include "core/cases/cases_internal.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "cache/base/fault.h"
#include "cache/base/guard.h"

/* In the store:
 *     cases    id → record (case_record.c); 0 → the last id given, the number of changes
 *     names    case_name.c
 *     digests  sha256 → id; of a question of another case: case_identity()
 */
struct cases {
        struct store *store; /* borrowed */
        struct cases_tables tables;
        struct case_files files;
};

/* -- records ---------------------------------------------------------------------------------------------------- */

static int record_put(struct cases *c, struct store_txn *t, const struct case_info *i)
{
        cleanup_buffer struct buffer b = {0};
        uint8_t key[4];

        case_record_encode(i, &b);
        key_u32(key, i->id);
        return store_put(t, c->tables.cases, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
}

static int record_read(struct cases *c, struct store_txn *t, uint32_t id, struct case_info **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[4];
        int r = -ENOENT;

        key_u32(key, id);
        if (id != 0)
                r = store_get(t, c->tables.cases, SLICE(key, sizeof(key)), &b);
        if (r == -ENOENT)
                return errorf(r, "there is no case %u; see 'solverfs case list'", id);
        if (r == 0)
                r = case_record_decode(id, SLICE(b.data, b.size), ret);
        return r == -EBADMSG ? errorf(-EIO, "%s", error_message(r)) : r;
}

/* A query's name and status are those of its whole now, which may have been renamed or got a status since the query was made. */
static int record_get(struct cases *c, struct store_txn *t, uint32_t id, struct case_info **ret)
{
        cleanup(case_info_unrefp) struct case_info *own = NULL, *whole = NULL;
        int r = record_read(c, t, id, &own);

        if (r < 0)
                return r;
        if (own->query == 0 || record_read(c, t, own->whole, &whole) < 0 || own->query > whole->n_expected) {
                *ret = steal_pointer(own);
                return 0;
        }
        *ret = case_info_query(whole, own->query);
        (*ret)->id = id;
        (*ret)->derived = own->derived;
        return 0;
}

/* -- the head: last id and generation --------------------------------------------------------------------------- */

struct head {
        uint32_t last;
        uint64_t generation;
};

static const uint8_t head_key[4];

static int head_get(struct cases *c, struct store_txn *t, struct head *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, c->tables.cases, SLICE(head_key, sizeof(head_key)), &b);

        *ret = (struct head){0};
        if (r == -ENOENT)
                return 0;
        if (r == 0 && b.size != 12)
                return errorf(-EIO, "the index of the cases is damaged; 'solverfs fsck' says more");
        if (r == 0)
                *ret = (struct head){key_get_u32(b.data), key_get_u64((const uint8_t *)b.data + 4)};
        return r;
}

static int head_put(struct cases *c, struct store_txn *t, const struct head *h)
{
        uint8_t bytes[12];

        key_u32(bytes, h->last);
        key_u64(bytes + 4, h->generation);
        return store_put(t, c->tables.cases, SLICE(head_key, sizeof(head_key)), SLICE(bytes, sizeof(bytes)));
}

/* Counts a change that listings show. */
static int note_change(struct cases *c, struct store_txn *t)
{
        struct head h;
        int r = head_get(c, t, &h);

        h.generation++;
        return r < 0 ? r : head_put(c, t, &h);
}

uint64_t cases_generation(struct cases *c)
{
        cleanup_txn struct store_txn *t = NULL;
        struct head h = {0};

        if (store_read(c->store, &t) == 0)
                head_get(c, t, &h);
        return h.generation;
}

/* -- life ------------------------------------------------------------------------------------------------------- */

int cases_open(struct store *s, const struct cases_tables *tables, struct cases **ret)
{
        struct cases *c = allocate(1, sizeof(*c));
        int r;

        c->store = s;
        c->tables = *tables;
        r = case_files_open_folder(&c->files, store_dir(s), store_read_only(s)) ?: guard_install();
        if (r < 0) {
                cases_close(c);
                return r;
        }
        *ret = c;
        return 0;
}

struct cases *cases_close(struct cases *c)
{
        if (!c)
                return NULL;
        case_files_done(&c->files);
        free(c);
        return NULL;
}

int cases_stage(struct cases *c, int *ret_fd, char ret_path[PATH_SIZE])
{
        if (store_read_only(c->store))
                return errorf(-EROFS, "the store in %s is open read-only", store_dir(c->store));
        return case_files_stage(&c->files, ret_fd, ret_path);
}

/* -- adding ----------------------------------------------------------------------------------------------------- */

/* Fills in everything that a new case's bytes tell, except for the digest. */
static int read_content(const char *name, struct slice bytes, struct case_info **ret)
{
        const char *unpacker = case_unpacker(SLICE(bytes.data, MIN(bytes.size, (size_t)16)));
        cleanup_free enum verdict *expected = NULL;
        cleanup_free char *logic = NULL;
        enum format format;
        enum verdict status;
        size_t n;

        if (unpacker) /* solvers do not read it, and each packing of one formula would be a case of its own */
                return errorf(-EINVAL, "'%s' is compressed, and a case is what the solver reads: unpack it first (%s)", name, unpacker);
        format = case_format(name, SLICE(bytes.data, MIN(bytes.size, CASE_HEAD_MOST)));
        case_scan(format, bytes, &logic, &status, &expected, &n);
        *ret = case_info_new(slice_string(name), slice_string(logic), n);
        (*ret)->format = format;
        (*ret)->status = status;
        (*ret)->size = bytes.size;
        (*ret)->added = now_seconds();
        if (n > 0)
                memcpy((*ret)->expected, expected, n * sizeof(*expected));
        return 0;
}

/* As read_content(), of a mapped file. -EIO: the disk failed, or the file was cut short. */
static int read_guarded(const char *name, struct slice map, struct case_info **ret)
{
        struct guard_range range = {map.data, (const char *)map.data + map.size};
        struct guard g;
        int r;

        if (guard_set(&g))
                return errorf(-EIO, "cannot read the case %s", name);
        guard_enter(&g, &range);
        r = read_content(name, map, ret);
        guard_leave(&g);
        return r;
}

/* As read_content(). */
static int read_mapped(const char *name, int fd, uint64_t size, struct case_info **ret)
{
        void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        int r;

        if (map == MAP_FAILED)
                return errorf(-errno, "cannot map the case %s: %s", name, strerror(errno));
        r = read_guarded(name, SLICE(map, size), ret);
        munmap(map, size);
        return r;
}

/* -ENOENT without a sentence. */
static int find_digest(struct cases *c, struct store_txn *t, const struct digest *d, struct case_info **ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, c->tables.digests, SLICE(d->bytes, sizeof(d->bytes)), &b);

        if (r == 0 && b.size != 4)
                return errorf(-EIO, "the index of the cases is damaged; 'solverfs fsck' says more");
        return r < 0 ? r : record_get(c, t, key_get_u32(b.data), ret);
}

/* Lists `old` again, under its first name if that is free, else under `name`. */
static int come_back(struct cases *c, struct store_txn *t, const struct case_info *old, const char *name)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        int r = case_name_is_free(t, c->tables.names, old->name);

        if (r == 0 && !old->unnamed)
                name = old->name; /* the first name stays if possible */
        else if (r == 0 || r == -EEXIST)
                r = case_name_is_free(t, c->tables.names, name);
        if (r < 0)
                return r;
        i = case_info_renamed(old, name);
        return record_put(c, t, i) ?: case_name_take(t, c->tables.names, name, i->id);
}

/* Gives the case the next id, and indexes it. The caller stores the head. */
static int enter_new(struct cases *c, struct store_txn *t, struct head *h, struct case_info *i)
{
        const struct digest d = case_identity(i);
        uint8_t id[4];
        int r = i->removed ? 0 : case_name_is_free(t, c->tables.names, i->name);

        if (r < 0)
                return r;
        if (h->last == UINT32_MAX)
                return errorf(-ENOSPC, "there are no numbers left for cases");
        i->id = ++h->last;
        key_u32(id, i->id);
        r = record_put(c, t, i)
            ?: store_put(t, c->tables.digests, SLICE(d.bytes, DIGEST_SIZE), SLICE(id, sizeof(id)));
        return r < 0 || i->removed ? r : case_name_take(t, c->tables.names, i->name, i->id);
}

/* The outcome of adding bytes as a case. */
enum entered {
        ENTERED_KNOWN, /* the bytes are a case already */
        ENTERED_BACK,  /* the bytes are those of a removed case, which is listed again */
        ENTERED_NEW,
};

/* Adds bytes that are those of `old` already. Unlisted: `old` stays derived only if this one is, too. Listed: the name must not be a third case's. */
static int enter_known(struct cases *c, struct store_txn *t, const struct case_info *i, struct case_info *old)
{
        uint32_t holder;
        int r;

        if (i->removed && (!old->derived || i->derived))
                return 0;
        if (i->removed) {
                old->derived = false;
                return record_put(c, t, old);
        }
        r = case_name_find(t, c->tables.names, i->name, &holder);
        if (r == 0 && holder != old->id)
                return errorf(-EEXIST, "the name %s is taken by case %u, and these bytes are case %u", i->name, holder, old->id);
        return r == -ENOENT ? 0 : r;
}

/* Adds these bytes under this name, inside the transaction. For an unlisted case (i->removed) no removed one comes back. */
static int enter(struct cases *c, struct store_txn *t, struct case_info *i, uint32_t *ret_id, enum entered *ret)
{
        cleanup(case_info_unrefp) struct case_info *old = NULL;
        struct head h;
        int r = head_get(c, t, &h) ?: find_digest(c, t, &i->sha256, &old);

        if (r < 0 && r != -ENOENT)
                return r;
        *ret = r == -ENOENT ? ENTERED_NEW : old->removed && !i->removed ? ENTERED_BACK : ENTERED_KNOWN;
        if (*ret == ENTERED_KNOWN) {
                *ret_id = old->id;
                return enter_known(c, t, i, old);
        }
        r = *ret == ENTERED_NEW ? enter_new(c, t, &h, i) : come_back(c, t, old, i->name);
        *ret_id = *ret == ENTERED_NEW ? i->id : old->id;
        h.generation++;
        return r < 0 ? r : head_put(c, t, &h);
}

/* Deletes bytes that no case has. The store's write lock keeps out an `add` that has placed its bytes but not indexed them yet. False: a case has
 * the bytes, or the lookup failed. */
static bool displace(struct cases *c, const struct digest *d)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};

        return store_write(c->store, &t) == 0 &&
               store_get(t, c->tables.digests, SLICE(d->bytes, sizeof(d->bytes)), &b) == -ENOENT &&
               case_files_unlink(&c->files, d) == 0;
}

/* Enters the case, and moves its file before the commit: a crash between the two leaves a file without a case, for cases_sweep(). */
static int commit_info(struct cases *c, struct case_info *i, const char *staged, uint32_t *ret_id, enum entered *ret)
{
        enum entered entered = ENTERED_KNOWN;
        struct store_txn *t;
        uint32_t id = 0;
        int r = store_write(c->store, &t);

        if (r < 0)
                return r;
        r = enter(c, t, i, &id, &entered)
            ?: fault_at("cases.place")
            ?: case_files_place(&c->files, &i->sha256, staged)
            ?: fault_at("cases.enter");
        if (r < 0) {
                store_end(t);
                return r;
        }
        r = store_commit(t);
        if (r < 0) {
                cleanup_free char *why = copy_string(error_message(r));

                if (entered == ENTERED_NEW) {
                        fault_at("cases.undo");
                        displace(c, &i->sha256);
                }
                return errorf(r, "%s", why);
        }
        *ret_id = id;
        *ret = entered;
        return 0;
}

static int check_size(const char *name, uint64_t size)
{
        return size <= CASE_SIZE_MAX ? 0
                                     : errorf(-EFBIG, "the case %s has %llu bytes, and may have %llu", name,
                                              (unsigned long long)size, (unsigned long long)CASE_SIZE_MAX);
}

enum shown {
        SHOWN_LISTED,
        SHOWN_NEVER,
        SHOWN_DERIVED, /* never listed; can be made again */
};

static int commit_staged(struct cases *c, const char *name, enum shown shown, int fd, const char *staged, uint32_t *ret_id,
                         enum entered *ret)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        struct digest d;
        struct stat st;
        uint64_t size;
        int r = case_name_check(name);

        if (r < 0)
                return r;
        if (fstat(fd, &st) < 0)
                return errorf(-errno, "cannot look at %s: %s", staged, strerror(errno));
        r = check_size(name, (uint64_t)st.st_size);
        if (r < 0)
                return r;
        if (st.st_size == 0) /* most likely an interrupted copy; no solver has a verdict for it */
                return errorf(-EINVAL, "'%s' is empty: not a case", name);
        r = digest_of_fd(fd, &d, &size);
        if (r < 0)
                return errorf(r, "cannot read %s: %s", staged, strerror(-r));
        r = read_mapped(name, fd, size, &i);
        if (r < 0)
                return r;
        i->sha256 = d;
        i->removed = i->unnamed = shown != SHOWN_LISTED;
        i->derived = shown == SHOWN_DERIVED;
        if (fchmod(fd, 0444) < 0 || fsync(fd) < 0)
                return errorf(-errno, "cannot save the case %s: %s", name, strerror(errno));
        return commit_info(c, i, staged, ret_id, ret);
}

/* Unpacks a compressed file into another staged file, which replaces the given one. */
static int commit_unpacked(struct cases *c, const char *name, int fd, const char *staged, uint32_t *ret_id, enum entered *ret)
{
        cleanup_free char *unpacked_name = copy_prefix(name, case_unpacked_name(name));
        cleanup_close int unpacked_fd = -1;
        char unpacked[PATH_SIZE];
        int r = cases_stage(c, &unpacked_fd, unpacked);

        if (r < 0)
                return r;
        r = case_unpack(name, fd, unpacked_fd)
            ?: case_check_text(unpacked_name, unpacked_fd)
            ?: commit_staged(c, unpacked_name, SHOWN_LISTED, unpacked_fd, unpacked, ret_id, ret);
        unlink(r < 0 ? unpacked : staged);
        return r;
}

static int commit_given(struct cases *c, const char *name, int fd, const char *staged, uint32_t *ret_id, enum entered *ret)
{
        char head[16];
        ssize_t n = pread(fd, head, sizeof(head), 0);

        if (n > 0 && case_is_packed(SLICE(head, (size_t)n)))
                return commit_unpacked(c, name, fd, staged, ret_id, ret);
        return case_check_text(name, fd) ?: commit_staged(c, name, SHOWN_LISTED, fd, staged, ret_id, ret);
}

int cases_commit_given(struct cases *c, const char *name, int fd, const char *staged, uint32_t *ret_id, bool *ret_shown)
{
        enum entered entered;
        int r = commit_given(c, name, fd, staged, ret_id, &entered);

        if (r == 0)
                *ret_shown = entered != ENTERED_KNOWN;
        return r;
}

/* Adds the content of `from` if it is a descriptor, else `bytes`. `is_given`: given by a person, so it may be compressed, or no case. */
static int add(struct cases *c, const char *name, int from, struct slice bytes, bool is_given, enum shown shown, uint32_t *ret_id, enum entered *ret)
{
        cleanup_close int fd = -1;
        char staged[PATH_SIZE];
        struct stat st;
        int r = case_name_check(name);

        if (r == 0 && from >= 0 && fstat(from, &st) == 0) /* before hours of copying; a growing file is checked again then */
                r = check_size(name, (uint64_t)st.st_size);
        if (r == 0)
                r = cases_stage(c, &fd, staged);
        if (r < 0)
                return r;
        if (from < 0)
                r = write_all(fd, bytes.data, bytes.size);
        else
                r = lseek(from, 0, SEEK_SET) < 0 ? -errno : copy_fd(from, fd);
        if (r < 0)
                errorf(r, "cannot %s the case %s: %s", from >= 0 ? "copy" : "write", name, strerror(-r));
        else
                r = is_given ? commit_given(c, name, fd, staged, ret_id, ret) : commit_staged(c, name, shown, fd, staged, ret_id, ret);
        if (r < 0)
                unlink(staged);
        return r;
}

static int add_file(struct cases *c, const char *name, int fd, bool is_given, uint32_t *ret_id, bool *ret_new)
{
        enum entered entered;
        int r = add(c, name, fd, SLICE("", 0), is_given, SHOWN_LISTED, ret_id, &entered);

        if (r == 0)
                *ret_new = entered == ENTERED_NEW;
        return r;
}

int cases_add(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new)
{
        return add_file(c, name, fd, false, ret_id, ret_new);
}

int cases_add_given(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new)
{
        return add_file(c, name, fd, true, ret_id, ret_new);
}

int cases_add_unlisted(struct cases *c, const char *name, struct slice bytes, uint32_t *ret_id)
{
        return add(c, name, -1, bytes, false, SHOWN_NEVER, ret_id, &(enum entered){0});
}

int cases_add_derived(struct cases *c, const char *name, struct slice bytes, uint32_t *ret_id)
{
        return add(c, name, -1, bytes, false, SHOWN_DERIVED, ret_id, &(enum entered){0});
}

/* -- questions -------------------------------------------------------------------------------------------------- */

/* Adds a new question, or takes the id of the known one. */
static int enter_query(struct cases *c, struct store_txn *t, struct case_info *i)
{
        cleanup(case_info_unrefp) struct case_info *old = NULL;
        const struct digest d = case_identity(i);
        struct head h;
        int r = find_digest(c, t, &d, &old);

        if (r != -ENOENT) {
                i->id = r == 0 ? old->id : 0;
                return r;
        }
        return head_get(c, t, &h) ?: enter_new(c, t, &h, i) ?: head_put(c, t, &h);
}

static int refuse_query(struct cases *c, const struct case_info *whole, uint32_t query)
{
        cleanup_blob struct blob bytes = {0};
        size_t line = 0;

        if (cases_read_bytes(c, whole, CASE_SIZE_MAX, &bytes) == 0)
                line = case_open_line(whole->format, SLICE(bytes.data, bytes.size));
        return line > 0 ? errorf(-ENOENT, "case %u (%s) has %zu check-sat, and no query %u: the command in line %zu is not closed", whole->id, whole->name,
                                 whole->n_expected, query, line)
                        : errorf(-ENOENT, "case %u (%s) has %zu check-sat, and no query %u", whole->id, whole->name, whole->n_expected, query);
}

int cases_query(struct cases *c, const struct case_info *whole, uint32_t query, struct case_info **ret)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        struct store_update u = {.store = c->store};
        struct digest d;
        int r;

        if (query == 0 || query > whole->n_expected)
                return refuse_query(c, whole, query);
        i = case_info_query(whole, query);
        d = case_identity(i);
        r = cases_find_digest(c, &d, ret);
        if (r != -ENOENT)
                return r;
        while (store_update_begins(&u))
                u.r = enter_query(c, u.txn, i);
        if (u.r == 0)
                *ret = steal_pointer(i);
        return u.r;
}

/* -- changing --------------------------------------------------------------------------------------------------- */

static int remove_in(struct cases *c, struct store_txn *t, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        int r = record_get(c, t, id, &i);

        if (r < 0)
                return r;
        if (i->whole)
                return errorf(-EINVAL, "case %u is question %u of case %u: remove that", id, i->query, i->whole);
        if (i->removed)
                return errorf(-ENOENT, "case %u was removed already", id);
        i->removed = true;
        return record_put(c, t, i) ?: case_name_release(t, c->tables.names, i->name) ?: note_change(c, t);
}

int cases_remove(struct cases *c, uint32_t id)
{
        struct store_update u = {.store = c->store};

        while (store_update_begins(&u))
                u.r = remove_in(c, u.txn, id);
        return u.r;
}

/* `stated`: by the case's bytes. */
static int set_status_in(struct cases *c, struct store_txn *t, uint32_t id, enum verdict stated, enum verdict status, bool *ret_changed)
{
        cleanup(case_info_unrefp) struct case_info *old = NULL, *i = NULL;
        int r = record_get(c, t, id, &old);

        *ret_changed = r == 0 && old->status != status;
        if (!*ret_changed)
                return r;
        if (old->n_expected > 1)
                return errorf(-EINVAL, "case %u has %zu check-sat: which of them is %s cannot be said", id, old->n_expected, verdict_name(status));
        if (stated != VERDICT_UNKNOWN)
                return errorf(-EEXIST, "the status of case %u is %s by the file itself, and no other one can be set", id, verdict_name(old->status));
        i = case_info_with_status(old, status, now_seconds());
        return record_put(c, t, i) ?: note_change(c, t);
}

int cases_set_status(struct cases *c, uint32_t id, enum verdict status)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL, *stated = NULL;
        struct store_update u = {.store = c->store};
        cleanup_close int fd = -1;
        bool has_changed = false;
        int r = cases_get(c, id, &info);

        if (r < 0 || info->status == status)
                return r;
        r = cases_open_bytes(c, info, &fd, NULL) ?: read_mapped(info->name, fd, info->size, &stated);
        if (r < 0)
                return r;
        while (store_update_begins(&u))
                u.r = set_status_in(c, u.txn, id, stated->status, status, &has_changed);
        return u.r < 0 ? u.r : has_changed;
}

int cases_rename(struct cases *c, uint32_t id, const char *name)
{
        cleanup(case_info_unrefp) struct case_info *old = NULL, *now = NULL, *i = NULL;
        cleanup_close int fd = -1;
        cleanup_txn struct store_txn *t = NULL;
        int r = case_name_check(name) ?: cases_get(c, id, &old);

        if (r < 0 || strcmp(old->name, name) == 0)
                return r;
        r = cases_open_bytes(c, old, &fd, NULL);
        if (r == 0)
                r = case_check_text(name, fd); /* the name says the format */
        if (r == 0)
                r = read_mapped(name, fd, old->size, &i);
        if (r < 0)
                return r;
        i->id = id; /* the rest is what the bytes state, read by the new name's format */
        i->sha256 = old->sha256;
        i->added = old->added;
        r = store_write(c->store, &t);
        if (r == 0)
                r = record_get(c, t, id, &now); /* as of the transaction */
        if (r == 0 && now->removed)
                r = errorf(-ENOENT, "case %u was removed", id);
        i->status_set = r == 0 ? now->status_set : 0;
        if (r == 0 && i->status == VERDICT_UNKNOWN && now->status != VERDICT_UNKNOWN && i->n_expected <= 1) { /* set by a person: it stays */
                struct case_info *known = case_info_with_status(i, now->status, i->status_set);

                case_info_unref(i);
                i = known;
        }
        if (r == 0)
                r = case_name_is_free(t, c->tables.names, name)
                    ?: case_name_release(t, c->tables.names, now->name)
                    ?: case_name_take(t, c->tables.names, name, id)
                    ?: record_put(c, t, i)
                    ?: note_change(c, t);
        return r < 0 ? r : store_commit(steal_pointer(t));
}

/* -- finding ---------------------------------------------------------------------------------------------------- */

int cases_get(struct cases *c, uint32_t id, struct case_info **ret)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(c->store, &t) ?: record_get(c, t, id, ret);
}

int cases_find(struct cases *c, const char *name, struct case_info **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint32_t id;
        int r = store_read(c->store, &t) ?: case_name_find(t, c->tables.names, name, &id);

        if (r == -ENOENT)
                return errorf(r, "there is no case %.200s; see 'solverfs case list'", name);
        return r < 0 ? r : record_get(c, t, id, ret);
}

int cases_find_folder(struct cases *c, const char *path)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(c->store, &t) ?: case_name_find_folder(t, c->tables.names, path);
}

int cases_find_digest(struct cases *c, const struct digest *d, struct case_info **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(c->store, &t) ?: find_digest(c, t, d, ret);

        return r == -ENOENT ? errorf(r, "there is no case with these bytes") : r;
}

int cases_find_same(struct cases *c, const struct case_info *there, struct case_info **ret)
{
        cleanup(case_info_unrefp) struct case_info *whole = NULL;
        int r = cases_find_digest(c, &there->sha256, &whole);

        if (r < 0 || there->query > 0)
                return r < 0 ? r : cases_query(c, whole, there->query, ret);
        *ret = steal_pointer(whole);
        return 0;
}

static int list_ids(struct cases *c, bool with_removed, uint32_t **ret_ids, size_t *ret_n)
{
        cleanup_walk struct store_walk w = {.store = c->store, .table = c->tables.cases};
        int r;

        *ret_ids = NULL;
        *ret_n = 0;
        while ((r = store_walk(&w)) > 0) {
                uint32_t id = w.key.size == 4 ? key_get_u32(w.key.data) : 0;

                if (id == 0 || (!with_removed && case_record_is_removed(w.value)))
                        continue;
                list_add(*ret_ids, *ret_n, id);
        }
        return r;
}

int cases_list(struct cases *c, uint32_t **ret_ids, size_t *ret_n)
{
        return list_ids(c, false, ret_ids, ret_n);
}

/* -- bytes ------------------------------------------------------------------------------------------------------ */

int cases_open_bytes(struct cases *c, const struct case_info *info, int *ret_fd, char ret_path[PATH_SIZE])
{
        return case_files_open(&c->files, info, false, ret_fd, ret_path);
}

int cases_renew(struct cases *c, const struct case_info *info)
{
        cleanup_close int fd = -1;
        int r = cases_open_bytes(c, info, &fd, NULL);

        if (r == 0)
                futimens(fd, NULL); /* else it is taken for older than it is */
        return r;
}

int cases_read_bytes(struct cases *c, const struct case_info *info, size_t most, struct blob *ret)
{
        cleanup_close int fd = -1;

        return cases_open_bytes(c, info, &fd, NULL) ?: read_fd(fd, most, ret);
}

static bool is_gone(struct cases *c, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        return cases_get(c, id, &info) == -ENOENT;
}

int cases_check(struct cases *c, void (*say)(void *user, const char *line), void *user)
{
        cleanup_free uint32_t *ids = NULL;
        int wrong = 0;
        size_t n = 0;
        int r = list_ids(c, true, &ids, &n);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                cleanup(case_info_unrefp) struct case_info *info = NULL;
                cleanup_close int fd = -1;

                r = cases_get(c, ids[i], &info);
                if (r == 0 && info->query > 0) /* its bytes are the script's */
                        continue;
                r = r ?: case_files_open(&c->files, info, true, &fd, NULL);
                if (r < 0 && is_gone(c, ids[i])) /* dropped meanwhile: gc may run beside this */
                        continue;
                wrong += r < 0;
                if (r < 0 && say)
                        say(user, error_message(r));
        }
        return wrong;
}

struct sweeping {
        struct cases *cases;
        bool dry_run;
        uint64_t n, bytes;
};

static bool is_known(struct cases *c, const struct digest *d)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(c->store, &t) < 0 || store_has(t, c->tables.digests, SLICE(d->bytes, DIGEST_SIZE));
}

static void sweep_one(void *user, const struct digest *d, uint64_t bytes)
{
        struct sweeping *s = user;

        if (is_known(s->cases, d) || (!s->dry_run && !displace(s->cases, d)))
                return;
        s->n++;
        s->bytes += bytes;
}

int cases_sweep(struct cases *c, bool dry_run, uint64_t *ret_n, uint64_t *ret_bytes)
{
        struct sweeping s = {.cases = c, .dry_run = dry_run};
        int r = case_files_each(&c->files, sweep_one, &s);

        *ret_n = s.n;
        *ret_bytes = s.bytes;
        return r;
}

/* -- unwanted derived cases ---------------------------------------------------------------------------------------------- */

/* -EBUSY: the case is not derived any more. */
static int forget_in(struct cases *c, struct store_txn *t, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *now = NULL;
        uint8_t key[4];
        int r = record_get(c, t, id, &now);

        if (r < 0 || !now->derived)
                return r < 0 ? r : -EBUSY;
        key_u32(key, id);
        return store_delete(t, c->tables.cases, SLICE(key, sizeof(key)))
            ?: store_delete(t, c->tables.digests, SLICE(now->sha256.bytes, DIGEST_SIZE));
}

/* 1: the case is gone, or would be. */
static int sweep_derived(struct cases *c, uint32_t id, const struct derived_sweep *sweep, uint64_t *ret_bytes)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct store_update u = {.store = c->store};
        int64_t placed = 0;
        int r = cases_get(c, id, &info);

        *ret_bytes = 0;
        if (r < 0 || !info->derived || (case_files_look(&c->files, &info->sha256, ret_bytes, &placed) == 0 && !is_older_than(placed, sweep->seconds)) ||
            sweep->is_wanted(sweep->user, info))
                return r == -ENOENT ? 0 : MIN(r, 0);
        if (sweep->dry_run)
                return 1;
        u.r = sweep->forget(sweep->user, info);
        while (store_update_begins(&u))
                u.r = forget_in(c, u.txn, id);
        if (u.r < 0)
                return u.r == -EBUSY || u.r == -ENOENT ? 0 : u.r; /* added by somebody, or dropped, meanwhile */
        displace(c, &info->sha256);
        return 1;
}

int cases_sweep_derived(struct cases *c, const struct derived_sweep *sweep, uint64_t *ret_n, uint64_t *ret_bytes)
{
        cleanup_free uint32_t *ids = NULL;
        size_t n = 0;
        int r = list_ids(c, true, &ids, &n);

        *ret_n = *ret_bytes = 0;
        for (size_t i = 0; i < n && r >= 0; i++) {
                uint64_t bytes;

                r = sweep_derived(c, ids[i], sweep, &bytes);
                if (r > 0) {
                        ++*ret_n;
                        *ret_bytes += bytes;
                }
        }
        return MIN(r, 0);
}
