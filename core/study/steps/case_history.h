/* A case along the history of a solver: all that is measured of it, as a table, as a picture, and as the series in which steps are found.
 * Nothing here starts work.
 *
 * Not for several threads at a time. */
#pragma once

#include "core/query/query.h"
#include "core/run/cell_file.h"
#include "core/study/localize/localization.h"
#include "core/study/steps/steps.h"

struct case_point {
        uint32_t commit;
        struct fact *fact; /* brief; owns a ref; NULL: the commit cannot be built */
        struct localize_outcome *by_seed; /* [n_seeds], owned: case_outcomes() */
        size_t n_seeds;
        bool on_line;      /* of first parents: steps are found among these */
};
struct case_history {
        enum judge_measure measure; /* that steps are found by, and the picture is of: JUDGE_TIME, _MEMORY or _EFFORT */
        struct solver *solver;  /* owns a ref */
        struct case_info *info; /* owns a ref */
        struct case_point *list;
        size_t n;
        const uint32_t *culprits; /* borrowed from the caller, who may set them: commits that the picture marks as such */
        size_t n_culprits;
        int64_t newest; /* seconds; when the newest of it was found out, or the case was added */
};
void case_history_done(struct case_history *h);
#define cleanup_case_history cleanup(case_history_done)

/* The facts of a cell at some of these commits, in their order; cell->commit is ignored. `line` (n_line commits, by history_line() or
 * revision_range(); NULL: all of them) says which ones are on a line of first parents. -errno; give *ret to case_history_done() after one, too. */
int case_history_read(struct workspace *w, const struct cell *cell, const uint32_t *commits, size_t n, const uint32_t *line,
                      size_t n_line, enum judge_measure m, struct case_history *ret);
/* As history.tsv has them. `f` NULL: the commit cannot be built. */
void case_history_heading(struct buffer *ret);
int case_history_row(const struct case_history *h, size_t i, struct buffer *ret);
/* The steps, and in (*ret_points)[i] which of the history's points step.at = i means; free(). */
void case_history_steps(const struct case_history *h, struct steps *ret, size_t **ret_points);
/* The picture: seconds, megabytes or the count over the commits from the first point to the last. place[commit]: its place in the history's order. */
int case_history_plot(const struct case_history *h, const uint32_t *place, struct buffer *ret);

/* The fact of a cell, and what else is known of it: under the solver's seeds 1, 2, … without a gap, else its repetitions. `build` is the key of the
 * commit's build. free(*ret). */
int case_outcomes(struct workspace *w, const struct cell *cell, const struct digest *build, const struct fact *value, enum judge_measure m,
                  struct localize_outcome **ret, size_t *ret_n);
