/* solverfs fsck: checks the whole store and repairs it. */
#include "core/care/care.h"
#include "tools/command.h"

static void found(void *user, const struct care_finding *f)
{
        static const struct column columns[] = {{"STATE", 8}, {"AREA", 12}, {"WHAT"}, {0}};

        output_object(columns, json_pack("{ss ss so}", "state", care_kind_name(f->kind), "area", f->area, "what", json_printable(f->text)));
}

static void conclude(const struct care_report *r)
{
        if (common.json) {
                output_json(json_pack("{ss sb sI sI sI sI sI sI sI sI sI sI sb}", "state", "done", "ok", r->damaged == 0, "damaged", r->damaged,
                                      "repaired", r->repaired, "values", r->store.values, "journal_records", r->store.journal_records, "builds", r->builds,
                                      "facts", r->facts, "programs", r->programs, "cases", r->cases, "repositories", r->repositories, "commits",
                                      r->commits,
                                      "rebuilt", r->store.rebuilt));
                return;
        }
        note("looked at %" PRIu64 " values, %" PRIu64 " journal records, %" PRIu64 " builds, %" PRIu64 " measurements, %" PRIu64 " programs, %" PRIu64
             " cases, %" PRIu64 " commits in %" PRIu64 " repositories",
             r->store.values, r->store.journal_records, r->builds, r->facts, r->programs, r->cases, r->commits, r->repositories);
        if (r->damaged + r->repaired == 0)
                note("all is well");
        else
                note("%" PRIu64 " repaired, %" PRIu64 " damaged still", r->repaired, r->damaged);
}

void cmd_fsck(int argc, char **argv)
{
        static const char doc[] =
                "Check every value, measurement, program, case and repository of the store, and repair what can be. Prints what it found: repaired, "
                "damaged or note; the area; what.\v"
                "A damaged index is made anew from the journal; a value that the journal lost is worked out again when asked for. Exit status 0 when "
                "nothing is damaged now and nothing was, 1 otherwise.";
        bool look_only = false;
        struct care_report report;
        int r;
        const struct command_option options[] = {
                {"look-only", 'n', NULL, "Repair nothing", .on = &look_only},
                {"dry-run", .is_alias = true},
                OPTION_JSON("Print a JSON object for each finding and one at the end, a line each"),
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        command_stoppable();
        command_open(look_only ? STORE_READ_ONLY : STORE_CHECK);
        r = care_check(common.workspace, look_only, &(struct care_watch){.found = found, .progress = &command_progress}, &report);
        progress_clear();
        command_must_as(r == -ECANCELED ? STATUS_INTERRUPTED : STATUS_SYSTEM, r);
        conclude(&report);
        if (report.damaged + report.repaired > 0)
                command_worse(STATUS_FAILED);
}
