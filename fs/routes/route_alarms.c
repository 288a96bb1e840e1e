/* <solver>/alarms: what `solverfs watch` told of, a file each. An alarm's inode has its number. */
#include "fs/routes/routes.h"

#include <inttypes.h>

#include "core/study/watch/alarm.h"

enum {
        KIND_ALARMS = 352,
        KIND_ALARM,
};

static int alarm_of(struct tree *t, const struct node *n, struct alarm **ret)
{
        return alarm_get(tree_workspace(t), n->solver->number, inode_number(&n->inode), ret);
}

static int alarm_match(struct tree *t, const struct node *dir, const char *name, struct node *ret)
{
        cleanup_alarm struct alarm *a = NULL;
        uint64_t number;

        if (!parse_name_number(name, UINT32_MAX, &number))
                return -ENOENT;
        inode_set_number(&ret->inode, (uint32_t)number);
        return alarm_get(tree_workspace(t), dir->solver->number, (uint32_t)number, &a);
}

/* Numbers are dense from 1. */
static int alarm_entries(struct tree *t, const struct node *dir, const struct route *row, uint64_t from, entry_fn fn, void *user)
{
        struct inode inode = dir->inode;
        uint32_t last = alarms_last(tree_workspace(t), dir->solver->number);
        int r = 0;

        inode.kind = row->kind;
        for (uint64_t number = from > 0 ? from : 1; r == 0 && number <= last; number++) {
                char name[16];

                inode_set_number(&inode, (uint32_t)number);
                snprintf(name, sizeof(name), "%" PRIu64, number);
                r = tree_emit(row, name, inode, number, fn, user);
        }
        return r;
}

static int alarm_mtime(struct tree *t, const struct node *n, int64_t *ret)
{
        cleanup_alarm struct alarm *a = NULL;
        int r = alarm_of(t, n, &a);

        if (r == 0)
                *ret = a->changed;
        return r;
}

static int alarm_content(struct tree *t, const struct node *n, struct buffer *ret)
{
        cleanup_alarm struct alarm *a = NULL;
        int r = alarm_of(t, n, &a);

        return r < 0 ? r : alarm_print(tree_workspace(t), n->solver, a, ret);
}

/* -- the rows -- */

static const struct route rows[] = {
        {KIND_ALARMS, IN(KIND_SOLVER), .name = "alarms", .type = NODE_FOLDER, .absent = ABSENT_NOT, .generation = any_listing,
         .about = "what got worse on new commits: solverfs watch"},
        {KIND_ALARM, IN(KIND_ALARMS), .shown = "<n>", .type = NODE_FILE, .moves = true, .rewritten = true, .match = alarm_match,
         .list = alarm_entries, .content = alarm_content, .mtime = alarm_mtime,
         .about = "kind, commit, worst case, before and after, how to see it again, and all its cases"},
};

const struct subtree alarms_subtree = {rows, ARRAY_SIZE(rows)};
