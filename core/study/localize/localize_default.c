/* The method. A plan takes each case's line of first parents: its ends, then each gap between two neighbouring places that were run. A gap is unsure
 * (repeat a run), without a change (nothing), or with one: builds split it, until the change is a culprit (verify) or a merge (search its sides). */
#include "core/study/localize/localize_internal.h"
#include "core/study/base/stat.h"

/* The required probability that the reported set contains a change, or that there is none. */
#define SURE        0.999
#define SURE_NONE   0.998
/* The changes expected on a line. 1 without knowledge, so that "no change" begins with 37 % (40 % of reported breakages are flakes). More on the side of a
 * merge: it is searched because the change is there or is the merge itself. */
#define RATE_LINE 1.0
#define RATE_SIDE 2.0
#define VERIFY_PAIRS 5  /* interleaved pairs of runs by which a culprit is verified, at least */
#define MOST_SAMPLES 80 /* runs of one case on one commit before it is called undecided */
/* The required probability for a case whose runs are used up. */
#define SURE_SPENT 0.98

/* The search of one case in one plan. */
struct search {
        struct localize *l;
        struct test *t;
        size_t test;
        bool open, undecided, no_change, end_failed;
        bool is_side_cut_off; /* of the merge at hand */
        unsigned depth;
        size_t *blamed; /* blamed together with the merge at hand: commits of its sides that were not tested */
        size_t n_blamed;
};

static bool search_side(struct search *s, const struct line *line, int before, int after);

static int top_level(const struct sighting *at)
{
        int top = 0;

        for (int k = 1; k < N_LEVELS; k++)
                if (at->level[k] > at->level[top])
                        top = k;
        return top;
}

/* -- when is it sure enough --------------------------------------------------------------------------------------- */

/* The case's verification of these two programs; n_verifications: it has none. */
static size_t verification_at(const struct test *t, size_t before, size_t after)
{
        size_t k = 0;

        while (k < t->n_verifications && (t->verifications[k].before != before || t->verifications[k].after != after))
                k++;
        return k;
}

/* The accepted risk of a wrong turn, by costs: a wrong turn costs the builds down to its end, except those that others need anyway; another run costs its
 * seconds. */
static double wrong_turn_risk(const struct search *s, const struct line *line, size_t a, size_t b)
{
        const struct thresholds *t = &s->t->thresholds;
        double others = 0, build = 0, run = fmax((t->fast + (isfinite(t->slow) ? t->slow : t->fast)) / 2, 0.001);
        size_t k = verification_at(s->t, line->at[a], line->at[b]);
        bool is_verified = k < s->t->n_verifications && s->t->verifications[k].n[0] > 0 && s->t->verifications[k].n[1] > 0;

        if (b - a < 2) /* verification comes next, which repeats runs here anyway */
                return is_verified ? 1 - SURE : 0.05;
        if (s->l->run_seconds > 0)
                run = s->l->run_seconds;
        for (size_t x = a + 1; x <= b; x++)
                others += s->l->density[line->at[x]];
        for (size_t quarter = 1; quarter <= 3; quarter++)
                build += build_cost(s->l, line->at[a + (b - a) * quarter / 4]) / 3;
        build *= log2((double)(b - a)) / fmax(others, 1);
        return fmin(fmax(run / (build + run), 0.001), 0.05);
}

/* Asks for as many runs on the program as settle its level if they agree: each multiplies the odds of the likeliest level by (1 - noise) / noise. At most
 * six at once. */
static void repeat(struct search *s, const struct line *line, const struct sighting *at, double risk)
{
        double top = fmin(at->level[top_level(at)], 1 - 1e-9), noise = 0, missing = log((1 - risk) / risk) - log(top / (1 - top));
        unsigned times;

        for (int k = 0; k < N_NOISE; k++)
                noise += s->t->noise[k] * grid_mean(&noise_grid[k]);
        noise = fmax(noise, grid_mean(&noise_grid[0]));
        times = (unsigned)fmin(fmax(ceil(missing / log((1 - noise) / noise)), 1), 6);
        s->open = true;
        for (unsigned i = 0; i < times; i++)
                want_run(s->l, line->at[at->place], s->test);
}

