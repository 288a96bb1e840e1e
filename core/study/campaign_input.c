/* One input of a campaign: run where the strategy wants it, confirmed when it is a candidate, kept when it is a find. */
#include "core/study/campaign_internal.h"

#include <inttypes.h>
#include <math.h>

#include "core/run/ending.h"
#include "core/study/stat.h"

#define ROUNDS       5 /* of a confirmation; all five in one direction are significant at 1/32 */
#define SIGNIFICANCE 0.05
#define TRIES        3 /* at a run that could not be tried */

/* One version's runs on the input. */
struct answer {
        bool ran;
        double seconds;
        enum verdict verdict;
        char ending[ENDING_SIZE]; /* core/run/ending.h */
};

struct trial {
        struct bench_seat *seat;
        const struct strategy_input *input;
        struct answer *answers; /* owned; of each version, oracles too */
};

static bool is_decided(enum verdict v)
{
        return v == VERDICT_SAT || v == VERDICT_UNSAT;
}

/* -- running -- */

static int run_version(struct trial *t, unsigned version, double seconds, struct answer *ret)
{
        struct campaign *c = t->seat->campaign;
        struct runner *runner = t->seat->runners[version];
        struct recipe_limits limits = c->versions[version]->solver->recipe->limits;
        struct run_result result = {0};
        int r = -EIO;

        limits.wall_ns = limits.cpu_ns = (uint64_t)(seconds * 1e9);
        runner_set_limits(runner, &limits);
        for (int tries = 0; r == -EIO && tries < TRIES; tries++)
                r = runner_run(runner, &(struct run_input){.bytes = t->input->text}, c->cancel_fd, &result);
        if (r < 0)
                return r;
        *ret = (struct answer){.ran = true, .seconds = (double)result.run.wall_ns / 1e9, .verdict = result.verdict};
        if (ret->verdict == VERDICT_TIMEOUT)
                ret->seconds = seconds;
        ending_describe(&result.run, ret->ending);
        run_result_done(&result);
        pthread_mutex_lock(&c->lock);
        c->status.runs++;
        c->status.solving += ret->seconds;
        pthread_mutex_unlock(&c->lock);
        return 0;
}

/* Where the strategy wants it. */
static int run_wanted(struct trial *t)
{
        struct campaign *c = t->seat->campaign;

        for (;;) {
                unsigned version;
                double seconds;
                bool more;
                int r;

                pthread_mutex_lock(&c->lock);
                more = strategy_step(c->strategy, t->input->id, &version, &seconds);
                pthread_mutex_unlock(&c->lock);
                if (!more)
                        return 0;
                r = run_version(t, version, seconds, &t->answers[version]);
                if (r < 0)
                        return r;
                pthread_mutex_lock(&c->lock);
                strategy_ran(c->strategy, t->input->id, version,
                             &(struct outcome){.seconds = t->answers[version].seconds, .verdict = t->answers[version].verdict});
                r = campaign_note(c, &(struct campaign_record){.event = EVENT_RAN,
                                                               .id = t->input->id,
                                                               .version = version,
                                                               .seconds = t->answers[version].seconds,
                                                               .verdict = t->answers[version].verdict});
                pthread_mutex_unlock(&c->lock);
                if (r < 0)
                        return r;
        }
}

/* -- keeping -- */

static int keep(struct trial *t, struct finding *f, const char *what)
{
        struct campaign *c = t->seat->campaign;
        char name[200];
        int r;

        snprintf(name, sizeof(name), "%s-%" PRIu64 ".smt2", c->settings->name, t->input->id);
        r = cases_add_unlisted(workspace_cases(c->workspace), name, t->input->text, &f->case_id);
        if (r < 0)
                return r;
        f->solver = c->solver->number;
        f->found = now_seconds();
        f->timeout = c->settings->timeout;
        free(f->campaign);
        f->campaign = strdup(c->settings->name);
        r = f->campaign ? finding_add(c->workspace, f) : -ENOMEM;
        if (r < 0)
                return r;
        if (r == 0)
                campaign_say(c, "found %s/%u: %s", finding_folder(f->kind), f->number, what);
        return r;
}

