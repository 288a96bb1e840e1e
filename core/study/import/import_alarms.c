/* Alarms of another store. */
#include "core/study/import/import_alarms.h"

#include "core/study/watch/alarm.h"

/* A solver that both stores have. */
struct taking {
        struct store_source *source;
        struct alarm_import *report;
        const struct solver *there, *here;
};

/* True of "" too. */
static bool has_commit(const struct taking *t, const char *sha)
{
        uint32_t commit;
        git_oid oid;

        return !*sha || (git_oid_fromstr(&oid, sha) == 0 && history_number(t->here->history, &oid, &commit) == 0);
}

/* The ids that its cases have here. -ENOENT: one is not here. */
static int renumber(const struct taking *t, struct alarm *a)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < a->n_cases; i++) {
                cleanup(case_info_unrefp) struct case_info *theirs = NULL, *ours = NULL;

                r = cases_get(workspace_cases(t->source->there), a->cases[i].id, &theirs);
                if (r == 0)
                        r = cases_find_digest(workspace_cases(t->source->here), &theirs->sha256, &ours);
                if (r == 0)
                        a->cases[i].id = ours->id;
        }
        return r;
}

/* A mark that only one of the two knows is known to both. */
static int take_mark(const struct taking *t, const struct alarm *theirs, uint32_t theirs_number)
{
        cleanup_alarm struct alarm *ours = NULL;
        int r = theirs->mark == MARK_NONE ? 0 : alarm_get(t->source->here, t->here->number, theirs->number, &ours);

        if (r < 0 || !ours)
                return r;
        if (ours->mark == MARK_NONE)
                return alarm_set_mark(t->source->here, t->here->number, ours->number, theirs->mark, theirs->url);
        if (ours->mark != theirs->mark || strcmp(ours->url, theirs->url) != 0)
                source_say(t->source, "%s alarm %u is %s %s here, and %s %s there, where it is %u: here it stays as it is", t->here->recipe->name,
                           ours->number, finding_mark_name(ours->mark), ours->url, finding_mark_name(theirs->mark), theirs->url, theirs_number);
        return 0;
}

static int leave_out(const struct taking *t, uint32_t number, int r, uint64_t *count)
{
        source_say(t->source, "%s: alarm %u there is left out: %s", t->there->recipe->name, number, r == -ENOENT ? "a case of it is not here" : error_message(r));
        ++*count;
        return 0;
}

static int take_alarm(const struct taking *t, uint32_t number)
{
        cleanup_alarm struct alarm *a = NULL;
        int r = alarm_get(t->source->there, t->there->number, number, &a), is_known;
        const char *dots;

        if (r == -EIO)
                return leave_out(t, number, r, &t->report->damaged);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        dots = strstr(a->commit, "..");
        if (!has_commit(t, dots ? dots + 2 : a->commit) || !has_commit(t, a->before)) {
                t->report->absent++;
                return source_note_missing(t->source, t->there->recipe->name);
        }
        r = renumber(t, a);
        if (r == -ENOENT)
                return leave_out(t, number, r, &t->report->absent);
        a->solver = t->here->number;
        a->told = a->told ? a->told : a->found;
        is_known = r < 0 ? r : alarm_add(t->source->here, a);
        if (is_known < 0)
                return is_known;
        *(is_known ? &t->report->known_alarms : &t->report->alarms) += 1;
        return is_known ? take_mark(t, a, number) : 0;
}

static int take_solver(struct store_source *source, const struct solver *there, struct alarm_import *report)
{
        cleanup(solver_unrefp) struct solver *here = NULL;
        uint32_t n = alarms_last(source->there, there->number);
        int r = n > 0 ? workspace_solver(source->here, there->recipe->name, &here) : 0;

        if (r == -ENOENT) {
                report->absent += n;
                return source_note_missing(source, there->recipe->name);
        }
        for (uint32_t i = 1; r == 0 && i <= n; i++) {
                r = progress_step(source->progress, "import alarms", i - 1, n);
                if (r == 0)
                        r = take_alarm(&(struct taking){.source = source, .report = report, .there = there, .here = here}, i);
        }
        return r;
}

int import_alarms(struct store_source *source, struct alarm_import *ret)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(source->there, &l);

        *ret = (struct alarm_import){0};
        for (size_t i = 0; r == 0 && i < l->n; i++)
                r = take_solver(source, l->list[i], ret);
        return r;
}
