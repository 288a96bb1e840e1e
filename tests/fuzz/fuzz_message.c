/* FUSE messages without a kernel. What the kernel promises is kept (names end, file handles are ours, sizes are what follows), all else is
 * the input's. Each request gets one reply, of a legal form. With FINISHED it is a mount of what is finished, which has no handles. */
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sys/uio.h>

#include "fs/kernel/session_internal.h"
#include "world.h"

#ifndef FINISHED
#define FINISHED false
#endif
#define HANDLES_MAX 16
#define NODES_MAX   64
#define REPLY_MAX   (1 << 20)

static struct world world;
static struct session *session;
static struct fuse_session *fuse;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t replied = PTHREAD_COND_INITIALIZER;
static uint64_t last_unique;
static struct {
        uint64_t unique;
        bool there;
        int error;
        size_t size;
        char data[1 << 16];
} reply; /* under lock; of last_unique */

static struct {
        uint64_t ino, fh;
} handles[HANDLES_MAX];
static size_t n_handles;
static uint64_t nodes[NODES_MAX] = {1};
static size_t n_nodes = 1;

static ssize_t on_write(int fd, struct iovec *v, int n, void *user)
{
        size_t size = 0, all = 0;
        struct fuse_out_header h;

        for (int i = 0; i < n; i++)
                all += v[i].iov_len;
        must(n > 0 && v[0].iov_len >= sizeof(h));
        memcpy(&h, v[0].iov_base, sizeof(h));
        must(h.len == all && all <= REPLY_MAX + 4096);
        if (h.unique == 0)
                return (ssize_t)all; /* a notification */
        must(h.error <= 0 && h.error > -512);
        must(h.error == 0 || all == sizeof(h));
        pthread_mutex_lock(&lock);
        must(h.unique == last_unique && !reply.there);
        reply.there = true;
        reply.error = -h.error;
        for (int i = 0; i < n; i++) {
                const char *from = v[i].iov_base;
                size_t left = v[i].iov_len, skip = i == 0 ? sizeof(h) : 0;

                left = MIN(left - skip, sizeof(reply.data) - size);
                memcpy(reply.data + size, from + skip, left);
                size += left;
        }
        reply.size = size;
        pthread_cond_broadcast(&replied);
        pthread_mutex_unlock(&lock);
        return (ssize_t)all;
}

static ssize_t on_read(int fd, void *to, size_t size, void *user)
{
        errno = ENODEV;
        return -1;
}

/* Sends a request and waits for its answer; its errno. */
static int ask(uint32_t opcode, uint64_t node, const void *head, size_t head_size, const void *data, size_t size)
{
        static _Alignas(8) char message[1 << 18];
        struct fuse_in_header h = {
                .len = (uint32_t)(sizeof(h) + head_size + size), .opcode = opcode, .nodeid = node, .pid = (uint32_t)getpid()};
        struct fuse_buf buf = {.mem = message, .size = h.len};
        int error;

        must(h.len <= sizeof(message));
        pthread_mutex_lock(&lock);
        h.unique = last_unique += 2;
        reply.there = false;
        pthread_mutex_unlock(&lock);
        memcpy(message, &h, sizeof(h));
        if (head_size > 0)
                memcpy(message + sizeof(h), head, head_size);
        if (size > 0)
                memcpy(message + sizeof(h) + head_size, data, size);
        fuse_session_process_buf(fuse, &buf);
        pthread_mutex_lock(&lock);
        while (!reply.there)
                pthread_cond_wait(&replied, &lock);
        error = reply.error;
        pthread_mutex_unlock(&lock);
        return error;
}

static void start(void)
{
        static const struct fuse_custom_io io = {.read = on_read, .writev = on_write};
        struct fuse_init_in init = {.major = FUSE_KERNEL_VERSION,
                                    .minor = FUSE_KERNEL_MINOR_VERSION,
                                    .max_readahead = 1 << 17,
                                    .flags = ~0u & ~(uint32_t)FUSE_INIT_EXT};
        char *argv[] = {(char *)"fuzz", NULL};
        struct fuse_args args = FUSE_ARGS_INIT(1, argv);

        world_make(&world);
        must(session_new(world.workspace, world.engine, FINISHED, &session) == 0);
        fuse = fuse_session_new(&args, FINISHED ? &session_finished_operations : &session_operations, sizeof(session_operations),
                                session);
        must(fuse);
        fuse_opt_free_args(&args);
        must(fuse_session_custom_io(fuse, &io, open("/dev/null", O_RDWR | O_CLOEXEC)) == 0);
        must(ask(FUSE_INIT, 0, &init, sizeof(init), NULL, 0) == 0);
        must(session_attach(session, fuse) == 0);
}

