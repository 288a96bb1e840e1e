/* The folder of a store: finds it, checks it, makes it. */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "core/workspace/workspace_internal.h"

static const char *const folders[] = {"repos", "cases", "deltas", "programs", "work", "scratch", "slots", "claims", "engines"};

int workspace_default_dir(const char *given, char ret[PATH_SIZE])
{
        static const struct {
                const char *variable, *below;
        } places[] = {{"SOLVERFS_STORE", ""}, {"XDG_DATA_HOME", "/solverfs"}, {"HOME", "/.local/share/solverfs"}};
        const char *value = given, *below = "";

        for (size_t i = 0; (!value || !*value) && i < ARRAY_SIZE(places); i++) {
                value = getenv(places[i].variable);
                below = places[i].below;
                if (i == 1 && value && *value != '/') /* XDG Base Directory Specification: a relative path is to be ignored */
                        value = NULL;
        }
        if (!value || !*value)
                return errorf(-ENOENT, "no store: give --store DIR, or set SOLVERFS_STORE or HOME");
        return snprintf(ret, PATH_SIZE, "%s%s", value, below) < PATH_SIZE ? 0 : errorf(-ENAMETOOLONG, "path too long: %s%s", value, below);
}

int workspace_make_folders(const char *dir)
{
        int r = make_dirs(dir, 0700);

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(folders); i++) {
                cleanup_free char *path = format_string("%s/%s", dir, folders[i]);
                struct stat st;

                if (mkdir(path, 0700) < 0 && errno != EEXIST)
                        r = errorf(-errno, "cannot make %s: %s", path, strerror(errno));
                if (r == 0 && stat(path, &st) == 0 && (st.st_mode & 07777) == 0700) /* else each opening would write eight inodes */
                        continue;
                if (r == 0 && chmod(path, 0700) < 0)
                        r = errorf(-errno, "cannot set the mode of %s: %s", path, strerror(errno));
        }
        return r;
}

/* -- checking -- */

/* True if the folder was once opened as a store, even if its config is gone. A folder named `journal` proves nothing: /var/log has one. */
static bool has_been_opened(const char *dir)
{
        cleanup_free char *journal = format_string("%s/journal", dir), *lock = format_string("%s/store.lock", dir);

        return access(journal, F_OK) == 0 && access(lock, F_OK) == 0;
}

int workspace_none_at(const char *dir)
{
        return errorf(-ENOENT, "no store at %s: make one with 'solverfs init'", dir);
}

int workspace_find(const char *dir)
{
        cleanup_free char *config = format_string("%s/config", dir);

        if (access(config, F_OK) == 0)
                return 0;
        if (errno != ENOENT && errno != ENOTDIR)
                return errorf(-errno, "cannot look into the store %s: %s", dir, strerror(errno));
        return has_been_opened(dir) ? 0 : workspace_none_at(dir);
}

const char *workspace_network(const char *dir)
{
        static const struct {
                long type;
                const char *name;
        } networks[] = {{NFS_SUPER_MAGIC, "NFS"},   {0xfe534d42, "SMB"},    {(long)0xff534d42, "CIFS"},
                        {CEPH_SUPER_MAGIC, "Ceph"}, {0x0bd00bd0, "Lustre"}, {V9FS_MAGIC, "9p"}};
        struct statfs fs;

        for (size_t i = 0; i < ARRAY_SIZE(networks) && statfs(dir, &fs) == 0; i++)
                if (networks[i].type == fs.f_type)
                        return networks[i].name;
        return NULL;
}

/* -- making -- */

static bool is_empty_folder(int parent, const char *name)
{
        int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
        unsigned n = 0;

        if (!d) {
                closep(&fd);
                return false;
        }
        while (n <= 2 && readdir(d)) /* "." and ".." */
                n++;
        return n <= 2;
}

/* True for an entry that an interrupted init may have made. A folder counts only when empty: otherwise it belongs to somebody. */
static bool is_beginning(int parent, const char *name)
{
        static const char *const files[] = {".", "..", "store.lock", "write.lock"}, *const of_store_open[] = {"journal", "lmdb"};

        if (is_among(name, folders, ARRAY_SIZE(folders)) || is_among(name, of_store_open, ARRAY_SIZE(of_store_open)))
                return is_empty_folder(parent, name);
        return is_among(name, files, ARRAY_SIZE(files)) || strncmp(name, "config.", strlen("config.")) == 0;
}

/* Refuses a folder with other things in it than the beginning of a store. */
static int check_free(const char *dir)
{
        cleanup_dir DIR *d = opendir(dir);
        struct dirent *entry;
        bool is_free = true;

        if (!d)
                return errno == ENOENT ? 0 : errorf(-errno, "cannot make a store at %s: %s", dir, strerror(errno));
        while (is_free && (entry = readdir(d)))
                is_free = is_beginning(dirfd(d), entry->d_name);
        return is_free ? 0 : errorf(-ENOTEMPTY, "%s is not empty; a store needs a folder of its own", dir);
}

/* Refuses a folder inside another store. */
static int check_outside(const char *dir)
{
        cleanup_free char *above = copy_string(dir);

        for (char *slash; (slash = strrchr(above, '/')) && slash > above;) {
                *slash = '\0';
                if (has_been_opened(above))
                        return errorf(-EINVAL, "%s is inside the store %s, whose files solverfs needs for itself: choose a folder elsewhere", dir, above);
        }
        return 0;
}

int workspace_create(const char *dir)
{
        static const char config[] =
                "# The store's configuration, in git-config text. Solvers are added by 'solverfs solver add'.\n"
                "[solverfs]\n"
                "\tversion = 1\n";
        cleanup_config_text struct config_text lost = {0};
        char path[PATH_SIZE];
        struct store *s;
        int r = path_join(path, dir, "config");

        if (r < 0)
                return r;
        if (access(path, F_OK) == 0)
                return errorf(-EEXIST, "there is a store at %s already", dir);
        r = has_been_opened(dir) ? 0 : check_outside(dir) ?: check_free(dir);
        if (r == 0)
                r = workspace_make_folders(dir);
        if (r == 0 && chmod(dir, 0700) < 0)
                r = errorf(-errno, "cannot set the mode of %s: %s", dir, strerror(errno));
        if (r == 0)
                r = store_open(dir, workspace_tables, N_TABLES, STORE_CREATE, &s);
        if (r < 0)
                return r;
        r = config_text_read(s, path, &lost);
        if (r == 0 && lost.cut)
                r = errorf(-EEXIST, "there is a store at %s already, whose config is gone: 'solverfs fsck' puts it back", dir);
        store_close(s);
        if (r == 0 && workspace_network(dir))
                log_warning("%s is on %s, where the database is not safe: make the store on a local disk, and name it by $SOLVERFS_STORE", dir,
                            workspace_network(dir));
        return r < 0 ? r : write_file_atomic(path, config, sizeof(config) - 1, 0600); /* last: a folder with a config is a store */
}
