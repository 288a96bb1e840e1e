/* solverfs init: makes a store. */
#include "command.h"

int cmd_init(int argc, char **argv)
{
        char dir[PATH_SIZE];
        int r;

        command_parse(argc, argv, NULL, "Make a store: the folder that keeps repositories, cases, programs and measurements.", NULL, NULL);
        r = command_store_dir(dir);
        if (r != STATUS_OK)
                return r;
        r = workspace_create(dir);
        if (r < 0)
                return fail(r);
        note("made a store at %s; next: solverfs solver add NAME REPO", dir);
        return STATUS_OK;
}
