/* HTML pages, for report.html. Each is one file that loads nothing from the network. Begin and end a page, a table and a row; add the cells of a row in
 * the order of the columns.
 *
 * All texts pass through one escaper and all values for scripts through one writer of JSON, so a name cannot bring markup or the end of a script into
 * a page. As a second defence the page's policy (Content-Security-Policy) allows only this room's script, by its digest, and no fetching.
 *
 * The page's script sorts and searches tables, also by keyboard; without scripts they are plain tables. It also draws plots if the page has
 * `history-data` (page/page.js).
 *
 * Functions with a buffer append to it; a failed allocation is remembered in the buffer (buffer_error()). Nothing is global: threads may write different
 * pages. */
#pragma once

#include <jansson.h>

#include "core/report/xml.h"

/* `home`: how the page's path in the mount ends ("/z3/report.html"). The page's links are relative, so its script turns them into text if the page
 * is opened elsewhere. NULL: the page has no links. */
void html_page_begin(struct buffer *b, const char *title, const char *home);
void html_page_end(struct buffer *b); /* with the script */

/* A link to a path relative to the page; escaped, so it cannot have a scheme. `path` NULL: only the text. */
void html_link(struct buffer *b, const char *path, const char *text);

/* A string for html_data(), from text of unknown origin. */
json_t *html_string(const char *text);
/* A value for the page's script, as <script type="application/json" id="…">. Takes the reference; NULL (no memory) fails the buffer. */
void html_data(struct buffer *b, const char *id, json_t *value);

/* -- tables --------------------------------------------------------------------------------------------------------- */

enum html_column_kind {
        HTML_TEXT,
        HTML_LINE,   /* text without line breaks: a date, a sha */
        HTML_WIDE,   /* text that needs room: a subject */
        HTML_NUMBER, /* right-aligned, sorted as numbers */
        HTML_PLAIN,  /* not sorted: a picture */
};
struct html_column {
        const char *name;
        enum html_column_kind kind;
        bool is_minor; /* hidden on a phone */
};
struct html_table {
        const char *caption;
        const char *remark; /* small print behind the caption, such as how many rows are left out; may be NULL */
        const struct html_column *columns;
        size_t n;
        size_t at; /* set by these functions: the column of the next cell */
};
void html_table_begin(struct buffer *b, struct html_table *t);
void html_table_end(struct buffer *b);
void html_row_begin(struct buffer *b, struct html_table *t);
void html_row_end(struct buffer *b);
/* Adds the next cell. */
void html_cell(struct buffer *b, struct html_table *t, const char *text);
void html_cell_link(struct buffer *b, struct html_table *t, const char *path, const char *text); /* path NULL: no link */
/* A cell sorted by `value` (NaN: after all numbers) and shown as `shown`. */
void html_cell_number(struct buffer *b, struct html_table *t, double value, const char *shown);
void html_cell_count(struct buffer *b, struct html_table *t, size_t n);
/* Between begin and end the caller appends markup. */
void html_cell_begin(struct buffer *b, struct html_table *t);
void html_cell_begin_number(struct buffer *b, struct html_table *t, double value); /* sorted by `value`, as html_cell_number() */
void html_cell_end(struct buffer *b, struct html_table *t);

/* -- numbers for people ------------------------------------------------------------------------------------------- */

/* "–" for NaN, "∞" if infinite. */
struct short_text html_seconds(double seconds); /* "0.123 s" */
struct short_text html_ratio(double ratio);     /* "1.25×" */
