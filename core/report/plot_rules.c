/* Rules and the places of labels. A rule's label has several possible places beside its rule. It takes the first that covers nothing, else the
 * one that covers the least of markers, lines, other rules and labels. */
#include <limits.h>

#include "core/report/plot_internal.h"

#define LABEL_ASCENT  10.0 /* pixels of a label above its base line, and below it */
#define LABEL_DESCENT 3.0
#define LABEL_ROW     13.0
#define LABEL_MARGIN  2.0
#define LEVEL_PLACES  12 /* for a horizontal rule's label, from right to left */
#define MOST_LABELS   64 /* most labels that later ones avoid */
#define LABEL_COVERED 1000 /* covering a label counts as covering so many markers */

struct box {
        double left, top, right, bottom;
};

struct place {
        double x, y; /* of the text's anchor */
        bool leftward;
};

struct canvas { /* a picture, and the labels that are on it already */
        const struct plot *p;
        const struct layout *l;
        struct box taken[MOST_LABELS];
        size_t n_taken;
};

/* The place with the fewest hits so far. */
struct choice {
        const struct canvas *canvas;
        const struct plot_rule *rule;
        struct place best;
        unsigned hits; /* 0: there is no better place */
};

static struct box box_of(const struct place *place, const char *label)
{
        double width = plot_text_width(label, PLOT_FONT), left = place->leftward ? place->x - width : place->x;

        return (struct box){left - LABEL_MARGIN, place->y - LABEL_ASCENT, left + width + LABEL_MARGIN, place->y + LABEL_DESCENT};
}

/* -- obstacles ---------------------------------------------------------------------------------------------------- */

