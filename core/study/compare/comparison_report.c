/* A comparison as tables, Markdown and JSON. A number that is not known is "-" or null. */
#include "core/study/compare/comparison_report.h"

#include <math.h>

#include "core/query/cell_answer.h"

/* -- numbers as text ---------------------------------------------------------------------------------------------- */

static struct short_text number(double x, int decimals)
{
        struct short_text t;

        if (isfinite(x))
                snprintf(t.s, sizeof(t.s), "%.*f", decimals, x);
        else
                strcpy(t.s, isnan(x) ? "-" : x > 0 ? "inf" : "-inf");
        return t;
}

static struct short_text seconds(double x)
{
        return number(x, 6);
}

static struct short_text ratio(double x)
{
        return number(x, 4);
}

static struct short_text probability(double x)
{
        struct short_text t = number(x, 0);

        if (isfinite(x))
                snprintf(t.s, sizeof(t.s), "%.2g", x);
        return t;
}

/* -- summary.tsv -------------------------------------------------------------------------------------------------- */

static void add_counts(struct buffer *ret, const char *measure, size_t a, size_t b)
{
        buffer_addf(ret, "%s\t%zu\t%zu\t-\t-\t-\n", measure, a, b);
}

static const char *const chances[] = {
        [COMPARING_SEEDS] = "seeds", [COMPARING_SCRAMBLED] = "scrambled inputs", [COMPARING_REPETITIONS] = "repetitions"};

void comparison_write_summary(const struct comparing_table *t, struct buffer *ret)
{
        const struct judged_set *s = &t->judgement.set;
        const struct comparing_version *v = t->options->version;

        buffer_adds(ret, "measure\ta\tb\tratio\tlow\thigh\n");
        buffer_addf(ret, "solver\t%s\t%s\t-\t-\t-\n", v[0].solver->recipe->name, v[1].solver->recipe->name);
        buffer_addf(ret, "commit\t%s\t%s\t-\t-\t-\n", t->sha[0], t->sha[1]);
        if (t->options->machine) {
                cleanup_buffer struct buffer machine = {0};

                buffer_add_printable(&machine, t->options->machine);
                buffer_addf(ret, "machine\t%s\t%s\t-\t-\t-\n", machine.data ?: "", machine.data ?: "");
        }
        add_counts(ret, "wrong", s->wrong[0], s->wrong[1]);
        add_counts(ret, "cases", s->cases, s->cases);
        add_counts(ret, "known", s->known[0], s->known[1]);
        add_counts(ret, "compared", s->compared, s->compared);
        add_counts(ret, "solved", s->solved[0], s->solved[1]);
        for (enum verdict k = 0; k < N_VERDICTS; k++)
                if (k != VERDICT_UNBUILDABLE)
                        add_counts(ret, verdict_name(k), s->verdicts[0][k], s->verdicts[1][k]);
        buffer_addf(ret, "par2\t%s\t%s\t%s\t-\t-\n", seconds(s->par2[0]).s, seconds(s->par2[1]).s, ratio(s->par2[1] / s->par2[0]).s);
        add_counts(ret, "flips", s->flips[0], s->flips[1]);
        buffer_addf(ret, "worse\t-\t%zu\t-\t-\t-\nbetter\t-\t%zu\t-\t-\t-\n", s->regressions, s->improvements);
        buffer_addf(ret, "same\t-\t%zu\t-\t-\t-\nundecided\t-\t%zu\t-\t-\t-\n", s->changes[JUDGE_SAME], s->changes[JUDGE_UNDECIDED]);
        buffer_addf(ret, "differ at this seed\t-\t%zu\t-\t-\t-\npairs of runs\t-\t%zu\t-\t-\t-\n", s->changes[JUDGE_DIFFERS], s->pairs);
        buffer_addf(ret, "pairs by\t-\t%s\t-\t-\t-\n", chances[t->chance]);
        add_counts(ret, "disturbed", s->disturbed[0], s->disturbed[1]);
        add_counts(ret, "unbuildable", t->unbuildable[0], t->unbuildable[1]);
}

/* -- set.tsv, families.tsv ---------------------------------------------------------------------------------------- */

