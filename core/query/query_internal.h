/* Shared by the queries (query_*.c) and by what they stand on: records of builds, facts of runs and their keys, what is noted beside them. */
#pragma once

#include "core/query/resolved_cell.h"
#include "core/workspace/meta.h"

/* The same as build_find() and query_build(), for callers that have the commit's build key: finding that out reads the commit's trees. */
int build_record_find(struct workspace *w, const struct digest *build, bool with_log, struct build_record **ret);
int query_build_of(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret);
/* The program under which a build's results stand; -ENOENT: not built, or it failed. */
int build_program_find(struct workspace *w, const struct digest *build, struct digest *ret);
/* With the record. `used`: the digest of what it used, in its row behind the program's; zero: not known, and none is kept. */
int build_program_put(struct store_txn *t, const struct digest *build, const struct build_record *record, const struct digest *used);
/* The same as commit_tools_changed(), for a build's key. */
bool build_tools_changed(struct workspace *w, const struct digest *build, char **ret_path);
/* Keeps a list of what a build used, unless it is there, in TABLE_META under this prefix and its digest in hex. */
#define BUILD_USED_KEY "used/"
int build_used_find(struct workspace *w, const struct digest *build, struct blob *ret); /* -ENOENT */
int build_used_sweep(struct workspace *w); /* drops those of no build; for gc */
int build_used_put(struct store_txn *t, struct slice list, struct digest *ret);
/* The build of that key made by what is on this machine now: found only while what it used is what it was. */
int query_current_build_of(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret);

void run_setting_digest(const struct cell *cell, struct digest *ret); /* the last part of a run's key; cell->info is ignored */
void join_run_key(const struct digest *program, const struct digest *case_id, const struct digest *setting, uint8_t ret[RUN_KEY_SIZE]);
void run_key_of(const struct digest *program, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]);
#define FACT_KEY_SIZE (RUN_KEY_SIZE + 8 * N_LIMITS)
void fact_key(const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *limits, uint8_t ret[FACT_KEY_SIZE]);
void fact_clamp(struct fact *f, const struct recipe_limits *asked);

/* Are its programs there, to be run? Of a failed one: nothing is missing. */
bool build_is_usable(struct workspace *w, const struct build_record *record);

/* In the transaction that puts the fact. */
int setting_note(struct store_txn *t, const struct cell *cell); /* for listings of seeds/, scrambled/ and timeout/ */
void remeasured_note(struct store_txn *t, const struct cell *cell, const struct digest *program);

/* Builds a commit, whatever is known of it; nothing is kept but its programs. `key`: as in struct build_request. */
int build_commit(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *key, bool again, struct job *j,
                 struct build_record **ret);
