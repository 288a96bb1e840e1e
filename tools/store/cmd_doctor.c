/* solverfs doctor: what this machine and this store can do, and how to fix what they cannot. */
#include "tools/command.h"
#include "core/workspace/worker_pool.h"
#include "tools/store/host_checks.h"
#include "mounts.h"

#include <fts.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#define LAUNCH_NS    (30 * NSEC_PER_SEC) /* --patience: a worker that has not started by then waits in a queue */
#define ROOM_WANTED  (UINT64_C(1) << 30) /* a GiB: less is a warning */
#define FILES_WANTED 10000               /* a checkout of a large solver has as many */

struct doctor {
        uint64_t patience_ns; /* --patience */
        char store[PATH_SIZE];
        size_t n_mounts;
};

static printf_like(3, 4) void show(const char *name, enum check_state state, const char *format, ...)
{
        static const struct column columns[] = {{"CHECK", 18}, {"STATE", 7}, {"WHAT"}, {0}};
        static const char *const names[] = {[CHECK_OK] = "ok", [CHECK_WARNING] = "warning", [CHECK_FAILED] = "failed"};
        char text[PATH_SIZE + 512];

        format_rest(text, format);
        if (state == CHECK_FAILED)
                command_worse(STATUS_FAILED);
        output_object(columns, json_pack("{ss ss so}", "check", name, "state", names[state], "what", json_printable(text)));
}

/* -- the store -------------------------------------------------------------------------------------------------- */

/* Looks two levels deep for a file that is not its owner's, as an earlier solverfs of root may have left it. */
static void check_owners(const char *store, uid_t owner)
{
        char *roots[] = {(char *)store, NULL};
        FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
        FTSENT *entry;

        while (tree && (entry = fts_read(tree))) {
                if (entry->fts_level == 2)
                        fts_set(tree, entry, FTS_SKIP);
                if (entry->fts_info == FTS_NS || entry->fts_info == FTS_ERR || entry->fts_statp->st_uid == owner)
                        continue;
                show("store-owner", CHECK_FAILED, "%s belongs to uid %u, and the store to uid %u, which may not be able to use it: "
                     "'chown -R %u %s' as root", entry->fts_path, (unsigned)entry->fts_statp->st_uid, (unsigned)owner, (unsigned)owner, store);
                break;
        }
        if (tree)
                fts_close(tree);
}

static void check_disk(const char *store)
{
        const char *network = workspace_network(store);
        struct statfs fs;
        struct stat st;
        uint64_t room;

        if (stat(store, &st) < 0 || statfs(store, &fs) < 0) {
                show("store-disk", CHECK_FAILED, "cannot look at %s: %s", store, strerror(errno));
                return;
        }
        if (st.st_mode & 077)
                show("store-mode", CHECK_WARNING, "others may look into %s: 'chmod 700 %s'", store, store);
        else if (st.st_uid != geteuid())
                show("store-mode", CHECK_WARNING, "%s belongs to uid %u, and we are uid %u: only its owner may write there", store, (unsigned)st.st_uid,
                     (unsigned)geteuid());
        else
                show("store-mode", CHECK_OK, "only we may look into %s", store);
        if (st.st_uid != 0) /* root can use everything */
                check_owners(store, st.st_uid);
        if (network)
                show("store-disk", CHECK_FAILED, "%s is on %s, where the database is not safe: move the store to a local disk", store, network);
        room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
        show("store-room", room < ROOM_WANTED ? CHECK_WARNING : CHECK_OK, "%.1f GiB free at %s%s", (double)room / (double)ROOM_WANTED, store,
             room < ROOM_WANTED ? ": 'solverfs gc' frees what can be built again" : "");
        if (fs.f_files > 0 && fs.f_ffree < FILES_WANTED) /* 0: the file system makes inodes as it needs them */
                show("store-files", CHECK_WARNING,
                     "room for %llu more files at %s, however many bytes are free: 'df -i' shows it; 'solverfs gc' frees some",
                     (unsigned long long)fs.f_ffree, store);
        if (fs.f_flags & ST_NOEXEC)
                show("store-programs", CHECK_FAILED,
                     "%s is on a file system mounted noexec, so nothing built can be run: mount it without, or move the store", store);
        if (access(store, W_OK) < 0)
                show("store-writable", CHECK_WARNING, "nothing new can be kept in %s: %s", store, strerror(errno));
}

