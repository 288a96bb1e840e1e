/* The report's alarms: those of `solverfs watch` on new commits. */
#include "core/study/watch/alarm.h"
#include "core/study/page/solver_report_internal.h"

struct alarms {
        struct report *report;
        struct html_table *table;
        struct buffer *to;
        uint32_t from; /* number of the first that is shown */
};

static void add_side(const struct observation *alarm, const struct observed_runs *s, struct buffer *to)
{
        if (alarm->kind == ALARM_SLOWER && s->n > 0)
                buffer_adds(to, html_seconds(s->amounts[0]).s);
        else if (alarm->kind == ALARM_MEMORY && s->n > 0)
                buffer_addf(to, "%.3g MB", s->amounts[0] / 1e6);
        else
                alarm_print_side(alarm, s, to);
}

/* The cell of the alarm's worst case. */
static void add_worst(const struct alarms *a, const struct observation *alarm)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_buffer struct buffer text = {0};
        const struct observed_runs *c = alarm_case(alarm, 0);

        if (c && cases_get(workspace_cases(a->report->workspace), c->case_id, &info) == 0)
                buffer_addf(&text, "%s: ", info->name);
        if (c) {
                add_side(alarm, &c[0], &text);
                buffer_adds(&text, " → ");
                add_side(alarm, &c[1], &text);
        } else {
                buffer_adds(&text, alarm->reason);
        }
        html_cell(a->to, a->table, text.data);
}

static void add_alarm(struct alarms *a, const struct observation *alarm)
{
        double factor = alarm_is_growth(alarm->kind) && alarm_case(alarm, 0) ? alarm_factor(alarm_case(alarm, 0)) : NAN;

        report_newer(a->report, alarm->changed);
        if (alarm->number < a->from)
                return;
        html_row_begin(a->to, a->table);
        report_cell_number(a->report, a->table, alarm, "", a->to);
        html_cell(a->to, a->table, observation_kind_name(alarm->kind));
        html_cell(a->to, a->table, report_date(alarm->found).s);
        if (alarm_is_localized(alarm))
                report_cell_version(a->report, a->table, alarm->target, a->to);
        else
                html_cell(a->to, a->table, alarm->target);
        html_cell(a->to, a->table, alarm->subject);
        html_cell(a->to, a->table, alarm->origin);
        html_cell_number(a->to, a->table, factor, html_ratio(factor).s);
        html_cell_count(a->to, a->table, alarm->n_runs / 2);
        add_worst(a, alarm);
        report_cell_mark(a->table, alarm, a->to);
        html_row_end(a->to);
}

int report_write_alarms(struct report *r, struct buffer *b)
{
        static const struct html_column columns[] = {{"no.", HTML_NUMBER, false},    {"kind", HTML_TEXT, false},     {"found", HTML_LINE, true},
                                                     {"commit", HTML_TEXT, false},   {"subject", HTML_WIDE, true},   {"branch", HTML_TEXT, true},
                                                     {"slower", HTML_NUMBER, false}, {"cases", HTML_NUMBER, true}, {"worst", HTML_WIDE, true},
                                                     {"mark", HTML_TEXT, true}};
        struct html_table t = {.caption = "Alarms", .columns = columns, .n = ARRAY_SIZE(columns)};
        struct alarms a = {.report = r, .table = &t, .to = b, .from = 1};
        cleanup_observations struct observations all = {0};
        uint32_t last;
        int e = observations_last(r->workspace, OF_WATCHES, r->solver->number, &last);

        if (e < 0)
                return e;
        if (last > REPORT_ROWS)
                a.from = last - REPORT_ROWS + 1;
        buffer_adds(b, "<section id=\"alarms\"><h2>Alarms</h2>\n");
        if (last == 0) {
                xml_addf(b, "<p>None: <code>solverfs watch %s</code> looks at new commits as they arrive.</p>\n", r->solver->recipe->name);
        } else {
                buffer_adds(b, "<p>What <code>solverfs watch</code> met on new commits.</p>\n");
                html_table_begin(b, &t);
                e = observations_read(r->workspace, r->solver->number, "alarms", &all);
                for (size_t i = 0; i < all.n; i++)
                        add_alarm(&a, all.list[i]);
                html_table_end(b);
        }
        buffer_adds(b, "</section>\n");
        if (a.from > 1)
                report_left_out(r, "The table of alarms has the newest %d of %u; the mount has all in alarms/.", REPORT_ROWS, last);
        return e;
}
