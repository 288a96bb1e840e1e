/* Waits for a cluster's slots, as the engine does: asks again whenever the cluster says that something changed. For one cluster at a time, to which
 * cluster_slots_look() is attached. */
#pragma once

#include <pthread.h>

#include "core/remote/cluster.h"

static struct {
        pthread_mutex_t lock;
        pthread_cond_t looked;
        unsigned looks;
} cluster_slots = {.lock = PTHREAD_MUTEX_INITIALIZER, .looked = PTHREAD_COND_INITIALIZER};

static inline void cluster_slots_look(void *user)
{
        (void)user;
        pthread_mutex_lock(&cluster_slots.lock);
        cluster_slots.looks++;
        pthread_cond_broadcast(&cluster_slots.looked);
        pthread_mutex_unlock(&cluster_slots.lock);
}

/* cluster_take(), without -EAGAIN. */
static inline int cluster_slots_take(struct cluster *c, uint64_t most_ns, size_t waiting, struct cluster_slot **ret)
{
        int r;

        pthread_mutex_lock(&cluster_slots.lock);
        for (;;) {
                unsigned before = cluster_slots.looks;

                pthread_mutex_unlock(&cluster_slots.lock);
                r = cluster_take(c, most_ns, waiting, ret);
                pthread_mutex_lock(&cluster_slots.lock);
                if (r != -EAGAIN)
                        break;
                while (cluster_slots.looks == before)
                        pthread_cond_wait(&cluster_slots.looked, &cluster_slots.lock);
        }
        pthread_mutex_unlock(&cluster_slots.lock);
        return r;
}
