/* The search's cases, facts, wants and results. A plan is made by the method (localize_default.c). */
#include "core/study/localize/localize_internal.h"

/* -- life --------------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return ORDER(x[0], y[0]) ?: ORDER(x[1], y[1]);
}

/* The first commit with a key represents all others: it is their program. */
static void find_programs(struct localize *l)
{
        cleanup_free uint64_t(*keys)[2] = allocate(l->n, sizeof(*keys));
        size_t n = 0;

        for (size_t i = 0; i < l->n; i++) {
                l->program[i] = i;
                if (l->commits[i].build != 0) {
                        keys[n][0] = l->commits[i].build;
                        keys[n++][1] = i;
                }
        }
        sort_list(keys, n, sizeof(*keys), compare_keys);
        for (size_t i = 1; i < n; i++)
                if (keys[i][0] == keys[i - 1][0])
                        l->program[keys[i][1]] = l->program[keys[i - 1][1]];
}

int localize_new(const struct localize_options *options, const struct localize_commit *commits, size_t n, struct localize **ret)
{
        struct localize *l;

        for (size_t i = 0; i < n; i++)
                for (size_t p = 0; p < commits[i].n_parents; p++)
                        if (commits[i].parents[p] >= i)
                                return errorf(-EINVAL, "commit %zu comes before its parent %zu", i, commits[i].parents[p]);
        l = allocate(1, sizeof(*l));
        *l = (struct localize){.options = *options,
                               .build_seconds = 300,
                               .commits = commits,
                               .n = n,
                               .program = allocate(n, sizeof(*l->program)),
                               .built = allocate(n, sizeof(*l->built)),
                               .density = allocate(n, sizeof(*l->density)),
                               .gain = allocate(n, sizeof(*l->gain))};
        l->options.most_runs = options->most_runs ?: 300;
        find_programs(l);
        *ret = l;
        return 0;
}

void results_clear(struct test *t)
{
        for (size_t i = 0; i < t->n_culprits; i++)
                free((void *)t->culprits[i].commits);
        free(t->culprits);
        t->culprits = NULL;
        t->n_culprits = 0;
}

void localize_free(struct localize *l)
{
        if (!l)
                return;
        for (size_t i = 0; i < l->n_tests; i++) {
                struct test *t = &l->tests[i];

                results_clear(t);
                for (size_t k = 0; k < t->n_verifications; k++) {
                        free(t->verifications[k].runs[0]);
                        free(t->verifications[k].runs[1]);
                }
                free(t->verifications);
                free(t->facts);
                free(t->gaps);
                free(t->new_gaps);
        }
        for (struct line *line = l->lines, *next; line; line = next) {
                next = line->next;
                free(line->at);
                free(line->first);
                free(line->last);
                free(line->place);
                free(line->again);
                free(line);
        }
        demands_clear(l);
        free(l->demands);
        free(l->wants);
        free(l->tests);
        free(l->program);
        free(l->built);
        free(l->density);
        free(l->gain);
        free(l);
}

void localize_set_costs(struct localize *l, double build, double run)
{
        l->build_seconds = build;
        l->run_seconds = run;
}

int localize_add_case(struct localize *l, size_t reference, size_t target)
{
        struct line *line = reference < l->n && target < l->n ? line_get(l, reference, target) : NULL;

        if (reference == target)
                return errorf(-EINVAL, "reference and target are the same commit");
        if (!line)
                return errorf(-EINVAL, "the reference is not an ancestor of the target along first parents");
        if (l->program[reference] == l->program[target]) /* also after a change and its revert */
                return errorf(-EINVAL, "nothing that is built differs between reference and target");
        list_grow(l->tests, l->n_tests);
        l->tests[l->n_tests] = (struct test){.ends_at = {l->program[reference], l->program[target]}, .line = line};
        return (int)l->n_tests++;
}

void localize_built(struct localize *l, size_t commit)
{
        l->built[l->program[commit]] = BUILD_DONE;
}

void localize_unbuildable(struct localize *l, size_t commit)
{
        l->built[l->program[commit]] = BUILD_FAILED;
        for (size_t i = 0; i < l->n_wants; i++)
                if (l->wants[i].commit == l->program[commit] && !l->wants[i].answered) {
                        l->wants[i].answered = true;
                        l->left--;
                }
}

/* -- facts -------------------------------------------------------------------------------------------------------- */

unsigned facts_at(const struct test *t, size_t program)
{
        unsigned n = 0;

        for (size_t i = 0; i < t->n_facts; i++)
                n += t->facts[i].program == program;
        return n;
}

const struct fact *fact_under(const struct test *t, size_t program, unsigned seed)
{
        for (size_t i = 0; i < t->n_facts; i++)
                if (t->facts[i].program == program && t->facts[i].outcome.seed == seed)
                        return &t->facts[i];
        return NULL;
}

static unsigned next_seed(const struct test *t, size_t program)
{
        unsigned next = 0;

        for (size_t i = 0; i < t->n_facts; i++)
                if (t->facts[i].program == program)
                        next = MAX(next, t->facts[i].outcome.seed + 1);
        return next;
}

