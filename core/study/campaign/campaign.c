/* Opens, runs and closes a campaign. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>
#include <math.h>

#define REDUCE_SHARE   0.5  /* of the search's seconds */
#define LOCALIZE_LEAST 60.0 /* seconds */

double campaign_now(struct campaign *c)
{
        uint64_t now = c->ended_ns > 0 ? c->ended_ns : now_ns();
        double session = c->settings->cpu_time ? c->status.solving - c->solved_before : (double)(now - c->began_ns) / 1e9;

        return c->worked_before + session;
}

int campaign_note(struct campaign *c, const struct campaign_record *r)
{
        struct campaign_record record = *r;

        record.now = campaign_now(c);
        return campaign_journal_add(c->journal, &record);
}

bool campaign_is_over(struct campaign *c)
{
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);

        return c->is_over;
}

void campaign_end(struct campaign *c)
{
        pthread_mutex_lock(&c->lock);
        c->is_over = true;
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
}

uint64_t campaign_count_findings(const struct campaign_status *s)
{
        return s->finds + s->soundness + s->crashes;
}

/* -- opening and closing -- */

/* Removes what a campaign of this name wrote before it failed to store its settings: it may have had other versions, or another machine. */
static void remove_answers(const struct campaign *c)
{
        static const char *const names[] = {"machine", "answered", "logics", "unsupported"};

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                cleanup_free char *path = format_string("%s/%s", c->folder, names[i]);

                unlink(path);
        }
}

static int open_campaign(struct campaign *c)
{
        const struct campaign_settings *s = c->settings;
        cleanup_campaign_settings struct campaign_settings there = {0};
        struct campaign_status status = {0};
        cleanup_free char *journal = NULL, *log = NULL;
        int r = campaign_check_name(s->name)
            ?: campaign_folder(c->workspace, c->solver->recipe->name, s->name, c->folder)
            ?: make_dirs(c->folder, 0700);

        journal = format_string("%s/journal", c->folder);
        log = format_string("%s/log", c->folder);
        if (r == 0) /* locked before the settings are read, as another command may begin this campaign, too */
                r = campaign_journal_open(journal, &c->journal);
        if (r < 0)
                return r;
        r = campaign_get(c->workspace, c->solver->number, s->name, &there, &status)
            ?: campaign_check_settings(&there, s);
        if (r == -ENOENT)
                remove_answers(c);
        else if (r < 0)
                return r;
        c->fingerprint_before = steal_pointer(there.fingerprint);
        c->log = fopen(log, "ae");
        c->status.begun = status.begun ? status.begun : now_seconds();
        return 0;
}

static void campaign_done(struct campaign *c)
{
        campaign_journal_close(c->journal);
        campaign_close_reducer(c);
        if (c->state)
                c->type->end(c);
        for (size_t i = 0; i < c->n_versions; i++) {
                if (c->programs)
                        held_done(&c->programs[i]);
                version_free(c->versions[i]);
        }
        free(c->programs);
        free(c->versions);
        corpus_done(&c->corpus);
        strings_free(c->logics);
        free(c->why);
        free(c->left);
        free(c->found);
        strings_free(c->signatures);
        free(c->fingerprint);
        free(c->fingerprint_before);
        if (c->log)
                fclose(c->log);
        pthread_mutex_destroy(&c->lock);
        pthread_cond_destroy(&c->changed);
}

/* The settings as stored: with versions in full, and defaults filled in. */
static struct campaign_settings spell_out(const struct campaign *c)
{
        const struct campaign_settings *given = c->settings;
        struct campaign_settings full = *given;
        size_t n = c->n_compared - 1; /* references */

        full.fingerprint = NULL;
        if (full.reduce_seconds < 0)
                full.reduce_seconds = REDUCE_SHARE * full.seconds;
        if (full.localize_seconds < 0)
                full.localize_seconds = fmax(full.seconds, LOCALIZE_LEAST);
        full.references = allocate(n + 1, sizeof(char *));
        full.oracles = allocate(c->n_versions - n, sizeof(char *));
        for (size_t i = 0; i < n; i++)
                full.references[i] = copy_string(c->versions[i]->text);
        full.target = copy_string(c->versions[n]->text);
        for (size_t i = n + 1; i < c->n_versions; i++)
                full.oracles[i - n - 1] = copy_string(c->versions[i]->text);
        full.logic = given->logic ? copy_string(given->logic) : NULL;
        full.corpus = given->corpus ? realpath(given->corpus, NULL) : NULL;
        if (given->corpus && !full.corpus)
                full.corpus = copy_string(given->corpus); /* reading the corpus reports a wrong path */
        full.name = copy_string(given->name);
        return full;
}

