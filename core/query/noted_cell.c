#include "core/query/noted_cell.h"

#include "cache/base/record.h"
#include "core/query/answers.h"
#include "core/query/disturbed.h"

#define NOTE_VERSION 2
#define CELL_SIZE    (1 + 4 + 4 + 1 + 8 + 8 + GIT_OID_RAWSZ)

/* -- writing ----------------------------------------------------------------------------------------------------- */

static void put_cell(const struct noted_fact *f, struct buffer *ret)
{
        const struct cell *cell = f->cell;

        record_put_u8(ret, NOTE_VERSION);
        record_put_u32(ret, cell->solver->number);
        record_put_u32(ret, cell->info->id);
        record_put_u8(ret, cell->has_seed);
        record_put_u64(ret, cell->seed);
        record_put_u64(ret, cell->wall_ns);
        buffer_add(ret, f->commit.id, GIT_OID_RAWSZ);
}

int note_drop(struct store_txn *t, const char *row)
{
        return store_has(t, TABLE_META, slice_string(row)) ? store_delete(t, TABLE_META, slice_string(row)) : 0;
}

int note_set(struct store_txn *t, const char *prefix, const struct noted_fact *f, bool holds, struct slice rest)
{
        cleanup_buffer struct buffer b = {0};
        char hex[DIGEST_HEX_SIZE], row[NOTE_KEY_SIZE];
        struct digest d;
        int r;

        digest_of(f->key.data, f->key.size, &d);
        digest_hex(&d, hex);
        snprintf(row, sizeof(row), "%s%.32s", prefix, hex);
        if (!holds)
                return note_drop(t, row);
        put_cell(f, &b);
        buffer_add(&b, rest.data, rest.size);
        r = buffer_error(&b);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(row), SLICE(b.data, b.size));
}

int fact_note(struct store_txn *t, const struct noted_fact *f)
{
        static int (*const kinds[])(struct store_txn *, const struct noted_fact *) = {answers_note, disturbed_note};
        int r = 0;

        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
                r = kinds[i](t, f);
        return r < 0 ? r : setting_note(t, f->cell);
}

/* -- reading ----------------------------------------------------------------------------------------------------- */

void note_done(struct note *n)
{
        buffer_done(&n->value);
}

struct slice note_rest(const struct note *n)
{
        return n->value.size < CELL_SIZE ? SLICE("", 0) : SLICE(n->value.data + CELL_SIZE, n->value.size - CELL_SIZE);
}

static int take(void *user, struct slice key, struct slice value)
{
        struct note *n = user;

        if (key.size >= NOTE_KEY_SIZE)
                return 0;
        snprintf(n->key, sizeof(n->key), "%.*s", (int)key.size, (const char *)key.data);
        n->value.size = 0;
        buffer_add(&n->value, value.data, value.size);
        return 1;
}

int note_next(struct store_txn *t, const char *prefix, struct note *n)
{
        char from[NOTE_KEY_SIZE];

        snprintf(from, sizeof(from), "%s", n->key);
        return store_each(t, TABLE_META, slice_string(prefix), slice_string(from), true, take, n);
}

static int take_each(void *user, struct slice key, struct slice value)
{
        struct notes *list = user;
        int r;

        list_grow(list->list, list->n);
        list->list[list->n] = (struct note){0};
        r = take(&list->list[list->n++], key, value);
        return MIN(r, 0);
}

int notes_read(struct workspace *w, const char *prefix, struct notes *ret)
{
        return store_visit(workspace_store(w), TABLE_META, slice_string(prefix), true, take_each, ret);
}

void notes_done(struct notes *n)
{
        for (size_t i = 0; i < n->n; i++)
                note_done(&n->list[i]);
        free(n->list);
}

void noted_done(struct noted_cell *n)
{
        solver_unref(n->cell.solver);
        case_info_unref(n->cell.info);
        fact_unref(n->fact);
        *n = (struct noted_cell){0};
}

int noted_open(struct workspace *w, const struct note *n, struct noted_cell *ret)
{
        struct record rec = record_of(SLICE(n->value.data, n->value.size));
        uint32_t solver, info;
        git_oid oid = {0};
        int r;

        *ret = (struct noted_cell){0};
        record_version(&rec, NOTE_VERSION);
        solver = record_u32(&rec);
        info = record_u32(&rec);
        ret->cell.has_seed = record_bool(&rec);
        ret->cell.seed = record_u64(&rec);
        ret->cell.wall_ns = record_u64(&rec);
        record_raw(&rec, oid.id, GIT_OID_RAWSZ);
        record_slice(&rec, record_left(&rec));
        if (record_end(&rec, "a note that names a cell") < 0)
                return -ENOENT; /* damaged */
        r = workspace_solver_by_number(w, solver, &ret->cell.solver);
        if (r == 0)
                r = history_number(ret->cell.solver->history, &oid, &ret->cell.commit);
        if (r == 0)
                r = cases_get(workspace_cases(w), info, &ret->cell.info);
        if (r == 0 && ret->cell.info->removed)
                r = -ENOENT;
        if (r == 0)
                r = run_find(w, &ret->cell, true, &ret->fact);
        return r;
}
