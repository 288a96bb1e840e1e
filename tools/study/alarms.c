#include "alarms.h"

#include <math.h>

#include "core/study/steps/case_history.h"
#include "tools/words.h"

void alarm_words(const struct observation *a, struct alarm_words *ret)
{
        static const struct observed_runs none[2] = {{.verdict = VERDICT_UNKNOWN}, {.verdict = VERDICT_UNKNOWN}};
        const struct observed_runs *c = alarm_case(a, 0) ?: none;

        snprintf(ret->number, sizeof(ret->number), "%" PRIu32, a->number);
        snprintf(ret->n_cases, sizeof(ret->n_cases), "%zu", a->n_runs / 2);
        snprintf(ret->id, sizeof(ret->id), "%" PRIu32, a->case_id);
        if (c == none)
                strcpy(ret->id, "-");
        alarm_print_side(a, &c[0], &ret->before);
        alarm_print_side(a, &c[1], &ret->after);
        alarm_print_factor(a, c, &ret->factor);
}

void alarm_words_done(struct alarm_words *w)
{
        buffer_done(&w->before);
        buffer_done(&w->after);
        buffer_done(&w->factor);
}

static json_t *side_json(const struct observation *a, const struct observed_runs *side)
{
        bool is_known = side->verdict != VERDICT_UNKNOWN || side->n > 0;

        return json_pack("{ss? so}", "result", is_known ? verdict_name(side->verdict) : NULL, a->kind == ALARM_MEMORY ? "memory" : "seconds",
                         side->n > 0 ? json_real(side->seconds[0]) : json_null());
}

static json_t *cases_json(const struct observation *a)
{
        json_t *list = json_array();
        const struct observed_runs *c;

        for (size_t i = 0; (c = alarm_case(a, i)); i++) {
                double factor = alarm_is_growth(a->kind) ? alarm_factor(c) : NAN;

                json_array_append_new(list, json_pack("{sI so so so}", "case", (json_int_t)c->case_id, "before", side_json(a, &c[0]), "after",
                                                      side_json(a, &c[1]), "factor", json_number(factor)));
        }
        return list;
}

void alarm_show(const struct observation *a)
{
        static const struct column columns[] = {{"N", 4, true, .key = "number"}, {"KIND", 13},       {"COMMIT", 12},         {"CASE", 6, true},
                                                {"CASES", 6, true},              {"BEFORE", 10, true, 1}, {"AFTER", 10, true, 1}, {"FACTOR", 7, true},
                                                {"FOUND", 20, false, 3},         {"MARK", 9, false, 2}, {"SUBJECT"},          {0}};
        cleanup_alarm_words struct alarm_words w = {0};
        cleanup_buffer struct buffer reproduce = {0};
        const char *mark = observation_mark_name(a->mark);
        char found[32];

        alarm_words(a, &w);
        alarm_print_reproduce(common.solver, a, &reproduce);
        format_date(a->found, found);
        output_object(columns, json_pack("{si ss ss so ss ss ss so ss ss ss sb ss ss* so ss ss ss ss ss}", "number", (int)a->number, "kind",
                                         observation_kind_name(a->kind), "solver", common.solver->recipe->name, "branch", json_printable(a->origin),
                                         "commit", a->target, "parent", a->reference, "subject", a->subject, "cases", cases_json(a), "found", found,
                                         "reproduce", reproduce.data, "detail", common.json ? a->reason : "", "told", (int)(a->told != 0), "mark", mark,
                                         ".mark", *mark ? NULL : "-", "url", json_printable(a->url), ".case", w.id, ".cases", w.n_cases, ".before",
                                         w.before.data, ".after", w.after.data,
                                         ".factor", w.factor.data));
}
