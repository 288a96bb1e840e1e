/* The answer of a cell in the words of every table and export: `run`, `run --json` and `export` say the same of the same cell. */
#pragma once

#include "core/query/query.h"
#include "core/run/cell_file.h"

/* All that is known of a cell, as `run --json` prints it: solver, commit, case, name, sha256, result, status, seed, the numbers, run (which is
 * run.json). `f` NULL: the commit cannot be built, and `build` (may be NULL) says why. A new reference. */
json_t *cell_answer_json(const struct cell *cell, const char *commit, const struct fact *f, const struct build_record *build);

/* "correct", "WRONG", "DISPUTED" (another cell contradicts it, and the case does not say who is right), or "-": BenchExec's categories, where an
 * answer that nothing is known to check against is none of them. `f` NULL: the commit cannot be built. */
const char *cell_check(const struct cell *cell, const struct fact *f, bool disputed);

/* Any file of a cell: cell_file_print(), and CELL_QUERIES, for which the case is read: its rows have the lines of its questions. `f` as above. */
int cell_print(struct workspace *w, const struct case_info *info, const struct fact *f, enum cell_file file, struct buffer *ret);

/* Did it answer sat or unsat? */
bool fact_has_answer(const struct fact *f); /* NULL: no */

/* The number of the recipe's first pattern; "-" when the solver did not say it. Not of a brief fact. */
void cell_effort(const struct fact *f, struct buffer *ret);
