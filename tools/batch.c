#include "batch.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

/* Tickets at a time. Enough to keep every core busy and to let the engine see what shares a build, few enough for memory and for an
 * interrupt to take back at once. */
#define OUTSTANDING 256

struct item {
        struct state *state;
        size_t i;
        struct ticket *ticket; /* ours until answered */
        bool answered;         /* under state->lock */
        int r;                 /* under state->lock until answered */
        struct value *value;   /* owns a ref */
        char *reason;
        struct item *next;         /* of the answered list, under state->lock */
        struct item *left, *right; /* of the ring of open ones, the main thread's */
};

struct state {
        const struct batch *b;
        pthread_mutex_t lock;
        struct item *news; /* under lock: answered, not yet looked at */
        int event;         /* readable when there are news */
        struct item open;  /* head of the ring of open items */
        size_t n_open, n_answered, n_asked;
        size_t n_worked;      /* answers that had to be waited for */
        uint64_t begun;       /* when the first of those was asked for; 0: none yet */
        struct buffer *texts; /* [n] what is to be printed, */
        bool *ready;          /* [n] whether it is complete, */
        size_t n_printed;     /* and how many are out */
};

static void on_answer(void *user, int r, struct value *v, const char *reason)
{
        struct item *item = user;
        struct state *s = item->state;

        item->value = v ? value_ref(v) : NULL;
        item->reason = reason ? strdup(reason) : NULL;
        pthread_mutex_lock(&s->lock);
        item->r = r;
        item->answered = true;
        item->next = s->news;
        s->news = item;
        eventfd_write(s->event, 1); /* inside, as the state may go once the lock is free */
        pthread_mutex_unlock(&s->lock);
}

static void print_ready(struct state *s)
{
        for (; s->n_printed < s->b->n && s->ready[s->n_printed]; s->n_printed++) {
                output_write(&s->texts[s->n_printed]);
                buffer_done(&s->texts[s->n_printed]);
        }
}

static void take_answer(struct state *s, size_t i, int r, struct value *v, const char *reason)
{
        s->b->answered(s->b->user, i, r, v, reason ? reason : r < 0 ? error_message(r) : NULL, &s->texts[i]);
        s->ready[i] = true;
        s->n_answered++;
        print_ready(s);
}

static void item_free(struct state *s, struct item *item)
{
        item->left->right = item->right;
        item->right->left = item->left;
        s->n_open--;
        value_unref(item->value);
        free(item->reason);
        free(item);
}

static void take_news(struct state *s, bool instant)
{
        struct item *news;

        pthread_mutex_lock(&s->lock);
        news = s->news;
        s->news = NULL;
        pthread_mutex_unlock(&s->lock);
        while (news) {
                struct item *item = news;

                news = item->next;
                s->n_worked += !instant;
                take_answer(s, item->i, item->r, item->value, item->reason);
                item_free(s, item);
        }
}

/* Asks for the next item. 0, or -EAGAIN when the engine's queue is full just now. */
static int ask_next(struct state *s)
{
        const struct batch *b = s->b;
        size_t i = s->n_asked;
        cleanup(query_unrefp) struct query *q = NULL;
        struct item *item;
        int r = b->make(b->user, i, &q);

        if (r < 0) {
                s->n_asked++;
                take_answer(s, i, r, NULL, NULL);
                return 0;
        }
        item = calloc(1, sizeof(*item));
        if (!item)
                return -ENOMEM;
        *item = (struct item){.state = s, .i = i, .left = &s->open, .right = s->open.right};
        item->right->left = s->open.right = item;
        s->n_open++;
        r = engine_ask(b->engine, q, b->n > 1 ? PRIORITY_BATCH : PRIORITY_PERSON, b->again, on_answer, item, &item->ticket);
        if (r < 0) {
                item_free(s, item);
                if (r == -EAGAIN && s->n_open > 0)
                        return r; /* once more when one of ours is done */
                s->n_asked++;
                take_answer(s, i, r, NULL, NULL);
                return 0;
        }
        s->n_asked++;
        return 0;
}

/* -- progress -- */

struct looking {
        int running;
        char what[256];
        uint64_t done, total, left;
};

