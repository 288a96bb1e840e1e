#include "core/run/exec_tree.h"
#include "core/run/exec_waiting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/base/util.h"

struct process {
        pid_t pid, parent;
        pid_t thread; /* one that lives, and by which its memory is found */
        char state;
        bool ours;
        uint64_t ticks, threads, space, resident; /* resident in pages */
};

struct list {
        struct process *items; /* malloc'd */
        size_t n, capacity;
};

/* -- /proc -- */

static ssize_t read_small(int dir, const char *name, char *text, size_t size)
{
        int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        text[0] = '\0';
        if (fd < 0)
                return -1;
        n = read(fd, text, size - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        return n;
}

/* proc(5), /proc/[pid]/stat. The name in parentheses may hold anything, so reading starts behind the last ')'. */
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

/* A process whose first thread has ended is shown as a zombie without memory, although the others go on. */
static bool is_headless(const struct process *p)
{
        return p->state == 'Z' && p->threads > 1;
}

static void find_thread(struct process *p)
{
        struct process thread = {0};
        char name[64], text[1024];
        struct dirent *e;
        DIR *d;

        snprintf(name, sizeof(name), "/proc/%d/task", (int)p->pid);
        d = opendir(name);
        while (d && p->resident == 0 && (e = readdir(d))) {
                snprintf(name, sizeof(name), "%.20s/stat", e->d_name);
                if (e->d_name[0] == '.' || read_small(dirfd(d), name, text, sizeof(text)) <= 0 || !parse_stat(text, &thread))
                        continue;
                p->thread = thread.pid;
                p->space = thread.space;
                p->resident = thread.resident;
        }
        if (d)
                closedir(d);
}

static int list_add(struct list *l, const struct process *p)
{
        if (l->n == l->capacity) {
                size_t capacity = l->capacity ? 2 * l->capacity : 64;
                struct process *items = realloc(l->items, capacity * sizeof(*items));

                if (!items)
                        return -ENOMEM;
                l->items = items;
                l->capacity = capacity;
        }
        l->items[l->n++] = *p;
        return 0;
}

/* Marks our descendants: a child may stand before its parent, so until nothing changes. */
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

static int list_read(bool inside, struct list *ret)
{
        DIR *d = opendir("/proc");
        struct list l = {0};
        struct dirent *e;
        int r = 0;

        if (!d)
                return -errno;
        while (r == 0 && (e = readdir(d))) {
                char name[sizeof(e->d_name) + 8], text[1024];
                struct process p = {.ours = inside};

                if (e->d_name[0] < '0' || e->d_name[0] > '9')
                        continue;
                snprintf(name, sizeof(name), "%s/stat", e->d_name);
                if (read_small(dirfd(d), name, text, sizeof(text)) > 0 && parse_stat(text, &p) && p.pid != getpid())
                        r = list_add(&l, &p);
        }
        closedir(d);
        if (r < 0) {
                free(l.items);
                return r;
        }
        if (!inside)
                mark_descendants(&l);
        for (size_t i = 0; i < l.n; i++)
                if (l.items[i].ours && is_headless(&l.items[i]))
                        find_thread(&l.items[i]);
        *ret = l;
        return 0;
}

static bool is_alive(const struct process *p)
{
        return p->ours && ((p->state != 'Z' && p->state != 'X') || is_headless(p));
}

/* -- what is asked of it -- */

/* Pages that are a file's or shared memory's; a fork's children have them in common with it. */
static uint64_t shared_pages(pid_t pid)
{
        char name[32], text[256];
        unsigned long long size, resident, shared;

        snprintf(name, sizeof(name), "/proc/%d/statm", (int)pid);
        if (read_small(AT_FDCWD, name, text, sizeof(text)) <= 0 || sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3)
                return 0;
        return shared;
}

int tree_read(bool inside, struct tree *ret, struct waiting *w)
{
        static long page, tick;
        uint64_t pages = 0, most_shared = 0;
        struct tree t = {0};
        struct list l;
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
                uint64_t shared = 0;

                if (!p->ours)
                        continue;
                t.cpu_ns += p->ticks * (1000000000u / (uint64_t)tick);
                if (!is_alive(p))
                        continue;
                t.threads += p->threads;
                if (w)
                        waiting_look(w, p->pid, p->threads);
                if (t.largest_space < p->space)
                        t.largest_space = p->space;
                if (t.n > 1)
                        shared = shared_pages(p->thread);
                if (shared > p->resident)
                        shared = p->resident;
                pages += p->resident - shared;
                if (most_shared < shared)
                        most_shared = shared;
        }
        free(l.items);
        t.memory = (pages + most_shared) * (uint64_t)page;
        *ret = t;
        return 0;
}

