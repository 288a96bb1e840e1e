/* A finding's report.md, section by section (finding_report() has their order), and the tables of its folder. */
#include "core/study/observation/finding.h"

#include <inttypes.h>
#include <math.h>

#include "core/query/scrambled.h"
#include "core/study/base/stat.h"
#include "core/study/observation/campaign_store.h"
#include "core/study/observation/finding_compared.h"
#include "core/study/observation/observation_internal.h"
#include "core/study/steps/case_history.h"

#define INLINE_MOST 4096  /* bytes of an input included in the report */
#define REDUCED_MOST 32768 /* of a reduced one: issue trackers take 65536 in all */

/* -- tables -- */

/* Adds `before` and an amount: times with `digits` digits, bytes and counts whole; "-" if the run gave no answer (observation_no_answer_amount()). */
static void add_amount(const struct observation *f, const char *before, double amount, int digits, struct buffer *ret)
{
        if (f->measure != JUDGE_TIME && amount >= observation_no_answer_amount(f->measure))
                buffer_addf(ret, "%s-", before);
        else
                buffer_addf(ret, "%s%.*f", before, f->measure == JUDGE_TIME ? digits : 0, amount);
}

void finding_print_times(const struct observation *f, struct buffer *ret)
{
        buffer_addf(ret, "version\tresult\t%s\tsamples\n", judge_measure_name(f->measure));
        for (size_t i = 0; i < f->n_runs; i++) {
                const struct observed_runs *runs = &f->runs[i];

                buffer_addf(ret, "%s\t%s\t", runs->version, verdict_name(runs->verdict));
                add_amount(f, "", runs->n > 0 ? stat_lower_median(runs->amounts, runs->n) : 0, 6, ret);
                buffer_adds(ret, "\t");
                for (uint32_t k = 0; k < runs->n; k++)
                        add_amount(f, k > 0 ? " " : "", runs->amounts[k], 6, ret);
                buffer_adds(ret, "\n");
        }
}

static bool has_digest(const struct digest_list *l, const struct digest *d)
{
        for (size_t i = 0; i < l->n; i++)
                if (digest_equal(&l->list[i], d))
                        return true;
        return false;
}

int finding_print_later(struct workspace *w, const struct observation *f, const struct case_history *h, struct buffer *ret)
{
        cleanup_free struct digest *programs = NULL;
        cleanup_digests struct digest_list seen = {0};
        uint32_t n_programs = 0;
        struct commit c;
        int r = commit_programs(w, h->solver, &programs, &n_programs, NULL);

        for (size_t i = 0; r == 0 && i < h->n; i++) { /* programs of the finding's own rows */
                r = history_commit(h->solver->history, h->list[i].commit, &c);
                if (r == 0 && h->list[i].commit < n_programs && observation_runs_of(f, oid_text(&c.oid)))
                        digest_list_add(&seen, programs[h->list[i].commit].bytes);
        }
        for (size_t i = 0; r == 0 && i < h->n; i++) {
                const struct fact *fact = h->list[i].fact;
                double amount;

                if (!fact || h->list[i].commit >= n_programs || has_digest(&seen, &programs[h->list[i].commit]))
                        continue;
                digest_list_add(&seen, programs[h->list[i].commit].bytes);
                r = history_commit(h->solver->history, h->list[i].commit, &c);
                amount = f->is_cpu_time             ? (double)fact->cpu_ns / 1e9
                         : f->measure == JUDGE_TIME ? (double)fact->wall_ns / 1e9
                                                    : fact_amount(&(struct cell){.solver = h->solver}, fact, f->measure);
                if (r < 0 || isnan(amount))
                        continue;
                buffer_addf(ret, "%s\t%s", oid_text(&c.oid), verdict_name(fact->verdict));
                add_amount(f, "\t", amount, 6, ret);
                add_amount(f, "\t", amount, 6, ret);
                buffer_adds(ret, "\n");
        }
        return r < 0 ? r : buffer_error(ret);
}

