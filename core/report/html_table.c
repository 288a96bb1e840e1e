/* Tables of a page. */
#include <math.h>

#include "core/report/html.h"

static void add_class(struct buffer *b, const struct html_column *c)
{
        static const char *const names[][2] = {
                [HTML_TEXT] = {"", "minor"},         [HTML_LINE] = {"one", "one minor"}, [HTML_WIDE] = {"wide", "wide minor"},
                [HTML_NUMBER] = {"n", "n minor"}, [HTML_PLAIN] = {"", "minor"},
        };
        const char *name = names[c->kind][c->is_minor];

        if (*name)
                buffer_addf(b, " class=\"%s\"", name);
}

/* The first cell of a row is the row's heading. */
static void begin_cell(struct buffer *b, const struct html_table *t)
{
        assert(t->at < t->n);
        buffer_adds(b, t->at == 0 ? "<th scope=\"row\"" : "<td");
        add_class(b, &t->columns[t->at]);
}

void html_table_begin(struct buffer *b, struct html_table *t)
{
        xml_addf(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table class=\"sort\"><caption>%s", t->caption,
                 t->caption);
        if (t->remark)
                xml_addf(b, " <small>%s</small>", t->remark);
        buffer_adds(b, "</caption>\n<thead><tr>");
        for (size_t i = 0; i < t->n; i++) {
                buffer_adds(b, "<th scope=\"col\"");
                add_class(b, &t->columns[i]);
                xml_addf(b, t->columns[i].kind == HTML_PLAIN ? " data-plain>%s</th>" : ">%s</th>", t->columns[i].name);
        }
        buffer_adds(b, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct buffer *b)
{
        buffer_adds(b, "</tbody></table></div>\n");
}

void html_row_begin(struct buffer *b, struct html_table *t)
{
        t->at = 0;
        buffer_adds(b, "<tr>");
}

void html_row_end(struct buffer *b)
{
        buffer_adds(b, "</tr>\n");
}

void html_cell_begin(struct buffer *b, struct html_table *t)
{
        begin_cell(b, t);
        buffer_adds(b, ">");
}

void html_cell_end(struct buffer *b, struct html_table *t)
{
        buffer_adds(b, t->at == 0 ? "</th>" : "</td>");
        t->at++;
}

void html_cell(struct buffer *b, struct html_table *t, const char *text)
{
        html_cell_link(b, t, NULL, text);
}

void html_cell_link(struct buffer *b, struct html_table *t, const char *path, const char *text)
{
        html_cell_begin(b, t);
        html_link(b, path, text);
        html_cell_end(b, t);
}

void html_cell_begin_number(struct buffer *b, struct html_table *t, double value)
{
        begin_cell(b, t);
        if (isnan(value))
                buffer_adds(b, " data-v=\"\">");
        else if (isinf(value))
                buffer_addf(b, " data-v=\"%s\">", value > 0 ? "1e999" : "-1e999"); /* scripts read it as infinite */
        else
                buffer_addf(b, " data-v=\"%.9g\">", value);
}

void html_cell_number(struct buffer *b, struct html_table *t, double value, const char *shown)
{
        html_cell_begin_number(b, t, value);
        xml_add_escaped(b, shown);
        html_cell_end(b, t);
}

void html_cell_count(struct buffer *b, struct html_table *t, size_t n)
{
        char shown[24];

        snprintf(shown, sizeof(shown), "%zu", n);
        html_cell_number(b, t, (double)n, shown);
}
