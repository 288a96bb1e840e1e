#include "tests/support/test.h"

#include <math.h>
#include <pthread.h>

#include "core/report/plot.h"

static const char *drawn(const struct plot *p)
{
        static struct buffer out;

        buffer_done(&out);
        plot_write(p, &out);
        return out.data;
}

static unsigned count(const char *text, const char *what)
{
        unsigned n = 0;

        for (; (text = strstr(text, what)); text++)
                n++;
        return n;
}

#define assert_has(text, what)   ck_assert_msg(strstr((text), (what)) != NULL, "no %s in the picture", (what))
#define assert_lacks(text, what) ck_assert_msg(strstr((text), (what)) == NULL, "%s in the picture", (what))

START_TEST(test_text_is_escaped_text)
{
        cleanup_plot struct plot *p = plot_new("a < b & \"c\"", 0, 0);
        struct plot_series *s;
        const char *svg;

        plot_axis_x(p, "x > 0", PLOT_LINEAR);
        s = plot_series(p, PLOT_SCATTER, "<script>alert(1)</script>");
        plot_point(s, 1, 2, "tip </title> & \x01 \xff end");
        plot_note(p, "note: \xef\xbf\xbe");
        svg = drawn(p);
        assert_has(svg, "<text x=\"12\" y=\"23\" class=\"h\">a &lt; b &amp; &quot;c&quot;</text>");
        assert_has(svg, "&lt;script&gt;");
        assert_lacks(svg, "<script");
        assert_has(svg, "<title>tip &lt;/title&gt; &amp; \xef\xbf\xbd \xef\xbf\xbd end</title>");
        assert_has(svg, "note: \xef\xbf\xbd");
        ck_assert_uint_eq(count(svg, "<svg"), count(svg, "</svg>"));
}
END_TEST

/* A label that finds room on neither side is left out. */
START_TEST(test_labels)
{
        cleanup_plot struct plot *p = plot_new("t", 0, 0);
        struct plot_series *s = plot_series(p, PLOT_SCATTER, "cases");
        const char *svg;

        for (int i = 0; i < 3; i++) {
                plot_point(s, 5, 5, NULL);
                plot_label(s, i == 0 ? "first & only" : i == 1 ? "second" : "third");
        }
        plot_point(s, 0, 0, NULL);
        plot_point(s, 10, 10, NULL);
        plot_label(s, "at the edge");
        svg = drawn(p);
        ck_assert_uint_eq(count(svg, ">first &amp; only</text>"), 1);
        ck_assert_uint_eq(count(svg, ">second</text>"), 1);
        ck_assert_uint_eq(count(svg, ">third</text>"), 0);
        assert_has(svg, "text-anchor=\"end\">at the edge</text>");
}
END_TEST

START_TEST(test_no_ids_no_script_dark_mode)
{
        cleanup_plot struct plot *p = plot_new("t", 0, 0);
        const char *svg = drawn(p);

        assert_lacks(svg, " id=");
        assert_lacks(svg, "<script");
        assert_has(svg, "prefers-color-scheme:dark");
        assert_has(svg, "viewBox=\"0 0 720 400\"");
}
END_TEST

START_TEST(test_linear_ticks)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_LINE, NULL);
        const char *svg;

        plot_point(s, 0, -0.3, NULL);
        plot_point(s, 97, 0.9, NULL);
        svg = drawn(p);
        assert_has(svg, ">-0.4</text>");
        assert_has(svg, ">0.0</text>");
        assert_lacks(svg, ">-0.0</text>");
        assert_has(svg, ">1.0</text>");
        assert_has(svg, ">100</text>");
        plot_point(s, 3e6, 50000, NULL);
        svg = drawn(p);
        assert_has(svg, ">50k</text>");
        assert_has(svg, ">3.0M</text>");
}
END_TEST

START_TEST(test_ticks_of_an_axis_have_one_unit)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_SCATTER, NULL);
        const char *svg;

        plot_point(s, 13750, 0, NULL);
        plot_point(s, 14450, 10000, NULL);
        svg = drawn(p);
        assert_has(svg, ">13.9k</text>"); /* x */
        assert_has(svg, ">14.0k</text>");
        assert_lacks(svg, ">14k</text>");
        assert_has(svg, ">2k</text>"); /* y */
        assert_has(svg, ">10k</text>");
        assert_lacks(svg, ">2000</text>");
}
END_TEST

