/* Printing a comparison: tables, Markdown, JSON, pictures. All append to *ret; 0 or -errno. */
#pragma once

#include <jansson.h>

#include "core/study/compare/comparing.h"

/* "toy v1.2", or "toy 1a2b3c4d5e6f" where no tag names the commit. */
int comparing_label(const struct comparing_version *v, struct buffer *ret);

/* summary.tsv: measure, a, b, ratio, low, high; "-" where there is nothing. With a heading, as the next. */
int comparison_write_summary(const struct comparing_table *t, struct buffer *ret);
/* Regressions or improvements, worst first: case, change, result a, time a, result b, time b, ratio, low, high, p, pairs, by, name. */
int comparison_write_changes(const struct comparing_table *t, bool improvements, bool heading, struct buffer *ret);
/* For an issue or a pull request; `most` rows of each table, and how many more there are. */
int comparison_write_markdown(const struct comparing_table *t, size_t most, struct buffer *ret);
json_t *comparison_json(const struct comparing_table *t); /* a new reference; NULL: no memory */

/* Each case's seconds before and after, on logarithmic axes, with the limits as borders. `width` in CSS pixels; a little higher. */
#define COMPARISON_SCATTER_WIDTH 560 /* of a file of its own */
int comparison_plot_scatter(const struct comparing_table *t, unsigned width, struct buffer *ret);
/* How many cases each version solves within so many seconds each. */
int comparison_plot_cactus(const struct comparing_table *t, struct buffer *ret);
