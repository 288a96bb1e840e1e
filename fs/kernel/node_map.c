#include "fs/kernel/node_map.h"

#include <pthread.h>

#include "fs/tree/tree.h"

struct move {
        uint64_t ino;
        bool last; /* the name's node is this one */
};

struct node_map {
        pthread_mutex_t lock;
        /* under lock */
        struct move *list; /* owned; a node's number is its place */
        size_t n;
};

int node_map_new(struct node_map **ret)
{
        struct node_map *m = calloc(1, sizeof(*m));

        if (!m)
                return -ENOMEM;
        pthread_mutex_init(&m->lock, NULL);
        *ret = m;
        return 0;
}

struct node_map *node_map_free(struct node_map *m)
{
        if (!m)
                return NULL;
        free(m->list);
        pthread_mutex_destroy(&m->lock);
        free(m);
        return NULL;
}

static bool is_moved(uint64_t node)
{
        return inode_is_other(node, INODE_MOVED);
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
        return is_moved(node) && number_of(node) < m->n ? m->list[number_of(node)].ino : node;
}

uint64_t node_map_node(struct node_map *m, uint64_t ino)
{
        uint64_t node;

        pthread_mutex_lock(&m->lock);
        node = node_of(m, ino);
        pthread_mutex_unlock(&m->lock);
        return node;
}

uint64_t node_map_ino(struct node_map *m, uint64_t node)
{
        uint64_t ino;

        pthread_mutex_lock(&m->lock);
        ino = ino_of(m, node);
        pthread_mutex_unlock(&m->lock);
        return ino;
}

/* Lock held. */
static int add(struct node_map *m, uint64_t ino, uint64_t from)
{
        if (list_grow(m->list, m->n) < 0)
                return -ENOMEM;
        if (is_moved(from))
                m->list[number_of(from)].last = false;
        m->list[m->n++] = (struct move){.ino = ino, .last = true};
        return 0;
}

int node_map_on(struct node_map *m, uint64_t node)
{
        uint64_t ino;
        int r = 0;

        pthread_mutex_lock(&m->lock);
        ino = ino_of(m, node);
        if (node_of(m, ino) == node)
                r = add(m, ino, node);
        pthread_mutex_unlock(&m->lock);
        return r;
}
