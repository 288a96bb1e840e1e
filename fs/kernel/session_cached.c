/* Files of a mount of finished values (solverfs mount -o cached).
 *
 * Nothing in it waits, starts work or is written to, so the kernel need not ask at each open: OPEN is answered once, with ENOSYS, and from
 * then on the kernel handles opens and closes of this connection itself. A file whose pages it has costs no more than on any file system.
 * The answer holds for a whole connection, so such a mount is separate.
 *
 * As no opens are seen here, changes reach the kernel in other ways. After a re-measurement notify.h gives the files other nodes (node_map.h).
 * After an edit of a recipe everything below its solver may differ: names have the recipe's version as their generation, the solver's folder is
 * looked up again every second, and at a new generation the kernel drops everything below it, even files in use.
 *
 * No handle can keep a file's content between reads. So a few files that were read in parts, programs, and files that are rewritten are kept here,
 * each for the node it was read by; those not read to their end for longest. All reads of a node and its size are of one content: when the file has another, its name gets
 * another node, and the old one is for those who began to read it. The hash of a rewritten file is kept for longer: once its content is no longer
 * kept and the file has another, they get ESTALE. */
#include "fs/kernel/session_internal.h"

#include <fcntl.h>

#define KEPT      8
#define REWRITTEN 4096

/* A content that the kernel may have a part of. */
struct sent {
        fuse_ino_t node; /* 0: none */
        uint64_t token;  /* content_token() when the file was last known to have it */
        uint64_t hash;
};

struct contents {
        pthread_mutex_t lock; /* also held while a part of a content is sent */
        /* under lock */
        struct kept {
                struct sent sent;
                off_t left; /* bytes that no read has asked for; 0: the first to make room */
                struct content content;
        } kept[KEPT];
        unsigned next;                    /* the place to reuse next, if none is free */
        struct sent rewritten[REWRITTEN]; /* of such files, kept or not; by a hash of the node */
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

/* -- what is kept -- */

/* Lock held. */
static struct kept *kept_at(struct contents *c, fuse_ino_t node)
{
        for (size_t i = 0; i < KEPT; i++)
                if (c->kept[i].sent.node == node)
                        return &c->kept[i];
        return NULL;
}

static struct sent *rewritten_slot(struct contents *c, fuse_ino_t node)
{
        return &c->rewritten[(node * UINT64_C(0x9e3779b97f4a7c15) >> 32) % REWRITTEN];
}

/* Lock held. NULL: it is not known what the kernel has of the node. */
static struct sent *sent_of(struct contents *c, fuse_ino_t node)
{
        struct kept *k = kept_at(c, node);
        struct sent *slot = rewritten_slot(c, node);

        return k ? &k->sent : slot->node == node ? slot : NULL;
}

/* Lock held. */
static void kept_drop(struct kept *k)
{
        content_done(&k->content);
        k->sent.node = 0;
}

/* Lock held. A free place. */
static struct kept *kept_new(struct contents *c)
{
        struct kept *k = &c->kept[c->next++ % KEPT];

        for (unsigned i = 0; i < KEPT && k->sent.node != 0 && k->left > 0; i++)
                k = &c->kept[c->next++ % KEPT];
        kept_drop(k);
        return k;
}

void contents_forget(struct contents *c, fuse_ino_t node)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct kept *k = kept_at(c, node);
        struct sent *slot = rewritten_slot(c, node);

        if (k)
                kept_drop(k);
        if (slot->node == node)
                slot->node = 0;
}

/* -- answering reads -- */

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

/* The part of the file that this read asks for. */
static off_t asked_size(const struct parked *p, const struct content *c)
{
        return MIN((off_t)p->size, MAX(content_size(c) - p->offset, (off_t)0));
}

/* True if the file may get another content while it is read, or costs more than a moment to find again. */
static bool stays(const struct node *n)
{
        return n->route->rewritten || n->route->kept;
}

/* Lock held. Replies. The kernel asks for several parts at once, so the last one may come first; for one that it has dropped it asks again. So what was
 * asked for to its end stays until its place is needed. */
static void answer(fuse_req_t req, const struct parked *p, struct kept *k)
{
        content_reply(req, &k->content, p->size, p->offset);
        k->left -= MIN(k->left, asked_size(p, &k->content));
}

/* Replies from the content that is kept for the node. False: none is. */
static bool answer_kept(struct session *s, fuse_req_t req, const struct parked *p)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->contents->lock);
        struct kept *k = kept_at(s->contents, p->ino);

        if (k)
                answer(req, p, k);
        return k;
}

