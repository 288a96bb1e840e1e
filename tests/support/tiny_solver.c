/* The solver of the mount tests: a case tells it what to do, line by line.
 *
 *     ; do print sat
 *     ; do sleep 200          milliseconds
 *
 * or, so that it stays when the input is scrambled, (set-info :do "print sat").
 *
 * Its version is what stands behind "version: " at the end of its own file, put there by the recipe of the tests, so that a thousand
 * versions cost a cat each. Words that name paths of the machine (wait, count, pid, open) are for tests without a sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* So that the program is more than a few pages. */
const unsigned char padding[300000] = {1};

static const char *seed, *variant = "none";

static void nap(long ms)
{
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* access() would ask for our real user, who is another one than the one whose power we have. */
static bool exists(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0;
}

static void burn(long ms)
{
        struct timespec t;

        do {
                for (volatile int i = 0; i < 100000; i++)
                        ;
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static void allocate(size_t megabytes)
{
        char *p = mmap(NULL, megabytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED) {
                fprintf(stderr, "out of memory\n");
                exit(3);
        }
        memset(p, 1, megabytes << 20);
}

static void flood(long megabytes)
{
        char line[4096];

        memset(line, 'x', sizeof(line));
        line[sizeof(line) - 1] = '\n';
        for (long i = 0; i < megabytes * 256; i++)
                if (fwrite(line, 1, sizeof(line), stdout) != sizeof(line))
                        exit(4);
}

/* n bytes that differ from page to page. */
static void bytes(long n)
{
        for (long i = 0; i < n; i++)
                putchar(i == n - 1 || i % 71 == 70 ? '\n' : (int)('a' + (i / 71 + i) % 26));
}

static void forks(long n)
{
        for (long i = 0; i < n; i++) {
                pid_t pid = fork();

                if (pid == 0) {
                        nap(60000);
                        _exit(0);
                }
                if (pid < 0) {
                        fprintf(stderr, "cannot fork: %s\n", strerror(errno));
                        exit(5);
                }
        }
}

/* Whole or not at all: a test reads it as soon as it is there. */
static void write_pid(const char *path)
{
        char part[4096];
        FILE *f = snprintf(part, sizeof(part), "%s.part", path) < (int)sizeof(part) ? fopen(part, "we") : NULL;

        if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0 || rename(part, path) < 0) {
                fprintf(stderr, "%s: %s\n", path, strerror(errno));
                exit(6);
        }
}

/* A process that wants to outlive us, in a session of its own. */
static void leave_daemon(const char *path)
{
        pid_t pid = fork();

        if (pid == 0) {
                setsid();
                if (fork() != 0)
                        _exit(0);
                write_pid(path);
                nap(600000);
                _exit(0);
        }
        while (!exists(path)) /* it lives before we end */
                nap(1);
}

static void count(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

        if (fd < 0 || write(fd, ".", 1) != 1) {
                fprintf(stderr, "%s: %s\n", path, strerror(errno));
                exit(6);
        }
        close(fd);
}

static void print_version(void)
{
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        char end[65] = "";
        const char *at;

        if (fd >= 0 && lseek(fd, -64, SEEK_END) >= 0 && read(fd, end, sizeof(end) - 1) > 0)
                for (size_t i = 0; i < 64; i++) /* what is before it may hold zeros */
                        if (end[i] == '\0')
                                end[i] = ' ';
        at = strstr(end, "version: ");
        printf("%s%s", at ? at : "version: none", at ? "" : "\n");
        if (fd >= 0)
                close(fd);
}

static void try_open(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        printf("open: %s\n", fd < 0 ? strerrorname_np(errno) : "0");
        if (fd >= 0)
                close(fd);
}

static void try_list(const char *path)
{
        struct stat st;

        printf("stat: %s\n", stat(path, &st) < 0 ? strerrorname_np(errno) : "0");
}

static void now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        printf("now: %lld%09ld\n", (long long)t.tv_sec, t.tv_nsec);
}

/* n lines and up to a hundred more, all the same, and others in each run. */
static void stamp(long n)
{
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        for (n += t.tv_nsec / 1000 % 100; n > 0; n--)
                printf("stamp: %lld%09ld\n", (long long)t.tv_sec, t.tv_nsec);
}

static void follow(const char *word, const char *rest)
{
        long n = strtol(rest, NULL, 10);

        if (strcmp(word, "print") == 0)
                printf("%s\n", rest);
        else if (strcmp(word, "complain") == 0)
                fprintf(stderr, "%s\n", rest);
        else if (strcmp(word, "sleep") == 0)
                nap(n);
        else if (strcmp(word, "burn") == 0)
                burn(n);
        else if (strcmp(word, "allocate") == 0)
                allocate((size_t)n);
        else if (strcmp(word, "crash") == 0)
                raise(SIGSEGV);
        else if (strcmp(word, "exit") == 0)
                exit((int)n);
        else if (strcmp(word, "fork") == 0)
                forks(n);
        else if (strcmp(word, "daemon") == 0)
                leave_daemon(rest);
        else if (strcmp(word, "flood") == 0)
                flood(n);
        else if (strcmp(word, "bytes") == 0)
                bytes(n);
        else if (strcmp(word, "now") == 0)
                now();
        else if (strcmp(word, "stamp") == 0)
                stamp(n);
        else if (strcmp(word, "count") == 0)
                count(rest);
        else if (strcmp(word, "pid") == 0)
                write_pid(rest);
        else if (strcmp(word, "wait") == 0)
                while (!exists(rest))
                        nap(2);
        else if (strcmp(word, "open") == 0)
                try_open(rest);
        else if (strcmp(word, "stat") == 0)
                try_list(rest);
        else if (strcmp(word, "seed") == 0)
                printf("seed: %s\n", seed ? seed : "none");
        else if (strcmp(word, "variant") == 0)
                printf("variant: %s\n", variant);
        else if (strcmp(word, "version") == 0)
                print_version();
        else {
                fprintf(stderr, "the case says '%s': not understood\n", word);
                exit(7);
        }
        fflush(stdout);
}

int main(int argc, char **argv)
{
        char line[8192], word[32];
        const char *path = NULL;
        FILE *f;

        for (int i = 1; i < argc; i++)
                if (strncmp(argv[i], "--seed=", 7) == 0)
                        seed = argv[i] + 7;
                else if (strncmp(argv[i], "--variant=", 10) == 0)
                        variant = argv[i] + 10;
                else if (strcmp(argv[i], "--version") == 0) {
                        print_version();
                        return 0;
                } else
                        path = argv[i];
        f = path ? fopen(path, "re") : NULL;
        if (!f) {
                fprintf(stderr, "usage: tiny [--seed=N] [--variant=WORD] [--version] CASE\n");
                return 2;
        }
        while (fgets(line, sizeof(line), f)) {
                int at = 0;

                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "(set-info :do \"", 15) == 0)
                        line[strcspn(line + 15, "\"") + 15] = '\0';
                if (sscanf(line, "; do %31s %n", word, &at) == 1 || sscanf(line, "(set-info :do \"%31s %n", word, &at) == 1)
                        follow(word, line + at);
        }
        return padding[0] == 1 ? 0 : 8;
}
