#include "core/build/checkout.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "core/git/paths.h"
#include "core/recipe/recipe.h"

#define ENTRIES_MAX   1000000 /* files and folders in a checkout; a few objects of a hostile repository can name any number */
#define NAMES_MAX     ((size_t)1 << 28)   /* bytes of all their paths, which are held in memory */
#define BYTES_MAX     (UINT64_C(1) << 35) /* of all files */
#define SOURCE_MAX    (UINT64_C(1) << 30)   /* of one */
#define DEPTH_MAX     256
#define PROGRESS_STEP 256

/* -- which files ------------------------------------------------------------------------------------------------ */

struct listing {
        git_repository *git;
        git_odb *odb;
        struct manifest *files;
        char *const *paths, *const *submodules;
        struct buffer *notes;
        uint64_t bytes;
        size_t entries, names;
        char path[PATH_SIZE];
        size_t length;
        git_oid owner;      /* the commit whose files are being listed, .. */
        size_t prefix_size; /* .. and what `path` has before its paths */
        size_t within;      /* path length of the pinned submodule being listed (a commit in its line); 0: the solver's own files */
};

static int lacks(struct listing *l, const git_oid *oid)
{
        return errorf(-ESTALE, "the repository %s lacks %s (%s): it is damaged, or was made from a partial clone; 'solverfs fsck' puts it back if a local "
                               "upstream has it, else it says how",
                      git_repository_path(l->git), l->path, oid_text(oid));
}

static int list_file(struct listing *l, uint32_t mode, const git_oid *oid)
{
        struct tracked t = {.path = l->path, .mode = mode, .oid = *oid, .owner = l->owner, .prefix_size = l->prefix_size};
        git_object_t type;
        size_t size;

        if (git_odb_read_header(&size, &type, l->odb, oid) < 0 || type != GIT_OBJECT_BLOB)
                return lacks(l, oid);
        l->bytes += size;
        if (S_ISLNK(mode) && size == 0)
                return errorf(-EBADMSG, "the sources hold a link to nowhere, which cannot be checked out: %s", l->path);
        if (size > SOURCE_MAX || l->bytes > BYTES_MAX || (S_ISLNK(mode) && size >= PATH_SIZE))
                return errorf(-EBADMSG, "the sources are too large to be checked out: %s has %zu bytes", l->path, size);
        manifest_add(l->files, &t);
        return 0;
}

static int list_tree(struct listing *l, const git_oid *oid, unsigned depth);

/* Lists the files of this line's submodule. Its objects were fetched beside those of the sources. */
static int list_submodule_at(struct listing *l, const char *line, const git_oid *oid, unsigned depth)
{
        cleanup_git_commit git_commit *c = NULL;
        const struct slice repository = recipe_submodule(line).repository;
        const git_oid owner = l->owner;
        const size_t prefix_size = l->prefix_size;
        int r;

        if (git_commit_lookup(&c, l->git, oid) < 0)
                return errorf(-ESTALE, "submodule %s is at commit %s, which no branch or tag of %.*s had when it was fetched; fetch it again with "
                                       "'solver update', or name a repository that has it",
                              l->path, oid_text(oid), (int)repository.size, (const char *)repository.data);
        l->owner = *oid;
        l->prefix_size = l->length + 1;
        r = list_tree(l, git_commit_tree_id(c), depth + 1);
        l->owner = owner;
        l->prefix_size = prefix_size;
        return r;
}

static int list_submodule(struct listing *l, const git_oid *oid, unsigned depth)
{
        const char *line = recipe_find_submodule(l->submodules, SLICE(l->path, l->length));

        if (!line) {
                buffer_addf(l->notes, "(submodule %s is an empty folder: the recipe has no key 'submodule = %s=REPO')\n", l->path, l->path);
                manifest_add(l->files, &(struct tracked){.path = l->path, .mode = MODE_SUBMODULE, .oid = *oid});
                return 0;
        }
        return list_submodule_at(l, line, oid, depth);
}

