/* Updates that share a commit (store_update_together()).
 *
 * The first to come leads: it begins a write transaction, which takes until the commit under way has ended, and only then takes over
 * everything that waits by then, its own first. It runs all of that and commits once. Those that come meanwhile wait, and the first of
 * them leads when the leader has ended. So nothing ever waits for company: an update that comes alone is committed at once, and a group is
 * as large as what came during one commit.
 *
 * When a group fails, nothing of it is kept, and nobody knows yet whose fault it was: each of its updates is done again by itself, in its own
 * thread, and gets its own error. */
#include "cache/store/store_internal.h"

enum update_state {
        UPDATE_WAITS,
        UPDATE_LEADS,
        UPDATE_DONE,  /* committed */
        UPDATE_ALONE, /* its group failed */
};

struct update { /* on the stack of the thread that waits for it */
        store_update_fn fn;
        void *user;
        enum update_state state; /* under the lock */
        pthread_cond_t changed;
        STAILQ_ENTRY(update) next;
};

struct group {
        struct store *store;
        struct update_list updates;
};

/* In the transaction; a second time when the index was made anew on the way, with what came meanwhile. */
static int run_group(void *user, struct store_txn *t)
{
        struct group *g = user;
        struct update *u;
        int r = 0;

        pthread_mutex_lock(&g->store->together.lock);
        STAILQ_CONCAT(&g->updates, &g->store->together.waiting);
        pthread_mutex_unlock(&g->store->together.lock);
        STAILQ_FOREACH(u, &g->updates, next)
                if (r == 0)
                        r = u->fn(u->user, t);
        return r;
}

static void set_state(struct update *u, enum update_state state)
{
        u->state = state;
        pthread_cond_signal(&u->changed);
}

/* Lets the updates of a group go, and the next thread lead. Returns how many they were. */
static size_t dissolve(struct group *g, enum update_state state)
{
        struct together *all = &g->store->together;
        struct update *u;
        size_t n = 0;

        pthread_mutex_lock(&all->lock);
        if (STAILQ_EMPTY(&g->updates)) /* no transaction could be begun: the leader alone hears of it */
                STAILQ_REMOVE_HEAD(&all->waiting, next);
        for (; (u = STAILQ_FIRST(&g->updates)); n++) {
                STAILQ_REMOVE_HEAD(&g->updates, next);
                set_state(u, state);
        }
        all->is_led = !STAILQ_EMPTY(&all->waiting);
        if (all->is_led)
                set_state(STAILQ_FIRST(&all->waiting), UPDATE_LEADS);
        pthread_mutex_unlock(&all->lock);
        return n;
}

static int lead(struct store *s, struct update *own)
{
        struct group g = {.store = s, .updates = STAILQ_HEAD_INITIALIZER(g.updates)};
        int r = store_update(s, run_group, &g);
        size_t n = dissolve(&g, r == 0 ? UPDATE_DONE : UPDATE_ALONE);

        return r != 0 && n > 1 ? store_update(s, own->fn, own->user) : r;
}

/* Waits until it is decided what becomes of it. */
static enum update_state join(struct store *s, struct update *u)
{
        struct together *all = &s->together;
        enum update_state state;

        pthread_mutex_lock(&all->lock);
        if (!all->is_led)
                u->state = UPDATE_LEADS;
        all->is_led = true;
        STAILQ_INSERT_TAIL(&all->waiting, u, next);
        while (u->state == UPDATE_WAITS)
                pthread_cond_wait(&u->changed, &all->lock);
        state = u->state;
        pthread_mutex_unlock(&all->lock);
        return state;
}

int store_update_together(struct store *s, store_update_fn fn, void *user)
{
        struct update u = {.fn = fn, .user = user, .changed = PTHREAD_COND_INITIALIZER};
        enum update_state state;
        int r = 0;

        if (transactions > 0) /* the leader may be waiting for this very thread to end one */
                return store_update(s, fn, user);
        state = join(s, &u);
        if (state == UPDATE_LEADS)
                r = lead(s, &u);
        else if (state == UPDATE_ALONE)
                r = store_update(s, fn, user);
        pthread_cond_destroy(&u.changed);
        return r;
}

size_t store_waiting(struct store *s)
{
        struct update *u;
        size_t n = 0;

        pthread_mutex_lock(&s->together.lock);
        STAILQ_FOREACH(u, &s->together.waiting, next)
                n++;
        pthread_mutex_unlock(&s->together.lock);
        return n;
}
