/* Query program: a built file, in the folder where it can be executed and read. */
#include "core/query/build_query.h"

#include <fcntl.h>

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
        int r = build_query_key(q, &key);

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
        cleanup_free struct program_value *v = allocate(1, sizeof(*v));
        const struct build_output *o;
        struct digest key;
        int r;

        r = build_query_key(q, &key);
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
