/* Writing: only new cases. The threads that read requests hand these over to the writers (writers.h), which wait for the disk and reply. */
#include "fs/kernel/session_internal.h"

#include <limits.h>

#include "cache/base/fault.h"

#define WRITTEN_NS (60 * NSEC_PER_SEC) /* so long a closed file's name stays valid in cases/ */

/* A file that is open, or was closed a moment ago. */
struct written {
        uint64_t ino;
        uint64_t until; /* now_ns(); UINT64_MAX: while it is open; in the past: a place to be used again */
        struct stat st;
        char name[NAME_MAX + 1];
        uint32_t id; /* of the case it became; 0: none yet, and it is open */
        bool made;   /* no case had these bytes before */
};

struct writing {
        pthread_mutex_t lock;
        /* under lock */
        LIST_HEAD(, new_case) open;
        struct written *written; /* owned; files that are open or were just closed, in places that are used again */
        size_t n_written;
};

struct writing *writing_new(void)
{
        struct writing *w = allocate(1, sizeof(*w));

        pthread_mutex_init(&w->lock, NULL);
        return w;
}

void writing_free(struct writing *w)
{
        struct new_case *n;

        while ((n = LIST_FIRST(&w->open))) {
                LIST_REMOVE(n, others);
                new_case_unref(n);
        }
        pthread_mutex_destroy(&w->lock);
        free(w->written);
        free(w);
}

bool writing_is_idle(struct writing *w)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);

        return LIST_EMPTY(&w->open);
}

static uint64_t new_case_ino(const struct new_case *n)
{
        return inode_other(INODE_NEW_CASE, n->number);
}

/* Lock held. NULL: it is not open. */
static struct new_case *open_of(struct writing *w, fuse_ino_t ino)
{
        struct new_case *n;

        LIST_FOREACH (n, &w->open, others)
                if (new_case_ino(n) == ino)
                        return n;
        return NULL;
}

/* Returns a ref, since close() does not wait for RELEASE, which may come meanwhile. */
static struct new_case *new_case_of(struct writing *w, fuse_ino_t ino)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);
        struct new_case *n = open_of(w, ino);

        return n ? new_case_ref(n) : NULL;
}

bool is_new_case_ino(fuse_ino_t ino)
{
        return inode_is_other(ino, INODE_NEW_CASE);
}

/* Finds a file just written, by name or, if `name` is NULL, by inode. After a search by name the caller must check that the case still exists. */
static bool written_find(struct writing *w, fuse_ino_t ino, const char *name, struct written *ret)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);
        uint64_t now = fault_at("case.minute") < 0 ? now_ns() + WRITTEN_NS : now_ns();

        for (size_t i = 0; i < w->n_written; i++) {
                const struct written *f = &w->written[i];

                if (f->until > now && (name ? strcmp(f->name, name) == 0 : f->ino == ino)) {
                        *ret = *f;
                        return true;
                }
        }
        return false;
}

/* Under lock. A name has at most one file. */
static void written_drop(struct writing *w, fuse_ino_t ino, const char *name)
{
        for (size_t i = 0; i < w->n_written; i++)
                if (w->written[i].ino == ino || (name && strcmp(w->written[i].name, name) == 0))
                        w->written[i].until = 0;
}

/* Lock held. Until when a file's name stays valid, as of now: while it is open; then for a while if it became a case, else no longer. */
static uint64_t written_until(struct writing *w, const struct written *f)
{
        return open_of(w, f->ino) ? UINT64_MAX : f->id == 0 ? 0 : MIN(f->until, now_ns() + WRITTEN_NS);
}

static void written_add(struct writing *w, const struct written *f)
{
        cleanup_unlock pthread_mutex_t *held = hold(&w->lock);
        uint64_t now = now_ns();
        size_t i = 0;

        written_drop(w, f->ino, f->name); /* from an earlier flush or file */
        while (i < w->n_written && w->written[i].until > now)
                i++;
        if (i == w->n_written)
                list_grow(w->written, w->n_written++);
        w->written[i] = *f;
        w->written[i].until = written_until(w, f);
}

