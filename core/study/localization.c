#include "core/study/localization.h"

#include <math.h>

struct localization {
        struct localization_options options; /* owns refs on the solver and the cases */
        uint32_t start;
        struct localize_commit *commits;
        size_t *parents; /* of all commits, one after another */
        size_t n;
        struct localize *search;
        const struct localize_want *wants;
        size_t n_wants;
        struct answer {
                int r;
                struct fact *fact; /* owns a ref */
                bool failed;       /* the commit cannot be built */
        } * answers;               /* one a want, until all are there: the order in which they come must not count */
        bool asked;
        uint32_t *rebuild; /* commits to be built clean before they verify */
        size_t n_rebuild;
        bool rebuilding;
        enum verdict *expected; /* by case: the first answer that was one; VERDICT_UNKNOWN: none yet */
        double (*ends)[2];      /* by case: seconds at reference and target, as last measured; NaN: not */
        size_t builds;
        double build_seconds;
};

/* -- the history -------------------------------------------------------------------------------------------------- */

/* The last commit of the target's line that is on the reference's, too. */
static int find_start(struct localization *l)
{
        struct history *h = l->options.solver->history;
        cleanup_revisions struct revisions between = {0};
        cleanup_revisions struct revisions back = {0};
        struct commit c;
        int r;

        if (l->options.reference == l->options.target)
                return errorf(-EINVAL, "reference and target are the same commit");
        r = revision_range(l->options.solver, l->options.reference, l->options.target, &between);
        if (r == 0)
                r = revision_range(l->options.solver, l->options.target, l->options.reference, &back);
        if (r < 0)
                return r;
        if (between.n == 0)
                return errorf(-EINVAL, "the target comes before the reference on its line of first parents; swap them");
        r = history_commit(h, between.list[0], &c);
        if (r < 0)
                return r;
        if (c.first_parent == COMMIT_NONE)
                return errorf(-EINVAL, "reference and target have no commit in common along first parents");
        l->start = c.first_parent;
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
        l->commits = calloc(l->n, sizeof(*l->commits));
        from = calloc(l->n, sizeof(*from));
        if (!l->commits || !from)
                return -ENOMEM;
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
                        if (list_grow(l->parents, n_parents) < 0)
                                return -ENOMEM;
                        l->parents[n_parents++] = parents[p];
                        l->commits[i].n_parents++;
                }
                if (i < n_keys)
                        memcpy(&l->commits[i].build, keys[i].bytes, sizeof(l->commits[i].build));
        }
        for (size_t i = 0; i < l->n; i++)
                l->commits[i].parents = l->parents + from[i];
        return 0;
}

/* What the engine expects a build to take. */
static double build_seconds(void *user, size_t commit)
{
        const struct localization *l = user;
        cleanup(query_unrefp) struct query *q = NULL;
        struct cost cost = {0};

        if (query_build(l->options.workspace, l->options.solver, (uint32_t)commit, &q) < 0 || !q->type->estimate ||
            !q->type->estimate(q, &cost))
                return 300;
        return fmax((double)cost.mean_ns / 1e9, 0.001);
}

/* -- outcomes ----------------------------------------------------------------------------------------------------- */

static struct cell cell_of(const struct localization *l, uint32_t commit, size_t test)
{
        return (struct cell){.solver = l->options.solver,
                             .commit = commit,
                             .info = l->options.cases[test],
                             .has_seed = l->options.has_seed,
                             .seed = l->options.seed,
                             .wall_ns = l->options.wall_ns};
}

/* By the recipe's first pattern; NaN: it did not say. */
static double effort_of(const struct fact *f)
{
        json_t *run = json_loadb(f->json.data ? f->json.data : "", f->json.size, 0, NULL);
        const json_t *first = json_object_iter_value(json_object_iter(json_object_get(run, "effort")));
        double effort = json_is_number(first) ? json_number_value(first) : NAN;

        json_decref(run);
        return effort;
}

static bool is_same_build(const struct localization *l, size_t a, size_t b)
{
        return a == b || (l->commits[a].build != 0 && l->commits[a].build == l->commits[b].build);
}

