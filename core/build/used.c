#include "core/build/used.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/mount_table.h"
#include "cache/base/record.h"
#include "core/build/attempt.h"
#include "core/build/dependency.h"
#include "core/run/file_digest.h"
#include "core/run/host.h"

#define FORMAT      1
#define DEPENDENCY  N_FILE_KINDS       /* next to the kinds of files: a folder with all its content */
#define SOURCE      (N_FILE_KINDS + 1) /* a name in the root of the sources */
#define LINKS_MOST  40                 /* in a row, as for the kernel */

struct used {
        const struct attempt *attempt;
        char **list; /* owned, as are the strings */
        size_t n;
        char **mounts; /* of solverfs; owned */
};

/* -- the paths that count -- */

/* The sandbox shows these folders of the machine, and the recipe's dependencies. */
static const char *const system_folders[] = {"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", NULL};

static bool is_in_any(const char *path, const char *const *folders)
{
        while (*folders && !path_is_in(path, *folders))
                folders++;
        return *folders != NULL;
}

static bool is_dependency(char *const *dependencies, const char *path)
{
        return is_in_any(path, (const char *const *)dependencies);
}

/* These change without an effect on builds: users and networks, caches that lead to files which are in the list themselves, the compile cache. */
static bool says_nothing(const char *path)
{
        static const char *const files[] = {"/etc/ld.so.cache", "/etc/passwd", "/etc/group",     "/etc/nsswitch.conf", "/etc/localtime", "/etc/mtab",
                                            "/etc/fstab",       "/etc/hosts",  "/etc/host.conf", "/etc/resolv.conf",   "/etc/hostname",  "/etc/machine-id",
                                            "/usr/lib/ccache",  "/usr/bin/ccache", NULL};

        return is_in_any(path, files) || strstr(path, "/__pycache__/") || strstr(path, "/locale-archive") || strstr(path, "/gconv-modules.cache");
}

/* True for the name of a file or folder in the root of the sources. */
static bool is_source(const struct manifest *sources, const char *name)
{
        for (size_t i = 0; i < sources->n; i++)
                if (path_is_in(sources->list[i].path, name))
                        return true;
        return false;
}

/* True if the path is in the recipe's dependencies or the system's folders: nothing else of the machine is in the sandbox. Without a sandbox the whole
 * machine is visible: then any path but those in our own folders. Files that say nothing of a build never count. */
static bool counts(const struct build_request *q, const char *path)
{
        const char *const ours[] = {"/tmp", "/var/tmp", q->work_dir, q->ccache_dir ?: q->work_dir, q->downloads_dir, NULL};

        if (is_dependency(q->recipe->dependencies, path))
                return true;
        if (path[0] != '/' || says_nothing(path))
                return false;
        return q->sandbox == SANDBOX_BWRAP ? is_in_any(path, system_folders) : !is_in_any(path, ours) && !strstr(path, "/solverfs-shim");
}

/* The first "/.." of a path; NULL: it has none. */
static char *find_parent(char *path)
{
        char *up = path;

        while ((up = strstr(up, "/..")) && up[3] != '/' && up[3] != '\0')
                up += 3;
        return up;
}

/* Replaces "FOLDER/.." by what it is behind links. If there is no such folder, the path ends with it: all behind it is missing as long as it is. */
static char *without_parents(const struct build_request *q, const char *path)
{
        char *p = copy_string(path), *up;

        while (counts(q, p) && (up = find_parent(p))) {
                cleanup_free char *folder = copy_prefix(p, (size_t)(up - p)), *real = realpath(folder, NULL), *before = p;

                if (real)
                        *strrchr(real, '/') = '\0';
                p = real ? format_string("%s%s", real, up + 3) : copy_string(folder);
        }
        return p;
}

static int note_mount(void *used, const struct mount_entry *m)
{
        struct used *u = used;

        if (strcmp(m->type, MOUNT_TYPE) == 0)
                strings_add(&u->mounts, m->path);
        return 0;
}

/* True if a link of the machine leads out of what the sandbox shows. */
static bool leads_out(const struct build_request *q, const char *real)
{
        bool out = q->sandbox == SANDBOX_BWRAP && !is_in_any(real, system_folders);

        for (char *const *p = q->recipe->dependencies; out && *p; p++) {
                cleanup_free char *folder = realpath(*p, NULL);

                out = !path_is_in(real, folder);
        }
        return out;
}

/* True if the file may be opened, now and at each check of the list. In a mount of solverfs it may wait for this very build. */
static bool may_open(const struct used *u, const char *path)
{
        const char *const *mounts = (const char *const *)u->mounts;
        cleanup_free char *real = NULL;

        if (is_in_any(path, mounts))
                return false;
        real = realpath(path, NULL);
        return !real || (!is_in_any(real, mounts) && !leads_out(u->attempt->request, real));
}

