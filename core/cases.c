#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cache/fault.h"
#include "cache/guard.h"
#include "name_key.h"

/* In the store:
 *     cases    id → record (below); 0 → the last id given, how often anything changed
 *     names    "n" name → id, "d" folder → how many names lie in it: no name is also another's folder
 *     digests  sha256 → id
 */
#define NAME_MOST      4096
#define COMPONENT_MOST 255
#define RECORD_VERSION 1
#define STALE_SECONDS  60 /* a staged file that nobody holds (it is held from a moment after it is made) was left by a crash */

struct cases {
        struct store *store; /* borrowed */
        struct cases_tables tables;
        char dir[PATH_SIZE];
        pthread_mutex_t lock;
        uint8_t *verified; /* under lock: a bit for each id whose bytes were checked against the digest */
        size_t n_verified; /* under lock: bytes of it */
};

/* -- what is known of a case ------------------------------------------------------------------------------------ */

struct case_info *case_info_ref(struct case_info *c)
{
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
        return c;
}

struct case_info *case_info_unref(struct case_info *c)
{
        if (c && __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) == 0)
                free(c); /* name, logic and expected lie in the same block */
        return NULL;
}

/* As stored: head, name, logic, expected. */
struct record {
        uint8_t version, format, removed, status;
        uint8_t name_size[4], logic_size[4], n_expected[4];
        uint8_t size[8], added[8];
        uint8_t sha256[DIGEST_SIZE];
};

static int record_put(struct cases *c, struct store_txn *t, const struct case_info *i)
{
        cleanup_buffer struct buffer b = {0};
        struct record h = {
                .version = RECORD_VERSION,
                .format = (uint8_t)i->format,
                .removed = i->removed,
                .status = (uint8_t)i->status,
        };
        uint8_t key[4];
        int r;

        key_u32(key, i->id);
        key_u32(h.name_size, (uint32_t)strlen(i->name));
        key_u32(h.logic_size, (uint32_t)strlen(i->logic));
        key_u32(h.n_expected, (uint32_t)i->n_expected);
        key_u64(h.size, i->size);
        key_u64(h.added, (uint64_t)i->added);
        memcpy(h.sha256, i->sha256.bytes, DIGEST_SIZE);
        buffer_add(&b, &h, sizeof(h));
        buffer_adds(&b, i->name);
        buffer_adds(&b, i->logic);
        for (size_t k = 0; k < i->n_expected; k++)
                buffer_add(&b, &(uint8_t){(uint8_t)i->expected[k]}, 1);
        r = buffer_error(&b);
        return r < 0 ? r : store_put(t, c->tables.cases, SLICE(key, sizeof(key)), SLICE(b.data, b.size));
}

static struct case_info *info_new(size_t name_size, size_t logic_size, size_t n_expected)
{
        size_t expected = n_expected * sizeof(enum verdict);
        struct case_info *i = calloc(1, sizeof(*i) + expected + name_size + logic_size + 2);

        if (!i)
                return NULL;
        i->refs = 1;
        i->expected = (enum verdict *)(i + 1);
        i->n_expected = n_expected;
        i->name = (char *)(i + 1) + expected;
        i->logic = i->name + name_size + 1;
        return i;
}

static int damaged_record(uint32_t id)
{
        return errorf(-EIO, "the record of case %u is damaged; 'solverfs fsck' says more", id);
}

static int record_decode(uint32_t id, struct slice bytes, struct case_info **ret)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        uint64_t name, logic, expected;
        struct record h;
        const char *p;

        if (bytes.size < sizeof(h))
                return damaged_record(id);
        memcpy(&h, bytes.data, sizeof(h));
        name = key_get_u32(h.name_size);
        logic = key_get_u32(h.logic_size);
        expected = key_get_u32(h.n_expected);
        if (h.version != RECORD_VERSION || name + logic + expected != bytes.size - sizeof(h))
                return damaged_record(id);
        i = info_new(name, logic, expected);
        if (!i)
                return -ENOMEM;
        i->id = id;
        i->format = h.format == FORMAT_CNF ? FORMAT_CNF : FORMAT_SMT2;
        i->removed = h.removed;
        i->status = h.status;
        i->size = key_get_u64(h.size);
        i->added = (int64_t)key_get_u64(h.added);
        memcpy(i->sha256.bytes, h.sha256, DIGEST_SIZE);
        p = (const char *)bytes.data + sizeof(h);
        memcpy(i->name, p, name);
        memcpy(i->logic, p + name, logic);
        for (size_t k = 0; k < expected; k++)
                i->expected[k] = (enum verdict)(uint8_t)p[name + logic + k];
        *ret = steal_pointer(i);
        return 0;
}

