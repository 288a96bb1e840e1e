#include "cache/store/db.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cache/store/pages.h"

#define FULL_BELOW     (1 << 20)  /* free bytes */
#define LARGE          (64 << 10) /* bytes of a value from which on it is worth a system call to doubt it */
#define READERS        1022
#define TABLES         64
#define MAP_SIZE_LEAST (UINT64_C(16) << 20)

/* -- errors ----------------------------------------------------------------------------------------------------- */

bool db_is_current(struct db *d)
{
        struct stat st;

        return stat(d->data, &st) < 0 || (st.st_dev == d->device && st.st_ino == d->inode);
}

int db_damaged(struct db *d, const char *what)
{
        if (!atomic_exchange(&d->damaged, true)) {
                log_error("the index in %s is damaged (%s); it is made anew from the journal", d->dir, what);
                if (!d->read_only) {
                        cleanup_close int fd = openat(d->folder, DB_DAMAGED, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

                        if (fd < 0 && errno != ENOENT) /* it was set aside, and has been deleted since */
                                log_error("cannot write %s/" DB_DAMAGED ": %s", d->dir, strerror(errno));
                }
        }
        return errorf(-EIO, "the index in %s is damaged (%s); 'solverfs fsck' makes it anew from the journal", d->dir, what);
}

static int replaced(struct db *d)
{
        atomic_store(&d->damaged, true);
        return errorf(-EIO, "the index in %s was made anew by another process", d->dir);
}

static int fault(struct db *d)
{
        /* Aborting would walk lists of cursors that lay on the stack we jumped out of. */
        if (d->writing && pthread_equal(d->writer, pthread_self()))
                d->broken = true;
        return db_damaged(d, "a page could not be read");
}

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
        case MDB_MAP_RESIZED:
                return errorf(-ENOMEM,
                              "the index in %s is larger than the %llu bytes this process may map; raise its address space limit "
                              "(ulimit -v)",
                              d->dir, (unsigned long long)d->size);
        case MDB_CORRUPTED:
        case MDB_PAGE_NOTFOUND:
        case MDB_PANIC:
        case MDB_INVALID:
        case MDB_VERSION_MISMATCH:
        case MDB_CURSOR_FULL:
        case MDB_PAGE_FULL:
        case MDB_INCOMPATIBLE:
        case MDB_BAD_DBI:
                return db_damaged(d, mdb_strerror(rc));
        default:
                if (rc < 0) /* LMDB's own: a transaction that failed before, a bad reader slot … */
                        return errorf(-EIO, "cannot %s in %s: %s", what, d->dir, mdb_strerror(rc));
                return errorf(-rc, "cannot %s in %s: %s", what, d->dir, strerror(rc));
        }
}

