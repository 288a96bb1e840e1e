/* Reductions in TABLE_REDUCED: key → record. */
#include "cache/base/record.h"
#include "core/study/reduce/reduction.h"

#define RECORD_VERSION 1

enum {
        FLAG_MINIMAL = 1 << 0,
        FLAG_CPU_TIME = 1 << 1,
        FLAG_ENDED = 1 << 2,
        FLAG_REFERENCE = 1 << 3,
        FLAG_MEMORY = 1 << 4,
        FLAG_EFFORT = 1 << 5,
        FLAGS_ALL = (1 << 6) - 1
};

void reduction_done(struct reduction *r)
{
        buffer_done(&r->text);
        buffer_done(&r->implied);
}

static void put_bytes(struct buffer *b, const void *data, size_t size)
{
        record_put_u64(b, size);
        buffer_add(b, data, size);
}

static void put_answer(struct buffer *b, const struct version_answer *a)
{
        record_put_u8(b, (uint8_t)a->verdict);
        record_put_real(b, a->seconds);
        put_bytes(b, a->end, strlen(a->end));
}

int reduction_encode(const struct reduction *r, struct buffer *to)
{
        record_put_u8(to, RECORD_VERSION);
        record_put_u8(to, (uint8_t)((r->is_minimal ? FLAG_MINIMAL : 0) | (r->is_cpu_time ? FLAG_CPU_TIME : 0) |
                                    (r->has_ended ? FLAG_ENDED : 0) | (r->has_reference ? FLAG_REFERENCE : 0) |
                                    (r->measure == JUDGE_MEMORY   ? FLAG_MEMORY
                                     : r->measure == JUDGE_EFFORT ? FLAG_EFFORT
                                                                  : 0)));
        record_put_u8(to, (uint8_t)r->interest);
        record_put_u64(to, r->most_ns);
        record_put_real(to, r->seconds);
        record_put_u64(to, r->before);
        record_put_u64(to, r->tests);
        record_put_u64(to, r->taken);
        record_put_real(to, r->ratio);
        record_put_real(to, r->floor);
        for (int side = 0; side < N_SIDES; side++) {
                put_answer(to, &r->input[side]);
                put_answer(to, &r->reduced[side]);
        }
        put_bytes(to, r->text.data, r->text.size);
        put_bytes(to, r->implied.data, r->implied.size);
        return buffer_error(to);
}

static void get_bytes(struct record *r, struct buffer *ret)
{
        struct slice s = record_slice(r, record_u64(r));

        buffer_adds(ret, "");
        buffer_add(ret, s.data, s.size);
}

static void get_answer(struct record *r, struct version_answer *ret)
{
        uint8_t verdict = record_u8(r);
        struct slice end;

        ret->seconds = record_real(r);
        end = record_slice(r, record_u64(r));
        if (verdict >= N_VERDICTS || end.size >= sizeof(ret->end)) {
                record_fail(r);
                return;
        }
        ret->verdict = (enum verdict)verdict;
        snprintf(ret->end, sizeof(ret->end), "%.*s", (int)end.size, end.size > 0 ? (const char *)end.data : "");
}

int reduction_decode(struct slice bytes, struct reduction *ret)
{
        struct record r = record_of(bytes);
        uint8_t flags, interest;
        int k;

        record_version(&r, RECORD_VERSION);
        flags = record_u8(&r);
        interest = record_u8(&r);
        if (flags > FLAGS_ALL || interest >= N_INTERESTS)
                record_fail(&r);
        *ret = (struct reduction){
                .is_minimal = flags & FLAG_MINIMAL,
                .is_cpu_time = flags & FLAG_CPU_TIME,
                .has_ended = flags & FLAG_ENDED,
                .has_reference = flags & FLAG_REFERENCE,
                .measure = flags & FLAG_MEMORY ? JUDGE_MEMORY : flags & FLAG_EFFORT ? JUDGE_EFFORT : JUDGE_TIME,
                .interest = (enum interest)interest,
        };
        ret->most_ns = record_u64(&r);
        ret->seconds = record_real(&r);
        ret->before = record_u64(&r);
        ret->tests = record_u64(&r);
        ret->taken = record_u64(&r);
        ret->ratio = record_real(&r);
        ret->floor = record_real(&r);
        for (int side = 0; side < N_SIDES; side++) {
                get_answer(&r, &ret->input[side]);
                get_answer(&r, &ret->reduced[side]);
        }
        get_bytes(&r, &ret->text);
        get_bytes(&r, &ret->implied);
        k = buffer_error(&ret->text) < 0 || buffer_error(&ret->implied) < 0 ? -ENOMEM : record_end(&r, "a reduction");
        if (k < 0) {
                reduction_done(ret);
                *ret = (struct reduction){0};
        }
        return k;
}
