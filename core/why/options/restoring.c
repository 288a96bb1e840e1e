#include "core/why/options/restoring.h"

#include <math.h>

#include "core/cases/cases.h"
#include "core/recipe/recipe_keys.h"
#include "core/why/options/option_list.h"
#include "core/why/options/option_search.h"
#include "core/workspace/lease.h"

#define INPUT_MOST    ((size_t)1 << 30)
#define LIST_NS       (10 * NSEC_PER_SEC) /* for printing a list */
#define PAIRS_LEAST   8                   /* before the two versions are judged */
#define SHOWN_RATIO   2.0                 /* least ratio of a pair that shows a regression, if there is none over seeds */
#define RESTORED_ODDS 90.0                /* of Wald's test: a false find costs a search for its smallest part; */
#define SLOW_ODDS     16.0                /* a miss costs one of many groups; */
#define CAREFUL_ODDS  500.0               /* an error leaves a needless flip in the result */
#define MIRRORED_MOST 3

enum round {
        ROUND_DIFFERS, /* another default */
        ROUND_NAMED,   /* in the culprit's change */
        ROUND_NEW,     /* the reference does not have it */
        ROUND_OTHER,
        N_ROUNDS
};

struct candidate {
        const struct option *option, *reference; /* reference: the other version's, or NULL */
        char **values;                           /* owned */
        const char **why;                        /* owned; for each value: why it broke a set; NULL: it did not */
};
struct restoring {
        const struct restoring_question *question;
        struct restoring_answer *answer;
        struct lease lease;
        struct held programs[2];
        struct blob input;
        size_t questions; /* of the input */
        struct option_list lists[2];
        struct candidate *candidates; /* owned */
        struct option_candidate *search; /* owned; the same for option_search() */
        size_t n;
        struct judge_pair *pairs; /* [question's seeds]; of the two versions */
        size_t n_pairs;
        enum verdict expected;
        unsigned *shown; /* [answer->shown]; seeds that show the regression, the plainest first */
        double *cut;     /* [question's seeds]; a run of at most so many seconds is fast */
        double evidence[2]; /* log-likelihood ratio for a restoring set, of a run that is not fast and of one that is */
};

/* -- one run ------------------------------------------------------------------------------------------------------ */

static int run_program(struct restoring *s, int side, const struct recipe *recipe, struct slice input, uint64_t seed, struct run_result *ret)
{
        const struct runner_options options = {.recipe = recipe,
                                               .programs = s->programs[side].list,
                                               .n_programs = s->programs[side].n,
                                               .limits = recipe->limits,
                                               .has_seed = seed > 0,
                                               .seed = seed};

        return lease_yield(&s->lease)
            ?: lease_run(&s->lease, LEASE_ONCE, &options, &(struct run_input){.bytes = input, .questions = input.size > 0 ? s->questions : 0}, ret);
}

/* Runs a version under seed i, 0 for the case itself; `limit`: seconds by the clock that counts, 0: the whole. `arguments` may be NULL. */
static int run_version(struct restoring *s, int side, const char *arguments, unsigned i, double limit, struct judge_run *ret)
{
        const struct restoring_question *q = s->question;
        cleanup(recipe_unrefp) struct recipe *like = recipe_for_format(q->version[side]->solver->recipe, q->info->format), *recipe = recipe_copy(like);
        cleanup(run_result_done) struct run_result result = {0};
        char what[64];
        int r;

        if (arguments)
                recipe_add_arguments(recipe, arguments);
        cell_limits(&(struct cell){.solver = q->version[side]->solver, .commit = q->version[side]->commit, .wall_ns = q->timeout_ns}, &recipe->limits);
        if (limit == 0 && !(q->is_cpu_time && q->timeout_ns > 0) && recipe->limits.cpu_ns > 0) /* a 'cputime' below 'time' is the limit */
                recipe->limits.wall_ns = MIN(recipe->limits.wall_ns, recipe->limits.cpu_ns);
        if (limit == 0)
                limit = (double)recipe->limits.wall_ns / 1e9;
        recipe->limits.wall_ns = seconds_ns(q->is_cpu_time ? lease_wall(limit) : limit);
        if (q->is_cpu_time)
                recipe->limits.cpu_ns = seconds_ns(limit);
        snprintf(what, sizeof(what), "options: %ju runs", (uintmax_t)s->answer->runs);
        r = progress_step(q->progress, what, 0, 0)
            ?: run_program(s, side, recipe, SLICE(s->input.data, s->input.size), s->answer->has_seeds ? i : 0, &result);
        s->answer->runs++;
        if (r == 0) {
                const uint64_t ns = q->is_cpu_time ? result.run.user_ns + result.run.system_ns : result.run.wall_ns;

                *ret = (struct judge_run){.is_known = true, .verdict = result.verdict, .limit = limit, .cpu_seconds = NAN, .memory = NAN, .effort = NAN};
                ret->seconds = result.verdict == VERDICT_TIMEOUT ? limit : fmax((double)ns / 1e9, 1e-6);
        }
        return r;
}

