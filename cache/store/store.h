/* The store: tables of keys and values, kept for good. It knows nothing of solvers.
 *
 * Shape. One LMDB environment (<dir>/lmdb) with named tables, and an append-only journal (<dir>/journal/) of every put
 * and delete. The journal is the write-ahead log: a commit appends its records and syncs them, then commits LMDB without syncing
 * its meta page (MDB_NOMETASYNC), and records in LMDB up to where the journal is applied. So a commit costs two syncs, as in bare
 * LMDB; `kill -9` or a power cut loses at most the transaction in flight; and LMDB's files can be deleted: store_open() replays all
 * that LMDB has not applied.
 *
 * Values are framed (codec.h). If a value fails its checksum, the journal's is returned. If the journal's last word on the key is not
 * certain, the key counts as absent: -ENOENT.
 *
 * LMDB trusts its pages, which have no checksums. So each page that LMDB will read for a write is checked first (pages.h), and a fault
 * inside its map during a read is caught (guard.h). A damaged index is never repaired: before the next transaction a new one is built from
 * the journal (store_index.c), and other processes change over to it. A transaction on the damaged index ends with -EIO; if nothing was
 * read in it yet, it restarts on the new one. store_update() runs its body again. A read-only store cannot rebuild it: calls are -EIO until
 * another process has. Damage that LMDB does not notice (a hidden key, a page in an earlier state) is found by store_check(), which compares index and
 * journal in both directions. A journal that lost a part is rewritten from the index, after the index is compared with the rest of the
 * journal.
 *
 * Threads. Any number of threads and processes may use a store. One write transaction at a time (the lock of a dead process is free).
 * Read transactions belong to a thread, are short, and are never held during a wait: they keep old pages from reuse. A thread that
 * writes must end its transaction before it begins another (-EDEADLK), one-shot forms included. A forked child must open the store
 * again.
 *
 * $SOLVERFS_MAP_SIZE (bytes) bounds the address space reserved for the index, and so the index's size. Default: 1 TiB, or what the system gives.
 *
 * Errors: -ENOENT (no such key), -ENOSPC (disk or map full; nothing of the transaction is kept), -EROFS (opened read-only),
 * -EIO (damaged; the next transaction rebuilds the index), -EPROTONOSUPPORT (written by a newer or older solverfs), -EFBIG (the value or
 * the transaction is too large), -EBUSY (a process with this one's number has the store open in another container), -EAGAIN (too many
 * readers at once), -ENOMEM. All with a sentence. After a failed put or delete (other than -ENOENT) the transaction can only be ended:
 * committing it returns that error.
 */
#pragma once

#include "cache/base/util.h"

struct store;
struct store_txn;

enum store_flags {
        STORE_CREATE = 1 << 0,    /* makes a store if the folder is empty or absent */
        STORE_READ_ONLY = 1 << 1, /* also chosen, with a warning, when the folder cannot be written to */
        STORE_CHECK = 1 << 2,     /* checks every page of the index first; ignored when read-only */
};

#define STORE_KEY_MAX 480 /* bytes in a key */

/* A table's name never changes. Its number is its place in `tables`, which is copied. All opens of a store in a process must give the same ones. */
int store_open(const char *dir, const char *const *tables, size_t n_tables, int flags, struct store **ret);
struct store *store_close(struct store *s); /* NULL; no transaction may be open */
const char *store_dir(const struct store *s);
bool store_read_only(const struct store *s);

/* -- transactions ----------------------------------------------------------------------------------------------- */

int store_read(struct store *s, struct store_txn **ret);
int store_write(struct store *s, struct store_txn **ret);
int store_commit(struct store_txn *t);            /* consumes t in any case; 0 means durable (write) */
struct store_txn *store_end(struct store_txn *t); /* aborts, or ends reading; NULL; NULL is fine */
DEFINE_CLEANUP(struct store_txn *, store_end)
#define cleanup_txn cleanup(store_endp)

/* Copies the value (blob_done()): a pointer into the map could fault in the caller. -ENOENT without a sentence. */
int store_get(struct store_txn *t, size_t table, struct slice key, struct blob *ret);
bool store_has(struct store_txn *t, size_t table, struct slice key); /* does not check the value */
int store_put(struct store_txn *t, size_t table, struct slice key, struct slice value);
int store_delete(struct store_txn *t, size_t table, struct slice key); /* -ENOENT when absent */

