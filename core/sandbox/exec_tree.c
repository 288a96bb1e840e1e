#include "core/sandbox/exec_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/base/process.h"
#include "cache/base/util.h"

struct process {
        pid_t pid, parent;
        pid_t thread; /* a living thread, through which its memory is found */
        char state;
        bool ours;
        uint64_t ticks, threads, space, resident; /* resident in pages */
};

struct list {
        struct process *items; /* malloc'd */
        size_t n;
};

static void list_done(struct list *l)
{
        free(l->items);
}

/* -- /proc -- */

/* The numeric names in a folder: processes, or the threads of one. */
struct numbers {
        struct dirent **list; /* malloc'd, and each */
        int n;                /* -1: none, errno says why */
};

static int is_number(const struct dirent *e)
{
        return e->d_name[0] >= '1' && e->d_name[0] <= '9';
}

static struct numbers numbers_in(const char *folder)
{
        struct numbers x = {0};

        x.n = scandir(folder, &x.list, is_number, NULL);
        return x;
}

static struct numbers threads_of(pid_t process)
{
        char folder[64];

        snprintf(folder, sizeof(folder), "/proc/%d/task", (int)process);
        return numbers_in(folder);
}

static void numbers_done(struct numbers *x)
{
        for (int i = 0; i < x->n; i++)
                free(x->list[i]);
        if (x->n >= 0)
                free(x->list);
}

static pid_t number(const struct numbers *x, int i)
{
        return (pid_t)atoi(x->list[i]->d_name);
}

/* proc(5), /proc/[pid]/stat. The name in parentheses may hold anything, so reading begins after the last ')'. */
static bool parse_stat(const char *text, struct process *p)
{
        const char *at = strrchr(text, ')');
        unsigned long long field[25] = {0}; /* by proc(5)'s numbers */
        char *end;

        if (!at || at[1] != ' ' || !at[2])
                return false;
        p->pid = p->thread = (pid_t)strtol(text, NULL, 10);
        p->state = at[2];
        at += 3;
        for (int i = 4; i <= 24; i++) {
                field[i] = strtoull(at, &end, 10);
                if (end == at)
                        return false;
                at = end;
        }
        p->parent = (pid_t)field[4];
        p->ticks = field[14] + field[15] + field[16] + field[17];
        p->threads = field[20];
        p->space = field[23];
        p->resident = field[24];
        return true;
}

/* True for a process whose first thread has ended: it is shown as a zombie without memory, although the others go on. */
static bool is_headless(const struct process *p)
{
        return p->state == 'Z' && p->threads > 1;
}

static bool read_stat(pid_t pid, struct process *p)
{
        char text[1024];

        return process_text(pid, "stat", text, sizeof(text)) > 0 && parse_stat(text, p);
}

static void find_thread(struct process *p)
{
        cleanup(numbers_done) struct numbers threads = threads_of(p->pid);
        struct process thread = {0};

        for (int i = 0; i < threads.n && p->resident == 0; i++) {
                if (!read_stat(number(&threads, i), &thread)) /* the thread is in /proc, too, though not listed there */
                        continue;
                p->thread = thread.pid;
                p->space = thread.space;
                p->resident = thread.resident;
        }
}

/* Marks our descendants until nothing changes: a child may be listed before its parent. */
static void mark_descendants(struct list *l)
{
        pid_t self = getpid();
        bool changed = true;

        while (changed) {
                changed = false;
                for (size_t i = 0; i < l->n; i++) {
                        struct process *p = &l->items[i];

                        if (p->ours)
                                continue;
                        p->ours = p->parent == self;
                        for (size_t j = 0; j < l->n && !p->ours; j++)
                                p->ours = l->items[j].ours && l->items[j].pid == p->parent;
                        changed |= p->ours;
                }
        }
}

/* An error leaves the list empty. */
static int list_read(bool inside, struct list *l)
{
        cleanup(numbers_done) struct numbers pids = numbers_in("/proc");
        const pid_t self = getpid();

        *l = (struct list){0};
        if (pids.n < 0)
                return -errno;
        l->items = calloc((size_t)pids.n + 1, sizeof(*l->items));
        if (!l->items)
                return -ENOMEM;
        for (int i = 0; i < pids.n; i++) {
                struct process *p = &l->items[l->n];

                p->ours = inside;
                l->n += number(&pids, i) != self && read_stat(number(&pids, i), p);
        }
        if (!inside)
                mark_descendants(l);
        for (size_t i = 0; i < l->n; i++)
                if (l->items[i].ours && is_headless(&l->items[i]))
                        find_thread(&l->items[i]);
        return 0;
}

static bool is_alive(const struct process *p)
{
        return p->ours && ((p->state != 'Z' && p->state != 'X') || is_headless(p));
}

static bool goes_on(const struct process *p)
{
        return is_alive(p) && p->state != 'T' && p->state != 't';
}

/* -- summing and signalling -- */