/* -- running -- */

/* Does all that comes before the search: reads the inputs, replays the journal, stores the settings. */
static int prepare(struct campaign *c, struct campaign_settings *full)
{
        int r = campaign_check_machine(c) ?: campaign_choose_format(c);

        if (r == 0 && full->corpus)
                r = corpus_read(c);
        if (r == 0)
                r = c->type->begin(c)
                    ?: campaign_check_fingerprint(c, full)
                    ?: campaign_resume(c)
                    ?: campaign_put_settings(c->workspace, c->solver->number, full)
                    ?: campaign_record_status(c, CAMPAIGN_RUNNING);
        if (r == 0 && (r = campaign_note_conditions(c)) < 0)
                campaign_record_status(c, CAMPAIGN_STOPPED);
        return r;
}

/* The search with what goes on beside it, then the rest of localizing and reducing. */
static int run_campaign(struct campaign *c, struct campaign_settings *full)
{
        bool has_time = campaign_now(c) < full->seconds; /* before other threads start */
        int r, k;

        r = campaign_start_localizer(c) ?: campaign_start_reducer(c);
        if (r == 0 && has_time)
                r = campaign_search(c);
        else
                campaign_end(c); /* the localizer and the reducer wait for it */
        pthread_mutex_lock(&c->lock);
        c->ended_ns = now_ns(); /* localizing and reducing do not count as time of the search */
        pthread_mutex_unlock(&c->lock);
        c->localize_until = now_ns() + seconds_ns(r == 0 && c->error == 0 ? full->localize_seconds : 0); /* an error is reported now */
        for (enum beside who = 0; who < N_BESIDE; who++)
                if (c->has_beside[who])
                        pthread_join(c->beside[who], NULL);
        if (r == 0)
                r = c->error;
        if (r == 0 && has_time) /* the last input began earlier: without this record the same command would find time left */
                r = campaign_note(c, &(struct campaign_record){.event = EVENT_SESSION});
        if (r == 0)
                r = campaign_localize_all(c) ?: campaign_reduce_all(c);
        k = campaign_record_status(c, r == 0 && !fd_is_readable(c->cancel_fd) && (c->is_exhausted || campaign_now(c) >= full->seconds)
                                     ? CAMPAIGN_FINISHED
                                     : CAMPAIGN_STOPPED);
        if (c->error < 0 && r == c->error)
                return errorf(r, "%s", c->why); /* another thread's error: this thread has no sentence for it */
        if (r == 0 && fd_is_readable(c->cancel_fd))
                r = -ECANCELED;
        if (r == 0 && k == 0 && c->is_exhausted && c->status.inputs == 0 && c->status.skipped >= c->corpus.n &&
            campaign_count_findings(&c->status) == 0)
                return errorf(-ENODATA, "no seed can be used; the campaign's log says why each was left out");
        return r < 0 ? r : k;
}

int campaign_run(struct workspace *w, struct engine *e, struct solver *s, const struct campaign_settings *settings,
                 const struct campaign_watch *watch, int cancel_fd)
{
        cleanup_campaign_settings struct campaign_settings full = {0};
        struct campaign c = {.workspace = w,
                             .engine = e,
                             .solver = s,
                             .cluster = s->pool,
                             .settings = settings,
                             .type = settings->kind == CAMPAIGN_UNKNOWNS ? &campaign_of_unknowns : &campaign_of_slowdowns,
                             .watch = watch,
                             .cancel_fd = cancel_fd,
                             .dialect = dialect_named(s->recipe->dialect)};
        int r = c.type->check(settings);

        if (r < 0)
                return r;
        if (!(settings->seconds > 0))
                return errorf(-EINVAL, "a campaign runs --for a time that is greater than zero");
        pthread_mutex_init(&c.lock, NULL);
        pthread_cond_init(&c.changed, NULL);
        snprintf(c.what, sizeof(c.what), "campaign %s of %s", settings->name, s->recipe->name);
        c.began_ns = now_ns();
        r = campaign_hold_versions(&c);
        if (r == 0) {
                full = spell_out(&c);
                c.settings = &full;
                r = open_campaign(&c);
        }
        if (r == 0)
                r = prepare(&c, &full) ?: run_campaign(&c, &full);
        campaign_done(&c);
        return r;
}
