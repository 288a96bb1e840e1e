/* Query run: one commit on one case, and further samples of it. A query whose key is known computes by itself. One that lacks its key (run_query.h)
 * needs that query, once it can be made, and then only reads the value. */
#include "cache/base/json.h"
#include "core/build/era.h"
#include "core/run/measure.h"
#include "core/sandbox/surroundings.h"
#include "core/query/answers.h"
#include "core/query/held.h"
#include "core/query/machines.h"
#include "core/query/programs.h"
#include "core/query/run_query.h"
#include "core/query/scrambled.h"

/* -- what is known -- */

struct value *run_value_new(struct fact *fact, struct build_record *failed)
{
        struct run_value *v = allocate(1, sizeof(*v));

        v->value = (struct value){.type = &query_run_type, .refs = 1};
        v->fact = fact ? fact_ref(fact) : NULL;
        v->build = failed ? build_record_ref(failed) : NULL;
        return &v->value;
}

static void run_value_done(struct value *value)
{
        struct run_value *v = (struct run_value *)value;

        fact_unref(v->fact);
        build_record_unref(v->build);
}

/* Resolves the cell of a query that lacks its key again: its commit may have been built since, or its cluster may have answered. The caller frees
 * `now`. */
static int resolve_now(const struct run_query *q, struct resolved_cell *now, const struct resolved_cell **ret)
{
        *ret = &q->resolved;
        if (!q->lacks_key)
                return 0;
        *ret = now; /* the toolchain of a building cluster is part of the key */
        return cell_resolve(q->workspace, &q->cell, q->cell.solver->builder ? NULL : &q->resolved.build, now);
}

/* The input of the run. -ENOENT: it is scrambled and not made yet. */
static int find_input(const struct run_query *q, struct case_info **ret)
{
        const uint32_t query = q->cell.info->query;
        cleanup(case_info_unrefp) struct case_info *whole = NULL;
        int r;

        if (!q->is_scrambled) {
                *ret = case_info_ref(q->cell.info);
                return 0;
        }
        r = scrambled_find(q->workspace, q->cell.info, q->cell.scramble, &whole);
        if (r == 0)
                *ret = query > 0 && query <= whole->n_expected ? case_info_query(whole, query) : case_info_ref(whole);
        return r;
}

static int find_resolved(const struct run_query *q, const struct resolved_cell *resolved, struct value **ret)
{
        cleanup(build_record_unrefp) struct build_record *failed = NULL;
        cleanup(case_info_unrefp) struct case_info *input = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = find_input(q, &input);

        if (r == 0)
                r = q->is_value ? resolved_find(q->workspace, resolved, input, FACT_WHOLE, &f) : sample_find(q, resolved, &f);
        if (r == -ENOENT && !q->cell.machine) { /* a commit that cannot be built is an answer, too */
                r = build_record_find(q->workspace, q->cell.solver, q->cell.commit, &resolved->build, WITHOUT_LOG, &failed);
                if (r == 0 && failed->ok)
                        r = -ENOENT;
        }
        if (r < 0)
                return r;
        *ret = run_value_new(f, failed);
        return 0;
}

static int run_query_find(struct query *query, struct value **ret)
{
        const struct run_query *q = (const struct run_query *)query;
        cleanup_resolved struct resolved_cell now = {0};
        const struct resolved_cell *resolved;

        return resolve_now(q, &now, &resolved) ?: find_resolved(q, resolved, ret);
}

/* -- what a run needs first -- */

/* The query for a missing build; NULL: it is there. Checks the limits first: a build may take half an hour, and the run must be possible then. */
static int find_missing_build(const struct run_query *q, const struct digest *key, struct query **ret)
{
        cleanup(query_unrefp) struct query *build = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        const struct recipe_limits *l = &q->resolved.limits;
        int r = (q->lacks_key ? query_current_build : query_build_of)(q->workspace, q->cell.solver, q->cell.commit, key, &build);

        if (r == 0)
                r = build->type->find(build, &v);
        if (r != -ENOENT || !build)
                return r;
        r = q->cell.solver->pool ? 0
                                  : surroundings_check(&(struct execute_request){.timed = true,
                                                                                 .stack = l->stack,
                                                                                 .memory = l->memory,
                                                                                 .cpu_ns = l->cpu_ns,
                                                                                 .processes = l->processes});
        if (r == 0)
                *ret = steal_pointer(build);
        return r;
}

static int run_query_new(const struct run_query *asked, const struct digest *build, struct query **ret);

/* Finds the next need of a query that lacks its key: its scrambled input, its build, the first worker of its cluster, and then the run itself, whose
 * key is known by now. *ret stays NULL if the value is there. */