static int record_get(struct cases *c, struct store_txn *t, uint32_t id, struct case_info **ret)
{
        cleanup_blob struct blob b = {0};
        uint8_t key[4];
        int r = -ENOENT;

        key_u32(key, id);
        if (id != 0)
                r = store_get(t, c->tables.cases, SLICE(key, sizeof(key)), &b);
        if (r == -ENOENT)
                return errorf(r, "there is no case %u; see 'solverfs case list'", id);
        return r < 0 ? r : record_decode(id, SLICE(b.data, b.size), ret);
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

static struct head head_now(struct cases *c)
{
        cleanup_txn struct store_txn *t = NULL;
        struct head h = {0};

        if (store_read(c->store, &t) == 0)
                head_get(c, t, &h);
        return h;
}

uint32_t cases_last_id(struct cases *c)
{
        return head_now(c).last;
}

uint64_t cases_generation(struct cases *c)
{
        return head_now(c).generation;
}

/* -- names ------------------------------------------------------------------------------------------------------ */

static int check_name(const char *name)
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
static int name_get(struct cases *c, struct store_txn *t, char kind, const char *name, size_t size, uint32_t *ret)
{
        cleanup_blob struct blob b = {0};
        struct name_key key;
        int r;

        name_key(&key, kind, 0, name, size);
        r = store_get(t, c->tables.names, name_key_slice(&key), &b);
        if (r == 0 && b.size != 4)
                return errorf(-EIO, "the index of the cases' names is damaged; 'solverfs fsck' says more");
        if (r == 0)
                *ret = key_get_u32(b.data);
        return r;
}

static int name_put(struct cases *c, struct store_txn *t, char kind, const char *name, size_t size, uint32_t n)
{
        struct name_key key;
        uint8_t bytes[4];

        key_u32(bytes, n);
        name_key(&key, kind, 0, name, size);
        return store_put(t, c->tables.names, name_key_slice(&key), SLICE(bytes, sizeof(bytes)));
}

static int name_delete(struct cases *c, struct store_txn *t, char kind, const char *name, size_t size)
{
        struct name_key key;
        int r;

        name_key(&key, kind, 0, name, size);
        r = store_delete(t, c->tables.names, name_key_slice(&key));
        return r == -ENOENT ? 0 : r;
}

/* 0: free. -EEXIST: taken, as a case or as a folder, or a folder on its way is a case. */
static int name_is_free(struct cases *c, struct store_txn *t, const char *name)
{
        uint32_t n;
        int r = name_get(c, t, 'n', name, strlen(name), &n);

        if (r == 0)
                return errorf(-EEXIST, "the name %s is taken by case %u; give another, or remove that one", name, n);
        if (r == -ENOENT)
                r = name_get(c, t, 'd', name, strlen(name), &n);
        if (r == 0)
                return errorf(-EEXIST, "the name %s is taken: it is a folder of %u cases", name, n);
        for (const char *slash = strchr(name, '/'); slash && r == -ENOENT; slash = strchr(slash + 1, '/')) {
                r = name_get(c, t, 'n', name, (size_t)(slash - name), &n);
                if (r == 0)
                        return errorf(-EEXIST, "the name %s is taken: %.*s is case %u and no folder", name, (int)(slash - name),
                                      name, n);
        }
        return r == -ENOENT ? 0 : r;
}

/* Adds `by` (1 or -1) to how many names lie in each folder on the way. */
static int count_folders(struct cases *c, struct store_txn *t, const char *name, int by)
{
        int r = 0;

        for (const char *slash = strchr(name, '/'); slash && r == 0; slash = strchr(slash + 1, '/')) {
                size_t size = (size_t)(slash - name);
                uint32_t n = 0;

                r = name_get(c, t, 'd', name, size, &n);
                if (r < 0 && r != -ENOENT)
                        return r;
                n += (uint32_t)by;
                r = n > 0 ? name_put(c, t, 'd', name, size, n) : name_delete(c, t, 'd', name, size);
        }
        return r;
}

static int name_take(struct cases *c, struct store_txn *t, const char *name, uint32_t id)
{
        int r = name_put(c, t, 'n', name, strlen(name), id);

        return r < 0 ? r : count_folders(c, t, name, 1);
}

static int name_let_go(struct cases *c, struct store_txn *t, const char *name)
{
        int r = name_delete(c, t, 'n', name, strlen(name));

        return r < 0 ? r : count_folders(c, t, name, -1);
}

/* -- files ------------------------------------------------------------------------------------------------------ */

/* <dir>/ab/<sha256>; `ret_folder`, when not NULL, is <dir>/ab. */
static int bytes_path(struct cases *c, const struct digest *d, char ret[PATH_SIZE], char ret_folder[PATH_SIZE])
{
        char hex[DIGEST_HEX_SIZE], folder[PATH_SIZE];
        int r;

        digest_hex(d, hex);
        r = path_join(folder, c->dir, (const char[]){hex[0], hex[1], '\0'});
        if (r == 0)
                r = path_join(ret, folder, hex);
        if (r == 0 && ret_folder)
                memcpy(ret_folder, folder, sizeof(folder));
        return r;
}

static int sync_folder(const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return fd < 0 || fsync(fd) < 0 ? errorf(-errno, "cannot sync %s: %s", path, strerror(errno)) : 0;
}

static int make_folder(struct cases *c, const char *path)
{
        if (mkdir(path, 0700) < 0)
                return errno == EEXIST ? 0 : errorf(-errno, "cannot make %s: %s", path, strerror(errno));
        if (chmod(path, 0700) < 0)
                return errorf(-errno, "cannot make %s private: %s", path, strerror(errno));
        return sync_folder(c->dir);
}

/* Puts the staged file where it belongs; over the one that may be there, which has the same bytes or is damaged. */
static int place(struct cases *c, const struct digest *d, const char *staged)
{
        char path[PATH_SIZE], folder[PATH_SIZE];
        int r = bytes_path(c, d, path, folder);

        if (r == 0)
                r = make_folder(c, folder);
        if (r < 0)
                return r;
        if (rename(staged, path) < 0)
                return errorf(-errno, "cannot move %s to %s: %s", staged, path, strerror(errno));
        return sync_folder(folder);
}

/* Files that a crash left: staged, held by nobody, and not of today. */
static void sweep_staged(const char *dir)
{
        DIR *d = opendir(dir);
        struct dirent *e;

        while (d && (e = readdir(d))) {
                cleanup_close int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
                struct stat st;

                if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mtime > now_seconds() - STALE_SECONDS)
                        continue;
                if (flock(fd, LOCK_EX | LOCK_NB) == 0)
                        unlinkat(dirfd(d), e->d_name, 0);
        }
        if (d)
                closedir(d);
}

