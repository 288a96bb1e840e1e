/* Reads the words of a command line: solvers, revisions, cases (core/workspace/select.h has their language). Where one cannot be read these end the
 * command, and say why; those named find_... return a status instead, having said why. */
#pragma once

#include "command.h"
#include "core/query/programs.h"
#include "core/workspace/combination.h"
#include "core/workspace/select.h"
#include "core/study/judge/judge.h"
#include "core/study/observation/observation.h"

int find_solver(const char *name, struct solver **ret);
/* combination_solver(), and a note where there is something to say. */
void command_combined(const struct combination *c, enum combination_part held, const char *name, struct solver **ret);
/* HOST@REV+LIBRARY or HOST+LIBRARY@REV; false: the word is neither. `name`: NULL, or what the solver is to be called. */
bool find_combined(const char *word, const char *name, struct solver **ret);
int find_commit(struct solver *s, const char *option, const char *word, uint32_t *ret);
void command_solver(const char *name, struct solver **ret);
/* program_commit() */
void command_find_program(const char *text, struct solver **ret, uint32_t *ret_commit);
/* Puts the name of its commit of `programs` in the place of a word that is exec:PATH ARG... (core/query/programs.h); others stay. The store is open. */
void command_program(const char **word);
/* Opens the store, and common.solver: the first word. Where that is a program of the machine, the solver is theirs, and all words are revisions and
 * cases. */
void command_open_versions(const char *cluster, struct words *words);
/* For commands that follow a history, which programs have not. */
void command_need_history(void);
/* command_open(), command_run_on() and command_solver(): common.solver. */
void command_open_solver(int store_flags, const char *cluster, const char *name);
/* Can the recipe be told a seed, where one `is_asked` for? Of programs each commit has its own say. */
void command_seed(const struct solver *s, uint32_t commit, bool is_asked);
void command_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret);
void command_cases(char *const *words, size_t n, struct case_selection *ret);
/* "spr/3": a finding of common.solver, and with `alarms` also "alarms/1". 1: it is one; 0: the word is none; -errno. An alarm is refused where it is
 * not of two versions on a case. */
int command_finding(const char *word, bool alarms, struct observation **ret);
/* Of an option --mark: opens the solver, and keeps what became of a finding or an alarm of it, as the words say: a mark, and perhaps where. `usage` is
 * for more words than these. */
void command_mark(enum observation_series series, const char *solver, uint32_t number, struct words *words, const char *usage);
/* Another machine by its name, as --machine has it; free(). NULL for this one, and when `word` is NULL. */
char *command_machine(const char *word);
/* A version of common.solver, as a person names it or in full; version_free(). */
struct version *command_version(const char *text);
/* The one case that a word names; case_info_unref(). `why` begins the sentence for a word that stands for several. */
struct case_info *command_case(const char *word, const char *why);
/* What `option` takes: exactly one commit. */
uint32_t command_commit(struct solver *s, const char *option, const char *word);
/* The line of first parents of common.solver from `from` (NULL: its root) to `to` (NULL: HEAD), both included, oldest first. Where `from` is not on
 * the line of `to`, from where the two part. */
void command_line(const char *from, const char *to, struct revisions *ret);
/* The commits of a line that anything is known of, in its order. `machine`: as in struct cell. */
void command_known(const char *machine, const struct revisions *line, struct revisions *ret);
/* REV... CASE..., two words at least; revisions of common.solver. The first is a revision, the last a case; between them the cases begin with the
 * first word that names one. Returns how many words are revisions. */
size_t command_revisions_and_cases(char *const *words, size_t n, struct revisions *ret_revisions, struct case_selection *ret_cases);

/* Is the first word a case, and no revision of common.solver? */
bool command_begins_with_case(char *const *words, size_t n);
/* [REV...] [CASE...], of what is known of common.solver: both may be missing. A first word that is a revision is one; behind it the cases begin with
 * the first word that names one. Returns how many words are revisions. */
size_t command_known_words(char *const *words, size_t n, struct revisions *ret_revisions);

/* For the row of an option --measure; `to` is an enum judge_measure. The first takes time, memory and effort, the second all. */
void parse_measure(void *to, const char *text);
void parse_any_measure(void *to, const char *text);

/* Notes how many of the commits were built with tools that are not what they were. */
void command_note_tools(struct solver *s, const uint32_t *list, size_t n);

/* "z3 v1 cannot be built: why; see 'solverfs build --log z3 v1'". `build` may be NULL. */
void unbuildable_text(struct solver *s, uint32_t commit, const struct build_record *build, struct buffer *ret);
/* The alarm of an answer that is wrong. */
void command_tell_wrong(const struct cell *cell, const struct fact *f);
/* Notes that so many cases are left out, as common.solver does not take their format; 0: none. */
void command_note_passed_over(size_t n);

bool is_folder(const char *path);

struct short_text seconds_text(double seconds); /* "broken" where there is no such number */
json_t *json_number(double number);              /* null where there is no such number */
struct commit_label {
        char s[COMMIT_NAME_SIZE];
};
struct commit_label commit_brief(const struct commit_sha *sha); /* twelve digits */
struct commit_label commit_label(const struct solver *s, uint32_t commit); /* for a sentence: twelve digits; a program's name */
