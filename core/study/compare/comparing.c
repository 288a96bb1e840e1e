#include "core/study/compare/comparing.h"

#include <math.h>

#include "core/run/cell_file.h"

/* How far apart in time two measurements may have ended to be one pair: a minute, and some runs of the slower one. */
#define APART_SECONDS 60
#define APART_RUNS    6
/* Pairs that come apart (somebody else's runs came between) are taken again; this often as many as were wanted are asked for at most. */
#define PATIENCE 2

struct want {
        size_t index; /* of the case */
        int side;
        uint32_t sample; /* 0: the run itself */
};

struct comparing {
        struct comparing_options options;
        struct comparing_table table;
        struct comparison_case *cases;
        struct comparison_judgement *judgements;
        size_t *order;
        uint32_t *next_sample; /* [n] the first number that neither version has */
        size_t *asked;         /* [n] pairs asked for by us */
        struct want *wants;    /* of this asking */
        size_t n_wants;
        bool began, repeating;
};

void comparing_free(struct comparing *c)
{
        if (!c)
                return;
        for (size_t i = 0; c->cases && i < c->options.n; i++)
                free(c->cases[i].pairs);
        for (size_t i = 0; c->options.cases && i < c->options.n; i++)
                case_info_unref(c->options.cases[i]);
        solver_unref(c->options.version[0].solver);
        solver_unref(c->options.version[1].solver);
        free((void *)c->options.cases);
        free((void *)c->options.set);
        free((void *)c->options.machine);
        free(c->cases);
        free(c->judgements);
        free(c->order);
        free(c->next_sample);
        free(c->asked);
        free(c->wants);
        free(c);
}

/* A time of one machine says nothing beside a time of another. */
static int refuse_two_machines(const struct comparing_options *o)
{
        const struct comparing_version *v = o->version;
        char machines[2][PATH_SIZE];
        bool known[2];

        for (int side = 0; side < 2; side++)
                known[side] = cell_machine(&(struct cell){.solver = v[side].solver, .machine = o->machine}, machines[side]);
        if (v[0].solver->place == v[1].solver->place || (known[0] && known[1] && strcmp(machines[0], machines[1]) == 0))
                return 0;
        for (int side = 0; side < 2; side++)
                if (!known[side])
                        snprintf(machines[side], PATH_SIZE, "the cluster %s", v[side].solver->place->name);
        return errorf(-EXDEV, "runs of %s are done on %s, and those of %s on %s: two machines are not compared; 'solverfs compare --machine NAME' "
                      "compares what is known of one", v[0].solver->recipe->name, machines[0], v[1].solver->recipe->name, machines[1]);
}

int comparing_new(const struct comparing_options *options, struct comparing **ret)
{
        cleanup_comparing struct comparing *c = NULL;
        struct case_info **cases;
        int r = refuse_two_machines(options);

        if (r < 0)
                return r;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->options = *options;
        cases = calloc(options->n + 1, sizeof(*cases));
        c->options.cases = cases;
        c->options.set = options->set ? strdup(options->set) : NULL;
        c->options.machine = options->machine ? strdup(options->machine) : NULL;
        for (int side = 0; side < 2; side++)
                solver_ref(c->options.version[side].solver);
        for (size_t i = 0; cases && i < options->n; i++)
                cases[i] = case_info_ref(options->cases[i]);
        c->cases = calloc(options->n + 1, sizeof(*c->cases));
        c->judgements = calloc(options->n + 1, sizeof(*c->judgements));
        c->order = calloc(options->n + 1, sizeof(*c->order));
        c->next_sample = calloc(options->n + 1, sizeof(*c->next_sample));
        c->asked = calloc(options->n + 1, sizeof(*c->asked));
        if (!cases || !c->cases || !c->judgements || !c->order || !c->next_sample || !c->asked ||
            (options->set && !c->options.set) || (options->machine && !c->options.machine))
                return -ENOMEM;
        for (size_t i = 0; c->cases && i < options->n; i++)
                c->cases[i].doubts = options->doubts;
        c->table = (struct comparing_table){
                .options = &c->options, .cases = c->cases, .judgements = c->judgements, .order = c->order};
        *ret = steal_pointer(c);
        return 0;
}

