/* Care for a whole store: fsck checks everything and repairs what it can, gc frees space.
 *
 * Kept for good: measurements (facts), build logs, cases, repositories. gc may delete what can be computed again (programs, their copies in
 * <store>/programs, worktrees, ccache's folder) and what nothing refers to any more, such as a scrambled input that has no result after a day.
 *
 * Both may run beside mounts and commands on the same store: things in use are locked, and skipped. */
#pragma once

#include "core/workspace/workspace.h"

enum care_kind {
        CARE_NOTE,     /* not wrong, but worth knowing */
        CARE_REPAIRED, /* was damaged or in the way; is repaired */
        CARE_DAMAGED   /* still damaged; the text says what to do */
};
const char *care_kind_name(enum care_kind k); /* "note" … */

struct care_finding {
        const char *area; /* "store", "builds", "facts", "programs", "cases", "config", "repositories", "downloads" */
        enum care_kind kind;
        const char *text;
};

struct care_watch {
        void (*found)(void *user, const struct care_finding *f);
        void *user;
        const struct progress *progress; /* NULL: no reports, and nothing stops it */
};

struct care_report {
        struct store_report store;
        uint64_t builds, facts, programs, cases, repositories, commits, files; /* checked; files: packs and loose objects */
        uint64_t damaged, repaired;                                            /* findings */
};
/* Checks everything and repairs unless `look_only` (then open the workspace STORE_READ_ONLY, if possible). 0 even if damage was found. */
int care_check(struct workspace *w, bool look_only, const struct care_watch *watch, struct care_report *ret);

struct care_plan {
        bool dry_run;    /* only report what would be freed */
        bool lost_cases; /* also delete case files that no case owns: left by an interrupted `case add`, or by a lost index */
        bool bounded;    /* `keep` applies */
        uint64_t keep;   /* most bytes of what can be computed again. Of programs, those built longest ago go first */
};
struct care_part {
        uint64_t n, bytes; /* freed, or with dry_run to be freed */
        uint64_t left;     /* bytes kept */
};
struct care_freed {
        struct care_part copies;    /* executable programs in <store>/programs */
        struct care_part worktrees; /* left by killed builds */
        struct care_part ccache;
        struct care_part programs;  /* in <store>/deltas; those of no build are always freed */
        struct care_part downloads; /* named by no recipe; named ones stay, whatever `keep` is: their sources may be gone */
        struct care_part leftovers; /* of killed processes, removed solvers, damaged databases; scrambled inputs without results */
        struct care_part journal;   /* of the database: overwritten and deleted values */
};
int care_collect(struct workspace *w, const struct care_plan *plan, const struct care_watch *watch, struct care_freed *ret);
