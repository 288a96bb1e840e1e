#include "cache/base/process.h"

#include "cache/base/util.h"

int process_each(bool (*fn)(void *user, pid_t pid), void *user)
{
        cleanup_dir DIR *d = opendir("/proc");
        bool more = true;

        if (!d)
                return -errno;
        for (struct dirent *e; more && (e = readdir(d));) {
                pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0: of another name */

                more = pid <= 0 || fn(user, pid);
        }
        return 0;
}
