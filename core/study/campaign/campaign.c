/* The life of a campaign: its versions, its journal, its workers, its time. */
#include "core/study/campaign/campaign_internal.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sys/stat.h>

#include "cache/base/fault.h"

#define LOOK_NS   (200 * NSEC_PER_MSEC) /* between two looks at the time and at who cancels */
#define TELL_NS   NSEC_PER_SEC
#define RECORD_NS (10 * NSEC_PER_SEC)

double campaign_now(struct campaign *c)
{
        uint64_t now = c->ended_ns > 0 ? c->ended_ns : now_ns();
        double session = c->settings->cpu_time ? c->status.solving - c->solved_before : (double)(now - c->began_ns) / 1e9;

        return c->worked_before + session;
}

void campaign_say(struct campaign *c, const char *format, ...)
{
        char line[PATH_SIZE + 600], stamp[32];
        time_t now = time(NULL);
        struct tm tm;
        va_list ap;

        va_start(ap, format);
        vsnprintf(line, sizeof(line), format, ap);
        va_end(ap);
        strftime(stamp, sizeof(stamp), "%F %T", localtime_r(&now, &tm));
        if (c->log) {
                fprintf(c->log, "%s %s\n", stamp, line);
                fflush(c->log);
        }
        if (c->watch && c->watch->line)
                c->watch->line(c->watch->user, line);
}

void campaign_say_line(void *user, const char *line)
{
        campaign_say(user, "%s", line);
}

void campaign_say_open(struct campaign *c, size_t n, const char *done, double seconds, const char *option, const char *next)
{
        char limit[32];

        format_duration((uint64_t)(seconds * 1e9), limit);
        if (n > 0)
                campaign_say(c, "%zu finding%s not %s to the end in %s (%s); %s", n, n == 1 ? " is" : "s are", done, limit, option, next);
}

int campaign_note(struct campaign *c, const struct campaign_record *r)
{
        struct campaign_record record = *r;

        record.now = campaign_now(c);
        return campaign_journal_add(c->journal, &record);
}

/* -- versions -- */

static int add_version(struct campaign *c, const char *text)
{
        int r;

        if (list_grow(c->versions, c->n_versions) < 0)
                return -ENOMEM;
        r = version_parse(c->workspace, c->solver, text, &c->versions[c->n_versions]);
        if (r < 0) {
                cleanup_free char *why = strdup(error_message(r));

                return r == -ENOMEM || !why ? -ENOMEM : errorf(-EINVAL, "%s", why);
        }
        c->n_versions++;
        return 0;
}

/* True if `b` can be reached from `a` by parents: `a` is the newer one. */
static bool is_ancestor(struct history *h, uint32_t a, uint32_t b)
{
        cleanup_free uint32_t *line = NULL;
        size_t n;

        if (history_line(h, a, &line, &n) < 0)
                return false;
        for (size_t i = 0; i < n; i++)
                if (line[i] == b)
                        return true;
        return false;
}

static int check_versions(const struct campaign *c)
{
        const struct version *target = c->versions[c->n_compared - 1];

        for (size_t i = 0; i + 1 < c->n_compared; i++) {
                const struct version *v = c->versions[i];

                for (size_t k = i + 1; k < c->n_compared; k++)
                        if (version_is_same(v, c->versions[k]))
                                return errorf(-EINVAL, "%s and %s are the same version (%.12s): there is nothing to compare",
                                              v->name, c->versions[k]->name, v->text);
                if (v->kind == VERSION_COMMIT && target->kind == VERSION_COMMIT && v->commit != target->commit &&
                    !v->has_arguments && !target->has_arguments && is_ancestor(c->solver->history, v->commit, target->commit))
                        return errorf(-EINVAL,
                                      "the reference %s comes after the target %s: a regression is looked for in the newer one; "
                                      "swap them",
                                      v->name, target->name);
        }
        return 0;
}

