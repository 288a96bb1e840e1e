/* The judgement of cases: their pairs as series of one measure, the tests, the looks, and the answers. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

#define CONSTANT    5    /* this many equal values on a side are not chance */
#define FOLLOWS     0.01 /* p of a case of a set that changed evenly */
#define SEED_FACTOR 1.5  /* least ratio of two different times of one seed; repeated runs of one program hardly differ so much */
#define LEAST_TIME  1e-6 /* seconds; a shorter one counts as this */

/* -- names -------------------------------------------------------------------------------------------------------- */

static const struct {
        const char *name, *unit;
        double least; /* smaller amounts count as this one in comparisons */
} measures[N_JUDGE_MEASURES] = {
        [JUDGE_TIME] = {"time", "seconds", 0},     [JUDGE_CPU_TIME] = {"cpu", "seconds", 0},
        [JUDGE_MEMORY] = {"memory", "bytes", 16 << 20}, [JUDGE_EFFORT] = {"effort", "effort", 100},
        [JUDGE_PACE] = {"seconds per effort", "seconds", 0},
};

static bool is_time(enum judge_measure m)
{
        return m == JUDGE_TIME || m == JUDGE_CPU_TIME;
}

const char *judge_measure_name(enum judge_measure m)
{
        return measures[m].name;
}

const char *judge_measure_unit(enum judge_measure m)
{
        return measures[m].unit;
}

