/* The two baselines: halving ranges by their middle. Every plan begins at the whole line, and goes as far as the facts lead. */
#include "tests/study/halves.h"

#include "core/study/localize/localize_internal.h"

struct range {
        struct line *line;
        size_t a, b;
};

/* Those of a case that are still to be halved. */
struct ranges {
        struct range *list; /* owned */
        size_t n;
};

static const struct localize_outcome *fact_at(const struct test *t, size_t program)
{
        for (size_t i = 0; i < t->n_facts; i++)
                if (t->facts[i].program == program)
                        return &t->facts[i].outcome;
        return NULL;
}

static int add_range(struct ranges *ranges, struct line *line, size_t a, size_t b)
{
        if (list_grow(ranges->list, ranges->n) < 0)
                return -ENOMEM;
        ranges->list[ranges->n++] = (struct range){.line = line, .a = a, .b = b};
        return 0;
}

/* The commit nearest to the middle that is not known to fail, the later one first; b: none. */
static size_t middle(const struct localize *l, const struct range *range)
{
        size_t at = range->a + (range->b - range->a) / 2;

        for (size_t d = 0; d <= range->b - range->a; d++) {
                if (at + d < range->b && at + d > range->a && l->built[range->line->at[at + d]] != BUILD_FAILED)
                        return at + d;
                if (d <= at - range->a && at - d > range->a && l->built[range->line->at[at - d]] != BUILD_FAILED)
                        return at - d;
        }
        return range->b;
}

static int write_range(struct localize *l, size_t test, const struct range *range)
{
        struct test *t = &l->tests[test];
        const struct localize_outcome *before = fact_at(t, range->line->at[range->a]),
                                      *after = fact_at(t, range->line->at[range->b]);
        struct localize_culprit *culprit = culprit_add(t);
        size_t n = range->b - range->a, *commits = calloc(n, sizeof(*commits));

        if (!culprit || !commits) {
                free(commits);
                t->n_culprits -= culprit != NULL;
                return -ENOMEM;
        }
        memcpy(commits, range->line->first + range->a + 1, n * sizeof(*commits));
        *culprit = (struct localize_culprit){
                .before = range->line->last[range->a],
                .commits = commits,
                .n = n,
                .is_slowdown = after->value >= before->value || after->answer != LOCALIZE_SOLVED,
                .value_before = before->value,
                .value_after = after->value,
                .broken_before = before->answer == LOCALIZE_BROKEN,
                .broken_after = after->answer == LOCALIZE_BROKEN,
                .confidence = NAN,
                .p = NAN,
                .ratio = NAN,
        };
        return 0;
}

/* How bad it is: seconds; what is broken is worse than anything slow. */
static double badness(const struct localize_outcome *outcome)
{
        return outcome->answer == LOCALIZE_BROKEN ? 1e9 : outcome->value;
}

/* Where to go from the middle m: *left, *right. Algorithm 2, lines 15 to 21; git bisect has one threshold for all. */
static void decide(const struct localize *l, const struct test *t, const struct range *range, const struct localize_outcome *m,
                   bool *left, bool *right)
{
        double s = badness(fact_at(t, range->line->at[range->a])), e = badness(fact_at(t, range->line->at[range->b])),
               v = badness(m);

        if (l->options.plan == plan_git_bisect) {
                double good = badness(fact_at(t, t->line->at[0])), bad = badness(fact_at(t, t->line->at[t->line->n - 1]));

                *left = fabs(v - good) > fabs(v - bad);
                *right = !*left;
        } else if (fabs(v - s) < fabs(s - e) / 3) {
                *right = true;
        } else if (fabs(v - e) < fabs(s - e) / 3) {
                *left = true;
        } else {
                *left = *right = true;
        }
}

