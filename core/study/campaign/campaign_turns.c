/* Turns of the localizer and the reducer, which work beside the search for inputs. Each needs a core, and the first worker gives up its own
 * meanwhile. One of the two at a time has a turn. Then the worker goes on for as long as the turn took, and for one input at least. The next turn is
 * the other one's, if it waits. So the search keeps half of that core, whatever the others cost. */
#include "core/study/campaign/campaign_internal.h"

#define TURN_LEAST NSEC_PER_SEC
#define TURN_MOST  (60 * NSEC_PER_SEC)

int campaign_start_beside(struct campaign *c, enum beside who, void *(*run)(void *user), void *user)
{
        int r = thread_start(&c->beside[who], run, user);

        c->has_beside[who] = r == 0;
        return r;
}

static bool may_begin(const struct campaign *c, enum beside who)
{
        const struct campaign_turns *t = &c->turns;
        bool has_rested = t->ended == 0 || (now_ns() - t->ended >= t->took && c->n_tried != t->n_tried);

        return !t->is_taken && has_rested && !(t->last == who && t->n_waiting[!who] > 0);
}

void campaign_begin_turn(struct campaign *c, enum beside who)
{
        struct campaign_turns *t = &c->turns;
        uint64_t rested;

        t->n_waiting[who]++;
        while (!c->is_over && !may_begin(c, who))
                pthread_cond_wait(&c->changed, &c->lock);
        t->n_waiting[who]--;
        t->last = who;
        t->is_taken = !c->is_over;
        while (!c->is_over && !t->has_room) /* the worker's input may take minutes more, which are not the turn's */
                pthread_cond_wait(&c->changed, &c->lock);
        t->began = now_ns();
        rested = t->ended > 0 ? t->began - t->ended : 0;
        t->most = MIN(MAX(rested, TURN_LEAST), TURN_MOST);
}

void campaign_end_turn(struct campaign *c, enum beside who)
{
        struct campaign_turns *t = &c->turns;

        if (!t->is_taken || t->last != who)
                return;
        t->is_taken = false;
        t->ended = now_ns();
        t->took = t->ended - t->began;
        t->n_tried = c->n_tried;
        pthread_cond_broadcast(&c->changed);
}

