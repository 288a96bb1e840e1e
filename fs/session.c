/* FUSE on one side, the tree on the other.
 *
 * Sizes. The kernel learns a file's size at lookup, long before anybody knows the size of what is still to be worked out. So a computed file that
 * is not ready has a placeholder size (not 0: GNU tar would not even open it) and an attribute timeout of 0. open() waits until the value is
 * there; just before its reply the kernel is told to forget the attributes, so that whatever comes next (fstat, mmap, read, exec) asks again and
 * gets the real size. From then on attributes and pages may be kept for good. Whether a placeholder was ever given out for a file is remembered in
 * a bitmap of hashes, so that opening what was ready all along costs no notification; a collision costs one that was not needed.
 *
 * Pages of a file stay valid until it is measured again on purpose; then its mtime moves, and the next open drops them (keep_cache).
 *
 * Listings are cached by the kernel (cache_readdir) as long as tree_list_generation() of the folder is the same at each opendir.
 *
 * Replies. Each handler replies exactly once, at its end; helpers return 0 or -errno.
 */
#include "session.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/statvfs.h>

#include "cache/fault.h"
#include "new_case.h"
#include "notify.h"
#include "reader.h"
#include "routes.h"
#include "session_internal.h"

#define FOREVER     (365.0 * 24 * 3600)
#define BRIEFLY     1.0
#define PLACED_BITS (1u << 20)
#define SEEN_SLOTS  4096
#define PAGE        4096

/* install and rsync set modes and times by name when they have closed a file. It is a case by then and goes by its id; for so long its
 * name in cases/ is still that of a file. */
#define WRITTEN_SLOTS 64
#define WRITTEN_NS    (10 * NSEC_PER_SEC)

struct seen {
        uint64_t ino, token;
};

/* A set: open addressing, half full at most. */
struct inodes {
        uint64_t *slots; /* 0: free; no file has that number */
        size_t n, capacity;
};

struct session {
        struct tree *tree;         /* owned */
        struct engine *engine;     /* borrowed */
        struct waiters *waiters;   /* owned */
        struct notify *notify;     /* owned; while attached */
        struct fuse_session *fuse; /* borrowed; NULL until attached */

        pthread_mutex_t lock;
        /* under lock */
        uint8_t placed[PLACED_BITS / 8];  /* hashes of inodes that were given a placeholder size */
        struct seen listings[SEEN_SLOTS]; /* inode of a folder and the generation the kernel may have cached */
        struct seen measured[SEEN_SLOTS]; /* inode of a file that was measured again, and the mtime its pages are of */
        struct new_files {
                struct new_files *next;
                struct new_case *file;
        } * new_files;
        struct written {
                uint64_t ino, until; /* now_ns() */
                struct stat st;
                char name[NAME_MAX + 1];
        } written[WRITTEN_SLOTS]; /* files that were closed just now */
        unsigned next_written;
        struct handle *handles; /* all that are open */

        pthread_mutex_t telling; /* held while the kernel is told of a file's real size */
        struct inodes told;      /* files it was told of; under telling */
};

/* An open file. */
struct handle {
        pthread_mutex_t lock;
        bool loaded; /* `content` is there; under lock */
        struct blob content;
        int fd;                         /* instead of content; -1 */
        struct handle *previous, *next; /* under the session's lock */
};

static struct session *session_of(fuse_req_t req)
{
        return fuse_req_userdata(req);
}

/* -- small tables -- */

static uint32_t ino_hash(uint64_t ino)
{
        return (uint32_t)((ino * UINT64_C(0x9e3779b97f4a7c15)) >> 32); /* Fibonacci hashing: Knuth, TAOCP vol. 3, 6.4 */
}

static void placed_set(struct session *s, uint64_t ino)
{
        uint32_t bit = ino_hash(ino) % PLACED_BITS;

        pthread_mutex_lock(&s->lock);
        s->placed[bit / 8] |= (uint8_t)(1 << bit % 8);
        pthread_mutex_unlock(&s->lock);
}

static bool placed_get(struct session *s, uint64_t ino)
{
        uint32_t bit = ino_hash(ino) % PLACED_BITS;
        bool set;

        pthread_mutex_lock(&s->lock);
        set = s->placed[bit / 8] & 1 << bit % 8;
        pthread_mutex_unlock(&s->lock);
        return set;
}

/* Whether the kernel's copy is of this token; from now on it is. */
static bool seen_before(struct session *s, struct seen *table, uint64_t ino, uint64_t token)
{
        struct seen *slot = &table[ino_hash(ino) % SEEN_SLOTS];
        bool same;

        pthread_mutex_lock(&s->lock);
        same = slot->ino == ino && slot->token == token;
        *slot = (struct seen){ino, token};
        pthread_mutex_unlock(&s->lock);
        return same;
}

