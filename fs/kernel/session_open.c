/* Files: open, which may wait for work, and read.
 *
 * Pages of a file stay valid until its value changes (it was measured again, its recipe was edited, a case was renamed): then the next open
 * drops them, before it is answered. If the file is still open elsewhere, its pages stay, and ESTALE sends the new open to another node
 * (node_map.h): the kernel looks the name up again. For the size of a file before its value is known see kernel_cache.h. */
#include "fs/kernel/session_internal.h"

#include <fcntl.h>

#include "cache/base/fault.h"
#include "fs/kernel/reader.h"

#define PAGE 4096

/* -- contents -- */

void content_done(struct content *c)
{
        closep(&c->fd);
        blob_done(&c->blob);
}

off_t content_size(const struct content *c)
{
        struct stat st;

        return c->fd < 0 ? (off_t)c->blob.size : fstat(c->fd, &st) == 0 ? st.st_size : 0;
}

void content_reply(fuse_req_t req, const struct content *c, size_t size, off_t offset)
{
        struct fuse_bufvec b = FUSE_BUFVEC_INIT(size);

        if (c->fd >= 0) {
                b.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
                b.buf[0].fd = c->fd;
                b.buf[0].pos = offset;
                fuse_reply_data(req, &b, 0);
        } else if ((uint64_t)offset >= c->blob.size)
                fuse_reply_buf(req, NULL, 0);
        else
                fuse_reply_buf(req, (const char *)c->blob.data + offset, MIN(size, c->blob.size - (size_t)offset));
}

uint64_t content_hash(const struct content *c)
{
        struct stat st;

        return c->fd < 0 ? hash_quick(c->blob.data, c->blob.size) : fstat(c->fd, &st) == 0 ? st.st_ino : 0;
}

/* Reads the last page of a content into `page`, of *ret_n bytes. Returns its offset. */
static off_t last_page(const struct content *c, char page[PAGE], size_t *ret_n)
{
        off_t size = content_size(c), offset = size > 0 ? (size - 1) / PAGE * PAGE : 0;
        ssize_t n = size - offset;

        if (c->fd >= 0)
                n = pread(c->fd, page, PAGE, offset);
        else if (n > 0)
                memcpy(page, (const char *)c->blob.data + offset, (size_t)n);
        *ret_n = n > 0 ? (size_t)n : 0;
        return offset;
}

/* An open file. */
struct handle {
        pthread_mutex_t lock;
        bool loaded;               /* `content` has its bytes; under lock */
        struct content content;
        fuse_ino_t node;           /* the node it was opened by; 0 until it is in the session's list */
        bool told;                 /* the kernel's pages of its node hold its value; under the session's lock */
        LIST_ENTRY(handle) others; /* in that list; under the session's lock */
};

static struct handle *handle_new(void)
{
        struct handle *h = allocate(1, sizeof(*h));

        h->content.fd = -1;
        pthread_mutex_init(&h->lock, NULL);
        return h;
}

static void handle_free(struct handle *h)
{
        content_done(&h->content);
        pthread_mutex_destroy(&h->lock);
        free(h);
}
DEFINE_CLEANUP(struct handle *, handle_free)
#define cleanup_handle cleanup(handle_freep)

/* Puts the handle into the session's list. Lock held. */
static void handle_add(struct session *s, struct handle *h, fuse_ino_t node)
{
        h->node = node;
        LIST_INSERT_HEAD(&s->handles, h, others);
}

static void handle_close(struct session *s, struct handle *h)
{
        pthread_mutex_lock(&s->lock);
        LIST_REMOVE(h, others);
        pthread_mutex_unlock(&s->lock);
        handle_free(h);
}

/* -- values that change -- */

/* True if the content of the file, of which the kernel keeps pages, may change. */
static bool value_moves(const struct session *s, const struct node *n)
{
        return (n->route->rewritten && node_type(n) != NODE_LIVE) || (node_type(n) == NODE_COMPUTED && tree_values_move(s->tree));
}

/* True if the node is open with another value. All its handles have the same. Lock held. */
static bool is_held_otherwise(const struct session *s, const struct handle *h, fuse_ino_t node)
{
        const struct handle *other;

        LIST_FOREACH (other, &s->handles, others)
                if (other->node == node)
                        return content_hash(&other->content) != content_hash(&h->content);
        return false;
}

/* handle_add() for a file whose value may change. -ESTALE: this node belongs to another value, which is still being read; a new lookup gives another
 * node. */
