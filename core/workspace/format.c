#include "core/workspace/format.h"

#include "core/build/build.h"
#include "core/run/fact.h"
#include "core/workspace/meta.h"

/* Keys in TABLE_META. A store with programs in its database instead of files lacks the second. */
#define FACTS    "facts/format"
#define PROGRAMS "programs/kept-in"
#define IN_FILES 1

static int note(void *, struct store_txn *t)
{
        int r = meta_number_put(t, FACTS, FACT_VERSION);

        return r < 0 ? r : meta_number_put(t, PROGRAMS, IN_FILES);
}

int format_note(struct store *s)
{
        return store_update(s, note, NULL);
}

/* A record begins with its format. */
static int find_older(void *user, struct slice, struct slice value)
{
        const uint8_t *today = user;

        return value.size > 0 && *(const uint8_t *)value.data < *today;
}

/* 1: there is an older record. */
static int find_older_records(struct workspace *w)
{
        static const struct {
                enum table table;
                uint8_t format;
        } tables[] = {{TABLE_BUILDS, BUILD_RECORD_VERSION}, {TABLE_FACTS, FACT_VERSION}, {TABLE_SAMPLES, FACT_VERSION}};
        const bool is_in_files = meta_number(w, PROGRAMS) == IN_FILES; /* else every record counts as older */
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tables); i++) {
                uint8_t today = is_in_files ? tables[i].format : UINT8_MAX;

                r = store_visit(workspace_store(w), tables[i].table, SLICE("", 0), true, find_older, &today);
        }
        return r;
}

int format_check(struct workspace *w)
{
        const uint64_t format = meta_number(w, FACTS);
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
