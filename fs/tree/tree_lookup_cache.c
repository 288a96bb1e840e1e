/* Keeps what was read from the store and is soon asked for again: a cell's fact, while its files are read one after the other; and in `derived` the
 * print of a file that takes a while, until it is read, and a folder's numbers, while its listing continues. */
#include "fs/tree/tree_internal.h"

/* A result is valid until the store is written to: it has the generation of the moment before it was read. */
struct recent_fact {
        struct solver *solver; /* a ref; NULL: none */
        uint32_t view;
        uint64_t setting;
        uint32_t commit, item, more;
        uint64_t generation;
        bool brief;
        struct fact *fact; /* a ref */
};

#define RECENT_FACTS 16384
#define RECENT_TOP   4096 /* bytes; larger facts are not kept. Brief ones, for `time`, sizes and times, have about 500 */

struct recent_derived {
        uint64_t ino;
        struct solver *solver; /* a ref, or NULL; the recipe may have changed since a node was looked up */
        uint64_t generation;
        uint64_t size;
        int64_t mtime;
        struct derived *derived; /* a ref; NULL: none, or dropped */
};

#define DERIVED_BITS   7 /* 128 groups of places, by inode number */
#define DERIVED_WAYS   8
#define RECENT_DERIVED (DERIVED_WAYS << DERIVED_BITS)
#define DERIVED_BYTES  (32 * 1024 * 1024) /* most bytes of texts and lists kept, without the last one */

struct lookup_cache {
        pthread_mutex_t lock;
        /* under lock */
        struct recent_fact facts[RECENT_FACTS];
        struct recent_derived derived[RECENT_DERIVED]; /* the places of a group are adjacent */
        unsigned next_derived; /* the place of a full group to reuse next */
        unsigned next_dropped; /* the place whose text is dropped next if there are too many bytes */
        uint64_t derived_bytes;
        uint64_t prints;      /* atomic */
        uint64_t looked;      /* the generation at which a look found no valid print, */
        int64_t looked_time;  /* and when that was, in seconds */
};

static void derived_free(struct derived *d)
{
        blob_done(&d->text);
        free(d);
}
DEFINE_REFS(derived, derived_free)

static void recent_fact_done(struct recent_fact *f)
{
        solver_unref(f->solver);
        fact_unref(f->fact);
}

struct lookup_cache *lookup_cache_new(void)
{
        struct lookup_cache *r = allocate(1, sizeof(*r));

        pthread_mutex_init(&r->lock, NULL);
        r->looked = UINT64_MAX;
        return r;
}

void lookup_cache_free(struct lookup_cache *r)
{
        for (size_t i = 0; i < RECENT_FACTS; i++)
                recent_fact_done(&r->facts[i]);
        for (size_t i = 0; i < RECENT_DERIVED; i++) {
                solver_unref(r->derived[i].solver);
                derived_unref(r->derived[i].derived);
        }
        pthread_mutex_destroy(&r->lock);
        free(r);
}

uint64_t tree_generation(struct tree *t)
{
        return store_generation(workspace_store(t->workspace)) + workspace_recipes_changed(t->workspace); /* changes with either, and has no order */
}

/* -- facts -- */

static struct recent_fact *fact_slot(struct lookup_cache *r, const struct recent_fact *k)
{
        uint64_t h = ((uint64_t)k->commit << 32 ^ (uint64_t)k->view << 20 ^ k->setting ^ k->item ^ (uint64_t)k->more << 12) * UINT64_C(0x9e3779b97f4a7c15);

        return &r->facts[(h >> 40) % RECENT_FACTS];
}

/* NULL: not kept. A whole fact also answers for a brief one. */
static struct fact *fact_find(struct lookup_cache *r, const struct recent_fact *k)
{
        const struct recent_fact *f = fact_slot(r, k);
        cleanup_unlock pthread_mutex_t *held = hold(&r->lock);

        return f->solver == k->solver && f->view == k->view && f->setting == k->setting && f->commit == k->commit && f->item == k->item && f->more == k->more &&
                               f->generation == k->generation && (k->brief || !f->brief)
                       ? fact_ref(f->fact)
                       : NULL;
}

