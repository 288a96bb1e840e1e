/* FUSE on one side, the tree on the other: names, attributes, and the life of a session. */
#include "fs/kernel/session_internal.h"

#include <sys/statvfs.h>

#include "core/query/disturbed.h"
#include "fs/kernel/notify.h"

#define FOREVER (365.0 * 24 * 3600)
#define BRIEFLY 1.0

/* -- attributes -- */

/* How long the kernel may remember that a name is absent. */
static double absent_timeout(const struct node *dir)
{
        static const double timeouts[] = {[ABSENT_BRIEFLY] = BRIEFLY, [ABSENT_FOREVER] = FOREVER, [ABSENT_NOT] = 0};

        return dir->view.cached ? 0 : timeouts[dir->route->absent]; /* a value may appear in cached/ at any moment */
}

static int node_attributes(struct session *s, const struct node *n, struct stat *st, double *timeout, bool *ready)
{
        bool is_asked_first;
        int r = tree_stat(s->tree, n, st, ready);

        if (r < 0)
                return r;
        /* without OPENDIR only a question for its attributes says that a folder will be listed: list_drop_outdated() */
        is_asked_first = s->no_opendir && node_type(n) == NODE_FOLDER && tree_list_generation(s->tree, n) != LISTING_FIXED;
        if (!*ready || is_asked_first)
                *timeout = 0;
        else
                *timeout = n->route->moves || n->route->generation ? BRIEFLY : FOREVER;
        return 0;
}

int session_node(struct session *s, fuse_ino_t node, struct node *ret)
{
        return tree_node(s->tree, node_map_ino(s->nodes, node), ret);
}

int session_entry(struct session *s, const struct node *n, struct fuse_entry_param *ret)
{
        bool ready;
        int r = node_attributes(s, n, &ret->attr, &ret->attr_timeout, &ready);

        if (r < 0)
                return r;
        r = tree_hold(s->tree, &n->inode);
        if (r < 0)
                return r;
        if (s->finished)
                finished_looked_up(s, n, &ret->attr);
        ret->ino = node_map_hold(s->nodes, ret->attr.st_ino);
        if (file_held_size(s, n, ret->ino, ready, &ret->attr))
                ret->attr_timeout = 0;
        if (s->finished && n->solver)
                ret->generation = n->solver->version;
        ret->entry_timeout = n->route->moves ? BRIEFLY : FOREVER;
        return 0;
}

void session_forget(struct session *s, fuse_ino_t node, uint64_t times)
{
        tree_forget(s->tree, node_map_ino(s->nodes, node), times);
        node_map_forget(s->nodes, node, times);
}

int session_error(int r, const char *what, const char *reason)
{
        static const int passed[] = {ENODATA, ENOSPC, EDQUOT, EINTR,  ENOENT, ENOTUNIQ, EDEADLK, EXDEV,
                                     EOPNOTSUPP, EROFS, EACCES, EAGAIN, ENOMEM, EMFILE, ENFILE};

        for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
                if (r == -passed[i])
                        return -r;
        if (r == -ECANCELED)
                return EINTR; /* the mount is going away */
        if (r == -ESTALE && !reason)
                return ESTALE; /* with a reason, work failed: the repository lacks objects, and a new lookup does not help */
        log_error("%s: %s", what, reason ? reason : error_message(r));
        return EIO;
}

/* -- init, lookup, getattr, readlink, statfs -- */

/* All that we ask of the kernel, in place of this libfuse's defaults. A mount of finished values does not see opens, so the kernel drops pages when a
 * size or time differs. It is usually read whole, so names always come with attributes. */
#define WANTED           (FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_IOCTL_DIR | FUSE_CAP_READDIRPLUS)
#define WANTED_COMPUTING (WANTED | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_EXPLICIT_INVAL_DATA)
#define WANTED_FINISHED  (WANTED | FUSE_CAP_AUTO_INVAL_DATA)

