/* The report's history: the plots, and the tables that have the same numbers: of cases, and of commits. page.js draws what is written here. */
#include "core/study/page/solver_report_internal.h"

/* -- data for the plots ------------------------------------------------------------------------------------------- */

/* A cell as page.js reads it: a dot if nothing is known; else a digit for its verdict (verdict_plot.h), and the logarithm of the seconds from LEAST
 * over DECADES powers of ten in two digits of base 64. So twenty thousand cells take sixty kilobytes, half a per cent off at most. */
#define LEAST   1e-4
#define DECADES 9.0
#define LEVELS  4096

static void add_cell(const struct report_cell *c, struct buffer *b)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        double level = log10(fmax((double)c->seconds, LEAST) / LEAST) / DECADES * (LEVELS - 1);
        unsigned v = (unsigned)fmin(level + 0.5, LEVELS - 1);
        const char text[3] = {(char)('0' + verdict_plot_of((enum verdict)c->verdict, c->is_wrong)), digits[v / 64], digits[v % 64]};

        buffer_add(b, text, c->is_known ? 3 : 0);
        if (!c->is_known)
                buffer_adds(b, ".");
}

static json_t *case_data(const struct report *r, size_t case_index)
{
        const struct case_info *info = r->cases.list[case_index];
        cleanup_buffer struct buffer cells = {0};

        buffer_adds(&cells, "");
        for (size_t k = 0; k < r->n_columns; k++)
                add_cell(report_cell(r, k, case_index), &cells);
        while (cells.size > 0 && cells.data[cells.size - 1] == '.')
                cells.size--;
        return json_pack("{sI so ss%}", "id", (json_int_t)info->id, "name", html_string(info->name), "cells", cells.data, cells.size);
}

static json_t *column_data(const struct report *r, size_t k)
{
        const struct report_column *c = &r->columns[k];
        char sha[GIT_OID_HEXSZ + 1];
        json_t *j = json_pack("{ss ss sI sI so sb sI sb}", "sha", oid_print(sha, sizeof(sha), &c->of->commit.oid), "date",
                              report_date(c->of->commit.committed).s, "time", (json_int_t)c->of->commit.committed, "place", (json_int_t)c->of->place,
                              "subject", html_string(c->subject), "on_line", (int)c->of->on_line, "measured", (json_int_t)c->measured, "is_comparable",
                              (int)c->is_comparable);

        if (c->tags.size > 0)
                json_object_set_new(j, "tags", html_string(c->tags.data));
        return j;
}

/* The nearest shown column on the line of first parents: at the commit or before it, with `behind` at it or behind it. NOT_SHOWN: there is none. */
static uint32_t column_near(const struct report *r, const struct report_commit *c, bool behind)
{
        const struct report_commit *end = behind ? r->commits + r->n_commits : r->commits - 1;

        for (; c != end; c += behind ? 1 : -1)
                if (c->column != NOT_SHOWN && c->on_line)
                        return c->column;
        return NOT_SHOWN;
}

static json_t *steps_data(const struct report *r)
{
        json_t *list = json_array();

        for (size_t i = 0; i < r->n_steps; i++) {
                uint32_t before = column_near(r, r->steps[i].before, false), after = column_near(r, r->steps[i].after, true);

                if (before != NOT_SHOWN && after != NOT_SHOWN)
                        json_array_append_new(list, json_pack("[III]", (json_int_t)r->steps[i].case_index, (json_int_t)before, (json_int_t)after));
        }
        return list;
}

/* The case to begin with: the one with the most steps. */
static size_t most_steps(const struct report *r)
{
        size_t best = 0, most = 0;

        for (size_t i = 0, n; i < r->n_steps; i += n) {
                for (n = 1; i + n < r->n_steps && r->steps[i + n].case_index == r->steps[i].case_index;)
                        n++;
                if (n > most) {
                        most = n;
                        best = r->steps[i].case_index;
                }
        }
        return best;
}