/* -- report.md: what was found -- */

/* Adds a version for a reader: a commit as a link if it has a page, with its arguments and its subject; anything else as it is. */
static void add_version(const struct solver *s, const char *version, struct buffer *ret)
{
        cleanup_buffer struct buffer subject = {0}, page = {0};
        char sha[GIT_OID_HEXSZ + 1];
        const char *rest = version + MIN(strlen(version), (size_t)GIT_OID_HEXSZ);
        uint32_t number;
        git_oid oid;

        snprintf(sha, sizeof(sha), "%.40s", version);
        if (!version_is_commit(sha) || oid_parse(sha, &oid) < 0 || history_number(s->history, &oid, &number) < 0) {
                buffer_add_markdown_code(ret, version);
                return;
        }
        if (s->recipe->is_programs) {
                cleanup_free char *name = version_brief(s, sha);

                buffer_add_markdown_code(ret, name);
        } else if (steps_add_page(s, sha, &page))
                buffer_addf(ret, "[`%.12s`](%s)", sha, page.data);
        else
                buffer_addf(ret, "`%.12s`", sha);
        if (*rest == ':') {
                buffer_adds(ret, " with ");
                buffer_add_markdown_code(ret, rest + 1);
        }
        history_subject(s->history, number, &subject);
        if (subject.size > 0) {
                buffer_adds(ret, " (");
                buffer_add_markdown(ret, subject.data);
                buffer_adds(ret, ")");
        }
}

/* The verdict of the median run. Older findings have that of their first run: it may be an answer, though the median run reached the limit. */
static enum verdict usual_verdict(const struct observation *f, const struct observed_runs *runs)
{
        return verdict_is_decided(runs->verdict) && observation_is_limited(f, runs->version) ? VERDICT_TIMEOUT : runs->verdict;
}

static void add_title(const struct solver *s, const struct observation *f, struct buffer *ret)
{
        static const char *const titles[N_FINDING_KINDS] = {
                [FINDING_SOUNDNESS] = "an answer contradicts the one that follows from a formula decided before",
                [FINDING_CRASH] = "crash",
                [FINDING_IMPLICATION] = "unknown where an implied formula is decided",
        };
        const char *more = observation_is_limited(f, f->target) ? "more than " : "";
        cleanup_free char *name = s->recipe->is_programs ? version_brief(s, f->target) : copy_string(s->recipe->name);

        if (f->kind == FINDING_SLOWDOWN && f->measure != JUDGE_TIME)
                buffer_addf(ret, "# %s: %s of %s becomes %s%s\n\n", name,
                            judge_amount_text(f->measure, observation_amount(f, f->reference)).s, judge_measure_name(f->measure), more,
                            judge_amount_text(f->measure, observation_amount(f, f->target)).s);
        else if (f->kind == FINDING_SLOWDOWN)
                buffer_addf(ret, "# %s: %.3gs becomes %s%.3gs\n\n", name, observation_amount(f, f->reference), more, observation_amount(f, f->target));
        else if (f->kind == FINDING_SOUNDNESS && (*f->reference || !*f->chain))
                buffer_addf(ret, "# %s: two versions contradict each other\n\n", name);
        else if (f->kind == FINDING_REGRESSION)
                buffer_addf(ret, "# %s: %s where it was decided before\n\n", name, verdict_name(finding_verdict(f, f->target)));
        else
                buffer_addf(ret, "# %s: %s\n\n", name, titles[f->kind]);
}

