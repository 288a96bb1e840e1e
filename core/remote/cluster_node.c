/* One worker of a cluster, as the head sees it: its launch, its end, what it is sent, its hello and its answers. */
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "cache/base/json.h"
#include "cache/base/spawn.h"
#include "core/remote/cluster_internal.h"
#include "core/run/host.h"
#include "version.h"

/* -- launching -- */

static int add_worker_command(const struct cluster *c, struct buffer *ret)
{
        char self[PATH_SIZE];
        ssize_t n;

        if (c->settings.worker) {
                buffer_adds(ret, c->settings.worker);
                return 0;
        }
        n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        if (n < 0)
                return errorf(-errno, "cannot find this program: %s", strerror(errno));
        self[n] = '\0';
        buffer_add_shell_word(ret, self);
        buffer_adds(ret, " worker");
        return 0;
}

static int launch_command(const struct cluster *c, struct buffer *ret)
{
        const char *at = c->settings.launch, *p;
        int r = 0;

        buffer_adds(ret, "export SLURM_UNBUFFEREDIO=1; "); /* or srun holds back output that does not end with a newline */
        for (; r == 0 && (p = strstr(at, "{worker}")); at = p + strlen("{worker}")) {
                buffer_add(ret, at, (size_t)(p - at));
                r = add_worker_command(c, ret);
        }
        buffer_adds(ret, at);
        return r;
}

static int start_process(struct node *n, const char *command)
{
        int fds[6] = {-1, -1, -1, -1, -1, -1}, r = 0; /* pairs: read end, write end */

        for (int i = 0; r == 0 && i < 3; i++)
                r = pipe2(fds + 2 * i, O_CLOEXEC) < 0 ? -errno : 0;
        if (r == 0)
                r = spawn_shell(command, (const int[]){fds[0], fds[3], fds[5]}, environ, &n->pid); /* the launcher may need our environment */
        if (r == 0 && (n->process = pidfd_open(n->pid, 0)) < 0) { /* its end would not be noticed */
                r = -errno;
                kill(-n->pid, SIGKILL);
                TEMP_FAILURE_RETRY(waitpid(n->pid, NULL, 0));
        }
        if (r == 0) {
                n->in = steal_fd(&fds[1]);
                n->out = steal_fd(&fds[2]);
                n->err = steal_fd(&fds[4]);
                fcntl(n->in, F_SETFL, O_NONBLOCK);
                fcntl(n->out, F_SETFL, O_NONBLOCK);
                fcntl(n->err, F_SETFL, O_NONBLOCK);
                fcntl(n->in, F_SETPIPE_SZ, 1 << 20); /* larger programs go in fewer pieces; harmless if refused */
        }
        for (int i = 0; i < 6; i++)
                closep(&fds[i]);
        return r;
}

int node_launch(struct cluster *c)
{
        cleanup_buffer struct buffer command = {0}, body = {0};
        struct node *n = allocate(1, sizeof(*n));
        int r = launch_command(c, &command);

        *n = (struct node){.cluster = c, .in = -1, .out = -1, .err = -1, .process = -1, .launched = now_ns()};
        if (r == 0)
                r = start_process(n, command.data);
        if (r < 0) {
                free(n);
                return errorf(r, "cannot launch a worker: %s", error_message(r));
        }
        pthread_mutex_init(&n->upload, NULL);
        TAILQ_INSERT_TAIL(&c->nodes, n, link);
        c->n_nodes++;
        message_write(PACKET_HELLO, &(struct remote_hello){.protocol = REMOTE_PROTOCOL, .version = (char *)SOLVERFS_VERSION}, &body);
        return node_send(n, PACKET_HELLO, 0, SLICE(body.data, body.size));
}

/* -- end of a worker -- */

static const char *name_of(const struct node *n)
{
        return n->hello.host ? n->hello.host : "a worker that was launched";
}

/* Wakes all who wait for the node: they find that it is not present any more. */
static void wake_requests(struct node *n)
{
        for (unsigned i = 0; i < n->n_slots; i++)
                if (n->slots[i].id)
                        eventfd_write(n->slots[i].event, 1);
        pthread_cond_broadcast(&n->cluster->drained);
}

static void close_pipes(struct node *n)
{
        closep(&n->in);
        closep(&n->out);
        closep(&n->err);
}

void node_leave(struct node *n)
{
        if (n->state == NODE_LEAVING || n->state == NODE_GONE)
                return;
        /* A launch in a queue does not read its input: it gets a signal. */
        n->kill_at = n->state == NODE_LAUNCHED ? now_ns() : now_ns() + NODE_END_NS;
        n->state = NODE_LEAVING;
        closep(&n->in);
        wake_requests(n);
        cluster_wake(n->cluster);
}

