/* Judges what got worse between neighbours: suspects are confirmed by runs in turn, and localized. */
#include "core/study/watch/watching_internal.h"

#include <inttypes.h>
#include <math.h>

#include "core/run/cell_file.h"
#include "core/study/steps/case_history.h"
#include "core/study/steps/history_plan.h"

/* -- suspects ----------------------------------------------------------------------------------------------------- */

static bool is_solved(const struct fact *f)
{
        return verdict_is_decided(f->verdict) && !f->wrong;
}

static bool is_slower(const struct fact *before, const struct fact *after)
{
        struct localize_outcome a = fact_outcome(before, JUDGE_TIME), b = fact_outcome(after, JUDGE_TIME);
        double effort[2] = {fact_effort(before), fact_effort(after)};

        return (history_differs(&a, &b) && b.value > a.value) || effort[1] > HISTORY_RATIO * effort[0]; /* false of NaN */
}

#define LEAST_MEMORY 10e6 /* bytes more */

bool watch_suspects_memory(const struct fact *before, const struct fact *after)
{
        double a = before ? (double)before->memory : 0, b = (double)after->memory;

        return before && is_solved(before) && is_solved(after) && b > HISTORY_RATIO * a && b - a > LEAST_MEMORY;
}

enum observation_kind watch_suspicion(const struct fact *before, const struct fact *after, const struct case_info *info)
{
        if (after->wrong)
                return !before || !before->wrong ? ALARM_WRONG : N_OBSERVATION_KINDS;
        if (!before || !is_solved(before))
                return N_OBSERVATION_KINDS;
        if (!is_solved(after))
                return ALARM_LOST;
        if (before->verdict != after->verdict)
                return info->status == VERDICT_UNKNOWN ? ALARM_CONTRADICTION : N_OBSERVATION_KINDS;
        return is_slower(before, after) ? ALARM_SLOWER : N_OBSERVATION_KINDS;
}

static const struct fact *fact_at(const struct watching *w, size_t place, size_t test)
{
        return place != NO_PLACE && w->places[place].facts ? w->places[place].facts[test] : NULL;
}

static int add_side(struct observation *a, uint32_t case_id, const char *version, const struct fact *f, double value)
{
        if (f && !isfinite(value))
                value = a->kind == ALARM_MEMORY ? (double)f->memory : fact_seconds(f);
        return observation_add_case_runs(a, case_id, version, f ? f->verdict : VERDICT_UNKNOWN, &value, f && isfinite(value));
}

/* Its runs at both places; with other values than theirs, where a culprit has some. */
static int add_case(const struct watching *w, struct observation *a, size_t test, size_t before, size_t after, const struct localized_culprit *culprit)
{
        uint32_t id = w->cases[test]->id;
        int r = add_side(a, id, a->reference, fact_at(w, before, test), culprit ? culprit->value_before : NAN);

        return r < 0 ? r : add_side(a, id, a->target, fact_at(w, after, test), culprit ? culprit->value_after : NAN);
}

/* No version before it is known that is right: an alarm of its case, told once. */
static int alarm_first(struct watching *w, enum observation_kind kind, size_t place, size_t test, const char *detail)
{
        char commit[GIT_OID_HEXSZ + 1];
        struct observation *a;
        int r;

        watching_hex(w, w->places[place].commit, commit);
        a = watching_alarm(w, kind, commit, "", w->places[place].commit);
        if (!a)
                return -ENOMEM;
        r = observation_set(&a->reason, detail);
        return r < 0 ? r : add_case(w, a, test, NO_PLACE, place, NULL);
}

static int add_suspect(struct watching *w, enum observation_kind kind, size_t before, size_t after, size_t test)
{
        if (list_grow(w->suspects, w->n_suspects) < 0)
                return -ENOMEM;
        w->suspects[w->n_suspects++] = (struct suspect){.kind = kind, .before = before, .after = after, .test = test};
        return 0;
}

