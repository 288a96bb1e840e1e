/* Query program: puts a built file in the folder where it can be executed and read. */
#include "core/query/build_query.h"

#include <fcntl.h>

struct value *file_value_new(const struct query_type *type, int fd)
{
        struct file_value *v = allocate(1, sizeof(*v));

        *v = (struct file_value){.value = {.type = type, .refs = 1}, .fd = fd};
        return &v->value;
}

int file_value_fd(struct value *v)
{
        return fcntl(((struct file_value *)v)->fd, F_DUPFD_CLOEXEC, 3); /* shares the lock that keeps a program in the folder */
}

void file_value_done(struct value *v)
{
        close(((struct file_value *)v)->fd);
}

/* The build's record, and the program's entry in it, NULL if there is none. */
static int find_output(const struct build_query *q, struct build_record **ret, const struct build_output **ret_output)
{
        struct digest key;
        int r = build_query_key(q, &key);

        *ret_output = NULL;
        if (r == 0)
                r = build_record_find(q->workspace, q->solver, q->commit, &key, WITHOUT_LOG, ret);
        for (size_t i = 0; r == 0 && !*ret_output && i < (*ret)->n_outputs; i++)
                if (!q->output || strcmp(q->output, (*ret)->outputs[i].name) == 0)
                        *ret_output = &(*ret)->outputs[i];
        return r;
}

static int program_need(struct query *query, struct query_list *ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct build_output *o;
        struct query *build;
        int r = find_output(q, &record, &o);

        if (q->never_builds || (r < 0 && r != -ENOENT))
                return q->never_builds ? 0 : r;
        if (r == 0 && (!record->ok || !o || programs_has(workspace_programs(q->workspace), &o->id)))
                return 0;
        return query_build(q->workspace, q->solver, q->commit, &build) ?: query_list_add(ret, build);
}

static int program_compute(struct query *query, struct job *, struct value **ret)
{
        struct build_query *q = (struct build_query *)query;
        cleanup(build_record_unrefp) struct build_record *record = NULL;
        const struct build_output *o;
        char path[PATH_SIZE];
        int fd, r = find_output(q, &record, &o);

        if (r < 0)
                return r;
        if (!record->ok)
                return errorf(-ENODATA, "the commit cannot be built: %s", record->reason);
        if (!o)
                return errorf(-ENOENT, "the build has no output '%s'", q->output ? q->output : "");
        r = programs_get(workspace_programs(q->workspace), &o->id, &fd, path);
        if (r == 0)
                *ret = file_value_new(&query_program_type, fd);
        return r;
}

/* Writing the program out may take a moment even if it is stored, so find() leaves it to compute(). A read-only store computes nothing, so find()
 * does it there. */
static int program_find(struct query *query, struct value **ret)
{
        const struct build_query *q = (const struct build_query *)query;

        return store_read_only(workspace_store(q->workspace)) ? program_compute(query, NULL, ret) : -ENOENT;
}

const struct query_type query_program_type = {
        .name = "program",
        .resource = RESOURCE_DISK,
        .find = program_find,
        .need = program_need,
        .compute = program_compute,
        .describe = build_query_describe,
        .gone = build_query_gone,
        .query_done = build_query_done,
        .value_done = file_value_done,
};

int query_program(struct workspace *w, struct solver *s, uint32_t commit, const char *output, bool never_builds, struct query **ret)
{
        return build_query_new(&query_program_type, w, s, commit, NULL, output, never_builds, ret);
}
