/* A campaign: searches for inputs on which a version is slower than others (SPRFinder, section 4.1), or returns unknown though it should decide
 * (Janus: Bringolf, Winterer, Su, ASE 2022), and keeps its findings.
 *
 * A strategy (core/fuzz/strategy.h) chooses inputs and versions; runners (core/run/runner.h) run them on leased slots, several in parallel. The outcomes
 * go to the campaign's journal, so that a campaign that was ended, killed or interrupted by a reboot continues where it was. A candidate is run again,
 * the versions taking turns, and becomes a finding (observation.h) if the slowdown is significant. Contradictions between versions and crashes are
 * findings of their own kinds.
 *
 * campaign_store.h keeps settings and status. The campaign's folder has the journal, and progress.tsv, operators.tsv (rules.tsv) and log, which are
 * written during the campaign.
 *
 * Threads: campaign_run() is called by one thread, and starts its own. */
#pragma once

#include "core/engine/engine.h"
#include "core/study/observation/campaign_store.h"

struct campaign_watch { /* either function may be NULL */
        void (*status)(void *user, const struct campaign_status *s); /* about once a second, by one thread */
        void (*line)(void *user, const char *line);                  /* for each line of the log, by any of the campaign's threads */
        void *user;
};

/* Runs a new campaign, or continues the one of that name. Ends when the time is over, there are no more inputs, `most_finds` are found, or cancel_fd
 * becomes readable (-ECANCELED; it can be continued). `watch` may be NULL. -EEXIST: the known campaign has other campaign_decisions(), or ran on
 * another machine. -EKEYREJECTED: the inputs would not be those of the journal (campaign_check_fingerprint()), or another solverfs wrote it. -EBUSY:
 * it is running elsewhere. -EINVAL: the versions cannot be compared. -ENODATA: one cannot be built, or the corpus has no input. -ESTALE: the solver
 * was removed. */
int campaign_run(struct workspace *w, struct engine *e, struct solver *s, const struct campaign_settings *settings,
                 const struct campaign_watch *watch, int cancel_fd);