/* True inside a submodule whose line has a commit of its own: list_pinned() lists its files. */
static bool is_pinned(const struct listing *l)
{
        for (char *const *p = l->submodules; *p; p++) {
                const struct recipe_submodule s = recipe_submodule(*p);

                if (s.commit && s.path.size > l->within && l->length >= s.path.size && memcmp(l->path, s.path.data, s.path.size) == 0 &&
                    (l->length == s.path.size || l->path[s.path.size] == '/'))
                        return true;
        }
        return false;
}

/* Lists the submodule of a line that has a commit. It replaces the solver's own submodule or folder there. */
static int list_pinned(struct listing *l, const git_tree *root, const char *line)
{
        const struct recipe_submodule s = recipe_submodule(line);
        cleanup_git_tree_entry git_tree_entry *e = NULL;
        git_oid oid;
        int r;

        l->within = l->length = (size_t)snprintf(l->path, sizeof(l->path), "%.*s", (int)s.path.size, (const char *)s.path.data);
        if (git_tree_entry_bypath(&e, root, l->path) == 0 && git_tree_entry_type(e) == GIT_OBJECT_BLOB)
                return errorf(-EBADMSG, "the recipe's 'submodule = %s=...' is at the path of a file of the sources", l->path);
        if (e && git_tree_entry_type(e) == GIT_OBJECT_TREE)
                buffer_addf(l->notes, "(the sources' own folder %s gives way to commit %s of the recipe)\n", l->path, s.commit);
        oid_parse(s.commit, &oid);
        r = list_submodule_at(l, line, &oid, 0);
        l->within = 0;
        return r;
}

static int list_entry(struct listing *l, const git_tree_entry *e, unsigned depth)
{
        uint32_t mode = (uint32_t)git_tree_entry_filemode_raw(e);

        if (is_pinned(l))
                return 0;
        if (l->entries++ >= ENTRIES_MAX)
                return errorf(-EBADMSG, "the sources have more than %d files and folders", ENTRIES_MAX);
        l->names += l->length;
        if (l->names > NAMES_MAX)
                return errorf(-EBADMSG, "the sources have paths of more than %zu bytes in all", NAMES_MAX);
        if (S_ISDIR(mode))
                return list_tree(l, git_tree_entry_id(e), depth + 1);
        if (S_ISLNK(mode))
                return list_file(l, 0120000, git_tree_entry_id(e));
        if (S_ISREG(mode)) /* 0100664, too, which git once wrote */
                return list_file(l, mode & 0100 ? 0100755 : 0100644, git_tree_entry_id(e));
        return list_submodule(l, git_tree_entry_id(e), depth);
}

static int list_tree(struct listing *l, const git_oid *oid, unsigned depth)
{
        cleanup_git_tree git_tree *tree = NULL;
        size_t length = l->length;
        int r = 0;

        if (depth > DEPTH_MAX)
                return errorf(-EBADMSG, "the sources have folders nested more than %d deep", DEPTH_MAX);
        if (git_tree_lookup(&tree, l->git, oid) < 0)
                return lacks(l, oid);
        for (size_t i = 0; r == 0 && i < git_tree_entrycount(tree); i++) {
                const git_tree_entry *e = git_tree_entry_byindex(tree, i);
                const char *name = git_tree_entry_name(e);
                int n;

                if (manifest_name_is_bad(name))
                        return errorf(-EBADMSG, "the sources hold a file named '%.80s', which cannot be checked out", name);
                n = snprintf(l->path + length, sizeof(l->path) - length, "%s%s", length > 0 ? "/" : "", name);
                if (n < 0 || (size_t)n >= sizeof(l->path) - length)
                        return errorf(-EBADMSG, "the sources hold a path of more than %d bytes", PATH_SIZE - 1);
                l->length = length + (size_t)n;
                r = paths_leave_out(l->paths, l->path) ? 0 : list_entry(l, e, depth);
        }
        l->path[length] = '\0';
        l->length = length;
        return r;
}

