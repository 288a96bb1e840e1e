/* Reducing what a campaign found, at its end, so that findings with one cause are seen to be one (finding_select.h).
 *
 * The reductions share a bounded time. Each finding that stands for others gets an equal part of what is left, the most worth reporting first, and an
 * eighth at least: where the time is short, a few shapes that are small tell more than many that are not. What the quick ones leave goes to those that
 * are not minimal yet. After each reduction the findings are grouped anew, and one that another stands for by now is left as it is. How much earlier
 * sessions used is read from the reductions themselves, which are kept as they go: a campaign that was killed here goes on here. In this one the clock
 * counts: also of what could not be reduced, and of the runs on the input before a reduction begins. */
#include "core/engine/ask.h"
#include "core/study/campaign/campaign_internal.h"
#include "core/study/observation/finding_reduced.h"
#include "core/study/observation/finding_select.h"

#define SHARES_MOST 8

struct reducible {
        struct observation *finding; /* a reference */
        double seconds;          /* that its reduction took so far */
        double earlier, spent;   /* of these those before this pass; and what the pass took for it */
        unsigned turns;          /* that it had in this pass */
        bool is_representative;
        bool is_over; /* minimal, or it cannot be reduced */
};

struct pass {
        struct campaign *campaign;
        struct reducible *list; /* owned; what the campaign found, by rank */
        size_t n;
};

static void pass_done(struct pass *p)
{
        for (size_t i = 0; i < p->n; i++)
                observation_unref(p->list[i].finding);
        free(p->list);
}

/* What is known of it by now. */
static int look(const struct pass *p, struct reducible *f)
{
        cleanup(query_unrefp) struct query *q = NULL;
        cleanup_reduction struct reduction known = {0};
        int r = finding_query_reduced(p->campaign->workspace, p->campaign->solver, f->finding, 1, 0, &q);

        if (r == 0)
                r = reduction_find(q, &known);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        f->seconds = known.seconds;
        f->is_over |= known.has_ended && known.is_minimal;
        return 0;
}

static const struct reducible *find(const struct pass *p, const struct observation *f)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->list[i].finding->number == f->number)
                        return &p->list[i];
        return NULL;
}

static int add_choices(const struct pass *before, const struct finding_choice *choices, size_t n, struct pass *ret)
{
        int r = 0;

        ret->list = calloc(n + 1, sizeof(*ret->list));
        if (!ret->list)
                return -ENOMEM;
        for (size_t i = 0; r == 0 && i < n; i++) {
                struct reducible *f = &ret->list[ret->n];
                const struct reducible *known = find(before, choices[i].finding);

                if (strcmp(choices[i].finding->origin, before->campaign->settings->name) != 0)
                        continue;
                if (known)
                        *f = *known;
                f->finding = observation_ref(choices[i].finding);
                f->is_representative = choices[i].is_representative;
                ret->n++;
                r = look(ret, f);
                if (!known)
                        f->earlier = f->seconds;
        }
        return r;
}

/* Groups them by what is known by now. */
static int group(struct pass *p)
{
        struct pass grouped = {.campaign = p->campaign};
        struct finding_choice *choices = NULL;
        size_t n = 0;
        int r = findings_select(p->campaign->workspace, p->campaign->solver, &choices, &n);

        if (r == 0)
                r = add_choices(p, choices, n, &grouped);
        finding_choices_free(choices, n);
        pass_done(p);
        *p = grouped;
        return r;
}

static double seconds_left(const struct pass *p)
{
        double left = p->campaign->settings->reduce_seconds;

        for (size_t i = 0; i < p->n; i++)
                left -= p->list[i].earlier + p->list[i].spent;
        return left;
}

static bool is_open(const struct reducible *f)
{
        return f->is_representative && !f->is_over;
}

static size_t count_open(const struct pass *p)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                n += is_open(&p->list[i]);
        return n;
}

/* The first of those with the fewest turns, and how many of them there are. NULL: none is open. */
static struct reducible *choose(const struct pass *p, size_t *ret_n)
{
        struct reducible *first = NULL;

