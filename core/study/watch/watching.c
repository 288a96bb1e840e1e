#include "core/study/watch/watching_internal.h"

#include "core/study/steps/history_plan.h"

/* -- life --------------------------------------------------------------------------------------------------------- */

void watching_free(struct watching *w)
{
        if (!w)
                return;
        for (size_t i = 0; w->places && i < w->n_places; i++) {
                for (size_t test = 0; w->places[i].facts && test < w->n_cases; test++)
                        fact_unref(w->places[i].facts[test]);
                free(w->places[i].facts);
                free(w->places[i].reason);
        }
        for (size_t i = 0; w->cases && i < w->n_cases; i++)
                case_info_unref(w->cases[i]);
        for (size_t i = 0; i < w->n_alarms; i++)
                observation_unref(w->alarms[i]);
        comparing_free(w->comparing);
        localization_free(w->localization);
        solver_unref(w->solver);
        buffer_done(&w->notes);
        free(w->branch);
        free(w->cases);
        free(w->places);
        free(w->wants);
        free(w->boundaries);
        free(w->suspects);
        free(w->group);
        free(w->group_cases);
        free(w->alarms);
        free(w);
}

static int add_places(struct watching *w, const struct watch_stretch *s)
{
        w->places = calloc(s->n_known + s->n_fresh + 1, sizeof(*w->places));
        if (!w->places)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_known + s->n_fresh; i++) {
                struct place *p = &w->places[w->n_places++];

                p->commit = i < s->n_known ? s->known[i] : s->fresh[i - s->n_known];
        }
        return 0;
}

int watching_new(const struct watch_stretch *s, struct watching **ret)
{
        cleanup_watching struct watching *w = calloc(1, sizeof(*w));

        if (!w)
                return -ENOMEM;
        w->workspace = s->workspace;
        w->solver = solver_ref(s->solver);
        w->branch = strdup(s->branch);
        w->base = COMMIT_NONE;
        w->n_known = s->n_known;
        w->cases = calloc(s->n_cases + 1, sizeof(*w->cases));
        w->group_cases = calloc(s->n_cases + 1, sizeof(*w->group_cases));
        if (!w->branch || !w->cases || !w->group_cases || add_places(w, s) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_cases; i++)
                w->cases[w->n_cases++] = case_info_ref(s->cases[i]);
        *ret = steal_pointer(w);
        return 0;
}

void watching_hex(const struct watching *w, uint32_t commit, char ret[GIT_OID_HEXSZ + 1])
{
        struct commit c = {0};

        history_commit(w->solver->history, commit, &c);
        git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &c.oid);
}

struct observation *watching_alarm(struct watching *w, enum observation_kind kind, const char *commit, const char *before,
                             uint32_t subject_of)
{
        cleanup_observation struct observation *a = NULL;
        cleanup_buffer struct buffer subject = {0};

        for (size_t i = 0; i < w->n_alarms; i++)
                if (w->alarms[i]->kind == kind && *before && strcmp(w->alarms[i]->target, commit) == 0 &&
                    strcmp(w->alarms[i]->reference, before) == 0)
                        return w->alarms[i];
        if (list_grow(w->alarms, w->n_alarms) < 0)
                return NULL;
        a = observation_new();
        history_subject(w->solver->history, subject_of, &subject);
        if (!a || buffer_error(&subject) < 0 || observation_set(&a->target, commit) < 0 || observation_set(&a->reference, before) < 0 ||
            observation_set(&a->origin, w->branch) < 0 || observation_set(&a->subject, subject.data ? subject.data : "") < 0)
                return NULL;
        a->solver = w->solver->number;
        a->kind = kind;
        a->found = a->changed = now_seconds();
        w->alarms[w->n_alarms++] = a;
        return steal_pointer(a);
}

/* -- measuring ---------------------------------------------------------------------------------------------------- */

static int add_want(struct watching *w, size_t place, size_t test)
{
        if (list_grow(w->wants, w->n_wants) < 0)
                return -ENOMEM;
        w->wants[w->n_wants++] = (struct want){place, test};
        return 0;
}