static void fact_keep(struct lookup_cache *r, const struct recent_fact *k, struct fact *f)
{
        cleanup(recent_fact_done) struct recent_fact old = {0}; /* freed without the lock: a solver's last unref takes a while */
        cleanup_unlock pthread_mutex_t *held = NULL;
        struct recent_fact *slot = fact_slot(r, k);

        if (f->out.size + f->err.size + f->json.size + f->results.size + f->answers.size > RECENT_TOP)
                return;
        held = hold(&r->lock);
        old = *slot;
        *slot = *k;
        solver_ref(k->solver);
        slot->fact = fact_ref(f);
}

int tree_fact(struct tree *t, const struct node *n, const struct cell *cell, bool brief, struct fact **ret)
{
        /* Equal for nodes of the same query. */
        struct recent_fact k = {.solver = n->solver,
                                .view = n->inode.view,
                                .setting = n->inode.setting,
                                .commit = n->inode.commit,
                                .item = n->inode.item,
                                .more = n->inode.more,
                                .generation = store_generation(workspace_store(t->workspace)),
                                .brief = brief};
        int r;

        *ret = fact_find(t->lookup_cache, &k);
        if (*ret)
                return 0;
        r = run_find(t->workspace, cell, brief, ret);
        if (r == 0)
                fact_keep(t->lookup_cache, &k, *ret);
        return r;
}

/* -- files that take a while to print, and the numbers of a listing -- */

/* Kinds are in the number's top bits, and only the product's top bits depend on all bits of the number. */
static struct recent_derived *derived_group(struct lookup_cache *r, uint64_t ino)
{
        return &r->derived[DERIVED_WAYS * (ino * UINT64_C(0x9e3779b97f4a7c15) >> (64 - DERIVED_BITS))];
}

/* Lock held. The place of a print, or a free place (inode number 0); NULL: there is none. */
static struct recent_derived *derived_at(struct recent_derived *group, uint64_t ino, const struct solver *solver)
{
        for (size_t i = 0; i < DERIVED_WAYS; i++)
                if (group[i].ino == ino && group[i].solver == solver)
                        return &group[i];
        return NULL;
}

static struct recent_derived *derived_of(struct lookup_cache *r, const struct node *n)
{
        uint64_t ino = inode_pack(n->inode);

        return derived_at(derived_group(r, ino), ino, n->solver);
}

/* `goes_on`: accepts any generation. */
static struct derived *derived_find(struct lookup_cache *r, const struct node *n, uint64_t now, bool goes_on)
{
        cleanup_unlock pthread_mutex_t *held = hold(&r->lock);
        const struct recent_derived *d = derived_of(r, n);

        if (!d || !d->derived || (!goes_on && d->generation != now))
                return NULL;
        return derived_ref(d->derived);
}

/* Lock held. */
static void derived_drop(struct lookup_cache *r, struct recent_derived *d)
{
        if (d->derived)
                r->derived_bytes -= d->size;
        d->derived = derived_unref(d->derived);
}

/* Keeps the print, and drops texts of other prints while there are too many bytes; their sizes and times stay. An outdated print never replaces a
 * current one, which a reader may have begun to read. Generations have no order: a rebuilt index may have a smaller one. */