/* A walk over the keys that begin with `prefix` and are not below `from` (both may be empty), in byte order:
 *
 *     cleanup_walk struct store_walk w = {.store = s, .table = TABLE, .prefix = prefix};
 *     while ((r = store_walk(&w)) > 0)
 *             … w.key, w.value …
 *
 * With `store`: in its own read transaction, which ends with the last key. With `txn`: in the caller's, which may get, put and delete meanwhile. */
struct store_walk {
        struct store *store;
        struct store_txn *txn;
        size_t table;
        struct slice prefix, from;
        bool keys_only; /* values stay empty and are not decoded */

        struct slice key, value; /* until the next call */
        struct walk *at;         /* ours, as is what follows */
        struct blob decoded;
};
int store_walk(struct store_walk *w); /* 1; 0: there are no more; -errno */
void store_walk_done(struct store_walk *w);
#define cleanup_walk cleanup(store_walk_done)

/* A write transaction as a loop. Its body sets `r`; 0 commits. If the index proves damaged and is rebuilt, the body runs a second time, so its other
 * effects must be repeatable. The loop ends by itself: no break, no return. If `r` is not 0 beforehand, nothing begins. For results that took long to
 * compute: damage of the index does not lose them.
 *
 *     struct store_update u = {.store = s};
 *     while (store_update_begins(&u))
 *             u.r = store_put(u.txn, …);
 *     return u.r; */
struct store_update {
        struct store *store;
        struct store_txn *txn;
        int r;
        bool at_once;   /* -EAGAIN, without a sentence, if others are writing */
        unsigned tries; /* ours */
};
bool store_update_begins(struct store_update *u);
/* The same with a function as the body. */
typedef int (*store_update_fn)(void *user, struct store_txn *t);
int store_update(struct store *s, store_update_fn fn, void *user);

/* The same, in one commit with updates of other threads that arrived during the last commit: a slow disk then limits the commits, not the
 * updates. Returns when the commit is durable; a lone update is not delayed. fn may be run by another thread, after others in the same
 * transaction, and again if one of those failed; no update fails because of another. For small, frequent updates. */
int store_update_together(struct store *s, store_update_fn fn, void *user);
/* The number of this handle's updates that wait for the next commit to begin. */
size_t store_waiting(struct store *s);

/* One-shot forms: each is a transaction. */
int store_fetch(struct store *s, size_t table, struct slice key, struct blob *ret);
int store_set(struct store *s, size_t table, struct slice key, struct slice value);

/* -- care ------------------------------------------------------------------------------------------------------- */

/* A number that changes with every committed write of any process. Cheap. */
uint64_t store_generation(struct store *s);

struct store_report {
        uint64_t values, bytes;                    /* checked */
        uint64_t damaged, dropped;                 /* values damaged, outdated or missing in the index; of these, now absent */
        uint64_t restored;                         /* of these, restored from the journal */
        uint64_t journal_records, journal_damaged; /* records read; damaged places */
        bool rebuilt;                              /* the index was rebuilt from the journal */
        bool absent;                               /* there was no index, which is no damage: `say` gets no line */
        bool lost;                                 /* there was no index, and a part of the journal was gone: `say` gets no line */
};
/* Checks every page, every value and every journal record. Unless `look_only` or the store is read-only, rebuilds a damaged index and
 * rewrites a journal that lacks something. `say` (may be NULL) gets a line for each problem. */
int store_check(struct store *s, bool look_only, struct store_report *ret, void (*say)(void *user, const char *line), void *user);

/* Rewrites the journal with live values only; readers continue, writers wait. A failure removes nothing of the old journal. For gc, when
 * store_stats() shows much more journal than tables. */
int store_compact(struct store *s);

struct store_stats {
        uint64_t map_size, used_bytes, journal_bytes;
        struct {
                const char *name;
                uint64_t entries, bytes;
        } tables[32];
        size_t n_tables;
};
int store_stats(struct store *s, struct store_stats *ret);

/* -- big-endian numbers for keys, so that byte order is number order ------------------------------------------------ */

static inline void key_u32(uint8_t *p, uint32_t n)
{
        p[0] = (uint8_t)(n >> 24), p[1] = (uint8_t)(n >> 16), p[2] = (uint8_t)(n >> 8), p[3] = (uint8_t)n;
}
static inline uint32_t key_get_u32(const uint8_t *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline void key_u64(uint8_t *p, uint64_t n)
{
        key_u32(p, (uint32_t)(n >> 32)), key_u32(p + 4, (uint32_t)n);
}
static inline uint64_t key_get_u64(const uint8_t *p)
{
        return (uint64_t)key_get_u32(p) << 32 | key_get_u32(p + 4);
}
