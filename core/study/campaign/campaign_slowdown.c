/* Campaigns for slowdowns, of time, memory or effort. An input runs on the versions that the strategy asks for. Candidates are confirmed, finds are kept.
 *
 * A strategy counts seconds. For another measure it is told the amount on judge_scale() instead, so that its threshold is a ratio and its limit
 * the recipe's. Its decisions stay the same, but no run is cut short: a limit of memory is also one of addresses, and a program may reserve many more. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>
#include <math.h>

#include "core/smtlib/scramble.h"
#include "core/study/base/stat.h"
#include "core/study/judge/judge.h"

#define MOST_PAIRS  24   /* of a confirmation */
#define FALSE_FINDS 0.05 /* of candidates; localizing verifies each find once more */

static double scale(const struct campaign *c, double amount)
{
        return judge_scale(c->settings->measure, amount);
}

static double threshold_of(const struct campaign *c)
{
        return judge_scale_threshold(c->settings->measure, c->settings->threshold);
}

/* Runs the input on the versions that the strategy asks for. */
static int run_wanted(struct trial *t)
{
        struct campaign *c = t->worker->campaign;
        int r = 0;

        for (unsigned version; r == 0;) {
                struct answer *a;
                double seconds;
                bool more;

                pthread_mutex_lock(&c->lock);
                more = strategy_step(c->state, t->input->id, &version, &seconds);
                pthread_mutex_unlock(&c->lock);
                if (!more)
                        break;
                a = &t->answers[version];
                r = trial_run(t, version, 0, c->settings->measure == JUDGE_TIME ? seconds : c->settings->timeout, a);
                if (r < 0)
                        break;
                pthread_mutex_lock(&c->lock);
                r = campaign_note(c, &(struct campaign_record){.event = EVENT_RAN,
                                                               .id = t->input->id,
                                                               .version = version,
                                                               .seconds = a->seconds,
                                                               .amount = a->amount,
                                                               .verdict = a->verdict});
                if (r == 0) /* a checkpoint must not know more than the journal */
                        strategy_ran(c->state, t->input->id, version, &(struct outcome){.seconds = scale(c, a->amount), .verdict = a->verdict});
                pthread_mutex_unlock(&c->lock);
        }
        return r;
}

/* -- confirming -- */

struct confirmation {
        unsigned versions[2]; /* the reference, and the slower one */
        struct judge_pair pairs[MOST_PAIRS];
        double amounts[2][MOST_PAIRS]; /* a reference without an answer is not fast: the most */
        size_t n;        /* pairs */
        size_t failures; /* those of them below the threshold */
        bool is_cut;     /* the search was over first; if the campaign goes on, the journal has the pairs so far */
};

/* The first pair is the input itself. The next ones are under seeds of the solver if both versions have one, else of scrambled inputs. An input that
 * cannot be scrambled is repeated. */
static int vary_input(const struct trial *t, const struct confirmation *p, uint64_t *ret_seed, struct buffer *ret_text)
{
        const struct campaign *c = t->worker->campaign;
        struct version *const *versions = c->versions;
        int r = -ENOTSUP;

        *ret_seed = versions[p->versions[0]]->solver->recipe->seed && versions[p->versions[1]]->solver->recipe->seed ? p->n : 0;
        if (p->n > 0 && *ret_seed == 0)
                r = (c->format == FORMAT_CNF ? scramble_cnf : scramble_smt)(t->input->text, p->n, ret_text);
        if (r == -ENOTSUP || r == -EINVAL) {
                ret_text->size = 0;
                buffer_add(ret_text, t->input->text.data, t->input->text.size);
                r = buffer_error(ret_text);
        }
        return r;
}

