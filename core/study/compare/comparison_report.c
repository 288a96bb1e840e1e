#include "core/study/compare/comparison_report.h"

#include <math.h>

#include "core/run/cell_file.h"

int comparing_label(const struct comparing_version *v, struct buffer *ret)
{
        cleanup(ref_list_unrefp) struct ref_list *refs = NULL;
        const char *tag = NULL;
        struct commit c;
        int r = history_commit(v->solver->history, v->commit, &c);

        if (r == 0)
                r = history_refs(v->solver->history, &refs);
        if (r < 0)
                return r;
        for (size_t i = 0; i < refs->n; i++)
                if (refs->list[i].kind == REF_TAG && refs->list[i].commit == v->commit &&
                    (!tag || strlen(refs->list[i].name) < strlen(tag)))
                        tag = refs->list[i].name;
        buffer_addf(ret, "%s ", v->solver->recipe->name);
        if (tag)
                buffer_add_printable(ret, tag);
        else
                buffer_addf(ret, "%.12s", git_oid_tostr_s(&c.oid));
        return buffer_error(ret);
}

static int commit_hex(const struct comparing_version *v, char ret[GIT_OID_HEXSZ + 1])
{
        struct commit c;
        int r = history_commit(v->solver->history, v->commit, &c);

        if (r == 0)
                git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &c.oid);
        return r;
}

/* -- numbers as text ---------------------------------------------------------------------------------------------- */

struct text {
        char s[32];
};

/* Values that digits cannot print. */
static bool is_odd(double x, struct text *t)
{
        if (isfinite(x))
                return false;
        strcpy(t->s, isnan(x) ? "-" : x > 0 ? "inf" : "-inf");
        return true;
}

static struct text seconds(double x)
{
        struct text t;

        if (!is_odd(x, &t))
                snprintf(t.s, sizeof(t.s), "%.6f", x);
        return t;
}

static struct text ratio(double x)
{
        struct text t;

        if (!is_odd(x, &t))
                snprintf(t.s, sizeof(t.s), "%.4f", x);
        return t;
}

static struct text probability(double x)
{
        struct text t;

        if (!is_odd(x, &t))
                snprintf(t.s, sizeof(t.s), "%.2g", x);
        return t;
}

/* -- summary.tsv -------------------------------------------------------------------------------------------------- */

static void add_counts(struct buffer *ret, const char *measure, size_t a, size_t b)
{
        buffer_addf(ret, "%s\t%zu\t%zu\t-\t-\t-\n", measure, a, b);
}

static void add_count(struct buffer *ret, const char *measure, size_t n)
{
        buffer_addf(ret, "%s\t-\t%zu\t-\t-\t-\n", measure, n);
}

static int add_versions(const struct comparing_options *o, struct buffer *ret)
{
        const struct comparing_version *v = o->version;
        char a[GIT_OID_HEXSZ + 1], b[GIT_OID_HEXSZ + 1];
        int r = commit_hex(&v[0], a);

        if (r == 0)
                r = commit_hex(&v[1], b);
        if (r < 0)
                return r;
        buffer_addf(ret, "solver\t%s\t%s\t-\t-\t-\n", v[0].solver->recipe->name, v[1].solver->recipe->name);
        buffer_addf(ret, "commit\t%s\t%s\t-\t-\t-\n", a, b);
        if (o->machine) {
                buffer_adds(ret, "machine");
                for (int side = 0; side < 2; side++) {
                        buffer_adds(ret, "\t");
                        buffer_add_printable(ret, o->machine);
                }
                buffer_adds(ret, "\t-\t-\t-\n");
        }
        return 0;
}

