/* The last four stages: finds suspects, confirms them by runs in turn, localizes them and makes alarms of them, and finds contradictions with others'
 * answers. Suspects are confirmed and localized in groups. */
#include "core/study/watch/watching_internal.h"

#include <inttypes.h>
#include <math.h>

#include "core/query/cell_answer.h"
#include "core/study/steps/case_history.h"
#include "core/study/steps/history_plan.h"

/* -- suspects ----------------------------------------------------------------------------------------------------- */

static bool is_solved(const struct fact *f)
{
        return verdict_is_decided(f->verdict) && !f->wrong;
}

static bool is_slower(const struct recipe *recipe, const struct fact *before, const struct fact *after)
{
        struct localize_outcome a = run_outcome(before->verdict, before->wrong, fact_seconds(before)),
                                b = run_outcome(after->verdict, after->wrong, fact_seconds(after));
        double effort[2] = {fact_effort(before, recipe), fact_effort(after, recipe)};

        return (history_differs(&a, &b) && b.value > a.value) || effort[1] > HISTORY_RATIO * effort[0]; /* false of NaN */
}

#define LEAST_MEMORY 10e6 /* bytes more */

static bool needs_more_memory(const struct fact *before, const struct fact *after)
{
        double a = before ? (double)before->memory : 0, b = (double)after->memory;

        return before && is_solved(before) && is_solved(after) && b > HISTORY_RATIO * a && b - a > LEAST_MEMORY;
}

enum observation_kind watch_suspicion(const struct recipe *recipe, const struct fact *before, const struct fact *after, const struct case_info *info)
{
        if (after->wrong)
                return !before || !before->wrong ? ALARM_WRONG : N_OBSERVATION_KINDS;
        if (!before || !is_solved(before))
                return N_OBSERVATION_KINDS;
        if (!is_solved(after))
                return ALARM_LOST;
        if (before->verdict != after->verdict)
                return info->status == VERDICT_UNKNOWN && before->uncertain_from == 0 && after->uncertain_from == 0 ? ALARM_CONTRADICTION
                                                                                                                    : N_OBSERVATION_KINDS;
        return is_slower(recipe, before, after) ? ALARM_SLOWER : N_OBSERVATION_KINDS;
}

static const struct fact *fact_at(const struct watching *w, size_t point, size_t case_index)
{
        return point != NO_POINT && w->points[point].facts ? w->points[point].facts[case_index] : NULL;
}

/* Adds the runs at both points, once. `culprit`: the localizer's values, if any, replace theirs; may be NULL. */
static void add_case(const struct watching *w, struct observation *a, size_t case_index, size_t before, size_t after,
                     const struct localized_culprit *culprit)
{
        const struct fact *facts[2] = {fact_at(w, before, case_index), fact_at(w, after, case_index)};

        for (size_t i = 0; alarm_case(a, i); i++)
                if (alarm_case(a, i)->case_id == w->cases[case_index]->id)
                        return; /* its time and its memory were suspected, and one run has a wrong answer */
        for (int side = 0; side < 2; side++) {
                const struct fact *f = facts[side];
                double value = !culprit ? NAN : side == 0 ? culprit->value_before : culprit->value_after;

                if (f && !isfinite(value))
                        value = a->kind == ALARM_MEMORY ? (double)f->memory : fact_seconds(f);
                observation_add_case_runs(a, w->cases[case_index]->id, side == 0 ? a->reference : a->target, f ? f->verdict : VERDICT_UNKNOWN, &value,
                                          f && isfinite(value));
        }
}

/* Makes an alarm without an earlier version known to be right: its cause is the case, so it is reported once (observation_add()). */
static void alarm_of_case(struct watching *w, enum observation_kind kind, size_t point, size_t case_index, const char *detail)
{
        uint32_t commit = w->points[point].commit;
        struct observation *a = watching_alarm(w, kind, full_sha(w->solver, commit).s, "", commit);

        set_string(&a->reason, detail);
        add_case(w, a, case_index, NO_POINT, point, NULL);
}

/* Notes each fresh commit whose program did not begin, once: the first version of a watch has none to lose answers against. */
static void note_not_started(struct watching *w)
{
        for (size_t i = w->n_known; i < w->n_points; i++)
                for (size_t case_index = 0, size = w->result.notes.size; case_index < w->n_cases && w->result.notes.size == size; case_index++) {
                        const struct fact *f = fact_at(w, i, case_index);

                        if (f)
                                not_started_line(w->solver, w->points[i].commit, f, &w->result.notes);
                        if (w->result.notes.size > size)
                                buffer_adds(&w->result.notes, "\n");
                }
}

