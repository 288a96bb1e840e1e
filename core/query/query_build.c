/* Queries build and program. */
#include "core/build/era.h"
#include "core/build/live_log.h"
#include "core/query/incremental.h"
#include "core/query/plan.h"
#include "core/query/query_internal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "cache/base/lock.h"

struct build_query {
        struct query query;
        struct workspace *workspace;
        struct solver *solver; /* owns a ref */
        uint32_t commit;
        struct digest build_key;
        bool is_late; /* the toolchain of the place where it is built was not known: build_key is no build's */
        char *output; /* of a program: the file's name, NULL: the first; owned */
};

static int key_of(const struct build_query *q, struct digest *ret)
{
        const struct solver *s = q->solver;

        *ret = q->build_key;
        return q->is_late ? build_key(s->history, q->commit, s->recipe, ret) : 0;
}

static bool knows_toolchain(const struct solver *s)
{
        char toolchain[65];

        return !s->builder || place_toolchain(s->builder, toolchain);
}

/* -- what is known -- */

static const struct query_type query_late_type, query_build_away_type;

/* With the records whose program is struck: they are no answer, but know what was struck. */
static int record_fetch_any(struct workspace *w, const struct digest *build, bool with_log, struct build_record **ret)
{
        cleanup_txn struct store_txn *t = NULL;
        cleanup_blob struct blob b = {0};
        int r = store_read(workspace_store(w), &t);

        if (r == 0)
                r = store_get(t, TABLE_BUILDS, SLICE(build->bytes, DIGEST_SIZE), &b);
        if (r == 0)
                r = build_record_decode(SLICE(b.data, b.size), with_log, ret);
        return r == -EBADMSG ? -ENOENT : r; /* what cannot be read is worked out again */
}

int build_record_find(struct workspace *w, const struct digest *build, bool with_log, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = record_fetch_any(w, build, with_log, &record);

        if (r < 0)
                return r;
        if (record->ok && build_record_is_struck(record))
                return -ENOENT;
        *ret = steal_pointer(record);
        return 0;
}

int build_find(struct workspace *w, struct solver *s, uint32_t commit, bool with_log, struct build_record **ret)
{
        struct digest key;
        int r = build_key(s->history, commit, s->recipe, &key);

        return r < 0 ? r : build_record_find(w, &key, with_log, ret);
}

int build_open_live_log(struct workspace *w, struct solver *s, uint32_t commit, int *ret_fd)
{
        struct digest key;
        int r = build_key(s->history, commit, s->recipe, &key);

        return r < 0 ? r : live_log_open(workspace_dir(w), &key, ret_fd);
}

static struct value *build_value_new(struct build_record *record)
{
        struct build_value *v = calloc(1, sizeof(*v));

        if (!v)
                return NULL;
        v->value = (struct value){.type = &query_build_type, .refs = 1};
        v->record = build_record_ref(record);
        return &v->value;
}

static void build_value_free(struct value *value)
{
        struct build_value *v = (struct build_value *)value;

        build_record_unref(v->record);
        free(v);
}

/* A build whose programs gc took (or the store lost) is known, and has to be done again before anything can run. */
bool build_is_usable(struct workspace *w, const struct build_record *record)
{
        for (size_t i = 0; record->ok && i < record->n_outputs; i++)
                if (!programs_has(workspace_programs(w), &record->outputs[i].id))
                        return false;
        return true;
}

static int build_query_find(struct query *query, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct digest key;
        int r = key_of(q, &key);

        if (r == 0)
                r = build_record_find(q->workspace, &key, false, &record);
        if (r < 0)
                return r;
        if (!build_is_usable(q->workspace, record))
                return -ENOENT;
        *ret = build_value_new(record);
        return *ret ? 0 : -ENOMEM;
}

/* -- build -- */

static void duration_key(const struct build_query *q, char ret[128])
{
        snprintf(ret, 128, "duration/build/%s", q->solver->repository);
}

/* A moving average over what was built last. */
static void duration_note(struct store_txn *t, const struct build_query *q, uint64_t ns)
{
        uint64_t before;
        char key[128];

        duration_key(q, key);
        before = meta_number_in(t, key);
        meta_number_put(t, key, before > 0 ? (before * 3 + ns) / 4 : ns);
}

