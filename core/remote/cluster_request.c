/* One request on a slot of a worker, and its answer. */
#include <poll.h>
#include <sys/eventfd.h>

#include "core/remote/cluster_internal.h"

#define CANCEL_NS    (20 * NSEC_PER_SEC) /* for the answer to a cancelled request */
#define LEAVE_NS     NSEC_PER_SEC        /* the same when the head ends, as at a signal */
#define OVERSLEPT_NS NSEC_PER_SEC        /* later than asked for: the head was stopped */
#define MARGIN_NS    (5 * NSEC_PER_SEC)  /* between a run's limit and the end of its worker */

static struct node *lock(const struct call *c)
{
        struct node *n = c->slot->node;

        pthread_mutex_lock(&n->cluster->lock);
        return n;
}

static void unlock(const struct node *n)
{
        pthread_mutex_unlock(&n->cluster->lock);
}

static int fail_lost(const struct node *n)
{
        return errorf(-EREMOTEIO, "the worker on %s was lost: %s", n->hello.host, n->why ?: n->cluster->why);
}

int call_lose(const struct call *c, const char *why)
{
        struct node *n = lock(c);
        int r;

        if (n->state == NODE_PRESENT)
                node_lose(n, "%s", why);
        r = fail_lost(n);
        unlock(n);
        return r;
}

/* -- bytes for the worker -- */

/* Waits until at most NODE_AHEAD bytes wait to be written. */
static int send_part(const struct call *c, struct slice body)
{
        struct node *n = lock(c);
        int r = 0;

        while (r == 0 && n->state == NODE_PRESENT && n->output.size - n->written > NODE_AHEAD) {
                condition_wait(&n->cluster->drained, &n->cluster->lock, now_ns() + NSEC_PER_SEC);
                if (fd_is_readable(c->cancel_fd))
                        r = errorf(-ECANCELED, "cancelled");
        }
        if (r == 0)
                r = n->state != NODE_PRESENT ? fail_lost(n) : node_send(n, PACKET_BLOB, c->slot->id, body);
        unlock(n);
        return r;
}

static int read_part(int fd, uint64_t at, char *room, size_t size)
{
        ssize_t k = pread(fd, room, size, (off_t)at);

        return k == (ssize_t)size
                       ? 0
                       : errorf(-EIO, "cannot read a file that is to be sent to a worker: %s", k < 0 ? strerror(errno) : "it became shorter");
}

/* Sends the whole file; fd -1: it is `bytes`. n->upload is held, as the parts of two uploads of a file would mingle. */
static int give(const struct call *c, const struct remote_file *f, int fd, const char *bytes)
{
        cleanup_free char *room = fd < 0 ? NULL : allocate(1, REMOTE_PART);
        uint64_t at = 0;
        struct node *n;
        int r = 0;

        do {
                cleanup_buffer struct buffer body = {0};
                const size_t size = (size_t)MIN(f->size - at, (uint64_t)REMOTE_PART);

                if (fd >= 0)
                        r = read_part(fd, at, room, size);
                if (r == 0)
                        r = remote_part_write(&f->id, f->size, at, SLICE(room ?: bytes + at, size), &body)
                            ?: send_part(c, SLICE(body.data, body.size));
                at += size;
        } while (r == 0 && at < f->size);
        n = lock(c);
        if (r == 0)
                n->sent[n->n_sent++ % SENT_KEPT] = f->id;
        unlock(n);
        return r;
}

int call_give_first(const struct call *c, const struct remote_file *f, int fd, const char *bytes)
{
        struct node *n = c->slot->node;
        bool was_sent = false;
        cleanup_unlock pthread_mutex_t *held = hold(&n->upload);

        lock(c);
        for (size_t i = 0; i < MIN(n->n_sent, (size_t)SENT_KEPT) && !was_sent; i++)
                was_sent = digest_equal(&n->sent[i], &f->id);
        unlock(n);
        return was_sent ? 0 : give(c, f, fd, bytes);
}

