/* Reads known runs as pairs, has them judged, and plans the runs that are missing. */
#include "core/study/compare/comparing.h"

#include <math.h>

#include "core/query/programs.h"
#include "core/query/scrambled.h"

/* Two measurements are a pair if they ended at most this far apart: a minute, and some runs of the slower one. */
#define APART_SECONDS 60
#define APART_RUNS    6
/* Pairs torn apart by other runs in between are measured again; at most this many times the wanted number of pairs are asked for. */
#define PATIENCE 2

struct want {
        size_t index; /* of the case */
        size_t pair;  /* its number */
        int side;
        uint32_t sample; /* 0: the run itself */
};

/* The pairs of a case, and their origin. */
struct evidence {
        struct judge_pair *pairs;
        size_t n_pairs;             /* up to the last known one */
        uint32_t next[JUDGE_PAIRS]; /* of each pair: the first sample number that neither version has */
        bool is_taken[JUDGE_PAIRS]; /* the pair was taken in turn */
        struct case_info *scrambled[JUDGE_PAIRS]; /* under the seed of that pair; NULL: not looked up */
        bool is_repeated;                         /* its pairs are repetitions */
        size_t asked;                             /* pairs asked for by us */
};

struct comparing {
        struct comparing_options options;
        struct comparing_table table;
        struct evidence *evidence; /* [options.n] */
        size_t n_families;
        struct want *wants; /* of this batch */
        size_t n_wants;
        bool began, repeating;
};

void comparing_free(struct comparing *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->options.n; i++) {
                free(c->evidence[i].pairs);
                for (size_t k = 0; k < JUDGE_PAIRS; k++)
                        case_info_unref(c->evidence[i].scrambled[k]);
                case_info_unref(c->options.cases[i]);
        }
        for (size_t i = 0; i < c->n_families; i++)
                free(c->table.families[i]);
        judgement_done(&c->table.judgement);
        for (int side = 0; side < 2; side++) {
                solver_unref(c->options.version[side].solver);
                free(c->table.label[side]);
                fact_unref(c->table.not_started[side]);
        }
        free(c->table.families);
        free((void *)c->options.cases);
        free((void *)c->options.set);
        free((void *)c->options.machine);
        free(c->table.cases);
        free(c->evidence);
        free(c->table.values);
        free(c->table.order);
        free(c->table.why_not_scrambled);
        free(c->wants);
        free(c);
}

/* Refuses versions on two machines, whose times cannot be compared. */
static int refuse_two_machines(const struct comparing_options *o)
{
        const struct comparing_version *v = o->version;
        char machines[2][PATH_SIZE];
        bool known[2];

        for (int side = 0; side < 2; side++)
                known[side] = cell_machine(&(struct cell){.solver = v[side].solver, .machine = o->machine}, machines[side]);
        if (v[0].solver->pool == v[1].solver->pool || (known[0] && known[1] && strcmp(machines[0], machines[1]) == 0))
                return 0;
        for (int side = 0; side < 2; side++)
                if (!known[side])
                        snprintf(machines[side], PATH_SIZE, "the cluster %s", v[side].solver->pool->name);
        return errorf(-EXDEV,
                      "runs of %s are done on %s, and those of %s on %s: two machines are not compared; 'solverfs compare --machine NAME' compares "
                      "what is known of one",
                      v[0].solver->recipe->name, machines[0], v[1].solver->recipe->name, machines[1]);
}

/* -- families: the folders of the cases' names ------------------------------------------------------------------------ */

static size_t family_size(const struct case_info *info)
{
        const char *slash = strrchr(info->name, '/');

        return slash ? (size_t)(slash - info->name) : 0;
}

static int compare_families(const void *a, const void *b, void *user)
{
        struct case_info *const *cases = user;
        const struct case_info *x = cases[*(const size_t *)a], *y = cases[*(const size_t *)b];
        size_t n = family_size(x), m = family_size(y);

        return memcmp(x->name, y->name, MIN(n, m)) ?: ORDER(n, m);
}

