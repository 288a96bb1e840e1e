#include "core/query/program_digest.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#define MEMORY 64 /* programs remembered; one more takes the place of the oldest */

/* Tells one state of a file from another. */
struct file_state {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec modified, changed;
};

static struct {
        pthread_mutex_t lock;
        struct remembered {
                struct file_state state;
                struct digest digest;
        } list[MEMORY]; /* under lock */
        size_t n;       /* ever remembered; under lock */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool times_are_equal(struct timespec a, struct timespec b)
{
        return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool states_are_equal(const struct file_state *a, const struct file_state *b)
{
        return a->device == b->device && a->inode == b->inode && a->size == b->size &&
               times_are_equal(a->modified, b->modified) && times_are_equal(a->changed, b->changed);
}

static bool recall(const struct file_state *state, struct digest *ret)
{
        bool found = false;

        pthread_mutex_lock(&memory.lock);
        for (size_t i = 0; i < MIN(memory.n, (size_t)MEMORY) && !found; i++) {
                found = states_are_equal(&memory.list[i].state, state);
                if (found)
                        *ret = memory.list[i].digest;
        }
        pthread_mutex_unlock(&memory.lock);
        return found;
}

static void remember(const struct file_state *state, const struct digest *digest)
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec - state->changed.tv_sec < 2)
                return;
        pthread_mutex_lock(&memory.lock);
        memory.list[memory.n++ % MEMORY] = (struct remembered){*state, *digest};
        pthread_mutex_unlock(&memory.lock);
}

int program_digest(const char *path, struct digest *ret)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        struct file_state state;
        struct stat st;
        uint64_t size;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return errorf(-errno, "cannot open the program %s: %s", path, strerror(errno));
        if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
                return errorf(-EINVAL, "%s is not a program", path);
        state = (struct file_state){st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim};
        if (recall(&state, ret))
                return 0;
        r = digest_of_fd(fd, ret, &size);
        if (r < 0)
                return errorf(r, "cannot read the program %s: %s", path, strerror(-r));
        remember(&state, ret);
        return 0;
}
