/* The script that asks one query of another script.
 *
 * A query is a check-sat or a check-sat-assuming; they are numbered from 1, as case_questions() counts them. Commands are copied as they stand in the
 * script, also those that nobody here knows; what stands between two commands is not.
 *
 *     CUT_ALONE   the query and what is in force there: no push, pop or reset, no popped assertion, no other query
 *     CUT_SCOPES  each query that is kept has the context that it had: its scopes are there, with what is asserted in them before the last kept query
 *     CUT_WHOLE   the script up to the query, without the queries that are not kept
 *
 * In force is what the standard (SMT-LIB 2.6, section 4.1) says: assertions and declarations until their scope is popped, under :global-declarations
 * declarations until (reset), as are options, logic and infos. After reset-assertions some solvers know what was declared, and some do not: such a
 * declaration stays unless something of its name is declared again. A command that is not known here belongs to its scope, as an assertion does. A :status
 * goes with the query behind it; get-model, echo and the like with the query right before them, or not at all. Z3's check-sat-using has no number, and is
 * left out. Under :global-declarations the name of a :named term outlives its scope: its assertion then stands between a push and a pop of its own.
 *
 * Pure; any thread. */
#pragma once

#include "cache/base/util.h"

struct cut {
        size_t query, line; /* its number; the line of the script where it stands */
        /* private */
        struct slice text;
        struct cut_item *items;
        size_t n_items, n_queries, n_scopes;
        size_t *ends; /* of each scope, an item */
};

enum cut_form {
        CUT_ALONE,
        CUT_SCOPES,
        CUT_WHOLE
};

/* Reads a script as far as a query and what prints behind it. The text is borrowed until cut_free(). -ENOENT: there is no such query, or (exit) precedes
 * it; -EINVAL: what precedes it is no script. The sentence names the line. */
int cut_read(struct slice text, size_t query, struct cut **ret);
struct cut *cut_free(struct cut *c);
DEFINE_CLEANUP(struct cut *, cut_free)
#define cleanup_cut cleanup(cut_freep)

/* Adds the script. is_kept[i]: of the queries before, query i + 1 is asked, too; NULL, and CUT_ALONE: none is. 0 or -ENOMEM. */
int cut_write(const struct cut *c, enum cut_form form, const bool *is_kept, struct buffer *ret);

/* Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002), by complements: of n items, all of which show
 * something together, a set ret[n] that shows it and of which no item can go. shows() is asked of sets, is_in[n]: 1, 0 or -errno, which ends it. */
int cut_minimize(size_t n, int (*shows)(void *user, const bool *is_in), void *user, bool *ret);