const struct comparing_table *comparing_table(const struct comparing *c)
{
        return &c->table;
}

static struct cell cell_of(const struct comparing *c, size_t i, int side)
{
        const struct comparing_version *v = &c->options.version[side];

        return (struct cell){.solver = v->solver,
                             .commit = v->commit,
                             .info = c->options.cases[i],
                             .has_seed = c->options.has_seed,
                             .seed = c->options.seed,
                             .wall_ns = c->options.wall_ns,
                             .machine = c->options.machine};
}

/* -- reading ------------------------------------------------------------------------------------------------------ */

/* `wall_ns` 0: as the comparison's options say. *ret_limit: what the run was given, 0 where it is not known. */
static int read_run(struct comparing *c, size_t i, int side, uint64_t wall_ns, uint64_t *ret_limit)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct cell cell = cell_of(c, i, side);
        struct recipe_limits limits;
        int r;

        *ret_limit = 0;
        cell.wall_ns = wall_ns > 0 ? wall_ns : cell.wall_ns;
        r = run_find(c->options.workspace, &cell, false, &f);
        cell_limits(&cell, &limits);
        c->cases[i].run[side] = (struct comparison_run){.limit = (double)limits.wall_ns / 1e9, .effort = NAN};
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        *ret_limit = cell.machine && cell.wall_ns == 0 ? f->limits.wall_ns : limits.wall_ns;
        c->cases[i].run[side] = (struct comparison_run){.is_known = true,
                                                        .is_wrong = f->wrong,
                                                        .disturbed = f->disturbed,
                                                        .verdict = f->verdict,
                                                        .seconds = fact_seconds(f),
                                                        .limit = (double)*ret_limit / 1e9,
                                                        .effort = fact_effort(f)};
        c->table.newest = MAX(c->table.newest, f->measured);
        return 0;
}

/* A named machine's results are under whatever limits they were measured. Where the two were given different times they are read under the lesser: what
 * only the longer one shows is not compared. */
static int read_runs(struct comparing *c, size_t i)
{
        uint64_t limits[2], lesser;
        int r = read_run(c, i, 0, 0, &limits[0]);

        if (r >= 0)
                r = read_run(c, i, 1, 0, &limits[1]);
        lesser = MIN(limits[0], limits[1]);
        for (int side = 0; side < 2 && r >= 0 && c->options.machine && lesser > 0; side++)
                if (limits[side] > lesser)
                        r = read_run(c, i, side, lesser, &limits[side]);
        return r;
}

struct taken { /* one sample of one version */
        uint32_t number;
        int64_t measured;
        double wall, own; /* seconds: as they passed; without others (fact_seconds()) */
        double effort;    /* NaN: none */
};
struct taken_list {
        double limit;
        bool with_effort;
        struct taken *list; /* by number */
        size_t n;
};

static int take(void *user, uint32_t number, const struct fact *f)
{
        struct taken_list *l = user;
        bool solved = verdict_is_decided(f->verdict) && !f->wrong;

        if (list_grow(l->list, l->n) < 0)
                return -ENOMEM;
        l->list[l->n++] = (struct taken){.number = number,
                                         .measured = f->measured,
                                         .wall = solved ? (double)f->wall_ns / 1e9 : l->limit,
                                         .own = solved ? fact_seconds(f) : l->limit,
                                         .effort = solved && l->with_effort ? fact_effort(f) : NAN};
        return 0;
}

static bool in_turn(const struct taken *a, const struct taken *b)
{
        int64_t apart = a->measured > b->measured ? a->measured - b->measured : b->measured - a->measured;

        return (double)apart <= APART_SECONDS + APART_RUNS * fmax(a->wall, b->wall);
}

static struct comparison_pair pair_of(const struct taken *a, const struct taken *b)
{
        return (struct comparison_pair){.seconds = {fmax(a->own, 1e-6), fmax(b->own, 1e-6)}, .effort = {a->effort, b->effort}};
}