/* May the case want a run? If not, notes that it would have wanted one. */
static bool may_ask(struct search *s)
{
        s->t->is_cut_off |= s->t->is_spent;
        return !s->t->is_spent;
}

static bool may_repeat(struct search *s, const struct sighting *at)
{
        return at->n < MOST_SAMPLES && may_ask(s);
}

/* True if the level is one of effort, and the values before and after the change are surely closer than a quarter of the ends' ratio: effort changed
 * there, time did not. */
static bool is_misled(const struct test *t, const struct judge_shift *shown)
{
        double whole = t->thresholds.slow / t->thresholds.fast;

        return !isnan(t->thresholds.effort_fast) && isfinite(whole) && fmax(shown->high, 1 / shown->low) < pow(whole, 0.25);
}

/* Judges the runs of both in turn under seeds of their own: the change must show again, in its direction. Asks for more of them while the judgement wants
 * some. If they show that a change of effort is none of the value, the plan is made anew without effort. */
static void verify(struct search *s, size_t before, size_t after, struct localize_culprit *culprit)
{
        cleanup_judgement struct judgement j = {0};
        cleanup_free struct judge_pair *pairs = NULL;
        size_t k = verification_at(s->t, before, after), n, wanted;
        const struct verification *v;
        bool is_shown;

        if (k == s->t->n_verifications)
                list_add(s->t->verifications, s->t->n_verifications, (struct verification){.before = before, .after = after});
        v = &s->t->verifications[k];
        n = MIN(v->n[0], v->n[1]);
        pairs = allocate(n, sizeof(*pairs));
        for (size_t i = 0; i < n; i++)
                for (int side = 0; side < 2; side++)
                        pairs[i].run[side] = judge_run_of(s->l, &v->runs[side][i]);
        judge_pairs(pairs, n, &j);
        culprit->pairs = (unsigned)n;
        culprit->p = j.cases[0].by[JUDGE_TIME].p;
        culprit->ratio = j.cases[0].by[JUDGE_TIME].ratio;
        is_shown = culprit->is_slowdown ? judge_is_regression(j.cases[0].change) : judge_is_improvement(j.cases[0].change);
        culprit->verified = is_shown && culprit->confidence >= SURE;
        wanted = MAX(n < VERIFY_PAIRS ? (size_t)VERIFY_PAIRS : 0, j.cases[0].wanted);
        if (wanted <= n && !is_shown && is_misled(s->t, &j.cases[0].by[JUDGE_TIME])) {
                s->t->effort_misleads = s->l->plans_anew = true;
                s->t->ends_known = SIZE_MAX;
        }
        if (wanted <= n || !may_ask(s))
                return;
        s->open = true;
        want_pairs(s->l, s->test, k, (unsigned)(wanted - n));
}

/* -- culprits ----------------------------------------------------------------------------------------------------- */

/* True if the culprit changes the time by at least a quarter of the whole difference: small steps that add up to a change of level are no culprit. */
static bool is_step(const struct test *t, const struct localize_culprit *c)
{
        double whole = t->thresholds.slow - t->thresholds.fast;

        if (c->broken_before || c->broken_after || !isfinite(whole) || !isnan(t->thresholds.effort_fast))
                return true;
        return fabs(c->value_after - c->value_before) >= whole / 4;
}