/* Gives each case its family, by a sorted list of all. A single family is the set itself. */
static void find_families(struct comparing *c)
{
        struct case_info **cases = (struct case_info **)c->options.cases;

        for (size_t i = 0; i < c->options.n; i++)
                c->table.order[i] = i;
        qsort_r(c->table.order, c->options.n, sizeof(*c->table.order), compare_families, cases);
        for (size_t k = 0; k < c->options.n; k++) {
                struct case_info *info = cases[c->table.order[k]];

                if (k == 0 || compare_families(&c->table.order[k - 1], &c->table.order[k], cases) != 0)
                        list_add(c->table.families, c->n_families,
                                 family_size(info) > 0 ? copy_prefix(info->name, family_size(info)) : copy_string("."));
                c->table.cases[c->table.order[k]].family = c->n_families - 1;
        }
}

/* -- making ------------------------------------------------------------------------------------------------------- */

int comparing_cases(struct workspace *w, const char *set, const struct comparing_version version[2], struct case_selection *ret)
{
        int r = cases_select_set(w, set, ret);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        for (int side = 0; side < 2; side++)
                case_selection_keep(ret, version[side].solver->recipe->format);
        return 0;
}

/* The commit's sha, and the shortest tag on it in the label. */
static int name_version(const struct comparing_version *v, char ret_sha[GIT_OID_HEXSZ + 1], char **ret_label)
{
        cleanup(ref_list_unrefp) struct ref_list *refs = NULL;
        cleanup_buffer struct buffer label = {0};
        const char *tag = NULL;
        int r = history_refs(v->solver->history, &refs);

        if (r < 0)
                return r;
        memcpy(ret_sha, full_sha(v->solver, v->commit).s, GIT_OID_HEXSZ + 1);
        for (size_t i = 0; i < refs->n; i++)
                if (refs->list[i].kind == REF_TAG && refs->list[i].commit == v->commit && (!tag || strlen(refs->list[i].name) < strlen(tag)))
                        tag = refs->list[i].name;
        if (!v->solver->recipe->is_programs)
                buffer_addf(&label, "%s ", v->solver->recipe->name);
        if (tag)
                buffer_add_printable(&label, tag);
        else
                buffer_addf(&label, "%.12s", ret_sha);
        *ret_label = steal_pointer(label.data);
        return 0;
}

int comparing_new(const struct comparing_options *options, struct comparing **ret)
{
        cleanup_comparing struct comparing *c = NULL;
        struct case_info **cases;
        bool has_seeds = true;
        int r = refuse_two_machines(options);

        if (r < 0)
                return r;
        c = allocate(1, sizeof(*c));
        c->options = *options;
        c->options.most_pairs = MAX(1, MIN(options->most_pairs, (size_t)JUDGE_PAIRS));
        cases = allocate(options->n + 1, sizeof(*cases));
        c->options.cases = cases;
        c->options.set = options->set ? copy_string(options->set) : NULL;
        c->options.machine = options->machine ? copy_string(options->machine) : NULL;
        for (size_t i = 0; i < options->n; i++)
                cases[i] = case_info_ref(options->cases[i]);
        c->table.cases = allocate(options->n + 1, sizeof(*c->table.cases));
        c->evidence = allocate(options->n + 1, sizeof(*c->evidence));
        c->table.values = allocate(options->n + 1, sizeof(*c->table.values));
        c->table.order = allocate(options->n + 1, sizeof(*c->table.order));
        for (int side = 0; side < 2; side++)
                solver_ref(c->options.version[side].solver);
        for (int side = 0; side < 2 && r == 0; side++) {
                const struct comparing_version *v = &options->version[side];

                has_seeds &= solver_recipe_at(v->solver, v->commit)->seed != NULL;
                r = name_version(v, c->table.sha[side], &c->table.label[side]);
        }
        if (r < 0)
                return r;
        c->table.options = &c->options;
        c->table.chance = has_seeds                                      ? COMPARING_SEEDS
                          : options->scramble != COMPARING_SCRAMBLE_NEVER ? COMPARING_SCRAMBLED
                                                                          : COMPARING_REPETITIONS;
        for (size_t i = 0; i < options->n; i++)
                c->evidence[i].is_repeated = c->table.chance == COMPARING_REPETITIONS;
        find_families(c);
        *ret = steal_pointer(c);
        return 0;
}

