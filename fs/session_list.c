/* Folders. Listings are cached by the kernel (cache_readdir) as long as tree_list_generation() of the folder is the same at each opendir. */
#include "session_parts.h"

void list_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        cleanup_node struct node dir = {0};
        int r = tree_node(s->tree, ino, &dir);

        if (r == 0) {
                uint64_t generation = tree_list_generation(s->tree, &dir);

                fi->cache_readdir = generation != 0;
                fi->keep_cache = generation == LISTING_FIXED || (generation != 0 && known_listing(s->known, ino, generation));
                fuse_reply_open(req, fi);
        } else
                fuse_reply_err(req, session_error(r, "opendir", NULL));
}

struct listing {
        fuse_req_t req;
        char *data;
        size_t size, used;
        bool plus;       /* in READDIRPLUS's form */
        bool attributes; /* with what a lookup of each name would say */
};

/* Attributes go with the names where they are as good as free and mostly wanted next: a finished cell's files, which all come from one
 * fact; and where everything is there to be read whole, the cells. Elsewhere they may cost (a diff, an object of git) and are rarely asked
 * for; a name without them (inode 0) is looked up if need be. */
static bool lists_attributes(const struct session *s, const struct node *dir)
{
        return dir->view.cached && (dir->route->kind == KIND_CELL || (s->finished && dir->route->kind == KIND_CELLS));
}

static void entry_attributes(struct session *s, const struct entry *e, struct fuse_entry_param *ret)
{
        cleanup_node struct node n = {0};

        if (tree_node(s->tree, e->ino, &n) < 0 || session_entry(s, &n, ret) < 0)
                *ret = (struct fuse_entry_param){.attr = {.st_ino = e->ino, .st_mode = e->type}};
}

static int listing_add(void *user, const struct entry *e)
{
        struct listing *l = user;
        struct fuse_entry_param p = {.attr = {.st_ino = e->ino, .st_mode = e->type}};
        size_t left = l->size - l->used, n;

        if (l->attributes)
                entry_attributes(session_of(l->req), e, &p);
        n = l->plus ? fuse_add_direntry_plus(l->req, l->data + l->used, left, e->name, &p, (off_t)e->next)
                    : fuse_add_direntry(l->req, l->data + l->used, left, e->name, &p.attr, (off_t)e->next);
        if (n > left)
                return 1;
        l->used += n;
        return 0;
}

static void reply_listing(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
        struct session *s = session_of(req);
        cleanup_free char *data = malloc(size);
        struct listing l = {.req = req, .data = data, .size = size, .plus = plus};
        cleanup_node struct node dir = {0};
        int r = data ? tree_node(s->tree, ino, &dir) : -ENOMEM;
        bool full = false;

        if (r == 0 && offset < 1)
                full = listing_add(&l, &(struct entry){.name = ".", .ino = ino, .type = S_IFDIR, .next = 1});
        if (r == 0 && offset < 2 && !full)
                full = listing_add(&l, &(struct entry){.name = "..", .ino = UINT32_MAX, .type = S_IFDIR, .next = 2});
        l.attributes = plus && r == 0 && lists_attributes(s, &dir); /* not of the two: the kernel knows them */
        if (r == 0 && !full)
                r = tree_list(s->tree, &dir, offset <= 2 ? 0 : (uint64_t)offset, listing_add, &l);
        if (r == 0)
                fuse_reply_buf(req, data, l.used);
        else
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
