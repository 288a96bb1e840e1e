/* Answers that cannot be right: one that contradicts the status of its case, or two that contradict each other on a case of unknown status.
 * A wrong answer matters more than any time, so it is noted when its fact is put (noted_cell.h). A row in said/ has a letter for each question (each
 * check-sat) of its case: s for sat, u for unsat, ? for anything else. Rows with the same letters are a group, and a new answer is compared with one
 * row of each. A row disputed/<case> says that two answers to the case contradicted each other when the later one was put. */
#pragma once

#include "core/query/noted_cell.h"

/* Writes the fact's rows in wrong/, said/ and disputed/, for fact_note(). */
int answers_note(struct store_txn *t, const struct noted_fact *f);
/* Logs a wrong or disputed answer, for the log of a mount. Call it after the transaction that put the fact. */
void answers_log(struct workspace *w, const struct noted_fact *f);
/* Sets f->wrong of a stored fact by the case's present status, which may be newer than the fact. */
void answers_judge(struct fact *f, const struct case_info *info);
/* True if a certain answer (verdict.h) of the chosen sample contradicts the expected one; fact->wrong covers the other samples. */
bool answers_contradict(const struct fact *f, const struct case_info *info);
