#include "tests/support/attacker_traces.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#define KEY      0x1eaf
#define ABSTRACT "\0left"

static void report(const char *what, long result)
{
        printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

static socklen_t abstract_address(struct sockaddr_un *ret)
{
        *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
        memcpy(ret->sun_path, ABSTRACT, sizeof(ABSTRACT) - 1);
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(ABSTRACT) - 1);
}

/* -- leaving -- */

static void leave_files(void)
{
        static const char *const folders[] = {"/scratch", "/dev/shm", "/tmp", "/var/tmp", "/case", "/solver", "/test",
                                              "/.runs",   "/",        "/dev", "/etc",     "/usr",  "/proc"};

        for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
                char path[64];

                snprintf(path, sizeof(path), "%s/left", folders[i]);
                close(open(path, O_WRONLY | O_CREAT, 0666));
                snprintf(path, sizeof(path), "%s/left-folder", folders[i]);
                mkdir(path, 0700);
                chmod(path, 0);
                setxattr(folders[i], "user.left", "x", 1, 0);
                chmod(folders[i], 01777);
        }
        if (symlink("/scratch", "left-link") < 0 || mkfifo("left-pipe", 0) < 0)
                exit(1);
        chmod("/scratch", 0755);
}

static void leave_ipc(void)
{
        void *p = shmat(shmget(KEY, 4096, IPC_CREAT | 0666), NULL, 0);

        if (p != (void *)-1)
                strcpy(p, "left");
        semget(KEY, 1, IPC_CREAT | 0666);
        msgget(KEY, IPC_CREAT | 0666);
        mq_open("/left", O_CREAT | O_RDWR, 0666, NULL);
        shm_open("/left-too", O_CREAT | O_RDWR, 0666);
}

static void leave_keys(void)
{
        for (int keyring = -5; keyring < 0; keyring++) /* session, user, … */
                syscall(SYS_add_key, "user", "left", "x", 1, keyring);
}

/* A socket that is in flight over itself, which no process holds any more. */
static void leave_in_flight(void)
{
        struct sockaddr_un address;
        socklen_t size = abstract_address(&address);
        int fds[2], s = socket(AF_UNIX, SOCK_STREAM, 0);
        char byte = 'x';
        struct iovec text = {.iov_base = &byte, .iov_len = 1};
        union {
                struct cmsghdr head;
                char space[CMSG_SPACE(3 * sizeof(int))];
        } control = {0};
        struct msghdr m = {
                .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 || bind(s, (struct sockaddr *)&address, size) < 0 || listen(s, 5) < 0)
                return;
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(3 * sizeof(int));
        memcpy(CMSG_DATA(c), (int[]){fds[0], fds[1], s}, 3 * sizeof(int));
        sendmsg(fds[0], &m, 0);
}

static void leave_network(void)
{
        struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(4444)};
        socklen_t size = sizeof(here);
        int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), accepted;

        inet_pton(AF_INET, "127.0.0.1", &here.sin_addr);
        if (bind(server, (struct sockaddr *)&here, size) < 0 || listen(server, 5) < 0 ||
            connect(client, (struct sockaddr *)&here, size) < 0)
                return;
        accepted = accept(server, NULL, NULL);
        close(accepted); /* which waits on this port for a minute, in nobody's hands */
        close(client);
        close(server);
}

static void leave_processes(void)
{
        int fds[2];
        char c;

        if (pipe(fds) < 0)
                return;
        for (int i = 0; i < 3; i++) {
                if (fork() > 0)
                        continue;
                setsid();
                for (int s = 1; s < NSIG; s++)
                        signal(s, SIG_IGN);
                if (i == 1)
                        unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC);
                if (fork() > 0)
                        _exit(0);
                if (i == 2)
                        raise(SIGSTOP);
                c = 'x';
                if (write(fds[1], &c, 1) == 1)
                        for (;;)
                                pause();
                _exit(0);
        }
        for (int i = 0; i < 2; i++)
                if (read(fds[0], &c, 1) != 1)
                        return;
}

/* Whoever is above us. */
static void attack_keeper(void)
{
        const pid_t pids[] = {1, getppid(), getpgid(getppid()), -1};
        cpu_set_t none;
        struct rlimit zero = {0};

        CPU_ZERO(&none);
        CPU_SET(0, &none);
        signal(SIGTERM, SIG_IGN);
        for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
                ptrace(PTRACE_SEIZE, pids[i], NULL, NULL);
                sched_setaffinity(pids[i], sizeof(none), &none);
                setpriority(PRIO_PROCESS, (id_t)pids[i], 19);
                prlimit(pids[i], RLIMIT_NOFILE, &zero, NULL);
                prlimit(pids[i], RLIMIT_AS, &zero, NULL);
                kill(pids[i], SIGSTOP);
                kill(pids[i], SIGTERM);
                kill(pids[i], SIGKILL);
        }
        for (int flags = 0; flags < 2; flags++) {
                static const char *const mounts[] = {"/scratch", "/case", "/.runs", "/proc", "/dev/shm", "/"};

                for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
                        umount2(mounts[i], MNT_DETACH);
                        mount("none", mounts[i], "tmpfs", 0, NULL);
                        mount(NULL, mounts[i], NULL, MS_REMOUNT | MS_BIND, NULL);
                }
                /* once more where we are root, of a namespace of ours */
                if (flags == 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
                        break;
        }
        if (sethostname("left", 4) < 0)
                (void)errno; /* as it should be */
}

