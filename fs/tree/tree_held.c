/* Nodes whose numbers are hashes of what they are (inode.h): what the kernel knows of them, with how often it was told. */
#include "fs/tree/tree_internal.h"

#define SLOTS_FIRST 256u

struct held {
        uint64_t ino; /* 0: free */
        uint64_t times;
        struct inode inode;
};

/* Open addressing with linear probing, half full at most. */
struct held_nodes {
        pthread_mutex_t lock;
        /* under lock */
        struct held *slots; /* owned */
        size_t n, capacity; /* capacity: a power of two */
};

int held_nodes_new(struct held_nodes **ret)
{
        struct held_nodes *h = calloc(1, sizeof(*h));

        if (!h)
                return -ENOMEM;
        pthread_mutex_init(&h->lock, NULL);
        *ret = h;
        return 0;
}

struct held_nodes *held_nodes_free(struct held_nodes *h)
{
        if (!h)
                return NULL;
        free(h->slots);
        pthread_mutex_destroy(&h->lock);
        free(h);
        return NULL;
}

/* The slot of a number, or the free one where it would go. The number's lower bits are a hash already. */
static struct held *slot_of(struct held *slots, size_t capacity, uint64_t ino)
{
        size_t i = ino & (capacity - 1);

        while (slots[i].ino != 0 && slots[i].ino != ino)
                i = (i + 1) & (capacity - 1);
        return &slots[i];
}

static int resize(struct held_nodes *h, size_t capacity)
{
        struct held *slots = calloc(capacity, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < h->capacity; i++)
                if (h->slots[i].ino != 0)
                        *slot_of(slots, capacity, h->slots[i].ino) = h->slots[i];
        free(h->slots);
        h->slots = slots;
        h->capacity = capacity;
        return 0;
}

/* Lock held. Those behind it that it kept from their place move up: Knuth, TAOCP vol. 3, 6.4, algorithm R. */
static void slot_free(struct held_nodes *h, struct held *slot)
{
        size_t mask = h->capacity - 1, hole = (size_t)(slot - h->slots);

        for (size_t i = (hole + 1) & mask; h->slots[i].ino != 0; i = (i + 1) & mask) {
                size_t home = h->slots[i].ino & mask;

                if (((i - home) & mask) >= ((i - hole) & mask)) {
                        h->slots[hole] = h->slots[i];
                        hole = i;
                }
        }
        h->slots[hole].ino = 0;
        h->n--;
        if (h->capacity > SLOTS_FIRST && 8 * h->n < h->capacity)
                resize(h, h->capacity / 2); /* without memory it stays as it is */
}

int tree_hold(struct tree *t, const struct inode *i)
{
        struct held_nodes *h = t->held;
        uint64_t ino = inode_pack(*i);
        struct held *slot;
        int r = 0;

        if (!inode_is_hash(ino))
                return 0;
        pthread_mutex_lock(&h->lock);
        if (2 * h->n >= h->capacity)
                r = resize(h, MAX(2 * h->capacity, (size_t)SLOTS_FIRST));
        slot = r == 0 ? slot_of(h->slots, h->capacity, ino) : NULL;
        if (slot && slot->ino != 0 && !inode_equal(&slot->inode, i))
                r = errorf(-EEXIST, "two files have the same inode number, %llx; one of them cannot be shown now",
                           (unsigned long long)ino);
        else if (slot) {
                h->n += slot->ino == 0;
                slot->ino = ino;
                slot->inode = *i;
                slot->times++;
        }
        pthread_mutex_unlock(&h->lock);
        return r;
}

void tree_forget(struct tree *t, uint64_t ino, uint64_t times)
{
        struct held_nodes *h = t->held;
        struct held *slot;

        if (!inode_is_hash(ino))
                return;
        pthread_mutex_lock(&h->lock);
        slot = h->capacity > 0 ? slot_of(h->slots, h->capacity, ino) : NULL;
        if (slot && slot->ino != 0) {
                slot->times -= MIN(times, slot->times);
                if (slot->times == 0)
                        slot_free(h, slot);
        }
        pthread_mutex_unlock(&h->lock);
}

int held_nodes_find(struct held_nodes *h, uint64_t ino, struct inode *ret)
{
        const struct held *slot;
        int r = -ESTALE;

        pthread_mutex_lock(&h->lock);
        slot = h->capacity > 0 ? slot_of(h->slots, h->capacity, ino) : NULL;
        if (slot && slot->ino != 0) {
                *ret = slot->inode;
                r = 0;
        }
        pthread_mutex_unlock(&h->lock);
        return r;
}
