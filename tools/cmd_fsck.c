/* solverfs fsck: checks the whole store and repairs it. */
#include "command.h"
#include "core/care/care.h"

static const struct column columns[] = {{"STATE", 8, false}, {"AREA", 12, false}, {"WHAT", 0, false}};

static void found(void *user, const struct care_finding *f)
{
        cleanup_free char *text = printable(f->text);

        if (common.json)
                output_json(json_pack("{s:s, s:s, s:s}", "state", care_kind_name(f->kind), "area", f->area, "what", text));
        else
                output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s\t%s", care_kind_name(f->kind), f->area, text);
}

static void conclude(const struct care_report *r)
{
        if (common.json) {
                output_json(json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "state", "done", "ok",
                                      r->damaged == 0, "damaged", (json_int_t)r->damaged, "repaired", (json_int_t)r->repaired,
                                      "values", (json_int_t)r->store.values, "journal_records",
                                      (json_int_t)r->store.journal_records, "builds", (json_int_t)r->builds, "facts",
                                      (json_int_t)r->facts, "programs", (json_int_t)r->programs, "cases", (json_int_t)r->cases,
                                      "repositories", (json_int_t)r->repositories, "commits", (json_int_t)r->commits, "rebuilt",
                                      r->store.rebuilt));
                return;
        }
        note("looked at %llu values, %llu journal records, %llu builds, %llu measurements, %llu programs, %llu cases, %llu commits in %llu "
             "repositories",
             (unsigned long long)r->store.values, (unsigned long long)r->store.journal_records, (unsigned long long)r->builds,
             (unsigned long long)r->facts, (unsigned long long)r->programs, (unsigned long long)r->cases,
             (unsigned long long)r->commits, (unsigned long long)r->repositories);
        if (r->damaged + r->repaired == 0)
                note("all is well");
        else
                note("%llu repaired, %llu damaged still", (unsigned long long)r->repaired, (unsigned long long)r->damaged);
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
                {"json", 'j', NULL, "Print a JSON object for each finding and one at the end, a line each", .on = &common.json},
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