/* An answer counts as solved if it is the one the case has had since the reference, which is fed first. */
static int feed(struct localization *l, uint32_t commit, size_t test, const struct fact *f)
{
        struct localize_outcome outcome = {
                .answer = LOCALIZE_BROKEN, .seconds = (double)f->wall_ns / 1e9, .effort = effort_of(f)};
        bool decided = f->verdict == VERDICT_SAT || f->verdict == VERDICT_UNSAT;

        if (decided && !f->wrong && l->expected[test] == VERDICT_UNKNOWN)
                l->expected[test] = f->verdict;
        if (f->verdict == VERDICT_TIMEOUT)
                outcome.answer = LOCALIZE_TIMEOUT;
        else if (decided && !f->wrong && f->verdict == l->expected[test])
                outcome.answer = LOCALIZE_SOLVED;
        if (is_same_build(l, commit, l->start))
                l->ends[test][0] = outcome.seconds;
        if (is_same_build(l, commit, l->options.target))
                l->ends[test][1] = outcome.seconds;
        return localize_feed(l->search, commit, test, &outcome);
}

/* -- what is known before ----------------------------------------------------------------------------------------- */

static int feed_known(struct localization *l, uint32_t commit)
{
        for (size_t i = 0; i < l->options.n; i++) {
                cleanup(fact_unrefp) struct fact *f = NULL;
                struct cell cell = cell_of(l, commit, i);
                int r = run_find(l->options.workspace, &cell, false, &f);

                if (r == 0)
                        r = feed(l, commit, i, f);
                if (r < 0 && r != -ENOENT)
                        return r;
        }
        return 0;
}

/* Commits of one build share their facts: the first of them has given them. */
static bool is_repeated(const struct localization *l, const uint32_t *known, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (is_same_build(l, known[k], known[i]))
                        return true;
        return false;
}

