/* Localizing while a campaign runs: a thread of its own searches for the commits responsible for what was found so far, and the strategy is told, so
 * that what shows a known cause once more is run less.
 *
 * A search needs a core for its builds and runs: the first worker gives up its own meanwhile. Between two searches the localizer rests as long as
 * the last one took, so that the campaign keeps at least half of that core, and the finds of that time share the next search's builds. */
#include "core/study/campaign_internal.h"
#include "core/study/finding_localized.h"

static bool is_unexplained(const struct campaign *c)
{
        for (size_t i = 0; i < c->n_found; i++)
                if (c->found[i].cause == 0 && !c->found[i].is_tried)
                        return true;
        return false;
}

int campaign_add_found(struct campaign *c, uint64_t id, uint32_t finding)
{
        if (list_grow(c->found, c->n_found) < 0)
                return -ENOMEM;
        c->found[c->n_found++] = (struct campaign_found){.id = id, .finding = finding};
        return 0;
}

void campaign_learn(struct campaign *c, uint64_t id, uint64_t cause)
{
        for (size_t i = 0; i < c->n_found; i++)
                if (c->found[i].id == id)
                        c->found[i].cause = cause;
        c->hunt->learned(c, id, cause);
}

uint64_t campaign_count_causes(const struct campaign *c)
{
        uint64_t n = 0;

        for (size_t i = 0; i < c->n_found; i++) {
                bool is_new = c->found[i].cause != 0;

                for (size_t k = 0; is_new && k < i; k++)
                        is_new = c->found[k].cause != c->found[i].cause;
                n += is_new;
        }
        return n;
}

/* Under the lock: what is known by now of the finds in the list goes to the journal and the strategy. */
static int learn(struct campaign *c)
{
        for (size_t i = 0; i < c->n_found; i++) {
                cleanup_finding struct finding *f = NULL;
                uint64_t cause = 0;
                int r;

                if (c->found[i].cause != 0 || finding_get(c->workspace, c->solver->number, c->found[i].finding, &f) < 0)
                        continue;
                r = finding_cause(c->workspace, c->solver, f, &cause);
                if (r == -ENOENT)
                        continue; /* found while the search ran, and not in it */
                c->found[i].is_tried = true;
                if (r < 0 || cause == 0)
                        continue;
                r = campaign_note(c, &(struct campaign_record){.event = EVENT_CAUSE, .id = c->found[i].id, .cause = cause});
                if (r < 0)
                        return r;
                campaign_learn(c, c->found[i].id, cause);
        }
        return 0;
}

int campaign_localize_all(struct campaign *c)
{
        int r = findings_localize(c->workspace, c->engine, c->solver, c->settings->name, campaign_say_line, c, c->cancel_fd), k;

        if (r < 0 && r != -ECANCELED)
                campaign_say(c, "not localized: %s", error_message(r));
        pthread_mutex_lock(&c->lock);
        k = learn(c);
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? r : k;
}

static void rest(struct campaign *c, uint64_t until_ns)
{
        while (!c->is_over && (now_ns() < until_ns || !is_unexplained(c)))
                pthread_cond_wait(&c->changed, &c->lock); /* signalled five times a second by watch_over() */
}

static void *localizer(void *user)
{
        struct campaign *c = user;
        uint64_t until = 0;
        int r = 0;

        pthread_mutex_lock(&c->lock);
        for (rest(c, 0); !c->is_over && r == 0; rest(c, until)) {
                uint64_t began = now_ns();

                c->is_localizing = true;
                pthread_mutex_unlock(&c->lock);
                r = campaign_localize_all(c);
                pthread_mutex_lock(&c->lock);
                c->is_localizing = false;
                pthread_cond_broadcast(&c->changed);
                until = now_ns() + (now_ns() - began);
        }
        pthread_mutex_unlock(&c->lock);
        return NULL;
}

int campaign_start_localizer(struct campaign *c)
{
        int r;

        if (!c->settings->localize || !c->hunt->learned)
                return 0;
        r = pthread_create(&c->localizer, NULL, localizer, c);
        c->has_localizer = r == 0;
        return r == 0 ? 0 : errorf(-r, "cannot start a thread: %s", strerror(r));
}

void campaign_end_localizer(struct campaign *c)
{
        if (c->has_localizer)
                pthread_join(c->localizer, NULL);
        c->has_localizer = false;
}
