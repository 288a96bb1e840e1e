/* solverfs unmount: detaches a mount and waits until its daemon has gone. */
#include "command.h"
#include "fs/kernel/session.h"
#include "mounts.h"

static void say_late(const char *mountpoint, pid_t daemon)
{
        note("%s is detached here, but something is still open there from another mount namespace (a container, a sandbox); its daemon, process %d, "
             "ends when that is closed, and at once by 'kill %d'. Waiting for it",
             mountpoint, (int)daemon, (int)daemon);
}

/* Nothing is mounted there. It may have been, and be in use still. */
static int say_absent(const char *mountpoint, int r)
{
        cleanup_free char *why = strdup(error_message(r));
        char given[PATH_SIZE], store[PATH_SIZE];
        pid_t daemon = 0;

        if (workspace_default_dir(common.store, given) == 0 && realpath(given, store))
                daemon = mounts_detached(store, mountpoint);
        if (daemon == 0)
                return fail_as(STATUS_ABSENT, errorf(r, "%s", why ? why : "nothing is mounted there"));
        complain("%s is detached already; its daemon, process %d, still serves what is open there: it ends when that is closed, and at once by 'kill "
                 "-KILL %d'",
                 mountpoint, (int)daemon, (int)daemon);
        return STATUS_FAILED;
}

int cmd_unmount(int argc, char **argv)
{
        struct words words = {0};
        const char *dir;
        bool lazy = false;
        char mountpoint[PATH_SIZE], store[PATH_SIZE];
        int r;
        const struct command_option options[] = {
                {"lazy", 'l', NULL, "Detach it even while it is in use; who is inside gets to the end", .on = &lazy},
                {0}};

        command_parse(argc, argv, "DIR",
                      "Unmount DIR and wait until its daemon has gone: work in progress is cancelled, nothing finished is lost.", options, &words);
        if (words.n > 1)
                command_usage("one DIR at a time");
        dir = word_next(&words);
        if (!dir)
                command_usage("expected DIR");
        r = session_mountpoint(dir, mountpoint);
        if (r < 0)
                return fail_as(STATUS_ABSENT, errorf(r, "nothing of solverfs is mounted at %s: %s", dir, strerror(-r)));
        r = mounts_store(mountpoint, store);
        if (r < 0)
                return r == -ENOENT ? say_absent(mountpoint, r) : fail(r);
        r = session_unmount(mountpoint, lazy);
        if (r == -EBUSY) {
                complain("%s is in use: leave it and try again ('fuser -vm %s' says who is there), or use --lazy", dir, dir);
                return STATUS_FAILED;
        }
        if (r < 0)
                return fail_as(r == -EINVAL ? STATUS_ABSENT : STATUS_FAILED, r);
        if (lazy)
                return STATUS_OK;
        r = mounts_end(store, mountpoint, say_late);
        if (r == -EACCES || r == -ENOENT || r == -EROFS)
                return STATUS_OK; /* another's store, or a source that is no store: detached, and that is all we can know */
        return r < 0 ? fail(r) : STATUS_OK;
}
