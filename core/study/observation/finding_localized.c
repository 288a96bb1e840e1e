#include "core/study/observation/finding_localized.h"

#include <xxhash.h>

#include "core/study/base/version.h"

/* A version's answer when the finding was made. */
static enum verdict verdict_of(const struct observation *f, const char *version)
{
        const struct observed_runs *runs = observation_runs_of(f, version);

        return runs ? runs->verdict : VERDICT_ERROR;
}

bool finding_is_localizable(const struct solver *s, const struct observation *f)
{
        if (s->recipe->is_programs || !version_is_commit(f->reference) || !version_is_commit(f->target))
                return false;
        return f->kind == FINDING_SPR || verdict_of(f, f->reference) != verdict_of(f, f->target);
}

static int options_of(struct workspace *w, struct solver *s, const struct observation *f, struct case_info **info,
                      struct localization_options *ret)
{
        int r;

        if (!finding_is_localizable(s, f))
                return errorf(-ENODATA, "there is no history between %s and %s to look for a commit in", f->reference, f->target);
        *ret = (struct localization_options){.workspace = w,
                                             .solver = s,
                                             .cases = info,
                                             .n = 1,
                                             .timeout_ns = (uint64_t)(f->timeout * 1e9),
                                             .is_cpu_time = f->is_cpu_time,
                                             .measure = f->measure,
                                             .by_verdict = f->kind != FINDING_SPR,
                                             .before = verdict_of(f, f->reference),
                                             .after = verdict_of(f, f->target)};
        r = history_resolve(s->history, f->reference, &ret->reference);
        if (r == 0)
                r = history_resolve(s->history, f->target, &ret->target);
        return r < 0 ? r : cases_get(workspace_cases(w), f->case_id, info);
}

int finding_query_localized(struct workspace *w, struct solver *s, const struct observation *f, struct query **ret)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        struct localization_options options;
        int r = options_of(w, s, f, &info, &options);

        return r < 0 ? r : query_localized(&options, ret);
}

int finding_localization(struct workspace *w, struct solver *s, const struct observation *f, struct localized **ret)
{
        cleanup(query_unrefp) struct query *q = NULL;
        int r = finding_is_localizable(s, f) ? finding_query_localized(w, s, f, &q) : -ENOENT;

        return r < 0 ? r : localized_get(w, &q->key, ret);
}

int finding_culprits(struct workspace *w, struct solver *s, const struct observation *f, culprit_fn fn, void *user)
{
        cleanup_localized struct localized *localization = NULL;
        int r = finding_localization(w, s, f, &localization);

        if (r == 0)
                r = localized_is_final(localization) ? culprits_each(localization, fn, user) : -ENOENT;
        return r;
}

static int note_newest(void *user, const struct localized_culprit *c)
{
        *(uint64_t *)user = XXH3_64bits(c->commit, strlen(c->commit));
        return 0;
}

int finding_cause(struct workspace *w, struct solver *s, const struct observation *f, uint64_t *ret)
{
        *ret = 0;
        return finding_culprits(w, s, f, note_newest, ret);
}

int finding_print_localized(const struct localized *result, struct buffer *ret)
{
        buffer_adds(ret, "case\tcommit\tbefore\tafter\tsubject\n");
        return localized_rows(result, ret);
}

/* -- a campaign's -- */

struct batch {
        struct workspace *workspace;
        struct engine *engine;
        struct solver *solver;
        const char *campaign;
        const struct localizing *how;
        struct observations all;
        size_t n_open;
};

static bool is_localized(const struct batch *b, const struct observation *f)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;

        return finding_query_localized(b->workspace, b->solver, f, &q) < 0 ||
               (q->type->find(q, &v) == 0 && localized_is_final((struct localized *)v));
}

static bool is_open(const struct batch *b, const struct observation *f)
{
        return strcmp(f->origin, b->campaign) == 0 && finding_is_localizable(b->solver, f) && !is_localized(b, f) &&
               !b->how->is_left_out(b->how->user, f);
}

/* Between the same two versions, by the same measure. */
static bool is_one_search(const struct observation *a, const struct observation *b)
{
        return strcmp(a->reference, b->reference) == 0 && strcmp(a->target, b->target) == 0 && a->timeout == b->timeout &&
               a->is_cpu_time == b->is_cpu_time && a->measure == b->measure &&
               (a->kind == FINDING_SPR) == (b->kind == FINDING_SPR) &&
               (a->kind == FINDING_SPR || (verdict_of(a, a->reference) == verdict_of(b, b->reference) &&
                                           verdict_of(a, a->target) == verdict_of(b, b->target)));
}