int watching_suspect(struct watching *w, struct batch *)
{
        note_not_started(w);
        for (size_t case_index = 0; case_index < w->n_cases; case_index++) {
                size_t before = NO_POINT;

                for (size_t i = 0; i < w->n_points; i++) {
                        const struct fact *f = fact_at(w, i, case_index), *f_before = fact_at(w, before, case_index);
                        enum observation_kind kind = f ? watch_suspicion(w->solver->recipe, f_before, f, w->cases[case_index]) : N_OBSERVATION_KINDS;

                        if (kind == ALARM_WRONG && before == NO_POINT)
                                alarm_of_case(w, kind, i, case_index, "the oldest version that was looked at is wrong already");
                        else if (kind != N_OBSERVATION_KINDS)
                                list_add(w->suspects, w->n_suspects,
                                         (struct suspect){.kind = kind, .before = before, .after = i, .case_index = case_index});
                        if (f && needs_more_memory(f_before, f))
                                list_add(w->suspects, w->n_suspects,
                                         (struct suspect){.kind = ALARM_MEMORY, .before = before, .after = i, .case_index = case_index});
                        before = f ? i : before;
                }
        }
        w->group = allocate(w->n_suspects, sizeof(*w->group));
        return 0;
}

/* -- groups ------------------------------------------------------------------------------------------------------- */

static enum judge_measure measure_of(const struct suspect *s)
{
        return s->kind == ALARM_MEMORY ? JUDGE_MEMORY : JUDGE_TIME;
}

/* True for a suspicion of time or memory, not of an answer. */
static bool is_measured(const struct suspect *s)
{
        return alarm_is_growth(s->kind) || s->kind == ALARM_LOST;
}

/* Chooses the next suspects to ask together: those of one measure between the same neighbours, the newest first. A suspect by its answer is a group of its
 * own. False: none is left. */
static bool next_group(struct watching *w, bool measured_only)
{
        const struct suspect *first = NULL;

        w->n_group = 0;
        for (size_t i = 0; i < w->n_suspects; i++) {
                const struct suspect *s = &w->suspects[i];

                if (!s->done && s->kind != N_OBSERVATION_KINDS && (is_measured(s) || !measured_only) &&
                    (!first || s->after > first->after))
                        first = s;
        }
        for (size_t i = 0; first && i < w->n_suspects; i++) {
                const struct suspect *s = &w->suspects[i];
                bool same = s == first || (is_measured(first) && is_measured(s) && measure_of(s) == measure_of(first) && !s->done &&
                                           s->before == first->before && s->after == first->after);

                if (same) {
                        w->group_cases[w->n_group] = w->cases[s->case_index];
                        w->group[w->n_group++] = i;
                }
        }
        return w->n_group > 0;
}

static struct suspect *of_group(const struct watching *w, size_t i)
{
        return &w->suspects[w->group[i]];
}

static void finish_group(struct watching *w)
{
        for (size_t i = 0; i < w->n_group; i++)
                of_group(w, i)->done = true;
}

/* -- confirming --------------------------------------------------------------------------------------------------- */

/* True if the newer version ran out of memory in most pairs. */
static bool has_run_out(const struct judge_case *c)
{
        size_t n = 0;

        for (size_t k = 0; k < c->n_pairs; k++)
                n += judge_pair_is_known(&c->pairs[k]) && judge_verdict(&c->pairs[k], 1) == VERDICT_MEMOUT;
        return 2 * n > c->n_pairs;
}

/* True if the case is suspected of time, too, between the same points. */
static bool has_time_suspect(const struct watching *w, const struct suspect *s)
{
        for (size_t i = 0; i < w->n_suspects; i++) {
                const struct suspect *other = &w->suspects[i];

                if (is_measured(other) && measure_of(other) == JUDGE_TIME && other->before == s->before && other->after == s->after &&
                    other->case_index == s->case_index)
                        return true;
        }
        return false;
}

