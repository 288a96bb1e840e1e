/* A case along the history of a solver: its stored results as a table, as a picture, and as the series in which steps are found. Nothing here starts
 * work.
 *
 * Threads: one at a time. */
#pragma once

#include "core/query/query.h"
#include "core/run/cell_file.h"
#include "core/study/localize/localization.h"
#include "core/study/steps/steps.h"

struct case_point {
        uint32_t commit;
        struct fact *fact; /* owns a ref; brief (without output), unless the measure is effort; NULL: the commit cannot be built */
        struct localize_outcome *by_seed; /* [n_seeds], owned: case_outcomes() */
        size_t n_seeds;
        bool on_line;      /* on the line of first parents: steps are found among these */
};
struct case_history {
        enum judge_measure measure; /* of the steps and the picture: JUDGE_TIME, _MEMORY or _EFFORT */
        uint64_t cpu_ns; /* the cell's: if not 0, the times are CPU times */
        struct solver *solver;  /* owns a ref */
        struct case_info *info; /* owns a ref */
        struct case_point *list;
        size_t n;
        const uint32_t *culprits; /* borrowed; set by the caller: commits that the picture marks as culprits */
        size_t n_culprits;
        int64_t newest; /* seconds; the time of the newest result, or when the case was added */
};
void case_history_done(struct case_history *h);
#define cleanup_case_history cleanup(case_history_done)

/* Reads the facts of a cell at these commits, in their order, as far as known; cell->commit is ignored. `line`: the n_line commits on a line of first
 * parents (history_line(), revision_range()); NULL: all commits are. Call case_history_done() on *ret after an error, too. */
int case_history_read(struct workspace *w, const struct cell *cell, const uint32_t *commits, size_t n, const uint32_t *line,
                      size_t n_line, enum judge_measure m, struct case_history *ret);
/* The heading and the rows of history.tsv. `is_disputed`: another cell contradicts the answer (cell_check()). */
void case_history_heading(struct buffer *ret);
int case_history_row(const struct case_history *h, size_t i, bool is_disputed, struct buffer *ret);
/* The steps; (*ret_points)[i] is the history's point for step.at = i; free(). */
void case_history_steps(const struct case_history *h, struct steps *ret, size_t **ret_points);
/* The picture: seconds, megabytes or the count over the commits from the first point to the last. place[commit]: its place in the history's order. */
int case_history_plot(const struct case_history *h, const uint32_t *place, struct buffer *ret);

/* The outcomes of a cell's known runs: under its seed and the following ones without a gap (at most JUDGE_PAIRS), or its repetitions if the solver takes
 * no seed. If none is known, and always on a named machine, the outcome of `value` alone, the cell's fact. `build` is the key of the commit's build.
 * free(*ret). */
int case_outcomes(struct workspace *w, const struct cell *cell, const struct digest *build, const struct fact *value, enum judge_measure m,
                  struct localize_outcome **ret, size_t *ret_n);
