/* solverfs steps --at-culprits: measures what steps then reads. */
#include "ask.h"
#include "cmd_steps.h"

#include "core/study/observation/culprits.h"

/* -- which commits -- */

static void add_commit(struct at_culprits *a, uint32_t commit)
{
        for (size_t i = 0; i < a->n_line; i++)
                if (a->line[i] == commit)
                        return;
        a->line[a->n_line++] = commit;
}

static int compare_places(const void *x, const void *y, void *user)
{
        const uint32_t *place = user;
        uint32_t a = place[*(const uint32_t *)x], b = place[*(const uint32_t *)y];

        return (a > b) - (a < b);
}

static int find_line(struct at_culprits *a, const struct culprits *all)
{
        cleanup(commit_order_unrefp) struct commit_order *order = NULL;
        int r = history_order(a->solver->history, &order);

        a->line = calloc(2 * all->n + 1, sizeof(*a->line));
        if (r < 0 || !a->line)
                return fail(r < 0 ? r : -ENOMEM);
        for (size_t i = 0; i < all->n; i++) {
                struct commit c;

                r = history_commit(a->solver->history, all->list[i].commit, &c);
                if (r < 0)
                        return fail(r);
                if (c.first_parent != COMMIT_NONE)
                        add_commit(a, c.first_parent);
                add_commit(a, all->list[i].commit);
        }
        qsort_r(a->line, a->n_line, sizeof(*a->line), compare_places, order->place);
        return STATUS_OK;
}

/* -- which cases -- */

static int add_case(struct at_culprits *a, const struct observation *f)
{
        struct case_selection *cases = &a->cases;

        for (size_t i = 0; i < cases->n; i++)
                if (cases->list[i]->id == f->case_id)
                        return 0;
        if (list_grow(cases->list, cases->n) < 0 || list_grow(a->wall_ns, cases->n) < 0)
                return -ENOMEM;
        a->wall_ns[cases->n] = a->timeout > 0 ? a->timeout : (uint64_t)(f->timeout * 1e9);
        return cases_get(workspace_cases(a->workspace), f->case_id, &cases->list[cases->n]) < 0 ? 0 : (cases->n++, 0);
}

static int choose_cases(struct at_culprits *a, const struct culprits *all)
{
        for (size_t i = 0; i < all->n; i++) {
                cleanup_observation struct observation *f = NULL;
                int r = observation_get(a->workspace, OF_CAMPAIGNS, a->solver->number, all->list[i].worst, &f);

                if (r == 0)
                        r = add_case(a, f);
                if (r < 0)
                        return fail(r);
        }
        return STATUS_OK;
}

static int find_cases(struct at_culprits *a, const struct culprits *all)
{
        int r;

        if (a->n_words == 0)
                return choose_cases(a, all);
        r = command_cases(a->workspace, a->words, a->n_words, &a->cases);
        a->wall_ns = calloc(a->cases.n + 1, sizeof(*a->wall_ns));
        if (!a->wall_ns)
                return fail(-ENOMEM);
        for (size_t i = 0; i < a->cases.n; i++)
                a->wall_ns[i] = a->timeout;
        return r;
}

/* -- measuring -- */

static int make_run(const struct at_culprits *a, size_t cell_number, uint32_t number, struct query **ret)
{
        struct cell cell = {.solver = a->solver,
                            .commit = a->line[cell_number / a->cases.n],
                            .info = a->cases.list[cell_number % a->cases.n],
                            .has_seed = a->has_seed,
                            .seed = a->seed,
                            .wall_ns = a->wall_ns[cell_number % a->cases.n]};
        uint32_t sample = cell_draw(&cell, number);

        return query_sample(a->workspace, &cell, sample, ret);
}

static void keep(struct at_culprits *a, size_t i, int r, struct value *v, const char *reason)
{
        if (r == 0 && ((struct run_value *)v)->fact)
                a->facts[i] = fact_ref(((struct run_value *)v)->fact);
        if (r < 0 && r != -ECANCELED) {
                progress_clear();
                complain("%s", reason);
        }
}