int writing_stat(struct writing *w, fuse_ino_t ino, struct stat *ret)
{
        cleanup(new_case_unrefp) struct new_case *n = new_case_of(w, ino);
        struct written f;
        int r;

        if (!n) {
                if (!written_find(w, ino, NULL, &f))
                        return -ESTALE;
                *ret = f.st;
                return 0;
        }
        r = fault_at("case.looked");
        if (r < 0 || fstat(n->fd, ret) < 0)
                return r < 0 ? r : -errno;
        ret->st_ino = ino;
        ret->st_mode = S_IFREG | 0644;
        ret->st_uid = geteuid();
        ret->st_gid = getegid();
        return 0;
}

/* Finds the file being written or just written under a name in cases/, unless its case has been removed since. */
static bool written_is_there(struct session *s, const char *name, struct written *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        return written_find(s->writing, 0, name, ret) &&
               (ret->id == 0 || (cases_get(workspace_cases(tree_workspace(s->tree)), ret->id, &info) == 0 && !info->removed));
}

bool writing_lookup(struct session *s, const char *name, struct fuse_entry_param *ret)
{
        struct written f;

        if (!written_is_there(s, name, &f) || writing_stat(s->writing, f.ino, &ret->attr) < 0)
                return false;
        ret->ino = f.ino;
        return true;
}

static void note_written(struct writing *w, struct new_case *n)
{
        cleanup_unlock pthread_mutex_t *held = hold(&n->lock); /* the last to change the name is the last to note it */
        struct written done = {.ino = new_case_ino(n), .until = UINT64_MAX, .id = n->id, .made = n->made};

        snprintf(done.name, sizeof(done.name), "%s", n->name);
        if (*done.name && writing_stat(w, done.ino, &done.st) == 0) /* not removed */
                written_add(w, &done);
}

static void forget_new_case(struct writing *w, struct new_case *n)
{
        pthread_mutex_lock(&w->lock);
        LIST_REMOVE(n, others);
        for (size_t i = 0; i < w->n_written; i++)
                if (w->written[i].ino == new_case_ino(n))
                        w->written[i].until = written_until(w, &w->written[i]);
        pthread_mutex_unlock(&w->lock);
        new_case_unref(n);
}

/* -- requests, handed over -- */

struct writing_request {
        struct chore chore;
        fuse_req_t req;
        void (*fn)(const struct writing_request *w); /* replies */
        fuse_ino_t ino;    /* the file or, if `data` is a name, its folder */
        fuse_ino_t to_ino; /* of rename: the other folder */
        struct fuse_file_info fi;
        struct stat attr;
        int which; /* of setattr: the attributes to set; of rename: its flags */
        off_t offset;
        size_t size; /* of data */
        const char *to; /* in `data`, behind the name */
        char data[]; /* what to write, or the name */
};

static void request_do(struct chore *c)
{
        struct writing_request *w = (struct writing_request *)c; /* its first member */

        w->fn(w);
        free(w);
}

/* Has room for `size` bytes of data. NULL: no memory; the request was answered. */
static struct writing_request *request_new(fuse_req_t req, void (*fn)(const struct writing_request *w), fuse_ino_t ino,
                                           const struct fuse_file_info *fi, size_t size)
{
        struct writing_request *w = malloc(sizeof(*w) + size);

        if (!w) {
                fuse_reply_err(req, ENOMEM);
                return NULL;
        }
        *w = (struct writing_request){.chore.fn = request_do, .req = req, .fn = fn, .ino = ino, .size = size};
        if (fi)
                w->fi = *fi;
        return w;
}

static void hand_over(struct writing_request *w)
{
        writers_do(session_of(w->req)->writers, &w->chore);
}

/* Hands over to the thread for names: the kernel keeps the folder locked meanwhile. */
static void hand_over_names(fuse_req_t req, void (*fn)(const struct writing_request *w), fuse_ino_t parent, const char *name,
                            fuse_ino_t new_parent, const char *to, unsigned flags, const struct fuse_file_info *fi)
{
        size_t size = strlen(name) + 1, to_size = strlen(to) + 1;
        struct writing_request *w = request_new(req, fn, parent, fi, size + to_size);

        if (!w)
                return;
        memcpy(w->data, name, size);
        w->to = memcpy(w->data + size, to, to_size);
        w->to_ino = new_parent;
        w->which = (int)flags;
        writers_do(session_of(req)->namers, &w->chore);
}

