#include "core/query/cell_value.h"

static const struct measurement *deciding(const struct measurement *list, size_t n)
{
        return list[n - 1].number >= MEASUREMENT_AGAIN ? &list[n - 1] : &list[0];
}

static bool is_answer_or_timeout(const struct fact *f)
{
        return verdict_is_decided(f->verdict) || f->verdict == VERDICT_UNKNOWN || f->verdict == VERDICT_TIMEOUT;
}

static bool agree(const struct fact *a, const struct fact *b)
{
        if (a->verdict == VERDICT_TIMEOUT || b->verdict == VERDICT_TIMEOUT)
                return is_answer_or_timeout(a) && is_answer_or_timeout(b);
        return same_bytes(a->results, b->results);
}

static int compare_times(const void *a, const void *b)
{
        const struct measurement *const *x = a, *const *y = b;

        return timeout_order((*x)->fact->verdict, (*y)->fact->verdict) ?: ORDER((*x)->fact->wall_ns, (*y)->fact->wall_ns)
               ?: ORDER(*x, *y); /* the earlier one, so that the choice is unique */
}

size_t cell_value_choose(const struct measurement *list, size_t n)
{
        cleanup_free const struct measurement **counting = allocate(n, sizeof(*counting));
        const struct measurement *first = deciding(list, n);
        size_t counted = 0;

        for (size_t i = 0; i < n; i++)
                if (!list[i].fact->disturbed && agree(list[i].fact, first->fact))
                        counting[counted++] = &list[i];
        if (counted == 0)
                return (size_t)(first - list);
        sort_list(counting, counted, sizeof(*counting), compare_times);
        return (size_t)(counting[(counted - 1) / 2] - list);
}

bool cell_value_is_wrong(const struct measurement *list, size_t n)
{
        const struct measurement *first = deciding(list, n);
        const bool is_again = first->number >= MEASUREMENT_AGAIN;

        for (size_t i = 0; i < n; i++)
                if (list[i].fact->wrong && (!is_again || &list[i] == first || list[i].fact->measured > first->fact->measured))
                        return true;
        return false;
}
