/* Query reduce: a reduction between versions, on a core of its own and on more where they are free, or on slots of the solver's cluster. */
#include <inttypes.h>

#include "cache/base/fault.h"
#include "core/study/reduce/reduction.h"

#define INPUT_MOST ((size_t)1 << 30)
#define KEEP_NS    (2 * NSEC_PER_SEC) /* how often a smaller text is kept while it goes on, at most */

struct reduced_query {
        struct query query;
        struct reduction_options options; /* owns refs, copies of the texts, and the bytes */
        uint64_t most_ns;
};

/* -- what is known -- */

static int fetch(struct query *query, const struct digest *key, struct reduction *ret)
{
        const struct reduced_query *q = (const struct reduced_query *)query;
        cleanup_blob struct blob b = {0};
        int r = store_fetch(workspace_store(q->options.workspace), TABLE_REDUCED, SLICE(key->bytes, DIGEST_SIZE), &b)
            ?: reduction_decode(SLICE(b.data, b.size), ret);

        return r == -EBADMSG ? -ENOENT : r; /* worked out again */
}

int reduction_find(struct query *query, struct reduction *ret)
{
        return fetch(query, &query->key, ret);
}

/* The key of an unended continuation of a reduction that has ended: stored apart, so that the ended one stays. */
static struct digest part_key(const struct query *query)
{
        struct hasher *h = hasher_new();
        struct digest key;

        hasher_string(h, "part");
        hasher_add(h, query->key.bytes, DIGEST_SIZE);
        hasher_finish(h, &key);
        return key;
}

int reduction_find_smallest(struct query *query, struct reduction *ret, bool *ret_ended)
{
        cleanup_reduction struct reduction part = {0};
        struct digest key = part_key(query);
        int r = reduction_find(query, ret);

        *ret_ended = r == 0 && ret->has_ended;
        if (!*ret_ended || fetch(query, &key, &part) < 0 || part.text.size >= ret->text.size)
                return r;
        reduction_done(ret);
        *ret = part;
        part = (struct reduction){0};
        return 0;
}

/* Takes over what the reduction owns. */
static struct value *value_new(struct reduction *r)
{
        struct reduced_value *v = allocate(1, sizeof(*v));

        *v = (struct reduced_value){.value = {.type = &query_reduced_type, .refs = 1}, .reduction = *r};
        *r = (struct reduction){0};
        return &v->value;
}

static void value_done(struct value *value)
{
        struct reduced_value *v = (struct reduced_value *)value;

        reduction_done(&v->reduction);
}

static int reduced_find(struct query *query, struct value **ret)
{
        cleanup_reduction struct reduction known = {0};
        int r = reduction_find(query, &known);

        if (r < 0)
                return r;
        if (!known.has_ended || (!known.is_minimal && known.most_ns < ((struct reduced_query *)query)->most_ns))
                return -ENOENT;
        *ret = value_new(&known);
        return 0;
}

/* Stores the reduction. If a mount may have shown an earlier end (`was_shown`), what has not ended is stored beside it, until a new end replaces both. */
static int put(const struct reduced_query *q, struct reduction *r, bool was_shown)
{
        cleanup_buffer struct buffer b = {0};
        struct digest part = part_key(&q->query);
        const struct digest *key = was_shown && !r->has_ended ? &part : &q->query.key;
        struct store_update u = {.store = workspace_store(q->options.workspace), .r = reduction_encode(r, &b)};

        while (store_update_begins(&u)) {
                u.r = store_put(u.txn, TABLE_REDUCED, SLICE(key->bytes, DIGEST_SIZE), SLICE(b.data, b.size));
                if (u.r == 0 && was_shown && r->has_ended) {
                        u.r = store_delete(u.txn, TABLE_REDUCED, SLICE(part.bytes, DIGEST_SIZE));
                        u.r = u.r == -ENOENT ? 0 : u.r;
                        replaced_note(u.txn, q->options.solver); /* mounts forget the old result */
                }
        }
        return u.r;
}

/* -- what is needed -- */

static int add_build(const struct reduced_query *q, const char *version, struct query_list *ret)
{
        cleanup_version struct version *parsed = NULL;
        cleanup(query_unrefp) struct query *build = NULL;
        cleanup(value_unrefp) struct value *v = NULL;
        int r;

        if (!*version)
                return 0;
        r = version_parse_in_full(q->options.workspace, q->options.solver, version, -1, &parsed)
            ?: query_build(q->options.workspace, parsed->solver, parsed->commit, &build)
            ?: build->type->find(build, &v);
        return r == -ENOENT && build ? query_list_add(ret, steal_pointer(build)) : r;
}

