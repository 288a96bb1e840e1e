#include "util.h"
#include <stdio.h>

static void out_of_memory(void)
{
        fputs("strand: out of memory\n", stderr);
        exit(3);
}

void *util_alloc(size_t n)
{
        void *p = calloc(1, n ? n : 1);

        if (!p)
                out_of_memory();
        return p;
}

void *util_realloc(void *p, size_t n)
{
        p = realloc(p, n ? n : 1);
        if (!p)
                out_of_memory();
        return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
        struct arena_chunk *c = a->head;
        void *p;

        n = (n + 15) & ~(size_t)15;
        if (!c || c->size - c->used < n) {
                size_t size = n > (1 << 16) ? n : (1 << 16);

                c = util_realloc(NULL, sizeof(*c) + 16 + size);
                c->next = a->head;
                c->used = 0;
                c->size = size;
                a->head = c;
                a->total += size;
        }
        p = (char *)c + ((sizeof(*c) + 15) & ~(size_t)15) + c->used;
        c->used += n;
        return p;
}

void *arena_dup(struct arena *a, const void *p, size_t n)
{
        void *q = arena_alloc(a, n);

        if (n)
                memcpy(q, p, n);
        return q;
}

void arena_free(struct arena *a)
{
        while (a->head) {
                struct arena_chunk *c = a->head;

                a->head = c->next;
                free(c);
        }
        a->total = 0;
}
