#include "tests/study/synthetic.h"

#include "tests/study/halves.h"

#include <math.h>

#define WORDS(n)   (((n) + 63) / 64)
#define NONE_BUILT SIZE_MAX
#define LIMIT      20.0 /* seconds of a run */

static void *must(void *p)
{
        if (!p)
                abort();
        return p;
}

static double uniform(struct random *r, double low, double high)
{
        return low + (high - low) * random_uniform(r);
}

/* -- history ------------------------------------------------------------------------------------------------------ */

/* A main line; where there are merges, every sixth commit or so merges a branch of one to eight commits that left it a little earlier. */
static void make_commits(struct synthetic *s, struct random *r)
{
        size_t n = s->options.commits, tip = 0;

        s->commits = must(calloc(n, sizeof(*s->commits)));
        s->parents = must(calloc(n, sizeof(*s->parents)));
        s->main = must(calloc(n, sizeof(*s->main)));
        s->n = 1;
        s->main[s->n_main++] = 0;
        while (s->n < n) {
                size_t length = s->options.merges && random_below(r, 6) == 0 ? 1 + random_below(r, 8) : 0;
                size_t side = s->main[s->n_main - 1 - random_below(r, MIN(s->n_main, 12))];

                if (length > 0 && s->n + length + 1 > n)
                        length = 0;
                for (size_t i = 0; i < length; i++) {
                        s->parents[s->n][0] = side;
                        s->commits[s->n].n_parents = 1;
                        side = s->n++;
                }
                s->parents[s->n][0] = tip;
                s->parents[s->n][1] = side;
                s->commits[s->n].n_parents = length > 0 ? 2 : 1;
                tip = s->n++;
                s->main[s->n_main++] = tip;
        }
        s->ancestors = must(calloc(n * WORDS(n), sizeof(*s->ancestors)));
        for (size_t i = 0; i < n; i++) {
                uint64_t *row = s->ancestors + i * WORDS(n);

                s->commits[i].parents = s->parents[i];
                row[i / 64] |= UINT64_C(1) << i % 64;
                for (size_t p = 0; p < s->commits[i].n_parents; p++)
                        for (size_t w = 0; w < WORDS(n); w++)
                                row[w] |= s->ancestors[s->parents[i][p] * WORDS(n) + w];
        }
}

bool synthetic_is_ancestor(const struct synthetic *s, size_t ancestor, size_t commit)
{
        return s->ancestors[commit * WORDS(s->n) + ancestor / 64] >> ancestor % 64 & 1;
}

/* Stretches of one to thirty commits, and single ones. */
static void make_unbuildable(struct synthetic *s, struct random *r)
{
        s->unbuildable = must(calloc(s->n, sizeof(*s->unbuildable)));
        if (!s->options.unbuildable)
                return;
        for (size_t i = 0; i < s->n / 100; i++) {
                size_t from = 1 + random_below(r, s->n - 2), length = i % 2 == 0 ? 1 : 1 + random_below(r, 30);

                for (size_t k = from; k < MIN(from + length, s->n - 1); k++)
                        s->unbuildable[k] = true;
        }
}

/* -- cases -------------------------------------------------------------------------------------------------------- */

static void add_event(struct synthetic_case *c, size_t commit, double share)
{
        for (size_t i = 0; i < c->n_events; i++)
                if (c->events[i].commit == commit)
                        return;
        c->events[c->n_events++] = (struct synthetic_event){commit, share};
}

