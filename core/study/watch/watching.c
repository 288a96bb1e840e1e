/* The stages of a watching: measuring the new commits and bisecting builds here, judging what was measured in watching_judge.c. */
#include "core/study/watch/watching_internal.h"

#include "core/study/steps/history_plan.h"

void watching_free(struct watching *w)
{
        if (!w)
                return;
        for (size_t i = 0; i < w->n_points; i++) {
                for (size_t case_index = 0; w->points[i].facts && case_index < w->n_cases; case_index++)
                        fact_unref(w->points[i].facts[case_index]);
                free(w->points[i].facts);
                free(w->points[i].reason);
        }
        for (size_t i = 0; i < w->n_cases; i++)
                case_info_unref(w->cases[i]);
        for (size_t i = 0; i < w->result.n_alarms; i++)
                observation_unref(w->result.alarms[i]);
        comparing_free(w->comparing);
        localization_free(w->localization);
        solver_unref(w->solver);
        buffer_done(&w->result.notes);
        free(w->branch);
        free(w->cases);
        free(w->points);
        free(w->wants);
        free(w->boundaries);
        free(w->suspects);
        free(w->group);
        free(w->group_cases);
        free(w->result.alarms);
        free(w);
}

struct watching *watching_new(struct workspace *workspace, struct solver *s, const struct watched_stretch *stretch, struct case_info *const *cases,
                              size_t n_cases)
{
        struct watching *w = allocate(1, sizeof(*w));

        w->workspace = workspace;
        w->solver = solver_ref(s);
        w->branch = copy_string(stretch->branch);
        w->result.base = COMMIT_NONE;
        w->n_known = stretch->n_known;
        w->n_points = stretch->n_known + stretch->n_fresh;
        w->points = allocate(w->n_points, sizeof(*w->points));
        for (size_t i = 0; i < w->n_points; i++)
                w->points[i].commit = i < stretch->n_known ? stretch->known[i] : stretch->fresh[i - stretch->n_known];
        w->n_cases = n_cases;
        w->cases = allocate(n_cases, sizeof(*w->cases));
        w->group_cases = allocate(n_cases, sizeof(*w->group_cases));
        for (size_t i = 0; i < n_cases; i++)
                w->cases[i] = case_info_ref(cases[i]);
        return w;
}

struct observation *watching_alarm(struct watching *w, enum observation_kind kind, const char *commit, const char *before, uint32_t subject_of)
{
        cleanup_buffer struct buffer subject = {0};
        struct observation *a;

        for (size_t i = 0; i < w->result.n_alarms; i++)
                if (w->result.alarms[i]->kind == kind && *before && strcmp(w->result.alarms[i]->target, commit) == 0 &&
                    strcmp(w->result.alarms[i]->reference, before) == 0)
                        return w->result.alarms[i];
        a = *list_add(w->result.alarms, w->result.n_alarms, observation_new());
        history_subject(w->solver->history, subject_of, &subject);
        set_string(&a->target, commit);
        set_string(&a->reference, before);
        set_string(&a->origin, w->branch);
        set_string(&a->subject, subject.data ? subject.data : "");
        a->solver = w->solver->number;
        a->kind = kind;
        a->found = a->changed = now_seconds();
        return a;
}

/* -- measuring ---------------------------------------------------------------------------------------------------- */

static void want_point(struct watching *w, size_t point)
{
        w->points[point].facts = allocate(w->n_cases, sizeof(*w->points[point].facts));
        for (size_t case_index = 0; case_index < w->n_cases; case_index++)
                list_add(w->wants, w->n_wants, (struct want){.point = point, .case_index = case_index});
}

static int make_run(void *user, size_t i, struct query **ret)
{
        struct watching *w = user;
        const struct want *want = &w->wants[i];

        return query_run(w->workspace,
                         &(struct cell){.solver = w->solver, .commit = w->points[want->point].commit, .info = w->cases[want->case_index]}, ret);
}

