/* Localizing while a campaign runs. A thread searches for the commits responsible for the findings so far.
 *
 * A turn of the localizer (campaign_turns.c) is one build or run, and as many more as begin within the time that the search had before. All findings of
 * that time are localized together and share builds.
 *
 * After the search for inputs the localizer has all cores, and a bounded wall-clock time. A localization that is not finished by then is kept as
 * unfinished, and continues with the next call of the campaign. */
#include "cache/base/hash.h"
#include "core/study/campaign/campaign_internal.h"
#include "core/study/observation/finding.h"

static bool is_unexplained(const struct campaign *c)
{
        for (size_t i = 0; i < c->n_found; i++)
                if (c->found[i].cause == 0 && !c->found[i].is_tried)
                        return true;
        return false;
}

void campaign_add_found(struct campaign *c, const struct observation *f)
{
        c->status.soundness += f->kind == FINDING_SOUNDNESS;
        c->status.crashes += f->kind == FINDING_CRASH;
        if (f->kind == FINDING_CRASH)
                campaign_add_signature(c, f->signature);
        if ((f->kind != FINDING_SLOWDOWN && f->kind != FINDING_REGRESSION) || !finding_is_localizable(c->solver, f))
                return;
        list_add(c->found, c->n_found, (struct campaign_found){.finding = f->number});
}

uint64_t campaign_count_causes(const struct campaign *c)
{
        uint64_t n = 0;

        for (size_t i = 0; i < c->n_found; i++) {
                bool is_new = c->found[i].cause != 0;

                for (size_t k = 0; is_new && k < i; k++)
                        is_new = c->found[k].cause != c->found[i].cause;
                n += is_new;
        }
        return n;
}

/* Reads the causes of the finds that are localized by now. Under the lock. */
static void read_causes(struct campaign *c)
{
        for (size_t i = 0; i < c->n_found; i++) {
                cleanup_observation struct observation *f = NULL;
                cleanup_localized struct localized *localized = NULL;
                const struct localized_culprit *culprit;
                int r;

                if (c->found[i].cause != 0 || observation_get(c->workspace, OF_CAMPAIGNS, c->solver->number, c->found[i].finding, &f) < 0)
                        continue;
                r = finding_localized(c->workspace, c->solver, f, &localized);
                if (r == -ENOENT)
                        continue; /* it was found after this search for commits began */
                c->found[i].is_tried = true;
                for (size_t at = 0; r == 0 && (culprit = localized_slowdown(localized, &at));) /* the newest stays */
                        c->found[i].cause = hash_quick(culprit->commit, strlen(culprit->commit));
        }
}

int campaign_read_found(struct campaign *c)
{
        cleanup_observations struct observations all = {0};
        int r = observations_read(c->workspace, c->solver->number, NULL, &all);

        for (size_t i = 0; r == 0 && i < all.n; i++) {
                const struct observation *f = all.list[i];

                if (f->kind == FINDING_CRASH && f->signature && *f->signature)
                        campaign_add_signature(c, f->signature); /* whichever campaign met it */
                if (strcmp(f->origin, c->settings->name) == 0)
                        campaign_add_found(c, all.list[i]);
        }
        read_causes(c);
        return r;
}

static bool is_time_over(const struct campaign *c)
{
        return c->localize_until > 0 && now_ns() >= c->localize_until;
}

/* -- searching: one search for all findings that are alike, which shares its builds -- */

struct search {
        struct campaign *campaign;
        struct observations all; /* those to be localized */
        struct batch batch;    /* what the localization asks next; run_search() puts turns and the time around it */
        size_t n_open;           /* findings that are not localized when the time is over */
};

static struct campaign_found *found_of(struct campaign *c, const struct observation *f)
{
        for (size_t i = 0; i < c->n_found; i++)
                if (c->found[i].finding == f->number)
                        return &c->found[i];
        return NULL;
}

/* True for a finding of this campaign that is still to be localized. */
static bool is_open(struct campaign *c, const struct observation *f)
{
        cleanup_localized struct localized *l = NULL;
        const struct campaign_found *found;
        bool is_tried;
        int r;

        if (strcmp(f->origin, c->settings->name) != 0 || !finding_is_localizable(c->solver, f))
                return false;
        r = finding_localization(c->workspace, c->solver, f, &l);
        pthread_mutex_lock(&c->lock);
        found = found_of(c, f);
        is_tried = found && found->is_tried;
        pthread_mutex_unlock(&c->lock);
        return !is_tried && (r == -ENOENT || (r == 0 && !localized_is_final(l)));
}