static int find_next_need(const struct run_query *q, struct query **ret)
{
        struct run_query run = {.workspace = q->workspace, .cell = q->cell, .sample = q->sample, .is_value = q->is_value};
        cleanup(case_info_unrefp) struct case_info *input = NULL, *whole = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup_resolved struct resolved_cell now = {0};
        const struct resolved_cell *resolved;
        int r = resolve_now(q, &now, &resolved) ?: find_resolved(q, resolved, &v);

        if (r != -ENOENT)
                return r;
        r = find_input(q, &input);
        if (r < 0)
                return r == -ENOENT ? query_scrambled(q->workspace, q->cell.info, q->cell.scramble, ret) : r;
        if (input->query > 0) {
                r = cases_get(workspace_cases(q->workspace), input->whole, &whole);
                if (r < 0)
                        return r;
        }
        run.cell.info = whole ?: input;
        r = q->is_scrambled ? cases_renew(workspace_cases(q->workspace), run.cell.info) : 0;
        if (r < 0) /* damaged bytes are made again */
                return r == -EILSEQ ? query_scrambled(q->workspace, q->cell.info, q->cell.scramble, ret) : r;
        r = find_missing_build(q, &resolved->build, ret);
        if (r == 0 && !*ret && !resolved->knows_machine)
                r = query_machine(q->cell.solver->pool, ret);
        if (r == 0 && !*ret)
                r = run_query_new(&run, &resolved->build, ret);
        if (r == 0 && whole && (*ret)->type->find(*ret, &v) == 0) /* the whole is known, but not when this query was answered */
                *ret = query_unref(*ret);
        return r;
}

static int run_query_need(struct query *query, struct query_list *ret)
{
        const struct run_query *q = (const struct run_query *)query;
        struct query *first = NULL;
        int r;

        if (q->cell.machine)
                return 0;
        r = q->lacks_key ? find_next_need(q, &first) : find_missing_build(q, &q->resolved.build, &first);
        return r == 0 && first ? query_list_add(ret, first) : r;
}

/* -- the run -- */

/* For run.json. */
static json_t *run_about(const struct run_query *q, const struct build_record *record, const struct digest *program_id)
{
        const struct case_info *info = q->cell.info;
        char built[GIT_OID_HEXSZ + 1];
        struct commit c = {0};

        oid_print(built, sizeof(built), &record->commit);
        history_commit(q->cell.solver->history, q->cell.commit, &c);
        return json_pack("{ss ss ss* ss s{si so ss so} s{ss ss ss sb}}", "solver", q->cell.solver->recipe->name, "repository",
                         q->cell.solver->repository, "within", q->cell.solver->recipe->within, "commit", oid_text(&c.oid), "case", "id",
                         (int)info->id, "name", json_printable(info->name), "sha256", digest_text(&info->sha256).s, "logic",
                         json_printable(info->logic), "build", "key", digest_text(&q->resolved.build).s, "program",
                         digest_text(program_id).s, "commit", built, "clean", 1);
}

void duration_key(const struct run_query *q, char ret[128])
{
        snprintf(ret, 128, "duration/run/%u/%u", q->cell.solver->number, q->cell.info->id);
}

static int measure_programs(const struct run_query *q, struct job *j, const struct build_record *record, json_t *about,
                            struct fact **ret)
{
        cleanup(recipe_unrefp) struct recipe *recipe = recipe_for_format(solver_recipe_at(q->cell.solver, q->cell.commit), q->cell.info->format);
        cleanup_held struct held held = {0};
        cleanup_close int case_fd = -1;
        struct measure_request request;
        char case_path[PATH_SIZE], scratch[PATH_SIZE];
        int r = held_build(q->workspace, record, &held);

        if (r == 0 && q->cell.solver->pool && !job_remote(j)) /* else the result would be stored as one of the cluster's machine */
                r = errorf(-ENOTSUP, "runs of %s are done at %s, and this cannot be done there: add --on local",
                           q->cell.solver->recipe->name, q->cell.solver->pool->name);
        if (r == 0)
                r = cases_open_bytes(workspace_cases(q->workspace), q->cell.info, &case_fd, case_path)
                    ?: path_join(scratch, workspace_dir(q->workspace), "scratch");
        if (r < 0)
                return r;
        request = (struct measure_request){
                .runner.recipe = recipe,
                .runner.limits = q->resolved.limits,
                .runner.programs = held.list,
                .runner.n_programs = held.n,
                .case_path = case_path,
                .case_id = q->cell.info->sha256,
                .expected = q->cell.info->expected,
                .n_expected = q->cell.info->n_expected,
                .runner.has_seed = q->cell.has_seed,
                .runner.seed = q->cell.seed,
                .runner.scratch_parent = scratch,
                .runner.sandbox = workspace_settings(q->workspace)->sandbox,
                .runner.cpus = job_cpus(j),
                .runner.slot = job_slot(j),
                .runner.remote = job_remote(j) ? cluster_slot_remote(job_remote(j)) : NULL,
                .cancel_fd = job_cancel_fd(j),
                .again = job_again(j),
                .about = about,
        };
        request.opened = job_runner(j, &request.runner);
        r = measure(&request, ret);
        job_leave_runner(j, request.opened);
        return r;
}