/* Says what is wrong with a regression or an implication, in a sentence or two. The titles of the others say it. */
static void add_matter(const struct solver *s, const struct observation *f, struct buffer *ret)
{
        const struct observed_runs *reference = observation_runs_of(f, f->reference);
        cleanup_free char *step = finding_last_step(f);

        if (f->kind == FINDING_REGRESSION) {
                add_version(s, f->reference, ret);
                buffer_addf(ret, " answers `%s`, ", reference ? verdict_name(reference->verdict) : "?");
                add_version(s, f->target, ret);
                buffer_addf(ret, " answers `%s`", verdict_name(finding_verdict(f, f->target)));
        } else if (f->kind == FINDING_IMPLICATION) {
                add_version(s, f->target, ret);
                buffer_addf(ret,
                            " decides the formula before the last step below, and answers `unknown` behind it, although that step makes the formula %s",
                            strstr(step, "\tweaken\t") ? "weaker: each model of the one is a model of the other"
                                                       : "stronger: each model of the other would be a model of the one, which has none");
        } else {
                return;
        }
        if (*f->reason) {
                buffer_adds(ret, ". `(get-info :reason-unknown)` gives ");
                buffer_add_markdown_code(ret, f->reason);
        }
        buffer_adds(ret, ".\n\n");
}

/* Describes this machine without its name, which is private; another one by its name. */
static void add_machine(struct workspace *w, const struct solver *s, const struct observation *f, const json_t *facts, struct buffer *ret)
{
        static const char *const others[] = {"kernel", "distribution"};
        const char *cpu = json_string_value(json_object_get(facts, "cpu"));
        char machine[PATH_SIZE];

        if (finding_is_elsewhere(w, s->recipe->name, f, machine)) {
                buffer_adds(ret, ", on ");
                buffer_add_markdown(ret, machine);
        } else if (cpu)
                buffer_addf(ret, ", on %s (%lld cores)", cpu, (long long)json_integer_value(json_object_get(facts, "cores")));
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (json_is_string(json_object_get(facts, others[i])))
                        buffer_addf(ret, ", %s", json_string_value(json_object_get(facts, others[i])));
}

static void add_table(struct workspace *w, const struct solver *s, const struct observation *f, struct buffer *ret)
{
        json_t *conditions = campaign_get_conditions(w, s->recipe->name, f->origin);

        buffer_addf(ret, "| version | result | %s | runs |\n|---|---|---|---|\n", judge_measure_unit(f->measure));
        for (size_t i = 0; i < f->n_runs; i++) {
                const struct observed_runs *runs = &f->runs[i];
                const char *name = json_string_value(json_object_get(json_object_get(conditions, "versions"), runs->version)); /* its makers' */

                buffer_adds(ret, "| ");
                add_version(s, runs->version, ret);
                if (name && !s->recipe->is_programs) { /* of a program the line is the subject, which add_version() adds */
                        buffer_adds(ret, ": ");
                        buffer_add_markdown_code(ret, name);
                }
                buffer_addf(ret, " | %s", verdict_name(usual_verdict(f, runs)));
                add_amount(f, " | ", runs->n > 0 ? stat_lower_median(runs->amounts, runs->n) : 0, 3, ret);
                buffer_adds(ret, " |");
                for (uint32_t k = 0; k < runs->n; k++)
                        add_amount(f, " ", runs->amounts[k], 3, ret);
                buffer_adds(ret, " |\n");
        }
        buffer_addf(ret, "\nEach run had %gs%s and a core of its own", f->timeout, f->is_cpu_time ? " of CPU time" : "");
        add_machine(w, s, f, json_object_get(conditions, "machine"), ret);
        if (f->seed > 0)
                buffer_addf(ret, "; the solver's seed was %" PRIu64, f->seed);
        buffer_adds(ret, ".\n\n");
        json_decref(conditions);
}

/* -- report.md: how to reproduce it -- */

