/* What the default and MedleySolver's method are compared with: the paper's other selectors and allocations, and baselines. None is in the product: its
 * learner takes any method that is made of them (core/portfolio/learner_internal.h). */
#pragma once

#include "core/portfolio/learner_internal.h"

struct baseline_selector {
        const char *name;
        const struct selector *selector;
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

extern const struct selector selector_neural, selector_static; /* files of their own */
/* A state that begins with the pointer to its one allocation. */
void baseline_done(void *state);
/* The feature divided by its running mean; 1 where it tells nothing. */
double baseline_scaled(const struct learner *l, size_t feature);
/* A constant and the features' logarithms: they are heavy-tailed, and a linear model of them as they are is one of the few largest queries. */
void baseline_inputs(const struct learner *l, double *ret);
