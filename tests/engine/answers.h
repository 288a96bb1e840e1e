/* The answers that a test of the engine waits for. */
#pragma once

#include <pthread.h>

#include "core/engine/engine.h"
#include "tests/support/test.h"

struct answers {
        _Atomic unsigned n, ok;
        _Atomic int last;
        pthread_mutex_t lock;
        char reason[256]; /* under lock */
};
#define ANSWERS ((struct answers){.lock = PTHREAD_MUTEX_INITIALIZER})

static inline void count_answer(void *user, int r, struct value *v, const char *reason)
{
        struct answers *a = user;

        ck_assert((r == 0) == (v != NULL));
        pthread_mutex_lock(&a->lock);
        if (reason)
                snprintf(a->reason, sizeof(a->reason), "%s", reason);
        pthread_mutex_unlock(&a->lock);
        a->last = r;
        a->ok += r == 0;
        a->n++;
}

/* However long it takes: the suite has a time limit. */
static inline void wait_for(_Atomic unsigned *n, unsigned least)
{
        while (*n < least)
                usleep(1000);
}