static int handle_add_moving(struct session *s, struct handle *h, fuse_ino_t node)
{
        fuse_ino_t newest = node_map_node(s->nodes, node_map_ino(s->nodes, node));
        cleanup_unlock pthread_mutex_t *held = hold(&s->lock);

        if (!is_held_otherwise(s, h, node)) {
                handle_add(s, h, node);
                return 0;
        }
        if (is_held_otherwise(s, h, newest))
                node_map_move(s->nodes, newest);
        return -ESTALE;
}

/* Marks the kernel's pages as holding this handle's value. True if another open handle of the node had done so already. */
static bool handle_told(struct session *s, struct handle *h)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->lock);
        const struct handle *other;

        h->told = true;
        LIST_FOREACH (other, &s->handles, others)
                if (other != h && other->node == h->node && other->told)
                        return true;
        return false;
}

bool file_held_size(struct session *s, const struct node *n, fuse_ino_t node, bool ready, struct stat *st)
{
        cleanup_unlock pthread_mutex_t *held = NULL;
        const struct handle *h;

        if (!S_ISREG(st->st_mode) || node_type(n) == NODE_LIVE || (ready && !value_moves(s, n)))
                return false;
        held = hold(&s->lock);
        LIST_FOREACH (h, &s->handles, others)
                if (h->node == node && (h->content.fd >= 0 || h->content.blob.data)) {
                        st->st_size = content_size(&h->content);
                        return true;
                }
        if (!ready) /* under lock: an open that is not listed yet sees it */
                kernel_cache_placeholder(s->kernel_cache, node);
        return false;
}

/* For a handle of a file whose value may change, in the list. Afterwards the kernel has no pages and no size of another value, even if others open the
 * file meanwhile. */
static void tell_value(struct session *s, struct handle *h)
{
        kernel_cache_telling(s->kernel_cache);
        if (!handle_told(s, h) && !kernel_cache_swap_token(s->kernel_cache, h->node, content_hash(&h->content)) && s->fuse) {
                char page[PAGE];
                size_t n;
                off_t offset = last_page(&h->content, page, &n);

                kernel_cache_tell_value(s->fuse, h->node, offset, page, n);
        }
        kernel_cache_told(s->kernel_cache);
}

static bool is_open(struct session *s, fuse_ino_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->lock);
        const struct handle *h;

        LIST_FOREACH (h, &s->handles, others)
                if (h->node == node)
                        return true;
        return false;
}

/* A reader may have looked the name up again and opened it by now. */
void file_forget(struct session *s, fuse_ino_t node)
{
        kernel_cache_telling(s->kernel_cache);
        if (!is_open(s, node))
                kernel_cache_forget(s->kernel_cache, node);
        kernel_cache_told(s->kernel_cache);
}

/* Replies to an open whose handle is complete; takes the handle. */
static void reply_open(struct session *s, fuse_req_t req, const struct node *n, fuse_ino_t node, struct handle *h)
{
        bool live = node_type(n) == NODE_LIVE, moves = value_moves(s, n);
        char page[PAGE];
        size_t size;
        off_t offset;
        struct fuse_file_info fi = {.fh = (uintptr_t)h, .direct_io = live, .keep_cache = !live, .noflush = 1};
        int r = moves ? handle_add_moving(s, h, node) : 0;

        if (r < 0) {
                handle_free(h);
                fuse_reply_err(req, -r);
                return;
        }
        if (moves)
                tell_value(s, h);
        else {
                pthread_mutex_lock(&s->lock);
                handle_add(s, h, node); /* before the kernel is told: see file_forget() */
                pthread_mutex_unlock(&s->lock);
                if (s->fuse && !live && kernel_cache_had_placeholder(s->kernel_cache, node)) {
                        offset = last_page(&h->content, page, &size);
                        kernel_cache_tell_size(s->kernel_cache, s->fuse, node, offset, page, size);
                }
                pthread_mutex_lock(&s->lock);
                h->told = true;
                pthread_mutex_unlock(&s->lock);
        }
        if (fuse_reply_open(req, &fi) < 0) /* interrupted meanwhile: no release will come */
                handle_close(s, h);
}

enum opening {
        OPENING_DONE,    /* the handle is complete */
        OPENING_PUT,     /* the value is stored, but must be put into a folder, which takes a moment */
        OPENING_COMPUTE, /* the value must be computed */
};