/* The commits that `after` has and `before` has not. If there is more than one step between them, this includes commits brought by merges. */
static size_t *commits_between(const struct localize *l, size_t before, size_t after, size_t *ret_n)
{
        cleanup_free unsigned char *reached = allocate(after + 1, 1);
        size_t *commits = NULL;

        reached[after] = 1;
        reached[before] |= 2;
        for (size_t i = after + 1; i-- > 0;)
                for (size_t p = 0; p < l->commits[i].n_parents; p++)
                        reached[l->commits[i].parents[p]] |= reached[i];
        *ret_n = 0;
        for (size_t i = 0; i <= after; i++)
                if (reached[i] == 1)
                        list_add(commits, *ret_n, i);
        return commits;
}

/* Adds the change between two places as a culprit, and verifies it unless more runs would make its set smaller. */
static void write_culprit(struct search *s, const struct line *line, const struct sighting *from, const struct sighting *to, bool is_cut_off)
{
        int level_before = top_level(from), level_after = top_level(to);
        double ends[2];
        size_t a = from->place, b = to->place, *commits;
        struct localize_culprit found = {
                .before = line->last[a],
                .is_slowdown = level_after > level_before,
                .confidence = from->change,
                .broken_before = level_before == LEVEL_BROKEN,
                .broken_after = level_after == LEVEL_BROKEN,
                .value_before = median_at(s->t, line->at[a], level_before),
                .value_after = median_at(s->t, line->at[b], level_after),
                .p = NAN,
                .ratio = NAN,
                .is_cut_off = is_cut_off,
        };

        if (!is_cut_off) /* by the levels: an answer that comes back is an improvement there */
                verify(s, line->at[a], line->at[b], &found);
        if (found.pairs > 0 && !is_step(s->t, &found)) {
                s->undecided = true;
                return;
        }
        localize_end_values(s->l, s->test, ends);
        found.is_slowdown |= found.broken_before && level_after > LEVEL_FAST && !isnan(ends[0]); /* compared with the reference */
        if (b > a + 1) {
                commits = commits_between(s->l, line->last[a], line->first[b], &found.n);
        } else {
                commits = allocate(s->n_blamed + 1, sizeof(*commits));
                for (size_t i = 0; i < s->n_blamed; i++)
                        commits[found.n++] = s->blamed[i];
                commits[found.n++] = line->first[b];
        }
        found.commits = commits;
        list_add(s->t->culprits, s->t->n_culprits, found);
}

/* Handles a change that cannot be divided further on this line: searches the commits that a merge brought, or reports a culprit. */
static void resolve(struct search *s, const struct line *line, const struct sighting *from, const struct sighting *to)
{
        s->n_blamed = 0;
        s->is_side_cut_off = false;
        for (size_t x = to->place; x > from->place && s->depth < 64; x--) {
                for (size_t k = 1; k < s->l->commits[line->first[x]].n_parents; k++) {
                        const struct line *side = line_of_side(s->l, line->first[x], k);
                        bool is_on_side;

                        if (!side || side->n < 2)
                                continue;
                        s->depth++;
                        is_on_side = search_side(s, side, top_level(from), top_level(to));
                        s->depth--;
                        if (is_on_side)
                                return;
                }
        }
        if (!s->open)
                write_culprit(s, line, from, to, s->is_side_cut_off);
}

/* -- one line ----------------------------------------------------------------------------------------------------- */

/* from->change is the probability of a change in the gap. Unsure: repeats the end whose level is less sure. Likely: asks for a build that splits the gap;
 * if none in it is possible, resolves it. */
static void search_gap(struct search *s, const struct line *line, const double *below, const struct sighting *from, const struct sighting *to)
{
        double risk = wrong_turn_risk(s, line, from->place, to->place);

        if (from->change > 0.5)
                list_add(s->t->new_gaps, s->t->n_new_gaps, (struct gap){.line = line, .a = from->place, .b = to->place});
        if (from->change > risk && from->change < 1 - risk) {
                double unsure_from = 1 - from->level[top_level(from)], unsure_to = 1 - to->level[top_level(to)];
                const struct sighting *at = unsure_from > unsure_to ? from : to;

                if (!may_repeat(s, at))
                        at = at == from ? to : from;
                if (may_repeat(s, at)) {
                        repeat(s, line, at, risk);
                        return;
                }
                s->undecided |= fmin(from->change, 1 - from->change) > 0.05;
        }
        if (from->change <= 0.5 || (from->change <= SURE_SPENT && !may_ask(s)))
                return;
        if (!demand_add(s->l, s->test, line, from->place, to->place, below))
                resolve(s, line, from, to);
        else if (!may_ask(s))
                write_culprit(s, line, from, to, true);
        else
                s->open = true;
}

