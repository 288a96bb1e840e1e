/* Files of a mount of finished values (solverfs mount -o cached).
 *
 * Nothing in it waits, starts work or is written to, so the kernel need not ask at each open: OPEN is answered once, with ENOSYS, and from
 * then on the kernel handles opens and closes of this connection itself. A file whose pages it has costs no more than on any file system.
 * The answer holds for a whole connection, so such a mount is separate.
 *
 * As no opens are seen here, changes reach the kernel in other ways. After a re-measurement notify.h makes the kernel drop the pages and ask
 * for time and size again (those of two runs in one second may be equal). After an edit of a recipe everything below its solver may differ:
 * names have the recipe's version as their generation, the solver's folder is looked up again every second, and at a new generation the
 * kernel drops everything below it, even files in use.
 *
 * No handle can keep a file's content between reads. So a few files that were not read to their end, and programs, are kept here. */
#include "fs/kernel/session_internal.h"

#include <fcntl.h>

#define KEPT 8

struct content {
        struct blob blob;
        int fd; /* instead of blob; -1 */
};

static void content_done(struct content *c)
{
        closep(&c->fd);
        blob_done(&c->blob);
}
#define cleanup_content cleanup(content_done)

struct contents {
        pthread_mutex_t lock; /* also held while a part of a content is sent */
        /* under lock */
        struct kept {
                uint64_t ino, token; /* 0: none */
                struct content content;
        } kept[KEPT];
        unsigned next; /* the place to reuse next */
};

struct contents *contents_new(void)
{
        struct contents *c = allocate(1, sizeof(*c));

        pthread_mutex_init(&c->lock, NULL);
        for (size_t i = 0; i < KEPT; i++)
                c->kept[i].content.fd = -1;
        return c;
}

void contents_free(struct contents *c)
{
        for (size_t i = 0; i < KEPT; i++)
                content_done(&c->kept[i].content);
        pthread_mutex_destroy(&c->lock);
        free(c);
}

/* Lock held. */
static struct kept *kept_at(struct contents *c, uint64_t ino)
{
        for (size_t i = 0; i < KEPT; i++)
                if (c->kept[i].ino == ino)
                        return &c->kept[i];
        return NULL;
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

        /* a file outside cached/ that is not computed yet, and that other mounts would compute */
        return node_type(n) == NODE_COMPUTED && !n->view.cached && (r == -ENODATA || r == -ESTALE) ? -ENOENT : r;
}

static void reply(fuse_req_t req, const struct parked *p, const struct content *c)
{
        session_reply_bytes(req, c->fd, &c->blob, p->size, p->offset);
}

/* True if more reads of the file are likely. */
static bool is_partial(const struct parked *p, const struct content *c)
{
        return c->fd >= 0 || (uint64_t)p->offset + p->size < c->blob.size;
}

/* Replies from the kept content and forgets it with its last part. False: it is not kept. */
static bool answer_kept(struct session *s, fuse_req_t req, const struct parked *p, uint64_t token)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->contents->lock);
        struct kept *k = kept_at(s->contents, p->ino);

        if (!k || k->token != token)
                return false;
        reply(req, p, &k->content);
        if (!is_partial(p, &k->content)) {
                content_done(&k->content);
                k->ino = 0;
        }
        return true;
}

/* Replies, and keeps the content if more reads of it are likely. */
static void answer_new(struct session *s, fuse_req_t req, const struct parked *p, uint64_t token, struct content *c)
{
        cleanup_unlock pthread_mutex_t *held = NULL;
        struct kept *k;

        reply(req, p, c);
        if (!is_partial(p, c))
                return;
        held = hold(&s->contents->lock);
        k = kept_at(s->contents, p->ino) ?: &s->contents->kept[s->contents->next++ % KEPT];
        content_done(&k->content);
        *k = (struct kept){p->ino, token, *c};
        *c = (struct content){.fd = -1};
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
        cleanup_content struct content c = {.fd = -1};
        cleanup_node struct node n = {0};
        uint64_t token = 0;
        int r = tree_node(s->tree, ino, &n);

        if (r == 0 && (node_type(&n) == NODE_FOLDER || node_type(&n) == NODE_LINK))
                r = -EISDIR; /* no kernel does that */
        if (r == 0 && n.route->kept && !n.view.cached)
                r = -ESTALE; /* nor reads a program that is not in this tree */
        if (r == 0) {
                token = content_token(s, &n);
                if (answer_kept(s, req, &p, token))
                        return;
                r = n.route->kept ? n.route->query(s->tree, &n, &q) : content_load(s, &n, &c);
        }
        if (r < 0)
                fuse_reply_err(req, session_error(r, n.route && n.route->name ? n.route->name : "read", NULL));
        else if (q) /* the program is put into programs/, which takes a moment */
                waiters_park(s->waiters, req, &p, q);
        else
                answer_new(s, req, &p, token, &c);
}

void finished_answered(void *user, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason)
{
        struct session *s = user;
        cleanup_content struct content c = {.fd = -1};
        cleanup_node struct node n = {0};

        if (r == 0)
                r = tree_node(s->tree, p->ino, &n);
        if (r == 0) {
                c.fd = n.route->answer_fd(v);
                r = c.fd < 0 ? -errno : 0;
        }
        if (r == 0)
                answer_new(s, req, p, content_token(s, &n), &c);
        else
                fuse_reply_err(req, session_error(r, "read", reason));
}
