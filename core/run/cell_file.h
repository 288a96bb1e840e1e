/* The content of the files of a cell. The mount's <case>/time and the command's --print are the same bytes; the columns of its tables and the numbers
 * of run.json are the same values. */
#pragma once

#include "core/run/fact.h"

enum cell_file {
        CELL_TIME,
        CELL_CPUTIME,
        CELL_MEMORY,
        CELL_RESULT, /* the last one that a brief fact has */
        CELL_STDOUT,
        CELL_STDERR,
        CELL_RUN_JSON,
        CELL_QUERIES, /* fact_print_queries(), which needs the script: core/query/cell_answer.h */
        CELL_EFFORT,  /* effort_print(), which needs the recipe: core/run/effort.h */
};
bool cell_file_find(const char *name, enum cell_file *ret); /* by the name in the mount: "run.json" */
bool cell_file_is_brief(enum cell_file file);               /* true if a brief fact has it */
/* Prints any file but CELL_QUERIES and CELL_EFFORT. `f` NULL: the commit cannot be built; then only CELL_RESULT has content. */
void cell_file_print(const struct fact *f, enum cell_file file, struct buffer *ret);

/* "0.123456": seconds, as in `time`; rounded as "%.6f" rounds them, so tables of numbers have the same. */
struct short_text format_seconds(uint64_t ns);
/* Bytes; "-" for 0, which is not known: no process has none. */
struct short_text format_memory(uint64_t bytes);
json_t *json_memory(uint64_t bytes); /* the same: null for 0 */
/* The results in one line: "sat", with several check-sat "sat,unsat"; "unbuildable" when f is NULL. */
void cell_results(const struct fact *f, struct buffer *ret);
/* Adds "wrong", "disturbed", "time", "cputime" and "memory" (null: not known). `f` is not NULL. */
void cell_numbers(const struct fact *f, json_t *object);
