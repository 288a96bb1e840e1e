#include "cache/base/process.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/util.h"

int process_each(bool (*fn)(void *user, pid_t pid), void *user)
{
        cleanup_dir DIR *d = opendir("/proc");
        bool more = true;

        if (!d)
                return -errno;
        for (struct dirent *e; more && (e = readdir(d));) {
                pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: not a process */

                more = pid <= 0 || fn(user, pid);
        }
        return 0;
}

ssize_t process_text(pid_t pid, const char *name, char *ret, size_t size)
{
        cleanup_close int fd = -1;
        char path[64];
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = fd < 0 ? -1 : read(fd, ret, size - 1);
        if (n < 0)
                return -errno;
        ret[n] = '\0';
        return n;
}

void process_ending_signals(sigset_t *ret)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
        struct sigaction now;

        sigemptyset(ret);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                if (sigaction(signals[i], NULL, &now) < 0 || now.sa_handler != SIG_IGN)
                        sigaddset(ret, signals[i]);
}

uint32_t process_namespace(void)
{
        struct stat st;

        return stat("/proc/self/ns/pid", &st) == 0 ? (uint32_t)st.st_ino : 0;
}
