/* Updates that share a commit (store_update_together()).
 *
 * The first thread to arrive leads. It begins a write transaction, which waits until the commit under way has ended, and then takes over all
 * updates that wait, its own first. It runs them and commits once. Updates that arrive meanwhile wait; the first of them leads next. So no
 * update waits for company: a lone one is committed at once, and a group is what arrived during one commit.
 *
 * When a group fails, nothing of it is kept, and the culprit is unknown: each of its updates runs again alone, in its own thread, and gets its
 * own error. */
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

/* Runs the group in the transaction. If the index is rebuilt meanwhile, it runs again, with updates that arrived since. */
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

/* Releases the updates of a group, and lets the next thread lead. Returns their number. */
static size_t dissolve(struct group *g, enum update_state state)
{
        struct together *all = &g->store->together;
        struct update *u;
        size_t n = 0;
        cleanup_unlock pthread_mutex_t *held = hold(&all->lock);

        if (STAILQ_EMPTY(&g->updates)) /* no transaction could begin: only the leader gets the error */
                STAILQ_REMOVE_HEAD(&all->waiting, next);
        for (; (u = STAILQ_FIRST(&g->updates)); n++) {
                STAILQ_REMOVE_HEAD(&g->updates, next);
                set_state(u, state);
        }
        all->is_led = !STAILQ_EMPTY(&all->waiting);
        if (all->is_led)
                set_state(STAILQ_FIRST(&all->waiting), UPDATE_LEADS);
        return n;
}

static int lead(struct store *s, struct update *own)
{
        struct group g = {.store = s, .updates = STAILQ_HEAD_INITIALIZER(g.updates)};
        int r = store_update(s, run_group, &g);
        size_t n = dissolve(&g, r == 0 ? UPDATE_DONE : UPDATE_ALONE);

        return r != 0 && n > 1 ? store_update(s, own->fn, own->user) : r;
}

/* Waits until the update is done, must lead, or must run alone. */
static enum update_state join(struct store *s, struct update *u)
{
        struct together *all = &s->together;
        cleanup_unlock pthread_mutex_t *held = hold(&all->lock);

        if (!all->is_led)
                u->state = UPDATE_LEADS;
        all->is_led = true;
        STAILQ_INSERT_TAIL(&all->waiting, u, next);
        while (u->state == UPDATE_WAITS)
                pthread_cond_wait(&u->changed, &all->lock);
        return u->state;
}

int store_update_together(struct store *s, store_update_fn fn, void *user)
{
        struct update u = {.fn = fn, .user = user, .changed = PTHREAD_COND_INITIALIZER};
        enum update_state state;
        int r = 0;

        if (open_transactions > 0) /* the leader may be waiting for a transaction of this thread */
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
        cleanup_unlock pthread_mutex_t *held = hold(&s->together.lock);

        STAILQ_FOREACH(u, &s->together.waiting, next)
                n++;
        return n;
}
