/* SPRFinder's algorithm 1, and what the paper compares it with. A round evaluates what is new in the population, then a mutant of each
 * member; the best stays and is joined by new inputs. And an enumeration. */
#include "tests/support/strategies.h"

#include "core/fuzz/cnf_generate.h"
#include "core/fuzz/strategy_internal.h"
#include "tests/support/adapt.h"
#include "tests/support/diversity.h"

#include <math.h>

#define POPULATION 5u   /* β */
#define GAMMA      0.05 /* what a success is worth for its distance */
#define THETA      0.75

_Thread_local double strategies_now, strategies_window = 600;

enum phase {
        PHASE_EVALUATE, /* members that have no score yet */
        PHASE_MUTATE    /* a mutant of each member */
};

struct population {
        struct input **members; /* owned, as all inputs that are not given out or candidates */
        size_t n, size;         /* of the array: β and as many mutants */
        enum phase phase;
        size_t next;      /* the member to evaluate or mutate next */
        size_t n_parents; /* members when the mutations began */
        struct bandit bandit;
        struct adapt adapt;
        struct sequences found;
        uint64_t used[N_OPS], won[N_OPS];
        bool learns, adapts, draws, is_warped, restarts;
};

/* Operators, or changes of DIMACS. */
static size_t n_arms(const struct strategy *s)
{
        return s->options.is_cnf ? N_CNF_CHANGES : N_OPS;
}

static void begin(struct strategy *s, enum strategy_kind k)
{
        struct population *p = allocate(1, sizeof(*p));

        s->state = p;
        p->size = 2 * (size_t)POPULATION;
        p->members = allocate(p->size, sizeof(struct input *));
        p->found.length = s->options.versions;
        p->learns = k != STRATEGY_RANDOM;
        p->adapts = k == STRATEGY_SPRFINDER || k == STRATEGY_SPRFINDER_NO_DTW;
        p->is_warped = k == STRATEGY_SPRFINDER;
        p->draws = p->restarts = k == STRATEGY_BANDITFUZZ;
        adapt_init(&p->adapt,
                   &(struct adapt_options){.window = strategies_window, .timeout = s->options.timeout, .theta = THETA},
                   random_bits(&s->random), 0);
        bandit_init(&p->bandit, n_arms(s));
}

static void clear(struct population *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (!p->members[i]->is_out)
                        input_free(p->members[i]);
        p->n = 0;
}

static void population_end(struct strategy *s)
{
        struct population *p = s->state;

        clear(p);
        free(p->members);
        bandit_done(&p->bandit);
        sequences_done(&p->found);
        free(p);
}

/* -- making inputs -- */

/* A new one from the generator, or a mutant of the corpus where there is one. */
static int fresh(struct strategy *s, struct input **ret)
{
        const struct population *p = s->state;
        const struct formula *seed = corpus_draw(s);
        struct formula f = {0};
        int r = 0;

        if (s->options.is_cnf && !seed) {
                *ret = input_new(s, make_cnf(s, (unsigned)random_below(&s->random, 4)), "generated");
                return 0;
        }
        if (p->draws)
                adapt_draw(&s->random, &s->generate);
        if (p->draws || p->adapts)
                r = generator_configure(s->generator, &s->generate);
        if (r == 0 && seed) {
                r = -ENOENT;
                for (int tries = 0; r == -ENOENT && tries < 20; tries++)
                        r = mutate_transform(s->generator, seed->script, (enum transform)random_below(&s->random, N_TRANSFORMS), &f.script);
                if (r == -ENOENT)
                        f = formula_copy(seed); /* nothing in it can be changed: it is an input itself */
                *ret = input_new(s, f, "corpus");
                return 0;
        }
        if (r < 0)
                return r;
        f.script = generate_formula(s->generator);
        *ret = input_new(s, f, "generated");
        return 0;
}

static struct input *made_by(struct strategy *s, struct formula f, const char *name, size_t arm, size_t parent)
{
        struct population *p = s->state;
        struct input *i = input_new(s, f, name);

        i->arm = arm;
        i->parent = parent;
        p->used[arm]++;
        return i;
}