static void add_data(const struct report *r, struct buffer *b)
{
        json_t *columns = json_array(), *cases = json_array(), *kinds = json_array(), *solved = json_array(), *par2 = json_array();

        for (size_t k = 0; k < r->n_columns; k++) {
                json_array_append_new(columns, column_data(r, k));
                json_array_append_new(solved, json_integer((json_int_t)r->columns[k].solved));
                json_array_append_new(par2, json_real(r->columns[k].par2));
        }
        for (size_t i = 0; i < r->cases.n; i++)
                json_array_append_new(cases, case_data(r, i));
        for (int k = 0; k < N_VERDICT_PLOTS; k++)
                json_array_append_new(kinds, json_string(verdict_plot_names[k]));
        html_data(b, "history-data",
                  json_pack("{ss? so so so s{sI so so} so sI}", "folder", r->options->commits, "columns", columns, "cases", cases, "kinds", kinds, "set",
                            "total", (json_int_t)r->cases.n, "solved", solved, "par2", par2, "steps", steps_data(r), "shown", (json_int_t)most_steps(r)));
}

/* The shapes of page.js, as a key. */
static void add_legend(struct buffer *b)
{
        static const char *const shapes[N_VERDICT_PLOTS] = {
                [VERDICT_PLOT_SAT] = "<circle cx=\"6\" cy=\"6\" r=\"4\"/>",
                [VERDICT_PLOT_WRONG] = "<path d=\"M2 2h8v8h-8z\"/>",
                [VERDICT_PLOT_UNSAT] = "<path d=\"M6 1l5 9h-10z\"/>",
                [VERDICT_PLOT_UNKNOWN] = "<path d=\"M6 1l5 5-5 5-5-5z\"/>",
                [VERDICT_PLOT_FAILED] = "<path d=\"M6 11l5-9h-10z\"/>",
                [VERDICT_PLOT_TIMEOUT] = "<path d=\"M2 2l8 8M10 2l-8 8\" stroke=\"currentColor\" stroke-width=\"2\"/>",
        };

        buffer_adds(b, "<ul class=\"key\">");
        for (int k = 0; k < N_VERDICT_PLOTS; k++)
                buffer_addf(b, "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\" class=\"k%d\">%s</svg>%s</li>", k,
                            shapes[k], verdict_plot_names[k]);
        buffer_adds(b, "<li>dashed: a step</li></ul>\n");
}

/* Controls and empty plots, into which page.js draws. */
static void add_frame(struct buffer *b)
{
        buffer_adds(b,
                    "<div id=\"history-plots\" hidden>\n<div class=\"bar\"><label>Commits <select class=\"by\">"
                    "<option value=\"place\">in order</option><option value=\"date\">by date</option></select></label><span class=\"gap\"></span>"
                    "<button type=\"button\" data-zoom=\"in\" aria-label=\"Zoom in\">+</button>"
                    "<button type=\"button\" data-zoom=\"out\" aria-label=\"Zoom out\">−</button>"
                    "<button type=\"button\" data-zoom=\"left\" aria-label=\"To older commits\">←</button>"
                    "<button type=\"button\" data-zoom=\"right\" aria-label=\"To newer commits\">→</button>"
                    "<button type=\"button\" data-zoom=\"all\">all</button></div>\n"
                    "<p class=\"plot-title\">Cases solved</p>\n"
                    "<div class=\"plot\" id=\"plot-solved\" tabindex=\"0\" role=\"img\" aria-label=\"Cases solved at each commit; the table of commits has the "
                    "numbers\"></div>\n<p class=\"plot-title\">PAR-2, seconds</p>\n"
                    "<div class=\"plot\" id=\"plot-par2\" tabindex=\"0\" role=\"img\" aria-label=\"PAR-2 at each commit; the table of commits has the "
                    "numbers\"></div>\n<p class=\"readout\" aria-live=\"polite\"></p>\n"
                    "<div class=\"bar\"><label class=\"one\">One case <input type=\"search\" class=\"case\" list=\"case-list\" autocomplete=\"off\"></label>"
                    "<datalist id=\"case-list\"></datalist>"
                    "<button type=\"button\" class=\"previous\" aria-label=\"Previous case\">←</button>"
                    "<button type=\"button\" class=\"next\" aria-label=\"Next case\">→</button></div>\n"
                    "<p class=\"plot-title\"><span class=\"case-name\"></span>, seconds</p>\n"
                    "<div class=\"plot\" id=\"plot-case\" tabindex=\"0\" role=\"img\" aria-label=\"Seconds of one case at each commit\"></div>\n");
        add_legend(b);
        buffer_adds(b, "</div>\n<noscript><p class=\"note\">The plots want a browser that runs the page's own scripts. The tables of cases and commits "
                       "below have the same numbers.</p></noscript>\n");
}

