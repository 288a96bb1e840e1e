/* Stored campaigns: their settings, status and files. A finding names the campaign that made it.
 *
 * In the store: TABLE_CAMPAIGNS has settings and status; <store>/campaigns/<solver>/<name>/ has the machine's name and the files that a campaign writes
 * (core/study/campaign/campaign.h). Threads: any, any process. Errors: -ENOENT: no such campaign; -EIO: its record is damaged (both with a sentence);
 * those of store.h. */
#pragma once

#include <jansson.h>

#include "core/fuzz/strategy.h"
#include "core/study/observation/observation.h"

enum campaign_kind {
        CAMPAIGN_SLOWDOWNS, /* inputs slower on the target */
        CAMPAIGN_UNKNOWNS   /* inputs unknown to the target though they, or formulas that imply their answers, were decided (core/weaken) */
};

struct campaign_settings {
        enum campaign_kind kind;
        char *name;
        char **references; /* versions, in full once they are stored; NULL-terminated */
        char *target;
        char **oracles; /* further versions that settle contradictions between two; NULL-terminated */
        uint64_t seed;
        enum judge_measure measure; /* searched for: JUDGE_TIME, _MEMORY or _EFFORT; the latter two use wall-clock limits */
        double timeout, threshold; /* of a run, in seconds; the threshold as for judge_is_above() */
        double seconds;                    /* of work, over all calls */
        uint64_t most_finds;               /* this call ends after so many, of any kind; 0: no limit. Not stored */
        unsigned jobs;                     /* inputs at once; 0: one per core */
        char *corpus;                      /* a folder of inputs; NULL: they are generated */
        char *logic;                       /* of generated formulas: "QF_BV,QF_LIA"; NULL: strings, or what all versions decide */
        bool any_pair;                     /* a regression between two references counts, too */
        bool cpu_time; /* `timeout`, `threshold` and `seconds` are CPU time of the solvers, for a machine with other work */
        bool localize;
        double localize_seconds; /* for localizations at the end of each call, wall-clock; below 0: as `seconds`, but at least a minute */
        double reduce_seconds; /* for all reductions together; 0: none; below 0: half of `seconds` */
        /* A campaign for unknowns has these, too. Its seeds are the formulas of the corpus: */
        enum verdict label; /* expected of all seeds; VERDICT_UNKNOWN: by each seed's status or file name, else the versions' answers */
        unsigned iterations, chain; /* steps per seed in total, and per chain before the next one begins at the seed again */
        char *fingerprint;          /* of every campaign: hashes of what must not change when it continues; set by campaign_run(); NULL: not yet */
};
/* Defaults, except for references, target and seconds; name is NULL. */
void campaign_settings_new(struct campaign_settings *ret);
void campaign_settings_done(struct campaign_settings *s);
#define cleanup_campaign_settings cleanup(campaign_settings_done)

enum campaign_state {
        CAMPAIGN_STOPPED, /* before its end; can be continued */
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
        uint64_t candidates;  /* inputs whose first runs show what is looked for, confirmed or not */
        uint64_t passed_over; /* further candidates, of a kind found several times already */
        uint64_t finds, soundness, crashes; /* inputs found, by kind; a finding may represent several */
        uint64_t rejected; /* candidates that more runs did not confirm */
        uint64_t skipped;  /* files of the corpus that could not be used */
        /* A campaign for unknowns has these, too. Its `inputs` are mutants, its `candidates` those that came back unknown, its `finds` regressions and
         * implications. */
        uint64_t implications, duplicates; /* implications: of the finds; duplicates: inputs with the signature of a known one */
        uint64_t distinct; /* findings of any kind that no other represents, as grouped last (finding_select.h); 0: not yet */
};

/* A name has 1 to CAMPAIGN_NAME_MOST bytes, no leading point, no blank, slash or control character, nor is it "compare". -EINVAL with a sentence. */
int campaign_check_name(const char *name);

/* NULL-terminated; strings_free(). */
int campaign_names(struct workspace *w, uint32_t solver, char ***ret, size_t *ret_n);
/* Settings, status, or both; either may be NULL. With settings, the status is empty if the campaign was killed before it had one. */
int campaign_get(struct workspace *w, uint32_t solver, const char *name, struct campaign_settings *ret_settings, struct campaign_status *ret_status);
/* The settings that determine which inputs a campaign tries and finds, as text: equal texts, equal campaigns. free(). "" if a path is no UTF-8. */
char *campaign_decisions(const struct campaign_settings *s);
int campaign_put_settings(struct workspace *w, uint32_t solver, const struct campaign_settings *s); /* under s->name */
int campaign_put_status(struct workspace *w, uint32_t solver, const char *name, const struct campaign_status *s);
void campaign_print_settings(const struct campaign_settings *s, struct buffer *ret); /* lines "key = value" */
void campaign_print_status(const struct campaign_settings *of, const struct campaign_status *s, struct buffer *ret); /* lines "key value" */

/* The folder of a campaign's files; it may not exist. -EINVAL with a sentence: not a name (a record from another store may have any bytes). */
int campaign_folder(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE]);
/* True if a process is at work on the campaign. A status CAMPAIGN_RUNNING may be left from a killed process. */
bool campaign_is_running(struct workspace *w, const char *solver, const char *name);
/* The name of the machine that the campaign ran on. -ENOENT: none is recorded. */
int campaign_machine(struct workspace *w, const char *solver, const char *name, char ret[PATH_SIZE]);
/* True if the campaign ran on another machine; false if none is recorded. */
bool campaign_is_elsewhere(struct workspace *w, const char *solver, const char *name, char ret_machine[PATH_SIZE]);
/* The same for a finding's runs: the machine recorded with the finding, else its campaign's. */
int finding_machine(struct workspace *w, const char *solver, const struct observation *f, char ret[PATH_SIZE]);
bool finding_is_elsewhere(struct workspace *w, const char *solver, const struct observation *f, char ret_machine[PATH_SIZE]);

/* The conditions of the campaign's times: {"machine": host_facts(), "versions": {a version in full: the first line that it prints for --version}}. */
int campaign_put_conditions(struct workspace *w, const char *solver, const char *name, const json_t *conditions);
json_t *campaign_get_conditions(struct workspace *w, const char *solver, const char *name); /* a new reference; NULL: none are recorded */
