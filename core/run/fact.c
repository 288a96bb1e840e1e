#include "core/run/fact.h"

#include "cache/base/record.h"

struct fact *fact_ref(struct fact *f)
{
        __atomic_add_fetch(&f->refs, 1, __ATOMIC_RELAXED);
        return f;
}

struct fact *fact_unref(struct fact *f)
{
        if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        blob_done(&f->results);
        blob_done(&f->out);
        blob_done(&f->err);
        blob_done(&f->json);
        free(f);
        return NULL;
}

double fact_seconds(const struct fact *f)
{
        uint64_t least = MIN(f->wall_ns, f->cpu_ns), own = f->wall_ns;

        if (f->disturbed && verdict_is_decided(f->verdict))
                own = f->waited_ns == 0 || f->waited_ns > own ? least : MAX(own - f->waited_ns, least);
        return (double)own / NSEC_PER_SEC;
}

int64_t fact_moment(const struct fact *f)
{
        return MAX(f->measured, f->remeasured);
}

/* -- limits: 0 is none -- */

static bool within(uint64_t value, uint64_t limit)
{
        return limit == 0 || value <= limit;
}

static bool no_looser(uint64_t limit, uint64_t than)
{
        return than == 0 || (limit != 0 && limit <= than);
}

/* Would it have had as much memory? Where resident memory is limited, its use decides; where address space is limited instead, nobody knows how
 * much of it was needed. */
static bool memory_suffices(const struct fact *f, const struct recipe_limits *asked)
{
        return f->address_space ? no_looser(f->limits.memory, asked->memory) : within(f->memory, asked->memory);
}

/* A run that did not overflow its stack does not overflow a larger one. A failed run may have failed for the stack. */
static bool stack_suffices(const struct fact *f, const struct recipe_limits *asked)
{
        uint64_t had = f->limits.stack, wants = asked->stack ? asked->stack : RECIPE_STACK;

        switch (f->verdict) {
        case VERDICT_CRASH:
        case VERDICT_MEMOUT:
                return had >= wants; /* never where it is not known */
        case VERDICT_ERROR:
                return had == wants;
        case VERDICT_SAT:
        case VERDICT_UNSAT:
        case VERDICT_UNKNOWN:
        case VERDICT_TIMEOUT:
        case VERDICT_UNBUILDABLE:
        case N_VERDICTS:
                break;
        }
        return had <= wants;
}

bool fact_covers(const struct fact *f, const struct recipe_limits *asked)
{
        const struct recipe_limits *had = &f->limits;
        bool in_time = within(f->wall_ns, asked->wall_ns) && within(f->cpu_ns, asked->cpu_ns);

        if (f->verdict == VERDICT_UNBUILDABLE)
                return true;
        if (!no_looser(had->output, asked->output) || !no_looser(had->processes, asked->processes) || !stack_suffices(f, asked))
                return false;
        switch (f->verdict) {
        case VERDICT_TIMEOUT:
                return no_looser(asked->wall_ns, had->wall_ns) && no_looser(asked->cpu_ns, had->cpu_ns) &&
                       memory_suffices(f, asked);
        case VERDICT_MEMOUT: /* it would run out no later */
                return in_time && no_looser(asked->memory, had->memory);
        case VERDICT_ERROR: /* which a looser limit may have cured */
                return in_time && memory_suffices(f, asked) && had->output == asked->output && had->processes == asked->processes;
        case VERDICT_SAT:
        case VERDICT_UNSAT:
        case VERDICT_UNKNOWN:
        case VERDICT_CRASH:
        case VERDICT_UNBUILDABLE:
        case N_VERDICTS:
                break;
        }
        return in_time && memory_suffices(f, asked);
}

/* -- the store's form: a fixed head of 136 bytes, then the four byte strings whose sizes it gives -- */

#define UNUSED 2 /* bytes of 0 behind the first six */

int fact_encode(const struct fact *f, struct buffer *ret)
{
        const uint64_t numbers[] = {f->wall_ns,
                                    f->cpu_ns,
                                    f->memory,
                                    f->limits.wall_ns,
                                    f->limits.cpu_ns,
                                    f->limits.memory,
                                    f->limits.output,
                                    f->limits.processes,
                                    f->limits.stack,
                                    (uint64_t)f->measured,
                                    (uint64_t)f->remeasured,
                                    f->waited_ns,
                                    f->results.size,
                                    f->out.size,
                                    f->err.size,
                                    f->json.size};

        record_put_u8(ret, FACT_VERSION);
        record_put_u8(ret, (uint8_t)f->verdict);
        record_put_u8(ret, f->wrong);
        record_put_u8(ret, f->address_space);
        record_put_u8(ret, f->disturbed);
        record_put_u8(ret, f->chosen);
        buffer_add(ret, (const uint8_t[UNUSED]){0}, UNUSED);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                record_put_u64_le(ret, numbers[i]);
        buffer_add(ret, f->results.data, f->results.size);
        buffer_add(ret, f->out.data, f->out.size);
        buffer_add(ret, f->err.data, f->err.size);
        buffer_add(ret, f->json.data, f->json.size);
        return buffer_error(ret);
}

static void read_limits(struct record *r, struct recipe_limits *ret)
{
        ret->wall_ns = record_u64_le(r);
        ret->cpu_ns = record_u64_le(r);
        ret->memory = record_u64_le(r);
        ret->output = record_u64_le(r);
        ret->processes = record_u64_le(r);
        ret->stack = record_u64_le(r);
}

int fact_decode(struct slice bytes, bool brief, struct fact **ret)
{
        cleanup(fact_unrefp) struct fact *f = calloc(1, sizeof(*f));
        struct record rec = record_of(bytes);
        uint64_t sizes[4];
        int r;

        if (!f)
                return -ENOMEM;
        f->refs = 1;
        record_version(&rec, FACT_VERSION);
        f->verdict = (enum verdict)record_u8(&rec);
        if (f->verdict >= N_VERDICTS)
                record_fail(&rec);
        f->wrong = record_bool(&rec);
        f->address_space = record_bool(&rec);
        f->disturbed = record_bool(&rec);
        f->chosen = record_bool(&rec);
        record_slice(&rec, UNUSED);
        f->wall_ns = record_u64_le(&rec);
        f->cpu_ns = record_u64_le(&rec);
        f->memory = record_u64_le(&rec);
        read_limits(&rec, &f->limits);
        f->measured = (int64_t)record_u64_le(&rec);
        f->remeasured = (int64_t)record_u64_le(&rec);
        f->waited_ns = record_u64_le(&rec);
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                sizes[i] = record_u64_le(&rec);
        record_blob(&rec, sizes[0], &f->results);
        if (brief) {
                for (size_t i = 1; i < ARRAY_SIZE(sizes); i++)
                        record_slice(&rec, sizes[i]);
        } else {
                record_blob(&rec, sizes[1], &f->out);
                record_blob(&rec, sizes[2], &f->err);
                record_blob(&rec, sizes[3], &f->json);
        }
        r = record_end(&rec, "a fact");
        if (r == 0)
                *ret = steal_pointer(f);
        return r;
}
