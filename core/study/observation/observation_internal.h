/* The bytes of records, for the files of this room that read and write the store: observation_record.c, campaign_settings.c and campaign_status.c know them. */
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

/* Appends a section of the report: the queries of a finding's script that the target takes longest for, beside the reference's times. Nothing where the
 * input has one query, or no runs of both versions are kept. */
void finding_add_queries(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);

/* -- finding_steps.c: commands by which somebody who has no solverfs builds and runs a finding's versions, and where their repository is -- */

/* A case's size and, where that is `most` at most, its bytes; a larger one is only opened. blob_done(). */
int steps_read_input(struct workspace *w, uint32_t id, size_t most, uint64_t *ret_size, struct blob *ret);
/* Where others get the repository: its address; of a clone on this machine, where that came from. "": not known. */
void steps_repository(const struct solver *s, char ret[PATH_SIZE]);
/* Appends the address of a commit's page, where the repository is on a forge that is known; else false. */
bool steps_add_page(const struct solver *s, const char *sha, struct buffer *ret);

/* The recipe of a version in full, by its commit; NULL: it is none of the solver's. Good as long as the solver is. */
const struct recipe *steps_recipe(const struct solver *s, const char *version);
/* The commit that is checked out for builds of a version, and in which clone: of a solver within another one the other's. */
const char *steps_root(const struct solver *s, const char *version, char ret_clone[PATH_SIZE]);
/* Gets submodules, at the commits that the recipe or else the sources name, a version within another one among them; each between `begin` and `end`. */
void steps_add_submodules(const struct recipe *recipe, const char *version, const char *begin, const char *end, struct buffer *ret);
/* A build's command with the machine's number of cores. */
void steps_add_build_line(const char *line, struct buffer *ret);
/* A line: the version's command on a file, in the folder where it was built. `seed`: shell that gives a number, "\"$1\""; NULL: it has none. */
int steps_add_run(struct workspace *w, struct solver *s, const char *version, const char *file, const char *seed, double timeout, struct buffer *ret);
