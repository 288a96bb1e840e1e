/* A campaign: looks for inputs on which a version is slower than others were (SPRFinder, section 4.1), or comes back unknown where it should
 * decide (Janus: Bringolf, Winterer, Su, ASE 2022), and keeps what it finds.
 *
 * A strategy (core/fuzz/strategy.h) chooses inputs and versions; runners (core/run/runner.h) run them on leased slots, several side by side. Their
 * outcomes go to the campaign's journal, so that a campaign that was ended, killed or cut off by a reboot goes on where it was. A
 * candidate is run again, version by version in turns, and becomes a finding (finding.h) when the slowdown is significant. On the way, versions that
 * contradict each other or crash are findings of their own kinds.
 *
 * In the store: TABLE_CAMPAIGNS has settings and status; <store>/campaigns/<solver>/<name>/ has the journal, and progress.tsv,
 * operators.tsv and log, which are written as it goes.
 *
 * Threads: campaign_run() is called by one thread, and starts its own. Everything else: any thread, any process. */
#pragma once

#include "core/fuzz/strategy.h"
#include "core/study/campaign/finding.h"
#include "core/study/base/version.h"

enum campaign_kind {
        CAMPAIGN_SLOWDOWNS, /* which input is slower on the target */
        CAMPAIGN_UNKNOWNS   /* which comes back unknown though it, or what implies its answer, was decided (core/weaken) */
};

#define CAMPAIGN_REDUCE_SHARE   0.25
#define CAMPAIGN_LOCALIZE_LEAST 60.0 /* seconds */

struct campaign_settings {
        enum campaign_kind kind;
        char *name;        /* default: the strategy's and the target's */
        char **references; /* versions in full; NULL-terminated */
        char *target;
        char **oracles; /* further versions that decide who is right where two contradict each other; NULL-terminated */
        enum strategy_kind strategy;
        uint64_t seed;
        double timeout, threshold, window; /* seconds */
        double seconds;                    /* of work in all */
        uint64_t most_finds;               /* of this call, of any kind; 0: no end. Not kept */
        unsigned jobs;                     /* inputs at once; 0: as many as there are cores */
        char *corpus;                      /* a folder, or NULL */
        bool any_pair;                     /* a regression between two references counts, too */
        bool cpu_time; /* every time here is CPU time of the solvers: for a machine that has other work, too */
        bool localize;
        double localize_seconds; /* at its end, in each call, by the clock on the wall; below 0: as long as `seconds`, but a minute at least */
        double reduce_seconds; /* for reductions at its end, all together; 0: none; below 0: that share of `seconds` */
        /* Of a hunt for unknowns: */
        enum verdict label; /* of all seeds: sat or unsat; VERDICT_UNKNOWN: as each says itself, or as the versions answer */
        unsigned iterations, chain; /* steps for each seed in all, and from the seed on until it begins at the seed again */
        char *fingerprint;          /* of seeds and rules, which a campaign cannot go on without; set by campaign_run() */
};
/* Defaults but for references, target and seconds; name NULL. -ENOMEM. */
int campaign_settings_new(struct campaign_settings *ret);
void campaign_settings_done(struct campaign_settings *s);
#define cleanup_campaign_settings cleanup(campaign_settings_done)

enum campaign_state {
        CAMPAIGN_STOPPED, /* not at its end; it can be taken up again */
        CAMPAIGN_RUNNING,
        CAMPAIGN_FINISHED,
        N_CAMPAIGN_STATES
};
const char *campaign_state_name(enum campaign_state s);

struct campaign_status {
        enum campaign_state state;
        int64_t begun, changed; /* seconds since 1970 */
        double worked;          /* seconds */
        uint64_t inputs, runs;
        double solving; /* seconds of all runs together */
        uint64_t candidates;
        uint64_t finds, soundness, crashes;
        uint64_t rejected; /* candidates that were noise */
        uint64_t skipped;  /* files of the corpus that could not be used */
        /* Of a hunt for unknowns; `inputs` are mutants, `candidates` those that came back unknown, `finds` regressions and implications. */
        uint64_t implications, duplicates; /* of the finds; what had the signature of one that was there */
        uint64_t distinct; /* findings of any kind that no other stands for; known at its end, when they were reduced */
};

/* Runs a new campaign, or goes on with the one of that name (whose settings must be the same, but for `seconds` and `jobs`: -EEXIST with what
 * differs). Ends when its time is over, the inputs are, or cancel_fd becomes readable (-ECANCELED; it can be taken up again).
 * -EBUSY: it is running elsewhere. -EINVAL: versions that cannot be compared. -ENODATA: one cannot be built, or the corpus has no input.
 * -ESTALE: the solver was removed. `tell` gets the status about once a second, and a line for each finding; may be NULL. */
struct campaign_watch {
        void (*status)(void *user, const struct campaign_status *s);
        void (*line)(void *user, const char *line);
        void *user;
};
int campaign_run(struct workspace *w, struct engine *e, struct solver *s, const struct campaign_settings *settings,
                 const struct campaign_watch *watch, int cancel_fd);

/* -- looking -- */

/* NULL-terminated; strings_free(). */
int campaign_names(struct workspace *w, uint32_t solver, char ***ret, size_t *ret_n);
int campaign_get(struct workspace *w, uint32_t solver, const char *name, struct campaign_settings *ret_settings,
                 struct campaign_status *ret_status);
void campaign_print_settings(const struct campaign_settings *s, struct buffer *ret); /* lines "key = value" */
void campaign_print_status(enum campaign_kind kind, const struct campaign_status *s, struct buffer *ret);
/* The folder of its files. */
int campaign_folder(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE]);
/* The machine that it ran on. -ENOENT: it does not say. */
int campaign_machine(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE]);
/* False: on this one, or it is not known. */
bool campaign_is_elsewhere(struct workspace *w, const char *solver, const char *name, char ret_machine[PATH_SIZE]);
