#include "core/sandbox/exec_stub.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <search.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cache/base/util.h"
#include "core/sandbox/exec_arch.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS  _IOW(SECCOMP_IOC_MAGIC, 4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define PATHS_MOST (1u << 17)
#define BYTES_MOST (UINT64_C(16) << 20)

/* The calls that name a file. A call whose masked flags are `value` is not watched: it names no file (fstat), or creates one. */
static const struct call {
        int number, directory /* argument; -1: none */, path, flags /* -1: none */;
        uint32_t mask, value;
} calls[] = {
#ifdef SYS_open
        {SYS_open, -1, 0, 1, O_ACCMODE, O_WRONLY},
        {SYS_stat, -1, 0, -1, 0, 0},
        {SYS_lstat, -1, 0, -1, 0, 0},
        {SYS_access, -1, 0, -1, 0, 0},
#endif
        {SYS_openat, 0, 1, 2, O_ACCMODE, O_WRONLY},
#ifdef SYS_openat2
        {SYS_openat2, 0, 1, -1, 0, 0},
#endif
#ifdef SYS_newfstatat
        {SYS_newfstatat, 0, 1, 3, AT_EMPTY_PATH, AT_EMPTY_PATH},
#endif
        {SYS_statx, 0, 1, 2, AT_EMPTY_PATH, AT_EMPTY_PATH},
        {SYS_faccessat, 0, 1, -1, 0, 0},
#ifdef SYS_faccessat2
        {SYS_faccessat2, 0, 1, -1, 0, 0},
#endif
        {SYS_execve, -1, 0, -1, 0, 0},
        {SYS_execveat, 0, 1, -1, 0, 0},
};

struct watch {
        pthread_t thread;
        const struct order *order;
        int ours, theirs; /* a socket pair, by which the new process sends the listener */
        int stop;         /* an eventfd */
        /* Only the thread uses these, until it has ended. */
        bool is_whole; /* nothing was missed */
        void *paths;    /* by tsearch() */
        size_t n, size; /* how many; their bytes, each with its NUL */
};

/* -- the filter -------------------------------------------------------------------------------------------------- */

#define FILTER_MOST (5 + 6 * ARRAY_SIZE(calls))

/* Reports the calls of the table and allows all others. Returns the filter's length. */
static size_t make_filter(struct sock_filter f[FILTER_MOST])
{
        size_t n = 0;

        f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF); /* a 32-bit program: notes that something is missed */
        f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
                const struct call *c = &calls[i];

                f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)c->number, 0, c->flags < 0 ? 1 : 5);
                if (c->flags >= 0) { /* the lower half, as all of these machines are little-endian */
                        f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                              (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)c->flags));
                        f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, c->mask);
                        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->value, 1, 0);
                }
                f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
                if (c->flags >= 0)
                        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        }
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        return n;
}

static int install_filter(void)
{
        struct sock_filter f[FILTER_MOST];
        struct sock_fprog program = {.filter = f};
        int fd;

        program.len = (unsigned short)make_filter(f);
        fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
        return fd >= 0 || errno != EINVAL ? fd : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

bool watch_enter(const struct watch *w)
{
        int fd = w ? install_filter() : -1;
        bool ok;

        if (fd < 0)
                return true;
        ok = order_send(w->theirs, &fd, 1) == 0;
        close(fd);
        return ok;
}

static int receive_listener(const struct watch *w)
{
        int fds[EXEC_FDS_MOST], n;

        do
                n = order_receive(w->ours, 0, fds);
        while (n == 0);
        return n > 0 ? fds[0] : -1;
}

/* -- the paths --------------------------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
        return strcmp(a, b);
}

static void add_path(struct watch *w, const char *path)
{
        const size_t size = strlen(path) + 1;
        char *copy;

        if (tfind(path, &w->paths, compare_paths))
                return;
        copy = w->n < PATHS_MOST && w->size + size <= BYTES_MOST ? strdup(path) : NULL;
        if (!copy || !tsearch(copy, &w->paths, compare_paths)) {
                w->is_whole = false;
                return;
        }
        w->size += size;
        w->n++;
}

/* True if the path is in the folder, judged by its text: false if a ".." leads out. *ret_top (may be NULL): the name in the folder that the path
 * leads through, not terminated; empty for the folder itself. */
static bool is_in(const char *path, const char *folder, struct slice *ret_top)
{
        size_t n = strlen(folder);
        struct slice top = SLICE("", 0);
        int depth = 0;

        if (n == 0 || strncmp(path, folder, n) != 0 || (path[n] != '/' && path[n] != '\0'))
                return false;
        for (path += n; *path && depth >= 0;) {
                size_t word;

                path += strspn(path, "/");
                word = strcspn(path, "/");
                if (word == 2 && path[0] == '.' && path[1] == '.')
                        depth--;
                else if (word > 0 && !(word == 1 && path[0] == '.') && depth++ == 0)
                        top = SLICE(path, word);
                path += word;
        }
        if (ret_top)
                *ret_top = depth > 0 ? top : SLICE("", 0);
        return depth >= 0;
}

/* Notes a path. In the working directory only the name in it is noted: "./src". */
static void note_path(struct watch *w, const char *path)
{
        static const char *const unlisted[] = {"/proc", "/dev", "/sys", "/tmp"};
        struct slice top;

        if (is_in(path, w->order->directory, &top)) {
                char name[NAME_MAX + 3];

                if (top.size > 0 && top.size <= NAME_MAX) {
                        snprintf(name, sizeof(name), "./%.*s", (int)top.size, (const char *)top.data);
                        add_path(w, name);
                }
                return;
        }
        if (is_in(path, w->order->scratch, NULL))
                return;
        for (size_t i = 0; i < ARRAY_SIZE(unlisted); i++)
                if (is_in(path, unlisted[i], NULL))
                        return;
        add_path(w, path);
}

/* -- a call ------------------------------------------------------------------------------------------------------ */

static const struct call *find_call(int number)
{
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
                if (calls[i].number == number)
                        return &calls[i];
        return NULL;
}

/* False if no path can be read there: the call is going to fail, its process has gone, or we may not (errno). */
static bool read_text(pid_t pid, uint64_t at, char ret[PATH_SIZE])
{
        const size_t page = 4096;

        for (size_t n = 0; n < PATH_SIZE;) {
                size_t piece = MIN(MIN((size_t)256, page - (at + n) % page), PATH_SIZE - n);
                struct iovec here = {.iov_base = ret + n, .iov_len = piece}, there = {.iov_base = (void *)(uintptr_t)(at + n), .iov_len = piece};

                if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)piece)
                        return false;
                if (memchr(ret + n, '\0', piece))
                        return true;
                n += piece;
        }
        errno = ENAMETOOLONG;
        return false;
}

