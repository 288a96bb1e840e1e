/* An observation as bytes: one list of fields, which writes and reads. */
#include "core/study/observation/observation_internal.h"

#include "cache/base/transfer.h"

#define RECORD_VERSION 6

static void transfer_runs(struct transfer *t, struct observed_runs *runs)
{
        size_t n = runs->n;

        transfer_u32(t, &runs->case_id);
        transfer_string_u32(t, &runs->version);
        runs->verdict = (enum verdict)transfer_choice(t, runs->verdict, N_VERDICTS);
        transfer_count_u32(t, &n, sizeof(*runs->amounts));
        runs->n = (uint32_t)n;
        if (transfer_reads(t))
                runs->amounts = allocate(n + 1, sizeof(*runs->amounts));
        transfer_reals(t, runs->amounts, n);
}

static void transfer_observation(struct transfer *t, struct observation *o)
{
        unsigned measure = o->is_cpu_time ? JUDGE_CPU_TIME : o->measure; /* the clock is part of the record's measure */
        uint32_t n = (uint32_t)o->n_runs;

        transfer_version(t, RECORD_VERSION);
        o->kind = (enum observation_kind)transfer_choice(t, o->kind, N_OBSERVATION_KINDS);
        o->mark = (enum observation_mark)transfer_choice(t, o->mark, N_MARKS);
        transfer_u64(t, (uint64_t *)&o->found);
        transfer_u64(t, (uint64_t *)&o->changed);
        transfer_u64(t, (uint64_t *)&o->told);
        transfer_u32(t, &o->case_id);
        transfer_u32(t, &o->seed_id);
        transfer_u32(t, &o->decided_id);
        transfer_real(t, &o->timeout);
        transfer_real(t, &o->threshold);
        measure = transfer_choice(t, measure, JUDGE_EFFORT + 1);
        o->is_cpu_time = measure == JUDGE_CPU_TIME;
        o->measure = o->is_cpu_time ? JUDGE_TIME : (enum judge_measure)measure;
        for (size_t i = 0; i < N_OBSERVATION_TEXTS; i++)
                transfer_string_u32(t, observation_text(o, i));
        transfer_u32(t, &n);
        for (uint32_t i = 0; i < n && t->from.error == 0; i++) {
                if (transfer_reads(t))
                        list_add(o->runs, o->n_runs, (struct observed_runs){0});
                transfer_runs(t, &o->runs[i]);
        }
        if (transfer_reads(t) ? record_left(&t->from) > 0 : o->seed > 0) /* 0 is left out, as older records have no seed */
                transfer_u64(t, &o->seed);
}

void observation_encode(const struct observation *o, struct buffer *ret)
{
        transfer_observation(&(struct transfer){.to = ret}, (struct observation *)o);
}

int observation_decode(enum observation_series series, uint32_t solver, uint32_t number, struct slice bytes, struct observation **ret)
{
        cleanup_observation struct observation *o = observation_new();
        struct transfer t = {.from = record_of(bytes)};
        char what[64];
        int r;

        o->solver = solver;
        o->number = number;
        snprintf(what, sizeof(what), "%s %u", series == OF_WATCHES ? "alarm" : "finding", number);
        transfer_observation(&t, o);
        if (observation_series(o) != series || (series == OF_WATCHES && o->n_runs % 2 != 0))
                record_fail(&t.from);
        r = record_end(&t.from, what);
        if (r < 0) /* EIO in the mount, like all unreadable data of the store */
                return errorf(-EIO, "%s", error_message(r));
        *ret = steal_pointer(o);
        return 0;
}