/* Adds a path if it counts. A build may say any name. */
static void add(void *used, const char *path)
{
        struct used *u = used;
        const struct build_request *q = u->attempt->request;
        cleanup_free char *found = path[0] == '.' ? copy_string(path) : without_parents(q, path);

        if (path[0] == '.' ? is_source(&u->attempt->sources.files, path + strlen("./")) : counts(q, found) && may_open(u, found))
                list_add(u->list, u->n, steal_pointer(found));
}

/* -- files that the kernel opens for a program -- */

static void add_script_interpreter(struct used *u, const char *head)
{
        char path[256];
        size_t n;

        head += 2 + strspn(head + 2, " \t");
        n = strcspn(head, " \t\r\n");
        if (n > 0 && n < sizeof(path)) {
                snprintf(path, sizeof(path), "%.*s", (int)n, head);
                add(u, path);
        }
}

/* The interpreter's path is in the head of an ELF file, where no other path begins like this. */
static void add_elf_interpreter(struct used *u, const char *head, size_t size)
{
        const char *found = memmem(head, size, "/lib", 4);

        if (found && memmem(found, MIN((size_t)(head + size - found), (size_t)64), "/ld", 3) && memchr(found, '\0', (size_t)(head + size - found)))
                add(u, found);
}

static void add_interpreter(struct used *u, const char *path)
{
        cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char head[2048];
        ssize_t n = fd >= 0 ? read(fd, head, sizeof(head) - 1) : -1;

        if (n < 4)
                return;
        head[n] = '\0';
        if (memcmp(head, "#!", 2) == 0)
                add_script_interpreter(u, head);
        else if (memcmp(head, "\177ELF", 4) == 0)
                add_elf_interpreter(u, head, (size_t)n);
}

/* -- the list -- */

/* Adds files that no call named: interpreters, and the assembler that follows a compiler. */
static void add_implied(struct used *u)
{
        const size_t most = 6 * u->n; /* an interpreter may be a script, but the kernel follows at most five: more is a circle */

        for (size_t i = 0; i < MIN(u->n, most); i++) { /* the list grows */
                const char *name = strrchr(u->list[i], '/');

                if (u->list[i][0] == '/' && access(u->list[i], X_OK) == 0)
                        add_interpreter(u, u->list[i]);
                if (name && (strcmp(name, "/cc1") == 0 || strcmp(name, "/cc1plus") == 0))
                        add(u, "/usr/bin/as");
        }
}

/* An entry of the list: kind(1), the digest if the kind has one, the path's length(2), path. */
static void put_entry(struct buffer *b, uint8_t kind, const struct digest *d, const char *path)
{
        record_put_u8(b, kind);
        if (kind == FILE_CONTENT || kind == DEPENDENCY)
                buffer_add(b, d->bytes, DIGEST_SIZE);
        record_put_u16(b, (uint16_t)strlen(path));
        buffer_adds(b, path);
}

static void put_dependencies(const struct build_request *q, struct buffer *b)
{
        for (char *const *p = q->recipe->dependencies; *p; p++) {
                struct digest d = {0};

                if (dependency_digest(*p, &d) == 0)
                        put_entry(b, DEPENDENCY, &d, *p);
        }
}

/* -- changes while the build ran -- */

static bool is_since_begin(const struct attempt *a, int64_t changed_ns)
{
        return changed_ns > a->began_ns && !file_time_is_future(changed_ns);
}

/* Follows links. True if one of them was made after the build began: another compiler may be behind it. */
static bool has_new_link(const struct attempt *a, char path[PATH_SIZE])
{
        struct stat st;

        for (unsigned hop = 0; hop < LINKS_MOST && lstat(path, &st) == 0 && S_ISLNK(st.st_mode); hop++) {
                char target[PATH_SIZE];
                ssize_t n = readlink(path, target, sizeof(target) - 1);
                size_t folder = n > 0 && target[0] != '/' ? (size_t)(strrchr(path, '/') + 1 - path) : 0;

                if (is_since_begin(a, timespec_ns(&st.st_ctim)))
                        return true;
                if (n <= 0 || folder + (size_t)n >= PATH_SIZE)
                        return false;
                memcpy(path + folder, target, (size_t)n);
                path[folder + (size_t)n] = '\0';
        }
        return false;
}

/* True if the file, or a link that leads to it, was changed since the attempt's begin. A file that is gone is not noticed: only its folder's time would
 * show that, and that changes with every other file in it, too. */