int run_query_measure(const struct run_query *q, struct job *j, struct fact **ret, struct build_record **ret_failed)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct digest program;
        json_t *about;
        int r = build_record_find(q->workspace, q->cell.solver, q->cell.commit, &q->resolved.build, WITHOUT_LOG, &record);

        if (r < 0)
                return r;
        if (!record->ok) {
                *ret_failed = steal_pointer(record);
                return 0;
        }
        r = build_program_find(q->workspace, &q->resolved.build, &program);
        if (r == 0 && q->resolved.n_programs > 0 && !digest_equal(&program, &q->resolved.programs[0]))
                r = errorf(-EAGAIN, "the commit was built anew meanwhile, and is another program now: ask again");
        if (r < 0)
                return r;
        about = run_about(q, record, &program);
        r = about ? measure_programs(q, j, record, about, ret) : -ENOMEM;
        json_decref(about);
        return r;
}

/* -- the query -- */

static int run_query_compute(struct query *query, struct job *j, struct value **ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(build_record_unrefp) struct build_record *failed = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL, *now = NULL;
        int r;

        if (q->cell.machine)
                return errorf(-ENOENT, "nothing is known of it for %s%s", q->cell.machine,
                              q->cell.wall_ns > 0 ? " that holds under this timeout" : "");
        if (q->lacks_key) {
                r = run_query_find(query, ret);
                return r == -ENOENT && q->cell.info->query > 0
                               ? errorf(-ENOTSUP, "it is not known when the queries of case %u were answered: measure it with 'run --again'",
                                        q->cell.info->whole)
                               : r;
        }
        r = run_query_measure(q, j, &f, &failed);
        if (r == 0 && f)
                r = measurement_keep(q, job_again(j) && q->is_value, f, &now);
        if (r < 0)
                return r;
        *ret = run_value_new(q->is_value ? now : f, failed);
        return 0;
}

enum resource run_query_resource(const struct query *query)
{
        const struct run_query *q = (const struct run_query *)query;

        return q->lacks_key || q->cell.machine ? RESOURCE_DISK /* only reads */
               : q->cell.solver->pool         ? RESOURCE_REMOTE
                                              : RESOURCE_CORE;
}

static struct engine_remote *run_query_remote(const struct query *query, uint64_t *ret_most_ns)
{
        const struct run_query *q = (const struct run_query *)query;

        *ret_most_ns = q->resolved.limits.wall_ns;
        return &q->cell.solver->pool->remote;
}

static bool run_query_estimate(const struct query *query, struct cost *ret)
{
        const struct run_query *q = (const struct run_query *)query;
        char key[128];

        if (run_query_resource(query) == RESOURCE_DISK)
                return false;
        duration_key(q, key);
        *ret = (struct cost){.mean_ns = meta_number(q->workspace, key), .most_ns = q->resolved.limits.wall_ns};
        ret->deviation_ns = ret->mean_ns / 4; /* of another commit; the engine corrects it by what it observes */
        return ret->mean_ns > 0;
}

void run_query_describe(const struct query *query, struct buffer *ret)
{
        const struct run_query *q = (const struct run_query *)query;

        buffer_addf(ret, "run %s %s case %u", q->cell.solver->recipe->name, commit_label(q->cell.solver, q->cell.commit).s, q->cell.info->id);
        if (q->sample > 0)
                buffer_addf(ret, ", sample %u", q->sample + 1);
        if (q->cell.has_seed)
                buffer_addf(ret, " seed %llu", (unsigned long long)q->cell.seed);
        if (q->cell.scramble > 0)
                buffer_addf(ret, " scrambled %llu", (unsigned long long)q->cell.scramble);
        if (q->cell.wall_ns > 0)
                buffer_addf(ret, " timeout %s", format_duration(q->cell.wall_ns).s);
        if (q->cell.cpu_ns > 0)
                buffer_addf(ret, " CPU time %s", format_duration(q->cell.cpu_ns).s);
}

void run_query_done(struct query *query)
{
        struct run_query *q = (struct run_query *)query;

        solver_unref(q->cell.solver);
        case_info_unref(q->cell.info);
        free(q->machine);
        resolved_done(&q->resolved);
}

bool run_query_gone(const struct query *query)
{
        const struct run_query *q = (const struct run_query *)query;

        return solver_is_gone(q->workspace, q->cell.solver);
}