static int reduced_need(struct query *query, struct query_list *ret)
{
        const struct reduced_query *q = (const struct reduced_query *)query;

        return add_build(q, q->options.reference, ret) ?: add_build(q, q->options.target, ret);
}

static int read_input(const struct reduced_query *q, const struct reduction_input *input, struct blob *ret)
{
        *ret = (struct blob){.data = input->bytes.data, .size = input->bytes.size};
        return input->info ? cases_read_bytes(workspace_cases(q->options.workspace), input->info, INPUT_MOST, ret) : 0;
}

/* -- working it out -- */

struct work {
        const struct reduced_query *query;
        struct job *job;
        struct version *versions[N_SIDES]; /* owned; the reference's may be NULL */
        struct blob input, implied;
        struct reduce_versions *runs; /* owned */
        struct reduce_test test;      /* of the runs */
        struct reduction reduction;   /* the smallest so far, and what it took; of earlier sessions, too */
        struct reduction earlier;     /* what earlier sessions took; its texts are not its own */
        uint64_t began, kept;         /* kept: when keep() ran last; 0: never */
        bool has_news;                /* since then */
        bool was_shown;               /* an earlier session has ended; a mount may show its text */
        int error;                    /* of what could not be kept */
};

static void work_done(struct work *w)
{
        reduce_versions_close(w->runs);
        for (int side = 0; side < N_SIDES; side++)
                version_free(w->versions[side]);
        blob_done(&w->input);
        blob_done(&w->implied);
        reduction_done(&w->reduction);
}

static int work_open(struct work *w)
{
        const struct reduced_query *q = w->query;
        const struct reduction_options *o = &q->options;
        int r = version_parse_in_full(o->workspace, o->solver, o->target, job_cancel_fd(w->job), &w->versions[SIDE_TARGET]);

        if (r == 0 && *o->reference)
                r = version_parse_in_full(o->workspace, o->solver, o->reference, job_cancel_fd(w->job), &w->versions[SIDE_REFERENCE]);
        if (r == 0)
                r = read_input(q, &o->input, &w->input);
        if (r == 0 && o->interest == INTEREST_IMPLICATION)
                r = read_input(q, &o->implied, &w->implied);
        if (r < 0)
                return r;
        r = reduce_versions_open(w->job, o, (const struct version *[]){w->versions[SIDE_REFERENCE], w->versions[SIDE_TARGET]},
                                 SLICE(w->input.data, w->input.size), SLICE(w->implied.data, w->implied.size), &w->runs);
        if (r == 0)
                w->test = reduce_versions_test(w->runs);
        return r;
}

/* Begins with the result of earlier sessions; with the input when there is none, or when all is asked for again. */
static int begin(struct work *w)
{
        struct reduction *r = &w->reduction;
        int k = reduction_find_smallest((struct query *)w->query, r, &w->was_shown);

        w->began = now_ns();
        if (k < 0 && k != -ENOENT)
                return k;
        w->earlier = *r;
        r->has_ended = false;
        reduce_versions_shown(w->runs, r);
        r->before = w->input.size;
        if (k == 0 && !job_again(w->job))
                return 0;
        w->earlier.seconds = 0;
        w->earlier.tests = w->earlier.taken = 0;
        return reduce_set_text(&r->text, SLICE(w->input.data, w->input.size));
}

/* Stores the smallest so far, so that an interruption does not lose it. With --again beside a result that has ended nothing is stored: the result stays
 * until the new one has ended, and an interrupted one is dropped. */
static int keep(struct work *w)
{
        struct reduction *r = &w->reduction;
        int k = 0;

        if (w->has_news && !(w->was_shown && job_again(w->job))) {
                r->seconds = w->earlier.seconds + (double)(now_ns() - w->began) / 1e9;
                k = put(w->query, r, w->was_shown);
        }
        w->kept = now_ns();
        w->has_news = false;
        return k;
}

static int try(void *user, const struct slice *texts, size_t n, enum reduce_answer *ret)
{
        struct work *w = user;
        int r = w->error < 0 ? w->error : fault_at("reduce.try");

        if (r == 0 && w->has_news && now_ns() - w->kept >= KEEP_NS)
                r = keep(w);
        return r < 0 ? r : w->test.try(w->test.user, texts, n, ret);
}

