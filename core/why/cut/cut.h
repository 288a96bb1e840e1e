/* The script that asks one query of another script.
 *
 * A query is a check-sat or a check-sat-assuming; they are numbered from 1, as case_questions() counts them. The commands are copied as they stand
 * in the script, those that nobody here knows among them; what stands between two commands is not.
 *
 *     CUT_ALONE   the query and nothing before it that is no longer in force: no push and pop, no reset, no popped assertion, no other query
 *     CUT_SCOPES  each query that is kept has the context that it had: the scopes around kept queries are there, with what is asserted and declared in
 *                 them before the last query that is kept
 *     CUT_WHOLE   the script up to the query, without the queries that are not kept
 *
 * In force is what the standard (SMT-LIB 2.6, section 4.1) says: assertions and declarations until their scope is popped, declarations under
 * :global-declarations until the next reset, options, the logic and infos likewise. After reset-assertions some solvers know what was declared, and some
 * do not: such a declaration stays until something of its name is declared again. Under :global-declarations a term that is :named in a scope that is
 * gone keeps its name: its assertion stays between a push and a pop of its own. A command that is not known here belongs to its scope, as an assertion
 * does. A :status goes with the query behind it; get-model, echo and other commands that only print go with the query right before them, or not at
 * all. check-sat-using of Z3 has no number, and is left out.
 *
 * Pure; any thread. */
#pragma once

#include "cache/base/util.h"

struct cut;

enum cut_form {
        CUT_ALONE,
        CUT_SCOPES,
        CUT_WHOLE,
        N_CUT_FORMS
};

/* Reads a script as far as query `query` and what prints behind it. The text is borrowed until cut_free(). -ENOENT: the query is not there, or behind
 * (exit); -EINVAL: what stands before it is no script. The sentence names the line. */
int cut_read(struct slice text, size_t query, struct cut **ret);
struct cut *cut_free(struct cut *c);
DEFINE_CLEANUP(struct cut *, cut_free)
#define cleanup_cut cleanup(cut_freep)

size_t cut_query(const struct cut *c);              /* its number */
size_t cut_line(const struct cut *c, size_t query); /* of that query or one before it; counted from the beginning */
/* Adds the script. is_kept[i]: query i + 1 is asked, too, of the queries before; NULL: none. CUT_ALONE keeps none. 0 or -ENOMEM. */
int cut_write(const struct cut *c, enum cut_form form, const bool *is_kept, struct buffer *ret);

/* Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002), by complements alone: a small set of n items
 * that still shows something, given that all of them do. shows() is asked of sets, is_in[n]: 1, 0 or -errno, which ends it. When it returns 0, no single
 * item of ret[n] can go, as far as shows() is consistent. */
int cut_minimize(size_t n, int (*shows)(void *user, const bool *is_in), void *user, bool *ret);
