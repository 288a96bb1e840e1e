/* A solver's answer. SMT-LIB: each line of standard output that is exactly sat, unsat or unknown is an answer, in order; other lines are passed over.
 * If "(error" begins a line before the first answer, there is no answer but an error. By SMT-COMP's rule it is an error, too, if the first
 * line that is not blank, "success", "unsupported" or a comment contains "error". An output without answer and error is unknown. DIMACS: the line
 * "s SATISFIABLE", "s UNSATISFIABLE" or "s UNKNOWN", or if there is no such line, the exit status 10 or 20; an error if they contradict each other.
 *
 * A script's questions are its check-sat and the like (core/smtlib/script.h). A run that ended by itself and left one unanswered has not solved the
 * case: the verdict is error if the solver printed one or its exit status is not 0, else unknown. More answers than questions are an error: nobody can
 * tell which is the one. The list ends with the first one too many.
 *
 * An answer behind "(error" may be of another formula: the solver may have dropped an assertion. In a run that left questions unanswered, it may also be
 * of another question; so may one behind "unsupported". Such answers are not certain: no solver is called wrong for one.
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

struct verdicts {
        enum verdict *list; /* one for each check-sat answered; malloc'd, like `ends` */
        uint64_t *ends;     /* how many bytes had been printed at the end of each answer's line */
        size_t n;
        size_t n_certain; /* so many of the list, from its first on, are certain; none if there are more answers than questions */
        enum verdict last; /* the run's verdict: the last answer, or how the run ended (timeout, crash, …) */
        bool is_answer;    /* `last` is the last of the list; else the run ended in another way (or with an answer behind the cut) */
};
/* Reads the verdicts from the output and the end of a run, for an input with so many questions (0: not known). A run that ended by a limit or a
 * signal, or gave too few or too many answers, keeps its answers in `list`, but `last` is how it ended. If the output was cut, nobody knows how many
 * answers are missing: then the last answer counts, and unless all are there the list has only those before the cut. */
void verdict_read(enum format format, size_t questions, const struct execute_result *r, struct verdicts *ret);
void verdicts_done(struct verdicts *v);

/* The run's verdict for studies that rely on answers: VERDICT_ERROR in place of an answer that is not certain, or of an unknown that is no answer. */
static inline enum verdict verdict_believed(const struct verdicts *v)
{
        return (v->is_answer ? v->n_certain < v->n : v->last == VERDICT_UNKNOWN) ? VERDICT_ERROR : v->last;
}

/* True if a certain answer contradicts the case's own status (sat against unsat). expected[i] is VERDICT_UNKNOWN if the case states none. */
bool verdict_is_wrong(const struct verdicts *v, const enum verdict *expected, size_t n_expected);

/* The name, in r's output, of a shared library that the loader did not find on this machine; empty: none is missing. A library for which there is no
 * memory is not missing. */
struct slice verdict_missing_library(const struct execute_result *r);