/* -- lists of options --------------------------------------------------------------------------------------------- */

static int print_options(struct restoring *s, int side, const char *arguments, struct buffer *ret)
{
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_asking(s->question->version[side]->solver->recipe, arguments, LIST_NS);
        cleanup(run_result_done) struct run_result result = {0};
        int r;

        ret->size = 0;
        r = run_program(s, side, recipe, SLICE("", 0), 0, &result);
        if (r == 0)
                for (int i = 0; i < 2; i++) { /* minisat prints it to standard error */
                        const struct blob *b = i == 0 ? &result.run.out : &result.run.err;

                        buffer_add(ret, b->data, b->size);
                }
        return r < 0 ? r : buffer_error(ret);
}

/* Reads the options by the recipe's key, else by whichever of the usual arguments lists more. */
static int read_options(struct restoring *s, int side)
{
        const char *key = s->question->version[side]->solver->recipe->options, *const usual[] = {"--help", "-pd"};
        struct option_list *list = &s->lists[side];
        cleanup_buffer struct buffer text = {0};
        bool answers = true;
        int r = 0;

        for (size_t i = 0; r == 0 && i < (key ? 1 : ARRAY_SIZE(usual)); i++) {
                struct option_list one;

                r = print_options(s, side, key ?: usual[i], &text);
                option_list_read(SLICE(text.data, r == 0 ? text.size : 0), &one);
                if (one.n > list->n) {
                        struct option_list other = *list;

                        *list = one;
                        one = other;
                }
                option_list_done(&one);
        }
        for (size_t i = 0; r == 0 && answers && i < list->n; i++) {
                cleanup_free char *arguments = format_string("%shelp", list->list[i].set);

                if (!list->list[i].asks_modes)
                        continue;
                r = print_options(s, side, arguments, &text);
                answers = text.size > 0; /* a program that hangs does so for all */
                option_read_modes(&list->list[i], SLICE(text.data, r == 0 ? text.size : 0));
        }
        s->answer->listed[side] = list->n;
        s->answer->passed_over[side] = list->passed_over;
        s->answer->unread[side] = list->unread;
        if (r == 0 && list->n == 0 && side == 1)
                r = errorf(-ENODATA, "%s prints no list of options%s%s; name the arguments for that by 'options' in the recipe",
                           s->question->version[side]->name, key ? " when it is called with " : "", key ?: "");
        return r;
}

static void add_candidate(struct restoring *s, const struct option *o, const struct option *reference)
{
        const bool differs = reference && option_differs(o, reference);
        const bool is_new = !reference && s->lists[0].n > 0;
        const unsigned round = differs ? ROUND_DIFFERS : option_is_in_patch(o, s->question->patch) ? ROUND_NAMED : is_new ? ROUND_NEW : ROUND_OTHER;
        char **values = option_values(o, reference);
        const size_t n = strings_count(values);

        s->answer->set_aside += n > 0 && !differs && !o->is_of_search;
        if (n == 0 || (!differs && !o->is_of_search)) {
                strings_free(values);
                return;
        }
        list_grow(s->candidates, s->n);
        list_grow(s->search, s->n);
        s->search[s->n] = (struct option_candidate){.n_values = n, .round = round};
        s->candidates[s->n++] = (struct candidate){o, reference, values, allocate(n, sizeof(char *))};
}

