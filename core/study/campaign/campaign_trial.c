/* The part that all hunts share: run a version on it, keep a finding, see that versions contradict each other or crash. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>

#define MEMORY_MOST 0x1p40 /* bytes; of a recipe without a limit */
#define EFFORT_MOST 1e18

static double seconds_of(const struct campaign *c, const struct execute_result *run)
{
        return (double)(c->settings->cpu_time ? run->user_ns + run->system_ns : run->wall_ns) / 1e9;
}

double trial_most(const struct campaign *c)
{
        uint64_t memory = c->versions[c->n_compared - 1]->solver->recipe->limits.memory;

        if (c->settings->measure == JUDGE_MEMORY)
                return memory > 0 ? (double)memory : MEMORY_MOST;
        return c->settings->measure == JUDGE_EFFORT ? EFFORT_MOST : c->settings->timeout;
}

static double amount_of(const struct campaign *c, const struct answer *a, const struct run_result *result)
{
        if (c->settings->measure == JUDGE_TIME)
                return a->seconds;
        if (c->settings->measure == JUDGE_MEMORY)
                return a->verdict == VERDICT_MEMOUT     ? trial_most(c)
                       : verdict_is_decided(a->verdict) ? (double)result->run.memory
                                                        : 0;
        return verdict_is_decided(a->verdict) && result->efforts.n > 0 && result->efforts.list[0].found
                       ? result->efforts.list[0].real
                       : 0;
}

static int run_text(struct trial *t, unsigned version, uint64_t seed, struct slice text, double seconds, struct answer *ret,
                    struct buffer *ret_output)
{
        struct campaign *c = t->seat->campaign;
        struct recipe_limits limits = c->versions[version]->solver->recipe->limits;
        struct run_result result = {0};
        int r;

        limits.cpu_ns = (uint64_t)(seconds * 1e9);
        limits.wall_ns = c->settings->cpu_time ? CPU_PATIENCE * limits.cpu_ns : limits.cpu_ns;
        r = seat_run(t->seat, version, seed, &limits, text, &result);
        if (r < 0)
                return r;
        *ret = (struct answer){.ran = true, .seconds = seconds_of(c, &result.run), .verdict = result.verdict};
        if (ret->verdict == VERDICT_TIMEOUT)
                ret->seconds = seconds;
        ret->amount = amount_of(c, ret, &result);
        ending_describe(&result.run, ret->ending);
        if (ret_output)
                buffer_add(ret_output, result.run.out.data, result.run.out.size);
        run_result_done(&result);
        return ret_output ? buffer_error(ret_output) : 0;
}

int trial_run_text(struct trial *t, unsigned version, struct slice text, double seconds, struct answer *ret,
                   struct buffer *ret_output)
{
        return run_text(t, version, 0, text, seconds, ret, ret_output);
}

static int run_counted(struct trial *t, unsigned version, uint64_t seed, double seconds, struct answer *ret)
{
        struct campaign *c = t->seat->campaign;
        int r = run_text(t, version, seed, t->input->text, seconds, ret, NULL);

        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        c->status.runs++;
        c->status.solving += ret->seconds;
        pthread_mutex_unlock(&c->lock);
        return 0;
}

int trial_run(struct trial *t, unsigned version, double seconds, struct answer *ret)
{
        return run_counted(t, version, 0, seconds, ret);
}

/* -- keeping -- */

static void name_input(const struct trial *t, char ret[200])
{
        snprintf(ret, 200, "%s-%" PRIu64 ".smt2", t->seat->campaign->settings->name, t->input->id);
}

int trial_find_kept(struct trial *t, enum observation_kind kind, struct observation **ret)
{
        struct campaign *c = t->seat->campaign;
        cleanup_observation struct observation *f = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        char name[200];
        int r = observation_find(c->workspace, c->solver->number, kind, kind == FINDING_SPR ? c->settings->measure : JUDGE_TIME,
                                 t->input->text, &f);

        if (r == 0)
                r = cases_get(workspace_cases(c->workspace), f->case_id, &info);
        if (r < 0)
                return r;
        name_input(t, name);
        if (strcmp(f->origin, c->settings->name) != 0 || strcmp(info->name, name) != 0)
                return -ENOENT;
        *ret = steal_pointer(f);
        return 0;
}

int trial_keep(struct trial *t, struct observation *f, const char *what)
{
        struct campaign *c = t->seat->campaign;
        char name[200];
        int r;

        name_input(t, name);
        r = cases_add_unlisted(workspace_cases(c->workspace), name, t->input->text, &f->case_id);
        if (r < 0)
                return r;
        f->solver = c->solver->number;
        f->found = f->changed = now_seconds();
        f->timeout = c->settings->timeout;
        f->threshold = c->settings->threshold;
        f->is_cpu_time = c->settings->cpu_time;
        f->measure = f->kind == FINDING_SPR ? c->settings->measure : JUDGE_TIME;
        r = observation_set(&f->origin, c->settings->name);
        if (r == 0)
                r = observation_add(c->workspace, f);
        if (r == 0)
                campaign_say(c, "found %s/%u: %s", observation_folder(f->kind), f->number, what);
        return r;
}

int trial_set_versions(struct observation *f, const struct version *reference, const struct version *target)
{
        int r = observation_set(&f->reference, reference ? reference->text : "");

        return r < 0 ? r : observation_set(&f->target, target->text);
}