/* A cross has no area; drawn as thin as an outline it nearly disappears in a greyscale print. */
START_TEST(test_crosses_are_drawn_by_a_wider_line)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);

        assert_has(drawn(p), ".sfs-plot .c5 .p,.sfs-plot .c6 .p{stroke-width:1.8}");
}
END_TEST

START_TEST(test_ticks_of_counts_are_whole)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_STEP, NULL);
        const char *svg;

        plot_axis_x(p, NULL, PLOT_COUNT);
        plot_axis_y(p, NULL, PLOT_COUNT);
        plot_point(s, 0, 0, NULL);
        assert_lacks(drawn(p), ">-1</text>"); /* nothing yet: from 0 to 1 */
        assert_has(drawn(p), ">1</text>");
        plot_point(s, 2, 1, NULL);
        svg = drawn(p);
        assert_has(svg, ">0</text>");
        assert_has(svg, ">1</text>");
        assert_has(svg, ">2</text>");
        assert_lacks(svg, ".5</text>");
        plot_point(s, 90, 1, NULL);
        assert_has(drawn(p), ">20</text>");
}
END_TEST

START_TEST(test_log_ticks)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_SCATTER, NULL);
        const char *svg;

        plot_axis_x(p, NULL, PLOT_LOG);
        plot_axis_y(p, NULL, PLOT_LOG);
        plot_point(s, 0.003, 1.5, NULL);
        plot_point(s, 900, 4, NULL);
        plot_point(s, 0, 3, NULL); /* no part in the range, and drawn at the edge */
        svg = drawn(p);
        assert_has(svg, ">0.001</text>");
        assert_has(svg, ">0.01</text>");
        assert_has(svg, ">1000</text>");
        assert_lacks(svg, ">0.0001</text>");
        assert_has(svg, ">2</text>");
        assert_has(svg, ">5</text>");
        assert_lacks(svg, "nan");
        assert_lacks(svg, "inf");
}
END_TEST

START_TEST(test_durations)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_STEP, NULL);
        const char *svg;

        plot_axis_x(p, NULL, PLOT_DURATION);
        plot_axis_y(p, NULL, PLOT_DURATION);
        assert_lacks(drawn(p), ">-");
        assert_has(drawn(p), ">1s</text>");
        plot_point(s, 600, 0.25, NULL);
        plot_point(s, 43200, 40, NULL);
        svg = drawn(p);
        assert_has(svg, ">12h</text>");
        assert_has(svg, ">6h</text>");
        assert_has(svg, ">20s</text>");
}
END_TEST

START_TEST(test_nan_breaks_a_line)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_LINE, NULL);
        const char *svg, *path;
        cleanup_free char *text = NULL;

        plot_point(s, 1, 1, NULL);
        plot_point(s, 2, 2, NULL);
        plot_point(s, 3, NAN, NULL);
        plot_point(s, 4, 4, NULL);
        plot_point(s, 5, INFINITY, NULL);
        svg = drawn(p);
        path = strstr(svg, "class=\"s\"");
        ck_assert_ptr_nonnull(path);
        path = strstr(path, "d=\"");
        text = strndup(path, (size_t)(strchr(path + 3, '"') - path));
        ck_assert_uint_eq(count(text, "M"), 2);
        assert_lacks(svg, "nan");
        assert_lacks(svg, "inf");
}
END_TEST

START_TEST(test_rules_and_diagonals)
{
        cleanup_plot struct plot *p = plot_new(NULL, 400, 400);
        struct plot_series *s = plot_series(p, PLOT_SCATTER, NULL);
        const char *svg;

        plot_axis_x(p, "reference", PLOT_LOG);
        plot_axis_y(p, "target", PLOT_LOG);
        plot_point(s, 0.1, 20, NULL);
        plot_point(s, 10, 0.1, NULL);
        plot_rule_x(p, 1, "1a2b3c4d", "1a2b3c4d: makes things slow");
        plot_rule_y(p, 20, "limit", NULL);
        plot_diagonal(p, 1, "equal");
        svg = drawn(p);
        assert_has(svg, "<title>1a2b3c4d: makes things slow</title>");
        assert_has(svg, ">limit</text>");
        assert_has(svg, ">equal</text>");
        ck_assert_uint_eq(count(svg, "class=\"r\""), 3);
}
END_TEST

