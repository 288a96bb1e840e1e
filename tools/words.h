/* What the words of a command line mean: solvers, revisions, cases. */
#pragma once

#include "command.h"

/* Each returns a status; why is said when it is not STATUS_OK. */
int command_solver(struct workspace *w, const char *name, struct solver **ret);

struct revisions {
        uint32_t *list; /* commits, in the order asked for, each once */
        size_t n;
};
/* Anything history_resolve() takes, and A..B: the commits on B's first-parent line that are not on A's, oldest first. */
int command_revisions(struct solver *s, char *const *words, size_t n, struct revisions *ret);
void revisions_done(struct revisions *r);
#define cleanup_revisions cleanup(revisions_done)

struct selection {
        struct case_info **list; /* owns refs */
        size_t n;
};
/* A case by id, name, or a prefix of its sha256 (four digits at least); a file whose bytes it is; several by A-B (ids), by a pattern
 * with * ? [ over names, by FOLDER/ of names, by the name of a set, or `all`. In the order asked for, each once. */
int command_cases(struct workspace *w, char *const *words, size_t n, struct selection *ret);
void selection_done(struct selection *s);
#define cleanup_selection cleanup(selection_done)

void commit_hex(struct solver *s, uint32_t commit, char ret[GIT_OID_HEXSZ + 1]); /* full sha; "?" when it cannot be read */