double judge_least(enum judge_measure m)
{
        return measures[m].least;
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

struct short_text judge_amount_text(enum judge_measure m, double amount)
{
        struct short_text t;

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

        if ((c == JUDGE_MORE || c == JUDGE_LESS) && (m == JUDGE_MEMORY || m == JUDGE_EFFORT))
                return c == JUDGE_MORE ? "more" : "less";
        return names[c];
}

int judge_order(const struct judged_case *a, const struct judged_case *b, enum judge_measure m)
{
        double x = a->by[m].ratio, y = b->by[m].ratio;

        x = x > 0 ? fabs(log(x)) : 0;
        y = y > 0 ? fabs(log(y)) : 0;
        return ORDER(a->change, b->change) ?: ORDER(y, x);
}

/* -- runs --------------------------------------------------------------------------------------------------------- */

/* Of two limits; 0: none. */
static double lesser(double a, double b)
{
        double ret = fmin(a > 0 ? a : INFINITY, b > 0 ? b : INFINITY);

        return isinf(ret) ? 0 : ret;
}

double judge_limit(const struct judge_pair *p)
{
        return lesser(p->run[0].limit, p->run[1].limit);
}

static double cpu_limit(const struct judge_pair *p)
{
        return lesser(p->run[0].cpu_limit, p->run[1].cpu_limit);
}

double judge_unsolved(const struct judge_pair *p)
{
        const double limit = judge_limit(p), cpu = cpu_limit(p);

        return cpu > 0 ? lesser(limit, fmax(cpu, fmax(p->run[0].seconds, p->run[1].seconds))) : limit;
}

/* `own`: the limit of the run itself, which ended it where need be; `limit`: the lesser one of the pair, 0: none. */
static bool is_within(double seconds, double own, double limit)
{
        return limit == 0 || own == limit || !(seconds > limit);
}

/* An answer that came later than the other version's limit does not count. */
bool judge_is_solved(const struct judge_pair *p, int side)
{
        const struct judge_run *run = &p->run[side];

        return verdict_is_decided(run->verdict) && !run->is_wrong && is_within(run->seconds, run->limit, judge_limit(p)) &&
               is_within(run->cpu_seconds, run->cpu_limit, cpu_limit(p));
}

enum verdict judge_verdict(const struct judge_pair *p, int side)
{
        const struct judge_run *run = &p->run[side];

        return verdict_is_decided(run->verdict) && !run->is_wrong && !judge_is_solved(p, side) ? VERDICT_TIMEOUT : run->verdict;
}

size_t judge_pairs_of(const struct judge_case *c, const struct judge_options *o)
{
        return MIN(c->n_pairs, MAX(1, MIN(o->most_pairs, JUDGE_PAIRS)));
}

/* The value that counts for one side's run; NaN: none. */
static double value_of(const struct judge_pair *p, int side, enum judge_measure m)
{
        const struct judge_run *run = &p->run[side];
        const double values[N_JUDGE_MEASURES] = {
                [JUDGE_TIME] = isnan(run->seconds) ? NAN : fmax(run->seconds, LEAST_TIME),
                [JUDGE_CPU_TIME] = run->cpu_seconds,
                [JUDGE_MEMORY] = run->memory,
                [JUDGE_EFFORT] = run->effort == 0 ? 1 : run->effort, /* a ratio shows what became of it */
                [JUDGE_PACE] = run->effort > 0 ? run->seconds / run->effort : NAN,
        };
        double limit = m == JUDGE_CPU_TIME && cpu_limit(p) > 0 ? cpu_limit(p) : judge_unsolved(p);

        if (!judge_is_solved(p, side))
                return is_time(m) && limit > 0 ? limit : NAN;
        return values[m] > 0 && isfinite(values[m]) ? values[m] : NAN;
}

/* -- series ------------------------------------------------------------------------------------------------------- */

static bool is_all_equal(const double *x, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (x[i] != x[0])
                        return false;
        return true;
}

/* `room` is for two lists of all pairs. Its numbers are amounts first, for the medians. */
static void fill_series(const struct judge_case *c, size_t pairs, enum judge_measure m, double *room, struct series *s)
{
        double *before = room, *after = room + pairs;

        s->before = before;
        s->after = after;
        for (size_t i = 0; i < pairs; i++) {
                double x = value_of(&c->pairs[i], 0, m), y = value_of(&c->pairs[i], 1, m);

                if (!judge_pair_is_known(&c->pairs[i]))
                        continue;
                if (!isnan(x) && !isnan(y)) {
                        before[s->n] = x;
                        after[s->n++] = y;
                }
                s->known++;
                for (size_t k = 0; k < N_LOOKS; k++)
                        if (judge_looks[k] == s->known)
                                s->upto[k] = s->n;
        }
        s->ret->median[0] = stat_median(before, s->n);
        s->ret->median[1] = stat_median(after, s->n);
        for (size_t i = 0; i < s->n; i++) {
                before[i] = log(before[i]);
                after[i] = log(after[i]);
        }
        s->is_constant = s->n >= CONSTANT && is_all_equal(before, s->n) && is_all_equal(after, s->n);
}

double judge_floor(enum judge_measure m, double least)
{
        return is_time(m) ? fmax(log(JUDGE_FLOOR), log1p(JUDGE_SECONDS / least)) : log(JUDGE_FLOOR);
}

/* Sets the medians of all cases. Only cases that the answers do not decide go on the list of tests. */
static void read_series(const struct judge_case *cases, struct judgement *j, struct measured *m)
{
        size_t values = 0;
        double *room;

        for (size_t i = 0; i < j->n; i++)
                values += judge_is_compared(&cases[i]) ? 2 * judge_pairs_of(&cases[i], &j->options) : 0;
        m->list = allocate(j->n + 1, sizeof(*m->list));
        m->room = room = allocate(values + 1, sizeof(*room));
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
                s->floor = judge_floor(m->measure, fmin(s->ret->median[0], s->ret->median[1]));
                if (cases[i].is_same_program) {
                        s->ret->ratio = s->ret->low = s->ret->high = 1;
                        s->ret->change = JUDGE_SAME;
                }
                m->n += j->cases[i].change == JUDGE_UNDECIDED;
        }
}

/* -- tests -------------------------------------------------------------------------------------------------------- */

bool judge_sides_correlate(const struct sides *s)
{
        double a = s->before.square, b = s->after.square, n = s->shift.n, r = a > 0 && b > 0 ? fmin((a + b - s->shift.square) / 2 / sqrt(a * b), 1) : 0;

        return n >= 3 && r > 0 && r * r * (n - 2) > JUDGE_CORRELATION_T * JUDGE_CORRELATION_T * (1 - r * r);
}

static struct sides sides_of(const struct series *s, size_t n)
{
        struct sides ret = {0};

        for (size_t i = 0; i < n; i++)
                judge_add_pair(&ret, s->before[i], s->after[i]);
        return ret;
}

/* The p of the first n pairs: paired if the two sides correlate, as in estimate(). */
static double test(const struct series *s, size_t n)
{
        const struct sides sides = sides_of(s, n);
        struct stat_test t;

        if (judge_sides_correlate(&sides))
                stat_signed_rank(s->after, s->before, n, &t);
        else
                stat_mann_whitney(s->after, n, s->before, n, &t);
        return t.p;
}

