/* One input: runs a version on it, keeps a finding, finds contradictions and crashes. Both types of campaign use it. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>

/* -- runs -- */

double trial_most(const struct campaign *c)
{
        uint64_t memory = c->versions[c->n_compared - 1]->solver->recipe->limits.memory;

        if (c->settings->measure == JUDGE_TIME)
                return c->settings->timeout;
        return c->settings->measure == JUDGE_MEMORY && memory > 0 ? (double)memory : observation_no_answer_amount(c->settings->measure);
}

/* By the campaign's measure (struct answer). */
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

void describe_error(const struct run_result *result, char ret[ENDING_SIZE])
{
        const struct execute_result *run = &result->run;
        struct slice rest = SLICE(run->out.data, run->out.size), line;

        if (result->not_started)
                snprintf(ret, ENDING_SIZE, "%s", result->not_started);
        else if (slice_next_line(&rest, &line) && line.size > 0)
                snprintf(ret, ENDING_SIZE, "%.*s", (int)MIN(line.size, (size_t)ENDING_SIZE), (const char *)line.data);
        else
                ending_describe(run, ret);
}

int trial_run_text(struct trial *t, unsigned version, uint64_t seed, struct slice text, double seconds, struct answer *ret, struct buffer *ret_output)
{
        struct campaign *c = t->worker->campaign;
        struct recipe_limits limits = c->versions[version]->solver->recipe->limits;
        cleanup(run_result_done) struct run_result result = {0};
        int r;

        limits.cpu_ns = seconds_ns(seconds);
        limits.wall_ns = c->settings->cpu_time ? CPU_PATIENCE * limits.cpu_ns : limits.cpu_ns;
        r = worker_run(t->worker, version, seed, &limits, text, &result);
        if (r < 0)
                return r;
        *ret = (struct answer){.ran = true, .seconds = seconds, .verdict = verdict_believed(&result.verdicts)};
        if (ret->verdict != VERDICT_TIMEOUT)
                ret->seconds = (double)(c->settings->cpu_time ? result.run.user_ns + result.run.system_ns : result.run.wall_ns) / 1e9;
        ret->amount = amount_of(c, ret, &result);
        if (ret->verdict == VERDICT_ERROR)
                describe_error(&result, ret->ending);
        else
                ending_describe(&result.run, ret->ending);
        if (ret_output)
                buffer_add(ret_output, result.run.out.data, result.run.out.size);
        return ret_output ? buffer_error(ret_output) : 0;
}

int trial_run(struct trial *t, unsigned version, uint64_t seed, double seconds, struct answer *ret)
{
        struct campaign *c = t->worker->campaign;
        int r = trial_run_text(t, version, seed, t->input->text, seconds, ret, NULL);

        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        c->status.runs++;
        c->status.solving += ret->seconds;
        pthread_mutex_unlock(&c->lock);
        return 0;
}

struct answer recorded_answer(const struct campaign_record *r)
{
        return (struct answer){.ran = true, .seconds = r->seconds, .amount = r->amount, .verdict = r->verdict};
}

int trial_run_again(struct trial *t, unsigned round, unsigned version, uint64_t seed, struct answer *ret)
{
        struct campaign *c = t->worker->campaign;
        struct campaign_record record = {.event = EVENT_AGAIN, .id = t->input->id, .step = round, .version = version};
        int r;

        if (round > 0 && campaign_recall(c, &record)) {
                *ret = recorded_answer(&record);
                return 0;
        }
        r = trial_run(t, version, seed, c->settings->timeout, ret);
        if (r < 0)
                return r;
        record.seconds = ret->seconds;
        record.amount = ret->amount;
        record.verdict = ret->verdict;
        pthread_mutex_lock(&c->lock);
        r = campaign_note(c, &record);
        pthread_mutex_unlock(&c->lock);
        return r;
}

/* -- keeping a finding -- */

static void name_input(const struct trial *t, char ret[200])
{
        const struct campaign *c = t->worker->campaign;

        snprintf(ret, 200, "%s-%" PRIu64 ".%s", c->settings->name, t->input->id, format_name(c->format));
}

int trial_is_kept(struct trial *t, const struct version *reference, const struct version *target)
{
        struct campaign *c = t->worker->campaign;
        cleanup_observation struct observation *f = NULL;
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        const struct observation like = {.kind = FINDING_SLOWDOWN,
                                         .solver = c->solver->number,
                                         .measure = c->settings->measure,
                                         .reference = reference->text,
                                         .target = target->text};
        char name[200];
        int r = observation_find(c->workspace, &like, t->input->text, &f)
            ?: cases_get(workspace_cases(c->workspace), f->case_id, &info);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        name_input(t, name);
        return strcmp(f->origin, c->settings->name) == 0 && strcmp(info->name, name) == 0;
}

