#include "core/study/campaign/campaign_compare.h"

#include <math.h>

#include "core/study/campaign/campaign_journal.h"
#include "core/study/observation/finding_localized.h"

#define PLOT_POINTS 240

struct reading {
        struct workspace *workspace;
        struct solver *solver;
        struct campaign_curve *curve;
        char **commits; /* distinct ones so far; owned */
        size_t n_commits;
};

static int add_commit(void *user, const struct localized_culprit *c)
{
        struct reading *r = user;

        for (size_t i = 0; i < r->n_commits; i++)
                if (strcmp(r->commits[i], c->commit) == 0)
                        return 0;
        if (list_grow(r->commits, r->n_commits) < 0)
                return -ENOMEM;
        r->commits[r->n_commits] = strdup(c->commit);
        return r->commits[r->n_commits] ? (r->n_commits++, 0) : -ENOMEM;
}

static int add_culprits(struct reading *r, uint32_t number)
{
        cleanup_observation struct observation *f = NULL;
        int k = observation_get(r->workspace, OF_CAMPAIGNS, r->solver->number, number, &f);

        if (k == 0)
                k = finding_culprits(r->workspace, r->solver, f, add_commit, r);
        return k == -ENOENT ? 0 : k; /* not localized yet */
}

static int note_find(void *user, const struct campaign_record *record)
{
        struct reading *r = user;
        struct campaign_curve *c = r->curve;
        size_t n = c->n;
        int k;

        if (record->event != EVENT_SESSION && record->event != EVENT_CAUSE)
                c->worked = record->now;
        if (record->event != EVENT_CONFIRMED || !record->is_find)
                return 0;
        c->has_history |= record->finding > 0;
        k = record->finding > 0 ? add_culprits(r, record->finding) : 0;
        if (k < 0)
                return k;
        if (list_grow(c->at, n) < 0 || list_grow(c->culprits, c->n) < 0)
                return -ENOMEM;
        c->at[c->n] = record->now;
        c->culprits[c->n++] = r->n_commits;
        return 0;
}

int campaign_curve_read(struct workspace *w, struct solver *s, const char *name, struct campaign_curve *ret)
{
        struct reading reading = {.workspace = w, .solver = s, .curve = ret};
        char folder[PATH_SIZE], path[PATH_SIZE];
        int r = campaign_folder(w, s->recipe->name, name, folder);

        *ret = (struct campaign_curve){0};
        if (r == 0)
                r = path_join(path, folder, "journal");
        if (r == 0)
                r = campaign_journal_read(path, note_find, &reading);
        for (size_t i = 0; i < reading.n_commits; i++)
                free(reading.commits[i]);
        free(reading.commits);
        if (r < 0)
                campaign_curve_done(ret);
        return r;
}

void campaign_curve_done(struct campaign_curve *c)
{
        free(c->at);
        free(c->culprits);
        *c = (struct campaign_curve){0};
}

static size_t culprits_of(const struct campaign_curve *c)
{
        return c->n > 0 ? c->culprits[c->n - 1] : 0;
}

static struct campaign_spread spread(const struct campaign_curve *list, size_t n, bool culprits)
{
        struct campaign_spread s = {.least = INFINITY};

        for (size_t i = 0; i < n; i++) {
                double x = (double)(culprits ? culprits_of(&list[i]) : list[i].n);

                s.least = fmin(s.least, x);
                s.most = fmax(s.most, x);
                s.mean += x / (double)n;
        }
        return s;
}

struct campaign_spread campaign_spread_finds(const struct campaign_curve *list, size_t n)
{
        return spread(list, n, false);
}

struct campaign_spread campaign_spread_culprits(const struct campaign_curve *list, size_t n)
{
        return spread(list, n, true);
}

static double height(const struct campaign_curve *c, double seconds, bool culprits)
{
        size_t n = 0;

        while (n < c->n && c->at[n] <= seconds)
                n++;
        return n == 0 ? 0 : culprits ? (double)c->culprits[n - 1] : (double)n;
}

void campaign_curve_plot(const struct campaign_curve *list, size_t n, double seconds, bool culprits, struct plot_series *s)
{
        for (unsigned i = 0; i <= PLOT_POINTS; i++) {
                double x = seconds * i / PLOT_POINTS, mean = 0;

                for (size_t k = 0; k < n; k++)
                        mean += height(&list[k], x, culprits) / (double)n;
                plot_point(s, x, mean, NULL);
        }
}
