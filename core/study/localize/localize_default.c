#include "core/study/localize/localize_internal.h"
#include "core/study/base/stat.h"

/* How sure a finding must be: that there is a change in the set reported, or that there is none. */
#define SURE        0.999
#define SURE_NONE   0.998
/* A line in the side of a merge is searched because the change is there or is the merge itself: more changes are expected than on a line of
 * which nothing is known (1, so that "no change" begins with 37 %; of reported breakages 40 % are flakes). */
#define RATE_LINE 1.0
#define RATE_SIDE 2.0
/* With its runs used up a case is told what is as sure as this. */
#define SURE_SPENT 0.98

/* The search of one case in one plan. */
struct search {
        struct localize *l;
        struct test *t;
        size_t test;
        bool open, undecided, no_change, end_failed;
        bool is_side_cut_off; /* of the merge at hand */
        unsigned depth;
        size_t *blamed; /* with the merge at hand: commits of its sides that could not be looked at */
        size_t n_blamed;
};

static int search_side(struct search *s, const struct line *line, int before, int after, bool *ret_changed);

static int top_level(const struct sighting *at)
{
        int top = 0;

        for (int k = 1; k < N_LEVELS; k++)
                if (at->level[k] > at->level[top])
                        top = k;
        return top;
}

static double noise_mean(const struct test *t)
{
        double mean = 0;

        for (int k = 0; k < N_NOISE; k++)
                mean += t->noise[k] * grid_mean(&noise_grid[k]);
        return fmax(mean, grid_mean(&noise_grid[0]));
}

/* -- when is it sure enough --------------------------------------------------------------------------------------- */

static bool is_verified(const struct search *s, size_t before, size_t after)
{
        for (size_t k = 0; k < s->t->n_verifications; k++)
                if (s->t->verifications[k].before == before && s->t->verifications[k].after == after)
                        return s->t->verifications[k].n[0] > 0 && s->t->verifications[k].n[1] > 0;
        return false;
}

/* A wrong turn costs the builds down to its end; another run costs its seconds. A build that others need anyway is not lost. */
static double wrong_turn_risk(const struct search *s, const struct line *line, size_t a, size_t b)
{
        double others = 0, build = 0, run = run_seconds(s->l, s->t);

        if (b - a < 2) /* what comes next is verification, and that is more runs here anyway */
                return is_verified(s, line->at[a], line->at[b]) ? 1 - SURE : 0.05;
        for (size_t x = a + 1; x <= b; x++)
                others += s->l->density[line->at[x]];
        for (size_t k = 1; k <= 3; k++)
                build += build_cost(s->l, line->at[a + (b - a) * k / 4]) / 3;
        build *= log2((double)(b - a)) / fmax(others, 1);
        return fmin(fmax(run / (build + run), 0.001), 0.05);
}

/* Asks for as many runs on the program as will settle its level if they agree. */
static int repeat(struct search *s, const struct line *line, const struct sighting *at, double risk)
{
        double top = fmin(at->level[top_level(at)], 1 - 1e-9), noise = noise_mean(s->t);
        double missing = log((1 - risk) / risk) - log(top / (1 - top)), each = log((1 - noise) / noise);
        unsigned times = (unsigned)fmin(fmax(ceil(missing / each), 1), 6);
        int r = 0;

        s->open = true;
        for (unsigned i = 0; i < times && r >= 0; i++)
                r = want_run(s->l, line->at[at->place], s->test);
        return r;
}

/* Asked before anything is wanted of a case. */
static bool may_ask(struct search *s)
{
        s->t->is_cut_off |= s->t->is_spent;
        return !s->t->is_spent;
}

static bool is_spent(struct search *s, const struct sighting *at)
{
        return at->n >= s->l->options.most_samples || !may_ask(s);
}

/* -- verification ------------------------------------------------------------------------------------------------- */

static int verification_of(struct search *s, size_t before, size_t after, size_t *ret)
{
        struct test *t = s->t;

        for (*ret = 0; *ret < t->n_verifications; ++*ret)
                if (t->verifications[*ret].before == before && t->verifications[*ret].after == after)
                        return 0;
        if (list_grow(t->verifications, t->n_verifications) < 0)
                return -ENOMEM;
        t->verifications[t->n_verifications++] = (struct verification){.before = before, .after = after};
        return 0;
}

