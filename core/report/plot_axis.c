/* Ranges and ticks. Linear ticks are 1, 2 or 5 times a power of ten apart. Logarithmic ticks are at the powers of ten and, if these are few,
 * at 2 and 5 times them. Durations step by the units of clocks. */

#include "core/report/plot_internal.h"

static void add_tick(struct scale *s, double value, const char *format, ...) printf_like(3, 4);
static void add_tick(struct scale *s, double value, const char *format, ...)
{
        const double slack = 1e-9 * fabs(s->high - s->low);
        va_list args;

        if (s->n_ticks == PLOT_TICKS || value < s->low - slack || value > s->high + slack)
                return;
        s->ticks[s->n_ticks].value = value;
        va_start(args, format);
        vsnprintf(s->ticks[s->n_ticks].label, sizeof(s->ticks[0].label), format, args);
        va_end(args);
        s->n_ticks++;
}

/* -- linear ------------------------------------------------------------------------------------------------------- */

/* The least of 1, 2 and 5 times a power of ten of which the span has at most `most`. */
static double nice_step(double span, unsigned most)
{
        double power = pow(10, floor(log10(span / most)));

        for (int i = 0; i < 4; i++) {
                double step = power * (const double[]){1, 2, 5, 10}[i];

                if (span / step <= most * (1 + 1e-9))
                        return step;
        }
        return power * 10;
}

/* Rounds the ends that are not fixed outward to multiples of the step. */
static void round_outward(struct scale *s, const struct plot_axis *axis, double step)
{
        if (isnan(axis->low))
                s->low = floor(s->low / step + 1e-9) * step;
        if (isnan(axis->high))
                s->high = ceil(s->high / step - 1e-9) * step;
}

/* The unit of an axis: one for all of its labels. */
static double unit_of(double largest, const char **ret_suffix)
{
        static const struct {
                double from, unit;
                const char *suffix;
        } units[] = {{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}};

        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
                if (largest >= units[i].from && largest < 1e13) {
                        *ret_suffix = units[i].suffix;
                        return units[i].unit;
                }
        *ret_suffix = "";
        return 1;
}

static void fit_linear(struct scale *s, const struct plot_axis *axis, unsigned most)
{
        double step = fmax(nice_step(s->high - s->low, most), s->kind == PLOT_COUNT ? 1 : 0), unit;
        const char *suffix;
        int decimals;

        round_outward(s, axis, step);
        unit = unit_of(fmax(fabs(s->low), fabs(s->high)), &suffix);
        decimals = (int)fmax(0, -floor(log10(step / unit) + 1e-9)); /* needed by multiples of the step */
        for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + 1e-9 * step; k++) {
                double value = k * step, shown = value / unit + 0.0;

                if (value == 0 && unit > 1)
                        add_tick(s, value, "0");
                else if (fabs(shown) >= 1e6 || (decimals > 6 && value != 0))
                        add_tick(s, value, "%g", value);
                else
                        add_tick(s, value, "%.*f%s", decimals, shown, suffix);
        }
}

/* -- logarithmic -------------------------------------------------------------------------------------------------- */

static void log_label(char label[32], double value)
{
        if (value >= 0.001 && value < 10000)
                snprintf(label, 32, "%.*f", value < 1 ? (int)ceil(-log10(value) - 1e-9) : 0, value);
        else if (value >= 10000 && value < 1e6)
                snprintf(label, 32, "%gk", value / 1000);
        else
                snprintf(label, 32, "%g", value);
}

/* The nearest of 1, 2 and 5 times a power of ten (`decade`: only the powers) not above, or with `up` not below, the value. */
static double round_log(double value, bool up, bool decade)
{
        double power = pow(10, floor(log10(value) + 1e-9)), best = power;

        for (int i = 0; i < 4; i++) {
                double step = power * (const double[]){1, 2, 5, 10}[i];

                if (decade && i % 3 != 0)
                        continue;
                if (up && step >= value * (1 - 1e-9))
                        return step;
                if (!up && step <= value * (1 + 1e-9))
                        best = step;
        }
        return best;
}

/* Labels are at every n-th power of ten, so that there are at most `most`; if three a decade fit, also at 2 and 5 times it. The other digits have ticks
 * without labels, up to four decades. */
