/* The descendants of a commit. A commit's number is above its parents', so one pass over the index in the order of numbers finds them. */
#include "core/history/history_internal.h"

static int look_at_parents(void *user, struct slice key, struct slice value)
{
        struct descendants *d = user;
        bool has;

        if (key.size != 8 || key_get_u32((const uint8_t *)key.data + 4) != d->n)
                return errorf(-EIO, "the index has no commit number %u; 'solverfs fsck' repairs it", d->n);
        has = d->n == d->of;
        for (size_t i = 0; i < record_n_parents(value) && !has; i++) {
                uint32_t parent = record_parent(value, i);

                has = parent < d->n && d->has[parent];
        }
        list_grow(d->has, d->n);
        d->has[d->n++] = has;
        return 0;
}

static int look_further(struct history *h, struct descendants *d)
{
        cleanup_txn struct store_txn *t = NULL;
        struct index_key all = index_key(h, NULL, 0), from = index_key_number(h, d->n);
        int r = store_read(h->store, &t);

        return r < 0 ? r : store_each(t, h->tables.commits, index_slice(&all), index_slice(&from), true, look_at_parents, d);
}

static struct descendants *find_descendants(struct history *h, uint32_t of)
{
        struct descendants *d;

        for (unsigned i = 0; i < N_DESCENDANTS; i++)
                if (h->descendants[i].has && h->descendants[i].of == of)
                        return &h->descendants[i];
        d = &h->descendants[h->next_descendants++ % N_DESCENDANTS];
        free(d->has);
        *d = (struct descendants){.of = of};
        return d;
}

int history_descends(struct history *h, uint32_t commit, uint32_t ancestor, bool *ret)
{
        struct descendants *d;
        int r = 0;

        pthread_mutex_lock(&h->lock);
        d = find_descendants(h, ancestor);
        if (commit >= d->n)
                r = look_further(h, d);
        if (r == 0 && commit >= d->n)
                r = errorf(-ENOENT, "%s has no commit number %u", h->name, commit);
        if (r == 0)
                *ret = d->has[commit];
        pthread_mutex_unlock(&h->lock);
        return r;
}