static bool build_query_estimate(const struct query *query, struct cost *ret)
{
        const struct build_query *q = (const struct build_query *)query;
        char key[128];

        duration_key(q, key);
        *ret = (struct cost){.mean_ns = meta_number(q->workspace, key)};
        return ret->mean_ns > 0;
}

struct record_to_put {
        struct workspace *workspace;
        const struct build_query *query;
        const struct build_record *record;
        struct slice encoded;
        const struct recipe *era;
        struct digest source;
        bool has_source, checked;
        struct plan_note duration;
};

static int record_put_in(void *user, struct store_txn *t)
{
        struct record_to_put *p = user;
        const struct solver *s = p->query->solver;
        const struct slice key = SLICE(p->query->build_key.bytes, DIGEST_SIZE);
        bool known = store_has(t, TABLE_BUILDS, key);
        int r = store_put(t, TABLE_BUILDS, key, p->encoded);

        if (r == 0)
                r = build_program_put(t, &p->query->build_key, p->record);
        if (r == 0 && !p->record->clean && p->record->ok)
                r = incremental_note(p->workspace, t, s, p->query->commit, p->record->duration_ns);
        if (r == 0 && p->record->clean && s->recipe->incremental)
                incremental_settled(t, s, p->checked, p->record->duration_ns);
        if (r == 0 && known)
                replaced_note(t, s);
        if (r == 0 && p->has_source)
                r = history_keep_source(s->history, t, p->query->commit, p->era->sources, &p->source);
        if (r == 0 && p->record->ok) /* how soon one fails says nothing of those that do not */
                duration_note(t, p->query, p->record->duration_ns);
        if (r == 0)
                r = plan_note_put(t, &p->duration, p->record);
        return r;
}

/* `checked`: it was built to compare an incremental one with. */
static int record_put(struct workspace *w, const struct build_query *q, const struct build_record *record, bool checked)
{
        struct record_to_put p = {.workspace = w, .query = q, .record = record, .checked = checked};
        cleanup_buffer struct buffer b = {0};
        int r = build_record_encode(record, &b);

        if (r < 0)
                return r;
        p.encoded = SLICE(b.data, b.size);
        plan_note_begin(w, q->solver, q->commit, &p.duration);
        p.era = era_or_solver(q->solver->history, q->solver->recipe, q->commit);
        p.has_source = history_source(q->solver->history, q->commit, p.era->sources, &p.source) == 0;
        return store_update(workspace_store(w), record_put_in, &p);
}

/* Takes over which programs earlier builds of this key have made, and says where this one differs from theirs. */
static int join_programs(struct workspace *w, const struct build_record *known, struct build_record *record)
{
        struct build_program *now = record->programs;
        size_t n_now = record->n_programs;
        int r = 0;

        record->programs = calloc(known->n_programs + 1, sizeof(*record->programs));
        if (!record->programs) {
                record->programs = now;
                return -ENOMEM;
        }
        memcpy(record->programs, known->programs, known->n_programs * sizeof(*known->programs));
        record->n_programs = known->n_programs;
        if (known->clean && record->clean && !build_record_has_program(known, &now[n_now - 1].id))
                r = build_differences(workspace_programs(w), known, record, &record->differs);
        else if (known->differs && !(record->differs = strdup(known->differs)))
                r = -ENOMEM;
        free(now);
        return r < 0 ? r : build_record_note_program(record);
}

static bool same_outputs(const struct build_record *a, const struct build_record *b)
{
        struct digest x, y;

        build_outputs_digest(a->outputs, a->n_outputs, &x);
        build_outputs_digest(b->outputs, b->n_outputs, &y);
        return digest_equal(&x, &y);
}

/* A build repeated because gc took its programs keeps its record: its log has been read, and its measurements stay for good, even when the
 * build fails this time (a compiler has been removed, it was killed). 1: there is nothing new to keep. */
static int join_known(struct workspace *w, const struct build_record *known, bool again, struct build_record **record)
{
        if (!known->ok)
                return 0;
        if (!(*record)->ok)
                return again ? 0 : errorf(-EIO, "it was built before, and cannot be built again now: %s", (*record)->reason);
        if (again || !same_outputs(known, *record) || ((*record)->clean && !known->clean))
                return join_programs(w, known, *record);
        return 1;
}

/* -- elsewhere -- */

struct place_build {
        struct build_away away; /* first */
        struct run_place *place;
        struct cluster_slot *slot;
};

