/* Runs a script: parses, solves at each check-sat, prints the answers. */
#pragma once
#include "strand.h"
#include <signal.h>

/* Set until the last verdict is printed: an alarm then prints "unknown". */
extern volatile sig_atomic_t script_answering;

/* Returns the exit status: 0, or 1 for bad input. */
int script_run(const char *text, size_t len, const struct strand_options *opt, struct strand_stats *stats, FILE *out);