static void look_at_job(void *user, const struct job_view *j)
{
        struct looking *l = user;

        if (j->pid != getpid() || j->state != JOB_RUNNING || l->running++ > 0)
                return;
        l->done = j->done;
        l->total = j->total;
        l->left = j->remaining_ns;
        snprintf(l->what, sizeof(l->what), "%s%s%s", j->what, j->phase && *j->phase ? ": " : "", j->phase ? j->phase : "");
}

static void show(struct state *s)
{
        struct looking l = {0};
        char what[320];

        engine_each_job(s->b->engine, look_at_job, &l);
        if (l.running == 0)
                snprintf(l.what, sizeof(l.what), "%s: waiting", s->b->title);
        if (s->b->n == 1) {
                progress_show(l.what, l.done, l.total, l.left);
                return;
        }
        if (s->n_worked > 0)
                l.left = (uint64_t)((double)(now_ns() - s->begun) / (double)s->n_worked * (double)(s->b->n - s->n_answered));
        if (l.running > 1)
                snprintf(what, sizeof(what), "%s (and %d more)", l.what, l.running - 1);
        progress_show(l.running > 1 ? what : l.what, s->n_answered, s->b->n, l.left);
}

/* -- the loop -- */

static void take_back(struct state *s)
{
        struct item *next;

        for (struct item *item = s->open.right; item != &s->open; item = next) {
                bool left = false;

                next = item->right;
                /* Under our lock, so that an answer that is being given now cannot end, and its ticket be freed, in between. */
                pthread_mutex_lock(&s->lock);
                if (!item->answered)
                        left = engine_leave(s->b->engine, &item->ticket);
                pthread_mutex_unlock(&s->lock);
                if (left)
                        item_free(s, item);
        }
        while (s->n_open > 0) { /* their answers are being given this moment */
                struct pollfd p = {.fd = s->event, .events = POLLIN};
                eventfd_t n;

                poll(&p, 1, -1);
                eventfd_read(s->event, &n);
                take_news(s, true);
        }
}

static int loop(struct state *s)
{
        const struct batch *b = s->b;

        while (s->n_answered < b->n) {
                struct pollfd p[] = {{.fd = s->event, .events = POLLIN}, {.fd = b->signals, .events = POLLIN}};
                eventfd_t n;
                bool full = false;

                while (!full && s->n_asked < b->n && s->n_open < OUTSTANDING && !command_interrupted(b->signals)) {
                        int r = ask_next(s);

                        if (r == -ENOMEM)
                                return r;
                        full = r == -EAGAIN;
                        take_news(s, true);
                        if (s->begun == 0 && s->n_open > 0)
                                s->begun = now_ns();
                }
                if (s->n_answered == b->n)
                        break;
                poll(p, ARRAY_SIZE(p), 200);
                if (p[1].revents)
                        return -EINTR;
                if (p[0].revents)
                        eventfd_read(s->event, &n);
                take_news(s, false);
                if (output_broken())
                        return -EPIPE;
                if (s->n_answered < b->n)
                        show(s);
        }
        return 0;
}

int batch_run(const struct batch *b)
{
        struct state s = {.b = b, .lock = PTHREAD_MUTEX_INITIALIZER, .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        int r = -ENOMEM;

        s.open.left = s.open.right = &s.open;
        s.texts = calloc(MAX(b->n, (size_t)1), sizeof(*s.texts));
        s.ready = calloc(MAX(b->n, (size_t)1), sizeof(*s.ready));
        if (s.event < 0)
                r = errorf(-errno, "cannot make an event descriptor: %s", strerror(errno));
        else if (s.texts && s.ready)
                r = loop(&s);
        if (r == -EINTR)
                note("stopping");
        if (r < 0 && s.event >= 0)
                take_back(&s);
        progress_clear();
        for (size_t i = s.n_printed; s.texts && i < b->n;
             i++) { /* what is finished behind what was interrupted is worth printing too */
                output_write(&s.texts[i]);
                buffer_done(&s.texts[i]);
        }
        free(s.texts);
        free(s.ready);
        if (s.event >= 0)
                close(s.event);
        pthread_mutex_destroy(&s.lock);
        return r;
}