/* -- attributes -- */

static bool kind_is_moving(enum kind k) /* names whose target another `solver update` or `case add` may change */
{
        return k == KIND_REVISION || k == KIND_HEAD || k == KIND_TAG || k == KIND_TAG_FOLDER || k == KIND_BRANCH ||
               k == KIND_BRANCH_FOLDER || k == KIND_BY_NAME_LINK || k == KIND_BY_NAME_FOLDER || k == KIND_SOLVER ||
               k == KIND_CASE;
}

/* For how long a name that is not there may be taken not to be there. */
static double absent_timeout(const struct node *dir)
{
        if (dir->view.cached)
                return 0;
        switch ((unsigned)dir->route->kind) {
        case KIND_CASE:
        case KIND_COMMIT:
        case KIND_BUILD:
        case KIND_CELL:
        case KIND_DOT:
                return FOREVER; /* their rows are fixed */
        case KIND_CASES:
        case KIND_BY_NAME:
        case KIND_BY_NAME_FOLDER:
        case KIND_CELLS:
                return 0; /* cp just made it */
        default:
                return BRIEFLY;
        }
}

static int node_attributes(struct session *s, const struct node *n, struct stat *st, double *timeout)
{
        bool ready;
        int r = tree_stat(s->tree, n, st, &ready);

        if (r < 0)
                return r;
        *timeout = !ready ? 0 : kind_is_moving(n->route->kind) || n->route->generation ? BRIEFLY : FOREVER;
        if (!ready && node_type(n) == NODE_COMPUTED)
                placed_set(s, st->st_ino);
        return 0;
}

/* What the kernel may know of a name, and for how long. */
static int node_entry(struct session *s, const struct node *n, struct fuse_entry_param *ret)
{
        int r = node_attributes(s, n, &ret->attr, &ret->attr_timeout);

        if (r < 0)
                return r;
        ret->ino = ret->attr.st_ino;
        ret->entry_timeout = kind_is_moving(n->route->kind) ? BRIEFLY : FOREVER;
        return 0;
}

static uint64_t new_case_ino(const struct new_case *n)
{
        return (uint64_t)KIND_NEW_CASE << 56 | new_case_number(n);
}

static struct new_case *new_case_of(struct session *s, fuse_ino_t ino)
{
        struct new_case *found = NULL;

        pthread_mutex_lock(&s->lock);
        for (struct new_files *f = s->new_files; f && !found; f = f->next)
                if (new_case_ino(f->file) == ino)
                        found = f->file;
        pthread_mutex_unlock(&s->lock);
        return found;
}

static bool ino_is_new(fuse_ino_t ino)
{
        return ino >> 56 == KIND_NEW_CASE;
}

/* By name (ino 0) or by inode; whether it is still there is for who asks by name to find out. */
static bool written_find(struct session *s, fuse_ino_t ino, const char *name, struct stat *ret)
{
        uint64_t now = now_ns();
        bool found = false;

        pthread_mutex_lock(&s->lock);
        for (unsigned i = 0; i < WRITTEN_SLOTS && !found; i++) {
                const struct written *w = &s->written[i];

                found = w->until > now && (name ? strcmp(w->name, name) == 0 : w->ino == ino);
                if (found)
                        *ret = w->st;
        }
        pthread_mutex_unlock(&s->lock);
        return found;
}

static int new_case_stat(struct session *s, fuse_ino_t ino, struct stat *ret)
{
        struct new_case *n = new_case_of(s, ino);

        if (!n)
                return written_find(s, ino, NULL, ret) ? 0 : -ESTALE;
        if (fstat(new_case_fd(n), ret) < 0)
                return -errno;
        ret->st_ino = ino;
        ret->st_mode = S_IFREG | 0644;
        ret->st_uid = geteuid();
        ret->st_gid = getegid();
        return 0;
}

/* -- what a reader may be told -- */

/* Errors of the tree and the engine as open() has them: docs/tree.md, "Errors". */
static int open_error(int r, const char *what, const char *reason)
{
        switch (-r) {
        case ENODATA:
        case ENOSPC:
        case EDQUOT:
        case EINTR:
        case ENOENT:
        case ENOTUNIQ:
        case EDEADLK:
        case EROFS:
        case EACCES:
        case EAGAIN:
        case ENOMEM:
        case EMFILE:
        case ENFILE:
                return -r;
        case ESTALE: /* of an inode; with a reason it is of work: the repository lacks what it needs, which no new lookup finds */
                if (!reason)
                        return -r;
                log_error("%s: %s", what, reason);
                return EIO;
        case ECANCELED:
                return EINTR; /* the mount is going away */
        default:
                log_error("%s: %s", what, reason ? reason : error_message(r));
                return EIO;
        }
}

