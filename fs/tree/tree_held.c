/* Nodes whose numbers are hashes of what they are (inode.h): what the kernel knows of them, with how often it was told. */
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
        tdestroy(h->held, free);
        pthread_mutex_destroy(&h->lock);
        free(h);
        return NULL;
}

static int compare_held(const void *a, const void *b)
{
        const struct held *x = a, *y = b;

        return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Lock held. NULL: there is none. */
static struct held *held_find(struct held_nodes *h, uint64_t ino)
{
        struct held **found = tfind(&(struct held){.ino = ino}, &h->held, compare_held);

        return found ? *found : NULL;
}

/* Lock held. NULL: no memory. */
static struct held *held_add(struct held_nodes *h, uint64_t ino, const struct inode *i)
{
        struct held *made = malloc(sizeof(*made));

        if (!made)
                return NULL;
        *made = (struct held){.ino = ino, .inode = *i};
        if (tsearch(made, &h->held, compare_held))
                return made;
        free(made);
        return NULL;
}

int tree_hold(struct tree *t, const struct inode *i)
{
        struct held_nodes *h = t->held;
        uint64_t ino = inode_pack(*i);
        struct held *held;
        int r = 0;

        if (!inode_is_hash(ino))
                return 0;
        pthread_mutex_lock(&h->lock);
        held = held_find(h, ino);
        if (!held)
                held = held_add(h, ino, i);
        if (!held)
                r = -ENOMEM;
        else if (!inode_equal(&held->inode, i))
                r = errorf(-EEXIST, "two files have the same inode number, %llx; one of them cannot be shown now",
                           (unsigned long long)ino);
        else
                held->times++;
        pthread_mutex_unlock(&h->lock);
        return r;
}

void tree_forget(struct tree *t, uint64_t ino, uint64_t times)
{
        struct held_nodes *h = t->held;
        struct held *held;

        if (!inode_is_hash(ino))
                return;
        pthread_mutex_lock(&h->lock);
        held = held_find(h, ino);
        if (held && held->times > times) {
                held->times -= times;
        } else if (held) {
                tdelete(held, &h->held, compare_held);
                free(held);
        }
        pthread_mutex_unlock(&h->lock);
}

int held_nodes_find(struct held_nodes *h, uint64_t ino, struct inode *ret)
{
        const struct held *held;

        pthread_mutex_lock(&h->lock);
        held = held_find(h, ino);
        if (held)
                *ret = held->inode;
        pthread_mutex_unlock(&h->lock);
        return held ? 0 : -ESTALE;
}
