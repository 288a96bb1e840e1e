#include "core/run/slot.h"

#include <pwd.h>
#include <sys/stat.h>

#include "cache/base/lock.h"
#include "cache/base/process.h"
#include "core/run/host.h"

#define MACHINE_FOLDER "/run/lock/solverfs"
#define AWAIT_MS       1 /* between two looks at a core that a build is leaving */

static unsigned n_leased;  /* atomic; leased by this process */
static uint64_t last_left; /* atomic; when it gave a lease back last */

/* -- the folder -- */

/* The folder is open to all users: its files are only ever locked. */
static int use_folder(const char *path)
{
        cleanup_free char *fresh = format_string("%s.XXXXXX", path);
        struct stat st;

        if (lstat(path, &st) < 0 && mkdtemp(fresh) && (chmod(fresh, 01777) < 0 || rename(fresh, path) < 0)) /* open from the first; whatever our umask */
                rmdir(fresh); /* another was first, or lstat() says more */
        if (lstat(path, &st) < 0)
                return -errno;
        if (!S_ISDIR(st.st_mode))
                return -ENOTDIR;
        return access(path, W_OK | X_OK) < 0 ? -errno : 0;
}

static int use_below(const char *parent, const char *path)
{
        return make_dirs(parent, 0755) ?: use_folder(path);
}

static int use_given(const char *given, char ret[PATH_SIZE])
{
        char parent[PATH_SIZE];
        int r = given[0] == '/' ? 0 : -EINVAL;

        if (r == 0 && snprintf(ret, PATH_SIZE, "%s", given) >= PATH_SIZE)
                r = -ENAMETOOLONG;
        if (r == 0) {
                for (size_t n = strlen(ret); n > 1 && ret[n - 1] == '/'; n--) /* else it would be its own parent */
                        ret[n - 1] = '\0';
                snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(ret, '/') - ret), ret);
                r = access(ret, F_OK) < 0 && parent[0] != '\0' ? use_below(parent, ret) : use_folder(ret);
        }
        return r < 0 ? errorf(r, "$SOLVERFS_SLOTS is '%s', which is not the absolute path of a writable folder: %s", given,
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
        } else if (use_below("/run/lock", MACHINE_FOLDER) == 0) {
                snprintf(ret, PATH_SIZE, "%s", MACHINE_FOLDER);
                why = "shared by all stores and users of this machine";
        } else if (use_runtime(ret)) {
                why = "shared by all of this user's stores only, as " MACHINE_FOLDER " cannot be used";
        } else if (own) {
                r = snprintf(ret, PATH_SIZE, "%s", own) < PATH_SIZE ? 0 : -ENAMETOOLONG;
                why = "this store's only, as neither " MACHINE_FOLDER " nor $XDG_RUNTIME_DIR can be used";
        } else {
                r = errorf(-ENOENT, "there is no folder for slots: neither " MACHINE_FOLDER " nor $XDG_RUNTIME_DIR can be used; set $SOLVERFS_SLOTS");
        }
        if (ret_why)
                *ret_why = why;
        return r;
}

/* -- locks -- */

static const char *const marks[N_SLOT_MARKS] = {
        [SLOT_PERSON_WAITS] = "urgent",
        [SLOT_PERSON_HAS_NONE] = "person-has-none",
        [SLOT_BATCH_HAS_NONE] = "batch-has-none",
};

static int open_core(const char *folder, int cpu, bool shared, int *ret_fd)
{
        char name[32];

        snprintf(name, sizeof(name), "cpu%d", cpu);
        return lock_open_public(folder, name, shared, ret_fd);
}

/* Takes the core's lock for this use. A guest has none: the core's lock for builds is its host's. */
static int try_use(int fd, enum slot_use use)
{
        int r;

        if (use == SLOT_BUILD || use == SLOT_GUEST)
                return use == SLOT_BUILD ? core_lock(fd, CORE_BUILD) : 0;
        r = use != SLOT_PERSON && core_is_locked(fd, CORE_TURN) ? -EAGAIN : core_lock(fd, CORE_RUN); /* a guest may have its turn without a host */
        return r == 0 && use == SLOT_SPARE && core_is_locked(fd, CORE_BUILD) ? -EAGAIN : r;
}

int slot_try(const char *folder, int cpu, enum slot_use use, int *ret_lock)
{
        cleanup_close int fd = -1;
        int r = open_core(folder, cpu, false, &fd);

        if (r < 0)
                return r;
        r = try_use(fd, use);
        if (r == 0)
                *ret_lock = steal_fd(&fd);
        return r == 0 || r == -EAGAIN ? r : errorf(r, "cannot lock %s/cpu%d: %s", folder, cpu, strerror(-r));
}

/* Nobody can wait for another process's lock and for a cancel together, so the lock is looked at from time to time. */
int slot_await(int lock, int cancel_fd)
{
        int r = 0;

        while (r == 0 && core_is_locked(lock, CORE_MOVES))
                r = pause_unless_cancelled(cancel_fd, AWAIT_MS);
        return r;
}