/* Builds, and runs, of the commits between the ends; the reference's first. */
static int look_at_known(struct localization *l)
{
        cleanup_free uint32_t *known = NULL;
        cleanup_free bool *on_line = calloc(l->n, sizeof(*on_line));
        cleanup_revisions struct revisions line = {0};
        size_t n;
        int r;

        if (!on_line)
                return -ENOMEM;
        r = commits_known(l->options.workspace, l->options.solver, &known, &n);
        if (r == 0)
                r = revision_range(l->options.solver, l->start, l->options.target, &line);
        if (r < 0)
                return r;
        on_line[l->start] = true;
        for (size_t i = 0; i < line.n; i++)
                on_line[line.list[i]] = true; /* what lies beside it is asked for when it is needed */
        for (size_t i = 0; i < n && r >= 0; i++) {
                cleanup(build_record_unrefp) struct build_record *record = NULL;

                if (known[i] >= l->n)
                        break;
                if (is_repeated(l, known, i))
                        continue;
                r = build_find(l->options.workspace, l->options.solver, known[i], false, &record);
                if (r == -ENOENT || r == -ESTALE) {
                        r = 0;
                        continue;
                }
                if (r < 0)
                        return r;
                if (record->ok)
                        localize_built(l->search, known[i]);
                else
                        localize_unbuildable(l->search, known[i]);
                if (record->ok && on_line[known[i]])
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
        free(l->rebuild);
        free(l->expected);
        free(l->ends);
        free(l);
}

static int add_cases(struct localization *l)
{
        int r = 0;

        for (size_t i = 0; i < l->options.n && r >= 0; i++) {
                const struct case_info *info = l->options.cases[i];

                r = localize_add_case(l->search, &(struct localize_case){.reference = l->start, .target = l->options.target});
                l->expected[i] = info->status == VERDICT_SAT || info->status == VERDICT_UNSAT ? info->status : VERDICT_UNKNOWN;
                l->ends[i][0] = l->ends[i][1] = NAN;
        }
        return r < 0 ? r : 0;
}

int localization_new(const struct localization_options *options, struct localization **ret)
{
        cleanup_localization struct localization *l = calloc(1, sizeof(*l));
        struct case_info **cases;
        int r;

        if (!l)
                return -ENOMEM;
        l->options = *options;
        l->options.solver = solver_ref(options->solver);
        cases = calloc(options->n + 1, sizeof(*cases));
        l->options.cases = cases;
        l->expected = calloc(options->n + 1, sizeof(*l->expected));
        l->ends = calloc(options->n + 1, sizeof(*l->ends));
        for (size_t i = 0; cases && i < options->n; i++)
                cases[i] = case_info_ref(options->cases[i]);
        if (!cases || !l->expected || !l->ends)
                return -ENOMEM;
        r = find_start(l);
        if (r == 0)
                r = read_parents(l);
        if (r == 0)
                r = localize_new(
                        &(struct localize_options){
                                .method = options->method,
                                .build_seconds = build_seconds,
                                .user = l,
                                .builds_at_once = options->builds_at_once,
                        },
                        l->commits, l->n, &l->search);
        if (r == 0)
                r = add_cases(l);
        if (r == 0)
                r = look_at_known(l);
        if (r < 0)
                return r;
        *ret = steal_pointer(l);
        return 0;
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
        struct cell cell = cell_of(l, (uint32_t)w->commit, w->test);

        return query_sample(l->options.workspace, &cell, w->sample, ret);
}

static int answered_run(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct localization *l = user;
        const struct run_value *run = (const struct run_value *)v;

        if (r < 0)
                return errorf(r, "%s", reason ? reason : strerror(-r));
        l->answers[i].r = 1;
        l->answers[i].failed = !run->fact;
        l->answers[i].fact = run->fact ? fact_ref(run->fact) : NULL;
        return 0;
}

static int make_build(void *user, size_t i, struct query **ret)
{
        struct localization *l = user;

        return query_build(l->options.workspace, l->options.solver, l->rebuild[i], ret);
}

static int answered_build(void *, size_t, int r, struct value *, const char *reason)
{
        return r < 0 ? errorf(r, "%s", reason ? reason : strerror(-r)) : 0;
}

/* Hands the answers on, in the order in which they were asked for. */
static int take_answers(struct localization *l)
{
        int r = 0;

        for (size_t i = 0; i < l->n_wants && r >= 0; i++) {
                struct answer *a = &l->answers[i];
                bool was_unknown = true;

                for (size_t k = 0; k < i && was_unknown; k++)
                        was_unknown = l->wants[k].commit != l->wants[i].commit;
                if (a->failed) {
                        localize_unbuildable(l->search, l->wants[i].commit);
                        l->builds += was_unknown;
                } else if (a->fact) {
                        r = feed(l, (uint32_t)l->wants[i].commit, l->wants[i].test, a->fact);
                        l->builds += was_unknown && l->wants[i].sample == 0;
                } else {
                        r = errorf(-ECANCELED, "the search was interrupted");
                }
        }
        for (size_t i = 0; i < l->n_wants; i++)
                l->answers[i].fact = fact_unref(l->answers[i].fact);
        return r;
}

/* A culprit is verified on clean builds: those that went on from what another build left are done anew. */
static int find_rebuilds(struct localization *l)
{
        l->n_rebuild = 0;
        for (size_t i = 0; i < l->n_wants; i++) {
                cleanup(build_record_unrefp) struct build_record *record = NULL;
                uint32_t commit = (uint32_t)l->wants[i].commit;
                bool listed = false;
                int r;

                for (size_t k = 0; k < l->n_rebuild && !listed; k++)
                        listed = l->rebuild[k] == commit;
                if (!l->wants[i].verify || listed)
                        continue;
                r = build_find(l->options.workspace, l->options.solver, commit, false, &record);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (r == -ENOENT || record->clean || !record->ok)
                        continue;
                if (list_grow(l->rebuild, l->n_rebuild) < 0)
                        return -ENOMEM;
                l->rebuild[l->n_rebuild++] = commit;
        }
        return 0;
}

int localization_next(struct localization *l, struct asking *ret)
{
        int r = 0;

        if (l->rebuilding) {
                l->rebuilding = false;
        } else {
                if (l->asked)
                        r = take_answers(l);
                l->asked = false;
                free(l->answers);
                l->answers = NULL;
                if (r >= 0)
                        r = localize_plan(l->search, &l->wants, &l->n_wants);
                if (r >= 0)
                        r = find_rebuilds(l);
                if (r < 0)
                        return r;
                if (l->n_wants == 0)
                        return 0;
                l->answers = calloc(l->n_wants, sizeof(*l->answers));
                if (!l->answers)
                        return -ENOMEM;
                if (l->n_rebuild > 0) {
                        l->rebuilding = true;
                        *ret = (struct asking){
                                .n = l->n_rebuild, .again = true, .make = make_build, .answered = answered_build, .user = l};
                        return 1;
                }
        }
        l->asked = true;
        *ret = (struct asking){.n = l->n_wants, .make = make_run, .answered = answered_run, .user = l};
        return 1;
}

void localization_progress(const struct localization *l, struct localization_progress *ret)
{
        struct localize_progress p;

        localize_progress(l->search, &p);
        *ret = (struct localization_progress){.finished = p.finished,
                                              .cases = p.cases,
                                              .builds_done = l->builds,
                                              .builds_left = p.builds_left,
                                              .seconds_left = p.build_seconds_left,
                                              .runs_open = l->n_wants};
        for (size_t i = 0; i < l->n_wants; i++)
                ret->verifying += l->wants[i].verify;
}

/* -- results ------------------------------------------------------------------------------------------------------ */

enum localize_state localization_state(const struct localization *l, size_t i)
{
        return localize_state(l->search, i);
}

const char *localize_state_name(enum localize_state s)
{
        static const char *const names[] = {
                [LOCALIZE_OPEN] = "open",
                [LOCALIZE_FOUND] = "found",
                [LOCALIZE_NO_CULPRIT] = "no culprit",
                [LOCALIZE_REVERSED] = "reversed",
                [LOCALIZE_UNBUILDABLE_END] = "unbuildable end",
                [LOCALIZE_UNDECIDED] = "undecided",
        };

        return names[s];
}

static void commit_name(const struct localization *l, size_t commit, char ret[GIT_OID_HEXSZ + 1])
{
        struct commit c;

        if (history_commit(l->options.solver->history, (uint32_t)commit, &c) < 0)
                snprintf(ret, GIT_OID_HEXSZ + 1, "?");
        else
                git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &c.oid);
}

