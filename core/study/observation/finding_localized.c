/* The search for a finding's commits: its options, its query, its result. */
#include "core/study/observation/finding.h"

#include "core/study/base/version.h"

enum verdict finding_verdict(const struct observation *f, const char *version)
{
        const struct observed_runs *runs = observation_runs_of(f, version);

        return runs ? runs->verdict : VERDICT_ERROR;
}

void finding_set_cell(const struct observation *f, struct cell *cell)
{
        cell_set_timeout(cell, f->is_cpu_time, seconds_ns(f->timeout));
        cell->has_seed = f->seed > 0;
        cell->seed = f->seed;
}

bool finding_is_localizable(const struct solver *s, const struct observation *f)
{
        if (observation_series(f) == OF_WATCHES || s->recipe->is_programs || !version_is_commit(f->reference) || !version_is_commit(f->target))
                return false;
        return f->kind == FINDING_SLOWDOWN || finding_verdict(f, f->reference) != finding_verdict(f, f->target);
}

int finding_localization_options(struct workspace *w, struct solver *s, const struct observation *f, struct case_info **info,
                                 struct localization_options *ret)
{
        if (!finding_is_localizable(s, f))
                return errorf(-ENODATA, "there is no history between %s and %s to look for a commit in", f->reference, f->target);
        *ret = (struct localization_options){.workspace = w,
                                             .solver = s,
                                             .cases = info,
                                             .n = 1,
                                             .has_seed = f->seed > 0,
                                             .seed = f->seed,
                                             .timeout_ns = seconds_ns(f->timeout),
                                             .is_cpu_time = f->is_cpu_time,
                                             .measure = f->measure,
                                             .by_verdict = f->kind != FINDING_SLOWDOWN,
                                             .before = finding_verdict(f, f->reference),
                                             .after = finding_verdict(f, f->target)};
        return history_resolve(s->history, f->reference, &ret->reference)
            ?: history_resolve(s->history, f->target, &ret->target)
            ?: cases_get(workspace_cases(w), f->case_id, info);
}

int finding_query_localized(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct localization_options options;

        return finding_localization_options(w, s, f, &info, &options) ?: query_localized(&options, ret);
}

int finding_localization(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        int r = finding_is_localizable(s, f) ? finding_query_localized(w, s, f, &q) : -ENOENT;

        return r < 0 ? r : localized_get(w, s, &q->key, ret);
}

int finding_localized(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret)
{
        int r = finding_localization(w, s, f, ret);

        if (r < 0 || localized_is_final(*ret))
                return r;
        *ret = localized_unref(*ret);
        return -ENOENT;
}
