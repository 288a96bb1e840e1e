#include "core/why/cut/cut.h"

int cut_minimize(size_t n, int (*shows)(void *user, const bool *is_in), void *user, bool *ret)
{
        cleanup_free size_t *left = allocate(n + 1, sizeof(*left)); /* the items left */
        size_t chunk = n, n_left = n; /* chunk: how many are left out at once */

        for (size_t i = 0; i < n; i++)
                ret[left[i] = i] = true;
        while (n_left > 0) {
                bool is_smaller = false;

                for (size_t at = 0; at < n_left && (n_left > chunk || chunk == n);) { /* the empty set is tested first, and once */
                        size_t out = MIN(chunk, n_left - at);
                        int r;

                        for (size_t i = at; i < at + out; i++)
                                ret[left[i]] = false;
                        r = shows(user, ret);
                        if (r < 0)
                                return r;
                        for (size_t i = at; r == 0 && i < at + out; i++)
                                ret[left[i]] = true;
                        if (r == 1)
                                memmove(left + at, left + at + out, ((n_left -= out) - at) * sizeof(*left));
                        at += r == 1 ? 0 : chunk;
                        is_smaller |= r == 1;
                }
                if (chunk == 1 && !is_smaller)
                        break;
                chunk = chunk == 1 ? 1 : (MIN(chunk, n_left) + 1) / 2;
        }
        return 0;
}
