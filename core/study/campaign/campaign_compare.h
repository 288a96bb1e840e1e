/* Strategies side by side (SPRFinder, section 5.2): what repeated campaigns found, over time. Read from their journals; nothing runs.
 *
 * Threads: any. */
#pragma once

#include "core/report/plot.h"
#include "core/study/observation/campaign_store.h"

/* The yield of one campaign: after at[i] seconds of its work, i + 1 slowdowns and culprits[i] distinct commits responsible for them. */
struct campaign_curve {
        double *at;       /* owned, ascending */
        size_t *culprits; /* owned */
        size_t n;
        double worked;    /* seconds */
        bool has_history; /* its findings can be localized: else there are no culprits to count */
};
/* -ENOENT: there is no such campaign. */
int campaign_curve_read(struct workspace *w, struct solver *s, const char *name, struct campaign_curve *ret);
void campaign_curve_done(struct campaign_curve *c);

struct campaign_spread {
        double least, most, mean;
};
/* Of the ends of several curves. */
struct campaign_spread campaign_spread_finds(const struct campaign_curve *list, size_t n);
struct campaign_spread campaign_spread_culprits(const struct campaign_curve *list, size_t n);
/* The mean of several curves, as a series from 0 to `seconds`. */
void campaign_curve_plot(const struct campaign_curve *list, size_t n, double seconds, bool culprits, struct plot_series *s);
