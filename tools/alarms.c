#include "alarms.h"

#include <inttypes.h>
#include <math.h>

#include "core/study/steps/case_history.h"

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

        return json_pack("{so so}", "result", is_known ? json_string(verdict_name(side->verdict)) : json_null(), a->kind == ALARM_MEMORY ? "memory" : "seconds",
                         side->n > 0 ? json_real(side->seconds[0]) : json_null());
}

static json_t *cases_json(const struct observation *a)
{
        json_t *list = json_array();
        const struct observed_runs *c;

        for (size_t i = 0; (c = alarm_case(a, i)); i++) {
                double factor = alarm_is_growth(a->kind) ? alarm_factor(c) : NAN;

                json_array_append_new(list, json_pack("{sI so so so}", "case", (json_int_t)c->case_id, "before", side_json(a, &c[0]), "after",
                                                      side_json(a, &c[1]), "factor", isfinite(factor) ? json_real(factor) : json_null()));
        }
        return list;
}

static void show_json(const struct observation *a)
{
        cleanup_buffer struct buffer reproduce = {0}, branch = {0}, url = {0};
        char found[32];

        alarm_print_reproduce(common.solver, a, &reproduce);
        buffer_add_printable(&branch, a->origin);
        buffer_add_printable(&url, a->url);
        format_date(a->found, found);
        output_json(json_pack("{si ss ss ss ss ss ss so ss ss ss sb ss ss}", "number", (int)a->number, "kind",
                              observation_kind_name(a->kind), "solver", common.solver->recipe->name, "branch", branch.data ? branch.data : "",
                              "commit", a->target, "parent", a->reference, "subject", a->subject, "cases", cases_json(a), "found",
                              found, "reproduce", reproduce.data, "detail", a->reason, "told", (int)(a->told != 0), "mark",
                              observation_mark_name(a->mark), "url", url.data ? url.data : ""));
}

void alarm_show(const struct observation *a)
{
        static const struct column columns[] = {{"N", 4, true},      {"KIND", 13, false},  {"COMMIT", 12, false},
                                                {"CASE", 6, true},          {"CASES", 6, true},  {"BEFORE", 10, true, 1},
                                                {"AFTER", 10, true, 1}, {"FACTOR", 7, true}, {"FOUND", 20, false, 3},
                                                {"MARK", 9, false, 2},  {"SUBJECT", 0, false}};
        cleanup_alarm_words struct alarm_words w = {0};
        char found[32];

        if (common.json) {
                show_json(a);
                return;
        }
        alarm_words(a, &w);
        format_date(a->found, found);
        output_rowf(columns, ARRAY_SIZE(columns), "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", w.number, observation_kind_name(a->kind), a->target, w.id,
                    w.n_cases, w.before.data, w.after.data, w.factor.data, found,
                    *observation_mark_name(a->mark) ? observation_mark_name(a->mark) : "-", a->subject);
}
