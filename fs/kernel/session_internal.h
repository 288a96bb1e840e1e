/* Shared by mount.c, the parts of a session and tests that speak FUSE without a kernel (fuse_session_custom_io). session.c: names and attributes;
 * session_list.c: folders; session_open.c: files; session_write.c: new cases; session_state.c: extended attributes; session_cached.c: files of a
 * mount of finished values.
 *
 * Replies. Each handler replies exactly once, at its end; helpers return 0 or -errno. Handlers never wait: see waiters.h. */
#pragma once

#include <fuse_lowlevel.h>
#include <sys/queue.h>

#include "fs/kernel/kernel_cache.h"
#include "fs/kernel/new_case.h"
#include "fs/kernel/node_map.h"
#include "fs/kernel/waiters.h"
#include "fs/kernel/writers.h"
#include "fs/routes/routes.h"

struct session {
        struct tree *tree;                 /* owned */
        struct engine *engine;             /* borrowed */
        struct waiters *waiters;           /* owned */
        struct notify *notify;             /* owned; while attached */
        struct remeasuring *remeasuring;   /* owned; while attached: core/query/disturbed.h. NULL: disturbed results are not measured again */
        struct kernel_cache *kernel_cache; /* owned */
        struct node_map *nodes;            /* owned */
        struct writing *writing;           /* owned */
        struct writers *writers, *namers;  /* owned; NULL if `finished`. For writes; for files made, renamed and removed */
        struct contents *contents;         /* owned; used if `finished` */
        struct fuse_session *fuse;         /* borrowed; NULL unless attached: session_attach() */

        bool finished;   /* a mount of finished values, which waits for nothing, starts no work and is read-only: session_cached.c */
        bool no_opendir; /* finished, and the kernel sends no OPENDIR: session_list.c */

        pthread_mutex_t lock;
        LIST_HEAD(, handle) handles; /* all open ones; under lock */
};

/* `e` answers cold opens. `finished`: shows finished values only (-o cached). */
int session_new(struct workspace *w, struct engine *e, bool finished, struct session **ret);
/* Answers all parked readers and writers, and returns when none is left. They hold libfuse's requests, so call it before libfuse's
 * session ends. No request may come after it. */
void session_drain(struct session *s);
struct session *session_free(struct session *s);
/* Call once libfuse's session is mounted: notifications go through it until session_attach(s, NULL). */
int session_attach(struct session *s, struct fuse_session *fuse);
/* True if nothing is open and no case is being written. False for a mount of finished values, which sees no opens. */
bool session_is_idle(struct session *s);

/* userdata: the struct session */
extern const struct fuse_lowlevel_ops session_operations, session_finished_operations;

static inline struct session *session_of(fuse_req_t req)
{
        return fuse_req_userdata(req);
}

/* The errno that open() gives for an error of the tree or the engine: docs/tree.md, "Errors". Errors that no reader can act on are logged as `what`. */
int session_error(int r, const char *what, const char *reason);
/* Finds the node of the kernel's number (node_map.h). Only files need it: for folders and links tree_node() does the same. */
int session_node(struct session *s, fuse_ino_t node, struct node *ret);
/* The attributes of a node, and how long the kernel may keep them. */
int session_stat(struct session *s, fuse_ino_t node, struct stat *ret, double *ret_timeout);
/* The entry of a name for the kernel, and how long the kernel may keep it. Counts a lookup of the node: call session_forget() if the reply fails. */
int session_entry(struct session *s, const struct node *n, struct fuse_entry_param *ret);
void session_forget(struct session *s, fuse_ino_t node, uint64_t times);

/* -- folders -- */

/* For mounts without OPENDIR, where the kernel asks for a folder's attributes before it lists it: drops the kernel's listing if that is outdated. */
void list_drop_outdated(struct session *s, fuse_ino_t ino);
void list_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void list_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void list_read_plus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);

/* -- files -- */

/* The bytes of a file, or an open file that has them. */
struct content {
        struct blob blob;
        int fd; /* instead of blob; -1 */
};
void content_done(struct content *c);
#define cleanup_content cleanup(content_done)
off_t content_size(const struct content *c);
uint64_t content_hash(const struct content *c); /* of the bytes, or the open file's inode number */
void content_reply(fuse_req_t req, const struct content *c, size_t size, off_t offset);

void file_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void file_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void file_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
/* The parked_fn for opens; its user is the session. */
void file_answered(void *session, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason);
/* For attributes that the kernel is about to get. If a value is open under this node, sets st_size to its size and returns true, even if a new open
 * would get another value. Otherwise, if the size is not `ready`, notes that the next open must tell the kernel the real one. */
bool file_held_size(struct session *s, const struct node *n, fuse_ino_t node, bool ready, struct stat *st);
/* For a node that the kernel has forgotten: drops what kernel_cache.h knows of it, unless it is open again. */
void file_forget(struct session *s, fuse_ino_t node);
/* Closes all handles: the kernel need not report the last closes when the mount goes away. */
void file_close_all(struct session *s);

/* -- files of a mount of finished values -- */

/* The contents that are kept while files are read, each for the node that it was sent for. */
struct contents *contents_new(void);
void contents_free(struct contents *c);
void contents_forget(struct contents *c, fuse_ino_t node);
/* For a lookup. If the file no longer has the content sent for its node, the name gets another node. Else sets st_size as finished_stat(). */
void finished_looked_up(struct session *s, const struct node *n, struct stat *st);
/* Sets st_size to the size of the content that is kept for this node, if any. -ESTALE: none is kept, and the name has another node by now. */
int finished_stat(struct session *s, fuse_ino_t node, struct stat *st);
void finished_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void finished_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
/* The parked_fn for reads of a program or a scrambled input; its user is the session. */
void finished_answered(void *session, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason);

/* -- new cases -- */

/* Files being written, and files just written. install and rsync set modes and times by name after closing a file. By then the file has become a
 * case with an id for its name; so the file's own name remains valid in cases/ for a while. */
struct writing *writing_new(void);
void writing_free(struct writing *w);
bool writing_is_idle(struct writing *w);

bool is_new_case_ino(fuse_ino_t ino); /* true for the number of a file being written, or just written */
int writing_stat(struct writing *w, fuse_ino_t ino, struct stat *ret);
/* Looks up the name of a file just written to cases/. */
bool writing_lookup(struct session *s, const char *name, struct fuse_entry_param *ret);

void write_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi);
void write_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset, struct fuse_file_info *fi);
void write_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void write_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void write_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *to, unsigned flags);
void write_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void write_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int which, struct fuse_file_info *fi);
void write_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags);
void write_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* -- state, by extended attributes: user.solverfs.state, .reason, .job -- */

void state_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void state_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
