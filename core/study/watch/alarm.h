/* Alarms: what `solverfs watch` met on new commits, kept for good. An alarm is a commit with the cases that it made slower, undecided, wrong or
 * contradictory, or a commit that cannot be built while its parent can.
 *
 * One alarm for a cause: alarm_add() knows what was told before, also by a watch that was killed right after. A cause is the kind with the
 * commit; for a wrong answer that the oldest version known gives, too, it is the kind with the case.
 *
 * An alarm is `told` once the person's command took it (or, without a command, once it stands in the log). Numbers are a solver's, dense from 1,
 * given once.
 *
 * Threads: any. Errors: -ENOENT no such alarm; store.h's. */
#pragma once

#include "core/study/finding/finding.h"

enum alarm_kind {
        ALARM_SLOWER,        /* solved before and after, in more time */
        ALARM_LOST,          /* solved before and not any more: timeout, unknown, crash … */
        ALARM_WRONG,         /* an answer that contradicts the status of its case */
        ALARM_CONTRADICTION, /* sat against unsat where nobody knows the answer */
        ALARM_UNBUILDABLE,   /* the commit cannot be built, and its parent can */
        N_ALARM_KINDS
};
const char *alarm_kind_name(enum alarm_kind k); /* "slower" … */

struct alarm_side {
        enum verdict verdict; /* VERDICT_UNKNOWN with seconds NaN: nothing is known */
        double seconds;       /* NaN: none worth telling */
};
struct alarm_case {
        uint32_t id;
        struct alarm_side before, after;
};

struct alarm {
        uint32_t solver, number; /* number: 0 until it is added */
        enum alarm_kind kind;
        int64_t found, told, changed; /* seconds since 1970; told: 0 not yet; changed: when it was found or marked last */
        char *branch;                 /* where it was met */
        char *commit; /* 40 hex digits, or A..B (a range of git's): one of these, as those between cannot be built or told apart */
        char *before;             /* the commit before it, 40 hex digits; "" where none was looked at */
        char *subject;            /* first line of the commit's message, printable */
        char *detail;             /* a sentence more, printable: why it cannot be built, who contradicts whom; may be "" */
        struct alarm_case *cases; /* worst first; none of ALARM_UNBUILDABLE */
        size_t n_cases;
        enum finding_mark mark; /* what became of it */
        char *url;
};
struct alarm *alarm_new(void);             /* everything empty, never NULL strings; NULL: no memory */
struct alarm *alarm_free(struct alarm *a); /* NULL */
DEFINE_CLEANUP(struct alarm *, alarm_free)
#define cleanup_alarm cleanup(alarm_freep)
int alarm_set_text(char **at, const char *text); /* 0, -ENOMEM */
int alarm_add_case(struct alarm *a, const struct alarm_case *c);
/* after / before of a case that was solved at both; NaN: nothing to divide. */
double alarm_factor(const struct alarm_case *c);
/* True when `commit` is a single one, no range. */
bool alarm_is_localized(const struct alarm *a);

/* Sorts the cases, numbers the alarm and stores it; a->number is then set. 1: its cause was told before, and nothing was stored; a->number is that
 * one's. When it returns, it is on disk. */
int alarm_add(struct workspace *w, struct alarm *a);
int alarm_get(struct workspace *w, uint32_t solver, uint32_t number, struct alarm **ret);
int alarm_set_told(struct workspace *w, uint32_t solver, uint32_t number, int64_t when);
int alarm_set_mark(struct workspace *w, uint32_t solver, uint32_t number, enum finding_mark mark, const char *url);
/* Those of a solver, by number, until fn returns non-zero, which is then returned. fn must not write to the store. */
int alarms_each(struct workspace *w, uint32_t solver, int (*fn)(void *user, const struct alarm *a), void *user);
/* How many a solver has; cheap. */
uint32_t alarms_last(struct workspace *w, uint32_t solver);

/* -- as people read it: alarm_text.c ------------------------------------------------------------------------------- */

/* Seconds or a verdict, as `before` and `after` show it: "0.012345", "timeout", "-". */
void alarm_print_side(const struct alarm *a, const struct alarm_side *s, struct buffer *ret);
void alarm_print_factor(const struct alarm *a, const struct alarm_case *c, struct buffer *ret); /* "20.4" or "-" */
/* The command that shows it again. */
void alarm_print_reproduce(const struct solver *s, const struct alarm *a, struct buffer *ret);
/* One line: "toy alarm 3: slower at 1a2b3c4d5e6f (commit 12): case 1 0.012 s, now 0.251 s (20.4 times)". */
void alarm_print_line(const struct solver *s, const struct alarm *a, struct buffer *ret);
/* alarms/<n>: "key value" lines, and where there are several cases a table of them behind an empty line. */
int alarm_print(struct workspace *w, const struct solver *s, const struct alarm *a, struct buffer *ret);

/* -- what a watch has seen of each branch --------------------------------------------------------------------------- */

struct watched_branch {
        git_oid seen; /* its commit when it was looked at last */
        git_oid base; /* the newest commit of it that was built and measured; all zero: none was */
        bool has_base;
        bool is_open; /* the watch begins with its head, and has not measured it yet */
};
/* False: no branch of the solver was ever looked at. */
bool watched_before(struct workspace *w, uint32_t solver);
/* -ENOENT: never looked at. */
int watched_branch_get(struct workspace *w, uint32_t solver, const char *name, struct watched_branch *ret);
int watched_branch_put(struct workspace *w, uint32_t solver, const char *name, const struct watched_branch *b);
/* All or none. */
int watched_branches_put(struct workspace *w, uint32_t solver, char *const *names, const struct watched_branch *list, size_t n);
