/* Shared by export.c and the formats, each of which is a struct export_kind. */
#pragma once

#include "core/report/export.h"

struct exporter {
        const struct export_kind *kind;
        struct export_target target;
        struct outfile file; /* if `is_open`: the document being written */
        bool is_open;
        bool is_begun;                 /* the document's head is written; a format may wait for the first row */
        struct export_version version; /* borrowed */
        uint64_t rows, left_out;       /* rows written to this document; rows that the format cannot express, of all documents */
        struct export_case *cases;     /* owned; for asv: the cases with a result so far, by id */
        size_t n_cases;
};

extern const struct export_kind export_csv, export_jsonl, export_benchexec, export_asv, export_hyperfine;

struct export_case {
        uint32_t id;
        char *name, *sha256; /* owned */
};

/* "0.123456789", without trailing zeros: seconds, exactly. */
void format_exact(uint64_t ns, char ret[32]);
/* A part of a file's name: letters, digits and ._+- unchanged, others as "_"; never empty, hidden or long. */
void file_word(const char *text, char ret[81]);
/* Opens <folder>/<name>; makes <folder> if missing. */
int export_file(struct exporter *e, const char *name);
/* Lists `what` ("time" or "memory"), where known, of the run's samples that have the result's verdict; if any of them is undisturbed, of the
 * undisturbed ones only. Returns the number of values. free(*ret). */
size_t row_samples(const struct export_row *row, const char *what, double **ret);
void export_json(struct exporter *e, json_t *j); /* takes the reference */
json_t *export_numbers(const double *list, size_t n, bool are_whole); /* an array; `are_whole`: of integers */
