/* A trial launch. */
#include <time.h>

#include "core/remote/cluster_internal.h"

#define LOOK_NS (20 * NSEC_PER_MSEC)

static void describe(const struct cluster_slot *s, struct buffer *ret)
{
        const struct node *n = s->node;
        const struct remote_hello *h = &n->hello;
        cleanup_buffer struct buffer text = {0};
        const uint64_t after = (now_ns() - n->launched) / NSEC_PER_MSEC * NSEC_PER_MSEC;

        buffer_addf(&text, "%s: %s, %u core%s, %s, C library %s, solverfs %s, %u slot%s", h->host, h->cpu, h->cores,
                    h->cores == 1 ? "" : "s", h->kernel, h->libc, h->version, h->slots, h->slots == 1 ? "" : "s");
        if (h->left_ns != UINT64_MAX)
                buffer_addf(&text, ", until its job ends in %s", format_duration(h->left_ns / NSEC_PER_SEC * NSEC_PER_SEC).s);
        if (h->memory > 0)
                buffer_addf(&text, ", which gives a run at most %s of memory (a recipe's 'memory' may be no more; srun --mem raises it)",
                            format_size(h->memory).s);
        buffer_addf(&text, "; it was there after %s", format_duration(after).s);
        buffer_add_printable(ret, text.data ?: "");
}

/* Without a `retry` nothing is launched. */
static void ignore(void *)
{
}

static int await_slot(struct cluster *c, uint64_t until, struct cluster_slot **ret)
{
        int r;

        while ((r = cluster_take(c, 0, 1, ret)) == -EAGAIN && now_ns() < until) {
                pthread_mutex_lock(&c->lock);
                if (c->why[0]) /* the first failure is enough */
                        r = errorf(-EIO, "%s", c->why);
                pthread_mutex_unlock(&c->lock);
                if (r != -EAGAIN)
                        return r;
                nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        }
        return r == -EAGAIN ? errorf(-EAGAIN, "its worker was launched, and has not begun yet") : r;
}

int cluster_try(const struct cluster_settings *s, const char *machine, uint64_t most_ns, struct buffer *ret)
{
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
        cluster_attach(c, ignore, NULL);
        r = await_slot(c, now_ns() + most_ns, &slot);
        if (r < 0)
                return r;
        describe(slot, ret);
        cluster_give_back(slot);
        return buffer_error(ret);
}
