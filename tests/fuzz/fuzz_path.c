/* The path router: any names, from any folder there is. What is found can be looked at, listed and found again by its number; what a listing
 * shows can be looked up and is what the listing said; and nothing of all that starts work. */
#include "fs/tree/tree.h"

#include "world.h"

static struct world world;
static struct tree *tree;

static void start(void)
{
        world_make(&world);
        tree = tree_open(world.workspace, world.engine, false);
}

struct listing {
        const struct node *dir;
        unsigned n;
};

static int see(void *user, const struct tree_entry *e)
{
        struct listing *l = user;
        cleanup_node struct node n = {0};
        int r = tree_lookup(tree, l->dir, e->name, &n);

        must(r == 0);
        must(inode_pack(n.inode) == e->ino && inode_equal(&n.inode, e->inode));
        return ++l->n == 50;
}

static void look(const struct node *n)
{
        uint64_t ino = inode_pack(n->inode);
        cleanup_node struct node again = {0};
        cleanup_blob struct blob b = {0};
        struct stat st;
        bool ready;
        int r;

        must(tree_hold(tree, &n->inode) == 0);
        must(tree_node(tree, ino, &again) == 0 && again.route == n->route && inode_equal(&again.inode, &n->inode));
        tree_forget(tree, ino, 1);
        must(tree_stat(tree, n, &st, &ready) == 0);
        must(st.st_ino == ino);
        if (node_type(n) == NODE_FOLDER) {
                must(tree_list(tree, n, 0, see, &(struct listing){.dir = n}) == 0);
                tree_list_generation(tree, n);
                return;
        }
        if (n->route->open || n->route->kept)
                return;
        r = tree_content(tree, n, &b);
        if (ready && node_type(n) != NODE_LIVE)
                must(r == 0 && b.size == (size_t)st.st_size);
        if (r == 0 && node_type(n) == NODE_LINK)
                must(b.size > 0 && b.size < PATH_SIZE);
}

/* A number that we never gave: whatever it is taken for. */
static void made_up(uint64_t ino)
{
        cleanup_node struct node n = {0};
        cleanup_blob struct blob b = {0};
        struct stat st;
        bool ready;

        if (tree_node(tree, ino, &n) < 0)
                return;
        tree_stat(tree, &n, &st, &ready);
        if (n.route->content)
                tree_content(tree, &n, &b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct input in = {data, size};
        struct engine_counters before, after;
        struct node at = {0};

        if (!tree)
                start();
        engine_counters(world.engine, &before);
        if (take_byte(&in) & 1)
                made_up(take_number(&in, 8));
        must(tree_node(tree, 1, &at) == 0);
        while (at.route && in.size > 0) {
                cleanup_free char *name = take_string(&in, 255);
                struct node next = {0};

                look(&at);
                if (node_type(&at) != NODE_FOLDER || tree_lookup(tree, &at, name, &next) < 0) {
                        node_done(&next);
                        break;
                }
                node_done(&at);
                at = next;
        }
        if (at.route)
                look(&at);
        node_done(&at);
        engine_counters(world.engine, &after);
        must(after.asked == before.asked);
        return 0;
}