/* Gives each suspect of the group the kind that the comparison shows, or clears it. */
static void apply_comparison(struct watching *w)
{
        const struct comparing_table *t = comparing_table(w->comparing);
        size_t cleared = 0;

        for (size_t i = 0; i < w->n_group; i++) {
                const struct judged_case *c = &t->judgement.cases[i];
                struct suspect *s = of_group(w, i);
                enum judge_measure m = measure_of(s);
                double ratio = c->by[m].ratio;

                if (c->change == JUDGE_WRONG)
                        s->kind = ALARM_WRONG;
                else if (c->change == JUDGE_CONTRADICTION)
                        s->kind = ALARM_CONTRADICTION;
                else if (c->change == JUDGE_LOST && (m == JUDGE_TIME || has_run_out(&t->cases[i])))
                        s->kind = m == JUDGE_TIME ? ALARM_LOST : ALARM_MEMORY;
                else if (c->change == JUDGE_LOST && !has_time_suspect(w, s))
                        s->kind = ALARM_LOST; /* by time, of which it was not suspected */
                else if (c->change == JUDGE_MORE && (isnan(ratio) || ratio >= HISTORY_RATIO))
                        s->kind = m == JUDGE_TIME ? ALARM_SLOWER : ALARM_MEMORY;
                else if (c->change != JUDGE_RIGHT) /* the older version was wrong in one run, which says nothing of time: the localizer verifies it */
                        s->kind = N_OBSERVATION_KINDS;
                cleared += s->kind == N_OBSERVATION_KINDS;
        }
        if (cleared > 0)
                buffer_addf(&w->result.notes, "%s %s: %zu %s looked %s at first; runs in turn did not show it\n", w->solver->recipe->name, w->branch,
                            cleared, cleared == 1 ? "case" : "cases", t->options->measure == JUDGE_MEMORY ? "larger" : "slower or lost");
}

int watching_confirm(struct watching *w, struct batch *ret)
{
        int r = 0;

        while (r == 0) {
                if (!w->comparing && !next_group(w, true))
                        break;
                if (!w->comparing) {
                        const struct suspect *s = of_group(w, 0);

                        r = comparing_new(
                                &(struct comparing_options){.workspace = w->workspace,
                                                            .version = {{w->solver, w->points[s->before].commit}, {w->solver, w->points[s->after].commit}},
                                                            .cases = w->group_cases,
                                                            .n = w->n_group,
                                                            .measure = measure_of(s),
                                                            .most_pairs = JUDGE_PAIRS},
                                &w->comparing);
                }
                if (r == 0)
                        r = comparing_next(w->comparing, ret);
                if (r == 0) {
                        apply_comparison(w);
                        finish_group(w);
                        comparing_free(steal_pointer(w->comparing));
                }
        }
        for (size_t i = 0; i < w->n_suspects && r == 0; i++)
                w->suspects[i].done = false;
        return r;
}

/* -- localizing --------------------------------------------------------------------------------------------------- */

static enum verdict verdict_at(const struct watching *w, size_t point, size_t case_index)
{
        const struct fact *f = fact_at(w, point, case_index);

        return f ? f->verdict : VERDICT_UNKNOWN;
}

/* True if the runs without a seed show the suspicion by an answer; false if only those under a seed do. */
static bool is_first_answer(const struct watching *w, const struct suspect *s)
{
        return watch_suspicion(w->solver->recipe, fact_at(w, s->before, s->case_index), fact_at(w, s->after, s->case_index),
                               w->cases[s->case_index]) == s->kind;
}

static int begin_localization(struct watching *w)
{
        const struct suspect *s = of_group(w, 0);
        struct localization_options o = {.workspace = w->workspace,
                                         .solver = w->solver,
                                         .reference = w->points[s->before].commit,
                                         .target = w->points[s->after].commit,
                                         .cases = w->group_cases,
                                         .n = w->n_group,
                                         .measure = measure_of(s),
                                         .by_verdict = !is_measured(s),
                                         .before = verdict_at(w, s->before, s->case_index),
                                         .after = verdict_at(w, s->after, s->case_index)};

        if (o.by_verdict && (o.before == o.after || !is_first_answer(w, s)))
                return errorf(-EINVAL, "its first answers do not show it");
        return localization_new(&o, &w->localization);
}

/* The detail: "toy 1a2b3c4d5e6f says unsat on case 3 (a.smt2), whose status is sat", and why no single commit is named (may be NULL). */
static void set_detail(struct watching *w, const struct suspect *s, const char *why, struct observation *a)
{
        cleanup_buffer struct buffer line = {0};
        const struct cell cell = {.solver = w->solver, .commit = w->points[s->after].commit, .info = w->cases[s->case_index]};

        if (!is_measured(s) && !is_first_answer(w, s))
                buffer_addf(&line, "not in the first run; 'solverfs compare %s@%.12s %s@%.12s %" PRIu32 "' shows it", w->solver->recipe->name,
                            full_sha(w->solver, w->points[s->before].commit).s, w->solver->recipe->name, full_sha(w->solver, cell.commit).s,
                            cell.info->id);
        else if (s->kind == ALARM_WRONG)
                wrong_line(&cell, fact_at(w, s->after, s->case_index), &line);
        else if (s->kind == ALARM_LOST)
                not_started_line(w->solver, cell.commit, fact_at(w, s->after, s->case_index), &line);
        if (why)
                buffer_addf(&line, "%sno single commit was found responsible: %s", line.size > 0 ? "; " : "", why);
        if (line.size > 0 && !*a->reason)
                set_string(&a->reason, line.data);
}

