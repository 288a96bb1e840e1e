/* Shared by the files of the plan: plan.c what is built and the costs, plan_units.c what would be compiled, plan_fit.c what builds took. */
#pragma once

#include "cache/base/record.h"
#include "core/build/checkout.h"
#include "core/build/include_graph.h"
#include "core/query/plan.h"
#include "core/query/query_internal.h"

#define NO_STEP      UINT32_MAX
#define SAMPLES      64                      /* builds that are remembered, of a recipe */
#define SAMPLE_SIZE  (3 * GIT_OID_RAWSZ + 8) /* commit, its neighbours before and behind, ns */
#define MEASURED_MIN 3 /* builds that make a measured cost of a guessed one */
#define LISTED       4 /* commits whose files are kept */

struct past_build { /* a build that was noted */
        uint8_t bytes[SAMPLE_SIZE];
        bool is_known; /* its neighbours are still there, and the units are counted */
        size_t units;
};

struct listed { /* the files of a commit */
        struct manifest files;
        uint32_t commit;
        uint64_t used; /* when, by `uses`; 0: none is here */
};

struct counted { /* the units between a step and a built one */
        uint32_t from;
        bool is_known;
        size_t units;
};

struct plan {
        struct workspace *workspace;
        struct solver *solver;      /* owns a ref */
        struct commit_order *order; /* owns a ref */
        struct digest *keys;        /* [n_keys] build key by commit number */
        uint32_t n_keys;
        uint32_t *step;    /* [order->n] by place: how many different builds there are up to it */
        uint32_t *of_step; /* by step: a commit of it */
        uint32_t *built;   /* steps with a build, ascending */
        size_t n_built;
        uint64_t generation; /* of the store, when `built` was read */

        git_repository *git; /* NULL until a cost is asked, and the next one, too */
        struct include_graph *graph;
        struct listed listed[LISTED]; /* the last that were compared: neighbours are so with many */
        uint64_t uses;
        struct counted *counted; /* [2 * order->n] by step: from before, from behind */
        struct past_build samples[SAMPLES];
        size_t n_samples;
        bool is_fitted;
        double fixed, per_unit, spread; /* seconds, seconds, and the deviation in relation to the cost */
        unsigned n_fitted;
};

/* -- plan.c -- */

/* The built steps around this one, itself left out: NO_STEP where there is none. */
void plan_neighbours(const struct plan *p, uint32_t step, uint32_t *before, uint32_t *behind);

/* -- plan_units.c -- */

/* Includes hardly change along a history: those of one commit will do for all. The functions below need it. */
int plan_open_graph(struct plan *p, uint32_t commit);
int plan_count_units(struct plan *p, uint32_t from, uint32_t to, size_t *ret); /* that differ between two commits */
/* Counts what a build of this step compiles; all when nothing is built. */
int plan_units_of(struct plan *p, uint32_t step, size_t *ret);

/* -- plan_fit.c -- */

void plan_series_key(const struct solver *s, char ret[160]);
/* Fits the fixed part and the part for a unit to the builds that are noted, unless they are fitted. Needs the graph. */
int plan_fit(struct plan *p);
double plan_expected(const struct plan *p, size_t units);