/* Runs both versions once, taking turns at running first. 1: two versions contradict each other. */
static int run_pair(struct trial *t, struct confirmation *p)
{
        const struct campaign *c = t->worker->campaign;
        cleanup_free struct answer *answers = allocate(c->n_versions, sizeof(*answers));
        cleanup_buffer struct buffer text = {0};
        struct strategy_input input = *t->input;
        struct trial once = {.worker = t->worker, .input = &input, .answers = answers};
        int r = vary_input(t, p, &once.seed, &text);

        input.text = SLICE(text.data, text.size);
        for (unsigned i = 0; i < 2 && r == 0; i++) {
                bool is_target = (i + p->n) % 2;
                unsigned version = p->versions[is_target];

                r = trial_run_again(&once, (unsigned)p->n + 1, version, once.seed, &answers[version]);
                p->pairs[p->n].run[is_target] = (struct judge_run){.is_known = true,
                                                                   .verdict = answers[version].verdict,
                                                                   .limit = c->settings->timeout,
                                                                   .seconds = answers[version].seconds,
                                                                   .cpu_seconds = NAN,
                                                                   .memory = c->settings->measure == JUDGE_MEMORY ? answers[version].amount : NAN,
                                                                   .effort = c->settings->measure == JUDGE_EFFORT ? answers[version].amount : NAN};
                p->amounts[is_target][p->n] = is_target || verdict_is_decided(answers[version].verdict) ? answers[version].amount : trial_most(c);
                if (p->n == 0)
                        t->answers[version] = answers[version];
        }
        if (r == 0)
                r = trial_keep_errors(&once);
        p->failures += !judge_is_above(c->settings->measure, p->amounts[0][p->n], p->amounts[1][p->n], c->settings->threshold);
        p->n++;
        return r;
}

/* 1: it is a find. 0: it is not, or two versions contradict each other now. */
static int confirm(struct trial *t, struct confirmation *p)
{
        struct campaign *c = t->worker->campaign;
        const struct campaign_settings *s = c->settings;

        for (size_t wanted = JUDGE_FIRST_PAIRS; p->n < wanted;) {
                cleanup_judgement struct judgement j = {0};
                int r;

                pthread_mutex_lock(&c->lock);
                c->is_over |= campaign_now(c) >= s->seconds; /* by CPU time many pairs pass before the watcher looks */
                p->is_cut = c->is_over;
                pthread_mutex_unlock(&c->lock);
                if (p->is_cut)
                        return 0;
                r = run_pair(t, p);
                if (r != 0)
                        return MIN(r, 0);
                if (p->n == 1 && p->failures == 1) /* the input itself is no find */
                        return 0;
                if (2 * p->failures > MAX(p->n, (size_t)JUDGE_FIRST_PAIRS)) /* most pairs do not show it */
                        return 0;
                if (p->n < wanted)
                        continue;
                judge(&(struct judge_case){.pairs = p->pairs, .n_pairs = p->n}, 1,
                      &(struct judge_options){.measure = s->measure, .most_pairs = MOST_PAIRS, .false_alarms = FALSE_FINDS}, &j);
                if (j.cases[0].change == JUDGE_MORE || j.cases[0].change == JUDGE_LOST)
                        return judge_is_above(s->measure, stat_lower_median(p->amounts[0], p->n), stat_lower_median(p->amounts[1], p->n), s->threshold);
                wanted = MIN(j.cases[0].wanted, (size_t)MOST_PAIRS);
        }
        return 0;
}

/* The verdict of the run that the median is of. */
static enum verdict median_verdict(const struct confirmation *p, int side, double median)
{
        size_t k = 0;

        while (k + 1 < p->n && p->amounts[side][k] != median)
                k++;
        return p->pairs[k].run[side].verdict;
}

static int keep_slowdown(struct trial *t, const struct confirmation *p)
{
        struct campaign *c = t->worker->campaign;
        const double median[] = {stat_lower_median(p->amounts[0], p->n), stat_lower_median(p->amounts[1], p->n)};
        const enum verdict verdict[] = {median_verdict(p, 0, median[0]), median_verdict(p, 1, median[1])};
        cleanup_observation struct observation *f = observation_new();
        char what[400];

        f->kind = FINDING_SLOWDOWN;
        trial_set_versions(f, c->versions[p->versions[0]], c->versions[p->versions[1]]);
        for (unsigned v = 0; v < c->n_compared; v++) {
                const struct answer *a = &t->answers[v];
                const bool is_target = v == p->versions[1];

                if (v == p->versions[0] || is_target)
                        observation_add_runs(f, c->versions[v]->text, verdict[is_target], p->amounts[is_target], (uint32_t)p->n);
                else if (a->ran)
                        observation_add_runs(f, c->versions[v]->text, a->verdict, &a->amount, 1);
        }
        snprintf(what, sizeof(what), "%s %s, %s %s%s", c->versions[p->versions[0]]->name,
                 judge_amount_text(c->settings->measure, median[0]).s, c->versions[p->versions[1]]->name,
                 verdict[1] == VERDICT_TIMEOUT || verdict[1] == VERDICT_MEMOUT ? "more than " : "", judge_amount_text(c->settings->measure, median[1]).s);
        return trial_keep(t, f, what);
}

