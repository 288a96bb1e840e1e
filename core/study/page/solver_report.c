/* The page: its top, what its sections share, and their order. */
#include "core/study/base/version.h"
#include "core/study/page/solver_report.h"
#include "core/study/page/solver_report_internal.h"

/* -- what the sections share --------------------------------------------------------------------------------------- */

void report_left_out(struct report *r, const char *format, ...)
{
        char text[512];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        xml_addf(&r->left_out, "<li>%s</li>\n", text);
}

void report_commit_texts(struct solver *s, uint32_t commit, char **ret_subject, char **ret_author)
{
        cleanup_buffer struct buffer subject = {0}, author = {0};
        char *end;

        buffer_adds(&subject, "");
        buffer_adds(&author, "");
        if (history_text(s->history, commit, COMMIT_MESSAGE, &subject) == 0)
                subject.data[strcspn(subject.data, "\n")] = '\0';
        end = history_text(s->history, commit, COMMIT_AUTHOR, &author) == 0 ? strrchr(author.data, '<') : NULL;
        if (end)
                *(end > author.data && end[-1] == ' ' ? end - 1 : end) = '\0';
        *ret_subject = steal_pointer(subject.data);
        *ret_author = steal_pointer(author.data);
}

const char *report_path(const struct report *r, struct buffer *room, const char *format, ...)
{
        char text[PATH_SIZE];
        va_list args;

        if (!r->options->commits)
                return NULL;
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        room->size = 0;
        buffer_adds(room, text);
        return room->data;
}

const char *report_commit_path(const struct report *r, const char *sha, struct buffer *room)
{
        return report_path(r, room, "%s%s/", r->options->commits ? r->options->commits : "", sha);
}

void report_add_version(const struct report *r, const char *version, struct buffer *b)
{
        cleanup_buffer struct buffer path = {0};
        cleanup_free char *shown = NULL;

        if (!version_is_commit(version)) {
                xml_add_escaped(b, version);
                return;
        }
        shown = version_brief(r->solver, version);
        buffer_adds(b, "<span class=\"sha\">");
        html_link(b, report_commit_path(r, version, &path), shown);
        buffer_adds(b, "</span>");
}

void report_cell_version(const struct report *r, struct html_table *t, const char *version, struct buffer *b)
{
        html_cell_begin(b, t);
        report_add_version(r, version, b);
        html_cell_end(b, t);
}

void report_cell_number(const struct report *r, struct html_table *t, const struct observation *o, const char *end, struct buffer *b)
{
        cleanup_buffer struct buffer path = {0};
        char text[16];

        snprintf(text, sizeof(text), "%u", o->number);
        html_cell_begin_number(b, t, o->number);
        html_link(b, report_path(r, &path, "%s/%u%s", observation_folder(o->kind), o->number, end), text);
        html_cell_end(b, t);
}

void report_cell_mark(struct html_table *t, const struct observation *o, struct buffer *b)
{
        cleanup_buffer struct buffer mark = {0};

        buffer_addf(&mark, "%s%s%s", observation_mark_name(o->mark), *o->url ? " " : "", o->url); /* no link: the address may be anybody's */
        html_cell(b, t, mark.data);
}

void report_cell_direction(struct html_table *t, bool is_worse, const char *word, struct buffer *b)
{
        html_cell_begin(b, t);
        buffer_addf(b, "<span class=\"%s\">%s</span>", is_worse ? "up" : "down", word);
        html_cell_end(b, t);
}

struct short_text report_date(int64_t seconds)
{
        struct short_text date = format_date(seconds);

        date.s[strcspn(date.s, "T")] = '\0';
        return date;
}

/* -- wrong answers: of the whole store, whatever the page has of it ---------------------------------------------------- */

struct wrong {
        struct buffer items;
        size_t n;
};

static int add_wrong(void *user, enum answer_alarm, const char *line)
{
        struct wrong *w = user;

        if (w->n++ < REPORT_ROWS)
                xml_addf(&w->items, "<li>%s</li>\n", line);
        return 0;
}

static int write_wrong(struct report *r, struct buffer *b, size_t *ret_n)
{
        struct wrong w = {0};
        int e = wrong_answers(r->workspace, r->solver, add_wrong, &w);

        *ret_n = w.n;
        if (e == 0 && w.n > 0) {
                buffer_addf(b, "<div class=\"wrong\" role=\"alert\"><p>%zu wrong or contradictory %s</p><ul>\n", w.n, w.n == 1 ? "answer" : "answers");
                buffer_add(b, w.items.data, w.items.size);
                buffer_adds(b, "</ul></div>\n");
        }
        if (w.n > REPORT_ROWS)
                report_left_out(r, "The list of wrong answers has %d of %zu; 'solverfs status' names all.", REPORT_ROWS, w.n);
        buffer_done(&w.items);
        return e;
}

/* -- the top of the page ------------------------------------------------------------------------------------------- */

static void add_figure(struct buffer *b, const char *label, const char *value, const char *unit)
{
        xml_addf(b, "<div><dt>%s</dt><dd>%s", label, value);
        if (*unit)
                xml_addf(b, " <small>%s</small>", unit);
        buffer_adds(b, "</dd></div>\n");
}

static void add_count(struct buffer *b, const char *label, size_t n, const char *unit)
{
        char value[24];

        snprintf(value, sizeof(value), "%zu", n);
        add_figure(b, label, value, unit);
}

