/* A solver that is slow on purpose: forty causes of slowness, each an operator under another under a third, each brought in by a commit of its own. What a campaign is
 * tried on: how many of the causes does it find?. */
#pragma once

#include "core/smtlib/script.h"

#define PLANTED_CAUSES 40

const char *planted_name(unsigned cause);
/* Which causes a formula has, as bits. */
uint64_t planted_causes(const struct script *s);
/* Seconds that version `version` takes: 0 has none of the causes, n has the first n. Repeats itself; the noise is a few per cent. */
double planted_seconds(const struct script *s, unsigned version, double timeout);
