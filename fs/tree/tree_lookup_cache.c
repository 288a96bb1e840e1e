/* Keeps recent results of lookups in the store that are asked for again at once: the fact of a cell, when its files are read one after the
 * other; the list of a folder, when its reading continues. */
#include "core/run/host.h"
#include "fs/tree/tree_internal.h"

/* A result holds until the store is written to or a compiler changes, which means another program. */
struct moment {
        uint64_t generation; /* of the store, before it was looked into */
        unsigned toolchain;  /* how many there were before it */
};

struct recent_fact {
        struct solver *solver; /* a ref; NULL: none */
        uint32_t view;
        uint64_t setting;
        uint32_t commit, item;
        struct moment moment;
        struct fact *fact; /* a ref */
};

/* Brief ones are small (some 500 bytes) and what `time`, sizes and times are answered from: enough for all that a table or a plot reads over
 * and over. Whole ones serve who reads all files of a cell in a row. */
#define RECENT_BRIEF 16384
#define RECENT_WHOLE 16          /* a few for each thread that answers */
#define RECENT_TOP   (64 * 1024) /* bytes; who printed more is read again */

struct recent_list {
        uint64_t ino;          /* of the folder */
        struct solver *solver; /* a ref, or NULL */
        struct moment moment;
        struct numbers *numbers; /* a ref; NULL: none */
};

#define RECENT_LISTS 16 /* as many folders can be read at the same time without looking for what is in them at each step */

struct recent_derived {
        uint64_t ino;
        struct solver *solver; /* a ref, or NULL */
        struct moment moment;
        uint64_t size;
        int64_t mtime;
        struct derived *derived; /* a ref; NULL: none, or it was dropped */
};

#define DERIVED_BITS   7 /* 128 groups of places, by inode number */
#define DERIVED_WAYS   8
#define RECENT_DERIVED (DERIVED_WAYS << DERIVED_BITS)
#define DERIVED_BYTES  (32 * 1024 * 1024) /* of texts that are kept, besides the last one */

struct lookup_cache {
        pthread_mutex_t lock;
        /* under lock */
        char toolchain[DIGEST_HEX_SIZE];
        unsigned n_toolchains;
        struct recent_fact brief[RECENT_BRIEF], whole[RECENT_WHOLE];
        struct recent_list lists[RECENT_LISTS]; /* used last first */
        struct recent_derived derived[1 << DERIVED_BITS][DERIVED_WAYS];
        unsigned next_derived; /* which place of a full group is given away next */
        unsigned next_dropped; /* the place whose text is dropped next, when there are too many bytes */
        uint64_t derived_bytes, prints;
        struct moment looked; /* when a look found no print that holds, */
        int64_t looked_time;  /* in seconds */
};

struct derived *derived_unref(struct derived *d)
{
        if (d && __atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                blob_done(&d->text);
                free(d);
        }
        return NULL;
}

static void recent_fact_done(struct recent_fact *f)
{
        solver_unref(f->solver);
        fact_unref(f->fact);
}

static void recent_list_done(struct recent_list *l)
{
        solver_unref(l->solver);
        numbers_unref(l->numbers);
}

static void recent_derived_done(struct recent_derived *d)
{
        solver_unref(d->solver);
        derived_unref(d->derived);
}

int lookup_cache_new(struct lookup_cache **ret)
{
        struct lookup_cache *r = calloc(1, sizeof(*r));

        if (!r)
                return -ENOMEM;
        pthread_mutex_init(&r->lock, NULL);
        *ret = r;
        return 0;
}

unsigned lookup_cache_toolchains(struct lookup_cache *recent)
{
        unsigned n;

        pthread_mutex_lock(&recent->lock);
        n = recent->n_toolchains;
        pthread_mutex_unlock(&recent->lock);
        return n;
}

struct lookup_cache *lookup_cache_free(struct lookup_cache *r)
{
        if (!r)
                return NULL;
        for (size_t i = 0; i < RECENT_BRIEF; i++)
                recent_fact_done(&r->brief[i]);
        for (size_t i = 0; i < RECENT_WHOLE; i++)
                recent_fact_done(&r->whole[i]);
        for (size_t i = 0; i < RECENT_LISTS; i++)
                recent_list_done(&r->lists[i]);
        for (size_t i = 0; i < RECENT_DERIVED; i++)
                recent_derived_done(&r->derived[i / DERIVED_WAYS][i % DERIVED_WAYS]);
        pthread_mutex_destroy(&r->lock);
        free(r);
        return NULL;
}

