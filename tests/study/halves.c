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

static void add_range(struct ranges *ranges, struct line *line, size_t a, size_t b)
{
        list_grow(ranges->list, ranges->n);
        ranges->list[ranges->n++] = (struct range){.line = line, .a = a, .b = b};
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

static void write_range(struct localize *l, size_t test, const struct range *range)
{
        struct test *t = &l->tests[test];
        const struct localize_outcome *before = fact_at(t, range->line->at[range->a]),
                                      *after = fact_at(t, range->line->at[range->b]);
        size_t n = range->b - range->a, *commits = allocate(n, sizeof(*commits));

        memcpy(commits, range->line->first + range->a + 1, n * sizeof(*commits));
        list_add(t->culprits, t->n_culprits,
                 (struct localize_culprit){
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
                 });
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
                struct range side = {.line = line_of_side(l, merge, k)};
                bool left = false, right = false;

                if (!side.line || side.line->n < 2)
                        continue;
                side.b = side.line->n - 1;
                if (l->built[side.line->at[side.b]] == BUILD_FAILED || l->built[side.line->at[0]] == BUILD_FAILED)
                        continue;
                tip = fact_at(t, side.line->at[side.b]);
                base = fact_at(t, side.line->at[0]);
                if (!tip || !base) {
                        *ret_waits = true;
                        if (!tip)
                                want_run(l, side.line->at[side.b], test);
                        if (!base)
                                want_run(l, side.line->at[0], test);
                        return 0;
                }
                decide(l, t, range, tip, &left, &right); /* left: as after the merge */
                if (!left || right)
                        continue;
                decide(l, t, range, base, &left, &right);
                if (right) {
                        add_range(ranges, side.line, 0, side.b);
                        return 1;
                }
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

        if (m == range.b) {
                if (into_merge(l, test, &range, ranges, &waits) == 0 && !waits)
                        write_range(l, test, &range);
                return waits;
        }
        outcome = fact_at(t, range.line->at[m]);
        if (!outcome) {
                want_run(l, range.line->at[m], test);
                return 1;
        }
        decide(l, t, &range, outcome, &left, &right);
        if (left)
                add_range(ranges, range.line, range.a, m);
        if (right)
                add_range(ranges, range.line, m, range.b);
        return 0;
}

static bool look_at_ends(struct localize *l, size_t test)
{
        struct test *t = &l->tests[test];
        const size_t ends[2] = {t->line->at[0], t->line->at[t->line->n - 1]};
        bool is_enough = true;

        for (int i = 0; i < 2; i++) {
                if (l->built[ends[i]] == BUILD_FAILED) {
                        t->state = LOCALIZE_UNBUILDABLE_END;
                        return false;
                }
                if (!fact_at(t, ends[i])) {
                        is_enough = false;
                        want_run(l, ends[i], test);
                }
        }
        return is_enough;
}

static void plan_case(struct localize *l, size_t test)
{
        struct test *t = &l->tests[test];
        struct ranges ranges = {0};
        size_t n_waiting = 0;

        if (t->state != LOCALIZE_OPEN || !look_at_ends(l, test))
                return;
        if (badness(fact_at(t, t->line->at[t->line->n - 1])) < LOCALIZE_RATIO * badness(fact_at(t, t->line->at[0]))) {
                t->state = LOCALIZE_NO_CULPRIT;
                return;
        }
        results_clear(t);
        add_range(&ranges, t->line, 0, t->line->n - 1);
        while (ranges.n > 0) {
                struct range range = ranges.list[--ranges.n];

                n_waiting += halve(l, test, range, &ranges) == 1;
        }
        free(ranges.list);
        t->state = n_waiting > 0 ? LOCALIZE_OPEN : t->n_culprits > 0 ? LOCALIZE_FOUND : LOCALIZE_UNDECIDED;
}

static void plan_halves(struct localize *l)
{
        for (size_t i = 0; i < l->n_tests; i++) {
                ends_judge(l, &l->tests[i]); /* for localize_sightings() */
                plan_case(l, i);
        }
}

void plan_paper(struct localize *l)
{
        plan_halves(l);
}

void plan_git_bisect(struct localize *l)
{
        plan_halves(l);
}
