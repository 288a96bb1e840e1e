/* A program that misbehaves in the way its first argument names; what test_execute.c runs. When that is a file it is a case of
 * test_mount_hostile.c, and one of its lines says the same: "; attack WORD|WORD|…". */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/attacker_traces.h"

static const char *argument(char **argv, int i)
{
        return argv[1] && argv[i] ? argv[i] : "";
}

/* Uses the CPU for so many seconds of its own time. */
static void burn(double seconds)
{
        struct timespec t;

        do {
                for (volatile int i = 0; i < 100000; i++)
                        ;
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        } while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
}

static int sleep_for_ever(void)
{
        while (pause() != 0)
                ;
        return 0;
}

static void touch(size_t bytes)
{
        char *p;

        if (bytes == 0)
                return;
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED) {
                fprintf(stderr, "Cannot allocate memory\n");
                exit(3);
        }
        madvise(p, bytes, MADV_NOHUGEPAGE);
        memset(p, 1, bytes);
}

static void report(const char *what, long result)
{
        printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

/* -- processes -- */

static int fork_bomb(char **argv) /* "fail": until it cannot; and MEGABYTES, which make each fork take its time */
{
        pid_t first = getpid();

        touch((size_t)atoi(argument(argv, 3)) << 20);
        for (;;) {
                if (fork() < 0 && getpid() == first && strcmp(argument(argv, 2), "fail") == 0)
                        return 1;
        }
}

static int many_processes(char **argv) /* N sleepers; their number, or the errno of the first that failed */
{
        int n = atoi(argument(argv, 2)), i;

        for (i = 0; i < n; i++) {
                pid_t pid = fork();

                if (pid < 0)
                        break;
                if (pid == 0) {
                        pause();
                        _exit(0);
                }
        }
        printf("%d\n", i);
        return i < n;
}

static int daemonize(char **argv) /* a grandchild in a session of its own that uses CPU, and holds our output open */
{
        bool stays = strcmp(argument(argv, 3), "stay") == 0;
        int fds[2];
        char c;

        if (pipe(fds) < 0)
                return 1;
        if (fork() == 0) {
                setsid();
                if (fork() == 0) {
                        burn(atof(argument(argv, 2)));
                        if (stays && write(fds[1], "x", 1) == 1)
                                pause();
                        _exit(0);
                }
                _exit(0);
        }
        close(fds[1]);
        if (read(fds[0], &c, 1) != (stays ? 1 : 0)) /* it has gone, or stays */
                return 1;
        usleep(20000);
        puts("sat");
        return 0;
}

static void flood_for_ever(void)
{
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
                if (fork() != 0)
                        continue;
                signal(SIGCHLD, SIG_DFL);
                for (int i = 0; i < 30; i++)
                        if (vfork() == 0)
                                _exit(0);
                _exit(0);
        }
}

static int flood(char **argv) /* of orphans that end at once; "sat" and its end, or as one of those that make them */
{
        for (int i = 0; i < 4; i++)
                if (fork() == 0)
                        flood_for_ever();
        if (*argument(argv, 2) == '\0')
                flood_for_ever();
        usleep(300000);
        puts("sat");
        return 0;
}

/* Itself, a child, a grandchild of another session, and a child that ignores signals; for ever. */
static int grow_tree(char **argv)
{
        if (fork() == 0)
                pause();
        if (fork() == 0) {
                setsid();
                if (fork() > 0)
                        _exit(0);
                pause();
        }
        if (fork() == 0) {
                for (int i = 1; i < NSIG; i++)
                        signal(i, SIG_IGN);
                for (;;)
                        pause();
        }
        return sleep_for_ever();
}

static int burn_in_children(char **argv)
{
        for (int i = 0; i < atoi(argument(argv, 2)); i++) {
                if (fork() == 0) {
                        burn(atof(argument(argv, 3)));
                        _exit(0);
                }
        }
        while (wait(NULL) > 0)
                ;
        return 0;
}

static int grow_in_children(char **argv) /* each below any limit of its own */
{
        for (int i = 0; i < atoi(argument(argv, 2)); i++) {
                if (fork() == 0) {
                        touch((size_t)atoi(argument(argv, 3)) << 20);
                        pause();
                }
        }
        pause();
        return 0;
}

static int share_with_children(char **argv) /* N children that only read what their parent has filled */
{
        touch((size_t)atoi(argument(argv, 3)) << 20);
        for (int i = 0; i < atoi(argument(argv, 2)); i++) {
                if (fork() == 0) {
                        usleep(300000);
                        _exit(0);
                }
        }
        while (wait(NULL) > 0)
                ;
        puts("sat");
        return 0;
}

