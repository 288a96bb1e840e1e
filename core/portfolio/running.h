/* A trial under way, shared by query_trial.c, running.c (turns), lane.c (an arm that runs here) and running_remote.c (arms that run on a cluster).
 *
 * The arms take turns on one core until one has an answer or the limit is used up. At the end of a turn the arm is stopped (SIGSTOP), not ended.
 *
 * Threads: a trial is one job's. */
#pragma once

#include "core/portfolio/learned.h"
#include "core/portfolio/portfolio_internal.h"
#include "core/query/held.h"
#include "core/run/runner.h"

struct running;

struct trial_query {
        struct query query;
        struct workspace *workspace;
        struct portfolio *portfolio; /* owns a ref */
        struct case_info *info;      /* owns a ref */
        size_t only_arm;             /* the index of the only arm; n_arms: all arms take turns */
        struct running *remote; /* owned; for arms on a cluster; NULL: not begun, or the arms run here */
};

static inline bool trial_is_alone(const struct trial_query *q)
{
        return q->only_arm < q->portfolio->n_arms;
}

struct lane {                  /* an arm on this case */
        struct runner *runner; /* NULL: not begun, or over */
        struct held held;
        uint64_t memory_now; /* bytes that it holds while it is stopped; else 0 */
        bool asked;          /* its run on the cluster was asked for */
        bool again;          /* it was ended from outside, and begun again */
};

struct running {
        const struct trial_query *query;
        struct job *job;
        struct lane *lanes;       /* owned; of each arm */
        struct attempt *attempts; /* owned; of each arm */
        struct trial *trial;      /* owned */
        struct learned *learned;  /* NULL: no turns are being taken */
        struct step step;         /* the current turn */
        bool is_over;             /* all turns are over */
        char case_path[PATH_SIZE], scratch[PATH_SIZE];
        int case_fd; /* owned; -1: none */
};

/* A turn needs the arm's run on the cluster, which must be asked for first. */
#define TURN_WAITS 1

/* -- running.c -- */

void running_begin(struct running *run);
int running_open_case(struct running *run); /* for arms that run here; also begins it */
void running_done(struct running *run);
/* Takes all turns, with what has been learned by now. TURN_WAITS: waits for the run of run->step.arm. */
int running_take_turns(struct running *run);
/* Runs the portfolio up to the answer. -ENOENT if a run on the cluster is missing. */
int running_portfolio(struct running *run);
int running_alone(struct running *run); /* the one arm of the query */
/* Judges the arm's answer: sets t->alarm if it contradicts others, and notes a wrong arm. */
int trial_judge(const struct trial_query *q, struct trial *t, size_t arm, enum judgement *ret);

/* -- lane.c -- */

/* Holds the programs of a solver's build, or a command's program, until held_done(). -ENODATA if the commit cannot be built, -EAGAIN if the command
 * is another program than when the portfolio was opened. */
int arm_hold(struct workspace *w, const struct arm *a, struct held *ret);
/* Starts the arm. If stopped arms hold too much memory, the largest of them are ended first. -ENODATA if it cannot be built. */
int lane_begin(struct running *run, size_t arm);
/* Runs it until step->until, or its end. */
int lane_go_on(struct running *run, const struct step *step);
void lane_end(struct running *run, size_t arm); /* ends its run; leaves its sandbox to the slot's next job */

/* -- running_remote.c -- */

/* The cluster of the arms; NULL: here. -ENOTSUP with a sentence if they are on two machines, whose times cannot be compared. */
int running_place(const struct portfolio *p, struct worker_pool **ret);
/* Takes turns as far as the known runs allow, and adds the run that is missing, if any, to `ret`. No learner is held during the wait: hundreds of
 * cases may wait for hours. */
int running_need_remote(struct trial_query *q, struct query_list *ret);
struct running *running_end_remote(struct running *r); /* frees `r`, which may be NULL; returns NULL */
