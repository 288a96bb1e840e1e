/* The strategy of campaigns. Five techniques let it find more causes with the same work:
 *
 * - Capping. An input that the target solves within the threshold cannot be a find, so the other versions do not run it. If most inputs are
 *   hard for every version, the other order is cheaper. The measured times choose the order.
 * - Swarms (Groce et al., "Swarm testing", ISSTA 2012). The operators, length, width and depth that a formula may have are drawn for each
 *   formula, so that rare combinations occur.
 * - Novelty per second. Of several candidates the one runs that has the most novelty (shape.c), reduced for known families, per second that
 *   inputs of its size take; sources are chosen by their finds per second, too.
 * - Families (family.c). Inputs of a kind that was found several times are mostly skipped, and mostly not confirmed.
 * - Lineages. A slow input and its mutants are mutated until one of them is a find. Most likely it has the cause of them all, so from then on only the
 *   find is mutated, until the lineage has five finds. */
#include "core/fuzz/strategy_internal.h"

#include <math.h>

#include "cache/base/hash.h"
#include "core/smtlib/logic.h"

enum source {
        SOURCE_SMALL, /* generated, in four sizes */
        SOURCE_MEDIUM,
        SOURCE_LARGE,
        SOURCE_HUGE,
        SOURCE_TEMPLATE,
        SOURCE_ENUMERATE,
        SOURCE_MUTATE, /* mutants of inputs that took the target long */
        SOURCE_FIND,   /* mutants of finds */
        SOURCE_CORPUS,
        N_SOURCES
};
static const char *const source_names[N_SOURCES] = {
        [SOURCE_SMALL] = "small",    [SOURCE_MEDIUM] = "medium",     [SOURCE_LARGE] = "large",
        [SOURCE_HUGE] = "huge",      [SOURCE_TEMPLATE] = "template", [SOURCE_ENUMERATE] = "enumerated",
        [SOURCE_MUTATE] = "mutated", [SOURCE_FIND] = "find",         [SOURCE_CORPUS] = "corpus",
};

/* Sizes of generated formulas: from the least to the most, each drawn independently. */
static const struct size {
        unsigned assertions[2], depth[2], variables[2], literal_length;
} sizes[] = {
        [SOURCE_SMALL] = {{1, 2}, {1, 3}, {1, 3}, 20},
        [SOURCE_MEDIUM] = {{2, 6}, {2, 4}, {2, 6}, 60},
        [SOURCE_LARGE] = {{5, 15}, {3, 5}, {4, 12}, 150},
        [SOURCE_HUGE] = {{10, 30}, {4, 6}, {6, 20}, 500},
};

#define CHAIN_MOST      3000 /* links */
#define ELITES_MOST     64
#define GROWN_BYTES     (64u << 10) /* limit on a pool's member: of generated SMT-LIB; the next: */
#define LARGE_BYTES     (4u << 20)  /* of DIMACS, or with a corpus */
#define CANDIDATES_MOST 24
/* Seconds to make a candidate, roughly, and more for each literal of DIMACS: candidates are worth a small share of a run. */
#define CANDIDATE_COST  0.0002
#define LITERAL_COST    0.0000001

struct elite {
        struct formula formula; /* owned */
        struct shape shape;     /* owned */
        uint64_t lineage;       /* the id of the first of its ancestors, or its own */
        double worth;
};

/* Inputs to mutate. */
struct pool {
        struct elite list[ELITES_MOST];
        size_t n;
};

#define NEAR          0.5  /* of the threshold: this much of a slowdown is nearly a find */
#define FEW_HOLD      0.25 /* candidates: below this share they are luck for the most part */
#define INPUT_SECONDS 0.05 /* cost of an input besides its runs, roughly */
#define LINEAGE_MOST  5    /* finds of a lineage */
#define CONFIRMATION  5    /* pairs of runs for a candidate */
#define SIZES         17
#define UNEXPECTED    10   /* one of so many candidates of a known family is wanted all the same */

