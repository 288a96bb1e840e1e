/* Versions, which campaigns and comparisons run on inputs. Three ways to name one:
 *
 *     REV                 a commit of the solver: anything history_resolve() takes
 *     REV:ARG …           the same program with further arguments, before {case}: an option flip needs no build
 *     exec:PATH ARG …     a program of this machine (core/query/programs.h), which is a commit of the solver `programs`
 *
 * A version's text in full, as in findings and tables, has the full sha (or the program's sha256), so that it always names the same.
 *
 * Threads: any; a version is immutable once it is parsed. */
#pragma once

#include "core/query/held.h"
#include "core/query/programs.h"
#include "core/query/query.h"

struct version {
        char *text;            /* in full: "1a2b…", "1a2b…:smt.arith.solver=6", "exec:/usr/bin/z3 -smt2@sha256:…" */
        char *name;            /* as typed; of a program its name */
        struct solver *solver; /* owns a ref; its recipe has the arguments. Of a program: `programs`, with a copy of the recipe that runs it */
        uint32_t commit;       /* of that solver */
        bool has_arguments;
};
/* -- parsing -- */

/* -ENOENT, -ENOTUNIQ, -EINVAL: with a sentence that quotes the text. -ECANCELED: `cancel_fd` (-1: none) is readable while a new program waits for a
 * core (program_commit()). */
int version_parse(struct workspace *w, struct solver *s, const char *text, int cancel_fd, struct version **ret);
/* Parses a text in full; the version's name is version_brief(). -ESTALE with a sentence: a program has other bytes now. */
int version_parse_in_full(struct workspace *w, struct solver *s, const char *text, int cancel_fd, struct version **ret);
struct version *version_free(struct version *v);
DEFINE_CLEANUP(struct version *, version_free)
#define cleanup_version cleanup(version_freep)

/* True if both run the same bytes with the same arguments. */
bool version_is_same(const struct version *a, const struct version *b);

/* -- texts in full -- */

/* True if the text begins with a sha, with or without arguments; false for exec:PATH and for "". */
bool version_begins_with_sha(const char *text);
/* The same, but false for commits of the solver `programs`, which have no history. */
bool version_has_history(const struct solver *s, const char *text);
/* True if it is a full sha and nothing else: no arguments, no program. */
bool version_is_commit(const char *text);
/* The number of the commit that it names, or history_resolve()'s error. */
int version_commit(const struct solver *s, const char *text, uint32_t *ret);
/* The end of a program's text: "@sha256:" and the digest. NULL: it has none. */
const char *version_digest(const char *text);
/* A short form for people: twelve digits of the sha, or the program's name; no digest; free(). */
char *version_brief(const struct solver *s, const char *text);

/* -- its program -- */

/* Builds a version if need be. -ENODATA: it cannot be built; the sentence says how to see why. */
int version_build(struct engine *e, struct workspace *w, const struct version *v, enum priority p, int cancel_fd);

/* Holds the programs of a built version. -ENODATA: it cannot be built. */
int version_hold(struct workspace *w, const struct version *v, struct held *ret);

/* The first line that a version prints for --version, on a slot's cores or `remote`; "" if the line has no digit. An error: it could not be run. */
int version_ask(struct workspace *w, const struct version *v, const struct held *programs, const cpu_set_t *cpus, struct run_remote *remote,
                int cancel_fd, char ret[VERSION_LINE]);