static int ignore_signals(char **argv)
{
        for (int i = 1; i < NSIG; i++)
                signal(i, SIG_IGN);
        kill(0, SIGTERM);
        return sleep_for_ever();
}

static int stop(char **argv)
{
        puts("sat");
        fflush(stdout);
        raise(SIGSTOP);
        return 0;
}

/* -- reaching out -- */

static int reach(char **argv)
{
        struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(80)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        inet_pton(AF_INET, argument(argv, 2), &sin.sin_addr);
        report("connect", connect(fd, (struct sockaddr *)&sin, sizeof(sin)));
        return 0;
}

static int write_there(char **argv)
{
        for (int i = 2; argv[i]; i++)
                report(argv[i], open(argv[i], O_WRONLY | O_CREAT, 0666));
        return 0;
}

static int read_there(char **argv)
{
        for (int i = 2; argv[i]; i++)
                report(argv[i], open(argv[i], O_RDONLY));
        return 0;
}

static int attack_keeper(char **argv) /* the helper, which is our parent */
{
        struct rlimit none = {0};
        char path[64], c;
        int seen = 0;

        report("ptrace", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
        snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
        report("mem", open(path, O_RDWR));
        for (int fd = 0; fd < 64; fd++) { /* its socket, through /proc */
                snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), fd);
                seen += open(path, O_RDWR) >= 0;
        }
        printf("its descriptors: %d\n", seen);
        seen = 0;
        for (int fd = 3; fd < 1024; fd++) /* or by inheritance */
                seen += fcntl(fd, F_GETFD) >= 0;
        printf("inherited: %d\n", seen);
        if (strcmp(argument(argv, 2), "kill") == 0) {
                prlimit(getppid(), RLIMIT_NOFILE, &none, NULL);
                kill(getppid(), SIGKILL);
                kill(getppid(), SIGSTOP);
                kill(-1, SIGTERM); /* all but us */
        }
        printf("capabilities: %s\n",
               prctl(PR_CAPBSET_READ, 21) >= 0 && mount("none", "/mnt", "tmpfs", 0, NULL) < 0 ? "none" : "some");
        report("setuid", setuid(0) < 0 || getuid() != 0 ? -1 : 0);
        c = 'x';
        report("tty", ioctl(0, TIOCSTI, &c));
        return 0;
}

/* -- output and files -- */

static int print(char **argv) /* N bytes: a, b, … to descriptor D */
{
        uint64_t n = strtoull(argument(argv, 2), NULL, 10);
        int fd = *argument(argv, 3) ? atoi(argument(argv, 3)) : 1;
        char block[1 << 16];

        for (size_t i = 0; i < sizeof(block); i++)
                block[i] = (char)('a' + i % 16);
        while (n > 0) {
                ssize_t k = write(fd, block, n < sizeof(block) ? n : sizeof(block));

                if (k < 0)
                        return 1;
                n -= (uint64_t)k;
        }
        return 0;
}

static int fill(char **argv) /* N files of M megabytes each, in the current folder; the unit of one is not noticed */
{
        static char block[1 << 20];

        for (int i = 0; i < atoi(argument(argv, 2)); i++) {
                char name[32];
                int fd;

                snprintf(name, sizeof(name), "d%d", i);
                mkdir(name, 0700);
                snprintf(name, sizeof(name), "d%d/f", i);
                fd = open(name, O_WRONLY | O_CREAT, 0600);
                for (int k = 0; k < atoi(argument(argv, 3)); k++) {
                        if (write(fd, block, sizeof(block)) < 0)
                                return 1;
                }
                close(fd);
                snprintf(name, sizeof(name), "d%d", i);
                chmod(name, 0); /* not to be found */
                usleep(10000);
        }
        if (strcmp(argument(argv, 4), "stay") == 0)
                return sleep_for_ever();
        puts("sat");
        return 0;
}

static void *spin(void *arg)
{
        while (*(volatile int *)arg >= 0)
                *(volatile int *)arg = (*(volatile int *)arg + 1) & 0xffff;
        return NULL;
}

static void *stay_in_thread(void *megabytes)
{
        touch((size_t)atoi(megabytes) << 20);
        sleep_for_ever();
        return NULL;
}

static int headless(char **argv) /* N processes whose first thread ends, while another grows by MEGABYTES and stays */
{
        pthread_t t;

        for (int i = 1; i < atoi(argument(argv, 2)) && fork() != 0; i++)
                ;
        pthread_create(&t, NULL, stay_in_thread, (void *)argument(argv, 3));
        pthread_exit(NULL);
}

