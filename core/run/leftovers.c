#include "core/run/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cache/base/lock.h"

int scratch_make(const char *parent, char ret[PATH_SIZE])
{
        char name[64];
        int r;

        snprintf(name, sizeof(name), "run-%d-XXXXXX", (int)getpid());
        r = path_join(ret, parent, name);
        if (r < 0)
                return r;
        if (!mkdtemp(ret))
                return errorf(-errno, "cannot make a scratch folder in %s: %s", parent, strerror(errno));
        return 0;
}

/* True if the process has ended. A lock without a name proves nothing: whoever cleans a temporary folder deletes the lock of a process that lives. */
static bool is_dead(const char *engines, const char *owner)
{
        cleanup_free char *lock = format_string("%s/%s", engines, owner);
        bool has_name = access(lock, F_OK) == 0;

        return !lock_is_held(engines, owner) && (has_name || (kill(atoi(owner), 0) < 0 && errno == ESRCH));
}

bool scratch_is_left(const char *store_dir, const char *name)
{
        cleanup_free char *engines = format_string("%s/engines", store_dir);
        char owner[16];

        /* so is a folder that no engine owns: nothing else would delete it */
        return sscanf(name, "run-%15[0-9]-", owner) != 1 || is_dead(engines, owner);
}

/* -- each kind -------------------------------------------------------------------------------------------------- */

static void sweep_each(const char *store_dir, const char *folder, void (*fn)(const char *store_dir, const char *dir, const char *name))
{
        cleanup_free char *dir = format_string("%s/%s", store_dir, folder);
        cleanup_dir DIR *d = opendir(dir);
        struct dirent *e;

        while (d && (e = readdir(d)))
                if (e->d_name[0] != '.')
                        fn(store_dir, dir, e->d_name);
}

#define DYING_TRIES 25 /* a killed process may write for a moment longer than its solverfs lives */
#define DYING_NS    (20 * NSEC_PER_MSEC)

static void remove_left(const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        int r = remove_tree(path);

        for (unsigned i = 0; r == -ENOTEMPTY && i < DYING_TRIES; i++) {
                nanosleep(&(struct timespec){.tv_nsec = (long)DYING_NS}, NULL);
                r = remove_tree(path);
        }
        if (r < 0)
                log_warning("leftovers of a killed process stay until the next start: %s", error_message(r));
}

static void sweep_scratch(const char *store_dir, const char *dir, const char *name)
{
        if (scratch_is_left(store_dir, name))
                remove_left(dir, name);
}

/* Deletes a file that exists only for the lock on it. */
static void sweep_lock(const char *store_dir, const char *dir, const char *name)
{
        int fd;

        if (!lock_is_held(dir, name) && lock_try(dir, name, LOCK_ALONE, &fd) == 0)
                lock_release_unlink(dir, name, fd);
}

static void sweep_engine(const char *store_dir, const char *dir, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", dir, name);
        char owner[16];
        int n = 0;

        if (sscanf(name, "%15[0-9]%n", owner, &n) != 1 || !is_dead(dir, owner))
                return;
        if (name[n] == '\0')
                sweep_lock(store_dir, dir, name);
        else
                unlink(path); /* .json, .new */
}

/* -- worktrees: <n>.scratch and <n>.old, which the next build there would remove, if there ever is one ------------- */

static void sweep_worktree(const char *store_dir, const char *dir, const char *name)
{
        cleanup_close int fd = -1;
        char lock[32];
        unsigned number;
        int n = 0;

        if (!isdigit((unsigned char)name[0]) || sscanf(name, "%u.%n", &number, &n) != 1 || n == 0 ||
            (strcmp(name + n, "scratch") != 0 && strcmp(name + n, "old") != 0))
                return;
        snprintf(lock, sizeof(lock), "%u.lock", number);
        if (lock_try(dir, lock, LOCK_ALONE, &fd) < 0)
                return;
        remove_left(dir, name);
        lock_drop(fd);
}

static void sweep_repository(const char *store_dir, const char *dir, const char *name)
{
        cleanup_free char *folder = format_string("work/%s", name);

        sweep_each(store_dir, folder, sweep_worktree);
}

void leftovers_sweep(const char *store_dir)
{
        sweep_each(store_dir, "scratch", sweep_scratch);
        sweep_each(store_dir, "work", sweep_repository);
        sweep_each(store_dir, "claims", sweep_lock);
        sweep_each(store_dir, "building", sweep_lock);
        sweep_each(store_dir, "mounts", sweep_lock);
        sweep_each(store_dir, "engines", sweep_engine);
}

static void sweep_own(const char *store_dir, const char *dir, const char *name)
{
        int owner;

        if (sscanf(name, "run-%d-", &owner) == 1 && owner == getpid())
                remove_left(dir, name);
}

int leftovers_own(const char *store_dir, int *ret_fd)
{
        cleanup_free char *engines = format_string("%s/engines", store_dir);
        char pid[16];
        int r;

        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        if (lock_try(engines, pid, LOCK_ALONE, ret_fd) < 0) /* an engine of this process has it, or a sweep of another */
                return lock_wait(engines, pid, LOCK_SHARED, ret_fd);
        sweep_each(store_dir, "scratch", sweep_own);
        r = lock_share(*ret_fd);
        if (r < 0)
                closep(ret_fd);
        return r;
}