/* Points on the limit reach the right border: the label stands where there are none. */
START_TEST(test_labels_avoid_points)
{
        cleanup_plot struct plot *p = plot_new(NULL, 400, 400);
        struct plot_series *s = plot_series(p, PLOT_SCATTER, NULL);
        const char *svg, *label;
        double x, first = INFINITY;

        for (unsigned i = 0; i <= 50; i++)
                plot_point(s, 50 + i, 20, "on the limit");
        plot_point(s, 0, 1, NULL);
        plot_rule_y(p, 20, "limit", NULL);
        svg = drawn(p);
        label = strstr(svg, " class=\"m n\" text-anchor=\"end\">limit<");
        ck_assert_ptr_nonnull(label);
        while (label > svg && strncmp(label, "<text x=", 8) != 0)
                label--;
        ck_assert_int_eq(sscanf(label, "<text x=\"%lf\"", &x), 1);
        for (const char *at = svg; (at = strstr(at, "<path class=\"p\" d=\"M")); at++) {
                double left;

                ck_assert_int_eq(sscanf(at, "<path class=\"p\" d=\"M%lf", &left), 1);
                if (strncmp(strchr(at, '>'), "><title>on the limit", 19) == 0)
                        first = fmin(first, left);
        }
        ck_assert_msg(x < first, "the label ends at %g, and the points begin at %g", x, first);
}
END_TEST

/* Of two rules with nearly one place neither label covers the other, nor the other's line. */
START_TEST(test_labels_avoid_each_other)
{
        cleanup_plot struct plot *p = plot_new(NULL, 400, 400);
        struct plot_series *s = plot_series(p, PLOT_LINE, NULL);
        const char *svg;

        plot_point(s, 0, 0, NULL);
        plot_point(s, 100, 0, NULL);
        plot_rule_x(p, 50, "first label", NULL);
        plot_rule_x(p, 51, "second label", NULL);
        plot_rule_y(p, 100, "level", NULL);
        svg = drawn(p);
        assert_has(svg, "text-anchor=\"end\">first label<"); /* away from the second line */
        assert_has(svg, "class=\"m n\">second label<");
}
END_TEST

/* Versions and cases are told apart by how their names begin and end. */
START_TEST(test_long_texts_lose_their_middle)
{
        static const char name[] = "a-solver-of-a-very-long-name \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 <and-its-branch>";
        cleanup_plot struct plot *p = plot_new(name, 240, 300);
        const char *svg;

        plot_axis_x(p, name, PLOT_LINEAR);
        plot_axis_y(p, name, PLOT_LINEAR);
        plot_point(plot_series(p, PLOT_LINE, name), 1, 1, NULL);
        plot_note(p, name);
        plot_note(p, "a short one");
        svg = drawn(p);
        for (const char *at = svg; (at = strstr(at, "<text ")); at++) {
                const char *text = strchr(at, '>') + 1;

                ck_assert_msg(strcspn(text, "<") < 60, "%.200s runs out of the picture", at);
        }
        ck_assert_uint_eq(count(svg, "\xe2\x80\xa6"), 5);
        ck_assert_uint_eq(count(svg, ">a-solver"), 5 + 1 + 5); /* shown, the title of the picture, tooltips */
        ck_assert_uint_eq(count(svg, "-branch&gt;<title>"), 5);
        assert_has(svg, ">a short one</text>");
}
END_TEST

START_TEST(test_logarithmic_axes_of_a_square_have_the_same_ticks)
{
        cleanup_plot struct plot *p = plot_new("t", 560, 600);

        plot_axis_x(p, "reference", PLOT_LOG);
        plot_axis_y(p, "target", PLOT_LOG);
        plot_range_x(p, 0.01, 32);
        plot_range_y(p, 0.01, 32);
        for (int i = 0; i < 4; i++)
                ck_assert_uint_eq(count(drawn(p), (const char *const[]){">0.02</text>", ">0.5</text>", ">2</text>", ">20</text>"}[i]), 2);
}
END_TEST

