/* A call of LMDB that reads is inside READING(), which catches faults. Before one that writes to a table check_path() checks the pages. */
#include "cache/store/db.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cache/base/lost.h"
#include "cache/store/pages.h"

#define FULL_BELOW     (1 << 20)  /* free bytes */
#define LARGE          (64 << 10) /* a value of more bytes is worth a system call to check its size */
#define READERS        1022       /* read transactions at a time, in all processes */
#define LOCK_SIZE      (64 << 10) /* of lock.mdb with so many */
#define MAP_SIZE_LEAST (UINT64_C(16) << 20)

/* -- errors ----------------------------------------------------------------------------------------------------- */

bool db_is_current(struct db *d)
{
        struct stat st;

        return stat(d->data, &st) < 0 || (st.st_dev == d->device && st.st_ino == d->inode);
}

void db_mark_damaged(struct db *d, const char *what)
{
        cleanup_close int fd = -1;

        if (d->read_only)
                return;
        fd = openat(d->folder, DB_DAMAGED, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != ENOENT) /* ENOENT: the index was set aside and deleted since */
                log_error("cannot write %s/" DB_DAMAGED ": %s", d->dir, strerror(errno));
        else if (fd >= 0)
                (void)!write(fd, what, strlen(what));
}

void db_condemn(struct db *d, const char *what)
{
        if (!atomic_exchange(&d->damaged, true)) {
                db_mark_damaged(d, what);
                log_error("the index in %s is damaged (%s); it is made anew from the journal", d->dir, what);
        }
}

int db_fail_damaged(struct db *d, const char *what)
{
        if (!d->read_only && !d->fresh && !atomic_load(&d->damaged)) {
                db_mark_damaged(d, what);
                lost_start_over_if_unseen();
        }
        db_condemn(d, what);
        return errorf(-EIO, "the index in %s is damaged (%s); 'solverfs fsck' makes it anew from the journal", d->dir, what);
}

/* The -errno, with a sentence, for what a function of LMDB returned; 0 for 0. */
static int fail(struct db *d, int rc, const char *what)
{
        switch (rc) {
        case 0:
                return 0;
        case MDB_NOTFOUND:
                error_clear();
                return -ENOENT;
        case MDB_MAP_FULL:
                return errorf(-ENOSPC, "cannot %s: the index in %s has reached its greatest size, %llu bytes", what, d->dir,
                              (unsigned long long)d->size);
        case ENOSPC:
        case EDQUOT:
                return errorf(-ENOSPC, "cannot %s: no space left for %s", what, d->dir);
        case MDB_TXN_FULL:
                return errorf(-EFBIG, "cannot %s: the transaction is too large", what);
        case MDB_BAD_VALSIZE:
                return errorf(-EINVAL, "cannot %s: a key must have 1 to 511 bytes", what);
        case MDB_READERS_FULL:
                return errorf(-EAGAIN, "cannot %s: too many readers of %s at once", what, d->dir);
        case EAGAIN: /* a reader locks the byte of its process's number in lock.mdb */
                return errorf(-EBUSY,
                              "process number %d has %s open in another container: give this one another number (as by --pid=host), or end that one",
                              (int)getpid(), d->dir);
        case MDB_MAP_RESIZED:
                return errorf(-ENOMEM, "the index in %s is larger than the %llu bytes this process may map; raise its address space limit (ulimit -v)",
                              d->dir, (unsigned long long)d->size);
        case MDB_BAD_TXN: /* the transaction failed before */
        case MDB_DBS_FULL:
                return errorf(-EIO, "cannot %s in %s: %s", what, d->dir, mdb_strerror(rc));
        default:
                return rc < 0 ? db_fail_damaged(d, mdb_strerror(rc)) : errorf(-rc, "cannot %s in %s: %s", what, d->dir, strerror(rc));
        }
}

/* The map of data.mdb: a fault at an address in it jumps out of the read. */
static const struct guard_range in_map = {.file = "/data.mdb"};

/* Runs `call`, a read, which may be left at any point: nobody reads on with what it was changing (a transaction, a cursor). */
#define READING(d, what, call)                                                       \
        ({                                                                           \
                struct guard guarded_g;                                              \
                int guarded_r;                                                       \
                                                                                     \
                if (guard_set(&guarded_g)) {                                         \
                        guarded_r = db_fail_damaged(d, "a page could not be read");  \
                } else {                                                             \
                        int guarded_rc;                                              \
                                                                                     \
                        guard_enter(&guarded_g, &in_map);                            \
                        guarded_rc = (call);                                         \
                        guard_leave(&guarded_g);                                     \
                        guarded_r = guarded_rc == 0 ? 0 : fail(d, guarded_rc, what); \
                }                                                                    \
                guarded_r;                                                           \
        })

