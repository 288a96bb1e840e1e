/* Finds where the extra time of a slower version goes: the samples of two runs (their format is in sample_helper.c), by function.
 *
 * A sample counts as own time for its function, and as total time for that function and its callers, once each. The sampler's list of callers also
 * has calls that are over. So the caller of a function is the first in the list that is known to call it; else the first that may: the target of a
 * call through a pointer or into a library is unknown.
 *
 * A function's excess is the growth of its total time beyond the growth of the whole run, so that a function that does the same work more often has
 * none. The callers of the function to blame have nearly the same excess as it has. So the place is, of the functions whose excess is nearly the
 * largest, the one with the least total time in the second run. If no excess is a tenth of the second run, that run does more of the same: then the
 * largest excess is only a lead, and the statistics say more.
 *
 * Pure; threads: one for each profile. */
#pragma once

#include "cache/base/util.h"

#define PROFILE_PATH 4

struct profile_address {
        unsigned side, file;
        uint64_t offset; /* in the file */
        unsigned *code;  /* owned: numbers of the functions there, the innermost of inlined ones first */
        size_t n;
};
struct profile_function {
        char *name, *file;        /* printable; file: "" for a library, "?" if not known; owned */
        double self[2], total[2]; /* seconds */
        uint64_t counted;         /* the last counted sample */
};
struct profile {
        char **files[2]; /* of the samples; owned */
        size_t n_files[2];
        struct profile_address *addresses; /* owned; in order, each once */
        size_t n_addresses;
        struct profile_function *functions; /* owned; in the end sorted by growth of own time, the most first */
        size_t n_functions;
        double seconds[2];
        size_t samples[2];
        /* The place; then one function of each other file with nearly the largest excess, by the second run's time in it, least first: it calls the
         * place, or is called there and elsewhere. NULL: no more. */
        const struct profile_function *path[PROFILE_PATH];
        const struct profile_function *most; /* without a place: the function with the largest excess; NULL: hardly any */
};
/* Reads the samplers' output. The caller then names the functions at each address (profile_add_code()). */
void profile_read(struct profile *p, const struct slice text[2]);
void profile_add_code(struct profile *p, struct profile_address *a, const char *name, const char *file);
/* Counts the samples of the same texts. */
void profile_count(struct profile *p, const struct slice text[2]);
void profile_done(struct profile *p);
#define cleanup_profile cleanup(profile_done)