const struct comparing_table *comparing_table(const struct comparing *c)
{
        return &c->table;
}

double comparing_seconds(const struct comparing_table *t, size_t i, int side)
{
        const struct judge_run *first = t->cases[i].n_pairs > 0 ? &t->cases[i].pairs[0].run[side] : NULL;
        double median = t->judgement.cases ? t->judgement.cases[i].by[JUDGE_TIME].median[side] : NAN;
        bool is_first = !first || first->is_wrong || isnan(median); /* a wrong answer counts as its limit in the median */

        return t->values[i].is_shown || is_first ? t->values[i].seconds[side] : median;
}

/* -- the cells of a pair ------------------------------------------------------------------------------------------ */

/* The case under the seed of a pair, borrowed. -ENOENT: it was never made; with `make` it is. -ENOTSUP: it cannot be scrambled. */
static int scrambled_case(struct comparing *c, size_t i, size_t pair, bool make, struct case_info **ret)
{
        struct case_info *of = c->options.cases[i], **kept = &c->evidence[i].scrambled[pair], *found = NULL;
        struct workspace *w = c->options.workspace;
        struct digest digest;
        int r = 0;

        if (!*kept || make)
                r = scrambled_find(w, of, pair, &found);
        if (found && make && cases_renew(workspace_cases(w), found) == -EILSEQ) { /* damaged bytes are made again */
                found = case_info_unref(found);
                r = -ENOENT;
        }
        if (r == -ENOENT && make)
                r = scrambled_make(w, of, pair, &found);
        else if (r == -ENOENT && c->options.scramble == COMPARING_SCRAMBLE) /* whether it can be scrambled must be known before pairs are planned */
                r = scrambled_digest(w, of, pair, &digest) ?: -ENOENT;
        if (found) {
                case_info_unref(*kept);
                *kept = found;
        }
        *ret = *kept;
        return r;
}

/* The cell of a version under a pair's seed; the errors are those of scrambled_case(). */
static int cell_of(struct comparing *c, size_t i, size_t pair, int side, bool make, struct cell *ret)
{
        const struct comparing_version *v = &c->options.version[side];
        struct case_info *info = c->options.cases[i];
        bool is_scrambled = c->table.chance == COMPARING_SCRAMBLED && pair > 0;
        int r = is_scrambled ? scrambled_case(c, i, pair, make, &info) : 0;

        *ret = (struct cell){.solver = v->solver,
                             .commit = v->commit,
                             .info = info,
                             .has_seed = c->options.has_seed,
                             .seed = c->options.seed,
                             .scramble = is_scrambled ? pair : 0,
                             .wall_ns = c->options.wall_ns,
                             .machine = c->options.machine};
        if (c->table.chance == COMPARING_SEEDS)
                cell_draw(ret, (uint32_t)pair);
        return r;
}

/* -- reading ------------------------------------------------------------------------------------------------------ */

struct measurement { /* of one version */
        uint32_t number;
        int64_t measured;
        double wall; /* seconds of wall-clock time */
        struct judge_run run;
};
struct measurements {
        const struct recipe *recipe;
        double limit, cpu_limit;
        bool has_effort;
        double seconds; /* of the cell's value */
        int64_t newest;
        struct fact **not_started; /* of the table */
        struct measurement *list; /* by number */
        size_t n;
};

static int add_measurement(void *user, uint32_t number, const struct fact *f)
{
        struct measurements *l = user;

        list_grow(l->list, l->n);
        l->list[l->n++] = (struct measurement){.number = number,
                                         .measured = f->measured,
                                         .wall = (double)f->wall_ns / 1e9,
                                         .run = {.is_known = true,
                                                 .is_wrong = f->wrong,
                                                 .is_uncertain = f->uncertain_from > 0,
                                                 .disturbed = f->disturbed,
                                                 .verdict = f->verdict,
                                                 .limit = l->limit,
                                                 .cpu_limit = l->cpu_limit,
                                                 .seconds = fact_seconds(f),
                                                 .cpu_seconds = (double)f->cpu_ns / 1e9,
                                                 .memory = (double)f->memory,
                                                 .effort = l->has_effort ? fact_effort(f, l->recipe) : NAN}};
        return 0;
}

