/* The subtrees of the mount, a file for each.
 *
 * To add one, write a file fs/routes/route_NAME.c: the functions of its rows, the table of rows (fs/tree/route.h) and the struct subtree. Each row
 * needs an unused number as its kind, with a name if code refers to it; a test compares the kinds with `tests/tree/kinds`. Add the subtree to the
 * list in routes.c, and a line to docs/tree.md. The mount's README, lookups, listings, attributes, what the kernel may keep, extended attributes and
 * opens follow from the rows.
 *
 *     a file that is printed   .content     its bytes; with .type = NODE_LIVE at each open
 *     one slow to print        DERIVED(f), where f prints it and returns its time
 *     a file that takes work   .query and .answer, with .type = NODE_COMPUTED; .content gives a stored value
 *     names that are numbers   .has and .numbers
 *     names of a list          .names, and .space: a name space of its own in core/workspace/names.h
 *     one name that varies     .named
 *     other names              .match and .list
 *     its inodes               Each row decides what `commit` and `item` (20 bits each) mean. compare/<a>..<b> has a and b there, a finding its
 *                              number in `item`, a portfolio's case the number of the portfolio's name in `commit` and the case in `item`.
 *                              inode_set_number() uses both for one number. Anything wider goes into `more` and costs a place in a table while
 *                              the kernel knows the inode. An entry starts with its folder's parts.
 *     what the kernel keeps    .moves, .rewritten, .absent, .listed, .generation
 *     its time                 .mtime
 */
#pragma once

#include "core/study/judge/judge.h"
#include "fs/tree/tree.h"

/* In a row: a file that the `derive` f prints, with its time. */
#define DERIVED(f) .type = NODE_FILE, .moves = true, .rewritten = true, .derive = (f), .content = tree_derived_content

/* Folders with rows of other subtrees: their paths, and what is in the `commit` and the `item` of their inodes. */
enum {
        KIND_ROOT = 0,
        KIND_CASE = 3,    /* cases/<case>; item: the case */
        KIND_SOLVER = 12, /* <solver> */
        KIND_COMMIT = 24, /* <solver>/commits/<sha>, and in cached/; commit: the commit */
        KIND_SET = 65,    /* sets/<set>; item: the number of its name */
        KIND_CELL = 38,   /* <solver>/commits/<sha>/cases/<case>, and below seeds/, scrambled/, timeout/; commit: the commit; item: the case */
        KIND_SPR = 100,   /* <solver>/spr, and its two siblings */
        KIND_SOUNDNESS = 101,
        KIND_INCOMPLETENESS = 102,
};

extern const struct subtree compare_subtree, root_subtree, cases_subtree, sets_subtree, solver_subtree, commit_subtree, history_subtree,
        findings_subtree, campaigns_subtree, alarms_subtree, live_subtree, portfolios_subtree;

/* -- shared by several subtrees ---------------------------------------------------------------------------------- */

/* The `match` and `content` of links from a case's name (without slashes) to its entry, which is named by its id. In a solver's folder, only cases
 * that the solver takes have links. */
int case_name_match(struct tree *t, const struct node *dir, const char *name, struct node *ret);
int case_name_target(struct tree *t, const struct node *n, struct buffer *ret);
/* The `list` of names that can be looked up but are not listed: there are too many. */
int no_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user);
const char *case_input_name(enum format f); /* "input.smt2" */
/* The `generation` of listings of cases; of a solver's commits; and of those that may change at any time: each reader gets a new one. */
uint64_t cases_listing(struct tree *t, const struct node *n);
uint64_t history_listing(struct tree *t, const struct node *n);
uint64_t any_listing(struct tree *t, const struct node *n);
/* 0 if the case exists and, in a solver's folder, the solver takes it. -ENOENT, … */
int case_has(struct tree *t, const struct node *dir, uint32_t id);
int case_size(struct tree *t, uint32_t id, uint64_t *ret);
int case_open(struct tree *t, uint32_t id, int *ret_fd);
int case_mtime(struct tree *t, const struct node *n, int64_t *ret);  /* of the case in the inode's `item` */
int commit_time(struct tree *t, const struct node *n, int64_t *ret); /* of the commit in the inode's `commit` */
int case_ids(struct tree *t, const struct node *dir, uint32_t **ret, size_t *ret_n); /* of all listed cases that case_has() accepts */
bool case_is_listed(struct tree *t, uint32_t id); /* false once it is removed; true for a query of a listed script */
int known_commits(struct tree *t, const struct node *n, uint32_t **ret, size_t *ret_n); /* the solver's commits with any stored result */
/* Where links to commits lead: "commits/", or "cached/" in a mount of finished values, which has no commits/. */
const char *commits_folder(const struct tree *t);
/* Lists a folder with an entry for each of these commits, named by its sha; the offset is the commit. */
int emit_commits(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, numbers_fn find, entry_fn fn,
                 void *user);
/* Adds the sha of a solver's commit. */
int commit_name(const struct solver *s, uint32_t commit, struct buffer *ret);
/* The facts of a cell's case and setting along the history of the node's solver; *ret_order has each commit's place in the history. */
struct case_history;
int read_case_history(struct tree *t, const struct node *n, const struct cell *cell, enum judge_measure m, struct case_history *ret,
                      struct commit_order **ret_order);
/* 0 if anything of the commit is finished, so that cached/ has it. -ENOENT, … */
int commit_finished(struct tree *t, const struct node *n, uint32_t commit);
