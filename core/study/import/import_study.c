/* Findings and alarms of another store. */
#include "core/study/import/import_internal.h"

#include "core/run/host.h"
#include "core/study/observation/culprits.h"
#include "core/study/observation/finding.h"

bool importing_has_version(const struct importing *t, const char *version)
{
        uint32_t commit;

        return !*version || !version_begins_with_sha(version) || version_commit(t->here, version, &commit) == 0;
}

/* The id here of a case there; 0 stays 0. */
static int import_input(const struct importing *t, uint32_t theirs, uint32_t *ret)
{
        struct cases *here = workspace_cases(t->source->here), *there = workspace_cases(t->source->there);
        cleanup(case_info_unrefp) struct case_info *info = NULL, *ours = NULL;
        cleanup_blob struct blob text = {0};
        int r;

        *ret = 0;
        if (theirs == 0)
                return 0;
        r = cases_get(there, theirs, &info);
        if (r < 0)
                return r;
        r = cases_find_same(here, info, &ours);
        if (r == -ENOENT) {
                r = cases_read_bytes(there, info, CASE_SIZE_MAX, &text)
                    ?: cases_add_unlisted(here, info->name, SLICE(text.data, text.size), ret)
                    ?: cases_find_same(here, info, &ours);
        }
        if (r == 0)
                *ret = ours->id;
        return r;
}

/* -- localizations, reductions, counts -- */

/* Imports the localization under its key there, with the case's id here and the machine of its times. The key has the recipe: where the solver has another
 * recipe here, the localization shows under the one there. */
static int import_localized(struct importing *t, const struct observation *theirs, const struct observation *ours, const char *machine)
{
        cleanup(query_unrefp) struct query *there = NULL, *here = NULL;
        cleanup_localized struct localized *value = NULL, *known = NULL;
        bool has_same_key;
        int r;

        if (!finding_is_localizable(t->there, theirs))
                return 0;
        r = finding_query_localized(t->source->there, t->there, theirs, &there);
        if (r < 0)
                return r;
        has_same_key = finding_query_localized(t->source->here, t->here, ours, &here) == 0 && digest_equal(&there->key, &here->key);
        if (!has_same_key && !t->has_other_recipe)
                source_say(t->source, "%s has another recipe here than there: what is localized and reduced of its findings there shows under that recipe",
                           t->here->recipe->name);
        t->has_other_recipe |= !has_same_key;
        r = localized_get(t->source->there, t->there, &there->key, &value);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        r = localized_get(t->source->here, t->here, &there->key, &known);
        if (r == 0 && (localized_is_final(known) || !localized_is_final(value)))
                return 0;
        if (r < 0 && r != -ENOENT)
                return r;
        value->case_id = ours->case_id;
        if (*machine && strcmp(machine, host_machine()) != 0)
                set_string(&value->machine, machine);
        return localized_put(t->source->here, t->here, &there->key, value);
}

/* A reduction that has ended is not replaced. */
static bool is_ended(struct slice bytes)
{
        cleanup_reduction struct reduction r = {0};

        return reduction_decode(bytes, &r) == 0 && r.has_ended;
}

static int import_reduced(const struct importing *t, const struct observation *theirs)
{
        cleanup(query_unrefp) struct query *there = NULL;
        cleanup_blob struct blob value = {0}, known = {0};
        struct slice key;
        int r = finding_query_reduced(t->source->there, t->there, theirs, 1, 0, &there);

        if (r < 0)
                return r == -EINVAL ? 0 : r; /* there is nothing to reduce */
        key = SLICE(there->key.bytes, DIGEST_SIZE);
        r = store_fetch(workspace_store(t->source->there), TABLE_REDUCED, key, &value);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        r = store_fetch(workspace_store(t->source->here), TABLE_REDUCED, key, &known);
        if (r == 0 && (is_ended(SLICE(known.data, known.size)) || !is_ended(SLICE(value.data, value.size))))
                return 0;
        return r < 0 && r != -ENOENT ? r : store_set(workspace_store(t->source->here), TABLE_REDUCED, key, SLICE(value.data, value.size));
}

/* Imports how many inputs the finding represents in each campaign. Such a number only grows. */
static int import_counts(const struct importing *t, const struct observation *theirs, const struct observation *ours)
{
        cleanup_free struct campaign_count *there = NULL, *here = NULL;
        size_t n, n_here = 0;
        int r = finding_counts(t->source->there, t->there->number, theirs->number, &there, &n)
            ?: finding_counts(t->source->here, t->here->number, ours->number, &here, &n_here);

        for (size_t i = 0; r == 0 && i < n; i++) {
                const struct imported_campaign *campaign = importing_find_campaign(t, there[i].campaign);
                const char *name = campaign ? campaign->here : there[i].campaign;
                uint64_t known = 0;

                for (size_t k = 0; k < n_here; k++)
                        if (strcmp(here[k].campaign, name) == 0)
                                known = here[k].n;
                if (known < there[i].n)
                        r = finding_put_counts(t->source->here, t->here->number, name,
                                               &(struct finding_count){.number = ours->number, .n = there[i].n}, 1);
        }
        return r;
}

