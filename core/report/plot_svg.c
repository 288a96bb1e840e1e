/* Drawing a picture: text, markers, series, the legend, axes. */
#include "core/report/plot_internal.h"
#include "core/report/xml.h"

#define TITLE_FONT 15.0 /* pixels, as in the style sheet below */
#define LEADING    16.0
#define SWATCH     26.0 /* a legend's sample of line and marker */
#define STYLES     8
#define CROWD      60  /* points; if there are more, markers are translucent */
#define MARGIN     12.0 /* of texts, at the left and the right */
#define BOLD       1.1  /* times as wide */
#define WIDEST     1.03 /* times as wide: a wide face such as DejaVu Sans */

/* Okabe and Ito's colours in the order that keeps the first ones most distinct; yellow, hard to see on white, is last. The dark ones are
 * lighter on a dark ground. Each picture has its style sheet, as it may be a file or a part of a page. */
static const char style_sheet[] =
        "<style>"
        ".sfs-plot{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu "
        "Sans\",sans-serif;--g:#fff;--t:#1f2328;--m:#59636e;--l:#dfe3e8}"
        ".sfs-plot text{fill:#1f2328;fill:var(--t)}.sfs-plot .m{fill:#59636e;fill:var(--m)}"
        ".sfs-plot .h{font-size:15px;font-weight:600}.sfs-plot "
        ".n{font-size:11px;paint-order:stroke;stroke:#fff;stroke:var(--g);stroke-width:3px}"
        ".sfs-plot .g{fill:#fff;fill:var(--g)}"
        ".sfs-plot .l{stroke:#dfe3e8;stroke:var(--l);fill:none}.sfs-plot .a{stroke:#59636e;stroke:var(--m);fill:none}"
        ".sfs-plot .r{stroke:#59636e;stroke:var(--m);fill:none;stroke-dasharray:4 3}"
        ".sfs-plot .s{stroke:currentColor;stroke-width:1.8;fill:none;stroke-linejoin:round}"
        ".sfs-plot .p{fill:currentColor;stroke:currentColor;stroke-width:1}"
        ".sfs-plot .c5 .p,.sfs-plot .c6 .p{stroke-width:1.8}" /* crosses consist only of lines */
        ".sfs-plot .c0{color:#0072b2}.sfs-plot .c1{color:#d55e00}.sfs-plot .c2{color:#009e73}.sfs-plot .c3{color:#cc79a7}"
        ".sfs-plot .c4{color:#56b4e9}.sfs-plot .c5{color:#e69f00}.sfs-plot .c6{color:#1f2328}.sfs-plot .c7{color:#c9b900}"
        "@media(prefers-color-scheme:dark){"
        ".sfs-plot{--g:#15181c;--t:#e6e9ed;--m:#9aa4af;--l:#31373e}"
        ".sfs-plot .c0{color:#3f9fe0}.sfs-plot .c1{color:#ec7a2c}.sfs-plot .c2{color:#1fbf92}.sfs-plot .c3{color:#dd96bd}"
        ".sfs-plot .c4{color:#8fd0f5}.sfs-plot .c6{color:#e6e9ed}.sfs-plot .c7{color:#f0e442}}"
        "</style>";

static const char *const dashes[STYLES] = {"", "8 3", "2 3", "9 3 2 3", "14 4", "5 2", "9 3 2 3 2 3", "1 2"};

/* -- text --------------------------------------------------------------------------------------------------------- */

static bool is_continuation(char byte)
{
        return ((unsigned char)byte & 0xc0) == 0x80;
}

/* A character's width in ems, at its first byte. */
static double byte_width(char byte)
{
        unsigned char c = (unsigned char)byte;

        return is_continuation(byte)                              ? 0
               : c >= 0xe3                                        ? 1.0 /* mostly East Asian */
               : c >= 0x80                                        ? 0.65
               : strchr("iIjl.,:;'|!()[]frt/ ", c)                ? 0.34
               : strchr("mwMW@%", c)                              ? 0.92
               : (c >= 'A' && c <= 'Z') || strchr("=+<>~#&_", c) ? 0.7
                                                                  : 0.59;
}

double plot_text_width(const char *text, double font)
{
        double em = 0;

        for (const char *p = text; *p; p++)
                em += byte_width(*p);
        return em * font;
}

