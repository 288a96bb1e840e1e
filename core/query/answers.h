/* Answers that cannot be right: one that contradicts the status of its case, or two that contradict each other on a case of unknown status.
 * A wrong answer matters more than any time, so it is noted when its fact is put (noted_cell.h). The letters of a row in said/ are "su?s…", one
 * for each question, that is each check-sat of the case. Rows with the same letters are a group. A row disputed/<case> says that two answers to the case
 * contradicted each other when they were put. */
#pragma once

#include "core/query/noted_cell.h"

/* Writes the fact's rows in said/ and disputed/, for fact_note(). */
int answers_note(struct store_txn *t, const struct noted_fact *f);
/* Writes the fact to the log of a mount, after the transaction; commands report it themselves. */
void answers_log(struct workspace *w, const struct noted_fact *f);
/* Judges a stored fact by the case's status as it is now: that may be newer than the fact. */
void answers_judge(struct fact *f, const struct case_info *info);
/* True if a certain answer (verdict.h) of the chosen sample contradicts the expected one; fact->wrong covers the other samples. */
bool answers_contradict(const struct fact *f, const struct case_info *info);
