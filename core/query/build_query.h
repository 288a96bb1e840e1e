/* Shared by the queries about one commit's build: query_build.c and query_program.c; and by build_records.c, on which they stand. */
#pragma once

#include "core/query/query_internal.h"

struct build_query {
        struct query query;
        struct workspace *workspace;
        struct solver *solver; /* owns a ref */
        uint32_t commit;
        struct digest build_key;
        bool is_released; /* a binary: nothing is run, so its build takes no core, and no cluster's slot */
        bool is_late; /* the toolchain of the cluster where it is built was not known: build_key is no build's */
        bool is_current; /* a build counts only while what it used is what it was; its jobs are those of the others */
        bool is_kept;    /* a program that is not there is not built */
        char *output; /* of a program: the file's name, NULL: the first; owned */
};
/* The key of the build that is asked for: known from the start, or once the toolchain of the cluster is. */
int build_query_key(const struct build_query *q, struct digest *ret);
/* `build`: its key; NULL: to be found out. */
int build_query_new(const struct query_type *type, struct workspace *w, struct solver *s, uint32_t commit,
                    const struct digest *build, const char *output, bool kept, struct query **ret);
/* For their types. */
void build_query_describe(const struct query *query, struct buffer *ret);
bool build_query_gone(const struct query *query);
bool build_query_estimate(const struct query *query, struct cost *ret);
void build_query_done(struct query *query);
struct value *build_value_new(struct build_record *record); /* takes a ref */
void build_value_done(struct value *value);

/* -- build_records.c -- */

/* A build repeated because gc took its programs keeps its record: its log has been read, and its measurements stay for good, even when the
 * build fails this time (a compiler has been removed, it was killed). `is_renewed`: what the known one used has changed since. 1: there is nothing
 * new to keep. */
int build_record_join(struct workspace *w, const struct build_record *known, bool again, bool is_renewed, struct build_record **record);
int build_record_keep(struct workspace *w, const struct build_query *q, const struct build_record *record);
