/* README and .solverfs/: what the mount says of itself. */
#include "fs/routes/routes.h"

#include <inttypes.h>
#include <fuse3/fuse.h>
#include <lmdb.h>
#include <zstd.h>

#include "version.h"

/* -- the README -- */

static const char readme_head[] =
        "solverfs: the history of solvers as files.\n"
        "\n"
        "    cat <solver>/commits/<sha>/cases/<case>/time\n"
        "\n"
        "builds that commit if need be, runs it on that case in a sandbox under limits, keeps the result for good, and answers.\n"
        "\n"
        "Opening a file marked * starts that work and waits for it; Ctrl-C gives up. Nothing else starts anything: ls -lR, "
        "find,\n"
        "du and stat are free. cached/ shows only what is finished and never starts work: point backup tools, indexers and\n"
        "recursive grep there. To see whether a file is ready: getfattr -n user.solverfs.state FILE.\n"
        "\n"
        "Words in <angle brackets> are names that vary. A name under commits/ and cached/ may be a full sha, a prefix of at "
        "least\n"
        "four digits, a tag, a branch, HEAD~3, or anything git rev-parse takes that has no slash.\n"
        "\n";

static void readme_rows(struct buffer *b, enum kind folder, unsigned depth, bool *shown)
{
        for (size_t i = 0; i < N_KINDS; i++) {
                const struct route *row = &routes[i];
                char name[64];

                if (!(row->parents & IN(folder)) || !row->about)
                        continue;
                snprintf(name, sizeof(name), "%*s%s%s", (int)(2 * depth), "", row->name ? row->name : row->shown,
                         row->type == NODE_FOLDER     ? "/"
                         : row->type == NODE_COMPUTED ? " *"
                                                      : "");
                buffer_addf(b, "%-28s %s\n", name, row->about);
                if (row->type != NODE_FOLDER || shown[i])
                        continue;
                shown[i] = true; /* what is in it is said once */
                readme_rows(b, row->kind, depth + 1, shown);
        }
}

CONTENT(readme_text)
{
        bool shown[N_KINDS] = {false};

        (void)t, (void)n;
        buffer_adds(ret, readme_head);
        readme_rows(ret, KIND_ROOT, 0, shown);
        return 0;
}

/* -- .solverfs/version -- */

CONTENT(version_text)
{
        int major, minor, revision;

        (void)t, (void)n;
        git_libgit2_version(&major, &minor, &revision);
        buffer_addf(ret, "solverfs %s\nlibfuse %s\nlibgit2 %d.%d.%d\nlmdb %s\nzstd %s\n", SOLVERFS_VERSION, fuse_pkgversion(),
                    major, minor, revision, mdb_version(NULL, NULL, NULL), ZSTD_versionString());
        return 0;
}

/* -- .solverfs/status -- */