static int find_candidates(struct restoring *s)
{
        int r = read_options(s, 0) ?: read_options(s, 1);

        for (size_t i = 0; r == 0 && i < s->lists[1].n; i++)
                add_candidate(s, &s->lists[1].list[i], option_list_find(&s->lists[0], s->lists[1].list[i].name));
        s->answer->candidates = s->n;
        return r;
}

/* -- before the search -------------------------------------------------------------------------------------------- */

static bool is_solved(const struct restoring *s, const struct judge_run *run)
{
        return run->verdict == s->expected;
}

/* Seconds; a run that does not solve it counts its limit. */
static double amount(const struct restoring *s, const struct judge_run *run)
{
        return is_solved(s, run) ? run->seconds : run->limit;
}

static double slowdown(const struct restoring *s, size_t i)
{
        return amount(s, &s->pairs[i].run[1]) / amount(s, &s->pairs[i].run[0]);
}

/* Under seed i. */
static bool is_fast(const struct restoring *s, const struct judge_run *run, size_t i)
{
        return is_solved(s, run) && run->seconds <= s->cut[i];
}

/* Judges runs of side `from` of some pairs against side `to` of others. */
static enum judge_change judge_sides(const struct judge_pair *a, int from, const struct judge_pair *b, int to, size_t n)
{
        cleanup_free struct judge_pair *pairs = allocate(n + 1, sizeof(*pairs));
        cleanup_judgement struct judgement j;

        for (size_t i = 0; i < n; i++)
                pairs[i] = (struct judge_pair){{a[i].run[from], b[i].run[to]}};
        judge(&(struct judge_case){.pairs = pairs, .n_pairs = n}, 1, &(struct judge_options){.most_pairs = JUDGE_PAIRS}, &j);
        return j.cases[0].change;
}

/* Fills in the answer's numbers of a side, from run[of] of the pairs. */
static void note_side(struct restoring *s, enum restoring_side side, const struct judge_pair *pairs, int of, size_t n)
{
        cleanup_free double *list = allocate(n, sizeof(*list));

        s->answer->seeds[side] = n;
        s->answer->fast[side] = 0;
        for (size_t i = 0; i < n; i++) {
                s->answer->fast[side] += is_fast(s, &pairs[i].run[of], i);
                list[i] = amount(s, &pairs[i].run[of]);
        }
        qsort(list, n, sizeof(*list), compare_doubles);
        s->answer->seconds[side] = list[(n - 1) / 2];
}

/* Under the seeds shown nearly all runs of a restoring set are fast; of any other set as many as of the target's under any seed. */
static void set_evidence(struct restoring *s)
{
        const double shown = (double)s->answer->shown, n = (double)s->n_pairs, fast = (shown + 0.5) / (shown + 1);
        double luck = 0;

        for (size_t k = 0; k < s->answer->shown; k++)
                for (size_t i = 0; i < s->n_pairs; i++)
                        luck += is_fast(s, &s->pairs[i].run[1], s->shown[k]) / shown;
        luck = fmin((luck + 0.5) / (n + 1), fast - 0.1);
        s->evidence[true] = log(fast / luck);
        s->evidence[false] = log((1 - fast) / (1 - luck));
}

