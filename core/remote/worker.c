/* A worker's connection: its hello, the packets that it reads, files that arrive; and its folder. */
#include "core/remote/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cache/base/json.h"
#include "cache/base/lock.h"
#include "core/remote/worker_internal.h"
#include "core/run/file_digest.h"
#include "core/run/host.h"
#include "core/run/leftovers.h"
#include "core/sandbox/surroundings.h"
#include "version.h"

#define END_SECONDS 20 /* to end all runs when the input has ended; then the kernel ends them */

/* -- sending -- */

int worker_send(struct worker *w, enum packet_type type, uint64_t id, struct slice body)
{
        cleanup_buffer struct buffer b = {0};
        cleanup_unlock pthread_mutex_t *held = hold(&w->out_lock);
        int r = packet_write(type, id, w->out_sequence, body, &b);

        if (r == 0) {
                w->out_sequence++;
                r = write_all(w->options->out, b.data, b.size);
        }
        return r;
}

int worker_send_message(struct worker *w, enum packet_type type, uint64_t id, void *message)
{
        cleanup_buffer struct buffer body = {0};

        message_write(type, message, &body);
        return worker_send(w, type, id, SLICE(body.data, body.size));
}

void worker_send_failure(struct worker *w, uint64_t id, int e)
{
        cleanup_buffer struct buffer body = {0};

        remote_failure_write(e, error_message(e), &body);
        worker_send(w, PACKET_FAILED, id, SLICE(body.data, body.size));
}

static int send_hello(struct worker *w)
{
        json_t *facts = host_facts();
        cleanup_free char *text = json_dumps(facts, JSON_COMPACT);
        char toolchain[65];
        struct remote_hello hello = {
                .protocol = REMOTE_PROTOCOL,
                .version = (char *)SOLVERFS_VERSION,
                .host = (char *)json_text(facts, "host", "unknown"),
                .cpu = (char *)json_text(facts, "cpu", "unknown"),
                .kernel = (char *)json_text(facts, "kernel", "unknown"),
                .libc = (char *)json_text(facts, "libc", "unknown"),
                .toolchain = toolchain,
                .facts = text,
                .cores = (uint32_t)json_integer_value(json_object_get(facts, "cores")),
                .slots = w->n_slots,
                .probe_ns = host_probe(),
                .left_ns = w->options->left_ns,
        };
        struct rlimit memory;
        int r;

        if (getrlimit(RLIMIT_RSS, &memory) == 0 && memory.rlim_max != RLIM_INFINITY) /* Slurm sets it to the job's memory */
                hello.memory = memory.rlim_max;
        host_toolchain(toolchain);
        file_digests_save();
        r = worker_send_message(w, PACKET_HELLO, 0, &hello);
        json_decref(facts);
        return r;
}

/* -- received bytes -- */

static void arriving_done(struct arriving *a)
{
        buffer_done(&a->bytes);
        *a = (struct arriving){0};
}

/* The file's bytes, for program_folder_get(). */
static int arrived(void *user, const struct digest *id, struct blob *ret)
{
        const struct arriving *a = user;
        struct digest d;

        digest_of(a->bytes.data, a->bytes.size, &d);
        if (!digest_equal(&d, id))
                return errorf(-EIO, "the bytes that arrived do not match their digest");
        *ret = (struct blob){.data = a->bytes.data ?: "", .size = a->bytes.size};
        return 0;
}

/* Adds a part to the file that is arriving; with its last part the file goes into the folder. -EBADMSG: the head violates the protocol. Any other error
 * fails the request, and 0 is returned. */
static int take_part(struct worker *w, const struct packet *packet)
{
        struct remote_part part;
        cleanup_close int fd = -1;
        struct arriving *a = &w->arriving;
        char path[PATH_SIZE];
        int r = remote_part_read(packet->body, &part);

        if (r < 0)
                return r;
        if (part.offset == 0) {
                arriving_done(a);
                a->id = part.id;
                a->size = part.size;
        }
        if (!digest_equal(&a->id, &part.id) || part.size != a->size || part.offset != a->bytes.size ||
            part.size - part.offset < part.bytes.size) {
                r = errorf(-EBADMSG, "a part of a file came out of order");
        } else {
                buffer_add(&a->bytes, part.bytes.data, part.bytes.size);
                r = buffer_error(&a->bytes);
                if (r == 0 && a->bytes.size == a->size)
                        r = program_folder_get(&w->folder, &a->id, a->size, arrived, a, &fd, path);
                if (r < 0 || a->bytes.size == a->size)
                        arriving_done(a);
        }
        blob_done(&part.bytes);
        if (r < 0 && r != -EBADMSG) {
                worker_send_failure(w, packet->id, r);
                r = 0;
        }
        return r;
}

/* -- requests -- */

