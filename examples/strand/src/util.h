/* Memory and growable arrays.
 *
 * Nearly everything the solver builds lives as long as one input file, so it comes from an arena and is
 * freed at once; the arrays below are for what grows. Running out of memory ends the program: a solver
 * cannot give a useful answer then. */
#pragma once
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
        struct arena_chunk *next;
        size_t used, size;
};

struct arena {
        struct arena_chunk *head; /* owns the list */
        size_t total;
};

void *util_alloc(size_t n);
void *util_realloc(void *p, size_t n);
void *arena_alloc(struct arena *a, size_t n);
void *arena_dup(struct arena *a, const void *p, size_t n);
void arena_free(struct arena *a);

/* A growable array of T: zero-initialise, push, free with vec_free. */
#define VEC(T)                 \
        struct {               \
                T *d;          \
                size_t n, cap; \
        }

#define vec_push(v, ...)                                                           \
        do {                                                                       \
                if ((v)->n == (v)->cap) {                                          \
                        (v)->cap = (v)->cap ? 2 * (v)->cap : 8;                    \
                        (v)->d = util_realloc((v)->d, (v)->cap * sizeof(*(v)->d)); \
                }                                                                  \
                (v)->d[(v)->n++] = (__VA_ARGS__);                                  \
        } while (0)
#define vec_pop(v)  ((v)->d[--(v)->n])
#define vec_last(v) ((v)->d[(v)->n - 1])
#define vec_free(v)                           \
        do {                                  \
                free((v)->d);                 \
                memset((v), 0, sizeof(*(v))); \
        } while (0)

typedef VEC(uint32_t) vec_u32;
typedef VEC(int32_t) vec_i32;

static inline uint64_t util_mix(uint64_t h, uint64_t x)
{
        h ^= x + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
        h *= 0xff51afd7ed558ccdull;
        return h ^ (h >> 32);
}
