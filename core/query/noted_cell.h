/* Rows of TABLE_META that name a cell: solver, commit, case, seed, time limit. answers.h and disturbed.h keep such of facts. */
#pragma once

#include "core/query/query_internal.h"

struct noted_fact {              /* all borrowed */
        const struct cell *cell; /* with its case as it now is */
        git_oid commit;
        struct slice key; /* the fact's, in TABLE_FACTS */
        const struct fact *fact;
};
#define NOTED_SIZE (1 + 4 + 4 + 1 + 8 + 8 + GIT_OID_RAWSZ)
/* NOTED_SIZE bytes and `rest` behind them. 0, or -ENOMEM. */
int noted_encode(const struct noted_fact *f, struct slice rest, struct buffer *ret);
void noted_name(struct slice fact_key, char ret[33]); /* of the fact, to be a part of the row's key */

struct noted_cell { /* a cell that a row names, with what holds it */
        struct cell cell;
        struct fact *fact; /* a ref; what it says now, brief */
};
/* -ENOENT: there is no such cell any more, or it has no answer. *ret is to be given to noted_done() in any case. */
int noted_open(struct workspace *w, struct slice row, struct noted_cell *ret);
void noted_done(struct noted_cell *n);
#define cleanup_noted cleanup(noted_done)