static int cnf_mutant(struct strategy *s, size_t parent, struct input **ret)
{
        struct population *p = s->state;
        size_t arm = bandit_choose(&p->bandit, &s->random, NULL, NULL);
        cleanup_formula struct formula graft = make_cnf(s, 0);
        struct formula f = {0};
        int r = cnf_mutate(&s->random, p->members[parent]->formula.cnf, (enum cnf_change)arm, graft.cnf, &f.cnf);

        if (r < 0)
                return r;
        *ret = made_by(s, f, "mutated", arm, parent);
        return 0;
}

/* -ENOENT: no operator fits. */
static int mutant(struct strategy *s, size_t parent, struct input **ret)
{
        struct population *p = s->state;
        const struct input *from = p->members[parent];
        bool is_open[N_OPS] = {false};
        struct formula f = {0};
        enum op ops[N_OPS];
        size_t n = mutate_actions(s->generator, from->formula.script, ops), arm = SIZE_MAX;
        int r = -ENOENT;

        for (size_t i = 0; i < n; i++)
                is_open[ops[i]] = true;
        while (r == -ENOENT && (arm = bandit_choose(&p->bandit, &s->random, is_open, NULL)) != SIZE_MAX) {
                r = mutate_operator(s->generator, from->formula.script, (enum op)arm, &f.script);
                is_open[arm] = false;
        }
        if (r < 0)
                return r;
        *ret = made_by(s, f, operator_row((enum op)arm)->name, arm, parent);
        return 0;
}

/* -- rounds -- */

static bool is_waiting(const struct strategy *s)
{
        for (size_t i = 0; i < s->n_under_way; i++)
                if (s->under_way[i]->is_out)
                        return true;
        return false;
}

/* The best stays; the others go. */
static void keep_best(struct population *p)
{
        size_t best = 0;

        for (size_t i = 1; i < p->n; i++)
                if (p->members[i]->score > p->members[best]->score)
                        best = i;
        for (size_t i = 0; i < p->n; i++)
                if (i != best)
                        input_free(p->members[i]);
        if (p->n > 0)
                p->members[0] = p->members[best];
        p->n = MIN(p->n, 1u);
}

static int population_next(struct strategy *s, struct input **ret)
{
        struct population *p = s->state;
        int r;

        if (!p->learns)
                return fresh(s, ret);
        if (p->phase == PHASE_EVALUATE) {
                if (p->n < POPULATION) {
                        r = fresh(s, ret);
                        if (r == 0)
                                p->members[p->n++] = *ret;
                        return r;
                }
                if (is_waiting(s))
                        return -EAGAIN;
                p->phase = PHASE_MUTATE;
                p->next = 0;
                p->n_parents = p->n;
        }
        while (p->next < p->n_parents) {
                r = s->options.is_cnf ? cnf_mutant(s, p->next++, ret) : mutant(s, p->next++, ret);
                if (r != -ENOENT)
                        return r;
        }
        if (is_waiting(s))
                return -EAGAIN;
        keep_best(p);
        p->phase = PHASE_EVALUATE;
        if (p->adapts)
                adapt_step(&p->adapt, strategies_now, &s->generate);
        return population_next(s, ret);
}

static bool population_keeps(const struct strategy *s, const struct input *i)
{
        const struct population *p = s->state;

        for (size_t k = 0; k < p->n; k++)
                if (p->members[k] == i)
                        return true;
        return false;
}

static void leave(struct population *p, const struct input *i)
{
        for (size_t k = 0; k < p->n; k++)
                if (p->members[k] == i) {
                        p->members[k] = p->members[p->n - 1];
                        p->n--;
                        return;
                }
}

/* The distance of its times to those of the finds before; the first is as far as can be. */
static double distance(const struct strategy *s, const struct input *i)
{
        const struct population *p = s->state;
        cleanup_free double *times = calloc(s->options.versions, sizeof(double));
        double most = s->options.timeout * s->options.versions;

        for (unsigned v = 0; times && v < s->options.versions; v++)
                times[v] = i->outcomes[v].seconds;
        return times ? fmin(sequences_distance(&p->found, times), most) : 0;
}

static void remember(const struct strategy *s, const struct input *i)
{
        struct population *p = s->state;
        cleanup_free double *times = calloc(s->options.versions, sizeof(double));

        for (unsigned v = 0; times && v < s->options.versions; v++)
                times[v] = i->outcomes[v].seconds;
        if (times && p->is_warped)
                sequences_add(&p->found, times); /* without memory it is only less diverse */
}

