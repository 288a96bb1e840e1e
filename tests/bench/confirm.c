#include "tests/bench/confirm.h"

#include <math.h>

#include "core/study/base/stat.h"
#include "core/study/judge/judge.h"

#define MOST_PAIRS  24 /* as core/study/campaign/campaign_slowdown.c has it, and the next */
#define FALSE_FINDS 0.05

static struct judge_run judged(const struct outcome *o, double timeout)
{
        return (struct judge_run){.is_known = true, .verdict = o->verdict, .limit = timeout, .seconds = o->seconds, .cpu_seconds = NAN, .memory = NAN,
                                  .effort = NAN};
}

bool confirm_is_slow(const struct outcome *reference, const struct outcome *target, double threshold)
{
        return verdict_is_decided(reference->verdict) && target->seconds - reference->seconds > threshold;
}

bool confirm_holds(confirm_run_fn run, void *user, double timeout, double threshold)
{
        struct judge_pair pairs[MOST_PAIRS] = {0};
        double fast[MOST_PAIRS], slow[MOST_PAIRS];
        size_t failures = 0, n = 0;

        for (size_t wanted = JUDGE_FIRST_PAIRS; n < wanted;) {
                cleanup_judgement struct judgement j = {0};
                struct outcome a = run(user, false, n), b = run(user, true, n);

                pairs[n] = (struct judge_pair){.run = {judged(&a, timeout), judged(&b, timeout)}};
                fast[n] = a.seconds;
                slow[n] = b.seconds;
                failures += !confirm_is_slow(&a, &b, threshold);
                n++;
                if ((n == 1 && failures == 1) || 2 * failures > MAX(n, (size_t)JUDGE_FIRST_PAIRS))
                        return false;
                if (n < wanted)
                        continue;
                judge(&(struct judge_case){.pairs = pairs, .n_pairs = n}, 1,
                      &(struct judge_options){.measure = JUDGE_TIME, .most_pairs = MOST_PAIRS, .false_alarms = FALSE_FINDS}, &j);
                if (j.cases[0].change == JUDGE_MORE || j.cases[0].change == JUDGE_LOST)
                        return stat_lower_median(slow, n) - stat_lower_median(fast, n) > threshold;
                wanted = MIN(j.cases[0].wanted, (size_t)MOST_PAIRS);
        }
        return false;
}