static int set_versions(struct finding *f, const struct version *reference, const struct version *target)
{
        free(f->reference);
        free(f->target);
        f->reference = strdup(reference ? reference->text : "");
        f->target = strdup(target->text);
        return f->reference && f->target ? 0 : -ENOMEM;
}

static int add_answers(struct trial *t, struct finding *f)
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
        r = run_version(t, version, c->settings->timeout, &again); /* once more, before it is said of anybody */
        if (r < 0 || again.verdict != VERDICT_CRASH)
                return r;
        f = finding_new();
        if (!f)
                return -ENOMEM;
        f->kind = FINDING_CRASH;
        r = set_versions(f, NULL, c->versions[version]);
        if (r == 0)
                r = add_answers(t, f);
        snprintf(what, sizeof(what), "%s crashed (%s)", c->versions[version]->name, again.ending);
        if (r == 0)
                r = keep(t, f, what);
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
                if (!t->answers[v].ran || !is_decided(t->answers[v].verdict))
                        r = run_version(t, v, c->settings->timeout, &t->answers[v]);
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
        r = set_versions(f, c->versions[one], c->versions[other]);
        if (r == 0)
                r = add_answers(t, f);
        snprintf(what, sizeof(what), "%s says %s, %s says %s", c->versions[one]->name, verdict_name(t->answers[one].verdict),
                 c->versions[other]->name, verdict_name(t->answers[other].verdict));
        if (r == 0)
                r = keep(t, f, what);
        pthread_mutex_lock(&c->lock);
        c->status.soundness += r == 0;
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? r : 0;
}

/* 1: two versions contradict each other, which was noted: whatever they took, it is no regression. */
static int look_for_errors(struct trial *t)
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
                if (!a->ran || !is_decided(a->verdict))
                        continue;
                if (decided != UINT32_MAX && t->answers[decided].verdict != a->verdict) {
                        r = note_contradiction(t, decided, v);
                        return r < 0 ? r : 1;
                }
                decided = v;
        }
        return 0;
}

/* -- confirming -- */

struct pair {
        unsigned reference, target;
        double fast[ROUNDS], slow[ROUNDS];
        struct answer last[2];
};

/* Both versions once, the order by turns. */
static int run_pair(struct trial *t, struct pair *p, unsigned round)
{
        for (unsigned i = 0; i < 2; i++) {
                bool is_target = (i + round) % 2;
                unsigned version = is_target ? p->target : p->reference;
                struct answer *a = &p->last[is_target];
                int r = run_version(t, version, t->seat->campaign->settings->timeout, a);

                if (r < 0)
                        return r;
                (is_target ? p->slow : p->fast)[round] = a->seconds;
                t->answers[version] = *a;
        }
        return 0;
}

/* 1: it is a find. 0: it is not, or two versions contradict each other now. */
static int confirm(struct trial *t, struct pair *p)
{
        double threshold = t->seat->campaign->settings->threshold, fast[ROUNDS], slow[ROUNDS];
        struct stat_test test;
        unsigned failures = 0;
        int r;

        for (unsigned round = 0; round < ROUNDS; round++) {
                r = run_pair(t, p, round);
                if (r < 0)
                        return r;
                r = look_for_errors(t);
                if (r != 0)
                        return r < 0 ? r : 0;
                if (!is_decided(p->last[0].verdict))
                        return 0;
                failures += p->slow[round] - p->fast[round] <= threshold;
                if (failures > 1)
                        return 0;
        }
        for (unsigned i = 0; i < ROUNDS; i++) {
                fast[i] = log(fmax(p->fast[i], 1e-6));
                slow[i] = log(fmax(p->slow[i], 1e-6));
        }
        r = stat_signed_rank(slow, fast, ROUNDS, &test);
        if (r < 0)
                return r;
        return test.greater <= SIGNIFICANCE &&
               stat_lower_median(p->slow, ROUNDS) - stat_lower_median(p->fast, ROUNDS) > threshold;
}