static int suspect_case(struct watching *w, size_t test)
{
        size_t before = NO_PLACE;
        int r = 0;

        for (size_t i = 0; i < w->n_places && r == 0; i++) {
                const struct fact *f = fact_at(w, i, test);
                enum observation_kind kind = f ? watch_suspicion(fact_at(w, before, test), f, w->cases[test]) : N_OBSERVATION_KINDS;

                if (kind == ALARM_WRONG && before == NO_PLACE)
                        r = alarm_first(w, kind, i, test, "the oldest version that was looked at is wrong already");
                else if (kind != N_OBSERVATION_KINDS)
                        r = add_suspect(w, kind, before, i, test);
                if (r == 0 && f && watch_suspects_memory(fact_at(w, before, test), f))
                        r = add_suspect(w, ALARM_MEMORY, before, i, test);
                before = f ? i : before;
        }
        return r;
}

int watching_suspect(struct watching *w, struct asking *)
{
        int r = 0;

        w->group = NULL;
        for (size_t test = 0; test < w->n_cases && r == 0; test++)
                r = suspect_case(w, test);
        if (r == 0)
                w->group = calloc(w->n_suspects + 1, sizeof(*w->group));
        return r == 0 && !w->group ? -ENOMEM : r;
}

/* -- groups ------------------------------------------------------------------------------------------------------- */

static enum judge_measure measure_of(const struct suspect *s)
{
        return s->kind == ALARM_MEMORY ? JUDGE_MEMORY : JUDGE_TIME;
}

/* By time or memory, not by its answer. */
static bool is_measured(const struct suspect *s)
{
        return alarm_is_growth(s->kind) || s->kind == ALARM_LOST;
}

/* The next suspects that are asked together: those of one measure between the same neighbours, the newest first; an answer by itself. False: none is left. */
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
                        w->group_cases[w->n_group] = w->cases[s->test];
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

static uint32_t commit_before(const struct watching *w)
{
        return w->places[of_group(w, 0)->before].commit;
}

static uint32_t commit_after(const struct watching *w)
{
        return w->places[of_group(w, 0)->after].commit;
}

/* -- confirming --------------------------------------------------------------------------------------------------- */

static int begin_comparing(struct watching *w)
{
        return comparing_new(&(struct comparing_options){.workspace = w->workspace,
                                                         .version = {{w->solver, commit_before(w)}, {w->solver, commit_after(w)}},
                                                         .cases = w->group_cases,
                                                         .n = w->n_group,
                                                         .measure = measure_of(of_group(w, 0)),
                                                         .most_pairs = JUDGE_PAIRS},
                             &w->comparing);
}

static void take_judgements(struct watching *w)
{
        const struct comparing_table *t = comparing_table(w->comparing);
        size_t cleared = 0;

        for (size_t i = 0; i < w->n_group; i++) {
                const struct judged_case *c = &t->judgement.cases[i];
                enum judge_measure m = measure_of(of_group(w, i));
                double ratio = c->by[m].ratio;

                if (c->change == JUDGE_LOST && m == JUDGE_TIME)
                        of_group(w, i)->kind = ALARM_LOST;
                else if (c->change == JUDGE_MORE && (isnan(ratio) || ratio >= HISTORY_RATIO))
                        of_group(w, i)->kind = m == JUDGE_TIME ? ALARM_SLOWER : ALARM_MEMORY;
                else
                        of_group(w, i)->kind = N_OBSERVATION_KINDS;
                cleared += of_group(w, i)->kind == N_OBSERVATION_KINDS;
        }
        if (cleared > 0)
                buffer_addf(&w->notes, "%s %s: %zu %s looked %s at first; runs in turn did not show it\n", w->solver->recipe->name, w->branch,
                            cleared, cleared == 1 ? "case" : "cases", t->options->measure == JUDGE_MEMORY ? "larger" : "slower or lost");
}

