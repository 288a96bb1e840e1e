/* Printing a comparison: tables, Markdown, JSON, pictures. All append to *ret. */
#pragma once

#include <jansson.h>

#include "core/report/plot.h"
#include "core/study/compare/comparing.h"

/* One line on whether the second version is better: the measure that was asked for over the set, the number of solved cases, PAR-2. */
void comparison_write_line(const struct comparing_table *t, struct buffer *ret);
/* summary.tsv, with a heading, like the next; "-" for no value. */
void comparison_write_summary(const struct comparing_table *t, struct buffer *ret);
/* set.tsv, a row for each measure: its interval over other seeds of these cases (low, high) and over other cases like these (cases low, cases high).
 * Then a row for the difference of PAR-2 in seconds, and one for the p of the flips over the cases. */
void comparison_write_set(const struct comparing_table *t, struct buffer *ret);
/* families.tsv; no row if all cases are of one family. */
void comparison_write_families(const struct comparing_table *t, struct buffer *ret);

enum comparison_list {
        COMPARISON_REGRESSIONS,
        COMPARISON_IMPROVEMENTS,
        COMPARISON_DIFFERENCES, /* at one seed */
        N_COMPARISON_LISTS
};
/* Worst first. The column `ratio` is of the measure that was asked for; the columns `effort` and `memory` are ratios, too. */
void comparison_write_changes(const struct comparing_table *t, enum comparison_list list, struct buffer *ret);
/* For an issue or a pull request: `most` rows of each table, and the number of further rows. */
void comparison_write_markdown(const struct comparing_table *t, size_t most, struct buffer *ret);
json_t *comparison_json(const struct comparing_table *t); /* a new reference; NULL: no memory */

/* Each case's seconds before and after (or the memory, of the cases that both solve), on logarithmic axes, with the limits as borders. `width` is in CSS
 * pixels; the picture is a little higher than wide. */
#define COMPARISON_SCATTER_WIDTH 560 /* of a picture in a file */
void comparison_plot_scatter(const struct comparing_table *t, bool is_memory, unsigned width, struct buffer *ret);
/* The number of cases that each version solves, by the seconds allowed per case. */
void comparison_plot_cactus(const struct comparing_table *t, struct buffer *ret);
/* Adds a curve of a cactus plot, of n solved cases, and sorts their `seconds`. Curves are comparable only if all are of the same cases. */
void comparison_plot_curve(struct plot *p, const char *name, double *seconds, size_t n);
