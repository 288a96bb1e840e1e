#include "core/sandbox/sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "cache/base/process.h"
#include "core/sandbox/exec_wire.h"

/* -- users -- */

static bool has_users;

/* "inside outside count" lines: a container that has only a few users as root may lack ours. */
static void find_users(void)
{
        cleanup_file FILE *f = fopen("/proc/self/uid_map", "re");
        unsigned long inside, outside, count;

        while (f && geteuid() == 0 && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3)
                has_users |= inside <= SANDBOX_UID_FIRST && SANDBOX_UID_LAST < inside + count;
}

bool sandbox_has_users(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, find_users);
        return has_users;
}

#define LEASES "/run/solverfs" /* not below /run/lock, where any user may create it first */

struct user_search {
        uid_t uid;
        bool found;
        int error; /* why a process could not be looked at */
};

/* Compares real, effective, saved and file system ids. */
static bool look_for_user(void *user, pid_t pid)
{
        struct user_search *search = user;
        char text[8192];
        ssize_t n = process_text(pid, "status", text, sizeof(text));
        const char *uids = n > 0 ? strstr(text, "\nUid:") : NULL;
        unsigned ids[4];

        if (n == -EMFILE || n == -ENFILE || n == -ENOMEM)
                search->error = (int)n;
        if (uids && sscanf(uids, " Uid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4)
                for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
                        search->found |= ids[i] == search->uid;
        return !search->found && search->error == 0;
}

/* -EAGAIN if a process of the user lives. A failed look is an error, never "gone". */
static int check_user_gone(uid_t uid)
{
        struct user_search search = {.uid = uid};
        int r = process_each(look_for_user, &search);

        if (r == 0)
                r = search.error;
        if (search.found)
                return -EAGAIN;
        return r < 0 ? errorf(r, "cannot look at this machine's processes: %s", strerror(-r)) : 0;
}

/* The content of a lease's file: whether the user was released as empty. The file of a killed holder says "taken", and after a boot it is empty. Only
 * in these cases are all processes looked at, which would cost milliseconds for each run. One text overwrites the other in place: ext4 sends a file
 * that is truncated and rewritten to the disk at once (auto_da_alloc), half a millisecond for each run. */
#define TAKEN "taken\n"
#define EMPTY "empty\n"

static int note_lease(int lock, const char *state)
{
        return pwrite(lock, state, strlen(state), 0) < 0 ? -errno : 0;
}

static bool is_lease_empty(int lock)
{
        char state[sizeof(EMPTY)] = "";

        return pread(lock, state, sizeof(state) - 1, 0) > 0 && strcmp(state, EMPTY) == 0;
}

static int take_lease(uid_t uid, int *ret_lock)
{
        cleanup_close int lock = -1;
        char name[16];
        int r;

        snprintf(name, sizeof(name), "uid%u", (unsigned)uid);
        r = lock_try(LEASES, name, LOCK_ALONE, &lock);
        if (r < 0)
                return r;
        r = is_lease_empty(lock) ? 0 : check_user_gone(uid);
        if (r < 0)
                return r;
        r = note_lease(lock, TAKEN);
        if (r < 0)
                return errorf(r, "cannot write " LEASES "/%s: %s", name, strerror(-r));
        *ret_lock = steal_fd(&lock);
        return 0;
}

int sandbox_lease(unsigned slot, uid_t *ret_uid, int *ret_lock)
{
        const unsigned n = SANDBOX_UID_LAST - SANDBOX_UID_FIRST + 1;
        int r;

        *ret_uid = geteuid();
        *ret_lock = -1;
        if (!sandbox_has_users())
                return 0;
        r = make_dirs(LEASES, 0755);
        if (r < 0)
                return errorf(r, "cannot make " LEASES ", where root's runs lock their users: %s; make /run writable (in a container: --tmpfs /run), "
                              "or start solverfs as a user other than root", strerror(-r));
        for (unsigned i = 0; r == 0 && i < n; i++) {
                *ret_uid = SANDBOX_UID_FIRST + (slot + i) % n;
                r = take_lease(*ret_uid, ret_lock);
                if (r == 0)
                        return 0;
                if (r == -EAGAIN)
                        r = 0;
        }
        return r < 0 ? r : errorf(-EAGAIN, "all %u users for runs are taken: see " LEASES, n);
}

void sandbox_release(int lock, bool empty)
{
        if (lock < 0)
                return;
        if (empty && note_lease(lock, EMPTY) < 0)
                log_warning("cannot release a user in " LEASES ": %s", strerror(errno)); /* the next lease looks at the processes */
        close(lock);
}

/* -- ownership of files -- */

/* The wanted owner of a file (-1: unchanged) and group, and the mode bits that it must have (folders, files). */
struct owner {
        uid_t uid;
        gid_t gid;
        mode_t folder, file;
};

static int hand_one(int parent, const char *name, const struct stat *st, const struct owner *o)
{
        mode_t mode = st->st_mode | (S_ISDIR(st->st_mode) ? o->folder : o->file);

        if (((o->uid != (uid_t)-1 && st->st_uid != o->uid) || st->st_gid != o->gid) &&
            fchownat(parent, name, o->uid, o->gid, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (mode != st->st_mode && !S_ISLNK(st->st_mode) && fchmodat(parent, name, mode & 07777, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        return 0;
}

/* By descriptors and never through a link, whatever a build may have left there. */
static int hand_tree(int parent, const char *name, const struct owner *o, unsigned depth)
{
        cleanup_close int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct dirent *e;
        int r = 0;
        DIR *d;

        if (fd < 0)
                return -errno;
        if (depth > 512)
                return -ELOOP;
        d = fdopendir(fd);
        if (!d)
                return -ENOMEM;
        steal_fd(&fd);
        while (r == 0 && (e = readdir(d))) {
                struct stat st;

                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        r = -errno;
                else
                        r = hand_one(dirfd(d), e->d_name, &st, o);
                if (r == 0 && S_ISDIR(st.st_mode))
                        r = hand_tree(dirfd(d), e->d_name, o, depth + 1);
        }
        closedir(d);
        return r;
}

/* `whole`: with all that a folder holds. */
static int hand_path(const char *path, const struct owner *o, bool whole)
{
        struct stat st;
        int r;

        if (stat(path, &st) < 0)
                return errorf(-errno, "cannot bind %s into the sandbox: %s", path, strerror(errno));
        r = hand_one(AT_FDCWD, path, &st, o);
        if (r == 0 && whole && S_ISDIR(st.st_mode))
                r = hand_tree(AT_FDCWD, path, o, 0);
        if (r == 0)
                return 0;
        return errorf(r, "cannot hand %s to the sandbox's user: %s%s", path, strerror(-r),
                      r != -EPERM ? "" : "; root needs the capability CHOWN (in a container: do not drop it), or start solverfs as a user other than "
                                         "root");
}

/* A writable folder becomes the slot's user's; a shared one the group's, once; a read-only one is made readable to the group. That reveals nothing of
 * the store: nobody else is in that group. */
static int hand_bind(const struct bind *b, uid_t uid)
{
        struct stat st;

        if (b->shared) {
                bool done = stat(b->source, &st) == 0 && st.st_gid == SANDBOX_GID && (st.st_mode & 02070) == 02070;

                return hand_path(b->source, &(struct owner){.uid = (uid_t)-1, .gid = SANDBOX_GID, .folder = 02070, .file = 060},
                                 !done);
        }
        if (b->writable)
                return hand_path(b->source, &(struct owner){.uid = uid, .gid = SANDBOX_GID, .folder = 0700, .file = 0600}, true);
        if (stat(b->source, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 04) != 0)
                return 0; /* bubblewrap reports a missing one */
        return hand_path(b->source, &(struct owner){.uid = (uid_t)-1, .gid = SANDBOX_GID, .file = (st.st_mode & 0500) >> 3},
                         false);
}

int sandbox_hand_scratch(const char *path, uid_t uid)
{
        return sandbox_has_users() ? hand_bind(&(struct bind){.source = path, .writable = true}, uid) : 0;
}

int sandbox_hand_over(const struct execute_request *request, uid_t uid)
{
        int r;

        if (!sandbox_has_users())
                return 0;
        r = hand_bind(&(struct bind){.source = request->scratch, .writable = true}, uid);
        for (size_t i = 0; r == 0 && i < request->n_binds; i++)
                r = hand_bind(&request->binds[i], uid);
        return r;
}

/* -- bubblewrap's arguments -- */

#define ADD(a, ...)                                                           \
        do {                                                                  \
                const char *const add_list[] = {__VA_ARGS__};                 \
                for (size_t add_i = 0; add_i < ARRAY_SIZE(add_list); add_i++) \
                        strings_add(a, add_list[add_i]);                      \
        } while (0)

static const char *bwrap_path(void)
{
        static const char *const paths[] = {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};

        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                if (access(paths[i], X_OK) == 0)
                        return paths[i];
        return NULL;
}

/* /bin, /lib and so on: links into /usr on most systems, folders on some. */
static void add_system(char ***a)
{
        static const char *const names[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

        ADD(a, "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc");
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                char target[PATH_SIZE];
                struct stat st;
                ssize_t n;

                if (lstat(names[i], &st) < 0)
                        continue;
                if (S_ISLNK(st.st_mode) && (n = readlink(names[i], target, sizeof(target) - 1)) > 0) {
                        target[n] = '\0';
                        ADD(a, "--symlink", target, names[i]);
                } else if (S_ISDIR(st.st_mode)) {
                        ADD(a, "--ro-bind", names[i], names[i]);
                }
        }
}

static void add_shared_memory(char ***a, uint64_t most)
{
        char size[32];

        snprintf(size, sizeof(size), "%" PRIu64, most);
        ADD(a, "--perms", "1777");
        if (most > 0)
                ADD(a, "--size", size);
        ADD(a, "--tmpfs", "/dev/shm");
}

/* Adds the folders above a target: those that bubblewrap makes by itself can be entered by root only. */
static void add_parents(char ***a, const char *target)
{
        for (const char *slash = strchr(target + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                char parent[PATH_SIZE];

                if (snprintf(parent, sizeof(parent), "%.*s", (int)(slash - target), target) < (int)sizeof(parent))
                        ADD(a, "--dir", parent);
        }
}

int sandbox_arguments(const struct execute_request *request, const char *runs, const char *helper, char ***ret)
{
        const char *bwrap = bwrap_path();
        cleanup_free char *cases = format_string("%s/case", runs ?: "");
        struct stat null;
        char **a = NULL;

        if (!bwrap)
                return errorf(-ENODEV, "there is no bubblewrap (bwrap) on this machine to run programs in; install the package "
                                       "'bubblewrap', or set 'sandbox = none' in the store's config to trust every solver");
        if (stat("/dev/null", &null) == 0 && (null.st_mode & 0666) != 0666)
                return errorf(-EIO, "not every user may read and write /dev/null (mode %03o), which programs count on: chmod 666 /dev/null",
                              null.st_mode & 0777u);
        ADD(&a, bwrap, "--unshare-pid", "--as-pid-1", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--hostname", "solverfs",
            "--new-session");
        if (!runs)
                strings_add(&a, "--die-with-parent");
        if (!sandbox_has_users())
                strings_add(&a, "--unshare-user");
        add_system(&a);
        ADD(&a, "--proc", "/proc", "--dev", "/dev");
        add_shared_memory(&a, request->memory);
        /* Temporary files count as scratch, and have its limit. */
        if (runs)
                ADD(&a, "--dir", "/scratch", "--bind", runs, SANDBOX_RUNS, "--ro-bind-try", cases, "/case");
        else
                ADD(&a, "--bind", request->scratch, "/scratch");
        ADD(&a, "--symlink", "scratch", "/tmp", "--dir", "/var", "--symlink", "../scratch", "/var/tmp");
        for (size_t i = 0; i < request->n_binds; i++) {
                const struct bind *b = &request->binds[i];

                add_parents(&a, b->target);
                ADD(&a, b->writable || b->shared ? "--bind" : "--ro-bind", b->source, b->target);
        }
        ADD(&a, "--ro-bind", helper, SANDBOX_HELPER, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--",
            SANDBOX_HELPER);
        *ret = a;
        return 0;
}

/* -- orphans -- */

/* True for a bubblewrap that was to start our helper. */
static bool is_ours(pid_t pid)
{
        char line[1 << 16];
        const size_t tail = sizeof(SANDBOX_HELPER); /* with its NUL */
        ssize_t n = process_text(pid, "cmdline", line, sizeof(line));

        return n > (ssize_t)tail && memmem(line, strnlen(line, (size_t)n), "bwrap", 5) &&
               memcmp(line + n - tail, SANDBOX_HELPER, tail) == 0;
}

/* True for the first process of a PID namespace right below ours. A container has its own solverfs for its sandboxes. */
static bool is_first_below_us(pid_t pid)
{
        char text[8192];
        const char *pids = process_text(pid, "status", text, sizeof(text)) > 0 ? strstr(text, "\nNSpid:") : NULL;
        int first = 0, end = 0;

        return pids && sscanf(pids, " NSpid: %*d %d%n", &first, &end) == 1 && first == 1 && pids[end] == '\n';
}

static pid_t parent_of(pid_t pid)
{
        char text[1024];
        const char *after = process_text(pid, "stat", text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
        int parent = 0;

        return after && sscanf(after, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* bubblewrap's inner half asks to die with the outer one only after it was told to go on. */
static bool sweep_one(void *user, pid_t pid)
{
        if (is_ours(pid) && is_first_below_us(pid) && !is_ours(parent_of(pid)))
                kill(pid, SIGKILL);
        return true;
}

void sandbox_sweep(void)
{
        process_each(sweep_one, NULL);
}

void sandbox_sweep_once(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, sandbox_sweep);
}