/* Pages of files and of shared memory, which a process may share with its children. */
static uint64_t shared_pages(pid_t pid)
{
        char text[256];
        unsigned long long size, resident, shared;

        return process_text(pid, "statm", text, sizeof(text)) > 0 && sscanf(text, "%llu %llu %llu", &size, &resident, &shared) == 3 ? shared : 0;
}

int tree_read(bool inside, struct tree *ret, struct waiting *w)
{
        static long page, tick;
        uint64_t pages = 0, most_shared = 0;
        struct tree t = {0};
        cleanup(list_done) struct list l;
        int r = list_read(inside, &l);

        if (r < 0)
                return r;
        if (page == 0) {
                page = sysconf(_SC_PAGESIZE);
                tick = sysconf(_SC_CLK_TCK);
        }
        for (size_t i = 0; i < l.n; i++)
                t.n += is_alive(&l.items[i]);
        for (size_t i = 0; i < l.n; i++) {
                const struct process *p = &l.items[i];
                uint64_t shared;

                if (!p->ours)
                        continue;
                t.cpu_ns += p->ticks * (1000000000u / (uint64_t)tick);
                if (!is_alive(p))
                        continue;
                t.threads += p->threads;
                if (w)
                        waiting_look(w, p->pid, p->threads);
                t.largest_space = MAX(t.largest_space, p->space);
                shared = t.n > 1 ? shared_pages(p->thread) : 0;
                shared = MIN(shared, p->resident);
                pages += p->resident - shared;
                most_shared = MAX(most_shared, shared);
        }
        t.memory = (pages + most_shared) * (uint64_t)page;
        *ret = t;
        return 0;
}

/* Sums the fair shares (PSS) of living processes. -EACCES if the kernel does not show them. */
static int read_fair_memory(bool inside, uint64_t *ret)
{
        cleanup(list_done) struct list l;
        int r = list_read(inside, &l);

        *ret = 0;
        for (size_t i = 0; r >= 0 && i < l.n; i++) {
                char text[2048];
                const char *pss;
                ssize_t n;

                if (!is_alive(&l.items[i]))
                        continue;
                n = process_text(l.items[i].thread, "smaps_rollup", text, sizeof(text));
                if (n == -EACCES || n == -EPERM)
                        r = -EACCES;
                pss = n > 0 ? strstr(text, "\nPss:") : NULL;
                if (pss) /* else the process has gone meanwhile */
                        *ret += strtoull(pss + 5, NULL, 10) * 1024;
        }
        return r;
}

uint64_t tree_checked_memory(bool inside, const struct tree *t, uint64_t limit)
{
        uint64_t memory = t->memory, fair;

        /* Repeated: when a process ends during the reading, the shares of the others grow. */
        for (int i = 0; i < 3 && t->n > 1 && memory > limit; i++)
                if (read_fair_memory(inside, &fair) >= 0)
                        memory = MIN(memory, fair);
        return memory;
}

static bool signal_all(int sig)
{
        cleanup(list_done) struct list l;
        bool some = false;

        list_read(false, &l);
        for (size_t i = 0; i < l.n; i++)
                if (sig == SIGSTOP ? goes_on(&l.items[i]) : is_alive(&l.items[i]))
                        some |= kill(l.items[i].pid, sig) == 0;
        return some;
}

void tree_stop(bool inside)
{
        if (inside) {
                kill(-1, SIGSTOP);
                return;
        }
        for (int i = 0; i < 50 && signal_all(SIGSTOP); i++)
                ;
}

bool tree_kill(bool inside)
{
        if (inside) /* one pass over all tasks under the kernel's lock: no fork escapes it */
                return kill(-1, SIGKILL) == 0;
        tree_stop(false); /* a stopped process cannot fork */
        return signal_all(SIGKILL);
}

void tree_continue(bool inside)
{
        if (inside)
                kill(-1, SIGCONT);
        else
                signal_all(SIGCONT);
}

bool tree_goes_on(bool inside)
{
        cleanup(list_done) struct list l;
        bool some = false;

        list_read(inside, &l);
        for (size_t i = 0; i < l.n; i++)
                some |= goes_on(&l.items[i]);
        return some;
}

/* A thread started during this look stays on the old cores; the next look finds it. */
static bool bind_threads(pid_t pid, const cpu_set_t *cpus)
{
        cleanup(numbers_done) struct numbers threads = threads_of(pid);
        bool some = false;
        cpu_set_t now;

        for (int i = 0; i < threads.n; i++)
                if (sched_getaffinity(number(&threads, i), sizeof(now), &now) == 0 && !CPU_EQUAL(&now, cpus))
                        some |= sched_setaffinity(number(&threads, i), sizeof(*cpus), cpus) == 0;
        return some;
}

void tree_bind(bool inside, const cpu_set_t *cpus)
{
        bool some = true;

        for (int i = 0; i < 50 && some; i++) {
                cleanup(list_done) struct list l;

                list_read(inside, &l);
                some = false;
                for (size_t k = 0; k < l.n; k++)
                        if (is_alive(&l.items[k]))
                                some |= bind_threads(l.items[k].pid, cpus);
        }
}