static int judge_verification(const struct search *s, const struct verification *v, size_t n, struct judgement *ret)
{
        cleanup_free struct judge_pair *pairs = calloc(n + 1, sizeof(*pairs));

        if (!pairs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                for (int side = 0; side < 2; side++)
                        pairs[i].run[side] = judge_run_of(s->l, &v->runs[side][i]);
        return judge_pairs(pairs, n, ret);
}

/* Runs in turn under seeds that neither had: the change must be there once more, in its direction. */
static int verify(struct search *s, size_t before, size_t after, struct localize_culprit *culprit)
{
        cleanup_judgement struct judgement j = {0};
        const struct verification *v;
        size_t k, n, wanted;
        bool is_shown;
        int r;

        r = verification_of(s, before, after, &k);
        if (r < 0)
                return r;
        v = &s->t->verifications[k];
        n = MIN(v->n[0], v->n[1]);
        r = judge_verification(s, v, n, &j);
        if (r < 0)
                return r;
        culprit->pairs = (unsigned)n;
        culprit->p = j.cases[0].by[JUDGE_TIME].p;
        culprit->ratio = j.cases[0].by[JUDGE_TIME].ratio;
        is_shown = culprit->is_slowdown ? judge_is_regression(j.cases[0].change) : judge_is_improvement(j.cases[0].change);
        culprit->verified = is_shown && culprit->confidence >= SURE;
        wanted = MAX(n < s->l->options.verify_pairs ? s->l->options.verify_pairs : 0, j.cases[0].wanted);
        if (wanted <= n || !may_ask(s))
                return 0;
        s->open = true;
        return want_pairs(s->l, s->test, k, (unsigned)(wanted - n));
}

/* -- culprits ----------------------------------------------------------------------------------------------------- */

static double median_at(const struct test *t, size_t program, int level)
{
        cleanup_free double *x = calloc(t->n_facts + 1, sizeof(*x));
        size_t n = 0;

        if (!x)
                return NAN;
        for (size_t i = 0; i < t->n_facts; i++)
                if (t->facts[i].program == program && (int)level_of(&t->thresholds, &t->facts[i].outcome) == level)
                        x[n++] = t->facts[i].outcome.value;
        return stat_lower_median(x, n);
}

/* Small steps that add up to a change of level are no culprit: it changes the time by a quarter of the whole difference, at the least. */
static bool is_step(const struct test *t, const struct localize_culprit *c)
{
        double whole = t->thresholds.slow - t->thresholds.fast;

        if (c->broken_before || c->broken_after || !isfinite(whole) || !isnan(t->thresholds.effort_fast))
                return true;
        return fabs(c->value_after - c->value_before) >= whole / 4;
}

/* The commits that `after` has and `before` has not: where there is more than one step between them, also what merges there brought. */
static int commits_between(const struct localize *l, size_t before, size_t after, size_t **ret, size_t *ret_n)
{
        cleanup_free unsigned char *reached = calloc(after + 1, 1);
        size_t *commits, n = 0;

        if (!reached)
                return -ENOMEM;
        reached[after] = 1;
        reached[before] |= 2;
        for (size_t i = after + 1; i-- > 0;) {
                for (size_t p = 0; p < l->commits[i].n_parents; p++)
                        reached[l->commits[i].parents[p]] |= reached[i];
                n += reached[i] == 1;
        }
        commits = calloc(n + 1, sizeof(*commits));
        if (!commits)
                return -ENOMEM;
        *ret = commits;
        *ret_n = 0;
        for (size_t i = 0; i <= after; i++)
                if (reached[i] == 1)
                        commits[(*ret_n)++] = i;
        return 0;
}

static int write_culprit(struct search *s, const struct line *line, const struct sighting *from, const struct sighting *to,
                         bool is_cut_off)
{
        int level_before = top_level(from), level_after = top_level(to), r;
        size_t a = from->place, b = to->place;
        cleanup_free size_t *commits = NULL;
        struct localize_culprit found =
                                        {
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
                                        },
                                *culprit;

        r = is_cut_off ? 0 : verify(s, line->at[a], line->at[b], &found);
        if (r < 0)
                return r;
        if (found.pairs > 0 && !is_step(s->t, &found)) {
                s->undecided = true;
                return 0;
        }
        if (b > a + 1) {
                r = commits_between(s->l, line->last[a], line->first[b], &commits, &found.n);
        } else {
                commits = calloc(s->n_blamed + 1, sizeof(*commits));
                r = commits ? 0 : -ENOMEM;
                for (size_t i = 0; commits && i < s->n_blamed; i++)
                        commits[found.n++] = s->blamed[i];
                if (commits)
                        commits[found.n++] = line->first[b];
        }
        culprit = r >= 0 ? culprit_add(s->t) : NULL;
        if (!culprit)
                return -ENOMEM;
        found.commits = steal_pointer(commits);
        *culprit = found;
        return 0;
}

static int add_spread(struct search *s, const struct line *line, size_t a, size_t b)
{
        if (list_grow(s->t->new_spreads, s->t->n_new_spreads) < 0)
                return -ENOMEM;
        s->t->new_spreads[s->t->n_new_spreads++] = (struct spread){.line = line, .a = a, .b = b};
        return 0;
}

/* A change that nothing can divide further on this line: on along what a merge brought, or a culprit. */
static int resolved(struct search *s, const struct line *line, const struct sighting *from, const struct sighting *to)
{
        bool changed = false;
        int r = 0;

        s->n_blamed = 0;
        s->is_side_cut_off = false;
        for (size_t x = to->place; x > from->place && s->depth < 64; x--) {
                for (size_t k = 1; k < s->l->commits[line->first[x]].n_parents; k++) {
                        struct line *side;

                        r = line_of_side(s->l, line->first[x], k, &side);
                        if (r < 0)
                                return r;
                        if (!side || side->n < 2)
                                continue;
                        s->depth++;
                        r = search_side(s, side, top_level(from), top_level(to), &changed);
                        s->depth--;
                        if (r < 0 || changed)
                                return r;
                }
        }
        return s->open ? 0 : write_culprit(s, line, from, to, s->is_side_cut_off);
}

/* -- one line ----------------------------------------------------------------------------------------------------- */

static int search_gap(struct search *s, const struct line *line, const double *below, const struct sighting *from,
                      const struct sighting *to)
{
        double risk = wrong_turn_risk(s, line, from->place, to->place);
        bool open;
        int r;

        r = from->change > 0.5 ? add_spread(s, line, from->place, to->place) : 0;
        if (r < 0)
                return r;
        if (from->change > risk && from->change < 1 - risk) {
                double unsure_from = 1 - from->level[top_level(from)], unsure_to = 1 - to->level[top_level(to)];
                const struct sighting *at = unsure_from > unsure_to ? from : to;

                if (is_spent(s, at))
                        at = at == from ? to : from;
                if (!is_spent(s, at))
                        return repeat(s, line, at, risk);
                s->undecided |= fmin(from->change, 1 - from->change) > 0.05;
        }
        if (from->change <= 0.5 || (from->change <= SURE_SPENT && !may_ask(s)))
                return 0;
        r = demand_add(s->l, s->test, line, from->place, to->place, below, &open);
        if (r < 0)
                return r;
        if (!open)
                return resolved(s, line, from, to);
        if (!may_ask(s))
                return write_culprit(s, line, from, to, true);
        s->open = true;
        return 0;
}

/* Asks for a first run of the case there; *ret_seen: it has been run. */
static int look_at(struct search *s, size_t program, bool *ret_seen)
{
        *ret_seen = facts_at(s->t, program) > 0;
        if (*ret_seen || !may_ask(s))
                return 0;
        s->open = true;
        return want_run(s->l, program, s->test);
}

/* The state of a line, by the facts. */
struct view {
        struct sighting *sightings;
        size_t n;
        double *below;
        double still; /* posterior of no change at all */
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
        v->still = posterior(v->sightings, v->n, rate, s->t->noise_prior);
}

/* Leaves out what is still unsure between the ends, so that a change that is sure stands between two places that are. */
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

static int view_make(const struct search *s, const struct line *line, double rate, struct view *ret)
{
        int r = sightings_collect(s->l, s->t, line, &ret->sightings, &ret->n);

        if (r >= 0)
                r = prior_below(s->l, s->t, line, &ret->below);
        if (r < 0)
                return r;
        view_judge(s, rate, ret);
        if (s->t->is_spent)
                view_thin(s, rate, ret);
        return 0;
}

static size_t count_changes(const struct view *v)
{
        size_t n = 0;

        for (size_t i = 0; i + 1 < v->n; i++)
                n += v->sightings[i].change > 0.5;
        return n;
}

static void look_whether_spent(struct search *s, struct view *v)
{
        size_t runs = s->t->n_facts - facts_at(s->t, s->l->program[s->t->given.reference]) - facts_at(s->t, s->l->program[s->t->given.target]);

        if (s->t->is_spent || runs < s->l->options.most_runs * MAX(count_changes(v), (size_t)1))
                return;
        s->t->is_spent = true;
        view_thin(s, RATE_LINE, v);
}

/* Every gap is likely to be without a change, but not all of them together: the least sure place once more. */
static int look_closer(struct search *s, const struct line *line, const struct view *v)
{
        const struct sighting *least = NULL;

        if (v->still >= SURE_NONE)
                return 0;

        for (size_t i = 0; i < v->n; i++)
                if (!is_spent(s, &v->sightings[i]) &&
                    (!least || v->sightings[i].level[top_level(&v->sightings[i])] < least->level[top_level(least)]))
                        least = &v->sightings[i];
        return least ? repeat(s, line, least, (1 - SURE_NONE) / 2) : 0;
}

static bool is_decided(const struct view *v)
{
        for (size_t i = 0; i + 1 < v->n; i++)
                if (v->sightings[i].change > 0.02 && v->sightings[i].change < 0.98)
                        return false;
        return true;
}

static int search_gaps(struct search *s, const struct line *line, const struct view *v)
{
        int r = 0;

        for (size_t i = 0; i + 1 < v->n && r >= 0; i++)
                r = search_gap(s, line, v->below, &v->sightings[i], &v->sightings[i + 1]);
        return r;
}

/* The same seeds at both, as many as the judgement wants, before anything between them is built. */
static int look_at_ends(struct search *s)
{
        const size_t ends[2] = {s->l->program[s->t->given.reference], s->l->program[s->t->given.target]};
        int r = 0;

        s->no_change = s->t->ends == ENDS_SAME;
        if (s->t->ends != ENDS_OPEN || !may_ask(s))
                return 0;
        s->open = true;
        for (unsigned seed = 0; seed < s->t->ends_wanted; seed++)
                for (int end = 0; end < 2 && r >= 0; end++)
                        if (!fact_under(s->t, ends[end], seed))
                                r = want_seed(s->l, ends[end], s->test, seed);
        return r;
}

static int search_line(struct search *s, const struct line *line)
{
        const size_t ends[2] = {line->at[0], line->at[line->n - 1]};
        cleanup(view_done) struct view v = {0};
        bool seen[2] = {false}, changed;
        int r = 0;

        for (int i = 0; i < 2 && r >= 0; i++) {
                s->end_failed |= s->l->built[ends[i]] == BUILD_FAILED;
                if (!s->end_failed)
                        r = look_at(s, ends[i], &seen[i]);
        }
        if (r < 0 || !seen[0] || !seen[1] || s->end_failed)
                return r;
        if (s->t->ends != ENDS_DIFFER)
                return look_at_ends(s);
        r = view_make(s, line, RATE_LINE, &v);
        if (r < 0)
                return r;
        look_whether_spent(s, &v);
        changed = count_changes(&v) > 0;
        r = search_gaps(s, line, &v);
        if (r < 0 || changed || s->open)
                return r;
        s->no_change = v.still >= SURE_NONE;
        return look_closer(s, line, &v);
}

/* -- sides of merges ---------------------------------------------------------------------------------------------- */

/* Nothing that could be run tells the merge apart from the commits in (a, b] of its side. */
static int blame_side(struct search *s, const struct line *line, size_t a, size_t b)
{
        cleanup_free size_t *commits = NULL;
        size_t n;
        int r = commits_between(s->l, line->last[a], line->first[b], &commits, &n);

        for (size_t i = 0; i < n && r >= 0; i++) {
                if (list_grow(s->blamed, s->n_blamed) < 0)
                        return -ENOMEM;
                s->blamed[s->n_blamed++] = commits[i];
        }
        return r;
}

/* The runs ended before it could be looked at. */
static int cut_off_side(struct search *s, const struct line *line)
{
        s->is_side_cut_off = true;
        return blame_side(s, line, 0, line->n - 1);
}

/* Along what a merge brought. First its tip: where that is no worse than fast (of an improvement: no better than before) the merge itself is the
 * culprit. Then its base, and then between them as on any line. Where an end cannot be built the nearest that can stands for it, and what
 * it leaves out is blamed with the merge. *ret_changed: a change in the merge's direction is on the side. */
static int search_side(struct search *s, const struct line *line, int before, int after, bool *ret_changed)
{
        cleanup(view_done) struct view v = {0};
        size_t low = 0, high = line->n - 1;
        bool seen, slower = after > before;
        const struct sighting *tip;
        int r;

        while (high > 0 && s->l->built[line->at[high]] == BUILD_FAILED)
                high--;
        while (low < high && s->l->built[line->at[low]] == BUILD_FAILED)
                low++;
        if (high == 0)
                return blame_side(s, line, 0, line->n - 1);
        r = look_at(s, line->at[high], &seen);
        if (r < 0 || !seen)
                return r < 0 || !s->t->is_spent ? r : cut_off_side(s, line);
        r = view_make(s, line, RATE_SIDE, &v);
        if (r < 0)
                return r;
        tip = &v.sightings[v.n - 1];
        if (tip->level[top_level(tip)] < SURE && !is_spent(s, tip))
                return repeat(s, line, tip, 1 - SURE);
        if (slower ? top_level(tip) == LEVEL_FAST : top_level(tip) >= before)
                return high < line->n - 1 ? blame_side(s, line, high, line->n - 1) : 0;
        if (low == high)
                return blame_side(s, line, 0, high);
        r = look_at(s, line->at[low], &seen);
        if (r < 0 || !seen)
                return r < 0 || !s->t->is_spent ? r : cut_off_side(s, line);
        for (size_t i = 0; i + 1 < v.n; i++)
                *ret_changed |=
                        v.sightings[i].change > 0.5 && slower == (top_level(&v.sightings[i + 1]) > top_level(&v.sightings[i]));
        if (*ret_changed)
                return search_gaps(s, line, &v);
        if (!is_decided(&v))
                return s->t->is_spent ? cut_off_side(s, line) : look_closer(s, line, &v);
        return low > 0 ? blame_side(s, line, 0, low) : 0;
}

/* -- all cases ---------------------------------------------------------------------------------------------------- */

static int search_case(struct localize *l, size_t test)
{
        struct test *t = &l->tests[test];
        struct search s = {.l = l, .t = t, .test = test};
        size_t slower = 0, faster = 0;
        int r;

        results_clear(t);
        t->n_new_spreads = 0;
        t->is_spent = l->is_stopped;
        t->is_cut_off = false;
        r = search_line(&s, t->line);
        free(s.blamed);
        if (r < 0)
                return r;
        for (size_t i = 0; i < t->n_culprits; i++) {
                slower += t->culprits[i].is_slowdown;
                faster += !t->culprits[i].is_slowdown;
        }
        t->state = s.open                        ? LOCALIZE_OPEN
                   : s.end_failed                ? LOCALIZE_UNBUILDABLE_END
                   : slower > 0                  ? LOCALIZE_FOUND
                   : faster > 0                  ? LOCALIZE_REVERSED
                   : s.undecided || !s.no_change ? LOCALIZE_UNDECIDED
                                                 : LOCALIZE_NO_CULPRIT;
        return 0;
}

static void update_density(struct localize *l)
{
        memset(l->density, 0, l->n * sizeof(*l->density));
        for (size_t i = 0; i < l->n_tests; i++) {
                struct test *t = &l->tests[i];
                struct spread *old = t->spreads;

                t->spreads = t->new_spreads;
                t->n_spreads = t->n_new_spreads;
                t->new_spreads = old;
                t->n_new_spreads = 0;

                for (size_t k = 0; k < t->n_spreads; k++)
                        for (size_t x = t->spreads[k].a + 1; x <= t->spreads[k].b; x++)
                                l->density[t->spreads[k].line->at[x]] += 1.0 / (double)(t->spreads[k].b - t->spreads[k].a);
        }
}

/* Distinct gaps, and what halving each of them takes. */
static void expect_builds(struct localize *l)
{
        l->builds_left = l->build_seconds_left = 0;
        for (size_t i = 0; i < l->n_demands; i++) {
                const struct demand *d = &l->demands[i];
                bool seen = false;
                double builds;

                for (size_t k = 0; k < i && !seen; k++)
                        seen = l->demands[k].line->at[l->demands[k].a] == d->line->at[d->a] &&
                               l->demands[k].line->at[l->demands[k].b] == d->line->at[d->b];
                if (seen)
                        continue;
                builds = log2((double)(d->b - d->a));
                l->builds_left += builds;
                l->build_seconds_left += builds * build_cost(l, d->line->at[(d->a + d->b) / 2]);
        }
}

/* Once with every place alike, then with what that says of where the culprits of all cases are. */
int plan_default(struct localize *l)
{
        int r = 0;

        for (size_t i = 0; i < l->n_tests && r >= 0; i++) {
                r = ends_judge(l, &l->tests[i]);
                l->tests[i].n_spreads = 0;
        }
        if (r < 0)
                return r;
        update_density(l);
        for (int pass = 0; pass < 2 && r >= 0; pass++) {
                wants_forget(l);
                r = noise_estimate(l);
                for (size_t i = 0; i < l->n_tests && r >= 0; i++)
                        r = search_case(l, i);
                update_density(l);
        }
        if (r < 0)
                return r;
        expect_builds(l);
        return demands_serve(l);
}
