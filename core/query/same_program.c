#include "core/query/same_program.h"

/* Two kinds of rows: the class of a digest (a chain, as classes join), and the other digests under which a class has results. */
#define CLASS_KEY  "program/class/"
#define OTHERS_KEY "program/others/"
#define KEY_SIZE   (sizeof(OTHERS_KEY) + DIGEST_HEX_SIZE)

static void make_key(const char *kind, const struct digest *program, char ret[KEY_SIZE])
{
        snprintf(ret, KEY_SIZE, "%s%s", kind, digest_text(program).s);
}

void program_first(struct store_txn *t, const struct digest *program, struct digest *ret)
{
        char key[KEY_SIZE];
        int r = 0;

        for (*ret = *program; r == 0;) {
                cleanup_blob struct blob b = {0};

                make_key(CLASS_KEY, ret, key);
                r = store_get(t, TABLE_META, slice_string(key), &b);
                if (r == 0 && b.size != DIGEST_SIZE)
                        r = -EBADMSG;
                if (r == 0)
                        memcpy(ret->bytes, b.data, DIGEST_SIZE);
        }
}

int program_others(struct store_txn *t, const struct digest *first, struct digest **ret, size_t *ret_n)
{
        cleanup_blob struct blob b = {0};
        char key[KEY_SIZE];
        int r;

        *ret = NULL;
        *ret_n = 0;
        make_key(OTHERS_KEY, first, key);
        r = store_get(t, TABLE_META, slice_string(key), &b);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        *ret = allocate(b.size / DIGEST_SIZE + 1, sizeof(**ret));
        *ret_n = b.size / DIGEST_SIZE;
        memcpy(*ret, b.data, *ret_n * DIGEST_SIZE);
        return 0;
}

/* -- joining ----------------------------------------------------------------------------------------------------- */

/* Appends `from` and its others to the others of `to`. */
static int add_others(struct store_txn *t, const struct digest *from, const struct digest *to, bool was_used)
{
        cleanup_free struct digest *before = NULL, *more = NULL;
        cleanup_buffer struct buffer b = {0};
        size_t n_before, n_more;
        char key[KEY_SIZE];
        int r = program_others(t, to, &before, &n_before) ?: program_others(t, from, &more, &n_more);

        if (r < 0 || (!was_used && n_more == 0))
                return r;
        buffer_add(&b, before, n_before * DIGEST_SIZE);
        if (was_used)
                buffer_add(&b, from->bytes, DIGEST_SIZE);
        buffer_add(&b, more, n_more * DIGEST_SIZE);
        r = buffer_error(&b);
        make_key(OTHERS_KEY, to, key);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(key), SLICE(b.data, b.size));
}

/* Both are first digests. */
static int join_classes(struct store_txn *t, const struct digest *from, const struct digest *to)
{
        cleanup_walk struct store_walk each = {.txn = t, .table = TABLE_BUILD_PROGRAMS};
        bool was_used = false; /* some build's results stood under `from` */
        char key[KEY_SIZE];
        int r;

        while ((r = store_walk(&each)) > 0) {
                struct digest row[2] = {*to};

                if ((each.value.size != DIGEST_SIZE && each.value.size != sizeof(row)) || memcmp(each.value.data, from->bytes, DIGEST_SIZE) != 0)
                        continue;
                was_used = true;
                memcpy(row + 1, (const char *)each.value.data + DIGEST_SIZE, each.value.size - DIGEST_SIZE);
                r = store_put(t, TABLE_BUILD_PROGRAMS, each.key, SLICE(row, each.value.size));
                if (r < 0)
                        return r;
        }
        if (r == 0)
                r = add_others(t, from, to, was_used);
        make_key(CLASS_KEY, from, key);
        return r < 0 ? r : store_put(t, TABLE_META, slice_string(key), SLICE(to->bytes, DIGEST_SIZE));
}

int program_join(struct store_txn *t, const struct build_record *record, struct digest *ret)
{
        const struct digest *program = build_record_program(record);
        int r = 0;

        if (!program)
                return -ENOENT;
        program_first(t, program, ret);
        for (size_t i = 0; r == 0 && i < record->n_programs; i++) {
                struct digest first;

                program_first(t, &record->programs[i], &first);
                if (!digest_equal(&first, ret))
                        r = join_classes(t, &first, ret);
        }
        return r;
}