/* An enum opening, or -errno. */
static int open_node(struct session *s, const struct node *n, struct handle *h)
{
        int r;

        if (n->route->kept) {
                r = n->route->kept(s->tree, n);
                return r < 0 ? r : r > 0 ? OPENING_PUT : n->view.cached ? -ENOENT : OPENING_COMPUTE;
        }
        if (n->route->open)
                return n->route->open(s->tree, n, &h->content.fd);
        if (node_type(n) == NODE_FILE && !value_moves(s, n))
                return OPENING_DONE; /* read_content() reads it if the kernel has no pages */
        r = tree_content(s->tree, n, &h->content.blob);
        h->loaded = r == 0;
        return r == -ENOENT && node_type(n) == NODE_COMPUTED && !n->view.cached ? OPENING_COMPUTE : r;
}

void file_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        cleanup_handle struct handle *h = handle_new();
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_node struct node n = {0};
        int r;

        if (is_new_case_ino(ino)) /* just written: its name is taken, and its bytes are readable by the case's id */
                r = (fi->flags & O_ACCMODE) != O_RDONLY ? -EEXIST : -ENOENT;
        else if ((fi->flags & O_ACCMODE) != O_RDONLY || (fi->flags & O_TRUNC))
                r = -EROFS;
        else
                r = session_node(s, ino, &n);
        if (r == 0 && (node_type(&n) == NODE_FOLDER || node_type(&n) == NODE_LINK))
                r = -EROFS; /* no kernel does that */
        if (r == 0)
                r = open_node(s, &n, h);
        if (r == OPENING_COMPUTE && reader_is_job(fuse_req_ctx(req)->pid))
                r = -EDEADLK; /* a job that waited for the mount could wait for itself */
        else if (r == OPENING_COMPUTE && reader_is_named(fuse_req_ctx(req)->pid, workspace_settings(tree_workspace(s->tree))->crawlers))
                r = -EDQUOT;
        if (r == OPENING_PUT || r == OPENING_COMPUTE) {
                r = n.route->query(s->tree, &n, &q);
                if (r == 0) {
                        waiters_park(s->waiters, req, &(struct parked){.ino = ino}, q);
                        return;
                }
        }
        if (r == 0)
                reply_open(s, req, &n, ino, steal_pointer(h));
        else
                fuse_reply_err(req,
                               r == -EEXIST ? EEXIST : session_error(r, n.route && n.route->name ? n.route->name : "open", NULL));
}

void file_answered(void *user, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason)
{
        struct session *s = user;
        cleanup_handle struct handle *h = handle_new();
        cleanup_node struct node n = {0};

        if (r == 0)
                r = fault_at("open.answer") ?: session_node(s, p->ino, &n);
        if (r == 0 && n.route->answer_fd)
                r = (h->content.fd = n.route->answer_fd(v)) < 0 ? -errno : 0;
        else if (r == 0)
                h->loaded = (r = tree_answer(s->tree, &n, v, &h->content.blob)) == 0;
        if (r == 0) {
                kernel_cache_placeholder(s->kernel_cache, p->ino); /* the kernel may have got a placeholder while this was parked */
                reply_open(s, req, &n, p->ino, steal_pointer(h));
        } else
                fuse_reply_err(req, session_error(r, "open", reason));
}

static int read_content(struct session *s, fuse_ino_t ino, struct handle *h)
{
        cleanup_unlock pthread_mutex_t *held = hold(&h->lock);
        cleanup_node struct node n = {0};
        int r;

        if (h->loaded)
                return 0;
        r = session_node(s, ino, &n) ?: tree_content(s->tree, &n, &h->content.blob);
        h->loaded = r == 0;
        return r;
}

void file_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
        struct handle *h = (struct handle *)(uintptr_t)fi->fh;
        int r;

        if (is_new_case_ino(ino)) {
                fuse_reply_err(req, EACCES); /* opened for writing */
                return;
        }
        r = h->content.fd < 0 ? read_content(session_of(req), ino, h) : 0;
        if (r < 0)
                fuse_reply_err(req, session_error(r, "read", NULL));
        else
                content_reply(req, &h->content, size, offset);
}

void file_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        if (is_new_case_ino(ino)) {
                write_release(req, ino, fi);
                return;
        }
        handle_close(session_of(req), (struct handle *)(uintptr_t)fi->fh);
        fuse_reply_err(req, 0);
}

void file_close_all(struct session *s)
{
        while (!LIST_EMPTY(&s->handles))
                handle_close(s, LIST_FIRST(&s->handles));
}
