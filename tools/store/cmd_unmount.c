/* solverfs unmount: detaches a mount and waits until its daemon has gone. */
#include "tools/command.h"
#include "fs/kernel/session.h"
#include "mounts.h"

static void say_late(const char *mountpoint, pid_t daemon)
{
        note("%s is detached here, but something is still open there from another mount namespace (a container, a sandbox); its daemon, process %d, "
             "ends when that is closed, and at once by 'kill %d'. Waiting for it",
             mountpoint, (int)daemon, (int)daemon);
}

/* Nothing is mounted there, which was said. It may have been, and be in use still. */
static void refuse_detached(const char *mountpoint)
{
        char given[PATH_SIZE], store[PATH_SIZE];
        pid_t daemon = 0;

        if (workspace_default_dir(common.store, given) == 0 && realpath(given, store))
                daemon = mounts_detached(store, mountpoint);
        if (daemon != 0)
                command_refuse(STATUS_FAILED,
                               "%s is detached already; its daemon, process %d, still serves what is open there: it ends when that is closed, and "
                                              "at once by 'kill -KILL %d'", mountpoint, (int)daemon, (int)daemon);
}

void cmd_unmount(int argc, char **argv)
{
        static const char doc[] = "Unmount DIR and wait until its daemon has gone: work in progress is cancelled, nothing finished is lost.";
        bool lazy = false;
        char mountpoint[PATH_SIZE], store[PATH_SIZE];
        int r;
        const struct command_option options[] = {
                {"lazy", 'l', NULL, "Detach it even while it is in use; who is inside gets to the end", .on = &lazy},
                {0}};
        const char *dir = command_parse(argc, argv, "DIR", doc, options).list[0];

        r = session_mountpoint(dir, mountpoint);
        if (r < 0)
                command_must_as(STATUS_ABSENT, errorf(r, "nothing of solverfs is mounted at %s: %s", dir, strerror(-r)));
        r = mounts_store(mountpoint, store);
        if (r == -ENOENT)
                refuse_detached(mountpoint);
        if (r < 0)
                command_must(errorf(r, "nothing of solverfs is mounted at %s", mountpoint));
        r = session_unmount(mountpoint, lazy);
        if (r == -EBUSY)
                command_refuse(STATUS_FAILED, "%s is in use: leave it and try again ('fuser -vm %s' says who is there), or use --lazy", dir, dir);
        command_must_as(r == -EINVAL ? STATUS_ABSENT : STATUS_FAILED, r);
        if (lazy)
                return;
        r = mounts_end(store, mountpoint, say_late);
        if (r != -EACCES && r != -ENOENT && r != -EROFS) /* another's store, or a source that is no store: detached, and that is all we can know */
                command_must(r);
}
