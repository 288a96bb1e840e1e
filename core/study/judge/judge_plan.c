/* The looks, each look's share of the false alarms, and whether more pairs are worth their time. */
#include "core/study/judge/judge_internal.h"

#include <math.h>

const size_t judge_looks[N_LOOKS] = {JUDGE_FIRST_PAIRS, JUDGE_CASE_PAIRS, 12, 18, 24, 32, 40, 50, JUDGE_PAIRS};

/* A measure's share of all false alarms: if it is asked for, and if it is another one. */
#define TIME_SHARE  0.84
#define ASKED_SHARE 0.51 /* not time: the cases keep what they have by time */
#define OTHER_SHARE 0.04

/* A smaller chance of a change counts as none. */
#define HOPELESS 0.02
/* Further pairs are assumed to be like the known ones, but this many standard errors better. */
#define OPTIMISM 0.75

/* Answers are lost and gained by time, whatever is asked for: as soon, and as surely. */
static double share_of(enum judge_part part, const struct measured *m)
{
        if (m->measure == JUDGE_TIME && (m->is_asked || part == PART_CASES))
                return TIME_SHARE;
        return m->is_asked ? ASKED_SHARE : OTHER_SHARE;
}

double judge_spending(enum judge_part part, size_t look, const struct measured *m)
{
        static const double parts[] = {[PART_CASES] = 0.40, [PART_SET] = 0.56, [PART_FAMILIES] = 0.04};
        /* Five pairs of a case prove nothing among many cases; most plain changes show after eight or twelve. */
        static const double of_cases[N_LOOKS] = {0, 0.3, 0.3, 0.4 / 6, 0.4 / 6, 0.4 / 6, 0.4 / 6, 0.4 / 6, 0.4 / 6};
        /* A look at the set, by the measure that is asked for, may also spend what earlier looks would have found (Lan and DeMets, 1983): levels of a
         * Brownian motion that crosses none of the earlier bounds, by numerical integration for the 0.0047 that this part has by time; by
         * another measure they spend 2 % more than its 0.0029, and ASKED_SHARE leaves that much. */
        static const double of_set[N_LOOKS] = {0.0833, 0.0638, 0.0855, 0.1281, 0.1501, 0.2001, 0.2312, 0.2901, 0.3307};
        double even = (double)(judge_looks[look] - (look > 0 ? judge_looks[look - 1] : 0)) / JUDGE_PAIRS; /* by the pairs that the look adds */

        return m->false_alarms * share_of(part, m) * parts[part] *
               (part == PART_CASES ? of_cases[look] : part == PART_SET && m->is_asked ? of_set[look] : even);
}

size_t judge_usual_pairs(size_t n_cases)
{
        return n_cases <= 20 ? 24 : JUDGE_PAIRS;
}

size_t judge_next_pairs(size_t pairs, size_t most)
{
        if (pairs < judge_looks[0])
                return MIN(judge_looks[0], most) > pairs ? MIN(judge_looks[0], most) : 0;
        for (size_t k = 1; k < N_LOOKS; k++)
                if (pairs < judge_looks[k])
                        return judge_looks[k] <= most ? judge_looks[k] : 0;
        return 0;
}

/* The chance that a look finds a change, in the likelier direction. */
static double power(const struct prospect *p, size_t look)
{
        double alone = p->p > 0 ? p->p : judge_spending(p->part, look, p->of) * p->share;
        double n = (double)p->pairs, k = (double)judge_looks[look];
        double least, expected, deviation;

        if (alone == 0)
                return 0;
        /* the look finds a shift of at least this */
        least = fmax(p->floor, -stat_normal_quantile(alone / 2) * sqrt(p->fixed * p->fixed + p->error * p->error * n / k));
        expected = fabs(p->shift) + (k - n) / k * OPTIMISM * p->error;
        deviation = p->error * sqrt(n * (k - n)) / k;
        return deviation > 0 ? stat_normal_cdf((expected - least) / deviation) : expected >= least;
}

bool judge_is_hopeless(const struct prospect *p)
{
        for (size_t look = N_LOOKS; look-- > 0 && judge_looks[look] > p->pairs;)
                if (judge_looks[look] <= p->of->most_wanted && power(p, look) >= HOPELESS)
                        return false;
        return true;
}
