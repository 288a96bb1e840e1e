/* Shared by mount.c, the parts of a session and tests that speak FUSE without a kernel (fuse_session_custom_io). session.c: names and attributes;
 * session_list.c: folders; session_open.c: files; session_write.c: new cases; session_state.c: extended attributes; session_cached.c: files of a
 * cached mount.
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
#include "fs/tree/lock.h"

struct session {
        struct tree *tree;                 /* owned */
        struct engine *engine;             /* borrowed */
        struct waiters *waiters;           /* owned */
        struct notify *notify;             /* owned; while attached */
        struct remeasuring *remeasuring;   /* the same; NULL: results stay as they are */
        struct kernel_cache *kernel_cache; /* owned */
        struct node_map *nodes;            /* owned */
        struct writing *writing;           /* owned */
        struct writers *writers, *namers;  /* owned; NULL in a finished one. For writes; for files made, renamed and removed */
        struct contents *contents;         /* owned */
        struct fuse_session *fuse;         /* borrowed; NULL until attached */

        bool finished;   /* nothing in it waits, starts work or is written to: session_cached.c */
        bool no_opendir; /* a finished one whose kernel need not ask at opendir either: session_list.c */

        pthread_mutex_t lock;
        LIST_HEAD(, handle) handles; /* all that are open; under lock */
};

/* `e` answers cold opens. `finished`: only what is finished is there (-o cached). */
int session_new(struct workspace *w, struct engine *e, bool finished, struct session **ret);
/* Answers every parked reader and every writer, and returns when none is left. Call it before libfuse's session ends, whose requests they hold. */
void session_drain(struct session *s);
struct session *session_free(struct session *s);
/* Once libfuse's session is mounted: notifications go through it, from now until it is attached to NULL. */
int session_attach(struct session *s, struct fuse_session *fuse);
/* Ends every waiting reader, and every later open of a cold file, with EINTR. */
void session_interrupt(struct session *s);
/* Nothing is open, and no case is being written. */
bool session_is_idle(struct session *s);

/* userdata: the struct session */
extern const struct fuse_lowlevel_ops session_operations, session_finished_operations;

static inline struct session *session_of(fuse_req_t req)
{
        return fuse_req_userdata(req);
}

/* The errno that open() gives for an error of the tree or the engine: docs/tree.md, "Errors". Errors that no reader can act on are logged as `what`. */
int session_error(int r, const char *what, const char *reason);
/* The node that the kernel means. */
int session_node(struct session *s, fuse_ino_t node, struct node *ret);
/* The attributes of a node, and for how long the kernel may keep them. */
int session_stat(struct session *s, fuse_ino_t node, struct stat *ret, double *ret_timeout);
/* The entry that the kernel may keep of a name, and for how long. The node is held (tree_hold()): forget it if the reply fails. */
int session_entry(struct session *s, const struct node *n, struct fuse_entry_param *ret);

/* -- folders -- */

/* Without OPENDIR: the kernel has just asked for a folder's attributes, and reads its listing next. */
void list_check(struct session *s, fuse_ino_t ino);
void list_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void list_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void list_read_plus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);

/* -- files -- */

void file_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
/* Replies to a read: of the file `fd`, or of the content where that is -1. */
void session_reply_bytes(fuse_req_t req, int fd, const struct blob *content, size_t size, off_t offset);
void file_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void file_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
/* The answer to a parked open: a parked_fn, whose user is the session. */
void file_answered(void *session, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason);
/* Sets the size to that of the value held open under this node, even if a new open would get another value. */
bool file_held_size(struct session *s, const struct node *n, fuse_ino_t node, struct stat *st);
/* The kernel need not tell of the last closes when the mount goes away. */
void file_close_all(struct session *s);

/* -- files of a cached mount -- */

struct contents *contents_new(void);
void contents_free(struct contents *c);
void finished_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void finished_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
/* The answer to a parked read of a program: a parked_fn, whose user is the session. */
void finished_answered(void *session, fuse_req_t req, const struct parked *p, int r, struct value *v, const char *reason);

/* -- new cases -- */

/* Files that are being written, and files just written. install and rsync set modes and times by name after they closed a file. By then it is a
 * case, found by its id; so its name in cases/ stays that of a file for a while. */
struct writing *writing_new(void);
void writing_free(struct writing *w);
bool writing_is_idle(struct writing *w);

bool writing_is(fuse_ino_t ino); /* of a file being written, or just written */
int writing_stat(struct writing *w, fuse_ino_t ino, struct stat *ret);
/* A name in cases/ of a file just written. */
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