static void op_init(void *user, struct fuse_conn_info *conn)
{
        struct session *s = user;

        conn->want = conn->capable & (s->finished ? WANTED_FINISHED : WANTED_COMPUTING);
        s->no_opendir = s->finished && conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT;
        conn->max_background = 1000; /* readers of many files at once: the default of 12 would make them take turns */
        conn->congestion_threshold = 750;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
        struct session *s = session_of(req);
        cleanup_node struct node dir = {0}, n = {0};
        struct fuse_entry_param e = {0};
        int r = tree_node(s->tree, parent, &dir) ?: tree_lookup(s->tree, &dir, name, &n) ?: session_entry(s, &n, &e);

        if (r == -ENOENT && dir.route && dir.route->takes && writing_lookup(s, name, &e))
                r = 0;
        else if (r == -ENOENT && dir.route && absent_timeout(&dir) > 0) {
                e.entry_timeout = absent_timeout(&dir); /* inode 0: the name is absent, for this long */
                r = 0;
        }
        if (r < 0)
                fuse_reply_err(req, session_error(r, name, NULL));
        else if (fuse_reply_entry(req, &e) < 0) /* interrupted meanwhile: the kernel does not know it (inode 0 is nobody's) */
                session_forget(s, e.ino, 1);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t times)
{
        struct session *s = session_of(req);

        file_forget(s, ino);
        contents_forget(s->contents, ino); /* the next reader looks it up again */
        session_forget(s, ino, times);
        fuse_reply_none(req);
}

int session_stat(struct session *s, fuse_ino_t node, struct stat *ret, double *ret_timeout)
{
        cleanup_node struct node n = {0};
        bool ready;
        int r;

        *ret_timeout = 0;
        if (is_new_case_ino(node))
                return writing_stat(s->writing, node, ret);
        r = session_node(s, node, &n) ?: node_attributes(s, &n, ret, ret_timeout, &ready);
        if (r == 0 && file_held_size(s, &n, node, ready, ret))
                *ret_timeout = 0;
        return r == 0 && s->finished ? finished_stat(s, node, ret) : r;
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *)
{
        struct session *s = session_of(req);
        double timeout;
        struct stat st;
        int r = session_stat(s, ino, &st, &timeout);

        if (r == 0 && s->no_opendir && S_ISDIR(st.st_mode) && timeout == 0)
                list_drop_outdated(s, ino);
        if (r == 0)
                fuse_reply_attr(req, &st, timeout);
        else
                fuse_reply_err(req, session_error(r, "getattr", NULL));
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
        struct session *s = session_of(req);
        cleanup_node struct node n = {0};
        cleanup_blob struct blob target = {0};
        int r = tree_node(s->tree, ino, &n);

        if (r == 0)
                r = node_type(&n) == NODE_LINK ? tree_content(s->tree, &n, &target) : -ENOENT;
        if (r == 0)
                fuse_reply_readlink(req, target.data); /* a buffer's bytes end with a NUL */
        else
                fuse_reply_err(req, session_error(r, "readlink", NULL));
}

static void op_statfs(fuse_req_t req, fuse_ino_t)
{
        struct session *s = session_of(req);
        struct statvfs st = {.f_bsize = 4096, .f_frsize = 4096};

        statvfs(workspace_dir(tree_workspace(s->tree)), &st); /* cases/ has as much room as the store */
        st.f_files = st.f_ffree = st.f_favail = 0;
        st.f_namemax = 255;
        fuse_reply_statfs(req, &st);
}

/* -- what no folder takes -- */

static void op_mknod(fuse_req_t req, fuse_ino_t, const char *, mode_t, dev_t)
{
        fuse_reply_err(req, EROFS);
}
static void op_mkdir(fuse_req_t req, fuse_ino_t, const char *, mode_t)
{
        fuse_reply_err(req, EROFS);
}
static void op_rmdir(fuse_req_t req, fuse_ino_t, const char *)
{
        fuse_reply_err(req, EROFS);
}
static void op_symlink(fuse_req_t req, const char *, fuse_ino_t, const char *)
{
        fuse_reply_err(req, EROFS);
}
static void op_link(fuse_req_t req, fuse_ino_t, fuse_ino_t, const char *)
{
        fuse_reply_err(req, EROFS);
}
static void op_removexattr(fuse_req_t req, fuse_ino_t, const char *)
{
        fuse_reply_err(req, EROFS);
}

