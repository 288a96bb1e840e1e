/* The secondary index of facts: which of them to look at, without reading them all. A row names the cell of a fact (solver, commit, case, seed, time
 * limit). Its reader looks the fact up: a case that was removed, a solver that is gone, and an answer that was measured again tell nothing.
 *
 * Rows are in TABLE_META. <fact> is a digest of the fact's key; the value is the cell, and behind it what stands in the second column:
 *
 *     wrong/<fact>                           its answer contradicts the case's status
 *     disturbed/<fact>      tries            others disturbed every sample of it (disturbed.h)
 *     said/<case>/<answers>/<fact>  letters  what it answered where the status is unknown (answers.h); <answers> is a digest of the letters
 *
 * fact_note() is called by everything that puts a fact, so the rows follow the facts; an import notes what it brings. */
#pragma once

#include "cache/base/transfer.h"
#include "core/query/query_internal.h"

struct noted_fact {              /* all borrowed */
        const struct cell *cell; /* with its case as it now is */
        git_oid commit;
        struct slice key; /* the fact's, in TABLE_FACTS */
        const struct fact *fact;
};
/* The rows of a fact, and its setting's name, in the transaction that puts the fact. In that transaction nothing else can be read, so *f comes with the
 * commit. */
int fact_note(struct store_txn *t, const struct noted_fact *f);
/* One row below a prefix, with `rest` behind its cell; `holds` false: it goes. */
int note_set(struct store_txn *t, const char *prefix, const struct noted_fact *f, bool holds, struct slice rest);
int note_drop(struct store_txn *t, const char *row);
/* A cell by its numbers, with which the values of these rows and of those of re-measurements begin; without `program`. */
void transfer_numbers(struct transfer *t, struct remeasured *c);
struct remeasured numbers_of(const struct cell *cell);

#define NOTE_KEY_SIZE 128
struct note {
        char key[NOTE_KEY_SIZE];
        struct buffer value;
};
void note_done(struct note *n);
#define cleanup_note cleanup(note_done)
struct slice note_rest(const struct note *n); /* what is behind its cell */
/* The first row of a prefix from n->key on takes its place. 1, or 0 when there is none. */
int note_next(struct store_txn *t, const char *prefix, struct note *n);

struct notes {
        struct note *list;
        size_t n;
};
/* All rows of a prefix. A caller can then read other tables for each: transactions do not nest. */
int notes_read(struct workspace *w, const char *prefix, struct notes *ret);
void notes_done(struct notes *n);
#define cleanup_notes cleanup(notes_done)

struct noted_cell { /* a cell that a row names, with what holds it */
        struct cell cell;
        struct fact *fact; /* a ref; what it says now, brief */
};
/* -ENOENT: there is no such cell any more, or it has no answer. *ret is to be given to noted_done() in any case. */
int noted_open(struct workspace *w, const struct note *n, struct noted_cell *ret);
void noted_done(struct noted_cell *n);
#define cleanup_noted cleanup(noted_done)
