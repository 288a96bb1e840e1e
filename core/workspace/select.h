/* Chooses commits and cases by the words that a person types, for commands, campaigns, comparisons and portfolios alike.
 *
 *     cleanup_revisions struct revisions revisions = {0};
 *     cleanup_case_selection struct case_selection cases = {0};
 *     r = revisions_select(solver, (char *[]){"v1.0..v2.0", "HEAD"}, 2, &revisions, NULL);
 *     if (r == 0)
 *             r = cases_select(w, (char *[]){"QF_S/", "17"}, 2, &cases);
 *
 * Both keep the order of the words and name nothing twice. Give *ret to its ..._done() after an error, too. Threads: any. */
#pragma once

#include "core/workspace/workspace.h"

/* -- revisions -- */

struct revisions {
        uint32_t *list; /* commit numbers */
        size_t n;
};
void revisions_done(struct revisions *r);
#define cleanup_revisions cleanup(revisions_done)

/* A word is anything history_resolve() takes; A..B, the commits on B's first-parent line that are not on A's, oldest first (an end left out is
 * HEAD); or, when it is no revision, a pattern with * ? [ over the names of tags, in the order of the history (history_order()). -ENOENT, -ENOTUNIQ.
 * A range may be empty: `notes` (may be NULL) gets a line that says so, and whether it has commits the other way round. */
int revisions_select(struct solver *s, char *const *words, size_t n, struct revisions *ret, struct buffer *notes);
/* The commits of A..B. */
int revision_range(struct solver *s, uint32_t from, uint32_t to, struct revisions *ret);

/* -- cases -- */

struct case_selection {
        struct case_info **list; /* owns refs */
        size_t n;
};
/* Leaves out cases of another format; how many there were. */
size_t case_selection_keep(struct case_selection *s, enum format format);
void case_selection_done(struct case_selection *s);
#define cleanup_case_selection cleanup(case_selection_done)

/* A word is a case's id, its name, or a prefix of its sha256 (four digits at least); a file whose bytes it is; several by A-B (ids), by a
 * pattern with * ? [ over names, by FOLDER/ of names, by a set's name, or `all`. Behind any of these #N, #A-B or #all: queries of the scripts. -ENOENT when a word names nothing, -ENOTUNIQ. */
int cases_select(struct workspace *w, char *const *words, size_t n, struct case_selection *ret);
/* True if a word names a single case, and not several. */
bool case_word_is_single(const char *word);