static void node_seen(uint64_t ino)
{
        if (ino != 0)
                nodes[n_nodes < NODES_MAX ? n_nodes++ : 1 + ino % (NODES_MAX - 1)] = ino;
}

static void handle_seen(uint64_t ino, const char *open_out)
{
        struct fuse_open_out out;

        memcpy(&out, open_out, sizeof(out));
        handles[n_handles].ino = ino;
        handles[n_handles++].fh = out.fh;
}

static void release(size_t i)
{
        struct fuse_release_in in = {.fh = handles[i].fh};

        must(ask(FUSE_RELEASE, handles[i].ino, &in, sizeof(in), NULL, 0) == 0);
        handles[i] = handles[--n_handles];
}

static void do_lookup(struct input *in, uint64_t node)
{
        cleanup_free char *name = take_string(in, 255);

        if (ask(FUSE_LOOKUP, node, NULL, 0, name, strlen(name) + 1) == 0) {
                must(reply.size == sizeof(struct fuse_entry_out));
                node_seen(((struct fuse_entry_out *)reply.data)->nodeid);
        }
}

static void do_getattr(struct input *in, uint64_t node)
{
        struct fuse_getattr_in head = {0};

        ask(FUSE_GETATTR, node, &head, sizeof(head), NULL, 0);
}

static void do_open(struct input *in, uint64_t node)
{
        struct fuse_open_in head = {.flags = (uint32_t)take_number(in, 2)};

        if (n_handles < HANDLES_MAX && ask(FUSE_OPEN, node, &head, sizeof(head), NULL, 0) == 0)
                handle_seen(node, reply.data);
}

static void do_read(struct input *in, uint64_t node)
{
        struct fuse_read_in head = {.offset = take_number(in, 8) & INT64_MAX, .size = (uint32_t)take_number(in, 2)};
        size_t i = take_byte(in);

        if (n_handles == 0 && !FINISHED)
                return;
        if (!FINISHED) {
                i %= n_handles;
                head.fh = handles[i].fh;
                node = handles[i].ino;
        }
        if (ask(FUSE_READ, node, &head, sizeof(head), NULL, 0) == 0)
                must(reply.size <= head.size);
}

static void do_release(struct input *in, uint64_t node)
{
        size_t i = take_byte(in);

        if (n_handles > 0)
                release(i % n_handles);
}

static void do_readdir(struct input *in, uint64_t node)
{
        struct fuse_open_in open_in = {0};
        struct fuse_read_in head = {.offset = take_number(in, 8), .size = (uint32_t)take_number(in, 2)};

        if (ask(FUSE_OPENDIR, node, &open_in, sizeof(open_in), NULL, 0) == 0 &&
            ask(FUSE_READDIR, node, &head, sizeof(head), NULL, 0) == 0)
                must(reply.size <= head.size);
}

static void do_readlink(struct input *in, uint64_t node)
{
        if (ask(FUSE_READLINK, node, NULL, 0, NULL, 0) == 0)
                must(reply.size > 0 && reply.size < PATH_SIZE);
}

static void do_create(struct input *in, uint64_t node)
{
        struct fuse_create_in head = {.flags = O_WRONLY | O_CREAT, .mode = 0644};
        cleanup_free char *name = take_string(in, 255);

        if (n_handles < HANDLES_MAX && ask(FUSE_CREATE, node, &head, sizeof(head), name, strlen(name) + 1) == 0) {
                struct fuse_entry_out *e = (struct fuse_entry_out *)reply.data;

                handle_seen(e->nodeid, reply.data + sizeof(*e));
        }
}

/* Of the handle, whose inode says what it is. */
#define NEW_CASE(ino) inode_is_other(ino, INODE_NEW_CASE)