static void add_mean(const struct judge_mean *m, bool is_ratio, struct buffer *ret)
{
        struct short_text (*print)(double) = is_ratio ? ratio : seconds;

        buffer_addf(ret, "\t%s\t%s\t%s\t%s\t%s", print(m->mean).s, print(m->seeds.low).s, print(m->seeds.high).s,
                    print(m->cases.low).s, print(m->cases.high).s);
}

void comparison_write_set(const struct comparing_table *t, struct buffer *ret)
{
        const struct judged_set *s = &t->judgement.set;

        buffer_adds(ret, "measure\tchange\tcases\tratio\tlow\thigh\tcases low\tcases high\tp\n");
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++) {
                const struct judge_set_shift *shift = &s->by[m];

                buffer_addf(ret, "%s\t%s\t%zu", judge_measure_name(m), judge_change_name(shift->change, m), shift->cases);
                add_mean(&shift->ratio, true, ret);
                buffer_addf(ret, "\t%s\n", probability(shift->p).s);
        }
        buffer_addf(ret, "par2 difference\t-\t%zu", s->compared);
        add_mean(&s->par2_difference, false, ret);
        buffer_addf(ret, "\t-\nflips\t-\t%zu\t-\t-\t-\t-\t-\t%s\n", s->compared, probability(s->flips_p).s);
}

void comparison_write_families(const struct comparing_table *t, struct buffer *ret)
{
        buffer_adds(ret, "family\tcases\tcompared\tsolved a\tsolved b\tlost\tgained\tpar2 a\tpar2 b\tchange\tratio\tlow\thigh\t"
                         "cases low\tcases high\tp\tworse\tbetter\n");
        for (size_t i = 0; i < t->judgement.options.n_families; i++) {
                const struct judged_set *s = &t->judgement.families[i];
                const struct judge_set_shift *shift = &s->by[t->judgement.options.measure];

                buffer_add_printable(ret, t->families[i]);
                buffer_addf(ret, "\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%s\t%s\t%s", s->cases, s->compared, s->solved[0], s->solved[1], s->flips[0],
                            s->flips[1], seconds(s->par2[0]).s, seconds(s->par2[1]).s,
                            judge_change_name(shift->change, t->judgement.options.measure));
                add_mean(&shift->ratio, true, ret);
                buffer_addf(ret, "\t%s\t%zu\t%zu\n", probability(shift->p).s, s->regressions, s->improvements);
        }
}

/* -- one line ----------------------------------------------------------------------------------------------------- */

/* "time 0.97× on 40 cases (0.91–1.04 over seeds, 0.8–1.2 over cases)"; without the number if those are all that are compared. */
static void add_ratio(const struct comparing_table *t, enum judge_measure measure, struct buffer *ret)
{
        const struct judged_set *s = &t->judgement.set;
        const struct judge_mean *m = &s->by[measure].ratio;
        bool has_seeds = !isnan(m->seeds.low), has_cases = !isnan(m->cases.low);
        size_t n = s->by[measure].cases;

        buffer_addf(ret, "%s %.3g×", judge_measure_name(measure), m->mean);
        if (n > 0 && n < s->compared)
                buffer_addf(ret, " on %zu case%s", n, n == 1 ? "" : "s");
        if (!has_seeds && !has_cases)
                return;
        buffer_adds(ret, " (");
        if (has_seeds)
                buffer_addf(ret, "%.3g–%.3g over %s", m->seeds.low, m->seeds.high, chances[t->chance]);
        if (has_cases)
                buffer_addf(ret, "%s%.3g–%.3g over cases", has_seeds ? ", " : "", m->cases.low, m->cases.high);
        buffer_adds(ret, ")");
}