/* Crosses off the first open want of the pair. */
void localize_feed(struct localize *l, size_t commit, size_t test, const struct localize_outcome *outcome)
{
        struct test *t = &l->tests[test];
        size_t program = l->program[commit];

        list_add(t->facts, t->n_facts, (struct fact){.program = program, .outcome = *outcome});
        l->built[program] = BUILD_DONE;
        for (size_t i = 0; i < l->n_wants; i++) {
                struct localize_want *w = &l->wants[i];

                if (w->answered || w->commit != program || w->test != test)
                        continue;
                w->answered = true;
                l->left--;
                if (w->verification != NONE) {
                        struct verification *v = &t->verifications[w->verification];

                        list_add(v->runs[w->side], v->n[w->side], *outcome);
                }
                return;
        }
}

/* -- wants -------------------------------------------------------------------------------------------------------- */

static void want(struct localize *l, struct localize_want want)
{
        list_grow(l->wants, l->n_wants);
        want.order = l->n_wants;
        l->wants[l->n_wants++] = want;
}

void want_run(struct localize *l, size_t program, size_t test)
{
        want(l, (struct localize_want){.commit = program, .test = test, .verification = NONE});
}

void want_seed(struct localize *l, size_t program, size_t test, unsigned seed)
{
        want(l, (struct localize_want){.commit = program, .test = test, .verification = NONE, .has_seed = true, .seed = seed});
}

void want_pairs(struct localize *l, size_t test, size_t verification, unsigned pairs)
{
        const struct verification *v = &l->tests[test].verifications[verification];
        unsigned first = MAX(next_seed(&l->tests[test], v->before), next_seed(&l->tests[test], v->after));

        for (size_t i = 0; i < l->n_wants; i++) /* wants of this plan take seeds, too */
                first += l->wants[i].test == test;
        for (unsigned i = 0; i < 2 * pairs; i++) { /* before, after; after, before; ... */
                int side = (int)((i / 2 + i) % 2);

                want(l, (struct localize_want){.commit = side ? v->after : v->before,
                                               .test = test,
                                               .verification = verification,
                                               .side = side,
                                               .verify = true,
                                               .has_seed = true,
                                               .seed = first + i / 2});
        }
}

/* By commit, so that each is built once; the pairs of verification last, in their own order. */
static int compare_wants(const void *a, const void *b)
{
        const struct localize_want *x = a, *y = b;

        return ORDER(x->verify, y->verify) ?: (x->verify ? 0 : ORDER(x->commit, y->commit)) ?: ORDER(x->order, y->order);
}

static void find_seeds(struct localize *l)
{
        for (size_t i = 0; i < l->n_wants; i++) {
                struct localize_want *w = &l->wants[i];

                if (w->has_seed)
                        continue;
                w->seed = next_seed(&l->tests[w->test], w->commit);
                for (size_t k = i; k > 0 && l->wants[k - 1].commit == w->commit; k--)
                        w->seed += l->wants[k - 1].test == w->test && !l->wants[k - 1].has_seed;
        }
}

int localize_plan(struct localize *l, const struct localize_want **ret, size_t *ret_n)
{
        *ret = NULL;
        *ret_n = 0;
        if (l->left > 0 && !l->is_stopped)
                return errorf(-EBUSY, "%zu runs of the last plan are not answered", l->left);
        l->n_wants = 0;
        demands_clear(l);
        (l->options.plan ?: plan_default)(l);
        sort_list(l->wants, l->n_wants, sizeof(*l->wants), compare_wants);
        find_seeds(l);
        *ret = l->wants;
        *ret_n = l->left = l->n_wants;
        return 0;
}

/* -- results ------------------------------------------------------------------------------------------------------ */

enum localize_state localize_state(const struct localize *l, size_t test)
{
        return l->tests[test].state;
}

void localize_stop(struct localize *l)
{
        l->is_stopped = true;
}

bool localize_is_cut_off(const struct localize *l, size_t test)
{
        return l->tests[test].is_cut_off;
}

size_t localize_culprits(const struct localize *l, size_t test, const struct localize_culprit **ret)
{
        *ret = l->tests[test].culprits;
        return l->tests[test].n_culprits;
}

struct localize_sighting *localize_sightings(const struct localize *l, size_t test, size_t *ret_n)
{
        const struct test *t = &l->tests[test];
        struct localize_sighting *list = NULL;

        *ret_n = 0;
        for (size_t x = 0; x < t->line->n; x++) {
                bool has_failed = l->built[t->line->at[x]] == BUILD_FAILED;
                unsigned counts[N_LEVELS] = {0}, n = 0;

                for (size_t i = 0; !has_failed && i < t->n_facts; i++)
                        if (t->facts[i].program == t->line->at[x]) {
                                counts[level_of(&t->thresholds, &t->facts[i].outcome)]++;
                                n++;
                        }
                if (n == 0 && !has_failed)
                        continue;
                list_grow(list, *ret_n);
                list[(*ret_n)++] = (struct localize_sighting){t->line->first[x], 2 * counts[LEVEL_FAST] > n   ? LOCALIZE_SEEN_FAST
                                                                                 : 2 * counts[LEVEL_SLOW] > n ? LOCALIZE_SEEN_SLOW
                                                                                                              : LOCALIZE_SEEN_BETWEEN};
        }
        return list;
}

void localize_progress(const struct localize *l, struct localize_progress *ret)
{
        *ret = (struct localize_progress){
                .cases = l->n_tests, .builds_left = l->builds_left, .build_seconds_left = l->build_seconds_left};
        for (size_t i = 0; i < l->n_tests; i++)
                ret->finished += l->tests[i].state != LOCALIZE_OPEN;
}
