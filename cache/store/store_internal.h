/* Shared by the parts of the store: store.c (transactions), store_together.c (updates that share one), store_walk.c, store_open.c (opening), store_index.c (LMDB's folder),
 * store_replay.c (the journal applied), store_care.c (checking, compacting) and store_mend.c. */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "cache/store/codec.h"
#include "cache/store/db.h"
#include "cache/store/journal.h"
#include "cache/store/store.h"

/* The state shared by all handles of one folder in this process, since a process may open an LMDB environment only once. */
struct environment {
        unsigned refs; /* under the registry's lock */
        dev_t device;
        ino_t inode;              /* of the folder */
        struct environment *next; /* in the registry */
        char *dir;
        bool read_only;
        int open_fd;  /* shared lock while open, so that a rebuild knows that nobody is; -1 on a read-only disk */
        int write_fd; /* locked by the process that writes */
        struct db *db;
        MDB_dbi meta; /* what the store knows of itself */
        bool has_meta;
        struct journal *journal; /* NULL when read-only and there is none */

        pthread_mutex_t writer;        /* held by the thread that writes, around write_fd's lock */
        bool index_anew, journal_anew; /* under writer: made anew since it was opened, and not reported yet */
        struct buffer scratch;         /* under writer: the frame being put */
        uint64_t readers_cleared_ns;   /* under writer */

        pthread_mutex_t pool_lock;
        pthread_cond_t pool_changed;
        struct store_txn *pool; /* under pool_lock: read transactions that were reset */
        unsigned n_open;        /* under pool_lock: transactions of this process that have begun and not ended */
        bool healing;           /* under pool_lock: no other may begin */
        struct store *handles;  /* under the registry's lock */
};

struct table {
        char *name;
        bool journaled;
        bool present; /* else it is not there yet (read-only), and empty */
        MDB_dbi dbi;
};

STAILQ_HEAD(update_list, update);

/* Updates that wait for the next commit, of one handle: a table's number means another one's in another handle. */
struct together {
        pthread_mutex_t lock;
        struct update_list waiting; /* under lock; the leader's own is the first until it has begun a transaction */
        bool is_led;                /* under lock */
};

struct store {
        struct environment *env;
        struct store *next; /* of the environment's handles */
        bool journal_lost;  /* while opening: the index has what the journal lost */
        char *dir;
        bool read_only;
        struct together together;
        size_t n_tables;
        struct table tables[];
};

#define ARENA_SIZE 4096

struct store_txn {
        struct store *store;
        struct environment *env;
        MDB_txn *txn;
        bool write;
        int error;              /* of an earlier put: nothing more can be done but to give up */
        unsigned renewed;       /* reading: how often it began again, on an index made anew */
        struct store_txn *next; /* in the pool */

        /* writing */
        struct journal_position found; /* applied when it began */
        struct journal_position at;    /* applied by now: behind what a dead process left */
        struct journal_position start; /* of this transaction's group */
        struct buffer group;
        uint64_t n_records;

        /* Small values are copied here: one that is pointed to in the map could fault in the hands of the caller. */
        size_t arena_used;
        char arena[ARENA_SIZE];
};

/* Opens LMDB; a damaged one is set aside and begun anew. Only alone it can be looked at: others may be writing. Under the write lock. */
int index_open(struct environment *e, bool alone);
/* Renames a damaged index instead of deleting it, so that it can be examined. Only the last one is kept. */
int index_set_aside(const char *dir);

/* Makes a damaged index anew while the store is open, once every transaction of this process has ended; a thread that has one open itself
 * cannot. 0; -EIO with why not. */
int heal(struct environment *e);
extern _Thread_local unsigned transactions; /* this thread's, in any store */

/* Begins a write transaction. `lost` goes on although a part of the journal is gone: only to write it anew. -ENODATA without a sentence:
 * a part is gone. */
int write_begin(struct store *s, bool lost, struct store_txn **ret);

#define META_TABLE   "@store"
#define META_FORMAT  "format"  /* u32 */
#define META_APPLIED "journal" /* u64 segment, u64 offset: up to where the journal is applied */
#define STORE_FORMAT 1

struct table *txn_table(struct store_txn *t, size_t table);
/* Is the error that of a damaged index, and has reading begun again on one made anew? Pointers given out before are then invalid. */
bool txn_begin_again(struct store_txn *t, int error);
int txn_open_frame(struct store_txn *t, const struct table *table, struct slice key, struct slice frame,
                   struct blob *ret); /* *ret may point into `frame` */

/* store_walk.c. A walk over one table: keys and frames, copied out of the map. -ENOENT at the end. */
struct walk {
        struct environment *env;
        MDB_cursor *cursor;
        uint8_t key[512], last[512];
        size_t key_size, last_size;
        char *frame; /* malloc'd; grows */
        size_t frame_size, capacity;
};
int walk_first(struct walk *w, struct environment *e, MDB_txn *txn, MDB_dbi dbi, struct slice from, bool frames);
int walk_next(struct walk *w, bool frames);
void walk_done(struct walk *w);

/* The environment's write lock, between threads and processes. */
int environment_lock(struct environment *e);
void environment_unlock(struct environment *e);
bool environment_trylock(struct environment *e); /* without waiting */

/* Looks at all pages of the index as this transaction sees it (pages.h): before LMDB is let write where damage was found. */
int check_pages(struct environment *e, MDB_txn *txn, bool writing);

/* Repairs a value that fails its check: *ret is the value put back from the journal; -ENOENT: the journal has none, and the value was
 * dropped. Another error: the journal could not be read, and the value is left as it is. */
int mend(struct store_txn *t, const struct table *table, struct slice key, struct blob *ret);

int applied_get(struct environment *e, MDB_txn *txn, struct journal_position *ret); /* {0, 0} when nothing was */
int applied_put(struct environment *e, MDB_txn *txn, struct journal_position at);

/* Applies to `*txn` what the journal has beyond *at, under the write lock. With `alone` (nobody else has the store open) it
 * commits and begins anew on the way, so that it can be long. */
int replay(struct environment *e, const struct table *tables, size_t n_tables, bool alone, MDB_txn **txn,
           struct journal_position *at, struct journal_counts *counts);
