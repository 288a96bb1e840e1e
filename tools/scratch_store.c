#include "scratch_store.h"

int with_scratch_store(int (*fn)(void *user, struct workspace *w), void *user)
{
        const char *parent = getenv("TMPDIR");
        struct workspace *w = NULL;
        char dir[PATH_SIZE];
        int r, status;

        if (snprintf(dir, sizeof(dir), "%s/solverfs-try-XXXXXX", parent && *parent == '/' ? parent : "/tmp") >= (int)sizeof(dir) || !mkdtemp(dir)) {
                complain("cannot make a folder for the check in %s: %s", parent ?: "/tmp", strerror(errno));
                return STATUS_SYSTEM;
        }
        r = workspace_create(dir);
        if (r == 0)
                r = workspace_open(dir, 0, &w);
        status = r < 0 ? fail(r) : fn(user, w);
        workspace_close(w);
        if (remove_tree(dir) < 0)
                complain("%s is left behind", dir);
        return status;
}