/* -- a finding, an alarm -- */

/* Imports a mark that is only set there. Another mark here stays. */
static int import_mark(const struct importing *t, const struct observation *theirs, uint32_t number)
{
        enum observation_series series = observation_series(theirs);
        cleanup_observation struct observation *ours = NULL;
        int r = theirs->mark == MARK_NONE ? 0 : observation_get(t->source->here, series, t->here->number, number, &ours);

        if (r < 0 || !ours)
                return r;
        if (ours->mark == MARK_NONE)
                return observation_set_mark(t->source->here, series, t->here->number, number, theirs->mark, theirs->url);
        if (ours->mark != theirs->mark || strcmp(ours->url, theirs->url) != 0)
                source_say(t->source, "%s %s%s%u is %s %s here, and %s %s there, where it is %u: here it stays as it is", t->here->recipe->name,
                           series == OF_WATCHES ? "alarm" : observation_folder(ours->kind), series == OF_WATCHES ? " " : "/", number,
                           observation_mark_name(ours->mark), ours->url, observation_mark_name(theirs->mark), theirs->url, theirs->number);
        return 0;
}

/* Makes the observation as it will be here, without its number. `campaign`: its campaign; NULL: of an alarm, or not there. An alarm counts as told. */
static int translate(const struct importing *t, enum observation_series series, const struct imported_campaign *campaign, uint32_t number,
                     const char *machine, struct observation **ret)
{
        cleanup_observation struct observation *o = NULL;
        int r = observation_get(t->source->there, series, t->there->number, number, &o)
            ?: import_input(t, o->case_id, &o->case_id)
            ?: import_input(t, o->seed_id, &o->seed_id)
            ?: import_input(t, o->decided_id, &o->decided_id);

        for (size_t i = 0; r == 0 && series == OF_WATCHES && i < o->n_runs; i++)
                r = import_input(t, o->runs[i].case_id, &o->runs[i].case_id);
        if (r < 0)
                return r;
        if (campaign)
                set_string(&o->origin, campaign->here);
        o->solver = t->here->number;
        o->number = 0;
        o->machine = *machine ? machine : NULL;
        if (series == OF_WATCHES && o->told == 0)
                o->told = o->found;
        *ret = steal_pointer(o);
        return 0;
}

/* Leaves out an observation that cannot be read there, with its input, and goes on. The case of an alarm may be gone. */
static int leave_out(struct importing *t, enum observation_series series, uint32_t number, int r)
{
        if (r != -ENOENT && r != -EIO && r != -EBADMSG && r != -EILSEQ)
                return r;
        source_say(t->source, "%s: %s %u there is left out: %s", t->there->recipe->name, series == OF_WATCHES ? "alarm" : "finding", number,
                   error_message(r));
        *(series == OF_WATCHES && r == -ENOENT ? &t->report->absent : &t->report->damaged) += 1;
        return 0;
}

static int import_one(struct importing *t, enum observation_series series, uint32_t number)
{
        cleanup_observation struct observation *theirs = NULL, *ours = NULL;
        const struct imported_campaign *campaign;
        char machine[PATH_SIZE] = "";
        const char *dots;
        int r = observation_get(t->source->there, series, t->there->number, number, &theirs), is_known;

        if (r < 0)
                return leave_out(t, series, number, r);
        dots = series == OF_WATCHES ? strstr(theirs->target, "..") : NULL; /* a range: its last commit must be here */
        if (!importing_has_version(t, theirs->reference) || !importing_has_version(t, dots ? dots + 2 : theirs->target)) {
                t->report->absent++;
                source_note_missing(t->source, t->there->recipe->name);
                return 0;
        }
        campaign = series == OF_CAMPAIGNS ? importing_find_campaign(t, theirs->origin) : NULL;
        if (series == OF_CAMPAIGNS && finding_machine(t->source->there, t->there->recipe->name, theirs, machine) < 0)
                *machine = '\0';
        r = translate(t, series, campaign, number, machine, &ours);
        if (r < 0)
                return leave_out(t, series, number, r);
        is_known = observation_add(t->source->here, ours);
        if (is_known < 0)
                return is_known;
        if (series == OF_WATCHES)
                *(is_known ? &t->report->known_alarms : &t->report->alarms) += 1;
        else
                *(is_known ? &t->report->known_findings : &t->report->findings) += 1;
        if (is_known)
                r = import_mark(t, theirs, ours->number);
        if (r < 0 || series == OF_WATCHES)
                return r;
        t->numbers[number] = ours->number;
        r = import_counts(t, theirs, ours) ?: import_localized(t, theirs, ours, machine);
        return r < 0 ? r : import_reduced(t, theirs);
}