/* The fair shares of what is still alive. -EACCES: the kernel does not tell. */
static int read_fair_memory(bool inside, uint64_t *ret)
{
        struct list l = {0};
        int r = list_read(inside, &l);

        *ret = 0;
        for (size_t i = 0; r >= 0 && i < l.n; i++) {
                char name[48], text[2048];
                const char *pss;

                if (!is_alive(&l.items[i]))
                        continue;
                snprintf(name, sizeof(name), "/proc/%d/smaps_rollup", (int)l.items[i].thread);
                if (read_small(AT_FDCWD, name, text, sizeof(text)) < 0 && (errno == EACCES || errno == EPERM))
                        r = -EACCES;
                pss = strstr(text, "\nPss:");
                if (pss) /* else it has gone meanwhile */
                        *ret += strtoull(pss + 5, NULL, 10) * 1024;
        }
        free(l.items);
        return r;
}

uint64_t tree_checked_memory(bool inside, const struct tree *t, uint64_t limit)
{
        uint64_t memory = t->memory, fair;

        /* More than once, as the shares grow when one ends while they are read. */
        for (int i = 0; i < 3 && t->n > 1 && memory > limit; i++)
                if (read_fair_memory(inside, &fair) >= 0)
                        memory = MIN(memory, fair);
        return memory;
}

static bool signal_all(int sig)
{
        bool some = false;
        struct list l;

        if (list_read(false, &l) < 0)
                return false;
        for (size_t i = 0; i < l.n; i++) {
                const struct process *p = &l.items[i];

                if (is_alive(p) && !(sig == SIGSTOP && (p->state == 'T' || p->state == 't')) && kill(p->pid, sig) == 0)
                        some = true;
        }
        free(l.items);
        return some;
}

bool tree_kill(bool inside)
{
        if (inside) /* one pass over all tasks under the kernel's lock: no fork escapes it */
                return kill(-1, SIGKILL) == 0;
        for (int i = 0; i < 50 && signal_all(SIGSTOP); i++) /* what is stopped cannot fork any more */
                ;
        return signal_all(SIGKILL);
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

void tree_continue(bool inside)
{
        if (inside)
                kill(-1, SIGCONT);
        else
                signal_all(SIGCONT);
}

bool tree_goes_on(bool inside)
{
        bool some = false;
        struct list l;

        if (list_read(inside, &l) < 0)
                return false;
        for (size_t i = 0; i < l.n; i++)
                some |= is_alive(&l.items[i]) && l.items[i].state != 'T' && l.items[i].state != 't';
        free(l.items);
        return some;
}

/* A thread that it starts while we look is on the old cores, and is met at the next look. */
static bool bind_threads(pid_t pid, const cpu_set_t *cpus)
{
        bool some = false;
        struct dirent *e;
        char path[32];
        DIR *d;

        snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
        d = opendir(path);
        while (d && (e = readdir(d))) {
                pid_t thread = (pid_t)atoi(e->d_name);
                cpu_set_t now;

                if (thread > 0 && sched_getaffinity(thread, sizeof(now), &now) == 0 && !CPU_EQUAL(&now, cpus))
                        some |= sched_setaffinity(thread, sizeof(*cpus), cpus) == 0;
        }
        if (d)
                closedir(d);
        return some;
}

void tree_bind(bool inside, const cpu_set_t *cpus)
{
        bool some = true;

        for (int i = 0; i < 50 && some; i++) {
                struct list l;

                if (list_read(inside, &l) < 0)
                        return;
                some = false;
                for (size_t k = 0; k < l.n; k++)
                        if (is_alive(&l.items[k]))
                                some |= bind_threads(l.items[k].pid, cpus);
                free(l.items);
        }
}

uint64_t tree_tasks_of(uid_t uid)
{
        DIR *d = opendir("/proc");
        uint64_t tasks = 0;
        struct dirent *e;

        while (d && (e = readdir(d))) {
                char name[sizeof(e->d_name) + 8], text[1024];
                struct process p = {0};
                struct stat st;

                if (e->d_name[0] < '0' || e->d_name[0] > '9' || fstatat(dirfd(d), e->d_name, &st, 0) < 0 || st.st_uid != uid)
                        continue;
                snprintf(name, sizeof(name), "%s/stat", e->d_name);
                if (read_small(dirfd(d), name, text, sizeof(text)) > 0 && parse_stat(text, &p))
                        tasks += p.threads;
        }
        if (d)
                closedir(d);
        return tasks;
}

/* -- folders -- */

static uint64_t usage_at(int parent, const char *name, uint64_t most, unsigned depth)
{
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        int fd = openat(parent, name,
                        flags | O_NOATIME); /* which is its owner's, or root's: that nobody sees that we have looked */
        uint64_t sum = 0;
        struct dirent *e;
        DIR *d;

        if (fd < 0 && errno == EPERM)
                fd = openat(parent, name, flags);
        if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0) /* no hiding from the count */
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
                if (S_ISDIR(st.st_mode) && sum <= most) /* so deep that it can only be meant to hide something: too much */
                        sum += depth < 200 ? usage_at(fd, e->d_name, most - sum, depth + 1) : most;
        }
        closedir(d);
        return sum;
}

uint64_t folder_usage(const char *path, uint64_t most)
{
        return usage_at(AT_FDCWD, path, most, 0);
}