static void on_assertion(MDB_env *env, const char *message)
{
        guard_fail();
}

/* -- opening ---------------------------------------------------------------------------------------------------- */

static _Atomic unsigned forks;

static void count_fork(void)
{
        atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
        pthread_atfork(NULL, NULL, count_fork);
}

/* LMDB would make the files under the umask, and fail to open data.mdb a second time if the umask takes the owner's rights. It writes to lock.mdb
 * through a map, where a full disk is a SIGBUS: the first `size` bytes get their blocks here. Called before LMDB has the file: our close() would drop
 * its lock. */
static int make_file(const char *dir, const char *name, off_t size)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        struct stat st;

        if (fd < 0 && errno != EEXIST)
                return errorf(-errno, "cannot make %s: %s", path, strerror(errno));
        if (fd >= 0 && fchmod(fd, 0600) < 0)
                return errorf(-errno, "cannot make %s private: %s", path, strerror(errno));
        if (fd < 0 && size > 0 && stat(path, &st) == 0 && st.st_blocks * 512 < size)
                fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0 && size > 0 && fallocate(fd, 0, 0, size) < 0 && (errno == ENOSPC || errno == EDQUOT))
                return errorf(-ENOSPC, "cannot make %s: no space left", path);
        return 0;
}

static uint64_t map_size_wanted(void)
{
        const char *text = getenv("SOLVERFS_MAP_SIZE");
        char *end;
        unsigned long long n = text ? strtoull(text, &end, 10) : 0;

        return text && *text && *end == '\0' && n >= (1 << 20) ? n & ~UINT64_C(0xffff) : DB_MAP_SIZE;
}

/* One attempt with one size of map. Returns what LMDB returns. */
static int try_open(struct db *d, uint64_t size, unsigned flags)
{
        int rc = mdb_env_create(&d->env);

        if (rc == 0)
                rc = mdb_env_set_mapsize(d->env, size);
        if (rc == 0)
                rc = mdb_env_set_maxreaders(d->env, READERS);
        if (rc == 0)
                rc = mdb_env_set_maxdbs(d->env, DB_TABLES);
        if (rc == 0)
                rc = mdb_env_set_assert(d->env, on_assertion);
        if (rc == 0)
                rc = mdb_env_open(d->env, d->dir, flags, 0600);
        if (rc != 0 && d->env) {
                mdb_env_close(d->env);
                d->env = NULL;
        }
        d->size = size;
        return rc;
}

/* Reserves the wanted address space, or as much as there is. */
static int open_sized(struct db *d, unsigned flags)
{
        uint64_t size = map_size_wanted();
        int rc = try_open(d, size, flags);

        while (rc == ENOMEM && size / 2 >= MAP_SIZE_LEAST) {
                size /= 2;
                rc = try_open(d, size, flags);
        }
        return rc;
}

static int open_env(struct db *d)
{
        /* NOMETASYNC: the journal makes a commit durable. NOTLS: a reader belongs to its transaction, which we pool. */
        unsigned flags = MDB_NOMETASYNC | MDB_NOTLS | (d->read_only ? MDB_RDONLY : 0);
        int rc = open_sized(d, flags | (d->unlocked ? MDB_NOLOCK : 0));

        if ((rc == EACCES || rc == EROFS || rc == EPERM) && d->read_only) {
                d->unlocked = true;
                rc = open_sized(d, flags | MDB_NOLOCK);
        }
        if (rc == ENOENT || (rc == EBADF && d->read_only)) /* EBADF: the file is empty, and LMDB would begin it */
                return errorf(-ENOENT, "there is no index in %s", d->dir);
        return fail(d, rc, "open the index");
}

static int open_files(struct db *d)
{
        struct stat st;
        int r = d->read_only ? 0 : make_file(d->dir, "data.mdb", 0);

        if (r == 0 && !d->read_only)
                r = make_file(d->dir, "lock.mdb", LOCK_SIZE);
        if (r < 0)
                return r;
        d->fd = open(d->data, O_RDONLY | O_CLOEXEC);
        if (d->fd < 0 || fstat(d->fd, &st) < 0)
                return errorf(-errno, "cannot open %s: %s", d->data, strerror(errno));
        d->device = st.st_dev;
        d->inode = st.st_ino;
        return pages_check_meta(d->fd, d->data);
}

