/* One run on a slot of a worker. */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "core/remote/cluster_internal.h"

#define ROUNDS    4                     /* that a worker may say what it lacks */
#define CANCEL_NS (20 * NSEC_PER_SEC)   /* for the answer of one that was told to stop */
#define MARGIN_NS (5 * NSEC_PER_SEC)    /* between a run's limit and the end of its worker */
#define NO_LIMIT  (UINT64_C(1) << 30)   /* of an output, where the recipe has none */

/* A file of a run, here. */
struct file {
        struct remote_file to;
        int fd; /* -1: `bytes` */
        struct slice bytes;
};

struct running {
        struct cluster_slot *slot;
        const struct run_words *words;
        int cancel_fd;
        struct remote_run run;
        struct file files[REMOTE_WANTS]; /* the programs, then the input */
        size_t n_files;
        size_t sent_before; /* of the node's list, when the request was sent */
        struct buffer body; /* the request */
};

/* -- files -- */

static int add_file(struct running *x, const char *name, const char *path, struct slice bytes, const struct digest *known)
{
        struct file *f = &x->files[x->n_files++];
        struct stat st;
        int r = 0;

        *f = (struct file){.to = {.name = (char *)name, .id = *known, .size = bytes.size}, .fd = -1, .bytes = bytes};
        if (path) {
                f->fd = open(path, O_RDONLY | O_CLOEXEC);
                if (f->fd < 0 || fstat(f->fd, &st) < 0)
                        return errorf(errno == ENOENT ? -ENOENT : -EIO, "cannot read %s: %s", path, strerror(errno));
                f->to.size = (uint64_t)st.st_size;
        }
        if (digest_is_zero(known) && path)
                r = digest_of_fd(f->fd, &f->to.id, &f->to.size);
        else if (digest_is_zero(known))
                digest_of(bytes.data, bytes.size, &f->to.id);
        return r;
}

static void running_done(struct running *x)
{
        for (size_t i = 0; i < x->n_files; i++)
                closep(&x->files[i].fd);
        buffer_done(&x->body);
}

/* The request, but for what it borrows, is bytes. */
static int make_request(struct running *x)
{
        const struct run_words *w = x->words;
        cleanup_buffer struct buffer recipe = {0};
        static const struct slice none;
        int r = recipe_print(w->recipe, &recipe);

        for (size_t i = 0; r == 0 && i < w->n_programs; i++)
                r = add_file(x, w->programs[i].name, w->programs[i].path, none, &w->programs[i].id);
        if (r == 0)
                r = add_file(x, "input", w->path, w->bytes, &w->id);
        if (r < 0)
                return r;
        x->run = (struct remote_run){.recipe = recipe.data,
                                     .recipe_name = w->recipe->name,
                                     .n_programs = w->n_programs,
                                     .input = x->files[w->n_programs].to,
                                     .limits = *w->limits,
                                     .scratch = w->scratch,
                                     .has_seed = w->has_seed,
                                     .seed = w->seed,
                                     .sandbox = w->sandbox};
        for (size_t i = 0; i < w->n_programs; i++)
                x->run.programs[i] = x->files[i].to;
        return remote_run_write(&x->run, &x->body);
}

/* -- sending -- */

