/* Shared by the queries (query_*.c) and by what they stand on: records of builds, facts of runs and their keys, what is noted beside them. */
#pragma once

#include "core/query/query.h"

/* Numbers that stand by themselves in TABLE_META; 0: there is none. */
uint64_t meta_number(struct workspace *w, const char *key);
uint64_t meta_number_in(struct store_txn *t, const char *key);
int meta_number_put(struct store_txn *t, const char *key, uint64_t n);

/* The same as build_find(), run_find(), query_build() and query_run(), for callers that have the commit's build key: finding that out reads the
 * commit's trees. */
int build_record_find(struct workspace *w, const struct digest *build, bool with_log, struct build_record **ret);
int run_find_built(struct workspace *w, const struct digest *build, const struct cell *cell, bool brief, struct fact **ret);
int query_build_of(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret);
/* The keys of the builds that are kept, failed ones included, in order (LMDB's own). */
struct kept_builds {
        struct digest *list;
        size_t n;
};
int kept_builds_read(struct workspace *w, struct kept_builds *ret);
bool kept_builds_have(const struct kept_builds *k, const struct digest *build);
void kept_builds_done(struct kept_builds *k);
#define cleanup_kept_builds cleanup(kept_builds_done)
/* The program under which a build's results stand; -ENOENT: not built, or it failed. */
int build_program_find(struct workspace *w, const struct digest *build, struct digest *ret);
int build_program_put(struct store_txn *t, const struct digest *build, const struct build_record *record); /* with the record */

void run_setting_digest(const struct cell *cell, struct digest *ret); /* the last part of a run's key; cell->info is ignored */
void run_key_of(const struct digest *program, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]);
void run_key_before(const struct digest *build, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]); /* takeover.h */
#define FACT_KEY_SIZE (RUN_KEY_SIZE + 6 * 8)
void fact_key(const uint8_t run[RUN_KEY_SIZE], const struct recipe_limits *limits, uint8_t ret[FACT_KEY_SIZE]);
void fact_clamp(struct fact *f, const struct recipe_limits *asked);

/* Are its programs there, to be run? Of a failed one: nothing is missing. */
bool build_is_usable(struct workspace *w, const struct build_record *record);

/* In the transaction that puts the fact. */
int setting_note(struct store_txn *t, const struct cell *cell); /* for listings of seeds/ and timeout/ */
void remeasured_note(struct store_txn *t, const struct cell *cell, const struct digest *program);

/* Builds a commit, whatever is known of it; nothing is kept but its programs. `key`: as in struct build_request. */
enum build_way {
        BUILD_CLEAN,
        BUILD_INCREMENTAL /* where a tree is there to go on from */
};
int build_commit(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *key, enum build_way way, bool again,
                 struct job *j, struct build_record **ret);
/* Measures the cell and keeps nothing: *ret, or *ret_failed when the commit cannot be built. */
int run_measure_cell(struct workspace *w, const struct cell *cell, struct job *j, struct fact **ret, struct build_record **ret_failed);
int run_keep_cell(struct workspace *w, const struct cell *cell, const struct fact *f); /* as the cell's result */