/* Adds its standard error in one line. */
static void add_said(const struct node *n, struct buffer *ret)
{
        struct slice last = slice_last_lines(SLICE(n->said, n->n_said), 5, STDERR_KEPT);
        cleanup_free char *text = copy_prefix(last.data, last.size);
        size_t size = strlen(text);

        if (size == 0)
                return;
        text[size - (text[size - 1] == '\n')] = '\0';
        for (char *p = text; (p = strchr(p, '\n'));)
                *p = ' ';
        buffer_adds(ret, ": ");
        buffer_add_printable(ret, text);
}

void node_lose(struct node *n, const char *format, ...)
{
        cleanup_buffer struct buffer sentence = {0};
        char what[512];

        if (n->state == NODE_GONE)
                return;
        format_rest(what, format);
        node_read_error(n);
        buffer_add_printable(&sentence, name_of(n));
        buffer_adds(&sentence, " ");
        buffer_add_printable(&sentence, what); /* may have words of the worker, perhaps cut inside a character */
        add_said(n, &sentence);
        if (n->state != NODE_LEAVING) {
                n->cluster->lost += n->state == NODE_PRESENT;
                /* Launches that began together fail together, and count once. */
                cluster_fail(n->cluster, sentence.data, n->state == NODE_LAUNCHED && n->launched >= n->cluster->failed_at);
        }
        n->state = NODE_LEAVING;
        n->why = n->why ?: steal_pointer(sentence.data);
        n->kill_at = n->is_reaped ? 0 : now_ns();
        close_pipes(n);
        wake_requests(n);
}

void node_reap(struct node *n)
{
        int status = 0;

        TEMP_FAILURE_RETRY(waitpid(n->pid, &status, 0));
        n->is_reaped = true;
        node_read(n); /* the rest of its output */
        if (WIFSIGNALED(status))
                node_lose(n, "was ended by signal %d", WTERMSIG(status));
        else
                node_lose(n, "ended with status %d%s", WEXITSTATUS(status), n->hello.host ? "" : " before it said hello");
        closep(&n->process);
        n->state = NODE_GONE;
        n->cluster->n_nodes--;
}

void node_free_if_done(struct node *n)
{
        struct cluster *c = n->cluster;

        if (n->state != NODE_GONE || n->n_busy > 0)
                return;
        TAILQ_REMOVE(&c->nodes, n, link);
        close_pipes(n);
        for (unsigned i = 0; i < n->n_slots; i++) {
                closep(&n->slots[i].event);
                free(n->slots[i].sentence);
                buffer_done(&n->slots[i].out);
                buffer_done(&n->slots[i].err);
                execute_result_done(&n->slots[i].result);
                buffer_done(&n->slots[i].built);
                buffer_done(&n->slots[i].said);
                digest_list_done(&n->slots[i].wants);
        }
        free(n->slots);
        free(n->sent);
        buffer_done(&n->input.bytes);
        buffer_done(&n->output);
        message_done(PACKET_HELLO, &n->hello);
        json_decref(n->facts);
        free(n->machine);
        free(n->why);
        pthread_mutex_destroy(&n->upload);
        free(n);
}

/* -- sending -- */

void node_flush(struct node *n)
{
        while (n->in >= 0 && n->written < n->output.size) {
                ssize_t k = TEMP_FAILURE_RETRY(write(n->in, n->output.data + n->written, n->output.size - n->written));

                if (k < 0 && errno == EAGAIN)
                        return;
                if (k < 0) {
                        closep(&n->in); /* its output, or its end, shows the rest */
                        break;
                }
                n->written += (size_t)k;
                n->cluster->sent += (uint64_t)k;
        }
        n->output.size = n->written = 0;
        pthread_cond_broadcast(&n->cluster->drained);
}

int node_send(struct node *n, enum packet_type type, uint64_t id, struct slice body)
{
        bool idle = n->written == n->output.size;
        int r = packet_write(type, id, n->out_sequence, body, &n->output);

        if (r < 0)
                return r;
        n->out_sequence++;
        if (idle)
                node_flush(n);
        if (n->written < n->output.size)
                cluster_wake(n->cluster);
        return 0;
}

/* -- slow nodes, by the probe that each worker reports -- */

static bool is_old(const struct probed *p)
{
        return is_older_than(p->least.at, CLUSTER_PROBE_KEPT);
}

