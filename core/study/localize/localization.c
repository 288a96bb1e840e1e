/* The localizer's questions put to the store and the engine: known builds and runs are fed first, then batch by batch what the plan wants. */
#include "core/study/localize/localization.h"

#include <math.h>


struct localization {
        struct localization_options options; /* owns refs on the solver and the cases */
        uint32_t fork;  /* localization_fork() */
        uint32_t start;
        struct localize_commit *commits;
        size_t *parents; /* of all commits, concatenated */
        size_t n;
        struct localize *search;
        double run_seconds; /* of the last run, if its value is not seconds */
        const struct localize_want *wants;
        size_t n_wants;
        struct answer {
                struct fact *fact; /* owns a ref */
                bool failed;       /* the commit cannot be built */
        } * answers; /* one per want, kept until all are there: the order of arrival must not matter. NULL: nothing is asked */
        bool is_stopped;
        bool has_lost;          /* the sources of a commit are lost, so it counts as one that cannot be built */
        enum verdict *expected; /* by case: the first sat or unsat; VERDICT_UNKNOWN: none yet */
        enum verdict (*first_answers)[2]; /* by case: at the start and at the target, of the run under seed 0; N_VERDICTS: none yet, or wrong */
        bool *disturbed;        /* by case: some runs were disturbed */
        size_t builds; /* done by this search */
};

/* -- the history -------------------------------------------------------------------------------------------------- */

/* The last commit of the target's line that is on the reference's, too. */
static int find_start(struct localization *l)
{
        struct history *h = l->options.solver->history;
        cleanup_revisions struct revisions between = {0};
        struct commit c;
        int r;

        if (l->options.reference == l->options.target)
                return errorf(-EINVAL, "reference and target are the same commit");
        r = revision_range(l->options.solver, l->options.reference, l->options.target, &between);
        if (r < 0)
                return r;
        if (between.n == 0)
                return errorf(-EINVAL, "the target comes before the reference on its line of first parents; swap them");
        r = history_commit(h, between.list[0], &c);
        if (r < 0)
                return r;
        if (c.first_parent == COMMIT_NONE)
                return errorf(-EINVAL, "reference and target have no commit in common along first parents");
        l->start = l->fork = c.first_parent;
        return 0;
}

static int read_parents(struct localization *l)
{
        struct history *h = l->options.solver->history;
        cleanup_free struct digest *keys = NULL;
        cleanup_free size_t *from = NULL;
        uint32_t n_keys;
        size_t n_parents = 0;
        int r = build_keys(h, l->options.solver->recipe, &keys, &n_keys);

        if (r < 0)
                return r;
        l->n = l->options.target + (size_t)1; /* a commit's number is above its parents' */
        l->commits = allocate(l->n, sizeof(*l->commits));
        from = allocate(l->n, sizeof(*from));
        for (uint32_t i = 0; i < l->n; i++) {
                cleanup_free uint32_t *parents = NULL;
                size_t n;

                r = history_parents(h, i, &parents, &n);
                if (r < 0)
                        return r;
                from[i] = n_parents;
                for (size_t p = 0; p < n; p++) {
                        if (parents[p] == COMMIT_NONE || parents[p] >= i) /* cut off by a shallow clone */
                                continue;
                        list_add(l->parents, n_parents, parents[p]);
                        l->commits[i].n_parents++;
                }
                if (i < n_keys)
                        memcpy(&l->commits[i].build, keys[i].bytes, sizeof(l->commits[i].build));
        }
        for (size_t i = 0; i < l->n; i++)
                l->commits[i].parents = l->parents + from[i];
        return 0;
}

/* -- outcomes ----------------------------------------------------------------------------------------------------- */

struct cell localization_cell(const struct localization_options *o, uint32_t commit, struct case_info *info)
{
        struct cell cell = {.solver = o->solver, .commit = commit, .info = info, .has_seed = o->has_seed, .seed = o->seed};

        cell_set_timeout(&cell, o->is_cpu_time, o->timeout_ns);
        return cell;
}

/* By verdict: two fixed times represent the two answers. No noise can hide their difference. */
#define BEFORE_SECONDS 0.01
#define AFTER_SECONDS  1.0