int db_open(const char *dir, int flags, struct db **ret)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        struct db *d = allocate(1, sizeof(*d));
        int r;

        pthread_once(&once, watch_forks);
        d->read_only = flags & DB_READ_ONLY;
        d->fresh = flags & DB_FRESH;
        d->unlocked = flags & DB_UNLOCKED;
        d->forks = atomic_load(&forks);
        d->fd = -1;
        d->dir = copy_string(dir);
        d->data = format_string("%s/data.mdb", dir);
        d->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        r = d->folder < 0 ? errorf(-errno, "cannot open %s: %s", dir, strerror(errno))
                          : guard_install() ?: open_files(d) ?: open_env(d);
        if (r == 0 && !d->read_only && !d->fresh)
                lost_mark(d->folder, DB_DAMAGED);
        if (r < 0) {
                db_close(d);
                return r;
        }
        *ret = d;
        return 0;
}

struct db *db_close(struct db *d)
{
        if (!d)
                return NULL;
        lost_unmark(d->folder);
        if (d->env && db_is_ours(d))
                mdb_env_close(d->env);
        for (size_t i = 0; i < ARRAY_SIZE(d->names); i++)
                free(d->names[i]);
        pages_free(d->pages);
        free(d->dir);
        if (d->folder >= 0)
                close(d->folder);
        if (d->fd >= 0)
                close(d->fd);
        free(d->data);
        free(d);
        return NULL;
}