static int keep_slowdown(struct trial *t, const struct pair *p)
{
        struct campaign *c = t->seat->campaign;
        cleanup_finding struct finding *f = finding_new();
        char what[400];
        int r;

        if (!f)
                return -ENOMEM;
        f->kind = FINDING_SPR;
        r = set_versions(f, c->versions[p->reference], c->versions[p->target]);
        for (unsigned v = 0; r == 0 && v < c->n_compared; v++) {
                const struct answer *a = &t->answers[v];

                if (v == p->reference || v == p->target)
                        r = finding_add_runs(f, c->versions[v]->text, a->verdict, v == p->target ? p->slow : p->fast, ROUNDS);
                else if (a->ran)
                        r = finding_add_runs(f, c->versions[v]->text, a->verdict, &a->seconds, 1);
        }
        snprintf(what, sizeof(what), "%s %.3fs, %s %s%.3fs", c->versions[p->reference]->name, stat_lower_median(p->fast, ROUNDS),
                 c->versions[p->target]->name, p->last[1].verdict == VERDICT_TIMEOUT ? "more than " : "",
                 stat_lower_median(p->slow, ROUNDS));
        return r < 0 ? r : keep(t, f, what);
}

static double solved_after(const struct campaign *c, const struct answer *a)
{
        return a->ran && is_decided(a->verdict) ? a->seconds : c->settings->timeout;
}

/* The pair with the largest slowdown: of any version and a later one, or only of the target. False: none is above the threshold. */
static bool choose_pair(const struct trial *t, struct pair *p)
{
        const struct campaign *c = t->seat->campaign;
        double most = c->settings->threshold;
        bool any = false;

        for (unsigned later = c->settings->any_pair ? 1 : (unsigned)c->n_compared - 1; later < c->n_compared; later++)
                for (unsigned v = 0; v < later; v++) {
                        double slower = t->answers[later].seconds - solved_after(c, &t->answers[v]);

                        if (!t->answers[later].ran || slower <= most)
                                continue;
                        most = slower;
                        any = true;
                        p->reference = v;
                        p->target = later;
                }
        return any;
}

int campaign_try(struct bench_seat *seat, const struct strategy_input *input)
{
        struct campaign *c = seat->campaign;
        cleanup_free struct answer *answers = calloc(c->n_versions, sizeof(*answers));
        struct trial t = {.seat = seat, .input = input, .answers = answers};
        struct pair pair = {0};
        bool is_candidate, is_find = false;
        double score;
        int r = answers ? run_wanted(&t) : -ENOMEM;

        if (r == 0)
                r = look_for_errors(&t);
        if (r < 0)
                return r;
        /* Confirmed before the strategy is told that it has finished: a crash in between repeats the confirmation and no decision. */
        if (r == 0 && choose_pair(&t, &pair)) {
                pthread_mutex_lock(&c->lock);
                c->status.candidates++;
                pthread_mutex_unlock(&c->lock);
                r = confirm(&t, &pair);
                is_find = r == 1;
                if (is_find)
                        r = keep_slowdown(&t, &pair);
                if (r < 0)
                        return r;
                is_find &= r == 0; /* not one that was found before */
        }
        pthread_mutex_lock(&c->lock);
        r = campaign_note(c, &(struct campaign_record){.event = EVENT_FINISH, .id = input->id});
        is_candidate = strategy_finish(c->strategy, input->id, campaign_now(c), &score);
        if (is_candidate) {
                strategy_confirmed(c->strategy, input->id, is_find, 0);
                if (r == 0)
                        r = campaign_note(
                                c, &(struct campaign_record){.event = EVENT_CONFIRMED, .id = input->id, .is_find = is_find});
        }
        c->status.inputs++;
        c->status.finds += is_find;
        c->status.rejected += is_candidate && !is_find;
        pthread_mutex_unlock(&c->lock);
        return r;
}
