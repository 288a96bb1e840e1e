/* solverfs findings --seeds: under how many of the solver's seeds each finding reproduces, and how they spread (SPRFinder's Fig. 4). */
#include "ask.h"
#include "cmd_findings.h"

#include "core/study/finding/seeds.h"

struct seeding {
        struct workspace *workspace;
        struct solver *solver;
        bool json;
        struct finding **list; /* refs */
        size_t n, n_without;   /* seeds */
        size_t bins[SEEDS_BINS], answered;
        int error;
};

static int add_finding(void *user, struct finding *f)
{
        struct seeding *s = user;

        if (!finding_has_seeds(s->solver, f)) {
                s->n_without++;
                return 0;
        }
        if (list_grow(s->list, s->n) < 0)
                return -ENOMEM;
        s->list[s->n++] = finding_ref(f);
        return 0;
}

static int make(void *user, size_t i, struct query **ret)
{
        struct seeding *s = user;

        return query_seeds(s->workspace, s->solver, s->list[i], ret);
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        static const struct column columns[] = {{"ID", 5, true}, {"REPRODUCED", 10, true}, {"OF", 2, true}};
        struct seeding *s = user;
        const json_t *result = r == 0 ? ((struct study_value *)v)->result : NULL;
        unsigned n;

        if (r == -ECANCELED)
                return;
        if (r < 0) {
                progress_clear();
                complain("finding %u: %s", s->list[i]->number, reason);
                s->error = s->error ? s->error : r;
                return;
        }
        n = seeds_reproduced(result);
        s->bins[seeds_bin(n)]++;
        s->answered++;
        if (s->json)
                json_row(to, json_pack("{s:i, s:i, s:i, s:O}", "id", (int)s->list[i]->number, "reproduced", (int)n, "of",
                                       SEEDS_MOST, "runs", json_object_get(result, "seeds")));
        else
                table_rowf(to, columns, ARRAY_SIZE(columns), "%u\t%u\t%d", s->list[i]->number, n, SEEDS_MOST);
}

static void show_bins(const struct seeding *s)
{
        cleanup_buffer struct buffer line = {0};

        for (unsigned i = 0; i < SEEDS_BINS; i++)
                buffer_addf(&line, "%s%s seeds: %zu", i > 0 ? ", " : "", seeds_bin_name(i), s->bins[i]);
        note("%s; of %zu finding%s", line.data ? line.data : "", s->answered, s->answered == 1 ? "" : "s");
}

int findings_seeds(struct workspace *w, struct solver *solver, bool json)
{
        struct seeding s = {.workspace = w, .solver = solver, .json = json};
        cleanup_engine struct engine *e = NULL;
        int signals = command_signals(), status = command_engine(w, &e);
        int r = status == STATUS_OK ? findings_each(w, solver->number, "spr", add_finding, &s) : 0;

        if (r == 0 && status == STATUS_OK && s.n > 0)
                r = command_ask(&(struct command_asking){.engine = e,
                                                         .n = s.n,
                                                         .title = "seeds",
                                                         .signals = signals,
                                                         .make = make,
                                                         .answered = answered,
                                                         .user = &s});
        for (size_t i = 0; i < s.n; i++)
                finding_unref(s.list[i]);
        free(s.list);
        if (status != STATUS_OK)
                return status;
        if (s.answered > 0)
                show_bins(&s);
        if (s.n_without > 0)
                note("%zu finding%s no seeds: %s", s.n_without, s.n_without == 1 ? " has" : "s have",
                     solver->recipe->seed ? "solverfs sets none of a program of the machine" : "the recipe has no 'seed'");
        if (r == -EINTR)
                return STATUS_INTERRUPTED;
        return r < 0 && r != -EPIPE ? fail(r) : s.error < 0 ? STATUS_FAILED : STATUS_OK;
}