static int moment_now(struct tree *t, struct moment *ret)
{
        uint64_t generation = store_generation(workspace_store(t->workspace));
        struct lookup_cache *recent = t->lookup_cache;
        char now[DIGEST_HEX_SIZE];
        int r = host_toolchain(now);

        if (r < 0)
                return r;
        pthread_mutex_lock(&recent->lock);
        if (strcmp(now, recent->toolchain) != 0) {
                strcpy(recent->toolchain, now);
                recent->n_toolchains++;
        }
        *ret = (struct moment){.generation = generation, .toolchain = recent->n_toolchains};
        pthread_mutex_unlock(&recent->lock);
        return 0;
}

uint64_t lookup_cache_generation(struct tree *t)
{
        struct moment now;

        if (moment_now(t, &now) < 0)
                return 0;
        return now.generation + now.toolchain + workspace_recipes_changed(t->workspace); /* none of them ever falls */
}

static bool moment_equal(const struct moment *a, const struct moment *b)
{
        return a->generation == b->generation && a->toolchain == b->toolchain;
}

/* -- facts -- */

static struct recent_fact *fact_slot(struct lookup_cache *r, const struct recent_fact *k, bool brief)
{
        uint64_t h = ((uint64_t)k->commit << 32 ^ (uint64_t)k->view << 20 ^ k->setting ^ k->item) * UINT64_C(0x9e3779b97f4a7c15);

        return brief ? &r->brief[(h >> 40) % RECENT_BRIEF] : &r->whole[k->item % RECENT_WHOLE];
}

static bool fact_is(const struct recent_fact *f, const struct recent_fact *k)
{
        return f->solver == k->solver && f->view == k->view && f->setting == k->setting && f->commit == k->commit &&
               f->item == k->item && moment_equal(&f->moment, &k->moment);
}

static struct fact *fact_find(struct lookup_cache *r, const struct recent_fact *k, bool brief)
{
        const struct recent_fact *slot = fact_slot(r, k, brief), *whole = fact_slot(r, k, false);
        struct fact *found = NULL;

        pthread_mutex_lock(&r->lock);
        if (fact_is(slot, k))
                found = fact_ref(slot->fact);
        else if (fact_is(whole, k)) /* it has what a brief one has, and more */
                found = fact_ref(whole->fact);
        pthread_mutex_unlock(&r->lock);
        return found;
}

static void fact_keep(struct lookup_cache *r, const struct recent_fact *k, bool brief, struct fact *f)
{
        struct recent_fact *slot = fact_slot(r, k, brief), old;

        if (f->out.size + f->err.size + f->json.size + f->results.size > RECENT_TOP)
                return;
        pthread_mutex_lock(&r->lock);
        old = *slot;
        *slot = *k;
        solver_ref(k->solver);
        slot->fact = fact_ref(f);
        pthread_mutex_unlock(&r->lock);
        recent_fact_done(&old); /* the last of a solver takes a while */
}

int tree_fact(struct tree *t, const struct node *n, const struct cell *cell, bool brief, struct fact **ret)
{
        /* Nodes that make the same query. */
        struct recent_fact k = {.solver = n->solver,
                                .view = n->inode.view,
                                .setting = n->inode.setting,
                                .commit = n->inode.commit,
                                .item = n->inode.item};
        int r = moment_now(t, &k.moment);

        *ret = NULL;
        if (r < 0)
                return r;
        *ret = fact_find(t->lookup_cache, &k, brief);
        if (*ret)
                return 0;
        r = run_find(t->workspace, cell, brief, ret);
        if (r == 0)
                fact_keep(t->lookup_cache, &k, brief, *ret);
        return r;
}

/* -- lists -- */

struct numbers *numbers_unref(struct numbers *n)
{
        if (n && __atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) == 0) {
                free(n->list);
                free(n);
        }
        return NULL;
}

