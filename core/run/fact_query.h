/* The queries of a script with several check-sat: the time of each answer, kept in the fact of the script's run; and the fact of one query.
 *
 * A query lasts from the answer before it (the first: from the program's begin) to its own answer, as these arrive at us. A solver that buffers its
 * output until the buffer is full (stdio does, to a pipe) gives all answers together: then the first has all the time. `run = stdbuf -oL {bin} …` is
 * for those.
 * Pure: any thread. */
#pragma once

#include "core/run/fact.h"
#include "core/run/runner.h"

struct query_answer {
        enum verdict verdict; /* for the query at which the run ended and for those after it, how the run ended */
        bool is_reached;      /* false: the query was never asked; the numbers are 0 */
        uint64_t ns;          /* duration */
        uint64_t memory;      /* peak bytes of the run so far, as polled; 0: not known */
};
/* Sets f->answers if the times of the answers are known. A run that ended with its only answer needs none: that has the run's time. */
void fact_take_answers(struct fact *f, const struct run_result *run);
/* `query` is 1, 2, …. -ENOENT if the times of the answers are not known. */
int fact_query_answer(const struct fact *f, uint32_t query, struct query_answer *ret);
/* A new fact of that query alone: its verdict, time and memory; CPU time in proportion to the time. It has no output, effort or run.json. `wrong` is
 * false: the caller, who knows the expected answer, sets it. -ENOENT as above. */
int fact_of_query(const struct fact *f, uint32_t query, struct fact **ret);
/* "query\tline\tresult\tseconds\tmemory" and a row for each query; `lines` are the queries' lines in the script. "-": not reached, or not known. */
void fact_print_queries(const struct fact *f, const uint32_t *lines, size_t n, struct buffer *ret);
