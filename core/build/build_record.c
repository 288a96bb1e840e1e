/* The store's form of a build: a version, then fields; numbers big end first; strings and blobs after their length. The log comes last, so
 * that readers without need of it can skip it. */
#include "core/build/build.h"
#include "cache/base/record.h"

struct build_record *build_record_ref(struct build_record *b)
{
        __atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
        return b;
}

struct build_record *build_record_unref(struct build_record *b)
{
        if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        for (size_t i = 0; i < b->n_outputs; i++)
                free(b->outputs[i].name);
        free(b->outputs);
        free(b->programs);
        free(b->differs);
        free(b->reason);
        blob_done(&b->log);
        blob_done(&b->used);
        free(b);
        return NULL;
}

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
        list_grow(b->programs, b->n_programs);
        b->programs[b->n_programs++] = id;
}

/* -- the store's form ------------------------------------------------------------------------------------------- */

static void add_bytes(struct buffer *b, const void *data, size_t size)
{
        record_put_u64(b, size);
        buffer_add(b, data, size);
}

int build_record_encode(const struct build_record *b, struct buffer *ret)
{
        record_put_u8(ret, BUILD_RECORD_VERSION);
        record_put_u8(ret, b->ok);
        record_put_u8(ret, true); /* built in a clean tree */
        record_put_u8(ret, b->reason != NULL);
        buffer_add(ret, b->commit.id, GIT_OID_RAWSZ);
        record_put_u64(ret, (uint64_t)b->started);
        record_put_u64(ret, b->duration_ns);
        record_put_u64(ret, b->cpu_ns);
        record_put_u64(ret, b->memory);
        if (b->reason)
                add_bytes(ret, b->reason, strlen(b->reason));
        record_put_u64(ret, b->n_outputs);
        for (size_t i = 0; i < b->n_outputs; i++) {
                const struct build_output *o = &b->outputs[i];

                add_bytes(ret, o->name, strlen(o->name));
                buffer_add(ret, o->id.bytes, DIGEST_SIZE);
                record_put_u64(ret, o->size);
                record_put_u64(ret, o->executable);
        }
        record_put_u64(ret, b->n_programs);
        for (size_t i = 0; i < b->n_programs; i++) {
                buffer_add(ret, b->programs[i].bytes, DIGEST_SIZE);
                record_put_u8(ret, true);  /* a build in a clean tree made it, */
                record_put_u8(ret, false); /* and none has shown it wrong */
        }
        add_bytes(ret, b->differs ?: "", b->differs ? strlen(b->differs) : 0);
        add_bytes(ret, b->log.data, b->log.size);
        return buffer_error(ret);
}

static void read_outputs(struct record *r, struct build_record *b)
{
        uint64_t n = record_u64(r);

        if (n > record_left(r) / DIGEST_SIZE) { /* before it is believed */
                record_fail(r);
                return;
        }
        b->outputs = allocate(n + 1, sizeof(*b->outputs));
        for (uint64_t i = 0; i < n && r->error == 0; i++) {
                struct build_output *o = &b->outputs[i];

                o->name = record_string(r, record_u64(r));
                record_raw(r, o->id.bytes, DIGEST_SIZE);
                o->size = record_u64(r);
                o->executable = record_u64(r) != 0;
                b->n_outputs++;
        }
}

static void read_programs(struct record *r, struct build_record *b)
{
        uint64_t n = record_u64(r), length;

        if (n > record_left(r) / DIGEST_SIZE) { /* before it is believed */
                record_fail(r);
                return;
        }
        b->programs = allocate(n + 1, sizeof(*b->programs));
        for (uint64_t i = 0; i < n && r->error == 0; i++) {
                bool is_clean, is_struck;

                record_raw(r, b->programs[b->n_programs].bytes, DIGEST_SIZE);
                is_clean = record_bool(r);
                is_struck = record_bool(r);
                b->n_programs += is_clean && !is_struck; /* the others are incremental builds' of versions before */
        }
        length = record_u64(r);
        if (length > 0)
                b->differs = record_string(r, length);
}

int build_record_decode(struct slice bytes, bool with_log, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *b = allocate(1, sizeof(*b));
        struct record rec = record_of(bytes);
        bool is_clean, has_reason;
        int r;

        b->refs = 1;
        record_version(&rec, BUILD_RECORD_VERSION);
        b->ok = record_bool(&rec);
        is_clean = record_bool(&rec);
        has_reason = record_bool(&rec);
        record_raw(&rec, b->commit.id, GIT_OID_RAWSZ);
        b->started = (int64_t)record_u64(&rec);
        b->duration_ns = record_u64(&rec);
        b->cpu_ns = record_u64(&rec);
        b->memory = record_u64(&rec);
        if (has_reason)
                b->reason = record_string(&rec, record_u64(&rec));
        read_outputs(&rec, b);
        read_programs(&rec, b);
        if (b->ok && b->n_programs == 0 && rec.error == 0)
                build_record_note_program(b);
        if (with_log)
                record_blob(&rec, record_u64(&rec), &b->log);
        else
                record_slice(&rec, record_left(&rec));
        if (b->ok ? b->n_outputs == 0 : !b->reason) /* who reads it relies on a program or a reason */
                record_fail(&rec);
        r = record_end(&rec, "the record of a build");
        if (r == 0 && b->ok && !is_clean)
                r = -ENOENT;
        if (r == 0)
                *ret = steal_pointer(b);
        return r;
}
