/* Runs a command on a machine that claims to have more cores: cores COUNT COMMAND [ARGUMENT…].
 *
 * The kernel asks this process (seccomp's user notification) whenever the command, or what it starts, asks for its cores or sets them. So it holds for
 * static programs and in sandboxes, too. A core that there is not is one of those that there are. What /sys says is the caller's business
 * (tests/anywhere.sh). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 4096 /* threads that set their cores at once */

/* The cores that a thread has set. */
struct entry {
        pid_t thread;
        unsigned long long start; /* numbers of threads come again */
        cpu_set_t set;
};

static struct entry entries[MOST];
static cpu_set_t claimed, real;

/* Field 4 (the parent) and 22 (when it began) of a thread's stat. */
static int read_stat(pid_t thread, pid_t *ret_parent, unsigned long long *ret_start)
{
        char path[64], line[1024], *at;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%d/stat", thread);
        f = fopen(path, "re");
        if (!f || !fgets(line, sizeof(line), f)) {
                if (f)
                        fclose(f);
                return -ESRCH;
        }
        fclose(f);
        at = strrchr(line, ')'); /* the name before may hold anything */
        return at && sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", ret_parent, ret_start) == 2 ? 0
                                                                                                                                                 : -ESRCH;
}

static struct entry *entry_of(pid_t thread, unsigned long long start)
{
        for (struct entry *e = entries; e < entries + MOST; e++)
                if (e->thread == thread && e->start == start)
                        return e;
        return NULL;
}

/* What the thread, or the nearest process above it, has set. */
static cpu_set_t cores_of(pid_t thread)
{
        unsigned long long start;
        pid_t parent;

        for (; thread > 1 && read_stat(thread, &parent, &start) == 0; thread = parent) {
                const struct entry *e = entry_of(thread, start);

                if (e)
                        return e->set;
        }
        return claimed;
}

static int keep(pid_t thread, const cpu_set_t *set)
{
        static size_t next;
        unsigned long long start;
        struct entry *e;
        pid_t parent;

        if (read_stat(thread, &parent, &start) < 0)
                return -ESRCH;
        e = entry_of(thread, start);
        if (!e)
                e = &entries[next++ % MOST];
        *e = (struct entry){thread, start, *set};
        return 0;
}

static ino_t pid_namespace(const char *process)
{
        char path[300];
        struct stat st;

        snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
        return stat(path, &st) < 0 ? 0 : st.st_ino;
}

/* The number that a process has in its own namespace; 0: it has gone. */
static pid_t number_inside(const char *process)
{
        char path[300], line[256], *last;
        pid_t number = 0;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/%s/status", process);
        f = fopen(path, "re");
        while (f && number == 0 && fgets(line, sizeof(line), f))
                if (strncmp(line, "NSpid:", 6) == 0 && (last = strrchr(line, '\t')))
                        number = atoi(last);
        if (f)
                fclose(f);
        return number;
}

/* Whose cores are asked for or set, in our numbers: those of one in a namespace of its own are others. */
static pid_t thread_meant(const struct seccomp_notif *n)
{
        pid_t meant = (pid_t)n->data.args[0], found = 0;
        char asks[16];
        ino_t where;
        DIR *all;

        snprintf(asks, sizeof(asks), "%u", n->pid);
        where = pid_namespace(asks);
        if (meant == 0 || where == pid_namespace("self"))
                return meant == 0 ? (pid_t)n->pid : meant;
        all = opendir("/proc");
        for (struct dirent *e; all && found == 0 && (e = readdir(all));)
                if (isdigit((unsigned char)e->d_name[0]) && pid_namespace(e->d_name) == where && number_inside(e->d_name) == meant)
                        found = atoi(e->d_name);
        if (all)
                closedir(all);
        return found == 0 ? (pid_t)n->pid : found;
}

