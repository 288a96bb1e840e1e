#include "tests/bench/replay.h"

#include <math.h>
#include <time.h>

#include "cache/base/random.h"

/* A query of the stream: which of which table. Arms of later tables are mapped to the first's by name. */
struct replaying {
        const struct replay *r;
        size_t arms, features;
        uint32_t *map; /* tables × arms: the table's number of the first table's arm */
        struct attempt *attempts;
};

struct tally { /* of one seed */
        double par2, solved, first_best, solvable, turns;
        size_t queries;
};

static void replaying_done(struct replaying *p)
{
        free(p->map);
        free(p->attempts);
}

static int find_arm(const struct run_table *t, const char *name)
{
        for (size_t a = 0; a < t->arms; a++)
                if (strcmp(t->arm[a], name) == 0)
                        return (int)a;
        return -1;
}

static int map_arms(struct replaying *p)
{
        const struct run_table *first = p->r->tables[0];

        for (size_t i = 0; i < p->r->n; i++) {
                const struct run_table *t = p->r->tables[i];

                if (t->features != first->features)
                        return errorf(-EINVAL, "%s has %zu features and %s has %zu; tables of one replay have the same", t->name,
                                      t->features, first->name, first->features);
                if (t->arms != first->arms)
                        return errorf(-EINVAL, "%s has %zu arms and %s has %zu; tables of one replay have the same", t->name,
                                      t->arms, first->name, first->arms);
                for (size_t a = 0; a < first->arms; a++) {
                        int found = find_arm(t, first->arm[a]);

                        if (found < 0)
                                return errorf(-EINVAL, "%s has no arm '%s', which %s has", t->name, first->arm[a], first->name);
                        p->map[i * p->arms + a] = (uint32_t)found;
                }
        }
        return 0;
}

/* A timeout under a lower limit than the replay's does not say what happens later. */
static int check_limits(const struct replay *r)
{
        for (size_t i = 0; i < r->n; i++) {
                const struct run_table *t = r->tables[i];

                for (size_t j = 0; j < t->queries * t->arms; j++)
                        if (t->runs[j].ending == ENDING_STOPPED && t->runs[j].seconds < r->learner.limit * .99)
                                return errorf(
                                        -EINVAL,
                                        "%s: %s on '%s' timed out after %g s; a replay at a limit of %g s needs to know what "
                                        "came later (--limit)",
                                        t->name, t->arm[j % t->arms], t->query[j / t->arms], t->runs[j].seconds,
                                        r->learner.limit);
        }
        return 0;
}

static struct attempt run_of(const struct replaying *p, size_t table, size_t query, size_t arm, double seconds)
{
        return run_table_run(p->r->tables[table], query, p->map[table * p->arms + arm], seconds);
}

/* Has the arm come to the answer, and is that against the status? It is asked no more then. */
static bool is_wrong(const struct replaying *p, size_t table, size_t query, size_t arm, const struct attempt *a)
{
        const struct run_table *t = p->r->tables[table];

        return a->ending == ENDING_FAILED && t->wrong[query * t->arms + p->map[table * p->arms + arm]];
}

/* The fastest arm's number, or arms when none solves it. */
static size_t fastest(const struct replaying *p, size_t table, size_t query, double *ret_par2)
{
        size_t best = p->arms;

        *ret_par2 = 2 * p->r->learner.limit;
        for (size_t a = 0; a < p->arms; a++) {
                struct attempt run = run_of(p, table, query, a, p->r->learner.limit);

                if (run.ending == ENDING_SOLVED && (best == p->arms || run.seconds < *ret_par2)) {
                        best = a;
                        *ret_par2 = run.seconds;
                }
        }
        return best;
}

static void replay_query(struct replaying *p, struct learner *l, size_t table, size_t query, struct tally *to)
{
        const struct run_table *t = p->r->tables[table];
        double used = 0, best_par2;
        size_t best = fastest(p, table, query, &best_par2), turns = 0;
        bool solved = false;
        struct step step;

        memset(p->attempts, 0, p->arms * sizeof(*p->attempts));
        learner_begin(l, &t->values[query * t->features]);
        while (!solved && learner_next(l, p->attempts, &step)) {
                struct attempt *a = &p->attempts[step.arm];

                used -= a->seconds;
                *a = run_of(p, table, query, step.arm, step.until);
                used += a->seconds;
                solved = a->ending == ENDING_SOLVED;
                if (is_wrong(p, table, query, step.arm, a))
                        learner_leave_out(l, step.arm, true);
                if (turns++ == 0 && best < p->arms)
                        to->first_best += step.arm == best;
        }
        to->queries++;
        to->par2 += solved ? used : 2 * p->r->learner.limit;
        to->solved += solved;
        to->solvable += best < p->arms;
        to->turns += (double)turns;
        learner_end(l, p->attempts);
}

