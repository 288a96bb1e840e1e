/* The store's form of a build: a version, then fields. Numbers are big-endian; strings and blobs follow their length. The log comes last, so that
 * readers that do not need it can skip it. */
#include "core/build/build.h"
#include "cache/base/transfer.h"

static void build_record_free(struct build_record *b)
{
        for (size_t i = 0; i < b->n_outputs; i++)
                free(b->outputs[i].name);
        free(b->outputs);
        free(b->programs);
        free(b->differs);
        free(b->reason);
        blob_done(&b->log);
        blob_done(&b->used);
        free(b);
}
DEFINE_REFS(build_record, build_record_free)

/* -- programs --------------------------------------------------------------------------------------------------- */

void build_outputs_digest(const struct build_output *list, size_t n, struct digest *ret)
{
        struct hasher *h = hasher_new();

        hasher_string(h, "solverfs program 1");
        for (size_t i = 0; i < n; i++) {
                hasher_string(h, list[i].name);
                hasher_number(h, list[i].executable);
                hasher_add(h, list[i].id.bytes, DIGEST_SIZE);
        }
        hasher_finish(h, ret);
}

const struct digest *build_record_program(const struct build_record *b)
{
        return b->n_programs > 0 ? &b->programs[0] : NULL;
}

bool build_record_has_program(const struct build_record *b, const struct digest *id)
{
        for (size_t i = 0; i < b->n_programs; i++)
                if (digest_equal(&b->programs[i], id))
                        return true;
        return false;
}

void build_record_note_program(struct build_record *b)
{
        struct digest id;

        build_outputs_digest(b->outputs, b->n_outputs, &id);
        if (build_record_has_program(b, &id))
                return;
        list_add(b->programs, b->n_programs, id);
}

/* -- the store's form ------------------------------------------------------------------------------------------- */

static void transfer_outputs(struct transfer *t, struct build_record *b)
{
        transfer_count(t, &b->n_outputs, DIGEST_SIZE);
        if (transfer_reads(t))
                b->outputs = allocate(b->n_outputs + 1, sizeof(*b->outputs));
        for (size_t i = 0; i < b->n_outputs; i++) {
                struct build_output *o = &b->outputs[i];
                uint64_t executable = o->executable;

                transfer_string(t, &o->name);
                transfer_raw(t, o->id.bytes, DIGEST_SIZE);
                transfer_u64(t, &o->size);
                transfer_u64(t, &executable);
                o->executable = executable;
        }
}

/* A program has two flags, always clean and not struck in records of today: older versions also kept programs of incremental builds, and struck those that
 * a clean build did not make. Such programs are dropped. */
static void transfer_programs(struct transfer *t, struct build_record *b)
{
        size_t n = b->n_programs, kept = 0;

        transfer_count(t, &n, DIGEST_SIZE);
        if (transfer_reads(t))
                b->programs = allocate(n + 1, sizeof(*b->programs));
        for (size_t i = 0; i < n; i++) {
                bool is_clean = true, is_struck = false;

                transfer_raw(t, b->programs[kept].bytes, DIGEST_SIZE);
                transfer_bool(t, &is_clean);
                transfer_bool(t, &is_struck);
                kept += is_clean && !is_struck;
        }
        b->n_programs = kept;
}

/* All but the log, which comes last and is the caller's. *is_clean is false for an incremental build of an older version. */
static void transfer_record(struct transfer *t, struct build_record *b, bool *is_clean)
{
        bool has_reason = b->reason;
        uint64_t started = (uint64_t)b->started;

        transfer_bool(t, &b->ok);
        transfer_bool(t, is_clean);
        transfer_bool(t, &has_reason);
        transfer_raw(t, b->commit.id, GIT_OID_RAWSZ);
        transfer_u64(t, &started);
        b->started = (int64_t)started;
        transfer_u64(t, &b->duration_ns);
        transfer_u64(t, &b->cpu_ns);
        transfer_u64(t, &b->memory);
        if (has_reason)
                transfer_string(t, &b->reason);
        transfer_outputs(t, b);
        transfer_programs(t, b);
        transfer_string(t, &b->differs);
        if (transfer_reads(t) && b->differs && !*b->differs)
                free(steal_pointer(b->differs));
}

int build_record_encode(const struct build_record *b, struct buffer *ret)
{
        bool is_clean = true;

        record_put_u8(ret, BUILD_RECORD_VERSION);
        transfer_record(&(struct transfer){.to = ret}, (struct build_record *)b, &is_clean);
        record_put_u64(ret, b->log.size);
        buffer_add(ret, b->log.data, b->log.size);
        return buffer_error(ret);
}

int build_record_decode(struct slice bytes, bool with_log, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *b = allocate(1, sizeof(*b));
        struct transfer t = {.from = record_of(bytes)};
        bool is_clean;
        int r;

        b->refs = 1;
        record_version(&t.from, BUILD_RECORD_VERSION);
        transfer_record(&t, b, &is_clean);
        if (b->ok && b->n_programs == 0 && t.from.error == 0) /* all were dropped */
                build_record_note_program(b);
        if (with_log)
                record_blob(&t.from, record_u64(&t.from), &b->log);
        else
                record_slice(&t.from, record_left(&t.from));
        if (b->ok ? b->n_outputs == 0 : !b->reason) /* readers rely on a program or a reason */
                record_fail(&t.from);
        r = record_end(&t.from, "the record of a build");
        if (r == 0 && b->ok && !is_clean)
                r = -ENOENT;
        if (r == 0)
                *ret = steal_pointer(b);
        return r;
}
