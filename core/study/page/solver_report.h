/* report.html: one page of everything known of a solver: its history on a set of cases, a comparison of the last tags, the steps of cases and the
 * responsible commits, the findings of campaigns, the alarms. Reads stored results; measures nothing.
 *
 * The numbers below bound the page and its time. If there is more, the page shows a part, and says at its end what is left out. Wrong answers are
 * counted in the whole store, whatever the page shows.
 *
 * Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

#define REPORT_CASES   1000 /* a larger set: every second case, every third … */
#define REPORT_COMMITS 400  /* more measured ones: first, last, tags for up to half of the places, and of the others every second, every third … */
#define REPORT_CELLS   200000 /* commits × cases: with more than 500 cases fewer commits */
#define REPORT_TAGS    6    /* compared: the newest measured ones */
#define REPORT_ROWS    500  /* of any other table */

struct solver_report_options {
        struct workspace *workspace;
        struct solver *solver;
        const char *set;     /* the cases; NULL: all */
        const char *commits; /* the folder of commits beside the page: "commits/", "cached/". NULL: not in a mount, so no links */
};
/* Appends the page. *ret_mtime: the time of its newest result, in seconds. -ENOENT: no such set. */
int solver_report(const struct solver_report_options *options, struct buffer *ret, int64_t *ret_mtime);
