/* Pictures as SVG: axes, lines, steps, points, written into a buffer. For *.svg in the mount and for report.html.
 *
 * Text stays text (searchable, selectable, read aloud); tooltips of points and rules are <title> elements. The picture follows the reader's
 * light or dark setting (prefers-color-scheme). Series differ by the colours of Okabe and Ito (2008) *and* by marker and dash, so no
 * colours need be distinguished. It needs no script, font or element id: a page may have any number of pictures. A picture has its own size
 * and may be scaled.
 *
 * All text is copied, in UTF-8; bytes that are not valid UTF-8 or not allowed in XML become U+FFFD. A point whose x or y is NaN breaks a
 * line and is not drawn. On a logarithmic axis a value that is not positive does not affect the range and is drawn at its lower end; an
 * infinite value is drawn at the end of any axis. Points outside a range set by plot_range_* are cut off.
 *
 * A title, axis label, legend entry or note wider than the picture loses its middle, and has the whole text as <title>. Crowded markers are
 * translucent. The series added last are drawn last. A rule outside a fixed range is not drawn.
 *
 * Nothing is global: different plots may be made in different threads.
 */
#pragma once

#include "cache/base/util.h"

enum plot_scale {
        PLOT_LINEAR,
        PLOT_COUNT,    /* linear, with ticks only at whole numbers */
        PLOT_LOG,
        PLOT_DURATION, /* seconds from zero, linear, with ticks such as 30s, 5m, 2h */
};

enum plot_kind {
        PLOT_LINE,    /* straight from point to point */
        PLOT_STEP,    /* keeps its value until the next point */
        PLOT_SCATTER, /* markers only */
};

struct plot;
struct plot_series;

/* `width` and `height` in CSS pixels; 0: 720 x 400; at least 160 x 120. `title` may be NULL. */
struct plot *plot_new(const char *title, unsigned width, unsigned height);
void plot_free(struct plot *p);
DEFINE_CLEANUP(struct plot *, plot_free)
#define cleanup_plot cleanup(plot_freep)

/* The label names the quantity and its unit. An axis that is not set is linear and has no label. */
void plot_axis_x(struct plot *p, const char *label, enum plot_scale scale);
void plot_axis_y(struct plot *p, const char *label, enum plot_scale scale);
/* Sets a fixed range; NaN at either end: from the data, rounded outward to ticks. Durations from the data include 0 and end at the highest. */
void plot_range_x(struct plot *p, double low, double high);
void plot_range_y(struct plot *p, double low, double high);

/* Adds a series, which the plot owns. `name`: in the legend; NULL: not in the legend. */
struct plot_series *plot_series(struct plot *p, enum plot_kind kind, const char *name);
/* Gives the series the colour, marker and dash of the n-th (from 0) instead of the next ones. */
void plot_style(struct plot_series *s, unsigned n);
/* Draws the series as a thin grey line without markers, to join points of other series. */
void plot_unmarked(struct plot_series *s);
void plot_point(struct plot_series *s, double x, double y, const char *tooltip);
/* Labels the point added last, unless that would cover another label. */
void plot_label(struct plot_series *s, const char *label);

/* Lines across the whole picture. `label` (may be NULL) is written beside the line. */
void plot_rule_x(struct plot *p, double x, const char *label, const char *tooltip); /* vertical: a culprit, a release */
void plot_rule_y(struct plot *p, double y, const char *label, const char *tooltip); /* horizontal: a limit */
void plot_diagonal(struct plot *p, double factor, const char *label); /* y = factor · x; both axes must have the same scale */

/* A line of small print below the picture: host, limits, number of hidden points. */
void plot_note(struct plot *p, const char *text);

/* Appends the whole <svg> element, without an XML declaration, for a file or for HTML. */
void plot_write(const struct plot *p, struct buffer *out);
