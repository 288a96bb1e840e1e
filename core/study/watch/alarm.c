/* Alarms as people read them: one line, a file, a command to repeat it. */
#include "core/study/watch/alarm.h"

#include <inttypes.h>
#include <math.h>

#include "core/study/steps/case_history.h"

void alarm_print_side(const struct observation *a, const struct observed_runs *side, struct buffer *ret)
{
        if (a->kind == ALARM_UNBUILDABLE || (side->verdict == VERDICT_UNKNOWN && side->n == 0))
                buffer_adds(ret, "-");
        else if (alarm_is_growth(a->kind))
                buffer_addf(ret, a->kind == ALARM_MEMORY ? "%.0f" : "%.6f", side->n > 0 ? side->seconds[0] : NAN);
        else
                buffer_adds(ret, verdict_name(side->verdict));
}

void alarm_print_factor(const struct observation *a, const struct observed_runs c[2], struct buffer *ret)
{
        double factor = alarm_is_growth(a->kind) ? alarm_factor(c) : NAN;

        if (isnan(factor))
                buffer_adds(ret, "-");
        else
                buffer_addf(ret, factor < 10 ? "%.2f" : "%.1f", factor);
}

/* The last commit of A..B, or the commit. */
static const char *last_commit(const struct observation *a)
{
        const char *dots = strstr(a->target, "..");

        return dots ? dots + 2 : a->target;
}

void alarm_print_reproduce(const struct solver *s, const struct observation *a, struct buffer *ret)
{
        const char *name = s->recipe->name;

        if (a->kind == ALARM_UNBUILDABLE)
                buffer_addf(ret, "solverfs build --log %s %.12s", name, last_commit(a));
        else if (*a->reference && (alarm_is_growth(a->kind) || a->kind == ALARM_LOST))
                buffer_addf(ret, "solverfs compare %s@%.12s %s@%.12s%s", name, a->reference, name, last_commit(a),
                            a->kind == ALARM_MEMORY ? " --measure memory" : "");
        else if (*a->reference)
                buffer_addf(ret, "solverfs run %s %.12s %.12s", name, a->reference, last_commit(a));
        else
                buffer_addf(ret, "solverfs run %s %.12s", name, last_commit(a));
        for (size_t i = 0; i < 10 && alarm_case(a, i); i++)
                buffer_addf(ret, " %" PRIu32, alarm_case(a, i)->case_id);
}

void alarm_print_line(const struct solver *s, const struct observation *a, struct buffer *ret)
{
        const struct observed_runs *c = alarm_case(a, 0);
        const char *unit = a->kind == ALARM_SLOWER ? " s" : a->kind == ALARM_MEMORY ? " bytes" : "";

        buffer_addf(ret, "%s alarm %" PRIu32 ": %s at %.12s%s (%s)", s->recipe->name, a->number, observation_kind_name(a->kind),
                    last_commit(a), alarm_is_localized(a) || !*a->reference ? "" : ", or one of the commits before it", a->subject);
        if (c) {
                buffer_addf(ret, ": case %" PRIu32 " ", c->case_id);
                alarm_print_side(a, &c[0], ret);
                buffer_addf(ret, "%s, now ", unit);
                alarm_print_side(a, &c[1], ret);
                if (alarm_is_growth(a->kind) && !isnan(alarm_factor(c))) {
                        buffer_addf(ret, "%s, ", unit);
                        alarm_print_factor(a, c, ret);
                        buffer_adds(ret, " times");
                }
        }
        if (alarm_case(a, 1))
                buffer_addf(ret, ", and %zu more %s", a->n_runs / 2 - 1, alarm_case(a, 2) ? "cases" : "case");
        if (*a->reason)
                buffer_addf(ret, ": %s", a->reason);
}

static int add_name(struct workspace *w, uint32_t id, struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = cases_get(workspace_cases(w), id, &info);

        if (r < 0 && r != -ENOENT)
                return r;
        buffer_add_printable(ret, info ? info->name : "-");
        return 0;
}

/* A case's columns, separated by `between`, but for its name. */
static void add_columns(const struct observation *a, const struct observed_runs c[2], const char *const between[4], struct buffer *ret)
{
        buffer_addf(ret, "%s%" PRIu32 "%s", between[0], c->case_id, between[1]);
        alarm_print_side(a, &c[0], ret);
        buffer_adds(ret, between[2]);
        alarm_print_side(a, &c[1], ret);
        buffer_adds(ret, between[3]);
        alarm_print_factor(a, c, ret);
}

static int print_case(struct workspace *w, const struct observation *a, struct buffer *ret)
{
        int r;

        if (!alarm_case(a, 0)) {
                buffer_adds(ret, "case      -\nbefore    -\nafter     -\nfactor    -\nname      -\n");
                return 0;
        }
        add_columns(a, alarm_case(a, 0), (const char *const[]){"case      ", "\nbefore    ", "\nafter     ", "\nfactor    "}, ret);
        buffer_adds(ret, "\nname      ");
        r = add_name(w, a->case_id, ret);
        buffer_adds(ret, "\n");
        return r;
}

static int print_table(struct workspace *w, const struct observation *a, struct buffer *ret)
{
        int r = 0;

        buffer_adds(ret, "\ncase\tbefore\tafter\tfactor\tname\n");
        for (size_t i = 0; r == 0 && alarm_case(a, i); i++) {
                add_columns(a, alarm_case(a, i), (const char *const[]){"", "\t", "\t", "\t"}, ret);
                buffer_adds(ret, "\t");
                r = add_name(w, alarm_case(a, i)->case_id, ret);
                buffer_adds(ret, "\n");
        }
        return r;
}

int alarm_print(struct workspace *w, const struct solver *s, const struct observation *a, struct buffer *ret)
{
        cleanup_buffer struct buffer name = {0};
        char date[32];
        int r;

        buffer_add_printable(&name, a->origin);
        format_date(a->found, date);
        buffer_addf(ret,
                    "number    %" PRIu32 "\nkind      %s\nsolver    %s\nbranch    %s\ncommit    %s\nparent    %s\nsubject   %s\n",
                    a->number, observation_kind_name(a->kind), s->recipe->name, name.data && *name.data ? name.data : "-", a->target,
                    *a->reference ? a->reference : "-", *a->subject ? a->subject : "-");
        r = print_case(w, a, ret);
        buffer_addf(ret, "cases     %zu\nfound     %s\nreproduce ", a->n_runs / 2, date);
        alarm_print_reproduce(s, a, ret);
        if (*a->reason)
                buffer_addf(ret, "\ndetail    %s", a->reason);
        buffer_addf(ret, "\nmark      %s%s%s\n", a->mark != MARK_NONE ? observation_mark_name(a->mark) : "-", *a->url ? " " : "",
                    a->url);
        if (r == 0 && alarm_case(a, 1))
                r = print_table(w, a, ret);
        return r < 0 ? r : buffer_error(ret);
}