/* A commit whose sources are lost (e.g. its submodule's commit) is passed over, with a note, so that it does not hold up those after it; but not the
 * newest one, whose sources may come at the next turn. */
static bool pass_over(struct watching *w, size_t point, int r, const char *reason)
{
        if (r != -ESTALE || point == w->n_points - 1)
                return false;
        if (point != NO_POINT && w->points[point].state == POINT_OPEN) {
                w->points[point].state = POINT_LOST;
                buffer_addf(&w->result.notes, "%s %.12s is passed over: %s\n", w->solver->recipe->name,
                            full_sha(w->solver, w->points[point].commit).s, reason ? reason : "its sources are lost");
        }
        return true;
}

/* Returns r, with a sentence that names the commit. */
static int fail_at(const struct watching *w, uint32_t commit, int r, const char *reason)
{
        return errorf(r, "%s %.12s: %s", w->solver->recipe->name, full_sha(w->solver, commit).s, reason ? reason : strerror(-r));
}

static void set_built(struct point *p, bool ok, const struct build_record *build)
{
        p->state = ok ? POINT_BUILT : POINT_UNBUILDABLE;
        if (!ok && !p->reason && build && build->reason)
                p->reason = copy_string(build->reason);
}

static int answered_run(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct watching *w = user;
        const struct run_value *run = (const struct run_value *)v;
        struct point *p = &w->points[w->wants[i].point];

        if (r < 0)
                return pass_over(w, w->wants[i].point, r, reason) ? 0 : fail_at(w, p->commit, r, reason);
        p->facts[w->wants[i].case_index] = run->fact ? fact_ref(run->fact) : NULL;
        set_built(p, run->fact, run->build);
        return 0;
}

/* The newest commit, then the commits measured before, then the others of the grid: all cases on a commit, one commit after the other. */
static int measure(struct watching *w, struct batch *ret)
{
        size_t n_fresh = w->n_points - w->n_known, n = 0;
        cleanup_free size_t *grid = NULL;

        w->has_begun = !w->has_begun;
        if (!w->has_begun) /* all is answered */
                return 0;
        history_grid(n_fresh, history_step(n_fresh, WATCH_COMMITS), &grid, &n);
        for (size_t i = 0; i < n; i++) {
                want_point(w, w->n_known + grid[i]);
                for (size_t known = w->n_known; i == 0 && known > 0; known--)
                        want_point(w, known - 1);
        }
        *ret = (struct batch){.n = w->n_wants, .make = make_run, .answered = answered_run, .user = w};
        return 1;
}

/* -- builds ------------------------------------------------------------------------------------------------------- */

/* A boundary is at a fresh commit that does not build, behind one that builds, or at the first point of all. Open and lost points are passed over. */
static void find_boundaries(struct watching *w)
{
        size_t before = NO_POINT;

        for (size_t i = 0; i < w->n_points; i++) {
                if (w->points[i].state == POINT_OPEN || w->points[i].state == POINT_LOST)
                        continue;
                if (w->points[i].state == POINT_UNBUILDABLE && i >= w->n_known &&
                    (before == NO_POINT ? i == 0 : w->points[before].state == POINT_BUILT)) {
                        list_add(w->boundaries, w->n_boundaries, (struct boundary){.good = before, .bad = i, .parent = COMMIT_NONE});
                }
                before = i;
        }
}

/* Asks for the most informative build at boundary i: the middle between good and bad, unless its build is known; then, if they are neighbours, the parent
 * of the bad one. A lost point counts as bad. */
static int narrow(struct watching *w, size_t i)
{
        struct boundary *b = &w->boundaries[i];
        struct commit c;
        int r;

        while (b->good != NO_POINT && b->bad - b->good > 1) {
                size_t middle = b->good + (b->bad - b->good) / 2;

                if (w->points[middle].state == POINT_OPEN) {
                        list_add(w->wants, w->n_wants, (struct want){.point = middle, .boundary = i});
                        return 0;
                }
                *(w->points[middle].state == POINT_BUILT ? &b->good : &b->bad) = middle;
        }
        if (b->is_narrow)
                return 0;
        b->is_narrow = true;
        r = history_commit(w->solver->history, w->points[b->bad].commit, &c);
        if (r < 0)
                return r;
        b->parent_builds = b->good != NO_POINT && c.first_parent == w->points[b->good].commit;
        b->parent = c.first_parent;
        if (!b->parent_builds && c.first_parent != COMMIT_NONE)
                list_add(w->wants, w->n_wants, (struct want){.point = NO_POINT, .boundary = i});
        return 0;
}