static void derived_keep(struct tree *t, const struct node *n, uint64_t generation, struct derived *made)
{
        struct lookup_cache *r = t->lookup_cache;
        const uint64_t now = tree_generation(t);
        cleanup(solver_unrefp) struct solver *before = NULL; /* freed without the lock: a solver's last unref takes a while */
        cleanup_unlock pthread_mutex_t *held = hold(&r->lock);
        struct recent_derived *group = derived_group(r, inode_pack(n->inode)), *slot = derived_of(r, n);

        if (slot && slot->generation == now && generation != now)
                return;
        if (!slot)
                slot = derived_at(group, 0, NULL) ?: &group[r->next_derived++ % DERIVED_WAYS];
        derived_drop(r, slot);
        before = slot->solver;
        for (size_t i = 0; i < RECENT_DERIVED && r->derived_bytes + made->text.size > DERIVED_BYTES; i++, r->next_dropped++)
                derived_drop(r, &r->derived[r->next_dropped % RECENT_DERIVED]);
        *slot = (struct recent_derived){.ino = inode_pack(n->inode),
                                        .solver = n->solver ? solver_ref(n->solver) : NULL,
                                        .generation = generation,
                                        .size = made->text.size,
                                        .mtime = made->mtime,
                                        .derived = derived_ref(made)};
        r->derived_bytes += made->text.size;
}

int tree_derived_peek(struct tree *t, const struct node *n, uint64_t *ret_size, int64_t *ret_mtime)
{
        struct lookup_cache *c = t->lookup_cache;
        const uint64_t now = tree_generation(t);
        cleanup_unlock pthread_mutex_t *held = hold(&c->lock);
        const struct recent_derived *d = derived_of(c, n);
        int r = d && d->generation == now;

        if (!r && c->looked != now) {
                c->looked = now;
                c->looked_time = now_seconds();
        }
        *ret_size = d ? d->size : PLACEHOLDER_SIZE;
        *ret_mtime = r ? d->mtime : c->looked_time;
        return r;
}

uint64_t tree_prints(struct tree *t)
{
        return __atomic_load_n(&t->lookup_cache->prints, __ATOMIC_RELAXED);
}

/* Made by `print`, or by `find` if `print` is NULL. 1: it was printed just now. */
static int derived_get(struct tree *t, const struct node *n, bool goes_on, derive_fn print, numbers_fn find, struct derived **ret)
{
        cleanup(derived_unrefp) struct derived *made = NULL;
        const uint64_t now = tree_generation(t);
        cleanup_buffer struct buffer b = {0};
        uint32_t *list = NULL;
        size_t count = 0;
        int r;

        *ret = derived_find(t->lookup_cache, n, now, goes_on);
        if (*ret)
                return 0;
        made = allocate(1, sizeof(*made));
        made->refs = 1;
        r = print ? print(t, n, &b, &made->mtime) : find(t, n, &list, &count);
        if (print && r == 0)
                r = buffer_steal(&b, &made->text);
        else if (!print)
                made->text = (struct blob){.data = list, .size = count * sizeof(*list), .owned = list};
        if (r < 0)
                return r;
        derived_keep(t, n, now, made);
        *ret = steal_pointer(made);
        return print != NULL;
}

int tree_derived(struct tree *t, const struct node *n, derive_fn print, struct derived **ret)
{
        int r = derived_get(t, n, false, print, NULL, ret);

        if (r > 0)
                __atomic_add_fetch(&t->lookup_cache->prints, 1, __ATOMIC_RELAXED);
        return MIN(r, 0);
}

void numbers_done(struct numbers *n)
{
        derived_unref(n->kept);
}

int tree_numbers(struct tree *t, const struct node *dir, uint64_t from, numbers_fn find, struct numbers *ret)
{
        int r = derived_get(t, dir, from > 0, NULL, find, &ret->kept);

        if (r < 0)
                return r;
        ret->list = ret->kept->text.data;
        ret->n = ret->kept->text.size / sizeof(*ret->list);
        return 0;
}

size_t numbers_from(const struct numbers *n, uint64_t from)
{
        return lower_bound(&(uint32_t){(uint32_t)MIN(from, UINT32_MAX)}, n->list, n->n, sizeof(*n->list), compare_u32);
}

int tree_derived_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, n->route->derive, &d);

        if (r == 0)
                buffer_add(ret, d->text.data, d->text.size);
        return r;
}

int tree_derived_stat(struct tree *t, const struct node *n, uint64_t *ret_size, int64_t *ret_mtime)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, n->route->derive, &d);

        if (r < 0)
                return r;
        *ret_size = d->text.size;
        *ret_mtime = d->mtime;
        return 0;
}
