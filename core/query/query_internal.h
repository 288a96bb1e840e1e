/* Shared by the queries (query_*.c) and by what they stand on: records of builds, facts of runs and their keys, what is noted beside them. */
#pragma once

#include "core/query/query.h"
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

/* A cell resolved: all that the keys of its results are made of, found out once for many questions and many cases. */
struct resolved_cell {
        struct digest build; /* the key of its commit's build, done or not; zero: it is of a named machine */
        struct recipe_limits limits;
        bool any_limits;         /* of a named machine: whatever it was measured under; the longest, which comes last */
        bool knows_machine;      /* else nothing is known of it (cell_machine()) */
        struct digest setting;   /* the last part of its runs' keys */
        struct digest *programs; /* owned; of a named machine there may be several */
        size_t n_programs;       /* 0: the commit is not built */
};
/* cell->info is not looked at. `build` NULL: to be found out. 0 also for what is not built. *ret is to be given to resolved_done() in any case. */
int cell_resolve(struct workspace *w, const struct cell *cell, const struct digest *build, struct resolved_cell *ret);
void resolved_done(struct resolved_cell *r);
#define cleanup_resolved cleanup(resolved_done)
/* The key of its runs on a case; its commit is built. */
void resolved_run_key(const struct resolved_cell *r, const struct case_info *info, uint8_t ret[RUN_KEY_SIZE]);
int resolved_find(struct workspace *w, const struct resolved_cell *r, const struct case_info *info, bool brief, struct fact **ret); /* as run_find() */
int resolved_find_in(struct store_txn *t, const struct resolved_cell *r, const struct case_info *info, bool brief, struct fact **ret);

void run_setting_digest(const struct cell *cell, struct digest *ret); /* the last part of a run's key; cell->info is ignored */
void run_key_of(const struct digest *program, const struct cell *cell, uint8_t ret[RUN_KEY_SIZE]);
#define FACT_KEY_SIZE (RUN_KEY_SIZE + 6 * 8)
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