/* Adds the commands that run a version on the case. For a commit, the recipe's commands build it first, in a clone of its repository. */
static int add_version_steps(struct workspace *w, struct solver *s, const struct observation *f, const char *version, const char *file, struct buffer *ret)
{
        const struct recipe *recipe = version_has_history(s, version) ? steps_recipe(s, version) : NULL;
        char clone[PATH_SIZE], seed[STEPS_SEED_SIZE];
        int r;

        if (recipe && recipe->file)
                buffer_addf(ret, "# the program of %.40s is a released binary: %s\n", version, recipe->file);
        else if (recipe) {
                buffer_addf(ret, "git checkout -q%s %.40s && git clean -qfdx\n", recipe->within || recipe->submodules[0] ? "f" : "",
                            steps_root(s, version, clone));
                steps_add_submodules(recipe, version, "", "\n", ret);
        }
        for (char *const *p = recipe && !recipe->file ? recipe->build : NULL; p && *p; p++) {
                steps_add_build_line(*p, ret);
                buffer_adds(ret, "\n");
        }
        r = steps_add_run(w, s, version, file, steps_seed(f, seed), f->timeout, ret);
        buffer_adds(ret, "\n");
        return r;
}

/* How to run both versions on the input without solverfs. */
static int add_reproduction(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        bool has_clone = version_has_history(s, f->target) || (*f->reference && version_has_history(s, f->reference));
        const char *format = format_name(observation_format(w, f));
        cleanup_free char *file = format_string("%scase.%s", has_clone ? "../" : "", format);
        const char *folder = s->recipe->within ? s->recipe->name : s->repository;
        char repository[PATH_SIZE];
        int r = 0;

        buffer_addf(ret, "## Reproduce\n\nWith the input below as `case.%s`%s:\n\n```sh\n", format,
                    !finding_has_verification(f) ? ""
                    : has_clone                  ? ", or by `verify.sh`, which needs git and what the builds need alone"
                                                 : ", or by `verify.sh`");
        steps_root(s, "", repository);
        if (has_clone) {
                buffer_adds(ret, "git clone -q ");
                buffer_add_shell_word(ret, repository);
                buffer_addf(ret, " %s && cd %s\n", folder, folder);
        }
        if (*f->reference)
                r = add_version_steps(w, s, f, f->reference, file, ret);
        if (r == 0)
                r = add_version_steps(w, s, f, f->target, file, ret);
        buffer_adds(ret, "```\n\n");
        return r;
}

/* -- report.md: inputs -- */

/* Adds a text or, if it is larger than `most` bytes, a note that the file of this name is attached. */
static void add_fenced(struct slice text, size_t most, enum format format, const char *name, struct buffer *ret)
{
        const char *bytes = text.data;

        if (text.size > most) {
                buffer_addf(ret, "%s.%s, %zu bytes, is attached.\n", name, format_name(format), text.size);
                return;
        }
        buffer_addf(ret, "```%s\n", format == FORMAT_CNF ? "" : "smt2");
        buffer_add(ret, bytes, text.size);
        buffer_addf(ret, "%s```\n", text.size > 0 && bytes[text.size - 1] == '\n' ? "" : "\n");
}

static void add_answer(const char *who, const struct version_answer *a, enum judge_measure m, struct buffer *ret)
{
        buffer_addf(ret, "%s: %s", who, verdict_name(a->verdict));
        if (a->verdict == VERDICT_CRASH)
                buffer_addf(ret, " (%s)", a->end);
        buffer_addf(ret, " %s %s. ", m == JUDGE_TIME ? "after" : "with", judge_amount_text(m, a->amount).s);
}

