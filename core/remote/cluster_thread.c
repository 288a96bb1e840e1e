/* The thread of a cluster: launches workers, listens to them, lets them go. It makes all its decisions under the cluster's lock. */
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "core/remote/cluster_internal.h"

/* `when`: the time at which the thread looks again, if nothing happens before. */
static void sooner(uint64_t *when, uint64_t t)
{
        *when = MIN(*when, t);
}

/* -- the number of workers -- */

unsigned cluster_count(const struct cluster *c, enum node_state state)
{
        const struct node *n;
        unsigned k = 0;

        TAILQ_FOREACH (n, &c->nodes, link)
                k += n->state == state;
        return k;
}

/* Launches workers until there are enough for the wanted slots and the busy ones, if each has as many slots as the last worker that came. Workers with too
 * little time left for what is wanted count only for the limit of all. */
static void launch(struct cluster *c, uint64_t now, uint64_t *when)
{
        size_t slots = c->demand, there = 0, nodes;
        struct node *n;

        if (c->demand == 0 || c->closing)
                return;
        TAILQ_FOREACH (n, &c->nodes, link) {
                const bool is_present = n->state == NODE_PRESENT && node_has_time(n, c->demand_ns);

                slots += is_present ? n->n_busy : 0;
                there += is_present || n->state == NODE_LAUNCHED;
        }
        nodes = (slots + c->per_node - 1) / c->per_node;
        for (size_t all = cluster_count(c, NODE_LAUNCHED) + cluster_count(c, NODE_PRESENT); there < nodes && all < c->settings.workers; there++, all++) {
                int r;

                if (now < c->next_launch) {
                        sooner(when, c->next_launch);
                        return;
                }
                r = node_launch(c);
                if (r < 0) {
                        cluster_fail(c, error_message(r), true);
                        c->news = true;
                }
        }
}

/* The askers may have gone: a demand ends unless it is repeated from time to time. */
static void ask_again(struct cluster *c, uint64_t now, uint64_t *when)
{
        uint64_t pause = MAX(c->settings.idle_ns / 2, NSEC_PER_MSEC);

        if (c->demand == 0)
                return;
        if (now - c->demanded >= pause) {
                c->demand = 0;
                c->news = true;
        } else {
                sooner(when, c->demanded + pause);
        }
}

/* -- each worker -- */

/* A launch under way is idle since nobody asks for a slot any more. */
static void look_idle(struct node *n, uint64_t now, uint64_t *when)
{
        const struct cluster *c = n->cluster;
        uint64_t since = n->state == NODE_LAUNCHED ? MAX(n->launched, c->demanded) : n->idle_since;

        if (since == 0)
                return;
        if (now - since >= c->settings.idle_ns)
                node_leave(n);
        else
                sooner(when, since + c->settings.idle_ns);
}

static void look_silent(struct node *n, uint64_t now, uint64_t *when)
{
        const uint64_t patience = n->cluster->settings.patience_ns;

        if (n->state != NODE_PRESENT)
                return;
        if (n->pinged > 0 && now - n->pinged >= patience) {
                node_lose(n, "was silent for %s, even when pinged", format_duration(patience).s);
        } else if (n->pinged > 0) {
                sooner(when, n->pinged + patience);
        } else if (now - n->heard >= patience / 3) {
                n->pinged = now;
                node_send(n, PACKET_PING, 0, SLICE("", 0));
                sooner(when, now + patience);
        } else {
                sooner(when, n->heard + patience / 3);
        }
}

/* First by SIGTERM, which a launcher such as srun passes on. */
static void look_killed(struct node *n, uint64_t now, uint64_t *when)
{
        if (n->kill_at == 0 || n->is_reaped)
                return;
        if (now >= n->kill_at) {
                kill(-n->pid, n->terminated ? SIGKILL : SIGTERM);
                n->terminated = true;
                n->kill_at = now + NODE_END_NS;
        }
        sooner(when, n->kill_at);
}