struct novelty {
        struct shape_counts counts;
        struct families *families; /* owned */
        double cost[N_SOURCES], inputs[N_SOURCES];   /* seconds of the inputs of each source, and their number */
        double size_cost[SIZES], size_inputs[SIZES]; /* the same by size_of() */
        struct bandit sources;
        struct pool slow, finds;
        struct enumeration *enumeration; /* owned; NULL: at its end */
        uint64_t used[N_SOURCES], won[N_SOURCES];
        double n_candidates, n_held; /* those that were confirmed or rejected, and the finds among them */
        /* Of one run of each input, of the target if it ran: their number, the sums of their times, of these up to the cap, of those below it, and the
         * number above the threshold. They decide which version is first. */
        double n_timed, time, capped_time, time_below_cap, n_slow;
};

static void novelty_begin(struct strategy *s)
{
        struct novelty *n = allocate(1, sizeof(*n));

        s->state = n;
        bandit_init(&n->sources, N_SOURCES);
        n->families = families_new();
        if (s->options.n_corpus == 0 && !s->options.is_cnf)
                n->enumeration = enumeration_new(&(struct enumerate_options){.dialect = s->options.dialect});
}

static void elite_done(struct elite *e)
{
        formula_done(&e->formula);
        shape_done(&e->shape);
}

static void pool_done(struct pool *p)
{
        for (size_t i = 0; i < p->n; i++)
                elite_done(&p->list[i]);
}

static void novelty_end(struct strategy *s)
{
        struct novelty *n = s->state;

        pool_done(&n->slow);
        pool_done(&n->finds);
        enumeration_free(n->enumeration);
        bandit_done(&n->sources);
        families_free(n->families);
        free(n);
}

/* -- pools -- */

/* Replaces the least worthy member of a full pool. Inputs grown large by mutants of mutants are not added: to mutate one takes longer than to run it. */
static void pool_add(const struct strategy *s, struct pool *p, const struct input *i, double worth)
{
        size_t at = p->n == ELITES_MOST ? 0 : p->n;

        for (size_t k = 1; p->n == ELITES_MOST && k < p->n; k++)
                if (p->list[k].worth < p->list[at].worth)
                        at = k;
        if (i->text.size > (i->formula.cnf || s->options.n_corpus > 0 ? LARGE_BYTES : GROWN_BYTES) || (at < p->n && p->list[at].worth >= worth))
                return;
        if (at < p->n)
                elite_done(&p->list[at]);
        else
                p->n++;
        p->list[at] = (struct elite){.formula = formula_copy(&i->formula), .shape = shape_copy(&i->shape),
                                      .lineage = i->lineage ?: i->id, .worth = worth};
}

/* The worthiest of some members drawn: of two of no known family, if eight draws give as many. */
static const struct elite *pool_draw(struct strategy *s, const struct pool *p)
{
        const struct elite *best = NULL;
        bool best_known = false;
        const struct novelty *n = s->state;

        for (int i = 0, other = 0; p->n > 0 && i < 8 && other < 2; i++) {
                const struct elite *e = &p->list[random_below(&s->random, p->n)];
                bool is_known = families_know(n->families, &e->shape);

                other += !is_known;
                if (!best || (best_known && !is_known) || (best_known == is_known && e->worth > best->worth)) {
                        best = e;
                        best_known = is_known;
                }
        }
        return best;
}

static size_t pool_count(const struct pool *p, uint64_t lineage)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                n += p->list[i].lineage == lineage;
        return n;
}

static void pool_drop(struct pool *p, uint64_t lineage)
{
        for (size_t i = p->n; i-- > 0;)
                if (p->list[i].lineage == lineage) {
                        elite_done(&p->list[i]);
                        p->list[i] = p->list[--p->n];
                }
}

/* -- sources -- */

/* A number from 1 to `most`, every magnitude equally likely. */
static unsigned scale(struct strategy *s, unsigned most)
{
        return (unsigned)lrint(exp(random_uniform(&s->random) * log((double)most)));
}

static unsigned between(struct strategy *s, const unsigned range[2])
{
        return range[0] + (unsigned)random_below(&s->random, range[1] - range[0] + 1);
}