/* The events of a case: one culprit, or several, or one whose fix another undoes; sometimes small drifts. */
static void make_events(struct synthetic *s, struct synthetic_case *c, const size_t *culprits, size_t n, struct random *r)
{
        static const double shares[][3] = {{0.5, 0.5}, {0.4, 0.6}, {0.62, 0.38}};
        unsigned shape = s->options.shapes ? (unsigned)random_below(r, 10) : 0;
        size_t first = culprits[random_below(r, n)];

        c->monotone = true;
        if (shape >= 7 && shape < 9) { /* two steps up */
                size_t second = culprits[random_below(r, n)], kind = random_below(r, ARRAY_SIZE(shares));

                if (first != second) {
                        add_event(c, MIN(first, second), shares[kind][0]);
                        add_event(c, MAX(first, second), shares[kind][1]);
                        return;
                }
        }
        if (shape == 9) { /* up, fixed, up again */
                size_t second = culprits[random_below(r, n)], a = MIN(first, second), b = MAX(first, second);

                if (b > a + 2 && synthetic_is_ancestor(s, a, b)) {
                        size_t fix = a + 1 + random_below(r, b - a - 1);

                        if (synthetic_is_ancestor(s, a, fix) && synthetic_is_ancestor(s, fix, b)) {
                                add_event(c, a, 1);
                                add_event(c, fix, -1);
                                add_event(c, b, 1);
                                c->monotone = false;
                                return;
                        }
                }
        }
        add_event(c, first, 1);
        if (shape == 5 || shape == 6) { /* little steps besides */
                add_event(c, 1 + random_below(r, s->n - 1), 0.1);
                add_event(c, 1 + random_below(r, s->n - 1), -0.08);
        }
}

static double level(const struct synthetic *s, const struct synthetic_case *c, size_t commit)
{
        double sum = 0;

        for (size_t i = 0; i < c->n_events; i++)
                if (synthetic_is_ancestor(s, c->events[i].commit, commit))
                        sum += c->events[i].share;
        return sum;
}

static int compare_sizes(const void *a, const void *b)
{
        size_t x = *(const size_t *)a, y = *(const size_t *)b;

        return (x > y) - (x < y);
}

/* Two of the anchors between which the case gets slower. */
static void make_range(struct synthetic *s, struct synthetic_case *c, const size_t *anchors, struct random *r)
{
        c->reference = s->main[0];
        c->target = s->main[s->n_main - 1];
        for (int try = 0; s->options.anchors > 0 && try < 1000; try++) {
                size_t a = anchors[random_below(r, s->options.anchors)], b = anchors[random_below(r, s->options.anchors)];

                if (a < b && (c->n_events == 0 || level(s, c, b) - level(s, c, a) > 0.9)) {
                        c->reference = a;
                        c->target = b;
                        return;
                }
        }
}

void synthetic_make(struct synthetic *s, const struct synthetic_options *options)
{
        cleanup_free size_t *culprits = NULL, *anchors = NULL;
        struct random r;

        *s = (struct synthetic){.options = *options};
        random_seed(&r, options->seed);
        make_commits(s, &r);
        make_unbuildable(s, &r);
        culprits = must(calloc(options->culprits + 1, sizeof(*culprits)));
        anchors = must(calloc(options->anchors + 1, sizeof(*anchors)));
        for (size_t i = 0; i < options->culprits; i++)
                culprits[i] = 1 + random_below(&r, s->n - 1);
        for (size_t i = 0; i < options->anchors; i++) {
                do
                        anchors[i] = i == 0 ? s->main[0] : i == 1 ? s->main[s->n_main - 1] : s->main[random_below(&r, s->n_main)];
                while (s->unbuildable[anchors[i]]);
        }
        qsort(anchors, options->anchors, sizeof(*anchors), compare_sizes);
        s->cases = must(calloc(options->cases, sizeof(*s->cases)));
        for (size_t i = 0; i < options->cases; i++) {
                struct synthetic_case *c = &s->cases[i];

                c->fast = uniform(&r, 0.3, 2);
                c->slow = c->fast + uniform(&r, 5, 16);
                c->monotone = true;
                if (i >= options->noise_only)
                        make_events(s, c, culprits, options->culprits, &r);
                make_range(s, c, anchors, &r);
        }
        s->built = must(calloc(s->n, sizeof(*s->built)));
}

