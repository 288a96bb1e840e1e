/* Making a picture: its axes, series, rules and notes. */
#include "core/report/plot_internal.h"
#include "core/report/xml.h"

/* A copy with every byte that XML cannot carry replaced by U+FFFD; NULL stays NULL. */
static char *copy_text(const char *text)
{
        struct buffer b = {0};

        if (!text)
                return NULL;
        buffer_adds(&b, "");
        xml_add_allowed(&b, text);
        return b.data;
}

struct plot *plot_new(const char *title, unsigned width, unsigned height)
{
        struct plot *p = allocate(1, sizeof(*p));

        p->title = copy_text(title);
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
                for (size_t i = 0; i < s->n; i++) {
                        free(s->items[i].tooltip);
                        free(s->items[i].label);
                }
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

static void set_axis(struct plot_axis *axis, const char *label, enum plot_scale scale)
{
        free(axis->label);
        axis->label = copy_text(label);
        axis->scale = scale;
}

void plot_axis_x(struct plot *p, const char *label, enum plot_scale scale)
{
        set_axis(&p->x, label, scale);
}

void plot_axis_y(struct plot *p, const char *label, enum plot_scale scale)
{
        set_axis(&p->y, label, scale);
}

void plot_range_x(struct plot *p, double low, double high)
{
        p->x.low = low;
        p->x.high = high;
}

void plot_range_y(struct plot *p, double low, double high)
{
        p->y.low = low;
        p->y.high = high;
}

void plot_note(struct plot *p, const char *text)
{
        list_add(p->notes, p->n_notes, copy_text(text ? text : ""));
}

struct plot_series *plot_series(struct plot *p, enum plot_kind kind, const char *name)
{
        struct plot_series *s = allocate(1, sizeof(*s));

        *s = (struct plot_series){.kind = kind, .name = copy_text(name), .style = p->styles++};
        *p->last = s;
        p->last = &s->next;
        return s;
}

void plot_style(struct plot_series *s, unsigned n)
{
        s->style = n;
}

void plot_unmarked(struct plot_series *s)
{
        s->unmarked = true;
}

void plot_point(struct plot_series *s, double x, double y, const char *tooltip)
{
        list_add(s->items, s->n, (struct plot_item){.x = x, .y = y, .tooltip = copy_text(tooltip)});
}

void plot_label(struct plot_series *s, const char *label)
{
        s->items[s->n - 1].label = copy_text(label);
}

static void add_rule(struct plot *p, enum plot_rule_kind kind, double value, const char *label, const char *tooltip)
{
        list_add(p->rules, p->n_rules, (struct plot_rule){kind, value, copy_text(label), copy_text(tooltip)});
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