/* True if one search serves both findings: the same versions, limit, measure and seed; if answers changed, from the same to the same. */
static bool is_one_search(const struct observation *a, const struct observation *b)
{
        return strcmp(a->reference, b->reference) == 0 && strcmp(a->target, b->target) == 0 && a->timeout == b->timeout &&
               a->is_cpu_time == b->is_cpu_time && a->seed == b->seed && a->measure == b->measure &&
               (a->kind == FINDING_SLOWDOWN) == (b->kind == FINDING_SLOWDOWN) &&
               (a->kind == FINDING_SLOWDOWN || (finding_verdict(a, a->reference) == finding_verdict(b, b->reference) &&
                                                finding_verdict(a, a->target) == finding_verdict(b, b->target)));
}

/* Moves the findings of one search next to the one at `at`, and returns their number. */
static size_t same_search(struct search *s, size_t at)
{
        size_t n = at + 1;

        for (size_t i = n; i < s->all.n; i++)
                if (is_one_search(s->all.list[i], s->all.list[at])) {
                        struct observation *f = s->all.list[n];

                        s->all.list[n++] = s->all.list[i];
                        s->all.list[i] = f;
                }
        return n - at;
}

/* Makes a query; if the turn is over, at the next one. */
static int make_in_turn(void *user, size_t i, struct query **ret)
{
        struct search *s = user;
        struct campaign *c = s->campaign;

        pthread_mutex_lock(&c->lock);
        if (!c->is_over && now_ns() - c->turns.began >= c->turns.most && c->has_asked) {
                campaign_end_turn(c, BESIDE_LOCALIZER);
                campaign_begin_turn(c, BESIDE_LOCALIZER);
        }
        c->has_asked = true;
        pthread_mutex_unlock(&c->lock);
        return s->batch.make(s->batch.user, i, ret);
}

static int answered(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct search *s = user;

        return s->batch.answered(s->batch.user, i, r, v, reason);
}

static int check_time(void *user, const struct ask_progress *)
{
        const struct search *s = user;

        return is_time_over(s->campaign) ? errorf(-ETIME, "the time for localizing is over") : 0;
}

/* Runs a search to its end, or until its time is over. */
static int run_search(struct search *s, struct localization *l)
{
        struct campaign *c = s->campaign;
        int r;

        while ((r = localization_next(l, &s->batch)) > 0) {
                struct batch batch = s->batch;

                batch.open = campaign_is_over(c) ? campaign_count_workers(c) : 1;
                batch.make = make_in_turn;
                batch.answered = answered;
                batch.progress = check_time;
                batch.user = s;
                r = ask_many(c->engine, &batch, PRIORITY_BATCH, c->cancel_fd);
                if (r == -ETIME) {
                        localization_stop(l);
                        r = localization_next(l, &s->batch);
                        break;
                }
                if (r < 0)
                        break;
        }
        return r < 0 ? r : localization_keep(l);
}

/* A searched finding counts as tried, even if its result is not kept: another search in this session would give the same. */
static void mark_tried(struct campaign *c, const struct observation *f)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        struct campaign_found *found = found_of(c, f);

        if (found)
                found->is_tried = true;
}

static void note_result(struct search *s, const struct observation *f, const struct localized *result)
{
        struct campaign *c = s->campaign;
        cleanup_buffer struct buffer rows = {0};

        if (!result->is_unfinished)
                mark_tried(c, f);
        s->n_open += result->is_unfinished;
        localized_rows(result, &rows);
        rows.data[strcspn(rows.data, "\n")] = '\0';
        for (char *p = rows.data; *p; p++)
                *p = *p == '\t' ? ' ' : *p;
        campaign_say(c, "%s %s/%u: %s", result->is_unfinished ? "localized so far" : "localized", observation_folder(f->kind), f->number, rows.data);
}

