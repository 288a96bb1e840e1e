#include "core/workspace/format.h"

#include "core/build/build.h"
#include "core/run/fact.h"
#include "core/workspace/meta.h"

#define IN_FILES 1 /* FORMAT_PROGRAMS */
#define LOST     "store/lost"

int format_note(struct store *s, bool is_lost)
{
        struct store_update u = {.store = s};

        while (store_update_begins(&u)) {
                is_lost &= meta_number_in(u.txn, FORMAT_FACTS) == 0; /* else another process has opened it, and the files are its work */
                u.r = meta_number_put(u.txn, FORMAT_FACTS, FACT_VERSION);
                if (u.r == 0)
                        u.r = meta_number_put(u.txn, FORMAT_PROGRAMS, IN_FILES);
                if (u.r == 0 && is_lost)
                        u.r = meta_number_put(u.txn, LOST, 1);
        }
        return u.r;
}

bool format_was_lost(struct workspace *w)
{
        return meta_number(w, LOST) != 0;
}

int format_forget_loss(struct workspace *w)
{
        struct store_update u = {.store = workspace_store(w)};

        while (store_update_begins(&u))
                u.r = meta_number_put(u.txn, LOST, 0);
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

static int is_program(void *user, const char *name, const struct digest *id, const struct stat *st)
{
        return id != NULL;
}

/* 1: there are files of cases or programs, but no case and no build: journal and index are gone. A new store is opened before it gets the first file. */
static int is_lost(struct workspace *w)
{
        cleanup_free uint32_t *ids = NULL;
        cleanup_walk struct store_walk builds = {.store = workspace_store(w), .table = TABLE_BUILDS, .keys_only = true};
        uint64_t n_files = 0, bytes;
        size_t n = 0;
        int r = cases_list(workspace_cases(w), &ids, &n);

        if (r == 0 && n == 0)
                r = store_walk(&builds);
        if (r != 0 || n > 0)
                return MIN(r, 0);
        r = cases_sweep(workspace_cases(w), true, &n_files, &bytes);
        if (r == 0)
                r = n_files > 0 ? 1 : programs_each(workspace_programs(w), is_program, NULL);
        return r;
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
        if (r < 0 || store_read_only(workspace_store(w)))
                return r;
        r = is_lost(w);
        if (r >= 0)
                r = format_note(workspace_store(w), r == 1);
        if (r == 0 && format_was_lost(w))
                log_error("the journal and index of %s are gone: all its cases, builds and measurements are lost", workspace_dir(w));
        return r;
}