uint64_t tree_tasks_of(uid_t uid)
{
        cleanup(numbers_done) struct numbers pids = numbers_in("/proc");
        uint64_t tasks = 0;

        for (int i = 0; i < pids.n; i++) {
                struct process p = {0};
                struct stat st;
                char path[32];

                snprintf(path, sizeof(path), "/proc/%d", (int)number(&pids, i));
                if (stat(path, &st) == 0 && st.st_uid == uid && read_stat(number(&pids, i), &p))
                        tasks += p.threads;
        }
        return tasks;
}

/* -- waiting -- */

bool waiting_read(pid_t thread, uint64_t *ret_ns)
{
        unsigned long long ran, waited;
        char text[128];

        if (process_text(thread, "schedstat", text, sizeof(text)) <= 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2)
                return false;
        *ret_ns = waited;
        return true;
}

static struct waiting_thread *find_noted(struct waiting *w, pid_t id)
{
        for (size_t i = 0; i < w->n; i++)
                if (w->threads[i].id == id)
                        return &w->threads[i];
        return NULL;
}

static void note(struct waiting *w, pid_t id, uint64_t ns)
{
        struct waiting_thread *noted = find_noted(w, id), *grown;

        if (noted) {
                if (ns < noted->ns) /* another thread with the same id */
                        w->gone += noted->ns;
                noted->ns = ns;
                return;
        }
        w->seen++;
        if ((w->n & (w->n - 1)) == 0) { /* full: room doubles at 0, 1, 2, 4, … */
                grown = realloc(w->threads, MAX(2 * w->n, (size_t)1) * sizeof(*grown));
                if (!grown)
                        return;
                w->threads = grown;
        }
        w->threads[w->n++] = (struct waiting_thread){.id = id, .ns = ns};
}

void waiting_look(struct waiting *w, pid_t process, uint64_t threads)
{
        cleanup(numbers_done) struct numbers ids = {0};
        uint64_t ns;

        if (threads > 1)
                ids = threads_of(process);
        for (int i = 0; i < ids.n || (threads <= 1 && i == 0); i++) {
                const pid_t id = threads > 1 ? number(&ids, i) : process;

                if (waiting_read(id, &ns))
                        note(w, id, ns);
        }
}

void waiting_end(struct waiting *w, pid_t process)
{
        struct waiting_thread *noted;

        waiting_look(w, process, 1);
        noted = find_noted(w, process);
        if (noted) {
                w->gone += noted->ns;
                *noted = w->threads[--w->n];
        }
}

uint64_t waiting_total(const struct waiting *w)
{
        uint64_t sum = w->gone;

        for (size_t i = 0; i < w->n; i++)
                sum += w->threads[i].ns;
        return sum > w->before ? sum - w->before : 0;
}

bool waiting_cores(const cpu_set_t *cpus, uint64_t *ret_busy, uint64_t *ret_steal)
{
        cleanup_file FILE *f = fopen("/proc/stat", "re");
        uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
        char line[512];

        *ret_busy = *ret_steal = 0;
        while (f && fgets(line, sizeof(line), f)) {
                unsigned long long user, nice, system, idle, io, irq, soft, steal;
                int core;

                if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &core, &user, &nice, &system, &idle, &io, &irq,
                           &soft, &steal) == 9) {
                        if (core < 0 || core >= CPU_SETSIZE || (cpus && !CPU_ISSET(core, cpus)))
                                continue;
                        *ret_busy += (user + nice + system + irq + soft) * tick;
                        *ret_steal += steal * tick;
                } else if (strncmp(line, "cpu", 3) != 0) {
                        break; /* those lines come first */
                }
        }
        return f != NULL;
}

/* -- folders -- */

static uint64_t usage_at(int parent, const char *name, uint64_t most, unsigned depth)
{
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int fd = openat(parent, name,
                        flags | O_NOATIME); /* allowed to the owner and root only; keeps our look invisible */
        uint64_t sum = 0;
        struct dirent *e;
        DIR *d;

        if (fd < 0 && errno == EPERM)
                fd = openat(parent, name, flags);
        if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0) /* nothing may hide from the count */
                fd = openat(parent, name, flags);
        d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                if (fd >= 0)
                        close(fd);
                return 0;
        }
        while (sum <= most && (e = readdir(d))) {
                uint64_t blocks;
                struct stat st;

                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                blocks = (uint64_t)st.st_blocks * 512;
                sum += blocks > 4096 ? blocks : 4096;
                if (S_ISDIR(st.st_mode) && sum <= most) /* a depth that can only be meant to hide something: too much */
                        sum += depth < 200 ? usage_at(fd, e->d_name, most - sum, depth + 1) : most;
        }
        closedir(d);
        return sum;
}

uint64_t folder_usage(const char *path, uint64_t most)
{
        return usage_at(AT_FDCWD, path, most, 0);
}
