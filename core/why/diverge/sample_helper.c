/* solverfs-sample SECONDS PROGRAM ARG...: runs a program for at most SECONDS, and prints where it is a thousand times a second. Runs inside the sandbox,
 * for profiling.c.
 *
 * Every running thread is stopped by ptrace(2) for some microseconds. A parent may do that on any Linux, while perf_event_open(2) is for root, or for
 * nobody, on many. The output, a line each, as it comes:
 *
 *     M 1 /solver/kissat                a file with code; files are numbered from 0, the sampler, which is in the folder of the programs
 *     S 1000000 0:5e21f 0:4c1a0:5e200   nanoseconds of CPU time; the present place; then calls to which it may return, from the stack, innermost first.
 *                                       A place is a file's number and an offset in it; a call also has the offset of the called function, if the
 *                                       instruction contains it
 *
 * Callers are found without frame pointers or unwind tables: a word on the stack counts as a return address if a call precedes the place it points to.
 * Some of these are left from calls that are over; profiling.c, which knows the functions, sorts them out. Only files in the programs' folder have
 * callers.
 *
 * The time between two samples doubles each SAMPLES samples, so that an hour has some ten thousand. */
#ifdef __x86_64__
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS    1000000u
#define SAMPLES      2048 /* per period */
#define STACK        (32 << 10) /* bytes examined */
#define CALLERS_MOST 64
#define FILES_MOST   256
#define MAPS_MOST    512
#define THREADS_MOST 512
#define OPTIONS      (PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC)

struct file {
        char path[512];
        const uint8_t *code; /* all of it, mapped; NULL: it cannot be read */
        size_t size;
        bool is_own;
};
struct map {
        uint64_t from, to, offset;
        int file;
};

static struct file files[FILES_MOST];
static struct map maps[MAPS_MOST];
static struct thread {
        pid_t tid;
        uint64_t counted_ns; /* of its CPU time */
} threads[THREADS_MOST];
static int n_files, n_maps, n_threads;
static bool has_begun;

/* -- where code is ------------------------------------------------------------------------------------------------- */

/* The file's number; its line is printed at the first mention. -1: there are too many. */
static int find_file(const char *path)
{
        static size_t folder; /* of the first one's path */
        struct file *f = &files[n_files];
        struct stat st;
        int fd;

        for (int i = 0; i < n_files; i++)
                if (strcmp(files[i].path, path) == 0)
                        return i;
        if (n_files == FILES_MOST || strlen(path) >= sizeof(f->path))
                return -1;
        strcpy(f->path, path);
        if (n_files == 0)
                folder = strrchr(path, '/') ? (size_t)(strrchr(path, '/') - path) + 1 : 0;
        f->is_own = strncmp(path, files[0].path, folder) == 0;
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
                void *code = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

                f->code = code == MAP_FAILED ? NULL : code;
                f->size = f->code ? (size_t)st.st_size : 0;
        }
        if (fd >= 0)
                close(fd);
        printf("M %d %s\n", n_files, path);
        return n_files++;
}

static void read_maps(pid_t pid)
{
        char name[64], line[1024];
        FILE *f;

        snprintf(name, sizeof(name), "/proc/%d/maps", pid);
        f = fopen(name, "re");
        n_maps = 0;
        while (f && n_maps < MAPS_MOST && fgets(line, sizeof(line), f)) {
                struct map m;
                char x;
                int path = 0;

                line[strcspn(line, "\n")] = '\0';
                if (sscanf(line, "%lx-%lx %*c%*c%c%*c %lx %*s %*s %n", &m.from, &m.to, &x, &m.offset, &path) == 4 && x == 'x' && line[path] == '/' &&
                    (m.file = find_file(line + path)) >= 0)
                        maps[n_maps++] = m;
        }
        if (f)
                fclose(f);
}

static const struct map *find_map(uint64_t at)
{
        for (int i = 0; i < n_maps; i++)
                if (at >= maps[i].from && at < maps[i].to)
                        return &maps[i];
        return NULL;
}

/* True if a call ends at this offset. *ret_target: the called address; 0: not known. */
static bool is_behind_call(const struct file *f, uint64_t offset, uint64_t *ret_target)
{
        static const unsigned lengths[] = {2, 3, 4, 6, 7}; /* of calls by a register or through memory: FF /2 */
        const uint8_t *p = f->code + offset;
        int32_t distance;

        *ret_target = 0;
        if (!f->code || offset < 8 || offset > f->size)
                return false;
        if (p[-5] == 0xe8) {
                memcpy(&distance, p - 4, sizeof(distance));
                *ret_target = offset + (uint64_t)(int64_t)distance;
                if (*ret_target < f->size)
                        return true;
                *ret_target = 0;
        }
        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
                if (p[-(int)lengths[i]] == 0xff && (p[1 - (int)lengths[i]] >> 3 & 7) == 2)
                        return true;
        return false;
}

/* -- a sample ------------------------------------------------------------------------------------------------------ */

static void print_callers(pid_t tid, uint64_t stack)
{
        static uint64_t words[STACK / sizeof(uint64_t)];
        const struct iovec to = {words, sizeof(words)};
        ssize_t n = -1;
        int found = 0;

        /* the stack may be shorter, and an iovec is read whole or not at all */
        for (size_t size = sizeof(words); n <= 0 && size >= 512; size /= 2)
                n = process_vm_readv(tid, &to, 1, &(struct iovec){(void *)stack, size}, 1, 0);
        for (ssize_t i = 0; i < n / (ssize_t)sizeof(*words) && found < CALLERS_MOST; i++) {
                const struct map *m = find_map(words[i]);
                uint64_t offset, target;

                if (!m || !files[m->file].is_own)
                        continue;
                offset = words[i] - m->from + m->offset;
                if (!is_behind_call(&files[m->file], offset, &target))
                        continue;
                printf(target ? " %d:%lx:%lx" : " %d:%lx", m->file, offset, target);
                found++;
        }
}

