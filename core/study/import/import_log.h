/* Lines of a campaign's log, which name findings by their numbers. Pure; any thread. */
#pragma once

#include "cache/base/util.h"

/* Appends the line with the number that its finding has here: numbers[there], for those up to `last`; 0: it is not here, and keeps its number. A line that
 * begins with no finding stays as it is. */
void log_line_import(const char *line, const uint32_t *numbers, uint32_t last, struct buffer *to);