/* The errno for a writer, or 0. If a name or a case is refused, the log gets the reason: cp shows only the errno. */
static int write_error(int r, const char *what, const char *name)
{
        if (r != -EEXIST && r != -EINVAL && r != -EFBIG && r != -ENAMETOOLONG)
                return r < 0 ? session_error(r, name, NULL) : 0;
        log_info("a case was not %s: %s", what, error_message(r));
        return -r;
}

static void do_create(const struct writing_request *w)
{
        fuse_req_t req = w->req;
        struct session *s = session_of(req);
        const char *name = w->data;
        struct new_case *made = NULL;
        struct fuse_file_info fi = w->fi;
        cleanup_node struct node dir = {0};
        struct fuse_entry_param e = {0};
        int r = tree_node(s->tree, w->ino, &dir);

        if (r == 0 && !dir.route->takes)
                r = -EROFS;
        if (r == 0 && strlen(name) > NAME_MAX)
                r = -ENAMETOOLONG;
        if (r == 0)
                r = new_case_open(workspace_cases(tree_workspace(s->tree)), name, &made);
        if (r < 0) {
                fuse_reply_err(req, write_error(r, "added", name));
                return;
        }
        pthread_mutex_lock(&s->writing->lock);
        LIST_INSERT_HEAD(&s->writing->open, made, others);
        pthread_mutex_unlock(&s->writing->lock);
        note_written(s->writing, made);
        e.ino = new_case_ino(made);
        writing_stat(s->writing, e.ino, &e.attr);
        fi.fh = (uintptr_t)made;
        fi.direct_io = 1;
        if (fuse_reply_create(req, &e, &fi) < 0) /* interrupted meanwhile: no release will come */
                forget_new_case(s->writing, made);
}

void write_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t, struct fuse_file_info *fi)
{
        hand_over_names(req, do_create, parent, name, 0, "", 0, fi);
}

/* FUSE's handle of a file being written is its case. */
static struct new_case *case_of_handle(const struct fuse_file_info *fi)
{
        return (struct new_case *)(uintptr_t)fi->fh;
}

static void do_write(const struct writing_request *w)
{
        ssize_t written = new_case_write(case_of_handle(&w->fi), w->data, w->size, w->offset);

        if (written < 0)
                fuse_reply_err(w->req, write_error((int)written, "taken", "case"));
        else
                fuse_reply_write(w->req, (size_t)written);
}

void write_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset, struct fuse_file_info *fi)
{
        struct writing_request *w = request_new(req, do_write, ino, fi, size);

        if (!w)
                return;
        memcpy(w->data, data, size);
        w->offset = offset;
        hand_over(w);
}

static void do_flush(const struct writing_request *w)
{
        struct new_case *n = case_of_handle(&w->fi);
        int r = new_case_flush(n);

        if (r == 0)
                note_written(session_of(w->req)->writing, n); /* close() returns before RELEASE comes */
        fuse_reply_err(w->req, r == -ENODATA ? EINVAL : write_error(r, "added", "case"));
}

void write_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct writing_request *w;

        if (!is_new_case_ino(ino))
                fuse_reply_err(req, 0);
        else if ((w = request_new(req, do_flush, ino, fi, 0)))
                hand_over(w);
}

void write_fsync(fuse_req_t req, fuse_ino_t ino, int, struct fuse_file_info *fi)
{
        write_flush(req, ino, fi);
}

/* -- renaming -- */

static bool is_cases(struct session *s, fuse_ino_t folder)
{
        cleanup_node struct node dir = {0};

        return tree_node(s->tree, folder, &dir) == 0 && dir.route->takes;
}

/* Finds the file under a name: *ret_open is a ref to it, or NULL if it was closed; then *ret is what became of it. */
static int find_written(struct session *s, const char *name, struct written *ret, struct new_case **ret_open)
{
        if (!written_is_there(s, name, ret))
                return -EROFS;
        *ret_open = new_case_of(s->writing, ret->ino);
        return *ret_open || written_find(s->writing, ret->ino, NULL, ret) ? 0 : -EROFS; /* it may have been flushed and closed just now */
}