/* A forked child must not close the environment either: that would free the parent's reader slots. It just forgets it. */
bool db_is_ours(const struct db *d)
{
        return d->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

int db_usable(struct db *d)
{
        if (!db_is_ours(d))
                return errorf(-EIO, "the store in %s was opened before a fork; the child must open it anew", d->dir);
        if (atomic_load_explicit(&d->damaged, memory_order_relaxed))
                return errorf(-EIO, "the index in %s is damaged; 'solverfs fsck' makes it anew from the journal", d->dir);
        return 0;
}

/* -- transactions ----------------------------------------------------------------------------------------------- */

/* lock.mdb has two mutexes. The writer's is always free, as the store has its own lock; the readers' is held only for a moment. So a long
 * wait means damage. */
static int begin_watched(struct db *d, unsigned flags, MDB_txn **ret)
{
        struct lost_watch watch;
        int r;

        lost_watch_begin(&watch, "cannot get LMDB's lock: lock.mdb is damaged");
        r = flags & MDB_RDONLY ? READING(d, "begin a read transaction", mdb_txn_begin(d->env, NULL, flags, ret))
                               : fail(d, mdb_txn_begin(d->env, NULL, flags, ret), "begin a write transaction");
        lost_watch_end(&watch);
        return r;
}

/* Notes damage that pages.h found. */
static int note_damage(struct db *d, int r)
{
        return r == -EIO ? db_fail_damaged(d, error_message(r)) : r;
}

static int begin_write(struct db *d, MDB_txn **ret)
{
        int r = 0;

        d->pages = pages_free(d->pages);
        if (!d->fresh)
                r = pages_begin(d->fd, d->data, &d->pages);
        if (r < 0)
                return note_damage(d, r);
        r = begin_watched(d, 0, ret);
        d->writing = r == 0 ? *ret : NULL;
        if (r == 0 && d->pages && mdb_txn_id(*ret) != pages_txn(d->pages) + 1) {
                db_abort(d, *ret);
                return db_fail_damaged(d, "lock.mdb has the number of another transaction");
        }
        return r;
}

int db_begin(struct db *d, bool write, MDB_txn **ret)
{
        int r = db_usable(d);

        if (r < 0)
                return r;
        return write ? begin_write(d, ret) : begin_watched(d, MDB_RDONLY, ret);
}

int db_renew(struct db *d, MDB_txn *txn)
{
        int r = db_usable(d);

        return r < 0 ? r : READING(d, "begin a read transaction", mdb_txn_renew(txn));
}

void db_reset(struct db *d, MDB_txn *txn)
{
        if (db_is_ours(d))
                mdb_txn_reset(txn);
}

static bool is_full(struct db *d)
{
        struct statvfs v;

        return statvfs(d->dir, &v) == 0 && v.f_bavail * v.f_frsize < FULL_BELOW;
}

int db_commit(struct db *d, MDB_txn *txn)
{
        int rc, r = db_usable(d);

        if (r == 0 && txn == d->writing && d->pages) /* LMDB reads the free list now, perhaps long after the first check */
                r = note_damage(d, pages_check_free_list(d->pages));
        if (r < 0) {
                db_abort(d, txn);
                return r;
        }
        rc = mdb_txn_commit(txn);
        if (rc == EIO && is_full(d)) /* LMDB reports a short write as EIO */
                rc = ENOSPC;
        return fail(d, rc, "commit");
}

void db_abort(struct db *d, MDB_txn *txn)
{
        if (txn && db_is_ours(d))
                mdb_txn_abort(txn);
}

int db_table(struct db *d, MDB_txn *txn, const char *name, bool create, MDB_dbi *ret)
{
        unsigned flags = 0;
        int r = create ? fail(d, mdb_dbi_open(txn, name, MDB_CREATE, ret), "open a table")
                       : READING(d, "open a table", mdb_dbi_open(txn, name, 0, ret));

        if (r == 0)
                r = fail(d, mdb_dbi_flags(txn, *ret, &flags), "open a table");
        if (r == 0 && flags != 0)
                r = db_fail_damaged(d, "a table has flags that no table has");
        if (r == 0 && !d->read_only && name && !d->names[*ret])
                d->names[*ret] = copy_string(name);
        return r;
}

/* -- keys and values -------------------------------------------------------------------------------------------- */

static inline MDB_val to_val(struct slice s)
{
        return (MDB_val){.mv_data = (void *)s.data, .mv_size = s.size};
}

/* A damaged node may claim gigabytes. */
static int check_size(struct db *d, size_t size)
{
        struct stat st;

        if (size < LARGE || (fstat(d->fd, &st) == 0 && size <= (uint64_t)st.st_size))
                return 0;
        return db_fail_damaged(d, "a value is larger than the file");
}

int db_get(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct blob *ret)
{
        MDB_val k = to_val(key), v = {0};
        int r = READING(d, "read", mdb_get(txn, dbi, &k, &v)) ?: check_size(d, v.mv_size);

        if (r < 0 || !ret)
                return r;
        *ret = (struct blob){.size = v.mv_size, .owned = malloc(MAX(v.mv_size, (size_t)1))};
        ret->data = ret->owned;
        r = ret->owned ? db_copy(d, ret->owned, SLICE(v.mv_data, v.mv_size)) : -ENOMEM;
        if (r < 0)
                blob_done(ret);
        return r;
}

int db_copy(struct db *d, void *to, struct slice from)
{
        return from.size == 0 ? 0 : READING(d, "read", (memcpy(to, from.data, from.size), 0));
}

/* Checks the pages that LMDB will read to put or delete the key. */
static int check_path(struct db *d, MDB_dbi dbi, struct slice key, bool deletes)
{
        return d->pages ? note_damage(d, pages_path(d->pages, d->names[dbi], key, deletes)) : 0;
}

int db_put(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct slice value)
{
        MDB_val k = to_val(key), v = to_val(value);
        int r = check_path(d, dbi, key, false);

        return r < 0 ? r : fail(d, mdb_put(txn, dbi, &k, &v, 0), "write");
}

int db_delete(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key)
{
        MDB_val k = to_val(key);
        int r = check_path(d, dbi, key, true);

        return r < 0 ? r : fail(d, mdb_del(txn, dbi, &k, NULL), "delete");
}

int db_stat(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_stat *ret)
{
        return READING(d, "look at a table", mdb_stat(txn, dbi, ret));
}

/* -- cursors ---------------------------------------------------------------------------------------------------- */

int db_cursor(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_cursor **ret)
{
        return READING(d, "read", mdb_cursor_open(txn, dbi, ret));
}

void db_cursor_close(struct db *d, MDB_cursor *c)
{
        mdb_cursor_close(c);
}

int db_cursor_get(struct db *d, MDB_cursor *c, MDB_cursor_op op, uint8_t key[512], size_t *key_size, struct slice *ret_value)
{
        MDB_val k = {.mv_data = key, .mv_size = *key_size}, v = {0};
        int r = READING(d, "read", mdb_cursor_get(c, &k, ret_value ? &v : NULL, op));

        if (r == 0 && k.mv_size > 511)
                r = db_fail_damaged(d, "a key is too long");
        if (r == 0 && ret_value)
                r = check_size(d, v.mv_size);
        if (r == 0 && k.mv_data != key)
                r = db_copy(d, key, SLICE(k.mv_data, k.mv_size));
        if (r < 0)
                return r;
        *key_size = k.mv_size;
        if (ret_value)
                *ret_value = SLICE(v.mv_data, v.mv_size);
        return 0;
}

/* -- the environment -------------------------------------------------------------------------------------------- */

int db_info(struct db *d, MDB_envinfo *ret)
{
        int r = db_usable(d);

        return r < 0 ? r : READING(d, "look at the index", mdb_env_info(d->env, ret));
}

uint64_t db_last_txn(struct db *d)
{
        MDB_envinfo info;

        return db_info(d, &info) < 0 ? 0 : info.me_last_txnid;
}

void db_clear_readers(struct db *d)
{
        struct lost_watch watch;

        lost_watch_begin(&watch, "cannot get LMDB's lock: lock.mdb is damaged");
        mdb_reader_check(d->env, NULL);
        lost_watch_end(&watch);
}

int db_sync(struct db *d)
{
        return fail(d, mdb_env_sync(d->env, 1), "sync");
}