/* -- init, lookup, getattr, readlink -- */

static void op_init(void *, struct fuse_conn_info *conn)
{
        conn->want &= ~(unsigned)FUSE_CAP_AUTO_INVAL_DATA; /* READDIRPLUS and its AUTO are libfuse's default */
        if (conn->capable & FUSE_CAP_EXPLICIT_INVAL_DATA)
                conn->want |= FUSE_CAP_EXPLICIT_INVAL_DATA;
        conn->max_background = 1000; /* readers of many files at once: the default of 12 would make them take turns */
        conn->congestion_threshold = 750;
}

static bool lookup_written(struct session *s, const char *name, struct fuse_entry_param *e)
{
        cleanup(case_info_unrefp) struct case_info *holder = NULL;

        if (!written_find(s, 0, name, &e->attr) || cases_find(workspace_cases(tree_workspace(s->tree)), name, &holder) < 0)
                return false;
        e->ino = e->attr.st_ino;
        return true;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
        struct session *s = session_of(req);
        cleanup_node struct node dir = {0}, n = {0};
        struct fuse_entry_param e = {0};
        int r = tree_node(s->tree, parent, &dir);

        if (r == 0)
                r = tree_lookup(s->tree, &dir, name, &n);
        if (r == 0)
                r = node_entry(s, &n, &e);
        if (r == -ENOENT && dir.route && dir.route->kind == KIND_CASES && lookup_written(s, name, &e))
                r = 0;
        else if (r == -ENOENT && dir.route && absent_timeout(&dir) > 0) {
                e.entry_timeout = absent_timeout(&dir); /* inode 0: the name is not there, for so long */
                r = 0;
        }
        if (r == 0)
                fuse_reply_entry(req, &e);
        else
                fuse_reply_err(req, open_error(r, name, NULL));
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *)
{
        struct session *s = session_of(req);
        cleanup_node struct node n = {0};
        double timeout = 0;
        struct stat st;
        int r;

        if (ino_is_new(ino))
                r = new_case_stat(s, ino, &st);
        else {
                r = tree_node(s->tree, ino, &n);
                if (r == 0)
                        r = node_attributes(s, &n, &st, &timeout);
        }
        if (r == 0)
                fuse_reply_attr(req, &st, timeout);
        else
                fuse_reply_err(req, open_error(r, "getattr", NULL));
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
                fuse_reply_err(req, open_error(r, "readlink", NULL));
}

/* -- folders -- */

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        cleanup_node struct node dir = {0};
        int r = tree_node(s->tree, ino, &dir);

        if (r == 0) {
                uint64_t generation = tree_list_generation(s->tree, &dir);

                fi->cache_readdir = generation != 0;
                fi->keep_cache = generation != 0 && seen_before(s, s->listings, ino, generation);
                fuse_reply_open(req, fi);
        } else
                fuse_reply_err(req, open_error(r, "opendir", NULL));
}

struct listing {
        fuse_req_t req;
        char *data;
        size_t size, used;
        bool plus;       /* in READDIRPLUS's form */
        bool attributes; /* with what a lookup of each name would say */
};

/* Attributes go with the names where they are as good as free and mostly wanted next: a finished cell's files, which all come from one
 * fact. Elsewhere they may cost (a diff, an object of git) and are rarely asked for; a name without them (inode 0) is looked up if need
 * be. */
static bool lists_attributes(const struct node *dir)
{
        return dir->view.cached && dir->route->kind == KIND_CELL;
}