static int burn_in_threads(char **argv)
{
        static int counters[16];
        pthread_t t;

        for (int i = 0; i < 3; i++)
                pthread_create(&t, NULL, spin, &counters[i]);
        spin(&counters[15]);
        return 0;
}

static int may_access(char **argv) /* what access() says of a file */
{
        return access(argv[2], R_OK | W_OK) == 0 ? 0 : 1;
}

static int where(char **argv) /* what we are and have */
{
        struct rlimit l;
        cpu_set_t set;
        char dir[4096];

        getrlimit(RLIMIT_CORE, &l);
        sched_getaffinity(0, sizeof(set), &set);
        printf("pid %d\nuid %d\ndirectory %s\ncores %d\ncore-dump %d\nHOME %s\nTMPDIR %s\nPATH %s\nLANG %s\nEXTRA %s\nUSER %s\n",
               getpid(), (int)getuid(), getcwd(dir, sizeof(dir)), CPU_COUNT(&set), (int)l.rlim_cur, getenv("HOME"),
               getenv("TMPDIR"), getenv("PATH"), getenv("LANG"), getenv("EXTRA") ? getenv("EXTRA") : "-",
               getenv("USER") ? getenv("USER") : "-");
        return 0;
}

static int touch_memory(char **argv)
{
        touch((size_t)atoi(argument(argv, 2)) << 20);
        usleep((useconds_t)atoi(argument(argv, 3)));
        puts("sat");
        return 0;
}

static int grow(char **argv) /* without end, were it not for who tries this with a limit that does not hold */
{
        for (int i = 0; i < 4096; i++)
                touch(1 << 20);
        return 0;
}

static int exit_with(char **argv)
{
        return atoi(argument(argv, 2));
}

static int crash(char **argv)
{
        raise(atoi(argument(argv, 2)));
        return 0;
}

static int fill_and_crash(char **argv) /* MEGABYTES SIGNAL */
{
        touch((size_t)atoi(argument(argv, 2)) << 20);
        raise(atoi(argument(argv, 3)));
        return 0;
}

static int use_cpu(char **argv)
{
        burn(atof(argument(argv, 2)));
        return 0;
}

static int wait_long(char **argv)
{
        return sleep_for_ever();
}

static int copy_input(char **argv)
{
        char block[4096];
        ssize_t n;

        while ((n = read(0, block, sizeof(block))) > 0) {
                if (write(1, block, (size_t)n) != n)
                        return 1;
        }
        return 0;
}

static int print_nuls(char **argv)
{
        return write(1, "sat\0\n\0unsat", 11) != 11;
}

static int print_both(char **argv)
{
        printf("out\n");
        fflush(stdout);
        fprintf(stderr, "err\n");
        return 0;
}

static int surroundings(char **argv) /* what we have from whoever started us, beside files */
{
        FILE *f = fopen("/proc/self/status", "re");
        char line[256];

        for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
                struct rlimit l;

                getrlimit((__rlimit_resource_t)i, &l);
                printf("limit %d: %llu %llu\n", i, (unsigned long long)l.rlim_cur, (unsigned long long)l.rlim_max);
        }
        while (f && fgets(line, sizeof(line), f))
                if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0 || strncmp(line, "THP_enabled", 11) == 0)
                        fputs(line, stdout);
        printf("class %d nice %d personality %d umask %03o slack %d\n", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0),
               personality(0xffffffff), umask(0), prctl(PR_GET_TIMERSLACK));
        return 0;
}

static int recurse(int kilobytes)
{
        volatile char frame[1024];

        memset((char *)frame, kilobytes, sizeof(frame));
        return kilobytes == 0 ? 0 : recurse(kilobytes - 1) + frame[kilobytes % 1024] - (char)kilobytes;
}

static int recurse_deep(char **argv)
{
        printf("%d\n", recurse(atoi(argument(argv, 2)) << 10));
        return 0;
}