/* Finds the reference's answer, the seeds that show the regression, and for each seed the time up to which a run is fast. */
static int find_cut(struct restoring *s)
{
        struct restoring_answer *a = s->answer;
        const double ratio = judge_is_regression(a->change) ? JUDGE_FLOOR : SHOWN_RATIO;
        double sum = 0;
        size_t votes[N_VERDICTS] = {0}, k;

        for (size_t i = 0; i < s->n_pairs; i++)
                votes[s->pairs[i].run[0].verdict]++;
        if (votes[VERDICT_SAT] + votes[VERDICT_UNSAT] == 0)
                return errorf(-ENODATA, "the reference does not solve it in any of %zu pairs of runs", s->n_pairs);
        s->expected = votes[VERDICT_SAT] >= votes[VERDICT_UNSAT] ? VERDICT_SAT : VERDICT_UNSAT;
        for (unsigned i = 0; i < s->n_pairs; i++) {
                const double before = amount(s, &s->pairs[i].run[0]), after = amount(s, &s->pairs[i].run[1]);

                if (!is_solved(s, &s->pairs[i].run[0]) || after < ratio * before || after - before < JUDGE_SECONDS)
                        continue;
                for (k = a->shown++; k > 0 && slowdown(s, s->shown[k - 1]) < after / before; k--)
                        s->shown[k] = s->shown[k - 1];
                s->shown[k] = i;
                s->cut[i] = sqrt(before * after);
                sum += log(s->cut[i]);
        }
        if (a->shown == 0)
                return errorf(-ENODATA, "the target is not slower than the reference in any of %zu pairs of runs%s", s->n_pairs,
                              a->has_seeds ? ", each under another seed" : "");
        for (size_t i = 0; i < s->question->seeds; i++)
                s->cut[i] = s->cut[i] > 0 ? s->cut[i] : exp(sum / (double)a->shown);
        note_side(s, RESTORING_REFERENCE, s->pairs, 0, s->n_pairs);
        note_side(s, RESTORING_TARGET, s->pairs, 1, s->n_pairs);
        set_evidence(s);
        return 0;
}

/* Runs pairs until a regression shows, or for all seeds. */
static int run_pairs(struct restoring *s)
{
        const size_t n = s->question->seeds;
        int r = 0;

        s->answer->change = JUDGE_UNKNOWN;
        while (r == 0 && s->n_pairs < n) {
                struct judge_pair *p = &s->pairs[s->n_pairs];
                const int first = s->n_pairs % 2;

                r = run_version(s, first, NULL, (unsigned)s->n_pairs, 0, &p->run[first])
                    ?: run_version(s, !first, NULL, (unsigned)s->n_pairs, 0, &p->run[!first]);
                if (r < 0)
                        break;
                s->n_pairs++;
                if (s->n_pairs < MIN(n, (size_t)PAIRS_LEAST))
                        continue;
                s->answer->change = judge_sides(s->pairs, 0, s->pairs, 1, s->n_pairs);
                if (judge_is_regression(s->answer->change))
                        break;
        }
        return r < 0 ? r : find_cut(s);
}

/* -- the search --------------------------------------------------------------------------------------------------- */

/* Adds the flip in the notation of `o`, the option of either version; nothing if that has none of this name (NULL). */
static void add_argument(const struct restoring *s, const struct option_flip *flip, const struct option *o, struct buffer *to)
{
        if (!o)
                return;
        buffer_adds(to, to->size > 0 ? " " : "");
        option_add_argument(o, s->candidates[flip->candidate].values[flip->value], to);
}

static char *arguments_of(const struct restoring *s, const struct option_flip *flips, size_t n)
{
        cleanup_buffer struct buffer b = {0};

        for (size_t i = 0; i < n; i++)
                add_argument(s, &flips[i], s->candidates[flips[i].candidate].option, &b);
        return copy_string(b.data ?: "");
}

/* A run under the i-th seed that shows the regression. */
static int probe(struct restoring *s, int side, const char *arguments, size_t i, struct judge_run *ret)
{
        return s->answer->runs < s->question->most_runs ? run_version(s, side, arguments, s->shown[i], s->cut[s->shown[i]], ret) : -EXFULL;
}

/* The reason why a run's time does not count; NULL: it counts. */
static const char *why_broken(const struct restoring *s, const struct judge_run *run)
{
        if (is_solved(s, run) || run->verdict == VERDICT_TIMEOUT)
                return NULL;
        for (size_t i = 0; i < s->n_pairs; i++) /* the versions fail in the same way themselves */
                if (s->pairs[i].run[0].verdict == run->verdict || s->pairs[i].run[1].verdict == run->verdict)
                        return NULL;
        return run->verdict == VERDICT_ERROR ? "refused" : verdict_is_decided(run->verdict) ? "another answer" : verdict_name(run->verdict);
}

