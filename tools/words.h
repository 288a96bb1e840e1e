/* Reads the words of a command line: solvers, revisions, cases (core/workspace/select.h has their language). A word that cannot be read ends the
 * command with a message. find_solver() and find_commit() print the message and return an exit status instead, but for a wrong word HOST+LIBRARY. */
#pragma once

#include "command.h"
#include "core/query/programs.h"
#include "core/workspace/combination.h"
#include "core/workspace/select.h"
#include "core/study/judge/judge.h"
#include "core/study/observation/observation.h"

/* -- solvers and programs ----------------------------------------------------------------------------------------- */

int find_solver(const char *name, struct solver **ret);
void command_solver(const char *name, struct solver **ret);
/* Opens the store and common.solver: command_open(), command_run_on() and command_solver(). */
void command_open_solver(int store_flags, const char *cluster, const char *name);
/* The same for writing. If the solver is `programs`, also replaces each word by command_program(); a word may be NULL. */
void command_open_solver_with(const char *cluster, const char *name, const char **words, size_t n);
/* Opens the store and the solver that the first word names, and removes this word. If the first word is a program of the machine (exec:PATH), the
 * solver is `programs`, and all words stay. The words left are revisions and cases. At least one word is needed. */
void command_open_versions(const char *cluster, struct words *words);
/* For commands that follow a history: refuses `programs`, which have none. */
void command_need_history(void);
/* Finds the commit of a program, exec:PATH ARG..., by program_commit(). *ret: a reference. */
void command_find_program(const char *text, struct solver **ret, uint32_t *ret_commit);
/* Replaces a word exec:PATH ARG... by the name of its commit of `programs` (core/query/programs.h); leaves others. The store must be open. */
void command_program(const char **word);
/* Reads HOST@REV+LIBRARY or HOST+LIBRARY@REV (core/workspace/combination.h). *ret: a solver with the commits of the part that has no REV; `name`: its
 * name, NULL: the usual one. False: the word is neither. */
bool command_combined_word(const char *word, const char *name, struct solver **ret);
/* combination_solver(), with its note, if any; the part `fixed` stays at its revision. */
void command_combined(const struct combination *c, enum combination_part fixed, const char *name, struct solver **ret);
/* Refuses a seed (`is_asked`: one was given) if the commit's recipe (solver_recipe_at()) takes none. */
void command_seed(const struct solver *s, uint32_t commit, bool is_asked);
int seed_check(const struct solver *s, uint32_t commit, bool is_asked); /* the same, but returns -EINVAL with a sentence */

/* -- revisions and versions --------------------------------------------------------------------------------------- */

void command_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret);
/* The argument of `option`: exactly one commit. */
uint32_t command_commit(struct solver *s, const char *option, const char *word);
int find_commit(struct solver *s, const char *option, const char *word, uint32_t *ret);
/* The line of first parents of common.solver from `from` (NULL: its root) to `to` (NULL: HEAD), both included, oldest first. If `from` is not on the
 * line of `to`, it begins where the two part. */
void command_first_parents(const char *from, const char *to, struct revisions *ret);
/* The commits of a line that have a stored result of any case, in its order. `machine`: as in struct cell. */
void command_known(const char *machine, const struct revisions *line, struct revisions *ret);
/* A version of common.solver, named briefly or in full; version_free(). */
struct version *command_version(const char *text);

/* -- cases -------------------------------------------------------------------------------------------------------- */

void command_cases(char *const *words, size_t n, struct case_selection *ret);
/* Refuses a query of a script (CASE#N); command_whole_cases() any. */
void command_whole_case(const struct case_info *info);
void command_whole_cases(char *const *words, size_t n, struct case_selection *ret);
/* The one whole case that a word names; case_info_unref(). `why` begins the message for a word that names several. */
struct case_info *command_case(const char *word, const char *why);
/* Reads REV... CASE..., at least two words; revisions are of common.solver. The first word is a revision, the last a case; in between, the cases begin
 * with the first word that names one. Returns how many words are revisions. */
size_t command_revisions_and_cases(char *const *words, size_t n, struct revisions *ret_revisions, struct case_selection *ret_cases);
/* True if the first word is a case and not a revision of common.solver. */
bool command_begins_with_case(char *const *words, size_t n);
/* Reads [REV...] [CASE...] of stored results of common.solver; both may be missing. A first word that can be a revision is one; after it the cases
 * begin with the first word that names one. Returns how many words are revisions. */
size_t command_known_words(char *const *words, size_t n, struct revisions *ret_revisions);
/* Removes the cases of a format that the solver does not take, with a note. If a word names such a case alone, also complains and raises
 * common.status. Ends the command if no case is left. */
void command_keep_format(const struct solver *s, char *const *words, size_t n, struct case_selection *cases);
/* Refuses a case that the version does not take. */
void command_check_format(const struct version *v, const struct case_info *info);

/* -- findings, alarms, machines ----------------------------------------------------------------------------------- */

/* Reads "spr/3", a finding of common.solver, and with `alarms` also "alarms/1". 1: found; 0: the word names none; -errno. Refuses an alarm that is not
 * about two versions on a case. */
int command_finding(const char *word, bool alarms, struct observation **ret);
/* For --mark: opens the solver and stores the mark of one of its findings or alarms, from the words: a mark, and perhaps a URL. */
void command_mark(enum observation_series series, const char *solver, uint32_t number, struct words *words);
/* The machine of --machine; free(). NULL, this machine, if `word` is NULL. */
char *command_machine(const char *word);

/* -- options and numbers ------------------------------------------------------------------------------------------ */

bool is_folder(const char *path);
/* Parsers for rows of --measure; `to` points to an enum judge_measure. The first takes time, memory and effort, the second all. */
void parse_measure(void *to, const char *text);
void parse_any_measure(void *to, const char *text);
struct short_text seconds_text(double seconds); /* "broken" unless finite */
json_t *json_number(double number);              /* null unless finite */
struct commit_label commit_brief(const struct commit_sha *sha); /* twelve digits */

/* -- messages about a result. `say` is note() or complain(). If *told is true, no message is printed; a printed one makes it true --------------- */

/* "z3 v1 cannot be built: why; see 'solverfs build --log z3 v1'". `build` and `told` may be NULL. */
void command_tell_unbuildable(void (*say)(const char *format, ...), struct solver *s, uint32_t commit, const struct build_record *build, bool *told);
/* Says that the program did not begin, and why. False: it did begin. `told` may be NULL. */
bool command_tell_not_started(void (*say)(const char *format, ...), const struct solver *s, uint32_t commit, const struct fact *f, bool *told);
/* True if another cell contradicts the answer, and it is unknown which is right: then prints the alarm and raises common.status. */
bool command_tell_disputed(const struct case_info *info, const struct fact *f, bool *told);
/* Prints the alarm about a wrong answer and raises common.status. */
void command_tell_wrong(const struct cell *cell, const struct fact *f);
/* Notes how many of the commits were built with tools that have changed since. */
void command_note_tools(struct solver *s, const uint32_t *list, size_t n);
