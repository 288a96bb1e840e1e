/* The queries of a script with several check-sat: when each was answered, in the fact of the script's run; and the fact of one of them.
 *
 * A query takes from the answer before it (the first: from the program's begin) to its own, as these arrive at us. A solver that keeps its output back
 * until it is full (stdio does, to a pipe) gives all answers together: then the first has all the time. `run = stdbuf -oL {bin} …` is for those.
 *
 * Pure: any thread. */
#pragma once

#include "core/run/fact.h"
#include "core/run/runner.h"

struct query_answer {
        enum verdict verdict; /* of the query at which the run ended, and of those behind it, how it ended */
        bool is_reached;      /* false: it was never asked; the numbers are 0 */
        uint64_t ns;          /* that it took */
        uint64_t memory;      /* peak bytes of the run so far, as it was polled; 0: not known */
};
/* Sets f->answers, where there is more to know than one answer. */
void fact_take_answers(struct fact *f, const struct run_result *run);
/* Of query 1, 2, …. -ENOENT: it is not known when the answers came. */
int fact_query_answer(const struct fact *f, uint32_t query, struct query_answer *ret);
/* A fact of that query alone, a new one: its verdict, time and memory; CPU time in proportion to the time. It has no output, effort and run.json.
 * `wrong` is false: the caller knows what is expected. -ENOENT as above. */
int fact_of_query(const struct fact *f, uint32_t query, struct fact **ret);
/* "query\tline\tresult\tseconds\tmemory" and a row for each question, which stand on these lines of the script. "-": not reached, or not known. */
void fact_print_queries(const struct fact *f, const uint32_t *lines, size_t n, struct buffer *ret);
