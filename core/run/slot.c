#include "core/run/slot.h"

#include <poll.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "core/run/host.h"

#define MACHINE_FOLDER "/run/lock/solverfs"
#define ROOT_FOLDER    "/run/solverfs/slots"
#define LOOK_MS        10 /* a lock of another process cannot be waited for together with a cancel */

/* -- where -- */

/* The folder is open to all users: the files in it are only ever locked. */
static int use_folder(const char *path)
{
        struct stat st;

        if (mkdir(path, 0700) == 0 && chmod(path, 01777) < 0) /* whatever our umask */
                return -errno;
        if (lstat(path, &st) < 0)
                return -errno;
        if (!S_ISDIR(st.st_mode))
                return -ENOTDIR;
        return access(path, W_OK | X_OK) < 0 ? -errno : 0;
}

static int use_below(const char *parent, const char *path)
{
        int r = make_dirs(parent, 0755);

        return r < 0 ? r : use_folder(path);
}

static int use_given(const char *given, char ret[PATH_SIZE])
{
        int r = given[0] == '/' ? 0 : -EINVAL;

        if (r == 0 && snprintf(ret, PATH_SIZE, "%s", given) >= PATH_SIZE)
                r = -ENAMETOOLONG;
        if (r == 0 && access(ret, F_OK) < 0) {
                char parent[PATH_SIZE];

                snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(ret, '/') - ret), ret);
                if (parent[0] != '\0')
                        r = make_dirs(parent, 0755);
        }
        if (r == 0)
                r = use_folder(ret);
        return r < 0 ? errorf(r, "$SOLVERFS_SLOTS is '%s', which is no absolute path of a folder that can be written: %s", given,
                              strerror(-r))
                     : 0;
}

static bool use_runtime(char ret[PATH_SIZE])
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char parent[PATH_SIZE];

        return runtime && runtime[0] == '/' && access(runtime, W_OK | X_OK) == 0 && path_join(parent, runtime, "solverfs") == 0 &&
               path_join(ret, parent, "slots") == 0 && use_below(parent, ret) == 0;
}

int slot_folder(const char *own, char ret[PATH_SIZE], const char **ret_why)
{
        const char *given = getenv("SOLVERFS_SLOTS"), *why = "shared by all who name it so";
        int r = 0;

        if (given) {
                r = use_given(given, ret);
        } else if (use_folder(MACHINE_FOLDER) == 0) {
                snprintf(ret, PATH_SIZE, "%s", MACHINE_FOLDER);
                why = "shared by all stores and users of this machine";
        } else if (geteuid() == 0 && use_below("/run/solverfs", ROOT_FOLDER) == 0) {
                snprintf(ret, PATH_SIZE, "%s", ROOT_FOLDER);
                why = "shared by all of root's stores only, as " MACHINE_FOLDER " cannot be used";
        } else if (use_runtime(ret)) {
                why = "shared by all of this user's stores only, as " MACHINE_FOLDER " cannot be used";
        } else if (own) {
                r = snprintf(ret, PATH_SIZE, "%s", own) < PATH_SIZE ? 0 : -ENAMETOOLONG;
                why = "this store's only, as neither " MACHINE_FOLDER " nor $XDG_RUNTIME_DIR can be used";
        } else {
                r = errorf(-ENOENT,
                           "there is no folder for slots: neither " MACHINE_FOLDER " nor $XDG_RUNTIME_DIR can be used; set "
                           "$SOLVERFS_SLOTS");
        }
        if (ret_why)
                *ret_why = why;
        return r;
}

/* -- locks -- */

int slot_try(const char *folder, int cpu, int *ret_lock)
{
        char name[32];

        snprintf(name, sizeof(name), "cpu%d", cpu);
        return lock_try_public(folder, name, false, ret_lock);
}

int slot_urge(const char *folder, int *ret_lock)
{
        return lock_try_public(folder, "urgent", true, ret_lock);
}

bool slot_is_urgent(const char *folder)
{
        return lock_is_held(folder, "urgent");
}

/* -- leases -- */

static int try_all(struct slot *s)
{
        int cpus[CPU_SETSIZE];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        int r = -EAGAIN;

        for (size_t i = 0; i < n && r == -EAGAIN; i++) {
                r = slot_try(s->folder, cpus[i], &s->lock);
                s->cpu = cpus[i];
        }
        return r;
}

int slot_lease(const char *own_folder, int cancel_fd, struct slot *ret)
{
        struct slot s = {.lock = -1};
        int r = slot_folder(own_folder, s.folder, NULL);

        while (r == 0) {
                struct pollfd cancel = {.fd = cancel_fd, .events = POLLIN};

                r = slot_is_urgent(s.folder) ? -EAGAIN : try_all(&s);
                if (r != -EAGAIN)
                        break;
                r = poll(&cancel, 1, LOOK_MS) > 0 ? errorf(-ECANCELED, "cancelled") : 0;
        }
        if (r == 0 && s.lock >= 0) {
                CPU_ZERO(&s.cpus);
                CPU_SET((size_t)s.cpu, &s.cpus);
                *ret = s;
        }
        return r;
}

void slot_release(struct slot *s)
{
        closep(&s->lock);
}

bool slot_is_wanted(const struct slot *s)
{
        return slot_is_urgent(s->folder);
}