/* Each cell once, which builds what is not built … */
static int make_first(void *user, size_t i, struct query **ret)
{
        return make_run(user, i, 0, ret);
}

static void first_answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        keep(user, i * AT_CULPRITS_RUNS, r, v, reason);
}

/* … and then again. */
#define MORE (AT_CULPRITS_RUNS - 1)

static int make_more(void *user, size_t i, struct query **ret)
{
        const struct at_culprits *a = user;

        if (!a->facts[i / MORE * AT_CULPRITS_RUNS])
                return -ENODATA; /* it cannot be built */
        return make_run(a, i / MORE, (uint32_t)(i % MORE + 1), ret);
}

static void more_answered(void *user, size_t i, int r, struct value *v, const char *reason, struct buffer *to)
{
        if (r != -ENODATA)
                keep(user, i / MORE * AT_CULPRITS_RUNS + i % MORE + 1, r, v, reason);
}

int at_culprits_measure(struct at_culprits *a)
{
        cleanup_culprits struct culprits all = {0};
        cleanup_engine struct engine *e = NULL;
        int r = culprits_read(a->workspace, a->solver, &all);

        if (r < 0)
                return fail(r);
        if (all.n == 0) {
                complain("no finding of %s is localized to a commit; 'solverfs fuzz' finds and localizes", a->solver->recipe->name);
                return STATUS_FAILED;
        }
        r = find_line(a, &all);
        if (r == STATUS_OK)
                r = find_cases(a, &all);
        if (r == STATUS_OK)
                r = command_engine(a->workspace, &e);
        if (r != STATUS_OK)
                return r;
        a->facts = calloc(a->cases.n * a->n_line * AT_CULPRITS_RUNS + 1, sizeof(*a->facts));
        if (!a->facts)
                return fail(-ENOMEM);
        r = command_ask(&(struct command_asking){.engine = e,
                                                 .n = a->cases.n * a->n_line,
                                                 .title = "steps",
                                                 .signals = a->signals,
                                                 .make = make_first,
                                                 .answered = first_answered,
                                                 .user = a});
        if (r == 0)
                r = command_ask(&(struct command_asking){.engine = e,
                                                         .n = a->cases.n * a->n_line * MORE,
                                                         .title = "steps",
                                                         .signals = a->signals,
                                                         .make = make_more,
                                                         .answered = more_answered,
                                                         .user = a});
        return r == -EINTR ? STATUS_INTERRUPTED : r < 0 ? fail(r) : STATUS_OK;
}

int at_culprits_history(const struct at_culprits *a, size_t i, struct case_history *ret)
{
        *ret = (struct case_history){.solver = solver_ref(a->solver), .info = case_info_ref(a->cases.list[i])};
        for (size_t k = 0; k < a->n_line; k++) {
                struct fact **runs = &a->facts[(k * a->cases.n + i) * AT_CULPRITS_RUNS];
                struct case_point p = {.commit = a->line[k], .on_line = true};

                if (!runs[0])
                        continue;
                if (list_grow(ret->list, ret->n) < 0)
                        return -ENOMEM;
                p.by_seed = calloc(AT_CULPRITS_RUNS, sizeof(*p.by_seed));
                if (!p.by_seed)
                        return -ENOMEM;
                for (; p.n_seeds < AT_CULPRITS_RUNS && runs[p.n_seeds]; p.n_seeds++)
                        p.by_seed[p.n_seeds] = fact_outcome(runs[p.n_seeds], JUDGE_TIME);
                p.fact = fact_ref(runs[0]);
                ret->list[ret->n++] = p;
        }
        return 0;
}

void at_culprits_done(struct at_culprits *a)
{
        for (size_t i = 0; a->facts && i < a->cases.n * a->n_line * AT_CULPRITS_RUNS; i++)
                fact_unref(a->facts[i]);
        free(a->facts);
        free(a->line);
        free(a->wall_ns);
        case_selection_done(&a->cases);
}
