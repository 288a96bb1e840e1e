/* solverfs init: makes a store. solverfs version: versions of solverfs and its libraries. */
#include <fuse_lowlevel.h>
#include <lmdb.h>
#include <zstd.h>

#include "tools/command.h"
#include "version.h"

void cmd_init(int argc, char **argv)
{
        char dir[PATH_SIZE];
        int r;

        command_parse(argc, argv, NULL, "Make a store: the folder that keeps repositories, cases, programs and measurements.", NULL);
        command_store_dir(dir);
        r = workspace_create(dir);
        if (r == -EEXIST || r == -ENOTEMPTY || r == -EINVAL || r == -EPROTONOSUPPORT) /* something is in the way; else the folder cannot be made */
                command_must(r);
        command_must_as(STATUS_SYSTEM, r);
        note("made a store at %s; next: solverfs solver add NAME REPO", dir);
}

void cmd_version(int argc, char **argv)
{
        static const struct column columns[] = {{"", 10}, {""}, {0}};
        const struct command_option options[] = {OPTION_JSON("Print a JSON object"), {0}};
        int major, minor, revision;
        json_t *versions, *version;
        const char *name;
        char lmdb[48];

        command_parse(argc, argv, NULL,
                      "Print the versions of solverfs, of the libraries it runs on, and of the libgit2 it was built with.", options);
        mdb_version(&major, &minor, &revision);
        snprintf(lmdb, sizeof(lmdb), "%d.%d.%d", major, minor, revision);

        versions = json_pack("{ss ss ss ss ss ss}", "solverfs", SOLVERFS_VERSION, "libfuse", fuse_pkgversion(), "libgit2", LIBGIT2_VERSION, "lmdb", lmdb,
                             "zstd", ZSTD_versionString(), "jansson", jansson_version_str());
        if (common.json) {
                output_json(versions);
                return;
        }
        json_object_foreach(versions, name, version)
                output_rowf(columns, "%s\t%s", name, json_string_value(version));
        json_decref(versions);
}