static void look_nodes(struct cluster *c, uint64_t now, uint64_t *when)
{
        struct node *n;

        TAILQ_FOREACH (n, &c->nodes, link) {
                if (n->state == NODE_GONE)
                        continue;
                if (c->closing)
                        node_leave(n);
                look_silent(n, now, when);
                if (n->state == NODE_LAUNCHED || n->state == NODE_PRESENT)
                        look_idle(n, now, when);
                look_killed(n, now, when);
        }
        if (cluster_count(c, NODE_PRESENT) == 0)
                c->kernel[0] = c->toolchain[0] = '\0'; /* all machines may have been updated */
}

/* -- events -- */

#define NODE_FDS 4

struct polled {
        struct pollfd *fds;  /* owned */
        struct node **nodes; /* owned; the node of each fd; the first fd has none */
        size_t n;
};

static void add_fd(struct polled *p, struct node *n, int fd, short events)
{
        if (fd < 0)
                return;
        p->nodes[p->n] = n;
        p->fds[p->n++] = (struct pollfd){.fd = fd, .events = events};
}

static void collect(struct cluster *c, struct polled *p)
{
        size_t most = 1 + NODE_FDS * (size_t)c->n_nodes;
        struct node *n;

        *p = (struct polled){.fds = allocate(most, sizeof(*p->fds)), .nodes = allocate(most, sizeof(*p->nodes))};
        add_fd(p, NULL, c->wake, POLLIN);
        TAILQ_FOREACH (n, &c->nodes, link) {
                if (n->state == NODE_GONE)
                        continue;
                add_fd(p, n, n->out, POLLIN);
                add_fd(p, n, n->err, POLLIN);
                add_fd(p, n, n->process, POLLIN);
                if (n->written < n->output.size)
                        add_fd(p, n, n->in, POLLOUT);
        }
}

static void handle(struct node *n, const struct pollfd *p)
{
        enum node_state before = n->state;

        if (p->fd == n->out)
                node_read(n);
        else if (p->fd == n->err)
                node_read_error(n);
        else if (p->fd == n->in)
                node_flush(n);
        else if (p->fd == n->process)
                node_reap(n);
        n->cluster->news |= n->state != before;
}

static void wait_for_events(struct cluster *c, uint64_t when)
{
        uint64_t now = now_ns(), milliseconds = when <= now ? 0 : MIN((when - now) / NSEC_PER_MSEC + 1, (uint64_t)3600000);
        struct polled p;
        eventfd_t woken;
        int k;

        collect(c, &p);
        pthread_mutex_unlock(&c->lock);
        k = poll(p.fds, p.n, (int)milliseconds);
        if (k > 0 && p.fds[0].revents)
                eventfd_read(c->wake, &woken);
        pthread_mutex_lock(&c->lock);
        for (size_t i = 1; k > 0 && i < p.n; i++)
                if (p.fds[i].revents)
                        handle(p.nodes[i], &p.fds[i]);
        free(p.fds);
        free(p.nodes);
}

static void tell(struct cluster *c)
{
        void (*retry)(void *user) = c->retry;
        void *user = c->retry_user;

        c->news = false;
        if (!retry)
                return;
        c->calling = true;
        pthread_mutex_unlock(&c->lock);
        retry(user);
        pthread_mutex_lock(&c->lock);
        c->calling = false;
        pthread_cond_broadcast(&c->called);
}

void *cluster_thread(void *user)
{
        struct cluster *c = user;
        struct node *n, *next;
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        while (!c->closing || !TAILQ_EMPTY(&c->nodes)) {
                uint64_t now = now_ns(), when = UINT64_MAX;

                look_nodes(c, now, &when);
                launch(c, now, &when);
                ask_again(c, now, &when);
                if (c->news)
                        tell(c);
                else
                        wait_for_events(c, when);
                for (n = TAILQ_FIRST(&c->nodes); n; n = next) {
                        next = TAILQ_NEXT(n, link);
                        node_free_if_done(n);
                }
        }
        return NULL;
}
