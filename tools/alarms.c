#include "alarms.h"

#include <inttypes.h>
#include <math.h>

#include "core/study/steps/case_history.h"

static json_t *side_json(const struct alarm_side *s)
{
        bool is_known = s->verdict != VERDICT_UNKNOWN || isfinite(s->seconds);

        return json_pack("{so so}", "result", is_known ? json_string(verdict_name(s->verdict)) : json_null(), "seconds",
                         isfinite(s->seconds) ? json_real(s->seconds) : json_null());
}

static json_t *cases_json(const struct alarm *a)
{
        json_t *list = json_array();

        for (size_t i = 0; i < a->n_cases; i++) {
                double factor = a->kind == ALARM_SLOWER ? alarm_factor(&a->cases[i]) : NAN;

                json_array_append_new(list, json_pack("{sI so so so}", "case", (json_int_t)a->cases[i].id, "before",
                                                      side_json(&a->cases[i].before), "after", side_json(&a->cases[i].after),
                                                      "factor", isfinite(factor) ? json_real(factor) : json_null()));
        }
        return list;
}

static int show_json(const struct solver *s, const struct alarm *a)
{
        cleanup_buffer struct buffer reproduce = {0}, branch = {0}, url = {0};
        char found[32];

        alarm_print_reproduce(s, a, &reproduce);
        buffer_add_printable(&branch, a->branch);
        buffer_add_printable(&url, a->url);
        if (buffer_error(&reproduce) < 0 || buffer_error(&branch) < 0 || buffer_error(&url) < 0)
                return -ENOMEM;
        format_date(a->found, found);
        output_json(json_pack("{si ss ss ss ss ss ss so ss ss ss sb ss ss}", "number", (int)a->number, "kind",
                              alarm_kind_name(a->kind), "solver", s->recipe->name, "branch", branch.data ? branch.data : "",
                              "commit", a->commit, "parent", a->before, "subject", a->subject, "cases", cases_json(a), "found",
                              found, "reproduce", reproduce.data, "detail", a->detail, "told", (int)(a->told != 0), "mark",
                              finding_mark_name(a->mark), "url", url.data ? url.data : ""));
        return 0;
}

int alarm_show(struct workspace *, const struct solver *s, const struct alarm *a, bool json)
{
        static const struct column columns[] = {{"N", 4, true},      {"KIND", 13, false},  {"COMMIT", 40, false},
                                                {"CASE", 6, true},   {"CASES", 6, true},   {"BEFORE", 10, true},
                                                {"AFTER", 10, true}, {"FACTOR", 7, true},  {"FOUND", 20, false},
                                                {"MARK", 9, false},  {"SUBJECT", 0, false}};
        cleanup_buffer struct buffer before = {0}, after = {0}, factor = {0};
        const struct alarm_case *c = a->n_cases > 0 ? &a->cases[0] : NULL;
        char number[16], id[16] = "-", n_cases[24], found[32];

        if (json)
                return show_json(s, a);
        if (c) {
                alarm_print_side(a, &c->before, &before);
                alarm_print_side(a, &c->after, &after);
                alarm_print_factor(a, c, &factor);
                snprintf(id, sizeof(id), "%" PRIu32, c->id);
        }
        if (buffer_error(&before) < 0 || buffer_error(&after) < 0 || buffer_error(&factor) < 0)
                return -ENOMEM;
        snprintf(number, sizeof(number), "%" PRIu32, a->number);
        snprintf(n_cases, sizeof(n_cases), "%zu", a->n_cases);
        format_date(a->found, found);
        output_row(columns, ARRAY_SIZE(columns),
                   (const char *[]){number, alarm_kind_name(a->kind), a->commit, id, n_cases, c ? before.data : "-",
                                    c ? after.data : "-", c ? factor.data : "-", found,
                                    *finding_mark_name(a->mark) ? finding_mark_name(a->mark) : "-", a->subject});
        return 0;
}