static bool is_cancelled(const struct running *x)
{
        struct pollfd p = {.fd = x->cancel_fd, .events = POLLIN};

        return x->cancel_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Lock held. */
static bool is_lost(const struct running *x)
{
        return x->slot->node->state != NODE_PRESENT;
}

static int fail_lost(const struct running *x)
{
        const struct node *n = x->slot->node;

        return errorf(-EREMOTEIO, "the worker on %s was lost: %s", n->hello.host, n->cluster->why);
}

/* Waits until no more than NODE_AHEAD bytes wait to be written. */
static int send_part(struct running *x, struct slice body)
{
        struct node *n = x->slot->node;
        struct cluster *c = n->cluster;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        while (r == 0 && !is_lost(x) && n->output.size - n->written > NODE_AHEAD) {
                struct timespec t;

                clock_gettime(CLOCK_REALTIME, &t);
                t.tv_sec++;
                pthread_cond_timedwait(&c->drained, &c->lock, &t);
                if (is_cancelled(x))
                        r = errorf(-ECANCELED, "cancelled");
        }
        if (r == 0)
                r = is_lost(x) ? fail_lost(x) : node_send(n, PACKET_BLOB, x->slot->id, body);
        pthread_mutex_unlock(&c->lock);
        return r;
}

static int read_part(const struct file *f, uint64_t at, char *room, struct slice *ret)
{
        size_t size = (size_t)MIN(f->to.size - at, (uint64_t)REMOTE_PART);
        ssize_t k;

        if (f->fd < 0) {
                *ret = SLICE((const char *)f->bytes.data + at, size);
                return 0;
        }
        k = pread(f->fd, room, size, (off_t)at);
        if (k != (ssize_t)size)
                return errorf(-EIO, "cannot read a file that is to be sent to a worker: %s", k < 0 ? strerror(errno) : "it became shorter");
        *ret = SLICE(room, size);
        return 0;
}

static int send_file(struct running *x, const struct file *f)
{
        struct node *n = x->slot->node;
        cleanup_free char *room = malloc(REMOTE_PART);
        uint64_t at = 0;
        int r = room ? 0 : -ENOMEM;

        do {
                cleanup_buffer struct buffer body = {0};
                struct slice part;

                if (r == 0)
                        r = read_part(f, at, room, &part);
                if (r == 0)
                        r = remote_part_write(&f->to.id, f->to.size, at, part, &body);
                if (r == 0)
                        r = send_part(x, SLICE(body.data, body.size));
                at += REMOTE_PART;
        } while (r == 0 && at < f->to.size);
        pthread_mutex_lock(&n->cluster->lock);
        if (r == 0 && list_grow(n->sent, n->n_sent) == 0)
                n->sent[n->n_sent++] = (struct sent){.id = f->to.id};
        pthread_mutex_unlock(&n->cluster->lock);
        return r;
}

static bool is_wanted(const struct running *x, const struct file *f)
{
        for (size_t i = 0; i < x->slot->n_wants; i++)
                if (digest_equal(&x->slot->wants[i], &f->to.id))
                        return true;
        return false;
}

/* Has another slot of the worker sent it since we asked? */
static bool was_sent_since(const struct running *x, const struct file *f)
{
        struct node *n = x->slot->node;
        bool found = false;

        pthread_mutex_lock(&n->cluster->lock);
        for (size_t i = x->sent_before; i < n->n_sent && !found; i++)
                found = digest_equal(&n->sent[i].id, &f->to.id);
        pthread_mutex_unlock(&n->cluster->lock);
        return found;
}

static int send_wanted(struct running *x)
{
        struct node *n = x->slot->node;
        int r = 0;

        pthread_mutex_lock(&n->upload);
        for (size_t i = 0; r == 0 && i < x->n_files; i++)
                if (is_wanted(x, &x->files[i]) && !was_sent_since(x, &x->files[i]))
                        r = send_file(x, &x->files[i]);
        pthread_mutex_unlock(&n->upload);
        return r;
}

/* The input, when it is small and the worker was not sent it yet: so it need not ask. */
static int send_ahead(struct running *x)
{
        struct node *n = x->slot->node;
        const struct file *input = &x->files[x->n_files - 1];
        bool known;
        int r = 0;

        if (input->to.size > AHEAD_MOST)
                return 0;
        pthread_mutex_lock(&n->upload);
        pthread_mutex_lock(&n->cluster->lock);
        known = node_was_sent(n, &input->to.id);
        pthread_mutex_unlock(&n->cluster->lock);
        if (!known)
                r = send_file(x, input);
        pthread_mutex_unlock(&n->upload);
        return r;
}

/* -- the request and its answer -- */

static int begin(struct running *x)
{
        struct cluster_slot *s = x->slot;
        struct node *n = s->node;
        struct cluster *c = n->cluster;
        const uint64_t limit = x->words->limits->output;
        uint64_t now = now_ns();
        int r = 0;

        pthread_mutex_lock(&c->lock);
        if (is_lost(x))
                r = fail_lost(x);
        else if (n->ends != UINT64_MAX && now + x->words->limits->wall_ns + MARGIN_NS > n->ends)
                r = errorf(-ERESTART, "the worker on %s ends before a run would", n->hello.host);
        if (r == 0) {
                s->id = c->next_id++;
                s->answer = ANSWER_NONE;
                s->output_most = limit ? limit + 4096 : NO_LIMIT;
                s->out.size = s->err.size = 0;
        }
        pthread_mutex_unlock(&c->lock);
        return r;
}

static int send_request(struct running *x)
{
        struct cluster_slot *s = x->slot;
        struct node *n = s->node;
        struct cluster *c = n->cluster;
        eventfd_t old;
        int r;

        pthread_mutex_lock(&c->lock);
        eventfd_read(s->event, &old); /* of the round before; it does not block */
        s->answer = ANSWER_NONE;
        s->out.size = s->err.size = 0;
        x->sent_before = n->n_sent;
        r = is_lost(x) ? fail_lost(x) : node_send(n, PACKET_RUN, s->id, SLICE(x->body.data, x->body.size));
        pthread_mutex_unlock(&c->lock);
        return r;
}

static void cancel(struct running *x)
{
        struct node *n = x->slot->node;

        pthread_mutex_lock(&n->cluster->lock);
        if (!is_lost(x))
                node_send(n, PACKET_CANCEL, x->slot->id, SLICE("", 0));
        pthread_mutex_unlock(&n->cluster->lock);
}

/* Until there is an answer, or there can be none. One who was told to stop and does not say so is given up: nobody knows what it does. */
static int await(struct running *x, bool *cancelled)
{
        struct node *n = x->slot->node;
        uint64_t until = 0;
        int r = 1;

        while (r == 1) {
                struct pollfd fds[] = {{.fd = x->slot->event, .events = POLLIN}, {.fd = *cancelled ? -1 : x->cancel_fd, .events = POLLIN}};

                poll(fds, 2, until ? (int)(CANCEL_NS / NSEC_PER_MSEC) : -1);
                if (fds[1].revents) {
                        *cancelled = true;
                        until = now_ns() + CANCEL_NS;
                        cancel(x);
                }
                pthread_mutex_lock(&n->cluster->lock);
                if (x->slot->answer != ANSWER_NONE)
                        r = 0;
                else if (!is_lost(x) && until && now_ns() >= until)
                        node_lose(n, "did not end a run that it was told to end");
                if (r == 1 && is_lost(x))
                        r = fail_lost(x);
                pthread_mutex_unlock(&n->cluster->lock);
        }
        return r;
}

/* A dynamic linker that misses a library says nothing of the program. */
static int check_libraries(const struct running *x, const struct execute_result *r)
{
        static const char words[] = "error while loading shared libraries: ";
        const char *at = r->end == END_EXIT && r->code == 127 && r->err.size > 0 ? memmem(r->err.data, r->err.size, words, sizeof(words) - 1) : NULL;

        if (!at)
                return 0;
        at += sizeof(words) - 1;
        return errorf(-EIO, "%s lacks a library that %s was built with: %.*s", x->slot->node->hello.host, x->words->programs[0].name,
                      (int)strnlen(at, MIN((size_t)((const char *)r->err.data + r->err.size - at), (size_t)80)), at);
}

static int fail_as_told(const struct running *x, bool cancelled)
{
        const struct cluster_slot *s = x->slot;

        if (s->failure == -ECANCELED)
                return cancelled ? errorf(-ECANCELED, "cancelled") : errorf(-EREMOTEIO, "%s", s->sentence);
        return errorf(s->failure == -EBUSY ? -ERESTART : -EIO, "%s", s->sentence);
}

static int converse(struct running *x, struct execute_result *ret)
{
        struct cluster_slot *s = x->slot;
        bool cancelled = false;
        int r = send_ahead(x);

        for (unsigned i = 0; r == 0 && i < ROUNDS; i++) {
                r = send_request(x);
                if (r == 0)
                        r = await(x, &cancelled);
                if (r < 0)
                        return r;
                if (s->answer == ANSWER_FAILED)
                        return fail_as_told(x, cancelled);
                if (cancelled)
                        return errorf(-ECANCELED, "cancelled");
                if (s->answer == ANSWER_RESULT) {
                        *ret = s->result;
                        s->result = (struct execute_result){0};
                        return check_libraries(x, ret);
                }
                r = send_wanted(x);
        }
        return r < 0 ? r
                     : errorf(-EIO, "the worker on %s lost its files as soon as it was sent them: raise --keep in 'worker'", s->node->hello.host);
}

int cluster_run(struct run_away *a, const struct run_words *words, int cancel_fd, struct execute_result *ret)
{
        cleanup(running_done) struct running x = {.slot = (struct cluster_slot *)a, .words = words, .cancel_fd = cancel_fd};
        struct cluster *c = x.slot->node->cluster;
        int r = make_request(&x);

        if (r == 0)
                r = begin(&x);
        if (r == 0)
                r = converse(&x, ret);
        pthread_mutex_lock(&c->lock);
        x.slot->id = 0;
        execute_result_done(&x.slot->result); /* of one that came when nobody wanted it */
        x.slot->result = (struct execute_result){0};
        pthread_mutex_unlock(&c->lock);
        return r;
}
