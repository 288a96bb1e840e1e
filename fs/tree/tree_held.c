/* Nodes whose numbers are hashes (inode.h): those that the kernel knows, with their reference counts. */
#include <search.h>

#include "fs/tree/tree_internal.h"

struct held {
        uint64_t ino;
        uint64_t times;
        struct inode inode;
};

struct held_nodes {
        pthread_mutex_t lock;
        void *held; /* by tsearch(); under lock */
};

struct held_nodes *held_nodes_new(void)
{
        struct held_nodes *h = allocate(1, sizeof(*h));

        pthread_mutex_init(&h->lock, NULL);
        return h;
}

void held_nodes_free(struct held_nodes *h)
{
        tdestroy(h->held, free);
        pthread_mutex_destroy(&h->lock);
        free(h);
}

/* Lock held. NULL: there is none. */
static struct held *held_find(struct held_nodes *h, uint64_t ino)
{
        struct held **found = tfind(&(struct held){.ino = ino}, &h->held, compare_u64);

        return found ? *found : NULL;
}

int tree_hold(struct tree *t, const struct inode *i)
{
        cleanup_unlock pthread_mutex_t *lock = NULL;
        uint64_t ino = inode_pack(*i);
        struct held *held;

        if (!inode_is_hash(ino))
                return 0;
        lock = hold(&t->held->lock);
        held = held_find(t->held, ino);
        if (held && !inode_equal(&held->inode, i))
                return errorf(-EEXIST, "two files have the same inode number, %llx; one of them cannot be shown now", (unsigned long long)ino);
        if (!held) {
                held = allocate(1, sizeof(*held));
                *held = (struct held){.ino = ino, .inode = *i};
                tsearch(held, &t->held->held, compare_u64);
        }
        held->times++;
        return 0;
}

void tree_forget(struct tree *t, uint64_t ino, uint64_t times)
{
        cleanup_unlock pthread_mutex_t *lock = NULL;
        struct held *held;

        if (!inode_is_hash(ino))
                return;
        lock = hold(&t->held->lock);
        held = held_find(t->held, ino);
        if (held && held->times > times) {
                held->times -= times;
        } else if (held) {
                tdelete(held, &t->held->held, compare_u64);
                free(held);
        }
}

int held_nodes_find(struct held_nodes *h, uint64_t ino, struct inode *ret)
{
        cleanup_unlock pthread_mutex_t *lock = hold(&h->lock);
        const struct held *held = held_find(h, ino);

        if (held)
                *ret = held->inode;
        return held ? 0 : -ESTALE;
}
