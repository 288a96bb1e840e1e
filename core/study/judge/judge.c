/* The judgement of cases: their pairs as series of one measure, the tests, the looks, and the answers. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

#define CONSTANT    5    /* so many equal values on a side are no chance */
#define FOLLOWS     0.01 /* p of a case of a set that changed evenly */
#define SEED_FACTOR 1.5  /* two times of one seed differ by this at least; repeated runs of one program hardly do */
#define LEAST_TIME  1e-6 /* seconds; a shorter one counts as this */
/* Lesser amounts count as this one where amounts are compared. */
#define LEAST_MEMORY (16.0 * (1 << 20)) /* bytes */
#define LEAST_EFFORT 100.0

/* -- names -------------------------------------------------------------------------------------------------------- */

static bool is_time(enum judge_measure m)
{
        return m == JUDGE_TIME || m == JUDGE_CPU_TIME;
}

const char *judge_measure_name(enum judge_measure m)
{
        static const char *const names[] = {
                [JUDGE_TIME] = "time",
                [JUDGE_CPU_TIME] = "cpu",
                [JUDGE_MEMORY] = "memory",
                [JUDGE_EFFORT] = "effort",
                [JUDGE_PACE] = "seconds per effort",
        };

        return names[m];
}

const char *judge_measure_unit(enum judge_measure m)
{
        return m == JUDGE_MEMORY ? "bytes" : m == JUDGE_EFFORT ? "effort" : "seconds";
}

double judge_least(enum judge_measure m)
{
        return m == JUDGE_MEMORY ? LEAST_MEMORY : m == JUDGE_EFFORT ? LEAST_EFFORT : 0;
}

double judge_scale(enum judge_measure m, double amount)
{
        return is_time(m) ? amount : log2(fmax(amount / judge_least(m), 1));
}

double judge_scale_threshold(enum judge_measure m, double threshold)
{
        return is_time(m) ? threshold : log2(threshold);
}

bool judge_is_above(enum judge_measure m, double before, double after, double threshold)
{
        return judge_scale(m, after) - judge_scale(m, before) > judge_scale_threshold(m, threshold);
}

struct judge_text judge_amount_text(enum judge_measure m, double amount)
{
        struct judge_text t;

        snprintf(t.s, sizeof(t.s),
                 is_time(m)          ? "%.3fs"
                 : m == JUDGE_MEMORY ? "%.1f MB"
                                     : "%.0f",
                 m == JUDGE_MEMORY ? amount / 1e6 : amount);
        return t;
}

const char *judge_change_name(enum judge_change c, enum judge_measure m)
{
        static const char *const names[] = {
                [JUDGE_UNKNOWN] = "unknown",     [JUDGE_WRONG] = "wrong",     [JUDGE_CONTRADICTION] = "contradiction",
                [JUDGE_LOST] = "lost",           [JUDGE_MORE] = "slower",     [JUDGE_RIGHT] = "right",
                [JUDGE_GAINED] = "gained",       [JUDGE_LESS] = "faster",     [JUDGE_SAME] = "same",
                [JUDGE_UNDECIDED] = "undecided", [JUDGE_DIFFERS] = "differs",
        };

        if (c == JUDGE_MORE && (m == JUDGE_MEMORY || m == JUDGE_EFFORT))
                return "more";
        if (c == JUDGE_LESS && (m == JUDGE_MEMORY || m == JUDGE_EFFORT))
                return "less";
        return names[c];
}

int judge_order(const struct judged_case *a, const struct judged_case *b, enum judge_measure m)
{
        double x = a->by[m].ratio, y = b->by[m].ratio;

        if (a->change != b->change)
                return a->change < b->change ? -1 : 1;
        x = x > 0 ? fabs(log(x)) : 0;
        y = y > 0 ? fabs(log(y)) : 0;
        return (x < y) - (x > y);
}

/* -- runs --------------------------------------------------------------------------------------------------------- */

double judge_limit(const struct judge_pair *p)
{
        double a = p->run[0].limit > 0 ? p->run[0].limit : INFINITY, b = p->run[1].limit > 0 ? p->run[1].limit : INFINITY;

        return isinf(fmin(a, b)) ? 0 : fmin(a, b);
}

