/* solverfs report: a solver's page. */
#include "command.h"

#include <sys/stat.h>

#include "core/study/page/solver_report.h"
#include "words.h"

static int write_page(const char *set, const char *file)
{
        const struct solver_report_options options = {.workspace = common.workspace, .solver = common.solver, .set = set};
        cleanup_buffer struct buffer page = {0};
        int64_t mtime;
        int r = solver_report(&options, &page, &mtime);

        if (r == 0 && file && strcmp(file, "-") != 0)
                r = command_write_file(file, 0, &page);
        else if (r == 0)
                output_write(&page);
        return r < 0 ? fail(r) : STATUS_OK;
}

int cmd_report(int argc, char **argv)
{
        static const char doc[] =
                "Writes a page of all that is known of a solver, for a browser.\v"
                "History, the last tags compared, steps and their commits, findings, cases: one file that needs no network. Nothing is measured: "
                "'solverfs history' and 'solverfs run' do. The mount has the page, with links into the mount, as SOLVER/report.html.\n\n"
                "Example:\n"
                "  solverfs report z3 --set QF_S -o z3.html";
        const char *solver, *set = NULL, *file = NULL;
        struct words words = {0};
        int status;
        const struct command_option options[] = {
                {"set", 0, "NAME", "its history on the cases of this set; default: on all", .text = &set},
                {"output", 'o', "FILE", "write the page there; default: to standard output", .text = &file},
                {0}};

        command_parse(argc, argv, "SOLVER", doc, options, &words);
        if (words.n > 1)
                command_usage("expected one SOLVER");
        solver = word_next(&words);
        if (!solver)
                command_usage("expected SOLVER");
        status = command_open_solver(STORE_READ_ONLY, NULL, solver);
        return status == STATUS_OK ? write_page(set, file) : status;
}
