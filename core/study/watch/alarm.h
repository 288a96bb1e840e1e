/* Prints alarms (observation.h) for people: the reference is the commit before, the target the commit or range, the origin a branch, the reason a detail.
 * Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

/* A side of a case in seconds, in bytes, or as a verdict: "0.012345", "20480000", "timeout", "-". */
void alarm_print_side(const struct observation *a, const struct observed_runs *side, struct buffer *ret);
void alarm_print_factor(const struct observation *a, const struct observed_runs c[2], struct buffer *ret); /* "20.4" or "-" */
/* The command that reproduces an alarm. */
void alarm_print_reproduce(const struct solver *s, const struct observation *a, struct buffer *ret);
/* One line: "toy alarm 3: slower at 1a2b3c4d5e6f (its subject): case 1 0.012345 s, now 0.251838 s, 20.4 times". */
void alarm_print_line(const struct solver *s, const struct observation *a, struct buffer *ret);
/* alarms/<n>: "key value" lines; if there are several cases, an empty line and a table of them. */
int alarm_print(struct workspace *w, const struct solver *s, const struct observation *a, struct buffer *ret);