START_TEST(test_a_rule_outside_has_no_label)
{
        cleanup_plot struct plot *p = plot_new(NULL, 400, 400);
        const char *svg;

        plot_axis_x(p, NULL, PLOT_LOG);
        plot_axis_y(p, NULL, PLOT_LOG);
        plot_range_x(p, 1, 5);
        plot_range_y(p, 1, 5);
        plot_diagonal(p, 10, "far");
        plot_rule_x(p, 100, "right", NULL);
        plot_rule_y(p, 0.1, "below", NULL);
        plot_rule_y(p, 2, "inside", NULL);
        svg = drawn(p);
        assert_lacks(svg, "far");
        assert_lacks(svg, "right");
        assert_lacks(svg, "below");
        assert_has(svg, ">inside</text>");
}
END_TEST

START_TEST(test_no_line_crosses_a_label)
{
        cleanup_plot struct plot *p = plot_new(NULL, 400, 400);
        const char *svg, *label, *line = NULL;

        for (int i = 0; i < 20; i++)
                plot_rule_x(p, i, "label", "tip");
        svg = drawn(p);
        label = strstr(svg, ">label<");
        for (const char *at = svg; (at = strstr(at, "class=\"r\"")); at++)
                line = at;
        ck_assert_ptr_nonnull(label);
        ck_assert_ptr_nonnull(line);
        ck_assert(line < label);
        ck_assert_uint_eq(count(svg, "<title>tip</title>"), 40);
}
END_TEST

/* A thousand markers show what is below them, ten do not need to. */
START_TEST(test_a_crowd_is_translucent)
{
        cleanup_plot struct plot *p = plot_new(NULL, 0, 0);
        struct plot_series *s = plot_series(p, PLOT_SCATTER, NULL);

        for (int i = 0; i < 10; i++)
                plot_point(s, i, i, NULL);
        assert_lacks(drawn(p), " fill-opacity=");
        for (int i = 10; i < 1000; i++)
                plot_point(s, i, i, NULL);
        assert_has(drawn(p), " fill-opacity=");
}
END_TEST

START_TEST(test_nothing_to_draw)
{
        cleanup_plot struct plot *p = plot_new("empty", 1, 1);

        plot_axis_y(p, "y", PLOT_LOG);
        plot_series(p, PLOT_LINE, "line");
        plot_series(p, PLOT_SCATTER, "points");
        assert_lacks(drawn(p), "nan");
        plot_free(NULL);
}
END_TEST

static void *draw_many(void *unused)
{
        for (int round = 0; round < 50; round++) {
                cleanup_plot struct plot *p = plot_new("t", 0, 0);
                cleanup_buffer struct buffer out = {0};
                struct plot_series *s = plot_series(p, PLOT_LINE, "l");

                plot_axis_x(p, NULL, PLOT_DURATION);
                for (int i = 0; i < 100; i++)
                        plot_point(s, 1e9 + i * 1e6, i, NULL);
                plot_write(p, &out);
        }
        return NULL;
}

START_TEST(test_reentrant)
{
        pthread_t threads[4];
        void *failed;

        for (size_t i = 0; i < 4; i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, draw_many, NULL), 0);
        for (size_t i = 0; i < 4; i++) {
                pthread_join(threads[i], &failed);
                ck_assert_ptr_null(failed);
        }
}
END_TEST

SUITE("plot", test_text_is_escaped_text, test_labels, test_no_ids_no_script_dark_mode, test_linear_ticks, test_ticks_of_an_axis_have_one_unit,
      test_crosses_are_drawn_by_a_wider_line, test_ticks_of_counts_are_whole, test_log_ticks, test_durations, test_nan_breaks_a_line, test_rules_and_diagonals, test_labels_avoid_points,
      test_labels_avoid_each_other, test_long_texts_lose_their_middle, test_logarithmic_axes_of_a_square_have_the_same_ticks,
      test_a_rule_outside_has_no_label, test_no_line_crosses_a_label, test_a_crowd_is_translucent, test_nothing_to_draw, test_reentrant)
