/* Programs without a repository: `exec:PATH ARG …` names a program of this machine with a command line, wherever a version is named.
 *
 * Each program is a commit of the solver `programs`, which is made when the first program is named. From then on it is like any other solver: its
 * commits are built (the file is kept), run, compared, shown in the mount. A commit stands for a file's name (which is $0), its bytes and a command
 * line. It has no parents, and its tag is the program's name. The config has a [binary "programs NAME"] for each, with `run` and `seed`; limits and
 * `effort` are in [solver "programs"].
 *
 *     'exec:/usr/bin/z3 -st'                                   runs z3 -st {case}
 *     'exec:/usr/bin/z3 smt.random_seed={n} {case}'            the word with {n} (or {seed}) is used only with a seed
 *     'exec:/opt/a/sat --seed {n}'                             a lone {n} and the option before it likewise
 *     "exec:'/opt/my solver/sat' {case} /dev/null"             a path with blanks
 *
 * The name begins with what the program's --version prints (`Z3-4.8.12`), or else with the file's name and eight digits of its digest
 * (`sat@1a2b3c4d`). The arguments follow, and eight more digits if another program has that name already.
 *
 * Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

bool program_is_text(const char *text); /* begins with "exec:" */

/* The digest of a program of this machine, by its bytes (core/run/file_digest.h). -EINVAL with a sentence: not a program. */
int program_digest(const char *path, struct digest *ret);

/* The solver (a reference) and the commit. A new program is checked, run once with --version on a core of its own, copied into the store, and
 * added to the config: this takes up to some seconds, and waits for a core and for others who change the config. -ECANCELED: `cancel_fd` (-1: none) is
 * readable, or `progress` (may be NULL) says stop. -EINVAL, -ENOENT, -EACCES: with a sentence that quotes the text. -EEXIST: a solver of the user's is
 * called `programs`. */
int program_commit(struct workspace *w, const char *text, int cancel_fd, const struct progress *progress, struct solver **ret, uint32_t *ret_commit);

/* Runs programs by the recipe with --version for at most ten seconds, on a slot's cores or `remote`. *ret_line: the first line on standard output,
 * "" if the program does not exit. -ENOEXEC with a sentence: it cannot be executed here. */
#define VERSION_LINE 200
struct recipe;
struct run_remote;
int program_ask_version(struct workspace *w, const struct recipe *recipe, const struct run_program *list, size_t n, const cpu_set_t *cpus,
                        struct run_remote *remote, int cancel_fd, int *ret_code, char ret_line[VERSION_LINE]);

/* The name of a commit for people: a program's name for `programs`, else twelve digits. */
struct commit_label {
        char s[128];
};
struct commit_label commit_label(const struct solver *s, uint32_t commit);
