#include "cache/base/helper.h"

#include <sys/stat.h>

/* A program, or an archive. */
static bool is_helper(const char *path)
{
        const char *suffix = strrchr(path, '.');
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, suffix && strcmp(suffix, ".a") == 0 ? R_OK : X_OK) == 0;
}

int own_folder(char ret[PATH_SIZE])
{
        ssize_t n = readlink("/proc/self/exe", ret, PATH_SIZE - 1);
        char *slash;

        ret[MAX(n, 0)] = '\0';
        slash = strrchr(ret, '/');
        if (!slash)
                return -ENOENT;
        *slash = '\0';
        return 0;
}

int helper_path(const char *name, const char *room, const char *variable, char ret[PATH_SIZE])
{
        const char *given = getenv(variable);
        char self[PATH_SIZE], beside[4][128];
        int r;

        if (given) {
                if (snprintf(ret, PATH_SIZE, "%s", given) < PATH_SIZE && given[0] == '/' && is_helper(ret))
                        return 0;
                return errorf(-ENODEV, "$%s is '%s', which is not an absolute path of a program", variable, given);
        }
        r = own_folder(self);
        snprintf(beside[0], sizeof(beside[0]), "%s", name);
        snprintf(beside[1], sizeof(beside[1]), "../%s/%s", room, name);    /* build folder: from the command */
        snprintf(beside[2], sizeof(beside[2]), "../../%s/%s", room, name); /* build folder: from a room's tests */
        snprintf(beside[3], sizeof(beside[3]), "../libexec/%s", name);     /* an installation that was moved */
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(beside); i++)
                if (path_join(ret, self, beside[i]) == 0 && is_helper(ret))
                        return 0;
        if (path_join(ret, SOLVERFS_LIBEXECDIR, name) == 0 && is_helper(ret))
                return 0;
        return errorf(-ENODEV, "the helper %s is neither beside the program in %s nor in %s; install solverfs again", name, self,
                      SOLVERFS_LIBEXECDIR);
}