static void check_cluster(struct doctor *d, struct workspace *w, const struct cluster_settings *s)
{
        cleanup_buffer struct buffer worker = {0};
        cleanup_blob struct blob machine = {0};
        cleanup_free char *known = NULL;
        char name[160], key[128];
        int r;

        snprintf(name, sizeof(name), "cluster %s", s->name);
        if (store_fetch(workspace_store(w), TABLE_META, slice_string(pool_key(s->name, key)), &machine) == 0)
                known = format_string("%.*s", (int)machine.size, (const char *)machine.data);
        r = cluster_try(s, known, d->patience_ns, &worker);
        if (r == 0)
                show(name, CHECK_OK, "%s", worker.data);
        else if (r == -EAGAIN)
                show(name, CHECK_WARNING, "%s: is there a queue before it? Its results begin when it does", error_message(r));
        else
                show(name, CHECK_FAILED, "no worker can be had: %s", error_message(r));
}

static int show_future(void *, const char *folder, const char *name)
{
        cleanup_free char *path = format_string("%s/%s", folder, name);
        const int64_t future = host_future(path);

        if (future)
                show("store-date", CHECK_WARNING, "%s is of %s, in the future, and so may be results: the date is wrong, or was", path,
                     format_date(future).s);
        return future != 0;
}

static void check_store(struct doctor *d)
{
        cleanup_workspace struct workspace *w = NULL;
        struct store_stats stats;
        int r = workspace_find(d->store);

        if (r == 0) {
                check_disk(d->store);
                r = workspace_open(d->store, STORE_READ_ONLY, &w);
        }
        if (r < 0) {
                show("store", r == -ENOENT ? CHECK_WARNING : CHECK_FAILED, "%s", error_message(r));
                return;
        }
        show("store", CHECK_OK, "%s opens, and its format is known", d->store);
        folder_each(d->store, show_future, NULL); /* the first is enough */
        r = store_stats(workspace_store(w), &stats);
        if (r < 0)
                show("store-database", CHECK_FAILED, "%s: 'solverfs fsck' may repair it", error_message(r));
        else
                show("store-database", stats.used_bytes > stats.map_size / 10 * 9 ? CHECK_WARNING : CHECK_OK,
                     "%" PRIu64 " MiB of %" PRIu64 " MiB used, journal %" PRIu64 " MiB", stats.used_bytes >> 20, stats.map_size >> 20,
                     stats.journal_bytes >> 20);
        if (workspace_settings(w)->sandbox == SANDBOX_NONE)
                show("store-sandbox", CHECK_WARNING,
                     "'sandbox = none' in %s/config: builds and solvers see this machine and its network; take it out unless all of them are trusted",
                     d->store);
        for (size_t i = 0; i < workspace_settings(w)->n_clusters; i++)
                check_cluster(d, w, &workspace_settings(w)->clusters[i]);
}

/* -- mounts ----------------------------------------------------------------------------------------------------- */

static void show_mount(void *user, const char *mountpoint, const char *store, bool alive)
{
        struct doctor *d = user;

        d->n_mounts++;
        if (alive)
                show("mount", CHECK_OK, "%s serves %s", mountpoint, store);
        else
                show("mount", CHECK_WARNING, "%s is stale: its daemon is gone; 'solverfs unmount %s' detaches it, mounting again does too", mountpoint,
                     mountpoint);
}

static void show_check(void *, const struct host_check *c)
{
        show(c->name, c->state, "%s", c->text);
}

void cmd_doctor(int argc, char **argv)
{
        static const char doc[] =
                "Check this machine and this store. Prints for each check: name; ok, warning or failed; what was found and what to do.\v"
                "Exit status 1 when a check failed; a warning is no failure.";
        struct doctor d = {.patience_ns = LAUNCH_NS};
        const struct command_option options[] = {
                {"patience", 'p', "T", "Warn if a cluster's worker has not started after T; default 30s", .ns = &d.patience_ns},
                OPTION_JSON("Print a JSON object for each check, a line each"),
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        command_store_dir(d.store);
        host_checks("", show_check, NULL);
        check_store(&d);
        command_must(mounts_each(show_mount, &d));
        if (d.n_mounts == 0)
                show("mount", CHECK_OK, "nothing is mounted");
}