/* Lists one of the recipe's paths: a file, or a folder with all its files. */
static int list_path(struct listing *l, const git_tree *root, const char *path)
{
        cleanup_git_tree_entry git_tree_entry *e = NULL;
        int r = git_tree_entry_bypath(&e, root, path);

        if (r == GIT_ENOTFOUND)
                return 0; /* this commit has none */
        l->length = (size_t)snprintf(l->path, sizeof(l->path), "%s", path);
        return r < 0 ? lacks(l, git_tree_id(root)) : list_entry(l, e, 0);
}

static int list_commit(struct listing *l, const git_oid *commit)
{
        cleanup_git_commit git_commit *c = NULL;
        cleanup_git_tree git_tree *tree = NULL;
        cleanup_git_odb git_odb *odb = NULL;
        int r = 0;

        if (git_repository_odb(&odb, l->git) < 0 || git_commit_lookup(&c, l->git, commit) < 0 || git_commit_tree(&tree, c) < 0)
                return lacks(l, commit);
        l->odb = odb;
        if (!paths_have_inclusions(l->paths))
                r = list_tree(l, git_tree_id(tree), 0);
        for (char *const *p = l->paths; r == 0 && *p; p++)
                r = paths_left_out(*p) || !paths_have(l->paths, *p) ? 0 : list_path(l, tree, *p);
        for (char *const *p = l->submodules; r == 0 && *p; p++)
                r = recipe_submodule(*p).commit ? list_pinned(l, tree, *p) : 0;
        manifest_sort(l->files);
        return r < 0 ? r : buffer_error(l->notes);
}

int sources_list(git_repository *git, const git_oid *commit, char *const *paths, char *const *submodules, struct sources *ret,
                 struct buffer *notes)
{
        struct listing l = {.git = git, .files = &ret->files, .paths = paths, .submodules = submodules, .notes = notes, .owner = *commit};

        ret->git = git;
        return list_commit(&l, commit) ?: attributes_open(git, &ret->attributes);
}

void sources_done(struct sources *s)
{
        manifest_done(&s->files);
        git_config_free(s->attributes.machine);
}

int sources_content(void *sources, const struct tracked *t, struct blob *ret)
{
        const struct sources *s = sources;
        cleanup_git_blob git_blob *blob = NULL;
        cleanup_buffer struct buffer copy = {0};
        git_buf filtered = {0};
        int r = 0;

        *ret = (struct blob){0};
        if (t->mode == MODE_SUBMODULE)
                return 0;
        if (git_blob_lookup(&blob, s->git, &t->oid) < 0)
                return errorf(-ESTALE, "the repository %s lacks %s (%s), or it is damaged: %s", git_repository_path(s->git), t->path,
                              oid_text(&t->oid), git_error_text());
        if (S_ISREG(t->mode))
                r = attributes_apply(&s->attributes, t, blob, &filtered);
        if (r == 0) {
                buffer_add(&copy, filtered.ptr ?: git_blob_rawcontent(blob), filtered.ptr ? filtered.size : (size_t)git_blob_rawsize(blob));
                r = buffer_steal(&copy, ret);
        }
        git_buf_dispose(&filtered);
        return r;
}

/* -- below the folder, without following links --------------------------------------------------------------------- */

static int open_folder(const char *folder)
{
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd < 0 ? errorf(-errno, "cannot open %s: %s", folder, strerror(errno)) : fd;
}

static char *parent_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? copy_prefix(path, (size_t)(slash - path)) : copy_string(".");
}

/* The descriptor of the folder that holds `path`. */
static int open_parent(int root, const char *path)
{
        struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
        cleanup_free char *folder = parent_of(path);
        long fd = syscall(SYS_openat2, root, folder, &how, sizeof(how));

        return fd >= 0 ? (int)fd : errno == ELOOP ? -ENOTDIR : -errno;
}