static void entry_attributes(struct session *s, const struct entry *e, struct fuse_entry_param *ret)
{
        cleanup_node struct node n = {0};

        if (tree_node(s->tree, e->ino, &n) < 0 || node_entry(s, &n, ret) < 0)
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
        l.attributes = plus && r == 0 && lists_attributes(&dir); /* not of the two: the kernel knows them */
        if (r == 0 && !full)
                r = tree_list(s->tree, &dir, offset <= 2 ? 0 : (uint64_t)offset, listing_add, &l);
        if (r == 0)
                fuse_reply_buf(req, data, l.used);
        else
                fuse_reply_err(req, open_error(r, "readdir", NULL));
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *)
{
        reply_listing(req, ino, size, offset, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *)
{
        reply_listing(req, ino, size, offset, true);
}

/* -- files -- */

static struct handle *handle_new(void)
{
        struct handle *h = calloc(1, sizeof(*h));

        if (h) {
                h->fd = -1;
                pthread_mutex_init(&h->lock, NULL);
        }
        return h;
}

static struct handle *handle_free(struct handle *h)
{
        if (!h)
                return NULL;
        closep(&h->fd);
        blob_done(&h->content);
        pthread_mutex_destroy(&h->lock);
        free(h);
        return NULL;
}
DEFINE_CLEANUP(struct handle *, handle_free)
#define cleanup_handle cleanup(handle_freep)

/* The kernel need not tell of the last closes when the mount goes away: session_free() closes what is left. */
static void handle_list(struct session *s, struct handle *h)
{
        pthread_mutex_lock(&s->lock);
        h->next = s->handles;
        if (h->next)
                h->next->previous = h;
        s->handles = h;
        pthread_mutex_unlock(&s->lock);
}

static void handle_close(struct session *s, struct handle *h)
{
        pthread_mutex_lock(&s->lock);
        if (h->next)
                h->next->previous = h->previous;
        if (h->previous)
                h->previous->next = h->next;
        else
                s->handles = h->next;
        pthread_mutex_unlock(&s->lock);
        handle_free(h);
}

/* Of a file that may be measured again: whether the kernel's pages are of what is there now. */
static bool pages_are_valid(struct session *s, const struct node *n, uint64_t ino)
{
        int64_t mtime;

        if (n->route->mtime != NULL && node_type(n) == NODE_COMPUTED && runs_remeasured(tree_workspace(s->tree)) > 0 &&
            n->route->mtime(s->tree, n, &mtime) == 0)
                return seen_before(s, s->measured, ino, (uint64_t)mtime);
        return true;
}

/* The last page of what a handle holds: its offset, and how many bytes of it are in `page`. */
static off_t last_page(const struct handle *h, char page[PAGE], size_t *ret_n)
{
        struct stat st = {0};
        off_t size = h->fd < 0 ? (off_t)h->content.size : fstat(h->fd, &st) == 0 ? st.st_size : 0;
        off_t offset = size > 0 ? (size - 1) / PAGE * PAGE : 0;
        ssize_t n = size - offset;

        if (h->fd >= 0)
                n = pread(h->fd, page, PAGE, offset);
        else if (n > 0)
                memcpy(page, (const char *)h->content.data + offset, (size_t)n);
        *ret_n = n > 0 ? (size_t)n : 0;
        return offset;
}

/* Whether this inode was told of; from now on it was. Lock held. When there is no memory for it, it counts as told: its attributes were
 * never to be kept, so that nearly everybody asks anew anyway. */
static bool told_before(struct inodes *t, uint64_t ino)
{
        size_t i;

        if (2 * t->n >= t->capacity) {
                struct inodes grown = {.capacity = MAX(2 * t->capacity, (size_t)1024)};

                grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
                if (!grown.slots)
                        return true;
                for (i = 0; i < t->capacity; i++)
                        if (t->slots[i] != 0)
                                told_before(&grown, t->slots[i]);
                free(t->slots);
                *t = grown;
        }
        for (i = ino_hash(ino) & (t->capacity - 1); t->slots[i] != 0; i = (i + 1) & (t->capacity - 1))
                if (t->slots[i] == ino)
                        return true;
        t->slots[i] = ino;
        t->n++;
        return false;
}

/* The kernel is told to forget the placeholder. Who reads without looking at the size first (sendfile and splice, as some cats do) would
 * still get no more than that: the last page, given unasked, makes the file as long as it is.
 *
 * Once for a file, before anybody's open of it is answered, and no open is answered meanwhile. A second time would do harm: it makes the
 * kernel throw away the size that another reader is asking for just now, who would then read on to the placeholder's end, in zeros; and the
 * page could be locked by a read that waits for this very thread. */
static void forget_placeholder(struct session *s, fuse_ino_t ino, const struct handle *h)
{
        char page[PAGE];
        size_t n;
        off_t offset = last_page(h, page, &n);
        struct fuse_bufvec b = FUSE_BUFVEC_INIT(n);

        b.buf[0].mem = page;
        pthread_mutex_lock(&s->telling);
        if (!told_before(&s->told, ino)) {
                fuse_lowlevel_notify_inval_inode(s->fuse, ino, -1, 0);
                if (offset >= PLACEHOLDER_SIZE) /* a shorter one is found out by the first read */
                        fuse_lowlevel_notify_store(s->fuse, ino, offset, &b, 0);
        }
        pthread_mutex_unlock(&s->telling);
}

/* Replies to an open that has all it needs; takes the handle. */
static void reply_open(struct session *s, fuse_req_t req, const struct node *n, fuse_ino_t ino, struct handle *h)
{
        bool live = node_type(n) == NODE_LIVE, valid = live || pages_are_valid(s, n, ino);
        struct fuse_file_info fi = {.fh = (uintptr_t)h, .direct_io = live, .keep_cache = !live && valid, .noflush = 1};

        if (s->fuse && !valid)
                fuse_lowlevel_notify_inval_inode(s->fuse, ino, -1, 0);
        else if (s->fuse && !live && placed_get(s, ino))
                forget_placeholder(s, ino, h);
        handle_list(s, h);
        if (fuse_reply_open(req, &fi) < 0) /* interrupted meanwhile: there will be no release */
                handle_close(s, h);
}

/* Why this reader may not start work, or 0. */
static int may_not_ask(struct session *s, pid_t reader)
{
        if (reader_is_job(reader))
                return -EDEADLK;
        if (reader_is_named(reader, workspace_settings(tree_workspace(s->tree))->crawlers))
                return -EDQUOT;
        return 0;
}

enum opening {
        OPENING_DONE,   /* the handle is complete */
        OPENING_PUT,    /* it is known, and is put in the folder of programs, which takes a moment */
        OPENING_WORKED, /* it has to be worked out */
};

static int open_program(struct session *s, const struct node *n)
{
        int kept = program_kept(s->tree, n);

        if (kept < 0)
                return kept;
        return kept ? OPENING_PUT : n->view.cached ? -ENOENT : OPENING_WORKED;
}

/* An enum opening, or -errno. */
static int open_node(struct session *s, const struct node *n, struct handle *h)
{
        int r;

        if (n->route->kind == KIND_PROGRAM)
                return open_program(s, n);
        if (n->route->open)
                return n->route->open(s->tree, n, &h->fd);
        if (node_type(n) == NODE_FILE)
                return OPENING_DONE; /* read_content() will get it, if the kernel has no pages of it */
        r = tree_content(s->tree, n, &h->content);
        h->loaded = r == 0;
        return r == -ENOENT && node_type(n) == NODE_COMPUTED && !n->view.cached ? OPENING_WORKED : r;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        cleanup_handle struct handle *h = handle_new();
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_node struct node n = {0};
        int r;

        if (ino_is_new(ino)) /* of one just written: its name is taken, and its bytes are to be read by its id */
                r = (fi->flags & O_ACCMODE) != O_RDONLY ? -EEXIST : -ENOENT;
        else if ((fi->flags & O_ACCMODE) != O_RDONLY || (fi->flags & (O_TRUNC | O_APPEND)))
                r = -EROFS;
        else
                r = h ? tree_node(s->tree, ino, &n) : -ENOMEM;
        if (r == 0 && (node_type(&n) == NODE_FOLDER || node_type(&n) == NODE_LINK))
                r = -EROFS; /* no kernel asks for that */
        if (r == 0)
                r = open_node(s, &n, h);
        if (r == OPENING_PUT || r == OPENING_WORKED) {
                r = r == OPENING_PUT ? 0 : may_not_ask(s, fuse_req_ctx(req)->pid);
                if (r == 0)
                        r = tree_query(s->tree, &n, &q);
                if (r == 0) {
                        waiters_park(s->waiters, req, ino, fi->flags, q);
                        return;
                }
        }
        if (r == 0)
                reply_open(s, req, &n, ino, steal_pointer(h));
        else
                fuse_reply_err(req,
                               r == -EEXIST ? EEXIST : open_error(r, n.route && n.route->name ? n.route->name : "open", NULL));
}

/* A parked open is answered. */
static int handle_fill(struct session *s, const struct node *n, struct value *v, struct handle *h)
{
        int r;

        if (v->type == &query_program_type) {
                h->fd = fcntl(((struct program_value *)v)->fd, F_DUPFD_CLOEXEC,
                              3); /* shares the lock that keeps it in the folder */
                return h->fd < 0 ? -errno : 0;
        }
        r = tree_content(s->tree, n, &h->content);
        h->loaded = r == 0;
        return r == -ENOENT ? errorf(-EIO, "the value was worked out, but is not in the store") : r;
}

static void open_answered(void *user, fuse_req_t req, fuse_ino_t ino, int, int r, struct value *v, const char *reason)
{
        struct session *s = user;
        cleanup_handle struct handle *h = handle_new();
        cleanup_node struct node n = {0};

        if (r == 0)
                r = fault_at("open.answer");
        if (r == 0)
                r = h ? tree_node(s->tree, ino, &n) : -ENOMEM;
        if (r == 0)
                r = handle_fill(s, &n, v, h);
        if (r == 0) {
                placed_set(s, ino); /* we cannot know what the kernel was told while this was parked */
                reply_open(s, req, &n, ino, steal_pointer(h));
        } else
                fuse_reply_err(req, open_error(r, "open", reason));
}

static int read_content(struct session *s, fuse_ino_t ino, struct handle *h)
{
        cleanup_node struct node n = {0};
        int r = 0;

        pthread_mutex_lock(&h->lock);
        if (!h->loaded) {
                r = tree_node(s->tree, ino, &n);
                if (r == 0)
                        r = tree_content(s->tree, &n, &h->content);
                h->loaded = r == 0;
        }
        pthread_mutex_unlock(&h->lock);
        return r;
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
        struct handle *h = (struct handle *)(uintptr_t)fi->fh;
        struct fuse_bufvec b = FUSE_BUFVEC_INIT(size);
        int r;

        if (ino_is_new(ino)) {
                fuse_reply_err(req, EACCES); /* it was opened for writing */
                return;
        }
        if (h->fd >= 0) {
                b.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
                b.buf[0].fd = h->fd;
                b.buf[0].pos = offset;
                fuse_reply_data(req, &b, 0);
                return;
        }
        r = read_content(session_of(req), ino, h);
        if (r < 0)
                fuse_reply_err(req, open_error(r, "read", NULL));
        else if ((uint64_t)offset >= h->content.size)
                fuse_reply_buf(req, NULL, 0);
        else
                fuse_reply_buf(req, (const char *)h->content.data + offset, MIN(size, h->content.size - (size_t)offset));
}

static void note_written(struct session *s, struct new_case *n)
{
        struct written w = {.ino = new_case_ino(n), .until = now_ns() + WRITTEN_NS};

        if (new_case_stat(s, w.ino, &w.st) < 0)
                return;
        snprintf(w.name, sizeof(w.name), "%s", new_case_name(n));
        pthread_mutex_lock(&s->lock);
        s->written[s->next_written++ % WRITTEN_SLOTS] = w;
        pthread_mutex_unlock(&s->lock);
}

static void forget_new_case(struct session *s, struct new_case *n)
{
        pthread_mutex_lock(&s->lock);
        for (struct new_files **p = &s->new_files; *p; p = &(*p)->next)
                if ((*p)->file == n) {
                        struct new_files *gone = *p;

                        *p = gone->next;
                        free(gone);
                        break;
                }
        pthread_mutex_unlock(&s->lock);
        new_case_close(n);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);

        if (ino_is_new(ino))
                forget_new_case(s, (struct new_case *)(uintptr_t)fi->fh);
        else
                handle_close(s, (struct handle *)(uintptr_t)fi->fh);
        fuse_reply_err(req, 0);
}