int slot_mark(const char *folder, enum slot_mark m, int *ret_lock)
{
        cleanup_close int fd = -1;
        int r = lock_open_public(folder, marks[m], true, &fd) ?: lock_share(fd);

        if (r == 0)
                *ret_lock = steal_fd(&fd);
        return r;
}

bool slot_is_marked(const char *folder, enum slot_mark m)
{
        return lock_is_held(folder, marks[m]);
}

/* -- owners -- */

void slot_note(int lock, enum slot_use use, uint64_t likely_ns, const char *what)
{
        struct core_note n = {.magic = CORE_NOTE_MAGIC, .pid = getpid(), .since_ns = now_ns(), .likely_ns = likely_ns,
                              .pid_namespace = process_namespace()};

        snprintf(n.what, sizeof(n.what), "%s", what);
        core_note_write(lock, use == SLOT_BUILD ? CORE_BUILD : CORE_RUN, &n);
}

static void owner_of(int fd, enum core_lock which, uint64_t now, struct slot_owner *ret)
{
        char path[64];
        struct stat st;

        *ret = (struct slot_owner){.is_there = core_is_locked(fd, which)};
        if (!ret->is_there || !core_note_read(fd, which, &ret->note))
                return;
        snprintf(path, sizeof(path), "/proc/%d", (int)ret->note.pid);
        if (stat(path, &st) < 0 || (ret->note.pid_namespace != 0 && ret->note.pid_namespace != process_namespace()))
                return; /* it was the last owner's process, or one of another container */
        ret->is_known = true;
        ret->note.uid = st.st_uid;
        ret->age_ns = now - MIN(now, ret->note.since_ns);
        ret->lent_ns = ret->note.lent_ns != 0 ? now - MIN(now, ret->note.lent_ns) : 0;
}

int slot_each(const char *folder, void (*fn)(void *user, const struct slot_view *v), void *user)
{
        int cpus[CPU_SETSIZE];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        uint64_t now = now_ns();

        for (size_t i = 0; i < n; i++) {
                struct slot_view v = {.cpu = cpus[i]};
                cleanup_close int fd = -1;
                int r = open_core(folder, cpus[i], true, &fd);

                if (r < 0)
                        return r;
                owner_of(fd, CORE_RUN, now, &v.run);
                owner_of(fd, CORE_BUILD, now, &v.build);
                if (v.run.is_there || v.build.is_there)
                        fn(user, &v);
        }
        return 0;
}

/* Adds the owner, its work, and the time it has had the core. */
static void add_owner(struct buffer *b, const struct slot_owner *o, const char *verb)
{
        struct passwd entry, *user = NULL;
        char text[1024];

        if (!o->is_known) {
                buffer_addf(b, "somebody%s", verb);
                return;
        }
        buffer_add_printable(b, o->note.what);
        getpwuid_r(o->note.uid, &entry, text, sizeof(text), &user);
        buffer_adds(b, " (");
        if (user)
                buffer_add_printable(b, user->pw_name);
        else
                buffer_addf(b, "user %u", o->note.uid);
        buffer_addf(b, ", process %d)%s for %.0f s", (int)o->note.pid, verb, (double)o->age_ns / 1e9);
        if (o->note.likely_ns > o->age_ns)
                buffer_addf(b, ", about %.0f s left", (double)(o->note.likely_ns - o->age_ns) / 1e9);
}

void slot_view_line(const struct slot_view *v, struct buffer *ret)
{
        buffer_addf(ret, "core %d: ", v->cpu);
        if (v->run.is_there)
                add_owner(ret, &v->run, "");
        if (v->run.is_there && v->build.is_there)
                buffer_adds(ret, "; ");
        if (v->build.is_there)
                add_owner(ret, &v->build, "");
        if (v->build.lent_ns > 0)
                buffer_addf(ret, ", without this core for %.0f s", (double)v->build.lent_ns / 1e9);
}

struct waits {
        unsigned n;
        struct slot_view shown; /* one whose owner has named itself, if any has */
};

/* Whoever keeps others off the core: the run, else the build. */
static const struct slot_owner *keeper_of(const struct slot_view *v)
{
        return v->run.is_there ? &v->run : &v->build;
}

static void look_at_owner(void *user, const struct slot_view *v)
{
        struct waits *w = user;

        if (w->n++ == 0 || (keeper_of(v)->is_known && !keeper_of(&w->shown)->is_known))
                w->shown = *v;
}

void slot_waits_line(const char *folder, struct buffer *ret)
{
        struct waits w = {0};
        char verb[32];

        buffer_adds(ret, "waits for a core");
        if (slot_each(folder, look_at_owner, &w) < 0 || w.n == 0)
                return;
        buffer_adds(ret, ": ");
        snprintf(verb, sizeof(verb), " has core %d", w.shown.cpu);
        add_owner(ret, keeper_of(&w.shown), verb);
        if (w.n > 1)
                buffer_addf(ret, "; others have %u more", w.n - 1);
}