/* Tables from `first` on, `n` of them, in one stream. */
static int replay_stream(struct replaying *p, size_t first, size_t n, uint64_t seed, struct tally *to)
{
        cleanup_learner struct learner *l = NULL;
        cleanup_free uint32_t *order = NULL, *begin = NULL;
        struct learner_settings settings = p->r->learner;
        size_t total = 0;
        struct random random;
        int r;

        begin = allocate(n + 1, sizeof(*begin));
        for (size_t i = 0; i < n; i++)
                begin[i + 1] = begin[i] + (uint32_t)p->r->tables[first + i]->queries;
        total = begin[n];
        order = allocate(total, sizeof(*order));
        for (size_t i = 0; i < total; i++)
                order[i] = (uint32_t)i;
        random_seed_part(&random, seed, first);
        if (!p->r->keep_order)
                random_shuffle(&random, order, total);
        settings.seed = random_bits(&random);
        r = learner_new(&settings, p->arms, p->features, &l);
        for (size_t i = 0; r == 0 && i < total; i++) {
                size_t table = 0;

                while (order[i] >= begin[table + 1])
                        table++;
                replay_query(p, l, first + table, order[i] - begin[table], to);
        }
        return r;
}

static void references(const struct replaying *p, struct replay_score *ret)
{
        const struct replay *r = p->r;

        ret->best_arm_par2 = INFINITY;
        for (size_t a = 0; a < p->arms; a++) {
                double sum = 0;
                size_t solved = 0;

                for (size_t i = 0; i < r->n; i++)
                        for (size_t q = 0; q < r->tables[i]->queries; q++) {
                                struct attempt run = run_of(p, i, q, a, r->learner.limit);

                                sum += par2(&run, r->learner.limit);
                                solved += run.ending == ENDING_SOLVED;
                        }
                if (sum < ret->best_arm_par2) {
                        ret->best_arm_par2 = sum;
                        ret->best_arm = a;
                        ret->best_arm_solved = solved;
                        ret->best_arm_name = r->tables[0]->arm[a];
                }
        }
        for (size_t i = 0; i < r->n; i++) {
                ret->alarms += r->tables[i]->alarms;
                for (size_t q = 0; q < r->tables[i]->queries; q++) {
                        double best;

                        ret->virtual_best_solved += fastest(p, i, q, &best) < p->arms;
                        ret->virtual_best_par2 += best;
                }
        }
}

/* Welford's running mean and sum of squares. */
static void add(struct replay_value *v, unsigned n, double x)
{
        double d = x - v->mean;

        v->mean += d / n;
        v->deviation += d * (x - v->mean);
}

static void finish(struct replay_value *v, unsigned n)
{
        v->deviation = n > 1 ? sqrt(v->deviation / (n - 1)) : 0;
}

static int check(const struct replay *r)
{
        if (r->n == 0)
                return errorf(-EINVAL, "no table to replay");
        if (r->seeds == 0)
                return errorf(-EINVAL, "a replay needs at least one seed");
        return 0;
}

int replay_run(const struct replay *r, struct replay_score *ret)
{
        cleanup(replaying_done) struct replaying p = {.r = r};
        int result = check(r);
        clock_t began;

        if (result < 0)
                return result;
        p.arms = r->tables[0]->arms;
        p.features = r->tables[0]->features;
        p.map = allocate(r->n * p.arms, sizeof(*p.map));
        p.attempts = allocate(p.arms, sizeof(*p.attempts));
        if ((result = map_arms(&p)) < 0 || (result = check_limits(r)) < 0)
                return result;
        *ret = (struct replay_score){0};
        references(&p, ret);
        began = clock();
        for (unsigned s = 1; s <= r->seeds; s++) {
                struct tally t = {0};

                for (size_t i = 0; i < (r->split ? r->n : 1) && result == 0; i++)
                        result = replay_stream(&p, i, r->split ? 1 : r->n, r->learner.seed + s - 1, &t);
                if (result < 0)
                        return result;
                ret->queries = t.queries;
                add(&ret->par2, s, t.par2);
                add(&ret->solved, s, t.solved);
                add(&ret->first_best, s, t.solvable > 0 ? t.first_best / t.solvable : 0);
                add(&ret->turns, s, t.queries > 0 ? t.turns / (double)t.queries : 0);
        }
        finish(&ret->par2, r->seeds);
        finish(&ret->solved, r->seeds);
        finish(&ret->first_best, r->seeds);
        finish(&ret->turns, r->seeds);
        ret->seconds = (double)(clock() - began) / CLOCKS_PER_SEC / r->seeds;
        return 0;
}
