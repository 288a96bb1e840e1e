/* All that is read back from the store: frames, facts, build records. Checksums would keep every mutation out, so that what is
 * behind them is also tried alone; and what is damaged behind its checksum must be told. */
#include "cache/store/codec.h"

#include "core/build/build.h"
#include "core/run/fact.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
        enter_scratch();
        return 0;
}

static void garbage_frame(struct input *in)
{
        struct slice key = take(in, take_byte(in));
        cleanup_blob struct blob b = {0};
        int r = frame_decode(key, SLICE(in->data, in->size), &b);

        must(r == 0 || r == -EBADMSG || r == -ENOMEM);
}

/* A frame, damaged in as many places as the input says: found out, or the same bytes. */
static void damaged_frame(struct input *in)
{
        struct slice key = take(in, take_byte(in));
        unsigned n = take_byte(in) % 8;
        struct input damage = {in->data, MIN(in->size, n * 3)};
        cleanup_buffer struct buffer frame = {0};
        cleanup_blob struct blob b = {0};
        struct slice value;
        bool changed = false;
        int r;

        take(in, damage.size);
        value = SLICE(in->data, in->size);
        must(frame_encode(key, value, &frame) == 0);
        while (damage.size >= 3) {
                size_t at = take_number(&damage, 2) % frame.size;
                uint8_t bits = take_byte(&damage);

                frame.data[at] = (char)((uint8_t)frame.data[at] ^ bits);
                changed |= bits != 0;
        }
        r = frame_decode(key, SLICE(frame.data, frame.size), &b);
        must(changed || r == 0);
        must(r == 0 || r == -EBADMSG || r == -ENOMEM);
        if (r == 0)
                must(b.size == value.size && (value.size == 0 || memcmp(b.data, value.data, value.size) == 0));
}

static void fact(struct input *in)
{
        bool brief = take_byte(in) & 1;
        cleanup_buffer struct buffer bytes = {0};
        struct fact *f, *again;

        if (fact_decode(SLICE(in->data, in->size), brief, &f) < 0)
                return;
        must(f->verdict < N_VERDICTS);
        fact_covers(f, &f->limits);
        if (!brief) { /* what was taken can be written, and comes back the same */
                cleanup_buffer struct buffer second = {0};

                must(fact_encode(f, &bytes) == 0);
                must(fact_decode(SLICE(bytes.data, bytes.size), FACT_WHOLE, &again) == 0);
                must(fact_encode(again, &second) == 0);
                must(bytes.size == second.size && memcmp(bytes.data, second.data, bytes.size) == 0);
                fact_unref(again);
        }
        fact_unref(f);
}

static void record(struct input *in)
{
        bool with_log = take_byte(in) & 1;
        cleanup_buffer struct buffer bytes = {0}, second = {0};
        struct build_record *b, *again;

        if (build_record_decode(SLICE(in->data, in->size), with_log, &b) < 0)
                return;
        must(b->ok || b->reason);
        for (size_t i = 0; i < b->n_outputs; i++)
                must(b->outputs[i].name && strlen(b->outputs[i].name) <= in->size);
        if (with_log) {
                must(build_record_encode(b, &bytes) == 0);
                must(build_record_decode(SLICE(bytes.data, bytes.size), WITH_LOG, &again) == 0);
                must(build_record_encode(again, &second) == 0);
                must(bytes.size == second.size && memcmp(bytes.data, second.data, bytes.size) == 0);
                build_record_unref(again);
        }
        build_record_unref(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static void (*const kinds[])(struct input * in) = {garbage_frame, damaged_frame, fact, record};
        struct input in = {data, size};

        kinds[take_byte(&in) % ARRAY_SIZE(kinds)](&in);
        return 0;
}