static void do_write(struct input *in, uint64_t node)
{
        struct fuse_write_in head = {.offset = take_number(in, 3)};
        size_t i = take_byte(in);
        struct slice bytes = take(in, take_byte(in));

        if (n_handles == 0 || !NEW_CASE(handles[i % n_handles].ino))
                return;
        head.fh = handles[i % n_handles].fh;
        head.size = (uint32_t)bytes.size;
        ask(FUSE_WRITE, handles[i % n_handles].ino, &head, sizeof(head), bytes.data, bytes.size);
}

static void do_flush(struct input *in, uint64_t node)
{
        size_t i = take_byte(in);
        struct fuse_flush_in head = {0};

        if (n_handles == 0)
                return;
        i %= n_handles;
        head.fh = handles[i].fh;
        ask(FUSE_FLUSH, handles[i].ino, &head, sizeof(head), NULL, 0);
}

static void do_setattr(struct input *in, uint64_t node)
{
        struct fuse_setattr_in head = {
                .valid = (uint32_t)take_number(in, 2) & ~(uint32_t)FATTR_FH, .size = take_number(in, 3), .mode = take_byte(in)};

        ask(FUSE_SETATTR, take_byte(in) & 1 && n_handles > 0 ? handles[0].ino : node, &head, sizeof(head), NULL, 0);
}

static void do_getxattr(struct input *in, uint64_t node)
{
        struct fuse_getxattr_in head = {.size = (uint32_t)take_number(in, 2)};
        cleanup_free char *name = take_string(in, 255);

        ask(FUSE_GETXATTR, node, &head, sizeof(head), name, strlen(name) + 1);
        ask(FUSE_LISTXATTR, node, &head, sizeof(head), NULL, 0);
}

static void do_statfs(struct input *in, uint64_t node)
{
        ask(FUSE_STATFS, node, NULL, 0, NULL, 0);
}

/* Only of what was written just now; then it is gone. */
static void do_unlink(struct input *in, uint64_t node)
{
        cleanup_free char *name = take_string(in, 255);

        if (ask(FUSE_UNLINK, node, NULL, 0, name, strlen(name) + 1) == 0)
                must(ask(FUSE_LOOKUP, node, NULL, 0, name, strlen(name) + 1) == ENOENT);
}

static void do_rename(struct input *in, uint64_t node)
{
        struct fuse_rename2_in head = {.newdir = node, .flags = take_byte(in) & RENAME_NOREPLACE};
        cleanup_free char *name = take_string(in, 255), *to = take_string(in, 255);
        char names[512];
        int size = snprintf(names, sizeof(names), "%s%c%s", name, '\0', to) + 1;

        if (ask(FUSE_RENAME2, node, &head, sizeof(head), names, (size_t)size) == 0)
                must(ask(FUSE_LOOKUP, node, NULL, 0, to, strlen(to) + 1) == 0);
}

static void do_refused(struct input *in, uint64_t node)
{
        cleanup_free char *name = take_string(in, 255);
        static const uint32_t opcodes[] = {FUSE_RMDIR, FUSE_REMOVEXATTR};

        must(ask(opcodes[take_byte(in) % ARRAY_SIZE(opcodes)], node, NULL, 0, name, strlen(name) + 1) != 0);
}

static void do_unknown(struct input *in, uint64_t node)
{
        uint32_t opcode = FUSE_COPY_FILE_RANGE + take_byte(in);
        static const char zeros[64];

        if (opcode > FUSE_LSEEK + 3)
                must(ask(opcode, node, zeros, sizeof(zeros), NULL, 0) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static void (*const kinds[])(struct input * in, uint64_t node) = {
                do_lookup,  do_lookup,   do_lookup, do_getattr, do_open,   do_read,    do_release,
                do_readdir, do_readlink, do_create, do_write,   do_flush,  do_setattr, do_getxattr,
                do_statfs,  do_unlink,   do_rename, do_refused, do_unknown};
        struct input in = {data, size};

        if (!session)
                start();
        n_nodes = 1;
        for (unsigned n = 0; in.size > 0 && n < 100; n++) {
                uint8_t kind = take_byte(&in), which = take_byte(&in);
                uint64_t node = which == 255 ? take_number(&in, 8) : nodes[which % n_nodes];

                if (!NEW_CASE(node)) /* of those only what create gave */
                        kinds[kind % ARRAY_SIZE(kinds)](&in, node);
        }
        while (n_handles > 0)
                release(0);
        return 0;
}