static void taken(void *user, struct slice text)
{
        struct work *w = user;

        w->error = reduce_set_text(&w->reduction.text, text);
        w->has_news = true;
}

static void tell(void *user, const struct reduce_status *s)
{
        struct work *w = user;
        char what[120];

        w->reduction.tests = w->earlier.tests + s->tests;
        w->reduction.taken = w->earlier.taken + s->taken;
        snprintf(what, sizeof(what), "%zu of %zu bytes, %" PRIu64 " tests (%s)", w->reduction.text.size, w->input.size,
                 w->reduction.tests, s->stage);
        progress_tell(job_progress(w->job), what, w->input.size - MIN(w->reduction.text.size, w->input.size), w->input.size);
}

/* Reduces a text until it is minimal, or the time is over. */
static int reduce_from(struct work *w, struct slice text)
{
        cleanup_reduce_result struct reduce_result result = {0};
        struct reduce_test test = {.try = try, .user = w, .width = w->test.width, .taken = taken};
        struct reduce_options options = {.status = tell, .user = w, .dialect = w->query->options.solver->recipe->dialect};
        uint64_t most = w->query->most_ns, before = (uint64_t)(w->earlier.seconds * 1e9);
        int r;

        options.deadline_ns = w->began + (most > before ? most - before : 1);
        r = reduce(text, &test, &options, &result);
        w->reduction.is_minimal = result.is_minimal;
        return r < 0 ? r : reduce_set_text(&w->reduction.text, SLICE(result.text.data, result.text.size));
}

/* Runs both versions on the result. If the rule shows nothing on it any more, the reduction is given up: the result is the input, and not minimal. */
static int run_result(struct work *w)
{
        struct reduction *r = &w->reduction;
        int k = reduce_versions_run(w->runs, SLICE(r->text.data, r->text.size), r->reduced, &r->implied);

        if (k != -ENODATA)
                return k;
        r->is_minimal = false;
        memcpy(r->reduced, r->input, sizeof(r->input));
        return reduce_set_text(&r->text, SLICE(w->input.data, w->input.size))
            ?: reduce_set_text(&r->implied, SLICE(w->implied.data, w->implied.size));
}

static int finish(struct work *w)
{
        struct reduction *r = &w->reduction;
        int k = run_result(w);

        if (k < 0)
                return k;
        r->measure = w->query->options.measure;
        r->most_ns = w->query->most_ns;
        r->seconds = w->earlier.seconds + (double)(now_ns() - w->began) / 1e9;
        r->has_ended = true;
        return put(w->query, r, w->was_shown);
}

/* Reduces what an earlier session kept, or the input if that is not interesting now (-ENODATA of reduce()). */
static int reduce_all(struct work *w)
{
        const struct slice input = SLICE(w->input.data, w->input.size);
        cleanup_buffer struct buffer from = {0};
        int r = reduce_set_text(&from, SLICE(w->reduction.text.data, w->reduction.text.size))
            ?: reduce_from(w, SLICE(from.data, from.size));

        if (r == -ENODATA && !same_bytes(from, input))
                r = reduce_from(w, input);
        return r == -ENODATA ? errorf(-EINVAL, "it was shown once and not when the same input was run again") : r;
}

static int reduced_compute(struct query *query, struct job *j, struct value **ret)
{
        cleanup(work_done) struct work w = {.query = (struct reduced_query *)query, .job = j};
        cleanup_free char *why = NULL;
        int r = work_open(&w) ?: begin(&w) ?: reduce_all(&w) ?: finish(&w);

        if (r == 0) {
                *ret = value_new(&w.reduction);
                return 0;
        }
        why = copy_string(error_message(r));
        keep(&w);
        return errorf(r, "%s", why);
}

/* -- the query -- */

/* 0: the limit of a run is not known yet. A worker that ends before a run could refuses the run, and the lease takes another slot. */
static struct engine_remote *reduced_remote(const struct query *query, uint64_t *ret_most_ns)
{
        *ret_most_ns = 0;
        return &((const struct reduced_query *)query)->options.solver->pool->remote;
}

static void reduced_describe(const struct query *query, struct buffer *ret)
{
        const struct reduced_query *q = (const struct reduced_query *)query;

        buffer_addf(ret, "reduce %s %s", q->options.solver->recipe->name, q->options.what);
}