/* Makes a generator that uses half of the operators, some of them often. */
static void swarm(struct strategy *s, const struct size *size)
{
        struct generate_options g = generate_defaults;
        double usual[N_OPS], weights[N_OPS];

        if (s->options.n_logics > 0)
                g.logic = s->options.logics[random_below(&s->random, s->options.n_logics)];
        generate_weights_of(g.logic, false, usual); /* strategy_new() has checked the logics */
        for (size_t i = 0; i < N_OPS; i++) {
                double x = random_uniform(&s->random);

                weights[i] = x < 0.5 ? 0 : x < 0.8 ? usual[i] : 4 * usual[i] + (usual[i] > 0);
        }
        weights[OP_EQUAL] = usual[OP_EQUAL]; /* there is always a predicate */
        g.literal_length = scale(s, size->literal_length);
        g.variables = between(s, size->variables);
        g.assertions = between(s, size->assertions);
        g.depth = between(s, size->depth);
        g.literals = 0.1 + 0.5 * random_uniform(&s->random);
        g.alphabet = scale(s, 12);
        g.dialect = s->options.dialect;
        g.weights = weights;
        generator_configure(s->generator, &g);
}

/* NULL after the last. */
static struct script *enumerated(struct strategy *s)
{
        struct novelty *n = s->state;
        cleanup_script struct script *script = NULL;

        if (enumeration_next(n->enumeration, &script) < 0) { /* -ENOSPC */
                n->enumeration = enumeration_free(n->enumeration);
                return NULL;
        }
        return formula_copy(&(struct formula){.script = script}).script; /* not in the enumeration's bank, which holds every small term */
}

/* One to three changes, of any kind. NULL if it cannot be changed. */
static struct script *mutate_script(struct strategy *s, const struct formula *from)
{
        cleanup_script struct script *script = NULL;
        unsigned changes = 1 + (unsigned)random_below(&s->random, 3), done = 0;
        enum op ops[N_OPS];
        size_t n;

        script = formula_copy(from).script; /* its terms are freed with it; the bank of `from` would keep those of each attempt */
        n = mutate_actions(s->generator, script, ops);
        for (unsigned tries = 0; done < changes && tries < 12; tries++) {
                struct script *next = NULL;
                int r;

                if (n > 0 && random_below(&s->random, 3) > 0)
                        r = mutate_operator(s->generator, script, ops[random_below(&s->random, n)], &next);
                else
                        r = mutate_transform(s->generator, script, (enum transform)random_below(&s->random, N_TRANSFORMS), &next);
                if (r < 0)
                        continue;
                script_free(script);
                script = next;
                done++;
        }
        return done > 0 ? steal_pointer(script) : NULL;
}

/* The templates and the enumeration make only strings. Other logics have chains in place of templates. */
static bool has_strings(const struct strategy *s)
{
        for (size_t i = 0; i < s->options.n_logics; i++)
                if (logic_of(s->options.logics[i]).theories >> THEORY_STRINGS & 1)
                        return true;
        return s->options.n_logics == 0;
}

/* Empty if it cannot be changed. */
static struct formula mutant(struct strategy *s, const struct formula *from)
{
        return s->options.is_cnf ? mutate_cnf(s, from) : (struct formula){.script = mutate_script(s, from)};
}

/* Empty if the source can make nothing now. */
static struct formula generated(struct strategy *s, enum source source)
{
        const struct novelty *n = s->state;
        struct script *script = NULL;

        if (s->options.is_cnf)
                return make_cnf(s, (unsigned)source);
        if (source <= SOURCE_HUGE) {
                swarm(s, &sizes[source]);
                script = generate_formula(s->generator);
        } else if (source == SOURCE_TEMPLATE && has_strings(s)) {
                template_formula(s->generator, (enum template)random_below(&s->random, N_TEMPLATES), scale(s, 8), &script);
        } else if (source == SOURCE_TEMPLATE) {
                swarm(s, &sizes[SOURCE_SMALL]);
                generate_chain(s->generator, scale(s, CHAIN_MOST), &script);
        } else if (source == SOURCE_ENUMERATE && n->enumeration && has_strings(s)) {
                script = enumerated(s);
        }
        return (struct formula){.script = script};
}

/* -- choosing -- */

/* NULL if the source can make nothing now. */
static struct input *make_input(struct strategy *s, enum source source)
{
        const struct novelty *n = s->state;
        const struct elite *elite = source == SOURCE_MUTATE ? pool_draw(s, &n->slow) : source == SOURCE_FIND ? pool_draw(s, &n->finds) : NULL;
        const struct formula *from = elite ? &elite->formula : source == SOURCE_CORPUS ? corpus_draw(s) : NULL;
        struct formula formula = from ? mutant(s, from) : generated(s, source);
        struct input *i;