/* An answer that came later than the other version's limit does not count. */
bool judge_is_solved(const struct judge_pair *p, int side)
{
        const struct judge_run *run = &p->run[side];
        double limit = judge_limit(p);

        if (!verdict_is_decided(run->verdict) || run->is_wrong)
                return false;
        return limit == 0 || run->limit == limit || run->seconds <= limit;
}

bool judge_is_compared(const struct judge_case *c)
{
        return c->n_pairs > 0 && judge_pair_is_known(&c->pairs[0]);
}

size_t judge_pairs_of(const struct judge_case *c, const struct judge_options *o)
{
        return MIN(c->n_pairs, MAX(1, MIN(o->most_pairs, JUDGE_PAIRS)));
}

/* NaN: none. */
static double measured_value(const struct judge_run *run, enum judge_measure m)
{
        switch (m) {
        case JUDGE_TIME:
                return isnan(run->seconds) ? NAN : fmax(run->seconds, LEAST_TIME);
        case JUDGE_CPU_TIME:
                return run->cpu_seconds;
        case JUDGE_MEMORY:
                return run->memory;
        case JUDGE_EFFORT:
                return run->effort;
        case JUDGE_PACE:
                return run->effort > 0 ? run->seconds / run->effort : NAN;
        case N_JUDGE_MEASURES:
                break;
        }
        return NAN;
}

/* The measure of a run that counts; NaN: none. */
static double value_of(const struct judge_pair *p, int side, enum judge_measure m)
{
        double limit = judge_limit(p), value = measured_value(&p->run[side], m);

        if (!judge_is_solved(p, side))
                return is_time(m) && limit > 0 ? limit : NAN;
        return value > 0 && isfinite(value) ? value : NAN;
}

static bool has_measure(const struct judge_pair *p, enum judge_measure m)
{
        return judge_pair_is_known(p) && !isnan(value_of(p, 0, m)) && !isnan(value_of(p, 1, m));
}

/* -- series ------------------------------------------------------------------------------------------------------- */

static bool is_all_equal(const double *x, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (x[i] != x[0])
                        return false;
        return true;
}

static void fill_series(const struct judge_case *c, size_t pairs, enum judge_measure m, double *room, struct series *s)
{
        double *before = room, *after = room + pairs;

        s->before = before;
        s->after = after;
        for (size_t i = 0; i < pairs; i++) {
                if (!judge_pair_is_known(&c->pairs[i]))
                        continue;
                if (has_measure(&c->pairs[i], m)) {
                        before[s->n] = log(value_of(&c->pairs[i], 0, m));
                        after[s->n++] = log(value_of(&c->pairs[i], 1, m));
                }
                s->known++;
                for (size_t k = 0; k < N_LOOKS; k++)
                        if (judge_looks[k] == s->known)
                                s->upto[k] = s->n;
        }
        s->is_constant = s->n >= CONSTANT && is_all_equal(before, s->n) && is_all_equal(after, s->n);
}

static double floor_of(const struct series *s, enum judge_measure m)
{
        double least = fmin(s->ret->median[0], s->ret->median[1]);

        return is_time(m) ? fmax(log(JUDGE_FLOOR), log1p(JUDGE_SECONDS / least)) : log(JUDGE_FLOOR);
}

/* Medians of all cases; tested are those whose answers decide nothing. */
static int read_series(const struct judge_case *cases, struct judgement *j, struct measured *m)
{
        size_t values = 0;
        double *room;

        for (size_t i = 0; i < j->n; i++)
                values += judge_is_compared(&cases[i]) ? 2 * judge_pairs_of(&cases[i], &j->options) : 0;
        m->list = calloc(j->n + 1, sizeof(*m->list));
        m->room = room = calloc(values + 1, sizeof(*room));
        if (!m->list || !m->room)
                return -ENOMEM;
        for (size_t i = 0; i < j->n; i++) {
                struct series *s = &m->list[m->n];
                size_t pairs = judge_pairs_of(&cases[i], &j->options);

                if (!judge_is_compared(&cases[i]))
                        continue;
                *s = (struct series){.index = i, .family = cases[i].family, .ret = &j->cases[i].by[m->measure]};
                fill_series(&cases[i], pairs, m->measure, room, s);
                room += 2 * pairs;
                if (s->n == 0)
                        continue;
                s->ret->pairs = s->n;
                s->ret->median[0] = exp(stat_median(s->before, s->n));
                s->ret->median[1] = exp(stat_median(s->after, s->n));
                s->floor = floor_of(s, m->measure);
                if (cases[i].is_same_program)
                        s->ret->ratio = s->ret->low = s->ret->high = 1;
                if (cases[i].is_same_program)
                        s->ret->change = JUDGE_SAME;
                m->n += j->cases[i].change == JUDGE_UNDECIDED;
        }
        return 0;
}

