/* What the commands that print formulas share: where they go. */
#pragma once

#include "command.h"

struct formula_output {
        unsigned n;         /* that are wanted */
        const char *folder; /* or NULL: one, to standard output */
        const char *stem, *ending; /* of the names of files: STEM-SEED-1.ENDING */
        uint64_t seed;
        unsigned done;
};
#define FORMULA_OUTPUT_OPTIONS(o)                                                                                         \
        {NULL, 'n', "N", "How many; more than one need --output", .number = &(o).n, .least = 1, .most = 10000000},        \
        {"output", 'o', "DIR", "Write files into this folder, KIND-SEED-1.smt2 and so on", .text = &(o).folder}

/* Makes the folder where there is none. Ends the command where it cannot. */
void formula_output_begin(struct formula_output *o, const char *stem, uint64_t seed, const char *ending);
bool formula_output_wants(const struct formula_output *o); /* one more */
void formula_output_add(struct formula_output *o, const struct buffer *text);
/* A row of --list. */
void formula_list_row(const char *name, const char *what);
