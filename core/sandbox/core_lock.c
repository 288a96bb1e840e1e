#include "core/sandbox/core_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int set_lock(int fd, enum core_lock which, short type)
{
        struct flock byte = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)which, .l_len = 1};

        if (fcntl(fd, F_OFD_SETLK, &byte) == 0)
                return 0;
        return errno == EACCES ? -EAGAIN : -errno;
}

int core_lock(int fd, enum core_lock which)
{
        return set_lock(fd, which, which == CORE_MOVES ? F_RDLCK : F_WRLCK);
}

void core_unlock(int fd, enum core_lock which)
{
        set_lock(fd, which, F_UNLCK);
}

bool core_is_locked(int fd, enum core_lock which)
{
        struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)which, .l_len = 1};

        return fcntl(fd, F_OFD_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
}

/* -- notes -- */

static off_t note_offset(enum core_lock which)
{
        return which == CORE_RUN ? 0 : (off_t)sizeof(struct core_note);
}

void core_note_write(int fd, enum core_lock which, const struct core_note *n)
{
        if (pwrite(fd, n, sizeof(*n), note_offset(which)) < 0)
                (void)errno; /* a full disk: the owner is not shown */
}

bool core_note_read(int fd, enum core_lock which, struct core_note *ret)
{
        if (pread(fd, ret, sizeof(*ret), note_offset(which)) != sizeof(*ret) || ret->magic != CORE_NOTE_MAGIC)
                return false;
        ret->what[sizeof(ret->what) - 1] = '\0';
        return true;
}

void core_note_lent(int fd, uint64_t since_ns)
{
        if (core_is_locked(fd, CORE_BUILD)) /* the note is the host's */
                return;
        if (pwrite(fd, &since_ns, sizeof(since_ns), note_offset(CORE_BUILD) + (off_t)offsetof(struct core_note, lent_ns)) < 0)
                (void)errno;
}