static void print_duration(struct buffer *b, uint64_t ns)
{
        uint64_t s = ns / NSEC_PER_SEC;

        if (s < 60)
                buffer_addf(b, "%" PRIu64 ".%" PRIu64 "s", s, ns % NSEC_PER_SEC / (NSEC_PER_SEC / 10));
        else if (s < 3600)
                buffer_addf(b, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
        else
                buffer_addf(b, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
}

static void status_job(void *user, const struct job_view *j)
{
        struct buffer *b = user;

        buffer_addf(b, "%8" PRIu64 "  %-7s  %s", j->id, job_state_name(j->state), j->what);
        if (j->phase[0])
                buffer_addf(b, ", %s", j->phase);
        if (j->total > 0)
                buffer_addf(b, " %" PRIu64 "/%" PRIu64, j->done, j->total);
        buffer_adds(b, j->state == JOB_RUNNING ? ", for " : ", since ");
        print_duration(b, j->state == JOB_RUNNING ? j->running_ns : j->age_ns);
        if (j->remaining_ns > 0) {
                buffer_adds(b, ", about ");
                print_duration(b, j->remaining_ns);
                buffer_adds(b, " left");
        }
        if (j->waiters != 1)
                buffer_addf(b, ", %u waiting", j->waiters);
        if (j->pid != getpid())
                buffer_addf(b, ", process %d", j->pid);
        buffer_adds(b, "\n");
}

static int status_wrong(void *user, const char *line)
{
        struct buffer *b = user;

        buffer_addf(b, "WRONG ANSWER: %s\n", line);
        return 0;
}

CONTENT(live_status)
{
        cleanup_buffer struct buffer mistakes = {0};
        struct engine_counters c;
        char *rest;

        (void)n;
        if (!tree_engine(t)) {
                buffer_adds(ret, "no engine\n");
                return 0;
        }
        engine_counters(tree_engine(t), &c);
        buffer_addf(ret, "%" PRIu64 " running, %" PRIu64 " queued, %" PRIu64 " readers waiting, %u cores, store %s\n", c.running,
                    c.queued, c.waiters, c.slots, workspace_dir(tree_workspace(t)));
        workspace_mistakes(tree_workspace(t), &mistakes);
        for (char *line = mistakes.data ? strtok_r(mistakes.data, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
                buffer_addf(ret, "CONFIG: %s\n", line);
        wrong_answers(tree_workspace(t), status_wrong, ret);
        return engine_each_job(tree_engine(t), status_job, ret);
}

/* -- .solverfs/jobs.tsv -- */

static void jobs_line(void *user, const struct job_view *j)
{
        buffer_addf(user, "%" PRIu64 "\t%d\t%s\t%s\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t%.3f\t%.3f\t%u\n", j->id, j->pid,
                    j->query, j->what, job_state_name(j->state), j->priority == PRIORITY_PERSON ? "person" : "batch", j->phase,
                    j->done, j->total, (double)j->age_ns / 1e9, (double)j->running_ns / 1e9, (double)j->remaining_ns / 1e9,
                    j->waiters);
}

CONTENT(live_jobs)
{
        (void)n;
        buffer_adds(ret, "id\tpid\tquery\twhat\tstate\tpriority\tphase\tdone\ttotal\tage\trunning\tremaining\twaiters\n");
        return tree_engine(t) ? engine_each_job(tree_engine(t), jobs_line, ret) : 0;
}

/* -- .solverfs/stats: Prometheus text, of the daemon's own health -- */

static void metric(struct buffer *b, const char *name, const char *type, const char *help, uint64_t value)
{
        buffer_addf(b, "# HELP solverfs_%s %s\n# TYPE solverfs_%s %s\nsolverfs_%s %" PRIu64 "\n", name, help, name, type, name,
                    value);
}

static uint64_t own_memory(void)
{
        cleanup_file FILE *f = fopen("/proc/self/status", "re");
        char line[256];
        uint64_t kib = 0;

        while (f && fgets(line, sizeof(line), f))
                if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1)
                        break;
        return kib * 1024;
}

CONTENT(live_stats)
{
        struct engine_counters c = {0};
        struct store_stats s = {0};

        (void)n;
        if (tree_engine(t))
                engine_counters(tree_engine(t), &c);
        metric(ret, "asked_total", "counter", "Values asked for by opens and commands.", c.asked);
        metric(ret, "hits_total", "counter", "Of those, answered from the store.", c.hits);
        metric(ret, "joined_total", "counter", "Of those, that joined a job under way.", c.joined);
        metric(ret, "refused_total", "counter", "Of those, refused because the queue was full.", c.refused);
        metric(ret, "jobs_started_total", "counter", "Jobs started.", c.started);
        metric(ret, "jobs_finished_total", "counter", "Jobs that gave a value.", c.finished);
        metric(ret, "jobs_failed_total", "counter", "Jobs that failed.", c.failed);
        metric(ret, "jobs_cancelled_total", "counter", "Jobs that nobody waited for any more.", c.cancelled);
        metric(ret, "jobs_queued", "gauge", "Jobs that wait for their turn.", c.queued);
        metric(ret, "jobs_running", "gauge", "Jobs that run.", c.running);
        metric(ret, "waiters", "gauge", "Readers and commands that wait.", c.waiters);
        metric(ret, "slots", "gauge", "Cores that jobs may own.", c.slots);
        metric(ret, "memory_anonymous_bytes", "gauge", "RssAnon of the daemon.", own_memory());
        if (store_stats(workspace_store(tree_workspace(t)), &s) == 0) {
                metric(ret, "store_bytes", "gauge", "Bytes used in the store's database.", s.used_bytes);
                metric(ret, "store_journal_bytes", "gauge", "Bytes of the journal.", s.journal_bytes);
                for (size_t i = 0; i < s.n_tables; i++)
                        buffer_addf(ret, "solverfs_store_entries{table=\"%s\"} %" PRIu64 "\n", s.tables[i].name,
                                    s.tables[i].entries);
        }
        return 0;
}
