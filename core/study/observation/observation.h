/* Observations: what campaigns found (findings) and what watches met (alarms), kept for good in one kind of record: between which versions, on which
 * cases, the runs that showed it, and what became of it. Everything else (a reduced input, the commits responsible) is worked out from that.
 *
 * Findings and alarms are two series. Numbers are a solver's and a series', dense from 1, given once. Which observation is known already depends on the
 * series: see observation_add().
 *
 * The input of a finding is an unlisted case of the store (cases.h), so that it is measured, cached and localized as every case is. An alarm is a commit
 * with the cases that it made slower, undecided, wrong or contradictory, or a commit that cannot be built while its parent can.
 *
 * Threads: any; an observation that others see is not written to. Errors: -ENOENT no such observation; -EIO its record is damaged (both with a
 * sentence); store.h's. */
#pragma once

#include "core/workspace/workspace.h"
#include "core/study/judge/judge.h"

enum observation_kind {
        FINDING_SPR,         /* slower on the target than on the reference; by its measure, in need of more memory or effort */
        FINDING_SOUNDNESS,   /* versions contradict each other, or the input's status */
        FINDING_CRASH,       /* a version crashed */
        FINDING_REGRESSION,  /* decided by the reference, unknown to the target */
        FINDING_IMPLICATION, /* decided, and unknown to the same version after an implied mutation */
        N_FINDING_KINDS,
        ALARM_SLOWER = N_FINDING_KINDS, /* solved before and after, in more time */
        ALARM_LOST,                     /* solved before and not any more: timeout, unknown, crash … */
        ALARM_WRONG,                    /* an answer that contradicts the status of its case */
        ALARM_CONTRADICTION,            /* sat against unsat where nobody knows the answer */
        ALARM_UNBUILDABLE,              /* the commit cannot be built, and its parent can */
        ALARM_MEMORY,                   /* solved before and after, with more memory */
        N_OBSERVATION_KINDS
};
const char *observation_kind_name(enum observation_kind k); /* "spr" … */
const char *observation_folder(enum observation_kind k);    /* where it stands in the tree: "spr", "soundness", "incompleteness" or "alarms" */

enum observation_series {
        OF_CAMPAIGNS, /* findings */
        OF_WATCHES,   /* alarms */
};

/* Its fate with the solver's developers. */
enum observation_mark {
        MARK_NONE,
        MARK_REPORTED,
        MARK_CONFIRMED,
        MARK_FIXED,
        MARK_REJECTED,
        N_MARKS
};
const char *observation_mark_name(enum observation_mark m); /* "" … */
/* -EINVAL with a sentence; `what` is marked: "a finding". */
int observation_mark_parse(const char *what, const char *name, enum observation_mark *ret);

/* One version's runs on a case. */
struct observed_runs {
        uint32_t case_id;
        char *version; /* as version.h prints it; of an alarm also A..B, or "" */
        enum verdict verdict;
        double *seconds; /* of each run, in their order; a timeout's is its limit. Of ALARM_MEMORY: bytes. Of a finding whose measure is no time: its amounts, 0 where there is none */
        uint32_t n;      /* may be 0: of an alarm where no time is worth telling */
};

struct observation {
        unsigned refs;
        uint32_t solver, number; /* number: 0 until it is added */
        enum observation_kind kind;
        int64_t found, changed; /* seconds since 1970; changed: of an alarm, when it was found or marked last */
        int64_t told;           /* of an alarm: when the person's command took it (or, without a command, when it stood in the log); 0: not yet */
        uint32_t case_id;       /* of the input; of an alarm the worst case's, 0: it has none */
        uint32_t seed_id;       /* of the input it was made of, a case too; 0: none */
        uint32_t decided_id;    /* of an implication: the formula before the last rule, which was decided; a case too; else 0 */
        char *origin;           /* the campaign that found it, or the branch where it was met */
        /* Versions; target alone where only one counts. Of an alarm the commit, or A..B (a range of git's): one of these, as those between cannot be built or
         * told apart; and the commit before it, "" where none was looked at. */
        char *reference, *target;
        double timeout;   /* seconds that every run had; of an alarm 0: the recipe's */
        double threshold; /* by which a slowdown's target takes more: judge_is_above() */
        enum judge_measure measure; /* what a slowdown takes more of: JUDGE_TIME, _MEMORY or _EFFORT; of all else JUDGE_TIME */
        bool is_cpu_time; /* this and all its times are CPU time */
        /* The evidence. Of a finding a row for each version measured when it was found. Of an alarm two for each case, before and after it, the worst case
         * first. */
        struct observed_runs *runs;
        size_t n_runs;
        char *chain; /* how the input was made of the seed: lines "rule\tdirection\tplace"; may be empty */
        /* Why the target does not know, in its own words (get-info :reason-unknown); of an alarm a sentence more, printable: why it cannot be built, who
         * contradicts whom. May be empty. */
        char *reason;
        /* Equal for findings of one cause: kind, version, logic, last rule and direction, operators that this brought in, reason; separated by tabs. "" where
         * every input is a finding of its own. */
        char *signature;
        char *subject; /* of an alarm: first line of the commit's message, printable */
        enum observation_mark mark;
        char *url;
};
struct observation *observation_new(void); /* one reference, everything empty, never NULL strings */
struct observation *observation_ref(struct observation *o);
struct observation *observation_unref(struct observation *o); /* NULL */
DEFINE_CLEANUP(struct observation *, observation_unref)
#define cleanup_observation cleanup(observation_unrefp)
enum observation_series observation_series(const struct observation *o);
/* Sets a text of it to a copy. */
void observation_set(char **at, const char *text);
/* Adds the runs of a version: n times, on its case or on a further one. */
void observation_add_case_runs(struct observation *o, uint32_t case_id, const char *version, enum verdict verdict, const double *seconds, uint32_t n);
void observation_add_runs(struct observation *o, const char *version, enum verdict verdict, const double *seconds, uint32_t n);
const struct observed_runs *observation_runs_of(const struct observation *o, const char *version); /* NULL: it was not measured */
/* How much a version took: the lower median, in seconds or of the measure; 0 when it was not measured. */
double observation_seconds(const struct observation *o, const char *version);
/* The number of a slowdown's pairs of runs, each under a seed of its own, in which the target takes more by more than its threshold. *ret_pairs: all
 * pairs; 0: one of the two was not measured. */