bool call_wants(struct call *c, const struct digest *id)
{
        const struct digest_list *wants = &c->slot->wants;
        const struct digest *found;
        struct node *n = lock(c);

        if (n->n_sent > SENT_KEPT)
                c->n_sent = MAX(c->n_sent, n->n_sent - SENT_KEPT); /* older ones are forgotten, and may be sent twice */
        for (; c->n_sent < n->n_sent; c->n_sent++) {
                found = digest_list_find(wants, &n->sent[c->n_sent % SENT_KEPT]);
                if (found)
                        c->is_sent[found - wants->list] = true;
        }
        unlock(n);
        found = digest_list_find(wants, id);
        return found && !c->is_sent[found - wants->list];
}

int call_give_wanted(struct call *c, const struct remote_file *f, int fd, const char *bytes)
{
        struct node *n = c->slot->node;
        cleanup_unlock pthread_mutex_t *held = hold(&n->upload);

        return call_wants(c, &f->id) ? give(c, f, fd, bytes) : 0;
}

/* -- the request and its answer -- */

int call_begin(struct call *c, uint64_t wall_ns, uint64_t output_most)
{
        struct cluster_slot *s = c->slot;
        struct node *n = lock(c);
        int r = 0;

        if (n->state != NODE_PRESENT)
                r = fail_lost(n);
        else if (n->ends != UINT64_MAX && clock_ns(CLOCK_BOOTTIME) + wall_ns + MARGIN_NS > n->ends)
                r = errorf(-ERESTART, "the worker on %s ends before a run would", n->hello.host);
        if (r == 0) {
                s->id = n->cluster->next_id++;
                s->answer = 0;
                s->output_most = output_most;
                s->out.size = s->err.size = s->said.size = 0;
                s->said_left = REMOTE_SAID;
        }
        unlock(n);
        return r;
}

static int send_request(struct call *c, enum packet_type type, struct slice body)
{
        struct cluster_slot *s = c->slot;
        struct node *n = lock(c);
        eventfd_t old;
        int r = 0;

        c->n_sent = n->n_sent;
        if (s->answer != PACKET_FAILED) { /* or it could not keep a file that it was sent, which is the answer */
                eventfd_read(s->event, &old); /* of the last round; does not block */
                s->answer = 0;
                s->due = 0;
                s->out.size = s->err.size = 0;
                r = n->state != NODE_PRESENT ? fail_lost(n) : node_send(n, type, s->id, body);
        }
        unlock(n);
        return r;
}

/* Passes the worker's output and progress on to the caller. Lock held; it is released. */
static void pass_on(const struct call *c)
{
        struct cluster_slot *s = c->slot;
        cleanup_buffer struct buffer said = s->said;
        struct remote_progress progress = s->progress;
        bool is_new = s->is_new;
        char what[PROGRESS_TEXT];

        strcpy(what, s->doing);
        s->said = (struct buffer){0};
        s->is_new = false;
        unlock(s->node);
        if (is_new)
                progress_tell(c->progress, what, progress.done, progress.total);
        if (c->listener && said.size > 0)
                c->listener->hear(c->listener->user, SLICE(said.data, said.size));
}

/* Milliseconds until look_late() is to be called; -1: never. A cancelled request is looked at each second, as the head may begin to end. Lock held. */
static int until_look(const struct call *c)
{
        const uint64_t due = c->slot->due, now = now_ns();

        if (c->cancelled)
                return LEAVE_NS / NSEC_PER_MSEC;
        return due ? (int)MIN((due - MIN(due, now)) / NSEC_PER_MSEC + 1, (uint64_t)3600000) : -1;
}

