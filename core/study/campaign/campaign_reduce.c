/* Reducing the findings of a campaign, while it runs and at its end. The reduced inputs show which findings have one cause (finding_select.h).
 *
 * The reductions share a bounded time. While the search goes on, a thread takes turns with it (campaign_turns.c). Each finding that represents a group
 * gets a quick reduction, the smallest first. Those that are not minimal then get another of twice the time, and so on. At the end each gets an
 * equal part of the time left, and a third at least: a few small shapes tell more than many large ones. After each reduction the findings are grouped
 * anew; one that no longer represents its group is not reduced further.
 *
 * Reductions are kept as they go, with the time they took, so a campaign that was killed here goes on here. For this session the clock counts: it also
 * has the time of inputs that could not be reduced, and of the runs before a reduction begins. */
#include <inttypes.h>
#include <math.h>

#include "core/study/campaign/campaign_internal.h"
#include "core/study/observation/finding.h"
#include "core/study/observation/finding_select.h"

#define SHARES_MOST  3
#define QUICK_SHARES 10   /* a quick reduction's part of all the time, */
#define QUICK_MOST   60.0 /* seconds at most */

struct reducible {
        const struct finding_choice *choice; /* the reducer's */
        double seconds;                      /* of its reduction so far */
        unsigned turns;                      /* in this session */
        bool is_over;                        /* minimal, or it cannot be reduced */
};

/* The findings of the campaign. They belong to the thread while the search goes on, then to the campaign. */
struct reducer {
        struct campaign *campaign;
        struct finding_choice *choices; /* owned; of all campaigns */
        size_t n_choices;
        struct reducible *list; /* owned; of this campaign; NULL: not grouped yet */
        size_t n;
        double spent; /* seconds, of earlier sessions and this one */
        uint64_t n_seen; /* findings of the campaign when they were grouped last */
};

void campaign_close_reducer(struct campaign *c)
{
        if (!c->reducer)
                return;
        free(c->reducer->list);
        finding_choices_free(c->reducer->choices, c->reducer->n_choices);
        free(c->reducer);
        c->reducer = NULL;
}

/* Reads the state of the finding's reduction. */
static int read_state(const struct reducer *p, const struct observation *finding, struct reducible *f)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_reduction struct reduction known = {0};
        int r = finding_query_reduced(p->campaign->workspace, p->campaign->solver, finding, 1, 0, &q) /* for its key, which has neither time nor jobs */
            ?: reduction_find(q, &known);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        f->seconds = known.seconds;
        f->is_over |= known.has_ended && known.is_minimal;
        return 0;
}

/* Groups the findings anew. The campaign's own keep their turns. */
static int group(struct reducer *p)
{
        struct campaign *c = p->campaign;
        struct finding_choice *choices = NULL;
        struct reducible *list;
        size_t n_choices = 0, n = 0, n_distinct = 0;
        int r;

        pthread_mutex_lock(&c->lock);
        p->n_seen = campaign_count_findings(&c->status);
        pthread_mutex_unlock(&c->lock);
        r = findings_select(c->workspace, c->solver, &choices, &n_choices);
        list = allocate(n_choices, sizeof(*list));
        for (size_t i = 0; r == 0 && i < n_choices; i++) {
                struct reducible *f = &list[n];

                if (strcmp(choices[i].finding->origin, c->settings->name) != 0)
                        continue;
                for (size_t k = 0; k < p->n; k++)
                        if (p->list[k].choice->finding->number == choices[i].finding->number)
                                *f = p->list[k];
                r = read_state(p, choices[i].finding, f);
                if (!p->list) /* the first time: by earlier sessions */
                        p->spent += f->seconds;
                f->choice = &choices[i];
                n_distinct += choices[i].is_representative;
                n++;
        }
        if (r < 0) {
                free(list);
                finding_choices_free(choices, n_choices);
                return r;
        }
        free(p->list);
        finding_choices_free(p->choices, p->n_choices);
        p->choices = choices;
        p->n_choices = n_choices;
        p->list = list;
        p->n = n;
        pthread_mutex_lock(&c->lock);
        c->status.distinct = n_distinct;
        pthread_mutex_unlock(&c->lock);
        return 0;
}

static double seconds_left(const struct reducer *p)
{
        return p->campaign->settings->reduce_seconds - p->spent;
}

static bool is_open(const struct reducible *f)
{
        return f->choice->is_representative && !f->is_over;
}

/* Bytes of the smallest known input. */
static uint64_t size_of(const struct reducible *f)
{
        return f->choice->reduced > 0 ? f->choice->reduced : f->choice->size;
}

/* The finding to be reduced next: of the open ones, those with the fewest turns; of these the smallest. *ret_n: how many have so few turns. */
static struct reducible *choose(const struct reducer *p, size_t *ret_n)
{
        struct reducible *best = NULL;