void plot_add_title(struct buffer *out, const char *text)
{
        if (text)
                xml_addf(out, "<title>%s</title>", text);
}

/* To a tenth of a pixel; never "-0". */
static double tenths(double v)
{
        return round(v * 10) / 10 + 0.0;
}

static void begin_text(struct buffer *out, double x, double y, const char *class, const char *anchor)
{
        buffer_addf(out, "<text x=\"%g\" y=\"%g\"", tenths(x), tenths(y));
        if (*class)
                buffer_addf(out, " class=\"%s\"", class);
        if (*anchor)
                buffer_addf(out, " text-anchor=\"%s\"", anchor);
        buffer_adds(out, ">");
}

void plot_add_text(struct buffer *out, double x, double y, const char *class, const char *anchor, const char *text)
{
        begin_text(out, x, y, class, anchor);
        xml_addf(out, "%s</text>", text);
}

/* Bytes at the text's beginning and end that together are at most `em` wide. */
static void ends_within(const char *text, double em, size_t *ret_head, size_t *ret_tail)
{
        size_t size = strlen(text), head = 0, tail = 0;
        double used = 0;

        while (head < size && (used += byte_width(text[head])) <= em / 2)
                head++;
        used = 0;
        for (size_t n = 1; n < size - head && (used += byte_width(text[size - n])) <= em / 2; n++)
                if (!is_continuation(text[size - n]))
                        tail = n;
        *ret_head = head;
        *ret_tail = tail;
}

/* A text too wide for its room loses its middle, as names of versions and cases differ at their ends; the tooltip has the whole. */
static void add_text_within(struct buffer *out, double x, double y, const char *class, const char *anchor, const char *text, double font, double room)
{
        cleanup_buffer struct buffer shown = {0};
        size_t head, tail;

        room /= WIDEST;
        if (plot_text_width(text, font) <= room) {
                plot_add_text(out, x, y, class, anchor, text);
                return;
        }
        ends_within(text, room / font - 1, &head, &tail);
        buffer_add(&shown, text, head);
        buffer_adds(&shown, "\xe2\x80\xa6");
        buffer_adds(&shown, text + strlen(text) - tail);
        begin_text(out, x, y, class, anchor);
        xml_add_escaped(out, shown.data);
        plot_add_title(out, text);
        buffer_adds(out, "</text>");
}

void plot_add_point(struct buffer *out, char command, double x, double y)
{
        buffer_addf(out, "%c%g %g", command, tenths(x), tenths(y));
}

void plot_add_line(struct buffer *out, const char *class, double x1, double y1, double x2, double y2)
{
        buffer_addf(out, "<path class=\"%s\" d=\"", class);
        plot_add_point(out, 'M', x1, y1);
        plot_add_point(out, 'L', x2, y2);
        buffer_adds(out, "\"/>");
}

/* -- markers ------------------------------------------------------------------------------------------------------ */

/* A shape begins at an offset from the middle and continues with these path commands; in units of PLOT_MARKER. */
static const struct marker {
        double x, y;
        const char *path; /* a # is the next number */
        double numbers[8];
} markers[STYLES] = {
        {-1, 0, "a# # 0 1 0 # 0a# # 0 1 0 # 0z", {1, 1, 2, 1, 1, -2}},           /* circle */
        {-0.9, -0.9, "h#v#h#z", {1.8, 1.8, -1.8}},                               /* square */
        {0, -1.2, "l# #h#z", {1.1, 2, -2.2}},                                    /* triangle */
        {0, -1.3, "l# #l# #l# #z", {1.2, 1.3, -1.2, 1.3, -1.2, -1.3}},           /* diamond */
        {0, 1.2, "l# #h#z", {1.1, -2, -2.2}},                                    /* triangle on its point */
        {-1, -1, "l# #m0 #l# #", {2, 2, -2, -2, 2}},                             /* cross */
        {-1.2, 0, "h#m# #v#", {2.4, -1.2, -1.2, 2.4}},                           /* plus */
        {-0.5, -1.3, "h#v#h#z", {1, 2.6, -1}},                                   /* an upright bar */
};

