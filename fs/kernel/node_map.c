#include "fs/kernel/node_map.h"

#include <search.h>

#include "cache/base/util.h"

struct move { /* a node that is not its inode number */
        uint64_t ino; /* first: the key of `current` */
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
        void *current;       /* the nodes that names have now, by tsearch() and inode number */
};

struct node_map *node_map_new(void)
{
        struct node_map *m = allocate(1, sizeof(*m));

        pthread_mutex_init(&m->lock, NULL);
        return m;
}

static void no_free(void *) /* `list` owns them */
{
}

void node_map_free(struct node_map *m)
{
        tdestroy(m->current, no_free);
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
static struct move *current_of(const struct node_map *m, uint64_t ino)
{
        struct move **found = tfind(&ino, &m->current, compare_u64);

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
        const struct move *current = current_of(m, ino);

        return current ? current->node : ino;
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
        struct move *current = current_of(m, ino);

        if (current)
                current->lookups++;
        return current ? current->node : ino;
}

void node_map_forget(struct node_map *m, uint64_t node, uint64_t times)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        struct move *move = move_of(m, node);

        if (!move || move->lookups == 0)
                return;
        move->lookups -= MIN(move->lookups, times);
        if (move->lookups == 0 && current_of(m, move->ino) != move) {
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

void node_map_move(struct node_map *m, uint64_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&m->lock);
        struct move *move = move_of(m, node), *current;
        uint64_t ino = move ? move->ino : node;

        current = current_of(m, ino);
        if (current != move || (move && move->lookups == 0))
                return;
        if (current)
                tdelete(current, &m->current, compare_u64);
        current = move_new(m);
        *current = (struct move){.ino = ino, .node = current->node};
        tsearch(current, &m->current, compare_u64);
}
