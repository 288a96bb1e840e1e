/* Answers that cannot be right: one that contradicts the status of its case, and two that contradict each other on a case whose status
 * nobody knows. Such matter more than any time, so they are noted when a fact is put (noted_cell.h), and listed by themselves. The letters of a
 * row in said/ are "su?s…", one for each question; beside them, a row disputed/<case> says that two of its answers contradict each other. */
#pragma once

#include "core/query/noted_cell.h"

/* Its rows, for fact_note(). */
int answers_note(struct store_txn *t, const struct noted_fact *f);
/* Writes the fact to the log of a mount, after the transaction; commands report it themselves. */
void answers_log(struct workspace *w, const struct noted_fact *f);
/* Does an answer contradict what is expected? Of the chosen sample; fact->wrong knows of the others. */
bool answers_contradict(const struct fact *f, const struct case_info *info);
