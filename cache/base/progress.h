/* How work that takes long says how far it is, and hears whether to go on: clone, index, checkout, builds, fsck, gc. */
#pragma once

#include "cache/base/util.h"

struct progress {
        void (*tell)(void *user, const char *what, uint64_t done,
                     uint64_t total); /* `total` 0 when unknown. NULL: nobody looks */
        bool (*stop)(void *user);     /* asked between two steps; true: end, and leave nothing half done. NULL: never */
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
