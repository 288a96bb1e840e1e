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
        bool is_late; /* the cluster's toolchain was unknown when the query was made, so build_key is no build's key */
        bool is_current;   /* a stored build counts only while what it used is unchanged. Not part of the query's key: jobs are shared */
        bool never_builds; /* a missing program is -ENOENT */
        char *output; /* of a program query: the file's name, NULL: the first; owned */
};
/* The build's key. A late query (is_late) has one once the cluster's toolchain is known. */
int build_query_key(const struct build_query *q, struct digest *ret);
/* `build`: the commit's build key; NULL: it is computed. `output`, `never_builds`: as the fields. */
int build_query_new(const struct query_type *type, struct workspace *w, struct solver *s, uint32_t commit,
                    const struct digest *build, const char *output, bool never_builds, struct query **ret);
/* Functions for the query types of builds and programs. */
void build_query_describe(const struct query *query, struct buffer *ret);
bool build_query_gone(const struct query *query);
bool build_query_estimate(const struct query *query, struct cost *ret);
void build_query_done(struct query *query);
struct value *build_value_new(struct build_record *record); /* adds a ref to the record */

/* -- build_records.c -- */

/* Decides between a build's known record and the *record of a new build. A build is also repeated when gc took its programs. The known record then
 * stays if the outputs are the same, as people have read its log, or if the new build failed (compiler removed, build killed), as its measurements
 * stay for good. `again`: the build was repeated on request. `is_renewed`: what the known build used has changed since.
 * 0: keep *record in place of the known one. If both succeeded, it lists the known one's programs, too, unless changed tools made another program.
 * 1: the known record stays. -EIO with a sentence: it stays, and the new build failed. */
int build_record_join(struct workspace *w, const struct build_record *known, bool again, bool is_renewed, struct build_record **record);
int build_record_keep(struct workspace *w, const struct build_query *q, const struct build_record *record);
