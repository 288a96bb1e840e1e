/* The queries: what can be worked out. Each constructor finds out what the value depends on (the key) and returns a query to give to
 * the engine; errors are -ENOENT (no such commit or case), -ESTALE, store.h's.
 *
 * Run key = digest of the program ‖ case sha256 ‖ run digest (template, arguments, environment, seed, machine: cell_machine()), in that order, so that all
 * that is known of a program, or of a program on a case, is one range of the facts table. Facts stand below it by their limits. Results
 * follow the bytes: commits whose programs are the same share them, and a commit that is not built has none. Which program a commit has
 * is known by the record of its build, also when gc has dropped the program itself.
 *
 * Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

struct build_value {
        struct value value;
        struct build_record *record; /* owns a ref; without the log when found, see build_log() */
};
struct file_value { /* of a program, or of a scrambled input */
        struct value value;
        int fd; /* owned; it holds a program in the folder */
};
struct value *file_value_new(const struct query_type *type, int fd);
int file_value_fd(struct value *v); /* another descriptor, that holds the program as well; -1: errno */
void file_value_done(struct value *v);
struct run_value {
        struct value value;
        struct fact *fact;          /* owns a ref; NULL: the commit cannot be built */
        struct build_record *build; /* owns a ref; set when fact is NULL */
};

/* A cell: what a run is asked of. Shared by value; solver and case are borrowed from the caller. */
struct cell {
        struct solver *solver;
        uint32_t commit;
        struct case_info *info;
        bool has_seed;
        uint64_t seed;
        uint64_t scramble; /* 0: none; else `info` is an input that was scrambled by this seed (scrambled.h), which is for words and listings only */
        uint64_t wall_ns; /* 0: the recipe's */
        /* 0: times are those of the clock on the wall. Else those of CPU time, of which this is the limit; by the clock a run may take CPU_PATIENCE times
         * that, whatever wall_ns says. */
        uint64_t cpu_ns;
        /* NULL: where the solver's runs are done. A machine's name (machines.h), borrowed: what is known of that one, and nothing is run. Its results are
         * then those under whatever limits they were measured, the longest, unless wall_ns asks for one. */
        const char *machine;
};

#define CPU_PATIENCE 50

int query_build(struct workspace *w, struct solver *s, uint32_t commit, struct query **ret);
/* The same, built anew when something that it used is not what it was (commit_tools_changed()). */
int query_current_build(struct workspace *w, struct solver *s, uint32_t commit, struct query **ret);
/* What the last builds of its repository took, as a moving average; 0: none was built. */
uint64_t build_usual_ns(struct workspace *w, const struct solver *s);
/* `output` NULL: {bin}. `kept`: never builds; -ENOENT when it would have to. */
int query_program(struct workspace *w, struct solver *s, uint32_t commit, const char *output, bool kept, struct query **ret);
int query_run(struct workspace *w, const struct cell *cell, struct query **ret);
/* A measurement of a cell by its number, for who has to know how it varies: 0 is the first one; each is kept for good: the same number is the same
 * measurement. The cell's value is chosen among all of them (cell_value.h). The value of the query is a run_value. */
int query_sample(struct workspace *w, const struct cell *cell, uint32_t sample, struct query **ret);

/* Calls fn for each measurement that is kept, in the order of numbers, until it returns other than 0, which is returned; those of --again have
 * none. -ENOENT: the commit is not built, or cannot be. */
typedef int (*sample_fn)(void *user, uint32_t sample, const struct fact *f);
int samples_known(struct workspace *w, const struct cell *cell, bool brief, sample_fn fn, void *user);

extern const struct query_type query_build_type, query_program_type, query_run_type;

/* The recipe that a commit's runs follow: the solver's, or that of its [binary] where the commit is a released program with a `run` of its own. Lives as
 * long as the solver's. */
const struct recipe *solver_recipe_at(const struct solver *s, uint32_t commit);
/* The machine that results of the cell stand under. False: it is on a cluster of which that is not known yet (worker_pool.h). */
bool cell_machine(const struct cell *cell, char ret[PATH_SIZE]);
/* Asks for another limit of time, by the clock on the wall or of CPU time, whose times the cell then has; 0: the recipe's. */
void cell_set_timeout(struct cell *cell, bool is_cpu_time, uint64_t timeout_ns);
/* Run n of a cell beside others of it: under the solver's seed that is n further, where its recipe has one, else repetition n, which is returned for
 * query_sample(); else 0. Run 0 is the cell as it is. */
