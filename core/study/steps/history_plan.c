/* The grid of commits that is measured first, coarse to fine, and then the middles of gaps whose ends differ. */
#include "core/study/steps/history_plan.h"

#include <math.h>

#define SECONDS 0.010 /* times that differ by less are the same */

size_t history_step(size_t n, size_t points)
{
        return points < 2 || n <= points ? 1 : (n - 1 + points - 2) / (points - 1);
}

struct piece {
        size_t from, to; /* places on the grid, both in the order already */
};

void history_grid(size_t n, size_t step, size_t **ret, size_t *ret_n)
{
        size_t most = n == 0 ? 0 : (n - 1 + step - 1) / step + 1, n_order = 0, head = 0, tail = 0;
        size_t *order = allocate(most, sizeof(*order));
        cleanup_free struct piece *pieces = allocate(2 * most + 2, sizeof(*pieces));

        if (most > 0)
                order[n_order++] = 0; /* places on the grid count back from the newest */
        if (most > 1)
                order[n_order++] = most - 1;
        if (most > 2)
                pieces[tail++] = (struct piece){0, most - 1};
        while (head < tail) {
                struct piece p = pieces[head++];
                size_t middle = (p.from + p.to) / 2;

                order[n_order++] = middle;
                if (middle - p.from > 1)
                        pieces[tail++] = (struct piece){p.from, middle};
                if (p.to - middle > 1)
                        pieces[tail++] = (struct piece){middle, p.to};
        }
        for (size_t i = 0; i < n_order; i++) /* from places to commits */
                order[i] = order[i] * step < n - 1 ? n - 1 - order[i] * step : 0;
        *ret = order;
        *ret_n = n_order;
}

bool history_differs(const struct localize_outcome *a, const struct localize_outcome *b)
{
        double low = fmin(a->value, b->value), high = fmax(a->value, b->value);

        if (a->answer != b->answer)
                return true;
        return a->answer == LOCALIZE_SOLVED && (a->is_unsat != b->is_unsat || (high - low > SECONDS && high > HISTORY_RATIO * low));
}

/* The middle of the longest run of open commits in (from, to); `to` when there is none. */
static size_t middle_of_open(const struct history_cell *cells, size_t from, size_t to)
{
        size_t best = 0, best_from = to;

        for (size_t i = from + 1, end; i < to; i = end + 1) {
                for (end = i; end < to && cells[end].seen == HISTORY_OPEN; end++)
                        ;
                if (end - i > best) {
                        best = end - i;
                        best_from = i;
                }
        }
        return best == 0 ? to : best_from + best / 2;
}

void history_halve(const struct history_cell *cells, size_t n, size_t **ret, size_t *ret_n)
{
        size_t before = n;

        *ret = NULL;
        *ret_n = 0;
        for (size_t i = 0; i < n; i++) {
                size_t middle = i;

                if (cells[i].seen != HISTORY_MEASURED)
                        continue;
                if (before < i && history_differs(&cells[before].outcome, &cells[i].outcome))
                        middle = middle_of_open(cells, before, i);
                if (middle < i)
                        list_add(*ret, *ret_n, middle);
                before = i;
        }
}
