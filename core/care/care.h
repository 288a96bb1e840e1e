/* Care for a whole store, where no single module sees enough: fsck looks at everything and repairs what can be, gc frees space.
 *
 * Kept for good: measurements (facts), build logs, cases, repositories. Taken by gc, since they can be worked out again:
 * programs, their copies in <store>/programs, worktrees, ccache's folder; and what nothing refers to any more, such as a scrambled input of a day ago
 * that no result is of.
 *
 * Both may run beside mounts and commands on the same store: what is in use is locked, and passed over. */
#pragma once

#include "core/workspace/workspace.h"

enum care_kind {
        CARE_NOTE,     /* nothing is wrong, but worth saying */
        CARE_REPAIRED, /* was damaged, or in the way; is not any more */
        CARE_DAMAGED   /* is damaged still; the text says what to do */
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
        uint64_t builds, facts, programs, cases, repositories, commits, files; /* looked at; files: packs and loose objects */
        uint64_t damaged, repaired;                                            /* findings */
};
/* Checks everything; repairs unless `look_only` (for which the workspace is best opened STORE_READ_ONLY). 0 also when damage was found. */
int care_check(struct workspace *w, bool look_only, const struct care_watch *watch, struct care_report *ret);

struct care_plan {
        bool dry_run;    /* only report what would be freed */
        bool lost_cases; /* also delete case files that no case owns: left by an interrupted `case add`, or by a lost index */
        bool bounded;    /* `keep` counts: */
        uint64_t keep;   /* what can be worked out again takes at most these bytes, the programs built longest ago go first */
};
struct care_part {
        uint64_t n, bytes; /* freed, or to be freed */
        uint64_t left;     /* bytes that stay */
};
struct care_freed {
        struct care_part copies;    /* programs materialized in <store>/programs */
        struct care_part worktrees; /* not in use: what killed builds left */
        struct care_part ccache;
        struct care_part programs;  /* in <store>/deltas; those of no build go in any case */
        struct care_part downloads; /* that no recipe names any more; those that one names stay, whatever `keep` is: others may have taken them away */
        struct care_part leftovers; /* of killed processes, solvers that are gone, damaged databases; scrambled inputs that no result is of */
        struct care_part journal;   /* of the database: what was overwritten or deleted since */
};
int care_collect(struct workspace *w, const struct care_plan *plan, const struct care_watch *watch, struct care_freed *ret);
