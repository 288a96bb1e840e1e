/* The store: tables of keys and values, kept for good. It knows nothing of solvers.
 *
 * Shape. One LMDB environment (<dir>/lmdb) with named tables, and an append-only journal (<dir>/journal/) of every put
 * and delete. The journal is the write-ahead log: a commit appends its records and syncs them,
 * then commits LMDB without syncing its meta page (MDB_NOMETASYNC), and records in LMDB up to where the journal is applied. So a
 * commit costs the same two syncs as bare LMDB's, `kill -9` or a power cut loses at most the transaction in flight, and LMDB
 * itself can be thrown away: store_open() replays what LMDB has not applied, be it all.
 *
 * Values are framed (codec.h). One that does not check out is answered from the journal; if that has no certain last word on it, it
 * counts as absent: -ENOENT.
 *
 * LMDB trusts its pages, which have no checksums. So before LMDB writes, each page that it is going to read is looked at (pages.h),
 * and a fault inside its map while it reads is caught (guard.h). An index that is odd in any way is not mended: before the next transaction a
 * new one is made from the journal (store_index.c). Other processes notice and change over. A transaction that stands on the damage ends with
 * -EIO, unless nothing was read in it yet: then it begins anew. store_update() runs once more. Read-only nothing can be made anew: -EIO
 * for all later calls. What LMDB does not notice in a damaged page it reads (a key that is hidden, a page as it was earlier) is found by
 * store_check(), which compares index and journal in both directions. A journal that lost a part is written anew from the index, which
 * is compared with what is left of it first.
 *
 * Threads. A store may be used by any thread and any number of processes. One write transaction at a time (LMDB's lock, which
 * a dead process frees). Read transactions are per thread, short, and never held over a wait: they keep old pages from reuse.
 * A thread that writes must end its transaction before it begins another (-EDEADLK), the one-shot forms included. A forked child
 * must open the store anew.
 *
 * $SOLVERFS_MAP_SIZE bounds the address space reserved for the index, and with it the index: 1 TiB, or what the system gives.
 *
 * Errors: -ENOENT (no such key), -ENOSPC (disk or map full; nothing of the transaction is kept), -EROFS (opened read-only),
 * -EIO (damaged; the next transaction finds it made anew), -EPROTONOSUPPORT (written by a newer or older solverfs), -ENOMEM. All with a
 * sentence. After a put or delete failed (other than -ENOENT) the transaction can only be ended: committing it returns that error.
 */
#pragma once

#include "cache/base/util.h"

struct store;
struct store_txn;

enum store_flags {
        STORE_CREATE = 1 << 0,    /* make it when the folder is empty or absent */
        STORE_READ_ONLY = 1 << 1, /* also chosen, with a warning, when the disk is read-only */
        STORE_CHECK = 1 << 2,     /* looks at every page of the index before it is used; not when read-only */
};

#define STORE_KEY_MAX 480 /* bytes in a key */

/* A table is named for good. Its number is its place in `tables`, which is copied; all handles of one store in a process have the same ones. */
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

/* A copy: what is pointed to in the map could fault in the hands of the caller. -ENOENT comes without a sentence. */
int store_get(struct store_txn *t, size_t table, struct slice key, struct blob *ret);
bool store_has(struct store_txn *t, size_t table, struct slice key); /* without checking the value */
int store_put(struct store_txn *t, size_t table, struct slice key, struct slice value);
int store_delete(struct store_txn *t, size_t table, struct slice key); /* -ENOENT when absent */

/* A walk over the keys that begin with `prefix` and are not below `from` (both may be empty), in byte order:
 *
 *     cleanup_walk struct store_walk w = {.store = s, .table = TABLE, .prefix = prefix};
 *     while ((r = store_walk(&w)) > 0)
 *             … w.key, w.value …
 *
 * `store`: in a read transaction of its own, which ends with the last key; `txn` instead: in the caller's, which may get, put and delete on the way. */
struct store_walk {
        struct store *store;
        struct store_txn *txn;
        size_t table;
        struct slice prefix, from;
        bool keys_only; /* values stay empty, and nothing is decoded */

        struct slice key, value; /* until the next call */
        struct walk *at;         /* ours, as is what follows */
        struct blob decoded;
};
int store_walk(struct store_walk *w); /* 1; 0: there are no more; -errno */
void store_walk_done(struct store_walk *w);
#define cleanup_walk cleanup(store_walk_done)

/* A walk that calls fn with each key and value, until it returns non-zero, which is then returned (else 0). */
typedef int (*store_each_fn)(void *user, struct slice key, struct slice value);
int store_each(struct store_txn *t, size_t table, struct slice prefix, struct slice from, bool values, store_each_fn fn,
               void *user);

/* A write transaction as a loop, whose body leaves in `r` what it came to. It is committed unless that is other than 0; and runs once more when the index
 * turned out to be damaged on the way and was made anew. So the body may run twice, and what it does besides must bear that. The loop ends by itself: no
 * break, no return. Nothing begins where `r` says before that there is nothing to do.
 *
 *     struct store_update u = {.store = s};
 *     while (store_update_begins(&u))
 *             u.r = store_put(u.txn, …);
 *     return u.r;
 *
 * For all that took long to work out. */
struct store_update {
        struct store *store;
        struct store_txn *txn;
        int r;
        unsigned tries; /* ours */
};
bool store_update_begins(struct store_update *u);
/* The same of a function. */
typedef int (*store_update_fn)(void *user, struct store_txn *t);
int store_update(struct store *s, store_update_fn fn, void *user);

/* The same, in one commit with those of other threads that came while the last commit was under way: a slow disk then limits the commits and
 * not the updates. It returns when its commit is durable, and delays none that comes alone. fn may be run by another thread, behind
 * others in the same transaction, and again when one of those failed; no update fails for another one's sake. For small ones that come often. */
int store_update_together(struct store *s, store_update_fn fn, void *user);
/* Updates of this handle that wait for the next commit to begin. */
size_t store_waiting(struct store *s);

/* One-shot forms, a transaction each. */
int store_fetch(struct store *s, size_t table, struct slice key, struct blob *ret);
int store_set(struct store *s, size_t table, struct slice key, struct slice value);
int store_visit(struct store *s, size_t table, struct slice prefix, bool values, store_each_fn fn, void *user); /* store_each() from its beginning */

/* -- care ------------------------------------------------------------------------------------------------------- */

/* A number that changes with every committed write of any process: cheap, to notice change. */
uint64_t store_generation(struct store *s);

struct store_report {
        uint64_t values, bytes;                    /* checked */
        uint64_t damaged, dropped;                 /* values that did not check out; of those, absent now */
        uint64_t restored;                         /* and those that the journal had */
        uint64_t journal_records, journal_damaged; /* records read; skipped because their checksum was wrong */
        bool rebuilt;                              /* LMDB was thrown away and made anew */
};
/* Checks every page, every value and every journal record. Unless `look_only`, an index in which anything is odd is made anew, and a journal
 * that lacks something is written anew. */
int store_check(struct store *s, bool look_only, struct store_report *ret, void (*say)(void *user, const char *line), void *user);

/* Writes the journal anew with only what is alive; others may go on using the store, but writers wait. When it fails, the old one stays
 * in force. For gc, when store_stats() shows much more journal than tables. */
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