static bool reduced_gone(const struct query *query)
{
        const struct reduced_query *q = (const struct reduced_query *)query;

        return solver_is_gone(q->options.workspace, q->options.solver);
}

static void input_done(struct reduction_input *i)
{
        case_info_unref(i->info);
        free((void *)i->bytes.data);
}

static void reduced_query_done(struct query *query)
{
        struct reduced_query *q = (struct reduced_query *)query;

        solver_unref(q->options.solver);
        input_done(&q->options.input);
        input_done(&q->options.implied);
        free((char *)q->options.what);
        free((char *)q->options.reference);
        free((char *)q->options.target);
        free((char *)q->options.step);
}

static enum resource reduced_resource(const struct query *query)
{
        return ((const struct reduced_query *)query)->options.solver->pool ? RESOURCE_REMOTE : RESOURCE_CORE;
}

const struct query_type query_reduced_type = {
        .name = "reduce",
        .resource_of = reduced_resource,
        .find = reduced_find,
        .need = reduced_need,
        .compute = reduced_compute,
        .describe = reduced_describe,
        .remote = reduced_remote,
        .gone = reduced_gone,
        .query_done = reduced_query_done,
        .value_done = value_done,
};

static void add_input(struct hasher *h, const struct reduction_input *i)
{
        struct digest d;

        digest_of(i->bytes.data, i->bytes.size, &d);
        hasher_add(h, i->info ? i->info->sha256.bytes : d.bytes, DIGEST_SIZE);
}

/* All that a reduction depends on, but the time that it may take, and the answers that a finding expects. */
static void make_key(const struct reduction_options *o, struct digest *ret)
{
        const struct recipe *recipe = o->solver->recipe;
        struct hasher *h = hasher_new();
        struct digest d;

        hasher_string(h, "reduced");
        recipe_eras_digest(recipe, &d);
        hasher_add(h, d.bytes, DIGEST_SIZE);
        recipe_run_digest(recipe, o->has_seed, o->seed, &recipe->limits, &d);
        hasher_add(h, d.bytes, DIGEST_SIZE);
        hasher_string(h, o->reference);
        hasher_string(h, o->target);
        hasher_number(h, o->interest);
        hasher_field(h, &o->ratio, sizeof(o->ratio));
        hasher_field(h, &o->floor, sizeof(o->floor));
        hasher_field(h, &o->timeout, sizeof(o->timeout));
        hasher_string(h, o->step);
        if (o->measure != JUDGE_TIME)
                hasher_number(h, o->measure);
        if (o->measure == JUDGE_EFFORT && recipe->effort[0])
                hasher_string(h, recipe->effort[0]);
        if (o->solver->pool) /* what is slow there need not be slow here */
                hasher_string(h, o->solver->pool->name);
        recipe_add_limit(h, "memory", recipe->limits.memory, RECIPE_MEMORY);
        recipe_add_limits(h, &recipe->limits);
        add_input(h, &o->input);
        if (o->interest == INTEREST_IMPLICATION)
                add_input(h, &o->implied);
        hasher_finish(h, ret);
}

static int copy_input(struct reduction_input *i)
{
        void *bytes;

        if (i->info) {
                i->info = case_info_ref(i->info);
                return 0;
        }
        bytes = malloc(i->bytes.size + 1);
        if (bytes && i->bytes.size > 0)
                memcpy(bytes, i->bytes.data, i->bytes.size);
        i->bytes = SLICE(bytes, i->bytes.size);
        return bytes ? 0 : -ENOMEM;
}

int query_reduced(const struct reduction_options *options, struct query **ret)
{
        struct reduced_query *q = allocate(1, sizeof(*q));
        cleanup(query_unrefp) struct query *query = &q->query;
        struct reduction_options *o = &q->options;
        int r, e;

        q->query = (struct query){.type = &query_reduced_type, .refs = 1};
        *o = *options;
        o->solver = solver_ref(options->solver);
        o->what = copy_string(options->what);
        o->reference = copy_string(options->reference);
        o->target = copy_string(options->target);
        o->step = copy_string(options->step);
        r = copy_input(&o->input);
        e = copy_input(&o->implied);
        if (r < 0 || e < 0)
                return -ENOMEM;
        q->most_ns = o->most_ns > 0 ? o->most_ns : workspace_settings(o->workspace)->reduce_ns;
        make_key(o, &q->query.key);
        *ret = steal_pointer(query);
        return 0;
}
