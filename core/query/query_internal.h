/* Shared by the queries (query_*.c) and the code below them: records of builds, facts of runs and their keys, the notes beside them. */
#pragma once

#include "core/query/resolved_cell.h"
#include "core/workspace/meta.h"

/* The same as build_find() and query_build(), for callers that have the build key: computing it reads the commit's trees. A failed build counts only
 * while what it used is unchanged, and the limit that ended it is not raised. */
int build_record_find(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, bool with_log, struct build_record **ret);
int query_build_of(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret);
/* The program under which a build's results are stored. -ENOENT: not built, or failed. */
int build_program_find(struct workspace *w, const struct digest *build, struct digest *ret);
/* Puts the build's program, in the record's transaction. `used`: the digest of the list of what it used, kept in the same row; zero: not known. */
int build_program_put(struct store_txn *t, const struct digest *build, const struct build_record *record, const struct digest *used);
/* The same as commit_tools_changed(), for a build's key. */
bool build_tools_changed(struct workspace *w, const struct digest *build, char **ret_path);
/* Lists of what builds used are in TABLE_META, under this prefix and the list's digest in hex. */
#define BUILD_USED_KEY "used/"
int build_used_find(struct workspace *w, const struct digest *build, struct blob *ret); /* -ENOENT */
int build_used_sweep(struct workspace *w); /* for gc: drops the lists that no build refers to */
int build_used_put(struct store_txn *t, struct slice list, struct digest *ret);

void run_setting_digest(const struct cell *cell, struct digest *ret); /* the last part of a run's key; cell->info is ignored */
void join_run_key(const struct digest *program, const struct digest *case_id, const struct digest *setting, uint8_t ret[RUN_KEY_SIZE]);
void run_key_of(const struct digest *program, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]);
#define FACT_KEY_SIZE (RUN_KEY_SIZE + 8 * N_LIMITS)
void fact_key(const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *limits, uint8_t ret[FACT_KEY_SIZE]);
void fact_clamp(struct fact *f, const struct recipe_limits *asked); /* a timeout under longer limits gets the times that it has under `asked` */

/* True if all programs of the build are in the store; true for a failed build. */
bool build_is_usable(struct workspace *w, const struct build_record *record);

/* Call these in the transaction that puts the fact. */
int setting_note(struct store_txn *t, const struct cell *cell); /* for listings of seeds/, scrambled/ and timeout/ */
void remeasured_note(struct store_txn *t, const struct cell *cell, const struct digest *program);

/* Builds a commit, even if it is known. Stores its programs, but not *ret. `key`: the build's, by which others can follow the log. `again`: as in struct
 * build_request. -EIO with a sentence: the toolchain of the cluster has changed, so the build has another key now. */
int build_commit(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *key, bool again, struct job *j,
                 struct build_record **ret);