static int bounds(char **argv) /* everything that holds us, as the kernel says it */
{
        static const struct {
                const char *name;
                int resource;
        } limits[] = {{"core", RLIMIT_CORE},  {"cpu", RLIMIT_CPU},         {"space", RLIMIT_AS},
                      {"file", RLIMIT_FSIZE}, {"processes", RLIMIT_NPROC}, {"descriptors", RLIMIT_NOFILE}};
        static const char *const paths[] = {"/", "/usr", "/etc", "/dev", "/test/attacker", "/.solverfs-exec", "/scratch"};
        FILE *f = fopen("/proc/self/status", "re");
        char line[256];

        while (f && fgets(line, sizeof(line), f)) {
                if (strncmp(line, "Groups", 6) == 0 || strncmp(line, "NoNewPrivs", 10) == 0 || strncmp(line, "SigBlk", 6) == 0 ||
                    strncmp(line, "SigIgn", 6) == 0 || strncmp(line, "CapEff", 6) == 0 || strncmp(line, "CapAmb", 6) == 0 ||
                    strncmp(line, "Gid", 3) == 0)
                        fputs(line, stdout);
        }
        for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
                struct rlimit l;

                getrlimit(limits[i].resource, &l);
                printf("limit of %s: %llu %llu\n", limits[i].name, (unsigned long long)l.rlim_cur,
                       (unsigned long long)l.rlim_max);
        }
        for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
                struct statvfs v;

                if (statvfs(paths[i], &v) == 0)
                        printf("%s: %s\n", paths[i], v.f_flag & ST_RDONLY ? "read-only" : "writable");
        }
        gethostname(line, sizeof(line));
        printf("umask %03o\nhost %s\nsession %s\ngroup %s\n", umask(0), line,
               getsid(0) == getsid(getppid()) && getsid(0) == getppid() ? "of the helper" : "another",
               getpgid(0) == getpid() ? "own" : "another");
        f = fopen("/proc/self/oom_score_adj", "re");
        printf("oom %s", f && fgets(line, sizeof(line), f) ? line : "?\n");
        f = fopen("/proc/net/dev", "re");
        while (f && fgets(line, sizeof(line), f))
                if (strchr(line, ':') && !strstr(line, "lo:"))
                        printf("a network device: %s", line);
        report("shm of the test", shmget(atoi(argument(argv, 2)), 1, 0));
        report("/dev/fuse", open("/dev/fuse", O_RDWR));
        report("/dev/kmsg", open("/dev/kmsg", O_RDONLY));
        return 0;
}

static int fill_shm(char **argv) /* N megabytes of memory that no process has */
{
        static char block[1 << 20];
        int fd = open("/dev/shm/x", O_WRONLY | O_CREAT, 0600);

        for (int i = 0; i < atoi(argument(argv, 2)); i++) {
                if (write(fd, block, sizeof(block)) != sizeof(block)) {
                        report("write", -1);
                        return 1;
                }
        }
        puts("sat");
        return 0;
}

static int answer(char **argv) /* each word on a line of its own, "\\0" as a NUL */
{
        for (int i = 2; argv[i]; i++) {
                for (const char *p = argv[i]; *p; p += p[0] == '\\' && p[1] == '0' ? 2 : 1)
                        putchar(p[0] == '\\' && p[1] == '0' ? '\0' : *p);
                putchar('\n');
        }
        return 0;
}

static int signal_ourselves(char **argv)
{
        puts("sat");
        fflush(stdout);
        signal(atoi(argument(argv, 2)), SIG_DFL);
        kill(getpid(), atoi(argument(argv, 2)));
        return 0;
}

static int close_output(char **argv)
{
        for (int fd = 0; fd < 3; fd++)
                close(fd);
        return write(1, "sat\n", 4) != 4;
}

/* What the helper would send: success, in no time. To whatever takes it. */
static int forge(char **argv)
{
        uint32_t record[64] = {0x53465846};
        int taken = 0;

        for (int fd = 3; fd < 4096; fd++)
                taken += write(fd, record, sizeof(record)) >= 0 || send(fd, record, sizeof(record), MSG_NOSIGNAL) >= 0;
        for (pid_t pid = 1; pid < 64; pid++) {
                for (int fd = 0; fd < 16; fd++) {
                        char path[64];
                        int other;

                        snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
                        other = pid == getpid() ? -1 : open(path, O_WRONLY);
                        taken += other >= 0 && write(other, record, sizeof(record)) >= 0;
                        close(other);
                }
        }
        printf("taken: %d\n", taken);
        fflush(stdout);
        return sleep_for_ever();
}

static int kill_all(char **argv)
{
        signal(SIGTERM, SIG_IGN);
        kill(-1, SIGTERM);
        kill(-1, SIGSTOP);
        kill(-1, SIGKILL);
        kill(getppid(), SIGKILL);
        kill(1, SIGKILL);
        puts("sat");
        return 0;
}

static int raise_limits(char **argv) /* and then does what the limits are for */
{
        static const int which[] = {RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_CORE};
        struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
        int raised = 0;

        for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
                raised += setrlimit(which[i], &all) == 0;
        fprintf(stderr, "raised: %d\n", raised);
        fflush(stderr);
        return grow(argv);
}