static int want_place(struct watching *w, size_t place)
{
        int r = 0;

        w->places[place].facts = calloc(w->n_cases + 1, sizeof(*w->places[place].facts));
        if (!w->places[place].facts)
                return -ENOMEM;
        for (size_t test = 0; test < w->n_cases && r == 0; test++)
                r = add_want(w, place, test);
        return r;
}

/* The newest commit, then what was measured before, then the others of the grid: all cases on a commit, one commit after the other. */
static int plan_measuring(struct watching *w)
{
        size_t n_fresh = w->n_places - w->n_known, n = 0;
        cleanup_free size_t *grid = NULL;
        int r = history_grid(n_fresh, history_step(n_fresh, WATCH_COMMITS), &grid, &n);

        for (size_t i = 0; i < n && r == 0; i++) {
                r = want_place(w, w->n_known + grid[i]);
                for (size_t known = w->n_known; i == 0 && known > 0 && r == 0; known--)
                        r = want_place(w, known - 1);
        }
        return r;
}

static int make_run(void *user, size_t i, struct query **ret)
{
        struct watching *w = user;

        return query_run(w->workspace,
                         &(struct cell){.solver = w->solver,
                                        .commit = w->places[w->wants[i].place].commit,
                                        .info = w->cases[w->wants[i].test]},
                         ret);
}

/* A question that could not be asked is no fact about the commit. */
static int fail_at(const struct watching *w, uint32_t commit, int r, const char *reason)
{
        char sha[GIT_OID_HEXSZ + 1];

        watching_hex(w, commit, sha);
        return errorf(r, "%s %.12s: %s", w->solver->recipe->name, sha, reason ? reason : strerror(-r));
}

static int set_built(struct place *p, bool ok, const struct build_record *build)
{
        p->state = ok ? PLACE_BUILT : PLACE_UNBUILDABLE;
        if (ok || p->reason || !build || !build->reason)
                return 0;
        p->reason = strdup(build->reason);
        return p->reason ? 0 : -ENOMEM;
}

static int answered_run(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct watching *w = user;
        const struct run_value *run = (const struct run_value *)v;
        struct place *p = &w->places[w->wants[i].place];

        if (r < 0)
                return fail_at(w, p->commit, r, reason);
        p->facts[w->wants[i].test] = run->fact ? fact_ref(run->fact) : NULL;
        return set_built(p, run->fact, run->build);
}

static int measure(struct watching *w, struct asking *ret)
{
        int r;

        if (w->asked) {
                w->asked = false;
                return 0;
        }
        r = plan_measuring(w);
        if (r < 0)
                return r;
        w->asked = true;
        *ret = (struct asking){.n = w->n_wants, .make = make_run, .answered = answered_run, .user = w};
        return 1;
}

/* -- builds ------------------------------------------------------------------------------------------------------- */

static int add_boundary(struct watching *w, size_t good, size_t bad)
{
        if (list_grow(w->boundaries, w->n_boundaries) < 0)
                return -ENOMEM;
        w->boundaries[w->n_boundaries++] = (struct boundary){.good = good, .bad = bad, .parent = COMMIT_NONE};
        return 0;
}

static int find_boundaries(struct watching *w)
{
        size_t before = NO_PLACE;
        int r = 0;

        for (size_t i = 0; i < w->n_places && r == 0; i++) {
                if (w->places[i].state == PLACE_OPEN)
                        continue;
                if (w->places[i].state == PLACE_UNBUILDABLE && i >= w->n_known &&
                    (before == NO_PLACE ? i == 0 : w->places[before].state == PLACE_BUILT))
                        r = add_boundary(w, before, i);
                before = i;
        }
        return r;
}

/* The commit whose build decides most: the middle of what is open, then the parent of the first that does not build. */
static int narrow(struct watching *w, size_t i)
{
        struct boundary *b = &w->boundaries[i];
        struct commit c;
        int r;

        while (b->good != NO_PLACE && b->bad - b->good > 1) {
                size_t middle = b->good + (b->bad - b->good) / 2;

                if (w->places[middle].state == PLACE_OPEN)
                        return add_want(w, middle, i);
                if (w->places[middle].state == PLACE_BUILT)
                        b->good = middle;
                else
                        b->bad = middle;
        }
        if (b->asked)
                return 0;
        b->asked = true;
        r = history_commit(w->solver->history, w->places[b->bad].commit, &c);
        if (r < 0)
                return r;
        b->is_parent = b->good != NO_PLACE && c.first_parent == w->places[b->good].commit;
        b->parent = c.first_parent;
        return b->is_parent || c.first_parent == COMMIT_NONE ? 0 : add_want(w, NO_PLACE, i);
}