static void add_marker(struct buffer *out, unsigned style, double x, double y)
{
        const struct marker *m = &markers[style % STYLES];
        const double *number = m->numbers;

        plot_add_point(out, 'M', x + m->x * PLOT_MARKER, y + m->y * PLOT_MARKER);
        for (const char *p = m->path; *p; p++)
                if (*p == '#')
                        buffer_addf(out, "%g", *number++ * PLOT_MARKER);
                else
                        buffer_add(out, p, 1);
}

/* True if this item gets a marker. All do if they can be told apart; else some, evenly, so that the series is recognizable by its shape. */
static bool is_marked(const struct plot_series *s, size_t i)
{
        size_t every = s->n <= 24 ? 1 : (s->n + 7) / 8;

        if (s->unmarked)
                return false;
        return s->kind == PLOT_SCATTER || s->items[i].tooltip || i % every == every / 2 || s->n <= 24;
}

bool plot_item_is_drawable(const struct plot_item *item)
{
        return !isnan(item->x) && !isnan(item->y);
}

static void add_markers(struct buffer *out, const struct layout *l, const struct plot_series *s)
{
        bool open = false;

        for (int named = 0; named < 2; named++) { /* markers without a tooltip share one path */
                for (size_t i = 0; i < s->n; i++) {
                        const struct plot_item *item = &s->items[i];

                        if (!plot_item_is_drawable(item) || named != (item->tooltip != NULL) || !(named || is_marked(s, i)))
                                continue;
                        if (!open)
                                buffer_adds(out, "<path class=\"p\" d=\"");
                        open = !named;
                        add_marker(out, s->style, scale_pixel(&l->x, item->x), scale_pixel(&l->y, item->y));
                        if (named)
                                xml_addf(out, "\"><title>%s</title></path>", item->tooltip);
                }
                if (open)
                        buffer_adds(out, "\"/>");
                open = false;
        }
}

/* -- series ------------------------------------------------------------------------------------------------------- */

static void add_dash(struct buffer *out, unsigned style)
{
        if (*dashes[style % STYLES])
                buffer_addf(out, " stroke-dasharray=\"%s\"", dashes[style % STYLES]);
}

/* Points that fall on the same tenth of a pixel are drawn once. */
static void add_polyline(struct buffer *out, const struct layout *l, const struct plot_series *s)
{
        bool pen = false;
        double last_x = NAN, last_y = NAN;

        buffer_addf(out, "<path class=\"%s\"", s->unmarked ? "a" : "s");
        if (!s->unmarked)
                add_dash(out, s->style);
        buffer_adds(out, " d=\"");
        for (size_t i = 0; i < s->n; i++) {
                double x = scale_pixel(&l->x, s->items[i].x), y = scale_pixel(&l->y, s->items[i].y);

                if (!plot_item_is_drawable(&s->items[i])) {
                        pen = false;
                        continue;
                }
                if (pen && fabs(x - last_x) < 0.05 && fabs(y - last_y) < 0.05)
                        continue;
                if (pen && s->kind == PLOT_STEP && y != last_y && x != last_x)
                        plot_add_point(out, 'L', x, last_y);
                plot_add_point(out, pen ? 'L' : 'M', x, y);
                pen = true;
                last_x = x;
                last_y = y;
        }
        buffer_adds(out, "\"/>");
}

static void add_series(struct buffer *out, const struct plot *p, const struct layout *l)
{
        size_t n = 0; /* number of markers: many are translucent, as they cover each other */

        for (const struct plot_series *s = p->series; s; s = s->next)
                n += s->kind == PLOT_SCATTER ? s->n : 0;
        for (const struct plot_series *s = p->series; s; s = s->next) {
                if (s->kind == PLOT_SCATTER)
                        continue;
                buffer_addf(out, "<g class=\"c%u\">", s->style % STYLES);
                add_polyline(out, l, s);
                buffer_adds(out, "</g>");
        }
        for (const struct plot_series *s = p->series; s; s = s->next) { /* markers lie above all lines */
                buffer_addf(out, "<g class=\"c%u\"%s>", s->style % STYLES, n > CROWD ? " fill-opacity=\".35\"" : "");
                add_markers(out, l, s);
                buffer_adds(out, "</g>");
        }
}

