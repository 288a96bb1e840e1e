/* The secondary index of facts: finds certain facts without reading them all. A row names the cell of a fact (solver, commit, case, seed, time
 * limits). Its reader looks the fact up, and skips the row if the case or the solver was removed or the answer was measured again.
 *
 * Rows are in TABLE_META. <fact> is a digest of the fact's key. A row's value is the cell, then what the second column below says, then '@' and the
 * machine's name if the fact was imported from another machine (the value's version is then 4, in some stores 3):
 *
 *     wrong/<fact>                           the answer contradicts the case's status
 *     disturbed/<fact>      tries            every sample was disturbed (disturbed.h)
 *     said/<case>/<answers>/<fact>  letters  the answers where the status is unknown or was set (answers.h); <answers> is a digest of the letters
 *
 * All code that puts a fact, imports included, calls fact_note(), so the rows follow the facts. */
#pragma once

#include "cache/base/transfer.h"
#include "core/query/query_internal.h"

struct noted_fact {              /* all borrowed */
        const struct cell *cell; /* with its case as it is now */
        git_oid commit;
        struct slice key; /* the fact's, in TABLE_FACTS */
        const struct fact *fact;
};
/* Writes the rows of a fact, and its setting's name, in the transaction that puts the fact. The commit's id cannot be looked up in that transaction,
 * so *f has it. */
int fact_note(struct store_txn *t, const struct noted_fact *f);
/* Puts the fact's row below a prefix, with `rest` behind its cell; drops it if `holds` is false. */
int note_set(struct store_txn *t, const char *prefix, const struct noted_fact *f, bool holds, struct slice rest);
int note_drop(struct store_txn *t, const char *row);
/* Reads or writes a cell as numbers, all of *c but `program`. The values of these rows, and of those in run_notes.c, begin with it. */
void transfer_numbers(struct transfer *t, struct remeasured *c);
struct remeasured numbers_of(const struct cell *cell);

#define NOTE_KEY_SIZE 128
struct note {
        char key[NOTE_KEY_SIZE];
        struct buffer value;
};
void note_done(struct note *n);
#define cleanup_note cleanup(note_done)
struct slice note_rest(const struct note *n);    /* the second column */
const char *note_machine(const struct note *n);  /* NULL: none is named */
const void *note_commit(const struct note *n);   /* GIT_OID_RAWSZ bytes; NULL: the row is damaged */
/* Replaces *n by the first row of the prefix from n->key on. 1, or 0 if there is none. */
int note_next(struct store_txn *t, const char *prefix, struct note *n);

struct notes {
        struct note *list;
        size_t n;
};
/* Reads all rows of a prefix at once, so that the caller can read other tables for each: transactions do not nest. */
int notes_read(struct workspace *w, const char *prefix, struct notes *ret);
void notes_done(struct notes *n);
#define cleanup_notes cleanup(notes_done)

struct noted_cell { /* the cell that a row names, and the references that keep it alive; cell.machine is in the struct note */
        struct cell cell;
        struct fact *fact; /* a ref; the cell's present fact, brief */
};
/* -ENOENT: the cell is gone, or its commit from the repository, or it has no answer. -ENODATA, with a sentence: it cannot be looked up now, as its
 * solver's recipe names a revision that is not there. Call noted_done() on *ret in any case. */
int noted_open(struct workspace *w, const struct note *n, struct noted_cell *ret);
void noted_done(struct noted_cell *n);
#define cleanup_noted cleanup(noted_done)
