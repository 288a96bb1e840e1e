#include "core/report/plot_internal.h"
#include "core/report/xml.h"

/* A copy with every byte that XML cannot carry replaced by U+FFFD; NULL stays NULL. */
static char *copy_text(struct plot *p, const char *text)
{
        cleanup_buffer struct buffer b = {0};

        if (!text)
                return NULL;
        buffer_adds(&b, "");
        xml_add_allowed(&b, text);
        p->failed |= b.failed;
        return b.failed ? NULL : steal_pointer(b.data);
}

struct plot *plot_new(const char *title, unsigned width, unsigned height)
{
        struct plot *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->title = copy_text(p, title);
        p->width = width == 0 ? 720 : MAX(width, 160);
        p->height = height == 0 ? 400 : MAX(height, 120);
        p->x = p->y = (struct plot_axis){.low = NAN, .high = NAN};
        p->last = &p->series;
        return p;
}

void plot_free(struct plot *p)
{
        if (!p)
                return;
        for (struct plot_series *s = p->series, *next; s; s = next) {
                next = s->next;
                for (size_t i = 0; i < s->n; i++)
                        free(s->items[i].tooltip);
                free(s->items);
                free(s->name);
                free(s);
        }
        for (size_t i = 0; i < p->n_rules; i++) {
                free(p->rules[i].label);
                free(p->rules[i].tooltip);
        }
        for (size_t i = 0; i < p->n_notes; i++)
                free(p->notes[i]);
        free(p->rules);
        free(p->notes);
        free(p->x.label);
        free(p->y.label);
        free(p->title);
        free(p);
}

static void set_axis(struct plot *p, struct plot_axis *axis, const char *label, enum plot_scale scale)
{
        free(axis->label);
        axis->label = copy_text(p, label);
        axis->scale = scale;
}

void plot_axis_x(struct plot *p, const char *label, enum plot_scale scale)
{
        if (p)
                set_axis(p, &p->x, label, scale);
}

void plot_axis_y(struct plot *p, const char *label, enum plot_scale scale)
{
        if (p)
                set_axis(p, &p->y, label, scale);
}

void plot_range_x(struct plot *p, double low, double high)
{
        if (p)
                p->x.low = low, p->x.high = high;
}

void plot_range_y(struct plot *p, double low, double high)
{
        if (p)
                p->y.low = low, p->y.high = high;
}

static void add_text(struct plot *p, char ***list, size_t *n, const char *text)
{
        char *copy = copy_text(p, text ? text : "");

        if (copy && list_grow(*list, *n) >= 0) {
                (*list)[(*n)++] = copy;
                return;
        }
        free(copy);
        p->failed = true;
}

void plot_note(struct plot *p, const char *text)
{
        if (p)
                add_text(p, &p->notes, &p->n_notes, text);
}

struct plot_series *plot_series(struct plot *p, enum plot_kind kind, const char *name)
{
        struct plot_series *s;

        if (!p)
                return NULL;
        s = calloc(1, sizeof(*s));
        if (!s) {
                p->failed = true;
                return NULL;
        }
        *s = (struct plot_series){.plot = p, .kind = kind, .name = copy_text(p, name), .style = p->styles++};
        *p->last = s;
        p->last = &s->next;
        return s;
}

void plot_style(struct plot_series *s, unsigned n)
{
        if (s)
                s->style = n;
}

void plot_unmarked(struct plot_series *s)
{
        if (s)
                s->unmarked = true;
}

static void add_item(struct plot_series *s, struct plot_item item, const char *tooltip)
{
        if (list_grow(s->items, s->n) < 0) {
                s->plot->failed = true;
                return;
        }
        item.tooltip = copy_text(s->plot, tooltip);
        s->items[s->n++] = item;
}

void plot_point(struct plot_series *s, double x, double y, const char *tooltip)
{
        if (s)
                add_item(s, (struct plot_item){.x = x, .y = y}, tooltip);
}

static void add_rule(struct plot *p, enum plot_rule_kind kind, double value, const char *label, const char *tooltip)
{
        if (!p)
                return;
        if (list_grow(p->rules, p->n_rules) < 0) {
                p->failed = true;
                return;
        }
        p->rules[p->n_rules++] =
                (struct plot_rule){.kind = kind, .value = value, .label = copy_text(p, label), .tooltip = copy_text(p, tooltip)};
}

void plot_rule_x(struct plot *p, double x, const char *label, const char *tooltip)
{
        add_rule(p, RULE_X, x, label, tooltip);
}

void plot_rule_y(struct plot *p, double y, const char *label, const char *tooltip)
{
        add_rule(p, RULE_Y, y, label, tooltip);
}

void plot_diagonal(struct plot *p, double factor, const char *label)
{
        add_rule(p, RULE_DIAGONAL, factor, label, NULL);
}