static bool has_moved(const struct attempt *a, const char *path, const struct file_look *look)
{
        char last[PATH_SIZE];

        if (look->kind == FILE_CONTENT && is_since_begin(a, look->changed_ns))
                return true;
        return path[0] == '/' && snprintf(last, sizeof(last), "%s", path) < PATH_SIZE && has_new_link(a, last);
}

char *attempt_list_used(struct attempt *a)
{
        cleanup_buffer struct buffer b = {0};
        struct used u = {.attempt = a, .mounts = allocate(1, sizeof(*u.mounts))};
        const bool is_watched = a->is_watched && buffer_error(&a->watched) == 0;
        const char *at = a->watched.data;
        char *moved = NULL;

        mount_table_each(note_mount, &u);
        for (size_t left = is_watched ? a->watched.size : 0; left > 0; left -= strlen(at) + 1, at += strlen(at) + 1)
                add(&u, at);
        if (!is_watched)
                host_tools_each(add, &u);
        add_implied(&u);
        sort_list(u.list, u.n, sizeof(*u.list), compare_strings);
        record_put_u8(&b, FORMAT);
        for (size_t i = 0; i < u.n; i++) {
                struct file_look look;

                if (i > 0 && strcmp(u.list[i], u.list[i - 1]) == 0)
                        continue;
                if (u.list[i][0] == '.') {
                        put_entry(&b, SOURCE, NULL, u.list[i] + strlen("./"));
                        continue;
                }
                file_look(u.list[i], &look);
                if (!moved && has_moved(a, u.list[i], &look))
                        moved = copy_string(u.list[i]);
                put_entry(&b, look.kind, &look.digest, u.list[i]);
        }
        if (!is_watched)
                put_dependencies(a->request, &b);
        list_add(u.list, u.n, NULL);
        strings_free(u.list);
        strings_free(u.mounts);
        file_digests_save();
        blob_done(&a->made.used);
        if (buffer_steal(&b, &a->made.used) < 0)
                a->made.used = (struct blob){0};
        return moved;
}

/* -- the check -- */

static bool is_still(uint8_t kind, const struct digest *before, const char *path)
{
        struct file_look look;
        struct digest now;

        if (kind == DEPENDENCY)
                return dependency_digest(path, &now) == 0 && digest_equal(&now, before);
        file_look(path, &look);
        return look.kind == (enum file_kind)kind && (kind != FILE_CONTENT || digest_equal(&look.digest, before));
}

struct entry {
        uint8_t kind;
        struct digest digest; /* if the kind has one */
        char *path;
};

/* Calls fn for each entry. Stops at, and returns, fn's first non-zero value. -EBADMSG with a sentence if the list is damaged. */
static int each_entry(struct slice list, int (*fn)(void *user, const struct entry *e), void *user)
{
        struct record r = record_of(list);
        int k = 0;

        record_version(&r, FORMAT);
        while (k == 0 && r.error == 0 && record_left(&r) > 0) {
                cleanup_free char *path = NULL;
                struct entry e = {.kind = record_u8(&r)};

                if (e.kind == FILE_CONTENT || e.kind == DEPENDENCY)
                        record_raw(&r, e.digest.bytes, DIGEST_SIZE);
                e.path = path = record_string(&r, record_u16(&r));
                k = r.error == 0 ? fn(user, &e) : 0;
        }
        return k ?: record_end(&r, "the list of what a build used");
}

static int find_unbound(void *dependencies, const struct entry *e)
{
        return e->kind != SOURCE && (find_parent(e->path) || !(is_dependency(dependencies, e->path) ||
                                                               (e->kind != DEPENDENCY && is_in_any(e->path, system_folders))));
}

bool used_list_is_bound(struct slice list, char *const *dependencies)
{
        return each_entry(list, find_unbound, (void *)dependencies) == 0;
}

static int find_changed(void *ret_path, const struct entry *e)
{
        if (e->kind == SOURCE || is_still(e->kind, &e->digest, e->path))
                return 0;
        *(char **)ret_path = copy_string(e->path);
        return 1;
}

int used_list_check(struct slice list, char **ret_path)
{
        int r = each_entry(list, find_changed, ret_path);

        file_digests_save();
        return r;
}

struct name_listener {
        void (*fn)(void *user, const char *name);
        void *user;
        bool has_any;
};

static int tell_source(void *listener, const struct entry *e)
{
        struct name_listener *l = listener;

        if (e->kind != SOURCE)
                return 0;
        l->has_any = true;
        l->fn(l->user, e->path);
        return 0;
}

int used_list_sources(struct slice list, void (*fn)(void *user, const char *name), void *user)
{
        struct name_listener l = {fn, user, false};
        int r = each_entry(list, tell_source, &l);

        return r < 0 || l.has_any ? r : -ENOENT;
}
