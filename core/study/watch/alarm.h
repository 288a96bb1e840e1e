/* Alarms as text. An alarm is a struct observation. In the file alarms/<n> its target is the line `commit` (perhaps a range), its reference `parent`, its
 * origin `branch`, its reason `detail`. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

/* The runs of a case before or after the alarm's commit, as seconds, for ALARM_MEMORY as bytes, or as a verdict: "0.012345", "20480000", "timeout"; "-":
 * not known. */
void alarm_print_side(const struct observation *a, const struct observed_runs *side, struct buffer *ret);
void alarm_print_factor(const struct observation *a, const struct observed_runs c[2], struct buffer *ret); /* of before and after: "20.4" or "-" */
/* The command that reproduces an alarm. */
void alarm_print_reproduce(const struct solver *s, const struct observation *a, struct buffer *ret);
/* One line: "toy alarm 3: slower at 1a2b3c4d5e6f (its subject): case 1 0.012345 s, now 0.251838 s, 20.4 times". */
void alarm_print_line(const struct solver *s, const struct observation *a, struct buffer *ret);
/* alarms/<n>: "key value" lines; if there are several cases, an empty line and a table of them. */
int alarm_print(struct workspace *w, const struct solver *s, const struct observation *a, struct buffer *ret);
