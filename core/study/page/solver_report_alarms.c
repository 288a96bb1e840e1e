/* The report's alarms: what `solverfs watch` met on new commits. */
#include "core/study/watch/alarm.h"
#include "core/study/page/solver_report_internal.h"

struct alarms {
        struct report *report;
        struct html_table *table;
        struct buffer *to;
        uint32_t from; /* number of the first that is shown */
        size_t n;
};

static void add_commit(const struct alarms *a, const struct alarm *alarm)
{
        cleanup_buffer struct buffer path = {0};
        char shown[13];

        html_cell_begin(a->to, a->table);
        if (alarm_is_localized(alarm)) {
                snprintf(shown, sizeof(shown), "%s", alarm->commit);
                buffer_adds(a->to, "<span class=\"sha\">");
                html_link(a->to, report_path(a->report, &path, "%s%s/", a->report->options->commits ? a->report->options->commits : "", alarm->commit),
                          shown);
                buffer_adds(a->to, "</span>");
        } else {
                html_text(a->to, alarm->commit);
        }
        html_cell_end(a->to, a->table);
}

static void add_side(const struct alarm *alarm, const struct alarm_side *s, struct buffer *to)
{
        if (alarm->kind == ALARM_SLOWER && !isnan(s->seconds))
                buffer_adds(to, html_seconds(s->seconds).s);
        else
                alarm_print_side(alarm, s, to);
}

/* Its worst case. */
static void add_worst(const struct alarms *a, const struct alarm *alarm)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_buffer struct buffer text = {0};
        const struct alarm_case *c = alarm->n_cases > 0 ? &alarm->cases[0] : NULL;

        if (c && cases_get(workspace_cases(a->report->workspace), c->id, &info) == 0)
                buffer_addf(&text, "%s: ", info->name);
        if (c) {
                add_side(alarm, &c->before, &text);
                buffer_adds(&text, " → ");
                add_side(alarm, &c->after, &text);
        } else {
                buffer_adds(&text, alarm->detail);
        }
        a->to->failed |= text.failed;
        html_cell(a->to, a->table, text.data ? text.data : "");
}

static int add_alarm(void *user, const struct alarm *alarm)
{
        struct alarms *a = user;
        cleanup_buffer struct buffer path = {0}, mark = {0};
        double factor = alarm->kind == ALARM_SLOWER && alarm->n_cases > 0 ? alarm_factor(&alarm->cases[0]) : NAN;
        char number[16];

        report_newer(a->report, alarm->changed);
        if (alarm->number < a->from)
                return 0;
        a->n++;
        snprintf(number, sizeof(number), "%u", alarm->number);
        html_row_begin(a->to, a->table);
        html_cell_begin_number(a->to, a->table, alarm->number);
        html_link(a->to, report_path(a->report, &path, "alarms/%u", alarm->number), number);
        html_cell_end(a->to, a->table);
        html_cell(a->to, a->table, alarm_kind_name(alarm->kind));
        html_cell(a->to, a->table, report_date(alarm->found).s);
        add_commit(a, alarm);
        html_cell(a->to, a->table, alarm->subject);
        html_cell(a->to, a->table, alarm->branch);
        html_cell_number(a->to, a->table, factor, html_ratio(factor).s);
        html_cell_count(a->to, a->table, alarm->n_cases);
        add_worst(a, alarm);
        buffer_addf(&mark, "%s%s%s", finding_mark_name(alarm->mark), *alarm->url ? " " : "", alarm->url);
        html_cell(a->to, a->table, mark.data ? mark.data : "");
        html_row_end(a->to);
        return 0;
}

int report_write_alarms(struct report *r, struct buffer *b)
{
        static const struct html_column columns[] = {{"no.", HTML_NUMBER, false},    {"kind", HTML_TEXT, false},     {"found", HTML_LINE, true},
                                                     {"commit", HTML_TEXT, false},   {"subject", HTML_WIDE, true},   {"branch", HTML_TEXT, true},
                                                     {"slower", HTML_NUMBER, false}, {"cases", HTML_NUMBER, true}, {"worst", HTML_WIDE, true},
                                                     {"mark", HTML_TEXT, true}};
        struct html_table t = {.caption = "Alarms", .columns = columns, .n = ARRAY_SIZE(columns)};
        uint32_t last = alarms_last(r->workspace, r->solver->number);
        struct alarms a = {.report = r, .table = &t, .to = b, .from = last > REPORT_ROWS ? last - REPORT_ROWS + 1 : 1};
        int e = 0;

        buffer_adds(b, "<section id=\"alarms\"><h2>Alarms</h2>\n");
        if (last == 0) {
                buffer_adds(b, "<p>None: <code>solverfs watch ");
                html_text(b, r->solver->recipe->name);
                buffer_adds(b, "</code> looks at new commits as they arrive.</p>\n");
        } else {
                buffer_adds(b, "<p>What <code>solverfs watch</code> met on new commits.</p>\n");
                html_table_begin(b, &t);
                e = alarms_each(r->workspace, r->solver->number, add_alarm, &a);
                html_table_end(b);
        }
        buffer_adds(b, "</section>\n");
        if (a.from > 1)
                report_left_out(r, "The table of alarms has the newest %zu of %u; the mount has all in alarms/.", a.n, last);
        return e < 0 ? e : buffer_error(b);
}
