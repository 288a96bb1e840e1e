/* solverfs findings: what campaigns found, and what became of it. */
#include <inttypes.h>

#include "core/study/base/stat.h"
#include "core/study/base/version.h"
#include "core/study/observation/campaign_store.h"
#include "core/study/observation/finding_select.h"
#include "words.h"

struct listing {
        const char *solver_name;
        uint32_t number;
        bool all;
        bool kinds[N_FINDING_KINDS]; /* none: all of them */
        const char *campaign;
};

static void parse_kind(void *to, const char *text)
{
        bool *kinds = to;

        for (int k = 0; k < N_FINDING_KINDS; k++)
                if (strcmp(text, observation_kind_name((enum observation_kind)k)) == 0) {
                        kinds[k] = true;
                        return;
                }
        command_usage("--kind is spr, soundness, crash, regression or implication, not '%s'", text);
}

static const struct column columns[] = {{"ID", 5, true},         {"KIND", 11, false}, {"SIZE (B)", 8, true, 3},
                                        {"FAST (s)", 10, true},      {"SLOW (s)", 10, true},  {"REFERENCE", 12, false, 2},
                                        {"TARGET", 12, false, 1},   {"COUNT", 6, true},  {"CULPRIT", 12, false},
                                        {"CAMPAIGN", 16, false, 4}, {"MARK", 10, false}, {"URL", 24, false}, {"HOLDS", 0, false}};

static void show_json(const struct finding_choice *c)
{
        const struct observation *f = c->finding;
        unsigned pairs, held = observation_held(f, &pairs);
        char machine[PATH_SIZE];
        json_t *j = json_pack("{s:i, s:s, s:i, s:I, s:s, s:s, s:f, s:f, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s}", "id",
                              (int)f->number, "kind", observation_kind_name(f->kind), "case", (int)f->case_id, "size",
                              (json_int_t)c->size, "reference", f->reference, "target", f->target, "before",
                              observation_seconds(f, f->reference), "after", observation_seconds(f, f->target), "campaign", f->origin, "mark",
                              observation_mark_name(f->mark), "url", f->url, "found", (json_int_t)f->found, "count",
                              (json_int_t)c->count, "culprit", c->culprit, "reason", f->reason, "signature", f->signature);

        if (f->measure != JUDGE_TIME)
                json_object_set_new(j, "measure", json_string(judge_measure_name(f->measure)));
        if (pairs > 0) {
                json_object_set_new(j, "held", json_integer((json_int_t)held));
                json_object_set_new(j, "pairs", json_integer((json_int_t)pairs));
        }
        if (c->reduced > 0)
                json_object_set_new(j, "reduced", json_integer((json_int_t)c->reduced));
        if (campaign_is_elsewhere(common.workspace, common.solver->recipe->name, f->origin, machine))
                json_object_set_new(j, "machine", json_string(machine));
        output_json(j);
}

static void show(const struct finding_choice *c)
{
        const struct observation *f = c->finding;
        cleanup_free char *reference = *f->reference ? version_brief(common.solver, f->reference) : copy_string("-"), *target = version_brief(common.solver, f->target);
        unsigned pairs, held = observation_held(f, &pairs);
        char holds[32] = "-", kind[32];
        int digits = f->measure == JUDGE_TIME ? 6 : 0;

        if (common.json) {
                show_json(c);
                return;
        }
        if (pairs > 0)
                snprintf(holds, sizeof(holds), "%u/%u", held, pairs);
        snprintf(kind, sizeof(kind), "%s%s%s", observation_kind_name(f->kind), digits > 0 ? "" : ":",
                 digits > 0 ? "" : judge_measure_name(f->measure));
        output_rowf(columns, ARRAY_SIZE(columns), "%u\t%s\t%" PRIu64 "\t%.*f\t%.*f\t%s\t%s\t%" PRIu64 "\t%.12s\t%s\t%s\t%s\t%s",
                    f->number, kind, c->size, digits, observation_seconds(f, f->reference), digits,
                    observation_seconds(f, f->target), reference ?: "-", target ?: "-", c->count, *c->culprit ? c->culprit : "-",
                    f->origin, *observation_mark_name(f->mark) ? observation_mark_name(f->mark) : "-", *f->url ? f->url : "-",
                    holds);
}

static bool is_wanted(const struct listing *l, const struct finding_choice *c)
{
        bool any = false;

        for (int k = 0; k < N_FINDING_KINDS; k++)
                any |= l->kinds[k];
        return (!any || l->kinds[c->finding->kind]) && (l->all || c->is_representative) &&
               (!l->campaign || strcmp(l->campaign, c->finding->origin) == 0);
}

static int show_all(const struct listing *l)
{
        struct finding_choice *choices = NULL;
        size_t n = 0;
        int r = findings_select(common.workspace, common.solver, &choices, &n);

        for (size_t i = 0; i < n && !output_broken(); i++)
                if (is_wanted(l, &choices[i]))
                        show(&choices[i]);
        finding_choices_free(choices, n);
        return r;
}

void cmd_findings(int argc, char **argv)
{
        static const char doc[] =
                "Lists what campaigns found, the most worth reporting first.\v"
                "Findings of one signature, or with the same reduced shape and commit, are one; COUNT is how many inputs it stands for. "
                "FAST and SLOW of spr:memory are bytes, of spr:effort the solver's count.\n\n"
                "Example:\n"
                "  solverfs findings z3 --mark 12 reported https://example.org/issues/1";
        struct listing l = {0};
        int r;
        const struct command_option options[] = {
                {"mark", 0, "ID", "keep what became of a finding: reported, confirmed, fixed or rejected, and where",
                 .number = &l.number, .least = 1, .most = UINT32_MAX},
                {"kind", 0, "KIND", "only these: spr, soundness, crash, regression, implication; may be repeated",
                 .parse = parse_kind, .to = l.kinds},
                {"campaign", 0, "NAME", "only what this campaign found", .text = &l.campaign},
                {"all", 0, NULL, "those, too, that another finding stands for", .on = &l.all},
                {"json", 0, NULL, "an object a line", .on = &common.json},
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER\nSOLVER --mark ID reported|confirmed|fixed|rejected [URL]", doc, options);

        l.solver_name = word_next(&words);
        if (!l.solver_name)
                command_usage("expected SOLVER");
        if (l.number != 0) {
                command_mark(OF_CAMPAIGNS, l.solver_name, l.number, &words, "expected SOLVER");
                return;
        }
        if (words.n > 0)
                command_usage("expected SOLVER");
        command_open_solver(STORE_READ_ONLY, NULL, l.solver_name);
        r = show_all(&l);
        if (r != -EPIPE)
                command_must(r);
}