static int import_series(struct importing *t, enum observation_series series)
{
        uint32_t n;
        int r = observations_last(t->source->there, series, t->there->number, &n);

        if (r < 0)
                return r;
        if (series == OF_CAMPAIGNS) {
                t->numbers = allocate((size_t)n + 1, sizeof(*t->numbers));
                t->n_numbers = n;
        }
        for (uint32_t number = 1; r == 0 && number <= n; number++) {
                r = progress_step(t->source->progress, series == OF_WATCHES ? "import alarms" : "import findings", number - 1, n)
                    ?: import_one(t, series, number);
        }
        return r;
}

/* -- classes of commits that were set by hand -- */

static int import_class(const struct importing *t, const struct culprit *theirs, const struct culprits *all)
{
        const struct culprit *ours = NULL;
        struct commit c;
        uint32_t commit;
        int r = history_commit(t->there->history, theirs->commit, &c)
            ?: history_number(t->here->history, &c.oid, &commit);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        for (size_t i = 0; i < all->n; i++)
                if (all->list[i].commit == commit)
                        ours = &all->list[i];
        if (!ours) /* the localization shows under another recipe */
                return 0;
        if ((theirs->is_class_set && ours->is_class_set && theirs->class != ours->class) ||
            (theirs->is_intent_set && ours->is_intent_set && theirs->intent != ours->intent))
                source_say(t->source, "%s %.12s is classed %s, %s here, and %s, %s there: what was set here stays as it is", t->here->recipe->name,
                           oid_text(&c.oid), culprit_class_name(ours->class), culprit_intent_name(ours->intent),
                           culprit_class_name(theirs->class), culprit_intent_name(theirs->intent));
        return culprit_set(t->source->here, t->here, commit, theirs->is_class_set && !ours->is_class_set ? &theirs->class : NULL,
                           theirs->is_intent_set && !ours->is_intent_set ? &theirs->intent : NULL);
}

static void importing_done(struct importing *t)
{
        for (size_t i = 0; i < t->n_campaigns; i++)
                imported_campaign_done(&t->campaigns[i]);
        free(t->campaigns);
        free(t->numbers);
        solver_unref(t->here);
}

/* Counts the observations and campaigns of a solver that is not here. */
static int pass_over(struct importing *t)
{
        uint32_t findings = 0, alarms = 0;
        char **names = NULL;
        size_t n = 0;
        int r = campaign_names(t->source->there, t->there->number, &names, &n)
            ?: observations_last(t->source->there, OF_CAMPAIGNS, t->there->number, &findings)
            ?: observations_last(t->source->there, OF_WATCHES, t->there->number, &alarms);

        strings_free(names);
        n += (size_t)findings + alarms;
        t->report->absent += n;
        if (r == 0 && n > 0)
                source_note_missing(t->source, t->there->recipe->name);
        return r;
}

static int import_solver(struct store_source *source, struct solver *theirs, struct study_import *report)
{
        cleanup(importing_done) struct importing t = {.source = source, .report = report, .there = theirs};
        cleanup_culprits struct culprits classes_there = {0}, classes_here = {0};
        int r = workspace_solver(source->here, theirs->recipe->name, &t.here);

        if (r == -ENOENT)
                return pass_over(&t);
        if (r == 0)
                r = importing_read_campaigns(&t)
                    ?: import_series(&t, OF_CAMPAIGNS)
                    ?: culprits_read(source->there, theirs, &classes_there)
                    ?: culprits_read(source->here, t.here, &classes_here);
        for (size_t i = 0; r == 0 && i < classes_there.n; i++)
                if (classes_there.list[i].is_class_set || classes_there.list[i].is_intent_set)
                        r = import_class(&t, &classes_there.list[i], &classes_here);
        if (r == 0)
                r = importing_copy_campaigns(&t);
        return r ?: import_series(&t, OF_WATCHES);
}

int import_study(struct store_source *source, struct study_import *ret)
{
        cleanup(solver_list_unrefp) struct solver_list *l = NULL;
        int r = workspace_solvers(source->there, &l);

        *ret = (struct study_import){0};
        for (size_t i = 0; r == 0 && i < l->n; i++)
                r = import_solver(source, l->list[i], ret);
        return r;
}
