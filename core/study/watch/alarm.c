/* Prints alarms for people: one line, a file, a command to repeat it. */
#include "core/study/watch/alarm.h"

#include <inttypes.h>
#include <math.h>

#include "core/study/steps/case_history.h"

void alarm_print_side(const struct observation *a, const struct observed_runs *side, struct buffer *ret)
{
        if (a->kind == ALARM_UNBUILDABLE || (side->verdict == VERDICT_UNKNOWN && side->n == 0))
                buffer_adds(ret, "-");
        else if (alarm_is_growth(a->kind))
                buffer_addf(ret, a->kind == ALARM_MEMORY ? "%.0f" : "%.6f", side->n > 0 ? side->amounts[0] : NAN);
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

void alarm_print_reproduce(const struct solver *s, const struct observation *a, struct buffer *ret)
{
        const char *name = s->recipe->name;

        if (a->kind == ALARM_UNBUILDABLE)
                buffer_addf(ret, "solverfs build --log %s %.12s", name, observation_target(a));
        else if (*a->reference && (alarm_is_growth(a->kind) || a->kind == ALARM_LOST))
                buffer_addf(ret, "solverfs compare %s@%.12s %s@%.12s%s", name, a->reference, name, observation_target(a),
                            a->kind == ALARM_MEMORY ? " --measure memory" : "");
        else if (*a->reference)
                buffer_addf(ret, "solverfs run %s %.12s %.12s", name, a->reference, observation_target(a));
        else
                buffer_addf(ret, "solverfs run %s %.12s", name, observation_target(a));
        for (size_t i = 0; i < 10 && alarm_case(a, i); i++)
                buffer_addf(ret, " %" PRIu32, alarm_case(a, i)->case_id);
}

void alarm_print_line(const struct solver *s, const struct observation *a, struct buffer *ret)
{
        const struct observed_runs *c = alarm_case(a, 0);
        const char *unit = a->kind == ALARM_SLOWER ? " s" : a->kind == ALARM_MEMORY ? " bytes" : "";

        buffer_addf(ret, "%s alarm %" PRIu32 ": %s at %.12s%s (%s)", s->recipe->name, a->number, observation_kind_name(a->kind),
                    observation_target(a), alarm_is_localized(a) || !*a->reference ? "" : ", or one of the commits before it", a->subject);
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

/* Adds the columns of a case, each after its label; "-" in all of them if there is no case. */
static int add_columns(struct workspace *w, const struct observation *a, const struct observed_runs *c, const char *const labels[5], struct buffer *ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        int r = c ? cases_get(workspace_cases(w), c->case_id, &info) : 0;

        for (int i = 0; i < 5; i++) {
                buffer_adds(ret, labels[i]);
                if (!c || (i == 4 && !info))
                        buffer_adds(ret, "-");
                else if (i == 0)
                        buffer_addf(ret, "%" PRIu32, c->case_id);
                else if (i < 3)
                        alarm_print_side(a, &c[i - 1], ret);
                else if (i == 3)
                        alarm_print_factor(a, c, ret);
                else
                        buffer_add_printable(ret, info->name);
        }
        buffer_adds(ret, "\n");
        return r == -ENOENT ? 0 : r;
}

int alarm_print(struct workspace *w, const struct solver *s, const struct observation *a, struct buffer *ret)
{
        static const char *const lines[] = {"case      ", "\nbefore    ", "\nafter     ", "\nfactor    ", "\nname      "};
        static const char *const row[] = {"", "\t", "\t", "\t", "\t"};
        cleanup_buffer struct buffer name = {0};
        int r;

        buffer_add_printable(&name, a->origin);
        buffer_addf(ret,
                    "number    %" PRIu32 "\nkind      %s\nsolver    %s\nbranch    %s\ncommit    %s\nparent    %s\nsubject   %s\n",
                    a->number, observation_kind_name(a->kind), s->recipe->name, name.data && *name.data ? name.data : "-", a->target,
                    *a->reference ? a->reference : "-", *a->subject ? a->subject : "-");
        r = add_columns(w, a, alarm_case(a, 0), lines, ret);
        buffer_addf(ret, "cases     %zu\nfound     %s\nreproduce ", a->n_runs / 2, format_date(a->found).s);
        alarm_print_reproduce(s, a, ret);
        if (*a->reason)
                buffer_addf(ret, "\ndetail    %s", a->reason);
        buffer_addf(ret, "\nmark      %s%s%s\n", a->mark != MARK_NONE ? observation_mark_name(a->mark) : "-", *a->url ? " " : "", a->url);
        if (alarm_case(a, 1))
                buffer_adds(ret, "\ncase\tbefore\tafter\tfactor\tname\n");
        for (size_t i = 0; r == 0 && alarm_case(a, 1) && alarm_case(a, i); i++)
                r = add_columns(w, a, alarm_case(a, i), row, ret);
        return r < 0 ? r : buffer_error(ret);
}
