/* Findings: what campaigns found, kept for good. A finding is an input with the versions it tells apart and the times or answers that showed it;
 * everything else of it (more versions, a reduced input, the commits responsible) is worked out from that.
 *
 * The input is an unlisted case of the store (cases.h), so that it is measured, cached and localized as every case is. The same bytes are
 * found once: adding them again gives the finding that is there. Numbers are a solver's, dense from 1, given once.
 *
 * Threads: any. Errors: -ENOENT no such finding; store.h's. */
#pragma once

#include "core/query/workspace.h"

enum finding_kind {
        FINDING_SPR,         /* slower on the target than on the reference */
        FINDING_SOUNDNESS,   /* versions contradict each other, or the input's status */
        FINDING_CRASH,       /* a version crashed */
        FINDING_REGRESSION,  /* decided by the reference, unknown to the target */
        FINDING_IMPLICATION, /* decided, and unknown to the same version after an implied mutation */
        N_FINDING_KINDS
};
const char *finding_kind_name(enum finding_kind k); /* "spr" … */
const char *finding_folder(enum finding_kind k);    /* "spr", "soundness" or "incompleteness": where it stands in the tree */

/* Its fate with the solver's developers. */
enum finding_mark {
        MARK_NONE,
        MARK_REPORTED,
        MARK_CONFIRMED,
        MARK_FIXED,
        MARK_REJECTED,
        N_MARKS
};
const char *finding_mark_name(enum finding_mark m); /* "" … */
int finding_mark_parse(const char *name, enum finding_mark *ret);

/* One version's runs on the input. */
struct finding_runs {
        char *version; /* as version.h prints it */
        enum verdict verdict;
        double *seconds; /* of each run, in their order; a timeout's is its limit */
        uint32_t n;
};

struct finding {
        unsigned refs;
        uint32_t solver, number; /* number: 0 until it is added */
        enum finding_kind kind;
        int64_t found;       /* seconds since 1970 */
        uint32_t case_id;    /* of the input */
        uint32_t seed_id;    /* of the input it was made of, a case too; 0: none */
        uint32_t decided_id; /* of an implication: the formula before the last rule, which was decided; a case too; else 0 */
        char *campaign;
        char *reference, *target;  /* versions; target alone where only one counts */
        double timeout;            /* seconds that every run had */
        bool is_cpu_time;          /* this and all its times are CPU time */
        struct finding_runs *runs; /* of every version measured when it was found */
        size_t n_runs;
        char *chain;  /* how the input was made of the seed: lines "rule\tdirection\tplace"; may be empty */
        char *reason; /* why the target does not know, in its own words (get-info :reason-unknown); may be empty */
        /* By what it is known again: kind, logic, last rule and direction, operators that this brought in, reason; separated by tabs. "" where
         * every input is a finding of its own. */
        char *signature;
        enum finding_mark mark;
        char *url;
};
struct finding *finding_new(void); /* one reference, everything empty, never NULL strings; NULL: no memory */
struct finding *finding_ref(struct finding *f);
struct finding *finding_unref(struct finding *f); /* NULL */
DEFINE_CLEANUP(struct finding *, finding_unref)
#define cleanup_finding cleanup(finding_unrefp)
/* The runs of another version, with room for n times. */
int finding_add_runs(struct finding *f, const char *version, enum verdict verdict, const double *seconds, uint32_t n);
const struct finding_runs *finding_runs_of(const struct finding *f, const char *version); /* NULL: it was not measured */
/* How long a version took: the lower median, in seconds; 0 when it was not measured. */
double finding_seconds(const struct finding *f, const char *version);
/* The number of a slowdown's pairs of runs, each under a seed of its own, in which the target takes longer by more than `threshold` seconds. *ret_pairs: all
 * pairs; 0: one of the two was not measured. */
unsigned finding_held(const struct finding *f, double threshold, unsigned *ret_pairs);

/* Numbers and stores it; f->number is then set. 1: those bytes were found before as this kind, and nothing was stored; f->number is that
 * one's. When it returns, it is on disk. */
int finding_add(struct workspace *w, struct finding *f);
/* The same for what was found elsewhere: those bytes between other versions are a finding of their own. */
int finding_take(struct workspace *w, struct finding *f);
/* The one that these bytes are, as this kind. -ENOENT. */
int finding_find(struct workspace *w, uint32_t solver, enum finding_kind kind, struct slice input, struct finding **ret);
int finding_get(struct workspace *w, uint32_t solver, uint32_t number, struct finding **ret);
int finding_set_mark(struct workspace *w, uint32_t solver, uint32_t number, enum finding_mark mark, const char *url);
/* How many inputs of a campaign each finding stands for, itself among them; they had its signature. */
struct finding_count {
        uint32_t number;
        uint64_t n;
};
int finding_put_counts(struct workspace *w, uint32_t solver, const char *campaign, const struct finding_count *list, size_t n);
int finding_get_count(struct workspace *w, uint32_t solver, uint32_t number,
                      uint64_t *ret); /* of all campaigns; 1 where none counted */
/* Of each campaign that counted, until fn returns non-zero, which is then returned. fn must not ask the store. */
int finding_each_count(struct workspace *w, uint32_t solver, uint32_t number, int (*fn)(void *user, const char *campaign, uint64_t n),
                       void *user);
/* Those of a solver that stand in one folder (NULL: all), by number, until fn returns non-zero, which is then returned. */
int findings_each(struct workspace *w, uint32_t solver, const char *folder, int (*fn)(void *user, struct finding *f), void *user);
/* How many a solver has; cheap, for listings that look whether anything changed. */
uint32_t findings_last(struct workspace *w, uint32_t solver);