static int prepare_versions(struct campaign *c)
{
        const struct campaign_settings *s = c->settings;
        int r = 0;

        for (char *const *p = s->references; r == 0 && p && *p; p++)
                r = add_version(c, *p);
        if (r == 0)
                r = add_version(c, s->target);
        c->n_compared = c->n_versions;
        for (char *const *p = s->oracles; r == 0 && p && *p; p++)
                r = add_version(c, *p);
        if (r == 0)
                r = check_versions(c);
        c->programs = calloc(c->n_versions + 1, sizeof(*c->programs));
        if (r == 0 && !c->programs)
                r = -ENOMEM;
        for (size_t i = 0; r == 0 && i < c->n_versions; i++) {
                r = version_build(c->engine, c->workspace, c->versions[i], PRIORITY_BATCH, c->cancel_fd);
                if (r == 0)
                        r = version_hold(c->workspace, c->versions[i], &c->programs[i]);
        }
        return r;
}

/* -- the journal told again -- */

/* An input that a session which was cut off had under way. */
static struct strategy_input *find_left(struct campaign *c, uint64_t id)
{
        for (size_t i = 0; i < c->n_left; i++)
                if (c->left[i].id == id)
                        return &c->left[i];
        return NULL;
}

bool campaign_is_under_way(const struct campaign *c, uint64_t id)
{
        for (size_t i = 0; i < c->n_left; i++)
                if (c->left[i].id == id)
                        return true;
        return false;
}

static void drop_left(struct campaign *c, uint64_t id)
{
        struct strategy_input *i = find_left(c, id);

        if (i)
                *i = c->left[--c->n_left];
}

static int replay_next(struct campaign *c, const struct campaign_record *r)
{
        struct strategy_input input;
        int k = c->hunt->next_again(c, r, &input);

        if (k < 0)
                return k == -EAGAIN ? 0 : k;
        if (list_grow(c->left, c->n_left) < 0)
                return -ENOMEM;
        c->left[c->n_left++] = input;
        return 0;
}

static int replay(void *user, const struct campaign_record *r)
{
        struct campaign *c = user;

        c->worked_before = r->now;
        if (r->event == EVENT_SESSION)
                return 0;
        if (r->event == EVENT_NEXT)
                return replay_next(c, r);
        if (r->event == EVENT_FINISH)
                drop_left(c, r->id);
        if (r->event == EVENT_CAUSE && c->hunt->learned) {
                campaign_learn(c, r->id, r->cause);
                return 0;
        }
        return c->hunt->replay(c, r);
}

/* -- files beside the journal -- */

static void add_to_file(struct campaign *c, const char *name, const char *head, const char *line)
{
        char path[PATH_SIZE];
        FILE *f;

        if (path_join(path, c->folder, name) < 0)
                return;
        f = fopen(path, "ae");
        if (!f)
                return;
        if (ftello(f) == 0)
                fputs(head, f);
        fputs(line, f);
        fclose(f);
}

static void write_progress(struct campaign *c, const struct campaign_status *s, uint64_t culprits)
{
        char line[256];

        snprintf(line, sizeof(line),
                 "%.0f\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                 "\n",
                 s->worked, s->inputs, s->runs, s->runs > 0 ? s->solving / (double)s->runs : 0, s->finds, s->soundness,
                 s->crashes, culprits, s->implications, s->candidates);
        add_to_file(c, "progress.tsv",
                    "seconds\tinputs\truns\tmean-solving-time\tfinds\tsoundness\tcrashes\tculprits\timplications\tcandidates\n",
                    line);
}

static void write_table(struct campaign *c)
{
        cleanup_buffer struct buffer b = {0};
        char path[PATH_SIZE];

        pthread_mutex_lock(&c->lock);
        c->hunt->print_table(c, &b);
        pthread_mutex_unlock(&c->lock);
        if (path_join(path, c->folder, c->hunt->table) == 0 && buffer_error(&b) == 0)
                write_file_atomic(path, b.data, b.size, 0600);
}

