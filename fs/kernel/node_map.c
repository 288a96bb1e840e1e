#include "fs/kernel/node_map.h"

#include "fs/tree/lock.h"

struct move {
        uint64_t ino;
        bool last; /* the name's current node */
};

struct node_map {
        pthread_mutex_t lock;
        /* under lock */
        struct move *list; /* owned; a node's number is its place */
        size_t n;
};

struct node_map *node_map_new(void)
{
        struct node_map *m = allocate(1, sizeof(*m));

        pthread_mutex_init(&m->lock, NULL);
        return m;
}

void node_map_free(struct node_map *m)
{
        free(m->list);
        pthread_mutex_destroy(&m->lock);
        free(m);
}

static uint64_t number_of(uint64_t node)
{
        return node & ((UINT64_C(1) << 56) - 1);
}

/* Lock held. */
static uint64_t node_of(const struct node_map *m, uint64_t ino)
{
        for (size_t i = m->n; i-- > 0;)
                if (m->list[i].ino == ino && m->list[i].last)
                        return inode_other(INODE_MOVED, i);
        return ino;
}

/* Lock held. */
static uint64_t ino_of(const struct node_map *m, uint64_t node)
{
        return inode_is_other(node, INODE_MOVED) && number_of(node) < m->n ? m->list[number_of(node)].ino : node;
}

uint64_t node_map_node(struct node_map *m, uint64_t ino)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);

        return node_of(m, ino);
}

uint64_t node_map_ino(struct node_map *m, uint64_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);

        return ino_of(m, node);
}

void node_map_on(struct node_map *m, uint64_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        uint64_t ino = ino_of(m, node);

        if (node_of(m, ino) != node)
                return;
        list_grow(m->list, m->n);
        if (inode_is_other(node, INODE_MOVED))
                m->list[number_of(node)].last = false;
        m->list[m->n++] = (struct move){.ino = ino, .last = true};
}