void comparison_write_line(const struct comparing_table *t, struct buffer *ret)
{
        const struct judged_set *s = &t->judgement.set;
        enum judge_measure m = t->judgement.options.measure;

        buffer_addf(ret, "%s against %s, %zu case%s: ", t->label[1], t->label[0], s->compared, s->compared == 1 ? "" : "s");
        if (isnan(s->by[m].ratio.mean))
                buffer_addf(ret, "no %s to compare", judge_measure_name(m));
        else
                add_ratio(t, m, ret);
        if (t->options->most_pairs > 1)
                buffer_addf(ret, ", %s", judge_change_name(s->by[m].change, m));
        else
                buffer_adds(ret, ", at one seed, which proves nothing");
        buffer_addf(ret, "; solved %zu → %zu", s->solved[0], s->solved[1]);
        if (s->flips[0] + s->flips[1] > 0)
                buffer_addf(ret, " (%zu lost, %zu gained of %zu pairs, p %s over cases)", s->flips[0], s->flips[1], s->pairs,
                            probability(s->flips_p).s);
        if (s->compared > 0)
                buffer_addf(ret, ", PAR-2 %.4g → %.4g s", s->par2[0], s->par2[1]);
}

/* -- regressions.tsv, improvements.tsv: by the measure that was asked for ------------------------------------------- */

static bool is_listed(const struct comparing_table *t, size_t i, enum comparison_list list)
{
        enum judge_change c = t->judgement.cases[i].change;

        return list == COMPARISON_REGRESSIONS    ? judge_is_regression(c)
               : list == COMPARISON_IMPROVEMENTS ? judge_is_improvement(c)
                                                 : c == JUDGE_DIFFERS;
}

static const char *change_name(const struct comparing_table *t, size_t i)
{
        return judge_change_name(t->judgement.cases[i].change, t->judgement.options.measure);
}

static const struct judge_shift *shift_of(const struct comparing_table *t, size_t i)
{
        return &t->judgement.cases[i].by[t->judgement.options.measure];
}

static const char *result_of(const struct comparing_table *t, size_t i, int side)
{
        const struct judge_case *c = &t->cases[i];

        return c->n_pairs > 0 && c->pairs[0].run[side].is_known ? verdict_name(judge_verdict(&c->pairs[0], side)) : "-";
}

/* The subject of the change: the measure, or the answers. */
static const char *decided_by(const struct comparing_table *t, size_t i)
{
        enum judge_change c = t->judgement.cases[i].change;

        return c == JUDGE_MORE || c == JUDGE_LESS || c == JUDGE_DIFFERS ? judge_measure_name(t->judgement.options.measure)
                                                                        : "answer";
}

static void add_change(const struct comparing_table *t, size_t i, struct buffer *ret)
{
        const struct judged_case *c = &t->judgement.cases[i];
        const struct judge_shift *shift = shift_of(t, i);

        buffer_addf(ret, "%u\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%zu\t%zu\t%zu\t%s\t%s\t%s\t", t->options->cases[i]->id,
                    change_name(t, i), result_of(t, i, 0), seconds(comparing_seconds(t, i, 0)).s, result_of(t, i, 1),
                    seconds(comparing_seconds(t, i, 1)).s, ratio(shift->ratio).s, ratio(shift->low).s, ratio(shift->high).s,
                    probability(shift->p).s, c->pairs, c->solved[0], c->solved[1], ratio(c->by[JUDGE_EFFORT].ratio).s,
                    ratio(c->by[JUDGE_MEMORY].ratio).s, decided_by(t, i));
        buffer_add_printable(ret, t->options->cases[i]->name);
        buffer_adds(ret, "\n");
}

void comparison_write_changes(const struct comparing_table *t, enum comparison_list list, struct buffer *ret)
{
        buffer_adds(ret, "case\tchange\tresult a\ttime a\tresult b\ttime b\tratio\tlow\thigh\tp\tpairs\tsolved a\tsolved b\teffort\tmemory\tby\tname\n");
        for (size_t k = 0; k < t->options->n; k++)
                if (is_listed(t, t->order[k], list))
                        add_change(t, t->order[k], ret);
}

/* -- Markdown ----------------------------------------------------------------------------------------------------- */