static void sample(pid_t tid, uint64_t weight)
{
        const struct map *m;
        struct user_regs_struct r;
        struct iovec to = {&r, sizeof(r)};

        if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &to) < 0)
                return;
        m = find_map(r.rip);
        if (!m) {
                read_maps(tid);
                m = find_map(r.rip);
        }
        printf("S %lu %d:%lx", weight, m ? m->file : find_file("[elsewhere]"), m ? (uint64_t)r.rip - m->from + m->offset : 0);
        print_callers(tid, r.rsp);
        putchar('\n');
}

/* -- threads and processes ----------------------------------------------------------------------------------------- */

static void forget(pid_t tid)
{
        for (int i = 0; i < n_threads; i++)
                if (threads[i].tid == tid)
                        threads[i--] = threads[--n_threads];
}

static void remember(pid_t tid)
{
        for (int i = 0; i < n_threads; i++)
                if (threads[i].tid == tid)
                        return;
        if (n_threads < THREADS_MOST)
                threads[n_threads++] = (struct thread){tid, 0};
}

/* Continues a stopped thread, forgets one that has ended. */
static void handle(pid_t tid, int status)
{
        const int event = status >> 16, signal = WSTOPSIG(status);

        if (!WIFSTOPPED(status)) {
                forget(tid);
                return;
        }
        remember(tid);
        has_begun |= event == PTRACE_EVENT_EXEC;
        if (event == PTRACE_EVENT_EXEC)
                n_maps = 0;
        if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
                ptrace(PTRACE_LISTEN, tid, NULL, NULL); /* the program stopped itself */
        else
                ptrace(PTRACE_CONT, tid, NULL, event ? 0 : (long)signal);
}

/* The text of /proc/<tid>/<name>; "" if it cannot be read. */
static void read_about(pid_t tid, const char *name, char ret[256])
{
        char path[64];
        ssize_t n;
        int fd;

        snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd >= 0 ? read(fd, ret, 255) : 0;
        ret[n > 0 ? n : 0] = '\0';
        if (fd >= 0)
                close(fd);
}

/* A waiting thread is left alone, as a stop might interrupt its call. */
static bool is_running(pid_t tid)
{
        char text[256];
        const char *behind;

        read_about(tid, "stat", text);
        behind = strrchr(text, ')');
        return behind && behind[1] == ' ' && behind[2] == 'R';
}

/* A thread's CPU time since the last call; `else_ns` if the kernel does not tell. */
static uint64_t cpu_time(struct thread *t, uint64_t else_ns)
{
        const uint64_t before = t->counted_ns;
        char text[256];

        read_about(t->tid, "schedstat", text);
        t->counted_ns = strtoull(text, NULL, 10);
        return t->counted_ns > before ? t->counted_ns - before : *text ? 0 : else_ns;
}

static void sample_all(uint64_t period)
{
        for (int i = 0; i < n_threads; i++) {
                const pid_t tid = threads[i].tid;
                uint64_t ns;
                int status;

                if (!has_begun || !is_running(tid) || (ns = cpu_time(&threads[i], period)) == 0)
                        continue;
                if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 || waitpid(tid, &status, __WALL) != tid)
                        continue;
                if (WIFSTOPPED(status))
                        sample(tid, ns);
                handle(tid, status);
        }
}

static uint64_t now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void watch(uint64_t most_ns)
{
        const uint64_t end = now() + most_ns;
        uint64_t period = PERIOD_NS, next = now(), n = 0;

        while (n_threads > 0 && now() < end) {
                int status;
                pid_t tid;

                while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
                        handle(tid, status);
                if (now() >= next) {
                        sample_all(period);
                        if (++n % SAMPLES == 0)
                                period *= 2;
                        next = now() + period;
                }
                while (n_threads > 0 && now() < next) {
                        struct timespec t = {.tv_nsec = 200000}; /* stopped threads wait for us */

                        tid = waitpid(-1, &status, __WALL | WNOHANG);
                        if (tid > 0)
                                handle(tid, status);
                        else
                                nanosleep(&t, NULL);
                }
        }
}

static _Noreturn void become(const int go, char **argv)
{
        int null = open("/dev/null", O_RDWR);
        char byte;

        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        if (read(go, &byte, 1) == 1)
                execvp(argv[0], argv);
        _exit(127);
}

int main(int argc, char **argv)
{
        static char buffer[1 << 16];
        int go[2];
        pid_t pid;

        if (argc < 3 || pipe(go) < 0) {
                fprintf(stderr, "solverfs-sample: part of solverfs; it samples a program for 'solverfs diverge --profile'\n");
                return 2;
        }
        setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
        pid = fork();
        if (pid == 0)
                become(go[0], argv + 2);
        if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, OPTIONS) < 0) {
                fprintf(stderr, "solverfs-sample: a program cannot be sampled here: %s\n", strerror(errno));
                return 3;
        }
        find_file(argv[0]);
        remember(pid);
        if (write(go[1], "", 1) != 1)
                return 3;
        watch((uint64_t)(atof(argv[1]) * 1e9));
        fflush(stdout);
        return 0; /* which ends what is left */
}
#else
#include <stdio.h>

int main(void)
{
        fprintf(stderr, "solverfs-sample: programs are sampled on x86-64 alone\n");
        return 3;
}
#endif
