/* One request on a slot of a worker, and its answer. */
#include <poll.h>
#include <sys/eventfd.h>

#include "core/remote/cluster_internal.h"

#define CANCEL_NS (20 * NSEC_PER_SEC) /* for the answer of one that was told to stop */
#define MARGIN_NS (5 * NSEC_PER_SEC)  /* between a run's limit and the end of its worker */

/* Lock held. */
static bool is_lost(const struct asking *a)
{
        return a->slot->node->state != NODE_PRESENT;
}

static int fail_lost(const struct asking *a)
{
        const struct node *n = a->slot->node;

        return errorf(-EREMOTEIO, "the worker on %s was lost: %s", n->hello.host, n->cluster->why);
}

int asking_lose(const struct asking *a, const char *why)
{
        struct node *n = a->slot->node;
        int r;

        pthread_mutex_lock(&n->cluster->lock);
        if (!is_lost(a))
                node_lose(n, "%s", why);
        r = fail_lost(a);
        pthread_mutex_unlock(&n->cluster->lock);
        return r;
}

/* Waits until no more than NODE_AHEAD bytes wait to be written. */
static int send_part(const struct asking *a, struct slice body)
{
        struct node *n = a->slot->node;
        struct cluster *c = n->cluster;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        while (r == 0 && !is_lost(a) && n->output.size - n->written > NODE_AHEAD) {
                struct timespec t = time_in(NSEC_PER_SEC);

                pthread_cond_timedwait(&c->drained, &c->lock, &t);
                if (fd_is_readable(a->cancel_fd))
                        r = errorf(-ECANCELED, "cancelled");
        }
        if (r == 0)
                r = is_lost(a) ? fail_lost(a) : node_send(n, PACKET_BLOB, a->slot->id, body);
        pthread_mutex_unlock(&c->lock);
        return r;
}

static int read_part(int fd, const char *bytes, uint64_t at, char *room, size_t size, struct slice *ret)
{
        ssize_t k;

        *ret = SLICE(fd < 0 ? bytes + at : room, size);
        if (fd < 0)
                return 0;
        k = pread(fd, room, size, (off_t)at);
        return k == (ssize_t)size
                       ? 0
                       : errorf(-EIO, "cannot read a file that is to be sent to a worker: %s", k < 0 ? strerror(errno) : "it became shorter");
}

int asking_give(const struct asking *a, const struct remote_file *f, int fd, const char *bytes)
{
        cleanup_free char *room = allocate(1, REMOTE_PART);
        uint64_t at = 0;
        int r;

        do {
                cleanup_buffer struct buffer body = {0};
                struct slice part;

                r = read_part(fd, bytes, at, room, (size_t)MIN(f->size - at, (uint64_t)REMOTE_PART), &part);
                if (r == 0)
                        r = remote_part_write(&f->id, f->size, at, part, &body);
                if (r == 0)
                        r = send_part(a, SLICE(body.data, body.size));
                at += REMOTE_PART;
        } while (r == 0 && at < f->size);
        return r;
}

int asking_begin(struct asking *a, uint64_t wall_ns, uint64_t output_most)
{
        struct cluster_slot *s = a->slot;
        struct node *n = s->node;
        struct cluster *c = n->cluster;
        uint64_t now = now_ns();
        int r = 0;

        pthread_mutex_lock(&c->lock);
        if (is_lost(a))
                r = fail_lost(a);
        else if (n->ends != UINT64_MAX && now + wall_ns + MARGIN_NS > n->ends)
                r = errorf(-ERESTART, "the worker on %s ends before a run would", n->hello.host);
        if (r == 0) {
                s->id = c->next_id++;
                s->answer = ANSWER_NONE;
                s->output_most = output_most;
                s->out.size = s->err.size = s->said.size = 0;
                s->said_left = REMOTE_SAID;
        }
        pthread_mutex_unlock(&c->lock);
        return r;
}

