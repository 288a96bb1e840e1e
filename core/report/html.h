/* Pages as HTML: one file each, which takes nothing from the network. For report.html. A page, a table and a row are begun and ended; the cells of a
 * row come in the order of its columns.
 *
 * Every text given goes through one escaper, every value for a script through one writer of JSON, so neither markup nor the end of a script gets
 * into a page with a name. Should anything slip through all the same, the page's policy (Content-Security-Policy) lets no script run but the one that
 * this room brings, by its digest, and nothing be fetched.
 *
 * A table of this room is sorted and searched by the page's script, with the keyboard too; without scripts it is a table. A page whose data are a
 * `history-data` gets plots from them: page/page.js draws these, and struct html_history (below) says what they are.
 *
 * All functions append; an allocation that fails is remembered in the buffer (buffer_error()). Nothing is global: threads may write different pages. */
#pragma once

#include <jansson.h>

#include "core/report/xml.h"

/* `home`: the end of the path under which the links of the page lead somewhere ("/z3/report.html"); elsewhere its script shows them as text. NULL: it has
 * no links. */
void html_page_begin(struct buffer *b, const char *title, const char *home);
void html_page_end(struct buffer *b); /* with the script */

/* A link to a path relative to the page, which is escaped and so has no scheme; the text alone where it is NULL. */
void html_link(struct buffer *b, const char *path, const char *text);

/* A string for html_data(), from text of unknown origin. */
json_t *html_string(const char *text);
/* A value for the page's script, as <script type="application/json" id="…">. Takes the reference; NULL (no memory) fails the buffer. */
void html_data(struct buffer *b, const char *id, json_t *value);

/* -- tables --------------------------------------------------------------------------------------------------------- */

enum html_column_kind {
        HTML_TEXT,
        HTML_LINE,   /* text that is not broken: a date, a sha */
        HTML_WIDE,   /* text that wants room: a subject */
        HTML_NUMBER, /* to the right, and sorted as numbers */
        HTML_PLAIN,  /* not sorted: a picture */
};
struct html_column {
        const char *name;
        enum html_column_kind kind;
        bool is_minor; /* left out on a phone */
};
struct html_table {
        const char *caption;
        const char *remark; /* small, behind the caption, such as how much of it is left out; may be NULL */
        const struct html_column *columns;
        size_t n;
        size_t at; /* set by these functions: the column of the next cell */
};
void html_table_begin(struct buffer *b, struct html_table *t);
void html_table_end(struct buffer *b);
void html_row_begin(struct buffer *b, struct html_table *t);
void html_row_end(struct buffer *b);
/* The next cell. */
void html_cell(struct buffer *b, struct html_table *t, const char *text);
void html_cell_link(struct buffer *b, struct html_table *t, const char *path, const char *text); /* path NULL: no link */
/* Sorted by `value` (NaN: behind all numbers), shown as `shown`. */
void html_cell_number(struct buffer *b, struct html_table *t, double value, const char *shown);
void html_cell_count(struct buffer *b, struct html_table *t, size_t n);
/* The text between these and the end is the caller's markup. */
void html_cell_begin(struct buffer *b, struct html_table *t);
void html_cell_begin_number(struct buffer *b, struct html_table *t, double value);
void html_cell_end(struct buffer *b, struct html_table *t);

/* -- numbers for people ------------------------------------------------------------------------------------------- */

struct html_number {
        char s[32];
};
struct html_number html_seconds(double seconds); /* "0.123 s"; "–" of NaN */
struct html_number html_ratio(double ratio);     /* "1.25×" */
