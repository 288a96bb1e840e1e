/* The queries. Each constructor finds what the value depends on (the key) and returns a query for the engine. Errors: -ENOENT: no such commit or
 * case; -ESTALE: the repository has lost the commit; those of store.h.
 *
 * Run key = digest of the program ‖ case sha256 ‖ run digest (template, arguments, environment, seed, machine: cell_machine()), in this order, so all
 * facts of a program, or of a program on a case, are one range of the facts table. The facts below a run key are sorted by their limits. Results
 * follow the bytes: commits with the same program share them, and a commit that is not built has none. The build's record names the commit's
 * program, even after gc has dropped the program itself.
 *
 * Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

struct build_value {
        struct value value;
        struct build_record *record; /* owns a ref; without the log when found, see build_log() */
};
struct file_value { /* a program, or a scrambled input */
        struct value value;
        int fd; /* owned; while it is open, the program stays in the folder */
};
struct value *file_value_new(const struct query_type *type, int fd);
int file_value_fd(struct value *v); /* one more such descriptor, the caller's; -1: errno */
void file_value_done(struct value *v);
struct run_value {
        struct value value;
        struct fact *fact;          /* owns a ref; NULL: the commit cannot be built */
        struct build_record *build; /* owns a ref; set when fact is NULL */
};

/* A cell: what a run is asked for. Passed by value; solver and case are borrowed from the caller. */
struct cell {
        struct solver *solver;
        uint32_t commit;
        struct case_info *info;
        bool has_seed;
        uint64_t seed;
        uint64_t scramble; /* 0: none; else `info` is an input scrambled by this seed, which is only for texts and listings (but see scrambled.h) */
        uint64_t wall_ns; /* 0: the recipe's */
        /* 0: times are wall-clock times. Else the limit of CPU time, and times are CPU times; the wall-clock limit is then CPU_PATIENCE times this,
         * whatever wall_ns says. */
        uint64_t cpu_ns;
        /* NULL: the machine where the solver's runs are done. Else a machine's name (machines.h), borrowed: only its stored results, nothing is run. A
         * result is then the one under the longest limits, unless wall_ns or cpu_ns asks for a limit. */
        const char *machine;
};

#define CPU_PATIENCE 50

/* The mtime of a cell's files, finished or not, until it is measured again. */
static inline int64_t cell_first_mtime(const struct commit *c, const struct case_info *info)
{
        return MAX(commit_mtime(c), info->added);
}

/* The nanoseconds of a limit that a finding or a campaign has in seconds; rounded, so that 4.1 s do not lose one. */
static inline uint64_t seconds_ns(double seconds)
{
        return (uint64_t)(seconds * 1e9 + 0.5);
}

int query_build(struct workspace *w, struct solver *s, uint32_t commit, struct query **ret);
/* The same, but built anew if something that the build used has changed (commit_tools_changed()). `build`: its key; NULL: it is computed. */
int query_current_build(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret);
/* The moving average of the repository's build times; 0: none was built. */
uint64_t build_usual_ns(struct workspace *w, const struct solver *s);
/* The value is a file_value. `output`: the name of one of the build's files; NULL: the first one, {bin}. `never_builds`: -ENOENT instead of a build. */
int query_program(struct workspace *w, struct solver *s, uint32_t commit, const char *output, bool never_builds, struct query **ret);
int query_run(struct workspace *w, const struct cell *cell, struct query **ret);
/* A measurement of a cell by its number, from 0, for callers that need the variation. Each is kept for good: the same number is the same measurement.
 * The cell's value is chosen among all of them (cell_value.h). The value of the query is a run_value. */
int query_sample(struct workspace *w, const struct cell *cell, uint32_t sample, struct query **ret);

/* Calls fn for each kept measurement in the order of numbers, except re-measurements. A result of fn other than 0 ends the calls and is returned.
 * -ENOENT: the commit is not built, or cannot be. */
typedef int (*sample_fn)(void *user, uint32_t sample, const struct fact *f);
int samples_known(struct workspace *w, const struct cell *cell, bool brief, sample_fn fn, void *user);

extern const struct query_type query_build_type, query_program_type, query_run_type;

/* The recipe of a commit's runs: the solver's, or that of its [binary] if the commit is a released program with its own `run`. Lives as long as the
 * solver's. */
const struct recipe *solver_recipe_at(const struct solver *s, uint32_t commit);
/* The machine under which the cell's results are stored. False: it runs on a cluster whose machine is not known yet (worker_pool.h). */
bool cell_machine(const struct cell *cell, char ret[PATH_SIZE]);
/* Sets another time limit, of wall-clock or CPU time, and with it the clock of the cell's times; 0: the recipe's. */
void cell_set_timeout(struct cell *cell, bool is_cpu_time, uint64_t timeout_ns);
/* Turns a cell into run n of it. If the recipe has a seed, the seed increases by n, and 0 is returned; else n is returned, the repetition for
 * query_sample(). Run 0 is the cell as it is. */