/* Those of one search stand together from `at` on. */
static size_t same_search(struct batch *b, size_t at)
{
        size_t n = at + 1;

        for (size_t i = n; i < b->all.n; i++)
                if (is_one_search(b->all.list[i], b->all.list[at])) {
                        struct observation *f = b->all.list[n];

                        b->all.list[n++] = b->all.list[i];
                        b->all.list[i] = f;
                }
        return n - at;
}

/* An asking of the search, each question at its turn. */
struct paced {
        struct asking asking;
        const struct localizing *how;
};

static int make_paced(void *user, size_t i, struct query **ret)
{
        struct paced *p = user;

        p->how->await_turn(p->how->user);
        return p->asking.make(p->asking.user, i, ret);
}

static int answered_paced(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct paced *p = user;

        return p->asking.answered(p->asking.user, i, r, v, reason);
}

/* Runs the search to its end, or until its time is over. */
static int run_search(const struct batch *b, struct localization *l)
{
        struct paced paced = {.how = b->how};
        int r;

        while ((r = localization_next(l, &paced.asking)) > 0) {
                struct asking asking = paced.asking;

                asking.open = b->how->width(b->how->user);
                asking.make = make_paced;
                asking.answered = answered_paced;
                asking.user = &paced;
                r = ask_many(b->engine, &asking, PRIORITY_BATCH, b->how->end_fd);
                if (r == -ECANCELED && b->how->is_over(b->how->user)) {
                        localization_stop(l);
                        r = localization_next(l, &asking);
                        break;
                }
                if (r < 0)
                        break;
        }
        return r < 0 ? r : localization_keep(l);
}

static void tell(const struct batch *b, const struct observation *f, const struct localized *result)
{
        cleanup_buffer struct buffer rows = {0};
        char line[600];

        if (localized_rows(result, &rows) < 0)
                return;
        snprintf(line, sizeof(line), "%s %s/%u: %.*s", result->is_unfinished ? "localized so far" : "localized", observation_folder(f->kind),
                 f->number, (int)strcspn(rows.data, "\n"), rows.data);
        for (char *p = line; *p; p++)
                *p = *p == '\t' ? ' ' : *p;
        b->how->tell(b->how->user, line);
}

static int search(struct batch *b, size_t at, size_t n)
{
        cleanup_localization struct localization *l = NULL;
        cleanup_free struct case_info **infos = allocate(n, sizeof(*infos));
        struct localization_options options;
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                r = options_of(b->workspace, b->solver, b->all.list[at + i], &infos[i], &options);
        if (r == 0) {
                options.cases = infos;
                options.n = n;
                r = localization_new(&options, &l);
        }
        if (r == 0)
                r = run_search(b, l);
        for (size_t i = 0; i < n; i++) {
                cleanup_localized struct localized *result = r == 0 ? localization_result(l, i) : NULL;

                if (result && result->is_unfinished)
                        b->n_open++;
                else if (result)
                        b->how->ended(b->how->user, b->all.list[at + i]);
                if (result)
                        tell(b, b->all.list[at + i], result);
                case_info_unref(infos[i]);
        }
        return r;
}

int findings_localize(struct workspace *w, struct engine *e, struct solver *s, const char *campaign, const struct localizing *how,
                      size_t *ret_open)
{
        struct batch b = {.workspace = w, .engine = e, .solver = s, .campaign = campaign, .how = how};
        int r = observations_read(w, s->number, NULL, &b.all);
        size_t n_all = b.all.n;

        b.all.n = 0;
        for (size_t i = 0; i < n_all; i++)
                if (is_open(&b, b.all.list[i]))
                        b.all.list[b.all.n++] = b.all.list[i];
                else
                        observation_unref(b.all.list[i]);
        for (size_t at = 0, n; r == 0 && at < b.all.n; at += n) {
                n = same_search(&b, at);
                if (how->is_over(how->user))
                        b.n_open += n;
                else
                        r = search(&b, at, n);
        }
        observations_done(&b.all);
        *ret_open = b.n_open;
        return r;
}
