/* Query run: one commit on one case. */
#include "core/build/era.h"
#include "core/run/measure.h"
#include "core/run/surroundings.h"
#include "core/query/answers.h"
#include "core/query/disturbed.h"
#include "core/query/held.h"
#include "core/query/machines.h"

struct run_query {
        struct query query;
        struct workspace *workspace;
        struct cell cell; /* owns refs on solver and case */
        char *machine;    /* owned; cell.machine */
        struct digest build_key;
        struct recipe_limits limits;
};

/* A run is of a program, on a machine. While it is not known which program the commit has, or which machine the place has, it is a query of its own, keyed
 * by the build: that needs the build, and then the run of the program, which other commits may be asking for, too. */
static const struct query_type query_unbuilt_type;
static int run_query_new(struct workspace *w, const struct cell *cell, const struct digest *build, struct query **ret);

/* The key of a build that is still to be done may not be known: the toolchain of the place where it will be done belongs to it. */
static int key_of_build(const struct run_query *q, struct digest *ret)
{
        const struct solver *s = q->cell.solver;

        *ret = q->build_key;
        return q->query.type == &query_unbuilt_type && s->builder ? build_key(s->history, q->cell.commit, s->recipe, ret) : 0;
}

/* -- the query -- */

static struct value *run_value_new(struct fact *fact, struct build_record *failed)
{
        struct run_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = &query_run_type, .refs = 1};
        v->fact = fact ? fact_ref(fact) : NULL;
        v->build = failed ? build_record_ref(failed) : NULL;
        return &v->value;
}

static void run_value_free(struct value *value)
{
        struct run_value *v = (struct run_value *)value;

        fact_unref(v->fact);
        build_record_unref(v->build);
        free(v);
}

static int run_query_find(struct query *query, struct value **ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct digest key;
        int r = key_of_build(q, &key);

        if (r == 0)
                r = run_find_built(q->workspace, &key, &q->cell, false, &f);
        if (r == -ENOENT) { /* a commit that cannot be built is an answer, too */
                r = build_record_find(q->workspace, &key, false, &record);
                if (r == 0 && record->ok)
                        r = -ENOENT;
        }
        if (r < 0)
                return r;
        *ret = run_value_new(f, record);
        return *ret ? 0 : -ENOMEM;
}

/* The build that has to be done first; NULL: none. */
static int find_missing_build(struct run_query *q, const struct digest *key, struct query **ret)
{
        cleanup(query_unrefp) struct query *build = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r = query_build_of(q->workspace, q->cell.solver, q->cell.commit, key, &build);

        if (r == 0)
                r = build->type->find(build, &v);
        if (r == -ENOENT && build)
                *ret = steal_pointer(build);
        return *ret ? 0 : r;
}

/* Before half an hour goes into a program that may not be run then. */
static int check_surroundings(const struct run_query *q)
{
        const struct recipe_limits *l = &q->limits;

        return q->cell.solver->place ? 0
                                     : surroundings_check(&(struct execute_request){.timed = true,
                                                                                    .stack = l->stack,
                                                                                    .memory = l->memory,
                                                                                    .cpu_ns = l->cpu_ns,
                                                                                    .processes = l->processes});
}

static int run_query_need(struct query *query, struct query_list *ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(query_unrefp) struct query *build = NULL;
        int r = find_missing_build(q, &q->build_key, &build);

        if (r == 0 && build)
                r = check_surroundings(q);
        return r == 0 && build ? query_list_add(ret, steal_pointer(build)) : r;
}

static int unbuilt_need(struct query *query, struct query_list *ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(value_unrefp) struct value *v = NULL;
        cleanup(query_unrefp) struct query *first = NULL;
        char machine[PATH_SIZE];
        struct digest key;
        int r = run_query_find(query, &v);

        if (r != -ENOENT)
                return r;
        r = key_of_build(q, &key);
        if (r == 0)
                r = find_missing_build(q, &key, &first);
        if (r == 0 && first)
                r = check_surroundings(q);
        if (r == 0 && !first && !cell_machine(&q->cell, machine))
                r = query_machine(q->cell.solver->place, &first);
        if (r == 0 && !first)
                r = run_query_new(q->workspace, &q->cell, &key, &first);
        return r < 0 ? r : query_list_add(ret, steal_pointer(first));
}

static int unbuilt_compute(struct query *query, struct job *, struct value **ret)
{
        return run_query_find(query, ret);
}

