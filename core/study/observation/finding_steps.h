/* Commands by which somebody who has no solverfs builds and runs a finding's versions, for its texts; and where their repository is. From what is
 * stored. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

/* A case's size and, where that is `most` at most, its bytes; a larger one is only opened. blob_done(). */
int steps_read_input(struct workspace *w, uint32_t id, size_t most, uint64_t *ret_size, struct blob *ret);
/* Where others get the repository: its address; of a clone on this machine, where that came from. "": not known. */
void steps_repository(const struct solver *s, char ret[PATH_SIZE]);
/* Appends the address of a commit's page, where the repository is on a forge that is known; else false. */
bool steps_add_page(const struct solver *s, const char *sha, struct buffer *ret);

/* The recipe of a version in full, by its commit; NULL: it is none of the solver's. Good as long as the solver is. */
const struct recipe *steps_recipe(const struct solver *s, const char *version);
/* A build's command with the machine's number of cores. */
void steps_add_build_line(const char *line, struct buffer *ret);
/* A line: the version's command on a file, in the folder where it was built. `seed`: shell that gives a number, "\"$1\""; NULL: it has none. */
int steps_add_run(struct workspace *w, struct solver *s, const char *version, const char *file, const char *seed, double timeout, struct buffer *ret);
