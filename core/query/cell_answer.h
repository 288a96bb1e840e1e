/* A cell's answer in words: `run`, `run --json` and `export` print the same for the same cell. */
#pragma once

#include "core/query/query.h"
#include "core/run/cell_file.h"

/* Everything known of a cell, as `run --json` prints it: solver, commit, case, name, sha256, result, status, check (null for "-"), seed,
 * cell_numbers(), run (which is run.json). `f` NULL: the commit cannot be built, and `build` (may be NULL) says why. A new reference. */
json_t *cell_answer_json(const struct cell *cell, const char *commit, const struct fact *f, bool disputed, const struct build_record *build);

/* "correct", "WRONG", "DISPUTED" (another cell contradicts it and the case has no status), or "-" (nothing to check against). These are
 * BenchExec's categories. `f` NULL: the commit cannot be built. */
const char *cell_check(const struct cell *cell, const struct fact *f, bool disputed);

/* Appends why the program of this commit's fact could not begin (f->not_started), and what to do; nothing if it began. */
void not_started_line(const struct solver *s, uint32_t commit, const struct fact *f, struct buffer *ret);

/* Prints any file of a cell: also CELL_QUERIES, which reads the case for the lines of its queries, and CELL_EFFORT. `f` may be NULL. */
int cell_print(struct workspace *w, const struct recipe *recipe, const struct case_info *info, const struct fact *f, enum cell_file file,
               struct buffer *ret);
