/* Holds a mutex until the end of the scope: `cleanup_unlock pthread_mutex_t *held = hold(&x->lock);` */
#pragma once

#include <pthread.h>

#include "cache/base/util.h"

static inline pthread_mutex_t *hold(pthread_mutex_t *m)
{
        pthread_mutex_lock(m);
        return m;
}
static inline void unlockp(pthread_mutex_t **m)
{
        if (*m)
                pthread_mutex_unlock(*m);
}
#define cleanup_unlock cleanup(unlockp)
