#include "core/build/build_tools.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/helper.h"

#define CCACHE    "/usr/bin/ccache"
#define SHIM_LINK ".shim" /* the target of the other links */

static int add_link(const char *folder, const char *name, const char *target)
{
        char path[PATH_SIZE];
        int r = path_join(path, folder, name);

        if (r < 0)
                return r;
        return symlink(target, path) < 0 && errno != EEXIST ? errorf(-errno, "cannot make %s: %s", path, strerror(errno)) : 0;
}

/* As x86_64-linux-gnu-g++-12: there may be a prefix and a version. */
static bool is_compiler(const char *name)
{
        static const char *const names[] = {"cc", "c++", "gcc", "g++", "clang", "clang++"};
        size_t end = strlen(name), begin;

        while (end > 0 && (isdigit((unsigned char)name[end - 1]) || name[end - 1] == '.'))
                end--;
        if (name[end] && end > 0 && name[end - 1] == '-')
                end--;
        for (begin = end; begin > 0 && name[begin - 1] != '-'; begin--)
                ;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strlen(names[i]) == end - begin && memcmp(names[i], name + begin, end - begin) == 0)
                        return true;
        return false;
}

/* All that are installed: ccache's own folder of links lacks those that are younger than it. */
static int add_compilers(const char *folder)
{
        static const char *const where[] = {"/usr/bin", "/usr/local/bin"};
        int r = 0;

        for (size_t i = 0; i < ARRAY_SIZE(where); i++) {
                cleanup_dir DIR *d = opendir(where[i]);
                struct dirent *e;

                while (r == 0 && d && (e = readdir(d)))
                        if (is_compiler(e->d_name) && faccessat(dirfd(d), e->d_name, X_OK, 0) == 0)
                                r = add_link(folder, e->d_name, SHIM_LINK);
        }
        return r == 0 ? add_link(folder, "cpp.solverfs", SHIM_LINK) : r;
}

/* A copy: the sandbox shows only this folder. */
static int add_trail(const char *folder)
{
        char from[PATH_SIZE], to[PATH_SIZE];
        cleanup_close int in = -1, out = -1;
        int r = helper_path("solverfs-trail.a", "core/build", "SOLVERFS_TRAIL_RUNTIME", from)
            ?: path_join(to, folder, BUILD_TRAIL_NAME);

        if (r < 0)
                return r;
        in = open(from, O_RDONLY | O_CLOEXEC);
        out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        r = in < 0 || out < 0 || fchmod(out, 0644) < 0 ? -errno : copy_fd(in, out);
        return r < 0 ? errorf(r, "cannot copy %s to %s: %s", from, to, strerror(-r)) : 0;
}

int build_tools_make(const char *folder, const char *shim, bool with_compilers, bool with_trail, bool *ret_has_ccache)
{
        int r = remove_tree(folder);

        *ret_has_ccache = with_compilers && access(CCACHE, X_OK) == 0;
        if (r == 0 && mkdir(folder, 0755) < 0)
                r = errorf(-errno, "cannot make folder %s: %s", folder, strerror(errno));
        if (r == 0 && chmod(folder, 0755) < 0) /* the umask is a store's */
                r = -errno;
        if (r == 0)
                r = add_link(folder, SHIM_LINK, shim)
                    ?: add_link(folder, "date", SHIM_LINK);
        if (r == 0 && with_trail)
                r = add_trail(folder);
        return r == 0 && (*ret_has_ccache || with_trail) ? add_compilers(folder) : r;
}