/* The key that is built is one of the toolchain that the place had when it was made. */
static int build_at_place(struct build_away *a, const struct build_request *q, const struct build_sources *sources, struct build_record **ret)
{
        struct place_build *p = (struct place_build *)a;
        const char *now = cluster_slot_toolchain(p->slot);
        char known[65];
        int r;

        place_toolchain(p->place, known);
        if (strcmp(known, now) == 0)
                return cluster_build(p->slot, q, sources, ret);
        r = place_note_toolchain(p->place, now);
        return r < 0 ? r
                     : errorf(-EIO, "the compilers or build tools of the workers of %s were changed since this build was asked for: ask again", p->place->name);
}

static int build_elsewhere(struct job *j, struct build_request *q, struct run_place *place, struct build_record **ret)
{
        struct place_build p = {.away = {.build = build_at_place}, .place = place, .slot = job_away(j)};

        if (!p.slot)
                return errorf(-ENOTSUP, "builds of %s are done at %s, and this needs one here: say builds = local in the store's config", q->recipe->name, place->name);
        q->away = &p.away;
        q->incremental = false;
        q->key = NULL;
        return build(q, ret);
}

int build_commit(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *key, enum build_way way, bool again,
                 struct job *j, struct build_record **ret)
{
        const struct settings *settings = workspace_settings(w);
        char work[PATH_SIZE], ccache[PATH_SIZE], downloads[PATH_SIZE];
        cleanup_live_log struct live_log live = {.fd = -1};
        cleanup_close int held = -1;
        struct build_request request;
        int r;

        if (snprintf(work, sizeof(work), "%s/work/%s", workspace_dir(w), s->repository) >= (int)sizeof(work) ||
            snprintf(downloads, sizeof(downloads), "%s/downloads", workspace_dir(w)) >= (int)sizeof(downloads) ||
            /* one for each repository, or a hostile one could leave objects for another's sources in it */
            snprintf(ccache, sizeof(ccache), "%s/work/ccache/%s", workspace_dir(w), s->repository) >= (int)sizeof(ccache))
                return errorf(-ENAMETOOLONG, "the store's path is too long: %s", workspace_dir(w));
        r = make_dirs(work, 0700);
        if (r == 0 && settings->ccache) {
                r = lock_wait(workspace_dir(w), "ccache.lock", true, &held); /* gc leaves it alone */
                if (r == 0)
                        r = make_dirs(ccache, 0700);
        }
        if (r < 0)
                return r;
        if (key)
                live_log_begin(&live, workspace_dir(w), key);
        request = (struct build_request){
                .programs = workspace_programs(w),
                .history = s->history,
                .commit = commit,
                .recipe = s->recipe,
                .key = key,
                .work_dir = work,
                .downloads_dir = downloads,
                .ccache_dir = settings->ccache ? ccache : NULL,
                .sandbox = settings->sandbox,
                .jobs = job_n_slots(j),
                .cpus = job_cpus(j),
                .slot = job_slot(j),
                .incremental = way == BUILD_INCREMENTAL,
                .again = again,
                .cancel_fd = job_cancel_fd(j),
                .progress = job_progress(j),
                .listener = key ? &live.listener : NULL,
        };
        r = s->builder ? build_elsewhere(j, &request, s->builder, ret) : build(&request, ret);
        if (r < 0)
                live_log_say_lost(&live, error_message(r));
        return r;
}

static void check_in_background(struct build_query *q, struct job *j);

/* A build that is known is done again in a clean tree: its programs are compared with those that are known. */
static int make_record(struct build_query *q, struct job *j, bool checked, struct build_record **ret)
{
        cleanup(build_record_unrefp) struct build_record *known = NULL, *record = NULL;
        bool again = job_again(j) || checked;
        enum build_way way = BUILD_CLEAN;
        int r = record_fetch_any(q->workspace, &q->build_key, true, &known);

        again |= r == 0 && known->ok && build_record_is_struck(known); /* what it says counts for nothing */
        if (r == -ENOENT && !again && !q->solver->builder && incremental_state(q->workspace, q->solver) == INCREMENTAL_ON)
                way = BUILD_INCREMENTAL;
        if (r == 0 || r == -ENOENT)
                r = build_commit(q->workspace, q->solver, q->commit, &q->build_key, way, job_again(j), j, &record);
        if (r == 0 && known)
                r = join_known(q->workspace, known, again, &record);
        if (r == 0)
                r = record_put(q->workspace, q, record, checked);
        if (r < 0)
                return r;
        *ret = r == 1 ? steal_pointer(known) : steal_pointer(record);
        return 0;
}

