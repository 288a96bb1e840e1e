/* A campaign: looks for inputs on which a version is slower than others were (SPRFinder, section 4.1), or comes back unknown where it should
 * decide (Janus: Bringolf, Winterer, Su, ASE 2022), and keeps what it finds.
 *
 * A strategy (core/fuzz/strategy.h) chooses inputs and versions; runners (core/run/runner.h) run them on leased slots, several side by side. Their
 * outcomes go to the campaign's journal, so that a campaign that was ended, killed or cut off by a reboot goes on where it was. A
 * candidate is run again, version by version in turns, and becomes a finding (observation.h) when the slowdown is significant. On the way, versions that
 * contradict each other or crash are findings of their own kinds.
 *
 * Settings and status are kept as campaign_store.h says. The campaign's folder has the journal, and progress.tsv, operators.tsv (rules.tsv) and
 * log, which are written as it goes.
 *
 * Threads: campaign_run() is called by one thread, and starts its own. */
#pragma once

#include "core/engine/engine.h"
#include "core/study/observation/campaign_store.h"

/* Called by the campaign's threads, one at a time. */
struct campaign_watch {
        void (*status)(void *user, const struct campaign_status *s); /* about once a second */
        void (*line)(void *user, const char *line);                  /* for each line of the log */
        void *user;
};

/* Runs a new campaign, or goes on with the one of that name (whose settings must be the same, but for `seconds` and `jobs`: -EEXIST with what
 * differs). Ends when its time is over, the inputs are, or cancel_fd becomes readable (-ECANCELED; it can be taken up again).
 * -EKEYREJECTED: its inputs would not be those of its journal (campaign_check_fingerprint()). -EBUSY: it is running elsewhere. -EINVAL: versions that
 * cannot be compared. -ENODATA: one cannot be built, or the corpus has no input.
 * -ESTALE: the solver was removed. `watch` may be NULL. */
int campaign_run(struct workspace *w, struct engine *e, struct solver *s, const struct campaign_settings *settings,
                 const struct campaign_watch *watch, int cancel_fd);
