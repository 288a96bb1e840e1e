/* Portfolios of a store: a name, arms, a limit, and learned data. Defined in the store's config:
 *
 *     [portfolio "strings"]
 *             arm = z3@z3-4.8.9
 *             arm = z3str3@HEAD seed=3
 *             arm = cvc5: /usr/bin/cvc5 --strings-exp {case}
 *             timeout = 10s
 *
 * An arm is a solver or variant of the store at a revision (default HEAD), perhaps with a seed; or a name, a colon and a command, whose first word is
 * a program of this machine. {case} is appended if the command has none.
 *
 *   key         default    meaning
 *   arm                    one for each arm, in the order of listings
 *   timeout     20s        for all arms of a case together
 *   memory      4g         for all arms of a case together, stopped ones included
 *   selector               obsolete: only `survival` is accepted, which every portfolio uses
 *   seed        1          of the learner's random choices
 *
 * The learned state is the list of trials: a record for each case that the portfolio answered, with its features and the attempts of all arms. A
 * learner is made by telling it the trials in order. One transaction stores a record under the portfolio's epoch and the next number, and notes it
 * for the case, so no crash can separate an answer from its record. The epoch is a digest of all settings (revisions by build key) and of the number
 * of resets. A new epoch begins without trials; the old one's records stay.
 *
 * Threads: any. */
#pragma once

#include "core/portfolio/learner.h"
#include "core/query/query.h"

struct arm {
        char *text; /* as configured */
        char *name; /* short: "cvc5", "z3@z3-4.8.9" */
        /* either a solver's, … */
        struct solver *solver; /* owns a ref; NULL: a command */
        uint32_t commit;
        bool has_seed;
        uint64_t seed;
        /* … or a command's */
        struct recipe *recipe;        /* owns a ref; the solver's, or made from the command */
        char program[PATH_SIZE];      /* the path of the command's first word */
        struct digest program_digest; /* of that program's file, or of an arm exec:PATH's; zero for a solver of a repository */
        struct digest identity;       /* of the arm: build key, how the recipe runs it, limits, and seed; or command and the program's bytes */
        char *problem;                /* why it cannot be run (no such revision, no such program); NULL if it can */
};

struct portfolio {
        unsigned refs;
        char *name;
        struct arm *arms;
        size_t n_arms;
        uint64_t wall_ns, memory, seed;
        const char *selector; /* as configured, as it is part of the epoch; NULL: not set */
        struct digest epoch;
};
DECLARE_REFS(portfolio)
#define cleanup_portfolio cleanup(portfolio_unrefp)

/* -ENOENT if there is no such portfolio; -EINVAL with file and line if its definition is wrong. An arm that cannot be run is no error: see `problem`. */
int portfolio_open(struct workspace *w, const char *name, struct portfolio **ret);
/* The names in the config, sorted; strings_free(). */
int portfolio_names(struct workspace *w, char ***ret, size_t *ret_n);
/* Writes a portfolio into the config. `arms` ends with NULL, as does `settings`: key, value, key, … -EEXIST: the name is taken. -EINVAL: a setting is
 * wrong. -ENOENT: an arm's solver or revision is not found. */
int portfolio_add(struct workspace *w, const char *name, char *const *arms, const char *const *settings);
int portfolio_remove(struct workspace *w, const char *name);
/* Begins a new epoch. */
int portfolio_reset(struct workspace *w, const char *name);

/* -- trials ------------------------------------------------------------------------------------------------------ */