/* True if both versions count effort alike: a variant as its solver, a library within a host as the host; other solvers count differently. */
static bool counts_alike(const struct comparing *c)
{
        const struct recipe *a = c->options.version[0].solver->recipe, *b = c->options.version[1].solver->recipe;
        const struct slice in[2] = {recipe_submodule(a->within ?: "").repository, recipe_submodule(b->within ?: "").repository};

        return !a->is_programs && strcmp(a->base ?: a->name, b->base ?: b->name) == 0 && same_bytes(in[0], in[1]);
}

/* All measurements of the cell. */
static int read_measurements(struct comparing *c, const struct cell *cell, struct measurements *ret)
{
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct recipe_limits limits;
        int r;

        ret->recipe = cell->solver->recipe;
        ret->has_effort = counts_alike(c) && cell->solver->recipe->effort[0];
        r = run_find(c->options.workspace, cell, !ret->has_effort, &f);
        if (r < 0 && r != -ENOENT)
                return r;
        ret->seconds = f ? fact_seconds(f) : NAN;
        ret->newest = f ? fact_moment(f) : 0;
        if (f && f->not_started && !*ret->not_started)
                *ret->not_started = fact_ref(f);
        cell_limits(cell, &limits);
        if (f && cell->machine && cell->wall_ns == 0)
                limits = f->limits;
        ret->limit = (double)limits.wall_ns / 1e9;
        ret->cpu_limit = (double)limits.cpu_ns / 1e9;
        if (cell->machine) /* of a named machine only the value is known */
                r = f ? add_measurement(ret, 0, f) : 0;
        else
                r = samples_known(c->options.workspace, cell, !ret->has_effort, add_measurement, ret);
        return r == -ENOENT ? 0 : r;
}

/* True if the two are close enough in time to be a pair. */
static bool in_turn(const struct measurement *a, const struct measurement *b)
{
        int64_t apart = a->measured > b->measured ? a->measured - b->measured : b->measured - a->measured;

        return (double)apart <= APART_SECONDS + APART_RUNS * fmax(a->wall, b->wall);
}

static void add_pair(struct comparing *c, struct evidence *e, size_t at, const struct measurement *a, const struct measurement *b)
{
        while (e->n_pairs <= at)
                list_add(e->pairs, e->n_pairs, (struct judge_pair){0});
        if (a)
                e->pairs[at].run[0] = a->run;
        if (b)
                e->pairs[at].run[1] = b->run;
        c->table.newest = MAX(c->table.newest, MAX(a ? a->measured : 0, b ? b->measured : 0));
}

/* How many earlier pairs have the same input as this one. Two seeds may scramble a small case to the same bytes, and the same bytes have the same runs,
 * so of these pairs each has measurements of its own. `missing`: only those not taken yet. */
static size_t same_inputs(const struct comparing *c, size_t i, size_t pair, bool missing)
{
        const struct evidence *e = &c->evidence[i];
        size_t n = 0;

        for (size_t k = 0; e->scrambled[pair] && k < pair; k++) {
                const struct case_info *other = k == 0 ? c->options.cases[i] : e->scrambled[k];

                n += other && digest_equal(&other->sha256, &e->scrambled[pair]->sha256) && !(missing && e->is_taken[k]);
        }
        return n;
}

