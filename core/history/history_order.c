/* The order of a history. */
#include "core/history/history_internal.h"

struct ordering {
        struct history *history;
        uint32_t *position; /* [n] by number */
        uint32_t *list;     /* [n] numbers in order; behind n_placed, what is being collected */
        uint32_t n, n_placed;
        bool *seen; /* [n] placed or collected */
};

static int by_number(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return x < y ? -1 : x > y;
}

static void collect(struct ordering *o, uint32_t *end, uint32_t number)
{
        if (number >= o->n || o->seen[number]) /* indexed since we began: what has it as a parent is newer, too */
                return;
        o->seen[number] = true;
        o->list[(*end)++] = number;
}

static int collect_parents(struct ordering *o, uint32_t *end, uint32_t number)
{
        cleanup_free uint32_t *parents = NULL;
        size_t n;
        int r = history_parents(o->history, number, &parents, &n);

        for (size_t i = 0; r == 0 && i < n; i++)
                collect(o, end, parents[i]);
        return r;
}

/* A commit behind everything it brings that was not there before. A commit's number is above its parents', so that numbers order what one
 * merge brought. */
static int place(struct ordering *o, uint32_t tip)
{
        uint32_t end = o->n_placed;
        int r = 0;

        collect(o, &end, tip);
        for (uint32_t i = o->n_placed; r == 0 && i < end; i++)
                r = collect_parents(o, &end, o->list[i]);
        sort_list(o->list + o->n_placed, end - o->n_placed, sizeof(*o->list), by_number);
        o->n_placed = end;
        return r;
}

static int place_all(struct ordering *o)
{
        cleanup_free uint32_t *line = NULL;
        size_t n = 0;
        int r = history_line(o->history, COMMIT_NONE, &line, &n);

        if (r == -ENOENT)
                r = 0; /* no HEAD */
        for (size_t i = 0; r == 0 && i < n; i++)
                r = place(o, line[i]);
        for (uint32_t i = 0; r == 0 && i < o->n; i++)
                r = place(o, i);
        for (uint32_t i = 0; i < o->n_placed; i++)
                o->position[o->list[i]] = i;
        return r;
}

int history_order(struct history *h, uint32_t **ret_positions, uint32_t *ret_n)
{
        struct ordering o = {.history = h, .n = history_count(h)};
        int r;

        o.position = calloc((size_t)o.n + 1, sizeof(*o.position));
        o.list = calloc((size_t)o.n + 1, sizeof(*o.list));
        o.seen = calloc((size_t)o.n + 1, sizeof(*o.seen));
        r = o.position && o.list && o.seen ? place_all(&o) : -ENOMEM;
        free(o.list);
        free(o.seen);
        if (r < 0) {
                free(o.position);
                return r;
        }
        *ret_positions = o.position;
        *ret_n = o.n;
        return 0;
}