static json_t *subject_json(const struct localization *l, size_t commit)
{
        cleanup_buffer struct buffer message = {0}, line = {0};

        if (history_text(l->options.solver->history, (uint32_t)commit, COMMIT_MESSAGE, &message) < 0 || !message.data)
                return json_string("");
        message.data[strcspn(message.data, "\n")] = '\0';
        buffer_add_printable(&line, message.data);
        return json_string(line.data ? line.data : "");
}

static json_t *number_or_null(double x)
{
        return isfinite(x) ? json_real(x) : json_null();
}

static json_t *culprit_json(const struct localization *l, const struct localize_culprit *c)
{
        char sha[GIT_OID_HEXSZ + 1], before[GIT_OID_HEXSZ + 1], range[2 * GIT_OID_HEXSZ + 3];
        json_t *commits = json_array(), *j;

        commit_name(l, c->before, before);
        for (size_t i = 0; i < c->n; i++) {
                commit_name(l, c->commits[i], sha);
                json_array_append_new(commits, json_string(sha));
        }
        snprintf(range, sizeof(range), c->n > 1 ? "%s..%s" : "%.0s%s", before, sha);
        j = json_pack("{ss so ss so so so sb sb sI}", "commit", range, "commits", commits, "before", before, "subject",
                      subject_json(l, c->commits[c->n - 1]), "seconds_before", number_or_null(c->seconds_before), "seconds_after",
                      number_or_null(c->seconds_after), "slowdown", (int)c->is_slowdown, "verified", (int)c->verified, "pairs",
                      (json_int_t)c->pairs);
        if (!j)
                return NULL;
        if (c->broken_before)
                json_object_set_new(j, "broken_before", json_true());
        if (c->broken_after)
                json_object_set_new(j, "broken_after", json_true());
        if (isfinite(c->confidence))
                json_object_set_new(j, "confidence", json_real(c->confidence));
        if (isfinite(c->p))
                json_object_set_new(j, "p", json_real(c->p));
        if (isfinite(c->ratio))
                json_object_set_new(j, "ratio", json_real(c->ratio));
        return j;
}