/* Sets c->uneven. */
static void judge_probes(struct cluster *c)
{
        const struct probed *least = NULL, *most = NULL;
        bool was_even = !c->uneven[0];

        for (size_t i = 0; i < c->n_probed; i++) {
                const struct probed *p = &c->probed[i];

                if (is_old(p))
                        continue;
                least = !least || p->least.ns < least->least.ns ? p : least;
                most = !most || p->least.ns > most->least.ns ? p : most;
        }
        c->uneven[0] = '\0';
        if (!most || (double)most->least.ns <= CLUSTER_UNEVEN * (double)least->least.ns)
                return;
        snprintf(c->uneven, sizeof(c->uneven), "%.80s takes %.2f times as long as %.80s for the same probe", most->host,
                 (double)most->least.ns / (double)least->least.ns, least->host);
        if (was_even)
                log_warning("cluster %s: %s; their times stand under one machine", c->settings.name, c->uneven);
}

static struct probed *probed_of(struct cluster *c, const char *host)
{
        size_t i = 0;

        while (i < c->n_probed && strcmp(c->probed[i].host, host) != 0)
                i++;
        if (i == c->n_probed)
                list_add(c->probed, c->n_probed, (struct probed){.host = copy_string(host)});
        return &c->probed[i];
}

/* Keeps the least probe of the node's workers that came here; a newer one replaces one that is old. */
static void note_probe(struct cluster *c, const char *host, uint64_t ns)
{
        struct probed *p;

        if (ns == 0)
                return;
        p = probed_of(c, host);
        if (!p->is_ours || ns <= p->least.ns || is_old(p))
                p->least = (struct cluster_probe){ns, now_seconds()};
        p->is_ours = true;
        judge_probes(c);
}

void cluster_know_probe(struct cluster *c, const char *host, const struct cluster_probe *probe)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct probed *p = probed_of(c, host);

        p->least = p->is_ours ? p->least : *probe;
}

void cluster_each_probe(struct cluster *c, void (*fn)(void *user, const char *host, const struct cluster_probe *probe), void *user)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        for (size_t i = 0; i < c->n_probed; i++)
                if (c->probed[i].is_ours)
                        fn(user, c->probed[i].host, &c->probed[i].least);
}

/* -- hello -- */

