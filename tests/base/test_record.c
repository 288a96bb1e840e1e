#include "tests/support/test.h"

#include "cache/base/record.h"

static const uint8_t golden[] = {
        7, 1, 0x12, 0x34, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 'n', 'a', 'm', 'e',
};

static void put(struct buffer *b)
{
        record_put_u8(b, 7);
        record_put_u8(b, 1);
        record_put_u16(b, 0x1234);
        record_put_u32(b, 0x102);
        record_put_u64(b, 0x304);
        buffer_add(b, (const uint8_t[]){5, 6, 0, 0}, 4);
        record_put_u64_le(b, 0x807);
        buffer_adds(b, "name");
}

/* What is on people's disks: these bytes, whatever the machine. */
START_TEST(test_bytes)
{
        cleanup_buffer struct buffer b = {0};

        put(&b);
        ck_assert_uint_eq(b.size, sizeof(golden));
        ck_assert_mem_eq(b.data, golden, sizeof(golden));
}
END_TEST

struct fields {
        bool flag;
        uint16_t a;
        uint32_t b, d;
        uint64_t c, e;
        char *name;
};

static int get(struct slice bytes, struct fields *f)
{
        struct record r = record_of(bytes);

        record_version(&r, 7);
        f->flag = record_bool(&r);
        f->a = record_u16(&r);
        f->b = record_u32(&r);
        f->c = record_u64(&r);
        record_raw(&r, &f->d, sizeof(f->d));
        f->d = le32toh(f->d);
        f->e = record_u64_le(&r);
        f->name = record_string(&r, 4);
        return record_end(&r, "a test");
}

START_TEST(test_reading)
{
        struct fields f;

        assert_ok(get(SLICE(golden, sizeof(golden)), &f));
        ck_assert(f.flag);
        ck_assert_uint_eq(f.a, 0x1234);
        ck_assert_uint_eq(f.b, 0x102);
        ck_assert_uint_eq(f.c, 0x304);
        ck_assert_uint_eq(f.d, 0x605);
        ck_assert_uint_eq(f.e, 0x807);
        ck_assert_str_eq(f.name, "name");
        free(f.name);
}
END_TEST

/* Cut anywhere, or with something behind it: damage, and what was not there is nothing. */
START_TEST(test_cut)
{
        uint8_t longer[sizeof(golden) + 1] = {0};
        struct fields f;

        for (size_t n = 0; n < sizeof(golden); n++) {
                cleanup_free uint8_t *cut = malloc(n + 1); /* of its own, so that a sanitizer sees who reads behind it */

                memcpy(cut, golden, n);
                cut = realloc(cut, n ? n : 1);
                assert_error(get(SLICE(cut, n), &f), EBADMSG);
                ck_assert_ptr_null(f.name);
        }
        memcpy(longer, golden, sizeof(golden));
        assert_error(get(SLICE(longer, sizeof(longer)), &f), EBADMSG);
        ck_assert_ptr_nonnull(strstr(error_message(-EBADMSG), "a test is damaged"));
        free(f.name);
}
END_TEST

START_TEST(test_values_that_cannot_be)
{
        uint8_t bytes[sizeof(golden)];
        struct fields f;

        memcpy(bytes, golden, sizeof(golden));
        bytes[0] = 8;
        assert_error(get(SLICE(bytes, sizeof(bytes)), &f), EBADMSG);
        ck_assert_ptr_nonnull(strstr(error_message(-EBADMSG), "format 8"));
        memcpy(bytes, golden, sizeof(golden));
        bytes[1] = 2; /* neither true nor false */
        assert_error(get(SLICE(bytes, sizeof(bytes)), &f), EBADMSG);
        ck_assert_ptr_null(f.name);
}
END_TEST

/* A size that is read from the record itself may be anything. */
START_TEST(test_sizes)
{
        struct record r = record_of(SLICE(golden, sizeof(golden)));
        struct blob b;

        ck_assert_ptr_null(record_slice(&r, UINT64_MAX).data);
        ck_assert_uint_eq(record_left(&r), 0);
        record_blob(&r, UINT64_MAX, &b);
        ck_assert_uint_eq(b.size, 0);
        ck_assert_ptr_null(record_string(&r, 0));
        assert_error(record_end(&r, "x"), EBADMSG);
}
END_TEST

SUITE("record", test_bytes, test_reading, test_cut, test_values_that_cannot_be, test_sizes)