int asking_send(struct asking *a, enum packet_type type, struct slice body)
{
        struct cluster_slot *s = a->slot;
        struct node *n = s->node;
        struct cluster *c = n->cluster;
        eventfd_t old;
        int r;

        pthread_mutex_lock(&c->lock);
        eventfd_read(s->event, &old); /* of the round before; it does not block */
        s->answer = ANSWER_NONE;
        s->out.size = s->err.size = 0;
        a->sent_before = n->sent.n;
        r = is_lost(a) ? fail_lost(a) : node_send(n, type, s->id, body);
        pthread_mutex_unlock(&c->lock);
        return r;
}

/* News of a worker on its way to the answer. */
struct news {
        bool has_progress;
        struct remote_progress progress;
        char what[PROGRESS_TEXT];
        struct buffer said; /* owned */
};

/* Lock held. */
static void take_news(struct cluster_slot *s, struct news *ret)
{
        ret->has_progress = s->is_new;
        ret->progress = s->progress;
        ret->progress.what = strcpy(ret->what, s->doing);
        ret->said = s->said;
        s->is_new = false;
        s->said = (struct buffer){0};
}

/* Until there is an answer, or there can be none. A worker that was told to cancel and does not answer is given up. */
static int await(struct asking *a)
{
        struct node *n = a->slot->node;
        uint64_t until = 0;
        int r = 1;

        while (r == 1) {
                struct pollfd fds[] = {{.fd = a->slot->event, .events = POLLIN},
                                       {.fd = a->cancelled ? -1 : a->cancel_fd, .events = POLLIN}};
                struct news news;
                eventfd_t old;

                poll(fds, 2, until ? (int)(CANCEL_NS / NSEC_PER_MSEC) : -1);
                pthread_mutex_lock(&n->cluster->lock);
                if (fds[1].revents) {
                        a->cancelled = true;
                        until = now_ns() + CANCEL_NS;
                        if (!is_lost(a))
                                node_send(n, PACKET_CANCEL, a->slot->id, SLICE("", 0));
                }
                eventfd_read(a->slot->event, &old);
                take_news(a->slot, &news);
                if (a->slot->answer != ANSWER_NONE)
                        r = 0;
                else if (!is_lost(a) && until && now_ns() >= until)
                        node_lose(n, "did not end what it was told to end");
                if (r == 1 && is_lost(a))
                        r = fail_lost(a);
                pthread_mutex_unlock(&n->cluster->lock);
                if (news.has_progress)
                        progress_tell(a->progress, news.progress.what, news.progress.done, news.progress.total);
                if (a->listener && news.said.size > 0)
                        a->listener->hear(a->listener->user, SLICE(news.said.data, news.said.size));
                buffer_done(&news.said);
        }
        return r;
}

int asking_await(struct asking *a, enum answer expected)
{
        const struct cluster_slot *s = a->slot;
        int r = await(a);

        if (r < 0)
                return r;
        if (s->answer == ANSWER_FAILED && s->failure == -ECANCELED && !a->cancelled)
                return errorf(-EREMOTEIO, "%s", s->sentence);
        if (s->answer == ANSWER_FAILED && s->failure != -ECANCELED)
                return errorf(s->failure == -EBUSY ? -ERESTART : -EIO, "%s", s->sentence);
        if (a->cancelled)
                return errorf(-ECANCELED, "cancelled");
        if (s->answer != expected && s->answer != ANSWER_WANT)
                return asking_lose(a, "was cut off: it answered something that it was not asked");
        return 0;
}

int asking_converse(struct asking *a, enum packet_type type, struct slice body, enum answer expected, unsigned rounds, int (*send_wanted)(void *user),
                    void *user)
{
        for (unsigned i = 0; i < rounds; i++) {
                int r = asking_send(a, type, body);

                if (r == 0)
                        r = asking_await(a, expected);
                if (r < 0 || a->slot->answer == expected)
                        return r;
                r = send_wanted(user);
                if (r < 0)
                        return r;
        }
        return errorf(-EIO, "the worker on %s lost its files as soon as it was sent them: raise --keep in 'worker'",
                      a->slot->node->hello.host);
}

void asking_end(struct asking *a)
{
        struct cluster *c = a->slot->node->cluster;

        pthread_mutex_lock(&c->lock);
        a->slot->id = 0;
        execute_result_done(&a->slot->result); /* of one that came when nobody wanted it */
        a->slot->result = (struct execute_result){0};
        pthread_mutex_unlock(&c->lock);
}