int leave_traces(char **argv)
{
        static const struct {
                const char *name;
                void (*leave)(void);
        } rows[] = {{"files", leave_files},       {"ipc", leave_ipc},         {"keys", leave_keys},
                    {"sockets", leave_in_flight}, {"network", leave_network}, {"processes", leave_processes},
                    {"keeper", attack_keeper}};

        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
                bool wanted = argv[2] == NULL;

                for (int k = 2; argv[k]; k++)
                        wanted |= strcmp(argv[k], rows[i].name) == 0;
                if (wanted)
                        rows[i].leave();
        }
        puts("sat");
        return 0;
}

/* -- looking -- */

static void look_at_file(const char *path)
{
        int fd = open(path, O_RDONLY);
        char block[4096];
        ssize_t n;

        printf("== %s%s\n", path, fd < 0 ? " cannot be opened" : "");
        fflush(stdout);
        while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0)
                if (write(1, block, (size_t)n) != n)
                        exit(1);
        close(fd);
}

/* Names, kinds, owners (-1: us, whoever that is now), sizes and extended attributes, but no times and no devices. */
static void look_at_folder(const char *path, bool names)
{
        struct dirent **list;
        char attributes[256] = "", below[4400];
        ssize_t size = llistxattr(path, attributes, sizeof(attributes));
        struct stat st = {0};
        int n;

        lstat(path, &st);
        printf("%s: %o %d %d %d %d %d\n", path, (unsigned)st.st_mode, st.st_uid == getuid() ? -1 : (int)st.st_uid, (int)st.st_gid,
               (int)st.st_nlink, (int)st.st_size, (int)size);
        n = names ? scandir(path, &list, NULL, alphasort) : 0;
        for (int i = 0; i < n; i++) {
                if (strcmp(list[i]->d_name, ".") == 0 || strcmp(list[i]->d_name, "..") == 0)
                        continue;
                snprintf(below, sizeof(below), "%s/%s", path, list[i]->d_name);
                look_at_folder(below, true);
        }
}

static void look_at_processes(void)
{
        DIR *d = opendir("/proc");
        struct dirent *e;
        struct stat st;

        printf("we are %d of %d, session %d, group %d\n", getpid(), getppid(), getsid(0), getpgid(0));
        while ((e = readdir(d)))
                if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
                        printf("process %s\n", e->d_name);
        closedir(d);
        for (int fd = 0; fd < 1024; fd++)
                if (fstat(fd, &st) == 0 && fd != 3)
                        printf("descriptor %d: %o\n", fd, (unsigned)st.st_mode);
}

static void look_at_ourselves(void)
{
        char directory[4096], line[512];
        FILE *f = fopen("/proc/self/status", "re");
        cpu_set_t set;

        look_at_file("/proc/self/limits");
        while (f && fgets(line, sizeof(line), f)) /* SigQ counts the signals of processes that the kernel is still freeing, too */
                if (strncmp(line, "Cap", 3) == 0 || (strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') || strncmp(line, "Shd", 3) == 0 ||
                    strncmp(line, "Gid", 3) == 0 || strncmp(line, "Groups", 6) == 0 || strncmp(line, "Seccomp", 7) == 0 ||
                    strncmp(line, "NoNew", 5) == 0 || strncmp(line, "Tracer", 6) == 0)
                        fputs(line, stdout);
        if (f)
                fclose(f);
        sched_getaffinity(0, sizeof(set), &set);
        gethostname(line, sizeof(line));
        printf("directory %s, umask %o, cores %d, nice %d, host %s\n", getcwd(directory, sizeof(directory)), (unsigned)umask(0),
               CPU_COUNT(&set), getpriority(PRIO_PROCESS, 0), line);
        for (char **e = environ; *e; e++)
                puts(*e);
}

static void look_at_mounts(void)
{
        FILE *f = fopen("/proc/self/mountinfo", "re");
        char line[4096];

        while (f && fgets(line, sizeof(line), f)) {
                char root[1024], point[1024], options[256];

                if (sscanf(line, "%*d %*d %*s %1023s %1023s %255s", root, point, options) == 3)
                        printf("mount %s %s %s\n", root, point, options);
        }
        if (f)
                fclose(f);
}

static void look_at_ipc(void)
{
        struct sockaddr_un address;
        socklen_t size = abstract_address(&address);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        report("shm", shmget(KEY, 1, 0));
        report("sem", semget(KEY, 1, 0));
        report("msg", msgget(KEY, 0));
        report("mq", mq_open("/left", O_RDONLY));
        report("key", syscall(SYS_request_key, "user", "left", NULL, 0));
        report("keyring", syscall(SYS_keyctl, 0, -4, 0));
        report("abstract", connect(fd, (struct sockaddr *)&address, size));
        close(fd);
        look_at_file("/proc/sysvipc/shm");
        look_at_file("/proc/sysvipc/sem");
        look_at_file("/proc/sysvipc/msg");
}

int look_around(char **argv)
{
        static const char *const folders[] = {"/scratch", "/dev", "/case", "/solver", "/test", "/.runs", "/var"};
        static const char *const files[] = {"/proc/net/dev",  "/proc/net/snmp",  "/proc/net/netstat",
                                            "/proc/net/unix", "/proc/net/tcp",   "/proc/net/udp",
                                            "/proc/net/raw",  "/proc/net/route", "/proc/net/arp"};
        struct statvfs v;

        (void)argv;
        look_at_processes();
        look_at_ourselves();
        look_at_folder("/", false);
        for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
                look_at_folder(folders[i], true);
        if (statvfs("/dev/shm", &v) == 0)
                printf("shared memory: %llu of %llu, %llu of %llu\n", (unsigned long long)v.f_bfree,
                       (unsigned long long)v.f_blocks, (unsigned long long)v.f_ffree, (unsigned long long)v.f_files);
        look_at_mounts();
        for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
                look_at_file(files[i]);
        look_at_ipc();
        fflush(stdout);
        return 0;
}
