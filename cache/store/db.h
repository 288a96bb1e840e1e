/* LMDB, made to survive damage. LMDB trusts its pages. So
 *
 * - pages that a write transaction will read are checked first (pages.h);
 * - a fault at an address in the map, or a failed assertion, ends a read by a jump out of it (guard.h);
 * - any other fault, or seconds of waiting to begin a transaction because lock.mdb is damaged, ends the process (lost.h).
 *
 * Damage marks the index: this call and all later ones on this handle return -EIO, and a file `damaged` beside LMDB's makes the next process
 * that opens the index rebuild it (store_index.c). Every error is an errno with a sentence. Only the store uses this.
 *
 * A process may open an index only once (LMDB's locks are per process). Threads: any; a write transaction stays in its thread.
 */
#pragma once

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>

#include "cache/base/guard.h"

#define DB_TABLES 64 /* most tables */

struct pages;

struct db {
        char *dir;    /* of data.mdb and lock.mdb */
        MDB_env *env; /* owned */
        bool read_only;
        bool fresh;    /* being made, unknown to other processes: its pages need no check */
        bool unlocked; /* lock.mdb is not available: a writer may reuse the pages we read */
        uint64_t size; /* of the map */
        int folder;    /* dir, opened, so that the mark goes to this index even if it was set aside (renamed) meanwhile */
        int fd;        /* of data.mdb, to check pages */
        char *data;    /* path of data.mdb */
        dev_t device;  /* of data.mdb when opened */
        ino_t inode;
        _Atomic bool damaged;
        unsigned forks;             /* this process's count of forks when it was opened: a child must not use it */
        struct pages *pages;        /* of the write transaction; under the store's write lock */
        MDB_txn *writing;           /* likewise */
        char *names[DB_TABLES + 2]; /* by MDB_dbi; under the store's write lock */
};

#define DB_DAMAGED "damaged" /* name of the mark */

/* Most address space to reserve; less if the system refuses. $SOLVERFS_MAP_SIZE (bytes) overrides it. */
#define DB_MAP_SIZE (UINT64_C(1) << 40)

enum db_flags {
        DB_READ_ONLY = 1 << 0,
        DB_FRESH = 1 << 1,    /* see struct db */
        DB_UNLOCKED = 1 << 2, /* with DB_READ_ONLY: leaves lock.mdb alone */
};

int db_open(const char *dir, int flags, struct db **ret); /* makes the files, 0600, unless read-only */
struct db *db_close(struct db *d);
bool db_is_ours(const struct db *d); /* false in a child forked since it was opened */
int db_usable(struct db *d);         /* 0; -EIO: damaged, or opened before a fork */
bool db_is_current(struct db *d);    /* false if the index was rebuilt since */

/* Marks the index as damaged; the handle remains usable. For a damaged value on a sound page. */
void db_mark_damaged(struct db *d, const char *what);
/* Marks the index, and makes the handle unusable: later calls return -EIO. */
void db_condemn(struct db *d, const char *what);
/* The same; returns -EIO. A command that has printed nothing starts over instead (lost.h). */
int db_fail_damaged(struct db *d, const char *what);

enum { DB_READ = false, DB_WRITE = true };
int db_begin(struct db *d, bool write, MDB_txn **ret);
int db_renew(struct db *d, MDB_txn *txn); /* begins a reset read transaction again, on the newest snapshot */
void db_reset(struct db *d, MDB_txn *txn); /* lets go of a read transaction's snapshot */
int db_commit(struct db *d, MDB_txn *txn); /* ends `txn` in any case */
void db_abort(struct db *d, MDB_txn *txn);
enum { DB_EXISTING = false, DB_CREATE = true };
int db_table(struct db *d, MDB_txn *txn, const char *name, bool create, MDB_dbi *ret);

/* Copies the value. `ret` may be NULL, to ask only whether the key exists. -ENOENT without a sentence. */
int db_get(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct blob *ret);
int db_put(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct slice value);
int db_delete(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key);
int db_stat(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_stat *ret);

int db_cursor(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_cursor **ret);
void db_cursor_close(struct db *d, MDB_cursor *c);
/* Sets `key` and, unless NULL, *ret_value, which points into the map: read it only by db_copy(). For MDB_SET_RANGE, key and *key_size also give
 * the key to look for. */
int db_cursor_get(struct db *d, MDB_cursor *c, MDB_cursor_op op, uint8_t key[512], size_t *key_size, struct slice *ret_value);
int db_copy(struct db *d, void *to, struct slice from);

uint64_t db_last_txn(struct db *d); /* number of the newest committed transaction, of any process */
int db_info(struct db *d, MDB_envinfo *ret);
void db_clear_readers(struct db *d); /* frees the reader slots of dead processes */
int db_sync(struct db *d);