int watching_confirm(struct watching *w, struct asking *ret)
{
        int r = 0;

        while (r == 0) {
                if (!w->comparing && !next_group(w, true))
                        break;
                if (!w->comparing)
                        r = begin_comparing(w);
                if (r == 0)
                        r = comparing_next(w->comparing, ret);
                if (r == 0) {
                        take_judgements(w);
                        finish_group(w);
                        comparing_free(steal_pointer(w->comparing));
                }
        }
        for (size_t i = 0; i < w->n_suspects && r == 0; i++)
                w->suspects[i].done = false;
        return r;
}

/* -- localizing --------------------------------------------------------------------------------------------------- */

static enum verdict verdict_at(const struct watching *w, size_t place, size_t test)
{
        const struct fact *f = fact_at(w, place, test);

        return f ? f->verdict : VERDICT_UNKNOWN;
}

static int begin_localization(struct watching *w)
{
        const struct suspect *s = of_group(w, 0);
        struct localization_options o = {.workspace = w->workspace,
                                         .solver = w->solver,
                                         .reference = commit_before(w),
                                         .target = commit_after(w),
                                         .cases = w->group_cases,
                                         .n = w->n_group,
                                         .measure = measure_of(s),
                                         .by_verdict = !is_measured(s),
                                         .before = verdict_at(w, s->before, s->test),
                                         .after = verdict_at(w, s->after, s->test)};

        if (o.by_verdict && o.before == o.after)
                return errorf(-EINVAL, "its last answers are the same");
        return localization_new(&o, &w->localization);
}

static void note_suspect(struct watching *w, const struct suspect *s, const char *why)
{
        char before[GIT_OID_HEXSZ + 1], after[GIT_OID_HEXSZ + 1];

        watching_hex(w, w->places[s->before].commit, before);
        watching_hex(w, w->places[s->after].commit, after);
        buffer_addf(&w->notes,
                    "%s: case %" PRIu32
                    " is %s at %.12s, compared with %.12s, and no commit between them was found responsible: %s\n",
                    w->solver->recipe->name, w->cases[s->test]->id, observation_kind_name(s->kind), after, before, why);
}

/* "toy 1a2b3c4d5e6f says unsat on case 3 (a.smt2), whose status is sat", and what else there is to say. */
static int set_detail(struct watching *w, const struct suspect *s, const char *more, struct observation *a)
{
        cleanup_buffer struct buffer line = {0};
        const struct cell cell = {.solver = w->solver, .commit = w->places[s->after].commit, .info = w->cases[s->test]};

        if (s->kind == ALARM_WRONG)
                wrong_line(&cell, fact_at(w, s->after, s->test), &line);
        if (more)
                buffer_addf(&line, "%sno single commit was found responsible: %s", line.size > 0 ? "; " : "", more);
        if (buffer_error(&line) < 0)
                return -ENOMEM;
        return line.size > 0 && !*a->reason ? observation_set(&a->reason, line.data) : 0;
}

/* A wrong answer is told in any case: of one commit, if there is but one between, or of a range. */
static int alarm_unlocalized(struct watching *w, const struct suspect *s, const char *why)
{
        char before[GIT_OID_HEXSZ + 1], after[GIT_OID_HEXSZ + 1], range[2 * GIT_OID_HEXSZ + 3];
        uint32_t last = w->places[s->after].commit;
        struct commit c = {.first_parent = COMMIT_NONE};
        struct observation *a;
        bool is_next;
        int r;

        if (is_measured(s)) {
                note_suspect(w, s, why);
                return 0;
        }
        watching_hex(w, w->places[s->before].commit, before);
        watching_hex(w, last, after);
        history_commit(w->solver->history, last, &c);
        is_next = c.first_parent == w->places[s->before].commit;
        snprintf(range, sizeof(range), "%s%s%s", is_next ? "" : before, is_next ? "" : "..", after);
        a = watching_alarm(w, s->kind, range, before, last);
        if (!a)
                return -ENOMEM;
        r = set_detail(w, s, is_next ? NULL : why, a);
        return r < 0 ? r : add_case(w, a, s->test, s->before, s->after, NULL);
}