json_t *localization_result(const struct localization *l, size_t i)
{
        static const char *const methods[] = {"default", "paper", "git-bisect"};
        const struct case_info *info = l->options.cases[i];
        char reference[GIT_OID_HEXSZ + 1], target[GIT_OID_HEXSZ + 1], start[GIT_OID_HEXSZ + 1];
        const struct localize_culprit *culprits;
        cleanup_buffer struct buffer name = {0};
        json_t *list = json_array(), *j;
        size_t n = localize_culprits(l->search, i, &culprits);

        buffer_add_printable(&name, info->name);
        commit_name(l, l->options.reference, reference);
        commit_name(l, l->options.target, target);
        commit_name(l, l->start, start);
        for (size_t k = 0; k < n; k++)
                json_array_append_new(list, culprit_json(l, &culprits[k]));
        j = json_pack("{sI ss ss ss ss ss so so so}", "case", (json_int_t)info->id, "name", name.data ? name.data : "", "state",
                      localize_state_name(localize_state(l->search, i)), "method", methods[l->options.method], "reference",
                      reference, "target", target, "seconds_reference", number_or_null(l->ends[i][0]), "seconds_target",
                      number_or_null(l->ends[i][1]), "culprits", list);
        if (j && l->start != l->options.reference)
                json_object_set_new(j, "start", json_string(start));
        if (j && l->options.has_seed)
                json_object_set_new(j, "seed", json_integer((json_int_t)l->options.seed));
        return j;
}

static void add_seconds(struct buffer *to, const json_t *seconds)
{
        if (json_is_number(seconds))
                buffer_addf(to, "%.6f", json_number_value(seconds));
        else
                buffer_adds(to, "-");
}

/* What ended without an answer has no time worth telling. */
static void add_end(struct buffer *to, const json_t *culprit, const char *seconds, const char *broken)
{
        if (json_is_true(json_object_get(culprit, broken)))
                buffer_adds(to, "broken");
        else
                add_seconds(to, json_object_get(culprit, seconds));
}

static const char *why_not(const char *state)
{
        if (strcmp(state, "no culprit") == 0)
                return "(no culprit: reference and target do not differ)";
        if (strcmp(state, "reversed") == 0)
                return "(the target is the faster one)";
        if (strcmp(state, "unbuildable end") == 0)
                return "(reference or target cannot be built)";
        if (strcmp(state, "open") == 0)
                return "(not finished)";
        return "(undecided: too noisy, or it changed little by little)";
}

int localization_rows(const json_t *result, struct buffer *to)
{
        long long number = json_integer_value(json_object_get(result, "case"));
        const json_t *culprit;
        size_t i, shown = 0;

        json_array_foreach (json_object_get(result, "culprits"), i, culprit) {
                size_t n = json_array_size(json_object_get(culprit, "commits"));

                if (!json_is_true(json_object_get(culprit, "slowdown")))
                        continue;
                buffer_addf(to, "%lld\t%s\t", number, json_string_value(json_object_get(culprit, "commit")));
                add_end(to, culprit, "seconds_before", "broken_before");
                buffer_adds(to, "\t");
                add_end(to, culprit, "seconds_after", "broken_after");
                if (n > 1)
                        buffer_addf(to, "\t(one of %zu: those between cannot be built) ", n);
                else
                        buffer_adds(to, "\t");
                buffer_addf(to, "%s\n", json_string_value(json_object_get(culprit, "subject")));
                shown++;
        }
        if (shown == 0) {
                buffer_addf(to, "%lld\t-\t", number);
                add_seconds(to, json_object_get(result, "seconds_reference"));
                buffer_adds(to, "\t");
                add_seconds(to, json_object_get(result, "seconds_target"));
                buffer_addf(to, "\t%s\n", why_not(json_string_value(json_object_get(result, "state"))));
        }
        return buffer_error(to);
}

/* -- git bisect log ----------------------------------------------------------------------------------------------- */

struct log {
        const struct localization *l;
        size_t culprit; /* commits from here on are bad; SIZE_MAX: none */
        struct log_entry {
                size_t commit;
                enum localize_seen seen;
        } * entries; /* oldest first */
        size_t n;
        bool failed;
};

static void log_commit(const struct localization *l, struct buffer *to, bool command, size_t commit, const char *as)
{
        char sha[GIT_OID_HEXSZ + 1];
        json_t *subject = subject_json(l, commit);

        commit_name(l, commit, sha);
        buffer_addf(to, "# %s: [%s] %s\n", as, sha, json_string_value(subject));
        if (command)
                buffer_addf(to, "git bisect %s %s\n", as, sha);
        json_decref(subject);
}

