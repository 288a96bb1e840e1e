/* A run in a kept sandbox has its own namespaces, users and mounts, and no keyrings. A look at the network shows whether it left something there. */
#include "core/sandbox/exec_stub.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sandbox/exec_arch.h"

/* -- users -- */

static bool write_text(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

        if (fd >= 0)
                close(fd);
        return done;
}

/* Maps our own ids to themselves: user_namespaces(7) allows everybody that one line. A process that is not dumpable may not even open these files. */
static bool map_ourselves(uid_t uid, gid_t gid)
{
        char users[64], groups[64];
        bool done;

        snprintf(users, sizeof(users), "%u %u 1", (unsigned)uid, (unsigned)uid);
        snprintf(groups, sizeof(groups), "%u %u 1", (unsigned)gid, (unsigned)gid);
        prctl(PR_SET_DUMPABLE, 1);
        done = write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
               write_text("/proc/self/gid_map", groups);
        prctl(PR_SET_DUMPABLE, 0);
        return done;
}

int world_clone(bool namespaces, bool user)
{
        struct clone_args a = {.exit_signal = SIGCHLD};
        long pid;

        if (namespaces)
                a.flags = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS | (user ? CLONE_NEWUSER : 0);
        pid = syscall(SYS_clone3, &a, sizeof(a));
        return pid < 0 ? -errno : (int)pid;
}

/* -- keys -- */

/* Keyrings belong to a user and to no namespace: the next run would find the keys of the last. The filter forbids them to programs of both
 * instruction sets of a machine, and nothing else. */
bool world_forbid_keys(void)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 6),
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x3fffffff), /* x32's numbers have a bit more */
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_add_key, 7, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_request_key, 6, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 5, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OTHER, 0, 4), /* only from above, with the architecture */
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_KEYS, 0, 2),
                BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_KEYS + 3, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

        /* Without this, older kernels slow down every program under a filter by mitigations of speculation. */
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 || errno == ENOSYS ||
               errno == EINVAL;
}

/* -- mounts -- */

static int mount_scratch(const char *name)
{
        char source[256];

        snprintf(source, sizeof(source), "%s/%s", SANDBOX_RUNS, name);
        return mount(source, "/scratch", NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

/* Hides the runner's folder from the program. A program with a user of its own may not enter it. Otherwise we cover it: in a namespace of other
 * users, an inherited mount cannot be removed. */
static int hide_runs(const struct exec_request *r)
{
        if (r->drop)
                return 0;
        return mount("tmpfs", SANDBOX_RUNS, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0555") < 0 ? -errno : 0;
}

int world_prepare(bool user, uid_t uid, gid_t gid)
{
        if (user && !map_ourselves(uid, gid))
                return -errno;
        return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? -errno : 0;
}

int world_make(const struct order *order)
{
        char size[64] = "mode=1777";
        int r;

        if (order->head->memory > 0)
                snprintf(size, sizeof(size), "mode=1777,size=%llu", (unsigned long long)order->head->memory);
        r = mount_scratch(order->runs_scratch) ?: hide_runs(order->head);
        if (r < 0)
                return r;
        return mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, size) < 0 ? -errno : 0;
}

/* -- the network -- */

static uint64_t add_file(uint64_t hash, int fd)
{
        char text[4096];
        off_t at = 0;
        ssize_t n;

        for (; fd >= 0 && (n = pread(fd, text, sizeof(text), at)) > 0; at += n) {
                for (ssize_t i = 0; i < n; i++)
                        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
        }
        return hash;
}

/* The loopback, the only device, counts every packet; a protocol counts undeliverable ones; the list of Unix sockets shows one that outlives its
 * process (in flight over another). */
uint64_t world_network(void)
{
        static const char *const files[] = {"/proc/self/net/dev", "/proc/self/net/snmp", "/proc/self/net/snmp6",
                                            "/proc/self/net/unix"};
        static int fds[sizeof(files) / sizeof(*files)]; /* kept open after the first call */
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
                if (fds[i] <= 0)
                        fds[i] = open(files[i], O_RDONLY | O_CLOEXEC);
                hash = add_file(hash, fds[i]);
        }
        return hash;
}
