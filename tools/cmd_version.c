/* solverfs version: of solverfs and of what it stands on. */
#include <fuse_lowlevel.h>
#include <lmdb.h>
#include <zstd.h>

#include "command.h"
#include "version.h"

void cmd_version(int argc, char **argv)
{
        const struct command_option options[] = {{"json", 'j', NULL, "Print a JSON object", .on = &common.json}, {0}};
        int major, minor, revision;
        char lmdb[48];

        command_parse(argc, argv, NULL,
                      "Print the versions of solverfs, of the libraries it runs on, and of the libgit2 it was built with.", options);
        mdb_version(&major, &minor, &revision);
        snprintf(lmdb, sizeof(lmdb), "%d.%d.%d", major, minor, revision);

        const char *const rows[][2] = {
                {"solverfs", SOLVERFS_VERSION}, {"libfuse", fuse_pkgversion()},    {"libgit2", LIBGIT2_VERSION}, {"lmdb", lmdb},
                {"zstd", ZSTD_versionString()}, {"jansson", jansson_version_str()}};

        if (common.json) {
                json_t *o = json_object();

                for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                        json_object_set_new(o, rows[i][0], json_string(rows[i][1]));
                output_json(o);
                return;
        }
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                output_rowf((struct column[]){{"", 10, false}, {"", 0, false}}, 2, "%s\t%s", rows[i][0], rows[i][1]);
}