/* -- writing: only new cases -- */

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t, struct fuse_file_info *fi)
{
        struct session *s = session_of(req);
        struct new_files *entry = calloc(1, sizeof(*entry));
        cleanup_node struct node dir = {0};
        struct fuse_entry_param e = {0};
        int r = entry ? tree_node(s->tree, parent, &dir) : -ENOMEM;

        if (r == 0 && dir.route->kind != KIND_CASES)
                r = -EROFS;
        if (r == 0 && strlen(name) > NAME_MAX)
                r = -ENAMETOOLONG;
        if (r == 0)
                r = new_case_open(workspace_cases(tree_workspace(s->tree)), name, &entry->file);
        if (r < 0) {
                free(entry);
                if (r == -EEXIST)
                        log_info("a case was not added: %s", error_message(r));
                fuse_reply_err(req, r == -EEXIST || r == -EINVAL || r == -ENAMETOOLONG ? -r : open_error(r, name, NULL));
                return;
        }
        pthread_mutex_lock(&s->lock);
        entry->next = s->new_files;
        s->new_files = entry;
        pthread_mutex_unlock(&s->lock);
        e.ino = new_case_ino(entry->file);
        new_case_stat(s, e.ino, &e.attr);
        fi->fh = (uintptr_t)entry->file;
        fi->direct_io = 1;
        if (fuse_reply_create(req, &e, fi) < 0) /* interrupted meanwhile: there will be no release */
                forget_new_case(s, entry->file);
}