struct taking {
        struct watching *watching;
        const struct suspect *suspect;
        size_t n; /* culprits */
};

static int alarm_culprit(void *user, const struct localized_culprit *c)
{
        struct taking *t = user;
        struct watching *w = t->watching;
        const struct suspect *s = t->suspect;
        struct observation *a;

        if (!c->is_verified && is_measured(s))
                return 0;
        t->n++;
        a = watching_alarm(w, s->kind, c->commit, c->before, w->places[s->after].commit);
        if (!a || observation_set(&a->subject, c->subject) < 0 || set_detail(w, s, NULL, a) < 0)
                return -ENOMEM;
        return add_case(w, a, s->test, s->before, s->after, is_measured(s) ? c : NULL);
}

static int take_result(struct watching *w, size_t i)
{
        struct taking t = {.watching = w, .suspect = of_group(w, i)};
        cleanup_localized struct localized *result = localization_result(w->localization, i);
        int r = result ? culprits_each(result, alarm_culprit, &t) : -ENOMEM;

        if (r == 0 && t.n == 0)
                r = alarm_unlocalized(w, t.suspect, localize_state_name(localization_state(w->localization, i)));
        return r;
}

static int take_results(struct watching *w)
{
        int r = 0;

        for (size_t i = 0; i < w->n_group && r == 0; i++)
                r = take_result(w, i);
        if (r == 0)
                r = localization_keep(w->localization);
        finish_group(w);
        localization_free(steal_pointer(w->localization));
        return r;
}

/* Lines that have nothing in common, a range that changes nothing: no fault of the machine's. */
static int give_up_group(struct watching *w, const char *why)
{
        cleanup_free char *copy = strdup(why);
        int r = copy ? 0 : -ENOMEM;

        for (size_t i = 0; i < w->n_group && r == 0; i++)
                r = alarm_unlocalized(w, of_group(w, i), copy);
        finish_group(w);
        return r;
}

int watching_localize(struct watching *w, struct asking *ret)
{
        int r = 0;

        while (r == 0) {
                if (!w->localization && !next_group(w, false))
                        break;
                if (!w->localization)
                        r = begin_localization(w);
                if (r == -EINVAL) {
                        r = give_up_group(w, error_message(r));
                        continue;
                }
                if (r == 0)
                        r = localization_next(w->localization, ret);
                if (r == 0)
                        r = take_results(w);
        }
        return r;
}

/* -- contradictions with what others say -------------------------------------------------------------------------- */

static bool has_suspect(const struct watching *w, size_t test)
{
        for (size_t i = 0; i < w->n_suspects; i++)
                if (w->suspects[i].test == test && w->suspects[i].kind == ALARM_CONTRADICTION)
                        return true;
        return false;
}

static int dispute_case(struct watching *w, size_t test)
{
        cleanup_buffer struct buffer line = {0};
        size_t newest = NO_PLACE;
        int r;

        for (size_t i = 0; i < w->n_places; i++)
                if (fact_at(w, i, test))
                        newest = i;
        if (newest == NO_PLACE || !verdict_is_decided(verdict_at(w, newest, test)) || has_suspect(w, test))
                return 0;
        r = dispute_find(w->workspace, w->cases[test]->id, &line);
        return r <= 0 ? r : alarm_first(w, ALARM_CONTRADICTION, newest, test, line.data);
}

int watching_dispute(struct watching *w, struct asking *)
{
        int r = 0;

        for (size_t test = 0; test < w->n_cases && r == 0; test++)
                if (w->cases[test]->status == VERDICT_UNKNOWN)
                        r = dispute_case(w, test);
        return r;
}