const struct query_type query_run_type = {
        .name = "run",
        .resource_of = run_query_resource,
        .find = run_query_find,
        .need = run_query_need,
        .compute = run_query_compute,
        .describe = run_query_describe,
        .estimate = run_query_estimate,
        .remote = run_query_remote,
        .gone = run_query_gone,
        .query_done = run_query_done,
        .value_done = run_value_done,
};

/* The key of a job: of the run, its limits, the measurement's number + 1 (0: the cell's value), the scrambler's seed and the question. As long as the
 * program is not known, the build's key stands for it; for a named machine, the commit's sources. */
static int query_digest(struct run_query *q)
{
        struct digest program = q->resolved.build;
        uint8_t run[RUN_KEY_SIZE];
        struct hasher *h;
        int r = q->cell.machine ? machine_source_digest(q->cell.solver, q->cell.commit, &program) : 0;

        if (r < 0)
                return r;
        if (q->resolved.n_programs > 0 && !q->cell.machine)
                program = q->resolved.programs[0];
        run_key_of(&program, &q->cell, run);
        h = hasher_new();
        hasher_string(h, q->lacks_key ? "run of what is not known" : q->cell.machine ? "run of another machine" : "run");
        hasher_add(h, run, RUN_KEY_SIZE);
        for (size_t i = 0; i < N_LIMITS; i++)
                hasher_number(h, limit_list(&q->resolved.limits)[i]);
        hasher_number(h, q->is_value ? 0 : q->sample + UINT64_C(1));
        hasher_number(h, q->is_scrambled ? q->cell.scramble : 0);
        hasher_number(h, q->cell.info->query);
        hasher_finish(h, &q->query.key);
        return 0;
}

int run_query_init(struct run_query *q, const struct query_type *type, struct workspace *w, const struct cell *cell, const struct digest *build)
{
        q->query = (struct query){.type = type, .refs = 1};
        q->workspace = w;
        q->cell = *cell;
        solver_ref(q->cell.solver);
        case_info_ref(q->cell.info);
        if (cell->machine)
                q->cell.machine = q->machine = copy_string(cell->machine);
        return cell_resolve(w, &q->cell, build, &q->resolved);
}

/* Takes from `asked` workspace, cell, sample, is_value and is_scrambled. `build`: the key of a build known to be current; NULL: not known. */
static int run_query_new(const struct run_query *asked, const struct digest *build, struct query **ret)
{
        struct run_query *q = allocate(1, sizeof(*q));
        cleanup(value_unrefp) struct value *known = NULL;
        int r = run_query_init(q, &query_run_type, asked->workspace, &asked->cell, build);

        q->sample = asked->sample;
        /* a single measurement is the value: one query for both, so that it is not measured twice */
        q->is_value = asked->is_value || (r == 0 && asked->sample == 0 && !samples_are_kept(q->workspace, &q->resolved, q->cell.info));
        q->is_scrambled = asked->is_scrambled;
        q->lacks_key = !q->cell.machine && (q->is_scrambled || q->cell.info->query > 0 || q->resolved.n_programs == 0 || !q->resolved.knows_machine);
        if (r == 0 && !q->cell.machine && !q->lacks_key && !build) /* without a known result, a build by changed tools does not count */
                q->lacks_key = build_tools_changed(q->workspace, &q->resolved.build, NULL) && find_resolved(q, &q->resolved, &known) == -ENOENT;
        if (r == 0)
                r = query_digest(q);
        if (r < 0)
                query_unref(&q->query);
        else
                *ret = &q->query;
        return r;
}

static int ask(const struct run_query *asked, struct query **ret)
{
        const struct recipe *recipe = asked->cell.solver->recipe;
        const struct case_info *info = asked->cell.info;

        if (!recipe_takes(recipe, info->format))
                return errorf(-ENOENT, "case %u is %s, and %s takes %s", info->id, format_notation(info->format), recipe->name,
                              format_notation(recipe->format));
        if (asked->cell.machine && asked->sample > 0)
                return errorf(-ENOENT, "nothing is measured on another machine, and of %s no further samples are known", asked->cell.machine);
        return run_query_new(asked, NULL, ret);
}

int query_sample(struct workspace *w, const struct cell *cell, uint32_t sample, struct query **ret)
{
        return ask(&(struct run_query){.workspace = w, .cell = *cell, .sample = sample}, ret);
}

int query_run(struct workspace *w, const struct cell *cell, struct query **ret)
{
        return ask(&(struct run_query){.workspace = w, .cell = *cell, .is_value = true}, ret);
}

int query_scrambled_run(struct workspace *w, const struct cell *cell, struct query **ret)
{
        return ask(&(struct run_query){.workspace = w, .cell = *cell, .is_value = true, .is_scrambled = true}, ret);
}
