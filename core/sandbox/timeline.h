/* An amount as it grew while a program ran: output printed, or memory used. Not thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct timeline_point {
        uint64_t ns, amount; /* the amount after so many nanoseconds of wall time; both ascend */
};
struct timeline {
        struct timeline_point *list; /* owned */
        size_t n;
};
#define TIMELINE_MOST ((size_t)1 << 16) /* points; later ones are not kept */

void timeline_add(struct timeline *t, uint64_t ns, uint64_t amount);
/* The first time at which the amount was reached. UINT64_MAX if it never was, or that is not known. */
uint64_t timeline_when(const struct timeline *t, uint64_t amount);
/* The last amount seen up to that time; 0: none. */
uint64_t timeline_amount(const struct timeline *t, uint64_t ns);
void timeline_done(struct timeline *t);