static void op_write(fuse_req_t req, fuse_ino_t, const char *data, size_t size, off_t offset, struct fuse_file_info *fi)
{
        struct new_case *n = (struct new_case *)(uintptr_t)fi->fh;
        ssize_t written = pwrite(new_case_fd(n), data, size, offset);

        if (written < 0) {
                fuse_reply_err(req, errno);
                return;
        }
        new_case_written(n);
        fuse_reply_write(req, (size_t)written);
}

static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
        int r = ino_is_new(ino) ? new_case_flush((struct new_case *)(uintptr_t)fi->fh) : 0;

        if (r < 0)
                log_info("a case was not added: %s", error_message(r));
        else if (ino_is_new(ino))
                note_written(session_of(req), (struct new_case *)(uintptr_t)fi->fh); /* close() returns before RELEASE comes */
        fuse_reply_err(req, r == -EEXIST || r == -EINVAL || r == -EFBIG ? -r : r < 0 ? open_error(r, "case", NULL) : 0);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int, struct fuse_file_info *fi)
{
        op_flush(req, ino, fi);
}

/* Times, modes and owners of a file being written are accepted and mean nothing (cp -p); its length is set. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int which, struct fuse_file_info *)
{
        struct session *s = session_of(req);
        struct new_case *n = ino_is_new(ino) ? new_case_of(s, ino) : NULL;
        struct stat st;
        int r = 0;

        if (n && (which & FUSE_SET_ATTR_SIZE))
                r = new_case_truncate(n, attr->st_size);
        else if (!n && (!ino_is_new(ino) || (which & FUSE_SET_ATTR_SIZE)))
                r = -EROFS;
        if (r == 0)
                r = new_case_stat(s, ino, &st);
        if (r == 0)
                fuse_reply_attr(req, &st, 0);
        else
                fuse_reply_err(req, -r);
}

static void refuse(fuse_req_t req)
{
        fuse_reply_err(req, EROFS);
}
static void op_mknod(fuse_req_t req, fuse_ino_t, const char *, mode_t, dev_t)
{
        refuse(req);
}
static void op_mkdir(fuse_req_t req, fuse_ino_t, const char *, mode_t)
{
        refuse(req);
}
static void op_unlink(fuse_req_t req, fuse_ino_t, const char *)
{
        refuse(req);
}
static void op_symlink(fuse_req_t req, const char *, fuse_ino_t, const char *)
{
        refuse(req);
}
static void op_rename(fuse_req_t req, fuse_ino_t, const char *, fuse_ino_t, const char *, unsigned)
{
        refuse(req);
}
static void op_link(fuse_req_t req, fuse_ino_t, fuse_ino_t, const char *)
{
        refuse(req);
}
static void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *, const char *, size_t, int)
{
        /* cp -p and install set access control lists, and are content when there is no such thing */
        fuse_reply_err(req, ino_is_new(ino) ? EOPNOTSUPP : EROFS);
}
static void op_removexattr(fuse_req_t req, fuse_ino_t, const char *)
{
        refuse(req);
}