/* A wrong answer is an alarm in any case: of one commit, if only one is between, else of a range. A slowdown becomes a note. */
static void alarm_unlocalized(struct watching *w, const struct suspect *s, const char *why)
{
        uint32_t first = w->points[s->before].commit, last = w->points[s->after].commit;
        const struct commit_sha before = full_sha(w->solver, first), after = full_sha(w->solver, last);
        char range[2 * GIT_OID_HEXSZ + 3];
        struct commit c = {.first_parent = COMMIT_NONE};
        struct observation *a;
        bool is_next;

        if (is_measured(s)) {
                buffer_addf(&w->result.notes,
                            "%s: case %" PRIu32 " is %s at %.12s, compared with %.12s, and no commit between them was found responsible: %s\n",
                            w->solver->recipe->name, w->cases[s->case_index]->id, observation_kind_name(s->kind), after.s, before.s, why);
                return;
        }
        history_commit(w->solver->history, last, &c);
        is_next = c.first_parent == first;
        snprintf(range, sizeof(range), "%s%s%s", is_next ? "" : before.s, is_next ? "" : "..", after.s);
        a = watching_alarm(w, s->kind, range, before.s, last);
        set_detail(w, s, is_next ? NULL : why, a);
        add_case(w, a, s->case_index, s->before, s->after, NULL);
}

/* Makes the alarms and notes of the group's localization, and keeps its results. */
static int make_alarms(struct watching *w)
{
        int r;

        for (size_t i = 0; i < w->n_group; i++) {
                const struct suspect *s = of_group(w, i);
                cleanup_localized struct localized *result = localization_result(w->localization, i);
                const struct localized_culprit *c;
                bool is_localized = false;

                for (size_t at = 0; (c = localized_slowdown(result, &at));) {
                        struct observation *a;

                        if (!c->is_verified && is_measured(s))
                                continue;
                        is_localized = true;
                        a = watching_alarm(w, s->kind, c->commit, c->before, w->points[s->after].commit);
                        set_string(&a->subject, c->subject);
                        set_detail(w, s, NULL, a);
                        add_case(w, a, s->case_index, s->before, s->after, is_measured(s) ? c : NULL);
                }
                if (!is_localized)
                        alarm_unlocalized(w, s, localize_state_name(result->state));
        }
        r = localization_keep(w->localization);
        finish_group(w);
        localization_free(steal_pointer(w->localization));
        return r;
}

int watching_localize(struct watching *w, struct batch *ret)
{
        int r = 0;

        while (r == 0) {
                if (!w->localization && !next_group(w, false))
                        break;
                if (!w->localization)
                        r = begin_localization(w);
                if (r == -EINVAL) { /* the lines have nothing in common, or the range changes nothing: no fault of the machine's */
                        cleanup_free char *why = copy_string(error_message(r));

                        for (size_t i = 0; i < w->n_group; i++)
                                alarm_unlocalized(w, of_group(w, i), why);
                        finish_group(w);
                        r = 0;
                        continue;
                }
                if (r == 0)
                        r = localization_next(w->localization, ret) ?: make_alarms(w);
        }
        return r;
}

/* -- contradictions with others' answers -------------------------------------------------------------------------- */

/* Makes an alarm if the newest answer to a case contradicts another solver's, unless the case has a suspect by a contradiction already. */
static int dispute_case(struct watching *w, size_t case_index)
{
        cleanup_buffer struct buffer line = {0};
        size_t newest = NO_POINT;
        int r;

        for (size_t i = 0; i < w->n_suspects; i++)
                if (w->suspects[i].case_index == case_index && w->suspects[i].kind == ALARM_CONTRADICTION)
                        return 0;
        for (size_t i = 0; i < w->n_points; i++)
                if (fact_at(w, i, case_index))
                        newest = i;
        r = dispute_find(w->workspace, w->cases[case_index], fact_at(w, newest, case_index), &line);
        if (r > 0)
                alarm_of_case(w, ALARM_CONTRADICTION, newest, case_index, line.data);
        return MIN(r, 0);
}

int watching_dispute(struct watching *w, struct batch *)
{
        int r = 0;

        for (size_t case_index = 0; case_index < w->n_cases && r == 0; case_index++)
                r = dispute_case(w, case_index);
        return r;
}