struct trial_run {
        struct attempt attempt;
        enum verdict verdict; /* if it ended by itself */
        bool known;           /* from an earlier run: arm_known() */
};
struct trial {
        uint32_t number, case_id;
        size_t n_features, n_arms, n_turns;
        uint64_t features_id; /* portfolio_features_id(); 0: an older record */
        double *features;
        size_t n_expected;
        double *expected;       /* learner_expected() when the case began; missing in older records */
        struct trial_run *runs; /* one for each arm */
        struct step *turns;     /* in order */
        enum verdict verdict;   /* sat or unsat; else timeout, or unknown if every arm gave up before */
        uint32_t winner;        /* n_arms: none */
        double seconds;         /* of all arms together */
        int64_t measured;       /* seconds since 1970 */
        char *alarm; /* two arms, or an arm and the case's :status, disagree; NULL or "" if not */
};
struct trial *trial_new(size_t n_arms);
struct trial *trial_free(struct trial *t); /* NULL */
DEFINE_CLEANUP(struct trial *, trial_free)
#define cleanup_trial cleanup(trial_freep)

/* Stores `t` as the next trial of the epoch: t->number is the least number on entry, and the one given on return. If the case has a trial that
 * stands, *ret is that one, and nothing is stored; else *ret is NULL. */
int trial_put(struct workspace *w, const struct portfolio *p, const struct case_info *info, struct trial *t, struct trial **ret);
/* -ENOENT if there is none, or it does not stand: its winner was wrong since, another arm contradicts it, or it had no arm to run and now has one. */
int trial_find(struct workspace *w, const struct portfolio *p, uint32_t case_id, struct trial **ret);
int trial_find_any(struct workspace *w, const struct portfolio *p, uint32_t case_id, struct trial **ret); /* also a trial that is taken back */
int trials_taken_back(struct workspace *w, const struct portfolio *p, uint64_t *ret); /* how many of the epoch were taken back and replaced */
struct trial_list {
        struct trial **list; /* by number */
        size_t n;
};
void trial_list_done(struct trial_list *l);
#define cleanup_trial_list cleanup(trial_list_done)
/* The epoch's trials from this number on, without damaged ones. */
int trials_read(struct workspace *w, const struct portfolio *p, uint32_t from, struct trial_list *ret);

/* The run of an arm alone, up to the portfolio's limit: a solver's fact, or a command's run kept by arm_keep(). -ENOENT if not known. */
int arm_known(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info, struct trial_run *ret);
/* The cell of a solver's arm alone under this limit; borrows solver and case. */
struct cell arm_cell(const struct arm *a, const struct case_info *info, uint64_t wall_ns);
int arm_keep(struct workspace *w, const struct portfolio *p, const struct arm *a, const struct case_info *info,
             const struct trial_run *run);

/* -- queries ----------------------------------------------------------------------------------------------------- */

struct trial_value {
        struct value value;
        struct trial *trial; /* owned */
};
/* The case's trial: runs the portfolio if there is none. */
int query_trial(struct workspace *w, struct portfolio *p, struct case_info *info, struct query **ret);
/* One arm alone on the case, up to the limit. The trial has only that arm's run, and nothing is learned from it. */
int query_arm(struct workspace *w, struct portfolio *p, size_t arm, struct case_info *info, struct query **ret);
extern const struct query_type query_trial_type;

/* -- files ------------------------------------------------------------------------------------------------------- */

int portfolio_print_arms(struct workspace *w, const struct portfolio *p, struct buffer *ret);  /* arms.tsv */
int portfolio_print_score(struct workspace *w, const struct portfolio *p, struct buffer *ret); /* score.tsv */
int portfolio_plot_score(struct workspace *w, const struct portfolio *p, struct buffer *ret);  /* score.svg */
enum trial_file {
        TRIAL_RESULT,
        TRIAL_TIME,
        TRIAL_SOLVER,
        TRIAL_ORDER,
};
void trial_print(const struct portfolio *p, const struct trial *t, enum trial_file file, struct buffer *ret);
/* cases/<case>/features.tsv: name and value. -EINVAL if the case does not parse. */
int case_features_print(struct workspace *w, const struct case_info *info, struct buffer *ret);
struct features_value {
        struct value value;
        struct buffer text;
};
/* The query whose value is that text, as a struct features_value. It fails with -EOPNOTSUPP and a sentence if the case does not parse. */
struct query *query_features(struct workspace *w, struct case_info *info);