/* True if the case has run there; else asks for a first run. */
static bool has_run(struct search *s, size_t program)
{
        if (facts_at(s->t, program) > 0)
                return true;
        if (may_ask(s)) {
                s->open = true;
                want_run(s->l, program, s->test);
        }
        return false;
}

/* The state of a line, by the facts. */
struct view {
        struct sighting *sightings;
        size_t n;
        double *below;
        double unchanged; /* posterior of no change at all */
};

static void view_done(struct view *v)
{
        free(v->sightings);
        free(v->below);
}

static void view_judge(const struct search *s, double rate, struct view *v)
{
        for (size_t i = 0; i + 1 < v->n; i++)
                v->sightings[i].prior = v->below[v->sightings[i + 1].place] - v->below[v->sightings[i].place];
        v->unchanged = posterior(v->sightings, v->n, rate, s->t->noise_prior);
}

/* Drops unsure places between the ends, so that a change is between two sure places: for a case whose runs are used up. */
static void view_thin(const struct search *s, double rate, struct view *v)
{
        size_t n = 0;

        for (size_t i = 0; i < v->n; i++)
                if (i == 0 || i + 1 == v->n || v->sightings[i].level[top_level(&v->sightings[i])] >= SURE_SPENT)
                        v->sightings[n++] = v->sightings[i];
        if (n == v->n)
                return;
        v->n = n;
        view_judge(s, rate, v);
}

static void view_make(const struct search *s, const struct line *line, double rate, struct view *ret)
{
        ret->sightings = sightings_collect(s->t, line, &ret->n);
        ret->below = prior_below(s->l, s->t, line);
        view_judge(s, rate, ret);
        if (s->t->is_spent)
                view_thin(s, rate, ret);
}

/* The number of gaps whose probability of a change is between these bounds. */
static size_t count_changes(const struct view *v, double above, double below)
{
        size_t n = 0;

        for (size_t i = 0; i + 1 < v->n; i++)
                n += v->sightings[i].change > above && v->sightings[i].change < below;
        return n;
}

/* No gap is likely to have a change, but all together may: repeats the place whose level is least sure. */
static void repeat_least_sure(struct search *s, const struct line *line, const struct view *v)
{
        const struct sighting *least = NULL;

        for (size_t i = 0; v->unchanged < SURE_NONE && i < v->n; i++)
                if (may_repeat(s, &v->sightings[i]) &&
                    (!least || v->sightings[i].level[top_level(&v->sightings[i])] < least->level[top_level(least)]))
                        least = &v->sightings[i];
        if (least)
                repeat(s, line, least, (1 - SURE_NONE) / 2);
}

static void search_gaps(struct search *s, const struct line *line, const struct view *v)
{
        for (size_t i = 0; i + 1 < v->n; i++)
                search_gap(s, line, v->below, &v->sightings[i], &v->sightings[i + 1]);
}

/* Runs the same seeds at both ends, as many as the judgement wants, before anything between them is built. */
static void want_ends(struct search *s)
{
        s->no_change = s->t->ends == ENDS_SAME;
        if (s->t->ends != ENDS_OPEN || !may_ask(s))
                return;
        s->open = true;
        for (unsigned seed = 0; seed < s->t->ends_wanted; seed++)
                for (int end = 0; end < 2; end++)
                        if (!fact_under(s->t, s->t->ends_at[end], seed))
                                want_seed(s->l, s->t->ends_at[end], s->test, seed);
}