        /* A formula of the corpus may be one that no change fits. */
        for (size_t k = 1; source == SOURCE_CORPUS && !formula.script && !formula.cnf && k < s->options.n_corpus; k++)
                formula = mutant(s, &s->corpus[((size_t)(from - s->corpus) + k) % s->options.n_corpus]);
        if (!formula.script && !formula.cnf)
                return NULL;
        i = input_new(s, formula, source_names[source]);
        i->shape = formula_shape(&i->formula);
        i->arm = (size_t)source;
        i->lineage = elite ? elite->lineage : 0;
        return i;
}

#define EXPLAINED 0.1 /* the factor of a formula's novelty when a rule explains it */

/* Choosing may take a hundredth of a run. */
static double seconds_to_choose(const struct novelty *n)
{
        double seconds = n->n_timed > 0 ? n->time / n->n_timed : 1;

        return fmin((CANDIDATES_MOST + 0.5) * CANDIDATE_COST, seconds * 0.01); /* half of one more, as sums are rounded */
}

static double candidate_cost(const struct formula *f)
{
        return CANDIDATE_COST + (f->cnf ? LITERAL_COST * (double)f->cnf->n_literals : 0);
}

/* The magnitude of the number of parts. */
static unsigned size_of(const struct shape *s)
{
        return (unsigned)MIN(s->n > 0 ? 64 - __builtin_clzll(s->n) : 0, SIZES - 1);
}

/* The mean seconds of inputs of that size; at first those of all inputs. */
static double expected_seconds(const struct novelty *n, const struct shape *s)
{
        const double usual = n->n_timed > 0 ? n->time / n->n_timed : 1;
        const unsigned size = size_of(s);

        return (n->size_cost[size] + usual) / (n->size_inputs[size] + 1);
}

/* The best candidate of a source: of one, and more while there is time for them. NULL if the source can make nothing now. */
static struct input *best_candidate(struct strategy *s, enum source source)
{
        const struct novelty *n = s->state;
        struct input *best = NULL;
        double most = -1;

        for (double share = seconds_to_choose(n), spent = 0, cost = 0; spent == 0 || spent + cost <= share; spent += cost) {
                struct input *candidate = make_input(s, source);
                double novelty;

                cost = candidate ? candidate_cost(&candidate->formula) : CANDIDATE_COST;
                if (!candidate)
                        continue;
                novelty = shape_novelty(&n->counts, &candidate->shape) * (families_know(n->families, &candidate->shape) ? EXPLAINED : 1) /
                          (INPUT_SECONDS + expected_seconds(n, &candidate->shape));
                input_free(novelty > most ? best : candidate);
                best = novelty > most ? candidate : best;
                most = fmax(most, novelty);
        }
        return best;
}

static int novelty_next(struct strategy *s, struct input **ret)
{
        struct novelty *n = s->state;
        bool generates = s->options.n_corpus == 0;
        bool is_open[N_SOURCES] = {
                [SOURCE_SMALL] = generates,
                [SOURCE_MEDIUM] = generates,
                [SOURCE_LARGE] = generates,
                [SOURCE_HUGE] = generates,
                [SOURCE_TEMPLATE] = generates && !s->options.is_cnf,
                [SOURCE_ENUMERATE] = n->enumeration != NULL,
                [SOURCE_MUTATE] = n->slow.n > 0,
                [SOURCE_FIND] = n->finds.n > 0,
                [SOURCE_CORPUS] = !generates,
        };
        struct input *best = NULL;
        double seconds[N_SOURCES]; /* cost of an input of each source */

        for (size_t i = 0; i < N_SOURCES; i++)
                seconds[i] = INPUT_SECONDS + (n->cost[i] + 1) / (n->inputs[i] + 1);
        while (!best) {
                size_t source = bandit_choose(&n->sources, &s->random, is_open, seconds);

                if (source == SIZE_MAX)
                        return errorf(-ENOSPC, "no input of the corpus can be changed any more");
                best = best_candidate(s, (enum source)source);
                if (best)
                        n->used[source]++;
                else
                        is_open[source] = false;
        }
        shape_counts_see(&n->counts, &best->shape);
        *ret = best;
        return 0;
}

/* -- running -- */