/* NULL when there is no memory left. */
static json_t *run_about(const struct run_query *q, const struct build_record *record, const struct digest *first)
{
        cleanup_buffer struct buffer name = {0}, logic = {0};

        const struct case_info *info = q->cell.info;
        char sha[DIGEST_HEX_SIZE], build[DIGEST_HEX_SIZE], program[DIGEST_HEX_SIZE], built[GIT_OID_HEXSZ + 1];
        struct commit c = {0};

        buffer_add_printable(&name, info->name); /* any bytes but NUL, and JSON is UTF-8 */
        buffer_add_printable(&logic, info->logic);
        if (buffer_error(&name) < 0 || buffer_error(&logic) < 0)
                return NULL;
        digest_hex(&info->sha256, sha);
        digest_hex(&q->build_key, build);
        digest_hex(first, program);
        git_oid_tostr(built, sizeof(built), &record->commit);
        history_commit(q->cell.solver->history, q->cell.commit, &c);
        return json_pack("{ss ss ss s{si ss ss ss} s{ss ss ss sb}}", "solver", q->cell.solver->recipe->name, "repository",
                         q->cell.solver->repository, "commit", git_oid_tostr_s(&c.oid), "case", "id", (int)info->id, "name",
                         name.data, "sha256", sha, "logic", logic.data, "build", "key", build, "program", program, "commit",
                         built, "clean", (int)record->clean);
}

static void duration_key(const struct run_query *q, char ret[128])
{
        snprintf(ret, 128, "duration/run/%u/%u", q->cell.solver->number, q->cell.info->id);
}

struct fact_to_put {
        const struct run_query *query;
        const struct digest *program;
        struct noted_fact noted;
        const struct recipe *era;
        struct digest source;
        bool has_source;
        struct slice encoded;
};

static int fact_put_in(void *user, struct store_txn *t)
{
        struct fact_to_put *p = user;
        const struct cell *cell = &p->query->cell;
        const struct fact *f = p->noted.fact;
        char name[128];
        int r = store_put(t, TABLE_FACTS, p->noted.key, p->encoded);

        if (r == 0 && p->has_source)
                r = history_keep_source(cell->solver->history, t, cell->commit, p->era->sources, &p->source);
        if (r == 0)
                r = answers_note(t, &p->noted);
        if (r == 0)
                r = disturbed_note(t, &p->noted);
        if (r < 0)
                return r;
        duration_key(p->query, name);
        meta_number_put(t, name, f->wall_ns);
        if (f->remeasured > 0)
                remeasured_note(t, cell, p->program);
        return setting_note(t, cell);
}

static int fact_put(struct workspace *w, const struct run_query *q, const struct digest *program, const struct fact *f)
{
        uint8_t run[RUN_KEY_SIZE], key[FACT_KEY_SIZE];
        struct fact_to_put p = {
                .query = q, .program = program, .noted = {.cell = &q->cell, .key = SLICE(key, sizeof(key)), .fact = f}};
        cleanup_buffer struct buffer b = {0};
        struct commit c;
        int r = fact_encode(f, &b);

        if (r == 0)
                r = history_commit(q->cell.solver->history, q->cell.commit, &c);
        if (r < 0)
                return r;
        p.noted.commit = c.oid;
        run_key_of(program, &q->cell, run);
        fact_key(run, &f->limits, key);
        p.encoded = SLICE(b.data, b.size);
        p.era = era_or_solver(q->cell.solver->history, q->cell.solver->recipe, q->cell.commit);
        p.has_source = history_source(q->cell.solver->history, q->cell.commit, p.era->sources, &p.source) == 0;
        r = store_update_together(workspace_store(w), fact_put_in, &p);
        if (r == 0)
                answers_log(w, &p.noted);
        return r;
}

static bool run_query_estimate(const struct query *query, struct cost *ret)
{
        const struct run_query *q = (const struct run_query *)query;
        char key[128];

        duration_key(q, key);
        *ret = (struct cost){.mean_ns = meta_number(q->workspace, key), .most_ns = q->limits.wall_ns};
        ret->deviation_ns = ret->mean_ns / 4; /* on another commit; the engine corrects it by what it sees */
        return ret->mean_ns > 0;
}

static struct engine_away *run_query_away(const struct query *query, uint64_t *ret_most_ns)
{
        const struct run_query *q = (const struct run_query *)query;

        *ret_most_ns = q->limits.wall_ns;
        return &q->cell.solver->place->away;
}

