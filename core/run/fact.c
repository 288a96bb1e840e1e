#include "core/run/fact.h"

#include "cache/base/record.h"

static void fact_free(struct fact *f)
{
        blob_done(&f->results);
        blob_done(&f->answers);
        blob_done(&f->out);
        blob_done(&f->err);
        blob_done(&f->json);
        free(f->not_started);
        free(f);
}
DEFINE_REFS(fact, fact_free)

double fact_seconds(const struct fact *f)
{
        uint64_t least = MIN(f->wall_ns, f->cpu_ns), own = f->wall_ns;

        if (f->disturbed && verdict_is_decided(f->verdict))
                own = f->waited_ns == 0 || f->waited_ns > own ? least : MAX(own - f->waited_ns, least);
        return (double)own / NSEC_PER_SEC;
}

uint64_t timeout_ns(uint64_t wall_ns, const struct recipe_limits *limits)
{
        uint64_t took = MAX(wall_ns, limits->cpu_ns ?: limits->wall_ns);

        return limits->wall_ns == 0 ? took : MIN(took, limits->wall_ns);
}

int64_t fact_moment(const struct fact *f)
{
        return MAX(f->measured, f->remeasured);
}

/* -- limits: 0 is none -- */

static bool is_within(uint64_t value, uint64_t limit)
{
        return limit == 0 || value <= limit;
}

static bool no_looser(uint64_t limit, uint64_t than)
{
        return than == 0 || (limit != 0 && limit <= than);
}

/* True if the result would be the same with the asked memory. Where resident memory is limited, the run's use decides; where address space is limited
 * instead, nobody knows how much of it was needed, and a failed run may have failed because of an allocation. */
static bool memory_suffices(const struct fact *f, const struct recipe_limits *asked)
{
        if (!f->address_space)
                return is_within(f->memory, asked->memory);
        if (f->verdict == VERDICT_ERROR || f->verdict == VERDICT_CRASH)
                return f->limits.memory == asked->memory;
        return no_looser(f->limits.memory, asked->memory);
}

/* A run that did not overflow its stack does not overflow a larger one. A failed run may have failed because of its stack. */
static bool stack_suffices(const struct fact *f, const struct recipe_limits *asked)
{
        uint64_t had = f->limits.stack, wants = asked->stack ? asked->stack : RECIPE_STACK;

        if (f->verdict == VERDICT_CRASH || f->verdict == VERDICT_MEMOUT)
                return had >= wants; /* never if `had` is not known */
        return f->verdict == VERDICT_ERROR ? had == wants : had <= wants;
}

bool fact_covers(const struct fact *f, const struct recipe_limits *asked)
{
        const struct recipe_limits *had = &f->limits;
        bool in_time = is_within(f->wall_ns, asked->wall_ns) && is_within(f->cpu_ns, asked->cpu_ns);

        if (f->verdict == VERDICT_UNBUILDABLE)
                return true;
        if (!no_looser(had->output, asked->output) || !no_looser(had->processes, asked->processes) || !stack_suffices(f, asked))
                return false;
        if (f->verdict == VERDICT_MEMOUT) /* it would run out no later */
                return in_time && no_looser(asked->memory, had->memory);
        if (!memory_suffices(f, asked))
                return false;
        if (f->verdict == VERDICT_TIMEOUT)
                return no_looser(asked->wall_ns, had->wall_ns) && no_looser(asked->cpu_ns, had->cpu_ns);
        if ((f->verdict == VERDICT_ERROR || f->verdict == VERDICT_CRASH) && (had->output != asked->output || had->processes != asked->processes))
                return false; /* a looser limit may let it succeed */
        return in_time;
}

/* -- the store's form: a head of 136 bytes, then four byte strings, whose sizes it gives; if the seventh byte is 1, a size and the answers; if the eighth
 * is 1, a size and why the program did not begin; uncertain_from if it is not 0 -- */