static int make_slots(struct node *n)
{
        const unsigned most = MIN(n->hello.slots, NODE_SLOTS);

        n->slots = allocate(most, sizeof(*n->slots));
        n->sent = allocate(SENT_KEPT, sizeof(*n->sent));
        for (; n->n_slots < most; n->n_slots++) {
                struct cluster_slot *s = &n->slots[n->n_slots];

                *s = (struct cluster_slot){.node = n, .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
                s->remote = (struct run_remote){.machine = n->machine, .facts = n->facts, .run = cluster_run};
                if (s->event < 0)
                        return -errno;
        }
        return 0;
}

/* True if the worker's machine differs; `why` says how. */
static bool differs(struct node *n, const char *machine, struct buffer *why)
{
        const struct remote_hello *h = &n->hello;
        struct cluster *c = n->cluster;
        json_t *facts = host_facts(), *theirs = json_loads(h->facts ?: "", 0, NULL);
        const char *libc = json_text(facts, "libc", ""), *arch = json_text(facts, "arch", ""), *their_arch = json_text(theirs, "arch", arch);

        if (c->machine[0] && strcmp(c->machine, machine) != 0)
                buffer_addf(why, "is another machine (%s, and the results of this cluster are of %s): give its partition a [cluster] of its own",
                            machine, c->machine);
        else if (c->kernel[0] && strcmp(c->kernel, h->kernel) != 0)
                buffer_addf(why, "has the kernel %s, and the others have %s", h->kernel, c->kernel);
        else if (strcmp(arch, their_arch) != 0) /* programs are built here */
                buffer_addf(why, "has a processor of the kind %s, and programs are built here for %s", their_arch, arch);
        else if (strcmp(libc, h->libc) != 0) /* likewise */
                buffer_addf(why, "has the C library %s, and programs are built here with %s", h->libc, libc);
        else if (c->will_build && c->toolchain[0] && strcmp(c->toolchain, h->toolchain) != 0)
                buffer_adds(why, "has other compilers or build tools than the others, and builds are done there");
        json_decref(facts);
        json_decref(theirs);
        return why->size > 0;
}

static void accept(struct node *n, const char *machine)
{
        const struct remote_hello *h = &n->hello;
        struct cluster *c = n->cluster;
        uint64_t now = clock_ns(CLOCK_BOOTTIME);
        int r;

        c->left[c->n_hellos++ % CLUSTER_FAILURES] = h->left_ns;
        if (!c->machine[0])
                snprintf(c->machine, sizeof(c->machine), "%s", machine);
        snprintf(c->kernel, sizeof(c->kernel), "%s", h->kernel);
        snprintf(c->toolchain, sizeof(c->toolchain), "%s", h->toolchain);
        n->machine = copy_string(machine);
        n->facts = json_loads(h->facts, 0, NULL);
        n->ends = h->left_ns > UINT64_MAX - now ? UINT64_MAX : now + h->left_ns;
        r = n->facts ? make_slots(n) : -EBADMSG;
        if (r < 0) {
                node_lose(n, r == -EBADMSG ? "sent a hello that makes no sense" : "cannot be given runs: %s", strerror(-r));
                return;
        }
        note_probe(c, h->host, h->probe_ns);
        c->per_node = n->n_slots;
        c->failures = 0;
        c->next_launch = 0;
        n->state = NODE_PRESENT;
        n->idle_since = now_ns();
        log_info("cluster %s: %s has %u slot%s", c->settings.name, h->host, n->n_slots, n->n_slots == 1 ? "" : "s");
}

static void take_hello(struct node *n, const struct packet *p)
{
        cleanup_buffer struct buffer why = {0};
        struct remote_hello *h = &n->hello;
        char machine[PATH_SIZE];

        if (message_read(PACKET_HELLO, p->body, h) < 0) {
                message_done(PACKET_HELLO, h);
                node_lose(n, "sent a hello that makes no sense");
                return;
        }
        snprintf(machine, sizeof(machine), "%s/%s/%u", n->cluster->settings.name, h->cpu ?: "", h->cores);
        if (h->protocol != REMOTE_PROTOCOL || strcmp(h->version, SOLVERFS_VERSION) != 0)
                node_lose(n, "is solverfs %s, and this is %s: install the same on both", h->version, SOLVERFS_VERSION);
        else if (h->slots == 0)
                node_lose(n, "has no core to run anything on");
        else if (!differs(n, machine, &why))
                accept(n, machine);
        else {
                n->cluster->left_out++;
                node_lose(n, "is left out: it %s", why.data);
        }
}

/* -- answers -- */

uint64_t node_margin(const struct node *n)
{
        return 2 * n->cluster->settings.patience_ns;
}

static int take_output(struct cluster_slot *s, const struct packet *p)
{
        struct remote_part part;
        struct buffer *to;
        int r = remote_part_read(p->body, &part);

        if (r < 0)
                return r;
        to = part.size == 0 ? &s->out : &s->err;
        if (part.size > 1 || part.offset != to->size || to->size + part.bytes.size > s->output_most)
                r = errorf(-EBADMSG, "an output came in the wrong order, or is too long");
        else
                buffer_add(to, part.bytes.data, part.bytes.size);
        blob_done(&part.bytes);
        if (s->due)
                s->due = MAX(s->due, now_ns() + node_margin(s->node)); /* a slow line may take long for the rest */
        return r < 0 ? r : buffer_error(to);
}

static int take_failure(struct cluster_slot *s, const struct packet *p)
{
        int r = remote_failure_read(p->body, name_of(s->node));

        if (r == -EBADMSG)
                return r;
        free(s->sentence);
        s->failure = r;
        s->sentence = copy_string(error_message(r));
        return 0;
}

static int take_progress(struct cluster_slot *s, const struct packet *p)
{
        cleanup_buffer struct buffer text = {0};
        int r = message_read(PACKET_PROGRESS, p->body, &s->progress);

        if (r == 0) {
                buffer_add_printable(&text, s->progress.what);
                snprintf(s->doing, sizeof(s->doing), "%s", text.data ?: "");
                s->is_new = true;
                s->due = s->run_ns ? now_ns() + s->run_ns + node_margin(s->node) : 0;
                eventfd_write(s->event, 1);
        }
        free(steal_pointer(s->progress.what)); /* the numbers stay */
        return r;
}

/* Only shown: text beyond the limit is dropped. */
static int take_said(struct cluster_slot *s, const struct packet *p)
{
        if (p->body.size > s->said_left)
                return 0;
        s->said_left -= p->body.size;
        buffer_add(&s->said, p->body.data, p->body.size);
        eventfd_write(s->event, 1);
        return buffer_error(&s->said);
}

static int take_answer(struct cluster_slot *s, const struct packet *p)
{
        int r = 0;

        switch ((int)p->type) {
        case PACKET_OUTPUT:
                return take_output(s, p);
        case PACKET_PROGRESS:
                return take_progress(s, p);
        case PACKET_SAID:
                return take_said(s, p);
        case PACKET_RESULT:
                r = remote_result_read(p->body, &s->out, &s->err, &s->result);
                break;
        case PACKET_WANT:
                digest_list_done(&s->wants);
                r = message_read(PACKET_WANT, p->body, &s->wants);
                break;
        case PACKET_BUILT:
                s->built.size = 0;
                buffer_add(&s->built, p->body.data, p->body.size); /* the asker decodes it, as it may be long */
                r = buffer_error(&s->built);
                break;
        case PACKET_FAILED:
                r = take_failure(s, p);
        }
        if (r < 0)
                return r;
        s->answer = p->type;
        eventfd_write(s->event, 1);
        return 0;
}

static int take_packet(struct node *n, const struct packet *p)
{
        if (p->type == PACKET_PONG)
                return 0;
        if (p->type < PACKET_WANT) /* all from here on are a worker's */
                return errorf(-EBADMSG, "a packet that a worker does not send");
        for (unsigned i = 0; i < n->n_slots; i++)
                if (p->id != 0 && n->slots[i].id == p->id &&
                    (!n->slots[i].answer || (n->slots[i].answer == PACKET_WANT && p->type == PACKET_FAILED))) /* it cannot keep what it wanted */
                        return take_answer(&n->slots[i], p);
        return 0; /* of an abandoned request */
}

/* Text before the first packet is a greeting of the launch. */
static void lose_damaged(struct node *n)
{
        if (n->state == NODE_LAUNCHED && n->input.sequence == 0) {
                cleanup_free char *line = copy_prefix(n->input.bytes.data, MIN(n->input.bytes.size, (size_t)80));

                node_lose(n, "printed '%s' where a worker's hello was due: 'launch' may print nothing itself", line);
        } else {
                node_lose(n, "was cut off: %s", error_message(-EBADMSG));
        }
}

static void take_packets(struct node *n)
{
        struct packet p;
        int r = 0;

        while ((n->state == NODE_LAUNCHED || n->state == NODE_PRESENT) && (r = packet_stream_next(&n->input, &p)) == 0) {
                if (p.type == PACKET_HELLO && n->state == NODE_LAUNCHED)
                        take_hello(n, &p);
                else if (n->state == NODE_PRESENT && (r = take_packet(n, &p)) < 0)
                        break;
                else if (n->state == NODE_LAUNCHED)
                        node_lose(n, "did not say hello first");
        }
        if (r < 0 && r != -EAGAIN)
                lose_damaged(n);
}

#define READ_MOST (1 << 20) /* bytes at once, as a pipe holds no more: a worker that writes without end does not keep the lock */

void node_read(struct node *n)
{
        char bytes[1 << 16];

        for (size_t i = 0; i < READ_MOST / sizeof(bytes) && n->out >= 0; i++) {
                ssize_t k = TEMP_FAILURE_RETRY(read(n->out, bytes, sizeof(bytes)));

                if (k > 0 && (n->state == NODE_LAUNCHED || n->state == NODE_PRESENT))
                        buffer_add(&n->input.bytes, bytes, (size_t)k);
                if (k < 0 && errno == EAGAIN)
                        return;
                if (k <= 0) {
                        closep(&n->out);
                        if (!n->is_reaped && n->state == NODE_PRESENT)
                                node_lose(n, "has closed its output");
                        else if (!n->is_reaped && n->state == NODE_LAUNCHED)
                                n->kill_at = now_ns() + NODE_END_NS; /* its end says why */
                        return;
                }
                n->heard = now_ns();
                n->pinged = 0;
                take_packets(n);
        }
}

void node_read_error(struct node *n)
{
        char bytes[1024];

        for (size_t i = 0; i < READ_MOST / sizeof(bytes) && n->err >= 0; i++) {
                ssize_t k = TEMP_FAILURE_RETRY(read(n->err, bytes, sizeof(bytes)));
                size_t keep;

                if (k < 0)
                        return;
                if (k == 0)
                        closep(&n->err);
                keep = MIN(n->n_said, STDERR_KEPT - (size_t)k);
                memmove(n->said, n->said + n->n_said - keep, keep);
                memcpy(n->said + keep, bytes, (size_t)k);
                n->n_said = keep + (size_t)k;
        }
}