static void log_sighting(void *user, size_t commit, enum localize_seen seen)
{
        struct log *log = user;

        if (commit == log->l->start || commit == log->l->options.target)
                return;
        if (list_grow(log->entries, log->n) < 0) {
                log->failed = true;
                return;
        }
        log->entries[log->n++] = (struct log_entry){commit, seen};
}

/* git knows one step: what is fast after the culprit, or slow before it, cannot be told to it. */
static void log_entry(const struct log *log, const struct log_entry *e, struct buffer *to)
{
        bool odd = (e->seen == LOCALIZE_SEEN_SLOW && e->commit < log->culprit) ||
                   (e->seen == LOCALIZE_SEEN_FAST && e->commit >= log->culprit);

        log_commit(log->l, to, !odd, e->commit,
                   e->seen == LOCALIZE_SEEN_FAST   ? "good"
                   : e->seen == LOCALIZE_SEEN_SLOW ? "bad"
                                                   : "skip");
}

int localization_log(const struct localization *l, size_t i, struct buffer *to)
{
        const struct localize_culprit *culprits;
        struct log log = {.l = l, .culprit = SIZE_MAX};
        size_t n = localize_culprits(l->search, i, &culprits);
        char bad[GIT_OID_HEXSZ + 1], good[GIT_OID_HEXSZ + 1];

        for (size_t k = 0; k < n && log.culprit == SIZE_MAX; k++)
                if (culprits[k].is_slowdown)
                        log.culprit = culprits[k].commits[culprits[k].n - 1];
        commit_name(l, l->options.target, bad);
        commit_name(l, l->start, good);
        buffer_addf(to, "# case %u\n", l->options.cases[i]->id);
        log_commit(l, to, false, l->options.target, "bad");
        log_commit(l, to, false, l->start, "good");
        buffer_addf(to, "git bisect start '%s' '%s'\n", bad, good);
        localize_each_sighting(l->search, i, log_sighting, &log);
        /* the last bad one is git's bad end: from the newest to the oldest */
        for (size_t k = 0; k < log.n; k++)
                if (log.entries[k].seen != LOCALIZE_SEEN_SLOW)
                        log_entry(&log, &log.entries[k], to);
        for (size_t k = log.n; k-- > 0;)
                if (log.entries[k].seen == LOCALIZE_SEEN_SLOW)
                        log_entry(&log, &log.entries[k], to);
        if (log.culprit != SIZE_MAX)
                log_commit(l, to, false, log.culprit, "first bad commit");
        free(log.entries);
        return log.failed ? -ENOMEM : buffer_error(to);
}

/* -- the query ---------------------------------------------------------------------------------------------------- */

struct localized_query {
        struct query query;
        struct localization_options options; /* owns refs */
        struct case_info *info;
};

static void localized_key(const struct localization_options *o, const struct case_info *info, struct digest *ret)
{
        struct cell cell = {
                .solver = o->solver, .commit = o->target, .has_seed = o->has_seed, .seed = o->seed, .wall_ns = o->wall_ns};
        struct recipe_limits limits;
        struct commit reference = {0}, target = {0};
        struct digest recipe;
        struct hasher *h = hasher_new();

        history_commit(o->solver->history, o->reference, &reference);
        history_commit(o->solver->history, o->target, &target);
        cell_limits(&cell, &limits);
        hasher_string(h, "localized");
        hasher_string(h, o->solver->recipe->name);
        hasher_add(h, reference.oid.id, GIT_OID_RAWSZ);
        hasher_add(h, target.oid.id, GIT_OID_RAWSZ);
        hasher_add(h, info->sha256.bytes, DIGEST_SIZE);
        recipe_build_digest(o->solver->recipe, &recipe);
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        recipe_run_digest(o->solver->recipe, o->has_seed, o->seed, &limits, &recipe);
        hasher_add(h, recipe.bytes, DIGEST_SIZE);
        hasher_number(h, limits.wall_ns);
        hasher_number(h, limits.memory);
        hasher_number(h, o->method);
        hasher_finish(h, ret);
}

static struct value *localized_value_new(json_t *result)
{
        struct localized_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = &query_localized_type, .refs = 1};
        v->result = json_incref(result);
        return &v->value;
}

static void localized_value_free(struct value *value)
{
        struct localized_value *v = (struct localized_value *)value;

        json_decref(v->result);
        free(v);
}

