/* The script that asks one query of another script.
 *
 * A query is a command that asks (command_name_asks()), numbered from 1 as by case_questions(). Commands are copied unchanged, also unknown ones; text
 * between two commands is not copied.
 *
 *     CUT_ALONE   the query and the commands in force there: no push, pop or reset, no popped assertion, no other query
 *     CUT_SCOPES  each kept query has its original context: its scopes, with their assertions before the last kept query
 *     CUT_WHOLE   the script up to the query, without the queries that are not kept
 *
 * The standard (SMT-LIB 2.6, section 4.1) defines what is in force: assertions and declarations until their scope is popped; options, logic and infos,
 * and under :global-declarations also declarations, until (reset). After reset-assertions some solvers keep declarations, and some do not: such a
 * declaration stays unless its name is declared again. An unknown command belongs to its scope, like an assertion. A :status goes with the query after it;
 * get-model, echo and the like go with the query right before them, or not at all. Under :global-declarations the name of a :named term outlives its
 * scope: its assertion then gets a push and a pop of its own.
 *
 * Pure; any thread. */
#pragma once

#include "cache/base/util.h"

struct cut {
        size_t query, line; /* the query's number, and its line in the script */
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

/* Reads a script up to a query and the printing commands after it. The text is borrowed until cut_free(). -ENOENT: there is no such query, or (exit)
 * precedes it; -EINVAL: the text before it is not a script. The sentence names the line. */
int cut_read(struct slice text, size_t query, struct cut **ret);
struct cut *cut_free(struct cut *c);
DEFINE_CLEANUP(struct cut *, cut_free)
#define cleanup_cut cleanup(cut_freep)

/* Appends the script. is_kept[i]: the earlier query i + 1 is kept, too; none is kept for NULL or CUT_ALONE. 0 or -ENOMEM. */
int cut_write(const struct cut *c, enum cut_form form, const bool *is_kept, struct buffer *ret);

/* Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", TSE 2002), by complements. All n items together show
 * something (this is not tested); ret[n] is a subset that shows it, and of which no item can be left out. shows() tests a subset is_in[n]: 1, 0, or
 * -errno, which ends the search. */
int cut_minimize(size_t n, int (*shows)(void *user, const bool *is_in), void *user, bool *ret);
