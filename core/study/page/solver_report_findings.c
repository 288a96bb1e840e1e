/* The report's findings: what campaigns found. */
#include "cache/base/json.h"
#include "core/study/base/version.h"
#include "core/study/finding/finding_localized.h"
#include "core/study/page/solver_report_internal.h"

struct group { /* a folder of findings */
        const char *folder, *caption;
        struct finding **list; /* refs; newest first; the first n of them are shown */
        size_t n, all, marked[N_MARKS];
};

struct gathering {
        struct report *report;
        struct group *groups;
        size_t n;
};

static int add_finding(void *user, struct finding *f)
{
        struct gathering *g = user;

        for (size_t i = 0; i < g->n; i++) {
                struct group *group = &g->groups[i];

                if (strcmp(group->folder, finding_folder(f->kind)) != 0)
                        continue;
                if (list_grow(group->list, group->all) < 0)
                        return -ENOMEM;
                group->list[group->all++] = finding_ref(f);
                group->marked[f->mark]++;
                report_newer(g->report, f->found);
        }
        return 0;
}

static void group_done(struct group *g)
{
        for (size_t i = 0; i < g->all; i++)
                finding_unref(g->list[i]);
        free(g->list);
}

/* -- a row -------------------------------------------------------------------------------------------------------- */

struct row {
        const struct report *report;
        const struct finding *finding;
        struct html_table *table;
        struct buffer *to;
        size_t culprits;
};

static void add_sha(const struct report *r, const char *sha, struct buffer *b)
{
        cleanup_buffer struct buffer path = {0};
        char shown[13];

        snprintf(shown, sizeof(shown), "%s", sha);
        buffer_adds(b, "<span class=\"sha\">");
        html_link(b, report_path(r, &path, "%s%s/", r->options->commits ? r->options->commits : "", sha), shown);
        buffer_adds(b, "</span>");
}

/* A commit, or a commit with arguments, or a program of the machine. */
static void add_version(const struct row *row, const char *version)
{
        html_cell_begin(row->to, row->table);
        if (version_is_commit(version))
                add_sha(row->report, version, row->to);
        else
                html_text(row->to, version);
        html_cell_end(row->to, row->table);
}

static int add_culprit(void *user, const char *commit, const json_t *culprit)
{
        struct row *row = user;

        if (row->culprits++ > 0)
                buffer_adds(row->to, "<br>");
        if (version_is_commit(commit))
                add_sha(row->report, commit, row->to);
        else
                html_text(row->to, commit);
        buffer_adds(row->to, " ");
        html_text(row->to, json_text(culprit, "subject", ""));
        return 0;
}

static int add_culprits(struct row *row)
{
        int e;

        row->culprits = 0;
        html_cell_begin(row->to, row->table);
        e = finding_culprits(row->report->workspace, row->report->solver, row->finding, add_culprit, row);
        if (e == -ENOENT)
                html_text(row->to, "not localized");
        else if (e == 0 && row->culprits == 0)
                html_text(row->to, "no single commit");
        html_cell_end(row->to, row->table);
        return e == -ENOENT ? 0 : e;
}

static void add_size(const struct row *row)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        char shown[32] = "–";
        bool is_there = cases_get(workspace_cases(row->report->workspace), row->finding->case_id, &info) == 0;

        if (is_there)
                snprintf(shown, sizeof(shown), "%llu", (unsigned long long)info->size);
        html_cell_number(row->to, row->table, is_there ? (double)info->size : NAN, shown);
}

static void add_end(const struct row *row)
{
        const struct finding *f = row->finding;
        cleanup_buffer struct buffer mark = {0};

        add_size(row);
        html_cell(row->to, row->table, report_date(f->found).s);
        html_cell(row->to, row->table, f->campaign);
        buffer_adds(&mark, finding_mark_name(f->mark));
        if (*f->url)
                buffer_addf(&mark, " %s", f->url); /* as text: who gave it is not known here */
        html_cell(row->to, row->table, mark.data ? mark.data : "");
}

static void add_number(const struct row *row)
{
        cleanup_buffer struct buffer path = {0};
        char text[16];

        snprintf(text, sizeof(text), "%u", row->finding->number);
        html_cell_begin_number(row->to, row->table, row->finding->number);
        html_link(row->to, report_path(row->report, &path, "%s/%u/", finding_folder(row->finding->kind), row->finding->number), text);
        html_cell_end(row->to, row->table);
}