/* -- layout ------------------------------------------------------------------------------------------------------- */

struct range {
        double low, high;
};

static void include(struct range *r, double v, enum plot_scale scale)
{
        if (!isfinite(v) || (scale == PLOT_LOG && v <= 0))
                return;
        r->low = isnan(r->low) ? v : fmin(r->low, v);
        r->high = isnan(r->high) ? v : fmax(r->high, v);
}

static void data_ranges(const struct plot *p, struct range *x, struct range *y)
{
        *x = *y = (struct range){NAN, NAN};
        for (const struct plot_series *s = p->series; s; s = s->next)
                for (size_t i = 0; i < s->n; i++) {
                        include(x, s->items[i].x, p->x.scale);
                        include(y, s->items[i].y, p->y.scale);
                }
        for (size_t i = 0; i < p->n_rules; i++)
                if (p->rules[i].kind != RULE_DIAGONAL)
                        include(p->rules[i].kind == RULE_X ? x : y, p->rules[i].value, (p->rules[i].kind == RULE_X ? p->x : p->y).scale);
        if (p->x.scale == PLOT_DURATION)
                include(x, 0, p->x.scale);
        if (p->y.scale == PLOT_DURATION)
                include(y, 0, p->y.scale);
}

/* Draws the legend; `out` NULL: only measures it. Returns its rows. */
static unsigned legend(struct buffer *out, const struct plot *p, double left, double top)
{
        const double room = p->width - left - SWATCH - 5 - MARGIN;
        double x = left;
        unsigned rows = 0;

        for (const struct plot_series *s = p->series; s; s = s->next) {
                double width;

                if (!s->name)
                        continue;
                width = SWATCH + 5 + fmin(plot_text_width(s->name, PLOT_FONT), room) + 16;
                if (rows == 0 || x + width > p->width + 16 - MARGIN) {
                        x = left;
                        rows++;
                }
                if (out) {
                        double y = top + (rows - 1) * LEADING + 10;

                        buffer_addf(out, "<g class=\"c%u\">", s->style % STYLES);
                        if (s->kind != PLOT_SCATTER) {
                                buffer_adds(out, "<path class=\"s\"");
                                add_dash(out, s->style);
                                buffer_adds(out, " d=\"");
                                plot_add_point(out, 'M', x, y - 4);
                                buffer_addf(out, "h%g\"/>", SWATCH);
                        }
                        buffer_adds(out, "<path class=\"p\" d=\"");
                        add_marker(out, s->style, x + SWATCH / 2, y - 4);
                        buffer_adds(out, "\"/></g>");
                        add_text_within(out, x + SWATCH + 5, y, "", "", s->name, PLOT_FONT, room);
                }
                x += width;
        }
        return rows;
}

static void lay_out(const struct plot *p, struct layout *l)
{
        /* Pixels for a label of x. Labels of powers of ten are short, and those in between must be shown if y shows them. */
        const double label_room = p->x.scale == PLOT_LOG ? 42 : 72;
        double width = p->width, height = p->height, below = 10 + LEADING;
        struct range x, y;

        *l = (struct layout){0};
        data_ranges(p, &x, &y);
        l->top = 8 + (p->title ? TITLE_FONT + 7 : 0) + legend(NULL, p, MARGIN, 0) * LEADING + (p->y.label ? LEADING + 8 : 6);
        l->right = width - 16;
        below += (p->x.label ? LEADING : 0) + (double)p->n_notes * 14;
        l->bottom = fmax(height - below, l->top + 20);
        scale_fit(&l->y, &p->y, y.low, y.high, (unsigned)fmax(2, (l->bottom - l->top) / 36));
        l->left = 14;
        for (size_t i = 0; i < l->y.n_ticks; i++)
                l->left = fmax(l->left, 14 + plot_text_width(l->y.ticks[i].label, PLOT_FONT));
        scale_fit(&l->x, &p->x, x.low, x.high, (unsigned)fmax(2, (l->right - l->left) / label_room));
        l->x.from = l->left;
        l->x.to = l->right;
        l->y.from = l->bottom;
        l->y.to = l->top;
}

/* -- axes --------------------------------------------------------------------------------------------------------- */

