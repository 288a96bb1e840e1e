/* Folders. The kernel caches a listing (cache_readdir) as long as tree_list_generation() of the folder is the same at each opendir.
 *
 * In a mount of finished values OPENDIR, too, is answered once with ENOSYS if the kernel supports it: most folders are cells, whose listings
 * never change. The kernel may not keep the attributes of other folders, so it asks for them before it takes a listing from its pages
 * (fuse_readdir_cached() and AUTO_INVAL_DATA). That is the moment to drop the pages. */
#include "fs/kernel/session_internal.h"

#include <linux/fuse.h>

/* True if the listing that the kernel may have cached of a folder equals one made now. *ret_may_keep: the kernel may cache one made now. */
static bool is_current(struct session *s, const struct node *dir, fuse_ino_t ino, bool *ret_may_keep)
{
        uint64_t generation = tree_list_generation(s->tree, dir);

        *ret_may_keep = generation != 0;
        return generation == LISTING_FIXED || (generation != 0 && kernel_cache_listing(s->kernel_cache, ino, generation));
}

void list_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        cleanup_node struct node dir = {0};
        bool may_keep;
        int r = s->no_opendir ? -ENOSYS : tree_node(s->tree, ino, &dir);

        if (r == 0) {
                fi->keep_cache = is_current(s, &dir, ino, &may_keep);
                fi->cache_readdir = may_keep;
                fuse_reply_open(req, fi);
        } else
                fuse_reply_err(req, r == -ENOSYS ? ENOSYS : session_error(r, "opendir", NULL));
}

void list_drop_outdated(struct session *s, fuse_ino_t ino)
{
        cleanup_node struct node dir = {0};
        bool may_keep;

        if (s->fuse && tree_node(s->tree, ino, &dir) == 0 && node_type(&dir) == NODE_FOLDER && !is_current(s, &dir, ino, &may_keep))
                fuse_lowlevel_notify_inval_inode(s->fuse, ino, 0, 0);
}

struct listing {
        fuse_req_t req;
        char *data;
        size_t size, used;
        bool plus;       /* in READDIRPLUS's form */
        bool attributes; /* with the result of a lookup of each name */
};

static int listing_add(void *user, const struct tree_entry *e)
{
        struct listing *l = user;
        struct session *s = session_of(l->req);
        struct fuse_entry_param p = {.attr = {.st_ino = e->ino, .st_mode = e->type}};
        cleanup_node struct node node = {0};
        size_t left = l->size - l->used, n;

        if (l->attributes && (tree_node_of(s->tree, e->inode, &node) < 0 || session_entry(s, &node, &p) < 0))
                p = (struct fuse_entry_param){.attr = {.st_ino = e->ino, .st_mode = e->type}}; /* no lookup result */
        n = l->plus ? fuse_add_direntry_plus(l->req, l->data + l->used, left, e->name, &p, (off_t)e->next)
                    : fuse_add_direntry(l->req, l->data + l->used, left, e->name, &p.attr, (off_t)e->next);
        if (n > left) {
                if (p.ino != 0) /* the entry does not fit: the kernel does not get it */
                        session_forget(s, p.ino, 1);
                return 1;
        }
        l->used += n;
        return 0;
}

/* Forgets the entries of a reply that the kernel did not get; the request is gone. */
static void listing_forget(const struct listing *l, struct session *s)
{
        const struct fuse_direntplus *d;

        for (size_t at = 0; l->attributes && at < l->used; at += FUSE_DIRENTPLUS_SIZE(d)) {
                d = (const struct fuse_direntplus *)(l->data + at);
                if (d->entry_out.nodeid != 0)
                        session_forget(s, d->entry_out.nodeid, 1);
        }
}

static void reply_listing(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
        struct session *s = session_of(req);
        cleanup_free char *data = malloc(size);
        struct listing l = {.req = req, .data = data, .size = size, .plus = plus};
        cleanup_node struct node dir = {0};
        int r = data ? tree_node(s->tree, ino, &dir) : -ENOMEM;
        uint64_t generation = r == 0 ? tree_list_generation(s->tree, &dir) : 0;
        bool full = false;

        if (r == 0 && offset < 1)
                full = listing_add(&l, &(struct tree_entry){.name = ".", .ino = ino, .type = S_IFDIR, .next = 1});
        if (r == 0 && offset < 2 && !full)
                /* the kernel knows the parent itself: any number will do */
                full = listing_add(&l, &(struct tree_entry){.name = "..", .ino = UINT32_MAX, .type = S_IFDIR, .next = 2});
        if (plus && r == 0 && dir.view.cached) /* set only now: not for "." and "..", which the kernel knows */
                l.attributes = dir.route->listed == LISTED_WHOLE || (s->finished && dir.route->listed == LISTED_WHOLE_FINISHED);
        if (r == 0 && !full)
                r = tree_list(s->tree, &dir, offset <= 2 ? 0 : (uint64_t)offset, listing_add, &l);
        if (r == 0 && generation != LISTING_FIXED)
                kernel_cache_listing_sent(s->kernel_cache, ino, generation, offset == 0);
        if (r < 0 || fuse_reply_buf(req, data, l.used) < 0)
                listing_forget(&l, s);
        if (r < 0)
                fuse_reply_err(req, session_error(r, "readdir", NULL));
}

void list_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *)
{
        reply_listing(req, ino, size, offset, false);
}

void list_read_plus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *)
{
        reply_listing(req, ino, size, offset, true);
}