static int environment(char **argv) /* a megabyte of it, and so for /proc/PID/environ */
{
        static char values[16][1 << 16], *list[17];

        if (getenv("V15")) {
                puts("sat");
                return 0;
        }
        for (int i = 0; i < 16; i++) {
                memset(values[i], 'x', sizeof(values[i]) - 1);
                values[i][sprintf(values[i], "V%d=", i)] = 'x';
                list[i] = values[i];
        }
        execve("/proc/self/exe", argv, list);
        return 1;
}

/* Folders inside folders, deeper than any path may be long, with names no line can hold, and at last nobody may enter them. */
static int bury(char **argv)
{
        static const char *const names[] = {"a\nb", "-rf", "\xff\xfe", "..x", " ", "*", "$(x)"};
        int depth = atoi(argument(argv, 2)), fd = open(".", O_RDONLY | O_DIRECTORY);

        puts("sat");
        fflush(stdout);
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
                mkdir(names[i], 0);
        if (symlink("/", "to-root") < 0 || symlink(".", "to-itself") < 0 || mkfifo("fifo", 0) < 0)
                return 1;
        for (int i = 0; i < depth; i++) {
                char name[64];

                snprintf(name, sizeof(name), "%050d\n", i);
                if (mkdir(name, 0700) < 0 || chdir(name) < 0)
                        return 1;
        }
        close(open("x", O_WRONLY | O_CREAT, 0));
        chmod(".", 0);
        fchmod(fd, 0);
        return chown("/scratch", 0, 0) == 0;
}

static int too_large(char **argv)
{
        int fd = open("large", O_WRONLY | O_CREAT, 0600);

        return ftruncate(fd, (off_t)atoi(argument(argv, 2)) << 30) < 0;
}

static int reach_socket(char **argv) /* "@…" is of the abstract name space */
{
        for (int i = 2; argv[i]; i++) {
                struct sockaddr_un sun = {.sun_family = AF_UNIX};
                int fd = socket(AF_UNIX, SOCK_STREAM, 0);

                snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", argv[i]);
                if (argv[i][0] == '@')
                        sun.sun_path[0] = '\0';
                report("unix", connect(fd, (struct sockaddr *)&sun, (socklen_t)(sizeof(sa_family_t) + strlen(argv[i]))));
        }
        return 0;
}

static int attack(int argc, char **argv);

static int follow_case(char **argv)
{
        char line[1 << 16], *words[64] = {argv[0]}, *save = NULL;
        FILE *f = fopen(argv[1], "re");
        int n = 1;

        while (f && fgets(line, sizeof(line), f)) {
                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "; attack ", 9) != 0)
                        continue;
                for (char *w = strtok_r(line + 9, "|", &save); w && n < 63; w = strtok_r(NULL, "|", &save))
                        words[n++] = w;
                fclose(f);
                return attack(n, words);
        }
        return 9;
}

static int attack(int argc, char **argv)
{
        static const struct {
                const char *name;
                int (*run)(char **argv);
        } rows[] = {
                {"fork-bomb", fork_bomb},
                {"many", many_processes},
                {"daemonize", daemonize},
                {"flood", flood},
                {"children", burn_in_children},
                {"grow-children", grow_in_children},
                {"share", share_with_children},
                {"ignore", ignore_signals},
                {"stop", stop},
                {"reach", reach},
                {"write", write_there},
                {"read", read_there},
                {"keeper", attack_keeper},
                {"print", print},
                {"fill", fill},
                {"threads", burn_in_threads},
                {"headless", headless},
                {"where", where},
                {"access", may_access},
                {"touch", touch_memory},
                {"grow", grow},
                {"exit", exit_with},
                {"crash", crash},
                {"fill-and-crash", fill_and_crash},
                {"burn", use_cpu},
                {"wait", wait_long},
                {"copy", copy_input},
                {"nuls", print_nuls},
                {"both", print_both},
                {"tree", grow_tree},
                {"bounds", bounds},
                {"shm", fill_shm},
                {"answer", answer},
                {"signal", signal_ourselves},
                {"close", close_output},
                {"forge", forge},
                {"kill-all", kill_all},
                {"limits", raise_limits},
                {"surroundings", surroundings},
                {"recurse", recurse_deep},
                {"environment", environment},
                {"bury", bury},
                {"large", too_large},
                {"unix", reach_socket},
                {"leave", leave_traces},
                {"look", look_around},
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
                if (argc > 1 && strcmp(argv[1], rows[i].name) == 0)
                        return rows[i].run(argv);
        }
        return 0;
}

int main(int argc, char **argv)
{
        return argc > 1 && argv[1][0] == '/' ? follow_case(argv) : attack(argc, argv);
}