int cases_open(struct store *s, const struct cases_tables *tables, struct cases **ret)
{
        struct cases *c = calloc(1, sizeof(*c));
        char staged[PATH_SIZE];
        int r;

        if (!c)
                return -ENOMEM;
        c->store = s;
        c->tables = *tables;
        pthread_mutex_init(&c->lock, NULL);
        r = guard_install();
        if (r == 0)
                r = path_join(c->dir, store_dir(s), "cases");
        if (r == 0)
                r = path_join(staged, c->dir, "staged");
        if (r == 0 && !store_read_only(s)) {
                r = make_dirs(staged, 0700);
                sweep_staged(staged);
        }
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
        pthread_mutex_destroy(&c->lock);
        free(c->verified);
        free(c);
        return NULL;
}

int cases_stage(struct cases *c, int *ret_fd, char ret_path[PATH_SIZE])
{
        char path[PATH_SIZE];
        int fd, r = path_join(path, c->dir, "staged/XXXXXX");

        if (r < 0)
                return r;
        if (store_read_only(c->store))
                return errorf(-EROFS, "the store in %s is open read-only", store_dir(c->store));
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0)
                return errorf(-errno, "cannot make %s: %s", path, strerror(errno));
        if (fchmod(fd, 0600) < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0) {
                r = errorf(-errno, "cannot hold %s: %s", path, strerror(errno));
                unlink(path);
                close(fd);
                return r;
        }
        memcpy(ret_path, path, sizeof(path));
        *ret_fd = fd;
        return 0;
}

