#include "core/run/exec_waiting.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool waiting_read(int dir, const char *path, uint64_t *ret_ns)
{
        int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
        unsigned long long ran, waited;
        char text[128];
        ssize_t n;

        if (fd < 0)
                return false;
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        if (sscanf(text, "%llu %llu", &ran, &waited) != 2)
                return false;
        *ret_ns = waited;
        return true;
}

static void note(struct waiting *w, pid_t id, uint64_t ns)
{
        struct waiting_thread *grown;

        for (size_t i = 0; i < w->n; i++) {
                if (w->threads[i].id != id)
                        continue;
                if (ns < w->threads[i].ns) /* another one of that number */
                        w->gone += w->threads[i].ns;
                w->threads[i].ns = ns;
                return;
        }
        if ((w->n & (w->n - 1)) == 0) {
                grown = realloc(w->threads, (w->n ? 2 * w->n : 1) * sizeof(*grown));
                if (!grown)
                        return;
                w->threads = grown;
        }
        w->threads[w->n++] = (struct waiting_thread){.id = id, .ns = ns};
}

void waiting_look(struct waiting *w, pid_t process, uint64_t threads)
{
        struct dirent *e;
        char path[64];
        uint64_t ns;
        DIR *d;

        if (threads <= 1) {
                snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)process);
                if (waiting_read(AT_FDCWD, path, &ns))
                        note(w, process, ns);
                return;
        }
        snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
        d = opendir(path);
        while (d && (e = readdir(d))) {
                char name[sizeof(e->d_name) + 16];

                snprintf(name, sizeof(name), "%s/schedstat", e->d_name);
                if (e->d_name[0] != '.' && waiting_read(dirfd(d), name, &ns))
                        note(w, (pid_t)atoi(e->d_name), ns);
        }
        if (d)
                closedir(d);
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
        FILE *f = fopen("/proc/stat", "re");
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
                        break; /* they come first */
                }
        }
        if (f)
                fclose(f);
        return f != NULL;
}
