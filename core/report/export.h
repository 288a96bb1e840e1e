/* Finished results as other tools read them: written row by row, so that memory does not grow with them.
 *
 *     csv        RFC 4180, a row for a result, all in one file
 *     jsonl      a JSON object on a line for a result, all in one file
 *     benchexec  XML of BenchExec's results, a document for a version: table-generator reads it
 *     hyperfine  JSON of hyperfine's --export-json, one document, or one for each version: hyperfine's scripts read it
 *     asv        a folder of airspeed velocity's results, a document for a version: `asv publish` reads it
 *
 * Numbers are exact: times to the nanosecond, and to the microsecond in csv, where they are those of `time`. Names are printed as everywhere
 * (buffer_add_printable()), and escaped as the format asks.
 *
 * Rows of a version stand together; each document is there whole, or not at all. Not for several threads at a time. Errors have a sentence. */
#pragma once

#include "core/report/outfile.h"
#include "core/run/fact.h"

enum export_format {
        EXPORT_CSV,
        EXPORT_JSONL,
        EXPORT_BENCHEXEC,
        EXPORT_ASV,
        EXPORT_HYPERFINE,
        N_EXPORT_FORMATS
};
bool export_format_find(const char *name, enum export_format *ret);
#define EXPORT_FORMATS "csv, jsonl, benchexec, asv or hyperfine"

/* A version of a solver, under one setting; all borrowed for as long as its rows are written. */
struct export_version {
        const char *solver;
        const char *commit;  /* full sha */
        const char *subject; /* the first line of its message, printable */
        int64_t committed;   /* seconds */
        uint32_t place;      /* in the order of the history, from 0 */
        bool has_seed;
        uint64_t seed;
        struct recipe_limits limits; /* that were asked for; those of the results are theirs */
        const char *machine;
};

/* A result; borrowed. */
struct export_row {
        const struct export_version *version;
        uint32_t id;      /* of the case */
        const char *name; /* printable */
        const char *sha256, *logic, *status;
        const struct fact *fact; /* NULL: the commit cannot be built */
        const char *result;      /* "sat,unsat", "unbuildable" */
        const char *check;       /* cell_check() */
        const char *effort;      /* "-": none */
        json_t *answer;          /* cell_answer_json(); jsonl only */
        json_t *run;             /* run.json; NULL: none */
};

struct export_target {
        const char *path; /* a file, or a folder, which is made; NULL: `write` */
        bool is_folder;
        mode_t mode; /* of files */
        outfile_write_fn write;
        void *user;
        const char *generator; /* "solverfs 0.1.0" */
};

struct exporter;
/* -EINVAL: the format wants a folder. */
int export_open(enum export_format format, const struct export_target *target, struct exporter **ret);
int export_version(struct exporter *e, const struct export_version *v); /* from now on rows are its */
bool export_wants_run(const struct exporter *e); /* the next row's `run`: reading it costs more than the rest of a row */
int export_row(struct exporter *e, const struct export_row *row);
/* Ends the last document. Rows that the format has no word for (no answer, no time): *ret_left_out. */
int export_end(struct exporter *e, uint64_t *ret_left_out);
struct exporter *export_close(struct exporter *e); /* NULL; NULL is fine. Documents that were not ended are gone. */
DEFINE_CLEANUP(struct exporter *, export_close)
