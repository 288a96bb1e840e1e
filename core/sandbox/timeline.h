/* An amount as it grew while a program ran: what it had printed, what memory it had used. Not for two threads at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct timeline_point {
        uint64_t ns, amount; /* after so many nanoseconds of wall time it was this much; both ascend */
};
struct timeline {
        struct timeline_point *list; /* owned */
        size_t n;
};
#define TIMELINE_MOST ((size_t)1 << 16) /* points; later ones are not kept */

void timeline_add(struct timeline *t, uint64_t ns, uint64_t amount);
/* When it was first this much. UINT64_MAX: it never was, or that is not known. */
uint64_t timeline_when(const struct timeline *t, uint64_t amount);
/* The last amount seen until then; 0: none. */
uint64_t timeline_amount(const struct timeline *t, uint64_t ns);
void timeline_done(struct timeline *t);