struct judge_interval judge_t_interval(double mean, double error, double df)
{
        double half = df > 0 ? stat_t_quantile(0.5 + JUDGE_CONFIDENCE / 2, df) * error : INFINITY;

        return isfinite(error) && isfinite(half) ? (struct judge_interval){mean - half, mean + half}
                                                 : (struct judge_interval){NAN, NAN};
}

/* The shift that the first n pairs show; `sides` is of these. */
static struct stat_shift estimate(const struct series *s, const struct sides *sides, size_t n)
{
        double x[JUDGE_PAIRS], y[JUDGE_PAIRS];
        bool paired = judge_sides_correlate(sides);

        for (size_t i = 0; i < n; i++) {
                x[i] = paired ? s->after[i] - s->before[i] : s->after[i];
                y[i] = s->before[i];
        }
        stat_sort(x, n);
        stat_sort(y, n);
        return paired ? stat_shift_sorted(x, n, JUDGE_CONFIDENCE, stat_tails(n, true))
                      : stat_shift_sorted_unpaired(x, n, y, n, JUDGE_CONFIDENCE, stat_tails(n, false));
}

/* The change of the first n pairs: the estimate or, if that is below the floor, the mean of all pairs. If only some seeds changed, the mean moves and the
 * estimate hardly does. A mean that a few outliers may have moved by chance is none: its interval includes 0. */
static struct stat_shift change_of(const struct series *s, size_t n)
{
        const struct sides sides = sides_of(s, n);
        const struct moments *pairs = &sides.shift;
        const struct stat_shift middle = estimate(s, &sides, n);
        struct judge_interval mean;

        if (fabs(middle.shift) >= s->floor || fabs(pairs->mean) < s->floor || n < JUDGE_FIRST_PAIRS)
                return middle;
        mean = judge_t_interval(pairs->mean, judge_error(pairs), pairs->n - 1);
        return mean.low > 0 || mean.high < 0 ? (struct stat_shift){pairs->mean, mean.low, mean.high} : middle;
}

/* Looks at all cases, and marks those with a significant change. */
static void look(struct measured *m, size_t look)
{
        cleanup_free double *p = allocate(m->n + 1, sizeof(*p));
        double largest = -1;

        for (size_t i = 0; i < m->n; i++) {
                struct series *s = &m->list[i];

                p[i] = s->upto[look] >= JUDGE_FIRST_PAIRS && !s->is_constant ? test(s, s->upto[look]) : 1;
        }
        stat_discoveries(p, m->n, judge_spending(PART_CASES, look, m), &largest);
        for (size_t i = 0; i < m->n; i++) {
                struct series *s = &m->list[i];

                if (p[i] <= largest && !s->found)
                        s->found = fabs(change_of(s, s->upto[look]).shift) >= s->floor;
        }
}

/* -- one measure -------------------------------------------------------------------------------------------------- */

/* True if the difference is shown to be less than the floor, and the mean of the pairs does not say otherwise. Five correlated pairs have no interval, and
 * answers that come and go have one without a width: then every single pair must differ by less. */
static bool is_same(const struct series *s)
{
        if (s->is_constant)
                return true;
        if (fabs(sides_of(s, s->n).shift.mean) >= s->floor)
                return false;
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
                s->ret->change = s->shift.shift > 0 ? JUDGE_MORE : JUDGE_LESS;
        else
                s->ret->change = is_same(s) ? JUDGE_SAME : JUDGE_UNDECIDED;
}

/* The result over all pairs of a case. */
static void conclude(struct series *s)
{
        struct judge_shift *ret = s->ret;

        s->shift = change_of(s, s->n);
        if (s->is_constant) {
                ret->p = s->shift.shift == 0 ? 1 : 0;
                s->shift.low = s->shift.high = s->shift.shift;
                s->found = fabs(s->shift.shift) >= s->floor;
        } else {
                ret->p = test(s, s->n);
        }
        ret->ratio = exp(s->shift.shift);
        if (isfinite(s->shift.low) && isfinite(s->shift.high)) {
                ret->low = exp(s->shift.low);
                ret->high = exp(s->shift.high);
        }
        set_change(s);
}

/* Marks the cases that follow a set which changed as a whole, and evenly. */
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

/* Standard error of the estimate: that of the means, which is near it. */
static double error_of(const struct sides *s)
{
        double square = judge_sides_correlate(s) ? s->shift.square : s->before.square + s->after.square;

        return sqrt(square / (s->shift.n - 1) / s->shift.n);
}