unsigned observation_held(const struct observation *o, unsigned *ret_pairs);

/* Case i of an alarm: its runs before and after. NULL: there are no more. */
const struct observed_runs *alarm_case(const struct observation *a, size_t i);
/* Something became more, and not an answer another one: slower, memory. */
bool alarm_is_growth(enum observation_kind k);
/* after / before of a case that was solved at both; NaN: nothing to divide. */
double alarm_factor(const struct observed_runs c[2]);
/* True when the target is a single commit, no range. */
bool alarm_is_localized(const struct observation *a);
/* The target; of a range its last commit. */
const char *observation_target(const struct observation *o);

/* -- in the store --------------------------------------------------------------------------------------------------- */

/* Stores it on disk under a new number, o->number. 1: it was known already; nothing is stored, and o->number is the known one's.
 *
 * A finding is known by its bytes, its kind and its measure. An alarm is known by its cause, even if the watch was killed since: its kind and commit, or
 * its kind and case where the oldest version known already answers wrongly. Its cases are sorted. */
int observation_add(struct workspace *w, struct observation *o);
/* The same for what another store has: a finding of those bytes between other versions is one of its own. */
int observation_take(struct workspace *w, struct observation *o);
/* An explanation of it, as Markdown for its report; the last one of its kind counts. They come from core/why, which stands above this room. */
enum explanation {
        EXPLAINED_OPTIONS,    /* which option restores what the reference does */
        EXPLAINED_DIVERGENCE, /* where the two runs part */
        N_EXPLANATIONS
};
int observation_explain(struct workspace *w, const struct observation *o, enum explanation e, const char *text);
int observation_explained(struct workspace *w, const struct observation *o, enum explanation e, struct blob *ret); /* -ENOENT: nobody asked */

/* The finding that these bytes are, as this kind and by this measure. -ENOENT. */
int observation_find(struct workspace *w, uint32_t solver, enum observation_kind kind, enum judge_measure m, struct slice input,
                     struct observation **ret);
/* "spr/3", "alarms/1": 1, and it. 0: the word names none. -ENOENT with a sentence. */
int observation_named(struct workspace *w, uint32_t solver, const char *word, struct observation **ret);
int observation_get(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, struct observation **ret);
/* Of its input; FORMAT_SMT2 where that is lost. */
enum format observation_format(struct workspace *w, const struct observation *o);
int observation_set_mark(struct workspace *w, enum observation_series series, uint32_t solver, uint32_t number, enum observation_mark mark, const char *url);
int observation_set_told(struct workspace *w, uint32_t solver, uint32_t number, int64_t when); /* of an alarm */
/* Those of a solver that stand in one folder, by number; NULL: all findings. */
struct observations {
        struct observation **list; /* owned; a reference to each */
        size_t n;
};
int observations_read(struct workspace *w, uint32_t solver, const char *folder, struct observations *ret);
void observations_done(struct observations *o);
#define cleanup_observations cleanup(observations_done)
/* How many a solver has; cheap, for listings that look whether anything changed. */
uint32_t observations_last(struct workspace *w, enum observation_series series, uint32_t solver);

/* How many inputs of a campaign each finding stands for, itself among them; they had its signature. */
struct finding_count {
        uint32_t number;
        uint64_t n;
};
int finding_put_counts(struct workspace *w, uint32_t solver, const char *campaign, const struct finding_count *list, size_t n);
int finding_get_count(struct workspace *w, uint32_t solver, uint32_t number,
                      uint64_t *ret); /* of all campaigns; 1 where none counted */
/* Of each campaign that counted; free(*ret), also where it fails. */
#define CAMPAIGN_NAME_MOST 100 /* bytes */
struct campaign_count {
        char campaign[CAMPAIGN_NAME_MOST + 1];
        uint64_t n;
};
int finding_counts(struct workspace *w, uint32_t solver, uint32_t number, struct campaign_count **ret, size_t *ret_n);
