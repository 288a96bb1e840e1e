/* Files of a mount of what is finished (solverfs mount -o cached).
 *
 * Nothing in it waits, starts work or is written to, so the kernel need not ask at each open: OPEN is answered once, by ENOSYS, and from
 * then on opens and closes of this connection are the kernel's own. A file whose pages it has costs what it costs on any file system.
 * That answer holds for a whole connection, which is why it is a mount of its own.
 *
 * Since opens are not seen here, changes reach the kernel in other ways. After a re-measurement notify.h makes the kernel drop the pages and
 * ask for time and size anew (two measurements in one second may have equal ones). After an edit of a recipe everything below its solver may
 * differ: names have the recipe's version as their generation, the solver's folder is looked up anew every second, and at a new generation
 * the kernel drops everything below it, even files in use.
 *
 * There is no handle that could keep a file's content between reads. So a few files that were not read to their end, and programs, are kept
 * here. */
#include "fs/kernel/session_internal.h"

#include <fcntl.h>

#define KEPT 8

struct content {
        unsigned refs;
        struct blob blob;
        int fd; /* instead of blob; -1 */
};

struct contents {
        pthread_mutex_t lock;
        /* under lock */
        struct kept {
                uint64_t ino, token;
                struct content *content; /* a ref; NULL: none */
        } kept[KEPT];
        unsigned next; /* the place that is given away next */
};

static struct content *content_new(void)
{
        struct content *c = allocate(1, sizeof(*c));

        c->refs = 1;
        c->fd = -1;
        return c;
}

static struct content *content_ref(struct content *c)
{
        if (c)
                __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
        return c;
}

static struct content *content_unref(struct content *c)
{
        if (c && __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                closep(&c->fd);
                blob_done(&c->blob);
                free(c);
        }
        return NULL;
}
DEFINE_CLEANUP(struct content *, content_unref)
#define cleanup_content cleanup(content_unrefp)

struct contents *contents_new(void)
{
        struct contents *c = allocate(1, sizeof(*c));

        pthread_mutex_init(&c->lock, NULL);
        return c;
}

void contents_free(struct contents *c)
{
        for (size_t i = 0; i < KEPT; i++)
                content_unref(c->kept[i].content);
        pthread_mutex_destroy(&c->lock);
        free(c);
}

static struct kept *kept_at(struct contents *c, uint64_t ino)
{
        for (size_t i = 0; i < KEPT; i++)
                if (c->kept[i].content && c->kept[i].ino == ino)
                        return &c->kept[i];
        return NULL;
}

/* A ref, or NULL. */
static struct content *contents_find(struct contents *c, uint64_t ino, uint64_t token)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct kept *k = kept_at(c, ino);

        return k && k->token == token ? content_ref(k->content) : NULL;
}

/* NULL: it is not kept any more. */
static void contents_keep(struct contents *c, uint64_t ino, uint64_t token, struct content *content)
{
        cleanup_content struct content *old = NULL; /* given back without the lock */
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct kept *k = kept_at(c, ino);

        if (!k && content)
                k = &c->kept[c->next++ % KEPT];
        if (k) {
                old = k->content;
                *k = (struct kept){ino, token, content_ref(content)};
        }
}

/* Changes whenever the content of a file with the same inode may have changed. */
static uint64_t content_token(struct session *s, const struct node *n)
{
        return (n->solver ? n->solver->version + runs_remeasured(tree_workspace(s->tree)) : 0) +
               (n->route->rewritten ? store_generation(workspace_store(tree_workspace(s->tree))) : 0);
}

static int content_load(struct session *s, const struct node *n, struct content *c)
{
        int r = n->route->open ? n->route->open(s->tree, n, &c->fd) : tree_content(s->tree, n, &c->blob);

        /* a file outside of cached/ that is not worked out, and that other mounts would work out */
        return node_type(n) == NODE_COMPUTED && !n->view.cached && (r == -ENODATA || r == -ESTALE) ? -ENOENT : r;
}

/* Replies, and keeps the content if more of it is likely to be asked for. */
static void answer_read(struct session *s, fuse_req_t req, const struct parked *p, uint64_t token, struct content *c)
{
        bool more = c->fd >= 0 || (uint64_t)p->offset + p->size < c->blob.size;

        if (more || p->offset > 0)
                contents_keep(s->contents, p->ino, token, more ? c : NULL);
        session_reply_bytes(req, c->fd, &c->blob, p->size, p->offset);
}

void finished_open(fuse_req_t req, fuse_ino_t, struct fuse_file_info *)
{
        fuse_reply_err(req, ENOSYS);
}

void finished_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *)
{
        struct session *s = session_of(req);
        struct parked p = {.ino = ino, .size = size, .offset = offset};
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_content struct content *c = NULL;
        cleanup_node struct node n = {0};
        uint64_t token = 0;
        int r = tree_node(s->tree, ino, &n);

        if (r == 0 && (node_type(&n) == NODE_FOLDER || node_type(&n) == NODE_LINK))
                r = -EISDIR; /* no kernel asks for that */
        if (r == 0 && n.route->kept && !n.view.cached)
                r = -ESTALE; /* nor for a program that is not in this tree */
        if (r == 0) {
                token = content_token(s, &n);
                c = contents_find(s->contents, ino, token);
        }
        if (r == 0 && !c && n.route->kept) {
                r = n.route->query(s->tree, &n, &q); /* it is put in the folder of programs, which takes a moment */
                if (r == 0) {
                        waiters_park(s->waiters, req, &p, q);
                        return;
                }
        }
        if (r == 0 && !c) {
                c = content_new();
                r = content_load(s, &n, c);
        }
        if (r == 0)
                answer_read(s, req, &p, token, c);
        else
                fuse_reply_err(req, session_error(r, n.route && n.route->name ? n.route->name : "read", NULL));
}

void finished_answered(void *user, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason)
{
        struct session *s = user;
        cleanup_content struct content *c = content_new();
        cleanup_node struct node n = {0};

        if (r == 0)
                r = tree_node(s->tree, p->ino, &n);
        if (r == 0) {
                c->fd = n.route->answer_fd(v);
                r = c->fd < 0 ? -errno : 0;
        }
        if (r == 0)
                answer_read(s, req, p, content_token(s, &n), c);
        else
                fuse_reply_err(req, session_error(r, "read", reason));
}