static void fit_log(struct scale *s, const struct plot_axis *axis, unsigned most)
{
        bool decade = s->high / s->low > 1e4;
        double decades;
        int every = 1;

        if (isnan(axis->low))
                s->low = round_log(s->low, false, decade);
        if (isnan(axis->high))
                s->high = round_log(s->high, true, decade);
        decades = log10(s->high / s->low);
        while (decades / every > most)
                every++;
        for (int e = (int)floor(log10(s->low) + 1e-9); pow(10, e) <= s->high * (1 + 1e-9); e++) {
                for (int digit = 1; digit < 10; digit++) {
                        bool power = digit == 1, round = digit == 2 || digit == 5;
                        double value = digit * pow(10, e);
                        char label[32] = "";

                        if (value < s->low * (1 - 1e-9) || value > s->high * (1 + 1e-9))
                                continue;
                        if ((power && e % every == 0) || (round && decades * 3 <= most))
                                log_label(label, value);
                        else if (!power && decades > 4)
                                continue;
                        add_tick(s, value, "%s", label);
                }
        }
}

/* -- durations ---------------------------------------------------------------------------------------------------- */

static void duration_label(char label[32], double seconds, double step)
{
        double size = fabs(seconds);

        if (seconds == 0)
                snprintf(label, 32, "0");
        else if (step < 60 && size < 60)
                snprintf(label, 32, "%gs", seconds);
        else if (step < 60)
                snprintf(label, 32, "%dm%02ds", (int)(seconds / 60), (int)fmod(size, 60));
        else if (step < 3600 && size < 3600)
                snprintf(label, 32, "%gm", seconds / 60);
        else if (step < 3600)
                snprintf(label, 32, "%dh%02dm", (int)(seconds / 3600), (int)(fmod(size, 3600) / 60));
        else if (step < 86400)
                snprintf(label, 32, "%gh", seconds / 3600);
        else
                snprintf(label, 32, "%gd", seconds / 86400);
}

/* Only the lower end is rounded: the axis ends at the highest duration. */
static void fit_duration(struct scale *s, const struct plot_axis *axis, unsigned most)
{
        static const double steps[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
        double span = s->high - s->low, step = 0;

        for (size_t i = 0; i < ARRAY_SIZE(steps) && step == 0; i++)
                if (span / steps[i] <= most)
                        step = steps[i];
        if (span / most < 1)
                step = nice_step(span, most);
        else if (step == 0)
                step = 86400 * nice_step(span / 86400, most);
        if (isnan(axis->low))
                s->low = floor(s->low / step) * step;
        for (double k = ceil(s->low / step - 1e-9); k * step <= s->high + 1e-9 * step; k++) {
                char label[32];

                duration_label(label, k * step, step);
                add_tick(s, k * step, "%s", label);
        }
}

/* -- a scale ------------------------------------------------------------------------------------------------------ */

void scale_fit(struct scale *s, const struct plot_axis *axis, double low, double high, unsigned most)
{
        *s = (struct scale){.kind = axis->scale};
        most = MAX(most, 2);
        s->low = isnan(axis->low) ? low : axis->low;
        s->high = isnan(axis->high) ? high : axis->high;
        if (isnan(s->low))
                s->low = s->kind == PLOT_LOG ? 0.1 : 0;
        if (isnan(s->high))
                s->high = s->low + (s->kind == PLOT_LOG ? 9 * s->low : 1);
        if (s->kind == PLOT_LOG) {
                s->high = s->high > 0 ? s->high : 1;
                s->low = s->low > 0 ? s->low : s->high / 10;
        }
        if (!(s->low < s->high)) { /* a single value: add room around it */
                double middle = s->low, room = middle == 0 ? 1 : fabs(middle) / 10;
                bool is_least = middle == 0 && s->kind != PLOT_LINEAR; /* counts and times are not below zero */

                s->low = s->kind == PLOT_LOG ? middle / 2 : is_least ? 0 : middle - room;
                s->high = s->kind == PLOT_LOG ? middle * 2 : middle + room;
        }
        switch (s->kind) {
        case PLOT_LINEAR:
        case PLOT_COUNT:
                fit_linear(s, axis, most);
                break;
        case PLOT_LOG:
                fit_log(s, axis, most);
                break;
        case PLOT_DURATION:
                fit_duration(s, axis, most);
                break;
        }
}

double scale_pixel(const struct scale *s, double value)
{
        double at;

        if (s->kind == PLOT_LOG)
                at = value > 0 ? log(value / s->low) / log(s->high / s->low) : 0;
        else
                at = (value - s->low) / (s->high - s->low);
        if (isinf(value))
                at = value > 0;
        at = fmin(fmax(at, -10), 10); /* clamp far outside: SVG viewers have only floats */
        return s->from + at * (s->to - s->from);
}
