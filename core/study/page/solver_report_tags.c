/* The report's comparison of the last measured tags. If fewer than two are measured, it compares the oldest and the newest measured commit. */
#include "core/study/compare/comparison_report.h"
#include "core/study/page/solver_report_internal.h"

struct shown_version {
        uint32_t number;
        struct commit commit;
        struct buffer name; /* of a tag, or several; else the first digits of the commit's sha */
};
struct shown_versions {
        struct shown_version list[REPORT_TAGS]; /* newest first */
        size_t n;
        size_t unmeasured; /* tags newer than the newest of these */
        bool are_tags;
};

static void shown_versions_done(struct shown_versions *v)
{
        for (size_t i = 0; i < v->n; i++)
                buffer_done(&v->list[i].name);
}
#define cleanup_shown_versions cleanup(shown_versions_done)

/* -- choosing the versions --------------------------------------------------------------------------------------------------- */

struct tag {
        const struct ref *ref;
        struct commit commit;
};

static int by_date(const void *a, const void *b)
{
        const struct tag *x = a, *y = b;

        return ORDER(y->commit.committed, x->commit.committed) ?: strcmp(y->ref->name, x->ref->name); /* newest first */
}

/* Chooses the newest measured tags; tags of one commit are one version. */
static void choose_tags(const struct report *r, struct shown_versions *v)
{
        cleanup_free struct tag *tags = allocate(r->refs->n, sizeof(*tags));
        size_t n = 0;

        for (size_t i = 0; i < r->refs->n; i++) {
                tags[n].ref = &r->refs->list[i];
                n += r->refs->list[i].kind == REF_TAG && history_commit(r->solver->history, r->refs->list[i].commit, &tags[n].commit) == 0;
        }
        sort_list(tags, n, sizeof(*tags), by_date);
        for (size_t i = 0; i < n; i++) {
                const struct report_commit *c = report_commit_of(r, tags[i].ref->commit);
                struct shown_version *same = NULL;

                if (!c || c->column == NOT_SHOWN) {
                        v->unmeasured += v->n == 0;
                        continue;
                }
                for (size_t k = 0; k < v->n; k++)
                        if (v->list[k].number == tags[i].ref->commit)
                                same = &v->list[k];
                if (!same && v->n == REPORT_TAGS)
                        break;
                if (!same) {
                        same = &v->list[v->n++];
                        *same = (struct shown_version){.number = tags[i].ref->commit, .commit = tags[i].commit};
                } else {
                        buffer_adds(&same->name, ", ");
                }
                xml_add_allowed(&same->name, tags[i].ref->name);
        }
}

