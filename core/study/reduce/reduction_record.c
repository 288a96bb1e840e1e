/* Reductions in TABLE_REDUCED: key → record. */
#include "cache/base/transfer.h"
#include "core/study/reduce/reduction.h"

#define RECORD_VERSION 1

void reduction_done(struct reduction *r)
{
        buffer_done(&r->text);
        buffer_done(&r->implied);
}

static void transfer_flags(struct transfer *t, bool *const *flags, size_t n)
{
        unsigned bits = 0;

        for (size_t i = 0; i < n; i++)
                bits |= (unsigned)*flags[i] << i;
        bits = transfer_choice(t, bits, 1u << n);
        for (size_t i = 0; i < n && transfer_reads(t); i++)
                *flags[i] = bits >> i & 1;
}

static void transfer_answer(struct transfer *t, struct version_answer *a)
{
        cleanup_buffer struct buffer end = {0};

        a->verdict = transfer_choice(t, a->verdict, N_VERDICTS);
        transfer_real(t, &a->seconds);
        buffer_adds(&end, transfer_reads(t) ? "" : a->end);
        transfer_bytes(t, &end);
        if (end.size >= sizeof(a->end))
                record_fail(&t->from);
        else
                memcpy(a->end, end.data, end.size + 1);
}

static void transfer_text(struct transfer *t, struct buffer *text)
{
        buffer_adds(text, ""); /* it is a string, also when it is empty */
        transfer_bytes(t, text);
}

static void transfer_reduction(struct transfer *t, struct reduction *r)
{
        bool is_memory = r->measure == JUDGE_MEMORY, is_effort = r->measure == JUDGE_EFFORT;

        transfer_version(t, RECORD_VERSION);
        transfer_flags(t, (bool *[]){&r->is_minimal, &r->is_cpu_time, &r->has_ended, &r->has_reference, &is_memory, &is_effort}, 6);
        r->measure = is_memory ? JUDGE_MEMORY : is_effort ? JUDGE_EFFORT : JUDGE_TIME;
        r->interest = transfer_choice(t, r->interest, N_INTERESTS);
        transfer_u64(t, &r->most_ns);
        transfer_real(t, &r->seconds);
        transfer_u64(t, &r->before);
        transfer_u64(t, &r->tests);
        transfer_u64(t, &r->taken);
        transfer_real(t, &r->ratio);
        transfer_real(t, &r->floor);
        for (int side = 0; side < N_SIDES; side++) {
                transfer_answer(t, &r->input[side]);
                transfer_answer(t, &r->reduced[side]);
        }
        transfer_text(t, &r->text);
        transfer_text(t, &r->implied);
}

int reduction_encode(struct reduction *r, struct buffer *to)
{
        transfer_reduction(&(struct transfer){.to = to}, r);
        return buffer_error(to);
}

int reduction_decode(struct slice bytes, struct reduction *ret)
{
        struct transfer t = {.from = record_of(bytes)};
        int k;

        *ret = (struct reduction){0};
        transfer_reduction(&t, ret);
        k = buffer_error(&ret->text) < 0 || buffer_error(&ret->implied) < 0 ? -ENOMEM : record_end(&t.from, "a reduction");
        if (k < 0) {
                reduction_done(ret);
                *ret = (struct reduction){0};
        }
        return k;
}