/* The same; makes the folder if missing. */
static int make_parent(int root, const char *path)
{
        cleanup_free char *folder = parent_of(path);
        int fd = open_parent(root, path);
        cleanup_close int above = fd == -ENOENT ? make_parent(root, folder) : -1;

        if (fd != -ENOENT || above < 0)
                return fd != -ENOENT ? fd : above;
        if (mkdirat(above, basename(folder), 0755) < 0 && errno != EEXIST)
                return -errno;
        return open_parent(root, path);
}

int checkout_open(const char *folder, const char *path, int *ret_fd)
{
        struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
        cleanup_close int root = open_folder(folder), fd = -1;
        unsigned tries = 0;
        struct stat st;

        if (root < 0)
                return root;
        do /* EAGAIN: something on this machine was renamed while a link with '..' was followed (openat2(2)) */
                fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
        while (fd < 0 && errno == EAGAIN && tries++ < 1000);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
        *ret_fd = steal_fd(&fd);
        return 0;
}

/* -- writing ---------------------------------------------------------------------------------------------------- */

/* Maps errors to those that callers distinguish. A missing file becomes -EIO: callers would take -ENOENT for a missing commit. */
static int file_error(int r, const char *verb, const char *path, const char *folder)
{
        bool full = r == -ENOSPC || r == -EDQUOT;

        return errorf(full ? -ENOSPC : r == -ENOMEM ? r : -EIO, "cannot %s %s in %s: %s", verb, path, folder, strerror(-r));
}

static int write_file(int folder, const char *name, mode_t mode, struct slice content)
{
        cleanup_close int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        int r = fd < 0 ? -errno : write_all(fd, content.data, content.size);

        return r < 0 ? r : fchmod(fd, mode & 0777) < 0 ? -errno : 0;
}

static int write_link(int folder, const char *name, struct slice content)
{
        cleanup_free char *target = copy_prefix(content.data, content.size);

        return symlinkat(target, folder, name) < 0 ? -errno : 0;
}

static int write_content(int root, const struct tracked *t, struct slice content, int64_t when)
{
        const struct timespec times[2] = {{.tv_sec = when}, {.tv_sec = when}};
        cleanup_close int folder = make_parent(root, t->path);
        const char *name = basename(t->path);
        int r;

        if (folder < 0)
                return folder;
        if (t->mode == MODE_SUBMODULE)
                return mkdirat(folder, name, 0755) < 0 ? -errno : 0;
        r = S_ISLNK(t->mode) ? write_link(folder, name, content) : write_file(folder, name, t->mode, content);
        return r < 0 ? r : utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static bool is_expected(const struct tracked *t, struct slice content)
{
        struct digest d;

        if (digest_is_zero(&t->content))
                return true;
        digest_of(content.data, content.size, &d);
        return digest_equal(&d, &t->content);
}

static int write_one(const char *folder, int root, const struct tracked *t, int64_t when, checkout_content_fn content, void *user)
{
        cleanup_blob struct blob b = {0};
        struct slice bytes;
        int r = t->mode == MODE_SUBMODULE ? 0 : content(user, t, &b);

        if (r < 0)
                return r;
        bytes = SLICE(b.data ?: "", b.size);
        if (t->mode != MODE_SUBMODULE && !is_expected(t, bytes))
                return errorf(-EIO, "%s does not have the bytes that its digest says", t->path);
        r = write_content(root, t, bytes, when);
        if (r == -EEXIST || r == -ENOTDIR)
                return errorf(-EBADMSG, "the sources hold two files named %s, or a file in the place of its folder", t->path);
        return r < 0 ? file_error(r, "write", t->path, folder) : 0;
}

int checkout(const char *folder, const struct manifest *files, int64_t when, checkout_content_fn content, void *user, const struct progress *p)
{
        cleanup_close int root = open_folder(folder);
        int r = MIN(root, 0);

        for (size_t i = 0; r == 0 && i < files->n; i++) {
                if (i % PROGRESS_STEP == 0)
                        r = progress_step(p, "checkout", i, files->n);
                if (r == 0)
                        r = write_one(folder, root, &files->list[i], when, content, user);
        }
        return r;
}