int comparison_write_summary(const struct comparing_table *t, struct buffer *ret)
{
        const struct comparison_summary *s = &t->summary;
        int r;

        buffer_adds(ret, "measure\ta\tb\tratio\tlow\thigh\n");
        r = add_versions(t->options, ret);
        if (r < 0)
                return r;
        add_counts(ret, "wrong", s->wrong[0], s->wrong[1]);
        add_counts(ret, "cases", s->cases, s->cases);
        add_counts(ret, "known", s->known[0], s->known[1]);
        add_counts(ret, "compared", s->compared, s->compared);
        add_counts(ret, "solved", s->solved[0], s->solved[1]);
        for (enum verdict v = 0; v < N_VERDICTS; v++)
                if (v != VERDICT_UNBUILDABLE)
                        add_counts(ret, verdict_name(v), s->verdicts[0][v], s->verdicts[1][v]);
        buffer_addf(ret, "par2\t%s\t%s\t%s\t-\t-\n", seconds(s->par2[0]).s, seconds(s->par2[1]).s,
                    ratio(s->par2[1] / s->par2[0]).s);
        buffer_addf(ret, "solved by both\t%zu\t%zu\t-\t-\t-\n", s->both, s->both);
        buffer_addf(ret, "seconds of these\t%s\t%s\t%s\t-\t-\n", seconds(s->seconds[0]).s, seconds(s->seconds[1]).s,
                    ratio(s->seconds[1] / s->seconds[0]).s);
        buffer_addf(ret, "geometric mean\t-\t-\t%s\t%s\t%s\n", ratio(s->ratio).s, ratio(s->low).s, ratio(s->high).s);
        add_count(ret, "worse", s->regressions);
        add_count(ret, "better", s->improvements);
        add_count(ret, "same", s->changes[COMPARISON_SAME]);
        add_count(ret, "undecided", s->changes[COMPARISON_UNDECIDED]);
        add_count(ret, "pairs of runs", s->pairs);
        add_counts(ret, "disturbed", s->disturbed[0], s->disturbed[1]);
        return buffer_error(ret);
}

/* -- regressions.tsv, improvements.tsv ---------------------------------------------------------------------------- */

static bool is_listed(const struct comparison_judgement *j, bool improvements)
{
        return improvements ? comparison_is_improvement(j->change) : comparison_is_regression(j->change);
}

static const char *result_of(const struct comparison_run *run)
{
        return verdict_name(run->verdict);
}

static const char *decided_by(const struct comparison_judgement *j)
{
        return j->by_effort                                                                   ? "effort"
               : j->change == COMPARISON_SLOWER || j->change == COMPARISON_FASTER || j->p < 1 ? "time"
                                                                                              : "answer";
}

static void add_change(const struct comparing_table *t, size_t i, struct buffer *ret)
{
        const struct comparison_case *c = &t->cases[i];
        const struct comparison_judgement *j = &t->judgements[i];

        buffer_addf(ret, "%u\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%zu\t%s\t", t->options->cases[i]->id,
                    comparison_change_name(j->change), result_of(&c->run[0]), seconds(comparison_seconds(c, 0)).s,
                    result_of(&c->run[1]), seconds(comparison_seconds(c, 1)).s, ratio(j->ratio).s, ratio(j->low).s,
                    ratio(j->high).s, probability(j->p).s, j->pairs, decided_by(j));
        buffer_add_printable(ret, t->options->cases[i]->name);
        buffer_adds(ret, "\n");
}

int comparison_write_changes(const struct comparing_table *t, bool improvements, bool heading, struct buffer *ret)
{
        if (heading)
                buffer_adds(ret, "case\tchange\tresult a\ttime a\tresult b\ttime b\tratio\tlow\thigh\tp\tpairs\tby\tname\n");
        for (size_t k = 0; k < t->options->n; k++)
                if (is_listed(&t->judgements[t->order[k]], improvements))
                        add_change(t, t->order[k], ret);
        return buffer_error(ret);
}

/* -- Markdown ----------------------------------------------------------------------------------------------------- */

/* A name inside a table: bars would end its cell. */
static void add_cell(struct buffer *ret, const char *text)
{
        cleanup_buffer struct buffer plain = {0};

        buffer_add_printable(&plain, text);
        for (const char *p = plain.data ? plain.data : ""; *p; p++)
                buffer_addf(ret, *p == '|' || *p == '<' || *p == '`' || *p == '*' || *p == '_' ? "\\%c" : "%c", *p);
}

