/* .solverfs/: what the daemon and its engine do now. */
#include "fs/routes/routes.h"

#include <inttypes.h>
#include <fuse3/fuse.h>
#include <lmdb.h>
#include <zstd.h>

#include "cache/base/process.h"
#include "core/run/slot.h"
#include "version.h"

enum {
        KIND_DOT = 50,
};

/* -- .solverfs/version -- */

static int version_text(struct tree *t, const struct node *n, struct buffer *ret)
{
        int major, minor, revision;

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

static int status_wrong(void *user, enum answer_alarm a, const char *line)
{
        struct buffer *b = user;

        buffer_addf(b, "%s: %s\n", answer_alarm_name(a), line);
        return 0;
}

static void status_cluster(void *user, const struct remote_view *v)
{
        remote_view_line(v, user);
        buffer_adds(user, "\n");
}

static void status_slot(void *user, const struct slot_view *v)
{
        slot_view_line(v, user);
        buffer_adds(user, "\n");
}

static int live_status(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_buffer struct buffer mistakes = {0};
        struct engine_counters c;
        char *rest;

        if (!tree_engine(t)) {
                buffer_adds(ret, "no engine\n");
                return 0;
        }
        engine_counters(tree_engine(t), &c);
        buffer_addf(ret, "%" PRIu64 " running, %" PRIu64 " queued, %" PRIu64 " reader%s waiting, %u cores, store %s\n", c.running,
                    c.queued, c.waiters, c.waiters == 1 ? "" : "s", c.slots, workspace_dir(tree_workspace(t)));
        workspace_mistakes(tree_workspace(t), &mistakes);
        for (char *line = mistakes.data ? strtok_r(mistakes.data, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
                buffer_addf(ret, "CONFIG: %s\n", line);
        wrong_answers(tree_workspace(t), NULL, status_wrong, ret);
        engine_each_remote(tree_engine(t), status_cluster, ret);
        engine_each_slot_of_store(workspace_dir(tree_workspace(t)), status_slot, ret);
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

static int live_jobs(struct tree *t, const struct node *n, struct buffer *ret)
{
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
        char text[8192];
        const char *memory = process_text(getpid(), "status", text, sizeof(text)) > 0 ? strstr(text, "\nRssAnon:") : NULL;

        return memory ? strtoull(memory + strlen("\nRssAnon:"), NULL, 10) * 1024 : 0;
}

struct program_bytes {
        uint64_t n, bytes;
};

static int add_program(void *user, const char *, const struct digest *id, const struct stat *st)
{
        struct program_bytes *p = user;

        p->n += id != NULL;
        p->bytes += id ? (uint64_t)st->st_size : 0;
        return 0;
}

static int live_stats(struct tree *t, const struct node *n, struct buffer *ret)
{
        struct engine_counters c = {0};
        struct store_stats s = {0};
        struct program_bytes p = {0};

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
        metric(ret, "prints_total", "counter", "Histories, comparisons and pages that were made to be read.", tree_prints(t));
        metric(ret, "memory_anonymous_bytes", "gauge", "RssAnon of the daemon.", own_memory());
        metric(ret, "store_waiting", "gauge", "Facts that wait for the disk's commit before theirs.",
               store_waiting(workspace_store(tree_workspace(t))));
        if (store_stats(workspace_store(tree_workspace(t)), &s) == 0) {
                metric(ret, "store_bytes", "gauge", "Bytes used in the store's database.", s.used_bytes);
                metric(ret, "store_journal_bytes", "gauge", "Bytes of the journal.", s.journal_bytes);
                for (size_t i = 0; i < s.n_tables; i++)
                        buffer_addf(ret, "solverfs_store_entries{table=\"%s\"} %" PRIu64 "\n", s.tables[i].name,
                                    s.tables[i].entries);
        }
        if (programs_each(workspace_programs(tree_workspace(t)), add_program, &p) == 0) {
                metric(ret, "programs", "gauge", "Built programs that are kept.", p.n);
                metric(ret, "programs_bytes", "gauge", "Bytes of their files.", p.bytes);
        }
        return 0;
}

static const struct route rows[] = {
        {KIND_DOT, IN(KIND_ROOT), .name = ".solverfs", .starts = true, .type = NODE_FOLDER, .absent = ABSENT_FOREVER,
         .about = "live files, read fresh at each open"},
        {51, IN(KIND_DOT), .name = "status", .type = NODE_LIVE, .content = live_status,
         .about = "what runs, what waits, how far, how long still"},
        {52, IN(KIND_DOT), .name = "jobs.tsv", .type = NODE_LIVE, .content = live_jobs, .about = "the same, for scripts"},
        {53, IN(KIND_DOT), .name = "stats", .type = NODE_LIVE, .content = live_stats,
         .about = "counters, in the Prometheus text format"},
        {54, IN(KIND_DOT), .name = "version", .type = NODE_LIVE, .content = version_text,
         .about = "of solverfs and of the libraries it runs with"},
};

const struct subtree live_subtree = {rows, ARRAY_SIZE(rows)};