/* Searches the line between a case's ends: first the ends themselves, then its gaps. Sets no_change if it is sure that there is none. */
static void search_line(struct search *s, const struct line *line)
{
        const size_t ends[2] = {line->at[0], line->at[line->n - 1]};
        cleanup(view_done) struct view v = {0};
        bool have_run = true, changed;
        size_t runs; /* between the ends */

        for (int i = 0; i < 2; i++) {
                s->end_failed |= s->l->built[ends[i]] == BUILD_FAILED;
                have_run &= !s->end_failed && has_run(s, ends[i]);
        }
        if (!have_run)
                return;
        if (s->t->ends != ENDS_DIFFER) {
                want_ends(s);
                return;
        }
        view_make(s, line, RATE_LINE, &v);
        runs = s->t->n_facts - facts_at(s->t, s->t->ends_at[0]) - facts_at(s->t, s->t->ends_at[1]);
        if (!s->t->is_spent && runs >= s->l->options.most_runs * MAX(count_changes(&v, 0.5, INFINITY), (size_t)1)) {
                s->t->is_spent = true;
                view_thin(s, RATE_LINE, &v);
        }
        changed = count_changes(&v, 0.5, INFINITY) > 0;
        search_gaps(s, line, &v);
        if (changed || s->open)
                return;
        s->no_change = v.unchanged >= SURE_NONE;
        repeat_least_sure(s, line, &v);
}

/* -- sides of merges ---------------------------------------------------------------------------------------------- */

/* Blames the commits in (a, b] of a merge's side together with the merge: no possible run tells them apart. */
static void blame_side(struct search *s, const struct line *line, size_t a, size_t b)
{
        size_t n = 0;
        cleanup_free size_t *commits = a < b ? commits_between(s->l, line->last[a], line->first[b], &n) : NULL;

        for (size_t i = 0; i < n; i++)
                list_add(s->blamed, s->n_blamed, commits[i]);
}

/* Searches the commits that a merge brought. First their tip: if it is no worse than fast (for an improvement: no better than before), the merge itself is
 * the culprit. Then their base, then between them as on any line. An end that cannot be built is replaced by the nearest commit that can; the commits left
 * out are blamed with the merge. True: a change in the merge's direction is on the side. */
static bool search_side(struct search *s, const struct line *line, int before, int after)
{
        cleanup(view_done) struct view v = {0};
        size_t low = 0, high = line->n - 1;
        bool slower = after > before, changed = false, is_seen;
        const struct sighting *tip;

        while (high > 0 && s->l->built[line->at[high]] == BUILD_FAILED)
                high--;
        while (low < high && s->l->built[line->at[low]] == BUILD_FAILED)
                low++;
        if (high == 0 || !has_run(s, line->at[high])) {
                s->is_side_cut_off |= high > 0 && s->t->is_spent;
                if (high == 0 || s->t->is_spent)
                        blame_side(s, line, 0, line->n - 1);
                return false;
        }
        view_make(s, line, RATE_SIDE, &v);
        tip = &v.sightings[v.n - 1];
        if (tip->level[top_level(tip)] < SURE && may_repeat(s, tip)) {
                repeat(s, line, tip, 1 - SURE);
                return false;
        }
        if (slower ? top_level(tip) == LEVEL_FAST : top_level(tip) >= before) {
                blame_side(s, line, high, line->n - 1);
                return false;
        }
        if (low == high) {
                blame_side(s, line, 0, high);
                return false;
        }
        is_seen = has_run(s, line->at[low]);
        for (size_t i = 0; is_seen && i + 1 < v.n; i++)
                changed |= v.sightings[i].change > 0.5 && slower == (top_level(&v.sightings[i + 1]) > top_level(&v.sightings[i]));
        if (changed) {
                search_gaps(s, line, &v);
        } else if (is_seen && count_changes(&v, 0.02, 0.98) == 0) {
                blame_side(s, line, 0, low);
        } else if (s->t->is_spent) { /* the runs were used up first */
                s->is_side_cut_off = true;
                blame_side(s, line, 0, line->n - 1);
        } else if (is_seen) {
                repeat_least_sure(s, line, &v);
        }
        return changed;
}