/* Runs the pair again, and keeps it if it is a find: 1. 0: it is none, or these versions had it before. */
static int confirm_and_keep(struct trial *t, struct confirmation *p)
{
        struct version *const *versions = t->worker->campaign->versions;
        int r = trial_is_kept(t, versions[p->versions[0]], versions[p->versions[1]]);

        r = r == 0 ? confirm(t, p) : r;
        if (r != 1 || p->n == 0) /* 1 without a pair: an earlier session kept it */
                return r;
        r = keep_slowdown(t, p);
        return r < 0 ? r : r == 0;
}

/* Reports an input's end to the strategy, and counts it, from a worker or from the journal. Under the lock. */
static void finish_input(struct campaign *c, uint64_t id, bool is_confirmed, bool is_find)
{
        double score;
        bool is_candidate = strategy_finish(c->state, id, is_confirmed, &score);

        if (is_candidate)
                strategy_confirmed(c->state, id, is_find);
        c->status.inputs++;
        c->status.candidates += is_candidate;
        c->status.passed_over += !is_candidate && score > threshold_of(c);
        c->status.finds += is_find;
        c->status.rejected += is_candidate && !is_find;
}

static int try(struct campaign_worker *worker, const struct strategy_input *input)
{
        struct campaign *c = worker->campaign;
        cleanup_free struct answer *answers = allocate(c->n_versions, sizeof(*answers));
        struct trial t = {.worker = worker, .input = input, .answers = answers};
        struct confirmation p = {0};
        bool is_wanted, is_find = false, is_contradicted;
        int r;

        for (unsigned v = 0; v < c->n_versions; v++) { /* runs of an interrupted session: the strategy knows them and does not ask for them again */
                struct campaign_record record = {.event = EVENT_RAN, .id = input->id, .version = v};

                if (campaign_recall(c, &record))
                        answers[v] = recorded_answer(&record);
        }
        r = run_wanted(&t) ?: trial_keep_errors(&t);
        if (r < 0)
                return r;
        is_contradicted = r == 1;
        pthread_mutex_lock(&c->lock);
        is_wanted = strategy_wants(c->state, input->id, p.versions);
        pthread_mutex_unlock(&c->lock);
        /* Confirmed before the strategy is told that it has finished: a crash in between repeats the confirmation and no decision. */
        if (is_wanted) {
                r = is_contradicted ? 0 : confirm_and_keep(&t, &p); /* the fast reference may be the wrong one */
                if (p.is_cut)
                        campaign_say(c, "a candidate is not confirmed, as the search is over; the same command with a longer --for goes on with it");
                if (r < 0 || p.is_cut)
                        return r;
                is_find = r == 1;
        }
        pthread_mutex_lock(&c->lock);
        /* EVENT_CONFIRMED precedes EVENT_FINISH. After a crash between the two the input is tried again, and trial_is_kept() knows what it stored. */
        r = is_wanted ? campaign_note(c, &(struct campaign_record){.event = EVENT_CONFIRMED, .id = input->id, .is_find = is_find}) : 0;
        if (r == 0)
                r = campaign_note(c, &(struct campaign_record){.event = EVENT_FINISH, .id = input->id});
        if (r == 0) /* a checkpoint may follow an error, and must not miss an input that the journal has under way */
                finish_input(c, input->id, is_wanted, is_find);
        pthread_mutex_unlock(&c->lock);
        return r;
}

/* -- the strategy -- */

static int check(const struct campaign_settings *s)
{
        if (!s->references || !s->references[0])
                return errorf(-EINVAL, "a campaign needs a --reference to compare the target with");
        if (s->measure != JUDGE_TIME && s->cpu_time)
                return errorf(-EINVAL, "--clock chooses between times: with --measure %s it says nothing", judge_measure_name(s->measure));
        if (s->corpus && s->logic)
                return errorf(-EINVAL, "--logic says what is generated; with --corpus nothing is");
        if (s->measure != JUDGE_TIME && !(s->threshold > 1))
                return errorf(-EINVAL, "the threshold of --measure %s is a ratio greater than 1, not %g",
                              judge_measure_name(s->measure), s->threshold);
        return 0;
}

