#include "scratch_store.h"

int with_scratch_store(int (*fn)(void *user), void *user)
{
        const struct common outer = common;
        char dir[PATH_SIZE];
        int r = command_scratch("try", dir), status;

        if (r < 0)
                return fail_as(STATUS_SYSTEM, r);
        common.workspace = NULL;
        common.solver = NULL;
        common.engine = NULL;
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