/* -- adding ----------------------------------------------------------------------------------------------------- */

/* Everything about a new case that its bytes tell. */
static int look_at(const char *name, int fd, uint64_t size, struct case_info **ret)
{
        cleanup_free char *logic = NULL;
        cleanup_free enum verdict *expected = NULL;
        enum verdict status = VERDICT_UNKNOWN;
        void *map = size > 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
        struct slice bytes = SLICE(map, size);
        struct guard_range range = {map, (const char *)map + size};
        struct case_info *i;
        enum format format;
        struct guard g;
        size_t n = 0;
        int r;

        if (map == MAP_FAILED)
                return errorf(-errno, "cannot map the case %s: %s", name, strerror(errno));
        if (guard_set(&g)) { /* the disk failed, or somebody cut the file short */
                munmap(map, size);
                return errorf(-EIO, "cannot read the case %s", name);
        }
        guard_enter(&g, &range);
        format = case_format(name, SLICE(map, MIN(size, UINT64_C(65536))));
        r = case_scan(format, bytes, &logic, &status, &expected, &n);
        guard_leave(&g);
        if (map)
                munmap(map, size);
        if (r < 0)
                return r;
        i = info_new(strlen(name), strlen(logic), n);
        if (!i)
                return -ENOMEM;
        i->format = format;
        i->status = status;
        i->size = size;
        i->added = now_seconds();
        strcpy(i->name, name);
        strcpy(i->logic, logic);
        if (n > 0)
                memcpy(i->expected, expected, n * sizeof(*expected));
        *ret = i;
        return 0;
}

static int find_digest(struct cases *c, struct store_txn *t, const struct digest *d, struct case_info **ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_get(t, c->tables.digests, SLICE(d->bytes, sizeof(d->bytes)), &b);

        if (r == 0 && b.size != 4)
                return errorf(-EIO, "the index of the cases is damaged; 'solverfs fsck' says more");
        return r < 0 ? r : record_get(c, t, key_get_u32(b.data), ret);
}

/* A copy of `old` under another name that is not removed. */
static int come_back(struct cases *c, struct store_txn *t, const struct case_info *old, const char *name)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        int r = name_is_free(c, t, old->name);

        if (r == 0)
                name = old->name; /* its first one stays when it can */
        else if (r == -EEXIST)
                r = name_is_free(c, t, name);
        if (r < 0)
                return r;
        i = info_new(strlen(name), strlen(old->logic), old->n_expected);
        if (!i)
                return -ENOMEM;
        i->id = old->id;
        i->format = old->format;
        i->status = old->status;
        i->sha256 = old->sha256;
        i->size = old->size;
        i->added = old->added;
        strcpy(i->name, name);
        strcpy(i->logic, old->logic);
        memcpy(i->expected, old->expected, old->n_expected * sizeof(*old->expected));
        r = record_put(c, t, i);
        return r < 0 ? r : name_take(c, t, name, i->id);
}

static int enter_new(struct cases *c, struct store_txn *t, struct head *h, struct case_info *i)
{
        uint8_t id[4];
        int r = name_is_free(c, t, i->name);

        if (r < 0)
                return r;
        if (h->last == UINT32_MAX)
                return errorf(-ENOSPC, "there are no numbers left for cases");
        i->id = ++h->last;
        key_u32(id, i->id);
        r = record_put(c, t, i);
        if (r == 0)
                r = store_put(t, c->tables.digests, SLICE(i->sha256.bytes, DIGEST_SIZE), SLICE(id, sizeof(id)));
        return r < 0 ? r : name_take(c, t, i->name, i->id);
}

