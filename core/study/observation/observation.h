/* Observations: findings of campaigns and alarms of watches, kept for good in one kind of record: the versions, the cases, the runs that showed it, and
 * its fate. Everything else (a reduced input, the responsible commits) is derived from that.
 *
 * Findings and alarms are two series. Numbers are dense from 1 per solver and series, and given once. Each series has its own rule for which observation
 * is known already: see observation_add().
 *
 * The input of a finding is an unlisted case of the store (cases.h), so that it is measured, cached and localized like any case. An alarm is a commit
 * with the cases that it made slower, undecided, wrong or contradictory, or a commit that cannot be built though its parent can.
 *
 * Threads: any; a shared observation is never written to. Errors: -ENOENT: no such observation; -EIO: its record is damaged (both with a sentence);
 * those of store.h. */
#pragma once

#include "core/workspace/workspace.h"
#include "core/study/judge/judge.h"

enum observation_kind {
        FINDING_SLOWDOWN,    /* a slowdown: the target takes more than the reference (time, or by the measure memory or effort) */
        FINDING_SOUNDNESS,   /* versions contradict each other, or the input's status */
        FINDING_CRASH,       /* a version crashed */
        FINDING_REGRESSION,  /* decided by the reference, unknown to the target */
        FINDING_IMPLICATION, /* unknown to the target, which decided the formula that implies the answer */
        N_FINDING_KINDS, /* records have these numbers: a new alarm goes last; a new kind of finding would renumber the alarms */
        ALARM_SLOWER = N_FINDING_KINDS, /* solved before and after, in more time */
        ALARM_LOST,                     /* solved before and not any more: timeout, unknown, crash … */
        ALARM_WRONG,                    /* an answer that contradicts the status of its case */
        ALARM_CONTRADICTION,            /* sat against unsat, with no known answer */
        ALARM_UNBUILDABLE,              /* the commit cannot be built, and its parent can */
        ALARM_MEMORY,                   /* solved before and after, with more memory */
        N_OBSERVATION_KINDS
};
const char *observation_kind_name(enum observation_kind k); /* "spr" … */
const char *observation_folder(enum observation_kind k);    /* its folder in the tree: "spr", "soundness", "incompleteness" or "alarms" */

enum observation_series {
        OF_CAMPAIGNS, /* findings */
        OF_WATCHES,   /* alarms */
};

/* An observation's fate with the solver's developers. */
enum observation_mark {
        MARK_NONE,
        MARK_REPORTED,
        MARK_CONFIRMED,
        MARK_FIXED,
        MARK_REJECTED,
        N_MARKS
};
const char *observation_mark_name(enum observation_mark m); /* "" … */
/* -EINVAL with a sentence, in which `what` names the marked thing: "a finding". */
int observation_mark_parse(const char *what, const char *name, enum observation_mark *ret);

/* One version's runs on a case. */
struct observed_runs {
        uint32_t case_id;
        char *version; /* in full (version.h); of an alarm also A..B, or "" */
        enum verdict verdict;
        /* An amount for each run, in order: seconds; for ALARM_MEMORY and a finding by memory bytes; for one by effort the solver's count. A run
         * without an answer counts, in seconds, as its limit if it timed out or is of a slowdown's reference; by memory or effort, as the most (the
         * memory limit or observation_no_answer_amount()) if it is the reference's, and as 0 if it is the target's, unless the memory limit ended it. */
        double *amounts; /* owned */
        uint32_t n;      /* may be 0 in an alarm to which times do not matter */
};

struct observation {
        unsigned refs;
        uint32_t solver, number; /* number: 0 until it is added */
        enum observation_kind kind;
        int64_t found, changed; /* seconds since 1970; changed: of an alarm, when it was last found or marked */
        int64_t told;           /* of an alarm: when the user's command took it (or, without a command, when it was logged); 0: not yet */
        uint32_t case_id;       /* of the input; of an alarm the worst case, 0: none */
        uint32_t seed_id;       /* the case that the input was made from; 0: none */
        uint32_t decided_id;    /* the case of the formula before the last rule, if an implied answer is missing or contradicted; else 0 */
        char *origin;           /* the campaign, or COMPARED_ORIGIN; of an alarm the branch */
        /* Versions; only the target if one counts. Of an alarm, the target is the commit, or A..B (a git range) if those between cannot be built or told
         * apart; the reference is the commit before it, "" if none was looked at. */
        char *reference, *target;
        double timeout;   /* of every run, seconds; of an alarm 0: the recipe's */
        double threshold; /* of a slowdown, by how much the target must exceed the reference: seconds, or a ratio by memory or effort (judge_is_above()) */
        enum judge_measure measure; /* of a slowdown: JUDGE_TIME, _MEMORY or _EFFORT; else JUDGE_TIME */
        bool is_cpu_time; /* all times of the observation are CPU times */
        uint64_t seed;    /* of the solver, under which a finding's answers were given; 0: its default */
        /* The evidence. Of a finding, a row for each version measured when it was found. Of an alarm, two rows for each case, before and after it, the
         * worst case first. */
        struct observed_runs *runs;
        size_t n_runs;
        char *chain; /* how the input was made from the seed: lines "rule\tdirection\tplace"; may be empty */
        /* Why the target answers unknown, in its own words (get-info :reason-unknown). Of an alarm, a printable sentence: why it cannot be built, which
         * versions contradict each other. May be empty. */
        char *reason;
        /* Equal for findings of one cause: kind, version, logic, last rule and direction, operators that the rule added, reason; separated by tabs. "" if
         * every input is a finding of its own. */
        char *signature;
        char *subject; /* of an alarm: first line of the commit's message, printable */
        enum observation_mark mark;
        char *url;
        const char *machine; /* borrowed; of a finding's runs; only for observation_add(): finding_machine() reads it. NULL: its campaign's */
};
struct observation *observation_new(void); /* one reference, everything empty, never NULL strings */
DECLARE_REFS(observation)
#define cleanup_observation cleanup(observation_unrefp)
enum observation_series observation_series(const struct observation *o);
/* Adds the n runs of a version, on the observation's case or on a further one. */
void observation_add_case_runs(struct observation *o, uint32_t case_id, const char *version, enum verdict verdict, const double *amounts, uint32_t n);
void observation_add_runs(struct observation *o, const char *version, enum verdict verdict, const double *amounts, uint32_t n);
const struct observed_runs *observation_runs_of(const struct observation *o, const char *version); /* NULL: it was not measured */
double observation_no_answer_amount(enum judge_measure m); /* memory 1 TiB, effort 1e18: no run takes more */
/* The lower median of a version's amounts; 0: not measured. */
double observation_amount(const struct observation *o, const char *version);
/* True if the limit ended the version's median run: it would have taken more. */
bool observation_is_limited(const struct observation *o, const char *version);
/* The number of a slowdown's pairs of runs that show it: the target takes more by more than its threshold. *ret_pairs: all pairs; 0: one of the two was
 * not measured. */