/* The row of numbers at the top. */
static void write_figures(const struct report *r, size_t n_wrong, struct buffer *b)
{
        const struct report_column *newest = NULL;
        uint32_t findings = 0, alarms = 0; /* an error is the sections' */
        char text[96], label[160];
        size_t slower = 0;

        for (size_t k = 0; k < r->n_columns && !r->solver->recipe->is_programs; k++) /* of programs none is the newest */
                if (r->columns[k].of->on_line || !newest)
                        newest = &r->columns[k];
        for (size_t i = 0; i < r->n_steps; i++)
                slower += r->steps[i].is_slower;
        buffer_adds(b, "<dl class=\"figures\">\n");
        if (newest) {
                snprintf(label, sizeof(label), "solved at %.12s, the newest measured", oid_text(&newest->of->commit.oid));
                snprintf(text, sizeof(text), "of %zu run", newest->measured);
                add_count(b, label, newest->solved, text);
                snprintf(text, sizeof(text), "%.3g", newest->par2);
                add_figure(b, "PAR-2 there", text, "s");
        }
        snprintf(text, sizeof(text), "of %u", history_count(r->solver->history));
        add_count(b, "programs measured, of all commits", r->n_commits, text);
        if (r->unbuildable > 0)
                add_count(b, r->unbuildable == 1 ? "commit cannot be built" : "commits cannot be built", r->unbuildable, "");
        snprintf(text, sizeof(text), "%zu slower, %zu faster", slower, r->n_steps - slower);
        add_count(b, text, r->n_steps, r->n_steps == 1 ? "step" : "steps");
        observations_last(r->workspace, OF_CAMPAIGNS, r->solver->number, &findings);
        observations_last(r->workspace, OF_WATCHES, r->solver->number, &alarms);
        add_count(b, "findings of campaigns", findings, "");
        add_count(b, "alarms", alarms, "");
        add_count(b, "wrong or contradictory answers", n_wrong, "");
        buffer_adds(b, "</dl>\n");
}

/* Results stay when the tools that their programs were built with are upgraded. */
static void write_changed(const struct report *r, struct buffer *b)
{
        cleanup_free uint32_t *list = allocate(r->n_columns, sizeof(*list));
        cleanup_free char *path = NULL;
        size_t n;

        for (size_t k = 0; k < r->n_columns; k++)
                list[k] = r->columns[k].of->number;
        n = commits_tools_changed(r->workspace, r->solver, list, r->n_columns, &path);
        if (n > 0)
                xml_addf(b, "<p>toolchain changed: %s is not what %zu of the commits shown %s built with</p>\n", path, n, n == 1 ? "was" : "were");
}

static int write_top(struct report *r, struct buffer *b)
{
        size_t n_wrong = 0;
        int e;

        xml_addf(b, "<header><h1>%s</h1>\n<p>%zu case%s", r->solver->recipe->name, r->all_cases, r->all_cases == 1 ? "" : "s");
        if (r->options->set)
                xml_addf(b, " of the set %s", r->options->set);
        buffer_addf(b, ", as of %s.</p>\n", report_date(r->newest).s);
        write_changed(r, b);
        e = write_wrong(r, b, &n_wrong);
        write_figures(r, n_wrong, b);
        buffer_adds(b, "</header>\n<nav aria-label=\"Sections\"><ul>"
                       "<li><a href=\"#history\">History</a></li><li><a href=\"#versions\">Versions</a></li><li><a href=\"#steps\">Steps</a></li>"
                       "<li><a href=\"#findings\">Findings</a></li><li><a href=\"#alarms\">Alarms</a></li><li><a href=\"#cases\">Cases</a></li>");
        buffer_adds(b, r->n_columns > 0 ? "<li><a href=\"#commits\">Commits</a></li></ul></nav>\n" : "</ul></nav>\n");
        return e;
}

static void add_list(const char *heading, const struct buffer *items, struct buffer *ret)
{
        if (items->size == 0)
                return;
        buffer_addf(ret, "<h3>%s</h3>\n<ul>\n", heading);
        buffer_add(ret, items->data, items->size);
        buffer_adds(ret, "</ul>\n");
}

int solver_report(const struct solver_report_options *options, struct buffer *ret, int64_t *ret_mtime)
{
        cleanup_report struct report r = {.options = options, .workspace = options->workspace, .solver = options->solver};
        cleanup_buffer struct buffer body = {0}, home = {0};
        int e = report_read(&r);

        if (e == 0)
                e = report_find_steps(&r);
        if (e < 0)
                return e;
        report_write_history(&r, &body); /* the sections before the top, which says when the newest of all was measured */
        e = report_write_tags(&r, &body);
        report_write_steps(&r, &body);
        if (e == 0)
                e = report_write_findings(&r, &body);
        if (e == 0)
                e = report_write_alarms(&r, &body);
        report_write_cases(&r, &body);
        report_write_commits(&r, &body);
        if (e < 0 || buffer_error(&body) < 0)
                return e < 0 ? e : -ENOMEM;
        buffer_addf(&home, "/%s/report.html", options->solver->recipe->name);
        html_page_begin(ret, options->solver->recipe->name, options->commits ? home.data : NULL);
        e = write_top(&r, ret);
        buffer_adds(ret, "<main>\n");
        buffer_add(ret, body.data, body.size);
        buffer_adds(ret, "</main>\n");
        buffer_adds(ret, "<footer>\n");
        add_list("Programs that did not begin", &r.not_started, ret);
        add_list("What is left out", &r.left_out, ret);
        buffer_adds(ret, "<p>Made by solverfs from what is stored; nothing was measured for it.</p>\n</footer>\n");
        html_page_end(ret);
        *ret_mtime = r.newest;
        return e < 0 ? e : buffer_error(ret);
}