/* Gives the worker up if it keeps an answer that is due. Lock held. */
static void look_late(const struct call *c)
{
        struct node *n = c->slot->node;
        const uint64_t now = now_ns(), due = c->slot->due;

        if (n->state != NODE_PRESENT)
                return;
        if (c->cancelled && now - c->cancelled >= (n->cluster->retry ? CANCEL_NS : LEAVE_NS))
                node_lose(n, "did not end a request that it was told to end");
        else if (!c->cancelled && due && now >= due)
                node_lose(n, "returned no result of a run within its limit of %s and %s more", format_duration(c->slot->run_ns).s,
                          format_duration(node_margin(n)).s);
}

/* Waits until there is an answer, or there can be none. */
static int await(struct call *c)
{
        struct cluster_slot *s = c->slot;
        int r = 1, milliseconds = -1;

        while (r == 1) {
                struct pollfd fds[] = {{.fd = s->event, .events = POLLIN}, {.fd = c->cancelled ? -1 : c->cancel_fd, .events = POLLIN}};
                struct node *n;
                eventfd_t old;
                const uint64_t began = now_ns();

                poll(fds, 2, milliseconds);
                n = lock(c);
                if (s->due && milliseconds >= 0 && now_ns() - began > (uint64_t)milliseconds * NSEC_PER_MSEC + OVERSLEPT_NS)
                        s->due = MAX(s->due, now_ns() + node_margin(n)); /* its answer may lie in the pipe, unread as long as we stood still */
                if (fds[1].revents) {
                        c->cancelled = now_ns();
                        if (n->state == NODE_PRESENT)
                                node_send(n, PACKET_CANCEL, s->id, SLICE("", 0));
                }
                eventfd_read(s->event, &old);
                if (s->answer)
                        r = 0;
                else
                        look_late(c);
                if (r == 1 && n->state != NODE_PRESENT)
                        r = fail_lost(n);
                milliseconds = until_look(c);
                pass_on(c);
        }
        return r;
}

/* 0: the expected answer or PACKET_WANT. -EREMOTEIO, -ERESTART: another worker is to do it (engine.h). */
static int await_answer(struct call *c, enum packet_type expected)
{
        const struct cluster_slot *s = c->slot;
        int r = await(c);

        if (r < 0)
                return r;
        if (s->answer == PACKET_FAILED && s->failure == -ECANCELED && !c->cancelled) /* the worker is ending */
                return errorf(-EREMOTEIO, "%s", s->sentence);
        if (s->answer == PACKET_FAILED && s->failure != -ECANCELED) /* -EBUSY: too many requests wait there */
                return errorf(s->failure == -EBUSY ? -ERESTART : -EIO, "%s", s->sentence);
        if (c->cancelled)
                return errorf(-ECANCELED, "cancelled");
        if (s->answer != expected && s->answer != PACKET_WANT)
                return call_lose(c, "was cut off: it sent an answer that was not asked for");
        return 0;
}

int call_converse(struct call *c, enum packet_type type, void *message, enum packet_type expected, unsigned rounds, int (*send_wanted)(void *user),
                  void *user)
{
        cleanup_buffer struct buffer body = {0};

        message_write(type, message, &body);
        for (unsigned i = 0; i < rounds; i++) {
                int r = send_request(c, type, SLICE(body.data, body.size)) ?: await_answer(c, expected);

                if (r == 0 && c->slot->answer == expected)
                        return 0;
                if (r == 0) {
                        digest_list_sort(&c->slot->wants);
                        free(c->is_sent);
                        c->is_sent = allocate(c->slot->wants.n + 1, sizeof(*c->is_sent));
                        r = send_wanted(user);
                }
                if (r < 0)
                        return r;
        }
        return errorf(-EIO, "the worker on %s lost its files as soon as it was sent them: raise --keep in 'worker'",
                      c->slot->node->hello.host);
}

void call_end(struct call *c)
{
        struct node *n = lock(c);

        c->slot->id = c->slot->run_ns = 0;
        execute_result_done(&c->slot->result); /* of an answer that came too late */
        c->slot->result = (struct execute_result){0};
        unlock(n);
        free(c->is_sent);
}