size_t numbers_from(const struct numbers *n, uint64_t from)
{
        size_t low = 0, high = n->n;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (n->list[middle] < from)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Lock held: the folder's entry, or the one that was not used for longest, comes to the front. */
static struct recent_list *list_to_front(struct lookup_cache *r, uint64_t ino, const struct solver *solver)
{
        struct recent_list found;
        size_t i = 0;

        while (i < RECENT_LISTS - 1 && (r->lists[i].ino != ino || r->lists[i].solver != solver))
                i++;
        found = r->lists[i];
        memmove(&r->lists[1], &r->lists[0], i * sizeof(found));
        r->lists[0] = found;
        return &r->lists[0];
}

static struct numbers *list_find(struct lookup_cache *r, const struct node *dir, const struct moment *now, bool goes_on)
{
        uint64_t ino = inode_pack(dir->inode);
        struct numbers *found = NULL;

        pthread_mutex_lock(&r->lock);
        for (size_t i = 0; i < RECENT_LISTS && !found; i++) {
                const struct recent_list *l = &r->lists[i];

                if (l->numbers && l->ino == ino && l->solver == dir->solver && (goes_on || moment_equal(&l->moment, now))) {
                        found = list_to_front(r, ino, dir->solver)->numbers;
                        __atomic_add_fetch(&found->refs, 1, __ATOMIC_RELAXED);
                }
        }
        pthread_mutex_unlock(&r->lock);
        return found;
}

/* One found earlier never takes the place of a later one: who began to read then goes on with what is newer. */
static void list_keep(struct lookup_cache *r, const struct node *dir, const struct moment *now, struct numbers *numbers)
{
        uint64_t ino = inode_pack(dir->inode);
        struct recent_list *slot, old = {0};

        pthread_mutex_lock(&r->lock);
        slot = list_to_front(r, ino, dir->solver);
        if (slot->ino != ino || slot->solver != dir->solver || slot->moment.generation <= now->generation) {
                old = *slot;
                *slot = (struct recent_list){
                        .ino = ino, .solver = dir->solver ? solver_ref(dir->solver) : NULL, .moment = *now, .numbers = numbers};
                __atomic_add_fetch(&numbers->refs, 1, __ATOMIC_RELAXED);
        }
        pthread_mutex_unlock(&r->lock);
        recent_list_done(&old);
}

int tree_numbers(struct tree *t, const struct node *dir, uint64_t from, numbers_fn find, struct numbers **ret)
{
        cleanup(numbers_unrefp) struct numbers *found = NULL;
        struct moment now;
        int r = moment_now(t, &now);

        if (r < 0)
                return r;
        *ret = list_find(t->lookup_cache, dir, &now, from > 0);
        if (*ret)
                return 0;
        found = calloc(1, sizeof(*found));
        if (!found)
                return -ENOMEM;
        found->refs = 1;
        r = find(t, dir, &found->list, &found->n);
        if (r < 0)
                return r;
        list_keep(t->lookup_cache, dir, &now, found);
        *ret = steal_pointer(found);
        return 0;
}

/* -- files that take a while to print -- */

/* Kinds stand in the number's top bits, so the product's top bits are taken: they depend on all of it. */
static struct recent_derived *derived_group(struct lookup_cache *r, uint64_t ino)
{
        return r->derived[ino * UINT64_C(0x9e3779b97f4a7c15) >> (64 - DERIVED_BITS)];
}

/* Lock held. NULL: it was not printed lately. */
static struct recent_derived *derived_of(struct lookup_cache *r, const struct node *n)
{
        uint64_t ino = inode_pack(n->inode);
        struct recent_derived *among = derived_group(r, ino);

        for (size_t i = 0; i < DERIVED_WAYS; i++)
                if (among[i].ino == ino && among[i].solver == n->solver)
                        return &among[i];
        return NULL;
}

static struct derived *derived_find(struct lookup_cache *r, const struct node *n, const struct moment *now)
{
        struct derived *found = NULL;
        const struct recent_derived *d;

        pthread_mutex_lock(&r->lock);
        d = derived_of(r, n);
        if (d && d->derived && moment_equal(&d->moment, now)) {
                found = d->derived;
                __atomic_add_fetch(&found->refs, 1, __ATOMIC_RELAXED);
        }
        pthread_mutex_unlock(&r->lock);
        return found;
}

/* Lock held. A free place for another one, else one that is given away. */
static struct recent_derived *derived_place(struct lookup_cache *r, uint64_t ino)
{
        struct recent_derived *among = derived_group(r, ino);

        for (size_t i = 0; i < DERIVED_WAYS; i++)
                if (among[i].ino == 0)
                        return &among[i];
        return &among[r->next_derived++ % DERIVED_WAYS];
}

/* Lock held. */
static void derived_drop(struct lookup_cache *r, struct recent_derived *d)
{
        if (d->derived)
                r->derived_bytes -= d->size;
        d->derived = derived_unref(d->derived);
}

/* Keeps the print, and drops texts of others while there are too many bytes. Their sizes and times stay. */
static void derived_keep(struct lookup_cache *r, const struct node *n, const struct moment *moment, struct derived *made)
{
        struct recent_derived *slot;
        struct solver *before;

        pthread_mutex_lock(&r->lock);
        slot = derived_of(r, n);
        if (!slot)
                slot = derived_place(r, inode_pack(n->inode));
        derived_drop(r, slot);
        before = slot->solver;
        for (size_t i = 0; i < RECENT_DERIVED && r->derived_bytes + made->text.size > DERIVED_BYTES; i++, r->next_dropped++)
                derived_drop(r, &r->derived[r->next_dropped / DERIVED_WAYS % (1 << DERIVED_BITS)][r->next_dropped % DERIVED_WAYS]);
        *slot = (struct recent_derived){.ino = inode_pack(n->inode),
                                        .solver = n->solver ? solver_ref(n->solver) : NULL,
                                        .moment = *moment,
                                        .size = made->text.size,
                                        .mtime = made->mtime,
                                        .derived = made};
        __atomic_add_fetch(&made->refs, 1, __ATOMIC_RELAXED);
        r->derived_bytes += made->text.size;
        r->prints += n->route != NULL; /* else it is an index of ours */
        pthread_mutex_unlock(&r->lock);
        solver_unref(before);
}

int tree_derived_look(struct tree *t, const struct node *n, uint64_t *ret_size, int64_t *ret_mtime)
{
        struct lookup_cache *c = t->lookup_cache;
        const struct recent_derived *d;
        struct moment now;
        int r = moment_now(t, &now);

        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        d = derived_of(c, n);
        r = d && moment_equal(&d->moment, &now);
        if (!r && !moment_equal(&c->looked, &now)) {
                c->looked = now;
                c->looked_time = now_seconds();
        }
        *ret_size = d ? d->size : PLACEHOLDER_SIZE;
        *ret_mtime = r ? d->mtime : c->looked_time;
        pthread_mutex_unlock(&c->lock);
        return r;
}

uint64_t tree_prints(struct tree *t)
{
        uint64_t n;

        pthread_mutex_lock(&t->lookup_cache->lock);
        n = t->lookup_cache->prints;
        pthread_mutex_unlock(&t->lookup_cache->lock);
        return n;
}

int tree_derived(struct tree *t, const struct node *n, derive_fn print, struct derived **ret)
{
        cleanup(derived_unrefp) struct derived *made = NULL;
        cleanup_buffer struct buffer b = {0};
        struct moment now;
        int r = moment_now(t, &now);

        if (r < 0)
                return r;
        *ret = derived_find(t->lookup_cache, n, &now);
        if (*ret)
                return 0;
        made = calloc(1, sizeof(*made));
        if (!made)
                return -ENOMEM;
        made->refs = 1;
        r = print(t, n, &b, &made->mtime);
        if (r == 0)
                r = buffer_steal(&b, &made->text);
        if (r < 0)
                return r;
        derived_keep(t->lookup_cache, n, &now, made);
        *ret = steal_pointer(made);
        return 0;
}

int tree_derived_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, n->route->derive, &d);

        if (r == 0)
                buffer_add(ret, d->text.data, d->text.size);
        return r;
}

int tree_derived_size(struct tree *t, const struct node *n, uint64_t *ret)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, n->route->derive, &d);

        if (r == 0)
                *ret = d->text.size;
        return r;
}

int tree_derived_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup(derived_unrefp) struct derived *d = NULL;
        int r = tree_derived(t, n, n->route->derive, &d);

        if (r == 0)
                *ret = d->mtime;
        return r;
}
