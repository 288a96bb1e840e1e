/* Shared by the plot's files: the picture before it is drawn, and axes. */
#pragma once

#include <math.h>

#include "core/report/plot.h"

struct plot_item {
        double x, y;
        char *tooltip, *label;
};

struct plot_series {
        struct plot_series *next;
        enum plot_kind kind;
        char *name;
        unsigned style;
        bool unmarked;
        struct plot_item *items;
        size_t n;
};

enum plot_rule_kind {
        RULE_X,
        RULE_Y,
        RULE_DIAGONAL
};

struct plot_rule {
        enum plot_rule_kind kind;
        double value;
        char *label, *tooltip;
};

struct plot_axis {
        char *label;
        enum plot_scale scale;
        double low, high; /* fixed, or NaN */
};

struct plot {
        char *title;
        unsigned width, height;
        struct plot_axis x, y;
        struct plot_series *series, **last;
        unsigned styles; /* used so far */
        struct plot_rule *rules;
        size_t n_rules;
        char **notes;
        size_t n_notes;
};

/* An axis ready to draw: its range and the places of its values. */
#define PLOT_TICKS 64
struct scale {
        enum plot_scale kind;
        double low, high; /* low < high; both > 0 when logarithmic */
        double from, to;  /* pixels of low and high */
        struct tick {
                double value;
                char label[32]; /* "": a tick without a label */
        } ticks[PLOT_TICKS];
        size_t n_ticks;
};

/* Sets a range that holds the data [low, high] (NaN: none), rounded outward to ticks except at fixed ends, with at most about `most` labels. */
void scale_fit(struct scale *s, const struct plot_axis *axis, double low, double high, unsigned most);
double scale_pixel(const struct scale *s, double value); /* an end for an infinite value, and on a logarithmic axis for one not positive */

/* -- drawing -- */

#define PLOT_FONT   12.0 /* pixels, as the style sheet has it */
#define PLOT_NOTE   11.0 /* of notes and of labels of points */
#define PLOT_MARKER 3.4  /* half a marker's width */

/* Places in pixels. */
struct layout {
        double left, right, top, bottom; /* of the area of the data */
        struct scale x, y;
};

/* Approximate width of a text in a sans-serif face, in pixels: for margins, labels and the legend, where a few per cent do not matter. */
double plot_text_width(const char *text, double font);
void plot_add_title(struct buffer *out, const char *text); /* NULL: nothing */
void plot_add_text(struct buffer *out, double x, double y, const char *class, const char *anchor, const char *text);
void plot_add_point(struct buffer *out, char command, double x, double y); /* of a path */
void plot_add_line(struct buffer *out, const char *class, double x1, double y1, double x2, double y2);
bool plot_item_is_drawable(const struct plot_item *item);

/* Draws rules with their labels, each in the place where it covers least. */
void plot_add_rules(struct buffer *out, const struct plot *p, const struct layout *l);
/* Draws the labels of points that cover no other label. */
void plot_add_labels(struct buffer *out, const struct plot *p, const struct layout *l);