/* -- tests -------------------------------------------------------------------------------------------------------- */

/* The tails of samples without ties, made once. */
struct tails {
        double *signs[JUDGE_PAIRS + 1], *two[JUDGE_PAIRS + 1];
};

static void tails_done(struct tails *t)
{
        for (size_t n = 0; n <= JUDGE_PAIRS; n++) {
                free(t->signs[n]);
                free(t->two[n]);
        }
}

static const double *tails_for(struct tails *t, size_t n, bool paired)
{
        double **at = paired ? &t->signs[n] : &t->two[n];

        if (!*at)
                *at = paired ? stat_signed_rank_tails(n) : stat_mann_whitney_tails(n, n);
        return *at;
}

/* Do the two sides go together over the first n seeds? */
static bool go_together(const struct series *s, size_t n)
{
        double mean[2] = {0}, xx = 0, yy = 0, xy = 0, r;

        for (size_t i = 0; i < n; i++) {
                mean[0] += s->before[i] / (double)n;
                mean[1] += s->after[i] / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
                double x = s->before[i] - mean[0], y = s->after[i] - mean[1];

                xx += x * x;
                yy += y * y;
                xy += x * y;
        }
        if (n < 3 || !(xx > 0) || !(yy > 0))
                return false;
        r = fmin(xy / sqrt(xx * yy), 1);
        return r > 0 && r * r * (double)(n - 2) > JUDGE_TOGETHER * JUDGE_TOGETHER * (1 - r * r);
}

/* The sum of the positive ranks is the number of means of two that are positive. False: there are ties. */
static bool count_signs(const struct series *s, size_t n, size_t *ret)
{
        double d[JUDGE_PAIRS];
        size_t ties = 0;

        *ret = 0;
        for (size_t i = 0; i < n; i++) {
                d[i] = s->after[i] - s->before[i];
                for (size_t k = 0; k <= i; k++) {
                        *ret += d[i] + d[k] > 0;
                        ties += d[i] + d[k] == 0 || (k < i && d[i] == d[k]);
                }
        }
        return ties == 0;
}

static bool count_above(const struct series *s, size_t n, size_t *ret)
{
        size_t ties = 0;

        *ret = 0;
        for (size_t i = 0; i < n; i++) {
                for (size_t k = 0; k < n; k++) {
                        *ret += s->after[i] > s->before[k];
                        ties += s->after[i] == s->before[k];
                }
                for (size_t k = 0; k < i; k++)
                        ties += (s->after[i] == s->after[k]) + (s->before[i] == s->before[k]);
        }
        return ties == 0;
}

/* The p of the first n pairs. */
static int test(const struct series *s, size_t n, struct tails *tails, double *ret)
{
        bool paired = go_together(s, n);
        size_t statistic, most = paired ? n * (n + 1) / 2 : n * n;
        const double *chance;
        struct stat_test t;
        int r;

        if (paired ? count_signs(s, n, &statistic) : count_above(s, n, &statistic)) {
                chance = tails_for(tails, n, paired);
                if (!chance)
                        return -ENOMEM;
                *ret = fmin(1, 2 * fmin(chance[statistic], chance[most - statistic]));
                return 0;
        }
        r = paired ? stat_signed_rank(s->after, s->before, n, &t) : stat_mann_whitney(s->after, n, s->before, n, &t);
        *ret = t.p;
        return r;
}

/* By how much, from the first n pairs. */
static int estimate(const struct series *s, size_t n, struct tails *tails, struct stat_shift *ret)
{
        double x[JUDGE_PAIRS], y[JUDGE_PAIRS];
        bool paired = go_together(s, n);
        const double *chance = tails_for(tails, n, paired);

        if (!chance)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                x[i] = paired ? s->after[i] - s->before[i] : s->after[i];
                y[i] = s->before[i];
        }
        stat_sort(x, n);
        stat_sort(y, n);
        *ret = paired ? stat_shift_sorted(x, n, JUDGE_CONFIDENCE, chance)
                      : stat_shift_sorted_unpaired(x, n, y, n, JUDGE_CONFIDENCE, chance);
        return 0;
}