/* Takes the measurements made in turn: all of them if the case's pairs are repetitions, else the first that no earlier pair has. */
static void match_pairs(struct comparing *c, size_t i, size_t pair, const struct measurements *a, const struct measurements *b)
{
        struct evidence *e = &c->evidence[i];
        size_t at = pair, taken = same_inputs(c, i, pair, false);

        for (size_t x = 0, y = 0; x < a->n && y < b->n && at < JUDGE_PAIRS;) {
                const struct measurement *before = &a->list[x], *after = &b->list[y];

                x += before->number <= after->number;
                y += after->number <= before->number;
                if (before->number != after->number || !in_turn(before, after) || (at > pair && !e->is_repeated))
                        continue;
                if (taken > 0) {
                        taken--;
                        continue;
                }
                add_pair(c, e, at, before, after);
                e->is_taken[at++] = true;
        }
        if (at == 0) /* measurements not made in turn still show the two answers */
                add_pair(c, e, 0, a->n > 0 ? a->list : NULL, b->n > 0 ? b->list : NULL);
}

/* A named machine's results may have any limits. If the two versions had different time limits, both are read under the lesser: answers that need the
 * longer one are not compared. */
static int read_lesser(struct comparing *c, struct cell cells[2], struct measurements taken[2])
{
        double lesser = fmin(taken[0].limit, taken[1].limit);
        int r = 0;

        for (int side = 0; side < 2 && r == 0 && c->options.machine && taken[0].n > 0 && taken[1].n > 0 && lesser > 0; side++) {
                if (taken[side].limit <= lesser)
                        continue;
                taken[side].n = 0;
                free(steal_pointer(taken[side].list));
                cells[side].wall_ns = seconds_ns(lesser);
                r = read_measurements(c, &cells[side], &taken[side]);
        }
        return r;
}

/* 1: something is known of the pair, by either version. */
static int read_pair(struct comparing *c, size_t i, size_t pair)
{
        struct measurements taken[2] = {0};
        struct evidence *e = &c->evidence[i];
        struct cell cells[2];
        int r = 0;

        e->next[pair] = 0;
        for (int side = 0; side < 2 && r == 0; side++) {
                taken[side].seconds = NAN;
                taken[side].not_started = &c->table.not_started[side];
                r = cell_of(c, i, pair, side, false, &cells[side]) ?: read_measurements(c, &cells[side], &taken[side]);
        }
        if (r == -ENOENT) /* the scrambled input was never made */
                return 0;
        if (r == 0)
                r = read_lesser(c, cells, taken);
        for (int side = 0; side < 2; side++)
                if (taken[side].n > 0)
                        e->next[pair] = MAX(e->next[pair], taken[side].list[taken[side].n - 1].number + 1);
        for (int side = 0; side < 2 && pair == 0; side++) {
                c->table.values[i].seconds[side] = taken[side].seconds;
                c->table.newest = MAX(c->table.newest, taken[side].newest);
        }
        if (r == 0) {
                match_pairs(c, i, pair, &taken[0], &taken[1]);
                r = taken[0].n + taken[1].n > 0;
        }
        free(taken[0].list);
        free(taken[1].list);
        return r;
}

/* True if both versions' first runs have one key: there is nothing to compare. */
static bool is_same_program(struct comparing *c, size_t i)
{
        uint8_t keys[2][RUN_KEY_SIZE];
        struct cell cells[2];

        for (int side = 0; side < 2; side++)
                if (cell_of(c, i, 0, side, false, &cells[side]) < 0 || run_key(c->options.workspace, &cells[side], keys[side]) < 0)
                        return false;
        return memcmp(keys[0], keys[1], RUN_KEY_SIZE) == 0;
}

static int read_case(struct comparing *c, size_t i)
{
        struct evidence *e = &c->evidence[i];
        struct judge_case *of = &c->table.cases[i];
        bool was_repeated = e->is_repeated;
        int r;

        e->n_pairs = 0;
        free(steal_pointer(e->pairs));
        memset(e->is_taken, 0, sizeof(e->is_taken));
        r = read_pair(c, i, 0);
        of->is_same_program = r > 0 && is_same_program(c, i);
        for (size_t k = 1; r > 0 && k < c->options.most_pairs && !e->is_repeated && !of->is_same_program; k++) {
                r = read_pair(c, i, k);
                if (r == -ENOTSUP && c->table.chance == COMPARING_SCRAMBLED) { /* a case that cannot be scrambled is repeated */
                        e->is_repeated = true;
                        if (!c->table.why_not_scrambled)
                                c->table.why_not_scrambled = format_string("%s: %s", c->options.cases[i]->name, error_message(r));
                        c->table.repeated++;
                        r = 0;
                }
        }
        if (r >= 0 && c->options.scramble == COMPARING_SCRAMBLE_KNOWN && c->table.chance == COMPARING_SCRAMBLED && e->n_pairs <= 1)
                e->is_repeated = true; /* no pair of scrambled inputs is known */
        if (r >= 0 && e->is_repeated && !was_repeated)
                return read_case(c, i);
        c->table.values[i].is_shown = e->is_repeated;
        of->pairs = e->pairs;
        of->n_pairs = e->n_pairs;
        return MIN(r, 0);
}

