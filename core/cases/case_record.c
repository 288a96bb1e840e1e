#include "core/cases/cases_internal.h"

#include <inttypes.h>

#include "cache/base/record.h"

/* version(1) format(1) removed(1: REMOVED, DERIVED, QUERY, UNNAMED) status(1) sizes of name, logic and expected(4 each) size(8) added(8) sha256, then
 * name, logic and a byte for each of expected; with QUERY the id of the whole and the query's number (4 each); status_set(8) if it is not 0 */
#define RECORD_VERSION 1
#define REMOVED_AT     2
#define REMOVED        1
#define DERIVED        2 /* the others only with REMOVED */
#define QUERY          4
#define UNNAMED        8 /* not in older records, where DERIVED stands for it */

static void case_info_free(struct case_info *c)
{
        free(c); /* name, logic and expected are in the same block */
}
DEFINE_REFS(case_info, case_info_free)

struct case_info *case_info_new(struct slice name, struct slice logic, size_t n_expected)
{
        size_t expected = n_expected * sizeof(enum verdict);
        struct case_info *i = allocate(1, sizeof(*i) + expected + name.size + logic.size + 2);

        i->refs = 1;
        i->expected = (enum verdict *)(i + 1);
        i->n_expected = n_expected;
        i->name = (char *)(i + 1) + expected;
        i->logic = i->name + name.size + 1;
        memcpy(i->name, name.data, name.size);
        memcpy(i->logic, logic.data, logic.size);
        return i;
}

/* A copy of *head with another name, logic and number of expected answers. */
static struct case_info *info_like(const struct case_info *head, struct slice name, struct slice logic, size_t n_expected)
{
        struct case_info *i = case_info_new(name, logic, n_expected), own = *i;

        *i = *head;
        i->refs = own.refs;
        i->name = own.name;
        i->logic = own.logic;
        i->expected = own.expected;
        i->n_expected = own.n_expected;
        return i;
}

struct case_info *case_info_renamed(const struct case_info *old, const char *name)
{
        struct case_info *i = info_like(old, slice_string(name), slice_string(old->logic), old->n_expected);

        i->removed = i->derived = i->unnamed = false;
        memcpy(i->expected, old->expected, old->n_expected * sizeof(*old->expected));
        return i;
}

struct digest case_identity(const struct case_info *i)
{
        struct digest d = i->sha256;
        struct hasher *h;

        if (i->query == 0)
                return d;
        h = hasher_new();
        hasher_string(h, "query");
        hasher_add(h, d.bytes, DIGEST_SIZE);
        hasher_number(h, i->query);
        hasher_finish(h, &d);
        return d;
}

struct case_info *case_info_query(const struct case_info *whole, uint32_t query)
{
        cleanup_free char *name = format_string("%s#%" PRIu32, whole->name, query);
        struct case_info *i = info_like(whole, slice_string(name), slice_string(whole->logic), 1);

        assert(query > 0 && query <= whole->n_expected);
        i->whole = whole->id;
        i->query = query;
        i->removed = true;
        i->whole_is_removed = whole->removed;
        i->status = i->expected[0] = whole->expected[query - 1];
        return i;
}

struct case_info *case_info_with_status(const struct case_info *old, enum verdict status, int64_t set)
{
        struct case_info *i = info_like(old, slice_string(old->name), slice_string(old->logic), 1);

        i->status = i->expected[0] = status;
        i->status_set = set;
        return i;
}

void case_record_encode(const struct case_info *i, struct buffer *ret)
{
        record_put_u8(ret, RECORD_VERSION);
        record_put_u8(ret, (uint8_t)i->format);
        record_put_u8(ret, (uint8_t)((i->removed ? REMOVED : 0) | (i->derived ? DERIVED : 0) | (i->query > 0 ? QUERY : 0) | (i->unnamed ? UNNAMED : 0)));
        record_put_u8(ret, (uint8_t)i->status);
        record_put_u32(ret, (uint32_t)strlen(i->name));
        record_put_u32(ret, (uint32_t)strlen(i->logic));
        record_put_u32(ret, (uint32_t)i->n_expected);
        record_put_u64(ret, i->size);
        record_put_u64(ret, (uint64_t)i->added);
        buffer_add(ret, i->sha256.bytes, DIGEST_SIZE);
        buffer_adds(ret, i->name);
        buffer_adds(ret, i->logic);
        for (size_t k = 0; k < i->n_expected; k++)
                record_put_u8(ret, (uint8_t)i->expected[k]);
        if (i->query > 0) {
                record_put_u32(ret, i->whole);
                record_put_u32(ret, i->query);
        }
        if (i->status_set != 0)
                record_put_u64(ret, (uint64_t)i->status_set);
}

int case_record_decode(uint32_t id, struct slice bytes, struct case_info **ret)
{
        struct record rec = record_of(bytes);
        struct slice name, logic, expected;
        struct case_info head = {.id = id};
        uint32_t sizes[3];
        uint8_t removed, status;
        char what[64];
        int r;

        record_version(&rec, RECORD_VERSION);
        head.format = record_u8(&rec) == FORMAT_CNF ? FORMAT_CNF : FORMAT_SMT2;
        removed = record_u8(&rec);
        head.removed = removed != 0;
        head.derived = removed & DERIVED;
        head.unnamed = removed & (UNNAMED | DERIVED);
        status = record_u8(&rec);
        head.status = (enum verdict)status;
        for (size_t i = 0; i < 3; i++)
                sizes[i] = record_u32(&rec);
        head.size = record_u64(&rec);
        head.added = (int64_t)record_u64(&rec);
        record_raw(&rec, head.sha256.bytes, DIGEST_SIZE);
        name = record_slice(&rec, sizes[0]);
        logic = record_slice(&rec, sizes[1]);
        expected = record_slice(&rec, sizes[2]);
        if (removed & QUERY) {
                head.whole = record_u32(&rec);
                head.query = record_u32(&rec);
        }
        if (record_left(&rec) > 0) /* not in older records */
                head.status_set = (int64_t)record_u64(&rec);
        if (status >= N_VERDICTS)
                record_fail(&rec);
        for (size_t k = 0; k < expected.size; k++)
                if (((const uint8_t *)expected.data)[k] >= N_VERDICTS)
                        record_fail(&rec);
        snprintf(what, sizeof(what), "the record of case %u", id);
        r = record_end(&rec, what);
        if (r < 0)
                return r;
        *ret = info_like(&head, name, logic, expected.size);
        for (size_t k = 0; k < expected.size; k++) /* older records have the status of another question */
                (*ret)->status = (*ret)->expected[k] = (enum verdict)((const uint8_t *)expected.data)[k];
        return 0;
}

bool case_record_is_removed(struct slice bytes)
{
        return bytes.size <= REMOVED_AT || ((const uint8_t *)bytes.data)[REMOVED_AT];
}
