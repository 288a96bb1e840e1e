/* Answers that cannot be right: one that contradicts the status of its case, and two that contradict each other on a case whose status
 * nobody knows. Such matter more than any time, so they are noted when a fact is put, and listed by themselves.
 *
 * In TABLE_META, each row naming its cell (solver, commit, case, seed, time limit), <fact> being a digest of the fact's key:
 *
 *     wrong/<fact>                           its answer contradicts the case's status
 *     said/<case>/<answers>/<fact>           what it answered where the status is unknown; <answers> is a digest of "su?s…"
 *     disputed/<case>                        there are two <answers> that contradict each other
 *
 * A row only says where to look: what is told is what the facts say now, so that nothing is told of a case that was removed, of a solver
 * that is gone, of a program that is another one by now, or of what was measured again and is right. */
#pragma once

#include "core/query/noted_cell.h"

/* Its rows, in the transaction that puts it; which the store is only written in, so that the commit is looked up before. */
int answers_note(struct store_txn *t, const struct noted_fact *f);
/* Writes the fact to the log of a mount, after the transaction; commands report it themselves. */
void answers_log(struct workspace *w, const struct noted_fact *f);
/* Does an answer contradict what is expected? Of the chosen sample; fact->wrong knows of the others. */
bool answers_contradict(const struct fact *f, const struct case_info *info);