static int match_pairs(struct comparing *c, size_t i, const struct taken_list *a, const struct taken_list *b)
{
        struct comparison_case *of = &c->cases[i];

        for (size_t x = 0, y = 0; x < a->n && y < b->n;) {
                if (a->list[x].number != b->list[y].number) {
                        if (a->list[x].number < b->list[y].number)
                                x++;
                        else
                                y++;
                        continue;
                }
                if (in_turn(&a->list[x], &b->list[y])) {
                        if (list_grow(of->pairs, of->n_pairs) < 0)
                                return -ENOMEM;
                        of->pairs[of->n_pairs++] = pair_of(&a->list[x], &b->list[y]);
                        c->table.newest = MAX(c->table.newest, MAX(a->list[x].measured, b->list[y].measured));
                }
                x++;
                y++;
        }
        return 0;
}

static int read_pairs(struct comparing *c, size_t i)
{
        struct taken_list taken[2] = {0};
        int r = 0;

        free(c->cases[i].pairs);
        c->cases[i].pairs = NULL;
        c->cases[i].n_pairs = 0;
        c->next_sample[i] = 1;
        for (int side = 0; side < 2 && r >= 0; side++) {
                struct cell cell = cell_of(c, i, side);
                struct recipe_limits limits;

                cell_limits(&cell, &limits);
                taken[side].limit = (double)limits.wall_ns / 1e9;
                taken[side].with_effort = c->options.doubts && cell.solver->recipe->effort[0];
                r = samples_known(c->options.workspace, &cell, !taken[side].with_effort, take, &taken[side]);
                if (r == -ENOENT)
                        r = 0;
                if (taken[side].n > 0)
                        c->next_sample[i] = MAX(c->next_sample[i], taken[side].list[taken[side].n - 1].number + 1);
        }
        if (r >= 0)
                r = match_pairs(c, i, &taken[0], &taken[1]);
        free(taken[0].list);
        free(taken[1].list);
        return r;
}

static int read_case(struct comparing *c, size_t i)
{
        uint8_t keys[2][RUN_KEY_SIZE];
        struct cell before = cell_of(c, i, 0), after = cell_of(c, i, 1);
        int r = read_runs(c, i);

        if (r < 0 || !c->cases[i].run[0].is_known || !c->cases[i].run[1].is_known)
                return r;
        c->cases[i].is_same_program = run_key(c->options.workspace, &before, keys[0]) == 0 &&
                                      run_key(c->options.workspace, &after, keys[1]) == 0 &&
                                      memcmp(keys[0], keys[1], RUN_KEY_SIZE) == 0;
        return c->cases[i].is_same_program ? 0 : read_pairs(c, i);
}

static int compare_places(const void *a, const void *b, void *judgements)
{
        const struct comparison_judgement *list = judgements;
        size_t x = *(const size_t *)a, y = *(const size_t *)b;
        int order = comparison_order(&list[x], &list[y]);

        return order != 0 ? order : (x > y) - (x < y);
}

/* A variant counts as its solver does; another solver counts other things. */
static bool counts_alike(const struct comparing *c)
{
        const struct recipe *a = c->options.version[0].solver->recipe, *b = c->options.version[1].solver->recipe;

        return strcmp(a->base ?: a->name, b->base ?: b->name) == 0;
}

static int judge(struct comparing *c)
{
        size_t n = c->options.n;
        bool by_time = c->options.by_time || !counts_alike(c);
        int r = comparison_judge(c->cases, n, c->options.most_pairs, by_time, c->judgements);

        if (r == 0)
                r = comparison_summarize(c->cases, c->judgements, n, &c->table.summary);
        for (size_t i = 0; i < n; i++)
                c->order[i] = i;
        qsort_r(c->order, n, sizeof(*c->order), compare_places, c->judgements);
        return r;
}