static int begin(struct campaign *c)
{
        const struct campaign_settings *s = c->settings;
        struct strategy_options o = strategy_defaults;
        struct strategy *strategy = NULL;
        uint64_t inputs;
        int r;

        if (s->measure != JUDGE_TIME && threshold_of(c) >= scale(c, trial_most(c))) /* for time the strategy checks this */
                return errorf(-EINVAL, "no run can take %g times %s, which is the least that a threshold of %g looks for: its limit is %s", s->threshold,
                              judge_amount_text(s->measure, judge_least(s->measure)).s, s->threshold, judge_amount_text(s->measure, trial_most(c)).s);
        o.versions = (unsigned)c->n_compared;
        o.timeout = scale(c, trial_most(c));
        o.threshold = threshold_of(c);
        o.seed = s->seed;
        o.every_version = s->any_pair;
        o.corpus = c->corpus.list;
        o.n_corpus = c->corpus.n;
        o.dialect = c->dialect;
        o.is_cnf = c->format == FORMAT_CNF;
        r = logics_choose(c);
        if (r < 0)
                return r;
        o.logics = c->logics;
        o.n_logics = c->logics ? strings_count(c->logics) : 0;
        r = strategy_new(&o, &strategy);
        c->state = strategy;
        if (r == 0)
                r = strategy_fingerprint(&o, &inputs);
        if (r < 0)
                return r;
        c->fingerprint = format_string("corpus:%016" PRIx64 " inputs:%016" PRIx64, c->corpus.hash, inputs);
        return 0;
}

static void end(struct campaign *c)
{
        strategy_free(c->state);
}

static int next(struct campaign *c, struct strategy_input *ret)
{
        return strategy_next(c->state, ret);
}

static void transfer(struct campaign *c, struct transfer *t)
{
        strategy_transfer(c->state, t);
}

static int next_again(struct campaign *c, const struct campaign_record *r, struct strategy_input *ret)
{
        int k = r->is_known ? strategy_again(c->state, r->id, ret) : strategy_next(c->state, ret);

        /* the strategy must give the same input again, or wait again */
        if (k == 0 ? ret->id != r->id : k == -ENOENT || (k == -EAGAIN && r->id != 0))
                return errorf(-EIO, "the campaign's journal does not fit its settings");
        return k;
}

static int replay(struct campaign *c, const struct campaign_record *r)
{
        /* The last confirmation; an earlier one was cut off before the input's end, and does not count. */
        struct campaign_record confirmed = {.event = EVENT_CONFIRMED, .id = r->id};

        if (r->event == EVENT_RAN)
                strategy_ran(c->state, r->id, r->version, &(struct outcome){.seconds = scale(c, r->amount), .verdict = r->verdict});
        if (r->event == EVENT_RAN || r->event == EVENT_AGAIN) {
                c->status.runs++;
                c->status.solving += r->seconds;
        } else if (r->event == EVENT_FINISH) {
                bool is_confirmed = campaign_journal_find(c->journal, &confirmed);

                finish_input(c, r->id, is_confirmed, confirmed.is_find);
        } else if (r->event != EVENT_CONFIRMED) {
                return errorf(-EIO, "the campaign's journal has a record of another kind of campaign");
        }
        return 0;
}

static void print_table(struct campaign *c, struct buffer *ret)
{
        struct strategy_arm arms[N_OPS];
        size_t n = strategy_arms(c->state, arms, ARRAY_SIZE(arms));

        buffer_adds(ret, "arm\texpected\tused\twon\n");
        for (size_t i = 0; i < n; i++)
                buffer_addf(ret, "%s\t%.4f\t%" PRIu64 "\t%" PRIu64 "\n", arms[i].name, arms[i].mean, arms[i].used, arms[i].won);
}

const struct campaign_type campaign_of_slowdowns = {
        .table = "operators.tsv",
        .check = check,
        .begin = begin,
        .end = end,
        .next = next,
        .transfer = transfer,
        .next_again = next_again,
        .replay = replay,
        .try = try,
        .print_table = print_table,
};