/* Runs the programs on the case; `about` is for run.json. */
static int run_measure(struct workspace *w, const struct run_query *q, struct job *j, const struct build_record *record,
                       json_t *about, struct fact **ret)
{
        cleanup_held struct held held = {0};
        cleanup_close int case_fd = -1;
        char case_path[PATH_SIZE], scratch[PATH_SIZE];
        int r = held_build(w, record, &held);

        if (r == 0 && q->cell.solver->place && !job_away(j)) /* or it would stand there as if it were of that machine */
                r = errorf(-ENOTSUP, "runs of %s are done at %s, and this cannot be done there: add --on local",
                           q->cell.solver->recipe->name, q->cell.solver->place->name);
        if (r == 0)
                r = cases_open_bytes(workspace_cases(w), q->cell.info, &case_fd, case_path);
        if (r == 0)
                r = path_join(scratch, workspace_dir(w), "scratch");
        if (r < 0)
                return r;
        return measure(
                &(struct measure_request){
                        .recipe = q->cell.solver->recipe,
                        .limits = q->limits,
                        .programs = held.list,
                        .n_programs = held.n,
                        .case_path = case_path,
                        .case_id = q->cell.info->sha256,
                        .expected = q->cell.info->expected,
                        .n_expected = q->cell.info->n_expected,
                        .has_seed = q->cell.has_seed,
                        .seed = q->cell.seed,
                        .scratch_parent = scratch,
                        .sandbox = workspace_settings(w)->sandbox,
                        .cpus = job_cpus(j),
                        .slot = job_slot(j),
                        .away = job_away(j) ? cluster_slot_away(job_away(j)) : NULL,
                        .cancel_fd = job_cancel_fd(j),
                        .again = job_again(j),
                        .about = about,
                },
                ret);
}

static int run_query_compute(struct query *query, struct job *j, struct value **ret)
{
        struct run_query *q = (struct run_query *)query;
        struct workspace *w = q->workspace;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup(fact_unrefp) struct fact *f = NULL;
        struct digest program;
        json_t *about;
        int r = build_record_find(w, &q->build_key, false, &record);

        if (r == 0 && record->ok)
                r = build_program_find(w, &q->build_key, &program);
        if (r == 0 && record->ok) {
                about = run_about(q, record, &program);
                r = about ? run_measure(w, q, j, record, about, &f) : -ENOMEM;
                json_decref(about);
                if (r == 0)
                        r = fact_put(w, q, &program, f);
        }
        if (r < 0)
                return r;
        *ret = run_value_new(f, f ? NULL : record);
        return *ret ? 0 : -ENOMEM;
}

int run_measure_cell(struct workspace *w, const struct cell *cell, struct job *j, struct fact **ret,
                     struct build_record **ret_failed)
{
        struct run_query q = {.workspace = w, .cell = *cell};
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct digest program;
        json_t *about;
        int r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &q.build_key);

        if (r == 0)
                r = build_record_find(w, &q.build_key, false, &record);
        if (r < 0)
                return r;
        if (!record->ok) {
                *ret_failed = steal_pointer(record);
                return 0;
        }
        r = build_program_find(w, &q.build_key, &program);
        if (r < 0)
                return r;
        cell_limits(cell, &q.limits);
        about = run_about(&q, record, &program);
        r = about ? run_measure(w, &q, j, record, about, ret) : -ENOMEM;
        json_decref(about);
        return r;
}

int run_keep_cell(struct workspace *w, const struct cell *cell, const struct fact *f)
{
        struct run_query q = {.workspace = w, .cell = *cell};
        struct digest program;
        int r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &q.build_key);

        if (r == 0)
                r = build_program_find(w, &q.build_key, &program);
        return r < 0 ? r : fact_put(w, &q, &program, f);
}

static void run_query_describe(const struct query *query, struct buffer *ret)
{
        const struct run_query *q = (const struct run_query *)query;
        struct commit c;

        buffer_addf(ret, "run %s ", q->cell.solver->recipe->name);
        if (history_commit(q->cell.solver->history, q->cell.commit, &c) == 0)
                buffer_addf(ret, "%.12s ", git_oid_tostr_s(&c.oid));
        buffer_addf(ret, "case %u", q->cell.info->id);
        if (q->cell.has_seed)
                buffer_addf(ret, " seed %llu", (unsigned long long)q->cell.seed);
        if (q->cell.wall_ns > 0) {
                char text[32];

                format_duration(q->cell.wall_ns, text);
                buffer_addf(ret, " timeout %s", text);
        }
        if (q->cell.cpu_ns > 0) {
                char text[32];

                format_duration(q->cell.cpu_ns, text);
                buffer_addf(ret, " CPU time %s", text);
        }
}

static void run_query_free(struct query *query)
{
        struct run_query *q = (struct run_query *)query;

        solver_unref(q->cell.solver);
        case_info_unref(q->cell.info);
        free(q->machine);
        free(q);
}

static bool run_query_gone(const struct query *query)
{
        const struct run_query *q = (const struct run_query *)query;

        return solver_is_gone(q->workspace, q->cell.solver);
}

const struct query_type query_run_type = {
        .name = "run",
        .resource = RESOURCE_CORE,
        .find = run_query_find,
        .need = run_query_need,
        .compute = run_query_compute,
        .describe = run_query_describe,
        .estimate = run_query_estimate,
        .gone = run_query_gone,
        .free_query = run_query_free,
        .free_value = run_value_free,
};