/* True if this case, when all pairs that may be asked for are known, would show a change as large as the set's. */
static bool may_follow(const struct measured *m, const struct judge_set_shift *set, const struct prospect *p, size_t n)
{
        return fabs(log(set->ratio.mean)) >= -stat_normal_quantile(FOLLOWS / 2) * p->error * sqrt((double)n / (double)m->most_wanted);
}

/* Sets the number of pairs that each case wants for itself. Every case that the answers do not decide gets the first few. If the set changed evenly
 * (else NULL), a case needs only what shows that it follows. If time was not asked for, it only decides whether answers are lost or gained. */
static void plan(const struct measured *m, const struct judge_set_shift *set, struct judgement *j)
{
        size_t found = 0;

        for (size_t i = 0; i < m->n; i++)
                found += m->list[i].found;
        for (size_t i = 0; i < m->n; i++) {
                const struct series *s = &m->list[i];
                const struct sides sides = sides_of(s, s->n);
                struct prospect p = {.part = PART_CASES,
                                     .of = m,
                                     .p = set ? FOLLOWS : 0,
                                     .pairs = s->known,
                                     .shift = fmax(fabs(s->shift.shift), fabs(sides.shift.mean)),
                                     .error = s->n >= JUDGE_FIRST_PAIRS ? error_of(&sides) : 0,
                                     .floor = s->floor,
                                     .share = (double)(found + 1) / (double)m->n};
                struct judged_case *c = &j->cases[s->index];

                if (s->ret->change != JUDGE_UNDECIDED || (!m->is_asked && c->flips[0] + c->flips[1] == 0))
                        continue;
                /* of the first pairs, at least half must have the measure */
                if (s->n < JUDGE_FIRST_PAIRS ? 2 * s->n >= s->known : (!set || may_follow(m, set, &p, s->n)) && !judge_is_hopeless(&p))
                        c->wanted = MAX(c->wanted, judge_next_pairs(s->known, m->most_wanted));
        }
}

/* At one seed a change cannot be shown: the case differs there, or is undecided. */
static void one_seed(struct measured *m)
{
        for (size_t i = 0; i < m->n; i++) {
                struct judge_shift *ret = m->list[i].ret;
                double floor = is_time(m->measure) || m->measure == JUDGE_PACE ? log(SEED_FACTOR) : m->list[i].floor;
                double shift = m->list[i].after[0] - m->list[i].before[0];

                ret->ratio = exp(shift);
                ret->change = fabs(shift) >= floor ? JUDGE_DIFFERS : JUDGE_UNDECIDED;
        }
}

/* Judges all cases and sets by one measure: each look, then the result over all pairs, then the set, which the cases may follow. */
static void judge_measured(struct measured *m, const struct judge_case *cases, struct judgement *j)
{
        const struct judge_set_shift *set = &j->set.by[m->measure];
        bool is_followed;

        read_series(cases, j, m);
        if (m->most_pairs <= 1)
                one_seed(m);
        for (size_t k = 0; k < N_LOOKS && m->most_pairs > 1; k++)
                look(m, k);
        for (size_t i = 0; i < m->n && m->most_pairs > 1; i++)
                conclude(&m->list[i]);
        judge_sets(m, cases, j);
        is_followed = set->is_even && (set->change == JUDGE_MORE || set->change == JUDGE_LESS);
        if (is_followed)
                follow(m, set);
        if ((m->is_asked || m->measure == JUDGE_TIME) && m->most_pairs > 1)
                plan(m, is_followed ? set : NULL, j);
}

/* -- cases -------------------------------------------------------------------------------------------------------- */

/* True if all runs of a side ended by themselves, without an answer: no run of a case near its limits, which has an answer by chance. */
static bool gives_up(const struct judge_case *c, size_t pairs, int side)
{
        for (size_t i = 0; i < pairs; i++) {
                enum verdict v = judge_verdict(&c->pairs[i], side);

                if (judge_pair_is_known(&c->pairs[i]) && v != VERDICT_UNKNOWN && v != VERDICT_CRASH && v != VERDICT_ERROR)
                        return false;
        }
        return true;
}

/* The change of a case that the answers do not decide: lost and gained are constant, or changes of time. */
static enum judge_change change_of_case(const struct judge_case *of, const struct judged_case *c, const struct judge_options *o)
{
        enum judge_change time = c->by[JUDGE_TIME].change, asked = c->by[o->measure].change;
        bool before = 2 * c->solved[0] > c->pairs, after = 2 * c->solved[1] > c->pairs; /* mostly solved */