/* In the transaction: what becomes of these bytes under this name. */
static int enter(struct cases *c, struct store_txn *t, struct case_info *i, uint32_t *ret_id, bool *ret_new)
{
        cleanup(case_info_unrefp) struct case_info *old = NULL;
        struct head h;
        uint32_t holder;
        int r = head_get(c, t, &h);

        if (r == 0)
                r = find_digest(c, t, &i->sha256, &old);
        if (r < 0 && r != -ENOENT)
                return r;
        *ret_new = r == -ENOENT;
        if (*ret_new) {
                r = enter_new(c, t, &h, i);
        } else if (old->removed) {
                r = come_back(c, t, old, i->name);
        } else {
                r = name_get(c, t, 'n', i->name, strlen(i->name), &holder);
                if (r == 0 && holder != old->id)
                        return errorf(-EEXIST, "the name %s is taken by case %u, and these bytes are case %u", i->name, holder,
                                      old->id);
                *ret_id = old->id;
                return r == -ENOENT ? 0 : r; /* nothing changes */
        }
        *ret_id = *ret_new ? i->id : old->id;
        h.generation++;
        return r < 0 ? r : head_put(c, t, &h);
}

/* Takes away bytes that no case has, under the lock that who places some holds until they are in the index. False: there is one, or it
 * cannot be told. */
static bool displace(struct cases *c, const struct digest *d)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        char path[PATH_SIZE];

        return store_write(c->store, &t) == 0 &&
               store_get(t, c->tables.digests, SLICE(d->bytes, sizeof(d->bytes)), &b) == -ENOENT &&
               bytes_path(c, d, path, NULL) == 0 && unlink(path) == 0;
}

static int commit_info(struct cases *c, struct case_info *i, const char *staged, uint32_t *ret_id, bool *ret_new)
{
        struct store_txn *t;
        uint32_t id = 0;
        bool is_new = false;
        int r = store_write(c->store, &t);

        if (r < 0)
                return r;
        r = enter(c, t, i, &id, &is_new);
        if (r == 0)
                r = fault_at("cases.place");
        if (r == 0)
                r = place(c, &i->sha256, staged);
        if (r == 0)
                r = fault_at("cases.enter");
        if (r < 0) {
                store_end(t);
                return r;
        }
        r = store_commit(t);
        if (r < 0) {
                cleanup_free char *why = strdup(error_message(r));

                if (is_new) {
                        fault_at("cases.undo");
                        displace(c, &i->sha256);
                }
                return errorf(r, "%s", why ? why : "");
        }
        *ret_id = id;
        *ret_new = is_new;
        return 0;
}

static int check_size(const char *name, uint64_t size)
{
        return size <= CASE_SIZE_MAX ? 0
                                     : errorf(-EFBIG, "the case %s has %llu bytes, and may have %llu", name,
                                              (unsigned long long)size, (unsigned long long)CASE_SIZE_MAX);
}

int cases_commit(struct cases *c, const char *name, int fd, const char *staged, uint32_t *ret_id, bool *ret_new)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        struct digest d;
        struct stat st;
        uint64_t size;
        int r = check_name(name);

        if (r < 0)
                return r;
        if (fstat(fd, &st) < 0)
                return errorf(-errno, "cannot look at %s: %s", staged, strerror(errno));
        r = check_size(name, (uint64_t)st.st_size);
        if (r < 0)
                return r;
        if (st.st_size == 0) /* most likely a copy that was broken off; no solver has a verdict for it */
                return errorf(-EINVAL, "'%s' is empty: not a case", name);
        r = digest_of_fd(fd, &d, &size);
        if (r < 0)
                return errorf(r, "cannot read %s: %s", staged, strerror(-r));
        r = look_at(name, fd, size, &i);
        if (r < 0)
                return r;
        i->sha256 = d;
        if (fchmod(fd, 0444) < 0 || fsync(fd) < 0)
                return errorf(-errno, "cannot save the case %s: %s", name, strerror(errno));
        return commit_info(c, i, staged, ret_id, ret_new);
}

static int copy_whole(int from, int to)
{
        uint64_t offset = 0;

        for (;;) {
                char block[1 << 16];
                ssize_t n = pread(from, block, sizeof(block), (off_t)offset);
                int r;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : 0;
                offset += (uint64_t)n;
                if (offset > CASE_SIZE_MAX)
                        return -EFBIG;
                r = write_all(to, block, (size_t)n);
                if (r < 0)
                        return r;
        }
}

