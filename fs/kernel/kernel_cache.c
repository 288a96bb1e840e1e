/* Known of a file: whether it ever had a placeholder (a bit), which value its pages hold (a slot), and whether the kernel was told its size (a tree).
 * Known of a folder: the generation of its listing (a slot). */
#include "fs/kernel/kernel_cache.h"

#include <search.h>

#include "fs/tree/tree.h"

#define PLACED_BITS (1u << 20)
#define SEEN_SLOTS  4096
#define MIXED       (UINT64_MAX - 1) /* not a generation: parts of several were sent */

/* The last thing that the kernel was given of an inode. Inodes with the same hash share a slot: the last one has it, the others are not known. */
struct seen {
        uint64_t ino, token;
};

struct kernel_cache {
        pthread_mutex_t lock;
        /* under lock */
        uint8_t placed[PLACED_BITS / 8];  /* hashes of inodes that were given a placeholder size */
        struct seen listings[SEEN_SLOTS]; /* inode of a folder and the generation the kernel may have cached */
        struct seen pages[SEEN_SLOTS];    /* inode of a file whose value may change, and the token of its pages */

        pthread_mutex_t telling; /* held while the kernel gets a file's real size */
        void *told;              /* files whose size it knows, by tsearch(); under telling */
};

struct kernel_cache *kernel_cache_new(void)
{
        struct kernel_cache *k = allocate(1, sizeof(*k));

        pthread_mutex_init(&k->lock, NULL);
        pthread_mutex_init(&k->telling, NULL);
        return k;
}

void kernel_cache_free(struct kernel_cache *k)
{
        tdestroy(k->told, free);
        pthread_mutex_destroy(&k->telling);
        pthread_mutex_destroy(&k->lock);
        free(k);
}

static uint32_t ino_hash(uint64_t ino)
{
        return (uint32_t)((ino * UINT64_C(0x9e3779b97f4a7c15)) >> 32); /* Fibonacci hashing: Knuth, TAOCP vol. 3, 6.4 */
}

static struct seen *seen_slot(struct seen *table, uint64_t ino)
{
        return &table[ino_hash(ino) % SEEN_SLOTS];
}

/* Lock held. */
static void pages_forget(struct kernel_cache *k, uint64_t ino)
{
        struct seen *slot = seen_slot(k->pages, ino);

        if (slot->ino == ino)
                *slot = (struct seen){0};
}

void kernel_cache_placeholder(struct kernel_cache *k, uint64_t ino)
{
        cleanup_unlock pthread_mutex_t *held = hold(&k->lock);
        uint32_t bit = ino_hash(ino) % PLACED_BITS;

        k->placed[bit / 8] |= (uint8_t)(1 << bit % 8);
        pages_forget(k, ino);
}

bool kernel_cache_had_placeholder(struct kernel_cache *k, uint64_t ino)
{
        cleanup_unlock pthread_mutex_t *held = hold(&k->lock);
        uint32_t bit = ino_hash(ino) % PLACED_BITS;

        return k->placed[bit / 8] & 1 << bit % 8;
}

bool kernel_cache_listing(struct kernel_cache *k, uint64_t ino, uint64_t generation)
{
        cleanup_unlock pthread_mutex_t *held = hold(&k->lock);
        struct seen *slot = seen_slot(k->listings, ino);
        bool same = slot->ino == ino && slot->token == generation;

        if (slot->ino == ino && !same)
                *slot = (struct seen){0};
        return same;
}

/* A later part makes the pages MIXED if the first part is not recorded: the kernel dropped it, or another folder has taken the slot. */
void kernel_cache_listing_sent(struct kernel_cache *k, uint64_t ino, uint64_t generation, bool first)
{
        cleanup_unlock pthread_mutex_t *held = hold(&k->lock);
        struct seen *slot = seen_slot(k->listings, ino);

        if (slot->ino != ino)
                *slot = (struct seen){ino, first ? generation : MIXED};
        else if (first && slot->token != generation)
                slot->token = MIXED;
}

bool kernel_cache_swap_token(struct kernel_cache *k, uint64_t ino, uint64_t token)
{
        cleanup_unlock pthread_mutex_t *held = hold(&k->lock);
        struct seen *slot = seen_slot(k->pages, ino);
        bool same = slot->ino == ino && slot->token == token;

        *slot = (struct seen){ino, token};
        return same;
}

static void tell(struct fuse_session *fuse, fuse_ino_t ino, off_t pages, off_t offset, void *page, size_t n)
{
        struct fuse_bufvec b = FUSE_BUFVEC_INIT(n);

        b.buf[0].mem = page;
        fuse_lowlevel_notify_inval_inode(fuse, ino, pages, 0);
        if (offset >= PLACEHOLDER_SIZE) /* the first read finds out that a file is shorter */
                fuse_lowlevel_notify_store(fuse, ino, offset, &b, 0);
}

void kernel_cache_tell_size(struct kernel_cache *k, struct fuse_session *fuse, fuse_ino_t ino, off_t offset, void *page, size_t n)
{
        cleanup_unlock pthread_mutex_t *held = hold(&k->telling);
        uint64_t *made = allocate(1, sizeof(*made));

        *made = ino;
        if (*(uint64_t **)tsearch(made, &k->told, compare_u64) == made)
                tell(fuse, ino, -1, offset, page, n);
        else /* the kernel already knows it */
                free(made);
}

void kernel_cache_forget(struct kernel_cache *k, fuse_ino_t ino)
{
        uint64_t **found = tfind(&ino, &k->told, compare_u64), *told = found ? *found : NULL;
        cleanup_unlock pthread_mutex_t *held = NULL;

        tdelete(&ino, &k->told, compare_u64);
        free(told);
        held = hold(&k->lock);
        pages_forget(k, ino);
}

void kernel_cache_telling(struct kernel_cache *k)
{
        pthread_mutex_lock(&k->telling);
}

void kernel_cache_tell_value(struct fuse_session *fuse, fuse_ino_t ino, off_t offset, void *page, size_t n)
{
        tell(fuse, ino, 0, offset, page, n);
}

void kernel_cache_told(struct kernel_cache *k)
{
        pthread_mutex_unlock(&k->telling);
}
