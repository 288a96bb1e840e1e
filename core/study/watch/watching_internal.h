/* Shared by watching.c (measures and builds) and watching_judge.c (confirms and localizes suspects). */
#pragma once

#include "core/study/compare/comparing.h"
#include "core/study/localize/localization.h"
#include "core/study/watch/watching.h"

/* A point is a commit of the stretch; `case_index` is into `cases`. */
enum point_state {
        POINT_OPEN, /* not asked */
        POINT_BUILT,
        POINT_UNBUILDABLE,
        POINT_LOST, /* its sources are lost: it is passed over */
};
struct point {
        uint32_t commit;
        enum point_state state;
        char *reason;        /* why it cannot be built; may be NULL */
        struct fact **facts; /* [cases]; owns refs; NULL: not measured */
};
struct suspect {                          /* a case that got worse from one measured point to the next */
        enum observation_kind kind;       /* N_OBSERVATION_KINDS: cleared */
        size_t before, after, case_index; /* before: NO_POINT for none */
        bool done;                        /* by the present stage */
};
struct boundary {     /* between a point that builds and one that does not */
        size_t good, bad; /* good: NO_POINT if none is known */
        uint32_t parent;  /* of `bad`; COMMIT_NONE: none, or not looked up yet */
        bool is_narrow;   /* `parent` is looked up, and asked for if need be */
        bool parent_builds;
};
#define NO_POINT SIZE_MAX

struct watching {
        struct workspace *workspace;
        struct solver *solver;
        char *branch;
        struct case_info **cases; /* owns refs */
        size_t n_cases;
        struct point *points; /* known, then fresh */
        size_t n_points, n_known;
        size_t stage; /* in watching.c's stages[] */
        bool has_begun; /* the stage measure() or find_unbuildable() was called before */

        struct want {
                size_t point, case_index; /* of measure(): the run of a case at a point */
                size_t boundary;          /* of find_unbuildable(): the build of a point, or for NO_POINT of the boundary's parent */
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

/* Stages. 1: ask *ret, then call the stage again; 0: done; -errno. watching_dispute(): contradictions with other solvers' answers. */
int watching_suspect(struct watching *w, struct batch *ret);
int watching_confirm(struct watching *w, struct batch *ret);
int watching_localize(struct watching *w, struct batch *ret);
int watching_dispute(struct watching *w, struct batch *ret);

/* Finds the result's alarm of this kind, commit and version before it, or adds one with the subject of `subject_of`. `before` "": always adds one. */
struct observation *watching_alarm(struct watching *w, enum observation_kind kind, const char *commit, const char *before, uint32_t subject_of);
