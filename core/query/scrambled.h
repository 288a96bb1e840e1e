/* Inputs scrambled by a seed (core/smtlib/scramble.h). Each is a case that no listing shows, made once; a run on it is a run of its own.
 * TABLE_SCRAMBLED maps sha256 of the case ‖ seed to sha256 of the scrambled input. Two seeds may give the same bytes, even the case's own.
 *
 * Seeds are from 1. Threads: any; no transaction may be open. Errors: those of cases.h and store.h. */
#pragma once

#include "core/query/query.h"

/* The case `of` scrambled by a seed. -ENOENT: it was not made, or gc took it. */
int scrambled_find(struct workspace *w, const struct case_info *of, uint64_t seed, struct case_info **ret);
/* Makes the input, even if it is there. -ENOTSUP with a sentence: the case cannot be scrambled, or cannot be read. */
int scrambled_make(struct workspace *w, const struct case_info *of, uint64_t seed, struct case_info **ret);
/* The digest of what scrambled_make() would make. */
int scrambled_digest(struct workspace *w, const struct case_info *of, uint64_t seed, struct digest *ret);
/* Keeps a scrambled input whose bytes were made elsewhere. */
int scrambled_keep(struct workspace *w, const struct case_info *of, uint64_t seed, struct slice text, struct case_info **ret);

struct scrambled_input {
        struct digest of, sha256;
        uint64_t seed;
};
/* The inputs made of a case, by seed; `of` NULL: of all cases. free(*ret). */
int scrambled_list(struct workspace *w, const struct digest *of, struct scrambled_input **ret, size_t *ret_n);
/* Gives a scrambled input the status of the case that it was made of; *input may be replaced. The case is found by the input's name. If it was
 * renamed since, it is found in `all`, a list of all inputs, {0} at first. It is read once for many calls; free(all->list). -ENOENT: no such case. */
struct scrambled_inputs {
        struct scrambled_input *list;
        size_t n;
        bool is_read;
};
int scrambled_take_status(struct workspace *w, struct scrambled_inputs *all, struct case_info **input);
/* As runs_known(), but for answers on the cases' inputs scrambled by cell->scramble. */
int scrambled_runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n);

/* Drops the scrambled inputs made `seconds` ago or more that have no result. Counts as cases_sweep() does. */
int scrambled_sweep(struct workspace *w, bool dry_run, int64_t seconds, uint64_t *ret_n, uint64_t *ret_bytes);

/* The query for the scrambled input itself: a file_value. */
int query_scrambled(struct workspace *w, struct case_info *of, uint64_t seed, struct query **ret);
/* The query for a run on the input scrambled by cell->scramble; cell->info is the original case. */
int query_scrambled_run(struct workspace *w, const struct cell *cell, struct query **ret);
