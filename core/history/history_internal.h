/* Shared by the files of this room.
 *
 * The index, all keys led by the repository's number (4 bytes, big end first, like every number here):
 *   commits   ‖ number            → oid(20) committed(8) indexed(8) parents' numbers(4 each)
 *   oids      ‖ oid               → number(4)
 *   refs      ‖ "count"           → commits(4) generation(8)
 *             ‖ "list"            → head(4), then for each ref: kind(1) number(4) length(2) name, by kind and name
 *   sources   ‖ digest of paths ‖ number → digest
 *
 * A commit is indexed after its parents, in the same transaction or an earlier one. So all ancestors of an indexed commit are indexed, even after
 * indexing was killed half-way. */
#pragma once

#include <pthread.h>

#include "core/git/git.h"
#include "core/history/history.h"

#define COMMIT_FIXED (GIT_OID_RAWSZ + 16)
#define N_IDLE       4 /* handles kept open */

/* -- handles: threads cannot share libgit2's, and opening one takes a tenth of a millisecond ----------------------- */

/* Uses of a handle before it is closed: libgit2 keeps up to 16 MB of unpacked objects with each, and frees them only then. */
#define HANDLE_USES 1000

struct handle {
        struct history *history;
        git_repository *git;
        unsigned uses; /* before this one */
};
int history_handle(struct history *h, struct handle *ret);
void history_handle_done(struct handle *handle);
#define cleanup_handle cleanup(history_handle_done)

/* -- the history -------------------------------------------------------------------------------------------------- */

/* The descendants of a commit; the table only grows, with the index. */
struct descendants {
        uint32_t of;
        uint32_t n;   /* commits examined: the numbers below n */
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
        struct ref_list *listed;    /* under lock; owned: as last read; NULL: not read yet */
        struct commit_order *order; /* under lock; owned: as last made; NULL: not made yet */
        struct handle idle[N_IDLE]; /* under lock; handles not in use */
        unsigned n_idle;            /* under lock */
        struct descendants descendants[N_DESCENDANTS]; /* under lock */
        unsigned next_descendants;                     /* under lock: the one to be replaced next */
};

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
int ref_list_read(struct history *h, struct store_txn *t, struct ref_list **ret); /* as in the index; empty if there is none */
#define cleanup_refs cleanup(ref_list_unrefp)
/* history_refs() in a transaction of the caller's. */
int history_refs_in(struct history *h, struct store_txn *t, struct ref_list **ret);

/* Indexes all new commits that the repository's refs reach, then the refs. The caller holds the repository's lock. */
int history_index(struct history *h, git_repository *git, const struct progress *p, uint32_t *ret_new);

/* Finds why a walk from these commits or tags failed, as libgit2 does not say where: -EIO with the name of an object that is there and cannot be
 * read; 0: there is none. */
int history_name_unreadable(git_repository *git, const git_oid *tips, size_t n);

/* -- fetching and copying ------------------------------------------------------------------------------------------ */

#define FETCH_BRANCHES "+refs/heads/*:refs/heads/*"
#define FETCH_TAGS     "+refs/tags/*:refs/tags/*"

/* Makes a repository that fetches from `url` in an empty folder, or a new config for a repository that has none. */
int history_make_bare(const char *path, const char *url, git_repository **ret);
/* Copies all objects as files. -EXDEV: `from` lacks some, as it borrows them or is a partial clone. After a failure `to` is unusable. */
int history_copy_objects(git_repository *from, git_repository *to);

/* True if a pack of the repository, or of one from which it borrows objects, comes from a partial clone. */
bool history_is_partial(git_repository *git);

/* Copies new objects, and sets branches, tags and HEAD as in the other repository. With `under` ("refs/submodules/<x>/") branches and tags go there,
 * and HEAD stays. Of a partial clone, takes what is there. */
int history_fetch_local(git_repository *from, git_repository *to, const char *under, const struct progress *p);

/* A fetch from another machine, in a process of its own (fetch_helper.c). It never prompts: it tries the ssh agent's keys, and fails if they are
 * refused. -ETIMEDOUT: the server was silent. */
struct remote_fetch {
        git_repository *git;
        const char *url;
        const char *under; /* as for history_fetch_local(); NULL: sets our branches, tags and HEAD */
        int lock;          /* the repository's; that process holds it, too, until it ends */
        uint64_t silence_ns;
        const struct progress *progress;
};
int history_fetch_remote(const struct remote_fetch *q);
/* Fetches from an address, local or remote, into our repository, whose lock the caller holds (`lock`). `under`: as above. */
int history_fetch(struct history *h, git_repository *git, const char *url, const char *under, int lock, const struct progress *p);

/* -- the repository's lock: one process at a time fetches, indexes or makes snapshots -------------------------------- */

/* Waits for the lock, then removes git's lock files and unfinished objects, which a killed solverfs left. If a person's git is writing there, its
 * files go, too, and that git fails. -ECANCELED: `p` (may be NULL) said so while another process held the lock. */
int history_lock(const char *repos_dir, const char *name, const struct progress *p, int *ret_fd);
