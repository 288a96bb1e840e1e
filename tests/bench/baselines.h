/* What the product's learner is compared with: MedleySolver (Pimpalkhare, Mora, Polgreen, Seshia, SAT 2021), the paper's other selectors and allocations,
 * and baselines. A method is
 * made here of a way to order the arms and one to say how long each may run; the product's learner takes it for a selector
 * (core/portfolio/learner_internal.h). */
#pragma once

#include "core/portfolio/learner_internal.h"

/* Members but order() may be NULL. */
struct orderer {
        size_t size; /* of its state, which begins as zeros */
        void (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        void (*begin)(struct learner *l, void *state);                 /* a query */
        void (*order)(struct learner *l, void *state, uint32_t *ret); /* the arms, as they are tried; *ret begins as 0, 1, … and stays a permutation */
        void (*learn)(struct learner *l, void *state, const struct attempt *attempts);
};
/* How long an arm may run before the next one gets its turn. Members but share() may be NULL. */
struct allocation {
        size_t size;
        void (*init)(struct learner *l, void *state);
        void (*done)(void *state);
        double (*share)(struct learner *l, void *state, uint32_t arm); /* seconds; none: 0 or less */
        void (*learn)(struct learner *l, void *state, const struct attempt *attempts);
};

struct baseline_selector {
        const char *name;
        const struct orderer *orderer;   /* NULL: it goes with no allocation */
        const struct selector *selector; /* its own plan, which may come back to an arm; or the product's, with the allocation `with` */
        const char *with;                /* "schedule", "expo" */
};
struct baseline_allocation {
        const char *name;
        const struct allocation *allocation; /* NULL: the selector's own plan */
};
/* All of them, the product's own among them; a row without a name ends each. */
extern const struct baseline_selector baseline_selectors[];
extern const struct baseline_allocation baseline_allocations[];

/* Puts the two together; a NULL allocation is the first that the selector goes with. False: no such name, or they do not go together. */
bool baseline_method(const char *selector, const char *allocation, struct method *ret);
const char *baseline_allocation_of(const struct method *m); /* its name */

extern const struct orderer orderer_neural; /* files of their own */
extern const struct selector selector_static;
/* A state that begins with the pointer to its one allocation. */
void baseline_done(void *state);
static inline bool attempt_ran(const struct attempt *a)
{
        return a->ending != ENDING_NONE;
}
/* All arms by descending score; equal scores in random order. */
void baseline_rank(struct learner *l, const double *score, uint32_t *ret);
/* The feature divided by its running mean; 1 where it tells nothing. */
double baseline_scaled(const struct learner *l, size_t feature);
/* A constant and the features' logarithms: they are heavy-tailed, and a linear model of them as they are is one of the few largest queries. */
void baseline_inputs(const struct learner *l, double *ret);