struct localize_outcome run_outcome(enum verdict verdict, bool is_wrong, double seconds)
{
        return (struct localize_outcome){.answer = verdict == VERDICT_TIMEOUT                 ? LOCALIZE_TIMEOUT
                                                   : verdict_is_decided(verdict) && !is_wrong ? LOCALIZE_SOLVED
                                                                                              : LOCALIZE_BROKEN,
                                         .is_unsat = verdict == VERDICT_UNSAT,
                                         .value = seconds,
                                         .effort = NAN};
}

double fact_amount(const struct cell *cell, const struct fact *f, enum judge_measure m)
{
        if (m == JUDGE_MEMORY)
                return f->memory > 0 ? (double)f->memory : NAN;
        return m == JUDGE_TIME ? cell_seconds(cell, f) : fact_effort(f, cell->solver->recipe);
}

/* A count of 0 is 1: what it grows to is a ratio. */
static double effort_of(const struct fact *f, const struct recipe *recipe)
{
        double effort = fact_effort(f, recipe);

        return effort == 0 ? 1 : effort;
}

struct localize_outcome fact_outcome(const struct cell *cell, const struct fact *f, enum judge_measure m)
{
        struct localize_outcome o = run_outcome(f->verdict, f->wrong, cell_seconds(cell, f));

        if (m == JUDGE_TIME)
                return o;
        o.value = m == JUDGE_MEMORY ? (double)f->memory : effort_of(f, cell->solver->recipe);
        if (o.answer != LOCALIZE_SOLVED || !(o.value > 0))
                o.answer = m == JUDGE_MEMORY && f->verdict == VERDICT_MEMOUT ? LOCALIZE_TIMEOUT : LOCALIZE_BROKEN;
        return o;
}

static bool is_program_of(const struct localization *l, uint32_t commit, uint32_t of)
{
        return commit == of || (l->commits[of].build != 0 && l->commits[commit].build == l->commits[of].build);
}

/* The start's runs are fed first: the first answer is the expected one. An answer counts as solved if it equals that. */
static void feed(struct localization *l, uint32_t commit, size_t test, unsigned seed, const struct fact *f)
{
        struct cell cell = localization_cell(&l->options, commit, l->options.cases[test]);
        struct localize_outcome outcome = fact_outcome(&cell, f, l->options.measure);

        if (verdict_is_decided(f->verdict) && !f->wrong && l->expected[test] == VERDICT_UNKNOWN)
                l->expected[test] = f->verdict;
        l->disturbed[test] |= f->disturbed && !l->options.is_cpu_time && l->options.measure == JUDGE_TIME;
        if (outcome.answer == LOCALIZE_SOLVED && f->verdict != l->expected[test])
                outcome.answer = LOCALIZE_BROKEN;
        if (l->options.by_verdict) {
                outcome.answer = f->verdict == l->options.before  ? LOCALIZE_SOLVED
                                 : f->verdict == l->options.after ? LOCALIZE_TIMEOUT
                                                                  : LOCALIZE_BROKEN;
                outcome.value = f->verdict == l->options.before ? BEFORE_SECONDS : AFTER_SECONDS;
        } else if (l->options.measure == JUDGE_TIME) {
                outcome.effort = effort_of(f, cell.solver->recipe);
        } else {
                l->run_seconds = (double)f->wall_ns / 1e9;
        }
        outcome.seed = seed;
        for (int end = 0; end < 2 && seed == 0; end++)
                if (is_program_of(l, commit, end == 0 ? l->start : l->options.target))
                        l->first_answers[test][end] = end == 0 && f->wrong ? N_VERDICTS : f->verdict;
        localize_feed(l->search, commit, test, &outcome);
}

/* -- what is known before ----------------------------------------------------------------------------------------- */

/* 1: the commit is built; -ENODATA: it cannot be built; 0: nothing is known. */
static int known_build(const struct localization *l, uint32_t commit)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = build_find(l->options.workspace, l->options.solver, commit, WITHOUT_LOG, &record);

        return r == -ENOENT || r == -ESTALE ? 0 : r < 0 ? r : record->ok ? 1 : -ENODATA;
}

struct known_run {
        struct localization *of;
        uint32_t commit;
        size_t test;
};