/* -- state, by extended attributes -- */

static const char state_prefix[] = "user.solverfs.";

struct state {
        enum job_state state;
        uint64_t job;
        char *reason; /* owned */
};

static void state_done(struct state *s)
{
        free(s->reason);
}

static int node_state(struct session *s, const struct node *n, struct state *ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_buffer struct buffer b = {0};
        int r;

        *ret = (struct state){.state = JOB_READY};
        if (n->route->kind == KIND_PROGRAM) {
                r = program_kept(s->tree, n);
                r = r == 0 ? -ENOENT : MIN(r, 0);
        } else
                r = n->route->content(s->tree, n, &b);
        if (r == 0)
                return 0;
        if (r == -ENODATA) {
                ret->state = JOB_FAILED;
                ret->reason = strdup(error_message(r));
                return 0;
        }
        if (r != -ENOENT)
                return r;
        /* what a program waits for is its build, and what fails is that */
        r = n->route->kind == KIND_PROGRAM ? query_build(tree_workspace(s->tree), n->solver, n->inode.commit, &q)
                                           : tree_query(s->tree, n, &q);
        if (r == 0)
                ret->state = engine_peek(s->engine, q, &ret->job, &ret->reason);
        if (r == 0 && ret->state == JOB_READY && n->route->kind == KIND_PROGRAM) {
                ret->state = JOB_FAILED; /* there is a build, and no program */
                ret->reason = strdup("the commit cannot be built: see build/log");
        }
        return r;
}