int trial_keep(struct trial *t, struct observation *f, const char *what)
{
        struct campaign *c = t->worker->campaign;
        char name[200], seed[60] = "";
        int r;

        name_input(t, name);
        r = cases_add_unlisted(workspace_cases(c->workspace), name, t->input->text, &f->case_id);
        if (r < 0)
                return r;
        f->solver = c->solver->number;
        f->found = f->changed = now_seconds();
        f->seed = t->seed;
        f->timeout = c->settings->timeout;
        f->threshold = c->settings->threshold;
        f->is_cpu_time = c->settings->cpu_time;
        f->measure = f->kind == FINDING_SLOWDOWN ? c->settings->measure : JUDGE_TIME;
        set_string(&f->origin, c->settings->name);
        r = observation_add(c->workspace, f);
        if (r != 0)
                return r;
        if (t->seed > 0)
                snprintf(seed, sizeof(seed), ", under the solver's seed %" PRIu64, t->seed);
        campaign_say(c, "found %s/%u: %s%s", observation_folder(f->kind), f->number, what, seed);
        pthread_mutex_lock(&c->lock);
        campaign_add_found(c, f);
        pthread_mutex_unlock(&c->lock);
        return 0;
}

void trial_set_versions(struct observation *f, const struct version *reference, const struct version *target)
{
        set_string(&f->reference, reference ? reference->text : "");
        set_string(&f->target, target->text);
}

void trial_add_answers(struct trial *t, struct observation *f)
{
        struct campaign *c = t->worker->campaign;

        for (size_t v = 0; v < c->n_versions; v++)
                if (t->answers[v].ran)
                        observation_add_runs(f, c->versions[v]->text, t->answers[v].verdict, &t->answers[v].seconds, 1);
}

/* -- crashes and contradictions -- */

/* The same for all crashes at one place. Chains write it alike (chain_judge.c), so that both types of campaign find the same crash once. */
static void crash_signature(const struct trial *t, unsigned version, const char *ending, struct buffer *ret)
{
        buffer_addf(ret, "%s\t%s\t-\t-\t-\t", observation_kind_name(FINDING_CRASH), t->worker->campaign->versions[version]->text);
        buffer_add_printable(ret, ending);
}

bool campaign_add_signature(struct campaign *c, const char *signature)
{
        if (c->signatures && strings_have(c->signatures, signature))
                return false;
        strings_add(&c->signatures, signature);
        return true;
}

static int keep_crash(struct trial *t, unsigned version, const struct answer *again, const char *signature)
{
        struct campaign *c = t->worker->campaign;
        cleanup_observation struct observation *f = observation_new();
        char what[400];

        f->kind = FINDING_CRASH;
        set_string(&f->signature, signature);
        trial_set_versions(f, NULL, c->versions[version]);
        trial_add_answers(t, f);
        snprintf(what, sizeof(what), "%s crashed (%s)", c->versions[version]->name, again->ending);
        return MIN(trial_keep(t, f, what), 0);
}

/* Crashes come by the hundred, and one of each place is kept. A crash that does not repeat is not kept, and its signature is not used up. */
static int note_crash(struct trial *t, unsigned version)
{
        struct campaign *c = t->worker->campaign;
        cleanup_buffer struct buffer seen = {0}, signature = {0};
        const struct answer *a = &t->answers[version];
        struct answer again;
        bool is_known, is_first;
        int r;

        crash_signature(t, version, a->ending, &seen);
        pthread_mutex_lock(&c->lock);
        is_known = *a->ending && c->signatures && strings_have(c->signatures, seen.data); /* a run recalled from the journal has no ending */
        pthread_mutex_unlock(&c->lock);
        if (is_known)
                return 0;
        r = trial_run_again(t, 0, version, t->seed, &again);
        if (r < 0 || again.verdict != VERDICT_CRASH)
                return r;
        crash_signature(t, version, again.ending, &signature);
        pthread_mutex_lock(&c->lock);
        is_first = campaign_add_signature(c, signature.data);
        pthread_mutex_unlock(&c->lock);
        return is_first ? keep_crash(t, version, &again, signature.data) : 0;
}

static int note_contradiction(struct trial *t, unsigned one, unsigned other)
{
        struct campaign *c = t->worker->campaign;
        cleanup_observation struct observation *f = observation_new();
        char what[400];
        int r = 0;

        for (unsigned v = 0; r == 0 && v < c->n_versions; v++) /* the answers of all others, above all the oracles */
                if (!t->answers[v].ran || !verdict_is_decided(t->answers[v].verdict))
                        r = trial_run_again(t, 0, v, t->seed, &t->answers[v]);
        if (r < 0)
                return r;
        f->kind = FINDING_SOUNDNESS;
        trial_set_versions(f, c->versions[one], c->versions[other]);
        trial_add_answers(t, f);
        snprintf(what, sizeof(what), "%s says %s, %s says %s", c->versions[one]->name, verdict_name(t->answers[one].verdict),
                 c->versions[other]->name, verdict_name(t->answers[other].verdict));
        return MIN(trial_keep(t, f, what), 0);
}

int trial_keep_errors(struct trial *t)
{
        struct campaign *c = t->worker->campaign;
        unsigned decided = UINT32_MAX;
        int r = 0;

        for (unsigned v = 0; r == 0 && v < c->n_compared; v++)
                if (t->answers[v].ran && t->answers[v].verdict == VERDICT_CRASH)
                        r = note_crash(t, v);
        for (unsigned v = 0; r == 0 && v < c->n_compared; v++) {
                const struct answer *a = &t->answers[v];

                if (!a->ran || !verdict_is_decided(a->verdict))
                        continue;
                if (decided != UINT32_MAX && t->answers[decided].verdict != a->verdict) {
                        r = note_contradiction(t, decided, v);
                        return r < 0 ? r : 1;
                }
                decided = v;
        }
        return r;
}
