/* solverfs status: the jobs of every process on the store; taken cores, clusters, campaigns, wrong answers, disturbed results. */
#include "tools/command.h"
#include "core/query/disturbed.h"
#include "core/run/slot.h"
#include "core/study/observation/campaign_store.h"

#include <poll.h>

#define LINES_BESIDE 6 /* of a terminal: the heading, the notes below the rows, the prompt */

/* The part of one look at the store that has been shown so far. */
struct shown_status {
        bool is_campaign_running;
        size_t n_running, n_queued, n_disturbed;
        size_t n_shown, n_hidden; /* rows; waiting jobs that do not fit on the terminal */
        json_t *answer; /* --json */
};

/* For --json: adds an object to one of the answer's lists. Takes the reference. */
static void add_to(const struct shown_status *l, const char *list, json_t *j)
{
        json_array_append_new(json_object_get(l->answer, list), j);
}

/* The keys with a dot are for the row: RUNNING and LEFT ("-": not known), PHASE with the steps done. */
static json_t *job_json(const struct job_view *j)
{
        const char *phase = j->phase ? j->phase : "";
        cleanup_free char *shown = printable(*phase ? phase : "-");
        char ran[32] = "-", left[32] = "-", steps[320];
        json_t *job = json_pack("{si sI ss ss ss ss ss sI sI sf sf sf si}", "pid", j->pid, "job", (json_int_t)j->id, "state", job_state_name(j->state),
                                "query", j->query, "what", j->what, "phase", phase, "priority", j->priority == PRIORITY_PERSON ? "person" : "batch",
                                "done", (json_int_t)j->done, "total", (json_int_t)j->total, "age", (double)j->age_ns / 1e9, "running",
                                (double)j->running_ns / 1e9, "left", (double)j->remaining_ns / 1e9, "waiters", (int)j->waiters);

        if (common.json)
                return job;
        if (j->state == JOB_RUNNING)
                snprintf(ran, sizeof(ran), "%.1f", (double)j->running_ns / 1e9);
        if (j->remaining_ns > 0)
                snprintf(left, sizeof(left), "%.0f", (double)j->remaining_ns / 1e9);
        snprintf(steps, sizeof(steps), "%s", shown);
        if (j->total > 0)
                snprintf(steps, sizeof(steps), "%.256s %" PRIu64 "/%" PRIu64, shown, j->done, j->total);
        json_object_set_new(job, ".running", json_string(ran));
        json_object_set_new(job, ".left", json_string(left));
        json_object_set_new(job, ".phase", json_string(steps));
        return job;
}

static void show_job(void *user, const struct job_view *j)
{
        static const struct column columns[] = {{"PID", 7, true, 3},      {"JOB", 5, true},        {"STATE", 7}, {"RUNNING (s)", 11, true},
                                                {"LEFT (s)", 8, true, 1}, {"WAITERS", 7, true, 4}, {"WHAT", 31}, {"PHASE", 0, false, 2}, {0}};
        struct shown_status *l = user;

        l->n_running += j->state == JOB_RUNNING;
        l->n_queued += j->state == JOB_QUEUED;
        if (common.json)
                add_to(l, "jobs", job_json(j));
        else if (j->state == JOB_QUEUED && l->n_shown + LINES_BESIDE >= output_lines())
                l->n_hidden++;
        else {
                output_object(columns, job_json(j));
                l->n_shown++;
        }
}

static int show_wrong(void *user, enum answer_alarm a, const char *line)
{
        struct shown_status *l = user;

        if (common.json)
                add_to(l, a == ANSWER_WRONG ? "wrong" : "contradictions", json_string(line));
        else
                alarm_line("%s: %s", answer_alarm_name(a), line);
        return 0;
}

static void show_remote(void *user, const struct remote_view *v)
{
        struct shown_status *l = user;
        cleanup_buffer struct buffer line = {0};

        if (common.json) {
                add_to(l, "clusters", json_pack("{si ss ss si si si si si si si sI ss}", "pid", v->pid, "name", v->name, "machine", v->machine, "workers",
                                                (int)v->wanted, "waiting", (int)v->queued, "present", (int)v->present, "slots", (int)v->slots, "busy",
                                                (int)v->busy, "lost", (int)v->lost, "left-out", (int)v->left_out, "sent", (json_int_t)v->sent, "trouble",
                                                v->why));
                return;
        }
        remote_view_line(v, &line);
        note("process %d: %s", v->pid, line.data ? line.data : "");
}

static json_t *owner_json(const struct slot_owner *o)
{
        if (!o->is_there)
                return json_null();
        if (!o->is_known)
                return json_object();
        return json_pack("{so si si sf sf}", "what", json_printable(o->note.what), "pid", (int)o->note.pid, "uid", (int)o->note.uid, "seconds",
                         (double)o->age_ns / 1e9, "without-core", (double)o->lent_ns / 1e9);
}

static void show_slot(void *user, const struct slot_view *v)
{
        struct shown_status *l = user;
        cleanup_buffer struct buffer line = {0};

        if (common.json) {
                add_to(l, "cores", json_pack("{s:i, s:o, s:o}", "core", v->cpu, "run", owner_json(&v->run), "build", owner_json(&v->build)));
                return;
        }
        slot_view_line(v, &line);
        note("%s", line.data ? line.data : "");
}

