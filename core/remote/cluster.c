/* A cluster and its slots: which one is given to whom, and why none can be had. */
#include <sys/eventfd.h>

#include "cache/base/guard.h"
#include "core/remote/cluster_internal.h"

/* -- life -- */

void cluster_settings_done(struct cluster_settings *s)
{
        free(s->name);
        free(s->launch);
        free(s->worker);
        *s = (struct cluster_settings){0};
}

static struct cluster *cluster_free(struct cluster *c)
{
        cluster_settings_done(&c->settings);
        for (size_t i = 0; i < c->n_probed; i++)
                free(c->probed[i].host);
        free(c->probed);
        closep(&c->wake);
        pthread_mutex_destroy(&c->lock);
        pthread_cond_destroy(&c->drained);
        pthread_cond_destroy(&c->called);
        free(c);
        return NULL;
}

int cluster_open(const struct cluster_settings *s, struct cluster **ret)
{
        struct cluster *c = allocate(1, sizeof(*c));
        int r;

        c->settings = *s;
        c->settings.name = copy_string(s->name);
        c->settings.launch = copy_string(s->launch);
        c->settings.worker = s->worker ? copy_string(s->worker) : NULL;
        c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        c->per_node = 1;
        c->next_id = 1;
        TAILQ_INIT(&c->nodes);
        pthread_mutex_init(&c->lock, NULL);
        pthread_cond_init(&c->drained, NULL);
        pthread_cond_init(&c->called, NULL);
        if (c->wake < 0) {
                r = -errno;
                cluster_free(c);
                return errorf(r, "cannot open the cluster %s: %s", s->name, strerror(-r));
        }
        *ret = c;
        return 0;
}

struct cluster *cluster_close(struct cluster *c)
{
        if (!c)
                return NULL;
        pthread_mutex_lock(&c->lock);
        c->closing = true;
        pthread_mutex_unlock(&c->lock);
        cluster_wake(c);
        if (c->has_thread)
                pthread_join(c->thread, NULL);
        return cluster_free(c);
}

void cluster_wake(struct cluster *c)
{
        eventfd_write(c->wake, 1);
}

/* Lock held. Not called by cluster_open(), as a mount forks into the background after that. */
static void start_thread(struct cluster *c)
{
        sigset_t before;
        int r;

        if (c->has_thread)
                return;
        guard_block_signals(&before);
        r = -pthread_create(&c->thread, NULL, cluster_thread, c);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        c->has_thread = r == 0;
        if (r < 0)
                log_error("cannot start a thread for the cluster %s: %s", c->settings.name, strerror(-r));
}

void cluster_attach(struct cluster *c, void (*retry)(void *user), void *user)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        while (c->calling)
                pthread_cond_wait(&c->called, &c->lock);
        c->retry = retry;
        c->retry_user = user;
        c->demand = 0;
        if (retry)
                start_thread(c);
}

/* -- the machine -- */

int cluster_machine(struct cluster *c, char ret[PATH_SIZE])
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        snprintf(ret, PATH_SIZE, "%s", c->machine);
        return *ret ? 0 : -ENOENT;
}

void cluster_know_machine(struct cluster *c, const char *machine)
{
        struct node *n;
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        TAILQ_FOREACH (n, &c->nodes, link)
                if (n->state == NODE_PRESENT && strcmp(c->machine, machine) != 0)
                        node_lose(n, "is left out: it is another machine than %s, of which another process's first worker was", machine);
        snprintf(c->machine, sizeof(c->machine), "%s", machine);
}

void cluster_will_build(struct cluster *c)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        c->will_build = true;
}

/* -- slots -- */

#define BACKOFF_MOST (60 * NSEC_PER_SEC)

void cluster_fail(struct cluster *c, const char *sentence, bool is_launch)
{
        if (is_launch) {
                c->failures++;
                c->failed_at = now_ns();
        }
        c->next_launch = now_ns() + MIN((50 * NSEC_PER_MSEC) << MIN(c->failures, 11u), BACKOFF_MOST);
        snprintf(c->why, sizeof(c->why), "%s", sentence);
        log_warning("cluster %s: %s", c->settings.name, c->why);
}

#define TAKE_MARGIN_NS (10 * NSEC_PER_SEC) /* for the network, for preparation and for the time that a run may take beyond its limit */

bool node_has_time(const struct node *n, uint64_t most_ns)
{
        const uint64_t now = clock_ns(CLOCK_BOOTTIME);

        return n->ends == UINT64_MAX || (n->ends > now && n->ends - now > most_ns + TAKE_MARGIN_NS);
}

static struct cluster_slot *free_slot(struct node *n)
{
        for (unsigned i = 0; i < n->n_slots; i++)
                if (!n->slots[i].taken)
                        return &n->slots[i];
        return NULL;
}

/* False if the last CLUSTER_FAILURES workers all came with too little time: nor would the next one have more, such as in an allocation that is nearly
 * over. */
