/* Notes beside facts, in TABLE_META: what was measured anew. */
#include "cache/base/record.h"
#include "core/workspace/names.h"
#include "core/query/query_internal.h"
#include "core/workspace/view.h"

#define REMEASURED_KEY "remeasured"

static void remeasured_key(uint64_t number, char ret[64])
{
        snprintf(ret, 64, "remeasured/%016llx", (unsigned long long)number); /* in order of number */
}

static int remeasured_encode(const struct remeasured *r, struct buffer *ret)
{
        record_put_u32_le(ret, r->solver);
        record_put_u32_le(ret, r->info);
        record_put_u64_le(ret, r->has_seed);
        record_put_u64_le(ret, r->seed);
        record_put_u64_le(ret, r->wall_ns);
        buffer_add(ret, r->program.bytes, DIGEST_SIZE);
        return buffer_error(ret);
}

static int remeasured_decode(const struct blob *b, struct remeasured *ret)
{
        struct record r = record_of(SLICE(b->data, b->size));

        ret->solver = record_u32_le(&r);
        ret->info = record_u32_le(&r);
        ret->has_seed = record_u64_le(&r) != 0;
        ret->seed = record_u64_le(&r);
        ret->wall_ns = record_u64_le(&r);
        record_raw(&r, ret->program.bytes, DIGEST_SIZE);
        return record_end(&r, "the note of a re-measurement");
}

int setting_note(struct store_txn *t, const struct cell *cell)
{
        struct view v = {.solver = cell->solver->number,
                         .has_seed = cell->has_seed,
                         .seed = cell->seed,
                         .scramble = cell->has_seed ? 0 : cell->scramble,
                         .has_timeout = !cell->has_seed && cell->scramble == 0 && cell->wall_ns > 0,
                         .timeout_ns = cell->wall_ns};
        char name[VIEW_NAME_SIZE];
        uint32_t number;

        if (!v.has_seed && !v.has_timeout && v.scramble == 0)
                return 0;
        view_print(&v, name);
        return names_intern_in(t, NAMES_SETTING, name, &number);
}

static void note_put(struct store_txn *t, const struct remeasured *entry)
{
        uint64_t number = meta_number_in(t, REMEASURED_KEY) + 1;
        cleanup_buffer struct buffer encoded = {0};
        char key[64];

        if (remeasured_encode(entry, &encoded) < 0)
                return; /* a mount shows the old value until it is asked anew */
        meta_number_put(t, REMEASURED_KEY, number);
        remeasured_key(number, key);
        store_put(t, TABLE_META, slice_string(key), SLICE(encoded.data, encoded.size));
        if (number > REMEASURED_KEPT) {
                remeasured_key(number - REMEASURED_KEPT, key);
                store_delete(t, TABLE_META, slice_string(key));
        }
}

void remeasured_note(struct store_txn *t, const struct cell *cell, const struct digest *program)
{
        note_put(t, &(struct remeasured){.solver = cell->solver->number,
                                         .info = cell->info->id,
                                         .has_seed = cell->has_seed,
                                         .seed = cell->seed,
                                         .wall_ns = cell->wall_ns,
                                         .program = *program});
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
                struct remeasured entry;
                char key[64];
                int r;

                remeasured_key(i, key);
                r = store_fetch(workspace_store(w), TABLE_META, slice_string(key), &b);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (r == 0 && remeasured_decode(&b, &entry) == 0)
                        fn(user, &entry);
        }
        return 0;
}

uint64_t runs_remeasured(struct workspace *w)
{
        return meta_number(w, REMEASURED_KEY);
}
