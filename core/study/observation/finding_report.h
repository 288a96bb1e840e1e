/* A finding as texts: the tables of its folder, and report.md, which can be pasted into an issue tracker as it is. From what is stored; nothing
 * is measured. Threads: any. */
#pragma once

#include "core/study/observation/observation.h"

/* "version\tresult\ttime\tsamples": the versions measured when it was found; the third column is called after the finding's measure. */
int finding_print_times(const struct observation *f, struct buffer *ret);
/* Later measurements, as further rows: a commit for each program. */
struct case_history;
int finding_print_later(struct workspace *w, const struct observation *f, const struct case_history *h, struct buffer *ret);
int finding_report(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);
/* verify.sh: builds the commit responsible and its parent (both versions, where it is not known) from a clean clone, runs them, and says whether it is confirmed. */
bool finding_has_verification(const struct observation *f);
int finding_verification(struct workspace *w, struct solver *s, const struct observation *f, struct buffer *ret);