        *ret_n = 0;
        for (size_t i = 0; i < p->n; i++) {
                struct reducible *f = &p->list[i];

                if (!is_open(f) || (first && f->turns > first->turns))
                        continue;
                if (!first || f->turns < first->turns) {
                        first = f;
                        *ret_n = 0;
                }
                ++*ret_n;
        }
        return first;
}

/* -- one reduction -- */

struct reducing {
        struct pass *pass;
        struct reducible *finding;
        uint64_t most_ns;
};

static int make(void *user, size_t i, struct query **ret)
{
        struct reducing *r = user;
        struct campaign *c = r->pass->campaign;

        (void)i;
        return finding_query_reduced(c->workspace, c->solver, r->finding->finding, r->most_ns, c->settings->jobs, ret);
}

/* One that cannot be reduced is none of the others' concern. */
static int answered(void *user, size_t i, int r, struct value *v, const char *reason)
{
        struct reducing *reducing = user;
        const struct observation *f = reducing->finding->finding;
        const struct reduction *reduction = r == 0 ? &((struct reduced_value *)v)->reduction : NULL;
        struct campaign *c = reducing->pass->campaign;

        (void)i;
        if (r == -ECANCELED || r == -ENOSPC || r == -ENOMEM)
                return errorf(r, "%s", reason);
        if (r < 0) {
                reducing->finding->is_over = true;
                campaign_say(c, "not reduced: %s/%u: %s", observation_folder(f->kind), f->number, reason);
                return 0;
        }
        campaign_say(c, "reduced %s/%u: %s%zu of %zu bytes%s", observation_folder(f->kind), f->number,
                     reduction->implied.size > 0 ? "what it follows from is " : "", reduction->text.size, (size_t)reduction->before,
                     reduction->is_minimal ? "" : ", its time is over");
        return 0;
}

static int reduce_one(struct pass *p, struct reducible *f, double seconds)
{
        struct campaign *c = p->campaign;
        struct reducing reducing = {.pass = p, .finding = f, .most_ns = (uint64_t)((f->seconds + seconds) * 1e9)};
        double before = f->seconds;
        uint64_t began = now_ns();
        int r = ask_many(c->engine, &(struct asking){.n = 1, .make = make, .answered = answered, .user = &reducing}, PRIORITY_BATCH,
                         c->cancel_fd);

        if (r == 0)
                r = look(p, f);
        f->turns++;
        f->spent += (double)(now_ns() - began) / 1e9;
        f->is_over |= f->seconds <= before; /* somebody allowed it more before */
        return r;
}

/* -- all of them -- */

static int reduce_findings(struct campaign *c)
{
        cleanup(pass_done) struct pass p = {.campaign = c};
        size_t n;
        int r = group(&p);

        while (r == 0 && seconds_left(&p) > 0) {
                struct reducible *next = choose(&p, &n);

                if (!next)
                        break;
                r = reduce_one(&p, next, seconds_left(&p) / (double)MIN(n, SHARES_MOST));
                if (r == 0)
                        r = group(&p);
        }
        if (r == 0)
                campaign_say_open(c, count_open(&p), "reduced", c->settings->reduce_seconds, "--reduce-for", "the same command with more goes on");
        return r;
}

static int count_causes(struct campaign *c)
{
        struct finding_choice *choices = NULL;
        size_t n_choices = 0, n = 0, n_distinct = 0;
        int r = findings_select(c->workspace, c->solver, &choices, &n_choices);

        for (size_t i = 0; i < n_choices; i++)
                if (strcmp(choices[i].finding->origin, c->settings->name) == 0) {
                        n++;
                        n_distinct += choices[i].is_representative;
                }
        finding_choices_free(choices, n_choices);
        if (r < 0)
                return r;
        pthread_mutex_lock(&c->lock);
        c->status.distinct = n_distinct;
        pthread_mutex_unlock(&c->lock);
        if (n > 0)
                campaign_say(c, "%zu finding%s come%s to %zu to report", n, n == 1 ? "" : "s", n == 1 ? "s" : "", n_distinct);
        return 0;
}

int campaign_reduce_all(struct campaign *c)
{
        int r;

        if (c->settings->reduce_seconds <= 0)
                return 0;
        r = reduce_findings(c);
        if (r < 0 && r != -ECANCELED)
                campaign_say(c, "not reduced: %s", error_message(r));
        return r < 0 ? r : count_causes(c);
}