static void show_campaign(struct shown_status *l, const struct solver *s, const char *name)
{
        cleanup_free char *shown = printable(name);
        cleanup_campaign_settings struct campaign_settings settings = {0};
        struct campaign_status c = {0};
        uint64_t n_finds; /* of all kinds; several may become one finding */
        bool is_running;
        int r = campaign_get(common.workspace, s->number, name, NULL, &c); /* alone: -ENOENT if it has no status yet, which settings would hide */

        r = r ?: campaign_get(common.workspace, s->number, name, &settings, NULL);
        if (r != -ENOENT)
                command_must_as(STATUS_SYSTEM, r);
        if (r < 0 || c.state == CAMPAIGN_FINISHED)
                return;
        n_finds = c.finds + c.soundness + c.crashes;
        is_running = c.state == CAMPAIGN_RUNNING && campaign_is_running(common.workspace, s->recipe->name, name);
        l->is_campaign_running |= is_running;
        if (common.json)
                add_to(l, "campaigns", json_pack("{ss ss ss sf sI}", "solver", s->recipe->name, "name", shown, "state",
                                                 campaign_state_name(is_running ? CAMPAIGN_RUNNING : CAMPAIGN_STOPPED), "worked", c.worked,
                                                 "finds", n_finds));
        else
                note("campaign %s of %s, %s: worked %.0f s%s, %" PRIu64 " find%s", shown, s->recipe->name,
                     is_running ? "running" : "not finished (the same command goes on with it)", c.worked,
                     settings.cpu_time ? " of CPU time" : "", n_finds, plural(n_finds));
}

/* Shows campaigns that run and those that can be resumed. */
static void show_campaigns(struct shown_status *l)
{
        cleanup_solver_list struct solver_list *solvers = NULL;

        command_must_as(STATUS_SYSTEM, workspace_solvers(common.workspace, &solvers));
        for (size_t i = 0; i < solvers->n; i++) {
                char **names = NULL;
                size_t n = 0;

                command_must_as(STATUS_SYSTEM, campaign_names(common.workspace, solvers->list[i]->number, &names, &n));
                for (size_t k = 0; k < n; k++)
                        show_campaign(l, solvers->list[i], names[k]);
                strings_free(names);
        }
}

static void show_once(struct shown_status *l)
{
        const char *store = workspace_dir(common.workspace);
        char shown[80];

        *l = (struct shown_status){.answer = json_pack("{so sn sn sn s[] s[] s[] s[] s[] s[]}", "store", json_printable(store), "running", "queued",
                                                  "disturbed", "jobs", "wrong", "contradictions", "clusters", "cores", "campaigns")};
        command_must_as(STATUS_SYSTEM, wrong_answers(common.workspace, NULL, show_wrong, l));
        command_must_as(STATUS_SYSTEM, disturbed_count(common.workspace, &l->n_disturbed));
        command_must_as(STATUS_SYSTEM, engine_each_job_of_store(store, show_job, l));
        command_must_as(STATUS_SYSTEM, engine_each_remote_of_store(store, show_remote, l));
        command_must_as(STATUS_SYSTEM, engine_each_slot_of_store(store, show_slot, l));
        show_campaigns(l);
        json_object_set_new(l->answer, "running", json_integer((json_int_t)l->n_running));
        json_object_set_new(l->answer, "queued", json_integer((json_int_t)l->n_queued));
        json_object_set_new(l->answer, "disturbed", json_integer((json_int_t)l->n_disturbed));
        if (common.json) {
                output_json(l->answer);
                return;
        }
        json_decref(l->answer);
        snprintf(shown, sizeof(shown), " (%zu not shown: 'solverfs status | less' has all)", l->n_hidden);
        if (l->n_running + l->n_queued == 0 && !l->is_campaign_running)
                note("nothing runs and nothing waits");
        else if (l->n_running + l->n_queued > 0)
                note("%zu running, %zu waiting%s", l->n_running, l->n_queued, l->n_hidden > 0 ? shown : "");
        if (l->n_disturbed > 0)
                note("%zu disturbed result%s: a mount measures %s again when the machine is quiet", l->n_disturbed, plural(l->n_disturbed),
                     l->n_disturbed == 1 ? "it" : "them");
}

void cmd_status(int argc, char **argv)
{
        static const char doc[] =
                "Show what runs and what waits, in every mount and command on the store: process, job, state, seconds it "
                "has run, seconds left (if known), who waits for it, what it is, how far it is. The cores of this machine that anybody's runs and "
                "builds have, the workers of clusters, campaigns that run or were interrupted, known wrong answers and how many "
                "disturbed results wait to be measured again are reported on standard error.";
        struct shown_status l;
        bool watch = false;
        const struct command_option options[] = {
                {"watch", 'w', NULL, "Repeat every second until interrupted", .on = &watch},
                OPTION_JSON("Print a JSON object"),
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        command_signals();
        command_open(0);
        for (;;) {
                struct pollfd p = {.fd = common.signals, .events = POLLIN};

                if (watch && !common.json && isatty(STDOUT_FILENO))
                        output_bytes("\033[H\033[2J");
                show_once(&l);
                output_has_room(); /* without rows nothing is written, so only this notices that standard output was closed */
                if (!watch || output_broken())
                        return;
                if (poll(&p, 1, 1000) > 0)
                        command_end(STATUS_INTERRUPTED);
        }
}