/* -- leases -- */

/* Takes a core without a build if there is one, else one that a build has borrowed. -EAGAIN: none is free. */
static int try_all(struct slot *s)
{
        static const enum slot_use uses[] = {SLOT_SPARE, SLOT_RUN};
        int cpus[CPU_SETSIZE];
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));
        int r = -EAGAIN;

        for (size_t k = 0; k < ARRAY_SIZE(uses); k++)
                for (size_t i = 0; i < n && r == -EAGAIN; i++) {
                        r = slot_try(s->folder, cpus[i], uses[k], &s->lock);
                        s->cpu = cpus[i];
                }
        return r;
}

/* True if this process has leases, or had one until a moment ago: SLOT_PASS_NS. */
static bool has_leased(void)
{
        return __atomic_load_n(&n_leased, __ATOMIC_RELAXED) > 0 || now_ns() - __atomic_load_n(&last_left, __ATOMIC_RELAXED) < SLOT_PASS_NS;
}

/* True if a batch must wait: for persons, or because this process already has cores and another process has none. */
static bool others_go_first(const char *folder, bool is_with_core)
{
        return slot_is_marked(folder, SLOT_PERSON_WAITS) || (is_with_core && slot_is_marked(folder, SLOT_BATCH_HAS_NONE));
}

static void look_at_own(void *has_core, const struct slot_view *v)
{
        *(bool *)has_core |= v->run.is_known && v->run.note.pid == getpid();
}

/* True if this process has a core, if only one of the engine's jobs. */
static bool has_core(const char *folder)
{
        bool has = false;

        slot_each(folder, look_at_own, &has);
        return has;
}

int slot_lease(const char *own_folder, const char *what, uint64_t wait_ns, int cancel_fd, struct slot *ret)
{
        cleanup_buffer struct buffer who = {0};
        uint64_t since = now_ns(); /* since when this process has no core */
        struct slot s = {.lock = -1};
        cleanup_close int mark = -1;
        int r = slot_folder(own_folder, s.folder, NULL);

        while (r == 0) {
                const bool is_with_core = has_leased();
                bool is_over;

                if (is_with_core)
                        closep(&mark); /* another thread has got one: we would yield to our own mark */
                r = others_go_first(s.folder, is_with_core) ? -EAGAIN : try_all(&s);
                if (r != -EAGAIN)
                        break;
                if (!is_with_core && mark < 0)
                        slot_mark(s.folder, SLOT_BATCH_HAS_NONE, &mark);
                is_over = now_ns() - since >= wait_ns;
                if (is_with_core || (is_over && has_core(s.folder))) {
                        since = now_ns();
                } else if (is_over) {
                        slot_waits_line(s.folder, &who);
                        r = errorf(-EAGAIN, "%s", who.data);
                        break;
                }
                r = pause_unless_cancelled(cancel_fd, SLOT_LOOK_MS);
        }
        if (r == 0)
                r = slot_await(s.lock, cancel_fd);
        if (r < 0) {
                closep(&s.lock);
                return r;
        }
        __atomic_add_fetch(&n_leased, 1, __ATOMIC_RELAXED);
        slot_note(s.lock, SLOT_RUN, 0, what);
        CPU_ZERO(&s.cpus);
        CPU_SET((size_t)s.cpu, &s.cpus);
        *ret = s;
        return 0;
}

void slot_release(struct slot *s)
{
        if (s->lock >= 0) {
                __atomic_store_n(&last_left, now_ns(), __ATOMIC_RELAXED);
                __atomic_sub_fetch(&n_leased, 1, __ATOMIC_RELAXED);
        }
        closep(&s->lock);
}

bool slot_is_wanted(const struct slot *s)
{
        return slot_is_marked(s->folder, SLOT_PERSON_WAITS) || slot_is_marked(s->folder, SLOT_BATCH_HAS_NONE) ||
               core_is_locked(s->lock, CORE_TURN);
}

/* -- for builds -- */

int slot_borrow(const char *own_folder, const char *what, size_t most, enum slot_use last, struct core_loan *ret, size_t *ret_n)
{
        char folder[PATH_SIZE];
        int cpus[CPU_SETSIZE], r = slot_folder(own_folder, folder, NULL);
        size_t n = host_cores(cpus, ARRAY_SIZE(cpus));

        *ret_n = 0;
        for (enum slot_use use = SLOT_BUILD; use <= last && *ret_n == 0; use++)
                for (size_t i = 0; i < n && *ret_n < most && (r == 0 || r == -EAGAIN); i++) {
                        r = slot_try(folder, cpus[i], use, &ret[*ret_n].lock);
                        if (r == 0 && use == SLOT_BUILD)
                                slot_note(ret[*ret_n].lock, SLOT_BUILD, 0, what);
                        if (r == 0)
                                ret[(*ret_n)++].cpu = cpus[i];
                }
        return *ret_n > 0 ? 0 : r;
}
