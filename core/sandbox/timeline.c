#include "core/sandbox/timeline.h"

#include "cache/base/util.h"

void timeline_add(struct timeline *t, uint64_t ns, uint64_t amount)
{
        if (t->n >= TIMELINE_MOST)
                return;
        list_add(t->list, t->n, (struct timeline_point){ns, amount});
}

/* The first point at or after the time with at least the amount; t->n if there is none. */
static size_t first_point(const struct timeline *t, uint64_t ns, uint64_t amount)
{
        size_t low = 0, high = t->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->list[middle].ns < ns || t->list[middle].amount < amount)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

uint64_t timeline_when(const struct timeline *t, uint64_t amount)
{
        const size_t i = first_point(t, 0, amount);

        return i < t->n ? t->list[i].ns : UINT64_MAX;
}

uint64_t timeline_amount(const struct timeline *t, uint64_t ns)
{
        const size_t i = first_point(t, ns + 1, 0);

        return i > 0 ? t->list[i - 1].amount : 0;
}

void timeline_done(struct timeline *t)
{
        free(t->list);
        *t = (struct timeline){0};
}
