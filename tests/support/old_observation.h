/* Findings and alarms as earlier versions of the store have them: a finding of format 4, an alarm as JSON; number 1 of their solver. */
#pragma once

#include "cache/base/record.h"
#include "core/study/observation/observation.h"
#include "tests/support/test.h"

static inline void put_first_row(struct workspace *w, enum table table, char letter, uint32_t solver, struct slice value)
{
        uint8_t key[9], one[4];

        key[0] = (uint8_t)letter;
        key_u32(key + 1, solver);
        key_u32(key + 5, 1);
        assert_ok(store_set(workspace_store(w), table, SLICE(key, sizeof(key)), value));
        key[0] = 'n';
        key_u32(one, 1);
        assert_ok(store_set(workspace_store(w), table, SLICE(key, 5), SLICE(one, sizeof(one))));
}

/* A slowdown that the campaign "old" found; runs of 0.5 s and 0.5 s against 11 s and 3 s. */
static inline void put_old_finding(struct workspace *w, uint32_t solver, uint32_t case_id, const char *reference, const char *target)
{
        cleanup_buffer struct buffer b = {0};

        record_put_u8(&b, 4);
        record_put_u8(&b, FINDING_SPR);
        record_put_u8(&b, MARK_CONFIRMED);
        record_put_u64(&b, 1700000000);
        record_put_u32(&b, case_id);
        record_put_u64(&b, 0); /* no seed, no decided formula */
        record_put_real(&b, 20);
        record_put_u8(&b, true);
        for (const char *const *p = (const char *const[]){"old", reference, target, "", "url", "why", "sign", NULL}; *p; p++) {
                record_put_u32(&b, (uint32_t)strlen(*p));
                buffer_adds(&b, *p);
        }
        record_put_u32(&b, 2);
        for (int i = 0; i < 2; i++) {
                const char *version = i == 0 ? reference : target;

                record_put_u32(&b, (uint32_t)strlen(version));
                buffer_adds(&b, version);
                record_put_u8(&b, VERDICT_SAT);
                record_put_u32(&b, 2);
                record_put_real(&b, i == 0 ? 0.5 : 11);
                record_put_real(&b, i == 0 ? 0.5 : 3);
        }
        put_first_row(w, TABLE_FINDINGS, 'f', solver, SLICE(b.data, b.size));
}

/* A wrong answer on one case, and on the next one where nothing older is known. */
static inline void put_old_alarm(struct workspace *w, uint32_t solver, uint32_t case_id, const char *before, const char *commit)
{
        cleanup_buffer struct buffer b = {0}, cause = {0};
        uint8_t one[4];

        buffer_addf(&b,
                    "{\"version\":1,\"kind\":2,\"found\":1700000000,\"told\":0,\"changed\":1700000002,\"branch\":\"main\",\"commit\":\"%s\",\"before\":\"%s\","
                    "\"subject\":\"what was done\",\"detail\":\"says unsat\",\"cases\":["
                    "{\"case\":%u,\"before\":{\"verdict\":\"sat\",\"seconds\":0.25},\"after\":{\"verdict\":\"unsat\",\"seconds\":0.5}},"
                    "{\"case\":%u,\"before\":{\"verdict\":\"unknown\",\"seconds\":null},\"after\":{\"verdict\":\"unsat\",\"seconds\":0.5}}],"
                    "\"mark\":1,\"url\":\"http://x/1\"}",
                    commit, before, case_id, case_id + 1);
        put_first_row(w, TABLE_ALARMS, 'a', solver, SLICE(b.data, b.size));
        record_put_u8(&cause, 'c');
        record_put_u32(&cause, solver);
        buffer_addf(&cause, "wrong/%s", commit);
        key_u32(one, 1);
        assert_ok(store_set(workspace_store(w), TABLE_ALARMS, SLICE(cause.data, cause.size), SLICE(one, sizeof(one))));
}
