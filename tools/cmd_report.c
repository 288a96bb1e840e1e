/* solverfs report: a solver's page. */
#include "command.h"

#include <sys/stat.h>

#include "core/study/page/solver_report.h"
#include "words.h"

struct reporting {
        const char *solver_name, *set, *file;
};

enum {
        OPTION_SET = 256,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct reporting *o = state->input;

        switch (key) {
        case OPTION_SET:
                o->set = arg;
                return 0;
        case 'o':
                o->file = arg;
                return 0;
        case ARGP_KEY_ARG:
                if (o->solver_name)
                        argp_error(state, "expected one SOLVER");
                o->solver_name = arg;
                return 0;
        case ARGP_KEY_END:
                if (!o->solver_name)
                        argp_error(state, "expected SOLVER");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

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

static int make_page(const struct reporting *o, struct workspace *w)
{
        struct solver_report_options options = {.workspace = w, .set = o->set};
        cleanup_buffer struct buffer page = {0};
        int64_t mtime;
        int r = command_solver(w, o->solver_name, &options.solver);

        if (r != STATUS_OK)
                return r;
        r = solver_report(&options, &page, &mtime);
        solver_unref(options.solver);
        return r < 0 ? fail(r) : write_page(o, &page);
}

int cmd_report(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"set", OPTION_SET, "NAME", 0, "its history on the cases of this set; default: on all", 0},
                {"output", 'o', "FILE", 0, "write the page there; default: to standard output", 0},
                {0}};
        static const struct argp argp = {.options = options,
                                         .parser = parse,
                                         .args_doc = "SOLVER",
                                         .doc = "Writes a page of all that is known of a solver, for a browser.\v"
                                                "History, the last tags compared, steps and their commits, findings, cases: one file that needs no network. "
                                                "Nothing is measured: 'solverfs history' and 'solverfs run' do. The mount has the page, with links into the "
                                                "mount, as SOLVER/report.html.\n\n"
                                                "Example:\n"
                                                "  solverfs report z3 --set QF_S -o z3.html"};
        cleanup_workspace struct workspace *w = NULL;
        struct reporting o = {0};
        int status;

        command_parse(&argp, argc, argv, &o);
        status = command_open(STORE_READ_ONLY, &w);
        return output_end(status != STATUS_OK ? status : make_page(&o, w));
}