static void markdown_changes(const struct comparing_table *t, bool improvements, size_t most, struct buffer *ret)
{
        size_t n = improvements ? t->summary.improvements : t->summary.regressions, shown = 0;

        if (n == 0)
                return;
        buffer_addf(ret, "\n### %zu %s%s\n\n| case | | before | after | ratio (95 %%) | by |\n|---|---|---|---|---|---|\n", n,
                    improvements ? "improvement" : "regression", n == 1 ? "" : "s");
        for (size_t k = 0; k < t->options->n && shown < most; k++) {
                const struct comparison_case *c = &t->cases[t->order[k]];
                const struct comparison_judgement *j = &t->judgements[t->order[k]];

                if (!is_listed(j, improvements))
                        continue;
                shown++;
                buffer_adds(ret, "| ");
                add_cell(ret, t->options->cases[t->order[k]]->name);
                buffer_addf(ret, " | %s | %s %.3g s | %s %.3g s | ", comparison_change_name(j->change), result_of(&c->run[0]),
                            comparison_seconds(c, 0), result_of(&c->run[1]), comparison_seconds(c, 1));
                if (isnan(j->ratio))
                        buffer_adds(ret, "- | answer |\n");
                else if (isnan(j->low) || j->by_effort)
                        buffer_addf(ret, "%.2f× | %s |\n", j->ratio, decided_by(j));
                else
                        buffer_addf(ret, "%.2f× (%.2f–%.2f) | %zu pairs, p %.1g |\n", j->ratio, j->low, j->high, j->pairs, j->p);
        }
        if (n > shown)
                buffer_addf(ret, "\n… and %zu more.\n", n - shown);
}

static void markdown_numbers(const struct comparing_table *t, const char *a, const char *b, struct buffer *ret)
{
        const struct comparison_summary *s = &t->summary;

        buffer_addf(ret, "| | %s | %s |\n|---|---|---|\n", a, b);
        if (s->wrong[0] + s->wrong[1] > 0)
                buffer_addf(ret, "| **wrong answers** | %zu | %zu |\n", s->wrong[0], s->wrong[1]);
        buffer_addf(ret, "| solved of %zu | %zu | %zu |\n", s->compared, s->solved[0], s->solved[1]);
        buffer_addf(ret, "| sat / unsat | %zu / %zu | %zu / %zu |\n", s->verdicts[0][VERDICT_SAT], s->verdicts[0][VERDICT_UNSAT],
                    s->verdicts[1][VERDICT_SAT], s->verdicts[1][VERDICT_UNSAT]);
        buffer_addf(ret, "| timeouts | %zu | %zu |\n", s->verdicts[0][VERDICT_TIMEOUT], s->verdicts[1][VERDICT_TIMEOUT]);
        if (s->compared > 0)
                buffer_addf(ret, "| PAR-2, seconds | %.4g | %.4g |\n", s->par2[0], s->par2[1]);
        if (s->both > 0)
                buffer_addf(ret, "| seconds on the %zu solved by both | %.4g | %.4g |\n", s->both, s->seconds[0], s->seconds[1]);
        if (s->both > 1)
                buffer_addf(ret, "\nGeometric mean of the ratios: %.3f× (%.3f–%.3f, 95 %%).\n", s->ratio, s->low, s->high);
        buffer_addf(ret, "%s%zu the same, %zu undecided", s->both > 1 ? "" : "\n", s->changes[COMPARISON_SAME],
                    s->changes[COMPARISON_UNDECIDED]);
        if (s->cases > s->compared)
                buffer_addf(ret, ", %zu not measured", s->cases - s->compared);
        buffer_addf(ret, "; %zu pairs of runs.\n", s->pairs);
        if (t->options->machine) {
                buffer_adds(ret, "Measured on ");
                add_cell(ret, t->options->machine);
                buffer_adds(ret, ".\n");
        }
}