/* OPTIONS_BROKEN if even the reference is slow with these flips, under two seeds, as one may be chance. */
static int check_spoiled(struct restoring *s, const struct option_flip *flips, size_t n, enum option_outcome *ret)
{
        cleanup_buffer struct buffer arguments = {0};
        const struct option_flip *last = &flips[n - 1];
        struct judge_run run;
        bool is_spoiled = true;

        for (size_t i = 0; i < n; i++)
                add_argument(s, &flips[i], s->candidates[flips[i].candidate].reference, &arguments);
        for (size_t i = 0; is_spoiled && arguments.size > 0 && i < MIN(s->answer->shown, (size_t)2); i++) {
                int r = probe(s, 0, arguments.data, i, &run);

                if (r < 0)
                        return r;
                is_spoiled = !is_fast(s, &run, s->shown[i]);
        }
        if (is_spoiled && arguments.size > 0) {
                *ret = OPTIONS_BROKEN;
                s->candidates[last->candidate].why[last->value] = why_broken(s, &run) ?: "slows the reference, too";
        }
        return 0;
}

/* option_search_options.test: Wald's test over the seeds that show the regression. */
static int test(void *user, const struct option_flip *flips, size_t n, enum option_care care, enum option_outcome *ret)
{
        struct restoring *s = user;
        cleanup_free char *arguments = arguments_of(s, flips, n);
        const struct option_flip *last = &flips[n - 1];
        const double slow = care == OPTIONS_CAREFUL ? CAREFUL_ODDS : SLOW_ODDS;
        double odds = 0;

        for (size_t i = 0; i < s->answer->shown && odds < log(RESTORED_ODDS) && odds > -log(slow); i++) {
                struct judge_run run;
                const char *why;
                int r = probe(s, 1, arguments, i, &run);

                if (r < 0)
                        return r;
                why = why_broken(s, &run);
                if (why) {
                        s->candidates[last->candidate].why[last->value] = why; /* the last flip of the shortest breaking prefix is the cause */
                        *ret = OPTIONS_BROKEN;
                        return 0;
                }
                odds += s->evidence[is_fast(s, &run, s->shown[i])];
        }
        *ret = odds > 0 ? OPTIONS_RESTORED : OPTIONS_SLOW;
        return *ret == OPTIONS_SLOW && care == OPTIONS_SWEEP ? check_spoiled(s, flips, n, ret) : 0;
}

/* Runs a set under all seeds, with the whole limit. */
static int confirm(void *user, const struct option_flip *flips, size_t n, enum option_outcome *ret)
{
        struct restoring *s = user;
        struct restoring_answer *a = s->answer;
        const size_t seeds = s->question->seeds;
        cleanup_free char *arguments = arguments_of(s, flips, n);
        cleanup_free struct judge_pair *pairs = allocate(seeds, sizeof(*pairs));
        size_t fast = 0;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < seeds; i++)
                r = run_version(s, 1, arguments, i, 0, &pairs[i].run[0]);
        if (r < 0)
                return r;
        for (size_t i = 0; i < a->shown; i++)
                fast += is_fast(s, &pairs[s->shown[i]].run[0], s->shown[i]);
        note_side(s, RESTORING_FLIPPED, pairs, 0, seeds);
        a->effect = judge_sides(s->pairs, 1, pairs, 0, s->n_pairs);
        a->remaining = judge_sides(s->pairs, 0, pairs, 0, s->n_pairs);
        /* three quarters of the runs that matter are fast; and if there is a regression, undoing it is shown, too */
        *ret = fast * 4 >= a->shown * 3 && (!judge_is_regression(a->change) || judge_is_improvement(a->effect)) ? OPTIONS_RESTORED : OPTIONS_SLOW;
        return 0;
}

