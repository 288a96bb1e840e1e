/* Shared by the files of this room: first, the encoding of records (observation_record.c, campaign_settings.c, campaign_status.c). */
#pragma once

#include <jansson.h>

#include "core/study/observation/campaign_store.h"

/* The texts of an observation, in the order of its record. */
#define N_OBSERVATION_TEXTS 8
char **observation_text(struct observation *o, size_t i);

void observation_encode(const struct observation *o, struct buffer *ret);
/* -EIO with a sentence: damaged. */
int observation_decode(enum observation_series series, uint32_t solver, uint32_t number, struct slice bytes, struct observation **ret);

/* New references. */
json_t *campaign_settings_json(const struct campaign_settings *s);
json_t *campaign_status_json(const struct campaign_status *s);
/* -EIO with a sentence: damaged. `name` is the campaign's. */
int campaign_settings_from_json(json_t *j, const char *name, struct campaign_settings *ret);
int campaign_status_from_json(json_t *j, const char *name, struct campaign_status *ret);

/* -- finding_queries.c -- */

/* Appends a section of the report: the queries of a finding's script that take longer on the target, the largest difference first. Appends nothing if
 * the input has one query, or a version has no kept run. */
void finding_add_queries(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);

/* -- finding_steps.c: commands that build and run a finding's versions without solverfs, and the address of their repository -- */

/* A case's size and, if that is at most `most`, its bytes (blob_done()). A larger case is not read, but must be readable. */
int steps_read_input(struct workspace *w, uint32_t id, size_t most, uint64_t *ret_size, struct blob *ret);
/* Appends the address of a commit's page. False: the repository is not on a known forge. */
bool steps_add_page(const struct solver *s, const char *sha, struct buffer *ret);

/* The recipe of a version in full: its commit's, or the solver's if the commit is unknown. NULL: it names no commit. Valid as long as the solver. */
const struct recipe *steps_recipe(const struct solver *s, const char *version);
/* The commit to check out for a build of a version, and the clone's address: for a solver within a host both are the host's. Without a host the commit is
 * `version` itself, which may be "". */
const char *steps_root(const struct solver *s, const char *version, char ret_clone[PATH_SIZE]);
/* Adds commands that fetch the submodules at the commits named by the recipe, else by the sources; for a solver within a host the version is one of them.
 * Each command is between `begin` and `end`. */
void steps_add_submodules(const struct recipe *recipe, const char *version, const char *begin, const char *end, struct buffer *ret);
/* Adds a build's command, with $(nproc) in place of {jobs}. */
void steps_add_build_line(const char *line, struct buffer *ret);
/* The finding's seed as a shell word, for steps_add_run(); NULL: its runs had none. */
#define STEPS_SEED_SIZE 21
const char *steps_seed(const struct observation *f, char ret[STEPS_SEED_SIZE]);
/* Adds the command, without a newline, that runs the version on a file from its build folder. `seed`: a shell word, such as "\"$1\""; NULL: none. */
int steps_add_run(struct workspace *w, struct solver *s, const char *version, const char *file, const char *seed, double timeout, struct buffer *ret);
