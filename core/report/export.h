/* Finished results in formats of other tools, written row by row, so that memory does not grow with them.
 *
 *     csv        RFC 4180, a row for a result, all in one file
 *     jsonl      a JSON object on a line for a result, all in one file
 *     benchexec  XML of BenchExec's results, a document for a version: table-generator reads it
 *     hyperfine  JSON of hyperfine's --export-json, one document, or one for each version: hyperfine's scripts read it
 *     asv        a folder of airspeed velocity's results, a document for a version: `asv publish` reads it
 *
 * Numbers are exact: times to the nanosecond, in csv to the microsecond, as in `time`. Names are made printable (buffer_add_printable()) and escaped
 * for the format.
 *
 * Rows of a version must be adjacent; each document is written whole or not at all. Not for several threads at a time. Errors have a sentence. */
#pragma once

#include "core/report/outfile.h"
#include "core/run/fact.h"

struct exporter; /* the formats know its fields: export_internal.h */
struct export_row;

/* A format. */
struct export_kind {
        const char *name;
        bool one_solver;  /* all results must be of one solver */
        bool one_version; /* all results of a document must be of one version */
        bool wants_folder; /* it is several files: a target that is no folder is refused */
        bool reads_run, reads_first_run; /* needs `run` of every row; of a document's first row */
        bool reads_answer;               /* needs `answer` of every row */
        const char *suffix; /* of a version's document in a folder; NULL: one document for all */
        const char *begin; /* text at the beginning of each document; NULL: none */
        int (*head)(struct exporter *e, const struct export_row *first); /* after `begin`, NULL: none; with a head, empty documents are not written */
        void (*row)(struct exporter *e, const struct export_row *row);
        const char *foot; /* text at the end of each document; NULL: none */
        int (*end)(struct exporter *e); /* after the last document; NULL: nothing */
        bool (*can_express)(const struct export_row *row); /* NULL: every row */
};
const struct export_kind *export_kind_find(const char *name); /* NULL: there is none */
#define EXPORT_FORMATS "csv, jsonl, benchexec, asv or hyperfine"

/* A version of a solver under one setting; borrowed while its rows are written. */
struct export_version {
        const char *solver;
        const char *commit;  /* full sha */
        const char *subject; /* the first line of its message, printable */
        int64_t committed;   /* seconds */
        uint32_t place;      /* in the order of the history, from 0 */
        bool has_seed;
        uint64_t seed;
        struct recipe_limits limits; /* the requested ones; a result has its own */
        const char *machine;
};

/* A result; borrowed. */
struct export_row {
        const struct export_version *version;
        uint32_t id;      /* of the case */
        const char *name; /* printable */
        const char *sha256, *logic, *status; /* of the case */
        const struct fact *fact; /* NULL: the commit cannot be built */
        const char *result;      /* "sat,unsat", "unbuildable" */
        const char *check;       /* "correct", "WRONG", "DISPUTED"; "-": nothing to check against */
        const char *effort;      /* "-": none */
        json_t *answer;          /* the result as 'run --json' prints it; only if the format reads_answer */
        json_t *run;             /* run.json; NULL: none */
};

/* One document, to `path` or, if that is NULL, to `write`. If `path` is a folder and the format has a suffix: a document for each version, in it. */
struct export_target {
        const char *path; /* a file, or a folder, made if missing; NULL: `write` */
        bool is_folder;
        mode_t mode; /* of files */
        outfile_write_fn write;
        void *user;
        const char *generator; /* "solverfs 0.1.0" */
};

/* -EINVAL: the format wants a folder. */
int export_open(const struct export_kind *kind, const struct export_target *target, struct exporter **ret);
int export_version(struct exporter *e, const struct export_version *v); /* later rows are of this version */
bool export_wants_run(const struct exporter *e); /* true if the next row needs `run`, which costs more to read than the rest */
int export_row(struct exporter *e, const struct export_row *row);
/* Ends the last document. *ret_left_out: number of rows that the format cannot express (no answer, no time). */
int export_end(struct exporter *e, uint64_t *ret_left_out);
struct exporter *export_close(struct exporter *e); /* returns NULL, and accepts it. Discards an unfinished document. */
DEFINE_CLEANUP(struct exporter *, export_close)