/* -- all cases ---------------------------------------------------------------------------------------------------- */

/* Searches a case anew from its facts: sets its wants, culprits, gaps for the next prior, and state. */
static void search_case(struct localize *l, size_t test)
{
        struct test *t = &l->tests[test];
        struct search s = {.l = l, .t = t, .test = test};
        size_t slower = 0;

        results_clear(t);
        t->n_new_gaps = 0;
        t->is_spent = l->is_stopped;
        t->is_cut_off = false;
        search_line(&s, t->line);
        free(s.blamed);
        for (size_t i = 0; i < t->n_culprits; i++)
                slower += t->culprits[i].is_slowdown;
        t->state = s.open                        ? LOCALIZE_OPEN
                   : s.end_failed                ? LOCALIZE_UNBUILDABLE_END
                   : slower > 0                  ? LOCALIZE_FOUND
                   : t->n_culprits > 0           ? LOCALIZE_REVERSED
                   : s.undecided || !s.no_change ? LOCALIZE_UNDECIDED
                                                 : LOCALIZE_NO_CULPRIT;
}

/* Makes the gaps that were just found the present ones, and sums the culprits of all cases up over the programs. */
static void update_density(struct localize *l)
{
        memset(l->density, 0, l->n * sizeof(*l->density));
        for (size_t i = 0; i < l->n_tests; i++) {
                struct test *t = &l->tests[i];
                struct gap *old = t->gaps;

                t->gaps = t->new_gaps;
                t->n_gaps = t->n_new_gaps;
                t->new_gaps = old;
                t->n_new_gaps = 0;
                for (size_t k = 0; k < t->n_gaps; k++)
                        for (size_t x = t->gaps[k].a + 1; x <= t->gaps[k].b; x++)
                                l->density[t->gaps[k].line->at[x]] += 1.0 / (double)(t->gaps[k].b - t->gaps[k].a);
        }
}

/* Estimates the builds left: halving each distinct gap, of the commits in it that are not built. */
static void expect_builds(struct localize *l)
{
        l->builds_left = l->build_seconds_left = 0;
        for (size_t i = 0; i < l->n_demands; i++) {
                const struct demand *d = &l->demands[i];
                size_t unbuilt = 0;
                bool seen = false;
                double builds;

                for (size_t k = 0; k < i && !seen; k++)
                        seen = l->demands[k].line->at[l->demands[k].a] == d->line->at[d->a] &&
                               l->demands[k].line->at[l->demands[k].b] == d->line->at[d->b];
                if (seen)
                        continue;
                for (size_t x = d->a + 1; x < d->b; x++)
                        unbuilt += l->built[d->line->at[x]] == BUILD_UNKNOWN;
                builds = log2(1 + (double)unbuilt);
                l->builds_left += builds;
                l->build_seconds_left += builds * l->build_seconds;
        }
}

/* The first pass treats all places alike; the second one knows from it where the culprits of all cases are. */
static void plan_once(struct localize *l)
{
        l->plans_anew = false;
        for (size_t i = 0; i < l->n_tests; i++) {
                ends_judge(l, &l->tests[i]);
                l->tests[i].n_gaps = 0;
        }
        update_density(l);
        for (int pass = 0; pass < 2; pass++) {
                demands_clear(l);
                l->n_wants = 0;
                noise_estimate(l);
                for (size_t i = 0; i < l->n_tests; i++)
                        search_case(l, i);
                update_density(l);
        }
        expect_builds(l);
        demands_serve(l);
}

void plan_default(struct localize *l)
{
        do
                plan_once(l);
        while (l->plans_anew);
}
