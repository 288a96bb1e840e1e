#include "tests/support/adapt.h"

struct parameter {
        unsigned least, most;           /* its range */
        unsigned step_least, step_most; /* of one update */
};
enum {
        LITERAL_LENGTH,
        VARIABLES,
        ASSERTIONS,
        DEPTH,
        N_PARAMETERS
};
static const struct parameter parameters[N_PARAMETERS] = {
        [LITERAL_LENGTH] = {10, 500, 20, 50},
        [VARIABLES] = {3, 20, 1, 5},
        [ASSERTIONS] = {4, 15, 1, 3},
        [DEPTH] = {2, 6, 1, 1},
};

static unsigned *parameter_of(struct generate_options *g, unsigned which)
{
        switch (which) {
        case LITERAL_LENGTH:
                return &g->literal_length;
        case VARIABLES:
                return &g->variables;
        case ASSERTIONS:
                return &g->assertions;
        default:
                return &g->depth;
        }
}

void adapt_init(struct adapt *a, const struct adapt_options *options, uint64_t seed, double now)
{
        *a = (struct adapt){.options = *options, .since = now};
        random_seed(&a->random, seed);
}

void adapt_ran(struct adapt *a, double seconds)
{
        a->total += seconds;
        a->n_runs++;
}

void adapt_found(struct adapt *a, double now)
{
        a->since = now;
        a->stage = 0;
}

static bool update(struct adapt *a, unsigned which, struct generate_options *g)
{
        const struct parameter *p = &parameters[which];
        unsigned *value = parameter_of(g, which),
                 step = p->step_least + (unsigned)random_below(&a->random, p->step_most - p->step_least + 1);
        bool grow = a->n_runs == 0 || a->total / (double)a->n_runs < a->options.theta * a->options.timeout;

        if (grow ? *value + step > p->most : *value < p->least + step)
                return false;
        *value = grow ? *value + step : *value - step;
        return true;
}

bool adapt_step(struct adapt *a, double now, struct generate_options *g)
{
        bool changed = false;

        while (now - a->since >= a->options.window * (a->stage + 1)) {
                if (a->stage < N_PARAMETERS) {
                        changed |= update(a, a->stage, g);
                        a->stage++;
                } else {
                        a->since += a->options.window * (N_PARAMETERS + 1);
                        a->stage = 0;
                }
        }
        return changed;
}

void adapt_draw(struct random *random, struct generate_options *g)
{
        for (unsigned i = 0; i < N_PARAMETERS; i++)
                *parameter_of(g, i) =
                        parameters[i].least + (unsigned)random_below(random, parameters[i].most - parameters[i].least + 1);
}
