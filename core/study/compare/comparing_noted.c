/* The list of comparisons: the names under which the command has made them. */
#include "core/workspace/names.h"
#include "core/study/compare/comparing.h"

#include <inttypes.h>

void comparing_noted_done(struct comparing_noted *n)
{
        free(n->set);
        *n = (struct comparing_noted){0};
}

int comparing_note(const struct comparing_table *t)
{
        const struct comparing_options *o = t->options;
        cleanup_free char *name = format_string("%s/%" PRIu32 "@%s..%" PRIu32 "@%s", o->set ? o->set : "", o->version[0].solver->number, t->sha[0],
                                                o->version[1].solver->number, t->sha[1]);
        uint32_t number;

        return names_intern(workspace_store(o->workspace), NAMES_COMPARISON, name, &number);
}

int comparing_noted_at(struct workspace *w, uint32_t number, struct comparing_noted *ret)
{
        cleanup_free char *name = NULL;
        char sha[2][GIT_OID_HEXSZ + 1];
        const char *slash;
        int r = names_name(workspace_store(w), NAMES_COMPARISON, number, &name);

        *ret = (struct comparing_noted){0};
        if (r < 0)
                return r;
        slash = strchr(name, '/');
        if (!slash ||
            sscanf(slash + 1, "%" SCNu32 "@%40[0-9a-f]..%" SCNu32 "@%40[0-9a-f]", &ret->solver[0], sha[0], &ret->solver[1],
                   sha[1]) != 4 ||
            oid_parse(sha[0], &ret->commit[0]) < 0 || oid_parse(sha[1], &ret->commit[1]) < 0)
                return errorf(-EIO, "the store's name of comparison %" PRIu32 " is damaged: run 'solverfs fsck'", number);
        ret->set = copy_prefix(name, (size_t)(slash - name));
        return 0;
}
