/* Shared by the queries about one commit's build, query_build.c and query_program.c, and by build_records.c. */
#pragma once

#include "core/query/query_internal.h"

struct build_query {
        struct query query;
        struct workspace *workspace;
        struct solver *solver; /* owns a ref */
        uint32_t commit;
        struct digest build_key;
        bool is_released; /* a binary: its build runs nothing, so it takes no core and no slot of a cluster */
        bool is_late; /* the cluster's toolchain was unknown: build_key is no build's key */
        bool is_current; /* a build counts only while what it used is unchanged; jobs are shared with other build queries */
        bool is_kept;    /* never builds a missing program */
        char *output; /* of a program query: the file's name, NULL: the first; owned */
};
/* The build's key. A late query (is_late) has one once the cluster's toolchain is known. */
int build_query_key(const struct build_query *q, struct digest *ret);
/* `build`: the commit's build key; NULL: not known yet. */
int build_query_new(const struct query_type *type, struct workspace *w, struct solver *s, uint32_t commit,
                    const struct digest *build, const char *output, bool kept, struct query **ret);
/* Functions of their query types. */
void build_query_describe(const struct query *query, struct buffer *ret);
bool build_query_gone(const struct query *query);
bool build_query_estimate(const struct query *query, struct cost *ret);
void build_query_done(struct query *query);
struct value *build_value_new(struct build_record *record); /* takes a ref */

/* -- build_records.c -- */

/* Joins a new record to the known one. A build repeated because gc took its programs keeps its record: people have read its log, and its
 * measurements stay for good, even if the build fails this time (compiler removed, build killed). `is_renewed`: what the known build used has
 * changed since. 0: *record is to be kept, in place of the known one; with the known one's programs, too, unless other tools made another program.
 * 1: the known one stays. -EIO, with a sentence: likewise, as the new build failed. */
int build_record_join(struct workspace *w, const struct build_record *known, bool again, bool is_renewed, struct build_record **record);
int build_record_keep(struct workspace *w, const struct build_query *q, const struct build_record *record);