static void markdown_change(const struct comparing_table *t, size_t i, struct buffer *ret)
{
        const struct judged_case *c = &t->judgement.cases[i];
        const struct judge_shift *shift = shift_of(t, i);

        buffer_adds(ret, "| ");
        buffer_add_markdown(ret, t->options->cases[i]->name);
        buffer_addf(ret, " | %s | %s %.3g s | %s %.3g s | ", change_name(t, i), result_of(t, i, 0), comparing_seconds(t, i, 0),
                    result_of(t, i, 1), comparing_seconds(t, i, 1));
        if (isnan(shift->ratio))
                buffer_adds(ret, "-");
        else if (isnan(shift->low))
                buffer_addf(ret, "%.2f×", shift->ratio);
        else
                buffer_addf(ret, "%.2f× (%.2f–%.2f)", shift->ratio, shift->low, shift->high);
        buffer_addf(ret, " | %s", decided_by(t, i));
        if (c->pairs > 1)
                buffer_addf(ret, ", %zu pairs%s%s", c->pairs, isnan(shift->p) ? "" : ", p ", isnan(shift->p) ? "" : probability(shift->p).s);
        buffer_adds(ret, " |\n");
}

static void markdown_changes(const struct comparing_table *t, enum comparison_list list, size_t most, struct buffer *ret)
{
        static const char *const titles[] = {"regression", "improvement", "case that differs at this seed"};
        const struct judged_set *s = &t->judgement.set;
        size_t n = list == COMPARISON_REGRESSIONS    ? s->regressions
                   : list == COMPARISON_IMPROVEMENTS ? s->improvements
                                                     : s->changes[JUDGE_DIFFERS],
               shown = 0;

        if (n == 0)
                return;
        buffer_addf(ret, "\n### %zu %s%s\n\n| case | | before | after | ratio (95 %%) | by |\n|---|---|---|---|---|---|\n", n,
                    n > 1 && list == COMPARISON_DIFFERENCES ? "cases that differ at this seed" : titles[list],
                    n == 1 || list == COMPARISON_DIFFERENCES ? "" : "s");
        for (size_t k = 0; k < t->options->n && shown < most; k++) {
                if (!is_listed(t, t->order[k], list))
                        continue;
                shown++;
                markdown_change(t, t->order[k], ret);
        }
        if (n > shown)
                buffer_addf(ret, "\n… and %zu more.\n", n - shown);
}

static void markdown_numbers(const struct comparing_table *t, struct buffer *ret)
{
        const struct judged_set *s = &t->judgement.set;

        buffer_adds(ret, "| | ");
        buffer_add_markdown(ret, t->label[0]);
        buffer_adds(ret, " | ");
        buffer_add_markdown(ret, t->label[1]);
        buffer_adds(ret, " |\n|---|---|---|\n");
        if (s->wrong[0] + s->wrong[1] > 0)
                buffer_addf(ret, "| **wrong answers** | %zu | %zu |\n", s->wrong[0], s->wrong[1]);
        buffer_addf(ret, "| solved of %zu | %zu | %zu |\n", s->compared, s->solved[0], s->solved[1]);
        buffer_addf(ret, "| sat / unsat | %zu / %zu | %zu / %zu |\n", s->verdicts[0][VERDICT_SAT], s->verdicts[0][VERDICT_UNSAT],
                    s->verdicts[1][VERDICT_SAT], s->verdicts[1][VERDICT_UNSAT]);
        buffer_addf(ret, "| timeouts | %zu | %zu |\n", s->verdicts[0][VERDICT_TIMEOUT], s->verdicts[1][VERDICT_TIMEOUT]);
        if (s->compared > 0)
                buffer_addf(ret, "| PAR-2, seconds | %.4g | %.4g |\n", s->par2[0], s->par2[1]);
        buffer_adds(ret, "\n");
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++) {
                if (isnan(s->by[m].ratio.mean))
                        continue;
                buffer_adds(ret, "- ");
                add_ratio(t, m, ret);
                buffer_addf(ret, ", %s\n", judge_change_name(s->by[m].change, m));
        }
        buffer_addf(ret, "\n%zu the same, %zu undecided", s->changes[JUDGE_SAME], s->changes[JUDGE_UNDECIDED]);
        if (s->cases > s->compared)
                buffer_addf(ret, ", %zu not measured", s->cases - s->compared);
        buffer_addf(ret, "; %zu pairs of runs, under %s.\n", s->pairs, chances[t->chance]);
        if (t->options->machine) {
                buffer_adds(ret, "Measured on ");
                buffer_add_markdown(ret, t->options->machine);
                buffer_adds(ret, ".\n");
        }
}

