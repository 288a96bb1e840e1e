/* The query that reduces a finding's input: the two answers that must be kept, or of an implication the formula before the last step and that step. */
#include "core/study/observation/finding.h"

static const enum interest interests[N_FINDING_KINDS] = {
        [FINDING_SLOWDOWN] = INTEREST_SLOW,      [FINDING_SOUNDNESS] = INTEREST_ANSWERS,       [FINDING_CRASH] = INTEREST_CRASH,
        [FINDING_REGRESSION] = INTEREST_ANSWERS, [FINDING_IMPLICATION] = INTEREST_IMPLICATION,
};

enum interest finding_interest(const struct observation *f)
{
        /* A wrong answer, too, can be known only because another formula implies the right one. */
        return f->kind == FINDING_SOUNDNESS && f->decided_id != 0 && !*f->reference ? INTEREST_IMPLICATION : interests[f->kind];
}

char *finding_last_step(const struct observation *f)
{
        size_t n = strlen(f->chain);
        const char *at;

        while (n > 0 && f->chain[n - 1] == '\n')
                n--;
        at = memrchr(f->chain, '\n', n);
        at = at ? at + 1 : f->chain;
        return copy_prefix(at, n - (size_t)(at - f->chain));
}

int finding_query_reduced(struct workspace *w, struct solver *s, const struct observation *f, uint64_t most_ns, unsigned jobs, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL, *decided = NULL;
        cleanup_free char *step = NULL;
        char what[64];
        struct reduction_options o = {.workspace = w,
                                      .solver = s,
                                      .what = what,
                                      .reference = f->reference,
                                      .target = f->target,
                                      .interest = finding_interest(f),
                                      .measure = f->measure,
                                      .step = "",
                                      .has_answers = true,
                                      .answers = {finding_verdict(f, f->reference), finding_verdict(f, f->target)},
                                      .timeout = f->timeout,
                                      .has_seed = f->seed > 0,
                                      .seed = f->seed,
                                      .most_ns = most_ns,
                                      .jobs = jobs};
        int r = cases_get(workspace_cases(w), f->case_id, &info);

        if (r < 0)
                return r;
        snprintf(what, sizeof(what), "%s/%u", observation_folder(f->kind), f->number);
        o.input.info = info;
        if (o.interest == INTEREST_IMPLICATION) {
                if (f->decided_id == 0 || !*f->chain)
                        return errorf(-EINVAL, "finding %u does not say which formula it follows from", f->number);
                r = cases_get(workspace_cases(w), f->decided_id, &decided);
                step = finding_last_step(f);
                o.reference = "";
                o.answers[SIDE_REFERENCE] = VERDICT_ERROR; /* the finding has no run of the formula before the rule */
                o.implied = o.input;
                o.input.info = decided;
                o.step = step;
        }
        return r < 0 ? r : query_reduced(&o, ret);
}

int finding_reduced(struct workspace *w, struct solver *s, const struct observation *f, struct reduction *ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        int r = finding_query_reduced(w, s, f, 1, 0, &q) ?: reduction_find(q, ret); /* most_ns and jobs are not in the key: any will do */

        if (r < 0 || ret->has_ended)
                return r;
        reduction_done(ret);
        return -ENOENT;
}