static int compare_changes(const void *a, const void *b, void *judgement)
{
        const struct judgement *j = judgement;
        size_t x = *(const size_t *)a, y = *(const size_t *)b;

        return judge_order(&j->cases[x], &j->cases[y], j->options.measure) ?: ORDER(x, y);
}

/* True if the seed changes nothing: on every case with five seeds or more, the effort is one number. */
static bool is_idle(const struct comparing *c, int side)
{
        size_t n_cases = 0;

        for (size_t i = 0; i < c->options.n && c->table.chance == COMPARING_SEEDS; i++) {
                const struct judge_case *of = &c->table.cases[i];
                double effort = NAN;
                size_t n = 0;

                for (size_t k = 0; k < of->n_pairs; k++) {
                        const struct judge_run *run = &of->pairs[k].run[side];

                        if (!run->is_known || !(run->effort > 0))
                                continue;
                        if (n++ > 0 && run->effort != effort)
                                return false;
                        effort = run->effort;
                }
                n_cases += n >= JUDGE_FIRST_PAIRS;
        }
        return n_cases > 0;
}

static void judge_all(struct comparing *c)
{
        size_t n = c->options.n;
        struct judge_options o = {.measure = c->options.measure,
                                  .most_pairs = c->options.most_pairs,
                                  .most_wanted = c->options.most_wanted,
                                  .n_families = c->n_families > 1 ? c->n_families : 0};

        judgement_done(&c->table.judgement);
        judge(c->table.cases, n, &o, &c->table.judgement);
        for (int side = 0; side < 2; side++)
                c->table.idle_seed[side] = is_idle(c, side);
        for (size_t i = 0; i < n; i++)
                c->table.order[i] = i;
        qsort_r(c->table.order, n, sizeof(*c->table.order), compare_changes, &c->table.judgement);
}

static int read_builds(struct comparing *c)
{
        for (int side = 0; side < 2 && !c->options.machine; side++) {
                cleanup(build_record_unrefp) struct build_record *record = NULL;
                const struct comparing_version *v = &c->options.version[side];
                int r = build_find(c->options.workspace, v->solver, v->commit, WITHOUT_LOG, &record);

                if (r < 0 && r != -ENOENT)
                        return r;
                c->table.unbuildable[side] = r == 0 && !record->ok;
        }
        return 0;
}

int comparing_read(struct comparing *c)
{
        int r = read_builds(c);
        bool is_repeated = true;

        for (size_t i = 0; i < c->options.n && r >= 0; i++) {
                r = read_case(c, i);
                is_repeated &= c->evidence[i].is_repeated;
        }
        if (r < 0)
                return r;
        if (c->options.scramble == COMPARING_SCRAMBLE_KNOWN && c->table.chance == COMPARING_SCRAMBLED && is_repeated)
                c->table.chance = COMPARING_REPETITIONS;
        judge_all(c);
        return 0;
}

/* -- asking ------------------------------------------------------------------------------------------------------- */

static bool is_known(const struct comparing *c, size_t i, int side)
{
        return c->table.cases[i].n_pairs > 0 && c->table.cases[i].pairs[0].run[side].is_known;
}

