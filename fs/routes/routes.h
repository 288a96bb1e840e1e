/* The functions that the rows of the route table (routes.c) are made of, by the folder they are about. */
#pragma once

#include "fs/tree/tree.h"

#define MATCH(f)   int f(struct tree *t, const struct node *dir, const char *name, struct node *ret)
#define LIST(f)    int f(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
#define EXISTS(f)  bool f(struct tree *t, const struct node *dir, const struct route *row)
#define CONTENT(f) int f(struct tree *t, const struct node *n, struct buffer *ret)

/* route_cases.c */
MATCH(case_match);
LIST(case_entries);
CONTENT(case_text);
int case_input_size(struct tree *t, const struct node *n, uint64_t *ret);
int case_input_open(struct tree *t, const struct node *n, int *ret_fd);
int case_mtime(struct tree *t, const struct node *n, int64_t *ret);
MATCH(case_input_match);
LIST(case_input_entries);
uint64_t cases_listing(struct tree *t, const struct node *n);
MATCH(by_name_folder_match);
MATCH(by_name_link_match);
LIST(by_name_folder_entries);
LIST(by_name_link_entries);
CONTENT(by_name_target);

/* route_solver.c */
MATCH(solver_match);
LIST(solver_entries);
uint64_t solvers_listing(struct tree *t, const struct node *n);
CONTENT(solver_config);
int config_mtime(struct tree *t, const struct node *n, int64_t *ret);
EXISTS(head_exists);
CONTENT(head_target);
MATCH(ref_folder_match);
MATCH(ref_match);
LIST(ref_folder_entries);
LIST(ref_entries);
CONTENT(ref_target);
MATCH(cached_match);
MATCH(commit_match);
LIST(commit_entries);
MATCH(revision_match);
LIST(no_entries);
CONTENT(revision_target);
uint64_t history_listing(struct tree *t, const struct node *n);
CONTENT(cachedir_tag);
EXISTS(not_cached);

/* route_commit.c */
CONTENT(commit_text_content);
MATCH(parent_match);
LIST(parent_entries);
CONTENT(parent_target);
CONTENT(build_status);
CONTENT(build_log);
int build_log_query(struct tree *t, const struct node *n, struct query **ret);
EXISTS(bin_exists);
MATCH(program_match);
LIST(program_entries);
int program_kept(struct tree *t, const struct node *n); /* 1: it is built and in the store; 0; -errno */
int program_size(struct tree *t, const struct node *n, uint64_t *ret);
int program_query(struct tree *t, const struct node *n, struct query **ret);
EXISTS(cells_exist);
EXISTS(cell_file_exists);
MATCH(cell_match);
LIST(cell_entries);
uint64_t cells_listing(struct tree *t, const struct node *n);
CONTENT(cell_content);
int cell_mtime(struct tree *t, const struct node *n, int64_t *ret);
int cell_query(struct tree *t, const struct node *n, struct query **ret);
EXISTS(seeds_exist);
MATCH(seed_match);
LIST(seed_entries);
MATCH(timeout_match);
LIST(timeout_entries);
MATCH(timeout_alias_match);
CONTENT(timeout_alias_target);
uint64_t views_listing(struct tree *t, const struct node *n);

/* route_live.c */
CONTENT(live_status);
CONTENT(live_jobs);
CONTENT(live_stats);
CONTENT(version_text);
CONTENT(readme_text);
