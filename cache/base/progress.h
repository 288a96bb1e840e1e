/* Progress of long work, such as a clone, a build or gc, and requests to stop it. Both callbacks are called during the work, by its thread, and must not
 * block. */
#pragma once

#include "cache/base/util.h"

struct progress {
        /* `done`, `total`: in any unit; `total` 0: unknown. May be NULL. */
        void (*tell)(void *user, const char *what, uint64_t done, uint64_t total);
        /* Asked between two steps. True: end, and leave nothing half done. May be NULL. */
        bool (*stop)(void *user);
        void *user;
};

/* `p` may be NULL. */
static inline void progress_tell(const struct progress *p, const char *what, uint64_t done, uint64_t total)
{
        if (p && p->tell)
                p->tell(p->user, what, done, total);
}

/* Between two steps: 0, or -ECANCELED with a sentence. */
static inline int progress_step(const struct progress *p, const char *what, uint64_t done, uint64_t total)
{
        progress_tell(p, what, done, total);
        return p && p->stop && p->stop(p->user) ? errorf(-ECANCELED, "interrupted") : 0;
}
