#include "core/build/live_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "cache/base/fault.h"
#include "cache/base/lock.h"

#define FOLDER "building"

/* A sweep of leftovers may lock the new file before us. If another process builds the same, these tries are in vain. */
#define TAKE_TRIES 20
#define TAKE_NS    NSEC_PER_MSEC

/* No more output is written. */
static void stop(struct live_log *l, int r)
{
        log_warning("the output of a build cannot be shown while it builds: %s", strerror(-r));
        l->left = 0;
}

static int write_piece(struct live_log *l, const void *text, size_t size)
{
        return fault_at("build.live") ?: write_all(l->fd, text, size);
}

static void hear(void *user, struct slice text)
{
        struct live_log *l = user;
        size_t n = MIN(text.size, l->left);
        int r;

        if (l->fd < 0 || l->left == 0)
                return;
        l->left -= n;
        r = write_piece(l, text.data, n);
        if (r == 0 && l->left == 0)
                r = write_piece(l, LIVE_LOG_REST, strlen(LIVE_LOG_REST));
        if (r < 0)
                stop(l, r);
}

static int lock_file(struct live_log *l)
{
        int r = lock_try(l->dir, l->name, LOCK_ALONE, &l->fd);

        for (unsigned i = 0; r == -EAGAIN && i < TAKE_TRIES; i++) {
                nanosleep(&(struct timespec){.tv_nsec = (long)TAKE_NS}, NULL);
                r = lock_try(l->dir, l->name, LOCK_ALONE, &l->fd);
        }
        return r;
}

/* Locks a new file: readers of a killed process's file must not find the new text in it. */
static int lock_new_file(struct live_log *l)
{
        struct stat st;
        int r = lock_file(l);

        if (r == 0 && fstat(l->fd, &st) == 0 && st.st_size > 0) {
                lock_release_unlink(l->dir, l->name, steal_fd(&l->fd));
                r = lock_file(l);
        }
        return r;
}

void live_log_begin(struct live_log *l, const char *store_dir, const struct digest *build)
{
        int r;

        *l = (struct live_log){.listener = {.hear = hear, .user = l}, .fd = -1, .left = LIVE_LOG_MOST};
        digest_hex(build, l->name);
        l->dir = format_string("%s/" FOLDER, store_dir);
        r = make_dirs(l->dir, 0700) ?: lock_new_file(l);
        if (r < 0 && r != -EAGAIN)
                stop(l, r);
}

void live_log_say_lost(struct live_log *l, const char *why)
{
        cleanup_buffer struct buffer b = {0};

        buffer_addf(&b, "\n[... this build ended without a result: %s ...]\n", why);
        if (l->fd >= 0)
                write_piece(l, b.data, b.size);
}

void live_log_end(struct live_log *l)
{
        if (l->fd >= 0)
                lock_release_unlink(l->dir, l->name, steal_fd(&l->fd));
        free(steal_pointer(l->dir));
}

bool live_log_is_growing(int fd)
{
        struct stat st;

        return fstat(fd, &st) == 0 && st.st_nlink > 0 && lock_is_held_fd(fd);
}

int live_log_open(const char *store_dir, const struct digest *build, int *ret_fd)
{
        cleanup_free char *path = format_string("%s/" FOLDER "/%s", store_dir, digest_text(build).s);
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);

        if (fd < 0)
                return -errno;
        if (!live_log_is_growing(fd))
                return -ENOENT;
        *ret_fd = steal_fd(&fd);
        return 0;
}