int cases_add(struct cases *c, const char *name, int fd, uint32_t *ret_id, bool *ret_new)
{
        cleanup_close int staged_fd = -1;
        char staged[PATH_SIZE];
        struct stat st;
        int r = check_name(name);

        if (r == 0 && fstat(fd, &st) == 0) /* before hours of copying; what is no file, or grows, is counted then */
                r = check_size(name, (uint64_t)st.st_size);
        if (r == 0)
                r = cases_stage(c, &staged_fd, staged);
        if (r < 0)
                return r;
        r = copy_whole(fd, staged_fd);
        if (r < 0)
                errorf(r, "cannot copy the case %s: %s", name, strerror(-r));
        else
                r = cases_commit(c, name, staged_fd, staged, ret_id, ret_new);
        if (r < 0)
                unlink(staged);
        return r;
}

int cases_remove(struct cases *c, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        struct store_txn *t;
        struct head h;
        int r = store_write(c->store, &t);

        if (r < 0)
                return r;
        r = record_get(c, t, id, &i);
        if (r == 0 && i->removed)
                r = errorf(-ENOENT, "case %u was removed already", id);
        if (r == 0) {
                i->removed = true;
                r = record_put(c, t, i);
        }
        if (r == 0)
                r = name_let_go(c, t, i->name);
        if (r == 0)
                r = head_get(c, t, &h);
        if (r == 0) {
                h.generation++;
                r = head_put(c, t, &h);
        }
        if (r == 0)
                return store_commit(t);
        store_end(t);
        return r;
}

/* -- finding ---------------------------------------------------------------------------------------------------- */

int cases_get(struct cases *c, uint32_t id, struct case_info **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(c->store, &t);

        return r < 0 ? r : record_get(c, t, id, ret);
}

int cases_find(struct cases *c, const char *name, struct case_info **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        uint32_t id;
        int r = store_read(c->store, &t);

        if (r == 0)
                r = name_get(c, t, 'n', name, strlen(name), &id);
        if (r == -ENOENT)
                return errorf(r, "there is no case %.200s; see 'solverfs case list'", name);
        return r < 0 ? r : record_get(c, t, id, ret);
}

int cases_find_digest(struct cases *c, const struct digest *d, struct case_info **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(c->store, &t);

        if (r == 0)
                r = find_digest(c, t, d, ret);
        return r == -ENOENT ? errorf(r, "there is no case with these bytes") : r;
}

struct listing {
        uint32_t *ids; /* malloc'd */
        size_t n, capacity;
        bool with_removed;
};