void synthetic_done(struct synthetic *s)
{
        free(s->commits);
        free(s->parents);
        free(s->main);
        free(s->unbuildable);
        free(s->ancestors);
        free(s->cases);
        free(s->built);
        *s = (struct synthetic){0};
}

/* -- one search --------------------------------------------------------------------------------------------------- */

#define CLEAN_BUILD 400 /* seconds */

/* The next commit costs little in a warm tree, one far away as much as a clean build. */
static double seconds_at(size_t distance)
{
        return 20 + (CLEAN_BUILD - 20) * (1 - exp(-(double)distance / 40));
}

static struct localize_outcome run(struct synthetic *s, const struct synthetic_case *c, size_t commit)
{
        double share = level(s, c, commit), lie = random_uniform(&s->random), z = random_normal(&s->random), seconds;

        if (lie < s->options.lies)
                share = share > 0.75 ? 0 : share < 0.25 ? 1 : lie < s->options.lies / 2;
        seconds = (c->fast + (c->slow - c->fast) * fmax(share, 0)) * exp(s->options.spread * z);
        return (struct localize_outcome){
                .answer = seconds >= LIMIT ? LOCALIZE_TIMEOUT : LOCALIZE_SOLVED, .value = fmin(seconds, LIMIT), .effort = NAN};
}

static bool is_culprit(const struct synthetic *s, const struct synthetic_case *c, const struct synthetic_event *e)
{
        return e->share >= 1.0 / 3 && synthetic_is_ancestor(s, e->commit, c->target) &&
               !synthetic_is_ancestor(s, e->commit, c->reference);
}

static bool holds(const struct localize_culprit *set, size_t commit)
{
        for (size_t i = 0; i < set->n; i++)
                if (set->commits[i] == commit)
                        return true;
        return false;
}

static void score_case(const struct synthetic *s, const struct localize *l, size_t test, struct synthetic_score *score)
{
        const struct synthetic_case *c = &s->cases[test];
        const struct localize_culprit *found;
        size_t n = localize_culprits(l, test, &found), hits = 0, truths = 0, right = 0, reported = 0;
        enum localize_state state = localize_state(l, test);

        score->cases++;
        score->open += state == LOCALIZE_OPEN;
        score->undecided += state == LOCALIZE_UNDECIDED;
        if (c->n_events == 0) {
                score->noise_only++;
                score->noise_said += state == LOCALIZE_NO_CULPRIT && n == 0;
        }
        for (size_t k = 0; k < c->n_events; k++) {
                bool hit = false;

                if (!is_culprit(s, c, &c->events[k]))
                        continue;
                for (size_t i = 0; i < n; i++)
                        hit |= found[i].is_slowdown && holds(&found[i], c->events[k].commit);
                hits += hit;
                truths++;
        }
        if (!c->monotone && truths > 1) { /* at least one */
                hits = hits > 0;
                truths = 1;
        }
        for (size_t i = 0; i < n; i++) {
                bool hit = false;

                if (!found[i].is_slowdown)
                        continue;
                reported++;
                for (size_t k = 0; k < c->n_events; k++)
                        hit |= is_culprit(s, c, &c->events[k]) && holds(&found[i], c->events[k].commit);
                right += hit;
                if (found[i].n > 1) {
                        bool explained = true;

                        score->sets++;
                        score->set_commits += found[i].n;
                        for (size_t k = 0, m = 0; k + 1 < found[i].n; k++) {
                                while (s->main[m] < found[i].commits[k] && m + 1 < s->n_main)
                                        m++;
                                explained &= s->main[m] != found[i].commits[k] || s->unbuildable[found[i].commits[k]];
                        }
                        score->wrong_sets += !explained;
                }
        }
        score->true_culprits += truths;
        score->found += hits;
        score->reported += reported;
        score->right += right;
        score->exact += hits == truths && right == reported && state != LOCALIZE_OPEN;
}