static double mean_shift(const struct series *s, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += s->after[i] - s->before[i];
        return sum / (double)n;
}

/* By how much the first n pairs changed, for the floor: by the estimate, or where only some of the seeds changed, and the estimate hardly did, by the
 * mean of all. */
static double change_of(const struct series *s, size_t n, double estimated)
{
        double mean = mean_shift(s, n);

        return fabs(estimated) >= s->floor || fabs(mean) < s->floor ? estimated : mean;
}

/* A look at all cases: those that are significant are marked. */
static int look(struct measured *m, size_t look, struct tails *tails)
{
        cleanup_free double *p = calloc(m->n + 1, sizeof(*p));
        double largest;
        int r = p ? 0 : -ENOMEM;

        for (size_t i = 0; i < m->n && r == 0; i++) {
                p[i] = 1;
                if (m->list[i].upto[look] >= JUDGE_FIRST_PAIRS && !m->list[i].is_constant)
                        r = test(&m->list[i], m->list[i].upto[look], tails, &p[i]);
        }
        if (r == 0)
                r = stat_discoveries(p, m->n, judge_spending(PART_CASES, look, m->is_asked, m->false_alarms), &largest);
        for (size_t i = 0; i < m->n && r == 0; i++) {
                struct stat_shift shift;

                if (p[i] > largest || m->list[i].found)
                        continue;
                r = estimate(&m->list[i], m->list[i].upto[look], tails, &shift);
                m->list[i].found = fabs(change_of(&m->list[i], m->list[i].upto[look], shift.shift)) >= m->list[i].floor;
        }
        return r;
}

/* -- one measure -------------------------------------------------------------------------------------------------- */

/* Is it shown to differ by less than the floor? Five pairs that go together have no interval, and answers that come and go one without a width: there each
 * pair must say so. */
static bool is_same(const struct series *s)
{
        if (s->is_constant)
                return true;
        if (isfinite(s->shift.low) && s->shift.low < s->shift.high)
                return s->shift.low > -s->floor && s->shift.high < s->floor;
        for (size_t i = 0; i < s->n; i++)
                if (fabs(s->after[i] - s->before[i]) >= s->floor)
                        return false;
        return s->n >= JUDGE_FIRST_PAIRS;
}

static void set_change(struct series *s)
{
        if (s->found)
                s->ret->change = change_of(s, s->n, s->shift.shift) > 0 ? JUDGE_MORE : JUDGE_LESS;
        else
                s->ret->change = is_same(s) ? JUDGE_SAME : JUDGE_UNDECIDED;
}

static int conclude(struct series *s, struct tails *tails)
{
        struct judge_shift *ret = s->ret;
        int r = s->is_constant ? 0 : test(s, s->n, tails, &ret->p);

        if (r == 0)
                r = estimate(s, s->n, tails, &s->shift);
        if (s->is_constant) {
                ret->p = s->shift.shift == 0 ? 1 : 0;
                s->shift.low = s->shift.high = s->shift.shift;
                s->found = fabs(s->shift.shift) >= s->floor;
        }
        ret->ratio = exp(s->shift.shift);
        ret->low = exp(s->shift.low);
        ret->high = exp(s->shift.high);
        set_change(s);
        return r;
}

/* Cases of a set that changed as a whole, and evenly. */
static void follow(struct measured *m, const struct judge_set_shift *set)
{
        for (size_t i = 0; i < m->n; i++) {
                struct series *s = &m->list[i];

                if (s->found || s->ret->p > FOLLOWS || fabs(s->shift.shift) < s->floor || s->n < JUDGE_FIRST_PAIRS ||
                    (s->shift.shift > 0) != (set->change == JUDGE_MORE))
                        continue;
                s->found = s->ret->follows_set = true;
                set_change(s);
        }
}