int trial_add_answers(struct trial *t, struct observation *f)
{
        struct campaign *c = t->seat->campaign;
        int r = 0;

        for (size_t v = 0; r == 0 && v < c->n_versions; v++)
                if (t->answers[v].ran)
                        r = observation_add_runs(f, c->versions[v]->text, t->answers[v].verdict, &t->answers[v].seconds, 1);
        return r;
}

/* -- running once more -- */

/* The same run in a session that was cut off. */
static bool recall(struct trial *t, unsigned round, unsigned version, struct answer *ret)
{
        struct campaign_record r = {.event = EVENT_AGAIN, .id = t->input->id, .step = round, .version = version};

        if (round == 0 || !campaign_recall(t->seat->campaign, &r, &r))
                return false;
        *ret = (struct answer){.ran = true, .seconds = r.seconds, .amount = r.amount, .verdict = r.verdict};
        return true;
}

int trial_run_again(struct trial *t, unsigned round, unsigned version, uint64_t seed, struct answer *ret)
{
        struct campaign *c = t->seat->campaign;
        int r = recall(t, round, version, ret) ? 1 : run_counted(t, version, seed, c->settings->timeout, ret);

        if (r != 0)
                return MIN(r, 0);
        pthread_mutex_lock(&c->lock);
        r = campaign_note(c, &(struct campaign_record){.event = EVENT_AGAIN,
                                                       .id = t->input->id,
                                                       .step = round,
                                                       .version = version,
                                                       .seconds = ret->seconds,
                                                       .amount = ret->amount,
                                                       .verdict = ret->verdict});
        pthread_mutex_unlock(&c->lock);
        return r;
}

/* -- crashes -- */

/* What is the same for all crashes of one place; as chains write it (chain_finding.c), so that both are one. */
static int crash_signature(const struct trial *t, unsigned version, const char *ending, struct buffer *ret)
{
        buffer_addf(ret, "%s\t%s\t-\t-\t-\t", observation_kind_name(FINDING_CRASH), t->seat->campaign->versions[version]->text);
        buffer_add_printable(ret, ending);
        return buffer_error(ret);
}

static bool is_signed(const struct campaign *c, const char *signature)
{
        for (size_t i = 0; i < c->n_signatures; i++)
                if (strcmp(c->signatures[i], signature) == 0)
                        return true;
        return false;
}

int campaign_sign(struct campaign *c, const char *signature)
{
        if (is_signed(c, signature))
                return 0;
        if (list_grow(c->signatures, c->n_signatures) < 0)
                return -ENOMEM;
        c->signatures[c->n_signatures] = strdup(signature);
        return c->signatures[c->n_signatures] ? (c->n_signatures++, 1) : -ENOMEM;
}

static int keep_crash(struct trial *t, unsigned version, const struct answer *again, const char *signature)
{
        struct campaign *c = t->seat->campaign;
        cleanup_observation struct observation *f = observation_new();
        char what[400];
        int r;

        if (!f)
                return -ENOMEM;
        f->kind = FINDING_CRASH;
        free(f->signature);
        f->signature = strdup(signature);
        r = f->signature ? trial_set_versions(f, NULL, c->versions[version]) : -ENOMEM;
        if (r == 0)
                r = trial_add_answers(t, f);
        snprintf(what, sizeof(what), "%s crashed (%s)", c->versions[version]->name, again->ending);
        if (r == 0)
                r = trial_keep(t, f, what);
        pthread_mutex_lock(&c->lock);
        c->status.crashes += r == 0;
        pthread_mutex_unlock(&c->lock);
        return MIN(r, 0);
}

/* Crashes come by the hundred, and one of a place is enough. One that does not crash again is none, and stands for no other. */
static int note_crash(struct trial *t, unsigned version)
{
        struct campaign *c = t->seat->campaign;
        cleanup_buffer struct buffer seen = {0}, signature = {0};
        const struct answer *a = &t->answers[version];
        struct answer again;
        bool is_known;
        int r = crash_signature(t, version, a->ending, &seen);

        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        is_known = *a->ending && is_signed(c, seen.data); /* of the journal's runs no ending is known */
        pthread_mutex_unlock(&c->lock);
        if (is_known)
                return 0;
        r = trial_run_again(t, 0, version, 0, &again);
        if (r < 0 || again.verdict != VERDICT_CRASH)
                return r;
        r = crash_signature(t, version, again.ending, &signature);
        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        r = campaign_sign(c, signature.data);
        pthread_mutex_unlock(&c->lock);
        return r == 1 ? keep_crash(t, version, &again, signature.data) : r;
}

/* -- contradictions -- */

/* All other versions, the oracles above all: who else says what. */
static int ask_everybody(struct trial *t)
{
        struct campaign *c = t->seat->campaign;
        int r = 0;

        for (unsigned v = 0; r == 0 && v < c->n_versions; v++)
                if (!t->answers[v].ran || !verdict_is_decided(t->answers[v].verdict))
                        r = trial_run_again(t, 0, v, 0, &t->answers[v]);
        return r;
}

static int note_contradiction(struct trial *t, unsigned one, unsigned other)
{
        struct campaign *c = t->seat->campaign;
        cleanup_observation struct observation *f = NULL;
        char what[400];
        int r = ask_everybody(t);

        if (r < 0)
                return r;
        f = observation_new();
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