static void reward(struct strategy *s, struct input *i)
{
        struct population *p = s->state;

        if (i->parent >= p->n || i->score <= p->members[i->parent]->score) {
                p->bandit.failures[i->arm]++;
                return;
        }
        p->won[i->arm]++;
        p->bandit.successes[i->arm] += p->is_warped ? GAMMA * distance(s, i) : 1;
}

/* BanditFuzz begins anew behind a find. Members under way are finished, and then nobody's. */
static void restart(struct strategy *s)
{
        struct population *p = s->state;

        clear(p);
        bandit_done(&p->bandit);
        bandit_init(&p->bandit, n_arms(s));
        p->phase = PHASE_EVALUATE;
        p->n_parents = p->next = 0;
}

static void population_finish(struct strategy *s, struct input *i)
{
        struct population *p = s->state;

        for (unsigned v = 0; v < s->options.versions; v++)
                if (i->ran[v])
                        adapt_ran(&p->adapt, i->outcomes[v].seconds);
        if (i->arm != SIZE_MAX && p->phase == PHASE_MUTATE)
                reward(s, i);
        if (i->is_candidate) {
                remember(s, i);
                adapt_found(&p->adapt, strategies_now);
                /* A parent keeps its place until the round ends, as mutants name it. */
                if (p->phase == PHASE_EVALUATE)
                        leave(p, i);
                if (p->restarts)
                        restart(s);
        } else if (i->arm != SIZE_MAX && p->phase == PHASE_MUTATE && p->n < p->size) {
                p->members[p->n++] = i;
        }
}

static size_t population_arms(const struct strategy *s, struct strategy_arm *ret, size_t most)
{
        const struct population *p = s->state;
        size_t n = 0;

        for (size_t i = OP_NONE + 1; !s->options.is_cnf && i < N_OPS && n < most; i++)
                if (p->used[i] > 0)
                        ret[n++] = (struct strategy_arm){.name = operator_row((enum op)i)->name,
                                                         .mean = bandit_mean(&p->bandit, i),
                                                         .used = p->used[i],
                                                         .won = p->won[i]};
        return n;
}

static void random_begin(struct strategy *s)
{
        begin(s, STRATEGY_RANDOM);
}

static void banditfuzz_begin(struct strategy *s)
{
        begin(s, STRATEGY_BANDITFUZZ);
}

static void no_dtw_begin(struct strategy *s)
{
        begin(s, STRATEGY_SPRFINDER_NO_DTW);
}

static void sprfinder_begin(struct strategy *s)
{
        begin(s, STRATEGY_SPRFINDER);
}

#define POPULATION_TYPE(begins)                                                                                                \
        {                                                                                                                      \
                .begin = begins, .end = population_end, .next = population_next, .step = step_every_version,                   \
                .finish = population_finish, .keeps = population_keeps, .arms = population_arms                                \
        }

/* -- enumerate -- */

static void enumeration_begin(struct strategy *s)
{
        s->state = enumeration_new(&(struct enumerate_options){.dialect = s->options.dialect});
}

static void enumeration_end(struct strategy *s)
{
        enumeration_free(s->state);
}

static int enumeration_input(struct strategy *s, struct input **ret)
{
        struct formula f = {0};
        int r = enumeration_next(s->state, &f.script);

        if (r == 0)
                *ret = input_new(s, f, "enumerated");
        return r;
}

static const struct strategy_type enumeration_type = {
        .begin = enumeration_begin,
        .end = enumeration_end,
        .next = enumeration_input,
        .step = step_every_version,
};

/* -- all of them -- */

static const struct strategy_type population_types[] = {
        [STRATEGY_RANDOM] = POPULATION_TYPE(random_begin),
        [STRATEGY_BANDITFUZZ] = POPULATION_TYPE(banditfuzz_begin),
        [STRATEGY_SPRFINDER_NO_DTW] = POPULATION_TYPE(no_dtw_begin),
        [STRATEGY_SPRFINDER] = POPULATION_TYPE(sprfinder_begin),
};

const struct strategy_type *strategy_type_of(enum strategy_kind k)
{
        return k == STRATEGY_SOLVERFS ? NULL : k == STRATEGY_ENUMERATE ? &enumeration_type : &population_types[k];
}

const char *strategy_name(enum strategy_kind k)
{
        static const char *const names[N_STRATEGIES] = {"random", "banditfuzz", "sprfinder-no-dtw", "sprfinder", "enumerate", "solverfs"};

        return names[k];
}
