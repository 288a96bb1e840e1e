/* Alarms as people read them: one line, a file, a command to repeat it. */
#include "core/study/watch/alarm.h"

#include <inttypes.h>
#include <math.h>

#include "core/study/steps/case_history.h"

void alarm_print_side(const struct alarm *a, const struct alarm_side *s, struct buffer *ret)
{
        if (a->kind == ALARM_UNBUILDABLE || (s->verdict == VERDICT_UNKNOWN && isnan(s->seconds)))
                buffer_adds(ret, "-");
        else if (a->kind == ALARM_SLOWER)
                buffer_addf(ret, "%.6f", s->seconds);
        else
                buffer_adds(ret, verdict_name(s->verdict));
}

void alarm_print_factor(const struct alarm *a, const struct alarm_case *c, struct buffer *ret)
{
        double factor = a->kind == ALARM_SLOWER ? alarm_factor(c) : NAN;

        if (isnan(factor))
                buffer_adds(ret, "-");
        else
                buffer_addf(ret, factor < 10 ? "%.2f" : "%.1f", factor);
}

/* The last commit of A..B, or the commit. */
static const char *last_commit(const struct alarm *a)
{
        const char *dots = strstr(a->commit, "..");

        return dots ? dots + 2 : a->commit;
}

void alarm_print_reproduce(const struct solver *s, const struct alarm *a, struct buffer *ret)
{
        const char *name = s->recipe->name;

        if (a->kind == ALARM_UNBUILDABLE)
                buffer_addf(ret, "solverfs build --log %s %.12s", name, last_commit(a));
        else if (*a->before && (a->kind == ALARM_SLOWER || a->kind == ALARM_LOST))
                buffer_addf(ret, "solverfs compare %s@%.12s %s@%.12s", name, a->before, name, last_commit(a));
        else if (*a->before)
                buffer_addf(ret, "solverfs run %s %.12s %.12s", name, a->before, last_commit(a));
        else
                buffer_addf(ret, "solverfs run %s %.12s", name, last_commit(a));
        for (size_t i = 0; i < a->n_cases && i < 10; i++)
                buffer_addf(ret, " %" PRIu32, a->cases[i].id);
}

void alarm_print_line(const struct solver *s, const struct alarm *a, struct buffer *ret)
{
        const struct alarm_case *c = a->n_cases > 0 ? &a->cases[0] : NULL;

        buffer_addf(ret, "%s alarm %" PRIu32 ": %s at %.12s%s (%s)", s->recipe->name, a->number, alarm_kind_name(a->kind),
                    last_commit(a), alarm_is_localized(a) || !*a->before ? "" : ", or one of the commits before it", a->subject);
        if (c) {
                buffer_addf(ret, ": case %" PRIu32 " ", c->id);
                alarm_print_side(a, &c->before, ret);
                buffer_adds(ret, a->kind == ALARM_SLOWER ? " s, now " : ", now ");
                alarm_print_side(a, &c->after, ret);
                if (a->kind == ALARM_SLOWER && !isnan(alarm_factor(c))) {
                        buffer_adds(ret, " s, ");
                        alarm_print_factor(a, c, ret);
                        buffer_adds(ret, " times");
                }
        }
        if (a->n_cases > 1)
                buffer_addf(ret, ", and %zu more %s", a->n_cases - 1, a->n_cases == 2 ? "case" : "cases");
        if (*a->detail)
                buffer_addf(ret, ": %s", a->detail);
}

static int add_name(struct workspace *w, uint32_t id, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(w), id, &info);

        if (r == 0)
                buffer_add_printable(ret, info->name);
        else if (r == -ENOENT)
                buffer_adds(ret, "-");
        return r == -ENOENT ? 0 : r;
}

/* A case's columns, separated by `between`, but for its name. */
static void add_columns(const struct alarm *a, const struct alarm_case *c, const char *const between[4], struct buffer *ret)
{
        buffer_addf(ret, "%s%" PRIu32 "%s", between[0], c->id, between[1]);
        alarm_print_side(a, &c->before, ret);
        buffer_adds(ret, between[2]);
        alarm_print_side(a, &c->after, ret);
        buffer_adds(ret, between[3]);
        alarm_print_factor(a, c, ret);
}

static int print_case(struct workspace *w, const struct alarm *a, struct buffer *ret)
{
        int r;

        if (a->n_cases == 0) {
                buffer_adds(ret, "case      -\nbefore    -\nafter     -\nfactor    -\nname      -\n");
                return 0;
        }
        add_columns(a, &a->cases[0], (const char *const[]){"case      ", "\nbefore    ", "\nafter     ", "\nfactor    "}, ret);
        buffer_adds(ret, "\nname      ");
        r = add_name(w, a->cases[0].id, ret);
        buffer_adds(ret, "\n");
        return r;
}

static int print_table(struct workspace *w, const struct alarm *a, struct buffer *ret)
{
        int r = 0;

        buffer_adds(ret, "\ncase\tbefore\tafter\tfactor\tname\n");
        for (size_t i = 0; r == 0 && i < a->n_cases; i++) {
                add_columns(a, &a->cases[i], (const char *const[]){"", "\t", "\t", "\t"}, ret);
                buffer_adds(ret, "\t");
                r = add_name(w, a->cases[i].id, ret);
                buffer_adds(ret, "\n");
        }
        return r;
}

int alarm_print(struct workspace *w, const struct solver *s, const struct alarm *a, struct buffer *ret)
{
        cleanup_buffer struct buffer name = {0};
        char date[32];
        int r;

        buffer_add_printable(&name, a->branch);
        format_date(a->found, date);
        buffer_addf(ret,
                    "number    %" PRIu32 "\nkind      %s\nsolver    %s\nbranch    %s\ncommit    %s\nparent    %s\nsubject   %s\n",
                    a->number, alarm_kind_name(a->kind), s->recipe->name, name.data && *name.data ? name.data : "-", a->commit,
                    *a->before ? a->before : "-", *a->subject ? a->subject : "-");
        r = print_case(w, a, ret);
        buffer_addf(ret, "cases     %zu\nfound     %s\nreproduce ", a->n_cases, date);
        alarm_print_reproduce(s, a, ret);
        if (*a->detail)
                buffer_addf(ret, "\ndetail    %s", a->detail);
        buffer_addf(ret, "\nmark      %s%s%s\n", a->mark != MARK_NONE ? finding_mark_name(a->mark) : "-", *a->url ? " " : "",
                    a->url);
        if (r == 0 && a->n_cases > 1)
                r = print_table(w, a, ret);
        return r < 0 ? r : buffer_error(ret);
}