/* The number of pairs to run for a case; 0: it is decided, or was asked for too often. */
static size_t pairs_wanted(const struct comparing *c, size_t i)
{
        const struct judged_case *judged = &c->table.judgement.cases[i];
        bool is_open = judged->change == JUDGE_UNDECIDED || judged->change == JUDGE_DIFFERS;
        size_t wanted = c->options.most_pairs > 1 ? judged->wanted : is_open, has = 0; /* one seed is one pair, in turn */

        for (size_t k = 0; k < JUDGE_PAIRS; k++)
                has += c->evidence[i].is_taken[k];
        return wanted > has && c->evidence[i].asked < PATIENCE * c->options.most_pairs ? wanted - has : 0;
}

/* Both runs of the k-th pair that is missing, under its seed; or under the next number, where pairs are repetitions. */
static void plan_pair(struct comparing *c, size_t i, size_t k)
{
        const struct evidence *e = &c->evidence[i];
        uint32_t sample;
        size_t pair = 0;
        int first;

        for (size_t missing = 0; !e->is_repeated && pair < JUDGE_PAIRS; pair++)
                if (!e->is_taken[pair] && missing++ == k)
                        break;
        if (pair >= c->options.most_pairs)
                return;
        sample = e->is_repeated ? e->next[0] + (uint32_t)k : e->next[pair];
        first = (int)((pair + sample) % 2);
        list_add(c->wants, c->n_wants, (struct want){i, pair, first, sample});
        list_add(c->wants, c->n_wants, (struct want){i, pair, !first, sample});
}

/* A pair of each open case, then the next of each: the pairs of one case are spread over time, and the two runs of a pair are not. */
static void plan_pairs(struct comparing *c)
{
        bool more = true;

        for (size_t k = 0; more; k++) {
                more = false;
                for (size_t i = 0; i < c->options.n; i++) {
                        if (k >= pairs_wanted(c, i))
                                continue;
                        more = true;
                        plan_pair(c, i, k);
                }
        }
}

static int make(void *user, size_t k, struct query **ret)
{
        struct comparing *c = user;
        const struct want *w = &c->wants[k];
        struct cell cell;
        int r = cell_of(c, w->index, w->pair, w->side, true, &cell);

        /* Earlier pairs of this batch with the same input have the numbers before. */
        return r < 0 ? r : query_sample(c->options.workspace, &cell, w->sample + (uint32_t)same_inputs(c, w->index, w->pair, true), ret);
}

static int answered(void *user, size_t k, int r, struct value *, const char *reason)
{
        struct comparing *c = user;
        const struct want *w = &c->wants[k];
        const struct comparing_version *v = &c->options.version[w->side];

        if (r >= 0)
                return 0;
        return errorf(r, "%s %s on case %u: %s", v->solver->recipe->name, commit_label(v->solver, v->commit).s, c->options.cases[w->index]->id,
                      reason ? reason : strerror(-r));
}

/* The first batch has each version's first run, where it is missing; the others have pairs. */
int comparing_next(struct comparing *c, struct batch *ret)
{
        int r = comparing_read(c);
        bool can_run = r == 0 && !c->table.unbuildable[0] && !c->table.unbuildable[1];

        c->n_wants = 0;
        for (size_t i = 0; i < c->options.n && can_run && !c->began; i++)
                for (int side = 0; side < 2; side++)
                        if (!is_known(c, i, side))
                                list_add(c->wants, c->n_wants, (struct want){i, 0, side, 0});
        c->repeating = c->n_wants == 0;
        if (can_run && c->repeating) {
                plan_pairs(c);
                for (size_t i = 0; i < c->options.n; i++)
                        c->evidence[i].asked += pairs_wanted(c, i);
        }
        c->began = true;
        if (r < 0 || c->n_wants == 0)
                return r;
        *ret = (struct batch){.n = c->n_wants, .make = make, .answered = answered, .user = c};
        return 1;
}

void comparing_progress(const struct comparing *c, struct comparing_progress *ret)
{
        *ret = (struct comparing_progress){.asked = c->n_wants, .repeating = c->repeating, .cases = c->options.n};
        for (size_t i = 0; i < c->options.n; i++)
                ret->open_cases += !is_known(c, i, 0) || !is_known(c, i, 1) || pairs_wanted(c, i) > 0;
}
