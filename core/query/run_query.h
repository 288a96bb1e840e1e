/* Shared by the queries about runs of one cell: query_run.c, query_sample.c and disturbed.c. */
#pragma once

#include "core/query/query_internal.h"

struct run_query {
        struct query query;
        struct workspace *workspace;
        struct cell cell; /* owns refs on solver and case */
        char *machine;    /* owned; cell.machine */
        struct resolved_cell resolved;
        uint32_t sample;   /* number of the measurement */
        bool is_value;     /* asks for the cell's value (cell_value.h); if nothing is known, measurement 0 becomes it */
        bool is_scrambled; /* cell.info is the original case, and the run is on its input scrambled by cell.scramble */
        /* The run's key is not known yet: the commit's program, its cluster's machine or the bytes are missing, or the case is one query of a script.
         * The query then needs what is missing, and after it the run of the program on those bytes, which other queries may share. */
        bool lacks_key;
};

/* *q comes zeroed from allocate(). After success or failure query_unref() frees it, if its type has run_query_done(). `build`: the key of the commit's
 * build; NULL: it is computed. */
int run_query_init(struct run_query *q, const struct query_type *type, struct workspace *w, const struct cell *cell, const struct digest *build);
/* Runs the commit's programs on the case: *ret, or *ret_failed if the commit cannot be built. Stores nothing. */
int run_query_measure(const struct run_query *q, struct job *j, struct fact **ret, struct build_record **ret_failed);
void duration_key(const struct run_query *q, char ret[128]); /* the key in TABLE_META of the duration of the case's last run */

/* Functions for the query types of runs. */
enum resource run_query_resource(const struct query *query);
void run_query_describe(const struct query *query, struct buffer *ret);
bool run_query_gone(const struct query *query);
void run_query_done(struct query *query);
struct value *run_value_new(struct fact *fact, struct build_record *failed); /* adds a ref to each; one may be NULL */

/* -- query_sample.c -- */

int sample_find(const struct run_query *q, const struct resolved_cell *resolved, struct fact **ret);
/* True if several measurements are kept. */
bool samples_are_kept(struct workspace *w, const struct resolved_cell *resolved, const struct case_info *info);
/* Keeps a measurement under number q->sample, or, with `is_again`, as one more re-measurement. Chooses the cell's value again, and tells mounts if
 * it changes. *ret_value, if not NULL: a ref of the value. */
int measurement_keep(const struct run_query *q, bool is_again, struct fact *f, struct fact **ret_value);
