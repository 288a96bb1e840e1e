#include "fs/kernel/node_map.h"

#include <search.h>

#include "cache/base/util.h"

struct move {
        uint64_t ino;
        uint64_t node;
        uint64_t lookups;  /* that the kernel has not forgotten */
        struct move *next; /* in `unused` */
};

struct node_map {
        pthread_mutex_t lock;
        /* under lock */
        struct move **list; /* owned, with what is in it; a node's number is its place */
        size_t n;
        struct move *unused; /* nobody knows the node any more */
        void *last;          /* the names' current nodes, by tsearch() */
};

struct node_map *node_map_new(void)
{
        struct node_map *m = allocate(1, sizeof(*m));

        pthread_mutex_init(&m->lock, NULL);
        return m;
}

static void no_free(void *)
{
}

void node_map_free(struct node_map *m)
{
        tdestroy(m->last, no_free);
        for (size_t i = 0; i < m->n; i++)
                free(m->list[i]);
        free(m->list);
        pthread_mutex_destroy(&m->lock);
        free(m);
}

static uint64_t number_of(uint64_t node)
{
        return node & ((UINT64_C(1) << 56) - 1);
}

/* Lock held. NULL: the name has the node that its inode number says. */
static struct move *last_of(const struct node_map *m, uint64_t ino)
{
        struct move **found = tfind(&ino, &m->last, compare_u64);

        return found ? *found : NULL;
}

/* Lock held. NULL: the node is its own inode number. */
static struct move *move_of(const struct node_map *m, uint64_t node)
{
        return inode_is_other(node, INODE_MOVED) && number_of(node) < m->n ? m->list[number_of(node)] : NULL;
}

uint64_t node_map_node(struct node_map *m, uint64_t ino)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        const struct move *last = last_of(m, ino);

        return last ? last->node : ino;
}

uint64_t node_map_ino(struct node_map *m, uint64_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        const struct move *move = move_of(m, node);

        return move ? move->ino : node;
}

uint64_t node_map_hold(struct node_map *m, uint64_t ino)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        struct move *last = last_of(m, ino);

        if (last)
                last->lookups++;
        return last ? last->node : ino;
}

void node_map_forget(struct node_map *m, uint64_t node, uint64_t times)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        struct move *move = move_of(m, node);

        if (!move || move->lookups == 0)
                return;
        move->lookups -= MIN(move->lookups, times);
        if (move->lookups == 0 && last_of(m, move->ino) != move) {
                move->next = m->unused;
                m->unused = move;
        }
}

/* Lock held. */
static struct move *move_new(struct node_map *m)
{
        struct move *new = m->unused;

        if (new) {
                m->unused = new->next;
                return new;
        }
        new = allocate(1, sizeof(*new));
        new->node = inode_other(INODE_MOVED, m->n);
        return *list_add(m->list, m->n, new);
}

void node_map_on(struct node_map *m, uint64_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        struct move *move = move_of(m, node), *last;
        uint64_t ino = move ? move->ino : node;

        last = last_of(m, ino);
        if (last != move || (move && move->lookups == 0))
                return;
        if (last)
                tdelete(last, &m->last, compare_u64);
        last = move_new(m);
        *last = (struct move){.ino = ino, .node = last->node};
        tsearch(last, &m->last, compare_u64);
}