/* Runs `call`, an expression, under the guard. */
#define GUARDED(d, what, call)                                                       \
        ({                                                                           \
                struct guard guarded_g;                                              \
                int guarded_r;                                                       \
                                                                                     \
                if (guard_set(&guarded_g)) {                                         \
                        guarded_r = fault(d);                                        \
                } else {                                                             \
                        int guarded_rc;                                              \
                                                                                     \
                        guard_enter(&guarded_g, NULL);                               \
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

/* LMDB would make them under the umask, and then open one of them a second time. */
static int make_file(const char *dir, const char *name)
{
        cleanup_close int fd = -1;
        char path[PATH_SIZE];
        int r = path_join(path, dir, name);

        if (r < 0)
                return r;
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
                return errno == EEXIST ? 0 : errorf(-errno, "cannot make %s: %s", path, strerror(errno));
        return fchmod(fd, 0600) < 0 ? errorf(-errno, "cannot make %s private: %s", path, strerror(errno)) : 0;
}

static uint64_t map_size_wanted(void)
{
        const char *text = getenv("SOLVERFS_MAP_SIZE");
        char *end;
        unsigned long long n = text ? strtoull(text, &end, 10) : 0;

        return text && *text && *end == '\0' && n >= (1 << 20) ? n & ~UINT64_C(0xffff) : DB_MAP_SIZE;
}

/* One attempt with one size of map. LMDB's return value. */
static int try_open(struct db *d, uint64_t size, unsigned flags)
{
        int rc = mdb_env_create(&d->env);

        if (rc == 0)
                rc = mdb_env_set_mapsize(d->env, size);
        if (rc == 0)
                rc = mdb_env_set_maxreaders(d->env, READERS);
        if (rc == 0)
                rc = mdb_env_set_maxdbs(d->env, TABLES);
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

/* As much address space as is wanted, or as there is. */
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
        int rc = open_sized(d, flags);

        if ((rc == EACCES || rc == EROFS || rc == EPERM) && d->read_only) {
                d->unlocked = true;
                rc = open_sized(d, flags | MDB_NOLOCK);
        }
        if (rc == ENOENT)
                return errorf(-ENOENT, "there is no index in %s", d->dir);
        return fail(d, rc, "open the index");
}

/* LMDB would say just that it is no good, as of a damaged one. */
static int check_format(struct db *d)
{
        cleanup_close int fd = open(d->data, O_RDONLY | O_CLOEXEC);

        return fd < 0 ? 0 : pages_format(fd, d->data);
}

int db_open(const char *dir, bool read_only, struct db **ret)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        struct db *d = calloc(1, sizeof(*d));
        struct stat st;
        int r = 0;

        if (!d)
                return -ENOMEM;
        pthread_once(&once, watch_forks);
        d->read_only = read_only;
        d->forks = atomic_load(&forks);
        d->dir = strdup(dir);
        if (!d->dir || asprintf(&d->data, "%s/data.mdb", dir) < 0)
                r = -ENOMEM;
        d->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (r == 0 && d->folder < 0)
                r = errorf(-errno, "cannot open %s: %s", dir, strerror(errno));
        if (r == 0 && !read_only)
                r = make_file(dir, "data.mdb");
        if (r == 0 && !read_only)
                r = make_file(dir, "lock.mdb");
        if (r == 0)
                r = guard_install();
        if (r == 0)
                r = check_format(d);
        if (r == 0)
                r = open_env(d);
        if (r == 0 && stat(d->data, &st) < 0)
                r = errorf(-errno, "cannot look at %s: %s", d->data, strerror(errno));
        if (r == 0) {
                d->device = st.st_dev;
                d->inode = st.st_ino;
        }
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
        /* A broken one keeps its map: the lock in there is one this thread still holds, and the C library follows it. */
        if (d->env && db_is_ours(d) && !d->broken)
                mdb_env_close(d->env);
        free(d->dir);
        if (d->folder >= 0)
                close(d->folder);
        free(d->data);
        free(d);
        return NULL;
}

/* A forked child must let go of nothing, either: it would free the parent's reader slots. It just forgets. */
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

static int begin_write(struct db *d, MDB_txn **ret)
{
        static MDB_txn *const beginning = (MDB_txn *)1; /* a fault may come when there is none yet */
        int r;

        if (faccessat(d->folder, DB_DAMAGED, F_OK, 0) == 0) /* another process found it so, and may hold LMDB's lock for good */
                return db_damaged(d, "another process found it so");
        if (!db_is_current(d))
                return replaced(d);
        d->writer = pthread_self();
        d->writing = beginning;
        r = GUARDED(d, "begin a write transaction", mdb_txn_begin(d->env, NULL, 0, ret));
        d->writing = r == 0 ? *ret : NULL;
        return r;
}

int db_begin(struct db *d, bool write, MDB_txn **ret)
{
        int r = db_usable(d);

        if (r < 0)
                return r;
        return write ? begin_write(d, ret) : GUARDED(d, "begin a read transaction", mdb_txn_begin(d->env, NULL, MDB_RDONLY, ret));
}

int db_renew(struct db *d, MDB_txn *txn)
{
        int r = db_usable(d);

        return r < 0 ? r : GUARDED(d, "begin a read transaction", mdb_txn_renew(txn));
}

void db_reset(struct db *d, MDB_txn *txn)
{
        if (db_is_ours(d))
                GUARDED(d, "end a read transaction", (mdb_txn_reset(txn), 0));
}

static bool is_full(struct db *d)
{
        struct statvfs v;

        return statvfs(d->dir, &v) == 0 && v.f_bavail * v.f_frsize < FULL_BELOW;
}

static int commit_guarded(struct db *d, MDB_txn *txn)
{
        struct guard g;
        int rc;

        if (guard_set(&g))
                return fault(d);
        guard_enter(&g, NULL);
        rc = mdb_txn_commit(txn);
        guard_leave(&g);
        if (rc == EIO && is_full(d)) /* LMDB's word for a short write */
                rc = ENOSPC;
        return rc == 0 ? 0 : fail(d, rc, "commit");
}

int db_commit(struct db *d, MDB_txn *txn)
{
        int r = db_usable(d);

        if (r < 0) {
                db_abort(d, txn);
                return r;
        }
        r = commit_guarded(d, txn);
        if (txn == d->writing)
                d->writing = NULL;
        return r;
}

void db_abort(struct db *d, MDB_txn *txn)
{
        bool writing = txn && txn == d->writing;

        if (writing)
                d->writing = NULL;
        if (txn && db_is_ours(d) && !(writing && d->broken))
                GUARDED(d, "abort", (mdb_txn_abort(txn), 0));
}

int db_table(struct db *d, MDB_txn *txn, const char *name, bool create, MDB_dbi *ret)
{
        return GUARDED(d, "open a table", mdb_dbi_open(txn, name, create ? MDB_CREATE : 0, ret));
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

        if (size < LARGE || (stat(d->data, &st) == 0 && size <= (uint64_t)st.st_size))
                return 0;
        return db_damaged(d, "a value is larger than the file");
}

int db_get(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct slice *ret)
{
        MDB_val k = to_val(key), v = {0};
        int r = GUARDED(d, "read", mdb_get(txn, dbi, &k, &v));

        if (r == 0)
                r = check_size(d, v.mv_size);
        if (r < 0)
                return r;
        *ret = SLICE(v.mv_data, v.mv_size);
        return 0;
}

int db_copy(struct db *d, void *to, struct slice from)
{
        return GUARDED(d, "read", (memcpy(to, from.data, from.size), 0));
}

int db_put(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct slice value)
{
        MDB_val k = to_val(key), v = to_val(value);

        return GUARDED(d, "write", mdb_put(txn, dbi, &k, &v, 0));
}

int db_delete(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key)
{
        MDB_val k = to_val(key);

        return GUARDED(d, "delete", mdb_del(txn, dbi, &k, NULL));
}

int db_empty(struct db *d, MDB_txn *txn, MDB_dbi dbi)
{
        return GUARDED(d, "empty a table", mdb_drop(txn, dbi, 0));
}

int db_stat(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_stat *ret)
{
        return GUARDED(d, "look at a table", mdb_stat(txn, dbi, ret));
}

/* -- cursors ---------------------------------------------------------------------------------------------------- */

int db_cursor(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_cursor **ret)
{
        return GUARDED(d, "read", mdb_cursor_open(txn, dbi, ret));
}

void db_cursor_close(struct db *d, MDB_cursor *c)
{
        GUARDED(d, "read", (mdb_cursor_close(c), 0));
}

static int cursor_get(struct db *d, MDB_cursor *c, MDB_val *key, MDB_val *value, MDB_cursor_op op)
{
        return GUARDED(d, "read", mdb_cursor_get(c, key, value, op));
}

int db_cursor_get(struct db *d, MDB_cursor *c, MDB_cursor_op op, uint8_t key[512], size_t *key_size, struct slice *ret_value)
{
        MDB_val k = {.mv_data = key, .mv_size = *key_size}, v = {0};
        int r = cursor_get(d, c, &k, ret_value ? &v : NULL, op);

        if (r == 0 && k.mv_size > 511)
                r = db_damaged(d, "a key is too long");
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

        return r < 0 ? r : GUARDED(d, "look at the index", mdb_env_info(d->env, ret));
}

uint64_t db_last_txn(struct db *d)
{
        MDB_envinfo info;

        return db_info(d, &info) < 0 ? 0 : info.me_last_txnid;
}

void db_clear_readers(struct db *d)
{
        GUARDED(d, "clear dead readers", mdb_reader_check(d->env, NULL));
}

int db_sync(struct db *d)
{
        return GUARDED(d, "sync", mdb_env_sync(d->env, 1));
}