const struct fuse_lowlevel_ops session_operations = {
        .init = op_init,
        .lookup = op_lookup,
        .forget = op_forget,
        .getattr = op_getattr,
        .setattr = write_setattr,
        .readlink = op_readlink,
        .mknod = op_mknod,
        .mkdir = op_mkdir,
        .unlink = write_unlink,
        .rmdir = op_rmdir,
        .symlink = op_symlink,
        .rename = write_rename,
        .link = op_link,
        .open = file_open,
        .read = file_read,
        .write = write_write,
        .flush = write_flush,
        .fsync = write_fsync,
        .release = file_release,
        .opendir = list_open,
        .readdir = list_read,
        .readdirplus = list_read_plus,
        .statfs = op_statfs,
        .setxattr = write_setxattr,
        .getxattr = state_getxattr,
        .listxattr = state_listxattr,
        .removexattr = op_removexattr,
        .create = write_create,
};

/* No release, no flush, no writing: libfuse answers those with ENOSYS. */
const struct fuse_lowlevel_ops session_finished_operations = {
        .init = op_init,
        .lookup = op_lookup,
        .forget = op_forget,
        .getattr = op_getattr,
        .readlink = op_readlink,
        .open = finished_open,
        .read = finished_read,
        .opendir = list_open,
        .readdir = list_read,
        .readdirplus = list_read_plus,
        .statfs = op_statfs,
        .getxattr = state_getxattr,
        .listxattr = state_listxattr,
};

/* -- life -- */

#define WRITERS 4 /* so that a small case need not wait for a large one's sync */

int session_new(struct workspace *w, struct engine *e, bool finished, struct session **ret)
{
        struct session *s = allocate(1, sizeof(*s));
        int r = 0;

        s->engine = e;
        s->finished = finished;
        pthread_mutex_init(&s->lock, NULL);
        s->tree = tree_open(w, e, finished);
        s->kernel_cache = kernel_cache_new();
        s->nodes = node_map_new();
        s->writing = writing_new();
        s->contents = contents_new();
        if (!finished)
                r = writers_new(WRITERS, &s->writers);
        if (r == 0 && !finished)
                r = writers_new(1, &s->namers);
        if (r == 0)
                r = waiters_new(e, finished ? finished_answered : file_answered, s, &s->waiters);
        if (r < 0) {
                session_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct session *session_free(struct session *s)
{
        if (!s)
                return NULL;
        waiters_free(s->waiters);
        writers_free(s->writers);
        writers_free(s->namers);
        file_close_all(s);
        contents_free(s->contents);
        writing_free(s->writing);
        kernel_cache_free(s->kernel_cache);
        node_map_free(s->nodes);
        tree_close(s->tree);
        pthread_mutex_destroy(&s->lock);
        free(s);
        return NULL;
}

int session_attach(struct session *s, struct fuse_session *fuse)
{
        s->fuse = fuse;
        if (fuse) {
                int r = notify_start(s->tree, s->nodes, fuse, s->finished, &s->notify);

                return r < 0 || s->finished ? r : remeasuring_start(tree_workspace(s->tree), s->engine, &s->remeasuring);
        }
        s->remeasuring = remeasuring_stop(s->remeasuring);
        notify_stop(s->notify);
        s->notify = NULL;
        return 0;
}

void session_drain(struct session *s)
{
        waiters_drain(s->waiters);
        s->writers = writers_free(s->writers);
        s->namers = writers_free(s->namers);
}

bool session_is_idle(struct session *s)
{
        cleanup_unlock pthread_mutex_t *held = hold(&s->lock);

        return !s->finished && LIST_EMPTY(&s->handles) && writing_is_idle(s->writing);
}