        *ret_n = 0;
        for (size_t i = 0; i < p->n; i++) {
                struct reducible *f = &p->list[i];

                if (!is_open(f) || (best && f->turns > best->turns))
                        continue;
                *ret_n = best && f->turns == best->turns ? *ret_n + 1 : 1;
                if (!best || f->turns < best->turns || size_of(f) < size_of(best))
                        best = f;
        }
        return best;
}

static int reduce_one(struct reducer *p, struct reducible *f, double seconds)
{
        struct campaign *c = p->campaign;
        const struct observation *o = f->choice->finding;
        const unsigned jobs = campaign_is_over(c) ? c->settings->jobs : 1;
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        double before = f->seconds;
        uint64_t began = now_ns();
        int r = finding_query_reduced(c->workspace, c->solver, o, (uint64_t)((before + seconds) * 1e9), jobs, &q)
            ?: engine_get(c->engine, q, PRIORITY_BATCH, COMPUTE_IF_UNKNOWN, c->cancel_fd, &v);

        if (r == 0) {
                const struct reduction *reduction = &((struct reduced_value *)v)->reduction;

                campaign_say(c, "reduced%s %s/%u: %s%zu of %zu bytes", reduction->is_minimal ? "" : " so far", observation_folder(o->kind), o->number,
                             reduction->implied.size > 0 ? "what it follows from is " : "", reduction->text.size, (size_t)reduction->before);
        } else if (r != -ECANCELED && r != -ENOSPC && r != -ENOMEM) { /* a finding that cannot be reduced does not end the others */
                f->is_over = true;
                campaign_say(c, "not reduced: %s/%u: %s", observation_folder(o->kind), o->number, error_message(r));
                r = 0;
        }
        if (r == 0)
                r = read_state(p, o, f);
        f->turns++;
        p->spent += (double)(now_ns() - began) / 1e9;
        f->is_over |= f->seconds <= before; /* an earlier call had allowed it more time already */
        return r;
}

/* -- while it searches for inputs -- */

/* Called under the lock, which it leaves while it works. 1: nothing to do until more is found. */
static int take_turn(struct reducer *p)
{
        struct campaign *c = p->campaign;
        struct reducible *next;
        double seconds;
        size_t n;
        int r;

        pthread_mutex_unlock(&c->lock);
        r = group(p);
        next = r == 0 && seconds_left(p) > 0 ? choose(p, &n) : NULL;
        pthread_mutex_lock(&c->lock);
        if (!next)
                return r < 0 ? r : 1;
        campaign_begin_turn(c, BESIDE_REDUCER);
        if (c->is_over)
                return 1;
        /* at least as long as the search had the core, which is often minutes while it confirms candidates */
        seconds = ldexp(fmin(c->settings->reduce_seconds / QUICK_SHARES, QUICK_MOST), (int)MIN(next->turns, 10U));
        seconds = fmin(fmax(seconds, (double)c->turns.most / 1e9), seconds_left(p));
        pthread_mutex_unlock(&c->lock);
        r = reduce_one(p, next, seconds);
        pthread_mutex_lock(&c->lock);
        campaign_end_turn(c, BESIDE_REDUCER);
        return r;
}

static void *reduce_beside(void *user)
{
        struct reducer *p = user;
        struct campaign *c = p->campaign;
        int r = 1;

        pthread_mutex_lock(&c->lock);
        while (r >= 0) {
                while (!c->is_over && r == 1 && campaign_count_findings(&c->status) == p->n_seen)
                        pthread_cond_wait(&c->changed, &c->lock);
                if (c->is_over)
                        break;
                r = take_turn(p);
        }
        pthread_mutex_unlock(&c->lock);
        if (r < 0 && r != -ECANCELED)
                campaign_say(c, "not reduced: %s", error_message(r));
        return NULL;
}

int campaign_start_reducer(struct campaign *c)
{
        if (c->settings->reduce_seconds <= 0)
                return 0;
        c->reducer = allocate(1, sizeof(*c->reducer));
        c->reducer->campaign = c;
        return campaign_start_beside(c, BESIDE_REDUCER, reduce_beside, c->reducer);
}

/* -- at its end -- */

int campaign_reduce_all(struct campaign *c)
{
        struct reducer *p = c->reducer;
        size_t n, n_open = 0;
        int r;

        if (!p)
                return 0;
        r = group(p);
        while (r == 0 && seconds_left(p) > 0) {
                struct reducible *next = choose(p, &n);

                if (!next)
                        break;
                r = reduce_one(p, next, seconds_left(p) / (double)MIN(n, SHARES_MOST)) ?: group(p);
        }
        if (r < 0 && r != -ECANCELED)
                campaign_say(c, "not reduced: %s", error_message(r));
        if (r < 0)
                return r;
        for (size_t i = 0; i < p->n; i++)
                n_open += is_open(&p->list[i]);
        campaign_say_open(c, n_open, "reduced", c->settings->reduce_seconds, "--reduce-for", "the same command with more goes on");
        if (p->n > 0)
                campaign_say(c, "%zu finding%s come%s to %" PRIu64 " to report", p->n, p->n == 1 ? "" : "s", p->n == 1 ? "s" : "",
                             c->status.distinct);
        return 0;
}
