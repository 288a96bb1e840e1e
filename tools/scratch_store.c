#include "scratch_store.h"

int with_scratch_store(int (*fn)(void *user), void *user)
{
        const struct common outer = common;
        const char *parent = getenv("TMPDIR");
        char dir[PATH_SIZE];
        int r, status;

        if (snprintf(dir, sizeof(dir), "%s/solverfs-try-XXXXXX", parent && *parent == '/' ? parent : "/tmp") >= (int)sizeof(dir) || !mkdtemp(dir)) {
                complain("cannot make a folder for the check in %s: %s", parent ?: "/tmp", strerror(errno));
                return STATUS_SYSTEM;
        }
        common.workspace = NULL;
        common.solver = NULL;
        common.engine = NULL;
        common.scratch = dir;
        r = workspace_create(dir);
        if (r == 0)
                r = workspace_open(dir, 0, &common.workspace);
        status = r < 0 ? fail(r) : fn(user);
        command_close();
        common.workspace = outer.workspace;
        common.solver = outer.solver;
        common.engine = outer.engine;
        return status;
}
