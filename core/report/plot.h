/* Pictures as SVG: axes, lines, steps, points, written into a buffer. For *.svg in the mount and for report.html.
 *
 * Text stays text (searchable, selectable, read aloud); a point or rule given a tooltip carries it as <title>. The picture follows the
 * reader's light or dark setting (prefers-color-scheme). Series differ by the colours of Okabe and Ito (2008) *and* by marker and dash, so
 * that no colour has to be told apart. It needs no script, no font of its own, no element id: any number of pictures may stand in one page.
 * A picture carries its own size and may be scaled by whoever shows it.
 *
 * All text is copied, in UTF-8; bytes that are not valid UTF-8 or not allowed in XML become U+FFFD. A point whose x or y is NaN breaks a
 * line and is not drawn. On a logarithmic axis a value that is not positive has no part in the range and is drawn at its lower end; an
 * infinite one is drawn at the end of any axis. Points outside a range set by plot_range_* are cut off.
 *
 * A title, axis label, name in the legend or note that is wider than the picture loses its middle, and has the whole as <title>. Markers of a
 * crowd are translucent. The series added last are drawn last. A rule outside a fixed range has no label.
 *
 * Nothing is global: different plots may be made in different threads.
 */
#pragma once

#include "cache/base/util.h"

enum plot_scale {
        PLOT_LINEAR,
        PLOT_COUNT,    /* linear, of whole numbers: no ticks between them */
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

/* `width` and `height` in CSS pixels, 0 for 720 x 400; no less than 160 x 120 is used. `title` may be NULL. */
struct plot *plot_new(const char *title, unsigned width, unsigned height);
void plot_free(struct plot *p);
DEFINE_CLEANUP(struct plot *, plot_free)
#define cleanup_plot cleanup(plot_freep)

/* The label names the quantity and its unit. Linear without a label unless set. */
void plot_axis_x(struct plot *p, const char *label, enum plot_scale scale);
void plot_axis_y(struct plot *p, const char *label, enum plot_scale scale);
/* A fixed range; NaN at either end: from the data. Ranges from the data are rounded outward to ticks and, for durations, hold 0. */
void plot_range_x(struct plot *p, double low, double high);
void plot_range_y(struct plot *p, double low, double high);

/* A series belongs to the plot. `name` stands in the legend; NULL: it has no place there. */
struct plot_series *plot_series(struct plot *p, enum plot_kind kind, const char *name);
/* The series takes the colour, marker and dash of the n-th (from 0) instead of its own turn. */
void plot_style(struct plot_series *s, unsigned n);
/* A thin grey line without markers, which joins points of other series. */
void plot_unmarked(struct plot_series *s);
void plot_point(struct plot_series *s, double x, double y, const char *tooltip);
/* Writes beside the point that was added last; not where that would cover the label of another. */
void plot_label(struct plot_series *s, const char *label);

/* Lines across the whole picture. `label` (may be NULL) is written beside the line. */
void plot_rule_x(struct plot *p, double x, const char *label, const char *tooltip); /* upright: a culprit, a release */
void plot_rule_y(struct plot *p, double y, const char *label, const char *tooltip); /* level: a limit */
void plot_diagonal(struct plot *p, double factor, const char *label); /* y = factor · x; straight where both axes have one scale */

/* A line of small print below the picture: host, limits, how many points are not shown. */
void plot_note(struct plot *p, const char *text);

/* Appends the whole <svg> element, without an XML declaration, so that it can be a file or stand in HTML. */
void plot_write(const struct plot *p, struct buffer *out);