const struct query_type query_run_away_type = {
        .name = "run",
        .resource = RESOURCE_AWAY,
        .find = run_query_find,
        .need = run_query_need,
        .compute = run_query_compute,
        .describe = run_query_describe,
        .estimate = run_query_estimate,
        .away = run_query_away,
        .gone = run_query_gone,
        .free_query = run_query_free,
        .free_value = run_value_free,
};

static const struct query_type query_unbuilt_type = {
        .name = "run",
        .resource = RESOURCE_DISK, /* it only looks */
        .find = run_query_find,
        .need = unbuilt_need,
        .compute = unbuilt_compute,
        .describe = run_query_describe,
        .gone = run_query_gone,
        .free_query = run_query_free,
        .free_value = run_value_free,
};

/* -- of a named machine: what is known, or nothing -- */

static int imported_find(struct query *query, struct value **ret)
{
        struct run_query *q = (struct run_query *)query;
        cleanup(fact_unrefp) struct fact *f = NULL;
        int r = run_find(q->workspace, &q->cell, false, &f);

        if (r < 0)
                return r;
        *ret = run_value_new(f, NULL);
        return *ret ? 0 : -ENOMEM;
}

static int imported_compute(struct query *query, struct job *, struct value **)
{
        const struct run_query *q = (const struct run_query *)query;

        return errorf(-ENOENT, "nothing is known of it for %s%s", q->machine,
                      q->cell.wall_ns > 0 ? " that holds under this timeout" : "");
}

static const struct query_type query_imported_type = {
        .name = "run",
        .resource = RESOURCE_DISK,
        .find = imported_find,
        .compute = imported_compute,
        .describe = run_query_describe,
        .gone = run_query_gone,
        .free_query = run_query_free,
        .free_value = run_value_free,
};

static void query_digest(const struct run_query *q, const uint8_t run[RUN_KEY_SIZE], struct digest *ret)
{
        struct hasher *h = hasher_new();

        hasher_string(h, q->query.type == &query_unbuilt_type    ? "run of what is not built"
                         : q->query.type == &query_imported_type ? "run of another machine"
                                                                 : "run");
        hasher_add(h, run, RUN_KEY_SIZE);
        hasher_number(h, q->limits.wall_ns);
        hasher_number(h, q->limits.cpu_ns);
        hasher_number(h, q->limits.memory);
        hasher_number(h, q->limits.output);
        hasher_number(h, q->limits.processes);
        hasher_number(h, q->limits.stack);
        hasher_finish(h, ret);
}

static int run_query_new(struct workspace *w, const struct cell *cell, const struct digest *build, struct query **ret)
{
        cleanup(query_unrefp) struct query *query = NULL;
        uint8_t run[RUN_KEY_SIZE];
        char machine[PATH_SIZE];
        struct digest program;
        struct run_query *q;
        bool knows_machine;
        int r;

        q = calloc(1, sizeof(*q));
        if (!q)
                return -ENOMEM;
        query = &q->query;
        q->query = (struct query){.type = cell->solver->place ? &query_run_away_type : &query_run_type, .refs = 1};
        q->workspace = w;
        q->cell = *cell;
        q->build_key = *build;
        solver_ref(q->cell.solver);
        case_info_ref(q->cell.info);
        cell_limits(cell, &q->limits);
        knows_machine = cell_machine(cell, machine);
        r = cell->machine ? machine_source(cell->solver, cell->commit, &program) : build_program_find(w, &q->build_key, &program);
        if (r < 0 && (r != -ENOENT || cell->machine))
                return r;
        if (cell->machine) {
                q->query.type = &query_imported_type;
                q->cell.machine = q->machine = strdup(cell->machine);
                if (!q->machine)
                        return -ENOMEM;
        } else if (r == -ENOENT || !knows_machine) {
                q->query.type = &query_unbuilt_type;
                if (r == -ENOENT)
                        program = q->build_key;
        }
        run_key_of(&program, cell, run);
        query_digest(q, run, &q->query.key);
        *ret = steal_pointer(query);
        return 0;
}

int query_run(struct workspace *w, const struct cell *cell, struct query **ret)
{
        struct digest build = {0};
        int r = 0;

        if (cell->info->format != cell->solver->recipe->format)
                return errorf(-ENOENT, "case %u is %s, and %s takes %s", cell->info->id,
                              cell->info->format == FORMAT_CNF ? "DIMACS" : "SMT-LIB", cell->solver->recipe->name,
                              cell->solver->recipe->format == FORMAT_CNF ? "DIMACS" : "SMT-LIB");
        if (!cell->machine)
                r = build_key(cell->solver->history, cell->commit, cell->solver->recipe, &build);
        return r < 0 ? r : run_query_new(w, cell, &build, ret);
}
