/* The part that all hunts share: run a version on it, keep a finding, see that versions contradict each other or crash. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>

static double seconds_of(const struct campaign *c, const struct execute_result *run)
{
        return (double)(c->settings->cpu_time ? run->user_ns + run->system_ns : run->wall_ns) / 1e9;
}

int trial_run_text(struct trial *t, unsigned version, struct slice text, double seconds, struct answer *ret,
                   struct buffer *ret_output)
{
        struct campaign *c = t->seat->campaign;
        struct recipe_limits limits = c->versions[version]->solver->recipe->limits;
        struct run_result result = {0};
        int r;

        limits.cpu_ns = (uint64_t)(seconds * 1e9);
        limits.wall_ns = c->settings->cpu_time ? CPU_PATIENCE * limits.cpu_ns : limits.cpu_ns;
        r = seat_run(t->seat, version, &limits, text, &result);
        if (r < 0)
                return r;
        *ret = (struct answer){.ran = true, .seconds = seconds_of(c, &result.run), .verdict = result.verdict};
        if (ret->verdict == VERDICT_TIMEOUT)
                ret->seconds = seconds;
        ending_describe(&result.run, ret->ending);
        if (ret_output)
                buffer_add(ret_output, result.run.out.data, result.run.out.size);
        run_result_done(&result);
        return ret_output ? buffer_error(ret_output) : 0;
}

int trial_run(struct trial *t, unsigned version, double seconds, struct answer *ret)
{
        struct campaign *c = t->seat->campaign;
        int r = trial_run_text(t, version, t->input->text, seconds, ret, NULL);

        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        c->status.runs++;
        c->status.solving += ret->seconds;
        pthread_mutex_unlock(&c->lock);
        return 0;
}

/* -- keeping -- */

static void name_input(const struct trial *t, char ret[200])
{
        snprintf(ret, 200, "%s-%" PRIu64 ".smt2", t->seat->campaign->settings->name, t->input->id);
}

int trial_find_kept(struct trial *t, enum finding_kind kind, struct finding **ret)
{
        struct campaign *c = t->seat->campaign;
        cleanup_finding struct finding *f = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        char name[200];
        int r = finding_find(c->workspace, c->solver->number, kind, t->input->text, &f);

        if (r == 0)
                r = cases_get(workspace_cases(c->workspace), f->case_id, &info);
        if (r < 0)
                return r;
        name_input(t, name);
        if (strcmp(f->campaign, c->settings->name) != 0 || strcmp(info->name, name) != 0)
                return -ENOENT;
        *ret = steal_pointer(f);
        return 0;
}

int trial_keep(struct trial *t, struct finding *f, const char *what)
{
        struct campaign *c = t->seat->campaign;
        char name[200];
        int r;

        name_input(t, name);
        r = cases_add_unlisted(workspace_cases(c->workspace), name, t->input->text, &f->case_id);
        if (r < 0)
                return r;
        f->solver = c->solver->number;
        f->found = now_seconds();
        f->timeout = c->settings->timeout;
        f->is_cpu_time = c->settings->cpu_time;
        free(f->campaign);
        f->campaign = strdup(c->settings->name);
        r = f->campaign ? finding_add(c->workspace, f) : -ENOMEM;
        if (r < 0)
                return r;
        if (r == 0)
                campaign_say(c, "found %s/%u: %s", finding_folder(f->kind), f->number, what);
        return r;
}

int trial_set_versions(struct finding *f, const struct version *reference, const struct version *target)
{
        free(f->reference);
        free(f->target);
        f->reference = strdup(reference ? reference->text : "");
        f->target = strdup(target->text);
        return f->reference && f->target ? 0 : -ENOMEM;
}

int trial_add_answers(struct trial *t, struct finding *f)
{
        struct campaign *c = t->seat->campaign;
        int r = 0;

        for (size_t v = 0; r == 0 && v < c->n_versions; v++)
                if (t->answers[v].ran)
                        r = finding_add_runs(f, c->versions[v]->text, t->answers[v].verdict, &t->answers[v].seconds, 1);
        return r;
}

