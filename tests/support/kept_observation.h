/* A finding and an alarm, each the first of its solver. */
#pragma once

#include "core/study/observation/observation.h"
#include "tests/support/test.h"

/* A slowdown that the campaign "old" found; runs of 0.5 s and 0.5 s against 11 s and 3 s. */
static inline void put_finding(struct workspace *w, uint32_t solver, uint32_t case_id, const char *reference, const char *target)
{
        cleanup_observation struct observation *f = observation_new();

        f->kind = FINDING_SLOWDOWN;
        f->mark = MARK_CONFIRMED;
        f->solver = solver;
        f->case_id = case_id;
        f->timeout = 20;
        f->threshold = 10;
        f->is_cpu_time = true;
        set_string(&f->origin, "old");
        set_string(&f->reference, reference);
        set_string(&f->target, target);
        observation_add_runs(f, reference, VERDICT_SAT, (const double[]){0.5, 0.5}, 2);
        observation_add_runs(f, target, VERDICT_SAT, (const double[]){11, 3}, 2);
        ck_assert_int_eq(observation_add(w, f), 0);
}

/* A wrong answer on one case, and on the next one where nothing older is known. */
static inline void put_alarm(struct workspace *w, uint32_t solver, uint32_t case_id, const char *before, const char *commit)
{
        cleanup_observation struct observation *a = observation_new();

        a->kind = ALARM_WRONG;
        a->mark = MARK_REPORTED;
        a->solver = solver;
        a->found = 1700000000;
        a->changed = 1700000002;
        set_string(&a->origin, "main");
        set_string(&a->reference, before);
        set_string(&a->target, commit);
        set_string(&a->subject, "what was done");
        set_string(&a->reason, "says unsat");
        set_string(&a->url, "http://x/1");
        observation_add_case_runs(a, case_id, before, VERDICT_SAT, (const double[]){0.25}, 1);
        observation_add_case_runs(a, case_id, commit, VERDICT_UNSAT, (const double[]){0.5}, 1);
        observation_add_case_runs(a, case_id + 1, before, VERDICT_UNKNOWN, NULL, 0);
        observation_add_case_runs(a, case_id + 1, commit, VERDICT_UNSAT, (const double[]){0.5}, 1);
        ck_assert_int_eq(observation_add(w, a), 0);
}
