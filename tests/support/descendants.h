/* The processes below one, zombies included. One look at each process of the machine, as tests look until none is left. */
#pragma once

#include <dirent.h>
#include <fcntl.h>

#include "tests/support/test.h"

struct descendant {
        pid_t pid, parent;
        char name[64];
        bool is_below; /* the one asked for */
};

static inline bool descendant_read(const char *pid, struct descendant *ret)
{
        char path[64], text[1024];
        char *name, *after;
        ssize_t n;
        int fd;

        snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
        fd = *pid >= '1' && *pid <= '9' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd < 0)
                return false;
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
        if (n <= 0)
                return false; /* it has gone */
        text[n] = '\0';
        name = strchr(text, '(') + 1;
        after = strrchr(text, ')');
        *ret = (struct descendant){.pid = atoi(pid), .parent = atoi(after + 4)};
        snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(after - name), name);
        return true;
}

/* free(*ret) */
static inline size_t descendants(pid_t from, struct descendant **ret)
{
        DIR *d = opendir("/proc");
        struct descendant one, *all = NULL;
        size_t n_all = 0, n = 0;
        struct dirent *e;

        ck_assert_ptr_nonnull(d);
        while ((e = readdir(d)))
                if (descendant_read(e->d_name, &one))
                        list_add(all, n_all, one);
        closedir(d);
        for (bool is_more = true; is_more;) { /* once for each generation */
                is_more = false;
                for (size_t i = 0; i < n_all; i++) {
                        bool is_below = all[i].is_below || all[i].parent == from;

                        for (size_t k = 0; k < n_all && !is_below; k++)
                                is_below = all[k].is_below && all[k].pid == all[i].parent;
                        is_more |= is_below && !all[i].is_below;
                        all[i].is_below = is_below;
                }
        }
        for (size_t i = 0; i < n_all; i++)
                if (all[i].is_below)
                        all[n++] = all[i];
        *ret = all;
        return n;
}
