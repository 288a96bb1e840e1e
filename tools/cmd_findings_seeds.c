/* solverfs findings --seeds: under how many of the solver's seeds each finding reproduces, and how they spread (SPRFinder's Fig. 4). */
#include "ask.h"
#include "cmd_findings.h"

#include "core/study/observation/seeds.h"

/* Fig. 4's ranges of the number of seeds. */
static const char *const bins[] = {"0", "1-9", "10-19", "20-29", "30"};

static unsigned bin_of(unsigned reproduced)
{
        return reproduced == 0 ? 0 : reproduced == SEEDS_MOST ? ARRAY_SIZE(bins) - 1 : 1 + reproduced / 10;
}

struct seeding {
        struct workspace *workspace;
        struct solver *solver;
        bool json;
        struct observations all;
        size_t n_without; /* seeds */
        size_t counts[ARRAY_SIZE(bins)], answered;
        int error;
};

static bool has_seeds(void *user, const struct observation *f)
{
        return finding_has_seeds(user, f);
}

static int make(void *user, size_t i, struct query **ret)
{
        struct seeding *s = user;

        return query_seeds(s->workspace, s->solver, s->all.list[i], ret);
}

static json_t *run_json(const struct seeds_run *r)
{
        return json_pack("{ss sf}", "result", verdict_name(r->verdict), "seconds", r->seconds);
}

static json_t *runs_json(const struct seeds_value *v)
{
        json_t *list = json_array();

        for (unsigned i = 0; i < SEEDS_MOST; i++)
                json_array_append_new(list, json_pack("{si so so sb}", "seed", (int)i + 1, "reference", run_json(&v->runs[i][0]), "target",
                                                      run_json(&v->runs[i][1]), "reproduces", (int)seeds_reproduces(v, i)));
        return list;
}

static void answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        static const struct column columns[] = {{"ID", 5, true}, {"REPRODUCED", 10, true}, {"OF", 2, true}};
        struct seeding *s = user;
        const struct seeds_value *seeds = (struct seeds_value *)v;
        unsigned n;

        if (r == -ECANCELED)
                return;
        if (r < 0) {
                progress_clear();
                complain("finding %u: %s", s->all.list[i]->number, reason);
                s->error = s->error ? s->error : r;
                return;
        }
        n = seeds_reproduced(seeds);
        s->counts[bin_of(n)]++;
        s->answered++;
        if (s->json)
                json_row(to, json_pack("{s:i, s:i, s:i, s:o}", "id", (int)s->all.list[i]->number, "reproduced", (int)n, "of",
                                       SEEDS_MOST, "runs", runs_json(seeds)));
        else
                table_rowf(to, columns, ARRAY_SIZE(columns), "%u\t%u\t%d", s->all.list[i]->number, n, SEEDS_MOST);
}

static void show_bins(const struct seeding *s)
{
        cleanup_buffer struct buffer line = {0};

        for (unsigned i = 0; i < ARRAY_SIZE(bins); i++)
                buffer_addf(&line, "%s%s seeds: %zu", i > 0 ? ", " : "", bins[i], s->counts[i]);
        note("%s; of %zu finding%s", line.data ? line.data : "", s->answered, s->answered == 1 ? "" : "s");
}

int findings_seeds(struct workspace *w, struct solver *solver, bool json)
{
        struct seeding s = {.workspace = w, .solver = solver, .json = json};
        cleanup_engine struct engine *e = NULL;
        int signals = command_signals(), status = command_engine(w, &e);
        int r = status == STATUS_OK ? observations_read(w, solver->number, "spr", &s.all) : 0;

        s.n_without = s.all.n;
        observations_keep(&s.all, has_seeds, solver);
        s.n_without -= s.all.n;
        if (r == 0 && status == STATUS_OK && s.all.n > 0)
                r = command_ask(&(struct command_asking){.engine = e,
                                                         .n = s.all.n,
                                                         .title = "seeds",
                                                         .signals = signals,
                                                         .make = make,
                                                         .answered = answered,
                                                         .user = &s});
        observations_done(&s.all);
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