static int localized_find(struct query *query, struct value **ret)
{
        struct localized_query *q = (struct localized_query *)query;
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        json_t *result;
        int r = store_read(workspace_store(q->options.workspace), &t);

        if (r == 0)
                r = store_get(t, TABLE_LOCALIZED, SLICE(query->key.bytes, DIGEST_SIZE), &b);
        if (r < 0)
                return r;
        result = json_loadb(b.data, b.size, 0, NULL);
        if (!result)
                return -ENOENT; /* what cannot be read is worked out again, from facts that are there */
        *ret = localized_value_new(result);
        json_decref(result);
        return *ret ? 0 : -ENOMEM;
}

struct result_to_put {
        struct digest key;
        struct slice text;
};

static int result_put_in(void *user, struct store_txn *t)
{
        const struct result_to_put *p = user;

        return store_put(t, TABLE_LOCALIZED, SLICE(p->key.bytes, DIGEST_SIZE), p->text);
}

static int result_put(const struct localization_options *o, const struct case_info *info, const json_t *result)
{
        cleanup_free char *text = json_dumps(result, JSON_COMPACT | JSON_SORT_KEYS);
        struct result_to_put p;

        if (!text)
                return -ENOMEM;
        localized_key(o, info, &p.key);
        p.text = slice_string(text);
        return store_update(workspace_store(o->workspace), result_put_in, &p);
}

int localization_keep(const struct localization *l)
{
        int r = 0;

        for (size_t i = 0; i < l->options.n && r >= 0; i++) {
                json_t *result;

                if (localize_state(l->search, i) == LOCALIZE_OPEN)
                        continue;
                result = localization_result(l, i);
                r = result ? result_put(&l->options, l->options.cases[i], result) : -ENOMEM;
                json_decref(result);
        }
        return r;
}

static int localized_step(struct query *query, struct job *j, void **state, struct value **ret)
{
        struct localized_query *q = (struct localized_query *)query;
        struct localization *l = *state;
        struct localization_progress p;
        struct asking asking;
        json_t *result;
        int r;

        if (!l) {
                r = localization_new(&q->options, &l);
                if (r < 0)
                        return r;
                *state = l;
        }
        r = localization_next(l, &asking);
        if (r < 0)
                return r;
        if (r > 0) {
                localization_progress(l, &p);
                progress_tell(job_progress(j), "localize", p.builds_done, p.builds_done + (uint64_t)ceil(p.builds_left) + 1);
                return job_ask_many(j, &asking);
        }
        result = localization_result(l, 0);
        r = result ? result_put(&q->options, q->info, result) : -ENOMEM;
        if (r == 0) {
                *ret = localized_value_new(result);
                r = *ret ? 0 : -ENOMEM;
        }
        json_decref(result);
        return r;
}

static void free_state(void *state)
{
        localization_free(state);
}

static void localized_describe(const struct query *query, struct buffer *ret)
{
        const struct localized_query *q = (const struct localized_query *)query;

        buffer_addf(ret, "localize %s case %u", q->options.solver->recipe->name, q->info->id);
}

static bool localized_gone(const struct query *query)
{
        const struct localized_query *q = (const struct localized_query *)query;

        return solver_is_gone(q->options.workspace, q->options.solver);
}

static void localized_free(struct query *query)
{
        struct localized_query *q = (struct localized_query *)query;

        solver_unref(q->options.solver);
        case_info_unref(q->info);
        free(q);
}

const struct query_type query_localized_type = {
        .name = "localize",
        .resource = RESOURCE_STEP,
        .find = localized_find,
        .step = localized_step,
        .free_state = free_state,
        .describe = localized_describe,
        .gone = localized_gone,
        .free_query = localized_free,
        .free_value = localized_value_free,
};

int query_localized(const struct localization_options *options, struct query **ret)
{
        struct localized_query *q = calloc(1, sizeof(*q));

        if (!q)
                return -ENOMEM;
        assert(options->n == 1);
        q->query = (struct query){.type = &query_localized_type, .refs = 1};
        q->options = *options;
        q->options.solver = solver_ref(options->solver);
        q->info = case_info_ref(options->cases[0]);
        q->options.cases = &q->info;
        localized_key(options, q->info, &q->query.key);
        *ret = &q->query;
        return 0;
}
