/* Programs without a repository: `exec:PATH ARG …` names a program of this machine with a command line, wherever a version is named.
 *
 * Each is a commit of the solver `programs`, which is made when the first one is named, and like any other from then on: its commits are built (that
 * is, the file is kept), run, compared, shown in the mount. A commit is the file's bytes and the command line, and has no parents; its tag is the
 * program's name. The config has a [binary "programs NAME"] for each, with its `run` and `seed`; limits and `effort` are those of [solver "programs"].
 *
 *     'exec:/usr/bin/z3 -st'                                   run as: z3 -st {case}
 *     'exec:/usr/bin/z3 smt.random_seed={n} {case}'            the word with {n} (or {seed}) is there when a seed is asked for
 *     'exec:/opt/a/sat --seed {n}'                             of a {n} alone the option before it, too
 *     "exec:'/opt/my solver/sat' {case} /dev/null"             a path with blanks
 *
 * The name is what the program's --version prints (`Z3-4.8.12`), else the file's name and eight digits of its digest (`sat@1a2b3c4d`), and the
 * arguments; eight digits more where another program has that name already.
 *
 * Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

bool program_is_text(const char *text); /* begins with "exec:" */

/* The digest of a program of this machine, by its bytes (core/run/file_digest.h). -EINVAL with a sentence: it is none. */
int program_digest(const char *path, struct digest *ret);

/* The solver (a reference) and the commit. A program that was not named before is looked at, run once with --version, copied into the store, and
 * added to the config: up to some seconds. -EINVAL, -ENOENT, -EACCES with a sentence that quotes the text. -EEXIST: a solver of somebody's has the
 * name `programs`. */
int program_commit(struct workspace *w, const char *text, struct solver **ret, uint32_t *ret_commit);

/* Runs programs by the recipe with --version for at most ten seconds, on a slot's cores or `remote`. *ret_line: the
 * first line on standard output; "" where it does not exit. -ENOEXEC with a sentence: it cannot be executed here. */
#define VERSION_LINE 200
struct recipe;
struct run_remote;
int program_ask_version(struct workspace *w, const struct recipe *recipe, const struct run_program *list, size_t n, const cpu_set_t *cpus,
                        struct run_remote *remote, int cancel_fd, int *ret_code, char ret_line[VERSION_LINE]);

/* How people call a commit: of `programs` its name; else twelve digits. */
#define COMMIT_NAME_SIZE 128
void program_name_at(const struct solver *s, uint32_t commit, char ret[COMMIT_NAME_SIZE]);
