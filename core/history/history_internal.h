/* Inside the history module.
 *
 * The index, all keys led by the repository's number (4 bytes, big end first, like every number here):
 *   commits   ‖ number            → oid(20) committed(8) indexed(8) parents' numbers(4 each)
 *   oids      ‖ oid               → number(4)
 *   refs      ‖ "count"           → commits(4) generation(8)
 *             ‖ "list"            → head(4), then for each ref: kind(1) number(4) length(2) name, by kind and name
 *   sources   ‖ digest of paths ‖ number → digest
 *
 * A commit is indexed after its parents, in the same transaction or an earlier one: what is indexed has all its ancestors indexed,
 * also when indexing was killed half-way. */
#pragma once

#include <pthread.h>

#include "core/git/git.h"
#include "core/history/history.h"

#define COMMIT_FIXED (GIT_OID_RAWSZ + 16)
#define N_IDLE       4

/* The descendants of a commit; the table grows with the index, and never changes otherwise. */
struct descendants {
        uint32_t of;
        uint32_t n;   /* commits looked at: the numbers below it */
        uint8_t *has; /* owned; [n] */
};
#define N_DESCENDANTS 32

struct history {
        unsigned refs;
        struct store *store; /* borrowed */
        struct history_tables tables;
        uint32_t repository; /* number of the repository in the store */
        char *name, *repos_dir, *path;
        uint64_t silence_ns;
        pthread_mutex_t lock;
        struct ref_list *listed;    /* under lock; a ref; as last read, NULL: not yet */
        struct commit_order *order; /* the same */
        struct idle {
                git_repository *git;
                unsigned uses;
        } idle[N_IDLE];  /* under lock; handles not in use */
        unsigned n_idle; /* under lock */
        struct descendants descendants[N_DESCENDANTS]; /* under lock */
        unsigned next_descendants;                     /* under lock: the one that gives way */
};

/* -- handles: libgit2's are not to be shared between threads, and opening one costs a tenth of a millisecond ------- */

/* How often one is used before it is given up: libgit2 keeps up to 16 MB of unpacked objects with each, and gives nothing back before. */
#define HANDLE_USES 1000

struct handle {
        struct history *history;
        git_repository *git;
        unsigned uses; /* it had before this one */
};
int history_handle(struct history *h, struct handle *ret);
void history_handle_done(struct handle *handle);
#define cleanup_handle cleanup(history_handle_done)

/* The commit's object; -ESTALE when the repository has lost it. */
int history_object(struct history *h, git_repository *git, uint32_t number, git_commit **ret);

/* -- index ------------------------------------------------------------------------------------------------------- */

#define INDEX_KEY_MAX 64
struct index_key {
        uint8_t bytes[INDEX_KEY_MAX];
        size_t size;
};
static inline struct slice index_slice(const struct index_key *k)
{
        return SLICE(k->bytes, k->size);
}
struct index_key index_key(const struct history *h, const void *rest, size_t size);
struct index_key index_key_number(const struct history *h, uint32_t number);

/* The parents in a commit's record. */
static inline size_t record_n_parents(struct slice record)
{
        return record.size < COMMIT_FIXED ? 0 : (record.size - COMMIT_FIXED) / 4;
}
static inline uint32_t record_parent(struct slice record, size_t i)
{
        return key_get_u32((const uint8_t *)record.data + COMMIT_FIXED + 4 * i);
}

struct index_count {
        uint32_t commits;
        uint64_t generation;
};
int index_get_count(struct history *h, struct store_txn *t, struct index_count *ret); /* zeros when there is none */
int index_get_number(struct history *h, struct store_txn *t, const git_oid *oid, uint32_t *ret);

struct ref_list *ref_list_new(void);
void ref_list_add(struct ref_list *l, enum ref_kind kind, const char *name, uint32_t commit);
void ref_list_sort(struct ref_list *l); /* once all are added */
void ref_list_encode(const struct ref_list *l, struct buffer *ret);
int ref_list_read(struct history *h, struct store_txn *t, struct ref_list **ret); /* as the index has it; empty when there is none */
#define cleanup_refs cleanup(ref_list_unrefp)
/* history_refs() in a transaction of the caller's. */
int history_refs_in(struct history *h, struct store_txn *t, struct ref_list **ret);

/* Indexes all commits that the repository's refs reach and are not indexed, then the refs. The caller holds the repository's lock. */
int history_index(struct history *h, git_repository *git, const struct progress *p, uint32_t *ret_new);

#define FETCH_BRANCHES "+refs/heads/*:refs/heads/*"
#define FETCH_TAGS     "+refs/tags/*:refs/tags/*"

/* Makes an empty repository, which fetches from `url`, in a folder that is empty, or the config of one that has none. */
int history_make_bare(const char *path, const char *url, git_repository **ret);
/* Copies all objects as files. After a failure `to` is of no use. */
int history_copy_objects(git_repository *from, git_repository *to);

/* Brings what is new over, sets branches, tags and HEAD as the other repository has them. With `under` ("refs/submodules/<x>/") branches and tags
 * stand there, and HEAD stays. */
int history_fetch_local(git_repository *from, git_repository *to, const char *under, const struct progress *p);

/* Makes an address absolute. *ret_local is the repository of a local one, looked at: no fifos in the place of files, not shallow; else NULL. */
int history_address(const char *url, char ret[PATH_SIZE], git_repository **ret_local);

/* A fetch from another machine, in a process of its own (fetch_helper.c). It asks nobody: it tries the ssh agent's keys, and fails when they do
 * not do. -ETIMEDOUT: the server was silent. */
struct remote_fetch {
        git_repository *git;
        const char *url;
        const char *under; /* as above; NULL: branches and tags are ours, and HEAD */
        int lock;          /* the repository's: held until that process has ended, too */
        uint64_t silence_ns;
        const struct progress *progress;
};
int history_fetch_remote(const struct remote_fetch *q);
/* Fetches from an address, local or not, into a repository of ours that is locked. `under`: as above. */
int history_fetch(struct history *h, git_repository *git, const char *url, const char *under, int lock, const struct progress *p);

/* -- the repository's lock: one process at a time fetches, indexes or makes snapshots -------------------------------- */

/* -ECANCELED when `p` (may be NULL) says so while it is another's. */
int history_lock(const char *repos_dir, const char *name, const struct progress *p, int *ret_fd);
