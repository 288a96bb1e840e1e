/* An observation as bytes. */
#include "core/study/observation/observation_internal.h"

#include "cache/base/transfer.h"

#define RECORD_VERSION 6
#define RUNS_MOST      100000 /* of one version: more is damage */

static void transfer_time(struct transfer *t, int64_t *seconds)
{
        uint64_t n = (uint64_t)*seconds;

        transfer_u64(t, &n);
        *seconds = (int64_t)n;
}

static void transfer_runs(struct transfer *t, struct observed_runs *runs)
{
        transfer_u32(t, &runs->case_id);
        transfer_string_u32(t, &runs->version);
        runs->verdict = (enum verdict)transfer_choice(t, runs->verdict, N_VERDICTS);
        transfer_u32(t, &runs->n);
        if (transfer_reads(t)) {
                if (runs->n > RUNS_MOST || runs->n > record_left(&t->from) / 8)
                        record_fail(&t->from);
                runs->n = t->from.error < 0 ? 0 : runs->n;
                runs->seconds = allocate(runs->n + 1, sizeof(*runs->seconds));
        }
        transfer_reals(t, runs->seconds, runs->n);
}

static void transfer_observation(struct transfer *t, struct observation *o)
{
        unsigned measure = o->is_cpu_time ? JUDGE_CPU_TIME : o->measure;
        uint32_t n = (uint32_t)o->n_runs;

        transfer_version(t, RECORD_VERSION);
        o->kind = (enum observation_kind)transfer_choice(t, o->kind, N_OBSERVATION_KINDS);
        o->mark = (enum observation_mark)transfer_choice(t, o->mark, N_MARKS);
        transfer_time(t, &o->found);
        transfer_time(t, &o->changed);
        transfer_time(t, &o->told);
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
        if (transfer_reads(t) ? record_left(&t->from) > 0 : o->seed > 0) /* left out if it is 0, as in records of before */
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
