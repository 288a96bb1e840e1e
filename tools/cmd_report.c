/* solverfs report: a solver's page. */
#include "command.h"

#include <sys/stat.h>

#include "core/study/page/solver_report.h"
#include "words.h"

struct reporting {
        const char *solver_name, *set, *file;
};

static int write_page(const struct reporting *o, const struct buffer *page)
{
        int r;

        if (!o->file || strcmp(o->file, "-") == 0) {
                output_write(page);
                return STATUS_OK;
        }
        r = command_write_file(o->file, 0, page);
        return r < 0 ? fail(r) : STATUS_OK;
}

static int make_page(const struct reporting *o)
{
        struct solver_report_options options = {.workspace = common.workspace, .solver = common.solver, .set = o->set};
        cleanup_buffer struct buffer page = {0};
        int64_t mtime;
        int r = solver_report(&options, &page, &mtime);

        return r < 0 ? fail(r) : write_page(o, &page);
}

int cmd_report(int argc, char **argv)
{
        static const char doc[] =
                "Writes a page of all that is known of a solver, for a browser.\v"
                "History, the last tags compared, steps and their commits, findings, cases: one file that needs no network. Nothing is measured: "
                "'solverfs history' and 'solverfs run' do. The mount has the page, with links into the mount, as SOLVER/report.html.\n\n"
                "Example:\n"
                "  solverfs report z3 --set QF_S -o z3.html";
        struct reporting o = {0};
        struct words words = {0};
        int status;
        const struct command_option options[] = {
                {"set", 0, "NAME", "its history on the cases of this set; default: on all", .text = &o.set},
                {"output", 'o', "FILE", "write the page there; default: to standard output", .text = &o.file},
                {0}};

        command_parse(argc, argv, "SOLVER", doc, options, &words);
        if (words.n > 1)
                command_usage("expected one SOLVER");
        o.solver_name = word_next(&words);
        if (!o.solver_name)
                command_usage("expected SOLVER");
        status = command_open_solver(STORE_READ_ONLY, NULL, o.solver_name);
        return status == STATUS_OK ? make_page(&o) : status;
}
