/* Campaigns as they are kept: what each was asked for, how far it came, where its files are. A finding names the campaign that made it.
 *
 * In the store: TABLE_CAMPAIGNS has settings and status; <store>/campaigns/<solver>/<name>/ has the machine's name and the files that a campaign writes
 * (core/study/campaign/campaign.h). Threads: any, any process. Errors: -ENOENT there is no such campaign, -EIO its record is damaged (both with a
 * sentence); store.h's. */
#pragma once

#include <jansson.h>

#include "core/fuzz/strategy.h"
#include "core/study/observation/observation.h"

enum campaign_kind {
        CAMPAIGN_SLOWDOWNS, /* which input is slower on the target */
        CAMPAIGN_UNKNOWNS   /* which comes back unknown though it, or what implies its answer, was decided (core/weaken) */
};

struct campaign_settings {
        enum campaign_kind kind;
        char *name;        /* default: "solverfs", the target and the seed */
        char **references; /* versions in full; NULL-terminated */
        char *target;
        char **oracles; /* further versions that decide who is right where two contradict each other; NULL-terminated */
        uint64_t seed;
        enum judge_measure
                measure; /* what is looked for: JUDGE_TIME, _MEMORY or _EFFORT; the others go by the clock on the wall */
        double timeout, threshold; /* seconds; the threshold as judge_is_above() has it */
        double seconds;                    /* of work in all */
        uint64_t most_finds;               /* of this call, of any kind; 0: no end. Not kept */
        unsigned jobs;                     /* inputs at once; 0: as many as there are cores */
        char *corpus;                      /* a folder, or NULL */
        char *logic;                       /* of generated formulas: "QF_BV,QF_LIA"; NULL: what all versions answer */
        bool any_pair;                     /* a regression between two references counts, too */
        bool cpu_time; /* every time here is CPU time of the solvers: for a machine that has other work, too */
        bool localize;
        double localize_seconds; /* at its end, in each call, by the clock on the wall; below 0: as long as `seconds`, but a minute at least */
        double reduce_seconds; /* for reductions, all together; 0: none; below 0: half of `seconds` */
        /* A campaign for unknowns has these, too: */
        enum verdict label; /* of all seeds: sat or unsat; VERDICT_UNKNOWN: as each says itself, or as the versions answer */
        unsigned iterations, chain; /* steps for each seed in all, and from the seed on until it begins at the seed again */
        char *fingerprint;          /* of seeds and rules, which a campaign cannot go on without; set by campaign_run() */
};
/* Defaults but for references, target and seconds; name NULL. */
void campaign_settings_new(struct campaign_settings *ret);
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
        uint64_t candidates;  /* that were confirmed, or not */
        uint64_t passed_over; /* further ones, of a kind that was found several times */
        uint64_t finds, soundness, crashes;
        uint64_t rejected; /* candidates that were noise */
        uint64_t skipped;  /* files of the corpus that could not be used */
        /* A campaign for unknowns has these, too. Its `inputs` are mutants, its `candidates` those that came back unknown, its `finds` regressions and
         * implications. */
        uint64_t implications, duplicates; /* of the finds; what had the signature of one that was there */
        uint64_t distinct; /* findings of any kind that no other stands for; known at its end, when they were reduced */
};

/* 1 to CAMPAIGN_NAME_MOST bytes, no point in front, no blank, slash or control character. -EINVAL with a sentence. */
int campaign_check_name(const char *name);

/* NULL-terminated; strings_free(). */
int campaign_names(struct workspace *w, uint32_t solver, char ***ret, size_t *ret_n);
/* Either may be NULL. A status asked for beside the settings is empty where the campaign was killed before it had one. */
int campaign_get(struct workspace *w, uint32_t solver, const char *name, struct campaign_settings *ret_settings,
                 struct campaign_status *ret_status);
/* The settings that decide what a campaign does, without its name: equal texts, equal campaigns. free(). */
char *campaign_decisions(const struct campaign_settings *s);
int campaign_put_settings(struct workspace *w, uint32_t solver, const struct campaign_settings *s); /* under s->name */
int campaign_put_status(struct workspace *w, uint32_t solver, const char *name, const struct campaign_status *s);
void campaign_print_settings(const struct campaign_settings *s, struct buffer *ret); /* lines "key = value" */
void campaign_print_status(enum campaign_kind kind, const struct campaign_status *s, struct buffer *ret); /* lines "key value" */

/* The folder of its files, whether it is there or not. */
int campaign_folder(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE]);
/* Is a process at work on it? A status that says so may be of one that was killed. */
bool campaign_is_running(struct workspace *w, const char *solver, const char *name);
/* The name of the machine that it ran on. -ENOENT: none is recorded. */
int campaign_machine(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE]);
/* Did it run on another machine? False where none is recorded. */
bool campaign_is_elsewhere(struct workspace *w, const char *solver, const char *name, char ret_machine[PATH_SIZE]);

/* What its times are of: {"machine": host_facts(), "versions": {a version in full: the first line that it prints for --version}}. */
int campaign_put_conditions(struct workspace *w, const char *solver, const char *name, const json_t *conditions);
json_t *campaign_get_conditions(struct workspace *w, const char *solver, const char *name); /* a new reference; NULL: none are recorded */