static void add_grid(struct buffer *out, const struct layout *l)
{
        for (int upright = 0; upright < 2; upright++) {
                const struct scale *s = upright ? &l->x : &l->y;

                for (size_t i = 0; i < s->n_ticks; i++) {
                        double at = scale_pixel(s, s->ticks[i].value);

                        if (!*s->ticks[i].label)
                                continue;
                        if (upright)
                                plot_add_line(out, "l", at, l->top, at, l->bottom);
                        else
                                plot_add_line(out, "l", l->left, at, l->right, at);
                }
        }
}

static void add_axes(struct buffer *out, const struct plot *p, const struct layout *l)
{
        double below = l->bottom + 16, taken = -INFINITY, room = p->width - 2 * MARGIN;

        plot_add_line(out, "a", l->left, l->bottom, l->right, l->bottom);
        plot_add_line(out, "a", l->left, l->top, l->left, l->bottom);
        for (size_t i = 0; i < l->y.n_ticks; i++) {
                double y = scale_pixel(&l->y, l->y.ticks[i].value);

                plot_add_line(out, "a", l->left - (*l->y.ticks[i].label ? 4 : 2), y, l->left, y);
                if (*l->y.ticks[i].label)
                        plot_add_text(out, l->left - 7, y + 4, "m", "end", l->y.ticks[i].label);
        }
        for (size_t i = 0; i < l->x.n_ticks; i++) {
                double x = scale_pixel(&l->x, l->x.ticks[i].value), half = plot_text_width(l->x.ticks[i].label, PLOT_FONT) / 2;

                plot_add_line(out, "a", x, l->bottom, x, l->bottom + (*l->x.ticks[i].label ? 4 : 2));
                if (!*l->x.ticks[i].label || x - half < taken)
                        continue;
                if (x + half > p->width - 2) /* a label at the edge stays inside */
                        plot_add_text(out, p->width - 3, below, "m", "end", l->x.ticks[i].label);
                else
                        plot_add_text(out, x, below, "m", "middle", l->x.ticks[i].label);
                taken = x + half + 6;
        }
        if (p->y.label)
                add_text_within(out, MARGIN, l->top - 8, "m", "", p->y.label, PLOT_FONT, room);
        if (p->x.label)
                add_text_within(out, l->right, p->height - 8 - (double)p->n_notes * 14, "m", "end", p->x.label, PLOT_FONT, l->right - MARGIN);
        for (size_t i = 0; i < p->n_notes; i++)
                add_text_within(out, MARGIN, p->height - 8 - (double)(p->n_notes - 1 - i) * 14, "m n", "", p->notes[i], PLOT_NOTE, room);
}

void plot_write(const struct plot *p, struct buffer *out)
{
        struct layout l;

        lay_out(p, &l);
        buffer_addf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sfs-plot\" role=\"img\" width=\"%u\" height=\"%u\" "
                    "viewBox=\"0 0 %u %u\">\n",
                    p->width, p->height, p->width, p->height);
        plot_add_title(out, p->title);
        buffer_adds(out, style_sheet);
        buffer_addf(out, "\n<rect class=\"g\" width=\"%u\" height=\"%u\"/>\n", p->width, p->height);
        if (p->title)
                add_text_within(out, MARGIN, 8 + TITLE_FONT, "h", "", p->title, TITLE_FONT * BOLD, p->width - 2 * MARGIN);
        legend(out, p, MARGIN, 10 + (p->title ? TITLE_FONT + 7 : 0));
        buffer_adds(out, "\n<g>");
        add_grid(out, &l);
        buffer_adds(out, "</g>\n");
        /* a nested <svg> clips without an element id; a marker at the edge stays whole */
        buffer_addf(out, "<svg x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" viewBox=\"%g %g %g %g\">", l.left - 5, l.top - 5,
                    l.right - l.left + 10, l.bottom - l.top + 10, l.left - 5, l.top - 5, l.right - l.left + 10,
                    l.bottom - l.top + 10);
        plot_add_rules(out, p, &l);
        add_series(out, p, &l);
        plot_add_labels(out, p, &l);
        buffer_adds(out, "</svg>\n<g>");
        add_axes(out, p, &l);
        buffer_adds(out, "</g>\n</svg>\n");
}
