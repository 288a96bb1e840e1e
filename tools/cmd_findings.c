/* solverfs findings: what campaigns found, and what became of it. */
#include "cmd_findings.h"

#include <inttypes.h>

#include "core/study/finding.h"
#include "core/study/stat.h"

struct listing {
        const char *solver_name, *mark, *url;
        uint32_t number;
        bool json, seeds;
        struct workspace *workspace;
        struct solver *solver;
};

enum {
        OPTION_MARK = 256,
        OPTION_JSON,
        OPTION_SEEDS,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
        struct listing *l = state->input;

        switch (key) {
        case OPTION_MARK:
                l->number = (uint32_t)command_number(state, "--mark", arg, 1, UINT32_MAX);
                return 0;
        case OPTION_JSON:
                l->json = true;
                return 0;
        case OPTION_SEEDS:
                l->seeds = true;
                return 0;
        case ARGP_KEY_ARG:
                if (!l->solver_name)
                        l->solver_name = arg;
                else if (l->number != 0 && !l->mark)
                        l->mark = arg;
                else if (l->number != 0 && !l->url)
                        l->url = arg;
                else
                        argp_error(state, "expected SOLVER");
                return 0;
        case ARGP_KEY_END:
                if (!l->solver_name)
                        argp_error(state, "expected SOLVER");
                if (l->number != 0 && l->seeds)
                        argp_error(state, "--mark and --seeds exclude each other");
                if (l->number != 0 && !l->mark)
                        argp_error(state, "mark it as what? reported, confirmed, fixed or rejected");
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct column columns[] = {
        {"ID", 5, true},          {"KIND", 11, false},   {"SIZE", 7, true},       {"FAST", 10, true},  {"SLOW", 10, true},
        {"REFERENCE", 12, false}, {"TARGET", 12, false}, {"CAMPAIGN", 16, false}, {"MARK", 10, false}, {"URL", 0, false}};

static const struct finding_runs *runs_of(const struct finding *f, const char *version)
{
        for (size_t i = 0; i < f->n_runs; i++)
                if (strcmp(f->runs[i].version, version) == 0)
                        return &f->runs[i];
        return NULL;
}

static double median_of(const struct finding *f, const char *version)
{
        const struct finding_runs *runs = runs_of(f, version);

        return runs && runs->n > 0 ? stat_lower_median(runs->seconds, runs->n) : 0;
}

static int show(void *user, struct finding *f)
{
        const struct listing *l = user;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        char id[16], size[24] = "-", fast[32], slow[32], reference[13], target[13];

        if (cases_get(workspace_cases(l->workspace), f->case_id, &info) == 0)
                snprintf(size, sizeof(size), "%" PRIu64, info->size);
        if (l->json) {
                output_json(json_pack("{s:i, s:s, s:i, s:I, s:s, s:s, s:f, s:f, s:s, s:s, s:s, s:I}", "id", (int)f->number,
                                      "kind", finding_kind_name(f->kind), "case", (int)f->case_id, "size",
                                      (json_int_t)(info ? info->size : 0), "reference", f->reference, "target", f->target,
                                      "before", median_of(f, f->reference), "after", median_of(f, f->target), "campaign",
                                      f->campaign, "mark", finding_mark_name(f->mark), "url", f->url, "found",
                                      (json_int_t)f->found));
                return 0;
        }
        snprintf(id, sizeof(id), "%u", f->number);
        snprintf(fast, sizeof(fast), "%.6f", median_of(f, f->reference));
        snprintf(slow, sizeof(slow), "%.6f", median_of(f, f->target));
        snprintf(reference, sizeof(reference), "%s", *f->reference ? f->reference : "-");
        snprintf(target, sizeof(target), "%s", f->target);
        output_row(columns, ARRAY_SIZE(columns),
                   (const char *[]){id, finding_kind_name(f->kind), size, fast, slow, reference, target, f->campaign,
                                    *finding_mark_name(f->mark) ? finding_mark_name(f->mark) : "-", *f->url ? f->url : "-"});
        return output_broken() ? -EPIPE : 0;
}

static int list(struct listing *l)
{
        enum finding_mark mark;
        int r = workspace_solver(l->workspace, l->solver_name, &l->solver);

        if (r == 0 && l->seeds) {
                int status = findings_seeds(l->workspace, l->solver, l->json);

                solver_unref(l->solver);
                return output_end(status);
        }
        if (r == 0 && l->number != 0) {
                r = finding_mark_parse(l->mark, &mark);
                if (r == -EINVAL)
                        return fail_as(STATUS_USAGE, r);
                if (r == 0)
                        r = finding_set_mark(l->workspace, l->solver->number, l->number, mark, l->url);
        } else if (r == 0) {
                r = findings_each(l->workspace, l->solver->number, NULL, show, l);
        }
        solver_unref(l->solver);
        return output_end(r < 0 && r != -EPIPE ? fail(r) : STATUS_OK);
}

int cmd_findings(int argc, char **argv)
{
        static const struct argp_option options[] = {
                {"mark", OPTION_MARK, "ID", 0, "keep what became of a finding: reported, confirmed, fixed or rejected, and where",
                 0},
                {"seeds", OPTION_SEEDS, NULL, 0,
                 "run every slowdown under the solver's seeds 1 to 30, and tell under how many it reproduces", 0},
                {"json", OPTION_JSON, NULL, 0, "an object a line", 0},
                {0}};
        static const struct argp argp = {
                .options = options,
                .parser = parse,
                .args_doc = "SOLVER\nSOLVER --seeds\nSOLVER --mark ID reported|confirmed|fixed|rejected [URL]",
                .doc = "Lists what campaigns found.\v"
                       "With --seeds a line for each slowdown between versions of the solver: finding, seeds under which it "
                       "reproduces, seeds tried. "
                       "What is measured is kept (seeds.tsv in the mount), so that an interrupted call goes on.\n\n"
                       "Example:\n"
                       "  solverfs findings z3 --mark 12 reported https://github.com/Z3Prover/z3/issues/1"};
        cleanup_workspace struct workspace *w = NULL;
        struct listing l = {0};
        int status;

        command_parse(&argp, argc, argv, &l);
        status = command_open(l.number != 0 || l.seeds ? 0 : STORE_READ_ONLY, &w);
        if (status != STATUS_OK)
                return status;
        l.workspace = w;
        return list(&l);
}
