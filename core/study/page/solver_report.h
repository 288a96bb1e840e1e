/* report.html: one page of all that is known of a solver. Its history on a set of cases, the last tags compared, where cases got slower and faster and by
 * which commits, what campaigns found, the alarms. From what is stored; nothing is measured.
 *
 * The page and the time that it takes are bounded by the numbers below. Where there is more, the page shows a part and says which, in the place and at
 * its end. Wrong answers are the exception: all are counted, wherever they are.
 *
 * Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

#define REPORT_CASES   1000 /* of a larger set: every second, every third … */
#define REPORT_COMMITS 400  /* of more that are measured: first, last, tags, and of the others every second, every third … */
#define REPORT_CELLS   200000 /* commits × cases: with more than 500 cases fewer commits */
#define REPORT_TAGS    6    /* that are compared: the newest that are measured */
#define REPORT_ROWS    500  /* of any other table */

struct solver_report_options {
        struct workspace *workspace;
        struct solver *solver;
        const char *set;     /* the cases; NULL: all */
        const char *commits; /* the folder beside the page that has the commits: "commits/", "cached/". NULL: it stands in no mount, and has no links */
};
/* Appends the page. *ret_mtime: seconds; when the newest of it was found out. -ENOENT: no such set. */
int solver_report(const struct solver_report_options *options, struct buffer *ret, int64_t *ret_mtime);