/* True if it is cheaper to run the target first. The times noted so far stand for those of any version. Target first: it runs for as long
 * as it takes, and for the share of slow inputs a reference runs up to the cap. Reference first: it runs up to the cap, and the target, too, where it
 * ended below. */
static bool is_target_first(const struct strategy *s)
{
        const struct novelty *n = s->state;

        return n->n_timed < 20 || n->time + n->n_slow / n->n_timed * n->capped_time <= n->capped_time + n->time_below_cap;
}

/* A target within the threshold ends it: no find. The cap is the target's time, or the timeout until that is known, less the threshold. A reference that
 * ends below it is enough; one that needs longer makes no find. */
static bool novelty_step(struct strategy *s, struct input *i, unsigned *ret_version, double *ret_seconds)
{
        unsigned target = s->options.versions - 1;
        double slow = i->ran[target] ? i->outcomes[target].seconds : s->options.timeout, cap = slow - s->options.threshold;
        bool any = false;

        if (i->ran[target] && slow <= s->options.threshold)
                return false;
        for (unsigned v = 0; v < target; v++) {
                any |= i->ran[v];
                if (i->ran[v] && solved_after(s, &i->outcomes[v]) < cap) { /* fast enough: the target decides */
                        *ret_version = target;
                        *ret_seconds = s->options.timeout;
                        return !i->ran[target];
                }
        }
        if (!i->ran[target] && !any && is_target_first(s)) {
                *ret_version = target;
                *ret_seconds = s->options.timeout;
                return true;
        }
        for (unsigned v = 0; v < target; v++)
                if (!i->ran[v]) {
                        *ret_version = v;
                        *ret_seconds = cap;
                        return true;
                }
        return false;
}

static void note_time(struct strategy *s, double seconds)
{
        struct novelty *n = s->state;
        double cap = s->options.timeout - s->options.threshold;

        n->n_timed++;
        n->time += seconds;
        n->capped_time += fmin(seconds, cap);
        n->time_below_cap += seconds < cap ? seconds : 0;
        n->n_slow += seconds > s->options.threshold;
}

/* How much longer the target took than the fastest other that solved it; 0 if none did, as an input that is hard for every version is no step towards a
 * find. Its own time if no other ran; 0 if it did not run itself. */
static double worth_of(const struct strategy *s, const struct input *i)
{
        unsigned target = s->options.versions - 1;
        double least = s->options.timeout;
        bool any = false;

        if (!i->ran[target])
                return 0;
        for (unsigned v = 0; v < target; v++)
                if (i->ran[v]) {
                        least = fmin(least, solved_after(s, &i->outcomes[v]));
                        any = true;
                }
        return fmax(0, i->outcomes[target].seconds - (any ? least : 0));
}

/* All but those of a known family, and one in ten of these. */
static bool novelty_wants(const struct strategy *s, const struct input *i)
{
        const struct novelty *n = s->state;
        uint64_t chance[] = {s->options.seed, i->id};

        return hash_quick(chance, sizeof(chance)) % UNEXPECTED == 0 || !families_know(n->families, &i->shape);
}

/* The reward of an input's source, here and in novelty_confirmed(). A find of no known family is a success; any other candidate, confirmed, rejected or
 * passed over, half a failure. Another input is 0.3 of a failure and, if it is nearly a find, up to 0.3 of a success: without that condition, sources of
 * quick inputs would be rewarded for running many. Where few candidates hold it is luck, and less of a success. */
static void novelty_finish(struct strategy *s, struct input *i)
{
        struct novelty *n = s->state;
        unsigned target = s->options.versions - 1;
        double worth = s->options.every_version ? i->score : worth_of(s, i), share = fmax(0, fmin(1, worth / s->options.threshold));

        if (i->ran[target])
                note_time(s, i->outcomes[target].seconds);
        else if (i->ran[0]) /* at its cap: guessed to need twice as long */
                note_time(s, fmin(i->outcomes[0].seconds * (1 + (i->outcomes[0].verdict == VERDICT_TIMEOUT)), s->options.timeout));
        n->inputs[i->arm]++;
        n->size_inputs[size_of(&i->shape)]++;
        for (unsigned v = 0; v < s->options.versions; v++) {
                n->cost[i->arm] += i->ran[v] ? i->outcomes[v].seconds : 0;
                n->size_cost[size_of(&i->shape)] += i->ran[v] ? i->outcomes[v].seconds : 0;
        }
        if (i->is_passed_over) {
                families_assumed(n->families, &i->shape);
                n->sources.failures[i->arm] += 0.5;
                return;
        }
        if (i->is_candidate)
                return; /* confirmed() rewards it */
        families_missed(n->families, &i->shape);
        n->sources.successes[i->arm] += share < NEAR ? 0 : 0.3 * share * fmin(1, (n->n_held + 1) / (n->n_candidates + 1) / FEW_HOLD);
        n->sources.failures[i->arm] += 0.3;
        if (worth > 0)
                pool_add(s, &n->slow, i, worth);
}