/* Standard error of the estimate: that of means, which is near. */
static double error_of(const struct series *s)
{
        double mean[2] = {0}, square = 0, n = (double)s->n;
        bool paired = go_together(s, s->n);

        for (size_t i = 0; i < s->n; i++) {
                mean[0] += s->before[i] / n;
                mean[1] += s->after[i] / n;
        }
        for (size_t i = 0; i < s->n; i++) {
                double x = s->before[i] - mean[0], y = s->after[i] - mean[1];

                square += paired ? (y - x) * (y - x) : x * x + y * y;
        }
        return sqrt(square / (n - 1) / n);
}

static bool has_flips(const struct judged_case *c)
{
        return c->flips[0] + c->flips[1] > 0;
}

/* How many pairs each case wants for itself. The first few are for everybody whose answers leave something to measure. Cases of a set that changed evenly
 * want none: what they do is known. By time, where that is not asked for, it is only whether answers are lost or gained. */
static void plan(const struct measured *m, struct judgement *j)
{
        size_t found = 0;

        for (size_t i = 0; i < m->n; i++)
                found += m->list[i].found;
        for (size_t i = 0; i < m->n; i++) {
                const struct series *s = &m->list[i];
                struct prospect p = {.part = PART_CASES,
                                     .false_alarms = m->false_alarms,
                                     .pairs = s->known,
                                     .most = m->most_wanted,
                                     .shift = fmax(fabs(s->shift.shift), fabs(mean_shift(s, s->n))),
                                     .floor = s->floor,
                                     .share = (double)(found + 1) / (double)m->n};

                if (s->ret->change != JUDGE_UNDECIDED || (!m->is_asked && !has_flips(&j->cases[s->index])))
                        continue;
                p.error = s->n >= JUDGE_FIRST_PAIRS ? error_of(s) : 0;
                if (s->n < JUDGE_FIRST_PAIRS ? 2 * s->n >= s->known : !judge_is_hopeless(&p))
                        j->cases[s->index].wanted = MAX(j->cases[s->index].wanted, judge_next_look(s->known, m->most_wanted));
        }
}

static void one_seed(struct measured *m)
{
        for (size_t i = 0; i < m->n; i++) {
                struct judge_shift *ret = m->list[i].ret;
                double floor = is_time(m->measure) || m->measure == JUDGE_PACE ? log(SEED_FACTOR) : m->list[i].floor;
                double shift = m->list[i].after[0] - m->list[i].before[0];

                ret->ratio = exp(shift);
                ret->low = 0;
                ret->high = INFINITY;
                ret->change = fabs(shift) >= floor ? JUDGE_DIFFERS : JUDGE_UNDECIDED;
        }
}

static int judge_measured(struct measured *m, const struct judge_case *cases, struct tails *tails, struct judgement *j)
{
        const struct judge_set_shift *set;
        int r = read_series(cases, j, m);

        if (r == 0 && m->most_pairs <= 1)
                one_seed(m);
        for (size_t k = 0; k < N_LOOKS && r == 0 && m->most_pairs > 1; k++)
                r = look(m, k, tails);
        for (size_t i = 0; i < m->n && r == 0 && m->most_pairs > 1; i++)
                r = conclude(&m->list[i], tails);
        if (r == 0)
                r = judge_sets(m, cases, j);
        if (r < 0)
                return r;
        set = &j->set.by[m->measure];
        if (set->is_even && (set->change == JUDGE_MORE || set->change == JUDGE_LESS))
                follow(m, set);
        else if ((m->is_asked || m->measure == JUDGE_TIME) && m->most_pairs > 1)
                plan(m, j);
        return 0;
}

/* -- cases -------------------------------------------------------------------------------------------------------- */

/* The change that the answers show, whatever was measured; JUDGE_UNDECIDED: none. */
static enum judge_change by_answers(const struct judge_case *c, size_t pairs)
{
        bool wrong[2] = {0}, sat[2] = {0}, unsat[2] = {0}, solved = false;

        if (!judge_is_compared(c))
                return JUDGE_UNKNOWN;
        for (size_t i = 0; i < pairs; i++)
                for (int side = 0; side < 2; side++) {
                        const struct judge_run *run = &c->pairs[i].run[side];

                        if (!run->is_known)
                                continue;
                        wrong[side] |= run->is_wrong;
                        sat[side] |= run->verdict == VERDICT_SAT && !run->is_wrong;
                        unsat[side] |= run->verdict == VERDICT_UNSAT && !run->is_wrong;
                        solved |= judge_is_solved(&c->pairs[i], side);
                }
        if (wrong[0] != wrong[1])
                return wrong[1] ? JUDGE_WRONG : JUDGE_RIGHT;
        if ((sat[0] && unsat[1]) || (unsat[0] && sat[1]))
                return JUDGE_CONTRADICTION;
        return c->is_same_program || !solved ? JUDGE_SAME : JUDGE_UNDECIDED;
}

