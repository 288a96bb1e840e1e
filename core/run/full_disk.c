#include "core/run/full_disk.h"

#include <sys/statvfs.h>

#define DISK_FULL (UINT64_C(16) << 20)

/* True if an output has the error's text. */
static bool say(const struct slice *outputs, size_t n, int error)
{
        const char *words = strerrordesc_np(error); /* untranslated, as in a sandbox */

        for (size_t i = 0; i < n; i++)
                if (outputs[i].size > 0 && memmem(outputs[i].data, outputs[i].size, words, strlen(words)))
                        return true;
        return false;
}

/* EDQUOT among the words is a quota. ENOSPC may be of another file system, unless this one has less left than was allowed, or no free inode. */
int full_disk_check(const char *folder, const char *what, const struct slice *outputs, size_t n, uint64_t most)
{
        struct statvfs s;
        const bool known = statvfs(folder, &s) == 0, no_files = known && s.f_files > 0 && s.f_favail == 0;
        const uint64_t left = known ? (uint64_t)s.f_bavail * s.f_frsize : UINT64_MAX;

        if (left >= DISK_FULL && !say(outputs, n, EDQUOT) && !((left < most || no_files) && say(outputs, n, ENOSPC)))
                return 0;
        return errorf(-ENOSPC, "the disk of %s is full: %s could not finish", folder, what);
}
