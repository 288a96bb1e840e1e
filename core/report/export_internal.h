/* Shared by export.c and the formats, each of which is a struct export_kind. */
#pragma once

#include "core/report/export.h"

struct exporter {
        const struct export_kind *kind;
        struct export_target target;
        struct outfile file; /* the document being written; `is_open` */
        bool is_open;
        bool is_begun;                 /* the document's head is written; a format may wait for the first row */
        struct export_version version; /* borrowed */
        uint64_t rows, left_out;       /* rows: of this document */
        struct export_case *cases;     /* asv: by id */
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
/* "time" or "memory", where known, of the samples that count: with the result's verdict, undisturbed if any is. Returns their number. free(*ret). */
size_t row_samples(const struct export_row *row, const char *what, double **ret);
void export_json(struct exporter *e, json_t *j); /* takes the reference */
json_t *export_numbers(const double *list, size_t n, bool are_whole); /* an array */