/* The reduced input, if there is one. */
static void add_reduced(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        cleanup_reduction struct reduction r = {0};
        enum format format = observation_format(w, f);
        bool is_implied;

        if (finding_reduced(w, s, f, &r) < 0) {
                buffer_addf(ret, "The input is not reduced; `solverfs reduce %s %s/%u` does that.\n\n", s->recipe->name, observation_folder(f->kind), f->number);
                return;
        }
        is_implied = r.interest == INTEREST_IMPLICATION;
        buffer_addf(ret, "## Reduced input\n\n%zu bytes%s. ", is_implied ? r.implied.size : r.text.size,
                    r.is_minimal ? "" : " so far: it may be made smaller still");
        if (r.has_reference)
                add_answer(is_implied ? "The formula before the last step" : "The reference", &r.reduced[SIDE_REFERENCE], r.measure, ret);
        add_answer(is_implied ? "The formula behind it" : "The target", &r.reduced[SIDE_TARGET], r.measure, ret);
        buffer_addf(ret, "(%s)\n\n",
                    r.measure != JUDGE_TIME ? judge_measure_name(r.measure)
                    : r.is_cpu_time         ? "CPU time"
                                            : "Wall clock time");
        if (is_implied) {
                buffer_adds(ret, "Before the step:\n\n");
                add_fenced(SLICE(r.text.data, r.text.size), REDUCED_MOST, format, "reduced-decided", ret);
                buffer_adds(ret, "\nBehind it:\n\n");
        }
        add_fenced(is_implied ? SLICE(r.implied.data, r.implied.size) : SLICE(r.text.data, r.text.size), REDUCED_MOST, format, "reduced", ret);
        buffer_adds(ret, "\n");
}

static int add_case(struct workspace *w, uint32_t id, const char *heading, enum format format, const char *name, struct buffer *ret)
{
        cleanup_blob struct blob text = {0};
        uint64_t size;
        int r = steps_read_input(w, id, INLINE_MOST, &size, &text);

        if (r < 0)
                return r;
        buffer_addf(ret, "## %s\n\n", heading);
        add_fenced((struct slice){text.data, size}, INLINE_MOST, format, name, ret); /* a larger text was not read */
        buffer_adds(ret, "\n");
        return 0;
}

/* -- report.md: causes -- */

/* Adds a culprit: a commit, or how to list those of a range "SHA..SHA". */
static void add_responsible(const struct solver *s, const struct localized_culprit *c, struct buffer *ret)
{
        if (c->n > 1)
                buffer_addf(ret, "one of %zu (`git log %.12s..%.12s`)", c->n, c->commit, c->commit + GIT_OID_HEXSZ + strlen(".."));
        else
                add_version(s, c->commit, ret);
}

/* Adds a cell of the table of culprits: the amount on one side of a culprit. */
static void add_end(enum judge_measure m, bool is_broken, double value, struct buffer *ret)
{
        if (is_broken)
                buffer_adds(ret, " | broken");
        else if (isinf(value))
                buffer_adds(ret, " | no answer");
        else
                buffer_addf(ret, m == JUDGE_TIME ? " | %.3f" : " | %.0f", value);
}

static void add_culprit(const struct solver *s, const struct localized_culprit *c, struct buffer *ret)
{
        buffer_adds(ret, "| ");
        add_responsible(s, c, ret);
        add_end(c->measure, c->is_broken_before, c->value_before, ret);
        add_end(c->measure, c->is_broken_after, c->value_after, ret);
        buffer_addf(ret, " | %u |", c->pairs);
        if (!isnan(c->p))
                buffer_addf(ret, " %.2g", c->p);
        buffer_adds(ret, " |\n");
}

/* Reports the state of the search, and the command that continues it. */
static void add_unfinished(const struct solver *s, const struct observation *f, const struct localized *localization, struct buffer *ret)
{
        buffer_adds(ret, !localization->is_unfinished
                                 ? "No commit responsible was found while others had the core, so that is not sure. "
                                 : "The search for the commits responsible is not finished: they are not yet verified. ");
        buffer_addf(ret, "`solverfs localize %s %s/%u` goes on with it.\n\n", s->recipe->name, observation_folder(f->kind), f->number);
}