static void novelty_confirmed(struct strategy *s, struct input *i, bool is_find)
{
        struct novelty *n = s->state;
        bool is_new = is_find && !families_know(n->families, &i->shape);

        n->n_candidates++;
        n->n_held += is_find;
        (is_find ? families_found : families_missed)(n->families, &i->shape);
        n->cost[i->arm] += CONFIRMATION * (i->outcomes[s->options.versions - 1].seconds + i->outcomes[0].seconds);
        if (is_new) {
                n->won[i->arm]++;
                n->sources.successes[i->arm]++;
        } else {
                n->sources.failures[i->arm] += 0.5;
        }
        if (is_find) {
                pool_drop(&n->slow, i->lineage);
                pool_add(s, &n->finds, i, is_new ? 2 : 1);
                if (pool_count(&n->finds, i->lineage) >= LINEAGE_MOST)
                        pool_drop(&n->finds, i->lineage);
        }
}

static size_t novelty_arms(const struct strategy *s, struct strategy_arm *ret, size_t most)
{
        const struct novelty *n = s->state;

        for (size_t i = 0; i < N_SOURCES && i < most; i++)
                ret[i] = (struct strategy_arm){
                        .name = source_names[i], .mean = bandit_mean(&n->sources, i), .used = n->used[i], .won = n->won[i]};
        return MIN(most, (size_t)N_SOURCES);
}

/* -- its state as bytes -- */

static void transfer_pool(struct transfer *t, struct pool *p)
{
        transfer_count(t, &p->n, 1);
        p->n = MIN(p->n, (size_t)ELITES_MOST);
        for (size_t i = 0; i < p->n; i++) {
                transfer_formula(t, &p->list[i].formula);
                transfer_shape(t, &p->list[i].shape);
                transfer_u64(t, &p->list[i].lineage);
                transfer_real(t, &p->list[i].worth);
        }
}

/* The terms of an enumeration are made anew. */
static void transfer_enumeration(struct transfer *t, struct enumeration **e)
{
        bool is_there = *e != NULL;
        uint64_t position = *e ? enumeration_position(*e) : 0;

        transfer_bool(t, &is_there);
        transfer_u64(t, &position);
        if (!is_there)
                *e = enumeration_free(*e);
        else if (transfer_reads(t) && (!*e || enumeration_skip(*e, position) < 0))
                record_fail(&t->from);
}

static void novelty_transfer(struct strategy *s, struct transfer *t)
{
        struct novelty *n = s->state;
        double *const sums[] = {&n->n_timed, &n->time, &n->capped_time, &n->time_below_cap, &n->n_slow, &n->n_candidates, &n->n_held};

        transfer_counts(t, &n->counts);
        families_transfer(t, n->families);
        transfer_reals(t, n->cost, N_SOURCES);
        transfer_reals(t, n->inputs, N_SOURCES);
        transfer_reals(t, n->size_cost, SIZES);
        transfer_reals(t, n->size_inputs, SIZES);
        transfer_bandit(t, &n->sources);
        transfer_pool(t, &n->slow);
        transfer_pool(t, &n->finds);
        transfer_enumeration(t, &n->enumeration);
        for (size_t i = 0; i < N_SOURCES; i++) {
                transfer_u64(t, &n->used[i]);
                transfer_u64(t, &n->won[i]);
        }
        for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
                transfer_real(t, sums[i]);
}

const struct strategy_type strategy_novelty = {
        .begin = novelty_begin,
        .end = novelty_end,
        .next = novelty_next,
        .step = novelty_step,
        .wants = novelty_wants,
        .finish = novelty_finish,
        .confirmed = novelty_confirmed,
        .arms = novelty_arms,
        .transfer = novelty_transfer,
};
