/* An observation as bytes. */
#include "core/study/observation/observation_internal.h"

#include <math.h>

#include "cache/base/json.h"
#include "cache/base/record.h"

/* 1 has no decided_id and no reason, 2 no signature, 3 no clock; 4 has neither a threshold nor anything of an alarm, 5 no measure but time. */
#define RECORD_VERSION 6
#define RUNS_MOST      100000 /* versions of one finding, and runs of one version: more is damage */

void observation_encode(const struct observation *o, struct buffer *b)
{
        record_put_u8(b, RECORD_VERSION);
        record_put_u8(b, (uint8_t)o->kind);
        record_put_u8(b, (uint8_t)o->mark);
        record_put_u64(b, (uint64_t)o->found);
        record_put_u64(b, (uint64_t)o->changed);
        record_put_u64(b, (uint64_t)o->told);
        record_put_u32(b, o->case_id);
        record_put_u32(b, o->seed_id);
        record_put_u32(b, o->decided_id);
        record_put_real(b, o->timeout);
        record_put_real(b, o->threshold);
        record_put_u8(b, (uint8_t)(o->is_cpu_time ? JUDGE_CPU_TIME : o->measure));
        for (size_t i = 0; i < N_OBSERVATION_TEXTS; i++) {
                const char *text = *observation_text((struct observation *)o, i);

                record_put_u32(b, (uint32_t)strlen(text));
                buffer_adds(b, text);
        }
        record_put_u32(b, (uint32_t)o->n_runs);
        for (size_t i = 0; i < o->n_runs; i++) {
                record_put_u32(b, o->runs[i].case_id);
                record_put_u32(b, (uint32_t)strlen(o->runs[i].version));
                buffer_adds(b, o->runs[i].version);
                record_put_u8(b, (uint8_t)o->runs[i].verdict);
                record_put_u32(b, o->runs[i].n);
                for (uint32_t k = 0; k < o->runs[i].n; k++)
                        record_put_real(b, o->runs[i].seconds[k]);
        }
}

static void get_text(struct record *r, char **ret)
{
        free(*ret);
        *ret = record_string(r, record_u32(r));
}

static void get_runs(struct record *r, uint8_t format, struct observation *o)
{
        uint32_t case_id = format >= 5 ? record_u32(r) : o->case_id, n;
        cleanup_free char *version = NULL;
        cleanup_free double *seconds = NULL;
        uint8_t verdict;

        get_text(r, &version);
        verdict = record_u8(r);
        n = record_u32(r);
        if (verdict >= N_VERDICTS || n > RUNS_MOST || n > record_left(r) / 8 || r->error < 0) {
                record_fail(r);
                return;
        }
        seconds = allocate(n + 1, sizeof(*seconds));
        for (uint32_t i = 0; i < n; i++)
                seconds[i] = record_real(r);
        observation_add_case_runs(o, case_id, version, (enum verdict)verdict, seconds, n);
}

static void get_fields(struct record *r, uint8_t format, struct observation *o)
{
        static const uint8_t n_texts[RECORD_VERSION + 1] = {0, 5, 6, 7, 7, N_OBSERVATION_TEXTS, N_OBSERVATION_TEXTS};
        uint8_t kind, mark, measure;
        uint32_t n;

        record_version(r, format > 0 && format < RECORD_VERSION ? format : RECORD_VERSION);
        kind = record_u8(r);
        mark = record_u8(r);
        if (kind >= (format < 5 ? N_FINDING_KINDS : N_OBSERVATION_KINDS) || mark >= N_MARKS)
                record_fail(r);
        o->kind = (enum observation_kind)kind;
        o->mark = (enum observation_mark)mark;
        o->found = (int64_t)record_u64(r);
        o->changed = format < 5 ? o->found : (int64_t)record_u64(r);
        o->told = format < 5 ? 0 : (int64_t)record_u64(r);
        o->case_id = record_u32(r);
        o->seed_id = record_u32(r);
        o->decided_id = format < 2 ? 0 : record_u32(r);
        o->timeout = record_real(r);
        o->threshold = format < 5 ? NAN : record_real(r);
        measure = format >= 4 ? record_u8(r) : JUDGE_TIME;
        if (measure > (format < 6 ? JUDGE_CPU_TIME : JUDGE_EFFORT))
                record_fail(r);
        o->is_cpu_time = measure == JUDGE_CPU_TIME;
        o->measure = o->is_cpu_time ? JUDGE_TIME : (enum judge_measure)measure;
        for (size_t i = 0; r->error == 0 && i < n_texts[format]; i++)
                get_text(r, observation_text(o, i));
        n = record_u32(r);
        for (uint32_t i = 0; i < n && r->error == 0; i++)
                get_runs(r, format, o);
}

