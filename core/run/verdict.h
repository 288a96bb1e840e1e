/* A solver's answer. SMT-COMP's rules: of standard output, the first line that is not blank, "success", "unsupported" or a comment is the
 * answer if it is exactly sat, unsat or unknown; containing "error" it is an error; anything else is unknown. With several check-sat,
 * each line that is exactly one of the three is an answer, in order. DIMACS: the line "s SATISFIABLE", "s UNSATISFIABLE" or
 * "s UNKNOWN" (and exit codes 10 and 20 as a fallback when there is no such line).
 *
 * A script's questions are its check-sat. A run that ended by itself and left one unanswered has not solved the case: it is an error where it said
 * so or exited with another status than 0, else unknown. More answers than questions are an error: none can be told to be the one.
 * Thread-safe, pure. */
#pragma once

#include "core/recipe/recipe.h"
#include "core/sandbox/execute.h"

enum verdict {
        VERDICT_SAT,
        VERDICT_UNSAT,
        VERDICT_UNKNOWN,
        VERDICT_TIMEOUT,
        VERDICT_MEMOUT,
        VERDICT_CRASH,
        VERDICT_ERROR,
        VERDICT_UNBUILDABLE,
        N_VERDICTS
};
const char *verdict_name(enum verdict v);
bool verdict_find(struct slice name, enum verdict *ret);
static inline bool verdict_is_decided(enum verdict v)
{
        return v == VERDICT_SAT || v == VERDICT_UNSAT;
}

/* The next line of a text, without its newline, is taken from `rest`. False at the end. */
bool slice_next_line(struct slice *rest, struct slice *ret);

struct verdicts {
        enum verdict *list; /* one for each check-sat answered; malloc'd, as the next */
        uint64_t *ends;     /* of SMT-LIB: how much had been printed at the end of each one's line */
        size_t n;
        enum verdict last; /* the run's verdict: the last answer, or how the run ended (timeout, crash, …) */
        bool is_answer;    /* `last` is the last of the list; else the run ended otherwise */
};
/* From what was printed and how it ended, for an input of so many questions (0: not known). A run that ended by a limit or a signal, or had too
 * few answers or too many, keeps those it gave in `list`, but `last` is how it ended. Of output that was cut nobody knows how many are missing:
 * then the last answer counts. */
void verdict_read(enum format format, size_t questions, const struct execute_result *r, struct verdicts *ret);
void verdicts_done(struct verdicts *v);

/* Compares answers with what the case says of itself (expected[i], VERDICT_UNKNOWN when it says nothing): true when one
 * contradicts (sat against unsat). */
bool verdict_is_wrong(const struct verdicts *v, const enum verdict *expected, size_t n_expected);