static struct engine_away *build_query_away(const struct query *query, uint64_t *ret_most_ns)
{
        const struct build_query *q = (const struct build_query *)query;

        *ret_most_ns = era_or_solver(q->solver->history, q->solver->recipe, q->commit)->build_limits.wall_ns;
        return &q->solver->builder->away;
}

/* The toolchain first, and then the build by its key. */
static int late_need(struct query *query, struct query_list *ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(value_unrefp) struct value *v = NULL;
        struct query *first = NULL;
        int r = query->type->find(query, &v);

        if (r != -ENOENT)
                return r;
        r = knows_toolchain(q->solver) ? query_build(q->workspace, q->solver, q->commit, &first) : query_machine(q->solver->builder, &first);
        return r < 0 ? r : query_list_add(ret, first);
}

static int late_compute(struct query *query, struct job *, struct value **ret)
{
        return query->type->find(query, ret);
}

static int build_query_compute(struct query *query, struct job *j, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = make_record(q, j, false, &record);

        if (r == -ESTALE && incremental_state(q->workspace, q->solver) == INCREMENTAL_REVOKED)
                r = make_record(q, j, false, &record); /* revoked meanwhile */
        if (r < 0)
                return r;
        if (!q->solver->builder) /* or it is clean */
                check_in_background(q, j);
        *ret = build_value_new(record);
        return *ret ? 0 : -ENOMEM;
}

static void build_query_describe(const struct query *query, struct buffer *ret)
{
        const struct build_query *q = (const struct build_query *)query;
        struct commit c;

        buffer_addf(ret, "%s %s ", query->type->name, q->solver->recipe->name);
        if (history_commit(q->solver->history, q->commit, &c) == 0)
                buffer_addf(ret, "%.12s", git_oid_tostr_s(&c.oid));
        if (q->output)
                buffer_addf(ret, " %s", q->output);
}

static bool build_query_gone(const struct query *query)
{
        const struct build_query *q = (const struct build_query *)query;

        return solver_is_gone(q->workspace, q->solver);
}

static void build_query_free(struct query *query)
{
        struct build_query *q = (struct build_query *)query;

        solver_unref(q->solver);
        free(q->output);
        free(q);
}

/* `build`: its key; NULL: to be found out. */
static int build_query_new(const struct query_type *type, struct workspace *w, struct solver *s, uint32_t commit,
                           const struct digest *build, const char *output, struct query **ret)
{
        struct build_query *q = calloc(1, sizeof(*q));
        struct hasher *h;
        int r = 0;

        if (!q)
                return -ENOMEM;
        q->query = (struct query){.type = type, .refs = 1};
        q->workspace = w;
        q->solver = solver_ref(s);
        q->commit = commit;
        q->is_late = !knows_toolchain(s);
        if (type == &query_build_type && s->builder)
                q->query.type = q->is_late ? &query_late_type : &query_build_away_type;
        if (build)
                q->build_key = *build;
        else
                r = build_key(s->history, commit, s->recipe, &q->build_key);
        if (r == 0 && output && !(q->output = strdup(output)))
                r = -ENOMEM;
        if (r < 0) {
                build_query_free(&q->query);
                return r;
        }
        h = hasher_new();
        hasher_string(h, type->name);
        hasher_add(h, q->build_key.bytes, DIGEST_SIZE);
        hasher_string(h, output);
        hasher_finish(h, &q->query.key);
        *ret = &q->query;
        return 0;
}

const struct query_type query_build_type = {
        .name = "build",
        .resource = RESOURCE_BUILD,
        .find = build_query_find,
        .compute = build_query_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .estimate = build_query_estimate,
        .free_query = build_query_free,
        .free_value = build_value_free,
};

static const struct query_type query_build_away_type = {
        .name = "build",
        .resource = RESOURCE_AWAY,
        .find = build_query_find,
        .compute = build_query_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .estimate = build_query_estimate,
        .away = build_query_away,
        .free_query = build_query_free,
        .free_value = build_value_free,
};

/* A build at a place of which the toolchain is not known. */
static const struct query_type query_late_type = {
        .name = "build",
        .resource = RESOURCE_DISK, /* it only looks */
        .find = build_query_find,
        .need = late_need,
        .compute = late_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .free_query = build_query_free,
        .free_value = build_value_free,
};