/* Chooses the newest and the oldest measured commit on the line of first parents; none if they are the same. */
static void choose_commits(const struct report *r, struct shown_versions *v)
{
        const struct report_commit *ends[2] = {NULL, NULL};

        shown_versions_done(v);
        for (size_t k = 0; k < r->n_columns; k++)
                if (r->columns[k].of->on_line) {
                        ends[0] = r->columns[k].of;
                        ends[1] = ends[1] ? ends[1] : r->columns[k].of;
                }
        v->n = ends[0] == ends[1] ? 0 : 2;
        for (size_t i = 0; i < v->n; i++) {
                v->list[i] = (struct shown_version){.number = ends[i]->number, .commit = ends[i]->commit};
                buffer_addf(&v->list[i].name, "%.12s", oid_text(&ends[i]->commit.oid));
        }
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

static void add_ratio(struct html_table *t, const struct judged_set *s, struct buffer *b)
{
        const struct judge_mean *ratio = s ? &s->by[JUDGE_TIME].ratio : NULL;

        html_cell_begin_number(b, t, ratio ? ratio->mean : NAN);
        if (ratio && !isnan(ratio->mean))
                xml_add_escaped(b, html_ratio(ratio->mean).s);
        if (ratio && !isnan(ratio->cases.low))
                buffer_addf(b, " <small>(%.2f–%.2f)</small>", ratio->cases.low, ratio->cases.high);
        html_cell_end(b, t);
}

static void add_linked_count(struct html_table *t, const char *path, bool is_there, size_t n, struct buffer *b)
{
        char text[24];

        snprintf(text, sizeof(text), "%zu", n);
        html_cell_begin_number(b, t, is_there ? (double)n : NAN);
        if (is_there)
                html_link(b, path, text);
        html_cell_end(b, t);
}

/* `before`: the version that this one is compared with; NULL: this is the first version, on side 0 of the next one's comparison. */
static void add_version_row(const struct report *r, const struct shown_version *v, const struct shown_version *before, const struct judged_set *s,
                            struct html_table *t, struct buffer *b)
{
        cleanup_buffer struct buffer path = {0}, room = {0};
        int side = before ? 1 : 0;

        if (before && r->options->commits) {
                buffer_addf(&path, "compare/%s..", oid_text(&before->commit.oid));
                buffer_addf(&path, "%s/", oid_text(&v->commit.oid));
        }
        html_row_begin(b, t);
        html_cell_link(b, t, report_commit_path(r, oid_text(&v->commit.oid), &room), v->name.data);
        html_cell(b, t, report_date(v->commit.committed).s);
        html_cell_count(b, t, s->compared);
        html_cell_count(b, t, s->solved[side]);
        html_cell_count(b, t, s->verdicts[side][VERDICT_SAT]);
        html_cell_count(b, t, s->verdicts[side][VERDICT_UNSAT]);
        html_cell_count(b, t, s->verdicts[side][VERDICT_TIMEOUT]);
        html_cell_count(b, t, s->wrong[side]);
        html_cell_number(b, t, s->par2[side], html_seconds(s->par2[side]).s);
        add_ratio(t, before ? s : NULL, b);
        add_linked_count(t, path.data, before, s->regressions, b);
        add_linked_count(t, path.data, before, s->improvements, b);
        html_row_end(b);
}

static void add_versions(struct report *r, const struct shown_versions *v, struct comparing *const *list, struct buffer *b)
{
        static const struct html_column columns[] = {{"version", HTML_LINE, false},  {"date", HTML_LINE, true},     {"compared", HTML_NUMBER, true},
                                                     {"solved", HTML_NUMBER, false}, {"sat", HTML_NUMBER, true},    {"unsat", HTML_NUMBER, true},
                                                     {"timeout", HTML_NUMBER, true}, {"wrong", HTML_NUMBER, true},  {"PAR-2", HTML_NUMBER, false},
                                                     {"ratio (95 %)", HTML_NUMBER, false}, {"worse", HTML_NUMBER, false}, {"better", HTML_NUMBER, false}};
        struct html_table t = {.caption = v->are_tags ? "The last tags" : "First and last", .columns = columns, .n = ARRAY_SIZE(columns)};

        html_table_begin(b, &t);
        for (size_t i = 0; i + 1 < v->n; i++)
                add_version_row(r, &v->list[i], &v->list[i + 1], &comparing_table(list[i])->judgement.set, &t, b);
        add_version_row(r, &v->list[v->n - 1], NULL, &comparing_table(list[v->n - 2])->judgement.set, &t, b);
        html_table_end(b);
}

/* -- the changes between the last two ----------------------------------------------------------------------------- */

static void add_run(struct html_table *t, const struct comparing_table *of, size_t i, int side, struct buffer *b)
{
        const struct judge_run *run = &of->cases[i].pairs[0].run[side];
        double seconds = comparing_seconds(of, i, side);

        html_cell(b, t, run->is_wrong ? "WRONG" : verdict_name(run->verdict));
        html_cell_number(b, t, seconds, html_seconds(seconds).s);
}

static void add_change(const struct report *r, const struct comparing_table *of, size_t i, struct html_table *t, struct buffer *b)
{
        const struct judged_case *c = &of->judgement.cases[i];
        const struct judge_shift *shift = &c->by[JUDGE_TIME];
        cleanup_buffer struct buffer path = {0};
        char by[64] = "answer";

        html_row_begin(b, t);
        html_cell_link(b, t, report_path(r, &path, "cases/%u/history.svg", of->options->cases[i]->id), of->options->cases[i]->name);
        report_cell_direction(t, judge_is_regression(c->change), judge_change_name(c->change, JUDGE_TIME), b);
        add_run(t, of, i, 0, b);
        add_run(t, of, i, 1, b);
        if (!isnan(shift->low))
                snprintf(by, sizeof(by), "%.2f–%.2f, %zu pairs", shift->low, shift->high, shift->pairs);
        html_cell_number(b, t, shift->ratio, html_ratio(shift->ratio).s);
        html_cell(b, t, by);
        html_row_end(b);
}

static void add_changes(struct report *r, const struct shown_versions *v, const struct comparing_table *of, struct buffer *b)
{
        static const struct html_column columns[] = {{"case", HTML_WIDE, false},      {"change", HTML_TEXT, false},  {"before", HTML_TEXT, true},
                                                     {"seconds", HTML_NUMBER, true},  {"after", HTML_TEXT, true},    {"seconds", HTML_NUMBER, true},
                                                     {"ratio", HTML_NUMBER, false},   {"by", HTML_LINE, true}};
        size_t n = of->judgement.set.regressions + of->judgement.set.improvements, shown = 0;
        cleanup_buffer struct buffer caption = {0};
        struct html_table t = {.columns = columns, .n = ARRAY_SIZE(columns)};

        if (n == 0)
                return;
        buffer_addf(&caption, "What changed from %s to %s", v->list[1].name.data, v->list[0].name.data);
        t.caption = caption.data;
        html_table_begin(b, &t);
        for (size_t k = 0; k < of->options->n && shown < REPORT_ROWS; k++) {
                enum judge_change change = of->judgement.cases[of->order[k]].change;

                if (!judge_is_regression(change) && !judge_is_improvement(change))
                        continue;
                add_change(r, of, of->order[k], &t, b);
                shown++;
        }
        html_table_end(b);
        if (n > shown)
                report_left_out(r, "The table of what changed between the last two versions has the worst %zu of %zu.", shown, n);
}

/* -- pictures ----------------------------------------------------------------------------------------------------- */

static const struct report_cell *cell_of(const struct report *r, const struct shown_version *v, size_t i)
{
        return report_cell(r, report_commit_of(r, v->number)->column, i);
}

static bool is_run_with_all(const struct report *r, const struct shown_versions *v, size_t i)
{
        for (size_t k = 0; k < v->n; k++)
                if (!cell_of(r, &v->list[k], i)->is_known)
                        return false;
        return true;
}

/* All curves are of the same cases: one ends early only if its version solves fewer. */
static void add_curves(const struct report *r, const struct shown_versions *v, struct plot *p)
{
        cleanup_free size_t *common = allocate(r->cases.n, sizeof(*common));
        cleanup_free double *seconds = allocate(r->cases.n, sizeof(*seconds));
        cleanup_free char *note = NULL;
        size_t n_common = 0;

        for (size_t i = 0; i < r->cases.n; i++)
                if (is_run_with_all(r, v, i))
                        common[n_common++] = i;
        for (size_t k = 0; k < v->n; k++) {
                size_t n = 0;

                for (size_t i = 0; i < n_common; i++)
                        if (cell_is_solved(cell_of(r, &v->list[k], common[i])))
                                seconds[n++] = (double)cell_of(r, &v->list[k], common[i])->seconds;
                comparison_plot_curve(p, v->list[k].name.data, seconds, n);
        }
        note = format_string("%zu case%s run with all of these versions", n_common, n_common == 1 ? "" : "s");
        plot_note(p, note);
}

#define WIDTH 420 /* of a picture: it can be read on a phone, and two stand side by side on a screen */

static void add_pictures(const struct report *r, const struct shown_versions *v, const struct comparing_table *last, struct buffer *b)
{
        cleanup_plot struct plot *p = plot_new("Cases solved within so many seconds each", WIDTH, WIDTH + 40);

        add_curves(r, v, p);
        buffer_adds(b, "<div class=\"pair\">\n<figure>");
        plot_write(p, b);
        buffer_adds(b, "</figure>\n");
        if (last->judgement.set.compared > 0) {
                buffer_adds(b, "<figure>");
                comparison_plot_scatter(last, false, WIDTH, b);
                buffer_adds(b, "</figure>\n");
        }
        buffer_adds(b, "</div>\n");
}

static void add_words(const struct report *r, const struct shown_versions *v, struct buffer *b)
{
        if (!v->are_tags) {
                buffer_adds(b, "<p>Fewer than two tags are measured, so the oldest and the newest measured commit stand here.</p>\n");
                return;
        }
        buffer_adds(b, "<p>Each version beside the one before it: the geometric mean of the ratios of their times, with its 95 % interval over the cases, and "
                       "the cases that are significantly worse and better. All counts of a row are of the cases compared: those that both versions have measured.");
        if (v->unmeasured > 0)
                xml_addf(b, " %zu newer %s not measured: <code>solverfs run %s TAG… all</code>.", v->unmeasured, v->unmeasured == 1 ? "tag is" : "tags are",
                         r->solver->recipe->name);
        buffer_adds(b, "</p>\n");
}

static int write_versions(struct report *r, const struct shown_versions *v, struct buffer *b)
{
        struct comparing *list[REPORT_TAGS] = {NULL};
        int e = 0;

        for (size_t i = 0; i + 1 < v->n && e == 0; i++) {
                e = comparing_new(&(struct comparing_options){.workspace = r->workspace,
                                                              .version = {{r->solver, v->list[i + 1].number}, {r->solver, v->list[i].number}},
                                                              .cases = r->cases.list,
                                                              .n = r->cases.n,
                                                              .set = r->options->set,
                                                              .scramble = COMPARING_SCRAMBLE_KNOWN,
                                                              .most_pairs = JUDGE_PAIRS},
                                  &list[i]);
                if (e == 0)
                        e = comparing_read(list[i]);
                if (e == 0)
                        report_newer(r, comparing_table(list[i])->newest);
        }
        if (e == 0) {
                add_versions(r, v, list, b);
                add_pictures(r, v, comparing_table(list[0]), b);
                add_changes(r, v, comparing_table(list[0]), b);
        }
        for (size_t i = 0; i < ARRAY_SIZE(list); i++)
                comparing_freep(&list[i]);
        return e;
}

int report_write_tags(struct report *r, struct buffer *b)
{
        cleanup_shown_versions struct shown_versions v = {0};
        int e = 0;

        choose_tags(r, &v);
        v.are_tags = v.n >= 2;
        if (!v.are_tags)
                choose_commits(r, &v);
        buffer_adds(b, "<section id=\"versions\"><h2>Versions</h2>\n");
        if (v.n < 2) {
                buffer_adds(b, "<p>Fewer than two versions are measured.</p>\n");
        } else {
                add_words(r, &v, b);
                e = write_versions(r, &v, b);
        }
        buffer_adds(b, "</section>\n");
        return e;
}