/* Localizes the n findings from `at` on by one search. -EINVAL: note_unsearchable(). */
static int search(struct search *s, size_t at, size_t n)
{
        struct campaign *c = s->campaign;
        cleanup_localization struct localization *l = NULL;
        cleanup_free struct case_info **infos = allocate(n, sizeof(*infos));
        struct localization_options options;
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                r = finding_localization_options(c->workspace, c->solver, s->all.list[at + i], &infos[i], &options);
        if (r == 0) {
                options.cases = infos;
                options.n = n;
                r = localization_new(&options, &l);
        }
        if (r == 0)
                r = run_search(s, l);
        for (size_t i = 0; i < n; i++) {
                cleanup_localized struct localized *result = r == 0 ? localization_result(l, i) : NULL;

                if (result)
                        note_result(s, s->all.list[at + i], result);
                case_info_unref(infos[i]);
        }
        return r;
}

/* There is no search for these findings: the versions' lines of commits have nothing in common, or nothing that is built differs between them. */
static void note_unsearchable(struct search *s, size_t at, size_t n)
{
        struct campaign *c = s->campaign;
        cleanup_free char *why = copy_string(error_message(-EINVAL));

        for (size_t i = at; i < at + n; i++) {
                const struct observation *f = s->all.list[i];

                mark_tried(c, f);
                campaign_say(c, "not localized: %s/%u: %s", observation_folder(f->kind), f->number, why);
        }
}

/* False, after a word, if the finding's input is lost or damaged: others that share its search would fail with it. */
static bool has_input(struct campaign *c, const struct observation *f)
{
        cleanup(case_info_unrefp) struct case_info *info = NULL;
        cleanup_close int fd = -1;
        int r = cases_get(workspace_cases(c->workspace), f->case_id, &info) ?: cases_open_bytes(workspace_cases(c->workspace), info, &fd, NULL);

        if (r != -ENOENT && r != -EILSEQ)
                return true;
        mark_tried(c, f);
        campaign_say(c, "not localized: %s/%u: %s", observation_folder(f->kind), f->number, error_message(r));
        return false;
}

/* Localizes all findings that are not localized yet, until the time is over; *ret_open: the number of those left. Their results so far are kept as
 * unfinished (localization.h), and the next call continues. After -ECANCELED no result is kept, but all runs are, so the next call goes on there. */
static int localize(struct campaign *c, size_t *ret_open)
{
        struct search s = {.campaign = c};
        cleanup_free char *why = NULL;
        int r = observations_read(c->workspace, c->solver->number, NULL, &s.all);
        size_t n_all = s.all.n;

        s.all.n = 0;
        for (size_t i = 0; i < n_all; i++)
                if (is_open(c, s.all.list[i]) && has_input(c, s.all.list[i]))
                        s.all.list[s.all.n++] = s.all.list[i];
                else
                        observation_unref(s.all.list[i]);
        for (size_t at = 0, n; r == 0 && at < s.all.n; at += n) {
                n = same_search(&s, at);
                if (is_time_over(c))
                        s.n_open += n;
                else
                        r = search(&s, at, n);
                if (r == -EINVAL) {
                        note_unsearchable(&s, at, n);
                        r = 0;
                }
        }
        observations_done(&s.all);
        *ret_open = s.n_open;
        why = r < 0 ? copy_string(error_message(r)) : NULL;
        if (r < 0 && r != -ECANCELED)
                campaign_say(c, "not localized: %s", why);
        pthread_mutex_lock(&c->lock);
        read_causes(c);
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? errorf(r, "%s", why) : 0;
}

int campaign_localize_all(struct campaign *c)
{
        size_t n = 0;
        int r = c->settings->localize ? localize(c, &n) : 0;

        if (r == 0)
                campaign_say_open(c, n, "localized", c->settings->localize_seconds, "--localize-for", "the same command goes on");
        return r;
}

/* -- while it searches for inputs -- */

static void *localizer(void *user)
{
        struct campaign *c = user;
        size_t n_open;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        while (r == 0) {
                while (!c->is_over && !is_unexplained(c))
                        pthread_cond_wait(&c->changed, &c->lock);
                if (c->is_over)
                        break;
                campaign_begin_turn(c, BESIDE_LOCALIZER);
                c->has_asked = false;
                pthread_mutex_unlock(&c->lock);
                r = localize(c, &n_open);
                pthread_mutex_lock(&c->lock);
                campaign_end_turn(c, BESIDE_LOCALIZER);
        }
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

int campaign_start_localizer(struct campaign *c)
{
        return c->settings->localize ? campaign_start_beside(c, BESIDE_LOCALIZER, localizer, c) : 0;
}