static bool boxes_meet(const struct box *a, const struct box *b)
{
        return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Narrows the part [from, to] of a segment to where start + part · step is in (low, high). */
static bool clip(double start, double step, double low, double high, double *from, double *to)
{
        double a = (low - start) / step, b = (high - start) / step;

        if (step == 0)
                return start > low && start < high;
        *from = fmax(*from, fmin(a, b));
        *to = fmin(*to, fmax(a, b));
        return *from < *to;
}

static bool segment_meets(const struct box *b, double x1, double y1, double x2, double y2)
{
        double from = 0, to = 1;

        return clip(x1, x2 - x1, b->left, b->right, &from, &to) && clip(y1, y2 - y1, b->top, b->bottom, &from, &to);
}

/* The number of the series' markers and segments that a box covers. A step has two segments: level to its corner, then upright. */
static unsigned series_hits(const struct layout *l, const struct plot_series *s, const struct box *b)
{
        const struct box around = {b->left - PLOT_MARKER, b->top - PLOT_MARKER, b->right + PLOT_MARKER, b->bottom + PLOT_MARKER};
        double last_x = NAN, last_y = NAN;
        unsigned hits = 0;

        for (size_t i = 0; i < s->n; i++) {
                double x = scale_pixel(&l->x, s->items[i].x), y = scale_pixel(&l->y, s->items[i].y);
                double corner = s->kind == PLOT_STEP ? x : last_x;

                if (!plot_item_is_drawable(&s->items[i])) {
                        last_x = NAN;
                        continue;
                }
                hits += segment_meets(&around, x, y, x, y);
                if ((s->kind == PLOT_LINE || s->kind == PLOT_STEP) && !isnan(last_x)) {
                        hits += segment_meets(b, last_x, last_y, corner, last_y);
                        hits += segment_meets(b, corner, last_y, x, y);
                }
                last_x = x;
                last_y = y;
        }
        return hits;
}

/* Where y = factor · x is in the picture. */
static bool diagonal_range(const struct layout *l, double factor, double *from, double *to)
{
        *from = l->x.low;
        *to = l->x.high;
        if (factor > 0) {
                *from = fmax(*from, l->y.low / factor);
                *to = fmin(*to, l->y.high / factor);
        }
        return *from < *to;
}

/* The ends of a rule in pixels. False: a fixed range leaves it outside the picture. */
static bool rule_ends(const struct layout *l, const struct plot_rule *rule, double ret[4])
{
        double at = scale_pixel(rule->kind == RULE_X ? &l->x : &l->y, rule->value), from = 0, to = 0;

        if (rule->kind == RULE_X) {
                memcpy(ret, (const double[]){at, l->top, at, l->bottom}, 4 * sizeof(*ret));
                return at >= l->left && at <= l->right;
        }
        if (rule->kind == RULE_Y) {
                memcpy(ret, (const double[]){l->left, at, l->right, at}, 4 * sizeof(*ret));
                return at >= l->top && at <= l->bottom;
        }
        if (!(rule->value > 0) || !diagonal_range(l, rule->value, &from, &to))
                return false;
        ret[0] = scale_pixel(&l->x, from);
        ret[1] = scale_pixel(&l->y, rule->value * from);
        ret[2] = scale_pixel(&l->x, to);
        ret[3] = scale_pixel(&l->y, rule->value * to);
        return true;
}

static bool rule_meets(const struct layout *l, const struct plot_rule *rule, const struct box *b)
{
        double ends[4];

        return rule_ends(l, rule, ends) && segment_meets(b, ends[0], ends[1], ends[2], ends[3]);
}

static unsigned labels_hit(const struct canvas *r, const struct box *b)
{
        unsigned hits = 0;

        for (size_t i = 0; i < r->n_taken; i++)
                hits += boxes_meet(&r->taken[i], b);
        return hits;
}

static unsigned hits_of(const struct canvas *r, const struct plot_rule *own, const struct box *b)
{
        unsigned hits = labels_hit(r, b) * LABEL_COVERED;

        for (size_t i = 0; i < r->p->n_rules; i++)
                if (&r->p->rules[i] != own && !isnan(r->p->rules[i].value))
                        hits += rule_meets(r->l, &r->p->rules[i], b);
        for (const struct plot_series *s = r->p->series; s; s = s->next)
                hits += series_hits(r->l, s, b);
        return hits;
}

/* -- places ------------------------------------------------------------------------------------------------------- */

/* Makes this place the choice if its label is inside the picture and covers less than the best so far. */
static void consider(struct choice *c, double x, double y, bool leftward)
{
        const struct place place = {x, y, leftward};
        const struct layout *l = c->canvas->l;
        struct box b = box_of(&place, c->rule->label);
        unsigned hits;

        if (c->hits == 0 || b.left < l->left || b.right > l->right + LABEL_MARGIN || b.top < l->top - LABEL_MARGIN || b.bottom > l->bottom)
                return;
        hits = hits_of(c->canvas, c->rule, &b);
        if (hits >= c->hits)
                return;
        c->hits = hits;
        c->best = place;
}

/* Tries places to the right of the rule from the top down, then to its left. */
static void consider_upright(struct choice *c, double at)
{
        const struct layout *l = c->canvas->l;

        for (int leftward = 0; leftward < 2; leftward++)
                for (double y = l->top + 11; y < l->bottom; y += LABEL_ROW)
                        consider(c, leftward ? at - 4 : at + 4, y, leftward);
}

static void consider_level(struct choice *c, double at)
{
        const struct layout *l = c->canvas->l;

        for (unsigned i = 0; i < LEVEL_PLACES; i++) {
                double x = l->right - 4 - i * (l->right - l->left) / LEVEL_PLACES;

                consider(c, x, at - 4, true);
                consider(c, x, at + 12, true);
        }
}

/* Tries places backwards from where the line leaves the picture. */
static void consider_diagonal(struct choice *c, const double ends[4])
{
        for (double part = 1; part > 0; part -= 0.03)
                consider(c, ends[0] + part * (ends[2] - ends[0]) - 6, ends[1] + part * (ends[3] - ends[1]) - 3, true);
}

static void add_label(struct buffer *out, struct canvas *r, const struct plot_rule *rule, const double ends[4])
{
        struct choice c = {.canvas = r, .rule = rule, .best = {r->l->right - 4, r->l->top + 11, true}, .hits = UINT_MAX}; /* the corner, if none fits */

        if (!rule->label)
                return;
        if (rule->kind == RULE_X)
                consider_upright(&c, ends[0]);
        else if (rule->kind == RULE_Y)
                consider_level(&c, ends[1]);
        else
                consider_diagonal(&c, ends);
        plot_add_text(out, c.best.x, c.best.y, "m n", c.best.leftward ? "end" : "", rule->label);
        if (r->n_taken < MOST_LABELS)
                r->taken[r->n_taken++] = box_of(&c.best, rule->label);
}

/* -- rules -------------------------------------------------------------------------------------------------------- */

void plot_add_rules(struct buffer *out, const struct plot *p, const struct layout *l)
{
        struct canvas r = {.p = p, .l = l};

        for (int labels = 0; labels < 2; labels++) { /* lines first: labels lie above all lines */
                for (size_t i = 0; i < p->n_rules; i++) {
                        const struct plot_rule *rule = &p->rules[i];
                        double ends[4];

                        if (isnan(rule->value) || !rule_ends(l, rule, ends))
                                continue;
                        buffer_adds(out, "<g>");
                        plot_add_title(out, rule->tooltip);
                        if (labels)
                                add_label(out, &r, rule, ends);
                        else
                                plot_add_line(out, "r", ends[0], ends[1], ends[2], ends[3]);
                        buffer_adds(out, "</g>");
                }
        }
}

/* -- labels of points --------------------------------------------------------------------------------------------- */

/* Places a label to the right of its point if there is room, else to the left. */
static void add_point_label(struct buffer *out, struct canvas *r, double x, double y, const char *label)
{
        const double width = plot_text_width(label, PLOT_NOTE);

        for (int leftward = 0; leftward < 2; leftward++) {
                const double at = leftward ? x - PLOT_MARKER - 4 : x + PLOT_MARKER + 4, left = leftward ? at - width : at;
                const struct box box = {left, y - PLOT_NOTE / 2, left + width, y + PLOT_NOTE / 2};

                if (left < r->l->left || box.right > r->l->right || labels_hit(r, &box) > 0)
                        continue;
                plot_add_text(out, at, y + 4, "m n", leftward ? "end" : "", label);
                r->taken[r->n_taken++] = box;
                return;
        }
}

void plot_add_labels(struct buffer *out, const struct plot *p, const struct layout *l)
{
        struct canvas r = {.p = p, .l = l};

        for (const struct plot_series *s = p->series; s; s = s->next)
                for (size_t i = 0; i < s->n && r.n_taken < MOST_LABELS; i++)
                        if (s->items[i].label && plot_item_is_drawable(&s->items[i]))
                                add_point_label(out, &r, scale_pixel(&l->x, s->items[i].x), scale_pixel(&l->y, s->items[i].y), s->items[i].label);
}
