#include "fact.h"

#include <endian.h>

/* The stored form: a fixed head, little end first, then the four byte strings whose sizes it gives. */
#define FACT_VERSION 1

struct __attribute__((packed)) head {
        uint8_t version;
        uint8_t verdict;
        uint8_t wrong;
        uint8_t address_space;
        uint8_t unused[4]; /* 0 */
        uint64_t wall_ns, cpu_ns, memory;
        uint64_t limit_wall_ns, limit_cpu_ns, limit_memory, limit_output, limit_processes;
        uint64_t measured, remeasured;
        uint64_t results_size, out_size, err_size, json_size;
};

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

/* -- limits: 0 is none -- */

static bool within(uint64_t value, uint64_t limit)
{
        return limit == 0 || value <= limit;
}

static bool no_looser(uint64_t limit, uint64_t than)
{
        return than == 0 || (limit != 0 && limit <= than);
}

/* Would it have had as much memory? What it used decides where that is what is limited; where address space is limited instead, nobody
 * knows how much of it was needed. */
static bool memory_suffices(const struct fact *f, const struct recipe_limits *asked)
{
        return f->address_space ? no_looser(f->limits.memory, asked->memory) : within(f->memory, asked->memory);
}

bool fact_covers(const struct fact *f, const struct recipe_limits *asked)
{
        const struct recipe_limits *had = &f->limits;
        bool in_time = within(f->wall_ns, asked->wall_ns) && within(f->cpu_ns, asked->cpu_ns);

        if (f->verdict == VERDICT_UNBUILDABLE)
                return true;
        if (!no_looser(had->output, asked->output) || !no_looser(had->processes, asked->processes))
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

/* -- the store's form -- */

int fact_encode(const struct fact *f, struct buffer *ret)
{
        struct head h = {
                .version = FACT_VERSION,
                .verdict = (uint8_t)f->verdict,
                .wrong = f->wrong,
                .address_space = f->address_space,
                .wall_ns = htole64(f->wall_ns),
                .cpu_ns = htole64(f->cpu_ns),
                .memory = htole64(f->memory),
                .limit_wall_ns = htole64(f->limits.wall_ns),
                .limit_cpu_ns = htole64(f->limits.cpu_ns),
                .limit_memory = htole64(f->limits.memory),
                .limit_output = htole64(f->limits.output),
                .limit_processes = htole64(f->limits.processes),
                .measured = htole64((uint64_t)f->measured),
                .remeasured = htole64((uint64_t)f->remeasured),
                .results_size = htole64(f->results.size),
                .out_size = htole64(f->out.size),
                .err_size = htole64(f->err.size),
                .json_size = htole64(f->json.size),
        };

        buffer_add(ret, &h, sizeof(h));
        buffer_add(ret, f->results.data, f->results.size);
        buffer_add(ret, f->out.data, f->out.size);
        buffer_add(ret, f->err.data, f->err.size);
        buffer_add(ret, f->json.data, f->json.size);
        return buffer_error(ret);
}

static int take(struct slice *from, uint64_t size, bool copy, struct blob *ret)
{
        if (copy && size > 0) {
                void *owned = malloc(size);

                if (!owned)
                        return -ENOMEM;
                memcpy(owned, from->data, size);
                *ret = (struct blob){.data = owned, .size = size, .owned = owned};
        }
        *from = SLICE((const char *)from->data + size, from->size - size);
        return 0;
}

static bool head_is_sound(const struct head *h, size_t rest)
{
        const uint64_t sizes[] = {le64toh(h->results_size), le64toh(h->out_size), le64toh(h->err_size), le64toh(h->json_size)};

        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                if (sizes[i] > rest)
                        return false;
                rest -= sizes[i];
        }
        return rest == 0 && h->verdict < N_VERDICTS && h->wrong <= 1 && h->address_space <= 1;
}

int fact_decode(struct slice bytes, bool brief, struct fact **ret)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct head h;
        int r;

        if (bytes.size < 1)
                return errorf(-EBADMSG, "an empty record is no fact");
        if (*(const uint8_t *)bytes.data != FACT_VERSION)
                return errorf(-EBADMSG, "a fact of format %u, and only format %d is known here", *(const uint8_t *)bytes.data,
                              FACT_VERSION);
        if (bytes.size < sizeof(h))
                return errorf(-EBADMSG, "a fact cut short, of %zu bytes", bytes.size);
        memcpy(&h, bytes.data, sizeof(h));
        bytes = SLICE((const char *)bytes.data + sizeof(h), bytes.size - sizeof(h));
        if (!head_is_sound(&h, bytes.size))
                return errorf(-EBADMSG, "a fact whose head and sizes do not fit together");
        f = malloc(sizeof(*f));
        if (!f)
                return -ENOMEM;
        *f = (struct fact){
                .refs = 1,
                .verdict = (enum verdict)h.verdict,
                .wrong = h.wrong,
                .address_space = h.address_space,
                .wall_ns = le64toh(h.wall_ns),
                .cpu_ns = le64toh(h.cpu_ns),
                .memory = le64toh(h.memory),
                .limits =
                        {
                                .wall_ns = le64toh(h.limit_wall_ns),
                                .cpu_ns = le64toh(h.limit_cpu_ns),
                                .memory = le64toh(h.limit_memory),
                                .output = le64toh(h.limit_output),
                                .processes = le64toh(h.limit_processes),
                        },
                .measured = (int64_t)le64toh(h.measured),
                .remeasured = (int64_t)le64toh(h.remeasured),
        };
        r = take(&bytes, le64toh(h.results_size), true, &f->results);
        if (r == 0)
                r = take(&bytes, le64toh(h.out_size), !brief, &f->out);
        if (r == 0)
                r = take(&bytes, le64toh(h.err_size), !brief, &f->err);
        if (r == 0)
                r = take(&bytes, le64toh(h.json_size), !brief, &f->json);
        if (r < 0)
                return r;
        *ret = steal_pointer(f);
        return 0;
}