/* The known culprits; starts no search. */
static void add_culprits(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        cleanup_localized struct localized *localization = NULL;
        const struct localized_culprit *c;
        size_t at = 0, n = 0;

        if (finding_localization(w, s, f, &localization) < 0)
                return;
        for (; (c = localized_slowdown(localization, &at)); n++)
                if (f->kind != FINDING_SLOWDOWN) {
                        buffer_adds(ret, "Since ");
                        add_responsible(s, c, ret);
                        buffer_adds(ret, ".\n\n");
                } else {
                        if (n == 0)
                                buffer_addf(ret, "## Commits responsible\n\n| commit | %s before | %s after | pairs of runs | p |\n|---|---|---|---|---|\n",
                                            judge_measure_unit(c->measure), judge_measure_unit(c->measure));
                        add_culprit(s, c, ret);
                }
        buffer_adds(ret, n > 0 ? "\n" : "");
        if (!localized_is_final(localization))
                add_unfinished(s, f, localization, ret);
}

/* The explanations by the commands options and diverge. */
static void add_explanations(struct workspace *w, const struct observation *f, struct buffer *ret)
{
        for (enum explanation e = 0; e < N_EXPLANATIONS; e++) {
                cleanup_blob struct blob text = {0};

                if (observation_explained(w, f, e, &text) < 0)
                        continue;
                buffer_add(ret, text.data, text.size);
                buffer_adds(ret, "\n");
        }
}

/* Reports what varied between the pairs of runs, as campaign_slowdown.c chooses it. A comparison's choice depends on its options, which no finding has. */
static void add_chance(struct workspace *w, const struct solver *s, const struct observation *f, unsigned pairs, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct digest d;

        if (strcmp(f->origin, COMPARED_ORIGIN) == 0 || cases_get(workspace_cases(w), f->case_id, &info) < 0)
                return;
        if (finding_has_seeds(s, f))
                buffer_addf(ret, ": as it is, and under the solver's seeds 1 to %u", pairs - 1);
        else if (scrambled_digest(w, info, 1, &d) == 0)
                buffer_addf(ret, ": as it is, and with the input scrambled by the seeds 1 to %u", pairs - 1);
        else
                buffer_adds(ret, ", all of the input as it is");
}

/* Reports in how many pairs, and under how many seeds, the target takes more. */
static void add_seeds(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        unsigned pairs, shown = observation_pairs_shown(f, &pairs);

        if (pairs > 1 && f->measure == JUDGE_TIME)
                buffer_addf(ret, "The target takes longer by more than %.3gs", f->threshold);
        else if (pairs > 1)
                buffer_addf(ret, "The target takes more than %.3g times the %s", f->threshold, judge_measure_name(f->measure));
        if (pairs > 1) {
                buffer_addf(ret, " in %u of %u pairs of runs (%.0f%%)", shown, pairs, 100.0 * shown / pairs);
                add_chance(w, s, f, pairs, ret);
                buffer_adds(ret, ".\n\n");
        }
        if (finding_has_seeds(s, f) && query_seeds(w, s, f, &q) == 0 && q->type->find(q, &v) == 0)
                buffer_addf(ret, "It reproduces under %u of %d random seeds.\n\n",
                            seeds_reproduced((struct seeds_value *)v), N_SEEDS);
}

/* -- report.md -- */

int finding_report(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret)
{
        int r;

        add_title(s, f, ret);
        add_matter(s, f, ret);
        add_table(w, s, f, ret);
        if (*f->chain)
                buffer_addf(ret, "The input comes from another one by these steps (rule, direction, place):\n\n```\n%s```\n\n",
                            f->chain);
        add_seeds(w, s, f, ret);
        finding_add_queries(w, s, f, ret);
        add_culprits(w, s, f, ret);
        add_explanations(w, f, ret);
        r = add_reproduction(w, s, f, ret);
        if (r < 0)
                return r;
        add_reduced(w, s, f, ret);
        r = f->decided_id ? add_case(w, f->decided_id, "The formula before the last step", FORMAT_SMT2, "decided", ret) : 0;
        if (r == 0)
                r = add_case(w, f->case_id, "Input", observation_format(w, f), "case", ret);
        return r < 0 ? r : buffer_error(ret);
}
