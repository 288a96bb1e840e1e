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

/* A word is anything history_resolve() takes; or A..B, the commits on B's first-parent line that are not on A's, oldest first (an omitted end is
 * HEAD); or, if it is no revision, a pattern with * ? [ over the names of tags, in the order of the history (history_order()). -ENOENT: it names
 * nothing; -ENOTUNIQ: an abbreviated sha of several commits; -EAGAIN: the history grew meanwhile.
 * For an empty range `notes` (may be NULL) gets a line, which also says whether the reversed range has commits. */
int revisions_select(struct solver *s, char *const *words, size_t n, struct revisions *ret, struct buffer *notes);
/* The commits of A..B. */
int revision_range(struct solver *s, uint32_t from, uint32_t to, struct revisions *ret);

/* -- cases -- */

struct case_selection {
        struct case_info **list; /* owns refs */
        size_t n;
};
/* Drops cases of another format, and returns their number. */
size_t case_selection_keep(struct case_selection *s, enum format format);
void case_selection_done(struct case_selection *s);
#define cleanup_case_selection cleanup(case_selection_done)

/* A word has the first of these meanings that fits: `all`, or A-B (ids); one case by its id, then by its name; WORD#N, WORD#A-B or WORD#all: queries of
 * the scripts that WORD names; a set's name; a pattern with * ? [ over names; FOLDER/ of names; one case by a prefix of its sha256 (at least four digits,
 * ten if all are decimal); a file with a case's bytes. -ENOENT: it names nothing; -ENOTUNIQ: several cases have this prefix. */
int cases_select(struct workspace *w, char *const *words, size_t n, struct case_selection *ret);
/* The cases of a set, whatever else has its name; NULL: all cases, of which there may be none. -ENOENT: no such set, or it is empty. */
int cases_select_set(struct workspace *w, const char *set, struct case_selection *ret);
/* True if the form of a word does not name several cases: no `all`, A-B, #all, #A-B, pattern or FOLDER/. A set's name counts as single. */
bool case_word_is_single(const char *word);