uint32_t cell_draw(struct cell *cell, uint32_t n);
/* The limits of the cell's runs: the recipe's, but with the cell's own time limit if it has one. */
void cell_limits(const struct cell *cell, struct recipe_limits *ret);
/* The seconds of a fact by the cell's clock: fact_seconds(), or CPU time, which for a timeout is the whole limit. */
double cell_seconds(const struct cell *cell, const struct fact *f);

/* -- what is known already; never starts work -------------------------------------------------------------------- */

#define RUN_KEY_SIZE (3 * DIGEST_SIZE)
/* -ENOENT: no such commit, or it is not built, or cannot be. */
int run_key(struct workspace *w, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]);
/* The fact that answers the cell. -ENOENT: none is known. */
int run_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret);
int build_find(struct workspace *w, struct solver *s, uint32_t commit, bool with_log, struct build_record **ret);
/* Calls fn for each name in the root of the sources that the commit's build asked for. -ENOENT: not known. */
int commit_sources_used(struct workspace *w, struct solver *s, uint32_t commit, void (*fn)(void *user, const char *name), void *user);
/* True if something that the commit's build used (core/build/used.h) has changed; false if nothing is known. Checked at most once a second. Program
 * and results stay until the commit is built anew (query_current_build()). *ret_path: the first such file, to be freed; ret_path may be NULL. */
bool commit_tools_changed(struct workspace *w, struct solver *s, uint32_t commit, char **ret_path);
/* The number of commits with changed tools; *ret_path, to be freed, is the first file of the first of them. */
size_t commits_tools_changed(struct workspace *w, struct solver *s, const uint32_t *list, size_t n, char **ret_path);
int build_open_live_log(struct workspace *w, struct solver *s, uint32_t commit, int *ret_fd); /* live_log_open() of its build */
/* Ids of the cases with an answer for this commit and setting, in order; free(). cell->info is ignored. */
int runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n);
/* Numbers, ascending, of the commits with a finished build or run on that machine; free(). `machine` NULL: as in struct cell. */
int commits_known(struct workspace *w, struct solver *s, const char *machine, uint32_t **ret, size_t *ret_n);
/* The program of every commit, (*ret)[number], zero if none is known; free(). *ret_has_gaps: true if one is zero because the repository lacks the commit's
 * sources, which may be there again later; may be NULL. */
int commit_programs(struct workspace *w, struct solver *s, struct digest **ret, uint32_t *ret_n, bool *ret_has_gaps);
/* A number that changes when a build gets a program, or another one. Reads a small row for each build. */
int build_programs_state(struct workspace *w, uint64_t *ret);
/* The number of deliberate re-measurements and repeated builds in the store's life: 0 means that no value ever changed. */
uint64_t runs_remeasured(struct workspace *w);
/* Makes mounts forget what they know of the solver. Call it in the transaction that replaces the value of a build, or one computed from runs. */
void replaced_note(struct store_txn *t, const struct solver *s);
/* Calls fn for each re-measurement but the first `since`. Only the last REMEASURED_KEPT are recorded. */
#define REMEASURED_KEPT 1024
struct remeasured {
        uint32_t solver, case_id; /* numbers of the solver and the case; case 0: a build or a reduction, with all that depends on it */
        bool has_seed;
        uint64_t seed, wall_ns, cpu_ns; /* as in struct cell */
        struct digest program;          /* every commit of any solver with this program shows the new value; zero for a build */
};
int runs_remeasured_since(struct workspace *w, uint64_t since, void (*fn)(void *user, const struct remeasured *r), void *user);
/* Calls fn with a line for each commit and case whose answers, under one seed or several, contradict the case's status ("kissat 1a2b3c4d5e6f says unsat
 * on case 42 (a.cnf), whose status is sat"), and for each case of unknown status on which two cells contradict each other. Only present answers count:
 * nothing is reported for a cell that was removed, or measured again and is right now. `of`: only lines that name this solver; NULL: all. */
enum answer_alarm {
        ANSWER_WRONG,
        ANSWER_CONTRADICTION
};
const char *answer_alarm_name(enum answer_alarm a); /* "WRONG ANSWER" */
typedef int (*wrong_answer_fn)(void *user, enum answer_alarm a, const char *line);
int wrong_answers(struct workspace *w, const struct solver *of, wrong_answer_fn fn, void *user);
/* Prints such a line for a wrong fact. */
void wrong_line(const struct cell *cell, const struct fact *f, struct buffer *ret);
/* 1 and the line if two cells contradict each other on the case or query. 0 if none do, or if the fact `f` is NULL, is wrong or has no answer. */
int dispute_find(struct workspace *w, const struct case_info *info, const struct fact *f, struct buffer *ret);
/* Call this when the status of a case becomes known: stored answers may be wrong. -ENODATA: not all of them can be looked up now (noted_cell.h); the
 * others are judged. */
int answers_look_again(struct workspace *w, uint32_t info);