/* The folder that the call's path is relative to, with a slash at the end, and its length; 0: there is none. */
static size_t read_folder(const struct seccomp_notif *n, const struct call *c, char ret[PATH_SIZE])
{
        int directory = c->directory < 0 ? AT_FDCWD : (int)n->data.args[c->directory];
        char link[64];
        ssize_t size;

        if (directory == AT_FDCWD)
                snprintf(link, sizeof(link), "/proc/%u/cwd", n->pid);
        else
                snprintf(link, sizeof(link), "/proc/%u/fd/%d", n->pid, directory);
        size = readlink(link, ret, PATH_SIZE - 1);
        if (size <= 0 || ret[0] != '/')
                return 0;
        if (ret[size - 1] != '/')
                ret[size++] = '/';
        return (size_t)size;
}

static void look_at_call(struct watch *w, const struct seccomp_notif *n)
{
        const struct call *c = n->data.arch == NATIVE ? find_call(n->data.nr) : NULL;
        char path[2 * PATH_SIZE], text[PATH_SIZE];
        size_t size = 0;

        if (!c || !read_text((pid_t)n->pid, n->data.args[c->path], text)) {
                w->is_whole &= c && errno != EPERM && errno != EACCES;
                return;
        }
        if (text[0] == '\0')
                return;
        if (text[0] != '/') {
                size = read_folder(n, c, path);
                if (size == 0)
                        return; /* the process ended meanwhile, or has no such folder */
        }
        memcpy(path + size, text, strlen(text) + 1);
        note_path(w, path);
}

/* -- the thread -------------------------------------------------------------------------------------------------- */

/* Serves until the last process with the filter has ended. Every call goes on, whatever happens here. */
static void serve(struct watch *w, int listener)
{
        struct pollfd fds[] = {{.fd = listener, .events = POLLIN}, {.fd = w->stop, .events = POLLIN}};
        struct {
                struct seccomp_notif n;
                char room[128]; /* for a kernel with a longer one */
        } in;

        ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
        for (;;) {
                struct seccomp_notif_resp out = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

                if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
                        continue;
                if (!(fds[0].revents & POLLIN)) {
                        if (fds[0].revents || fds[1].revents)
                                return;
                        continue;
                }
                memset(&in, 0, sizeof(in));
                if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in.n) < 0)
                        continue; /* the caller was killed */
                look_at_call(w, &in.n);
                out.id = in.n.id;
                ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
        }
}

static void *watch_thread(void *user)
{
        struct watch *w = user;
        int listener = receive_listener(w);

        if (listener < 0) {
                w->is_whole = false;
                return NULL;
        }
        serve(w, listener);
        close(listener);
        return NULL;
}

struct watch *watch_begin(const struct order *order)
{
        struct watch *w = order->head->watch ? calloc(1, sizeof(*w)) : NULL;
        int sockets[2];

        if (!w)
                return NULL;
        *w = (struct watch){.order = order, .is_whole = true, .stop = eventfd(0, EFD_CLOEXEC)};
        if (w->stop >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0) {
                w->ours = sockets[0];
                w->theirs = sockets[1];
                if (pthread_create(&w->thread, NULL, watch_thread, w) == 0)
                        return w;
        }
        free(w); /* the helper ends soon, and closes its descriptors */
        return NULL;
}

void watch_entered(struct watch *w)
{
        if (w)
                close(w->theirs);
}

void watch_bind(struct watch *w, const cpu_set_t *cpus)
{
        if (w)
                pthread_setaffinity_np(w->thread, sizeof(*cpus), cpus);
}

static void put_path(const void *node, VISIT visit, void *file)
{
        const char *path = *(char *const *)node;

        if (visit == postorder || visit == leaf)
                fwrite(path, strlen(path) + 1, 1, file);
}

void watch_end(struct watch *w)
{
        struct exec_watched watched = {0};
        struct stat st;
        FILE *f;

        if (!w || eventfd_write(w->stop, 1) < 0 || pthread_join(w->thread, NULL) != 0 || fstat(EXEC_REQUEST, &st) < 0)
                return;
        watched = (struct exec_watched){.at = (uint64_t)st.st_size, .size = w->size, .is_whole = w->is_whole};
        f = fdopen(EXEC_REQUEST, "r+");
        if (!f || fseeko(f, st.st_size, SEEK_SET) < 0)
                return;
        twalk_r(w->paths, put_path, f);
        if (fflush(f) == 0 && pwrite(EXEC_REQUEST, &watched, sizeof(watched), offsetof(struct exec_request, watched)) != sizeof(watched))
                (void)errno; /* a file in memory */
}
