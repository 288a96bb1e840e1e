#include "core/git/paths.h"

#include "cache/base/util.h"

#define LEAVES_OUT ":!"

const char *paths_left_out(const char *entry)
{
        return strncmp(entry, LEAVES_OUT, strlen(LEAVES_OUT)) == 0 ? entry + strlen(LEAVES_OUT) : NULL;
}

bool paths_have_inclusions(char *const *paths)
{
        for (; *paths; paths++)
                if (!paths_left_out(*paths))
                        return true;
        return false;
}

bool paths_leave_out(char *const *paths, const char *path)
{
        for (; *paths; paths++)
                if (paths_left_out(*paths) && strcmp(paths_left_out(*paths), path) == 0)
                        return true;
        return false;
}

bool paths_leave_out_within(char *const *paths, const char *folder)
{
        for (; *paths; paths++)
                if (paths_left_out(*paths) && path_is_in(paths_left_out(*paths), folder))
                        return true;
        return false;
}

bool paths_have(char *const *paths, const char *path)
{
        bool have = !paths_have_inclusions(paths);

        for (; *paths; paths++)
                if (paths_left_out(*paths) && path_is_in(path, paths_left_out(*paths)))
                        return false;
                else if (!paths_left_out(*paths))
                        have |= path_is_in(path, *paths);
        return have;
}
