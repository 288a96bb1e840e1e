/* solverfs fsck, gc: check and repair the whole store; free space. */
#include <ctype.h>

#include "core/care/care.h"
#include "tools/command.h"

static void show_finding(void *user, const struct care_finding *f)
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
                                      r->commits, "rebuilt", r->store.rebuilt));
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
                "Check every value, measurement, program, case and repository of the store, and repair what can be repaired. Prints for each "
                "problem: repaired, "
                "damaged or note; the area; the problem.\v"
                "A damaged index is rebuilt from the journal; a value that the journal lost is computed again when needed. Exit status 0 if "
                "nothing was damaged, else 1.";
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
        r = care_check(common.workspace, look_only, &(struct care_watch){.found = show_finding, .progress = &command_progress}, &report);
        command_must_as(r == -ECANCELED ? STATUS_INTERRUPTED : STATUS_SYSTEM, r);
        conclude(&report);
        if (report.damaged + report.repaired > 0)
                command_worse(STATUS_FAILED);
}

/* -- gc -------------------------------------------------------------------------------------------------------------- */

/* Refuses a bare number below 1 MiB: it would be bytes, which is certainly a mistake. */
static void parse_keep(void *to, const char *arg)
{
        struct care_plan *plan = to;

        if (parse_size(arg, &plan->keep) < 0)
                command_usage("--keep takes a size like 500m or 20g, not '%s'", arg);
        if (plan->keep > 0 && plan->keep < 1 << 20 && isdigit((unsigned char)arg[strlen(arg) - 1]))
                command_usage("--keep %s is %s bytes: write a unit, such as %sg; to free everything, 0", arg, arg, arg);
        plan->bounded = true;
}

static void tell_finding(void *user, const struct care_finding *f)
{
        cleanup_free char *text = printable(f->text);

        note("%s", text);
}

static void show(const char *name, const struct care_part *p)
{
        static const struct column columns[] = {{"WHAT", 10}, {"FREED", 8, true}, {"BYTES", 14, true}, {"LEFT", 14, true}, {0}};

        output_object(columns, json_pack("{ss sI sI sI}", "what", name, "freed", p->n, "bytes", p->bytes, "left", p->left));
}

static void ignore(void *user, const struct care_finding *f) {}

static int collect(const struct care_plan *plan, void (*tell)(void *user, const struct care_finding *f), struct care_freed *ret)
{
        return care_collect(common.workspace, plan, &(struct care_watch){.found = tell, .progress = &command_progress}, ret);
}

/* If every program would be freed, says so first and, on a terminal, asks. False: free nothing. */
static bool everything_may_go(const struct care_plan *plan)
{
        struct care_plan preview = *plan;
        struct care_freed freed;
        char answer[16];
        int r;

        if (!plan->bounded || plan->dry_run)
                return true;
        preview.dry_run = true;
        r = collect(&preview, ignore, &freed);
        if (r < 0 || freed.programs.n == 0 || freed.programs.left > 0)
                return true; /* the collection meets the error again and reports it */
        note("this frees every built program: %" PRIu64 ", %" PRIu64 " KiB in all; each is built again when a new run needs it", freed.programs.n,
             freed.programs.bytes >> 10);
        if (common.quiet || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
                return true;
        fputs("free them? [y/N] ", stderr);
        fflush(stderr); /* stderr is buffered by lines */
        return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

void cmd_gc(int argc, char **argv)
{
        static const char doc[] =
                "Free disk space. Prints for each part: name, how many were freed, their bytes, the bytes left.\v"
                "Frees what nothing refers to (also scrambled inputs without a measurement after a day), copies of programs that are not in "
                "use, leftovers of killed builds, and downloads that no recipe names; with --keep also programs, which are built again when "
                "needed. Never frees a measurement, a "
                "build's log, a case or the repository of a solver; that of a removed one goes, with its snapshots.";
        struct care_plan plan = {0};
        struct care_freed freed;
        int r;
        const struct command_option options[] = {
                {"keep", 'k', "SIZE",
                 "Keep at most SIZE (like 20g) of programs, worktrees and ccache; programs built longest ago go first, "
                 "and ccache only if all programs are not enough. Warns before it frees every program, and asks on a terminal",
                 .parse = parse_keep, .to = &plan},
                {"lost-cases", 'l', NULL, "Also delete case files that no case owns, such as those left by an interrupted 'case add'",
                 .on = &plan.lost_cases},
                {"dry-run", 'n', NULL, "Only print what would be freed", .on = &plan.dry_run},
                OPTION_JSON("Print a JSON object for each part, a line each"),
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        command_open(0);
        if (!everything_may_go(&plan))
                return;
        command_stoppable(); /* until now the first signal ends it, also where it waits for an answer */
        r = collect(&plan, tell_finding, &freed);
        command_must_as(r == -ECANCELED ? STATUS_INTERRUPTED : STATUS_SYSTEM, r);
        show("leftovers", &freed.leftovers);
        show("copies", &freed.copies);
        show("worktrees", &freed.worktrees);
        show("ccache", &freed.ccache);
        show("programs", &freed.programs);
        show("downloads", &freed.downloads);
        show("journal", &freed.journal);
}