static int state_value(struct session *s, fuse_ino_t ino, const char *name, struct buffer *ret)
{
        cleanup_node struct node n = {0};
        cleanup(state_done) struct state state = {0};
        int r;

        if (strncmp(name, state_prefix, sizeof(state_prefix) - 1) != 0 || ino_is_new(ino))
                return -ENODATA; /* not ENOSYS: that would be for every file, for good */
        name += sizeof(state_prefix) - 1;
        r = tree_node(s->tree, ino, &n);
        if (r < 0)
                return r;
        if (node_type(&n) != NODE_COMPUTED)
                return -ENODATA;
        r = node_state(s, &n, &state);
        if (r < 0)
                return r;
        if (strcmp(name, "state") == 0)
                buffer_adds(ret, job_state_name(state.state));
        else if (strcmp(name, "reason") == 0 && state.reason)
                buffer_adds(ret, state.reason);
        else if (strcmp(name, "job") == 0 && state.job > 0)
                buffer_addf(ret, "%llu", (unsigned long long)state.job);
        else
                return -ENODATA;
        return buffer_error(ret);
}

static void reply_xattr(fuse_req_t req, int r, const struct buffer *b, size_t size)
{
        if (r < 0)
                fuse_reply_err(req, -r);
        else if (size == 0)
                fuse_reply_xattr(req, b->size);
        else if (b->size > size)
                fuse_reply_err(req, ERANGE);
        else
                fuse_reply_buf(req, b->data, b->size);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
        cleanup_buffer struct buffer b = {0};

        reply_xattr(req, state_value(session_of(req), ino, name, &b), &b, size);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
        static const char *const names[] = {"user.solverfs.state", "user.solverfs.reason", "user.solverfs.job"};
        cleanup_buffer struct buffer b = {0};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                cleanup_buffer struct buffer value = {0};

                if (state_value(session_of(req), ino, names[i], &value) == 0)
                        buffer_add(&b, names[i], strlen(names[i]) + 1);
        }
        reply_xattr(req, buffer_error(&b), &b, size);
}

static void op_statfs(fuse_req_t req, fuse_ino_t)
{
        struct session *s = session_of(req);
        struct statvfs st = {.f_bsize = 4096, .f_frsize = 4096};

        statvfs(workspace_dir(tree_workspace(s->tree)), &st); /* what the store may still take is what cases/ may */
        st.f_files = st.f_ffree = st.f_favail = 0;
        st.f_namemax = 255;
        fuse_reply_statfs(req, &st);
}

const struct fuse_lowlevel_ops session_operations = {
        .init = op_init,
        .lookup = op_lookup,
        .getattr = op_getattr,
        .setattr = op_setattr,
        .readlink = op_readlink,
        .mknod = op_mknod,
        .mkdir = op_mkdir,
        .unlink = op_unlink,
        .rmdir = op_unlink,
        .symlink = op_symlink,
        .rename = op_rename,
        .link = op_link,
        .open = op_open,
        .read = op_read,
        .write = op_write,
        .flush = op_flush,
        .fsync = op_fsync,
        .release = op_release,
        .opendir = op_opendir,
        .readdir = op_readdir,
        .readdirplus = op_readdirplus,
        .statfs = op_statfs,
        .setxattr = op_setxattr,
        .getxattr = op_getxattr,
        .listxattr = op_listxattr,
        .removexattr = op_removexattr,
        .create = op_create,
};

/* -- life -- */

int session_new(struct workspace *w, struct engine *e, struct session **ret)
{
        struct session *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->engine = e;
        pthread_mutex_init(&s->lock, NULL);
        pthread_mutex_init(&s->telling, NULL);
        r = tree_open(w, e, &s->tree);
        if (r == 0)
                r = waiters_new(e, open_answered, s, &s->waiters);
        if (r < 0) {
                session_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct session *session_free(struct session *s)
{
        struct new_files *next;

        if (!s)
                return NULL;
        waiters_free(s->waiters);
        while (s->handles)
                handle_close(s, s->handles);
        for (struct new_files *f = s->new_files; f; f = next) {
                next = f->next;
                new_case_close(f->file);
                free(f);
        }
        tree_close(s->tree);
        free(s->told.slots);
        pthread_mutex_destroy(&s->telling);
        pthread_mutex_destroy(&s->lock);
        free(s);
        return NULL;
}

int session_attach(struct session *s, struct fuse_session *fuse)
{
        s->fuse = fuse;
        if (fuse)
                return notify_start(s->tree, fuse, &s->notify);
        s->notify = notify_stop(s->notify);
        return 0;
}

void session_drain(struct session *s)
{
        waiters_drain(s->waiters);
}

void session_interrupt(struct session *s)
{
        waiters_interrupt(s->waiters);
}

bool session_is_idle(struct session *s)
{
        bool idle;

        pthread_mutex_lock(&s->lock);
        idle = !s->handles && !s->new_files;
        pthread_mutex_unlock(&s->lock);
        return idle;
}
