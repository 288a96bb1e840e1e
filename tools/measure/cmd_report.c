/* solverfs report: a solver's page. */
#include "tools/command.h"

#include "core/study/page/solver_report.h"
#include "tools/words.h"

void cmd_report(int argc, char **argv)
{
        static const char doc[] =
                "Writes a page of all that is known of a solver, for a browser.\v"
                "History, the last tags compared, steps and their commits, findings, cases: one file that needs no network. Nothing is measured: "
                "'solverfs history' and 'solverfs run' do. The mount has the page, with links into the mount, as SOLVER/report.html.\n\n"
                "Example:\n"
                "  solverfs report z3 --set QF_S -o z3.html";
        struct solver_report_options report = {0};
        const char *file = NULL;
        cleanup_buffer struct buffer page = {0};
        int64_t mtime;
        const struct command_option options[] = {
                {"set", 0, "NAME", "its history on the cases of this set; default: on all", .text = &report.set},
                {"output", 'o', "FILE", "write the page there; default: to standard output", .file = &file},
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER", doc, options);

        command_open_solver(STORE_READ_ONLY, NULL, words.list[0]);
        report.workspace = common.workspace;
        report.solver = common.solver;
        command_must(solver_report(&report, &page, &mtime));
        command_write_result(&file, &page);
}
