/* The state of computed files, by extended attributes; asking never starts work. */
#include "fs/kernel/notify.h"
#include "fs/kernel/session.h"
#include "fs/kernel/session_internal.h"

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

/* Reads the state of a computed file. Ready: its row has a value. Failed: it will never have one (-ENODATA). If it has none yet (-ENOENT), the engine
 * knows the state. */
static int node_state(struct session *s, const struct node *n, struct state *ret)
{
        const struct route *row = n->route;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_buffer struct buffer b = {0};
        int r = row->kept ? row->kept(s->tree, n) : row->content(s->tree, n, &b);

        if (row->kept && r >= 0)
                r = r > 0 ? 0 : -ENOENT;
        *ret = (struct state){.state = r == -ENODATA ? JOB_FAILED : JOB_READY, .reason = r == -ENODATA ? copy_string(error_message(r)) : NULL};
        if (r != -ENOENT)
                return r == -ENODATA ? 0 : r;
        r = (row->waits_for ?: row->query)(s->tree, n, &q);
        if (r == 0)
                ret->state = engine_peek(s->engine, q, &ret->job, &ret->reason);
        if (r == 0 && ret->state == JOB_READY && row->waits_for) {
                ret->state = JOB_FAILED; /* a build without a program */
                ret->reason = copy_string("the commit cannot be built: see build/log");
        }
        return r;
}

static int state_value(struct session *s, fuse_ino_t ino, const char *name, struct buffer *ret)
{
        cleanup_node struct node n = {0};
        cleanup(state_done) struct state state = {0};
        int r;

        if (strncmp(name, state_prefix, sizeof(state_prefix) - 1) != 0 || is_new_case_ino(ino))
                return -ENODATA; /* not ENOSYS: that would hold for every file, for good */
        name += sizeof(state_prefix) - 1;
        r = session_node(s, ino, &n);
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
        else if (strcmp(name, "reason") == 0 && state.state == JOB_READY && n.route->reason)
                n.route->reason(s->tree, &n, ret);
        else if (strcmp(name, "job") == 0 && state.job > 0)
                buffer_addf(ret, "%llu", (unsigned long long)state.job);
        return ret->size > 0 ? 0 : -ENODATA;
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

void state_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
        cleanup_buffer struct buffer b = {0};
        struct session *s = session_of(req);

        if (ino == FUSE_ROOT_ID && s->notify && strcmp(name, SETTLED_XATTR) == 0) {
                notify_settle(s->notify, req);
                return;
        }
        if (ino == FUSE_ROOT_ID && strcmp(name, RELEASE_XATTR) == 0) {
                const uid_t asker = fuse_req_ctx(req)->uid;
                int r = asker != 0 && asker != geteuid() ? EACCES : session_is_idle(s) ? ENODATA : EBUSY;

                if (r == ENODATA)
                        waiters_release(s->waiters);
                fuse_reply_err(req, r);
                return;
        }
        reply_xattr(req, state_value(session_of(req), ino, name, &b), &b, size);
}

void state_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
        static const char *const names[] = {"user.solverfs.state", "user.solverfs.reason", "user.solverfs.job"};
        cleanup_buffer struct buffer b = {0};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                cleanup_buffer struct buffer value = {0};

                if (state_value(session_of(req), ino, names[i], &value) == 0)
                        buffer_add(&b, names[i], strlen(names[i]) + 1);
        }
        reply_xattr(req, 0, &b, size);
}