void report_write_history(struct report *r, struct buffer *b)
{
        buffer_adds(b, "<section id=\"history\"><h2>History</h2>\n");
        if (r->n_columns == 0) {
                xml_addf(b, "<p>Nothing is measured of these cases yet: <code>solverfs history %s %s</code> does.</p></section>\n",
                         r->solver->recipe->name, r->options->set ? r->options->set : "all");
                return;
        }
        buffer_addf(b,
                    "<p>Drag over a plot to zoom, double-click to see all; with the keyboard, arrows, + and −. PAR-2 is the mean of the seconds, where a "
                    "case that is not solved counts twice the limit of %g s. Both are of the cases that were run at the commit; the dashed line is how many. "
                    "A line joins commits at which the same cases were run. Rings are commits beside the line of first parents.</p>\n",
                    r->limit);
        add_frame(b);
        add_data(r, b);
        buffer_adds(b, "</section>\n");
}

/* -- the table of cases ------------------------------------------------------------------------------------------- */

struct ends { /* first and last measurement on the line; or anywhere, if it is on none */
        const struct report_cell *first, *last;
        size_t measured;
};

static struct ends ends_of(const struct report *r, size_t case_index)
{
        struct ends e = {0};
        bool on_line = false;

        for (size_t k = 0; k < r->n_columns; k++) {
                const struct report_cell *c = report_cell(r, k, case_index);

                if (!c->is_known)
                        continue;
                e.measured++;
                if (r->columns[k].of->on_line && !on_line) {
                        on_line = true;
                        e.first = NULL;
                }
                if (on_line && !r->columns[k].of->on_line)
                        continue;
                e.first = e.first ? e.first : c;
                e.last = c;
        }
        return e;
}

static void add_seconds(struct buffer *b, struct html_table *t, const struct report_cell *c)
{
        html_cell_number(b, t, c ? (double)c->seconds : NAN, html_seconds(c ? (double)c->seconds : NAN).s);
}

static void add_case_row(const struct report *r, size_t i, size_t *next_step, struct html_table *t, struct buffer *b)
{
        const struct case_info *info = r->cases.list[i];
        cleanup_buffer struct buffer path = {0};
        struct ends e = ends_of(r, i);
        size_t steps[2] = {0}; /* faster, slower */
        double ratio = e.first && cell_is_solved(e.first) && cell_is_solved(e.last) ? (double)e.last->seconds / (double)e.first->seconds : NAN;
        char id[16];

        for (; *next_step < r->n_steps && r->steps[*next_step].case_index == i; ++*next_step)
                steps[r->steps[*next_step].is_slower]++;
        snprintf(id, sizeof(id), "%u", info->id);
        html_row_begin(b, t);
        html_cell_begin(b, t);
        html_link(b, report_path(r, &path, "cases/%u/", info->id), info->name);
        html_cell_end(b, t);
        html_cell_number(b, t, (double)info->id, id);
        html_cell(b, t, info->logic);
        html_cell(b, t, info->status == VERDICT_UNKNOWN ? "–" : verdict_name(info->status));
        if (e.measured > 0)
                buffer_addf(b, "<td data-case=\"%zu\"></td>", i);
        else
                buffer_adds(b, "<td></td>");
        t->at++;
        add_seconds(b, t, e.first);
        add_seconds(b, t, e.last);
        html_cell_number(b, t, ratio, html_ratio(ratio).s);
        html_cell_begin(b, t);
        if (e.last)
                buffer_addf(b, e.last->is_wrong ? "<strong class=\"up\">WRONG: %s</strong>" : "%s", verdict_name((enum verdict)e.last->verdict));
        html_cell_end(b, t);
        html_cell_count(b, t, steps[true]);
        html_cell_count(b, t, steps[false]);
        html_cell_count(b, t, e.measured);
        html_row_end(b);
}

