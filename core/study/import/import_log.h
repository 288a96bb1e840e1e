/* Lines of a campaign's log, which name findings by their numbers. Pure; any thread. */
#pragma once

#include "cache/base/util.h"

/* Appends a line with its finding's number here: numbers[there], for numbers up to `last`; 0: not here, and the line keeps its number. A line that does
 * not begin with a finding stays as it is. */
void log_line_import(const char *line, const uint32_t *numbers, uint32_t last, struct buffer *to);