/* -- alarms as they were kept before they were observations: JSON -- */

static int get_side(const json_t *side, uint32_t case_id, const char *version, struct observation *o)
{
        const char *name = json_text(side, "verdict", "");
        const json_t *seconds = json_object_get(side, "seconds");
        double x = json_number_value(seconds);

        for (int v = 0; v < N_VERDICTS; v++)
                if (strcmp(name, verdict_name((enum verdict)v)) == 0) {
                        observation_add_case_runs(o, case_id, version, (enum verdict)v, &x, json_is_number(seconds));
                        return 0;
                }
        return -EBADMSG;
}

static int get_old_alarm(const json_t *j, struct observation *o)
{
        static const char *const texts[] = {"branch", "before", "commit", NULL, "url", "detail", NULL, "subject"};
        json_int_t version, kind, mark, found, told, changed;
        const json_t *cases, *c;
        int r = 0;
        size_t i;

        if (json_unpack((json_t *)j, "{sI sI sI sI sI sI so}", "version", &version, "kind", &kind, "mark", &mark, "found", &found, "told", &told,
                        "changed", &changed, "cases", &cases) < 0 ||
            version != 1 || kind < 0 || kind >= N_OBSERVATION_KINDS - N_FINDING_KINDS || mark < 0 || mark >= N_MARKS)
                return -EBADMSG;
        o->kind = (enum observation_kind)(N_FINDING_KINDS + kind);
        o->mark = (enum observation_mark)mark;
        o->found = found;
        o->told = told;
        o->changed = changed;
        for (i = 0; i < ARRAY_SIZE(texts); i++) {
                if (texts[i] && !json_text(j, texts[i], NULL))
                        return -EBADMSG;
                if (texts[i])
                        observation_set(observation_text(o, i), json_text(j, texts[i], ""));
        }
        json_array_foreach (cases, i, c) {
                uint32_t id = (uint32_t)json_integer_value(json_object_get(c, "case"));

                o->case_id = i == 0 ? id : o->case_id;
                if (r == 0)
                        r = get_side(json_object_get(c, "before"), id, o->reference, o);
                if (r == 0)
                        r = get_side(json_object_get(c, "after"), id, o->target, o);
        }
        return r;
}

int observation_decode(enum observation_series series, uint32_t solver, uint32_t number, struct slice bytes, struct observation **ret)
{
        uint8_t format = bytes.size > 0 ? *(const uint8_t *)bytes.data : 0;
        cleanup_observation struct observation *o = observation_new();
        struct record r = record_of(bytes);
        char what[64];

        o->solver = solver;
        o->number = number;
        snprintf(what, sizeof(what), "%s %u", series == OF_WATCHES ? "alarm" : "finding", number);
        if (series == OF_WATCHES && format == '{') {
                json_t *j = json_loadb(bytes.data, bytes.size, 0, NULL);
                int k = get_old_alarm(j, o);

                json_decref(j);
                if (k < 0)
                        return errorf(-EIO, "the record of %s is damaged", what);
        } else {
                int k;

                get_fields(&r, format, o);
                if (observation_series(o) != series || (series == OF_WATCHES && o->n_runs % 2 != 0))
                        record_fail(&r);
                k = record_end(&r, what);
                if (k < 0) { /* EIO in the mount, like everything that the store cannot give */
                        cleanup_free char *why = copy_string(error_message(k));

                        return errorf(-EIO, "%s", why);
                }
        }
        *ret = steal_pointer(o);
        return 0;
}