struct case_builds {
        bool *built;
        size_t last;
        double seconds;
};

/* What `git bisect run` pays: a build of its own for each case, in a warm tree that goes from commit to commit. */
static void charge_case(struct synthetic *s, struct case_builds *b, size_t commit, struct synthetic_score *score)
{
        if (!b->built) {
                b->built = must(calloc(s->n, sizeof(*b->built)));
                b->last = NONE_BUILT;
        }
        if (b->built[commit])
                return;
        b->built[commit] = true;
        score->case_builds++;
        b->seconds += b->last == NONE_BUILT ? CLEAN_BUILD : seconds_at(commit > b->last ? commit - b->last : b->last - commit);
        b->last = commit;
}

static void note_done(struct synthetic_score *score, double seconds, size_t cases)
{
        list_grow(score->done, score->n_done);
        score->done[score->n_done][0] = seconds;
        score->done[score->n_done++][1] = (double)cases;
}

/* Builds and runs what the search wants. What many want in one plan is built once. */
static void answer(struct synthetic *s, struct localize *l, const struct localize_want *w, bool is_end, struct synthetic_score *score)
{
        bool is_unbuildable = s->unbuildable[w->commit];
        struct localize_outcome outcome;

        if (!s->built[w->commit]) {
                s->built[w->commit] = true;
                score->builds++;
                score->failed_builds += is_unbuildable;
                score->searched_builds += is_unbuildable || !is_end;
                score->build_seconds += CLEAN_BUILD;
                if (is_unbuildable)
                        localize_unbuildable(l, w->commit);
        }
        if (is_unbuildable)
                return;
        score->runs += !w->verify;
        score->verify_runs += w->verify;
        outcome = run(s, &s->cases[w->test], w->commit);
        outcome.seed = w->seed;
        localize_feed(l, w->commit, w->test, &outcome);
}

void synthetic_search(struct synthetic *s, const struct localize_options *given, struct synthetic_score *ret)
{
        cleanup_localize struct localize *l = NULL;
        struct localize_options options = *given;
        const struct localize_want *wants;
        cleanup_free struct case_builds *own = must(calloc(s->options.cases, sizeof(*own)));
        cleanup_free bool *is_end = must(calloc(s->n, sizeof(*is_end)));
        size_t n;

        *ret = (struct synthetic_score){0};
        options.limit = LIMIT;
        random_seed_part(&s->random, s->options.seed, 1);
        memset(s->built, 0, s->n * sizeof(*s->built));
        if (localize_new(&options, s->commits, s->n, &l) < 0)
                abort();
        localize_set_costs(l, CLEAN_BUILD, 0);
        for (size_t i = 0; i < s->options.cases; i++) {
                if (localize_add_case(
                            l, s->cases[i].reference, s->cases[i].target) < 0)
                        abort();
                is_end[s->cases[i].reference] = is_end[s->cases[i].target] = true;
        }
        while (localize_plan(l, &wants, &n) >= 0 && n > 0) {
                struct localize_progress progress;

                ret->plans++;
                localize_progress(l, &progress);
                note_done(ret, ret->build_seconds, progress.finished);
                for (size_t i = 0; i < n; i++) {
                        charge_case(s, &own[wants[i].test], wants[i].commit, ret);
                        answer(s, l, &wants[i], is_end[wants[i].commit], ret);
                }
        }
        for (size_t i = 0; i < s->options.cases; i++)
                score_case(s, l, i, ret);
        note_done(ret, ret->build_seconds, ret->cases - ret->open);
        if (options.plan == plan_git_bisect) /* which is one case after another */
                ret->n_done = 0;
        for (size_t i = 0; i < s->options.cases; i++) {
                ret->case_build_seconds += own[i].seconds;
                if (options.plan == plan_git_bisect)
                        note_done(ret, ret->case_build_seconds, i + 1);
                free(own[i].built);
        }
}
