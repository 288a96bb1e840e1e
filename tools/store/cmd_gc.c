/* solverfs gc: frees space. */
#include <ctype.h>
#include <unistd.h>

#include "tools/command.h"
#include "core/care/care.h"

/* A bare number is bytes, and nobody means ten of them. */
static void parse_keep(void *to, const char *arg)
{
        struct care_plan *plan = to;

        if (parse_size(arg, &plan->keep) < 0)
                command_usage("--keep takes a size like 500m or 20g, not '%s'", arg);
        if (plan->keep > 0 && plan->keep < 1 << 20 && isdigit((unsigned char)arg[strlen(arg) - 1]))
                command_usage("--keep %s is %s bytes: write a unit, such as %sg; to free everything, 0", arg, arg, arg);
        plan->bounded = true;
}

static void found(void *user, const struct care_finding *f)
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
        int r = care_collect(common.workspace, plan, &(struct care_watch){.found = tell, .progress = &command_progress}, ret);

        progress_clear();
        return r;
}

static bool says_yes(void)
{
        char answer[16];

        fputs("free them? [y/N] ", stderr);
        fflush(stderr); /* it is buffered by lines */
        return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Where every program would be freed, says so first, and asks on a terminal. False: free nothing. */
static bool everything_may_go(const struct care_plan *plan)
{
        struct care_plan look = *plan;
        struct care_freed freed;
        int r;

        if (!plan->bounded || plan->dry_run)
                return true;
        look.dry_run = true;
        r = collect(&look, ignore, &freed);
        if (r < 0 || freed.programs.n == 0 || freed.programs.left > 0)
                return true; /* an error comes again, and is reported, in the collection itself */
        note("this frees every built program: %" PRIu64 ", %" PRIu64 " KiB in all; each is built again when a new run needs it", freed.programs.n,
             freed.programs.bytes >> 10);
        return common.quiet || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || says_yes();
}

void cmd_gc(int argc, char **argv)
{
        static const char doc[] =
                "Free disk space. Prints for each part: name, how many were freed, their bytes, the bytes that are left.\v"
                "Takes what nothing refers to any more (also a scrambled input that no measurement is of after a day), copies of programs that are not in "
                "use, and what killed builds left, and downloads that no recipe names; with --keep also programs, which are built again when asked for. Never takes a measurement, a "
                "build's log, a case or a repository.";
        struct care_plan plan = {0};
        struct care_freed freed;
        int r;
        const struct command_option options[] = {
                {"keep", 'k', "SIZE",
                 "Let programs, worktrees and ccache take at most SIZE (like 20g) in all; those built longest ago go first. Says so before it "
                 "frees every program, and asks on a terminal", .parse = parse_keep, .to = &plan},
                {"lost-cases", 'l', NULL, "Also delete case files that no case owns, such as those left by an interrupted 'case add'",
                 .on = &plan.lost_cases},
                {"dry-run", 'n', NULL, "Only print what would be freed", .on = &plan.dry_run},
                OPTION_JSON("Print a JSON object for each part, a line each"),
                {0}};

        command_parse(argc, argv, NULL, doc, options);
        command_stoppable();
        command_open(0);
        if (!everything_may_go(&plan))
                return;
        r = collect(&plan, found, &freed);
        command_must_as(r == -ECANCELED ? STATUS_INTERRUPTED : STATUS_SYSTEM, r);
        show("leftovers", &freed.leftovers);
        show("copies", &freed.copies);
        show("worktrees", &freed.worktrees);
        show("ccache", &freed.ccache);
        show("programs", &freed.programs);
        show("downloads", &freed.downloads);
        show("journal", &freed.journal);
}
