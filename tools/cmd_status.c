/* solverfs status: what runs and what waits, in every process on the store. */
#include "command.h"
#include "core/query/disturbed.h"
#include "core/run/slot.h"
#include "core/study/observation/campaign_store.h"

#include <poll.h>

#define LINES_BESIDE 6 /* of a terminal: the heading, what is said below the rows, the prompt */

struct looking {
        bool watch;
        size_t n_running, n_queued, n_disturbed;
        size_t n_shown, n_hidden; /* rows; of waiting jobs that a terminal has no lines for */
        json_t *answer; /* --json */
};

static const struct column columns[] = {{"PID", 7, true, 3},       {"JOB", 5, true},        {"STATE", 7, false}, {"RUNNING (s)", 11, true},
                                        {"LEFT (s)", 8, true, 1}, {"WAITERS", 7, true, 4}, {"WHAT", 31, false}, {"PHASE", 0, false, 2}};

/* Takes the reference. */
static void add_to(const struct looking *l, const char *list, json_t *j)
{
        json_array_append_new(json_object_get(l->answer, list), j);
}

static void look_json(const struct looking *l, const struct job_view *j)
{
        add_to(l, "jobs", json_pack("{s:i, s:I, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:i}", "pid",
                                                 j->pid, "job", (json_int_t)j->id, "state", job_state_name(j->state), "query",
                                                 j->query, "what", j->what, "phase", j->phase ? j->phase : "", "priority",
                                                 j->priority == PRIORITY_PERSON ? "person" : "batch", "done", (json_int_t)j->done,
                                                 "total", (json_int_t)j->total, "age", (double)j->age_ns / 1e9, "running",
                                                 (double)j->running_ns / 1e9, "left", (double)j->remaining_ns / 1e9, "waiters",
                                                 (int)j->waiters));
}

static void look_row(const struct job_view *j)
{
        cleanup_free char *phase = printable(j->phase && *j->phase ? j->phase : "-");
        char ran[32] = "-", left[32] = "-", steps[128];

        if (j->state == JOB_RUNNING)
                snprintf(ran, sizeof(ran), "%.1f", (double)j->running_ns / 1e9);
        if (j->remaining_ns > 0)
                snprintf(left, sizeof(left), "%.0f", (double)j->remaining_ns / 1e9);
        snprintf(steps, sizeof(steps), "%s", phase);
        if (j->total > 0)
                snprintf(steps, sizeof(steps), "%.80s %llu/%llu", phase, (unsigned long long)j->done,
                         (unsigned long long)j->total);
        output_rowf(columns, ARRAY_SIZE(columns), "%d\t%llu\t%s\t%s\t%s\t%u\t%s\t%s", j->pid, (unsigned long long)j->id, job_state_name(j->state), ran,
                    left, j->waiters, j->what, steps);
}

static void look(void *user, const struct job_view *j)
{
        struct looking *l = user;

        l->n_running += j->state == JOB_RUNNING;
        l->n_queued += j->state == JOB_QUEUED;
        if (common.json)
                look_json(l, j);
        else if (j->state == JOB_QUEUED && l->n_shown + LINES_BESIDE >= output_lines())
                l->n_hidden++;
        else {
                look_row(j);
                l->n_shown++;
        }
}

static int look_wrong(void *user, enum answer_alarm a, const char *line)
{
        struct looking *l = user;

        if (common.json)
                add_to(l, a == ANSWER_WRONG ? "wrong" : "contradictions", json_string(line));
        else
                alarm_line("%s: %s", answer_alarm_name(a), line);
        return 0;
}

static void look_away(void *user, const struct away_view *v)
{
        struct looking *l = user;
        cleanup_buffer struct buffer line = {0};

        if (common.json) {
                add_to(l, "clusters", json_pack("{s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:s}", "pid", v->pid, "name",
                                                             v->name, "machine", v->machine, "workers", (int)v->wanted, "waiting", (int)v->queued,
                                                             "present", (int)v->present, "slots", (int)v->slots, "busy", (int)v->busy, "lost",
                                                             (int)v->lost, "left-out", (int)v->left_out, "sent", (json_int_t)v->sent, "trouble",
                                                             v->why));
                return;
        }
        away_view_line(v, &line);
        note("process %d: %s", v->pid, line.data ? line.data : "");
}

static json_t *owner_json(const struct slot_owner *o)
{
        cleanup_free char *what = printable(o->note.what);

        if (!o->is_there)
                return json_null();
        if (!o->is_known)
                return json_object();
        return json_pack("{s:s, s:i, s:i, s:f, s:f}", "what", what, "pid", (int)o->note.pid, "uid", (int)o->note.uid, "seconds",
                         (double)o->age_ns / 1e9, "without-core", (double)o->lent_ns / 1e9);
}

static void look_slot(void *user, const struct slot_view *v)
{
        struct looking *l = user;
        cleanup_buffer struct buffer line = {0};

        if (common.json) {
                add_to(l, "cores", json_pack("{s:i, s:o, s:o}", "core", v->cpu, "run", owner_json(&v->run), "build", owner_json(&v->build)));
                return;
        }
        slot_view_line(v, &line);
        note("%s", line.data ? line.data : "");
}

