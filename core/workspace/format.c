#include "core/workspace/format.h"

#include "core/build/build.h"
#include "core/run/fact.h"
#include "core/workspace/meta.h"

#define IN_FILES 1 /* FORMAT_PROGRAMS */

int format_note(struct store *s)
{
        struct store_update u = {.store = s};

        while (store_update_begins(&u)) {
                u.r = meta_number_put(u.txn, FORMAT_FACTS, FACT_VERSION);
                if (u.r == 0)
                        u.r = meta_number_put(u.txn, FORMAT_PROGRAMS, IN_FILES);
        }
        return u.r;
}

/* 1: there is an older record. */
static int find_older_records(struct workspace *w)
{
        static const struct {
                enum table table;
                uint8_t format;
        } tables[] = {{TABLE_BUILDS, BUILD_RECORD_VERSION}, {TABLE_FACTS, FACT_VERSION}, {TABLE_SAMPLES, FACT_VERSION}};
        const bool is_in_files = meta_number(w, FORMAT_PROGRAMS) == IN_FILES; /* else every record counts as older */
        int r;

        for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
                cleanup_walk struct store_walk walk = {.store = workspace_store(w), .table = tables[i].table};
                const uint8_t today = is_in_files ? tables[i].format : UINT8_MAX;

                while ((r = store_walk(&walk)) > 0)
                        if (walk.value.size > 0 && *(const uint8_t *)walk.value.data < today) /* a record begins with its format */
                                return 1;
                if (r < 0)
                        return r;
        }
        return 0;
}

int format_check(struct workspace *w)
{
        const uint64_t format = meta_number(w, FORMAT_FACTS);
        int r;

        if (format == FACT_VERSION)
                return 0;
        if (format > FACT_VERSION)
                return errorf(-EPROTONOSUPPORT,
                              "the store in %s has facts of format %" PRIu64 " and this solverfs knows format %d only; nothing was changed: use a newer one",
                              workspace_dir(w), format, FACT_VERSION);
        r = find_older_records(w);
        if (r == 1)
                return errorf(-EPROTONOSUPPORT, "the store in %s has results of an older format; nothing was changed: 'migrate-store %s' rewrites them",
                              workspace_dir(w), workspace_dir(w));
        return r < 0 || store_read_only(workspace_store(w)) ? r : format_note(workspace_store(w));
}