static int feed_first(void *user, uint32_t number, const struct fact *f)
{
        const struct known_run *k = user;
        const struct localization *l = k->of;

        /* The first decided verdict is the expected one: before the reference's is known, no other commit may give it. */
        if (number == 0 && (l->options.by_verdict || k->commit == l->start || l->expected[k->test] != VERDICT_UNKNOWN))
                feed(k->of, k->commit, k->test, 0, f);
        return 1; /* no more of them */
}

static int feed_known(struct localization *l, uint32_t commit)
{
        for (size_t i = 0; i < l->options.n; i++) {
                struct cell cell = localization_cell(&l->options, commit, l->options.cases[i]);
                int r = samples_known(l->options.workspace, &cell, false, feed_first, &(struct known_run){l, commit, i});

                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

/* True if an earlier commit with the same build has given the facts, which they share. */
static bool is_repeated(const struct localization *l, const uint32_t *known, size_t i)
{
        uint64_t build = l->commits[known[i]].build;

        for (size_t k = 0; build != 0 && k < i; k++)
                if (l->commits[known[k]].build == build)
                        return true;
        return false;
}

/* Feeds all known builds, and the known first runs of the commits from the start to the target on its line. A run that is left out is asked for like one
 * that is not known. */
static int feed_all_known(struct localization *l)
{
        cleanup_free uint32_t *known = NULL;
        cleanup_free bool *on_line = allocate(l->n, sizeof(*on_line));
        cleanup_revisions struct revisions line = {0};
        size_t n;
        int r = commits_known(l->options.workspace, l->options.solver, NULL, &known, &n)
            ?: revision_range(l->options.solver, l->start, l->options.target, &line);

        if (r < 0)
                return r;
        on_line[l->start] = true;
        for (size_t i = 0; i < line.n; i++)
                on_line[line.list[i]] = true; /* commits beside the line are looked up when needed */
        for (size_t i = 0; i < n && known[i] < l->n && r >= 0; i++) {
                int built = is_repeated(l, known, i) ? 0 : known_build(l, known[i]);

                if (built == 1)
                        localize_built(l->search, known[i]);
                else if (built == -ENODATA)
                        localize_unbuildable(l->search, known[i]);
                else
                        r = built;
                if (built == 1 && on_line[known[i]])
                        r = feed_known(l, known[i]);
        }
        return r;
}

/* -- life --------------------------------------------------------------------------------------------------------- */

void localization_free(struct localization *l)
{
        if (!l)
                return;
        for (size_t i = 0; l->answers && i < l->n_wants; i++)
                fact_unref(l->answers[i].fact);
        for (size_t i = 0; l->options.cases && i < l->options.n; i++)
                case_info_unref(l->options.cases[i]);
        localize_free(l->search);
        solver_unref(l->options.solver);
        free((void *)l->options.cases);
        free(l->answers);
        free(l->commits);
        free(l->parents);
        free(l->expected);
        free(l->first_answers);
        free(l->disturbed);
        free(l);
}

#define MOST_EFFORT 1e18 /* a limit that no count reaches, so that a run without one is the worst */

/* The limit of values: seconds by the clock that counts, bytes, or a count. */
static double limit_of(const struct localization *l)
{
        struct cell cell = localization_cell(&l->options, l->options.target, NULL);
        struct recipe_limits limits;

        cell_limits(&cell, &limits);
        if (l->options.by_verdict)
                return AFTER_SECONDS;
        if (l->options.measure != JUDGE_TIME)
                return l->options.measure == JUDGE_MEMORY ? (double)limits.memory : MOST_EFFORT;
        return (double)(l->options.is_cpu_time ? cell.cpu_ns : limits.wall_ns) / NSEC_PER_SEC;
}

/* Begins the search at l->start, with all known facts. */
static int begin_search(struct localization *l)
{
        int r;

        localize_free(steal_pointer(l->search));
        r = localize_new(&(struct localize_options){.limit = limit_of(l)}, l->commits, l->n, &l->search);
        for (size_t i = 0; i < l->options.n && r >= 0; i++) {
                enum verdict status = l->options.cases[i]->status;

                r = localize_add_case(l->search, l->start, l->options.target);
                l->expected[i] = verdict_is_decided(status) ? status : VERDICT_UNKNOWN;
                l->first_answers[i][0] = l->first_answers[i][1] = N_VERDICTS;
        }
        return r < 0 ? r : feed_all_known(l);
}

/* The user did not name the commit where two lines part. If it cannot be built, the next commit of the target's line that can be built replaces it, but
 * never the target itself. */
static int step_over(struct localization *l)
{
        int r = 0;

        while (r == 0 && l->start != l->options.reference && known_build(l, l->start) == -ENODATA) {
                cleanup_revisions struct revisions line = {0};
                uint32_t start = l->start;

                r = revision_range(l->options.solver, start, l->options.target, &line);
                if (r < 0 || line.n < 2)
                        return r;
                l->start = line.list[0];
                r = begin_search(l);
                if (r == -EINVAL) { /* the rest of the line is one program */
                        l->start = start;
                        return begin_search(l);
                }
        }
        return r;
}

int localization_new(const struct localization_options *options, struct localization **ret)
{
        cleanup_localization struct localization *l = allocate(1, sizeof(*l));
        struct case_info **cases = allocate(options->n, sizeof(*cases));
        int r;

        l->options = *options;
        l->options.solver = solver_ref(options->solver);
        l->options.cases = cases;
        l->expected = allocate(options->n, sizeof(*l->expected));
        l->first_answers = allocate(options->n, sizeof(*l->first_answers));
        l->disturbed = allocate(options->n, sizeof(*l->disturbed));
        for (size_t i = 0; i < options->n; i++)
                cases[i] = case_info_ref(options->cases[i]);
        r = find_start(l)
            ?: read_parents(l)
            ?: begin_search(l)
            ?: step_over(l);
        if (r == 0)
                *ret = steal_pointer(l);
        return r;
}

uint32_t localization_fork(const struct localization *l)
{
        return l->fork;
}

uint32_t localization_start(const struct localization *l)
{
        return l->start;
}

/* -- asking ------------------------------------------------------------------------------------------------------- */

static int make_run(void *user, size_t i, struct query **ret)
{
        struct localization *l = user;
        const struct localize_want *w = &l->wants[i];
        struct cell cell = localization_cell(&l->options, (uint32_t)w->commit, l->options.cases[w->test]);
        /* Seed 0 is the cell. Others follow its seed, or are repetitions (samples): by verdict always, as another seed may have another answer. */
        uint32_t sample = l->options.by_verdict ? w->seed : cell_draw(&cell, w->seed);

        return query_sample(l->options.workspace, &cell, sample, ret);
}

static int answered_run(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct localization *l = user;
        const struct run_value *run = (const struct run_value *)v;
        const uint32_t commit = (uint32_t)l->wants[i].commit;

        l->answers[i].failed = r == -ESTALE && commit != l->options.reference && commit != l->options.target; /* e.g. its submodule's commit is lost */
        l->has_lost |= l->answers[i].failed;
        if (l->answers[i].failed)
                return 0;
        if (r < 0)
                return errorf(r, "%s", reason ? reason : strerror(-r));
        l->answers[i].failed = !run->fact;
        l->answers[i].fact = run->fact ? fact_ref(run->fact) : NULL;
        return 0;
}

/* Feeds the answers to the search, in the order of the questions, but those at the start first: feed() takes the expected answer from them. A commit is
 * counted as built when it fails, or has its run under seed 0. */
static int feed_answers(struct localization *l)
{
        int r = 0;

        for (size_t at = 0; at < 2 * l->n_wants && r >= 0; at++) {
                const size_t i = at % l->n_wants;
                const struct localize_want *w = &l->wants[i];
                const struct answer *a = &l->answers[i];
                bool is_first_want = true; /* of its commit */

                if (is_program_of(l, (uint32_t)w->commit, l->start) != (at < l->n_wants))
                        continue;
                for (size_t k = 0; k < i && is_first_want; k++)
                        is_first_want = l->wants[k].commit != w->commit;
                if (a->failed)
                        localize_unbuildable(l->search, w->commit);
                else if (a->fact)
                        feed(l, (uint32_t)w->commit, w->test, w->seed, a->fact);
                else if (!l->is_stopped)
                        r = errorf(-ECANCELED, "the search was interrupted");
                l->builds += is_first_want && (a->failed || (a->fact && w->seed == 0));
        }
        for (size_t i = 0; i < l->n_wants; i++)
                fact_unref(l->answers[i].fact);
        free(steal_pointer(l->answers));
        return r;
}

#define UNKNOWN_BUILD 300 /* seconds of a build, if nothing was built yet */

int localization_next(struct localization *l, struct batch *ret)
{
        int r = 0;

        if (l->answers) {
                r = feed_answers(l);
                if (r >= 0 && !l->is_stopped)
                        r = step_over(l);
        }
        localize_set_costs(l->search, (double)build_usual_ns(l->options.workspace, l->options.solver) / 1e9 ?: UNKNOWN_BUILD, l->run_seconds);
        if (r >= 0)
                r = localize_plan(l->search, &l->wants, &l->n_wants);
        if (r < 0 || l->n_wants == 0)
                return r;
        l->answers = allocate(l->n_wants, sizeof(*l->answers));
        *ret = (struct batch){.n = l->n_wants, .make = make_run, .answered = answered_run, .user = l};
        return 1;
}

void localization_stop(struct localization *l)
{
        l->is_stopped = true;
        localize_stop(l->search);
}

void localization_progress(const struct localization *l, struct localization_progress *ret)
{
        *ret = (struct localization_progress){.builds_done = l->builds, .runs_open = l->n_wants};
        localize_progress(l->search, &ret->search);
        for (size_t i = 0; i < l->n_wants; i++)
                ret->verifying += l->wants[i].verify;
}

/* -- results -- */

static char *commit_text(const struct localization *l, size_t commit)
{
        return copy_string(full_sha(l->options.solver, (uint32_t)commit).s);
}

static void make_culprit(const struct localization *l, const struct localize_culprit *c, struct localized_culprit *ret)
{
        cleanup_buffer struct buffer subject = {0};

        history_subject(l->options.solver->history, (uint32_t)c->commits[c->n - 1], &subject);
        *ret = (struct localized_culprit){
                .before = commit_text(l, c->before),
                .commits = allocate(c->n, sizeof(*ret->commits)),
                .subject = copy_string(subject.data ?: ""),
                .measure = l->options.measure,
                .value_before = isfinite(c->value_before) ? c->value_before : INFINITY,
                .value_after = isfinite(c->value_after) ? c->value_after : INFINITY,
                .is_broken_before = c->broken_before,
                .is_broken_after = c->broken_after,
                .is_slowdown = c->is_slowdown,
                .is_verified = c->verified,
                .is_cut_off = c->is_cut_off,
                .pairs = c->pairs,
                .p = c->p,
                .ratio = c->ratio,
                .confidence = c->confidence,
        };
        for (; ret->n < c->n; ret->n++)
                ret->commits[ret->n] = commit_text(l, c->commits[ret->n]);
        ret->commit = format_string(c->n > 1 ? "%s..%s" : "%.0s%s", ret->before, ret->commits[c->n - 1]);
}

struct localized *localization_result(const struct localization *l, size_t i)
{
        const struct localization_options *o = &l->options;
        const struct localize_culprit *culprits;
        size_t n = localize_culprits(l->search, i, &culprits);
        struct localized *ret = localized_new();
        cleanup_buffer struct buffer name = {0};
        double ends[2];

        buffer_add_printable(&name, o->cases[i]->name);
        set_string(&ret->name, name.data ?: "");
        set_string(&ret->reference, full_sha(o->solver, o->reference).s);
        set_string(&ret->target, full_sha(o->solver, o->target).s);
        if (l->start != o->reference)
                set_string(&ret->start, full_sha(o->solver, l->start).s);
        localize_end_values(l->search, i, ends);
        ret->case_id = o->cases[i]->id;
        ret->state = localize_state(l->search, i);
        ret->measure = o->measure;
        ret->is_cpu_time = o->is_cpu_time;
        ret->has_seed = o->has_seed;
        ret->seed = o->seed;
        ret->by_verdict = o->by_verdict;
        ret->verdict_before = o->before;
        ret->verdict_after = o->after;
        if (!ret->by_verdict) {
                const enum verdict *first = l->first_answers[i];

                ret->value_reference = ends[0];
                ret->value_target = ends[1];
                localize_solved(l->search, i, &ret->solved, &ret->runs);
                if (verdict_is_decided(first[0]) && first[1] != N_VERDICTS && first[1] != first[0]) {
                        set_string(&ret->answer_reference, verdict_name(first[0]));
                        set_string(&ret->answer_target, verdict_name(first[1]));
                }
        }
        ret->is_unfinished = l->is_stopped && localize_is_cut_off(l->search, i);
        ret->is_disturbed = l->disturbed[i] && ret->state != LOCALIZE_FOUND;
        ret->culprits = allocate(n, sizeof(*ret->culprits));
        for (; ret->n < n; ret->n++) {
                make_culprit(l, &culprits[ret->n], &ret->culprits[ret->n]);
                ret->has_lost |= l->has_lost && culprits[ret->n].n > 1;
        }
        return ret;
}

/* -- git bisect log ----------------------------------------------------------------------------------------------- */

static void log_commit(const struct localization *l, struct buffer *to, bool command, size_t commit, const char *as)
{
        const struct commit_sha sha = full_sha(l->options.solver, (uint32_t)commit);

        buffer_addf(to, "# %s: [%s] ", as, sha.s);
        history_subject(l->options.solver->history, (uint32_t)commit, to);
        buffer_adds(to, "\n");
        if (command)
                buffer_addf(to, "git bisect %s %s\n", as, sha.s);
}

/* git assumes one step. A commit that is fast after the culprit, or slow before it, becomes a comment. */
static void log_sighting(const struct localization *l, const struct localize_sighting *s, size_t culprit, struct buffer *to)
{
        static const char *const words[] = {[LOCALIZE_SEEN_FAST] = "good", [LOCALIZE_SEEN_BETWEEN] = "skip", [LOCALIZE_SEEN_SLOW] = "bad"};
        bool odd = (s->seen == LOCALIZE_SEEN_SLOW && s->commit < culprit) || (s->seen == LOCALIZE_SEEN_FAST && s->commit >= culprit);

        if (s->commit != l->start && s->commit != l->options.target)
                log_commit(l, to, !odd && culprit != SIZE_MAX, s->commit, words[s->seen]);
}

void localization_log(const struct localization *l, size_t i, struct buffer *to)
{
        const struct localize_culprit *culprits;
        size_t n = localize_culprits(l->search, i, &culprits), n_seen, culprit = SIZE_MAX; /* commits from the culprit on are bad */
        cleanup_free struct localize_sighting *seen = localize_sightings(l->search, i, &n_seen);
        const struct solver *s = l->options.solver;

        for (size_t k = 0; k < n && culprit == SIZE_MAX; k++)
                if (culprits[k].is_slowdown)
                        culprit = culprits[k].commits[culprits[k].n - 1];
        buffer_addf(to, "# case %u\n", l->options.cases[i]->id);
        log_commit(l, to, false, l->options.target, "bad");
        log_commit(l, to, false, l->start, "good");
        if (culprit == SIZE_MAX) /* git would blame one all the same */
                buffer_adds(to, "# no commit was found that made it slow\n");
        else
                buffer_addf(to, "git bisect start '%s' '%s'\n", full_sha(s, l->options.target).s, full_sha(s, l->start).s);
        for (size_t k = 0; k < n_seen; k++)
                if (seen[k].commit == culprit) /* also one that breaks the case, which is neither fast nor slow */
                        seen[k].seen = LOCALIZE_SEEN_SLOW;
        /* the last bad one is git's bad end: from the newest to the oldest */
        for (size_t k = 0; k < n_seen; k++)
                if (seen[k].seen != LOCALIZE_SEEN_SLOW)
                        log_sighting(l, &seen[k], culprit, to);
        for (size_t k = n_seen; k-- > 0;)
                if (seen[k].seen == LOCALIZE_SEEN_SLOW)
                        log_sighting(l, &seen[k], culprit, to);
        if (culprit != SIZE_MAX)
                log_commit(l, to, false, culprit, "first bad commit");
}

int localization_keep(const struct localization *l)
{
        int r = 0;

        for (size_t i = 0; i < l->options.n && r >= 0; i++) {
                cleanup_localized struct localized *result = localization_result(l, i);

                r = localized_keep(&l->options, l->options.cases[i], result);
        }
        return r;
}