/* Runs the reference with the target's defaults of the options found. */
static int mirror(struct restoring *s, const struct option_search_result *found)
{
        struct restoring_answer *a = s->answer;
        cleanup_buffer struct buffer arguments = {0};
        struct judge_run run;
        int r = 0;

        for (size_t i = 0; i < found->n; i++) {
                const struct candidate *c = &s->candidates[found->flips[i].candidate];

                if (!c->reference || !option_differs(c->option, c->reference))
                        continue;
                buffer_adds(&arguments, arguments.size > 0 ? " " : "");
                option_add_argument(c->reference, c->option->value, &arguments);
        }
        if (arguments.size > 0)
                a->mirror = copy_string(arguments.data);
        for (size_t i = 0; r == 0 && a->mirror && i < MIN(a->shown, (size_t)MIRRORED_MOST); i++) {
                r = run_version(s, 0, a->mirror, s->shown[i], s->cut[s->shown[i]], &run);
                a->mirrored += r == 0;
                a->mirrored_slow += r == 0 && !is_fast(s, &run, s->shown[i]);
        }
        return r;
}

/* -- the whole ---------------------------------------------------------------------------------------------------- */

/* The search begins with the last of a list, people with the first. */
static struct restoring_flip *flips_of(const struct restoring *s, const struct option_flip *list, size_t n)
{
        struct restoring_flip *ret = allocate(n + 1, sizeof(*ret));

        for (size_t i = 0; i < n; i++)
                ret[n - 1 - i] = (struct restoring_flip){arguments_of(s, &list[i], 1), s->candidates[list[i].candidate].why[list[i].value]};
        return ret;
}

static int search(struct restoring *s)
{
        struct restoring_answer *a = s->answer;
        cleanup_option_search_result struct option_search_result found = {0};
        const struct option_search_options options = {.candidates = s->search, .n = s->n, .rounds = N_ROUNDS, .test = test, .confirm = confirm, .user = s};
        int r = option_search(&options, &found) ?: mirror(s, &found);

        a->flips = flips_of(s, found.flips, found.n);
        a->n = found.n;
        a->dropped = flips_of(s, found.dropped, found.n_dropped);
        a->n_dropped = found.n_dropped;
        a->is_cut_off = found.is_cut_off;
        a->sets = found.tests;
        return r;
}

static void restoring_done(struct restoring *s)
{
        for (size_t i = 0; i < s->n; i++) {
                strings_free(s->candidates[i].values);
                free(s->candidates[i].why);
        }
        free(s->candidates);
        free(s->search);
        for (int side = 0; side < 2; side++) {
                option_list_done(&s->lists[side]);
                held_done(&s->programs[side]);
        }
        lease_leave(&s->lease);
        blob_done(&s->input);
        free(s->pairs);
        free(s->shown);
        free(s->cut);
}

int restoring_run(const struct restoring_question *q, struct restoring_answer *ret)
{
        cleanup(restoring_done) struct restoring s = {
                .question = q, .answer = ret, .lease = {q->workspace, NULL, "options", q->cancel_fd, .slot.lock = -1}};
        int r = lease_place(q->version[0]->solver, q->version[1]->solver, &s.lease.pool);

        *ret = (struct restoring_answer){.has_seeds = true};
        s.pairs = allocate(q->seeds, sizeof(*s.pairs));
        s.shown = allocate(q->seeds, sizeof(*s.shown));
        s.cut = allocate(q->seeds, sizeof(*s.cut));
        for (int side = 0; r == 0 && side < 2; side++) {
                ret->has_seeds &= q->version[side]->solver->recipe->seed != NULL;
                r = version_hold(q->workspace, q->version[side], &s.programs[side]);
        }
        if (r == 0)
                r = cases_read_bytes(workspace_cases(q->workspace), q->info, INPUT_MOST, &s.input);
        s.questions = case_questions(q->info->format, SLICE(s.input.data, s.input.size));
        if (r == 0)
                r = find_candidates(&s) ?: run_pairs(&s);
        return r == 0 ? search(&s) : r;
}

int restoring_read_change(struct solver *s, uint32_t commit, struct buffer *ret)
{
        cleanup_buffer struct buffer patch = {0};
        int r = history_patch(s->history, commit, &patch);

        if (r < 0)
                return r;
        option_read_patch(SLICE(patch.data, patch.size), ret);
        return buffer_error(ret);
}
