/* Shared by watching.c (measures and builds) and watching_judge.c (confirms and localizes suspects). */
#pragma once

#include "core/study/compare/comparing.h"
#include "core/study/localize/localization.h"
#include "core/study/watch/watching.h"

enum place_state {
        PLACE_OPEN, /* not asked */
        PLACE_BUILT,
        PLACE_UNBUILDABLE,
        PLACE_LOST, /* its sources are; passed over */
};
struct place { /* a commit of the stretch */
        uint32_t commit;
        enum place_state state;
        char *reason;        /* why it cannot be built; may be NULL */
        struct fact **facts; /* [cases]; owns refs; NULL: not measured */
};
struct suspect {              /* a case between two neighbouring places */
        enum observation_kind kind; /* N_OBSERVATION_KINDS: cleared */
        size_t before, after, test;
        bool done;
};
struct boundary {              /* between a place that builds and one that does not */
        size_t good, bad;      /* good NO_PLACE: none is known */
        uint32_t parent;       /* of `bad`, if it is not `good`; else COMMIT_NONE */
        bool asked, is_parent; /* the parent builds */
};
#define NO_PLACE SIZE_MAX

struct watching {
        struct workspace *workspace;
        struct solver *solver;
        char *branch;
        struct case_info **cases; /* owns refs */
        size_t n_cases;
        struct place *places; /* known, then fresh */
        size_t n_places, n_known;
        size_t stage; /* in watching.c's stages[] */
        bool asked;   /* the batch of measure(), or the first one of find_unbuildable() */

        struct want {
                size_t place, test; /* a run; of a build `test` is the boundary, and NO_PLACE the parent there */
        } * wants;
        size_t n_wants;
        struct boundary *boundaries;
        size_t n_boundaries;

        struct suspect *suspects;
        size_t n_suspects;
        size_t *group; /* suspects asked together, with their cases */
        size_t n_group;
        struct case_info **group_cases;
        struct comparing *comparing;
        struct localization *localization;

        struct watching_result result;
};

/* Stages. 1: ask *ret, then call the stage again; 0: done; -errno. */
int watching_suspect(struct watching *w, struct batch *ret);
int watching_confirm(struct watching *w, struct batch *ret);
int watching_localize(struct watching *w, struct batch *ret);
int watching_dispute(struct watching *w, struct batch *ret);

/* Finds the alarm of this kind, commit and version before it, or makes it; `before` "": always makes it. */
struct observation *watching_alarm(struct watching *w, enum observation_kind kind, const char *commit, const char *before,
                             uint32_t subject_of);