/* rsync, editors and others write under a temporary name and then rename the file. */
static int rename_written(struct session *s, const char *name, const char *to)
{
        cleanup(new_case_unrefp) struct new_case *open = NULL;
        struct written f;
        int r = find_written(s, name, &f, &open);

        if (r == 0 && strlen(to) > NAME_MAX)
                r = -ENAMETOOLONG;
        if (r < 0)
                return r;
        if (open) {
                r = new_case_rename(open, to);
                if (r == 0)
                        note_written(s->writing, open);
                return r;
        }
        r = new_case_rename_made(workspace_cases(tree_workspace(s->tree)), f.id, f.made, to);
        snprintf(f.name, sizeof(f.name), "%s", to);
        if (r == 0)
                written_add(s->writing, &f);
        return r;
}

static void do_rename(const struct writing_request *w)
{
        struct session *s = session_of(w->req);
        unsigned flags = (unsigned)w->which;
        int r = !is_cases(s, w->ino) || !is_cases(s, w->to_ino) ? -EROFS : flags & ~RENAME_NOREPLACE ? -EINVAL : 0;

        if (r == 0)
                r = rename_written(s, w->data, w->to);
        fuse_reply_err(w->req, write_error(r, "renamed", w->data));
}

void write_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *to, unsigned flags)
{
        hand_over_names(req, do_rename, parent, name, new_parent, to, flags, NULL);
}

static void do_unlink(const struct writing_request *w)
{
        struct session *s = session_of(w->req);
        cleanup(new_case_unrefp) struct new_case *open = NULL;
        struct written f;
        int r = is_cases(s, w->ino) ? find_written(s, w->data, &f, &open) : -EROFS;

        if (r == 0 && open)
                r = new_case_remove(open); /* its flush may have made the case meanwhile */
        else if (r == 0 && f.made)
                r = cases_remove(workspace_cases(tree_workspace(s->tree)), f.id);
        if (r == 0) {
                pthread_mutex_lock(&s->writing->lock);
                written_drop(s->writing, f.ino, NULL);
                pthread_mutex_unlock(&s->writing->lock);
        }
        fuse_reply_err(w->req, r < 0 ? session_error(r, w->data, NULL) : 0);
}

void write_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
        hand_over_names(req, do_unlink, parent, name, 0, "", 0, NULL);
}

/* Accepts and ignores times, modes and owners of a file being written and of the folder (cp -p, rsync -a); sets a length. */
static void do_setattr(const struct writing_request *w)
{
        struct session *s = session_of(w->req);
        fuse_ino_t ino = w->ino;
        cleanup(new_case_unrefp) struct new_case *n = is_new_case_ino(ino) ? new_case_of(s->writing, ino) : NULL;
        double timeout;
        struct stat st;
        int r = 0;

        if (n && (w->which & FUSE_SET_ATTR_SIZE))
                r = new_case_truncate(n, w->attr.st_size);
        else if (!n && ((!is_new_case_ino(ino) && !is_cases(s, ino)) || (w->which & FUSE_SET_ATTR_SIZE)))
                r = -EROFS;
        if (r == 0)
                r = session_stat(s, ino, &st, &timeout);
        if (r == 0)
                fuse_reply_attr(w->req, &st, 0);
        else
                fuse_reply_err(w->req, -r);
}

void write_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int which, struct fuse_file_info *)
{
        struct writing_request *w = request_new(req, do_setattr, ino, NULL, 0);

        if (!w)
                return;
        w->attr = *attr;
        w->which = which;
        writers_do(is_new_case_ino(ino) ? session_of(req)->writers : session_of(req)->namers, &w->chore);
}

void write_setxattr(fuse_req_t req, fuse_ino_t ino, const char *, const char *, size_t, int)
{
        /* cp -p and install set access control lists, and accept that there are none */
        fuse_reply_err(req, is_new_case_ino(ino) ? EOPNOTSUPP : EROFS);
}

static void do_release(const struct writing_request *w)
{
        struct new_case *n = case_of_handle(&w->fi);
        char name[NAME_MAX + 1];
        struct stat st;

        new_case_name(n, name, sizeof(name));
        if (*name && n->failed == 0 && fstat(n->fd, &st) == 0 && st.st_size == 0)
                log_info("a case was not added: '%s' is empty: not a case", name);
        forget_new_case(session_of(w->req)->writing, n);
        fault_at("case.closed");
        fuse_reply_err(w->req, 0);
}

void write_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        struct writing_request *w = request_new(req, do_release, ino, fi, 0);

        if (w)
                hand_over(w);
        else
                forget_new_case(s->writing, case_of_handle(fi));
}