static bool may_fit(const struct cluster *c, uint64_t most_ns, uint64_t *ret_left)
{
        *ret_left = 0;
        for (unsigned i = 0; i < MIN(c->n_hellos, (unsigned)CLUSTER_FAILURES); i++)
                *ret_left = MAX(*ret_left, c->left[i]);
        return c->n_hellos < CLUSTER_FAILURES || most_ns + TAKE_MARGIN_NS < *ret_left;
}

/* A free slot of a worker that will live long enough; NULL: none. */
static struct cluster_slot *find_slot(struct cluster *c, uint64_t most_ns)
{
        struct cluster_slot *best = NULL;
        uint64_t left;
        bool fits = may_fit(c, most_ns, &left);
        struct node *n;

        TAILQ_FOREACH (n, &c->nodes, link) {
                struct cluster_slot *s = n->state == NODE_PRESENT ? free_slot(n) : NULL;

                if (s && !node_has_time(n, most_ns)) {
                        if (n->n_busy == 0 && fits)
                                node_leave(n); /* another one is launched in its place, with all its time left */
                        continue;
                }
                if (s && (!best || n->n_busy > best->node->n_busy)) /* the busiest, so that others become idle, and leave */
                        best = s;
        }
        return best;
}

/* True if a launch is under way that began after the last failure: those before it fail for the same reason. */
static bool has_launched_since(const struct cluster *c)
{
        const struct node *n;

        TAILQ_FOREACH (n, &c->nodes, link)
                if (n->state == NODE_LAUNCHED && n->launched > c->failed_at)
                        return true;
        return false;
}

/* -EAGAIN: a slot may come. -EIO: none will. */
static int why_none(struct cluster *c, uint64_t most_ns)
{
        uint64_t left;

        /* Later than that another launch is tried, or has begun. */
        if (cluster_count(c, NODE_PRESENT) == 0 && !has_launched_since(c) && c->failures >= CLUSTER_FAILURES && now_ns() < c->next_launch)
                return errorf(-EIO, "no worker of the cluster %s can be had: %s", c->settings.name, c->why);
        if (may_fit(c, most_ns, &left))
                return -EAGAIN;
        return errorf(-EIO, "a run of up to %s fits into no worker of the cluster %s, which has %s: raise the time in its 'launch'",
                      format_duration(most_ns).s, c->settings.name, format_duration(left / NSEC_PER_SEC * NSEC_PER_SEC).s);
}

int cluster_take(struct cluster *c, uint64_t most_ns, size_t waiting, struct cluster_slot **ret)
{
        int r = 0;
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct cluster_slot *s = c->closing ? NULL : find_slot(c, most_ns);

        c->demanded = now_ns();
        if (c->closing) {
                r = errorf(-ECANCELED, "solverfs is being shut down");
        } else if (s) {
                c->demand = waiting - 1;
                s->taken = true;
                s->node->n_busy++;
                s->node->idle_since = 0;
                *ret = s;
        } else {
                r = why_none(c, most_ns);
                if (r == -EAGAIN && (c->demand != waiting || c->demand_ns != most_ns)) {
                        c->demand = waiting;
                        c->demand_ns = most_ns;
                        cluster_wake(c);
                } else if (r != -EAGAIN)
                        c->demand = MIN(c->demand, waiting - 1); /* no worker is launched for a run that was refused */
        }
        return r;
}

void cluster_give_back(struct cluster_slot *s)
{
        struct node *n = s->node;
        struct cluster *c = n->cluster;
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        s->taken = false;
        n->n_busy--;
        if (n->n_busy == 0) {
                n->idle_since = now_ns();
                cluster_wake(c);
        }
        node_free_if_done(n);
}

struct run_remote *cluster_slot_remote(struct cluster_slot *s)
{
        return &s->remote;
}

/* -- showing -- */

void cluster_look(struct cluster *c, void (*fn)(void *user, const struct remote_view *v), void *user)
{
        char machine[PATH_SIZE], why[sizeof(c->why)], uneven[sizeof(c->uneven)];
        struct remote_view v = {.pid = getpid(), .name = c->settings.name, .machine = machine, .why = why, .uneven = uneven, .wanted = c->settings.workers};
        struct node *n;

        pthread_mutex_lock(&c->lock);
        snprintf(machine, sizeof(machine), "%s", c->machine);
        snprintf(why, sizeof(why), "%s", c->why);
        snprintf(uneven, sizeof(uneven), "%s", c->uneven);
        v.lost = c->lost;
        v.left_out = c->left_out;
        v.sent = c->sent;
        TAILQ_FOREACH (n, &c->nodes, link) {
                v.queued += n->state == NODE_LAUNCHED;
                v.present += n->state == NODE_PRESENT;
                v.slots += n->state == NODE_PRESENT ? n->n_slots : 0;
                v.busy += n->n_busy;
        }
        pthread_mutex_unlock(&c->lock);
        fn(user, &v);
}