static int record_status(struct campaign *c, enum campaign_state state)
{
        struct campaign_status s;
        uint64_t culprits;
        int r;

        pthread_mutex_lock(&c->lock);
        c->status.state = state;
        c->status.worked = campaign_now(c);
        c->status.changed = now_seconds();
        s = c->status;
        culprits = campaign_count_causes(c);
        r = campaign_journal_sync(c->journal);
        pthread_mutex_unlock(&c->lock);
        write_progress(c, &s, culprits);
        write_table(c);
        if (r == 0 && c->hunt->record)
                r = c->hunt->record(c);
        return r < 0 ? r : campaign_put_status(c->workspace, c->solver->number, c->settings->name, &s);
}

/* -- workers -- */

/* Under the lock. 0: *ret is an input; 1: there are no more. */
static int take_input(struct campaign *c, struct strategy_input *ret)
{
        for (;;) {
                int r, k;

                if (c->is_over)
                        return 1;
                if (c->n_left > 0) {
                        *ret = c->left[--c->n_left];
                        return 0;
                }
                r = c->hunt->next(c, ret);
                if (r == -ENOSPC) {
                        if (!c->is_exhausted)
                                campaign_say(c, "%s", error_message(r));
                        c->is_exhausted = true;
                        return 1;
                }
                if (r < 0 && r != -EAGAIN)
                        return r;
                k = campaign_note(c, &(struct campaign_record){.event = EVENT_NEXT, .id = r == 0 ? ret->id : 0});
                if (k < 0 || r == 0)
                        return k;
                pthread_cond_wait(&c->changed, &c->lock);
        }
}

/* While commits are looked for, which takes a core, too. */
static int make_room(struct bench_seat *seat)
{
        struct campaign *c = seat->campaign;
        bool is_over, has_left = false;

        pthread_mutex_lock(&c->lock);
        while (seat->is_first && c->is_localizing && !c->is_over) {
                if (has_left) {
                        pthread_cond_wait(&c->changed, &c->lock);
                        continue;
                }
                pthread_mutex_unlock(&c->lock);
                seat_leave(seat);
                has_left = true;
                pthread_mutex_lock(&c->lock);
        }
        is_over = c->is_over;
        pthread_mutex_unlock(&c->lock);
        return has_left && !is_over ? seat_take(seat) : 0;
}

static int work(struct bench_seat *seat)
{
        struct campaign *c = seat->campaign;
        int r = seat_take(seat);

        while (r == 0) {
                struct strategy_input input;

                r = make_room(seat);
                if (r < 0)
                        break;
                pthread_mutex_lock(&c->lock);
                r = take_input(c, &input);
                pthread_mutex_unlock(&c->lock);
                if (r != 0)
                        break;
                r = c->hunt->try(seat, &input);
                pthread_mutex_lock(&c->lock);
                c->n_tried += seat->is_first;
                pthread_cond_broadcast(&c->changed);
                pthread_mutex_unlock(&c->lock);
                if (r == 0)
                        r = fault_at("campaign.input");
                if (r == 0 && seat_is_wanted(seat)) {
                        seat_leave(seat);
                        r = seat_take(seat);
                }
        }
        return r;
}

/* Called under the lock, by the thread whose error it is. */
static void end_with(struct campaign *c, int r)
{
        free(c->why);
        c->error = r;
        c->why = strdup(error_message(r));
}

