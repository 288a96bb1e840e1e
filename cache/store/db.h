/* LMDB, made to survive damage. LMDB trusts its pages. So
 *
 * - what LMDB is going to read in a write transaction is looked at before (pages.h);
 * - a read touches nothing but the map and the stack: a fault at an address in the map, or a failed assertion, is jumped out of (guard.h);
 * - any other fault, and a transaction that cannot be begun for seconds because lock.mdb is damaged, is the process's end (lost.h).
 *
 * Once damage was met, the index is marked: this call and all later ones on this handle are -EIO, and a file `damaged` beside LMDB's tells
 * the next process that opens it to make it anew (store_index.c). Every error is an errno with a sentence. Only the store uses this.
 *
 * A process may open an index only once (LMDB's locks are per process). Threads: any, a write transaction stays in its own.
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
        bool fresh;    /* nobody else knows it yet: its pages need no look */
        bool unlocked; /* lock.mdb could not be had: nothing keeps a writer from reusing the pages we read */
        uint64_t size; /* of the map */
        int folder;    /* dir, opened: the mark is of this index, also when it was set aside meanwhile */
        int fd;        /* of data.mdb, to look at pages */
        char *data;    /* path of data.mdb */
        dev_t device;  /* of data.mdb as it was opened */
        ino_t inode;
        _Atomic bool damaged;
        unsigned forks;             /* as counted when it was opened: a child must not use it */
        struct pages *pages;        /* of the write transaction; under the store's write lock */
        MDB_txn *writing;           /* likewise */
        char *names[DB_TABLES + 2]; /* by MDB_dbi; under the store's write lock */
};

#define DB_DAMAGED "damaged" /* name of the mark */

/* The most address space to reserve; less is taken when the system does not give it. $SOLVERFS_MAP_SIZE (bytes) overrides it. */
#define DB_MAP_SIZE (UINT64_C(1) << 40)

enum db_flags {
        DB_READ_ONLY = 1 << 0,
        DB_FRESH = 1 << 1,    /* see struct db */
        DB_UNLOCKED = 1 << 2, /* with DB_READ_ONLY: leaves lock.mdb alone */
};

int db_open(const char *dir, int flags, struct db **ret); /* makes the files, 0600, unless read-only */
struct db *db_close(struct db *d);
bool db_is_ours(const struct db *d); /* not opened by the process we were forked from */
int db_usable(struct db *d);         /* 0; -EIO: damaged, or opened by the process we were forked from */
bool db_is_current(struct db *d);    /* nobody has made the index anew since */

/* Marks the index. The handle goes on being used: for a value that is damaged on a sound page. */
void db_mark(struct db *d, const char *what);
/* Marks it and ends the handle's use. */
void db_condemn(struct db *d, const char *what);
/* The same; -EIO. A command that has printed nothing yet is started anew and does not return. */
int db_damaged(struct db *d, const char *what);

int db_begin(struct db *d, bool write, MDB_txn **ret);
int db_renew(struct db *d, MDB_txn *txn);
void db_reset(struct db *d, MDB_txn *txn);
int db_commit(struct db *d, MDB_txn *txn);
void db_abort(struct db *d, MDB_txn *txn);
int db_table(struct db *d, MDB_txn *txn, const char *name, bool create, MDB_dbi *ret);

/* A copy; `ret` NULL: only whether it is there. -ENOENT without a sentence. */
int db_get(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct blob *ret);
int db_put(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key, struct slice value);
int db_delete(struct db *d, MDB_txn *txn, MDB_dbi dbi, struct slice key);
int db_stat(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_stat *ret);

int db_cursor(struct db *d, MDB_txn *txn, MDB_dbi dbi, MDB_cursor **ret);
void db_cursor_close(struct db *d, MDB_cursor *c);
/* The key goes to `key` (room for 511 bytes). The value, when asked for, lies in the map: copy it with db_copy(), touch it no other way. For
 * MDB_SET_RANGE, *key_size and key are also what to look for. */
int db_cursor_get(struct db *d, MDB_cursor *c, MDB_cursor_op op, uint8_t key[512], size_t *key_size, struct slice *ret_value);
int db_copy(struct db *d, void *to, struct slice from);

uint64_t db_last_txn(struct db *d); /* number of the newest committed transaction, of any process */
int db_info(struct db *d, MDB_envinfo *ret);
void db_clear_readers(struct db *d); /* frees the reader slots of dead processes */
int db_sync(struct db *d);
