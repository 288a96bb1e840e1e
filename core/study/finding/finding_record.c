/* A finding as bytes. */
#include "core/study/finding/finding_internal.h"

#include "cache/base/record.h"

#define RECORD_VERSION 4      /* 1 has no decided_id and no reason, 2 no signature, 3 no clock */
#define RUNS_MOST      100000 /* versions of one finding, and runs of one version: more is damage */

static void put_text(struct buffer *b, const char *text)
{
        record_put_u32(b, (uint32_t)strlen(text));
        buffer_adds(b, text);
}

int finding_encode(const struct finding *f, struct buffer *b)
{
        record_put_u8(b, RECORD_VERSION);
        record_put_u8(b, (uint8_t)f->kind);
        record_put_u8(b, (uint8_t)f->mark);
        record_put_u64(b, (uint64_t)f->found);
        record_put_u32(b, f->case_id);
        record_put_u32(b, f->seed_id);
        record_put_u32(b, f->decided_id);
        record_put_real(b, f->timeout);
        record_put_u8(b, f->is_cpu_time);
        put_text(b, f->campaign);
        put_text(b, f->reference);
        put_text(b, f->target);
        put_text(b, f->chain);
        put_text(b, f->url);
        put_text(b, f->reason);
        put_text(b, f->signature);
        record_put_u32(b, (uint32_t)f->n_runs);
        for (size_t i = 0; i < f->n_runs; i++) {
                put_text(b, f->runs[i].version);
                record_put_u8(b, (uint8_t)f->runs[i].verdict);
                record_put_u32(b, f->runs[i].n);
                for (uint32_t k = 0; k < f->runs[i].n; k++)
                        record_put_real(b, f->runs[i].seconds[k]);
        }
        return buffer_error(b);
}

static void get_text(struct record *r, char **ret)
{
        free(*ret);
        *ret = record_string(r, record_u32(r));
}

static int get_runs(struct record *r, struct finding *f)
{
        cleanup_free char *version = NULL;
        cleanup_free double *seconds = NULL;
        uint8_t verdict;
        uint32_t n;

        get_text(r, &version);
        verdict = record_u8(r);
        n = record_u32(r);
        if (verdict >= N_VERDICTS || n > RUNS_MOST || n > record_left(r) / 8 || r->error < 0) {
                record_fail(r);
                return 0;
        }
        seconds = malloc((n + 1) * sizeof(double));
        for (uint32_t i = 0; seconds && i < n; i++)
                seconds[i] = record_real(r);
        return seconds ? finding_add_runs(f, version, (enum verdict)verdict, seconds, n) : -ENOMEM;
}

int finding_decode(uint32_t solver, uint32_t number, struct slice bytes, struct finding **ret)
{
        struct record r = record_of(bytes);
        uint8_t version = bytes.size > 0 ? *(const uint8_t *)bytes.data : 0;
        cleanup_finding struct finding *f = finding_new();
        char what[64];
        uint8_t kind, mark;
        uint32_t n;
        int k = 0;

        if (!f)
                return -ENOMEM;
        f->solver = solver;
        f->number = number;
        record_version(&r, version > 0 && version < RECORD_VERSION ? version : RECORD_VERSION);
        kind = record_u8(&r);
        mark = record_u8(&r);
        if (kind >= N_FINDING_KINDS || mark >= N_MARKS)
                record_fail(&r);
        f->kind = (enum finding_kind)kind;
        f->mark = (enum finding_mark)mark;
        f->found = (int64_t)record_u64(&r);
        f->case_id = record_u32(&r);
        f->seed_id = record_u32(&r);
        f->decided_id = version < 2 ? 0 : record_u32(&r);
        f->timeout = record_real(&r);
        f->is_cpu_time = version >= 4 && record_bool(&r);
        get_text(&r, &f->campaign);
        get_text(&r, &f->reference);
        get_text(&r, &f->target);
        get_text(&r, &f->chain);
        get_text(&r, &f->url);
        if (version >= 2)
                get_text(&r, &f->reason);
        if (version >= 3)
                get_text(&r, &f->signature);
        n = record_u32(&r);
        for (uint32_t i = 0; i < n && k == 0 && r.error == 0; i++)
                k = get_runs(&r, f);
        if (k < 0)
                return k;
        snprintf(what, sizeof(what), "finding %u", number);
        k = record_end(&r, what);
        if (k < 0)
                return k;
        *ret = steal_pointer(f);
        return 0;
}
