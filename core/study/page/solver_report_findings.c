/* The report's findings of campaigns. */
#include "core/study/observation/finding.h"
#include "core/study/page/solver_report_internal.h"

struct row {
        const struct report *report;
        const struct observation *finding;
        struct html_table *table;
        struct buffer *to;
};

static int add_culprits(struct row *row)
{
        cleanup_localized struct localized *localized = NULL;
        int e = finding_localized(row->report->workspace, row->report->solver, row->finding, &localized);
        const struct localized_culprit *c;

        html_cell_begin(row->to, row->table);
        if (e == -ENOENT)
                xml_add_escaped(row->to, "not localized");
        else if (e == 0 && !localized_slowdown(localized, &(size_t){0}))
                xml_add_escaped(row->to, "no single commit");
        for (size_t at = 0, n = 0; e == 0 && (c = localized_slowdown(localized, &at)); n++) {
                buffer_adds(row->to, n > 0 ? "<br>" : "");
                report_add_version(row->report, c->commit, row->to);
                xml_addf(row->to, " %s", c->subject);
        }
        html_cell_end(row->to, row->table);
        return e == -ENOENT ? 0 : e;
}

/* The last four cells. */
static void add_end(const struct row *row)
{
        const struct observation *f = row->finding;
        cleanup(case_info_unrefp) struct case_info *info = NULL;

        if (cases_get(workspace_cases(row->report->workspace), f->case_id, &info) == 0)
                html_cell_count(row->to, row->table, info->size);
        else
                html_cell_number(row->to, row->table, NAN, "–");
        html_cell(row->to, row->table, report_date(f->found).s);
        html_cell(row->to, row->table, f->origin);
        report_cell_mark(row->table, f, row->to);
}

static void add_number(const struct row *row, bool is_limited, double number, struct short_text shown)
{
        cleanup_free char *text = format_string("%s%s", is_limited ? "> " : "", shown.s);

        html_cell_number(row->to, row->table, number, text);
}

static void add_amount(const struct row *row, bool is_limited, double amount)
{
        enum judge_measure m = row->finding->measure;

        add_number(row, is_limited, amount, m == JUDGE_TIME ? html_seconds(amount) : judge_amount_text(m, amount));
}

static int add_row(struct row *row)
{
        const struct observation *f = row->finding;
        double fast = observation_amount(f, f->reference), slow = observation_amount(f, f->target), ratio = fast > 0 ? slow / fast : NAN;
        uint64_t count = 1;
        int e;

        html_row_begin(row->to, row->table);
        report_cell_number(row->report, row->table, f, "/", row->to);
        if (f->kind == FINDING_SLOWDOWN) {
                const bool is_limited = observation_is_limited(f, f->target);

                add_number(row, is_limited, ratio, html_ratio(ratio));
                add_amount(row, false, fast);
                add_amount(row, is_limited, slow);
        } else {
                html_cell(row->to, row->table, observation_kind_name(f->kind));
        }
        report_cell_version(row->report, row->table, f->reference, row->to);
        report_cell_version(row->report, row->table, f->target, row->to);
        e = add_culprits(row);
        if (f->kind != FINDING_SLOWDOWN) {
                if (e == 0)
                        e = finding_get_count(row->report->workspace, row->report->solver->number, f->number, &count);
                html_cell_count(row->to, row->table, count);
                html_cell(row->to, row->table, f->reason);
        }
        add_end(row);
        html_row_end(row->to);
        return e;
}

static int write_group(struct report *r, const char *folder, const char *caption, struct buffer *b)
{
        static const struct html_column slowdowns[] = {{"no.", HTML_NUMBER, false},    {"slower", HTML_NUMBER, false}, {"reference", HTML_NUMBER, true},
                                                       {"target", HTML_NUMBER, true},  {"from", HTML_LINE, true},      {"to", HTML_LINE, true},
                                                       {"responsible", HTML_WIDE, false}, {"bytes", HTML_NUMBER, true}, {"found", HTML_LINE, true},
                                                       {"campaign", HTML_TEXT, true},  {"mark", HTML_TEXT, false}};
        static const struct html_column others[] = {{"no.", HTML_NUMBER, false},   {"kind", HTML_TEXT, false},       {"reference", HTML_LINE, true},
                                                    {"target", HTML_LINE, false},  {"responsible", HTML_WIDE, false}, {"stands for", HTML_NUMBER, true},
                                                    {"reason", HTML_TEXT, true},   {"bytes", HTML_NUMBER, true},     {"found", HTML_LINE, true},
                                                    {"campaign", HTML_TEXT, true}, {"mark", HTML_TEXT, false}};
        bool is_slow = strcmp(folder, "spr") == 0;
        char remark[160];
        struct html_table t = {.caption = caption, .remark = remark, .columns = is_slow ? slowdowns : others, .n = is_slow ? ARRAY_SIZE(slowdowns) : ARRAY_SIZE(others)};
        struct row row = {.report = r, .table = &t, .to = b};
        cleanup_observations struct observations found = {0}; /* newest last */
        size_t n, marked[N_MARKS] = {0};
        int e = observations_read(r->workspace, r->solver->number, folder, &found);

        if (e < 0 || found.n == 0)
                return e;
        for (size_t i = 0; i < found.n; i++) {
                marked[found.list[i]->mark]++;
                report_newer(r, found.list[i]->found);
        }
        snprintf(remark, sizeof(remark), "%zu found; %zu reported, %zu confirmed, %zu fixed, %zu rejected", found.n, marked[MARK_REPORTED],
                 marked[MARK_CONFIRMED], marked[MARK_FIXED], marked[MARK_REJECTED]);
        html_table_begin(b, &t);
        for (n = 0; n < found.n && n < REPORT_ROWS && e == 0; n++) {
                row.finding = found.list[found.n - 1 - n];
                e = add_row(&row);
        }
        html_table_end(b);
        if (found.n > n)
                report_left_out(r, "The table of %s has the newest %zu of %zu; 'solverfs findings %s' lists all.", caption, n, found.n,
                                r->solver->recipe->name);
        return e;
}

int report_write_findings(struct report *r, struct buffer *b)
{
        static const struct {
                const char *folder, *caption;
        } groups[] = {{"soundness", "Wrong answers and crashes"}, {"incompleteness", "Unknown answers"}, {"spr", "Slowdowns"}};
        uint32_t last;
        int e = observations_last(r->workspace, OF_CAMPAIGNS, r->solver->number, &last);

        if (e < 0)
                return e;
        buffer_adds(b, "<section id=\"findings\"><h2>Findings</h2>\n");
        if (last == 0)
                buffer_adds(b, "<p>No campaign has found anything.</p>\n");
        else
                buffer_adds(b, "<p>Inputs that campaigns made: wrong answers and crashes, formulas that come back unknown, and slowdowns between two "
                               "versions.</p>\n");
        for (size_t i = 0; i < ARRAY_SIZE(groups) && e == 0; i++)
                e = write_group(r, groups[i].folder, groups[i].caption, b);
        buffer_adds(b, "</section>\n");
        return e;
}