struct fields { /* in the order of the record */
        bool *flags[4];
        uint64_t *numbers[12];
        struct blob *bytes[4];
};

static struct fields fields_of(struct fact *f)
{
        struct recipe_limits *l = &f->limits;

        return (struct fields){.flags = {&f->wrong, &f->address_space, &f->disturbed, &f->chosen},
                               .numbers = {&f->wall_ns, &f->cpu_ns, &f->memory, &l->wall_ns, &l->cpu_ns, &l->memory, &l->output, &l->processes,
                                           &l->stack, (uint64_t *)&f->measured, (uint64_t *)&f->remeasured, &f->waited_ns},
                               .bytes = {&f->results, &f->out, &f->err, &f->json}};
}

int fact_encode(const struct fact *f, struct buffer *ret)
{
        const struct fields x = fields_of((struct fact *)f);

        record_put_u8(ret, FACT_VERSION);
        record_put_u8(ret, (uint8_t)f->verdict);
        for (size_t i = 0; i < ARRAY_SIZE(x.flags); i++)
                record_put_u8(ret, *x.flags[i]);
        record_put_u8(ret, f->answers.size > 0);
        record_put_u8(ret, f->not_started != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(x.numbers); i++)
                record_put_u64_le(ret, *x.numbers[i]);
        for (size_t i = 0; i < ARRAY_SIZE(x.bytes); i++)
                record_put_u64_le(ret, x.bytes[i]->size);
        for (size_t i = 0; i < ARRAY_SIZE(x.bytes); i++)
                buffer_add(ret, x.bytes[i]->data, x.bytes[i]->size);
        if (f->answers.size > 0)
                record_put_u64_le(ret, f->answers.size);
        buffer_add(ret, f->answers.data, f->answers.size);
        if (f->not_started) {
                record_put_u64_le(ret, strlen(f->not_started));
                buffer_adds(ret, f->not_started);
        }
        if (f->uncertain_from > 0)
                record_put_u64_le(ret, f->uncertain_from);
        return buffer_error(ret);
}

int fact_decode(struct slice bytes, bool brief, struct fact **ret)
{
        cleanup(fact_unrefp) struct fact *f = allocate(1, sizeof(*f));
        const struct fields x = fields_of(f);
        struct record rec = record_of(bytes);
        uint64_t sizes[ARRAY_SIZE(x.bytes)];
        bool has_answers, has_not_started;
        int r;

        f->refs = 1;
        record_version(&rec, FACT_VERSION);
        f->verdict = (enum verdict)record_u8(&rec);
        if (f->verdict >= N_VERDICTS)
                record_fail(&rec);
        for (size_t i = 0; i < ARRAY_SIZE(x.flags); i++)
                *x.flags[i] = record_bool(&rec);
        has_answers = record_bool(&rec);
        has_not_started = record_bool(&rec);
        for (size_t i = 0; i < ARRAY_SIZE(x.numbers); i++)
                *x.numbers[i] = record_u64_le(&rec);
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                sizes[i] = record_u64_le(&rec);
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                if (brief && x.bytes[i] != &f->results)
                        record_slice(&rec, sizes[i]);
                else
                        record_blob(&rec, sizes[i], x.bytes[i]);
        if (has_answers)
                record_blob(&rec, record_u64_le(&rec), &f->answers);
        if (has_not_started)
                f->not_started = record_string(&rec, record_u64_le(&rec));
        if (record_left(&rec) > 0)
                f->uncertain_from = record_u64_le(&rec);
        r = record_end(&rec, "a fact");
        if (f->verdict == VERDICT_TIMEOUT && f->wall_ns == f->limits.wall_ns && f->cpu_ns == f->limits.cpu_ns) /* older ones have the limit in any case */
                f->wall_ns = timeout_ns(0, &f->limits);
        if (r == 0)
                *ret = steal_pointer(f);
        return r;
}