/* Lock held. Notes what the kernel gets of a file that is rewritten. -ESTALE: it has got another content for this node. */
static int note_rewritten(struct session *s, const struct sent *now)
{
        struct sent *slot = rewritten_slot(s->contents, now->node);

        if (slot->node == now->node && slot->hash != now->hash) {
                node_map_move(s->nodes, now->node);
                return -ESTALE;
        }
        *slot = *now;
        return 0;
}

/* Replies from this content, or from one that was kept meanwhile. */
static void answer_new(struct session *s, fuse_req_t req, const struct parked *p, const struct node *n, uint64_t token, struct content *c)
{
        struct sent sent = {.node = p->ino, .token = token};
        cleanup_unlock pthread_mutex_t *held = NULL;
        struct kept *k;

        if (asked_size(p, c) == content_size(c) && !stays(n)) { /* most files */
                content_reply(req, c, p->size, p->offset);
                return;
        }
        sent.hash = content_hash(c);
        held = hold(&s->contents->lock);
        k = kept_at(s->contents, p->ino);
        if (!k && n->route->rewritten && note_rewritten(s, &sent) < 0) {
                fuse_reply_err(req, ESTALE);
                return;
        }
        if (!k) {
                k = kept_new(s->contents);
                *k = (struct kept){.sent = sent, .left = content_size(c), .content = *c};
                *c = (struct content){.fd = -1};
        }
        answer(req, p, k);
}

/* -- lookups and attributes -- */

/* True if the file has another content now than was sent. A program counts as changed once its token is: it would have to be put into programs/ to
 * be compared. */
static bool is_outdated(struct session *s, const struct node *n, struct sent *sent)
{
        cleanup_content struct content now = {.fd = -1};
        uint64_t token = content_token(s, n);

        if (sent->token == token && node_type(n) != NODE_LIVE) /* which is of more than the store */
                return false;
        if (n->route->kept || content_load(s, n, &now) < 0 || content_hash(&now) != sent->hash)
                return true;
        sent->token = token;
        return false;
}

void finished_looked_up(struct session *s, const struct node *n, struct stat *st)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->contents->lock);
        fuse_ino_t node = node_map_node(s->nodes, st->st_ino);
        struct sent *sent = sent_of(s->contents, node);
        const struct kept *k = kept_at(s->contents, node);

        if (sent && is_outdated(s, n, sent))
                node_map_move(s->nodes, node);
        else if (k)
                st->st_size = content_size(&k->content);
}

int finished_stat(struct session *s, fuse_ino_t node, struct stat *st)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->contents->lock);
        const struct kept *k = kept_at(s->contents, node);

        if (k)
                st->st_size = content_size(&k->content);
        return k || node_map_node(s->nodes, st->st_ino) == node ? 0 : -ESTALE;
}

/* -- requests -- */

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
        int r = session_node(s, ino, &n);

        if (r == 0 && (node_type(&n) == NODE_FOLDER || node_type(&n) == NODE_LINK))
                r = -EISDIR; /* no kernel does that */
        if (r == 0 && n.route->kept && !n.view.cached)
                r = -ESTALE; /* nor reads a program that is not in this tree */
        if (r == 0 && answer_kept(s, req, &p))
                return;
        if (r == 0 && node_map_node(s->nodes, inode_pack(n.inode)) != ino)
                r = -ESTALE; /* what was begun to be read is no longer there */
        if (r == 0) {
                token = content_token(s, &n);
                r = n.route->kept ? n.route->query(s->tree, &n, &q) : content_load(s, &n, &c);
        }
        if (r < 0)
                fuse_reply_err(req, session_error(r, n.route && n.route->name ? n.route->name : "read", NULL));
        else if (q) /* the program is put into programs/, which takes a moment */
                waiters_park(s->waiters, req, &p, q);
        else
                answer_new(s, req, &p, &n, token, &c);
}

void finished_answered(void *user, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason)
{
        struct session *s = user;
        cleanup_content struct content c = {.fd = -1};
        cleanup_node struct node n = {0};

        if (r == 0)
                r = session_node(s, p->ino, &n);
        if (r == 0) {
                c.fd = n.route->answer_fd(v);
                r = c.fd < 0 ? -errno : 0;
        }
        if (r == 0)
                answer_new(s, req, p, &n, content_token(s, &n), &c);
        else
                fuse_reply_err(req, session_error(r, "read", reason));
}