int comparison_write_markdown(const struct comparing_table *t, size_t most, struct buffer *ret)
{
        cleanup_buffer struct buffer a = {0}, b = {0};
        const struct comparison_summary *s = &t->summary;
        int r = comparing_label(&t->options->version[0], &a);

        if (r == 0)
                r = comparing_label(&t->options->version[1], &b);
        if (r < 0)
                return r;
        buffer_addf(ret, "## %s against %s: ", b.data, a.data);
        if (s->regressions + s->improvements == 0)
                buffer_adds(ret, "no change\n\n");
        else
                buffer_addf(ret, "%zu regression%s, %zu improvement%s\n\n", s->regressions, s->regressions == 1 ? "" : "s",
                            s->improvements, s->improvements == 1 ? "" : "s");
        markdown_numbers(t, a.data, b.data, ret);
        markdown_changes(t, false, most, ret);
        markdown_changes(t, true, most, ret);
        return buffer_error(ret);
}

/* -- JSON --------------------------------------------------------------------------------------------------------- */

static json_t *real(double x)
{
        return isfinite(x) ? json_real(x) : json_null();
}

static json_t *side_json(const struct comparing_table *t, int side)
{
        const struct comparison_summary *s = &t->summary;
        const struct comparing_version *v = &t->options->version[side];
        char sha[GIT_OID_HEXSZ + 1];
        json_t *verdicts = json_object();

        if (commit_hex(v, sha) < 0)
                strcpy(sha, "?");
        for (enum verdict k = 0; k < N_VERDICTS; k++)
                if (k != VERDICT_UNBUILDABLE)
                        json_object_set_new(verdicts, verdict_name(k), json_integer((json_int_t)s->verdicts[side][k]));
        return json_pack("{ss ss sI sI sI sI so so so sb}", "solver", v->solver->recipe->name, "commit", sha, "wrong",
                         (json_int_t)s->wrong[side], "known", (json_int_t)s->known[side], "solved", (json_int_t)s->solved[side],
                         "disturbed", (json_int_t)s->disturbed[side], "verdicts", verdicts, "par2", real(s->par2[side]),
                         "seconds_both", real(s->seconds[side]), "unbuildable", (int)t->unbuildable[side]);
}

static json_t *change_json(const struct comparing_table *t, size_t i)
{
        const struct comparison_case *c = &t->cases[i];
        const struct comparison_judgement *j = &t->judgements[i];
        cleanup_buffer struct buffer name = {0};

        buffer_add_printable(&name, t->options->cases[i]->name);
        if (buffer_error(&name) < 0)
                return NULL;
        return json_pack("{sI ss ss s[ss] s[oo] so so so so sI ss}", "case", (json_int_t)t->options->cases[i]->id, "name",
                         name.data, "change", comparison_change_name(j->change), "result", result_of(&c->run[0]),
                         result_of(&c->run[1]), "time", real(comparison_seconds(c, 0)), real(comparison_seconds(c, 1)), "ratio",
                         real(j->ratio), "low", real(j->low), "high", real(j->high), "p", real(j->p), "pairs",
                         (json_int_t)j->pairs, "by", decided_by(j));
}

static json_t *changes_json(const struct comparing_table *t, bool improvements)
{
        json_t *list = json_array();

        for (size_t k = 0; k < t->options->n; k++)
                if (is_listed(&t->judgements[t->order[k]], improvements))
                        json_array_append_new(list, change_json(t, t->order[k]));
        return list;
}

json_t *comparison_json(const struct comparing_table *t)
{
        const struct comparison_summary *s = &t->summary;

        return json_pack("{so so ss* sI sI sI s{so so so} sI sI sI so so}", "a", side_json(t, 0), "b", side_json(t, 1), "machine", t->options->machine, "cases",
                         (json_int_t)s->cases, "compared", (json_int_t)s->compared, "both", (json_int_t)s->both, "ratio", "mean",
                         real(s->ratio), "low", real(s->low), "high", real(s->high), "same",
                         (json_int_t)s->changes[COMPARISON_SAME], "undecided", (json_int_t)s->changes[COMPARISON_UNDECIDED],
                         "pairs", (json_int_t)s->pairs, "regressions", changes_json(t, false), "improvements",
                         changes_json(t, true));
}