static void *worker(void *user)
{
        struct campaign *c = user;
        struct bench_seat seat = BENCH_SEAT(c);
        int r;

        pthread_mutex_lock(&c->lock);
        seat.is_first = c->n_seats++ == 0;
        pthread_mutex_unlock(&c->lock);
        r = work(&seat);

        seat_leave(&seat);
        pthread_mutex_lock(&c->lock);
        if (r < 0 && c->error == 0 && !(r == -ECANCELED && c->is_over))
                end_with(c, r);
        c->is_over |= r < 0;
        c->n_waiting++;
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

/* -- time -- */

static uint64_t count_findings(const struct campaign_status *s)
{
        return s->finds + s->soundness + s->crashes;
}

static bool has_enough(const struct campaign *c)
{
        return c->settings->most_finds > 0 && count_findings(&c->status) - c->found_before >= c->settings->most_finds;
}

/* Until the workers have ended. */
static int watch_over(struct campaign *c, unsigned n)
{
        uint64_t told = now_ns(), recorded = told;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        while (c->n_waiting < n) {
                struct timespec until = time_in(LOOK_NS);
                struct campaign_status s;

                pthread_cond_timedwait(&c->changed, &c->lock, &until);
                if (campaign_now(c) >= c->settings->seconds || fd_is_readable(c->cancel_fd) || has_enough(c))
                        c->is_over = true;
                if (!c->is_over && solver_is_gone(c->workspace, c->solver)) {
                        c->is_over = true;
                        end_with(c, errorf(-ESTALE, "the solver %s was removed", c->solver->recipe->name));
                }
                c->status.worked = campaign_now(c);
                s = c->status;
                pthread_cond_broadcast(&c->changed);
                pthread_mutex_unlock(&c->lock);
                if (now_ns() - told >= TELL_NS && c->watch && c->watch->status) {
                        c->watch->status(c->watch->user, &s);
                        told = now_ns();
                }
                if (r == 0 && now_ns() - recorded >= RECORD_NS) {
                        r = record_status(c, CAMPAIGN_RUNNING);
                        recorded = now_ns();
                }
                pthread_mutex_lock(&c->lock);
                c->is_over |= r < 0;
        }
        c->is_over = true; /* also where there were no more inputs: the localizer waits for it */
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
        return r;
}

static int run_workers(struct campaign *c)
{
        unsigned n = campaign_count_seats(c), started = 0;
        cleanup_free pthread_t *threads = calloc(n, sizeof(*threads));
        int r = threads ? 0 : -ENOMEM, k;

        for (; r == 0 && started < n; started++) {
                k = pthread_create(&threads[started], NULL, worker, c);
                if (k != 0) {
                        r = errorf(-k, "cannot start a thread: %s", strerror(k));
                        break;
                }
        }
        if (r < 0) {
                pthread_mutex_lock(&c->lock);
                c->is_over = true;
                pthread_mutex_unlock(&c->lock);
        }
        k = watch_over(c, started);
        for (unsigned i = 0; i < started; i++)
                pthread_join(threads[i], NULL);
        return r < 0 ? r : k;
}

/* -- life -- */

static int check_list(const char *what, char *const *a, char *const *b)
{
        for (; *a && *b && strcmp(*a, *b) == 0; a++, b++)
                ;
        return *a || *b ? errorf(-EEXIST, "a campaign of that name has other %s; give this one another --name", what) : 0;
}

/* Is it the campaign that is there? Its decisions follow from these settings, so none may change. */
static int check_same(const struct campaign_settings *there, const struct campaign_settings *s)
{
        int r = check_list("references", there->references, s->references);

        if (r == 0)
                r = check_list("oracles", there->oracles, s->oracles);
        if (r < 0)
                return r;
        if (strcmp(there->target, s->target) != 0 || there->strategy != s->strategy || there->seed != s->seed ||
            there->timeout != s->timeout || there->threshold != s->threshold || there->window != s->window ||
            there->any_pair != s->any_pair || there->cpu_time != s->cpu_time || there->kind != s->kind ||
            there->label != s->label || there->iterations != s->iterations || there->chain != s->chain ||
            strcmp(there->corpus ? there->corpus : "", s->corpus ? s->corpus : "") != 0) {
                cleanup_buffer struct buffer b = {0};

                campaign_print_settings(there, &b);
                return errorf(-EEXIST,
                              "the campaign '%s' is there with other settings; give this one another --name. It has:\n%s",
                              s->name, b.data ? b.data : "");
        }
        return 0;
}

static int open_campaign(struct campaign *c, struct campaign_settings *full)
{
        cleanup_campaign_settings struct campaign_settings there = {0};
        struct campaign_status status = {0};
        char path[PATH_SIZE];
        int r = campaign_check_name(full->name);

        if (r == 0)
                r = campaign_get(c->workspace, c->solver->number, full->name, &there, &status);
        if (r == 0)
                r = check_same(&there, full);
        else if (r == -ENOENT)
                r = 0;
        if (r == 0)
                r = campaign_folder(c->workspace, c->solver->recipe->name, full->name, c->folder);
        if (r == 0)
                r = make_dirs(c->folder, 0700);
        if (r == 0)
                r = path_join(path, c->folder, "log");
        if (r < 0)
                return r;
        c->fingerprint_before = steal_pointer(there.fingerprint);
        c->log = fopen(path, "ae");
        c->status = (struct campaign_status){
                .begun = status.begun ? status.begun : now_seconds(), .soundness = status.soundness, .crashes = status.crashes};
        return path_join(path, c->folder, "journal");
}

static int begin_hunt(struct campaign *c)
{
        const struct campaign_settings *s = c->settings;
        int r = s->corpus ? corpus_read(s->corpus, campaign_say_line, c, &c->corpus) : 0;

        if (r == 0 && c->solver->recipe->dialect)
                r = dialect_parse(slice_string(c->solver->recipe->dialect), &c->dialect);
        c->status.skipped = c->corpus.skipped;
        return r < 0 ? r : c->hunt->begin(c);
}

static int open_journal(struct campaign *c)
{
        char path[PATH_SIZE];
        int r = path_join(path, c->folder, "journal");

        if (r == 0)
                r = campaign_journal_open(path, replay, c, &c->journal);
        c->began_ns = now_ns();
        c->solved_before = c->status.solving;
        c->found_before = count_findings(&c->status);
        if (r == 0 && c->status.inputs > 0)
                campaign_say(c, "goes on behind %" PRIu64 " inputs and %.0f seconds", c->status.inputs, c->worked_before);
        return r < 0 ? r : campaign_note(c, &(struct campaign_record){.event = EVENT_SESSION});
}

static void campaign_done(struct campaign *c)
{
        campaign_journal_close(c->journal);
        campaign_close_localizer(c);
        if (c->state)
                c->hunt->end(c);
        for (size_t i = 0; i < c->n_versions; i++) {
                if (c->programs)
                        held_done(&c->programs[i]);
                version_free(c->versions[i]);
        }
        free(c->programs);
        free(c->versions);
        corpus_done(&c->corpus);
        free(c->why);
        free(c->left);
        free(c->confirmed);
        free(c->ran);
        free(c->found);
        free(c->signatures);
        free(c->fingerprint);
        free(c->fingerprint_before);
        if (c->log)
                fclose(c->log);
        pthread_mutex_destroy(&c->lock);
        pthread_cond_destroy(&c->changed);
}

/* The versions' names in full, as they stand in the store. */
static int spell_out(struct campaign *c, const struct campaign_settings *given, struct campaign_settings *full)
{
        size_t n = given->references ? strings_count(given->references) : 0,
               m = given->oracles ? strings_count(given->oracles) : 0;

        *full = *given;
        full->fingerprint = NULL;
        if (full->reduce_seconds < 0)
                full->reduce_seconds = CAMPAIGN_REDUCE_SHARE * full->seconds;
        if (full->localize_seconds < 0)
                full->localize_seconds = fmax(full->seconds, CAMPAIGN_LOCALIZE_LEAST);
        full->references = calloc(n + 1, sizeof(char *));
        full->oracles = calloc(m + 1, sizeof(char *));
        full->target = strdup(c->versions[n]->text);
        full->corpus = given->corpus ? realpath(given->corpus, NULL) : NULL;
        if (given->corpus && !full->corpus)
                full->corpus = strdup(given->corpus); /* reading it says what is wrong */
        for (size_t i = 0; full->references && i < n; i++)
                full->references[i] = strdup(c->versions[i]->text);
        for (size_t i = 0; full->oracles && i < m; i++)
                full->oracles[i] = strdup(c->versions[n + 1 + i]->text);
        if (given->name)
                full->name = strdup(given->name);
        else if (asprintf(&full->name, "%s-%.12s-%" PRIu64,
                          given->kind == CAMPAIGN_UNKNOWNS ? "incompleteness" : strategy_name(given->strategy),
                          c->versions[n]->text, given->seed) < 0)
                full->name = NULL;
        return full->references && full->oracles && full->target && full->name ? 0 : -ENOMEM;
}

/* Decisions are told again from the journal, which fits these seeds and rules only. */
static int check_fingerprint(const struct campaign *c, struct campaign_settings *full)
{
        if (!c->fingerprint)
                return 0;
        if (c->fingerprint_before && strcmp(c->fingerprint_before, c->fingerprint) != 0)
                return errorf(-EEXIST,
                              "the campaign '%s' began with other seeds in %s, or other rules; give this one another --name",
                              full->name, full->corpus);
        full->fingerprint = strdup(c->fingerprint);
        return full->fingerprint ? 0 : -ENOMEM;
}

/* Localizing and reducing what was found is no time of the search. */
static void end_search(struct campaign *c)
{
        pthread_mutex_lock(&c->lock);
        c->ended_ns = now_ns();
        pthread_mutex_unlock(&c->lock);
        campaign_limit_localizer(c);
}

static int run_campaign(struct campaign *c, struct campaign_settings *full)
{
        int r = campaign_check_machine(c), k;

        if (r == 0)
                r = begin_hunt(c);
        if (r == 0)
                r = check_fingerprint(c, full);
        if (r == 0)
                r = open_journal(c);
        if (r == 0)
                r = campaign_put_settings(c->workspace, c->solver->number, full);
        if (r == 0)
                r = record_status(c, CAMPAIGN_RUNNING);
        if (r < 0)
                return r;
        r = campaign_start_localizer(c);
        if (r == 0 && campaign_now(c) < full->seconds)
                r = run_workers(c);
        else
                c->is_over = true; /* the localizer waits for it */
        end_search(c);
        campaign_end_localizer(c);
        if (r == 0)
                r = c->error;
        if (r == 0)
                r = campaign_localize_all(c);
        if (r == 0)
                r = campaign_reduce_all(c);
        k = record_status(c, r == 0 && !fd_is_readable(c->cancel_fd) && (c->is_exhausted || campaign_now(c) >= full->seconds)
                                     ? CAMPAIGN_FINISHED
                                     : CAMPAIGN_STOPPED);
        if (c->error < 0 && r == c->error && c->why)
                return errorf(r, "%s", c->why); /* it was another thread's, and much was done since */
        if (r == 0 && fd_is_readable(c->cancel_fd))
                r = -ECANCELED;
        return r < 0 ? r : k;
}

int campaign_run(struct workspace *w, struct engine *e, struct solver *s, const struct campaign_settings *settings,
                 const struct campaign_watch *watch, int cancel_fd)
{
        cleanup_campaign_settings struct campaign_settings full = {0};
        struct campaign c = {.workspace = w,
                             .engine = e,
                             .solver = s,
                             .place = s->place,
                             .settings = settings,
                             .hunt = settings->kind == CAMPAIGN_UNKNOWNS ? &hunt_unknowns : &hunt_slowdowns,
                             .watch = watch,
                             .cancel_fd = cancel_fd,
                             .localize_timer = -1,
                             .localize_end = -1,
                             .dialect = DIALECT_2_6};
        int r = c.hunt->check(settings);

        if (r < 0)
                return r;
        if (s->recipe->format != FORMAT_SMT2)
                return errorf(-EINVAL, "%s takes DIMACS; campaigns generate SMT-LIB", s->recipe->name);
        if (!(settings->seconds > 0))
                return errorf(-EINVAL, "a campaign runs --for a time that is greater than zero");
        pthread_mutex_init(&c.lock, NULL);
        pthread_cond_init(&c.changed, NULL);
        c.began_ns = now_ns();
        r = prepare_versions(&c);
        if (r == 0)
                r = spell_out(&c, settings, &full);
        if (r == 0) {
                c.settings = &full;
                r = open_campaign(&c, &full);
        }
        if (r == 0)
                r = run_campaign(&c, &full);
        campaign_done(&c);
        return r;
}
