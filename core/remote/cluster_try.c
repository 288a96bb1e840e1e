/* One launch, for who wants to know whether it works. */
#include "core/remote/cluster_internal.h"

struct trial {
        pthread_mutex_t lock;
        pthread_cond_t looked;
        unsigned looks; /* under lock */
};

static void note_look(void *user)
{
        struct trial *t = user;

        pthread_mutex_lock(&t->lock);
        t->looks++;
        pthread_cond_signal(&t->looked);
        pthread_mutex_unlock(&t->lock);
}

static void await_look(struct trial *t, unsigned since, uint64_t until)
{
        uint64_t now = now_ns();
        struct timespec when = time_in(until > now ? until - now : 0);

        pthread_mutex_lock(&t->lock);
        while (t->looks == since && pthread_cond_timedwait(&t->looked, &t->lock, &when) == 0)
                ;
        pthread_mutex_unlock(&t->lock);
}

static void describe(const struct cluster_slot *s, struct buffer *ret)
{
        const struct node *n = s->node;
        const struct remote_hello *h = &n->hello;
        cleanup_buffer struct buffer text = {0};
        char after[32], left[32];

        format_duration((now_ns() - n->launched) / NSEC_PER_MSEC * NSEC_PER_MSEC, after);
        buffer_addf(&text, "%s: %s, %u core%s, %s, C library %s, solverfs %s, %u slot%s", h->host, h->cpu, h->cores,
                    h->cores == 1 ? "" : "s", h->kernel, h->libc, h->version, h->slots, h->slots == 1 ? "" : "s");
        if (h->left_ns != UINT64_MAX) {
                format_duration(h->left_ns / NSEC_PER_SEC * NSEC_PER_SEC, left);
                buffer_addf(&text, ", until its job ends in %s", left);
        }
        buffer_addf(&text, "; it was there after %s", after);
        buffer_add_printable(ret, text.data ? text.data : "");
}

static int fail_first(struct cluster *c)
{
        int r = 0;

        pthread_mutex_lock(&c->lock);
        if (c->failures > 0)
                r = errorf(-EIO, "%s", c->why);
        pthread_mutex_unlock(&c->lock);
        return r;
}

static int await_slot(struct cluster *c, struct trial *t, uint64_t until, struct cluster_slot **ret)
{
        int r = -EAGAIN;

        while (r == -EAGAIN && now_ns() < until) {
                unsigned since;

                pthread_mutex_lock(&t->lock);
                since = t->looks;
                pthread_mutex_unlock(&t->lock);
                r = cluster_take(c, 0, 1, ret);
                if (r == -EAGAIN && fail_first(c) < 0)
                        return -EIO;
                if (r == -EAGAIN)
                        await_look(t, since, until);
        }
        return r == -EAGAIN ? errorf(-EAGAIN, "its worker was launched, and has not begun yet") : r;
}

int cluster_try(const struct cluster_settings *s, const char *machine, uint64_t most_ns, struct buffer *ret)
{
        struct trial t = {.lock = PTHREAD_MUTEX_INITIALIZER, .looked = PTHREAD_COND_INITIALIZER};
        struct cluster_settings one = *s;
        cleanup(cluster_closep) struct cluster *c = NULL;
        struct cluster_slot *slot;
        int r;

        one.workers = 1;
        r = cluster_open(&one, &c);
        if (r < 0)
                return r;
        if (machine)
                cluster_know_machine(c, machine);
        cluster_attach(c, note_look, &t);
        r = await_slot(c, &t, now_ns() + most_ns, &slot);
        if (r < 0)
                return r;
        describe(slot, ret);
        cluster_give_back(slot);
        return buffer_error(ret);
}