        for (int side = 0; side < 2; side++)
                if (c->pairs >= CONSTANT && c->solved[side] == c->pairs && gives_up(of, judge_pairs_of(of, o), !side))
                        return side == 0 ? JUDGE_LOST : JUDGE_GAINED;
        if (time == JUDGE_DIFFERS || (o->most_pairs <= 1 && before != after))
                return before != after ? JUDGE_DIFFERS : asked;
        if (time == JUDGE_MORE && before && !after)
                return JUDGE_LOST;
        if (time == JUDGE_LESS && after && !before)
                return JUDGE_GAINED;
        return asked == JUDGE_UNKNOWN ? JUDGE_UNDECIDED : asked;
}

/* The judgement by a case's answers alone: JUDGE_UNDECIDED if they show no change. */
static struct judged_case judge_answers(const struct judge_case *c, size_t pairs)
{
        bool wrong[2] = {0}, sat[2] = {0}, unsat[2] = {0}, is_solved = false;
        struct judged_case ret = {0};

        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++)
                ret.by[m] = (struct judge_shift){.median = {NAN, NAN}, .ratio = NAN, .low = NAN, .high = NAN, .p = NAN};
        for (size_t i = 0; i < pairs; i++) {
                bool is_known = judge_pair_is_known(&c->pairs[i]), solved[2];

                for (int side = 0; side < 2; side++) {
                        const struct judge_run *run = &c->pairs[i].run[side];
                        bool is_believed;

                        solved[side] = run->is_known && judge_is_solved(&c->pairs[i], side);
                        is_solved |= solved[side];
                        wrong[side] |= run->is_known && run->is_wrong;
                        is_believed = run->is_known && !run->is_wrong && !run->is_uncertain;
                        sat[side] |= is_believed && run->verdict == VERDICT_SAT;
                        unsat[side] |= is_believed && run->verdict == VERDICT_UNSAT;
                }
                ret.pairs += is_known;
                for (int side = 0; is_known && side < 2; side++) {
                        ret.solved[side] += solved[side];
                        ret.flips[side] += solved[side] && !solved[!side];
                }
        }
        ret.change = !judge_is_compared(c)                          ? JUDGE_UNKNOWN
                     : wrong[0] != wrong[1]                         ? (wrong[1] ? JUDGE_WRONG : JUDGE_RIGHT)
                     : (sat[0] || sat[1]) && (unsat[0] || unsat[1]) ? JUDGE_CONTRADICTION
                     : c->is_same_program || !is_solved             ? JUDGE_SAME
                                                                    : JUDGE_UNDECIDED;
        return ret;
}

void judge(const struct judge_case *cases, size_t n, const struct judge_options *options, struct judgement *ret)
{
        *ret = (struct judgement){.options = *options, .n = n};
        ret->cases = allocate(n + 1, sizeof(*ret->cases));
        ret->families = allocate(options->n_families + 1, sizeof(*ret->families));
        for (size_t i = 0; i < n; i++)
                ret->cases[i] = judge_answers(&cases[i], judge_pairs_of(&cases[i], options));
        for (enum judge_measure m = 0; m < N_JUDGE_MEASURES; m++) {
                struct measured measured = {
                        .measure = m,
                        .is_asked = m == options->measure,
                        .false_alarms = options->false_alarms > 0 ? options->false_alarms : JUDGE_FALSE_ALARMS,
                        .most_pairs = MIN(options->most_pairs, JUDGE_PAIRS),
                        .most_wanted = MIN(options->most_wanted > 0 ? options->most_wanted : options->most_pairs, JUDGE_PAIRS)};

                judge_measured(&measured, cases, ret);
                free(measured.list);
                free(measured.room);
        }
        for (size_t i = 0; i < n; i++) {
                struct judged_case *c = &ret->cases[i];

                if (c->change != JUDGE_UNDECIDED)
                        continue;
                c->change = change_of_case(&cases[i], c, options);
                if (ret->set.wanted > c->pairs) /* the set wants equally many pairs of each of its tested cases */
                        c->wanted = MAX(c->wanted, ret->set.wanted);
        }
        judge_count_sets(cases, ret);
}

void judgement_done(struct judgement *j)
{
        free(j->cases);
        free(j->families);
        *j = (struct judgement){0};
}