static int get(const struct seccomp_notif *n)
{
        cpu_set_t set = cores_of(thread_meant(n));
        size_t size = n->data.args[1] < sizeof(set) ? n->data.args[1] : sizeof(set);

        if (size < sizeof(unsigned long))
                return -EINVAL;
        if (process_vm_writev((pid_t)n->pid, &(struct iovec){&set, size}, 1, &(struct iovec){(void *)n->data.args[2], size}, 1, 0) != (ssize_t)size)
                return -EFAULT;
        return (int)size;
}

static int set(const struct seccomp_notif *n)
{
        size_t size = n->data.args[1] < sizeof(cpu_set_t) ? n->data.args[1] : sizeof(cpu_set_t);
        cpu_set_t wanted, there;
        int at = 0, r;

        CPU_ZERO(&wanted);
        CPU_ZERO(&there);
        if (process_vm_readv((pid_t)n->pid, &(struct iovec){&wanted, size}, 1, &(struct iovec){(void *)n->data.args[2], size}, 1, 0) != (ssize_t)size)
                return -EFAULT;
        CPU_AND(&wanted, &wanted, &claimed);
        if (CPU_COUNT(&wanted) == 0)
                return -EINVAL;
        for (int core = 0, skip; core < CPU_SETSIZE; core++) {
                if (!CPU_ISSET((size_t)core, &wanted))
                        continue;
                skip = core % CPU_COUNT(&real);
                for (at = 0; !CPU_ISSET((size_t)at, &real) || skip-- > 0; at++)
                        ;
                CPU_SET((size_t)at, &there);
        }
        r = keep(thread_meant(n), &wanted);
        return r < 0 ? r : sched_setaffinity(thread_meant(n), sizeof(there), &there) < 0 ? -errno : 0;
}

static void answer(int listener)
{
        struct seccomp_notif n = {0};
        struct seccomp_notif_resp a;
        int r;

        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
                return; /* it has gone */
        r = n.data.nr == __NR_sched_getaffinity ? get(&n) : set(&n);
        a = (struct seccomp_notif_resp){.id = n.id, .val = r < 0 ? 0 : r, .error = r < 0 ? r : 0};
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &a);
}

static int listen_here(void)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_getaffinity, 1, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_setaffinity, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

        return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* In the child: the filter, then the command, when the other side has the listener. */
static _Noreturn void begin(int socket, char **command)
{
        int listener = listen_here();
        char go;

        if (listener < 0)
                perror("cores: seccomp");
        if (listener >= 0 && write(socket, &listener, sizeof(listener)) == sizeof(listener) && read(socket, &go, 1) == 1) {
                execvp(command[0], command);
                perror(command[0]);
        }
        _exit(127);
}

int main(int argc, char **argv)
{
        int count = argc > 2 ? atoi(argv[1]) : 0, ends[2], number, process, listener, status = 0;
        struct pollfd fds[2];
        pid_t child;

        if (count < 1 || count > CPU_SETSIZE || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
                fprintf(stderr, "usage: cores COUNT COMMAND [ARGUMENT...]\n");
                return 2;
        }
        for (int i = 0; i < count; i++)
                CPU_SET((size_t)i, &claimed);
        sched_getaffinity(0, sizeof(real), &real);
        child = fork();
        if (child == 0)
                begin(ends[1], argv + 2);
        close(ends[1]);
        process = child > 0 ? (int)syscall(__NR_pidfd_open, child, 0) : -1;
        if (process < 0 || read(ends[0], &number, sizeof(number)) != sizeof(number))
                return 127;
        listener = (int)syscall(__NR_pidfd_getfd, process, number, 0);
        if (listener < 0 || write(ends[0], "g", 1) != 1) {
                perror("cores: pidfd_getfd");
                return 127;
        }
        fds[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = process, .events = POLLIN};
        while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
                if (fds[0].revents & POLLIN)
                        answer(listener);
                else if (fds[1].revents)
                        break;
        }
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
