/* A reduction as the bytes of TABLE_REDUCED. */
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
        cleanup_free char *end = copy_string(a->end); /* reading replaces it */

        a->verdict = transfer_choice(t, a->verdict, N_VERDICTS);
        transfer_real(t, &a->amount);
        transfer_string(t, &end);
        if (!end || strlen(end) >= sizeof(a->end))
                record_fail(&t->from);
        else
                strcpy(a->end, end);
}

static void transfer_text(struct transfer *t, struct buffer *text)
{
        buffer_adds(text, ""); /* so that data is a string, also of an empty text */
        transfer_bytes(t, text);
}

static void transfer_reduction(struct transfer *t, struct reduction *r)
{
        bool is_memory = r->measure == JUDGE_MEMORY, is_effort = r->measure == JUDGE_EFFORT;

        transfer_version(t, RECORD_VERSION);
        /* two flags for the measure: older records have neither, and are of time */
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
        int r;

        *ret = (struct reduction){0};
        transfer_reduction(&t, ret);
        r = buffer_error(&ret->text) < 0 || buffer_error(&ret->implied) < 0 ? -ENOMEM : record_end(&t.from, "a reduction");
        if (r < 0) {
                reduction_done(ret);
                *ret = (struct reduction){0};
        }
        return r;
}
