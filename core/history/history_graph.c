/* The order in which histories are shown, and the descendants of a commit: both follow from the parents of all commits. */
#include "core/history/history_internal.h"

/* The parents of all commits, one list behind the other. */
struct parents {
        uint32_t n;      /* commits */
        uint32_t *begin; /* owned; [n + 1]: where a commit's parents begin in list */
        uint32_t *list;  /* owned */
        size_t n_list;
};

static void parents_done(struct parents *p)
{
        free(p->begin);
        free(p->list);
}

static int parents_read(struct history *h, struct store_txn *t, struct parents *p)
{
        struct index_key all = index_key(h, NULL, 0);
        cleanup_walk struct store_walk w = {.txn = t, .table = h->tables.commits, .prefix = index_slice(&all)};
        int r;

        p->begin = allocate(1, sizeof(*p->begin));
        while ((r = store_walk(&w)) > 0) {
                if (w.key.size != 8 || key_get_u32((const uint8_t *)w.key.data + 4) != p->n)
                        return errorf(-EIO, "%s has no commit number %u", h->name, p->n);
                for (size_t i = 0; i < record_n_parents(w.value); i++) {
                        uint32_t parent = record_parent(w.value, i);

                        if (parent >= p->n)
                                return errorf(-EIO, "commit number %u of %s is damaged in the index", p->n, h->name);
                        list_add(p->list, p->n_list, parent);
                }
                list_grow(p->begin, p->n + 1);
                p->begin[++p->n] = (uint32_t)p->n_list;
        }
        return r;
}

/* Gives `place` to a commit and to all its ancestors that have none. `stack` has room for all commits. */
static void give_place(const struct parents *p, uint32_t commit, uint32_t place, uint32_t *places, uint32_t *stack)
{
        size_t n = 0;

        places[commit] = place;
        stack[n++] = commit;
        while (n > 0) {
                uint32_t at = stack[--n];

                for (uint32_t i = p->begin[at]; i < p->begin[at + 1]; i++)
                        if (places[p->list[i]] == COMMIT_NONE) {
                                places[p->list[i]] = place;
                                stack[n++] = p->list[i];
                        }
        }
}

static uint32_t parent_on_line(const struct parents *p, uint32_t commit)
{
        return p->begin[commit] < p->begin[commit + 1] ? p->list[p->begin[commit]] : COMMIT_NONE;
}

/* Sets the line, and for each commit the place on it of the commit that brought it into the line; COMMIT_NONE: none did. */
static void find_places(const struct parents *p, uint32_t head, struct commit_order *o, uint32_t *places)
{
        cleanup_free uint32_t *stack = allocate((size_t)p->n + 1, sizeof(*stack));
        uint32_t left;

        memset(places, 0xff, p->n * sizeof(*places));
        for (uint32_t c = head; c < p->n; c = parent_on_line(p, c))
                o->n_line++;
        o->line = allocate((size_t)o->n_line + 1, sizeof(*o->line));
        left = o->n_line;
        for (uint32_t c = head; c < p->n; c = parent_on_line(p, c))
                o->line[--left] = c;
        for (uint32_t i = 0; i < o->n_line; i++)
                give_place(p, o->line[i], i, places, stack);
}

/* Sorts by place, then by number, which is above the parents'. A counting sort: there are no more places than commits. */
static void sort_by_place(const uint32_t *places, uint32_t n, uint32_t *ret)
{
        cleanup_free uint32_t *count = allocate((size_t)n + 2, sizeof(*count));

        for (uint32_t i = 0; i < n; i++)
                count[MIN(places[i], n) + 1]++;
        for (uint32_t i = 0; i <= n; i++)
                count[i + 1] += count[i];
        for (uint32_t i = 0; i < n; i++)
                ret[count[MIN(places[i], n)]++] = i;
}

int commit_order_compare(const void *a, const void *b, void *place)
{
        const uint32_t *places = place;

        return compare_u32(&places[*(const uint32_t *)a], &places[*(const uint32_t *)b]);
}

static void commit_order_free(struct commit_order *o)
{
        free(o->list);
        free(o->place);
        free(o->line);
        free(o);
}
DEFINE_REFS(commit_order, commit_order_free)

/* `head`: the tip of the first-parent line. */
static int order_make(struct history *h, struct store_txn *t, uint64_t generation, uint32_t head, struct commit_order **ret)
{
        cleanup(parents_done) struct parents p = {0};
        cleanup_free uint32_t *places = NULL;
        int r = parents_read(h, t, &p);

        if (r < 0)
                return r;
        places = allocate((size_t)p.n + 1, sizeof(*places));
        *ret = allocate(1, sizeof(**ret));
        **ret = (struct commit_order){.refs = 1,
                                      .generation = generation,
                                      .n = p.n,
                                      .list = allocate((size_t)p.n + 1, sizeof(uint32_t)),
                                      .place = allocate((size_t)p.n + 1, sizeof(uint32_t))};
        find_places(&p, head, *ret, places);
        sort_by_place(places, p.n, (*ret)->list);
        for (uint32_t i = 0; i < p.n; i++)
                (*ret)->place[(*ret)->list[i]] = i;
        return 0;
}

int history_order(struct history *h, struct commit_order **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_refs struct ref_list *refs = NULL;
        int r = store_read(h->store, &t) ?: history_refs_in(h, t, &refs);

        if (r < 0)
                return r;
        pthread_mutex_lock(&h->lock);
        if (!h->order || h->order->generation != refs->generation) {
                h->order = commit_order_unref(h->order);
                r = order_make(h, t, refs->generation, refs->head, &h->order);
        }
        if (r == 0)
                *ret = commit_order_ref(h->order);
        pthread_mutex_unlock(&h->lock);
        return r;
}

/* -- descendants: a commit's number is above its parents', so one pass over the index in the order of numbers finds them -- */

/* Examines the commits from d->n on. */
static int examine_rest(struct history *h, struct descendants *d)
{
        struct index_key all = index_key(h, NULL, 0), from = index_key_number(h, d->n);
        cleanup_walk struct store_walk w = {.store = h->store, .table = h->tables.commits, .prefix = index_slice(&all), .from = index_slice(&from)};
        int r;

        while ((r = store_walk(&w)) > 0) {
                bool has = d->n == d->of;

                if (w.key.size != 8 || key_get_u32((const uint8_t *)w.key.data + 4) != d->n)
                        return errorf(-EIO, "the index has no commit number %u; 'solverfs fsck' repairs it", d->n);
                for (size_t i = 0; i < record_n_parents(w.value) && !has; i++) {
                        uint32_t parent = record_parent(w.value, i);

                        has = parent < d->n && d->has[parent];
                }
                list_add(d->has, d->n, has);
        }
        return r;
}

/* The table of this ancestor; if there is none, an empty one in the place of the oldest. */
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
        int r = 0;
        cleanup_unlock pthread_mutex_t *held = hold(&h->lock);
        struct descendants *d = find_descendants(h, ancestor);

        if (commit >= d->n)
                r = examine_rest(h, d);
        if (r == 0 && commit >= d->n)
                r = errorf(-ENOENT, "%s has no commit number %u", h->name, commit);
        if (r == 0)
                *ret = d->has[commit];
        return r;
}