static int take_request(struct worker *w, const struct packet *packet)
{
        struct request *q = allocate(1, sizeof(*q));
        int r;

        q->id = packet->id;
        q->type = packet->type;
        q->cancel_fd = -1;
        r = message_read(q->type, packet->body, &q->run);
        if (r < 0) {
                worker_request_free(q);
                return r;
        }
        r = worker_runs_add(w, q);
        if (r < 0)
                worker_send_failure(w, packet->id, r);
        return 0;
}

static int take_hello(const struct packet *packet)
{
        struct remote_hello h;
        int r = message_read(PACKET_HELLO, packet->body, &h);

        if (r == 0 && (h.protocol != REMOTE_PROTOCOL || strcmp(h.version, SOLVERFS_VERSION) != 0))
                r = errorf(-EPROTONOSUPPORT, "the head is solverfs %s, and this worker is %s: install the same on both", h.version,
                           SOLVERFS_VERSION);
        message_done(PACKET_HELLO, &h);
        return r;
}

static int take_packet(struct worker *w, const struct packet *p)
{
        switch ((int)p->type) {
        case PACKET_HELLO:
                return take_hello(p);
        case PACKET_RUN:
        case PACKET_BUILD:
        case PACKET_FETCH:
                return take_request(w, p);
        case PACKET_BLOB:
                return take_part(w, p);
        case PACKET_CANCEL:
                worker_runs_cancel(w, p->id);
                return 0;
        case PACKET_PING:
                return worker_send(w, PACKET_PONG, p->id, SLICE("", 0));
        default:
                return errorf(-EBADMSG, "a packet that a head does not send");
        }
}

/* -- reading -- */

/* 1: bytes were added; 0: the input has ended. */
static int read_more(int fd, struct buffer *in)
{
        char bytes[1 << 16];
        ssize_t n = TEMP_FAILURE_RETRY(read(fd, bytes, sizeof(bytes)));

        if (n < 0)
                return errorf(-errno, "cannot read from the head: %s", strerror(errno));
        buffer_add(in, bytes, (size_t)n);
        return buffer_error(in) < 0 ? -ENOMEM : n > 0;
}

static int read_packets(struct worker *w)
{
        struct packet_stream in = {0};
        struct packet p;
        int r;

        while ((r = packet_stream_next(&in, &p)) == 0 || r == -EAGAIN) {
                if (r == -EAGAIN)
                        r = read_more(w->options->in, &in.bytes);
                else if ((in.sequence == 1) != (p.type == PACKET_HELLO))
                        r = errorf(-EBADMSG, "the first packet of a head is a hello, and no other");
                else
                        r = take_packet(w, &p) ?: 1;
                if (r <= 0)
                        break;
        }
        buffer_done(&in.bytes);
        return r;
}

/* -- life -- */

/* Makes the folder, or checks that it is ours: its files are run unseen, and another user may have made the default one, in /tmp, first. */
static int make_own_folder(const char *folder)
{
        struct stat st;
        int r = make_dirs(folder, 0700);

        if (r == 0 && lstat(folder, &st) < 0)
                r = -errno;
        if (r < 0)
                return r;
        return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH))
                       ? 0
                       : errorf(-EPERM, "it must be a folder of this user that no other user may write to; --folder names another one");
}

static int open_folder(struct worker *w, int *ret_alive)
{
        const char *folder = w->options->folder;
        cleanup_free char *engines = format_string("%s/engines", folder), *digests = format_string("%s/toolchain", folder);
        int r = make_own_folder(folder);
        struct statvfs fs;

        if (r == 0 && statvfs(folder, &fs) == 0 && fs.f_flag & ST_NOEXEC)
                return errorf(-EPERM, "%s is on a file system mounted noexec, so nothing can be run from it; --folder names another one", folder);
        if (r == 0)
                r = make_dirs(engines, 0700)
                    ?: path_join(w->scratch, folder, "scratch")
                    ?: make_dirs(w->scratch, 0700);
        if (r < 0)
                return errorf(r, "cannot keep a worker's files in %s: %s", folder, error_message(r));
        flock(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), LOCK_SH); /* until this process ends: systemd-tmpfiles spares a locked folder */
        r = leftovers_own(folder, ret_alive);
        if (r == 0)
                leftovers_sweep(folder);
        if (r == 0)
                r = program_folder_open(&w->folder, folder, false, w->options->bound);
        w->folder.is_lazy = true;
        if (r == 0)
                file_digests_keep(digests);
        return r;
}

int worker_serve(const struct worker_options *o)
{
        struct worker w = {.options = o, .out_lock = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER,
                           .ended = PTHREAD_COND_INITIALIZER};
        cleanup_close int alive = -1;
        int cpus[1024], r;

        w.n_slots = (unsigned)host_cores(cpus, ARRAY_SIZE(cpus));
        if (o->slots > 0)
                w.n_slots = MIN(w.n_slots, o->slots);
        TAILQ_INIT(&w.requests);
        surroundings_are_launched();
        r = open_folder(&w, &alive) ?: send_hello(&w) ?: read_packets(&w);
        alarm(END_SECONDS);
        worker_runs_stop(&w);
        arriving_done(&w.arriving);
        return r;
}