int query_build(struct workspace *w, struct solver *s, uint32_t commit, struct query **ret)
{
        return build_query_new(&query_build_type, w, s, commit, NULL, NULL, ret);
}

int query_build_of(struct workspace *w, struct solver *s, uint32_t commit, const struct digest *build, struct query **ret)
{
        return build_query_new(&query_build_type, w, s, commit, build, NULL, ret);
}

/* -- check: an incremental build is compared with a clean one ---------------------------------------------------- */

static int check_find(struct query *query, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        int r = record_fetch_any(q->workspace, &q->build_key, false, &record);

        if (r == 0 && record->ok && !record->clean)
                return -ENOENT;
        *ret = build_value_new(record);
        return *ret ? 0 : -ENOMEM;
}

/* The two builds of the commit gave different programs. */
static int describe_wrong(struct build_query *q, const struct build_record *before, const struct build_record *clean, char **ret)
{
        cleanup_free char *differences = NULL;
        char *line = NULL;
        struct commit c;
        int r = history_commit(q->solver->history, q->commit, &c);

        *ret = NULL;
        if (r == 0 && clean->ok)
                r = build_differences(workspace_programs(q->workspace), clean, before, &differences);
        if (r < 0 || (clean->ok && !differences))
                return r;
        if (asprintf(&line, "%.12s: %s", git_oid_tostr_s(&c.oid), differences ?: clean->reason) < 0)
                return -ENOMEM;
        *ret = line;
        return 0;
}

static int check_compute(struct query *query, struct job *j, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *before = NULL, *record = NULL;
        cleanup_free char *wrong = NULL;
        int r = record_fetch_any(q->workspace, &q->build_key, false, &before);

        if (r == 0)
                r = make_record(q, j, true, &record);
        if (r == 0)
                r = describe_wrong(q, before, record, &wrong);
        if (r == 0 && wrong)
                r = incremental_revoke(q->workspace, q->solver, wrong);
        if (r < 0)
                return r;
        *ret = build_value_new(record);
        return *ret ? 0 : -ENOMEM;
}

static const struct query_type query_check_type = {
        .name = "check",
        .resource = RESOURCE_BUILD,
        .find = check_find,
        .compute = check_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .estimate = build_query_estimate,
        .free_query = build_query_free,
        .free_value = build_value_free,
};

int query_check(struct workspace *w, struct solver *s, struct query **ret)
{
        uint32_t commit;
        int r = incremental_due(w, s, &commit);

        return r < 0 ? r : build_query_new(&query_check_type, w, s, commit, NULL, NULL, ret);
}

static void checked(void *user, int r, struct value *v, const char *reason)
{
        if (r < 0 && r != -ECANCELED)
                log_warning("an incremental build could not be compared with a clean one: %s", reason ?: strerror(-r));
}

/* Nobody waits for it. A comparison that a closed engine leaves undone stays due. */
static void check_in_background(struct build_query *q, struct job *j)
{
        cleanup(query_unrefp) struct query *check = NULL;
        struct ticket *ticket;

        if (query_check(q->workspace, q->solver, &check) == 0)
                engine_ask(job_engine(j), check, PRIORITY_BATCH, false, checked, NULL, &ticket);
}

/* -- program: a built file, in the folder where it can be executed and read -- */

static const struct build_output *program_output(const struct build_query *q, const struct build_record *record)
{
        for (size_t i = 0; i < record->n_outputs; i++)
                if (!q->output || strcmp(q->output, record->outputs[i].name) == 0)
                        return &record->outputs[i];
        return NULL;
}

static int program_need(struct query *query, struct query_list *ret)
{
        struct build_query *q = (struct build_query *)query;
        struct workspace *w = q->workspace;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        struct query *build;
        const struct build_output *o;
        struct digest key;
        int r = key_of(q, &key);

        if (r == 0)
                r = build_record_find(w, &key, false, &record);
        if (r < 0 && r != -ENOENT)
                return r;
        o = r == 0 ? program_output(q, record) : NULL;
        if (r == 0 && (!record->ok || !o || programs_has(workspace_programs(w), &o->id)))
                return 0;
        r = query_build(w, q->solver, q->commit, &build);
        return r < 0 ? r : query_list_add(ret, build);
}