/* "No change" only if nothing is open and there were enough pairs to show one. */
static void markdown_headline(const struct comparing_table *t, struct buffer *ret)
{
        const struct judged_set *s = &t->judgement.set;
        const enum judge_measure m = t->judgement.options.measure;
        size_t open = s->cases - s->compared;

        for (size_t i = 0; i < t->judgement.n; i++)
                open += t->judgement.cases[i].wanted > 0;
        buffer_addf(ret, "## %s against %s: ", t->label[1], t->label[0]);
        if (t->unbuildable[0] || t->unbuildable[1])
                buffer_addf(ret, "%s cannot be built", t->label[t->unbuildable[0] ? 0 : 1]);
        else if (s->regressions + s->improvements > 0)
                buffer_addf(ret, "%zu regression%s, %zu improvement%s", s->regressions, s->regressions == 1 ? "" : "s", s->improvements,
                            s->improvements == 1 ? "" : "s");
        else if (s->compared == 0)
                buffer_adds(ret, "nothing compared");
        else if (s->by[m].change == JUDGE_MORE || s->by[m].change == JUDGE_LESS)
                buffer_addf(ret, "%s as a whole", judge_change_name(s->by[m].change, m));
        else if (open > 0)
                buffer_addf(ret, "not finished, %zu of %zu cases are open", open, s->cases);
        else if (s->changes[JUDGE_DIFFERS] > 0)
                buffer_addf(ret, s->changes[JUDGE_DIFFERS] == 1 ? "%zu case differs at this seed" : "%zu cases differ at this seed",
                            s->changes[JUDGE_DIFFERS]);
        else if (t->options->most_pairs < JUDGE_FIRST_PAIRS && s->changes[JUDGE_SAME] < s->compared)
                buffer_adds(ret, "too few pairs of runs to show a change");
        else
                buffer_adds(ret, s->flips[0] + s->flips[1] > 0 ? "no change shown" : "no change");
        buffer_adds(ret, "\n\n");
}

void comparison_write_markdown(const struct comparing_table *t, size_t most, struct buffer *ret)
{
        markdown_headline(t, ret);
        comparison_write_line(t, ret);
        buffer_adds(ret, ".\n\n");
        for (int side = 0; side < 2; side++) {
                const struct comparing_version *v = &t->options->version[side];
                cleanup_buffer struct buffer line = {0};

                if (t->not_started[side])
                        not_started_line(v->solver, v->commit, t->not_started[side], &line);
                if (line.size > 0)
                        buffer_addf(ret, "%s.\n\n", line.data);
        }
        markdown_numbers(t, ret);
        for (enum comparison_list list = 0; list < N_COMPARISON_LISTS; list++)
                markdown_changes(t, list, most, ret);
}

/* -- JSON --------------------------------------------------------------------------------------------------------- */

static json_t *real(double x)
{
        return isfinite(x) ? json_real(x) : json_null();
}

static json_t *side_json(const struct comparing_table *t, int side)
{
        const struct judged_set *s = &t->judgement.set;
        const struct comparing_version *v = &t->options->version[side];
        json_t *verdicts = json_object();

        for (enum verdict k = 0; k < N_VERDICTS; k++)
                if (k != VERDICT_UNBUILDABLE)
                        json_object_set_new(verdicts, verdict_name(k), json_integer((json_int_t)s->verdicts[side][k]));
        return json_pack("{ss ss sI sI sI so sI so so sb}", "solver", v->solver->recipe->name, "commit", t->sha[side], "wrong",
                         (json_int_t)s->wrong[side], "known", (json_int_t)s->known[side], "solved", (json_int_t)s->solved[side],
                         "solved_mean", real(s->solved_mean[side]), "disturbed", (json_int_t)s->disturbed[side], "verdicts",
                         verdicts, "par2", real(s->par2[side]), "unbuildable", (int)t->unbuildable[side]);
}

static json_t *mean_json(const struct judge_mean *m)
{
        return json_pack("{so s[oo] s[oo]}", "mean", real(m->mean), "seeds", real(m->seeds.low), real(m->seeds.high), "cases",
                         real(m->cases.low), real(m->cases.high));
}

