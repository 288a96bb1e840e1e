/* solverfs init: makes a store. */
#include "tools/command.h"

void cmd_init(int argc, char **argv)
{
        char dir[PATH_SIZE];

        command_parse(argc, argv, NULL, "Make a store: the folder that keeps repositories, cases, programs and measurements.", NULL);
        command_store_dir(dir);
        command_must(workspace_create(dir));
        note("made a store at %s; next: solverfs solver add NAME REPO", dir);
}