static int program_compute(struct query *query, struct job *, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        struct workspace *w = q->workspace;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        cleanup_free struct program_value *v = calloc(1, sizeof(*v));
        const struct build_output *o;
        struct digest key;
        int r;

        if (!v)
                return -ENOMEM;
        r = key_of(q, &key);
        if (r == 0)
                r = build_record_find(w, &key, false, &record);
        if (r < 0)
                return r;
        if (!record->ok)
                return errorf(-ENODATA, "the commit cannot be built: %s", record->reason);
        o = program_output(q, record);
        if (!o)
                return errorf(-ENOENT, "the build has no output '%s'", q->output ? q->output : "");
        r = programs_get(workspace_programs(w), &o->id, &v->fd, v->path);
        if (r < 0)
                return r;
        v->size = o->size;
        v->value = (struct value){.type = &query_program_type, .refs = 1};
        *ret = &v->value;
        steal_pointer(v);
        return 0;
}

/* Materializing may take a moment even when everything is known, so a program is never simply found; but where nothing can be worked out,
 * it has to be. */
static int program_find(struct query *query, struct value **ret)
{
        const struct build_query *q = (const struct build_query *)query;

        return store_read_only(workspace_store(q->workspace)) ? program_compute(query, NULL, ret) : -ENOENT;
}

static void program_value_free(struct value *value)
{
        struct program_value *v = (struct program_value *)value;

        close(v->fd);
        free(v);
}

int program_value_fd(struct value *v)
{
        return fcntl(((struct program_value *)v)->fd, F_DUPFD_CLOEXEC, 3); /* shares the lock that keeps it in the folder */
}

const struct query_type query_program_type = {
        .name = "program",
        .resource = RESOURCE_DISK,
        .find = program_find,
        .need = program_need,
        .compute = program_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .free_query = build_query_free,
        .free_value = program_value_free,
};

/* The same where nothing may be built: it needs nothing, and fails. */
static const struct query_type query_kept_type = {
        .name = "kept-program",
        .resource = RESOURCE_DISK,
        .find = program_find,
        .compute = program_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .free_query = build_query_free,
        .free_value = program_value_free,
};

int query_program(struct workspace *w, struct solver *s, uint32_t commit, const char *output, bool kept, struct query **ret)
{
        return build_query_new(kept ? &query_kept_type : &query_program_type, w, s, commit, NULL, output, ret);
}

/* -- which commits -- */

static int build_keys_add(void *user, struct slice key, struct slice)
{
        struct kept_builds *k = user;

        if (key.size != DIGEST_SIZE)
                return 0;
        if (list_grow(k->list, k->n) < 0)
                return -ENOMEM;
        memcpy(k->list[k->n++].bytes, key.data, DIGEST_SIZE);
        return 0;
}

int kept_builds_read(struct workspace *w, struct kept_builds *ret)
{
        cleanup_txn struct store_txn *t = NULL;
        int r = store_read(workspace_store(w), &t);

        return r < 0 ? r : store_each(t, TABLE_BUILDS, SLICE("", 0), SLICE("", 0), false, build_keys_add, ret);
}

void kept_builds_done(struct kept_builds *k)
{
        free(k->list);
}

static int digest_compare(const void *a, const void *b)
{
        return memcmp(a, b, DIGEST_SIZE);
}

bool kept_builds_have(const struct kept_builds *k, const struct digest *build)
{
        return find_in_list(build, k->list, k->n, sizeof(*k->list), digest_compare);
}

/* Every run has a build: so the commits with anything known are those whose build key is in the table of builds. */
int commits_known(struct workspace *w, struct solver *s, uint32_t **ret, size_t *ret_n)
{
        cleanup_kept_builds struct kept_builds kept = {0};
        cleanup_free struct digest *builds = NULL;
        cleanup_free uint32_t *list = NULL;
        uint32_t count = 0;
        size_t n = 0;
        int r = kept_builds_read(w, &kept);

        if (r == 0 && kept.n > 0)
                r = build_keys(s->history, s->recipe, &builds, &count);
        list = calloc((size_t)count + 1, sizeof(*list));
        if (r == 0 && !list)
                r = -ENOMEM;
        if (r < 0)
                return r;
        for (uint32_t i = 0; i < count; i++)
                if (kept_builds_have(&kept, &builds[i]))
                        list[n++] = i;
        *ret = steal_pointer(list);
        *ret_n = n;
        return 0;
}
