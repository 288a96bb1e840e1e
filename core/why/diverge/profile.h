/* Where the extra time of a slower version goes: the samples of two runs (sample_helper.c has their form), by function.
 *
 * The function that a sample is in has its time as its own; that function and its callers have it in all, each once. The sampler's list of callers has
 * some of calls that are over. A call counts if it calls the function found so far; else, as of libraries and of calls through a pointer nobody knows
 * what they call, the first one that may do that.
 *
 * The place: a function's excess is by how much its time in all has grown beyond what the whole run's has, so that what does the same work more often
 * has none. The place has the largest excess; but for its callers, which have nearly as much: so of all that have, the one in which the second run is
 * for the shortest time. Where no excess is a tenth of the second run, that does more of the same: then the largest one is a lead, and the statistics
 * say more.
 *
 * Pure; threads: one for each profile. */
#pragma once

#include "cache/base/util.h"

#define PROFILE_PATH 4

struct profile_address {
        unsigned side, file;
        uint64_t offset; /* in the file */
        unsigned *code;  /* owned: the functions there by their numbers, the innermost first where some are expanded in others */
        size_t n;
};
struct profile_function {
        char *name, *file;        /* file: "" of a library, "?" where it is not known; owned */
        double self[2], total[2]; /* seconds */
        uint64_t counted;         /* the last sample that was */
};
struct profile {
        char **files[2]; /* of the samples; owned */
        size_t n_files[2];
        struct profile_address *addresses; /* owned; in order, each once */
        size_t n_addresses;
        struct profile_function *functions; /* owned; in the end by what their own time has grown, the most first */
        size_t n_functions;
        double seconds[2];
        size_t samples[2];
        /* The place; and of each other file the function that has nearly as large an excess, by the second run's time in it. They call the place, or are
         * called there and elsewhere. NULL: no more. */
        const struct profile_function *path[PROFILE_PATH];
        const struct profile_function *lead;  /* where there is none: what has the largest excess; NULL: hardly any has */
};
/* Reads what the samplers printed, for the caller to say what is at each address. */
void profile_read(struct profile *p, const struct slice text[2]);
void profile_add_code(struct profile *p, struct profile_address *a, const char *name, const char *file);
/* Counts the samples of the same texts. */
void profile_count(struct profile *p, const struct slice text[2]);
void profile_done(struct profile *p);
#define cleanup_profile cleanup(profile_done)
