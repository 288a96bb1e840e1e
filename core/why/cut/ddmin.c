#include "core/why/cut/cut.h"

struct minimizing {
        int (*shows)(void *user, const bool *is_in);
        void *user;
        bool *is_in;
        size_t *left, n_left; /* items that are in */
};

/* Leaves `n` of those that are left out, from the `at`-th on. 1: they are gone; 0: without them it does not show. */
static int leave_out(struct minimizing *m, size_t at, size_t n)
{
        int r;

        n = MIN(n, m->n_left - at);
        for (size_t i = at; i < at + n; i++)
                m->is_in[m->left[i]] = false;
        r = m->shows(m->user, m->is_in);
        if (r == 1) {
                m->n_left -= n;
                memmove(m->left + at, m->left + at + n, (m->n_left - at) * sizeof(*m->left));
        } else {
                for (size_t i = at; i < at + n; i++)
                        m->is_in[m->left[i]] = true;
        }
        return r;
}

int cut_minimize(size_t n, int (*shows)(void *user, const bool *is_in), void *user, bool *ret)
{
        cleanup_free size_t *left = allocate(n + 1, sizeof(*left));
        struct minimizing m = {shows, user, ret, left, n};
        size_t chunk = n;

        for (size_t i = 0; i < n; i++) {
                left[i] = i;
                ret[i] = true;
        }
        while (m.n_left > 0) {
                bool any = false;

                for (size_t at = 0; at < m.n_left && (m.n_left > chunk || chunk == n);) { /* the empty set is asked for first, and once */
                        int r = leave_out(&m, at, chunk);

                        if (r < 0)
                                return r;
                        any |= r == 1;
                        at += r == 1 ? 0 : chunk;
                }
                if (chunk == 1 && !any)
                        break;
                chunk = chunk == 1 ? 1 : (MIN(chunk, m.n_left) + 1) / 2;
        }
        return 0;
}