static int make_build(void *user, size_t i, struct query **ret)
{
        struct watching *w = user;
        const struct want *want = &w->wants[i];

        return query_build(w->workspace, w->solver,
                           want->place == NO_PLACE ? w->boundaries[want->test].parent : w->places[want->place].commit, ret);
}

static int answered_build(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct watching *w = user;
        const struct build_value *build = (const struct build_value *)v;
        const struct want *want = &w->wants[i];
        struct boundary *b = &w->boundaries[want->test];

        if (r < 0)
                return fail_at(w, want->place == NO_PLACE ? b->parent : w->places[want->place].commit, r, reason);
        if (want->place == NO_PLACE)
                b->is_parent = build->record->ok;
        else
                return set_built(&w->places[want->place], build->record->ok, build->record);
        return 0;
}

static int alarm_unbuildable(struct watching *w, const struct boundary *b)
{
        char commit[GIT_OID_HEXSZ + 1], before[GIT_OID_HEXSZ + 1];
        cleanup_buffer struct buffer reason = {0};
        const struct place *p = &w->places[b->bad];
        struct observation *a;

        watching_hex(w, p->commit, commit);
        if (!b->is_parent) {
                buffer_addf(&w->notes, "%s %.12s cannot be built, nor can its parent: no alarm\n", w->solver->recipe->name,
                            commit);
                return 0;
        }
        watching_hex(w, b->parent, before);
        a = watching_alarm(w, ALARM_UNBUILDABLE, commit, before, p->commit);
        buffer_add_printable(&reason, p->reason ? p->reason : "no reason is known");
        return !a || buffer_error(&reason) < 0 ? -ENOMEM : observation_set(&a->reason, reason.data);
}

static void find_base(struct watching *w)
{
        for (size_t i = 0; i < w->n_places; i++)
                if (w->places[i].state == PLACE_BUILT)
                        w->base = w->places[i].commit;
        for (size_t i = 0; i < w->n_boundaries && w->base == COMMIT_NONE; i++)
                if (w->boundaries[i].is_parent)
                        w->base = w->boundaries[i].parent;
}

static int find_unbuildable(struct watching *w, struct asking *ret)
{
        int r = 0;

        if (!w->asked)
                r = find_boundaries(w);
        w->asked = true;
        w->n_wants = 0;
        for (size_t i = 0; i < w->n_boundaries && r == 0; i++)
                r = narrow(w, i);
        if (r == 0 && w->n_wants > 0) {
                *ret = (struct asking){.n = w->n_wants, .make = make_build, .answered = answered_build, .user = w};
                return 1;
        }
        for (size_t i = 0; i < w->n_boundaries && r == 0; i++)
                r = alarm_unbuildable(w, &w->boundaries[i]);
        find_base(w);
        w->asked = false;
        return r;
}

/* -- stages ------------------------------------------------------------------------------------------------------- */

static int (*const stages[])(struct watching *w, struct asking *ret) = {
        measure, find_unbuildable, watching_suspect, watching_confirm, watching_localize, watching_dispute,
};

int watching_next(struct watching *w, struct asking *ret)
{
        for (; w->stage < ARRAY_SIZE(stages); w->stage++) {
                int r = stages[w->stage](w, ret);

                if (r != 0)
                        return r;
        }
        return buffer_error(&w->notes);
}

struct observation *const *watching_alarms(const struct watching *w, size_t *ret_n)
{
        *ret_n = w->n_alarms;
        return w->alarms;
}

const char *watching_notes(const struct watching *w)
{
        return w->notes.data ? w->notes.data : "";
}

uint32_t watching_base(const struct watching *w)
{
        return w->base;
}