static int add_slowdown(struct row *row)
{
        const struct finding *f = row->finding;
        double fast = finding_seconds(f, f->reference), slow = finding_seconds(f, f->target);
        int e;

        html_row_begin(row->to, row->table);
        add_number(row);
        html_cell_number(row->to, row->table, fast > 0 ? slow / fast : NAN, html_ratio(fast > 0 ? slow / fast : NAN).s);
        html_cell_number(row->to, row->table, fast, html_seconds(fast).s);
        html_cell_number(row->to, row->table, slow, html_seconds(slow).s);
        add_version(row, f->reference);
        add_version(row, f->target);
        e = add_culprits(row);
        add_end(row);
        html_row_end(row->to);
        return e;
}

static int add_other(struct row *row)
{
        const struct finding *f = row->finding;
        uint64_t count = 1;
        int e = finding_get_count(row->report->workspace, row->report->solver->number, f->number, &count);

        html_row_begin(row->to, row->table);
        add_number(row);
        html_cell(row->to, row->table, finding_kind_name(f->kind));
        add_version(row, f->reference);
        add_version(row, f->target);
        if (e == 0)
                e = add_culprits(row);
        html_cell_count(row->to, row->table, count);
        html_cell(row->to, row->table, f->reason);
        add_end(row);
        html_row_end(row->to);
        return e;
}

/* -- the tables --------------------------------------------------------------------------------------------------- */

static int write_group(struct report *r, struct group *g, struct buffer *b)
{
        static const struct html_column slowdowns[] = {{"no.", HTML_NUMBER, false},    {"slower", HTML_NUMBER, false}, {"reference", HTML_NUMBER, true},
                                                       {"target", HTML_NUMBER, true},  {"from", HTML_LINE, true},      {"to", HTML_LINE, true},
                                                       {"responsible", HTML_WIDE, false}, {"bytes", HTML_NUMBER, true}, {"found", HTML_LINE, true},
                                                       {"campaign", HTML_TEXT, true},  {"mark", HTML_TEXT, false}};
        static const struct html_column others[] = {{"no.", HTML_NUMBER, false},   {"kind", HTML_TEXT, false},       {"reference", HTML_LINE, true},
                                                    {"target", HTML_LINE, false},  {"responsible", HTML_WIDE, false}, {"stands for", HTML_NUMBER, true},
                                                    {"reason", HTML_TEXT, true},   {"bytes", HTML_NUMBER, true},     {"found", HTML_LINE, true},
                                                    {"campaign", HTML_TEXT, true}, {"mark", HTML_TEXT, false}};
        bool is_slow = strcmp(g->folder, "spr") == 0;
        char remark[160];
        struct html_table t = {.caption = g->caption, .remark = remark, .columns = is_slow ? slowdowns : others, .n = is_slow ? ARRAY_SIZE(slowdowns) : ARRAY_SIZE(others)};
        struct row row = {.report = r, .table = &t, .to = b};
        int e = 0;

        if (g->all == 0)
                return 0;
        snprintf(remark, sizeof(remark), "%zu found; %zu reported, %zu confirmed, %zu fixed, %zu rejected", g->all, g->marked[MARK_REPORTED],
                 g->marked[MARK_CONFIRMED], g->marked[MARK_FIXED], g->marked[MARK_REJECTED]);
        g->n = MIN(g->all, (size_t)REPORT_ROWS);
        html_table_begin(b, &t);
        for (size_t i = 0; i < g->n && e == 0; i++) {
                row.finding = g->list[g->all - 1 - i];
                e = is_slow ? add_slowdown(&row) : add_other(&row);
        }
        html_table_end(b);
        if (g->all > g->n)
                report_left_out(r, "The table of %s has the newest %zu of %zu; 'solverfs findings %s' lists all.", g->caption, g->n, g->all,
                                r->solver->recipe->name);
        return e;
}

int report_write_findings(struct report *r, struct buffer *b)
{
        struct group groups[] = {{.folder = "soundness", .caption = "Wrong answers and crashes"},
                                 {.folder = "incompleteness", .caption = "Unknown answers"},
                                 {.folder = "spr", .caption = "Slowdowns"}};
        struct gathering g = {.report = r, .groups = groups, .n = ARRAY_SIZE(groups)};
        int e = findings_each(r->workspace, r->solver->number, NULL, add_finding, &g);

        buffer_adds(b, "<section id=\"findings\"><h2>Findings</h2>\n");
        if (groups[0].all + groups[1].all + groups[2].all == 0)
                buffer_adds(b, "<p>No campaign has found anything.</p>\n");
        else
                buffer_adds(b, "<p>Inputs that campaigns made: wrong answers and crashes, formulas that come back unknown, and slowdowns between two "
                               "versions.</p>\n");
        for (size_t i = 0; i < ARRAY_SIZE(groups) && e == 0; i++)
                e = write_group(r, &groups[i], b);
        buffer_adds(b, "</section>\n");
        for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
                group_done(&groups[i]);
        return e < 0 ? e : buffer_error(b);
}