/* A culprit that is a merge: on along what it brought, if that ends as the merge does. One step; 1: on, 0: it is the merge itself. */
static int into_merge(struct localize *l, size_t test, const struct range *range, struct ranges *ranges, bool *ret_waits)
{
        struct test *t = &l->tests[test];
        size_t merge = range->line->first[range->b];

        for (size_t k = 1; range->b == range->a + 1 && k < l->commits[merge].n_parents; k++) {
                const struct localize_outcome *base, *tip;
                struct range side = {0};
                bool left = false, right = false;
                int r = line_of_side(l, merge, k, &side.line);

                if (r < 0)
                        return r;
                if (!side.line || side.line->n < 2)
                        continue;
                side.b = side.line->n - 1;
                if (l->built[side.line->at[side.b]] == BUILD_FAILED || l->built[side.line->at[0]] == BUILD_FAILED)
                        continue;
                tip = fact_at(t, side.line->at[side.b]);
                base = fact_at(t, side.line->at[0]);
                if (!tip || !base) {
                        *ret_waits = true;
                        r = tip ? 0 : want_run(l, side.line->at[side.b], test);
                        if (r >= 0 && !base)
                                r = want_run(l, side.line->at[0], test);
                        return r;
                }
                decide(l, t, range, tip, &left, &right); /* left: as after the merge */
                if (!left || right)
                        continue;
                decide(l, t, range, base, &left, &right);
                if (right)
                        return add_range(ranges, side.line, 0, side.b) < 0 ? -ENOMEM : 1;
        }
        return 0;
}

/* One step of a range: its halves are added, or its culprit is written. 1: it waits for a run that was asked for. */
static int halve(struct localize *l, size_t test, struct range range, struct ranges *ranges)
{
        struct test *t = &l->tests[test];
        size_t m = middle(l, &range);
        const struct localize_outcome *outcome;
        bool left = false, right = false, waits = false;
        int r;

        if (m == range.b) {
                r = into_merge(l, test, &range, ranges, &waits);
                if (r < 0 || waits)
                        return r < 0 ? r : 1;
                return r > 0 ? 0 : write_range(l, test, &range);
        }
        outcome = fact_at(t, range.line->at[m]);
        if (!outcome) {
                r = want_run(l, range.line->at[m], test);
                return r < 0 ? r : 1;
        }
        decide(l, t, &range, outcome, &left, &right);
        r = left ? add_range(ranges, range.line, range.a, m) : 0;
        if (r >= 0 && right)
                r = add_range(ranges, range.line, m, range.b);
        return r < 0 ? r : 0;
}

static int look_at_ends(struct localize *l, size_t test, bool *ret_enough)
{
        struct test *t = &l->tests[test];
        const size_t ends[2] = {t->line->at[0], t->line->at[t->line->n - 1]};
        int r = 0;

        *ret_enough = true;
        for (int i = 0; i < 2 && r >= 0; i++) {
                if (l->built[ends[i]] == BUILD_FAILED) {
                        t->state = LOCALIZE_UNBUILDABLE_END;
                        *ret_enough = false;
                        return 0;
                }
                if (!fact_at(t, ends[i])) {
                        *ret_enough = false;
                        r = want_run(l, ends[i], test);
                }
        }
        return r;
}

static int plan_case(struct localize *l, size_t test)
{
        struct test *t = &l->tests[test];
        struct ranges ranges = {0};
        size_t n_waiting = 0;
        bool enough;
        int r;

        if (t->state != LOCALIZE_OPEN)
                return 0;
        r = look_at_ends(l, test, &enough);
        if (r < 0 || !enough)
                return r;
        if (badness(fact_at(t, t->line->at[t->line->n - 1])) < l->options.minimum_ratio * badness(fact_at(t, t->line->at[0]))) {
                t->state = LOCALIZE_NO_CULPRIT;
                return 0;
        }
        results_clear(t);
        r = add_range(&ranges, t->line, 0, t->line->n - 1);
        while (r >= 0 && ranges.n > 0) {
                r = halve(l, test, ranges.list[--ranges.n], &ranges);
                n_waiting += r == 1;
        }
        free(ranges.list);
        t->state = n_waiting > 0 ? LOCALIZE_OPEN : t->n_culprits > 0 ? LOCALIZE_FOUND : LOCALIZE_UNDECIDED;
        return r < 0 ? r : 0;
}

static int plan_halves(struct localize *l)
{
        int r = 0;

        for (size_t i = 0; i < l->n_tests && r >= 0; i++) {
                r = ends_judge(l, &l->tests[i]); /* for localize_each_sighting() */
                if (r >= 0)
                        r = plan_case(l, i);
        }
        return r;
}

int plan_paper(struct localize *l)
{
        return plan_halves(l);
}

int plan_git_bisect(struct localize *l)
{
        return plan_halves(l);
}