/* Notes that something of this signature was recorded; false: it was before. Crashes come by the hundred, and one is enough. */
static bool is_first(struct campaign *c, const char *signature)
{
        cleanup_free char *line = NULL, *all = NULL;
        bool is_new;

        if (asprintf(&line, "\n%s\n", signature) < 0)
                return false;
        pthread_mutex_lock(&c->lock);
        is_new = !c->signatures || !strstr(c->signatures, line);
        if (is_new && asprintf(&all, "%s%s", c->signatures ? c->signatures : "", line) >= 0) {
                free(c->signatures);
                c->signatures = steal_pointer(all);
        }
        pthread_mutex_unlock(&c->lock);
        return is_new;
}

static int note_crash(struct trial *t, unsigned version)
{
        struct campaign *c = t->seat->campaign;
        cleanup_finding struct finding *f = NULL;
        char signature[300], what[400];
        struct answer again;
        int r;

        snprintf(signature, sizeof(signature), "crash %.40s %s", c->versions[version]->text, t->answers[version].ending);
        if (!is_first(c, signature))
                return 0;
        r = trial_run(t, version, c->settings->timeout, &again); /* once more, before it is said of anybody */
        if (r < 0 || again.verdict != VERDICT_CRASH)
                return r;
        f = finding_new();
        if (!f)
                return -ENOMEM;
        f->kind = FINDING_CRASH;
        r = trial_set_versions(f, NULL, c->versions[version]);
        if (r == 0)
                r = trial_add_answers(t, f);
        snprintf(what, sizeof(what), "%s crashed (%s)", c->versions[version]->name, again.ending);
        if (r == 0)
                r = trial_keep(t, f, what);
        pthread_mutex_lock(&c->lock);
        c->status.crashes += r == 0;
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? r : 0;
}

/* All other versions, the oracles above all: who else says what. */
static int ask_everybody(struct trial *t)
{
        struct campaign *c = t->seat->campaign;
        int r = 0;

        for (unsigned v = 0; r == 0 && v < c->n_versions; v++)
                if (!t->answers[v].ran || !verdict_is_decided(t->answers[v].verdict))
                        r = trial_run(t, v, c->settings->timeout, &t->answers[v]);
        return r;
}

static int note_contradiction(struct trial *t, unsigned one, unsigned other)
{
        struct campaign *c = t->seat->campaign;
        cleanup_finding struct finding *f = NULL;
        char what[400];
        int r = ask_everybody(t);

        if (r < 0)
                return r;
        f = finding_new();
        if (!f)
                return -ENOMEM;
        f->kind = FINDING_SOUNDNESS;
        r = trial_set_versions(f, c->versions[one], c->versions[other]);
        if (r == 0)
                r = trial_add_answers(t, f);
        snprintf(what, sizeof(what), "%s says %s, %s says %s", c->versions[one]->name, verdict_name(t->answers[one].verdict),
                 c->versions[other]->name, verdict_name(t->answers[other].verdict));
        if (r == 0)
                r = trial_keep(t, f, what);
        pthread_mutex_lock(&c->lock);
        c->status.soundness += r == 0;
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? r : 0;
}

int trial_look_for_errors(struct trial *t)
{
        struct campaign *c = t->seat->campaign;
        unsigned decided = UINT32_MAX;

        for (unsigned v = 0; v < c->n_compared; v++) {
                const struct answer *a = &t->answers[v];
                int r;

                if (a->ran && a->verdict == VERDICT_CRASH) {
                        r = note_crash(t, v);
                        if (r < 0)
                                return r;
                }
                if (!a->ran || !verdict_is_decided(a->verdict))
                        continue;
                if (decided != UINT32_MAX && t->answers[decided].verdict != a->verdict) {
                        r = note_contradiction(t, decided, v);
                        return r < 0 ? r : 1;
                }
                decided = v;
        }
        return 0;
}