static json_t *measures_json(const struct judged_set *s)
{
        json_t *ret = json_object();

        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                json_object_set_new(ret, judge_measure_name(m),
                                    json_pack("{ss sI so so}", "change", judge_change_name(s->by[m].change, m), "cases",
                                              (json_int_t)s->by[m].cases, "ratio", mean_json(&s->by[m].ratio), "p",
                                              real(s->by[m].p)));
        return ret;
}

static json_t *set_json(const struct judged_set *s)
{
        return json_pack("{sI sI sI s[II] s[II] s[II] so s[oo] so so sI sI}", "cases", (json_int_t)s->cases, "compared",
                         (json_int_t)s->compared, "pairs", (json_int_t)s->pairs, "solved", (json_int_t)s->solved[0],
                         (json_int_t)s->solved[1], "flips", (json_int_t)s->flips[0], (json_int_t)s->flips[1], "flipped",
                         (json_int_t)s->flipped[0], (json_int_t)s->flipped[1], "flips_p",
                         real(s->flips_p), "par2", real(s->par2[0]), real(s->par2[1]), "par2_difference",
                         mean_json(&s->par2_difference), "by", measures_json(s), "regressions", (json_int_t)s->regressions,
                         "improvements", (json_int_t)s->improvements);
}

static json_t *families_json(const struct comparing_table *t)
{
        json_t *ret = json_object();

        for (size_t i = 0; i < t->judgement.options.n_families; i++) {
                cleanup_buffer struct buffer name = {0};

                buffer_add_printable(&name, t->families[i]);
                json_object_set_new(ret, name.data, set_json(&t->judgement.families[i]));
        }
        return ret;
}

static json_t *shifts_json(const struct judged_case *c)
{
        json_t *ret = json_object();

        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                json_object_set_new(ret, judge_measure_name(m),
                                    json_pack("{ss s[oo] so so so so}", "change", judge_change_name(c->by[m].change, m), "median",
                                              real(c->by[m].median[0]), real(c->by[m].median[1]), "ratio", real(c->by[m].ratio),
                                              "low", real(c->by[m].low), "high", real(c->by[m].high), "p", real(c->by[m].p)));
        return ret;
}

static json_t *change_json(const struct comparing_table *t, size_t i)
{
        const struct judged_case *c = &t->judgement.cases[i];
        const struct judge_shift *shift = shift_of(t, i);
        cleanup_buffer struct buffer name = {0};

        buffer_add_printable(&name, t->options->cases[i]->name);
        return json_pack("{sI ss ss s[ss] s[oo] so so so so sI s[II] s[II] ss so}", "case", (json_int_t)t->options->cases[i]->id,
                         "name", name.data, "change", change_name(t, i), "result", result_of(t, i, 0), result_of(t, i, 1), "time",
                         real(comparing_seconds(t, i, 0)), real(comparing_seconds(t, i, 1)), "ratio", real(shift->ratio), "low",
                         real(shift->low), "high", real(shift->high), "p", real(shift->p), "pairs", (json_int_t)c->pairs,
                         "solved", (json_int_t)c->solved[0], (json_int_t)c->solved[1], "flips", (json_int_t)c->flips[0],
                         (json_int_t)c->flips[1], "by", decided_by(t, i), "measures", shifts_json(c));
}

static json_t *changes_json(const struct comparing_table *t, enum comparison_list list)
{
        json_t *ret = json_array();

        for (size_t k = 0; k < t->options->n; k++)
                if (is_listed(t, t->order[k], list))
                        json_array_append_new(ret, change_json(t, t->order[k]));
        return ret;
}

json_t *comparison_json(const struct comparing_table *t)
{
        const struct judged_set *s = &t->judgement.set;

        return json_pack("{so so ss* ss ss so so sI sI so so so}", "a", side_json(t, 0), "b", side_json(t, 1), "machine",
                         t->options->machine, "measure", judge_measure_name(t->judgement.options.measure), "pairs_by",
                         chances[t->chance], "set", set_json(s), "families", families_json(t), "same",
                         (json_int_t)s->changes[JUDGE_SAME], "undecided", (json_int_t)s->changes[JUDGE_UNDECIDED], "regressions",
                         changes_json(t, COMPARISON_REGRESSIONS), "improvements", changes_json(t, COMPARISON_IMPROVEMENTS),
                         "differ", changes_json(t, COMPARISON_DIFFERENCES));
}
