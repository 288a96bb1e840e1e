/* Shared by the parts of the store: store.c (transactions), store_together.c (updates that share one), store_walk.c, store_open.c (handles),
 * store_index.c (the index opened and rebuilt), store_replay.c (the journal applied), store_care.c (checking, compacting) and store_mend.c. */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "cache/store/codec.h"
#include "cache/store/db.h"
#include "cache/store/journal.h"
#include "cache/store/store.h"

/* An open index. The environment has the one in force; an older one, damaged or replaced, lives until its last transaction ends. */
struct index {
        struct db *db;
        unsigned refs; /* under pool_lock: the environment's, and one for each transaction */
        MDB_dbi meta;  /* format, and how far the journal is applied */
        struct {
                MDB_dbi dbi;
                bool present; /* false: not made yet (read-only), so empty */
        } tables[DB_TABLES];
        struct store_txn *pool; /* under pool_lock: read transactions that were reset */
};

/* The state shared by all handles of one folder in this process, since a process may open an LMDB environment only once. */
struct environment {
        unsigned refs; /* under the registry's lock */
        dev_t device;
        ino_t inode;              /* of the folder */
        LIST_ENTRY(environment) next; /* in the registry */
        char *dir;
        bool read_only;
        int open_fd;             /* shared lock while open, so that a repair can be alone; -1 on a read-only disk */
        int write_fd;            /* locked by the process that writes */
        struct journal *journal; /* NULL when read-only and there is none */

        pthread_mutex_t writer;        /* held by the thread that writes, around write_fd's lock */
        char *tables[DB_TABLES];       /* names */
        size_t n_tables;
        bool index_anew, journal_anew; /* under writer: rebuilt since opening, not reported yet */
        bool index_absent;             /* under writer: the index was rebuilt because there was none */
        bool journal_lost;             /* under writer: a part of the journal is gone; it must be rewritten from the index */
        struct buffer scratch;         /* under writer: the frame being put */
        uint64_t readers_cleared_ns;   /* under writer */

        pthread_mutex_t pool_lock;
        struct index *index; /* under pool_lock; changed under writer as well */
};

STAILQ_HEAD(update_list, update);

/* Updates of one handle that wait for the next commit. Not shared by handles: another may be read-only. */
struct together {
        pthread_mutex_t lock;
        struct update_list waiting; /* under lock; the leader's is first until its transaction begins */
        bool is_led;                /* under lock */
};

struct store {
        struct environment *env;
        char *dir;
        bool read_only;
        struct together together;
};

struct store_txn {
        struct store *store;
        struct environment *env;
        struct index *index;
        MDB_txn *txn;
        bool write;
        bool was_read;          /* the caller has seen data of it */
        int error;              /* of an earlier put, or of a restart: it can only be aborted */
        struct store_txn *next; /* in the pool */

        /* writing */
        struct journal_position at;    /* the journal is applied up to here, including a group that a dead process left */
        struct journal_position start; /* of this transaction's group */
        struct buffer group;
        uint64_t n_records;
};

/* store_index.c. Opens the index; if it is damaged, or with `anew`, rebuilds it from the journal first. Under the write lock.
 * `cut`: no other process has the store open; cuts off what follows the journal's last whole group. `check`: checks every page first. */
int index_open(struct environment *e, bool cut, bool check, bool anew, struct index **ret);
void index_close(struct environment *e);
/* Holds the index in force. A damaged one is first rebuilt; one that another process replaced is first reopened. `locked`: the caller has the
 * write lock. */
int index_enter(struct environment *e, bool locked, struct index **ret);
void index_leave(struct environment *e, struct index *x); /* NULL is fine */

extern _Thread_local unsigned open_transactions; /* number of open ones in this thread, of any store */

enum write_flags {
        WRITE_WAITS = 1 << 0,   /* else -EAGAIN without a sentence while another writes */
        WRITE_LACKING = 1 << 1, /* begins even if a part of the journal is lost: for rewriting the journal only */
};
/* Begins a write transaction. -ENODATA without a sentence: a part of the journal is lost. */
int write_begin(struct store *s, unsigned flags, struct store_txn **ret);

#define META_TABLE   "@store"
#define META_FORMAT  "format"  /* u32 */
#define META_APPLIED "journal" /* u64 segment, u64 offset: up to where the journal is applied */
#define STORE_FORMAT 1

/* The number of the table of this name; n_tables: it is not ours, probably another version's. */
size_t table_named(const struct environment *e, struct slice name);
static inline MDB_dbi txn_dbi(const struct store_txn *t, size_t table)
{
        return t->index->tables[table].dbi;
}
static inline bool txn_has(const struct store_txn *t, size_t table)
{
        assert(table < t->env->n_tables);
        return t->index->tables[table].present;
}
/* Call after `error`. True: the index was damaged, and the transaction, in which nothing was read yet, has restarted on another index. */
bool txn_begin_anew(struct store_txn *t, int error);
int txn_open_frame(struct store_txn *t, size_t table, struct slice key, struct slice frame,
                   struct blob *ret); /* decodes, or mend()s; *ret may point into `frame` */

/* store_walk.c. A walk over one table: keys and frames, copied out of the map. -ENOENT at the end. */
struct walk {
        struct db *db;
        MDB_cursor *cursor;
        uint8_t key[512], last[512];
        size_t key_size, last_size;
        char *frame; /* malloc'd; grows */
        size_t frame_size, capacity;
};
enum { WALK_KEYS = false, WALK_FRAMES = true }; /* of `frames` */
int walk_first(struct walk *w, struct db *db, MDB_txn *txn, MDB_dbi dbi, struct slice from, bool frames);
int walk_next(struct walk *w, bool frames);
void walk_done(struct walk *w);

/* The environment's write lock, between threads and, unless it is read-only, processes. -EAGAIN without a sentence: another has it, and `wait` is
 * false. */
int environment_lock(struct environment *e, bool wait);
void environment_unlock(struct environment *e);

/* store_mend.c. For a value that fails its checksum: *ret is the journal's last value. -ENOENT: it has none, or a later one may be lost. Other
 * errors: the journal cannot be read. */
int mend(struct store_txn *t, size_t table, struct slice key, struct blob *ret);
/* The journal's last frame of a key, up to a position. -ENOENT: it has none, or a later one may be lost: an outdated value is worse than
 * none. */
int journal_frame(struct environment *e, struct journal_position upto, struct slice table, struct slice key, struct blob *ret);

/* store_care.c. Writes a compacted segment with all that the index has; *ret_segment is in force once `txn` is committed. */
int compact_index(struct environment *e, struct index *x, MDB_txn *txn, struct journal_position at, uint64_t *ret_segment);

int meta_get(struct db *db, MDB_txn *txn, MDB_dbi meta, const char *key, size_t size, struct blob *ret);
int meta_put(struct db *db, MDB_txn *txn, MDB_dbi meta, const char *key, struct slice value);
int applied_get(struct db *db, MDB_txn *txn, MDB_dbi meta, struct journal_position *ret); /* {0, 0}: nothing applied */
int applied_put(struct db *db, MDB_txn *txn, MDB_dbi meta, struct journal_position at);

/* Applies to *txn what the journal has beyond *at, under the write lock. With `alone` (the index is not in force yet) it commits now and then and
 * begins another transaction, so a replay may be long. Adds damaged places to *damaged. -EIO: the index is older than the journal. */
int replay(struct environment *e, struct index *x, bool alone, MDB_txn **txn, struct journal_position *at, uint64_t *damaged);