uint32_t cell_draw(struct cell *cell, uint32_t n);
/* The limits a cell is asked under. */
void cell_limits(const struct cell *cell, struct recipe_limits *ret);
/* The seconds of a fact that answers the cell, by its clock: fact_seconds(), or CPU time, of which a timeout has all. */
double cell_seconds(const struct cell *cell, const struct fact *f);

/* -- what is known already; never starts work -------------------------------------------------------------------- */

#define RUN_KEY_SIZE (3 * DIGEST_SIZE)
/* -ENOENT: no such commit; or it is not built, or cannot be. */
int run_key(struct workspace *w, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]);
/* The fact that answers the cell, -ENOENT. */
int run_find(struct workspace *w, const struct cell *cell, bool brief, struct fact **ret);
int build_find(struct workspace *w, struct solver *s, uint32_t commit, bool with_log, struct build_record **ret);
/* Calls fn for each name in the root of the sources that the commit's build asked for. -ENOENT: that is not known. */
int commit_sources_used(struct workspace *w, struct solver *s, uint32_t commit, void (*fn)(void *user, const char *name), void *user);
/* Is something that the commit's build used (core/build/used.h) not what it was? Looked at once in a second at most. Its program and all results
 * stay, until it is built anew (query_current_build()). *ret_path: the first such file, to be freed; NULL: nobody asks. False where nothing is known. */
bool commit_tools_changed(struct workspace *w, struct solver *s, uint32_t commit, char **ret_path);
/* Of how many of the commits; *ret_path, to be freed, is the first file of the first of them. */
size_t commits_tools_changed(struct workspace *w, struct solver *s, const uint32_t *list, size_t n, char **ret_path);
int build_open_live_log(struct workspace *w, struct solver *s, uint32_t commit, int *ret_fd); /* live_log_open() of its build */
/* Ids of the cases with an answer for this commit and setting (cell->info is ignored), in order; free(). */
int runs_known(struct workspace *w, const struct cell *cell, uint32_t **ret_ids, size_t *ret_n);
/* Commits (numbers, ascending) with anything finished, a build or a run, on that machine; NULL: as in struct cell. free(). */
int commits_known(struct workspace *w, struct solver *s, const char *machine, uint32_t **ret, size_t *ret_n);
/* The program of every commit, (*ret)[number]; zero where none is known; free(). */
int commit_programs(struct workspace *w, struct solver *s, struct digest **ret, uint32_t *ret_n);
/* How many deliberate re-measurements the store has seen, and builds that were known and done anew: 0 means that no value ever changed. */
uint64_t runs_remeasured(struct workspace *w);
/* In the transaction that puts another value in the place of a build, or of one that is worked out of runs: mounts forget what they know of the
 * solver. */
void replaced_note(struct store_txn *t, const struct solver *s);
/* The re-measurements after the first `since`, as far as they are still recorded (the last REMEASURED_KEPT). */
#define REMEASURED_KEPT 1024
struct remeasured {
        uint32_t solver, info; /* numbers of the solver and the case; case 0: a build, or a reduction, and all that depends on it */
        bool has_seed;
        uint64_t seed, wall_ns; /* as in struct cell */
        struct digest program;  /* every commit with this program shows the new value, of whatever solver; of a build: zero */
};
int runs_remeasured_since(struct workspace *w, uint64_t since, void (*fn)(void *user, const struct remeasured *r), void *user);
/* A line for each cell whose answer contradicts the status of its case ("kissat 1a2b3c4d5e6f says unsat on case 42 (a.cnf), whose status is
 * sat"), and one for each case of unknown status that two cells contradict each other on. As all is now: of what was removed or measured
 * again and is right nothing is told. */
enum answer_alarm {
        ANSWER_WRONG,
        ANSWER_CONTRADICTION
};
const char *answer_alarm_name(enum answer_alarm a); /* "WRONG ANSWER" */
typedef int (*wrong_answer_fn)(void *user, enum answer_alarm a, const char *line);
int wrong_answers(struct workspace *w, wrong_answer_fn fn, void *user);
/* Is such a line about this solver? It names solvers as "NAME sha", at its beginning or behind a space. */
bool answer_line_is_about(const char *line, const char *solver);
/* The same line, for a fact that is wrong. */
void wrong_line(const struct cell *cell, const struct fact *f, struct buffer *ret);
/* 1 and the line when there are cells that contradict each other on the case, 0 when not. */
int dispute_find(struct workspace *w, uint32_t info, struct buffer *ret);
/* To be called when the status of a case became known: what was measured may be wrong. */
int answers_look_again(struct workspace *w, uint32_t info);