static int look_campaign(struct looking *l, const struct solver *s, const char *name)
{
        cleanup_free char *shown = printable(name);
        struct campaign_status c = {0};
        uint64_t finds;
        bool is_running;
        int r = campaign_get(common.workspace, s->number, name, NULL, &c);

        if (r < 0 || c.state == CAMPAIGN_FINISHED)
                return r == -ENOENT ? 0 : r;
        finds = c.finds + c.soundness + c.crashes;
        is_running = c.state == CAMPAIGN_RUNNING && campaign_is_running(common.workspace, s->recipe->name, name);
        if (common.json)
                add_to(l, "campaigns", json_pack("{s:s, s:s, s:s, s:f, s:I}", "solver", s->recipe->name, "name", shown, "state",
                                                 campaign_state_name(is_running ? CAMPAIGN_RUNNING : CAMPAIGN_STOPPED), "worked", c.worked, "finds", (json_int_t)finds));
        else
                note("campaign %s of %s, %s: worked %.0f s, %" PRIu64 " find%s", shown, s->recipe->name,
                     is_running ? "running" : "not finished (the same command goes on with it)", c.worked, finds,
                     finds == 1 ? "" : "s");
        return 0;
}

/* Those that run, and those that can be taken up again. */
static int look_campaigns(struct looking *l)
{
        cleanup(solver_list_unrefp) struct solver_list *solvers = NULL;
        int r = workspace_solvers(common.workspace, &solvers);

        for (size_t i = 0; r == 0 && i < solvers->n; i++) {
                char **names = NULL;
                size_t n = 0;

                r = campaign_names(common.workspace, solvers->list[i]->number, &names, &n);
                for (size_t k = 0; r == 0 && k < n; k++)
                        r = look_campaign(l, solvers->list[i], names[k]);
                strings_free(names);
        }
        return r;
}

static void look_once(struct looking *l)
{
        cleanup_free char *store = printable(workspace_dir(common.workspace));
        char shown[80];
        int r;

        l->n_running = l->n_queued = l->n_shown = l->n_hidden = 0;
        l->answer = json_pack("{s:s, s:n, s:n, s:n, s:[], s:[], s:[], s:[], s:[], s:[]}", "store", store, "running", "queued", "disturbed", "jobs", "wrong",
                              "contradictions", "clusters", "cores", "campaigns");
        r = wrong_answers(common.workspace, look_wrong, l);
        if (r == 0)
                r = disturbed_count(common.workspace, &l->n_disturbed);
        if (r == 0)
                r = engine_each_job_of_store(workspace_dir(common.workspace), look, l);
        if (r == 0)
                r = engine_each_away_of_store(workspace_dir(common.workspace), look_away, l);
        if (r == 0)
                r = engine_each_slot_of_store(workspace_dir(common.workspace), look_slot, l);
        if (r == 0)
                r = look_campaigns(l);
        json_object_set_new(l->answer, "running", json_integer((json_int_t)l->n_running));
        json_object_set_new(l->answer, "queued", json_integer((json_int_t)l->n_queued));
        json_object_set_new(l->answer, "disturbed", json_integer((json_int_t)l->n_disturbed));
        if (r == 0 && common.json)
                output_json(json_incref(l->answer));
        json_decref(l->answer);
        command_must_as(STATUS_SYSTEM, r);
        if (common.json)
                return;
        snprintf(shown, sizeof(shown), " (%zu of them are not shown: 'solverfs status | less' has all)", l->n_hidden);
        if (l->n_running + l->n_queued == 0)
                note("nothing runs and nothing waits");
        else
                note("%zu running, %zu waiting%s", l->n_running, l->n_queued, l->n_hidden > 0 ? shown : "");
        if (l->n_disturbed > 0)
                note("%zu disturbed result%s: a mount measures %s again when the machine is quiet", l->n_disturbed,
                     l->n_disturbed == 1 ? "" : "s", l->n_disturbed == 1 ? "it" : "them");
}

void cmd_status(int argc, char **argv)
{
        static const char doc[] =
                "Show what runs and what waits, in every mount and command on the store: process, job, state, seconds it "
                "has run, seconds left (if known), who waits for it, what it is, how far it is. The cores of this machine that anybody's runs and builds have, the workers of clusters, campaigns that run or were interrupted, known wrong answers and how many "
                "disturbed results wait to be measured again are reported on standard error.";
        struct looking l = {0};
        const struct command_option options[] = {
                {"watch", 'w', NULL, "Again every second, until interrupted", .on = &l.watch},
                {"json", 'j', NULL, "Print a JSON object", .on = &common.json},
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        command_signals();
        command_open(0);
        for (;;) {
                const bool screen = l.watch && !common.json && isatty(STDOUT_FILENO);
                struct pollfd p = {.fd = common.signals, .events = POLLIN};
                cleanup_buffer struct buffer clear = {0};

                if (screen) {
                        buffer_adds(&clear, "\033[H\033[2J");
                        output_write(&clear);
                }
                look_once(&l);
                if (!l.watch || output_broken())
                        return;
                if (poll(&p, 1, 1000) > 0)
                        command_end(STATUS_INTERRUPTED);
        }
}
