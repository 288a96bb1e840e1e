/* Memory and tables of a bank. */
#include "core/smtlib/smtlib_internal.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "cache/base/lost.h"

#define CHUNK_LEAST 4096
#define CHUNK_MOST  ((size_t)4 << 20)
#define HUGE_PAGE   ((size_t)2 << 20)
#define TABLE_LEAST 64

struct arena_chunk {
        struct arena_chunk *next;
        char bytes[];
};

/* Large memory in huge pages if the kernel has them: accesses to a table are spread widely, and most time would go into page tables. Zeros. */
static void *take_memory(size_t size)
{
        size_t whole = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
        void *p;

        if (size < 2 * HUGE_PAGE)
                return allocate(1, size);
        p = aligned_alloc(HUGE_PAGE, whole);
        if (!p)
                process_give_up("no memory is left");
        madvise(p, whole, MADV_HUGEPAGE);
        return memset(p, 0, size);
}

void *arena_take_chunk(struct arena *a, size_t size)
{
        struct arena_chunk *c;
        size_t next = MAX(MIN(a->size, CHUNK_MOST), (size_t)CHUNK_LEAST) - sizeof(*c), space; /* whole pages, including their header */

        size = (size + 7) & ~(size_t)7;
        space = MAX(size, next);
        c = take_memory(sizeof(*c) + space);
        a->size += sizeof(*c) + space;
        if (space > next && a->chunks) { /* a chunk of its own, behind the current one */
                c->next = a->chunks->next;
                a->chunks->next = c;
                return c->bytes;
        }
        c->next = a->chunks;
        a->chunks = c;
        a->p = c->bytes + size;
        a->end = c->bytes + space;
        return c->bytes;
}

void arena_done(struct arena *a)
{
        for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
                next = c->next;
                free(c);
        }
        *a = (struct arena){0};
}

void grow_sized(void *list, size_t *size, size_t each)
{
        size_t more = *size ? *size * 2 : 64;
        void *old, *grown = allocate(more, each);

        memcpy(&old, list, sizeof(old)); /* a pointer of any type */
        if (old)
                memcpy(grown, old, *size * each);
        free(old);
        memcpy(list, &grown, sizeof(grown));
        *size = more;
}

static void put(struct table_slot *slots, size_t mask, struct table_slot s)
{
        size_t at = s.hash & mask;

        while (slots[at].item)
                at = (at + 1) & mask;
        slots[at] = s;
}

void table_add(struct table *t, uint32_t hash, void *item)
{
        size_t size = t->slots ? t->mask + 1 : TABLE_LEAST;
        struct table_slot *slots;

        if (!t->slots || (t->n + 1) * 3 > size * 2) {
                size *= t->slots ? 2 : 1;
                slots = take_memory(size * sizeof(*slots));
                for (size_t i = 0; t->slots && i <= t->mask; i++)
                        if (t->slots[i].item)
                                put(slots, size - 1, t->slots[i]);
                free(t->slots);
                t->slots = slots;
                t->mask = size - 1;
        }
        put(t->slots, t->mask, (struct table_slot){hash, item});
        t->n++;
}

void table_done(struct table *t)
{
        free(t->slots);
        *t = (struct table){0};
}

/* -- banks -- */

struct bank *bank_new(void)
{
        struct bank *b = allocate(1, sizeof(*b));

        b->refs = 1;
        if (getrandom(&b->seed, sizeof(b->seed), GRND_NONBLOCK) != sizeof(b->seed))
                b->seed = now_ns(); /* early in a boot; collisions cost time only */
        for (enum sort_kind k = SORT_UNKNOWN; k < SORT_BITVEC; k++)
                b->simple[k] = sort_named_kind(b, k, NULL, NULL, 0);
        for (int k = 0; k < 2; k++)
                b->bool_terms[k] = term_intern(
                        b, &(struct term_head){.kind = TERM_OPERATOR, .op = k ? OP_TRUE : OP_FALSE, .sort = b->simple[SORT_BOOL]}, NULL, 0);
        return b;
}

struct bank *bank_ref(struct bank *b)
{
        b->refs++;
        return b;
}

struct bank *bank_unref(struct bank *b)
{
        if (b && --b->refs == 0) {
                table_done(&b->symbols);
                table_done(&b->sorts);
                table_done(&b->functions);
                table_done(&b->terms);
                arena_done(&b->arena);
                free(b);
        }
        return NULL;
}

static size_t table_memory(const struct table *t)
{
        return t->slots ? (t->mask + 1) * sizeof(*t->slots) : 0;
}

size_t bank_memory(const struct bank *b)
{
        return sizeof(*b) + b->arena.size + table_memory(&b->symbols) + table_memory(&b->sorts) + table_memory(&b->functions) +
               table_memory(&b->terms);
}

int bank_error(const struct bank *b)
{
        return b->error;
}