static int look_at_builds(struct comparing *c)
{
        for (int side = 0; side < 2 && !c->options.machine; side++) {
                cleanup(build_record_unrefp) struct build_record *record = NULL;
                const struct comparing_version *v = &c->options.version[side];
                int r = build_find(c->options.workspace, v->solver, v->commit, false, &record);

                if (r < 0 && r != -ENOENT)
                        return r;
                c->table.unbuildable[side] = r == 0 && !record->ok;
        }
        return 0;
}

int comparing_read(struct comparing *c)
{
        int r = look_at_builds(c);

        for (size_t i = 0; i < c->options.n && r >= 0; i++)
                r = read_case(c, i);
        return r < 0 ? r : judge(c);
}

/* -- asking ------------------------------------------------------------------------------------------------------- */

static int add_want(struct comparing *c, size_t i, int side, uint32_t sample)
{
        if (list_grow(c->wants, c->n_wants) < 0)
                return -ENOMEM;
        c->wants[c->n_wants++] = (struct want){i, side, sample};
        return 0;
}

static int plan_runs(struct comparing *c)
{
        int r = 0;

        for (size_t i = 0; i < c->options.n; i++)
                for (int side = 0; side < 2 && r == 0; side++)
                        if (!c->cases[i].run[side].is_known)
                                r = add_want(c, i, side, 0);
        return r;
}

static size_t pairs_wanted(const struct comparing *c, size_t i)
{
        size_t wanted = c->judgements[i].wanted, has = c->cases[i].n_pairs;

        return wanted > has && c->asked[i] < PATIENCE * c->options.most_pairs ? wanted - has : 0;
}

/* A pair of each open case, then the next of each: the pairs of one case are spread over time, and the two of a pair are not. */
static int plan_pairs(struct comparing *c)
{
        bool more = true;

        for (uint32_t k = 0; more; k++) {
                more = false;
                for (size_t i = 0; i < c->options.n; i++) {
                        uint32_t number = c->next_sample[i] + k;
                        int first = (int)(number % 2), r;

                        if (k >= pairs_wanted(c, i))
                                continue;
                        more = true;
                        r = add_want(c, i, first, number);
                        if (r == 0)
                                r = add_want(c, i, !first, number);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

static int make(void *user, size_t k, struct query **ret)
{
        struct comparing *c = user;
        const struct want *w = &c->wants[k];
        struct cell cell = cell_of(c, w->index, w->side);

        return query_sample(c->options.workspace, &cell, w->sample, ret);
}

static int answered(void *user, size_t k, int r, struct value *, const char *reason)
{
        struct comparing *c = user;
        const struct comparing_version *v = &c->options.version[c->wants[k].side];
        struct commit commit = {0};

        if (r >= 0)
                return 0;
        history_commit(v->solver->history, v->commit, &commit);
        return errorf(r, "%s %.12s on case %u: %s", v->solver->recipe->name, git_oid_tostr_s(&commit.oid),
                      c->options.cases[c->wants[k].index]->id, reason ? reason : strerror(-r));
}

int comparing_next(struct comparing *c, struct asking *ret)
{
        int r = comparing_read(c);

        c->n_wants = 0;
        if (r == 0 && !c->began && !c->table.unbuildable[0] && !c->table.unbuildable[1])
                r = plan_runs(c);
        c->repeating = c->n_wants == 0;
        if (r == 0 && c->repeating && !c->table.unbuildable[0] && !c->table.unbuildable[1]) {
                r = plan_pairs(c);
                for (size_t i = 0; i < c->options.n; i++)
                        c->asked[i] += pairs_wanted(c, i);
        }
        c->began = true;
        if (r < 0 || c->n_wants == 0)
                return r;
        *ret = (struct asking){.n = c->n_wants, .make = make, .answered = answered, .user = c};
        return 1;
}

void comparing_progress(const struct comparing *c, struct comparing_progress *ret)
{
        *ret = (struct comparing_progress){.asked = c->n_wants, .repeating = c->repeating, .cases = c->options.n};
        for (size_t i = 0; i < c->options.n; i++)
                ret->open_cases += !c->cases[i].run[0].is_known || !c->cases[i].run[1].is_known || c->judgements[i].wanted > 0;
}