/* The commit to be built: of a point, or the parent at a boundary. */
static uint32_t wanted_commit(const struct watching *w, const struct want *want)
{
        return want->point == NO_POINT ? w->boundaries[want->boundary].parent : w->points[want->point].commit;
}

static int make_build(void *user, size_t i, struct query **ret)
{
        struct watching *w = user;

        return query_build(w->workspace, w->solver, wanted_commit(w, &w->wants[i]), ret);
}

static int answered_build(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct watching *w = user;
        const struct build_record *record = r == 0 ? ((const struct build_value *)v)->record : NULL;
        const struct want *want = &w->wants[i];

        if (r < 0)
                return pass_over(w, want->point, r, reason) ? 0 : fail_at(w, wanted_commit(w, want), r, reason);
        if (want->point == NO_POINT)
                w->boundaries[want->boundary].parent_builds = record->ok;
        else
                set_built(&w->points[want->point], record->ok, record);
        return 0;
}

/* An alarm for a commit that cannot be built though its parent can; else a note. */
static void alarm_unbuildable(struct watching *w, const struct boundary *b)
{
        cleanup_buffer struct buffer reason = {0};
        const struct point *p = &w->points[b->bad];
        const struct commit_sha commit = full_sha(w->solver, p->commit);
        struct observation *a;

        if (p->state == POINT_LOST)
                return;
        if (!b->parent_builds) {
                buffer_addf(&w->result.notes, "%s %.12s cannot be built, nor can its parent: no alarm\n", w->solver->recipe->name, commit.s);
                return;
        }
        a = watching_alarm(w, ALARM_UNBUILDABLE, commit.s, full_sha(w->solver, b->parent).s, p->commit);
        buffer_add_printable(&reason, p->reason ? p->reason : "no reason is known");
        set_string(&a->reason, reason.data);
}

/* Narrows all boundaries at once, build by build; then makes their alarms, and sets the result's base. */
static int find_unbuildable(struct watching *w, struct batch *ret)
{
        int r = 0;

        if (!w->has_begun)
                find_boundaries(w);
        w->has_begun = true;
        w->n_wants = 0;
        for (size_t i = 0; i < w->n_boundaries && r == 0; i++)
                r = narrow(w, i);
        if (r == 0 && w->n_wants > 0) {
                *ret = (struct batch){.n = w->n_wants, .make = make_build, .answered = answered_build, .user = w};
                return 1;
        }
        w->has_begun = false;
        if (r < 0)
                return r;
        for (size_t i = 0; i < w->n_points; i++)
                if (w->points[i].state == POINT_BUILT && w->points[i].facts) /* narrow() builds others, without results to compare with */
                        w->result.base = w->points[i].commit;
        for (size_t i = 0; i < w->n_boundaries; i++) {
                if (w->boundaries[i].parent_builds && w->result.base == COMMIT_NONE)
                        w->result.base = w->boundaries[i].parent;
                alarm_unbuildable(w, &w->boundaries[i]);
        }
        return 0;
}

static int (*const stages[])(struct watching *w, struct batch *ret) = {
        measure, find_unbuildable, watching_suspect, watching_confirm, watching_localize, watching_dispute,
};

int watching_next(struct watching *w, struct batch *ret)
{
        for (; w->stage < ARRAY_SIZE(stages); w->stage++) {
                int r = stages[w->stage](w, ret);

                if (r != 0)
                        return r;
        }
        return 0;
}

const struct watching_result *watching_result(const struct watching *w)
{
        return &w->result;
}

