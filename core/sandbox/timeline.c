#include "core/sandbox/timeline.h"

#include "cache/base/util.h"

void timeline_add(struct timeline *t, uint64_t ns, uint64_t amount)
{
        if (t->n >= TIMELINE_MOST)
                return;
        list_grow(t->list, t->n);
        t->list[t->n++] = (struct timeline_point){ns, amount};
}

uint64_t timeline_when(const struct timeline *t, uint64_t amount)
{
        size_t low = 0, high = t->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->list[middle].amount < amount)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < t->n ? t->list[low].ns : UINT64_MAX;
}

uint64_t timeline_amount(const struct timeline *t, uint64_t ns)
{
        size_t low = 0, high = t->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->list[middle].ns <= ns)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low > 0 ? t->list[low - 1].amount : 0;
}

void timeline_done(struct timeline *t)
{
        free(t->list);
        *t = (struct timeline){0};
}
