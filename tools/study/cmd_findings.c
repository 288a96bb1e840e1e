/* solverfs findings: findings of campaigns, and their marks. */
#include "core/study/base/stat.h"
#include "core/study/base/version.h"
#include "core/study/observation/campaign_store.h"
#include "core/study/observation/finding_select.h"
#include "tools/words.h"

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

/* A time in seconds; for other measures a count. */
static json_t *amount_json(const struct observation *f, const char *version)
{
        cleanup_free char *text = format_string("%.*f", f->measure == JUDGE_TIME ? 6 : 0, observation_amount(f, version));

        return json_string(text);
}

static json_t *brief_json(const char *version)
{
        cleanup_free char *brief = *version ? version_brief(common.solver, version) : NULL;

        return json_string(brief ?: "-");
}

static void show(const struct finding_choice *c)
{
        static const struct column columns[] = {{"ID", 5, true},         {"KIND", 11},             {"SIZE (B)", 8, true, 3},    {"FAST (s)", 10, true},
                                                {"SLOW (s)", 10, true},  {"REFERENCE", 12, false, 2}, {"TARGET", 12, false, 1}, {"COUNT", 6, true},
                                                {"CULPRIT", 12},         {"CAMPAIGN", 16, false, 4}, {"MARK", 10},              {"URL", 24},
                                                {"HOLDS"},               {0}};
        const struct observation *f = c->finding;
        const char *kind = observation_kind_name(f->kind), *mark = observation_mark_name(f->mark), *measure = judge_measure_name(f->measure);
        const bool is_time = f->measure == JUDGE_TIME;
        unsigned pairs, held = observation_pairs_shown(f, &pairs);
        char machine[PATH_SIZE], kind_shown[32], holds[32] = "-", culprit[13];
        json_t *j = json_pack("{si ss si sI ss ss sf sf so ss so sI sI ss so so}", "id", (int)f->number, "kind", kind, "case", (int)f->case_id, "size",
                              (json_int_t)c->size, "reference", f->reference, "target", f->target, "before", observation_amount(f, f->reference), "after",
                              observation_amount(f, f->target), "campaign", json_printable(f->origin), "mark", mark, "url", json_printable(f->url),
                              "found", (json_int_t)f->found, "count", (json_int_t)c->count, "culprit", c->culprit, "reason",
                              json_legible(common.json ? f->reason : ""), "signature", json_legible(common.json ? f->signature : ""));

        snprintf(kind_shown, sizeof(kind_shown), "%s%s%s", kind, is_time ? "" : ":", is_time ? "" : measure);
        snprintf(culprit, sizeof(culprit), "%.12s", *c->culprit ? c->culprit : "-");
        if (pairs > 0)
                snprintf(holds, sizeof(holds), "%u/%u", held, pairs);
        json_object_update_new(j, json_pack("{ss so so so so ss ss so ss}", ".kind", kind_shown, ".fast", amount_json(f, f->reference), ".slow",
                                            amount_json(f, f->target), ".reference", brief_json(f->reference), ".target", brief_json(f->target),
                                            ".culprit", culprit, ".mark", *mark ? mark : "-", ".url", *f->url ? json_printable(f->url) : json_string("-"),
                                            ".holds", holds));
        if (!is_time)
                json_object_set_new(j, "measure", json_string(measure));
        if (pairs > 0)
                json_object_update_new(j, json_pack("{si si sf}", "held", (int)held, "pairs", (int)pairs, "threshold", f->threshold));
        if (c->reduced > 0)
                json_object_set_new(j, "reduced", json_integer((json_int_t)c->reduced));
        if (common.json && finding_is_elsewhere(common.workspace, common.solver->recipe->name, f, machine))
                json_object_set_new(j, "machine", json_string(machine));
        output_object(columns, j);
}

void cmd_findings(int argc, char **argv)
{
        static const char doc[] =
                "Lists the findings of campaigns, the most important first.\v"
                "Findings of one signature, or with the same reduced shape and commit, are one; COUNT is how many inputs it stands for. "
                "FAST and SLOW of spr:memory are bytes, of spr:effort the solver's count.\n\n"
                "Example:\n"
                "  solverfs findings z3 --mark 12 reported https://example.org/issues/1";
        struct finding_choice *choices = NULL;
        const char *solver, *campaign = NULL;
        unsigned marked = 0;
        bool all = false, kinds[N_FINDING_KINDS] = {false}, has_kinds;
        size_t n = 0;
        int r;
        const struct command_option options[] = {
                {"mark", 0, "ID", "mark a finding: reported, confirmed, fixed or rejected, and where",
                 .number = &marked, .least = 1, .most = UINT32_MAX},
                {"kind", 0, "KIND", "only findings of this kind: spr, soundness, crash, regression, implication; may be repeated",
                 .parse = parse_kind, .to = kinds, .excludes = "mark"},
                {"campaign", 0, "NAME", "only findings of this campaign", .text = &campaign, .excludes = "mark"},
                {"all", 0, NULL, "also findings that another one stands for", .on = &all, .excludes = "mark"},
                {"json", 0, NULL, "an object a line", .on = &common.json, .excludes = "mark"},
                {0}};
        struct words words = command_parse(argc, argv, "SOLVER\nSOLVER --mark ID reported|confirmed|fixed|rejected [URL]", doc, options);

        solver = word_next(&words);
        if (!solver)
                command_usage("expected SOLVER");
        if (marked != 0) {
                command_mark(OF_CAMPAIGNS, solver, marked, &words);
                return;
        }
        if (words.n > 0)
                command_usage("expected SOLVER");
        command_open_solver(STORE_READ_ONLY, NULL, solver);
        has_kinds = memchr(kinds, true, sizeof(kinds));
        r = findings_select(common.workspace, common.solver, &choices, &n);
        for (size_t i = 0; i < n && !output_broken(); i++)
                if ((!has_kinds || kinds[choices[i].finding->kind]) && (all || choices[i].is_representative) &&
                    (!campaign || strcmp(campaign, choices[i].finding->origin) == 0))
                        show(&choices[i]);
        finding_choices_free(choices, n);
        if (r != -EPIPE)
                command_must(r);
}
