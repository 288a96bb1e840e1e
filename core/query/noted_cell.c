#include "core/query/noted_cell.h"

#include "core/build/era.h"
#include "core/query/answers.h"
#include "core/query/disturbed.h"
#include "core/query/scrambled.h"

#define NOTE_VERSION     3
#define WITHOUT_CPU_TIME 2 /* an older version */
#define WITH_MACHINE     4 /* version 3, with a machine's name at the end */
#define MACHINE_MARK     '@' /* no second column has it */
#define CELL_SIZE        (1 + 4 + 4 + 1 + 8 + 8 + 8 + GIT_OID_RAWSZ)

/* -- writing ----------------------------------------------------------------------------------------------------- */

void transfer_numbers(struct transfer *t, struct remeasured *c)
{
        const uint8_t version = !t->to && record_left(&t->from) > 0 ? *t->from.at : NOTE_VERSION;

        transfer_version(t, version == WITHOUT_CPU_TIME || version == WITH_MACHINE ? version : NOTE_VERSION);
        transfer_u32(t, &c->solver);
        transfer_u32(t, &c->case_id);
        transfer_bool(t, &c->has_seed);
        transfer_u64(t, &c->seed);
        transfer_u64(t, &c->wall_ns);
        if (version != WITHOUT_CPU_TIME)
                transfer_u64(t, &c->cpu_ns);
}

struct remeasured numbers_of(const struct cell *cell)
{
        return (struct remeasured){cell->solver->number, cell->info->id, cell->has_seed, cell->seed, cell->wall_ns, cell->cpu_ns, {{0}}};
}

int note_drop(struct store_txn *t, const char *row)
{
        return store_has(t, TABLE_META, slice_string(row)) ? store_delete(t, TABLE_META, slice_string(row)) : 0;
}

int note_set(struct store_txn *t, const char *prefix, const struct noted_fact *f, bool holds, struct slice rest)
{
        struct remeasured cell = numbers_of(f->cell);
        cleanup_buffer struct buffer b = {0};
        char hex[DIGEST_HEX_SIZE], row[NOTE_KEY_SIZE];
        struct digest d;

        digest_of(f->key.data, f->key.size, &d);
        digest_hex(&d, hex);
        snprintf(row, sizeof(row), "%s%.32s", prefix, hex);
        if (!holds)
                return note_drop(t, row);
        transfer_numbers(&(struct transfer){.to = &b}, &cell);
        buffer_add(&b, f->commit.id, GIT_OID_RAWSZ);
        buffer_add(&b, rest.data, rest.size);
        if (f->cell->machine)
                buffer_addf(&b, "%c%s", MACHINE_MARK, f->cell->machine);
        if (buffer_error(&b) < 0)
                return -ENOMEM;
        if (f->cell->machine)
                b.data[0] = WITH_MACHINE;
        return store_put(t, TABLE_META, slice_string(row), SLICE(b.data, b.size));
}

int fact_note(struct store_txn *t, const struct noted_fact *f)
{
        int r = answers_note(t, f);

        if (r < 0 || f->cell->machine) /* nothing is measured again for it, nor listed */
                return r;
        return disturbed_note(t, f) ?: setting_note(t, f->cell);
}

/* -- reading ----------------------------------------------------------------------------------------------------- */

void note_done(struct note *n)
{
        buffer_done(&n->value);
}

/* The bytes of its cell; 0: damaged. */
static size_t cell_size(const struct note *n)
{
        const size_t size = n->value.size > 0 && n->value.data[0] == WITHOUT_CPU_TIME ? CELL_SIZE - sizeof(uint64_t) : CELL_SIZE;

        return n->value.size < size ? 0 : size;
}

const char *note_machine(const struct note *n)
{
        const size_t size = cell_size(n);
        const char *mark = size > 0 ? memchr(n->value.data + size, MACHINE_MARK, n->value.size - size) : NULL;

        return mark ? mark + 1 : NULL;
}

struct slice note_rest(const struct note *n)
{
        const size_t size = cell_size(n);
        const char *machine = note_machine(n), *end = machine ? machine - 1 : n->value.data + n->value.size;

        return size == 0 ? SLICE("", 0) : SLICE(n->value.data + size, (size_t)(end - n->value.data) - size);
}

const void *note_commit(const struct note *n)
{
        const size_t size = cell_size(n);

        return size == 0 ? NULL : n->value.data + size - GIT_OID_RAWSZ;
}

static void copy_row(const struct store_walk *at, struct note *ret)
{
        snprintf(ret->key, sizeof(ret->key), "%.*s", (int)at->key.size, (const char *)at->key.data);
        ret->value.size = 0;
        buffer_add(&ret->value, at->value.data, at->value.size);
}

int note_next(struct store_txn *t, const char *prefix, struct note *n)
{
        cleanup_free char *from = copy_string(n->key);
        cleanup_walk struct store_walk each = {.txn = t, .table = TABLE_META, .prefix = slice_string(prefix), .from = slice_string(from)};
        int r;

        while ((r = store_walk(&each)) > 0 && each.key.size >= NOTE_KEY_SIZE)
                ;
        if (r > 0)
                copy_row(&each, n);
        return r;
}

int notes_read(struct workspace *w, const char *prefix, struct notes *ret)
{
        cleanup_walk struct store_walk each = {.store = workspace_store(w), .table = TABLE_META, .prefix = slice_string(prefix)};
        int r;

        while ((r = store_walk(&each)) > 0) {
                if (each.key.size >= NOTE_KEY_SIZE)
                        continue;
                copy_row(&each, list_add(ret->list, ret->n, (struct note){0}));
        }
        return r;
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
        struct transfer t = {.from = record_of(SLICE(n->value.data, n->value.size))};
        struct scrambled_inputs inputs = {0};
        struct remeasured c = {0};
        const struct recipe *era;
        git_oid oid = {0};
        int r;

        *ret = (struct noted_cell){0};
        transfer_numbers(&t, &c);
        transfer_raw(&t, oid.id, GIT_OID_RAWSZ);
        record_slice(&t.from, record_left(&t.from));
        if (record_end(&t.from, "a note that names a cell") < 0)
                return -ENOENT; /* damaged */
        ret->cell = (struct cell){.has_seed = c.has_seed, .seed = c.seed, .wall_ns = c.wall_ns, .cpu_ns = c.cpu_ns, .machine = note_machine(n)};
        r = workspace_solver_by_number(w, c.solver, &ret->cell.solver)
            ?: history_number(ret->cell.solver->history, &oid, &ret->cell.commit)
            ?: cases_get(workspace_cases(w), c.case_id, &ret->cell.info);
        if (r == 0 && ret->cell.info->removed) /* a scrambled input is in no listing either, but in use */
                r = ret->cell.info->derived ? scrambled_take_status(w, &inputs, &ret->cell.info) : -ENOENT;
        free(inputs.list);
        if (r == 0)
                r = run_find(w, &ret->cell, FACT_BRIEF, &ret->fact);
        if (r == -EIO && ret->cell.solver && era_of(ret->cell.solver->history, ret->cell.solver->recipe, ret->cell.commit, &era) == -EIO)
                r = errorf(-ENODATA, "%s", error_message(r));
        return r == -ESTALE ? -ENOENT : r;
}