static void count_pairs(const struct judge_case *c, size_t pairs, struct judged_case *ret)
{
        for (size_t i = 0; i < pairs; i++) {
                bool solved[2] = {judge_is_solved(&c->pairs[i], 0), judge_is_solved(&c->pairs[i], 1)};

                if (!judge_pair_is_known(&c->pairs[i]))
                        continue;
                ret->pairs++;
                ret->solved[0] += solved[0];
                ret->solved[1] += solved[1];
                ret->flips[0] += solved[0] && !solved[1];
                ret->flips[1] += solved[1] && !solved[0];
        }
}

static bool is_mostly_solved(const struct judged_case *c, int side)
{
        return 2 * c->solved[side] > c->pairs;
}

/* The change of a case whose answers are no fact by themselves: lost and gained are changes of time. */
static enum judge_change headline(const struct judged_case *c, const struct judge_options *o)
{
        enum judge_change time = c->by[JUDGE_TIME].change, asked = c->by[o->measure].change;
        bool before = is_mostly_solved(c, 0), after = is_mostly_solved(c, 1);

        if (time == JUDGE_DIFFERS || (o->most_pairs <= 1 && before != after))
                return before != after ? JUDGE_DIFFERS : asked;
        if (time == JUDGE_MORE && before && !after)
                return JUDGE_LOST;
        if (time == JUDGE_LESS && after && !before)
                return JUDGE_GAINED;
        return asked == JUDGE_UNKNOWN ? JUDGE_UNDECIDED : asked;
}

static void judge_case_before(const struct judge_case *c, const struct judge_options *o, struct judged_case *ret)
{
        size_t pairs = judge_pairs_of(c, o);

        *ret = (struct judged_case){.change = by_answers(c, pairs)};
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                ret->by[m] = (struct judge_shift){.median = {NAN, NAN}, .ratio = NAN, .low = NAN, .high = NAN, .p = NAN};
        count_pairs(c, pairs, ret);
}

/* The set wants the same number of pairs of all cases that it is tested by. */
static void judge_case_after(const struct judgement *j, struct judged_case *ret)
{
        if (ret->change != JUDGE_UNDECIDED)
                return;
        ret->change = headline(ret, &j->options);
        if (j->set.wanted > ret->pairs)
                ret->wanted = MAX(ret->wanted, j->set.wanted);
}

int judge(const struct judge_case *cases, size_t n, const struct judge_options *options, struct judgement *ret)
{
        cleanup(tails_done) struct tails tails = {0};
        int r;

        *ret = (struct judgement){.options = *options, .n = n};
        ret->cases = calloc(n + 1, sizeof(*ret->cases));
        ret->families = calloc(options->n_families + 1, sizeof(*ret->families));
        r = ret->cases && ret->families ? 0 : -ENOMEM;
        for (size_t i = 0; i < n && r == 0; i++)
                judge_case_before(&cases[i], options, &ret->cases[i]);
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES && r == 0; m++) {
                struct measured measured = {
                        .measure = m,
                        .is_asked = m == options->measure,
                        .false_alarms = options->false_alarms > 0 ? options->false_alarms : JUDGE_FALSE_ALARMS,
                        .most_pairs = MIN(options->most_pairs, JUDGE_PAIRS),
                        .most_wanted = MIN(options->most_wanted > 0 ? options->most_wanted : options->most_pairs, JUDGE_PAIRS)};

                r = judge_measured(&measured, cases, &tails, ret);
                free(measured.list);
                free(measured.room);
        }
        for (size_t i = 0; i < n && r == 0; i++)
                judge_case_after(ret, &ret->cases[i]);
        if (r == 0)
                r = judge_count_sets(cases, ret);
        if (r < 0)
                judgement_done(ret);
        return r;
}

void judgement_done(struct judgement *j)
{
        free(j->cases);
        free(j->families);
        *j = (struct judgement){0};
}