void report_write_cases(struct report *r, struct buffer *b)
{
        static const struct html_column columns[] = {{"case", HTML_WIDE, false},    {"id", HTML_NUMBER, true},    {"logic", HTML_TEXT, true},
                                                     {"status", HTML_TEXT, true},   {"history", HTML_PLAIN, false}, {"first", HTML_NUMBER, true},
                                                     {"last", HTML_NUMBER, false},  {"ratio", HTML_NUMBER, false}, {"answer", HTML_TEXT, false},
                                                     {"slower", HTML_NUMBER, true}, {"faster", HTML_NUMBER, true}, {"measured", HTML_NUMBER, true}};
        struct html_table t = {.caption = "Cases", .columns = columns, .n = ARRAY_SIZE(columns)};
        size_t next_step = 0;

        buffer_adds(b, "<section id=\"cases\"><h2>Cases</h2>\n");
        if (r->cases.n == 0) {
                buffer_adds(b, "<p>There are none: <code>solverfs case add FILE</code> adds some.</p></section>\n");
                return;
        }
        buffer_adds(b, "<p>First and last measurement along first parents, and how often a step made it slower or faster.</p>\n");
        html_table_begin(b, &t);
        for (size_t i = 0; i < r->cases.n; i++)
                add_case_row(r, i, &next_step, &t, b);
        html_table_end(b);
        buffer_adds(b, "</section>\n");
}

/* -- the table of commits ----------------------------------------------------------------------------------------- */

static void add_commit_row(const struct report *r, size_t k, struct html_table *t, struct buffer *b)
{
        const struct report_column *c = &r->columns[k];
        char solved[48];

        snprintf(solved, sizeof(solved), "%zu of %zu", c->solved, c->measured);
        html_row_begin(b, t);
        html_cell_begin(b, t);
        report_add_version(r, oid_text(&c->of->commit.oid), b);
        if (c->tags.size > 0)
                xml_addf(b, " <span class=\"tag\">%s</span>", c->tags.data);
        html_cell_end(b, t);
        html_cell(b, t, report_date(c->of->commit.committed).s);
        html_cell_number(b, t, (double)c->solved, solved);
        html_cell_number(b, t, c->par2, html_seconds(c->par2).s);
        html_cell_count(b, t, c->wrong);
        html_cell_count(b, t, c->of->on_line ? c->of->line_to - c->of->line_from + 1 : 1);
        html_cell(b, t, c->subject);
        html_cell(b, t, c->author);
        html_row_end(b);
}

void report_write_commits(struct report *r, struct buffer *b)
{
        static const struct html_column columns[] = {{"commit", HTML_LINE, false},    {"date", HTML_LINE, false},  {"solved, of run", HTML_NUMBER, false}, {"PAR-2", HTML_NUMBER, false}, {"wrong", HTML_NUMBER, true},
                                                     {"commits", HTML_NUMBER, true}, {"subject", HTML_WIDE, true}, {"author", HTML_TEXT, true}};
        struct html_table t = {.caption = "Measured commits", .columns = columns, .n = ARRAY_SIZE(columns)};

        if (r->n_columns == 0)
                return;
        buffer_adds(b, "<section id=\"commits\"><h2>Commits</h2>\n<p>Newest first. Neighbours that build the same program are one row, the first of them; "
                       "<em>commits</em> counts them.</p>\n");
        html_table_begin(b, &t);
        for (size_t k = r->n_columns; k-- > 0;)
                add_commit_row(r, k, &t, b);
        html_table_end(b);
        buffer_adds(b, "</section>\n");
}
