/* Notes beside facts: re-measurements in TABLE_META, where the last REMEASURED_KEPT are a ring; the names of settings.
 *
 *     remeasured                        the number of re-measurements so far
 *     remeasured/<number mod the ring>  transfer_remeasured() */
#include "core/query/noted_cell.h"
#include "core/workspace/names.h"
#include "core/workspace/view.h"

#define REMEASURED_KEY "remeasured"

static void remeasured_key(uint64_t number, char ret[64])
{
        snprintf(ret, 64, "remeasured/%016llx", (unsigned long long)(number % REMEASURED_KEPT));
}

int setting_note(struct store_txn *t, const struct cell *cell)
{
        struct view v = {.solver = cell->solver->number};
        char name[VIEW_NAME_SIZE];
        uint32_t number;

        if (!cell->has_seed && cell->scramble == 0 && cell->wall_ns == 0)
                return 0;
        v.setting = cell->has_seed ? SETTING_SEED : cell->scramble > 0 ? SETTING_SCRAMBLED : SETTING_TIMEOUT;
        v.n = cell->has_seed ? cell->seed : cell->scramble > 0 ? cell->scramble : cell->wall_ns;
        view_print(&v, name);
        return names_intern_in(t, NAMES_SETTING, name, &number);
}

static void transfer_remeasured(struct transfer *t, struct remeasured *entry)
{
        transfer_numbers(t, entry);
        transfer_raw(t, entry->program.bytes, DIGEST_SIZE);
}

/* A failed put fails the caller's whole transaction (store.h). */
static void note_put(struct store_txn *t, struct remeasured *entry)
{
        uint64_t number = meta_number_in(t, REMEASURED_KEY) + 1;
        cleanup_buffer struct buffer b = {0};
        char key[64];

        transfer_remeasured(&(struct transfer){.to = &b}, entry);
        meta_number_put(t, REMEASURED_KEY, number);
        remeasured_key(number, key);
        store_put(t, TABLE_META, slice_string(key), SLICE(b.data, b.size));
}

void remeasured_note(struct store_txn *t, const struct cell *cell, const struct digest *program)
{
        struct remeasured entry = numbers_of(cell);

        entry.program = *program;
        note_put(t, &entry);
}

void replaced_note(struct store_txn *t, const struct solver *s)
{
        note_put(t, &(struct remeasured){.solver = s->number});
}

int runs_remeasured_since(struct workspace *w, uint64_t since, void (*fn)(void *user, const struct remeasured *r), void *user)
{
        uint64_t last = runs_remeasured(w);

        for (uint64_t i = MAX(since, last > REMEASURED_KEPT ? last - REMEASURED_KEPT : 0) + 1; i <= last; i++) {
                cleanup_blob struct blob b = {0};
                struct remeasured entry = {0};
                struct transfer rec;
                char key[64];
                int r;

                remeasured_key(i, key);
                r = store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b);
                if (r < 0 && r != -ENOENT)
                        return r;
                rec = (struct transfer){.from = record_of(SLICE(b.data, b.size))};
                transfer_remeasured(&rec, &entry);
                if (r == 0 && record_end(&rec.from, "the note of a re-measurement") == 0)
                        fn(user, &entry);
        }
        return 0;
}

uint64_t runs_remeasured(struct workspace *w)
{
        return meta_number(w, REMEASURED_KEY);
}