unsigned observation_pairs_shown(const struct observation *o, unsigned *ret_pairs);

/* Case i of an alarm: its runs before and after. NULL: there are no more. */
const struct observed_runs *alarm_case(const struct observation *a, size_t i);
/* True for more time or memory, not for a changed answer. */
bool alarm_is_growth(enum observation_kind k);
/* after / before of a case solved on both sides; NaN: nothing to divide. */
double alarm_factor(const struct observed_runs c[2]);
/* True if the alarm names a single commit: the target is no range, and the commit before it was looked at (`reference`). */
bool alarm_is_localized(const struct observation *a);
/* The target, or the last commit of a range. */
const char *observation_target(const struct observation *o);

/* -- in the store --------------------------------------------------------------------------------------------------- */

/* Stores an observation on disk under a new number, o->number. 1: it was known already; its record stays, and o->number is the known one's.
 *
 * A finding is known by its bytes, its kind, its measure and its two versions. An alarm is known by its cause, even if the watch was killed since: its
 * kind and commit, or its kind and case if the oldest known version already answers wrongly. Sorts an alarm's cases. */
int observation_add(struct workspace *w, struct observation *o);
/* Explanations of an observation, as Markdown for its report; the last one of its kind counts. They come from core/why, a room above this one. */
enum explanation {
        EXPLAINED_OPTIONS,    /* the option that restores the reference's behaviour */
        EXPLAINED_DIVERGENCE, /* where the two runs part */
        N_EXPLANATIONS
};
int observation_explain(struct workspace *w, const struct observation *o, enum explanation e, const char *text);
int observation_explained(struct workspace *w, const struct observation *o, enum explanation e, struct blob *ret); /* -ENOENT: nobody asked */

/* The finding with these bytes, and the solver, kind, measure and versions of `f`. -ENOENT. */
int observation_find(struct workspace *w, const struct observation *f, struct slice input, struct observation **ret);
/* Finds the observation that a word such as "spr/3" or "alarms/1" names: 1. 0: the word is not of this form. -ENOENT with a sentence. */
int observation_named(struct workspace *w, uint32_t solver, const char *word, struct observation **ret);
int observation_get(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, struct observation **ret);
/* The format of the input; FORMAT_SMT2 if the input is lost. */
enum format observation_format(struct workspace *w, const struct observation *o);
int observation_set_mark(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, enum observation_mark mark,
                         const char *url);
int observation_set_told(struct workspace *w, uint32_t solver, uint32_t number, int64_t when); /* of an alarm */
/* The observations of a solver in one folder, by number; `folder` NULL: all findings. */
struct observations {
        struct observation **list; /* owned; a reference to each */
        size_t n;
};
int observations_read(struct workspace *w, uint32_t solver, const char *folder, struct observations *ret);
void observations_done(struct observations *o);
#define cleanup_observations cleanup(observations_done)
/* The number of a solver's observations; cheap, for listings that check for changes. */
int observations_last(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t *ret);

/* The number of a campaign's inputs that each finding represents, including itself: those with its signature. */
struct finding_count {
        uint32_t number;
        uint64_t n;
};
int finding_put_counts(struct workspace *w, uint32_t solver, const char *campaign, const struct finding_count *list, size_t n);
int finding_get_count(struct workspace *w, uint32_t solver, uint32_t number,
                      uint64_t *ret); /* over all campaigns; 1 if none counted */
/* The counts of each campaign; free(*ret), also after an error. */
#define CAMPAIGN_NAME_MOST 100 /* bytes */
struct campaign_count {
        char campaign[CAMPAIGN_NAME_MOST + 1];
        uint64_t n;
};
int finding_counts(struct workspace *w, uint32_t solver, uint32_t number, struct campaign_count **ret, size_t *ret_n);