static int list_one(void *user, struct slice key, struct slice value)
{
        struct listing *l = user;
        uint32_t id = key.size == 4 ? key_get_u32(key.data) : 0;

        if (id == 0 || value.size < sizeof(struct record) || (!l->with_removed && ((const struct record *)value.data)->removed))
                return 0;
        if (l->n == l->capacity) {
                size_t capacity = MAX(l->capacity * 2, (size_t)64);
                uint32_t *grown = reallocarray(l->ids, capacity, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                l->ids = grown;
                l->capacity = capacity;
        }
        l->ids[l->n++] = id;
        return 0;
}

static int list_ids(struct cases *c, bool with_removed, uint32_t **ret_ids, size_t *ret_n)
{
        cleanup_txn struct store_txn *t = NULL;
        struct listing l = {.with_removed = with_removed};
        int r = store_read(c->store, &t);

        if (r == 0)
                r = store_each(t, c->tables.cases, SLICE(NULL, 0), SLICE(NULL, 0), true, list_one, &l);
        if (r < 0) {
                free(l.ids);
                return r;
        }
        *ret_ids = l.ids;
        *ret_n = l.n;
        return 0;
}

int cases_list(struct cases *c, uint32_t **ret_ids, size_t *ret_n)
{
        return list_ids(c, false, ret_ids, ret_n);
}

/* -- bytes ------------------------------------------------------------------------------------------------------ */

static bool was_verified(struct cases *c, uint32_t id)
{
        bool yes;

        pthread_mutex_lock(&c->lock);
        yes = id / 8 < c->n_verified && c->verified[id / 8] >> id % 8 & 1;
        pthread_mutex_unlock(&c->lock);
        return yes;
}

static void set_verified(struct cases *c, uint32_t id)
{
        pthread_mutex_lock(&c->lock);
        if (id / 8 >= c->n_verified) {
                size_t n = MAX((size_t)id / 8 + 1, c->n_verified * 2);
                uint8_t *grown = realloc(c->verified, n);

                if (grown) {
                        memset(grown + c->n_verified, 0, n - c->n_verified);
                        c->verified = grown;
                        c->n_verified = n;
                }
        }
        if (id / 8 < c->n_verified) /* else it is checked again the next time */
                c->verified[id / 8] |= (uint8_t)(1 << id % 8);
        pthread_mutex_unlock(&c->lock);
}

static int check_bytes(const struct case_info *info, int fd, const char *path)
{
        struct digest d;
        int r = digest_of_fd(fd, &d, NULL);

        if (r < 0)
                return errorf(r, "cannot read %s: %s", path, strerror(-r));
        if (!digest_equal(&d, &info->sha256))
                return errorf(-EILSEQ, "the bytes of case %u in %s are not what was added; add the case again to repair it",
                              info->id, path);
        return 0;
}

static int open_bytes(struct cases *c, const struct case_info *info, bool always, int *ret_fd, char ret_path[PATH_SIZE])
{
        cleanup_close int fd = -1;
        char path[PATH_SIZE];
        struct stat st;
        int r = bytes_path(c, &info->sha256, path, NULL);

        if (r < 0)
                return r;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == ENOENT)
                return errorf(-EILSEQ, "the bytes of case %u are gone from %s; add the case again to repair it", info->id, path);
        if (fd < 0 || fstat(fd, &st) < 0)
                return errorf(-errno, "cannot open %s: %s", path, strerror(errno));
        if ((uint64_t)st.st_size != info->size)
                return errorf(-EILSEQ, "%s has %lld bytes where case %u has %llu; add the case again to repair it", path,
                              (long long)st.st_size, info->id, (unsigned long long)info->size);
        if (always || !was_verified(c, info->id)) {
                r = check_bytes(info, fd, path);
                if (r < 0)
                        return r;
                set_verified(c, info->id);
        }
        if (ret_path)
                memcpy(ret_path, path, sizeof(path));
        *ret_fd = steal_fd(&fd);
        return 0;
}

int cases_open_bytes(struct cases *c, const struct case_info *info, int *ret_fd, char ret_path[PATH_SIZE])
{
        return open_bytes(c, info, false, ret_fd, ret_path);
}

static int check_one(struct cases *c, uint32_t id)
{
        cleanup(case_info_unrefp) struct case_info *i = NULL;
        cleanup_close int fd = -1;
        int r = cases_get(c, id, &i);

        return r < 0 ? r : open_bytes(c, i, true, &fd, NULL);
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
                r = check_one(c, ids[i]);
                if (r == 0)
                        continue;
                wrong++;
                if (say)
                        say(user, error_message(r));
        }
        return wrong;
}

static bool is_known(struct cases *c, const struct digest *d)
{
        cleanup_txn struct store_txn *t = NULL;

        return store_read(c->store, &t) < 0 || store_has(t, c->tables.digests, SLICE(d->bytes, sizeof(d->bytes)));
}

static int sweep_folder(struct cases *c, const char *folder, bool dry_run, uint64_t *n, uint64_t *bytes)
{
        DIR *d = opendir(folder);
        struct dirent *e;

        if (!d)
                return errorf(-errno, "cannot read %s: %s", folder, strerror(errno));
        while ((e = readdir(d))) {
                struct digest digest;
                struct stat st;

                if (digest_parse(e->d_name, &digest) < 0 || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                    !S_ISREG(st.st_mode) || is_known(c, &digest) || (!dry_run && !displace(c, &digest)))
                        continue;
                ++*n;
                *bytes += (uint64_t)st.st_blocks * 512;
        }
        closedir(d);
        return 0;
}

int cases_sweep(struct cases *c, bool dry_run, uint64_t *ret_n, uint64_t *ret_bytes)
{
        int r = 0;

        *ret_n = *ret_bytes = 0;
        for (unsigned i = 0; r == 0 && i < 256; i++) {
                char folder[PATH_SIZE], name[3];

                snprintf(name, sizeof(name), "%02x", i);
                r = path_join(folder, c->dir, name);
                if (r == 0 && access(folder, F_OK) == 0)
                        r = sweep_folder(c, folder, dry_run, ret_n, ret_bytes);
        }
        return r;
}
