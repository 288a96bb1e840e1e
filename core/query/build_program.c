/* The program that a build made. Results are stored under the program's digest, so every lookup of a result asks for it first: it has a table
 * of its own with small rows, beside the records with their logs. */
#include "core/query/same_program.h"

int build_program_put(struct store_txn *t, const struct digest *build, const struct build_record *record, const struct digest *used)
{
        struct digest row[2] = {{{0}}, *used};
        int r = program_join(t, record, &row[0]);

        return r < 0 && r != -ENOENT ? r
                                     : store_put(t, TABLE_BUILD_PROGRAMS, SLICE(build->bytes, DIGEST_SIZE),
                                                 SLICE(row, digest_is_zero(used) ? DIGEST_SIZE : sizeof(row)));
}

/* The program of a record without a row: an older version wrote the record, or the row was damaged. */
static int program_of_record(struct workspace *w, const struct digest *build, struct digest *ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_txn struct store_txn *t = NULL;
        const struct digest *program;
        int r = build_record_find(w, build, false, &record);

        if (r < 0)
                return r;
        program = build_record_program(record);
        if (!program)
                return -ENOENT;
        r = store_read(workspace_store(w), &t);
        if (r == 0)
                program_first(t, program, ret);
        return r;
}

int build_program_find(struct workspace *w, const struct digest *build, struct digest *ret)
{
        cleanup_blob struct blob b = {0};
        int r = store_fetch(workspace_store(w), TABLE_BUILD_PROGRAMS, SLICE(build->bytes, DIGEST_SIZE), &b);

        if (r == -ENOENT || (r == 0 && b.size != DIGEST_SIZE && b.size != 2 * DIGEST_SIZE))
                return program_of_record(w, build, ret);
        if (r < 0)
                return r;
        memcpy(ret->bytes, b.data, DIGEST_SIZE);
        return digest_is_zero(ret) ? -ENOENT : 0;
}

/* -- of all commits --------------------------------------------------------------------------------------------- */

struct made { /* a row */
        struct digest build, program;
};

struct rows {
        struct made *list; /* by build key, as LMDB has them */
        size_t n;
};

static int add_row(void *user, struct slice key, struct slice value)
{
        struct rows *rows = user;

        if (key.size != DIGEST_SIZE || (value.size != DIGEST_SIZE && value.size != 2 * DIGEST_SIZE))
                return 0;
        list_grow(rows->list, rows->n);
        memcpy(rows->list[rows->n].build.bytes, key.data, DIGEST_SIZE);
        memcpy(rows->list[rows->n++].program.bytes, value.data, DIGEST_SIZE);
        return 0;
}

static int by_build(const void *a, const void *b)
{
        return memcmp(a, b, DIGEST_SIZE);
}

int commit_programs(struct workspace *w, struct solver *s, struct digest **ret, uint32_t *ret_n)
{
        cleanup_free struct digest *keys = NULL;
        struct rows rows = {0};
        uint32_t n = 0;
        int r = store_visit(workspace_store(w), TABLE_BUILD_PROGRAMS, SLICE("", 0), true, add_row, &rows);

        if (r == 0)
                r = build_keys(s->history, s->recipe, &keys, &n);
        for (uint32_t i = 0; r == 0 && i < n; i++) {
                const struct made *m = find_in_list(&keys[i], rows.list, rows.n, sizeof(*rows.list), by_build);

                keys[i] = m ? m->program : (struct digest){0};
        }
        free(rows.list);
        if (r < 0)
                return r;
        *ret = steal_pointer(keys);
        *ret_n = n;
        return 0;
}
